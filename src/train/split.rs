//! The division of a data set into the parts for training, validation and test.

use super::stop::Part;
use crate::error::{Error, Result};
use crate::ops::mlp::shuffled;

/// How a data set is divided: which share of the samples each part has, and by which seed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// The shares for training, validation and test. Their sum is 1.
    pub shares: [f64; 3],
    /// The seed of a division that all runs share. Without it, every run divides the data by its own seed, so that the
    /// spread of the results includes that of the division.
    pub seed: Option<u64>,
}

impl Default for Split {
    fn default() -> Self {
        Self { shares: [0.7, 0.1, 0.2], seed: None }
    }
}

impl Split {
    /// Returns the number of samples of each part. The parts are rounded so that each sample is in one.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if a share is negative, the shares do not sum to 1, or a part with a share has no
    /// sample.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
    pub fn counts(&self, samples: usize) -> Result<[usize; 3]> {
        let [train, validation, test] = self.shares;
        let sum: f64 = self.shares.iter().sum();
        if !(self.shares.iter().all(|share| *share >= 0.0) && (sum - 1.0).abs() < 1e-9 && train > 0.0) {
            let what =
                format!("expected shares of at least 0 that sum to 1, the first above 0, found {:?}", self.shares);
            return Err(Error::domain("split", what));
        }
        let n = samples as f64;
        let first = (train * n).round() as usize;
        let second = ((train + validation) * n).round() as usize;
        let counts = if test == 0.0 {
            [first, samples.saturating_sub(first), 0]
        } else {
            [first, second.saturating_sub(first), samples.saturating_sub(second)]
        };
        let counts = if validation == 0.0 { [counts[0], 0, samples - counts[0]] } else { counts };
        for (part, (count, share)) in Part::ALL.into_iter().zip(counts.into_iter().zip(self.shares)) {
            if share > 0.0 && count == 0 {
                let what = format!("expected at least one sample for {}, found {share} of {samples}", part.name());
                return Err(Error::domain("split", what));
            }
        }
        Ok(counts)
    }

    /// Returns the samples of each part of a group of `samples` samples, for a run with the given seed.
    pub(super) fn rows(&self, group: u64, samples: usize, counts: [usize; 3], run_seed: u64) -> [Vec<u32>; 3] {
        let n = u32::try_from(samples).unwrap_or(u32::MAX);
        let order = shuffled(self.seed.unwrap_or(run_seed), group, n);
        let all: Vec<u32> = (0..n).map(order).collect();
        let (train, rest) = all.split_at(counts[0]);
        let (validation, test) = rest.split_at(counts[1]);
        [train.to_vec(), validation.to_vec(), test.to_vec()]
    }
}

#[cfg(test)]
mod tests {
    use super::Split;

    #[test]
    fn every_sample_is_in_one_part() {
        for shares in [[0.7, 0.1, 0.2], [0.8, 0.0, 0.2], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]] {
            let split = Split { shares, seed: None };
            for samples in [10, 1797, 6000] {
                let counts = split.counts(samples).expect("valid shares");
                let parts = split.rows(0, samples, counts, 7);
                let mut all = parts.concat();
                all.sort_unstable();
                assert!(all.iter().copied().eq(0..samples as u32), "{shares:?} {samples}");
                for (count, share) in counts.iter().zip(shares) {
                    assert!((*count as f64 - share * samples as f64).abs() <= 1.0, "{counts:?}");
                }
            }
            assert_ne!(
                split.rows(0, 100, split.counts(100).unwrap(), 1),
                split.rows(0, 100, split.counts(100).unwrap(), 2)
            );
            assert_ne!(
                split.rows(0, 100, [70, 10, 20], 1),
                split.rows(1, 100, [70, 10, 20], 1),
                "two groups, one division"
            );
            let fixed = Split { seed: Some(5), ..split };
            assert_eq!(fixed.rows(3, 100, [70, 10, 20], 1), fixed.rows(3, 100, [70, 10, 20], 2));
        }
    }

    #[test]
    fn wrong_shares() {
        for shares in [[0.5, 0.1, 0.1], [-0.1, 0.6, 0.5], [0.0, 0.5, 0.5], [f64::NAN, 0.5, 0.5]] {
            assert!(Split { shares, seed: None }.counts(100).is_err(), "{shares:?}");
        }
        let error = Split::default().counts(3).expect_err("no sample for validation").to_string();
        assert!(error.contains("validation"), "{error}");
    }
}
