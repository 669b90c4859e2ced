//! Computes a few eigenvectors of matrices that are solved in lanes. Inverse iteration computes the eigenvectors of the
//! tridiagonal matrices one by one. The reflectors then transform the vectors of all lanes back side by side.

use super::inverse_iteration::eigenvectors;
use super::workspace::Workspace;
use super::{Columns, Matrix};
use crate::array::Real;
use crate::lanes::Vector;
use crate::ops::twisted::Tridiagonal;
use std::ops::Range;

/// Inverse iteration is used if the order is at least `FROM` and at most one in `SHARE` columns is requested.
/// Otherwise, the QL iteration computes all eigenvectors. The data set PROTEINS with k = 8 (f64, AVX-512, two cores) is
/// encoded in 103 ms without inverse iteration and in 90 ms with it. It also takes 90 ms if `FROM` and `SHARE` are 24
/// and 3, or 40 and 5 (2026-11-21).
const FROM: usize = 32;
const SHARE: usize = 4;

/// The indices of the columns that were computed for the matrix in a lane; `None` if all its eigenvectors have to be
/// computed by the QL iteration.
pub(super) type Own = Option<Range<usize>>;

/// Computes the requested columns of every matrix that needs few columns, writes them to the matrix, and returns their
/// indices. `diagonal` and `off_diagonal` are the elements of the tridiagonal matrices; the eigenvalues are in
/// `work.diagonal`.
#[inline(always)]
pub(super) fn subset<T: Real, V: Vector<Scalar = T>>(
    zero: V,
    group: &mut [Matrix<'_, T>],
    columns: Columns<'_>,
    diagonal: &[V],
    off_diagonal: &[V],
    work: &mut Workspace<V>,
) -> Vec<Own> {
    if matches!(columns, Columns::All) {
        return vec![None; group.len()];
    }
    let n = diagonal.len();
    let mut most = 0;
    let mut found: Vec<Option<(Range<usize>, Vec<f64>)>> = Vec::with_capacity(group.len());
    for (lane, matrix) in group.iter().enumerate() {
        let order = matrix.order;
        let number = |x: &V| x.as_slice()[lane].to_f64();
        let mut values: Vec<f64> = work.diagonal[..order].iter().map(number).collect();
        values.sort_unstable_by(f64::total_cmp);
        let own = if order < FROM { 0..order } else { columns.of(matrix.index, values.iter().copied()) };
        if own.len() > order / SHARE {
            found.push(None);
            continue;
        }
        let (d, e): (Vec<f64>, Vec<f64>) = (0..order).map(|i| (number(&diagonal[i]), number(&off_diagonal[i]))).unzip();
        let t = Tridiagonal { diagonal: &d, off_diagonal: &e };
        #[expect(clippy::cast_precision_loss, reason = "an order")]
        let tolerance = T::EPSILON * (0.25 * order as f64).max(8.0);
        let vectors = eigenvectors(t, &values[own.clone()], tolerance);
        if vectors.is_some() {
            most = most.max(own.len());
        }
        found.push(vectors.map(|vectors| (own, vectors)));
    }
    if most > 0 {
        // `z` is column-major, so that the elements of a column are adjacent.
        let z = &mut work.vectors[..most * n];
        z.fill(zero);
        for (lane, (matrix, own)) in group.iter().zip(&found).enumerate() {
            for (j, column) in own.iter().flat_map(|(_, vectors)| vectors.chunks_exact(matrix.order.max(1))).enumerate()
            {
                for (i, x) in column.iter().enumerate() {
                    z[j * n + i].as_mut_slice()[lane] = T::from_f64(*x);
                }
            }
        }
        for k in (0..n.saturating_sub(2)).rev() {
            let reflector = &work.reduced[k * work.ld + k + 1..k * work.ld + n];
            for column in work.vectors[..most * n].chunks_exact_mut(n) {
                let column = &mut column[k + 1..];
                let mut along = zero;
                for (x, v) in column.iter().zip(reflector) {
                    along = x.mul_add(*v, along);
                }
                let along = along * work.tau[k];
                for (x, v) in column.iter_mut().zip(reflector) {
                    *x = along.neg_mul_add(*v, *x);
                }
            }
        }
        for (lane, (matrix, own)) in group.iter_mut().zip(&found).enumerate() {
            let Some((own, _)) = own else { continue };
            for (j, place) in own.clone().enumerate() {
                let to = &mut matrix.vectors[place * matrix.order..(place + 1) * matrix.order];
                for (to, x) in to.iter_mut().zip(&work.vectors[j * n..]) {
                    *to = T::from_f64(x.as_slice()[lane].to_f64() + 0.0);
                }
            }
        }
    }
    found.into_iter().map(|own| own.map(|(indices, _)| indices)).collect()
}
