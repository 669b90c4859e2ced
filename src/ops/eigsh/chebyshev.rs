//! Chebyshev-filtered subspace iteration (Zhou, Saad, Tiago and Chelikowsky 2006). It multiplies a block by a
//! polynomial in A that is small on the unwanted part of the spectrum, rotates the block to its Ritz vectors, and
//! repeats this until the wanted pairs have small residuals.
//!
//! A step of the polynomial is one product with the whole block, which makes the best use of memory bandwidth.
//! Between the steps nothing is decided or orthogonalized.

use super::ritz::{Ritz, rayleigh_ritz};
use super::solved::spread;
use super::space::{Filter, FilterPlan, Grams, Space};
use crate::context::Context;
use crate::error::Result;
use crate::ops::eigen::Which;
use crate::ops::sparse::Bounds;
use crate::ops::ties::tied;
use std::fmt;

/// Returns the maximum factor by which one filter may amplify the wanted end of the spectrum relative to the rest
/// of the block. Two limits apply. First, rounding errors, which are 6e-8 of a column in f32, must not cover the
/// components that are amplified least; the limit 1e5 leaves a margin for the random first blocks. Second, the
/// condition number of X'X may reach the square of the factor, and the sums in X'X resolve condition numbers only up
/// to 1 / `GRAM_EPSILON`. For sums in f32, this second limit is the lower one.
fn growth<S: Space>() -> f64 {
    S::GRAM_EPSILON.sqrt().recip().min(1e5)
}
/// The maximum factor by which rounding errors along the known null space may grow, relative to the wanted
/// eigenvectors, before they are projected out. In f32, they have then grown to 6e-5 of a column.
const NULL_GROWTH: f64 = 1e3;
/// The maximum number of steps in one polynomial. It is limited because the rounding errors of a filter grow with
/// the number of steps, and because every restart improves the bounds of the interval that the polynomial damps.
const MOST_STEPS: usize = 400;
/// The minimum number of steps in one polynomial. Fewer steps are not worthwhile, because a restart costs about as
/// much as four products.
const FEWEST_STEPS: usize = 8;
/// An iteration gives up if the sum of its residuals has not become clearly smaller for more than this number of
/// restarts. Rounding errors then prevent progress.
const PATIENCE: usize = 4;
/// The number of restarts during which a block still counts as random, so that no predictions are made from it.
const RANDOM: usize = 2;
/// A Ritz value counts as settled if its residual is less than this share of its magnitude.
const SETTLED: f64 = 0.1;
/// The factor by which the predicted number of steps is multiplied while the last wanted value has not settled:
/// predictions are too low until then. On two graphs with communities, of 100,000 nodes each, 255 and 341 steps were
/// predicted, and 850 and 1,050 were needed (2026-11-23).
const COMING: f64 = 2.5;
/// The number of restarts that a block may need to find the wanted end of the spectrum at all. [`PATIENCE`] applies
/// only after that many restarts.
const EARLY: usize = 12;
/// If pairs must be separated, the target for the residual of a pair is at most this share of the distance from its
/// value to the nearest other value.
const APART: f64 = 1e-4;
/// If pairs must be separated, the maximum error of the Rayleigh quotient of a small eigenvalue, as a share of the
/// eigenvalue: about the precision of f32.
const QUOTIENT: f64 = 1e-7;
/// A pair counts as separated if its residual is at most this share of the distance from its value to the nearest
/// other value. The angle between its vector and the eigenvector is then at most this many radians.
const TOLD: f64 = 1e-2;
/// If pairs must be separated, the minimum target for a residual, relative to the norm of A. It is slightly larger
/// than the residual that rounding in f64 leaves.
const FLOOR: f64 = 2e-13;
/// The limit on the product of the condition number of X'X and the relative error of its sums. If the product is
/// larger, the block is not orthonormal enough, and the Rayleigh-Ritz step is repeated. If the sums are so inaccurate
/// that ten times their relative error exceeds this constant, ten times the error is the limit instead.
const ORTHONORMAL: f64 = 1e-8;

/// The pairs that are wanted of one problem.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    /// The number of pairs, in addition to the known null space.
    pub(super) wanted: usize,
    /// Bounds on the spectrum.
    pub(super) bounds: Bounds,
    /// The largest `|A v - l v|_2` of a converged pair.
    pub(super) tolerance: f64,
    /// The distance below which two values belong to one group. The iteration continues until it has found the
    /// whole group of the last wanted value, if the block has room for that group.
    pub(super) resolution: f64,
    /// Whether each vector must be near its eigenvector, in addition to having a small residual; see
    /// [`State::aim`].
    pub(super) separate: bool,
}

