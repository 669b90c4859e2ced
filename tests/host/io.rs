//! Tests of reading and writing files. Each fault in a file has to be an error with its location.

use fiedler::ErrorKind;
use fiedler::graph::{Conventions, Duplicates, GraphBatch, Symmetrization, molecules};
use fiedler::io::{DataSet, Format, NodeIds, Npy, NpyData, read, read_npy, write_tudataset};
use half::f16;
use num_complex::Complex;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn file(folder: &TempDir, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    path
}

fn read_as(name: &str, content: impl AsRef<[u8]>, conventions: &Conventions) -> fiedler::Result<DataSet> {
    let folder = folder();
    read(&file(&folder, name, content), conventions)
}

fn parsed(name: &str, content: impl AsRef<[u8]>) -> DataSet {
    read_as(name, content, &Conventions::default()).unwrap()
}

/// Returns the undirected edges of the first graph.
fn edges(graphs: &GraphBatch) -> Vec<(usize, usize, f64)> {
    let graph = graphs.graph(0);
    let all = (0..graph.nodes()).flat_map(|row| graph.row(row).map(move |(column, weight)| (row, column, weight)));
    all.filter(|&(row, column, _)| row < column).collect()
}

/// Checks that `error` is a parsing error in the file `name`, at the given line, with the given words.
fn assert_parse_error(error: &fiedler::Error, name: &str, line: Option<u64>, words: &str) {
    let ErrorKind::Parse { path, line: at, .. } = error.kind() else { panic!("{error:?} is not of parsing") };
    assert!(path.ends_with(name), "{} is not {name}: {error}", path.display());
    assert_eq!(*at, line, "{error}");
    assert!(error.to_string().contains(words), "{error} does not say {words:?}");
}

#[test]
fn edge_lists_of_many_kinds_are_the_same_graph() {
    let want = [(0, 1, 1.0), (1, 2, 1.0)];
    for (name, content) in [
        ("spaces.txt", "0 1\n1 2\n"),
        ("tabs.tsv", "0\t1\n1\t2\n"),
        ("snap.txt", "# Directed graph\n# FromNodeId\tToNodeId\n0\t1\n1\t2"),
        ("konect.txt", "% sym unweighted\n0 1\n1 2\n"),
        ("windows.txt", "0 1\r\n1 2\r\n"),
        ("windows twice.txt", "0 1\r\r\n1 2\r\r\n"),
        ("blank lines.txt", "\n\n0 1\n   \n1 2\n\n"),
        ("no last end.txt", "0 1\n1 2"),
        ("mark.txt", "\u{feff}0 1\n1 2\n"),
        ("comma.csv", "0,1\n1, 2\n"),
        ("header.csv", "source,target\n0,1\n1,2\n"),
        ("own header.csv", "id_1,id_2\n0,1\n1,2\n"),
        ("header.txt", "FromNodeId ToNodeId\n0 1\n1 2\n"),
        ("weighted.csv", "source,target,weight\n0,1,1\n1,2,1.0\n"),
        ("own weighted.csv", "a,b,strength\n0,1,1\n1,2,1.0\n"),
        ("quoted.csv", "\"0\",\"1\"\n\"1\",\"2\"\n"),
        ("both ways.txt", "0 1\n1 0\n2 1\n1 2\n1 1\n"),
    ] {
        let set = parsed(name, content);
        assert_eq!(edges(&set.graphs), want, "{name}");
        assert_eq!((set.format, set.node_ids), (Format::EdgeList, None), "{name}");
        assert_eq!(format!("{}.", set.name), name[..=name.rfind('.').unwrap()]);
    }
}

