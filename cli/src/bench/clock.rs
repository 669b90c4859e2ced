//! How long a call takes.

use super::workloads::Call;
use fiedler::Result;
use std::time::{Duration, Instant};

/// Seconds of calls that follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// The middle one.
    pub median: f64,
    /// The shortest.
    pub least: f64,
    /// The longest.
    pub most: f64,
    /// How many.
    pub calls: usize,
}

impl Times {
    /// `(most - least) / median`.
    #[must_use]
    pub fn spread(&self) -> f64 {
        (self.most - self.least) / self.median
    }
}

/// The first call of all: what is compiled, allocated and paged in is in it.
pub(super) fn first(call: &mut Call<'_>) -> Result<f64> {
    let started = Instant::now();
    call()?;
    Ok(started.elapsed().as_secs_f64())
}

/// Calls until the time is up, three at least, and 31 at most, after one that is not counted: it wakes threads. Of what takes longer than
/// all that are given, that one counts, and one more.
pub(super) fn timed(call: &mut Call<'_>, budget: Duration) -> Result<Times> {
    let waking = first(call)?;
    let started = Instant::now();
    let mut seconds = Vec::new();
    let long = waking > budget.as_secs_f64();
    if long {
        seconds.push(waking);
    }
    let fewest = if long { 2 } else { 3 };
    while seconds.len() < fewest || seconds.len() < 31 && started.elapsed() < budget {
        seconds.push(first(call)?);
    }
    seconds.sort_by(f64::total_cmp);
    let (least, most) = (seconds[0], seconds[seconds.len() - 1]);
    Ok(Times { median: seconds[seconds.len() / 2], least, most, calls: seconds.len() })
}
