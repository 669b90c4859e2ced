//! Which method finds the pairs of which problem, and from where to where its numbers go.

use super::chebyshev::{Effort, Found, Goal, iterate};
use super::cpu::{CpuSpace, shift_invert};
use super::gpu::GpuSpace;
use super::lanczos::{End, Pairs, Quest, lanczos};
use super::options::{EigshMethod, EigshOptions};
use super::space::Space;
use super::{dense, subspace};
use crate::array::Real;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::eigen::Which;
use crate::ops::sparse::cpu::{Combination, Rows};
use crate::ops::sparse::{Bounds, Operator};
use crate::policy::{Backend, Choice, Side, Workload};
use rayon::prelude::*;

/// Up to this order a problem is decomposed as a dense matrix: it takes less than the looks of an iteration.
const DENSE: usize = 96;
/// Pairs closer than this, relative to the spectrum, are one tie group of an encoding (`encode::pairs`).
pub(super) const RESOLUTION: f64 = 16.0 * f32::EPSILON as f64;
/// The same of pairs that are known to 1e-10: a hundred times that.
const FINE: f64 = 1e-8;

/// What is wanted of a problem, beside the null space that is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) count: usize,
    /// As many as any problem of the call may want: what the width of a device's blocks follows from, whoever shares them.
    pub(crate) most: usize,
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
    /// `|A v - l v|_2` of each, as the iteration saw it.
    pub(crate) residuals: Vec<f64>,
    /// Values closer than this cannot be told apart.
    pub(crate) resolution: f64,
    /// The working precision's spacing at 1.
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
    let most = wanted.iter().map(|wanted| wanted.count).max().unwrap_or(0);
    let iterated = matches!(options.method, EigshMethod::Auto | EigshMethod::Chebyshev);
    let choice = choose_eigsh::<T>(ctx, (a.rows(), a.entries()), most);
    if choice.side == Side::Gpu && iterated {
        return on_device(ctx, a, wanted, options);
    }
    let one = |problem: usize| on_cpu(&on_host, &a.problem(problem), wanted[problem], options);
    if wanted.len() == 1 {
        return Ok(vec![on_cpu(&on_host, a, wanted[0], options)?]);
    }
    (0..wanted.len()).into_par_iter().map(one).collect()
}

/// Products with the block that an iteration is expected to take: what graphs without large gaps take to 2e-6 (preferential attachment,
/// grids and torus of 10,000 to 100,000 nodes: 150 to 300, 2026-11-21).
const PRODUCTS: f64 = 250.0;

/// Where `k` pairs of a sparse matrix with so many rows and entries would be iterated, and why.
#[must_use]
pub fn choose_eigsh<T: Real>(ctx: &Context, (rows, entries): (usize, usize), k: usize) -> Choice {
    let (rows, entries, width) = (rows as f64, entries as f64, width_of(k) as f64);
    let flops = PRODUCTS * (2.0 * entries + 6.0 * rows) * width;
    // Products gather: the CPU's come to half of the rate that the policy knows, a device's to a fraction of its own.
    let work = Workload {
        cpu_flops: 2.0 * flops,
        gpu_flops: 4.0 * flops,
        bytes_to_move: 4.0 * entries + 4.0 * rows * (4.0 + width + k as f64),
        dispatches: 4.0 * PRODUCTS,
    };
    ctx.explain(&work, T::ON_DEVICE)
}

