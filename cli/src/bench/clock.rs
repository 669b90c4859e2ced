//! The durations of calls.

use super::workloads::Call;
use fiedler::Result;
use std::time::{Duration, Instant};

/// The durations of consecutive calls, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// The median duration.
    pub median: f64,
    /// The shortest duration.
    pub least: f64,
    /// The longest duration.
    pub most: f64,
    /// The number of calls.
    pub calls: usize,
}

impl Times {
    /// Returns the spread, `(most - least) / median`.
    #[must_use]
    pub fn spread(&self) -> f64 {
        (self.most - self.least) / self.median
    }
}

/// Returns the duration of one call, in seconds. For the very first call, this includes compiling, allocating and
/// paging in.
pub(super) fn first(call: &mut Call<'_>) -> Result<f64> {
    let started = Instant::now();
    call()?;
    Ok(started.elapsed().as_secs_f64())
}

/// Times calls until the budget is used up, but at least 3 and at most 31 calls. A call before them wakes the threads
/// and usually does not count. If it takes longer than the budget, however, it counts as one of the timed calls, and
/// two timed calls are enough.
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
