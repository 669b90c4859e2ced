//! Tests of stored results: the keys that find them, the bounds on their size, and that only correct bytes are ever
//! returned.

use fiedler::cache::{Cache, Key, KeyHasher, Value};
use fiedler::encode::{Encoding, Method, SpectralEncoder, Which};
use fiedler::graph::generate::{cycle, path, preferential_attachment};
use fiedler::graph::{Conventions, Graph, GraphBatch, IsolatedDiagonal, SelfLoops, molecules};
use fiedler::ops::Normalization;
use fiedler::{Context, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

fn key(number: u64) -> Key {
    KeyHasher::new("tests").number(number).finish()
}

fn value(number: u64, length: usize) -> Value {
    (0..length).map(|i| (number as usize * 31 + i * i) as u8).collect()
}

/// The number of bytes of a file in addition to its value.
const HEADER: u64 = 84;

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn parts_of_keys_are_separated() {
    let of = |domain: &str, parts: &[&[u8]]| {
        let mut hasher = KeyHasher::new(domain);
        parts.iter().for_each(|part| _ = hasher.bytes(part));
        hasher.finish()
    };
    let all = [
        of("a", &[]),
        of("b", &[]),
        of("a", &[b""]),
        of("a", &[b"", b""]),
        of("a", &[b"xy"]),
        of("a", &[b"x", b"y"]),
        of("a", &[b"", b"xy"]),
        of("a", &[b"yx"]),
    ];
    for (i, one) in all.iter().enumerate() {
        assert!(all[..i].iter().all(|other| other != one), "{i}");
    }
    assert_eq!(of("a", &[b"x"]).to_string(), of("a", &[b"x"]).to_string());
    assert_eq!(of("a", &[]).to_string().len(), 64);
}

fn of(edges: &[(u32, u32)], conventions: &Conventions) -> GraphBatch {
    Graph::from_edges(5, edges, conventions).unwrap().into()
}

#[test]
fn everything_that_changes_a_result_is_in_the_key() {
    let cache = Arc::new(Cache::new().memory(1000, 1 << 30));
    let ctx = Context::cpu();
    let isolated = Conventions { isolated: IsolatedDiagonal::One, ..Conventions::default() };
    let plain: GraphBatch = of(&[(0, 1), (1, 2), (2, 3)], &Conventions::default());
    let weighted = |weight| {
        let edges = [(0, 1, 1.0), (1, 2, weight), (2, 3, 1.0)];
        GraphBatch::from(Graph::from_weighted_edges(5, &edges, &Conventions::default()).unwrap())
    };
    let new = |k| SpectralEncoder::new(k).cache(Arc::clone(&cache));
    let calls: Vec<(&str, SpectralEncoder, GraphBatch)> = vec![
        ("as it is", new(3), plain.clone()),
        ("k", new(4), plain.clone()),
        ("combinatorial", new(3).laplacian(Normalization::Combinatorial), plain.clone()),
        ("random walk", new(3).laplacian(Normalization::RandomWalk), plain.clone()),
        ("largest", new(3).which(Which::Largest), plain.clone()),
        ("drop trivial", new(3).drop_trivial(true), plain.clone()),
        ("walk steps", new(3).walk_steps(2), plain.clone()),
        ("more walk steps", new(3).walk_steps(3), plain.clone()),
        ("fast", new(3).method(Method::Fast), plain.clone()),
        ("another edge", new(3), of(&[(0, 1), (1, 2), (2, 4)], &Conventions::default())),
        ("one edge more", new(3), of(&[(0, 1), (1, 2), (2, 3), (0, 2)], &Conventions::default())),
        ("isolated", new(3), of(&[(0, 1), (1, 2), (2, 3)], &isolated)),
        (
            "a node more",
            new(3),
            Graph::from_edges(6, &[(0, 1), (1, 2), (2, 3)], &Conventions::default()).unwrap().into(),
        ),
        ("a weight", new(3), weighted(2.0)),
        ("another weight", new(3), weighted(2.0 + 2.0 * f32::EPSILON)),
    ];
    for (place, (what, encoder, graphs)) in calls.iter().enumerate() {
        encoder.encode(&ctx, graphs).unwrap();
        assert_eq!(cache.counters().misses, place as u64 + 1, "{what} is not in the key");
    }
    for (what, encoder, graphs) in &calls {
        let hits = cache.counters().hits();
        let found = encoder.encode(&ctx, graphs).unwrap();
        assert_eq!(cache.counters().hits(), hits + 1, "{what} is not found");
        let fresh = without(encoder, what).encode(&ctx, graphs).unwrap();
        assert_eq!(all_bits(&found), all_bits(&fresh), "{what}");
    }
    // The key does not contain the conventions that are already applied when the graph is made. So the same graph
    // is found, at any position in a batch.
    let loops = Conventions { self_loops: SelfLoops::Keep, ..Conventions::default() };
    new(3).encode(&ctx, &of(&[(0, 1), (1, 2), (2, 3)], &loops)).unwrap();
    let batch = GraphBatch::from_graphs(&[
        cycle(7).unwrap(),
        Graph::from_edges(5, &[(0, 1), (1, 2), (2, 3)], &Conventions::default()).unwrap(),
    ]);
    let (_, report) = new(3).encode_with(&ctx, &batch.unwrap(), |_| ()).unwrap();
    assert_eq!((report.stored, report.on_cpu), (1, 1));
    assert_eq!(cache.counters().misses, calls.len() as u64 + 1);
}

/// Returns the encoder for the named case, without a cache.
fn without(_: &SpectralEncoder, what: &str) -> SpectralEncoder {
    let new = SpectralEncoder::new(3);
    match what {
        "k" => SpectralEncoder::new(4),
        "combinatorial" => new.laplacian(Normalization::Combinatorial),
        "random walk" => new.laplacian(Normalization::RandomWalk),
        "largest" => new.which(Which::Largest),
        "drop trivial" => new.drop_trivial(true),
        "walk steps" => new.walk_steps(2),
        "more walk steps" => new.walk_steps(3),
        "fast" => new.method(Method::Fast),
        _ => new,
    }
}

fn all_bits(e: &Encoding) -> (Vec<u32>, Vec<u8>, Vec<i64>) {
    let floats = [&e.eigenvalues, &e.eigenvectors, &e.residual, &e.orthogonality, &e.random_walk];
    let bits = floats.into_iter().flatten().map(|x| x.to_bits()).collect();
    (bits, [&e.status[..], &e.mask].concat(), [&e.components[..], &e.tie_group, &e.node_offsets].concat())
}

#[test]
fn memory_is_bounded_and_the_least_recently_used_go_first() {
    let cache = Cache::new().memory(3, 1000);
    (0..3).for_each(|i| cache.put(key(i), &value(i, 100)));
    assert_eq!(cache.get(&key(0)), Some(value(0, 100)));
    cache.put(key(3), &value(3, 100));
    // Entry 1 is the least recently used.
    let there: Vec<bool> = (0..4).map(|i| cache.get(&key(i)).is_some()).collect();
    assert_eq!(there, [true, false, true, true]);
    let counters = cache.counters();
    assert_eq!((counters.entries, counters.bytes, counters.evictions), (3, 300, 1));
    assert_eq!((counters.memory_hits, counters.disk_hits, counters.misses), (4, 0, 1));
    // Eviction by bytes: 850 bytes leave room for one entry of 100.
    cache.put(key(9), &value(9, 850));
    assert_eq!((cache.counters().bytes, cache.counters().entries, cache.counters().evictions), (950, 2, 3));
    assert!(cache.get(&key(3)).is_some() && cache.get(&key(2)).is_none());
    // If a key is put again, the new value replaces the old one. A value that exceeds the bound even alone is not
    // stored, and evicts nothing.
    cache.put(key(3), &value(30, 50));
    assert_eq!((cache.get(&key(3)), cache.counters().bytes), (Some(value(30, 50)), 900));
    cache.put(key(10), &value(10, 1001));
    assert!(cache.get(&key(10)).is_none() && cache.counters().entries == 2);
    cache.put(key(11), &value(11, 1000));
    assert_eq!((cache.counters().bytes, cache.counters().entries), (1000, 1));
    cache.put(key(12), &value(12, 0));
    assert_eq!((cache.counters().entries, cache.get(&key(12))), (2, Some(value(12, 0))));
    cache.clear();
    assert!(cache.get(&key(11)).is_none() && (cache.counters().bytes, cache.counters().entries) == (0, 0));
    let none = Cache::new();
    none.put(key(1), &value(1, 1));
    assert!(none.get(&key(1)).is_none());
}

#[test]
fn clear_every_forgets_after_that_many_calls() {
    let cache = Arc::new(Cache::new().memory(1000, 1 << 20).clear_every(3));
    let (ctx, graphs) = (Context::cpu(), molecules(10, 1).unwrap());
    let encoder = SpectralEncoder::new(2).cache(Arc::clone(&cache));
    let mut stored = Vec::new();
    for _ in 0..8 {
        stored.push(encoder.encode_with(&ctx, &graphs, |_| ()).unwrap().1.stored);
    }
    assert_eq!(stored, [0, 10, 10, 0, 10, 10, 0, 10]);
}

#[test]
fn a_damaged_file_is_dropped() {
    let folder = TempDir::new().unwrap();
    let (own, other) = (value(1, 150), value(2, 150));
    let whole = |key: &Key, value: &Value| {
        let cache = Cache::new().disk(folder.path(), u64::MAX);
        cache.put(*key, value);
        let path = folder.path().join(format!("{key}.entry"));
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len() as u64, HEADER + value.len() as u64);
        (path, bytes)
    };
    let (path, bytes) = whole(&key(1), &own);
    let (_, foreign_key) = whole(&key(2), &other);
    let mut broken: Vec<(String, Vec<u8>)> = Vec::new();
    // Damages every byte of a file (magic, version, key, length, hash and value), cuts the file to every length,
    // and tries files that are not entries of a cache.
    for place in 0..bytes.len() {
        for flip in [1, 0x80] {
            let mut bytes = bytes.clone();
            bytes[place] ^= flip;
            broken.push((format!("byte {place} ^ {flip:#x}"), bytes));
        }
        broken.push((format!("cut to {place} bytes"), bytes[..place].to_vec()));
    }
    broken.push(("a byte more".into(), [&bytes[..], b"x"].concat()));
    broken.push(("twice".into(), [&bytes[..], &bytes].concat()));
    broken.push(("another key's".into(), foreign_key));
    broken.push(("text".into(), b"not a cache file\n".repeat(40)));
    let mut length = bytes.clone();
    length[44..52].copy_from_slice(&u64::MAX.to_le_bytes());
    broken.push(("a length of 2^64 - 1".into(), length));
    for (what, content) in broken {
        std::fs::write(&path, content).unwrap();
        let cache = Cache::new().disk(folder.path(), u64::MAX);
        assert_eq!(cache.get(&key(1)), None, "{what}");
        let counters = cache.counters();
        assert_eq!((counters.damaged, counters.misses, counters.refused), (1, 1, 0), "{what}");
        assert!(!path.exists(), "{what} is still there");
        cache.put(key(1), &own);
        assert_eq!(cache.get(&key(1)), Some(own.clone()), "{what}");
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "{what}");
    }
    // A folder takes the place of the entry's file. It cannot be read as a file, removed or replaced. This is
    // reported and counted, and has no other effect.
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    let cache = Cache::new().disk(folder.path(), u64::MAX);
    assert_eq!(cache.get(&key(1)), None);
    cache.put(key(1), &own);
    assert_eq!((cache.counters().damaged, cache.counters().refused, cache.counters().misses), (0, 2, 1));
}

