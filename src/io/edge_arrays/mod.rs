//! Reads graphs from arrays: PyG's `edge_index`, whose two rows are the sources and the targets of the edges, sparse
//! matrices as scipy saves them, and dense adjacency matrices.

mod elements;
mod scipy;

use super::edge_list::Listed;
use super::rows::Layout;
use super::source::Source;
use super::weights::checked;
use crate::error::{Error, Result};
use crate::graph::{EdgeList, Weights};
use elements::{Arrays, Elements};
use std::path::Path;

const INDEX: &str = "edge_index";
const ADJACENCY: [&str; 2] = ["adjacency", "adj"];
/// The arrays that say something of edges and graphs.
const KNOWN: [&str; 8] =
    [INDEX, "edge_weight", "edge_attr", "num_nodes", "batch", "ptr", "num_nodes_list", "num_edges_list"];

/// The container of the arrays.
#[derive(Clone, Debug)]
pub(super) enum Container {
    Npy,
    /// An archive with its members.
    Npz(Vec<Source>),
    Safetensors,
}

/// Returns whether the members of an archive are the arrays of a sparse matrix that scipy saved.
pub(super) fn is_scipy(members: &[Source]) -> bool {
    let has = |name: &str| members.iter().any(|member| member.name().file_name().is_some_and(|own| own == name));
    has("format.npy") && has("shape.npy") && !has("edge_index.npy")
}

/// Reads the graph in a sparse matrix that scipy saved.
pub(super) fn read_scipy(path: &Path, members: Vec<Source>) -> Result<Listed> {
    scipy::read(&Arrays::of_npz(path, members))
}

/// Reads the graphs of an array `edge_index`.
pub(super) fn read(source: &Source, container: &Container) -> Result<Listed> {
    let arrays = match container {
        Container::Npy => Arrays::of_npy(source, INDEX),
        Container::Npz(members) => Arrays::of_npz(source.name(), members.clone()),
        Container::Safetensors => Arrays::of_safetensors(source.clone())?,
    };
    if let Some(index) = arrays.find(INDEX)? {
        return read_index(&arrays, index);
    }
    for name in ADJACENCY {
        if let Some(matrix) = arrays.find(name)? {
            return read_adjacency(&arrays, matrix);
        }
    }
    let names: Vec<&str> = arrays.names().take(8).collect();
    let found = if names.is_empty() { "no array".to_owned() } else { names.join(", ") };
    let expected = "an array edge_index of shape (2, edges), a scipy.sparse matrix, or a square matrix adjacency";
    Err(arrays.error(expected, found))
}

fn listed(edges: EdgeList, notices: Vec<String>) -> Listed {
    Listed { edges, node_ids: None, notices, layout: Layout::default(), lines: Vec::new(), has_lines: false }
}

/// The two ends of each edge.
struct Ends {
    sources: Vec<u32>,
    targets: Vec<u32>,
    /// The number of nodes that the ends need.
    nodes: u64,
}

fn read_index(arrays: &Arrays, index: Elements) -> Result<Listed> {
    let mut notices = Vec::new();
    let shown = arrays.path.display();
    if matches!(index.shape[..], [2, 2]) {
        notices.push(format!(
            "{shown}: {INDEX} has the shape (2, 2), and its rows were read as the sources and the targets, as in PyG."
        ));
    }
    let mut ends = ends(index)?;
    let weights = weights_of(arrays, ends.sources.len(), &mut notices)?;
    let unused: Vec<&str> = arrays.names().filter(|name| !KNOWN.contains(name)).take(8).collect();
    if !unused.is_empty() {
        notices.push(format!("{shown}: these arrays were not read: {}.", unused.join(", ")));
    }
    let offsets = offsets(arrays, &mut ends)?;
    check_graphs(arrays, &ends, &offsets)?;
    let Ends { sources, targets, .. } = ends;
    Ok(listed(EdgeList::batch(offsets)?.holding(sources, targets, weights), notices))
}

/// Reads the ends of the edges. An array of the shape (edges, 2) is the transpose.
fn ends(index: Elements) -> Result<Ends> {
    if !index.is_integer() || !matches!(index.shape[..], [2, _] | [_, 2]) {
        let expected = "integers of the shape (2, edges) or (edges, 2)";
        let found = match index.shape[..] {
            [rows, columns] if rows == columns && rows != 2 => format!(
                "a square matrix of the shape ({rows}, {columns}); a dense adjacency matrix is read by its name, \
                 adjacency, in an .npz or .safetensors file"
            ),
            _ if !index.is_integer() => format!("the type {}", index.kind),
            _ => format!("the shape {:?}", index.shape),
        };
        return Err(index.error(expected, found));
    }
    let rows = index.shape[0] == 2;
    let count = index.count()? / 2;
    // In this order, all sources come before all targets.
    let apart = rows != index.by_columns;
    let mut ends = Ends { sources: Vec::new(), targets: Vec::new(), nodes: 0 };
    let path = index.path.clone();
    let mut place = 0_usize;
    index.integers(|node| {
        let Ok(own) = u32::try_from(node) else {
            let found = format!("{node} as element {place} of {INDEX}");
            return Err(Error::parse(&path, None, "nodes from 0 to 2^32 - 1", found));
        };
        ends.nodes = ends.nodes.max(u64::from(own) + 1);
        let first = if apart { place < count } else { place.is_multiple_of(2) };
        if first {
            ends.sources.push(own)
        } else {
            ends.targets.push(own)
        }
        place += 1;
        Ok(())
    })?;
    Ok(ends)
}

