//! Solves batches of any size on the device: in one call if they fit, otherwise in smaller batches. Matrices on the
//! host whose rows or columns differ greatly in size are left to the CPU, for the sake of their small singular values.

use super::{Parts, Problem, cpu, gpu};
use crate::array::{Real, Storage};
use crate::context::Context;
use crate::device::{Buffer, Gpu, MAY_WAIT, Read};
use crate::error::{DEVICE_BYTES, Result, within_limits};
use crate::ops::certificate::{Certificate, Certificates, decode};
use crate::ops::operation;
use std::ops::Range;
use std::sync::Arc;

/// Solves a batch. If the results of the whole batch fit on the device, they stay there. Otherwise, and if the CPU has
/// solved some of the matrices, they are copied to the host batch by batch.
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
    if graded.len() == problem.batch || !(graded.is_empty() || MAY_WAIT) {
        return ctx.on_host(|| Ok(cpu::svd(ctx, problem, &a.to_vec(ctx)?, vectors)));
    }
    let most = within(gpu, problem, ctx.memory_budget())?;
    if !graded.is_empty() {
        let a = a.to_vec(ctx)?;
        let mut all = in_batches(gpu, problem, &a, vectors, most.min(problem.batch))?;
        all.replace(ctx, problem, &a, vectors, &graded)?;
        return Ok(all.into());
    }
    let whole = || on_device(gpu, problem, &*a.on_device(ctx, gpu)?, vectors);
    let cut = |most| in_batches(gpu, problem, &a.to_vec(ctx)?, vectors, most).map(Parts::from);
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

fn on_device<T: Real>(gpu: &Gpu, problem: &Problem, a: &Buffer<f32>, vectors: bool) -> Result<Parts<T>> {
    let gpu::Resident { u, s, vh, certificates } = gpu::svd(gpu, problem, a, vectors)?;
    let storage = |buffer: Option<Buffer<f32>>| buffer.map_or_else(|| Storage::host(Vec::new()), Storage::device);
    Ok(Parts {
        u: storage(u),
        s: Storage::device(s),
        vh: storage(vh),
        certificates: Certificates::Device(certificates.share()),
    })
}

/// The results of a batch on the host.
struct Brought<T> {
    u: Vec<T>,
    s: Vec<T>,
    vh: Vec<T>,
    certificates: Vec<Certificate>,
}

impl<T: Real> Brought<T> {
    /// Replaces the results of the matrices with the given indices by those of the CPU.
    fn replace(&mut self, ctx: &Context, problem: &Problem, a: &[T], vectors: bool, indices: &[usize]) -> Result<()> {
        let part = Problem { batch: indices.len(), ..*problem };
        let size = problem.rows * problem.cols;
        let given: Vec<T> = indices.iter().flat_map(|i| &a[i * size..(i + 1) * size]).copied().collect();
        let found = ctx.on_host(|| Ok(cpu::svd(ctx, &part, &given, vectors)))?;
        let certificates = found.certificates.read(ctx)?.wait()?;
        for (to, from) in [(&mut self.u, found.u), (&mut self.s, found.s), (&mut self.vh, found.vh)] {
            let len = to.len() / problem.batch;
            for (&i, own) in indices.iter().zip(from.to_vec(ctx)?.chunks_exact(len.max(1))) {
                to[i * len..(i + 1) * len].copy_from_slice(own);
            }
        }
        indices.iter().zip(certificates.iter()).for_each(|(&i, &own)| self.certificates[i] = own);
        Ok(())
    }
}

impl<T: Real> From<Brought<T>> for Parts<T> {
    fn from(Brought { u, s, vh, certificates }: Brought<T>) -> Self {
        Self {
            u: Storage::host(u),
            s: Storage::host(s),
            vh: Storage::host(vh),
            certificates: Certificates::Host(Arc::new(certificates)),
        }
    }
}

/// Solves batches of at most `most` matrices each. The result of a matrix does not depend on the batch that contains
/// it.
fn in_batches<T: Real>(gpu: &Gpu, problem: &Problem, a: &[T], vectors: bool, most: usize) -> Result<Brought<T>> {
    let (mut u, mut s, mut vh, mut certificates) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let size = problem.rows * problem.cols;
    let one = |batch: Range<usize>| {
        let part = Problem { batch: batch.len(), ..*problem };
        let a = gpu.record().upload(&T::for_device(&a[batch.start * size..batch.end * size]))?;
        let found = gpu::svd(gpu, &part, &a, vectors)?;
        drop(a);
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
    Ok(Brought { u, s, vh, certificates })
}
