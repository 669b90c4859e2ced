//! Tests of how the readers treat common variants of graph files: headers with counts, timestamps instead
//! of weights, networkx's dictionaries, and edge attributes. Each interpretation has to be reported.

mod columns;

use fiedler::ErrorKind;
use fiedler::graph::{Conventions, Duplicates, Symmetrization, WeightsRef};
use fiedler::io::{DataSet, NodeIds, ReadOptions, read, read_symmetric_matrix, read_with};
use std::fs;
use tempfile::TempDir;

fn read_as(name: &str, content: impl AsRef<[u8]>, conventions: &Conventions) -> fiedler::Result<DataSet> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    read(&path, conventions)
}

fn parsed(content: &str) -> DataSet {
    read_as("g.txt", content, &Conventions::default()).unwrap_or_else(|error| panic!("{content:?}: {error}"))
}

/// Returns the undirected edges of the only graph, with the node ids of the file.
fn edges(set: &DataSet) -> Vec<(String, String, f64)> {
    let graph = set.graphs.graph(0);
    let all = (0..graph.nodes()).flat_map(|row| graph.row(row).map(move |(column, weight)| (row, column, weight)));
    let all = all.filter(|&(row, column, _)| row < column);
    all.map(|(row, column, weight)| (id(set, row), id(set, column), weight)).collect()
}

fn id(set: &DataSet, node: usize) -> String {
    match &set.node_ids {
        None => node.to_string(),
        Some(NodeIds::Integers(ids)) => ids[node].to_string(),
        Some(NodeIds::Text(ids)) => ids[node].clone(),
    }
}

fn listed(set: &DataSet) -> Vec<String> {
    edges(set).iter().map(|(a, b, _)| format!("{a}-{b}")).collect()
}

/// Checks that there is exactly one notice, which begins with the file and the line and has the given
/// words.
fn assert_notice(set: &DataSet, line: Option<u64>, words: &str) {
    let [notice] = &set.notices[..] else { panic!("one notice with {words:?}, not {:?}", set.notices) };
    let place = line.map_or("g.txt: ".to_owned(), |line| format!("g.txt:{line}: "));
    assert!(notice.contains(&place) && notice.contains(words) && notice.ends_with('.'), "{notice} lacks {words:?}");
}

fn assert_parse_error(error: &fiedler::Error, name: &str, line: Option<u64>, words: &str) {
    let ErrorKind::Parse { path, line: at, .. } = error.kind() else { panic!("{error:?} is not of parsing") };
    assert!(path.ends_with(name), "{} is not {name}: {error}", path.display());
    assert_eq!(*at, line, "{error}");
    assert!(error.to_string().contains(words), "{error} does not say {words:?}");
}

/// Returns the edges of the complete graph K4, with node ids from `first` on and without a header.
fn k4(first: u32) -> String {
    let pairs = (0..4).flat_map(|a| (a + 1..4).map(move |b| (a + first, b + first)));
    pairs.map(|(a, b)| format!("{a} {b}\n")).collect()
}

#[test]
fn a_header_of_nodes_and_edges_is_not_an_edge() {
    for (first, ids) in [(0, None), (1, Some(NodeIds::Integers((1..=4).collect())))] {
        for head in ["4 6", "4\t6", "# c\n\n4 6", "4,6", "4 4 6"] {
            let set = parsed(&format!("{head}\n{}", k4(first)));
            assert_eq!((set.graphs.nodes(), set.graphs.entries(), &set.node_ids), (4, 12, &ids), "{head:?}");
            assert_notice(&set, Some(if head.starts_with('#') { 3 } else { 1 }), "was read as a header");
        }
    }
    // The other rows have another number of columns, so the first row can only be a header.
    let set = parsed("3 2\n0 1 0.5\n1 2 2\n");
    assert_eq!(edges(&set), [("0".into(), "1".into(), 0.5), ("1".into(), "2".into(), 2.0)]);
    let set = parsed("3 2\n0,1,0.5\n1,2,2\n");
    assert_eq!(edges(&set).len(), 2);
    // The ids are not consecutive, but their number is the one in the header.
    let set = parsed("4 6\n10 20\n10 30\n10 40\n20 30\n20 40\n30 40\n");
    assert_eq!(set.node_ids, Some(NodeIds::Integers(vec![10, 20, 30, 40])));
    assert_notice(&set, Some(1), "6 edges among 4 nodes");
    let set = parsed("4 6\na b\na c\na d\nb c\nb d\nc d\n");
    assert_eq!((set.graphs.nodes(), set.graphs.entries()), (4, 12));
    assert_notice(&set, Some(1), "was read as a header");
    // The numbers in a tree's header are ids as well.
    let set = parsed("5 4\n0 1\n1 2\n2 3\n3 4\n");
    assert_eq!(listed(&set), ["0-1", "1-2", "2-3", "3-4"]);
    assert_notice(&set, Some(1), "if it is an edge, move it below another one");
}

