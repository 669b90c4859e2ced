//! Separates small, close eigenvalues of a Laplacian by a Rayleigh-Ritz step in which no nearly equal numbers are
//! subtracted.
//!
//! A decomposition in f64 has an error of a few eps |L|. Eigenvalues below this error, which occur if clusters of the
//! graph are weakly connected, are noise in the result, and their vectors are mixed with each other and with the known
//! null space. However, the space that these vectors span together is accurate, because the rest of the spectrum is far
//! away. Within this space, the quadratic form is a sum over edges, `v'Lw = sum W_ij (y_i - y_j) (z_i - z_j)`, where
//! W_ij is the weight of the edge between i and j. For the combinatorial Laplacian, `y = v` and `z = w`. For the
//! normalized Laplacian, `y = D^-1/2 v` and `z = D^-1/2 w`. If a vector is constant on a cluster, its differences
//! within the cluster are only rounding errors, and the sum contains their squares, which are of order eps^2. Every
//! entry of the small matrix of this form is therefore accurate relative to the diagonal entries in its row and column,
//! and Jacobi's method preserves this accuracy (Demmel and Veselic 1992). In a signed graph, the sum is that of `|W_ij|
//! (y_i - s y_j) (z_i - s z_j)`, where s is the sign of W_ij, and a negative self-loop adds `2 |W_ii| y_i z_i`.

use crate::array::Real;
use crate::graph::{GraphRef, IsolatedDiagonal};
use crate::ops::Normalization;
use crate::ops::sparse::NullSpace;
use crate::order::ascending;
use crate::parallel;
use nalgebra::DMatrix;

/// The largest distance between two eigenvalues, relative to the bound of the spectrum, at which this module separates
/// them for an encoding in f32. The error of the eigenvectors of an f64 solver is about 1e-15 divided by the relative
/// distance. For larger distances, this error is therefore at most 1e-8, which is invisible in f32.
pub(super) const CLOSE: f64 = 1e-7;
/// The limit for small eigenvalues, relative to the bound of the spectrum. Above this limit, the decomposition itself
/// is accurate enough: two eigenvalues that are not tied (`ops::ties`) differ by at least 2e-11 times the bound of the
/// spectrum, which is ten thousand times the rounding error.
const SMALL: f64 = 1e-2;

/// How small and how close eigenvalues have to be, relative to the bound of the spectrum, so that the error of a
/// decomposition in f64, a few eps times the bound, is visible in an encoding. An eigenvalue of an encoding in T is
/// promised to within a few `n eps` of itself, where n is the order and eps is that of T.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Small eigenvalues that are so close to each other or to 0 are separated by this module.
    pub(super) near: f64,
    /// Eigenvalues up to this limit are small.
    small: f64,
    /// Smaller eigenvalues need a factor of the Laplacian, unless this module resolves them.
    pub(super) factored: f64,
    /// This module resolves larger eigenvalues. It computes an eigenvalue l with a relative error of about `eps
    /// sqrt(bound / l)`, where eps is that of f64.
    pub(super) separated: f64,
}

impl Limits {
    /// Returns the limits for an encoding in T of a graph with n nodes.
    pub(super) fn of<T: Real>(n: usize) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "orders are far below 2^52")]
        let n = n.max(1) as f64;
        if T::EPSILON < 1e-10 {
            // The departure of a vector from the null space is up to `max(4, 0.6 sqrt(n)) eps` times the bound over its
            // eigenvalue (random graphs of 5 to 450 nodes, 2026-11-28), and `10 n eps` is promised.
            let near = (0.09 * n.sqrt()).max(0.5) / n;
            let factored = 0.25 / (n * n);
            Self { near, small: near.max(SMALL), factored, separated: factored }
        } else {
            // Far above the eigenvalues that a decomposition in f64 cannot tell from 0.
            Self { near: CLOSE, small: SMALL, factored: 1e-12, separated: (f64::EPSILON / T::EPSILON).powi(2) }
        }
    }

    /// Returns the distance up to which the eigenvalue that follows `value` counts as close to it.
    pub(super) fn close(self, value: f64, bound: f64) -> f64 {
        bound * if value <= self.small * bound { self.near.max(CLOSE) } else { CLOSE }
    }
}

/// Returns whether the spectrum contains small neighboring eigenvalues that a decomposition does not separate well
/// enough. `values` must be ascending. `null` says whether there is also a null space, whose eigenvalue is 0.
pub(super) fn is_due(values: &[f64], null: bool, bound: f64, limits: Limits) -> bool {
    let close = |gap: f64| gap <= limits.near * bound;
    null && values.first().is_some_and(|&first| close(first))
        || values.windows(2).any(|pair| pair[0] <= limits.small * bound && close(pair[1] - pair[0]))
}