/// Reads the weights of the edges: `edge_weight`, or `edge_attr` if it has one column.
fn weights_of(arrays: &Arrays, edges: usize, notices: &mut Vec<String>) -> Result<Option<Weights>> {
    let has_weights = arrays.has("edge_weight");
    for name in ["edge_weight", "edge_attr"] {
        let Some(array) = arrays.find(name)? else { continue };
        let one = matches!(array.shape[..], [own] | [own, 1] if own == edges);
        if !one && name == "edge_attr" {
            notices.push(format!(
                "{}: edge_attr of the shape {:?} was not read, because it is not one number for each edge.",
                arrays.path.display(),
                array.shape
            ));
            continue;
        }
        if name == "edge_attr" && has_weights {
            continue;
        }
        if !one {
            let found = format!("the shape {:?}", array.shape);
            return Err(array.error(format!("a weight for each of the {edges} edges"), found));
        }
        return read_weights(arrays, name, array);
    }
    Ok(None)
}

/// Reads weights. Without an edge there are none, as in other formats.
fn read_weights(arrays: &Arrays, name: &str, array: Elements) -> Result<Option<Weights>> {
    let mut found = Weights::default();
    let signed = array.signed;
    array.floats(|weight| {
        let refused =
            |expected| arrays.error(expected, format!("{weight} as element {} of {name}", found.view().len()));
        found.push(checked(weight, signed).map_err(refused)?);
        Ok(())
    })?;
    Ok(Some(found).filter(|found| !found.view().is_empty()))
}

/// Returns the largest number of nodes that a file may state, so that a wrong number reserves little memory. Only nodes
/// without edges are more than the edges need.
fn most_nodes(edges: usize) -> u64 {
    (edges as u64).saturating_mul(64).saturating_add(1 << 24)
}

/// Returns the index of the first node of each graph, followed by the number of nodes.
fn offsets(arrays: &Arrays, ends: &mut Ends) -> Result<Vec<usize>> {
    let stated = stated(arrays, ends)?;
    // Of the arrays that are backed by an element for each graph or node.
    let mut backed = ends.sources.len();
    let offsets: Vec<usize> = if let Some(array) = arrays.find("ptr")? {
        let offsets = array.all_integers()?;
        if offsets.first() != Some(&0) || !offsets.is_sorted() {
            return Err(arrays.error("a ptr that begins with 0 and never descends", "another"));
        }
        backed += offsets.len();
        offsets.into_iter().map(|offset| usize::try_from(offset).unwrap_or(usize::MAX)).collect()
    } else if let Some(array) = arrays.find("batch")? {
        let offsets = of_batch(arrays, array)?;
        backed += offsets.last().copied().unwrap_or(0);
        offsets
    } else if let (Some(nodes), Some(edges)) = (arrays.find("num_nodes_list")?, arrays.find("num_edges_list")?) {
        return of_counts(arrays, ends, &nodes.all_integers()?, &edges.all_integers()?);
    } else {
        let nodes = stated.unwrap_or(ends.nodes);
        vec![0, usize::try_from(nodes).unwrap_or(usize::MAX)]
    };
    let nodes = offsets.last().copied().unwrap_or(0) as u64;
    if nodes < ends.nodes {
        let found = format!("node {} in {INDEX}", ends.nodes - 1);
        return Err(arrays.error(format!("edges between the {nodes} nodes that the arrays state"), found));
    }
    let most = most_nodes(backed);
    if nodes > most {
        let expected = format!(
            "at most {most} nodes for {} edges, since every number from 0 on is a node (ids of any size are those of an \
             edge list or of a table with an edge in each row)",
            ends.sources.len()
        );
        return Err(arrays.error(expected, nodes.to_string()));
    }
    match stated {
        Some(stated) if stated != nodes => {
            Err(arrays.error(format!("{nodes} nodes, as ptr or batch has them"), format!("{stated} in num_nodes")))
        }
        _ => Ok(offsets),
    }
}

/// Returns the number of nodes that the array `num_nodes` states.
fn stated(arrays: &Arrays, ends: &Ends) -> Result<Option<u64>> {
    let Some(array) = arrays.find("num_nodes")? else { return Ok(None) };
    let all = array.all_integers()?;
    let most = most_nodes(ends.sources.len());
    match all[..] {
        [one] => match u64::try_from(one).ok().filter(|&one| one <= most) {
            Some(one) => Ok(Some(one)),
            None => {
                Err(arrays.error(format!("at most {most} nodes for {} edges", ends.sources.len()), one.to_string()))
            }
        },
        _ => Err(arrays.error("one number num_nodes", format!("{} numbers", all.len()))),
    }
}