#[test]
fn edge_lists_relabel_their_ids_and_keep_them() {
    let set = parsed("gaps.txt", "30 7\n7 100000000000 0.5\n".replace("30 7", "30 7 2"));
    assert_eq!(set.node_ids, Some(NodeIds::Integers(vec![7, 30, 100_000_000_000])));
    assert_eq!(edges(&set.graphs), [(0, 1, 2.0), (0, 2, 0.5)]);
    let words = |list: &[&str]| Some(NodeIds::Text(list.iter().map(|&word| word.to_owned()).collect()));
    let set = parsed("words.txt", "zoe adam\nadam eve\n");
    assert_eq!(set.node_ids, words(&["zoe", "adam", "eve"]));
    assert_eq!(edges(&set.graphs), [(0, 1, 1.0), (1, 2, 1.0)]);
    // If numbers and words are mixed, all ids are words. Numbers are also words if they would not be written back
    // unchanged.
    assert_eq!(parsed("mixed.txt", "2 1\n1 x\n").node_ids, words(&["2", "1", "x"]));
    assert_eq!(parsed("zeros.txt", "007 7\n").node_ids, words(&["007", "7"]));
    assert_eq!(parsed("signs.txt", "-1 1\n").node_ids, words(&["-1", "1"]));
    // An unusual id on the first line is an id, not a header.
    assert_eq!(parsed("minus.txt", "-1 0\n0 1\n1 2\n").node_ids, words(&["-1", "0", "1", "2"]));
    assert_eq!(parsed("root.txt", "root 1\n1 2\n").node_ids, words(&["root", "1", "2"]));
    assert_eq!(parsed("padded.txt", "007 1\n1 2\n").node_ids, words(&["007", "1", "2"]));
    assert_eq!(parsed("quotes.csv", "\"Paris, France\",Zürich\n").node_ids, words(&["Paris, France", "Zürich"]));
    let set = parsed("one based.txt", "1 2\n");
    assert_eq!(set.node_ids, Some(NodeIds::Integers(vec![1, 2])));
}

#[test]
fn matrix_market_files_are_read() {
    let head = "%%MatrixMarket matrix coordinate";
    for (kind, entries, want) in [
        ("pattern symmetric", "3 3 2\n2 1\n3 2\n", [(0, 1, 1.0), (1, 2, 1.0)]),
        ("real symmetric", "% c\n\n3 3 2\n2 1 0.5\n3 2 1e1\n", [(0, 1, 0.5), (1, 2, 10.0)]),
        ("integer general", "3 3 3\r\n2 1 4\r\n1 2 4\r\n3 2 2", [(0, 1, 4.0), (1, 2, 2.0)]),
        ("REAL General", "3 3 3\n%\n2 1 4\n\n2 2 9\n3 2 2\n", [(0, 1, 4.0), (1, 2, 2.0)]),
    ] {
        // The banner decides, not the extension.
        let set = parsed("matrix.txt", format!("{head} {kind}\n{entries}"));
        assert_eq!(edges(&set.graphs), want, "{kind}");
        assert_eq!((set.format, set.node_ids), (Format::MatrixMarket, None));
    }
    // Nodes without edges remain nodes.
    assert_eq!(parsed("a.mtx", format!("{head} pattern general\n5 5 0\n")).graphs.nodes(), 5);
    assert_eq!(parsed("a.mtx", format!("{head} pattern general\n0 0 0\n")).graphs.nodes(), 0);
    // A symmetric file has both directions, whatever the conventions keep.
    let kept = read_as("a.mtx", format!("{head} pattern symmetric\n2 2 1\n2 1\n"), &Conventions::scipy()).unwrap();
    assert!(kept.graphs.graph(0).is_symmetric());
}

#[test]
fn a_tudataset_is_found_by_folder_by_prefix_and_by_file() {
    let folder = folder();
    let set = folder.path().join("TOY");
    fs::create_dir(&set).unwrap();
    fs::write(set.join("TOY_A.txt"), "1, 2\n2, 1\n5,4\r\n4, 5\n").unwrap();
    fs::write(set.join("TOY_graph_indicator.txt"), "1\n1\n2\n3\n3").unwrap();
    fs::write(set.join("TOY_graph_labels.txt"), "1\n-1\n1\n").unwrap();
    for path in [set.clone(), set.join("TOY"), set.join("TOY_A.txt")] {
        let found = read(&path, &Conventions::default()).unwrap();
        assert_eq!((found.name.as_str(), found.format), ("TOY", Format::TuDataset));
        assert_eq!(found.graphs.node_offsets(), [0, 2, 3, 5]);
        assert_eq!(found.graphs.columns(), [1, 0, 1, 0]);
    }
}

