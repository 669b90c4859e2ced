//! A single graph, and a batch of graphs of different sizes.

use super::assemble::assemble;
use super::{Conventions, EdgeList, GraphRef, Merged, Refusal, Weights, WeightsRef};
use crate::cancel::Cancel;
use crate::error::{Error, Result};

/// A batch of graphs of any sizes in a common compressed sparse row form.
///
/// The nodes of graph g have the indices `node_offsets[g]..node_offsets[g + 1]` in the batch. The entries of node r are
/// at `row_offsets[r]..row_offsets[r + 1]` of the columns and weights. Columns count from 0 within each graph and
/// ascend within each row. Weights are finite and positive or, under [`Conventions::signed`], not 0; if none are
/// stored, every weight is 1. They are in f64 if one of them is not exactly an f32.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphBatch {
    pub(super) node_offsets: Vec<usize>,
    pub(super) row_offsets: Vec<usize>,
    pub(super) columns: Vec<u32>,
    pub(super) weights: Option<Weights>,
    /// The net flow of each entry, parallel to the columns; `None` if each is 0.
    pub(super) flows: Option<Vec<f64>>,
    pub(super) conventions: Conventions,
}

impl GraphBatch {
    /// Builds the graphs of the listed edges under the conventions. The list is passed by value so that it can be freed
    /// early; peak memory is about twice the size of the result.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) for a node index out of range, for an edge between two graphs, for a weight
    /// that is not finite, or negative without [`Conventions::signed`], for weights whose sum overflows an f64, and for
    /// a duplicate or an asymmetry that the conventions treat as an error.
    pub fn from_edge_list(edges: EdgeList, conventions: &Conventions) -> Result<Self> {
        Self::from_edge_list_with(edges, conventions, &Cancel::new())
    }

    /// Builds the graphs as [`GraphBatch::from_edge_list`] does, until `cancel` is set.
    ///
    /// # Errors
    /// The same as for [`GraphBatch::from_edge_list`], and [`Cancelled`](crate::ErrorKind::Cancelled).
    pub fn from_edge_list_with(edges: EdgeList, conventions: &Conventions, cancel: &Cancel) -> Result<Self> {
        Ok(Self::from_edge_list_counted(edges, conventions, cancel)?.0)
    }

    /// Builds the graphs as [`GraphBatch::from_edge_list_with`] does, and counts which edges were merged.
    ///
    /// ```
    /// use fiedler::{Cancel, graph::{Conventions, EdgeList, GraphBatch}};
    /// let mut edges = EdgeList::new(3)?;
    /// edges.push_weighted(0, 1, 1.0);
    /// edges.push_weighted(1, 0, 2.0);
    /// edges.push_weighted(1, 2, 1.0);
    /// let (_, merged) = GraphBatch::from_edge_list_counted(edges, &Conventions::default(), &Cancel::new())?;
    /// assert_eq!((merged.both_ways, merged.one_way, merged.outweighed), (1, 1, 1));
    /// # Ok::<(), fiedler::Error>(())
    /// ```
    ///
    /// # Errors
    /// The same as for [`GraphBatch::from_edge_list_with`].
    pub fn from_edge_list_counted(
        edges: EdgeList,
        conventions: &Conventions,
        cancel: &Cancel,
    ) -> Result<(Self, Merged)> {
        Ok(Self::assemble(edges, conventions, cancel)?)
    }

    /// Builds the graphs as [`GraphBatch::from_edge_list_counted`] does. The error identifies a refused edge by node
    /// indices, so that callers that have other names for the nodes can describe the edge.
    pub(crate) fn assemble(
        edges: EdgeList,
        conventions: &Conventions,
        cancel: &Cancel,
    ) -> Result<(Self, Merged), Refusal> {
        assemble(edges, conventions, cancel)
    }

