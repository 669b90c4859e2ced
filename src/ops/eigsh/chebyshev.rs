//! Chebyshev-filtered subspace iteration (Zhou, Saad, Tiago and Chelikowsky 2006): a block is multiplied by a polynomial in A
//! that is small where the spectrum is not wanted, then rotated to its Ritz vectors; again, until the wanted ones have small
//! residuals.
//!
//! A step of the polynomial is one product with the whole block, which is what memory is fastest at; nothing is decided and nothing
//! is orthogonalized in between.

use super::ritz::{Ritz, rayleigh_ritz};
use super::solved::spread;
use super::space::{Filter, FilterPlan, Grams, Space};
use crate::context::Context;
use crate::error::Result;
use crate::ops::eigen::Which;
use crate::ops::sparse::Bounds;
use crate::ops::ties::tied;
use std::fmt;

/// The largest growth of the wanted end over the rest of the block in one filter. Columns of a block that differ by more are
/// made of each other's rounding errors in f32 (6e-8); a tenth of what that allows is left for the first blocks, which are random.
/// Where X'X is summed in f32, its square is the condition that such sums can tell.
fn growth<S: Space>() -> f64 {
    S::GRAM_EPSILON.sqrt().recip().min(1e5)
}
/// The growth of rounding errors along the known null space, over the wanted end, before it is taken out: 6e-5 of a column in f32.
const NULL_GROWTH: f64 = 1e3;
/// The most steps of one polynomial: a filter's rounding errors grow with their number, and the bounds get better with every look.
const MOST_STEPS: usize = 400;
/// The fewest: a look costs about as much as four products.
const FEWEST_STEPS: usize = 8;
/// Looks without a smaller residual before an iteration gives up: rounding has the better of it.
const PATIENCE: usize = 4;
/// Looks after which a block is still random: what it foresees is not to be believed.
const RANDOM: usize = 2;
/// A residual beyond this share of its value says that the value is still on its way.
const SETTLED: f64 = 0.1;
/// Then this many times the steps are needed (communities of 100,000 nodes: 850 and 1,050, foreseen were 255 and 341, 2026-11-23).
const COMING: f64 = 2.5;
/// Looks that a block may take to find the wanted end at all.
const EARLY: usize = 12;
/// The share of a value's distance from the next that its residual may be, where pairs are to be told apart.
const APART: f64 = 1e-4;
/// The share of a small value that its Rayleigh quotient may be off by: f32's digits.
const QUOTIENT: f64 = 1e-7;
/// The same as [`APART`] for pairs that count as told apart: vectors are within this angle of their own.
const TOLD: f64 = 1e-2;
/// Residuals over the norm that rounding in f64 leaves, and a little more: nothing is brought below.
const FLOOR: f64 = 2e-13;
/// X'X beyond this condition, times the error of its sums, has left the block not orthonormal enough: it is looked at once more.
const ORTHONORMAL: f64 = 1e-8;

/// What is wanted of one problem.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    /// Pairs, beside the known null space.
    pub(super) wanted: usize,
    /// Where the spectrum lies.
    pub(super) bounds: Bounds,
    /// The largest `|A v - l v|_2` that counts as converged.
    pub(super) tolerance: f64,
    /// Pairs closer than this belong together: the iteration goes on until it has the whole of the last group, if the block holds it.
    pub(super) resolution: f64,
    /// Whether each vector is to be near its own eigenvector, not just small in its residual: see [`State::aim`].
    pub(super) separate: bool,
}

/// How an iteration goes about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) which: Which,
    /// The most products with A of a column.
    pub(super) most_products: usize,
}

/// What became of one problem, its pairs from the wanted end inward.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// Ritz values, as many as the block has columns.
    pub(super) values: Vec<f64>,
    /// `|A v - l v|_2` of each.
    pub(super) residuals: Vec<f64>,
    /// How many of them from the first on are within the tolerance, and wanted.
    pub(super) converged: usize,
    /// Whether the wanted ones are told apart: where that was asked for, to [`TOLD`].
    pub(super) apart: bool,
    /// Products with A of each column that was not finished.
    pub(super) products: usize,
    /// Looks at the block: Rayleigh-Ritz steps.
    pub(super) restarts: usize,
    /// Whether the iteration was left, because something else is quicker.
    pub(super) left: bool,
}

