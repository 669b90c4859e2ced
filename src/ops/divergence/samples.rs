//! Divergences of samples: both are counted in the same equal bins first.

use super::{Divergence, DivergenceOptions, divergence};
use crate::array::{Array, Real};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::shape::Shape;
use rayon::prelude::*;

/// How many samples lie in each of `bins` equal bins of `low..=high`, by numpy's rule: a bin has its lower end, and the last one its upper end
/// too; what lies outside is not counted. `edges[i]..edges[i + 1]` is bin i.
///
/// # Errors
/// [`crate::ErrorKind::Domain`] without bins, and for a range that is empty or not finite.
fn histogram(samples: &[f64], low: f64, high: f64, bins: usize) -> Result<(Vec<u64>, Vec<f64>)> {
    let width = high - low;
    if bins == 0 || !(low < high && width.is_finite()) {
        let what = format!("expected at least one bin of a finite range low..high, found {bins} of {low}..{high}");
        return Err(Error::domain("histogram", what));
    }
    #[expect(clippy::cast_precision_loss, reason = "a count of bins")]
    let count = bins as f64;
    #[expect(clippy::cast_precision_loss, reason = "a count of bins")]
    let edge = |i: usize| if i == bins { high } else { i as f64 * (width / count) + low };
    let edges: Vec<f64> = (0..=bins).map(edge).collect();
    let mut counts = vec![0; bins];
    for &x in samples.iter().filter(|&&x| x >= low && x <= high) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to bins")]
        let mut bin = (((x - low) / width * count) as usize).min(bins - 1);
        // The edges decide, not the rounded quotient.
        if x < edges[bin] {
            bin -= 1;
        } else if bin + 1 < bins && x >= edges[bin + 1] {
            bin += 1;
        }
        counts[bin] += 1;
    }
    Ok((counts, edges))
}

/// The divergence of the distributions that two sets of samples come from, counted in `bins` equal bins of the range of both together; where all
/// samples are the same number, of half a unit on either side of it. With few samples smoothing is in order: an empty bin of `y` makes Kullback and
/// Leibler's infinite.
///
/// # Shapes
/// `x`: (samples, count) x batch, a set a column; `y`: (other samples, count) x batch. Result: (count, 1) x batch. The counts are made on the CPU, and
/// always normalised.
///
/// # Errors
/// [`crate::ErrorKind::Shape`] where count or batch differ; [`crate::ErrorKind::Domain`] without samples or bins, and for a sample that is not finite;
/// [`crate::ErrorKind::Limit`] where the counts are beyond the memory budget; otherwise as of [`divergence`].
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
    let (x, y) = (x.to_host(ctx)?, y.to_host(ctx)?);
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
        let counted = |samples: &[f64]| -> Result<Vec<T>> {
            #[expect(clippy::cast_precision_loss, reason = "a count")]
            let number = |count: u64| T::from_f64(count as f64);
            Ok(histogram(samples, low, high, bins)?.0.into_iter().map(number).collect())
        };
        Ok([counted(&both[0])?, counted(&both[1])?])
    };
    let counted: Vec<[Vec<T>; 2]> = (0..sets).into_par_iter().map(count).collect::<Result<_>>()?;
    let mut all = [Vec::with_capacity(shape.len()), Vec::with_capacity(shape.len())];
    for [p, q] in counted {
        all[0].extend(p);
        all[1].extend(q);
    }
    let [p, q] = all;
    let options = DivergenceOptions { normalize: true, ..*options };
    divergence(ctx, kind, &Array::from_vec(shape, p)?, &Array::from_vec(shape, q)?, &options)
}

#[cfg(test)]
mod tests {
    use super::histogram;

    #[test]
    fn numpy_s_rule() -> crate::Result<()> {
        let samples = [0.0, 0.1, 0.2, 0.3, 0.3, 0.6, 0.7, 0.9, 1.0, 1.1, -0.1];
        // numpy.histogram(samples, bins=10, range=(0, 1)).
        assert_eq!(histogram(&samples, 0.0, 1.0, 10)?.0, [1, 1, 3, 0, 0, 1, 1, 0, 0, 2]);
        assert_eq!(histogram(&[2.0; 3], 1.0, 2.0, 2)?, (vec![0, 3], vec![1.0, 1.5, 2.0]));
        assert_eq!(histogram(&[], 0.0, 1.0, 1)?.0, [0]);
        for (low, high, bins) in [(0.0, 1.0, 0), (1.0, 1.0, 3), (0.0, f64::INFINITY, 3), (f64::NAN, 1.0, 3)] {
            assert!(histogram(&[], low, high, bins).is_err());
        }
        Ok(())
    }
}
