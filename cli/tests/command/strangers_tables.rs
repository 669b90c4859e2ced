//! Tables and arrays as people have them: an index of pandas, labels in any column, parts of a data set, few samples.

use crate::call::Files;
use crate::train::said;
use fiedler::io::{self, Data, NamedArray, Rows};
use serde_json::Value;
use std::path::Path;

/// Rows of two numbers, sorted by class, with what stands before and behind them.
pub(crate) fn rows(count: usize, row: impl Fn(usize, &str) -> String) -> String {
    let number = |i: usize, factor: usize| (i * factor % 101) as f64 / 50.5 - 1.0;
    (0..count).map(|i| row(i, &format!("{:.3},{:.3}", number(i, 37), number(i, 59))) + "\n").collect()
}

pub(crate) fn kind(i: usize, count: usize) -> &'static str {
    if 2 * i < count { "down" } else { "up" }
}

/// Trains for an epoch, and returns the last line and standard error.
#[track_caller]
pub(crate) fn trained(data: &str, dir: &str, more: &[&str]) -> (String, String) {
    let (code, printed, error) = said(&[&["train", data, "-o", dir, "--epochs", "1"], more].concat());
    assert_eq!(code, 0, "{error}");
    (printed.trim_end().lines().last().expect("a line").to_owned(), error)
}

#[track_caller]
fn featured(data: &str, out: &str, more: &[&str]) -> (String, String) {
    let call = ["features", data, "-o", out, "--no-cache", "--overwrite", "--representations", "raw"];
    let (code, printed, error) = said(&[&call, more].concat());
    assert_eq!(code, 0, "{error}");
    (printed, error)
}

/// The index that pandas writes is no input of any command, and is not needed to predict.
#[test]
fn an_index_is_left_out() {
    let files = Files::new();
    let plain = files.text("plain.csv", &("a,b,kind\n".to_owned() + &rows(40, |i, x| format!("{x},{}", kind(i, 40)))));
    let index = |name: &str| {
        let table = format!("{name},a,b,kind\n") + &rows(40, |i, x| format!("{i},{x},{}", kind(i, 40)));
        files.text(&format!("{}.csv", if name.is_empty() { "none" } else { &name[..5] }), &table)
    };
    let dir = |name: &str| files.at(name);
    assert_eq!(trained(&plain, &dir("plain"), &[]).0.split("; ").count(), 2, "only the batch is told");
    let weights = |name: &str| std::fs::read(Path::new(&dir(name)).join("runs.jsonl")).expect("a log");
    for (place, name) in ["", "Unnamed: 0", "index", "__index_level_0__"].into_iter().enumerate() {
        let (data, fit) = (index(name), format!("fit{place}"));
        let shown = if name.is_empty() { "Unnamed: 0" } else { name };
        let left_out = format!("left out: `{shown}` (index)");
        let (last, error) = trained(&data, &dir(&fit), &[]);
        assert!(last.contains("data: 2 inputs, labels from column `kind`, 2 classes") && error.is_empty(), "{last}");
        assert!(last.contains(&left_out), "{last}");
        assert!(weights(&fit) == weights("plain"), "{name}: other inputs");
        let (printed, _) = featured(&data, &files.at("f.csv"), &[]);
        assert!(printed.contains("40 samples of 2 inputs, 2 columns") && printed.contains(&left_out), "{printed}");
        // Each file with each model.
        for (model, data) in [(&fit, &plain), (&"plain".to_owned(), &data), (&fit, &data)] {
            let out = files.at("p.csv");
            let (code, printed, error) = said(&["predict", &dir(model), data, "-o", &out, "--overwrite"]);
            assert!(code == 0 && printed.contains("from 2 inputs, 2 classes"), "{printed}{error}");
        }
        // `--take` makes it an input.
        let (last, error) = trained(&data, &dir(&format!("take{place}")), &["--take", shown]);
        assert!(last.contains("data: 3 inputs") && !last.contains("left out"), "{last}");
        assert_eq!(error, "", "it was asked for");
    }
    // A table without names, whose places count.
    let bare = files.text("bare.csv", &rows(40, |i, x| format!("{i},{x},{}", kind(i, 40))));
    let (last, error) = trained(&bare, &dir("bare"), &[]);
    assert!(last.contains("3 inputs") && error.contains("the input `1` numbers the samples; --ignore 1 "), "{error}");
    let (last, error) = trained(&bare, &dir("bare2"), &["--ignore", "1"]);
    assert!(last.contains("2 inputs, labels from column 4") && error.is_empty(), "{last}{error}");
    for name in ["bare.csv", "plain.csv"] {
        let (code, _, error) =
            said(&["predict", &dir("bare2"), &files.at(name), "-o", &files.at("p.csv"), "--overwrite"]);
        assert_eq!(code, 0, "{error}");
    }
}

