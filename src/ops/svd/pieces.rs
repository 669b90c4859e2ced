//! Batches of any size through the device: whole where they fit, in pieces where they do not.

use super::{Parts, Problem, cpu, gpu};
use crate::array::{Real, Storage};
use crate::context::Context;
use crate::device::{Buffer, Gpu};
use crate::error::{DEVICE_BYTES, Result, within_limits};
use crate::ops::certificate::{Certificates, decode};
use std::sync::Arc;

/// What fits at once stays on the device; the rest comes back piece by piece.
pub(super) fn solve<T: Real>(ctx: &Context, problem: &Problem, a: &Storage<T>, vectors: bool) -> Result<Parts<T>> {
    let gpu = ctx.gpu()?;
    if problem.batch == 0 || problem.short() == 0 {
        // Nothing is to be computed: the bases are the identity's columns.
        return Ok(cpu::svd(problem, &[], vectors));
    }
    let most = within(gpu, problem, ctx.memory_budget())?;
    if problem.batch <= most {
        let whole = match a {
            Storage::Device(buffer) => on_device(gpu, problem, buffer, vectors),
            Storage::Host(data) => upload(gpu, data).and_then(|buffer| on_device(gpu, problem, &buffer, vectors)),
        };
        match whole {
            Err(error) if error.is_out_of_memory() && problem.batch > 1 => log::info!("{error}; going on in pieces"),
            other => return other,
        }
    }
    in_pieces(gpu, problem, &a.to_vec(ctx)?, vectors, most.min(problem.batch / 2).max(1))
}

/// The most matrices that one call may take within a binding and `bytes` of memory.
fn within(gpu: &Gpu, problem: &Problem, bytes: u64) -> Result<usize> {
    let given = 4 * (problem.rows * problem.cols) as u64;
    let one = given + gpu::bytes_of_one(problem);
    // What the uniforms take beside the arrays.
    let room = bytes.saturating_sub(64 << 10);
    within_limits("one matrix of svd", [(DEVICE_BYTES, one, room)])?;
    let largest = problem.shapes().map(|shape| shape.matrix_len()).into_iter().max().unwrap_or(0) as u64;
    let bound = gpu.adapter().limits.storage_binding / (4 * largest).max(given).max(16);
    // The pool rounds every array up, by a third on average. Every number of a piece has an index of 32 bits.
    Ok(usize::try_from((room / 4 * 3 / one).min(bound).min((1 << 31) / largest.max(1))).unwrap_or(usize::MAX).max(1))
}

fn upload<T: Real>(gpu: &Gpu, data: &[T]) -> Result<Buffer<f32>> {
    gpu.record().upload(&T::for_device(data))
}

fn on_device<T: Real>(gpu: &Gpu, problem: &Problem, a: &Buffer<f32>, vectors: bool) -> Result<Parts<T>> {
    let gpu::Resident { u, s, vh, certificates } = gpu::svd(gpu, problem, a, vectors)?;
    let storage = |buffer: Option<Buffer<f32>>| buffer.map_or_else(|| Storage::host(Vec::new()), Storage::Device);
    Ok(Parts {
        u: storage(u),
        s: Storage::Device(s),
        vh: storage(vh),
        certificates: Certificates::Device(certificates),
    })
}

/// Pieces of at most `most` matrices each. When memory runs out they are halved; only a single matrix that does not fit is
/// reported. A matrix's result does not depend upon its piece.
fn in_pieces<T: Real>(gpu: &Gpu, problem: &Problem, a: &[T], vectors: bool, mut most: usize) -> Result<Parts<T>> {
    let (mut u, mut s, mut vh, mut certificates) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let size = problem.rows * problem.cols;
    let mut begin = 0;
    while begin < problem.batch {
        let batch = most.min(problem.batch - begin);
        let part = Problem { batch, ..*problem };
        let found = upload(gpu, &a[begin * size..(begin + batch) * size]).and_then(|a| {
            let found = gpu::svd(gpu, &part, &a, vectors)?;
            drop(a);
            let read = |buffer: Option<Buffer<f32>>| buffer.map(|buffer| gpu.read(&buffer)).transpose();
            let reads = (read(found.u)?, gpu.read(&found.s)?, read(found.vh)?, gpu.read(&found.certificates)?);
            let wait = |read: Option<crate::device::Read<f32>>| read.map_or(Ok(Vec::new()), crate::device::Read::wait);
            Ok((wait(reads.0)?, reads.1.wait()?, wait(reads.2)?, reads.3.wait()?))
        });
        match found {
            Ok(found) => {
                u.extend(T::from_device(found.0));
                s.extend(T::from_device(found.1));
                vh.extend(T::from_device(found.2));
                certificates.extend(decode(found.3));
                begin += batch;
            }
            Err(error) if error.is_out_of_memory() && batch > 1 => {
                most = batch / 2;
                log::info!("{error}; going on with pieces of {most} matrices");
                gpu.trim();
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Parts {
        u: Storage::host(u),
        s: Storage::host(s),
        vh: Storage::host(vh),
        certificates: Certificates::Host(Arc::new(certificates)),
    })
}
