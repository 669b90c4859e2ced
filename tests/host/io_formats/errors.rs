//! Tests of faults in graph formats. Each is an error that names the file, the line where there is one, what was
//! expected and what was found.

use super::samples::{GEXF, GML, GRAPHML, NODE_LINK, arrays, floats, gzip, integers, npy, safetensors, scipy, stored};
use super::stream;
use fiedler::ErrorKind;
use fiedler::graph::{Conventions, Duplicates, Symmetrization};
use fiedler::io::{ReadOptions, read, read_from};
use std::fs;
use tempfile::TempDir;

/// Checks that the content is refused at a line, with some words.
fn refused(name: &str, content: impl AsRef<[u8]>, line: Option<u64>, words: &str) {
    let content = content.as_ref();
    let shown = || String::from_utf8_lossy(content).into_owned();
    let error = stream(name, content).map(|set| set.graphs).expect_err(&shown());
    let ErrorKind::Parse { path, line: at, .. } = error.kind() else { panic!("{error:?} is not of parsing") };
    assert!(path.starts_with(name), "{error}");
    assert_eq!(*at, line, "{error}");
    assert!(error.to_string().contains(words), "{error} does not say {words:?}");
}

#[test]
fn faults_in_node_link_json() {
    let node = |nodes: &str, edges: &str| format!("{{\"nodes\": [{nodes}],\n\"edges\": [{edges}]}}");
    for (content, line, words) in [
        ("{\"nodes\": []}".to_owned(), None, "JSON without a list `edges` or `links`"),
        ("{\"edges\": []}".to_owned(), None, "JSON without a list `nodes`"),
        ("{\"nodes\": [], \"adjacency\": []}".to_owned(), None, "found adjacency JSON; networkx.node_link_data"),
        ("{\"nodes\": [],\n\"edges\": [], \"links\": []}".to_owned(), Some(2), "found `edges` and then `links`"),
        ("{\"nodes\": [],\n\"nodes\": []}".to_owned(), Some(2), "expected the key `nodes` once"),
        ("{\"nodes\": 3}".to_owned(), Some(1), "a list of objects"),
        ("{\"nodes\": [3]}".to_owned(), Some(1), "an object for a node"),
        ("{\"directed\": 1}".to_owned(), Some(1), "expected a boolean"),
        (node("{\"id\": 1}, {\"id\": 1}", ""), Some(1), "expected each node once, found node \"1\" again"),
        (node("{\"id\": null}", ""), Some(1), "expected the `id` of a node, found \"null\""),
        (node("{\"id\": {}}", ""), Some(1), "expected the `id` of a node"),
        (node("{\"id\": 1}, {}", ""), Some(1), "expected an `id` of each node, or of none"),
        (node("{\"id\": 1}", "{\"source\": 1}"), Some(2), "expected the `target` of an edge, found none"),
        (node("{\"id\": 1}", "{\"source\": 1, \"source\": 1, \"target\": 1}"), Some(2), "the key `source` twice"),
        (
            node("{\"id\": 1}", "{\"source\": 1, \"target\": 2}"),
            None,
            "nodes that the file lists, found an edge of node",
        ),
        (node("{\"id\": 1}", "{\"source\": 1, \"target\": 1, \"weight\": -1}"), Some(2), "not negative, found -1"),
        (
            node("{\"id\": 1}", "{\"source\": 1, \"target\": 1, \"weight\": \"1\"}"),
            Some(2),
            "a weight that is a number",
        ),
        (node("{\"id\": 1}", "{\"source\": 1, \"target\": 1, \"weight\": NaN}"), Some(2), "expected JSON"),
        (format!("{NODE_LINK}\n\nx"), Some(3), "trailing characters"),
        (NODE_LINK[..100].to_owned(), Some(1), "EOF while parsing"),
        ("[".repeat(9), None, "JSON"),
        (format!("{{\"nodes\": [{{\"id\": {}", "[".repeat(1000)), Some(1), "recursion limit"),
    ] {
        refused("g.json", content, line, words);
    }
}

