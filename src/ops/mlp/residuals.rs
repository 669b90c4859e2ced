//! What predicted values are judged by: R^2, the root mean square error and the mean absolute error.

use super::classified::count;

/// The sums of one output over the samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Output {
    squares: f64,
    magnitudes: f64,
    /// The mean of the targets, and the sum of the squares of their differences from it.
    mean: f64,
    spread: f64,
}

/// The sums of all outputs. Every metric is the mean over the outputs, as scikit-learn's `uniform_average`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Residuals {
    samples: u64,
    outputs: Vec<Output>,
}

impl Residuals {
    /// Adds a sample, with pairs of a predicted value and a target.
    pub(super) fn add(&mut self, pairs: impl Iterator<Item = (f64, f64)>) {
        self.samples += 1;
        for (place, (predicted, target)) in pairs.enumerate() {
            if place == self.outputs.len() {
                self.outputs.push(Output::default());
            }
            let own = &mut self.outputs[place];
            let off = predicted - target;
            own.squares += off * off;
            own.magnitudes += off.abs();
            // Welford's update, by which equal targets have a spread of exactly 0.
            let from_mean = target - own.mean;
            own.mean += from_mean / count(self.samples);
            own.spread += from_mean * (target - own.mean);
        }
    }

    /// Adds the sums of other samples.
    pub(super) fn merge(&mut self, other: &Self) {
        if self.samples == 0 || other.samples == 0 {
            if self.samples == 0 {
                self.clone_from(other);
            }
            return;
        }
        let (before, added) = (count(self.samples), count(other.samples));
        self.samples += other.samples;
        let share = added / count(self.samples);
        for (own, other) in self.outputs.iter_mut().zip(&other.outputs) {
            own.squares += other.squares;
            own.magnitudes += other.magnitudes;
            let apart = other.mean - own.mean;
            own.mean += apart * share;
            own.spread += other.spread + apart * apart * before * share;
        }
    }

    /// Returns 1 minus the squared errors over the squared differences of the targets from their mean. If all targets
    /// are equal, it is 1 for predictions without error and else 0. It is NaN for fewer than two samples.
    pub(super) fn r2(&self) -> f64 {
        if self.samples < 2 {
            return f64::NAN;
        }
        self.mean(|own| match own {
            Output { spread: 0.0, squares: 0.0, .. } => 1.0,
            Output { spread: 0.0, squares, .. } if squares.is_finite() => 0.0,
            Output { spread, squares, .. } => 1.0 - squares / spread,
        })
    }

    pub(super) fn root_mean_square(&self) -> f64 {
        self.mean(|own| (own.squares / count(self.samples)).sqrt())
    }

    /// Returns the root mean square error that the means of the targets of other samples would have here.
    pub(super) fn root_mean_square_of_means(&self, other: &Self) -> f64 {
        let squares = |own: &Output, mean: f64| own.spread / count(self.samples) + (own.mean - mean).powi(2);
        let errors = self.outputs.iter().zip(&other.outputs).map(|(own, other)| squares(own, other.mean).sqrt());
        errors.sum::<f64>() / count(self.outputs.len() as u64)
    }

    pub(super) fn mean_absolute(&self) -> f64 {
        self.mean(|own| own.magnitudes / count(self.samples))
    }

    /// Returns the mean over the outputs; NaN if there are none.
    fn mean(&self, of: impl Fn(&Output) -> f64) -> f64 {
        self.outputs.iter().map(of).sum::<f64>() / count(self.outputs.len() as u64)
    }
}
