//! Graphs that were read or made.

use crate::errors::{misshapen, refused, thrown};
use crate::options::{self, ReadOptions, whole};
use crate::samples;
use fiedler::graph::{EdgeList, GraphRef};
use fiedler::io::{Format, NodeIds, read_from};
use fiedler::{Cancel, GraphBatch};
use wasm_bindgen::prelude::*;

/// The bytes of working memory that building a graph takes for each node: offsets, starts and degrees.
const BYTES_PER_NODE: usize = 32;

/// A batch of graphs with the names of its nodes.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Graphs {
    name: String,
    format: Option<Format>,
    notices: Vec<String>,
    ids: Option<NodeIds>,
    batch: GraphBatch,
}

impl Graphs {
    pub(crate) fn batch(&self) -> &GraphBatch {
        &self.batch
    }

    pub(crate) fn ids(&self) -> Option<&NodeIds> {
        self.ids.as_ref()
    }

    /// Returns the number by which the file calls its first graph.
    pub(crate) fn first(&self) -> usize {
        self.format.map_or(0, Format::first_graph)
    }
}

#[wasm_bindgen]
impl Graphs {
    /// Returns the graphs of a sample of the page.
    ///
    /// # Errors
    /// An unknown name.
    pub fn sample(name: &str) -> Result<Self, JsValue> {
        if name == "karate" {
            let data = samples::karate().map_err(thrown)?;
            return Ok(Self {
                name: name.to_owned(),
                format: None,
                notices: Vec::new(),
                ids: data.node_ids,
                batch: data.graphs,
            });
        }
        let batch = samples::sample(name)?;
        Ok(Self { name: name.to_owned(), format: None, notices: Vec::new(), ids: None, batch })
    }

    /// Reads the graphs of a file, whose format its content and its name tell.
    ///
    /// # Errors
    /// Content that no format allows, with the line; unknown options.
    pub fn read(
        bytes: &[u8],
        file_name: &str,
        #[wasm_bindgen(unchecked_optional_param_type = "ReadOptions")] options: JsValue,
    ) -> Result<Self, JsValue> {
        let options = options::read::<ReadOptions>(options)?;
        let conventions = options.conventions()?;
        let data = read_from(file_name, bytes, &conventions, &fiedler::io::ReadOptions::default()).map_err(thrown)?;
        let from_one = data.isolated().doubt().map(|doubt| format!("{}: {doubt}.", data.name));
        let doubts = data.doubts().filter(|_| options.symmetrize.is_none());
        let notices = data.notices.iter().cloned().chain(from_one).chain(doubts).collect();
        Ok(Self { name: data.name, format: Some(data.format), notices, ids: data.node_ids, batch: data.graphs })
    }

