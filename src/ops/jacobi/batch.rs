//! What every form is given.

use crate::device::Buffer;
use std::ops::Range;

/// The most sweeps. Typical are 4 to 9, a path or a cycle takes 11 at n = 128 (f32 simulation over eight graph families and
/// random matrices); convergence is quadratic at the end, so more than twice that means that it does not converge.
pub(in crate::ops) const MAX_SWEEPS: u32 = 30;

/// Matrices of W that are solved in the same way, as the kernels see them (shared/ragged.wgsl): `table` has their order,
/// where the elements begin, a number for the caller, and the place in `state`.
#[derive(Clone, Debug)]
pub(in crate::ops) struct Batch<'a> {
    pub(in crate::ops) table: &'a Buffer<[u32; 4]>,
    /// Which rows of the table.
    pub(in crate::ops) matrices: Range<u32>,
}
