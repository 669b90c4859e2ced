//! Products of f32 by means of f16, on the device. A line is a row of op(A) or a column of op(B). First, every line is
//! scaled, and each of its elements is split into a sum of two f16. Then three products of f16 matrices are computed
//! and added, and the scaling is undone. The arithmetic is the same as on the CPU (`cpu/split.rs`), except for the
//! order of the sums. If the plan is for matrix units, the products run on matrix units.

use super::forms::Plan;
use super::gpu::{self, Ending, Factor, Product};
use super::kernels::{LINES, Largest, Lines, Split};
use crate::device::{Buffer, Recorder};
use crate::error::Result;

/// The number of f16 products that replace one product of f32.
pub(super) const PRODUCTS: u32 = 3;

/// The number of terms of a line that a workgroup splits. It is even, so that a chunk has whole words of two f16. It is
/// large, so that reading the maxima of all chunks of the line, which every workgroup does, costs little.
pub(super) const CHUNK: u32 = 4096;

/// Returns the number of terms in the sums of the f16 products: `k`, rounded up to an even number, because a word holds
/// two f16.
pub(super) fn terms(k: u32) -> u32 {
    k.saturating_add(k % 2)
}

/// Returns the number of words of device memory for each intermediate array: the high and low halves of op(A) and of
/// op(B), the largest magnitudes of both factors, the exponents, and the sums of all products. `batches` has the
/// numbers of matrices of A, of B and of results.
pub(super) fn room(plan: &Plan, m: u64, n: u64, k: u32, batches: [u64; 3]) -> [u64; 8] {
    let [of_a, of_b, of_c] = batches;
    let all = [m.saturating_mul(of_a), n.saturating_mul(of_b)];
    let halves = all.map(|lines| lines.saturating_mul(u64::from(terms(k) / 2)));
    let largest = all.map(|lines| lines.saturating_mul(u64::from(k.div_ceil(CHUNK))));
    let parts = u64::from(PRODUCTS * plan.parts(terms(k)));
    let sums = parts.saturating_mul(m).saturating_mul(n).saturating_mul(of_c);
    let exponents = all[0].saturating_add(all[1]);
    [halves[0], halves[0], halves[1], halves[1], largest[0], largest[1], exponents, sums]
}

/// A factor split into high and low halves, with the terms of each line contiguous, and the exponent of each line's
/// scale.
struct Halves {
    high: Buffer<f32>,
    low: Buffer<f32>,
    exponents: Buffer<u32>,
}

impl Halves {
    /// Splits the lines of a factor. `size` is (lines per matrix, lines in total, terms per line). The terms of a line
    /// are contiguous if `along`.
    fn of(rec: &mut Recorder<'_>, factor: &Buffer<f32>, along: bool, size: [u32; 3]) -> Result<Self> {
        let [lines, all, terms] = size;
        let (chunks, words) = (terms.div_ceil(CHUNK), terms.div_ceil(2) as usize);
        let mut largest = rec.array::<u32>(all as usize * chunks as usize)?;
        let (mut high, mut low) = (rec.array::<u32>(all as usize * words)?, rec.array::<u32>(all as usize * words)?);
        let mut exponents = rec.array::<u32>(all as usize)?;
        let numbers = &factor.cast_ref::<u32>();
        let params = Lines { first: 0, lines, all, terms, chunk: CHUNK, chunks };
        let variant = [("ALONG", along.into())];
        let units = all.div_ceil(LINES) * chunks;
        let flops = 16.0 * f64::from(LINES) * f64::from(terms.min(CHUNK) + 64);
        for range in rec.ranges(units, flops) {
            let params = Lines { first: range.first, ..params };
            let grid = range.grid();
            let kernel = Largest { params, numbers, largest: &mut largest };
            rec.dispatch(&kernel, &variant, grid, range.flops)?;
        }
        let flops = 4.0 * flops;
        for range in rec.ranges(units, flops) {
            let params = Lines { first: range.first, ..params };
            let grid = range.grid();
            let (largest, high, low, exponents) = (&largest, &mut high, &mut low, &mut exponents);
            let kernel = Split { params, numbers, largest, high, low, exponents };
            rec.dispatch(&kernel, &variant, grid, range.flops)?;
        }
        Ok(Self { high: high.cast(), low: low.cast(), exponents })
    }
}

/// Records a product of f32 into `out`. The plan is for f16 with [`terms`] terms. If `product` is a block of a larger
/// product, the plan is the plan of the larger product. A block has all terms of its sums, because all terms of a line
/// have the same scale.
///
/// # Errors
/// Device errors.
pub(super) fn gemm(rec: &mut Recorder<'_>, plan: &Plan, product: &Product<'_>, out: &mut Buffer<f32>) -> Result<()> {
    let Product { m, n, k, batch, a, b, .. } = *product;
    if m == 0 || n == 0 || batch == 0 {
        return Ok(());
    }
    let matrices = |factor: &Factor<'_>| if factor.shared { 1 } else { batch };
    let left = Halves::of(rec, a.buffer, a.transposed, [m, m * matrices(&a), k])?;
    let right = Halves::of(rec, b.buffer, !b.transposed, [n, n * matrices(&b), k])?;
    let parts = plan.parts(terms(k));
    let len = (PRODUCTS * parts) as usize * m as usize * n as usize * batch as usize;
    let mut sums = rec.array::<f32>(len)?;
    // The product of the high halves is the largest and comes first. The product of the low halves is left out, because
    // it is smaller than the rounding errors of the other products.
    let pairs = [(&left.high, &right.high), (&left.high, &right.low), (&left.low, &right.high)];
    for (skip, (of_a, of_b)) in (0..).step_by(parts as usize).zip(pairs) {
        let half = Product {
            k: terms(k),
            a: Factor { buffer: of_a, transposed: true, ..a },
            b: Factor { buffer: of_b, transposed: false, ..b },
            ending: Ending::NONE,
            half: true,
            ..*product
        };
        gpu::partial(rec, plan, &half, skip, &mut sums)?;
    }
    gpu::finish_scaled(rec, plan, product, PRODUCTS * parts, &sums, [&left.exponents, &right.exponents], out)
}