#[test]
fn faults_in_xml() {
    let graphml = |from: &str, to: &str| GRAPHML.replacen(from, to, 1);
    let node = "<node id=\"4\" />";
    for (content, line, words) in [
        (graphml("<graphml", "<!DOCTYPE graphml>\n<graphml"), Some(2), "XML without a document type"),
        (graphml(node, "<node id=\"&x;\"/>"), Some(9), "attributes as XML has them"),
        (graphml(">2.5<", ">&x;<"), Some(11), "found the entity \"x\""),
        (graphml("utf-8", "latin1"), Some(1), "expected text in UTF-8, found the encoding \"latin1\""),
        (graphml(node, "<node />"), Some(9), "expected <node> with the attribute id"),
        (graphml(node, "<node id=\"1\"/>"), Some(9), "expected each node once"),
        (graphml(node, "<node id=\"4\">"), Some(17), "well-formed XML"),
        (graphml("target=\"3\"", ""), Some(16), "<edge> with the attribute target"),
        (graphml("target=\"3\"", "target=\"9\""), Some(16), "found an edge of node \"9\""),
        (graphml(">2.5<", ">much<"), Some(11), "a weight that is finite and not negative, found \"much\""),
        (graphml(">2.5<", ">-2.5<"), Some(11), "a weight that is finite and not negative"),
        (graphml("undirected", "both"), Some(4), "the edgedefault `directed` or `undirected`, found both"),
        // Names are those of one graph: the second one has no node 1.
        (
            graphml("</graph>", "</graph><graph edgedefault=\"directed\"><edge source=\"1\" target=\"1\"/></graph>"),
            Some(17),
            "expected edges between nodes that the file lists, found an edge of node \"1\"",
        ),
        (graphml("<edge source=\"1\" target=\"3\"", "<hyperedge"), Some(16), "edges between two nodes"),
        (GRAPHML[..400].to_owned(), Some(6), ""),
        ("<graphml></graphml>".to_owned(), None, "a GraphML document with a <graph>"),
        ("<a><graphml/></a>".to_owned(), Some(1), "the element <graphml>"),
        (format!("<graphml>{}", "<a>".repeat(300)), Some(1), "at most 256 elements"),
    ] {
        refused("g.graphml", content, line, words);
    }
    let gexf = |from: &str, to: &str| GEXF.replacen(from, to, 1);
    for (content, line, words) in [
        (gexf("<gexf", "<!DOCTYPE gexf [<!ENTITY a \"b\">]>\n<gexf"), Some(2), "XML without a document type"),
        (gexf("\"undirected\"", "\"both\""), Some(6), "`directed`, `undirected` or `mutual`, found both"),
        (gexf("weight=\"2.5\"", "weight=\"x\""), Some(15), "a weight that is finite"),
        (gexf("target=\"2\"", "target=\"x\""), Some(16), "found an edge of node \"x\""),
        (gexf("<node id=\"4\"", "<node id=\"0\""), Some(12), "each node once"),
        ("<gexf/>".to_owned(), None, "a GEXF document with a <graph>"),
    ] {
        refused("g.gexf", content, line, words);
    }
    // Bytes that are no text are an error, wherever they are.
    let mut bytes = GRAPHML.as_bytes().to_vec();
    bytes[500] = 0xff;
    assert!(stream("g.graphml", &bytes).is_err());
}

