//! Reads and writes TUDataset folders. `DS_A.txt` has a line `r, c` for each edge. `DS_graph_indicator.txt` has, for
//! each node, a line with the number of the node's graph. Nodes and graphs are counted from 1.
//! <https://chrsmrrs.github.io/datasets/docs/format/>

use super::atomic::create_whole_folder;
use super::files::Files;
use super::lines::{Lines, natural, quoted};
use super::samples::{TableTargets, labels_of};
use super::separator::Separator;
use crate::error::{Error, Result};
use crate::graph::{EdgeList, GraphBatch};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub(super) const ADJACENCY: &str = "_A.txt";
pub(super) const INDICATOR: &str = "_graph_indicator.txt";

/// The suffix of the file with the edge attributes, which is the only optional file of the format that affects a
/// Laplacian.
const EDGE_ATTRIBUTES: &str = "_edge_attributes.txt";

const WHICH_GRAPH: &str = "the file that says which graph a node is in";

/// The suffix of the optional file with the class of each graph.
const GRAPH_LABELS: &str = "_graph_labels.txt";

/// The files of a data set. Their paths consist of the prefix and a suffix.
#[derive(Clone, Debug)]
pub(super) struct Set {
    pub(super) prefix: PathBuf,
    pub(super) files: Files,
}

impl Set {
    fn path(&self, suffix: &str) -> PathBuf {
        let mut name = self.prefix.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    }

    /// Returns the path of the adjacency file.
    pub(super) fn adjacency(&self) -> PathBuf {
        self.path(ADJACENCY)
    }

    /// Returns whether there is a file with this suffix.
    pub(super) fn has(&self, suffix: &str) -> bool {
        self.files.contains(&self.path(suffix))
    }

    /// Opens the file with this suffix. `expected` says what it is for, in case that there is none.
    fn open(&self, suffix: &str, expected: &str) -> Result<Lines> {
        let path = self.path(suffix);
        match self.files.find(&path)? {
            Some(source) => Lines::open(&source),
            None => Err(Error::parse(&path, None, expected, "no file")),
        }
    }

    /// Checks that there is a file that says which graph a node is in.
    pub(super) fn check(&self) -> Result<()> {
        if self.has(INDICATOR) {
            return Ok(());
        }
        Err(Error::parse(&self.path(INDICATOR), None, WHICH_GRAPH, "no file"))
    }
}

/// Reads the edges as they are listed; an undirected data set lists both directions. `weight_column`, counted from 1,
/// selects the edge attribute that contains the weights. Also returns a notice that names the unused attributes.
pub(super) fn read(set: &Set, weight_column: Option<usize>) -> Result<(EdgeList, Option<String>)> {
    let (offsets, graphs) = read_indicator(set.open(INDICATOR, WHICH_GRAPH)?)?;
    let nodes = graphs.len();
    let mut edges = EdgeList::batch(offsets)
        .map_err(|_| Error::parse(&set.path(INDICATOR), None, "fewer than 2^32 nodes", format!("{nodes}")))?;
    let mut lines = set.open(ADJACENCY, "the file with the edges")?;
    // This is half of the largest possible number of edges, because the shortest line, "1,2" with its line end, takes
    // four bytes.
    edges.reserve(lines.bytes() / 8);
    let mut weights = weight_column.map(|column| Attributes::open(set, column)).transpose()?;
    while let Some((source, target)) = edge(&mut lines)? {
        let index = |node: u64| {
            let index = node.checked_sub(1).and_then(|index| u32::try_from(index).ok());
            let index = index.filter(|&index| (index as usize) < nodes);
            index.ok_or_else(|| lines.error(format!("a node number from 1 to {nodes}"), format!("{node}")))
        };
        let (source, target) = (index(source)?, index(target)?);
        let (one, other) = (graphs[source as usize], graphs[target as usize]);
        if one != other {
            let found = format!("node {} in graph {one} and node {} in graph {other}", source + 1, target + 1);
            return Err(lines.error("an edge within one graph", found));
        }
        match &mut weights {
            Some(weights) => edges.push_weighted(source, target, weights.advance(&lines)?),
            None => edges.push(source, target),
        }
    }
    if let Some(weights) = &mut weights {
        weights.end(edges.len())?;
    }
    let ignored = weights.is_none() && set.has(EDGE_ATTRIBUTES);
    let notice = || {
        format!(
            "{}: these edge attributes were not read, so every edge weighs 1; --edge-weight-column N takes the weights from its column N.",
            set.path(EDGE_ATTRIBUTES).display()
        )
    };
    Ok((edges, ignored.then(notice)))
}

