//! Schedules: the factor of the learning rate in each epoch.

use crate::error::{Error, Result};

/// How the learning rate changes from epoch to epoch. The rate of an epoch is the hyperparameter `lr` times the factor
/// of the schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Schedule {
    /// The rate stays the same.
    #[default]
    Constant,
    /// The rate is multiplied by `factor` after every `every` epochs, as `torch.optim.lr_scheduler.StepLR` does.
    Step {
        /// The number of epochs with the same rate.
        every: u64,
        /// The factor.
        factor: f64,
    },
    /// The factor falls from 1 to `floor` along half a cosine, until the last epoch (Loshchilov and Hutter, ICLR 2017).
    Cosine {
        /// The last factor.
        floor: f64,
    },
    /// The factor is `(1 + epoch)^-exponent`, but at least `floor`.
    Power {
        /// The exponent.
        exponent: f64,
        /// The smallest factor.
        floor: f64,
    },
    /// The rate is multiplied by `factor` when the metric of the stopping rule, or the training loss if there is no
    /// such rule, has not improved by a relative 1e-4 for more than `patience` epochs, as
    /// `torch.optim.lr_scheduler.ReduceLROnPlateau` does.
    Plateau {
        /// The factor.
        factor: f64,
        /// The number of epochs without improvement that are tolerated.
        patience: u64,
    },
}

impl Schedule {
    /// Returns the factor in the given epoch, which counts from 0, of `epochs` epochs. A plateau's factor is 1, because
    /// it depends on the metric.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "numbers of epochs")]
    pub fn factor(&self, epoch: u64, epochs: u64) -> f64 {
        match *self {
            Self::Constant | Self::Plateau { .. } => 1.0,
            Self::Step { every, factor } => factor.powf((epoch / every.max(1)) as f64),
            Self::Cosine { floor } => {
                let share = epoch as f64 / (epochs.saturating_sub(1)).max(1) as f64;
                floor + (1.0 - floor) * 0.5 * (1.0 + (std::f64::consts::PI * share).cos())
            }
            Self::Power { exponent, floor } => ((epoch + 1) as f64).powf(-exponent).max(floor),
        }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if a parameter is out of its range.
    pub fn check(&self) -> Result<()> {
        let (valid, wanted) = match *self {
            Self::Constant => (true, ""),
            Self::Step { every, factor } => {
                (every > 0 && factor > 0.0 && factor <= 1.0, "at least 1 epoch and a factor above 0 and at most 1")
            }
            Self::Cosine { floor } => ((0.0..=1.0).contains(&floor), "a floor from 0 to 1"),
            Self::Power { exponent, floor } => (
                exponent >= 0.0 && exponent.is_finite() && (0.0..=1.0).contains(&floor),
                "an exponent of at least 0 and a floor from 0 to 1",
            ),
            Self::Plateau { factor, .. } => (factor > 0.0 && factor < 1.0, "a factor between 0 and 1"),
        };
        if valid { Ok(()) } else { Err(Error::domain("train", format!("schedule: expected {wanted}, found {self:?}"))) }
    }
}

/// Returns the factor of a linear warm-up over `epochs` epochs in the given epoch: 1 / epochs in the first epoch, and 1
/// from the last one on. It multiplies the factor of the schedule.
#[expect(clippy::cast_precision_loss, reason = "numbers of epochs")]
pub(super) fn warm_up(epoch: u64, epochs: u64) -> f64 {
    ((epoch + 1) as f64 / epochs.max(1) as f64).min(1.0)
}

/// What a plateau schedule remembers of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plateau {
    pub(super) factor: f64,
    pub(super) best: f64,
    pub(super) waited: u64,
}

impl Plateau {
    pub(super) fn new() -> Self {
        Self { factor: 1.0, best: f64::NAN, waited: 0 }
    }

    /// Takes an epoch's value into account.
    pub(super) fn observe(&mut self, schedule: Schedule, value: f64, larger_is_better: bool) {
        let Schedule::Plateau { factor, patience } = schedule else { return };
        let better = if larger_is_better { value > self.best * (1.0 + 1e-4) } else { value < self.best * (1.0 - 1e-4) };
        if better || self.best.is_nan() {
            (self.best, self.waited) = (value, 0);
            return;
        }
        self.waited += 1;
        if self.waited > patience {
            (self.factor, self.waited) = (self.factor * factor, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Plateau, Schedule, warm_up};

    #[test]
    fn factors() {
        let step = Schedule::Step { every: 3, factor: 0.5 };
        assert_eq!([0, 2, 3, 6].map(|epoch| step.factor(epoch, 10)), [1.0, 1.0, 0.5, 0.25]);
        let cosine = Schedule::Cosine { floor: 0.1 };
        assert_eq!([cosine.factor(0, 11), cosine.factor(10, 11)], [1.0, 0.1]);
        assert!((cosine.factor(5, 11) - 0.55).abs() < 1e-15);
        let power = Schedule::Power { exponent: 0.5, floor: 0.05 };
        assert_eq!([power.factor(3, 9), power.factor(10_000, 9)], [0.5, 0.05]);
        assert_eq!([0, 1, 3, 4].map(|epoch| warm_up(epoch, 4)), [0.25, 0.5, 1.0, 1.0]);
        assert_eq!([warm_up(0, 0), warm_up(0, 1)], [1.0, 1.0]);
        assert!(Schedule::Step { every: 0, factor: 0.5 }.check().is_err());
        assert!(Schedule::Plateau { factor: 1.0, patience: 3 }.check().is_err());
    }

    /// The sequence that torch 2.15's `ReduceLROnPlateau(mode="max", factor=0.5, patience=2)` gives for these values.
    #[test]
    fn plateau_counts_as_torch_does() {
        let schedule = Schedule::Plateau { factor: 0.5, patience: 2 };
        let mut plateau = Plateau::new();
        let factors = [0.5, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.7, 0.1].map(|value| {
            plateau.observe(schedule, value, true);
            plateau.factor
        });
        assert_eq!(factors, [1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25]);
    }
}
