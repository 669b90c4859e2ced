//! Reads edge lists. Each line contains two ids and, optionally, a weight, separated by white space, commas or
//! semicolons; `#` and `%` begin comments. If the first line consists of words, it names the columns
//! ([`header`](super::header)). If the first line consists of counts and the rest of the file confirms them, this line
//! is a header ([`Opening`]).

use super::header::{ends_in_order, is_of_a_series};
use super::ids::{distinct, numbering};
use super::lines::quoted;
use super::opening::{Distinct, Opening, Reading, Rest, integer};
use super::rows::{Layout, Row, Rows};
use super::separator::{self, Separator};
use super::source::Source;
use super::weights::Weights;
use super::{NodeIds, metis};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::EdgeList;
use std::collections::HashMap;
use std::path::Path;

/// The contents of an edge list file.
pub(super) struct Listed {
    pub(super) edges: EdgeList,
    /// The ids that the file gives to the nodes. `None` if the ids are 0, 1, 2 and so on.
    pub(super) node_ids: Option<NodeIds>,
    pub(super) notices: Vec<String>,
    /// The layout with which the file was read.
    pub(super) layout: Layout,
    /// The line of each edge if `has_lines`, or else the number of the edge among those that the file lists, counted
    /// from 0. If it is empty, edges have the order of the file.
    pub(super) lines: Vec<u64>,
    pub(super) has_lines: bool,
}

/// Reads the graph in an edge list file. If all ids are natural numbers, the nodes are sorted by id; otherwise they are
/// in the order in which they first appear.
pub(super) fn read(source: &Source) -> Result<Listed> {
    let mut error = match read_as(source, Layout::default()) {
        Err(error) if matches!(error.kind(), ErrorKind::Parse { .. }) => error,
        other => return other,
    };
    // A line that cannot be parsed as a row when it is split at white space may be valid when it is split at tabs. A
    // file that is not an edge list may be a METIS graph, whose lines are lists of neighbors.
    if let Ok(Some(Separator::Tab)) = separator::find(source) {
        match read_as(source, Layout { separator: Some(Separator::Tab), ..Layout::default() }) {
            Err(other) => error = other,
            found => return found,
        }
    }
    Err(metis::find(source).ok().flatten().map_or(error, |metis| metis.refuse(source.name())))
}

fn read_as(source: &Source, layout: Layout) -> Result<Listed> {
    match read_integers::<u32>(source, layout)? {
        Found::All(found) => return Ok(*found),
        Found::Larger => {}
        Found::Text => return read_text(source, layout, None),
    }
    match read_integers::<u64>(source, layout)? {
        Found::All(found) => Ok(*found),
        _ => read_text(source, layout, None),
    }
}

/// The result of an attempt to read all ids of a file as numbers of one type.
enum Found<A> {
    All(Box<A>),
    /// An id is a natural number that the type cannot hold.
    Larger,
    /// An id is not a natural number.
    Text,
}

/// An integer type for the ids. With u32, which suffices for most files, the ids take half of the memory, and the
/// numbers of the nodes can take their place.
trait Id: Copy + Ord + Into<u64> + TryFrom<u64> {}

impl Id for u32 {}
impl Id for u64 {}

/// The ids and the weights of all edges, in the order of the file.
struct Edges<I> {
    sources: Vec<I>,
    targets: Vec<I>,
    weights: Weights,
}

impl<I: Id> Edges<I> {
    fn ids(&self) -> impl Iterator<Item = u64> + Clone {
        self.sources.iter().chain(&self.targets).map(|&id| id.into())
    }

    /// Adds an edge. Returns whether the type can hold both ids.
    fn push(&mut self, source: u64, target: u64, weight: Option<f64>) -> bool {
        let (Ok(source), Ok(target)) = (I::try_from(source), I::try_from(target)) else { return false };
        self.weights.push(self.sources.len(), weight);
        self.sources.push(source);
        self.targets.push(target);
        true
    }

    /// Removes the first edge.
    fn skip_first(&mut self) {
        self.sources.remove(0);
        self.targets.remove(0);
        self.weights.skip_first();
    }
}

/// Calls `edge` with the line number and the two ids of every edge. `layout` is the [`Listed::layout`] of an earlier
/// read.
pub(super) fn visit(source: &Source, layout: Layout, edge: &mut dyn FnMut(u64, &str, &str)) -> Result<()> {
    let mut rows = Rows::open(source, layout)?;
    while let Some(row) = rows.advance()? {
        edge(row.line, row.source, row.target);
    }
    Ok(())
}

