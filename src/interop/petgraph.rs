//! Graphs from and to those of petgraph.
//!
//! [`Graph::from_petgraph`] takes every type of petgraph that lists its nodes and edges: `Graph`, `StableGraph` with
//! removed nodes, `GraphMap`, and filtered views of them. A closure gives the weight of each edge.
//!
//! ```
//! use fiedler::ops::{EigshOptions, eigen::Which, eigsh, sparse::Operator};
//! use fiedler::prelude::*;
//! use petgraph::graph::UnGraph;
//!
//! let mut streets = UnGraph::<&str, f64>::new_undirected();
//! let [a, b, c] = ["A", "B", "C"].map(|name| streets.add_node(name));
//! streets.extend_with_edges([(a, b, 0.5), (b, c, 2.0)]);
//!
//! // The closer two places are, the larger is the weight between them.
//! let found = Graph::from_petgraph(&streets, &Conventions::default(), |edge| 1.0 / edge.weight())?;
//! assert_eq!(found.nodes, [a, b, c]);
//! assert_eq!(found.graph.view().weight(0, 1), 2.0);
//!
//! let l = Operator::<f64>::laplacian(found.graph.view(), Normalization::Combinatorial)?;
//! let pairs = eigsh(&Context::cpu(), &l, 2, Which::Smallest, &EigshOptions::default())?;
//! assert!(pairs.values[0].abs() < 1e-12 && pairs.values[1] > 0.5);
//!
//! let back: UnGraph<(), f64> = found.graph.view().to_petgraph()?; // the edges have the weights 2 and 0.5
//! assert_eq!((back.node_count(), back.edge_count()), (3, 2));
//! # Ok::<(), fiedler::Error>(())
//! ```

use crate::error::{Error, ErrorKind, Result};
use crate::graph::{Conventions, EdgeList, Graph, GraphRef};
use crate::shape::to_u32;
use petgraph::graph::{NodeIndex, UnGraph};
use petgraph::visit::{EdgeRef, GraphProp, IntoEdgeReferences, IntoNodeIdentifiers, NodeIndexable};

/// A graph that was made from one of petgraph, with the identifiers of its nodes there.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FromPetgraph<N> {
    /// The graph.
    pub graph: Graph,
    /// For each node of the graph, petgraph's identifier of it, in the order in which petgraph lists the nodes.
    pub nodes: Vec<N>,
}

impl Graph {
    /// Builds a graph from one of petgraph, under the conventions. `weight` returns the weight of an edge; for an
    /// unweighted graph, it is `|_| 1.0`. Needs the feature `petgraph`.
    ///
    /// The nodes are numbered in the order in which petgraph lists them, so there are no gaps where nodes were removed
    /// from a `StableGraph`. An edge of an undirected graph is listed in both directions, so its graph is symmetric
    /// under every convention. (petgraph's undirected `Csr` itself does so, and has both directions twice.)
    ///
    /// ```
    /// use fiedler::prelude::*;
    /// use petgraph::stable_graph::StableUnGraph;
    ///
    /// let mut ring = StableUnGraph::<(), ()>::from_edges([(0, 1), (1, 2), (2, 3), (3, 0)]);
    /// ring.remove_node(1.into());
    /// let found = Graph::from_petgraph(&ring, &Conventions::default(), |_| 1.0)?;
    /// assert_eq!(found.nodes, [0, 2, 3].map(Into::into));
    /// assert_eq!(found.graph.view().neighbors(2), [0, 1]); // petgraph's node 3 has the neighbors 0 and 2
    /// # Ok::<(), fiedler::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) for a weight that is not finite, or negative without
    /// [`Conventions::signed`], for an edge whose end is not among the listed nodes, and for what the conventions
    /// refuse; [`Limit`](crate::ErrorKind::Limit) if there are more nodes than 32 bits can number.
    pub fn from_petgraph<G>(
        graph: G,
        conventions: &Conventions,
        mut weight: impl FnMut(G::EdgeRef) -> f64,
    ) -> Result<FromPetgraph<G::NodeId>>
    where
        G: IntoEdgeReferences + IntoNodeIdentifiers + NodeIndexable + GraphProp,
    {
        const NAME: &str = "Graph::from_petgraph";
        let nodes: Vec<G::NodeId> = graph.node_identifiers().collect();
        let mut list = EdgeList::new(nodes.len())?;
        let mut numbers = vec![u32::MAX; graph.node_bound()];
        for (number, &node) in nodes.iter().enumerate() {
            numbers[graph.to_index(node)] = to_u32(number);
        }
        for (number, edge) in graph.edge_references().enumerate() {
            let [source, target] = [edge.source(), edge.target()].map(|node| numbers[graph.to_index(node)]);
            if source.max(target) == u32::MAX {
                let what = format!("expected edges between listed nodes, found another in edge {number}");
                return Err(Error::domain(NAME, what));
            }
            let weight = weight(edge);
            super::check_weight(NAME, weight, conventions, || {
                format!("edge {number}, from node {source} to node {target}")
            })?;
            list.push_weighted(source, target, weight);
            if !graph.is_directed() && source != target {
                list.push_weighted(target, source, weight);
            }
        }
        Ok(FromPetgraph { graph: Self::from_edge_list(list, conventions)?, nodes })
    }
}

impl GraphRef<'_> {
    /// Returns the graph as an undirected one of petgraph with the same indices of nodes, whose edges have the weights
    /// of this graph. Needs the feature `petgraph`.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if the graph is directed; [`Limit`](crate::ErrorKind::Limit) if it has more
    /// edges than 32 bits can number.
    pub fn to_petgraph(&self) -> Result<UnGraph<(), f64>> {
        if !self.is_symmetric() {
            let what =
                "expected an undirected graph, found one with an edge whose reverse is missing or has another weight";
            return Err(Error::domain("GraphRef::to_petgraph", what));
        }
        let limit = |what: &str, needed: usize| -> Error {
            ErrorKind::Limit { what: what.into(), needed: needed as u64, allowed: u32::MAX.into() }.into()
        };
        let mut graph = UnGraph::with_capacity(self.nodes(), self.entries() / 2);
        for _ in 0..self.nodes() {
            graph.try_add_node(()).map_err(|_| limit("nodes of a graph of petgraph", self.nodes()))?;
        }
        for row in 0..self.nodes() {
            for (column, weight) in self.row(row).filter(|&(column, _)| column >= row) {
                graph
                    .try_add_edge(NodeIndex::new(row), NodeIndex::new(column), weight)
                    .map_err(|_| limit("edges of a graph of petgraph", self.entries().div_ceil(2)))?;
            }
        }
        Ok(graph)
    }
}
