//! Tests of a folder, and of a pattern for the names of files, as a data set.

use super::samples::{EDGES, GML, arrays, gzip, index, stored};
use super::{edges, truth, words};
use fiedler::graph::{Conventions, Duplicates};
use fiedler::io::{Format, NodeIds, ReadOptions, read, read_with};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

fn text(path: &Path) -> String {
    read(path, &Conventions::default()).map(|set| set.graphs).unwrap_err().to_string()
}

#[test]
fn the_files_of_a_folder_are_a_data_set() {
    let archive = stored(&[("inner.gml", GML.as_bytes().to_vec())]);
    let folder = folder(&[
        ("c.g6", b"A_\n@\n"),
        ("a.txt", EDGES.as_bytes()),
        ("b.gml.gz", &gzip(GML.as_bytes())),
        ("d.zip", &archive),
        ("e.npz", &stored(&arrays())),
        (".hidden", b"\0"),
        ("README.md", b"a b\n"),
    ]);
    fs::create_dir(folder.path().join("more")).unwrap();
    let set = read(folder.path(), &Conventions::default()).unwrap();
    assert_eq!((set.format, set.node_ids), (Format::Files, None));
    assert_eq!(set.name, folder.path().file_name().unwrap().to_str().unwrap());
    assert_eq!(set.graphs.node_offsets(), [0, 5, 10, 12, 13, 18, 23]);
    for graph in [0, 1, 4, 5] {
        assert_eq!(edges(&set.graphs, graph), edges(&truth(), 0), "{graph}");
    }
    let said = set.notices.join("\n");
    assert!(said.contains("these were not read: README.md, more."), "{said}");
    assert_eq!(Format::detect(folder.path()).unwrap(), Format::Files);
    // A pattern chooses among them; a hidden file only if it says so.
    let some = read(&folder.path().join("?.g*"), &Conventions::default()).unwrap();
    assert_eq!((some.graphs.node_offsets(), some.name), (&[0, 5, 7, 8][..], set.name));
    assert!(text(&folder.path().join("*idden")).contains("files whose names match the pattern, found none"));
    assert!(text(&folder.path().join(".h*")).contains(".hidden: expected"));
    assert!(text(&folder.path().join("nothing")).contains("nothing"));
    // A file whose name is the pattern itself goes first.
    fs::write(folder.path().join("*.g6"), "B?\n").unwrap();
    assert_eq!(read(&folder.path().join("*.g6"), &Conventions::default()).unwrap().format, Format::Graph6);
}

#[test]
fn names_of_nodes_belong_to_their_file() {
    let set = folder(&[("1", b"a b\nb c\n"), ("2", b"7 5\n")]);
    let ids = |set: &TempDir| read(set.path(), &Conventions::default()).unwrap().node_ids;
    assert_eq!(ids(&set), words(&["a", "b", "c", "5", "7"]));
    assert_eq!(ids(&folder(&[("1", b"3 4\n"), ("2", b"0 1\n")])), Some(NodeIds::Integers(vec![3, 4, 0, 1])));
    // Arrays in which nodes seem to count from 1 are found among other files.
    let set = folder(&[("a.txt", b"0 1\n"), ("b.npy", &index())]);
    assert_eq!(read(set.path(), &Conventions::default()).unwrap().isolated().from_one, 0);
    let from_one = super::npy("<i8", "(2, 3)", false, &super::integers(&[1, 2, 3, 2, 3, 1]));
    let set = folder(&[("a.txt", b"0 1\n"), ("b.npy", &from_one)]);
    assert_eq!(read(set.path(), &Conventions::default()).unwrap().isolated().from_one, 1);
}

#[test]
fn an_error_names_its_file() {
    for (name, content, line) in
        [("b.txt", &b"0 1\n1\n"[..], ":2: expected two ids"), ("b.png", b"\x89PNG\r\n\x1a\n\0", ": ")]
    {
        let set = folder(&[("a.txt", b"0 1\n"), (name, content)]);
        let want = format!("{}{line}", set.path().join(name).display());
        assert!(text(set.path()).starts_with(&want), "{} does not begin with {want}", text(set.path()));
    }
    // Also one that the conventions refuse.
    let set = folder(&[("a.txt", b"0 1\n"), ("b.g6", b"A_\n"), ("c.txt", b"x y\n1 2\n1 2\n")]);
    let once = Conventions { duplicates: Duplicates::Error, ..Conventions::default() };
    let error = read(set.path(), &once).unwrap_err().to_string();
    let want = format!("{}:3: expected each edge once", set.path().join("c.txt").display());
    assert!(error.starts_with(&want), "{error}");
    assert!(text(folder(&[]).path()).contains("found a folder without files of graphs"));
    let options = ReadOptions::default().edge_weight_column(1);
    let error = read_with(set.path(), &Conventions::default(), &options).unwrap_err().to_string();
    assert!(error.contains("found several files"), "{error}");
}
