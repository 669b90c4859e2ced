//! Tests of `fiedler tune`, `explain` and `bench` as a user runs them.

use crate::call::fiedler;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Runs the command with the tuning files of a folder. Returns the exit status and the output.
fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = fiedler(arguments).env("FIEDLER_CACHE_DIR", folder).output().expect("the command starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn done(folder: &Path, arguments: &[&str]) -> String {
    let (code, out, err) = run(folder, arguments);
    assert_eq!(code, Some(0), "{arguments:?}: {err}");
    out
}

#[test]
fn explain_reports_side_time_and_reason() {
    let folder = tempfile::tempdir().unwrap();
    let text = done(folder.path(), &["explain", "eigh", "n=32", "batch=10000"]);
    for word in [
        "eigh/f32/n=32/batch=10000: cpu",
        "asked for",
        "from defaults (`fiedler tune` measures this machine)",
        "no adapter",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let auto = ["explain", "eigh/f32/n=32/batch=10000", "--json", "--backend", "auto"];
    let told: Value = serde_json::from_str(&done(folder.path(), &auto)).unwrap();
    assert_eq!(told["workload"], "eigh/f32/n=32/batch=10000");
    assert_eq!((&told["side"], &told["measured"]["cpu"]), (&"cpu".into(), &false.into()));
    // The predicted time is that of 10,000 matrices with 9 n^3 flop each, at the default rate of a thread, divided by
    // the number of threads.
    let threads = std::thread::available_parallelism().unwrap().get() as f64;
    let seconds = told["cpu_s"].as_f64().unwrap();
    assert!(seconds * threads > 0.05 && seconds * threads < 0.5, "{told}");
    // `explain` takes each name that benchmarks print.
    for name in [
        "eigvalsh/f32/n=8/batch=3",
        "svd/f32/n=8/batch=3",
        "fft/c64/n=1000/batch=16384",
        "rfft/f32/n=4096/batch=2",
        "gemm/f32/n=64/batch=2",
        "cov/f32/rows=1000000/cols=128",
        "laplacian/f32/n=30/batch=9",
        "spmm/f32/nodes=1000/edges=10000/k=32",
        "eigsh/f32/grid=100/k=16",
        "describe/f32/n=1000/batch=2",
        "train/f32/net=devices/runs=10",
    ] {
        let told: Value = serde_json::from_str(&done(folder.path(), &["explain", name, "--json"])).unwrap();
        assert_eq!(told["workload"], name);
        assert!(told["cpu_s"].as_f64().unwrap() > 0.0, "{told}");
    }
}

/// A network that is described by the options of `train`: ten times as many runs of as many steps take ten times as
/// long.
#[test]
fn explain_describes_features() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["explain", "features", "n=500", "samples=10000", "representations=core33,", "quantiles(q=[0.1, 0.2])"];
    let text = done(folder.path(), &words);
    assert!(text.contains("features n=500 samples=10000 representations=core33, quantiles(q=[0.1, 0.2])"), "{text}");
    assert!(text.contains("CPU, ") && text.contains("threads"), "{text}");
    let told = |words: &[&str]| -> Value {
        serde_json::from_str(&done(folder.path(), &[&["explain", "--json"], words].concat())).unwrap()
    };
    let some = told(&["features", "n=500", "samples=1000"]);
    let more = told(&["features", "n=500", "samples=4000"]);
    let ratio = more["cpu_s"].as_f64().unwrap() / some["cpu_s"].as_f64().unwrap();
    assert!((2.0..5.0).contains(&ratio), "{some} {more}");
    assert!(told(&["features", "n=9", "representations=histogram(range='fitted')"])["side"].is_string());
    assert!(told(&["features", "rows=8", "columns=9", "representations=singular"])["side"].is_string());
    for (words, part) in [
        (&["features"][..], "expected n=, or rows= and columns="),
        (&["features", "n=0"], "a whole number above 0, found `n=0`"),
        (&["features", "m=5"], "found `m`"),
        (&["features", "n=5", "representations=spectrl"], "did you mean `spectral`?"),
        (&["features", "n=5", "representations=graph"], "always computed on the CPU"),
    ] {
        let (code, _, error) = run(folder.path(), &[&["explain"], words].concat());
        assert!(code == Some(2) && error.contains(part), "{words:?}: {error}");
    }
}

