//! One small graph in every format, byte for byte as the libraries write it that have these formats.
//!
//! The graph has the nodes 0 to 4 and the edges 0-1 of weight 2.5, 1-2 and 1-3 of weight 1; node 4 has no edge.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{Cursor, Write};
use zip::write::FileOptions;
use zip::{CompressionMethod, ZipWriter};

/// networkx 3.6.1, `node_link_data(graph, edges="edges")`.
pub(super) const NODE_LINK: &str = r#"{"directed": false, "multigraph": false, "graph": {}, "nodes": [{"id": 0}, {"id": 1}, {"id": 2}, {"id": 3}, {"id": 4}], "edges": [{"weight": 2.5, "source": 0, "target": 1}, {"weight": 1.0, "source": 1, "target": 2}, {"source": 1, "target": 3}]}"#;

/// networkx 3.6.1, `write_graphml(graph)`.
pub(super) const GRAPHML: &str = r#"<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
  <key id="d0" for="edge" attr.name="weight" attr.type="double" />
  <graph edgedefault="undirected">
    <node id="0" />
    <node id="1" />
    <node id="2" />
    <node id="3" />
    <node id="4" />
    <edge source="0" target="1">
      <data key="d0">2.5</data>
    </edge>
    <edge source="1" target="2">
      <data key="d0">1.0</data>
    </edge>
    <edge source="1" target="3" />
  </graph>
</graphml>
"#;

/// networkx 3.6.1, `write_gexf(graph)`.
pub(super) const GEXF: &str = r#"<?xml version='1.0' encoding='utf-8'?>
<gexf xmlns="http://www.gexf.net/1.2draft" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.gexf.net/1.2draft http://www.gexf.net/1.2draft/gexf.xsd" version="1.2">
  <meta lastmodifieddate="2026-11-26">
    <creator>NetworkX 3.6.1</creator>
  </meta>
  <graph defaultedgetype="undirected" mode="static" name="">
    <nodes>
      <node id="0" label="0" />
      <node id="1" label="1" />
      <node id="2" label="2" />
      <node id="3" label="3" />
      <node id="4" label="4" />
    </nodes>
    <edges>
      <edge source="0" target="1" id="0" weight="2.5" />
      <edge source="1" target="2" id="1" weight="1.0" />
      <edge source="1" target="3" id="2" />
    </edges>
  </graph>
</gexf>
"#;

/// networkx 3.6.1, `write_gml(graph)`.
pub(super) const GML: &str = "graph [
  node [
    id 0
    label \"0\"
  ]
  node [
    id 1
    label \"1\"
  ]
  node [
    id 2
    label \"2\"
  ]
  node [
    id 3
    label \"3\"
  ]
  node [
    id 4
    label \"4\"
  ]
  edge [
    source 0
    target 1
    weight 2.5
  ]
  edge [
    source 1
    target 2
    weight 1.0
  ]
  edge [
    source 1
    target 3
  ]
]
";

pub(super) const MARKET: &str = "%%MatrixMarket matrix coordinate real symmetric\n5 5 3\n2 1 2.5\n3 2 1\n4 2 1\n";
/// An edge list with a line of the numbers of nodes and edges.
pub(super) const EDGES: &str = "5 3\n0 1 2.5\n1 2 1\n1 3 1\n";

/// scipy 1.17.1, `mmwrite` of a dense array.
pub(super) const MARKET_ARRAY: &str =
    "%%MatrixMarket matrix array real symmetric\n%\n5 5\n0\n2.5\n0\n0\n0\n0\n1\n1\n0\n0\n0\n0\n0\n0\n0\n";

/// networkx 3.6.1, `write_pajek(graph)`.
pub(super) const PAJEK: &str = "*vertices 5
1 0 0.0 0.0 ellipse
2 1 0.0 0.0 ellipse
3 2 0.0 0.0 ellipse
4 3 0.0 0.0 ellipse
5 4 0.0 0.0 ellipse
*edges
1 2 2.5
2 3 1.0
2 4 1.0
";

/// networkx 3.6.1, `cytoscape_data(graph)`.
pub(super) const CYTOSCAPE: &str = r#"{"data": [], "directed": false, "multigraph": false, "elements": {"nodes": [{"data": {"id": "0", "value": 0, "name": "0"}}, {"data": {"id": "1", "value": 1, "name": "1"}}, {"data": {"id": "2", "value": 2, "name": "2"}}, {"data": {"id": "3", "value": 3, "name": "3"}}, {"data": {"id": "4", "value": 4, "name": "4"}}], "edges": [{"data": {"weight": 2.5, "source": 0, "target": 1}}, {"data": {"weight": 1.0, "source": 1, "target": 2}}, {"data": {"source": 1, "target": 3}}]}}"#;

