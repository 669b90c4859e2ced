//! `fiedler train` and `fiedler predict`.

use crate::call::{Files, fiedler, run};
use fiedler::Adapter;
use serde_json::Value;
use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A table of two inputs, the second of which decides the label, with a header.
pub(crate) fn table(rows: u32) -> String {
    let mut text = String::from("a,b,kind\n");
    for i in 0..rows {
        let (a, b) = (f64::from(i * 37 % 101) / 50.0 - 1.0, f64::from(i * 53 % 97) / 48.0 - 1.0);
        let _ = writeln!(text, "{a},{b},{}", if b > 0.0 { "up" } else { "down" });
    }
    text
}

pub(crate) fn said(arguments: &[&str]) -> (i32, String, String) {
    let output = run(arguments);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("an exit status"), text(output.stdout), text(output.stderr))
}

#[track_caller]
fn fails(status: i32, arguments: &[&str], wanted: &str) {
    let (code, _, error) = said(arguments);
    assert!(code == status && error.contains(wanted), "{arguments:?}\nexit {code}: {error}\nwanted {status}: {wanted}");
}

#[test]
fn a_grid_is_trained_and_predicts() {
    let files = Files::new();
    let (data, dir, out) = (files.text("t.csv", &table(300)), files.at("fit"), files.at("p.csv"));
    let (code, printed, error) = said(&[
        "train",
        &data,
        "-o",
        &dir,
        "--hidden",
        "12",
        "--lr",
        "0.03,0.01",
        "--runs",
        "3",
        "--epochs",
        "80",
        "--batch",
        "16",
        "--stop",
        "validation.accuracy",
        "--patience",
        "30",
        "--json",
    ]);
    assert_eq!(code, 0, "{error}");
    let report: Value = serde_json::from_str(&printed).expect("one JSON object");
    assert_eq!((&report["runs"], &report["net"]), (&6.into(), &"2-12-2".into()));
    assert!(report["metrics"]["test.accuracy"]["mean"].as_f64().is_some_and(|mean| mean > 0.9), "{report}");
    assert_eq!(report["groups"].as_object().map(serde_json::Map::len), Some(2), "{report}");
    let summary = std::fs::read_to_string(files.at("fit/summary.csv")).expect("a summary");
    assert!(summary.starts_with("run,seed,lr,") && summary.lines().count() == 7, "{summary}");
    let log = std::fs::read_to_string(files.at("fit/runs.jsonl")).expect("a log");
    let first: Value = serde_json::from_str(log.lines().next().expect("a line")).expect("JSON");
    assert!(first["validation.accuracy"].is_number() && first["epoch"] == 0, "{first}");
    assert!(!std::path::Path::new(&files.at("fit/checkpoint.safetensors")).exists());

    let (code, printed, error) = said(&["predict", &dir, &data, "-o", &out, "--overwrite", "--ensemble"]);
    assert!(code == 0 && printed.contains("the mean of 6 runs"), "{printed}{error}");
    let predicted = std::fs::read_to_string(&out).expect("a table");
    assert!(predicted.starts_with("sample,prediction,p(down),p(up)\n"), "{predicted}");
    let label = |line: &str, at: usize| line.split(',').nth(at).map(str::to_owned);
    let table = table(300);
    let right = predicted.lines().zip(table.lines()).skip(1).filter(|(p, t)| label(p, 1) == label(t, 2)).count();
    assert!(right > 285, "{right} of 300");
    // The inputs alone, as an array, by one run.
    let x: Vec<f64> = vec![0.1, -0.9, 0.2, 0.9];
    let (x, out) = (files.f64s("x.npy", &[2, 2], &x), files.at("p.npz"));
    let (code, printed, error) = said(&["predict", &dir, &x, "-o", &out, "--overwrite", "--run", "2"]);
    assert!(code == 0 && printed.contains("2 samples predicted by run 2"), "{printed}{error}");
    let mut archive = npyz::npz::NpzArchive::open(&out).expect("an archive");
    let prediction = archive.by_name("prediction").expect("an archive").expect("an array");
    assert_eq!(prediction.into_vec::<i64>().expect("integers"), [0, 1]);
    fails(2, &["predict", &dir, &x, "-o", &out, "--overwrite", "--run", "6"], "--run: expected a run below 6, found 6");
    let wide = files.f64s("wide.npy", &[1, 3], &[0.0; 3]);
    let rows = files.at("wide.npz");
    crate::strangers_tables::write(&rows, &[("x", &[1, 3], fiedler::io::Data::F64(&[0.0; 3]))]);
    for (data, name) in [(&wide, "wide.npy"), (&rows, "wide.npz")] {
        let wanted = format!("{name}: expected 2 inputs, as the network has, found 3");
        fails(1, &["predict", &dir, data, "-o", &out, "--overwrite"], &wanted);
    }
}