/// The limits of an iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) which: Which,
    /// The maximum number of products of A with a column.
    pub(super) most_products: usize,
}

/// The result for one problem. Its pairs are ordered from the wanted end of the spectrum.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// The Ritz values, one for each column of the block.
    pub(super) values: Vec<f64>,
    /// `|A v - l v|_2` of each pair.
    pub(super) residuals: Vec<f64>,
    /// The number of wanted pairs, counted from the first, whose residuals have reached their targets; see
    /// [`State::aim`].
    pub(super) converged: usize,
    /// Whether the wanted pairs are separated, as [`TOLD`] defines it. If separation was not required, this is
    /// whether the wanted pairs have converged.
    pub(super) apart: bool,
    /// The number of products of A with each column that has not converged.
    pub(super) products: usize,
    /// The number of Rayleigh-Ritz steps.
    pub(super) restarts: usize,
    /// Whether the iteration was abandoned because another method is faster.
    pub(super) left: bool,
}

/// A function that decides whether an iteration continues. Its arguments are the number of products that the
/// iteration has done, and the number that it is still expected to do.
pub(super) type GoesOn<'a> = &'a dyn Fn(usize, f64) -> bool;

/// Iterates, starting from the X of the space, until each problem has reached its target, makes no more progress,
/// or is abandoned.
///
/// # Errors
/// The errors of the space.
pub(super) fn iterate<S: Space>(
    ctx: &Context,
    space: &mut S,
    targets: &[Target],
    limits: Limits,
    goes_on: GoesOn<'_>,
) -> Result<Vec<Found>> {
    let mut states: Vec<State> = targets.iter().map(|&target| State::new(target, limits, growth::<S>())).collect();
    loop {
        restart(ctx, space, &mut states, limits)?;
        states.iter_mut().for_each(|state| state.judge(goes_on));
        let plans: Vec<_> = states.iter().map(|state| (!state.done).then(|| state.plan())).collect();
        let Some(longest) = plans.iter().flatten().map(|plan| plan.steps.len()).max() else { break };
        log::debug!("{} problems at work, {longest} steps", plans.iter().flatten().count());
        space.filter(&plans)?;
        for (state, plan) in states.iter_mut().zip(plans) {
            state.found.products += plan.map_or(0, |plan| plan.steps.len());
        }
    }
    Ok(states.into_iter().map(|state| Found { apart: state.is_apart(), ..state.found }).collect())
}

/// Makes up to three Rayleigh-Ritz steps, until the blocks are orthonormal.
fn restart<S: Space>(ctx: &Context, space: &mut S, states: &mut [State], limits: Limits) -> Result<()> {
    let mut due: Vec<bool> = states.iter().map(|state| !state.done).collect();
    for _ in 0..3 {
        let grams = space.grams()?.into_iter().zip(&due);
        let grams: Vec<Grams> = grams.filter(|(_, due)| **due).map(|(grams, _)| grams).collect();
        let mut ritz = rayleigh_ritz(ctx, &grams, limits.which, S::GRAM_EPSILON, S::SIDE_BY_SIDE)?.into_iter();
        let enough = ORTHONORMAL.max(10.0 * S::GRAM_EPSILON);
        let turn = |due: &mut bool| {
            let Ritz { rotation, condition } = if *due { ritz.next()? } else { return None };
            *due = condition.max(1.0) * S::GRAM_EPSILON > enough;
            Some(rotation)
        };
        let rotations: Vec<_> = due.iter_mut().map(turn).collect();
        let residuals = space.rotate(&rotations)?;
        for ((state, rotation), residuals) in states.iter_mut().zip(rotations).zip(residuals) {
            if let Some(rotation) = rotation {
                (state.found.values, state.found.residuals) = (rotation.values, residuals);
                state.found.restarts += 1;
                state.found.products += 1;
            }
        }
        if due.iter().all(|due| !due) {
            break;
        }
    }
    Ok(())
}

