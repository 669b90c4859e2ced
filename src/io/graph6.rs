//! Reads graph6, sparse6 and digraph6, the formats of nauty, in which each line is a graph:
//! <https://users.cecs.anu.edu.au/~bdm/data/formats.txt>. A file may mix the three. Its nodes are numbered from 0.

use super::edge_list::Listed;
use super::edges::{both_ways, most_nodes, once};
use super::lines::Lines;
use super::magic::LOOKED_AT;
use super::nodes::Wrong;
use super::rows::Layout;
use super::source::Source;
use super::weights::Weights;
use crate::error::Result;
use crate::graph::{Conventions, Duplicates, EdgeList, Symmetrization};

/// What a file, or each of several files that were joined, may begin with.
const HEADERS: [&[u8]; 3] = [b">>graph6<<", b">>sparse6<<", b">>digraph6<<"];

/// Each character has six bits and this number.
const LEAST: u8 = b'?';
const MOST: u8 = b'~';

/// Reads the graphs of a file.
pub(super) fn read(source: &Source, conventions: &Conventions) -> Result<Listed> {
    let (mut sources, mut targets, mut weights) = (Vec::new(), Vec::new(), Weights::default());
    let offsets = visit(source, conventions, |_, source, target, weight| {
        weights.push(sources.len(), weight);
        sources.push(source);
        targets.push(target);
    })?;
    let edges = EdgeList::batch(offsets)?.holding(sources, targets, weights.into_option());
    let (layout, lines) = (Layout::default(), Vec::new());
    Ok(Listed { edges, node_ids: None, notices: Vec::new(), layout, lines, has_lines: false })
}

/// Calls `found` with the line number, the source and the target of every listed edge. Nodes are counted through all
/// graphs.
pub(super) fn visit_edges(
    source: &Source,
    conventions: &Conventions,
    found: &mut dyn FnMut(u64, usize, usize),
) -> Result<()> {
    visit(source, conventions, |line, source, target, _| found(line, source as usize, target as usize)).map(drop)
}

/// Passes every edge to `push`, with its line, and returns the node offsets of the graphs.
fn visit(
    source: &Source,
    conventions: &Conventions,
    mut push: impl FnMut(u64, u32, u32, Option<f64>),
) -> Result<Vec<usize>> {
    let mut lines = Lines::open_long(source)?;
    let once = once(conventions);
    // One direction is enough for the larger of both, too. Edges from the higher node are in the order of their
    // sources, which saves sorting them.
    let half = once || conventions.symmetrization == Symmetrization::Max && conventions.duplicates != Duplicates::Error;
    let (mut offsets, mut nodes, mut bytes) = (vec![0], 0, 0_usize);
    while lines.advance()? {
        let line = without_header(lines.line());
        if line.is_empty() {
            continue;
        }
        let refused = |(expected, found): Wrong| lines.error(expected, found);
        let graph = Graph::of(line).map_err(refused)?;
        bytes += line.len();
        let (first, most) = (nodes, most_nodes(bytes).min(u32::MAX as usize) as u64);
        let all = graph.nodes.saturating_add(first);
        if all > most {
            return Err(lines.error(format!("at most {most} nodes for {bytes} characters"), all.to_string()));
        }
        nodes = all;
        let at = lines.at();
        #[expect(clippy::cast_possible_truncation, reason = "the number of nodes was checked")]
        let edge = |source: u64, target: u64| {
            let ends = [(first + source) as u32, (first + target) as u32];
            if graph.kind == Kind::Digraph6 {
                push(at, ends[0], ends[1], None);
            } else if half && source != target {
                push(at, ends[1], ends[0], None);
            } else {
                both_ways(once, ends, None, |source, target, weight| push(at, source, target, weight));
            }
        };
        graph.edges(edge).map_err(refused)?;
        #[expect(clippy::cast_possible_truncation, reason = "the number of nodes was checked")]
        offsets.push(nodes as usize);
    }
    if offsets.len() == 1 {
        return Err(lines.error("a graph in each line, as graph6, sparse6 and digraph6 have it", "an empty file"));
    }
    Ok(offsets)
}

/// Returns whether a text begins with a header or, if it has none, with a line that is a graph, and the other lines
/// have the characters of graphs. Such a line is a single word, so it is no edge.
pub(super) fn begins(text: &[u8]) -> bool {
    if HEADERS.iter().any(|header| text.starts_with(header)) {
        return true;
    }
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    let line = lines.next().unwrap_or_default();
    let is_whole = text.len() < LOOKED_AT || line.len() < text.trim_ascii_end().len();
    let is_graph = || match Graph::of(line) {
        Ok(graph) => graph.edges(|_, _| ()).is_ok() || !is_whole,
        Err(_) => line.len() > 1 && line[0] == b';' && line[1..].iter().all(is_character),
    };
    let is_longer =
        || !is_whole && line.iter().skip(1).all(is_character) && order(&line[usize::from(line[0] == b'&')..]).is_some();
    !line.is_empty() && (is_graph() || is_longer()) && lines.all(may_be_line)
}

/// Returns whether a line has the characters of a graph, behind the first, which may say what it is. Numbers have
/// others.
fn may_be_line(line: &[u8]) -> bool {
    line.iter().enumerate().all(|(i, byte)| is_character(byte) || i == 0 && b":&;".contains(byte))
}

