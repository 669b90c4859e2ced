//! Tests of Pajek networks, DIMACS and METIS graphs, adjacency lists, the JSON of Cytoscape, and arrays and
//! skew-symmetric matrices in MatrixMarket.

use super::samples::{ADJACENCY, CYTOSCAPE, DIMACS, METIS, PAJEK};
use super::{edges, parsed, plain, stream, truth, words};
use fiedler::ErrorKind;
use fiedler::graph::{Conventions, Duplicates, Preset, SelfLoops, Symmetrization};
use fiedler::io::{Format, NodeIds, ReadOptions, read_from, read_matrix, read_symmetric_matrix};
use std::fs;
use tempfile::TempDir;

/// Edges as they are listed, under conventions that keep their directions.
fn kept(name: &str, content: &str) -> Vec<(usize, usize, f64)> {
    let set = read_from(name, content.as_bytes(), &Preset::Scipy.conventions(), &ReadOptions::default());
    edges(&set.unwrap_or_else(|error| panic!("{name}: {error}")).graphs, 0)
}

fn refused(name: &str, content: &str, line: Option<u64>, words: &str) {
    let error = stream(name, content.as_bytes()).map(|set| set.graphs).expect_err(content);
    let ErrorKind::Parse { line: at, .. } = error.kind() else { panic!("{error}") };
    assert_eq!(*at, line, "{content:?}: {error}");
    assert!(error.to_string().contains(words), "{error} does not say {words:?}");
}

#[test]
fn pajek_networks_have_labels_directions_and_sections() {
    // networkx 3.6.1, `write_pajek` of a directed multigraph with a label of two words.
    let directed = "*vertices 2\n1 \"a b\" 0.0 0.0 ellipse\n2 c 0.0 0.0 ellipse\n*arcs\n1 2 3\n2 1 1.0\n";
    assert_eq!(kept("g.net", directed), [(0, 1, 3.0), (1, 0, 1.0)]);
    assert_eq!(parsed("g.net", directed.as_bytes()).node_ids, words(&["a b", "c"]));
    // Pajek itself: comments, capitals, vertices in any order, drawing parameters without and with a weight.
    let own = "%% a comment\r\n*Network friends\r\n*Vertices 3 2\r\n3 \"c\"\r\n1 \"a\" ic Red\r\n2 b\r\n*Edges\r\n1 2 c Blue\r\n\
               2 3 4 w 3 l \"x y\"\r\n";
    assert_eq!(kept("g", own), [(0, 1, 1.0), (1, 0, 1.0), (1, 2, 4.0), (2, 1, 4.0)]);
    assert_eq!(parsed("g", own.as_bytes()).node_ids, words(&["a", "b", "c"]));
    // Labels that are natural numbers sort the nodes, as in an edge list.
    let sorted = parsed("g", b"*vertices 2\n1 7\n2 3\n*arcs\n1 2\n");
    assert_eq!(sorted.node_ids, Some(NodeIds::Integers(vec![3, 7])));
    assert_eq!(kept("g", "*vertices 2\n1 7\n2 3\n*arcs\n1 2\n"), [(1, 0, 1.0)]);
    // Without a label for each vertex, or with equal ones, vertices have their numbers.
    let lists = "*Vertices 4\n2 x\n*Arcslist\n1 2 3\n*Edgeslist\n4 1\n";
    assert_eq!(kept("g", lists), [(0, 1, 1.0), (0, 2, 1.0), (0, 3, 1.0), (3, 0, 1.0)]);
    assert_eq!(parsed("g", lists.as_bytes()).node_ids, None);
    let alike = parsed("g.net", b"*Vertices 2\n1 x\n2 x\n*Edges\n1 2\n");
    assert_eq!(alike.node_ids, None);
    assert_eq!(alike.notices, ["g.net: several vertices have the label \"x\", so vertices have their numbers."]);
    let matrix = "*Vertices 3\n*Matrix\n0 1.5 0\n0 0 2\n-0 0.0 4\n";
    assert_eq!(kept("g", matrix), [(0, 1, 1.5), (1, 2, 2.0)]);
    let doubts = "*Vertices 2\n*Arcs :1 \"likes\"\n1 2 1 [1-3]\n*Arcs :2 \"knows\"\n2 1 1\n";
    let said = parsed("g", doubts.as_bytes()).notices.join("\n");
    assert!(said.contains("the edges of all relations were read") && said.contains("intervals of time"), "{said}");
    // Several networks, each with vertices of its own.
    let two = parsed("g", format!("{PAJEK}*Network b\n*Vertices 3\n*Edges\n1 3\n").as_bytes());
    assert_eq!((two.graphs.node_offsets(), two.node_ids), (&[0, 5, 8][..], None));
    assert_eq!(edges(&two.graphs, 0), edges(&truth(), 0));
    assert_eq!(edges(&two.graphs, 1), [(0, 2, 1.0), (2, 0, 1.0)]);
}

