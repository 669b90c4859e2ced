//! What `fiedler encode` prints and writes in addition to the encodings themselves: the last line of its output,
//! components, precisions, and help.

use crate::call::{Files, fiedler, run};
use npyz::Deserialize;
use npyz::npz::NpzArchive;
use serde_json::Value;

const KARATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/karate.txt");

/// Returns the exit code, and the output on standard output and standard error.
fn said(arguments: &[&str]) -> (Option<i32>, String) {
    let output = run(arguments);
    (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

/// Returns the last line of the output, and the JSON object that the same call prints with `--json`.
fn encoded(input: &str, out: &str, options: &[&str]) -> (String, Value) {
    let call = [&["encode", input, "-o", out, "--overwrite"], options].concat();
    let (code, line) = said(&call);
    assert_eq!(code, Some(0), "{call:?}: {line}");
    let json = run(&[&call[..], &["--json"]].concat());
    (line, serde_json::from_slice(&json.stdout).expect("one JSON object"))
}

fn array<T: Deserialize>(path: &str, name: &str) -> (Vec<u64>, Vec<T>) {
    let mut archive = NpzArchive::open(path).expect("an npz");
    let array = archive.by_name(name).expect("readable").unwrap_or_else(|| panic!("no array {name}"));
    (array.shape().to_vec(), array.into_vec().expect("of this type"))
}

/// The edges, in mixed order, of a triangle, a path of three nodes with lower ids, and two separate edges.
const PARTS: &str = "7 8\n10 11\n8 9\n1 2\n9 7\n2 3\n20 21\n";

#[test]
fn the_last_line_summarizes_the_call() {
    let (files, set) = (Files::new(), Files::new());
    let out = files.at("out.npz");
    let (line, _) = encoded(KARATE, &out, &["-k", "1"]);
    assert!(line.contains("; 1 eigenpair, on the CPU (asked for); "), "{line}");
    let molecules = set.at("molecules");
    assert_eq!(said(&["generate", "molecules", "--graphs", "20", "-o", &molecules]).0, Some(0));
    let (line, json) = encoded(&molecules, &out, &["-k", "2"]);
    assert!(line.contains("molecules: 20 graphs, ") && line.contains("; 2 eigenpairs each, on the CPU"), "{line}");
    // For several graphs, no number of components is printed.
    assert!(!line.contains("component"), "{line}");
    assert_eq!((&json["components"], &json["smallest_nonzero"]), (&20.into(), &Value::Null));
    let stages = json["seconds"].as_object().expect("an object");
    assert!(["open", "read", "encode", "write"].iter().all(|stage| stages.contains_key(*stage)), "{json}");
    // A self-loop counts as one edge.
    let loops = files.text("loops.txt", "0 0\n0 1\n");
    let (line, _) = encoded(&loops, &out, &["-k", "2", "--preset", "networkx"]);
    assert!(line.contains("2 nodes, 2 edges; "), "{line}");
    // The largest eigenpairs do not include the smallest nonzero eigenvalue, so it is not printed.
    let (line, json) = encoded(KARATE, &out, &["-k", "2", "--which", "largest"]);
    assert!(line.contains("; 1 component; ") && json["smallest_nonzero"].is_null(), "{line}");
}

#[test]
fn on_auto_it_says_why_no_gpu_was_opened() {
    let files = Files::new();
    let output =
        fiedler(&["encode", KARATE, "-o", &files.at("out.npz")]).env_remove("FIEDLER_BACKEND").output().unwrap();
    let line = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(line.contains(", on the CPU (too small to be worth opening a GPU); "), "{line}");
    assert!(!line.contains(" (open "), "{line}");
    let call = ["encode", KARATE, "-o", &files.at("wide.npz"), "--precision", "f64"];
    let output = fiedler(&call).env_remove("FIEDLER_BACKEND").output().unwrap();
    let line = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(line.contains(", on the CPU (f64 is computed there); "), "{line}");
}

/// Runs on every adapter that this machine has. The eigenvalues of a ring are tied, which cannot be decided in
/// f32.
#[test]
fn graphs_decided_again_on_the_cpu_are_reported() {
    let files = Files::new();
    let (ring, out) = (files.at("ring.txt"), files.at("out.npz"));
    assert_eq!(said(&["generate", "cycle", "--nodes", "12", "-o", &ring]).0, Some(0));
    let doctor: Value = serde_json::from_slice(&run(&["doctor", "--json"]).stdout).expect("one JSON object");
    for adapter in doctor["adapters"].as_array().expect("a list") {
        let name = adapter["name"].as_str().expect("a name");
        let (line, json) = encoded(&ring, &out, &["-k", "3", "--backend", "gpu", "--adapter", name]);
        assert!(line.contains(&format!(", on {name} (asked for), 1 graph solved again in f64 on the CPU; ")), "{line}");
        assert!(line.contains(" (open ") && json["solved_again"] == 1 && json["on_gpu"] == 1, "{line} {json}");
    }
}

#[test]
fn zeros_alone_get_a_hint() {
    let files = Files::new();
    let (parts, out) = (files.text("parts.txt", PARTS), files.at("out.npz"));
    let (line, json) = encoded(&parts, &out, &["-k", "4"]);
    assert!(line.contains("; 4 components; all eigenvalues here are 0, one for each component: "), "{line}");
    assert!(line.contains("--drop-trivial") && line.contains("--largest-component"), "{line}");
    assert_eq!((&json["components"], &json["graphs_of_zeros_alone"]), (&4.into(), &1.into()));
    // The eigenvalue of the fifth pair is not 0. Without zero modes, no eigenvalue is 0.
    for options in [&["-k", "5"][..], &["-k", "4", "--drop-trivial"], &["-k", "4", "--which", "largest"]] {
        let (line, json) = encoded(&parts, &out, options);
        assert!(!line.contains("--drop-trivial") && json["graphs_of_zeros_alone"] == 0, "{options:?}: {line}");
    }
    // A single component is the largest already.
    let (line, _) = encoded(KARATE, &out, &["-k", "1"]);
    assert!(line.contains("--drop-trivial") && !line.contains("--largest-component"), "{line}");
}

#[test]
fn a_k_beyond_the_nodes_says_how_many_there_are() {
    let files = Files::new();
    let out = files.at("out.npz");
    let (line, json) = encoded(KARATE, &out, &["-k", "50"]);
    assert!(line.contains("; all 34 eigenpairs (-k asks for 50: the columns beyond are masked), on the CPU"), "{line}");
    assert_eq!((&json["fewest_pairs"], &json["graphs_with_fewer_pairs"]), (&34.into(), &1.into()));
    // Two graphs, of three nodes and of two.
    let set = files.at("set");
    std::fs::create_dir(&set).unwrap();
    files.text("set/set_A.txt", "1, 2\n2, 3\n4, 5\n");
    files.text("set/set_graph_indicator.txt", "1\n1\n1\n2\n2\n");
    // A table says so, too.
    let words = "3 eigenpairs each, except for 1 graph with as few as 2 (the columns beyond are masked)";
    for out in [out, files.at("lists.parquet")] {
        let (line, json) = encoded(&set, &out, &["-k", "3"]);
        assert!(line.contains(words), "{line}");
        assert_eq!((&json["fewest_pairs"], &json["graphs_with_fewer_pairs"]), (&2.into(), &1.into()));
    }
    let fixed = encoded(&set, &files.at("fixed.arrow"), &["-k", "3", "--layout", "fixed"]).0;
    assert!(fixed.contains(words), "{fixed}");
}

#[test]
fn the_largest_component_keeps_its_names() {
    let files = Files::new();
    let (parts, out) = (files.text("parts.txt", PARTS), files.at("out.npz"));
    let (line, json) = encoded(&parts, &out, &["-k", "3", "--largest-component", "--laplacian", "combinatorial"]);
    assert!(line.contains("parts: 1 graph, 3 nodes, 2 edges (the largest component, of 10 nodes); "), "{line}");
    assert!(line.contains("; 1 component, smallest non-zero eigenvalue 1.000; "), "{line}");
    assert_eq!((&json["nodes"], &json["listed_nodes"]), (&3.into(), &10.into()));
    // Two components have three nodes. The one with the lowest node is selected, which is the path 1-2-3. Its
    // eigenvalues are 0, 1 and 3.
    assert_eq!(array::<i64>(&out, "node_ids"), (vec![3], vec![1, 2, 3]));
    let values = array::<f32>(&out, "eigenvalues").1;
    assert!(values.iter().zip([0.0, 1.0, 3.0]).all(|(x, want)| (x - want).abs() < 1e-6), "{values:?}");
    // Ids that are words remain words.
    let words = files.text("words.txt", "a b\nx y\ny z\n");
    encoded(&words, &out, &["-k", "1", "--largest-component"]);
    let csv = files.at("out.csv");
    encoded(&words, &csv, &["-k", "1", "--largest-component"]);
    let ids: Vec<String> =
        std::fs::read_to_string(&csv).unwrap().lines().skip(1).map(|l| l.split(',').nth(2).unwrap().into()).collect();
    assert_eq!(ids, ["x", "y", "z"]);
    // If the file has no ids, the nodes are numbered through the whole data set.
    let set = files.at("set");
    std::fs::create_dir(&set).unwrap();
    files.text("set/set_A.txt", "2, 3\n4, 5\n");
    files.text("set/set_graph_indicator.txt", "1\n1\n1\n2\n2\n");
    let (line, _) = encoded(&set, &out, &["-k", "1", "--largest-component"]);
    assert!(line.contains("2 graphs, 4 nodes, 2 edges (the largest component of each, of 5 nodes); "), "{line}");
    assert_eq!(array::<i64>(&out, "node_ids").1, [1, 2, 3, 4]);
    assert_eq!(array::<i64>(&out, "node_offsets").1, [0, 2, 4]);
}

#[test]
fn f64_is_written_on_request() {
    let files = Files::new();
    let out = files.at("out.npz");
    encoded(KARATE, &out, &["-k", "4"]);
    let narrow = (array::<f32>(&out, "eigenvalues"), array::<f32>(&out, "eigenvectors"));
    encoded(KARATE, &out, &["-k", "4", "--precision", "f64"]);
    let wide = (array::<f64>(&out, "eigenvalues"), array::<f64>(&out, "eigenvectors"));
    assert_eq!((narrow.0.0, narrow.1.0), (wide.0.0, wide.1.0.clone()));
    // The f32 eigenvalues are the f64 eigenvalues, rounded.
    assert!(narrow.0.1.iter().zip(&wide.0.1).all(|(&a, &b)| a == b as f32), "{:?} {:?}", narrow.0.1, wide.0.1);
    assert!(narrow.1.1.iter().zip(&wide.1.1).all(|(&a, &b)| a == b as f32));
    let residual = array::<f32>(&out, "residual").1[0];
    // The residual is a few eps of f64. In f32 it would be about 1e-8.
    assert!(residual < 1e-14, "{residual}");
    for (options, words) in [
        (&["--precision", "f64", "--backend", "gpu"][..], "--precision f64 is computed on the CPU alone"),
        (&["--precision", "f16"], "f32, f64"),
    ] {
        let (code, text) = said(&[&["encode", "no-such-file.txt", "-o", &out, "--overwrite"], options].concat());
        assert!(code == Some(2) && text.contains(words), "{options:?}: {code:?} {text}");
    }
}

#[test]
fn help_states_norms_bounds_and_recipes() {
    let text = said(&["encode", "--help"]).1;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "max |L v - l v|_2 / |L|_1",
        "square roots of their values differ by at most 1e-10 times the square root of the spectrum's bound",
        "The null space is a separate group",
        "1 if the last group has more pairs than these k columns hold",
        "The entry of largest magnitude is positive; among entries within 1 % of the largest, the one with the lowest index",
        "use --preset pyg and -k K+1, and take the columns of `eigenvectors` from 1 on",
        "scipy.sparse.csgraph.laplacian: self-loops dropped, duplicates summed, isolated nodes 0",
        "networkx.normalized_laplacian_matrix: self-loops kept, the last of duplicates, isolated nodes 0",
        "torch_geometric.utils.get_laplacian: self-loops dropped, duplicates summed, isolated nodes 1",
        "dgl.lap_pe: self-loops kept, duplicates summed, isolated nodes 1",
    ] {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
}

/// A library that the driver uses looks for a desktop. Its complaint about a missing desktop must not be shown.
#[cfg(target_os = "linux")]
#[test]
fn without_a_desktop_standard_error_is_silent() {
    for environment in [&[][..], &[("XDG_RUNTIME_DIR", "")], &[("WAYLAND_DISPLAY", "")]] {
        let mut command = fiedler(&["doctor", "--quick"]);
        command.env_remove("FIEDLER_BACKEND").env_remove("XDG_RUNTIME_DIR").env_remove("WAYLAND_DISPLAY");
        let output = command.envs(environment.iter().copied()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!text.contains("XDG_RUNTIME_DIR"), "{environment:?}: {text}");
    }
}

#[test]
fn structural_encodings_are_further_arrays() {
    let files = Files::new();
    let (ring, out) = (files.text("ring.txt", "0 1\n1 2\n2 3\n3 0\n"), files.at("out.npz"));
    let all = "-k 0 --heat-times 0,1.5 --wave-energies 3 --pagerank 1 --electrostatic --resistances --all-pairs \
               --invariants --precision f64";
    let (line, _) = encoded(&ring, &out, &words(all));
    assert!(line.contains("4 nodes, 4 edges"), "{line}");
    let shape = |name| array::<f64>(&out, name).0;
    assert_eq!([shape("heat_kernel"), shape("wave_kernel"), shape("electrostatic")], [[4, 2], [4, 3], [4, 10]]);
    assert_eq!(array::<f64>(&out, "heat_times").1, [0.0, 1.5]);
    // A walk that always ends at once ends where it began, up to the rounding of eigenvectors.
    assert_eq!(shape("pagerank"), [4, 1]);
    assert!(array::<f64>(&out, "pagerank").1.iter().all(|x| (x - 1.0).abs() <= 1e-14));
    assert_eq!(array::<i64>(&out, "edge_index").1, [0, 0, 1, 1, 2, 2, 3, 3, 1, 3, 0, 2, 1, 3, 0, 2]);
    // 1 and 3 in parallel, of eigenpairs in f64
    assert!(array::<f64>(&out, "resistance").1.iter().all(|x| (x - 0.75).abs() <= 1e-14));
    assert!(array::<f64>(&out, "commute_time").1.iter().all(|x| (x - 6.0).abs() <= 1e-13));
    assert_eq!(array::<i64>(&out, "pair_offsets").1, [0, 16]);
    assert!((array::<f64>(&out, "log_spanning_trees").1[0] - 4_f64.ln()).abs() <= 1e-14);
    assert_eq!(array::<u8>(&out, "structural_status").1, [0]);

    // A finished output is that of the same options alone.
    let again = |options: &str| said(&[&["encode", &ring, "-o", &out, "--resume"][..], &words(options)].concat());
    assert_eq!(again(all).0, Some(0));
    let (code, line) = again("-k 0 --heat-times 0,1.5 --precision f64");
    assert_eq!(code, Some(2), "{line}");
    assert!(line.contains("0 wave_kernel columns") && line.contains("3 wave_kernel columns"), "{line}");

    // Tables have no columns for them, and a NaN is no time.
    let table = files.at("out.parquet");
    let (code, line) = said(&["encode", &ring, "-o", &table, "--electrostatic"]);
    assert!(code == Some(2) && line.contains("found one"), "{line}");
    let (code, line) = said(&["encode", &ring, "-o", &files.at("new.npz"), "--heat-times", "1,NaN"]);
    assert!(code != Some(0) && line.contains("expected times of at least 0"), "{line}");
    assert!(!std::path::Path::new(&files.at("new.npz")).exists());
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}
