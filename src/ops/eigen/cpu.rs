//! The CPU's eigendecomposition: in f64 whatever comes in, sorted, checked, with the same certificate as the device's.

use super::{Certificate, Certify};
use crate::array::Real;
use crate::ops::certificate::Status;
use crate::shape::Layout;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use nalgebra::{DMatrix, DMatrixView, DVector, SymmetricEigen};
use rayon::prelude::*;

/// From this order on faer's blocked tridiagonalisation is faster than nalgebra's (performance.md: n = 64 to 128, one core).
const FAER_FROM: usize = 64;
/// From this order on one matrix is worth all threads. A matrix's result depends upon its order alone, not upon its batch.
const PARALLEL_FROM: usize = 512;

/// Floating-point operations counted for one matrix: LAPACK's 9 n^3 with vectors.
pub(super) fn flops(order: u32) -> f64 {
    9.0 * f64::from(order).powi(3)
}

/// Eigenvalues, eigenvectors and certificates of every matrix of `a` (the lower triangles).
pub(super) fn eigh<T: Real>(layout: &Layout, a: &[T], certify: Certify) -> (Vec<T>, Vec<T>, Vec<Certificate>) {
    let mut values = vec![T::from_f64(0.0); layout.row_count()];
    let mut vectors = vec![T::from_f64(0.0); layout.len()];
    let outputs = split(layout, &mut values, &mut vectors);
    let one = |(i, (values, vectors)): (usize, (&mut [T], &mut [T]))| {
        eigh_one(layout.orders()[i] as usize, &a[layout.elements(i)], values, vectors, certify)
    };
    let certificates = outputs.into_par_iter().enumerate().map(one).collect();
    (values, vectors, certificates)
}

/// The part of each output that belongs to each matrix.
fn split<'a, T>(layout: &Layout, mut values: &'a mut [T], mut vectors: &'a mut [T]) -> Vec<(&'a mut [T], &'a mut [T])> {
    let mut parts = Vec::with_capacity(layout.batch());
    for &n in layout.orders() {
        let n = n as usize;
        let (own_values, rest_values) = values.split_at_mut(n);
        let (own_vectors, rest_vectors) = vectors.split_at_mut(n * n);
        (values, vectors) = (rest_values, rest_vectors);
        parts.push((own_values, own_vectors));
    }
    parts
}

/// One matrix, scaled by a power of two so that squares neither overflow nor underflow.
fn eigh_one<T: Real>(n: usize, a: &[T], values: &mut [T], vectors: &mut [T], certify: Certify) -> Certificate {
    let without = |status| Certificate { status, sweeps: 0, residual: f64::NAN, orthogonality: f64::NAN };
    if n == 0 {
        return Certificate::default(); // nalgebra panics on an empty matrix
    }
    let mut matrix = DMatrix::zeros(n, n);
    // Magnitudes of floats order as their bits do, NaN and infinity above all.
    let mut largest = 0;
    for j in 0..n {
        for i in j..n {
            let x = a[i + j * n].to_f64();
            largest = largest.max(x.abs().to_bits());
            matrix[(i, j)] = x;
            matrix[(j, i)] = x;
        }
    }
    let largest = f64::from_bits(largest);
    if !largest.is_finite() {
        values.fill(T::from_f64(f64::NAN));
        return without(Status::NonFinite);
    }
    let scale = power_of_two_near(largest);
    matrix /= scale;
    let solved = if n < FAER_FROM { by_nalgebra(&matrix) } else { by_faer(&matrix) };
    let Some((found, basis)) = solved else {
        values.fill(T::from_f64(f64::NAN));
        return without(Status::NotConverged);
    };
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| found[i].total_cmp(&found[j]));
    for (to, &from) in order.iter().enumerate() {
        values[to] = T::from_f64(found[from] * scale);
        for (out, x) in vectors[to * n..(to + 1) * n].iter_mut().zip(basis.column(from).iter()) {
            *out = T::from_f64(*x);
        }
    }
    match certify {
        Certify::Here => certificate(&matrix, scale, values, vectors),
        Certify::ByCaller => Certificate::default(),
    }
}

/// The power of two at or below x; 1 for 0.
fn power_of_two_near(x: f64) -> f64 {
    // The exponent field alone; a subnormal becomes the smallest normal number.
    let bits = x.to_bits() & 0x7ff0_0000_0000_0000;
    if x == 0.0 { 1.0 } else { f64::from_bits(bits.max(1 << 52)) }
}

/// nalgebra's `symmetric_eigen` in f64: clean on 40,000 random Laplacians, where its f32 gave NaN on some.
fn by_nalgebra(matrix: &DMatrix<f64>) -> Option<(DVector<f64>, DMatrix<f64>)> {
    let eigen = SymmetricEigen::try_new(matrix.clone(), f64::EPSILON, 100 * matrix.nrows().max(1))?;
    Some((eigen.eigenvalues, eigen.eigenvectors))
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
    if n < FAER_FROM {
        return if transposed { a.tr_mul(b) } else { a * b };
    }
    let mut out = DMatrix::zeros(n, n);
    let left = faer::MatRef::from_column_major_slice(a.as_slice(), n, n);
    let right = faer::MatRef::from_column_major_slice(b.as_slice(), n, n);
    let par = if n < PARALLEL_FROM { faer::Par::Seq } else { faer::Par::rayon(0) };
    let target = faer::MatMut::from_column_major_slice_mut(out.as_mut_slice(), n, n);
    let left = if transposed { left.transpose() } else { left };
    faer::linalg::matmul::matmul(target, faer::Accum::Replace, left, right, 1.0, par);
    out
}
