//! What trainings and their features say of data, and of folders, as people have them.

use crate::call::Files;
use crate::strangers_tables::{kind, rows, trained, write};
use crate::train::{said, table};
use fiedler::io::Data;
use std::path::Path;

#[track_caller]
fn fails(status: i32, arguments: &[&str], wanted: &str) -> String {
    let (code, _, error) = said(arguments);
    assert!(code == status && error.contains(wanted), "{arguments:?}\nexit {code}: {error}\nwanted {status}: {wanted}");
    error
}

/// Numbers that are not all whole are classes with a warning in every format.
#[test]
fn fractions_are_labels_in_arrays_and_in_tables() {
    let files = Files::new();
    let x: Vec<f32> = (0..80).map(|i| (i * 37 % 101) as f32 / 50.5).collect();
    let y: Vec<f32> = (0..40).map(|i| (i % 2) as f32 / 2.0).collect();
    let rows: String = x.chunks(2).zip(&y).map(|(x, y)| format!("{},{},{y}\n", x[0], x[1])).collect();
    let (text, arrays) = (files.text("t.csv", &("a,b,y\n".to_owned() + &rows)), files.at("t.npz"));
    write(&arrays, &[("x", &[40, 2], Data::F32(&x)), ("y", &[40], Data::F32(&y))]);
    for (data, dir, origin) in [(&text, "text", "column `y`"), (&arrays, "arrays", "the array `y`")] {
        let (last, error) = trained(data, &files.at(dir), &[]);
        assert!(last.contains(&format!("data: 2 inputs, labels from {origin}, 2 classes")), "{last}");
        let part =
            format!("the labels from {origin} are numbers of 2 classes in 40 samples; if they are values, --loss");
        assert!(error.contains(&part), "{error}");
    }
    let log = |dir: &str| std::fs::read(Path::new(&files.at(dir)).join("runs.jsonl")).expect("a log");
    assert!(log("text") == log("arrays"), "other classes");
    // Experiments read arrays in another way, and a folder with a file for each sample in a third one.
    std::fs::create_dir(files.at("set")).expect("a folder");
    for (i, (x, y)) in x.chunks(2).zip(&y).enumerate() {
        let y = std::slice::from_ref(y);
        write(&files.at(&format!("set/{i}.npz")), &[("x", &[2], Data::F32(x)), ("y", &[], Data::F32(y))]);
    }
    for source in ["t.csv", "t.npz", "set"] {
        let spec = format!("features = ['raw']\nexperiment.name = 'e'\ndata.source = '{source}'\n");
        let (code, printed, error) = said(&["experiment", "plan", &files.text("e.toml", &spec)]);
        assert!(code == 0 && printed.contains(", 2 classes"), "{source}: {printed}{error}");
        assert!(error.contains("if they are values, train.loss = \"mse\" predicts them"), "{source}: {error}");
    }
    let missing: Vec<f32> = y.iter().enumerate().map(|(i, &y)| if i == 7 { f32::NAN } else { y }).collect();
    write(&arrays, &[("x", &[40, 2], Data::F32(&x)), ("y", &[40], Data::F32(&missing))]);
    fails(1, &["train", &arrays, "-o", &files.at("nan")], "expected finite numbers as labels, found NaN");
}

/// The report has the metric by which runs were stopped, also of each combination of a grid.
#[test]
fn the_metric_of_the_stopping_rule_is_told() {
    let files = Files::new();
    let classes = files.text("c.csv", &table(120));
    let rows: String = (0..120).map(|i| format!("{},{},{}\n", i % 13, (i * 37) % 41, i % 13)).collect();
    let values = files.text("v.csv", &rows);
    for (place, (data, loss, metric)) in [
        (&classes, "ce", "validation.log_loss"),
        (&classes, "ce", "train.balanced_accuracy"),
        (&values, "mse", "validation.mae"),
        (&values, "mse", "validation.rmse"),
    ]
    .into_iter()
    .enumerate()
    {
        let call = ["train", data, "--loss", loss, "--stop", metric, "--epochs", "3", "--runs", "2"];
        let (code, printed, error) = said(&[&call[..], &["-o", &files.at(&format!("one{place}"))]].concat());
        assert!(code == 0 && printed.matches(&format!("\n  {metric}: ")).count() == 1, "{metric}: {printed}{error}");
        let grid = ["--lr", "0.01,0.1", "-o", &files.at(&format!("grid{place}"))];
        let (code, printed, error) = said(&[&call[..], &grid].concat());
        let metrics = [metric, if loss == "ce" { "test.accuracy" } else { "test.loss" }];
        for part in metrics.iter().flat_map(|metric| ["0.01", "0.1"].map(|lr| format!("\n  lr {lr}: {metric}: "))) {
            assert!(code == 0 && printed.matches(&part).count() == 1, "{part}: {printed}{error}");
        }
    }
    // What is told anyway is told once.
    let dir = files.at("accuracy");
    let (_, printed, _) = said(&["train", &classes, "-o", &dir, "--stop", "validation.accuracy", "--epochs", "3"]);
    assert_eq!(printed.matches("\n  validation.accuracy: ").count(), 1, "{printed}");
}

