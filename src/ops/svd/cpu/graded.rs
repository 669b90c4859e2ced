//! Decomposes matrices whose rows or columns differ greatly in size, `D1 B D2` with diagonal matrices D1 and D2, so
//! that each singular value is accurate relative to itself if B is well conditioned: Householder's QR with column
//! pivoting, after the rows have been sorted by size, and one-sided Jacobi on the columns of R' (Drmac and Veselic, New
//! fast and accurate Jacobi SVD algorithm, SIAM J. Matrix Anal. Appl. 29, 2008; LAPACK's dgejsv). The rows have to be
//! sorted, or the errors of a large row would hide a small one (Cox and Higham, Stability of Householder QR
//! factorization for weighted least squares problems, 1998). Everything is computed in f64.

use super::Working;
use super::dense::Factors;
use crate::array::Real;
use crate::ops::orthogonalize::orthogonalize;
use faer::Mat;

/// How much the sizes of the rows and columns may differ without a loss of digits, in units of the larger dimension.
/// The singular values of `D1 B D2` are promised to within `10 n eps cond(B)` of themselves. Other methods have an
/// error of about `eps` times the condition number of `D1 B D2`, which is at most that of B times the differences in
/// size.
const EVEN: f64 = 10.0;

/// Returns whether the rows and columns of a matrix differ so much in size that digits would be lost. The size of a row
/// or column is its largest magnitude; those of zeros do not count.
pub(super) fn is_graded<F: Real>(rows: usize, elements: &[F]) -> bool {
    let columns = elements.len() / rows.max(1);
    let mut of_rows = vec![0.0_f64; rows];
    let size = |column: &[F]| {
        of_rows.iter_mut().zip(column).fold(0.0_f64, |size, (own, x)| {
            let x = x.to_f64().abs();
            *own = own.max(x);
            size.max(x)
        })
    };
    let of_columns: Vec<f64> = elements.chunks_exact(rows.max(1)).map(size).collect();
    let ratio = |sizes: &[f64]| {
        let sizes = sizes.iter().filter(|size| **size > 0.0);
        let (least, most) = sizes.fold((f64::INFINITY, 0.0_f64), |(a, b), &size| (a.min(size), b.max(size)));
        most / least
    };
    #[expect(clippy::cast_precision_loss, reason = "dimensions are far below 2^52")]
    let even = EVEN * rows.max(columns) as f64;
    ratio(&of_columns) * ratio(&of_rows) > even
}

/// Decomposes the finite tall matrix B, with `left` columns of P.
pub(super) fn factors<F: Working>(b: &Mat<F>, left: usize) -> Factors<F> {
    let (long, short) = b.shape();
    let size = |i: usize| (0..short).fold(0.0, |most: f64, j| most.max(b[(i, j)].to_f64().abs()));
    let sizes: Vec<f64> = (0..long).map(size).collect();
    let mut rows: Vec<usize> = (0..long).collect();
    rows.sort_by(|&i, &j| sizes[j].total_cmp(&sizes[i]));
    let mut work: Vec<f64> = (0..short).flat_map(|j| rows.iter().map(move |&i| b[(i, j)].to_f64())).collect();
    let mut pivots: Vec<usize> = (0..short).collect();
    let reflectors = triangularize(&mut work, long, Some(&mut pivots));
    let rank = reflectors.len();
    // Row i of R is column i of the matrix to orthogonalize.
    let triangle: Vec<f64> = (0..rank)
        .flat_map(|i| (0..short).map(move |j| (i, j)))
        .map(|(i, j)| if j < i { 0.0 } else { work[j * long + i] })
        .collect();
    let found = orthogonalize(&triangle, short, rank, true);

    let mut p = Mat::<f64>::zeros(long, left);
    for j in 0..left {
        let column = p.col_as_slice_mut(j);
        if j < rank {
            column[..rank].copy_from_slice(&found.rotations[j * rank..(j + 1) * rank]);
        } else {
            column[j] = 1.0;
        }
        reflect(&reflectors, column);
    }
    let mut right = found.columns;
    right
        .chunks_exact_mut(short)
        .zip(&found.lengths)
        .for_each(|(column, length)| column.iter_mut().for_each(|x| *x /= length));
    complete(&mut right, short);
    let (mut sorted, mut q) = (Mat::zeros(long, left), Mat::zeros(short, short));
    for (i, &row) in rows.iter().enumerate() {
        (0..left).for_each(|j| sorted[(row, j)] = F::from_f64(p[(i, j)]));
    }
    for (i, &row) in pivots.iter().enumerate() {
        (0..short).for_each(|j| q[(row, j)] = F::from_f64(right[j * short + i]));
    }
    let s = (0..short).map(|j| F::from_f64(found.lengths.get(j).copied().unwrap_or(0.0))).collect();
    Factors { p: sorted, s, q }
}

