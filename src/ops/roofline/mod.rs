//! The measured ceilings of a machine: the bytes per second of a plain copy, and the floating-point operations per
//! second of multiply-adds in registers. Every benchmark reports its rates as shares of these ceilings.

mod cpu;
mod gpu;
pub(super) mod kernels;

use crate::clock::Instant;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::policy::Side;

/// The measured ceilings of the CPU or of an adapter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceilings {
    /// The bytes per second of a copy, counting both the bytes that are read and the bytes that are written.
    pub copy: f64,
    /// The operations per second in f32, with a multiply-add counted as two.
    pub fma: f64,
    /// The time of the shortest possible call, in seconds. On an adapter, this call submits one small dispatch and
    /// waits for it. On the CPU, it gives every thread an empty task and waits for all of them.
    pub call: f64,
}

/// Measures the adapter of `ctx`, if there is one and [`Backend::Cpu`](crate::Backend::Cpu) is not set. Otherwise
/// measures the CPU with all threads. Each ceiling is from the fastest of `rounds` calls, after a first call that is
/// not counted. Times are taken with the host's clock around calls that last a few milliseconds on any GPU. These times
/// include the cost of a submission, as do the times of the benchmarks that are compared with the ceilings.
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
/// [`crate::ErrorKind::Domain`] if `rounds` is 0 or `bytes` is below 16; [`crate::ErrorKind::Limit`] if the two arrays
/// of the copy, of `bytes` bytes each, exceed the memory budget or one of them exceeds a binding;
/// [`crate::ErrorKind::NoAdapter`] if [`Backend::Gpu`](crate::Backend::Gpu) is set and there is no adapter; device
/// errors.
pub fn ceilings(ctx: &Context, bytes: u64, rounds: usize) -> Result<Ceilings> {
    if rounds == 0 || bytes < 16 {
        let what = format!("expected at least one round and 16 bytes, found {rounds} and {bytes}");
        return Err(Error::domain("ceilings", what));
    }
    let (needed, allowed) = (bytes.saturating_mul(2), ctx.memory_budget());
    if needed > allowed {
        return Err(Error::budget("bytes of a copy's two arrays", needed, allowed));
    }
    // Any adapter that is present is measured unless the CPU was requested. A software adapter is measured too, because
    // it is only used if the caller has selected it by name.
    let choice = ctx.explain(&Default::default(), true);
    if ctx.adapter().is_some() && choice.reason != crate::policy::Reason::Asked || choice.side == Side::Gpu {
        return gpu::ceilings(ctx, bytes, rounds);
    }
    cpu::ceilings(bytes, rounds)
}

/// Measures the time, in seconds, that one dispatch adds to a submission of several dispatches.
///
/// # Errors
/// Device errors; [`crate::ErrorKind::NoAdapter`] if there is no adapter.
pub fn dispatch(ctx: &Context) -> Result<f64> {
    gpu::dispatch(ctx, 5)
}

/// Returns the minimum time of `rounds` calls, in seconds, after a first call that is not counted.
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
