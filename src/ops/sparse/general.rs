//! Sparse matrices of any shape, for products.

use super::{Operator, spmm};
use crate::array::{Array, Real, Storage};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::shape::Shape;

/// A sparse matrix of any shape in compressed sparse row form. Unlike an [`Operator`], it need not be symmetric, and it
/// supports products only.
#[derive(Clone, Debug)]
pub struct SparseMatrix<T: Real = f32> {
    rows: usize,
    cols: usize,
    /// A square matrix with this matrix in the upper left corner and no entries elsewhere.
    square: Operator<'static, T>,
}

impl<T: Real> SparseMatrix<T> {
    /// Creates a matrix with `cols` columns. The column indices of row i are
    /// `columns[row_offsets[i]..row_offsets[i + 1]]`. They must ascend. `values` has the value of the entry at each
    /// column index.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if the arrays do not fit together;
    /// [`Domain`](crate::ErrorKind::Domain) for a column out of range or out of order, or a value that is not
    /// finite.
    pub fn from_csr(cols: usize, mut row_offsets: Vec<usize>, columns: Vec<u32>, values: Vec<T>) -> Result<Self> {
        let rows = row_offsets.len().saturating_sub(1);
        if let (true, Some(&last)) = (cols > rows, row_offsets.last()) {
            row_offsets.resize(cols + 1, last);
        }
        let square = Operator::any_csr(row_offsets, (rows, cols), columns, values)?;
        Ok(Self { rows, cols, square })
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    #[must_use]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Returns the number of stored entries.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.square.entries()
    }

    /// Computes the product with a block of vectors, `Y = A X`, like [`spmm`].
    ///
    /// # Shapes
    /// For k vectors, `x` is the transpose `X'`, `(k, cols)`, and the result is `Y'`, `(k, rows)`.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if the block does not fit the matrix; otherwise the same as [`spmm`].
    ///
    /// ```
    /// use fiedler::{Context, Shape, array::Array, ops::sparse::SparseMatrix};
    /// // [1 0 2; 0 3 0] times (1, 1, 1).
    /// let a = SparseMatrix::<f32>::from_csr(3, vec![0, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, 3.0])?;
    /// let ctx = Context::cpu();
    /// let y = a.times(&ctx, &Array::from_vec(Shape::new(1, 3, 1), vec![1.0; 3])?)?;
    /// assert_eq!(y.to_host(&ctx)?.as_slice(), [3.0, 3.0]);
    /// # Ok::<(), fiedler::Error>(())
    /// ```
    pub fn times(&self, ctx: &Context, x: &Array<T>) -> Result<Array<T>> {
        let (shape, order) = (x.shape(), self.square.rows());
        if shape.cols != self.cols || shape.batch != 1 {
            let expected = format!("(columns, {}) for X'", self.cols);
            return Err(Error::shape("spmm", expected, format!("X' {shape}")));
        }
        if self.rows == self.cols {
            return spmm(ctx, &self.square, x);
        }
        let mut block = x.to_host(ctx)?.as_slice().to_vec();
        block.resize(shape.rows * order, T::from_f64(0.0));
        let product = spmm(ctx, &self.square, &Array::from_vec(Shape::new(shape.rows, order, 1), block)?)?;
        let mut y = product.to_host(ctx)?.as_slice().to_vec();
        y.truncate(shape.rows * self.rows);
        Ok(product.made(Shape::new(shape.rows, self.rows, 1), Storage::host(y)))
    }
}
