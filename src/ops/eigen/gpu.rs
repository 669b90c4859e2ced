//! The device's eigendecomposition: which kernel, in which order, with which buffers.

use super::buffers::Buffers;
use super::kernels::{Ending, FINISH_CLASSES, Finish, FinishClass, First, Prepare};
use super::{small::Small, tiled};
use crate::device::{Adapter, Buffer, Gpu, Recorder};
use crate::error::{ErrorKind, Result};
use crate::forms::{JacobiForm, KernelForm};
use crate::ops::jacobi::gpu::{Batch, Method, orthogonalize};
use crate::shape::{Layout, to_u32};
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
enum Solver {
    /// One does everything.
    Small(Small),
    /// Prepare, make the columns orthogonal, finish.
    Jacobi(Method),
}

impl Solver {
    fn of(adapter: &Adapter, order: u32) -> Option<Self> {
        adapter.form(order.into(), |may| {
            let may = &|form| may(KernelForm::Eigh(form));
            let small = Small::of(adapter, order, may).map(Self::Small);
            small.or_else(|| Method::of_definite(adapter, order, may).map(Self::Jacobi))
        })
    }
}

/// The largest order that this device's kernels take: the loops of no kernel are counted beyond it, and one matrix is one binding.
const LARGEST_ORDER: u32 = 2048;

/// The largest order that this device's kernels take.
pub(super) fn largest_order(gpu: &Gpu) -> u32 {
    let bound = gpu.adapter().limits.storage_binding;
    let fits = |&n: &u32| 4 * u64::from(n) * u64::from(n) <= bound && Solver::of(gpu.adapter(), n).is_some();
    (0..=LARGEST_ORDER).rev().find(fits).unwrap_or(0)
}

/// The largest batch, in elements, that one call may take within a binding and `bytes` of memory, if its matrices are like those of
/// `layout`: A, W, and W read back; values, and values read back; table, state, certificate, and certificate read back of every
/// matrix. The pool rounds each up, by a third on average; inner products and sums of large matrices take a sixteenth of W, and
/// 16 MiB.
pub(super) fn elements_within(gpu: &Gpu, layout: &Layout, bytes: u64) -> u64 {
    let elements = layout.len() as u64;
    let needed = 13 * elements + 8 * layout.row_count() as u64 + 64 * layout.batch() as u64;
    let most = u128::from(bytes / 4 * 3) * u128::from(elements) / u128::from(needed.max(1));
    u64::try_from(most).unwrap_or(u64::MAX).min(gpu.adapter().limits.storage_binding / 4)
}

/// Floating-point operations of the kernels on a matrix of that order: about seven sweeps of n^2 / 2 pairs, an inner product
/// of three and a rotation each, and the certificate. Beyond what a workgroup holds it is blocked: about ten sweeps of 8 n^3.
pub(super) fn flops(order: u32) -> f64 {
    let n = f64::from(order);
    if order > 128 { 80.0 * n * n * n } else { 7.0 * (n * n / 2.0) * 12.0 * n + 4.0 * n * n * n }
}

/// The name of the kernels' form for that order, and about how many dispatches they take: of the blocked form, a round of pairs of
/// blocks each, three to a round, and about ten sweeps.
pub(super) fn form(gpu: &Gpu, order: u32) -> (&'static str, f64) {
    match Solver::of(gpu.adapter(), order) {
        None => ("", 0.0),
        Some(Solver::Small(small)) => (small.form().name(), 1.0),
        Some(Solver::Jacobi(Method::Blocked(columns))) => {
            (JacobiForm::Blocked.name(), 8.0 + 30.0 * (f64::from(columns) / 16.0 - 1.0).max(1.0))
        }
        Some(Solver::Jacobi(method)) => (method.form().name(), 3.0),
    }
}

