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

/// A fold of a division: the samples of one of several equal shares are the test samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The place of the fold, counted from 0.
    pub number: usize,
    /// The number of folds.
    pub of: usize,
}

impl Fold {
    /// Returns the places of the test samples in the order of the division.
    fn places(self, samples: usize) -> std::ops::Range<usize> {
        let first = |number: usize| number * samples / self.of;
        first(self.number)..first(self.number + 1)
    }
}

/// Which samples may be test samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Division {
    /// All, by the shares of the split.
    #[default]
    Shares,
    /// Those of a fold.
    Fold(Fold),
    /// The last ones: the data set has training samples first, then validation samples, then test samples, in these
    /// numbers.
    Parts([usize; 3]),
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
    pub fn counts(&self, samples: usize) -> Result<[usize; 3]> {
        let [train, ..] = self.shares;
        let sum: f64 = self.shares.iter().sum();
        if !(self.shares.iter().all(|share| *share >= 0.0) && (sum - 1.0).abs() < 1e-9 && train > 0.0) {
            let what =
                format!("expected shares of at least 0 that sum to 1, the first above 0, found {:?}", self.shares);
            return Err(Error::domain("split", what));
        }
        let counts = self.rounded(samples);
        for (part, (count, share)) in Part::ALL.into_iter().zip(counts.into_iter().zip(self.shares)) {
            if share > 0.0 && count == 0 {
                // A share of what a fold leaves has rounding errors.
                let share = (1e6 * share).round() / 1e6;
                let what = format!("expected at least one sample for {}, found {share} of {samples}", part.name());
                return Err(Error::domain("split", what));
            }
        }
        Ok(counts)
    }

    /// Returns the shares of the samples in whole numbers.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
    fn rounded(&self, samples: usize) -> [usize; 3] {
        let [train, validation, test] = self.shares;
        let n = samples as f64;
        let first = (train * n).round() as usize;
        let second = ((train + validation) * n).round() as usize;
        let counts = if test == 0.0 {
            [first, samples.saturating_sub(first), 0]
        } else {
            [first, second.saturating_sub(first), samples.saturating_sub(second)]
        };
        if validation == 0.0 { [counts[0], 0, samples - counts[0]] } else { counts }
    }

    /// Does the same as [`Split::counts`] for default shares. If there are too few samples for all parts,
    /// the test part comes before the validation part, but for a part that is watched, which comes first and needs a
    /// number of samples. `tested` others are the test samples of a fold.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if there are no samples, or the shares are wrong.
    pub(super) fn fitting_counts(
        &self,
        samples: usize,
        watched: Option<(Part, usize)>,
        tested: usize,
    ) -> Result<[usize; 3]> {
        let strict = self.counts(samples);
        let (watched, fewest) = watched.unzip();
        let fewest = |part: Part| if Some(part) == watched { fewest.unwrap_or(1) } else { 1 };
        let enough = |counts: &[usize; 3]| watched.is_none_or(|part| counts[part as usize] >= fewest(part));
        if strict.as_ref().is_ok_and(enough) || samples == 0 || self.counts(usize::MAX >> 12).is_err() {
            return strict;
        }
        let mut wanted = vec![Part::Test, Part::Validation];
        wanted.sort_by_key(|&part| Some(part) != watched);
        wanted.retain(|&part| self.shares[part as usize] > 0.0);
        let mut counts = self.rounded(samples);
        for (place, &part) in wanted.iter().enumerate() {
            let later = wanted[place + 1..].iter().map(|&part| part as usize).find(|&other| counts[other] > 0);
            let from = if counts[0] > 2 { Some(0) } else { later.or((counts[0] > 1).then_some(0)) };
            // With fewer than five samples, a third part is worth less than a sample to train on.
            let third = place > 0 || tested > 0 && Some(part) != watched;
            if let Some(from) = from.filter(|_| counts[part as usize] == 0 && (!third || samples + tested > 4)) {
                (counts[from], counts[part as usize]) = (counts[from] - 1, 1);
            }
            while (1..fewest(part)).contains(&counts[part as usize]) && counts[0] > 1 {
                (counts[0], counts[part as usize]) = (counts[0] - 1, counts[part as usize] + 1);
            }
        }
        Ok(counts)
    }

    /// Returns the number of samples of each part if the data set has its parts one after another. Validation samples
    /// are a share of its training samples, if it has none.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if these are not the samples of the data set.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
    pub(super) fn counts_of_parts(&self, samples: usize, parts: [usize; 3]) -> Result<[usize; 3]> {
        let all: usize = parts.iter().sum();
        if all != samples || parts[0] == 0 {
            let what = format!("expected one group of the {all} samples that the file divides, found {samples}");
            return Err(Error::domain("split", what));
        }
        let [train, validation, _] = self.shares;
        let own = if parts[1] > 0 { 0 } else { (parts[0] as f64 * validation / (train + validation)).round() as usize };
        Ok([parts[0] - own, parts[1] + own, parts[2]])
    }

    /// Returns the number of samples of each part if a fold is the test set. The others are divided by the shares of
    /// training and validation, which are made to fit, as by [`Split::fitting_counts`], if `fitting` says what is
    /// watched.
    pub(super) fn counts_of_fold(
        &self,
        samples: usize,
        fold: Fold,
        fitting: Option<Option<(Part, usize)>>,
    ) -> Result<[usize; 3]> {
        let Fold { number, of } = fold;
        let wrong = match samples {
            0 | 1 => Some(format!("expected at least 2 samples for folds, found {samples}")),
            _ if of < 2 => Some(format!("expected at least 2 folds, found {of}")),
            _ if of > samples => Some(format!("expected at most {samples} folds of {samples} samples, found {of}")),
            _ => (number >= of).then(|| format!("expected a fold below {of}, found {number}")),
        };
        if let Some(what) = wrong {
            return Err(Error::domain("split", what));
        }
        let test = fold.places(samples).len();
        let [train, validation, _] = self.shares;
        let shares = [train / (train + validation), validation / (train + validation), 0.0];
        let (others, rest) = (Self { shares, ..*self }, samples - test);
        let [train, validation, _] = match fitting {
            // A fold always has test samples, so none are set aside for a rule that watches them.
            Some(watched) => others.fitting_counts(rest, watched.filter(|(part, _)| *part != Part::Test), test)?,
            None => others.counts(rest)?,
        };
        Ok([train, validation, test])
    }

    /// Returns the samples of each part of a group of `samples` samples, for a run with the given seed.
    pub(crate) fn rows(
        &self,
        group: u64,
        samples: usize,
        (counts, division): ([usize; 3], Division),
        run_seed: u64,
    ) -> [Vec<u32>; 3] {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let n = number(if let Division::Parts([train, ..]) = division { train } else { samples });
        let order = shuffled(self.seed.unwrap_or(run_seed), group, n);
        let mut all: Vec<u32> = (0..n).map(order).collect();
        match division {
            Division::Shares => {}
            Division::Fold(fold) => {
                // The test samples are moved to the end, so that the others keep their order.
                let test: Vec<u32> = all.drain(fold.places(samples)).collect();
                all.extend(test);
            }
            Division::Parts(_) => all.extend(n..number(samples)),
        }
        let (train, rest) = all.split_at(counts[0]);
        let (validation, test) = rest.split_at(counts[1]);
        [train.to_vec(), validation.to_vec(), test.to_vec()]
    }
}

