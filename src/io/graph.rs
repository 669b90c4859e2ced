//! Writes one graph as an edge list or as a MatrixMarket file. Both this library and other programs can read the files.

use super::atomic::write_whole;
use crate::error::{Error, Result};
use crate::graph::{GraphRef, WeightsRef};
use std::io::{self, Write};
use std::path::Path;

/// Writes a graph to `path`. With the extension `.txt`, the file is an edge list in the style of SNAP: a header of `#`
/// comments, then one line per edge with two tab-separated node numbers that count from 0, and a weight if the graph
/// has weights. With the extension `.mtx`, it is a MatrixMarket coordinate file. Each edge of a symmetric graph is
/// listed once. `comment` is added to the header, line by line. The file is either written completely or not at all.
///
/// An edge list contains only nodes that have edges, so a reader of the file does not see the isolated nodes and
/// renumbers the other nodes. Returns the number of isolated nodes that are lost in this way. For MatrixMarket this
/// number is 0, because that format states the order of the matrix.
///
/// # Errors
/// [`Domain`](crate::ErrorKind::Domain) for an unknown extension, and for a graph without edges that would be written
/// as an edge list, because the file would list nothing; [`Io`](crate::ErrorKind::Io) if the operating system reports
/// an error.
pub fn write_graph(path: &Path, graph: GraphRef<'_>, comment: &str) -> Result<usize> {
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    let edges = Edges::new(graph);
    let refused = |error| Error::io("write", path, error);
    match ending.as_ref().and_then(|ending| ending.to_str()) {
        Some("txt") if graph.entries() == 0 => {
            Err(Error::domain("write graph", "it has no edges, which an edge list cannot say; expected a name in .mtx"))
        }
        Some("txt") => {
            write_whole(path, |out| edge_list(out, &edges, comment).map_err(refused))?;
            Ok(edges.nodes_without_any())
        }
        Some("mtx") => write_whole(path, |out| matrix_market(out, &edges, comment).map_err(refused)).map(|()| 0),
        _ => {
            let what = format!("expected a name that ends in .txt or .mtx, found {}", path.display());
            Err(Error::domain("write graph", what))
        }
    }
}

/// The entries of the adjacency matrix that a file lists.
struct Edges<'a> {
    graph: GraphRef<'a>,
    /// Whether the graph is symmetric. For a symmetric graph, only the entries on or below the diagonal are listed, as
    /// MatrixMarket requires.
    symmetric: bool,
}

impl<'a> Edges<'a> {
    fn new(graph: GraphRef<'a>) -> Self {
        Self { graph, symmetric: graph.is_symmetric() }
    }

    /// Returns the columns and weights of the entries that the file lists for a row.
    fn row(&self, row: usize) -> (&'a [u32], Option<WeightsRef<'a>>) {
        let columns = self.graph.neighbors(row);
        let listed = if self.symmetric { columns.partition_point(|&c| c as usize <= row) } else { columns.len() };
        (&columns[..listed], self.graph.weights(row).map(|weights| weights.range(0..listed)))
    }

    fn count(&self) -> usize {
        (0..self.graph.nodes()).map(|row| self.row(row).0.len()).sum()
    }

    fn nodes_without_any(&self) -> usize {
        let mut alone = vec![true; self.graph.nodes()];
        for row in 0..self.graph.nodes() {
            for &column in self.graph.neighbors(row) {
                (alone[row], alone[column as usize]) = (false, false);
            }
        }
        alone.into_iter().filter(|&alone| alone).count()
    }

    /// Writes one line for each entry: its row and its column, both counted from `first`, and its weight. If
    /// `transposed` is true, the column precedes the row.
    fn write(&self, out: &mut dyn Write, first: usize, space: u8, transposed: bool) -> io::Result<()> {
        let mut line = Vec::with_capacity(64);
        for row in 0..self.graph.nodes() {
            let (columns, weights) = self.row(row);
            for (place, &column) in columns.iter().enumerate() {
                let (row, column) = (row + first, column as usize + first);
                let (left, right) = if transposed { (column, row) } else { (row, column) };
                line.clear();
                push_number(&mut line, left);
                line.push(space);
                push_number(&mut line, right);
                if let Some(weights) = weights {
                    // Both forms have the shortest digits that parse to the same f64.
                    line.push(space);
                    match weights.at(place) {
                        usual @ 1e-5..1e16 => write!(line, "{usual}")?,
                        other => write!(line, "{other:e}")?,
                    }
                }
                line.push(b'\n');
                out.write_all(&line)?;
            }
        }
        Ok(())
    }
}

/// Appends a number in decimal digits. This is several times faster than `write!`.
fn push_number(line: &mut Vec<u8>, mut number: usize) {
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b"0123456789"[number % 10];
        number /= 10;
        if number == 0 {
            break;
        }
    }
    line.extend_from_slice(&digits[start..]);
}

fn edge_list(out: &mut dyn Write, edges: &Edges<'_>, comment: &str) -> io::Result<()> {
    for line in comment.lines() {
        writeln!(out, "# {line}")?;
    }
    writeln!(out, "# Nodes: {} Edges: {}", edges.graph.nodes(), edges.count())?;
    // An undirected edge is written with the smaller node number first, as is customary. A directed edge is written as
    // row, column.
    edges.write(out, 0, b'\t', edges.symmetric)
}

fn matrix_market(out: &mut dyn Write, edges: &Edges<'_>, comment: &str) -> io::Result<()> {
    let field = if edges.graph.all_weights().is_some() { "real" } else { "pattern" };
    let symmetry = if edges.symmetric { "symmetric" } else { "general" };
    writeln!(out, "%%MatrixMarket matrix coordinate {field} {symmetry}")?;
    for line in comment.lines() {
        writeln!(out, "% {line}")?;
    }
    writeln!(out, "{0} {0} {1}", edges.graph.nodes(), edges.count())?;
    edges.write(out, 1, b' ', false)
}