/// A shortest-path problem, which lists both directions as arcs.
pub(super) const DIMACS: &str = "c a graph\np sp 5 6\na 1 2 2.5\na 2 1 2.5\na 2 3 1\na 3 2 1\na 2 4 1\na 4 2 1\n";

/// A METIS graph with weights of edges.
pub(super) const METIS: &str = "% a graph\n5 3 001\n2 2.5\n1 2.5 3 1 4 1\n2 1\n2 1\n\n";

/// networkx 3.6.1, `write_adjlist(graph)`.
pub(super) const ADJACENCY: &str = "#-c\n# GMT Sun Nov 29 15:42:27 2026\n# \n0 1\n1 2 3\n2\n3\n4\n";

/// The edges in both directions, as PyG has them.
pub(super) const SOURCES: [i64; 6] = [0, 1, 1, 1, 2, 3];
pub(super) const TARGETS: [i64; 6] = [1, 0, 2, 3, 1, 1];
pub(super) const WEIGHTS: [f32; 6] = [2.5, 2.5, 1.0, 1.0, 1.0, 1.0];

/// Returns an `.npy` file as numpy writes it: the header fills 128 bytes.
pub(super) fn npy(descr: &str, shape: &str, by_columns: bool, data: &[u8]) -> Vec<u8> {
    let order = if by_columns { "True" } else { "False" };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}").into_bytes();
    header.resize(117, b' ');
    header.push(b'\n');
    [&b"\x93NUMPY\x01\0v\0"[..], &header, data].concat()
}

pub(super) fn integers(numbers: &[i64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

pub(super) fn int32(numbers: &[i64]) -> Vec<u8> {
    numbers.iter().flat_map(|&number| i32::try_from(number).unwrap().to_le_bytes()).collect()
}

pub(super) fn floats(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

pub(super) fn doubles(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

pub(super) fn index() -> Vec<u8> {
    npy("<i8", "(2, 6)", false, &integers(&[SOURCES, TARGETS].concat()))
}

/// The ends of each edge beside each other: the transpose.
pub(super) fn pairs() -> Vec<i64> {
    SOURCES.iter().zip(TARGETS).flat_map(|(&source, target)| [source, target]).collect()
}

/// Returns a zip archive.
pub(super) fn zip(members: &[(&str, Vec<u8>)], method: CompressionMethod) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        archive.start_file(*name, FileOptions::default().compression_method(method)).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

pub(super) fn stored(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    zip(members, CompressionMethod::Stored)
}

pub(super) fn deflated(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    zip(members, CompressionMethod::Deflated)
}

/// The arrays of PyG's `Data`, as `numpy.savez` names them.
pub(super) fn arrays() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("edge_index.npy", index()),
        ("edge_weight.npy", npy("<f4", "(6,)", false, &floats(&WEIGHTS))),
        ("num_nodes.npy", npy("<i8", "()", false, &integers(&[5]))),
    ]
}

/// What `scipy.sparse.save_npz` of scipy 1.17.1 writes for a `csr_array`; `csc` of this symmetric matrix is the same
/// but for the name.
pub(super) fn scipy(format: &str) -> Vec<(&'static str, Vec<u8>)> {
    let data = ("data.npy", npy("<f8", "(6,)", false, &doubles(&WEIGHTS.map(f64::from))));
    let rest = [
        ("format.npy", npy(&format!("|S{}", format.len()), "()", false, format.as_bytes())),
        ("shape.npy", npy("<i8", "(2,)", false, &integers(&[5, 5]))),
        ("_is_array.npy", npy("|b1", "()", false, &[1])),
    ];
    let own = match format {
        "coo" => vec![
            ("row.npy", npy("<i4", "(6,)", false, &int32(&SOURCES))),
            ("col.npy", npy("<i4", "(6,)", false, &int32(&TARGETS))),
        ],
        _ => vec![
            ("indices.npy", npy("<i4", "(6,)", false, &int32(&TARGETS))),
            ("indptr.npy", npy("<i4", "(6,)", false, &int32(&[0, 1, 4, 5, 6, 6]))),
        ],
    };
    own.into_iter().chain(rest).chain([data]).collect()
}

/// Returns a safetensors file of tensors with their types and shapes.
pub(super) fn safetensors(tensors: &[(&str, &str, &str, Vec<u8>)]) -> Vec<u8> {
    let (mut entries, mut end) = (Vec::new(), 0);
    for (name, kind, shape, data) in tensors {
        let begin = end;
        end += data.len();
        entries.push(format!("\"{name}\":{{\"dtype\":\"{kind}\",\"shape\":{shape},\"data_offsets\":[{begin},{end}]}}"));
    }
    let mut header = format!("{{{}}}", entries.join(",")).into_bytes();
    header.resize(header.len().next_multiple_of(8), b' ');
    let data = tensors.iter().flat_map(|(.., data)| data.clone());
    (header.len() as u64).to_le_bytes().into_iter().chain(header).chain(data).collect()
}

pub(super) fn tensors() -> Vec<u8> {
    safetensors(&[
        ("edge_index", "I64", "[2,6]", integers(&[SOURCES, TARGETS].concat())),
        ("num_nodes", "I64", "[1]", integers(&[5])),
        ("edge_weight", "F32", "[6]", floats(&WEIGHTS)),
    ])
}

pub(super) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn zstd(content: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(content, ruzstd::encoding::CompressionLevel::Fastest)
}

/// What the C library of Zstandard 1.5 makes of `0 1 2.5\n1 2 1\n1 3 1\n`, with the checksum and the length.
pub(super) const ZSTD: [u8; 33] = [
    0x28, 0xb5, 0x2f, 0xfd, 0x24, 0x14, 0xa1, 0x00, 0x00, 0x30, 0x20, 0x31, 0x20, 0x32, 0x2e, 0x35, 0x0a, 0x31, 0x20,
    0x32, 0x20, 0x31, 0x0a, 0x31, 0x20, 0x33, 0x20, 0x31, 0x0a, 0x6e, 0x80, 0x59, 0x00,
];

/// Returns a tar archive in the format `ustar`. A name that ends with a slash is a folder.
pub(super) fn tar(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, content) in members {
        archive.extend(tar_member(name, if name.ends_with('/') { b'5' } else { b'0' }, content));
    }
    archive.resize((archive.len() + 1024).next_multiple_of(10240), 0);
    archive
}

pub(super) fn tar_member(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
    let mut header = vec![0; 512];
    let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name.as_bytes());
    put(100, b"0000644\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{:011o}\0", content.len()).as_bytes());
    put(136, b"00000000000\0");
    put(148, b"        ");
    put(156, &[kind]);
    put(257, b"ustar\x0000");
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header.extend(content);
    header.resize(header.len().next_multiple_of(512), 0);
    header
}

