//! Transforms the eigenvectors of tridiagonal matrices to those of the original matrices, measures them, and writes the
//! results. A thread does everything with a panel of columns before it takes the next panel, while the panel is in its
//! cache.

use super::dense::{Pairs, Prepared};
use super::{Matrix, Request};
use crate::array::Real;
use crate::ops::certificate::{Certificate, Status};
use crate::ops::columns::{departure, nan_max, norm_1, normalize, product, sum};
use crate::order::ascending;
use crate::parallel;
use faer::{Mat, MatMut, MatRef, Par};

/// The number of columns in a panel for orders below [`LARGE`], and for others. Wider panels make the products faster,
/// but every thread needs several panels.
const PANEL: [usize; 2] = [64, 128];
const LARGE: usize = 512;

/// Completes a matrix, whose eigenvectors are still those of T, and writes its certificate.
pub(super) fn finish<T: Real>(
    m: &mut Matrix<'_, T>,
    prepared: Option<&Prepared<T>>,
    pairs: Option<Pairs<T>>,
    request: Request<'_>,
) {
    let n = m.order;
    let (Some(p), Some(Pairs { mut values, columns })) = (prepared, pairs) else {
        m.values.fill(T::from_f64(f64::NAN));
        m.vectors.fill(T::from_f64(0.0));
        let status = if prepared.is_none() { Status::NonFinite } else { Status::NotConverged };
        *m.certificate = Certificate { status, sweeps: 0, residual: f64::NAN, orthogonality: f64::NAN };
        return;
    };
    let taken = if request.columns.is_none() {
        request.certificate.then(|| invariants(&p.matrix, &values))
    } else {
        let vectors = &mut m.vectors[columns.start * n..columns.end * n];
        let own = &mut values[columns];
        let residual = transform(p, own, vectors, request.certificate);
        let taken = request.certificate.then(|| Certificate {
            status: Status::Converged,
            sweeps: 0,
            residual: relative(residual, &p.matrix),
            orthogonality: departure(MatRef::from_column_major_slice(vectors, n, own.len()), p.par),
        });
        sort(own, vectors, n);
        taken
    };
    for (to, x) in m.values.iter_mut().zip(&values) {
        *to = T::from_f64(x.to_f64() * p.scale);
    }
    if let Some(taken) = taken {
        // An eigenvalue may overflow in this precision although no element does.
        let finite = m.values.iter().all(|x| x.to_f64().is_finite());
        let status = if finite { Status::Converged } else { Status::NotConverged };
        *m.certificate = Certificate { status, ..taken }.judged(n, T::EPSILON);
    }
}

/// Transforms eigenvectors of T to eigenvectors of A and scales them to length 1. If `measured` is true, also replaces
/// the eigenvalues by Rayleigh quotients and returns the largest `|A v - l v|_2`; otherwise returns 0.
///
/// The Rayleigh quotients need only products that are computed here anyway. The eigenvalues of T differ from those of A
/// by the rounding errors of the reduction.
fn transform<T: Real>(p: &Prepared<T>, values: &mut [T], vectors: &mut [T], measured: bool) -> f64 {
    let n = p.matrix.nrows();
    let width = PANEL[usize::from(n >= LARGE)];
    let panels = vectors.chunks_mut(width * n).zip(values.chunks_mut(width));
    let residuals = parallel::map(panels, |_, (vectors, values)| {
        p.reduced.q.apply(MatMut::from_column_major_slice_mut(vectors, n, values.len()), Par::Seq);
        vectors.chunks_exact_mut(n).for_each(normalize);
        if measured { residual(&p.matrix, values, vectors) } else { 0.0 }
    });
    residuals.into_iter().fold(0.0, nan_max)
}

/// Replaces the eigenvalues by Rayleigh quotients, and returns the largest `|A v - l v|_2`, measured in the working
/// precision.
fn residual<T: Real>(matrix: &Mat<T>, values: &mut [T], vectors: &[T]) -> f64 {
    let n = matrix.nrows();
    let panel = MatRef::from_column_major_slice(vectors, n, values.len());
    let images = product(matrix.as_ref(), panel, Par::Seq);
    let mut worst = 0.0;
    for (j, (value, vector)) in values.iter_mut().zip(vectors.chunks_exact(n)).enumerate() {
        let image = images.col_as_slice(j);
        *value = T::from_f64(sum(image, vector, |a, v| a * v) / sum(vector, vector, |v, w| v * w));
        let own = value.to_f64();
        worst = nan_max(sum(image, vector, |a, v| (a - own * v) * (a - own * v)).sqrt(), worst);
    }
    worst
}

/// Sorts the eigenpairs in ascending order of their eigenvalues.
fn sort<T: Real>(values: &mut [T], vectors: &mut [T], n: usize) {
    if !values.is_sorted_by(|a, b| a.to_f64().total_cmp(&b.to_f64()).is_le()) {
        let (given_values, given) = (values.to_vec(), vectors.to_vec());
        let order = ascending(values.iter().map(|value| value.to_f64()));
        for ((value, to), j) in values.iter_mut().zip(vectors.chunks_exact_mut(n)).zip(order) {
            *value = given_values[j];
            to.copy_from_slice(&given[j * n..(j + 1) * n]);
        }
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
    let residual = relative(nan_max(by_trace, by_norm), matrix);
    Certificate { status: Status::Converged, sweeps: 0, residual, orthogonality: 0.0 }
}

/// Divides a residual by the 1-norm of the matrix.
fn relative<T: Real>(residual: f64, matrix: &Mat<T>) -> f64 {
    let norm = norm_1(matrix);
    residual / if norm == 0.0 { 1.0 } else { norm }
}
