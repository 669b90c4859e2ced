//! Which method finds the pairs of which problem, and from where to where its numbers go.

use super::chebyshev::{Effort, Found, Goal, iterate};
use super::cpu::CpuSpace;
use super::options::{EigshMethod, EigshOptions};
use super::space::Space;
use super::{dense, subspace};
use crate::array::Real;
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::ops::eigen::Which;
use crate::ops::sparse::Operator;
use crate::policy::Backend;
use rayon::prelude::*;

/// Up to this order a problem is decomposed as a dense matrix: it takes less than the looks of an iteration.
const DENSE: usize = 96;
/// Pairs closer than this, relative to the spectrum, are one tie group of an encoding (`encode::pairs`).
const RESOLUTION: f64 = 16.0 * f32::EPSILON as f64;

/// What is wanted of a problem, beside the null space that is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) count: usize,
    pub(crate) which: Which,
    /// Also the rest of the last tie group, as far as the block holds it.
    pub(crate) whole_groups: bool,
}

/// Pairs of one problem beside its known null space, from the wanted end inward: at least as many as were wanted.
#[derive(Clone, Debug)]
pub(crate) struct Solved {
    pub(crate) values: Vec<f64>,
    /// Column-major.
    pub(crate) vectors: Vec<f64>,
    /// The value after the last of these, as far as it is known.
    pub(crate) next: Option<f64>,
    /// The relative size of the values' errors.
    pub(crate) epsilon: f64,
    pub(crate) method: EigshMethod,
    pub(crate) products: usize,
    pub(crate) looks: usize,
}

/// Solves every problem of the operator, each by its own method.
///
/// # Errors
/// As [`super::eigsh`].
pub(crate) fn solve_each<T: Real>(
    ctx: &Context,
    a: &Operator<'_, T>,
    wanted: &[Wanted],
    options: &EigshOptions,
) -> Result<Vec<Solved>> {
    let on_host = ctx.with_backend(Backend::Cpu);
    let one = |problem: usize| on_cpu(&on_host, &a.problem(problem), wanted[problem], options);
    if wanted.len() == 1 {
        return Ok(vec![on_cpu(&on_host, a, wanted[0], options)?]);
    }
    (0..wanted.len()).into_par_iter().map(one).collect()
}

/// The columns of a block for so many pairs: the last ones keep the interval that is damped away from the wanted ones. Twice as many for
/// few pairs, a quarter more than a constant for many (preferential attachment, 100,000 nodes, 15 pairs: 32 columns take 0.75 of the
/// time that 24 take, 2026-11-21); a width that products have a kernel for, or a few of them.
fn width_of(wanted: usize) -> usize {
    let width = wanted + wanted.clamp(8, 16 + wanted / 4);
    if width <= 8 { 8 } else { width.next_multiple_of(16) }
}

/// One problem on the CPU.
fn on_cpu<T: Real>(ctx: &Context, a: &Operator<'_, T>, wanted: Wanted, options: &EigshOptions) -> Result<Solved> {
    let rest = a.rows() - a.null.len();
    let wanted = Wanted { count: wanted.count.min(rest), ..wanted };
    let width = width_of(wanted.count);
    // A block that has a third of all columns is no iteration.
    let small = a.rows() <= DENSE || 3 * width > rest;
    match options.method {
        EigshMethod::Dense => densely(ctx, a, wanted),
        _ if wanted.count == 0 => Ok(nothing()),
        EigshMethod::Auto | EigshMethod::Chebyshev if small => densely(ctx, a, wanted),
        _ if width > rest => densely(ctx, a, wanted),
        EigshMethod::Subspace => subspace::iterate_blocks(ctx, a, wanted, width, options),
        EigshMethod::Power => subspace::power(ctx, a, wanted, options),
        _ => chebyshev(ctx, a, wanted, width, options),
    }
}

