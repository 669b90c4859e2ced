//! Tests of how data sets are divided into cache blocks: another division of the same graphs finds most of them again.

use common::batches::bits_of_graph;
use fiedler::Context;
use fiedler::cache::Cache;
use fiedler::encode::{Encoding, SpectralEncoder};
use fiedler::graph::{GraphBatch, molecules};
use std::collections::HashSet;
use std::fs::read_dir;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const GRAPHS: usize = 20_000;

fn files(folder: &Path) -> HashSet<PathBuf> {
    read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// Divides `count` graphs into consecutive parts.
fn parts(count: usize) -> Vec<Vec<usize>> {
    (0..count).map(|i| (i * GRAPHS / count..(i + 1) * GRAPHS / count).collect()).collect()
}

/// Encodes the parts of `graphs` with a cache, which finds at least `least` of the first [`GRAPHS`] graphs. The result
/// is that without a cache.
fn found(encoder: &SpectralEncoder, graphs: &GraphBatch, plain: &Encoding, parts: &[Vec<usize>], what: &str) {
    let ctx = Context::cpu();
    let mut stored = 0;
    for part in parts {
        let (encoding, report) = encoder.encode_with(&ctx, &graphs.select(part), |_| ()).unwrap();
        for (place, &i) in part.iter().enumerate() {
            assert_eq!(bits_of_graph(&encoding, place), bits_of_graph(plain, i), "{what}: graph {i}");
        }
        stored += report.stored;
    }
    println!("{what}: {stored} of {GRAPHS} graphs");
    assert!(stored * 10 >= GRAPHS * 9, "{what}: {stored} graphs");
}

#[test]
fn most_graphs_are_found_however_the_data_set_is_divided() {
    let folder = tempfile::tempdir().unwrap();
    // The graphs from `GRAPHS` on are new ones, 1 % of all.
    let graphs = molecules(GRAPHS + GRAPHS / 100, 5).unwrap();
    let encoder = SpectralEncoder::new(4).walk_steps(2).by_graph();
    let plain = encoder.encode(&Context::cpu(), &graphs).unwrap();
    let encoder = encoder.cache(Arc::new(Cache::new().disk(folder.path(), u64::MAX)));
    let old = graphs.select(&(0..GRAPHS).collect::<Vec<_>>());
    assert_eq!(encoder.encode_with(&Context::cpu(), &old, |_| ()).unwrap().1.stored, 0);
    let whole = files(folder.path());
    let reversed: Vec<usize> = parts(7).into_iter().rev().flatten().collect();
    // A run of new graphs in the middle of each of seven parts.
    let mut new = GRAPHS..graphs.len();
    let mut grown: Vec<usize> = Vec::new();
    for part in parts(7) {
        let (before, after) = part.split_at(part.len() / 2);
        grown.extend(before.iter().copied().chain(new.by_ref().take(29)).chain(after.iter().copied()));
    }
    assert_eq!(grown.len(), graphs.len());
    for (what, parts) in [
        ("the whole", vec![(0..GRAPHS).collect()]),
        ("four parts", parts(4)),
        ("seven parts", parts(7)),
        ("seven parts, the last one first", parts(7).into_iter().rev().collect()),
        ("the last of seven parts first, as one", vec![reversed]),
        ("with new graphs", vec![grown]),
    ] {
        found(&encoder, &graphs, &plain, &parts, what);
        // What this division stored in addition is not there for the next one.
        files(folder.path()).difference(&whole).for_each(|path| std::fs::remove_file(path).unwrap());
    }
}

/// The weights of other graphs in a batch do not matter, nor does it matter whether weights of 1 are stored.
#[test]
fn a_graph_is_found_in_a_batch_with_weights() {
    use fiedler::graph::generate::{cycle, path};
    use fiedler::graph::{Conventions, Graph};
    let ctx = Context::cpu();
    let ones = Graph::from_weighted_edges(3, &[(0, 1, 1.0), (1, 2, 1.0)], &Conventions::default()).unwrap();
    let heavy = Graph::from_weighted_edges(3, &[(0, 1, 2.0), (1, 2, 1.0)], &Conventions::default()).unwrap();
    let encoder = SpectralEncoder::new(3).cache(Arc::new(Cache::new().memory(100, 1 << 20)));
    encoder.encode(&ctx, &GraphBatch::from_graphs(&[path(3).unwrap(), cycle(5).unwrap()]).unwrap()).unwrap();
    let batch = GraphBatch::from_graphs(&[cycle(5).unwrap(), heavy, ones]).unwrap();
    let (encoding, report) = encoder.encode_with(&ctx, &batch, |_| ()).unwrap();
    assert_eq!((report.stored, report.on_cpu), (2, 1));
    let plain = SpectralEncoder::new(3).encode(&ctx, &batch).unwrap();
    (0..3).for_each(|i| assert_eq!(bits_of_graph(&encoding, i), bits_of_graph(&plain, i), "graph {i}"));
}