fn without_header(line: &[u8]) -> &[u8] {
    let line = line.trim_ascii_end();
    HEADERS.iter().find_map(|header| line.strip_prefix(*header)).unwrap_or(line)
}

fn is_character(byte: &u8) -> bool {
    (LEAST..=MOST).contains(byte)
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Graph6,
    Sparse6,
    Digraph6,
}

/// A line, whose characters are those of the format.
struct Graph<'a> {
    kind: Kind,
    nodes: u64,
    /// The characters with the edges.
    data: &'a [u8],
}

impl<'a> Graph<'a> {
    /// Checks the characters of a line, and their number where the number of nodes determines it.
    fn of(line: &'a [u8]) -> Result<Self, Wrong> {
        let (kind, name, rest) = match line {
            [b':', rest @ ..] => (Kind::Sparse6, "sparse6", rest),
            [b'&', rest @ ..] => (Kind::Digraph6, "digraph6", rest),
            [b';', ..] => {
                let found =
                    "incremental sparse6, whose lines depend on the lines before; nauty's copyg -s writes sparse6";
                return Err(("a line in graph6, sparse6 or digraph6".to_owned(), found.to_owned()));
            }
            _ => (Kind::Graph6, "graph6", line),
        };
        if let Some(place) = rest.iter().position(|byte| !is_character(byte)) {
            let found = match rest[place] {
                byte @ b' '..=b'~' => format!("{:?}", char::from(byte)),
                _ => "another byte".to_owned(),
            };
            let at = line.len() - rest.len() + place + 1;
            return Err((
                format!("{name}, which has characters from '?' to '~'"),
                format!("{found} as character {at}"),
            ));
        }
        let Some((nodes, data)) = order(rest) else {
            return Err((format!("the number of nodes, which begins a line in {name}"), "its end".to_owned()));
        };
        let pairs = match kind {
            Kind::Graph6 => u128::from(nodes) * u128::from(nodes.saturating_sub(1)) / 2,
            Kind::Digraph6 => u128::from(nodes) * u128::from(nodes),
            Kind::Sparse6 => return Ok(Self { kind, nodes, data }),
        };
        let want = pairs.div_ceil(6);
        if data.len() as u128 != want {
            let expected = format!("{want} characters for the edges of {nodes} nodes in {name}");
            return Err((expected, data.len().to_string()));
        }
        Ok(Self { kind, nodes, data })
    }

    /// Calls `edge` with the ends of every edge.
    fn edges(&self, edge: impl FnMut(u64, u64)) -> Result<(), Wrong> {
        match self.kind {
            Kind::Sparse6 => self.sparse(edge),
            _ => self.dense(edge),
        }
    }

    /// Reads the adjacency matrix: of a directed graph, row by row; of another, the part above the diagonal column by
    /// column.
    fn dense(&self, mut edge: impl FnMut(u64, u64)) -> Result<(), Wrong> {
        let directed = self.kind == Kind::Digraph6;
        let (mut outer, mut inner) = (u64::from(!directed), 0);
        for byte in self.data {
            let bits = byte - LEAST;
            for place in (0..6).rev() {
                if bits >> place & 1 == 1 {
                    if outer >= self.nodes {
                        return Err(("bits of 0 behind the last pair of nodes".to_owned(), "a bit of 1".to_owned()));
                    }
                    if directed { edge(outer, inner) } else { edge(inner, outer) }
                }
                inner += 1;
                if inner == if directed { self.nodes } else { outer } {
                    (outer, inner) = (outer + 1, 0);
                }
            }
        }
        Ok(())
    }

    /// Reads pairs of a bit, which says whether the next node follows, and a number: a neighbor of this node or, if it
    /// is larger, the node that follows.
    fn sparse(&self, mut edge: impl FnMut(u64, u64)) -> Result<(), Wrong> {
        let width = (u64::BITS - self.nodes.saturating_sub(1).leading_zeros()) as usize;
        let all = 6 * self.data.len();
        let bits = |from: usize, count: usize| {
            (from..from + count)
                .fold(0, |sum, at| sum << 1 | u64::from((self.data[at / 6] - LEAST) >> (5 - at % 6) & 1))
        };
        let (mut node, mut at) = (0, 0);
        while at + 1 + width <= all {
            node += bits(at, 1);
            let other = bits(at + 1, width);
            // Bits of 1 fill the last character.
            if node.max(other) >= self.nodes {
                if all - at > 5 {
                    let found = format!("node {}", node.max(other));
                    return Err((format!("edges between the {} nodes of the line", self.nodes), found));
                }
                break;
            }
            if other > node {
                node = other;
            } else {
                edge(other, node);
            }
            at += 1 + width;
        }
        Ok(())
    }
}

/// Reads the number of nodes: a character, or `~` and three, or `~~` and six. Returns the rest of the line, too.
fn order(line: &[u8]) -> Option<(u64, &[u8])> {
    let (digits, rest) = match line {
        [MOST, MOST, rest @ ..] => rest.split_at_checked(6)?,
        [MOST, rest @ ..] => rest.split_at_checked(3)?,
        _ => line.split_at_checked(1)?,
    };
    digits
        .iter()
        .all(is_character)
        .then(|| (digits.iter().fold(0, |sum, digit| sum << 6 | u64::from(digit - LEAST)), rest))
}
