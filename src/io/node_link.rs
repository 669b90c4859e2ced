//! Reads node-link JSON, as networkx and D3 have it: an object with a list of nodes and a list of edges, which is
//! called `edges` or `links`. The lists are read one element at a time, so that nothing but the graph is kept.
//! <https://networkx.org/documentation/stable/reference/readwrite/generated/networkx.readwrite.json_graph.node_link_data.html>
//!
//! The JSON of Cytoscape has both lists, or one list of nodes and edges, in `elements`, and the values of each element
//! in its `data`. <https://js.cytoscape.org/#notation/elements-json>

use super::edge_list::Listed;
use super::lines::quoted;
use super::nodes::{Nodes, Wrong};
use super::source::{Source, refused};
use super::weights::checked;
use crate::error::{Error, Result};
use crate::graph::Conventions;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};
use std::fmt;
use std::io::{BufReader, Read};

/// What is known of a document.
#[derive(Default)]
struct Document {
    nodes: Nodes,
    directed: bool,
    /// The name under which edges were found.
    edges: Option<&'static str>,
    has_nodes: bool,
    is_adjacency: bool,
    /// Whether the document is Cytoscape's.
    in_elements: bool,
    /// Whether nodes have no ids, so that edges refer to their places.
    unnamed: bool,
    /// Whether an edge without `weight` has another number, `value`.
    has_values: bool,
    weighted: bool,
    /// Whether weights may be negative.
    signed: bool,
    /// What is wrong with the graph, rather than with the JSON.
    wrong: Option<Wrong>,
}

/// Reads the graph of a document. The weights are the edges' values of `weight`.
pub(super) fn read(source: &Source, conventions: &Conventions) -> Result<Listed> {
    let mut document = Document { nodes: Nodes::new(conventions), signed: conventions.signed, ..Document::default() };
    let mut reader = BufReader::with_capacity(1 << 16, source.open()?);
    skip_mark(source, &mut reader)?;
    let mut parser = serde_json::Deserializer::from_reader(reader);
    let parsed = Root { document: &mut document, inner: false }.deserialize(&mut parser).and_then(|()| parser.end());
    if let Err(error) = parsed {
        if error.is_io() {
            return Err(refused(source.name(), error.into()));
        }
        let line = u64::try_from(error.line()).ok().filter(|&line| line > 0);
        let (expected, found) = document.wrong.unwrap_or_else(|| ("JSON".to_owned(), error.to_string()));
        return Err(Error::parse(source.name(), line, expected, found));
    }
    if !document.has_nodes || document.edges.is_none() {
        let found = match (document.is_adjacency, document.has_nodes) {
            (true, _) => "adjacency JSON; networkx.node_link_data makes node-link JSON of the graph",
            (_, true) => "JSON without a list `edges` or `links`",
            (_, false) => "JSON without a list `nodes`",
        };
        return Err(Error::parse(
            source.name(),
            None,
            "node-link JSON, with a list of nodes and a list of edges",
            found,
        ));
    }
    if !document.directed {
        document.nodes.make_undirected();
    }
    let mut listed = document.nodes.finish(source, None)?;
    if document.has_values && !document.weighted {
        let name = source.name().display();
        listed
            .notices
            .push(format!("{name}: the edges' `value` was not read, and every edge weighs 1: none has `weight`."));
    }
    Ok(listed)
}

/// Skips a byte order mark, which the JSON parser does not know.
fn skip_mark(source: &Source, reader: &mut BufReader<Box<dyn Read + Send>>) -> Result<()> {
    use std::io::BufRead as _;
    if reader.fill_buf().map_err(|error| refused(source.name(), error))?.starts_with(b"\xef\xbb\xbf") {
        reader.consume(3);
    }
    Ok(())
}

impl Document {
    /// Keeps what is wrong, and returns an error that only says where.
    fn fail<E: serde::de::Error>(&mut self, wrong: Wrong) -> E {
        let error = E::custom(&wrong.1);
        self.wrong = Some(wrong);
        error
    }
}

const ELEMENTS: &str = "elements";

/// An object with the lists of nodes and edges: the document, or its `elements`.
struct Root<'a> {
    document: &'a mut Document,
    inner: bool,
}

impl<'de> DeserializeSeed<'de> for Root<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Root<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `nodes` and `edges`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let document = self.document;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "directed" => document.directed = map.next_value()?,
                "nodes" if document.has_nodes => {
                    return Err(document.fail(("the key `nodes` once".to_owned(), "another".to_owned())));
                }
                "nodes" => {
                    document.has_nodes = true;
                    map.next_value_seed(List { document, of: Of::Nodes })?;
                }
                "edges" | "links" => {
                    let own = if key == "edges" { "edges" } else { "links" };
                    if let Some(other) = document.edges {
                        let expected = "one list of edges, `edges` or `links`".to_owned();
                        return Err(document.fail((expected, format!("`{other}` and then `{own}`"))));
                    }
                    document.edges = Some(own);
                    map.next_value_seed(List { document, of: Of::Edges })?;
                }
                ELEMENTS if !self.inner => {
                    if document.has_nodes || document.edges.is_some() {
                        let expected = "nodes and edges in `elements` or beside it".to_owned();
                        return Err(document.fail((expected, "both".to_owned())));
                    }
                    document.in_elements = true;
                    map.next_value_seed(Elements(document))?;
                }
                other => {
                    document.is_adjacency |= other == "adjacency";
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// The elements of Cytoscape: an object with two lists, or one list of nodes and edges.
struct Elements<'a>(&'a mut Document);