/// The column of the label is where it was in training, and the inputs have the names that they had.
#[test]
fn columns_are_remembered() {
    let files = Files::new();
    let moved = |line: &str| line.split(',').rev().collect::<Vec<_>>().join(",") + "\n";
    let first: String = table(200).lines().map(moved).collect();
    let (data, dir, out) = (files.text("first.csv", &first), files.at("fit"), files.at("p.csv"));
    let (code, _, error) = said(&["train", &data, "-o", &dir, "--label", "kind", "--lr", "0.03", "--epochs", "60"]);
    assert_eq!(code, 0, "{error}");
    assert_eq!(said(&["predict", &dir, &data, "-o", &out, "--overwrite"]).0, 0);
    let predicted = std::fs::read_to_string(&out).expect("a table");
    let right =
        predicted.lines().zip(first.lines()).skip(1).filter(|(p, t)| p.split(',').nth(1) == t.split(',').next());
    let right = right.count();
    assert!(right > 180, "{right} of 200: another column was left out");
    let swapped = files.text("swapped.csv", "a,b\n1,2\n");
    fails(
        1,
        &["predict", &dir, &swapped, "-o", &out, "--overwrite"],
        "swapped.csv:1: expected the inputs b, a in this order, found a, b",
    );
    // Numbers as names, as pandas writes them.
    let numbered: String = ["0,1,label\n".to_owned()]
        .into_iter()
        .chain((0..60).map(|i| format!("{},{},{}\n", i % 7, i % 2, i % 2)))
        .collect();
    let (code, printed, _) = said(&["train", &files.text("n.csv", &numbered), "-o", &files.at("n"), "--epochs", "1"]);
    assert!(code == 0 && printed.contains("of 2-2 ") && printed.contains("60 samples"), "{printed}");
}

#[test]
fn bits_and_arrays_are_read() {
    let files = Files::new();
    let mut text = String::new();
    for i in 0..200_u32 {
        let bits = i.wrapping_mul(2_654_435_761);
        let _ = writeln!(text, "{bits:032b} {}", 1 + (bits >> 31));
    }
    let data = files.text("strings.txt", &text);
    let (code, printed, error) =
        said(&["train", &data, "-o", &files.at("a"), "--epochs", "60", "--lr", "0.01", "--batch", "10"]);
    assert!(code == 0 && printed.contains("200 samples of 32 inputs"), "{printed}{error}");
    // The same data as arrays, in f64, with a bounded loss of one output.
    let x: Vec<f64> = text.lines().flat_map(|line| line[..32].bytes().map(|b| f64::from(b - b'0'))).collect();
    let y: Vec<i64> = text.lines().map(|line| line[33..].parse().expect("a label")).collect();
    let path = files.at("strings.npz");
    let mut archive = npyz::npz::NpzWriter::create(&path).expect("a file");
    let options = npyz::zip::write::FileOptions::default().compression_method(npyz::zip::CompressionMethod::Deflated);
    write(&mut archive, "x", options, &[200, 32], &x);
    write(&mut archive, "y", options, &[200], &y);
    drop(archive);
    let (code, printed, error) = said(&[
        "train",
        &path,
        "-o",
        &files.at("b"),
        "--precision",
        "f64",
        "--loss",
        "bounded",
        "--epochs",
        "60",
        "--lr",
        "0.01",
        "--batch",
        "10",
    ]);
    assert!(code == 0 && printed.contains("of 32-1 (33 parameters)"), "{printed}{error}");
    let (code, printed, error) = said(&["predict", &files.at("b"), &data, "-o", &files.at("b.safetensors")]);
    assert!(code == 0 && printed.contains("200 samples"), "{printed}{error}");
}