/// Returns the number of eigenvalues that are separated together: the small eigenvalues, and a chain of larger
/// eigenvalues that begins close to the last small one. `values` must be ascending. The work grows with the cube of
/// this number (21 s for all 1200 values of a graph with 1200 nodes, 2026-11-22).
pub(super) fn small(values: &[f64], bound: f64, limits: Limits) -> usize {
    let small = values.partition_point(|&value| value <= limits.small * bound);
    if small == 0 {
        return 0;
    }
    let close = |pair: &&[f64]| pair[1] - pair[0] <= CLOSE * bound;
    small + values[small - 1..].windows(2).take_while(close).count()
}

/// Replaces orthonormal columns by the Ritz vectors of the Laplacian in the space that the columns span, and returns
/// the Ritz values in ascending order.
pub(super) fn separate(graph: GraphRef<'_>, normalization: Normalization, columns: &mut [f64]) -> Vec<f64> {
    let n = graph.nodes().max(1);
    let m = columns.len() / n;
    let (values, q) = jacobi(form(graph, normalization, columns, m));
    // V Q is computed in place, row by row, because a row of V Q depends only on the same row of V.
    let mut row = vec![0.0; m];
    for i in 0..n {
        for (j, to) in row.iter_mut().enumerate() {
            *to = (0..m).map(|l| columns[l * n + i] * q[(l, j)]).sum();
        }
        row.iter().enumerate().for_each(|(j, &x)| columns[j * n + i] = x);
    }
    values
}

/// Returns the Rayleigh quotient of a column of unit length.
pub(super) fn quotient(graph: GraphRef<'_>, normalization: Normalization, column: &[f64]) -> f64 {
    form(graph, normalization, column, 1)[(0, 0)]
}

/// One task adds up the edges of this many rows of a graph. The number is fixed, so that the order of the additions
/// does not depend on the number of threads.
const ROWS: usize = 1 << 12;

/// Computes `V'LV` as a sum over edges, where the columns of V are the `m` given columns and L is the Laplacian.
fn form(graph: GraphRef<'_>, normalization: Normalization, columns: &[f64], m: usize) -> DMatrix<f64> {
    let n = graph.nodes();
    let normalized = normalization != Normalization::Combinatorial;
    let degrees = graph.degrees();
    let scale = |i: usize| if normalized && degrees[i] > 0.0 { 1.0 / degrees[i].sqrt() } else { 1.0 };
    let alone = normalized && graph.conventions().isolated == IsolatedDiagonal::One;
    let of_rows = |first: usize| {
        let mut sum = DMatrix::<f64>::zeros(m, m);
        let mut difference = vec![0.0; m];
        let mut add = |sum: &mut DMatrix<f64>, weight: f64, entry: &dyn Fn(usize) -> f64| {
            difference.iter_mut().enumerate().for_each(|(j, d)| *d = entry(j));
            for a in 0..m {
                let along = weight * difference[a];
                (0..=a).for_each(|b| sum[(a, b)] += along * difference[b]);
            }
        };
        for i in first..(first + ROWS).min(n) {
            let own = scale(i);
            for (j, weight) in graph.row(i).filter(|&(j, _)| j >= i) {
                let other = scale(j);
                if j == i && weight < 0.0 {
                    add(&mut sum, 2.0 * weight.abs(), &|l| own * columns[l * n + i]);
                } else if j > i && weight < 0.0 {
                    add(&mut sum, weight.abs(), &|l| own * columns[l * n + i] + other * columns[l * n + j]);
                } else if j > i {
                    add(&mut sum, weight, &|l| own * columns[l * n + i] - other * columns[l * n + j]);
                }
            }
            if alone && degrees[i] == 0.0 {
                add(&mut sum, 1.0, &|l| columns[l * n + i]);
            }
        }
        sum
    };
    let sums = parallel::map((0..n).step_by(ROWS), |_, first| of_rows(first));
    let mut all = sums.into_iter().fold(DMatrix::zeros(m, m), |all, sum| all + sum);
    all.fill_upper_triangle_with_lower_triangle();
    all
}

/// The maximum number of sweeps, after which the matrix is treated as diagonal. Convergence takes 6 to 10 sweeps.
const SWEEPS: usize = 40;

