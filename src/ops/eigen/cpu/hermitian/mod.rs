//! Solves complex Hermitian matrices. Small ones are solved one per SIMD lane: they are reduced to real tridiagonal
//! matrices by Householder's method (`reduce`), which the QL iteration of real matrices diagonalizes while it turns the
//! columns of the unitary matrix of the reduction, and certified (`measure`). Larger ones, and those of calls with too
//! few matrices to fill the lanes, are solved one at a time by faer's divide and conquer (`dense`).
//!
//! Of each eigenvector, the entry of largest magnitude is real and positive (`ops::complex`).

mod dense;
mod group;
mod measure;
mod reduce;

use super::group::Width;
use super::{Certificate, up_to};
use crate::array::Real;
use crate::lanes::Vector;
use crate::ops::certificate::Status;
use crate::ops::complex::{leader, leading_phase, narrow};
use crate::ops::eigen::request::Request;
use crate::parallel;
use crate::shape::Layout;
use num_complex::Complex;

/// One matrix, and the slices that its results are written to.
struct Matrix<'a, T> {
    order: usize,
    elements: &'a [Complex<T>],
    values: &'a mut [T],
    vectors: &'a mut [Complex<T>],
    certificate: &'a mut Certificate,
}

/// The eigenvalues, eigenvectors and certificates of all matrices of a batch.
pub(in super::super) struct Found<T> {
    pub(in super::super) values: Vec<T>,
    /// The eigenvectors, in the places that the layout gives to the elements of the matrices; empty if none were
    /// wanted.
    pub(in super::super) vectors: Vec<Complex<T>>,
    pub(in super::super) certificates: Vec<Certificate>,
}

/// Complex numbers, one per lane.
#[derive(Clone, Copy)]
struct Lanes<V> {
    re: V,
    im: V,
}

impl<V: Vector> Lanes<V> {
    /// Returns `self + a b`.
    #[inline(always)]
    fn plus(self, a: Self, b: Self) -> Self {
        Self {
            re: a.im.neg_mul_add(b.im, a.re.mul_add(b.re, self.re)),
            im: a.im.mul_add(b.re, a.re.mul_add(b.im, self.im)),
        }
    }

    /// Returns `self + conj(a) b`.
    #[inline(always)]
    fn plus_conjugate(self, a: Self, b: Self) -> Self {
        Self {
            re: a.im.mul_add(b.im, a.re.mul_add(b.re, self.re)),
            im: a.im.neg_mul_add(b.re, a.re.mul_add(b.im, self.im)),
        }
    }

    /// Returns `self - a b`.
    #[inline(always)]
    fn minus(self, a: Self, b: Self) -> Self {
        Self {
            re: a.im.mul_add(b.im, a.re.neg_mul_add(b.re, self.re)),
            im: a.im.neg_mul_add(b.re, a.re.neg_mul_add(b.im, self.im)),
        }
    }

    /// Returns `self - a conj(b)`.
    #[inline(always)]
    fn minus_by_conjugate(self, a: Self, b: Self) -> Self {
        Self {
            re: a.im.neg_mul_add(b.im, a.re.neg_mul_add(b.re, self.re)),
            im: a.im.neg_mul_add(b.re, a.re.mul_add(b.im, self.im)),
        }
    }

    /// Returns `self + |a|^2`, where self is real.
    #[inline(always)]
    fn square(a: Self, sum: V) -> V {
        a.im.mul_add(a.im, a.re.mul_add(a.re, sum))
    }
}

/// Computes eigenvalues, eigenvectors and certificates of every matrix of `a`. Only the lower triangles are read, and
/// of diagonal elements only the real parts.
pub(in super::super) fn eigh<T: Real>(layout: &Layout, a: &[Complex<T>], request: Request<'_>) -> Found<T> {
    let mut values = vec![T::from_f64(0.0); layout.row_count()];
    let zero = Complex::new(T::from_f64(0.0), T::from_f64(0.0));
    let mut vectors = vec![zero; if request.columns.is_none() { 0 } else { layout.len() }];
    let mut certificates = vec![Certificate::default(); layout.batch()];
    let mut matrices = split(layout, a, &mut values, &mut vectors, &mut certificates);
    matrices.sort_by_key(|m| m.order);
    let up_to = up_to(if request.whole { matrices.len() } else { usize::MAX });
    let small = matrices.partition_point(|m| m.order <= up_to);
    let (small, large) = matrices.split_at_mut(small);
    let width = T::in_lanes(Width);
    let per_task = width * (small.len() / (width * 8 * parallel::threads())).clamp(1, 64);
    parallel::for_each(small.chunks_mut(per_task).rev(), |_, matrices| {
        if !request.cancel.is_cancelled() {
            T::in_lanes(group::Groups { matrices, request });
        }
    });
    parallel::for_each(large.iter_mut().rev(), |_, m| {
        if !request.cancel.is_cancelled() {
            dense::solve(m, request);
        }
    });
    Found { values, vectors, certificates }
}

/// Splits the arrays into the slices that belong to each matrix.
fn split<'a, T: Real>(
    layout: &Layout,
    mut elements: &'a [Complex<T>],
    mut values: &'a mut [T],
    mut vectors: &'a mut [Complex<T>],
    certificates: &'a mut [Certificate],
) -> Vec<Matrix<'a, T>> {
    let mut parts = Vec::with_capacity(layout.batch());
    for (&order, certificate) in layout.orders().iter().zip(certificates) {
        let order = order as usize;
        let (own, rest) = elements.split_at(order * order);
        let (own_values, rest_values) = values.split_at_mut(order);
        let (own_vectors, rest_vectors) = vectors.split_at_mut((order * order).min(vectors.len()));
        (elements, values, vectors) = (rest, rest_values, rest_vectors);
        parts.push(Matrix { order, elements: own, values: own_values, vectors: own_vectors, certificate });
    }
    parts
}

/// Writes the vector with the elements `of` times the factor that makes its largest entry real and positive.
fn write_with_phase<T: Real>(of: impl Fn(usize) -> Complex<f64>, to: &mut [Complex<T>]) {
    let all = (0..to.len()).map(&of);
    let (at, factor) = (leader(all.clone()), leading_phase(all).conj());
    for (i, to) in to.iter_mut().enumerate() {
        *to = narrow(if i == at { Complex::from(of(i).norm_sqr().sqrt()) } else { of(i) * factor });
    }
}

/// Writes the certificate of a matrix whose eigenvalues are written.
fn certify<T: Real>(m: &mut Matrix<'_, T>, status: Status, [residual, orthogonality]: [f64; 2]) {
    let taken = Certificate { status, sweeps: 0, residual, orthogonality };
    *m.certificate = match status {
        Status::NonFinite => {
            m.values.fill(T::from_f64(f64::NAN));
            Certificate { residual: f64::NAN, orthogonality: f64::NAN, ..taken }
        }
        // An eigenvalue may overflow in this precision although no element does.
        _ if m.values.iter().any(|x| !x.to_f64().is_finite()) => Certificate { status: Status::NotConverged, ..taken },
        _ => taken.judged(m.order, T::EPSILON),
    };
}
