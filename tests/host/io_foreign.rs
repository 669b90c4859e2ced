//! Tests of files in formats that are not supported. The error names the format and shows none of the file's bytes.

use fiedler::graph::Conventions;
use fiedler::io::{read, read_matrix, read_npy};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// Returns the local header of the first member of a zip archive.
fn zip(member: &str) -> Vec<u8> {
    let mut bytes = b"PK\x03\x04".to_vec();
    bytes.resize(26, 0);
    bytes.extend(u16::try_from(member.len()).unwrap().to_le_bytes());
    bytes.extend([0, 0]);
    bytes.extend(member.as_bytes());
    bytes
}

fn tar() -> Vec<u8> {
    let mut bytes = b"edges.txt".to_vec();
    bytes.resize(257, 0);
    bytes.extend(b"ustar\0");
    bytes
}

fn formats() -> Vec<(Vec<u8>, &'static str, &'static str)> {
    let text = |text: &str| text.as_bytes().to_vec();
    vec![
        (zip("archive/data.pkl"), "a PyTorch file", "edge list"),
        (zip("[Content_Types].xml"), "an office document", "CSV"),
        (b"BZh91AY&SY\0\x01".to_vec(), "a bzip2 file", "decompress it first"),
        (b"\xfd7zXZ\0\0\x04".to_vec(), "an xz file", "decompress it first"),
        (b"\x04\x22\x4d\x18d".to_vec(), "an LZ4 file", "decompress it first"),
        (b"7z\xbc\xaf\x27\x1c\0".to_vec(), "a 7-Zip archive", "unpack it first"),
        (b"PAR1\x15\x04".to_vec(), "a Parquet file", "the command"),
        (b"ARROW1\0\0".to_vec(), "an Arrow file", "the command"),
        (b"\x89HDF\r\n\x1a\n\0".to_vec(), "an HDF5 file", "edge list"),
        (b"SQLite format 3\0".to_vec(), "an SQLite database", "edge list"),
        (b"MATLAB 5.0 MAT-file, \0\x01IM".to_vec(), "a MATLAB file", "mmwrite"),
        (b"\x80\x04\x95\x10\0".to_vec(), "a Python pickle", "write_edgelist"),
        (b"%PDF-1.4\n%\xe2\xe3".to_vec(), "a PDF document", ""),
        (b"\x89PNG\r\n\x1a\n\0".to_vec(), "a PNG image", ""),
        (b"\xff\xd8\xff\xe0\0".to_vec(), "a JPEG image", ""),
        (b"\xff\xfe0\0 \x001\0\n\0".to_vec(), "UTF-16 text", "save it as UTF-8"),
        (b"\x01\x02\x03\x04secret".to_vec(), "a binary file", ""),
        (text("<!DOCTYPE html>\n<html>"), "an HTML page", "server"),
        (text("<?xml version='1.0'?>\n<secret>"), "XML", ""),
        (text("<http://a> <http://b> <http://c> .\n"), "RDF", "edge list"),
        (text("\u{feff}[[0, 1]]"), "JSON", "edge list"),
        (text("digraph G {\n  a -> b;\n"), "a Graphviz graph (DOT)", "write_edgelist"),
        (text("graph {\n  a -- b;\n"), "a Graphviz graph (DOT)", "write_edgelist"),
    ]
}

/// Formats that graphs are read from, but neither matrices nor the files of a TUDataset.
fn elsewhere() -> Vec<(Vec<u8>, &'static str, &'static str)> {
    let text = |text: &str| text.as_bytes().to_vec();
    vec![
        (b"\x93NUMPY\x01\0v\0{'descr': '<f8'".to_vec(), "a NumPy array (.npy)", "`fiedler run` takes arrays"),
        (zip("arr_0.npy"), "a NumPy archive (.npz)", ""),
        (zip("edges.txt"), "a zip archive", "unpack it first"),
        (tar(), "a tar archive", "unpack it first"),
        (b"\x10\0\0\0\0\0\0\0{\"a\":{}}".to_vec(), "a safetensors file", ""),
        (text("<?xml version='1.0'?>\n<graphml xmlns='x'>"), "GraphML", ""),
        (text("<gexf version='1.2'>"), "GEXF", ""),
        (text("{\"nodes\": []}"), "JSON", "edge list"),
        (text("graph [\n  directed 0\n"), "GML", ""),
        (text("Creator \"secret\"\ngraph\n[\n"), "GML", ""),
        (text("graph\n[\n"), "GML", ""),
        (text(">>graph6<<D?{\n"), "graph6", ""),
        (text("*Vertices 3\n1 \"a\"\n"), "a Pajek network", ""),
        (text("% secret\n\n*Network secret\n*vertices 3\n"), "a Pajek network", ""),
        (text("p edge 5 4\ne 1 2\n"), "a DIMACS graph", ""),
        (text("c secret\nc\np col 5 4\ne 1 2\n"), "a DIMACS graph", ""),
        (text(">>sparse6<<:DaX\n"), "sparse6", ""),
    ]
}

