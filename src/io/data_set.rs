//! Reads the data set in a file, a folder, an archive or a stream.

use super::detect::{self, Found, Place};
use super::edge_list::{self, Listed};
use super::nodes::joined;
use super::refused::Listing;
use super::rows::Layout;
use super::samples::TableTargets;
use super::source::{Source, Terms};
use super::{adjacency_list, dimacs, edge_arrays, gml, graph6, matrix_market, metis, node_link, pajek, tudataset, xml};
use crate::cancel::Cancel;
use crate::context::DEFAULT_BUDGET;
use crate::error::{Error, Result};
use crate::graph::{Conventions, EdgeList, GraphBatch, Isolated, Merged, Refusal};
use std::io::Read;
use std::path::Path;

/// A format that [`read`] can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// A TUDataset folder, which contains many graphs.
    TuDataset,
    /// A text file with one edge per line, which contains one graph.
    EdgeList,
    /// A MatrixMarket file with a square matrix, which is one graph.
    MatrixMarket,
    /// Arrays in an .npy, .npz or .safetensors file: PyG's `edge_index` of one graph or several, or a square matrix
    /// `adjacency`.
    Arrays,
    /// A sparse matrix that `scipy.sparse.save_npz` wrote, which is one graph.
    ScipySparse,
    /// Node-link JSON, as networkx and D3 have it, or the JSON of Cytoscape, which contains one graph.
    NodeLink,
    /// A GraphML document, which contains one graph or several.
    GraphMl,
    /// A GEXF document, which contains one graph.
    Gexf,
    /// A GML file, which contains one graph or several.
    Gml,
    /// A file in graph6, sparse6 or digraph6, which contains a graph in each line.
    Graph6,
    /// A Pajek network, which contains one graph or several.
    Pajek,
    /// A graph of a DIMACS challenge: coloring, cliques, shortest paths or maximum flow.
    Dimacs,
    /// A METIS graph.
    Metis,
    /// An adjacency list, as networkx has it, which contains one graph.
    AdjacencyList,
    /// A folder of the Open Graph Benchmark, which contains one graph or many.
    Ogb,
    /// Several files, in a folder or with names that match a pattern, each with one graph or several.
    Files,
    /// A table in Arrow's IPC formats or in Parquet, which contains one graph or many. [`read`] does not read it, but
    /// `arrow::read` does (feature `arrow`).
    Table,
}

impl Format {
    /// Detects the format of the data set at `path`, as [`read`] does. A text that has no other format is taken for an
    /// edge list.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if it has no format that [`read`] can read, or is a pipe;
    /// [`Io`](crate::ErrorKind::Io) if the operating system reports an error.
    pub fn detect(path: &Path) -> Result<Self> {
        // What a pipe or a device has said once would be missing when it is read.
        if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            return Err(Error::parse(path, None, "a file or a folder that can be read twice", "a pipe or a device"));
        }
        Ok(detect::at(path, &Terms::default())?.format)
    }

    /// Returns the number by which a data set of this format refers to its first graph.
    #[must_use]
    pub fn first_graph(self) -> usize {
        usize::from(self == Self::TuDataset)
    }

    /// Returns the name of the format with its article, such as `a GraphML document`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TuDataset => "a TUDataset",
            Self::EdgeList => "an edge list",
            Self::MatrixMarket => "a MatrixMarket file",
            Self::Arrays => "an array of edges",
            Self::ScipySparse => "a scipy.sparse matrix",
            Self::NodeLink => "node-link or Cytoscape JSON",
            Self::GraphMl => "a GraphML document",
            Self::Gexf => "a GEXF document",
            Self::Gml => "a GML file",
            Self::Graph6 => "a file in graph6 or sparse6",
            Self::Pajek => "a Pajek network",
            Self::Dimacs => "a DIMACS graph",
            Self::Metis => "a METIS graph",
            Self::AdjacencyList => "an adjacency list",
            Self::Ogb => "an OGB folder",
            Self::Files => "several files",
            Self::Table => "a table",
        }
    }
}

