//! One problem on the CPU, by each of the methods.

use super::chebyshev::{Effort, Found, iterate};
use super::cpu::{CpuSpace, check_memory, shift_invert};
use super::lanczos::{End, Pairs, Quest, lanczos};
use super::options::{EigshMethod, EigshOptions};
use super::solved::{Solved, Wanted, collect, goal};
use super::space::Space;
use super::{dense, subspace};
use crate::array::Real;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::eigen::Which;
use crate::ops::sparse::cpu::{Combination, Rows};
use crate::ops::sparse::{Bounds, Operator};

/// Up to this order a problem is decomposed as a dense matrix: it takes less than the looks of an iteration.
pub(super) const DENSE: usize = 96;

/// Products with the block that an iteration is expected to take: what graphs without large gaps take to 2e-6 (preferential
/// attachment, grids and torus of 10,000 to 100,000 nodes: 150 to 300, 2026-11-21).
pub(super) const PRODUCTS: f64 = 250.0;

/// The columns of a block for so many pairs: the last ones keep the interval that is damped away from the wanted ones. Twice as
/// many for few pairs, a quarter more than a constant for many (preferential attachment, 100,000 nodes, 15 pairs: 32 columns take
/// 0.75 of the time that 24 take, 2026-11-21); a width that products have a kernel for, or a few of them.
pub(super) fn width_of(wanted: usize) -> usize {
    let width = wanted + wanted.clamp(8, 16 + wanted / 4);
    if width <= 8 { 8 } else { width.next_multiple_of(16) }
}

/// One problem on the CPU. Iterations begin from `start`, where there is one.
pub(super) fn on_cpu<T: Real>(
    ctx: &Context,
    a: &Operator<'_, T>,
    wanted: Wanted,
    options: &EigshOptions,
    start: Option<&Solved>,
) -> Result<Solved> {
    let rest = a.rows() - a.null.len();
    let wanted = Wanted { count: wanted.count.min(rest), ..wanted };
    let width = width_of(wanted.count);
    // A block that has a third of all columns is no iteration.
    let small = a.rows() <= DENSE || 3 * width > rest;
    if let Some(solved) = multiple_of_one(a, wanted, options.method) {
        return Ok(solved);
    }
    match options.method {
        _ if wanted.count == 0 => Ok(nothing()),
        EigshMethod::Dense => densely(ctx, a, wanted),
        EigshMethod::Auto | EigshMethod::Chebyshev if small => densely(ctx, a, wanted),
        EigshMethod::Lanczos => by_lanczos(a, wanted, options),
        EigshMethod::ShiftInvert => match by_shift_invert(ctx, a, wanted, options, f64::INFINITY)? {
            Some(solved) => Ok(solved),
            None => Err(Error::domain(
                "eigsh",
                "shift-invert takes the smallest pairs of semidefinite matrices whose factor fits into the memory budget",
            )),
        },
        EigshMethod::Auto if wanted.which == Which::Smallest => {
            let seconds = THIN * iteration_seconds(a, width);
            match by_shift_invert(ctx, a, wanted, options, seconds)? {
                Some(solved) => Ok(solved),
                None => chebyshev(ctx, a, wanted, width, options, start),
            }
        }
        _ if width > rest => densely(ctx, a, wanted),
        EigshMethod::Subspace => subspace::iterate_blocks(ctx, a, wanted, width, options),
        EigshMethod::Power => subspace::power(ctx, a, wanted, options),
        _ => chebyshev(ctx, a, wanted, width, options, start),
    }
}

/// What an iteration on the CPU should take where gaps are as usual: a product moves some 130 bytes an entry and block of 32 columns.
/// (Preferential attachment of 100,000 nodes, 1e6 entries: 3.2 ms a product, 2026-11-21.)
fn iteration_seconds<T: Real>(a: &Operator<'_, T>, width: usize) -> f64 {
    PRODUCTS * width as f64 * (1e-10 * a.entries() as f64 + 3e-10 * a.rows() as f64)
}

/// Graphs whose factor is thin are far across, and their smallest values close together: iterations take many times as long as on
/// others (a grid of 1000 x 1000: 38 s, not 5.6; by its factor 5.4 s. 2026-11-21).
const THIN: f64 = 4.0;

/// Thick-restart Lanczos, in f64.
fn by_lanczos<T: Real>(a: &Operator<'_, T>, wanted: Wanted, options: &EigshOptions) -> Result<Solved> {
    let wide = a.widened();
    let goal = goal(&wide, wanted, options.tolerance_in::<T>());
    let rows = Rows::new(&wide);
    let n = a.rows().max(1);
    let mut map = |x: &[f64], y: &mut [f64]| {
        let columns = x.chunks_exact(n).zip(y.chunks_exact_mut(n));
        columns.for_each(|(x, y)| rows.combine(1, x, y, Combination::PRODUCT));
        Ok(())
    };
    let most = most_of(&wanted, a.rows() - a.null.len());
    let quest = Quest {
        end: if wanted.which == Which::Smallest { End::Smallest } else { End::Largest },
        wanted: wanted.count,
        most,
        resolution: goal.resolution,
        absolute: goal.tolerance,
        relative: 0.0,
        block: 1,
        basis: None,
        most_products: options.most_products,
        seed: options.seed,
    };
    let Pairs { values, vectors, residuals, products, restarts, .. } = lanczos(&mut map, &wide.null, quest)?;
    if values.len() < wanted.count {
        let what = format!("Lanczos found {} of {} pairs in {products} products", values.len(), wanted.count);
        return Err(Error::domain("eigsh", what));
    }
    Ok(Solved { values, vectors, residuals, next: None, method: EigshMethod::Lanczos, products, looks: restarts })
}

