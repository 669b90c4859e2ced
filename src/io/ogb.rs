//! Reads the folders of the Open Graph Benchmark: `raw/edge.csv.gz` has a line `source,target` for each edge, and
//! `raw/num-node-list.csv.gz` and `raw/num-edge-list.csv.gz` have a line for each graph. The nodes of each graph are
//! counted from 0. `raw/graph-label.csv.gz`, if it is there, has the labels of a line for each graph, a column for each
//! task. <https://github.com/snap-stanford/ogb>

use super::files::Files;
use super::lines::{Lines, natural, quoted};
use super::samples::{TableTargets, labels_of};
use super::tudataset::edge;
use crate::error::{Error, Result};
use crate::graph::EdgeList;
use std::path::{Path, PathBuf};

const EDGES: &str = "edge.csv";
const NODE_COUNTS: &str = "num-node-list.csv";
const EDGE_COUNTS: &str = "num-edge-list.csv";
const LABELS: &str = "graph-label.csv";

/// The files of a data set.
#[derive(Clone, Debug)]
pub(super) struct Set {
    /// The folder that has the files, which is usually called `raw`.
    folder: PathBuf,
    pub(super) files: Files,
}

/// The edges, the line of each edge, and notices.
type Found = (EdgeList, Vec<u64>, Vec<String>);

impl Set {
    /// Returns the data set whose files are in `folder`, or in its folder `raw`.
    pub(super) fn find(folder: &Path, files: &Files) -> Option<Self> {
        let of = |folder: PathBuf| Self { folder, files: files.clone() };
        [folder.join("raw"), folder.to_owned()]
            .map(of)
            .into_iter()
            .find(|set| [EDGES, NODE_COUNTS, EDGE_COUNTS].iter().all(|name| set.path(name).is_some()))
    }

    /// Returns the folder by which the data set is known.
    pub(super) fn place(&self) -> &Path {
        let parent = self.folder.parent().filter(|parent| !parent.as_os_str().is_empty());
        if self.folder.ends_with("raw") { parent.unwrap_or(&self.folder) } else { &self.folder }
    }

    /// Returns whether the files are in this very folder.
    pub(super) fn is_in(&self, folder: &Path) -> bool {
        self.folder == folder
    }

    /// Returns the path of the file, compressed or not.
    fn path(&self, name: &str) -> Option<PathBuf> {
        let paths = [self.folder.join(format!("{name}.gz")), self.folder.join(name)];
        paths.into_iter().find(|path| self.files.contains(path))
    }

    /// Returns the path of the file with the edges.
    pub(super) fn edges(&self) -> PathBuf {
        self.path(EDGES).unwrap_or_else(|| self.folder.join(EDGES))
    }

    fn open(&self, name: &str) -> Result<Lines> {
        let path = self.path(name).unwrap_or_else(|| self.folder.join(name));
        match self.files.find(&path)? {
            Some(source) => Lines::open(&source),
            None => Err(Error::parse(&path, None, "a file of an OGB data set", "no file")),
        }
    }

