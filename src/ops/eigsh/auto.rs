//! `auto` on the CPU: chooses the method with the shortest predicted time, and falls back on the next one if that does not find the pairs.

use super::chebyshev::Found;
use super::cpu::fill::separator;
use super::cpu::shift_invert::{self, Plan};
use super::methods::{PRODUCTS, chebyshev, densely, most_of};
use super::options::{EigshMethod, EigshOptions};
use super::solved::{Solved, Wanted, target};
use crate::array::Real;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::eigen::Which;
use crate::ops::sparse::Operator;
use std::cell::{Cell, OnceCell};

/// Products that an iteration takes at the least: a few looks at a graph that expands (65 to 90, 2026-11-22).
const FEWEST: f64 = 80.0;
/// Products over the wavelengths of the last wanted vector along the graph's length to the power of 1.5: a polynomial's degree goes with
/// the root of its value, and smaller values are told apart later (grids of 10,000 and 100,000 nodes, 33 and 104 wavelengths: 165 and 907
/// products, 2026-11-23).
const ALONG: f64 = 0.87;
/// Products at the most, over the root of the relative tolerance: smaller values are not told from 0, and the iteration ends.
const MOST: f64 = 3.0;
/// Seconds of the looks, whatever the graph.
const RESTARTS: f64 = 8e-3;
/// What of an iteration for f64 goes on in f64 behind the f32 part, at twice the price a product.
const IN_F64: f64 = 2.5;
/// An iteration that has taken this many times the predicted products is left for an inverse that takes up to this many times as long
/// again. Close eigenvalues, which the structure does not reveal, slow the iteration down but not the inverse.
const PATIENCE: f64 = 4.0;
/// But not before it has run this many times the lower bound on the inverse's time, because it may be nearly done (communities of 10,000
/// nodes: 120 ms by either method, 240 ms by one after the other, 2026-11-23).
const BEFORE: f64 = 2.0;
/// Bytes of the largest factor that is chosen unasked: what the default memory budget holds.
const LARGEST_FACTOR: f64 = 2e9;
/// Up to this order a matrix whose iteration failed is decomposed: some ten seconds of two cores.
const DENSE_AFTER_ALL: usize = 4096;

/// The pairs, by whichever method should be the fastest, or by the next one where that does not find them.
pub(super) fn auto<T: Real>(
    ctx: &Context,
    a: &Operator<'_, T>,
    wanted: Wanted,
    width: usize,
    options: &EigshOptions,
    start: Option<&Solved>,
) -> Result<Solved> {
    let mut inverse = (wanted.which == Which::Smallest).then(|| Inverse::new(a, wanted, options));
    let products = predicted_products(a, (wanted.count, options.tolerance_in::<T>()), inverse.as_ref());
    let seconds = iteration_seconds(a, products, width);
    if let Some(solved) = by_inverse_within(seconds, &mut inverse, ctx)? {
        return Ok(solved);
    }
    let least = inverse.as_ref().map_or(0.0, Inverse::least_seconds);
    let patience = products * (BEFORE * least / seconds).max(PATIENCE);
    let left = Cell::new(false);
    let goes_on = |done: usize, to_go: f64| {
        let worth = if done as f64 > patience { PATIENCE * PATIENCE } else { to_go / products };
        left.set(inverse.as_ref().is_some_and(|inverse| inverse.is_within(worth * seconds)));
        !left.get()
    };
    let mut found = chebyshev(ctx, a, wanted, width, options, start, &goes_on)?;
    if is_found(a, &found, wanted, options) {
        return Ok(found);
    }
    log::debug!("{} products did not tell the pairs apart", found.products);
    if let Some(solved) = by_inverse_within(f64::INFINITY, &mut inverse, ctx)? {
        return Ok(solved);
    }
    if left.get() {
        // The iteration was left for an inverse that did not find them either.
        found = chebyshev(ctx, a, wanted, width, options, Some(&found), &|_, _| true)?;
        if is_found(a, &found, wanted, options) {
            return Ok(found);
        }
    }
    if a.rows() <= DENSE_AFTER_ALL {
        log::debug!("the matrix of order {} is decomposed", a.rows());
        return densely(ctx, a, wanted);
    }
    Ok(found)
}

/// The pairs by the inverse, if it should take less than `seconds`. It is tried once: where it does not find them it is gone.
fn by_inverse_within(seconds: f64, inverse: &mut Option<Inverse<'_>>, ctx: &Context) -> Result<Option<Solved>> {
    let Some(inverse) = inverse.take_if(|inverse| inverse.is_within(seconds)) else { return Ok(None) };
    Ok(inverse.solve(ctx)?.filter(|solved| solved.reached))
}

/// Whether an iteration has what was wanted: pairs that are told apart or, where nobody asks for that, within the tolerance.
fn is_found<T: Real>(a: &Operator<'_, T>, solved: &Solved, wanted: Wanted, options: &EigshOptions) -> bool {
    let allowed = options.tolerance_in::<T>() * a.bounds(0).norm;
    let within = !wanted.separate && solved.residuals.iter().all(|&residual| residual <= allowed);
    // Of matrices without a known null space small values may be anything: their residuals have to tell them from 0.
    let told = |(value, residual): (&f64, &f64)| !a.null.is_empty() || value.abs() > *residual;
    solved.values.len() >= wanted.count
        && (solved.reached || within)
        && solved.values.iter().zip(&solved.residuals).all(told)
}