/// Reads a file whose ids are natural numbers. If they are not, or too large for the type `I`, the caller reads the
/// file again.
fn read_integers<I: Id>(source: &Source, layout: Layout) -> Result<Found<Listed>> {
    let mut rows = Rows::open(source, layout)?;
    let path = source.name();
    let mut edges = match integers::<I>(&mut rows)? {
        Found::All(edges) => *edges,
        Found::Larger => return Ok(Found::Larger),
        Found::Text => return Ok(Found::Text),
    };
    let mut names = distinct(edges.ids(), 2 * edges.sources.len(), source.cancel())?;
    let mut notices = rows.notices();
    let mut headed = false;
    if let Some(opening) = &mut rows.opening {
        let own = usize::from(opening.ends().is_some());
        let rest = rest_of(&names, &edges.sources[own..], &edges.targets[own..], opening);
        let (reading, notice) = opening.read(path, &rest)?;
        // In a METIS graph, the number of nodes is at least the number of lines after the header.
        let likely = !opening.is_lone() && edges.sources[0].into() >= edges.sources.len() as u64 - 1;
        let metis = if likely { metis::find(source)? } else { None };
        notices.extend(metis.map(|metis| opening.metis_notice(path, &metis, &reading)).or(notice));
        if let Reading::Header(nodes) = reading {
            headed = true;
            if own > 0 {
                edges.skip_first();
            }
            names = match nodes {
                Some((first, nodes)) => (first..first + nodes).collect(),
                None => distinct(edges.ids(), 2 * edges.sources.len(), source.cancel())?,
            };
        }
    }
    notices.extend(edges.weights.doubts(path));
    let node = numbering(&names, 2 * edges.sources.len());
    let counting = names.iter().zip(0..).all(|(&name, index)| name == index);
    let Edges { sources, targets, weights } = edges;
    // The numbers of the nodes take the place of the ids, without new memory.
    let numbered = |ids: Vec<I>| -> Result<Vec<u32>> {
        let numbers = ids.into_iter().enumerate().map(|(at, id)| {
            source.cancel().check_at(at)?;
            Ok(node(id.into()))
        });
        numbers.collect()
    };
    let (sources, targets) = (numbered(sources)?, numbered(targets)?);
    let edges = weights.list(&rows.lines, names.len(), sources, targets)?;
    let node_ids = (!counting).then(|| NodeIds::Integers(names.iter().map(|&name| name.cast_signed()).collect()));
    let layout = rows.layout(headed);
    Ok(Found::All(Box::new(Listed { edges, node_ids, notices, layout, lines: Vec::new(), has_lines: false })))
}

/// Returns the ids and the weights of all rows.
fn integers<I: Id>(rows: &mut Rows) -> Result<Found<Edges<I>>> {
    let capacity = rows.lines.bytes() / 8;
    let (sources, targets) = (Vec::with_capacity(capacity), Vec::with_capacity(capacity));
    let mut edges = Edges { sources, targets, weights: Weights::default() };
    let mut passed_over = false;
    loop {
        if !rows.plain(|source, target, weight| edges.push(source, target, weight)) {
            return Ok(Found::Larger);
        }
        let Some(row) = rows.advance()? else { break };
        let (Some(source), Some(target)) = (integer(row.source), integer(row.target)) else {
            // If the first line consists of two words and the lines below it consist of numbers, the first line is a
            // header. A number that is not natural is not a word but an ordinary id.
            let word = |field: &str| field.parse::<f64>().is_err();
            if row.first && word(row.source) && word(row.target) {
                passed_over = true;
                let (line, ends) = (row.line, ends_in_order(row.source, row.target));
                rows.notice = ends.map(|ends| format!("{}:{line}: {ends}", rows.lines.path().display()));
                continue;
            }
            return Ok(Found::Text);
        };
        if !edges.push(source, target, row.weight) {
            return Ok(Found::Larger);
        }
    }
    match edges.sources.is_empty() {
        true if passed_over => Ok(Found::Text),
        true => Err(rows.nothing()),
        false => Ok(Found::All(Box::new(edges))),
    }
}

/// Describes the edges after the first line. `names` contains all distinct ids of the file, including the numbers of
/// the first line. `sources` and `targets` contain the ids of the edges after the first line.
fn rest_of<I: Id>(names: &[u64], sources: &[I], targets: &[I], opening: &Opening) -> Rest {
    let ends = opening.ends();
    let least = sources.iter().chain(targets).min();
    let range = least.zip(sources.iter().chain(targets).max()).map(|(&least, &most)| (least.into(), most.into()));
    let contains = |end| I::try_from(end).is_ok_and(|end| sources.contains(&end) || targets.contains(&end));
    let has = ends.map_or([true; 2], |ends| ends.map(contains));
    let own = match ends {
        Some([nodes, edges]) => {
            let other = nodes != edges && names.binary_search(&edges).is_ok();
            u64::from(!has[0]) + u64::from(other && !has[1])
        }
        None => 0,
    };
    let edges = sources.len() as u64;
    let pairs = || sources.iter().copied().zip(targets.iter().copied());
    let distinct = opening.may_count_fewer(edges).then(|| Distinct::new(pairs()));
    Rest { edges, ids: names.len() as u64 - own, range, has, distinct }
}

/// The number of rows that show whether a table has lists instead of ids.
const SHOWING_LISTS: usize = 8;

