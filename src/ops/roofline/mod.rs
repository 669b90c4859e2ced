//! The measured ceilings of a machine: bytes per second of a plain copy, and multiply-adds per second in registers.
//! Every benchmark states what it achieves as a share of these.

mod cpu;
mod gpu;
pub(super) mod kernels;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::policy::Side;
use std::time::Instant;

/// The measured ceilings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceilings {
    /// The bytes per second of a copy: those read and those written.
    pub copy: f64,
    /// The operations per second in f32, with a multiply-add counted as two.
    pub fma: f64,
    /// The seconds of the shortest possible call: one small dispatch, submitted and waited for (on the CPU one parallel
    /// call).
    pub call: f64,
}

/// Measures the adapter if operations of `ctx` run on it, else the CPU, at full capacity: the best of `rounds` calls of
/// each kind, after a first one that is not counted. Times are of the host's clock around calls that take a few
/// milliseconds on any GPU, so they include the cost of a submission, as does everything that is compared with them.
///
/// # Examples
/// ```
/// use fiedler::Context;
/// use fiedler::ops::roofline::ceilings;
///
/// let found = ceilings(&Context::cpu(), 1 << 20, 2)?;
/// assert!(found.copy > 0.0 && found.fma > 0.0);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Domain`] if `rounds` is 0 or `bytes` is below 16; [`crate::ErrorKind::Limit`] if `bytes` (of one
/// of the copy's two arrays) exceed the memory budget or a binding; device errors.
pub fn ceilings(ctx: &Context, bytes: u64, rounds: usize) -> Result<Ceilings> {
    if rounds == 0 || bytes < 16 {
        let what = format!("expected at least one round and 16 bytes, found {rounds} and {bytes}");
        return Err(Error::domain("ceilings", what));
    }
    let (needed, allowed) = (bytes.saturating_mul(2), ctx.memory_budget());
    if needed > allowed {
        return Err(Error::budget("bytes of a copy's two arrays", needed, allowed));
    }
    // An adapter that is present and not forbidden is measured, even a software adapter, because it was named.
    let choice = ctx.explain(&Default::default(), true);
    if ctx.adapter().is_some() && choice.reason != crate::policy::Reason::Asked || choice.side == Side::Gpu {
        return gpu::ceilings(ctx, bytes, rounds);
    }
    cpu::ceilings(bytes, rounds)
}

/// Measures the seconds that one dispatch costs among others of the same submission.
///
/// # Errors
/// Device errors; [`crate::ErrorKind::NoAdapter`] if there is no adapter.
pub fn dispatch(ctx: &Context) -> Result<f64> {
    gpu::dispatch(ctx, 5)
}

/// Returns the fewest seconds of `rounds` calls, after one that is not counted.
fn best(rounds: usize, mut call: impl FnMut() -> Result<()>) -> Result<f64> {
    call()?;
    let mut least = f64::INFINITY;
    for _ in 0..rounds {
        let started = Instant::now();
        call()?;
        least = least.min(started.elapsed().as_secs_f64());
    }
    Ok(least)
}
