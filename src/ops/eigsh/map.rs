//! Pairs of a symmetric map that is known by its products alone.

use super::lanczos::{End, Pairs, Request, lanczos};
use super::{Eigsh, EigshMethod, EigshOptions, Found, Pair, Selection, Solved, certified};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::ITERATED;
use crate::ops::eigen::Which;
use crate::ops::random::uniforms;
use crate::ops::sparse::NullSpace;
use crate::ops::sparse::scale::times_power;
use crate::policy::{Choice, Side, Workload};
use crate::shape::to_u32;
use std::cell::RefCell;

/// The number of products of the power iteration that estimates the norm of the map. An estimate is usually more than
/// half of the norm then; one that is too small makes the tolerance tighter, never looser.
const ESTIMATE: usize = 12;

/// A function that writes the product of the map and its first argument to the second.
type Map<'a> = &'a mut (dyn FnMut(&[f64], &mut [f64]) -> Result<()> + Send);

/// Computes the k smallest or largest eigenvalues of a symmetric map on vectors of n elements, or those of largest
/// magnitude, or some at both ends, by thick-restart Lanczos on the CPU, in f64.
///
/// `map` multiplies its first argument, a vector, and writes the product to the second. The tolerance of the options is
/// relative to an estimate of the norm of the map; `epsilon` is the relative error of a product, such as 2^-52.
///
/// # Shapes
/// The result has k eigenvalues, ascending, and eigenvectors of shape `(n, k)`.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if n is less than `k`; [`Domain`](crate::ErrorKind::Domain) for
/// [`Selection::SmallestMagnitude`], [`EigshOptions::sigma`] or another method than Lanczos, which need the matrix, for
/// a tolerance that is not positive, and for products that are not finite; the errors of `map`.
///
/// ```
/// use fiedler::ops::eigsh::{Selection, eigsh_map};
/// use fiedler::{Context, ops::EigshOptions};
///
/// let mut map = |x: &[f64], y: &mut [f64]| {
///     y.iter_mut().zip(x).enumerate().for_each(|(i, (y, x))| *y = i as f64 * x);
///     Ok(())
/// };
/// let options = EigshOptions::default();
/// let found = eigsh_map(&Context::cpu(), 100, &mut map, 2, Selection::LargestMagnitude, &options, f64::EPSILON)?;
/// assert!((found.values[0] - 98.0).abs() < 1e-9 && (found.values[1] - 99.0).abs() < 1e-9);
/// # Ok::<(), fiedler::Error>(())
/// ```
pub fn eigsh_map(
    ctx: &Context,
    n: usize,
    map: Map<'_>,
    k: usize,
    which: impl Into<Selection>,
    options: &EigshOptions,
    epsilon: f64,
) -> Result<Eigsh<f64>> {
    if k > n || u32::try_from(n).is_err() {
        return Err(Error::shape("eigsh_map", format!("at most {n} pairs"), format!("k = {k}")));
    }
    options.check()?;
    let selection = which.into();
    let is_lanczos = matches!(options.method, EigshMethod::Auto | EigshMethod::Lanczos);
    if selection == Selection::SmallestMagnitude || options.sigma.is_some() || !is_lanczos {
        let what = "a map that is known by its products has pairs at the ends of its spectrum, by Lanczos; for others, \
                    form the matrix";
        return Err(Error::domain("eigsh_map", what));
    }
    let tolerance = options.tolerance.unwrap_or(ITERATED.residual::<f64>()).max(16.0 * epsilon);
    ctx.on_host(|| {
        let norm = norm_of(map, n, options.seed)?;
        // Squares of vectors of any scale stay in the range of f64.
        let level = if norm > 0.0 { norm.log2().floor() } else { 0.0 };
        #[expect(clippy::cast_possible_truncation, reason = "at most 1074")]
        let level = level as i32;
        let norm = times_power(norm, -level);
        // Both ends and the residuals are products of the same map.
        let map = RefCell::new(|x: &[f64], y: &mut [f64]| -> Result<()> {
            map(x, y)?;
            y.iter_mut().for_each(|y| *y = times_power(*y, -level));
            Ok(())
        });
        let product = |x: &[f64], y: &mut [f64]| (*map.borrow_mut())(x, y);
        let mut at = |which, k| at_an_end(ctx, product, (n, k), which, tolerance * norm, options);
        let found = selection.of((n, k), tolerance * norm, &mut at)?;
        let flops = 2.0 * (n * found.solved.products.max(1)) as f64;
        let workload = Workload { cpu_flops: flops, gpu_flops: flops, ..Workload::default() };
        let choice = Choice { side: Side::Cpu, ..ctx.explain(&workload, false) };
        let residuals = |values: &[f64], vectors: &[f64]| -> Result<Vec<f64>> {
            let mut image = vec![0.0; n];
            let norm = |(value, vector): (&f64, &[f64])| -> Result<f64> {
                product(vector, &mut image)?;
                Ok(length(image.iter().zip(vector).map(|(y, x)| y - value * x)))
            };
            values.iter().zip(vectors.chunks_exact(n.max(1))).map(norm).collect()
        };
        let mut found = certified(found, (n, norm, tolerance), 0, &choice, residuals)?;
        found.values.iter_mut().for_each(|value| *value = times_power(*value, level));
        Ok(found)
    })
}

