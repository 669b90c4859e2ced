//! Conversions from and to the types of other crates. Each module needs the feature of its name. With a feature, the
//! version of its crate is a part of this crate's interface.
//!
//! | feature, module | from and to this crate | without a copy |
//! |---|---|---|
//! | `ndarray` 0.17 | arrays with the axes (batch, rows, columns): [`Array`] | owned arrays in column-major order; all results |
//! | `faer` 0.24 | matrices: [`Array`]; sparse ones: [`Operator`], [`SparseMatrix`], [`Graph`] | the values of an operator; all results |
//! | `petgraph` 0.8 | graphs: [`Graph`], with a closure for the weights | |
//! | `sprs` 0.11 | sparse matrices: [`Operator`], [`SparseMatrix`], [`Graph`] | an operator with indices of u32; weighted graphs |
//!
//! [`Array`]: crate::Array
//! [`Graph`]: crate::Graph
//! [`Operator`]: crate::ops::sparse::Operator
//! [`SparseMatrix`]: crate::ops::sparse::SparseMatrix
//!
//! None of the features is a default. `cargo run --example interop` has an example of each.

#[cfg(feature = "faer")]
pub mod faer;
#[cfg(feature = "ndarray")]
pub mod ndarray;
#[cfg(feature = "petgraph")]
pub mod petgraph;
#[cfg(feature = "sprs")]
pub mod sprs;

#[cfg(any(feature = "faer", feature = "sprs"))]
mod sparse {
    use crate::error::{Error, Result};
    use crate::graph::{Conventions, EdgeList, Graph};
    use crate::shape::to_u32;
    use bytemuck::Pod;
    use std::any::TypeId;
    use std::borrow::Cow;

    /// Returns the elements as those of type `B`, if `A` is the same type.
    pub(super) fn same<A: Pod, B: Pod>(elements: &[A]) -> Option<&[B]> {
        (TypeId::of::<A>() == TypeId::of::<B>()).then(|| bytemuck::cast_slice(elements))
    }

    /// Returns the offsets of rows, counted from the first, without a copy if they are so already.
    pub(super) fn offsets<P: Pod>(all: &[P], index: impl Fn(P) -> usize) -> Cow<'_, [usize]> {
        let first = all.first().map_or(0, |&first| index(first));
        match same(all).filter(|_| first == 0) {
            Some(all) => all.into(),
            None => all.iter().map(|&offset| index(offset) - first).collect(),
        }
    }

    /// Returns the indices of columns, without a copy if they are u32. One that 32 bits do not hold becomes the
    /// largest, which is out of the range of every matrix.
    pub(super) fn columns<I: Pod>(all: &[I], index: impl Fn(I) -> usize) -> Cow<'_, [u32]> {
        match same(all) {
            Some(all) => all.into(),
            None => all.iter().map(|&column| to_u32(index(column))).collect(),
        }
    }

    /// Checks that a matrix of this shape is square, which `operation` needs.
    pub(super) fn check_square(operation: &'static str, (rows, cols): (usize, usize)) -> Result<()> {
        if rows == cols {
            return Ok(());
        }
        Err(Error::shape(operation, "a square matrix", format!("({rows}, {cols})")))
    }

    /// Builds the graph of an adjacency matrix with these entries `(row, column, value)`.
    pub(super) fn graph(
        operation: &'static str,
        shape: (usize, usize),
        entries: impl Iterator<Item = (usize, usize, f64)>,
        conventions: &Conventions,
    ) -> Result<Graph> {
        check_square(operation, shape)?;
        let mut list = EdgeList::new(shape.0)?;
        list.reserve(entries.size_hint().0);
        for (row, column, value) in entries {
            super::check_weight(operation, value, conventions, || format!("entry ({row}, {column})"))?;
            list.push_weighted(to_u32(row), to_u32(column), value);
        }
        Graph::from_edge_list(list, conventions)
    }
}

/// Checks the weight of the edge that `name` describes.
#[cfg(any(feature = "faer", feature = "petgraph", feature = "sprs"))]
fn check_weight(
    operation: &'static str,
    weight: f64,
    conventions: &crate::graph::Conventions,
    name: impl Fn() -> String,
) -> crate::Result<()> {
    if weight.is_finite() && (weight >= 0.0 || conventions.signed) {
        return Ok(());
    }
    let but = if conventions.signed { "" } else { " that is not negative" };
    let what = format!("expected a finite weight{but}, found {weight} at {}", name());
    Err(crate::Error::domain(operation, what))
}
