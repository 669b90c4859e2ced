//! Which graphs go together, and where: decided on the whole data set, so that a graph's side, and with it every bit of its
//! encoding, does not depend upon how the set is cut.

use crate::context::Context;
use crate::error::{ErrorKind, Result};
use crate::graph::GraphBatch;
use crate::ops::eigen::{choose_eigh, device_order_limit};
use crate::policy::{Choice, Side};

/// Graphs that are solved together.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) graphs: Vec<usize>,
    pub(super) side: Side,
}

/// The chunks, and the choice for the graphs that the device's kernels could take.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) chunks: Vec<Chunk>,
    pub(super) choice: Choice,
}

/// Bytes of working memory for a graph of n nodes. CPU: the matrix, its scaled copy, the basis, the solver's scratch, the result
/// and the certificate's products, n^2 numbers of f64 each. Device: A, W and W read back in f32, and W on the host.
fn working_bytes(nodes: usize, side: Side) -> u64 {
    let square = (nodes as u64).saturating_mul(nodes as u64);
    square.saturating_mul(if side == Side::Cpu { 48 } else { 16 })
}

/// Bytes of the graphs themselves, which stay in memory beside the chunks.
fn graph_bytes(graphs: &GraphBatch) -> u64 {
    let entry = if graphs.weights().is_some() { 8 } else { 4 };
    8 * (graphs.nodes() + graphs.len()) as u64 + entry * graphs.entries() as u64
}

/// Chunks of at most an eighth of what the budget leaves beside the graphs: two are in flight on the device, its pool rounds sizes
/// up, the upload ring and the host's copies come on top.
pub(super) fn plan(ctx: &Context, graphs: &GraphBatch) -> Result<Plan> {
    let limit = device_order_limit(ctx) as usize;
    let orders: Vec<usize> = graphs.iter().map(|graph| graph.nodes()).collect();
    let asked_for_gpu = ctx.explain(&Default::default(), false).side == Side::Gpu;
    // Without a device the choice is about all of them.
    let small = orders.iter().copied().filter(|&n| n <= limit || limit == 0 || asked_for_gpu);
    let small: Vec<u32> = small.map(|n| u32::try_from(n).unwrap_or(u32::MAX)).collect();
    let choice = choose_eigh::<f32>(ctx, &small, false);
    if choice.side == Side::Gpu {
        let adapter = &ctx.gpu()?.adapter().name;
        if let Some(i) = orders.iter().position(|&n| n > limit).filter(|_| asked_for_gpu) {
            let what =
                format!("nodes of graph {i} in the kernels of eigh on {adapter}; the cpu backend takes larger ones");
            return Err(ErrorKind::Limit { what, needed: orders[i] as u64, allowed: limit as u64 }.into());
        }
    }
    let mut sorted: Vec<usize> = (0..orders.len()).collect();
    sorted.sort_by_key(|&i| orders[i]);
    let most = ctx.memory_budget().saturating_sub(graph_bytes(graphs)) / 8;
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut filled = u64::MAX;
    for i in sorted {
        let side = if orders[i] <= limit { choice.side } else { Side::Cpu };
        let bytes = working_bytes(orders[i], side);
        if bytes > ctx.memory_budget() {
            let what = format!(
                "bytes for the dense matrices of graph {i} ({} nodes); a larger FIEDLER_MEMORY_BUDGET allows them",
                orders[i]
            );
            return Err(ErrorKind::Limit { what, needed: bytes, allowed: ctx.memory_budget() }.into());
        }
        match chunks.last_mut() {
            Some(chunk) if chunk.side == side && filled.saturating_add(bytes) <= most => {
                chunk.graphs.push(i);
                filled += bytes;
            }
            _ => {
                chunks.push(Chunk { graphs: vec![i], side });
                filled = bytes;
            }
        }
    }
    Ok(Plan { chunks, choice })
}
