//! The eigendecomposition on the device: which kernels run, in which order, and on which buffers.

use super::buffers::Buffers;
use super::kernels::{Ending, FINISH_CLASSES, Finish, FinishClass, First, Prepare};
use super::{small::Small, tiled};
use crate::device::{Adapter, Buffer, Gpu, Recorder};
use crate::error::{ErrorKind, Result};
use crate::forms::{JacobiForm, KernelForm};
use crate::ops::jacobi::gpu::{Batch, Method, orthogonalize};
use crate::shape::{Layout, to_u32};
use std::ops::Range;

/// The eigenvectors, eigenvalues and certificates of a ragged batch on the device.
#[derive(Debug)]
pub(super) struct Resident {
    pub(super) values: Buffer<f32>,
    pub(super) vectors: Buffer<f32>,
    pub(super) certificates: Buffer<[f32; 4]>,
}

/// The kernels that solve a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Solver {
    /// One kernel does everything.
    Small(Small),
    /// Separate kernels prepare the matrix, make its columns orthogonal, and finish the decomposition.
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

/// The largest order that the kernels solve on any device. Up to this order, the tests check that the loops of the
/// kernels do not exceed lavapipe's limit on iterations. In addition, each matrix must fit in one binding.
const LARGEST_ORDER: u32 = 2048;

/// Returns the largest order that the kernels solve on this device.
pub(super) fn largest_order(gpu: &Gpu) -> u32 {
    let bound = gpu.adapter().limits.storage_binding;
    let fits = |&n: &u32| 4 * u64::from(n) * u64::from(n) <= bound && Solver::of(gpu.adapter(), n).is_some();
    (0..=LARGEST_ORDER).rev().find(fits).unwrap_or(0)
}

/// Returns the maximum number of matrix elements in one call, so that each array fits in the largest binding and all
/// arrays together fit in `bytes` bytes of device memory. The matrices are assumed to have orders like those in
/// `layout`. Each element needs room in A, in W, and in the copy of W that is read back. Each row needs room for an
/// eigenvalue and for the copy of it that is read back. Each matrix needs room for its row of the table, its state, its
/// certificate, and the copy of the certificate that is read back. The memory pool rounds the size of each array up, by
/// a third on average. The inner products and sums of large matrices need a sixteenth of the size of W plus 16 MiB.
pub(super) fn elements_within(gpu: &Gpu, layout: &Layout, bytes: u64) -> u64 {
    let elements = layout.len() as u64;
    let needed = 13 * elements + 8 * layout.row_count() as u64 + 64 * layout.batch() as u64;
    let most = u128::from(bytes / 4 * 3) * u128::from(elements) / u128::from(needed.max(1));
    u64::try_from(most).unwrap_or(u64::MAX).min(gpu.adapter().limits.storage_binding / 4)
}

/// Returns the number of floating-point operations of the kernels on a matrix of the given order: about seven sweeps
/// over n^2 / 2 pairs of columns, with three inner products and one rotation for each pair, and then the certificate. A
/// matrix of order above 128 is solved by the blocked form, which needs about ten sweeps of 8 n^3 operations.
pub(super) fn flops(order: u32) -> f64 {
    let n = f64::from(order);
    if order > 128 { 80.0 * n * n * n } else { 7.0 * (n * n / 2.0) * 12.0 * n + 4.0 * n * n * n }
}

/// Returns the name of the form that solves matrices of the given order, and the approximate number of its dispatches.
/// The blocked form makes about ten sweeps, and each round of a sweep takes three dispatches.
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

