//! Central moments that merge: Chan, Golub and LeVeque (1979) for the second, Pébay (SAND2008-6212, 2008) for the third and fourth.

use crate::array::Real;

/// Count, mean, central moments and extremes of some numbers, in f64. Two of them merge into those of both.
///
/// NaN propagates: with one among the numbers everything but the count is NaN. With an infinity the mean is that infinity (NaN
/// with both), and what is central is NaN, as numpy has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    pub(super) count: u64,
    pub(super) mean: f64,
    /// Sums of the second, third and fourth powers of the distances from the mean.
    pub(super) powers: [f64; 3],
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Default for Moments {
    /// Those of no number.
    fn default() -> Self {
        Self { count: 0, mean: 0.0, powers: [0.0; 3], least: f64::INFINITY, most: f64::NEG_INFINITY }
    }
}

impl Moments {
    /// The moments of these numbers: two passes over them, in f64.
    #[must_use]
    pub fn of<T: Real>(numbers: &[T]) -> Self {
        super::cpu::moments(numbers, false)
    }

    /// The moments of the numbers of both. Merging is exact up to the rounding of f64; which way a tree of merges leans moves last bits.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        if self.count == 0 || other.count == 0 {
            return if self.count == 0 { other } else { self };
        }
        let count = self.count + other.count;
        let n = as_f64(count);
        let (a, b) = (as_f64(self.count) / n, as_f64(other.count) / n);
        let away = other.mean - self.mean;
        // Weighted where the distance is not finite: an infinite mean stays what it is.
        let mean = if away.is_finite() { self.mean + away * b } else { self.mean * a + other.mean * b };
        let ([a2, a3, a4], [b2, b3, b4]) = (self.powers, other.powers);
        let square = away * away;
        // away^2 n_a n_b / n
        let between = square * a * b * n;
        let second = a2 + b2 + between;
        let third = a3 + b3 + between * away * (a - b) + 3.0 * away * (a * b2 - b * a2);
        let fourth = a4
            + b4
            + between * square * (a * a - a * b + b * b)
            + 6.0 * square * (a * a * b2 + b * b * a2)
            + 4.0 * away * (a * b3 - b * a3);
        Self {
            count,
            mean,
            powers: [second, third, fourth],
            least: lesser(self.least, other.least),
            most: -lesser(-self.most, -other.most),
        }
    }

    /// How many numbers.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean; NaN of no number.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.mean }
    }

    /// The variance, divided by `count - ddof`: 0 of equal numbers, NaN where there are not more than `ddof`.
    #[must_use]
    pub fn variance(&self, ddof: u32) -> f64 {
        if self.count <= u64::from(ddof) { f64::NAN } else { self.powers[0] / as_f64(self.count - u64::from(ddof)) }
    }

    /// The least number; NaN of none.
    #[must_use]
    pub fn min(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.least }
    }

    /// The greatest number; NaN of none.
    #[must_use]
    pub fn max(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.most }
    }

    /// `m3 / m2^(3/2)` with `m_k` the mean of the k-th powers of the distances from the mean: scipy.stats.skew, biased. NaN of
    /// equal numbers.
    #[must_use]
    pub fn skewness(&self) -> f64 {
        let variance = self.variance(0);
        if variance == 0.0 { f64::NAN } else { self.powers[1] / as_f64(self.count) / (variance * variance.sqrt()) }
    }

    /// `m4 / m2^2 - 3`: scipy.stats.kurtosis, excess and biased. NaN of equal numbers.
    #[must_use]
    pub fn kurtosis(&self) -> f64 {
        let variance = self.variance(0);
        if variance == 0.0 { f64::NAN } else { self.powers[2] / as_f64(self.count) / (variance * variance) - 3.0 }
    }
}

/// The lesser, or NaN if there is one.
fn lesser(a: f64, b: f64) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}

/// Counts are below 2^53.
pub(super) fn as_f64(count: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "no stream has 2^53 numbers")]
    let count = count as f64;
    count
}