#[cfg(test)]
mod tests {
    use super::{Division, Fold, Part, Split};

    #[test]
    fn every_sample_is_in_one_part() {
        for shares in [[0.7, 0.1, 0.2], [0.8, 0.0, 0.2], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]] {
            let split = Split { shares, seed: None };
            for samples in [10, 1797, 6000] {
                let counts = split.counts(samples).expect("valid shares");
                let parts = split.rows(0, samples, (counts, Division::Shares), 7);
                let mut all = parts.concat();
                all.sort_unstable();
                assert!(all.iter().copied().eq(0..samples as u32), "{shares:?} {samples}");
                for (count, share) in counts.iter().zip(shares) {
                    assert!((*count as f64 - share * samples as f64).abs() <= 1.0, "{counts:?}");
                }
            }
            assert_ne!(
                split.rows(0, 100, (split.counts(100).unwrap(), Division::Shares), 1),
                split.rows(0, 100, (split.counts(100).unwrap(), Division::Shares), 2)
            );
            assert_ne!(
                split.rows(0, 100, ([70, 10, 20], Division::Shares), 1),
                split.rows(1, 100, ([70, 10, 20], Division::Shares), 1),
                "two groups, one division"
            );
            let fixed = Split { seed: Some(5), ..split };
            assert_eq!(
                fixed.rows(3, 100, ([70, 10, 20], Division::Shares), 1),
                fixed.rows(3, 100, ([70, 10, 20], Division::Shares), 2)
            );
        }
    }

    /// Every sample is in one test set, and in one part of each fold.
    #[test]
    fn folds() {
        let split = Split { shares: [0.7, 0.1, 0.2], seed: None };
        for samples in [10, 103, 1797] {
            let mut tested = Vec::new();
            for number in 0..5 {
                let fold = Fold { number, of: 5 };
                let counts = split.counts_of_fold(samples, fold, None).unwrap();
                let parts = split.rows(0, samples, (counts, Division::Fold(fold)), 7);
                assert_eq!(parts.each_ref().map(Vec::len), counts);
                assert!((counts[2] as f64 - samples as f64 / 5.0).abs() < 1.0, "{counts:?}");
                assert!((counts[1] as f64 - samples as f64 / 10.0).abs() < 1.0, "{counts:?}");
                let mut all = parts.concat();
                all.sort_unstable();
                assert!(all.iter().copied().eq(0..samples as u32));
                tested.extend_from_slice(&parts[2]);
            }
            tested.sort_unstable();
            assert!(tested.iter().copied().eq(0..samples as u32));
        }
        for (samples, number, of, wanted) in [
            (10, 5, 5, "expected a fold below 5, found 5"),
            (10, 0, 1, "expected at least 2 folds, found 1"),
            (2, 0, 5, "expected at most 2 folds of 2 samples, found 5"),
            (1, 0, 2, "expected at least 2 samples for folds, found 1"),
            (5, 0, 5, "expected at least one sample for validation, found 0.125 of 4"),
        ] {
            let error = split.counts_of_fold(samples, Fold { number, of }, None).expect_err("wrong").to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }

    /// Default shares fit the samples that a fold leaves as they fit those without folds: from five samples on, or if
    /// they are watched, some are for validation.
    #[test]
    fn default_shares_fit_folds_of_few_samples() {
        let split = Split::default();
        for samples in 2..50 {
            for of in 2..=samples.min(10) {
                for number in 0..of {
                    let counts = |watched| split.counts_of_fold(samples, Fold { number, of }, Some(watched)).unwrap();
                    let found = counts(None);
                    assert_eq!(found.iter().sum::<usize>(), samples);
                    assert!(found[0] > 0 && found[2] > 0, "{found:?}");
                    if found[0] + found[1] > 1 {
                        assert_eq!(found[1] > 0, samples > 4, "{found:?}");
                        assert!(counts(Some((Part::Validation, 1)))[1] > 0);
                    }
                    let strict = split.counts_of_fold(samples, Fold { number, of }, None);
                    assert!(strict.is_err() || strict.is_ok_and(|strict| strict == found), "{found:?}");
                    assert_eq!(counts(Some((Part::Test, 2))), found);
                }
            }
        }
    }

    /// Default shares are an error for no number of samples, and those that fit are as they were.
    #[test]
    fn default_shares_fit_few_samples() {
        for (shares, watched, wanted) in [
            ([0.7, 0.1, 0.2], None, vec![[1, 0, 0], [1, 0, 1], [2, 0, 1], [3, 0, 1], [3, 1, 1], [4, 1, 1]]),
            ([0.7, 0.1, 0.2], Some(Part::Validation), vec![[1, 0, 0], [1, 1, 0], [2, 1, 0], [2, 1, 1], [3, 1, 1]]),
            ([0.8, 0.0, 0.2], None, vec![[1, 0, 0], [1, 0, 1], [2, 0, 1], [3, 0, 1], [4, 0, 1]]),
            ([0.7, 0.3, 0.0], None, vec![[1, 0, 0], [1, 1, 0], [2, 1, 0]]),
        ] {
            let split = Split { shares, seed: None };
            for (samples, wanted) in (1..).zip(wanted) {
                let watched = watched.map(|part| (part, 1));
                assert_eq!(
                    split.fitting_counts(samples, watched, 0).unwrap(),
                    wanted,
                    "{shares:?} {samples} {watched:?}"
                );
            }
            let watched = watched.map(|part| (part, 1));
            for samples in 10..50 {
                assert_eq!(split.fitting_counts(samples, watched, 0).ok(), split.counts(samples).ok());
            }
            assert!(split.fitting_counts(0, watched, 0).is_err());
        }
        // A metric that needs two samples.
        for (samples, wanted) in [(2, [1, 1, 0]), (3, [1, 2, 0]), (5, [2, 2, 1]), (10, [6, 2, 2]), (12, [8, 2, 2])] {
            let found = Split::default().fitting_counts(samples, Some((Part::Validation, 2)), 0).unwrap();
            assert_eq!((found, found.iter().sum::<usize>()), (wanted, samples));
        }
        assert!(Split { shares: [0.5, 0.1, 0.1], seed: None }.fitting_counts(9, None, 0).is_err());
    }

    /// The parts of a file stay apart, and only training samples become validation samples.
    #[test]
    fn parts_of_a_file() {
        let split = Split::default();
        for (parts, wanted) in [([80, 0, 20], [70, 10, 20]), ([80, 5, 20], [80, 5, 20]), ([3, 0, 2], [3, 0, 2])] {
            let samples = parts.iter().sum();
            let counts = split.counts_of_parts(samples, parts).unwrap();
            assert_eq!(counts, wanted);
            let rows = split.rows(0, samples, (counts, Division::Parts(parts)), 7);
            assert!(rows[2].iter().copied().eq((samples - parts[2]) as u32..samples as u32));
            assert!(rows[0].iter().all(|row| (*row as usize) < parts[0]));
            let mut all = rows.concat();
            all.sort_unstable();
            assert!(all.iter().copied().eq(0..samples as u32));
        }
        assert!(split.counts_of_parts(99, [80, 0, 20]).is_err());
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
