//! Matrices of faer, and its sparse matrices as operands of [`eigsh`](fn@crate::ops::eigsh) and
//! [`spmm`](crate::ops::spmm) and as adjacency matrices of graphs.
//!
//! Without this feature, faer is a private dependency; with it, its version is a part of this crate's interface.
//!
//! ```
//! use fiedler::ops::{EigshOptions, eigen::Which, eigsh, sparse::Operator};
//! use fiedler::prelude::*;
//! use faer::sparse::{SparseColMat, Triplet};
//! use faer::{Mat, mat};
//!
//! let ctx = Context::new()?;
//! let a: Mat<f64> = mat![[2.0, 1.0], [1.0, 2.0]];
//! let found = eigh(&ctx, &Array::from_faer([a.as_ref(), a.as_ref()])?)?.ok(&ctx)?; // a batch of two
//! let vectors = found.vectors.to_host(&ctx)?;
//! let v = vectors.as_faer(1); // a `MatRef`, without a copy
//! assert!((v.transpose() * v - Mat::<f64>::identity(2, 2)).norm_max() < 1e-12);
//!
//! let entries = [Triplet::new(0, 1, 1.0), Triplet::new(1, 0, 1.0), Triplet::new(1, 2, 2.0), Triplet::new(2, 1, 2.0)];
//! let path = SparseColMat::<usize, f64>::try_new_from_triplets(3, 3, &entries).expect("entries within (3, 3)");
//! let operator = Operator::try_from(path.as_ref())?;
//! let pairs = eigsh(&ctx, &operator, 1, Which::Largest, &EigshOptions::default())?;
//! assert!((pairs.values[0] - 5.0_f64.sqrt()).abs() < 1e-12);
//!
//! let graph = Graph::from_faer(path.as_ref(), &Conventions::default())?;
//! assert_eq!(graph.view().degrees(), [1.0, 3.0, 2.0]);
//! assert_eq!(graph.view().to_faer()?.val(), path.val());
//! # Ok::<(), fiedler::Error>(())
//! ```

use super::sparse::{check_square, columns, graph, offsets};
use crate::array::{Array, HostArray, Real, Scalar, Storage};
use crate::error::{Error, Result};
use crate::graph::{Conventions, Graph, GraphRef};
use crate::ops::sparse::{Csr, Operator, SparseMatrix};
use crate::shape::{Shape, to_u32};
use faer::sparse::{SparseColMat, SparseColMatRef, SparseRowMatRef, Triplet};
use faer::traits::{Index, IndexCore};
use faer::{Mat, MatRef};
use std::fmt::Display;

impl<T: Scalar> From<MatRef<'_, T>> for Array<T> {
    /// Copies the elements of a matrix into a batch of one.
    fn from(matrix: MatRef<'_, T>) -> Self {
        let shape = Shape::new(matrix.nrows(), matrix.ncols(), 1);
        let mut data = Vec::with_capacity(shape.len());
        push(&mut data, matrix);
        Self::from_storage(shape, Storage::host(data))
    }
}

impl<T: Scalar> From<&Mat<T>> for Array<T> {
    /// Copies the elements of a matrix into a batch of one. faer leaves gaps between columns, so its memory cannot be
    /// used.
    fn from(matrix: &Mat<T>) -> Self {
        matrix.as_ref().into()
    }
}

/// Appends the elements of a matrix in column-major order.
fn push<T: Scalar>(data: &mut Vec<T>, matrix: MatRef<'_, T>) {
    match matrix.try_as_col_major() {
        Some(matrix) => matrix.col_iter().for_each(|column| data.extend_from_slice(column.as_slice())),
        None => matrix.col_iter().for_each(|column| data.extend(column.iter().copied())),
    }
}

impl<T: Scalar> Array<T> {
    /// Creates an array from matrices of equal shape. Needs the feature `faer`.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if the matrices differ in shape.
    pub fn from_faer<'a>(matrices: impl IntoIterator<Item = MatRef<'a, T>>) -> Result<Self> {
        let mut matrices = matrices.into_iter().peekable();
        let (rows, cols) = matrices.peek().map_or((0, 0), MatRef::shape);
        let (mut batch, mut data) = (0, Vec::new());
        for matrix in matrices {
            if matrix.shape() != (rows, cols) {
                let (r, c) = matrix.shape();
                let expected = format!("({rows}, {cols}) as matrix 0 has");
                return Err(Error::shape("Array::from_faer", expected, format!("({r}, {c}) at matrix {batch}")));
            }
            push(&mut data, matrix);
            batch += 1;
        }
        Ok(Self::from_storage(Shape::new(rows, cols, batch), Storage::host(data)))
    }
}

impl<T: Scalar> HostArray<T> {
    /// Returns matrix `i` of the batch, without a copy; its `to_owned` is a `Mat`. Needs the feature `faer`.
    ///
    /// # Panics
    /// If `i` is not below the number of matrices, as [`HostArray::matrix`].
    #[must_use]
    pub fn as_faer(&self, i: usize) -> MatRef<'_, T> {
        let (shape, n) = (self.shape(), self.shape().matrix_len());
        assert!(i < shape.batch, "matrix {i} of {}", shape.batch);
        MatRef::from_column_major_slice(&self.as_slice()[i * n..(i + 1) * n], shape.rows, shape.cols)
    }
}

