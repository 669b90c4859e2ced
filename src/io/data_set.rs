//! Detects the format of a file or folder and reads the data set in it.

use super::edge_list::{self, Listed};
use super::lines::quoted;
use super::refused::Source;
use super::rows::Layout;
use super::samples::TableTargets;
use super::{magic, matrix_market, tudataset};
use crate::error::{Error, Result};
use crate::graph::{Conventions, EdgeList, GraphBatch, Refusal};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

const KNOWN: &str = "a TUDataset folder (DS_A.txt with DS_graph_indicator.txt), a MatrixMarket file \
                     (%%MatrixMarket) or an edge list (two ids a line, and perhaps a weight)";

/// A format that [`read`] can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// A TUDataset folder, which contains many graphs.
    TuDataset,
    /// A text file with one edge per line, which contains one graph.
    EdgeList,
    /// A MatrixMarket file with a square sparse matrix, which is one graph.
    MatrixMarket,
}

impl Format {
    /// Detects the format of the data set at `path`, as [`read`] does. A text that has no other format is taken for an
    /// edge list.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if it has no format that [`read`] can read; [`Io`](crate::ErrorKind::Io) if
    /// the operating system reports an error.
    pub fn detect(path: &Path) -> Result<Self> {
        Ok(detect(path)?.0)
    }
}

/// The ids that the file gives to the nodes, in the order of the nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeIds {
    /// Integer ids, in ascending order.
    Integers(Vec<i64>),
    /// Text ids, in the order in which they first appear.
    Text(Vec<String>),
}

/// The graphs of a file or folder.
#[derive(Clone, Debug)]
pub struct DataSet {
    /// The data set's name: the `DS` of a TUDataset, or the file's name without its extension.
    pub name: String,
    /// The graphs.
    pub graphs: GraphBatch,
    /// The ids that the file gives to the nodes. `None` if the ids are 0, 1, 2 and so on.
    pub node_ids: Option<NodeIds>,
    /// The detected format.
    pub format: Format,
    /// The classes of the graphs, if [`ReadOptions::graph_labels`] asks for them and the data set has some.
    pub labels: TableTargets,
    /// The content that another program might read differently: a doubtful first line, which was taken for a header or
    /// for an edge; numbers that look like timestamps, which were taken for weights; weights that are too small for an
    /// f32, which became 0; and skipped columns or edge attributes. Each notice is a sentence that names the file and,
    /// where applicable, the line.
    pub notices: Vec<String>,
}

/// The options of [`read_with`] other than the conventions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The column of a TUDataset's `DS_edge_attributes.txt` that contains the edge weights, counted from 1. With
    /// `None`, every weight is 1.
    pub edge_weight_column: Option<usize>,
    /// Whether to read the classes of graphs from a TUDataset's `DS_graph_labels.txt`.
    pub graph_labels: bool,
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
}

/// Reads the data set at `path` and detects its format from the content and the name. The path is a TUDataset, a
/// MatrixMarket coordinate file, or an edge list. The path of a TUDataset is `FOLDER`, `FOLDER/DS` or
/// `FOLDER/DS_A.txt`.
///
/// If the first line of an edge list contains the number of nodes, the number of edges or both, and the rest of the
/// file confirms these numbers, the line is read as a header, and nodes without edges are included. If the first line
/// contains words, it names the columns. The fields are separated by white space or commas. If every line contains a
/// tab, tabs alone may separate the fields, so that an id may contain spaces. If every line contains a semicolon,
/// semicolons may separate the fields. [`DataSet::notices`] reports every doubtful decision.
///
/// # Errors
/// [`Parse`](crate::ErrorKind::Parse), which names the file, the line and what was expected, if the content violates
/// its format or the conventions refuse a graph; [`Io`](crate::ErrorKind::Io) if the operating system reports an error.
pub fn read(path: &Path, conventions: &Conventions) -> Result<DataSet> {
    read_with(path, conventions, &ReadOptions::default())
}

