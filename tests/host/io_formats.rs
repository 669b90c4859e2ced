//! Tests of the formats of graphs other than plain text, of compressed files, streams and archives. The same graph is
//! the same batch, whatever its format.

mod archives;
mod cancel;
mod damage;
mod digits;
mod errors;
mod fuzz;
mod graph6;
mod lists;
mod samples;
mod several;
mod several_files;

use fiedler::graph::{Conventions, EdgeList, GraphBatch, Preset, SelfLoops, Symmetrization};
use fiedler::io::{DataSet, Format, NodeIds, ReadOptions, TableTargets, read, read_from, read_with};
use samples::{
    CYTOSCAPE, DIMACS, EDGES, GEXF, GML, GRAPHML, MARKET_ARRAY, METIS, NODE_LINK, PAJEK, SOURCES, TARGETS, WEIGHTS,
    all, arrays, deflated, doubles, floats, gzip, index, int32, integers, npy, ogb, pairs, safetensors, scipy, stored,
    tensors, unweighted, zstd,
};
use std::fs;
use tempfile::TempDir;

/// Reads bytes as a stream of the given name.
fn stream(name: &str, content: &[u8]) -> fiedler::Result<DataSet> {
    read_from(name, content, &Conventions::default(), &ReadOptions::default())
}

