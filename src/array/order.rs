//! Conversion between row-major and column-major order.

/// The rows and columns of a tile, whose elements the first-level cache holds in both orders.
const TILE: usize = 32;

/// Converts each `rows x cols` matrix of a batch from row-major to column-major order. With `rows` and `cols`
/// exchanged, converts in the other direction. Elements after the last whole matrix are left out, unless the matrices
/// are vectors.
#[must_use]
pub fn column_major<T: Copy>(data: &[T], rows: usize, cols: usize) -> Vec<T> {
    if rows <= 1 || cols <= 1 {
        return data.to_vec();
    }
    let mut out = Vec::with_capacity(data.len());
    for matrix in data.chunks_exact(rows * cols) {
        if rows <= TILE && cols <= TILE {
            out.extend((0..cols).flat_map(|j| matrix[j..].iter().step_by(cols).copied()));
            continue;
        }
        let begin = out.len();
        out.extend_from_slice(matrix);
        let to = &mut out[begin..];
        for i in (0..rows).step_by(TILE) {
            for j in (0..cols).step_by(TILE) {
                for i in i..rows.min(i + TILE) {
                    for j in j..cols.min(j + TILE) {
                        to[i + j * rows] = matrix[i * cols + j];
                    }
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::column_major;

    #[test]
    fn every_element_is_at_its_place_and_returns() {
        for (rows, cols) in [(0, 3), (1, 5), (5, 1), (2, 3), (32, 32), (33, 32), (31, 70), (100, 65)] {
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
