//! Generates graphs. A seed gives the same graph on every machine, because all arithmetic uses integers.
//!
//! All generated graphs are undirected, unweighted and without self-loops, under the default
//! [`Conventions`](super::Conventions). Time and memory are proportional to the number of nodes and edges.

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

    /// Returns a generator for one of the independent streams of random numbers that belong to a seed. `number`
    /// identifies the stream.
    fn stream(seed: u64, number: u64) -> Self {
        Self(Self(seed).next() ^ number.wrapping_mul(0xd134_2543_de82_ef95))
    }

    /// Draws a number below `bound` from the high bits of a random number. The bias, bound / 2^32, does not matter to
    /// the callers.
    fn below(&mut self, bound: u32) -> u32 {
        let high = self.next() >> 32;
        ((high * u64::from(bound)) >> 32) as u32
    }

    /// Draws a number below `bound`. All numbers are equally likely (Lemire, Fast Random Integer Generation in an
    /// Interval, 2019).
    #[expect(clippy::cast_possible_truncation, reason = "the low half, and a high half below the bound")]
    fn exactly_below(&mut self, bound: u32) -> u32 {
        let bound = u64::from(bound);
        loop {
            let product = u128::from(self.next()) * u128::from(bound);
            // The remainder of 2^64 divided by `bound` is the number of draws that would cause a bias; they are
            // rejected and drawn again.
            if product as u64 >= bound || product as u64 >= bound.wrapping_neg() % bound {
                return (product >> 64) as u32;
            }
        }
    }
}

/// Checks that the number of nodes is at least `least` and fits in 32 bits, and returns it as a `u32`.
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

/// Returns an empty vector with room for `length` elements, or an error if there is not enough memory.
fn room<T>(length: usize) -> Result<Vec<T>> {
    let mut room = Vec::new();
    if room.try_reserve_exact(length).is_err() {
        let needed = (length as u64).saturating_mul(size_of::<T>() as u64);
        let what = format!("bytes for {length} numbers of the graph");
        return Err(Error::domain("generate", format!("{needed} {what}: more memory than the system gives")));
    }
    Ok(room)
}

/// Builds a graph row by row. The function `row` is called once for each node, in order, and appends the neighbors of
/// the node in ascending order. `entries` is the total number of neighbors in all rows.
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

/// Builds the graph of distinct edges (low, high), where low < high. The edges must be sorted either by low and then
/// high, or by high and then low. In both orders, every node occurs first with its lower neighbors and then with its
/// higher neighbors, in ascending order, so the rows are sorted when the entries are placed in the order of the edges.
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
    // While the entries were placed, each start advanced to the start of the next row.
    offsets.rotate_right(1);
    offsets[0] = 0;
    Ok(Graph::from_rows(offsets, columns))
}
