//! Solves batches of any size on the device: as a whole if the batch fits, otherwise in smaller batches. Matrices on
//! the host that may be positive definite with diagonal elements that differ greatly are left to the CPU, for the sake
//! of their small eigenvalues.

use super::request::{Columns, Request};
use super::{Solved, cpu, gpu, on_cpu, select};
use crate::array::{Real, Storage};
use crate::context::Context;
use crate::device::{Buffer, Gpu, MAY_WAIT};
use crate::error::Result;
use crate::ops::certificate::{Certificate, Certificates, decode};
use crate::ops::operation;
use crate::shape::Layout;
use std::ops::Range;
use std::sync::Arc;

/// Solves a batch. If the results of the whole batch fit on the device, they stay there. Otherwise, and if the CPU has
/// solved some of the matrices, they are copied to the host batch by batch.
pub(super) fn solve<T: Real>(
    ctx: &Context,
    gpu: &Gpu,
    layout: &Arc<Layout>,
    a: &Storage<T>,
    request: Request<'_>,
) -> Result<Solved<T>> {
    let graded = match a {
        Storage::Host(a) => cpu::graded_of(layout, a, request),
        Storage::Device(_) => Vec::new(),
    };
    if !graded.is_empty() && (graded.len() == layout.batch() || !MAY_WAIT) {
        return ctx.on_host(|| Ok(on_cpu(ctx, layout, &a.to_vec(ctx)?, request)));
    }
    let most = gpu::elements_within(gpu, layout, ctx.memory_budget());
    if !graded.is_empty() {
        let a = a.to_vec(ctx)?;
        let mut all = in_batches(gpu, layout, &a, request, most.min(layout.len() as u64))?;
        all.replace(ctx, layout, &a, request, &graded)?;
        return Ok(all.into());
    }
    let whole = || on_device(gpu, layout, &*a.on_device(ctx, gpu)?, request);
    let cut = |most| in_batches(gpu, layout, &a.to_vec(ctx)?, request, most).map(Solved::from);
    if layout.len() as u64 > most {
        return cut(most);
    }
    operation::whole_or(layout.batch() > 1, whole, || cut(most.min(layout.len() as u64 / 2)))
}

fn record(gpu: &Gpu, layout: &Layout, a: &Buffer<f32>, request: Request<'_>) -> Result<gpu::Resident> {
    let found = gpu::eigh(gpu, layout, a, !request.columns.is_none())?;
    match request.columns {
        Columns::At(first, end) => select::select(gpu, found, layout.largest() as usize, &(first..end)),
        Columns::All | Columns::None | Columns::Chosen(_) => Ok(found),
    }
}

fn on_device<T: Real>(gpu: &Gpu, layout: &Arc<Layout>, a: &Buffer<f32>, request: Request<'_>) -> Result<Solved<T>> {
    let gpu::Resident { values, vectors, certificates } = record(gpu, layout, a, request)?;
    Ok(Solved {
        values: Storage::device(values),
        vectors: if request.columns.is_none() { Storage::host(Vec::new()) } else { Storage::device(vectors) },
        certificates: Certificates::Device(certificates.share()),
    })
}

/// The results of a batch on the host.
struct Brought<T> {
    values: Vec<T>,
    vectors: Vec<T>,
    certificates: Vec<Certificate>,
}

impl<T: Real> Brought<T> {
    /// Replaces the results of the matrices with the given indices by those of the CPU.
    fn replace(
        &mut self,
        ctx: &Context,
        layout: &Layout,
        a: &[T],
        request: Request<'_>,
        indices: &[usize],
    ) -> Result<()> {
        let part = Layout::new(indices.iter().map(|&i| layout.orders()[i]));
        let given: Vec<T> = indices.iter().flat_map(|&i| &a[layout.elements(i)]).copied().collect();
        // The result of a matrix must not depend on how many others are left to the CPU.
        let found = ctx.on_host(|| Ok(on_cpu(ctx, &part, &given, Request { whole: false, ..request })))?;
        let (values, vectors) = (found.values.to_vec(ctx)?, found.vectors.to_vec(ctx)?);
        let certificates = found.certificates.read(ctx)?.wait()?;
        for (place, &i) in indices.iter().enumerate() {
            let parts = |layout: &Layout, i: usize| match request.columns {
                Columns::At(first, end) => {
                    let (k, n) = (end - first, layout.largest() as usize);
                    (i * k..(i + 1) * k, i * k * n..(i + 1) * k * n)
                }
                _ => (layout.rows(i), layout.elements(i)),
            };
            let ((to, to_vectors), (from, from_vectors)) = (parts(layout, i), parts(&part, place));
            self.values[to].copy_from_slice(&values[from]);
            if !request.columns.is_none() {
                self.vectors[to_vectors].copy_from_slice(&vectors[from_vectors]);
            }
            self.certificates[i] = certificates[place];
        }
        Ok(())
    }
}

impl<T: Real> From<Brought<T>> for Solved<T> {
    fn from(Brought { values, vectors, certificates }: Brought<T>) -> Self {
        Self {
            values: Storage::host(values),
            vectors: Storage::host(vectors),
            certificates: Certificates::Host(Arc::new(certificates)),
        }
    }
}

/// Solves the matrices in batches of at most `most` matrix elements each. The result of a matrix does not depend on the
/// batch that contains it.
fn in_batches<T: Real>(
    gpu: &Gpu,
    layout: &Arc<Layout>,
    a: &[T],
    request: Request<'_>,
    most: u64,
) -> Result<Brought<T>> {
    let (mut values, mut vectors) = (Vec::new(), Vec::new());
    let mut certificates = Vec::with_capacity(layout.batch());
    let elements = |batch: &Range<usize>| layout.elements(batch.start).start..layout.elements(batch.end - 1).end;
    let one = |batch: Range<usize>| {
        let part = Layout::new(layout.orders()[batch.clone()].iter().copied());
        let (w, v, c) = bring(gpu, &part, &a[elements(&batch)], request)?;
        values.extend(T::from_device(w));
        vectors.extend(T::from_device(v));
        certificates.extend(decode(c));
        Ok(())
    };
    let cut = |begin, most| layout.batch_from(begin, most);
    operation::in_batches(gpu, layout.batch(), most, cut, |batch| elements(batch).len() as u64, one)?;
    Ok(Brought { values, vectors, certificates })
}

/// The eigenvalues, eigenvectors and certificates of one batch as the device returns them.
type Raw = (Vec<f32>, Vec<f32>, Vec<[f32; 4]>);

fn bring<T: Real>(gpu: &Gpu, layout: &Layout, a: &[T], request: Request<'_>) -> Result<Raw> {
    let a = gpu.record().upload(&T::for_device(a))?;
    let gpu::Resident { values, vectors, certificates } = record(gpu, layout, &a, request)?;
    drop(a);
    let reads = (gpu.read(&values)?, gpu.read(&certificates)?);
    let vectors = if request.columns.is_none() { Vec::new() } else { gpu.read(&vectors)?.wait()? };
    Ok((reads.0.wait()?, vectors, reads.1.wait()?))
}
