//! Which pairs are wanted, and those that lie at both ends of the spectrum.

use super::{Found, Pair};
use crate::error::Result;
use crate::ops::eigen::Which;
use crate::ops::sparse::Bounds;
use crate::order::ascending;

/// The eigenpairs that [`eigsh`](fn@crate::ops::eigsh) computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selection {
    /// The smallest eigenvalues.
    Smallest,
    /// The largest eigenvalues.
    Largest,
    /// The eigenvalues of smallest magnitude. Unless the bounds of the matrix show that its eigenvalues have one sign,
    /// they are found as those nearest to 0, by a factorization.
    SmallestMagnitude,
    /// The eigenvalues of largest magnitude. Unless the bounds show the sign, both ends of the spectrum are computed.
    LargestMagnitude,
    /// Half of the pairs from each end of the spectrum. If k is odd, one more is from the upper end.
    BothEnds,
}

impl From<Which> for Selection {
    fn from(which: Which) -> Self {
        match which {
            Which::Smallest => Self::Smallest,
            Which::Largest => Self::Largest,
        }
    }
}

impl Selection {
    /// Returns the simplest selection of the same pairs if all eigenvalues are within the bounds.
    pub(super) fn within(self, Bounds { lower, upper, .. }: Bounds) -> Self {
        match self {
            Self::SmallestMagnitude if lower >= 0.0 => Self::Smallest,
            Self::SmallestMagnitude if upper <= 0.0 => Self::Largest,
            Self::LargestMagnitude if lower >= 0.0 => Self::Largest,
            Self::LargestMagnitude if upper <= 0.0 => Self::Smallest,
            other => other,
        }
    }

    /// Returns k pairs at the ends of a spectrum of n eigenvalues, in ascending order. `at` returns some at one end.
    /// Eigenvalues that differ by less than `error` may be copies of one.
    pub(super) fn of(
        self,
        (n, k): (usize, usize),
        error: f64,
        at: &mut dyn FnMut(Which, usize) -> Result<Found>,
    ) -> Result<Found> {
        let [below, above] = match self {
            Self::Smallest => return at(Which::Smallest, k),
            Self::Largest => return at(Which::Largest, k),
            Self::BothEnds => [k / 2, k - k / 2],
            Self::SmallestMagnitude | Self::LargestMagnitude => [k, k.min(n - k)],
        };
        let (mut low, high) = (at(Which::Smallest, below)?, at(Which::Largest, above)?);
        let (last, first) = (low.pairs.last().map(|pair| pair.0), high.pairs.first().map(|pair| pair.0));
        let meet = last.zip(first).filter(|(last, first)| first - last <= 2.0 * error).map(|(last, _)| last);
        let mut upper = high.pairs;
        if let Some(value) = meet {
            // All eigenvalues between the ends are copies of this one. Its vectors at the upper end may be a
            // combination of those at the lower end, so that all of them are taken from there.
            if below < k {
                low = at(Which::Smallest, k)?;
            }
            upper.retain(|pair| pair.0 - value > 2.0 * error);
            let kept = k.saturating_sub(if self == Self::BothEnds { upper.len() } else { 0 });
            low.pairs.truncate(kept);
        }
        low.solved.products += high.solved.products;
        low.solved.restarts += high.solved.restarts;
        low.solved.reached &= high.solved.reached;
        low.pairs.append(&mut upper);
        if self == Self::LargestMagnitude {
            low.pairs = largest(low.pairs, k);
        }
        low.known.end = low.known.end.min(low.pairs.len());
        Ok(low)
    }
}

/// Returns the k pairs of largest magnitude, in the same order. Of equal magnitudes, the upper ones are taken.
fn largest(pairs: Vec<Pair>, k: usize) -> Vec<Pair> {
    let order = ascending(pairs.iter().map(|pair| pair.0.abs()));
    let mut kept = vec![false; pairs.len()];
    order.into_iter().rev().take(k).for_each(|i| kept[i] = true);
    pairs.into_iter().zip(kept).filter_map(|(pair, kept)| kept.then_some(pair)).collect()
}