/// Pairs at most, with those that are tied with the last wanted one.
fn most_of(wanted: &Wanted, rest: usize) -> usize {
    let more = if wanted.separate { wanted.count.max(8) } else { 0 };
    (wanted.count + more).min(rest)
}

/// By the inverse, where that is known to be no slower than so many seconds and fits; none otherwise.
fn by_shift_invert<T: Real>(
    ctx: &Context,
    a: &Operator<'_, T>,
    wanted: Wanted,
    options: &EigshOptions,
    seconds: f64,
) -> Result<Option<Solved>> {
    if wanted.which != Which::Smallest {
        return Ok(None);
    }
    let wide = a.widened();
    let most = most_of(&wanted, a.rows() - a.null.len());
    let Some(plan) = shift_invert::plan(&wide, wanted.count, most) else { return Ok(None) };
    log::debug!(
        "shift-invert: {:.1e} entries of L, {:.1e} bytes, {:.2} s; an iteration: {seconds:.2} s",
        plan.entries,
        plan.bytes,
        plan.seconds
    );
    if plan.seconds > seconds || plan.bytes > ctx.memory_budget() as f64 {
        return Ok(None);
    }
    // It costs nothing to come nearer than was asked.
    let tolerance = options.tolerance_in::<T>().min(1e-10);
    let goal = goal(&wide, wanted, tolerance);
    let Some((found, vectors)) = shift_invert::solve(ctx, &wide, plan, goal, most, options.seed)? else {
        return Ok(None);
    };
    let Found { values, residuals, products, looks, .. } = found;
    // Pairs that it did not find are another method's affair.
    Ok((values.len() >= wanted.count).then_some(Solved {
        values,
        vectors,
        residuals,
        next: None,
        method: EigshMethod::ShiftInvert,
        products,
        looks,
    }))
}

/// Whether all eigenvalues are one number, and none is known to be 0: then the matrix is that multiple of the identity.
pub(super) fn is_multiple_of_one(bounds: Bounds, null: usize) -> bool {
    bounds.lower >= bounds.upper && null == 0
}

/// The first unit vectors, where every vector is as good: an iteration has nothing there to tell apart, or to divide by.
fn multiple_of_one<T: Real>(a: &Operator<'_, T>, wanted: Wanted, method: EigshMethod) -> Option<Solved> {
    let (n, count) = (a.rows(), wanted.count);
    is_multiple_of_one(a.bounds(0), a.null.len()).then(|| {
        let mut vectors = vec![0.0; n * count];
        vectors.iter_mut().step_by(n + 1).for_each(|x| *x = 1.0);
        let (values, residuals) = (vec![a.bounds(0).lower; count], vec![0.0; count]);
        Solved { values, vectors, residuals, next: None, method, products: 0, looks: 0 }
    })
}

/// Of no pair.
fn nothing() -> Solved {
    let (values, vectors, residuals) = (Vec::new(), Vec::new(), Vec::new());
    Solved { values, vectors, residuals, next: None, method: EigshMethod::Auto, products: 0, looks: 0 }
}

fn densely<T: Real>(ctx: &Context, a: &Operator<'_, T>, wanted: Wanted) -> Result<Solved> {
    let n = a.rows() as u64;
    let (needed, allowed) = (n.saturating_mul(n).saturating_mul(48), ctx.memory_budget());
    if needed > allowed {
        let what = format!("bytes for {} pairs of a sparse matrix of order {n}, a dense problem", wanted.count);
        return Err(Error::budget(what, needed, allowed));
    }
    let (values, vectors) = dense::pairs(ctx, a, &wanted)?;
    let residuals = vec![0.0; values.len()];
    Ok(Solved { values, vectors, residuals, next: None, method: EigshMethod::Dense, products: 0, looks: 0 })
}

fn chebyshev<T: Real>(
    ctx: &Context,
    a: &Operator<'_, T>,
    wanted: Wanted,
    width: usize,
    options: &EigshOptions,
    start: Option<&Solved>,
) -> Result<Solved> {
    let effort = Effort { which: wanted.which, most_products: options.most_products };
    let tolerance = options.tolerance_in::<T>();
    check_memory::<T>(ctx, a.rows(), width)?;
    let mut space = CpuSpace::new(a, width);
    let mut before = Found::default();
    match (start, a.narrowed().filter(|_| T::EPSILON < 1e-10)) {
        (Some(start), _) => {
            space.randomize(options.seed)?;
            space.load(&start.vectors);
        }
        // As far as f32 goes it costs half.
        (None, Some(narrow)) => {
            let mut rough = CpuSpace::new(&narrow, width);
            rough.randomize(options.seed)?;
            let near = goal(&narrow, wanted, tolerance.max(options.tolerance_in::<f32>()));
            before = iterate(ctx, &mut rough, &[near], effort)?.remove(0);
            space.load(&rough.read(0, 0..width)?);
        }
        (None, None) => space.randomize(options.seed)?,
    }
    let found = iterate(ctx, &mut space, &[goal(a, wanted, tolerance)], effort)?.remove(0);
    if !found.values.iter().all(|x| x.is_finite()) {
        return Err(Error::domain(
            "eigsh",
            "the iteration overflowed: entries beyond 1e30, or a bound that does not hold",
        ));
    }
    collect(&mut space, 0, wanted, &found, &before, EigshMethod::Chebyshev)
}
