//! Checks that several statistics share.

use crate::error::{Error, Result};

/// Checks that there are values and that all are finite.
///
/// # Errors
/// [`crate::ErrorKind::Domain`] otherwise.
pub(super) fn finite(name: &'static str, values: &[f64]) -> Result<()> {
    if values.is_empty() {
        return Err(Error::domain(name, "expected at least one value, found none"));
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(at) => Err(Error::domain(name, format!("expected finite values, found {} at {at}", values[at]))),
        None => Ok(()),
    }
}

/// Checks that the values of pairs are as many on both sides, and finite.
///
/// # Errors
/// [`crate::ErrorKind::Shape`] if the lengths differ, [`crate::ErrorKind::Domain`] as for [`finite`].
pub(super) fn pairs(name: &'static str, a: &[f64], b: &[f64]) -> Result<()> {
    if a.len() != b.len() {
        return Err(Error::shape(name, format!("pairs of {} values", a.len()), format!("{} partners", b.len())));
    }
    finite(name, a)?;
    finite(name, b)
}

/// Checks that a number, such as a level, is between 0 and `below`, both excluded.
///
/// # Errors
/// [`crate::ErrorKind::Domain`] otherwise.
pub(super) fn inside(name: &'static str, what: &str, value: f64, below: f64) -> Result<()> {
    if value > 0.0 && value < below {
        Ok(())
    } else {
        Err(Error::domain(name, format!("expected a {what} between 0 and {below}, found {value}")))
    }
}

/// Returns a count as a number. Counts are below 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
pub(in crate::experiment) fn number(count: u64) -> f64 {
    count as f64
}
