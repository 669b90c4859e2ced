//! Lines of tiny numbers on their way to a device, which may flush subnormal numbers to 0. Such a line is multiplied by
//! a power of two before it is uploaded, and what was computed from it is divided by that power, or by its square, on
//! the device (convert/lower.wgsl). A power of two moves no other bit. This is for the arrays of a call that are on the
//! host. Arrays that are on the device already are computed as they are.

use super::kernels::{Lower, Lowering};
use crate::device::{Buffer, Gpu, Grid};
use crate::error::Result;
use crate::shape::to_u32;
use std::borrow::Cow;

/// The layout of the lines along an axis: `outer` blocks of `inner` interleaved lines, so that the elements of a line
/// are `inner` apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ops) struct Lines {
    pub(in crate::ops) inner: usize,
    pub(in crate::ops) outer: usize,
}

/// A line whose largest magnitude is below this bound, 2^-64, is tiny. In any other line, numbers that a device may
/// flush are below 2^-62 of the largest one.
const BOUND: f32 = 1.0 / (1_u64 << 32) as f32 / (1_u64 << 32) as f32;

/// The words of some lines as they are uploaded.
#[derive(Debug)]
pub(in crate::ops) struct Raised<'a> {
    /// The words, with a largest magnitude from 1 to less than 2 in each line that is tiny.
    pub(in crate::ops) words: Cow<'a, [f32]>,
    /// The exponent e of each line, whose words are the given ones times 2^-e. It is 0 if the line is not tiny, and
    /// there is none at all if no line is.
    pub(in crate::ops) exponents: Vec<i32>,
}

impl<'a> Raised<'a> {
    /// Looks for tiny lines, whose elements have `each` words.
    pub(in crate::ops) fn of(words: &'a [f32], lines: Lines, each: usize) -> Self {
        let (row, block) = (lines.inner * each, words.len() / lines.outer.max(1));
        let mut exponents = Vec::new();
        if row > 0 && block > 0 {
            exponents.extend(words.chunks_exact(block).flat_map(|block| exponents_of(block, lines.inner, each)));
        }
        if exponents.iter().all(|&e| e == 0) {
            return Self { words: words.into(), exponents: Vec::new() };
        }
        let factors: Vec<f64> = exponents.iter().map(|&e| 2.0_f64.powi(-e)).collect();
        let raised = |(i, &x): (usize, &f32)| {
            let factor = factors[i / block * lines.inner + i / each % lines.inner];
            #[expect(clippy::cast_possible_truncation, reason = "a power of two leaves the digits as they are")]
            let raised = (f64::from(x) * factor) as f32;
            raised
        };
        Self { words: words.iter().enumerate().map(raised).collect(), exponents }
    }

    /// Records the multiplication of numbers, which are of degree `degree` in the words of their lines, by 2^(degree
    /// e). `lines` is their layout, and an element has `each` words.
    ///
    /// # Errors
    /// Device errors.
    pub(in crate::ops) fn lower(
        &self,
        gpu: &Gpu,
        lines: Lines,
        each: usize,
        degree: i32,
        numbers: &mut Buffer<f32>,
    ) -> Result<()> {
        let count = to_u32(numbers.len());
        if self.exponents.is_empty() || count == 0 {
            return Ok(());
        }
        let exponents: Vec<u32> = self.exponents.iter().map(|&e| (degree * e).cast_unsigned()).collect();
        let mut rec = gpu.record();
        let exponents = rec.upload(&exponents)?;
        let (inner, block) = (to_u32(lines.inner), count / to_u32(lines.outer));
        let params = Lowering { count, inner, words: to_u32(each), block };
        let kernel = Lower { params, exponents: &exponents, numbers: &mut numbers.cast_mut() };
        rec.dispatch(&kernel, &[], Grid::Invocations(count), f64::from(count))
    }
}

/// Returns the exponents of the lines of a block.
fn exponents_of(block: &[f32], inner: usize, each: usize) -> Vec<i32> {
    let mut peaks = vec![0.0_f32; inner];
    for row in block.chunks_exact(inner * each) {
        for (peak, element) in peaks.iter_mut().zip(row.chunks_exact(each)) {
            *peak = element.iter().fold(*peak, |peak, x| peak.max(x.abs()));
        }
        // Most lines begin with an element that is not tiny, so most of a block need not be read.
        if peaks.iter().all(|&peak| peak >= BOUND) {
            break;
        }
    }
    peaks.into_iter().map(exponent_of).collect()
}

/// Returns the exponent e of the largest magnitude of a tiny line, which is from 2^e to less than 2^(e + 1), and 0 for
/// any other line.
fn exponent_of(peak: f32) -> i32 {
    if peak == 0.0 || peak >= BOUND {
        return 0;
    }
    // Every number of f32 is a normal number of f64.
    ((f64::from(peak).to_bits() >> 52) & 0x7ff) as i32 - 1023
}
