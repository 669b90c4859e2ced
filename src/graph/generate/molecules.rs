//! Generates batches of small graphs that resemble molecules.

use super::SplitMix64;
use crate::error::Result;
use crate::graph::{Conventions, EdgeList, GraphBatch};

const FEWEST_NODES: u32 = 10;
const MOST_NODES: u32 = 37;

/// Generates graphs that resemble molecules: connected, with 10 to 37 nodes and a maximum degree of 4. They consist of
/// chains and of rings with five or six nodes. A ring is either attached by a bond or shares a bond with the rest of
/// the molecule. On average, the graphs have about 23 nodes and 26 bonds, close to the ZINC data set.
///
/// Graph i depends only on the seed and on i, so a larger batch begins with the graphs of a smaller batch of the same
/// seed.
///
/// # Errors
/// [`Limit`](crate::ErrorKind::Limit) if there are more nodes in total than 32 bits can number, which requires more
/// than about 180 million graphs.
pub fn molecules(graphs: usize, seed: u64) -> Result<GraphBatch> {
    let stream = |graph: usize| {
        let mut random = SplitMix64::stream(seed, graph as u64);
        let nodes = FEWEST_NODES + random.below(MOST_NODES - FEWEST_NODES + 1);
        (random, nodes)
    };
    let mut offsets = vec![0];
    offsets.extend((0..graphs).scan(0, |sum, graph| {
        *sum += stream(graph).1 as usize;
        Some(*sum)
    }));
    let mut list = EdgeList::batch(offsets)?;
    let mut first = 0;
    let mut molecule = Molecule { nodes: 0, degrees: [0; MOST_NODES as usize], bonds: Vec::new() };
    for graph in 0..graphs {
        let (mut random, nodes) = stream(graph);
        molecule.grow(&mut random, nodes);
        for &(a, b) in &molecule.bonds {
            list.push(first + a, first + b);
        }
        first += nodes;
    }
    GraphBatch::from_edge_list(list, &Conventions::default())
}

/// A molecule under construction.
struct Molecule {
    nodes: u32,
    degrees: [u32; MOST_NODES as usize],
    bonds: Vec<(u32, u32)>,
}

impl Molecule {
    /// Discards the molecule and grows a new one from a single atom by adding atoms and rings until it has exactly
    /// `nodes` nodes.
    fn grow(&mut self, random: &mut SplitMix64, nodes: u32) {
        (self.nodes, self.degrees) = (1, [0; MOST_NODES as usize]);
        self.bonds.clear();
        while self.nodes < nodes {
            let room = nodes - self.nodes;
            let size = 5 + u32::from(random.below(4) != 0);
            match random.below(16) {
                0 | 1 if room >= size => {
                    let anchor = self.anchor(random);
                    let first = self.path(anchor, 1);
                    let last = self.path(first, size - 1);
                    self.bond(last, first);
                }
                2 | 3 if room >= size - 2 => {
                    if let Some((a, b)) = self.free_bond(random) {
                        let last = self.path(a, size - 2);
                        self.bond(last, b);
                    }
                }
                _ => {
                    let anchor = self.anchor(random);
                    self.path(anchor, 1);
                }
            }
        }
    }

    fn bond(&mut self, a: u32, b: u32) {
        self.degrees[a as usize] += 1;
        self.degrees[b as usize] += 1;
        self.bonds.push((a, b));
    }

    /// Attaches a path of `length` new atoms to the atom `from` and returns the last atom of the path.
    fn path(&mut self, from: u32, length: u32) -> u32 {
        let mut last = from;
        for _ in 0..length {
            self.bond(last, self.nodes);
            last = self.nodes;
            self.nodes += 1;
        }
        last
    }

    /// Returns the atom to which a new atom or ring is attached. The search starts at the newest atom in half of the
    /// draws, so that chains grow, and at a random atom in the other half. The search ends at the first atom with a
    /// degree of at most 2 or, in one of sixteen draws, of at most 3. An atom with a degree of at most 2 always exists,
    /// because a molecule has fewer than 3/2 bonds per atom.
    fn anchor(&self, random: &mut SplitMix64) -> u32 {
        let limit = 3 + u32::from(random.below(16) == 0);
        let newest = self.nodes - 1;
        let start = if random.below(2) == 0 { newest } else { random.below(self.nodes) };
        let free = (0..self.nodes).map(|step| (start + step) % self.nodes);
        free.into_iter().find(|&atom| self.degrees[atom as usize] < limit).unwrap_or(newest)
    }

    /// Returns a bond that a new ring can share, which requires that both atoms of the bond have a degree of at most 2.
    fn free_bond(&self, random: &mut SplitMix64) -> Option<(u32, u32)> {
        let count = u32::try_from(self.bonds.len()).ok().filter(|&count| count > 0)?;
        let start = random.below(count);
        let any = (0..count).map(|step| self.bonds[((start + step) % count) as usize]);
        any.into_iter().find(|&(a, b)| self.degrees[a as usize].max(self.degrees[b as usize]) < 3)
    }
}