/// Returns the offsets of graphs whose nodes state the number of their graph.
fn of_batch(arrays: &Arrays, array: Elements) -> Result<Vec<usize>> {
    let (mut offsets, mut nodes) = (vec![0], 0_usize);
    let most = most_nodes(array.count()?);
    array.integers(|graph| {
        let own = usize::try_from(graph).ok().filter(|&own| (own as u64) < most && own + 1 >= offsets.len());
        let Some(own) = own else {
            let expected = "a batch that begins with 0 or more, never descends and has few graphs without nodes";
            return Err(arrays.error(expected, format!("{graph} as element {nodes}")));
        };
        while offsets.len() <= own {
            offsets.push(nodes);
        }
        nodes += 1;
        Ok(())
    })?;
    offsets.push(nodes);
    Ok(offsets)
}

/// Returns the offsets of graphs whose numbers of nodes and edges are stated, as in the Open Graph Benchmark. There,
/// the nodes of each graph are counted from 0, so the ends of the edges are changed.
fn of_counts(arrays: &Arrays, ends: &mut Ends, nodes: &[i64], edges: &[i64]) -> Result<Vec<usize>> {
    let most = most_nodes(ends.sources.len() + nodes.len());
    let (mut offsets, mut first_edge) = (vec![0_usize], 0_usize);
    if nodes.len() != edges.len() {
        let expected = format!("{} elements of num_edges_list, as of num_nodes_list", nodes.len());
        return Err(arrays.error(expected, edges.len().to_string()));
    }
    for (graph, (&nodes, &edges)) in nodes.iter().zip(edges).enumerate() {
        let first = offsets[graph];
        let count = usize::try_from(nodes).ok().filter(|&count| (first.saturating_add(count) as u64) <= most);
        let end = usize::try_from(edges).ok().and_then(|edges| first_edge.checked_add(edges));
        let (Some(count), Some(end)) = (count, end.filter(|&end| end <= ends.sources.len())) else {
            let found = format!("{nodes} nodes and {edges} edges of graph {graph}");
            return Err(arrays.error(format!("graphs that fit the {} edges", ends.sources.len()), found));
        };
        for end in ends.sources[first_edge..end].iter_mut().chain(&mut ends.targets[first_edge..end]) {
            if *end as usize >= count {
                let expected = format!("one of the {count} nodes of graph {graph}, counted from 0");
                return Err(arrays.error(expected, end.to_string()));
            }
            *end = u32::try_from(*end as usize + first).map_err(|_| arrays.error("fewer than 2^32 nodes", "more"))?;
        }
        first_edge = end;
        offsets.push(first + count);
    }
    if first_edge != ends.sources.len() {
        let found = format!("{first_edge} in num_edges_list");
        return Err(arrays.error(format!("{} edges of all graphs", ends.sources.len()), found));
    }
    Ok(offsets)
}

/// Checks that no edge joins two graphs.
fn check_graphs(arrays: &Arrays, ends: &Ends, offsets: &[usize]) -> Result<()> {
    if offsets.len() <= 2 {
        return Ok(());
    }
    let graph = |node: u32| offsets.partition_point(|&first| first <= node as usize) - 1;
    let joins = |(&source, &target): (&u32, &u32)| graph(source) != graph(target);
    match ends.sources.iter().zip(&ends.targets).position(joins) {
        None => Ok(()),
        Some(edge) => {
            let (source, target) = (ends.sources[edge], ends.targets[edge]);
            let found = format!(
                "edge {edge} from node {source} in graph {} to node {target} in graph {}",
                graph(source),
                graph(target)
            );
            Err(arrays.error("edges within one graph", found))
        }
    }
}

/// Reads a dense adjacency matrix, whose nonzero elements are the edges.
fn read_adjacency(arrays: &Arrays, matrix: Elements) -> Result<Listed> {
    let [rows, columns] = matrix.shape[..] else {
        let found = format!("the shape {:?}", matrix.shape);
        return Err(matrix.error("a square matrix", found));
    };
    if rows != columns {
        return Err(matrix.error("a square matrix", format!("the shape ({rows}, {columns})")));
    }
    let (turned, signed) = (matrix.by_columns, matrix.signed);
    // A matrix without elements states no number of nodes that memory would not hold.
    let mut edges = EdgeList::new(0)?;
    let mut place = 0_usize;
    matrix.floats(|weight| {
        if weight != 0.0 {
            let (row, column) = (place / columns, place % columns);
            let refused = |expected| arrays.error(expected, format!("{weight} in row {row} and column {column}"));
            let weight = checked(weight, signed).map_err(refused)?;
            let index = |node: usize| u32::try_from(node).map_err(|_| arrays.error("fewer than 2^32 nodes", "more"));
            let (row, column) = (index(row)?, index(column)?);
            let (source, target) = if turned { (column, row) } else { (row, column) };
            edges.push_weighted(source, target, weight);
        }
        place += 1;
        Ok(())
    })?;
    Ok(listed(edges.with_nodes(rows)?, Vec::new()))
}
