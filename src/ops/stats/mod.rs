//! Numerically sound statistics in one pass over memory: [`describe`], [`quantiles`], [`histogram`], covariance and
//! correlation, and their streaming forms [`RunningStats`] and [`RunningCovariance`].
//!
//! The elements of a series are reduced in leaves, counted from the beginning of the series, and the leaves merge in a
//! tree that their positions alone determine. So on one side a result has the same bits whether the elements come at
//! once or chunk by chunk, and however a batch is cut. The CPU computes in f64; the device computes in f32, on
//! distances from a value near the mean.
//!
//! A stream holds the tree as a binary counter holds a number, so chunks move no bit. Merges are Chan's and Pébay's. A
//! node of moments with numbers from 2^100 on is of numbers times 2^-16; a leaf of covariances has a unit for every
//! column. Distances are written as choices between two differences, because a compiler makes one of a chain of them.
//! `select` counts: histograms by comparing keys, quantiles by a radix selection.

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
mod tree;

pub use cov::{choose_cov, corr, cov};
pub(in crate::ops) use cov::{covariance, in_f64};
pub use describe::{Description, StatsOptions, choose_describe, describe};
pub(in crate::ops) use gpu_cov::Output;
pub use histogram::{Histogram, choose_histogram, histogram};
pub(in crate::ops) use histogram::{counted, edges};
pub(in crate::ops) use kernels::NONE;
pub use moments::Moments;
pub use quantiles::{choose_quantiles, quantiles};
pub use running::RunningStats;
pub use running_cov::RunningCovariance;

use crate::shape::{Axis, Shape};

/// The number of elements of a series in one leaf of the tree.
const LEAF: usize = 4096;

/// Returns the shape of the results of [`describe`], [`quantiles`] and [`histogram`], which reduce each series to
/// `count` values: `(count, cols)` per matrix over the rows of each column, `(rows, count)` over the columns of each
/// row, `count` matrices over the batch, and `(count, 1)` over everything if no axis is given.
#[must_use]
pub fn reduced(shape: Shape, axis: impl Into<Option<Axis>>, count: usize) -> Shape {
    match axis.into() {
        Some(Axis::Rows) => Shape { rows: count, ..shape },
        Some(Axis::Cols) => Shape { cols: count, ..shape },
        Some(Axis::Batch) => Shape { batch: count, ..shape },
        None => Shape::new(count, 1, 1),
    }
}

/// The effect of a NaN on the statistics of its series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nan {
    /// The statistics become NaN, as in numpy's mean.
    #[default]
    Propagate,
    /// The NaN is left out and not counted, as in numpy's nanmean.
    Omit,
}

/// An array as a set of series: element `i` of series `(o, p)` is at index `(o * len + i) * inner + p`.
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