#[test]
fn faults_in_gml() {
    let gml = |from: &str, to: &str| GML.replacen(from, to, 1);
    for (content, line, words) in [
        (gml("id 4", ""), Some(21), "expected a node with an id, found none"),
        (gml("id 4", "id 3"), Some(21), "expected each node once, found node \"3\" again"),
        (gml("id 4", "id 4 id 5"), Some(19), "expected the key id once"),
        (gml("target 3", ""), Some(35), "an edge with a source and a target"),
        (gml("target 3", "target 9"), Some(32), "found an edge of node \"9\""),
        (gml("weight 2.5", "weight -1"), Some(26), "a weight that is finite and not negative"),
        (gml("weight 2.5", "weight \"heavy\""), Some(26), "found \"heavy\""),
        (gml("graph [", "graph [ directed 2"), Some(1), "expected `directed` with 0 or 1, found 2"),
        (gml("label \"4\"", "label \"4"), Some(20), "the quote that ends this string"),
        (gml("target 3\n  ]\n]", "target 3\n"), Some(36), "a key, or the end of a list, found the end"),
        (gml("node [", "node 7"), Some(2), "expected a list for the key node, found \"7\""),
        (format!("{GML}graph [ edge [ source 1 target 1 ] ]"), Some(37), "found an edge of node \"1\""),
        (format!("{GML}graph 7"), Some(37), "expected a list for the key graph, found \"7\""),
        (format!("graph [ x {}", "[".repeat(300)), Some(1), "at most 256 lists"),
        (format!("graph [ {}", "x [ ".repeat(300)), Some(1), "at most 256 lists"),
        ("graph [ ] ]".to_owned(), Some(1), "expected a key, found \"]\""),
    ] {
        let words = words.replace("\"]\"", "]");
        refused("g.gml", content, line, &words);
    }
    let latin = [b"graph [ node [ id 1 label \"Z\xfcrich\" ] ]".to_vec()].concat();
    refused("g.gml", latin, Some(1), "expected UTF-8 text");
}

#[test]
fn faults_in_edge_arrays() {
    let index = |shape: &str, numbers: &[i64]| npy("<i8", shape, false, &integers(numbers));
    for (content, words) in [
        (index("(2, 2)", &[0, 1, 2, -1]), "nodes from 0 to 2^32 - 1, found -1 as element 3 of edge_index"),
        (index("(2, 1)", &[0, 1 << 40]), "nodes from 0 to 2^32 - 1"),
        (index("(2, 1)", &[0, 3_000_000_000]), "at most 16777280 nodes for 1 edges, since every number"),
        (index("(4,)", &[0, 1, 2, 3]), "integers of the shape (2, edges) or (edges, 2)"),
        (index("(3, 4)", &[0; 12]), "found the shape [3, 4]"),
        (index("(3, 3)", &[0; 9]), "a square matrix of the shape (3, 3)"),
        (index("(2, 3)", &[0; 5]), "48 bytes for the shape [2, 3]"),
        (index("(2, 3)", &[0; 7]), "48 bytes for the shape [2, 3]"),
        (index("(2, 99999999999999999999)", &[0; 7]), "an .npy header"),
        (index("(2, 4611686018427387904)", &[0; 7]), "a shape that memory holds"),
        (npy("<f4", "(2, 3)", false, &floats(&[0.0; 6])), "found the type f4"),
        (npy("<u8", "(2, 1)", false, &[0xff; 16]), "integers below 2^63"),
        (npy("|O", "(2, 1)", false, b"cos\nsystem\n"), "found the type O"),
    ] {
        refused("g.npy", content, None, words);
    }
    let with = |name: &'static str, array: Vec<u8>| {
        let mut members = arrays();
        members.retain(|(own, _)| *own != name);
        members.push((name, array));
        stored(&members)
    };
    let list = |numbers: &[i64]| index(&format!("({},)", numbers.len()), numbers);
    for (content, words) in [
        (with("num_nodes.npy", list(&[3])), "edges between the 3 nodes that the arrays state, found node 3"),
        (with("num_nodes.npy", list(&[5, 5])), "one number num_nodes, found 2 numbers"),
        (with("num_nodes.npy", list(&[1 << 40])), "nodes for 6 edges"),
        (with("num_nodes.npy", list(&[-5])), "nodes for 6 edges"),
        (with("ptr.npy", list(&[0, 2, 5])), "edges within one graph, found edge 2 from node 1 in graph 0 to node 2 in"),
        (with("ptr.npy", list(&[0, 6])), "6 nodes, as ptr or batch has them, found 5 in num_nodes"),
        (with("ptr.npy", list(&[0, 3_000_000_000])), "at most 16777728 nodes for 6 edges"),
        (with("ptr.npy", list(&[1, 5])), "a ptr that begins with 0 and never descends"),
        (with("ptr.npy", list(&[0, 5, 4, 5])), "a ptr that begins with 0 and never descends"),
        (with("batch.npy", list(&[0, 0, 0, 1, 0])), "0 as element 4"),
        (with("batch.npy", list(&[0, 0, 0, 0, 1 << 40])), "1099511627776 as element 4"),
        (with("edge_weight.npy", npy("<f4", "(5,)", false, &floats(&[1.0; 5]))), "a weight for each of the 6 edges"),
        (with("edge_weight.npy", npy("<f4", "(6,)", false, &floats(&[f32::NAN; 6]))), "found NaN as element 0"),
        (
            with("edge_weight.npy", npy("<f4", "(6,)", false, &floats(&[-1.0; 6]))),
            "found -1 as element 0 of edge_weight",
        ),
        (stored(&[("x.npy", list(&[1]))]), "an array edge_index of shape (2, edges), a scipy.sparse matrix"),
        (stored(&[("adj.npy", index("(2, 3)", &[0; 6]))]), "a square matrix"),
        (stored(&[("adj.npy", list(&[1]))]), "a square matrix"),
        (stored(&[("edge_index.npy", b"no array".to_vec())]), "expected an .npy file"),
    ] {
        refused("g.npz", content, None, words);
    }
    let tensor = |kind: &str, shape: &str, len: usize| safetensors(&[("edge_index", kind, shape, vec![0; len])]);
    for (content, words) in [
        (tensor("F32", "[2,3]", 24), "found the type F32"),
        (tensor("I64", "[2,2]", 24), "a tensor whose type, shape and offsets agree"),
        (tensor("I64", "[2,2]", 32)[..90].to_vec(), "a tensor whose type, shape and offsets agree"),
        (b"\x10\0\0\0\0\0\0\0{\"a\":{}}".to_vec(), "a safetensors file with its header, found a header of 16 bytes"),
    ] {
        refused("g.safetensors", content, None, words);
    }
}

