//! Kernels in registers: WGSL has no way to unroll a loop, and an array with a running index is no register. Their text is written by
//! the programs in tests/unroll and checked in; here it is compared with what they would write.

#[path = "unroll/tiny.rs"]
mod tiny;
#[path = "common/wgsl.rs"]
mod wgsl;

use std::fs;
use std::path::Path;

/// Every unrolled file, by its path below `shaders`.
fn all() -> Vec<(String, String)> {
    tiny::ORDERS.iter().map(|&n| (format!("eigen/tiny_{n}.wgsl"), tiny::file(n))).collect()
}

#[test]
fn the_unrolled_shaders_are_what_is_written_here() {
    let shaders = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let write = std::env::var_os("FIEDLER_WRITE").is_some();
    for (name, text) in all() {
        let path = shaders.join(&name);
        if write {
            fs::write(&path, &text).unwrap_or_else(|e| panic!("shaders/{name}: {e}"));
        }
        let found = fs::read_to_string(&path).unwrap_or_else(|e| panic!("shaders/{name}: {e}"));
        let line = found.lines().zip(text.lines()).position(|(a, b)| a != b).map_or(0, |line| line + 1);
        assert!(
            found == text,
            "shaders/{name} is not what is written, from line {line} on; FIEDLER_WRITE=1 writes it anew"
        );
    }
}

#[test]
fn every_pair_plays_once() {
    for n in 2..=9 {
        let rounds = wgsl::rounds(n);
        let mut pairs = rounds.concat();
        pairs.sort_unstable();
        let every: Vec<_> = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).collect();
        assert_eq!(pairs, every, "n = {n}");
        for round in rounds {
            let mut players: Vec<_> = round.iter().flat_map(|&(i, j)| [i, j]).collect();
            players.sort_unstable();
            players.dedup();
            assert_eq!(players.len(), 2 * round.len(), "n = {n}: disjoint pairs");
        }
    }
}