/// Parts that have samples of one class alone are named with the class.
#[test]
fn parts_of_one_class_are_told() {
    let files = Files::new();
    let x: Vec<f64> = (0..120).map(|i| f64::from(i * 37 % 101) / 50.0).collect();
    let y: Vec<i64> = (0..60).map(|i| i64::from(i >= 40)).collect();
    let path = files.at("sorted.npz");
    let parts = [
        ("X_train", &[40, 2][..], Data::F64(&x[..80])),
        ("y_train", &[40][..], Data::I64(&y[..40])),
        ("X_test", &[20, 2][..], Data::F64(&x[80..])),
        ("y_test", &[20][..], Data::I64(&y[40..])),
    ];
    write(&path, &parts);
    let told = ["\ntrain has only samples of class `0`\n", "\ntest has only samples of class `1`\n"];
    let (code, printed, error) = said(&["train", &path, "-o", &files.at("fit"), "--epochs", "1"]);
    let lines = printed.replace("\n  ", "\n");
    assert!(code == 0 && told.iter().all(|part| lines.contains(part)), "{printed}{error}");
    assert!(!printed.contains("validation has only"), "5 samples may be of one class by chance: {printed}");
    let spec = "features = ['raw']\nexperiment.name = 'e'\ndata.source = 'sorted.npz'\ntrain.epochs = 2\n";
    let spec = files.text("e.toml", spec);
    let (code, printed, error) = said(&["experiment", "run", &spec, "-o", &files.at("e"), "--no-cache"]);
    assert!(code == 0 && told.iter().all(|part| printed.contains(part)), "{printed}{error}");
    // In some runs of many, which divide few samples at random.
    let few = "a,kind\n".to_owned()
        + &(0..5).map(|i| format!("{i}.5,{}\n", ["u", "v"][usize::from(i > 0)])).collect::<String>();
    let few = files.text("few.csv", &few);
    let (_, printed, error) = said(&["train", &few, "-o", &files.at("few"), "--epochs", "1", "--runs", "20"]);
    let part = "train has only samples of class `v` in ";
    assert!(printed.contains(part) && printed.contains(" of 20 runs\n"), "{printed}{error}");
    let good = files.text("good.csv", &table(200));
    let (_, printed, _) = said(&["train", &good, "-o", &files.at("good"), "--epochs", "1"]);
    assert!(!printed.contains("has only samples"), "{printed}");
    // The labels of the parts have one name, and that of one part means all.
    for name in ["y", "y_train"] {
        let (last, _) = trained(&path, &files.at(&format!("label {name}")), &["--label", name]);
        assert!(last.contains("labels from the arrays `y_train` and `y_test`, 2 classes"), "{last}");
    }
}

/// A call that resumes what is finished succeeds, so that a job that is started again does not fail.
#[test]
fn a_finished_call_is_resumed() {
    let files = Files::new();
    let edges = files.text("e.csv", "src,dst\n0,1\n1,2\n");
    let table = files.text("t.csv", &("a,b,kind\n".to_owned() + &rows(20, |i, x| format!("{x},{}", kind(i, 20)))));
    for (call, out) in [
        (&["encode", &edges, "-k", "2"][..], "e.npz"),
        (&["encode", &edges, "-k", "2"], "e.parquet"),
        (&["features", &table, "--representations", "raw"], "f.npy"),
    ] {
        let path = files.at(out);
        let call = [call, &["-o", &path, "--resume"]].concat();
        let (code, _, error) = said(&call);
        assert_eq!(code, 0, "{error}");
        let before = std::fs::read(files.at(out)).expect("an output");
        let (code, printed, error) = said(&call);
        assert!(code == 0 && printed.contains("it exists, so nothing is left to resume"), "{printed}{error}");
        assert!(before == std::fs::read(files.at(out)).expect("an output") && said(&call[..call.len() - 1]).0 == 2);
        assert!(!Path::new(&files.at(&format!("{out}.resume"))).exists());
    }
    // An option that the call does not give is not named.
    let list = files.text("g.csv", "src,dst,graph\n0,1,0\n1,2,1\n");
    let (code, _, error) = said(&["encode", &list, "-o", &files.at("g.npz")]);
    assert!(code == 1 && error.contains("g.csv:1: ") && !error.contains("--edge-weight-column"), "{error}");
}

