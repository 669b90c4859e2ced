//! Complex vectors on the CPU: their phases, and the measures of decompositions. Of each vector, the entry of largest
//! magnitude is made real and positive.

use super::columns::nan_max;
use crate::array::Real;
use crate::parallel;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, MatRef, Par};
use num_complex::Complex;

type C = Complex<f64>;

/// Of entries whose squared magnitudes differ by less than this share, as all of those of a discrete Fourier transform
/// do up to rounding, the first counts as the largest.
const TIED: f64 = 1e-3;
/// The minimum order at which all threads work together on a product.
const PARALLEL_FROM: usize = 128;

/// Returns the index of the entry of largest magnitude.
pub(super) fn leader(entries: impl Iterator<Item = C> + Clone) -> usize {
    let most = entries.clone().map(|x| x.norm_sqr()).fold(0.0, f64::max);
    entries.into_iter().position(|x| x.norm_sqr() >= most * (1.0 - TIED)).unwrap_or(0)
}

/// Returns the entry of largest magnitude, divided by its magnitude; 1 for a vector of zeros.
pub(super) fn leading_phase(entries: impl Iterator<Item = C> + Clone) -> C {
    let leading = entries.clone().nth(leader(entries)).unwrap_or_default();
    let length = leading.norm_sqr().sqrt();
    if length > 0.0 { leading / length } else { C::from(1.0) }
}

/// Returns the number of the precision `T` that is nearest to x, with +0 in place of -0.
pub(super) fn narrow<T: Real>(x: C) -> Complex<T> {
    Complex::new(T::from_f64(x.re + 0.0), T::from_f64(x.im + 0.0))
}

/// Returns the same number in f64.
pub(super) fn wide<T: Real>(x: Complex<T>) -> C {
    C::new(x.re.to_f64(), x.im.to_f64())
}

/// Multiplies each column from `first` on by the factor that makes its largest entry real and positive, and rounds it
/// to the precision `T`. Returns the factors.
pub(super) fn canonical<T: Real>(x: &mut Mat<C>, first: usize) -> Vec<C> {
    let end = if x.nrows() == 0 { first } else { x.ncols() };
    let lead = |j: usize| {
        let column = x.col_as_slice_mut(j);
        let at = leader(column.iter().copied());
        let (length, by) = (column[at].norm_sqr().sqrt(), leading_phase(column.iter().copied()).conj());
        turn::<T>(column, by);
        column[at] = wide(narrow::<T>(C::from(length)));
        by
    };
    (first..end).map(lead).collect()
}

/// Multiplies a column by a factor, and rounds it to the precision `T`.
pub(super) fn turn<T: Real>(column: &mut [C], by: C) {
    column.iter_mut().for_each(|x| *x = wide(narrow::<T>(*x * by)));
}

/// Returns the largest sum of the magnitudes of a column, whose squares have to be in range.
pub(super) fn norm_1(x: MatRef<'_, C>) -> f64 {
    let of_column = |j: usize| x.col(j).iter().map(|x| x.norm_sqr().sqrt()).sum::<f64>();
    (0..x.ncols()).map(of_column).fold(0.0, f64::max)
}

/// Returns the largest `|A x_j - s_j y_j|_2`, over the numbers s.
pub(super) fn residual(a: MatRef<'_, C>, x: MatRef<'_, C>, y: MatRef<'_, C>, s: &[f64]) -> f64 {
    let mut images = Mat::zeros(a.nrows(), s.len());
    matmul(images.as_mut(), Accum::Replace, a, x.subcols(0, s.len()), C::from(1.0), threads(s.len()));
    let of_column = |j: usize| images.col(j).iter().zip(y.col(j).iter()).map(|(x, y)| (x - y * s[j]).norm_sqr()).sum();
    (0..s.len()).map(|j| f64::sqrt(of_column(j))).fold(0.0, nan_max)
}

/// Returns the largest magnitude of an element of `X^H X - I`.
pub(super) fn departure(x: MatRef<'_, C>) -> f64 {
    let count = x.ncols();
    let mut gram = Mat::zeros(count, count);
    // X^H X is Hermitian, so its lower triangle is enough.
    let (whole, lower) = (BlockStructure::Rectangular, BlockStructure::TriangularLower);
    let (left, one) = (x.adjoint(), C::from(1.0));
    triangular::matmul(gram.as_mut(), lower, Accum::Replace, left, whole, x, whole, one, threads(count));
    let of_column = |j: usize| {
        let column = &gram.col_as_slice(j)[j..];
        column.iter().enumerate().map(|(i, x)| (x - if i == 0 { 1.0 } else { 0.0 }).norm_sqr()).fold(0.0, nan_max)
    };
    (0..count).map(of_column).fold(0.0, nan_max).sqrt()
}

fn threads(order: usize) -> Par {
    if order < PARALLEL_FROM { Par::Seq } else { parallel::in_eight() }
}