fn write<T: npyz::AutoSerialize>(
    archive: &mut npyz::npz::NpzWriter<std::io::BufWriter<std::fs::File>>,
    name: &str,
    options: npyz::zip::write::FileOptions,
    shape: &[u64],
    data: &[T],
) {
    use npyz::WriterBuilder as _;
    let mut writer =
        archive.array(name, options).expect("a member").default_dtype().shape(shape).begin_nd().expect("begun");
    data.iter().for_each(|x| writer.push(x).expect("written"));
    writer.finish().expect("finished");
}

/// Killed at 20 moments, the training goes on and ends in the same bytes.
#[test]
fn killed_and_resumed() {
    let files = Files::new();
    let data = files.text("t.csv", &table(400));
    let arguments = |dir: &str, resume: bool| {
        let mut all: Vec<String> =
            ["train", &data, "-o", dir, "--hidden", "16,8", "--dropout", "0.2", "--norm", "batch"]
                .into_iter()
                .chain(["--runs", "6", "--epochs", "4000", "--batch", "8", "--checkpoint", "0.02", "--stop"])
                .chain(["validation.loss", "--patience", "4000", "--optimizer", "adamw"])
                .map(str::to_owned)
                .collect();
        all.extend(resume.then(|| "--resume".to_owned()));
        all
    };
    let call =
        |dir: &str, resume: bool| fiedler(&arguments(dir, resume).iter().map(String::as_str).collect::<Vec<_>>());
    let (whole, parts) = (files.at("whole"), files.at("parts"));
    assert!(call(&whole, false).output().expect("it starts").status.success());
    let mut killed = 0;
    for moment in 0..20_u64 {
        let mut child = call(&parts, moment > 0).stdout(Stdio::null()).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(30 + 17 * (moment * 7 % 20)));
        killed += u32::from(child.try_wait().expect("a status").is_none());
        child.kill().expect("killed");
        child.wait().expect("ended");
    }
    assert!(killed >= 5, "only {killed} of 20 calls were still running when they were killed");
    let last = call(&parts, true).output().expect("it starts");
    assert!(last.status.success(), "{}", String::from_utf8_lossy(&last.stderr));
    for name in ["weights.safetensors", "runs.jsonl"] {
        let bytes = |dir: &str| std::fs::read(std::path::Path::new(dir).join(name)).expect("a file");
        assert!(bytes(&whole) == bytes(&parts), "{name} differs");
    }
    let again = call(&parts, true).output().expect("it starts");
    assert!(String::from_utf8_lossy(&again.stdout).contains("this training is finished"));
}

/// A test in which all runs make no error says what it does not exclude, and no interval is without width.
#[test]
fn perfect_runs_are_not_certain() {
    let files = Files::new();
    let far: String =
        (0..200).map(|i| format!("{},{}\n", if i % 2 == 0 { 5 } else { -5 }, ["a", "b"][i % 2])).collect();
    let options = ["--runs", "3", "--epochs", "20", "--lr", "0.1"];
    let (code, printed, _) =
        said(&[&["train", &files.text("t.csv", &far), "-o", &files.at("fit")], &options[..]].concat());
    assert!(code == 0 && printed.contains("test.accuracy: 1.0000 in each of 3 runs"), "{printed}");
    assert!(printed.contains("always guessing the most frequent class has a test.accuracy of 0."), "{printed}");
    // 0.05^(1/40)
    assert!(printed.contains("a test of 40 samples without an error still allows an accuracy of 0.9278"), "{printed}");
}

