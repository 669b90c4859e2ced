//! Collects the nodes and edges of formats that list nodes by names, and edges by the names of their ends.

use super::data_set::NodeIds;
use super::edge_list::Listed;
use super::edges::{Edges, in_order};
use super::lines::quoted;
use super::rows::Layout;
use super::source::Source;
use super::weights::parsed;
use crate::error::{Error, Result};
use crate::graph::{Conventions, EdgeList};
use std::collections::HashMap;

/// What is wrong with a node or an edge: what was expected, and what was found.
pub(super) type Wrong = (String, String);

/// Parses a weight that is text, which may be negative in a signed graph.
pub(super) fn weight(field: &str, signed: bool) -> Result<f64, Wrong> {
    let field = field.trim().as_bytes();
    parsed(field, signed).map_err(|expected| (expected.to_owned(), quoted(field)))
}

/// Returns the list of a batch from those of its parts, of which there is at least one. Each has one graph or several,
/// numbers its own nodes, and has names of its own.
pub(super) fn joined(mut graphs: Vec<Listed>) -> Result<Listed> {
    if graphs.len() == 1
        && let Some(one) = graphs.pop()
    {
        return Ok(one);
    }
    let (mut offsets, mut firsts) = (vec![0], Vec::with_capacity(graphs.len()));
    for part in &graphs {
        let first = offsets.last().copied().unwrap_or(0);
        firsts.push(first);
        offsets.extend(part.edges.node_offsets()[1..].iter().map(|offset| first + offset));
    }
    let mut all = EdgeList::batch(offsets)?;
    all.reserve(graphs.iter().map(|graph| graph.edges.len()).sum());
    let (mut notices, mut lines, mut has_lines) = (Vec::new(), Vec::new(), false);
    for (graph, first) in graphs.iter_mut().zip(firsts) {
        // The batch has a number for every node in 32 bits.
        #[expect(clippy::cast_possible_truncation, reason = "the list of the batch was made with these offsets")]
        let first = first as u32;
        let ends = graph.edges.sources().iter().zip(graph.edges.targets());
        for (edge, (&source, &target)) in ends.enumerate() {
            match graph.edges.weights() {
                Some(weights) => all.push_weighted(first + source, first + target, weights.at(edge)),
                None => all.push(first + source, first + target),
            }
        }
        notices.append(&mut graph.notices);
        lines.append(&mut graph.lines);
        has_lines |= graph.has_lines;
    }
    let node_ids = names(graphs);
    Ok(Listed { edges: all, node_ids, notices, layout: Layout::default(), lines, has_lines })
}

/// Returns the names of all nodes: integers if every graph has integers, and texts otherwise.
fn names(graphs: Vec<Listed>) -> Option<NodeIds> {
    if graphs.iter().all(|graph| graph.node_ids.is_none()) {
        return None;
    }
    let counted = |graph: &Listed| (0..).take(graph.edges.nodes());
    if graphs.iter().any(|graph| matches!(graph.node_ids, Some(NodeIds::Text(_)))) {
        let texts = graphs.into_iter().flat_map(|graph| match graph.node_ids {
            Some(NodeIds::Text(texts)) => texts,
            Some(NodeIds::Integers(numbers)) => numbers.iter().map(ToString::to_string).collect(),
            None => counted(&graph).map(|number: i64| number.to_string()).collect(),
        });
        return Some(NodeIds::Text(texts.collect()));
    }
    let numbers = graphs.into_iter().flat_map(|graph| match graph.node_ids {
        Some(NodeIds::Integers(numbers)) => numbers,
        _ => counted(&graph).collect(),
    });
    Some(NodeIds::Integers(numbers.collect()))
}

