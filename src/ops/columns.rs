//! Columns of dense matrices on the CPU: sums that are accurate where the columns are f32.

use crate::array::Real;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

/// Terms of a product's sums before they are added to the sums of such sums: one long sum is off by what the vectors of a star are
/// off, and hides it. Each run is a pass over the sums, which are longer to fetch where the matrix is large: there the runs are too.
pub(super) fn run_of(n: usize) -> usize {
    if n <= 512 { 16 } else { 64 }
}

/// The sum of `term` over pairs, in eight partial sums that a compiler keeps side by side.
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

/// Columns that are nearly orthonormal, made so: a step of Newton and Schulz for the polar factor, `X (3 I - X'X) / 2`, which squares the
/// departure (Higham, Functions of Matrices, 8.6).
pub(super) fn orthonormalize<T: Real>(x: &mut Mat<T>, par: Par) {
    let n = x.ncols();
    let mut step = Mat::<T>::zeros(n, n);
    matmul(step.as_mut(), Accum::Replace, x.transpose(), x.as_ref(), T::from_f64(-0.5), par);
    (0..n).for_each(|j| step[(j, j)] = T::from_f64(1.5 + step[(j, j)].to_f64()));
    let given = x.clone();
    matmul(x.as_mut(), Accum::Replace, given.as_ref(), step.as_ref(), T::from_f64(1.0), par);
}

/// Columns of length 1. Divide and conquer in f32 leaves them too long or too short by 60 eps at n = 100 to 512 (faer 0.24.4), and
/// with them what is taken from them.
pub(super) fn normalize<T: Real>(x: &mut Mat<T>) {
    for j in 0..x.ncols() {
        let column = x.col_as_slice_mut(j);
        let length = sum(column, column, |x, y| x * y).sqrt();
        // A length that is 0 or NaN is for the certificate to tell.
        if length > 0.0 {
            let by = 1.0 / length;
            column.iter_mut().for_each(|x| *x = T::from_f64(x.to_f64() * by));
        }
    }
}
