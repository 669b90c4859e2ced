//! A data set in groups, and the passes over all groups before a training.

use super::groups::{Grouping, Reader, Source};
use super::running::Running;
use super::trainer::{Scaling, Trainer};
use super::{Run, Runs};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::mlp::{MixedPrecision, Number, Parts, Program, Replica, Samples, Targets};
use crate::parallel;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// The least number that binary16 rounds to infinity.
const BEYOND_F16: f64 = 65520.0;

/// The mean of each input, and the factor of the difference from it.
type Scalings<T> = Arc<Vec<[T; 2]>>;

/// A data set in groups, and what is trained on it.
#[derive(Clone, Copy)]
pub(super) struct Grouped<'a, T> {
    pub(super) trainer: &'a Trainer,
    pub(super) ctx: &'a Context,
    pub(super) program: &'a Program,
    pub(super) source: &'a dyn Source<T>,
    pub(super) grouping: Grouping,
}

/// What is known of a data set after passes over all groups.
pub(super) struct Surveyed<T> {
    /// A hash of all inputs and targets.
    pub(super) hash: String,
    /// The scaling of the inputs, by the seeds of splits.
    scalings: HashMap<u64, Scalings<T>>,
}

impl<'a, T: Number> Grouped<'a, T> {
    /// Reads a group, and checks that it can be trained on.
    ///
    /// # Errors
    /// Those of the source; [`crate::ErrorKind::Shape`] and [`crate::ErrorKind::Domain`] if the samples do not fit.
    pub(super) fn read(&self, group: usize) -> Result<Cow<'a, Samples<T>>> {
        let rows = self.grouping.rows(group);
        let samples = self.source.read(rows.clone())?;
        if samples.len() != rows.len() {
            return Err(Error::shape(
                "train",
                format!("{} samples from number {} on", rows.len(), rows.start),
                samples.len().to_string(),
            ));
        }
        samples.check_from(rows.start, self.program)?;
        Ok(samples)
    }

    /// Returns the samples of each part of a group, for the seeds of the runs' splits. Runs that divide the data alike
    /// share the lists.
    pub(super) fn parts(&self, group: usize, seeds: &[u64]) -> Vec<Parts> {
        let (samples, counts) = (self.grouping.rows(group).len(), self.grouping.counts(group));
        let mut different = seeds.to_vec();
        different.sort_unstable();
        different.dedup();
        let made = self.ctx.on_threads(|| {
            parallel::map(different.iter(), |_, &seed| {
                Arc::new(self.trainer.split.rows(group as u64, samples, (counts, self.trainer.division), seed))
            })
        });
        let of = |seed| different.binary_search(seed).map_or_else(|_| Parts::default(), |place| made[place].clone());
        seeds.iter().map(of).collect()
    }

    /// Returns the seeds of the runs' splits.
    pub(super) fn seeds<'r>(&self, runs: impl Iterator<Item = &'r Run>) -> Vec<u64> {
        runs.map(|run| self.trainer.split.seed.unwrap_or(run.seed)).collect()
    }

    /// Passes over all groups: checks and hashes them, and computes the scalings of the inputs.
    ///
    /// # Errors
    /// The errors of [`Grouped::read`]; [`crate::ErrorKind::Domain`] if there is only one class, or if an input exceeds
    /// the range of f16; [`crate::ErrorKind::Cancelled`].
    pub(super) fn survey(&self, runs: &Runs) -> Result<Surveyed<T>> {
        let mut seeds = self.seeds(runs.rows().iter());
        seeds.sort_unstable();
        seeds.dedup();
        let scaled = self.trainer.scaling == Scaling::Standard;
        let read = |group: usize| {
            let samples = self.read(group)?;
            let parts = if scaled { self.parts(group, &seeds) } else { Vec::new() };
            Ok((samples, parts))
        };
        std::thread::scope(|scope| {
            let groups = self.grouping.groups;
            let mut reader = Reader::new(scope, groups, &read);
            let mut hash = blake3::Hasher::new();
            let mut labels = Labels::default();
            let mut sums = vec![vec![[0.0; 2]; self.program.net.inputs()]; if scaled { seeds.len() } else { 0 }];
            let passes = if scaled { 2 } else { 1 };
            for pass in 0..passes {
                for group in 0..groups {
                    self.ctx.cancel().check()?;
                    reader.go(group)?;
                    if (pass, group) != (passes - 1, groups - 1) {
                        reader.ahead((group + 1) % groups);
                    }
                    let (samples, parts) = reader.go(group)?;
                    if pass == 0 {
                        self.check_mixed(self.grouping.rows(group).start, samples)?;
                        note(samples, &mut hash, &mut labels);
                    }
                    self.ctx.on_threads(|| {
                        let both = sums.iter_mut().zip(parts);
                        parallel::for_each(both, |_, (sums, parts)| add(samples, &parts[0], sums, pass));
                    });
                }
                if pass == 0 {
                    labels.check()?;
                    if groups > 1 && labels.are_sorted() {
                        log::warn!(
                            "the samples are sorted by class, so a group of them has few classes; shuffle the file before \
                             it is trained on in groups"
                        );
                    }
                    let n = self.grouping.all()[0];
                    #[expect(clippy::cast_precision_loss, reason = "a number of samples")]
                    sums.iter_mut().flatten().for_each(|sum| sum[0] /= n as f64);
                }
            }
            let n = self.grouping.all()[0];
            let scalings = seeds.iter().zip(sums).map(|(&seed, sums)| Ok((seed, Arc::new(scaling(sums, n)?))));
            Ok(Surveyed {
                hash: hash.finalize().to_hex().as_str().to_owned(),
                scalings: scalings.collect::<Result<_>>()?,
            })
        })
    }

    /// Creates all runs. They have no samples before they are trained on a group.
    pub(super) fn begin(&self, runs: &Runs, surveyed: &Surveyed<T>) -> Vec<Running<T>> {
        let make = |_, run: &Run| {
            let mut replica = Replica::new(self.program, self.trainer.init, run.seed, run.hyper);
            replica.scaling = surveyed.scalings.get(&self.trainer.split.seed.unwrap_or(run.seed)).cloned();
            Running::new(run.clone(), replica)
        };
        self.ctx.on_threads(|| parallel::map(runs.rows().iter(), make))
    }

    /// Refuses inputs that f16 would round to infinity. `first` is the number of the first sample in the data set.
    fn check_mixed(&self, first: usize, samples: &Samples<T>) -> Result<()> {
        // Scaled inputs are small.
        if self.trainer.mixed != MixedPrecision::F16 || self.trainer.scaling != Scaling::None {
            return Ok(());
        }
        for sample in 0..samples.len() {
            if let Some(input) = samples.row(sample).iter().position(|x| x.to_f64().abs() >= BEYOND_F16) {
                let (found, sample) = (samples.row(sample)[input].to_f64(), first + sample);
                return Err(Error::domain(
                    "train",
                    format!(
                        "mixed precision: expected inputs that f16 can represent, at most 65504, found {found} at \
                         input {input} of sample {sample}; scale the inputs, or use bf16"
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// What is noted of the labels of all samples.
#[derive(Default)]
struct Labels {
    /// The number of samples of each class.
    counts: HashMap<u32, u64>,
    last: Option<u32>,
    /// How often the class of a sample differs from that of the sample before.
    changes: u64,
}

impl Labels {
    fn add(&mut self, labels: &[u32]) {
        for &label in labels {
            *self.counts.entry(label).or_insert(0) += 1;
            self.changes += u64::from(self.last.replace(label).is_some_and(|last| last != label));
        }
    }

    fn check(&self) -> Result<()> {
        if self.counts.len() == 1
            && let Some(only) = self.last
        {
            let what = format!("expected at least two classes in the data, found only class {only}");
            return Err(Error::domain("train", what));
        }
        Ok(())
    }

    /// Returns whether the class changes less than a tenth as often as in a random order, in which two neighbors have
    /// the same class with the probability that two samples have.
    #[expect(clippy::cast_precision_loss, reason = "numbers of samples")]
    fn are_sorted(&self) -> bool {
        let n = self.counts.values().sum::<u64>() as f64;
        let alike: f64 = self.counts.values().map(|&count| (count as f64 / n).powi(2)).sum();
        self.counts.len() > 1 && (self.changes as f64) < 0.1 * n * (1.0 - alike)
    }
}

/// Hashes samples, and notes their labels.
fn note<T: Number>(samples: &Samples<T>, hash: &mut blake3::Hasher, noted: &mut Labels) {
    for row in 0..samples.len() {
        hash.update(bytemuck::cast_slice(samples.row(row)));
    }
    match samples.targets() {
        Targets::Labels(labels) => {
            hash.update(bytemuck::cast_slice(labels));
            noted.add(labels);
        }
        Targets::Values(values, _) => {
            hash.update(bytemuck::cast_slice(values));
        }
    }
}

/// Adds the inputs of samples in the first pass, and the squares of their differences from the means in the second.
fn add<T: Number>(samples: &Samples<T>, rows: &[u32], sums: &mut [[f64; 2]], pass: usize) {
    for &row in rows {
        for (sum, x) in sums.iter_mut().zip(samples.row(row as usize)) {
            if pass == 0 {
                sum[0] += x.to_f64();
            } else {
                sum[1] += (x.to_f64() - sum[0]).powi(2);
            }
        }
    }
}

/// Returns the mean of each input over `n` samples and the inverse of its standard deviation, which divides by n - 1,
/// from the means and the sums of squares.
///
/// # Errors
/// [`crate::ErrorKind::Domain`] if an input varies by so little that the precision does not hold the inverse.
#[expect(clippy::cast_precision_loss, reason = "a number of samples")]
fn scaling<T: Number>(sums: Vec<[f64; 2]>, n: usize) -> Result<Vec<[T; 2]>> {
    let one = |(input, [mean, sum]): (usize, [f64; 2])| {
        let deviation = (sum / (n as f64 - 1.0).max(1.0)).sqrt();
        // The rounding errors of a constant column's mean are far below 1e-10 of it.
        let varies = deviation > 1e-10 * mean.abs();
        if varies && deviation < T::SMALLEST {
            return Err(Error::domain(
                "train",
                format!(
                    "expected inputs with a standard deviation of at least {:.1e}, to be divided by it in {}, found \
                     {deviation:.1e} for input {input}, counted from 0{}",
                    T::SMALLEST,
                    T::NAME,
                    if deviation < f64::MIN_POSITIVE { "" } else { "; the precision f64 holds it" }
                ),
            ));
        }
        Ok([T::from_f64(mean), T::from_f64(if varies { 1.0 / deviation } else { 1.0 })])
    };
    sums.into_iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::Labels;

    /// Nearly sorted labels count as sorted, also with a rare class; a rare class in its places does not.
    #[test]
    fn sorted_labels_are_told_from_random_ones() {
        let sorted = |labels: &dyn Fn(u32) -> u32| {
            let mut noted = Labels::default();
            let all: Vec<u32> = (0..1000).map(labels).collect();
            all.chunks(300).for_each(|labels| noted.add(labels));
            noted.are_sorted()
        };
        assert!(sorted(&|i| i / 100) && sorted(&|i| u32::from(i >= 970)));
        assert!(sorted(&|i| u32::from((i >= 500) != (i % 100 == 7))));
        assert!(!sorted(&|i| i * 7919 % 1009 % 10) && !sorted(&|i| u32::from(i * 7919 % 1009 < 30)));
        assert!(!sorted(&|_| 3), "one class alone is in no order");
    }
}