/// Records the eigendecomposition of every matrix of `a`. Without `vectors`, what stands in their place means nothing.
///
/// # Errors
/// [`ErrorKind::Limit`] if a matrix is beyond [`largest_order`]; device errors.
pub(super) fn eigh(gpu: &Gpu, layout: &Layout, a: &Buffer<f32>, vectors: bool) -> Result<Resident> {
    let (needed, allowed) = (u64::from(layout.largest()), u64::from(largest_order(gpu)));
    if needed > allowed {
        let what = format!("order of a matrix in the kernels of eigh on {}", gpu.adapter().name);
        return Err(ErrorKind::Limit { what, needed, allowed }.into());
    }
    let (table, groups) = table(gpu, layout);
    let mut rec = gpu.record();
    let table = rec.upload(&table)?;
    let mut state = rec.array(layout.batch())?;
    let mut w = rec.array(layout.len())?;
    let mut values = rec.array(layout.row_count())?;
    let mut certificates = rec.array(layout.batch())?;
    for (way, matrices) in groups {
        let mut buffers = Buffers {
            table: &table,
            a,
            w: &mut w,
            state: &mut state,
            values: &mut values,
            certificates: &mut certificates,
        };
        let method = match way {
            Solver::Jacobi(method) => method,
            Solver::Small(small) => {
                small.record(&mut rec, &mut buffers, &matrices, flops(small.largest_order()), vectors)?;
                continue;
            }
        };
        let (adapter, capacity) = (gpu.adapter(), method.largest_order());
        let class = finish_class(adapter, capacity);
        match class {
            Some(_) => prepare(&mut rec, &mut buffers, capacity, &matrices)?,
            None => tiled::prepare(&mut rec, adapter, &mut buffers, capacity, &matrices)?,
        }
        let batch = Batch { table: &table, matrices: matrices.clone() };
        orthogonalize(&mut rec, adapter, method, &batch, buffers.w, buffers.state)?;
        match class {
            Some(class) => finish(&mut rec, &mut buffers, class, &matrices, vectors)?,
            None => tiled::finish(&mut rec, adapter, &mut buffers, capacity, &matrices, vectors)?,
        }
    }
    Ok(Resident { values, vectors: w, certificates })
}

/// The class of the kernel that ends the decomposition of matrices of up to `capacity` columns in workgroup memory; none where
/// they do not fit, and their kernels go tile by tile.
fn finish_class(adapter: &Adapter, capacity: u32) -> Option<FinishClass> {
    let limits = &adapter.limits;
    FINISH_CLASSES.into_iter().find(|class| {
        class.0 >= capacity
            && class.workgroup_bytes() <= limits.workgroup_storage
            && class.0 <= limits.workgroup_invocations
    })
}

fn prepare(rec: &mut Recorder<'_>, buffers: &mut Buffers<'_>, capacity: u32, matrices: &Range<u32>) -> Result<()> {
    let Buffers { table, a, w, state, .. } = buffers;
    let work = 6.0 * f64::from(capacity).powi(2);
    for range in rec.ranges(matrices.end - matrices.start, work) {
        let prepare = Prepare { params: First { first: matrices.start + range.first }, table, a, w, state };
        rec.dispatch(&prepare, &[], range.grid(), range.flops)?;
    }
    Ok(())
}

fn finish(
    rec: &mut Recorder<'_>,
    buffers: &mut Buffers<'_>,
    class: FinishClass,
    matrices: &Range<u32>,
    vectors: bool,
) -> Result<()> {
    let Buffers { table, a, w, state, values, certificates } = buffers;
    let work = 4.0 * f64::from(class.0).powi(3);
    for range in rec.ranges(matrices.end - matrices.start, work) {
        let params = Ending { first: matrices.start + range.first, vectors: vectors.into() };
        let finish = Finish { params, table, a, state, w, values, certificates };
        rec.dispatch(&finish, &class.overrides(), range.grid(), range.flops)?;
    }
    Ok(())
}

/// Matrices as the kernels see them (shared/ragged.wgsl), and where those of each way stand among them.
type Table = (Vec<[u32; 4]>, Vec<(Solver, Range<u32>)>);

/// The matrices, grouped by the way in which they are solved.
fn table(gpu: &Gpu, layout: &Layout) -> Table {
    let mut ways = Vec::new();
    let of_order = (0..=layout.largest()).map(|order| {
        Solver::of(gpu.adapter(), order).map(|way| {
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
