//! Collects the edge weights of an edge list.

use super::lines::{Lines, has_digits};
use crate::error::Result;
use crate::graph::{self, EdgeList, WeightsRef};
use std::path::Path;

/// The weights of the edges. The list is empty until an edge has a weight; edges without a weight then have the weight
/// 1.
#[derive(Default)]
pub(super) struct Weights(Option<graph::Weights>);

impl Weights {
    /// Adds the weight of an edge. `before` is the number of edges before this edge.
    pub(super) fn push(&mut self, before: usize, weight: Option<f64>) {
        match (&mut self.0, weight) {
            (None, None) => {}
            (Some(all), weight) => all.push(weight.unwrap_or(1.0)),
            (none, Some(weight)) => none.insert(graph::Weights::ones(before)).push(weight),
        }
    }

    /// Removes the first edge's weight.
    pub(super) fn skip_first(&mut self) {
        match &mut self.0 {
            None => {}
            Some(graph::Weights::F32(all)) => drop(all.remove(0)),
            Some(graph::Weights::F64(all)) => drop(all.remove(0)),
        }
    }

    /// Returns the weights, or `None` if no edge has one.
    pub(super) fn into_option(self) -> Option<graph::Weights> {
        self.0
    }

    /// Returns the list of all edges, whose sources and targets are given.
    pub(super) fn list(self, lines: &Lines, nodes: usize, sources: Vec<u32>, targets: Vec<u32>) -> Result<EdgeList> {
        let too_many = |_| lines.error("fewer than 2^32 nodes", nodes.to_string());
        EdgeList::of(nodes, sources, targets, self.into_option()).map_err(too_many)
    }

    /// Returns a notice about weights that look like timestamps.
    pub(super) fn doubts(&self, path: &Path) -> Option<String> {
        self.0.as_ref().and_then(|weights| timestamps(path, weights.view()))
    }
}

/// Parses an edge's weight, which may be negative in a signed graph. The error says what is expected.
pub(super) fn parsed(field: &[u8], signed: bool) -> Result<f64, &'static str> {
    let number = std::str::from_utf8(field).ok().and_then(|text| text.parse::<f64>().ok());
    match number {
        Some(0.0) if has_digits(field) && (signed || !field.starts_with(b"-")) => {
            Err("a weight of 0, or of at least 4.9e-324")
        }
        Some(weight) if signed || !(weight.is_sign_negative() && has_digits(field)) => checked(weight, signed),
        _ => Err(expected(signed)),
    }
}

/// Checks a weight. The error says what is expected.
pub(super) fn checked(weight: f64, signed: bool) -> Result<f64, &'static str> {
    if weight.is_finite() && (signed || weight >= 0.0) { Ok(weight) } else { Err(expected(signed)) }
}

fn expected(signed: bool) -> &'static str {
    if signed { "a weight that is finite" } else { "a weight that is finite and not negative" }
}

/// The bound above which weights may be timestamps. The number of seconds since 1970 exceeded this bound in 1973,
/// whereas the weights of a graph seldom all exceed it.
pub(crate) const TIMESTAMP_BOUND: f64 = 1e8;

/// Returns the notice that the weights may be timestamps, if they may.
pub(super) fn timestamps(path: &Path, weights: WeightsRef<'_>) -> Option<String> {
    let suspicious = !weights.is_empty() && weights.iter().all(|weight| weight > TIMESTAMP_BOUND);
    suspicious.then(|| {
        format!(
            "{}: the third column was read as weights, though each is beyond 1e8, as timestamps are; without that column every edge weighs 1.",
            path.display()
        )
    })
}
