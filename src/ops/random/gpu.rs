//! Random numbers on the device, with one kernel. All steps use integers, except for the last step, which scales and
//! shifts a number to its distribution.

use super::kernels::{BERNOULLI, Fill, NORMAL, Order, UNIFORM, WIDTH, WORDS, fill_variant};
use super::quantile::TABLE;
use super::{Law, Stream, cpu};
use crate::device::{Buffer, Gpu};
use crate::error::{ErrorKind, Result};

/// Returns the number of bytes in a binding for `len` numbers, rounded up to whole vectors of four.
pub(super) fn bytes(len: usize) -> u64 {
    (len as u64).div_ceil(4).max(1).saturating_mul(16)
}

/// Records the computation of the next `len` numbers of the stream.
///
/// # Errors
/// [`ErrorKind::Limit`] if the numbers exceed a binding; device errors.
pub(super) fn fill(gpu: &Gpu, stream: &Stream, len: usize, law: Law) -> Result<Buffer<f32>> {
    let adapter = gpu.adapter();
    let (needed, allowed) = (bytes(len), adapter.limits.storage_binding);
    if needed > allowed {
        let what = format!("bytes of random numbers in one binding on {}", adapter.name);
        return Err(ErrorKind::Limit { what, needed, allowed }.into());
    }
    let mut rec = gpu.record();
    let quads = len.div_ceil(4);
    let mut numbers: Buffer<[u32; 4]> = rec.array(quads)?;
    let table = if matches!(law, Law::Normal { .. }) { &TABLE[..] } else { &TABLE[..1] };
    let quantiles = rec.upload(table)?;
    let (block, inside) = stream.block(0);
    let [key_low, key_high] = stream.key();
    let [upper_low, upper_high] = stream.upper();
    let [block_low, block_high] = [block, block >> 32].map(low_word);
    let count = low_word(quads as u64);
    let (variant, [offset, factor, below], [last, some]) = numbers_of(law);
    // An invocation computes at most twenty rounds of Philox with about ten operations each, and then ten operations
    // for each of its four numbers.
    let work = f64::from(WIDTH) * 240.0;
    for range in rec.ranges(count.div_ceil(WIDTH), work) {
        let params = Order {
            key_low,
            key_high,
            upper_low,
            upper_high,
            block_low,
            block_high,
            inside: low_word(inside as u64),
            first: range.first,
            count,
            offset,
            factor,
            below,
            last,
            some,
        };
        let kernel = Fill { params, quantiles: &quantiles, numbers: &mut numbers };
        rec.dispatch(&kernel, &fill_variant(variant), range.grid(), range.flops)?;
    }
    Ok(numbers.cast::<f32>().first(len))
}

/// Returns the kernel's variant for a law, and the parameters of the law.
#[expect(clippy::cast_possible_truncation, reason = "they are f32 numbers already")]
fn numbers_of(law: Law) -> (u8, [f32; 3], [u32; 2]) {
    match law {
        Law::Words => (WORDS, [0.0; 3], [0; 2]),
        Law::Uniform { low, high } => {
            (UNIFORM, [low as f32, (high - low) as f32, cpu::last_below::<f32>(high) as f32], [0; 2])
        }
        Law::Normal { mean, deviation } => (NORMAL, [mean as f32, deviation as f32, 0.0], [0; 2]),
        Law::Bernoulli { below } => (BERNOULLI, [0.0; 3], [low_word(below.saturating_sub(1)), u32::from(below > 0)]),
    }
}

/// Returns the lower 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "what it is for")]
fn low_word(x: u64) -> u32 {
    x as u32
}

#[cfg(test)]
mod tests {
    /// lavapipe silently ends the loops of an invocation after 65,535 iterations in total. The loops of fill.wgsl are
    /// the rounds of two blocks.
    #[test]
    fn the_loops_fit_lavapipe() {
        let rounds = 10;
        assert!(2 * rounds <= 65_535);
    }
}