#[test]
fn a_tudataset_comes_back_as_it_was_written() {
    let folder = folder();
    let path = folder.path().join("MADE");
    let made = molecules(30, 3).unwrap();
    write_tudataset(&path, &made).unwrap();
    assert_eq!(read(&path, &Conventions::default()).unwrap().graphs, made);
    assert_eq!(names(folder.path()), ["MADE"], "nothing else is left");
    assert_eq!(names(&path), ["MADE_A.txt", "MADE_graph_indicator.txt"]);

    let error = write_tudataset(&path, &made).unwrap_err();
    let ErrorKind::Io { source, .. } = error.kind() else { panic!("{error:?}") };
    assert_eq!(source.kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(read(&path, &Conventions::default()).unwrap().graphs, made, "and what was there stays");
    let weighted = parsed("w.txt", "0 1 2.5\n").graphs;
    let nodeless = parsed("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n0 0 0\n").graphs;
    for (graphs, words) in [(weighted, "weights"), (nodeless, "no nodes"), (molecules(0, 1).unwrap(), "no graph")] {
        let error = write_tudataset(&folder.path().join("NEW"), &graphs).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Domain { .. }) && error.to_string().contains(words), "{error}");
    }
    let error = write_tudataset(&folder.path().join("absent/NEW"), &made).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io { .. }), "{error:?}");
    assert_eq!(names(folder.path()), ["MADE"]);
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn errors_in_edge_lists_have_a_location() {
    let (long, old_mac) = (format!("0 1\n{}\n", "7".repeat(3 << 20)), "0 1\r".repeat(1 << 19));
    let cases: &[(&[u8], Option<u64>, &str)] = &[
        (b"", None, "expected at least one edge"),
        (b"# only\n\n# comments\n", Some(3), "expected at least one edge"),
        (b"source,target\n", Some(1), "expected at least one edge"),
        (b"0 1\n1\n", Some(2), "expected two ids, as in the lines before, found \"1\""),
        (b"0\n", Some(1), "expected two ids and perhaps a weight"),
        (b"0 1 2 3\n", Some(1), "expected two ids and perhaps a weight"),
        (b"0 1\n1 2 0.5\n", Some(2), "expected two ids, as in the lines before"),
        (b"0 1 1\n1 2\n", Some(2), "expected two ids and a weight, as in the lines before"),
        (b"0,1\n1,\n", Some(2), "expected two ids"),
        (b"0,1\n1 2\n", Some(2), "expected two ids"),
        (b"# w\n0 1 -0.5\n", Some(2), "expected a weight that is finite and not negative, found \"-0.5\""),
        (b"0 1 1\n1 2 nan\n", Some(2), "expected a weight that is finite"),
        (b"0 1 inf\n", Some(1), "expected a weight that is finite"),
        (b"0 1 1e999\n", Some(1), "expected a weight that is finite"),
        (b"0 1 1e-400\n", Some(1), "expected a weight of 0, or of at least 4.9e-324, found \"1e-400\""),
        (b"0 1 -1e-400\n", Some(1), "expected a weight that is finite and not negative, found \"-1e-400\""),
        (b"1 2 1 1082040961\n", Some(1), "found a fourth column, \"1082040961\"; leave it out, or name every column"),
        (b"0 1 1\n1 2 1 9\n", Some(2), "two ids and a weight, as in the lines before, found a fourth column, \"9\""),
        (b"1\t2 1 7\n2\t3 1 7\n", Some(1), "found a fourth column, \"7\""),
        (b"0 1\r1 2\r", Some(1), "found lines that end in CR alone"),
        (b"# c\r0 1\r", Some(1), "expected lines that end in LF or CR LF"),
        (b"0 1 heavy\n", Some(1), "expected a weight that is finite and not negative, found \"heavy\""),
        (b"0,1,\n", Some(1), "expected a weight that is finite and not negative, found nothing"),
        (b"0 1\n\xff\xfe 2\n", Some(2), "expected UTF-8 text"),
        (long.as_bytes(), Some(2), "lines of at most 1048576 bytes"),
        (old_mac.as_bytes(), Some(1), "found lines that end in CR alone"),
    ];
    for &(content, line, words) in cases {
        assert_parse_error(
            &read_as("edges.txt", content, &Conventions::default()).unwrap_err(),
            "edges.txt",
            line,
            words,
        );
    }
    // The byte that is not text comes after the first block, when the format is already known.
    let late = [&b"0 1\n".repeat(2000)[..], b"0 \0\n"].concat();
    assert_parse_error(
        &read_as("edges.txt", late, &Conventions::default()).unwrap_err(),
        "edges.txt",
        Some(2001),
        "found a NUL byte",
    );
}

