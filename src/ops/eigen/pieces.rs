//! Batches of any size through the device: whole where they fit, in pieces where they do not.

use super::{RaggedEigh, gpu, select};
use crate::array::{Real, Storage};
use crate::context::Context;
use crate::device::{Buffer, Gpu};
use crate::error::Result;
use crate::ops::certificate::{Certificates, decode};
use crate::shape::Layout;
use std::ops::Range;
use std::sync::Arc;

/// What is taken home; the rest stays on the device and goes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Take {
    /// Values and vectors.
    Pairs,
    /// Values.
    Values,
    /// Values and vectors at these places of every matrix, all of one order.
    Places(Range<usize>),
}

/// What fits at once stays on the device; the rest comes back piece by piece.
pub(super) fn solve<T: Real>(
    ctx: &Context,
    layout: &Arc<Layout>,
    a: &Storage<T>,
    take: &Take,
) -> Result<RaggedEigh<T>> {
    let gpu = ctx.gpu()?;
    let most = gpu::elements_within(gpu, layout, ctx.memory_budget());
    if layout.len() as u64 <= most {
        let whole = match a {
            Storage::Device(buffer) => on_device(gpu, layout, buffer, take),
            Storage::Host(data) => upload(gpu, data).and_then(|buffer| on_device(gpu, layout, &buffer, take)),
        };
        match whole {
            Err(error) if error.is_out_of_memory() && layout.batch() > 1 => log::info!("{error}; going on in pieces"),
            other => return other,
        }
    }
    in_pieces(gpu, layout, &a.to_vec(ctx)?, take, most.min(layout.len() as u64 / 2))
}

fn upload<T: Real>(gpu: &Gpu, data: &[T]) -> Result<Buffer<f32>> {
    gpu.record().upload(&T::for_device(data))
}

fn record(gpu: &Gpu, layout: &Layout, a: &Buffer<f32>, take: &Take) -> Result<gpu::Resident> {
    let found = gpu::eigh(gpu, layout, a, *take != Take::Values)?;
    match take {
        Take::Places(places) => select::select(gpu, found, layout.largest() as usize, places),
        Take::Pairs | Take::Values => Ok(found),
    }
}

fn on_device<T: Real>(gpu: &Gpu, layout: &Arc<Layout>, a: &Buffer<f32>, take: &Take) -> Result<RaggedEigh<T>> {
    let gpu::Resident { values, vectors, certificates } = record(gpu, layout, a, take)?;
    Ok(RaggedEigh {
        layout: Arc::clone(layout),
        values: Storage::Device(values),
        vectors: if *take == Take::Values { Storage::host(Vec::new()) } else { Storage::Device(vectors) },
        certificates: Certificates::Device(certificates),
    })
}

/// Pieces of at most `most` elements each. When memory runs out they are halved; only a single matrix that does not fit is
/// reported. A matrix's result does not depend upon its piece.
fn in_pieces<T: Real>(gpu: &Gpu, layout: &Arc<Layout>, a: &[T], take: &Take, mut most: u64) -> Result<RaggedEigh<T>> {
    let (mut values, mut vectors) = (Vec::new(), Vec::new());
    let mut certificates = Vec::with_capacity(layout.batch());
    let mut begin = 0;
    while begin < layout.batch() {
        let piece = layout.piece(begin, most);
        let part = Layout::new(layout.orders()[piece.clone()].iter().copied());
        let elements = layout.elements(piece.start).start..layout.elements(piece.end - 1).end;
        match bring(gpu, &part, &a[elements], take) {
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

/// Values, vectors and certificates of one piece, on the host.
type Brought = (Vec<f32>, Vec<f32>, Vec<[f32; 4]>);

fn bring<T: Real>(gpu: &Gpu, layout: &Layout, a: &[T], take: &Take) -> Result<Brought> {
    let gpu::Resident { values, vectors, certificates } = record(gpu, layout, &upload(gpu, a)?, take)?;
    let reads = (gpu.read(&values)?, gpu.read(&certificates)?);
    let vectors = if *take == Take::Values { Vec::new() } else { gpu.read(&vectors)?.wait()? };
    Ok((reads.0.wait()?, vectors, reads.1.wait()?))
}