#[test]
fn faults_in_scipy_matrices() {
    let with = |format: &str, name: &'static str, array: Option<Vec<u8>>| {
        let mut members = scipy(format);
        members.retain(|(own, _)| *own != name);
        members.extend(array.map(|array| (name, array)));
        stored(&members)
    };
    let list = |numbers: &[i64]| npy("<i8", &format!("({},)", numbers.len()), false, &integers(numbers));
    let text = |text: &str| Some(npy(&format!("|S{}", text.len()), "()", false, text.as_bytes()));
    for (content, words) in [
        (with("csr", "format.npy", text("bsr")), "the format csr, csc or coo, found the format bsr; matrix.tocsr()"),
        (with("csr", "format.npy", text("dia")), "found the format dia"),
        (with("csr", "format.npy", text("lil")), "found \"lil\""),
        (with("csr", "format.npy", Some(list(&[1]))), "text"),
        (with("csr", "shape.npy", Some(list(&[5, 4]))), "a square matrix, found 5 rows and 4 columns"),
        (with("csr", "shape.npy", Some(list(&[5]))), "a matrix with two axes"),
        (with("csr", "shape.npy", Some(list(&[-1, -1]))), "fewer than 2^32 rows"),
        (with("coo", "shape.npy", Some(list(&[1 << 31, 1 << 31]))), "rows for 6 entries, found 2147483648"),
        (with("csr", "indptr.npy", Some(list(&[0, 1, 4, 5, 6]))), "6 ascending offsets in indptr, from 0 to 6"),
        (with("csr", "indptr.npy", Some(list(&[0, 4, 1, 5, 6, 6]))), "ascending offsets in indptr"),
        (
            with("csr", "indices.npy", Some(list(&[0, 1, 2, 3, 4, 5]))),
            "indices from 0 on, below 5, found 5 as element 5",
        ),
        (with("coo", "row.npy", Some(list(&[0, 0, -1, 0, 0, 0]))), "found -1 as element 2"),
        (with("coo", "row.npy", Some(list(&[0, 0]))), "a value for each of the 2 entries"),
        (with("csr", "data.npy", Some(list(&[1]))), "a value for each of the 6 entries"),
        (with("csr", "data.npy", Some(npy("<c8", "(6,)", false, &[0; 48]))), "floats, integers or booleans"),
        (with("csr", "data.npy", Some(list(&[1, 1, 1, 1, 1, -1]))), "not negative, found -1 as element 5 of data"),
        (with("csr", "data.npy", None), "an array data, found none"),
        (with("coo", "col.npy", None), "an array col, found none"),
    ] {
        refused("g.npz", content, None, words);
    }
}