/// Other columns that tell the label are named, with what leaves them out. Ids are no inputs.
#[test]
fn suspicious_columns_are_named() {
    let files = Files::new();
    let table = "sample,a,b,same,code,kind\n".to_owned()
        + &rows(40, |i, x| format!("{},{x},5,{},{}", i + 1, 7 * usize::from(2 * i >= 40), kind(i, 40)));
    let data = files.text("t.csv", &table);
    let errors = [trained(&data, &files.at("a"), &[]).1, featured(&data, &files.at("f.csv"), &[]).1];
    for error in errors {
        for part in [
            "t.csv: the input `sample` numbers the samples; --ignore sample leaves it out",
            "the input `code` determines the label; --ignore code ",
            "the input `same` is the same in all samples; --ignore same ",
        ] {
            assert!(error.contains(part), "{error}");
        }
    }
    let (last, error) = trained(&data, &files.at("b"), &["--ignore", "sample,code,same"]);
    assert!(last.contains("data: 2 inputs") && last.contains("left out: `sample`, `same`, `code`"), "{last}");
    assert_eq!(error, "");
    let (code, printed, error) = said(&["train", &data, "-o", &files.at("d"), "--epochs", "1", "--json"]);
    let report: Value = serde_json::from_str(&printed).expect("JSON");
    assert_eq!((code, &error[..], report["data"]["suspicious"].as_array().map(Vec::len)), (0, "", Some(3)));
    let (code, _, error) = said(&["train", &data, "-o", &files.at("e"), "--ignore", "shade"]);
    assert!(code == 1 && error.contains("t.csv:1: expected a column named shade to leave out"), "{error}");
    // Ids, which need not be numbers.
    let ids = "id,a,b,kind\n".to_owned() + &rows(40, |i, x| format!("p{i},{x},{}", kind(i, 40)));
    let (last, _) = trained(&files.text("ids.csv", &ids), &files.at("g"), &[]);
    assert!(last.contains("data: 2 inputs") && last.contains("left out: `id` (ids)"), "{last}");
}

/// One rule says which column has the labels, in every command.
#[test]
fn labels_are_found_wherever_they_stand() {
    let files = Files::new();
    for (place, (header, row, wanted)) in [
        ("label,p1,p2", "K,X", "labels from column `label`"),
        ("target,p1,p2", "N,X", "labels from column `target`"),
        ("p1,p2,Class,p3", "X,K,0.5", "labels from column `Class`"),
        ("a,b,species,last", "X,K,7", "labels from column `species`"),
        ("x,y,ring", "X,N", "labels from column `ring`"),
        ("p1,p2,y", "X,N", "labels from column `y`"),
        ("shade,p1,p2", "K,X", "labels from column `shade`"),
        ("", "X,K", "labels from column 3"),
        ("", "K,X", "labels from column 1"),
        ("", "N,X", "labels from column 1"),
        (",0,1,label", "I,X,K", "labels from column `label`"),
    ]
    .into_iter()
    .enumerate()
    {
        let each = |i: usize, x: &str| {
            let number = usize::from(2 * i >= 40).to_string();
            row.replace('X', x).replace('K', kind(i, 40)).replace('N', &number).replace('I', &i.to_string())
        };
        let header = if header.is_empty() { String::new() } else { format!("{header}\n") };
        let data = files.text(&format!("t{place}.csv"), &(header.clone() + &rows(40, each)));
        let (last, _) = trained(&data, &files.at(&format!("fit{place}")), &[]);
        assert!(last.contains(&format!("{wanted}, 2 classes")), "{header}{row}: {last}");
        let (printed, _) = featured(&data, &files.at("f.csv"), &[]);
        assert!(printed.contains(&format!("{wanted}, 2 classes")), "{header}{row}: {printed}");
    }
    let two =
        files.text("two.csv", &("label,a,b,target\n".to_owned() + &rows(40, |i, x| format!("{},{x},1", kind(i, 40)))));
    for call in [&["train", &two, "-o", &files.at("two")][..], &["features", &two, "-o", &files.at("two.csv.npz")]] {
        let (code, _, error) = said(call);
        assert!(code == 1 && error.contains("--label with the name of one, found label and target"), "{error}");
    }
    assert!(trained(&two, &files.at("one"), &["--label", "label"]).0.contains("column `label`"));
    // Values are numbers, in the column with the name or in the last one.
    let values = files.text("v.csv", &("y,a,b\n".to_owned() + &rows(40, |i, x| format!("0.{i},{x}"))));
    let (last, _) = trained(&values, &files.at("v"), &["--loss", "mse"]);
    assert!(last.contains("data: 2 inputs, targets from column `y`"), "{last}");
}

