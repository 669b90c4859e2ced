//! Householder reflectors, and sequences of them, which transform panels of vectors.

use crate::array::Real;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::{householder, qr};
use faer::{Conj, Mat, MatMut, Par};

/// The minimum length at which [`BLOCK`] reflectors are applied together.
const BLOCK_FROM: usize = 256;
/// The number of reflectors that are applied together. With faer's recommendation, which is 32 at n = 512, the vectors
/// are transformed in 1.07 times the time (2026-11-24).
const BLOCK: usize = 64;

/// The Householder reflector `I - tau v v'` that maps a vector with the first element `alpha` to `(beta, 0, ...)`. Its
/// vector v is the given one times `scale`, with first element 1 (LAPACK's xLARFG).
pub(super) struct Reflector {
    pub(super) beta: f64,
    pub(super) tau: f64,
    pub(super) scale: f64,
}

impl Reflector {
    /// `square` is the sum of the squares of the other elements. Squares below `tiny` have lost digits to underflow,
    /// and a vector with such squares is negligible relative to elements of about 1.
    pub(super) fn new(alpha: f64, square: f64, tiny: f64) -> Self {
        let norm = alpha * alpha + square;
        if norm > tiny && square > 0.0 {
            let beta = -norm.sqrt().copysign(alpha);
            Self { beta, tau: (beta - alpha) / beta, scale: 1.0 / (alpha - beta) }
        } else {
            Self { beta: alpha, tau: 0.0, scale: 0.0 }
        }
    }
}

/// The orthogonal matrix `H_0 H_1 ...` with `H_k = I - tau_k v_k v_k'`, in blocks of reflectors (LAPACK's xLARFT).
pub(super) struct Reflectors<T> {
    /// The vectors of the reflectors below the diagonal that starts in row `first`; the other elements are not read.
    vectors: Mat<T>,
    /// The number of rows that no reflector changes.
    first: usize,
    /// The triangular factors of the blocks, side by side.
    factor: Mat<T>,
}

impl<T: Real> Reflectors<T> {
    /// Prepares the reflectors whose vectors are the columns of `vectors`. Element `first + k` of vector k is 1, and
    /// the elements before it are 0. There is at most one reflector for each row that changes.
    pub(super) fn new(vectors: Mat<T>, tau: &[T], first: usize, par: Par) -> Self {
        let (count, len) = (tau.len(), vectors.nrows() - first);
        let recommended = qr::no_pivoting::factor::recommended_block_size::<T>(len, count);
        let block = if len < BLOCK_FROM { recommended } else { BLOCK };
        let mut factor = Mat::zeros(block, count);
        for start in (0..count).step_by(block) {
            let size = block.min(count - start);
            let mut own = factor.as_mut().submatrix_mut(0, start, size, size);
            for k in 0..size {
                // faer's H is I - v v' / tau; an infinite tau stands for no reflection.
                own[(k, k)] = T::from_f64(1.0 / tau[start + k].to_f64());
            }
            let part = vectors.as_ref().submatrix(first + start, start, len - start, size);
            householder::upgrade_householder_factor(own, part, size, 1, par);
        }
        Self { vectors, first, factor }
    }

    /// Decomposes a tall matrix into an orthogonal matrix and a triangle, which has one row for each column (LAPACK's
    /// xGEQRF). Returns `None` if there is not enough memory.
    pub(super) fn of_columns(mut matrix: Mat<T>, par: Par) -> Option<(Self, Mat<T>)> {
        let (len, count) = matrix.shape();
        let block = qr::no_pivoting::factor::recommended_block_size::<T>(len, count);
        let mut factor = Mat::zeros(block, count);
        let scratch = qr::no_pivoting::factor::qr_in_place_scratch::<T>(len, count, block, par, Default::default());
        let mut memory = MemBuffer::try_new(scratch).ok()?;
        let stack = MemStack::new(&mut memory);
        qr::no_pivoting::factor::qr_in_place(matrix.as_mut(), factor.as_mut(), par, stack, Default::default());
        let zero = T::from_f64(0.0);
        let triangle = Mat::from_fn(count, count, |i, j| if i <= j { matrix[(i, j)] } else { zero });
        Some((Self { vectors: matrix, first: 0, factor }, triangle))
    }

    /// Returns the first columns of the orthogonal matrix, one for each reflector.
    pub(super) fn columns(&self, par: Par) -> Mat<T> {
        let mut columns = Mat::identity(self.vectors.nrows(), self.factor.ncols());
        self.apply(columns.as_mut(), par);
        columns
    }

    /// Multiplies the columns of `panel` by the orthogonal matrix.
    pub(super) fn apply(&self, panel: MatMut<'_, T>, par: Par) {
        let len = self.vectors.nrows() - self.first;
        let scratch = householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(
            len,
            self.factor.nrows(),
            panel.ncols(),
        );
        householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
            self.vectors.as_ref().subrows(self.first, len),
            self.factor.as_ref(),
            Conj::No,
            panel.subrows_mut(self.first, len),
            par,
            MemStack::new(&mut MemBuffer::new(scratch)),
        );
    }
}
