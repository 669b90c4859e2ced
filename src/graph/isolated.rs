//! Counts the nodes without edges. Where nodes are numbered by edges alone, such a node is a number that no edge has.

use super::GraphBatch;
use std::fmt;

/// The nodes without edges of a batch. It displays as a part of a sentence, which is empty if there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Isolated {
    /// The number of nodes without edges.
    pub nodes: usize,
    /// The number of graphs with edges.
    pub graphs: usize,
    /// The number of graphs with edges in which node 0 alone has none, and no edge names it, so that the nodes seem to
    /// count from 1.
    pub from_one: usize,
}

impl GraphBatch {
    /// Counts the nodes without edges. `without_first` has the graphs in which no listed edge names node 0, in order
    /// ([`EdgeList::without_first`](super::EdgeList::without_first)): an edge that the conventions dropped names it,
    /// too.
    #[must_use]
    pub fn isolated(&self, without_first: &[usize]) -> Isolated {
        self.iter().enumerate().fold(Isolated::default(), |all, (index, graph)| {
            let lone = (0..graph.nodes()).filter(|&node| graph.neighbors(node).is_empty()).count();
            let has_edges = graph.nodes() > lone;
            let from_one = has_edges && lone == 1 && without_first.binary_search(&index).is_ok();
            all.and(Isolated { nodes: lone, graphs: usize::from(has_edges), from_one: usize::from(from_one) })
        })
    }
}

impl Isolated {
    /// Adds the nodes of other graphs.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            nodes: self.nodes + other.nodes,
            graphs: self.graphs + other.graphs,
            from_one: self.from_one + other.from_one,
        }
    }

    /// Returns whether the ids of every graph with edges seem to begin at 1, so that a node 0 is there by mistake.
    #[must_use]
    pub fn seems_from_one(self) -> bool {
        self.from_one > 0 && self.from_one == self.graphs
    }

    /// Returns what is doubtful about the nodes without edges: that some ids seem to begin at 1.
    #[must_use]
    pub fn doubt(self) -> Option<String> {
        (self.from_one > 0).then(|| self.to_string())
    }
}

impl fmt::Display for Isolated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const WORDS: &str = "so ids seem to begin at 1, and nodes count from 0";
        match self.nodes {
            0 => Ok(()),
            1 => write!(f, "1 node has no edge"),
            some => write!(f, "{some} nodes have no edge"),
        }?;
        match self.from_one {
            0 => Ok(()),
            1 if self.graphs == 1 => write!(f, ": node 0 alone, {WORDS}"),
            all if all == self.graphs => write!(f, ": node 0 of each graph alone, {WORDS}"),
            some => write!(f, ": in {some} of {} graphs node 0 alone, {WORDS}", self.graphs),
        }
    }
}
