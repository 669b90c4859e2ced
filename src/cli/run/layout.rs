//! Between numpy's order, the last axis fastest, and the library's, columns of a batch of matrices.

use crate::cli::Failure;
use fiedler::Shape;
use fiedler::array::{Array, HostArray, Scalar};
use std::path::Path;

/// The matrices of numpy's `(m, n)` or `(batch, m, n)`.
pub(super) fn matrices<T: Scalar>(file: &Path, shape: &[usize], data: &[T]) -> Result<Array<T>, Failure> {
    let (batch, rows, cols) = match *shape {
        [rows, cols] => (1, rows, cols),
        [batch, rows, cols] => (batch, rows, cols),
        _ => {
            let what = format!("{}: expected (m, n) or (batch, m, n), found {} axis", file.display(), shape.len());
            return Err(Failure::Call(what));
        }
    };
    Ok(Array::from_vec(Shape::new(rows, cols, batch), transposed(data, rows, cols))?)
}

/// Every matrix in numpy's order.
pub(super) fn in_rows<T: Scalar>(array: &HostArray<T>) -> Vec<T> {
    let shape = array.shape();
    transposed(array.as_slice(), shape.cols, shape.rows)
}

/// Each `rows x cols` matrix from row-major to column-major; with both exchanged, back.
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
