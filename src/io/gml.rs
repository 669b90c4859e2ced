//! Reads GML, the Graph Modelling Language: keys with values, which are numbers, strings or lists of further keys.
//! <https://networkx.org/documentation/stable/reference/readwrite/gml.html>

use super::edge_list::Listed;
use super::lines::quoted;
use super::nodes::{self, Nodes, Wrong, joined};
use super::source::{Source, refused};
use crate::error::{Error, Result};
use crate::graph::Conventions;
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;

/// The maximum number of lists, one within another.
const DEEPEST: usize = 256;
/// The longest word or string.
const LONGEST: usize = 1 << 20;

#[derive(Debug, PartialEq)]
enum Token {
    Open,
    Close,
    /// A key or a number.
    Word(String),
    Text(String),
}

impl Token {
    fn shown(&self) -> String {
        match self {
            Self::Open => "[".to_owned(),
            Self::Close => "]".to_owned(),
            Self::Word(text) | Self::Text(text) => quoted(text.as_bytes()),
        }
    }
}

struct Tokens {
    reader: BufReader<Box<dyn Read + Send>>,
    name: PathBuf,
    line: u64,
    /// Whether weights may be negative.
    signed: bool,
}

impl Tokens {
    fn peek(&mut self) -> Result<Option<u8>> {
        let buffer = self.reader.fill_buf().map_err(|error| refused(&self.name, error))?;
        Ok(buffer.first().copied())
    }

    fn bump(&mut self) -> Result<Option<u8>> {
        let byte = self.peek()?;
        if let Some(byte) = byte {
            self.reader.consume(1);
            self.line += u64::from(byte == b'\n');
        }
        Ok(byte)
    }

    /// Returns the next token, or `None` at the end.
    fn next(&mut self) -> Result<Option<Token>> {
        loop {
            match self.bump()? {
                None => return Ok(None),
                Some(b'#') => while !matches!(self.bump()?, None | Some(b'\n')) {},
                Some(b'[') => return Ok(Some(Token::Open)),
                Some(b']') => return Ok(Some(Token::Close)),
                Some(b'"') => return self.text().map(Some),
                Some(byte) if byte.is_ascii_whitespace() => {}
                Some(byte) => return self.word(byte).map(Some),
            }
        }
    }

    fn text(&mut self) -> Result<Token> {
        let (mut bytes, first) = (Vec::new(), self.line);
        loop {
            match self.bump()? {
                Some(b'"') => break,
                Some(byte) => self.push(&mut bytes, byte)?,
                None => {
                    let expected = "the quote that ends this string";
                    return Err(Error::parse(&self.name, Some(first), expected, "the end of the file"));
                }
            }
        }
        let text = String::from_utf8(bytes).map_err(|_| self.error("UTF-8 text", "a string of other bytes"))?;
        Ok(Token::Text(unescaped(&text)))
    }

    fn word(&mut self, first: u8) -> Result<Token> {
        let mut bytes = vec![first];
        while let Some(byte) = self.peek()? {
            if byte.is_ascii_whitespace() || matches!(byte, b'[' | b']' | b'"' | b'#') {
                break;
            }
            self.push(&mut bytes, byte)?;
            self.reader.consume(1);
        }
        String::from_utf8(bytes).map(Token::Word).map_err(|_| self.error("UTF-8 text", "a word of other bytes"))
    }

    fn push(&self, bytes: &mut Vec<u8>, byte: u8) -> Result<()> {
        if bytes.len() >= LONGEST {
            return Err(self.error(format!("strings of at most {LONGEST} bytes"), "a longer one"));
        }
        bytes.push(byte);
        Ok(())
    }

    /// Returns the value of a key, if it is a number or a string. A list is passed over.
    fn value(&mut self, key: &str) -> Result<Option<String>> {
        match self.next()? {
            Some(Token::Word(text) | Token::Text(text)) => Ok(Some(text)),
            Some(Token::Open) => self.pass_over().map(|()| None),
            found => Err(self.unexpected(&format!("a value of the key {key}"), found.as_ref())),
        }
    }

    /// Passes over the rest of a list.
    fn pass_over(&mut self) -> Result<()> {
        let mut depth = 1;
        while depth > 0 {
            match self.next()? {
                Some(Token::Open) if depth == DEEPEST => {
                    return Err(self.error(format!("at most {DEEPEST} lists, one within another"), "more"));
                }
                Some(Token::Open) => depth += 1,
                Some(Token::Close) => depth -= 1,
                Some(_) => {}
                None => return Err(self.error("the end of each list", "the end of the file")),
            }
        }
        Ok(())
    }

    /// Returns the next key of a list, or `None` at the end of the list.
    fn key(&mut self) -> Result<Option<String>> {
        match self.next()? {
            Some(Token::Word(key)) => Ok(Some(key)),
            Some(Token::Close) => Ok(None),
            found => Err(self.unexpected("a key, or the end of a list", found.as_ref())),
        }
    }

    fn open(&mut self, key: &str) -> Result<()> {
        match self.next()? {
            Some(Token::Open) => Ok(()),
            found => Err(self.unexpected(&format!("a list for the key {key}"), found.as_ref())),
        }
    }

    fn error(&self, expected: impl Into<String>, found: impl Into<String>) -> Error {
        Error::parse(&self.name, Some(self.line), expected, found)
    }