#[test]
fn faults_in_pajek_networks() {
    for (content, line, words) in [
        ("*Vertices x\n", 1, "expected *Vertices and the number of vertices, below 2^32"),
        ("*Vertices 2 3\n", 1, "the number of vertices, below 2^32"),
        ("*Vertices 5000000000\n", 1, "the number of vertices, below 2^32"),
        ("*Vertices 4000000000\n*Edges\n1 2\n", 1, "vertices for 4 bytes, found 4000000000"),
        ("*Network x\n1 2\n*Vertices 2\n", 2, "*Vertices and the number of vertices, found \"1 2\""),
        ("*Network x\n*Edges\n1 2\n*Vertices 2\n", 3, "*Vertices and the number of vertices"),
        ("*Vertices 2\n3 x\n", 2, "a vertex from 1 to 2, found \"3\""),
        ("*Vertices 2\n1 x\n2 y\n1 z\n", 4, "each vertex once, found vertex 1 again"),
        ("*Vertices 2\n1 \"x\n", 2, "a label and the quote that ends it"),
        ("*Vertices 2\n*Edges\n1\n", 3, "a vertex from 1 to 2, found nothing"),
        ("*Vertices 2\n*Edges\n1 0\n", 3, "a vertex from 1 to 2, found \"0\""),
        ("*Vertices 2\n*Edges\n1 2 -1\n", 3, "a weight that is finite and not negative"),
        ("*Vertices 2\n*Edges\n1 2 nan\n", 3, "a weight that is finite and not negative"),
        ("*Vertices 2\n*Arcslist\n1 2 3\n", 3, "a vertex from 1 to 2, found \"3\""),
        ("*Vertices 2\n*Matrix\n0 1\n0 1 2\n", 4, "a number for each of the 2 vertices, found 3 numbers"),
        ("*Vertices 1\n*Matrix\n0\n0\n", 4, "no more than 1 rows"),
        (
            "*Vertices 2\n*Partition x\n",
            2,
            "*Network, *Vertices, *Arcs, *Edges, *Arcslist, *Edgeslist or *Matrix, found",
        ),
        ("*Network x\n% *Vertices 3\n", 2, "*Vertices and the number of vertices, found the end"),
    ] {
        refused("g.net", content, Some(line), words);
    }
}

