//! Whether two settings are equivalent.

use super::checks::{self, number};
use super::claims::Interval;
use super::estimate::Estimate;
use super::paired::Corrected;
use crate::error::{Error, Result};
use crate::train::distributions::{student_critical, student_tail};
use serde::Serialize;

const NAME: &str = "equivalence test";

/// Two one-sided tests (TOST) that a mean difference is between -margin and +margin.
///
/// Both hypotheses, that the difference is at most -margin and that it is at least +margin, are tested by Student's t
/// distribution at level alpha. The settings are equivalent if both are rejected, which is the same as that the
/// interval at level 1 - 2 alpha is between the margins (Schuirmann, *A comparison of the two one-sided tests procedure
/// and the power approach for assessing the equivalence of average bioavailability*, 1987). The probability of calling
/// settings equivalent that are not is at most alpha. A test that finds no difference shows no equivalence.
///
/// Differences of resampled splits are not independent. For them, judge [`Corrected::interval`](super::Corrected) at
/// level 1 - 2 alpha by [`Bound::Within`](super::Bound).
///
/// If all values are equal there is no spread: the interval is a point, and the p values are 0 or 1 (or 0.5 at a
/// margin). So results that are identical in every pair are equivalent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Equivalence {
    /// The mean difference.
    pub difference: f64,
    /// The standard error of the mean difference; NaN for a single value.
    pub standard_error: f64,
    /// The degrees of freedom: n - 1 for pairs; those of Welch and Satterthwaite for two samples, NaN without a spread.
    pub freedom: f64,
    /// The margin.
    pub margin: f64,
    /// The level of each test.
    pub alpha: f64,
    /// The interval of the difference at level 1 - 2 alpha. `None` for a single value.
    pub interval: Option<Interval>,
    /// The p value of the test that the difference is at most -margin; NaN for a single value.
    pub p_lower: f64,
    /// The p value of the test that the difference is at least +margin; NaN for a single value.
    pub p_upper: f64,
    /// Whether both p values are below alpha.
    pub equivalent: bool,
}

impl Equivalence {
    /// Tests by paired differences.
    ///
    /// ```
    /// use fiedler::experiment::statistics::Equivalence;
    ///
    /// let found = Equivalence::tost(&[0.001, -0.002, 0.0, 0.002, -0.001], 0.005, 0.05)?;
    /// assert!(found.equivalent && found.p() < 0.005);
    /// # Ok::<(), fiedler::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if there is no value, a value is not finite, the margin is not positive and finite,
    /// or alpha is not between 0 and 0.5.
    pub fn tost(differences: &[f64], margin: f64, alpha: f64) -> Result<Self> {
        let found = Estimate::named(NAME, differences, 0.95)?;
        Self::from_error(found.mean, found.standard_error, number(found.n as u64) - 1.0, margin, alpha)
    }

    /// Tests by two independent samples, a - b, whose variances may differ.
    ///
    /// The standard error is sqrt(v + w) for v = s_a^2 / n_a and w = s_b^2 / n_b, and the degrees of freedom are
    /// (v + w)^2 / (v^2 / (n_a - 1) + w^2 / (n_b - 1)) (Welch, *The generalization of Student's problem when several
    /// different population variances are involved*, 1947).
    ///
    /// # Errors
    /// As for [`Equivalence::tost`].
    pub fn welch(a: &[f64], b: &[f64], margin: f64, alpha: f64) -> Result<Self> {
        let (a, b) = (Estimate::named(NAME, a, 0.95)?, Estimate::named(NAME, b, 0.95)?);
        let standard_error = a.standard_error.hypot(b.standard_error);
        // The shares of the variance, of which no square can underflow as one of the variances might.
        let [v, w] = [&a, &b].map(|one| (one.standard_error / standard_error).powi(2));
        let freedom = 1.0 / (v * v / (number(a.n as u64) - 1.0) + w * w / (number(b.n as u64) - 1.0));
        Self::from_error(a.mean - b.mean, standard_error, freedom, margin, alpha)
    }

    /// Tests by the differences of pairs that are from resampled splits of one data set, with the standard error of
    /// [`Paired::resampled`](super::Paired::resampled).
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if the margin is not positive and finite, or alpha is not between 0 and 0.5.
    pub fn corrected(found: &Corrected, margin: f64, alpha: f64) -> Result<Self> {
        Self::from_error(found.mean, found.standard_error, number(found.n as u64) - 1.0, margin, alpha)
    }

