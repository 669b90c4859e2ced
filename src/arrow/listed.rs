//! The edges of several rows or runs of a table, checked graph by graph, and the graphs that they make.

use super::ids::GraphIds;
use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::graph::{Conventions, EdgeList, Graph, GraphBatch, Merged, Weights};

/// Why a graph has no encoding.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fault {
    /// What the column `status` says.
    pub(super) status: &'static str,
    /// What the column `error` says.
    pub(super) what: String,
}

/// The status of a row whose edges are no graph.
pub(super) const BAD_INPUT: &str = "bad input";
/// The status of a row whose graph needs more memory than the budget has, or than the device's kernels take.
pub(super) const TOO_LARGE: &str = "too large";

impl Fault {
    pub(super) fn bad(what: impl Into<String>) -> Self {
        Self { status: BAD_INPUT, what: what.into() }
    }

    pub(super) fn too_large(what: impl Into<String>) -> Self {
        Self { status: TOO_LARGE, what: what.into() }
    }
}

/// What limits the graphs that are encoded together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The numbers of the arrays that have the most for each node.
    pub(super) per_node: usize,
    /// The bytes of the graphs and their arrays.
    pub(super) bytes: u64,
    /// The bytes of one graph and its arrays, or of what its encoding takes.
    pub(super) alone: u64,
    /// The bytes for each node that encoding a large graph takes at least.
    pub(super) solving: u64,
}

/// The number of values that the offsets of Arrow's lists can tell apart.
const MOST_VALUES: u64 = i32::MAX as u64;

impl Limits {
    fn bytes_of(self, nodes: u64, edges: u64) -> u64 {
        nodes.saturating_mul(8 * (self.per_node as u64 + 3)).saturating_add(edges.saturating_mul(32))
    }

    fn hold(self, nodes: u64, edges: u64) -> bool {
        nodes.saturating_mul(self.per_node.max(1) as u64) <= MOST_VALUES && self.bytes_of(nodes, edges) <= self.bytes
    }
}

/// What a table says about the nodes of a graph.
pub(super) enum Nodes {
    /// Nothing: the largest node decides.
    Unsaid,
    /// Their number.
    Said(i128),
    /// Their ids.
    Named(GraphIds),
}

/// The edges of consecutive graphs of a table.
#[derive(Debug)]
pub(super) struct Listed {
    /// How many graphs the table lists here, with those that have a fault.
    pub(super) count: usize,
    /// The place of each graph without a fault among them.
    places: Vec<usize>,
    node_offsets: Vec<usize>,
    edge_offsets: Vec<usize>,
    sources: Vec<u32>,
    targets: Vec<u32>,
    weights: Option<Weights>,
    /// The place and the ids of each graph whose nodes have ids.
    pub(super) ids: Vec<(usize, GraphIds)>,
    /// The places of the graphs whose nodes are numbered from 0 by edges that do not name node 0.
    pub(super) without_first: Vec<usize>,
    /// Which edges the built graphs have merged.
    pub(super) merged: Merged,
    pub(super) faults: Vec<(usize, Fault)>,
    /// Whether weights may be negative.
    pub(super) signed: bool,
}

impl Listed {
    pub(super) fn new(weighted: bool, signed: bool) -> Self {
        Self {
            count: 0,
            places: Vec::new(),
            node_offsets: vec![0],
            edge_offsets: vec![0],
            sources: Vec::new(),
            targets: Vec::new(),
            weights: weighted.then(Weights::default),
            ids: Vec::new(),
            without_first: Vec::new(),
            merged: Merged::default(),
            faults: Vec::new(),
            signed,
        }
    }

    /// Returns whether there are weights, all of which are above a number.
    pub(super) fn has_only_weights_above(&self, least: f64) -> bool {
        self.weights
            .as_ref()
            .map(Weights::view)
            .is_some_and(|all| !all.is_empty() && all.iter().all(|weight| weight > least))
    }

    fn nodes(&self) -> usize {
        self.node_offsets.last().copied().unwrap_or(0)
    }

    /// Adds an edge to the graph that is being listed.
    pub(super) fn edge(&mut self, [source, target]: [Option<i128>; 2], weight: Option<f64>) -> Result<(), Fault> {
        let end = |node: Option<i128>| match node {
            Some(node) => {
                u32::try_from(node).map_err(|_| Fault::bad(format!("expected nodes that count from 0, found {node}")))
            }
            None => Err(Fault::bad("expected a node at each end of an edge, found null")),
        };
        let (source, target) = (end(source)?, end(target)?);
        if let Some(weights) = &mut self.weights {
            let weight = weight.unwrap_or(1.0);
            if !weight.is_finite() || weight < 0.0 && !self.signed {
                let but = if self.signed { "" } else { " and not negative" };
                let edge = format!("({source}, {target})");
                return Err(Fault::bad(format!("expected weights that are finite{but}, found {weight} at {edge}")));
            }
            weights.push(weight);
        }
        self.sources.push(source);
        self.targets.push(target);
        Ok(())
    }

