//! Axes: their ranges, and the places and texts of their ticks.

use super::numbers::usable;

/// How values are placed along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// By their logarithms.
    Log,
    /// By the values.
    Linear,
}

/// The range of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    /// The least value; on a log axis, its decimal logarithm.
    pub(crate) lo: f64,
    /// The greatest value; on a log axis, its decimal logarithm.
    pub(crate) hi: f64,
    /// How values are placed.
    pub(crate) scale: Scale,
}

impl Scale {
    /// Returns the place of a value; `None` if an axis of this scale cannot show the value.
    fn place(self, value: f64) -> Option<f64> {
        match self {
            Self::Log => usable(value).map(f64::log10),
            Self::Linear => (value.abs() <= 1e30).then_some(value),
        }
    }
}

impl Range {
    /// Returns the range of the values that a log axis can show; `None` if there are no such values.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        Self::new(Scale::Log, values)
    }

    /// Returns the range of the values that a linear axis can show, which are those from -1e30 to 1e30; `None` if there
    /// are no such values.
    pub(crate) fn linear(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        Self::new(Scale::Linear, values)
    }

    fn new(scale: Scale, values: impl IntoIterator<Item = f64>) -> Option<Self> {
        values.into_iter().filter_map(|value| scale.place(value)).fold(None, |range, v| match range {
            None => Some(Self { lo: v, hi: v, scale }),
            Some(Self { lo, hi, .. }) => Some(Self { lo: lo.min(v), hi: hi.max(v), scale }),
        })
    }

    /// Adds padding at both ends, so that the range contains two ticks. A log axis then spans at least a factor of 8,
    /// and a linear axis at least a billionth of its greatest value.
    pub(crate) fn padded(self) -> Self {
        let span = self.hi - self.lo;
        let least = match self.scale {
            Scale::Log => 8f64.log10(),
            Scale::Linear => {
                let size = self.lo.abs().max(self.hi.abs());
                let alone = if size > 0.0 { 0.1 * size } else { 1.0 };
                (if span > 0.0 { 1e-9 * size } else { alone }).max(1e-30)
            }
        };
        let air = (0.06 * span).max((least - span) / 2.0);
        Self { lo: self.lo - air, hi: self.hi + air, scale: self.scale }
    }

    /// Returns the share of the axis that is before a value, from 0 to 1 for values within the range; `None` if the
    /// axis cannot show the value.
    pub(crate) fn share(self, value: f64) -> Option<f64> {
        Some((self.scale.place(value)? - self.lo) / (self.hi - self.lo))
    }

    /// Returns the ticks within the range. `fits` says whether there is room for the labels of the given values.
    ///
    /// On a log axis, the ticks are 1, 2 and 5 times each power of ten if their labels fit, otherwise the powers of ten
    /// if their labels fit, otherwise every second, third, ... power of ten. On a linear axis, they are the multiples
    /// of the least 1, 2 or 5 times a power of ten whose labels fit.
    pub(crate) fn ticks(self, fits: impl Fn(&[f64]) -> bool) -> Vec<f64> {
        match self.scale {
            Scale::Log => self.log_ticks(fits),
            Scale::Linear => self.linear_ticks(fits),
        }
    }

    fn log_ticks(self, fits: impl Fn(&[f64]) -> bool) -> Vec<f64> {
        #[expect(clippy::cast_possible_truncation, reason = "logarithms of usable values are within 40 of zero")]
        let (first, last) = (self.lo.floor() as i32, self.hi.ceil() as i32);
        let within = |stride: i32, digits: &[f64]| -> Vec<f64> {
            (first..=last)
                .filter(|power| power.rem_euclid(stride) == 0)
                .flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powi(power)))
                .filter(|v| (self.lo - 1e-9..=self.hi + 1e-9).contains(&v.log10()))
                .collect()
        };
        let dense = within(1, &[1.0, 2.0, 5.0]);
        if fits(&dense) {
            return dense;
        }
        (1..=60).map(|stride| within(stride, &[1.0])).find(|values| fits(values)).unwrap_or_default()
    }

    fn linear_ticks(self, fits: impl Fn(&[f64]) -> bool) -> Vec<f64> {
        #[expect(clippy::cast_possible_truncation, reason = "the logarithm of a double is within 400 of zero")]
        let power = (self.hi - self.lo).max(1e-30).log10().floor() as i32;
        let steps = (power - 2..=power + 1).flat_map(|power| [1i64, 2, 5].map(|digit| (digit, power)));
        let multiples = |(digit, power): (i64, i32)| -> Vec<f64> {
            // A decimal that is read is the double next to it, so that its text is as short as the decimal.
            let value = |count: i64| format!("{}e{power}", count.saturating_mul(digit)).parse().unwrap_or(f64::NAN);
            let step = value(1);
            #[expect(clippy::cast_possible_truncation, reason = "a range spans a billionth of its values or more")]
            let (first, last) = ((self.lo / step - 1e-9).ceil() as i64, (self.hi / step + 1e-9).floor() as i64);
            if last.saturating_sub(first) > 200 { Vec::new() } else { (first..=last).map(value).collect() }
        };
        let mut found = steps.map(multiples).filter(|values| values.len() > 1);
        found.find(|values| fits(values)).unwrap_or_default()
    }
}