#[test]
fn dimacs_graphs_are_read() {
    let flow = "c\np max 4 3\nn 1 s\nn 4 t\na 1 2 5\na 2 3 2.5\na 3 4 1\n";
    assert_eq!(kept("g", flow), [(0, 1, 5.0), (1, 2, 2.5), (2, 3, 1.0)]);
    assert!(parsed("g", flow.as_bytes()).notices.is_empty());
    // Edges are undirected. Many files list both directions, and some of them state half of their number.
    let once = "p col 3 2\ne 1 2\ne 3 2\n";
    let want = [(0, 1, 1.0), (1, 0, 1.0), (1, 2, 1.0), (2, 1, 1.0)];
    assert_eq!(kept("g", once), want);
    let sum = Conventions { symmetrization: Symmetrization::Sum, ..Conventions::default() };
    for stated in [2, 4] {
        let twice = format!("c queen5_5.col and others\np edge 3 {stated}\nn 1 7\ne 1 2\ne 3 2\ne 2 3\ne 2 1\n");
        assert_eq!(kept("g", &twice), want);
        let set = read_from("g", twice.as_bytes(), &sum, &ReadOptions::default()).unwrap();
        assert_eq!(edges(&set.graphs, 0), want);
        let said = set.notices.join("\n");
        assert!(said.contains("g: each edge is listed in both directions, and counts once."), "{said}");
        assert!(said.contains("g: the values of nodes were not read."), "{said}");
    }
    // The comments of some files are longer than what is looked at: the name helps.
    let long = format!("{}{}", "c a comment\n".repeat(1000), DIMACS);
    assert_eq!(parsed("g.gr", long.as_bytes()).graphs, truth());
    for (content, line, words) in [
        ("p cnf 3 2\n1 -3 0\n", 1, "`p edge`, `p col`, `p sp` or `p max` with the numbers of nodes and edges"),
        ("p edge 3 1\ne 1 4\n", 2, "a node from 1 to 3, found \"4\""),
        ("p edge 3 1\ne 1\n", 2, "a node from 1 to 3, found nothing"),
        ("p edge 3 1\ne 1 2 3\n", 2, "`e` and two nodes"),
        ("p edge 3 1\na 1 2 3\n", 2, "a line of `e`, `n` or `c`"),
        ("p edge 3 1\np edge 3 1\n", 2, "a line of `e`, `n` or `c`"),
        ("p edge 3 2\ne 1 2\n", 2, "2 edges, as the line `p` has it, found the end after 1"),
        ("p edge 3 1\ne 1 2\ne 2 3\n", 3, "1 edges, as the line `p` has it, found the end after 2"),
        ("p edge 3 1\ne 1 2\ne 2 1\ne 2 3\n", 4, "no more than the 1 edges"),
        ("p sp 3 1\na 1 2\n", 2, "`a`, two nodes and a weight"),
        ("p sp 3 1\na 1 2 -4\n", 2, "a weight that is finite and not negative"),
        ("p sp 3 1\na 1 2 4\na 1 2 4\n", 3, "no more than the 1 edges"),
        ("p sp 3 1\ne 1 2\n", 2, "a line of `a`, `n` or `c`"),
        ("p sp 4294967295 1\na 1 2 4\n", 1, "at most 16777280 nodes for 1 edges, found 4294967295"),
        ("p edge 4294967296 4294967296\n", 1, "at most 4294967295 nodes"),
    ] {
        refused("g.gr", content, Some(line), words);
    }
    let once = Conventions { duplicates: Duplicates::Error, ..Conventions::default() };
    let error = read_from("g", &b"p sp 2 2\na 1 2 4\na 1 2 4\n"[..], &once, &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("g:3: expected each edge once, found the edge from node 1 to node 2 2 times"));
}