/// Reads the class of each graph from `DS_graph_labels.txt`, which has a line for each graph. Without this file, graphs
/// have no labels.
pub(super) fn graph_labels(set: &Set, graphs: usize) -> Result<TableTargets> {
    if !set.has(GRAPH_LABELS) {
        return Ok(TableTargets::None);
    }
    let mut lines = set.open(GRAPH_LABELS, "the labels of graphs")?;
    let mut words = Vec::with_capacity(graphs);
    while lines.advance()? {
        let word = lines.text()?.trim();
        if word.is_empty() {
            continue;
        }
        if words.len() == graphs {
            return Err(lines.unexpected(format!("the end, after a label for each of the {graphs} graphs")));
        }
        if word.contains([',', ' ', '\t']) {
            return Err(lines.unexpected("the label of a graph, which is one number or word"));
        }
        words.push(word.to_owned());
    }
    if words.len() < graphs {
        return Err(lines.error(format!("a label for each of the {graphs} graphs"), format!("{} labels", words.len())));
    }
    Ok(labels_of(words))
}

/// Calls `found` with the line number, the source and the target of every listed edge. Nodes are counted from 0.
pub(super) fn visit(set: &Set, found: &mut dyn FnMut(u64, usize, usize)) -> Result<()> {
    let mut lines = set.open(ADJACENCY, "the file with the edges")?;
    let index = |node: u64| usize::try_from(node).unwrap_or(usize::MAX).wrapping_sub(1);
    while let Some((source, target)) = edge(&mut lines)? {
        found(lines.at(), index(source), index(target));
    }
    Ok(())
}

/// Returns the two numbers of the next line that is not empty, or `None` at the end of the file.
pub(super) fn edge(lines: &mut Lines) -> Result<Option<(u64, u64)>> {
    if let Some((source, target, _)) = lines.plain(|line| line.edge(Separator::Comma, false)) {
        return Ok(Some((source, target)));
    }
    while lines.advance()? {
        let line = lines.line().trim_ascii();
        if line.is_empty() {
            continue;
        }
        let mut parts = line.splitn(2, |&byte| byte == b',').map(<[u8]>::trim_ascii);
        return match (parts.next().and_then(natural), parts.next().and_then(natural)) {
            (Some(source), Some(target)) => Ok(Some((source, target))),
            _ => Err(lines.unexpected("an edge `r, c` of two node numbers")),
        };
    }
    Ok(None)
}

/// A column of the edge attributes. Its lines are read in step with the lines of the edges.
struct Attributes {
    lines: Lines,
    column: usize,
    /// The number of columns in the first line; 0 before the first line is read.
    columns: usize,
}

impl Attributes {
    fn open(set: &Set, column: usize) -> Result<Self> {
        let lines = set.open(EDGE_ATTRIBUTES, "the file that edge weights are to be read from")?;
        Ok(Self { lines, column, columns: 0 })
    }

