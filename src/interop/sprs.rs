//! Sparse matrices of sprs, as operands of [`eigsh`](fn@crate::ops::eigsh) and [`spmm`](crate::ops::spmm) and as
//! adjacency matrices of graphs, and the adjacency matrix of a graph for sprs.
//!
//! `Operator::try_from` takes a symmetric matrix, and `SparseMatrix::try_from` any matrix for products, with any types
//! of indices, in CSR or CSC form. With indices of `u32` and offsets of `usize`, an [`Operator`] borrows all three
//! arrays. With sprs's default, `usize` for both, it borrows the values and the offsets.
//!
//! ```
//! use fiedler::ops::{EigshOptions, eigen::Which, eigsh, sparse::Operator};
//! use fiedler::prelude::*;
//! use sprs::{CsMat, TriMat};
//!
//! let mut springs = TriMat::new((3, 3));
//! for (a, b, stiffness) in [(0, 1, 1.0), (1, 2, 2.0)] {
//!     for (row, column, value) in [(a, a, stiffness), (b, b, stiffness), (a, b, -stiffness), (b, a, -stiffness)] {
//!         springs.add_triplet(row, column, value);
//!     }
//! }
//! let stiffness: CsMat<f64> = springs.to_csr();
//! let operator = Operator::try_from(stiffness.view())?;
//! let pairs = eigsh(&Context::cpu(), &operator, 1, Which::Largest, &EigshOptions::default())?;
//! assert!((pairs.values[0] - (3.0 + 3.0_f64.sqrt())).abs() < 1e-12);
//!
//! // The entries off the diagonal as weights of edges: the springs again.
//! let weights = stiffness.map(|value| value.abs());
//! let graph = Graph::from_sprs(weights.view(), &Conventions::default())?;
//! assert_eq!(graph.view().to_sprs().get(1, 2), Some(&2.0));
//! let view = graph.view().as_sprs::<f32>().expect("1 and 2 are stored in f32"); // without a copy
//! assert_eq!((view.shape(), view.nnz()), ((3, 3), 4));
//! # Ok::<(), fiedler::Error>(())
//! ```

use super::sparse::{check_square, columns, graph, offsets, same};
use crate::array::Real;
use crate::error::{Error, Result};
use crate::graph::{Conventions, Graph, GraphRef, WeightsRef};
use crate::ops::sparse::{Operator, SparseMatrix};
use bytemuck::Pod;
use sprs::{CsMat, CsMatViewI, SpIndex};

impl<'a, T: Real, I: SpIndex + Pod, P: SpIndex + Pod> TryFrom<CsMatViewI<'a, T, I, P>> for Operator<'a, T> {
    type Error = Error;

    /// Creates an operator from a symmetric matrix in CSR or CSC form.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if the matrix is not square; otherwise the same as [`Operator::from_csr`].
    fn try_from(matrix: CsMatViewI<'a, T, I, P>) -> Result<Self> {
        check_square("sparse symmetric matrix", matrix.shape())?;
        let by_columns = matrix.is_csc();
        let (starts, indices, values) = matrix.into_raw_storage();
        let operator = Self::from_lent_csr((offsets(starts, P::index), columns(indices, I::index), values.into()));
        // The columns are the rows of the transpose, which is the same matrix.
        operator.map_err(|error| if by_columns { error.within("of the transpose") } else { error })
    }
}

impl<T: Real + Default, I: SpIndex + Pod, P: SpIndex + Pod> TryFrom<CsMatViewI<'_, T, I, P>> for SparseMatrix<T> {
    type Error = Error;

    /// Copies a matrix of any shape in CSR or CSC form.
    ///
    /// # Errors
    /// The same as [`SparseMatrix::from_csr`].
    fn try_from(matrix: CsMatViewI<'_, T, I, P>) -> Result<Self> {
        let cols = matrix.cols();
        let (starts, indices, values) = matrix.to_csr().into_raw_storage();
        let (starts, indices) = (offsets(&starts, P::index), columns(&indices, I::index));
        Self::from_csr(cols, starts.into_owned(), indices.into_owned(), values)
    }
}

impl Graph {
    /// Builds the graph of an adjacency matrix, under the conventions. The value at (i, j) is the weight of the edge
    /// from i to j; a stored 0 is no edge. Needs the feature `sprs`.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if the matrix is not square; [`Domain`](crate::ErrorKind::Domain) for a value
    /// that is not finite, or negative without [`Conventions::signed`], and for what the conventions refuse;
    /// [`Limit`](crate::ErrorKind::Limit) if there are more nodes than 32 bits can number.
    pub fn from_sprs<N: Copy + Into<f64>, I: SpIndex, P: SpIndex>(
        adjacency: CsMatViewI<'_, N, I, P>,
        conventions: &Conventions,
    ) -> Result<Self> {
        let entries = adjacency.iter().map(|(&value, (row, column))| (row.index(), column.index(), value.into()));
        graph("Graph::from_sprs", adjacency.shape(), entries, conventions)
    }
}

impl<'a> GraphRef<'a> {
    /// Returns a view of the adjacency matrix in CSR form, without a copy, or `None` if the weights are not stored as
    /// `T`: they are f32 unless one is not exactly an f32, and those of an unweighted graph are not stored. See
    /// [`GraphRef::to_sprs`]. Needs the feature `sprs`.
    #[must_use]
    pub fn as_sprs<T: Real>(&self) -> Option<CsMatViewI<'a, T, u32, usize>> {
        let weights = match self.all_weights()? {
            WeightsRef::F32(weights) => same(weights),
            WeightsRef::F64(weights) => same(weights),
        }?;
        CsMatViewI::try_new((self.nodes(), self.nodes()), self.row_offsets(), self.columns(), weights).ok()
    }

    /// Returns a copy of the adjacency matrix in CSR form. Needs the feature `sprs`.
    #[must_use]
    pub fn to_sprs(&self) -> CsMat<f64> {
        let columns = self.columns().iter().map(|&column| column as usize).collect();
        let weights =
            self.all_weights().map_or_else(|| vec![1.0; self.entries()], |weights| weights.in_f64().into_owned());
        let offsets = offsets(self.row_offsets(), |offset| offset).into_owned();
        CsMat::new((self.nodes(), self.nodes()), offsets, columns, weights)
    }
}
