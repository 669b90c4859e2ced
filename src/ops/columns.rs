//! Operations on columns of dense matrices on the CPU, with sums that are accurate for f32 columns.

use crate::array::Real;
use crate::parallel;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, MatRef, Par};

/// The number of columns that a thread measures at a time.
const COLUMNS: usize = 64;

/// Returns the number of terms in each partial sum of a matrix product whose elements are sums of `n` terms. The
/// partial sums are then added to the totals. Most of these products measure residuals. In a single long sum, the
/// rounding error could be as large as the residual and hide it. This happens, for example, with the residual of a star
/// graph's eigenvectors. Each partial sum costs a pass over the totals. Such a pass is slower if the matrix is large,
/// so the partial sums of large matrices are longer.
fn run_of(n: usize) -> usize {
    if n <= 512 { 16 } else { 64 }
}

/// Computes `X Y` by partial sums of [`run_of`] terms.
pub(super) fn product<T: Real>(x: MatRef<'_, T>, y: MatRef<'_, T>, par: Par) -> Mat<T> {
    let mut product = Mat::zeros(x.nrows(), y.ncols());
    let (terms, one) = (x.ncols(), T::from_f64(1.0));
    // faer adds the terms of a product with a vector to the total one by one.
    let mut partial = (y.ncols() == 1).then(|| product.clone());
    for k in (0..terms).step_by(run_of(terms)) {
        let run = run_of(terms).min(terms - k);
        let (left, right) = (x.subcols(k, run), y.subrows(k, run));
        if let Some(partial) = &mut partial {
            matmul(partial.as_mut(), Accum::Replace, left, right, one, par);
            product += &*partial;
        } else {
            matmul(product.as_mut(), Accum::Add, left, right, one, par);
        }
    }
    product
}

/// Returns the sum of `term(a[i], b[i])` over all indices i. The sum is computed as eight partial sums, which a
/// compiler can keep in the lanes of a SIMD vector.
#[inline]
pub(super) fn sum<T: Real>(a: &[T], b: &[T], term: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sums = [0.0; 8];
    let (whole_a, whole_b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest = whole_a.remainder().iter().zip(whole_b.remainder());
    let rest: f64 = rest.map(|(a, b)| term(a.to_f64(), b.to_f64())).sum();
    for (a, b) in whole_a.zip(whole_b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += term(a.to_f64(), b.to_f64());
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// Scales a column to length 1. A column whose length is 0 or NaN is left unchanged, and the certificate reports it.
pub(super) fn normalize<T: Real>(column: &mut [T]) {
    let length = sum(column, column, |x, y| x * y).sqrt();
    if length > 0.0 {
        let by = 1.0 / length;
        column.iter_mut().for_each(|x| *x = T::from_f64(x.to_f64() * by));
    }
}

/// Scales each column of a matrix to length 1.
pub(super) fn normalize_columns<T: Real>(x: &mut Mat<T>) {
    (0..x.ncols()).for_each(|j| normalize(x.col_as_slice_mut(j)));
}

/// Returns the largest element of `|X'X - I|`.
pub(super) fn departure<T: Real>(x: MatRef<'_, T>, par: Par) -> f64 {
    // X'X is symmetric, so its lower triangle is enough.
    let count = x.ncols();
    let mut gram = Mat::zeros(count, count);
    let (whole, lower) = (BlockStructure::Rectangular, BlockStructure::TriangularLower);
    let (left, one) = (x.transpose(), T::from_f64(1.0));
    triangular::matmul(gram.as_mut(), lower, Accum::Replace, left, whole, x, whole, one, par);
    let of_column = |j: usize| {
        let column = &gram.col_as_slice(j)[j..];
        // A maximum may ignore a NaN, but the sum of the products 0 * y is NaN if any y is NaN.
        let off = column[1..].iter().fold(0.0, |most: f64, y| most.max(y.to_f64().abs()));
        nan_max(off + sum(column, column, |y, _| 0.0 * y), (column[0].to_f64() - 1.0).abs())
    };
    parallel::map_runs(count, COLUMNS, of_column).into_iter().fold(0.0, nan_max)
}

/// Returns the largest sum of the magnitudes of a column.
pub(super) fn norm_1<T: Real>(x: &Mat<T>) -> f64 {
    let of_column = |j: usize| sum(x.col_as_slice(j), x.col_as_slice(j), |y, _| y.abs());
    parallel::map_runs(x.ncols(), COLUMNS, of_column).into_iter().fold(0.0, f64::max)
}

/// Returns the larger of `a` and `b`, or NaN if either is NaN.
pub(super) fn nan_max(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}
