//! Shapes of batches, and where their matrices are stored. Matrices are column-major, the batch
//! slowest: nalgebra's order.

use std::fmt;

/// The shape of a batch of equal matrices: `batch` matrices of `rows x cols`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The rows of each matrix.
    pub rows: usize,
    /// The columns of each matrix.
    pub cols: usize,
    /// The number of matrices.
    pub batch: usize,
}

impl Shape {
    /// Creates the shape of `batch` matrices of `rows x cols`.
    #[must_use]
    pub const fn new(rows: usize, cols: usize, batch: usize) -> Self {
        Self { rows, cols, batch }
    }

    /// Returns the number of elements of one matrix.
    #[must_use]
    pub const fn matrix_len(&self) -> usize {
        // This saturates: no array has that many elements, so a shape that overflows fits none.
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
    /// From row to row, down each column, where the elements are contiguous.
    #[default]
    Rows,
    /// From column to column, along each row.
    Cols,
    /// From matrix to matrix.
    Batch,
}

/// A ragged batch of square matrices, stored one after the other: their orders, and where each begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    orders: Vec<u32>,
    /// The offset of each matrix's elements, followed by the total number of elements.
    elements: Vec<usize>,
    /// The offset of each matrix's rows in arrays by row, followed by the total number of rows.
    rows: Vec<usize>,
}

impl Layout {
    /// Creates the layout of square matrices of these orders.
    #[must_use]
    pub fn new(orders: impl IntoIterator<Item = u32>) -> Self {
        let orders: Vec<u32> = orders.into_iter().collect();
        let (mut elements, mut rows) = (vec![0], vec![0]);
        let (mut e, mut r) = (0_usize, 0_usize);
        for &n in &orders {
            let n = n as usize;
            // This saturates: no array has that many elements, so a layout that overflows fits none.
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

    /// Returns the range of the elements of matrix `i`.
    #[must_use]
    pub fn elements(&self, i: usize) -> std::ops::Range<usize> {
        self.elements[i]..self.elements[i + 1]
    }

    /// Returns the range of the rows of matrix `i` in arrays by row.
    #[must_use]
    pub fn rows(&self, i: usize) -> std::ops::Range<usize> {
        self.rows[i]..self.rows[i + 1]
    }

    /// Returns the longest run of matrices from `begin` on that has at most `most` elements, or else
    /// matrix `begin` alone.
    #[must_use]
    pub fn batch_from(&self, begin: usize, most: u64) -> std::ops::Range<usize> {
        let start = self.elements[begin];
        let fits = |end: &usize| (self.elements[*end] - start) as u64 <= most;
        let end = (begin + 1..=self.batch()).take_while(fits).last().unwrap_or(begin + 1);
        begin..end
    }
}

/// Converts a count to the type that kernels take. The contents of a binding are below 2^31 bytes. A count that exceeds
/// 32 bits becomes the largest u32, which no limit allows.
pub(crate) fn to_u32(count: impl TryInto<u32>) -> u32 {
    count.try_into().unwrap_or(u32::MAX)
}
