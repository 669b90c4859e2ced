//! The operations on blocks of vectors that an iteration needs. The CPU and the device each implement them.

use crate::error::Result;
use nalgebra::DMatrix;
use std::ops::Range;

/// A polynomial in A that is small on an interval and grows outside of the interval (Zhou, Saad, Tiago and
/// Chelikowsky 2006). The polynomial is `C_m((A - c) / e)` divided by its value at `wanted`, where `C_m` is the
/// Chebyshev polynomial of degree m, e is the half-width of the interval, and c is its center. The following
/// three-term recurrence multiplies a block X by the polynomial. It starts with `Y_0 = X` and ends with `Y_m`:
///
/// ```text
/// s_1 = e / (wanted - c),  Y_1 = s_1/e (A - c) X
/// s_i = 1 / (2/s_1 - s_(i-1)),  Y_i = 2 s_i/e (A - c) Y_(i-1) - s_(i-1) s_i Y_(i-2)
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Filter {
    /// The interval that is damped.
    pub(super) damped: (f64, f64),
    /// A point outside of the interval: the eigenvalue that the polynomial amplifies most. The polynomial is 1
    /// there.
    pub(super) wanted: f64,
}

/// One step of the recurrence: `Y <- product A Y + own Y + before Y_before`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    pub(super) product: f64,
    pub(super) own: f64,
    pub(super) before: f64,
}

impl Step {
    /// `Y <- Y`.
    pub(super) const KEEP: Self = Self { product: 0.0, own: 1.0, before: 0.0 };
}

impl Filter {
    /// Returns the steps of the polynomial of the given degree.
    pub(super) fn steps(&self, degree: usize) -> Vec<Step> {
        let (low, high) = self.damped;
        let (half, center) = ((high - low) / 2.0, f64::midpoint(low, high));
        let first = half / (self.wanted - center);
        let mut sigma = first;
        let mut steps = Vec::with_capacity(degree);
        for i in 0..degree {
            let (next, before) = if i == 0 {
                (first, 0.0)
            } else {
                let next = 1.0 / (2.0 / first - sigma);
                (next, -sigma * next)
            };
            let product = if i == 0 { next / half } else { 2.0 * next / half };
            steps.push(Step { product, own: -center * product, before });
            sigma = next;
        }
        steps
    }
}

/// The filter of one problem.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FilterPlan {
    /// The first column that is filtered. The columns before it are unchanged.
    pub(super) from: usize,
    /// The steps of the recurrence.
    pub(super) steps: Vec<Step>,
    /// The number of steps after which the known null vectors are projected out of Y and Y_before. After the last
    /// step, they are also projected out of Y. Rounding introduces components along the null vectors. Without the
    /// projections, these components would grow faster than any wanted vector.
    pub(super) deflate_every: usize,
}

/// The small matrices of a Rayleigh-Ritz step, `(width, width)`.
#[derive(Clone, Debug)]
pub(super) struct Grams {
    /// X'X.
    pub(super) xx: DMatrix<f64>,
    /// X'AX.
    pub(super) xax: DMatrix<f64>,
}

/// A block X of `width` vectors for each problem of a batch. The vectors are always orthogonal to the known null
/// space.
pub(super) trait Space {
    /// The maximum relative error of the sums in [`Grams`].
    const GRAM_EPSILON: f64;
    /// Whether the space may hold several problems. They must not influence each other.
    const SIDE_BY_SIDE: bool;

    /// Returns the number of problems.
    fn problems(&self) -> usize;

    /// Fills X with random numbers that depend only on the seed, row and column.
    fn randomize(&mut self, seed: u64) -> Result<()>;

    /// Replaces each column `x_j` that the problem's plan filters by `p(A) x_j`, where p is the plan's polynomial.
    /// Problems without a plan keep their X. The bits of one problem do not depend on the plans of the others.
    fn filter(&mut self, plans: &[Option<FilterPlan>]) -> Result<()>;

    /// Computes X'X and X'AX of every problem, and keeps AX for [`Space::rotate`].
    fn grams(&mut self) -> Result<Vec<Grams>>;

    /// Replaces X by X Q. It must be called directly after [`Space::grams`]. Returns `|A x_j - values_j x_j|_2` of
    /// the new columns. Problems without a Q keep their X, and their list of residual norms is empty.
    fn rotate(&mut self, rotations: &[Option<Rotation>]) -> Result<Vec<Vec<f64>>>;

    /// Reads the columns `columns` of a problem's X as f64. The result is `(n, columns)`, column-major.
    fn read(&mut self, problem: usize, columns: Range<usize>) -> Result<Vec<f64>>;
}

/// The matrix Q by which one problem's X is multiplied, and the new Ritz values.
#[derive(Clone, Debug)]
pub(super) struct Rotation {
    /// `(width, width)`.
    pub(super) q: DMatrix<f64>,
    /// The Ritz values of the new columns.
    pub(super) values: Vec<f64>,
}
