//! Divergences of samples: both are counted in the same equal bins first.

use super::{Divergence, DivergenceOptions, divergence};
use crate::array::{Array, Real, both_to_host};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::stats::{counted, edges};
use crate::parallel;
use crate::shape::Shape;

/// The divergence of the distributions that two sets of samples come from, counted in `bins` equal bins of the range of both
/// together; where all samples are the same number, of half a unit on either side of it. With few samples smoothing is in order:
/// an empty bin of `y` makes Kullback and Leibler's infinite.
///
/// # Shapes
/// `x`: (samples, count) x batch, a set a column; `y`: (other samples, count) x batch. Result: (count, 1) x batch. The counts are
/// made on the CPU, and always normalized.
///
/// # Errors
/// [`crate::ErrorKind::Shape`] where count or batch differ; [`crate::ErrorKind::Domain`] without samples or bins, and for a
/// sample that is not finite; [`crate::ErrorKind::Limit`] where the counts are beyond the memory budget; otherwise as of
/// [`divergence`].
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
        // All samples lie within the bins.
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
