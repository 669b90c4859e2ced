//! One problem on the CPU, by each of the methods.

use super::chebyshev::{Effort, Found, iterate};
use super::cpu::fill::separator;
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

/// Products with the block that an iteration is expected to take, where nothing is known of it: what graphs without large gaps take to 2e-6 (preferential
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
    if T::ON_DEVICE {
        in_f32(ctx, &a.cast(), wanted, options, start)
    } else {
        in_f64(ctx, &a.cast(), wanted, options, start)
    }
}

/// [`solve`] compiled here, once, and not anew in every crate that calls it.
fn in_f32(
    ctx: &Context,
    a: &Operator<'_, f32>,
    wanted: Wanted,
    options: &EigshOptions,
    start: Option<&Solved>,
) -> Result<Solved> {
    solve(ctx, a, wanted, options, start)
}

fn in_f64(
    ctx: &Context,
    a: &Operator<'_, f64>,
    wanted: Wanted,
    options: &EigshOptions,
    start: Option<&Solved>,
) -> Result<Solved> {
    solve(ctx, a, wanted, options, start)
}

fn solve<T: Real>(
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
        EigshMethod::ShiftInvert => match by_shift_invert(ctx, a, wanted, options, None)? {
            Some(solved) => Ok(solved),
            None => Err(Error::domain(
                "eigsh",
                "shift-invert finds the smallest pairs of matrices that are positive semidefinite; of others, the pairs nearest a \
                 number are found with sigma",
            )),
        },
        EigshMethod::Auto if width > rest => densely(ctx, a, wanted),
        EigshMethod::Auto => match by_shift_invert(ctx, a, wanted, options, Some(width))? {
            Some(solved) => Ok(solved),
            None => iterated_or_dense(ctx, a, wanted, width, options, start),
        },
        _ if width > rest => densely(ctx, a, wanted),
        EigshMethod::Subspace => subspace::iterate_blocks(ctx, a, wanted, width, options),
        EigshMethod::Power => subspace::power(ctx, a, wanted, options),
        _ => chebyshev(ctx, a, wanted, width, options, start),
    }
}

/// What a product takes in f32: some 130 bytes move for an entry and a block of 32 columns. (Preferential attachment of 100,000 nodes, 1e6
/// entries: 3.2 ms, 2026-11-21.)
fn product_seconds<T: Real>(a: &Operator<'_, T>, width: usize) -> f64 {
    width as f64 * (1e-10 * a.entries() as f64 + 3e-10 * a.rows() as f64)
}

/// Products that an iteration takes at the least: a few looks at a graph that expands (65 to 90, 2026-11-22).
const FEWEST: f64 = 80.0;
/// Products for every wavelength of the last wanted vector along the graph's length: a polynomial's degree goes with the root of its
/// value (paths and grids of 1000 and 10,000 nodes: 3.4 to 4.7, 2026-11-22).
const ALONG: f64 = 4.0;
/// Products at the most, over the root of the relative tolerance: smaller values are not told from 0, and the iteration ends.
const MOST: f64 = 3.0;
/// Seconds of the looks, whatever the graph.
const LOOKS: f64 = 8e-3;
/// What of an iteration for f64 goes on in f64 behind the f32 part, at twice the price a product.
const IN_F64: f64 = 2.5;

/// What an iteration for the smallest pairs should take. Of a Laplacian its structure tells: where separators are small, so are the
/// smallest eigenvalues (Cheeger). Hubs stretch the spectrum of `D - W` without moving its smallest values.
fn iteration_seconds<T: Real>(
    a: &Operator<'_, T>,
    (wanted, tolerance): (usize, f64),
    width: usize,
    separator: usize,
) -> f64 {
    let (rows, entries) = (a.rows() as f64, a.entries() as f64);
    let products = if a.null.is_empty() {
        // Nothing is known of small eigenvalues; of ill-conditioned matrices they are far below what polynomials tell apart, and an
        // iteration that ends without them was for nothing.
        16.0 * PRODUCTS
    } else {
        let stretch =
            if a.scale.is_some() { 1.0 } else { (a.bounds(0).upper * rows / (2.0 * entries).max(1.0)).sqrt() };
        // Rows over a separator's; and the graph's dimension: of waves along one of d axes there are the d-th root.
        let length = (rows / (separator as f64).max(1.0)).max(2.0);
        let dimension = (rows.ln() / length.ln()).max(1.0);
        let waves = length / (wanted as f64).powf(dimension.recip());
        (ALONG * waves).min(MOST / tolerance.sqrt()).max(FEWEST) * stretch.clamp(1.0, 4.0)
    };
    LOOKS + products * product_seconds(a, width) * if T::EPSILON < 1e-10 { IN_F64 } else { 1.0 }
}

/// Up to this order a matrix whose iteration failed is decomposed: some ten seconds of two cores.
const DENSE_AFTER_ALL: usize = 4096;