/// What is finished with other representations is not what --resume asks for.
#[test]
fn features_of_others_are_not_resumed() {
    let files = Files::new();
    let data = files.text("t.csv", &table(20));
    let call = |out: &str, representations: &str| {
        said(&["features", &data, "-o", out, "--no-cache", "--resume", "--representations", representations])
    };
    let done = "it exists, so nothing is left to resume";
    for (made, others) in [
        ("quantiles(q=[0.5])", &["moments", "quantiles(q=[0.25])", "quantiles(q=[0.5]),moments"][..]),
        ("raw,moments", &["moments,raw", "raw"]),
    ] {
        let out = files.at(if made.starts_with("raw") { "raw.npz" } else { "quantiles.npz" });
        assert_eq!(call(&out, made).0, 0);
        let before = std::fs::read(&out).expect("an output");
        for other in others {
            let (code, printed, error) = call(&out, other);
            assert!(code == 2 && !printed.contains(done), "{made} {other}: {printed}{error}");
            let names = |list: &str| list.split('(').next().unwrap_or_default().replace(',', ", ");
            for part in [".npz: expected an output of the representations ", &names(made), &names(other)] {
                assert!(error.contains(part), "`{part}` is not in: {error}");
            }
            assert!(before == std::fs::read(&out).expect("an output"));
        }
        let (code, printed, error) = call(&out, made);
        assert!(code == 0 && printed.contains(done), "{printed}{error}");
    }
    let out = files.at("raw.npz");
    let error =
        fails(2, &["features", &data, "-o", &out, "--resume", "--representations", "raw"], "found one of raw, ");
    assert!(error.contains("--overwrite replaces it"), "{error}");
    files.text("raw.features.json", "[]");
    fails(1, &["features", &data, "-o", &out, "--resume"], "expected a description that `fiedler features` wrote");
}

/// What is finished of other data, with other columns or with steps, is not what --resume asks for either.
#[test]
fn features_of_other_data_are_not_resumed() {
    let files = Files::new();
    let table = "a,b,label\n1,2,5\n3,4,6\n5,6,5\n7,9,6\n";
    let (data, longer) = (files.text("t.csv", table), files.text("u.csv", &format!("{table}8,8,5\n")));
    let call = |data: &str, out: &str, more: &[&str]| {
        said(&[&["features", data, "-o", out, "--no-cache", "--representations", "raw"], more].concat())
    };
    let (out, stepped, fit) = (files.at("f.npz"), files.at("z.npz"), files.at("z.safetensors"));
    assert_eq!(call(&data, &out, &["--ignore", "a"]).0, 0);
    assert_eq!(call(&data, &stepped, &["--steps", "zscore", "--fit", &fit]).0, 0);
    let before = std::fs::read(&out).expect("an output");
    for (data, out, more, wanted, found) in [
        (&data, &out, &[][..], "2 columns", "1 column"),
        (&data, &out, &[], "nothing left out", "`a` left out"),
        (&data, &out, &["--ignore", "b"], "`b` left out", "`a` left out"),
        (&data, &out, &["--ignore", "a", "--no-labels"], "no labels", "labels from the column `label`"),
        (&longer, &out, &["--ignore", "a"], "5 samples", "4 samples"),
        (&data, &stepped, &[], "columns without --steps", "columns after --steps"),
    ] {
        let (code, printed, error) = call(data, out, &[more, &["--resume"]].concat());
        let sides = error.split_once(", which --resume would go on with, found one of ");
        let (left, right) = sides.unwrap_or_else(|| panic!("{more:?}: {printed}{error}"));
        assert!(code == 2 && left.contains(wanted) && right.contains(found), "{more:?}: {error}");
        assert!(right.contains("--overwrite replaces it, and another --output keeps it"), "{error}");
        assert!(!Path::new(&format!("{out}.resume")).exists());
    }
    assert!(before == std::fs::read(&out).expect("an output"));
    for (out, more) in [(&out, &["--ignore", "a"][..]), (&stepped, &["--steps", "zscore", "--fit", &fit])] {
        let (code, printed, error) = call(&data, out, &[more, &["--resume"]].concat());
        assert!(code == 0 && printed.contains("it exists, so nothing is left to resume"), "{printed}{error}");
    }
}