#[test]
fn errors_in_matrix_market_files_have_a_location() {
    let head = "%%MatrixMarket matrix coordinate";
    let cases = [
        ("", 1, "expected the banner"),
        ("1 2\n", 1, "expected the banner %%MatrixMarket"),
        ("%%MatrixMarket matrix\n", 1, "expected a banner"),
        ("%%MatrixMarket tensor coordinate real general\n", 1, "expected a banner"),
        ("%%MatrixMarket matrix list real general\n", 1, "expected the layout `coordinate` or `array`, found \"list\""),
        ("HEAD complex general\n", 1, "expected the field `real`, `integer` or `pattern`, found \"complex\""),
        ("HEAD pattern skew-symmetric\n", 1, "expected the symmetry `general` or `symmetric`, as a pattern has it"),
        ("HEAD real hermitian\n", 1, "expected the symmetry `general`, `symmetric` or `skew-symmetric`"),
        ("HEAD real general\n3000000000 3000000000 0\n", 2, "expected at most 16777216 rows or columns for 0 entries"),
        ("HEAD real general\n", 1, "expected a size line of rows, columns and entries, found the end"),
        ("HEAD real general\n% c\n3 3\n", 3, "expected a size line"),
        ("HEAD real general\n3 3 1 1\n", 2, "expected a size line"),
        ("HEAD real general\n3 -3 1\n", 2, "expected a size line"),
        ("HEAD real general\n3 99999999999999999999 1\n", 2, "expected a size line"),
        ("HEAD real general\n3 4 1\n", 2, "expected a square matrix, found 3 rows and 4 columns"),
        ("HEAD real general\n9999999999 9999999999 999999999\n", 2, "fewer than 2^32 rows"),
        (
            "HEAD real general\n3 3 2\n1 2 0.5\n",
            3,
            "expected 2 entries, as the size line has it, found the end after 1",
        ),
        ("HEAD real general\n3 3 999999999999999\n1 2 0.5\n", 3, "found the end after 1"),
        ("HEAD real general\n3 3 1\n1 2 1\n2 3 1\n", 4, "expected no more than the 1 entries"),
        ("HEAD real general\n3 3 1\n0 2 1\n", 3, "expected an index from 1 to 3, found \"0\""),
        ("HEAD real general\n3 3 1\n1 4 1\n", 3, "expected an index from 1 to 3, found \"4\""),
        ("HEAD real general\n3 3 1\n1 x 1\n", 3, "expected an index from 1 to 3, found \"x\""),
        ("HEAD real general\n3 3 1\n1\n", 3, "expected an index from 1 to 3, found nothing"),
        ("HEAD real general\n3 3 1\n1 2\n", 3, "expected a row, a column and a value"),
        ("HEAD real general\n3 3 1\n1 2 1 1\n", 3, "expected a row, a column and a value"),
        ("HEAD pattern general\n3 3 1\n1 2 1\n", 3, "expected a row and a column, as a pattern has them"),
        ("HEAD real general\n3 3 1\n1 2 -1\n", 3, "expected a weight that is finite and not negative"),
        ("HEAD real general\r3 3 1\r1 2 1\r", 1, "found lines that end in CR alone"),
        ("HEAD real general\n3 3 1\n1 2 nan\n", 3, "expected a weight that is finite and not negative"),
    ];
    for (content, line, words) in cases {
        let content = content.replace("HEAD", head);
        let error = read_as("a.mtx", &content, &Conventions::default()).unwrap_err();
        assert_parse_error(&error, "a.mtx", Some(line), words);
    }
}

