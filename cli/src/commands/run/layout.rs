//! Conversion between NumPy's order, in which the last axis varies fastest, and the library's order, in which matrices
//! are stored by columns.

use fiedler::array::{Array, HostArray, Scalar};
use fiedler::{Error, Shape};

/// Returns the matrices of an array of shape `(m, n)` or `(batch, m, n)` in NumPy's order. A vector becomes a matrix
/// with one column.
pub(super) fn matrices<T: Scalar>(shape: &[usize], data: &[T]) -> Result<Array<T>, Error> {
    let shape = shape_of(shape);
    Array::from_vec(shape, transposed(data, shape.rows, shape.cols))
}

/// Returns the library's shape for an array with this NumPy shape.
pub(super) fn shape_of(shape: &[usize]) -> Shape {
    match *shape {
        [batch, rows, cols] => Shape::new(rows, cols, batch),
        [rows, cols] => Shape::new(rows, cols, 1),
        _ => Shape::new(shape.iter().product(), 1, 1),
    }
}

/// Returns the values of all matrices in NumPy's order.
pub(super) fn in_rows<T: Scalar>(array: &HostArray<T>) -> Vec<T> {
    let shape = array.shape();
    transposed(array.as_slice(), shape.cols, shape.rows)
}

/// Converts each `rows x cols` matrix from row-major to column-major order. With `rows` and `cols` exchanged, it
/// converts in the other direction.
pub(super) fn transposed<T: Copy>(data: &[T], rows: usize, cols: usize) -> Vec<T> {
    let mut out = data.to_vec();
    if rows > 1 && cols > 1 {
        for (from, to) in data.chunks_exact(rows * cols).zip(out.chunks_exact_mut(rows * cols)) {
            for i in 0..rows {
                for j in 0..cols {
                    to[i + j * rows] = from[i * cols + j];
                }
            }
        }
    }
    out
}