fn parsed(name: &str, content: &[u8]) -> DataSet {
    stream(name, content).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The graph of the samples, made without any reader.
fn truth() -> GraphBatch {
    weighted(&WEIGHTS.map(f64::from))
}

/// The graph of the samples with other weights.
fn weighted(weights: &[f64; 6]) -> GraphBatch {
    let mut edges = EdgeList::new(5).unwrap();
    for ((source, target), weight) in SOURCES.iter().zip(TARGETS).zip(weights) {
        edges.push_weighted(u32::try_from(*source).unwrap(), u32::try_from(target).unwrap(), *weight);
    }
    GraphBatch::from_edge_list(edges, &Conventions::default()).unwrap()
}

/// The edges of a graph in both directions, with their weights.
fn edges(graphs: &GraphBatch, graph: usize) -> Vec<(usize, usize, f64)> {
    let graph = graphs.graph(graph);
    (0..graph.nodes()).flat_map(|row| graph.row(row).map(move |(column, weight)| (row, column, weight))).collect()
}

/// The graph of the samples without its weights.
fn plain() -> GraphBatch {
    let mut edges = EdgeList::new(5).unwrap();
    for (source, target) in [(0, 1), (1, 2), (1, 3)] {
        edges.push(source, target);
    }
    GraphBatch::from_edge_list(edges, &Conventions::default()).unwrap()
}

fn words(list: &[&str]) -> Option<NodeIds> {
    Some(NodeIds::Text(list.iter().map(|&word| word.to_owned()).collect()))
}

#[test]
fn a_graph_is_the_same_by_every_road() {
    let (folder, want) = (TempDir::new().unwrap(), truth());
    for (name, content) in all() {
        for (name, content) in [
            (name.to_owned(), content.clone()),
            (format!("{name}.gz"), gzip(&content)),
            (format!("{name}.zst"), zstd(&content)),
            // The bytes decide, not the name.
            (name.to_owned(), gzip(&zstd(&content))),
            (format!("{name}.gz"), content.clone()),
        ] {
            let path = folder.path().join(&name);
            fs::write(&path, &content).unwrap();
            for set in [read(&path, &Conventions::default()), stream(&name, &content)] {
                let set = set.unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(set.graphs, want, "{name}");
                assert_eq!(set.node_ids, None, "{name}");
            }
        }
    }
}

#[test]
fn a_graph_without_weights_is_the_same_in_every_format() {
    for (name, content) in unweighted() {
        for (name, content) in [(name.to_owned(), content.clone()), (format!("{name}.gz"), gzip(&content))] {
            let set = parsed(&name, &content);
            assert_eq!((set.graphs, set.node_ids), (plain(), None), "{name}");
            assert!(set.notices.is_empty() || name.starts_with("u.txt"), "{name}: {:?}", set.notices);
        }
    }
}

#[test]
fn the_name_of_a_data_set_has_no_ending() {
    for (name, content, want) in [
        ("facebook.txt.gz", gzip(EDGES.as_bytes()), "facebook"),
        ("net.v2.GML.ZST", zstd(GML.as_bytes()), "net.v2"),
        ("data/cora.npz", stored(&arrays()), "cora"),
        ("standard input", EDGES.as_bytes().to_vec(), "standard input"),
    ] {
        assert_eq!(parsed(name, &content).name, want);
    }
}

#[test]
fn formats_are_detected_by_content() {
    for (content, want) in [
        (EDGES.as_bytes().to_vec(), Format::EdgeList),
        (NODE_LINK.as_bytes().to_vec(), Format::NodeLink),
        (GRAPHML.as_bytes().to_vec(), Format::GraphMl),
        (GEXF.as_bytes().to_vec(), Format::Gexf),
        (GML.as_bytes().to_vec(), Format::Gml),
        (CYTOSCAPE.as_bytes().to_vec(), Format::NodeLink),
        (MARKET_ARRAY.as_bytes().to_vec(), Format::MatrixMarket),
        (PAJEK.as_bytes().to_vec(), Format::Pajek),
        (DIMACS.as_bytes().to_vec(), Format::Dimacs),
        (METIS.as_bytes().to_vec(), Format::Metis),
        (format!("\u{feff}{GML}").into_bytes(), Format::Gml),
        (format!("\u{feff}{NODE_LINK}").into_bytes(), Format::NodeLink),
        (format!("\u{feff}{GRAPHML}").into_bytes(), Format::GraphMl),
        (format!("# a comment\nVersion 1\nComment \"x\"\n{GML}").into_bytes(), Format::Gml),
        (index(), Format::Arrays),
        (stored(&arrays()), Format::Arrays),
        (tensors(), Format::Arrays),
        (stored(&scipy("csr")), Format::ScipySparse),
    ] {
        assert_eq!(parsed("data", &content).format, want);
    }
}

#[test]
fn an_edge_index_may_lie_either_way() {
    let both = [SOURCES, TARGETS].concat();
    let big: Vec<u8> = both.iter().flat_map(|&node| i32::try_from(node).unwrap().to_be_bytes()).collect();
    let bytes: Vec<u8> = both.iter().map(|&node| u8::try_from(node).unwrap()).collect();
    let want = parsed("g.txt", b"0 1\n1 2\n1 3\n").graphs;
    for (descr, shape, by_columns, data) in [
        ("<i8", "(2, 6)", false, integers(&both)),
        ("<i8", "(6, 2)", false, integers(&pairs())),
        ("<i8", "(2, 6)", true, integers(&pairs())),
        ("<i8", "(6, 2)", true, integers(&both)),
        (">i4", "(2, 6)", false, big),
        ("|u1", "(2, 6)", false, bytes),
    ] {
        let set = parsed("g.npy", &npy(descr, shape, by_columns, &data));
        assert_eq!((set.graphs, set.notices), (want.clone(), vec![]), "{descr} {shape} {by_columns}");
    }
    // With two edges, both readings are possible: PyG's counts.
    let set = parsed("g.npy", &npy("<i8", "(2, 2)", false, &integers(&[0, 1, 2, 3])));
    assert_eq!(edges(&set.graphs, 0), [(0, 2, 1.0), (1, 3, 1.0), (2, 0, 1.0), (3, 1, 1.0)]);
    assert!(set.notices[0].contains("the shape (2, 2), and its rows were read as the sources"), "{:?}", set.notices);
}

#[test]
fn arrays_may_have_several_graphs() {
    let with = |more: &[(&'static str, Vec<u8>)]| {
        let index = ("edge_index.npy", npy("<i8", "(2, 3)", false, &integers(&[0, 3, 4, 1, 4, 5])));
        parsed("g.npz", &stored(&[&[index], more].concat())).graphs
    };
    let batch = with(&[("batch.npy", npy("<i8", "(7,)", false, &integers(&[0, 0, 2, 2, 2, 2, 3])))]);
    assert_eq!(batch.node_offsets(), [0, 2, 2, 6, 7]);
    assert_eq!(edges(&batch, 2), [(1, 2, 1.0), (2, 1, 1.0), (2, 3, 1.0), (3, 2, 1.0)]);
    let ptr = with(&[("ptr.npy", npy("<i8", "(5,)", false, &integers(&[0, 2, 2, 6, 7])))]);
    assert_eq!(ptr, batch);
    // The Open Graph Benchmark counts the nodes of each graph from 0.
    let index = ("edge_index.npy", npy("<i8", "(2, 3)", false, &integers(&[0, 1, 2, 1, 2, 3])));
    let counts =
        |name, numbers: &[i64]| (name, npy("<i8", &format!("({},)", numbers.len()), false, &integers(numbers)));
    let lists = [index, counts("num_nodes_list.npy", &[2, 0, 4, 1]), counts("num_edges_list.npy", &[1, 0, 2, 0])];
    assert_eq!(parsed("data.npz", &deflated(&lists)).graphs, batch);
}

#[test]
fn arrays_that_are_not_read_are_reported() {
    let features = npy("<f4", "(5, 1)", false, &floats(&[0.0; 5]));
    let wide = npy("<f4", "(6, 2)", false, &floats(&[0.0; 12]));
    let mut members = vec![("edge_index.npy", index()), ("x.npy", features), ("edge_attr.npy", wide)];
    let set = parsed("g.npz", &stored(&members));
    assert_eq!(set.graphs.weights(), None);
    let said = set.notices.join("\n");
    assert!(
        said.contains("these arrays were not read: x.") && said.contains("edge_attr of the shape [6, 2]"),
        "{said}"
    );
    members[2] = ("edge_attr.npy", npy("<f4", "(6, 1)", false, &floats(&WEIGHTS)));
    members.push(("num_nodes.npy", npy("<i4", "(1,)", false, &int32(&[5]))));
    assert_eq!(parsed("g.npz", &stored(&members)).graphs, truth());
}

#[test]
fn a_dense_matrix_is_read_by_its_name_alone() {
    let mut dense = [0.0; 25];
    for ((source, target), weight) in SOURCES.iter().zip(TARGETS).zip(WEIGHTS) {
        dense[usize::try_from(5 * source + target).unwrap()] = f64::from(weight);
    }
    let matrix = npy("<f8", "(5, 5)", false, &doubles(&dense));
    for name in ["adjacency.npy", "adj.npy"] {
        assert_eq!(parsed("g.npz", &deflated(&[(name, matrix.clone())])).graphs, truth());
    }
    let tensors = safetensors(&[("adjacency", "F64", "[5,5]", doubles(&dense))]);
    assert_eq!(parsed("g.safetensors", &tensors).graphs, truth());
    // In column-major order, the transpose is stored.
    let matrix = npy("<f8", "(2, 2)", true, &doubles(&[0.0, 3.0, 0.0, 0.0]));
    let scipy = Preset::Scipy.conventions();
    let set = read_from("g.npz", &stored(&[("adj.npy", matrix.clone())])[..], &scipy, &ReadOptions::default()).unwrap();
    assert_eq!(edges(&set.graphs, 0), [(1, 0, 3.0)]);
    let error = stream("g.npy", &npy("<f8", "(5, 5)", false, &doubles(&dense))).unwrap_err().to_string();
    assert!(
        error.contains("found a square matrix of the shape (5, 5); a dense adjacency matrix is read by"),
        "{error}"
    );
}

#[test]
fn directions_and_names_are_kept() {
    let keep = Preset::Scipy.conventions();
    let ids = words(&["Zoë & \"co\"", "b", "a<c>"]);
    let want = [(0, 1, 3.0), (1, 0, 1.0), (1, 2, 1.0)];
    let graphml = r#"<graphml xmlns:g="x"><key id="d0" for="edge" attr.name="weight" attr.type="long"/>
        <graph edgedefault="directed"><node id="Zo&#235; &amp; &quot;co&quot;"/><node id="b"/><node id="a&lt;c&gt;"/>
        <edge source="Zoë &amp; &quot;co&quot;" target="b"><data key="d0"> 3 </data></edge>
        <edge source="b" target="Zoë &amp; &quot;co&quot;"><data key="d0"><![CDATA[1]]></data></edge>
        <edge source="b" target="a&lt;c&gt;"/></graph></graphml>"#;
    let gexf = r#"<gexf><graph defaultedgetype="directed"><attributes class="edge"><attribute id="7" title="Weight"/>
        </attributes><nodes><node id="Zoë &amp; &quot;co&quot;"/><node id="b"/><node id="a&lt;c&gt;"/></nodes><edges>
        <edge id="0" source="Zoë &amp; &quot;co&quot;" target="b"><attvalues><attvalue for="7" value="3"/></attvalues>
        </edge><edge id="1" source="b" target="Zoë &amp; &quot;co&quot;" weight="1"/>
        <edge id="2" source="b" target="a&lt;c&gt;"/></edges></graph></gexf>"#;
    let gml = "graph [\n  directed 1\n  node [\n    id 0\n    label \"Zo&#235; &#38; &#34;co&#34;\"\n  ]\n  node [\n    \
               id 1\n    label \"b\"\n  ]\n  node [\n    id 2\n    label \"a<c>\"\n  ]\n  edge [\n    source 0\n    \
               target 1\n    weight 3\n  ]\n  edge [\n    source 1\n    target 0\n    weight 1\n  ]\n  edge [\n    \
               source 1\n    target 2\n  ]\n]\n";
    let json = r#"{"directed": true, "multigraph": false, "graph": {}, "nodes": [{"id": "Zo\u00eb & \"co\""}, {"id": "b"},
        {"id": "a<c>"}], "edges": [{"weight": 3, "source": "Zo\u00eb & \"co\"", "target": "b"}, {"weight": 1, "source":
        "b", "target": "Zo\u00eb & \"co\""}, {"source": "b", "target": "a<c>"}]}"#;
    for content in [graphml, gexf, gml, json] {
        let set = read_from("h", content.as_bytes(), &keep, &ReadOptions::default()).unwrap();
        assert_eq!(edges(&set.graphs, 0), want, "{content}");
        assert_eq!(set.node_ids, ids, "{content}");
        // An undirected edge counts in both directions, even where the conventions keep edges as they are listed.
        let undirected = content
            .replace("\"directed\": true", "\"directed\": false")
            .replace("directed 1", "directed 0")
            .replace("\"directed\"", if content.starts_with('{') { "\"directed\"" } else { "\"undirected\"" });
        let set = read_from("h", undirected.as_bytes(), &keep, &ReadOptions::default()).unwrap();
        let (one, sum) = (edges(&set.graphs, 0), [(0, 1, 4.0), (1, 0, 4.0), (1, 2, 1.0), (2, 1, 1.0)]);
        assert_eq!(one, sum, "{undirected}");
    }
}

