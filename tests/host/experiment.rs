//! Experiments through the library: what is kept, what is resumed, what is refused, and what a report says.

use fiedler::experiment::statistics::{Verdict, holm};
use fiedler::experiment::{Experiment, RUNS, Record, Report, Spec, Verification};
use fiedler::train::{Metric, Part};
use fiedler::{Backend, Cancel, Context, Error};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

const BASE: &str = "
features = ['moments', 'quantiles']
[experiment]
name = 'x'
repeats = 3
[data]
generate = { kind = 'series', samples = 120, length = 30 }
layers = { all = '*' }
[model]
hidden = [8]
[train]
batch = 16
epochs = 4
";
const GRID: &str = "[grid]\n'train.optimizer.lr' = [0.01, 0.003]\n'model.hidden' = [[8], []]\n";

fn spec(more: &str) -> Spec {
    Spec::parse(&format!("{BASE}{more}"), Path::new("x.toml"), Path::new("")).expect("an experiment")
}

fn cpu(threads: usize) -> Context {
    Context::builder().device(false).threads(threads).build().expect("a context")
}

struct Folders(TempDir);

impl Folders {
    fn new() -> Self {
        Self(TempDir::new().expect("a folder"))
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// Runs an experiment and returns its report and the bytes of its runs.
fn run(spec: &Spec, folder: &Path, ctx: &Context) -> (Report, Vec<u8>) {
    let experiment = Experiment::new(spec.clone(), folder);
    experiment.run(ctx).expect("an experiment");
    let report = experiment.report().expect("a report");
    experiment.write_report(&report).expect("files");
    (report, std::fs::read(folder.join(RUNS)).expect("runs"))
}

fn records(runs: &[u8]) -> Vec<Record> {
    let lines = std::str::from_utf8(runs).expect("UTF-8").lines();
    lines.map(|line| serde_json::from_str(line).expect("a run")).collect()
}

/// Returns the report without what differs between two calls.
fn timeless(report: &Report) -> serde_json::Value {
    let mut value = serde_json::to_value(report).expect("JSON");
    value["times"] = serde_json::Value::Null;
    value
}

#[test]
fn threads_and_memory_move_no_bit() {
    let (folders, spec) = (Folders::new(), spec(GRID));
    let (first, wanted) = run(&spec, &folders.at("a"), &cpu(1));
    let (other, found) = run(&spec, &folders.at("b"), &cpu(3));
    assert!(wanted == found && timeless(&first) == timeless(&other));
    // Half of the budget holds the inputs of one configuration, but not of two.
    let small = Context::builder().device(false).threads(2).memory_budget(60_000).build().expect("a context");
    let (_, found) = run(&spec, &folders.at("c"), &small);
    assert_eq!(wanted.len(), found.len());
    assert!(wanted == found);
}

#[test]
fn a_report_has_what_the_runs_have() {
    let folders = Folders::new();
    let more = format!(
        "{GRID}[compare]\nby = ['features', 'model.hidden']\nbaseline = 'moments'\nmargin = 0.2\nmetric = 'test.accuracy'\n"
    );
    let (report, runs) = run(&spec(&more), &folders.at("a"), &cpu(2));
    let records = records(&runs);
    assert_eq!((report.runs, report.finished, records.len(), report.configurations.len()), (24, 24, 24, 8));
    assert_eq!(report.factors, ["features", "model.hidden", "train.optimizer.lr"]);
    for cell in &report.configurations {
        let own: Vec<&Record> = records.iter().filter(|record| record.factors == cell.factors).collect();
        let values: Vec<f64> =
            own.iter().map(|run| run.metric(Part::Test, Metric::Accuracy).expect("scores")).collect();
        assert_eq!(cell.values, values);
        let estimate = cell.estimate.expect("runs");
        let mean = values.iter().sum::<f64>() / 3.0;
        assert!((estimate.mean - mean).abs() < 1e-12 && estimate.n == 3);
        assert!(cell.best.is_some_and(|best| best.of == 3 && best.value == values.iter().copied().fold(0.0, f64::max)));
        // The test sets of the three seeds have 24 samples each.
        assert_eq!(cell.confusion.iter().flatten().sum::<u64>(), 72);
        assert_eq!(cell.calibration.iter().map(|bin| bin.0).sum::<u64>(), 72);
        assert_eq!(cell.of_test_set.map(|set| set.trials), Some(24));
        assert_eq!(cell.curves.epochs, [0, 1, 2, 3]);
        for run in own {
            let part = &run.parts["test"];
            let right = part.right.bytes().filter(|&digit| digit == b'1').count() as u64;
            let diagonal: u64 = (0..4).map(|class| part.confusion[class][class]).sum();
            assert_eq!((right, part.right.len() as u64), (diagonal, part.samples));
        }
    }
    // Each of the four configurations of the other representation, and of the other network, with its baseline.
    assert_eq!(report.comparisons.len(), 8);
    for one in &report.comparisons {
        let difference = |place: usize| report.configurations[place].estimate.expect("runs").mean;
        assert!((one.paired.mean - (difference(one.configuration) - difference(one.baseline))).abs() < 1e-12);
        let (test, corrected) = (one.equivalence.expect("a margin"), one.corrected.expect("divisions of one set"));
        assert_eq!((test.standard_error, test.difference), (corrected.standard_error, one.paired.mean));
        // Seeds divide the samples anew, so the interval is wider than Student's.
        let (own, plain) = (one.interval, one.paired.interval);
        assert!(own.zip(plain).is_none_or(|(own, plain)| own.half_width() > plain.half_width()));
        let matrix = report.differences[one.configuration][one.baseline].expect("seeds in common");
        assert!((matrix - one.paired.mean).abs() < 1e-12);
        // The p value is that of the interval, so they cannot disagree before the adjustment.
        assert_eq!((one.p, one.smallest_p), (one.interval.map(|_| corrected.p), None));
        assert!(one.p.is_none_or(|p| (p < 0.05) == (one.verdict != Verdict::Undecided)));
    }
    let ps: Vec<f64> = report.comparisons.iter().filter_map(|one| one.p).collect();
    let adjusted: Vec<f64> = report.comparisons.iter().filter_map(|one| one.adjusted_p).collect();
    assert_eq!(holm(&ps).expect("p values"), adjusted);
    let means: Vec<f64> = report.configurations.iter().map(|cell| cell.estimate.expect("runs").mean).collect();
    let best = report.best.expect("runs");
    assert_eq!((best.of, best.value), (8, means.iter().copied().fold(0.0, f64::max)));
    let text = report.to_markdown();
    for part in ["Nadeau and Bengio", "Wilson", "hidden = [8]", "moments, hidden [], lr 0.003"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn new_values_of_the_grid_keep_finished_runs() {
    let folders = Folders::new();
    let (_, few) = run(&spec("[grid]\n'train.optimizer.lr' = [0.01]\n"), &folders.at("a"), &cpu(2));
    let more = spec("[grid]\n'train.optimizer.lr' = [0.003, 0.01]\n");
    let experiment = Experiment::new(more.clone(), folders.at("a"));
    assert_eq!(experiment.plan(&cpu(2)).expect("a plan").finished, 6);
    let times = experiment.run(&cpu(2)).expect("an experiment");
    assert_eq!(times.trained, 6);
    let (_, whole) = run(&more, &folders.at("b"), &cpu(2));
    let (_, found) = run(&more, &folders.at("a"), &cpu(2));
    assert!(whole == found);
    let (few, whole) = (records(&few), records(&whole));
    assert!(few.iter().all(|run| whole.contains(run)));
    let ids: HashSet<&str> = whole.iter().map(|run| run.id.as_str()).collect();
    assert_eq!(ids.len(), 12);
}

/// Wherever it is interrupted, the next call goes on, and the results have the same bytes.
#[test]
fn an_interrupted_experiment_has_the_same_bytes() {
    let folders = Folders::new();
    let spec = spec(GRID);
    let (report, wanted) = run(&spec, &folders.at("whole"), &cpu(2));
    let folder = folders.at("parts");
    let mut interruptions = 0;
    for told in [1, 2, 3, 5, usize::MAX] {
        let cancel = Cancel::new();
        let (switch, count) = (cancel.clone(), AtomicUsize::new(0));
        let experiment = Experiment::new(spec.clone(), &folder).progress(Arc::new(move |_| {
            if count.fetch_add(1, Ordering::Relaxed) + 1 >= told {
                switch.cancel();
            }
        }));
        let ctx = Context::builder().device(false).threads(2).cancel(cancel).build().expect("a context");
        match experiment.run(&ctx) {
            Err(error) if error.is_cancelled() => interruptions += 1,
            found => {
                found.expect("an experiment");
            }
        }
    }
    assert!(interruptions >= 2, "{interruptions}");
    let (resumed, found) = run(&spec, &folder, &cpu(2));
    assert!(wanted == found && timeless(&report) == timeless(&resumed));
}

#[test]
fn folds_test_every_sample_once() {
    let folders = Folders::new();
    let text = BASE.replace("[data]\n", "[data]\nsplit = { folds = 4, validation = 0.1 }\n");
    let spec =
        Spec::parse(&format!("{text}[compare]\nby = ['features']\n"), Path::new("x.toml"), Path::new("")).expect("one");
    let (report, runs) = run(&spec, &folders.at("a"), &cpu(2));
    assert_eq!((report.runs, report.configurations[0].values.len()), (24, 3));
    for seed in 42..45 {
        let of_seed = |run: &&Record| run.seed == seed && run.factors["features"] == "moments";
        let all = records(&runs);
        let own: Vec<&Record> = all.iter().filter(of_seed).collect();
        assert_eq!(own.iter().map(|run| run.parts["test"].samples).collect::<Vec<_>>(), [30; 4]);
        let mean = own.iter().map(|run| run.metric(Part::Test, Metric::Accuracy).expect("scores")).sum::<f64>() / 4.0;
        assert!(report.configurations[0].values.iter().any(|value| (value - mean).abs() < 1e-12));
    }
    // All folds together test every sample.
    assert_eq!(report.configurations[0].of_test_set.map(|set| set.trials), Some(120));
    // 3 seeds of 4 folds are 12 differences.
    let ratio = report.comparisons[0].corrected.expect("divisions of one set").ratio;
    assert!((ratio - 30.0 / 78.0).abs() < 1e-12, "{ratio}");
}

#[test]
fn a_fixed_division_is_compared_sample_by_sample() {
    let folders = Folders::new();
    let text = BASE.replace("repeats = 3", "repeats = 1").replace("[data]\n", "[data]\nsplit = { by = 'fixed' }\n");
    let text = format!("{text}[compare]\nby = ['features']\n");
    let spec = Spec::parse(&text, Path::new("x.toml"), Path::new("")).expect("an experiment");
    let (report, runs) = run(&spec, &folders.at("a"), &cpu(2));
    let one = &report.comparisons[0];
    assert!(one.corrected.is_none() && report.varied.contains("divide the samples alike"));
    let found = one.mcnemar.expect("one test set");
    let right: Vec<Vec<u8>> = records(&runs).iter().map(|run| run.parts["test"].right.clone().into_bytes()).collect();
    let only = |a: &[u8], b: &[u8]| a.iter().zip(b).filter(|(a, b)| **a == b'1' && **b == b'0').count() as u64;
    assert_eq!((found.only_first, found.only_second), (only(&right[1], &right[0]), only(&right[0], &right[1])));
    // One seed has no interval, and nothing that could contradict one.
    assert_eq!(
        (one.interval, one.p, one.adjusted_p, one.why_no_interval()),
        (None, None, None, Some("none: one seed"))
    );
    assert!(report.varied.starts_with("one seed was run") && report.to_markdown().contains("| none: one seed | - |"));
}

/// With four seeds and a fixed division, the sign-flip test has 16 arrangements, of which two are those of the data.
#[test]
fn a_p_value_says_how_small_it_could_be() {
    let folders = Folders::new();
    let text = BASE.replace("repeats = 3", "repeats = 4").replace("[data]\n", "[data]\nsplit = { by = 'fixed' }\n");
    let text = format!("{text}[compare]\nby = ['features']\n");
    let spec = Spec::parse(&text, Path::new("x.toml"), Path::new("")).expect("an experiment");
    let (report, _) = run(&spec, &folders.at("a"), &cpu(2));
    let one = &report.comparisons[0];
    assert_eq!((one.p, one.smallest_p), (Some(one.paired.sign_flip.p), Some(0.125)));
    assert!(report.rule().contains("at least 0.1250"), "{}", report.rule());
}

/// A run that diverges has numbers that are not defined. It is kept, counted, and left out.
#[test]
fn a_run_that_diverges_is_left_out() {
    let folders = Folders::new();
    let more = "optimizer.kind = 'sgd'\n[grid]\n'train.optimizer.lr' = [0.1, 1e30]\n";
    let (report, runs) = run(&spec(more), &folders.at("a"), &cpu(2));
    assert_eq!(records(&runs).len(), 12);
    assert_eq!(Experiment::new(spec(more), folders.at("a")).run(&cpu(1)).expect("an experiment").trained, 0);
    let diverged: Vec<_> = report.configurations.iter().filter(|cell| cell.estimate.is_none()).collect();
    assert_eq!(diverged.len(), 2);
    assert!(diverged.iter().all(|cell| cell.left_out() == "3 diverged" && cell.why_none() == "no run ended well"));
    let text = report.to_markdown();
    assert!(text.contains("Left out of moments, lr 1e+30, because they did not end well: 3 diverged."), "{text}");
}

#[test]
fn results_on_the_part_that_chose_them_are_marked() {
    let folders = Folders::new();
    let of = |on: &str, metric: &str, name: &str| {
        let spec = spec(&format!("stop.on = '{on}'\n[compare]\nmetric = '{metric}'\n"));
        Experiment::new(spec.clone(), folders.at(name)).run(&cpu(1)).expect("an experiment");
        Experiment::new(spec, folders.at(name)).report().expect("a report").selected_on
    };
    assert_eq!(of("validation.loss", "test.accuracy", "a"), None);
    assert_eq!(of("validation.loss", "validation.accuracy", "b"), Some("validation"));
    assert_eq!(of("test.loss", "validation.accuracy", "c"), Some("test"));
}

/// Two validation samples may be of one class, so that the area under the curve is undefined in every epoch.
#[test]
fn runs_that_a_stopping_rule_could_not_choose_are_counted() {
    let folders = Folders::new();
    let text = BASE.replace("samples = 120", "samples = 100, classes = 2").replace("repeats = 3", "repeats = 8");
    let text = format!("{text}stop.on = 'validation.auc'\n[data.split]\ntrain = 0.5\nvalidation = 0.02\ntest = 0.48\n");
    let spec = Spec::parse(&text, Path::new("x.toml"), Path::new("")).expect("an experiment");
    let (report, runs) = run(&spec, &folders.at("a"), &cpu(1));
    let records = records(&runs);
    let (all, without) = (records.len(), records.iter().filter(|run| run.best_epoch.is_none()).count());
    assert!(without > 1);
    let of = if without < all { format!("{without} of ") } else { String::new() };
    let words = format!("validation.auc was defined in no epoch of {of}{all} runs, so it chose none");
    assert_eq!(report.cautions(), std::slice::from_ref(&words));
    assert!(report.to_markdown().contains(&format!("**{words}.**")));
}

/// Only factors, what is compared, and the number of seeds may change in a folder.
#[test]
fn another_experiment_is_refused() {
    let folders = Folders::new();
    let first = spec("");
    run(&first, &folders.at("a"), &cpu(2));
    let written = std::fs::read(folders.at("a").join("spec.toml")).expect("a file");
    let again = |text: String| {
        let spec = Spec::parse(&text, Path::new("x.toml"), Path::new("")).expect("an experiment");
        Experiment::new(spec, folders.at("a")).run(&cpu(2))
    };
    for (from, to, key) in [
        ("name = 'x'", "name = 'y'", "experiment.name"),
        ("samples = 120", "samples = 130", "data.generate.samples"),
        ("batch = 16", "batch = 8", "train.batch"),
    ] {
        refused(again(BASE.replace(from, to)), &["expected the experiment of this folder", key, "a new folder"]);
        assert_eq!(std::fs::read(folders.at("a").join("spec.toml")).expect("a file"), written);
    }
    let more = again(format!("{}[grid]\n'train.batch' = [16, 8]\n", BASE.replace("repeats = 3", "repeats = 4")));
    assert_eq!(more.expect("a larger experiment").trained, 10);
}

#[track_caller]
fn refused(made: Result<impl std::fmt::Debug, Error>, parts: &[&str]) {
    let error = made.expect_err("an error").to_string();
    parts.iter().for_each(|part| assert!(error.contains(part), "`{part}` is not in: {error}"));
}

#[test]
fn another_data_set_is_refused() {
    let folders = Folders::new();
    let path = folders.at("data.csv");
    let write = |first: f64| {
        let row = |i: usize| format!("{},{},{}\n", first + i as f64, (i * i) % 7, ["a", "b"][i % 2]);
        std::fs::write(&path, (0..40).map(row).collect::<String>()).expect("written");
    };
    let spec = |hidden: &str| {
        let text = format!(
            "experiment.name = 'x'\ndata.source = 'data.csv'\ntrain.epochs = 2\ntrain.batch = 8\nmodel.hidden = {hidden}"
        );
        Spec::parse(&text, Path::new("x.toml"), &folders.at("")).expect("an experiment")
    };
    write(0.0);
    let run = |hidden: &str| Experiment::new(spec(hidden), folders.at("a")).run(&cpu(1));
    assert_eq!(run("[4]").expect("an experiment").trained, 1);
    assert_eq!(run("[4]").expect("an experiment").trained, 0);
    write(1.0);
    refused(run("[4]"), &["the data set of the finished runs", "new folder"]);
    write(0.0);
    assert_eq!(run("[4]").expect("the old numbers").trained, 0);
}

#[test]
fn what_is_refused() {
    let folders = Folders::new();
    let of = |text: &str| Spec::parse(text, Path::new("x.toml"), &folders.at("")).expect("an experiment");
    let run = |spec: Spec, name: &str| Experiment::new(spec, folders.at(name)).run(&cpu(1));
    std::fs::write(folders.at("plain.csv"), "1,2.5\n2,3.5\n3,4.5\n").expect("written");
    refused(run(of("experiment.name = 'x'\ndata.source = 'plain.csv'\ndata.label = 'y'"), "a"), &["plain.csv"]);
    std::fs::write(folders.at("sorted.csv"), "1,2,a\n2,3,a\n3,4,b\n4,5,b\n").expect("written");
    refused(
        run(of("experiment.name = 'x'\ndata.source = 'sorted.csv'\ndata.rows = 2"), "b"),
        &["found none of b", "shuffle"],
    );
    refused(run(of("experiment.name = 'x'\ndata.source = 'absent.csv'"), "c"), &["absent.csv"]);
    // Constant samples have no skewness.
    std::fs::write(folders.at("same.csv"), "1,1,1,a\n2,2,2,b\n".repeat(20)).expect("written");
    let undefined = "experiment.name = 'x'\ndata.source = 'same.csv'\nfeatures = ['moments']\ntrain.batch = 4\n";
    refused(run(of(undefined), "d"), &["moments.skewness", "sample 0", "data.undefined"]);
    let replaced = format!("{undefined}data.undefined = 0\ntrain.epochs = 1\n");
    assert_eq!(run(of(&replaced), "e").expect("an experiment").trained, 1);
    // A folder with other files.
    std::fs::create_dir(folders.at("f")).expect("created");
    std::fs::write(folders.at("f").join("notes.txt"), "mine").expect("written");
    refused(run(of(&replaced), "f"), &["expected a new folder", "other files"]);
    // That of a verification.
    let claims = "experiment.name = 'v'\n[[claims]]\nkind = 'trajectory'\n";
    std::fs::write(folders.at("v.toml"), claims).expect("written");
    let verification = Verification::read(&folders.at("v.toml"), false).expect("claims");
    let other = verification.clone();
    let inside = folders.at("v");
    let told = |_: &fiedler::experiment::Kind| {
        refused(other.run(&cpu(1), &inside, |_| ()), &["no other process", "in use"]);
    };
    verification.run(&cpu(1), &folders.at("v"), told).expect("claims");
    assert!(Verification::is_begun(&folders.at("v")));
    refused(run(of(&replaced), "v"), &["found that of a verification"]);
    refused(verification.run(&cpu(1), &folders.at("e"), |_| ()), &["found that of an experiment"]);
    refused(verification.run(&cpu(1), &folders.at("f"), |_| ()), &["found other files"]);
    // A table that exceeds half the memory.
    let small = Context::builder().device(false).memory_budget(1000).build().expect("a context");
    refused(Experiment::new(of(&replaced), folders.at("g")).run(&small), &["inputs of 40 samples"]);
    let device = cpu(1).with_backend(Backend::Gpu);
    refused(Experiment::new(of(&replaced), folders.at("h")).run(&device), &[]);
}

#[test]
fn one_process_at_a_time_works_in_a_folder() {
    let folders = Folders::new();
    let (spec, folder) = (spec(""), folders.at("a"));
    let other = Experiment::new(spec.clone(), &folder);
    let tried = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&tried);
    let experiment = Experiment::new(spec, &folder).progress(Arc::new(move |_| {
        if count.fetch_add(1, Ordering::Relaxed) == 0 {
            refused(other.run(&cpu(1)), &["no other process", "in use"]);
            let report = other.report().expect("a report of no runs");
            assert!(report.configurations.iter().all(|cell| cell.why_none() == "not run yet"));
            refused(other.write_report(&report), &["no other process", "in use"]);
        }
    }));
    experiment.run(&cpu(2)).expect("an experiment");
    assert!(tried.load(Ordering::Relaxed) > 0);
}

#[test]
fn plans_say_what_is_run() {
    let folders = Folders::new();
    let plan = Experiment::new(spec(GRID), folders.at("a")).plan(&cpu(2)).expect("a plan");
    assert_eq!((plan.samples, plan.configurations, plan.runs, plan.finished), (120, 8, 24, 0));
    // Learning rates are trained together, networks apart.
    assert_eq!(plan.groups.iter().map(|group| group.runs).collect::<Vec<_>>(), [6; 4]);
    assert!(plan.groups.iter().all(|group| group.side == "cpu" && group.seconds > 0.0 && group.bytes > 0));
    assert!(plan.groups.iter().all(|group| group.form == "a task for each run"));
    assert!(plan.seconds >= plan.features.seconds && plan.features.columns > 0);
    assert!(!folders.at("a").exists(), "a plan writes nothing");
}
