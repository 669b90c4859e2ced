//! Decides which graphs are solved together and on which side. The decision is based on the whole data set, or on each
//! graph alone, so the side of a graph, and therefore every bit of its encoding, does not depend on how the data set is
//! divided into chunks.

use super::magnetic::charge_of;
use super::settings::{Method, Settings};
use crate::context::{Context, DEFAULT_BUDGET};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{GraphBatch, WeightsRef};
use crate::ops::eigen::{choose_eigh, device_order_limit};
use crate::ops::eigsh::choose_eigsh;
use crate::policy::{Choice, Family, Side, Workload};
use crate::shape::to_u32;
use std::collections::BTreeMap;

/// A group of graphs that are solved together.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) graphs: Vec<usize>,
    pub(super) side: Side,
    /// Whether the graphs are solved by an iteration on sparse matrices instead of a decomposition of dense matrices.
    pub(super) sparse: bool,
    /// Whether the edges of the graphs have weights other than 1.
    pub(super) weighted: bool,
    /// Whether the graphs are solved by their magnetic Laplacians.
    pub(super) magnetic: bool,
}

/// All chunks, and the choice that summarizes their sides.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) chunks: Vec<Chunk>,
    pub(super) choice: Choice,
}

/// Returns the number of bytes of working memory for a graph with n nodes. On the CPU, n^2 f64 values are needed for
/// each of the following: the matrix, its scaled copy, the basis, the solver's scratch memory, the result, and the
/// products for the certificate. On the device, n^2 f32 values are needed for each of the following: the matrix A, the
/// work matrix W of the solver (`ops::eigen`), and the copy of W that is read back. The host needs another n^2 f32
/// values for its copy of W.
fn working_bytes(nodes: usize, side: Side) -> u64 {
    let square = (nodes as u64).saturating_mul(nodes as u64);
    square.saturating_mul(if side == Side::Cpu { 48 } else { 16 })
}

/// Returns the number of bytes of the graphs themselves. The graphs stay in memory in addition to the working memory of
/// the chunks.
fn graph_bytes(graphs: &GraphBatch) -> u64 {
    let entry = match graphs.weights() {
        None => 4,
        Some(WeightsRef::F32(_)) => 8,
        Some(WeightsRef::F64(_)) => 12,
    };
    8 * (graphs.nodes() + graphs.len()) as u64 + entry * graphs.entries() as u64
}

/// Returns whether a graph with `n` nodes is solved by iteration. With [`Method::Auto`], this is the case if a dense
/// decomposition is expected to cost more than the products and restarts of an iteration.
///
/// The ratio of the time of the dense decomposition to the time of the iteration on the CPU (medians for k = 4, 8, 16
/// and 32, measured on 2026-11-21) was 0.6 to 2.3 at n = 300, 0.9 to 4.0 at n = 400 for k up to 16, and 0.9 to 5.6 at n
/// = 500 for all k. At n = 300, the ratio was large for meshes and trees, and small if many pairs of a random graph
/// were requested. For smaller graphs, the iteration could save at most 4 ms per graph, and the dense result is more
/// accurate.
fn is_sparse(settings: &Settings, n: usize) -> bool {
    let k = settings.k;
    match settings.method {
        Method::Exact => false,
        Method::Fast => n > 0,
        Method::Auto => n >= SPARSE_FROM.saturating_add(k.saturating_mul(5)) && k.saturating_mul(8) <= n,
    }
}

/// [`Method::Auto`] uses the iteration only if a graph has at least this number of nodes plus five nodes for each
/// requested pair. The graph must also have at least eight nodes for each requested pair.
const SPARSE_FROM: usize = 300;

/// Returns the number of bytes that an iteration on a graph with n nodes needs: three blocks of vectors, the vectors
/// that are read back, and the arrays that are computed from these vectors.
pub(super) fn sparse_bytes(settings: &Settings, nodes: usize) -> u64 {
    (nodes as u64).saturating_mul((settings.k as u64 + 8).saturating_mul(2 * 12 + 24))
}