pub(crate) fn write(path: &str, arrays: &[(&str, &[usize], Data<'_>)]) {
    let arrays: Vec<NamedArray<'_>> = arrays
        .iter()
        .map(|(name, shape, data)| NamedArray { name, rows: Rows::Other, shape: shape.to_vec(), data: *data })
        .collect();
    io::write(Path::new(path), &arrays).expect("written");
}

/// Words as labels, names that numpy makes, images, and parts of a data set.
#[test]
fn arrays_as_people_store_them() {
    let files = Files::new();
    let x: Vec<f64> = (0..640).map(|i| f64::from(i * 37 % 101) / 50.0).collect();
    let words: Vec<String> = (0..40).map(|i| ["a", "b"][i % 2].to_owned()).collect();
    let y: Vec<i64> = (0..40).map(|i| i % 2).collect();
    let (x3, images) = (Data::F64(&x[..120]), Data::F64(&x));
    for (name, arrays, wanted) in [
        (
            "words.npz",
            vec![("x", &[40, 3][..], x3), ("y", &[40], Data::Text(&words))],
            "data: 3 inputs, labels from the array `y`, 2 classes",
        ),
        (
            "unnamed.npz",
            vec![("arr_0", &[40, 3], x3), ("arr_1", &[40], Data::I64(&y))],
            "data: 3 inputs, labels from the array `arr_1`, 2 classes",
        ),
        (
            "images.npz",
            vec![("x", &[40, 4, 4], images), ("label", &[40], Data::I64(&y))],
            "data: 16 inputs, labels from the array `label`, 2 classes; samples of 4 x 4 as rows of numbers",
        ),
        (
            "more.npz",
            vec![("x", &[40, 3], x3), ("y", &[40], Data::I64(&y)), ("names", &[40], Data::Text(&words))],
            "data: 3 inputs, labels from the array `y`, 2 classes; left out: `names`",
        ),
        (
            "parts.npz",
            vec![
                ("X_test", &[10, 3], Data::F64(&x[..30])),
                ("y_test", &[10], Data::I64(&y[..10])),
                ("X_train", &[40, 3], x3),
                ("y_train", &[40], Data::I64(&y)),
            ],
            "data: 3 inputs, labels from the arrays `y_train` and `y_test`, 2 classes; 40 training, 10 test samples as in \
             the file",
        ),
    ] {
        let path = files.at(name);
        write(&path, &arrays);
        let dir = files.at(&format!("{name}.fit"));
        let (last, _) = trained(&path, &dir, &[]);
        assert!(last.contains(wanted), "{name}: {last}");
        let (code, _, error) = said(&["predict", &dir, &path, "-o", &files.at("p.csv"), "--overwrite"]);
        assert_eq!(code, 0, "{name}: {error}");
    }
    // Parts in every command, unless other shares are asked for.
    let parts = files.at("parts.npz");
    let (printed, _) = featured(&parts, &files.at("f.csv"), &[]);
    assert!(
        printed.contains("50 samples of 3 inputs") && printed.contains("40 training, 10 test samples"),
        "{printed}"
    );
    let (last, _) = trained(&parts, &files.at("shares"), &["--split", "0.5,0,0.5"]);
    assert!(!last.contains("as in the file"), "{last}");
    let spec = files
        .text("e.toml", "features = ['raw']\nexperiment.name = 'e'\ndata.source = 'parts.npz'\ntrain.epochs = 2\n");
    let (code, printed, error) = said(&["experiment", "run", &spec, "-o", &files.at("e"), "--no-cache"]);
    let last = printed.trim_end().lines().last().unwrap_or_default();
    assert!(
        code == 0 && last.contains("labels from the arrays `y_train` and `y_test`, 2 classes; 40 training, 10 test"),
        "{printed}{error}"
    );
    // Folds and other shares mix the parts.
    for split in ["folds = 5", "train = 0.6, validation = 0.2, test = 0.2, by = 'fixed'", "test = 0.3"] {
        let text = format!(
            "features = ['raw']\nexperiment.name = 'e'\ndata = {{ source = 'parts.npz', split = {{ {split} }} }}\n"
        );
        let (code, printed, error) = said(&["experiment", "plan", &files.text("e.toml", &text)]);
        assert!(code == 0 && !printed.contains("as in the file"), "{split}: {printed}{error}");
    }
}

/// In tables without a header, the first row is a sample in every command, and numbers are places.
#[test]
fn tables_without_a_header() {
    let files = Files::new();
    let first = files.text("first.csv", &rows(40, |i, x| format!("{},{x}", kind(i, 40))));
    let headed =
        files.text("headed.csv", &("a,b,kind\n".to_owned() + &rows(40, |i, x| format!("{x},{}", kind(i, 40)))));
    let wdbc = files.text("wdbc.data", &rows(40, |i, x| format!("{},{},{x}", 842_302 + 7 * i, kind(i, 40))));
    for (data, more, wanted) in [
        (&first, &["--label", "1"][..], "data: 2 inputs, labels from column 1, 2 classes"),
        (&wdbc, &["--label", "2", "--ignore", "1"], "data: 2 inputs, labels from column 2, 2 classes"),
    ] {
        let (last, error) = trained(data, &files.at("places"), &[more, &["--overwrite"]].concat());
        assert!(last.contains(wanted) && error.is_empty(), "{last}{error}");
        let (printed, _) = featured(data, &files.at("f.csv"), more);
        assert!(printed.contains("40 samples of 2 inputs"), "{printed}");
    }
    let (call, out) = (["--ignore", "1,2"], files.at("none"));
    let (code, _, error) = said(&[&["train", &first, "-o", &out][..], &call].concat());
    assert!(code == 1 && error.contains("found 1 of 3 columns, since the others are left out"), "{error}");
    // A model of the same data with a header, or with the labels elsewhere.
    trained(&headed, &files.at("headed"), &[]);
    let predict =
        |dir: &str, data: &str| said(&["predict", &files.at(dir), data, "-o", &files.at("p.csv"), "--overwrite"]);
    let (code, printed, error) = predict("headed", &first);
    assert!(
        code == 0 && printed.contains("40 samples") && printed.contains("left out: `1` (label)"),
        "{printed}{error}"
    );
    let same = predict("headed", &headed);
    assert!(same.0 == 0 && same.1.contains("40 samples"), "{}", same.2);
    // A first row that counts is a sample of both commands, and both say so.
    let counts =
        "0,1,2\n".to_owned() + &(0..30).map(|i| format!("{},{},{}\n", i % 7, i % 5, i % 3)).collect::<String>();
    let counts = files.text("counts.csv", &counts);
    let (_, error) = trained(&counts, &files.at("counts"), &[]);
    let doubt = "counts.csv: line 1 counts the columns from 0, as a header of pandas does, and was read as a sample";
    assert!(error.contains(doubt), "{error}");
    let (code, printed, error) = predict("counts", &counts);
    assert!(code == 0 && printed.contains("31 samples predicted") && error.contains(doubt), "{printed}{error}");
    // A model without names, of tables with names: what else they have must be labels.
    let plain = files.text("nameless.csv", &rows(40, |i, x| format!("{x},{}", kind(i, 40))));
    trained(&plain, &files.at("nameless"), &[]);
    let number = "expected 2 columns of inputs, or one more with labels, found";
    for (header, wanted) in [
        ("a,b,kind", Ok("left out: `kind` (label)")),
        ("id,a,b,label", Ok("left out: `id` (ids), `label` (label)")),
        ("sample,a,b,label", Err(format!("{number} 4"))),
        ("label,a,b,w", Err(format!("{number} 4"))),
        ("a,b,w", Err(format!("{number} \"0.5\" in column `w`, which is no class"))),
        ("id,a,b,w", Err(format!("{number} \"0.5\" in column `w`, which is no class"))),
    ] {
        let fields = |i: usize, x: &str| {
            let field = |name: &str| match name {
                "kind" | "label" => kind(i, 40).to_owned(),
                "w" => "0.5".to_owned(),
                "b" => String::new(), // two inputs are in `a`
                "a" => x.to_owned(),
                _ => (i + 1).to_string(),
            };
            header.split(',').filter(|name| *name != "b").map(field).collect::<Vec<_>>().join(",")
        };
        let data = files.text("named.csv", &format!("{header}\n{}", rows(40, |i, x| fields(i, x))));
        let (code, printed, error) = predict("nameless", &data);
        match &wanted {
            Ok(part) => assert!(code == 0 && printed.contains(part), "{header}: {printed}{error}"),
            Err(part) => assert!(code == 1 && error.contains(part), "{header}: {printed}{error}"),
        }
    }
    // Decimal commas between semicolons.
    let semicolons = |text: &str| text.replace(',', ";").replace('.', ",");
    let text = std::fs::read_to_string(&headed).expect("a table");
    let decimal = files.text("decimal.csv", &semicolons(&text));
    trained(&decimal, &files.at("decimal"), &[]);
    let log = |dir: &str| std::fs::read(Path::new(&files.at(dir)).join("runs.jsonl")).expect("a log");
    assert!(log("decimal") == log("headed"), "other inputs");
}

/// Only a value that was asked for is an error; a default is made to fit, which is told.
#[test]
fn defaults_fit_few_samples() {
    let files = Files::new();
    for count in 2..=40_usize {
        let table = "a,b,kind\n".to_owned() + &rows(count, |i, x| format!("{x},{}", ["up", "down"][i % 2]));
        let data = files.text(&format!("t{count}.csv"), &table);
        for (place, more) in
            [&[][..], &["--stop", "validation.loss"], &["--sgld", "--betas", "0,1", "--loss", "bounded"]]
                .into_iter()
                .enumerate()
        {
            let (last, _) = trained(&data, &files.at(&format!("fit{count}-{place}")), more);
            assert!(last.contains("instead of 32") || count == 40 && place == 2, "{count} {more:?}: {last}");
        }
    }
    let call =
        |name: &str, more: &[&str]| said(&[&["train", &files.at("t40.csv"), "-o", &files.at(name)], more].concat());
    let (code, _, error) = call("b", &["--batch", "32"]);
    assert!(code == 2 && error.contains("expected a batch of at most 28 training samples, found 32"), "{error}");
    let few = said(&["train", &files.at("t3.csv"), "-o", &files.at("s"), "--split", "0.7,0.1,0.2", "--epochs", "1"]);
    assert!(few.0 == 2 && few.2.contains("at least one sample for validation"), "{}", few.2);
    let (_, printed, _) = said(&["train", &files.at("t3.csv"), "-o", &files.at("j"), "--epochs", "1", "--json"]);
    let report: Value = serde_json::from_str(&printed).expect("JSON");
    assert_eq!(report["adjustments"], serde_json::json!(["batches of 2 instead of 32", "no samples for validation"]));
    // Groups that are asked for, with a batch that is not.
    let (code, printed, error) = call("g", &["--row-group", "9", "--epochs", "1"]);
    assert!(code == 0 && printed.contains("batches of 5 instead of 32"), "{printed}{error}");
    let (code, printed, error) = call("g", &["--row-group", "9", "--epochs", "1", "--resume"]);
    assert!(code == 0 && printed.contains("this training is finished"), "{printed}{error}");
}

/// A file of an experiment leaves columns out, too, and its plan warns.
#[test]
fn experiments_follow_the_same_rules() {
    let files = Files::new();
    let table = ",step,a,b,label\n".to_owned() + &rows(40, |i, x| format!("{i},{i},{x},{}", kind(i, 40)));
    files.text("t.csv", &table);
    let spec = |more: &str| {
        let text =
            format!("features = ['raw']\nexperiment.name = 'e'\ndata.source = 't.csv'\n{more}train.epochs = 2\n");
        files.text("e.toml", &text)
    };
    let (code, printed, error) = said(&["experiment", "plan", &spec("")]);
    assert!(code == 0 && error.contains("the input `step` numbers the samples; data.ignore = [\"step\"]"), "{error}");
    assert!(printed.contains("data: 40 samples of 3 inputs, labels from column `label`, 2 classes"), "{printed}");
    let run = ["experiment", "run", &spec("data.ignore = ['step']\n"), "-o", &files.at("out"), "--no-cache"];
    let (code, printed, error) = said(&run);
    let last = printed.trim_end().lines().last().unwrap_or_default();
    assert!(code == 0 && !error.contains("step"), "{error}");
    for part in ["of 2 inputs", "left out: `Unnamed: 0` (index), `step`", "batches of 28 instead of 32"] {
        assert!(last.contains(part), "{last}");
    }
    // Notes name no option of another command.
    files.text("t.csv", &("x,y,label\n".to_owned() + &rows(40, |i, x| format!("{x},{}", kind(i, 40)))));
    let (code, printed, error) = said(&["experiment", "plan", &spec("")]);
    let hint = "`y` is an input, a coordinate like `x`, unless it is named as the label";
    assert!(code == 0 && printed.contains(hint) && !printed.contains("--"), "{printed}{error}");
}

/// Values of a table stay values through features, trainings and experiments, and labels that seem to be values are
/// told.
#[test]
fn values_are_values_everywhere() {
    let files = Files::new();
    let table = |last: fn(usize) -> String| {
        let rows: String = (0..40).map(|i| format!("{},{},{}\n", i * 37 % 101, i * 59 % 103, last(i))).collect();
        "a,b,label\n".to_owned() + &rows
    };
    let reals = files.text("r.csv", &table(|i| format!("{:.2}", (i * 7 % 40) as f64 / 10.0)));
    let whole = files.text("w.csv", &table(|i| (i * 7 % 23).to_string()));
    let features = files.at("f.npz");
    let call = ["features", &reals, "-o", &features, "--no-cache", "--representations", "raw"];
    let (code, printed, error) = said(&call);
    assert!(code == 0 && printed.contains("targets from column `label`"), "{printed}{error}");
    let (last, error) = trained(&features, &files.at("f"), &["--loss", "mse"]);
    assert!(last.contains("data: 2 inputs, targets from the array `targets`") && error.is_empty(), "{last}{error}");
    let (code, _, error) = said(&["train", &features, "-o", &files.at("ce")]);
    let part =
        "labels from the array `targets`: expected several samples of each class, found 40 classes in 40 samples";
    assert!(code == 1 && error.contains(part) && error.contains("--loss mse"), "{error}");
    // Classes of numbers that are many, or not whole.
    let halves = files.text("h.csv", &table(|i| format!("{}", (i % 2) as f64 / 2.0)));
    for (data, classes) in [(&whole, "23 classes in 40 samples"), (&halves, "2 classes in 40 samples")] {
        let (code, _, error) = said(&["train", data, "-o", &files.at("c"), "--epochs", "1", "--overwrite"]);
        let few = error.contains("from column `label`: expected several samples of each class, found 23 classes");
        let told = error.contains(classes) && error.contains("if they are values, --loss mse predicts them");
        assert!(if *data == whole { code == 1 && few } else { code == 0 && told }, "{error}");
    }
    let many = "a,b,y\n".to_owned() + &rows(120, |i, x| format!("{x},{}", i * 7 % 30));
    let (_, error) = trained(&files.text("m.csv", &many), &files.at("m"), &[]);
    assert!(
        error.contains("column `y` are numbers of 30 classes in 120 samples; if they are values, --loss"),
        "{error}"
    );
    // An experiment has a metric that fits.
    let run = |name: &str, data: &str, more: &str| {
        let text =
            format!("features = ['raw']\nexperiment.name = 'e'\ndata.source = '{data}.csv'\ntrain.epochs = 2\n{more}");
        let (file, out) = (files.text("e.toml", &text), files.at(name));
        said(&["experiment", "run", &file, "-o", &out, "--no-cache"])
    };
    for data in ["r", "w"] {
        let (code, printed, error) = run(&format!("e{data}"), data, "train.loss = 'mse'\n");
        assert!(code == 0 && error.is_empty() && printed.contains("test.r2 "), "{printed}{error}");
        assert!(printed.contains("test.r2 is of 8 samples in a run, which says little about others"), "{printed}");
    }
    let (code, _, error) = run("eh", "h", "");
    assert!(code == 0 && error.contains("if they are values, train.loss = \"mse\" predicts them"), "{error}");
    files.text("k.csv", &("a,b,k\n".to_owned() + &rows(60, |i, x| format!("{x},{}", ["u", "v", "w"][i % 3]))));
    let (code, _, error) = run("ek", "k", "compare.metric = 'test.auc'\n");
    assert!(code == 1 && error.contains("found test.auc, which is of two classes"), "{error}");
}

/// Parts of a file pass through its features; what is judged by few samples, or by none, is told.
#[test]
fn parts_and_stopping_rules_are_kept() {
    let files = Files::new();
    let x: Vec<f64> = (0..100).map(|i| f64::from(i * 37 % 101) / 50.0).collect();
    let y: Vec<i64> = (0..50).map(|i| i % 2).collect();
    let path = files.at("parts.npz");
    let parts = [
        ("X_train", &[40, 2][..], Data::F64(&x[..80])),
        ("y_train", &[40][..], Data::I64(&y[..40])),
        ("X_test", &[10, 2][..], Data::F64(&x[80..])),
        ("y_test", &[10][..], Data::I64(&y[40..])),
    ];
    write(&path, &parts);
    for ending in ["npz", "safetensors"] {
        let features = files.at(&format!("f.{ending}"));
        featured(&path, &features, &[]);
        let (last, _) = trained(&features, &files.at(ending), &[]);
        assert!(last.contains("; 40 training, 10 test samples as in the file"), "{last}");
        let (last, _) = trained(&features, &files.at(&format!("{ending} split")), &["--split", "0.5,0,0.5"]);
        assert!(!last.contains("as in the file"), "{last}");
    }
    let (printed, _) = featured(&path, &files.at("f.csv"), &[]);
    assert!(printed.contains("a .csv file does not keep these parts"), "{printed}");
    let (code, _, error) = said(&["train", &path, "-o", &files.at("g"), "--row-group", "10"]);
    let part = "expected one group of the samples, because the file divides them into parts, found 5 groups";
    assert!(code == 2 && error.contains(part), "{error}");

    let few =
        files.text("few.csv", &("a,y\n".to_owned() + &(0..5).map(|i| format!("{i}.5,{i}.25\n")).collect::<String>()));
    let rule = ["--loss", "mse", "--stop", "validation.r2", "--epochs", "2"];
    let (code, printed, error) = said(&[&["train", &few, "-o", &files.at("r")][..], &rule].concat());
    assert!(code == 0 && printed.contains("a validation with 2 samples says little"), "{printed}{error}");
    assert!(printed.contains("data: 1 input,") && printed.contains("a test of 1 sample says little"), "{printed}");
    let shares = ["--split", "0.6,0.2,0.2"];
    let (code, _, error) = said(&[&["train", &few, "-o", &files.at("s")][..], &rule, &shares].concat());
    let part = "stop on validation.r2: expected at least 2 samples for validation, found 1";
    assert!(code == 2 && error.contains(part), "{error}");
    // All validation samples are of one class.
    let one = "a,kind\n".to_owned()
        + &(0..40).map(|i| format!("{i}.5,{}\n", if i == 0 { "u" } else { "v" })).collect::<String>();
    let rule = ["--stop", "validation.auc", "--epochs", "2", "--runs", "3"];
    let (_, printed, _) = said(&[&["train", &files.text("one.csv", &one), "-o", &files.at("o")][..], &rule].concat());
    assert!(printed.contains("validation.auc was defined in no epoch of "), "{printed}");
}

/// A separator at the end of a header, or of all rows, as spreadsheets write it, begins no column.
#[test]
fn columns_without_name_and_content_are_left_out() {
    let files = Files::new();
    let row = |i: usize, x: &str| format!("{x},{}", kind(i, 40));
    let header = files.text("header.csv", &("\"a\",\"b\",\"label\",\n".to_owned() + &rows(40, row)));
    let all = files.text("all.csv", &("a,b,label,\n".to_owned() + &rows(40, |i, x| row(i, x) + ",")));
    for (table, name) in [(&header, "header"), (&all, "all")] {
        let (last, _) = trained(table, &files.at(name), &[]);
        assert!(last.contains("data: 2 inputs") && last.contains("left out: `Unnamed: 3` (empty)"), "{last}");
        let (printed, error) = featured(table, &files.at("f.npz"), &[]);
        assert!((printed.clone() + &error).contains("`Unnamed: 3` (empty)"), "{printed}{error}");
    }
}
