//! The statistics of one configuration.

use super::super::grid::Cell;
use super::super::record::{CurvePoint, Record, is_good};
use super::super::statistics::{Estimate, Interval, Proportion, expected_best};
use super::{LEVEL, by_seed};
use crate::error::Result;
use crate::train::{Metric, Part};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The number of runs of which the best is expected to be told.
const FEW: usize = 5;
/// The most points of a curve.
const POINTS: usize = 200;

/// The statistics of one configuration.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct CellReport {
    /// The values of the factors that vary, in words.
    pub name: String,
    /// The values of all factors.
    pub factors: BTreeMap<String, Value>,
    /// The number of runs by how they ended.
    pub statuses: BTreeMap<String, usize>,
    /// The metric of each seed; with folds, the mean over the folds.
    pub values: Vec<f64>,
    /// The seeds of these values.
    pub seeds: Vec<u64>,
    /// The mean over the seeds, with its interval by Student's t distribution, cut off where the metric ends; `None` if
    /// no run ended well.
    pub estimate: Option<Estimate>,
    /// What a test set of this size says of other samples, for the mean number of right answers: Wilson's interval.
    /// With folds, the test set of a seed is that of all its folds.
    /// `None` unless the metric is an accuracy.
    pub of_test_set: Option<Proportion>,
    /// The best seed, what the best of as many seeds is expected to be, and what the best of 5 of them is. The best of
    /// several runs is no estimate of what one run reaches.
    pub best: Option<Best>,
    /// The mean number of epochs.
    pub epochs: f64,
    /// The numbers of training, validation and test samples of a run.
    pub samples: BTreeMap<String, u64>,
    /// The mean of every metric on every part.
    pub metrics: BTreeMap<String, Option<f64>>,
    /// The mean curves of the training.
    pub curves: CurveReport,
    /// The number of test samples of each label (rows) that were predicted as each class (columns), over all runs.
    pub confusion: Vec<Vec<u64>>,
    /// For each of 15 equal ranges of confidence: the number of test samples, their mean confidence, and the share of
    /// their classes that were predicted, over all runs.
    pub calibration: Vec<(u64, Option<f64>, Option<f64>)>,
}

/// The best of several runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Best {
    /// The value of the best seed.
    pub value: f64,
    /// The number of seeds.
    pub of: usize,
    /// What the best of that many seeds is expected to be, if values are normally distributed with this mean and
    /// deviation.
    pub expected: f64,
    /// The mean over all choices of 5 of the seeds of the best of them; `None` if there are fewer.
    pub of_five: Option<f64>,
}

/// Mean curves.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CurveReport {
    /// The epochs, counted from 0.
    pub epochs: Vec<u64>,
    /// The loss of the steps.
    pub loss: Vec<MeanBand>,
    /// The accuracy of the steps.
    pub accuracy: Vec<MeanBand>,
    /// The loss of the validation samples.
    pub validation_loss: Vec<MeanBand>,
    /// The accuracy of the validation samples.
    pub validation_accuracy: Vec<MeanBand>,
}

/// The mean and the standard deviation over the runs that are still trained in an epoch, and their number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeanBand {
    /// The mean.
    pub mean: Option<f64>,
    /// The standard deviation; `None` for a single run.
    pub deviation: Option<f64>,
    /// The number of runs.
    pub n: usize,
}

#[expect(clippy::cast_precision_loss, reason = "a number of runs")]
impl MeanBand {
    fn of(values: &[f64]) -> Self {
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n as f64 - 1.0);
        Self { mean: (n > 0).then_some(mean), deviation: (n > 1).then(|| variance.sqrt()), n }
    }
}

impl CurveReport {
    fn of(records: &[Record]) -> Self {
        let last = records.iter().filter_map(|record| record.curve.last()).map(|point| point.epoch).max();
        let Some(last) = last else { return Self::default() };
        // Long curves are shown at some epochs only.
        let every = (last + 1).div_ceil(POINTS as u64).max(1);
        let mut points: BTreeMap<u64, Vec<&CurvePoint>> = BTreeMap::new();
        for point in records.iter().flat_map(|record| &record.curve) {
            if point.epoch.is_multiple_of(every) || point.epoch == last {
                points.entry(point.epoch).or_default().push(point);
            }
        }
        let band = |of: fn(&CurvePoint) -> Option<f64>| {
            let bands: Vec<MeanBand> = points
                .values()
                .map(|points| MeanBand::of(&points.iter().filter_map(|point| of(point)).collect::<Vec<_>>()))
                .collect();
            if bands.iter().all(|band| band.n == 0) { Vec::new() } else { bands }
        };
        Self {
            epochs: points.keys().copied().collect(),
            loss: band(|point| point.loss),
            accuracy: band(|point| point.accuracy),
            validation_loss: band(|point| point.validation_loss),
            validation_accuracy: band(|point| point.validation_accuracy),
        }
    }
}

