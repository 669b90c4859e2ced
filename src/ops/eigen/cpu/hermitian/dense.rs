//! Solves one Hermitian matrix at a time, by faer's reduction and divide and conquer in f64. The results are rounded,
//! and the certificate is that of the rounded ones.

use super::{Matrix, certify};
use crate::array::Real;
use crate::ops::certificate::Status;
use crate::ops::complex::{canonical, departure, narrow, norm_1, residual, wide};
use crate::ops::eigen::cpu::power_of_two_near;
use crate::ops::eigen::request::Request;
use crate::parallel;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, Par};
use num_complex::Complex;

/// The minimum order at which all threads work together on a decomposition.
const PARALLEL_FROM: usize = 512;

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
    let scale = power_of_two_near(peak).clamp(f64::SMALLEST, 0.25 / f64::SMALLEST);
    let of = |i: usize, j: usize| wide(m.elements[j * n + i]) * (1.0 / scale);
    let a = Mat::from_fn(n, n, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Greater => of(i, j),
        std::cmp::Ordering::Equal => Complex::from(of(i, j).re),
        std::cmp::Ordering::Less => of(j, i).conj(),
    });
    let par = if n < PARALLEL_FROM { Par::Seq } else { parallel::in_eight() };
    let vectors = !request.columns.is_none();
    let order = if vectors { n } else { 0 };
    let (mut values, mut v) = (Diag::zeros(n), Mat::<Complex<f64>>::zeros(order, order));
    let compute = if vectors { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    let mut memory = MemBuffer::new(self_adjoint_evd_scratch::<Complex<f64>>(n, compute, par, Default::default()));
    let (into, stack) = (vectors.then(|| v.as_mut()), MemStack::new(&mut memory));
    let done = self_adjoint_evd(a.as_ref(), values.as_mut(), into, par, stack, Default::default()).is_ok();
    let values: Vec<f64> = values.column_vector().iter().map(|x| T::from_f64(x.re).to_f64()).collect();
    for (to, x) in m.values.iter_mut().zip(&values) {
        *to = T::from_f64(x * scale);
    }
    let measures = if vectors {
        canonical::<T>(&mut v, 0);
        for (to, from) in m.vectors.chunks_exact_mut(n.max(1)).zip(v.col_iter()) {
            to.iter_mut().zip(from.iter()).for_each(|(to, x)| *to = narrow(*x));
        }
        [residual(a.as_ref(), v.as_ref(), v.as_ref(), &values), departure(v.as_ref())]
    } else {
        invariants(&a, &values)
    };
    let (norm, status) = (norm_1(a.as_ref()), if done { Status::Converged } else { Status::NotConverged });
    certify(m, status, [measures[0] / if norm == 0.0 { 1.0 } else { norm }, measures[1]]);
}

/// Measures eigenvalues without eigenvectors by the trace and the Frobenius norm, as `cpu::group` does.
fn invariants(a: &Mat<Complex<f64>>, values: &[f64]) -> [f64; 2] {
    let n = values.len().max(1) as f64;
    let trace: f64 = values.iter().enumerate().map(|(i, x)| a[(i, i)].re - x).sum();
    let squares: f64 = a.col_iter().flat_map(|column| column.iter()).map(|x| x.norm_sqr()).sum();
    let own = values.iter().map(|x| x * x).sum::<f64>();
    [(trace.abs() / n).max((own.sqrt() - squares.sqrt()).abs() / n.sqrt()), 0.0]
}