#[test]
fn an_encoding_from_damaged_files_is_the_right_one() {
    let folder = TempDir::new().unwrap();
    let ctx = Context::cpu();
    // Each of the ten graphs of 400 nodes is a cache block, because the cube of its order exceeds the average of a
    // block.
    let graphs: Vec<Graph> = (0..10).map(|seed| preferential_attachment(400, 2, seed).unwrap()).collect();
    let graphs = GraphBatch::from_graphs(&graphs).unwrap();
    let fresh = all_bits(&SpectralEncoder::new(3).method(Method::Exact).walk_steps(2).encode(&ctx, &graphs).unwrap());
    let encode = |graphs: &GraphBatch| {
        let cache = Arc::new(Cache::new().disk(folder.path(), 1 << 30));
        let encoder = SpectralEncoder::new(3).method(Method::Exact).walk_steps(2).cache(Arc::clone(&cache));
        let (encoding, report) = encoder.encode_with(&ctx, graphs, |_| ()).unwrap();
        (all_bits(&encoding), report.stored, cache.counters())
    };
    assert_eq!(encode(&graphs).0, fresh);
    let whole = files(folder.path());
    assert_eq!(whole.len(), 10);
    let (bits, stored, counters) = encode(&graphs);
    assert_eq!((bits, stored, counters.disk_hits), (fresh.clone(), 10, 10));
    // One file has a flipped bit, one is cut, and one is removed, so seven cache blocks of ten are found.
    let mut bytes = std::fs::read(&whole[0]).unwrap();
    bytes[2000] ^= 4;
    std::fs::write(&whole[0], &bytes).unwrap();
    std::fs::write(&whole[2], &bytes[..bytes.len() / 2]).unwrap();
    std::fs::remove_file(&whole[3]).unwrap();
    let (bits, stored, counters) = encode(&graphs);
    assert_eq!((bits, stored, counters.damaged, counters.misses), (fresh.clone(), 7, 2, 3));
    assert_eq!(encode(&graphs).1, 10);
    // A data set that grows keeps its cache blocks, and the block of a graph is found wherever the graph is.
    let grown: Vec<usize> = [3].into_iter().chain(0..10).collect();
    assert_eq!(encode(&graphs.select(&grown)).1, 11);
}

