//! Divides a data set into cache blocks, and computes the key of each block.
//!
//! A *cache block* is a run of consecutive graphs whose encodings are stored under one key. The content of the graphs
//! decides where a block ends, as in content-defined chunking (Muthitacharoen, Chen and Mazieres, A Low-Bandwidth
//! Network File System, 2001): a block ends after a graph whose hash is below a threshold, which is proportional to
//! the work for the graph. Another division of the same data set, or a data set to which graphs were added, therefore
//! has the same blocks, except where the order of the graphs changed. If 20,000 molecules are stored, 98 % of them are
//! found again in seven parts of the data set, and 97 % if runs of new graphs, 1 % of all, are inserted at seven places
//! (`tests/host/cache_blocks.rs`). New graphs that are scattered one by one cost more: with each of them, a block of
//! about 90 molecules is lost.
//!
//! The division depends only on the settings and the graphs, and not on the memory budget or on time.

use super::settings::Settings;
use crate::array::Real;
use crate::cache::{Key, KeyHasher};
use crate::context::Context;
use crate::graph::{Conventions, GraphBatch, WeightsRef};
use crate::lanes::width;
use crate::parallel;
use crate::policy::Side;
use crate::shape::to_u32;
use std::ops::Range;

/// The version of the numerical results. A change that may alter any bit of an encoding requires a new number.
pub(super) const NUMERICS: u64 = 21;
/// A description of the meaning and the layout of the stored values.
const DOMAIN: &str = "fiedler 2026-11-26 spectral encodings of a run of graphs, native byte order";
/// A description of the content of a graph's hash.
const GRAPH: &str = "fiedler 2026-11-26 degrees, neighbors and weights of a graph, native byte order";
/// The maximum sum of [`work`] over the graphs of a block; a quarter of it is the average. The average corresponds to
/// about 15 ms on one core (9 n^3 flop at the 2e10 flop/s of `policy::Rates`).
const BLOCK_WORK: u64 = 1 << 27;
/// The maximum number of nodes in a block; a quarter of it is the average. At k = 8, the encoding of an average block
/// takes about 40 KiB. Larger blocks are read faster, but more graphs are lost wherever the order changes.
const BLOCK_NODES: u64 = 1 << 12;
/// A block ends at a hash only if it has at least one `FEWEST`th of either maximum. Otherwise, a small graph that
/// occurs again and again, and whose hash is below the threshold, would end a block at each occurrence.
const FEWEST: u64 = 32;
/// The number of consecutive graphs that a thread hashes at a time, so that handing them out costs little.
const HASHED_TOGETHER: usize = 16;

/// A run of consecutive graphs and the key under which their encoding is stored.
pub(super) struct CacheBlock {
    pub(super) graphs: Range<usize>,
    pub(super) key: Key,
}

/// The side and the method by which a graph is solved. Both affect the bits of its encoding.
#[derive(Clone, Copy)]
pub(super) struct Route {
    pub(super) side: Side,
    pub(super) sparse: bool,
}

/// Returns the work for a graph. The unit is chosen so that the work of the dense method is n^3 for n nodes. The
/// division into blocks is based on the work, so the work must depend only on the settings and the graph. The estimate
/// for an iteration is about a hundred products with a block of 2 k columns.
pub(super) fn work(settings: &Settings, graphs: &GraphBatch, graph: usize, sparse: bool) -> u64 {
    let (nodes, entries) = extent(graphs, graph);
    let (nodes, entries) = (nodes.len() as u64, entries.len() as u64);
    if sparse {
        (settings.k as u64).saturating_add(8).saturating_mul(64).saturating_mul(nodes + entries)
    } else {
        nodes.saturating_mul(nodes).saturating_mul(nodes)
    }
}

/// Divides the graphs into blocks of the encodings in the precision `T`. If `one_by_one` is true, each graph is a
/// separate block.
pub(super) fn blocks<T: Real>(
    settings: &Settings,
    ctx: &Context,
    graphs: &GraphBatch,
    routes: &[Route],
    one_by_one: bool,
) -> Vec<CacheBlock> {
    let hasher = KeyHasher::new(GRAPH);
    let hash = |graph: usize| hash(&hasher, graphs, graph);
    let hashes = ctx.install(|| parallel::map_runs(graphs.len(), HASHED_TOGETHER, hash));
    let runs = if one_by_one {
        (0..graphs.len()).map(|graph| graph..graph + 1).collect()
    } else {
        runs(graphs, &hashes, |graph| work(settings, graphs, graph, routes[graph].sparse))
    };
    let common = common_part::<T>(settings, graphs.conventions());
    // Results may differ between adapters, and between the kernel forms that are allowed on an adapter.
    let adapter = ctx.adapter().map(|adapter| format!("{adapter:?}")).unwrap_or_default();
    let of_run = |graphs: Range<usize>| {
        let mut key = common.clone();
        key.bytes(&hashes[graphs.clone()].iter().flat_map(|hash| *hash.as_bytes()).collect::<Vec<u8>>());
        let routes = &routes[graphs.clone()];
        key.bytes(&routes.iter().flat_map(|route| [route.side as u8, route.sparse.into()]).collect::<Vec<u8>>());
        key.bytes(if routes.iter().any(|route| route.side == Side::Gpu) { adapter.as_bytes() } else { &[] });
        CacheBlock { graphs, key: key.finish() }
    };
    runs.into_iter().map(of_run).collect()
}

