//! Operations on columns of dense matrices on the CPU, with sums that are accurate for f32 columns.

use crate::array::Real;
use faer::Mat;

/// Returns the number of terms in each partial sum of a matrix product whose elements are sums of `n` terms. The
/// partial sums are then added to the totals. Most of these products measure residuals. In a single long sum, the
/// rounding error could be as large as the residual and hide it. This happens, for example, with the residual of a star
/// graph's eigenvectors. Each partial sum costs a pass over the totals. Such a pass is slower if the matrix is large,
/// so the partial sums of large matrices are longer.
pub(super) fn run_of(n: usize) -> usize {
    if n <= 512 { 16 } else { 64 }
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

/// Scales each column to length 1. After faer 0.24.4's divide and conquer in f32, the lengths are wrong by 60 eps at
/// n = 100 to 512, and everything computed from the columns would inherit this error.
pub(super) fn normalize<T: Real>(x: &mut Mat<T>) {
    for j in 0..x.ncols() {
        let column = x.col_as_slice_mut(j);
        let length = sum(column, column, |x, y| x * y).sqrt();
        // A column whose length is 0 or NaN is left unchanged, and the certificate reports it.
        if length > 0.0 {
            let by = 1.0 / length;
            column.iter_mut().for_each(|x| *x = T::from_f64(x.to_f64() * by));
        }
    }
}