/// Returns whether a field is a list of numbers or of texts, as pandas writes it in a CSV file.
fn is_list(field: &str) -> bool {
    let inner = field.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let numbers = |inner: &str| inner.chars().all(|c| c.is_ascii_digit() || " ,.-[]".contains(c));
    inner.is_some_and(|inner| numbers(inner) || inner.starts_with(['\'', '"']))
}

/// Reads a file whose ids are text. `header` is `None` if nothing is known yet about the first line. If an earlier pass
/// found that the first line is a header, `header` contains the notice about the header.
fn read_text(source: &Source, layout: Layout, header: Option<Option<String>>) -> Result<Listed> {
    let (headed, path) = (header.is_some(), source.name());
    let mut rows = Rows::open(source, Layout { headed, ..layout })?;
    let mut nodes: HashMap<String, u32> = HashMap::new();
    let (mut sources, mut targets) = (Vec::new(), Vec::new());
    let mut weights = Weights::default();
    let mut lists = Vec::new();
    while let Some(row) = rows.advance()? {
        if lists.len() < SHOWING_LISTS && !row.first {
            let list = [row.source, row.target].into_iter().find(|id| is_list(id));
            lists.push(list.map(|list| (row.line, list.to_owned())));
        }
        let mut node = |name: &str| -> Result<u32> {
            if let Some(&node) = nodes.get(name) {
                return Ok(node);
            }
            let too_many = |_| Error::parse(path, None, "fewer than 2^32 nodes", "more");
            let node = u32::try_from(nodes.len()).map_err(too_many)?;
            nodes.insert(name.to_owned(), node);
            Ok(node)
        };
        let Row { source, target, weight, .. } = row;
        weights.push(sources.len(), weight);
        sources.push(node(source)?);
        targets.push(node(target)?);
    }
    if sources.is_empty() {
        return Err(rows.nothing());
    }
    let lists = lists.into_iter().collect::<Option<Vec<_>>>();
    // Lists of one item each, such as `[1]`, may be ids.
    if let Some((line, list)) = lists.and_then(|all| all.into_iter().find(|(_, list)| list.contains([',', ' ']))) {
        let advice = "store a table of lists in Parquet, as pandas does by to_parquet, or write a row for each edge";
        let found = format!("a list, {}; {advice}", quoted(list.as_bytes()));
        return Err(Error::parse(path, Some(line), "two ids of nodes in each row", found));
    }
    let mut notices: Vec<String> = rows.notices().into_iter().chain(header.flatten()).collect();
    let opening = rows.opening.as_mut().filter(|_| !headed);
    if let Some(opening) = opening {
        // The two names are ids of a series themselves.
        opening.names &= nodes.keys().filter(|id| is_of_a_series(id)).take(3).count() <= 2;
        let (reading, notice) = read_opening(opening, path, (&sources, &targets), nodes.len())?;
        match reading {
            Reading::Header(_) if !opening.is_lone() => return read_text(source, layout, Some(notice)),
            _ => notices.extend(notice),
        }
    }
    notices.extend(weights.doubts(path));
    let edges = weights.list(&rows.lines, nodes.len(), sources, targets)?;
    let mut names = vec![String::new(); nodes.len()];
    for (name, node) in nodes {
        names[node as usize] = name;
    }
    let (node_ids, layout) = (Some(NodeIds::Text(names)), rows.layout(headed));
    Ok(Listed { edges, node_ids, notices, layout, lines: Vec::new(), has_lines: false })
}

/// Decides how to read the first line of a file whose ids are text. If the first line may be an edge, its ids are the
/// first elements of `sources` and `targets`.
fn read_opening(
    opening: &mut Opening,
    path: &Path,
    (sources, targets): (&[u32], &[u32]),
    nodes: usize,
) -> Result<(Reading, Option<String>)> {
    let own = usize::from(!opening.is_lone());
    let ends = (own > 0).then(|| [sources[0], targets[0]]);
    let (sources, targets) = (&sources[own..], &targets[own..]);
    let contains = |end| sources.contains(&end) || targets.contains(&end);
    let has = ends.map_or([true; 2], |ends| ends.map(contains));
    let alone = match ends {
        Some([source, target]) => u64::from(!has[0]) + u64::from(source != target && !has[1]),
        None => 0,
    };
    let edges = sources.len() as u64;
    let pairs = || sources.iter().copied().zip(targets.iter().copied());
    let distinct = opening.may_count_fewer(edges).then(|| Distinct::new(pairs()));
    let rest = Rest { edges, ids: nodes as u64 - alone, range: None, has, distinct };
    let (reading, notice) = opening.read(path, &rest)?;
    let unknown = rest.edges > 0 && has == [false; 2] && matches!(reading, Reading::Edge);
    if unknown && opening.names {
        return Ok((Reading::Header(None), Some(opening.names_notice(path))));
    }
    Ok((reading, notice.or_else(|| unknown.then(|| opening.unknown_ids(path)))))
}
