//! Conversion between row-major and column-major order.

use crate::parallel;
use bytemuck::Zeroable;

/// The rows and columns of a tile, whose elements the first-level cache holds in both orders.
const TILE: usize = 16;
/// The number of elements from which on a matrix is divided among threads, and up to which matrices are converted
/// together.
const TOGETHER: usize = 1 << 14;

/// Converts each `rows x cols` matrix of a batch from row-major to column-major order. With `rows` and `cols`
/// exchanged, converts in the other direction. Elements after the last whole matrix are left out, unless the matrices
/// are vectors.
#[must_use]
pub fn column_major<T: Copy + Zeroable + Send + Sync>(data: &[T], rows: usize, cols: usize) -> Vec<T> {
    if rows <= 1 || cols <= 1 {
        return data.to_vec();
    }
    let size = rows * cols;
    // Memory that is zero by itself is touched first by the threads that write to it.
    let mut out = vec![T::zeroed(); data.len() / size * size];
    if size <= TOGETHER {
        let some = TOGETHER / size * size;
        parallel::for_each(out.chunks_mut(some).zip(data.chunks(some)), |_, (to, from)| {
            let matrices = to.chunks_exact_mut(size).zip(from.chunks_exact(size));
            matrices.for_each(|(to, from)| turn(from, cols, 0, to, rows));
        });
    } else {
        let bands = out.chunks_mut(size).zip(data.chunks_exact(size)).flat_map(|(to, from)| {
            to.chunks_mut(TILE * rows).enumerate().map(move |(band, to)| (from, band * TILE, to))
        });
        parallel::for_each(bands, |_, (from, first, to)| turn(from, cols, first, to, rows));
    }
    out
}

/// Writes columns of a matrix, from column `first` on.
fn turn<T: Copy>(matrix: &[T], cols: usize, first: usize, to: &mut [T], rows: usize) {
    for i in (0..rows).step_by(TILE) {
        for (j, column) in (first..).zip(to.chunks_exact_mut(rows)) {
            let elements = matrix[i * cols + j..].iter().step_by(cols);
            column[i..rows.min(i + TILE)].iter_mut().zip(elements).for_each(|(to, &x)| *to = x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::column_major;

    #[test]
    fn every_element_is_at_its_place_and_returns() {
        for (rows, cols) in [(0, 3), (1, 5), (5, 1), (2, 3), (32, 32), (33, 32), (31, 70), (100, 65), (190, 150)] {
            let data: Vec<usize> = (0..3 * rows * cols).collect();
            let turned = column_major(&data, rows, cols);
            for (i, &element) in turned.iter().enumerate() {
                let (matrix, within) = (i / (rows * cols), i % (rows * cols));
                let (row, col) = (within % rows, within / rows);
                assert_eq!(element, matrix * rows * cols + row * cols + col, "{rows} x {cols}");
            }
            assert_eq!(column_major(&turned, cols, rows), data);
        }
    }
}
