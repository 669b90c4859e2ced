//! Central moments that can be merged: the second by Chan, Golub and LeVeque (1979), the third and fourth by Pébay
//! (SAND2008-6212, 2008).

use crate::array::Real;

/// The count, mean, central moments and extremes of a set of numbers, in f64. The moments of two sets can be merged
/// into the moments of their union.
///
/// A NaN propagates: if one of the numbers is NaN, everything but the count is NaN. If a number is infinite, the
/// central moments are NaN, and the mean is that infinity or, if both infinities occur, NaN, as in NumPy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    pub(super) count: u64,
    pub(super) mean: f64,
    /// The sums of the second, third and fourth powers of the distances from the mean.
    pub(super) powers: [f64; 3],
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Default for Moments {
    /// Returns the moments of an empty set.
    fn default() -> Self {
        Self { count: 0, mean: 0.0, powers: [0.0; 3], least: f64::INFINITY, most: f64::NEG_INFINITY }
    }
}

impl Moments {
    /// Computes the moments of `numbers` in two passes over them, in f64.
    #[must_use]
    pub fn of<T: Real>(numbers: &[T]) -> Self {
        super::cpu::moments(numbers, false)
    }

    /// Returns the moments of the numbers in `self` and `other` together. Merging is exact up to the rounding of f64;
    /// the order in which several moments are merged affects the last bits.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        if self.count == 0 || other.count == 0 {
            return if self.count == 0 { other } else { self };
        }
        let count = self.count + other.count;
        let n = as_f64(count);
        let (a, b) = (as_f64(self.count) / n, as_f64(other.count) / n);
        let away = other.mean - self.mean;
        // If the distance is not finite, a weighted mean is used, because it keeps an infinite mean infinite.
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

    /// Returns the count of the numbers.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the mean; NaN if there are no numbers.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.mean }
    }

    /// Returns the variance, divided by `count - ddof`: 0 if all numbers are equal, NaN if there are at most `ddof`
    /// numbers.
    #[must_use]
    pub fn variance(&self, ddof: u32) -> f64 {
        if self.count <= u64::from(ddof) { f64::NAN } else { self.powers[0] / as_f64(self.count - u64::from(ddof)) }
    }

    /// Returns the least number; NaN if there are no numbers.
    #[must_use]
    pub fn min(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.least }
    }

    /// Returns the greatest number; NaN if there are no numbers.
    #[must_use]
    pub fn max(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.most }
    }

    /// Returns the biased skewness `m3 / m2^(3/2)`, where `m_k` is the mean of the k-th powers of the distances from
    /// the mean, as scipy.stats.skew does. The skewness is NaN if all numbers are equal.
    #[must_use]
    pub fn skewness(&self) -> f64 {
        let variance = self.variance(0);
        if variance == 0.0 { f64::NAN } else { self.powers[1] / as_f64(self.count) / (variance * variance.sqrt()) }
    }

    /// Returns the biased excess kurtosis `m4 / m2^2 - 3`, as scipy.stats.kurtosis does. The kurtosis is NaN if all
    /// numbers are equal.
    #[must_use]
    pub fn kurtosis(&self) -> f64 {
        let variance = self.variance(0);
        if variance == 0.0 { f64::NAN } else { self.powers[2] / as_f64(self.count) / (variance * variance) - 3.0 }
    }
}

/// Returns the lesser number, or NaN if either is NaN.
fn lesser(a: f64, b: f64) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}

/// Converts a count, which is below 2^53 and therefore exact in f64.
pub(super) fn as_f64(count: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "no stream has 2^53 numbers")]
    let count = count as f64;
    count
}
