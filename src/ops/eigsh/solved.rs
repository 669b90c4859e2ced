//! What is wanted of a problem and what comes back of it, whichever method and side found it.

use super::chebyshev::{Found, Goal};
use super::options::EigshMethod;
use super::space::Space;
use crate::array::Real;
use crate::error::Result;
use crate::ops::eigen::Which;
use crate::ops::sparse::{Bounds, Operator};

/// Pairs closer than this, relative to the spectrum, are one tie group of an encoding (`encode::pairs`).
pub(super) const RESOLUTION: f64 = 16.0 * f32::EPSILON as f64;
/// The same of pairs that are known to 1e-10: a hundred times that.
pub(super) const FINE: f64 = 1e-8;

/// What is wanted of a problem, beside the null space that is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) count: usize,
    /// As many as any problem of the call may want: what the width of a device's blocks follows from, whoever shares them.
    pub(crate) most: usize,
    pub(crate) which: Which,
    /// Also the rest of the last tie group, as far as the block holds it.
    pub(crate) whole_groups: bool,
}

/// Pairs of one problem beside its known null space, from the wanted end inward: at least as many as were wanted.
#[derive(Clone, Debug)]
pub(crate) struct Solved {
    pub(crate) values: Vec<f64>,
    /// Column-major.
    pub(crate) vectors: Vec<f64>,
    /// `|A v - l v|_2` of each, as the iteration saw it.
    pub(crate) residuals: Vec<f64>,
    /// Values closer than this cannot be told apart.
    pub(crate) resolution: f64,
    /// The working precision's spacing at 1.
    pub(crate) epsilon: f64,
    pub(crate) method: EigshMethod,
    pub(crate) products: usize,
    pub(crate) looks: usize,
}

pub(super) fn goal<T: Real>(a: &Operator<'_, T>, wanted: Wanted, tolerance: f64) -> Goal {
    goal_of(a.bounds(0), wanted, tolerance)
}

/// How far apart values with such residuals have to be to be told apart: their residuals' sum, twice over. A tie group is
/// recombined, and its spread becomes its vectors' residual: in graphs with hubs 16 eps |L| is more than the values themselves.
fn resolution(residuals: &[f64], bounds: Bounds) -> f64 {
    let worst = residuals.iter().copied().fold(0.0, f64::max);
    (4.0 * worst).clamp(FINE * spread(bounds), RESOLUTION * spread(bounds))
}

/// The largest magnitude that an eigenvalue can have.
pub(super) fn spread(bounds: Bounds) -> f64 {
    bounds.upper.abs().max(bounds.lower.abs())
}

pub(super) fn goal_of(bounds: Bounds, wanted: Wanted, tolerance: f64) -> Goal {
    let resolution = if wanted.whole_groups { RESOLUTION * spread(bounds) } else { 0.0 };
    Goal { wanted: wanted.count, bounds, tolerance: tolerance * bounds.norm, resolution }
}

/// Brings the wanted columns home.
pub(super) fn collect<S: Space>(
    space: &mut S,
    problem: usize,
    wanted: Wanted,
    found: &Found,
    before: &Found,
    (bounds, epsilon): (Bounds, f64),
    method: EigshMethod,
) -> Result<Solved> {
    let count = found.converged.max(wanted.count);
    Ok(Solved {
        values: found.values[..count].to_vec(),
        vectors: space.read(problem, 0..count)?,
        residuals: found.residuals[..count].to_vec(),
        resolution: resolution(&found.residuals[..count], bounds),
        epsilon,
        method,
        products: found.products + before.products,
        looks: found.looks + before.looks,
    })
}
