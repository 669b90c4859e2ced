//! What the kernels can compute.

use super::super::kernels::{CODES, longest};
use super::super::{Measure, Program};
use crate::device::Gpu;
use crate::error::{ErrorKind, Result};

/// The most iterations of the loop of an invocation whose bound is a parameter of a measure. All loops of an invocation
/// together stay below lavapipe's 65,535 iterations.
const ITERATIONS: usize = 1 << 14;
/// The least number of invocations of a workgroup.
const NARROW: usize = 64;

/// Checks that the kernels can compute the columns of a program.
///
/// # Errors
/// [`Limit`](crate::ErrorKind::Limit) if they cannot.
pub(in super::super) fn check(program: &Program) -> Result<()> {
    let n = program.shape.len();
    at_most("numbers of a sample on the device", n, longest())?;
    for measure in &program.measures {
        match measure {
            Measure::Histogram(of) => at_most("bins of a histogram on the device", of.bins, CODES)?,
            Measure::Spectrum(of) => {
                at_most("greatest frequencies on the device", of.top, CODES)?;
                at_most("bands of a spectrum on the device", of.bands, CODES)?;
            }
            Measure::Autocorrelation(of) => {
                at_most("patterns of numbers on the device", of.patterns(), CODES)?;
                at_most("support of a peak on the device", of.support, CODES)?;
                let steps = of.known_lags().count().div_ceil(NARROW) * n;
                at_most("products at the lags of an invocation", steps, ITERATIONS)?;
            }
            Measure::Bits(of) => {
                let parts = of.parts_of(program.shape);
                let steps = parts.total.div_ceil(NARROW) * parts.strings;
                at_most("pairs of bits of an invocation", steps, ITERATIONS)?;
            }
            Measure::Raw(_)
            | Measure::Moments(_)
            | Measure::Quantiles(_)
            | Measure::Singular(_)
            | Measure::Covariance(_) => {}
        }
    }
    Ok(())
}

fn at_most(what: &str, found: usize, allowed: usize) -> Result<()> {
    if found <= allowed {
        return Ok(());
    }
    let what = format!("{what}, while the CPU takes any number of them");
    Err(ErrorKind::Limit { what, needed: found as u64, allowed: allowed as u64 }.into())
}

/// Returns the most samples of n numbers that are computed together, with rows of `widest` parts or numbers.
pub(super) fn samples(gpu: &Gpu, n: usize, widest: usize) -> usize {
    // The transform of a sample takes at most two words for each of 2 n numbers.
    let bytes = 4 * widest.max(4 * n) as u64;
    usize::try_from(gpu.adapter().limits.storage_binding / bytes).unwrap_or(usize::MAX).clamp(1, 1 << 16)
}
