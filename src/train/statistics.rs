//! The mean of a metric over runs, with its interval.

use super::distributions::student_critical;
use statrs::distribution::{ContinuousCDF, Normal};
use std::fmt;

/// The statistics of a metric over runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The number of runs.
    pub n: usize,
    /// The mean.
    pub mean: f64,
    /// The standard deviation, which divides by n - 1; NaN for a single run.
    pub deviation: f64,
    /// Half the width of the 95 % confidence interval of the mean, by Student's t distribution with n - 1 degrees of
    /// freedom; NaN for a single run.
    pub half_width: f64,
    /// The best value, for this metric.
    pub best: f64,
    /// What the best of n runs is expected to be if the values are normally distributed with this mean and deviation,
    /// but at most 1, or at least 0 where smaller is better.
    pub expected_best: f64,
}

impl Summary {
    /// Computes the statistics of the values that are not NaN.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a number of runs")]
    pub fn of(values: impl IntoIterator<Item = f64>, larger_is_better: bool) -> Self {
        let values: Vec<f64> = values.into_iter().filter(|value| !value.is_nan()).collect();
        let n = values.len() as f64;
        let (mean, deviation) = moments(&values);
        // The best of one run is that run.
        let gain = if values.len() > 1 { expected_maximum(values.len()) * deviation } else { 0.0 };
        let quantile = if values.len() > 1 { student_critical(0.025, n - 1.0) } else { f64::NAN };
        let best = values.iter().copied().reduce(if larger_is_better { f64::max } else { f64::min });
        Self {
            n: values.len(),
            mean,
            deviation,
            half_width: quantile * deviation / n.sqrt(),
            best: best.unwrap_or(f64::NAN),
            // No metric that is to be large exceeds 1, and none that is to be small is negative. NaN stays NaN.
            expected_best: if larger_is_better {
                (mean + gain).clamp(f64::NEG_INFINITY, 1.0)
            } else {
                (mean - gain).clamp(0.0, f64::INFINITY)
            },
        }
    }
}

/// Returns the mean, and the standard deviation, which divides by n - 1. The mean of no values and the deviation of
/// fewer than two are NaN. Equal values have exactly this mean, and the deviation 0.
#[expect(clippy::cast_precision_loss, reason = "a number of values")]
pub(crate) fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let equal = values.windows(2).all(|pair| pair[0] == pair[1]);
    let mean = match values.first() {
        // The sum may be rounded, and then its n-th part is not the value.
        Some(&first) if equal => first,
        _ => values.iter().sum::<f64>() / n,
    };
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, if values.len() > 1 { variance.sqrt() } else { f64::NAN })
}

/// Shows the mean, its interval, the deviation, the best value, and the expected best value.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n, mean, deviation, half_width, best, expected_best } = self;
        if *n == 0 {
            return f.write_str("no run ended well");
        }
        if *n < 2 {
            return write!(f, "{mean:.4} (one run: no interval)");
        }
        // Equal values say nothing of the spread of others, so an interval without width would be wrong.
        if *deviation == 0.0 {
            return write!(f, "{mean:.4} in each of {n} runs");
        }
        write!(
            f,
            "{mean:.4} +- {half_width:.4} (95 % interval of the mean of {n} runs; standard deviation {deviation:.4}; \
             best {best:.4}, where {expected_best:.4} is expected of the best of {n})"
        )
    }
}

/// Returns the expected maximum of `n` independent standard normals: the integral of x n f(x) F(x)^(n - 1), by
/// Simpson's rule.
#[expect(clippy::cast_precision_loss, reason = "a number of runs")]
fn expected_maximum(n: usize) -> f64 {
    const STEPS: u32 = 2000;
    const FAR: f64 = 9.0;
    let normal = Normal::standard();
    let count = n as f64;
    let term = |x: f64| {
        x * count * (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt() * normal.cdf(x).powf(count - 1.0)
    };
    let step = 2.0 * FAR / f64::from(STEPS);
    let weight = |i: u32| if i == 0 || i == STEPS { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
    (0..=STEPS).map(|i| weight(i) * term(f64::from(i) * step - FAR)).sum::<f64>() * step / 3.0
}

#[cfg(test)]
mod tests {
    use super::{Summary, expected_maximum};

    #[test]
    fn known_values() {
        // 0, 1/sqrt(pi), 3/(2 sqrt(pi)), and Tippett's table for 4 and 20.
        for (n, wanted) in [(1, 0.0), (2, 0.564_189_6), (3, 0.846_284_4), (4, 1.029_375_4), (20, 1.867_475_1)] {
            assert!((expected_maximum(n) - wanted).abs() < 1e-6, "{n}: {}", expected_maximum(n));
        }
        // Student's t for 4 degrees of freedom: 2.776445.
        let found = Summary::of([1.0, 2.0, 3.0, 4.0, 5.0, f64::NAN], false);
        assert_eq!((found.n, found.mean, found.best), (5, 3.0, 1.0));
        assert!((found.deviation - 2.5_f64.sqrt()).abs() < 1e-12);
        assert!((found.half_width - 2.776_445_1 * (0.5_f64).sqrt()).abs() < 1e-6, "{}", found.half_width);
        assert!((Summary::of([1.0, 2.0], false).expected_best - (1.5 - 0.564_189_6 * 0.5_f64.sqrt())).abs() < 1e-6);
        assert_eq!(Summary::of([], true).to_string(), "no run ended well");
        assert_eq!(Summary::of([1.0; 3], true).to_string(), "1.0000 in each of 3 runs");
        assert_eq!(Summary::of([0.9, 1.0, 1.0, 1.0], true).expected_best, 1.0);
        let one = Summary::of([0.5], true);
        assert!(one.half_width.is_nan() && one.to_string().contains("one run"), "{one}");
        assert_eq!((one.expected_best, Summary::of([0.7], false).expected_best), (0.5, 0.7));
        assert!(Summary::of([], true).expected_best.is_nan());
    }
}