    fn unexpected(&self, expected: &str, found: Option<&Token>) -> Error {
        self.error(expected, found.map_or("the end".to_owned(), Token::shown))
    }
}

/// Reads the graphs of a file. The nodes of a graph are called by their labels if each has another, and by their ids
/// otherwise. The weight of an edge is its `weight`, or else its `value`.
pub(super) fn read(source: &Source, conventions: &Conventions) -> Result<Listed> {
    let reader = BufReader::with_capacity(1 << 16, source.open()?);
    let mut tokens = Tokens { reader, name: source.name().into(), line: 1, signed: source.signed() };
    if tokens.peek()? == Some(0xef) {
        // A byte order mark, which the format's detection has seen.
        for _ in 0..3 {
            tokens.bump()?;
        }
    }
    let (mut graphs, mut doubtful) = (Vec::new(), None);
    while let Some(token) = tokens.next()? {
        let Token::Word(key) = token else { return Err(tokens.unexpected("a key", Some(&token))) };
        match key.as_str() {
            "graph" => {
                tokens.open("graph")?;
                let Graph { mut nodes, labels, directed, alike } = read_graph(&mut tokens, conventions)?;
                if !directed {
                    nodes.make_undirected();
                }
                let all = labels.into_iter().collect::<Option<Vec<String>>>();
                graphs.push(nodes.finish(source, all.filter(|_| alike.is_none()))?);
                doubtful = doubtful.or(alike);
            }
            _ => drop(tokens.value(&key)?),
        }
    }
    if graphs.is_empty() {
        return Err(Error::parse(source.name(), None, "a GML file with a `graph`", "none"));
    }
    let mut listed = joined(graphs)?;
    if let Some(label) = doubtful {
        let (name, label) = (source.name().display(), quoted(label.as_bytes()));
        listed.notices.push(format!("{name}: several nodes have the label {label}, so nodes are called by their ids."));
    }
    Ok(listed)
}

struct Graph {
    nodes: Nodes,
    /// The label of each node.
    labels: Vec<Option<String>>,
    directed: bool,
    /// A label that several nodes have.
    alike: Option<String>,
}

fn read_graph(tokens: &mut Tokens, conventions: &Conventions) -> Result<Graph> {
    let mut graph = Graph { nodes: Nodes::new(conventions), labels: Vec::new(), directed: false, alike: None };
    let mut labels = HashSet::new();
    while let Some(key) = tokens.key()? {
        match key.as_str() {
            "node" => {
                tokens.open("node")?;
                let line = tokens.line;
                let [id, label] = fields(tokens, ["id", "label"])?;
                let id = id.ok_or_else(|| tokens.error("a node with an id", "none"))?;
                graph.nodes.declare(&id, line).map_err(|wrong| refuse(tokens, wrong))?;
                if let Some(label) = &label
                    && !labels.insert(label.clone())
                {
                    graph.alike.get_or_insert_with(|| label.clone());
                }
                graph.labels.push(label);
            }
            "edge" => {
                tokens.open("edge")?;
                let line = tokens.line;
                let [source, target, weight, value] = fields(tokens, ["source", "target", "weight", "value"])?;
                let (Some(source), Some(target)) = (source, target) else {
                    return Err(tokens.error("an edge with a source and a target", "none"));
                };
                let weight = weight.or(value).map(|field| nodes::weight(&field, tokens.signed));
                let weight = weight.transpose().map_err(|wrong| refuse(tokens, wrong))?;
                // Whether edges are directed may be said after them.
                let added = graph.nodes.edge([&source, &target], weight, true, line);
                added.map_err(|wrong| refuse(tokens, wrong))?;
            }
            "directed" => {
                graph.directed = match tokens.value("directed")?.as_deref() {
                    Some("0") => false,
                    Some("1") => true,
                    found => return Err(tokens.error("`directed` with 0 or 1", found.unwrap_or("a list"))),
                };
            }
            _ => drop(tokens.value(&key)?),
        }
    }
    Ok(graph)
}

/// Returns the values of some keys of a list, to its end.
fn fields<const N: usize>(tokens: &mut Tokens, wanted: [&str; N]) -> Result<[Option<String>; N]> {
    let mut found = [const { None }; N];
    while let Some(key) = tokens.key()? {
        let value = tokens.value(&key)?;
        if let Some(place) = wanted.iter().position(|own| *own == key)
            && value.is_some()
            && std::mem::replace(&mut found[place], value).is_some()
        {
            return Err(tokens.error(format!("the key {key} once"), "another"));
        }
    }
    Ok(found)
}

fn refuse(tokens: &Tokens, (expected, found): Wrong) -> Error {
    tokens.error(expected, found)
}

/// Replaces the character references of a string.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        // The longest reference to a character is `&#x10ffff;`, with room for leading zeros.
        let end = rest.bytes().take(16).position(|byte| byte == b';');
        let reference = end.and_then(|end| Some((character(&rest[1..end])?, end)));
        if let Some((character, end)) = reference {
            out.push(character);
            rest = &rest[end + 1..];
        } else {
            out.push('&');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    out
}

fn character(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let code = name.strip_prefix('#')?;
            let number = match code.strip_prefix('x') {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => code.parse(),
            };
            char::from_u32(number.ok()?)
        }
    }
}
