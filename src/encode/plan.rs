//! Which graphs go together, and where: decided on the whole data set, so that a graph's side, and with it every bit of its
//! encoding, does not depend upon how the set is cut.

use super::settings::{Method, Settings};
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::GraphBatch;
use crate::ops::eigen::{choose_eigh, device_order_limit};
use crate::ops::eigsh::choose_eigsh;
use crate::policy::{Choice, Family, Side, Workload};
use crate::shape::to_u32;
use std::collections::BTreeMap;

/// Graphs that are solved together.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) graphs: Vec<usize>,
    pub(super) side: Side,
    /// Whether they are iterated as sparse matrices, not decomposed as dense ones.
    pub(super) sparse: bool,
    /// Whether their edges have weights other than 1.
    pub(super) weighted: bool,
}

/// The chunks, and the choice for all of them together.
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

/// Whether a graph is iterated: where a dense matrix is dearer than an iteration's products and looks.
///
/// On the CPU (medians, k = 4, 8, 16, 32, 2026-11-21) the dense matrix takes this many times as long: at n = 300 0.6 to 2.3
/// (meshes and trees the larger, many pairs of random graphs the smaller), at n = 400 0.9 to 4.0 for k up to 16, at n = 500 0.9
/// to 5.6 for k = 32 too. Below, what could be won is 4 ms a graph, and the dense answer is nearer.
fn is_sparse(settings: &Settings, n: usize) -> bool {
    let k = settings.k;
    match settings.method {
        Method::Exact => false,
        Method::Fast => n > 0,
        Method::Auto => n >= SPARSE_FROM.saturating_add(k.saturating_mul(5)) && k.saturating_mul(8) <= n,
    }
}

/// From this order on `auto` iterates, and five more for each pair.
const SPARSE_FROM: usize = 300;

/// Bytes of an iteration on a graph of n nodes: three blocks, the vectors that come home, what is made of them.
fn sparse_bytes(settings: &Settings, nodes: usize) -> u64 {
    (nodes as u64).saturating_mul((settings.k as u64 + 8).saturating_mul(2 * 12 + 24))
}

/// Chunks of at most an eighth of what the budget leaves beside the graphs: two are in flight on the device, its pool rounds sizes
/// up, the upload ring and the host's copies come on top.
pub(super) fn plan(ctx: &Context, settings: &Settings, graphs: &GraphBatch) -> Result<Plan> {
    let limit = device_order_limit(ctx) as usize;
    let orders: Vec<usize> = graphs.iter().map(|graph| graph.nodes()).collect();
    let sparse: Vec<bool> = graphs.iter().map(|graph| is_sparse(settings, graph.nodes())).collect();
    let asked_for_gpu = ctx.explain(&Default::default(), false).side == Side::Gpu;
    if asked_for_gpu {
        let adapter = &ctx.gpu()?.adapter().name;
        if let Some(i) = (0..orders.len()).find(|&i| orders[i] > limit && !sparse[i]) {
            let number = i + settings.first_graph;
            let what = format!(
                "nodes of graph {number} in the kernels of eigh on {adapter}; the cpu backend takes larger ones"
            );
            return Err(ErrorKind::Limit { what, needed: orders[i] as u64, allowed: limit as u64 }.into());
        }
    }
    let sizes: Vec<(usize, usize)> = graphs.iter().map(|graph| (graph.nodes(), graph.entries())).collect();
    let (choice, sides) = choose(ctx, settings, &sizes);
    let mut sorted: Vec<usize> = (0..orders.len()).collect();
    // Kernels for weights may round otherwise than those for implied ones: a graph's are not its neighbours' affair.
    let weighted: Vec<bool> = graphs.iter().map(|graph| graph.is_weighted()).collect();
    sorted.sort_by_key(|&i| (sparse[i], weighted[i], orders[i]));
    let most = ctx.memory_budget().saturating_sub(graph_bytes(graphs)) / 8;
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut filled = u64::MAX;
    for i in sorted {
        let (sparse, weighted, side) = (sparse[i], weighted[i], sides[i]);
        let bytes = if sparse { sparse_bytes(settings, orders[i]) } else { working_bytes(orders[i], side) };
        if bytes > ctx.memory_budget() {
            let what = format!(
                "bytes for the {} of graph {} ({} nodes)",
                if sparse { "vectors" } else { "dense matrices" },
                i + settings.first_graph,
                orders[i]
            );
            return Err(Error::budget(what, bytes, ctx.memory_budget()));
        }
        match chunks.last_mut() {
            Some(chunk)
                if (chunk.side, chunk.sparse, chunk.weighted) == (side, sparse, weighted)
                    && filled.saturating_add(bytes) <= most =>
            {
                chunk.graphs.push(i);
                filled += bytes;
            }
            _ => {
                chunks.push(Chunk { graphs: vec![i], side, sparse, weighted });
                filled = bytes;
            }
        }
    }
    Ok(Plan { chunks, choice })
}

