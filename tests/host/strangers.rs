//! Graphs as people's files have them: what other readers lose, refuse or take for something else.

use fiedler::graph::Conventions;
use fiedler::io::{DataSet, NodeIds, ReadOptions, read_from};

fn read(name: &str, content: &str) -> fiedler::Result<DataSet> {
    read_from(name, content.as_bytes(), &Conventions::default(), &ReadOptions::default())
}

fn parsed(name: &str, content: &str) -> DataSet {
    read(name, content).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The ids of the nodes as words.
fn ids(set: &DataSet) -> Vec<String> {
    match &set.node_ids {
        Some(NodeIds::Integers(ids)) => ids.iter().map(ToString::to_string).collect(),
        Some(NodeIds::Text(ids)) => ids.clone(),
        None => (0..set.graphs.nodes()).map(|node| node.to_string()).collect(),
    }
}

/// The edges from the lower to the higher place, with their weights.
fn edges(set: &DataSet) -> Vec<(usize, usize, f64)> {
    let graph = set.graphs.graph(0);
    let all = (0..graph.nodes()).flat_map(|row| graph.row(row).map(move |(column, weight)| (row, column, weight)));
    all.filter(|(row, column, _)| row <= column).collect()
}

#[test]
fn strings_of_several_lines_in_gml() {
    let set = parsed(
        "a.gml",
        "Creator \"a program\nof two lines\"\ngraph [\n  comment \"edge [\n source 7 target 8 ]\"\n  node [ id 3 label \"one\ntwo\" ]\n  \
         node [ id 4 label \"b\" ]\n  edge [ source 3 target 4 value 2 ]\n]\n",
    );
    assert_eq!((ids(&set), edges(&set)), (vec!["one\ntwo".to_owned(), "b".to_owned()], vec![(0, 1, 2.0)]));
}

#[test]
fn ids_beyond_64_bits_are_kept() {
    let (one, other) = ("9223372036854775808", "123456789012345678901234567890");
    let set = parsed("a.txt", &format!("{one} {other}\n{other} 5\n"));
    let found = ids(&set);
    assert!([one, other, "5"].iter().all(|id| found.iter().any(|found| found == id)), "{found:?}");
    assert_eq!((found.len(), edges(&set).len()), (3, 2));
}

/// A frame of pandas whose columns have other names than those of ends, with its index.
#[test]
fn an_index_of_pandas_is_no_end() {
    for (content, weights) in [(",a,b\n7,0,1\n3,1,2\n", [1.0, 1.0]), (",a,b,c\n7,0,1,0.5\n3,1,2,2\n", [0.5, 2.0])] {
        let set = parsed("a.csv", content);
        assert_eq!(edges(&set), [(0, 1, weights[0]), (1, 2, weights[1])]);
    }
}

/// The mark of a comment within an id is a part of it.
#[test]
fn addresses_with_fragments_are_ids() {
    let set = parsed("a.txt", "http://a.org/x#1 http://a.org/x#2\nhttp://a.org/x#2 http://b.org/#\n");
    assert_eq!(ids(&set), ["http://a.org/x#1", "http://a.org/x#2", "http://b.org/#"]);
    assert_eq!(edges(&set), [(0, 1, 1.0), (1, 2, 1.0)]);
}

#[test]
fn a_byte_order_mark_is_no_part_of_an_id() {
    for content in ["\u{feff}0 1\n1 2\n", "\u{feff}src,dst\n0,1\n1,2\n", "\u{feff}# a comment\n0\t1\n1\t2\r\n"] {
        let set = parsed("a.txt", content);
        assert_eq!((set.graphs.nodes(), edges(&set)), (3, vec![(0, 1, 1.0), (1, 2, 1.0)]), "{content:?}");
    }
}

#[test]
fn tables_of_gephi_have_more_columns() {
    let set = parsed("a.csv", "Source,Target,Type,Id,Label,Weight\na,b,Undirected,0,,2.5\nb,c,Undirected,1,,1\n");
    assert_eq!((ids(&set).join(" "), edges(&set)), ("a b c".to_owned(), vec![(0, 1, 2.5), (1, 2, 1.0)]));
}

/// KONECT: comments with the sizes, then ids from 1 and a weight. A time beside them is refused in words.
#[test]
fn files_of_konect_have_weights() {
    let set = parsed("out.x", "% sym weighted\n% 2 3 3\n1 2 4\n2 3 1\n");
    assert_eq!((set.graphs.nodes(), edges(&set)), (3, vec![(0, 1, 4.0), (1, 2, 1.0)]));
    let error = read("out.x", "% sym weighted\n% 2 3 3\n1 2 4 1000000000\n2 3 1 1000000001\n").expect_err("a time");
    let words = error.to_string();
    assert!(words.contains("out.x:3") && words.contains("fourth column") && words.contains("leave it out"), "{words}");
}

#[test]
fn a_graph_within_a_node_of_graphml_is_a_part_of_it() {
    let set = parsed(
        "a.graphml",
        "<graphml><graph edgedefault=\"undirected\"><node id=\"a\"><graph edgedefault=\"undirected\"><node id=\"b\"/>\
         <node id=\"c\"/><edge source=\"b\" target=\"c\"/></graph></node><edge source=\"a\" target=\"b\"/></graph></graphml>",
    );
    assert_eq!((set.graphs.len(), set.graphs.nodes(), edges(&set).len()), (1, 3, 2));
}

/// Entities of a document type may expand without end, or read other files.
#[test]
fn entities_are_refused() {
    let error = read(
        "a.graphml",
        "<?xml version=\"1.0\"?><!DOCTYPE graphml [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><graphml><graph \
         edgedefault=\"undirected\"><node id=\"&x;\"/></graph></graphml>",
    )
    .expect_err("an entity");
    let words = error.to_string();
    assert!(words.contains("a.graphml") && words.to_lowercase().contains("document type"), "{words}");
}
