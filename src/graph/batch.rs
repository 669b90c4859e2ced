//! One graph, and a ragged batch of graphs.

use super::assemble::assemble;
use super::{Conventions, EdgeList, GraphRef, Refusal};
use crate::error::{Error, Result};

/// Many graphs of any sizes, in one compressed sparse row form.
///
/// Graph g has the nodes `node_offsets[g]..node_offsets[g + 1]` of the batch; node r of the batch has the entries
/// `row_offsets[r]..row_offsets[r + 1]` of the columns, which count from 0 within their graph and ascend in each row.
/// Weights are finite and positive; if none are stored, each is 1.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphBatch {
    pub(super) node_offsets: Vec<usize>,
    pub(super) row_offsets: Vec<usize>,
    pub(super) columns: Vec<u32>,
    pub(super) weights: Option<Vec<f32>>,
    pub(super) conventions: Conventions,
}

impl GraphBatch {
    /// Builds the graphs of the listed edges under the conventions. Takes the list, to free it early: peak memory is
    /// about twice the result.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) for a node index out of range, an edge between two graphs, a weight that
    /// is negative or not finite, and for a duplicate or an asymmetry if the conventions make it an error.
    pub fn from_edge_list(edges: EdgeList, conventions: &Conventions) -> Result<Self> {
        Ok(Self::assemble(edges, conventions)?)
    }

    /// Builds the graphs as [`GraphBatch::from_edge_list`] does, but returns what the conventions refuse as numbers,
    /// for callers that have other names for the nodes.
    pub(crate) fn assemble(edges: EdgeList, conventions: &Conventions) -> Result<Self, Refusal> {
        assemble(edges, conventions)
    }

    /// Joins graphs that were built one by one into a batch.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if their conventions differ, [`Limit`](crate::ErrorKind::Limit) for more
    /// nodes than 32 bits can number.
    pub fn from_graphs(graphs: &[Graph]) -> Result<Self> {
        let conventions = graphs.first().map(|graph| graph.0.conventions).unwrap_or_default();
        if let Some(odd) = graphs.iter().position(|graph| graph.0.conventions != conventions) {
            return Err(Error::domain("batch", format!("graph {odd} was made under other conventions than graph 0")));
        }
        let mut node_offsets = vec![0];
        let mut row_offsets = vec![0];
        let mut columns = Vec::new();
        let mut weights = graphs.iter().any(|graph| graph.0.weights.is_some()).then(Vec::new);
        for Graph(graph) in graphs {
            row_offsets.extend(graph.row_offsets[1..].iter().map(|offset| columns.len() + offset));
            columns.extend_from_slice(&graph.columns);
            if let Some(weights) = &mut weights {
                match &graph.weights {
                    Some(own) => weights.extend_from_slice(own),
                    None => weights.resize(columns.len(), 1.0),
                }
            }
            node_offsets.push(row_offsets.len() - 1);
        }
        let EdgeList { node_offsets, .. } = EdgeList::batch(node_offsets)?;
        Ok(Self { node_offsets, row_offsets, columns, weights, conventions })
    }

    /// Returns the graphs at these indices, in this order.
    ///
    /// # Panics
    /// If an index is not below [`GraphBatch::len`], as indexing does.
    #[must_use]
    pub fn select(&self, indices: &[usize]) -> Self {
        let mut batch = Self {
            node_offsets: vec![0],
            row_offsets: vec![0],
            columns: Vec::new(),
            weights: self.weights.as_ref().map(|_| Vec::new()),
            conventions: self.conventions,
        };
        for &index in indices {
            let graph = self.graph(index);
            let (base, first) = (batch.columns.len(), graph.row_offsets[0]);
            batch.row_offsets.extend(graph.row_offsets[1..].iter().map(|offset| base + offset - first));
            batch.columns.extend_from_slice(graph.columns);
            if let (Some(weights), Some(own)) = (&mut batch.weights, graph.weights) {
                weights.extend_from_slice(own);
            }
            batch.node_offsets.push(batch.row_offsets.len() - 1);
        }
        // Weights of 1 are implied, whatever weights the other graphs have.
        batch.weights = batch.weights.filter(|weights| weights.iter().any(|&weight| weight != 1.0));
        batch
    }

