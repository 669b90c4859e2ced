//! Reads GraphML: <http://graphml.graphdrawing.org/specification.html>.

use super::{Elements, Item, Tag};
use crate::error::{Error, Result};
use crate::graph::Conventions;
use crate::io::edge_list::Listed;
use crate::io::nodes::{self, Nodes, joined};
use crate::io::source::Source;

/// An edge whose element has not ended yet.
struct Edge {
    source: String,
    target: String,
    directed: bool,
    line: u64,
    weight: Option<f64>,
}

/// What is known of a document.
#[derive(Default)]
struct Document {
    /// The graphs that have ended, each with names of its own.
    graphs: Vec<Listed>,
    /// The nodes and edges of the present graph, and of the graphs within it.
    nodes: Nodes,
    /// The keys of the edges' weights. networkx writes one for each type of a number.
    keys: Vec<String>,
    /// The weight of an edge that states none.
    default: Option<f64>,
    /// Whether the edges of each open graph are directed, the outermost first.
    directed: Vec<bool>,
    /// The open edges; an edge may contain a graph.
    edges: Vec<Edge>,
    /// Whether the last start tag is the default of the weights' key, or the datum of an edge's weight.
    in_weight: bool,
    /// Whether a key of the edges' weights is open.
    in_key: bool,
}

/// Reads the graphs of a document. The weights are the values of the keys whose `attr.name` is `weight`.
pub(in crate::io) fn read(source: &Source, conventions: &Conventions) -> Result<Listed> {
    let mut elements = Elements::open(source)?;
    match elements.next()? {
        Some(Item::Start(tag)) if tag.name == "graphml" => {}
        _ => return Err(elements.error("the element <graphml>", "another")),
    }
    let mut document = Document { nodes: Nodes::new(conventions), ..Document::default() };
    while let Some(item) = elements.next()? {
        match item {
            Item::Start(tag) => document.start(&elements, &tag)?,
            Item::End(name) => document.end(&elements, &name, (source, conventions))?,
        }
    }
    if document.graphs.is_empty() {
        return Err(Error::parse(source.name(), None, "a GraphML document with a <graph>", "none"));
    }
    joined(document.graphs)
}

impl Document {
    fn start(&mut self, elements: &Elements, tag: &Tag) -> Result<()> {
        self.in_weight = false;
        match tag.name.as_str() {
            "key" => {
                let of_edges = matches!(tag.get("for"), None | Some("edge" | "all"));
                let named = tag.get("attr.name").is_some_and(|name| name.eq_ignore_ascii_case("weight"));
                self.in_key = of_edges && named;
                if self.in_key {
                    self.keys.push(elements.required(tag, "id")?.to_owned());
                }
            }
            "default" => self.in_weight = self.in_key,
            "graph" => {
                let directed = match tag.get("edgedefault") {
                    Some("directed") => true,
                    Some("undirected") => false,
                    found => {
                        let found = found.unwrap_or("none").to_owned();
                        return Err(elements.error("the edgedefault `directed` or `undirected`", found));
                    }
                };
                self.directed.push(directed);
            }
            "node" if !self.directed.is_empty() => {
                let id = elements.required(tag, "id")?;
                self.nodes.declare(id, elements.line).map_err(|wrong| elements.wrong(wrong))?;
            }
            "edge" if !self.directed.is_empty() => {
                let directed = match tag.get("directed") {
                    None => self.directed.last() == Some(&true),
                    Some("true" | "1") => true,
                    Some("false" | "0") => false,
                    Some(found) => return Err(elements.error("directed=\"true\" or \"false\"", found)),
                };
                let end = |key| elements.required(tag, key).map(str::to_owned);
                let (source, target, line) = (end("source")?, end("target")?, elements.line);
                self.edges.push(Edge { source, target, directed, line, weight: None });
            }
            "hyperedge" => return Err(elements.error("edges between two nodes", "a <hyperedge>")),
            "data" => {
                let is_key = tag.get("key").is_some_and(|key| self.keys.iter().any(|own| own == key));
                self.in_weight = !self.edges.is_empty() && is_key;
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, elements: &Elements, name: &str, (source, conventions): (&Source, &Conventions)) -> Result<()> {
        match name {
            "default" if self.in_weight => {
                let weight = nodes::weight(&elements.text, elements.signed).map_err(|wrong| elements.wrong(wrong))?;
                if self.default.replace(weight).is_some() {
                    return Err(elements.error("one default of the edges' weight", "another"));
                }
            }
            "data" if self.in_weight => {
                let weight = nodes::weight(&elements.text, elements.signed).map_err(|wrong| elements.wrong(wrong))?;
                if self.edges.last_mut().and_then(|edge| edge.weight.replace(weight)).is_some() {
                    return Err(elements.error("one weight of an edge", "another"));
                }
            }
            "edge" => {
                if let Some(Edge { source, target, directed, line, weight }) = self.edges.pop() {
                    let weight = weight.or(self.default);
                    let added = self.nodes.edge([&source, &target], weight, directed, line);
                    added.map_err(|wrong| elements.wrong(wrong))?;
                }
            }
            "graph" => {
                self.directed.pop();
                if self.directed.is_empty() {
                    let nodes = std::mem::replace(&mut self.nodes, Nodes::new(conventions));
                    self.graphs.push(nodes.finish(source, None)?);
                }
            }
            "key" => self.in_key = false,
            _ => {}
        }
        self.in_weight = false;
        Ok(())
    }
}
