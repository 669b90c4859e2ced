//! Describes an edge that the conventions refuse. The description uses the ids that the file gives to the nodes, and
//! the numbers of the lines that list the edge.

use super::data_set::{Format, NodeIds};
use super::opening::integer;
use super::rows::Layout;
use super::{edge_list, matrix_market, tudataset};
use crate::error::{Error, Result};
use crate::graph::{Reason, RefusedEdge};
use std::path::Path;

/// A file and the information that is needed to name its nodes and to find the lines of an edge again.
pub(super) struct Source<'a> {
    pub(super) format: Format,
    /// The path of the file, or the path prefix of a TUDataset.
    pub(super) place: &'a Path,
    pub(super) node_ids: Option<&'a NodeIds>,
    /// The layout with which an edge list was read.
    pub(super) layout: Layout,
}

/// The maximum number of line numbers that an error lists.
const LINES: usize = 4;

impl Source<'_> {
    /// Returns the error for a refused edge, at the line that lists the edge. The file is read again to find this line,
    /// so that no line numbers are stored while valid graphs are read.
    pub(super) fn refuse(&self, edge: &RefusedEdge) -> Error {
        let (source, target) = (edge.first + edge.source, edge.first + edge.target);
        let file = match self.format {
            Format::TuDataset => tudataset::files(self.place).0,
            Format::EdgeList | Format::MatrixMarket => self.place.into(),
        };
        let (mut there, mut back) = (Vec::new(), Vec::new());
        let visited = self.visit(source, target, &mut |line, reversed| match reversed {
            false => there.push(line),
            true => back.push(line),
        });
        if let Err(error) = visited {
            return error;
        }
        let name = |node| self.name(node);
        let graph = match self.format {
            Format::TuDataset => format!(" (graph {})", edge.graph + 1),
            Format::EdgeList | Format::MatrixMarket => String::new(),
        };
        let between = |source, target| match self.format {
            Format::MatrixMarket => format!("the entry of row {} and column {}", source + 1, target + 1),
            _ => format!("the edge from {} to {}{graph}", name(source), name(target)),
        };
        let (expected, found, at) = match edge.reason {
            Reason::Duplicate(times) => {
                let found = format!("{} {times} times, on {}", between(source, target), lines(&there));
                ("each edge once", found, there.get(1).copied())
            }
            Reason::Asymmetric(_, reverse) if there.is_empty() => (
                "each edge with its reverse",
                without_reverse(&between(target, source), reverse),
                back.first().copied(),
            ),
            Reason::Asymmetric(own, _) if back.is_empty() => {
                ("each edge with its reverse", without_reverse(&between(source, target), own), there.first().copied())
            }
            Reason::Asymmetric(own, reverse) => {
                let found = format!(
                    "{} of weight {own}, and its reverse on {} of weight {reverse}",
                    between(source, target),
                    lines(&back)
                );
                ("each edge with its reverse of the same weight", found, there.first().copied())
            }
            Reason::Overflow(sum) => {
                let all = [there, back].concat();
                let found = format!("{} of weight {sum:.3e}, from {}", between(source, target), lines(&all));
                ("weights that add up to a 32-bit float", found, all.first().copied())
            }
        };
        Error::parse(&file, at, expected, found)
    }

    /// Calls `found(line, false)` for each line that lists the edge, and `found(line, true)` for each line that lists
    /// the reverse of the edge. A self-loop has no reverse.
    fn visit(&self, source: usize, target: usize, found: &mut dyn FnMut(u64, bool)) -> Result<()> {
        let mut nodes = |line, a: usize, b: usize| {
            if (a, b) == (source, target) {
                found(line, false);
            } else if (a, b) == (target, source) {
                found(line, true);
            }
        };
        match self.format {
            Format::MatrixMarket => matrix_market::visit_entries(self.place, &mut nodes),
            Format::TuDataset => tudataset::visit(self.place, &mut nodes),
            Format::EdgeList => {
                let is = |field: &str, node: usize| match self.node_ids {
                    Some(NodeIds::Text(ids)) => ids[node] == field,
                    Some(NodeIds::Integers(ids)) => integer(field) == u64::try_from(ids[node]).ok(),
                    None => integer(field) == Some(node as u64),
                };
                edge_list::visit(self.place, self.layout, &mut |line, a, b| {
                    if is(a, source) && is(b, target) {
                        nodes(line, source, target);
                    } else if is(a, target) && is(b, source) {
                        nodes(line, target, source);
                    }
                })
            }
        }
    }

    /// Returns the name of a node in the terms of the file.
    fn name(&self, node: usize) -> String {
        match (self.format, self.node_ids) {
            (Format::EdgeList, Some(NodeIds::Text(ids))) => format!("node {:?}", ids[node]),
            (Format::EdgeList, Some(NodeIds::Integers(ids))) => format!("node {}", ids[node]),
            (Format::EdgeList, None) => format!("node {node}"),
            (Format::TuDataset | Format::MatrixMarket, _) => format!("node {}", node + 1),
        }
    }
}

/// Describes an edge whose reverse is not listed. The description includes the weight unless it is 1.
fn without_reverse(edge: &str, weight: f32) -> String {
    #[expect(clippy::float_cmp, reason = "exactly 1 is what an unweighted edge has")]
    let weight = if weight == 1.0 { String::new() } else { format!(" of weight {weight}") };
    format!("{edge}{weight}, whose reverse is not listed")
}

/// Formats line numbers as a part of a sentence.
fn lines(all: &[u64]) -> String {
    let numbers: Vec<String> = all.iter().take(LINES).map(ToString::to_string).collect();
    match &numbers[..] {
        [one] => format!("line {one}"),
        several if all.len() > LINES => format!("lines {} and {} more", several.join(", "), all.len() - LINES),
        several => {
            let (last, others) = several.split_last().map_or(("", &[][..]), |(last, others)| (last.as_str(), others));
            format!("lines {} and {last}", others.join(", "))
        }
    }
}