#[test]
fn metis_graphs_are_read() {
    // The example of the manual, and its variants: weights of edges, of nodes, two of each node, sizes of nodes.
    let plain = "% Example\n7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n";
    let set = parsed("data", plain.as_bytes());
    assert_eq!((set.format, set.graphs.entries(), set.node_ids), (Format::Metis, 22, None));
    let path = [(0, 1, 5.0), (0, 2, 6.0), (1, 0, 5.0), (2, 0, 6.0)];
    let ones = path.map(|(source, target, _)| (source, target, 1.0));
    for (content, want) in [
        ("3 2\n2 3\n1\n1\n", ones),
        ("3 2 1\n2 5 3 6\n1 5\n1 6\n", path),
        ("3 2 011\n7 2 5 3 6\n8 1 5\n9 1 6\n", path),
        ("3 2 11 2\n7 7 2 5 3 6\n8 8 1 5\n9 9 1 6\n", path),
        ("3 2 100\n7 2 3\n8 1\n9 1\n", ones),
        ("3 2 111 1\n7 7 2 5 3 6\n7 8 1 5\n7 9 1 6\n\n", path),
    ] {
        for name in ["data", "g.graph", "g.metis"] {
            assert_eq!(kept(name, content), want, "{content:?}");
            let said = parsed(name, content.as_bytes()).notices.join("");
            assert_eq!(said.contains("the weights or sizes of nodes were not read"), content.contains('7'), "{said}");
        }
    }
    // Nodes without edges have empty lines.
    assert_eq!(parsed("data", b"4 2\n2\n1 3\n2\n\n\n").graphs.nodes(), 4);
    assert_eq!(parsed("g.graph", b"3 0\n\n\n\n").graphs.nodes(), 3);
    // Where all lines may be edges as well, the name decides; a name alone makes no METIS graph of an edge list.
    let ring = "4 4\n2 4\n1 3\n2 4\n1 3\n";
    assert_eq!(parsed("ring.graph", ring.as_bytes()).graphs.entries(), 8);
    let said = parsed("ring.txt", ring.as_bytes()).notices.join("");
    assert!(said.contains("just as well; if it is that, give it the ending .graph."), "{said}");
    for name in ["g.graph", "g.txt"] {
        assert_eq!(parsed(name, b"3 2\n1 2\n2 3\n").format, Format::EdgeList);
    }
    // Each edge counts once where both directions are added up.
    let sum = Conventions { symmetrization: Symmetrization::Sum, ..Conventions::default() };
    let set = read_from("g.graph", METIS.as_bytes(), &sum, &ReadOptions::default()).unwrap();
    assert_eq!(edges(&set.graphs, 0), edges(&truth(), 0));
    for (content, line, words) in [
        ("4 2\n2\n1 3\n2\n", Some(4), "a line for each of the 4 nodes, found the end after 3"),
        ("3 2\n2 3\n1\n1\n1 2\n", Some(5), "no more than 3 lines, one for each node"),
        (
            "3 2\n2 3\n1\n2\n",
            Some(2),
            "each edge in the lines of both nodes, with the same weight, found nodes 1 and 3",
        ),
        ("3 2 1\n2 5 3 6\n1 5\n1 7\n", Some(2), "with the same weight, found nodes 1 and 3, of which one has no such"),
        ("3 3\n2 3\n1\n1\n", Some(1), "expected 3 edges, as this line has it, found 2"),
        ("3 2\n1 2 3\n1\n1\n", Some(2), "neighbors other than the node itself, found node 1"),
        ("3 2\n2 4\n1\n1\n", Some(2), "a neighbor from 1 to 3, found \"4\""),
        ("3 2 1\n2 5 3\n1 5\n1 6\n", Some(2), "a weight that is finite and not negative, found nothing"),
        ("3 2 10\n7 2 3\n\n9 1\n", Some(3), "1 value of the node, and then neighbors"),
    ] {
        refused("g.graph", content, line, words);
    }
    // Without the name, a file whose lines do not agree is an edge list with a fault.
    assert!(!stream("data", b"3 2\n2 3\n1\n2\n").map(|set| set.graphs).unwrap_err().to_string().contains("METIS"));
}

#[test]
fn adjacency_lists_are_read_by_their_name() {
    let set = parsed("g.adjlist", ADJACENCY.as_bytes());
    assert_eq!((set.graphs, set.format), (plain(), Format::AdjacencyList));
    // As in an edge list, directions are kept as they are listed, and text has the order of its first appearance.
    let text = "# a comment\nb a c\n\nd\na a\n";
    assert_eq!(parsed("g.AdjList", text.as_bytes()).node_ids, words(&["b", "a", "c", "d"]));
    assert_eq!(kept("g.adjlist", "7 3\n3 5\n"), [(0, 1, 1.0), (2, 0, 1.0)]);
    let loops = Conventions { self_loops: SelfLoops::Keep, ..Conventions::default() };
    let set = read_from("g.adjlist", text.as_bytes(), &loops, &ReadOptions::default()).unwrap();
    assert_eq!(edges(&set.graphs, 0), [(0, 1, 1.0), (0, 2, 1.0), (1, 0, 1.0), (1, 1, 1.0), (2, 0, 1.0)]);
    refused("g.adjlist", "# nothing\n", Some(1), "a node and its neighbors in each line, found an empty file");
    let once = Conventions { duplicates: Duplicates::Error, ..Conventions::default() };
    let error = read_from("g.adjlist", &b"a b\na b\n"[..], &once, &ReadOptions::default()).unwrap_err().to_string();
    let want =
        "g.adjlist:2: expected each edge once, found the edge from node \"a\" to node \"b\" 2 times, on lines 1 and 2";
    assert_eq!(error, want);
    let latin = stream("g.adjlist", b"a \xff\n").map(|set| set.graphs).unwrap_err().to_string();
    assert!(latin.contains("UTF-8 text"), "{latin}");
}

