//! Reference results, and the errors of results relative to them.

use crate::bench::case::Case;
use fiedler::array::{Array, HostArray, Real, Scalar};
use fiedler::ops::{Certificate, all_converged};
use fiedler::{Context, Result, Shape};
use num_complex::Complex;

/// The approximate number of values of a result that are compared. Only whole items are compared.
const COMPARED: usize = 1 << 16;
/// The distance between 1 and the next f32.
pub(super) const EPS: f64 = f32::EPSILON as f64;

/// Returns the number of items to compare, where each item has `numbers` values.
pub(super) fn few(case: &Case, numbers: usize) -> usize {
    (COMPARED / numbers.max(1)).clamp(1, case.items)
}

/// Returns the first `items` items in double precision. An item is a column for transforms and series, and a whole
/// matrix otherwise.
pub(super) fn wide<T: Scalar, W: Scalar>(a: &Array<T>, items: usize, widen: impl Fn(T) -> W) -> Result<Array<W>> {
    let shape = a.shape();
    let first = if shape.batch > 1 {
        Shape { batch: shape.batch.min(items), ..shape }
    } else {
        Shape { cols: shape.cols.min(items), ..shape }
    };
    let first = if items == usize::MAX || shape.batch == 1 && shape.rows == shape.cols { shape } else { first };
    let host = a.to_host(&Context::cpu())?;
    Array::from_vec(first, host.as_slice()[..first.len()].iter().map(|&x| widen(x)).collect())
}

pub(super) trait FromNarrow<T> {
    fn from_narrow(x: T) -> Self;
}

impl FromNarrow<Complex<f32>> for Complex<f64> {
    fn from_narrow(x: Complex<f32>) -> Self {
        Self::new(x.re.into(), x.im.into())
    }
}

/// Returns the largest difference; infinite if a difference is NaN.
pub(super) fn apart<T: Real>(found: &[T], truth: &[f64]) -> f64 {
    // Two NaNs count as equal, because the variance of one value, for example, is NaN.
    let difference = |(f, t): (&T, &f64)| if f.to_f64().is_nan() && t.is_nan() { 0.0 } else { (f.to_f64() - t).abs() };
    let differences = found.iter().zip(truth).map(difference);
    differences.fold(0.0, |worst, d| if d.is_nan() { f64::INFINITY } else { d.max(worst) })
}

/// Returns the largest relative error of the spectra, in units of the bound 4 eps log2 n.
pub(super) fn spectra(found: &HostArray<Complex<f32>>, truth: &HostArray<Complex<f64>>, n: usize) -> f64 {
    let rows = truth.shape().rows.max(1);
    let each = found.as_slice().chunks(rows).zip(truth.as_slice().chunks(rows)).map(|(found, truth)| {
        let off: f64 = found.iter().zip(truth).map(|(f, t)| (Complex::<f64>::from_narrow(*f) - t).norm_sqr()).sum();
        let all: f64 = truth.iter().map(Complex::norm_sqr).sum();
        (off / all.max(f64::MIN_POSITIVE)).sqrt()
    });
    let worst = each.fold(0.0, |worst, e| if e.is_nan() { f64::INFINITY } else { e.max(worst) });
    worst / (4.0 * EPS * (n as f64).log2().max(1.0))
}

/// Returns the largest residual or orthogonality in the certificates, in units of the bound `allowed`.
pub(super) fn worst(certificates: &[Certificate], allowed: f64) -> Result<f64> {
    all_converged(certificates)?;
    let measures = certificates.iter().flat_map(|c| [c.residual, c.orthogonality]);
    Ok(measures.filter(|x| !x.is_nan()).fold(0.0, f64::max) / allowed)
}