#[test]
fn an_undirected_edge_counts_once_where_directions_are_added_up() {
    let sum =
        Conventions { symmetrization: Symmetrization::Sum, self_loops: SelfLoops::Keep, ..Conventions::default() };
    // The edge 0 - 1 of weight 2 in both directions, which are parallel edges, the edge 1 - 2, and a loop of weight 3.
    let graphml = r#"<graphml><key id="w" for="edge" attr.name="weight"/><graph edgedefault="undirected"><node id="0"/>
        <node id="1"/><node id="2"/><edge source="1" target="0"><data key="w">2</data></edge><edge source="0"
        target="1"><data key="w">2</data></edge><edge source="1" target="2"/><edge source="2" target="2"><data
        key="w">3</data></edge></graph></graphml>"#;
    let gexf = r#"<gexf><graph><nodes><node id="0"/><node id="1"/><node id="2"/></nodes><edges><edge source="1"
        target="0" weight="2"/><edge source="0" target="1" weight="2"/><edge source="1" target="2"/><edge source="2"
        target="2" weight="3"/></edges></graph></gexf>"#;
    let gml = "graph [ node [ id 0 ] node [ id 1 ] node [ id 2 ] edge [ source 1 target 0 weight 2 ] edge [ source 0 \
               target 1 weight 2 ] edge [ source 1 target 2 ] edge [ source 2 target 2 weight 3 ] ]";
    let json = r#"{"directed": false, "nodes": [{"id": 0}, {"id": 1}, {"id": 2}], "edges": [{"source": 1, "target": 0,
        "weight": 2}, {"source": 0, "target": 1, "weight": 2}, {"source": 1, "target": 2}, {"source": 2, "target": 2,
        "weight": 3}]}"#;
    for content in [graphml, gexf, gml, json] {
        let set = read_from("h", content.as_bytes(), &sum, &ReadOptions::default()).unwrap();
        let want = [(0, 1, 2.0), (1, 0, 2.0), (1, 2, 1.0), (2, 1, 1.0), (2, 2, 3.0)];
        assert_eq!(edges(&set.graphs, 0), want, "{content}");
        let max = Conventions { symmetrization: Symmetrization::Max, ..sum };
        let set = read_from("h", content.as_bytes(), &max, &ReadOptions::default()).unwrap();
        assert_eq!(edges(&set.graphs, 0), want, "{content}");
    }
}