    /// Returns the graph with these edges: a pair of node numbers for each edge, and perhaps a weight in f64.
    ///
    /// # Errors
    /// A number of nodes that is not whole or does not fit in memory, an odd number of node numbers, a number that is
    /// no node, a weight that no convention allows, unknown options.
    #[wasm_bindgen(js_name = fromEdges)]
    pub fn from_edges(
        nodes: f64,
        edges: &[u32],
        weights: Option<Vec<f64>>,
        #[wasm_bindgen(unchecked_optional_param_type = "ReadOptions")] options: JsValue,
    ) -> Result<Self, JsValue> {
        let options = options::read::<ReadOptions>(options)?;
        let conventions = options.conventions()?;
        let nodes = whole("nodes", nodes)?;
        let (pairs, rest) = edges.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(misshapen(&format!("edges: expected a pair for each edge, found {} numbers", edges.len())));
        }
        if let Some(found) = weights.as_ref().map(Vec::len).filter(|&found| found != pairs.len()) {
            let message = format!("weights: expected one for each of {} edges, found {found}", pairs.len());
            return Err(misshapen(&message));
        }
        // Isolated nodes cost memory that no edge shows.
        let bytes = BYTES_PER_NODE.checked_mul(nodes);
        if bytes.is_none_or(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_err()) {
            return Err(refused(&format!("nodes: expected a number that fits in memory, found {nodes}")));
        }
        let mut list = EdgeList::new(nodes).map_err(thrown)?;
        match weights {
            None => pairs.iter().for_each(|&[a, b]| list.push(a, b)),
            Some(weights) => pairs.iter().zip(weights).for_each(|(&[a, b], weight)| list.push_weighted(a, b, weight)),
        }
        let (batch, merged) = GraphBatch::from_edge_list_counted(list, &conventions, &Cancel::new()).map_err(thrown)?;
        let doubts = merged.doubts().filter(|_| options.symmetrize.is_none());
        let notices = doubts.map(|doubt| format!("edges: {doubt}.")).collect();
        Ok(Self { name: "edges".to_owned(), format: None, notices, ids: None, batch })
    }

    /// The name of the sample or of the data set.
    #[wasm_bindgen(getter)]
    pub fn name(&self) -> String {
        self.name.clone()
    }

    /// The format of the file, such as `an edge list`.
    #[wasm_bindgen(getter)]
    pub fn format(&self) -> Option<String> {
        self.format.map(|format| format.name().to_owned())
    }

    /// The number of graphs.
    #[wasm_bindgen(getter)]
    pub fn count(&self) -> usize {
        self.batch.len()
    }

    /// The number of nodes of all graphs.
    #[wasm_bindgen(getter)]
    pub fn nodes(&self) -> usize {
        self.batch.nodes()
    }

    /// The number of edges of all graphs, each counted once.
    #[wasm_bindgen(getter)]
    pub fn edges(&self) -> usize {
        self.batch.iter().map(|graph| pairs(graph).len() / 2).sum()
    }

    /// The number of nodes of a graph.
    ///
    /// # Errors
    /// A number that is no graph.
    #[wasm_bindgen(js_name = nodesOf)]
    pub fn nodes_of(&self, graph: f64) -> Result<usize, JsValue> {
        Ok(self.batch.graph(self.index(graph)?).nodes())
    }

    /// The edges of a graph as pairs of its node numbers, the smaller one first.
    ///
    /// # Errors
    /// A number that is no graph.
    #[wasm_bindgen(js_name = edgesOf)]
    pub fn edges_of(&self, graph: f64) -> Result<Vec<u32>, JsValue> {
        Ok(pairs(self.batch.graph(self.index(graph)?)))
    }

    /// The names that the file gives to the nodes of a graph, if it names them.
    ///
    /// # Errors
    /// A number that is no graph.
    #[wasm_bindgen(js_name = idsOf)]
    pub fn ids_of(&self, graph: f64) -> Result<Option<Vec<String>>, JsValue> {
        let graph = self.index(graph)?;
        let offsets = self.batch.node_offsets();
        let nodes = offsets[graph]..offsets[graph + 1];
        Ok(self.ids.as_ref().map(|ids| match ids {
            NodeIds::Integers(ids) => ids[nodes].iter().map(ToString::to_string).collect(),
            NodeIds::Text(ids) => ids[nodes].to_vec(),
        }))
    }

    /// What another program might read differently in the file.
    pub fn notices(&self) -> Vec<String> {
        self.notices.clone()
    }

    /// Returns the number of a graph, if it is one.
    fn index(&self, graph: f64) -> Result<usize, JsValue> {
        let graph = whole("graph", graph)?;
        if graph < self.batch.len() {
            return Ok(graph);
        }
        Err(refused(&format!("graph: expected a number below {}, found {graph}", self.batch.len())))
    }
}

/// Returns the edges as pairs of nodes, the smaller one first.
fn pairs(graph: GraphRef<'_>) -> Vec<u32> {
    let mut edges = Vec::with_capacity(graph.entries());
    for (row, node) in (0..graph.nodes()).zip(0_u32..) {
        for &other in graph.neighbors(row).iter().filter(|&&other| other >= node) {
            edges.extend([node, other]);
        }
    }
    edges
}