#[test]
fn cytoscape_json_is_read() {
    // Cytoscape's export: ids are text, and `data` is not all of an element.
    let export = r#"{"format_version": "1.0", "data": {"name": "n"}, "directed": true, "elements": {"nodes": [{"data": {"id":
        "62", "shared_name": "YDL194W"}, "position": {"x": 1, "y": 2}, "selected": false}, {"data": {"id": "61"}}],
        "edges": [{"data": {"id": "64", "source": "62", "target": "61", "weight": 0.5}}]}}"#;
    assert_eq!(kept("g.cyjs", export), [(1, 0, 0.5)]);
    assert_eq!(parsed("g", export.as_bytes()).node_ids, Some(NodeIds::Integers(vec![61, 62])));
    assert_eq!(parsed("g", br#"{"elements": {"nodes": [{"data": {"id": "a"}}]}}"#).graphs.nodes(), 1);
    assert_eq!(parsed("g", br#"{"elements": []}"#).graphs.nodes(), 0);
    let change = |from: &str, to: &str| CYTOSCAPE.replacen(from, to, 1);
    for (content, words) in [
        (change("\"target\": 1", "\"target\": 9"), "found an edge of node \"9\""),
        (change("\"target\": 1", "\"to\": 1"), "expected the `target` of an edge, found none"),
        (change("{\"id\": \"4\"", "{\"id\": \"3\""), "expected each node once, found node \"3\" again"),
        (change("{\"id\": \"4\"", "{\"id\": \"4\", \"id\": 5"), "the key `id` twice"),
        (change("2.5", "-2.5"), "a weight that is finite and not negative"),
        (
            change("\"elements\"", "\"nodes\": [], \"elements\""),
            "nodes and edges in `elements` or beside it, found both",
        ),
        (change("\"elements\"", "\"elements\": [], \"elements\""), "nodes and edges in `elements` or beside it"),
        ("{\"elements\": 3}".to_owned(), "`elements` with nodes and edges"),
        ("{\"elements\": [3]}".to_owned(), "an object for a node or an edge"),
        ("{\"elements\": [{\"data\": 3}]}".to_owned(), "an object `data`"),
    ] {
        let error = stream("g.json", content.as_bytes()).map(|set| set.graphs).unwrap_err().to_string();
        assert!(error.contains(words), "{error} does not say {words:?}");
    }
}

#[test]
fn arrays_and_skew_symmetric_matrices_are_read() {
    // scipy 1.17.1, `mmwrite` of a dense and of a sparse skew-symmetric matrix.
    let dense = "%%MatrixMarket matrix array real skew-symmetric\n%\n5 5\n-2.5\n0\n0\n0\n-1\n1\n0\n0\n0\n0\n";
    let sparse = "%%MatrixMarket matrix coordinate real skew-symmetric\n%\n5 5 3\n2 1 -2.5\n3 2 -1\n4 2 1\n";
    for content in [dense, sparse] {
        // The positive entries are the edges.
        assert_eq!(kept("g.mtx", content), [(0, 1, 2.5), (1, 2, 1.0), (3, 1, 1.0)]);
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.mtx");
        fs::write(&path, content).unwrap();
        let matrix = read_matrix(&path).unwrap();
        assert_eq!(matrix.columns, [1, 0, 2, 3, 1, 1]);
        assert_eq!(matrix.values, [2.5, -2.5, 1.0, -1.0, -1.0, 1.0]);
        let error = read_symmetric_matrix(&path, 1e9).unwrap_err().to_string();
        assert!(error.contains("a.mtx:4: ") || error.contains("a.mtx:3: "), "{error}");
        assert!(error.contains("the entry of row 1 and column 2, 2.5, and across the diagonal -2.5"), "{error}");
    }
    // Column by column, and a wide matrix.
    let general = "%%MatrixMarket matrix array integer general\n2 2\n0\n3\n0\n4\n";
    let loops =
        Conventions { self_loops: SelfLoops::Keep, symmetrization: Symmetrization::Keep, ..Conventions::default() };
    let set = read_from("g.mtx", general.as_bytes(), &loops, &ReadOptions::default()).unwrap();
    assert_eq!(edges(&set.graphs, 0), [(1, 0, 3.0), (1, 1, 4.0)]);
    let folder = TempDir::new().unwrap();
    let wide = folder.path().join("w.mtx");
    fs::write(&wide, "%%MatrixMarket matrix array real general\n1 3\n1\n0\n-2\n").unwrap();
    let matrix = read_matrix(&wide).unwrap();
    assert_eq!((matrix.width, matrix.columns, matrix.values), (3, vec![0, 2], vec![1.0, -2.0]));
    let banner = |rest: &str| format!("%%MatrixMarket matrix {rest}\n");
    for (content, line, words) in [
        (
            banner("array real general") + "2 2\n1\n0\n0\n",
            5,
            "4 entries, as the size line has it, found the end after 3",
        ),
        (banner("array real general") + "1 1\n1\n0\n", 4, "no more than the 1 entries"),
        (banner("array real general") + "1 1 1\n1\n", 2, "a size line of rows and columns"),
        (banner("array real general") + "1 2\n1\n1\n", 2, "a square matrix"),
        (banner("array real general") + "1 1\n-1\n", 3, "a weight that is finite and not negative"),
        (banner("array real general") + "1 1\nnan\n", 3, "a weight that is finite and not negative"),
        (banner("array real general") + "1 1\n1 2\n", 3, "one value a line, as an array has them"),
        (banner("array real general") + "4000000000 4000000000\n1\n", 3, "entries, as the size line has it"),
        (banner("array pattern general") + "1 1\n", 1, "the field `real` or `integer`, as an array has it"),
        (banner("array real skew-symmetric") + "2 2\n--1\n", 3, "a weight that is finite and not negative"),
        (banner("coordinate real skew-symmetric") + "2 2 1\n1 1 1\n", 3, "entries off the diagonal, as skew-symmetric"),
        (
            banner("coordinate pattern skew-symmetric") + "2 2 1\n",
            1,
            "the symmetry `general` or `symmetric`, as a pattern",
        ),
        (banner("coordinate complex hermitian") + "2 2 1\n", 1, "found \"complex\"; complex numbers are not read"),
        (banner("coordinate real hermitian") + "2 2 1\n", 1, "found \"hermitian\"; complex numbers are not read"),
        (banner("coordinate real upper") + "2 2 1\n", 1, "`general`, `symmetric` or `skew-symmetric`, found \"upper\""),
        (banner("list real general") + "2 2 1\n", 1, "the layout `coordinate` or `array`, found \"list\""),
    ] {
        refused("g.mtx", &content, Some(line), words);
    }
    // One edge of two opposite entries is refused where both directions have to be listed.
    let both = Conventions { symmetrization: Symmetrization::Error, ..Conventions::default() };
    let error = read_from("g.mtx", sparse.as_bytes(), &both, &ReadOptions::default()).unwrap_err().to_string();
    let words = "g.mtx:4: expected each edge with its reverse, found the entry of row 1 and column 2 of weight 2.5";
    assert!(error.contains(words), "{error}");
}
