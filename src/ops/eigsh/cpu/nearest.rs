//! Finds the pairs nearest to a number sigma, which may be anywhere in the spectrum. The method is Lanczos on
//! `(A - sigma)^-1` (Ericsson and Ruhe 1980). The inverse is applied by a sparse `L B L'` factorization, which is
//! indefinite if sigma is within the spectrum.

use super::cholesky::{Ordering, Pattern, analyze};
use super::{RitzPairs, ritz_pairs};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::eigsh::chebyshev::Found;
use crate::ops::eigsh::lanczos::{End, Pairs, Request, default_basis, lanczos};
use crate::ops::sparse::Operator;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::perm::PermRef;
use faer::sparse::SparseColMatRef;
use faer::sparse::linalg::cholesky::{IntranodeLbltRef, SymbolicCholesky};
use faer::{Conj, MatMut, Par, Side, Spec};

/// The number of right-hand sides in one solve, which is also the number of vectors in a Lanczos block.
const BLOCK: usize = 4;
/// The distance, relative to the norm, by which sigma is moved after an attempt that failed because an eigenvalue
/// is too close to sigma.
const STEP: f64 = 1e-6;
/// The distance from sigma, relative to the norm, within which rounding errors of the inverse are larger than its
/// eigenvalues. If there are as many values as the vectors of a block, Lanczos takes the copies of one for distinct
/// values, and does not search for more. Values themselves, as quotients of the matrix, are more accurate.
const CLOSE: f64 = 1e-12;
/// The maximum number of attempts, including the one with the requested sigma.
const TRIES: i32 = 3;

/// A factorization `L B L' = A - sigma` with reordered rows and columns. The pivots are 1 x 1 and 2 x 2 blocks
/// within supernodes.
struct Factor {
    symbolic: SymbolicCholesky<u32>,
    values: Vec<f64>,
    subdiagonal: Vec<f64>,
    forward: Vec<u32>,
    inverse: Vec<u32>,
}

impl Factor {
    /// Factorizes `A - sigma`; `None` if memory runs out.
    fn new(operator: &Operator<'_, f64>, pattern: &Pattern, ordering: &Ordering, sigma: f64) -> Option<Self> {
        let n = operator.rows();
        let symbolic = analyze(pattern, ordering)?;
        let scratch = symbolic.factorize_numeric_intranode_lblt_scratch::<f64>(Par::Seq, Spec::default());
        let mut memory = MemBuffer::try_new(scratch).ok()?;
        let (mut values, mut subdiagonal) = (vec![0.0; symbolic.len_val()], vec![0.0; n]);
        let (mut forward, mut inverse) = (vec![0; n], vec![0; n]);
        let entries = pattern.values(operator, -sigma);
        let matrix = SparseColMatRef::new(pattern.symbolic(), &entries);
        let stack = MemStack::new(&mut memory);
        symbolic.factorize_numeric_intranode_lblt(
            &mut values,
            &mut subdiagonal,
            &mut forward,
            &mut inverse,
            matrix,
            Side::Upper,
            Par::Seq,
            stack,
            Spec::default(),
        );
        Some(Self { symbolic, values, subdiagonal, forward, inverse })
    }

    /// Multiplies each column of a column-major block by `(A - sigma)^-1`.
    fn solve(&self, block: &mut [f64]) {
        let n = self.subdiagonal.len();
        let columns = block.len() / n;
        let order = PermRef::new_checked(&self.forward, &self.inverse, n);
        let factor = IntranodeLbltRef::new(&self.symbolic, &self.values, &self.subdiagonal, order);
        let mut memory = MemBuffer::new(self.symbolic.solve_in_place_scratch::<f64>(columns, Par::Seq));
        let right = MatMut::from_column_major_slice_mut(block, n, columns);
        factor.solve_in_place_with_conj(Conj::No, right, Par::Seq, MemStack::new(&mut memory));
    }
}

