//! Makes the vectors of a new block of the basis orthonormal to each other, or detects that some of them vanish.

use super::Search;
use faer::Mat;
use std::ops::Range;

/// A new vector consists of rounding errors if its norm is at most this times the norm of the map.
const NEGLIGIBLE: f64 = 100.0 * f64::EPSILON;

/// The minimum share of a vector's squared norm that must be left after the other vectors of its block are
/// projected out. With a share that is a hundred times smaller, rounding errors along the old columns would be ten
/// times larger.
const INDEPENDENT: f64 = 1e-4;

impl Search<'_> {
    /// Makes the new columns orthonormal by the Cholesky factor of their Gram matrix, in two passes (Yamamoto,
    /// Nakatsukasa, Yanagisawa and Fukaya 2015). Returns the dot products of the orthonormal columns with the
    /// original columns; `None` if the original columns are not independent enough.
    pub(super) fn by_gram(&mut self, new: Range<usize>, along: &Mat<f64>) -> Option<Mat<f64>> {
        let width = new.len();
        let gram = self.basis.gram(new.clone());
        for j in 0..width {
            let old: f64 = along.col(j).iter().map(|x| x * x).sum();
            let size = (old + gram[(j, j)]).sqrt();
            // `f64::max` would ignore NaN.
            self.norm = if size > self.norm || !size.is_finite() { size } else { self.norm };
        }
        let least = 100.0 * NEGLIGIBLE * self.norm;
        let enough = |r: &Mat<f64>, j| r[(j, j)] > least && r[(j, j)].powi(2) > INDEPENDENT * gram[(j, j)];
        if new.end > self.dimension {
            return None;
        }
        let first = cholesky(&gram).filter(|r| (0..width).all(|j| enough(r, j)))?;
        self.basis.rotate(new.clone(), inverse(&first).as_ref(), new.start, 0..0);
        // This Gram matrix is the identity up to rounding.
        let second = cholesky(&self.basis.gram(new.clone())).unwrap_or_else(|| Mat::identity(width, width));
        self.basis.rotate(new.clone(), inverse(&second).as_ref(), new.start, 0..0);
        Some(second * first)
    }

    /// Makes the new columns orthonormal, one after the other. Columns that vanish are replaced by random ones, or
    /// dropped if the space has no more dimensions. Returns the number of columns that remain, and the dot products
    /// of the orthonormal columns with the original columns.
    pub(super) fn one_by_one(&mut self, new: Range<usize>, along: &mut Mat<f64>) -> (usize, Mat<f64>) {
        let width = new.len();
        let mut coupling: Mat<f64> = Mat::zeros(width, width);
        let mut kept = new.start;
        for j in 0..width {
            let from = new.start + j;
            let before = self.basis.products(from..from + 1, from)[0];
            let mut square = before;
            for pass in 0..4 {
                let mut overlaps = self.basis.products(new.start..kept, from);
                self.basis.subtract(new.start..kept, &overlaps, from);
                overlaps.iter().enumerate().for_each(|(i, x)| coupling[(i, j)] += x);
                square = self.basis.products(from..from + 1, from)[0];
                overlaps.iter_mut().for_each(|x| *x *= *x);
                if kept == new.start || pass > 0 && overlaps.iter().sum::<f64>() <= square {
                    break;
                }
            }
            if kept >= self.dimension {
                break;
            }
            if from != kept {
                self.basis.copy(from, kept);
            }
            if square.sqrt() <= NEGLIGIBLE * self.norm {
                self.draw(kept);
            } else {
                if square < INDEPENDENT * before {
                    // The rounding errors of the removed components remain in the column, and may be along the old
                    // columns.
                    let more = self.basis.orthogonalize(kept + 1, 1);
                    self.basis.deflate(self.null, kept..kept + 1);
                    (0..new.start).for_each(|i| along[(i, j)] += more[(i, 0)]);
                    (new.start..kept).for_each(|i| coupling[(i - new.start, j)] += more[(i, 0)]);
                    square = self.basis.products(kept..kept + 1, kept)[0];
                }
                coupling[(kept - new.start, j)] = square.sqrt();
                self.basis.scale(kept, 1.0 / square.sqrt());
            }
            kept += 1;
        }
        (kept - new.start, coupling)
    }
}

/// Returns the upper triangular Cholesky factor of a small matrix; `None` if the matrix is not positive definite.
fn cholesky(matrix: &Mat<f64>) -> Option<Mat<f64>> {
    let n = matrix.nrows();
    let mut r = Mat::<f64>::zeros(n, n);
    for j in 0..n {
        for i in 0..=j {
            let rest = matrix[(i, j)] - (0..i).map(|k| r[(k, i)] * r[(k, j)]).sum::<f64>();
            if i == j && (rest.is_nan() || rest <= 0.0) {
                return None;
            }
            r[(i, j)] = if i == j { rest.sqrt() } else { rest / r[(i, i)] };
        }
    }
    Some(r)
}

/// Returns the inverse of a small upper triangular matrix.
fn inverse(r: &Mat<f64>) -> Mat<f64> {
    let n = r.nrows();
    let mut x = Mat::<f64>::zeros(n, n);
    for j in 0..n {
        for i in (0..=j).rev() {
            let own = if i == j { 1.0 } else { 0.0 };
            x[(i, j)] = (own - (i + 1..=j).map(|k| r[(i, k)] * x[(k, j)]).sum::<f64>()) / r[(i, i)];
        }
    }
    x
}