/// The state of one problem.
#[derive(Debug)]
struct State {
    target: Target,
    which: Which,
    most_products: usize,
    /// The result of [`growth`].
    growth: f64,
    found: Found,
    /// The sum of the residuals of the wanted pairs that have not converged. It is updated only when the new sum is
    /// more than 30 % smaller than the old one.
    best: f64,
    /// The number of restarts since the last update of `best`.
    since: usize,
    /// Whether the last values of the block are known to be close but distinct, rather than copies of one multiple
    /// value: see [`State::is_multiple`].
    close: bool,
    /// Set after a filter that assumed a multiple value: the worst residual before the filter, and the logarithm
    /// of the factor by which the filter was expected to reduce that residual.
    promised: Option<(f64, f64)>,
    done: bool,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Found { values, residuals, converged, restarts, .. } = &self.found;
        let (last, wanted) = (values.len() - 1, self.wanted() - 1);
        write!(
            f,
            "restart {restarts}: {converged} converged; first {:.4e} ({:.1e}), last wanted {:.4e} ({:.1e}), last {:.4e} ({:.1e}); aim {:.1e}",
            values[0],
            residuals[0],
            values[wanted],
            residuals[wanted],
            values[last],
            residuals[last],
            self.aim(wanted)
        )
    }
}

impl State {
    fn new(target: Target, limits: Limits, growth: f64) -> Self {
        let Limits { which, most_products } = limits;
        let done = target.wanted == 0;
        let (found, best) = (Found::default(), f64::INFINITY);
        Self { target, which, most_products, growth, found, best, since: 0, close: false, promised: None, done }
    }

    /// Returns how many pairs are wanted, including all pairs that belong to the group of the last wanted value, if
    /// the block has room for them.
    fn wanted(&self) -> usize {
        let values = &self.found.values;
        let most = (values.len() - values.len() / 4).max(self.target.wanted).min(values.len());
        let tied = |i: &usize| (values[*i] - values[i - 1]).abs() <= self.target.resolution;
        let rest = (self.target.wanted..most).take_while(tied).count();
        (self.target.wanted + rest).min(values.len())
    }

    /// Returns the target for the residual of a pair: the smaller of the tolerance and a thousandth of the last
    /// wanted value, but at least a tenth of the tolerance. The last wanted value matters for graphs with hubs. The
    /// wanted values of such a graph are negligible relative to |A|.
    ///
    /// If pairs must be separated, the target is also at most [`APART`] times the distance from the value of the
    /// pair to the nearest value that is not tied with it. This is because the angle between a vector and its
    /// eigenvector is at most the residual divided by that distance (Davis and Kahan 1970). If the smallest values
    /// are wanted, the Rayleigh quotients must be accurate too. The error of a Rayleigh quotient is the square of
    /// the residual divided by the same distance.
    fn aim(&self, pair: usize) -> f64 {
        let Target { tolerance, bounds, separate, .. } = self.target;
        let values = &self.found.values;
        let last = values[self.target.wanted - 1].abs();
        let aim = tolerance.min((1e-3 * last).max(0.1 * tolerance));
        if !separate {
            return aim;
        }
        let distance = self.distance(pair);
        let quotient =
            if self.which == Which::Smallest { (QUOTIENT * values[pair].abs() * distance).sqrt() } else { aim };
        aim.min((APART * distance).min(quotient).max(FLOOR * bounds.norm))
    }

    /// Returns whether the wanted pairs are separated. The allowed residual is given by [`TOLD`], a hundred times
    /// [`APART`]. The target is stricter than separation requires, because it aims at the precision of f32.
    fn is_apart(&self) -> bool {
        let Target { wanted, bounds, separate, .. } = self.target;
        if !separate || wanted == 0 {
            return self.found.converged >= wanted;
        }
        let allowed = |i: usize| (TOLD * self.distance(i)).max(10.0 * FLOOR * bounds.norm);
        (0..wanted).all(|i| self.found.residuals[i] <= allowed(i))
    }

    /// Returns the distance from the value of a pair to the nearest value that is not tied with it.
    fn distance(&self, pair: usize) -> f64 {
        let values = &self.found.values;
        let bound = spread(self.target.bounds);
        let same = |i: &usize| tied(values[*i], values[i + 1], bound);
        let before = (0..pair).rev().find(|i| !same(i)).map(|i| (values[i + 1] - values[i]).abs());
        let after = (pair..values.len() - 1).find(|i| !same(i)).map(|i| (values[i + 1] - values[i]).abs());
        before.unwrap_or(f64::INFINITY).min(after.unwrap_or(f64::INFINITY))
    }

