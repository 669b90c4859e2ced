//! Outputs that exist: every command that writes refuses them, and replaces them with --overwrite.

use crate::call::{Files, run};
use crate::train::table;
use std::path::Path;

fn said(arguments: &[&str]) -> (Option<i32>, String) {
    let output = run(arguments);
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Every call that writes, with what it writes.
#[test]
fn every_command_has_one_rule() {
    let files = Files::new();
    let edges = files.text("g.txt", "0 1\n1 2\n2 0\n");
    let samples = files.text("t.csv", &table(60));
    let matrix = files.f32s("a.npy", &[2, 2], &[2.0, 1.0, 1.0, 2.0]);
    let strings = files.at("strings.txt");
    assert_eq!(said(&["generate", "strings", "--samples", "12", "-o", &strings]).0, Some(0));
    let spec = "[experiment]\nname = \"t\"\n[data]\nsource = \"t.csv\"\n[train]\nepochs = 2\n";
    let spec = files.text("e.toml", spec);
    let fit = files.at("fit");
    assert_eq!(said(&["train", &samples, "-o", &fit, "--epochs", "2", "--batch", "8"]).0, Some(0));
    let at = |name: &str| files.at(name);
    let outputs =
        ["e.npz", "e.arrow", "w.npz", "x.npz", "f.npz", "p.csv", "m", "g.mtx", "d.csv", "q", "fit2", "ex", "1"].map(at);
    let [e, arrow, w, x, f, p, m, g, d, q, fit2, ex, pages] = outputs.each_ref().map(String::as_str);
    for call in [
        &["encode", &edges, "-o", e][..],
        &["encode", &edges, "-o", arrow],
        &["run", "eigh", &matrix, "-o", w],
        &["run", "random", "--shape", "2", "-o", x],
        &["features", &samples, "-o", f, "--representations", "moments"],
        &["predict", &fit, &samples, "-o", p],
        &["generate", "molecules", "--graphs", "3", "-o", m],
        &["generate", "path", "--nodes", "3", "-o", g],
        &["generate", "digits", "--samples", "3", "-o", d],
        &["tournament", "kl", &strings, "-o", q, "--permutations", "0"],
        &["train", &samples, "-o", fit2, "--epochs", "2", "--batch", "8"],
        &["experiment", "run", &spec, "-o", ex],
        &["man", "-o", pages],
    ] {
        let output = call[call.iter().position(|word| *word == "-o").unwrap() + 1];
        let (code, error) = said(call);
        assert_eq!(code, Some(0), "{call:?}: {error}");
        let (code, error) = said(call);
        let told = error.contains(&format!("{output}: it exists already; --overwrite replaces it"));
        assert!(code == Some(2) && told, "{call:?}: {code:?} {error}");
        // What the command did not write stays.
        let folder = Path::new(output).is_dir();
        let own = Path::new(output).join("notes.txt");
        if folder {
            std::fs::write(&own, "mine").unwrap();
        }
        let (code, error) = said(&[call, &["--overwrite"]].concat());
        assert_eq!(code, Some(0), "{call:?}: {error}");
        assert!(!folder || std::fs::read_to_string(&own).unwrap() == "mine", "{call:?}");
    }
    // A folder of samples is not mixed with that of another call.
    let call = ["generate", "vectors", "--samples", "2", "--classes", "2", "-o", m, "--overwrite"];
    let (code, error) = said(&call);
    assert!(code == Some(2) && error.contains("would be mixed"), "{code:?} {error}");
    // A model is an input of its predictions.
    let weights = Path::new(&fit).join("weights.safetensors").display().to_string();
    let (code, error) = said(&["predict", &fit, &samples, "-o", &weights, "--overwrite"]);
    assert!(code == Some(2) && error.contains("expected an output other than the input"), "{code:?} {error}");
    // A call that fails leaves what was there.
    let before = std::fs::read(e).unwrap();
    assert_eq!(said(&["encode", &at("absent.txt"), "-o", e, "--overwrite"]).0, Some(1));
    assert!(std::fs::read(e).unwrap() == before);
}

/// Other files of a call: a trace, a page.
#[test]
fn what_is_written_beside_an_output_has_the_same_rule() {
    let files = Files::new();
    let edges = files.text("g.txt", "0 1\n1 2\n");
    let (out, trace, page) = (files.at("e.npz"), files.text("t.json", "{}"), files.text("b.html", ""));
    for (call, name) in [
        (&["encode", &edges, "-o", &out, "--profile", &trace][..], &trace),
        (&["bench", "eigh/f32/n=4/batch=2", "--html", &page], &page),
    ] {
        let (code, error) = said(call);
        let told = error.contains(&format!("{name}: it exists already; --overwrite replaces it"));
        assert!(code == Some(2) && told, "{call:?}: {code:?} {error}");
    }
    assert!(!Path::new(&out).exists());
}

/// --overwrite begins a training anew: the checkpoint and the results of the one before are gone.
#[test]
fn a_training_that_is_replaced_begins_anew() {
    let files = Files::new();
    let (data, dir) = (files.text("t.csv", &table(60)), files.at("fit"));
    let call = |more: &[&str]| said(&[&["train", &data, "-o", &dir, "--epochs", "2", "--batch", "8"], more].concat());
    assert_eq!(call(&[]).0, Some(0));
    std::fs::write(files.at("fit/checkpoint.safetensors"), "of another").unwrap();
    std::fs::write(files.at("fit/bounds.csv"), "of another").unwrap();
    let (code, error) = call(&["--overwrite", "--hidden", "4"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(["bounds.csv", "checkpoint.safetensors"].iter().all(|name| !Path::new(&dir).join(name).exists()));
    let (code, error) = call(&["--overwrite", "--resume"]);
    assert!(code == Some(2) && error.contains("cannot be used with"), "{error}");
}

/// What an output of `encode` says of itself has to be what a call with --resume asks for.
#[test]
fn an_output_of_another_call_is_not_resumed() {
    let files = Files::new();
    let (input, other) = (files.text("g.txt", "1 2\n2 3\n"), files.text("h.txt", "1 2\n2 3\n3 4\n"));
    let arrays = [
        (&input, &["-k", "3"][..], "3 eigenpairs", "2 eigenpairs"),
        (&input, &["-k", "2", "--precision", "f64"], "f64", "f32"),
        (&input, &["-k", "2", "--walk-steps", "4"], "--walk-steps 4", "--walk-steps 0"),
        (&other, &["-k", "2"], "4 nodes", "3 nodes"),
    ];
    let table = [
        (&input, &["-k", "3"][..], "k 3", "k 2"),
        (&input, &["-k", "2", "--laplacian", "combinatorial"], "laplacian combinatorial", "laplacian symmetric"),
    ];
    for (name, cases) in [("out.npz", &arrays[..]), ("out.safetensors", &arrays), ("out.parquet", &table)] {
        let out = files.at(name);
        let call = |input: &str, more: &[&str]| said(&[&["encode", input, "-o", &out], more].concat());
        assert_eq!(call(&input, &["-k", "2"]).0, Some(0));
        assert_eq!(call(&input, &["-k", "2", "--resume"]).0, Some(0));
        for &(input, more, wanted, found) in cases {
            let (code, error) = call(input, &[more, &["--resume"][..]].concat());
            let words = format!(
                "expected an output of {wanted}, which --resume would go on with, found one of {found}; --overwrite"
            );
            assert!(code == Some(2) && error.contains(&words), "{error}");
        }
    }
    let out = files.text("foreign.npz", "mine");
    assert_eq!(said(&["encode", &input, "-o", &out, "--resume"]).0, Some(1));
}

/// A folder of others is refused, and --overwrite writes into it what is new and removes nothing; a file is no folder.
#[test]
fn folders_of_results_have_one_rule() {
    let files = Files::new();
    let samples = files.text("t.csv", &table(60));
    let spec = "experiment.name = 't'\ndata.source = 't.csv'\ntrain.epochs = 2\n";
    let spec = files.text("e.toml", spec);
    let claims = files.text("c.toml", "experiment.name = 'c'\n[[claims]]\nkind = 'trajectory'\n");
    for (place, call) in [
        &["train", &samples, "--epochs", "2", "--batch", "8"][..],
        &["experiment", "run", &spec],
        &["experiment", "run", &claims],
    ]
    .into_iter()
    .enumerate()
    {
        let folder = files.at(&format!("foreign{place}"));
        let own = Path::new(&folder).join("finished").join("notes.txt");
        std::fs::create_dir_all(own.parent().unwrap()).unwrap();
        std::fs::write(&own, "mine").unwrap();
        let file = files.text("file", "mine");
        let of = |output: &str, more: &[&str]| said(&[call, &["-o", output], more].concat());
        let (code, error) = of(&folder, &[]);
        let told = error.contains(&format!("{folder}: it exists already; --overwrite replaces it"));
        assert!(code == Some(2) && told, "{call:?}: {code:?} {error}");
        for more in [&[][..], &["--overwrite"]] {
            let (code, error) = of(&file, more);
            let told = error.contains(&format!("{file}: expected a folder to write to, found a file"));
            assert!(code == Some(2) && told && !error.contains("--overwrite"), "{call:?}: {code:?} {error}");
        }
        let (code, error) = of(&folder, &["--overwrite"]);
        assert_eq!(code, Some(0), "{call:?}: {error}");
        assert_eq!(std::fs::read_to_string(&own).unwrap(), "mine");
        // An empty folder is a new one.
        let empty = files.at(&format!("empty{place}"));
        std::fs::create_dir(&empty).unwrap();
        assert_eq!(of(&empty, &[]).0, Some(0), "{call:?}");
    }
}

/// The folder around an output has to exist, whichever command writes there.
#[test]
fn the_folder_around_an_output_has_one_rule() {
    let files = Files::new();
    let (edges, samples) = (files.text("g.txt", "0 1\n1 2\n"), files.text("t.csv", &table(60)));
    for (call, name) in [(["encode", &edges], "e.npz"), (["train", &samples], "m")] {
        let (code, error) = said(&[&call[..], &["-o", &files.at(&format!("none/{name}"))]].concat());
        let wanted = format!("none/{name}: expected an existing folder {} to write to", files.at("none"));
        assert!(code == Some(2) && error.contains(&wanted), "{call:?}: {code:?} {error}");
    }
}

/// A pipe is written to, and is no output that exists.
#[cfg(unix)]
#[test]
fn pipes_and_devices_do_not_exist_already() {
    let files = Files::new();
    let edges = files.text("g.txt", "0 1\n1 2\n");
    let (code, error) = said(&["encode", &edges, "-o", "/dev/stdout"]);
    assert!(code == Some(2) && !error.contains("exists already"), "{error}");
    let (code, error) = said(&["encode", &edges, "-o", "-", "--format", "arrow"]);
    assert_eq!(code, Some(0), "{error}");
}

/// Every command that writes can be quiet, and can report in JSON.
#[test]
fn reports_have_the_same_options() {
    let files = Files::new();
    let (edges, samples) = (files.text("g.txt", "0 1\n1 2\n2 0\n"), files.text("t.csv", &table(60)));
    let (matrix, fit) = (files.f32s("a.npy", &[2, 2], &[2.0, 1.0, 1.0, 2.0]), files.at("fit"));
    let strings = files.at("strings.txt");
    for call in [
        &["encode", &edges, "-o", &files.at("e.npz")][..],
        &["run", "eigh", &matrix, "-o", &files.at("w.npz")],
        &["features", &samples, "-o", &files.at("f.npz"), "--representations", "moments"],
        &["train", &samples, "-o", &fit, "--epochs", "2", "--batch", "8"],
        &["predict", &fit, &samples, "-o", &files.at("p.csv")],
        &["generate", "strings", "--samples", "12", "-o", &strings],
        &["generate", "path", "--nodes", "3", "-o", &files.at("g.mtx")],
        &["tournament", "kl", &strings, "-o", &files.at("q"), "--permutations", "0"],
        &["man", "-o", &files.at("man1")],
    ] {
        let of = |more: &str| {
            let output = run(&[call, &["--overwrite", more]].concat());
            assert!(output.status.success(), "{call:?}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        assert_eq!(of("--quiet"), "", "{call:?}");
        let report: serde_json::Value = serde_json::from_str(&of("--json")).expect("one JSON object");
        assert!(report.is_object(), "{call:?}");
    }
}