#[test]
fn a_header_adds_nodes_without_edges() {
    let set = parsed(&format!("6 6\n{}", k4(0)));
    assert_eq!((set.graphs.nodes(), set.graphs.graph(0).components().count, set.node_ids.clone()), (6, 3, None));
    assert_notice(&set, Some(1), "ids 0 to 5; 2 without any edge");
    let set = parsed(&format!("6 6\n{}", k4(2)));
    assert_eq!(set.node_ids, Some(NodeIds::Integers((1..=6).collect())));
    assert_eq!(listed(&set)[0], "2-3");
    // If the two numbers of the first line were ids, the ids would be 0 to 3 and 5, with a gap. As a
    // header, they match 3 edges, and explain the gap as a node without edges.
    let set = parsed("5 3\n0 1\n1 2\n2 3\n");
    assert_eq!((set.graphs.nodes(), listed(&set)), (5, vec!["0-1".to_owned(), "1-2".into(), "2-3".into()]));
    assert_eq!(parsed("6 3\n1 2\n2 3\n3 4\n").node_ids, Some(NodeIds::Integers((1..=6).collect())));
    // A count in a header may be wrong, so no memory is allocated for a count that is out of proportion
    // to the file.
    let error = read_as("g.txt", format!("4000000000 6\n{}", k4(0)), &Conventions::default()).unwrap_err();
    assert_parse_error(&error, "g.txt", Some(1), "at most 16777600 nodes for 6 edges");
}

#[test]
fn a_doubtful_first_line_remains_an_edge_and_is_reported() {
    for (content, nodes) in [
        // The number of edges matches, but the ids do not.
        ("5 3\n10 20\n20 30\n30 10\n", 5),
        // The ids match, but the number of edges does not.
        ("4 9\n0 1\n1 2\n2 3\n", 6),
        // Nothing suggests a header except that neither number occurs again.
        ("90 80\n1 2\n2 3\n", 5),
        // There is only one other line, so the matching number of edges may be a coincidence.
        ("3 1\n1 2\n", 3),
        ("2 1\n1 x\n", 3),
        ("gene protein\nTP53 MDM2\nTP53 ATM\n", 5),
        ("50 60\na b\nb c\n", 5),
        ("4 4 9\n0 1 1\n1 2 1\n", 4),
    ] {
        let set = parsed(content);
        assert_eq!(set.graphs.nodes(), nodes, "{content:?}");
        assert_notice(&set, Some(1), "was read as an edge");
        assert!(set.notices[0].contains("put # before it"), "{}", set.notices[0]);
    }
    for plain in
        ["0 1\n1 2\n", "0 1\n2 3\n", "34 33\n33 1\n1 34\n2 1\n", "1 2\n", "a b\n", "a b\nb c\n", "7 5 2\n5 3 1\n"]
    {
        assert_eq!(parsed(plain).notices, [""; 0], "{plain:?}");
    }
    let error = read_as("g.txt", "9 5\n0 1 2\n1 2 2\n", &Conventions::default()).unwrap_err();
    assert_parse_error(&error, "g.txt", Some(1), "a header that fits: 2 edges among 3 ids follow, found \"9 5\"");
}

