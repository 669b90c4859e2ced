//! Data for statistics, and the true results.

use super::random::SplitMix64;
use fiedler::array::{Array, Real};
use fiedler::ops::stats::{Description, StatsOptions, describe};
use fiedler::{Axis, Context, Shape};

/// Computes the mean, and the means of the second, third and fourth powers of the distances from it, in two passes.
pub fn two_passes(x: &[f64]) -> [f64; 4] {
    let n = x.len() as f64;
    // The mean is taken of distances from the first value, so that they have all digits.
    let near: Vec<f64> = x.iter().map(|v| v - x[0]).collect();
    let mean = near.iter().sum::<f64>() / n;
    let power = |k: i32| near.iter().map(|v| (v - mean).powi(k)).sum::<f64>() / n;
    [x[0] + mean, power(2), power(3), power(4)]
}

/// Returns the skewness and the kurtosis of data with these central moments. Each comes with a scale, and the allowed
/// error is relative to this scale. The relative error of a power of a rounded distance is a few times that of the
/// distance, so the scale is made of the sums of the magnitudes of these powers.
pub fn shape_of(x: &[f64], [mean, second, third, fourth]: [f64; 4]) -> [(f64, f64); 2] {
    if second == 0.0 {
        return [(f64::NAN, 0.0); 2];
    }
    let magnitude = x.iter().map(|x| (x - mean).abs().powi(3)).sum::<f64>() / x.len() as f64;
    let (skewness, kurtosis) = (third / second.powf(1.5), fourth / (second * second) - 3.0);
    [(skewness, 4.0 * (1.0 + magnitude / second.powf(1.5))), (kurtosis, 4.0 * (4.0 + kurtosis.abs()))]
}

/// A function that draws one value.
pub type Draw = fn(&mut SplitMix64) -> f64;

/// Kinds of data: far from 0 relative to their spread, around 0, and with long tails.
pub const KINDS: [(&str, Draw); 4] = [
    ("mean 1e6, variance 1", |r| 1e6 + r.normal()),
    ("normal", SplitMix64::normal),
    ("uniform", SplitMix64::signed),
    ("exponential", |r| -(1.0 - r.unit()).ln()),
];

/// Returns a column-major `rows x cols` table of values around 1e3.
pub fn table(rows: usize, cols: usize, seed: u64) -> Vec<f32> {
    let mut random = SplitMix64::new(seed);
    (0..rows * cols).map(|_| (1e3 + random.normal()) as f32).collect()
}

/// Returns some rows of a table as an array.
pub fn rows_of(data: &[f32], rows: usize, some: std::ops::Range<usize>) -> fiedler::Result<Array<f32>> {
    let cols = data.len() / rows;
    let own: Vec<f32> = data.chunks_exact(rows).flat_map(|column| &column[some.clone()]).copied().collect();
    Array::from_vec(Shape::new(some.len(), cols, 1), own)
}

/// The numbers of rows per chunk into which the tests cut 20,000 rows.
pub const CUTS: [usize; 5] = [20_000, 4096, 1000, 5003, 12_289];

/// Returns the six statistics of a description, in their order, in f64.
pub fn all<T: Real>(ctx: &Context, d: &Description<T>) -> fiedler::Result<[Vec<f64>; 6]> {
    let wide = |a: &Array<T>| -> fiedler::Result<Vec<f64>> {
        Ok(a.to_host(ctx)?.as_slice().iter().map(|x| x.to_f64()).collect())
    };
    Ok([wide(&d.mean)?, wide(&d.variance)?, wide(&d.min)?, wide(&d.max)?, wide(&d.skewness)?, wide(&d.kurtosis)?])
}

/// Describes one series: returns all its statistics and its count.
pub fn one(ctx: &Context, data: Vec<f32>, options: StatsOptions) -> fiedler::Result<([f64; 6], u64)> {
    let x = Array::from_vec(Shape::new(data.len(), 1, 1), data)?;
    let found = describe(ctx, &x, Axis::Rows, options)?;
    Ok((all(ctx, &found)?.map(|v| v[0]), found.counts(ctx)?[0]))
}

pub const AXES: [Option<Axis>; 4] = [Some(Axis::Rows), Some(Axis::Cols), Some(Axis::Batch), None];

/// Returns the series of an array, in the order of the results.
pub fn series<T: Copy>(x: &[T], shape: Shape, axis: Option<Axis>) -> Vec<Vec<T>> {
    let at = |r: usize, c: usize, b: usize| x[(b * shape.cols + c) * shape.rows + r];
    let Shape { rows, cols, batch } = shape;
    match axis {
        Some(Axis::Rows) => (0..cols * batch).map(|k| (0..rows).map(|r| at(r, k % cols, k / cols)).collect()).collect(),
        Some(Axis::Cols) => (0..rows * batch).map(|k| (0..cols).map(|c| at(k % rows, c, k / rows)).collect()).collect(),
        Some(Axis::Batch) => {
            (0..rows * cols).map(|k| (0..batch).map(|b| at(k % rows, k / rows, b)).collect()).collect()
        }
        None => vec![x.to_vec()],
    }
}