#[test]
fn wrong_calls() {
    let files = Files::new();
    let data = files.text("t.csv", &table(60));
    let dir = files.at("fit");
    let train = |more: &[&'static str]| {
        let mut all: Vec<String> = ["train", &data, "-o", &dir].map(str::to_owned).to_vec();
        all.extend(more.iter().map(|&word| word.to_owned()));
        all
    };
    for (status, more, wanted) in [
        (2, &["--hidden", "0"][..], "1 or more"),
        (2, &["--stop", "accuracy"], "validation.accuracy"),
        (2, &["--split", "0.5"], "0.7,0.1,0.2"),
        (2, &["--schedule", "linear"], "plateau:FACTOR,PATIENCE"),
        (2, &["--set", "speed=1"], "gradient_scale"),
        (2, &["--lr", "0"], "above 0"),
        (2, &["--backend", "gpu", "--precision", "f64"], "expected --precision f32"),
        (2, &["--sgld", "--betas", "1", "--precision", "f16"], "expected --precision f32 or f64"),
        (2, &["--batch", "50"], "at most 42 training samples, found 50"),
        (2, &["--split", "0.6,0.6,0.1"], "sum to 1"),
        (2, &["--dropout", "1", "--hidden", "4"], "less than 1"),
        (1, &["--label", "shade"], "a column named shade"),
        (1, &["--loss", "mse"], "a finite number"),
        (2, &["--row-group", "9", "--batch", "9"], "train: a group of 9 samples: expected a batch of at most 6"),
        (2, &["--split", "0.999,0.001"], "at least one sample"),
        (2, &["--optimizer", "sgld", "--temperature", "inf"], "prior_precision above 0"),
        (2, &["--momentum", "0.9"], "--momentum: expected --optimizer sgd"),
        (2, &["--optimizer", "sgld", "--weight-decay", "1"], "--prior-precision"),
        (2, &["--set", "dropout=0.5"], "gradient_scale"),
        (2, &["--dropout", "0.5"], "--dropout: expected --hidden"),
    ] {
        let all = train(more);
        fails(status, &all.iter().map(String::as_str).collect::<Vec<_>>(), wanted);
        assert!(!std::path::Path::new(&dir).exists(), "{more:?} left a folder");
    }
    std::fs::create_dir(&dir).expect("a folder");
    let all = train(&[]);
    std::fs::write(files.at("fit/note"), "mine").expect("a file");
    fails(2, &all.iter().map(String::as_str).collect::<Vec<_>>(), "it exists already");
    for (name, text, wanted) in [
        ("ragged.csv", "1,2,a\n1,b\n", "ragged.csv:2: expected 3 columns"),
        ("nan.csv", "1,2,a\n1,nan,b\n", "nan.csv:2: expected a finite number"),
        ("bits.txt", "01010101 1\n01x10101 2\n", "bits.txt:2: expected a string of bits"),
        ("short.txt", "010101011 1\n01010101 2\n", "short.txt:2: expected 9 bits"),
        ("late.txt", "bits label\n01010101 1\n01010111 2\n", "late.txt:2: expected a table"),
        ("first.csv", "1,?,a\n1,2,b\n", "first.csv:1: expected a finite number"),
        ("one.csv", "1,2,a\n2,3,a\n1,3,a\n4,4,a\n1,4,a\n2,4,a\n2,4,a\n2,4,a\n2,4,a\n2,4,a\n", "found only \"a\""),
        ("empty.csv", "", "expected"),
        ("narrow.csv", "1\n2\n", "expected columns of inputs and a target"),
    ] {
        let file = files.text(name, text);
        fails(1, &["train", &file, "-o", &files.at("other"), "--batch", "2"], wanted);
        assert!(!std::path::Path::new(&files.at("other")).exists(), "{name} left a folder");
    }
    let packed = files.at("t.csv.gz");
    std::fs::write(&packed, b"\x1f\x8b\x08\0\0\0\0\0\0\x03K\xd4I").expect("written");
    fails(1, &["train", &packed, "-o", &files.at("other")], "found a gzip file; decompress it first");
    let numbers: String = (0..60).map(|i| format!("{i},{}\n", i % 7)).collect();
    let weighted = ["train", &files.text("w.csv", &numbers), "-o", &files.at("other"), "--loss", "weighted"];
    fails(1, &weighted, "--loss weighted: expected an array y with two weights for each sample, (samples, 2), found 1");
    fails(1, &["predict", &dir, &data, "-o", &files.at("p.npz")], "weights.safetensors");
    fails(2, &["predict", &dir, &data, "-o", &files.at("p.txt")], ".npz, .safetensors or .csv");
}