    fn judge(&mut self, goes_on: GoesOn<'_>) {
        if self.done {
            return;
        }
        let wanted = self.wanted();
        let residuals = &self.found.residuals;
        self.found.converged = (0..wanted).take_while(|&i| residuals[i] <= self.aim(i)).count();
        // Only unconverged pairs count, because the residuals of pairs at the limit of the precision fluctuate.
        let missing: f64 = residuals[self.found.converged..wanted].iter().sum();
        if missing < 0.7 * self.best {
            (self.best, self.since) = (missing, 0);
        } else {
            self.since += 1;
        }
        let given_up =
            self.since > PATIENCE && self.found.restarts > EARLY || self.found.products >= self.most_products;
        self.done = self.found.converged == wanted || given_up || !residuals.iter().all(|r| r.is_finite());
        let worst = residuals[self.found.converged..wanted].iter().copied().fold(0.0, f64::max);
        let kept = |(before, promised): (f64, f64)| (before / worst).ln() > 0.5 * promised;
        self.close |= !self.promised.is_none_or(kept);
        let known = self.found.restarts > RANDOM;
        self.found.left = known && !self.done && !goes_on(self.found.products, self.foreseen());
        self.done |= self.found.left;
        let promise = || (worst, self.rate(self.found.values[wanted - 1]) * self.next_steps() as f64);
        self.promised = (known && !self.done && self.is_multiple()).then(promise);
    }

    /// Returns whether the block seems to end among the copies of a multiple value, so that some of their vectors
    /// are missing. Values that are close but distinct look the same at first. But a filter that assumes a multiple
    /// value has almost no effect on values that are only close; then [`State::close`] is set. Measured on
    /// preferential attachment and communities of 100,000 nodes: without this test the iterations gave up after 19
    /// and 15 restarts, and with the test they converged after 7 and 8 restarts (2026-11-23).
    fn is_multiple(&self) -> bool {
        let values = &self.found.values;
        !self.close && (values[values.len() - 1] - values[self.wanted() - 1]).abs() < 0.01 * self.scale()
    }

    /// Returns the scale of distances at the wanted end: the maximum of the spread of the block's values, a
    /// twentieth of the distance from the end of the spectrum to the block's last value, and 0.4 % of the
    /// spectrum's width.
    fn scale(&self) -> f64 {
        let Bounds { lower, upper, .. } = self.target.bounds;
        let (first, last) =
            (self.sign() * self.found.values[0], self.sign() * self.found.values[self.found.values.len() - 1]);
        (last - first).max(0.05 * (last - self.bound())).max(4e-3 * (upper - lower).max(f64::MIN_POSITIVE))
    }

    /// Returns 1 if the smallest values are wanted, otherwise -1. Values multiplied by this sign ascend from the
    /// wanted end.
    fn sign(&self) -> f64 {
        match self.which {
            Which::Smallest => 1.0,
            Which::Largest => -1.0,
        }
    }

    /// Returns the filter that damps the interval of unwanted values. The interval begins at the value of the
    /// block's last column, so the filter does not amplify that column. While a block is still converging, each of
    /// its values is too far from the wanted end. The error is about the square of the residual divided by the
    /// distance from the value to the unwanted end of the spectrum (Temple 1928). So the beginning of the interval
    /// is moved toward the wanted end by four times this error. It is not moved past the last wanted value, which
    /// is corrected in the same way.
    fn filter(&self) -> Filter {
        let Bounds { lower, upper, .. } = self.target.bounds;
        let (values, residuals) = (&self.found.values, &self.found.residuals);
        let sign = self.sign();
        let end = if sign > 0.0 { upper } else { lower };
        let width = (upper - lower).max(f64::MIN_POSITIVE);
        let coming = |i: usize| {
            let room = (sign * (end - values[i])).max(1e-3 * width);
            sign * values[i] - 4.0 * residuals[i] * residuals[i] / room
        };
        let (first, wanted) = (sign * values[0], self.wanted() - 1);
        let closest =
            first + (0.1 * (sign * values[wanted] - first)).max(1e-3 * (sign * values[values.len() - 1] - first));
        // If the block ends among the copies of a multiple eigenvalue, the interval begins well beyond that eigenvalue.
        let beyond =
            if self.is_multiple() { sign * values[values.len() - 1] + 0.25 * self.scale() } else { f64::NEG_INFINITY };
        let least = beyond.max(first + 1e-10 * width);
        // The minimum width of the interval. Without it, the interval would have almost no width if all unwanted
        // eigenvalues equal the unwanted end of the spectrum up to rounding errors, and one step would amplify the
        // wanted end by more than `growth`.
        let narrowest = (4.0 / self.growth * (sign * end - first)).max(1e-10 * width);
        let cut = coming(values.len() - 1).max(coming(wanted)).max(closest).max(least).min(sign * end - narrowest);
        let damped = if sign > 0.0 { (cut, upper) } else { (lower, -cut) };
        Filter { damped, wanted: sign * self.outermost().min(cut - 1e-10 * width) }
    }

