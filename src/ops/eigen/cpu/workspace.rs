//! The working memory of matrices in lanes.

use crate::lanes::Vector;

/// The number of sweeps whose rotations are collected and then applied together, so that a block of rows stays in the
/// first-level cache while the rotations of all these sweeps are applied.
pub(super) const PENDING: usize = 8;

/// The working memory of a group of matrices. Each matrix is stored row by row, and a vector holds the same element of
/// all matrices of the group.
pub(super) struct Workspace<V> {
    /// The distance from one row to the next. It is odd so that rows start in different sets of a cache.
    pub(super) ld: usize,
    pub(super) given: Vec<V>,
    pub(super) reduced: Vec<V>,
    pub(super) vectors: Vec<V>,
    /// 1, or 2 if `vectors` has the real parts of all rows and then the imaginary parts.
    pub(super) planes: usize,
    pub(super) diagonal: Vec<V>,
    pub(super) off_diagonal: Vec<V>,
    pub(super) tau: Vec<V>,
    pub(super) reflector: Vec<V>,
    pub(super) update: Vec<V>,
    pub(super) product: Vec<V>,
    pub(super) cosines: Vec<V>,
    pub(super) sines: Vec<V>,
    /// The eigenvalues in ascending order, each with the index of its column of `vectors`.
    pub(super) from: Vec<(f64, usize)>,
}

impl<V: Vector> Workspace<V> {
    pub(super) fn new(zero: V, n: usize) -> Self {
        let ld = n | 1;
        let square = || vec![zero; n * ld];
        Self { ld, given: square(), reduced: square(), vectors: square(), ..Self::without_matrices(zero, n) }
    }

    /// Makes a workspace for tridiagonal matrices and the complex vectors that they turn.
    pub(super) fn of_complex_vectors(zero: V, n: usize) -> Self {
        let ld = n | 1;
        Self { ld, vectors: vec![zero; 2 * n * ld], planes: 2, ..Self::without_matrices(zero, n) }
    }

    /// Makes a workspace for tridiagonal matrices only.
    pub(super) fn without_matrices(zero: V, n: usize) -> Self {
        let line = || vec![zero; n];
        Self {
            ld: 0,
            given: Vec::new(),
            reduced: Vec::new(),
            vectors: Vec::new(),
            planes: 1,
            diagonal: line(),
            off_diagonal: line(),
            tau: line(),
            reflector: line(),
            update: line(),
            product: line(),
            cosines: vec![zero; PENDING * n],
            sines: vec![zero; PENDING * n],
            from: Vec::with_capacity(n),
        }
    }
}