/// Records the eigendecomposition of every matrix of `a`. If `vectors` is false, the buffer `vectors` of the result has
/// meaningless contents.
///
/// # Errors
/// [`ErrorKind::Limit`] if a matrix is larger than [`largest_order`]; device errors.
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
    for (solver, matrices) in groups {
        let mut buffers = Buffers {
            table: &table,
            a,
            w: &mut w,
            state: &mut state,
            values: &mut values,
            certificates: &mut certificates,
        };
        let method = match solver {
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

/// Returns the size class of the kernel that finishes matrices of up to `capacity` columns in workgroup memory; `None`
/// if matrices of this size do not fit in workgroup memory, so that the tiled kernels have to finish them.
fn finish_class(adapter: &Adapter, capacity: u32) -> Option<FinishClass> {
    let limits = &adapter.limits;
    FINISH_CLASSES.into_iter().find(|class| {
        class.capacity >= capacity
            && class.workgroup_bytes() <= limits.workgroup_storage
            && class.invocations() <= limits.workgroup_invocations
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
    let work = 4.0 * f64::from(class.capacity).powi(3);
    for range in rec.ranges(matrices.end - matrices.start, work) {
        let params = Ending { first: matrices.start + range.first, vectors: vectors.into() };
        let finish = Finish { params, table, a, state, w, values, certificates };
        rec.dispatch(&finish, &class.overrides(), range.grid(), range.flops)?;
    }
    Ok(())
}

/// The table of matrices that the kernels read (shared/ragged.wgsl), and for each solver a range of the table. The
/// solver solves the matrices in this range.
type Table = (Vec<[u32; 4]>, Vec<(Solver, Range<u32>)>);

/// Returns the table of the matrices, grouped by solver.
fn table(gpu: &Gpu, layout: &Layout) -> Table {
    let mut solvers = Vec::new();
    let of_order = (0..=layout.largest()).map(|order| {
        Solver::of(gpu.adapter(), order).map(|solver| {
            solvers.iter().position(|&known| known == solver).unwrap_or_else(|| {
                solvers.push(solver);
                solvers.len() - 1
            })
        })
    });
    let of_order: Vec<Option<usize>> = of_order.collect();
    let mut parts: Vec<Vec<[u32; 4]>> = vec![Vec::new(); solvers.len()];
    for (place, &order) in layout.orders().iter().enumerate() {
        if let Some(solver) = of_order[order as usize] {
            let (elements, rows) = (layout.elements(place).start, layout.rows(place).start);
            parts[solver].push([order, to_u32(elements), to_u32(rows), to_u32(place)]);
        }
    }
    let mut ranges = Vec::new();
    let mut first = 0;
    for (solver, part) in solvers.into_iter().zip(&parts) {
        let end = first + to_u32(part.len());
        if end > first {
            ranges.push((solver, first..end));
        }
        first = end;
    }
    (parts.concat(), ranges)
}

#[cfg(test)]
mod tests {
    use super::super::kernels::is_given;
    use super::Solver;
    use crate::device::Adapter;
    use crate::forms::JacobiForm;

    /// Adapters as GPUs of several makers describe themselves, and for each form the largest order that it solves.
    #[test]
    fn forms_follow_from_what_the_adapter_says_of_itself() {
        use JacobiForm::{Blocked, Lane, Register, Tiny, Workgroup};
        let adapter = |subgroup_size, few_registers, kib: u32| {
            let mut adapter = Adapter::made_up();
            adapter.subgroup_size = subgroup_size;
            adapter.few_registers = few_registers;
            adapter.features = vec!["subgroups"];
            adapter.limits.workgroup_storage = kib << 10;
            adapter
        };
        let usual = vec![(Tiny, 8), (Lane, 32), (Register, 128), (Blocked, 2048)];
        let intel = vec![(Tiny, 6), (Lane, 16), (Register, 80), (Workgroup, 104), (Blocked, 2048)];
        let mut without_subgroups = adapter([32, 32], false, 48);
        without_subgroups.features.clear();
        for (maker, adapter, expected) in [
            ("NVIDIA", adapter([32, 32], false, 48), usual.clone()),
            ("AMD", adapter([32, 64], false, 64), usual),
            ("Apple", adapter([4, 64], false, 32), vec![(Tiny, 8), (Register, 128), (Blocked, 2048)]),
            ("Intel Xe", adapter([8, 32], true, 64), intel.clone()),
            ("Intel Xe2", adapter([16, 32], true, 64), intel),
            ("no subgroups", without_subgroups, vec![(Tiny, 8), (Register, 128), (Blocked, 2048)]),
        ] {
            let mut found: Vec<(JacobiForm, u32)> = Vec::new();
            for order in 1..=2048 {
                let form = match Solver::of(&adapter, order).expect("a solver") {
                    Solver::Small(small) => small.form(),
                    Solver::Jacobi(method) => method.form(),
                };
                match found.last_mut() {
                    Some(last) if last.0 == form => last.1 = order,
                    _ => found.push((form, order)),
                }
            }
            assert_eq!(found, expected, "{maker}");
        }
    }

    /// The variants that are compiled for an adapter are those that some call uses.
    #[test]
    fn variants_that_no_order_uses_are_not_compiled() {
        let mut adapter = Adapter::made_up();
        adapter.few_registers = true;
        adapter.subgroup_size = [8, 32];
        adapter.features = vec!["subgroups"];
        let given = ["Tiny6", "Tiny8", "Lane16", "Lane32", "Finish"].map(|kernel| is_given(&adapter, kernel, &[]));
        assert_eq!(given, [true, false, true, false, true]);
    }
}