    /// Reads the edges as they are listed. The nodes are numbered through the whole data set.
    pub(super) fn read(&self) -> Result<Found> {
        let (nodes, counted) = (counts(self.open(NODE_COUNTS)?)?, counts(self.open(EDGE_COUNTS)?)?);
        let mut lines = self.open(EDGES)?;
        if nodes.len() != counted.len() {
            let expected = format!("a number of edges for each of the {} graphs of {NODE_COUNTS}", nodes.len());
            let found = counted.len().to_string();
            return Err(Error::parse(&self.folder.join(EDGE_COUNTS), None, expected, found));
        }
        let mut offsets = vec![0_usize];
        let mut first = 0_usize;
        for &count in &nodes {
            first = first.saturating_add(usize::try_from(count).unwrap_or(usize::MAX));
            offsets.push(first);
        }
        // A wrong count must not reserve memory that no file could fill.
        let most = counted.iter().fold(0_u64, |sum, &count| sum.saturating_add(count)).saturating_mul(64);
        let most = most.saturating_add((nodes.len() as u64).saturating_mul(64)).saturating_add(1 << 24);
        let wrong = |_| Error::parse(&self.folder.join(NODE_COUNTS), None, "fewer than 2^32 nodes", first.to_string());
        if first as u64 > most {
            let expected = format!("at most {most} nodes for the edges that {EDGE_COUNTS} counts");
            return Err(Error::parse(&self.folder.join(NODE_COUNTS), None, expected, first.to_string()));
        }
        let mut edges = EdgeList::batch(offsets.clone()).map_err(wrong)?;
        let mut numbers = Vec::new();
        for (graph, (&count, span)) in counted.iter().zip(offsets.windows(2)).enumerate() {
            for place in 0..count {
                let Some((source, target)) = edge(&mut lines)? else {
                    let expected = format!("{count} edges of graph {graph}, as {EDGE_COUNTS} has it");
                    return Err(lines.error(expected, format!("the end after {place}")));
                };
                let index = |node: u64| {
                    let local = usize::try_from(node).ok().filter(|&node| node < span[1] - span[0]);
                    let index = local.and_then(|node| u32::try_from(span[0] + node).ok());
                    let expected =
                        || format!("one of the {} nodes of graph {graph}, counted from 0", span[1] - span[0]);
                    index.ok_or_else(|| lines.error(expected(), node.to_string()))
                };
                edges.push(index(source)?, index(target)?);
                numbers.push(lines.at());
            }
        }
        if edge(&mut lines)?.is_some() {
            let expected = format!("the end, after the edges that {EDGE_COUNTS} counts");
            return Err(lines.unexpected(expected));
        }
        let features = self.path("edge-feat.csv");
        let notice = |path: PathBuf| format!("{}: these features of edges were not read.", path.display());
        Ok((edges, numbers, features.map(notice).into_iter().collect()))
    }
}

/// The targets of the graphs, and a notice if the labels could not be taken for targets.
type Labels = (TableTargets, Option<String>);

impl Set {
    /// Reads the labels of the graphs. Integers are classes, and other numbers are values. The labels of several tasks
    /// are not read, nor those of which some are missing; the notice says so.
    pub(super) fn graph_labels(&self, graphs: usize) -> Result<Labels> {
        if self.path(LABELS).is_none() {
            return Ok((TableTargets::None, None));
        }
        let mut lines = self.open(LABELS)?;
        let mut words = Vec::with_capacity(graphs);
        while lines.advance()? {
            let word = lines.text()?.trim();
            if word.contains(',') {
                let tasks = word.split(',').count();
                let what = format!("{}: these labels of {tasks} tasks were not read.", lines.path().display());
                return Ok((TableTargets::None, Some(what)));
            }
            if words.len() == graphs {
                return Err(lines.unexpected(format!("the end, after a label for each of the {graphs} graphs")));
            }
            if word.is_empty() || word.eq_ignore_ascii_case("nan") {
                let what =
                    format!("{}: these labels were not read: the one of graph {}", lines.path().display(), words.len());
                return Ok((TableTargets::None, Some(format!("{what} is missing."))));
            }
            lines.number(word.as_bytes())?;
            words.push(word.to_owned());
        }
        if words.len() < graphs {
            let found = format!("{} labels", words.len());
            return Err(lines.error(format!("a label for each of the {graphs} graphs"), found));
        }
        let values: Vec<f64> = words.iter().map(|word| lines.number(word.as_bytes())).collect::<Result<_>>()?;
        let targets = match values.iter().all(|value| value.fract() == 0.0) {
            true => labels_of(words),
            false => TableTargets::Values(values, 1),
        };
        Ok((targets, None))
    }
}

/// Reads a number from each line.
fn counts(mut lines: Lines) -> Result<Vec<u64>> {
    let mut counts = Vec::new();
    while lines.advance()? {
        let field = lines.line().trim_ascii();
        if !field.is_empty() {
            counts.push(natural(field).ok_or_else(|| lines.error("a number for each graph", quoted(field)))?);
        }
    }
    Ok(counts)
}
