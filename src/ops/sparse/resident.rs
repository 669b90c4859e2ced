//! Sparse operators that stay on a device, for more than one product.

use super::edges::{Listed, laplacian};
use super::gpu::{MOST_LANES, Most, Resident, product};
use super::{Operator, fits_block};
use crate::array::{Array, Real, Storage};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::graph::{Conventions, Duplicates, EdgeList, SelfLoops, Symmetrization, WeightsRef};
use crate::ops::Normalization;

/// An [`Operator`] of one problem on the device of a context. It is either uploaded or built from edges on the device.
#[derive(Debug)]
pub struct OnDevice {
    resident: Resident,
    rows: usize,
}

impl OnDevice {
    /// Uploads an operator.
    ///
    /// # Errors
    /// [`NoAdapter`](crate::ErrorKind::NoAdapter) without a device; [`Shape`](crate::ErrorKind::Shape) if the operator
    /// does not have exactly one problem; [`Limit`](crate::ErrorKind::Limit) for more rows than the device can hold;
    /// device errors.
    pub fn new(ctx: &Context, operator: &Operator<'_, f32>) -> Result<Self> {
        if operator.problems() != 1 {
            return Err(Error::shape("sparse operator on a device", "one matrix", format!("{}", operator.problems())));
        }
        let gpu = ctx.gpu()?;
        Ok(Self { resident: Resident::upload(gpu, operator, Most::of(gpu), MOST_LANES)?, rows: operator.rows() })
    }

    /// Builds the Laplacian of the graph with the given edges. The device sorts the edges, removes duplicates and
    /// self-loops, and computes the degrees and the scales. The random-walk Laplacian is represented by the similar
    /// symmetric matrix, as in [`Operator::laplacian`].
    ///
    /// # Errors
    /// The same as [`OnDevice::new`]; [`Domain`](crate::ErrorKind::Domain) for an invalid list, as in
    /// [`GraphBatch::from_edge_list`](crate::graph::GraphBatch::from_edge_list), for weights that f32 does not hold,
    /// and for conventions that the device does not support. The device supports only [`Symmetrization::Max`],
    /// [`Duplicates::Max`] and [`SelfLoops::Drop`].
    pub fn from_edges(
        ctx: &Context,
        edges: &EdgeList,
        conventions: &Conventions,
        normalization: Normalization,
    ) -> Result<Self> {
        let Conventions { symmetrization, self_loops, duplicates, isolated, .. } = *conventions;
        if (symmetrization, self_loops, duplicates) != (Symmetrization::Max, SelfLoops::Drop, Duplicates::Max) {
            let found = format!("{symmetrization:?}, {self_loops:?}, {duplicates:?}; make a graph on the host");
            let what =
                format!("the device symmetrizes by Max, drops self-loops and merges duplicates by Max, found {found}");
            return Err(Error::domain("rows from edges", what));
        }
        let (node_offsets, weights) = (edges.node_offsets(), edges.weights().map(|weights| weights.in_f32()));
        let range = f32::MIN_POSITIVE.into()..=f32::MAX.into();
        let mut wide = edges.weights().into_iter().flat_map(WeightsRef::iter);
        if let Some(weight) = wide.find(|x| x.is_finite() && *x != 0.0 && !range.contains(&x.abs())) {
            let what = format!("expected weights that f32 holds, found {weight:e}; make a graph on the host");
            return Err(Error::domain("rows from edges", what));
        }
        let weights = weights.as_deref();
        let listed = Listed { node_offsets, sources: edges.sources(), targets: edges.targets(), weights };
        if node_offsets.len() != 2 {
            let found = format!("{}", node_offsets.len() - 1);
            return Err(Error::shape("sparse operator on a device", "the edges of one graph", found));
        }
        let resident = laplacian(ctx.gpu()?, listed, normalization, isolated, MOST_LANES)?;
        Ok(Self { resident, rows: edges.nodes() })
    }

    /// Returns the order of the matrix.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Records the product `Y = A X` and returns without waiting for the result.
    ///
    /// # Shapes
    /// `x` is the transpose `X'`, `(columns, n)` for a matrix of order n; the result is `Y'`, of the same shape, on the
    /// device.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if the block does not fit the matrix;
    /// [`Limit`](crate::ErrorKind::Limit) for a block that exceeds a binding; device errors.
    pub fn spmm(&self, ctx: &Context, x: &Array<f32>) -> Result<Array<f32>> {
        self.times(ctx, x)
    }

    /// Does the same as [`OnDevice::spmm`] for an element type `T`, which must be f32.
    pub(super) fn times<T: Real>(&self, ctx: &Context, x: &Array<T>) -> Result<Array<T>> {
        let shape = x.shape();
        fits_block(shape, (1, self.rows))?;
        let gpu = ctx.gpu()?;
        let block = x.storage().on_device(ctx, gpu)?;
        let y = product(gpu, &self.resident, (self.rows, shape.rows), &block)?;
        Ok(Array::from_storage(shape, Storage::device(y)))
    }
}

#[cfg(test)]
mod tests;
