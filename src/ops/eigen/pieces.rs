//! Batches of any size through the device: whole where they fit, in pieces where they do not.

use super::{RaggedEigh, gpu};
use crate::array::{Real, Storage};
use crate::context::Context;
use crate::device::{Buffer, Gpu};
use crate::error::Result;
use crate::ops::certificate::{Certificates, decode};
use crate::shape::Layout;
use std::sync::Arc;

/// What fits at once stays on the device; the rest comes back piece by piece.
pub(super) fn solve<T: Real>(ctx: &Context, layout: &Arc<Layout>, a: &Storage<T>) -> Result<RaggedEigh<T>> {
    let gpu = ctx.gpu()?;
    let most = gpu::elements_within(gpu, ctx.memory_budget());
    if layout.len() as u64 <= most {
        let whole = match a {
            Storage::Device(buffer) => on_device(gpu, layout, buffer),
            Storage::Host(data) => upload(gpu, data).and_then(|buffer| on_device(gpu, layout, &buffer)),
        };
        match whole {
            Err(error) if error.is_out_of_memory() && layout.batch() > 1 => log::info!("{error}; going on in pieces"),
            other => return other,
        }
    }
    in_pieces(gpu, layout, &a.to_vec(ctx)?, most.min(layout.len() as u64 / 2))
}

fn upload<T: Real>(gpu: &Gpu, data: &[T]) -> Result<Buffer<f32>> {
    gpu.record().upload(T::for_device(data))
}

fn on_device<T: Real>(gpu: &Gpu, layout: &Arc<Layout>, a: &Buffer<f32>) -> Result<RaggedEigh<T>> {
    let gpu::Resident { values, vectors, certificates } = gpu::eigh(gpu, layout, a, true)?;
    Ok(RaggedEigh {
        layout: Arc::clone(layout),
        values: Storage::Device(values),
        vectors: Storage::Device(vectors),
        certificates: Certificates::Device(certificates),
    })
}

/// Pieces of at most `most` elements each. When memory runs out they are halved; only a single matrix that does not fit is
/// reported. A matrix's result does not depend upon its piece.
fn in_pieces<T: Real>(gpu: &Gpu, layout: &Arc<Layout>, a: &[T], mut most: u64) -> Result<RaggedEigh<T>> {
    let mut values = Vec::with_capacity(layout.row_count());
    let mut vectors = Vec::with_capacity(layout.len());
    let mut certificates = Vec::with_capacity(layout.batch());
    let mut begin = 0;
    while begin < layout.batch() {
        let piece = layout.piece(begin, most);
        let part = Layout::new(layout.orders()[piece.clone()].iter().copied());
        let elements = layout.elements(piece.start).start..layout.elements(piece.end - 1).end;
        let found = upload(gpu, &a[elements]).and_then(|a| {
            let found = gpu::eigh(gpu, &part, &a, true)?;
            let reads = (gpu.read(&found.values)?, gpu.read(&found.vectors)?, gpu.read(&found.certificates)?);
            Ok((reads.0.wait()?, reads.1.wait()?, reads.2.wait()?))
        });
        match found {
            Ok((w, v, c)) => {
                values.extend(T::from_device(w));
                vectors.extend(T::from_device(v));
                certificates.extend(decode(c));
                begin = piece.end;
            }
            Err(error) if error.is_out_of_memory() && piece.len() > 1 => {
                most = part.len() as u64 / 2;
                log::info!("{error}; going on with pieces of {most} elements");
                gpu.trim();
            }
            Err(error) => return Err(error),
        }
    }
    Ok(RaggedEigh {
        layout: Arc::clone(layout),
        values: Storage::host(values),
        vectors: Storage::host(vectors),
        certificates: Certificates::Host(Arc::new(certificates)),
    })
}
