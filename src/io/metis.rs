//! Recognizes and reads METIS graphs: a line of counts, followed by a line of neighbors for each node. Both METIS
//! graphs and edge lists consist of lines of numbers, so only the whole file shows which of the two it is.
//! <https://karypis.github.io/glaros/files/sw/metis/manual.pdf>

use super::edge_list::Listed;
use super::edges::Edges;
use super::lines::{Lines, fields, natural};
use super::magic::LOOKED_AT;
use super::opening::count;
use super::source::Source;
use crate::error::{Error, Result};
use crate::graph::Conventions;
use std::path::Path;

/// The header of a METIS graph.
pub(super) struct Metis {
    pub(super) nodes: u64,
    pub(super) edges: u64,
    /// The number of values that precede the neighbors in a node's line: the node's size and weights.
    before: usize,
    /// Whether a weight follows each neighbor.
    weighted: bool,
}

const HEAD: &str =
    "the numbers of nodes and edges, and perhaps a format such as 001 and the number of weights of a node";

impl Metis {
    /// Returns the error of an edge list that cannot be read because it is this graph.
    pub(super) fn refuse(&self, path: &Path) -> Error {
        let found = format!(
            "a METIS graph of {} and {}, whose lines list neighbors; it is read if its name ends with .graph",
            count(self.nodes, "node"),
            count(self.edges, "edge")
        );
        Error::parse(path, None, "an edge list: two ids a line, and perhaps a weight", found)
    }

    /// Parses a line of counts: `nodes edges [format [weights]]`.
    fn head(line: &[u8]) -> Option<Self> {
        let all: Vec<&[u8]> = fields(line).take(5).collect();
        let (nodes, edges, format, weights) = match all[..] {
            [nodes, edges] => (nodes, edges, &b"0"[..], None),
            [nodes, edges, format] => (nodes, edges, format, None),
            [nodes, edges, format, weights] => (nodes, edges, format, Some(weights)),
            _ => return None,
        };
        if format.len() > 3 || !format.iter().all(|digit| matches!(digit, b'0' | b'1')) {
            return None;
        }
        let flag = |place: usize| format.iter().rev().nth(place) == Some(&b'1');
        let weights = weights.map_or(Some(1), natural)?;
        let before = if flag(1) { usize::try_from(weights).ok()? } else { 0 }.checked_add(usize::from(flag(2)))?;
        Some(Self { nodes: natural(nodes)?, edges: natural(edges)?, before, weighted: flag(0) })
    }

    /// Returns the neighbors in the line of the given node, in ascending order, or `None` if the line does not have the
    /// form of a node's line.
    fn neighbors(&self, line: &[u8], node: u64, signed: bool) -> Option<Vec<u64>> {
        let mut words = fields(line);
        for _ in 0..self.before {
            words.next().and_then(natural)?;
        }
        let mut neighbors = Vec::new();
        while let Some(word) = words.next() {
            neighbors.push(natural(word)?);
            if self.weighted {
                super::weights::parsed(words.next()?, signed).ok()?;
            }
        }
        neighbors.sort_unstable();
        let right = |&other: &u64| other != node && (1..=self.nodes).contains(&other);
        (neighbors.iter().all(right) && neighbors.is_sorted_by(|one, next| one < next)).then_some(neighbors)
    }
}

fn is_comment(line: &[u8]) -> bool {
    line.first().is_some_and(|byte| matches!(byte, b'%' | b'#'))
}

/// Returns whether a file with these first bytes is a METIS graph. A file with its name (`named`) is one if a line
/// cannot be an edge, or if all lines agree; another, if both hold.
pub(super) fn is_here(source: &Source, head: &[u8], named: bool) -> Result<bool> {
    let end =
        if head.len() < LOOKED_AT { head.len() } else { head.iter().rposition(|&byte| byte == b'\n').unwrap_or(0) };
    let mut lines = head[..end].split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !is_comment(line));
    let Some(metis) = lines.find(|line| !line.is_empty()).and_then(Metis::head) else { return Ok(false) };
    let mut widths = lines.map(|line| fields(line).count()).filter(|&width| width > 0);
    let first = widths.next().unwrap_or(2);
    let lists = !(2..=3).contains(&first) || widths.any(|width| width != first);
    Ok(match (named, lists) {
        (true, true) => true,
        (true, false) => metis.edges == 0 || find(source)?.is_some(),
        (false, true) => find(source)?.is_some(),
        (false, false) => false,
    })
}

