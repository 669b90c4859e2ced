//! Comparisons of two settings whose runs share their seeds.

use super::checks;
use super::claims::Interval;
use super::estimate::Estimate;
use super::permutation::{DRAWS, Permutation, Words};
use crate::error::{Error, Result};
use crate::train::distributions::{student_critical, student_tail};
use serde::Serialize;

const NAME: &str = "paired comparison";

/// The largest number of pairs for which all signs are tried.
const EXACT: usize = 14;

/// The difference of two settings, a - b, from pairs of values that share what varies otherwise: the seed, the split,
/// the order of samples.
///
/// - `interval` and `student_p` are those of Student's t distribution with n - 1 degrees of freedom, for independent,
///   normally distributed differences.
/// - `sign_flip` tests that the differences are symmetric about 0, by giving each of them either sign (Fisher, *The
///   design of experiments*, 1935, section 21). It assumes no distribution. For up to 14 pairs, all 2^n signs are
///   tried.
/// - If the pairs are from resampled splits of one data set, the differences are not independent, and both are too
///   certain: use [`Paired::resampled`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Paired {
    /// The number of pairs.
    pub n: usize,
    /// The mean difference a - b.
    pub mean: f64,
    /// The standard deviation of the differences, which divides by n - 1; NaN for a single pair.
    pub deviation: f64,
    /// The interval of the mean difference. `None` for a single pair, and if all differences are equal.
    pub interval: Option<Interval>,
    /// The p value of Student's t test that the mean difference is 0; NaN where there is no interval.
    pub student_p: f64,
    /// The p value of the sign-flip permutation test.
    pub sign_flip: Permutation,
}

/// The corrected resampled t test of differences that are from resampled splits of one data set.
///
/// With the variance (1/n + n_test/n_train) s^2 instead of s^2 / n, the interval is mean +- t sqrt(variance), and the p
/// value is that of mean / sqrt(variance), with n - 1 degrees of freedom. This assumes that the differences of two
/// splits have the correlation n_test / (n_test + n_train) (Nadeau and Bengio, *Inference for the generalization
/// error*, Machine Learning 52, 2003).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Corrected {
    /// The number of pairs.
    pub n: usize,
    /// The mean difference a - b.
    pub mean: f64,
    /// The standard deviation of the differences, which divides by n - 1; NaN for a single pair.
    pub deviation: f64,
    /// The number of samples of a test part over that of a training part.
    pub ratio: f64,
    /// The corrected standard error of the mean difference; NaN for a single pair.
    pub standard_error: f64,
    /// The interval of the mean difference. `None` for a single pair, and if all differences are equal.
    pub interval: Option<Interval>,
    /// The p value that the mean difference is 0; NaN where there is no interval.
    pub p: f64,
}

impl Paired {
    /// Compares pairs of values, in the order of their pairs. `seed` is used for the signs of more than 14 pairs.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if the lengths differ; [`crate::ErrorKind::Domain`] if there is no pair, a value or
    /// a difference is not finite, or `level` is not between 0 and 1.
    pub fn of(a: &[f64], b: &[f64], level: f64, seed: u64) -> Result<Self> {
        checks::pairs(NAME, a, b)?;
        let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        let found = Estimate::named(NAME, &differences, level)?;
        Ok(Self {
            n: found.n,
            mean: found.mean,
            deviation: found.deviation,
            interval: found.interval,
            student_p: two_sided(&found, found.standard_error),
            sign_flip: sign_flip(&differences, seed),
        })
    }

    /// Compares pairs that are from resampled splits, each with `train` samples for training and `test` for testing.
    ///
    /// # Errors
    /// As for [`Paired::of`], and [`crate::ErrorKind::Domain`] if `train` or `test` is 0.
    pub fn resampled(a: &[f64], b: &[f64], train: usize, test: usize, level: f64) -> Result<Corrected> {
        const NAME: &str = "corrected resampled t test";
        checks::pairs(NAME, a, b)?;
        if train == 0 || test == 0 {
            let what = format!("expected samples for training and for testing, found {train} and {test}");
            return Err(Error::domain(NAME, what));
        }
        let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        let found = Estimate::named(NAME, &differences, level)?;
        let n = checks::number(found.n as u64);
        let ratio = checks::number(test as u64) / checks::number(train as u64);
        let standard_error = (1.0 / n + ratio).sqrt() * found.deviation;
        let interval = found.interval.map(|_| {
            Interval::around(found.mean, student_critical(0.5 * (1.0 - level), n - 1.0) * standard_error, level)
        });
        let p = two_sided(&found, standard_error);
        Ok(Corrected { n: found.n, mean: found.mean, deviation: found.deviation, ratio, standard_error, interval, p })
    }
}

/// Returns the two-sided p value that the mean is 0; NaN where there is no interval.
fn two_sided(found: &Estimate, standard_error: f64) -> f64 {
    let freedom = checks::number(found.n as u64) - 1.0;
    found.interval.map_or(f64::NAN, |_| 2.0 * student_tail((found.mean / standard_error).abs(), freedom))
}

/// Tests that the differences are symmetric about 0.
fn sign_flip(differences: &[f64], seed: u64) -> Permutation {
    let size: f64 = differences.iter().map(|x| x.abs()).sum();
    // Sums of the same numbers in another order differ by rounding.
    let observed = differences.iter().sum::<f64>().abs() - 1e-12 * size;
    let n = differences.len();
    if n <= EXACT {
        let signed = |signs: u32| -> f64 {
            differences.iter().enumerate().map(|(i, x)| if signs >> i & 1 == 1 { -x } else { *x }).sum()
        };
        let count = (0..1_u32 << n).filter(|&signs| signed(signs).abs() >= observed).count();
        return Permutation::all(count as u64, 1 << n);
    }
    let mut words = Words::new(seed, "signs of a permutation test");
    let mut count = 0;
    for _ in 0..DRAWS {
        let mut sum = 0.0;
        for part in differences.chunks(32) {
            let mut signs = words.next();
            for x in part {
                sum += if signs & 1 == 1 { -x } else { *x };
                signs >>= 1;
            }
        }
        count += u64::from(sum.abs() >= observed);
    }
    Permutation::drawn(count)
}
