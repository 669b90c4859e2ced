//! Conversion between NumPy's order, in which the last axis varies fastest, and the library's order, in which matrices
//! are stored by columns.

use fiedler::array::{Array, Scalar};
use fiedler::{Error, Shape};

/// Returns the matrices of an array of shape `(m, n)` or `(batch, m, n)` in NumPy's order. A vector becomes a matrix
/// with one column.
pub(super) fn matrices<T: Scalar>(shape: &[usize], data: &[T]) -> Result<Array<T>, Error> {
    Array::from_row_major(shape_of(shape), data)
}

/// Returns the library's shape for an array with this NumPy shape.
pub(super) fn shape_of(shape: &[usize]) -> Shape {
    match *shape {
        [batch, rows, cols] => Shape::new(rows, cols, batch),
        [rows, cols] => Shape::new(rows, cols, 1),
        _ => Shape::new(shape.iter().product(), 1, 1),
    }
}