#[test]
fn a_lone_count_is_of_nodes_or_of_edges() {
    let set = parsed("5\n0 1\n1 2\n2 3\n");
    assert_eq!((set.graphs.nodes(), set.graphs.entries(), set.node_ids.clone()), (5, 6, None));
    assert_notice(&set, Some(1), "number of nodes, which the ids fit (ids 0 to 4; 1 without any edge)");
    let set = parsed("4\n1 2 0.5\n2 3 1\n3 4 1\n");
    assert_eq!((set.graphs.nodes(), set.node_ids.clone()), (4, Some(NodeIds::Integers(vec![1, 2, 3, 4]))));
    let set = parsed("# c\n3\n10,20\n20,30\n30,40\n");
    assert_eq!(listed(&set), ["10-20", "20-30", "30-40"]);
    assert_notice(&set, Some(2), "number of edges");
    // The first line may be a count of nodes or a count of edges. The two readings differ, so no isolated
    // nodes are added.
    let set = parsed("5\n0 1\n1 2\n2 3\n3 0\n0 2\n");
    assert_eq!(set.graphs.nodes(), 4);
    assert_notice(&set, Some(1), "as that of nodes it would mean 1 node without any");
    assert_eq!(parsed("2\na b\nb c\n").graphs.nodes(), 3);
    assert_eq!(parsed("3\n0 1\n1 2\n2 0\n").graphs.nodes(), 3);
    for (content, line, words) in [
        ("7\n10 20\n20 30\n", 1, "the number of edges or nodes: 2 edges among 3 ids follow, found \"7\""),
        ("7\na b\n", 1, "1 edge among 2 ids follow"),
        ("7\n", 1, "expected two ids and perhaps a weight"),
        ("7\n8\n0 1\n", 2, "expected two ids and perhaps a weight"),
        ("x\n0 1\n", 1, "expected two ids and perhaps a weight"),
        ("99999999999\n0 1\n", 1, "at most 16777280 nodes"),
    ] {
        let error = read_as("g.txt", content, &Conventions::default()).unwrap_err();
        assert_parse_error(&error, "g.txt", Some(line), words);
    }
}

#[test]
fn three_words_above_weights_are_a_header_without_commas_too() {
    let set = parsed("protein1 protein2 combined_score\np.A p.B 490\np.B p.C 200\n");
    assert_eq!(edges(&set), [("p.A".into(), "p.B".into(), 490.0), ("p.B".into(), "p.C".into(), 200.0)]);
    let error = read_as("g.txt", "one two three\na b\n", &Conventions::default()).unwrap_err();
    assert_parse_error(&error, "g.txt", Some(2), "expected two ids and a weight");
}

/// The file has a line for each direction of an edge, and its header counts each edge once.
#[test]
fn a_header_may_count_edges_without_their_directions() {
    let ring = |first: u32, space: &str, weight: &str| -> String {
        let line = |a: u32, b: u32| format!("{}{space}{}{weight}\n", a + first, b + first);
        let lines = (0..6).map(|i| line(i, (i + 1) % 6) + &line((i + 1) % 6, i));
        format!("6{space}6\n{}", lines.collect::<String>())
    };
    for (content, ids) in [
        (ring(0, " ", ""), None),
        (ring(1, ",", ""), Some(NodeIds::Integers((1..=6).collect()))),
        (ring(0, " ", " 2"), None),
        (ring(0, ";", ";0,5"), None),
    ] {
        let set = parsed(&content);
        assert_eq!((set.graphs.nodes(), set.graphs.entries(), &set.node_ids), (6, 12, &ids), "{content}");
        assert_notice(&set, Some(1), "6 edges among 6 nodes follow, in both directions");
    }
    let set = parsed("3 2\na b\nb a\nb c\nc b\n");
    assert_eq!((set.graphs.nodes(), set.graphs.entries()), (3, 4));
    assert_notice(&set, Some(1), "was read as a header: 2 edges among 3 nodes follow, in both directions");
    // The file has a path in both directions, and its first line has the numbers that a header would
    // have.
    let set = parsed("4 3\n1 2\n2 1\n2 3\n3 2\n3 4\n");
    assert_eq!((set.graphs.nodes(), set.graphs.entries()), (4, 6));
    assert_notice(&set, Some(1), "was read as an edge; if it is a header, put # before it: 5 edges among 4 ids follow");
}

