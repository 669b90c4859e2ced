//! What classifiers are judged by: the confusion matrix, and the calibration of their confidences.

use crate::error::{Error, Result};
use serde::Serialize;

/// The numbers of samples of each label that were predicted as each class.
///
/// ```
/// use fiedler::train::Confusion;
///
/// let found = Confusion::of(&[0, 0, 1, 1, 2], &[0, 1, 1, 1, 0], 3)?;
/// assert_eq!(found.count(0, 1), 1); // a sample of class 0 that was taken for class 1
/// assert_eq!(found.accuracy(), 0.6);
/// assert_eq!((found.precision(1), found.recall(1)), (2.0 / 3.0, 1.0));
/// # Ok::<(), fiedler::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Confusion {
    classes: usize,
    /// Labels are rows, predictions are columns.
    counts: Vec<u64>,
}

impl Confusion {
    pub(super) fn empty(classes: usize) -> Self {
        Self { classes, counts: vec![0; classes * classes] }
    }

    /// Counts pairs of a label and a predicted class.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if the lengths differ, [`crate::ErrorKind::Domain`] if there is no class or a number
    /// is not below `classes`.
    pub fn of(labels: &[usize], predicted: &[usize], classes: usize) -> Result<Self> {
        const NAME: &str = "confusion";
        if labels.len() != predicted.len() {
            let expected = format!("a prediction for each of {} labels", labels.len());
            return Err(Error::shape(NAME, expected, format!("{} predictions", predicted.len())));
        }
        if classes == 0 || classes.checked_mul(classes).is_none() {
            return Err(Error::domain(NAME, format!("expected a number of classes, found {classes}")));
        }
        if let Some(wrong) = labels.iter().chain(predicted).find(|&&class| class >= classes) {
            return Err(Error::domain(NAME, format!("expected classes below {classes}, found {wrong}")));
        }
        let mut own = Self::empty(classes);
        labels.iter().zip(predicted).for_each(|(&label, &class)| own.add(label, class));
        Ok(own)
    }

    pub(super) fn add(&mut self, label: usize, class: usize) {
        self.counts[label * self.classes + class] += 1;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(own, other)| *own += other);
    }

    /// Returns the number of classes.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Returns how many samples with label `label` were predicted as `class`.
    ///
    /// # Panics
    /// If a number is not below the number of classes.
    #[must_use]
    pub fn count(&self, label: usize, class: usize) -> u64 {
        assert!(label < self.classes && class < self.classes, "expected classes below {}", self.classes);
        self.counts[label * self.classes + class]
    }

    /// Returns the number of samples.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the number of samples whose class was predicted.
    #[must_use]
    pub fn right(&self) -> u64 {
        (0..self.classes).map(|class| self.count(class, class)).sum()
    }

    /// Returns the share of samples whose class was predicted; NaN without samples.
    #[must_use]
    pub fn accuracy(&self) -> f64 {
        count(self.right()) / count(self.samples())
    }

    /// Returns the share of the samples predicted as `class` that have this label; NaN if none was predicted so.
    #[must_use]
    pub fn precision(&self, class: usize) -> f64 {
        count(self.count(class, class)) / count(self.predicted_as(class))
    }

    /// Returns the share of the samples with label `class` that were predicted so; NaN if none has this label.
    #[must_use]
    pub fn recall(&self, class: usize) -> f64 {
        count(self.count(class, class)) / count(self.of_label(class))
    }

    /// Returns the harmonic mean of precision and recall, 2 c / (l + p), where c of the l samples with label `class`
    /// are among the p samples predicted so; NaN if the class neither occurs nor is predicted.
    #[must_use]
    pub fn f1(&self, class: usize) -> f64 {
        2.0 * count(self.count(class, class)) / count(self.of_label(class) + self.predicted_as(class))
    }

    /// Returns the mean of [`Confusion::f1`] over the classes that occur or are predicted; NaN without samples.
    #[must_use]
    pub fn macro_f1(&self) -> f64 {
        mean((0..self.classes).map(|class| self.f1(class)))
    }

    /// Returns the mean of [`Confusion::recall`] over the classes that occur; NaN without samples.
    #[must_use]
    pub fn balanced_accuracy(&self) -> f64 {
        mean((0..self.classes).map(|class| self.recall(class)))
    }

    fn of_label(&self, label: usize) -> u64 {
        self.counts[label * self.classes..][..self.classes].iter().sum()
    }

    fn predicted_as(&self, class: usize) -> u64 {
        (0..self.classes).map(|label| self.count(label, class)).sum()
    }
}