/// Reads the data set at `path` as [`read`] does, with options.
///
/// # Errors
/// The same as for [`read`], and [`Domain`](crate::ErrorKind::Domain) for an option that the detected format does not
/// use.
pub fn read_with(path: &Path, conventions: &Conventions, options: &ReadOptions) -> Result<DataSet> {
    let (format, place) = detect(path)?;
    match options.edge_weight_column {
        Some(0) => return Err(Error::domain("read", "the column of edge weights: expected 1 or more, found 0")),
        Some(_) if format != Format::TuDataset => {
            let what = format!(
                "{}: a column of edge weights is chosen in a TUDataset's DS_edge_attributes.txt, found {}",
                path.display(),
                if format == Format::EdgeList { "an edge list" } else { "a MatrixMarket file" }
            );
            return Err(Error::domain("read", what));
        }
        _ => {}
    }
    let unnamed = |(edges, notices): (EdgeList, Vec<String>)| Listed {
        edges,
        node_ids: None,
        notices,
        layout: Layout::default(),
    };
    let Listed { edges, node_ids, notices, layout } = match format {
        Format::TuDataset => unnamed(tudataset::read(&place, options.edge_weight_column)?),
        Format::MatrixMarket => unnamed(matrix_market::read(&place)?),
        Format::EdgeList => edge_list::read(&place)?,
    };
    let name = match format {
        Format::TuDataset => place.file_name(),
        Format::EdgeList | Format::MatrixMarket => place.file_stem(),
    };
    let name = name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let graphs = GraphBatch::assemble(edges, conventions).map_err(|refusal| match refusal {
        Refusal::Edge(edge) => Source { format, place: &place, node_ids: node_ids.as_ref(), layout }.refuse(&edge),
        Refusal::List(error) => error,
    })?;
    let labels = match format {
        Format::TuDataset if options.graph_labels => tudataset::graph_labels(&place, graphs.len())?,
        _ => TableTargets::None,
    };
    Ok(DataSet { name, graphs, node_ids, format, labels, notices })
}

/// Returns the format and the path to read, which is the path of the file, or the path prefix of the TUDataset's files.
fn detect(path: &Path) -> Result<(Format, PathBuf)> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Ok((Format::TuDataset, prefix_in(path)?)),
        // The file is read once to detect its format and then again from the start, so a pipe or a device is refused.
        Ok(metadata) if !metadata.is_file() => {
            Err(Error::parse(path, None, "a file or a folder that can be read twice", "a pipe or a device"))
        }
        Ok(_) => {
            let prefix = path.to_str().and_then(|text| text.strip_suffix(tudataset::ADJACENCY)).map(PathBuf::from);
            match prefix.filter(|prefix| tudataset::files(prefix).1.is_file()) {
                Some(prefix) => Ok((Format::TuDataset, prefix)),
                None => Ok((sniff(path)?, path.into())),
            }
        }
        Err(_) if tudataset::files(path).0.is_file() => Ok((Format::TuDataset, path.into())),
        Err(error) => Err(Error::io("open", path, error)),
    }
}

/// Returns the path prefix of the only data set in the folder: the path of its `_A.txt` file without this suffix.
fn prefix_in(folder: &Path) -> Result<PathBuf> {
    let listed = fs::read_dir(folder).map_err(|error| Error::io("list", folder, error))?;
    let mut names = Vec::new();
    for entry in listed {
        let name = entry.map_err(|error| Error::io("list", folder, error))?.file_name();
        names.extend(name.to_str().and_then(|name| name.strip_suffix(tudataset::ADJACENCY)).map(str::to_owned));
    }
    names.sort();
    let prefix = match &names[..] {
        [] => return Err(Error::parse(folder, None, KNOWN, "a folder without a file DS_A.txt")),
        [name] => folder.join(name),
        several => {
            let found = format!("{}; name one as FOLDER/DS", several.join(", "));
            return Err(Error::parse(folder, None, "one data set in the folder", found));
        }
    };
    let indicator = tudataset::files(&prefix).1;
    if !indicator.is_file() {
        return Err(Error::parse(&indicator, None, "the file that says which graph a node is in", "no file"));
    }
    Ok(prefix)
}

/// Detects the format of a file from its first bytes. A file that has no other known format and may consist of lines of
/// ids is taken for an edge list.
fn sniff(path: &Path) -> Result<Format> {
    let mut head = Vec::new();
    let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    file.take(magic::LOOKED_AT as u64).read_to_end(&mut head).map_err(|error| Error::io("read", path, error))?;
    if let Some(name) = magic::name(&head) {
        return Err(Error::parse(path, None, KNOWN, name));
    }
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head).trim_ascii_start();
    let market = b"%%matrixmarket";
    if text.get(..market.len()).is_some_and(|start| start.eq_ignore_ascii_case(market)) {
        return Ok(Format::MatrixMarket);
    }
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("mtx")) {
        return Err(Error::parse(path, Some(1), "the banner %%MatrixMarket", quoted(first_line(text))));
    }
    match path.extension().and_then(|ending| magic::name_of_ending(ending.to_str()?)) {
        Some(name) => Err(Error::parse(path, None, KNOWN, name)),
        None => Ok(Format::EdgeList),
    }
}

fn first_line(text: &[u8]) -> &[u8] {
    text.split(|&byte| byte == b'\n').next().unwrap_or(b"").trim_ascii_end()
}
