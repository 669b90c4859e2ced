//! Weights that are not exactly f32, in every format.

use super::samples::{
    CYTOSCAPE, DIMACS, EDGES, GEXF, GML, GRAPHML, MARKET, MARKET_ARRAY, METIS, NODE_LINK, PAJEK, SOURCES, TARGETS,
    WEIGHTS, arrays, doubles, integers, npy, safetensors, scipy, stored,
};
use super::{parsed, stream, weighted};
use fiedler::arrow::{Columns, batches_of, read as read_table};
use fiedler::graph::{Conventions, WeightsRef};
use fiedler::io::{read, write_graph};
use std::path::Path;
use tempfile::TempDir;

/// Weights that are not exactly f32, as texts.
const OTHERS: [&str; 3] = ["0.1", "1e-60", "1.2345678901234567e200"];

#[test]
fn a_graph_has_the_same_bits_in_every_format() {
    for weight in OTHERS {
        let value: f64 = weight.parse().unwrap();
        let weights = WEIGHTS.map(|own| if own == 2.5 { value } else { own.into() });
        let want = weighted(&weights);
        assert!(matches!(want.weights(), Some(WeightsRef::F64(_))));
        let array = || npy("<f8", "(6,)", false, &doubles(&weights));
        let (mut members, mut matrix) = (arrays(), scipy("csr"));
        members[1] = ("edge_weight.npy", array());
        *matrix.last_mut().unwrap() = ("data.npy", array());
        let tensors = safetensors(&[
            ("edge_index", "I64", "[2,6]", integers(&[SOURCES, TARGETS].concat())),
            ("num_nodes", "I64", "[1]", integers(&[5])),
            ("edge_weight", "F64", "[6]", doubles(&weights)),
        ]);
        let texts = [
            ("g.json", NODE_LINK),
            ("g.graphml", GRAPHML),
            ("g.gexf", GEXF),
            ("g.gml", GML),
            ("g.mtx", MARKET),
            ("g.txt", EDGES),
            ("array.mtx", MARKET_ARRAY),
            ("g.net", PAJEK),
            ("cytoscape.json", CYTOSCAPE),
            ("g.gr", DIMACS),
            ("g.graph", METIS),
        ];
        let texts = texts.map(|(name, text)| (name, text.replace("2.5", weight).into_bytes()));
        let arrays = [("g.npz", stored(&members)), ("m.npz", stored(&matrix)), ("g.safetensors", tensors)];
        for (name, content) in texts.into_iter().chain(arrays) {
            assert_eq!(parsed(name, &content).graphs, want, "{name} {weight}");
        }
        let tables: Vec<_> = batches_of(&want, None).collect::<Result<_, _>>().unwrap();
        let (schema, conventions) = (tables[0].schema(), Conventions::default());
        let tables = tables.into_iter().map(Ok);
        let set = read_table(Path::new("g"), &schema, tables, &Columns::default(), &conventions).unwrap();
        assert_eq!(set.graphs, want, "a table {weight}");
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("g.mtx");
        write_graph(&path, want.graph(0), "").unwrap();
        assert_eq!(read(&path, &conventions).unwrap().graphs, want, "written {weight}");
    }
}

#[test]
fn a_weight_below_all_others_is_refused() {
    for (name, text) in [("g.gml", GML), ("g.graphml", GRAPHML), ("g.mtx", MARKET), ("g.txt", EDGES)] {
        let error = stream(name, &text.replace("2.5", "1e-400").into_bytes()).unwrap_err().to_string();
        assert!(error.contains("expected a weight of 0, or of at least 4.9e-324, found \"1e-400\""), "{error}");
    }
}
