//! Solves one matrix at a time: a narrow matrix by `jacobi`, others in f32 by `golub_kahan` if the singular values are
//! distinct, and otherwise with faer (QR if the matrix is tall, then bidiagonalization, then divide and conquer).

use super::super::{PROMISE, Problem};
use super::refine::refine;
use super::{Matrices, Scaled, Working, golub_kahan, jacobi, not_finite};
use crate::ops::certificate::{Certificate, Status};
use crate::ops::columns::{departure, nan_max, norm_1, normalize_columns, product, sum};
use crate::order::descending;
use crate::parallel;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, SvdParams, svd, svd_scratch};
use faer::{Auto, Mat, Par, Spec};

/// The minimum size of the smaller dimension at which all threads work together on one matrix. This choice depends only
/// on the shape of the matrix, so the result does not depend on the other matrices of the call.
const PARALLEL_FROM: usize = 512;

/// The largest smaller dimension of matrices that `jacobi` solves although their rows and columns are of similar size.
/// In us, with the other methods in f32 and f64 and with `jacobi`: 2500 x 4 230, 250, 24; 1186 x 9 250, 250, 50;
/// 100 x 20 96, 113, 68; 16 x 16 25, 26, 30; 24 x 24 56, 82, 77; 164 x 39 261, 300, 322 (AVX-512, 2026-11-29).
const NARROW: usize = 20;

/// The largest residual that is accepted from a computation in f32: 2 eps, relative to the 1-norm of the matrix.
/// Refined factors reach at most 1.3 eps. For some graded matrices, faer 0.24.4 deflates too early, and refinement does
/// not correct that: residuals of up to 12 eps remained, and errors of up to 18 eps s_max in the singular values, where
/// s_max is the largest singular value (2026-11-23, the families of tests/dense/svd.rs, seeds 1 to 3). Matrices with a
/// larger residual than this limit are solved again in f64.
pub(super) const WELL: f64 = 2.0 * f32::EPSILON as f64;

/// The maximum number of refinement steps. Nearly all matrices need one.
const STEPS: usize = 2;

/// The factors of B = P diag(s) Q'.
pub(super) struct Factors<F> {
    /// The left basis, `(long, short)`, or `(long, long)` if it is complete.
    pub(super) p: Mat<F>,
    pub(super) s: Vec<F>,
    /// The right basis, `(short, short)`.
    pub(super) q: Mat<F>,
}

/// Solves each matrix of `a` separately.
pub(super) fn solve<F: Working>(a: &[F], out: Matrices<'_, F>) {
    let Matrices { problem, mut u, mut s, mut vh, certificates } = out;
    let [u_len, s_len, vh_len] = problem.shapes().map(|shape| shape.matrix_len());
    let size = problem.rows * problem.cols;
    for (i, certificate) in certificates.iter_mut().enumerate() {
        // U and Vh are empty if they are not wanted.
        let (own_u, rest_u) = u.split_at_mut(u_len.min(u.len()));
        let (own_s, rest_s) = s.split_at_mut(s_len);
        let (own_vh, rest_vh) = vh.split_at_mut(vh_len.min(vh.len()));
        *certificate = solve_one(problem, &a[i * size..(i + 1) * size], own_u, own_s, own_vh);
        (u, s, vh) = (rest_u, rest_s, rest_vh);
    }
}

/// Solves one matrix. Always writes S; writes U and Vh unless their slices are empty.
pub(super) fn solve_one<F: Working>(problem: &Problem, a: &[F], u: &mut [F], s: &mut [F], vh: &mut [F]) -> Certificate {
    let scaled = Scaled::of(problem, a);
    if !scaled.finite {
        return not_finite(u, s, vh);
    }
    let par = if problem.short() < PARALLEL_FROM { Par::Seq } else { parallel::in_eight() };
    let graded = jacobi::is_graded(problem.rows, a);
    let solved = if graded || (1..=NARROW).contains(&problem.short()) {
        let jacobi::Decomposed { factors, sweeps, residual, orthogonality } =
            jacobi::decompose(&scaled.b, problem.left(), graded);
        Some((judged(&scaled.b, sweeps, residual, orthogonality), factors))
    } else {
        certified(&scaled.b, problem.left(), par)
    };
    let Some((certificate, factors)) = solved else {
        return Certificate { status: Status::NotConverged, ..not_finite(u, s, vh) };
    };
    write(problem, &factors, scaled.scale, u, s, vh);
    if s.iter().all(|x| x.to_f64().is_finite()) {
        return certificate;
    }
    // A singular value may overflow in this precision although no element does.
    Certificate { status: Status::NotConverged, residual: f64::INFINITY, ..certificate }
}