/// Returns the texts of the ticks of a linear axis, all with the same number of decimals.
pub(crate) fn decimals(values: &[f64]) -> Vec<String> {
    let size = values.iter().fold(0f64, |size, v| size.max(v.abs()));
    let places = |v: &f64| v.to_string().split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let most = values.iter().map(places).max().unwrap_or(0);
    let short = most <= 12 && size < 1e7;
    let text = |v: &f64| if short { format!("{v:.most$}") } else { format!("{v:e}") };
    let signed = |text: String| text.strip_prefix('-').map_or_else(|| text.clone(), |size| format!("\u{2212}{size}"));
    values.iter().map(|v| signed(text(v))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_one_two_five_or_decades() {
        let log = |lo, hi| Range { lo, hi, scale: Scale::Log };
        let few = log(8f64.log10(), 110f64.log10());
        assert_eq!(few.ticks(|v| v.len() <= 7), [10.0, 20.0, 50.0, 100.0]);
        let many = log(-6.0, 2.0);
        assert_eq!(many.ticks(|v| v.len() <= 9).len(), 9);
        assert_eq!(many.ticks(|v| v.len() <= 5).len(), 5);
        assert_eq!(log(-30.0, 30.0).ticks(|v| v.len() <= 3).len(), 3);
    }

    #[test]
    fn ticks_of_a_linear_axis_are_multiples() {
        let range = Range::linear([0.512, 0.538]).expect("they are usable");
        let ticks = range.ticks(|v| v.len() <= 6);
        assert_eq!(ticks, [0.515, 0.52, 0.525, 0.53, 0.535]);
        assert_eq!(decimals(&ticks), ["0.515", "0.520", "0.525", "0.530", "0.535"]);
        let signed = Range::linear([-0.3, 0.1]).expect("they are usable").ticks(|v| v.len() <= 5);
        assert_eq!(decimals(&signed), ["−0.3", "−0.2", "−0.1", "0.0", "0.1"]);
        assert_eq!(decimals(&[1e8, 2e8]), ["1e8", "2e8"]);
    }

    #[test]
    fn one_value_has_an_axis_with_two_ticks() {
        for value in [1e-30, 3e-7, 1.0, 1.9, 4.7, 9.9, 1e30] {
            let range = Range::of([value, f64::NAN, 0.0, -1.0]).expect("one is usable").padded();
            assert!(range.ticks(|v| v.len() <= 7).len() >= 2, "{value}");
        }
        assert_eq!(Range::of([f64::NAN, 0.0, f64::INFINITY]), None);
        for value in [0.0, 5e-324, 1e-30, -3e-7, 1.0, -4.7, 0.9, 1e30] {
            for close in [value, value * (1.0 + 1e-15)] {
                let range = Range::linear([value, close, f64::NAN, f64::INFINITY]).expect("one is usable").padded();
                let ticks = range.ticks(|v| v.len() <= 6);
                assert!(ticks.len() >= 2, "{value}: {ticks:?}");
                assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]), "{value}: {ticks:?}");
            }
        }
        assert_eq!(Range::linear([f64::NAN, f64::INFINITY]), None);
    }

    #[test]
    fn shares_are_by_the_scale() {
        let log = Range::of([1.0, 100.0]).expect("they are usable");
        assert_eq!((log.share(10.0), log.share(0.0)), (Some(0.5), None));
        let linear = Range::linear([-1.0, 3.0]).expect("they are usable");
        assert_eq!((linear.share(0.0), linear.share(f64::NAN)), (Some(0.25), None));
    }
}
