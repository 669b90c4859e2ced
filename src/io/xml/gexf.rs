//! Reads GEXF: <https://gexf.net/schema.html>.

use super::{Elements, Item, Tag};
use crate::error::{Error, Result};
use crate::graph::Conventions;
use crate::io::edge_list::Listed;
use crate::io::nodes::{self, Nodes};
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
    nodes: Nodes,
    graphs: usize,
    directed: bool,
    edge: Option<Edge>,
    /// The class of the open list of attributes.
    class: Option<String>,
    /// The attribute of edges whose title is `weight`.
    weight: Option<String>,
}

/// Reads the graph of a document. The weight of an edge is its XML attribute `weight`, or the value of the attribute of
/// edges whose title is `weight`.
pub(in crate::io) fn read(source: &Source, conventions: &Conventions) -> Result<Listed> {
    let mut elements = Elements::open(source)?;
    match elements.next()? {
        Some(Item::Start(tag)) if tag.name == "gexf" => {}
        _ => return Err(elements.error("the element <gexf>", "another")),
    }
    let mut document = Document { nodes: Nodes::new(conventions), ..Document::default() };
    while let Some(item) = elements.next()? {
        match item {
            Item::Start(tag) => document.start(&elements, &tag)?,
            Item::End(name) => document.end(&elements, &name)?,
        }
    }
    if document.graphs == 0 {
        return Err(Error::parse(source.name(), None, "a GEXF document with a <graph>", "none"));
    }
    document.nodes.finish(source, None)
}

fn is_directed(elements: &Elements, kind: &str) -> Result<bool> {
    match kind {
        "directed" => Ok(true),
        "undirected" | "mutual" => Ok(false),
        found => Err(elements.error("edges that are `directed`, `undirected` or `mutual`", found)),
    }
}

impl Document {
    fn start(&mut self, elements: &Elements, tag: &Tag) -> Result<()> {
        match tag.name.as_str() {
            "graph" => {
                self.graphs += 1;
                if self.graphs > 1 {
                    return Err(elements.error("one graph in the file", "another <graph>"));
                }
                self.directed = is_directed(elements, tag.get("defaultedgetype").unwrap_or("undirected"))?;
            }
            "attributes" => self.class = tag.get("class").map(str::to_owned),
            "attribute" if self.class.as_deref() == Some("edge") => {
                let is_weight = tag.get("title").is_some_and(|title| title.eq_ignore_ascii_case("weight"));
                if is_weight {
                    self.weight = Some(elements.required(tag, "id")?.to_owned());
                }
            }
            "node" if self.graphs > 0 => {
                let id = elements.required(tag, "id")?;
                self.nodes.declare(id, elements.line).map_err(|wrong| elements.wrong(wrong))?;
            }
            "edge" if self.graphs > 0 => {
                let directed = tag.get("type").map(|kind| is_directed(elements, kind)).transpose()?;
                let end = |key| elements.required(tag, key).map(str::to_owned);
                let (source, target, line) = (end("source")?, end("target")?, elements.line);
                let weight = tag.get("weight").map(|field| nodes::weight(field, elements.signed));
                let weight = weight.transpose().map_err(|wrong| elements.wrong(wrong))?;
                let directed = directed.unwrap_or(self.directed);
                self.edge = Some(Edge { source, target, directed, line, weight });
            }
            "attvalue" => {
                let own = tag.get("for").or_else(|| tag.get("id"));
                if let (Some(edge), Some(_)) = (&mut self.edge, self.weight.as_deref().filter(|&id| own == Some(id)))
                    && edge.weight.is_none()
                {
                    let field = elements.required(tag, "value")?;
                    edge.weight = Some(nodes::weight(field, elements.signed).map_err(|wrong| elements.wrong(wrong))?);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, elements: &Elements, name: &str) -> Result<()> {
        match name {
            "attributes" => self.class = None,
            "edge" => {
                if let Some(Edge { source, target, directed, line, weight }) = self.edge.take() {
                    let added = self.nodes.edge([&source, &target], weight, directed, line);
                    added.map_err(|wrong| elements.wrong(wrong))?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}
