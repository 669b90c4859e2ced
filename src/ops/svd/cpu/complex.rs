//! Decomposes complex matrices one at a time in f64, by faer's bidiagonalization and divide and conquer. The results
//! are rounded, and the certificate is that of the rounded ones.
//!
//! Of each right singular vector, the entry of largest magnitude is real and positive, and the left singular vector has
//! the phase that follows.

use super::super::{PROMISE, Problem};
use super::dense::{Method, WELL};
use crate::array::Real;
use crate::ops::certificate::{Certificate, Status};
use crate::ops::columns::nan_max;
use crate::ops::complex::{canonical, departure, narrow, norm_1, residual, turn, wide};
use crate::parallel;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, svd as decompose, svd_scratch};
use faer::{Mat, Par};
use num_complex::Complex;

/// The minimum of the smaller dimension at which all threads work together on one matrix.
const PARALLEL_FROM: usize = 256;

/// The factors of all matrices, and their certificates.
pub(in super::super) struct Found<T> {
    pub(in super::super) u: Vec<Complex<T>>,
    pub(in super::super) s: Vec<T>,
    pub(in super::super) vh: Vec<Complex<T>>,
    pub(in super::super) certificates: Vec<Certificate>,
}

/// The factors of one matrix, `A = U diag(s) V^H`.
struct Factors {
    u: Mat<Complex<f64>>,
    s: Vec<f64>,
    v: Mat<Complex<f64>>,
    certificate: Certificate,
}

/// Decomposes every matrix of `a`. Without `vectors`, U and Vh are empty.
pub(in super::super) fn svd<T: Real>(problem: &Problem, a: &[Complex<T>], vectors: bool) -> Found<T> {
    let size = problem.rows * problem.cols;
    let all = parallel::map(0..problem.batch, |_, i| solve(problem, &a[i * size..(i + 1) * size], vectors));
    let mut found = Found { u: Vec::new(), s: Vec::new(), vh: Vec::new(), certificates: Vec::new() };
    for Factors { u, s, v, certificate } in all {
        found.u.extend(u.col_iter().flat_map(|column| column.iter().copied()).map(narrow::<T>));
        found.s.extend(s.into_iter().map(T::from_f64));
        // Vh is column-major, and its columns are the conjugate rows of V.
        found.vh.extend(v.row_iter().flat_map(|row| row.iter().map(|x| x.conj())).map(narrow::<T>));
        found.certificates.push(certificate);
    }
    found
}

fn solve<T: Real>(problem: &Problem, a: &[Complex<T>], vectors: bool) -> Factors {
    let Problem { rows, cols, .. } = *problem;
    // The bits of magnitudes have the same order as the magnitudes, with infinity and NaN above all others.
    let parts = a.iter().flat_map(|x| [x.re, x.im]).map(|x| x.to_f64().abs().to_bits());
    let peak = f64::from_bits(parts.max().unwrap_or(0));
    if !peak.is_finite() {
        let certificate =
            Certificate { status: Status::NonFinite, sweeps: 0, residual: f64::NAN, orthogonality: f64::NAN };
        let [u, v] = bases(problem, vectors);
        return Factors { u, s: vec![f64::NAN; problem.short()], v, certificate };
    }
    // The power of two near the largest part, or the normal numbers nearest to it: the inverse must be one, too.
    let scale = f64::from_bits(peak.to_bits() & 0x7ff0_0000_0000_0000).clamp(f64::SMALLEST, 0.25 / f64::SMALLEST);
    let scale = if peak == 0.0 { 1.0 } else { scale };
    let a = Mat::from_fn(rows, cols, |i, j| wide(a[j * rows + i]) * (1.0 / scale));
    // Values alone have no residual that would tell whether divide and conquer has failed.
    let first = if vectors { Method::Divide } else { Method::Iterate };
    let mut found = attempt::<T>(problem, &a, vectors, first);
    let well = found.certificate.status == Status::Converged && found.certificate.residual <= WELL;
    if vectors && !well {
        found = attempt::<T>(problem, &a, vectors, Method::Iterate);
    }
    found.s.iter_mut().for_each(|x| *x *= scale);
    found
}

