//! Computes eigenpairs of a symmetric tridiagonal matrix T in f64, one pair in each SIMD lane, if the eigenvalues are
//! distinct enough for f32 results.
//!
//! First, bisection with Sturm counts isolates each eigenvalue. Then Rayleigh quotient iteration improves it, and the
//! bracket of the bisection ensures that the iteration stays at this eigenvalue. Each step of the iteration solves for
//! the vector by a twisted factorization of `T - x I` (Dhillon and Parlett, Orthogonal eigenvectors and relative gaps,
//! SIAM J. Matrix Anal. Appl. 25, 2004; LAPACK's xLAR1V and xLARRV). A pair takes O(n) operations, where divide and
//! conquer takes O(n^2).
//!
//! The inner product of two computed vectors is at most the sum of their residuals divided by the distance of their
//! eigenvalues. In f64, residuals are about `eps |T|`. So the vectors are orthogonal to within the rounding error of
//! f32 unless the eigenvalues agree to about eight digits. Vectors of closer eigenvalues are orthogonalized, and if
//! that cannot be done accurately, the caller has to use another method.

mod brackets;
mod iteration;
#[cfg(test)]
mod tests;

use crate::array::Real;
use crate::lanes::SimdScalar;
use crate::ops::columns::sum;
use crate::parallel;
use brackets::Brackets;
use iteration::{Pair, Solve};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of SIMD vectors of eigenpairs that a task processes. A step of a recurrence waits for the step before it,
/// and meanwhile the processor works on the other vectors. With one vector, an AVX2 machine takes 2.6 times as long as
/// with four (2026-11-24).
const VECTORS: usize = 4;
/// The largest inner product of two vectors that orthogonalization may remove. Removing it changes the residual of a
/// vector by at most the residuals that caused the inner product.
const REMOVABLE: f64 = 1.0 / 64.0;
/// The largest number of vectors that are orthogonalized to each other. The work grows with its square.
const TOGETHER: usize = 64;

/// A symmetric tridiagonal matrix: n diagonal elements, and at least n - 1 off-diagonal elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tridiagonal<'a> {
    pub(super) diagonal: &'a [f64],
    pub(super) off_diagonal: &'a [f64],
}

impl Tridiagonal<'_> {
    /// Returns the sum of the magnitudes of the off-diagonal elements in row `i`.
    fn radius(&self, i: usize) -> f64 {
        let after = if i + 1 < self.diagonal.len() { self.off_diagonal[i].abs() } else { 0.0 };
        after + if i > 0 { self.off_diagonal[i - 1].abs() } else { 0.0 }
    }

    /// Returns the 1-norm.
    pub(super) fn norm(&self) -> f64 {
        self.diagonal.iter().enumerate().map(|(i, d)| d.abs() + self.radius(i)).fold(0.0, f64::max)
    }

    /// Returns `|T x - l x|_2`.
    pub(super) fn residual(&self, value: f64, x: &[f64]) -> f64 {
        let n = x.len();
        let row = |i: usize| {
            let before = if i > 0 { self.off_diagonal[i - 1] * x[i - 1] } else { 0.0 };
            let after = if i + 1 < n { self.off_diagonal[i] * x[i + 1] } else { 0.0 };
            (self.diagonal[i] - value) * x[i] + before + after
        };
        (0..n).map(|i| row(i).powi(2)).sum::<f64>().sqrt()
    }

    /// Returns the number of eigenvalues below `x`.
    pub(super) fn count_below(&self, x: f64) -> usize {
        let mut pivot = f64::INFINITY;
        let mut count = 0;
        for (i, d) in self.diagonal.iter().enumerate() {
            let before = if i > 0 { self.off_diagonal[i - 1] } else { 0.0 };
            pivot = (d + 0.0 - x) - (before * before).max(f64::MIN_POSITIVE) / pivot;
            count += usize::from(pivot < 0.0);
        }
        count
    }
}