#[test]
fn errors_in_tudatasets_have_a_location() {
    let cases = [
        ("", "1\n1\n", None, "A", 0),
        ("1, 2\n", "", Some("expected the number of a graph for each node, found an empty file"), "graph_indicator", 0),
        ("1, 2\n", "1\nx\n", Some("or of the next, 1 or 2, found \"x\""), "graph_indicator", 2),
        ("1, 2\n", "2\n", Some("expected the number of the first graph, 1"), "graph_indicator", 1),
        ("1, 2\n", "0\n", Some("expected the number of the first graph, 1"), "graph_indicator", 1),
        ("1, 2\n", "1\n\n3\n", Some("expected the number of this graph or of the next"), "graph_indicator", 3),
        ("1, 2\n", "1\n2\n1\n", Some("expected the number of this graph or of the next"), "graph_indicator", 3),
        ("1, 2\n", "1\n4294967297\n", Some("expected the number of this graph"), "graph_indicator", 2),
        ("1, 2\n1, 3\n", "1\n1\n", Some("expected a node number from 1 to 2, found 3"), "A", 2),
        ("0, 1\n", "1\n1\n", Some("expected a node number from 1 to 2, found 0"), "A", 1),
        ("1, 2\n\n1 2\n", "1\n1\n", Some("expected an edge `r, c` of two node numbers"), "A", 3),
        ("1, 2, 3\n", "1\n1\n", Some("expected an edge `r, c`"), "A", 1),
        ("1, -2\n", "1\n1\n", Some("expected an edge `r, c`"), "A", 1),
        ("1,\n", "1\n1\n", Some("expected an edge `r, c`"), "A", 1),
        ("2, 3\n", "1\n1\n2\n", Some("node 2 in graph 1 and node 3 in graph 2"), "A", 1),
        ("1, 2\n\0", "1\n1\n", Some("found a NUL byte"), "A", 2),
    ];
    for (adjacency, indicator, words, at, line) in cases {
        let folder = folder();
        file(&folder, "DS_A.txt", adjacency);
        file(&folder, "DS_graph_indicator.txt", indicator);
        let found = read(folder.path(), &Conventions::default());
        match words {
            // A data set may have no edges.
            None => assert_eq!(found.unwrap().graphs.entries(), 0),
            Some(words) => {
                let line = (line > 0).then_some(line);
                assert_parse_error(&found.unwrap_err(), &format!("DS_{at}.txt"), line, words);
            }
        }
    }
}

#[test]
fn an_unknown_input_lists_the_formats() {
    let conventions = Conventions::default();
    for content in [&b"PAR1\x15\x04"[..], b"<rdf>", b"[[0, 1]]", b"BZh91AY\x01", b"graph { a -- b }"] {
        let error = read_as("data.bin", content, &conventions).unwrap_err();
        assert_parse_error(&error, "data.bin", None, "expected a TUDataset folder");
        assert!(error.to_string().contains("MatrixMarket") && error.to_string().contains("an edge list"), "{error}");
    }
    let folder = folder();
    let error = read(folder.path(), &conventions).unwrap_err();
    assert!(error.to_string().contains("found a folder without files of graphs"), "{error}");
    let error = read(&folder.path().join("absent"), &conventions).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io { path, .. } if path.ends_with("absent")), "{error:?}");
    file(&folder, "ONE_A.txt", "1, 2\n");
    let error = read(folder.path(), &conventions).unwrap_err();
    assert_parse_error(&error, "ONE_graph_indicator.txt", None, "found no file");
    file(&folder, "TWO_A.txt", "1, 2\n");
    let error = read(folder.path(), &conventions).unwrap_err();
    assert!(error.to_string().contains("expected one data set in the folder, found ONE, TWO"), "{error}");
}

#[test]
fn refusals_of_the_conventions_name_the_file_and_the_line() {
    let strict = Conventions { duplicates: Duplicates::Error, ..Conventions::default() };
    let error = read_as("twice.txt", "0 1\n0 1\n", &strict).unwrap_err();
    assert_parse_error(&error, "twice.txt", Some(2), "found the edge from node 0 to node 1 2 times, on lines 1 and 2");
    let strict = Conventions { symmetrization: Symmetrization::Error, ..Conventions::default() };
    let error = read_as("one way.txt", "0 1\n", &strict).unwrap_err();
    assert_parse_error(&error, "one way.txt", Some(1), "from node 0 to node 1, whose reverse is not listed");
}

