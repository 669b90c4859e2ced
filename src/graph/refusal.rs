//! Why a list of edges is no graph under its conventions, in numbers: who knows other names for the nodes says it in those.

use super::assemble::BUILD;
use crate::error::Error;
use std::fmt;

/// Why there is no graph.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The list itself is wrong.
    List(Error),
    /// An edge that the conventions refuse.
    Edge(RefusedEdge),
}

/// An edge that the conventions refuse.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RefusedEdge {
    /// The graph, and its first node.
    pub(crate) graph: usize,
    pub(crate) first: usize,
    /// Its ends, counted from the graph's first node on.
    pub(crate) source: usize,
    pub(crate) target: usize,
    pub(crate) reason: Reason,
}

/// What is wrong with an edge.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reason {
    /// How often it is listed.
    Duplicate(usize),
    /// Its weight and its reverse's, 0 where one is not listed.
    Asymmetric(f32, f32),
    /// Weights add up to more than 32-bit floats hold.
    Overflow(f64),
}

impl Refusal {
    pub(super) fn edge(graph: usize, first: usize, (source, target): (usize, usize), reason: Reason) -> Self {
        Self::Edge(RefusedEdge { graph, first, source, target, reason })
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::List(error)
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::List(error) => error,
            Refusal::Edge(edge) => Self::domain(BUILD, edge.to_string()),
        }
    }
}

impl fmt::Display for RefusedEdge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { graph, first, source, target, reason } = self;
        match reason {
            Reason::Duplicate(times) => {
                write!(f, "the edge from node {source} to node {target} is listed {times} times")?
            }
            Reason::Asymmetric(own, reverse) => {
                write!(f, "the edge from node {source} to node {target} has the weight {own}, its reverse {reverse}")?;
            }
            Reason::Overflow(sum) => write!(f, "the weights between nodes {source} and {target} add up to {sum:e}")?,
        }
        write!(f, ", in graph {graph}, whose first node is {first}")
    }
}
