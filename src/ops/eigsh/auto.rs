//! The method `auto` on the CPU: chooses the method with the shortest predicted time, and falls back on the next
//! method if the first does not find the pairs. In this module, "the iteration" is the Chebyshev filter and "the
//! inverse" is shift-invert.

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

/// The minimum number of products that an iteration is predicted to take. Even on an expander graph, an iteration
/// needs a few restarts (measured: 65 to 90 products, 2026-11-22).
const FEWEST: f64 = 80.0;
/// The ratio of the predicted number of products to w^1.5, where w is the wavelength of the last wanted eigenvector
/// along the graph, in nodes. The degree of the polynomial must grow as the inverse square root of the eigenvalue,
/// and so in proportion to w. In addition, smaller eigenvalues take more restarts to separate. Measured on grids of
/// 10,000 and 100,000 nodes, where the wavelengths are 33 and 104 nodes: 165 and 907 products, 2026-11-23.
const ALONG: f64 = 0.87;
/// The maximum predicted number of products is this constant divided by the square root of the relative tolerance.
/// Eigenvalues that would need more products are so small that the tolerance does not distinguish them from 0, so
/// the iteration ends earlier.
const MOST: f64 = 3.0;
/// The predicted time, in seconds, of all restarts of an iteration. It is assumed to be the same for every graph.
const RESTARTS: f64 = 8e-3;
/// An iteration for f64 takes this many times as long as an iteration for f32, because it begins in f32 and then
/// continues in f64, where a product costs twice as much.
const IN_F64: f64 = 2.5;
/// An iteration is slow if it has done more than this many times the predicted number of products. A slow iteration
/// is abandoned for the inverse if the inverse is predicted to take at most the square of this constant times the
/// predicted time of the iteration. Before that, the iteration is abandoned only if the inverse is predicted to be
/// faster than the rest of the iteration. Close eigenvalues, which the structure of the graph does not reveal, slow
/// the iteration down but not the inverse.
const PATIENCE: f64 = 4.0;
/// The rule of [`PATIENCE`] applies only after the iteration has run for this many times the lower bound on the
/// inverse's time. Before that, the iteration may be nearly done (measured on communities of 10,000 nodes: either
/// method alone takes 120 ms, and both methods one after the other take 240 ms, 2026-11-23).
const BEFORE: f64 = 2.0;
/// The maximum size, in bytes, of a factor that `auto` may choose: what fits the default memory budget.
const LARGEST_FACTOR: f64 = 2e9;
/// The largest order at which a matrix is decomposed as a dense matrix after its iteration failed: such a
/// decomposition takes about ten seconds on two cores.
const DENSE_AFTER_ALL: usize = 4096;

/// Finds the pairs by the method that is predicted to be fastest, or by the next method if the first fails.
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
        // The iteration was abandoned for the inverse, which did not find the pairs. So the iteration continues
        // from the vectors that it had found.
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

/// Finds the pairs by the inverse if that is predicted to take less than `seconds`. The inverse is tried once and
/// then dropped.
fn by_inverse_within(seconds: f64, inverse: &mut Option<Inverse<'_>>, ctx: &Context) -> Result<Option<Solved>> {
    let Some(inverse) = inverse.take_if(|inverse| inverse.is_within(seconds)) else { return Ok(None) };
    Ok(inverse.solve(ctx)?.filter(|solved| solved.reached))
}

/// Returns whether an iteration found the wanted pairs. They must be separated from the others or, if separation
/// is not required, have residuals within the tolerance.
fn is_found<T: Real>(a: &Operator<'_, T>, solved: &Solved, wanted: Wanted, options: &EigshOptions) -> bool {
    let allowed = options.tolerance_in::<T>() * a.bounds(0).norm;
    let within = !wanted.separate && solved.residuals.iter().all(|&residual| residual <= allowed);
    // Without a known null space, small eigenvalues may be wrong. So the magnitude of each eigenvalue must exceed
    // its residual.
    let told = |(value, residual): (&f64, &f64)| !a.null.is_empty() || value.abs() > *residual;
    solved.values.len() >= wanted.count
        && (solved.reached || within)
        && solved.values.iter().zip(&solved.residuals).all(told)
}

