//! Shapes of batches, and where their matrices lie. Matrices are column-major, the batch slowest: nalgebra's order.

use std::fmt;

/// The shape of a batch of equal matrices: `rows x cols`, `batch` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows of each matrix.
    pub rows: usize,
    /// Columns of each matrix.
    pub cols: usize,
    /// Matrices.
    pub batch: usize,
}

impl Shape {
    /// `batch` matrices of `rows x cols`.
    #[must_use]
    pub const fn new(rows: usize, cols: usize, batch: usize) -> Self {
        Self { rows, cols, batch }
    }

    /// Elements of one matrix.
    #[must_use]
    pub const fn matrix_len(&self) -> usize {
        // Saturating: no array has that many elements, so a shape that overflows fits none.
        self.rows.saturating_mul(self.cols)
    }

    /// Elements altogether.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.matrix_len().saturating_mul(self.batch)
    }

    /// Whether there is no element.
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
    /// From row to row, down each column: elements lie one after the other.
    #[default]
    Rows,
    /// From column to column, along each row.
    Cols,
    /// From matrix to matrix.
    Batch,
}

/// A ragged batch of square matrices, one after the other: their orders, and where each begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    orders: Vec<u32>,
    /// Where each matrix's elements begin, and at last their number.
    elements: Vec<usize>,
    /// Where each matrix's rows begin in arrays by row, and at last their number.
    rows: Vec<usize>,
}

impl Layout {
    /// The layout of square matrices of these orders.
    #[must_use]
    pub fn new(orders: impl IntoIterator<Item = u32>) -> Self {
        let orders: Vec<u32> = orders.into_iter().collect();
        let (mut elements, mut rows) = (vec![0], vec![0]);
        let (mut e, mut r) = (0_usize, 0_usize);
        for &n in &orders {
            let n = n as usize;
            // Saturating: no array has that many elements, so a layout that overflows fits none.
            (e, r) = (e.saturating_add(n.saturating_mul(n)), r.saturating_add(n));
            elements.push(e);
            rows.push(r);
        }
        Self { orders, elements, rows }
    }

    /// The order of each matrix.
    #[must_use]
    pub fn orders(&self) -> &[u32] {
        &self.orders
    }

    /// Matrices.
    #[must_use]
    pub fn batch(&self) -> usize {
        self.orders.len()
    }

    /// Elements of all matrices.
    #[must_use]
    pub fn len(&self) -> usize {
        self.elements[self.batch()]
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows of all matrices.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.rows[self.batch()]
    }

    /// The largest order, 0 of an empty batch.
    #[must_use]
    pub fn largest(&self) -> u32 {
        self.orders.iter().copied().max().unwrap_or(0)
    }

    /// Where the elements of matrix `i` lie.
    #[must_use]
    pub fn elements(&self, i: usize) -> std::ops::Range<usize> {
        self.elements[i]..self.elements[i + 1]
    }

    /// Where the rows of matrix `i` lie in arrays by row.
    #[must_use]
    pub fn rows(&self, i: usize) -> std::ops::Range<usize> {
        self.rows[i]..self.rows[i + 1]
    }

    /// The longest run of matrices from `begin` on that has at most `most` elements, and one at least.
    #[must_use]
    pub fn batch_from(&self, begin: usize, most: u64) -> std::ops::Range<usize> {
        let start = self.elements[begin];
        let fits = |end: &usize| (self.elements[*end] - start) as u64 <= most;
        let end = (begin + 1..=self.batch()).take_while(fits).last().unwrap_or(begin + 1);
        begin..end
    }
}

/// A count as kernels take it. What lies in a binding is below 2^31 bytes; what is more than 32 bits hold is the most that they hold,
/// which no limit allows.
pub(crate) fn to_u32(count: impl TryInto<u32>) -> u32 {
    count.try_into().unwrap_or(u32::MAX)
}
