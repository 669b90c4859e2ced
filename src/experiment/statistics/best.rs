//! What the best of several runs is worth.

use super::checks;
use crate::error::{Error, Result};

/// Returns the expected best of k different values, drawn without replacement from the given ones with equal
/// probability.
///
/// For ascending x_1 .. x_n, the largest of k is x_i with probability C(i - 1, k - 1) / C(n, k). The probability of x_n
/// is k / n, and that of x_(i - 1) is that of x_i times (i - k) / (i - 1). So nothing overflows or cancels for
/// thousands of values. For k = n this is the best of the values, and for k = 1 their mean. It assumes no distribution;
/// Dodge, Gururangan, Card, Schwartz and Smith, *Show your work*, EMNLP 2019, draw with replacement instead, which
/// underestimates the best (Tang et al., *Showing your work doesn't always work*, ACL 2020).
///
/// ```
/// use fiedler::experiment::statistics::expected_best;
///
/// // The largest of two of 1, 2, 4: of three pairs, one has 2, and two have 4.
/// assert!((expected_best(&[4.0, 1.0, 2.0], 2, true)? - 10.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Domain`] if there is no value, a value is not finite, or k is not in 1..=n.
pub fn expected_best(values: &[f64], k: usize, larger_is_better: bool) -> Result<f64> {
    const NAME: &str = "expected best";
    checks::finite(NAME, values)?;
    let n = values.len();
    if !(1..=n).contains(&k) {
        return Err(Error::domain(NAME, format!("expected a number of draws in 1..={n}, found {k}")));
    }
    let mut best_first = values.to_vec();
    best_first.sort_unstable_by(|a, b| if larger_is_better { b.total_cmp(a) } else { a.total_cmp(b) });
    let number = |x: usize| checks::number(x as u64);
    let mut weight = number(k) / number(n);
    let mut sum = 0.0;
    for (i, value) in (k..=n).rev().zip(best_first) {
        sum += weight * value;
        // After i = k follows none, and then i - 1 may be 0.
        weight *= number(i - k) / number(i - 1);
    }
    Ok(sum)
}
