//! Describes an edge that the conventions refuse. The description uses the ids that the file gives to the nodes, and
//! the numbers of the lines that list the edge.

use super::data_set::{Format, NodeIds};
use super::detect::Place;
use super::edge_list::{self, Listed};
use super::opening::integer;
use super::rows::Layout;
use super::source::Source;
use super::{graph6, matrix_market, tudataset};
use crate::error::{Error, Result};
use crate::graph::{Conventions, Reason, RefusedEdge};

/// A data set and the information that is needed to name its nodes and to find the lines of an edge again.
pub(super) struct Listing<'a> {
    pub(super) format: Format,
    pub(super) place: &'a Place,
    pub(super) node_ids: Option<&'a NodeIds>,
    /// The layout with which an edge list was read.
    pub(super) layout: Layout,
    pub(super) conventions: &'a Conventions,
    /// Reads the edges again.
    pub(super) again: &'a dyn Fn() -> Result<Listed>,
}

/// The maximum number of line numbers that an error lists.
const LINES: usize = 4;

impl Listing<'_> {
    /// Returns the error for a refused edge, at the line that lists the edge. The file is read again to find this line,
    /// so that no line numbers are stored while valid graphs are read.
    pub(super) fn refuse(&self, edge: &RefusedEdge) -> Error {
        let (source, target) = (edge.first + edge.source, edge.first + edge.target);
        let file = self.place.edges();
        let (mut there, mut back) = (Vec::new(), Vec::new());
        let visited = self.visit(source, target, &mut |line, reversed| match reversed {
            false => there.push(line),
            true => back.push(line),
        });
        let numbered = match visited {
            Ok(numbered) => numbered,
            Err(error) => return error,
        };
        let lines = |all: &[u64]| numbers(numbered, all);
        let line = |at: Option<&u64>| at.copied().filter(|_| numbered == LINE);
        // The nodes of each graph are counted from 0 in an OGB data set, and in documents without other names.
        let own = match self.format {
            Format::Ogb | Format::Graph6 => true,
            Format::GraphMl | Format::Gml | Format::Pajek => self.node_ids.is_none(),
            _ => false,
        };
        let first = if own { edge.first } else { 0 };
        let name = |node: usize| self.name(node - first);
        let graph = match self.format {
            Format::TuDataset => format!(" (graph {})", edge.graph + 1),
            Format::Ogb => format!(" (graph {})", edge.graph),
            Format::Arrays | Format::GraphMl | Format::Gml | Format::Graph6 | Format::Pajek if edge.graph > 0 => {
                format!(" (graph {})", edge.graph)
            }
            _ => String::new(),
        };
        let between = |source, target| match self.format {
            Format::MatrixMarket => format!("the entry of row {} and column {}", source + 1, target + 1),
            _ => format!("the edge from {} to {}{graph}", name(source), name(target)),
        };
        let (expected, found, at) = match edge.reason {
            Reason::Duplicate(times) => {
                let found = format!("{} {times} times, on {}", between(source, target), lines(&there));
                ("each edge once", found, line(there.get(1)))
            }
            Reason::Asymmetric(_, reverse) if there.is_empty() => {
                ("each edge with its reverse", without_reverse(&between(target, source), reverse), line(back.first()))
            }
            Reason::Asymmetric(own, _) if back.is_empty() => {
                ("each edge with its reverse", without_reverse(&between(source, target), own), line(there.first()))
            }
            Reason::Asymmetric(own, reverse) => {
                let found = format!(
                    "{} of weight {own}, and its reverse on {} of weight {reverse}",
                    between(source, target),
                    lines(&back)
                );
                ("each edge with its reverse of the same weight", found, line(there.first()))
            }
            Reason::Overflow => {
                let all = [there, back].concat();
                let found = format!("{}, on {}", between(source, target), lines(&all));
                ("weights whose sum a 64-bit float holds", found, line(all.first()))
            }
        };
        Error::parse(&file, at, expected, found)
    }

    /// Calls `found(line, false)` for each line that lists the edge, and `found(line, true)` for each line that lists
    /// the reverse of the edge. A self-loop has no reverse. Formats without lines count edges from 0 instead. Returns
    /// which of the two it is.
    fn visit(&self, source: usize, target: usize, found: &mut dyn FnMut(u64, bool)) -> Result<&'static str> {
        let mut nodes = |line, a: usize, b: usize| {
            if (a, b) == (source, target) {
                found(line, false);
            } else if (a, b) == (target, source) {
                found(line, true);
            }
        };
        match (self.place, self.format) {
            (Place::File(source), Format::MatrixMarket) => matrix_market::visit_edges(source, &mut nodes)?,
            (Place::TuDataset(set), _) => tudataset::visit(set, &mut nodes)?,
            (Place::File(source), Format::Graph6) => graph6::visit_edges(source, self.conventions, &mut nodes)?,
            (Place::File(file), Format::EdgeList) => self.visit_list(file, [source, target], &mut nodes)?,
            _ => {
                let Listed { edges, lines, has_lines, .. } = (self.again)()?;
                for (edge, (&source, &target)) in edges.sources().iter().zip(edges.targets()).enumerate() {
                    let line = lines.get(edge).copied().unwrap_or(edge as u64);
                    nodes(line, source as usize, target as usize);
                }
                return Ok(if has_lines { LINE } else { EDGE });
            }
        }
        Ok(LINE)
    }

    fn visit_list(&self, file: &Source, ends: [usize; 2], nodes: &mut dyn FnMut(u64, usize, usize)) -> Result<()> {
        let [source, target] = ends;
        let is = |field: &str, node: usize| match self.node_ids {
            Some(NodeIds::Text(ids)) => ids[node] == field,
            Some(NodeIds::Integers(ids)) => integer(field) == u64::try_from(ids[node]).ok(),
            None => integer(field) == Some(node as u64),
        };
        edge_list::visit(file, self.layout, &mut |line, a, b| {
            if is(a, source) && is(b, target) {
                nodes(line, source, target);
            } else if is(a, target) && is(b, source) {
                nodes(line, target, source);
            }
        })
    }

    /// Returns the name of a node in the terms of the file.
    fn name(&self, node: usize) -> String {
        match (self.format, self.node_ids) {
            (Format::TuDataset | Format::MatrixMarket | Format::Dimacs | Format::Metis, _) | (Format::Pajek, None) => {
                format!("node {}", node + 1)
            }
            (_, Some(NodeIds::Text(ids))) => format!("node {:?}", ids[node]),
            (_, Some(NodeIds::Integers(ids))) => format!("node {}", ids[node]),
            (_, None) => format!("node {node}"),
        }
    }
}

/// Describes an edge whose reverse is not listed. The description includes the weight unless it is 1.
fn without_reverse(edge: &str, weight: f64) -> String {
    #[expect(clippy::float_cmp, reason = "exactly 1 is what an unweighted edge has")]
    let weight = if weight == 1.0 { String::new() } else { format!(" of weight {weight}") };
    format!("{edge}{weight}, whose reverse is not listed")
}

const LINE: &str = "line";
const EDGE: &str = "edge";

/// Formats the numbers of lines or edges as a part of a sentence.
fn numbers(of: &str, all: &[u64]) -> String {
    let numbers: Vec<String> = all.iter().take(LINES).map(ToString::to_string).collect();
    match &numbers[..] {
        [one] => format!("{of} {one}"),
        several if all.len() > LINES => format!("{of}s {} and {} more", several.join(", "), all.len() - LINES),
        several => {
            let (last, others) = several.split_last().map_or(("", &[][..]), |(last, others)| (last.as_str(), others));
            format!("{of}s {} and {last}", others.join(", "))
        }
    }
}
