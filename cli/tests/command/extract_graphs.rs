//! `fiedler features` of graphs.

use crate::call::{Files, run};
use crate::extract::{array, description, done, floats, refused, said};
use fiedler::graph::GraphBatch;
use fiedler::graph::generate::{complete, cycle, path};
use fiedler::io::write_tudataset;
use npyz::npz::NpzArchive;
use std::fs;
use std::path::Path;

/// The graphs of a data set: cycles have the label 1, paths -1, complete graphs 5.
const GRAPHS: usize = 60;

fn tudataset(files: &Files, name: &str) -> String {
    let folder = files.at(name);
    let families = [cycle, path, complete];
    let graphs: Vec<_> = (0..GRAPHS).map(|i| families[i % 3](4 + i / 3).expect("a graph")).collect();
    write_tudataset(Path::new(&folder), &GraphBatch::from_graphs(&graphs).expect("a batch")).expect("written");
    let labels: String = (0..GRAPHS).map(|i| ["1\n", "-1\n", "5\n"][i % 3]).collect();
    fs::write(format!("{folder}/{name}_graph_labels.txt"), labels).expect("written");
    folder
}

fn integers(path: &str, name: &str) -> Vec<i64> {
    let mut archive = NpzArchive::open(path).expect("an npz");
    archive.by_name(name).expect("readable").expect("the array").into_vec().expect("integers")
}

#[test]
fn from_graphs_to_trained_runs() {
    let files = Files::new();
    let (set, out, runs) = (tudataset(&files, "SET"), files.at("f.npz"), files.at("runs"));
    let text = done(&[&set], "--representations graph(top=8,walks=4)", &out);
    assert!(text.contains("60 samples, 15 columns"), "{text}");
    let (shape, numbers) = array(&out, "features");
    assert_eq!((shape, floats(&out, "status")), (vec![60, 15], vec![0.0; 60]));
    assert_eq!(integers(&out, "labels")[..4], [1, -1, 5, 1]);
    // The triple of graph 3 has 5 nodes: a cycle, a path and a complete graph, whose other eigenvalues are 0.
    assert_eq!(numbers[3 * 15..][..4], [5.0, 5.0, 1.0, 0.0]);
    assert_eq!(numbers[4 * 15..][..4], [5.0, 4.0, 1.0, 0.0]);
    assert_eq!(numbers[5 * 15..][..11], [5.0, 10.0, 1.0, 0.0, 1.25, 1.25, 1.25, 1.25, 0.0, 0.0, 0.0]);
    assert_eq!(numbers[5 * 15 + 11..][..2], [0.0, 0.25]);
    let about = description(&out);
    assert_eq!(about["graphs"]["name"], "SET");
    assert_eq!(
        (about["samples"].as_u64(), about["columns"][3]["name"].as_str()),
        (Some(60), Some("graph.eigenvalue_1"))
    );
    assert_eq!(about["representations"]["graph"]["parts"][0]["top"], 8);
    let trained =
        run(&["train", &out, "-o", &runs, "--hidden", "8", "--epochs", "200", "--scale", "standard", "--json"]);
    let (code, text) = said(&trained);
    assert_eq!(code, Some(0), "{text}");
    let plain = files.at("unlabeled.npz");
    assert!(done(&[&set], "--representations graph --no-labels", &plain).contains("no labels"));
    assert!(!description(&plain)["targets"].is_object());
    refused(&[&set], "--representations graph --label y", &files.at("l.npz"), 2, &["--label"]);
    // The same numbers in a table, whose last column has the labels, and in safetensors.
    let (csv, tensors) = (files.at("g.csv"), files.at("h.safetensors"));
    done(&[&set], "--representations graph(top=8,walks=4) --threads 1", &csv);
    done(&[&set], "--representations graph(top=8,walks=4)", &tensors);
    assert_eq!(floats(&tensors, "features"), numbers);
    let table = fs::read_to_string(&csv).expect("a table");
    let second: Vec<&str> = table.lines().nth(2).expect("a row").split(',').collect();
    let parsed: Vec<f32> = second[..15].iter().map(|x| x.parse().expect("a number")).collect();
    assert_eq!((&parsed[..], second[15]), (&numbers[15..30], "-1"));
    let trained = run(&["train", &csv, "-o", &files.at("more"), "--hidden", "8", "--epochs", "3", "--quiet"]);
    assert_eq!(said(&trained).0, Some(0), "{}", said(&trained).1);
}

