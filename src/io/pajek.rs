//! Reads Pajek networks (.net): sections that begin with a word such as `*Vertices`, `*Arcs` or `*Edges`. Vertices are
//! numbered from 1. <http://mrvar.fdv.uni-lj.si/pajek/pajekman.pdf>

use super::edge_list::Listed;
use super::edges::{Edges, in_order, most_nodes};
use super::lines::{Lines, fields, has_digits, natural, quoted};
use super::nodes::joined;
use super::source::Source;
use crate::error::Result;
use crate::graph::Conventions;
use std::collections::HashSet;

const SECTIONS: &str = "a section of a network: *Network, *Vertices, *Arcs, *Edges, *Arcslist, *Edgeslist or *Matrix";

/// What the lines of a section have.
#[derive(Clone, Copy, PartialEq)]
enum Section {
    Vertices,
    /// Two vertices and perhaps a weight.
    Pairs {
        directed: bool,
    },
    /// A vertex and its neighbors.
    Lists {
        directed: bool,
    },
    /// A row of weights; the next row is that of this vertex.
    Matrix(u32),
}

/// Reads the networks of a file. The vertices of a network are called by their labels if each has another; else they
/// have their numbers, as the rows of a matrix do.
pub(super) fn read(source: &Source, conventions: &Conventions) -> Result<Listed> {
    let mut lines = Lines::open_long(source)?;
    let (mut networks, mut network, mut section) = (Vec::new(), None::<Network>, None);
    let mut doubts = Doubts::default();
    while lines.advance()? {
        let line = lines.line().trim_ascii();
        if line.is_empty() || line[0] == b'%' {
            continue;
        }
        if line[0] == b'*' {
            let mut words = fields(line);
            let word = words.next().unwrap_or_default().to_ascii_lowercase();
            let pairs = |directed| Some(Section::Pairs { directed });
            let lists = |directed| Some(Section::Lists { directed });
            section = match &word[1..] {
                b"network" => None,
                b"vertices" => {
                    if let Some(network) = network.take() {
                        networks.push(network.finish(&lines, &mut doubts)?);
                    }
                    network = Some(Network::open(&lines, conventions)?);
                    Some(Section::Vertices)
                }
                b"arcs" => pairs(true),
                b"edges" => pairs(false),
                b"arcslist" => lists(true),
                b"edgeslist" => lists(false),
                b"matrix" => Some(Section::Matrix(0)),
                _ => return Err(lines.error(SECTIONS, quoted(&word))),
            };
            // Several relations have a section each, such as `*Arcs :2 "likes"`.
            doubts.relations |= words.next().is_some_and(|next| next.starts_with(b":") && next != b":1");
            continue;
        }
        match (&mut network, &mut section) {
            (Some(network), Some(section)) => network.line(&lines, section, &mut doubts)?,
            _ => return Err(lines.unexpected("*Vertices and the number of vertices")),
        }
    }
    match network {
        Some(network) => networks.push(network.finish(&lines, &mut doubts)?),
        None => return Err(lines.error("*Vertices and the number of vertices", "the end")),
    }
    let mut listed = joined(networks)?;
    listed.notices.extend(doubts.notices(&lines));
    Ok(listed)
}

/// What another program might read in another way.
#[derive(Default)]
struct Doubts {
    relations: bool,
    intervals: bool,
    /// A label that several vertices of a network have.
    alike: Option<String>,
}

impl Doubts {
    fn notices(self, lines: &Lines) -> Vec<String> {
        let relations = self.relations.then(|| "the edges of all relations were read as those of one graph".to_owned());
        let intervals =
            self.intervals.then(|| "intervals of time were not read, so every edge is always there".to_owned());
        let alike = self.alike.map(|label| {
            let label = quoted(label.as_bytes());
            format!("several vertices have the label {label}, so vertices have their numbers")
        });
        let all = relations.into_iter().chain(intervals).chain(alike);
        all.map(|what| format!("{}: {what}.", lines.path().display())).collect()
    }
}

struct Network {
    vertices: usize,
    /// The line of `*Vertices`.
    line: u64,
    /// The vertices that are listed, each with its line and its label.
    listed: Vec<(u32, u64, String)>,
    edges: Edges,
    /// The number of bytes of its lines.
    bytes: usize,
}

impl Network {
    /// Reads the line `*Vertices N`, or `*Vertices N M` of a network whose first M vertices are of another kind.
    fn open(lines: &Lines, conventions: &Conventions) -> Result<Self> {
        let numbers: Option<Vec<u64>> = fields(lines.line()).skip(1).map(natural).collect();
        let vertices = match numbers.as_deref() {
            Some([vertices]) => Some(*vertices),
            Some([vertices, first]) if first <= vertices => Some(*vertices),
            _ => None,
        };
        let vertices = vertices.filter(|&vertices| vertices <= u64::from(u32::MAX));
        let vertices = vertices.and_then(|vertices| usize::try_from(vertices).ok());
        let vertices = vertices.ok_or_else(|| lines.unexpected("*Vertices and the number of vertices, below 2^32"))?;
        Ok(Self { vertices, line: lines.at(), listed: Vec::new(), edges: Edges::new(conventions), bytes: 0 })
    }