    fn from_error(difference: f64, standard_error: f64, freedom: f64, margin: f64, alpha: f64) -> Result<Self> {
        checks::inside(NAME, "margin", margin, f64::INFINITY)?;
        checks::inside(NAME, "level alpha", alpha, 0.5)?;
        let interval = (!standard_error.is_nan()).then(|| {
            let half = if standard_error > 0.0 { student_critical(alpha, freedom) * standard_error } else { 0.0 };
            Interval::around(difference, half, 1.0 - 2.0 * alpha)
        });
        let p = |distance: f64| match standard_error {
            0.0 if distance == 0.0 => 0.5,
            0.0 => f64::from(u8::from(distance < 0.0)),
            _ => student_tail(distance / standard_error, freedom),
        };
        let (p_lower, p_upper) = (p(difference + margin), p(margin - difference));
        let equivalent = p_lower < alpha && p_upper < alpha;
        Ok(Self { difference, standard_error, freedom, margin, alpha, interval, p_lower, p_upper, equivalent })
    }

    /// Returns the larger p value, which is that of the whole test; NaN for a single value.
    #[must_use]
    pub fn p(&self) -> f64 {
        if self.p_lower > self.p_upper { self.p_lower } else { self.p_upper }
    }
}

/// Returns how many pairs [`Equivalence::tost`] needs to find equivalence with the probability `power`, if the true
/// difference is 0 and the differences have the standard deviation `deviation`.
///
/// This is the smallest n >= 2 with n >= (t_(1 - alpha) + t_((1 + power) / 2))^2 deviation^2 / margin^2, for quantiles
/// of Student's t distribution with n - 1 degrees of freedom. With normal quantiles, alpha 0.05 and power 0.9, that
/// would be 10.8 deviation^2 / margin^2 (Julious, *Sample sizes for clinical trials with normal data*, 2004).
///
/// ```
/// use fiedler::experiment::statistics::runs_needed;
///
/// // A deviation of 0.7 points and a margin of 0.5: 22 by normal quantiles, and two more for estimating the deviation.
/// assert_eq!(runs_needed(0.7, 0.5, 0.05, 0.9)?, 24);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Domain`] if the deviation is negative or not finite, the margin is not positive and finite,
/// alpha is not between 0 and 0.5, power is not between 0 and 1, or more than 2^40 pairs were needed.
pub fn runs_needed(deviation: f64, margin: f64, alpha: f64, power: f64) -> Result<u64> {
    const NAME: &str = "runs needed";
    check(NAME, deviation, margin, alpha, power)?;
    let needed = needed(deviation, 0.0, margin, alpha, power);
    needed.ok_or_else(|| {
        let what = format!("expected a deviation that a margin of {margin} can resolve, found {deviation}");
        Error::domain(NAME, what)
    })
}

/// Returns how many pairs [`Equivalence::corrected`] needs, as [`runs_needed`] does. `ratio` is
/// [`Corrected::ratio`](super::Corrected). More divisions of one data set do not add samples to it: the standard error
/// stays above the square root of the ratio times the deviation, so there may be no number that suffices (`None`).
///
/// # Errors
/// As for [`runs_needed`], and [`crate::ErrorKind::Domain`] if the ratio is negative or not finite.
pub fn resampled_runs_needed(deviation: f64, ratio: f64, margin: f64, alpha: f64, power: f64) -> Result<Option<u64>> {
    const NAME: &str = "runs needed";
    check(NAME, deviation, margin, alpha, power)?;
    if !(0.0..f64::INFINITY).contains(&ratio) {
        return Err(Error::domain(NAME, format!("expected a ratio of at least 0, found {ratio}")));
    }
    Ok(needed(deviation, ratio, margin, alpha, power))
}

fn check(name: &'static str, deviation: f64, margin: f64, alpha: f64, power: f64) -> Result<()> {
    checks::inside(name, "margin", margin, f64::INFINITY)?;
    checks::inside(name, "level alpha", alpha, 0.5)?;
    checks::inside(name, "power", power, 1.0)?;
    if (0.0..f64::INFINITY).contains(&deviation) {
        Ok(())
    } else {
        Err(Error::domain(name, format!("expected a standard deviation, found {deviation}")))
    }
}

/// Returns the smallest number of pairs that is enough, if up to 2^40 are.
fn needed(deviation: f64, ratio: f64, margin: f64, alpha: f64, power: f64) -> Option<u64> {
    let enough = |n: u64| {
        let t = |tail: f64| student_critical(tail, number(n - 1));
        let least = ((t(alpha) + t(0.5 * (1.0 - power))) * deviation / margin).powi(2);
        number(n) >= least * (1.0 + number(n) * ratio)
    };
    const MOST: u64 = 1 << 40;
    if !enough(MOST) {
        return None;
    }
    // The right side falls with n, so the numbers that are enough are those from one on.
    let (mut few, mut many) = (1, MOST);
    while many - few > 1 {
        let middle = few + (many - few) / 2;
        if enough(middle) { many = middle } else { few = middle }
    }
    Some(many)
}
