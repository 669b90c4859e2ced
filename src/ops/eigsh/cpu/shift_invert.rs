//! Finds the smallest pairs of a matrix, from the largest pairs of the inverse of the shifted matrix. The matrix must
//! be positive definite, or become so by a tiny shift. If a Cholesky factor has little fill (paths, grids, meshes,
//! roads), a few dozen solves replace thousands of products.

use super::cholesky::{Factor, Ordering, Pattern};
use super::{RitzPairs, ritz_pairs};
use crate::context::Context;
use crate::error::Result;
use crate::ops::eigsh::chebyshev::{Found, Target};
use crate::ops::eigsh::lanczos::{End, Pairs, Request, default_basis, lanczos};
use crate::ops::sparse::Operator;

/// The first shift that is tried, as a multiple of eps |A|. The last pivot of a component of m nodes is m times the
/// shift, plus the rounding errors of the subtractions that compute the pivot, which are a few eps |A|. A shift of
/// a thousand eps |A| keeps the pivot positive. This shift is 2e-13 |A|, which is below the smallest nonzero
/// eigenvalues of path-like graphs of 1e6 nodes (2.5e-12 |A|).
const SHIFT: f64 = 1e3;
/// The factor between consecutive shifts. The next shift is tried if a pivot is not positive.
const GROWTH: f64 = 30.0;
/// The maximum number of shifts that are tried.
const TRIES: i32 = 3;
/// The number of right-hand sides in one solve, which is also the number of vectors in a Lanczos block.
const BLOCK: usize = 4;

/// A factorization is planned only if it takes at most this number of multiply-add operations, by a rough estimate.
/// They take half a minute on two cores.
const MOST_PRODUCTS: f64 = 5e11;

/// The plan of a factorization and its predicted cost.
#[derive(Debug)]
pub(in crate::ops::eigsh) struct Plan {
    pattern: Pattern,
    ordering: Ordering,
    /// The number of entries of L.
    pub(in crate::ops::eigsh) entries: f64,
    /// The maximum number of bytes that are allocated at once.
    pub(in crate::ops::eigsh) bytes: f64,
    /// The predicted time, in seconds, of the factorization and all solves, without planning. It is computed from
    /// counts of operations and measured times.
    pub(in crate::ops::eigsh) seconds: f64,
}

/// Predicts the time of [`plan`], in seconds. The time per entry of the matrix grows with the size of the
/// separators. It was measured on grids, communities, small worlds and preferential attachment of 100,000 nodes.
/// Their separators have 0.002, 0.07, 0.15 and 0.43 of the rows, and planning takes 0.1, 0.12, 0.29 and 1.28 us per
/// entry (two Zen 5 cores, 2026-11-23).
fn planning_seconds(entries: usize, rows: usize, separator: usize) -> f64 {
    let share = separator as f64 / rows.max(1) as f64;
    entries as f64 * (1e-7 + 6.4e-6 * share * share)
}

/// Predicts the number of solves and their time in seconds, without the part of the time that is proportional to
/// the number of entries of L. A pair takes about six solves, and more if the eigenvalues are close together, as in
/// graphs with large separators. For 16 pairs, 68 to 92 solves were counted for paths, grids and trees, 140 to 284
/// for small worlds, and 180 to 660 for random graphs of 1000 and 10,000 nodes (two Zen 5 cores, 2026-11-22).
fn solves(rows: usize, separator: usize, wanted: usize) -> (f64, f64) {
    let (rows, wanted) = (rows as f64, wanted as f64);
    let solves = wanted * (6.0 + 40.0 * separator as f64 / rows.max(1.0));
    (solves, solves * (2e-4 + 1.7e-9 * rows * (wanted + 16.0)))
}

/// Returns a lower bound on the seconds of shift-invert, including its planning.
pub(in crate::ops::eigsh) fn least_seconds(entries: usize, rows: usize, separator: usize, wanted: usize) -> f64 {
    planning_seconds(entries, rows, separator) + solves(rows, separator, wanted).1
}

