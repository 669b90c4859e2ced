//! Looks up and stores encodings in caches: how a data set is divided into cache blocks, what the key of a block
//! contains, and which graphs remain to be computed.
//!
//! A data set is divided into *cache blocks*, which are runs of consecutive graphs. The division depends only on the
//! settings and the graphs, and not on the memory budget or on time, so that later calls find the same blocks. A block
//! ends before it would exceed [`BLOCK_WORK`] or [`BLOCK_NODES`]; a single graph that exceeds either limit is a
//! separate block. A data set of small graphs is therefore stored in a few files of several megabytes each, and a large
//! graph in one file. If graphs are appended to a data set, its blocks before the last stay the same. If no cache has a
//! disk, each graph is a separate block, because training draws new batches each time.
//!
//! For PROTEINS with k = 8 on two cores with AVX-512 (2026-11-21, medians), computing the encodings takes 64 ms. If the
//! encodings are stored, hashing, finding, checking and copying take 0.7 ms in total for 6 blocks on disk, and 2.3 ms
//! in total for single graphs in memory. These times are 1.1 % and 3.6 % of the time saved.
//!
//! A key contains everything that affects any bit of an encoding. This includes the side and the method by which each
//! graph is solved. Both are chosen for the whole data set, even if parts of it are found in a cache. Therefore, a data
//! set that is partly found in a cache has the same bits as one that is computed in a single call.

use super::encoding::Encoding;
use super::plan::Chunk;
use super::settings::Settings;
use crate::array::Real;
use crate::cache::{Cache, Key, KeyHasher, Value};
use crate::context::Context;
use crate::graph::{Conventions, GraphBatch};
use crate::lanes::{SimdScalar, Task, Vector};
use crate::policy::Side;
use std::ops::Range;
use std::sync::Arc;

/// The version of the numerical results. A change that may alter any bit of an encoding requires a new number.
const NUMERICS: u64 = 11;
/// A description of the meaning and the layout of the stored values.
const DOMAIN: &str = "fiedler 2026-11-22 spectral encodings of a run of graphs, native byte order";
/// The maximum sum of [`work`] over the graphs of a block. It corresponds to about 60 ms on one core (9 n^3 flop at the
/// 2e10 flop/s of `policy::Rates`).
const BLOCK_WORK: u64 = 1 << 27;
/// The maximum number of nodes in a block. At k = 8, the vectors of these nodes take 2 MiB.
const BLOCK_NODES: usize = 1 << 16;
/// The maximum sum of [`work`] over the graphs of a call. The blocks of a call are stored when the call has finished.
/// One core needs about a second for this amount of work, so a call has enough work to occupy many cores.
const CALL_WORK: u64 = 1 << 31;

/// The caches that an encoder searches before it computes, in the order of the search.
#[derive(Clone, Debug, Default)]
pub(super) struct Stores(Vec<Arc<Cache>>);

/// The graphs of a data set that were not found in a cache and must be computed.
pub(super) struct Left {
    /// The number of graphs that were found in a cache.
    pub(super) found: usize,
    pub(super) calls: Vec<Call>,
}

/// Chunks that are computed together, and the cache blocks that are complete after the chunks are computed.
pub(super) struct Call {
    pub(super) chunks: Vec<Chunk>,
    pub(super) blocks: Vec<CacheBlock>,
}

/// A run of consecutive graphs and the key under which their encoding is stored.
pub(super) struct CacheBlock {
    graphs: Range<usize>,
    key: Key,
}

impl Stores {
    pub(super) fn add(&mut self, cache: Arc<Cache>) {
        self.0.push(cache);
    }

    /// Looks up every block, and copies the blocks that are found to the encoding. Divides the remaining graphs of the
    /// chunks into calls.
    pub(super) fn find<T: Real>(
        &self,
        settings: &Settings,
        ctx: &Context,
        graphs: &GraphBatch,
        chunks: Vec<Chunk>,
        encoding: &mut Encoding<T>,
    ) -> Left {
        if self.0.is_empty() {
            return Left { found: 0, calls: vec![Call { chunks, blocks: Vec::new() }] };
        }
        let mut routes = vec![Route { side: Side::Cpu, sparse: false }; graphs.len()];
        for chunk in &chunks {
            let route = Route { side: chunk.side, sparse: chunk.sparse };
            chunk.graphs.iter().for_each(|&graph| routes[graph] = route);
        }
        let work = |graph: usize| work(settings, graphs, graph, routes[graph].sparse);
        let common = common_part::<T>(settings, graphs.conventions());
        let mut found = 0;
        let mut calls: Vec<Call> = Vec::new();
        let mut filled = u64::MAX;
        let mut call_of = vec![usize::MAX; graphs.len()];
        for run in runs(graphs, work, self.0.iter().all(|cache| cache.folder().is_none())) {
            let block = CacheBlock { key: key(&common, ctx, graphs, run.clone(), &routes), graphs: run };
            if self.look_up(&block, graphs, encoding) {
                found += block.graphs.len();
                continue;
            }
            let work = block.graphs.clone().map(work).fold(0, u64::saturating_add);
            filled = filled.saturating_add(work);
            if filled > CALL_WORK {
                calls.push(Call { chunks: Vec::new(), blocks: Vec::new() });
                filled = work;
            }
            call_of[block.graphs.clone()].fill(calls.len() - 1);
            if let Some(call) = calls.last_mut() {
                call.blocks.push(block);
            }
        }
        for Chunk { graphs, side, sparse, weighted } in chunks {
            // A subset of a chunk's graphs fits the memory budget, because the whole chunk does.
            for (call, own) in parts(&graphs, &call_of) {
                calls[call].chunks.push(Chunk { graphs: own, side, sparse, weighted });
            }
        }
        Left { found, calls }
    }

