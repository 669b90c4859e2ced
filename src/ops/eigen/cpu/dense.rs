//! One matrix at a time through faer: blocked tridiagonalisation, divide and conquer.

use super::{Matrix, Want, power_of_two_near};
use crate::array::Real;
use crate::ops::certificate::{Certificate, Status};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use nalgebra::{DMatrix, DMatrixView, DVector};

/// From this order on one matrix is worth all threads.
const PARALLEL_FROM: usize = 512;

/// One matrix, scaled by a power of two so that squares neither overflow nor underflow.
pub(super) fn eigh<T: Real>(m: &mut Matrix<'_, T>, want: Want) {
    *m.certificate = solve(m, want);
}

fn solve<T: Real>(m: &mut Matrix<'_, T>, want: Want) -> Certificate {
    let n = m.order;
    let without = |status| Certificate { status, sweeps: 0, residual: f64::NAN, orthogonality: f64::NAN };
    let mut matrix = DMatrix::zeros(n, n);
    // Magnitudes of floats order as their bits do, NaN and infinity above all.
    let mut largest = 0;
    for j in 0..n {
        for i in j..n {
            let x = m.elements[i + j * n].to_f64();
            largest = largest.max(x.abs().to_bits());
            matrix[(i, j)] = x;
            matrix[(j, i)] = x;
        }
    }
    let largest = f64::from_bits(largest);
    if !largest.is_finite() {
        m.values.fill(T::from_f64(f64::NAN));
        return without(Status::NonFinite);
    }
    let scale = power_of_two_near(largest);
    matrix /= scale;
    let Some((found, basis)) = by_faer(&matrix) else {
        m.values.fill(T::from_f64(f64::NAN));
        return without(Status::NotConverged);
    };
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| found[i].total_cmp(&found[j]));
    for (to, &from) in order.iter().enumerate() {
        m.values[to] = T::from_f64(found[from] * scale);
        for (out, x) in m.vectors[to * n..(to + 1) * n].iter_mut().zip(basis.column(from).iter()) {
            *out = T::from_f64(*x);
        }
    }
    if want.certificate { certificate(&matrix, scale, m.values, m.vectors) } else { Certificate::default() }
}
fn by_faer(matrix: &DMatrix<f64>) -> Option<(DVector<f64>, DMatrix<f64>)> {
    let n = matrix.nrows();
    let par = if n < PARALLEL_FROM { faer::Par::Seq } else { faer::Par::rayon(0) };
    let mut values = DVector::zeros(n);
    let mut basis = DMatrix::zeros(n, n);
    let scratch = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, par, Default::default());
    let mut memory = MemBuffer::try_new(scratch).ok()?;
    self_adjoint_evd(
        faer::MatRef::from_column_major_slice(matrix.as_slice(), n, n),
        faer::diag::DiagMut::from_slice_mut(values.as_mut_slice()),
        Some(faer::MatMut::from_column_major_slice_mut(basis.as_mut_slice(), n, n)),
        par,
        MemStack::new(&mut memory),
        Default::default(),
    )
    .ok()?;
    Some((values, basis))
}

/// The certificate of what is handed out, against the matrix as it came in (divided by `scale`).
fn certificate<T: Real>(matrix: &DMatrix<f64>, scale: f64, values: &[T], vectors: &[T]) -> Certificate {
    let n = matrix.nrows();
    let v = DMatrixView::from_slice(vectors, n, n).map(Real::to_f64);
    let mut residuals = product(matrix, &v, false);
    for (j, mut r) in residuals.column_iter_mut().enumerate() {
        r.axpy(-values[j].to_f64() / scale, &v.column(j), 1.0);
    }
    let norm = matrix.column_iter().map(|c| c.lp_norm(1)).fold(0.0, f64::max);
    let residual = residuals.column_iter().map(|r| r.norm()).fold(0.0, nan_max) / if norm == 0.0 { 1.0 } else { norm };
    let mut gram = product(&v, &v, true);
    (0..n).for_each(|i| gram[(i, i)] -= 1.0);
    let orthogonality = gram.iter().map(|x| x.abs()).fold(0.0, nan_max);
    Certificate { status: Status::Converged, sweeps: 0, residual, orthogonality }.judged(n, T::EPSILON)
}

/// The larger, or NaN if there is one.
fn nan_max(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// `a b`, or `a' b`; by faer where it is large.
fn product(a: &DMatrix<f64>, b: &DMatrix<f64>, transposed: bool) -> DMatrix<f64> {
    let n = a.nrows();
    let mut out = DMatrix::zeros(n, n);
    let left = faer::MatRef::from_column_major_slice(a.as_slice(), n, n);
    let right = faer::MatRef::from_column_major_slice(b.as_slice(), n, n);
    let par = if n < PARALLEL_FROM { faer::Par::Seq } else { faer::Par::rayon(0) };
    let target = faer::MatMut::from_column_major_slice_mut(out.as_mut_slice(), n, n);
    let left = if transposed { left.transpose() } else { left };
    faer::linalg::matmul::matmul(target, faer::Accum::Replace, left, right, 1.0, par);
    out
}
