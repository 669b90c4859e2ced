//! What is kept of a finished run.

use crate::ops::mlp::{Number, Scores};
use crate::train::{Epoch, Fitted, Metric, Part};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A finished run: its row, how it ended, and its scores on every part. Numbers that are not defined are `None`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The id of the row.
    pub id: String,
    /// The values of the factors: `features`, `layers`, and the keys of the grid.
    pub factors: BTreeMap<String, Value>,
    /// The seed.
    pub seed: u64,
    /// The fold, counted from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold: Option<usize>,
    /// A hash of the numbers that the run was trained on, and of their targets.
    pub data: String,
    /// Where it was trained: `cpu`, or the name of an adapter.
    pub side: String,
    /// How it ended.
    pub status: String,
    /// The number of epochs that were completed.
    pub epochs: u64,
    /// The epoch of the returned parameters, if there is a stopping rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_epoch: Option<u64>,
    /// The scores of the returned parameters, by the name of the part.
    pub parts: BTreeMap<String, PartRecord>,
    /// The records of the epochs.
    pub curve: Vec<CurvePoint>,
}

/// The scores of a run on a part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartRecord {
    /// The number of samples.
    pub samples: u64,
    /// The metrics by name.
    pub metrics: BTreeMap<String, Option<f64>>,
    /// The number of samples of each label (rows) that were predicted as each class (columns).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confusion: Vec<Vec<u64>>,
    /// For each of 15 equal ranges of confidence: the number of samples, the sum of their confidences, which a run that
    /// diverged may not have, and how many of their classes were predicted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calibration: Vec<(u64, Option<f64>, u64)>,
    /// For each sample of the part, in ascending order, a digit: 1 if its class was predicted. Only of test samples.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub right: String,
}

/// An epoch of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The epoch, counted from 0.
    pub epoch: u64,
    /// The mean loss of the steps.
    pub loss: Option<f64>,
    /// The share of training samples that were right before their step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// The loss of the validation samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_loss: Option<f64>,
    /// The accuracy of the validation samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_accuracy: Option<f64>,
}

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

impl CurvePoint {
    fn of(epoch: &Epoch) -> Self {
        let validation = |metric: Metric| {
            let place = Metric::ALL.iter().position(|known| *known == metric)?;
            finite(epoch.validation[place])
        };
        Self {
            epoch: epoch.epoch,
            loss: finite(epoch.loss),
            accuracy: finite(epoch.accuracy),
            validation_loss: validation(Metric::Loss),
            validation_accuracy: validation(Metric::Accuracy),
        }
    }
}

impl PartRecord {
    /// Returns the label of all samples, if they have the same one.
    pub(super) fn only_label(&self) -> Option<usize> {
        let mut found = (0..self.confusion.len()).filter(|&label| self.confusion[label].iter().any(|count| *count > 0));
        found.next().filter(|_| found.next().is_none())
    }

    fn of(scores: &Scores, right: String) -> Self {
        let classes = scores.classes();
        let metrics = Metric::ALL.map(|metric| (metric.name().to_owned(), finite(metric.of(scores))));
        let confusion = (0..classes).map(|label| (0..classes).map(|class| scores.confusion(label, class)).collect());
        Self {
            samples: scores.samples(),
            metrics: metrics.into_iter().collect(),
            confusion: confusion.collect(),
            calibration: scores
                .calibration()
                .bins()
                .iter()
                .map(|bin| (bin.count, finite(bin.confidences), bin.right))
                .collect(),
            right,
        }
    }
}

/// Returns whether a run with this status has results that can be used.
pub(super) fn is_good(status: &str) -> bool {
    ["Finished", "Stopped"].contains(&status)
}

/// What a record has besides the run itself.
pub(super) struct About<'a> {
    pub(super) id: &'a str,
    pub(super) factors: &'a BTreeMap<String, Value>,
    pub(super) fold: Option<usize>,
    pub(super) data: &'a str,
    pub(super) side: &'a str,
    /// Whether each test sample was right.
    pub(super) right: String,
}

impl Record {
    pub(super) fn new<T: Number>(about: About<'_>, fitted: &Fitted<T>) -> Self {
        let About { id, factors, fold, data, side, right } = about;
        let of_part = |part: Part| {
            let right = if part == Part::Test { right.clone() } else { String::new() };
            Some((part.name().to_owned(), PartRecord::of(fitted.scores(part)?, right)))
        };
        Self {
            id: id.to_owned(),
            factors: factors.clone(),
            seed: fitted.run().seed,
            fold,
            data: data.to_owned(),
            side: side.to_owned(),
            status: fitted.status().name().to_owned(),
            epochs: fitted.epochs(),
            best_epoch: fitted.best_epoch(),
            parts: Part::ALL.into_iter().filter_map(of_part).collect(),
            curve: fitted.history().iter().map(CurvePoint::of).collect(),
        }
    }

    /// Returns whether the run ended in a way that its results can be used.
    #[must_use]
    pub fn is_good(&self) -> bool {
        is_good(&self.status)
    }

    /// Returns a metric of a part, if it is defined.
    #[must_use]
    pub fn metric(&self, part: Part, metric: Metric) -> Option<f64> {
        *self.parts.get(part.name())?.metrics.get(metric.name())?
    }

    /// Returns the record as a line of JSON.
    pub(super) fn to_line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the row of the record for a table, with the names of the columns: the factors, the seed, the fold, the
    /// end and the metrics.
    pub(super) fn to_row(&self) -> Vec<(String, Value)> {
        let mut row = vec![("id".to_owned(), self.id.clone().into())];
        row.extend(self.factors.clone());
        row.push(("seed".to_owned(), self.seed.into()));
        row.push(("fold".to_owned(), self.fold.into()));
        row.push(("status".to_owned(), self.status.clone().into()));
        row.push(("epochs".to_owned(), self.epochs.into()));
        for (part, record) in &self.parts {
            row.extend(record.metrics.iter().map(|(metric, value)| (format!("{part}.{metric}"), (*value).into())));
        }
        row
    }
}
