//! What is wanted of a problem and what a solver returns, for every method and side.

use super::chebyshev::{Found, Target};
use super::options::EigshMethod;
use super::space::Space;
use crate::array::Real;
use crate::error::Result;
use crate::ops::eigen::Which;
use crate::ops::sparse::{Bounds, Operator};
use crate::ops::ties::TIE;

/// Values closer than this, relative to the spectrum, are one value to an iteration in f32: two of them are off
/// by at most 4 eps.
const RESOLUTION: f64 = 16.0 * f32::EPSILON as f64;
/// Values closer than this, relative to the spectrum, may be tied (`ops::ties`): the distance that [`TIE`] allows
/// at the spectrum's far end.
pub(super) const FINE: f64 = 2.0 * TIE;

/// What is wanted of a problem, in addition to the known null space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) count: usize,
    /// The largest count that any problem of the call may want. It determines the width of a device's blocks,
    /// whichever problems share them.
    pub(crate) most: usize,
    pub(crate) which: Which,
    /// Whether pairs are separated as far as the precision allows: the error of each vector is small relative to
    /// its value's distance from the next, and the rest of the last tie group is found too, as far as the block
    /// holds it.
    pub(crate) separate: bool,
}

/// Pairs of one problem, in addition to its known null space, from the wanted end inward: at least as many as
/// were wanted.
#[derive(Clone, Debug)]
pub(crate) struct Solved {
    pub(crate) values: Vec<f64>,
    /// Column-major.
    pub(crate) vectors: Vec<f64>,
    /// `|A v - l v|_2` of each pair, as the iteration measured it.
    pub(crate) residuals: Vec<f64>,
    /// Whether every wanted pair is separated from the others. If not, vectors of close values may be mixed, or
    /// one of them may be missing, however small their residuals are.
    pub(crate) reached: bool,
    /// An approximation of the next value inward, if known.
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

/// Returns the target of an iteration. The tolerance is relative to the norm; a tenth of it is left for the
/// rounding of the result.
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
