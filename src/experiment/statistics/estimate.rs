//! The mean of values with its interval.

use super::checks;
use super::claims::Interval;
use crate::error::{Error, Result};
use crate::train::distributions::student_critical;
use crate::train::moments;
use serde::Serialize;

/// The mean of independent values, such as a metric over seeds, with its interval by Student's t distribution.
///
/// The interval is mean +- t s / sqrt(n), where s is the standard deviation and t the quantile (1 + level) / 2 of
/// Student's t distribution with n - 1 degrees of freedom (Student, *The probable error of a mean*, 1908). It is exact
/// for normally distributed values.
///
/// ```
/// use fiedler::experiment::statistics::Estimate;
///
/// let found = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95)?;
/// assert_eq!((found.n, found.mean), (5, 3.0));
/// assert!((found.interval.unwrap().half_width() - 2.776445 * 0.5_f64.sqrt()).abs() < 1e-6);
/// # Ok::<(), fiedler::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// The number of values.
    pub n: usize,
    /// The mean.
    pub mean: f64,
    /// The standard deviation of the values, which divides by n - 1; NaN for a single value.
    pub deviation: f64,
    /// The standard error of the mean, deviation / sqrt(n); NaN for a single value.
    pub standard_error: f64,
    /// The interval of the mean. `None` for a single value, and if all values are equal: equal values do not show how
    /// far others would be.
    pub interval: Option<Interval>,
}

impl Estimate {
    /// Computes the statistics of the values.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if there is no value, a value or the deviation is not finite, or `level` is not
    /// between 0 and 1.
    pub fn of(values: &[f64], level: f64) -> Result<Self> {
        Self::named("estimate", values, level)
    }

    /// Computes the statistics for the operation that errors are to name.
    pub(super) fn named(name: &'static str, values: &[f64], level: f64) -> Result<Self> {
        checks::finite(name, values)?;
        checks::inside(name, "level", level, 1.0)?;
        let (mean, deviation) = moments(values);
        // The deviation of a single value is NaN.
        if !mean.is_finite() || deviation.is_infinite() {
            return Err(Error::domain(name, "expected values whose squares have a finite sum, found larger ones"));
        }
        let n = checks::number(values.len() as u64);
        let standard_error = deviation / n.sqrt();
        let interval = (deviation > 0.0)
            .then(|| Interval::around(mean, student_critical(0.5 * (1.0 - level), n - 1.0) * standard_error, level));
        Ok(Self { n: values.len(), mean, deviation, standard_error, interval })
    }
}