/// Reads a graph. Node k of the file has the number k - 1. Each edge is undirected and in the lines of both of its
/// nodes.
pub(super) fn read(source: &Source, conventions: &Conventions) -> Result<Listed> {
    let mut lines = Lines::open_long(source)?;
    let (mut head, mut node) = (None::<(u64, Metis)>, 0);
    let mut edges = Edges::new(conventions);
    // The ends of each edge, the lower one first, with the bits of its weight and its line: as the line of the lower
    // end has it, and as that of the higher end has it.
    let mut sides = [const { Vec::new() }; 2];
    while lines.advance()? {
        let line = lines.line().trim_ascii();
        if is_comment(line) {
            continue;
        }
        let Some((_, metis)) = &head else {
            if !line.is_empty() {
                let metis = Metis::head(line).filter(|metis| metis.nodes <= u64::from(u32::MAX));
                head = Some((lines.at(), metis.ok_or_else(|| lines.unexpected(HEAD))?));
            }
            continue;
        };
        if u64::from(node) == metis.nodes {
            if line.is_empty() {
                continue;
            }
            return Err(lines.unexpected(format!("no more than {} lines, one for each node", metis.nodes)));
        }
        let mut words = fields(line);
        for _ in 0..metis.before {
            if words.next().and_then(natural).is_none() {
                return Err(lines
                    .unexpected(format!("{} of the node, and then neighbors", count(metis.before as u64, "value"))));
            }
        }
        while let Some(word) = words.next() {
            let other = lines.index(word, usize::try_from(metis.nodes).unwrap_or(usize::MAX), "a neighbor")?;
            if other == node {
                return Err(lines.error("neighbors other than the node itself", format!("node {}", node + 1)));
            }
            let weight = metis.weighted.then(|| lines.weight(words.next().unwrap_or_default())).transpose()?;
            let ends = (node.min(other), node.max(other));
            sides[usize::from(other < node)].push((ends, weight.map(f64::to_bits), lines.at()));
            if node < other {
                edges.add([node, other], weight, false, lines.at());
            }
        }
        node += 1;
    }
    let Some((line, metis)) = head else { return Err(lines.error(HEAD, "the end")) };
    if u64::from(node) < metis.nodes {
        let expected = format!("a line for each of the {} nodes", metis.nodes);
        return Err(lines.error(expected, format!("the end after {node}")));
    }
    sides.iter_mut().for_each(|side| side.sort_unstable());
    let [lower, higher] = &sides;
    let differs = |&at: &usize| lower.get(at).map(|own| (own.0, own.1)) != higher.get(at).map(|own| (own.0, own.1));
    if let Some(at) = (0..lower.len().max(higher.len())).find(differs) {
        let alone = [lower.get(at), higher.get(at)].into_iter().flatten().min().copied();
        let ((one, other), _, line) = alone.unwrap_or(((0, 0), None, line));
        let found = format!("nodes {} and {}, of which one has no such edge", one + 1, other + 1);
        return Err(lines.error_at(line, "each edge in the lines of both nodes, with the same weight", found));
    }
    if lower.len() as u64 != metis.edges {
        let expected = format!("{}, as this line has it", count(metis.edges, "edge"));
        return Err(lines.error_at(line, expected, lower.len().to_string()));
    }
    let mut found = edges.finish(node as usize, None, None)?;
    if metis.before > 0 {
        let name = source.name().display();
        found.notices.push(format!("{name}: the weights or sizes of nodes were not read."));
    }
    Ok(found)
}

/// Returns the header if the file is certainly a METIS graph: it has one line per node, the neighbor lists contain two
/// entries per edge in total, and the lists are symmetric.
pub(super) fn find(source: &Source) -> Result<Option<Metis>> {
    let mut lines = Lines::open_long(source)?;
    let mut head: Option<Metis> = None;
    let mut lists: Vec<Vec<u64>> = Vec::new();
    // An entry of a node's neighbor list counts in `forward` if it is higher than the node's own number, and in
    // `backward` if it is lower.
    let (mut forward, mut backward) = (0_u64, 0_u64);
    while lines.advance()? {
        let line = lines.line().trim_ascii();
        if is_comment(line) {
            continue;
        }
        let Some(metis) = &head else {
            if !line.is_empty() {
                head = Metis::head(line).filter(|metis| metis.nodes > 0 && metis.edges > 0);
                if head.is_none() {
                    return Ok(None);
                }
            }
            continue;
        };
        let node = lists.len() as u64 + 1;
        if node > metis.nodes && line.is_empty() {
            continue;
        }
        let list = metis.neighbors(line, node, source.signed()).filter(|_| node <= metis.nodes);
        // For most edge lists, the search ends here within the first few lines.
        let Some(list) = list.filter(|list| knows_back(&lists, list, node)) else { return Ok(None) };
        let earlier = list.partition_point(|&other| other < node);
        backward += earlier as u64;
        forward += (list.len() - earlier) as u64;
        lists.push(list);
    }
    let whole = |metis: &Metis| metis.nodes == lists.len() as u64 && metis.edges == forward && forward == backward;
    Ok(head.filter(whole))
}

/// Returns whether each earlier node in the list of `node` also has `node` in its own list.
fn knows_back(lists: &[Vec<u64>], list: &[u64], node: u64) -> bool {
    let of = |other: u64| usize::try_from(other - 1).ok().and_then(|place| lists.get(place));
    list.iter()
        .take_while(|&&other| other < node)
        .all(|&other| of(other).is_some_and(|list| list.binary_search(&node).is_ok()))
}
