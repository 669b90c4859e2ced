//! What a machine can do at most, measured: bytes a second of a plain copy, and multiply-adds a second in registers. Every
//! benchmark states what it achieves as a share of these.

mod cpu;
mod gpu;
pub(super) mod kernels;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::policy::Side;
use std::time::Instant;

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceilings {
    /// Bytes a second of a copy: those read and those written.
    pub copy: f64,
    /// Operations a second in f32, a multiply-add counted as two.
    pub fma: f64,
    /// Seconds of the shortest thing that can be asked for: one small dispatch, submitted and waited for (on the CPU one parallel call).
    pub call: f64,
}

/// Measures the adapter where operations of `ctx` run on it, else the CPU, with everything that it has: the best of `rounds`
/// calls of each, after a first one that is not counted. Times are of the host's clock around calls that take a few milliseconds
/// on any GPU, so what a submission costs is in them, as it is in all that is compared with them.
///
/// # Errors
/// [`crate::ErrorKind::Domain`] for no rounds; [`crate::ErrorKind::Limit`] where `bytes` (of one of the copy's two arrays) are
/// beyond the memory budget or a binding; device errors.
pub fn ceilings(ctx: &Context, bytes: u64, rounds: usize) -> Result<Ceilings> {
    if rounds == 0 || bytes < 16 {
        let what = format!("expected at least one round and 16 bytes, found {rounds} and {bytes}");
        return Err(Error::domain("ceilings", what));
    }
    let (needed, allowed) = (bytes.saturating_mul(2), ctx.memory_budget());
    if needed > allowed {
        return Err(Error::budget("bytes of a copy's two arrays", needed, allowed));
    }
    // An adapter that is there and not forbidden is measured, a software adapter too: it was named.
    let choice = ctx.explain(&Default::default(), true);
    if ctx.adapter().is_some() && choice.reason != crate::policy::Reason::Asked || choice.side == Side::Gpu {
        return gpu::ceilings(ctx, bytes, rounds);
    }
    cpu::ceilings(bytes, rounds)
}

/// Seconds that a dispatch costs on its own, among others of one submission.
///
/// # Errors
/// Device errors; [`crate::ErrorKind::NoAdapter`] where there is none.
pub fn dispatch(ctx: &Context) -> Result<f64> {
    gpu::dispatch(ctx, 5)
}

/// The fewest seconds of `rounds` calls, after one.
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