/// The ids that the file gives to the nodes, in the order of the nodes. In a file of several graphs, each graph has ids
/// of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeIds {
    /// Integer ids, in ascending order in each graph.
    Integers(Vec<i64>),
    /// Text ids, in the order in which they first appear or, in a format that lists the nodes, in the order of that
    /// list.
    Text(Vec<String>),
}

/// The graphs of a file or folder.
#[derive(Clone, Debug)]
pub struct DataSet {
    /// The data set's name: the `DS` of a TUDataset, the name of an OGB folder or of the folder of several files, or
    /// the file's name without its extension.
    pub name: String,
    /// The graphs.
    pub graphs: GraphBatch,
    /// The ids that the file gives to the nodes. `None` if the ids are 0, 1, 2 and so on in each graph.
    pub node_ids: Option<NodeIds>,
    /// The detected format.
    pub format: Format,
    /// The classes of the graphs, or their values, if [`ReadOptions::graph_labels`] asks for them and the data set has
    /// some.
    pub labels: TableTargets,
    /// The content that another program might read differently: a doubtful first line, which was taken for a header or
    /// for an edge; numbers that look like timestamps, which were taken for weights; and skipped columns or edge
    /// attributes. Each notice is a sentence that names the file and, where applicable, the line.
    pub notices: Vec<String>,
    /// Which edges the conventions have merged.
    pub merged: Merged,
    /// The graphs whose nodes are numbered from 0 by edges that do not name node 0, in order.
    pub(crate) without_first: Vec<usize>,
}

impl DataSet {
    /// Counts the nodes without edges. In a format that names its nodes, none of them is there by mistake. A table
    /// names the nodes of some graphs and numbers those of others.
    #[must_use]
    pub fn isolated(&self) -> Isolated {
        self.graphs.isolated(&self.without_first)
    }

    /// Returns what the conventions did with edges that are listed more than once, if that may be a surprise: a
    /// sentence each, which names the data set.
    pub fn doubts(&self) -> impl Iterator<Item = String> {
        self.merged.doubts().map(|doubt| format!("{}: {doubt}.", self.name))
    }

    /// Returns what the reader noticed, and then what is doubtful about edges that are listed more than once.
    pub fn all_notices(&self) -> impl Iterator<Item = String> {
        self.notices.iter().cloned().chain(self.doubts())
    }
}

/// The options of [`read_with`] other than the conventions.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The column of a TUDataset's `DS_edge_attributes.txt` that contains the edge weights, counted from 1. With
    /// `None`, every weight is 1.
    pub edge_weight_column: Option<usize>,
    /// Whether to read the classes of graphs from a TUDataset's `DS_graph_labels.txt`, or the classes or values from an
    /// OGB folder's `graph-label.csv.gz`.
    pub graph_labels: bool,
    /// The maximum number of bytes of a stream, or to which compressed content may expand if it expands more than a
    /// thousandfold. With `None`, 2 GiB.
    pub memory_budget: Option<u64>,
    /// The switch that ends the reading, and the building of the graphs, with
    /// [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    pub cancel: Cancel,
}

impl ReadOptions {
    /// Sets [`ReadOptions::edge_weight_column`].
    #[must_use]
    pub const fn edge_weight_column(mut self, column: usize) -> Self {
        self.edge_weight_column = Some(column);
        self
    }

    /// Sets [`ReadOptions::graph_labels`].
    #[must_use]
    pub const fn graph_labels(mut self) -> Self {
        self.graph_labels = true;
        self
    }

    /// Sets [`ReadOptions::memory_budget`].
    #[must_use]
    pub const fn memory_budget(mut self, bytes: u64) -> Self {
        self.memory_budget = Some(bytes);
        self
    }

