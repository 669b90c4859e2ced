//! Solves one matrix at a time. Each matrix is reduced to tridiagonal form by `householder`. Then faer's divide and
//! conquer computes all eigenvectors, or inverse iteration computes a few eigenvectors, or the QL iteration computes
//! only the eigenvalues. faer also transforms the eigenvectors back. (Its routines follow LAPACK's xSTEDC and xORMTR.)

use super::householder::{Reduce, Reduction};
use super::inverse_iteration::{Tridiagonal, eigenvectors};
use super::values_only::Values;
use super::{Columns, Matrix, Request, power_of_two_near};
use crate::array::Real;
use crate::lanes::SimdScalar;
use crate::ops::PARALLEL;
use crate::ops::certificate::{Certificate, Status};
use crate::ops::columns::{normalize, run_of, sum};
use crate::parallel;
use faer::diag::{Diag, DiagRef};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{
    ComputeEigenvectors, SelfAdjointEvdParams, self_adjoint_evd_scratch, tridiagonal_self_adjoint_evd,
};
use faer::linalg::matmul::triangular::BlockStructure;
use faer::linalg::{householder, matmul, qr};
use faer::{Accum, Auto, Conj, Mat, MatMut, Par, Spec};
use std::borrow::Cow;
use std::ops::Range;

/// The minimum order at which all threads work together on one matrix.
const PARALLEL_FROM: usize = 512;
/// If at most one in `FEW` eigenvectors is wanted, inverse iteration is faster than divide and conquer.
const FEW: usize = 8;

/// The number of columns that a thread measures at a time.
const COLUMNS: usize = 64;

/// The maximum number of elements, in total, of the matrices that are reduced together. The eigenvalues of these
/// matrices are then computed side by side.
const WAITING: usize = 1 << 23;

