//! Some pairs of every matrix, chosen on the device.

use super::gpu::Resident;
use super::kernels::{Part, Select};
use crate::device::{Buffer, Gpu, Grid};
use crate::error::Result;
use crate::shape::to_u32;
use std::ops::Range;

/// Records the values `(k, 1)` and vectors `(n, k)` at these k places of each of the matrices of order n, in arrays of their own.
///
/// # Errors
/// Device errors.
pub(super) fn select(gpu: &Gpu, found: Resident, order: usize, places: &Range<usize>) -> Result<Resident> {
    let values = part(gpu, &found.values, order, places.clone())?;
    let vectors = part(gpu, &found.vectors, order * order, places.start * order..places.end * order)?;
    Ok(Resident { values, vectors, certificates: found.certificates })
}

/// The numbers in `range` of every `own` numbers.
fn part(gpu: &Gpu, whole: &Buffer<f32>, own: usize, range: Range<usize>) -> Result<Buffer<f32>> {
    let total = whole.len().checked_div(own).unwrap_or(0) * range.len();
    let mut rec = gpu.record();
    let mut part = rec.array(total)?;
    let [own, begin, len, total] = [own, range.start, range.len(), total].map(to_u32);
    let kernel = Select { params: Part { own, begin, len, total }, whole, part: &mut part };
    rec.dispatch(&kernel, &[], Grid::Invocations(total), total.into())?;
    Ok(part)
}
