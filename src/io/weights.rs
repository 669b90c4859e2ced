//! Collects the edge weights of an edge list.

use super::lines::Lines;
use crate::error::Result;
use crate::graph::EdgeList;
use std::path::Path;

/// The weights of the edges. The list is empty until an edge has a weight; edges without a weight then have the weight
/// 1.
#[derive(Default)]
pub(super) struct Weights(Vec<f32>);

impl Weights {
    /// Adds the weight of an edge. `before` is the number of edges before this edge.
    pub(super) fn push(&mut self, before: usize, weight: Option<f32>) {
        if weight.is_some() {
            self.0.resize(before, 1.0);
        }
        if weight.is_some() || !self.0.is_empty() {
            self.0.push(weight.unwrap_or(1.0));
        }
    }

    /// Removes the first edge's weight.
    pub(super) fn skip_first(&mut self) {
        if !self.0.is_empty() {
            self.0.remove(0);
        }
    }

    /// Returns the list of all edges, whose sources and targets are given.
    pub(super) fn list(self, lines: &Lines, nodes: usize, sources: Vec<u32>, targets: Vec<u32>) -> Result<EdgeList> {
        let too_many = |_| lines.error("fewer than 2^32 nodes", nodes.to_string());
        let weights = Some(self.0).filter(|weights| !weights.is_empty());
        EdgeList::of(nodes, sources, targets, weights).map_err(too_many)
    }

    /// Returns notices about weights that look like timestamps and about nonzero weights that became 0.
    pub(super) fn doubts(&self, lines: &Lines) -> impl Iterator<Item = String> {
        let stamps = !self.0.is_empty() && self.0.iter().all(|&weight| weight > STAMPS);
        stamps.then(|| timestamps(lines.path())).into_iter().chain(lines.vanished())
    }
}

/// The bound above which weights may be timestamps. The number of seconds since 1970 exceeded this bound in 1973,
/// whereas the weights of a graph seldom all exceed it.
pub(super) const STAMPS: f32 = 1e8;

/// Returns the notice that the weights may be timestamps.
pub(super) fn timestamps(path: &Path) -> String {
    format!(
        "{}: the third column was read as weights, though each is beyond 1e8, as timestamps are; without that column every edge weighs 1.",
        path.display()
    )
}