    fn line(&mut self, lines: &Lines, section: &mut Section, doubts: &mut Doubts) -> Result<()> {
        let line = lines.line();
        self.bytes += line.len() + 1;
        let mut words = fields(line);
        let first = words.next().unwrap_or_default();
        match *section {
            Section::Vertices => {
                let vertex = self.vertex(lines, first)?;
                self.listed.push((vertex, lines.at(), label(lines, line)?));
            }
            Section::Pairs { directed } => {
                let ends = [self.vertex(lines, first)?, self.vertex(lines, words.next().unwrap_or_default())?];
                let (mut weight, mut rest) = (None, words.peekable());
                // Without a weight, the parameters of a drawing may follow, such as `c Blue`.
                if let Some(field) = rest.next_if(|field| !is_parameter(field)) {
                    weight = Some(lines.weight(field)?);
                }
                doubts.intervals |= rest.any(|field| field[0] == b'[');
                self.edges.add(ends, weight, directed, lines.at());
            }
            Section::Lists { directed } => {
                let source = self.vertex(lines, first)?;
                for word in words {
                    let target = self.vertex(lines, word)?;
                    self.edges.add([source, target], None, directed, lines.at());
                }
            }
            Section::Matrix(row) => {
                if row as usize >= self.vertices {
                    return Err(lines.unexpected(format!("no more than {} rows, one for each vertex", self.vertices)));
                }
                let (mut column, mut own) = (0, Some(first));
                while let Some(word) = own {
                    let weight = lines.weight(word)?;
                    if has_digits(word) && (column as usize) < self.vertices {
                        self.edges.add([row, column], Some(weight), true, lines.at());
                    }
                    column += 1;
                    own = words.next();
                }
                if column as usize != self.vertices {
                    let expected = format!("a number for each of the {} vertices", self.vertices);
                    return Err(lines.error(expected, format!("{column} numbers")));
                }
                *section = Section::Matrix(row + 1);
            }
        }
        Ok(())
    }

    /// Returns a vertex, counted from 0.
    fn vertex(&self, lines: &Lines, field: &[u8]) -> Result<u32> {
        lines.index(field, self.vertices, "a vertex")
    }

    fn finish(mut self, lines: &Lines, doubts: &mut Doubts) -> Result<Listed> {
        let most = most_nodes(self.bytes / 4);
        if self.vertices > most {
            let expected = format!("at most {most} vertices for {} bytes", self.bytes);
            return Err(lines.error_at(self.line, expected, self.vertices.to_string()));
        }
        self.listed.sort_by_key(|&(vertex, ..)| vertex);
        if let Some(pair) = self.listed.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let (vertex, line, _) = &pair[1];
            return Err(lines.error_at(*line, "each vertex once", format!("vertex {} again", vertex + 1)));
        }
        let mut seen = HashSet::new();
        let alike = self.listed.iter().find(|(.., label)| !seen.insert(label.as_str()));
        if alike.is_some() || self.listed.len() < self.vertices {
            doubts.alike = doubts.alike.take().or(alike.map(|(.., label)| label.clone()));
            return self.edges.finish(self.vertices, None, None);
        }
        let named = self.listed.into_iter().map(|(vertex, _, label)| (label, vertex)).collect();
        let (node_ids, places) = in_order(named);
        self.edges.finish(self.vertices, Some(&places), node_ids)
    }
}

fn is_parameter(field: &[u8]) -> bool {
    field[0] == b'['
        || field[0].is_ascii_alphabetic()
            && !["nan", "inf"].iter().any(|word| field.len() >= 3 && field[..3].eq_ignore_ascii_case(word.as_bytes()))
}

/// Returns the label of a vertex, the second field of its line, which may be in quotes; or its number if it has none.
fn label(lines: &Lines, line: &[u8]) -> Result<String> {
    let text = std::str::from_utf8(line).map_err(|_| lines.unexpected("UTF-8 text"))?.trim_ascii();
    let (number, rest) = text.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((text, text));
    let rest = rest.trim_ascii_start();
    if let Some(inner) = rest.strip_prefix('"') {
        let label = inner.split_once('"').map(|(label, _)| label.to_owned());
        return label.ok_or_else(|| lines.unexpected("a label and the quote that ends it"));
    }
    Ok(rest.split_ascii_whitespace().next().unwrap_or(number).to_owned())
}