/// All problems on the device, side by side; what is too small for an iteration goes to the CPU.
fn on_device<T: Real>(
    ctx: &Context,
    a: &Operator<'_, T>,
    wanted: &[Wanted],
    options: &EigshOptions,
) -> Result<Vec<Solved>> {
    let Some(operator) = a.narrowed().filter(|_| T::ON_DEVICE) else {
        let what =
            format!("the device's kernels compute in f32 with norms of 1e-30 to 1e30, {} was asked for", T::NAME);
        return Err(Error::domain("eigsh", what));
    };
    let on_host = ctx.with_backend(Backend::Cpu);
    let rests: Vec<usize> = (0..a.problems()).map(|i| a.order(i) - a.null.counts[i]).collect();
    let width = width_of(wanted.iter().map(|wanted| wanted.most).max().unwrap_or(0));
    let is_small = |i: usize| {
        let one = is_multiple_of_one(a.bounds(i), a.null.counts[i]);
        one || wanted[i].count == 0 || a.order(i) <= DENSE || 3 * width > rests[i]
    };
    // The device sums squares in f32, and drops what is below 1e-38 of them.
    let is_far = |i: usize| a.bounds(i).norm > 0.0 && !(1e-15..=1e15).contains(&a.bounds(i).norm);
    let tolerance = options.tolerance_in::<T>();
    let goals: Vec<Goal> = (0..a.problems())
        .map(|i| {
            let count = if is_small(i) || is_far(i) { 0 } else { wanted[i].count.min(rests[i]) };
            goal_of(operator.bounds(i), Wanted { count, ..wanted[i] }, tolerance)
        })
        .collect();
    let mut iterated = Vec::new();
    if goals.iter().any(|goal| goal.wanted > 0) {
        let which = wanted.first().map_or(Which::Smallest, |wanted| wanted.which);
        let effort = Effort { which, most_products: options.most_products };
        let mut space = GpuSpace::new(ctx.gpu()?, &operator, width)?;
        space.randomize(options.seed)?;
        let found = iterate(&on_host, &mut space, &goals, effort)?;
        for (i, found) in found.iter().enumerate() {
            let wanted = Wanted { count: goals[i].wanted, ..wanted[i] };
            let method = EigshMethod::Chebyshev;
            iterated.push(match goals[i].wanted {
                0 => None,
                _ => Some(collect(
                    &mut space,
                    i,
                    wanted,
                    found,
                    &Found::default(),
                    (goals[i].bounds, T::EPSILON),
                    method,
                )?),
            });
        }
    }
    let mut iterated = iterated.into_iter().chain(std::iter::repeat_with(|| None));
    (0..a.problems())
        .map(|i| match iterated.next().flatten() {
            Some(solved) => Ok(solved),
            None if is_far(i) && !is_small(i) => on_cpu(&on_host, &a.problem(i), wanted[i], options),
            None => on_cpu(&on_host, &a.problem(i), wanted[i], &options.method(EigshMethod::Dense)),
        })
        .collect()
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
                None => chebyshev(ctx, a, wanted, width, options),
            }
        }
        _ if width > rest => densely(ctx, a, wanted),
        EigshMethod::Subspace => subspace::iterate_blocks(ctx, a, wanted, width, options),
        EigshMethod::Power => subspace::power(ctx, a, wanted, options),
        _ => chebyshev(ctx, a, wanted, width, options),
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
    let (method, epsilon) = (EigshMethod::Lanczos, f64::EPSILON);
    let resolution = RESOLUTION * spread(goal.bounds);
    Ok(Solved { values, vectors, residuals, resolution, epsilon, method, products, looks: restarts })
}

/// Pairs at most, with those that are tied with the last wanted one.
fn most_of(wanted: &Wanted, rest: usize) -> usize {
    let more = if wanted.whole_groups { wanted.count.max(8) } else { 0 };
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
    let mut goal = goal(&wide, wanted, tolerance);
    goal.resolution *= FINE / RESOLUTION;
    let resolution = FINE * spread(goal.bounds);
    let Some((found, vectors)) = shift_invert::solve(ctx, &wide, plan, goal, most, options.seed)? else {
        return Ok(None);
    };
    let Found { values, residuals, products, looks, .. } = found;
    // Pairs that it did not find are another method's affair.
    Ok((values.len() >= wanted.count).then_some(Solved {
        values,
        vectors,
        residuals,
        resolution,
        epsilon: f64::EPSILON,
        method: EigshMethod::ShiftInvert,
        products,
        looks,
    }))
}

/// Whether all eigenvalues are one number, and none is known to be 0: then the matrix is that multiple of the identity.
fn is_multiple_of_one(bounds: Bounds, null: usize) -> bool {
    bounds.lower >= bounds.upper && null == 0
}