/// The files of an OGB data set of two graphs: a path of three nodes, and an edge with an isolated node.
pub(super) fn ogb() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("raw/edge.csv.gz", gzip(b"0,1\n1,0\n1,2\n2,1\n0,1\n1,0\n")),
        ("raw/num-node-list.csv.gz", gzip(b"3\n3\n")),
        ("raw/num-edge-list.csv.gz", gzip(b"4\n2\n")),
    ]
}

/// Every format that has the whole graph, with a name that a file may have.
pub(super) fn all() -> Vec<(&'static str, Vec<u8>)> {
    let text = |text: &str| text.as_bytes().to_vec();
    vec![
        ("g.txt", text(EDGES)),
        ("g.mtx", text(MARKET)),
        ("g.json", text(NODE_LINK)),
        ("g.graphml", text(GRAPHML)),
        ("g.gexf", text(GEXF)),
        ("g.gml", text(GML)),
        ("g.npz", stored(&arrays())),
        ("c.npz", deflated(&arrays())),
        ("g.safetensors", tensors()),
        ("csr.npz", stored(&scipy("csr"))),
        ("csc.npz", deflated(&scipy("csc"))),
        ("coo.npz", deflated(&scipy("coo"))),
        ("array.mtx", text(MARKET_ARRAY)),
        ("g.net", text(PAJEK)),
        ("cytoscape.json", text(CYTOSCAPE)),
        ("g.gr", text(DIMACS)),
        ("g.graph", text(METIS)),
    ]
}

/// The graph without its weights, in formats that have none and in others.
pub(super) fn unweighted() -> Vec<(&'static str, Vec<u8>)> {
    [
        ("u.txt", "5 3\n0 1\n1 2\n1 3\n"),
        ("u.g6", ">>graph6<<Di?\n"),
        ("u.s6", ":DaX\n"),
        ("u.d6", "&DPXA??\n"),
        ("u.adjlist", ADJACENCY),
        ("u.col", "c a graph\np edge 5 3\ne 1 2\ne 2 3\ne 4 2\n"),
        ("u.graph", "5 3\n2\n1 3 4\n2\n2\n\n"),
        ("u.net", "*Network a graph\n*Vertices 5\n*Edgeslist\n2 1 3 4\n"),
        ("u.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n5 5 3\n2 1\n3 2\n4 2\n"),
        (
            "u.cyjs",
            r#"{"elements": [{"data": {"id": 0}}, {"data": {"id": 1}}, {"data": {"id": 2}}, {"data": {"id": 3}},
            {"data": {"id": 4}}, {"group": "edges", "data": {"id": "e", "source": 0, "target": 1}}, {"data":
            {"source": 2, "target": 1}}, {"data": {"source": 1, "target": 3}}]}"#,
        ),
    ]
    .map(|(name, text)| (name, text.as_bytes().to_vec()))
    .into()
}