#[test]
fn variants_that_other_programs_write_are_read() {
    // igraph and yEd: prefixes, edges that state their direction, a default weight, keys of other things.
    let graphml = r#"<g:graphml xmlns:g="x"><g:key id="n" for="node" attr.name="weight"/><g:key id="w" for="edge"
        attr.name="weight"><g:default>2</g:default></g:key><g:key id="y" for="edge" yfiles.type="edgegraphics"/>
        <g:graph edgedefault="directed"><g:node id="n0"><g:data key="n">9</g:data><g:graph edgedefault="undirected">
        <g:node id="n0::n1"/></g:graph></g:node><g:edge source="n0" target="n0::n1" directed="false"><g:data
        key="y"/></g:edge></g:graph></g:graphml>"#;
    let set = parsed("g.graphml", graphml.as_bytes());
    assert_eq!((edges(&set.graphs, 0), set.node_ids), (vec![(0, 1, 2.0), (1, 0, 2.0)], words(&["n0", "n0::n1"])));
    // networkx: a key for integers and one for floats.
    let two = GRAPHML
        .replace("<graph ", "<key id=\"d1\" for=\"edge\" attr.name=\"weight\" attr.type=\"long\" />\n<graph ")
        .replace("<data key=\"d0\">1.0<", "<data key=\"d1\">1<");
    assert_eq!(parsed("g.graphml", two.as_bytes()).graphs, truth());
    // Newman's collection: no labels, `value`, several graphs' worth of other keys.
    let newman = "Creator \"Mark Newman on Fri Jul 21 12:39:27 2006\"\ngraph\n[\n  node\n  [\n    id 1\n  ]\n  node\n  [\n \
                  id 2\n graphics [ x 1.0 y [ z -2 ] ]\n ]\n  edge\n  [\n    source 2\n    target 1\n    value 0.5\n ]\n]\n";
    let set = parsed("g.gml", newman.as_bytes());
    assert_eq!(edges(&set.graphs, 0), [(0, 1, 0.5), (1, 0, 0.5)]);
    assert_eq!(set.node_ids, Some(NodeIds::Integers(vec![1, 2])));
    // Labels that are not unique are no names.
    let alike =
        "graph [ node [ id 5 label \"J. Smith\" ] node [ id 3 label \"J. Smith\" ] edge [ source 3 target 5 ] ]";
    let set = parsed("g.gml", alike.as_bytes());
    assert_eq!(set.node_ids, Some(NodeIds::Integers(vec![3, 5])));
    assert!(set.notices[0].contains("several nodes have the label \"J. Smith\""), "{:?}", set.notices);
    // networkx: tuples as ids. D3: places instead of ids, and `value`.
    let tuples = r#"{"nodes": [{"id": [0, 0]}, {"id": [0, 1]}], "links": [{"source": [0, 0], "target": [0, 1]}]}"#;
    assert_eq!(parsed("t.json", tuples.as_bytes()).node_ids, words(&["[0,0]", "[0,1]"]));
    let d3 = r#"{"links": [{"source": 2, "target": 0, "value": 8}], "nodes": [{"name": "a"}, {"name": "b"}, {}]}"#;
    let set = parsed("d3.json", d3.as_bytes());
    assert_eq!((edges(&set.graphs, 0), set.node_ids), (vec![(0, 2, 1.0), (2, 0, 1.0)], None));
    assert!(set.notices[0].contains("`value` was not read"), "{:?}", set.notices);
    // Mixed ids are text, and numbers are sorted.
    let mixed = r#"{"directed": true, "nodes": [{"id": 2}, {"id": "x"}], "edges": [{"source": "x", "target": 2}]}"#;
    assert_eq!(parsed("m.json", mixed.as_bytes()).node_ids, words(&["2", "x"]));
    let sorted = mixed.replace("\"x\"", "1");
    assert_eq!(parsed("m.json", sorted.as_bytes()).node_ids, Some(NodeIds::Integers(vec![1, 2])));
    // Older scipy writes the format as text in UTF-32, and newer scipy may write one array of coordinates.
    let mut old = scipy("csr");
    let name: Vec<u8> = "csr".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    old[2] = ("format.npy", npy("<U3", "()", false, &name));
    assert_eq!(parsed("old.npz", &stored(&old)).graphs, truth());
    let mut new = scipy("coo");
    new[0] = ("coords.npy", npy("<i4", "(2, 6)", false, &int32(&[SOURCES, TARGETS].concat())));
    new.remove(1);
    assert_eq!(parsed("new.npz", &stored(&new)).graphs, truth());
}

