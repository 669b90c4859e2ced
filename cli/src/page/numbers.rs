//! Formats figures with three digits and a unit, or as a dash if the figure is missing.

/// The sign for a missing figure.
pub(crate) const NONE: &str = "–";

/// The prefixes of units, in steps of 1000 from 1e-12 up.
const PREFIXES: [&str; 11] = ["p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E"];

/// The index of the empty prefix in [`PREFIXES`].
const UNIT: i32 = 4;

/// The exponent of the greatest prefix: E stands for 1000^6.
const GREATEST: i32 = 6;

/// Returns the value if a log axis can show it, which means that the value is from 1e-30 to 1e30.
pub(crate) fn usable(value: f64) -> Option<f64> {
    (1e-30..=1e30).contains(&value).then_some(value)
}

/// Returns `a / b` if `a`, `b` and the quotient are all [`usable`].
pub(crate) fn quotient(a: f64, b: f64) -> Option<f64> {
    usable(usable(a)? / usable(b)?)
}

/// Returns the decimal exponent of a value that is rounded to three digits.
#[expect(clippy::cast_possible_truncation, reason = "the logarithm of a double is within 400 of zero")]
fn power(value: f64) -> i32 {
    let power = value.abs().log10().floor() as i32;
    let scaled = value.abs() / 10f64.powi(power);
    if scaled >= 9.995 { power + 1 } else { power }
}

/// Formats a value with three digits: `0.0123`, `1.20`, `45.6`, `789`, `12300`.
pub(crate) fn three(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let Some(size) = usable(value.abs()) else { return NONE.to_owned() };
    let power = power(size);
    if power >= 3 {
        let step = 10f64.powi(power - 2);
        return format!("{:.0}", (value / step).round() * step);
    }
    format!("{value:.*}", usize::try_from(2 - power).unwrap_or(0))
}

/// Formats a value with a unit and a unit prefix. The prefix stands for at most 1000 to the power `most`. The value has
/// three digits, without trailing zeros if `short` is true.
fn with_prefix(value: f64, unit: &str, most: i32, short: bool) -> String {
    if value == 0.0 {
        return format!("0 {unit}").trim_end().to_owned();
    }
    let Some(value) = usable(value) else { return NONE.to_owned() };
    let thousands = power(value).div_euclid(3).clamp(-UNIT, most);
    let scaled = value / 10f64.powi(3 * thousands);
    let digits = if short { trimmed(scaled) } else { three(scaled) };
    let prefix = usize::try_from(thousands + UNIT).ok().and_then(|place| PREFIXES.get(place)).unwrap_or(&"");
    format!("{digits} {prefix}{unit}").trim_end().to_owned()
}

/// Formats a value with three digits for the label of a tick, without zeros at the end of the fraction.
fn trimmed(value: f64) -> String {
    let text = three(value);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Formats a time in seconds, such as `12.3 µs`. Times of a second or more have no prefix.
#[must_use]
pub fn seconds(value: f64) -> String {
    with_prefix(value, "s", 0, false)
}

/// Formats a rate: `1.23 Tflop/s`, `456 GB/s`.
pub(crate) fn rate(value: f64, unit: &str) -> String {
    with_prefix(value, unit, GREATEST, false)
}

/// Formats a ratio: `12.3×`.
pub(crate) fn ratio(value: f64) -> String {
    let text = three(value);
    if text == NONE { text } else { text + "×" }
}

/// Formats a fraction in percent: `45.6 %`, or `< 0.01 %` for a smaller value above 0.
pub(crate) fn percent(value: f64) -> String {
    if value > 0.0 && value < 1e-4 {
        return "< 0.01 %".to_owned();
    }
    let text = three(value * 100.0);
    if text == NONE { text } else { text + " %" }
}

/// Formats a size or a count. Whole numbers up to 999999 are written in full, as in the names of workloads, and larger
/// values have a prefix.
pub(crate) fn count(value: f64) -> String {
    if (0.0..999_999.5).contains(&value) && value.fract() == 0.0 {
        return format!("{value:.0}");
    }
    if (1e-3..1e4).contains(&value) { trimmed(value) } else { with_prefix(value, "", GREATEST, true) }
}

/// Returns the label of a tick on an axis of seconds.
pub(crate) fn tick_seconds(value: f64) -> String {
    with_prefix(value, "s", 0, true)
}

/// Returns the label of a tick on an axis of ratios.
pub(crate) fn tick_ratio(value: f64) -> String {
    count(value) + "×"
}

/// Returns the label of a tick on an axis of rates. The label has no unit, because the unit is in the axis name.
pub(crate) fn tick_rate(value: f64) -> String {
    with_prefix(value, "", GREATEST, true)
}

/// How the numbers of a column are written: with equally many decimals, so that they can be compared at a glance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digits {
    decimals: usize,
    /// Whether numbers are written as 1.23e-9.
    powers: bool,
}

