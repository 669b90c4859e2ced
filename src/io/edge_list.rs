//! Reads edge lists. Each line contains two ids and, optionally, a weight, separated by white space, commas or
//! semicolons; `#` and `%` begin comments. If the first line consists of words, it names the columns
//! ([`header`](super::header)). If the first line consists of counts and the rest of the file confirms them, this line
//! is a header ([`Opening`]).

use super::opening::{Distinct, Opening, Reading, Rest, integer};
use super::rows::{Layout, Row, Rows};
use super::separator::{self, Separator};
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
}

/// Reads the graph in an edge list file. If all ids are natural numbers, the nodes are sorted by id; otherwise they are
/// in the order in which they first appear.
pub(super) fn read(path: &Path) -> Result<Listed> {
    let mut error = match read_as(path, Layout::default()) {
        Err(error) if matches!(error.kind(), ErrorKind::Parse { .. }) => error,
        other => return other,
    };
    // A line that cannot be parsed as a row when it is split at white space may be valid when it is split at tabs. A
    // file that is not an edge list may be a METIS graph, whose lines are lists of neighbors.
    if let Ok(Some(Separator::Tab)) = separator::find(path) {
        match read_as(path, Layout { separator: Some(Separator::Tab), ..Layout::default() }) {
            Err(other) => error = other,
            found => return found,
        }
    }
    Err(metis::find(path).ok().flatten().map_or(error, |metis| metis.refuse(path)))
}

fn read_as(path: &Path, layout: Layout) -> Result<Listed> {
    match read_integers(path, layout)? {
        Some(found) => Ok(found),
        None => read_text(path, layout, None),
    }
}

/// Calls `edge` with the line number and the two ids of every edge. `layout` is the [`Listed::layout`] of an earlier
/// read.
pub(super) fn visit(path: &Path, layout: Layout, edge: &mut dyn FnMut(u64, &str, &str)) -> Result<()> {
    let mut rows = Rows::open(path, layout)?;
    while let Some(row) = rows.advance()? {
        edge(row.line, row.source, row.target);
    }
    Ok(())
}

/// Reads a file whose ids are natural numbers. Returns `None` if an id is not a natural number; the caller then reads
/// the file again, with the ids as text.
fn read_integers(path: &Path, layout: Layout) -> Result<Option<Listed>> {
    let mut rows = Rows::open(path, layout)?;
    let Some((mut ids, mut weights)) = integers(&mut rows)? else { return Ok(None) };
    let mut names = distinct(&ids);
    let mut notices: Vec<String> = rows.notice.take().into_iter().collect();
    let mut headed = false;
    if let Some(opening) = &mut rows.opening {
        let own = 2 * usize::from(opening.ends().is_some());
        let rest = rest_of(&names, &ids[own..], opening);
        let (reading, notice) = opening.read(path, &rest)?;
        // In a METIS graph, the number of nodes is at least the number of lines after the header.
        let likely = !opening.is_lone() && ids[0] >= ids.len() as u64 / 2 - 1;
        let metis = if likely { metis::find(path)? } else { None };
        notices.extend(metis.map(|metis| opening.metis_notice(path, &metis, &reading)).or(notice));
        if let Reading::Header(nodes) = reading {
            headed = true;
            if own > 0 {
                ids.drain(..own);
                weights.skip_first();
            }
            names = nodes.map_or_else(|| distinct(&ids), |(first, nodes)| (first..first + nodes).collect());
        }
    }
    notices.extend(weights.doubts(&rows.lines));
    let node = numbering(&names, ids.len());
    let edges =
        weights.list(&rows.lines, names.len(), ids.chunks_exact(2).map(|pair| (node(pair[0]), node(pair[1]))))?;
    let counting = names.iter().zip(0..).all(|(&name, index)| name == index);
    let node_ids = (!counting).then(|| NodeIds::Integers(names.iter().map(|&name| name.cast_signed()).collect()));
    Ok(Some(Listed { edges, node_ids, notices, layout: rows.layout(headed) }))
}

/// Returns the ids of all rows, two per row, and the weights. Returns `None` if an id is not a natural number.
fn integers(rows: &mut Rows) -> Result<Option<(Vec<u64>, Weights)>> {
    let mut ids: Vec<u64> = Vec::with_capacity(rows.lines.bytes() / 4);
    let mut weights = Weights::default();
    let mut passed_over = false;
    while let Some(row) = rows.advance()? {
        let (Some(source), Some(target)) = (integer(row.source), integer(row.target)) else {
            // If the first line consists of two words and the lines below it consist of numbers, the first line is a
            // header. A number that is not natural is not a word but an ordinary id.
            let word = |field: &str| field.parse::<f64>().is_err();
            if row.first && word(row.source) && word(row.target) {
                passed_over = true;
                continue;
            }
            return Ok(None);
        };
        weights.push(ids.len() / 2, row.weight);
        ids.extend([source, target]);
    }
    match ids.is_empty() {
        true if passed_over => Ok(None),
        true => Err(rows.nothing()),
        false => Ok(Some((ids, weights))),
    }
}

