//! Tests of documents with several graphs: each has nodes of its own, and is the graph that it is alone.

use super::samples::{GML, GRAPHML};
use super::{edges, parsed, truth, words};
use fiedler::graph::{Conventions, Symmetrization};
use fiedler::io::{NodeIds, ReadOptions, read_from};

/// A triangle with other names, a graph without nodes, and a directed edge of weight 4.
const MORE: [&str; 2] = [
    r#"<graph edgedefault="undirected"><node id="a"/><node id="b"/><node id="1"/><edge source="a" target="b"/>
        <edge source="b" target="1"/><edge source="1" target="a"/></graph><graph edgedefault="directed"/>
        <graph id="last" edgedefault="directed"><node id="7"/><node id="1"/><edge source="7" target="1"><data
        key="d0">4</data></edge></graph>"#,
    "graph [ node [ id 0 label \"a\" ] node [ id 1 label \"b\" ] node [ id 2 label \"1\" ] edge [ source 0 target 1 ] \
     edge [ source 1 target 2 ] edge [ source 2 target 0 ] ] Version 1 graph [ ] graph [ directed 1 node [ id 7 ] \
     node [ id 1 ] edge [ source 7 target 1 weight 4 ] ]",
];

fn documents() -> [(&'static str, String); 2] {
    let graphml = GRAPHML.replacen("</graph>", &format!("</graph>{}", MORE[0]), 1);
    [("g.graphml", graphml), ("g.gml", format!("{GML}\n{}", MORE[1]))]
}

#[test]
fn the_graphs_of_a_document_are_a_batch() {
    for (name, content) in documents() {
        let set = parsed(name, content.as_bytes());
        assert_eq!(set.graphs.node_offsets(), [0, 5, 8, 8, 10], "{name}");
        assert_eq!(edges(&set.graphs, 0), edges(&truth(), 0), "{name}");
        let triangle = [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)].map(|(row, column)| (row, column, 1.0));
        assert_eq!(edges(&set.graphs, 1), triangle, "{name}");
        // Natural numbers are sorted in each graph. The directed edge from 7 to 1 is made undirected.
        assert_eq!(edges(&set.graphs, 3), [(0, 1, 4.0), (1, 0, 4.0)], "{name}");
        assert_eq!(set.node_ids, words(&["0", "1", "2", "3", "4", "a", "b", "1", "1", "7"]), "{name}");
        let keep = Conventions { symmetrization: Symmetrization::Keep, ..Conventions::default() };
        let set = read_from(name, content.as_bytes(), &keep, &ReadOptions::default()).unwrap();
        assert_eq!(edges(&set.graphs, 3), [(1, 0, 4.0)], "{name}");
    }
}

#[test]
fn names_are_numbers_or_none_if_all_are() {
    let graph = |ids: &[u32]| {
        let nodes: String = ids.iter().map(|id| format!("<node id=\"{id}\"/>")).collect();
        format!("<graph edgedefault=\"directed\">{nodes}</graph>")
    };
    let ids = |graphs: &[&[u32]]| {
        let graphs: String = graphs.iter().map(|ids| graph(ids)).collect();
        parsed("g.graphml", format!("<graphml>{graphs}</graphml>").as_bytes()).node_ids
    };
    assert_eq!(ids(&[&[0, 1, 2], &[1, 0], &[0]]), None);
    assert_eq!(ids(&[&[1, 0], &[9, 5], &[0]]), Some(NodeIds::Integers(vec![0, 1, 5, 9, 0])));
}

#[test]
fn a_refused_edge_is_named_in_its_own_graph() {
    let directed = "<graph edgedefault=\"directed\">\n<node id=\"0\"/><node id=\"1\"/>\n<edge source=\"0\" \
                    target=\"1\"/>\n</graph>\n";
    let undirected = directed.replace("<edge", "<edge directed=\"false\"");
    let content = format!("<graphml>\n{undirected}{directed}</graphml>");
    let strict = Conventions { symmetrization: Symmetrization::Error, ..Conventions::default() };
    let error = read_from("g.graphml", content.as_bytes(), &strict, &ReadOptions::default()).unwrap_err().to_string();
    let want = "g.graphml:8: expected each edge with its reverse, found the edge from node 0 to node 1 (graph 1), \
                whose reverse is not listed";
    assert_eq!(error, want);
}