/// A run that diverges is reported by the exit status, and the others are written. No prediction uses it.
#[test]
fn a_diverged_run_is_told() {
    let files = Files::new();
    let (data, dir) = (files.text("t.csv", &table(100)), files.at("fit"));
    let (code, printed, _) =
        said(&["train", &data, "-o", &dir, "--optimizer", "sgd", "--lr", "1e38,0.1", "--epochs", "5", "--hidden", "4"]);
    assert!(code == 3 && printed.contains("1 Finished, 1 Diverged"), "{code}: {printed}");
    let out = files.at("p.csv");
    let (code, printed, _) = said(&["predict", &dir, &data, "-o", &out, "--overwrite", "--ensemble"]);
    assert!(code == 0 && printed.contains("the mean of 1 run, without 1 that diverged"), "{printed}");
    fails(1, &["predict", &dir, &data, "-o", &out, "--overwrite", "--run", "0"], "run 0, which diverged");
    // Even if the last step alone went wrong.
    let (code, printed, _) = said(&[
        "train",
        &data,
        "-o",
        &files.at("last"),
        "--optimizer",
        "sgd",
        "--lr",
        "1e38",
        "--epochs",
        "1",
        "--hidden",
        "8",
        "--batch",
        "70",
    ]);
    assert!(code == 3 && printed.contains("1 Diverged") && printed.contains("no run ended well"), "{code}: {printed}");
}

/// A training on values is scored by R^2 and errors in its own unit, and can be stopped by them. A report of few test
/// samples says that they say little.
#[test]
fn values_are_scored_by_more_than_the_loss() {
    let files = Files::new();
    let rows = |n: i32| (0..n).map(|i| format!("{},{},{}\n", i % 13, (i * 37) % 41, i % 13)).collect::<String>();
    let train = |n: i32, dir: &str, stop: &str| {
        let (data, dir) = (files.text("t.csv", &rows(n)), files.at(dir));
        said(&["train", &data, "-o", &dir, "--loss", "mse", "--epochs", "9", "--batch", "16", "--stop", stop])
    };
    let (code, printed, error) = train(120, "many", "validation.r2");
    assert!(code == 0 && printed.contains("test.r2: ") && !printed.contains("says little"), "{printed}{error}");
    assert!(printed.contains("always guessing the mean has a test.rmse of "), "{printed}");
    let summary = std::fs::read_to_string(files.at("many/summary.csv")).expect("a summary");
    assert!(summary.contains(",test.loss,test.r2,test.rmse,test.mae,"), "{summary}");
    let log = std::fs::read_to_string(files.at("many/runs.jsonl")).expect("a log");
    assert!(log.contains("\"validation.r2\":") && !log.contains("validation.auc"), "{log}");
    let (code, printed, error) = train(30, "few", "validation.mae");
    assert!(code == 0 && printed.contains("says little about other samples"), "{printed}{error}");
    let (code, _, error) = train(120, "none", "validation.auc");
    assert!(code == 2 && error.contains("of loss, r2, rmse, mae, found validation.auc"), "{code}: {error}");
}

