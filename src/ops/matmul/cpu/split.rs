//! f32 split into the sum of two f16, on the CPU. Except for the order of the sums, the arithmetic is the same as in
//! the three products of f16 on the device.
//!
//! Each row of op(A) is scaled by a power of two so that its largest magnitude is in [2^14, 2^15). Each column of op(B)
//! is scaled in the same way. Then each scaled element x is approximated by `hi + lo`, where hi is the f16 (11 bits)
//! nearest to x, and lo is the f16 nearest to the remainder `x - hi`. So `|x - hi - lo|` is at most 2^-22 |x| or, if lo
//! is subnormal, 2^-25. In the product of two elements, `(hi + lo) (hi' + lo')`, the term `lo lo'` is left out, because
//! it is at most 2^-22 of the product. Products of two f16 are exact in f32.

use super::super::{Activation, Given, Problem};
use super::Operands;
use crate::parallel;
use half::f16;

/// The number of elements that a thread adds at a time.
const CHUNK: usize = 1 << 15;

/// Returns the high and low parts of `x`, both as f32.
fn halves(x: f32) -> (f32, f32) {
    let high = f16::from_f32(x).to_f32();
    (high, f16::from_f32(x - high).to_f32())
}

/// Returns the power of two that scales the largest of these magnitudes to [2^14, 2^15). NaN is ignored. Returns 1 if
/// the largest magnitude is 0 or infinite.
fn scale(numbers: impl Iterator<Item = f32>) -> f64 {
    let largest = numbers.fold(0.0_f32, |most, x| if x.abs() > most { x.abs() } else { most });
    if largest == 0.0 || !largest.is_finite() {
        return 1.0;
    }
    // Keep only the exponent. This works for all f32, because an f32 that is subnormal is a normal f64.
    let power = f64::from_bits(f64::from(largest).to_bits() & 0x7ff0_0000_0000_0000);
    16384.0 / power
}

/// A factor split into high and low parts, with the scale of each row of op(A) or column of op(B).
struct Parts {
    high: Vec<f32>,
    low: Vec<f32>,
    scales: Vec<f64>,
}

impl Parts {
    /// Splits a batch of stored `rows x cols` matrices. If `by_rows`, the elements of each row share a scale.
    /// Otherwise, the elements of each column share a scale.
    fn of(numbers: &[f32], rows: usize, cols: usize, by_rows: bool) -> Self {
        let (size, scaled) = (rows * cols, if by_rows { rows } else { cols });
        let mut parts = Self {
            high: vec![0.0; numbers.len()],
            low: vec![0.0; numbers.len()],
            scales: vec![1.0; numbers.len() / size * scaled],
        };
        let of_matrix = |from: &[f32], scales: &mut [f64], high: &mut [f32], low: &mut [f32]| {
            for (i, s) in scales.iter_mut().enumerate() {
                *s = if by_rows {
                    scale(from[i..].iter().copied().step_by(rows))
                } else {
                    scale(from[i * rows..(i + 1) * rows].iter().copied())
                };
            }
            for (e, x) in from.iter().enumerate() {
                let by = scales[if by_rows { e % rows } else { e / rows }];
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "a power of two: exact, but for what f16 cannot hold"
                )]
                let scaled = (f64::from(*x) * by) as f32;
                (high[e], low[e]) = halves(scaled);
            }
        };
        let run = (CHUNK / size).max(1);
        let tasks = numbers.chunks(run * size).zip(parts.scales.chunks_mut(run * scaled));
        let tasks = tasks.zip(parts.high.chunks_mut(run * size).zip(parts.low.chunks_mut(run * size)));
        parallel::for_each(tasks, |_, ((from, scales), (high, low))| {
            let matrices = from.chunks(size).zip(scales.chunks_mut(scaled));
            for ((from, scales), (high, low)) in matrices.zip(high.chunks_mut(size).zip(low.chunks_mut(size))) {
                of_matrix(from, scales, high, low);
            }
        });
        parts
    }
}

/// Computes all products of a batch, and writes every element of `out`.
pub(in crate::ops::matmul) fn gemm(problem: &Problem, operands: Operands<'_, f32>, out: &mut [f32]) {
    let Problem { m, n, k, a, b, batch, .. } = *problem;
    if m * n * k * batch == 0 || problem.alpha == 0.0 {
        // There are no terms to split.
        return super::gemm(problem, operands, out);
    }
    let stored = |given: Given, rows: usize, cols: usize| if given.transposed { (cols, rows) } else { (rows, cols) };
    let (of_a, of_b) = (stored(a, m, k), stored(b, k, n));
    // Where A is transposed, a row of op(A) is a column of A; where B is transposed, a column of op(B) is a row of B.
    let left = Parts::of(operands.a, of_a.0, of_a.1, !a.transposed);
    let right = Parts::of(operands.b, of_b.0, of_b.1, b.transposed);
    let plain = Problem { alpha: 1.0, c: None, bias: None, activation: Activation::None, ..*problem };
    let product = |a: &[f32], b: &[f32], out: &mut [f32]| {
        super::gemm(&plain, Operands { a, b, c: &[], bias: &[] }, out);
    };
    product(&left.high, &right.high, out);
    let mut small = vec![0.0; out.len()];
    for (a, b) in [(&left.high, &right.low), (&left.low, &right.high)] {
        product(a, b, &mut small);
        parallel::for_each(out.chunks_mut(CHUNK).zip(small.chunks(CHUNK)), |_, (out, small)| {
            out.iter_mut().zip(small).for_each(|(out, x)| *out += x);
        });
    }
    let of_column = |column: usize, out: &mut [f32]| {
        let (matrix, j) = (column / n, column % n);
        let down = &left.scales[if a.shared { 0 } else { matrix * m }..];
        let across = right.scales[if b.shared { 0 } else { matrix * n } + j];
        for (x, s) in out.iter_mut().zip(down) {
            #[expect(clippy::cast_possible_truncation, reason = "rounded to f32, as sums are")]
            let back = (f64::from(*x) / (s * across) * problem.alpha) as f32;
            *x = back;
        }
    };
    let run = (CHUNK / m).max(1);
    parallel::for_each(out.chunks_mut(run * m), |i, out| {
        (i * run..).zip(out.chunks_mut(m)).for_each(|(column, out)| of_column(column, out));
    });
    super::finish(problem, operands, out);
}
