//! Lines of tiny numbers. A device may flush subnormal numbers to 0, and on the CPU they have few digits. So such a
//! line is multiplied by a power of two before it is uploaded or computed with. What was computed from it is divided by
//! that power, or by its square, on the device (convert/lower.wgsl) or on the host. A power of two moves no other bit.
//! This is for the arrays of a call that are on the host. Arrays that are on the device already are computed as they
//! are.

use super::kernels::{Lower, Lowering};
use crate::array::Real;
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
const BOUND: f64 = 1.0 / (1_u64 << 32) as f64 / (1_u64 << 32) as f64;

/// The words of some lines as they are uploaded.
#[derive(Debug)]
pub(in crate::ops) struct Raised<'a, T: Real = f32> {
    /// The words, with a largest magnitude from 1 to less than 2 in each line that is tiny.
    pub(in crate::ops) words: Cow<'a, [T]>,
    /// The exponent e of each line, whose words are the given ones times 2^-e. It is 0 if the line is not tiny, and
    /// there is none at all if no line is.
    pub(in crate::ops) exponents: Vec<i32>,
}

impl<'a> Raised<'a> {
    /// Looks for tiny lines, whose elements have `each` words.
    pub(in crate::ops) fn of(words: &'a [f32], lines: Lines, each: usize) -> Self {
        Self::below(BOUND, words, lines, each)
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
        lower(gpu, &self.exponents, lines, each, degree, numbers)
    }
}

impl<'a, T: Real> Raised<'a, T> {
    /// Looks for lines whose largest magnitude is below `bound`, and takes them as tiny.
    pub(in crate::ops) fn below(bound: f64, words: &'a [T], lines: Lines, each: usize) -> Self {
        let (row, block) = (lines.inner * each, words.len() / lines.outer.max(1));
        let mut exponents = Vec::new();
        if row > 0 && block > 0 {
            let mut peaks = vec![0.0; lines.inner];
            for block in words.chunks_exact(block) {
                look(&mut peaks, block, each, bound);
                exponents.extend(peaks.iter().map(|&peak| exponent_of(peak, bound)));
            }
        }
        if exponents.iter().all(|&e| e == 0) {
            return Self { words: words.into(), exponents: Vec::new() };
        }
        let factors: Vec<f64> = exponents.iter().map(|&e| 2.0_f64.powi(-e)).collect();
        let raised = |(i, x): (usize, &T)| {
            let factor = factors[i / block * lines.inner + i / each % lines.inner];
            T::from_f64(x.to_f64() * factor)
        };
        Self { words: words.iter().enumerate().map(raised).collect(), exponents }
    }
}

/// Does what [`Raised::lower`] does, for the exponents of lines. Without exponents, it does nothing.
///
/// # Errors
/// Device errors.
pub(in crate::ops) fn lower(
    gpu: &Gpu,
    exponents: &[i32],
    lines: Lines,
    each: usize,
    degree: i32,
    numbers: &mut Buffer<f32>,
) -> Result<()> {
    let count = to_u32(numbers.len());
    if exponents.is_empty() || count == 0 {
        return Ok(());
    }
    let exponents: Vec<u32> = exponents.iter().map(|&e| (degree * e).cast_unsigned()).collect();
    let mut rec = gpu.record();
    let exponents = rec.upload(&exponents)?;
    let (inner, block) = (to_u32(lines.inner), count / to_u32(lines.outer));
    let params = Lowering { count, inner, words: to_u32(each), block };
    let kernel = Lower { params, exponents: &exponents, numbers: &mut numbers.cast_mut() };
    rec.dispatch(&kernel, &[], Grid::Invocations(count), f64::from(count))
}

/// Does what [`lower`] does, for numbers on the host.
pub(in crate::ops) fn lower_here<T: Real>(
    exponents: &[i32],
    lines: Lines,
    each: usize,
    degree: i32,
    numbers: &mut [T],
) {
    if exponents.is_empty() {
        return;
    }
    let block = numbers.len() / lines.outer.max(1);
    for (i, x) in numbers.iter_mut().enumerate() {
        let factor = 2.0_f64.powi(exponents[i / block * lines.inner + i / each % lines.inner]);
        // The power of a factor may be beyond the range of f64.
        *x = T::from_f64((0..degree).fold(x.to_f64(), |x, _| x * factor));
    }
}

/// Returns the exponent e of the largest magnitude of some numbers, which is from 2^e to less than 2^(e + 1), if they
/// are tiny, and 0 if they are not. Numbers after one that is not tiny are not read.
pub(in crate::ops) fn exponent(numbers: impl IntoIterator<Item = f64>) -> i32 {
    let mut peak = 0.0_f64;
    for x in numbers {
        peak = peak.max(x.abs());
        if peak >= BOUND {
            return 0;
        }
    }
    exponent_of(peak, BOUND)
}

/// Returns x times 2^e, rounded once.
pub(in crate::ops) fn times_power<T: Real>(x: T, e: i32) -> T {
    T::from_f64(x.to_f64() * 2.0_f64.powi(e))
}

/// Finds the largest magnitudes of the lines of a block.
fn look<T: Real>(peaks: &mut [f64], block: &[T], each: usize, bound: f64) {
    peaks.fill(0.0);
    for row in block.chunks_exact(peaks.len() * each) {
        for (peak, element) in peaks.iter_mut().zip(row.chunks_exact(each)) {
            *peak = element.iter().fold(*peak, |peak, x| peak.max(x.to_f64().abs()));
        }
        // Most lines begin with an element that is not tiny, so most of a block need not be read.
        if peaks.iter().all(|&peak| peak >= bound) {
            break;
        }
    }
}

/// Returns the exponent of the largest magnitude of a line, and 0 if it is 0 or not below the bound.
fn exponent_of(peak: f64, bound: f64) -> i32 {
    if peak == 0.0 || peak >= bound {
        return 0;
    }
    // Every number of f32 is a normal number of f64. For subnormal numbers of f64, the least normal exponent serves.
    (((peak.to_bits() >> 52) & 0x7ff) as i32 - 1023).max(-1022)
}