/// Solves each matrix separately. `matrices` must be sorted by order.
pub(super) fn eigh<T: Real>(matrices: &mut [Matrix<'_, T>], request: Request<'_>) {
    if matches!(request.columns, Columns::All) {
        parallel::for_each(matrices.iter_mut().rev(), |_, m| {
            if request.cancel.is_cancelled() {
                return;
            }
            let prepared = Prepared::new(m);
            let pairs = prepared.as_ref().map(|p| p.reduced.all(p.par));
            finish(m, prepared.as_ref(), pairs.flatten(), request);
        });
        return;
    }
    let mut rest = matrices;
    while let Some(last) = rest.last() {
        if request.cancel.is_cancelled() {
            return;
        }
        let together = (WAITING / (last.order * last.order)).clamp(1, rest.len());
        let (before, now) = rest.split_at_mut(rest.len() - together);
        rest = before;
        let prepared: Vec<Option<Prepared<T>>> = parallel::map(now.iter().rev(), |_, m| Prepared::new(m));
        // The eigenvalues are computed in f64 even if T is f32. In f32, the error of the QL iteration at n = 300 is 20
        // eps |A|, ten times the error of the reduction, and f32 saves only a tenth of the time (2026-11-22). Matrices
        // that are solved one per lane stay in f32, because their whole solution would take 2.3 to 2.6 times as long in
        // f64.
        let systems: Vec<_> = prepared.iter().flatten().map(|p| p.reduced.tridiagonal()).collect();
        let systems: Vec<_> =
            systems.iter().map(|(diagonal, off_diagonal)| (&diagonal[..], &off_diagonal[..])).collect();
        let mut values = f64::in_lanes(Values(&systems)).into_iter();
        let narrow = |values: Vec<f64>| values.into_iter().map(T::from_f64).collect();
        let values: Vec<Option<Vec<T>>> =
            prepared.iter().map(|p| p.as_ref().and_then(|_| values.next().flatten()).map(narrow)).collect();
        let parts = now.iter_mut().rev().zip(&prepared).zip(values);
        parallel::for_each(parts, |_, ((m, prepared), values)| {
            let pairs = prepared.as_ref().zip(values).and_then(|(p, values)| p.pairs(m.index, values, request.columns));
            finish(m, prepared.as_ref(), pairs, request);
        });
    }
}

/// A finite matrix, scaled by a power of two so that squares neither overflow nor underflow, and its reduction to
/// tridiagonal form.
struct Prepared<T> {
    matrix: Mat<T>,
    scale: f64,
    reduced: Reduced<T>,
    par: Par,
}

impl<T: Real> Prepared<T> {
    fn new(m: &Matrix<'_, T>) -> Option<Self> {
        let n = m.order;
        // The bits of floating-point magnitudes have the same order as the magnitudes, with infinity and NaN above all
        // others.
        let lower = (0..n).flat_map(|j| &m.elements[j * n + j..(j + 1) * n]);
        let peak = f64::from_bits(lower.map(|x| x.to_f64().abs().to_bits()).max().unwrap_or(0));
        if !peak.is_finite() {
            return None;
        }
        let scale = power_of_two_near(peak).clamp(T::SMALLEST, 0.25 / T::SMALLEST);
        let inverse = T::from_f64(1.0 / scale);
        let matrix = mirrored(m.elements, n, inverse);
        let par = if n < PARALLEL_FROM { Par::Seq } else { PARALLEL };
        let reduced = Reduced::new(&matrix, par);
        Some(Self { matrix, scale, reduced, par })
    }

    /// Computes the requested eigenvectors, given the eigenvalues.
    fn pairs(&self, index: usize, values: Vec<T>, columns: Columns<'_>) -> Option<Pairs<T>> {
        if columns.is_none() {
            return Some(Pairs { values, columns: 0..0, vectors: None });
        }
        let columns = columns.of(index, values.iter().map(|x| x.to_f64()));
        if columns.len() <= values.len() / FEW
            && let Some(vectors) = self.reduced.subset(&values[columns.clone()], self.par)
        {
            return Some(Pairs { values, columns, vectors: Some(vectors) });
        }
        let all = self.reduced.all(self.par)?;
        let vectors = all.vectors.map(|v| v.as_ref().subcols(columns.start, columns.len()).to_owned());
        Some(Pairs { values: all.values, columns, vectors })
    }
}

/// Writes the results of a matrix, including its certificate.
fn finish<T: Real>(
    m: &mut Matrix<'_, T>,
    prepared: Option<&Prepared<T>>,
    pairs: Option<Pairs<T>>,
    request: Request<'_>,
) {
    let n = m.order;
    let (Some(Prepared { matrix, scale, par, .. }), Some(Pairs { values, columns, vectors })) = (prepared, pairs)
    else {
        m.values.fill(T::from_f64(f64::NAN));
        let status = if prepared.is_none() { Status::NonFinite } else { Status::NotConverged };
        *m.certificate = Certificate { status, sweeps: 0, residual: f64::NAN, orthogonality: f64::NAN };
        return;
    };
    let (mut values, mut vectors) = (values, vectors);
    if let Some(vectors) = &mut vectors {
        normalize(vectors);
    }
    let taken = request.certificate.then(|| match &mut vectors {
        Some(vectors) => measure(matrix, &mut values[columns.clone()], vectors, *par),
        None => invariants(matrix, &values),
    });
    for (to, x) in m.values.iter_mut().zip(&values) {
        *to = T::from_f64(x.to_f64() * scale);
    }
    if let Some(vectors) = &vectors {
        let to = &mut m.vectors[columns.start * n..columns.end * n];
        MatMut::from_column_major_slice_mut(to, n, columns.len()).copy_from(vectors);
    }
    if let Some(taken) = taken {
        // An eigenvalue may overflow in this precision although no element does.
        let finite = m.values.iter().all(|x| x.to_f64().is_finite());
        let status = if finite { Status::Converged } else { Status::NotConverged };
        *m.certificate = Certificate { status, ..taken }.judged(n, T::EPSILON);
    }
}

/// The eigenvalues in ascending order, the range of the requested columns, and the vectors of these columns.
struct Pairs<T> {
    values: Vec<T>,
    columns: Range<usize>,
    vectors: Option<Mat<T>>,
}

/// The reduction `A = Q T Q'`, where T is tridiagonal and Q is stored as Householder reflectors.
struct Reduced<T> {
    reflectors: Mat<T>,
    factor: Mat<T>,
    diagonal: Vec<T>,
    off_diagonal: Vec<T>,
}

impl<T: Real> Reduced<T> {
    fn new(matrix: &Mat<T>, par: Par) -> Self {
        let n = matrix.nrows();
        let Reduction { reflectors, tau, diagonal, off_diagonal } = T::in_lanes(Reduce(matrix.as_ref()));
        let block = qr::no_pivoting::factor::recommended_block_size::<T>(n, n);
        let mut factor = Mat::zeros(block, n - 1);
        let essentials = reflectors.as_ref().submatrix(1, 0, n - 1, n - 1);
        for first in (0..n - 1).step_by(block) {
            let size = block.min(n - 1 - first);
            let mut own = factor.as_mut().submatrix_mut(0, first, size, size);
            for k in 0..size {
                // faer's H is I - v v' / tau; an infinite tau stands for no reflection.
                own[(k, k)] = T::from_f64(1.0 / tau[first + k].to_f64());
            }
            let part = essentials.submatrix(first, first, n - 1 - first, size);
            householder::upgrade_householder_factor(own, part, size, 1, par);
        }
        Self { reflectors, factor, diagonal, off_diagonal }
    }

    /// Returns the diagonal and the off-diagonal elements of T, in f64.
    fn tridiagonal(&self) -> (Cow<'_, [f64]>, Cow<'_, [f64]>) {
        (T::all_to_f64(&self.diagonal), T::all_to_f64(&self.off_diagonal))
    }

    /// Computes all eigenpairs by divide and conquer in f64. In f32, the residuals of the eigenvectors would be 3 to 5
    /// times those of LAPACK (n = 150 to 500, 2026-11-23).
    fn all(&self, par: Par) -> Option<Pairs<T>> {
        let (diagonal, off_diagonal) = self.tridiagonal();
        let n = diagonal.len();
        let mut memory =
            MemBuffer::new(self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, par, Default::default()));
        let mut values = Diag::zeros(n);
        let mut vectors = Mat::zeros(n, n);
        let params = Spec::new(<SelfAdjointEvdParams as Auto<f64>>::auto());
        let (diagonal, off_diagonal) = (DiagRef::from_slice(&diagonal), DiagRef::from_slice(&off_diagonal));
        let (to, stack) = (Some(vectors.as_mut()), MemStack::new(&mut memory));
        tridiagonal_self_adjoint_evd(diagonal, off_diagonal, values.as_mut(), to, par, stack, params).ok()?;
        let mut vectors = Mat::from_fn(n, n, |i, j| T::from_f64(vectors[(i, j)]));
        self.back(vectors.as_mut(), par);
        let mut values: Vec<T> = values.column_vector().iter().map(|&x| T::from_f64(x)).collect();
        sort(&mut values, &mut vectors);
        Some(Pairs { values, columns: 0..n, vectors: Some(vectors) })
    }

    fn subset(&self, values: &[T], par: Par) -> Option<Mat<T>> {
        let (diagonal, off_diagonal) = self.tridiagonal();
        let t = Tridiagonal { diagonal: &diagonal, off_diagonal: &off_diagonal };
        let n = diagonal.len();
        // The tolerance is a quarter of n eps, and at least 8 eps. It must be above the errors of the eigenvalues,
        // which are a few eps, and well below the promised limit of 10 n eps.
        #[expect(clippy::cast_precision_loss, reason = "an order")]
        let tolerance = T::EPSILON * (0.25 * n as f64).max(8.0);
        let found = eigenvectors(t, &T::all_to_f64(values), tolerance)?;
        let mut vectors = Mat::from_fn(n, values.len(), |i, j| T::from_f64(found[j * n + i]));
        self.back(vectors.as_mut(), par);
        Some(vectors)
    }

    /// Transforms eigenvectors of T to eigenvectors of A, in place.
    fn back(&self, vectors: MatMut<'_, T>, par: Par) {
        let (n, block) = (self.diagonal.len(), self.factor.nrows());
        let scratch = householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(
            n - 1,
            block,
            vectors.ncols(),
        );
        householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
            self.reflectors.as_ref().submatrix(1, 0, n - 1, n - 1),
            self.factor.as_ref(),
            Conj::No,
            vectors.subrows_mut(1, n - 1),
            par,
            MemStack::new(&mut MemBuffer::new(scratch)),
        );
    }
}