/// The report has the number of skipped steps, which only f16 has. The first scale is too large for these targets.
#[test]
fn skipped_steps_are_told() {
    let files = Files::new();
    let large: String = (0..120).map(|i| format!("{},{},{}\n", i % 13, (i * 37) % 41, 300 * (i % 13))).collect();
    let data = files.text("t.csv", &large);
    let train = |dir: &str, more: &[&str]| {
        let dir = files.at(dir);
        let (code, printed, _) =
            said(&[&["train", &data, "-o", &dir, "--hidden", "8", "--epochs", "9", "--loss", "mse"], more].concat());
        let summary = std::fs::read_to_string(format!("{dir}/summary.csv")).expect("a summary");
        (code, printed, summary)
    };
    let (code, printed, summary) = train("f16", &["--precision", "f16"]);
    assert!(code == 0 && printed.contains("of f16 skipped"), "{code}: {printed}");
    assert!(summary.starts_with("run,seed") && summary.contains(",skipped_steps,"), "{summary}");
    for precision in ["bf16", "f32"] {
        let (code, printed, summary) = train(precision, &["--precision", precision]);
        assert!(code == 0 && !printed.contains("skipped") && !summary.contains("skipped"), "{precision}: {printed}");
    }
    let data = files.text("large.csv", &format!("{large}70000,1,2\n"));
    fails(1, &["train", &data, "-o", &files.at("large"), "--precision", "f16", "--loss", "mse"], "use bf16");
}

/// Where the disk is full, the error names the file, and what was there stays.
#[cfg(unix)]
#[test]
fn a_full_disk() {
    let files = Files::new();
    let (data, dir) = (files.text("t.csv", &table(100)), files.at("fit"));
    // Files of more than 8 KiB cannot be written. The signal is ignored, so that writing returns an error.
    let script = format!(
        "trap '' XFSZ; ulimit -f 8; exec {} train {data} -o {dir} --hidden 4000 --epochs 3",
        env!("CARGO_BIN_EXE_fiedler")
    );
    let output = Command::new("bash").args(["-c", &script]).output().expect("bash");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && error.contains("weights.safetensors"), "{error}");
    let left: Vec<String> = std::fs::read_dir(&dir)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert!(left.iter().all(|name| !name.ends_with(".tmp") && name != "weights.safetensors"), "{left:?}");
}

/// Trains on the first adapter of the machine; predictions need none.
#[test]
fn an_adapter_trains_as_the_cpu_does() {
    let Some(adapter) = Adapter::all().into_iter().next() else {
        let required = std::env::var("FIEDLER_REQUIRE_ADAPTERS").is_ok_and(|names| !names.is_empty());
        assert!(!required, "there is no adapter here");
        return;
    };
    let files = Files::new();
    let data = files.text("t.csv", &table(300));
    let mut accuracies = Vec::new();
    for place in [&["--backend", "cpu"][..], &["--backend", "gpu", "--adapter", &adapter.name]] {
        let dir = files.at(place[1]);
        let options = ["--hidden", "12", "--runs", "3", "--epochs", "40", "--batch", "16", "--lr", "0.03", "--json"];
        let (code, printed, error) = said(&[&["train", &data, "-o", &dir], &options[..], place].concat());
        assert_eq!(code, 0, "{error}");
        let report: Value = serde_json::from_str(&printed).expect("one JSON object");
        let side = if place[1] == "cpu" { "cpu" } else { &adapter.name };
        assert_eq!(report["side"], side, "{report}");
        accuracies.push(report["metrics"]["test.accuracy"]["mean"].as_f64().expect("a mean"));
        let (code, printed, error) = said(&["predict", &dir, &data, "-o", &files.at(&format!("{}.csv", place[1]))]);
        assert!(code == 0 && printed.contains("300 samples predicted"), "{printed}{error}");
    }
    // A test part has 60 samples, so 3 runs have a standard error of 2 points.
    assert!((accuracies[0] - accuracies[1]).abs() < 0.06 && accuracies[1] > 0.85, "{accuracies:?}");
}