/// Plans the factorization for `wanted` pairs in addition to the null space, or for up to `most` pairs if some are
/// tied with the last wanted one. Returns `None` if the matrix is too large for 32-bit indices, or if its largest
/// separator, which has about `separator` rows, is too large.
pub(in crate::ops::eigsh) fn plan(
    operator: &Operator<'_, f64>,
    separator: usize,
    (wanted, most): (usize, usize),
) -> Option<Plan> {
    // The root of the elimination tree is a dense triangle. Its order is the number of rows of a real separator,
    // which is estimated as a quarter of `separator`.
    if operator.problems() != 1 || (separator as f64 / 4.0).powi(3) / 3.0 > MOST_PRODUCTS {
        return None;
    }
    let pattern = Pattern::new(operator)?;
    let ordering = Ordering::new(&pattern)?;
    let (entries, flops) = (ordering.entries, 2.0 * ordering.products);
    let n = operator.rows() as f64;
    // `factor` counts the bytes of L, of its structure, and of a reordered copy of the matrix. The zeros that
    // supernodes store were observed to be a quarter of the stored L; hence the factor 1.3. The other bytes are those
    // of the basis and of four blocks: the map and the solver each have an input and an output. The memory of the last
    // Rayleigh-Ritz step is not counted, because that step runs after L is freed.
    let factor = 8.0 * 1.3 * entries + 0.25 * 8.0 * entries + 24.0 * pattern.entries() as f64;
    let bytes = factor + 8.0 * n * (most + default_basis(wanted) + 4 * BLOCK) as f64;
    let (solves, fixed) = solves(operator.rows(), separator, wanted);
    let seconds = 1.4e-8 * entries + flops / 3e10 + solves * 2.5e-9 * entries + fixed;
    Some(Plan { pattern, ordering, entries, bytes, seconds })
}

/// Finds at most `most` pairs. Returns their values, in ascending order, with residuals, and their column-major
/// vectors. Returns `None` if the matrix turns out not to be positive definite, or if memory cannot hold the factor.
/// The values are Rayleigh quotients of the matrix, and the residuals are those of the matrix, so neither contains
/// the shift or the factor's rounding errors.
///
/// # Errors
/// Cancellation, and the errors of the Lanczos iteration and of the Rayleigh-Ritz step.
pub(in crate::ops::eigsh) fn solve(
    ctx: &Context,
    operator: &Operator<'_, f64>,
    plan: Plan,
    target: Target,
    most: usize,
    seed: u64,
) -> Result<Option<(Found, Vec<f64>)>> {
    let norm = target.bounds.norm.max(f64::MIN_POSITIVE);
    let shifts = (0..TRIES).map(|i| SHIFT * f64::EPSILON * norm * GROWTH.powi(i));
    let Some((factor, shift)) = Factor::new(operator, &plan.pattern, plan.ordering, shifts) else { return Ok(None) };
    let request = Request {
        end: End::Inverse { shift },
        wanted: target.wanted,
        most,
        resolution: target.resolution,
        absolute: 0.0,
        // If a pair of the inverse has the value m and the residual r, its residual as a pair of A is
        // `(A + s) r / m`, where s is the shift.
        relative: target.tolerance / norm,
        block: BLOCK,
        basis: None,
        most_products: 10_000,
        seed,
    };
    let mut map = |x: &[f64], y: &mut [f64]| {
        y.copy_from_slice(x);
        factor.solve(y);
        Ok(())
    };
    let pairs = lanczos(&mut map, &operator.null, request, ctx.cancel())?;
    let Pairs { products, restarts, searches, .. } = pairs;
    log::debug!("shift-invert: {products} solves, {restarts} restarts, {searches} searches");
    drop(factor);
    if pairs.values.is_empty() {
        return Ok(Some((Found::default(), Vec::new())));
    }
    let RitzPairs { values, residuals, vectors } = ritz_pairs(ctx, operator, &pairs.vectors)?;
    let converged = residuals.iter().take_while(|&&r| r <= target.tolerance).count();
    let apart = converged >= target.wanted && pairs.complete;
    let found = Found {
        values,
        residuals,
        converged,
        apart,
        products: pairs.products,
        restarts: pairs.restarts,
        ..Found::default()
    };
    Ok(Some((found, vectors)))
}

#[cfg(test)]
mod tests {
    use super::super::fill::separator;
    use super::{Target, plan, solve};
    use crate::context::Context;
    use crate::graph::spectra::Family;
    use crate::graph::{Conventions, Graph, generate};
    use crate::ops::Normalization;
    use crate::ops::sparse::Operator;

