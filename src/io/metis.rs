//! Recognizes METIS graphs: a line of counts, followed by a line of neighbors for each node. Both METIS graphs and edge
//! lists consist of lines of numbers, so only the whole file shows which of the two it is. The format is described in
//! <https://karypis.github.io/glaros/files/sw/metis/manual.pdf>.

use super::lines::{Lines, fields, natural};
use super::opening::count;
use super::source::Source;
use crate::error::{Error, Result};
use std::path::Path;

/// The header of a METIS graph.
pub(super) struct Metis {
    line: u64,
    pub(super) nodes: u64,
    pub(super) edges: u64,
    /// The number of values that precede the neighbors in a node's line: the node's size and weights.
    before: usize,
    /// Whether a weight follows each neighbor.
    weighted: bool,
}

impl Metis {
    pub(super) fn refuse(&self, path: &Path) -> Error {
        let found = format!(
            "a METIS graph of {} and {}, whose lines list neighbors; convert it to an edge list",
            count(self.nodes, "node"),
            count(self.edges, "edge")
        );
        Error::parse(path, Some(self.line), "an edge list: two ids a line, and perhaps a weight", found)
    }

    /// Parses the counts in the current line: `nodes edges [format [weights]]`.
    fn head(lines: &Lines) -> Option<Self> {
        let all: Vec<&[u8]> = fields(lines.line()).take(5).collect();
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
        let (nodes, edges) = (natural(nodes)?, natural(edges)?);
        (nodes > 0 && edges > 0).then_some(Self { line: lines.at(), nodes, edges, before, weighted: flag(0) })
    }

    /// Returns the neighbors in the line of the given node, in ascending order, or `None` if the line does not have the
    /// form of a node's line.
    fn neighbors(&self, line: &[u8], node: u64) -> Option<Vec<u64>> {
        let numbers: Vec<u64> = fields(line).map(natural).collect::<Option<_>>()?;
        let (step, numbers) = (1 + usize::from(self.weighted), numbers.get(self.before..)?);
        if !numbers.len().is_multiple_of(step) {
            return None;
        }
        let mut neighbors: Vec<u64> = numbers.iter().step_by(step).copied().collect();
        neighbors.sort_unstable();
        let right = |&other: &u64| other != node && (1..=self.nodes).contains(&other);
        (neighbors.iter().all(right) && neighbors.is_sorted_by(|one, next| one < next)).then_some(neighbors)
    }
}

/// Returns the header if the file is certainly a METIS graph: it has one line per node, the neighbor lists contain two
/// entries per edge in total, and the lists are symmetric.
pub(super) fn find(source: &Source) -> Result<Option<Metis>> {
    let mut lines = Lines::open(source)?;
    let mut head: Option<Metis> = None;
    let mut lists: Vec<Vec<u64>> = Vec::new();
    // An entry of a node's neighbor list counts in `forward` if it is higher than the node's own number, and in
    // `backward` if it is lower.
    let (mut forward, mut backward) = (0_u64, 0_u64);
    while lines.advance()? {
        let line = lines.line().trim_ascii();
        if line.first().is_some_and(|byte| matches!(byte, b'%' | b'#')) {
            continue;
        }
        let Some(metis) = &head else {
            if !line.is_empty() {
                head = Metis::head(&lines);
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
        let list = metis.neighbors(line, node).filter(|_| node <= metis.nodes);
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