#[test]
fn explain_describes_a_training() {
    let folder = tempfile::tempdir().unwrap();
    let call = |more: &[&str]| {
        let network = ["--inputs", "100", "--hidden", "30,20", "--outputs", "3", "--samples", "6000", "--batch", "8"];
        run(folder.path(), &[&["explain", "train"], &network[..], more].concat())
    };
    let json = |more: &[&str]| -> Value { serde_json::from_str(&call(&[&["--json"], more].concat()).1).unwrap() };
    let (few, many) = (json(&["--runs", "100"]), json(&["--runs", "1000", "--optimizer", "adam"]));
    assert_eq!(few["workload"], "train 100-30-20-3, batch 8, adam, 6000 samples, 100 epochs, runs=100");
    let ratio = many["cpu_s"].as_f64().unwrap() / few["cpu_s"].as_f64().unwrap();
    assert!((ratio - 10.0).abs() < 1e-6, "{ratio}");
    assert!(few["memory"]["host"].as_u64().unwrap() > 6000 * 400, "{few}");
    assert!(few["memory"]["device"].is_null(), "{few}");
    let (code, text, _) = call(&[]);
    assert!(code == Some(0) && text.contains("memory: ") && text.contains("asked for"), "{text}");
    let groups = |more: &[&str]| json(more)["memory"]["row_groups"].clone();
    assert_eq!((groups(&["--dropout", "0.2", "--row-group", "1000"]), groups(&["--sgld"])), (6.into(), 1.into()));
    assert!(json(&["--sgld"])["workload"].as_str().is_some_and(|told| told.contains("batch 8, sgld, ")));
    for (more, word) in [
        (&["--split", "2"][..], "0.7,0.1,0.2"),
        (&["--loss", "tangent"], "1 output"),
        (&["--sgld", "--dropout", "0.2"], "--dropout"),
        (&["--sgld", "--precision", "f16"], "expected --precision f32 or f64"),
        (&["--row-group", "9"], "a group of 9 samples"),
    ] {
        let (code, _, err) = call(more);
        assert!(code == Some(2) && err.contains(word), "{err}");
    }
    let (code, _, err) = run(folder.path(), &["explain", "train", "--inputs", "4", "--outputs", "2"]);
    assert!(code == Some(2) && err.contains("--samples"), "{err}");
    // A network of `bench` may have a precision, and then its memory is told, too.
    let explain = |words: &str| run(folder.path(), &["explain", words]);
    let (code, text, err) = explain("train net=devices runs=100 precision=f16");
    assert!(code == Some(0) && text.contains("runs=100/precision=f16: ") && text.contains("memory: "), "{text}{err}");
    for (words, word) in [("train net=devices precision=f8", "found `f8`"), ("eigh n=3 precision=f16", "found eigh")] {
        let (code, _, err) = explain(words);
        assert!(code == Some(2) && err.contains(word), "{err}");
    }
}

/// Canonical vectors and certificates of small graphs take several times as long as their decomposition
/// (`encode::plan` has the figures).
#[test]
fn what_follows_the_solver_is_in_the_prediction() {
    let folder = tempfile::tempdir().unwrap();
    let seconds = |workload: &str| {
        let told: Value = serde_json::from_str(&done(folder.path(), &["explain", workload, "--json"])).unwrap();
        told["cpu_s"].as_f64().expect("seconds")
    };
    let solver = seconds("eigh n=23 batch=10000");
    let [eight, sixteen] = [8, 16].map(|k| seconds(&format!("encode nodes=23 graphs=10000 k={k}")) / solver);
    assert!(4.0 < eight && eight < sixteen && sixteen < 12.0, "{eight} {sixteen}");
    // For large graphs, the solver takes most of the time.
    let share = seconds("encode nodes=250 graphs=100 k=8") / seconds("eigh n=250 batch=100");
    assert!(1.0 < share && share < 1.2, "{share}");
}

#[test]
fn wrong_workloads_are_wrong_calls() {
    let folder = tempfile::tempdir().unwrap();
    for (workload, word) in [
        ("eig n=3", "eigh"),
        ("eigh", "n="),
        ("eigh n=0", "above 0"),
        ("eigh n=3 batch=-1", "batch=-1"),
        ("eigh n=3 rows=5", "rows=5"),
        ("eigh n=1000000 batch=10000000", "2^40"),
        ("eigsh grid=3 k=10", "9 pairs"),
        ("cov n=3", "cols="),
        ("train runs=3", "the name of a network"),
        ("train net=601", "one of synth, digits"),
    ] {
        for command in ["explain", "bench"] {
            let (code, _, err) = run(folder.path(), &[command, workload]);
            assert_eq!(code, Some(2), "{command} {workload}: {err}");
            assert!(err.contains(word), "{command} {workload}: {err}");
        }
    }
    let (code, _, err) = run(folder.path(), &["bench", "--only", "eigh,fish"]);
    assert!(code == Some(2) && err.contains("fish"), "{err}");
}