    fn values_of(operator: &Operator<'_, f64>, wanted: usize, resolution: f64) -> Vec<f64> {
        let bounds = operator.bounds(0);
        let target = Target { wanted, bounds, tolerance: 1e-10 * bounds.norm, resolution, separate: false };
        let plan = plan(operator, separator(operator), (wanted, 2 * wanted)).unwrap();
        let (found, vectors) = solve(&Context::cpu(), operator, plan, target, 2 * wanted, 1).unwrap().unwrap();
        assert_eq!(vectors.len(), found.values.len() * operator.rows());
        assert_eq!(found.converged, found.values.len());
        assert!(found.residuals.iter().all(|&r| r <= target.tolerance), "{:?}", found.residuals);
        found.values
    }

    /// Compares values. The residual of a pair of the inverse is at most 1e-10 of its value. The error of a Rayleigh
    /// quotient is quadratic in that ratio and therefore negligible here. What remains are the rounding errors of a
    /// product and of a sum of n terms. They are a few eps of the norm, and 1e-14 is about fifty eps.
    fn compare(found: &[f64], expected: &[f64], norm: f64) {
        assert_eq!(found.len(), expected.len());
        for (i, (x, y)) in found.iter().zip(expected).enumerate() {
            assert!((x - y).abs() <= 1e-14 * norm, "value {i}: {x:e}, expected {y:e}");
        }
    }

    #[test]
    fn closed_forms() {
        let families = [
            (Family::Path { nodes: 20_000 }, 10),
            (Family::Grid { rows: 60, columns: 60 }, 16),
            (Family::Grid { rows: 90, columns: 130 }, 20),
            (Family::Torus { rows: 40, columns: 40 }, 17),
            (Family::Hypercube { dimension: 9 }, 12),
            (Family::Star { nodes: 500 }, 7),
            (Family::Complete { nodes: 120 }, 7),
            (Family::Cycle { nodes: 3 }, 2),
            (Family::Path { nodes: 2 }, 1),
        ];
        for (family, wanted) in families {
            let graph = family.graph().unwrap();
            for (normalization, spectrum) in [
                (Normalization::Combinatorial, Some(family.combinatorial())),
                (Normalization::Symmetric, family.normalized()),
            ] {
                let Some(spectrum) = spectrum else { continue };
                let operator = Operator::laplacian(graph.view(), normalization).unwrap();
                let found = values_of(&operator, wanted, 0.0);
                compare(&found[..wanted], &spectrum.smallest(wanted + 1)[1..], operator.bounds(0).norm);
            }
        }
    }

    /// With a resolution, the whole group of the last wanted eigenvalue is found. In this test, the group has 9 equal
    /// eigenvalues of the hypercube, and all are found although only 5 were requested.
    #[test]
    fn ties_come_whole() {
        let graph = generate::hypercube(9).unwrap();
        let operator = Operator::laplacian(graph.view(), Normalization::Combinatorial).unwrap();
        compare(&values_of(&operator, 5, 1e-6), &[2.0; 9], operator.bounds(0).norm);
    }

    /// The Laplacian of a graph without edges has no pairs other than its null space.
    #[test]
    fn nothing_beside_the_null_space() {
        let graph = Graph::from_edges(5, &[], &Conventions::default()).unwrap();
        let operator = Operator::laplacian(graph.view(), Normalization::Combinatorial).unwrap();
        assert!(values_of(&operator, 3, 0.0).is_empty());
    }

    /// An indefinite matrix is detected by a pivot that is not positive, regardless of the matrix's bounds.
    #[test]
    fn indefinite_matrices_are_refused() {
        let operator = Operator::<f64>::from_csr(vec![0, 1, 2], vec![1, 0], vec![1.0, 1.0]).unwrap();
        let target =
            Target { wanted: 1, bounds: operator.bounds(0), tolerance: 1e-10, resolution: 0.0, separate: false };
        let planned = plan(&operator, 0, (1, 1)).unwrap();
        assert!(solve(&Context::cpu(), &operator, planned, target, 1, 1).unwrap().is_none());
        let mut operator =
            Operator::<f64>::from_csr(vec![0, 2, 4], vec![0, 1, 0, 1], vec![1.0, 1.0, 1.0, 0.5]).unwrap();
        operator.bounds[0].lower = 0.0;
        let target =
            Target { wanted: 1, bounds: operator.bounds(0), tolerance: 1e-10, resolution: 0.0, separate: false };
        let plan = plan(&operator, 0, (1, 1)).unwrap();
        assert!(solve(&Context::cpu(), &operator, plan, target, 1, 1).unwrap().is_none());
    }
}
