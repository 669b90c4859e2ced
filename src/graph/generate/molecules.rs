//! Molecule-like graphs, many and small.

use super::SplitMix64;
use crate::error::Result;
use crate::graph::{Conventions, EdgeList, GraphBatch};

const FEWEST_NODES: u32 = 10;
const MOST_NODES: u32 = 37;

/// Generates molecule-like graphs: connected, with 10 to 37 nodes and no degree above 4. They consist of chains and
/// of rings of five and six that are attached by a bond or share one. On average they have about 23 nodes and 26
/// bonds, close to the ZINC data set.
///
/// Graph i depends on the seed and on i alone, so a larger set begins with the smaller one.
///
/// # Errors
/// [`Limit`](crate::ErrorKind::Limit) for more nodes in total than 32 bits can number: above about 180 million
/// graphs.
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
    /// Starts again from one atom, and grows by atoms and rings to exactly `nodes` nodes.
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

    /// Attaches a path of new atoms to an atom, and returns the path's end.
    fn path(&mut self, from: u32, length: u32) -> u32 {
        let mut last = from;
        for _ in 0..length {
            self.bond(last, self.nodes);
            last = self.nodes;
            self.nodes += 1;
        }
        last
    }

    /// Returns an atom to attach something to: the newest, so that chains grow, or any. In one of sixteen draws its
    /// degree may already be 3. An atom of lower degree always exists, because a molecule has fewer than 3/2 bonds
    /// per atom.
    fn anchor(&self, random: &mut SplitMix64) -> u32 {
        let limit = 3 + u32::from(random.below(16) == 0);
        let newest = self.nodes - 1;
        let start = if random.below(2) == 0 { newest } else { random.below(self.nodes) };
        let free = (0..self.nodes).map(|step| (start + step) % self.nodes);
        free.into_iter().find(|&atom| self.degrees[atom as usize] < limit).unwrap_or(newest)
    }

    /// Returns a bond that a ring may share: both its atoms have a degree of at most 2.
    fn free_bond(&self, random: &mut SplitMix64) -> Option<(u32, u32)> {
        let count = u32::try_from(self.bonds.len()).ok().filter(|&count| count > 0)?;
        let start = random.below(count);
        let any = (0..count).map(|step| self.bonds[((start + step) % count) as usize]);
        any.into_iter().find(|&(a, b)| self.degrees[a as usize].max(self.degrees[b as usize]) < 3)
    }
}
