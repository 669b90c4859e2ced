//! The unrolled shaders equal the output of tools/unroll, and rotate every pair of columns.

#[path = "../../tools/unroll/files/mod.rs"]
mod files;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn the_unrolled_shaders_are_those_that_the_tool_writes() {
    let shaders = common::root().join("shaders");
    let all = files::all();
    for (name, text) in &all {
        let found = fs::read_to_string(shaders.join(name)).unwrap_or_else(|e| panic!("shaders/{name}: {e}"));
        let line = found.lines().zip(text.lines()).position(|(a, b)| a != b).map_or(0, |line| line + 1);
        assert!(
            found == *text,
            "shaders/{name} is not what is written, from line {line} on; `cargo run --example unroll` writes it anew"
        );
    }
    // There are no other files.
    let entries = |folder: &Path| -> Vec<PathBuf> {
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
    };
    let found: BTreeSet<PathBuf> =
        entries(&shaders.join("generated")).iter().flat_map(|family| entries(family)).collect();
    assert_eq!(found, all.iter().map(|(name, _)| shaders.join(name)).collect());
}

#[test]
fn every_pair_is_rotated_once() {
    for n in 2..=9 {
        let rounds = files::wgsl::rounds(n);
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

/// Simulates the ring of shaders/shared/ring.wgsl. In every sweep, each pair of columns meets, and the columns are at
/// the positions that `columns_at` gives.
#[test]
fn every_pair_meets_in_the_ring() {
    for pairs in 1..=64_usize {
        let players = 2 * pairs;
        let stand = |s: usize| -> Vec<[usize; 2]> {
            let y = |place: usize| s + if place == 0 { pairs } else { place };
            (0..pairs).map(|place| [(s + players - place) % players, y(place) % players]).collect()
        };
        let mut places = stand(0);
        for sweep in 1..=3 {
            let mut met = vec![false; players * players];
            let mut meet = |places: &[[usize; 2]]| {
                for &[x, y] in places {
                    (met[x * players + y], met[y * players + x]) = (true, true);
                }
            };
            for _ in 0..pairs {
                meet(&places);
                let y: Vec<usize> = places.iter().map(|pair| pair[1]).collect();
                (0..pairs).for_each(|place| places[place][1] = y[(place + 1) % pairs]);
                meet(&places);
                let x: Vec<usize> = places.iter().map(|pair| pair[0]).collect();
                (0..pairs).for_each(|place| places[place][0] = x[(place + pairs - 1) % pairs]);
                places[0].reverse();
            }
            assert!(
                (0..players * players).all(|k| met[k] == (k / players != k % players)),
                "{pairs} pairs, sweep {sweep}"
            );
            assert_eq!(places, stand(sweep % 2 * pairs), "{pairs} pairs, sweep {sweep}");
        }
    }
}
