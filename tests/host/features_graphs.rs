//! Columns of graphs whose spectra and random walks are known in closed form, labels of graphs, and the caches.

use fiedler::cache::Cache;
use fiedler::features::{Extracted, Extractor, GraphExtractor, Representation};
use fiedler::graph::generate::{complete, cycle, path, star};
use fiedler::graph::{Conventions, Graph, GraphBatch, molecules};
use fiedler::io::{self, Format, Layers, ReadOptions, TableTargets};
use fiedler::ops::series::Status;
use fiedler::{Context, ErrorKind};
use std::f64::consts::PI;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

fn extractor(list: &str) -> GraphExtractor {
    GraphExtractor::new(Representation::parse_list(list).unwrap()).unwrap()
}

fn extract(list: &str, graphs: &GraphBatch) -> Extracted {
    extractor(list).extract(&Context::cpu(), graphs, |_| ()).unwrap()
}

/// Eigenvalues are rounded once to f32, after an error of less than n units of f64 of the greatest eigenvalue.
/// Probabilities are rounded to f32 for each node, and their mean is rounded again.
#[track_caller]
fn close(found: &[f32], wanted: &[f64], roundings: f64, scale: f64) {
    assert_eq!(found.len(), wanted.len());
    for (&found, &wanted) in found.iter().zip(wanted) {
        let error = (f64::from(found) - wanted).abs();
        let allowed = roundings * wanted.abs() * 2_f64.powi(-24) * 1.001 + 1e-13 * scale;
        assert!(error <= allowed, "{found} instead of {wanted}: {error:e} > {allowed:e}");
    }
}

/// A family of graphs.
struct Family {
    graph: fn(usize) -> fiedler::Result<Graph>,
    edges: fn(usize) -> usize,
    combinatorial: fn(usize) -> Vec<f64>,
    symmetric: fn(usize) -> Vec<f64>,
}

/// Brouwer & Haemers, Spectra of Graphs, 1.4; Chung, Spectral Graph Theory, 1.2.
const FAMILIES: [Family; 4] = [
    Family {
        graph: path,
        edges: |n| n - 1,
        combinatorial: |n| (0..n).map(|k| 2.0 - 2.0 * (PI * k as f64 / n as f64).cos()).collect(),
        symmetric: |n| (0..n).map(|k| 1.0 - (PI * k as f64 / (n - 1) as f64).cos()).collect(),
    },
    Family {
        graph: cycle,
        edges: |n| n,
        combinatorial: |n| (0..n).map(|k| 2.0 - 2.0 * (2.0 * PI * k as f64 / n as f64).cos()).collect(),
        symmetric: |n| (0..n).map(|k| 1.0 - (2.0 * PI * k as f64 / n as f64).cos()).collect(),
    },
    Family {
        graph: complete,
        edges: |n| n * (n - 1) / 2,
        combinatorial: |n| (0..n).map(|k| if k == 0 { 0.0 } else { n as f64 }).collect(),
        symmetric: |n| (0..n).map(|k| if k == 0 { 0.0 } else { n as f64 / (n - 1) as f64 }).collect(),
    },
    Family {
        graph: star,
        edges: |n| n - 1,
        combinatorial: |n| (0..n).map(|k| [0.0, 1.0, n as f64][usize::from(k > 0) + usize::from(k == n - 1)]).collect(),
        symmetric: |n| (0..n).map(|k| [0.0, 1.0, 2.0][usize::from(k > 0) + usize::from(k == n - 1)]).collect(),
    },
];

const SIZES: [usize; 4] = [3, 7, 30, 101];

#[test]
fn spectra_in_closed_form() {
    for Family { graph, edges, combinatorial, symmetric } in FAMILIES {
        let graphs: Vec<Graph> = SIZES.iter().map(|&n| graph(n).unwrap()).collect();
        let graphs = GraphBatch::from_graphs(&graphs).unwrap();
        for (laplacian, spectrum) in
            [("combinatorial", combinatorial), ("symmetric", symmetric), ("random-walk", symmetric)]
        {
            for which in ["smallest", "largest"] {
                let list = format!("graph(top=7, laplacian='{laplacian}', which='{which}')");
                let found = extract(&list, &graphs);
                assert_eq!(found.status(), [Status::Ok; 4]);
                for (sample, n) in SIZES.into_iter().enumerate() {
                    let mut values = spectrum(n);
                    values.sort_by(f64::total_cmp);
                    let scale = values[n - 1];
                    if which == "largest" {
                        values.reverse();
                    }
                    values.resize(n.max(7), 0.0);
                    let row = found.row(sample);
                    close(&row[3..10], &values[..7], 1.0, scale);
                    assert_eq!(row[..3], [n as f32, edges(n) as f32, 1.0]);
                }
            }
        }
    }
}

