//! Solves batches of any size on the device: as a whole if the batch fits, otherwise in smaller batches.

use super::request::{Columns, Request};
use super::{Solved, gpu, select};
use crate::array::{Real, Storage};
use crate::context::Context;
use crate::device::{Buffer, Gpu};
use crate::error::Result;
use crate::ops::certificate::{Certificates, decode};
use crate::ops::operation;
use crate::shape::Layout;
use std::ops::Range;
use std::sync::Arc;

/// Solves a batch. If the results of the whole batch fit on the device, they stay there. Otherwise, they are copied to
/// the host batch by batch.
pub(super) fn solve<T: Real>(
    ctx: &Context,
    gpu: &Gpu,
    layout: &Arc<Layout>,
    a: &Storage<T>,
    request: Request<'_>,
) -> Result<Solved<T>> {
    let most = gpu::elements_within(gpu, layout, ctx.memory_budget());
    let whole = || on_device(gpu, layout, &*a.on_device(ctx, gpu)?, request);
    let cut = |most| in_batches(gpu, layout, &a.to_vec(ctx)?, request, most);
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

/// Solves the matrices in batches of at most `most` matrix elements each. The result of a matrix does not depend on the
/// batch that contains it.
fn in_batches<T: Real>(gpu: &Gpu, layout: &Arc<Layout>, a: &[T], request: Request<'_>, most: u64) -> Result<Solved<T>> {
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
    Ok(Solved {
        values: Storage::host(values),
        vectors: Storage::host(vectors),
        certificates: Certificates::Host(Arc::new(certificates)),
    })
}

/// The eigenvalues, eigenvectors and certificates of one batch, on the host.
type Brought = (Vec<f32>, Vec<f32>, Vec<[f32; 4]>);

fn bring<T: Real>(gpu: &Gpu, layout: &Layout, a: &[T], request: Request<'_>) -> Result<Brought> {
    let a = gpu.record().upload(&T::for_device(a))?;
    let gpu::Resident { values, vectors, certificates } = record(gpu, layout, &a, request)?;
    drop(a);
    let reads = (gpu.read(&values)?, gpu.read(&certificates)?);
    let vectors = if request.columns.is_none() { Vec::new() } else { gpu.read(&vectors)?.wait()? };
    Ok((reads.0.wait()?, vectors, reads.1.wait()?))
}
