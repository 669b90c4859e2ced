//! Operations on columns of dense matrices on the CPU, with sums that are accurate for f32 columns.

use crate::array::Real;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

/// Returns how many of a sum's `n` terms a product adds up before it adds that partial sum to the total. One long sum
/// is off by as much as the vectors of a star are, and hides their error. Each run of terms is a pass over the totals,
/// which take longer to fetch if the matrix is large, so the runs are longer there.
pub(super) fn run_of(n: usize) -> usize {
    if n <= 512 { 16 } else { 64 }
}

/// Sums `term` over the pairs of elements, in eight partial sums that a compiler keeps side by side.
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

/// Makes nearly orthonormal columns orthonormal by one step of Newton and Schulz for the polar factor,
/// `X (3 I - X'X) / 2`, which squares the departure (Higham, Functions of Matrices, 8.6).
pub(super) fn orthonormalize<T: Real>(x: &mut Mat<T>, par: Par) {
    let n = x.ncols();
    let mut step = Mat::<T>::zeros(n, n);
    matmul(step.as_mut(), Accum::Replace, x.transpose(), x.as_ref(), T::from_f64(-0.5), par);
    (0..n).for_each(|j| step[(j, j)] = T::from_f64(1.5 + step[(j, j)].to_f64()));
    let given = x.clone();
    matmul(x.as_mut(), Accum::Replace, given.as_ref(), step.as_ref(), T::from_f64(1.0), par);
}

/// Scales the columns to length 1. Divide and conquer in f32 leaves lengths off by 60 eps at n = 100 to 512 (faer
/// 0.24.4), and with them everything that is computed from the columns.
pub(super) fn normalize<T: Real>(x: &mut Mat<T>) {
    for j in 0..x.ncols() {
        let column = x.col_as_slice_mut(j);
        let length = sum(column, column, |x, y| x * y).sqrt();
        // The certificate reports a length that is 0 or NaN.
        if length > 0.0 {
            let by = 1.0 / length;
            column.iter_mut().for_each(|x| *x = T::from_f64(x.to_f64() * by));
        }
    }
}
