//! What an iteration does with blocks of vectors, wherever they lie.

use crate::error::Result;
use nalgebra::DMatrix;
use std::ops::Range;

/// A polynomial in A that is small on an interval and grows beside it (Zhou, Saad, Tiago and Chelikowsky 2006): with e and c the
/// half-width and the centre of the interval, `C_m((A - c) / e)` over its value at `wanted`, by the three-term recurrence
///
/// ```text
/// s_1 = e / (wanted - c),  Y_1 = s_1/e (A - c) X
/// s_i = 1 / (2/s_1 - s_(i-1)),  Y_i = 2 s_i/e (A - c) Y_(i-1) - s_(i-1) s_i Y_(i-2)
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Filter {
    /// The interval that is damped.
    pub(super) damped: (f64, f64),
    /// A point outside, where the polynomial is 1: the eigenvalue that grows most.
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
    /// The steps of the polynomial of that degree.
    pub(super) fn steps(&self, degree: usize) -> Vec<Step> {
        let (low, high) = self.damped;
        let (half, centre) = ((high - low) / 2.0, f64::midpoint(low, high));
        let first = half / (self.wanted - centre);
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
            steps.push(Step { product, own: -centre * product, before });
            sigma = next;
        }
        steps
    }
}

/// What a filter does with one problem.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FilterPlan {
    /// The first column that takes part; those before it stay as they are.
    pub(super) from: usize,
    /// The recurrence.
    pub(super) steps: Vec<Step>,
    /// The known null vectors are taken out of Y and Y_before at regular intervals and at the end: rounding puts them in, and where
    /// nobody takes them out they grow faster than anything that is wanted.
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
    /// The unit roundoff of the Grams' sums: how far X'X may be from what it is.
    const GRAM_EPSILON: f64;
    /// Whether there may be several problems, none of which may see the others.
    const SIDE_BY_SIDE: bool;

    /// How many problems there are.
    fn problems(&self) -> usize;

    /// X becomes random numbers that depend upon the seed, row and column alone.
    fn randomize(&mut self, seed: u64) -> Result<()>;

    /// Every `x_j` from the plan's first column on becomes `p(A) x_j`; problems without a plan keep their X. No bit of a problem
    /// depends upon the plans of the others.
    fn filter(&mut self, plans: &[Option<FilterPlan>]) -> Result<()>;

    /// X'X and X'AX of every problem, AX kept for [`Space::rotate`].
    fn grams(&mut self) -> Result<Vec<Grams>>;

    /// X becomes X Q. Returns `|A x_j - values_j x_j|_2` and `|x_j|_2` of the new columns; [`Space::grams`] came just before. Problems
    /// without a Q keep their X, and get no norms.
    fn rotate(&mut self, rotations: &[Option<Rotation>]) -> Result<Vec<Vec<f64>>>;

    /// The columns `columns` of a problem's X, `(n, columns)` column-major, in f64 or as they are.
    fn read(&mut self, problem: usize, columns: Range<usize>) -> Result<Vec<f64>>;
}

/// How one problem's X is recombined.
#[derive(Clone, Debug)]
pub(super) struct Rotation {
    /// `(width, width)`.
    pub(super) q: DMatrix<f64>,
    /// The Ritz values of the new columns.
    pub(super) values: Vec<f64>,
}