#[test]
fn returns_in_closed_form() {
    for n in SIZES {
        let graphs = GraphBatch::from_graphs(&[cycle(n).unwrap(), complete(n).unwrap()]).unwrap();
        let found = extract("graph(columns=['returns'], walks=6)", &graphs);
        assert_eq!(found.names()[0], "graph.return_1");
        // The mean of the diagonal of a power of D^-1 W is that of the powers of its eigenvalues.
        let steps = 1..=6;
        let around = |t| (0..n).map(|k| (2.0 * PI * k as f64 / n as f64).cos().powi(t)).sum::<f64>() / n as f64;
        close(found.row(0), &steps.clone().map(around).collect::<Vec<_>>(), 2.0, 1.0);
        let m = n as f64 - 1.0;
        let across = |t| (1.0 + m * (-1.0 / m).powi(t)) / (m + 1.0);
        close(found.row(1), &steps.map(across).collect::<Vec<_>>(), 2.0, 1.0);
    }
}

#[test]
fn representations_have_names_definitions_and_shares_of_a_row() {
    let graphs = molecules(20, 3).unwrap();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("own.toml");
    let text = "[size]\nkind = 'graph'\ncolumns = ['components', 'nodes']\n[ends]\nparts = [{ kind = 'graph', columns = \
                ['eigenvalues'], top = 2 }, { kind = 'graph', columns = ['eigenvalues'], top = 2, which = 'largest' }]\n";
    fs::write(&file, text).unwrap();
    let list = format!("{},graph(columns=['returns'], walks=3)", file.display());
    let found = extract(&list, &graphs);
    let names = ["ends.eigenvalue_1", "ends.eigenvalue_2", "ends.eigenvalue_1_2", "ends.eigenvalue_2_2"];
    assert_eq!(found.names()[..4], names);
    assert_eq!(found.names()[4..6], ["size.components", "size.nodes"]);
    let (low, high) = (extract("graph(top=2)", &graphs), extract("graph(top=2, which='largest', walks=3)", &graphs));
    for sample in 0..graphs.len() {
        let (row, low, high) = (found.row(sample), low.row(sample), high.row(sample));
        let wanted = [&low[3..5], &high[3..5], &[low[2], low[0]], &high[5..8]].concat();
        assert_eq!(row, wanted);
        assert_eq!(row[5] as usize, graphs.graph(sample).nodes());
    }
    let about = extractor(&list).description();
    assert_eq!(about["columns"][8]["column"], "return_3");
    assert_eq!(about["representations"]["ends"]["parts"][1]["which"], "largest");
    // What is described is read again as the same representations.
    let again = folder.path().join("again.json");
    fs::write(&again, about["representations"].to_string()).unwrap();
    let again = Representation::read(&again).unwrap();
    for one in Representation::parse_list(&list).unwrap() {
        assert!(again.contains(&one), "{one:?} is not in {again:?}");
    }
}

#[test]
fn encodings_are_found_in_a_cache() {
    let (graphs, folder, ctx) = (molecules(60, 5).unwrap(), TempDir::new().unwrap(), Context::cpu());
    let run = || {
        let cache = Arc::new(Cache::new().disk(folder.path(), 1 << 30));
        extractor("graph(top=5, walks=3)").cache(cache).extract(&ctx, &graphs, |_| ()).unwrap()
    };
    let (cold, warm) = (run(), run());
    assert_eq!((cold.report().units, warm.report().units), ([0, 60], [60, 0]));
    let bits = |found: &Extracted| found.values().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&cold), bits(&warm));
    assert_eq!(bits(&cold), bits(&extract("graph(top=5, walks=3)", &graphs)));
}