#[test]
fn a_file_that_may_list_edges_or_neighbors_is_reported() {
    // As lists of neighbors, these files would be a ring of four nodes, and a graph with a node without
    // neighbors.
    for (content, counts) in
        [("4 4\n2 4\n1 3\n2 4\n1 3\n", "4 nodes and 4 edges"), ("5 4\n2 4\n1 3\n2 4\n1 3\n\n", "5 nodes and 4 edges")]
    {
        let set = parsed(content);
        assert_notice(&set, Some(1), &format!("the file is a METIS graph of {counts} just as well"));
        assert!(set.notices[0].contains(" of an edge list, but"), "{}", set.notices[0]);
    }
    let ring = "4 4\n1 2\n2 3\n3 4\n4 1\n";
    assert_notice(&parsed(ring), Some(1), "was read as a header: 4 edges among 4 nodes follow");
}

/// Weights such as those of `exp(-D / (2 s^2))` far from the diagonal.
#[test]
fn weights_that_f32_does_not_hold_are_kept() {
    let weights = |set: &DataSet| edges(set).into_iter().map(|(.., weight)| weight).collect::<Vec<_>>();
    for (text, want) in [
        ("0 1 4.3e-56\n1 2 0.1\n", [4.3e-56, 0.1]),
        ("a b 1e-60\nb c 1e300\n", [1e-60, 1e300]),
        ("0;1;0,1\n1;2;5\n", [0.1, 5.0]),
        ("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1e-60\n3 2 0.3\n", [1e-60, 0.3]),
    ] {
        let set = parsed(text);
        assert_eq!((weights(&set), set.notices.len()), (want.to_vec(), 0), "{text:?}");
    }
    let folder = set_of("1, 2\n2, 1\n", "1\n1\n", Some("1e-60\n1e-60\n"));
    let found =
        read_with(folder.path(), &Conventions::default(), &ReadOptions::default().edge_weight_column(1)).unwrap();
    assert_eq!((weights(&found), found.notices.len()), (vec![1e-60], 0));
}

#[test]
fn timestamps_instead_of_weights_are_reported() {
    let set = parsed("0 1 1217567877\n1 2 1217606247\n");
    assert_notice(&set, None, "timestamps");
    assert_notice(&parsed("a b 1217567877\nb c 1217606247\n"), None, "timestamps");
    assert_eq!(parsed("0 1 1217567877\n1 2 5\n").notices, [""; 0]);
    let market = "%%MatrixMarket matrix coordinate integer symmetric\n2 2 1\n2 1 1217567877\n";
    assert_notice(&parsed(market), None, "timestamps");
}

/// The output of write_edgelist in networkx 3.6 for Graph([(1, 2), (2, 3)]), with and without weights.
#[test]
fn edge_data_of_networkx_are_read() {
    let of = |a: &str, b: &str, weight: f64| (a.to_owned(), b.to_owned(), weight);
    for (content, want) in [
        ("1 2 {}\n2 3 {}\n", [of("1", "2", 1.0), of("2", "3", 1.0)]),
        ("1 2 {'weight': 3.0}\n2 3 {'weight': 1}\n", [of("1", "2", 3.0), of("2", "3", 1.0)]),
        ("1 2 {}\n2 3 {'weight': 2.5}\n", [of("1", "2", 1.0), of("2", "3", 2.5)]),
        ("1,2,{'weight': 3.0}\n2,3,{}\n", [of("1", "2", 3.0), of("2", "3", 1.0)]),
        ("a\tb\t{}\nb\tc\t{'weight': 4.0}\n", [of("a", "b", 1.0), of("b", "c", 4.0)]),
        ("3 2\n1 2 {}\n2 3 {}\n", [of("1", "2", 1.0), of("2", "3", 1.0)]),
        ("1;2;{'weight': 3.0}\n2;3;{}\n", [of("1", "2", 3.0), of("2", "3", 1.0)]),
        // Other keys are ignored.
        (
            "1 2 {'weight': 3.0, 'capacity': 12}\n2 3 {'color': (1, 2), 'weight': 0.5}\n",
            [of("1", "2", 3.0), of("2", "3", 0.5)],
        ),
        (
            "1 2 {'a': \"it's, 'weight': 9\", 'b': {'weight': 8}, \"weight\": 2}\n2 3 {'a': 'x\\'}', 'weight': 4}\n",
            [of("1", "2", 2.0), of("2", "3", 4.0)],
        ),
    ] {
        assert_eq!(edges(&parsed(content)), want, "{content:?}");
    }
    for (content, line, words) in [
        ("1 2 {}\n2 3 {'color': 'red'}\n", 2, "found the edge data {'color': 'red'}, as networkx.write_edgelist"),
        ("1 2 {'color': 'red', 'weights': 2}\n", 1, "edge data with a weight, such as {'weight': 3.0}"),
        ("1 2 {'weight': nan}\n", 1, "a weight that is finite and not negative, found \"nan\""),
        ("1 2 {'weight': -1}\n", 1, "a weight that is finite"),
        ("1 2 {'weight': None}\n", 1, "a weight that is finite"),
        ("1 2 {'weight': '3'}\n", 1, "a weight that is finite"),
        ("1 2 {'weight': }\n", 1, "found nothing"),
        ("1 2 {}\n2 3\n", 2, "two ids and edge data as networkx writes it"),
        ("1 2 {}\n2 3 4\n", 2, "two ids and edge data as networkx writes it"),
        ("1 2 4\n2 3 {}\n", 2, "two ids and a weight, as in the lines before"),
        ("1 2 {\n", 1, "a weight that is finite"),
    ] {
        let error = read_as("g.txt", content, &Conventions::default()).unwrap_err();
        assert_parse_error(&error, "g.txt", Some(line), words);
    }
}

