//! The parsers of option values. They run while the command line is parsed, so an invalid value is reported as a wrong
//! call.

use std::num::IntErrorKind;

/// Parses a whole number of 0 or more.
pub(super) fn whole<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let large = || "expected a smaller whole number".to_owned();
    match text.parse::<u64>() {
        Ok(number) => T::try_from(number).map_err(|_| large()),
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => Err(large()),
        Err(_) => Err("expected a whole number of 0 or more".to_owned()),
    }
}

/// Parses a whole number of 1 or more.
pub(super) fn counted(text: &str) -> Result<usize, String> {
    match text.parse::<u64>() {
        Ok(1..) => whole(text),
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => whole(text),
        _ => Err("expected a whole number of 1 or more".to_owned()),
    }
}

fn number(text: &str, wanted: &str, allowed: impl Fn(f64) -> bool) -> Result<f64, String> {
    text.trim().parse().ok().filter(|&x| allowed(x)).ok_or_else(|| format!("expected {wanted}"))
}

pub(super) fn finite(text: &str) -> Result<f64, String> {
    number(text, "a finite number", f64::is_finite)
}

pub(super) fn positive(text: &str) -> Result<f64, String> {
    number(text, "a finite number above 0", |x| x.is_finite() && x > 0.0)
}

pub(super) fn not_negative(text: &str) -> Result<f64, String> {
    number(text, "a finite number of 0 or more", |x| x.is_finite() && x >= 0.0)
}

/// Parses the base of a logarithm.
pub(super) fn base(text: &str) -> Result<f64, String> {
    number(text, "a finite number above 1", |x| x.is_finite() && x > 1.0)
}

/// Parses the charge of a magnetic Laplacian.
pub(super) fn charge(text: &str) -> Result<f64, String> {
    number(text, "a charge from 0 to 0.5", |x| (0.0..=0.5).contains(&x))
}

/// Parses a number from 0 to 1: a probability, or the position of a quantile.
pub(super) fn share(text: &str) -> Result<f64, String> {
    number(text, "a number from 0 to 1", |x| (0.0..=1.0).contains(&x))
}

#[cfg(test)]
mod tests {
    use super::{base, charge, counted, finite, not_negative, positive, share, whole};

    #[test]
    fn every_value_is_one_or_the_wish_is_said() {
        assert_eq!((whole::<u32>("4294967295"), counted("7"), finite("-1e3")), (Ok(u32::MAX), Ok(7), Ok(-1e3)));
        assert_eq!((positive("1e-9"), not_negative("0"), base("2"), share("1")), (Ok(1e-9), Ok(0.0), Ok(2.0), Ok(1.0)));
        for (found, wish) in [
            (whole::<u32>("-1").map(f64::from), "0 or more"),
            (whole::<u32>("4294967296").map(f64::from), "smaller"),
            (whole::<u32>("99999999999999999999").map(f64::from), "smaller"),
            (whole::<u32>("1.5").map(f64::from), "0 or more"),
            (counted("0").map(|_| 0.0), "1 or more"),
            (finite("inf"), "finite"),
            (finite("x"), "finite"),
            (positive("0"), "above 0"),
            (positive("nan"), "above 0"),
            (not_negative("-0.5"), "0 or more"),
            (base("1"), "above 1"),
            (share("1.1"), "from 0 to 1"),
            (charge("0.6"), "from 0 to 0.5"),
            (charge("nan"), "from 0 to 0.5"),
        ] {
            assert!(found.as_ref().is_err_and(|said| said.contains(wish)), "{found:?} for {wish}");
        }
    }
}