/// Divides the graphs into chunks. A chunk of several graphs needs at most an eighth of the memory budget that remains
/// after the graphs themselves are stored. The fraction is small because two chunks are in flight on the device, the
/// memory pool rounds sizes up, and the upload ring and the copies on the host also need memory. A graph that needs
/// more than an eighth is a separate chunk.
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
    let (choice, mut sides) = choose(ctx, settings, &sizes);
    let magnetic: Vec<bool> = graphs.iter().map(|graph| charge_of(settings, graph).is_some()).collect();
    // The device would take weights for 0 that f32 does not hold, not even divided by a power of two.
    for ((side, graph), &magnetic) in sides.iter_mut().zip(graphs.iter()).zip(&magnetic) {
        *side = if graph.levels_to_f32() && !magnetic { *side } else { Side::Cpu };
    }
    let mut sorted: Vec<usize> = (0..orders.len()).collect();
    // Kernels with weights may round differently than kernels with implied weights of 1, so a chunk contains either
    // weighted or unweighted graphs.
    let weighted: Vec<bool> = graphs.iter().map(|graph| graph.is_weighted()).collect();
    sorted.sort_by_key(|&i| (magnetic[i], sparse[i], weighted[i], orders[i]));
    // A large budget makes single graphs possible, and chunks no faster.
    let most = ctx.memory_budget().saturating_sub(graph_bytes(graphs)).min(DEFAULT_BUDGET) / 8;
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut filled = u64::MAX;
    for i in sorted {
        let (sparse, weighted, magnetic, side) = (sparse[i], weighted[i], magnetic[i], sides[i]);
        let real = if sparse { sparse_bytes(settings, orders[i]) } else { working_bytes(orders[i], side) };
        // Complex numbers take twice the memory, and an iteration finds twice as many vectors of twice the length.
        let bytes = match (magnetic, sparse) {
            (false, _) => real,
            (true, false) => real.saturating_mul(2),
            (true, true) => real.saturating_mul(4),
        };
        let budget = if side == Side::Gpu { ctx.device_budget() } else { ctx.memory_budget() };
        if bytes > budget {
            let what = format!(
                "bytes for the {} of graph {} ({} nodes)",
                if sparse { "vectors" } else { "dense matrices" },
                i + settings.first_graph,
                orders[i]
            );
            return Err(Error::budget(what, bytes, budget));
        }
        match chunks.last_mut() {
            Some(chunk)
                if (chunk.side, chunk.sparse, chunk.weighted, chunk.magnetic) == (side, sparse, weighted, magnetic)
                    && filled.saturating_add(bytes) <= most =>
            {
                chunk.graphs.push(i);
                filled += bytes;
            }
            _ => {
                chunks.push(Chunk { graphs: vec![i], side, sparse, weighted, magnetic });
                filled = bytes;
            }
        }
    }
    Ok(Plan { chunks, choice })
}

/// Returns the choice for all graphs together, and the side of each graph. `sizes` contains the number of nodes and the
/// number of entries of each graph. Graphs that are solved by dense decomposition are divided into size classes, and
/// one choice is made for each class. The number of nodes within a class varies by a factor of at most sqrt(2), so that
/// the graphs of a class take about the same time. A separate choice is made for each graph that is solved by
/// iteration. The choice for all graphs together takes its side from the choice with the longest predicted time.
///
/// With [`Settings::by_graph`], the choices are those of [`choose_by_graph`] instead.
pub(super) fn choose(ctx: &Context, settings: &Settings, sizes: &[(usize, usize)]) -> (Choice, Vec<Side>) {
    if settings.by_graph {
        return choose_by_graph(ctx, settings, sizes);
    }
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
        let host_flops = members.iter().map(|&i| host_flops(settings.k, sizes[i])).sum();
        let choice = ctx.explain(&Workload { family: Family::Encode, host_flops, ..work }, fits);
        for i in members {
            sides[i] = choice.side;
        }
        parts.push(choice);
    }
    (together(ctx, &parts), sides)
}

/// The number of graphs in the batch for which [`choose_by_graph`] chooses: a usual number of rows in a batch of the
/// systems that divide a data set among machines.
const NOMINAL: usize = 4096;
/// The number of graphs for which the cost model is evaluated. The counts of operations and bytes are then multiplied.
const EVALUATED: usize = 64;

/// The graphs that share a choice of [`choose_by_graph`]. The class of a graph depends on the graph alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SizeClass {
    sparse: bool,
    fits: bool,
    /// The number of nodes, [`rounded`].
    nodes: usize,
    /// The number of entries, [`rounded`].
    entries: usize,
}

