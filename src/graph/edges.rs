//! Edges as they are listed, before the conventions turn them into a graph.

use super::{Weights, WeightsRef};
use crate::error::{Error, ErrorKind, Result};

/// The edges of one graph, or of a batch of graphs, in the order in which they were listed.
///
/// Nodes are numbered consecutively through the whole batch: graph g has the nodes `node_offsets[g]..node_offsets[g +
/// 1]`. Node indices and weights are checked only when the list becomes a [`GraphBatch`](super::GraphBatch).
#[derive(Clone, Debug)]
pub struct EdgeList {
    pub(super) node_offsets: Vec<usize>,
    pub(super) source: Vec<u32>,
    pub(super) target: Vec<u32>,
    pub(super) weights: Option<Weights>,
}

/// The maximum number of nodes of a batch: 32 bits can number them, and a vector can have an offset for each.
const MOST_NODES: u64 = {
    let offsets = (isize::MAX as usize / size_of::<usize>() - 1) as u64;
    let numbers = u32::MAX as u64;
    if offsets < numbers { offsets } else { numbers }
};

impl EdgeList {
    /// Returns an empty list for one graph with `nodes` nodes.
    ///
    /// # Errors
    /// [`Limit`](ErrorKind::Limit) if there are more nodes than 32 bits, or the memory of a 32-bit system, can number.
    pub fn new(nodes: usize) -> Result<Self> {
        Self::batch(vec![0, nodes])
    }

    /// Returns an empty list for a batch in which graph g has the nodes `node_offsets[g]..node_offsets[g + 1]`.
    ///
    /// # Errors
    /// [`Domain`](ErrorKind::Domain) if the first offset is not 0 or the offsets descend; [`Limit`](ErrorKind::Limit)
    /// if there are more nodes than 32 bits, or the memory of a 32-bit system, can number.
    pub fn batch(node_offsets: Vec<usize>) -> Result<Self> {
        if node_offsets.first() != Some(&0) || node_offsets.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err(Error::domain("edge list", "expected node offsets that start at 0 and never descend"));
        }
        let nodes = node_offsets.last().copied().unwrap_or(0);
        if nodes as u64 > MOST_NODES {
            let (needed, allowed) = (nodes as u64, MOST_NODES);
            return Err(ErrorKind::Limit { what: "nodes of a batch".into(), needed, allowed }.into());
        }
        Ok(Self { node_offsets, source: Vec::new(), target: Vec::new(), weights: None })
    }

    /// Returns the list of the given edges of one graph with `nodes` nodes. The arrays have the same length.
    ///
    /// # Errors
    /// The same as for [`EdgeList::new`].
    pub(crate) fn of(nodes: usize, source: Vec<u32>, target: Vec<u32>, weights: Option<Weights>) -> Result<Self> {
        Ok(Self::new(nodes)?.holding(source, target, weights))
    }

    /// Returns the edges as those of one graph with `nodes` nodes.
    ///
    /// # Errors
    /// The same as for [`EdgeList::new`].
    pub(crate) fn with_nodes(self, nodes: usize) -> Result<Self> {
        Self::of(nodes, self.source, self.target, self.weights)
    }

    /// Replaces the edges of the list. The arrays have the same length.
    pub(crate) fn holding(self, source: Vec<u32>, target: Vec<u32>, weights: Option<Weights>) -> Self {
        Self { source, target, weights, ..self }
    }

    /// Reserves memory for `additional` more edges.
    pub fn reserve(&mut self, additional: usize) {
        self.source.reserve(additional);
        self.target.reserve(additional);
        if let Some(weights) = &mut self.weights {
            weights.reserve(additional);
        }
    }

    /// Adds an edge of weight 1.
    pub fn push(&mut self, source: u32, target: u32) {
        self.source.push(source);
        self.target.push(target);
        if let Some(weights) = &mut self.weights {
            weights.push(1.0);
        }
    }

    /// Adds an edge with a weight. Edges that were added without a weight have the weight 1.
    pub fn push_weighted(&mut self, source: u32, target: u32, weight: impl Into<f64>) {
        let before = self.source.len();
        self.source.push(source);
        self.target.push(target);
        self.weights.get_or_insert_with(|| Weights::ones(before)).push(weight.into());
    }

    /// Returns the index of each graph's first node, followed by the total number of nodes; (graphs + 1) values.
    #[must_use]
    pub fn node_offsets(&self) -> &[usize] {
        &self.node_offsets
    }

    /// Returns the source of each edge, in the order in which the edges were listed.
    #[must_use]
    pub fn sources(&self) -> &[u32] {
        &self.source
    }

    /// Returns the target of each edge, in the order in which the edges were listed.
    #[must_use]
    pub fn targets(&self) -> &[u32] {
        &self.target
    }

    /// Returns the weight of each edge, or `None` if no edge was listed with a weight.
    #[must_use]
    pub fn weights(&self) -> Option<WeightsRef<'_>> {
        self.weights.as_ref().map(Weights::view)
    }

    /// Returns the number of listed edges.
    #[must_use]
    pub fn len(&self) -> usize {
        self.source.len()
    }

    /// Returns whether no edge is listed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.source.is_empty()
    }

    /// Returns the number of nodes in all graphs together.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.node_offsets.last().copied().unwrap_or(0)
    }

    /// Returns the graphs in which no edge names node 0, not even one that the conventions drop, in order.
    #[must_use]
    pub fn without_first(&self) -> Vec<usize> {
        let mut named = vec![false; self.nodes()];
        for &end in self.source.iter().chain(&self.target) {
            if let Some(named) = named.get_mut(end as usize) {
                *named = true;
            }
        }
        let lacks = |pair: &[usize]| pair[0] < pair[1] && !named[pair[0]];
        self.node_offsets.windows(2).enumerate().filter(|(_, pair)| lacks(pair)).map(|(graph, _)| graph).collect()
    }
}
