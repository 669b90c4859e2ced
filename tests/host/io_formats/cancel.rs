//! Tests of a switch that ends the reading of files and the building of graphs.

use super::samples::{all, gzip, zstd};
use fiedler::graph::{Conventions, EdgeList, GraphBatch, molecules};
use fiedler::io::{ReadOptions, read_from, read_with, write_tudataset};
use fiedler::{Cancel, Result};
use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use tempfile::TempDir;

fn set() -> Cancel {
    let cancel = Cancel::new();
    cancel.cancel();
    cancel
}

fn is_cancelled<T>(result: Result<T>) -> bool {
    result.err().is_some_and(|error| error.is_cancelled())
}

#[test]
fn no_format_is_read_once_the_switch_is_set() {
    let (folder, conventions) = (TempDir::new().unwrap(), Conventions::default());
    let options = ReadOptions::default().cancel(&set());
    for (name, content) in all() {
        for (ending, content) in [("", content.clone()), (".gz", gzip(&content)), (".zst", zstd(&content))] {
            let path = folder.path().join(format!("{name}{ending}"));
            fs::write(&path, &content).unwrap();
            assert!(is_cancelled(read_with(&path, &conventions, &options)), "{}", path.display());
            assert!(is_cancelled(read_from(name, &content[..], &conventions, &options)), "{name}{ending}");
            assert!(read_with(&path, &conventions, &ReadOptions::default()).is_ok(), "{}", path.display());
        }
    }
    let set = folder.path().join("molecules");
    write_tudataset(&set, &molecules(3, 1).unwrap()).unwrap();
    assert!(is_cancelled(read_with(&set, &conventions, &options)));
    let read = read_with(&set, &conventions, &ReadOptions::default()).unwrap();
    assert_eq!(read.graphs.len(), 3);
}

/// A stream that sets a switch after some bytes, as a signal would.
struct Interrupted<'a> {
    content: &'a [u8],
    left: usize,
    cancel: Cancel,
}

impl Read for Interrupted<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let read = (&self.content[..self.content.len().min(1000)]).read(out)?;
        self.content = &self.content[read..];
        self.left = self.left.saturating_sub(read);
        if self.left == 0 {
            self.cancel.cancel();
        }
        Ok(read)
    }
}

#[test]
fn a_stream_ends_where_it_was_when_the_switch_was_set() {
    let mut text = String::new();
    for node in 0..20_000 {
        writeln!(text, "{node} {}", node + 1).unwrap();
    }
    for (left, ends) in [(50_000, true), (usize::MAX, false)] {
        let cancel = Cancel::new();
        let mut stream = Interrupted { content: text.as_bytes(), left, cancel: cancel.clone() };
        let options = ReadOptions::default().cancel(&cancel);
        let read = read_from("edges.txt", &mut stream, &Conventions::default(), &options);
        assert_eq!(is_cancelled(read), ends);
        // No byte was taken after the piece in which the switch was set.
        let taken = text.len() - stream.content.len();
        assert!(if ends { (50_000..51_000).contains(&taken) } else { taken == text.len() }, "{taken} bytes");
    }
}

#[test]
fn graphs_are_not_built_once_the_switch_is_set() {
    let conventions = Conventions::default();
    let list = |graphs: usize| {
        let mut edges = EdgeList::batch((0..=graphs).map(|graph| 2 * graph).collect()).unwrap();
        for graph in 0..graphs {
            edges.push_weighted(u32::try_from(2 * graph + 1).unwrap(), u32::try_from(2 * graph).unwrap(), 2.0);
        }
        edges
    };
    for graphs in [0, 1, 3] {
        let built = GraphBatch::from_edge_list_with(list(graphs), &conventions, &set());
        assert_eq!(is_cancelled(built), graphs > 0, "{graphs} graphs");
        let built = GraphBatch::from_edge_list_with(list(graphs), &conventions, &Cancel::new()).unwrap();
        assert_eq!(built, GraphBatch::from_edge_list(list(graphs), &conventions).unwrap());
        assert_eq!(built.len(), graphs);
    }
}