#[test]
fn labels_of_an_ogb_folder_are_read_if_they_are_asked_for() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("raw")).unwrap();
    for (name, content) in ogb() {
        fs::write(folder.path().join(name), content).unwrap();
    }
    let options = ReadOptions::default().graph_labels();
    let read = |options: &ReadOptions| read_with(folder.path(), &Conventions::default(), options);
    assert_eq!(read(&options).unwrap().labels, TableTargets::None);
    let labeled = |labels: &str| {
        fs::write(folder.path().join("raw/graph-label.csv.gz"), gzip(labels.as_bytes())).unwrap();
        read(&options).map(|set| (set.labels, set.notices))
    };
    let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
    for (labels, want) in [
        ("1\n0\n", TableTargets::Labels(vec![1, 0], names(["0", "1"]))),
        ("-1\r\n7.0\r\n", TableTargets::Labels(vec![0, 1], names(["-1", "7.0"]))),
        ("-0.77\n3\n", TableTargets::Values(vec![-0.77, 3.0], 1)),
    ] {
        assert_eq!(labeled(labels).unwrap(), (want, Vec::new()), "{labels:?}");
    }
    for (labels, notice) in [
        ("1,0\n,1\n", "these labels of 2 tasks were not read."),
        ("1\nnan\n", "these labels were not read: the one of graph 1 is missing."),
    ] {
        let (none, notices) = labeled(labels).unwrap();
        assert_eq!(none, TableTargets::None);
        assert!(notices[0].contains("graph-label.csv.gz: ") && notices[0].ends_with(notice), "{notices:?}");
    }
    for (labels, parts) in [
        ("1\n", ["graph-label.csv.gz", "a label for each of the 2 graphs, found 1 labels"]),
        ("1\n0\n1\n", ["graph-label.csv.gz:3", "the end, after a label for each of the 2 graphs"]),
        ("1\nactive\n", ["graph-label.csv.gz:2", "a finite number, found \"active\""]),
    ] {
        let error = labeled(labels).unwrap_err().to_string();
        parts.iter().for_each(|part| assert!(error.contains(part), "{labels:?}: {error}"));
    }
    // An encoding needs no labels, so damaged ones do not matter to it.
    assert_eq!(read(&ReadOptions::default()).unwrap().labels, TableTargets::None);
}

