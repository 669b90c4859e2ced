//! Decomposes complex matrices one at a time in f64, by faer's bidiagonalization and divide and conquer.
//!
//! Of each right singular vector, the entry of largest magnitude is real and positive, and the left singular vector has
//! the phase that follows.

use super::super::{PROMISE, Problem};
use crate::array::Real;
use crate::ops::certificate::{Certificate, Status};
use crate::ops::phase::leading_phase;
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
    let narrow = |x: Complex<f64>| Complex::new(T::from_f64(x.re), T::from_f64(x.im));
    for Factors { u, s, v, certificate } in all {
        found.u.extend(u.col_iter().flat_map(|column| column.iter().copied()).map(narrow));
        found.s.extend(s.into_iter().map(T::from_f64));
        // Vh is column-major, and its columns are the conjugate rows of V.
        found.vh.extend(v.row_iter().flat_map(|row| row.iter().map(|x| x.conj())).map(narrow));
        found.certificates.push(certificate);
    }
    found
}

fn solve<T: Real>(problem: &Problem, a: &[Complex<T>], vectors: bool) -> Factors {
    let Problem { rows, cols, full, .. } = *problem;
    let short = problem.short();
    let [u_cols, v_cols] = if full { [rows, cols] } else { [short; 2] };
    let [mut u, mut v] = [(rows, u_cols), (cols, v_cols)]
        .map(|(m, n)| if vectors { Mat::<Complex<f64>>::zeros(m, n) } else { Mat::zeros(0, 0) });
    // The bits of magnitudes have the same order as the magnitudes, with infinity and NaN above all others.
    let parts = a.iter().flat_map(|x| [x.re, x.im]).map(|x| x.to_f64().abs().to_bits());
    let peak = f64::from_bits(parts.max().unwrap_or(0));
    if !peak.is_finite() {
        let certificate =
            Certificate { status: Status::NonFinite, sweeps: 0, residual: f64::NAN, orthogonality: f64::NAN };
        return Factors { u, s: vec![f64::NAN; short], v, certificate };
    }
    let scale = if peak == 0.0 { 1.0 } else { peak };
    let wide = |x: Complex<T>| Complex::new(x.re.to_f64() / scale, x.im.to_f64() / scale);
    let a = Mat::from_fn(rows, cols, |i, j| wide(a[j * rows + i]));
    let par = if short < PARALLEL_FROM { Par::Seq } else { parallel::in_eight() };
    let compute = match (vectors, full) {
        (false, _) => ComputeSvdVectors::No,
        (true, false) => ComputeSvdVectors::Thin,
        (true, true) => ComputeSvdVectors::Full,
    };
    let request = svd_scratch::<Complex<f64>>(rows, cols, compute, compute, par, Default::default());
    let mut memory = MemBuffer::new(request);
    let mut s = Diag::zeros(short);
    let (into_u, into_v) = if vectors { (Some(u.as_mut()), Some(v.as_mut())) } else { (None, None) };
    let stack = MemStack::new(&mut memory);
    let done = decompose(a.as_ref(), s.as_mut(), into_u, into_v, par, stack, Default::default()).is_ok();
    let s: Vec<f64> = s.column_vector().iter().map(|x| x.re).collect();
    for j in 0..v.ncols() {
        let by = leading_phase((0..cols).map(|i| v[(i, j)])).conj();
        v.col_mut(j).iter_mut().for_each(|x| *x *= by);
        if j < short {
            u.col_mut(j).iter_mut().for_each(|x| *x *= by);
        }
    }
    for j in short..u.ncols() {
        let by = leading_phase((0..rows).map(|i| u[(i, j)])).conj();
        u.col_mut(j).iter_mut().for_each(|x| *x *= by);
    }
    let [residual, orthogonality] = if vectors { measures(&a, &u, &s, &v, par) } else { [invariant(&a, &s), 0.0] };
    let status = if done { Status::Converged } else { Status::NotConverged };
    let certificate = Certificate { status, sweeps: 0, residual, orthogonality };
    let certificate = certificate.judged_by(PROMISE, problem.long(), T::EPSILON);
    let s = s.into_iter().map(|x| x * scale).collect();
    Factors { u, s, v, certificate }
}

/// Returns `max_j |A v_j - s_j u_j|_2 / |A|_1`, or that of the conjugate transpose of a wide matrix, and the larger of
/// `max |U^H U - I|` and `max |V^H V - I|`.
fn measures(a: &Mat<Complex<f64>>, u: &Mat<Complex<f64>>, s: &[f64], v: &Mat<Complex<f64>>, par: Par) -> [f64; 2] {
    let (tall, short) = (a.nrows() >= a.ncols(), s.len());
    let one = Complex::from(1.0);
    let product = |left: faer::MatRef<'_, Complex<f64>>, right: faer::MatRef<'_, Complex<f64>>| {
        let mut out = Mat::zeros(left.nrows(), right.ncols());
        faer::linalg::matmul::matmul(out.as_mut(), faer::Accum::Replace, left, right, one, par);
        out
    };
    let adjoint = a.adjoint().to_owned();
    let (given, from, to) = if tall { (a, v, u) } else { (&adjoint, u, v) };
    let made = product(given.as_ref(), from.get(.., ..short));
    let column =
        |j: usize| made.col(j).iter().zip(to.col(j).iter()).map(|(x, y)| (x - y * s[j]).norm_sqr()).sum::<f64>();
    let residual = (0..short).map(column).fold(0.0, f64::max).sqrt();
    let norm = given.col_iter().map(|column| column.iter().map(|x| x.norm()).sum::<f64>()).fold(0.0, f64::max);
    let departure = |basis: &Mat<Complex<f64>>| {
        let gram = product(basis.adjoint().to_owned().as_ref(), basis.as_ref());
        let off = |(j, column): (usize, faer::ColRef<'_, Complex<f64>>)| {
            let own = |(i, x): (usize, &Complex<f64>)| (x - if i == j { 1.0 } else { 0.0 }).norm_sqr();
            column.iter().enumerate().map(own).fold(0.0, f64::max)
        };
        gram.col_iter().enumerate().map(off).fold(0.0, f64::max).sqrt()
    };
    [residual / if norm == 0.0 { 1.0 } else { norm }, departure(u).max(departure(v))]
}

/// Measures singular values without vectors by the difference between their 2-norm and the Frobenius norm.
fn invariant(a: &Mat<Complex<f64>>, s: &[f64]) -> f64 {
    let squares: f64 = a.col_iter().flat_map(|column| column.iter()).map(|x| x.norm_sqr()).sum();
    let own = s.iter().map(|x| x * x).sum::<f64>();
    let norm = if squares == 0.0 { 1.0 } else { squares.sqrt() };
    (own.sqrt() - squares.sqrt()).abs() / norm
}
