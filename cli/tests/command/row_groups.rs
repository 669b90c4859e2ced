//! `fiedler train --row-group`.

use crate::call::{Files, fiedler};
use crate::train::said;
use fiedler::io::{self, Data, NamedArray, Rows};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// Writes points of two inputs, the second of which decides the label.
fn points(path: &str, rows: u32) {
    let place = |i: u32, factor: u32, prime: u32| (i * factor % prime) as f32 / (prime as f32 / 2.0) - 1.0;
    let x: Vec<f32> = (0..rows).flat_map(|i| [place(i, 37, 101), place(i, 53, 97)]).collect();
    let y: Vec<i64> = x.chunks(2).map(|x| if x[1] > 0.0 { 7 } else { -1 }).collect();
    let array = |name, shape, data| NamedArray { name, rows: Rows::Other, shape, data };
    let count = rows as usize;
    io::write(Path::new(path), &[array("x", vec![count, 2], Data::F32(&x)), array("y", vec![count], Data::I64(&y))])
        .expect("a file");
}

fn bytes(dir: &str, name: &str) -> Vec<u8> {
    std::fs::read(Path::new(dir).join(name)).expect("a file")
}

#[test]
fn groups_of_a_file_are_trained_and_predict() {
    let files = Files::new();
    let (data, table) = (files.at("data.npz"), files.at("data.csv"));
    points(&data, 601);
    let train = |data: &str, dir: &str, more: &[&str]| {
        let dir = files.at(dir);
        let options = ["--hidden", "12", "--runs", "3", "--epochs", "20", "--batch", "16", "--lr", "0.03"];
        let (code, printed, error) = said(&[&["train", data, "-o", &dir], &options[..], more].concat());
        assert_eq!(code, 0, "{error}");
        (dir, printed)
    };
    let (three, printed) = train(&data, "three", &["--row-group", "201"]);
    assert!(printed.contains("601 samples of 2 inputs in 3 groups"), "{printed}");
    let (whole, printed) = train(&data, "whole", &["--json"]);
    let report: Value = serde_json::from_str(&printed).expect("one JSON object");
    assert_eq!((&report["row_groups"], &report["samples"]), (&1.into(), &601.into()));
    assert!(bytes(&three, "weights.safetensors") != bytes(&whole, "weights.safetensors"));
    // The same numbers of a table, which is in memory.
    let (x, y) = (io::read_arrays(Path::new(&data)).expect("arrays"), ["-1", "7"]);
    let column = |at: usize| match &x[at].data {
        io::NpyData::F32(x) => x.clone(),
        _ => Vec::new(),
    };
    let rows = column(x.iter().position(|array| array.name == "x").expect("inputs"));
    let lines: String = rows.chunks(2).map(|x| format!("{},{},{}\n", x[0], x[1], y[usize::from(x[1] > 0.0)])).collect();
    std::fs::write(&table, lines).expect("a table");
    for (dir, more) in [(&three, &["--row-group", "201", "--threads", "1"][..]), (&whole, &[])] {
        let (other, _) = train(&table, if more.is_empty() { "a" } else { "b" }, more);
        assert!(bytes(dir, "runs.jsonl") == bytes(&other, "runs.jsonl"));
    }
    let (code, printed, error) = said(&["predict", &three, &data, "-o", &files.at("p.csv")]);
    assert!(code == 0 && printed.contains("601 samples predicted"), "{printed}{error}");
    let predicted = std::fs::read_to_string(files.at("p.csv")).expect("a table");
    assert!(predicted.starts_with("sample,prediction,p(-1),p(7)\n"), "{predicted}");
    let (code, _, error) = said(&["train", &data, "-o", &files.at("c"), "--sgld", "--betas", "1", "--row-group", "9"]);
    assert!(code == 2 && error.contains("--row-group: expected a training without --sgld"), "{error}");
}

