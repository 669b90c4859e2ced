//! Edges as they are listed, before the conventions turn them into a graph.

use crate::error::{Error, ErrorKind, Result};

/// The edges of one graph, or of a batch of graphs, in the order in which they were listed.
///
/// Nodes are numbered through the whole batch: graph g has the nodes `node_offsets[g]..node_offsets[g + 1]`. Indices
/// and weights are checked when the list becomes a [`GraphBatch`](super::GraphBatch), not here.
#[derive(Clone, Debug)]
pub struct EdgeList {
    pub(super) node_offsets: Vec<usize>,
    pub(super) source: Vec<u32>,
    pub(super) target: Vec<u32>,
    pub(super) weights: Option<Vec<f32>>,
}

impl EdgeList {
    /// Returns an empty list for one graph of `nodes` nodes.
    ///
    /// # Errors
    /// [`Limit`](ErrorKind::Limit) for more nodes than 32 bits can number.
    pub fn new(nodes: usize) -> Result<Self> {
        Self::batch(vec![0, nodes])
    }

    /// Returns an empty list for a batch whose graph g has the nodes `node_offsets[g]..node_offsets[g + 1]`.
    ///
    /// # Errors
    /// [`Domain`](ErrorKind::Domain) if the offsets do not start at 0 or descend, [`Limit`](ErrorKind::Limit) for
    /// more nodes than 32 bits can number.
    pub fn batch(node_offsets: Vec<usize>) -> Result<Self> {
        if node_offsets.first() != Some(&0) || node_offsets.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err(Error::domain("edge list", "expected node offsets that start at 0 and never descend"));
        }
        let nodes = node_offsets.last().copied().unwrap_or(0);
        if u32::try_from(nodes).is_err() {
            let (needed, allowed) = (nodes as u64, u64::from(u32::MAX));
            return Err(ErrorKind::Limit { what: "nodes of a batch".into(), needed, allowed }.into());
        }
        Ok(Self { node_offsets, source: Vec::new(), target: Vec::new(), weights: None })
    }

    /// Makes room for `additional` edges.
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

    /// Adds an edge with its weight. Edges that were added without one have the weight 1.
    pub fn push_weighted(&mut self, source: u32, target: u32, weight: f32) {
        let before = self.source.len();
        self.source.push(source);
        self.target.push(target);
        self.weights.get_or_insert_with(|| vec![1.0; before]).push(weight);
    }

    /// Returns the offset of each graph's first node, and the number of nodes at the end; (graphs + 1) numbers.
    #[must_use]
    pub fn node_offsets(&self) -> &[usize] {
        &self.node_offsets
    }

    /// Returns the source of each edge, in the order in which the edges were listed.
    #[must_use]
    pub fn sources(&self) -> &[u32] {
        &self.source
    }

    /// Returns the target of each edge.
    #[must_use]
    pub fn targets(&self) -> &[u32] {
        &self.target
    }

    /// Returns the weight of each edge, if any was listed with one.
    #[must_use]
    pub fn weights(&self) -> Option<&[f32]> {
        self.weights.as_deref()
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
}
