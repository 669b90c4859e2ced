//! Solves batches of any size on the device: as a whole if the batch fits, otherwise in smaller batches. Positive
//! definite matrices on the host whose diagonal elements differ greatly are left to the CPU, for the sake of their
//! small eigenvalues.

use super::request::{Columns, Request};
use super::{Solved, cpu, gpu, on_cpu, select};
use crate::array::{Real, Storage};
use crate::context::Context;
use crate::device::{Buffer, Gpu};
use crate::error::Result;
use crate::ops::certificate::{Certificates, decode};
use crate::ops::convert::replace::{indices_in, replace, replace_certificates};
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
    let graded = match a {
        Storage::Host(a) => ctx.on_host(|| Ok(cpu::graded_of(layout, a, request)))?,
        Storage::Device(_) => Vec::new(),
    };
    if !graded.is_empty() && graded.len() == layout.batch() {
        let found = ctx.on_host(|| Ok(on_cpu(ctx, layout, &a.to_vec(ctx)?, request)))?;
        return Ok(Solved { certificates: found.certificates.rounded(), ..found });
    }
    let most = gpu::elements_within(gpu, layout, ctx.device_budget());
    let whole = || {
        let mut found = record(gpu, layout, &*a.on_device(ctx, gpu)?, request)?;
        if let Storage::Host(a) = a {
            insert(ctx, gpu, layout, a, request, &graded, &mut found)?;
        }
        let gpu::Resident { values, vectors, certificates } = found;
        Ok(Solved {
            values: Storage::device(values),
            vectors: if request.columns.is_none() { Storage::host(Vec::new()) } else { Storage::device(vectors) },
            certificates: Certificates::Device(certificates.share()),
        })
    };
    let cut = |most| in_batches(ctx, gpu, layout, &a.to_vec(ctx)?, request, &graded, most);
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

/// Solves the matrices with the given indices on the CPU, and records that their results replace those of the device.
fn insert<T: Real>(
    ctx: &Context,
    gpu: &Gpu,
    layout: &Layout,
    a: &[T],
    request: Request<'_>,
    indices: &[usize],
    found: &mut gpu::Resident,
) -> Result<()> {
    if indices.is_empty() {
        return Ok(());
    }
    gpu.record().flush()?; // the device works meanwhile
    let part = Layout::new(indices.iter().map(|&i| layout.orders()[i]));
    let given: Vec<T> = indices.iter().flat_map(|&i| &a[layout.elements(i)]).copied().collect();
    // The result of a matrix must not depend on how many others are left to the CPU.
    let own = ctx.on_host(|| Ok(on_cpu(ctx, &part, &given, Request { whole: false, ..request })))?;
    let places = |i: usize| match request.columns {
        Columns::At(first, end) => {
            let (k, n) = (end - first, layout.largest() as usize);
            (i * k..(i + 1) * k, i * k * n..(i + 1) * k * n)
        }
        _ => (layout.rows(i), layout.elements(i)),
    };
    let places = || indices.iter().map(|&i| places(i));
    replace(gpu, &mut found.values, places().map(|(rows, _)| rows), &T::for_device(&own.values.to_vec(ctx)?))?;
    if !request.columns.is_none() {
        let vectors = own.vectors.to_vec(ctx)?;
        replace(gpu, &mut found.vectors, places().map(|(_, elements)| elements), &T::for_device(&vectors))?;
    }
    replace_certificates(gpu, &mut found.certificates, indices, &own.certificates.read(ctx)?.wait()?)
}

/// Solves the matrices in batches of at most `most` matrix elements each. The result of a matrix does not depend on the
/// batch that contains it.
fn in_batches<T: Real>(
    ctx: &Context,
    gpu: &Gpu,
    layout: &Arc<Layout>,
    a: &[T],
    request: Request<'_>,
    graded: &[usize],
    most: u64,
) -> Result<Solved<T>> {
    let (mut values, mut vectors, mut certificates) = (Vec::new(), Vec::new(), Vec::with_capacity(layout.batch()));
    let elements = |batch: &Range<usize>| layout.elements(batch.start).start..layout.elements(batch.end - 1).end;
    let one = |batch: Range<usize>| {
        let part = Layout::new(layout.orders()[batch.clone()].iter().copied());
        let given = &a[elements(&batch)];
        let uploaded = gpu.record().upload(&T::for_device(given))?;
        let mut found = record(gpu, &part, &uploaded, request)?;
        drop(uploaded);
        let graded = indices_in(graded, &batch);
        insert(ctx, gpu, &part, given, request, &graded, &mut found)?;
        let (w, c) = (gpu.read(&found.values)?, gpu.read(&found.certificates)?);
        let v = if request.columns.is_none() { Vec::new() } else { gpu.read(&found.vectors)?.wait()? };
        values.extend(T::from_device(w.wait()?));
        vectors.extend(T::from_device(v));
        certificates.extend(decode(c.wait()?));
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
