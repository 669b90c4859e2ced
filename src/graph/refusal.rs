//! Reasons why a list of edges is no graph under its conventions, in numbers. Callers that know other names for the
//! nodes restate them in those names.

use super::assemble::BUILD;
use crate::error::Error;
use std::fmt;

/// The reason why there is no graph.
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
    /// The index of the graph; `first` is its first node in the batch.
    pub(crate) graph: usize,
    pub(crate) first: usize,
    /// The ends of the edge, counted from the graph's first node.
    pub(crate) source: usize,
    pub(crate) target: usize,
    pub(crate) reason: Reason,
}

/// The fault of an edge.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reason {
    /// The edge is listed this many times.
    Duplicate(usize),
    /// The weights of the edge and of its reverse differ; 0 stands for one that is not listed.
    Asymmetric(f32, f32),
    /// The weights add up to this sum, more than 32-bit floats hold.
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
