//! Collects the edges of a graph that a file lists, some in one direction and some in both.

use super::data_set::NodeIds;
use super::edge_list::Listed;
use super::opening::integer;
use super::rows::Layout;
use super::weights::Weights;
use crate::error::Result;
use crate::graph::{Conventions, EdgeList, Symmetrization};

/// Returns the largest number of nodes that a file may have which lists or states this number of edges, since a
/// number in a header must not fill the memory.
pub(super) fn most_nodes(edges: usize) -> usize {
    edges.saturating_mul(64).saturating_add(1 << 24)
}

/// Returns whether an undirected edge is listed once, because the conventions add up both directions.
pub(super) fn once(conventions: &Conventions) -> bool {
    conventions.symmetrization == Symmetrization::Sum
}

/// Passes on the directed edges that stand for an undirected one. If both directions are going to be added up (`once`),
/// it is one of them, which is the same for all parallel edges. A loop is its own reverse, and is halved then.
pub(super) fn both_ways(
    once: bool,
    [source, target]: [u32; 2],
    weight: Option<f64>,
    mut push: impl FnMut(u32, u32, Option<f64>),
) {
    match (once, source == target) {
        (true, true) => push(source, target, Some(weight.unwrap_or(1.0) / 2.0)),
        (true, false) => push(source.min(target), source.max(target), weight),
        (false, true) => push(source, target, weight),
        (false, false) => {
            push(source, target, weight);
            push(target, source, weight);
        }
    }
}

/// The edges of one graph, whose nodes are known by numbers.
#[derive(Default)]
pub(super) struct Edges {
    sources: Vec<u32>,
    targets: Vec<u32>,
    weights: Weights,
    /// The line of each edge or, if lines are not known, its number in the list.
    lines: Vec<u64>,
    once: bool,
}

impl Edges {
    /// Returns no edges, to be read under `conventions`.
    pub(super) fn new(conventions: &Conventions) -> Self {
        Self { once: once(conventions), ..Self::default() }
    }

    /// Adds an edge, which counts in both directions if it is not directed.
    pub(super) fn add(&mut self, [source, target]: [u32; 2], weight: Option<f64>, directed: bool, line: u64) {
        if directed {
            self.push(source, target, weight, line);
        } else {
            both_ways(self.once, [source, target], weight, |source, target, weight| {
                self.push(source, target, weight, line);
            });
        }
    }

    fn push(&mut self, source: u32, target: u32, weight: Option<f64>, line: u64) {
        self.weights.push(self.sources.len(), weight);
        self.sources.push(source);
        self.targets.push(target);
        self.lines.push(line);
    }

    /// Makes undirected those of the edges that `kept` returns true for, and removes the others. All were added as
    /// directed.
    pub(super) fn make_undirected(&mut self, kept: impl Fn(u32, u32) -> bool) {
        let Self { sources, targets, weights, lines, once } = std::mem::take(self);
        self.once = once;
        let weights = weights.into_option();
        for (edge, (&source, &target)) in sources.iter().zip(&targets).enumerate() {
            let weight = weights.as_ref().map(|weights| weights.view().at(edge));
            if kept(source, target) {
                self.add([source, target], weight, false, lines[edge]);
            }
        }
    }

    /// Returns the source and the target of each edge.
    pub(super) fn ends(&self) -> impl ExactSizeIterator<Item = (u32, u32)> + Clone {
        self.sources.iter().copied().zip(self.targets.iter().copied())
    }

    /// Returns the list of the edges between `nodes` nodes, each of which has its number in the order of the graph as
    /// its element in `places`.
    pub(super) fn finish(self, nodes: usize, places: Option<&[u32]>, node_ids: Option<NodeIds>) -> Result<Listed> {
        let Self { mut sources, mut targets, weights, lines, .. } = self;
        if let Some(places) = places {
            for end in sources.iter_mut().chain(&mut targets) {
                *end = places[*end as usize];
            }
        }
        let edges = EdgeList::of(nodes, sources, targets, weights.into_option())?;
        Ok(Listed { edges, node_ids, notices: Vec::new(), layout: Layout::default(), lines, has_lines: true })
    }
}

/// Returns the ids of named nodes in the order of the graph, and the place of each node in this order. If all names are
/// natural numbers, it is the order of these numbers, as in an edge list; the ids are `None` if they count from 0. Else
/// it is the given order.
pub(super) fn in_order(mut named: Vec<(String, u32)>) -> (Option<NodeIds>, Vec<u32>) {
    let numbers: Option<Vec<u64>> = named.iter().map(|(name, _)| integer(name)).collect();
    let node_ids = if let Some(numbers) = numbers {
        let mut numbered: Vec<(u64, u32)> = numbers.into_iter().zip(named.iter().map(|&(_, node)| node)).collect();
        numbered.sort_unstable();
        let counting = numbered.iter().zip(0..).all(|(&(number, _), place)| number == place);
        let ids = numbered.iter().map(|&(number, _)| number.cast_signed()).collect();
        named = numbered.into_iter().map(|(_, node)| (String::new(), node)).collect();
        (!counting).then_some(NodeIds::Integers(ids))
    } else {
        Some(NodeIds::Text(named.iter_mut().map(|(name, _)| std::mem::take(name)).collect()))
    };
    let mut places = vec![0; named.len()];
    for (own, &(_, node)) in (0..).zip(&named) {
        places[node as usize] = own;
    }
    (node_ids, places)
}
