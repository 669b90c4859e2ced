//! Statistics in one pass over memory, numerically sound: [`describe`], [`quantiles`], [`histogram`], covariance and correlation, and
//! their streaming forms [`RunningStats`] and [`RunningCovariance`].
//!
//! Numbers are reduced in leaves, counted from the beginning of a series, and leaves merge in a tree that their places alone
//! determine. So on one side a result has the same bits whether the numbers come at once or chunk by chunk, and however a batch
//! is cut. The CPU computes in f64; the device in f32, on distances from a number near the mean.

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

/// Numbers of a series in one leaf of the tree.
const LEAF: usize = 4096;

/// The shape of what [`describe`], [`quantiles`] and [`histogram`] reduce to `count` numbers a series: over the rows of each
/// column `(count, cols)` a matrix, over the columns of each row `(rows, count)`, over the batch `count` matrices, over
/// everything, where no axis is given, `(count, 1)`.
#[must_use]
pub fn reduced(shape: Shape, axis: impl Into<Option<Axis>>, count: usize) -> Shape {
    match axis.into() {
        Some(Axis::Rows) => Shape { rows: count, ..shape },
        Some(Axis::Cols) => Shape { cols: count, ..shape },
        Some(Axis::Batch) => Shape { batch: count, ..shape },
        None => Shape::new(count, 1, 1),
    }
}

/// What a NaN does to the statistics of its series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nan {
    /// Makes them NaN, as numpy's mean does.
    #[default]
    Propagate,
    /// Nothing: it is left out and not counted, as numpy's nanmean does.
    Omit,
}

/// An array as series: number `i` of series `(o, p)` is at `(o * len + i) * inner + p`.
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