fn file(folder: &TempDir, name: &str, content: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    path
}

/// Checks that the error shows nothing of the file except its name.
fn assert_named(error: &fiedler::Error, name: &str, way_out: &str) {
    let said = error.to_string();
    let (_, found) = said.rsplit_once(", found ").unwrap_or_else(|| panic!("{said}"));
    assert!(found.starts_with(name) && found.contains(way_out), "{said} does not say {name}; {way_out}");
    assert!(!said.contains("\\u{") && !said.contains('\u{fffd}') && !said.contains("secret"), "{said}");
}

#[test]
fn the_format_of_a_foreign_file_is_named() {
    let folder = TempDir::new().unwrap();
    for (content, name, way_out) in formats() {
        for ending in ["data.bin", "data.mtx"] {
            let error = read(&file(&folder, ending, &content), &Conventions::default()).unwrap_err();
            assert_named(&error, name, way_out);
            assert!(error.to_string().contains("an edge list (two ids a line"), "{error}");
        }
    }
    for (content, name, way_out) in formats().into_iter().chain(elsewhere()) {
        assert_named(&read_matrix(&file(&folder, "a.mtx", &content)).unwrap_err(), name, way_out);
        let set = TempDir::new().unwrap();
        file(&set, "DS_A.txt", &content);
        file(&set, "DS_graph_indicator.txt", b"1\n");
        assert_named(&read(set.path(), &Conventions::default()).unwrap_err(), name, way_out);
        if !name.contains("(.npy)") {
            let error = read_npy(&file(&folder, "a.npy", &content)).unwrap_err();
            assert_named(&error, name, "");
            assert!(error.to_string().contains("expected an .npy file"), "{error}");
        }
    }
    for (content, name) in [(&b"\x1f\x8b\x08\0\0\0"[..], "a gzip file"), (b"\x28\xb5\x2f\xfd\x04", "a Zstandard file")]
    {
        assert_named(&read_npy(&file(&folder, "a.npy", content)).unwrap_err(), name, "");
        let error = read_matrix(&file(&folder, "a.mtx", content)).unwrap_err().to_string();
        assert!(error.contains(&format!("expected {name} that is whole and not damaged, found ")), "{error}");
    }
}

/// Letters that begin a binary format may also begin an id.
#[test]
fn ids_that_look_like_the_names_of_formats_are_ids() {
    let folder = TempDir::new().unwrap();
    for content in
        ["PAR1 F2R\nF2R PAR1\n", "BZh9 x\nx y\n", "graph theory\ntheory graph\n", "digraph a\na b\n", "c p\np edge\n"]
    {
        let set = read(&file(&folder, "g.txt", content.as_bytes()), &Conventions::default());
        assert!(set.is_ok(), "{content:?}: {set:?}");
    }
}

/// Bytes that are not text are not shown either if they come after the beginning of the file.
#[test]
fn bytes_that_are_not_text_are_not_shown() {
    let folder = TempDir::new().unwrap();
    let before = b"0 1\n".repeat(3000);
    for (line, words) in
        [(&b"2 \x01\x02\n"[..], "bytes that are no text"), (b"2 \xff\xfe\n", "bytes that are not UTF-8 text")]
    {
        let content = [&before[..], line, b"\x07\n"].concat();
        let error = read(&file(&folder, "g.txt", &content), &Conventions::default());
        let said = error.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(said.contains(words) && !said.contains("\\u{"), "{said:?} lacks {words:?}");
    }
}
