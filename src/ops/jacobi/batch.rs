//! The input that every form takes.

use crate::device::Buffer;
use std::ops::Range;

/// The most sweeps. 4 to 9 are typical, and a path or a cycle takes 11 at n = 128 (f32 simulation over eight graph
/// families and random matrices). Convergence is quadratic at the end, so a matrix that takes more than twice that does
/// not converge.
pub(in crate::ops) const MAX_SWEEPS: u32 = 30;

/// Matrices of W that are solved by the same method, as the kernels see them (shared/ragged.wgsl): `table` has their
/// order, the offset of their elements, a number for the caller, and their index in `state`.
#[derive(Clone, Debug)]
pub(in crate::ops) struct Batch<'a> {
    pub(in crate::ops) table: &'a Buffer<[u32; 4]>,
    /// The rows of the table.
    pub(in crate::ops) matrices: Range<u32>,
}