/// The bits of the results of graphs that are iterated depend on those graphs alone, too.
#[test]
fn partly_stored_large_graphs_have_the_same_results() {
    let ctx = Context::cpu();
    let graphs: Vec<Graph> = (0..6).map(|seed| preferential_attachment(700, 2, seed).unwrap()).collect();
    let graphs = GraphBatch::from_graphs(&graphs).unwrap();
    let whole = SpectralEncoder::new(4).encode(&ctx, &graphs).unwrap();
    let encoder = SpectralEncoder::new(4).cache(Arc::new(Cache::new().memory(100, 1 << 30)));
    encoder.encode(&ctx, &graphs.select(&[5, 0, 3])).unwrap();
    let (again, report) = encoder.encode_with(&ctx, &graphs, |_| ()).unwrap();
    assert!(report.stored == 3 && all_bits(&again) == all_bits(&whole), "{report:?}");
}

#[test]
fn the_disk_is_bounded_and_the_least_recently_used_go_first() {
    let folder = TempDir::new().unwrap();
    // The folder has room for ten files. An eviction removes files until seven eighths of this size are left.
    let size = 1000 + HEADER;
    let cache = Cache::new().disk(folder.path(), 10 * size);
    let stranger = folder.path().join("notes.txt");
    std::fs::write(&stranger, vec![0; 50_000]).unwrap();
    let (fresh, old) = (folder.path().join(".fiedler-a.tmp"), folder.path().join(".fiedler-b.tmp"));
    for (path, age) in [(&fresh, 60), (&old, 7200)] {
        let file = std::fs::File::create(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    }
    // The ages are a minute apart, so that the resolution of clocks does not matter.
    let age = |i: u64, minutes: u64| {
        let path = folder.path().join(format!("{}.entry", key(i)));
        let file = std::fs::File::options().append(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(60 * minutes)).unwrap();
    };
    for i in 0..10 {
        cache.put(key(i), &value(i, 1000));
        age(i, 100 - i);
    }
    assert_eq!(cache.counters().evictions, 0);
    assert!(fresh.exists() && !old.exists() && stranger.exists());
    // Entry 0 is used again, so entries 1 and 2 are then the oldest.
    assert!(cache.get(&key(0)).is_some());
    cache.put(key(10), &value(10, 1000));
    assert_eq!(cache.counters().evictions, 3);
    let there: Vec<bool> = (0..11).map(|i| cache.get(&key(i)).is_some()).collect();
    assert_eq!(there, [true, false, false, false, true, true, true, true, true, true, true]);
    // Several caches may write to one folder. However many entries they write, the folder stays within the bound,
    // because each cache lists the folder from time to time.
    let second = Cache::new().disk(folder.path(), 10 * size);
    for i in 0..200 {
        second.put(key(100 + i), &value(i, 1000));
        let bytes: u64 =
            files(folder.path()).iter().filter(|p| p.extension().is_some_and(|e| e == "entry")).count() as u64 * size;
        assert!(bytes <= 10 * size, "{bytes}");
        assert!(second.get(&key(100 + i)).is_some());
    }
    cache.put(key(5000), &value(1, 10 * size as usize));
    assert!(cache.get(&key(5000)).is_none());
    cache.clear_disk().unwrap();
    assert_eq!(files(folder.path()), [stranger]);
    assert!(second.get(&key(299)).is_none());
}

#[test]
fn memory_and_disk_together() {
    let folder = TempDir::new().unwrap();
    let inner = folder.path().join("made/when/needed");
    let cache = Cache::new().memory(2, 1 << 20).disk(&inner, 1 << 20);
    assert!(cache.get(&key(1)).is_none() && !inner.exists());
    (1..4).for_each(|i| cache.put(key(i), &value(i, 10)));
    // Entry 1 was evicted from memory but is on disk; then it is in memory again.
    assert_eq!(cache.get(&key(1)), Some(value(1, 10)));
    assert_eq!(cache.get(&key(1)), Some(value(1, 10)));
    assert_eq!((cache.counters().disk_hits, cache.counters().memory_hits), (1, 1));
    cache.clear();
    assert_eq!(cache.get(&key(2)), Some(value(2, 10)));
    cache.clear_disk().unwrap();
    assert!(cache.get(&key(2)).is_none() && !inner.exists());
    // If two caches are combined, the first one is asked first. It receives a copy of an entry that only the second
    // one has.
    let (ctx, graphs) = (Context::cpu(), molecules(5, 1).unwrap());
    let all = || Arc::new(Cache::new().memory(100, 1 << 20));
    let (first, second) = (all(), all());
    SpectralEncoder::new(2).cache(second.clone()).encode(&ctx, &graphs).unwrap();
    let encoder = SpectralEncoder::new(2).cache(first.clone()).cache(second.clone());
    encoder.encode(&ctx, &graphs).unwrap();
    encoder.encode(&ctx, &graphs).unwrap();
    assert_eq!((first.counters().misses, first.counters().hits()), (5, 5));
    assert_eq!((second.counters().misses, second.counters().hits()), (5, 5));
}

/// Several threads and caches use one folder that is too small for all entries. A value is correct or absent.
#[test]
fn many_writers_and_readers_of_one_folder() {
    let folder = TempDir::new().unwrap();
    let caches: Vec<Cache> = (0..2).map(|_| Cache::new().memory(4, 1 << 20).disk(folder.path(), 40_000)).collect();
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            let cache = &caches[thread as usize % 2];
            scope.spawn(move || {
                for step in 0..400 {
                    let number = (step * 7 + thread * 13) % 23;
                    match cache.get(&key(number)) {
                        Some(found) => assert_eq!(found, value(number, 3000)),
                        None => cache.put(key(number), &value(number, 3000)),
                    }
                }
            });
        }
    });
    for counters in caches.iter().map(Cache::counters) {
        assert!(counters.hits() > 0 && counters.evictions > 0, "{counters:?}");
        assert_eq!((counters.damaged, counters.refused), (0, 0), "{counters:?}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_disables_only_the_storing() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, b"").unwrap();
    let cache = Arc::new(Cache::new().disk(file.join("below"), 1 << 20));
    let (ctx, graphs) = (Context::cpu(), molecules(1000, 1).unwrap());
    let plain = SpectralEncoder::new(2).encode(&ctx, &graphs).unwrap();
    let with = SpectralEncoder::new(2).cache(cache.clone());
    for _ in 0..2 {
        assert_eq!(all_bits(&with.encode(&ctx, &graphs).unwrap()), all_bits(&plain));
    }
    // After the first failure, writing is not tried again for every cache block.
    assert_eq!(cache.counters().refused, 1);
    assert!(cache.counters().misses >= 4, "{:?}", cache.counters());
    assert!(matches!(cache.clear_disk().unwrap_err().kind(), ErrorKind::Io { .. }));
}

/// A limit on the size of files has the effect of a full disk, because writing fails in the middle of a file. It
/// needs no privilege.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_part_of_a_file() {
    let folder = TempDir::new().unwrap();
    if let Some(folder) = std::env::var_os("FIEDLER_TEST_FULL_DISK") {
        let cache = Arc::new(Cache::new().disk(folder, 1 << 20));
        let (ctx, graphs) = (Context::cpu(), GraphBatch::from(path(300).unwrap()));
        let with = SpectralEncoder::new(40).cache(cache.clone());
        let plain = SpectralEncoder::new(40).encode(&ctx, &graphs).unwrap();
        assert_eq!(all_bits(&with.encode(&ctx, &graphs).unwrap()), all_bits(&plain));
        assert_eq!((cache.counters().refused, cache.counters().damaged), (1, 0));
        return;
    }
    // Because the signal XFSZ is ignored, a write beyond 8 blocks returns an error instead of ending the process.
    let script = r#"trap '' XFSZ; ulimit -f 8; exec "$0" --exact cache::a_full_disk_leaves_no_part_of_a_file"#;
    let mut child = std::process::Command::new("sh");
    child.args(["-c", script]).arg(std::env::current_exe().unwrap()).env("FIEDLER_TEST_FULL_DISK", folder.path());
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    assert!(files(folder.path()).is_empty(), "{:?}", files(folder.path()));
}
