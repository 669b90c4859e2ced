//! Solves batches of any size on the device: in one call if they fit, otherwise in smaller batches. Matrices on the
//! host whose rows or columns differ greatly in size are left to the CPU, for the sake of their small singular values.

use super::{Parts, Problem, cpu, gpu};
use crate::array::{Real, Storage};
use crate::context::Context;
use crate::device::{Buffer, Gpu, Read};
use crate::error::{DEVICE_BYTES, Result, within_limits};
use crate::ops::certificate::{Certificates, decode};
use crate::ops::convert::replace::{indices_in, replace, replace_certificates};
use crate::ops::operation;
use std::ops::Range;
use std::sync::Arc;

/// Solves a batch. If the results of the whole batch fit on the device, they stay there. Otherwise, they are copied to
/// the host batch by batch.
pub(super) fn solve<T: Real>(
    ctx: &Context,
    gpu: &Gpu,
    problem: &Problem,
    a: &Storage<T>,
    vectors: bool,
) -> Result<Parts<T>> {
    if problem.batch == 0 || problem.short() == 0 {
        // There is nothing to compute: the bases are columns of the identity.
        return Ok(cpu::svd(ctx, problem, &[], vectors));
    }
    let graded = match a {
        Storage::Host(a) => ctx.on_host(|| Ok(cpu::graded_of(problem, a)))?,
        Storage::Device(_) => Vec::new(),
    };
    if graded.len() == problem.batch {
        let found = ctx.on_host(|| Ok(cpu::svd(ctx, problem, &a.to_vec(ctx)?, vectors)))?;
        return Ok(Parts { certificates: found.certificates.rounded(), ..found });
    }
    let most = within(gpu, problem, ctx.device_budget())?;
    let whole = || {
        let mut found = gpu::svd(gpu, problem, &*a.on_device(ctx, gpu)?, vectors)?;
        if let Storage::Host(a) = a {
            insert(ctx, gpu, problem, a, &graded, &mut found)?;
        }
        let gpu::Resident { u, s, vh, certificates } = found;
        let storage = |buffer: Option<Buffer<f32>>| buffer.map_or_else(|| Storage::host(Vec::new()), Storage::device);
        Ok(Parts {
            u: storage(u),
            s: Storage::device(s),
            vh: storage(vh),
            certificates: Certificates::Device(certificates.share()),
        })
    };
    let cut = |most| in_batches(ctx, gpu, problem, &a.to_vec(ctx)?, vectors, &graded, most);
    if problem.batch > most {
        return cut(most);
    }
    operation::whole_or(problem.batch > 1, whole, || cut(most.min(problem.batch / 2).max(1)))
}

/// Returns the maximum number of matrices that one call can solve in `bytes` bytes of memory, with the largest binding
/// that the device allows.
pub(super) fn within(gpu: &Gpu, problem: &Problem, bytes: u64) -> Result<usize> {
    let given = 4 * (problem.rows * problem.cols) as u64;
    let one = given + gpu::bytes_of_one(problem);
    // Some memory is needed for the uniforms, in addition to the arrays.
    let room = bytes.saturating_sub(64 << 10);
    within_limits("one matrix of svd", [(DEVICE_BYTES, one, room)])?;
    let largest = problem.shapes().map(|shape| shape.matrix_len()).into_iter().max().unwrap_or(0) as u64;
    let bound = gpu.adapter().limits.storage_binding / (4 * largest).max(given).max(16);
    // The pool rounds every array up, by a third on average. The index of every element of a batch must fit in 31 bits.
    Ok(usize::try_from((room / 4 * 3 / one).min(bound).min((1 << 31) / largest.max(1))).unwrap_or(usize::MAX).max(1))
}

/// Decomposes the matrices with the given indices on the CPU, and records that their results replace those of the
/// device.
fn insert<T: Real>(
    ctx: &Context,
    gpu: &Gpu,
    problem: &Problem,
    a: &[T],
    indices: &[usize],
    found: &mut gpu::Resident,
) -> Result<()> {
    if indices.is_empty() {
        return Ok(());
    }
    gpu.record().flush()?; // the device works meanwhile
    let part = Problem { batch: indices.len(), ..*problem };
    let size = problem.rows * problem.cols;
    let given: Vec<T> = indices.iter().flat_map(|i| &a[i * size..(i + 1) * size]).copied().collect();
    let own = ctx.on_host(|| Ok(cpu::svd(ctx, &part, &given, found.u.is_some())))?;
    let places = [(found.u.as_mut(), own.u), (Some(&mut found.s), own.s), (found.vh.as_mut(), own.vh)];
    for (buffer, own) in places {
        let Some(buffer) = buffer else { continue };
        let own = own.to_vec(ctx)?;
        let len = own.len() / indices.len();
        replace(gpu, buffer, indices.iter().map(|i| i * len..(i + 1) * len), &T::for_device(&own))?;
    }
    replace_certificates(gpu, &mut found.certificates, indices, &own.certificates.read(ctx)?.wait()?)
}

/// Solves batches of at most `most` matrices each. The result of a matrix does not depend on the batch that contains
/// it.
fn in_batches<T: Real>(
    ctx: &Context,
    gpu: &Gpu,
    problem: &Problem,
    a: &[T],
    vectors: bool,
    graded: &[usize],
    most: usize,
) -> Result<Parts<T>> {
    let (mut u, mut s, mut vh, mut certificates) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let size = problem.rows * problem.cols;
    let one = |batch: Range<usize>| {
        let part = Problem { batch: batch.len(), ..*problem };
        let given = &a[batch.start * size..batch.end * size];
        let uploaded = gpu.record().upload(&T::for_device(given))?;
        let mut found = gpu::svd(gpu, &part, &uploaded, vectors)?;
        drop(uploaded);
        let graded = indices_in(graded, &batch);
        insert(ctx, gpu, &part, given, &graded, &mut found)?;
        let read = |buffer: Option<Buffer<f32>>| buffer.map(|buffer| gpu.read(&buffer)).transpose();
        let reads = (read(found.u)?, gpu.read(&found.s)?, read(found.vh)?, gpu.read(&found.certificates)?);
        let wait = |read: Option<Read<f32>>| read.map_or(Ok(Vec::new()), Read::wait);
        let found = (wait(reads.0)?, reads.1.wait()?, wait(reads.2)?, reads.3.wait()?);
        u.extend(T::from_device(found.0));
        s.extend(T::from_device(found.1));
        vh.extend(T::from_device(found.2));
        certificates.extend(decode(found.3));
        Ok(())
    };
    operation::in_equal_batches(gpu, problem.batch, most, one)?;
    Ok(Parts {
        u: Storage::host(u),
        s: Storage::host(s),
        vh: Storage::host(vh),
        certificates: Certificates::Host(Arc::new(certificates)),
    })
}