    /// Ends the graph whose edges were added since the last one. If there was a fault, its edges are forgotten. Returns
    /// whether the limits still hold; if they do not, the graph was not added, because it belongs to the next graphs.
    pub(super) fn end(&mut self, nodes: Result<Nodes, Fault>, limits: Limits) -> bool {
        let begin = self.edge_offsets.last().copied().unwrap_or(0);
        let (mut ids, mut said) = (None, None);
        let checked = nodes.and_then(|nodes| {
            match nodes {
                Nodes::Unsaid => {}
                Nodes::Said(count) => said = Some(count),
                Nodes::Named(own) => {
                    said = Some(own.nodes().into());
                    ids = Some(own);
                }
            }
            self.node_count(begin, said, limits)
        });
        let checked = match checked {
            Ok(own) => {
                let (nodes, edges) = ((self.nodes() + own) as u64, self.sources.len() as u64);
                if !self.places.is_empty() && !limits.hold(nodes, edges) {
                    self.forget(begin);
                    return false;
                }
                Ok(own)
            }
            Err(fault) => Err(fault),
        };
        match checked {
            Ok(own) => {
                #[expect(clippy::cast_possible_truncation, reason = "the limits keep nodes below 2^31")]
                let first = self.nodes() as u32;
                let mut ends = self.sources[begin..].iter().chain(&self.targets[begin..]);
                if own > 0 && ends.all(|&end| end != 0) && ids.as_ref().is_none_or(GraphIds::is_counting) {
                    self.without_first.push(self.count);
                }
                for end in self.sources[begin..].iter_mut().chain(&mut self.targets[begin..]) {
                    *end += first;
                }
                self.node_offsets.push(first as usize + own);
                self.edge_offsets.push(self.sources.len());
                self.places.push(self.count);
                self.ids.extend(ids.map(|ids| (self.count, ids)));
            }
            Err(fault) => {
                self.forget(begin);
                self.faults.push((self.count, fault));
            }
        }
        self.count += 1;
        true
    }

    fn forget(&mut self, begin: usize) {
        self.sources.truncate(begin);
        self.targets.truncate(begin);
        if let Some(weights) = &mut self.weights {
            weights.truncate(begin);
        }
    }

    /// Returns the number of nodes of the graph whose edges begin at `begin`.
    fn node_count(&self, begin: usize, said: Option<i128>, limits: Limits) -> Result<usize, Fault> {
        let ends = self.sources[begin..].iter().chain(&self.targets[begin..]);
        let named = ends.max().map_or(0, |&node| u64::from(node) + 1);
        let nodes = match said {
            None => named,
            Some(said) => {
                let wrong = || Fault::bad(format!("expected from 0 to {} nodes, found {said}", u32::MAX));
                let said = u32::try_from(said).map_err(|_| wrong())?.into();
                if named > said {
                    let last = named - 1;
                    return Err(Fault::bad(format!("an edge names node {last}, and the graph has {said} nodes")));
                }
                said
            }
        };
        let own = limits.bytes_of(nodes, (self.sources.len() - begin) as u64);
        let needed = own.max(nodes.saturating_mul(limits.solving));
        if needed > limits.alone || nodes.saturating_mul(limits.per_node.max(1) as u64) > MOST_VALUES {
            let what = format!(
                "{nodes} nodes need {needed} bytes for their numbers, the memory budget allows {}",
                limits.alone
            );
            return Err(Fault::too_large(what));
        }
        usize::try_from(nodes).map_err(|_| Fault::too_large(format!("{nodes} nodes")))
    }

    /// Builds the graphs. Graphs that the conventions refuse get a fault, and are left out. Returns the place of each
    /// graph, too.
    pub(super) fn graphs(&mut self, cancel: &Cancel, conventions: &Conventions) -> Result<(GraphBatch, Vec<usize>)> {
        let edges = EdgeList::batch(self.node_offsets.clone())?;
        if self.places.len() < 2 {
            // A large graph is alone, and its edges are not copied.
            let [sources, targets] = [&mut self.sources, &mut self.targets].map(std::mem::take);
            let alone = edges.holding(sources, targets, self.weights.take());
            return match GraphBatch::from_edge_list_counted(alone, conventions, cancel) {
                Err(error) if !error.is_cancelled() && !self.places.is_empty() => {
                    self.faults.push((self.places[0], Fault::bad(error.to_string())));
                    Ok((GraphBatch::from_edge_list(EdgeList::batch(vec![0])?, conventions)?, Vec::new()))
                }
                built => {
                    let (graphs, merged) = built?;
                    self.merged = merged;
                    Ok((graphs, std::mem::take(&mut self.places)))
                }
            };
        }
        let all = edges.holding(self.sources.clone(), self.targets.clone(), self.weights.clone());
        match GraphBatch::from_edge_list_counted(all, conventions, cancel) {
            Ok((graphs, merged)) => {
                self.merged = merged;
                return Ok((graphs, std::mem::take(&mut self.places)));
            }
            Err(error) if error.is_cancelled() => return Err(error),
            Err(_) => {}
        }
        let (mut graphs, mut places) = (Vec::new(), Vec::new());
        for (graph, place) in std::mem::take(&mut self.places).into_iter().enumerate() {
            cancel.check()?;
            match self.alone(graph, conventions) {
                Ok((alone, merged)) => {
                    self.merged = self.merged.and(merged);
                    graphs.push(alone);
                    places.push(place);
                }
                Err(error) => self.faults.push((place, Fault::bad(error.to_string()))),
            }
        }
        let made = match graphs.is_empty() {
            true => GraphBatch::from_edge_list(EdgeList::batch(vec![0])?, conventions)?,
            false => GraphBatch::from_graphs(&graphs)?,
        };
        Ok((made, places))
    }

    fn alone(&self, graph: usize, conventions: &Conventions) -> Result<(Graph, Merged), Error> {
        let edges = self.edge_offsets[graph]..self.edge_offsets[graph + 1];
        let (first, end) = (self.node_offsets[graph], self.node_offsets[graph + 1]);
        #[expect(clippy::cast_possible_truncation, reason = "nodes are numbered by 32 bits")]
        let own = |ends: &[u32]| ends[edges.clone()].iter().map(|&node| node - first as u32).collect();
        let weights = self.weights.as_ref().map(|weights| weights.view().range(edges.clone()).to_weights());
        Graph::counted(
            EdgeList::new(end - first)?.holding(own(&self.sources), own(&self.targets), weights),
            conventions,
        )
    }
}
