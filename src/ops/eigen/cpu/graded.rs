//! Solves positive definite matrices whose diagonal elements differ greatly, `D B D` with a diagonal matrix D, so that
//! each eigenvalue is accurate relative to itself if B is well conditioned: Cholesky's factorization with pivoting, and
//! one-sided Jacobi on its factor (Demmel and Veselic, Jacobi's method is more accurate than QR, SIAM J. Matrix Anal.
//! Appl. 13, 1992; Veselic and Hari 1989). Everything is computed in f64.

use super::{Matrix, Request, power_of_two_near};
use crate::array::Real;
use crate::ops::certificate::{Certificate, Status};
use crate::ops::columns::{departure, nan_max, norm_1, product, sum};
use crate::ops::orthogonalize::orthogonalize;
use faer::{Mat, MatRef, Par};

/// How much the diagonal elements may differ without a loss of digits, in units of the order n. The eigenvalues of `D B
/// D` are promised to within `10 n eps cond(B)` of themselves; other methods have an error of about `eps` times the
/// condition number of `D B D`, which is at most that of B times this difference.
const EVEN: f64 = 10.0;

/// Returns whether a matrix of the given order may be positive definite, and its diagonal elements differ so much that
/// digits would be lost.
pub(super) fn is_graded<T: Real>(order: usize, elements: &[T]) -> bool {
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for x in elements.iter().step_by(order + 1) {
        let x = x.to_f64();
        // Nor is a NaN greater.
        if !(x > 0.0 && x.is_finite()) {
            return false;
        }
        (least, most) = (least.min(x), most.max(x));
    }
    #[expect(clippy::cast_precision_loss, reason = "orders are far below 2^52")]
    let even = EVEN * order as f64;
    most > even * least
}

/// Returns whether [`solve`] solves a matrix.
pub(super) fn takes<T: Real>(order: usize, elements: &[T]) -> bool {
    is_graded(order, elements) && cholesky(&scaled(order, elements).0).is_some()
}

/// Returns a matrix divided by a power of two, and that power, so that its largest diagonal element is near 1.
fn scaled<T: Real>(n: usize, elements: &[T]) -> (Mat<f64>, f64) {
    let scale = power_of_two_near(elements.iter().step_by(n + 1).fold(0.0, |most: f64, x| most.max(x.to_f64())));
    (Mat::from_fn(n, n, |i, j| elements[i.max(j) + i.min(j) * n].to_f64() / scale), scale)
}

/// Solves a matrix. Returns `false`, without a result, if it is not positive definite.
pub(super) fn solve<T: Real>(m: &mut Matrix<'_, T>, request: Request<'_>) -> bool {
    let n = m.order;
    let (matrix, scale) = scaled(n, m.elements);
    let Some(factor) = cholesky(&matrix) else { return false };
    let found = orthogonalize(&factor, n, n, false);
    let pairs = || found.columns.chunks_exact(n).zip(&found.lengths).rev();
    for (to, (_, length)) in m.values.iter_mut().zip(pairs()) {
        *to = T::from_f64(length * length * scale);
    }
    for (to, (column, length)) in m.vectors.chunks_exact_mut(n).zip(pairs()) {
        to.iter_mut().zip(column).for_each(|(to, x)| *to = T::from_f64(x / length));
    }
    if request.certificate {
        let vectors: Vec<f64> = m.vectors.iter().map(|x| x.to_f64()).collect();
        let vectors = MatRef::from_column_major_slice(&vectors, n, if m.vectors.is_empty() { 0 } else { n });
        let images = product(matrix.as_ref(), vectors, Par::Seq);
        let residual = (0..vectors.ncols()).map(|j| {
            let (value, vector) = (m.values[j].to_f64() / scale, vectors.col(j).iter().copied().collect::<Vec<_>>());
            sum(images.col_as_slice(j), &vector, |a, v| (a - value * v) * (a - value * v)).sqrt()
        });
        let residual = residual.fold(0.0, nan_max) / norm_1(&matrix);
        let finite = m.values.iter().all(|x| x.to_f64().is_finite());
        let status = if finite && found.converged { Status::Converged } else { Status::NotConverged };
        let orthogonality = departure(vectors, Par::Seq);
        *m.certificate = Certificate { status, sweeps: found.sweeps, residual, orthogonality }.judged(n, T::EPSILON);
    }
    true
}

/// Returns the columns of G in `A = G G'`, eliminating the largest of the remaining diagonal elements first. Returns
/// `None` if A is not positive definite beyond rounding errors.
fn cholesky(a: &Mat<f64>) -> Option<Vec<f64>> {
    let n = a.nrows();
    #[expect(clippy::cast_precision_loss, reason = "orders are far below 2^52")]
    let least = 10.0 * n as f64 * f64::EPSILON;
    let mut rest = a.clone();
    let mut left: Vec<usize> = (0..n).collect();
    let mut columns = vec![0.0; n * n];
    for column in columns.chunks_exact_mut(n) {
        let at = (0..left.len()).max_by(|&i, &j| rest[(left[i], left[i])].total_cmp(&rest[(left[j], left[j])]))?;
        let p = left.swap_remove(at);
        let pivot = rest[(p, p)];
        // A NaN is not greater.
        let positive = pivot > least * a[(p, p)];
        if !positive {
            return None;
        }
        let root = pivot.sqrt();
        column[p] = root;
        left.iter().for_each(|&i| column[i] = rest[(i, p)] / root);
        for &j in &left {
            let by = column[j];
            left.iter().for_each(|&i| rest[(i, j)] -= column[i] * by);
        }
    }
    Some(columns)
}
