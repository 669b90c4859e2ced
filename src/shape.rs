//! The shapes of batches, and the offsets of their matrices. The matrices of a batch are stored one after the other,
//! each column-major, as in nalgebra.

use std::fmt;

/// The shape of a batch of `batch` matrices, each with `rows` rows and `cols` columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The number of rows of each matrix.
    pub rows: usize,
    /// The number of columns of each matrix.
    pub cols: usize,
    /// The number of matrices.
    pub batch: usize,
}

impl Shape {
    /// Creates the shape of `batch` matrices with `rows` rows and `cols` columns each.
    #[must_use]
    pub const fn new(rows: usize, cols: usize, batch: usize) -> Self {
        Self { rows, cols, batch }
    }

    /// Returns the number of elements in one matrix.
    #[must_use]
    pub const fn matrix_len(&self) -> usize {
        // The product saturates. A shape that overflows matches no array, because no array has `usize::MAX` elements.
        self.rows.saturating_mul(self.cols)
    }

    /// Returns the number of elements of all matrices.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.matrix_len().saturating_mul(self.batch)
    }

    /// Returns whether there are no elements.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}) x {}", self.rows, self.cols, self.batch)
    }
}

/// An axis of a batch of matrices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Axis {
    /// The axis from row to row, down each column. Elements along this axis are contiguous in memory.
    #[default]
    Rows,
    /// The axis from column to column, along each row.
    Cols,
    /// The axis from matrix to matrix of the batch.
    Batch,
}

/// The orders and offsets of square matrices of different orders that are stored one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    orders: Vec<u32>,
    /// The offset of each matrix's elements, followed by the total number of elements.
    elements: Vec<usize>,
    /// The offset of each matrix in arrays with one element per row, followed by the total number of rows.
    rows: Vec<usize>,
}

impl Layout {
    /// Creates the layout of square matrices with the given orders.
    #[must_use]
    pub fn new(orders: impl IntoIterator<Item = u32>) -> Self {
        let orders: Vec<u32> = orders.into_iter().collect();
        let (mut elements, mut rows) = (vec![0], vec![0]);
        let (mut e, mut r) = (0_usize, 0_usize);
        for &n in &orders {
            let n = n as usize;
            // The sums saturate. A layout that overflows matches no array, because no array has `usize::MAX` elements.
            (e, r) = (e.saturating_add(n.saturating_mul(n)), r.saturating_add(n));
            elements.push(e);
            rows.push(r);
        }
        Self { orders, elements, rows }
    }

    /// Returns the order of each matrix.
    #[must_use]
    pub fn orders(&self) -> &[u32] {
        &self.orders
    }

    /// Returns the number of matrices.
    #[must_use]
    pub fn batch(&self) -> usize {
        self.orders.len()
    }

    /// Returns the number of elements of all matrices.
    #[must_use]
    pub fn len(&self) -> usize {
        self.elements[self.batch()]
    }

    /// Returns whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of rows of all matrices.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.rows[self.batch()]
    }

    /// Returns the largest order, or 0 for an empty batch.
    #[must_use]
    pub fn largest(&self) -> u32 {
        self.orders.iter().copied().max().unwrap_or(0)
    }

    /// Returns the index range of the elements of matrix `i`.
    #[must_use]
    pub fn elements(&self, i: usize) -> std::ops::Range<usize> {
        self.elements[i]..self.elements[i + 1]
    }

    /// Returns the index range of matrix `i` in arrays with one element per row.
    #[must_use]
    pub fn rows(&self, i: usize) -> std::ops::Range<usize> {
        self.rows[i]..self.rows[i + 1]
    }

    /// Returns the longest range of consecutive matrices that starts at `begin` and has at most `most` elements in
    /// total. If matrix `begin` alone exceeds `most`, returns the range of this one matrix.
    #[must_use]
    pub fn batch_from(&self, begin: usize, most: u64) -> std::ops::Range<usize> {
        let start = self.elements[begin];
        let fits = |end: &usize| (self.elements[*end] - start) as u64 <= most;
        let end = (begin + 1..=self.batch()).take_while(fits).last().unwrap_or(begin + 1);
        begin..end
    }
}

/// Converts a count to the integer type that kernels use. A count that exceeds 32 bits becomes the largest u32, which
/// exceeds every limit, because a binding has less than 2^31 bytes.
pub(crate) fn to_u32(count: impl TryInto<u32>) -> u32 {
    count.try_into().unwrap_or(u32::MAX)
}