    /// Stores the blocks of a finished call in all caches.
    pub(super) fn keep<T: Real>(&self, call: &[CacheBlock], graphs: &GraphBatch, encoding: &mut Encoding<T>) {
        for block in call {
            let value = Value::from(arrays(encoding, graphs, &block.graphs).map(|array| &*array).concat());
            self.0.iter().for_each(|cache| cache.put(block.key, &value));
        }
    }

    pub(super) fn call_ended(&self) {
        self.0.iter().for_each(|cache| cache.call_ended());
    }

    /// Searches the caches for a block. If a cache contains the block, copies it to the encoding and stores it in all
    /// caches that were searched before. Returns whether any cache contains the block.
    fn look_up<T: Real>(&self, block: &CacheBlock, graphs: &GraphBatch, encoding: &mut Encoding<T>) -> bool {
        for (place, cache) in self.0.iter().enumerate() {
            let Some(value) = cache.get(&block.key) else { continue };
            let mut arrays = arrays(encoding, graphs, &block.graphs);
            if arrays.iter().map(|array| array.len()).sum::<usize>() != value.len() {
                cache.of_no_use(&block.key);
                continue;
            }
            let mut rest = &value[..];
            for array in &mut arrays {
                let (own, others) = rest.split_at(array.len());
                array.copy_from_slice(own);
                rest = others;
            }
            self.0[..place].iter().for_each(|before| before.put(block.key, &value));
            return true;
        }
        false
    }
}

/// Groups the graphs of a chunk by the call that computes them. Graphs without a call were found in a cache and are
/// omitted.
fn parts(graphs: &[usize], call_of: &[usize]) -> Vec<(usize, Vec<usize>)> {
    let mut all: Vec<(usize, usize)> = graphs.iter().map(|&graph| (call_of[graph], graph)).collect();
    all.retain(|(call, _)| *call != usize::MAX);
    // The sort is stable, so within a call the graphs keep the order of the chunk, which is by size.
    all.sort_by_key(|(call, _)| *call);
    all.chunk_by(|a, b| a.0 == b.0).map(|part| (part[0].0, part.iter().map(|(_, graph)| *graph).collect())).collect()
}

/// The side and the method by which a graph is solved. Both affect the bits of its encoding.
#[derive(Clone, Copy)]
struct Route {
    side: Side,
    sparse: bool,
}

/// Returns the work for a graph. The unit is chosen so that the work of the dense method is n^3 for n nodes. The
/// division into blocks is based on the work, so the work must depend only on the settings and the graph. The estimate
/// for an iteration is about a hundred products with a block of 2 k columns.
fn work(settings: &Settings, graphs: &GraphBatch, graph: usize, sparse: bool) -> u64 {
    let (first, end) = (graphs.node_offsets()[graph], graphs.node_offsets()[graph + 1]);
    let (nodes, entries) = ((end - first) as u64, (graphs.row_offsets()[end] - graphs.row_offsets()[first]) as u64);
    if sparse {
        (settings.k as u64).saturating_add(8).saturating_mul(64).saturating_mul(nodes + entries)
    } else {
        nodes.saturating_mul(nodes).saturating_mul(nodes)
    }
}

/// Divides the graphs into runs, one for each cache block. If `one_by_one` is true, each graph is a separate run.
fn runs(graphs: &GraphBatch, work: impl Fn(usize) -> u64, one_by_one: bool) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let (mut sum, mut nodes) = (u64::MAX, 0_usize);
    for graph in 0..graphs.len() {
        let (own, order) = (work(graph), graphs.node_offsets()[graph + 1] - graphs.node_offsets()[graph]);
        (sum, nodes) = (sum.saturating_add(own), nodes + order);
        match runs.last_mut() {
            Some(run) if sum <= BLOCK_WORK && nodes <= BLOCK_NODES && !one_by_one => run.end = graph + 1,
            _ => {
                runs.push(graph..graph + 1);
                (sum, nodes) = (own, order);
            }
        }
    }
    runs
}