/// Computes the eigenpairs with the given indices, in ascending order of the eigenvalues. Writes the unit eigenvectors
/// to `vectors`, which has n elements for each, and returns the eigenvalues. Returns `None` if the vectors would not be
/// orthogonal to within the rounding error of R; `vectors` then holds arbitrary values. For R = f64, the eigenvalues
/// are hardly ever distinct enough.
pub(super) fn eigenpairs<R: Real>(t: Tridiagonal<'_>, wanted: Range<usize>, vectors: &mut [R]) -> Option<Vec<f64>> {
    let n = t.diagonal.len();
    let system = System::new(t)?;
    let brackets = f64::in_lanes(Brackets { system: &system, wanted: wanted.clone() });
    let together = brackets.together;
    let failed = AtomicBool::new(false);
    let tasks = vectors.chunks_mut(together * n).zip(brackets.all.chunks(together));
    let pairs: Vec<Vec<Pair>> = parallel::map(tasks, |i, (vectors, brackets)| {
        if failed.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let pairs = f64::in_lanes(Solve { system: &system, first: wanted.start + i * together, brackets, vectors });
        if pairs.is_none() {
            failed.store(true, Ordering::Relaxed);
        }
        pairs.unwrap_or_default()
    });
    if failed.into_inner() {
        return None;
    }
    let pairs: Vec<Pair> = pairs.into_iter().flatten().collect();
    orthogonalize(&pairs, &system, vectors)?;
    Some(pairs.into_iter().map(|pair| pair.value).collect())
}

/// The matrix as the recurrences need it.
struct System<'a> {
    diagonal: &'a [f64],
    off_diagonal: &'a [f64],
    /// The squares of the off-diagonal elements, or the smallest normal number where a square would be less, so that
    /// the recurrences never compute 0 / 0.
    squares: Vec<f64>,
    /// An interval that contains all eigenvalues (Gershgorin).
    bounds: [f64; 2],
    norm: f64,
}

impl<'a> System<'a> {
    /// Returns `None` if the matrix is empty or 0, or if it contains a NaN or an infinity.
    fn new(t: Tridiagonal<'a>) -> Option<Self> {
        let Tridiagonal { diagonal, off_diagonal } = t;
        let off_diagonal = &off_diagonal[..diagonal.len().checked_sub(1)?];
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (i, d) in diagonal.iter().enumerate() {
            let radius = t.radius(i);
            (low, high) = (low.min(d - radius), high.max(d + radius));
        }
        let norm = t.norm();
        let margin = 4.0 * f64::EPSILON * norm;
        let squares = off_diagonal.iter().map(|e| (e * e).max(f64::MIN_POSITIVE)).collect();
        let bounds = [low - margin, high + margin];
        let finite = diagonal.iter().chain(off_diagonal).all(|x| x.is_finite()) && norm.is_finite();
        (finite && norm > 0.0).then_some(Self { diagonal, off_diagonal, squares, bounds, norm })
    }
}

/// Makes the vectors of close eigenvalues orthogonal (modified Gram-Schmidt). Returns `None` if the vectors are too
/// close to linearly dependent, or if too many eigenvalues are close together.
fn orthogonalize<R: Real>(pairs: &[Pair], t: &System<'_>, vectors: &mut [R]) -> Option<()> {
    let n = t.diagonal.len();
    // The largest possible inner product of the vectors of two adjacent eigenvalues.
    let product = |j: usize| {
        let (a, b) = (pairs[j], pairs[j + 1]);
        let residuals = a.residual + b.residual + 2.0 * f64::EPSILON * t.norm;
        let distance = b.value - a.value;
        if distance > 0.0 { residuals / distance } else { f64::INFINITY }
    };
    let mut first = 0;
    for j in 0..pairs.len() {
        let close = j + 1 < pairs.len() && product(j) > 0.25 * R::EPSILON;
        if close {
            if product(j) > REMOVABLE {
                return None;
            }
            continue;
        }
        if j + 1 - first > TOGETHER {
            return None;
        }
        for k in first + 1..=j {
            let (before, own) = vectors[first * n..(k + 1) * n].split_at_mut((k - first) * n);
            for before in before.chunks_exact(n) {
                subtract(own, before, sum(before, own, |a, b| a * b));
            }
            let length = sum(own, own, |a, b| a * b).sqrt();
            own.iter_mut().for_each(|x| *x = R::from_f64(x.to_f64() / length));
        }
        first = j + 1;
    }
    Some(())
}

/// Subtracts `by` times `x` from `from`.
fn subtract<R: Real>(from: &mut [R], x: &[R], by: f64) {
    from.iter_mut().zip(x).for_each(|(y, x)| *y = R::from_f64(by.fused(-x.to_f64(), y.to_f64())));
}