/// The samples whose confidence is in one range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CalibrationBin {
    /// The number of samples.
    pub count: u64,
    /// The sum of the confidences: of the probabilities of the predicted classes.
    pub confidences: f64,
    /// The number of samples whose class was predicted.
    pub right: u64,
}

impl CalibrationBin {
    /// Returns the mean confidence; NaN without samples.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        self.confidences / count(self.count)
    }

    /// Returns the share of samples whose class was predicted; NaN without samples.
    #[must_use]
    pub fn accuracy(&self) -> f64 {
        count(self.right) / count(self.count)
    }
}

/// How far the probabilities of the predicted classes are from the shares of right predictions, in ranges of equal
/// width: a reliability diagram. Bin i of B has the confidences in (i/B, (i+1)/B]; the first has 0, too.
///
/// Guo, Pleiss, Sun and Weinberger, *On calibration of modern neural networks*, ICML 2017.
///
/// ```
/// use fiedler::train::Calibration;
///
/// // Two samples with a confidence of 0.9, of which one is wrong.
/// let found = Calibration::of(&[(0.9, true), (0.9, false)], 10)?;
/// assert_eq!(found.bins()[8].count, 2);
/// assert!((found.expected_error() - 0.4).abs() < 1e-12);
/// # Ok::<(), fiedler::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    bins: Vec<CalibrationBin>,
}

impl Calibration {
    pub(super) fn empty(bins: usize) -> Self {
        Self { bins: vec![CalibrationBin::default(); bins] }
    }

    /// Counts pairs of the probability of the predicted class and whether the prediction is right, in `bins` ranges
    /// (usually 10 or 15).
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if there is no bin, or more than a million of them, or a probability is not in
    /// `[0, 1]`.
    pub fn of(predictions: &[(f64, bool)], bins: usize) -> Result<Self> {
        const NAME: &str = "calibration";
        if !(1..=1_000_000).contains(&bins) {
            return Err(Error::domain(NAME, format!("expected 1 to 1000000 bins, found {bins}")));
        }
        if let Some((wrong, _)) = predictions.iter().find(|(confidence, _)| !(0.0..=1.0).contains(confidence)) {
            return Err(Error::domain(NAME, format!("expected probabilities in [0, 1], found {wrong}")));
        }
        let mut own = Self::empty(bins);
        predictions.iter().for_each(|&(confidence, right)| own.add(confidence, right));
        Ok(own)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "at most the number of bins"
    )]
    pub(super) fn add(&mut self, confidence: f64, right: bool) {
        let bins = self.bins.len();
        let bin = &mut self.bins[((confidence * bins as f64).ceil() as usize).clamp(1, bins) - 1];
        bin.count += 1;
        bin.confidences += confidence;
        bin.right += u64::from(right);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (own, other) in self.bins.iter_mut().zip(&other.bins) {
            own.count += other.count;
            own.confidences += other.confidences;
            own.right += other.right;
        }
    }

    /// Returns the bins, in ascending order of confidence.
    #[must_use]
    pub fn bins(&self) -> &[CalibrationBin] {
        &self.bins
    }

    /// Returns the number of samples.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.bins.iter().map(|bin| bin.count).sum()
    }

    /// Returns the expected calibration error: the mean over the bins of |accuracy - confidence|, weighted by their
    /// numbers of samples; NaN without samples.
    #[must_use]
    pub fn expected_error(&self) -> f64 {
        self.bins.iter().map(|bin| (bin.confidences - count(bin.right)).abs()).sum::<f64>() / count(self.samples())
    }

    /// Returns the maximum calibration error: the largest |accuracy - confidence| of a bin that has samples; NaN
    /// without samples.
    #[must_use]
    pub fn largest_error(&self) -> f64 {
        let errors = self.bins.iter().map(|bin| (bin.accuracy() - bin.confidence()).abs());
        errors.filter(|error| !error.is_nan()).reduce(f64::max).unwrap_or(f64::NAN)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a number of samples")]
pub(super) fn count(x: u64) -> f64 {
    x as f64
}

/// Returns the mean of the values that are not NaN.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, len) = values.filter(|x| !x.is_nan()).fold((0.0, 0.0), |(sum, len), x| (sum + x, len + 1.0));
    sum / len
}