fn at_an_end(
    ctx: &Context,
    map: impl Fn(&[f64], &mut [f64]) -> Result<()>,
    (n, k): (usize, usize),
    which: Which,
    absolute: f64,
    options: &EigshOptions,
) -> Result<Found> {
    let request = Request {
        end: if which == Which::Smallest { End::Smallest } else { End::Largest },
        wanted: k,
        most: k,
        resolution: 0.0,
        // A tenth of the tolerance is left for the rounding errors of the result.
        absolute: 0.9 * absolute,
        relative: 0.0,
        block: 1,
        basis: None,
        most_products: options.most_products,
        seed: options.seed,
    };
    let mut product =
        |x: &[f64], y: &mut [f64]| x.chunks_exact(n).zip(y.chunks_exact_mut(n)).try_for_each(|(x, y)| map(x, y));
    let Pairs { values, vectors, residuals, products, restarts, complete, .. } =
        lanczos(&mut product, &NullSpace::none(n), request, ctx.cancel())?;
    if values.len() < k {
        let what = format!("Lanczos found {} of {k} pairs in {products} products", values.len());
        return Err(Error::domain("eigsh_map", what));
    }
    let mut pairs: Vec<Pair> =
        values.into_iter().zip(vectors.chunks_exact(n.max(1)).map(<[f64]>::to_vec)).take(k).collect();
    if which == Which::Largest {
        pairs.reverse();
    }
    let solved = Solved {
        values: Vec::new(),
        vectors: Vec::new(),
        residuals,
        reached: complete,
        next: None,
        method: EigshMethod::Lanczos,
        products,
        restarts,
    };
    Ok(Found { known: 0..0, solved, pairs })
}

/// Returns an estimate of the norm of the map, from below.
fn norm_of(map: Map<'_>, n: usize, seed: u64) -> Result<f64> {
    let mut x: Vec<f64> = (0..n).map(|i| uniforms(to_u32(i), u32::MAX, seed)[0] - 0.5).collect();
    let mut y = vec![0.0; n];
    let mut norm = 0.0_f64;
    for _ in 0..ESTIMATE {
        let size = length(x.iter().copied());
        if size == 0.0 {
            break;
        }
        x.iter_mut().for_each(|x| *x /= size);
        map(&x, &mut y)?;
        let found = length(y.iter().copied());
        if !found.is_finite() {
            return Err(Error::domain("eigsh_map", "expected finite products with the map, found others"));
        }
        norm = norm.max(found);
        std::mem::swap(&mut x, &mut y);
    }
    Ok(norm)
}

/// Returns the 2-norm of a vector of any scale.
fn length(x: impl Iterator<Item = f64> + Clone) -> f64 {
    // `f64::max` would ignore NaN.
    let most = x.clone().map(f64::abs).fold(0.0, |most, x| if x > most || x.is_nan() { x } else { most });
    if most == 0.0 || !most.is_finite() { most } else { most * x.map(|x| (x / most).powi(2)).sum::<f64>().sqrt() }
}