    /// Combines graphs that were built separately into a batch.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if the conventions of the graphs differ; [`Limit`](crate::ErrorKind::Limit)
    /// if there are more nodes than 32 bits can number.
    pub fn from_graphs(graphs: &[Graph]) -> Result<Self> {
        let conventions = graphs.first().map(|graph| graph.0.conventions).unwrap_or_default();
        if let Some(odd) = graphs.iter().position(|graph| graph.0.conventions != conventions) {
            return Err(Error::domain("batch", format!("graph {odd} was made under other conventions than graph 0")));
        }
        let mut node_offsets = vec![0];
        let mut row_offsets = vec![0];
        let mut columns = Vec::new();
        let mut weights = graphs.iter().any(|graph| graph.0.weights.is_some()).then(Weights::default);
        let mut flows = graphs.iter().any(|graph| graph.0.flows.is_some()).then(Vec::new);
        for Graph(graph) in graphs {
            row_offsets.extend(graph.row_offsets[1..].iter().map(|offset| columns.len() + offset));
            columns.extend_from_slice(&graph.columns);
            if let Some(weights) = &mut weights {
                match &graph.weights {
                    Some(own) => weights.extend(own.view()),
                    None => weights.extend(Weights::ones(graph.columns.len()).view()),
                }
            }
            if let Some(flows) = &mut flows {
                match &graph.flows {
                    Some(own) => flows.extend_from_slice(own),
                    None => flows.resize(columns.len(), 0.0),
                }
            }
            node_offsets.push(row_offsets.len() - 1);
        }
        let EdgeList { node_offsets, .. } = EdgeList::batch(node_offsets)?;
        Ok(Self { node_offsets, row_offsets, columns, weights, flows, conventions })
    }

    /// Returns a batch of the graphs at the given indices, in the given order.
    ///
    /// # Panics
    /// If an index is not less than [`GraphBatch::len`].
    #[must_use]
    pub fn select(&self, indices: &[usize]) -> Self {
        let mut batch = Self {
            node_offsets: vec![0],
            row_offsets: vec![0],
            columns: Vec::new(),
            weights: self.weights.as_ref().map(|_| Weights::default()),
            flows: self.flows.as_ref().map(|_| Vec::new()),
            conventions: self.conventions,
        };
        for &index in indices {
            let graph = self.graph(index);
            let (base, first) = (batch.columns.len(), graph.row_offsets[0]);
            batch.row_offsets.extend(graph.row_offsets[1..].iter().map(|offset| base + offset - first));
            batch.columns.extend_from_slice(graph.columns);
            if let (Some(weights), Some(own)) = (&mut batch.weights, graph.weights) {
                weights.extend(own);
            }
            if let (Some(flows), Some(own)) = (&mut batch.flows, graph.flows) {
                flows.extend_from_slice(own);
            }
            batch.node_offsets.push(batch.row_offsets.len() - 1);
        }
        // If all weights of the selected graphs are 1, none are stored, even if other graphs of the original batch have
        // weights.
        batch.weights = batch.weights.and_then(Weights::stored);
        batch.flows = batch.flows.filter(|flows| flows.iter().any(|&flow| flow != 0.0));
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

    /// Returns the number of entries in all adjacency matrices together. An undirected edge has two entries.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// Returns the index of each graph's first node, followed by the total number of nodes; (graphs + 1) values.
    #[must_use]
    pub fn node_offsets(&self) -> &[usize] {
        &self.node_offsets
    }

    /// Returns the offset of each node's first entry, followed by the total number of entries; (nodes + 1) values.
    #[must_use]
    pub fn row_offsets(&self) -> &[usize] {
        &self.row_offsets
    }

    /// Returns the neighbors of every node, row after row. Neighbors are numbered from 0 within their graph.
    #[must_use]
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Returns the weights, parallel to the columns, or `None` if every weight is 1.
    #[must_use]
    pub fn weights(&self) -> Option<WeightsRef<'_>> {
        self.weights.as_ref().map(Weights::view)
    }

