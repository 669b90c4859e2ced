//! Solves one problem on the CPU by any of the methods.

use super::auto::{Inverse, auto};
use super::chebyshev::{Found, GoesOn, Limits, iterate};
use super::cpu::{CpuSpace, check_memory};
use super::lanczos::{End, Pairs, Request, lanczos};
use super::options::{EigshMethod, EigshOptions};
use super::solved::{Solved, Wanted, collect, target};
use super::space::Space;
use super::{dense, subspace};
use crate::array::Real;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::eigen::Which;
use crate::ops::sparse::cpu::{Combination, Rows};
use crate::ops::sparse::{Bounds, Operator};

/// The largest order at which every problem is decomposed as a dense matrix. Up to this order, the decomposition
/// takes less time than the restarts of an iteration.
pub(super) const DENSE: usize = 96;

/// The expected number of products of A with the block if nothing is known about the matrix. It was measured for a
/// tolerance of 2e-6 and graphs without large gaps between eigenvalues: 150 to 300 products for preferential
/// attachment, grids and a torus of 10,000 to 100,000 nodes, 2026-11-21.
pub(super) const PRODUCTS: f64 = 250.0;

/// Returns the number of columns in a block for `wanted` pairs. The additional columns keep the damped interval
/// away from the wanted values. There are about as many additional columns as wanted pairs, but at most 16 plus a
/// quarter of the wanted pairs. Measured on a preferential attachment graph of 100,000 nodes with 15 wanted pairs: a
/// block of 32 columns takes 0.75 of the time of a block of 24 columns (2026-11-21). The width is rounded up to one
/// that the product kernels support, or to the sum of a few such widths.
pub(super) fn width_of(wanted: usize) -> usize {
    let width = wanted + wanted.clamp(8, 16 + wanted / 4);
    if width <= 8 { 8 } else { width.next_multiple_of(16) }
}

/// Solves one problem on the CPU. Iterations begin from `start` if it is given.
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

/// Calls [`solve`] for f32, so that `solve` is compiled once in this crate, and not again in each crate that uses
/// this one.
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
    // An iteration does not pay off if its block has more columns than a third of the number of pairs outside the
    // known null space.
    let small = a.rows() <= DENSE || 3 * width > rest;
    if let Some(solved) = multiple_of_one(a, wanted, options.method) {
        return Ok(solved);
    }
    match options.method {
        _ if wanted.count == 0 => Ok(nothing()),
        EigshMethod::Dense => densely(ctx, a, wanted),
        EigshMethod::Auto | EigshMethod::Chebyshev if small => densely(ctx, a, wanted),
        EigshMethod::Lanczos => by_lanczos(ctx, a, wanted, options),
        EigshMethod::ShiftInvert => by_inverse(ctx, a, wanted, options),
        EigshMethod::Auto if width > rest => densely(ctx, a, wanted),
        EigshMethod::Auto => auto(ctx, a, wanted, width, options, start),
        _ if width > rest => densely(ctx, a, wanted),
        EigshMethod::Subspace => subspace::iterate_blocks(ctx, a, wanted, width, options),
        EigshMethod::Power => subspace::power(ctx, a, wanted, options),
        _ => chebyshev(ctx, a, wanted, width, options, start, &|_, _| true),
    }
}

/// Finds the pairs by shift-invert, regardless of the predicted time.
fn by_inverse<T: Real>(ctx: &Context, a: &Operator<'_, T>, wanted: Wanted, options: &EigshOptions) -> Result<Solved> {
    if wanted.which == Which::Smallest {
        let inverse = Inverse::new(a, wanted, options);
        if let Some(solved) = inverse.solve(ctx)? {
            return Ok(solved);
        }
    }
    let what = "shift-invert finds the smallest pairs of matrices that are positive semidefinite; of others, the pairs nearest a number are \
                found with sigma";
    Err(Error::domain("eigsh", what))
}

/// Finds the pairs by thick-restart Lanczos, in f64.
fn by_lanczos<T: Real>(ctx: &Context, a: &Operator<'_, T>, wanted: Wanted, options: &EigshOptions) -> Result<Solved> {
    let wide = a.widened();
    let target = target(&wide, wanted, options.tolerance_in::<T>());
    let rows = Rows::new(&wide);
    let n = a.rows().max(1);
    let mut map = |x: &[f64], y: &mut [f64]| {
        let columns = x.chunks_exact(n).zip(y.chunks_exact_mut(n));
        columns.for_each(|(x, y)| rows.combine(1, x, y, Combination::PRODUCT));
        Ok(())
    };
    let most = most_of(&wanted, a.rows() - a.null.len());
    let request = Request {
        end: if wanted.which == Which::Smallest { End::Smallest } else { End::Largest },
        wanted: wanted.count,
        most,
        resolution: target.resolution,
        absolute: target.tolerance,
        relative: 0.0,
        block: 1,
        basis: None,
        most_products: options.most_products,
        seed: options.seed,
    };
    let pairs = lanczos(&mut map, &wide.null, request, ctx.cancel())?;
    let Pairs { values, vectors, residuals, products, restarts, complete, .. } = pairs;
    if values.len() < wanted.count {
        let what = format!("Lanczos found {} of {} pairs in {products} products", values.len(), wanted.count);
        return Err(Error::domain("eigsh", what));
    }
    Ok(Solved {
        values,
        vectors,
        residuals,
        reached: complete,
        next: None,
        method: EigshMethod::Lanczos,
        products,
        restarts,
    })
}