/// The nodes and edges of one graph.
#[derive(Default)]
pub(super) struct Nodes {
    /// The index of each node, in the order in which their names first appear.
    index: HashMap<String, u32>,
    /// The line on which each node first appears, and whether it was declared there or elsewhere.
    seen: Vec<(u64, bool)>,
    /// The nodes in the order in which they are declared.
    order: Vec<u32>,
    edges: Edges,
    has_lines: bool,
    /// The number of edges that were listed.
    listed: u64,
}

impl Nodes {
    /// Returns no nodes and no edges, to be read under `conventions`.
    pub(super) fn new(conventions: &Conventions) -> Self {
        Self { edges: Edges::new(conventions), ..Self::default() }
    }

    /// Declares a node. `line` is 0 if lines are not known.
    ///
    /// # Errors
    /// A node that was declared before.
    pub(super) fn declare(&mut self, name: &str, line: u64) -> Result<(), Wrong> {
        match self.mention(name, line)? {
            true => Ok(()),
            false => Err(("each node once".to_owned(), format!("node {} again", quoted(name.as_bytes())))),
        }
    }

    /// Declares a node unless it was declared before. Returns whether it was not.
    pub(super) fn mention(&mut self, name: &str, line: u64) -> Result<bool, Wrong> {
        let node = self.node(name, line)?;
        let new = !std::mem::replace(&mut self.seen[node as usize].1, true);
        if new {
            self.order.push(node);
        }
        Ok(new)
    }

    /// Returns the index of a node, which may be declared later.
    fn node(&mut self, name: &str, line: u64) -> Result<u32, Wrong> {
        if let Some(&node) = self.index.get(name) {
            return Ok(node);
        }
        let too_many = |_| ("fewer than 2^32 nodes".to_owned(), "more".to_owned());
        let node = u32::try_from(self.seen.len()).map_err(too_many)?;
        self.index.insert(name.to_owned(), node);
        self.seen.push((line, false));
        Ok(node)
    }

    /// Adds an edge. An undirected edge counts in both directions, also where the conventions add them up.
    pub(super) fn edge(
        &mut self,
        [source, target]: [&str; 2],
        weight: Option<f64>,
        directed: bool,
        line: u64,
    ) -> Result<(), Wrong> {
        let ends = [self.node(source, line)?, self.node(target, line)?];
        self.has_lines |= line > 0;
        let line = if line > 0 { line } else { self.listed };
        self.listed += 1;
        self.edges.add(ends, weight, directed, line);
        Ok(())
    }

    /// Makes all edges undirected, of which each was added as directed.
    pub(super) fn make_undirected(&mut self) {
        self.edges.make_undirected(|_, _| true);
    }

    /// Returns the number of nodes that were declared.
    pub(super) fn declared(&self) -> usize {
        self.order.len()
    }

    /// Returns the list of edges. The nodes have the order in which they are declared or, if all names are natural
    /// numbers, the order of these numbers, as in an edge list. `labels`, if given, takes the place of the names; it
    /// has an element for each node, in the order in which they are declared.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if the end of an edge was not declared.
    pub(super) fn finish(self, source: &Source, labels: Option<Vec<String>>) -> Result<Listed> {
        let Self { index, seen, order, edges, has_lines, .. } = self;
        let mut names = vec![String::new(); seen.len()];
        for (name, node) in index {
            names[node as usize] = name;
        }
        if let Some(node) = seen.iter().position(|(_, declared)| !declared) {
            let line = Some(seen[node].0).filter(|&line| line > 0);
            let found = format!("an edge of node {}", quoted(names[node].as_bytes()));
            return Err(Error::parse(source.name(), line, "edges between nodes that the file lists", found));
        }
        let named: Vec<(String, u32)> = match labels {
            Some(labels) => labels.into_iter().zip(order).collect(),
            None => order.into_iter().map(|node| (std::mem::take(&mut names[node as usize]), node)).collect(),
        };
        let (node_ids, places) = in_order(named);
        Ok(Listed { has_lines, ..edges.finish(places.len(), Some(&places), node_ids)? })
    }
}
