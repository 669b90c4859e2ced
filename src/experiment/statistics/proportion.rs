//! Shares of successes.

use super::checks::{self, number};
use super::claims::Interval;
use super::masses::Masses;
use crate::error::{Error, Result};
use crate::train::distributions::{beta_quantile, normal_critical};
use serde::Serialize;

/// A share of successes, such as the accuracy on a test set, with its intervals.
///
/// ```
/// use fiedler::experiment::statistics::Proportion;
///
/// // 56 % of 1200 test samples: a standard error of 1.43 points.
/// let found = Proportion::of(672, 1200, 0.95)?;
/// assert!((found.standard_error - 0.01433).abs() < 1e-5);
/// assert!(found.wilson.low > 0.531 && found.wilson.high < 0.588);
/// # Ok::<(), fiedler::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Proportion {
    /// The number of successes.
    pub successes: u64,
    /// The number of trials.
    pub trials: u64,
    /// The share of successes.
    pub share: f64,
    /// The standard error of the share, sqrt(share (1 - share) / trials). It is 0 for a share of 0 or 1, where only the
    /// intervals say how certain the share is.
    pub standard_error: f64,
    /// The interval [`wilson`].
    pub wilson: Interval,
    /// The interval [`clopper_pearson`].
    pub clopper_pearson: Interval,
}

impl Proportion {
    /// Computes the share and its intervals.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if there is no trial, there are more successes than trials, or `level` is not
    /// between 0 and 1.
    pub fn of(successes: u64, trials: u64, level: f64) -> Result<Self> {
        let (wilson, clopper_pearson) = (wilson(successes, trials, level)?, clopper_pearson(successes, trials, level)?);
        let share = number(successes) / number(trials);
        let standard_error = (share * (1.0 - share) / number(trials)).sqrt();
        Ok(Self { successes, trials, share, standard_error, wilson, clopper_pearson })
    }
}

fn check(name: &'static str, successes: u64, trials: u64) -> Result<()> {
    if trials == 0 {
        return Err(Error::domain(name, "expected at least one trial, found none"));
    }
    // Larger counts are not exact in f64.
    if successes > trials || trials >= 1 << 53 {
        let what = format!("expected successes of fewer than 2^53 trials, found {successes} of {trials}");
        return Err(Error::domain(name, what));
    }
    Ok(())
}

/// Returns the score interval of a share, without continuity correction (Wilson, *Probable inference, the law of
/// succession, and statistical inference*, 1927).
///
/// With the share p of n trials and the normal quantile z of (1 + level) / 2, the ends are
/// (p + z^2 / (2n) +- z sqrt(p (1 - p) / n + z^2 / (4 n^2))) / (1 + z^2 / n). Its coverage is near the level on average
/// over the true share, even for few trials.
///
/// # Errors
/// As for [`Proportion::of`].
pub fn wilson(successes: u64, trials: u64, level: f64) -> Result<Interval> {
    const NAME: &str = "Wilson interval";
    check(NAME, successes, trials)?;
    checks::inside(NAME, "level", level, 1.0)?;
    let (n, z) = (number(trials), normal_critical(0.5 * (1.0 - level)));
    let share = number(successes) / n;
    let center = share + z * z / (2.0 * n);
    let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let whole = 1.0 + z * z / n;
    Ok(Interval {
        // Exactly 0 and 1 at the ends, where the difference would be rounded.
        low: if successes == 0 { 0.0 } else { (center - half) / whole },
        high: if successes == trials { 1.0 } else { (center + half) / whole },
        level,
    })
}

/// Returns the exact interval of a share, which covers at least with the probability `level` (Clopper and Pearson, *The
/// use of confidence or fiducial limits*, 1934).
///
/// The ends are the quantiles (1 - level) / 2 of the beta distribution with k, n - k + 1 and (1 + level) / 2 of that
/// with k + 1, n - k, for k successes in n trials.
///
/// # Errors
/// As for [`Proportion::of`].
pub fn clopper_pearson(successes: u64, trials: u64, level: f64) -> Result<Interval> {
    const NAME: &str = "Clopper-Pearson interval";
    check(NAME, successes, trials)?;
    checks::inside(NAME, "level", level, 1.0)?;
    let (k, failures, tail) = (number(successes), number(trials - successes), 0.5 * (1.0 - level));
    Ok(Interval {
        low: if successes == 0 { 0.0 } else { beta_quantile(k, failures + 1.0, tail) },
        high: if successes == trials { 1.0 } else { beta_quantile(k + 1.0, failures, 1.0 - tail) },
        level,
    })
}

/// The exact test of a share of successes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BinomialTest {
    /// The number of successes.
    pub successes: u64,
    /// The number of trials.
    pub trials: u64,
    /// The probability of a success under the null hypothesis.
    pub p0: f64,
    /// The probability of all counts that are at most as probable as the observed one.
    pub two_sided: f64,
    /// The probability of at least this many successes.
    pub greater: f64,
}

/// Tests that the probability of a success is `p0`.
///
/// The two-sided p value adds the probabilities of all counts that are at most as probable as the observed one, with a
/// relative tolerance of 10^-7, as `scipy.stats.binomtest` and R's `binom.test` do. The time grows with the square root
/// of the number of trials.
///
/// ```
/// use fiedler::experiment::statistics::binomial_test;
///
/// let found = binomial_test(9, 10, 0.5)?;
/// assert!((found.greater - 11.0 / 1024.0).abs() < 1e-15 && (found.two_sided - 22.0 / 1024.0).abs() < 1e-15);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Domain`] if there is no trial, there are more successes than trials, or `p0` is not in `[0, 1]`.
pub fn binomial_test(successes: u64, trials: u64, p0: f64) -> Result<BinomialTest> {
    const NAME: &str = "binomial test";
    check(NAME, successes, trials)?;
    if !(0.0..=1.0).contains(&p0) {
        return Err(Error::domain(NAME, format!("expected a probability in [0, 1], found {p0}")));
    }
    let (two_sided, greater) = if p0 > 0.0 && p0 < 1.0 {
        let masses = Masses::new(trials, p0);
        let observed = masses.of(successes) * (1.0 + 1e-7);
        (masses.sum(|_, mass| mass <= observed), masses.sum(|count, _| count >= successes))
    } else {
        // Only one count is possible.
        let certain = if p0 == 0.0 { 0 } else { trials };
        (f64::from(u8::from(successes == certain)), f64::from(u8::from(successes <= certain)))
    };
    Ok(BinomialTest { successes, trials, p0, two_sided, greater })
}