    /// Returns the bound on the spectrum at the wanted end, with the sign of [`State::sign`].
    fn bound(&self) -> f64 {
        match self.which {
            Which::Smallest => self.target.bounds.lower,
            Which::Largest => -self.target.bounds.upper,
        }
    }

    /// Returns the outermost value that the spectrum may have, with the sign of [`State::sign`]: the bound on the
    /// spectrum while the block is random, and later the first value of the block, moved outward by its residual
    /// but not beyond the bound.
    fn outermost(&self) -> f64 {
        let bound = self.bound();
        let first = match self.which {
            Which::Smallest => self.found.values[0],
            Which::Largest => -self.found.values[0],
        };
        if self.found.restarts < 2 { bound } else { bound.max(first - self.found.residuals[0]) }
    }

    /// Returns the logarithm of the factor by which one step of the polynomial amplifies `value` relative to the
    /// damped interval.
    fn rate(&self, value: f64) -> f64 {
        let (low, high) = self.filter().damped;
        let beyond = match self.which {
            Which::Smallest => low - value,
            Which::Largest => value - high,
        };
        (1.0 + 2.0 * beyond.max(0.0) / (high - low)).acosh()
    }

    /// Returns the next filter, which leaves converged pairs unchanged.
    fn plan(&self) -> FilterPlan {
        log::trace!("{self}; {} products, {:.0} to go", self.found.products, self.to_go());
        let steps = self.filter().steps(self.next_steps());
        FilterPlan { from: self.found.converged, steps, deflate_every: self.deflate_every() }
    }

    /// Returns the number of steps after which the residuals of all wanted pairs should be small enough. The
    /// estimate is too small at first, because the values of a block that is still converging are farther apart
    /// than the eigenvalues.
    fn to_go(&self) -> f64 {
        let Found { values, residuals, converged, .. } = &self.found;
        (*converged..self.wanted())
            .map(|i| (residuals[i] / (0.3 * self.aim(i))).max(1.0).ln() / self.rate(values[i]).max(1e-9))
            .fold(0.0, f64::max)
    }

    /// Estimates the number of all remaining steps. It is [`State::to_go`] once the last wanted value has settled.
    /// Before that it is larger, because the values of the block will still move closer together.
    fn foreseen(&self) -> f64 {
        let last = self.wanted() - 1;
        let settled = self.found.residuals[last] < SETTLED * self.found.values[last].abs();
        self.to_go() * if settled { 1.0 } else { COMING }
    }

    /// Returns the number of steps of the next filter.
    fn next_steps(&self) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a small range")]
        let steps = self.to_go().clamp(FEWEST_STEPS as f64, MOST_STEPS as f64) as usize;
        steps.min(self.allowed_steps())
    }

    /// Returns the number of steps after which the null vectors, whose value is 0, must be projected out of the
    /// block, because the rounding errors along them have grown by the factor [`NULL_GROWTH`].
    fn deflate_every(&self) -> usize {
        let growth = self.rate(0.0) - self.rate(self.found.values[0]);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a small range")]
        let steps = (NULL_GROWTH.ln() / growth.max(1e-9)).clamp(2.0, MOST_STEPS as f64) as usize;
        steps
    }

    /// Returns the maximum number of steps of one filter. After more steps, rounding errors could make the columns
    /// of the block indistinguishable.
    fn allowed_steps(&self) -> usize {
        let outermost = match self.which {
            Which::Smallest => self.outermost(),
            Which::Largest => -self.outermost(),
        };
        let steps = self.growth.ln() / self.rate(outermost).max(1e-9);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a small range")]
        let steps = steps.clamp(1.0, MOST_STEPS as f64) as usize;
        steps
    }
}