/// The inverse of a matrix whose smallest pairs are wanted.
pub(super) struct Inverse<'a> {
    /// In f64, which it is computed in.
    operator: Operator<'a, f64>,
    wanted: Wanted,
    /// The rows of a separator, about.
    separator: usize,
    /// Pairs at most.
    most: usize,
    tolerance: f64,
    seed: u64,
    plan: OnceCell<Option<Plan>>,
}

impl<'a> Inverse<'a> {
    pub(super) fn new<T: Real>(a: &'a Operator<'_, T>, wanted: Wanted, options: &EigshOptions) -> Self {
        let operator = a.widened();
        let separator = separator(&operator);
        let most = most_of(&wanted, a.rows() - a.null.len());
        // It costs nothing to come nearer than was asked.
        let tolerance = options.tolerance_in::<T>().min(1e-10);
        Self { operator, wanted, separator, most, tolerance, seed: options.seed, plan: OnceCell::new() }
    }

    /// How the factor is made, if that can be said.
    fn plan(&self) -> Option<&Plan> {
        let planned = || {
            let plan = shift_invert::plan(&self.operator, self.separator, (self.wanted.count, self.most))?;
            log::debug!(
                "shift-invert: {:.1e} entries of L, {:.1e} bytes, {:.1e} s (separator {})",
                plan.entries,
                plan.bytes,
                plan.seconds,
                self.separator
            );
            Some(plan)
        };
        self.plan.get_or_init(planned).as_ref()
    }

    /// Seconds that it takes at the least.
    fn least_seconds(&self) -> f64 {
        let (entries, rows) = (self.operator.entries(), self.operator.rows());
        shift_invert::least_seconds(entries, rows, self.separator, self.wanted.count)
    }

    /// Whether it should take less than `seconds`, and its factor is not too large to be made unasked. What a plan costs is paid
    /// whether it is followed or not, so it is made only where it may be.
    fn is_within(&self, seconds: f64) -> bool {
        self.least_seconds() < seconds
            && self.plan().is_some_and(|plan| plan.seconds <= seconds && plan.bytes <= LARGEST_FACTOR)
    }

    /// The pairs; none where the matrix is not definite after all, or not all of them are found.
    ///
    /// # Errors
    /// [`Limit`](crate::ErrorKind::Limit) where the factor is beyond the memory budget: a choice that asked for the budget would let
    /// bits depend on it.
    pub(super) fn solve(mut self, ctx: &Context) -> Result<Option<Solved>> {
        self.plan();
        let Some(plan) = self.plan.take().flatten() else { return Ok(None) };
        let allowed = ctx.memory_budget();
        if plan.bytes > allowed as f64 {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes of a plan, positive")]
            let needed = plan.bytes as u64;
            return Err(Error::budget("bytes for the factor of shift-invert", needed, allowed));
        }
        let target = target(&self.operator, self.wanted, self.tolerance);
        let found = shift_invert::solve(ctx, &self.operator, plan, target, self.most, self.seed)?;
        let Some((Found { values, residuals, apart, products, restarts, .. }, vectors)) = found else {
            return Ok(None);
        };
        let method = EigshMethod::ShiftInvert;
        let solved = Solved { values, vectors, residuals, reached: apart, next: None, method, products, restarts };
        Ok((solved.values.len() >= self.wanted.count).then_some(solved))
    }
}

/// Products that an iteration for the pairs at one end should take. Of a Laplacian its structure tells: where separators are small, so are
/// the smallest eigenvalues (Cheeger). Hubs stretch the spectrum of `D - W` without moving its smallest values.
fn predicted_products<T: Real>(
    a: &Operator<'_, T>,
    (wanted, tolerance): (usize, f64),
    inverse: Option<&Inverse<'_>>,
) -> f64 {
    let Some(Inverse { separator, .. }) = inverse else { return PRODUCTS };
    if a.null.is_empty() {
        // Nothing is known of small eigenvalues; of ill-conditioned matrices they are far below what polynomials tell apart, and an
        // iteration that ends without them was for nothing.
        return 16.0 * PRODUCTS;
    }
    let (rows, entries) = (a.rows() as f64, a.entries() as f64);
    let stretch = if a.scale.is_some() { 1.0 } else { (a.bounds(0).upper * rows / (2.0 * entries).max(1.0)).sqrt() };
    // Rows over a separator's; and the graph's dimension: of waves along one of d axes there are the d-th root.
    let length = (rows / (*separator as f64).max(1.0)).max(2.0);
    let dimension = (rows.ln() / length.ln()).max(1.0);
    let waves = length / (wanted as f64).powf(dimension.recip());
    (ALONG * waves.powf(1.5)).min(MOST / tolerance.sqrt()).max(FEWEST) * stretch.clamp(1.0, 4.0)
}

/// Predicts the seconds of `products` products with a block of `width` columns and of the looks between them, for graphs whose neighbors
/// have near numbers (torus and communities of 100,000 nodes: 1.5 and 3.6 ms a product of 32 columns, 2026-11-23). Other graphs take up to
/// three times as long, but their factors are too large for the inverse anyway.
fn iteration_seconds<T: Real>(a: &Operator<'_, T>, products: f64, width: usize) -> f64 {
    let one = width as f64 * (1.1e-10 * a.entries() as f64 + 1e-10 * a.rows() as f64);
    RESTARTS + products * one * if T::EPSILON < 1e-10 { IN_F64 } else { 1.0 }
}