/// Returns the maximum number of pairs to find, including those that are tied with the last wanted one.
pub(super) fn most_of(wanted: &Wanted, rest: usize) -> usize {
    let more = if wanted.separate { wanted.count.max(8) } else { 0 };
    (wanted.count + more).min(rest)
}

/// Returns whether the matrix is a multiple of the identity: its bounds coincide, and it has no known null
/// vectors.
pub(super) fn is_multiple_of_one(bounds: Bounds, null: usize) -> bool {
    bounds.lower >= bounds.upper && null == 0
}

/// Returns the first coordinate vectors if the matrix is a multiple of the identity. Every vector is then an
/// eigenvector, and an iteration would have nothing to separate and would divide by 0.
fn multiple_of_one<T: Real>(a: &Operator<'_, T>, wanted: Wanted, method: EigshMethod) -> Option<Solved> {
    let (n, count) = (a.rows(), wanted.count);
    is_multiple_of_one(a.bounds(0), a.null.len()).then(|| {
        let mut vectors = vec![0.0; n * count];
        vectors.iter_mut().step_by(n + 1).for_each(|x| *x = 1.0);
        let (values, residuals) = (vec![a.bounds(0).lower; count], vec![0.0; count]);
        Solved { values, vectors, residuals, reached: true, next: None, method, products: 0, restarts: 0 }
    })
}

/// Returns a result without pairs.
fn nothing() -> Solved {
    let (values, vectors, residuals) = (Vec::new(), Vec::new(), Vec::new());
    Solved {
        values,
        vectors,
        residuals,
        reached: true,
        next: None,
        method: EigshMethod::Auto,
        products: 0,
        restarts: 0,
    }
}

/// Returns the number of bytes that a dense decomposition of order `n` needs.
fn dense_bytes(n: usize) -> u64 {
    (n as u64).saturating_mul(n as u64).saturating_mul(48)
}

pub(super) fn densely<T: Real>(ctx: &Context, a: &Operator<'_, T>, wanted: Wanted) -> Result<Solved> {
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
        restarts: 0,
    })
}

pub(super) fn chebyshev<T: Real>(
    ctx: &Context,
    a: &Operator<'_, T>,
    wanted: Wanted,
    width: usize,
    options: &EigshOptions,
    start: Option<&Solved>,
    goes_on: GoesOn<'_>,
) -> Result<Solved> {
    let limits = Limits { which: wanted.which, most_products: options.most_products };
    let tolerance = options.tolerance_in::<T>();
    check_memory::<T>(ctx, a.rows(), width)?;
    let mut space = CpuSpace::new(ctx, a, width);
    let mut before = Found::default();
    match (start, a.narrowed().filter(|_| T::EPSILON < 1e-10)) {
        (Some(start), _) => {
            space.randomize(options.seed)?;
            space.load(&start.vectors);
        }
        // An iteration in f32 costs half as much as one in f64, so it runs first, until the precision of f32 is
        // exhausted.
        (None, Some(narrow)) => {
            let mut rough = CpuSpace::new(ctx, &narrow, width);
            rough.randomize(options.seed)?;
            let near = target(&narrow, wanted, tolerance.max(options.tolerance_in::<f32>()));
            before = iterate(ctx, &mut rough, &[near], limits, goes_on)?.remove(0);
            if before.left {
                return collect(&mut rough, 0, wanted, &before, &Found::default(), EigshMethod::Chebyshev);
            }
            space.load(&rough.read(0, 0..width)?);
        }
        (None, None) => space.randomize(options.seed)?,
    }
    let found = iterate(ctx, &mut space, &[target(a, wanted, tolerance)], limits, goes_on)?.remove(0);
    if !found.values.iter().all(|x| x.is_finite()) {
        return Err(Error::domain(
            "eigsh",
            "the iteration overflowed: entries beyond 1e30, or a bound that does not hold",
        ));
    }
    collect(&mut space, 0, wanted, &found, &before, EigshMethod::Chebyshev)
}