impl<'a, I: Index, T: Real> TryFrom<SparseRowMatRef<'a, I, T>> for Operator<'a, T> {
    type Error = Error;

    /// Creates an operator from a symmetric matrix. Its values are not copied unless there are gaps between rows.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if the matrix is not square; otherwise the same as [`Operator::from_csr`].
    fn try_from(matrix: SparseRowMatRef<'a, I, T>) -> Result<Self> {
        check_square("sparse symmetric matrix", matrix.shape())?;
        Self::from_lent_csr(compressed(matrix))
    }
}

impl<'a, I: Index, T: Real> TryFrom<SparseColMatRef<'a, I, T>> for Operator<'a, T> {
    type Error = Error;

    /// Creates an operator from a symmetric matrix. Its values are not copied unless there are gaps between columns.
    ///
    /// # Errors
    /// The same as from a matrix that is stored by rows.
    fn try_from(matrix: SparseColMatRef<'a, I, T>) -> Result<Self> {
        check_square("sparse symmetric matrix", matrix.shape())?;
        // The columns are the rows of the transpose, which is the same matrix.
        Self::from_lent_csr(compressed(matrix.transpose())).map_err(|error| error.within("of the transpose"))
    }
}

impl<I: Index, T: Real> TryFrom<SparseRowMatRef<'_, I, T>> for SparseMatrix<T> {
    type Error = Error;

    /// Copies a matrix of any shape.
    ///
    /// # Errors
    /// The same as [`SparseMatrix::from_csr`].
    fn try_from(matrix: SparseRowMatRef<'_, I, T>) -> Result<Self> {
        let (offsets, columns, values) = compressed(matrix);
        Self::from_csr(matrix.ncols(), offsets.into_owned(), columns.into_owned(), values.into_owned())
    }
}

impl<I: Index, T: Real> TryFrom<SparseColMatRef<'_, I, T>> for SparseMatrix<T> {
    type Error = Error;

    /// Copies a matrix of any shape.
    ///
    /// # Errors
    /// The same as [`SparseMatrix::from_csr`], and [`Domain`](crate::ErrorKind::Domain) if faer cannot order the
    /// entries by rows.
    fn try_from(matrix: SparseColMatRef<'_, I, T>) -> Result<Self> {
        let rows = matrix.to_row_major().map_err(refused("sparse matrix"))?;
        rows.as_ref().try_into()
    }
}

/// Returns the arrays of a matrix, of which those are borrowed that need not change.
fn compressed<'a, I: Index, T: Real>(matrix: SparseRowMatRef<'a, I, T>) -> Csr<'a, T> {
    let (symbolic, values) = matrix.parts();
    if symbolic.row_nnz().is_none() {
        let starts = symbolic.row_ptr();
        let entries = starts[0].zx()..starts[starts.len() - 1].zx();
        let indices = &symbolic.col_idx()[entries.clone()];
        return (offsets(starts, IndexCore::zx), columns(indices, IndexCore::zx), values[entries].into());
    }
    let (mut starts, mut columns, mut own) = (vec![0], Vec::new(), Vec::new());
    for row in 0..matrix.nrows() {
        columns.extend(symbolic.col_idx_of_row(row).map(to_u32));
        own.extend_from_slice(matrix.val_of_row(row));
        starts.push(columns.len());
    }
    (starts.into(), columns.into(), own.into())
}

fn refused<E: Display>(operation: &'static str) -> impl Fn(E) -> Error {
    move |error| Error::domain(operation, format!("expected a matrix that faer can store, found its error {error}"))
}

impl Graph {
    /// Builds the graph of an adjacency matrix, under the conventions. The value at (i, j) is the weight of the edge
    /// from i to j; a stored 0 is no edge. For a matrix that is stored by rows, pass `to_col_major()` of it. Needs the
    /// feature `faer`.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if the matrix is not square; [`Domain`](crate::ErrorKind::Domain) for a value
    /// that is not finite, or negative without [`Conventions::signed`], and for what the conventions refuse;
    /// [`Limit`](crate::ErrorKind::Limit) if there are more nodes than 32 bits can number.
    pub fn from_faer<I: Index, T: Copy + Into<f64>>(
        adjacency: SparseColMatRef<'_, I, T>,
        conventions: &Conventions,
    ) -> Result<Self> {
        let entries = adjacency.triplet_iter().map(|Triplet { row, col, val }| (row, col, (*val).into()));
        graph("Graph::from_faer", adjacency.shape(), entries, conventions)
    }
}

impl GraphRef<'_> {
    /// Returns a copy of the adjacency matrix. Needs the feature `faer`.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if faer has too little memory.
    pub fn to_faer(&self) -> Result<SparseColMat<usize, f64>> {
        let row = |row| self.row(row).map(move |(column, weight)| Triplet::new(row, column, weight));
        let entries: Vec<_> = (0..self.nodes()).flat_map(row).collect();
        SparseColMat::try_new_from_triplets(self.nodes(), self.nodes(), &entries).map_err(refused("GraphRef::to_faer"))
    }
}
