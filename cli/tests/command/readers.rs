//! What the command reports about the graphs that it reads: notices, ids and lines of the file, and names of formats.

use crate::call::{fiedler, run};
use npyz::npz::NpzArchive;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

fn code(output: &Output) -> i32 {
    output.status.code().expect("it ends by itself")
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn write(folder: &TempDir, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

fn floats(path: &str, name: &str) -> Vec<f32> {
    NpzArchive::open(path).unwrap().by_name(name).unwrap().unwrap().into_vec().unwrap()
}

/// A path of four nodes and an isolated node, with a header that has the numbers of nodes and edges.
const HEADED: &str = "# made by hand\n5 3\n0 1\n1 2\n2 3\n";

#[test]
fn notices_are_printed_once_and_are_in_json() {
    let folder = TempDir::new().unwrap();
    let (graph, out) = (write(&folder, "g.txt", HEADED), folder.path().join("o.npz").display().to_string());
    let plain = format!("{graph}:2: `5 3` was read as");
    let commands: [&[&str]; 3] = [&["encode", "-k", "2"], &["run", "eigsh", "-k", "2"], &["run", "spmm", "-k", "2"]];
    for words in commands {
        let call = |more: &[&str]| run(&[words, &[&graph, "-o", &out, "--overwrite"], more].concat());
        let output = call(&[]);
        assert_eq!(code(&output), 0, "{words:?}: {}", said(&output.stderr));
        assert_eq!(said(&output.stderr).matches(&plain).count(), 1, "{words:?}: {}", said(&output.stderr));
        let output = call(&["--quiet"]);
        assert_eq!((code(&output), output.stderr.len()), (0, 0), "{words:?}");
    }
    let output = run(&["encode", &graph, "-o", &out, "--overwrite", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["notices"][0].as_str().is_some_and(|notice| notice.contains(&plain)), "{report}");
    assert_eq!((report["notices"].as_array().map(Vec::len), output.stderr.len()), (Some(1), 0));
    // The result follows the header: five nodes and two components.
    assert_eq!((report["nodes"].as_u64(), report["components"].as_u64()), (Some(5), Some(2)));
}

#[test]
fn edge_attributes_become_weights_on_request() {
    let folder = TempDir::new().unwrap();
    let set = folder.path().display().to_string();
    write(&folder, "DS_A.txt", "1, 2\n2, 1\n3, 4\n4, 3\n");
    write(&folder, "DS_graph_indicator.txt", "1\n1\n2\n2\n");
    write(&folder, "DS_edge_attributes.txt", "9, 3\n9, 3\n9, 5\n9, 5\n");
    let out = TempDir::new().unwrap();
    let (npz, edges) = (out.path().join("o.npz").display().to_string(), write(&out, "g.txt", "0 1\n"));
    let base = ["encode", &set, "-o", &npz, "--overwrite", "--laplacian", "combinatorial", "-k", "2"];
    let output = run(&base);
    assert!(code(&output) == 0 && said(&output.stderr).contains("DS_edge_attributes.txt"), "{}", said(&output.stderr));
    // An edge of weight w has the eigenvalues 0 and 2w, up to a few rounding errors in f32.
    let near =
        |want: [f32; 4]| floats(&npz, "eigenvalues").iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-5);
    assert!(near([0.0, 2.0, 0.0, 2.0]), "{:?}", floats(&npz, "eigenvalues"));
    let output = run(&[&base[..], &["--edge-weight-column", "2"]].concat());
    assert_eq!((code(&output), said(&output.stderr).as_str()), (0, ""));
    assert!(near([0.0, 6.0, 0.0, 10.0]), "{:?}", floats(&npz, "eigenvalues"));
    for (input, column, want, words) in [
        (&set, "3", 1, "DS_edge_attributes.txt:1: expected a column 3, found 2 in the line"),
        (&set, "0", 2, "a whole number of 1 or more"),
        (&set, "x", 2, "a whole number of 1 or more"),
        (&edges, "1", 2, "--edge-weight-column: "),
    ] {
        let output = run(&["encode", input, "-o", &npz, "--overwrite", "--edge-weight-column", column]);
        assert_eq!(code(&output), want, "{}", said(&output.stderr));
        assert!(said(&output.stderr).contains(words), "{} lacks {words}", said(&output.stderr));
    }
    let output = run(&[
        "run",
        "eigsh",
        &edges,
        "-o",
        &npz,
        "--overwrite",
        "-k",
        "1",
        "--laplacian",
        "none",
        "--edge-weight-column",
        "1",
    ]);
    assert_eq!(code(&output), 2, "{}", said(&output.stderr));
}

#[test]
fn errors_have_the_ids_and_lines_of_the_file() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("o.npz").display().to_string();
    let list = write(&folder, "g.txt", "30 7\n7 30\n7 100\n");
    let output = run(&["encode", &list, "-o", &out, "--overwrite", "--symmetrize", "error"]);
    let want = format!("{list}:3: expected each edge with its reverse, found the edge from node 7 to node 100");
    assert!(code(&output) == 1 && said(&output.stderr).contains(&want), "{}", said(&output.stderr));
    let matrix = write(&folder, "m.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 4\n");
    let output = run(&["run", "eigsh", &matrix, "-o", &out, "--overwrite", "-k", "1", "--laplacian", "none"]);
    let want = format!("{matrix}:3: expected a symmetric matrix, found the entry of row 2 and column 1, 4, and none");
    assert!(code(&output) == 1 && said(&output.stderr).contains(&want), "{}", said(&output.stderr));
    let zipped = write(&folder, "g.txt.gz", b"\x1f\x8b\x08\0\0\0");
    let output = run(&["encode", &zipped, "-o", &out, "--overwrite"]);
    let want = "expected a gzip file that is whole and not damaged, found its end too early";
    assert!(code(&output) == 1 && said(&output.stderr).contains(want), "{}", said(&output.stderr));
    assert!(!Path::new(&out).exists());
}

/// A TUDataset counts its graphs from 1; another file has one graph.
#[test]
fn a_graph_of_a_tudataset_is_counted_as_its_file_does() {
    let folder = TempDir::new().unwrap();
    let set = folder.path().display().to_string();
    let path: String = (3..300).map(|i| format!("{i}, {}\n", i + 1)).collect();
    write(&folder, "DS_A.txt", format!("1, 2\n{path}"));
    write(&folder, "DS_graph_indicator.txt", format!("1\n1\n{}", "2\n".repeat(298)));
    let out = TempDir::new().unwrap().path().with_extension("npz").display().to_string();
    let mut command = fiedler(&["encode", &set, "-o", &out, "--overwrite", "--method", "exact"]);
    let output = command.env("FIEDLER_MEMORY_BUDGET", "1M").output().unwrap();
    assert_eq!(code(&output), 1);
    assert!(said(&output.stderr).contains("of graph 2 (298 nodes)"), "{}", said(&output.stderr));
}