/// Decides whether an iteration goes on, given the products that it has done and those that it still expects to do.
pub(super) type GoesOn<'a> = &'a dyn Fn(usize, f64) -> bool;

/// Iterates from the X that the space holds, until every problem has its target, cannot come nearer, or does not go on.
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

/// Rayleigh-Ritz, as often as it takes to make the blocks orthonormal.
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

/// One problem under way.
#[derive(Debug)]
struct State {
    target: Target,
    which: Which,
    most_products: usize,
    /// See [`growth`].
    growth: f64,
    found: Found,
    /// The smallest sum of residuals of what is wanted, and the looks since.
    best: f64,
    since: usize,
    /// Whether the block is known to end among values that are close, not in the middle of one: see [`State::is_multiple`].
    close: bool,
    /// The worst residual before a filter that took them for one, and the logarithm of what that filter was to divide it by.
    promised: Option<(f64, f64)>,
    done: bool,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Found { values, residuals, converged, restarts, .. } = &self.found;
        let (last, wanted) = (values.len() - 1, self.wanted() - 1);
        write!(
            f,
            "look {restarts}: {converged} converged; first {:.4e} ({:.1e}), last wanted {:.4e} ({:.1e}), last {:.4e} ({:.1e}); aim {:.1e}",
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

    /// How many pairs are wanted, with the rest of the last group as far as the block has it to give.
    fn wanted(&self) -> usize {
        let values = &self.found.values;
        let most = (values.len() - values.len() / 4).max(self.target.wanted).min(values.len());
        let tied = |i: &usize| (values[*i] - values[i - 1]).abs() <= self.target.resolution;
        let rest = (self.target.wanted..most).take_while(tied).count();
        (self.target.wanted + rest).min(values.len())
    }

    /// What the residual of a pair is brought down to: a thousandth of the wanted values where the tolerance is more, but not below a
    /// tenth of it. Against |A| the small values of a graph with hubs are nothing, but they are what was asked for.
    ///
    /// Where pairs are to be told apart, also [`APART`] of the distance from the next value that is not tied: the angle between a
    /// vector and its eigenvector is at most the residual over that distance (Davis and Kahan 1970). Of small values the Rayleigh
    /// quotient, whose error is the residual's square over the distance, is to be right too.
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

    /// Whether the wanted pairs are told apart, by a hundred times what was aimed at: the aim is where the last digits of f32 are.
    fn is_apart(&self) -> bool {
        let Target { wanted, bounds, separate, .. } = self.target;
        if !separate || wanted == 0 {
            return self.found.converged >= wanted;
        }
        let allowed = |i: usize| (TOLD * self.distance(i)).max(10.0 * FLOOR * bounds.norm);
        (0..wanted).all(|i| self.found.residuals[i] <= allowed(i))
    }

    /// How far the next value is that is not tied with this one.
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
        // Only what is not there yet counts: pairs at the floor of rounding go up and down.
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

    /// Whether the block seems to end within a value of a higher multiplicity than it has columns left. Many values that are close, but
    /// not the same, look alike; a filter for one value does next to nothing there, which shows that they are close
    /// (preferential attachment, communities of 100,000 nodes: given up after 19 and 15 looks before, converged after 7 and 8, 2026-11-23).
    fn is_multiple(&self) -> bool {
        let values = &self.found.values;
        !self.close && (values[values.len() - 1] - values[self.wanted() - 1]).abs() < 0.01 * self.scale()
    }

    /// Returns the scale of distances at the wanted end: the largest of the spread of the block's values, a twentieth of their distance from
    /// the end of the spectrum, and 0.4 % of the spectrum's width.
    fn scale(&self) -> f64 {
        let Bounds { lower, upper, .. } = self.target.bounds;
        let (first, last) =
            (self.sign() * self.found.values[0], self.sign() * self.found.values[self.found.values.len() - 1]);
        (last - first).max(0.05 * (last - self.bound())).max(4e-3 * (upper - lower).max(f64::MIN_POSITIVE))
    }

    /// Returns 1 if the smallest values are wanted, otherwise -1: times this, values ascend from the wanted end.
    fn sign(&self) -> f64 {
        match self.which {
            Which::Smallest => 1.0,
            Which::Largest => -1.0,
        }
    }

    /// The interval that holds what is not wanted, as far as the block knows: it begins at the value of the block's last column, which
    /// gains nothing from a filter. Values of a block that is still coming are too far in, by about the square of the residual
    /// over the spectrum's width (Temple 1928): so much the interval is taken further out, but never past what is wanted.
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
        // Well beyond a value that the block ends within.
        let beyond =
            if self.is_multiple() { sign * values[values.len() - 1] + 0.25 * self.scale() } else { f64::NEG_INFINITY };
        let least = beyond.max(first + 1e-10 * width);
        // Where all the rest of the spectrum is one value at its far end, the interval is that value and what rounding makes of it: one
        // step must not raise the wanted end by more than columns can differ.
        let narrowest = (4.0 / self.growth * (sign * end - first)).max(1e-10 * width);
        let cut = coming(values.len() - 1).max(coming(wanted)).max(closest).max(least).min(sign * end - narrowest);
        let damped = if sign > 0.0 { (cut, upper) } else { (lower, -cut) };
        Filter { damped, wanted: sign * self.outermost().min(cut - 1e-10 * width) }
    }