/// A tuning file is absent, then measured, then damaged, then deleted. A tuning run that is killed leaves no file.
#[test]
fn a_tuning_file_is_written_shown_ignored_and_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let files = || fs::read_dir(folder.path().join("tuning")).map_or(0, Iterator::count);
    assert!(done(folder.path(), &["tune", "--show"]).contains("not measured"));
    let mut killed = fiedler(&["tune"]).env("FIEDLER_CACHE_DIR", folder.path()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(files(), 0);
    assert!(done(folder.path(), &["tune"]).contains("stored in"));
    assert_eq!(files(), 1);
    let shown = done(folder.path(), &["tune", "--show"]);
    assert!(shown.contains("eigh 2 to") && shown.contains("train "), "{shown}");
    let explained = done(folder.path(), &["explain", "eigh", "n=32"]);
    assert!(explained.contains("measured on this machine"), "{explained}");

    let path = fs::read_dir(folder.path().join("tuning")).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() / 2]).unwrap();
    let (code, out, err) = run(folder.path(), &["explain", "eigh", "n=32"]);
    assert!(code == Some(0) && out.contains("defaults"), "{out}");
    assert!(err.contains("tuning ignored") && err.contains(path.to_str().unwrap()), "{err}");
    assert!(done(folder.path(), &["tune", "--show"]).contains("ignored"));
    assert!(done(folder.path(), &["tune", "--forget"]).contains("forgotten"));
    assert_eq!(files(), 0);
}

#[test]
fn a_tuning_file_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let (code, _, err) = run(&file, &["tune"]);
    assert!(code == Some(1) && err.contains("file"), "{err}");
    // With a damaged tuning file, commands that compute continue with the default rates.
    let (code, out, _) = run(&file, &["explain", "eigh", "n=32"]);
    assert!(code == Some(0) && out.contains("defaults"), "{out}");
}

#[test]
fn bench_measures_compares_and_draws() {
    let folder = tempfile::tempdir().unwrap();
    let lines = done(
        folder.path(),
        &["bench", "eigh/f32/n=8/batch=100", "gemm n=16 batch=4", "train net=devices runs=3", "--quick", "--json"],
    );
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 3);
    for (row, name) in
        rows.iter().zip(["eigh/f32/n=8/batch=100", "gemm/f32/n=16/batch=4", "train/f32/net=devices/runs=3"])
    {
        assert_eq!((&row["workload"], &row["device"]), (&name.into(), &"CPU".into()));
        assert!(row["ms"].as_f64().unwrap() > 0.0 && row["error_share"].as_f64().unwrap() <= 1.0, "{row}");
    }
    let peers = folder.path().join("peers.jsonl");
    fs::write(
        &peers,
        "{\"workload\": \"gemm/f32/n=16/batch=4\", \"peer\": \"numpy 2\", \"device\": \"cpu\", \"ms\": 1.5}\n",
    )
    .unwrap();
    let page = folder.path().join("page.html");
    let call =
        ["bench", "gemm n=16 batch=4", "--quick", "--peers", peers.to_str().unwrap(), "--html", page.to_str().unwrap()];
    let text = done(folder.path(), &call);
    assert!(text.contains("numpy 2 1.50 ms"), "{text}");
    let page = fs::read_to_string(&page).unwrap();
    assert!(page.contains("<svg") && page.contains("gemm/f32/n=16/batch=4") && !page.contains("http://"), "{page}");
    // A file that is not a list of results, and a page that cannot be written.
    fs::write(&peers, "no\n").unwrap();
    let (code, _, err) = run(folder.path(), &["bench", "gemm n=4", "--peers", peers.to_str().unwrap()]);
    assert!(code == Some(1) && err.contains("peers.jsonl:1"), "{err}");
    assert_eq!(run(folder.path(), &["bench", "gemm n=4", "--html", "page.txt"]).0, Some(2));
}