/// Groups of a sorted file have few classes, which is told once. One group is shuffled as a whole.
#[test]
fn a_sorted_file_is_noticed() {
    let files = Files::new();
    let lines = |class: &dyn Fn(u32) -> bool| -> String {
        (0..400).map(|i| format!("{},{}\n", i * 37 % 101, if class(i) { "up" } else { "down" })).collect()
    };
    let (sorted, mixed) = (files.text("s.csv", &lines(&|i| i < 250)), files.text("m.csv", &lines(&|i| i % 3 == 0)));
    let errors = |data: &str, rows: &str| {
        let dir = files.at(&format!("{rows}{}", data.len() + usize::from(data == mixed)));
        said(&["train", data, "-o", &dir, "--epochs", "2", "--batch", "8", "--row-group", rows]).2
    };
    let told = errors(&sorted, "100");
    assert!(told.lines().count() == 1 && told.contains("sorted by class") && told.contains("shuffle"), "{told}");
    assert_eq!((errors(&sorted, "400"), errors(&mixed, "100")), (String::new(), String::new()));
}

/// What only some groups lack is told of these.
#[test]
fn parts_of_small_groups_are_told() {
    let files = Files::new();
    for (count, wanted) in [
        (3, "; no samples for validation; no samples for test in some groups"),
        (5, "; no samples for validation; no samples for test in some groups"),
        (4, "; no samples for validation"),
    ] {
        let rows: String = (0..count).map(|i| format!("{i}.5,{}\n", ["u", "v"][i % 2])).collect();
        let data = files.text(&format!("{count}.csv"), &("a,kind\n".to_owned() + &rows));
        let (out, more) = (files.at(&count.to_string()), ["--row-group", "2", "--epochs", "1"]);
        let (code, printed, error) = said(&[&["train", &data, "-o", &out], &more[..]].concat());
        assert!(code == 0 && printed.trim_end().ends_with(wanted), "{printed}{error}");
    }
}

/// Killed at several moments, the training goes on and ends in the same bytes.
#[test]
fn killed_and_resumed() {
    let files = Files::new();
    let data = files.at("data.safetensors");
    points(&data, 601);
    let call = |dir: &str, resume: bool| {
        let mut all = ["train", &data, "-o", dir, "--hidden", "16,8", "--dropout", "0.2", "--norm", "batch"].to_vec();
        all.extend(["--runs", "4", "--epochs", "300", "--batch", "8", "--checkpoint", "0.01", "--row-group", "150"]);
        all.extend(resume.then_some("--resume"));
        fiedler(&all)
    };
    let (whole, parts) = (files.at("whole"), files.at("parts"));
    assert!(call(&whole, false).output().expect("it starts").status.success());
    let mut killed = 0;
    for moment in 0..6_u64 {
        let mut child = call(&parts, moment > 0).stdout(Stdio::null()).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(40 + 23 * (moment * 5 % 6)));
        killed += u32::from(child.try_wait().expect("a status").is_none());
        child.kill().expect("killed");
        child.wait().expect("ended");
    }
    assert!(killed >= 3, "only {killed} of 6 calls were still running when they were killed");
    let last = call(&parts, true).output().expect("it starts");
    assert!(last.status.success(), "{}", String::from_utf8_lossy(&last.stderr));
    for name in ["weights.safetensors", "runs.jsonl"] {
        assert!(bytes(&whole, name) == bytes(&parts, name), "{name} differs");
    }
}

/// What a training beyond the memory needs is told beforehand.
#[test]
fn groups_are_explained() {
    let explain = |budget: &str| {
        let arguments = ["explain", "train", "--inputs", "100", "--outputs", "3", "--samples", "100000", "--json"];
        let output = fiedler(&arguments).env("FIEDLER_MEMORY_BUDGET", budget).output().expect("it starts");
        let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        report["memory"]["row_groups"].clone()
    };
    // A sample has 408 bytes, and two groups have a quarter of the budget.
    assert_eq!((explain("200MB"), explain("100MB")), (1.into(), 4.into()));
}
