//! Chebyshev-filtered subspace iteration (Zhou, Saad, Tiago and Chelikowsky 2006): multiplies a block by a
//! polynomial in A that is small on the unwanted part of the spectrum, rotates it to its Ritz vectors, and
//! repeats this until the wanted pairs have small residuals.
//!
//! A step of the polynomial is one product with the whole block, which uses memory bandwidth best; nothing is
//! decided or orthogonalized between the steps.

use super::ritz::{Ritz, rayleigh_ritz};
use super::solved::spread;
use super::space::{Filter, FilterPlan, Grams, Space};
use crate::context::Context;
use crate::error::Result;
use crate::ops::eigen::Which;
use crate::ops::sparse::Bounds;
use crate::ops::ties::tied;
use std::fmt;

/// Returns the largest growth of the wanted end relative to the rest of the block in one filter. Columns of a
/// block that differ by more consist of each other's rounding errors in f32 (6e-8); a tenth of what that allows
/// is left for the first blocks, which are random. If X'X is summed in f32, the square of the growth is the
/// largest condition that such sums resolve.
fn growth<S: Space>() -> f64 {
    S::GRAM_EPSILON.sqrt().recip().min(1e5)
}
/// The growth of rounding errors along the known null space, relative to the wanted end, before they are
/// projected out: 6e-5 of a column in f32.
const NULL_GROWTH: f64 = 1e3;
/// The most steps of one polynomial: a filter's rounding errors grow with their number, and the bounds improve
/// with every restart.
const MOST_STEPS: usize = 400;
/// The fewest steps of one polynomial: a restart costs about as much as four products.
const FEWEST_STEPS: usize = 8;
/// The restarts without a smaller residual before an iteration gives up, because rounding prevents progress.
const PATIENCE: usize = 4;
/// The restarts after which a block is still random: its predictions are not used.
const RANDOM: usize = 2;
/// If a residual exceeds this share of its value, the value has not settled.
const SETTLED: f64 = 0.1;
/// The factor on the steps that are needed in that case (communities of 100,000 nodes: 850 and 1,050, predicted
/// were 255 and 341, 2026-11-23).
const COMING: f64 = 2.5;
/// The restarts that a block may take to find the wanted end at all.
const EARLY: usize = 12;
/// The largest residual, as a share of the value's distance from the next one, if pairs must be separated.
const APART: f64 = 1e-4;
/// The largest error of a small value's Rayleigh quotient, as a share of the value: the digits of f32.
const QUOTIENT: f64 = 1e-7;
/// The same as [`APART`], for pairs that count as separated: vectors are within this angle of the eigenvectors.
const TOLD: f64 = 1e-2;
/// The residual, relative to the norm, that rounding in f64 leaves, and a little more: no target is below it.
const FLOOR: f64 = 2e-13;
/// If the condition of X'X times the error of its sums exceeds this, the block is not orthonormal enough and the
/// Rayleigh-Ritz step is repeated.
const ORTHONORMAL: f64 = 1e-8;

/// What is wanted of one problem.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    /// The number of pairs, in addition to the known null space.
    pub(super) wanted: usize,
    /// Bounds on the spectrum.
    pub(super) bounds: Bounds,
    /// The largest `|A v - l v|_2` of a converged pair.
    pub(super) tolerance: f64,
    /// Pairs closer than this belong together: the iteration continues until it has the whole last group, if the
    /// block holds it.
    pub(super) resolution: f64,
    /// Whether each vector must be near its own eigenvector, in addition to having a small residual: see
    /// [`State::aim`].
    pub(super) separate: bool,
}

/// The limits of an iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) which: Which,
    /// The most products with A of a column.
    pub(super) most_products: usize,
}

/// The result for one problem, its pairs from the wanted end inward.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// The Ritz values, one for each column of the block.
    pub(super) values: Vec<f64>,
    /// `|A v - l v|_2` of each pair.
    pub(super) residuals: Vec<f64>,
    /// How many of the wanted pairs, counted from the first, are within the tolerance.
    pub(super) converged: usize,
    /// Whether the wanted pairs are separated; if that was required, to [`TOLD`].
    pub(super) apart: bool,
    /// The number of products with A of each unfinished column.
    pub(super) products: usize,
    /// The number of Rayleigh-Ritz steps.
    pub(super) restarts: usize,
    /// Whether the iteration was abandoned because another method is faster.
    pub(super) left: bool,
}

/// Decides whether an iteration continues, given the products that it has done and those that it still expects to
/// do.
pub(super) type GoesOn<'a> = &'a dyn Fn(usize, f64) -> bool;

/// Iterates from the space's X until every problem has its target, makes no more progress, or is abandoned.
///
/// # Errors
/// Those of the space.
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