/// The inverse of a matrix whose smallest pairs are wanted.
pub(super) struct Inverse<'a> {
    /// The operator in f64, the precision of the inverse.
    operator: Operator<'a, f64>,
    wanted: Wanted,
    /// The approximate number of rows in the largest separator.
    separator: usize,
    /// The maximum number of pairs to find, including those that are tied with the last wanted one.
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
        // Iterations with the inverse converge so fast that a tighter tolerance costs almost nothing.
        let tolerance = options.tolerance_in::<T>().min(1e-10);
        Self { operator, wanted, separator, most, tolerance, seed: options.seed, plan: OnceCell::new() }
    }

    /// Returns the plan of the factorization, or `None` if the factorization is too expensive. The first call makes
    /// the plan.
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

    /// Returns a lower bound, in seconds, on the time of shift-invert.
    fn least_seconds(&self) -> f64 {
        let (entries, rows) = (self.operator.entries(), self.operator.rows());
        shift_invert::least_seconds(entries, rows, self.separator, self.wanted.count)
    }

    /// Returns whether shift-invert is predicted to take at most `seconds` with a factor of at most
    /// [`LARGEST_FACTOR`] bytes. Making a plan takes time even if the plan is not used, so a plan is made only if
    /// the lower bound is below `seconds`.
    fn is_within(&self, seconds: f64) -> bool {
        self.least_seconds() < seconds
            && self.plan().is_some_and(|plan| plan.seconds <= seconds && plan.bytes <= LARGEST_FACTOR)
    }

    /// Computes the pairs; `None` if the matrix turns out not to be positive definite, or if not all pairs are
    /// found.
    ///
    /// # Errors
    /// [`Limit`](crate::ErrorKind::Limit) if the factor exceeds the memory budget. The choice of the method
    /// ignores the budget, so that the bits of a result do not depend on the budget.
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

/// Predicts the number of products that an iteration for the pairs at one end of the spectrum takes. For a Laplacian
/// the prediction uses the structure of the graph: if separators are small, so are the smallest eigenvalues (Cheeger).
/// Nodes of high degree stretch the spectrum of `D - W` but do not change its smallest eigenvalues, so the iteration
/// needs more products. The prediction takes this into account by comparing the bound on the spectrum with the mean
/// degree.
fn predicted_products<T: Real>(
    a: &Operator<'_, T>,
    (wanted, tolerance): (usize, f64),
    inverse: Option<&Inverse<'_>>,
) -> f64 {
    let Some(Inverse { separator, .. }) = inverse else { return PRODUCTS };
    if a.null.is_empty() {
        // Nothing is known about the small eigenvalues. In an ill-conditioned matrix they are too small for a
        // polynomial to separate, and the time of an iteration that does not find them is lost. So a large number
        // is returned, which favors the inverse.
        return 16.0 * PRODUCTS;
    }
    let (rows, entries) = (a.rows() as f64, a.entries() as f64);
    let stretch = if a.scale.is_some() { 1.0 } else { (a.bounds(0).upper * rows / (2.0 * entries).max(1.0)).sqrt() };
    // The length of the graph is its number of rows divided by the number of rows in a separator. In d dimensions,
    // the last of n eigenvectors has about n^(1/d) waves along the length of the graph. Its wavelength is the
    // length divided by that number.
    let length = (rows / (*separator as f64).max(1.0)).max(2.0);
    let dimension = (rows.ln() / length.ln()).max(1.0);
    let waves = length / (wanted as f64).powf(dimension.recip());
    (ALONG * waves.powf(1.5)).min(MOST / tolerance.sqrt()).max(FEWEST) * stretch.clamp(1.0, 4.0)
}

/// Predicts the time, in seconds, of `products` products with a block of `width` columns and of the restarts
/// between them. The prediction is made for graphs in which neighbors have close indices (measured on a torus and
/// on communities of 100,000 nodes: 1.5 and 3.6 ms per product with 32 columns, 2026-11-23). Other graphs take up
/// to three times as long. That does not matter for the choice, because their factors are too large for the inverse
/// anyway.
fn iteration_seconds<T: Real>(a: &Operator<'_, T>, products: f64, width: usize) -> f64 {
    let one = width as f64 * (1.1e-10 * a.entries() as f64 + 1e-10 * a.rows() as f64);
    RESTARTS + products * one * if T::EPSILON < 1e-10 { IN_F64 } else { 1.0 }
}
