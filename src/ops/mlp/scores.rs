//! What an evaluation counts, and the metrics that are computed from the counts.

/// The number of bins of the calibration error.
const BINS: usize = 15;

/// The counts of an evaluation. The metrics of classification are NaN where there are no classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    /// The sum of the losses of the samples, and of the weights of the samples.
    loss: f64,
    weight: f64,
    samples: u64,
    classes: usize,
    /// The number of samples of each label (rows) that were predicted as each class (columns).
    confusion: Vec<u64>,
    /// For each range of confidence: the number of samples, the sum of their confidences, and how many were right.
    bins: Vec<(u64, f64, u64)>,
}

impl Scores {
    pub(super) fn new(classes: Option<usize>) -> Self {
        let count = classes.unwrap_or(0);
        Self {
            loss: 0.0,
            weight: 0.0,
            samples: 0,
            classes: count,
            confusion: vec![0; count * count],
            bins: vec![(0, 0.0, 0); if count > 0 { BINS } else { 0 }],
        }
    }

    /// Adds a sample, with its label, its predicted class and the probability of this class.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the number of bins")]
    pub(super) fn add(&mut self, loss: f64, weight: f64, classified: Option<(u32, u32, f64)>) {
        self.loss += loss;
        self.weight += weight;
        self.samples += 1;
        if let Some((label, class, confidence)) = classified {
            self.confusion[label as usize * self.classes + class as usize] += 1;
            let bin = ((confidence * BINS as f64).ceil() as usize).clamp(1, BINS) - 1;
            let (count, sum, right) = &mut self.bins[bin];
            (*count, *sum, *right) = (*count + 1, *sum + confidence, *right + u64::from(label == class));
        }
    }

    /// Adds the counts of other samples, with the same classes.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.loss += other.loss;
        self.weight += other.weight;
        self.samples += other.samples;
        self.confusion.iter_mut().zip(&other.confusion).for_each(|(own, other)| *own += other);
        for ((count, sum, right), other) in self.bins.iter_mut().zip(&other.bins) {
            (*count, *sum, *right) = (*count + other.0, *sum + other.1, *right + other.2);
        }
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
        self.classes
    }

    /// Returns how many samples with label `label` were predicted as `class`.
    #[must_use]
    pub fn confusion(&self, label: usize, class: usize) -> u64 {
        self.confusion[label * self.classes + class]
    }

    /// Returns the share of samples whose class was predicted.
    #[must_use]
    pub fn accuracy(&self) -> f64 {
        let right: u64 = (0..self.classes).map(|class| self.confusion(class, class)).sum();
        if self.classes == 0 { f64::NAN } else { count(right) / count(self.samples) }
    }

    /// Returns the mean over the classes that occur of the share of their samples that were predicted.
    #[must_use]
    pub fn balanced_accuracy(&self) -> f64 {
        mean((0..self.classes).filter_map(|class| {
            let own = self.of_label(class);
            (own > 0).then(|| count(self.confusion(class, class)) / count(own))
        }))
    }

    /// Returns the mean over the classes that occur, or are predicted, of the harmonic mean of precision and recall.
    #[must_use]
    pub fn macro_f1(&self) -> f64 {
        mean((0..self.classes).filter_map(|class| {
            let predicted: u64 = (0..self.classes).map(|label| self.confusion(label, class)).sum();
            let both = self.of_label(class) + predicted;
            (both > 0).then(|| 2.0 * count(self.confusion(class, class)) / count(both))
        }))
    }

    /// Returns the expected calibration error: the mean difference between confidence and accuracy in 15 equal ranges
    /// of confidence, weighted by their numbers of samples (Guo, Pleiss, Sun and Weinberger, ICML 2017).
    #[must_use]
    pub fn calibration_error(&self) -> f64 {
        if self.classes == 0 {
            return f64::NAN;
        }
        let off: f64 = self.bins.iter().map(|&(_, sum, right)| (sum - count(right)).abs()).sum();
        off / count(self.samples)
    }

    fn of_label(&self, label: usize) -> u64 {
        self.confusion[label * self.classes..][..self.classes].iter().sum()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a number of samples")]
fn count(x: u64) -> f64 {
    x as f64
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, len) = values.fold((0.0, 0.0), |(sum, len), x| (sum + x, len + 1.0));
    sum / len
}
