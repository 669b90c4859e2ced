//! Looks up and stores encodings in caches, and finds out which graphs remain to be computed.
//!
//! A data set is divided into cache blocks (`encode::blocks`). If no cache has a disk, each graph is a separate block,
//! because training draws new batches each time.
//!
//! For PROTEINS with k = 8 on two cores with AVX-512, computing the encodings takes 64 ms (2026-11-21, median). If the
//! encodings are stored, a call takes 2.3 ms in total for 37 blocks on disk, and 2.0 ms for single graphs in memory,
//! with hashing, finding, checking and copying (2026-11-26, medians). These times are about 4 % of the time saved. A
//! file takes about 30 us: four blocks of up to 2^16 nodes took 1.3 ms.
//!
//! A key contains everything that affects any bit of an encoding. This includes the side and the method by which each
//! graph is solved. Both are chosen for the whole data set, even if parts of it are found in a cache. Therefore, a data
//! set that is partly found in a cache has the same bits as one that is computed in a single call. With
//! `SpectralEncoder::by_graph`, both depend on the graph alone, so that other data sets that contain it find it too.

use super::blocks::{CacheBlock, Route, blocks, work};
use super::encoding::Encoding;
use super::plan::Chunk;
use super::settings::Settings;
use crate::array::Real;
use crate::cache::{Cache, Value};
use crate::context::Context;
use crate::graph::GraphBatch;
use crate::policy::Side;
use std::ops::Range;
use std::sync::Arc;

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
        let mut found = 0;
        let mut calls: Vec<Call> = Vec::new();
        let mut filled = u64::MAX;
        let mut call_of = vec![usize::MAX; graphs.len()];
        let one_by_one = self.0.iter().all(|cache| cache.folder().is_none());
        for block in blocks::<T>(settings, ctx, graphs, &routes, one_by_one) {
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
        for Chunk { graphs, side, sparse, weighted, magnetic } in chunks {
            // A subset of a chunk's graphs fits the memory budget, because the whole chunk does.
            for (call, own) in parts(&graphs, &call_of) {
                calls[call].chunks.push(Chunk { graphs: own, side, sparse, weighted, magnetic });
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

/// Returns the bytes of all arrays of the encoding for a run of graphs. A cache stores these bytes in this order.
fn arrays<'a, T: Real>(encoding: &'a mut Encoding<T>, graphs: &GraphBatch, run: &Range<usize>) -> [&'a mut [u8]; 11] {
    let nodes = graphs.node_offsets()[run.start]..graphs.node_offsets()[run.end];
    let (k, steps) = (encoding.k, encoding.walk_steps);
    let of = |rows: &Range<usize>, width: usize| rows.start * width..rows.end * width;
    // One of the two arrays of eigenvectors is empty.
    let complex = if encoding.complex_eigenvectors.is_empty() { 0 } else { k };
    [
        bytemuck::cast_slice_mut(&mut encoding.eigenvalues[of(run, k)]),
        bytemuck::cast_slice_mut(&mut encoding.eigenvectors[of(&nodes, k - complex)]),
        bytemuck::cast_slice_mut(&mut encoding.complex_eigenvectors[of(&nodes, complex)]),
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
