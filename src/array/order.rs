//! Conversion between row-major and column-major order.

use crate::parallel;

/// The rows and columns of a tile, whose elements the first-level cache holds in both orders.
const TILE: usize = 32;

/// The number of elements that are worth a separate task.
const TASK: usize = 1 << 15;

/// Converts each `rows x cols` matrix of a batch from row-major to column-major order. With `rows` and `cols`
/// exchanged, converts in the other direction. Elements after the last whole matrix are left out, unless the matrices
/// are vectors. On a thread of a pool, all threads of the pool convert large matrices.
#[must_use]
pub fn column_major<T: bytemuck::Pod + Send + Sync>(data: &[T], rows: usize, cols: usize) -> Vec<T> {
    if rows <= 1 || cols <= 1 {
        return data.to_vec();
    }
    let size = rows * cols;
    let mut out = bytemuck::allocation::zeroed_vec(data.len() / size * size);
    // A task converts several matrices, or some columns of one.
    if size <= TASK {
        let some = TASK / size * size;
        let matrices = |_, (to, from): (&mut [T], &[T])| {
            for (to, from) in to.chunks_exact_mut(size).zip(from.chunks_exact(size)) {
                columns(from, rows, cols, 0, to);
            }
        };
        parallel::in_own_pool(|| parallel::for_each(out.chunks_mut(some).zip(data.chunks(some)), matrices));
    } else {
        let width = (TASK / rows).max(1).next_multiple_of(TILE);
        let tasks = out
            .chunks_mut(size)
            .zip(data.chunks_exact(size))
            .flat_map(|(to, from)| to.chunks_mut(width * rows).enumerate().map(move |(i, to)| (i * width, to, from)));
        parallel::in_own_pool(|| {
            parallel::for_each(tasks, |_, (first, to, from)| columns(from, rows, cols, first, to))
        });
    }
    out
}

/// Writes the columns of a row-major matrix from column `first` on to `to`. Each piece of a column is written in one
/// go: a cache reads scattered elements better than it writes them.
fn columns<T: Copy>(matrix: &[T], rows: usize, cols: usize, first: usize, to: &mut [T]) {
    for (j, to) in (first..).step_by(TILE).zip(to.chunks_mut(TILE * rows)) {
        for (i, tile) in (0..).step_by(TILE).zip(matrix.chunks(TILE * cols)) {
            for (j, to) in (j..).zip(to.chunks_exact_mut(rows)) {
                to[i..rows.min(i + TILE)].iter_mut().zip(tile[j..].iter().step_by(cols)).for_each(|(to, x)| *to = *x);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::column_major;

    #[test]
    fn every_element_is_at_its_place_and_returns() {
        for (rows, cols) in
            [(0, 3), (1, 5), (5, 1), (2, 3), (32, 32), (33, 32), (31, 70), (100, 65), (300, 200), (3, 40_000)]
        {
            let data: Vec<usize> = (0..3 * rows * cols).collect();
            let turned = column_major(&data, rows, cols);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
            assert_eq!(pool.install(|| column_major(&data, rows, cols)), turned);
            for (i, &element) in turned.iter().enumerate() {
                let (matrix, within) = (i / (rows * cols), i % (rows * cols));
                let (row, col) = (within % rows, within / rows);
                assert_eq!(element, matrix * rows * cols + row * cols + col, "{rows} x {cols}");
            }
            assert_eq!(column_major(&turned, cols, rows), data);
        }
    }
}
