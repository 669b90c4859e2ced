//! Several tests at the same time.

use crate::error::{Error, Result};
use crate::order::ascending;

/// Returns p values adjusted for the number of tests, in the order of the input, by Holm's step-down method.
///
/// The i-th smallest of m values is multiplied by m - i + 1; the adjusted value is the largest of these products up to
/// the i-th, and at most 1. Rejecting what is at most alpha keeps the probability of any false rejection at most alpha,
/// whatever the dependence between the tests (Holm, *A simple sequentially rejective multiple test procedure*, 1979).
/// No values give none.
///
/// ```
/// use fiedler::experiment::statistics::holm;
///
/// assert_eq!(holm(&[0.01, 0.04, 0.02])?, [0.03, 0.04, 0.04]);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Domain`] if a value is not in `[0, 1]`.
pub fn holm(ps: &[f64]) -> Result<Vec<f64>> {
    if let Some(wrong) = ps.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(Error::domain("holm", format!("expected p values in [0, 1], found {wrong}")));
    }
    let order = ascending(ps.iter().copied());
    let mut adjusted = vec![0.0; ps.len()];
    let mut largest = 0.0_f64;
    for (i, place) in order.into_iter().enumerate() {
        largest = largest.max(super::checks::number((ps.len() - i) as u64) * ps[place]).min(1.0);
        adjusted[place] = largest;
    }
    Ok(adjusted)
}
