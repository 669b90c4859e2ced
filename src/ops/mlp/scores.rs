//! What an evaluation counts, and the metrics that are computed from the counts.

use super::classified::{Calibration, Confusion, count};

/// The number of bins of the calibration error.
const BINS: usize = 15;

/// The counts of an evaluation. The metrics of classification are NaN where there are no classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    /// The sum of the losses of the samples, and of the weights of the samples.
    loss: f64,
    weight: f64,
    samples: u64,
    confusion: Confusion,
    calibration: Calibration,
}

impl Scores {
    pub(super) fn new(classes: Option<usize>) -> Self {
        let count = classes.unwrap_or(0);
        Self {
            loss: 0.0,
            weight: 0.0,
            samples: 0,
            confusion: Confusion::empty(count),
            calibration: Calibration::empty(if count > 0 { BINS } else { 0 }),
        }
    }

    /// Adds a sample, with its label, its predicted class and the probability of this class.
    pub(super) fn add(&mut self, loss: f64, weight: f64, classified: Option<(u32, u32, f64)>) {
        self.loss += loss;
        self.weight += weight;
        self.samples += 1;
        if let Some((label, class, confidence)) = classified {
            self.confusion.add(label as usize, class as usize);
            self.calibration.add(confidence, label == class);
        }
    }

    /// Adds the counts of other samples, with the same classes.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.loss += other.loss;
        self.weight += other.weight;
        self.samples += other.samples;
        self.confusion.merge(&other.confusion);
        self.calibration.merge(&other.calibration);
    }

    /// Returns the number of samples.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Returns the mean loss.
    #[must_use]
    pub fn loss(&self) -> f64 {
        self.loss / self.weight
    }

    /// Returns the number of classes, or 0 if the targets are values.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.confusion.classes()
    }

    /// Returns how many samples with label `label` were predicted as `class`.
    #[must_use]
    pub fn confusion(&self, label: usize, class: usize) -> u64 {
        self.confusion.count(label, class)
    }

    /// Returns the share of samples whose class was predicted.
    #[must_use]
    pub fn accuracy(&self) -> f64 {
        if self.classes() == 0 { f64::NAN } else { count(self.confusion.right()) / count(self.samples) }
    }

    /// Returns the mean over the classes that occur of the share of their samples that were predicted.
    #[must_use]
    pub fn balanced_accuracy(&self) -> f64 {
        self.confusion.balanced_accuracy()
    }

    /// Returns the mean over the classes that occur, or are predicted, of the harmonic mean of precision and recall.
    #[must_use]
    pub fn macro_f1(&self) -> f64 {
        self.confusion.macro_f1()
    }

    /// Returns the expected calibration error: the mean difference between confidence and accuracy in 15 equal ranges
    /// of confidence, weighted by their numbers of samples (Guo, Pleiss, Sun and Weinberger, ICML 2017).
    #[must_use]
    pub fn calibration_error(&self) -> f64 {
        self.calibration.expected_error()
    }

    /// Returns the confusion matrix, without classes if the targets are values.
    #[must_use]
    pub fn confusion_matrix(&self) -> &Confusion {
        &self.confusion
    }

    /// Returns the calibration in 15 equal ranges of confidence, or without any if the targets are values.
    #[must_use]
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }
}
