//! `fiedler train --sgld`.

use crate::call::Files;
use crate::train::{said, table};
use serde_json::Value;
use std::path::Path;

#[test]
fn a_ladder_is_sampled_and_bounded() {
    let files = Files::new();
    let data = files.text("t.csv", &table(150));
    let call = |dir: &str, more: &[&str]| {
        let options = ["--sgld", "--betas", "0,2,40", "--epochs", "1,20,60", "--lr", "0.1", "--batch", "25"];
        let more_options = ["--hidden", "8", "--loss", "bounded", "--runs", "4", "--split", "0.5,0.5", "--bound"];
        said(&[&["train", &data, "-o", dir], &options[..], &more_options[..], more].concat())
    };
    let (code, printed, error) = call(&files.at("a"), &["--json"]);
    assert_eq!(code, 0, "{error}");
    let report: Value = serde_json::from_str(&printed).expect("one JSON object");
    assert_eq!(
        (&report["chains"], &report["law"], &report["training_samples"]),
        (&12.into(), &"pac-bayes".into(), &75.into())
    );
    let rungs = report["betas"].as_array().expect("a list");
    let number = |rung: usize, key: &str, inner: &str| rungs[rung][key][inner].as_f64().expect("a number");
    assert_eq!(rungs.iter().map(|rung| rung["epochs"].clone()).collect::<Vec<_>>(), [1, 20, 60]);
    assert!(number(2, "train.loss", "mean") < number(0, "train.loss", "mean"), "{report}");
    for rung in 0..3 {
        let (bound, test) = (number(rung, "bound.loss", "bound"), number(rung, "bound.loss", "test"));
        assert!(bound > test && bound <= 1.0, "{report}");
        assert!(number(rung, "bound.error", "bound") > number(rung, "test.error", "mean"), "{report}");
    }
    let read = |name: &str| std::fs::read_to_string(files.at(name)).expect("a file");
    let (summary, bounds) = (read("a/summary.csv"), read("a/bounds.csv"));
    assert!(summary.starts_with("run,seed,beta,lr,") && summary.lines().count() == 13, "{summary}");
    assert!(bounds.starts_with("beta,measure,integral,train,") && bounds.lines().count() == 13, "{bounds}");
    assert!(Path::new(&files.at("a/weights.safetensors")).exists());
    assert!(!Path::new(&files.at("a/checkpoint.safetensors")).exists());
    // In words: a row for each beta in both tables, with the numbers of the report.
    let (code, printed, _) = call(&files.at("b"), &[]);
    assert!(code == 0 && printed.contains("12 chains of 2-8-1") && printed.contains("12 Finished"), "{printed}");
    let rows: Vec<&str> = printed.lines().filter(|line| line.trim_start().starts_with("40 ")).collect();
    assert_eq!(rows.len(), 2, "{printed}");
    assert!(rows[0].contains(&format!("{:.4} +- ", number(2, "train.loss", "mean"))), "{printed}");
    assert!(rows[1].contains(&format!("{:.4}", number(2, "bound.loss", "bound"))), "{printed}");
    let (code, printed, error) = said(&["predict", &files.at("b"), &data, "-o", &files.at("p.csv"), "--ensemble"]);
    assert!(code == 0 && printed.contains("the mean of 12 runs"), "{printed}{error}");
}

/// The posterior of a linear model has no bound, and values have no error.
#[test]
fn a_posterior_of_values() {
    let files = Files::new();
    let text: String = (0..40).map(|i| format!("{},{}\n", f64::from(i % 7) - 3.0, f64::from(i % 7) * 0.5)).collect();
    let data = files.text("v.csv", &text);
    let (code, printed, error) = said(&[
        "train",
        &data,
        "-o",
        &files.at("a"),
        "--sgld",
        "--preset",
        "posterior",
        "--loss",
        "mse",
        "--sigma",
        "2",
        "--lr",
        "1e-3",
        "--batch",
        "10",
        "--epochs",
        "50",
        "--runs",
        "3",
        "--precision",
        "f64",
    ]);
    assert!(code == 0 && printed.contains("posterior at 1 beta") && !printed.contains("error"), "{printed}{error}");
    assert!(!Path::new(&files.at("a/bounds.csv")).exists());
}

