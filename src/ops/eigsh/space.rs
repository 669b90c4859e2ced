//! The operations of an iteration on blocks of vectors, on either side.

use crate::error::Result;
use nalgebra::DMatrix;
use std::ops::Range;

/// A polynomial in A that is small on an interval and grows outside of it (Zhou, Saad, Tiago and Chelikowsky
/// 2006): with e and c the half-width and the center of the interval, `C_m((A - c) / e)` divided by its value at
/// `wanted`, by the three-term recurrence
///
/// ```text
/// s_1 = e / (wanted - c),  Y_1 = s_1/e (A - c) X
/// s_i = 1 / (2/s_1 - s_(i-1)),  Y_i = 2 s_i/e (A - c) Y_(i-1) - s_(i-1) s_i Y_(i-2)
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Filter {
    /// The interval that is damped.
    pub(super) damped: (f64, f64),
    /// A point outside of the interval, where the polynomial is 1: the eigenvalue that grows most.
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
    /// Returns the steps of the polynomial of this degree.
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
    /// The first column that takes part; those before it are unchanged.
    pub(super) from: usize,
    /// The recurrence.
    pub(super) steps: Vec<Step>,
    /// The number of steps after which the known null vectors are projected out of Y and Y_before; they are
    /// projected out of Y at the end, too. Rounding introduces them, and otherwise they would grow faster than
    /// any wanted vector.
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

/// A block X of `width` vectors for each problem of a batch, orthogonal to the known null space throughout.
pub(super) trait Space {
    /// The relative error of the Grams' sums: how far the computed X'X may be from the exact one.
    const GRAM_EPSILON: f64;
    /// Whether there may be several problems, which must not influence each other.
    const SIDE_BY_SIDE: bool;

    /// Returns the number of problems.
    fn problems(&self) -> usize;

    /// Fills X with random numbers that depend only on the seed, row and column.
    fn randomize(&mut self, seed: u64) -> Result<()>;

    /// Replaces every `x_j` from the plan's first column on by `p(A) x_j`; problems without a plan keep their X.
    /// No bit of a problem depends on the plans of the others.
    fn filter(&mut self, plans: &[Option<FilterPlan>]) -> Result<()>;

    /// Computes X'X and X'AX of every problem, and keeps AX for [`Space::rotate`].
    fn grams(&mut self) -> Result<Vec<Grams>>;

    /// Replaces X by X Q, immediately after [`Space::grams`]. Returns `|A x_j - values_j x_j|_2` of the new
    /// columns. Problems without a Q keep their X, and get no norms.
    fn rotate(&mut self, rotations: &[Option<Rotation>]) -> Result<Vec<Vec<f64>>>;

    /// Reads the columns `columns` of a problem's X, `(n, columns)` column-major, as f64.
    fn read(&mut self, problem: usize, columns: Range<usize>) -> Result<Vec<f64>>;
}

/// The recombination of one problem's X.
#[derive(Clone, Debug)]
pub(super) struct Rotation {
    /// `(width, width)`.
    pub(super) q: DMatrix<f64>,
    /// The Ritz values of the new columns.
    pub(super) values: Vec<f64>,
}