/// Returns a side for each graph of these sizes (nodes, entries), and the choice for the whole: where most of the time goes. Graphs that are
/// decomposed are assigned by size class, half an octave wide, whose members take about as long; one that is iterated is assigned on its own.
pub(super) fn choose(ctx: &Context, settings: &Settings, sizes: &[(usize, usize)]) -> (Choice, Vec<Side>) {
    let limit = device_order_limit(ctx) as usize;
    let mut classes: BTreeMap<(bool, u32), Vec<usize>> = BTreeMap::new();
    let mut sides = vec![Side::Cpu; sizes.len()];
    let mut parts = Vec::new();
    for (i, &(nodes, entries)) in sizes.iter().enumerate() {
        if is_sparse(settings, nodes) {
            let choice = choose_eigsh::<f32>(ctx, (nodes, entries), settings.k);
            sides[i] = choice.side;
            parts.push(choice);
            continue;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "twice a logarithm of a count")]
        let class = (2.0 * (nodes.max(1) as f64).log2()) as u32;
        classes.entry((nodes <= limit, class)).or_default().push(i);
    }
    for ((fits, _), members) in classes {
        let orders = members.iter().map(|&i| to_u32(sizes[i].0));
        let work = choose_eigh::<f32>(ctx, &orders.collect::<Vec<_>>(), false).workload;
        let host_flops = members.iter().map(|&i| beside(settings.k, sizes[i])).sum();
        let choice = ctx.explain(&Workload { family: Family::Encode, host_flops, ..work }, fits);
        for i in members {
            sides[i] = choice.side;
        }
        parts.push(choice);
    }
    (together(ctx, &parts), sides)
}

/// What encode does on the CPU beside the solver: canonical vectors, ties, the certificate. In flop at the rate that the policy's
/// defaults have, 2e10 a second and thread, by which it takes 12 us a graph, 80 ns for each number of the vectors and 4 ns for each entry
/// and pair.
///
/// All of encode, in microseconds of a thread and graph, k = 8 and 16, measured beside predicted without this and with it (2026-11-22,
/// a busy machine, least of five): molecules of 23 nodes 39 and 56 beside 8, 36 and 53; 40 nodes, 120 entries 67 and 97 beside 29, 70
/// and 99; 100 nodes, 240 entries 254 and 374 beside 450, 534 and 605, of which the solver's part is too much: it finds k vectors alone.
fn beside(k: usize, (nodes, entries): (usize, usize)) -> f64 {
    let [k, nodes, entries] = [k.min(nodes), nodes, entries].map(|count| count as f64);
    2.4e5 + k * (1600.0 * nodes + 80.0 * entries)
}

fn joined(a: Workload, b: Workload) -> Workload {
    Workload {
        items: a.items + b.items,
        cpu_flops: a.cpu_flops + b.cpu_flops,
        gpu_flops: a.gpu_flops + b.gpu_flops,
        host_flops: a.host_flops + b.host_flops,
        upload: a.upload + b.upload,
        download: a.download + b.download,
        made: a.made + b.made,
        dispatches: a.dispatches + b.dispatches,
        ..a
    }
}

/// The choices as one: the sums of both sides, and of the rest that of the part that takes longest.
fn together(ctx: &Context, parts: &[Choice]) -> Choice {
    let Some(first) = parts.iter().max_by(|a, b| a.seconds().total_cmp(&b.seconds())) else {
        return ctx.explain(&Workload { family: Family::Encode, ..Workload::default() }, true);
    };
    let rest = parts.iter().filter(|part| !std::ptr::eq(*part, first));
    rest.fold(*first, |all, part| Choice {
        workload: joined(all.workload, part.workload),
        cpu_seconds: all.cpu_seconds + part.cpu_seconds,
        gpu_seconds: all.gpu_seconds + part.gpu_seconds,
        ..all
    })
}