#[test]
fn refused_edges_have_the_ids_and_lines_of_the_file() {
    let both = Conventions { symmetrization: Symmetrization::Error, ..Conventions::default() };
    let once = Conventions { duplicates: Duplicates::Error, ..Conventions::default() };
    let sum = Conventions { duplicates: Duplicates::Sum, ..Conventions::default() };
    let market = "%%MatrixMarket matrix coordinate";
    for (content, conventions, line, words) in [
        ("# c\n30 7\n7 30\n7 100\n", both, 4, "found the edge from node 7 to node 100, whose reverse is not listed"),
        // The reader notices that the reverse of an edge is missing, and reports the line of the edge.
        ("100 7 2\n30 7 1\n7 30 1\n", both, 1, "the edge from node 100 to node 7 of weight 2, whose reverse is not"),
        (
            "zoe adam 2\nadam zoe 3\n",
            both,
            1,
            "from node \"zoe\" to node \"adam\" of weight 2, and its reverse on line 2 of weight 3",
        ),
        ("0 1\n1 0\n1 2\n", both, 3, "the edge from node 1 to node 2, whose"),
        ("4 6\n1 2\n1 3\n1 4\n2 3\n2 4\n3 4\n", both, 2, "from node 1 to node 2"),
        ("5 8\n\n8 5\n5 8\n5 8\n", once, 4, "found the edge from node 5 to node 8 3 times, on lines 1, 4 and 5"),
        (
            "5 8 1e308\n5 8 1e308\n",
            sum,
            1,
            "a 64-bit float holds, found the edge from node 5 to node 8, on lines 1 and 2",
        ),
        (&format!("{market} pattern general\n3 3 1\n% c\n3 1\n"), both, 4, "the entry of row 3 and column 1, whose"),
        (&format!("{market} pattern symmetric\n3 3 2\n3 1\n1 3\n"), once, 4, "2 times, on lines 3 and 4"),
    ] {
        let error = read_as("g.txt", content, &conventions).unwrap_err();
        assert_parse_error(&error, "g.txt", Some(line), words);
    }
    let folder = set_of("1, 2\n2, 1\n\n3, 4\n", "1\n1\n2\n2\n", None);
    let error = read(folder.path(), &both).unwrap_err();
    assert_parse_error(
        &error,
        "DS_A.txt",
        Some(4),
        "the edge from node 3 to node 4 (graph 2), whose reverse is not listed",
    );
}

#[test]
fn a_matrix_that_has_to_be_symmetric_says_where_it_is_not() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("m.mtx");
    let head = "%%MatrixMarket matrix coordinate real general\n3 3";
    for (rest, line, words) in [
        ("2\n1 1 4\n1 3 2\n", 4, "found the entry of row 1 and column 3, 2, and none across the diagonal"),
        ("2\n3 1 5\n1 3 2\n", 4, "row 1 and column 3, 2, and across the diagonal 5"),
        ("1\n2 2 1e300\n", 3, "at most 3.4028234663852886e38, found the entry of row 2 and column 2, 1e300"),
    ] {
        fs::write(&path, format!("{head} {rest}")).unwrap();
        assert_parse_error(&read_symmetric_matrix(&path, f32::MAX.into()).unwrap_err(), "m.mtx", Some(line), words);
    }
    fs::write(&path, format!("{head} 3\n1 3 -2\n3 1 -2\n2 2 1\n")).unwrap();
    assert_eq!(read_symmetric_matrix(&path, f64::MAX).unwrap().values, [-2.0, 1.0, -2.0]);
}

