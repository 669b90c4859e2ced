//! Collects the edge weights of an edge list.

use super::lines::{Lines, has_digits};
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

    /// Returns the weights, or `None` if no edge has one.
    pub(super) fn into_option(self) -> Option<Vec<f32>> {
        Some(self.0).filter(|weights| !weights.is_empty())
    }

    /// Returns the list of all edges, whose sources and targets are given.
    pub(super) fn list(self, lines: &Lines, nodes: usize, sources: Vec<u32>, targets: Vec<u32>) -> Result<EdgeList> {
        let too_many = |_| lines.error("fewer than 2^32 nodes", nodes.to_string());
        EdgeList::of(nodes, sources, targets, self.into_option()).map_err(too_many)
    }

    /// Returns notices about weights that look like timestamps and about nonzero weights that became 0.
    pub(super) fn doubts(&self, lines: &Lines) -> impl Iterator<Item = String> {
        let stamps = !self.0.is_empty() && self.0.iter().all(|&weight| weight > STAMPS);
        stamps.then(|| timestamps(lines.path())).into_iter().chain(lines.vanished())
    }
}

/// Parses an edge's weight. The error says what is expected. A weight that is too small for an f32 becomes 0.
pub(super) fn parsed(field: &[u8]) -> Result<f32, &'static str> {
    let number = std::str::from_utf8(field).ok().and_then(|text| text.parse::<f64>().ok());
    match number {
        Some(wide) if wide == 0.0 && wide.is_sign_negative() && has_digits(field) => Err(NOT_NEGATIVE),
        Some(wide) => narrowed(wide),
        None => Err(NOT_NEGATIVE),
    }
}

/// Rounds a weight to f32. The error says what is expected.
pub(super) fn narrowed(wide: f64) -> Result<f32, &'static str> {
    if !wide.is_finite() || wide < 0.0 {
        return Err(NOT_NEGATIVE);
    }
    #[expect(clippy::cast_possible_truncation, reason = "weights are f32; what is too large for one is refused below")]
    let weight = wide as f32;
    if weight.is_infinite() { Err("a weight within the range of 32-bit floats") } else { Ok(weight) }
}

const NOT_NEGATIVE: &str = "a weight that is finite and not negative";

/// Returns the notice about nonzero weights that were read as 0, or `None` if there are none.
pub(super) fn vanished(path: &Path, count: u64) -> Option<String> {
    let subject = match count {
        0 => return None,
        1 => "1 weight is".to_owned(),
        several => format!("{several} weights are"),
    };
    let path = path.display();
    Some(format!("{path}: {subject} below 1.4e-45, the least that 32-bit floats hold, and counted as 0."))
}

/// The bound above which weights may be timestamps. The number of seconds since 1970 exceeded this bound in 1973,
/// whereas the weights of a graph seldom all exceed it.
pub(crate) const STAMPS: f32 = 1e8;

/// Returns the notice that the weights may be timestamps.
pub(super) fn timestamps(path: &Path) -> String {
    format!(
        "{}: the third column was read as weights, though each is beyond 1e8, as timestamps are; without that column every edge weighs 1.",
        path.display()
    )
}
