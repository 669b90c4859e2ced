//! Generated graphs. A seed gives the same graph on every machine, because all arithmetic is in integers.
//!
//! All graphs are undirected, unweighted and without loops, under the default [`Conventions`](super::Conventions).
//! Time and memory are of the order of nodes and edges.

mod molecules;
mod random;
mod regular;

pub use molecules::molecules;
pub use random::{BlockModel, Probability, block_model, preferential_attachment, uniform};
pub use regular::{complete, cycle, grid, hypercube, path, star, torus};

use crate::error::{Error, ErrorKind, Result};
use crate::graph::Graph;

const OPERATION: &str = "generate";

/// Vigna's SplitMix64, <https://prng.di.unimi.it/splitmix64.c>.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns the stream `number` of a seed.
    fn stream(seed: u64, number: u64) -> Self {
        Self(Self(seed).next() ^ number.wrapping_mul(0xd134_2543_de82_ef95))
    }

    /// Draws a number below `bound` from the high bits. The bias, bound / 2^32, does not matter where this is used.
    fn below(&mut self, bound: u32) -> u32 {
        let high = self.next() >> 32;
        ((high * u64::from(bound)) >> 32) as u32
    }

    /// Draws a number below `bound`, each as likely as any other: Lemire, Fast Random Integer Generation in an
    /// Interval, 2019.
    #[expect(clippy::cast_possible_truncation, reason = "the low half, and a high half below the bound")]
    fn exactly_below(&mut self, bound: u32) -> u32 {
        let bound = u64::from(bound);
        loop {
            let product = u128::from(self.next()) * u128::from(bound);
            // 2^64 mod bound of the 2^64 draws are too many, and are drawn again.
            if product as u64 >= bound || product as u64 >= bound.wrapping_neg() % bound {
                return (product >> 64) as u32;
            }
        }
    }
}

/// Checks that a number of nodes is at least `least`, and converts it to the 32 bits that number nodes.
fn node_count(graph: &str, nodes: usize, least: u32) -> Result<u32> {
    let Ok(count) = u32::try_from(nodes) else {
        let (what, allowed) = (format!("nodes of a {graph}"), u64::from(u32::MAX));
        return Err(ErrorKind::Limit { what, needed: nodes as u64, allowed }.into());
    };
    if count < least {
        let what = format!("a {graph} has {least} nodes or more, found {nodes}");
        return Err(Error::domain(OPERATION, what));
    }
    Ok(count)
}

/// Reserves room for `length` elements, or returns an error if memory does not hold them.
fn room<T>(length: usize) -> Result<Vec<T>> {
    let mut room = Vec::new();
    if room.try_reserve_exact(length).is_err() {
        let needed = (length as u64).saturating_mul(size_of::<T>() as u64);
        let what = format!("bytes for {length} numbers of the graph");
        return Err(Error::domain("generate", format!("{needed} {what}: more memory than the system gives")));
    }
    Ok(room)
}

/// Builds the graph whose rows `row` appends, ascending, node after node; `entries` is their total length.
fn from_rows(nodes: u32, entries: usize, row: impl Fn(u32, &mut Vec<u32>)) -> Result<Graph> {
    let mut offsets = room(nodes as usize + 1)?;
    let mut columns = room(entries)?;
    offsets.push(0);
    for node in 0..nodes {
        row(node, &mut columns);
        offsets.push(columns.len());
    }
    Ok(Graph::from_rows(offsets, columns))
}

/// Builds the graph of distinct edges (low, high), low < high, sorted by low and then high, or by high and then low.
/// Either way every node meets its lower neighbors before its higher ones, both ascending, so placing them in order
/// sorts the rows.
fn from_edges(nodes: u32, edges: &[(u32, u32)]) -> Result<Graph> {
    let mut offsets = room(nodes as usize + 1)?;
    offsets.resize(nodes as usize + 1, 0_usize);
    for &(low, high) in edges {
        offsets[low as usize] += 1;
        offsets[high as usize] += 1;
    }
    let mut sum = 0;
    for offset in &mut offsets {
        (*offset, sum) = (sum, sum + *offset);
    }
    let mut columns = room(2 * edges.len())?;
    columns.resize(2 * edges.len(), 0);
    for &(low, high) in edges {
        for (node, neighbor) in [(low, high), (high, low)] {
            let place = &mut offsets[node as usize];
            columns[*place] = neighbor;
            *place += 1;
        }
    }
    // Placing moved each start to the start of the next row.
    offsets.rotate_right(1);
    offsets[0] = 0;
    Ok(Graph::from_rows(offsets, columns))
}