/// Returns the symmetric matrix with the given lower triangle, multiplied by `scale`, a power of two. Each element is
/// also written to its mirrored position in the upper triangle, where consecutive elements go to different columns. The
/// matrix is therefore copied tile by tile, so that the cache lines of a tile are reused.
fn mirrored<T: Real>(lower: &[T], n: usize, scale: T) -> Mat<T> {
    const TILE: usize = 32;
    let mut out = Mat::zeros(n, n);
    for left in (0..n).step_by(TILE) {
        for top in (left..n).step_by(TILE) {
            for j in left..(left + TILE).min(n) {
                for i in top.max(j)..(top + TILE).min(n) {
                    let x = lower[i + j * n] * scale;
                    (out[(i, j)], out[(j, i)]) = (x, x);
                }
            }
        }
    }
    out
}

/// Measures the residual and the orthogonality in the working precision, from the matrix before its reduction. The
/// eigenvalues are first replaced by Rayleigh quotients, which need only products that are computed here anyway. The
/// replacement dates from when divide and conquer ran in f32 and left errors of n eps |A| / 3 in the eigenvalues
/// (LAPACK's test matrix of type 21, n = 256).
fn measure<T: Real>(matrix: &Mat<T>, values: &mut [T], vectors: &mut Mat<T>, par: Par) -> Certificate {
    let (n, count) = (matrix.nrows(), values.len());
    let one = T::from_f64(1.0);
    let mut images = Mat::zeros(n, count);
    for k in (0..n).step_by(run_of(n)) {
        let run = run_of(n).min(n - k);
        let (left, right) = (matrix.as_ref().subcols(k, run), vectors.as_ref().subrows(k, run));
        matmul::matmul(images.as_mut(), Accum::Add, left, right, one, par);
    }
    let of_column = |(j, value): (usize, &mut T)| {
        let (image, vector) = (images.col_as_slice(j), vectors.col_as_slice(j));
        *value = T::from_f64(sum(image, vector, |a, v| a * v) / sum(vector, vector, |v, w| v * w));
        let own = value.to_f64();
        sum(image, vector, |a, v| (a - own * v) * (a - own * v)).sqrt()
    };
    let worst = |some: (usize, &mut [T])| (some.0 * COLUMNS..).zip(some.1).map(of_column).fold(0.0, nan_max);
    let residual = parallel::map(values.chunks_mut(COLUMNS), |i, some| worst((i, some))).into_iter().fold(0.0, nan_max);
    // V'V is symmetric, so its lower triangle is enough.
    let mut gram = images;
    gram.resize_with(count, count, |_, _| T::from_f64(0.0));
    let (whole, lower) = (BlockStructure::Rectangular, BlockStructure::TriangularLower);
    let (left, right) = (vectors.transpose(), vectors.as_ref());
    matmul::triangular::matmul(gram.as_mut(), lower, Accum::Replace, left, whole, right, whole, one, par);
    let of_column = |j: usize| {
        let column = &gram.col_as_slice(j)[j..];
        // A maximum may ignore a NaN, but the sum of the products 0 * x is NaN if any x is NaN.
        let off = column[1..].iter().fold(0.0, |most: f64, x| most.max(x.to_f64().abs()));
        nan_max(off + sum(column, column, |x, _| 0.0 * x), (column[0].to_f64() - 1.0).abs())
    };
    let worst = |first: usize| (first..(first + COLUMNS).min(count)).map(of_column).fold(0.0, nan_max);
    let orthogonality =
        parallel::map((0..count).step_by(COLUMNS), |_, first| worst(first)).into_iter().fold(0.0, nan_max);
    sort(values, vectors);
    let norm = norm_1(matrix);
    let residual = residual / if norm == 0.0 { 1.0 } else { norm };
    Certificate { status: Status::Converged, sweeps: 0, residual, orthogonality }
}