/// A reflection `I - v v' * 2 / v'v`: v without its leading zeros, and `2 / v'v`.
type Reflector = (Vec<f64>, f64);

/// Reduces columns of `rows` elements to an upper triangle by reflections. If `pivots` is given, the longest of the
/// remaining columns always comes next, and the columns' indices are rearranged as they are. Stops where all remaining
/// columns are 0.
fn triangularize(work: &mut [f64], rows: usize, mut pivots: Option<&mut [usize]>) -> Vec<Reflector> {
    let columns = work.len() / rows.max(1);
    let mut reflectors = Vec::with_capacity(columns);
    for k in 0..columns.min(rows) {
        let length = |work: &[f64], j: usize| norm(&work[j * rows + k..(j + 1) * rows]);
        if let Some(pivots) = &mut pivots {
            let longest = (k..columns)
                .map(|j| (j, length(work, j)))
                .fold((k, 0.0), |at, own| if own.1 > at.1 { own } else { at });
            pivots.swap(k, longest.0);
            (0..if longest.0 == k { 0 } else { rows }).for_each(|i| work.swap(k * rows + i, longest.0 * rows + i));
        }
        let size = length(work, k);
        if size == 0.0 {
            break;
        }
        let (head, tail) = work.split_at_mut((k + 1) * rows);
        let column = &mut head[k * rows + k..];
        let mut v: Vec<f64> = column.iter().map(|x| x / size).collect();
        let sign = if v[0] < 0.0 { -1.0 } else { 1.0 };
        v[0] += sign;
        // v'v is 2 (1 + |x_0|), where x is the unit vector along the column.
        let by = 1.0 / v[0].abs();
        column.fill(0.0);
        column[0] = -sign * size;
        for other in tail.chunks_exact_mut(rows) {
            apply(&(&v, by), &mut other[k..]);
        }
        reflectors.push((v, by));
    }
    reflectors
}

fn apply((v, by): &(&Vec<f64>, f64), to: &mut [f64]) {
    let product: f64 = by * v.iter().zip(to.iter()).map(|(v, x)| v * x).sum::<f64>();
    to.iter_mut().zip(*v).for_each(|(x, v)| *x -= product * v);
}

/// Multiplies a column by the product of the reflections.
fn reflect(reflectors: &[Reflector], column: &mut [f64]) {
    for (k, (v, by)) in reflectors.iter().enumerate().rev() {
        apply(&(v, *by), &mut column[k..]);
    }
}

/// Appends columns to orthonormal ones of n elements until they are a basis.
fn complete(columns: &mut Vec<f64>, n: usize) {
    let count = columns.len() / n.max(1);
    if count == n {
        return;
    }
    let reflectors = triangularize(&mut columns.clone(), n, None);
    for j in count..n {
        let mut column = vec![0.0; n];
        column[j] = 1.0;
        reflect(&reflectors, &mut column);
        columns.append(&mut column);
    }
}

fn norm(x: &[f64]) -> f64 {
    let peak = x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if peak == 0.0 { 0.0 } else { peak * x.iter().map(|x| (x / peak) * (x / peak)).sum::<f64>().sqrt() }
}