    /// Sets [`ReadOptions::cancel`] to a clone of `cancel`.
    #[must_use]
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    fn terms(&self, conventions: &Conventions) -> Terms {
        let budget = self.memory_budget.unwrap_or(DEFAULT_BUDGET);
        Terms { budget, cancel: self.cancel.clone(), signed: conventions.signed }
    }

    fn check(&self) -> Result<()> {
        match self.edge_weight_column {
            Some(0) => Err(Error::domain("read", "the column of edge weights: expected 1 or more, found 0")),
            _ => Ok(()),
        }
    }
}

/// Reads the data set at `path` and detects its format from the content and the name. [`Format`] lists the formats. The
/// path of a TUDataset is `FOLDER`, `FOLDER/DS` or `FOLDER/DS_A.txt`; that of an OGB data set is its folder or the
/// folder `raw` in it. Every file may be compressed by gzip or Zstandard. The path may be a zip or tar archive that
/// contains one data set, or a pipe. Of any other folder, all files are read, in the order of their names. A name with
/// `*` or `?` that no file has is a pattern for the names of files.
///
/// If the first line of an edge list contains the number of nodes, the number of edges or both, and the rest of the
/// file confirms these numbers, the line is read as a header, and nodes without edges are included. If the first line
/// contains words, it names the columns. The fields are separated by white space or commas. If every line contains a
/// tab, tabs alone may separate the fields, so that an id may contain spaces. If every line contains a semicolon,
/// semicolons may separate the fields. [`DataSet::notices`] reports every doubtful decision.
///
/// Formats that state whether edges are directed list each undirected edge once; such an edge counts in both
/// directions, and once where the conventions add up both directions. Formats that list the nodes keep their order,
/// unless all ids are natural numbers: then the nodes are sorted by id, so that a graph is the same in every format.
///
/// # Errors
/// [`Parse`](crate::ErrorKind::Parse), which names the file, the member of an archive, the line and what was expected,
/// if the content violates its format or the conventions refuse a graph; [`Limit`](crate::ErrorKind::Limit) if
/// compressed content expands to more than 1000 times its size and more than the memory budget;
/// [`Io`](crate::ErrorKind::Io) if the operating system reports an error.
pub fn read(path: &Path, conventions: &Conventions) -> Result<DataSet> {
    read_with(path, conventions, &ReadOptions::default())
}

/// Reads the data set at `path` as [`read`] does, with options.
///
/// # Errors
/// The same as for [`read`]; [`Domain`](crate::ErrorKind::Domain) for an option that the detected format does not use;
/// [`Cancelled`](crate::ErrorKind::Cancelled) once [`ReadOptions::cancel`] is set.
pub fn read_with(path: &Path, conventions: &Conventions, options: &ReadOptions) -> Result<DataSet> {
    options.check()?;
    listed_as(&detect::at(path, &options.terms(conventions))?, conventions, options)
}

/// Reads a data set from a stream, such as standard input or bytes in memory, as [`read`] does from a file. `name` is
/// what errors and notices call the stream; the ending of a name may help to detect the format. The stream is read to
/// its end and kept in memory while the graphs are read.
///
/// # Errors
/// The same as for [`read_with`], and [`Limit`](crate::ErrorKind::Limit) for a stream of more bytes than the memory
/// budget.
pub fn read_from(
    name: impl AsRef<Path>,
    reader: impl Read,
    conventions: &Conventions,
    options: &ReadOptions,
) -> Result<DataSet> {
    options.check()?;
    let source = Source::stream(name.as_ref(), reader, &options.terms(conventions))?;
    listed_as(&detect::within(source)?, conventions, options)
}

