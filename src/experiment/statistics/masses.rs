//! Binomial probabilities.

use super::checks::number;

/// The probabilities of 0..=n successes in n trials with probability p of a success, in (0, 1).
///
/// They are computed relative to the largest one, by the ratio of neighbors, so no factorial is needed and none
/// overflows. The relative error grows with the distance from the largest and is about 10^-16 times this distance.
/// Probabilities below 10^-300 of the largest count as 0.
pub(super) struct Masses {
    trials: u64,
    odds: f64,
    mode: u64,
    total: f64,
}

impl Masses {
    pub(super) fn new(trials: u64, p: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "p is in (0, 1)")]
        let mode = ((number(trials) * p).floor() as u64).min(trials);
        let mut own = Self { trials, odds: p / (1.0 - p), mode, total: 1.0 };
        own.total = own.sum(|_, _| true);
        own
    }

    /// Returns the probability of the counts that `takes` accepts. It receives a count and its probability, relative
    /// to that of the mode.
    pub(super) fn sum(&self, takes: impl Fn(u64, f64) -> bool) -> f64 {
        let mut sum = 0.0;
        let mut add = |count, mass| sum += if takes(count, mass) { mass } else { 0.0 };
        self.descend(&mut add);
        add(self.mode, 1.0);
        self.ascend(&mut add);
        sum / self.total
    }

    /// Returns the probability of a count relative to that of the mode.
    pub(super) fn of(&self, wanted: u64) -> f64 {
        let mut found = if wanted == self.mode { 1.0 } else { 0.0 };
        let mut look = |count, mass| {
            if count == wanted {
                found = mass;
            }
        };
        if wanted < self.mode {
            self.descend(&mut look)
        } else {
            self.ascend(&mut look)
        }
        found
    }

    /// Returns the probability of a count.
    pub(super) fn share(&self, count: u64) -> f64 {
        self.of(count) / self.total
    }

    /// Visits the counts below the mode.
    fn descend(&self, visit: &mut impl FnMut(u64, f64)) {
        let mut mass = 1.0;
        for count in (1..=self.mode).rev() {
            mass *= number(count) / (number(self.trials - count + 1) * self.odds);
            if mass < 1e-300 {
                return;
            }
            visit(count - 1, mass);
        }
    }

    /// Visits the counts above the mode.
    fn ascend(&self, visit: &mut impl FnMut(u64, f64)) {
        let mut mass = 1.0;
        for count in self.mode..self.trials {
            mass *= number(self.trials - count) * self.odds / number(count + 1);
            if mass < 1e-300 {
                return;
            }
            visit(count + 1, mass);
        }
    }
}