/// Computes the eigenvalues, in ascending order, and the eigenvectors of a small positive semidefinite matrix by
/// Jacobi's method (Golub and Van Loan, Matrix Computations, 8.5). The iteration stops when each off-diagonal entry is
/// negligible relative to the two diagonal entries in *its own* row and column, so small eigenvalues are computed to
/// high relative accuracy.
fn jacobi(mut a: DMatrix<f64>) -> (Vec<f64>, DMatrix<f64>) {
    let m = a.nrows();
    let mut q = DMatrix::<f64>::identity(m, m);
    for _ in 0..SWEEPS {
        let mut rotated = false;
        for i in 0..m {
            for j in 0..i {
                let (x, y, xy) = (a[(i, i)], a[(j, j)], a[(i, j)]);
                if xy.abs() <= f64::EPSILON * (x.abs() * y.abs()).sqrt() || xy == 0.0 {
                    continue;
                }
                rotated = true;
                let tau = (y - x) / (2.0 * xy);
                let t = if tau >= 0.0 { 1.0 } else { -1.0 } / (tau.abs() + tau.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                rotate(&mut a, &mut q, (i, j), (c, t * c));
                // These are the results of the rotation for these entries, without the rounding errors of the general
                // formula.
                (a[(i, i)], a[(j, j)]) = (x - t * xy, y + t * xy);
                (a[(i, j)], a[(j, i)]) = (0.0, 0.0);
            }
        }
        if !rotated {
            break;
        }
    }
    let order = ascending((0..m).map(|i| a[(i, i)]));
    (order.iter().map(|&i| a[(i, i)].max(0.0)).collect(), q.select_columns(&order))
}

/// Rotates rows i and j and columns i and j of A, and columns i and j of Q.
fn rotate(a: &mut DMatrix<f64>, q: &mut DMatrix<f64>, (i, j): (usize, usize), (c, s): (f64, f64)) {
    for l in 0..a.nrows() {
        let (x, y) = (a[(l, i)], a[(l, j)]);
        (a[(l, i)], a[(l, j)]) = (c * x - s * y, s * x + c * y);
        let (x, y) = (q[(l, i)], q[(l, j)]);
        (q[(l, i)], q[(l, j)]) = (c * x - s * y, s * x + c * y);
    }
    for l in 0..a.nrows() {
        let (x, y) = (a[(i, l)], a[(j, l)]);
        (a[(i, l)], a[(j, l)]) = (c * x - s * y, s * x + c * y);
    }
}

/// Returns an orthonormal basis of the orthogonal complement of the known null space within the space of `columns`. The
/// columns must be orthonormal, and their space must contain the null space. The number of returned columns is the
/// number of given columns minus the number of null vectors.
pub(super) fn complement(columns: &[f64], n: usize, null: &NullSpace<f64>) -> Vec<f64> {
    let mut left: Vec<Vec<f64>> = columns.chunks_exact(n.max(1)).map(<[f64]>::to_vec).collect();
    let count = left.len().saturating_sub(null.len());
    let mut out: Vec<f64> = Vec::with_capacity(count * n);
    left.iter_mut().for_each(|column| null.deflate(column));
    let square = |x: &Vec<f64>| x.iter().map(|x| x * x).sum::<f64>();
    for _ in 0..count {
        // The longest column is chosen. The remaining s columns are projections of orthonormal columns onto a space of
        // r dimensions, so their squared norms add up to r, and the squared norm of the longest column is at least
        // `r / s`.
        let longest = (0..left.len()).max_by(|&i, &j| square(&left[i]).total_cmp(&square(&left[j])).then(j.cmp(&i)));
        let Some(longest) = longest else { break };
        let mut chosen = left.swap_remove(longest);
        for _ in 0..2 {
            null.deflate(&mut chosen);
            for other in out.chunks_exact(n.max(1)) {
                take_out(&mut chosen, other);
            }
            let norm = square(&chosen).sqrt();
            chosen.iter_mut().for_each(|x| *x /= if norm > 0.0 { norm } else { 1.0 });
        }
        left.iter_mut().for_each(|column| take_out(column, &chosen));
        out.append(&mut chosen);
    }
    out
}

fn take_out(column: &mut [f64], other: &[f64]) {
    let along: f64 = column.iter().zip(other).map(|(x, y)| x * y).sum();
    column.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
}

#[cfg(test)]
mod tests {
    use super::{CLOSE, Limits, SMALL};

    #[test]
    fn small_values_and_their_neighbors() {
        let (bound, close) = (2.0, 2.0 * CLOSE);
        let small = |values: &[f64], bound: f64| super::small(values, bound, Limits::of::<f32>(10));
        let last = SMALL * bound;
        assert_eq!(small(&[], bound), 0);
        assert_eq!(small(&[2.0 * last, 2.0 * last], bound), 0);
        assert_eq!(
            small(&[0.1 * last, last, last + 0.9 * close, last + 1.8 * close, last + 3.0 * close, bound], bound),
            4
        );
        assert_eq!(small(&[0.1 * last, 0.2 * last, 0.5], bound), 2);
    }
}
