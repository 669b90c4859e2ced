//! What an evaluation counts, and the metrics that are computed from the counts.

use super::classified::{Calibration, Confusion, count};
use super::ranking::Ranking;
use super::residuals::Residuals;

/// The number of bins of the calibration error.
const BINS: usize = 15;

/// How a sample was classified.
pub(super) struct Classified {
    pub(super) label: u32,
    /// The predicted class, and its probability.
    pub(super) class: u32,
    pub(super) confidence: f64,
    /// The probability of the label, and that of class 1.
    pub(super) of_label: f64,
    pub(super) of_one: f64,
}

/// The counts of an evaluation. The metrics of classification are NaN where there are no classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    /// The sum of the losses of the samples, and of the weights of the samples.
    loss: f64,
    weight: f64,
    samples: u64,
    confusion: Confusion,
    calibration: Calibration,
    /// The sum of -log p over the samples, where p is the probability of the label.
    log_loss: f64,
    ranking: Ranking,
    residuals: Residuals,
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
            log_loss: 0.0,
            ranking: Ranking::default(),
            residuals: Residuals::default(),
        }
    }

    /// Adds a sample, with how it was classified if there are classes. `least` is the smallest probability that the log
    /// loss distinguishes from 0.
    pub(super) fn add(&mut self, loss: f64, weight: f64, classified: Option<Classified>, least: f64) {
        self.loss += loss;
        self.weight += weight;
        self.samples += 1;
        if let Some(Classified { label, class, confidence, of_label, of_one }) = classified {
            self.confusion.add(label as usize, class as usize);
            self.calibration.add(confidence, label == class);
            self.log_loss -= of_label.clamp(least, 1.0 - least).ln();
            if self.classes() == 2 {
                self.ranking.add(of_one, label == 1);
            }
        }
    }

    /// Adds pairs of a predicted value and a target of the sample that was added last.
    pub(super) fn add_values(&mut self, pairs: impl Iterator<Item = (f64, f64)>) {
        self.residuals.add(pairs);
    }

    /// Frees what is kept of every sample. No samples can be added then.
    pub(crate) fn settle(&mut self) {
        self.ranking.settle();
    }

    /// Adds the counts of other samples, with the same classes.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.loss += other.loss;
        self.weight += other.weight;
        self.samples += other.samples;
        self.confusion.merge(&other.confusion);
        self.calibration.merge(&other.calibration);
        self.log_loss += other.log_loss;
        self.ranking.merge(&other.ranking);
        self.residuals.merge(&other.residuals);
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

    /// Returns the label of all samples, if they have the same one.
    #[must_use]
    pub fn only_label(&self) -> Option<usize> {
        let classes = self.classes();
        let mut found = (0..classes).filter(|&label| (0..classes).any(|class| self.confusion(label, class) > 0));
        found.next().filter(|_| found.next().is_none())
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

    /// Returns the accuracy that always guessing the most frequent class of the training samples would have here, the
    /// first of those that are equally frequent; NaN for values.
    #[must_use]
    pub fn accuracy_of_guessing(&self, train: &Self) -> f64 {
        let of_label = |scores: &Self, label| (0..scores.classes()).map(|class| scores.confusion(label, class)).sum();
        let most: Option<(u64, _)> =
            (0..train.classes()).rev().map(|label| (of_label(train, label), label)).max_by_key(|own| own.0);
        most.map_or(f64::NAN, |(_, label)| count(of_label(self, label)) / count(self.samples))
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

    /// Returns the area under the ROC curve, in which equal probabilities count half; NaN unless there are two classes
    /// that both occur.
    #[must_use]
    pub fn auc(&self) -> f64 {
        self.ranking.area()
    }

    /// Returns the mean of -log p, where p is the probability of the label, cut off at the precision's epsilon and 1
    /// minus it as in scikit-learn. It has neither the weights nor the smoothing of the loss.
    #[must_use]
    pub fn log_loss(&self) -> f64 {
        if self.classes() == 0 { f64::NAN } else { self.log_loss / count(self.samples) }
    }

    /// Returns the coefficient of determination R^2 of values, the mean over the outputs. If all targets of an output
    /// are equal, it is 1 for predictions without error and else 0. It is NaN for classes and for fewer than two
    /// samples.
    #[must_use]
    pub fn r2(&self) -> f64 {
        self.residuals.r2()
    }

    /// Returns the root mean square error of values, the mean over the outputs; NaN for classes.
    #[must_use]
    pub fn root_mean_square_error(&self) -> f64 {
        self.residuals.root_mean_square()
    }

    /// Returns the root mean square error that always guessing the mean of the training targets would have here, the
    /// mean over the outputs; NaN for classes.
    #[must_use]
    pub fn root_mean_square_error_of_guessing(&self, train: &Self) -> f64 {
        self.residuals.root_mean_square_of_means(&train.residuals)
    }

    /// Returns the mean absolute error of values, the mean over the outputs; NaN for classes.
    #[must_use]
    pub fn mean_absolute_error(&self) -> f64 {
        self.residuals.mean_absolute()
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

#[cfg(test)]
mod tests {
    use super::{Classified, Scores};

    fn numbers(text: &str) -> Vec<f64> {
        text.split_whitespace().map(|word| word.parse().expect("a number")).collect()
    }

    /// Returns the scores of rows of `width` numbers, where the first rows and the others are added apart.
    fn of(data: [&[f64]; 2], width: usize, first: usize, values: bool) -> Scores {
        let mut parts = [0, 1].map(|_| Scores::new((!values).then_some(2)));
        let [targets, predicted] = data.map(|all| all.chunks(width));
        for (place, (t, p)) in targets.zip(predicted).enumerate() {
            let one = p[0];
            let label = u32::from(t[0] == 1.0);
            let of_label = if label == 1 { one } else { 1.0 - one };
            let found = Classified { label, class: u32::from(one > 0.5), confidence: 0.5, of_label, of_one: one };
            let part = &mut parts[usize::from(place >= first)];
            part.add(0.0, 1.0, (!values).then_some(found), f64::EPSILON);
            if values {
                part.add_values(p.iter().copied().zip(t.iter().copied()));
            }
        }
        let [mut sum, other] = parts;
        sum.merge(&other);
        sum
    }

    fn near(found: f64, wanted: f64, what: &str) {
        let close = (found - wanted).abs() <= 1e-12 * wanted.abs().max(1.0);
        assert!(close || (found.is_nan() && wanted.is_nan()), "{what}: {found}, wanted {wanted}");
    }

    /// Guessing is what scikit-learn's dummy estimators do.
    #[test]
    fn always_guessing_has_a_score() {
        let train = of([&[1.0, 0.0, 1.0, 1.0], &[0.1; 4]], 1, 4, false);
        let found = of([&[0.0, 0.0, 1.0, 0.0, 0.0], &[0.9; 5]], 1, 2, false);
        near(found.accuracy_of_guessing(&train), 0.2, "the class 1");
        let tied = of([&[1.0, 0.0], &[0.1; 2]], 1, 2, false);
        near(found.accuracy_of_guessing(&tied), 0.8, "the first class");
        assert!(found.root_mean_square_error_of_guessing(&train).is_nan());
        let train = of([&[1.0, 10.0, 3.0, 20.0], &[0.0; 4]], 2, 2, true);
        let found = of([&[2.0, 15.0, 5.0, 15.0, 2.0, 15.0], &[0.0; 6]], 2, 1, true);
        near(found.root_mean_square_error_of_guessing(&train), 3.0_f64.sqrt() / 2.0, "the means 2 and 15");
        assert!(found.accuracy_of_guessing(&train).is_nan());
    }

    /// Against scikit-learn (`golden/scores.py`), in one part and in two.
    #[test]
    fn scikit_learn_agrees() {
        let text = include_str!("../../../tests/host/golden/scores.txt");
        for line in text.lines() {
            let (head, wanted) = line.split_once('=').expect("results");
            let fields: Vec<&str> = head.split('/').collect();
            let wanted = numbers(wanted);
            if let Some(labels) = fields[0].strip_prefix("classes") {
                let (labels, p) = (numbers(labels), numbers(fields[1]));
                let whole = of([&labels, &p], 1, labels.len(), false);
                for first in 0..labels.len() {
                    let mut found = of([&labels, &p], 1, first, false);
                    near(found.auc(), wanted[0], line);
                    assert_eq!(found.auc().to_bits(), whole.auc().to_bits(), "pairs are counted exactly");
                    near(found.log_loss(), wanted[1], line);
                    found.settle();
                    near(found.auc(), wanted[0], line);
                }
                assert!(whole.r2().is_nan() && whole.root_mean_square_error().is_nan());
            } else {
                let width = numbers(fields[0].strip_prefix("values").expect("values"))[0] as usize;
                let (t, p) = (numbers(fields[1]), numbers(fields[2]));
                for first in 0..t.len() / width {
                    let found = of([&t, &p], width, first, true);
                    near(found.r2(), wanted[0], line);
                    near(found.root_mean_square_error(), wanted[1], line);
                    near(found.mean_absolute_error(), wanted[2], line);
                    assert!(found.auc().is_nan() && found.log_loss().is_nan());
                }
            }
        }
    }
}