/// Returns the ranges of the nodes and of the entries of a graph in its batch.
fn extent(graphs: &GraphBatch, graph: usize) -> (Range<usize>, Range<usize>) {
    let nodes = graphs.node_offsets()[graph]..graphs.node_offsets()[graph + 1];
    (nodes.clone(), graphs.row_offsets()[nodes.start]..graphs.row_offsets()[nodes.end])
}

/// Returns the hash of a graph, which does not depend on the other graphs of its batch: weights that are all 1 have the
/// same hash as no weights, weights that are all f32 have the same hash beside others that are not, and flows that are
/// all 0 are those of an undirected graph.
fn hash(hasher: &KeyHasher, graphs: &GraphBatch, graph: usize) -> Key {
    let mut key = hasher.clone();
    let (nodes, entries) = extent(graphs, graph);
    let offsets = &graphs.row_offsets()[nodes.start..=nodes.end];
    let degrees: Vec<u32> = offsets.windows(2).map(|pair| to_u32(pair[1] - pair[0])).collect();
    key.bytes(bytemuck::cast_slice(&degrees));
    key.bytes(bytemuck::cast_slice(&graphs.columns()[entries]));
    match graphs.graph(graph).all_weights().filter(|weights| !weights.are_ones()) {
        None => key.bytes(&[]),
        Some(weights @ WeightsRef::F64(wide)) if !weights.are_exact() => key.bytes(bytemuck::cast_slice(wide)),
        Some(weights) => key.bytes(bytemuck::cast_slice(&weights.in_f32())),
    };
    if let Some(flows) = graphs.graph(graph).all_flows() {
        key.bytes(bytemuck::cast_slice(flows));
    }
    key.finish()
}

/// Returns whether a block ends after a graph with the given hash, work and number of nodes. The hash is a random
/// number that is the same wherever the graph occurs, so this is the case with the probability
/// `work / (BLOCK_WORK / 4)` or `nodes / (BLOCK_NODES / 4)`, whichever is larger.
fn is_end(hash: &Key, work: u64, nodes: u64) -> bool {
    let [drawn, ..] = bytemuck::cast::<[u8; 32], [u64; 4]>(*hash.as_bytes());
    // Both sides are multiplied by 2^64.
    let is_below = |part: u64, average: u64| u128::from(drawn) * u128::from(average) < u128::from(part) << 64;
    is_below(work, BLOCK_WORK / 4) || is_below(nodes, BLOCK_NODES / 4)
}

/// Divides the graphs into runs, one for each block. A run ends before it would exceed [`BLOCK_WORK`] or
/// [`BLOCK_NODES`]; a single graph that exceeds either limit is a separate run.
fn runs(graphs: &GraphBatch, hashes: &[Key], work: impl Fn(usize) -> u64) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let (mut sum, mut nodes, mut ended) = (0_u64, 0_u64, true);
    for (graph, hash) in hashes.iter().enumerate() {
        let (own, order) = (work(graph), extent(graphs, graph).0.len() as u64);
        (sum, nodes) = (sum.saturating_add(own), nodes + order);
        match runs.last_mut() {
            Some(run) if !ended && sum <= BLOCK_WORK && nodes <= BLOCK_NODES => run.end = graph + 1,
            _ => {
                runs.push(graph..graph + 1);
                (sum, nodes) = (own, order);
            }
        }
        let is_long = sum >= BLOCK_WORK / FEWEST || nodes >= BLOCK_NODES / FEWEST;
        ended = is_long && is_end(hash, own, order);
    }
    runs
}

/// Returns the hasher with the part of the key that all blocks share. The patterns name every field, so that the
/// compiler reports a new field.
fn common_part<T: Real>(settings: &Settings, conventions: Conventions) -> KeyHasher {
    // Neither the method nor how sides are chosen is included, because the routes determine how each graph is solved.
    let Settings { k, normalization, charge, which, drop_trivial, walk_steps, method: _, by_graph: _, first_graph: _ } =
        *settings;
    // The other conventions affect only how the graph is built, so the rows of the graph reflect them, its negative
    // weights and its flows.
    let Conventions {
        degree,
        isolated,
        zero_degree_scale,
        symmetrization: _,
        self_loops: _,
        duplicates: _,
        signed: _,
        flows: _,
    } = conventions;
    let mut key = KeyHasher::new(DOMAIN);
    key.number(NUMERICS).bytes(env!("CARGO_PKG_VERSION").as_bytes());
    // Several machines may share a cache folder. The width of SIMD vectors determines whether products use fused
    // multiply-add.
    key.number(width::<f64>() as u64)
        .bytes(std::env::consts::ARCH.as_bytes())
        .number(u64::from(cfg!(target_endian = "big")));
    key.number(k as u64).number(normalization as u64).number(which as u64);
    key.bytes(T::NAME.as_bytes());
    key.number(drop_trivial.into()).number(walk_steps as u64);
    key.number(degree as u64).number(isolated as u64).number(zero_degree_scale as u64);
    if let Some(charge) = charge {
        key.bytes(b"charge").number(charge.to_bits());
    }
    key
}