impl SizeClass {
    /// Chooses the side for [`NOMINAL`] graphs of this class, or for one graph that is solved by iteration.
    fn choose(self, ctx: &Context, k: usize) -> Choice {
        let size = (self.nodes, self.entries);
        if self.sparse {
            return choose_eigsh::<f32>(ctx, size, k);
        }
        let work = choose_eigh::<f32>(ctx, &[to_u32(self.nodes); EVALUATED], false).workload;
        let host_flops = EVALUATED as f64 * host_flops(k, size);
        let work = Workload { family: Family::Encode, host_flops, ..work };
        ctx.explain(&scaled(work, NOMINAL as f64 / EVALUATED as f64), self.fits)
    }
}

/// Returns the count without all but its four leading binary digits, so that the counts of a class differ by at most an
/// eighth.
fn rounded(count: usize) -> usize {
    let dropped = (usize::BITS - count.leading_zeros()).saturating_sub(4);
    count >> dropped << dropped
}

/// Returns the choice for all graphs together, and the side of each graph, which depends on the graph and on the
/// context alone. A graph gets the side that is faster for a batch of [`NOMINAL`] graphs of its class. The cost model
/// is evaluated once for each class.
fn choose_by_graph(ctx: &Context, settings: &Settings, sizes: &[(usize, usize)]) -> (Choice, Vec<Side>) {
    let limit = device_order_limit(ctx) as usize;
    let mut classes: BTreeMap<SizeClass, (Choice, usize)> = BTreeMap::new();
    let mut side = |&(nodes, entries): &(usize, usize)| {
        let (sparse, fits) = (is_sparse(settings, nodes), nodes <= limit);
        let class = SizeClass { sparse, fits, nodes: rounded(nodes), entries: rounded(entries) };
        let (choice, count) = classes.entry(class).or_insert_with(|| (class.choose(ctx, settings.k), 0));
        *count += 1;
        choice.side
    };
    let sides = sizes.iter().map(&mut side).collect();
    let part = |(class, (choice, count)): (&SizeClass, &(Choice, usize))| {
        let times = *count as f64 / if class.sparse { 1.0 } else { NOMINAL as f64 };
        Choice {
            workload: scaled(choice.workload, times),
            cpu_seconds: times * choice.cpu_seconds,
            gpu_seconds: times * choice.gpu_seconds,
            ..*choice
        }
    };
    (together(ctx, &classes.iter().map(part).collect::<Vec<_>>()), sides)
}

/// Returns the workload with `times` times as many items. The number of dispatches stays the same.
fn scaled(work: Workload, times: f64) -> Workload {
    Workload {
        items: times * work.items,
        cpu_flops: times * work.cpu_flops,
        gpu_flops: times * work.gpu_flops,
        host_flops: times * work.host_flops,
        upload: times * work.upload,
        download: times * work.download,
        made: times * work.made,
        ..work
    }
}

/// Returns the work that an encoding causes on the CPU in addition to the solver: canonical vectors, tie groups and the
/// certificate. The unit is flop at the default rate of the policy, 2e10 flop/s per thread. At this rate, the work
/// takes 12 us per graph, 80 ns for each element of the eigenvectors, and 4 ns for each combination of an entry of the
/// adjacency matrix and an eigenpair.
///
/// The table shows the measured time of a whole encoding, in microseconds of one thread per graph (2026-11-22, busy
/// machine, minimum of five), and the prediction without and with this work. If a cell contains two numbers, the first
/// is for k = 8 and the second is for k = 16. The prediction without this work does not depend on k.
///
/// | nodes | entries | measured | predicted without | predicted with |
/// | ---: | ---: | ---: | ---: | ---: |
/// | 23 (molecules) | | 39, 56 | 8 | 36, 53 |
/// | 40 | 120 | 67, 97 | 29 | 70, 99 |
/// | 100 | 240 | 254, 374 | 450 | 534, 605 |
///
/// The predictions for 100 nodes are too large, because they include the computation of all eigenvectors, but the
/// solver computes only k of them.
fn host_flops(k: usize, (nodes, entries): (usize, usize)) -> f64 {
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

/// Combines several choices into one. The workloads are added up, and so are the predicted times of each side.
/// Everything else comes from the choice with the longest predicted time.
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
