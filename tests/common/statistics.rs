//! Numbers for statistics, and what is true of them.

use super::random::SplitMix64;
use fiedler::Shape;
use fiedler::array::Array;

/// Mean, and the means of the second, third and fourth powers of the distances from it, by two passes.
pub fn two_passes(x: &[f64]) -> [f64; 4] {
    let n = x.len() as f64;
    // Of distances from one of them, so that they have all digits.
    let near: Vec<f64> = x.iter().map(|v| v - x[0]).collect();
    let mean = near.iter().sum::<f64>() / n;
    let power = |k: i32| near.iter().map(|v| (v - mean).powi(k)).sum::<f64>() / n;
    [x[0] + mean, power(2), power(3), power(4)]
}

/// How a number is drawn.
pub type Draw = fn(&mut SplitMix64) -> f64;

/// Kinds of numbers: far from 0 beside their spread, around 0, and with long tails.
pub const KINDS: [(&str, Draw); 4] = [
    ("mean 1e6, variance 1", |r| 1e6 + r.normal()),
    ("normal", SplitMix64::normal),
    ("uniform", SplitMix64::signed),
    ("exponential", |r| -(1.0 - r.unit()).ln()),
];

/// Numbers `rows x cols` around 1e3, column-major.
pub fn table(rows: usize, cols: usize, seed: u64) -> Vec<f32> {
    let mut random = SplitMix64::new(seed);
    (0..rows * cols).map(|_| (1e3 + random.normal()) as f32).collect()
}

/// Some rows of a table.
pub fn rows_of(data: &[f32], rows: usize, some: std::ops::Range<usize>) -> fiedler::Result<Array<f32>> {
    let cols = data.len() / rows;
    let own: Vec<f32> = data.chunks_exact(rows).flat_map(|column| &column[some.clone()]).copied().collect();
    Array::from_vec(Shape::new(some.len(), cols, 1), own)
}

/// Rows of a chunk, of 20,000.
pub const CUTS: [usize; 5] = [20_000, 4096, 1000, 5003, 12_289];
