//! Copies selected eigenpairs of every matrix on the device.

use super::gpu::Resident;
use super::kernels::{Part, Select};
use crate::device::{Buffer, Gpu, Grid};
use crate::error::Result;
use crate::shape::to_u32;
use std::ops::Range;

/// Records copies of the eigenpairs with the indices `indices` of each matrix. All matrices have the order `order`. If
/// k is the number of indices and n is the order, the copied eigenvalues are `(k, 1)` for each matrix, and the copied
/// eigenvectors are `(n, k)`.
///
/// # Errors
/// Device errors.
pub(super) fn select(gpu: &Gpu, found: Resident, order: usize, indices: &Range<usize>) -> Result<Resident> {
    let values = part(gpu, &found.values, order, indices.clone())?;
    let vectors = part(gpu, &found.vectors, order * order, indices.start * order..indices.end * order)?;
    Ok(Resident { values, vectors, certificates: found.certificates })
}

/// Divides `whole` into runs of `own` consecutive elements, and records a copy of the elements `range` of each run.
fn part(gpu: &Gpu, whole: &Buffer<f32>, own: usize, range: Range<usize>) -> Result<Buffer<f32>> {
    let total = whole.len().checked_div(own).unwrap_or(0) * range.len();
    let mut rec = gpu.record();
    let mut part = rec.array(total)?;
    let [own, begin, len, total] = [own, range.start, range.len(), total].map(to_u32);
    let kernel = Select { params: Part { own, begin, len, total }, whole, part: &mut part };
    rec.dispatch(&kernel, &[], Grid::Invocations(total), total.into())?;
    Ok(part)
}