    /// Where the spectrum ends at the wanted end, measured from there.
    fn bound(&self) -> f64 {
        match self.which {
            Which::Smallest => self.target.bounds.lower,
            Which::Largest => -self.target.bounds.upper,
        }
    }

    /// How far out the spectrum may reach, measured from the wanted end: as far as it can where the block is random, or as the first
    /// residual says.
    fn outermost(&self) -> f64 {
        let bound = self.bound();
        let first = match self.which {
            Which::Smallest => self.found.values[0],
            Which::Largest => -self.found.values[0],
        };
        if self.found.restarts < 2 { bound } else { bound.max(first - self.found.residuals[0]) }
    }

    /// By how much a step of the polynomial raises a value over the interval: the logarithm.
    fn rate(&self, value: f64) -> f64 {
        let (low, high) = self.filter().damped;
        let beyond = match self.which {
            Which::Smallest => low - value,
            Which::Largest => value - high,
        };
        (1.0 + 2.0 * beyond.max(0.0) / (high - low)).acosh()
    }

    /// The next filter. Pairs that are there already stay as they are.
    fn plan(&self) -> FilterPlan {
        log::trace!("{self}; {} products, {:.0} to go", self.found.products, self.to_go());
        let steps = self.filter().steps(self.next_steps());
        FilterPlan { from: self.found.converged, steps, deflate_every: self.deflate_every() }
    }

    /// Steps until the last wanted residual should be small enough. Too few at first: values of a block that is still coming are
    /// farther apart than those of the matrix.
    fn to_go(&self) -> f64 {
        let Found { values, residuals, converged, .. } = &self.found;
        (*converged..self.wanted())
            .map(|i| (residuals[i] / (0.3 * self.aim(i))).max(1.0).ln() / self.rate(values[i]).max(1e-9))
            .fold(0.0, f64::max)
    }

    /// Returns an estimate of all steps that are left: [`State::to_go`], and more while values still move, because they move closer together.
    fn foreseen(&self) -> f64 {
        let last = self.wanted() - 1;
        let settled = self.found.residuals[last] < SETTLED * self.found.values[last].abs();
        self.to_go() * if settled { 1.0 } else { COMING }
    }

    /// As many of them as one filter does.
    fn next_steps(&self) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a small range")]
        let steps = self.to_go().clamp(FEWEST_STEPS as f64, MOST_STEPS as f64) as usize;
        steps.min(self.allowed_steps())
    }

    /// Steps after which rounding has put so much of the null space (at 0) into the block as may stay there for a while.
    fn deflate_every(&self) -> usize {
        let growth = self.rate(0.0) - self.rate(self.found.values[0]);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a small range")]
        let steps = (NULL_GROWTH.ln() / growth.max(1e-9)).clamp(2.0, MOST_STEPS as f64) as usize;
        steps
    }

    /// Steps that keep the block's columns apart from each other's rounding.
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
