//! Where `fiedler features` finds labels, and what `fiedler train` says of features without labels or with NaN.

use crate::call::Files;
use crate::train::said;
use serde_json::{Value, json};

fn features(arguments: &str) -> (i32, String, String) {
    let all: Vec<&str> = ["features", "--no-cache", "--representations", "simple_stats"]
        .into_iter()
        .chain(arguments.split(' '))
        .collect();
    said(&all)
}

fn report(arguments: &str) -> Value {
    let (code, printed, error) = features(&format!("{arguments} --json"));
    assert_eq!(code, 0, "{error}");
    serde_json::from_str(&printed).expect("one JSON object")
}

#[test]
fn the_report_says_where_labels_are_from() {
    let files = Files::new();
    let (x, out) = (files.text("x.csv", "a,b,kind,last\n1,2,5,7\n2,4,6,7\n3,7,5,8\n4,1,6,8\n"), files.at("f.csv"));
    for (options, columns, words, wanted) in [
        (
            "",
            "1,2,5",
            "labels from column `last`",
            json!({"are": "labels", "from": "column", "place": 3, "name": "last"}),
        ),
        (
            "--label kind",
            "1,2,7",
            "labels from column `kind`",
            json!({"are": "labels", "from": "column", "place": 2, "name": "kind"}),
        ),
        ("--no-labels", "1,2,5,7", "no labels", Value::Null),
    ] {
        let arguments = format!("{x} --overwrite --representations raw -o {out} {options}");
        let arguments: Vec<&str> = arguments.split(' ').filter(|word| !word.is_empty()).collect();
        let (code, printed, error) = said(&[&["features", "--no-cache"], &arguments[..]].concat());
        assert!(code == 0 && printed.contains(words), "{printed}{error}");
        let (_, printed, _) = said(&[&["features", "--no-cache", "--json"], &arguments[..]].concat());
        assert_eq!(serde_json::from_str::<Value>(&printed).expect("JSON")["targets"], wanted);
        let about = std::fs::read_to_string(files.at("f.features.json")).expect("a description");
        assert_eq!(serde_json::from_str::<Value>(&about).expect("JSON")["targets"], wanted);
        let table = std::fs::read_to_string(&out).expect("a table");
        let first: Vec<f64> = table.lines().nth(1).expect("a row").split(',').map(|x| x.parse().expect("it")).collect();
        let wide = columns.split(',').map(|x| x.parse::<f64>().expect("a number")).collect::<Vec<_>>();
        assert_eq!(first[..wide.len()], wide, "{table}");
        assert_eq!(first.len(), wide.len() + usize::from(!wanted.is_null()), "{table}");
    }
    let series = files.at("s.npz");
    assert_eq!(said(&["generate", "series", "--samples", "8", "--length", "20", "-o", &series]).0, 0);
    assert_eq!(report(&format!("{series} -o {}", files.at("s-f.npz")))["targets"]["from"], "array");
    let (code, _, error) = features(&format!("{x} --label shade -o {}", files.at("y.npz")));
    assert!(code == 1 && error.contains("x.csv:1: expected a column named shade"), "{error}");
    let (code, _, error) = features(&format!("{x} --label kind --no-labels -o {}", files.at("y.npz")));
    assert!(code == 2 && error.contains("--no-labels"), "{error}");
    let (_, help, _) = said(&["features", "--help"]);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        help.contains("then the last column of a table, or the first, if it alone has words or whole numbers"),
        "{help}"
    );
}