/// Where a chain diverges, there is no bound, and the others are written.
#[test]
fn a_diverged_chain_is_told() {
    let files = Files::new();
    let data = files.text("t.csv", &table(150));
    let (code, printed, _) = said(&[
        "train",
        &data,
        "-o",
        &files.at("a"),
        "--sgld",
        "--betas",
        "0,1e-3",
        "--sigma",
        "1e38",
        "--lr",
        "1e30",
        "--loss",
        "bounded",
        "--hidden",
        "4,4",
        "--bound",
        "--runs",
        "2",
        "--epochs",
        "2",
    ]);
    assert!(code == 3 && printed.contains("no bound: ") && printed.contains("that did at beta"), "{code}: {printed}");
    assert!(Path::new(&files.at("a/summary.csv")).exists() && !Path::new(&files.at("a/bounds.csv")).exists());
}

#[test]
fn wrong_calls() {
    let files = Files::new();
    let data = files.text("t.csv", &table(150));
    let dir = files.at("fit");
    let good = ["--sgld", "--betas", "0,1,10", "--loss", "bounded"];
    for (more, wanted) in [
        (&["--betas", "0,1"][..], "--sgld"),
        (&["--sigma", "2"], "--sgld"),
        (&["--bound"], "--sgld"),
        (&["--sgld"], "--sgld: expected --betas"),
        (&["--epochs", "3,4"], "--epochs: expected one number"),
        (&["--sgld", "--betas", "0,-1"], "0 or more"),
        (&["--sgld", "--betas", "0,x"], "0 or more"),
        (&["--sgld", "--betas", "1,0"], "found 0 after 1"),
        (&["--sgld", "--betas", "0,1", "--delta", "0.1"], "--bound"),
        (&["--sgld", "--betas", "0,1", "--bound"], "found the cross entropy"),
        (&["--sgld", "--betas", "1,2", "--bound", "--loss", "bounded"], "begin with 0, found 1"),
        (&[&good[..], &["--bound", "--preset", "gibbs"]].concat(), "found gibbs"),
        (&[&good[..], &["--bound", "--scale", "standard"]].concat(), "inputs as they are"),
        (&[&good[..], &["--bound", "--delta", "1"]].concat(), "between 0 and 1"),
        (&[&good[..], &["--optimizer", "adam"]].concat(), "--optimizer: expected no --sgld"),
        (&[&good[..], &["--temperature", "1"]].concat(), "--temperature: expected no --sgld"),
        (&[&good[..], &["--prior-precision", "1"]].concat(), "--prior-precision: expected no --sgld"),
        (&[&good[..], &["--weight-decay", "1"]].concat(), "--weight-decay: expected no --sgld"),
        (&[&good[..], &["--l1", "1"]].concat(), "--l1: expected no --sgld"),
        (&[&good[..], &["--clip", "1"]].concat(), "--clip: expected no --sgld"),
        (&[&good[..], &["--hidden", "4", "--dropout", "0.1"]].concat(), "--dropout: expected no --sgld"),
        (&[&good[..], &["--hidden", "4", "--norm", "batch"]].concat(), "--norm batch: expected no --sgld"),
        (&[&good[..], &["--set", "burn_in=3"]].concat(), "--set: expected no --sgld"),
        (&[&good[..], &["--stop", "train.loss"]].concat(), "--stop: expected no --sgld"),
        (&[&good[..], &["--schedule", "plateau:0.5,3"]].concat(), "--schedule plateau: expected no --sgld"),
        (&[&good[..], &["--epochs", "1,2"]].concat(), "one for each beta, found 2"),
        (&[&good[..], &["--lr", "1,2"]].concat(), "one for each beta, found 2"),
        (&[&good[..], &["--lr", "5"]].concat(), "beta 1: expected a step size below 4, found 5"),
        (&[&good[..], &["--sigma", "0"]].concat(), "above 0"),
    ] {
        let (code, _, error) = said(&[&["train", &data, "-o", &dir], more].concat());
        assert!(code == 2 && error.contains(wanted), "{more:?}\nexit {code}: {error}\nwanted: {wanted}");
        assert!(!Path::new(&dir).exists(), "{more:?} left a folder");
    }
}
