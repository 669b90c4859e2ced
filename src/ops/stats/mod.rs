//! Numerically sound statistics in one pass over memory: [`describe`], [`quantiles`], [`histogram`], covariance and
//! correlation, and the streaming forms [`RunningStats`] and [`RunningCovariance`].
//!
//! Each series is divided into leaves of consecutive elements, counted from the beginning of the series. The leaves are
//! reduced separately and merged in a tree whose shape depends only on their positions. So on the same side (CPU or
//! device) a result has the same bits whether the elements arrive together or chunk by chunk, and however a batch is
//! divided. The CPU computes in f64, except that for covariances of f32 elements it sums the products within a leaf in
//! f32. The device computes in f32, with distances from a value near the mean, which is called the shift.
//!
//! A stream holds at most one node per level of the tree, as a binary counter holds one digit per position. Nodes are
//! merged by the formulas of Chan and Pébay. To avoid overflow on the device, a node of moments describes the elements
//! times 2^-16 if the magnitude of an element is 2^100 or more. In a leaf of covariances, the distances in each column
//! are divided by a power of two. The shaders first subtract the shift from an element. From the result they subtract
//! the offset, which is the mean minus the shift. A compiler could combine the two subtractions, so the first one is an
//! argument of WGSL's built-in function `select`.
//!
//! The Rust module `select` counts elements on the device: for histograms it compares keys, which are integers that
//! have the same order as the elements, and for quantiles it uses a radix selection on these keys.

mod cov;
mod cpu;
mod describe;
mod gpu;
mod gpu_cov;
mod gram;
mod histogram;
pub(super) mod kernels;
mod moments;
mod quantiles;
mod running;
mod running_cov;
mod select;
mod tiles;
mod tree;

pub use cov::{choose_cov, corr, cov};
pub(in crate::ops) use cov::{covariance, in_f64};
pub use describe::{Description, StatsOptions, choose_describe, describe};
pub(in crate::ops) use gpu_cov::{Output, Unit};
pub use histogram::{Histogram, choose_histogram, histogram};
pub(in crate::ops) use histogram::{counted, edges};
pub use moments::Moments;
pub use quantiles::{choose_quantiles, quantiles};
pub use running::RunningStats;
pub use running_cov::RunningCovariance;

use crate::shape::{Axis, Shape};

/// The number of elements of a series in one leaf of the tree.
const LEAF: usize = 4096;

/// Returns the shape of the results of [`describe`], [`quantiles`] and [`histogram`], which reduce each series to
/// `count` values. With [`Axis::Rows`] a series is a column of a matrix, and the result is `(count, cols)` per matrix.
/// With [`Axis::Cols`] a series is a row, and the result is `(rows, count)` per matrix. With [`Axis::Batch`] the result
/// has `count` matrices. Without an axis all elements form one series, and the result is `(count, 1)`.
#[must_use]
pub fn reduced(shape: Shape, axis: impl Into<Option<Axis>>, count: usize) -> Shape {
    match axis.into() {
        Some(Axis::Rows) => Shape { rows: count, ..shape },
        Some(Axis::Cols) => Shape { cols: count, ..shape },
        Some(Axis::Batch) => Shape { batch: count, ..shape },
        None => Shape::new(count, 1, 1),
    }
}

/// The effect of a NaN on the statistics of the series that contains it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nan {
    /// The statistics become NaN, as in NumPy's mean.
    #[default]
    Propagate,
    /// The NaN is left out and not counted, as in NumPy's nanmean.
    Omit,
}

/// The division of an array into series. Element `i` of series `(o, p)` is at index `(o * len + i) * inner + p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct View {
    outer: usize,
    len: usize,
    inner: usize,
}

impl View {
    fn of(shape: Shape, axis: Option<Axis>) -> Self {
        let Shape { rows, cols, batch } = shape;
        let (outer, len, inner) = match axis {
            Some(Axis::Rows) => (cols * batch, rows, 1),
            Some(Axis::Cols) => (batch, cols, rows),
            Some(Axis::Batch) => (1, batch, rows * cols),
            None => (1, shape.len(), 1),
        };
        Self { outer, len, inner }
    }

    fn series(&self) -> usize {
        self.outer * self.inner
    }

    fn len(&self) -> usize {
        self.series() * self.len
    }
}

fn count(number: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let number = number as f64;
    number
}