/// Makes Rayleigh-Ritz steps until the blocks are orthonormal, at most three.
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
    /// The smallest sum of residuals of the missing pairs, and the number of restarts since.
    best: f64,
    since: usize,
    /// Whether the block is known to end among values that are close, not within a multiple value: see
    /// [`State::is_multiple`].
    close: bool,
    /// For a filter that assumed a multiple value: the worst residual before it, and the logarithm of the factor
    /// by which it was expected to reduce that.
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

    /// Returns how many pairs are wanted, including the rest of the last group as far as the block can provide
    /// it.
    fn wanted(&self) -> usize {
        let values = &self.found.values;
        let most = (values.len() - values.len() / 4).max(self.target.wanted).min(values.len());
        let tied = |i: &usize| (values[*i] - values[i - 1]).abs() <= self.target.resolution;
        let rest = (self.target.wanted..most).take_while(tied).count();
        (self.target.wanted + rest).min(values.len())
    }

    /// Returns the target for the residual of a pair: the tolerance or, if smaller, a thousandth of the last
    /// wanted value, but at least a tenth of the tolerance. The small values of a graph with hubs are negligible
    /// relative to |A|, but they are the wanted ones.
    ///
    /// If pairs must be separated, the target is also at most [`APART`] of the distance from the next value that
    /// is not tied: the angle between a vector and its eigenvector is at most the residual over that distance
    /// (Davis and Kahan 1970). For small values the Rayleigh quotient, whose error is the residual's square over
    /// the distance, must be accurate too.
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

    /// Returns whether the wanted pairs are separated, which allows a hundred times the target residual: the
    /// target is at the last digits of f32.
    fn is_apart(&self) -> bool {
        let Target { wanted, bounds, separate, .. } = self.target;
        if !separate || wanted == 0 {
            return self.found.converged >= wanted;
        }
        let allowed = |i: usize| (TOLD * self.distance(i)).max(10.0 * FLOOR * bounds.norm);
        (0..wanted).all(|i| self.found.residuals[i] <= allowed(i))
    }

    /// Returns the distance to the nearest value that is not tied with this one.
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
        // Only missing pairs count: the residuals of pairs at the rounding floor fluctuate.
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

    /// Returns whether the block seems to end within a value whose multiplicity exceeds the columns that are
    /// left. Many close values look the same; a filter for a multiple value does next to nothing there, which
    /// shows that they are close (preferential attachment, communities of 100,000 nodes: given up after 19 and 15
    /// restarts before, converged after 7 and 8, 2026-11-23).
    fn is_multiple(&self) -> bool {
        let values = &self.found.values;
        !self.close && (values[values.len() - 1] - values[self.wanted() - 1]).abs() < 0.01 * self.scale()
    }

    /// Returns the scale of distances at the wanted end: the largest of the spread of the block's values, a
    /// twentieth of their distance from the end of the spectrum, and 0.4 % of the spectrum's width.
    fn scale(&self) -> f64 {
        let Bounds { lower, upper, .. } = self.target.bounds;
        let (first, last) =
            (self.sign() * self.found.values[0], self.sign() * self.found.values[self.found.values.len() - 1]);
        (last - first).max(0.05 * (last - self.bound())).max(4e-3 * (upper - lower).max(f64::MIN_POSITIVE))
    }

    /// Returns 1 if the smallest values are wanted, otherwise -1: values times this ascend from the wanted end.
    fn sign(&self) -> f64 {
        match self.which {
            Which::Smallest => 1.0,
            Which::Largest => -1.0,
        }
    }

    /// Returns the filter for the interval of unwanted values, as far as the block shows it: it begins at the
    /// value of the block's last column, which gains nothing from a filter. Values of a block that is still
    /// converging are too far inward, by about the square of the residual over the spectrum's width (Temple
    /// 1928): the interval begins that much further out, but never beyond the wanted values.
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
        // A cut well beyond the multiple value within which the block ends.
        let beyond =
            if self.is_multiple() { sign * values[values.len() - 1] + 0.25 * self.scale() } else { f64::NEG_INFINITY };
        let least = beyond.max(first + 1e-10 * width);
        // If the rest of the spectrum is one value at its far end, the interval is that value and its rounding
        // errors: one step must not raise the wanted end by more than columns can differ.
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

    /// Returns how far out the spectrum may reach, with the sign of [`State::sign`]: to its bound if the block is
    /// random, otherwise as far as the first residual allows.
    fn outermost(&self) -> f64 {
        let bound = self.bound();
        let first = match self.which {
            Which::Smallest => self.found.values[0],
            Which::Largest => -self.found.values[0],
        };
        if self.found.restarts < 2 { bound } else { bound.max(first - self.found.residuals[0]) }
    }

    /// Returns the logarithm of the factor by which a step of the polynomial raises a value over the interval.
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

    /// Returns the number of steps until the worst wanted residual should be small enough. The estimate is too
    /// small at first: values of a block that is still converging are farther apart than those of the matrix.
    fn to_go(&self) -> f64 {
        let Found { values, residuals, converged, .. } = &self.found;
        (*converged..self.wanted())
            .map(|i| (residuals[i] / (0.3 * self.aim(i))).max(1.0).ln() / self.rate(values[i]).max(1e-9))
            .fold(0.0, f64::max)
    }

    /// Estimates all steps that are left: [`State::to_go`], or more while values still move, because they move
    /// closer together.
    fn foreseen(&self) -> f64 {
        let last = self.wanted() - 1;
        let settled = self.found.residuals[last] < SETTLED * self.found.values[last].abs();
        self.to_go() * if settled { 1.0 } else { COMING }
    }

    /// Returns how many of these steps one filter makes.
    fn next_steps(&self) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a small range")]
        let steps = self.to_go().clamp(FEWEST_STEPS as f64, MOST_STEPS as f64) as usize;
        steps.min(self.allowed_steps())
    }

    /// Returns the number of steps after which rounding has added as much of the null space (at 0) to the block
    /// as is acceptable.
    fn deflate_every(&self) -> usize {
        let growth = self.rate(0.0) - self.rate(self.found.values[0]);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a small range")]
        let steps = (NULL_GROWTH.ln() / growth.max(1e-9)).clamp(2.0, MOST_STEPS as f64) as usize;
        steps
    }

    /// Returns the number of steps that keep the block's columns distinct from each other's rounding errors.
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