/// Lines that cross the ends of the reader's blocks are read completely.
#[test]
fn long_files_lose_no_line() {
    let lines: Vec<String> = (0..60_000).map(|i| format!("{i} {}", i + 1)).collect();
    let content = format!("# {}\n{}", "c".repeat(700_000), lines.join("\n"));
    let set = parsed("long.txt", &content);
    assert_eq!((set.graphs.nodes(), set.graphs.entries(), set.node_ids), (60_001, 120_000, None));
    let error = read_as("long.txt", content + " x", &Conventions::default()).unwrap_err();
    assert_parse_error(&error, "long.txt", Some(60_001), "expected two ids, as in the lines before");
}

#[test]
fn the_sample_is_the_karate_club() {
    let path = common::root().join("examples/data/karate.txt");
    let set = read(&path, &Conventions::default()).unwrap();
    let graph = set.graphs.graph(0);
    assert_eq!((graph.nodes(), graph.entries(), graph.components().count), (34, 156, 1));
    let degrees = graph.degrees();
    // networkx.karate_club_graph().degree
    assert_eq!((degrees[0], degrees[32], degrees[33]), (16.0, 12.0, 17.0));
    assert_eq!(set.node_ids, Some(NodeIds::Integers((1..=34).collect())));
}

/// Returns a file as numpy writes it.
fn npy(header: &str, elements: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len() + 1).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.push(b'\n');
    bytes.extend(elements);
    bytes
}

fn read_npy_bytes(bytes: &[u8]) -> fiedler::Result<Npy> {
    let folder = folder();
    read_npy(&file(&folder, "a.npy", bytes))
}

#[test]
fn npy_files_are_read_row_major() {
    let numbers: Vec<f32> = (0..12_u8).map(f32::from).collect();
    let little: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    let big: Vec<u8> = numbers.iter().flat_map(|x| f64::from(*x).to_be_bytes()).collect();
    let c = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", &little);
    assert_eq!(read_npy_bytes(&c).unwrap(), Npy { shape: vec![3, 4], data: NpyData::F32(numbers.clone()) });
    let f = npy("{\"shape\": (2, 3, 2), 'fortran_order': True, 'descr': '>f8'}", &big);
    let want = vec![0.0, 6.0, 2.0, 8.0, 4.0, 10.0, 1.0, 7.0, 3.0, 9.0, 5.0, 11.0];
    assert_eq!(read_npy_bytes(&f).unwrap(), Npy { shape: vec![2, 3, 2], data: NpyData::F64(want) });
    let halves: Vec<u8> = [1.0, -0.5, f32::INFINITY].iter().flat_map(|&x| f16::from_f32(x).to_be_bytes()).collect();
    let f = npy("{'descr': '>f2', 'fortran_order': True, 'shape': (3,), }", &halves);
    let want = [1.0, -0.5, f32::INFINITY].map(f16::from_f32).to_vec();
    assert_eq!(read_npy_bytes(&f).unwrap(), Npy { shape: vec![3], data: NpyData::F16(want) });
    let c = npy("{'descr': '<c8', 'fortran_order': False, 'shape': (2, 3), }", &little);
    let want = numbers.chunks(2).map(|x| Complex::new(x[0], x[1])).collect();
    assert_eq!(read_npy_bytes(&c).unwrap(), Npy { shape: vec![2, 3], data: NpyData::C64(want) });
    let c = npy("{'descr': '>c16', 'fortran_order': True, 'shape': (2, 3), }", &big);
    let want = [0, 2, 4, 1, 3, 5].map(|i| Complex::new(f64::from(numbers[2 * i]), f64::from(numbers[2 * i + 1])));
    assert_eq!(read_npy_bytes(&c).unwrap(), Npy { shape: vec![2, 3], data: NpyData::C128(want.to_vec()) });
    let mut second = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 0), }", &[]);
    second.splice(6..10, [2, 0, second[8], second[9], 0, 0]);
    assert_eq!(read_npy_bytes(&second).unwrap(), Npy { shape: vec![0, 0], data: NpyData::F32(vec![]) });
}

