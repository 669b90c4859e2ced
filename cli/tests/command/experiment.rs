//! `fiedler experiment` as a user calls it: plan, run, resume, report, and calls that are wrong.

use crate::call::{Files, fiedler, run};
use crate::strangers_tables::write;
use fiedler::io::Data;
use serde_json::Value;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

const FILE: &str = "
features = ['moments', 'quantiles']
[experiment]
name = 'small'
repeats = 2
quick = { repeats = 1, epochs = 2, rows = 80 }
[data]
generate = { kind = 'series', samples = 160, length = 40 }
[model]
hidden = [8]
[train]
batch = 16
epochs = 6
[grid]
'train.optimizer.lr' = [0.01, 0.003]
[compare]
by = ['features']
margin = 0.5
";

fn said(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[track_caller]
fn done(arguments: &[&str]) -> String {
    let (code, out, error) = said(&run(arguments));
    assert_eq!((code, error.as_str()), (Some(0), ""));
    out
}

fn bytes(folder: &str, name: &str) -> Vec<u8> {
    std::fs::read(Path::new(folder).join(name)).expect(name)
}

/// Returns the report without what differs between two calls.
fn timeless(folder: &str) -> Value {
    let mut report: Value = serde_json::from_slice(&bytes(folder, "report.json")).expect("JSON");
    report["times"] = Value::Null;
    report
}

#[test]
fn an_experiment_from_its_plan_to_its_report() {
    let files = Files::new();
    let (file, folder) = (files.text("small.toml", FILE), files.at("out"));
    let plan: Value =
        serde_json::from_str(&done(&["experiment", "plan", &file, "-o", &folder, "--json"])).expect("JSON");
    assert_eq!((&plan["runs"], &plan["finished"], &plan["samples"]), (&8.into(), &0.into(), &160.into()));
    let text = done(&["experiment", "plan", &file, "-o", &folder]);
    for part in [
        "8 runs of 4 configurations, 0 of them finished; 160 samples",
        "(a task for each run)",
        "at most",
        "MB of memory",
        "why: ",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let text = done(&["experiment", "run", &file, "-o", &folder]);
    for part in ["8 runs of 4 configurations", "test.accuracy", "quantiles, lr 0.003", "seeds differ in", "Holm's p"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    for name in ["spec.toml", "runs.jsonl", "summary.csv", "report.json", "report.md", "report.html"] {
        assert!(!bytes(&folder, name).is_empty(), "{name}");
    }
    let table = String::from_utf8(bytes(&folder, "summary.csv")).expect("UTF-8");
    assert_eq!(table.lines().count(), 9);
    assert!(table.lines().next().is_some_and(|line| line.starts_with("id,") && line.contains("test.accuracy")));
    // The file with all defaults is the same experiment.
    let again = files.at("spec.toml");
    std::fs::copy(Path::new(&folder).join("spec.toml"), &again).expect("copied");
    let plan: Value =
        serde_json::from_str(&done(&["experiment", "plan", &again, "-o", &folder, "--json"])).expect("JSON");
    assert_eq!(plan["finished"], 8);
    // A report needs no data set.
    let before = timeless(&folder);
    std::fs::remove_file(Path::new(&folder).join("report.json")).expect("removed");
    let text = done(&["experiment", "report", &folder]);
    assert!(text.starts_with("# small") && text.contains("## Comparisons"), "{text}");
    assert_eq!(timeless(&folder), before);
    // Nothing is left to resume, and a second run needs a new folder.
    let resumed: Value =
        serde_json::from_str(&done(&["experiment", "resume", &file, "-o", &folder, "--json"])).expect("JSON");
    assert_eq!((&resumed["trained"], &resumed["finished"]), (&0.into(), &8.into()));
    let (code, _, error) = said(&run(&["experiment", "run", &file, "-o", &folder]));
    assert!(code == Some(2) && error.contains("fiedler experiment resume"), "{error}");
}

#[test]
fn a_quick_run_is_another_experiment() {
    let files = Files::new();
    let (file, folder) = (files.text("small.toml", FILE), files.at("out"));
    let report: Value =
        serde_json::from_str(&done(&["experiment", "run", &file, "-o", &folder, "--quick", "--json"])).expect("JSON");
    assert_eq!(report["runs"], 4);
    let spec = String::from_utf8(bytes(&folder, "spec.toml")).expect("UTF-8");
    assert!(spec.contains("epochs = 2") && spec.contains("samples = 80") && spec.contains("repeats = 1"), "{spec}");
}

/// A process that is killed at any moment leaves what the next call needs, and the results have the same bytes.
#[test]
fn a_killed_experiment_goes_on() {
    let files = Files::new();
    let text = FILE.replace("epochs = 6", "epochs = 40").replace("'moments', 'quantiles'", "'moments', 'frequency'");
    let file = files.text("small.toml", &text);
    let (whole, parts) = (files.at("whole"), files.at("parts"));
    done(&["experiment", "run", &file, "-o", &whole]);
    let mut killed = 0;
    for moment in 0..20 {
        let action = if Path::new(&parts).join("spec.toml").exists() { "resume" } else { "run" };
        let mut child = fiedler(&["experiment", action, &file, "-o", &parts, "--threads", "1"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        std::thread::sleep(Duration::from_millis(3 * moment * moment));
        killed += usize::from(child.try_wait().expect("a status").is_none());
        child.kill().expect("killed");
        child.wait().expect("ended");
    }
    assert!(killed > 0);
    let action = if Path::new(&parts).join("spec.toml").exists() { "resume" } else { "run" };
    done(&["experiment", action, &file, "-o", &parts]);
    for name in ["runs.jsonl", "summary.csv", "spec.toml"] {
        assert!(bytes(&whole, name) == bytes(&parts, name), "{name}");
    }
    assert_eq!(timeless(&whole), timeless(&parts));
}

#[track_caller]
fn refused(arguments: &[&str], code: i32, parts: &[&str]) {
    let (found, out, error) = said(&run(arguments));
    assert_eq!((found, out.as_str()), (Some(code), ""), "{error}");
    parts.iter().for_each(|part| assert!(error.contains(part), "`{part}` is not in: {error}"));
}

#[test]
fn wrong_calls() {
    let files = Files::new();
    let (file, folder) = (files.text("small.toml", FILE), files.at("out"));
    refused(&["experiment", "resume", &file, "-o", &folder], 2, &["expected the folder of an experiment"]);
    refused(&["experiment", "report", &file, "-o", &folder], 2, &["expected the folder of an experiment"]);
    refused(&["experiment", "run", &files.at("absent.toml")], 1, &["absent.toml"]);
    let line = files.text("a.toml", &FILE.replace("epochs = 6", "epochz = 6"));
    refused(&["experiment", "run", &line, "-o", &folder], 2, &["a.toml:13", "`epochz`; did you mean `epochs`?"]);
    let kind = files.text("b.toml", &FILE.replace("'moments', ", "'momentz', "));
    refused(&["experiment", "plan", &kind], 2, &["b.toml", "`momentz`; did you mean `moments`?"]);
    let source = files.text("c.toml", &FILE.replace("generate = {", "source = 'absent.npz' #"));
    refused(&["experiment", "run", &source, "-o", &folder], 1, &["absent.npz"]);
    assert!(!Path::new(&folder).exists(), "nothing is left of a call that failed before it began");
}

#[test]
fn claims_pass_fail_or_are_undecided() {
    let files = Files::new();
    let file = files.text(
        "claims.toml",
        "experiment.name = 'claims'\n[[claims]]\nkind = 'trajectory'\n[[claims]]\nkind = 'laws'\nchains = 3000\nseeds = 3\n\
         samples = 200\nepochs = 1\nmargin = 0.9\nquick = { chains = 2000 }\n",
    );
    let folder = files.at("out");
    let (code, out, error) = said(&run(&["experiment", "run", &file, "-o", &folder, "--quick"]));
    assert_eq!((code, error.as_str()), (Some(0), ""), "{out}");
    assert!(out.contains("pass") && out.contains("2000 chains") && out.contains("7 claims: 7 pass"), "{out}");
    let page = String::from_utf8(bytes(&folder, "verification.md")).expect("UTF-8");
    assert!(page.contains("| pass | the losses of 200 steps in f64 are those of torch |"), "{page}");
    // The claims that were checked are not checked again.
    let again = done(&["experiment", "resume", &file, "-o", &folder, "--quick"]);
    assert!(again.contains("7 claims: 7 pass"));
    // On the CPU alone, there is nothing to compare.
    let sides = files.text("sides.toml", "experiment.name = 'sides'\n[[claims]]\nkind = 'sides'\n");
    let (code, out, _) = said(&run(&["experiment", "run", &sides, "-o", &files.at("sides")]));
    assert!(code == Some(3) && out.contains("undecided") && out.contains("no device"), "{out}");
    // Other accuracies than those of torch: the claim fails, and so does the call.
    let rows: String = (0..60).map(|i| format!("{},{},{}\n", i % 5, (i * 7) % 11, i % 2)).collect();
    files.text("images.csv", &rows);
    files.text("torch.txt", "0.99\n0.98\n0.97\n0.99\n");
    let digits = files.text(
        "digits.toml",
        "experiment.name = 'digits'\n[[claims]]\nkind = 'digits'\nseeds = 4\nepochs = 1\nsource = 'images.csv'\ntorch = \
         'torch.txt'\n",
    );
    let (code, out, error) = said(&run(&["experiment", "run", &digits, "-o", &files.at("digits")]));
    assert!(code == Some(1) && out.contains("fail") && error.contains("1 claim failed"), "{out} {error}");
    let wrong = files.text("wrong.toml", "experiment.name = 'x'\n[[claims]]\nkind = 'digitz'\n");
    refused(&["experiment", "run", &wrong, "-o", &files.at("w")], 2, &["did you mean `digits`?"]);
    let wrong = files.text("wrong.toml", "experiment.name = 'x'\n[[claims]]\nkind = 'digits'\nseed = 3\n");
    refused(&["experiment", "run", &wrong, "-o", &files.at("w")], 2, &["did you mean `seeds`?"]);
}

/// A folder of claims is as safe as one of runs, and a report checks nothing.
#[test]
fn a_verification_owns_its_folder() {
    let files = Files::new();
    let file = files.text("claims.toml", "experiment.name = 'claims'\n[[claims]]\nkind = 'trajectory'\n");
    let folder = files.at("out");
    for action in ["resume", "report"] {
        refused(&["experiment", action, &file, "-o", &folder], 2, &["expected the folder of a verification"]);
    }
    assert!(!Path::new(&folder).exists());
    let text = done(&["experiment", "run", &file, "-o", &folder]);
    assert!(text.contains("rule: greatest relative difference at most 1e-12"), "{text}");
    refused(&["experiment", "run", &file, "-o", &folder], 2, &["fiedler experiment resume"]);
    for arguments in [vec!["experiment", "report", &file, "-o", &folder], vec!["experiment", "report", &folder]] {
        let text = done(&arguments);
        assert!(text.contains("2 claims of version") && text.contains("2 pass, 0 fail, 0 undecided"), "{text}");
    }
    std::fs::create_dir(files.at("foreign")).expect("created");
    files.text("foreign/notes.txt", "mine");
    refused(&["experiment", "run", &file, "-o", &files.at("foreign")], 2, &["exists already; --overwrite replaces it"]);
}

/// A fold of few samples shrinks the default share for validation. It refuses a share that was asked for.
#[test]
fn folds_of_few_samples() {
    let files = Files::new();
    let spec = |count: usize, split: &str| {
        let row = |i: usize| format!("{},{},{}\n", i * 3 % 11, (i * i) % 7, ["a", "b"][i % 2]);
        files.text("few.csv", &(0..count).map(row).collect::<String>());
        let text = "experiment.name = 'x'\nfeatures = ['raw']\ntrain.epochs = 1\n";
        files.text("few.toml", &format!("{text}data = {{ source = 'few.csv', split = {{ {split} }} }}\n"))
    };
    for (count, split, none) in
        [(6, "folds = 5", false), (5, "folds = 5", false), (4, "folds = 4", true), (3, "folds = 2", true)]
    {
        let folder = files.at(&count.to_string());
        let out = done(&["experiment", "run", &spec(count, split), "-o", &folder, "--no-cache"]);
        assert_eq!(out.contains("no samples for validation"), none, "{count}: {out}");
    }
    for (split, wanted) in [
        ("folds = 5, validation = 0.05", "expected at least one sample for validation, found 0.0625 of 4"),
        ("folds = 6", "expected at most 5 folds of 5 samples, found 6"),
    ] {
        refused(&["experiment", "plan", &spec(5, split)], 1, &[wanted]);
    }
}

/// The file with all defaults is the experiment from wherever it is read, and what is missing is no failure.
#[test]
fn a_data_set_beside_the_file() {
    let files = Files::new();
    let row = |i: usize| format!("{},{},{}\n", i * 3 % 11, (i * i) % 7, ["a", "b"][i % 2]);
    files.text("data.csv", &(0..40).map(row).collect::<String>());
    let text =
        "experiment.name = 'x'\ndata.source = 'data.csv'\nmodel.hidden = [4]\ntrain = { epochs = 2, batch = 8 }\n";
    let (file, folder) = (files.text("x.toml", text), files.at("out"));
    done(&["experiment", "run", &file, "-o", &folder]);
    let spec = format!("{folder}/spec.toml");
    let resumed: Value =
        serde_json::from_str(&done(&["experiment", "resume", &spec, "-o", &folder, "--json"])).expect("JSON");
    assert_eq!((&resumed["trained"], &resumed["finished"]), (&0.into(), &1.into()));
    let more = files.text("more.toml", &format!("{text}[grid]\n'train.optimizer.lr' = [0.001, 0.01]\n"));
    let text = done(&["experiment", "report", &more, "-o", &folder]);
    assert!(text.contains("| lr 0.01 | 0 | not run yet |") && !text.contains("no run ended well"), "{text}");
    // What was checked before the work began, and the folder is as it was.
    let before = bytes(&folder, "spec.toml");
    let other = files.text("other.toml", &std::fs::read_to_string(&file).expect("a file").replace("'x'", "'y'"));
    refused(&["experiment", "resume", &other, "-o", &folder], 1, &["experiment.name = \"x\"", "a new folder"]);
    assert_eq!(bytes(&folder, "spec.toml"), before);
}

/// Where runs take the parts of the file, a report claims no spread of divisions, and shows no shares.
#[test]
fn parts_of_the_file_are_no_division_by_seeds() {
    let files = Files::new();
    let x: Vec<f64> = (0..240).map(|i| f64::from(i * 37 % 101) / 50.0).collect();
    let y: Vec<i64> = (0..120).map(|i| i * i % 7 % 2).collect();
    let arrays = [
        ("X_train", &[80, 2][..], Data::F64(&x[..160])),
        ("y_train", &[80][..], Data::I64(&y[..80])),
        ("X_test", &[20, 2][..], Data::F64(&x[160..200])),
        ("y_test", &[20][..], Data::I64(&y[80..100])),
        ("X_val", &[20, 2][..], Data::F64(&x[200..])),
        ("y_val", &[20][..], Data::I64(&y[100..])),
    ];
    let text = "features = ['raw']\nexperiment = { name = 'p', repeats = 2 }\ndata.source = 'p.npz'\n\
                train = { epochs = 2, batch = 16 }\ngrid = { 'model.hidden' = [[4], []] }\n\
                compare.by = ['model.hidden']\n";
    let file = files.text("p.toml", text);
    for (name, count, words, [by, other]) in [
        (
            "three",
            6,
            "eeds differ in the initial parameters and the order of the samples; all runs divide the samples alike, as \
             the file does",
            ["fixed", "seed"],
        ),
        (
            "two",
            4,
            "eeds differ in the choice of validation samples, the initial parameters and the order of the samples; all \
             runs have the test samples of the file",
            ["seed", "fixed"],
        ),
    ] {
        write(&files.at("p.npz"), &arrays[..count]);
        let folder = files.at(name);
        let (_, plan, error) = said(&run(&["experiment", "plan", &file, "-o", &folder]));
        assert!(plan.contains("samples as in the file") && !plan.contains("division"), "{plan}{error}");
        let (code, out, error) = said(&run(&["experiment", "run", &file, "-o", &folder, "--no-cache"]));
        assert!(code == Some(0) && out.contains(words) && !out.contains("Nadeau"), "{out}{error}");
        let report = done(&["experiment", "report", &folder]);
        let page = String::from_utf8(bytes(&folder, "report.md")).expect("UTF-8");
        for text in [&report, &page] {
            assert!(text.contains(words) && text.contains(&format!("[data.split]\nby = \"{by}\"\n")), "{text}");
            for not in ["division of the samples", "Nadeau", "train = 0.7", &format!("by = \"{other}\"")] {
                assert!(!text.contains(not), "{not} is in {text}");
            }
        }
        // The file with all defaults stays the experiment of the runs.
        let spec = format!("{folder}/spec.toml");
        let (_, resumed, error) = said(&run(&["experiment", "resume", &spec, "-o", &folder, "--json"]));
        let resumed: Value = serde_json::from_str(&resumed).expect(&error);
        assert_eq!((&resumed["trained"], &resumed["finished"]), (&0.into(), &4.into()));
    }
}
