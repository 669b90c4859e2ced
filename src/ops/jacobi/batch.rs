//! The input of all forms.

use crate::device::Buffer;
use std::ops::Range;

/// The maximum number of sweeps. 4 to 9 are typical, and a path or a cycle needs 11 at n = 128 (f32 simulation over
/// eight graph families and random matrices). Convergence is quadratic at the end, so a matrix that needs more than
/// twice as many does not converge.
pub(in crate::ops) const MAX_SWEEPS: u32 = 30;

/// Matrices in W that are solved by the same method, in the format that the kernels read (shared/ragged.wgsl). Each row
/// of `table` holds the order of a matrix, the offset of its elements, a value for the caller's use, and the index of
/// the matrix in `state`.
#[derive(Clone, Debug)]
pub(in crate::ops) struct Batch<'a> {
    pub(in crate::ops) table: &'a Buffer<[u32; 4]>,
    /// The rows of the table that belong to the batch.
    pub(in crate::ops) matrices: Range<u32>,
}