/// The first unit vectors, where every vector is as good: an iteration has nothing there to tell apart, or to divide by.
fn multiple_of_one<T: Real>(a: &Operator<'_, T>, wanted: Wanted, method: EigshMethod) -> Option<Solved> {
    let (n, count) = (a.rows(), wanted.count);
    is_multiple_of_one(a.bounds(0), a.null.len()).then(|| {
        let mut vectors = vec![0.0; n * count];
        vectors.iter_mut().step_by(n + 1).for_each(|x| *x = 1.0);
        let (values, residuals) = (vec![a.bounds(0).lower; count], vec![0.0; count]);
        Solved { values, vectors, residuals, resolution: 0.0, epsilon: f64::EPSILON, method, products: 0, looks: 0 }
    })
}

/// Of no pair.
fn nothing() -> Solved {
    let (values, vectors) = (Vec::new(), Vec::new());
    Solved {
        values,
        vectors,
        residuals: Vec::new(),
        resolution: 0.0,
        epsilon: 0.0,
        method: EigshMethod::Auto,
        products: 0,
        looks: 0,
    }
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
    let resolution = RESOLUTION * spread(a.bounds(0));
    let (method, epsilon) = (EigshMethod::Dense, f64::EPSILON);
    Ok(Solved { values, vectors, residuals, resolution, epsilon, method, products: 0, looks: 0 })
}

pub(super) fn goal<T: Real>(a: &Operator<'_, T>, wanted: Wanted, tolerance: f64) -> Goal {
    goal_of(a.bounds(0), wanted, tolerance)
}

/// How far apart values with such residuals have to be to be told apart: their residuals' sum, twice over. A tie group is recombined, and its
/// spread becomes its vectors' residual: in graphs with hubs 16 eps |L| is more than the values themselves.
fn resolution(residuals: &[f64], bounds: Bounds) -> f64 {
    let worst = residuals.iter().copied().fold(0.0, f64::max);
    (4.0 * worst).clamp(FINE * spread(bounds), RESOLUTION * spread(bounds))
}

/// The largest magnitude that an eigenvalue can have.
pub(super) fn spread(bounds: Bounds) -> f64 {
    bounds.upper.abs().max(bounds.lower.abs())
}

fn goal_of(bounds: Bounds, wanted: Wanted, tolerance: f64) -> Goal {
    let resolution = if wanted.whole_groups { RESOLUTION * spread(bounds) } else { 0.0 };
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
        // As far as f32 goes it costs half.
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
        return Err(Error::domain(
            "eigsh",
            "the iteration overflowed: entries beyond 1e30, or a bound that does not hold",
        ));
    }
    collect(&mut space, 0, wanted, &found, &before, (a.bounds(0), T::EPSILON), EigshMethod::Chebyshev)
}

/// # Errors
/// [`crate::ErrorKind::Limit`] where three blocks are beyond the budget.
pub(super) fn check_memory(ctx: &Context, rows: usize, width: usize, number: usize) -> Result<()> {
    let (needed, allowed) = ((3 * rows * width * number) as u64, ctx.memory_budget());
    if needed <= allowed {
        return Ok(());
    }
    let what = format!("bytes for the blocks of eigsh, {rows} x {width}");
    Err(Error::budget(what, needed, allowed))
}

/// Brings the wanted columns home.
pub(super) fn collect<S: Space>(
    space: &mut S,
    problem: usize,
    wanted: Wanted,
    found: &Found,
    before: &Found,
    (bounds, epsilon): (Bounds, f64),
    method: EigshMethod,
) -> Result<Solved> {
    let count = found.converged.max(wanted.count);
    Ok(Solved {
        values: found.values[..count].to_vec(),
        vectors: space.read(problem, 0..count)?,
        residuals: found.residuals[..count].to_vec(),
        resolution: resolution(&found.residuals[..count], bounds),
        epsilon,
        method,
        products: found.products + before.products,
        looks: found.looks + before.looks,
    })
}
