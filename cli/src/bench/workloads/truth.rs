//! Reference results, and the errors of results relative to them.

use crate::bench::case::Case;
use fiedler::array::{Array, HostArray, Real, Scalar};
use fiedler::ops::eigen::eigvalsh;
use fiedler::ops::matmul::{Gemm, matmul};
use fiedler::ops::{Certificate, all_converged};
use fiedler::{Context, Result, Shape};
use num_complex::Complex;

/// The approximate number of values of a result that are compared. Only whole items are compared.
const COMPARED: usize = 1 << 16;
/// The distance between 1 and the next f32.
pub(in crate::bench) const EPS: f64 = f32::EPSILON as f64;

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

/// Returns a reference result and a result. The former is computed meanwhile, by another thread.
pub(super) fn both<T: Send, F>(
    truth: impl FnOnce() -> Result<T> + Send,
    found: impl FnOnce() -> Result<F>,
) -> Result<(T, F)> {
    std::thread::scope(|scope| {
        let truth = scope.spawn(truth);
        let found = found();
        Ok((truth.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?, found?))
    })
}

/// Returns the first values of a result in double precision, as many as `shape` has.
pub(super) fn some(found: &HostArray<f32>, shape: Shape) -> Result<Array<f64>> {
    Array::from_vec(shape, found.as_slice()[..shape.len()].iter().map(|&x| x.into()).collect())
}

/// Returns square matrices whose elements `of` takes from element (i, j) of `a`, by its index and that of (j, i).
fn mirrored(a: &[f64], shape: Shape, of: impl Fn(usize, usize) -> usize) -> Result<Array<f64>> {
    let n = shape.rows.max(1);
    let element = |at: usize| {
        let (first, i, j) = (at / (n * n) * n * n, at % n, at / n % n);
        a[of(at, first + i * n + j)]
    };
    Array::from_vec(shape, (0..shape.len()).map(element).collect())
}

/// Returns the transposes of square matrices.
pub(super) fn transposed(a: &Array<f64>) -> Result<Array<f64>> {
    mirrored(a.to_host(&Context::cpu())?.as_slice(), a.shape(), |_, mirrored| mirrored)
}

/// Returns the first matrices of a workload in double precision, with the lower triangle, which is all that solvers
/// read, in both halves.
pub(super) fn symmetric(a: &Array<f32>, case: &Case) -> Result<Array<f64>> {
    let all = wide(a, few(case, case.size * case.size), |x: f32| f64::from(x))?;
    let n = case.size;
    let lower = |at: usize, mirrored: usize| if at % n >= at / n % n { at } else { mirrored };
    mirrored(all.to_host(&Context::cpu())?.as_slice(), all.shape(), lower)
}

/// Returns the eigenvalues of symmetric matrices, in double precision.
pub(super) fn exact_values(a: &Array<f64>) -> Result<Vec<f64>> {
    let cpu = Context::cpu();
    Ok(eigvalsh(&cpu, a)?.values.to_host(&cpu)?.as_slice().to_vec())
}

/// Returns the larger of the 1-norms of each matrix and of its transpose.
fn norms(a: &Array<f64>) -> Result<Vec<f64>> {
    let (a, n) = (a.to_host(&Context::cpu())?, a.shape().rows.max(1));
    let norm = |matrix: &[f64]| {
        let columns = matrix.chunks(n).map(|column| column.iter().map(|x| x.abs()).sum());
        let rows = (0..n).map(|i| matrix.iter().skip(i).step_by(n).map(|x| x.abs()).sum());
        columns.chain(rows).fold(f64::MIN_POSITIVE, f64::max)
    };
    Ok(a.as_slice().chunks(n * n).map(norm).collect())
}

/// Returns the largest error of eigenvalues or singular values, relative to the norm of their matrix.
pub(super) fn values_apart(a: &Array<f64>, found: &[f32], truth: &[f64]) -> Result<f64> {
    let n = a.shape().rows.max(1);
    let each = found.chunks(n).zip(truth.chunks(n)).zip(norms(a)?);
    Ok(each.fold(0.0, |worst, ((found, truth), norm)| f64::max(worst, apart(found, truth) / norm)))
}

/// Returns the largest error of the decompositions A = U S V' of square matrices, computed in double precision: of the
/// values S, of a column of the residual A V - U S, both relative to the norm of A, and of the columns of U and V from
/// orthonormality.
pub(super) fn decomposition(a: &Array<f64>, [u, v]: [&Array<f64>; 2], s: &[f32], truth: &[f64]) -> Result<f64> {
    let (cpu, n) = (Context::cpu(), a.shape().rows.max(1));
    let image = matmul(&cpu, a, v)?.to_host(&cpu)?;
    let columns = u.to_host(&cpu)?;
    let pairs = image.as_slice().chunks(n).zip(columns.as_slice().chunks(n)).zip(s);
    let away = pairs
        .map(|((image, u), &s)| image.iter().zip(u).map(|(x, u)| (x - f64::from(s) * u).powi(2)).sum::<f64>().sqrt());
    let norms = norms(a)?;
    let residual = away.enumerate().map(|(column, away)| away / norms[column / n]);
    let mut all: Vec<f64> = residual.chain([values_apart(a, s, truth)?]).collect();
    for vectors in [u, v] {
        let products = Gemm::new().transpose_a(true).run(&cpu, vectors, vectors)?.to_host(&cpu)?;
        let identity = |at: usize| f64::from(u8::from(at % n == at / n % n));
        all.extend(products.as_slice().iter().enumerate().map(|(at, x)| (x - identity(at)).abs()));
    }
    Ok(all.into_iter().fold(0.0, |worst, e| if e.is_nan() { f64::INFINITY } else { e.max(worst) }))
}

/// Returns the largest residual or orthogonality in the certificates, in units of the bound `allowed`.
pub(in crate::bench) fn worst(certificates: &[Certificate], allowed: f64) -> Result<f64> {
    all_converged(certificates)?;
    let measures = certificates.iter().flat_map(|c| [c.residual, c.orthogonality]);
    Ok(measures.filter(|x| !x.is_nan()).fold(0.0, f64::max) / allowed)
}
