//! Intervals, and what may be claimed from them.

use serde::{Deserialize, Serialize};

/// A confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The share of such intervals that contain the true value, such as 0.95.
    pub level: f64,
}

impl Interval {
    /// Returns the interval from `center` - `half_width` to `center` + `half_width`.
    pub(super) fn around(center: f64, half_width: f64, level: f64) -> Self {
        Self { low: center - half_width, high: center + half_width, level }
    }

    /// Returns whether the interval contains `x`, its ends included.
    #[must_use]
    pub fn contains(&self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }

    /// Returns half the width.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        0.5 * (self.high - self.low)
    }
}

/// Which of two settings is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The first is better: the interval of the difference excludes 0.
    Better,
    /// The first is worse: the interval of the difference excludes 0.
    Worse,
    /// The interval contains 0, or there is none.
    Undecided,
}

impl Verdict {
    /// Judges by an interval of the difference first - second, such as [`Paired::interval`](super::Paired::interval).
    #[must_use]
    pub fn of(difference: Option<Interval>, larger_is_better: bool) -> Self {
        match difference {
            Some(found) if found.low > 0.0 => Self::better_if(larger_is_better),
            Some(found) if found.high < 0.0 => Self::better_if(!larger_is_better),
            _ => Self::Undecided,
        }
    }

    fn better_if(better: bool) -> Self {
        if better { Self::Better } else { Self::Worse }
    }

    /// Returns the verdict in a word: `better`, `worse` or `undecided`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Undecided => "undecided",
        }
    }
}

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The whole interval is where the claim says.
    Pass,
    /// The whole interval is where the claim says it is not.
    Fail,
    /// The interval is on both sides, or there is none. More runs may decide.
    Undecided,
}

impl Status {
    /// Returns the status in a word: `pass`, `fail` or `undecided`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Undecided => "undecided",
        }
    }
}

/// What a claim says of a value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The value is at least this.
    AtLeast(f64),
    /// The value is at most this.
    AtMost(f64),
    /// The value is at least `low` and at most `high`.
    Within {
        /// The lower bound.
        low: f64,
        /// The upper bound.
        high: f64,
    },
}

impl Bound {
    /// Judges the claim by an interval of the value: it passes if the whole interval keeps the bound, fails if no
    /// point of the interval does, and is undecided otherwise. NaN decides nothing.
    #[must_use]
    pub fn judge(self, interval: Option<Interval>) -> Status {
        let (low, high) = match self {
            Self::AtLeast(low) => (low, f64::INFINITY),
            Self::AtMost(high) => (f64::NEG_INFINITY, high),
            Self::Within { low, high } => (low, high),
        };
        match interval {
            Some(found) if found.low >= low && found.high <= high => Status::Pass,
            Some(found) if found.high < low || found.low > high => Status::Fail,
            _ => Status::Undecided,
        }
    }
}