/// Describes the edges after the first line. `names` contains all distinct ids of the file, including the numbers of
/// the first line. `ids` contains the ids of the edges after the first line, two per edge.
fn rest_of(names: &[u64], ids: &[u64], opening: &Opening) -> Rest {
    let ends = opening.ends();
    let range = ids.iter().fold(None, |range: Option<(u64, u64)>, &id| {
        Some(range.map_or((id, id), |(least, greatest)| (least.min(id), greatest.max(id))))
    });
    let has = ends.map_or([true; 2], |ends| ends.map(|end| ids.contains(&end)));
    let own = match ends {
        Some([nodes, edges]) => {
            let other = nodes != edges && names.binary_search(&edges).is_ok();
            u64::from(!has[0]) + u64::from(other && !has[1])
        }
        None => 0,
    };
    let edges = ids.len() as u64 / 2;
    let pairs = || ids.chunks_exact(2).map(|pair| (pair[0], pair[1]));
    let distinct = opening.may_count_fewer(edges).then(|| Distinct::new(pairs()));
    Rest { edges, ids: names.len() as u64 - own, range, has, distinct }
}

/// Returns the length of a table indexed by id, where `most` is the largest id. Returns `None` if the table would be
/// much longer than the list of ids, which has `listed` elements.
fn table_length(most: u64, listed: usize) -> Option<usize> {
    usize::try_from(most).ok().filter(|&most| most < 4 * listed + 1024).map(|most| most + 1)
}

/// Returns the distinct ids in ascending order.
#[expect(clippy::cast_possible_truncation, reason = "ids are below the table's length, a usize")]
fn distinct(ids: &[u64]) -> Vec<u64> {
    let most = ids.iter().copied().max().unwrap_or(0);
    if let Some(length) = table_length(most, ids.len()) {
        let mut present = vec![false; length];
        for &id in ids {
            present[id as usize] = true;
        }
        (0..).zip(present).filter_map(|(id, present)| present.then_some(id)).collect()
    } else {
        let mut names = ids.to_vec();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Returns a function that maps an id to its index in `names`, which must be ascending and have fewer than 2^32
/// elements. `listed` is the number of ids in the file, which limits the size of the table that the function uses.
#[expect(clippy::cast_possible_truncation, reason = "ids are below the table's length, places below 2^32")]
fn numbering(names: &[u64], listed: usize) -> impl Fn(u64) -> u32 {
    let most = names.last().copied().unwrap_or(0);
    let table = table_length(most, listed).map(|length| {
        let mut table = vec![0; length];
        for (index, &name) in (0..).zip(names) {
            table[name as usize] = index;
        }
        table
    });
    move |id| match &table {
        Some(table) => table[id as usize],
        None => names.partition_point(|&name| name < id) as u32,
    }
}

/// Reads a file whose ids are text. `header` is `None` if nothing is known yet about the first line. If an earlier pass
/// found that the first line is a header, `header` contains the notice about the header.
fn read_text(path: &Path, layout: Layout, header: Option<Option<String>>) -> Result<Listed> {
    let headed = header.is_some();
    let mut rows = Rows::open(path, Layout { headed, ..layout })?;
    let mut nodes: HashMap<String, u32> = HashMap::new();
    let mut pairs = Vec::new();
    let mut weights = Weights::default();
    while let Some(row) = rows.advance()? {
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
        weights.push(pairs.len(), weight);
        pairs.push((node(source)?, node(target)?));
    }
    if pairs.is_empty() {
        return Err(rows.nothing());
    }
    let mut notices: Vec<String> = rows.notice.take().into_iter().chain(header.flatten()).collect();
    let opening = rows.opening.as_mut().filter(|_| !headed);
    if let Some(opening) = opening {
        let (reading, notice) = read_opening(opening, path, &pairs, nodes.len())?;
        match reading {
            Reading::Header(_) if !opening.is_lone() => return read_text(path, layout, Some(notice)),
            _ => notices.extend(notice),
        }
    }
    notices.extend(weights.doubts(&rows.lines));
    let edges = weights.list(&rows.lines, nodes.len(), pairs.into_iter())?;
    let mut names = vec![String::new(); nodes.len()];
    for (name, node) in nodes {
        names[node as usize] = name;
    }
    Ok(Listed { edges, node_ids: Some(NodeIds::Text(names)), notices, layout: rows.layout(headed) })
}

/// Decides how to read the first line of a file whose ids are text. If the first line may be an edge, its ids are the
/// first element of `pairs`.
fn read_opening(
    opening: &mut Opening,
    path: &Path,
    pairs: &[(u32, u32)],
    nodes: usize,
) -> Result<(Reading, Option<String>)> {
    let own = usize::from(!opening.is_lone());
    let rest = &pairs[own..];
    let ends = pairs[..own].first().map(|&(source, target)| [source, target]);
    let has = ends.map_or([true; 2], |ends| ends.map(|end| rest.iter().any(|&(a, b)| a == end || b == end)));
    let alone = match ends {
        Some([source, target]) => u64::from(!has[0]) + u64::from(source != target && !has[1]),
        None => 0,
    };
    let edges = rest.len() as u64;
    let distinct = opening.may_count_fewer(edges).then(|| Distinct::new(rest.iter().copied()));
    let rest = Rest { edges, ids: nodes as u64 - alone, range: None, has, distinct };
    let (reading, notice) = opening.read(path, &rest)?;
    let unknown = rest.edges > 0 && has == [false; 2] && matches!(reading, Reading::Edge);
    Ok((reading, notice.or_else(|| unknown.then(|| opening.unknown_ids(path)))))
}