    /// Returns the number of graphs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.node_offsets.len() - 1
    }

    /// Returns whether there is no graph.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of nodes in all graphs together.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.row_offsets.len() - 1
    }

    /// Returns the number of entries in all adjacency matrices together: an undirected edge counts twice.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// Returns the offset of each graph's first node, and the number of nodes at the end; (graphs + 1) numbers.
    #[must_use]
    pub fn node_offsets(&self) -> &[usize] {
        &self.node_offsets
    }

    /// Returns the offset of each node's first entry, and the number of entries at the end; (nodes + 1) numbers.
    #[must_use]
    pub fn row_offsets(&self) -> &[usize] {
        &self.row_offsets
    }

    /// Returns the neighbors of every node, row after row, numbered from 0 within their graph.
    #[must_use]
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Returns the weights, parallel to the columns, if any weight is not 1.
    #[must_use]
    pub fn weights(&self) -> Option<&[f32]> {
        self.weights.as_deref()
    }

    /// Returns the conventions that made the graphs and will make their Laplacians.
    #[must_use]
    pub fn conventions(&self) -> Conventions {
        self.conventions
    }

    /// Returns graph `index` of the batch.
    ///
    /// # Panics
    /// If `index` is not below [`GraphBatch::len`], as indexing does.
    #[must_use]
    pub fn graph(&self, index: usize) -> GraphRef<'_> {
        let row_offsets = &self.row_offsets[self.node_offsets[index]..=self.node_offsets[index + 1]];
        let entries = row_offsets[0]..row_offsets[row_offsets.len() - 1];
        GraphRef {
            row_offsets,
            columns: &self.columns[entries.clone()],
            weights: self.weights.as_ref().map(|weights| &weights[entries]),
            conventions: self.conventions,
        }
    }

    /// Iterates over the graphs in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = GraphRef<'_>> + DoubleEndedIterator + Clone {
        (0..self.len()).map(|index| self.graph(index))
    }
}

/// One graph: a batch of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph(GraphBatch);

impl Graph {
    /// Builds the graph of `nodes` nodes and the edges `(source, target)`, each of weight 1.
    ///
    /// # Errors
    /// As for [`GraphBatch::from_edge_list`], and [`Limit`](crate::ErrorKind::Limit) for more nodes than 32 bits can
    /// number.
    pub fn from_edges(nodes: usize, edges: &[(u32, u32)], conventions: &Conventions) -> Result<Self> {
        let mut list = EdgeList::new(nodes)?;
        list.reserve(edges.len());
        for &(source, target) in edges {
            list.push(source, target);
        }
        Ok(Self(assemble(list, conventions)?))
    }

    /// Builds the graph of `nodes` nodes and the edges `(source, target, weight)`.
    ///
    /// # Errors
    /// As for [`Graph::from_edges`].
    pub fn from_weighted_edges(nodes: usize, edges: &[(u32, u32, f32)], conventions: &Conventions) -> Result<Self> {
        let mut list = EdgeList::new(nodes)?;
        list.reserve(edges.len());
        for &(source, target, weight) in edges {
            list.push_weighted(source, target, weight);
        }
        Ok(Self(assemble(list, conventions)?))
    }

    /// Builds the undirected unweighted graph of these rows, which ascend, have no loops and mirror each other. Any
    /// list of its edges becomes the same graph under the default conventions.
    pub(super) fn from_rows(row_offsets: Vec<usize>, columns: Vec<u32>) -> Self {
        let node_offsets = vec![0, row_offsets.len() - 1];
        Self(GraphBatch { node_offsets, row_offsets, columns, weights: None, conventions: Conventions::default() })
    }

    /// Returns the view that operations take.
    #[must_use]
    pub fn view(&self) -> GraphRef<'_> {
        self.0.graph(0)
    }
}

impl From<Graph> for GraphBatch {
    fn from(graph: Graph) -> Self {
        graph.0
    }
}