/// Decomposes the tall matrix B and certifies the result. If that is not accurate enough, repeats the decomposition in
/// f64, and without divide and conquer.
pub(super) fn certified<F: Working>(b: &Mat<F>, left: usize, par: Par) -> Option<(Certificate, Factors<F>)> {
    let well = |certificate: &Certificate| certificate.status == Status::Converged && certificate.residual <= WELL;
    let distinct = F::ON_DEVICE && left == b.ncols() && left >= golub_kahan::FROM;
    let mut factors = match distinct.then(|| golub_kahan::decompose(b, par)).flatten() {
        Some((certificate, factors)) if well(&certificate) => return Some((certificate, factors)),
        Some((_, factors)) => Some(factors),
        None => factor(b, left, par, Method::Divide),
    };
    for _ in 0..STEPS {
        // faer's divide and conquer may also give up.
        let Some(given) = factors else { break };
        let (refined, images) = refined(b, given, par);
        let certificate = certificate(b, &refined, residual(&refined, &images), par);
        if well(&certificate) || !F::ON_DEVICE && certificate.status == Status::Converged {
            return Some((certificate, refined));
        }
        factors = F::ON_DEVICE.then_some(refined);
    }
    in_f64(b, left, par)
}

/// Decomposes B in f64, narrows the factors to F, and certifies the narrowed factors. If F is f64, divide and conquer
/// has failed already.
fn in_f64<F: Working>(b: &Mat<F>, left: usize, par: Par) -> Option<(Certificate, Factors<F>)> {
    let wide = Mat::from_fn(b.nrows(), b.ncols(), |i, j| b[(i, j)].to_f64());
    let narrow = |x: &Mat<f64>| Mat::from_fn(x.nrows(), x.ncols(), |i, j| F::from_f64(x[(i, j)]));
    let mut last = None;
    for method in if F::ON_DEVICE { &[Method::Divide, Method::Iterate][..] } else { &[Method::Iterate] } {
        let Some(found) = factor(&wide, left, par, *method) else { continue };
        let (Factors { p, s, q }, _) = refined(&wide, found, par);
        let factors = Factors { p: narrow(&p), s: s.into_iter().map(F::from_f64).collect(), q: narrow(&q) };
        let residual = residual(&factors, &product(b.as_ref(), factors.q.as_ref(), par));
        let certificate = certificate(b, &factors, residual, par);
        let done = certificate.status == Status::Converged;
        last = Some((certificate, factors));
        if done {
            break;
        }
    }
    last
}

/// Scales the columns of P and Q to length 1, and replaces each singular value by `p . B q`, whose error is the product
/// of the errors of the vectors p and q. Without this step, divide and conquer leaves errors of 80 eps s_max in the
/// singular values (f32, 100 x 100, faer 0.24.4). Also returns B Q.
fn refined<F: Working>(b: &Mat<F>, mut factors: Factors<F>, par: Par) -> (Factors<F>, Mat<F>) {
    if F::ON_DEVICE {
        refine(b, &mut factors, par);
    }
    normalize_columns(&mut factors.p);
    normalize_columns(&mut factors.q);
    let images = product(b.as_ref(), factors.q.as_ref(), par);
    let Factors { p, s, .. } = &mut factors;
    for (j, value) in s.iter_mut().enumerate() {
        let own = sum(images.col_as_slice(j), p.col_as_slice(j), |y, p| y * p);
        if own < 0.0 {
            // A negative singular value consists only of rounding errors, so the sign of its vector is arbitrary.
            p.col_as_slice_mut(j).iter_mut().for_each(|x| *x = -*x);
        }
        *value = F::from_f64(own.abs());
    }
    match order(&factors.s) {
        Some(from) => (factors.taken(&from), columns_of(&images, &from)),
        None => (factors, images),
    }
}

/// How faer decomposes a bidiagonal matrix.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Method {
    /// Divide and conquer, from order 128 on. In faer 0.24.4, it fails for most matrices of which half the singular
    /// values are 0: residuals of 1e-4, and errors of 1e-5 in the values.
    Divide,
    /// The QR iteration, which takes longer.
    Iterate,
}

impl Method {
    pub(super) fn params<T: faer::traits::ComplexField>(self) -> Spec<SvdParams, T> {
        let usual = <SvdParams as Auto<T>>::auto();
        Spec::new(match self {
            Self::Divide => usual,
            Self::Iterate => SvdParams { recursion_threshold: usize::MAX, ..usual },
        })
    }
}