#[test]
fn train_says_that_features_have_no_labels_or_nan() {
    let files = Files::new();
    let row = |i: u32| format!("{}.5,{}.5,{},{}\n", i % 7, i % 5, i % 3, i % 2);
    let numbers: String = (0..60).map(row).collect();
    let x = files.text("x.csv", &numbers);
    for name in ["a.npz", "b.safetensors"] {
        let out = files.at(name);
        report(&format!("{x} --no-labels -o {out}"));
        let (code, _, error) = said(&["train", &out, "-o", &files.at("fit")]);
        let names = "expected targets under the name y, label, labels, class, target, targets, species, variety,";
        for part in [name, names, "found no labels, only the arrays features", "features --label"] {
            assert!(code == 1 && error.contains(part), "{error}");
        }
        let (_, _, error) = said(&["train", &out, "-o", &files.at("fit"), "--label", "shade"]);
        assert!(error.contains("under the name shade, found the arrays ") && error.contains("features"), "{error}");
    }
    // The third sample has a NaN itself.
    let spoiled = numbers.lines().enumerate().map(|(i, line)| match i {
        2 => format!("nan,{}\n", line.split_once(',').expect("fields").1),
        _ => format!("{line}\n"),
    });
    let x = files.text("nan.csv", &spoiled.collect::<String>());
    for name in ["c.npz", "d.safetensors", "e.csv"] {
        let out = files.at(name);
        assert_eq!(report(&format!("{x} -o {out}"))["status"]["not_finite"], 1);
        let (code, _, error) = said(&["train", &out, "-o", &files.at("fit"), "--epochs", "1"]);
        assert!(code == 1 && error.contains("`fiedler features --undefined X`"), "{name}: {error}");
        report(&format!("{x} -o {out} --overwrite --undefined 0"));
        let fit = files.at(&format!("fit-{name}"));
        let (code, _, error) = said(&["train", &out, "-o", &fit, "--epochs", "1", "--quiet"]);
        assert_eq!(code, 0, "{name}: {error}");
    }
    // A header of words alone, also of a table for a training.
    let (code, _, error) =
        said(&["train", &files.text("w.csv", "word,1\n2,0\n3,1\n2,0\n3,1\n"), "-o", &files.at("fit")]);
    assert!(
        code == 1
            && error.contains("w.csv:1: expected a finite number, or a header without any number, found \"word\""),
        "{error}"
    );
}

/// A first row of numbers is a sample, even if one of them is what `--label` wants: that is the place of a column.
#[test]
fn numbers_are_no_names_of_labels() {
    let files = Files::new();
    let table = files.text("t.csv", "1,2,3\n4,5,6\n7,8,9\n");
    let (_, printed, error) = features(&format!("{table} -o {} --label 3", files.at("f.npz")));
    assert!(printed.contains("3 samples of 2 inputs") && printed.contains("labels from column 3"), "{printed}{error}");
    for (label, wanted) in [("4", "expected a column from 1 to 3, found 4"), ("class", "a first row of numbers")] {
        let (code, _, error) = features(&format!("{table} -o {} --label {label}", files.at("g.npz")));
        assert!(code == 1 && error.contains(wanted), "{error}");
    }
}

/// A call that fails leaves no parameters that it fitted.
#[test]
fn steps_are_not_written_before_the_columns() {
    let files = Files::new();
    let (table, fit) = (files.text("t.csv", "1,2,3\n4,nan,6\n7,8,x\n"), files.at("s.safetensors"));
    let (code, _, _) = features(&format!("{table} -o {} --steps zscore --fit {fit}", files.at("f.npz")));
    assert!(code == 1 && !std::path::Path::new(&fit).exists());
    let good = files.text("u.csv", "1,2,3\n4,5,6\n7,8,1\n");
    let (code, _, error) = features(&format!("{good} -o {} --steps zscore --fit {fit}", files.at("f.npz")));
    assert!(code == 0 && std::path::Path::new(&fit).exists(), "{error}");
}

#[test]
fn the_folder_for_steps_is_checked_before_any_work() {
    let files = Files::new();
    let (x, out) = (files.text("x.csv", "1,2\n2,4.5\n3,7\n"), files.at("f.npz"));
    for (fit, part) in [
        ("missing/steps.safetensors", "expected an existing folder"),
        ("steps.npz", "an output that ends in .safetensors"),
    ] {
        let (code, _, error) = features(&format!("{x} -o {out} --steps zscore --fit {}", files.at(fit)));
        assert!(code == 2 && error.contains("--fit: ") && error.contains(part), "{error}");
        assert!(!std::path::Path::new(&out).exists());
    }
}