#[test]
fn kinds_and_data_that_do_not_fit_are_refused() {
    let error = GraphExtractor::new(Representation::parse_list("graph,moments").unwrap()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{error}");
    assert!(error.to_string().contains("found moments"), "{error}");
    let folder = TempDir::new().unwrap();
    let table = folder.path().join("x.csv");
    fs::write(&table, "1,2,3\n3,2,1\n").unwrap();
    let data = Layers::open(&[table]).unwrap();
    let numbers = Extractor::new(Representation::parse_list("moments,graph").unwrap());
    let error = numbers.extract(&Context::cpu(), &data).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{error}");
    assert!(error.to_string().contains("representations of numbers, found graph"), "{error}");
    for (list, part) in [
        ("graph(top=0)", "a top of 1 to 2^20 eigenvalues, found 0"),
        ("graph(walks=0)", "walks of 1 to 2^20 steps, found 0"),
        ("graph(laplacian='symetric')", "`symetric`, expected one of `combinatorial`, `symmetric`, `random-walk`"),
        ("graph(which='both')", "`both`"),
        ("graph(walk=3)", "the parameter `walk`; did you mean `walks`?"),
        ("graph(columns=[])", "graph without columns"),
    ] {
        let error = Representation::parse_list(list).unwrap_err().to_string();
        assert!(error.contains(part), "{list}: {error}");
    }
    let file = folder.path().join("mixed.toml");
    fs::write(&file, "[mixed]\nparts = ['moments', 'graph']\n").unwrap();
    let error = Representation::read(&file).unwrap_err().to_string();
    assert!(error.contains("graphs beside parts of numbers") && error.contains("mixed.toml"), "{error}");
    let directed = Conventions { symmetrization: fiedler::graph::Symmetrization::Keep, ..Conventions::default() };
    let arrow = Graph::from_edges(2, &[(0, 1)], &directed).unwrap().into();
    let error = extractor("graph").first_graph(1).extract(&Context::cpu(), &arrow, |_| ()).unwrap_err().to_string();
    assert!(error.contains("graph 1 is directed"), "{error}");
}

/// Writes a TUDataset of three graphs, with labels.
fn labeled(folder: &Path, labels: &str) -> PathBuf {
    let path = folder.join("SET");
    let graphs = GraphBatch::from_graphs(&[path_of(2), path_of(3), path_of(4)]).unwrap();
    io::write_tudataset(&path, &graphs).unwrap();
    fs::write(path.join("SET_graph_labels.txt"), labels).unwrap();
    path
}

fn path_of(nodes: usize) -> Graph {
    path(nodes).unwrap()
}

#[test]
fn labels_of_graphs_are_read_if_they_are_asked_for() {
    let read = |labels: &str| {
        let folder = TempDir::new().unwrap();
        let path = labeled(folder.path(), labels);
        io::read_with(&path, &Conventions::default(), &ReadOptions::default().graph_labels()).map(|data| data.labels)
    };
    let classes = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    assert_eq!(read("1\n-1\n 1 \r\n").unwrap(), TableTargets::Labels(vec![1, 0, 1], classes(&["-1", "1"])));
    assert_eq!(read("b\n\na\nb").unwrap(), TableTargets::Labels(vec![1, 0, 1], classes(&["a", "b"])));
    for (labels, parts) in [
        ("1\n2\n", ["SET_graph_labels.txt", "a label for each of the 3 graphs, found 2 labels"]),
        ("1\n2\n3\n4\n", ["SET_graph_labels.txt:4", "the end, after a label for each of the 3 graphs"]),
        ("1\n2, 3\n4\n", ["SET_graph_labels.txt:2", "one number or word"]),
        ("1\n\u{0}\n4\n", ["SET_graph_labels.txt", "found"]),
    ] {
        let error = read(labels).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Parse { .. }), "{error}");
        parts.iter().for_each(|part| assert!(error.to_string().contains(part), "{labels:?}: {error}"));
    }
    // An encoding needs no labels, so damaged ones do not matter to it.
    let folder = TempDir::new().unwrap();
    let path = labeled(folder.path(), "1\n");
    assert_eq!(io::read(&path, &Conventions::default()).unwrap().labels, TableTargets::None);
    fs::remove_file(path.join("SET_graph_labels.txt")).unwrap();
    let options = ReadOptions::default().graph_labels();
    assert_eq!(io::read_with(&path, &Conventions::default(), &options).unwrap().labels, TableTargets::None);
    assert_eq!(Format::detect(&path).unwrap(), Format::TuDataset);
    assert!(Format::detect(&folder.path().join("none")).is_err());
}
