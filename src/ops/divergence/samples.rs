//! Divergences between two sets of samples. Both sets are first counted in the same bins of equal width.

use super::{Divergence, DivergenceOptions, divergence};
use crate::array::{Array, Real, both_to_host};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::stats::{counted, edges};
use crate::parallel;
use crate::shape::Shape;

/// Computes the divergence of the distributions from which two sets of samples come. The samples are counted in `bins`
/// bins of equal width over the common range of both sets. If all samples are equal, the range extends from 0.5 below
/// their value to 0.5 above it. With few samples, use smoothing, because an empty bin of `y` makes the Kullback-Leibler
/// divergence infinite.
///
/// # Shapes
/// `x` is (samples, count) x batch, with one set per column. `y` has the same count and batch, but its sets may have
/// another number of samples. The result is (count, 1) x batch. The samples are counted on the CPU, and the counts are
/// always normalized.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::divergence::{Divergence, DivergenceOptions, divergence_of_samples};
/// use fiedler::{Context, Shape};
///
/// let ctx = Context::cpu();
/// let x = Array::from_vec(Shape::new(4, 1, 1), vec![0.0_f32, 0.1, 0.2, 0.3])?;
/// let y = Array::from_vec(Shape::new(4, 1, 1), vec![0.7_f32, 0.8, 0.9, 1.0])?;
/// let options = DivergenceOptions::default();
/// let found = divergence_of_samples(&ctx, Divergence::TotalVariation, &x, &y, 2, &options)?.to_host(&ctx)?;
/// assert_eq!(found.as_slice(), [1.0]); // no bin has elements of both
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Shape`] if the counts or the batches of `x` and `y` differ; [`crate::ErrorKind::Domain`] if
/// there are no samples or no bins, or if a sample is not finite; [`crate::ErrorKind::Limit`] if the counts exceed the
/// memory budget; otherwise the same as [`divergence`].
pub fn divergence_of_samples<T: Real>(
    ctx: &Context,
    kind: Divergence,
    x: &Array<T>,
    y: &Array<T>,
    bins: usize,
    options: &DivergenceOptions,
) -> Result<Array<T>> {
    const NAME: &str = "divergence of samples";
    let (a, b) = (x.shape(), y.shape());
    if (a.cols, a.batch) != (b.cols, b.batch) {
        return Err(Error::shape(NAME, format!("y of (any, {}) x {}", a.cols, a.batch), b.to_string()));
    }
    let sets = a.cols * a.batch;
    if bins == 0 || sets > 0 && (a.rows == 0 || b.rows == 0) {
        let what =
            format!("expected at least one sample of either and one bin, found {}, {} and {bins}", a.rows, b.rows);
        return Err(Error::domain(NAME, what));
    }
    let shape = Shape::new(bins, a.cols, a.batch);
    let needed = (shape.len() as u64).saturating_mul(2 * size_of::<T>() as u64);
    if needed > ctx.memory_budget() {
        let what = "bytes of histograms of samples";
        return Err(Error::budget(what, needed, ctx.memory_budget()));
    }
    let (x, y) = both_to_host(ctx, x, y)?;
    let count = |i: usize| -> Result<[Vec<T>; 2]> {
        let of = |data: &[T], rows: usize| -> Vec<f64> {
            data[i * rows..(i + 1) * rows].iter().map(|x| x.to_f64()).collect()
        };
        let both = [of(x.as_slice(), a.rows), of(y.as_slice(), b.rows)];
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &x in both.iter().flatten() {
            if !x.is_finite() {
                return Err(Error::domain(NAME, format!("expected finite samples, found {x} in set {i}")));
            }
            (low, high) = (low.min(x), high.max(x));
        }
        if low >= high {
            (low, high) = (low - 0.5, high + 0.5);
        }
        let edges = edges(low, high, bins)?;
        #[expect(clippy::cast_precision_loss, reason = "a count")]
        let number = |count: u64| T::from_f64(count as f64);
        // All samples are within the bins.
        Ok(both.map(|samples| counted(samples.into_iter(), &edges).into_iter().take(bins).map(number).collect()))
    };
    let histograms: Vec<[Vec<T>; 2]> = parallel::map(0..sets, |_, i| count(i)).into_iter().collect::<Result<_>>()?;
    let mut all = [Vec::with_capacity(shape.len()), Vec::with_capacity(shape.len())];
    for [p, q] in histograms {
        all[0].extend(p);
        all[1].extend(q);
    }
    let [p, q] = all;
    let options = DivergenceOptions { normalize: true, ..*options };
    divergence(ctx, kind, &Array::from_vec(shape, p)?, &Array::from_vec(shape, q)?, &options)
}