#[test]
fn faults_in_ogb_folders() {
    let error = |edges: &str, nodes: &str, counts: &str| {
        let folder = TempDir::new().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), gzip(text.as_bytes())).unwrap();
        write("edge.csv.gz", edges);
        write("num-node-list.csv.gz", nodes);
        write("num-edge-list.csv.gz", counts);
        read(folder.path(), &Conventions::default()).unwrap_err().to_string()
    };
    for (edges, nodes, counts, words) in [
        (
            "0,1\n",
            "2\n",
            "2\n",
            "edge.csv.gz:1: expected 2 edges of graph 0, as num-edge-list.csv has it, found the end",
        ),
        ("0,1\n0,1\n", "2\n", "1\n", "edge.csv.gz:2: expected the end, after the edges that num-edge-list.csv counts"),
        ("0,2\n", "2\n", "1\n", "edge.csv.gz:1: expected one of the 2 nodes of graph 0, counted from 0, found 2"),
        ("0;1\n", "2\n", "1\n", "edge.csv.gz:1: expected an edge"),
        ("0,1\n", "2\nx\n", "1\n", "num-node-list.csv.gz:2: expected a number for each graph, found \"x\""),
        ("0,1\n", "2\n", "1\n0\n", "num-edge-list.csv: expected a number of edges for each of the 1 graphs"),
        ("0,1\n", "9999999999\n", "1\n", "num-node-list.csv: expected at most"),
    ] {
        let said = error(edges, nodes, counts);
        assert!(said.contains(words), "{said} does not say {words:?}");
    }
}

/// An edge that the conventions refuse is named by the ids and the lines of the file.
#[test]
fn refused_edges_are_named_as_in_the_file() {
    let once = Conventions { duplicates: Duplicates::Error, ..Conventions::default() };
    let both = Conventions { symmetrization: Symmetrization::Error, ..Conventions::default() };
    let said = |name: &str, content: &[u8], conventions: &Conventions| {
        read_from(name, content, conventions, &ReadOptions::default()).unwrap_err().to_string()
    };
    let gml = "graph [\n directed 1\n node [ id 7 label \"a\" ]\n node [ id 8 label \"b\" ]\n edge [ source 7 target 8 ]\n \
               edge [ source 7 target 8 ] ]";
    assert_eq!(
        said("g.gml", gml.as_bytes(), &once),
        "g.gml:6: expected each edge once, found the edge from node \"a\" to node \"b\" 2 times, on lines 5 and 6"
    );
    let gml = gml.replace("edge [ source 7 target 8 ] ]", "]");
    let words =
        "g.gml:5: expected each edge with its reverse, found the edge from node \"a\" to node \"b\", whose reverse";
    assert!(said("g.gml", gml.as_bytes(), &both).contains(words));
    let json = NODE_LINK.replace("{\"source\": 1, \"target\": 3}", "{\"source\": 0, \"target\": 1}");
    assert_eq!(
        said("g.json", json.as_bytes(), &once),
        "g.json: expected each edge once, found the edge from node 0 to node 1 2 times, on edges 0 and 2"
    );
    let index = npy("<i8", "(2, 3)", false, &integers(&[0, 1, 0, 1, 0, 1]));
    let words = "the edge from node 0 to node 1 2 times, on edges 0 and 2";
    assert!(said("g.npy", &index, &once).contains(words));
    let folder = TempDir::new().unwrap();
    for (name, text) in
        [("edge.csv", "0,1\n1,0\n1,2\n"), ("num-node-list.csv", "2\n3\n"), ("num-edge-list.csv", "2\n1\n")]
    {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let error = read(folder.path(), &both).unwrap_err().to_string();
    let words =
        "edge.csv:3: expected each edge with its reverse, found the edge from node 1 to node 2 (graph 1), whose";
    assert!(error.contains(words), "{error}");
}