/// Sorts the eigenpairs in ascending order of their eigenvalues.
fn sort<T: Real>(values: &mut [T], vectors: &mut Mat<T>) {
    let ascends = |a: &T, b: &T| a.to_f64().total_cmp(&b.to_f64());
    if !values.is_sorted_by(|a, b| ascends(a, b).is_le()) {
        let mut from: Vec<usize> = (0..values.len()).collect();
        from.sort_by(|&i, &j| ascends(&values[i], &values[j]));
        *vectors = Mat::from_fn(vectors.nrows(), from.len(), |i, j| vectors[(i, from[j])]);
        values.sort_by(ascends);
    }
}

/// Returns the certificate of eigenvalues without eigenvectors. It checks the same invariants as `invariants` in
/// `group`.
fn invariants<T: Real>(matrix: &Mat<T>, values: &[T]) -> Certificate {
    #[expect(clippy::cast_precision_loss, reason = "orders are far below 2^52")]
    let n = values.len() as f64;
    let own = |power: i32| values.iter().map(|x| x.to_f64().powi(power)).sum::<f64>();
    let trace: f64 = (0..values.len()).map(|i| matrix[(i, i)].to_f64()).sum();
    let squares: f64 = matrix.col_iter().flat_map(|c| c.iter()).map(|x| x.to_f64().powi(2)).sum();
    let by_trace = (own(1) - trace).abs() / n;
    let by_norm = (own(2).sqrt() - squares.sqrt()).abs() / n.sqrt();
    let norm = norm_1(matrix);
    let residual = nan_max(by_trace, by_norm) / if norm == 0.0 { 1.0 } else { norm };
    Certificate { status: Status::Converged, sweeps: 0, residual, orthogonality: 0.0 }
}

fn norm_1<T: Real>(matrix: &Mat<T>) -> f64 {
    matrix.col_iter().map(|c| c.iter().map(|x| x.to_f64().abs()).sum()).fold(0.0, f64::max)
}

/// Returns the larger of `a` and `b`, or NaN if either is NaN.
fn nan_max(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}
