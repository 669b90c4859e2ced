//! The device's eigendecomposition: which kernel, in which order, with which buffers.

use super::kernels::{FINISH_CLASSES, Finish, First, Prepare};
use super::tiny::{Arrays, Tiny};
use crate::device::{Adapter, Buffer, Gpu, Grid};
use crate::error::{ErrorKind, Result};
use crate::ops::jacobi::gpu::{Batch, Method, orthogonalise};
use crate::shape::Layout;
use std::ops::Range;

/// Eigenvectors, eigenvalues and certificates of a ragged batch on the device.
#[derive(Debug)]
pub(super) struct Resident {
    pub(super) values: Buffer<f32>,
    pub(super) vectors: Buffer<f32>,
    pub(super) certificates: Buffer<[f32; 4]>,
}

/// Which kernels solve a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// One does everything.
    Tiny(Tiny),
    /// Prepare, make the columns orthogonal, finish.
    Jacobi(Method),
}

impl Way {
    fn of(adapter: &Adapter, order: u32) -> Option<Self> {
        let tiny = Tiny::of(adapter, order).map(Self::Tiny);
        tiny.or_else(|| Method::of_definite(adapter, order).map(Self::Jacobi))
    }
}

/// The largest order that this device's kernels take.
pub(super) fn largest_order(gpu: &Gpu) -> u32 {
    FINISH_CLASSES.iter().map(|class| class.0).filter(|&n| Way::of(gpu.adapter(), n).is_some()).max().unwrap_or(0)
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
    let (table, groups) = table(gpu, layout);
    let mut rec = gpu.record();
    let table = rec.upload(&table)?;
    let mut state = rec.array(layout.batch())?;
    let mut w = rec.array(layout.len())?;
    let mut values = rec.array(layout.row_count())?;
    let mut certificates = rec.array(layout.batch())?;
    for (way, range) in groups {
        let method = match way {
            Way::Jacobi(method) => method,
            Way::Tiny(tiny) => {
                let (w, values, certificates) = (&mut w, &mut values, &mut certificates);
                let arrays = Arrays { table: &table, a, w, values, certificates };
                tiny.record(&mut rec, &range, arrays, true, flops(tiny.largest_order()))?;
                continue;
            }
        };
        let capacity = method.largest_order();
        let Some(class) = FINISH_CLASSES.into_iter().find(|class| class.0 >= capacity) else { continue };
        let work = flops(capacity);
        for piece in rec.pieces(range.end - range.start, work) {
            let (first, grid) = (range.start + piece.start, Grid::Workgroups(piece.end - piece.start));
            let flops = work * f64::from(piece.end - piece.start);
            let prepare = Prepare { params: First { first }, table: &table, a, w: &mut w, state: &mut state };
            rec.dispatch(&prepare, &[], grid, 0.05 * flops)?;
            let batch = Batch { table: &table, range: first..range.start + piece.end, extent: None };
            orthogonalise(&mut rec, gpu.adapter(), method, &batch, &mut w, &mut state, flops)?;
            let finish = Finish {
                params: First { first },
                table: &table,
                a,
                state: &state,
                w: &mut w,
                values: &mut values,
                certificates: &mut certificates,
            };
            rec.dispatch(&finish, &class.overrides(), grid, 0.1 * flops)?;
        }
    }
    Ok(Resident { values, vectors: w, certificates })
}

/// Matrices as the kernels see them (shared/ragged.wgsl), and where those of each way stand among them.
type Table = (Vec<[u32; 4]>, Vec<(Way, Range<u32>)>);

/// The matrices, grouped by the way in which they are solved.
fn table(gpu: &Gpu, layout: &Layout) -> Table {
    let mut ways = Vec::new();
    let of_order = (0..=layout.largest()).map(|order| {
        Way::of(gpu.adapter(), order).map(|way| {
            ways.iter().position(|&known| known == way).unwrap_or_else(|| {
                ways.push(way);
                ways.len() - 1
            })
        })
    });
    let of_order: Vec<Option<usize>> = of_order.collect();
    let mut parts: Vec<Vec<[u32; 4]>> = vec![Vec::new(); ways.len()];
    for (place, &order) in layout.orders().iter().enumerate() {
        if let Some(way) = of_order[order as usize] {
            let (elements, rows) = (layout.elements(place).start, layout.rows(place).start);
            parts[way].push([order, to_u32(elements), to_u32(rows), to_u32(place)]);
        }
    }
    let mut ranges = Vec::new();
    let mut first = 0;
    for (way, part) in ways.into_iter().zip(&parts) {
        let end = first + to_u32(part.len());
        if end > first {
            ranges.push((way, first..end));
        }
        first = end;
    }
    (parts.concat(), ranges)
}

/// Offsets within one binding, which is under 2^31 bytes.
fn to_u32(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}