#[cfg(test)]
mod tests {
    use super::{BLOCK_NODES, BLOCK_WORK, FEWEST, GRAPH, hash, runs};
    use crate::cache::{Key, KeyHasher};
    use crate::graph::generate::{cycle, path};
    use crate::graph::{Conventions, Graph, GraphBatch, WeightsRef, molecules};
    use std::ops::Range;

    fn hashes(graphs: &GraphBatch) -> Vec<Key> {
        (0..graphs.len()).map(|graph| hash(&KeyHasher::new(GRAPH), graphs, graph)).collect()
    }

    fn cubes(graphs: &GraphBatch) -> Vec<Range<usize>> {
        let work = |graph: usize| (graphs.graph(graph).nodes() as u64).pow(3);
        runs(graphs, &hashes(graphs), work)
    }

    #[test]
    fn a_hash_is_that_of_the_graph_alone() {
        let weighted = |weight: f64| Graph::from_weighted_edges(3, &[(0, 1, weight)], &Conventions::default()).unwrap();
        let plain = Graph::from_edges(3, &[(0, 1)], &Conventions::default()).unwrap();
        let other = Graph::from_edges(3, &[(1, 2)], &Conventions::default()).unwrap();
        let more = Graph::from_edges(4, &[(0, 1)], &Conventions::default()).unwrap();
        let graphs = [weighted(2.0), plain.clone(), weighted(1.0), other, more, weighted(2.0 + f64::EPSILON * 2.0)];
        let batch = GraphBatch::from_graphs(&graphs).unwrap();
        assert!(matches!(batch.weights(), Some(WeightsRef::F64(_))));
        let all = hashes(&batch);
        assert_eq!(all[1..3], [hashes(&plain.into())[0]; 2]);
        assert_eq!(all[0], hashes(&weighted(2.0).into())[0]);
        let different = [all[0], all[1], all[3], all[4], all[5]];
        (0..5).for_each(|i| (0..i).for_each(|j| assert_ne!(different[i], different[j], "{i} and {j}")));
    }

    #[test]
    fn blocks_have_about_a_quarter_of_the_limits() {
        let graphs = molecules(20_000, 3).unwrap();
        let all = cubes(&graphs);
        let mean = graphs.nodes() / all.len();
        let (least, most) = (BLOCK_NODES / FEWEST, BLOCK_NODES);
        // The smallest size of a block adds an eighth to the average, and the largest takes away a little.
        assert!((950..1300).contains(&mean), "{mean}");
        for run in &all[..all.len() - 1] {
            let nodes = (graphs.node_offsets()[run.end] - graphs.node_offsets()[run.start]) as u64;
            assert!((least..=most).contains(&nodes), "{nodes} nodes");
        }
        // Every graph is in one block, in order.
        assert_eq!(all.iter().map(ExactSizeIterator::len).sum::<usize>(), graphs.len());
        assert!(all.windows(2).all(|pair| pair[0].end == pair[1].start));
        // Only three hashes occur here, so it may be that no block ends at a hash. Then the limits end them.
        let larger: Vec<Graph> = (0..400).map(|i| path(160 + i % 3).unwrap()).collect();
        let larger = GraphBatch::from_graphs(&larger).unwrap();
        assert!(cubes(&larger).iter().all(|run| run.len() <= 25), "26 of them exceed the limit");
        let work = 160_u64.pow(3);
        let by_work = runs(&larger, &hashes(&larger), |_| 100 * work);
        assert!(100 * work > BLOCK_WORK && by_work.iter().all(|run| run.len() == 1));
    }

    /// The threshold of every hash is reached by some graph, also if only a few graphs occur.
    #[test]
    fn a_graph_that_occurs_again_and_again_does_not_end_every_block() {
        let ends = |n: usize| {
            let graphs = GraphBatch::from_graphs(&vec![cycle(n).unwrap(); 2000]).unwrap();
            cubes(&graphs).len()
        };
        for n in 3..64 {
            let least = (BLOCK_NODES / FEWEST) as usize;
            assert!(ends(n) <= 2000 / least.div_ceil(n) + 1, "cycle of {n}: {} blocks", ends(n));
        }
        // At least one of these hashes is below its threshold, so the bound above is not that of the limit alone.
        assert!((3..64).any(|n| ends(n) > 2 * 2000 * n / BLOCK_NODES as usize + 2));
    }
}
