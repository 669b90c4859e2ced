//! Reads the formats of the DIMACS challenges: lines that begin with `c` (a comment), `p` (the problem, with the
//! numbers of nodes and edges), `e` (an edge), `a` (an arc with a length or a capacity) or `n` (a node). The first node
//! is 1.
//! <http://prolland.free.fr/works/research/dsat/dimacs.html>, <http://www.diag.uniroma1.it/challenge9/format.shtml>,
//! <http://lpsolve.sourceforge.net/5.5/DIMACS_maxf.htm>

use super::edge_list::Listed;
use super::edges::{Edges, most_nodes};
use super::lines::{Lines, fields, natural};
use super::source::Source;
use super::weights::timestamps;
use crate::error::Result;
use crate::graph::Conventions;

/// The problem of a file.
struct Problem {
    /// Whether edges are arcs with a weight.
    directed: bool,
    nodes: usize,
    edges: usize,
}

const PROBLEMS: &str = "`p edge`, `p col`, `p sp` or `p max` with the numbers of nodes and edges";

/// Reads the graph of a coloring or clique problem (undirected, each edge of weight 1), a shortest-path problem or a
/// maximum-flow problem (directed, with lengths or capacities as weights).
pub(super) fn read(source: &Source, conventions: &Conventions) -> Result<Listed> {
    let mut lines = Lines::open_long(source)?;
    let (mut edges, mut problem, mut passed_over) = (Edges::new(conventions), None::<Problem>, 0_usize);
    while lines.advance()? {
        let mut words = fields(lines.line());
        let Some(kind) = words.next() else { continue };
        match (kind, &problem) {
            (b"c", _) => {}
            (b"p", None) => problem = Some(Problem::of(&lines)?),
            (_, None) => return Err(lines.unexpected(PROBLEMS)),
            (b"e", Some(problem @ Problem { directed: false, .. })) => {
                let ends = problem.ends(&lines, &mut words)?;
                if words.next().is_some() {
                    return Err(lines.unexpected("`e` and two nodes"));
                }
                problem.count(&lines, edges.ends().len())?;
                edges.add(ends, None, true, lines.at());
            }
            (b"a", Some(problem @ Problem { directed: true, .. })) => {
                let ends = problem.ends(&lines, &mut words)?;
                let (Some(weight), None) = (words.next(), words.next()) else {
                    return Err(lines.unexpected("`a`, two nodes and a weight"));
                };
                problem.count(&lines, edges.ends().len())?;
                edges.add(ends, Some(lines.weight(weight)?), true, lines.at());
            }
            // The source and the sink of a flow are no part of the graph.
            (b"n", Some(Problem { directed: true, .. })) => {}
            // The weights, the dimension, the positions and other values of nodes.
            (b"n" | b"d" | b"v" | b"x", Some(_)) => passed_over += 1,
            (_, Some(Problem { directed, .. })) => {
                let expected = if *directed { "a line of `a`, `n` or `c`" } else { "a line of `e`, `n` or `c`" };
                return Err(lines.unexpected(expected));
            }
        }
    }
    let Some(Problem { directed, nodes, edges: stated }) = problem else {
        return Err(lines.error(PROBLEMS, "the end"));
    };
    let listed = edges.ends().len();
    let mut notices = Vec::new();
    let mut notice = |what: &str| notices.push(format!("{}: {what}.", source.name().display()));
    let twice = !directed && both_are_listed(&edges);
    if listed != stated && !(twice && listed == 2 * stated) {
        return Err(lines.error(format!("{stated} edges, as the line `p` has it"), format!("the end after {listed}")));
    }
    if !directed {
        edges.make_undirected(|source, target| !twice || source <= target);
    }
    if twice {
        notice("each edge is listed in both directions, and counts once");
    }
    if passed_over > 0 {
        notice("the values of nodes were not read");
    }
    let mut found = edges.finish(nodes, None, None)?;
    found.notices = notices;
    found.notices.extend(found.edges.weights().and_then(|weights| timestamps(source.name(), weights)));
    Ok(found)
}

/// Returns whether each edge is listed in both directions, and not all are loops.
fn both_are_listed(edges: &Edges) -> bool {
    let mut forward: Vec<(u32, u32)> = edges.ends().filter(|(source, target)| source < target).collect();
    let mut backward: Vec<(u32, u32)> =
        edges.ends().filter(|(source, target)| source > target).map(|(source, target)| (target, source)).collect();
    if forward.len() != backward.len() {
        return false;
    }
    forward.sort_unstable();
    backward.sort_unstable();
    !forward.is_empty() && forward == backward
}

impl Problem {
    fn of(lines: &Lines) -> Result<Self> {
        let words: Vec<&[u8]> = fields(lines.line()).take(5).collect();
        let number = |field| natural(field).and_then(|number| usize::try_from(number).ok());
        let [_, kind, nodes, edges] = words[..] else { return Err(lines.unexpected(PROBLEMS)) };
        let directed = match kind {
            b"edge" | b"edges" | b"col" => false,
            b"sp" | b"max" => true,
            _ => return Err(lines.unexpected(PROBLEMS)),
        };
        let (Some(nodes), Some(edges)) = (number(nodes), number(edges)) else { return Err(lines.unexpected(PROBLEMS)) };
        let most = most_nodes(edges).min(u32::MAX as usize);
        if nodes > most {
            return Err(lines.error(format!("at most {most} nodes for {edges} edges"), nodes.to_string()));
        }
        Ok(Self { directed, nodes, edges })
    }

    /// Reads two nodes, and counts them from 0.
    fn ends<'a>(&self, lines: &Lines, words: &mut impl Iterator<Item = &'a [u8]>) -> Result<[u32; 2]> {
        let mut node = || lines.index(words.next().unwrap_or_default(), self.nodes, "a node");
        Ok([node()?, node()?])
    }

    /// Checks that another edge may follow those that were listed. Some files state each edge once and list it twice.
    fn count(&self, lines: &Lines, listed: usize) -> Result<()> {
        let most = if self.directed { self.edges } else { self.edges.saturating_mul(2) };
        if listed >= most {
            return Err(lines.unexpected(format!("no more than the {} edges that the line `p` has", self.edges)));
        }
        Ok(())
    }
}