/// An index without a name beside one whose name is that by which it goes are told once.
#[test]
fn two_indices_of_one_name_are_told_once() {
    let files = Files::new();
    let table = ",Unnamed: 0,a,b,kind\n".to_owned() + &rows(40, |i, x| format!("{i},{i},{x},{}", kind(i, 40)));
    let (last, _) = trained(&files.text("t.csv", &table), &files.at("fit"), &[]);
    assert!(last.contains("data: 2 inputs") && last.matches("`Unnamed: 0` (index)").count() == 1, "{last}");
}

/// A training that is not finished predicts nothing, and is not called a missing file.
#[test]
fn an_unfinished_training_is_told() {
    let files = Files::new();
    let (data, dir, out) = (files.text("t.csv", &table(20)), files.at("fit"), files.at("p.csv"));
    std::fs::create_dir(&dir).expect("a folder");
    fails(1, &["predict", &dir, &data, "-o", &out], "weights.safetensors");
    files.text("fit/checkpoint.safetensors", "");
    let part = "fit: expected a finished training, with weights.safetensors, found checkpoint.safetensors alone";
    assert!(fails(1, &["predict", &dir, &data, "-o", &out], part).contains("with --resume finishes it"));
}

/// Errors name the column or the array, and what to do in the words of the caller.
#[test]
fn errors_name_columns_and_remedies() {
    let files = Files::new();
    let dir = files.at("fit");
    for (text, more, wanted, not) in [
        (
            "a,b,k\n1,nan,u\n2,3,v\n",
            &[][..],
            "found \"nan\" in column `b`, which --ignore with its name leaves out; samples of features",
            "--label",
        ),
        ("1,nan,u\n2,3,v\n", &[], "found \"nan\" in column 2, which --ignore 2 leaves out; samples of", "--label"),
        ("a,b,y\n1,2,3\n4,5,nan\n", &["--loss", "mse"], "found \"nan\" in column `y`; samples of", "--ignore"),
        ("1,2,3\n4,5,inf\n", &["--loss", "mse"], "found \"inf\" in column 3", "--ignore"),
        ("a,b,a,k\n1,2,3,u\n", &[], ":1: expected each column name once, found two columns named a", "--label"),
    ] {
        let error = fails(1, &[&["train", &files.text("t.csv", text), "-o", &dir], more].concat(), wanted);
        assert!(!error.contains(not), "{error}");
    }
    let one = files.text("one.csv", "a,y\n1.5,2.5\n");
    let call = ["train", &one, "-o", &dir, "--loss", "mse", "--stop", "validation.loss"];
    assert!(fails(2, &call, "found none among 1 sample").ends_with("1 sample\n"));
    // Arrays that were left out.
    let path = files.at("t.npz");
    write(&path, &[("x", &[2, 1], Data::F64(&[1.0, 2.0])), ("y", &[2], Data::I64(&[0, 1]))]);
    for (ignored, wanted) in [
        ("y", "found no labels, only the array x; --ignore leaves out y"),
        ("x,y", "found no array; --ignore leaves out x, y"),
    ] {
        fails(1, &["train", &path, "-o", &dir, "--ignore", ignored], wanted);
    }
    // Experiments have keys, not options.
    for (text, wanted) in [
        ("a,label,target\n1,2,3\n4,5,6\n", "or data.label with the name of one, found label and target"),
        ("a,b,k\n1,x,u\n2,3,v\n", "found \"x\" in column `b`, which data.ignore with its name leaves out"),
        ("a,b,k\n1,2,5\n2,3,6\n3,4,7\n", "labels from column `k`: expected several samples of each class, found 3"),
    ] {
        files.text("t.csv", text);
        let spec = "features = ['raw']\nexperiment.name = 'e'\ndata.source = 't.csv'\ndata.label = 'k'\n";
        let spec = if text.contains("target") { spec.replace("data.label = 'k'\n", "") } else { spec.to_owned() };
        let error = fails(1, &["experiment", "plan", &files.text("e.toml", &spec)], wanted);
        assert!(!error.contains("--"), "{error}");
    }
}