/// Writes a data set named DS in the TUDataset format to a new folder.
fn set_of(adjacency: &str, indicator: &str, attributes: Option<&str>) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("DS_A.txt"), adjacency).unwrap();
    fs::write(folder.path().join("DS_graph_indicator.txt"), indicator).unwrap();
    if let Some(attributes) = attributes {
        fs::write(folder.path().join("DS_edge_attributes.txt"), attributes).unwrap();
    }
    folder
}

#[test]
fn edge_attributes_are_weights_by_name_or_reported_as_ignored() {
    let (adjacency, indicator) = ("1, 2\n2, 1\n\n3, 2\n2, 3\n", "1\n1\n1\n");
    let conventions = Conventions::default();
    let column = |column| ReadOptions::default().edge_weight_column(column);
    let folder = set_of(adjacency, indicator, Some("7, 0.5\n7, 0.5\n8, 2\r\n\n8, 2\n"));
    let found = read(folder.path(), &conventions).unwrap();
    assert_eq!(found.graphs.weights(), None);
    let [notice] = &found.notices[..] else { panic!("{:?}", found.notices) };
    assert!(notice.contains("DS_edge_attributes.txt: ") && notice.contains("--edge-weight-column N"), "{notice}");
    for (number, want) in [(1, [7.0, 7.0, 8.0, 8.0]), (2, [0.5, 0.5, 2.0, 2.0])] {
        let found = read_with(folder.path(), &conventions, &column(number)).unwrap();
        assert_eq!((found.graphs.weights(), &found.notices[..]), (Some(WeightsRef::F32(&want)), &[][..]));
    }
    for (attributes, number, line, words) in [
        (None, 1, None, "expected the file that edge weights are to be read from, found no file"),
        (Some("1\n1\n1\n"), 1, Some(3), "a line for each edge, and one is on line 5 of "),
        (Some("1\n1\n1\n1\n\n1\n"), 1, Some(6), "the end, after a line for each of the 4 edges"),
        (Some("1\n1\n1\n1\n"), 2, Some(1), "expected a column 2, found 1 in the line"),
        (Some("1,1\n1\n1\n1\n"), 1, Some(2), "expected 2 columns, as in the lines before, found 1"),
        (Some("1\n-1\n1\n1\n"), 1, Some(2), "a weight that is finite and not negative, found \"-1\""),
        (Some("1\nnan\n1\n1\n"), 1, Some(2), "a weight that is finite"),
        (Some("1\n1\n1\nheavy\n"), 1, Some(4), "found \"heavy\""),
        (Some("1,\n1,1\n1,1\n1,1\n"), 2, Some(1), "found nothing"),
        (Some("\x1f\u{8}\0"), 1, None, "found a binary file"),
    ] {
        let folder = set_of(adjacency, indicator, attributes);
        let error = read_with(folder.path(), &conventions, &column(number)).unwrap_err();
        assert_parse_error(&error, "DS_edge_attributes.txt", line, words);
    }
    let error = read_with(folder.path(), &conventions, &column(0)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{error:?}");
    let path = folder.path().join("g.txt");
    fs::write(&path, "0 1 2\n").unwrap();
    let error = read_with(&path, &conventions, &column(1)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Domain { .. }) && error.to_string().contains("an edge list"), "{error}");
}

/// Labels and the attributes of nodes do not affect a Laplacian, and cause no notice.
#[test]
fn labels_cause_no_notice() {
    let folder = set_of("1, 2\n2, 1\n", "1\n1\n", None);
    for name in ["node_labels", "edge_labels", "node_attributes", "graph_labels", "graph_attributes"] {
        fs::write(folder.path().join(format!("DS_{name}.txt")), "1\n1\n").unwrap();
    }
    assert_eq!(read(folder.path(), &Conventions::default()).unwrap().notices, [""; 0]);
}
