//! The input of all forms of one-sided Jacobi.

use crate::device::Buffer;
use std::ops::Range;

/// The maximum number of sweeps. 4 to 9 sweeps are typical, and a path or a cycle with 128 nodes needs 11 sweeps (f32
/// simulation over eight graph families and random matrices). Convergence is quadratic at the end, so a matrix that has
/// not converged after more than twice 11 sweeps does not converge at all.
pub(in crate::ops) const MAX_SWEEPS: u32 = 30;

/// The matrices of the buffer `w` that are solved by the same method, as the kernels read them (shared/ragged.wgsl).
/// Each row of `table` holds the order of a matrix, the offset of its elements, a value for the caller's use, and the
/// index of the matrix in `state`.
#[derive(Clone, Debug)]
pub(in crate::ops) struct Batch<'a> {
    pub(in crate::ops) table: &'a Buffer<[u32; 4]>,
    /// The rows of the table that belong to the batch.
    pub(in crate::ops) matrices: Range<u32>,
}