#[test]
fn an_ogb_folder_is_found_by_itself_and_by_raw() {
    let folder = TempDir::new().unwrap();
    let set = folder.path().join("ogbg_toy");
    fs::create_dir_all(set.join("raw")).unwrap();
    for (name, content) in ogb() {
        fs::write(set.join(name), content).unwrap();
    }
    for path in [set.clone(), set.join("raw")] {
        let found = read(&path, &Conventions::default()).unwrap();
        assert_eq!((found.name.as_str(), found.format), ("ogbg_toy", Format::Ogb));
        assert_eq!(found.graphs.node_offsets(), [0, 3, 6]);
        assert_eq!(edges(&found.graphs, 0), [(0, 1, 1.0), (1, 0, 1.0), (1, 2, 1.0), (2, 1, 1.0)]);
        assert_eq!(edges(&found.graphs, 1), [(0, 1, 1.0), (1, 0, 1.0)]);
        assert!(found.notices.is_empty());
    }
    fs::write(set.join("raw/edge-feat.csv.gz"), gzip(b"1\n")).unwrap();
    let notices = read(&set, &Conventions::default()).unwrap().notices;
    assert!(notices[0].contains("edge-feat.csv.gz: these features of edges were not read"), "{notices:?}");
}

#[test]
fn a_pipe_is_read_as_a_file_is() {
    // A file of the system that is no regular file, and is at its end at once.
    let error = read(std::path::Path::new("/dev/null"), &Conventions::default()).unwrap_err();
    assert!(error.to_string().contains("expected at least one edge"), "{error}");
    let small = ReadOptions::default().memory_budget(10);
    let error = read_from("standard input", EDGES.as_bytes(), &Conventions::default(), &small).unwrap_err();
    assert!(matches!(error.kind(), fiedler::ErrorKind::Limit { allowed: 10, .. }), "{error}");
    assert!(error.to_string().contains("bytes of standard input; a larger FIEDLER_MEMORY_BUDGET"), "{error}");
}