/// Decomposes the tall matrix B, with `left` columns of P.
fn factor<F: Working>(b: &Mat<F>, left: usize, par: Par, method: Method) -> Option<Factors<F>> {
    let (long, short) = b.shape();
    let mut s = vec![F::from_f64(0.0); short];
    let (mut p, mut q) = (Mat::zeros(long, left), Mat::zeros(short, short));
    let kind = if left > short { ComputeSvdVectors::Full } else { ComputeSvdVectors::Thin };
    let scratch = svd_scratch::<F>(long, short, kind, ComputeSvdVectors::Thin, par, method.params());
    let mut memory = MemBuffer::try_new(scratch).ok()?;
    let diagonal = faer::diag::DiagMut::from_slice_mut(&mut s);
    let stack = MemStack::new(&mut memory);
    svd(b.as_ref(), diagonal, Some(p.as_mut()), Some(q.as_mut()), par, stack, method.params()).ok()?;
    Some(Factors { p, s, q })
}

/// Returns the order of columns in which singular values descend; `None` if they do already.
pub(super) fn order<F: Working>(s: &[F]) -> Option<Vec<usize>> {
    if s.is_sorted_by(|a, b| a.to_f64() >= b.to_f64()) {
        return None;
    }
    Some(descending(s.iter().map(|value| value.to_f64())))
}

impl<F: Working> Factors<F> {
    /// Returns the factors with their values and vectors in the order `from`. Columns of P that belong to no singular
    /// value stay where they are.
    pub(super) fn taken(&self, from: &[usize]) -> Self {
        let s = from.iter().map(|&j| self.s[j]).collect();
        Self { p: columns_of(&self.p, from), s, q: columns_of(&self.q, from) }
    }
}

fn columns_of<F: Working>(x: &Mat<F>, from: &[usize]) -> Mat<F> {
    Mat::from_fn(x.nrows(), x.ncols(), |i, j| x[(i, from.get(j).copied().unwrap_or(j))])
}

/// Returns the largest `|B q - s p|_2`. `images` is B Q.
fn residual<F: Working>(factors: &Factors<F>, images: &Mat<F>) -> f64 {
    let Factors { p, s, .. } = factors;
    let of_column = |j: usize| {
        let own = s[j].to_f64();
        sum(images.col_as_slice(j), p.col_as_slice(j), |y, p| (y - own * p) * (y - own * p)).sqrt()
    };
    (0..s.len()).map(of_column).fold(0.0, nan_max)
}

/// Returns the certificate of the factors that are returned, given their residual.
pub(super) fn certificate<F: Working>(b: &Mat<F>, factors: &Factors<F>, residual: f64, par: Par) -> Certificate {
    judged(b, 0, residual, nan_max(departure(factors.p.as_ref(), par), departure(factors.q.as_ref(), par)))
}

/// Returns the certificate with the given `|B q - s p|_2` and departure from orthogonality.
fn judged<F: Working>(b: &Mat<F>, sweeps: u32, residual: f64, orthogonality: f64) -> Certificate {
    let norm = norm_1(b);
    let residual = residual / if norm == 0.0 { 1.0 } else { norm };
    Certificate { status: Status::Converged, sweeps, residual, orthogonality }.judged_by(PROMISE, b.nrows(), F::EPSILON)
}

/// Writes the factors of a problem to `u`, `s` and `vh`. The singular values are multiplied by `scale`. If the matrix
/// is wide, its transpose was decomposed, so the bases change places.
pub(super) fn write<F: Working>(
    problem: &Problem,
    factors: &Factors<F>,
    scale: f64,
    u: &mut [F],
    s: &mut [F],
    vh: &mut [F],
) {
    let Factors { p, s: values, q } = factors;
    for (out, x) in s.iter_mut().zip(values) {
        *out = F::from_f64(x.to_f64() * scale);
    }
    let (left, right) = if problem.wide() { (q, p) } else { (p, q) };
    // Both bases are column-major, and Vh is the transpose of the right basis.
    for (out, column) in u.chunks_exact_mut(problem.rows.max(1)).zip(left.col_iter()) {
        out.iter_mut().zip(column.iter()).for_each(|(out, x)| *out = *x);
    }
    for (out, row) in vh.chunks_exact_mut(right.ncols().max(1)).zip(right.row_iter()) {
        out.iter_mut().zip(row.iter()).for_each(|(out, x)| *out = *x);
    }
}