/// The iteration, and, where that does not tell the wanted pairs apart, or from 0, the dense decomposition of an order that is small
/// enough for it.
fn iterated_or_dense<T: Real>(
    ctx: &Context,
    a: &Operator<'_, T>,
    wanted: Wanted,
    width: usize,
    options: &EigshOptions,
    start: Option<&Solved>,
) -> Result<Solved> {
    let solved = chebyshev(ctx, a, wanted, width, options, start)?;
    // Of matrices without a known null space small values may be anything: their residuals have to tell them from 0.
    let told = |(value, residual): (&f64, &f64)| !a.null.is_empty() || value.abs() > *residual;
    let done = solved.reached && solved.values.iter().zip(&solved.residuals).all(told);
    let n = a.rows();
    // What a caller asks of an iteration alone is the residual, and that is told.
    let matters = wanted.separate || a.null.is_empty();
    if done || !matters || n > DENSE_AFTER_ALL {
        return Ok(solved);
    }
    log::debug!("the iteration did not tell the pairs apart: the matrix of order {n} is decomposed");
    densely(ctx, a, wanted)
}

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
    Ok(Solved {
        values,
        vectors,
        residuals,
        reached: true,
        next: None,
        method: EigshMethod::Lanczos,
        products,
        looks: restarts,
    })
}

/// Pairs at most, with those that are tied with the last wanted one.
fn most_of(wanted: &Wanted, rest: usize) -> usize {
    let more = if wanted.separate { wanted.count.max(8) } else { 0 };
    (wanted.count + more).min(rest)
}

/// Bytes of the largest factor that is chosen unasked: what the default memory budget holds.
const LARGEST_FACTOR: f64 = 2e9;

/// By the inverse, where that fits and, beside an iteration with a block of that `width`, should be the faster one; none otherwise.
fn by_shift_invert<T: Real>(
    ctx: &Context,
    a: &Operator<'_, T>,
    wanted: Wanted,
    options: &EigshOptions,
    width: Option<usize>,
) -> Result<Option<Solved>> {
    if wanted.which != Which::Smallest {
        return Ok(None);
    }
    let wide = a.widened();
    let most = most_of(&wanted, a.rows() - a.null.len());
    let separator = separator(&wide);
    let target = (wanted.count, options.tolerance_in::<T>());
    let seconds = width.map_or(f64::INFINITY, |width| iteration_seconds(a, target, width, separator));
    // What a plan costs is paid whether it is followed or not.
    let least = shift_invert::least_seconds(a.entries(), a.rows(), separator, wanted.count);
    if least > seconds {
        log::debug!(
            "an iteration should take {seconds:.1e} s, shift-invert at least {least:.1e} s (separator {separator})"
        );
        return Ok(None);
    }
    let Some(plan) = shift_invert::plan(&wide, separator, (wanted.count, most)) else { return Ok(None) };
    log::debug!(
        "shift-invert: {:.1e} entries of L, {:.1e} bytes, {:.1e} s; an iteration: {seconds:.1e} s (separator {separator})",
        plan.entries,
        plan.bytes,
        plan.seconds
    );
    if plan.seconds > seconds || (width.is_some() && plan.bytes > LARGEST_FACTOR) {
        return Ok(None);
    }
    // The choice does not ask the budget, or the bits would depend on it.
    let allowed = ctx.memory_budget();
    if plan.bytes > allowed as f64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes of a plan, positive")]
        let needed = plan.bytes as u64;
        return Err(Error::budget("bytes for the factor of shift-invert", needed, allowed));
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
        reached: true,
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
        Solved { values, vectors, residuals, reached: true, next: None, method, products: 0, looks: 0 }
    })
}

/// Of no pair.
fn nothing() -> Solved {
    let (values, vectors, residuals) = (Vec::new(), Vec::new(), Vec::new());
    Solved { values, vectors, residuals, reached: true, next: None, method: EigshMethod::Auto, products: 0, looks: 0 }
}

/// Bytes of a dense decomposition of that order.
fn dense_bytes(n: usize) -> u64 {
    (n as u64).saturating_mul(n as u64).saturating_mul(48)
}

fn densely<T: Real>(ctx: &Context, a: &Operator<'_, T>, wanted: Wanted) -> Result<Solved> {
    let (needed, allowed) = (dense_bytes(a.rows()), ctx.memory_budget());
    if needed > allowed {
        let what =
            format!("bytes for {} pairs of a sparse matrix of order {}, a dense problem", wanted.count, a.rows());
        return Err(Error::budget(what, needed, allowed));
    }
    let (values, vectors) = dense::pairs(ctx, a, &wanted)?;
    let residuals = vec![0.0; values.len()];
    Ok(Solved {
        values,
        vectors,
        residuals,
        reached: true,
        next: None,
        method: EigshMethod::Dense,
        products: 0,
        looks: 0,
    })
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
