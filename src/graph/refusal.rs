//! The reasons why the conventions refuse a list of edges. The reasons identify nodes by index; callers that have other
//! names for the nodes rewrite the message with those names.

use super::assemble::BUILD;
use crate::error::Error;
use std::fmt;

/// The reason why no graph was built.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The list itself is invalid, regardless of the conventions.
    List(Error),
    /// An edge that the conventions refuse.
    Edge(RefusedEdge),
}

/// An edge that the conventions refuse.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RefusedEdge {
    /// The index of the graph in the batch. `first` is the index of the graph's first node in the batch.
    pub(crate) graph: usize,
    pub(crate) first: usize,
    /// The source and the target of the edge, counted from the graph's first node.
    pub(crate) source: usize,
    pub(crate) target: usize,
    pub(crate) reason: Reason,
}

/// The reason why the conventions refuse an edge.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reason {
    /// The edge is a duplicate. The value is the number of times that the edge is listed.
    Duplicate(usize),
    /// The weight of the edge, which is the first value, differs from the weight of its reverse, which is the second
    /// value. A weight of 0 means that the direction is not listed.
    Asymmetric(f64, f64),
    /// The sum of the weights overflows a 64-bit float.
    Overflow,
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
            Reason::Overflow => {
                write!(f, "the weights between nodes {source} and {target} add up to more than a 64-bit float holds")?;
            }
        }
        write!(f, ", in graph {graph}, whose first node is {first}")
    }
}
