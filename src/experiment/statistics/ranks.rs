//! Ranks, and whether one sample tends to be larger.

use super::checks::{self, number};
use crate::error::Result;
use crate::train::distributions::normal_tail;
use serde::Serialize;

/// The largest size of the smaller sample for which the distribution of U is exact, as in `scipy.stats.mannwhitneyu`.
const SMALL: usize = 8;
/// The largest product of both sizes for which the distribution of U is exact. Beyond it, the normal distribution is
/// close, and the exact one takes long.
const PRODUCT: usize = 4000;

/// Returns the ranks from 1 on. Equal values have the mean of their ranks.
pub(in crate::experiment) fn average_ranks(values: &[f64]) -> Vec<f64> {
    let order = ascending(values);
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for group in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = number(first as u64) + 0.5 * (number(group.len() as u64) + 1.0);
        group.iter().for_each(|&place| ranks[place] = rank);
        first += group.len();
    }
    ranks
}

fn ascending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    // Not `total_cmp`, for which -0 is less than 0. All values are finite.
    order.sort_by(|&a, &b| values[a].partial_cmp(&values[b]).unwrap_or(std::cmp::Ordering::Equal));
    order
}

/// The test that neither of two independent samples tends to be larger.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MannWhitney {
    /// The sizes of the samples.
    pub sizes: [usize; 2],
    /// U of the first sample: the number of pairs whose first value is larger, plus half the number of equal pairs.
    pub u: f64,
    /// U over the number of pairs, which estimates the probability that a first value is larger than a second.
    pub superiority: f64,
    /// The two-sided p value.
    pub p: f64,
    /// Whether the p value is from the exact distribution of U.
    pub exact: bool,
}

/// Tests that neither of two independent samples tends to be larger (Mann and Whitney, *On a test of whether one of two
/// random variables is stochastically larger than the other*, 1947).
///
/// If no values are equal, one sample has at most 8 values and the product of the sizes is at most 4000, the p value is
/// twice the tail of the exact distribution of U, at most 1. Otherwise U counts as normal with the mean n m / 2, the
/// variance n m / 12 (n + m + 1 - sum (t^3 - t) / ((n + m)(n + m - 1))) over groups of t equal values, and a continuity
/// correction of 1/2. This is `scipy.stats.mannwhitneyu` with its default settings, except for the limit of the
/// product. If all values are equal, p is 1.
///
/// ```
/// use fiedler::experiment::statistics::mann_whitney;
///
/// let found = mann_whitney(&[4.0, 5.0, 6.0], &[1.0, 2.0, 3.0])?;
/// assert_eq!((found.u, found.superiority, found.p), (9.0, 1.0, 0.1)); // 2 of the 20 choices of 3 ranks
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Domain`] if a sample is empty or a value is not finite.
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Result<MannWhitney> {
    const NAME: &str = "Mann-Whitney test";
    checks::finite(NAME, a)?;
    checks::finite(NAME, b)?;
    let both = [a, b].concat();
    let ranks = average_ranks(&both);
    let sizes = [a.len(), b.len()];
    let [n, m] = sizes.map(|size| number(size as u64));
    let u = ranks[..a.len()].iter().sum::<f64>() - 0.5 * n * (n + 1.0);
    let larger = u.max(n * m - u);
    let ties: f64 = ascending(&both)
        .chunk_by(|&a, &b| both[a] == both[b])
        .map(|group| number(group.len() as u64))
        .map(|t| t * t * t - t)
        .sum();
    let small = a.len().min(b.len()) <= SMALL && a.len().saturating_mul(b.len()) <= PRODUCT;
    let exact = small && ties == 0.0;
    let p = if exact {
        (2.0 * exact_tail(sizes, larger)).min(1.0)
    } else {
        let whole = n + m;
        let variance = n * m / 12.0 * (whole + 1.0 - ties / (whole * (whole - 1.0)));
        // Without a spread, all values are equal.
        if variance > 0.0 { (2.0 * normal_tail((larger - 0.5 * n * m - 0.5) / variance.sqrt())).min(1.0) } else { 1.0 }
    };
    Ok(MannWhitney { sizes, u, superiority: u / (n * m), p, exact })
}

/// Returns P(U >= u), where the ranks of the smaller sample are any with the same probability.
///
/// `ways[k][s]` is the number of choices of k ranks, of those seen so far, whose sum is s. All are positive, so nothing
/// cancels.
fn exact_tail(sizes: [usize; 2], u: f64) -> f64 {
    let [small, whole] = [sizes[0].min(sizes[1]), sizes[0] + sizes[1]];
    let mut ways = vec![vec![0.0; small * whole + 1]; small + 1];
    ways[0][0] = 1.0;
    for rank in 1..=whole {
        for k in (1..=small).rev() {
            let (before, after) = ways.split_at_mut(k);
            for (to, from) in after[0][rank..].iter_mut().zip(&before[k - 1]) {
                *to += from;
            }
        }
    }
    let least = small * (small + 1) / 2;
    let all: f64 = ways[small].iter().sum();
    let tail = ways[small].iter().enumerate().filter(|&(sum, _)| number(sum as u64) >= u + number(least as u64));
    tail.map(|(_, ways)| ways).sum::<f64>() / all
}
