//! `fiedler tournament`.

use crate::call::{Files, fiedler, run};
use serde_json::Value;
use std::process::Output;

fn said(output: &Output) -> (Option<i32>, String) {
    let both = [&output.stdout[..], &output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&both).into_owned())
}

/// Writes strings of several devices and returns their path.
fn strings(files: &Files, samples: &str, devices: &str, length: &str) -> String {
    let path = files.at("strings.txt");
    let output =
        run(&["generate", "strings", "--samples", samples, "--devices", devices, "--length", length, "-o", &path]);
    assert!(output.status.success(), "{}", said(&output).1);
    path
}

fn read(folder: &str, name: &str) -> String {
    std::fs::read_to_string(format!("{folder}/{name}")).expect(name)
}

#[test]
fn divergences_of_classes_and_devices() {
    let files = Files::new();
    let (data, one, other) = (strings(&files, "90", "6", "70"), files.at("one"), files.at("other"));
    let (code, text) = said(&run(&["tournament", "kl", &data, "-o", &one, "--permutations", "19"]));
    assert_eq!(code, Some(0), "{text}");
    for words in ["kl: 3 pairs of 3 groups, 90 strings of 70 bits: ", "; composite ", "one/report.md", "too few groups"]
    {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
    assert_eq!(read(&one, "pairs.csv").lines().count(), 4);
    assert!(read(&one, "report.md").starts_with("# Divergences of pairs (KL)\n"));
    let arguments = ["tournament", "kl", &data, "-o", &other, "--devices", "6", "--permutations", "0", "--json"];
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output).1);
    let printed: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let report: Value = serde_json::from_str(&read(&other, "report.json")).expect("JSON");
    assert_eq!(
        (&printed["pairs"], &printed["kind"], &printed["relations"]),
        (&15.into(), &"kl".into(), &report["relations"])
    );
    assert_eq!(report["groups"][5]["class"], "3");
    // The bytes do not depend on the number of threads.
    let again = files.at("again");
    let arguments = ["tournament", "kl", &data, "-o", &again, "--permutations", "19", "--threads", "1", "--quiet"];
    assert_eq!(said(&run(&arguments)), (Some(0), String::new()));
    for name in ["pairs.csv", "report.json", "report.md"] {
        assert_eq!(read(&one, name), read(&again, name), "{name}");
    }
}

#[test]
fn networks_and_classifiers() {
    let files = Files::new();
    let (data, gan, test) = (strings(&files, "120", "3", "64"), files.at("gan"), files.at("test"));
    let arguments = ["tournament", "qgan", &data, "-o", &gan, "--steps", "2", "--repeats", "2", "--seed", "5"];
    let (code, text) = said(&run(&arguments));
    assert!(code == Some(0) && text.contains("qgan: 3 pairs") && text.contains("Between seeds"), "{text}");
    let report: Value = serde_json::from_str(&read(&gan, "report.json")).expect("JSON");
    assert_eq!(report["settings"], serde_json::json!({"steps": 2, "repeats": 2, "seed": 5}));
    let (code, text) = said(&run(&["tournament", "c2st", &data, "-o", &test, "--repeats", "2"]));
    assert!(code == Some(0) && text.contains("of 3 pairs are told apart"), "{text}");
    assert_eq!(read(&test, "pairs.csv").lines().nth(1).expect("a pair").split(',').count(), 13);
}

#[test]
fn wrong_calls() {
    let files = Files::new();
    let (data, out) = (strings(&files, "20", "2", "32"), files.at("out"));
    let plain = files.text("plain.txt", "0101010101\n1101010101\n");
    let words = files.text("words.txt", "0101010101 1\n01010x0101 1\n");
    let there = files.text("there", "");
    for (arguments, code, words) in [
        (vec!["kl", &data, "-o", &out], 1, "strings of at least 64 bits, found 32"),
        (vec!["qgan", &data, "-o", &out], 1, "strings of at least 64 bits, found 32"),
        (vec!["c2st", &plain, "-o", &out], 1, "a label for each string, or a number of devices"),
        (vec!["c2st", &words, "-o", &out], 1, "a string of bits"),
        (vec!["c2st", &data, "-o", &there], 2, "it exists already; --overwrite replaces it"),
        (vec!["c2st", &data, "-o", &out, "--devices", "21"], 2, "--devices: expected 2 to 20"),
        (vec!["c2st", &data, "-o", &out, "--devices", "0"], 2, "a whole number of 1 or more"),
        (vec!["c2st", &data, "-o", &out, "--repeats", "0"], 2, "a whole number of 1 or more"),
        (vec!["c2st", &data, "-o", &out, "--backend", "gpu"], 2, "expected the backend cpu or auto"),
        (vec!["c2st", &data, "-o", &files.at("none/out")], 1, "none/out"),
        (vec!["c2st", &files.at("none"), "-o", &out], 1, "none"),
        (vec!["kl", &data], 2, "--output"),
        (vec!["both", &data, "-o", &out], 2, "both"),
    ] {
        let all: Vec<&str> = ["tournament"].into_iter().chain(arguments.iter().copied()).collect();
        let (found, text) = said(&fiedler(&all).output().expect("it starts"));
        assert!(found == Some(code) && text.contains(words), "{all:?}: {found:?} {text}");
        assert!(!std::path::Path::new(&out).exists(), "{all:?}");
    }
}