/// Returns zeros for U and V, without elements unless `vectors`.
fn bases(problem: &Problem, vectors: bool) -> [Mat<Complex<f64>>; 2] {
    let Problem { rows, cols, full, .. } = *problem;
    let short = problem.short();
    let [u_cols, v_cols] = if full { [rows, cols] } else { [short; 2] };
    [(rows, u_cols), (cols, v_cols)].map(|(m, n)| if vectors { Mat::zeros(m, n) } else { Mat::zeros(0, 0) })
}

fn attempt<T: Real>(problem: &Problem, a: &Mat<Complex<f64>>, vectors: bool, method: Method) -> Factors {
    let Problem { rows, cols, full, .. } = *problem;
    let short = problem.short();
    let [mut u, mut v] = bases(problem, vectors);
    let par = if short < PARALLEL_FROM { Par::Seq } else { parallel::in_eight() };
    let compute = match (vectors, full) {
        (false, _) => ComputeSvdVectors::No,
        (true, false) => ComputeSvdVectors::Thin,
        (true, true) => ComputeSvdVectors::Full,
    };
    let mut memory = MemBuffer::new(svd_scratch::<Complex<f64>>(rows, cols, compute, compute, par, method.params()));
    let mut s = Diag::zeros(short);
    let (into_u, into_v) = if vectors { (Some(u.as_mut()), Some(v.as_mut())) } else { (None, None) };
    let stack = MemStack::new(&mut memory);
    let done = decompose(a.as_ref(), s.as_mut(), into_u, into_v, par, stack, method.params()).is_ok();
    let s: Vec<f64> = s.column_vector().iter().map(|x| T::from_f64(x.re).to_f64()).collect();
    for (j, by) in canonical::<T>(&mut v, 0).into_iter().enumerate().take(short) {
        turn::<T>(u.col_as_slice_mut(j), by);
    }
    canonical::<T>(&mut u, short);
    let [residual, orthogonality] = if vectors { measures(a, &u, &s, &v) } else { [invariant(a, &s), 0.0] };
    let status = if done { Status::Converged } else { Status::NotConverged };
    let certificate = Certificate { status, sweeps: 0, residual, orthogonality };
    Factors { u, s, v, certificate: certificate.judged_by(PROMISE, problem.long(), T::EPSILON) }
}

/// Returns `max_j |A v_j - s_j u_j|_2 / |A|_1`, or that of the conjugate transpose of a wide matrix, and the larger of
/// `max |U^H U - I|` and `max |V^H V - I|`.
fn measures(a: &Mat<Complex<f64>>, u: &Mat<Complex<f64>>, s: &[f64], v: &Mat<Complex<f64>>) -> [f64; 2] {
    let turned = (a.nrows() < a.ncols()).then(|| a.adjoint().to_owned());
    let (given, from, to) = turned.as_ref().map_or((a, v, u), |turned| (turned, u, v));
    let rest = residual(given.as_ref(), from.as_ref(), to.as_ref(), s);
    let norm = norm_1(given.as_ref());
    let off = nan_max(departure(u.as_ref()), departure(v.as_ref()));
    [rest / if norm == 0.0 { 1.0 } else { norm }, off]
}

/// Measures singular values without vectors by the difference between their 2-norm and the Frobenius norm.
fn invariant(a: &Mat<Complex<f64>>, s: &[f64]) -> f64 {
    let squares: f64 = a.col_iter().flat_map(|column| column.iter()).map(|x| x.norm_sqr()).sum();
    let own = s.iter().map(|x| x * x).sum::<f64>();
    let norm = if squares == 0.0 { 1.0 } else { squares.sqrt() };
    (own.sqrt() - squares.sqrt()).abs() / norm
}
