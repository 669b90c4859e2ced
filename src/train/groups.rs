//! Data sets that are trained on in groups of consecutive samples: where samples come from, the groups and the order in
//! which they are trained on, and a thread that reads the next group while one trains.

use crate::error::Result;
use crate::ops::mlp::{Number, Samples, group_order};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;

/// A data set whose samples are read when they are needed. [`Samples`] are one that is in memory, and
/// [`SampleFile`](super::SampleFile) is a file.
pub trait Source<T: Number>: Sync {
    /// Returns the number of samples.
    fn samples(&self) -> usize;

    /// Reads consecutive samples. The same rows have to have the same numbers every time.
    ///
    /// # Errors
    /// Whatever prevents that they are read, or numbers that are not finite.
    fn read(&self, rows: Range<usize>) -> Result<Cow<'_, Samples<T>>>;
}

impl<T: Number> Source<T> for Samples<T> {
    fn samples(&self) -> usize {
        self.len()
    }

    fn read(&self, rows: Range<usize>) -> Result<Cow<'_, Self>> {
        Ok(if rows == (0..self.len()) { Cow::Borrowed(self) } else { Cow::Owned(self.part(rows)) })
    }
}

/// How a data set is divided into groups, whose sizes differ by one sample at most, and the order in which the epochs
/// go through the groups. All runs are trained on a group together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Grouping {
    samples: usize,
    pub(super) groups: usize,
    seed: u64,
    /// The number of samples of each part in the first groups, which are larger, and in the others.
    counts: [[usize; 3]; 2],
}

impl Grouping {
    /// Divides `samples` samples into `groups` groups, whose order follows from the seed. `counts` returns the number
    /// of samples of each part for a size of groups.
    pub(super) fn new(
        samples: usize,
        groups: usize,
        seed: u64,
        counts: impl Fn(usize) -> Result<[usize; 3]>,
    ) -> Result<Self> {
        let counts = [counts(samples.div_ceil(groups))?, counts(samples / groups)?];
        Ok(Self { samples, groups, seed, counts })
    }

    /// Returns the number of groups that have one sample more than the others.
    fn larger(&self) -> usize {
        self.samples % self.groups
    }

    /// Returns the samples of a group.
    pub(super) fn rows(&self, group: usize) -> Range<usize> {
        let first = |group: usize| group * (self.samples / self.groups) + group.min(self.larger());
        first(group)..first(group + 1)
    }

    /// Returns the number of samples of the largest group.
    pub(super) fn largest(&self) -> usize {
        self.samples.div_ceil(self.groups)
    }

    /// Returns the number of samples of each part of a group.
    pub(super) fn counts(&self, group: usize) -> [usize; 3] {
        self.counts[usize::from(group >= self.larger())]
    }

    /// Returns the number of samples of each part of the largest group.
    pub(super) fn most(&self) -> [usize; 3] {
        self.counts[0]
    }

    /// Returns the number of samples of each part of all groups.
    pub(super) fn all(&self) -> [usize; 3] {
        self.sum(|counts| counts)
    }

    /// Returns the number of steps of an epoch, and of those on the smallest group, from the number of steps through a
    /// number of training samples.
    pub(super) fn steps(&self, batches: impl Fn(usize) -> usize) -> [usize; 2] {
        let [all] = self.sum(|counts| [batches(counts[0])]);
        [all, batches(self.counts[1][0])]
    }

    fn sum<const N: usize>(&self, of: impl Fn([usize; 3]) -> [usize; N]) -> [usize; N] {
        let (more, fewer) = (of(self.counts[0]), of(self.counts[1]));
        std::array::from_fn(|i| self.larger() * more[i] + (self.groups - self.larger()) * fewer[i])
    }

    /// Returns the group at a place in the order of an epoch.
    pub(super) fn group(&self, epoch: u64, place: usize) -> usize {
        let number = |x: usize| u32::try_from(x).unwrap_or(u32::MAX);
        if self.groups == 1 { 0 } else { group_order(self.seed, epoch, number(self.groups))(number(place)) as usize }
    }

    /// Returns the number of a place in the order of an epoch among those of all epochs.
    pub(super) fn number(&self, epoch: u64, place: usize) -> u64 {
        epoch * self.groups as u64 + place as u64
    }
}

/// The group that is in memory. Another thread reads the next one.
pub(super) struct Reader<'scope, P> {
    read: &'scope (dyn Fn(usize) -> Result<P> + Sync),
    present: Option<(usize, P)>,
    ahead: Option<Ahead<P>>,
}