    /// Returns the net flow `W(i, j) - W(j, i)` of each entry before W was made symmetric, parallel to the columns, or
    /// `None` if each is 0 or the conventions do not keep flows.
    #[must_use]
    pub fn flows(&self) -> Option<&[f64]> {
        self.flows.as_deref()
    }

    /// Returns the conventions under which the graphs were built and under which their Laplacians are built.
    #[must_use]
    pub fn conventions(&self) -> Conventions {
        self.conventions
    }

    /// Returns the graph at `index`.
    ///
    /// # Panics
    /// If `index` is not less than [`GraphBatch::len`].
    #[must_use]
    pub fn graph(&self, index: usize) -> GraphRef<'_> {
        let row_offsets = &self.row_offsets[self.node_offsets[index]..=self.node_offsets[index + 1]];
        let entries = row_offsets[0]..row_offsets[row_offsets.len() - 1];
        GraphRef {
            row_offsets,
            columns: &self.columns[entries.clone()],
            weights: self.weights().map(|weights| weights.range(entries.clone())),
            flows: self.flows.as_deref().map(|flows| &flows[entries]),
            conventions: self.conventions,
        }
    }

    /// Iterates over the graphs in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = GraphRef<'_>> + DoubleEndedIterator + Clone {
        (0..self.len()).map(|index| self.graph(index))
    }
}

/// One graph, which is stored as a batch of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph(GraphBatch);

impl Graph {
    /// Builds a graph with `nodes` nodes and the edges `(source, target)`. Each edge has the weight 1.
    ///
    /// # Errors
    /// The same as for [`GraphBatch::from_edge_list`], and [`Limit`](crate::ErrorKind::Limit) if there are more nodes
    /// than 32 bits can number.
    pub fn from_edges(nodes: usize, edges: &[(u32, u32)], conventions: &Conventions) -> Result<Self> {
        let mut list = EdgeList::new(nodes)?;
        list.reserve(edges.len());
        for &(source, target) in edges {
            list.push(source, target);
        }
        Self::from_edge_list(list, conventions)
    }

    /// Builds a graph with `nodes` nodes and the edges `(source, target, weight)`.
    ///
    /// # Errors
    /// The same as for [`Graph::from_edges`].
    pub fn from_weighted_edges<W: Copy + Into<f64>>(
        nodes: usize,
        edges: &[(u32, u32, W)],
        conventions: &Conventions,
    ) -> Result<Self> {
        let mut list = EdgeList::new(nodes)?;
        list.reserve(edges.len());
        for &(source, target, weight) in edges {
            list.push_weighted(source, target, weight);
        }
        Self::from_edge_list(list, conventions)
    }

    /// Builds the only graph of a list.
    ///
    /// # Errors
    /// The same as for [`GraphBatch::from_edge_list`].
    pub(crate) fn from_edge_list(edges: EdgeList, conventions: &Conventions) -> Result<Self> {
        Ok(Self::counted(edges, conventions)?.0)
    }

    /// Builds the only graph of a list, and counts which edges were merged.
    ///
    /// # Errors
    /// The same as for [`GraphBatch::from_edge_list`].
    pub(crate) fn counted(edges: EdgeList, conventions: &Conventions) -> Result<(Self, Merged)> {
        let (batch, merged) = assemble(edges, conventions, &Cancel::new())?;
        Ok((Self(batch), merged))
    }

    /// Builds an undirected unweighted graph directly from its rows. The rows must be ascending, without self-loops,
    /// and symmetric. Under the default conventions, any edge list of these edges also gives this graph.
    pub(super) fn from_rows(row_offsets: Vec<usize>, columns: Vec<u32>) -> Self {
        let node_offsets = vec![0, row_offsets.len() - 1];
        let (weights, flows, conventions) = (None, None, Conventions::default());
        Self(GraphBatch { node_offsets, row_offsets, columns, weights, flows, conventions })
    }

    /// Returns a view of the graph, which is the type that operations accept.
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
