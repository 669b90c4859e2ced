//! Correlations, with permutation tests.

use super::checks;
use super::permutation::{DRAWS, Permutation, Words};
use super::ranks::average_ranks;
use crate::error::{Error, Result};
use crate::train::moments;
use serde::Serialize;

/// The largest number of pairs for which all orders are tried.
const EXACT: usize = 7;

/// A correlation of pairs, with the p value that they are independent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Correlation {
    /// The number of pairs.
    pub n: usize,
    /// The correlation coefficient, in `[-1, 1]`.
    pub r: f64,
    /// The test that the values are independent: the partners are put into other orders, and |r| is compared. For up to
    /// 7 pairs, all orders are tried.
    pub permutation: Permutation,
}

/// Computes Pearson's correlation: the sum of (x - mean x)(y - mean y), over the square root of the product of the sums
/// of (x - mean x)^2 and (y - mean y)^2 (Pearson, 1895).
///
/// `seed` is used for the orders of more than 7 pairs (Pitman, *Significance tests which may be applied to samples from
/// any populations II*, 1937).
///
/// ```
/// use fiedler::experiment::statistics::{pearson, spearman};
///
/// let (x, y) = ([1.0, 2.0, 3.0, 4.0], [1.0, 4.0, 9.0, 16.0]);
/// assert!((pearson(&x, &y, 7)?.r - 0.9844).abs() < 1e-4);
/// assert_eq!(spearman(&x, &y, 7)?.r, 1.0);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Shape`] if the lengths differ; [`crate::ErrorKind::Domain`] if there are fewer than two pairs, a
/// value is not finite, or all x or all y are equal, so that there is no correlation.
pub fn pearson(x: &[f64], y: &[f64], seed: u64) -> Result<Correlation> {
    const NAME: &str = "Pearson correlation";
    checks::pairs(NAME, x, y)?;
    of(NAME, x, y, seed)
}

/// Computes Spearman's rank correlation: Pearson's correlation of the ranks, where equal values have the mean of their
/// ranks (Spearman, *The proof and measurement of association between two things*, 1904).
///
/// # Errors
/// As for [`pearson`].
pub fn spearman(x: &[f64], y: &[f64], seed: u64) -> Result<Correlation> {
    const NAME: &str = "Spearman correlation";
    checks::pairs(NAME, x, y)?;
    of(NAME, &average_ranks(x), &average_ranks(y), seed)
}

fn of(name: &'static str, x: &[f64], y: &[f64], seed: u64) -> Result<Correlation> {
    let (Some(x), Some(mut y)) = (standardized(x), standardized(y)) else {
        return Err(Error::domain(name, "expected at least two different values on each side, found equal ones"));
    };
    let product = |y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let r = product(&y).clamp(-1.0, 1.0);
    // Sums of the same products in another order differ by rounding.
    let observed = r.abs() - 1e-12;
    let extreme = |y: &[f64]| u64::from(product(y).abs() >= observed);
    let permutation = if y.len() <= EXACT {
        let (mut count, mut tried) = (0, 0);
        every_order(&mut y, &mut |y| {
            count += extreme(y);
            tried += 1;
        });
        Permutation::all(count, tried)
    } else {
        let mut words = Words::new(seed, "orders of a permutation test");
        let mut count = 0;
        for _ in 0..DRAWS {
            words.shuffle(&mut y);
            count += extreme(&y);
        }
        Permutation::drawn(count)
    };
    Ok(Correlation { n: x.len(), r, permutation })
}

/// Returns the values minus their mean, scaled to the sum of squares 1; `None` if all are equal.
fn standardized(values: &[f64]) -> Option<Vec<f64>> {
    // Scaled by the largest first, so that no square overflows.
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let values: Vec<f64> = values.iter().map(|value| value / largest).collect();
    let (mean, deviation) = moments(&values);
    let norm = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>().sqrt();
    (deviation > 0.0).then(|| values.iter().map(|value| (value - mean) / norm).collect())
}

/// Visits every order of the values (Heap, 1963).
pub(in crate::experiment) fn every_order<T>(values: &mut [T], visit: &mut impl FnMut(&[T])) {
    let mut counters = vec![0; values.len()];
    visit(values);
    let mut i = 1;
    while i < values.len() {
        if counters[i] < i {
            values.swap(if i % 2 == 0 { 0 } else { counters[i] }, i);
            visit(values);
            counters[i] += 1;
            i = 1;
        } else {
            counters[i] = 0;
            i += 1;
        }
    }
}