struct Ahead<P> {
    requests: Sender<usize>,
    results: Receiver<Result<P>>,
    /// The group that the thread reads, or has read.
    pending: Option<usize>,
}

impl<P> fmt::Debug for Reader<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

impl<'scope, P: Send + 'scope> Reader<'scope, P> {
    /// Creates a reader, whose thread ends with it. A single group needs no thread.
    pub(super) fn new<'env: 'scope>(
        scope: &'scope Scope<'scope, 'env>,
        groups: usize,
        read: &'env (dyn Fn(usize) -> Result<P> + Sync),
    ) -> Self {
        let ahead = (groups > 1).then(|| {
            let ((requests, asked), (answers, results)) = (channel(), channel());
            scope.spawn(move || {
                while let Ok(group) = asked.recv() {
                    if answers.send(read(group)).is_err() {
                        break;
                    }
                }
            });
            Ahead { requests, results, pending: None }
        });
        Self { read, present: None, ahead }
    }

    /// Returns a group. The one before it is dropped first, so that there are two at most.
    ///
    /// # Errors
    /// What the reading results in.
    pub(super) fn go(&mut self, group: usize) -> Result<&mut P> {
        let found = match self.present.take() {
            Some((present, found)) if present == group => found,
            other => {
                drop(other);
                self.take(group)?
            }
        };
        Ok(&mut self.present.insert((group, found)).1)
    }

    fn take(&mut self, group: usize) -> Result<P> {
        let Some(ahead) = &mut self.ahead else { return (self.read)(group) };
        // What was expected to be next may not be: all runs have ended, or none is scored.
        if let Some(pending) = ahead.pending.take()
            && let Ok(found) = ahead.results.recv()
            && pending == group
        {
            return found;
        }
        (self.read)(group)
    }

    /// Begins to read the group that is likely to be next.
    pub(super) fn ahead(&mut self, group: usize) {
        let is_present = self.present.as_ref().is_some_and(|(present, _)| *present == group);
        if let Some(ahead) = &mut self.ahead
            && !is_present
            && ahead.pending.is_none()
            && ahead.requests.send(group).is_ok()
        {
            ahead.pending = Some(group);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Grouping, Reader};
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_sample_is_in_one_group_and_every_group_comes_once() {
        for (samples, groups) in [(10, 1), (10, 3), (11, 3), (12, 3), (100, 7), (1000, 999)] {
            let grouping = Grouping::new(samples, groups, 5, |n| Ok([n, 0, 0])).expect("a grouping");
            let all: Vec<usize> = (0..groups).flat_map(|group| grouping.rows(group)).collect();
            assert!(all.iter().copied().eq(0..samples), "{samples} in {groups}");
            for group in 0..groups {
                assert_eq!(grouping.counts(group)[0], grouping.rows(group).len());
                assert!(grouping.largest() - grouping.rows(group).len() <= 1);
            }
            assert_eq!((grouping.all()[0], grouping.most()[0]), (samples, grouping.rows(0).len()));
            let steps: usize = (0..groups).map(|group| grouping.rows(group).len().div_ceil(4)).sum();
            assert_eq!(grouping.steps(|n| n.div_ceil(4))[0], steps);
            let order = |epoch| (0..groups).map(|place| grouping.group(epoch, place)).collect::<Vec<_>>();
            let mut sorted = order(3);
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..groups));
            let numbers: Vec<u64> = (0..2 * groups).map(|i| grouping.number((i / groups) as u64, i % groups)).collect();
            assert!(numbers.into_iter().eq(0..2 * groups as u64), "{groups}: orders of samples repeat");
            assert!(groups < 7 || order(0) != order(1), "{groups}: two epochs, one order");
        }
    }

    /// What was expected to be next is not, and what is read twice in a row is read once.
    #[test]
    fn the_right_group_is_returned() {
        let reads = AtomicUsize::new(0);
        let read = |group: usize| {
            reads.fetch_add(1, Ordering::Relaxed);
            if group == 9 { Err(crate::error::Error::domain("train", "nine")) } else { Ok(group) }
        };
        std::thread::scope(|scope| {
            let mut reader = Reader::new(scope, 10, &read);
            for (group, next) in [(0, 1), (1, 5), (2, 3), (3, 3), (3, 9), (4, 9)] {
                assert_eq!(*reader.go(group).expect("a group"), group);
                reader.ahead(next);
            }
            assert!(reader.go(9).is_err_and(|error| error.to_string().contains("nine")));
            assert_eq!(*reader.go(8).expect("a group after the error"), 8);
        });
        // 5 and the first 9 were read for nothing.
        assert_eq!(reads.load(Ordering::Relaxed), 9);
    }
}