/// Computes the pairs whose values are nearest to sigma, except the known null space. Returns the pairs in
/// ascending order of their values, and their column-major vectors. The values are Rayleigh quotients of the
/// matrix, and the residuals are those of the matrix, not of the inverse.
///
/// # Errors
/// [`Limit`](crate::ErrorKind::Limit) if the factor exceeds the memory budget;
/// [`Domain`](crate::ErrorKind::Domain) if `A - sigma` is singular in every attempt.
pub(in crate::ops::eigsh) fn nearest(
    ctx: &Context,
    operator: &Operator<'_, f64>,
    (sigma, count): (f64, usize),
    (tolerance, seed): (f64, u64),
) -> Result<(Found, Vec<f64>)> {
    let n = operator.rows();
    let too_large = |needed: f64| {
        let what = format!("bytes for the factor of a sparse matrix of order {n}, --sigma");
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of bytes")]
        Error::budget(what, needed as u64, ctx.memory_budget())
    };
    let pattern = Pattern::new(operator).ok_or_else(|| too_large(f64::INFINITY))?;
    let ordering = Ordering::new(&pattern).ok_or_else(|| too_large(f64::INFINITY))?;
    // The bytes of L, of temporary arrays while L is computed, and of the basis.
    let bytes = |wanted| 24.0 * ordering.entries + 8.0 * (n * (wanted + default_basis(wanted) + 4 * BLOCK)) as f64;
    let norm = operator.bounds(0).norm.max(f64::MIN_POSITIVE);
    // If an eigenvalue is closer to sigma than about `STEP * norm`, the inverse is so large that its rounding
    // errors hide the other pairs, or the iteration fails because a pivot is 0. So sigma is moved. The pairs nearest to
    // the moved sigma may differ from those nearest to sigma, so more are computed, until all of the latter must be
    // among them. The caller selects them.
    let all = n - operator.null.len();
    let (mut attempt, mut wanted) = (0, count.min(all));
    let mut kept = None; // the factor, while sigma stays where it is
    loop {
        let away = f64::from(attempt) * STEP * norm;
        let needed = bytes(wanted);
        if needed > ctx.memory_budget() as f64 {
            return Err(too_large(needed));
        }
        let factor = match kept.take() {
            Some(factor) => factor,
            None => Factor::new(operator, &pattern, &ordering, sigma + away).ok_or_else(|| too_large(needed))?,
        };
        let request = Request {
            end: End::Nearest,
            wanted,
            most: wanted,
            resolution: 0.0,
            absolute: 0.0,
            relative: tolerance.min(1e-10),
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
        let last = attempt + 1 == TRIES;
        let found = match lanczos(&mut map, &operator.null, request, ctx.cancel()) {
            Err(error) if last || error.is_cancelled() => return Err(error),
            Err(_) => None,
            Ok(pairs) if pairs.values.is_empty() => return Ok((Found::default(), Vec::new())),
            Ok(pairs) => {
                let ritz = ritz_pairs(ctx, operator, &pairs.vectors)?;
                let accurate = ritz.residuals.iter().all(|&residual| residual <= tolerance * norm);
                let at_sigma = |value: &&f64| (*value - sigma - away).abs() <= CLOSE * norm;
                let told_apart = ritz.values.iter().filter(at_sigma).count() < BLOCK;
                (last || accurate && told_apart).then_some((ritz, pairs))
            }
        };
        let Some((RitzPairs { values, residuals, vectors }, pairs)) = found else {
            (attempt, wanted) = (attempt + 1, (count + 2).min(all));
            continue;
        };
        // All values up to this distance from the moved sigma were found.
        let reach = values.iter().fold(0.0, |reach: f64, value| reach.max((value - sigma - away).abs()));
        let mut distances: Vec<f64> = values.iter().map(|value| (value - sigma).abs()).collect();
        distances.sort_unstable_by(f64::total_cmp);
        let farthest = distances[count.min(distances.len()) - 1];
        if attempt == 0 || wanted == all || farthest + away <= reach + CLOSE * norm {
            let (converged, apart) = (values.len(), pairs.complete);
            let Pairs { products, restarts, .. } = pairs;
            let found = Found { values, residuals, converged, apart, products, restarts, ..Found::default() };
            return Ok((found, vectors));
        }
        (wanted, kept) = ((2 * wanted).min(all), Some(factor));
    }
}
