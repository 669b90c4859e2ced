//! How a data set is divided, and how defaults are made to fit it.

use super::groups::Grouping;
use super::split::Division;
use super::stop::{Part, Stop};
use super::trainer::Trainer;
use crate::error::{Error, Result};

impl Trainer {
    /// Returns what is made to fit a data set of `samples` samples, in words: a batch and a split that were not asked
    /// for.
    #[must_use]
    pub fn adjustments(&self, samples: usize) -> Vec<String> {
        let fitted = self.fitted(samples, None);
        let mut made = Vec::new();
        if fitted.batch != self.batch {
            made.push(format!("batches of {} instead of {}", fitted.batch, self.batch));
        }
        // The parts of a file are as they are.
        let own = !matches!(self.division, Division::Parts(_));
        let groups = self.groups(samples, None);
        let (larger, smaller) = (fitted.counts(samples.div_ceil(groups)), fitted.counts(samples / groups));
        if let (true, Ok(larger), Ok(smaller)) = (own, larger, smaller) {
            let named = |lack: fn([bool; 2]) -> bool| {
                let lacks = |at: usize| self.split.shares[at] > 0.0 && lack([larger[at] == 0, smaller[at] == 0]);
                let parts = Part::ALL.into_iter().filter(|&part| lacks(part as usize));
                parts.map(Part::name).collect::<Vec<_>>().join(" and ")
            };
            let (none, some) = (named(|lack| lack == [true; 2]), named(|[one, other]| one != other));
            made.extend((!none.is_empty()).then(|| format!("no samples for {none}")));
            made.extend((!some.is_empty()).then(|| format!("no samples for {some} in some groups")));
        }
        made
    }

    /// Returns the rule by which runs are stopped.
    #[must_use]
    pub fn stopping_rule(&self) -> Option<Stop> {
        self.stop
    }

    /// Returns the number of groups. A checkpoint has `stored` groups.
    fn groups(&self, samples: usize, stored: Option<usize>) -> usize {
        let given = self.row_group.map(|rows| samples.div_ceil(rows.max(1)));
        given.or(stored).unwrap_or(1).max(1)
    }

    /// Returns these settings with a batch that fits the data set, if none was asked for.
    pub(super) fn fitted(&self, samples: usize, stored: Option<usize>) -> Self {
        let mut made = self.clone();
        if let (true, Ok([train, ..])) = (self.batch_fits, self.counts(samples / self.groups(samples, stored))) {
            made.batch = self.batch.min(train.max(1));
        }
        made
    }

    /// Returns the division of a data set into groups.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if a part of a group has no samples, if a batch exceeds its training samples, or if
    /// there are 2^32 samples or more.
    pub(super) fn grouping(&self, samples: usize, groups: usize) -> Result<Grouping> {
        let most = u32::MAX as usize;
        if samples > most {
            return Err(Error::domain("train", format!("expected at most {most} samples, found {samples}")));
        }
        if let (Division::Parts(_), true) = (self.division, groups > 1) {
            let what = format!(
                "expected one group of the samples, because the file divides them into parts, found {groups} groups; \
                 shares of a split divide every group"
            );
            return Err(Error::domain("train", what));
        }
        Grouping::new(samples, groups, self.split.seed.unwrap_or(0), |samples| match self.counts(samples) {
            Err(error) if groups > 1 => Err(error.within(format_args!("a group of {}", counted(samples, "sample")))),
            counts => counts,
        })
    }

    pub(super) fn counts(&self, samples: usize) -> Result<[usize; 3]> {
        let watched = self.stop.map(|stop| (stop.part, stop.metric.fewest()));
        let counts = match self.division {
            Division::Fold(fold) => self.split.counts_of_fold(samples, fold, self.split_fits.then_some(watched))?,
            Division::Parts(parts) => self.split.counts_of_parts(samples, parts)?,
            Division::Shares if self.split_fits => self.split.fitting_counts(samples, watched, 0)?,
            Division::Shares => self.split.counts(samples)?,
        };
        if let Some(stop) = self.stop.filter(|stop| counts[stop.part as usize] == 0) {
            let part = stop.part.name();
            let of = counted(samples, "sample");
            let what = format!("stop on {stop}: expected samples for {part}, found none among {of}");
            return Err(Error::domain("train", what));
        }
        if let Some(stop) = self.stop.filter(|stop| counts[stop.part as usize] < stop.metric.fewest()) {
            let (part, fewest, found) = (stop.part.name(), stop.metric.fewest(), counts[stop.part as usize]);
            let what = format!("stop on {stop}: expected at least {fewest} samples for {part}, found {found}");
            return Err(Error::domain("train", what));
        }
        if self.batch > counts[0] && !self.batch_fits {
            let most = counted(counts[0], "training sample");
            let what = format!("expected a batch of at most {most}, found {}", self.batch);
            return Err(Error::domain("train", what));
        }
        Ok(counts)
    }
}

/// Returns a count with its noun.
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
