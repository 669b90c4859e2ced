//! Tests of the command as a user runs it: its outputs, its exit codes, and that a file is complete or absent.

use crate::call::{fiedler, run};
use npyz::npz::NpzArchive;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;
use tempfile::TempDir;

const KARATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/karate.txt");

fn code(output: &Output) -> i32 {
    output.status.code().expect("it ends by itself")
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns a folder and the path of a file in it, as text.
fn place(name: &str) -> (TempDir, String) {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path().join(name).to_str().expect("a plain path").to_owned();
    (folder, path)
}

fn floats(path: &str, name: &str) -> (Vec<u64>, Vec<f32>) {
    let mut archive = NpzArchive::open(path).expect("an npz");
    let array = archive.by_name(name).expect("readable").unwrap_or_else(|| panic!("no array {name}"));
    (array.shape().to_vec(), array.into_vec().expect("f32"))
}

#[test]
fn encodes_the_sample_into_every_array_that_is_promised() {
    let (_folder, out) = place("karate.npz");
    let output = run(&["encode", KARATE, "-o", &out, "--overwrite", "-k", "4", "--walk-steps", "3"]);
    assert_eq!(code(&output), 0, "{}", said(&output.stderr));
    let line = said(&output.stdout);
    for word in [
        "karate: 1 graph, 34 nodes, 78 edges; 4 eigenpairs, on the CPU (asked for); all converged, largest residual ",
        "; 1 component, smallest non-zero eigenvalue 0.1323; ",
        " s (read ",
        ", encode ",
        ", write ",
    ] {
        assert!(line.contains(word), "no `{word}` in {line}");
    }
    let (shape, values) = floats(&out, "eigenvalues");
    assert_eq!(shape, [1, 4]);
    // The expected eigenvalues come from numpy.linalg.eigvalsh of scipy.sparse.csgraph.laplacian(normed=True), for
    // networkx's karate club without weights.
    for (got, want) in values.iter().zip([0.0, 0.132_272_3, 0.287_049, 0.387_313_2]) {
        // The bound covers half an ulp of f32 at 1, and the digits of the expected eigenvalues that are left out
        // here.
        assert!((got - want).abs() <= 1e-6, "{values:?}");
    }
    assert_eq!(floats(&out, "eigenvectors").0, [34, 4]);
    assert_eq!(floats(&out, "random_walk").0, [34, 3]);
    let names: Vec<String> = NpzArchive::open(&out).unwrap().array_names().map(str::to_owned).collect();
    for name in ["node_offsets", "residual", "orthogonality", "status", "components", "tie_group", "mask", "node_ids"] {
        assert!(names.iter().any(|n| n == name), "no {name} in {names:?}");
    }
}

#[test]
fn the_same_call_writes_the_same_bytes_whatever_the_budget() {
    let (folder, set) = place("set");
    assert_eq!(code(&run(&["generate", "molecules", "--graphs", "60", "--seed", "7", "-o", &set])), 0);
    let write = |name: &str, budget: &str| {
        let out = folder.path().join(name);
        let mut command = fiedler(&["encode", &set, "-o", out.to_str().unwrap(), "--laplacian", "combinatorial"]);
        let output = command.env("FIEDLER_MEMORY_BUDGET", budget).output().unwrap();
        assert_eq!(code(&output), 0, "{}", said(&output.stderr));
        std::fs::read(out).unwrap()
    };
    let whole = write("a.npz", "1G");
    assert_eq!(whole, write("b.npz", "1G"));
    assert_eq!(whole, write("c.npz", "100K"));
    assert_eq!(write("a.safetensors", "1G"), write("b.safetensors", "100K"));
    assert_eq!(write("a.csv", "1G"), write("b.csv", "100K"));
}

#[test]
fn json_is_one_object_and_quiet_is_silent() {
    let (_folder, out) = place("k.npz");
    let output = run(&["encode", KARATE, "-o", &out, "--overwrite", "--json", "--drop-trivial"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(report["graphs"], 1);
    assert_eq!(report["on_cpu"], 1);
    assert_eq!((&report["components"], &report["edges"], &report["solved_again"]), (&1.into(), &78.into(), &0.into()));
    assert!((report["smallest_nonzero"].as_f64().unwrap() - 0.132_272_3).abs() < 1e-6, "{report}");
    assert_eq!((&report["fewest_pairs"], &report["graphs_with_fewer_pairs"]), (&8.into(), &0.into()));
    assert_eq!(report["uncertified"], 0);
    assert!(report["seconds"]["encode"].as_f64().is_some());
    let output = run(&["encode", KARATE, "-o", &out, "--overwrite", "--quiet"]);
    assert_eq!((code(&output), output.stdout.len(), output.stderr.len()), (0, 0, 0));
}

#[test]
fn a_wrong_call_exits_with_2_a_failure_with_1_and_neither_leaves_a_file() {
    let (folder, out) = place("out.npz");
    let text = folder.path().join("bad.txt");
    std::fs::write(&text, "0 1\n1 two three four five\n").unwrap();
    let bad = text.to_str().unwrap();
    let own = bad.to_owned();
    let held = folder.path().join("folder.npz").to_str().unwrap().to_owned();
    std::fs::create_dir(&held).unwrap();
    let elsewhere = format!("{}/no/such/out.npz", folder.path().display());
    for (arguments, want, words) in [
        (vec!["encode", KARATE, "-o", "out.xyz"], 2, ".npz, .safetensors, .csv, .parquet, .arrow or .arrows"),
        (vec!["encode", KARATE, "-o", &elsewhere], 2, "existing folder"),
        (vec!["encode", KARATE], 2, "--output"),
        (vec!["encode", KARATE, "-o", &out, "--overwrite", "--laplacian", "odd"], 2, "random-walk"),
        (vec!["encode", KARATE, "-o", &out, "--overwrite", "--backend", "tpu"], 2, "auto, gpu or cpu"),
        (vec!["encode", KARATE, "-o", &out, "--overwrite", "-k", "-1"], 2, "a whole number of 0 or more"),
        (vec!["generate", "path", "--nodes", "-1", "-o", &out, "--overwrite"], 2, "a whole number of 0 or more"),
        (vec!["frobnicate"], 2, "frobnicate"),
        (vec!["encode", KARATE, "-o", &held], 2, "found a folder"),
        (vec!["encode", bad, "-o", &own], 2, ".npz, .safetensors, .csv, .parquet, .arrow or .arrows"),
        (vec!["run", "eigh", bad, "-o", "out.csv"], 2, ".npz or .safetensors"),
        (vec!["encode", KARATE, "-o", &out, "--overwrite", "-k", "18446744073709551615"], 1, "bytes"),
        (vec!["encode", KARATE, "-o", &out, "--overwrite", "--walk-steps", "6148914691236517206"], 1, "bytes"),
        (vec!["encode", "no-such-file.txt", "-o", &out, "--overwrite"], 1, "no-such-file.txt"),
        (vec!["encode", bad, "-o", &out, "--overwrite"], 1, "bad.txt:2"),
        (vec!["encode", KARATE, "-o", &out, "--overwrite", "--symmetrize", "error"], 1, "karate.txt"),
        (
            vec!["encode", KARATE, "-o", &out, "--overwrite", "--backend", "gpu", "--adapter", "no such adapter"],
            1,
            "no such adapter",
        ),
    ] {
        let output = run(&arguments);
        let words_said = said(&output.stderr);
        assert_eq!(code(&output), want, "{arguments:?}: {words_said}");
        assert!(words_said.contains(words), "{arguments:?}: no `{words}` in {words_said}");
    }
    std::fs::remove_dir(&held).unwrap();
    let left: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(left, [text]);
}

#[test]
fn the_environment_is_checked_and_options_override_it() {
    let (folder, out) = place("k.npz");
    let with = |name: &str, value: &str, arguments: &[&str]| {
        let output = fiedler(arguments).env(name, value).output().unwrap();
        (code(&output), said(&output.stderr) + &said(&output.stdout))
    };
    let plain = ["encode", KARATE, "-o", &out, "--overwrite"];
    let auto = ["encode", KARATE, "-o", &out, "--overwrite", "--backend", "auto"];
    for (name, value, words) in [
        ("FIEDLER_BACKEND", "tpu", "auto, gpu or cpu"),
        ("FIEDLER_MEMORY_BUDGET", "lots", "512M"),
        ("FIEDLER_MEMORY_BUDGET", "1BBB", "512M"),
    ] {
        let (code, said) = with(name, value, &plain);
        assert!(code == 2 && said.contains(words), "{name}={value}: {code} {said}");
    }
    let (code, said) = with("FIEDLER_BACKEND", "gpu", &auto);
    assert!(code == 0 && !said.contains("asked for"), "{code} {said}");
    // An input may not be an output.
    let csv = folder.path().join("g.csv");
    std::fs::write(&csv, "0,1\n1,2\n").unwrap();
    let path = csv.to_str().unwrap();
    assert_eq!(run(&["encode", path, "-o", path]).status.code(), Some(2));
    assert_eq!(std::fs::read(&csv).unwrap(), b"0,1\n1,2\n");
}

#[cfg(target_os = "linux")]
#[test]
fn pipes_are_read_and_a_full_standard_error_is_no_panic() {
    use std::process::Stdio;
    let (_folder, out) = place("k.npz");
    let piped = |input: &str, content: &[u8]| {
        let mut command = fiedler(&["encode", input, "-o", &out, "--overwrite", "-k", "2"]);
        let pipe = Stdio::piped;
        let mut child = command.stdin(pipe()).stdout(pipe()).stderr(pipe()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(content).unwrap();
        child.wait_with_output().unwrap()
    };
    for (input, name) in [("-", "standard input"), ("/dev/stdin", "/dev/stdin")] {
        let output = piped(input, b"0 1\n1 2\n");
        assert_eq!(code(&output), 0, "{}", said(&output.stderr));
        assert!(said(&output.stdout).contains("1 graph, 3 nodes, 2 edges"), "{}", said(&output.stdout));
        for (content, words) in [(&b""[..], ": expected at least one edge"), (b"0 1\n1\n", ":2: expected two ids")] {
            let output = piped(input, content);
            let wanted = format!("{name}{words}");
            assert!(code(&output) == 1 && said(&output.stderr).contains(&wanted), "{}", said(&output.stderr));
        }
    }
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = fiedler(&["encode", "no-such-file.txt", "-o", &out, "--overwrite"]).stderr(full).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn a_run_killed_at_any_moment_leaves_a_complete_file_or_none() {
    let (folder, set) = place("set");
    assert_eq!(code(&run(&["generate", "molecules", "--graphs", "3000", "-o", &set])), 0);
    let out = folder.path().join("out.npz");
    let arguments = ["encode", &set, "-o", out.to_str().unwrap(), "--quiet"];
    assert_eq!(code(&run(&arguments)), 0);
    let whole = std::fs::read(&out).unwrap();
    let mut killed = 0;
    for step in 0..40_u32 {
        std::fs::remove_file(&out).ok();
        let mut child = fiedler(&arguments).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(u64::from(step * step) / 2));
        child.kill().unwrap();
        // A run that ended before it was killed was successful.
        killed += i32::from(!child.wait().unwrap().success());
        if let Ok(found) = std::fs::read(&out) {
            assert_eq!(found, whole, "killed after {} ms", step * step / 2);
        }
    }
    assert!(killed > 0, "it always ended first");
}

/// Writes a C-order f64 .npy file.
fn write_npy(path: &Path, shape: &str, data: &[f64]) {
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}");
    let padded = (10 + header.len() + 1).next_multiple_of(64) - 10;
    header.extend(std::iter::repeat_n(' ', padded - 1 - header.len()));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    data.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn run_eigh_has_numpys_order_and_meaning() {
    let (folder, out) = place("out.npz");
    let input = folder.path().join("in.npy");
    // The upper triangle is not read: the eigenvalues of [[2, 1], [1, 2]] are 1 and 3, and the eigenvalues of [[0,
    // 4], [4, 0]] are -4 and 4.
    write_npy(&input, "2, 2, 2", &[2.0, 99.0, 1.0, 2.0, 0.0, 99.0, 4.0, 0.0]);
    let output = run(&["run", "eigh", input.to_str().unwrap(), "-o", &out, "--overwrite", "--time", "3"]);
    assert_eq!(code(&output), 0, "{}", said(&output.stderr));
    let last = said(&output.stdout).lines().last().map(str::to_owned).unwrap();
    let times: serde_json::Value = serde_json::from_str(&last).expect("the last line is JSON");
    assert!(["first_ms", "transfers_ms", "resident_ms"].iter().all(|name| times[name].as_f64().is_some()), "{last}");
    let mut archive = NpzArchive::open(&out).unwrap();
    let w: Vec<f64> = archive.by_name("w").unwrap().unwrap().into_vec().unwrap();
    let v = archive.by_name("v").unwrap().unwrap();
    assert_eq!(v.shape(), [2, 2, 2]);
    let v: Vec<f64> = v.into_vec().unwrap();
    // f64 input gives f64 output, so the error is a few eps of f64.
    for (got, want) in w.iter().zip([1.0, 3.0, -4.0, 4.0]) {
        assert!((got - want).abs() < 1e-14, "{w:?}");
    }
    // The output is row-major. v[0, :, 0] is the eigenvector of the first eigenvalue, (1, -1) / sqrt(2) up to its
    // sign.
    assert!((v[0] + v[2]).abs() < 1e-14 && (v[1] - v[3]).abs() < 1e-14, "{v:?}");

    write_npy(&input, "2, 2", &[1.0, 0.0, 0.5, f64::NAN]);
    let output = run(&["run", "eigvalsh", input.to_str().unwrap(), "-o", &out, "--overwrite"]);
    assert_eq!(code(&output), 3, "{}", said(&output.stderr));
    let status: Vec<u8> = NpzArchive::open(&out).unwrap().by_name("status").unwrap().unwrap().into_vec().unwrap();
    assert_eq!(status, [2]);

    write_npy(&input, "2, 3", &[0.0; 6]);
    let output = run(&["run", "eigh", input.to_str().unwrap(), "-o", &out, "--overwrite"]);
    assert_eq!(code(&output), 2);
    assert!(said(&output.stderr).contains("square"), "{}", said(&output.stderr));
}

#[test]
fn run_svd_has_numpys_order_and_meaning() {
    let (folder, out) = place("out.npz");
    let input = folder.path().join("in.npy");
    let read = |name: &str| {
        let mut archive = NpzArchive::open(&out).unwrap();
        let array = archive.by_name(name).unwrap().unwrap();
        (array.shape().to_vec(), array.into_vec::<f64>().unwrap())
    };
    // The input is row-major: [[3, 0, 0], [0, 0, 2]] and [[0, 0, 0], [0, -5, 0]].
    write_npy(&input, "2, 2, 3", &[3.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, -5.0, 0.0]);
    for (full, rows) in [(false, 2_u64), (true, 3)] {
        let mut arguments = vec!["run", "svd", input.to_str().unwrap(), "-o", &out, "--overwrite"];
        arguments.extend(full.then_some("--full"));
        let output = run(&arguments);
        assert_eq!(code(&output), 0, "{}", said(&output.stderr));
        let (u_shape, u) = read("u");
        let (s_shape, s) = read("s");
        let (vh_shape, vh) = read("vh");
        assert_eq!((u_shape, s_shape, vh_shape), (vec![2, 2, 2], vec![2, 2], vec![2, rows, 3]));
        for (got, want) in s.iter().zip([3.0, 2.0, 5.0, 0.0]) {
            assert!((got - want).abs() < 1e-14, "{s:?}");
        }
        // u[0, 0, 0] vh[0, 0, 0] has the sign of the element 3, u[0, 1, 1] vh[0, 1, 2] has the sign of the element
        // 2, and u[1, 1, 0] vh[1, 0, 1] has the sign of the element -5.
        let second = 3 * rows as usize;
        for (got, want) in [(u[0] * vh[0], 1.0), (u[3] * vh[5], 1.0), (u[4 + 2] * vh[second + 1], -1.0)] {
            assert!((got - want).abs() < 1e-14, "{u:?} {vh:?}");
        }
    }
    let output = run(&["run", "svdvals", input.to_str().unwrap(), "-o", &out, "--overwrite", "--time", "2"]);
    assert_eq!(code(&output), 0, "{}", said(&output.stderr));
    assert_eq!(read("s").0, [2, 2]);
    assert!(NpzArchive::open(&out).unwrap().by_name("u").unwrap().is_none());
    assert!(said(&output.stdout).contains("resident_ms"));
    let output = run(&["run", "svdvals", "--full", input.to_str().unwrap(), "-o", &out, "--overwrite"]);
    assert_eq!(code(&output), 2);
}

#[test]
fn run_statistics_has_numpys_order_and_meaning() {
    let (folder, out) = place("out.npz");
    let input = folder.path().join("in.npy");
    let input = input.to_str().unwrap();
    let call = |arguments: &[&str]| {
        let output = run(&[&["run", arguments[0], input, "-o", &out, "--overwrite"], &arguments[1..]].concat());
        assert_eq!(code(&output), 0, "{arguments:?}: {}", said(&output.stderr));
    };
    let wide = |name: &str| {
        let mut archive = NpzArchive::open(&out).unwrap();
        let array = archive.by_name(name).unwrap().unwrap();
        (array.shape().to_vec(), array.into_vec::<f64>().unwrap())
    };
    let whole = |name: &str| {
        let mut archive = NpzArchive::open(&out).unwrap();
        let array = archive.by_name(name).unwrap().unwrap();
        (array.shape().to_vec(), array.into_vec::<i64>().unwrap())
    };
    // The input is row-major: [[[1, 2, 3], [5, 4, 3]], [[0, 0, 0], [2, 4, 6]]].
    write_npy(
        folder.path().join("in.npy").as_path(),
        "2, 2, 3",
        &[1.0, 2.0, 3.0, 5.0, 4.0, 3.0, 0.0, 0.0, 0.0, 2.0, 4.0, 6.0],
    );
    call(&["stats", "--time", "1"]);
    assert_eq!(wide("mean"), (vec![2, 3], vec![3.0, 3.0, 3.0, 1.0, 2.0, 3.0]));
    assert_eq!(whole("count"), (vec![2, 3], vec![2; 6]));
    call(&["stats", "--axis", "cols", "--ddof", "0"]);
    assert_eq!(wide("mean"), (vec![2, 2], vec![2.0, 4.0, 0.0, 4.0]));
    assert_eq!(wide("variance").1[2], 0.0);
    call(&["stats", "--axis", "batch"]);
    assert_eq!(wide("max"), (vec![2, 3], vec![1.0, 2.0, 3.0, 5.0, 4.0, 6.0]));
    call(&["stats", "--axis", "all"]);
    assert_eq!(wide("mean"), (vec![], vec![2.5]));
    call(&["quantiles", "--axis", "cols", "-q", "0.5,1"]);
    assert_eq!(wide("quantiles"), (vec![2, 2, 2], vec![2.0, 3.0, 4.0, 5.0, 0.0, 0.0, 4.0, 6.0]));
    call(&["histogram", "--axis", "all", "--bins", "2", "--range", "-1,4"]);
    assert_eq!(whole("counts"), (vec![2], vec![4, 6]));
    assert_eq!((whole("above"), wide("edges").1), ((vec![], vec![2]), vec![-1.0, 1.5, 4.0]));
    call(&["cov"]);
    assert_eq!(wide("cov").0, [2, 3, 3]);
    assert_eq!(wide("cov").1[..9], [8.0, 4.0, 0.0, 4.0, 2.0, 0.0, 0.0, 0.0, 0.0]);
    call(&["corr"]);
    assert!((wide("corr").1[1] - 1.0).abs() < 1e-15 && wide("corr").1[2].is_nan());
    // The rows vary in only one direction, (2, 1, 0) / sqrt(5).
    write_npy(folder.path().join("in.npy").as_path(), "3, 3", &[1.0, 2.0, 3.0, 5.0, 4.0, 3.0, 3.0, 3.0, 3.0]);
    call(&["pca", "-k", "1", "--whiten"]);
    for (got, want) in wide("components").1.iter().zip([2.0 / 5.0_f64.sqrt(), 1.0 / 5.0_f64.sqrt(), 0.0]) {
        assert!((got - want).abs() < 1e-14, "{got} for {want}");
    }
    assert!((wide("explained_variance").1[0] - 5.0).abs() < 1e-13);
    for (got, want) in wide("transformed").1.iter().zip([-1.0, 1.0, 0.0]) {
        assert!((got - want).abs() < 1e-14, "{got} for {want}");
    }
    assert_eq!(whole("status").1, [0]);
    let output = run(&["run", "pca", input, "-o", &out, "--overwrite", "-k", "4"]);
    assert_eq!(code(&output), 2, "{}", said(&output.stderr));
    let output = run(&["run", "histogram", input, "-o", &out, "--overwrite", "--range", "1"]);
    assert_eq!(code(&output), 2, "{}", said(&output.stderr));
}

#[test]
fn doctor_reports_adapters_and_choices() {
    let output = run(&["doctor", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert!(report["adapters"].is_array() && report["choices"].as_array().is_some_and(|c| !c.is_empty()));
    assert!(report["without_adapter"].as_str().is_some_and(|why| why.contains("CPU")));
    // With `--quick`, the doctor does not measure speed. Otherwise it would report that a busy machine is slow.
    let output = run(&["doctor", "--quick"]);
    assert_eq!(code(&output), 0);
    assert!(said(&output.stdout).contains("chosen: the CPU alone"));
}

#[test]
fn without_any_adapter_the_cpu_takes_over_and_says_so() {
    let (_folder, out) = place("k.npz");
    let mut command = fiedler(&["encode", KARATE, "-o", &out, "--overwrite"]);
    let output = command.env_remove("FIEDLER_BACKEND").env("VK_DRIVER_FILES", "none").output().unwrap();
    assert_eq!(code(&output), 0, "{}", said(&output.stderr));
    // On macOS and Windows the environment variable does not hide the adapters, so the output names one of them
    // instead.
    assert!(said(&output.stdout).contains("GPU") || !cfg!(target_os = "linux"), "{}", said(&output.stdout));
}

#[test]
fn generate_depends_on_the_seed_and_refuses_to_overwrite() {
    let (folder, set) = place("set");
    let other = folder.path().join("other").to_str().unwrap().to_owned();
    for path in [&set, &other] {
        assert_eq!(code(&run(&["generate", "molecules", "--graphs", "20", "--seed", "3", "-o", path])), 0);
    }
    let read = |path: &str, name: &str| std::fs::read(Path::new(path).join(name)).unwrap();
    assert_eq!(read(&set, "set_A.txt"), read(&other, "other_A.txt"));
    let output = run(&["generate", "molecules", "--graphs", "20", "-o", &set]);
    assert_eq!(code(&output), 2);
    assert!(said(&output.stderr).contains("set"), "{}", said(&output.stderr));
}

#[test]
fn generate_writes_graphs_that_can_be_read_again() {
    let (folder, txt) = place("grid.txt");
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let output = run(&["generate", "grid", "--rows", "30", "--columns", "20", "-o", &txt]);
    assert!(code(&output) == 0 && said(&output.stdout).contains("600 nodes, 2300 entries"), "{}", said(&output.stderr));
    let text = std::fs::read_to_string(&txt).unwrap();
    let head = "# fiedler generate grid --rows 30 --columns 20\n# Nodes: 600 Edges: 1150\n0\t1\n";
    assert!(text.starts_with(head), "{}", &text[..100]);
    let out = at("grid.npz");
    assert_eq!(code(&run(&["encode", &txt, "-o", &out, "--overwrite", "--laplacian", "combinatorial", "-k", "2"])), 0);
    let want = 4.0 * (std::f32::consts::PI / 60.0).sin().powi(2);
    let got = floats(&out, "eigenvalues").1;
    // The bound covers a few rounding errors of f32 for a matrix of norm 8.
    assert!(got[0].abs() < 8e-6 && (got[1] - want).abs() < 8e-6, "{got:?}");

    for (words, nodes) in [
        ("path --nodes 7", 7),
        ("cycle --nodes 7", 7),
        ("torus --rows 3 --columns 4", 12),
        ("hypercube --dimension 5", 32),
        ("complete --nodes 6", 6),
        ("star --nodes 9", 9),
        ("blocks --blocks 3 --size 10 --within 0.5 --between 1/20 --seed 3", 30),
        ("preferential --nodes 40 --links 3 --seed 3", 40),
        ("uniform --nodes 20 --edges 30 --seed 3", 20),
    ] {
        let mtx = at("graph.mtx");
        let arguments: Vec<&str> =
            ["generate"].into_iter().chain(words.split(' ')).chain(["-o", &mtx, "--overwrite"]).collect();
        let output = run(&arguments);
        assert!(code(&output) == 0, "{words}: {}", said(&output.stderr));
        assert!(said(&output.stdout).contains(&format!("{nodes} nodes")), "{words}: {}", said(&output.stdout));
        let text = std::fs::read_to_string(&mtx).unwrap();
        assert!(text.starts_with("%%MatrixMarket matrix coordinate pattern symmetric\n% fiedler generate "), "{text}");
        assert_eq!(code(&run(&["encode", &mtx, "-o", &out, "--overwrite", "--json"])), 0);
        assert_eq!(floats(&out, "eigenvectors").0, [nodes, 8], "{words}");
    }
    let sparse = ["generate", "uniform", "--nodes", "50", "--edges", "3", "-o", &txt, "--overwrite"];
    let output = run(&sparse);
    assert_eq!(code(&output), 0);
    assert!(said(&output.stderr).contains("nodes have no edge"), "{}", said(&output.stderr));

    std::fs::remove_file(&txt).unwrap();
    for (words, want, why) in [
        ("path --nodes 0", 1, "1 nodes or more"),
        ("path --nodes 1", 1, "no edges"),
        ("torus --rows 2 --columns 9", 1, "3 nodes or more"),
        ("preferential --nodes 5 --links 5", 1, "from 1 to 4 links"),
        ("uniform --nodes 5 --edges 11", 1, "10 pairs"),
        ("blocks --blocks 2 --size 5 --within 1.5 --between 0", 2, "from 0 to 1"),
        ("blocks --blocks 2 --size 5 --within often --between 0", 2, "such as 1/20"),
        ("grid --rows 2", 2, "--columns"),
    ] {
        let arguments: Vec<&str> =
            ["generate"].into_iter().chain(words.split(' ')).chain(["-o", &txt, "--overwrite"]).collect();
        let output = run(&arguments);
        assert_eq!(code(&output), want, "{words}: {}", said(&output.stderr));
        assert!(said(&output.stderr).contains(why), "{words}: {}", said(&output.stderr));
        assert!(!Path::new(&txt).exists(), "{words}");
    }
    assert_eq!(code(&run(&["generate", "path", "--nodes", "5", "-o", &at("path.csv")])), 2);
}
