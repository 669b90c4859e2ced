//! Metrics by name, and the rule by which a run stops early.

use crate::error::{Error, Result};
use crate::ops::mlp::{Loss, Mlp, Scores};
use std::fmt;
use std::str::FromStr;

/// A part of the data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The samples that gradients are computed from.
    Train,
    /// The samples by which a run is stopped and its best parameters are chosen.
    Validation,
    /// The samples that are scored once, after training.
    Test,
}

impl Part {
    /// The three parts.
    pub const ALL: [Self; 3] = [Self::Train, Self::Validation, Self::Test];

    /// Returns the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Validation => "validation",
            Self::Test => "test",
        }
    }
}

/// A number that is computed from the scores of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// The mean loss.
    Loss,
    /// The share of samples whose class was predicted.
    Accuracy,
    /// The mean over the classes of their accuracy.
    BalancedAccuracy,
    /// The mean over the classes of the harmonic mean of precision and recall.
    MacroF1,
    /// The expected calibration error.
    CalibrationError,
    /// The area under the ROC curve, of two classes.
    Auc,
    /// The mean of -log p, where p is the probability of the label.
    LogLoss,
    /// The coefficient of determination of values.
    R2,
    /// The root mean square error of values.
    Rmse,
    /// The mean absolute error of values.
    Mae,
}

impl Metric {
    /// All metrics.
    pub const ALL: [Self; 10] = [
        Self::Loss,
        Self::Accuracy,
        Self::BalancedAccuracy,
        Self::MacroF1,
        Self::CalibrationError,
        Self::Auc,
        Self::LogLoss,
        Self::R2,
        Self::Rmse,
        Self::Mae,
    ];

    /// Returns the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Accuracy => "accuracy",
            Self::BalancedAccuracy => "balanced_accuracy",
            Self::MacroF1 => "macro_f1",
            Self::CalibrationError => "calibration_error",
            Self::Auc => "auc",
            Self::LogLoss => "log_loss",
            Self::R2 => "r2",
            Self::Rmse => "rmse",
            Self::Mae => "mae",
        }
    }

    /// Returns whether a larger value is better.
    #[must_use]
    pub fn larger_is_better(self) -> bool {
        !matches!(self, Self::Loss | Self::CalibrationError | Self::LogLoss | Self::Rmse | Self::Mae)
    }

    /// Returns the least and the largest value.
    #[must_use]
    pub fn range(self) -> [f64; 2] {
        match self {
            Self::Loss | Self::LogLoss | Self::Rmse | Self::Mae => [0.0, f64::INFINITY],
            Self::R2 => [f64::NEG_INFINITY, 1.0],
            _ => [0.0, 1.0],
        }
    }

    /// Returns whether the metric is of values, and neither of classes nor of every training.
    #[must_use]
    pub fn is_of_values(self) -> bool {
        matches!(self, Self::R2 | Self::Rmse | Self::Mae)
    }

    /// Returns the fewest samples of a part in which the metric may be defined.
    #[must_use]
    pub fn fewest(self) -> usize {
        if matches!(self, Self::Auc | Self::R2) { 2 } else { 1 }
    }

    /// Returns whether trainings of a network with this loss have the metric.
    #[must_use]
    pub fn fits(self, loss: &Loss, net: &Mlp) -> bool {
        match self {
            Self::Loss => true,
            Self::Auc => loss.classes(net) == Some(2),
            _ if self.is_of_values() => *loss == Loss::MeanSquares,
            _ => loss.takes_labels(),
        }
    }

    /// Returns the value of this metric.
    #[must_use]
    pub fn of(self, scores: &Scores) -> f64 {
        match self {
            Self::Loss => scores.loss(),
            Self::Accuracy => scores.accuracy(),
            Self::BalancedAccuracy => scores.balanced_accuracy(),
            Self::MacroF1 => scores.macro_f1(),
            Self::CalibrationError => scores.calibration_error(),
            Self::Auc => scores.auc(),
            Self::LogLoss => scores.log_loss(),
            Self::R2 => scores.r2(),
            Self::Rmse => scores.root_mean_square_error(),
            Self::Mae => scores.mean_absolute_error(),
        }
    }
}

/// When a run stops before its last epoch: once the metric has not improved for more than `patience` epochs. The
/// parameters of the best epoch are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The part that is scored. A run that is stopped by its test samples is selected on them, which the summary says.
    pub part: Part,
    /// The metric.
    pub metric: Metric,
    /// The number of epochs without improvement after which the run stops.
    pub patience: u64,
}

impl Stop {
    /// Returns the rule for a metric that is written as in `validation.accuracy`.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if there is no such part or metric.
    pub fn on(name: &str, patience: u64) -> Result<Self> {
        let (part, metric) = name.split_once('.').unwrap_or(("", name));
        let found = Part::ALL.into_iter().find(|known| known.name() == part);
        match (found, metric.parse()) {
            (Some(part), Ok(metric)) => Ok(Self { part, metric, patience }),
            _ => {
                let (parts, metrics) = (Part::ALL.map(Part::name).join(", "), Metric::ALL.map(Metric::name).join(", "));
                let what = format!(
                    "expected a part ({parts}) and a metric ({metrics}), such as validation.accuracy, found {name}"
                );
                Err(Error::domain("train", what))
            }
        }
    }

    /// Returns whether `value` is better than `best`. Every value is better than NaN.
    pub(super) fn improves(&self, value: f64, best: f64) -> bool {
        if best.is_nan() {
            return !value.is_nan();
        }
        if self.metric.larger_is_better() { value > best } else { value < best }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.part.name(), self.metric.name())
    }
}

impl FromStr for Metric {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == text).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            Error::domain("train", format!("expected a metric of {known}, found {text}"))
        })
    }
}