/// A task that returns the number of lanes of the machine's SIMD vectors.
struct Width;

impl Task<f64> for Width {
    type Output = usize;
    fn run<V: Vector<Scalar = f64>>(self, _: V::Token) -> usize {
        V::LANES
    }
}

/// Returns the hasher with the part of the key that all blocks share. The patterns name every field, so that the
/// compiler reports a new field.
fn common_part<T: Real>(settings: &Settings, conventions: Conventions) -> KeyHasher {
    // Neither the method nor how sides are chosen is included, because the routes determine how each graph is solved.
    let Settings { k, normalization, which, drop_trivial, walk_steps, method: _, by_graph: _, first_graph: _ } =
        *settings;
    // The other conventions affect only how the graph is built, so the rows of the graph reflect them.
    let Conventions { degree, symmetrization: _, self_loops: _, duplicates: _, isolated, zero_degree_scale } =
        conventions;
    let mut key = KeyHasher::new(DOMAIN);
    key.number(NUMERICS).bytes(env!("CARGO_PKG_VERSION").as_bytes());
    // Several machines may share a cache folder. The width of SIMD vectors determines whether products use fused
    // multiply-add.
    key.number(f64::in_lanes(Width) as u64)
        .bytes(std::env::consts::ARCH.as_bytes())
        .number(u64::from(cfg!(target_endian = "big")));
    key.number(k as u64).number(normalization as u64).number(which as u64);
    key.bytes(T::NAME.as_bytes());
    key.number(drop_trivial.into()).number(walk_steps as u64);
    key.number(degree as u64).number(isolated as u64).number(zero_degree_scale as u64);
    key
}

/// Returns the key of one block. The key covers the rows of the block's graphs and how each graph is solved.
fn key(common: &KeyHasher, ctx: &Context, graphs: &GraphBatch, run: Range<usize>, routes: &[Route]) -> Key {
    let mut key = common.clone();
    let nodes = graphs.node_offsets()[run.start]..graphs.node_offsets()[run.end];
    let entries = graphs.row_offsets()[nodes.start]..graphs.row_offsets()[nodes.end];
    // Differences between offsets are hashed, because the offsets themselves refer to the whole batch.
    let differences = |offsets: &[usize]| -> Vec<u8> {
        offsets.windows(2).flat_map(|pair| ((pair[1] - pair[0]) as u64).to_ne_bytes()).collect()
    };
    key.bytes(&differences(&graphs.node_offsets()[run.start..=run.end]));
    key.bytes(&differences(&graphs.row_offsets()[nodes.start..=nodes.end]));
    key.bytes(bytemuck::cast_slice(&graphs.columns()[entries.clone()]));
    key.number(graphs.weights().is_some().into());
    key.bytes(bytemuck::cast_slice(graphs.weights().map_or(&[][..], |weights| &weights[entries])));
    let routes = &routes[run];
    key.bytes(&routes.iter().flat_map(|route| [route.side as u8, route.sparse.into()]).collect::<Vec<u8>>());
    // Results may differ between adapters, and between the kernel forms that are allowed on an adapter.
    let adapter = ctx.adapter().filter(|_| routes.iter().any(|route| route.side == Side::Gpu));
    key.bytes(adapter.map(|adapter| format!("{adapter:?}")).unwrap_or_default().as_bytes());
    key.finish()
}

/// Returns the bytes of all arrays of the encoding for a run of graphs. A cache stores these bytes in this order.
fn arrays<'a, T: Real>(encoding: &'a mut Encoding<T>, graphs: &GraphBatch, run: &Range<usize>) -> [&'a mut [u8]; 10] {
    let nodes = graphs.node_offsets()[run.start]..graphs.node_offsets()[run.end];
    let (k, steps) = (encoding.k, encoding.walk_steps);
    let of = |rows: &Range<usize>, width: usize| rows.start * width..rows.end * width;
    [
        bytemuck::cast_slice_mut(&mut encoding.eigenvalues[of(run, k)]),
        bytemuck::cast_slice_mut(&mut encoding.eigenvectors[of(&nodes, k)]),
        bytemuck::cast_slice_mut(&mut encoding.residual[run.clone()]),
        bytemuck::cast_slice_mut(&mut encoding.orthogonality[run.clone()]),
        &mut encoding.status[run.clone()],
        bytemuck::cast_slice_mut(&mut encoding.components[run.clone()]),
        bytemuck::cast_slice_mut(&mut encoding.tie_group[of(run, k)]),
        &mut encoding.tie_cut[run.clone()],
        &mut encoding.mask[of(run, k)],
        bytemuck::cast_slice_mut(&mut encoding.random_walk[of(&nodes, steps)]),
    ]
}
