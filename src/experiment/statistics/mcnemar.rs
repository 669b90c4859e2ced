//! Two models on one test set.

use super::checks::number;
use super::masses::Masses;
use crate::error::{Error, Result};
use serde::Serialize;

const NAME: &str = "McNemar's test";

/// The exact test that two models have the same accuracy, from the samples that only one of them predicts right.
///
/// Under the null hypothesis, each sample that only one model predicts right is as likely to be the first model's as
/// the second's. So the count of the first is binomial with probability 1/2, and the p value is twice the smaller tail,
/// at most 1 (McNemar, *Note on the sampling error of the difference between correlated proportions or percentages*,
/// 1947, in its exact form). It says how the models differ on other samples, not how they would differ if they were
/// trained again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct McNemar {
    /// The number of samples that only the first model predicts right.
    pub only_first: u64,
    /// The number of samples that only the second model predicts right.
    pub only_second: u64,
    /// The number of samples of the test set.
    pub samples: u64,
    /// The accuracy of the first model minus that of the second.
    pub difference: f64,
    /// The exact two-sided p value; 1 if no sample tells the models apart.
    pub p: f64,
    /// The mid-p value: `p` minus the probability of the observed count, or 1 minus half of it if the counts are equal.
    /// It is less conservative than `p` and rarely exceeds its level (Fagerland, Lydersen and Laake, 2013).
    pub mid_p: f64,
}

impl McNemar {
    /// Tests by the numbers of samples that only one of the models predicts right, of a test set of `samples`.
    ///
    /// ```
    /// use fiedler::experiment::statistics::McNemar;
    ///
    /// let found = McNemar::of(5, 1, 100)?;
    /// assert!((found.p - 14.0 / 64.0).abs() < 1e-15 && (found.difference - 0.04).abs() < 1e-15);
    /// # Ok::<(), fiedler::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if there is no sample, or there are fewer samples than both counts together.
    pub fn of(only_first: u64, only_second: u64, samples: u64) -> Result<Self> {
        let apart = only_first.checked_add(only_second).filter(|&apart| apart <= samples && samples < 1 << 53);
        let Some(apart) = apart.filter(|_| samples > 0) else {
            let what = format!("expected parts of a test set, found {only_first} and {only_second} of {samples}");
            return Err(Error::domain(NAME, what));
        };
        let (p, mid_p) = if apart == 0 {
            (1.0, 1.0)
        } else {
            let masses = Masses::new(apart, 0.5);
            let fewer = only_first.min(only_second);
            let own = masses.share(fewer);
            let p = (2.0 * masses.sum(|count, _| count <= fewer)).min(1.0);
            (p, if only_first == only_second { 1.0 - 0.5 * own } else { p - own })
        };
        let difference = (number(only_first) - number(only_second)) / number(samples);
        Ok(Self { only_first, only_second, samples, difference, p, mid_p })
    }

    /// Tests by whether each model predicts each sample right.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if the lengths differ, [`crate::ErrorKind::Domain`] if there is no sample.
    pub fn of_right(first: &[bool], second: &[bool]) -> Result<Self> {
        if first.len() != second.len() {
            let expected = format!("two models on {} samples", first.len());
            return Err(Error::shape(NAME, expected, format!("{} samples for the second", second.len())));
        }
        let count =
            |one: &[bool], other: &[bool]| one.iter().zip(other).filter(|(one, other)| **one && !**other).count();
        Self::of(count(first, second) as u64, count(second, first) as u64, first.len() as u64)
    }
}