/// Headers and all rows say what is no input of a model without names.
#[test]
fn predictions_look_at_names_and_at_all_rows() {
    let files = Files::new();
    let each = |row: &dyn Fn(usize) -> String| (0..20).map(|i| row(i) + "\n").collect::<String>();
    let inputs = |i: usize| format!("{},{},{}", i * 7 % 5, i * 3 % 4, i * 2 % 3);
    let values = files.text("values.csv", &("a,b,c,y\n".to_owned() + &each(&|i| format!("{},{i}.5", inputs(i)))));
    let digits = files.text("digits.csv", &each(&|i| format!("{},{}", inputs(i), i % 2)));
    for (data, dir, more) in [(&values, "values", &["--loss", "mse"][..]), (&digits, "digits", &[])] {
        trained(data, &files.at(dir), more);
    }
    let predict = |dir: &str, text: &str, more: &[&str]| {
        let (out, data) = (files.at("p.csv"), files.text("new.csv", text));
        said(&[&["predict", &files.at(dir), &data, "-o", &out, "--overwrite"], more].concat())
    };
    // An index and no label, without a header.
    let bare = each(&|i| format!("{i},{}", inputs(i)));
    let (code, _, error) = predict("values", &bare, &[]);
    let part = "found 4; either column 1 or column 4 is not an input";
    assert!(code == 1 && error.contains(part), "{error}");
    let (code, printed, error) = predict("digits", &bare, &[]);
    assert!(code == 0 && printed.contains("left out: `1` (index)"), "{printed}{error}");
    for dir in ["values", "digits"] {
        let (code, printed, error) = predict(dir, &bare, &["--ignore", "1"]);
        assert!(code == 0 && printed.contains("left out: `1`"), "{printed}{error}");
    }
    // A header.
    let named = |header: &str| header.to_owned() + "\n" + &each(&inputs);
    for header in ["a,b,label", "Unnamed: 0,b,c"] {
        let (code, _, error) = predict("digits", &named(header), &[]);
        assert!(
            code == 1 && error.contains("expected 3 columns of inputs, or one more with labels, found 2"),
            "{error}"
        );
    }
    let (code, printed, error) = predict("digits", &named("a,b,label"), &["--take", "label"]);
    assert!(code == 0 && printed.contains("from 3 inputs"), "{printed}{error}");
}

/// What cannot be a label is told with its row, and the first column has the labels if the last tells nothing.
#[test]
fn labels_that_are_missing_or_alike() {
    let files = Files::new();
    let dir = files.at("fit");
    for (missing, part) in [
        ("", "found an empty field, in column `y`"),
        ("NA", "found \"NA\", which stands for a missing one, in column `y`"),
        ("nan", "found \"nan\", which stands for a missing one"),
        ("1e400", "found \"1e400\", which is not finite"),
    ] {
        let data = files.text("t.csv", &format!("a,y\n1,0\n2,1\n3,{missing}\n4,0\n5,1\n"));
        for call in [&["train", &data, "-o", &dir][..], &["features", &data, "-o", &files.at("f.npz"), "--no-cache"]] {
            let error = fails(1, call, "t.csv:4: expected a label, ");
            assert!(error.contains(part), "{error}");
        }
    }
    let digits: String = (0..40).map(|i| format!("{},{},{},0\n", i % 2, i * 37 % 101, i * 59 % 103)).collect();
    let (last, _) = trained(&files.text("d.csv", &digits), &dir, &[]);
    assert!(last.contains("data: 3 inputs, labels from column 1, 2 classes"), "{last}");
    // Other words of trainings.
    std::fs::create_dir(files.at("other")).expect("a folder");
    files.text("other/note", "mine");
    let call = ["train", &files.at("d.csv"), "-o", &files.at("other"), "--resume"];
    fails(2, &call, "other: expected checkpoint.safetensors to resume from, found none");
    let call = ["train", &files.at("d.csv"), "-o", &files.at("new"), "--loss", "mse", "--stop", "validation.auc"];
    fails(2, &call, "--stop: expected a metric that this --loss has, of loss, r2, rmse, mae, found validation.auc");
}

/// What was made to fit is told of an experiment that is finished, too.
#[test]
fn adjustments_of_a_finished_experiment_are_told() {
    let files = Files::new();
    files.text("t.csv", &table(4));
    let spec = "features = ['raw']\nexperiment.name = 'e'\ndata.source = 't.csv'\ntrain.epochs = 2\n";
    let (spec, out) = (files.text("e.toml", spec), files.at("out"));
    for call in
        [&["run", &spec, "-o", &out][..], &["resume", &spec, "-o", &out], &["run", &spec, "-o", &out, "--overwrite"]]
    {
        let (code, printed, error) = said(&[&["experiment"][..], call, &["--no-cache"]].concat());
        let told = ["batches of ", " instead of 32; no samples for validation"];
        assert!(code == 0 && told.iter().all(|part| printed.contains(part)), "{call:?}: {printed}{error}");
    }
}