    /// Advances to the next line that is not empty. Returns false at the end of the file.
    fn next_line(&mut self) -> Result<bool> {
        while self.lines.advance()? {
            if !self.lines.line().trim_ascii().is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the weight of the edge in the current line of `edges`.
    fn advance(&mut self, edges: &Lines) -> Result<f64> {
        if !self.next_line()? {
            let expected =
                format!("a line for each edge, and one is on line {} of {}", edges.at(), edges.path().display());
            return Err(self.lines.error(expected, "the end"));
        }
        let line = self.lines.line();
        let columns = line.split(|&byte| byte == b',').count();
        let wanted = if self.columns == 0 { columns } else { self.columns };
        if columns != wanted {
            return Err(self.lines.error(format!("{wanted} columns, as in the lines before"), columns.to_string()));
        }
        self.columns = columns;
        match line.split(|&byte| byte == b',').nth(self.column.wrapping_sub(1)) {
            Some(field) => self.lines.weight(field.trim_ascii()),
            None => Err(self.lines.error(format!("a column {}", self.column), format!("{columns} in the line"))),
        }
    }

    /// Returns an error if there are more lines of attributes than edges.
    fn end(&mut self, edges: usize) -> Result<()> {
        if self.next_line()? {
            return Err(self.lines.unexpected(format!("the end, after a line for each of the {edges} edges")));
        }
        Ok(())
    }
}

/// Reads the graph indicator. Returns the node offsets, which are the index of the first node of each graph, followed
/// by the total number of nodes. Also returns the number of the graph to which each node belongs. These numbers count
/// from 1.
fn read_indicator(mut lines: Lines) -> Result<(Vec<usize>, Vec<u32>)> {
    let mut offsets = vec![];
    let mut graphs = Vec::with_capacity(lines.bytes() / 4);
    let mut last = 0;
    loop {
        let plain = lines.plain(|line| line.natural());
        if plain.is_none() && !lines.advance()? {
            break;
        }
        let field = lines.line().trim_ascii();
        if field.is_empty() {
            continue;
        }
        let graph = plain.or_else(|| natural(field)).and_then(|graph| u32::try_from(graph).ok());
        match graph {
            Some(graph) if graph == last && last > 0 => {}
            Some(graph) if graph == last + 1 => offsets.push(graphs.len()),
            _ if last == 0 => return Err(lines.error("the number of the first graph, 1", quoted(field))),
            _ => {
                let expected = format!("the number of this graph or of the next, {last} or {}", last + 1);
                return Err(lines.error(expected, quoted(field)));
            }
        }
        last = graph.unwrap_or(last);
        graphs.push(last);
    }
    if graphs.is_empty() {
        return Err(lines.error("the number of a graph for each node", "an empty file"));
    }
    offsets.push(graphs.len());
    Ok((offsets, graphs))
}

/// Writes a data set into `folder`, which must not exist yet; the name of the folder becomes the name of the data set.
/// Each entry of an adjacency matrix becomes a line, so both directions of an undirected edge are listed. The folder is
/// either written completely or not at all.
///
/// # Errors
/// [`Io`](crate::ErrorKind::Io) if the folder exists or the operating system reports an error;
/// [`Domain`](crate::ErrorKind::Domain) for weights, graphs without nodes and a batch without graphs, which the format
/// cannot express.
pub fn write_tudataset(folder: &Path, graphs: &GraphBatch) -> Result<()> {
    const OPERATION: &str = "write TUDataset";
    if graphs.weights().is_some() {
        return Err(Error::domain(OPERATION, "the graphs have weights, which the format has no place for"));
    }
    if graphs.is_empty() {
        return Err(Error::domain(OPERATION, "there is no graph"));
    }
    if let Some(graph) = graphs.iter().position(|graph| graph.nodes() == 0) {
        return Err(Error::domain(OPERATION, format!("graph {graph} has no nodes, which the format cannot say")));
    }
    let Some(name) = folder.file_name().and_then(|name| name.to_str()) else {
        return Err(Error::domain(OPERATION, format!("{} has no name that a data set can have", folder.display())));
    };
    let (adjacency, indicator) = (format!("{name}{ADJACENCY}"), format!("{name}{INDICATOR}"));
    create_whole_folder(
        folder,
        &[(&adjacency, &|out| write_adjacency(out, graphs)), (&indicator, &|out| write_indicator(out, graphs))],
    )
}

fn write_adjacency(out: &mut dyn Write, graphs: &GraphBatch) -> io::Result<()> {
    for (graph, &first) in graphs.iter().zip(graphs.node_offsets()) {
        for row in 0..graph.nodes() {
            for &column in graph.neighbors(row) {
                writeln!(out, "{}, {}", first + row + 1, first + column as usize + 1)?;
            }
        }
    }
    Ok(())
}

fn write_indicator(out: &mut dyn Write, graphs: &GraphBatch) -> io::Result<()> {
    for (number, graph) in graphs.iter().enumerate() {
        for _ in 0..graph.nodes() {
            writeln!(out, "{}", number + 1)?;
        }
    }
    Ok(())
}
