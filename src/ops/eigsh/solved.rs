//! The request for the pairs of one problem, and the result of a solver. All methods and both sides use them.

use super::chebyshev::{Found, Target};
use super::options::EigshMethod;
use super::space::Space;
use crate::array::Real;
use crate::error::Result;
use crate::ops::eigen::Which;
use crate::ops::sparse::{Bounds, Operator};
use crate::ops::ties::TIE;

/// The distance, relative to [`spread`], below which an iteration in f32 cannot distinguish two values, because
/// their computed distance is wrong by up to 4 eps.
const RESOLUTION: f64 = 16.0 * f32::EPSILON as f64;
/// The distance, relative to [`spread`], below which two values may be tied (`ops::ties`). It is the distance that
/// [`TIE`] allows at the large end of the spectrum.
pub(super) const FINE: f64 = 2.0 * TIE;

/// The pairs that are wanted of a problem, in addition to its known null space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) count: usize,
    /// The largest `count` of any problem of the call. It determines the width of the blocks on the device, so that
    /// the width does not depend on which problems of the call are solved together.
    pub(crate) most: usize,
    pub(crate) which: Which,
    /// Whether pairs are separated as far as the precision allows, which means that the residual of each pair is
    /// small relative to the distance from its value to the nearest other value. All pairs that are tied with the
    /// last wanted one are then found too, if the block has room for them.
    pub(crate) separate: bool,
}

/// The pairs of one problem without its known null space, ordered from the wanted end of the spectrum. There are
/// at least as many pairs as were wanted.
#[derive(Clone, Debug)]
pub(crate) struct Solved {
    pub(crate) values: Vec<f64>,
    /// The eigenvectors, column-major.
    pub(crate) vectors: Vec<f64>,
    /// `|A v - l v|_2` of each pair, as the iteration measured it.
    pub(crate) residuals: Vec<f64>,
    /// Whether every wanted pair is separated from the others. If not, the vectors of close values may be mixed,
    /// or a pair may be missing even though all residuals are small.
    pub(crate) reached: bool,
    /// An approximation of the value that follows the last one found, if it is known.
    pub(crate) next: Option<f64>,
    pub(crate) method: EigshMethod,
    pub(crate) products: usize,
    pub(crate) restarts: usize,
}

pub(super) fn target<T: Real>(a: &Operator<'_, T>, wanted: Wanted, tolerance: f64) -> Target {
    goal_of::<T>(a.bounds(0), wanted, tolerance)
}

/// Returns the largest magnitude that an eigenvalue can have.
pub(super) fn spread(bounds: Bounds) -> f64 {
    bounds.upper.abs().max(bounds.lower.abs())
}

/// Returns the target of an iteration. The tolerance is relative to the norm. A tenth of the tolerance is left for
/// the rounding errors of the result.
pub(super) fn goal_of<T: Real>(bounds: Bounds, wanted: Wanted, tolerance: f64) -> Target {
    let in_f32 = T::EPSILON > 1e-10;
    let resolution = if wanted.separate { spread(bounds) * if in_f32 { RESOLUTION } else { FINE } } else { 0.0 };
    let separate = wanted.separate && !in_f32;
    Target { wanted: wanted.count, bounds, tolerance: 0.9 * tolerance * bounds.norm, resolution, separate }
}

/// Reads the wanted columns back to the host.
pub(super) fn collect<S: Space>(
    space: &mut S,
    problem: usize,
    wanted: Wanted,
    found: &Found,
    before: &Found,
    method: EigshMethod,
) -> Result<Solved> {
    let count = found.converged.max(wanted.count);
    Ok(Solved {
        values: found.values[..count].to_vec(),
        vectors: space.read(problem, 0..count)?,
        residuals: found.residuals[..count].to_vec(),
        reached: found.apart,
        next: found.values.get(count).copied(),
        method,
        products: found.products + before.products,
        restarts: found.restarts + before.restarts,
    })
}