/// Reads the graphs of a data set whose format is known.
fn listed_as(found: &Found, conventions: &Conventions, options: &ReadOptions) -> Result<DataSet> {
    let Found { format, place, notice } = found;
    let format = *format;
    if options.edge_weight_column.is_some() && format != Format::TuDataset {
        let what = format!(
            "{}: a column of edge weights is chosen in a TUDataset's DS_edge_attributes.txt, found {}",
            place.path().display(),
            format.name()
        );
        return Err(Error::domain("read", what));
    }
    let (Listed { edges, node_ids, mut notices, layout, .. }, without_first) = list(found, conventions, options)?;
    notices.extend(notice.clone());
    let built = GraphBatch::assemble(edges, conventions, &options.cancel);
    let (graphs, merged) = built.map_err(|refusal| match refusal {
        Refusal::Edge(edge) => {
            if let Place::Files(_, files) = place
                && let Some(error) = files.iter().find_map(|found| listed_as(found, conventions, options).err())
            {
                return error;
            }
            let again = || list(found, conventions, options).map(|(listed, _)| listed);
            Listing { format, place, node_ids: node_ids.as_ref(), layout, conventions, again: &again }.refuse(&edge)
        }
        Refusal::List(error) => error,
    })?;
    let (labels, notice) = match place {
        Place::TuDataset(set) if options.graph_labels => (tudataset::graph_labels(set, graphs.len())?, None),
        Place::Ogb(set) if options.graph_labels => set.graph_labels(graphs.len())?,
        _ => (TableTargets::None, None),
    };
    notices.extend(notice);
    Ok(DataSet { name: place.name(), graphs, node_ids, format, labels, notices, merged, without_first })
}

/// Reads the edges as they are listed. Also returns the graphs whose nodes are numbered from 0 by edges that do not
/// name node 0.
fn list(found: &Found, conventions: &Conventions, options: &ReadOptions) -> Result<(Listed, Vec<usize>)> {
    let Place::Files(_, files) = &found.place else {
        let listed = list_one(found, conventions, options)?;
        let without_first = if found.format == Format::Arrays { listed.edges.without_first() } else { Vec::new() };
        return Ok((listed, without_first));
    };
    let (mut all, mut without_first, mut graphs) = (Vec::with_capacity(files.len()), Vec::new(), 0);
    for found in files {
        let (mut listed, own) = list(found, conventions, options)?;
        without_first.extend(own.into_iter().map(|graph| graphs + graph));
        graphs += listed.edges.node_offsets().len() - 1;
        listed.notices.extend(found.notice.clone());
        all.push(listed);
    }
    Ok((joined(all)?, without_first))
}

/// Reads the edges of a data set that is not several files.
fn list_one(found: &Found, conventions: &Conventions, options: &ReadOptions) -> Result<Listed> {
    let unnamed = |(edges, notice): (EdgeList, Option<String>)| Listed {
        edges,
        node_ids: None,
        notices: notice.into_iter().collect(),
        layout: Layout::default(),
        lines: Vec::new(),
        has_lines: false,
    };
    match &found.place {
        Place::TuDataset(set) => Ok(unnamed(tudataset::read(set, options.edge_weight_column)?)),
        Place::Ogb(set) => {
            let (edges, lines, notices) = set.read()?;
            Ok(Listed { lines, has_lines: true, notices, ..unnamed((edges, None)) })
        }
        Place::Arrays(source, container) => edge_arrays::read(source, container),
        Place::Scipy(path, members) => edge_arrays::read_scipy(path, members.clone()),
        Place::Files(..) => list(found, conventions, options).map(|(listed, _)| listed),
        Place::File(source) => match found.format {
            Format::MatrixMarket => Ok(unnamed(matrix_market::read(source)?)),
            Format::NodeLink => node_link::read(source, conventions),
            Format::GraphMl => xml::read_graphml(source, conventions),
            Format::Gexf => xml::read_gexf(source, conventions),
            Format::Gml => gml::read(source, conventions),
            Format::Graph6 => graph6::read(source, conventions),
            Format::Pajek => pajek::read(source, conventions),
            Format::Dimacs => dimacs::read(source, conventions),
            Format::Metis => metis::read(source, conventions),
            Format::AdjacencyList => adjacency_list::read(source, conventions),
            _ => edge_list::read(source),
        },
    }
}