#[test]
fn one_graph_is_one_sample() {
    let files = Files::new();
    let edges = files.text("square.txt", "10 20\n20 30\n30 40\n40 10\n");
    let market =
        files.text("square.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 4\n2 1\n3 2\n4 3\n4 1\n");
    let options = "--representations graph(laplacian='combinatorial',top=4,walks=2)";
    for input in [edges, market] {
        let out = files.at("f.npz");
        let text = done(&[&input], &format!("{options} --overwrite --json"), &out);
        let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!((report["samples"].as_u64(), report["not_converged"].as_u64()), (Some(1), Some(0)));
        let found = floats(&out, "features");
        let wanted = [4.0, 4.0, 1.0, 0.0, 2.0, 2.0, 4.0, 0.0, 0.5];
        // Eigenvalues and probabilities are rounded to f32.
        assert!(found.iter().zip(wanted).all(|(x, y)| (x - y).abs() <= 2e-7 * y), "{found:?}");
    }
}

#[test]
fn steps_and_fillings_apply_to_graphs() {
    let files = Files::new();
    let (set, out, steps) = (tudataset(&files, "SET"), files.at("f.npz"), files.at("steps.safetensors"));
    let list = "--representations graph(top=6,beyond='undefined')";
    let text = done(&[&set], &format!("{list} --undefined -1"), &out);
    assert!(text.contains("of 60 samples, 6 with undefined columns"), "{text}");
    assert_eq!((floats(&out, "status")[5], floats(&out, "features")[5 * 13 + 8]), (1.0, -1.0));
    let list = "--representations graph(top=6)";
    let fitted = files.at("g.npz");
    done(&[&set], &format!("{list} --steps zscore --fit {steps} --fit-rows 0..30"), &fitted);
    let applied = files.at("h.npz");
    done(&[&set], &format!("{list} --transform {steps}"), &applied);
    let found = floats(&fitted, "features");
    assert_eq!(floats(&applied, "features"), found);
    let mean = |rows: std::ops::Range<usize>| rows.clone().map(|row| found[13 * row]).sum::<f32>() / rows.len() as f32;
    assert!(mean(0..30).abs() < 1e-5 && mean(30..60) > 1.0);
}

#[test]
fn mistakes_say_what_to_do() {
    let files = Files::new();
    let (set, out) = (tudataset(&files, "SET"), files.at("f.npz"));
    let market = files.text("k.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n");
    for (input, what) in [(&set, "the graphs of a TUDataset"), (&market, "a graph in a MatrixMarket file")] {
        refused(&[input], "", &out, 2, &["samples of numbers for core33", what, "--representations graph"]);
    }
    let numbers = files.f32s("x.npy", &[3, 4], &[1.0; 12]);
    refused(&[&numbers], "--representations graph", &out, 1, &["x.npy", "edge_index", "graph is of graphs"]);
    let (code, text) = said(&run(&["features", &files.at("none"), "-o", &out, "--representations", "graph"]));
    assert!(code == Some(1) && text.contains("cannot open") && !text.contains("of numbers"), "{text}");
    refused(&[&set], "--representations graph,moments", &out, 2, &["of graphs, as graph is", "as moments is"]);
    refused(&[&set, &market], "--representations graph", &out, 2, &["one data set of graphs, found 2 inputs"]);
    refused(&[&set], "--representations graph --layers x*", &out, 2, &["--layers: graphs have no layers"]);
    refused(
        &[&numbers],
        "--edge-weight-column 1",
        &out,
        2,
        &["--edge-weight-column: expected a representation of graphs"],
    );
    refused(&[&set], "--representations graph --edge-weight-column 1", &out, 1, &["SET_edge_attributes.txt"]);
    fs::write(format!("{set}/SET_graph_labels.txt"), "1\n2\n").expect("written");
    refused(
        &[&set],
        "--representations graph",
        &out,
        1,
        &["SET_graph_labels.txt", "each of the 60 graphs", "2 labels"],
    );
    assert!(!Path::new(&out).exists());
    let (code, text) = said(&run(&["features", "--list"]));
    assert_eq!(code, Some(0));
    for part in ["  graph: ", "beyond = \"zero\"", "sum_i ((D^-1 W)^t)_ii / n", "laplacian = \"symmetric\""] {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}