/// Of no pair.
fn nothing() -> Solved {
    let (values, vectors) = (Vec::new(), Vec::new());
    Solved { values, vectors, next: None, epsilon: 0.0, method: EigshMethod::Auto, products: 0, looks: 0 }
}

fn densely<T: Real>(ctx: &Context, a: &Operator<'_, T>, wanted: Wanted) -> Result<Solved> {
    let n = a.rows() as u64;
    let (needed, allowed) = (n.saturating_mul(n).saturating_mul(48), ctx.memory_budget());
    if needed > allowed {
        let what = format!("bytes for {} pairs of a sparse matrix of order {n}, a dense problem", wanted.count);
        return Err(ErrorKind::Limit { what, needed, allowed }.into());
    }
    let (values, vectors) = dense::pairs(ctx, a, &wanted)?;
    Ok(Solved { values, vectors, next: None, epsilon: f64::EPSILON, method: EigshMethod::Dense, products: 0, looks: 0 })
}

pub(super) fn goal<T: Real>(a: &Operator<'_, T>, wanted: Wanted, tolerance: f64) -> Goal {
    let bounds = a.bounds(0);
    let resolution = if wanted.whole_groups { RESOLUTION * bounds.upper.abs().max(bounds.lower.abs()) } else { 0.0 };
    Goal { wanted: wanted.count, bounds, tolerance: tolerance * bounds.norm, resolution }
}

fn chebyshev<T: Real>(
    ctx: &Context,
    a: &Operator<'_, T>,
    wanted: Wanted,
    width: usize,
    options: &EigshOptions,
) -> Result<Solved> {
    let effort = Effort { which: wanted.which, most_products: options.most_products };
    let tolerance = options.tolerance_in::<T>();
    check_memory(ctx, a.rows(), width, size_of::<T>())?;
    let mut space = CpuSpace::new(a, width);
    let mut before = Found::default();
    match a.narrowed().filter(|_| T::EPSILON < 1e-10) {
        // Half of the way, or more, costs half in f32.
        Some(narrow) => {
            let mut rough = CpuSpace::new(&narrow, width);
            rough.randomize(options.seed)?;
            let near = goal(&narrow, wanted, tolerance.max(options.tolerance_in::<f32>()));
            before = iterate(ctx, &mut rough, &[near], effort)?.remove(0);
            space.load(&rough.read(0, 0..width)?);
        }
        None => space.randomize(options.seed)?,
    }
    let found = iterate(ctx, &mut space, &[goal(a, wanted, tolerance)], effort)?.remove(0);
    if !found.values.iter().all(|x| x.is_finite()) {
        return Err(Error::domain("eigsh", "the iteration overflowed: entries beyond 1e30, or a bound that does not hold"));
    }
    collect(&mut space, 0, wanted, &found, &before, T::EPSILON, EigshMethod::Chebyshev)
}

/// # Errors
/// [`ErrorKind::Limit`] where three blocks are beyond the budget.
pub(super) fn check_memory(ctx: &Context, rows: usize, width: usize, number: usize) -> Result<()> {
    let (needed, allowed) = ((3 * rows * width * number) as u64, ctx.memory_budget());
    if needed <= allowed {
        return Ok(());
    }
    let what = format!("bytes for the blocks of eigsh, {rows} x {width}; a larger FIEDLER_MEMORY_BUDGET allows them");
    Err(ErrorKind::Limit { what, needed, allowed }.into())
}

/// Brings the wanted columns home.
pub(super) fn collect<S: Space>(
    space: &mut S,
    problem: usize,
    wanted: Wanted,
    found: &Found,
    before: &Found,
    epsilon: f64,
    method: EigshMethod,
) -> Result<Solved> {
    let count = found.converged.max(wanted.count);
    Ok(Solved {
        values: found.values[..count].to_vec(),
        vectors: space.read(problem, 0..count)?,
        next: found.values.get(count).copied(),
        epsilon,
        method,
        products: found.products + before.products,
        looks: found.looks + before.looks,
    })
}