impl CellReport {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "numbers of runs and samples"
    )]
    pub(super) fn new(cell: &Cell, name: &str, records: &[Record], part: Part, metric: Metric) -> Result<Self> {
        let mut statuses = BTreeMap::new();
        for record in records {
            *statuses.entry(record.status.clone()).or_insert(0) += 1;
        }
        let good: Vec<Record> = records.iter().filter(|record| record.is_good()).cloned().collect();
        let (seeds, values): (Vec<u64>, Vec<f64>) = by_seed(records, part, metric).into_iter().unzip();
        let estimate = (!values.is_empty()).then(|| Estimate::of(&values, LEVEL)).transpose()?;
        let estimate =
            estimate.map(|found| Estimate { interval: found.interval.map(|own| within(own, metric)), ..found });
        let of_first = good.iter().filter(|record| Some(&record.seed) == seeds.first());
        let tested: u64 = of_first.filter_map(|record| record.parts.get(part.name())).map(|part| part.samples).sum();
        let of_test_set = match estimate {
            Some(estimate) if metric == Metric::Accuracy && tested > 0 => {
                let right = (estimate.mean * tested as f64).round() as u64;
                Some(Proportion::of(right.min(tested), tested, LEVEL)?)
            }
            _ => None,
        };
        let best = Best::of(&values, metric.larger_is_better())?;
        let samples = good.first().into_iter().flat_map(|record| &record.parts);
        let mut metrics = BTreeMap::new();
        for part in Part::ALL {
            for metric in Metric::ALL {
                let own: Vec<f64> = good.iter().filter_map(|record| record.metric(part, metric)).collect();
                if !own.is_empty() {
                    metrics.insert(format!("{}.{}", part.name(), metric.name()), MeanBand::of(&own).mean);
                }
            }
        }
        Ok(Self {
            name: name.to_owned(),
            factors: cell.factors.clone(),
            statuses,
            seeds,
            values,
            estimate,
            of_test_set,
            best,
            epochs: good.iter().map(|record| record.epochs as f64).sum::<f64>() / good.len().max(1) as f64,
            samples: samples.map(|(name, part)| (name.clone(), part.samples)).collect(),
            metrics,
            curves: CurveReport::of(&good),
            confusion: confusion(&good),
            calibration: calibration(&good),
        })
    }

    /// Returns how many runs did not end well, by how they ended, in words; empty if all did.
    #[must_use]
    pub fn left_out(&self) -> String {
        let bad = self.statuses.iter().filter(|(status, _)| !is_good(status));
        bad.map(|(status, count)| format!("{count} {}", status.to_lowercase())).collect::<Vec<_>>().join(", ")
    }

    /// Returns why there is no mean, in words.
    #[must_use]
    pub fn why_none(&self) -> &'static str {
        if self.statuses.is_empty() {
            "not run yet"
        } else if self.statuses.keys().any(|status| is_good(status)) {
            "the metric is defined in no run, or in all folds of no seed"
        } else {
            "no run ended well"
        }
    }
}

impl Best {
    /// Returns the best of some values; `None` if there are none.
    pub(super) fn of(values: &[f64], larger_is_better: bool) -> Result<Option<Self>> {
        (!values.is_empty()).then(|| best(values, larger_is_better)).transpose()
    }
}

/// Cuts an interval off where the metric ends.
fn within(interval: Interval, metric: Metric) -> Interval {
    let [low, high] = metric.range();
    Interval { low: interval.low.max(low), high: interval.high.min(high), ..interval }
}

fn best(values: &[f64], larger_is_better: bool) -> Result<Best> {
    let summary = crate::train::Summary::of(values.iter().copied(), larger_is_better);
    let of_five = (values.len() >= FEW).then(|| expected_best(values, FEW, larger_is_better)).transpose()?;
    Ok(Best { value: summary.best, of: values.len(), expected: summary.expected_best, of_five })
}

/// Returns the sum of the runs' confusion matrices of their test samples.
fn confusion(records: &[Record]) -> Vec<Vec<u64>> {
    let mut sum: Vec<Vec<u64>> = Vec::new();
    for part in records.iter().filter_map(|record| record.parts.get(Part::Test.name())) {
        if sum.is_empty() {
            sum.clone_from(&part.confusion);
            continue;
        }
        for (own, other) in sum.iter_mut().flatten().zip(part.confusion.iter().flatten()) {
            *own += other;
        }
    }
    sum
}

/// Returns the calibration of the runs' test samples together.
#[expect(clippy::cast_precision_loss, reason = "numbers of samples")]
fn calibration(records: &[Record]) -> Vec<(u64, Option<f64>, Option<f64>)> {
    let mut sum: Vec<(u64, f64, u64)> = Vec::new();
    for part in records.iter().filter_map(|record| record.parts.get(Part::Test.name())) {
        sum.resize(part.calibration.len(), (0, 0.0, 0));
        for (own, other) in sum.iter_mut().zip(&part.calibration) {
            *own = (own.0 + other.0, own.1 + other.1.unwrap_or(f64::NAN), own.2 + other.2);
        }
    }
    let share = |x: f64, n: u64| (n > 0 && x.is_finite()).then(|| x / n as f64);
    sum.into_iter().map(|(n, confidence, right)| (n, share(confidence, n), share(right as f64, n))).collect()
}
