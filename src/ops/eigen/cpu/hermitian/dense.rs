//! Solves one Hermitian matrix at a time, by faer's reduction and divide and conquer.

use super::{Matrix, certify, write_with_phase};
use crate::array::Real;
use crate::ops::certificate::Status;
use crate::ops::eigen::cpu::power_of_two_near;
use crate::ops::eigen::request::Request;
use crate::parallel;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, Par};
use num_complex::Complex;

/// The minimum order at which all threads work together on one matrix.
const PARALLEL_FROM: usize = 512;

/// Solves a matrix in f64, whose results are rounded.
pub(super) fn solve<T: Real>(m: &mut Matrix<'_, T>, request: Request<'_>) {
    let n = m.order;
    let lower = (0..n).flat_map(|j| m.elements[j * n + j..(j + 1) * n].iter().enumerate());
    let parts = lower.flat_map(|(i, x)| [x.re.to_f64().abs(), if i == 0 { 0.0 } else { x.im.to_f64().abs() }]);
    // The bits of magnitudes have the same order as the magnitudes, with infinity and NaN above all others.
    let peak = f64::from_bits(parts.map(f64::to_bits).max().unwrap_or(0));
    if !peak.is_finite() {
        certify(m, Status::NonFinite, [0.0; 2]);
        return;
    }
    let scale = power_of_two_near(peak);
    let wide = |x: Complex<T>| Complex::new(x.re.to_f64() / scale, x.im.to_f64() / scale);
    let a = Mat::from_fn(n, n, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Greater => wide(m.elements[j * n + i]),
        std::cmp::Ordering::Equal => Complex::from(wide(m.elements[j * n + i]).re),
        std::cmp::Ordering::Less => wide(m.elements[i * n + j]).conj(),
    });
    let par = if n < PARALLEL_FROM { Par::Seq } else { parallel::in_eight() };
    let vectors = !request.columns.is_none();
    let mut values = Diag::zeros(n);
    let mut v = Mat::<Complex<f64>>::zeros(if vectors { n } else { 0 }, if vectors { n } else { 0 });
    let compute = if vectors { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    let mut memory = MemBuffer::new(self_adjoint_evd_scratch::<Complex<f64>>(n, compute, par, Default::default()));
    let stack = MemStack::new(&mut memory);
    let into = vectors.then(|| v.as_mut());
    let done = self_adjoint_evd(a.as_ref(), values.as_mut(), into, par, stack, Default::default()).is_ok();
    let mut values: Vec<f64> = values.column_vector().iter().map(|x| x.re).collect();
    let norm = (0..n).map(|j| a.col(j).iter().map(|x| x.norm()).sum::<f64>()).fold(0.0, f64::max);
    let measures = if vectors { measure(&a, &mut v, &mut values, par) } else { invariants(&a, &values) };
    for (to, x) in m.values.iter_mut().zip(&values) {
        *to = T::from_f64(x * scale);
    }
    for (to, from) in m.vectors.chunks_exact_mut(n.max(1)).zip(v.col_iter()) {
        write_with_phase(|i| from[i], to);
    }
    let status = if done { Status::Converged } else { Status::NotConverged };
    certify(m, status, [measures[0] / if norm == 0.0 { 1.0 } else { norm }, measures[1]]);
}

/// Returns `max_j |A v_j - l_j v_j|` and `max |V^H V - I|`.
fn measure(a: &Mat<Complex<f64>>, v: &mut Mat<Complex<f64>>, values: &mut [f64], par: Par) -> [f64; 2] {
    let n = values.len();
    let mut product = Mat::zeros(n, n);
    let one = Complex::from(1.0);
    faer::linalg::matmul::matmul(product.as_mut(), faer::Accum::Replace, a.as_ref(), v.as_ref(), one, par);
    let column =
        |j: usize| product.col(j).iter().zip(v.col(j).iter()).map(|(x, v)| (x - v * values[j]).norm_sqr()).sum::<f64>();
    let residual = (0..n).map(column).fold(0.0, f64::max).sqrt();
    faer::linalg::matmul::matmul(product.as_mut(), faer::Accum::Replace, v.adjoint(), v.as_ref(), one, par);
    let off = |j: usize, i: usize, x: &Complex<f64>| (x - if i == j { 1.0 } else { 0.0 }).norm_sqr();
    let own = |j: usize| product.col(j).iter().enumerate().map(|(i, x)| off(j, i, x)).fold(0.0, f64::max);
    [residual, (0..n).map(own).fold(0.0, f64::max).sqrt()]
}

/// Measures eigenvalues without eigenvectors by the trace and the Frobenius norm, as `cpu::group` does.
fn invariants(a: &Mat<Complex<f64>>, values: &[f64]) -> [f64; 2] {
    let n = values.len().max(1) as f64;
    let trace: f64 = values.iter().enumerate().map(|(i, x)| a[(i, i)].re - x).sum();
    let squares: f64 = a.col_iter().flat_map(|column| column.iter()).map(|x| x.norm_sqr()).sum();
    let own = values.iter().map(|x| x * x).sum::<f64>();
    [(trace.abs() / n).max((own.sqrt() - squares.sqrt()).abs() / n.sqrt()), 0.0]
}