impl Digits {
    /// Chooses the digits for values, of which a typical uncertainty shows two. Without an uncertainty, four decimals.
    pub(crate) fn new(values: impl Iterator<Item = f64>, uncertainty: Option<f64>) -> Self {
        let size = values.filter_map(|v| usable(v.abs())).fold(0.0, f64::max);
        let size = if size > 0.0 { power(size) } else { 0 };
        let last = uncertainty.and_then(usable).map(|u| power(u) - 1);
        let powers = !(-4..7).contains(&size);
        // However uncertain it is, the largest value has two digits.
        let last = last.unwrap_or(if powers { size - 4 } else { -4 }).min(size - 1);
        let decimals = if powers { size - last } else { -last };
        Self { decimals: usize::try_from(decimals.clamp(0, 12)).unwrap_or(0), powers }
    }

    /// Formats a number, or a dash if it is not finite.
    pub(crate) fn write(self, value: f64) -> String {
        let Self { decimals, powers } = self;
        if !value.is_finite() {
            return NONE.to_owned();
        }
        let powers = powers || value.abs() >= 1e12;
        // A sign in front of zeros would say what the digits do not.
        let text = if powers { format!("{value:.decimals$e}") } else { format!("{value:.decimals$}") };
        let zero = !text.split('e').next().unwrap_or_default().contains(|c: char| ('1'..='9').contains(&c));
        match text.strip_prefix('-') {
            _ if zero && powers => "0".to_owned(),
            Some(size) if zero => size.to_owned(),
            Some(size) => format!("\u{2212}{size}"),
            None => text,
        }
    }

    /// Formats a difference: a number with its sign.
    pub(crate) fn signed(self, value: f64) -> String {
        let text = self.write(value);
        let plus = value > 0.0 && text.contains(|c: char| ('1'..='9').contains(&c));
        if plus { format!("+{text}") } else { text }
    }
}

/// Formats a p value.
pub(crate) fn p_value(p: f64) -> String {
    match p {
        p if p.is_nan() => NONE.to_owned(),
        p if p < 1e-4 => "< 0.0001".to_owned(),
        p => format!("{p:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_a_unit() {
        assert_eq!(seconds(1.234e-5), "12.3 µs");
        assert_eq!(seconds(9.999e-4), "1.00 ms", "rounding moves on to the next prefix");
        assert_eq!(seconds(0.0), "0 s");
        assert_eq!(seconds(1234.0), "1230 s");
        assert_eq!(seconds(3e-14), "0.0300 ps");
        assert_eq!(rate(6.7e13, "flop/s"), "67.0 Tflop/s");
        assert_eq!(rate(3.4e24, "flop/s"), "3400000 Eflop/s");
        assert_eq!(ratio(0.01234), "0.0123×");
        assert_eq!(ratio(12_345.0), "12300×");
        assert_eq!(percent(0.4567), "45.7 %");
        assert_eq!(percent(1.8e-6), "< 0.01 %");
    }

    #[test]
    fn digits_are_those_of_the_uncertainty() {
        let write = |values: &[f64], u| {
            let digits = Digits::new(values.iter().copied(), u);
            values.iter().map(|&v| digits.write(v)).collect::<Vec<_>>()
        };
        assert_eq!(write(&[0.912_345, -0.5], Some(0.0123)), ["0.912", "−0.500"]);
        assert_eq!(write(&[0.912_345], None), ["0.9123"]);
        assert_eq!(write(&[12_345.678], Some(300.0)), ["12346"]);
        assert_eq!(write(&[0.9, 0.9 + 2e-9], Some(1e-9)), ["0.9000000000", "0.9000000020"]);
        assert_eq!(write(&[1.234e-9, 0.0], Some(1e-11)), ["1.234e-9", "0"]);
        assert_eq!(write(&[f64::NAN, f64::INFINITY], Some(f64::NAN)), [NONE, NONE]);
        let digits = Digits::new([0.5].into_iter(), Some(0.01));
        assert_eq!(
            [0.5, -0.5, 0.0, 1e-9, -1e-9].map(|v| digits.signed(v)),
            ["+0.500", "−0.500", "0.000", "0.000", "0.000"]
        );
        assert_eq!([0.5, 1e-9, f64::NAN].map(p_value), ["0.5000", "< 0.0001", NONE]);
    }

    #[test]
    fn ticks_are_short() {
        assert_eq!(tick_seconds(1e-5), "10 µs");
        assert_eq!(tick_seconds(100.0), "100 s");
        assert_eq!(tick_ratio(0.2), "0.2×");
        assert_eq!(tick_rate(5e9), "5 G");
        assert_eq!(count(1000.0), "1000");
        assert_eq!(count(65_536.0), "65536");
        assert_eq!(count(2_500_000.0), "2.5 M");
        assert_eq!(count(1e-5), "10 µ");
    }

    #[test]
    fn what_is_no_number_is_a_dash() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
            assert_eq!(seconds(value), NONE);
            assert_eq!(tick_rate(value), NONE);
            assert_eq!(usable(value), None);
        }
        assert_eq!(ratio(f64::NAN), NONE);
        assert_eq!(percent(f64::NAN), NONE);
        assert_eq!(quotient(1.0, 0.0), None);
        assert_eq!(quotient(1e29, 1e-29), None);
        assert_eq!(quotient(1.0, 4.0), Some(0.25));
    }
}