impl<'de> DeserializeSeed<'de> for Elements<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Elements<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`elements` with nodes and edges")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let Self(document) = self;
        Root { document: &mut *document, inner: true }.visit_map(map)?;
        // Cytoscape omits an empty list.
        document.has_nodes = true;
        document.edges.get_or_insert(ELEMENTS);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
        (self.0.has_nodes, self.0.edges) = (true, Some(ELEMENTS));
        List { document: self.0, of: Of::Elements }.visit_seq(seq)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Of {
    Nodes,
    Edges,
    /// Nodes and edges. An edge has a source.
    Elements,
}

/// A list of nodes or edges.
struct List<'a> {
    document: &'a mut Document,
    of: Of,
}

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(One { document: &mut *self.document, of: self.of })?.is_some() {}
        Ok(())
    }
}

/// A node or an edge.
struct One<'a> {
    document: &'a mut Document,
    of: Of,
}

impl<'de> DeserializeSeed<'de> for One<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for One<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.of {
            Of::Nodes => "an object for a node",
            Of::Edges => "an object for an edge",
            Of::Elements => "an object for a node or an edge",
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let Self { document, of } = self;
        let mut parts = Parts::default();
        Values { parts: &mut parts, of, in_data: document.in_elements }.visit_map(map)?;
        let Parts { id, source, target, weight, has_value } = parts;
        let is_edge = of == Of::Edges || of == Of::Elements && (source.is_some() || target.is_some());
        document.has_values |= is_edge && has_value;
        let added = if is_edge {
            document.edge([source.as_ref(), target.as_ref()], weight.as_ref())
        } else {
            document.node(id.as_ref())
        };
        added.map_err(|wrong| document.fail(wrong))
    }
}

#[derive(Default)]
struct Parts {
    id: Option<Value>,
    source: Option<Value>,
    target: Option<Value>,
    weight: Option<Value>,
    /// Whether there is a `value`.
    has_value: bool,
}

/// The values of a node or an edge. Cytoscape has them in an object within its object (`in_data`).
struct Values<'a> {
    parts: &'a mut Parts,
    of: Of,
    in_data: bool,
}

impl<'de> DeserializeSeed<'de> for Values<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Values<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object `data`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { parts, of, in_data } = self;
        let (of_node, of_edge) = (!in_data && of != Of::Edges, !in_data && of != Of::Nodes);
        while let Some(key) = map.next_key::<String>()? {
            let place = match key.as_str() {
                "id" if of_node => &mut parts.id,
                "source" if of_edge => &mut parts.source,
                "target" if of_edge => &mut parts.target,
                "weight" if of_edge => &mut parts.weight,
                "data" if in_data => {
                    map.next_value_seed(Values { parts: &mut *parts, of, in_data: false })?;
                    continue;
                }
                other => {
                    parts.has_value |= of_edge && other == "value";
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if place.replace(map.next_value()?).is_some() {
                return Err(A::Error::custom(format!("the key `{key}` twice")));
            }
        }
        Ok(())
    }
}

impl Document {
    fn node(&mut self, id: Option<&Value>) -> Result<(), Wrong> {
        let count = self.nodes.declared();
        if count > 0 && self.unnamed != id.is_none() {
            let expected = "an `id` of each node, or of none, so that edges refer to their places".to_owned();
            return Err((expected, "both kinds".to_owned()));
        }
        self.unnamed = id.is_none();
        match id {
            Some(id) => self.nodes.declare(&name(Some(id), "the `id` of a node")?, 0),
            None => self.nodes.declare(&count.to_string(), 0),
        }
    }

    fn edge(&mut self, [source, target]: [Option<&Value>; 2], weight: Option<&Value>) -> Result<(), Wrong> {
        let ends = [name(source, "the `source` of an edge")?, name(target, "the `target` of an edge")?];
        let weight = match weight {
            None => None,
            Some(Value::Number(number)) => Some(weight_of(number, self.signed)?),
            Some(other) => return Err(("a weight that is a number".to_owned(), shown(other))),
        };
        self.weighted |= weight.is_some();
        // Whether edges are directed may be said after them.
        self.nodes.edge([&ends[0], &ends[1]], weight, true, 0)
    }
}

fn weight_of(number: &Number, signed: bool) -> Result<f64, Wrong> {
    checked(number.as_f64().unwrap_or(f64::NAN), signed).map_err(|expected| (expected.to_owned(), number.to_string()))
}

/// Returns the name of a node. A tuple of Python is a list in JSON.
fn name(id: Option<&Value>, expected: &str) -> Result<String, Wrong> {
    match id {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(id @ (Value::Number(_) | Value::Array(_) | Value::Bool(_))) => Ok(id.to_string()),
        found => Err((expected.to_owned(), found.map_or("none".to_owned(), shown))),
    }
}

fn shown(value: &Value) -> String {
    quoted(value.to_string().as_bytes())
}