#[test]
fn integers_and_booleans_are_read_as_float64_that_equals_them() {
    let read = |descr: &str, bytes: &[u8], count: usize| {
        read_npy_bytes(&npy(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({count},), }}"), bytes))
    };
    let is = |descr: &str, bytes: &[u8], want: &[f64]| {
        let found = read(descr, bytes, want.len()).unwrap();
        assert_eq!(found, Npy { shape: vec![want.len()], data: NpyData::F64(want.to_vec()) }, "{descr}");
    };
    is("|b1", &[0, 1, 7], &[0.0, 1.0, 1.0]);
    is("|i1", &[0x80, 0x7f], &[-128.0, 127.0]);
    is("|u1", &[0x80, 0xff], &[128.0, 255.0]);
    is("<i2", &[0xfe, 0xff], &[-2.0]);
    is(">u2", &[0x01, 0x02], &[258.0]);
    is(">i4", &(-70000_i32).to_be_bytes(), &[-70000.0]);
    is("<u4", &u32::MAX.to_le_bytes(), &[4_294_967_295.0]);
    // f64 can hold 2^53 + 2, the smallest number of a type and, for unsigned types, half of the range.
    is("<i8", &((1_i64 << 53) + 2).to_le_bytes(), &[9_007_199_254_740_994.0]);
    is(">i8", &i64::MIN.to_be_bytes(), &[-9_223_372_036_854_775_808.0]);
    is("<u8", &(1_u64 << 63).to_le_bytes(), &[9_223_372_036_854_775_808.0]);
    // f64 cannot hold 2^53 + 1 or the largest number of either type.
    for (descr, bytes, found) in [
        ("<i8", [0, (1_i64 << 53) + 1].map(i64::to_le_bytes).concat(), "9007199254740993 as element 1"),
        ("<i8", [0, i64::MAX].map(i64::to_le_bytes).concat(), "9223372036854775807 as element 1"),
        ("<u8", [0, u64::MAX].map(u64::to_le_bytes).concat(), "18446744073709551615 as element 1"),
    ] {
        assert_parse_error(&read(descr, &bytes, 2).unwrap_err(), "a.npy", None, "integers that float64 holds exactly");
        assert!(read(descr, &bytes, 2).unwrap_err().to_string().contains(found), "{descr}");
    }
    let columns = npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 2), }", &[1, 0, 2, 0, 3, 0, 4, 0]);
    assert_eq!(read_npy_bytes(&columns).unwrap().data, NpyData::F64(vec![1.0, 3.0, 2.0, 4.0]));
}

#[test]
fn errors_in_npy_files_say_what_was_expected() {
    let with = |header: &str, bytes: usize| npy(header, &vec![0; bytes]);
    let cases = [
        (vec![], "expected an .npy file, found another beginning"),
        (b"PK\x03\x04 and more".to_vec(), "expected an .npy file"),
        (b"\x93NUMPY\x09\x00\x00".to_vec(), "version 1, 2 or 3"),
        (b"\x93NUMPY\x01\x00\xff\xff{'descr'".to_vec(), "descr, fortran_order and shape"),
        (
            with("{'descr': '<M8[s]', 'fortran_order': False, 'shape': (1, 1), }", 8),
            "integers or booleans, found the type <M8[s]",
        ),
        (
            with("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 1), }", 4),
            "found the type [('a', '<f4')",
        ),
        (
            with("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 2, 2), }", 16),
            "one, two or three axes, found the shape [1, 1, 2, 2]",
        ),
        (with("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", 15), "expected 16 bytes of elements"),
        (with("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", 17), "found 17 bytes"),
        (with("{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 2), }", 16), "descr, fortran_order and shape"),
        (
            with("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 8),
            "a shape that memory holds",
        ),
    ];
    for (bytes, words) in cases {
        assert_parse_error(&read_npy_bytes(&bytes).unwrap_err(), "a.npy", None, words);
    }
    let error = read_npy(Path::new("absent.npy")).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io { .. }), "{error:?}");
}
