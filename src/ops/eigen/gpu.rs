//! The device's eigendecomposition: which kernel, in which order, with which buffers.

use super::kernels::{Finish, First, Jacobi, Prepare, SIZE_CLASSES, SizeClass, Sweeps};
use crate::device::{Buffer, Gpu, Grid};
use crate::error::{ErrorKind, Result};
use crate::shape::Layout;
use std::ops::Range;

/// The most sweeps. Typical are 4 to 9, a path or a cycle takes 11 at n = 128 (f32 simulation over eight graph families and
/// random matrices); convergence is quadratic at the end, so more than twice that means that it does not converge.
const MAX_SWEEPS: u32 = 30;

/// Eigenvectors, eigenvalues and certificates of a ragged batch on the device.
#[derive(Debug)]
pub(super) struct Resident {
    pub(super) values: Buffer<f32>,
    pub(super) vectors: Buffer<f32>,
    pub(super) certificates: Buffer<[f32; 4]>,
}

/// The size classes that this device can hold.
fn classes(gpu: &Gpu) -> impl Iterator<Item = SizeClass> {
    let limits = gpu.adapter().limits;
    SIZE_CLASSES.into_iter().filter(move |class| {
        class.workgroup_bytes() <= limits.workgroup_storage && class.invocations() <= limits.workgroup_invocations
    })
}

/// The largest order that this device's kernels take.
pub(super) fn largest_order(gpu: &Gpu) -> u32 {
    classes(gpu).map(|class| class.capacity).max().unwrap_or(0)
}

/// The largest batch, in elements, that one call may take within a binding and `bytes` of memory: A, W, and W read back.
pub(super) fn elements_within(gpu: &Gpu, bytes: u64) -> u64 {
    (bytes / 12).min(gpu.adapter().limits.storage_binding / 4)
}

/// Floating-point operations of the kernels on a matrix of that order: about seven sweeps of n^2 / 2 pairs, an inner product
/// of three and a rotation each, and the certificate.
pub(super) fn flops(order: u32) -> f64 {
    let n = f64::from(order);
    7.0 * (n * n / 2.0) * 12.0 * n + 4.0 * n * n * n
}

/// Records the eigendecomposition of every matrix of `a`.
///
/// # Errors
/// [`ErrorKind::Limit`] if a matrix is beyond [`largest_order`]; device errors.
pub(super) fn eigh(gpu: &Gpu, layout: &Layout, a: &Buffer<f32>) -> Result<Resident> {
    let (needed, allowed) = (u64::from(layout.largest()), u64::from(largest_order(gpu)));
    if needed > allowed {
        let what = format!("order of a matrix in the kernels of eigh on {} (a workgroup's memory)", gpu.adapter().name);
        return Err(ErrorKind::Limit { what, needed, allowed }.into());
    }
    let (table, classes) = table(gpu, layout);
    let mut rec = gpu.record();
    let table = rec.upload(&table)?;
    let mut state = rec.array(layout.batch())?;
    let mut w = rec.array(layout.len())?;
    let mut values = rec.array(layout.row_count())?;
    let mut certificates = rec.array(layout.batch())?;
    for (class, range) in classes {
        let work = flops(class.capacity);
        for piece in rec.pieces(range.end - range.start, work) {
            let (first, grid) = (range.start + piece.start, Grid::Workgroups(piece.end - piece.start));
            let flops = work * f64::from(piece.end - piece.start);
            let prepare = Prepare { params: First { first }, table: &table, a, w: &mut w, state: &mut state };
            rec.dispatch(&prepare, &[], grid, 0.05 * flops)?;
            let sweeps = sweeps_of_one_dispatch(class, gpu.adapter().loop_budget);
            for _ in 0..MAX_SWEEPS.div_ceil(sweeps) {
                let params = Sweeps { first, sweeps };
                let jacobi = Jacobi { params, table: &table, w: &mut w, state: &mut state };
                // The dispatches after the last sweep find nothing to do; their share stands for those that do.
                rec.dispatch(&jacobi, &class.jacobi(), grid, flops / f64::from(MAX_SWEEPS.div_ceil(sweeps)))?;
            }
            let finish = Finish {
                params: First { first },
                table: &table,
                a,
                state: &state,
                w: &mut w,
                values: &mut values,
                certificates: &mut certificates,
            };
            rec.dispatch(&finish, &class.finish(), grid, 0.1 * flops)?;
        }
    }
    Ok(Resident { values, vectors: w, certificates })
}

/// Sweeps that one dispatch may make within the adapter's loop budget, half of which is left to the rest of the kernel.
fn sweeps_of_one_dispatch(class: SizeClass, loop_budget: u32) -> u32 {
    let quads = class.capacity.div_ceil(4);
    let round = 2 * quads.div_ceil(class.lanes) + class.lanes + 1;
    (loop_budget / 2 / (class.capacity * round)).clamp(1, MAX_SWEEPS / 2)
}

/// Matrices as the kernels see them (shared/ragged.wgsl), and where each size class's stand among them.
type Table = (Vec<[u32; 4]>, Vec<(SizeClass, Range<u32>)>);

/// The matrices, grouped by the smallest class that holds them.
fn table(gpu: &Gpu, layout: &Layout) -> Table {
    let mut rest: Vec<u32> = (0..to_u32(layout.batch())).collect();
    let mut table = Vec::with_capacity(rest.len());
    let mut ranges = Vec::new();
    for class in classes(gpu) {
        let first = to_u32(table.len());
        rest.retain(|&place| {
            let i = place as usize;
            let order = layout.orders()[i];
            if order <= class.capacity {
                table.push([order, to_u32(layout.elements(i).start), to_u32(layout.rows(i).start), place]);
            }
            order > class.capacity
        });
        if table.len() > first as usize {
            ranges.push((class, first..to_u32(table.len())));
        }
    }
    (table, ranges)
}

/// Offsets within one binding, which is under 2^31 bytes.
fn to_u32(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{MAX_SWEEPS, SIZE_CLASSES, sweeps_of_one_dispatch};

    /// lavapipe cuts the loops of an invocation off in silence after 65,535 iterations altogether. Counted here as jacobi.wgsl has them:
    /// loading and storing the columns, and in each round of a sweep two passes over a column's part and one over the lanes.
    #[test]
    fn the_loops_of_every_size_class_fit_lavapipe() {
        const BUDGET: u32 = 65_535;
        for class in SIZE_CLASSES {
            let (n, quads) = (class.capacity, class.capacity.div_ceil(4));
            let sweeps = sweeps_of_one_dispatch(class, BUDGET);
            let moving = 2 * 5 * (n * quads).div_ceil(class.pairs() * class.lanes);
            let sweep = 1 + n * (1 + 2 * quads.div_ceil(class.lanes) + class.lanes);
            let total = moving + sweeps * sweep;
            assert!(
                (1..=MAX_SWEEPS).contains(&sweeps) && total <= BUDGET,
                "{class:?}: {sweeps} sweeps, {total} iterations"
            );
            // And a device with more is given more, up to what converges.
            assert!(sweeps_of_one_dispatch(class, 1 << 24) >= sweeps);
        }
    }
}
