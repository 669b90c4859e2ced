//! Tests of the page as a whole. The page must be well-formed HTML for every report.

use super::*;
use crate::page::tests::check;
use fiedler::Context;
use fiedler::experiment::statistics::{Equivalence, Estimate, McNemar, Paired, Proportion, Verdict};
use fiedler::experiment::{CellReport, CurveReport, Experiment, MeanBand, Spec};
use std::path::Path;
use std::sync::OnceLock;

/// Runs an experiment with two configurations, once for all tests.
fn small() -> Report {
    static RUN: OnceLock<Report> = OnceLock::new();
    let run = || {
        let text = "experiment = { name = 'small', repeats = 3 }\n\
                    data.generate = { kind = 'series', samples = 60, length = 16, classes = 3 }\n\
                    features = ['stats', 'moments']\ntrain = { epochs = 3, batch = 8 }\n\
                    compare = { by = ['features'], margin = 0.5 }\n";
        let folder = tempfile::tempdir().unwrap();
        let spec = Spec::parse(text, Path::new("small.toml"), Path::new(".")).unwrap();
        let experiment = Experiment::new(spec, folder.path().join("out"));
        experiment.run(&Context::cpu()).unwrap();
        experiment.report().unwrap()
    };
    RUN.get_or_init(run).clone()
}

/// Returns numbers from -1 to 1 that look irregular.
fn noise(place: usize) -> f64 {
    (12.9898 * (place as f64 + 1.0)).sin() * 43758.5453 % 1.0
}

/// Gives a configuration a name and values of the metric.
fn set(cell: &mut CellReport, name: &str, values: &[f64]) {
    cell.name = name.to_owned();
    cell.values = values.to_vec();
    cell.seeds = (42..).take(values.len()).collect();
    cell.estimate = (!values.is_empty()).then(|| Estimate::of(values, 0.95).unwrap());
    let right = |mean: f64| (400.0 * mean.clamp(0.0, 1.0)) as u64;
    cell.of_test_set = cell.estimate.map(|found| Proportion::of(right(found.mean), 400, 0.95).unwrap());
    cell.best = if values.is_empty() { None } else { cell.best };
    if let Some(best) = &mut cell.best {
        best.value = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (best.of, best.expected) = (values.len(), best.value - 0.001);
    }
}

/// Returns curves of runs, some of which stop early.
fn curves(epochs: u64, speed: f64, runs: usize) -> CurveReport {
    let of = |end: f64, begin: f64| {
        let band = |epoch: u64| {
            let left =
                if epoch > epochs / 2 { (runs * (epochs - epoch) as usize / epochs as usize).max(1) } else { runs };
            let shape = (-speed * epoch as f64).exp();
            let mean = end + (begin - end) * shape + 0.01 * noise(epoch as usize);
            MeanBand { mean: Some(mean), deviation: (left > 1).then_some(0.02 + 0.08 * shape), n: left }
        };
        (0..epochs).map(band).collect()
    };
    CurveReport {
        epochs: (0..epochs).collect(),
        loss: of(0.1, 1.6),
        accuracy: of(0.97, 0.3),
        validation_loss: of(0.35, 1.7),
        validation_accuracy: of(0.88, 0.28),
    }
}

/// Returns a report of `n` configurations with `seeds` seeds each.
fn made(n: usize, seeds: usize) -> Report {
    let mut report = small();
    let (cell, comparison) = (report.configurations[0].clone(), report.comparisons[0].clone());
    report.configurations.clear();
    report.comparisons.clear();
    report.classes = ["normal", "uniform", "walk", "sine"].map(str::to_owned).to_vec();
    let value = |place: usize, seed: usize| 0.7 + 0.2 * noise(3 * place).abs() + 0.03 * noise(100 * place + seed);
    let values = |place: usize| (0..seeds).map(|seed| value(place, seed)).collect::<Vec<_>>();
    for place in 0..n {
        let mut cell = cell.clone();
        let name = format!(
            "{}, lr {}, hidden [{}]",
            ["stats", "moments", "spectrum, stats"][place % 3],
            0.1 / (1 + place) as f64,
            16 * (place % 4 + 1)
        );
        set(&mut cell, &name, &values(place));
        cell.curves = curves(60, 0.05 + 0.01 * place as f64, seeds);
        cell.confusion = (0..4)
            .map(|label| (0..4).map(|class| if label == class { 800 + 30 * label } else { 40 * class + 11 }).collect())
            .collect();
        let bin = |k: u64| {
            (
                (k > 3).then_some(20 * k * k),
                (k as f64 + 0.5) / 15.0,
                (k as f64 + 0.5) / 15.0 - 0.05 + 0.08 * noise(k as usize),
            )
        };
        cell.calibration = (0..15)
            .map(bin)
            .map(|(n, confidence, right)| match n {
                Some(n) => (n, Some(confidence), Some(right.clamp(0.0, 1.0))),
                None => (0, None, None),
            })
            .collect();
        (cell.epochs, report.times) = (48.3, report.times.clone());
        report.configurations.push(cell);
        if place > 0 {
            let mut one = comparison.clone();
            let (a, b) = (values(place), values(0));
            one.paired = Paired::of(&a, &b, 0.95, 1).unwrap();
            (one.corrected, one.interval) = (None, one.paired.interval);
            one.verdict = Verdict::of(one.interval, true);
            let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
            one.equivalence = (seeds > 1).then(|| Equivalence::tost(&differences, 0.02, 0.05).unwrap());
            one.p = one.interval.map(|_| one.paired.sign_flip.p);
            (one.adjusted_p, one.smallest_p) = (one.p, None);
            one.pairs_needed = Some(17);
            one.mcnemar = (seeds == 1).then(|| McNemar::of(12, 5, 400).unwrap());
            (one.name, one.baseline_name) = (name, report.configurations[0].name.clone());
            report.comparisons.push(one);
        }
    }
    let mean = |place: usize| report.configurations[place].estimate.map(|found| found.mean);
    report.differences = (0..n).map(|row| (0..n).map(|column| Some(mean(row)? - mean(column)?)).collect()).collect();
    report.times.configurations = (0..n).map(|place| 10.0 + place as f64).collect();
    report.times.runs = report.times.configurations.iter().sum();
    (report.runs, report.finished) = (n * seeds, n * seeds);
    report
}

/// Returns the page after it was checked.
fn checked(report: &Report) -> String {
    let html = page(report);
    check(&html);
    html
}

#[test]
fn a_run_experiment_has_all_parts() {
    let html = checked(&small());
    for part in [
        "<h2>Configurations</h2>",
        "<h2>Runs</h2>",
        "<h2>Comparisons</h2>",
        "<h2>Differences of all pairs</h2>",
        "<h2>Training</h2>",
        "<h3>Confusion matrix</h3>",
        "<h3>Calibration</h3>",
        "<h2>All metrics</h2>",
        "<h2>Experiment</h2>",
        "Nothing was selected by test samples",
        "[data.split]",
        "6 of 6",
    ] {
        assert!(html.contains(part), "{part}");
    }
}

#[test]
fn few_and_many_configurations() {
    for (n, seeds) in [(1, 1), (1, 10), (2, 1), (2, 2), (8, 5), (40, 10), (41, 3)] {
        let html = checked(&made(n, seeds));
        let shown = n.min(view::MOST);
        assert_eq!(html.matches("<details class=\"classes\"").count(), shown, "{n}");
        assert_eq!(html.matches("<details class=\"classes\" open>").count(), if n <= 8 { n } else { 0 }, "{n}");
        assert_eq!(html.matches("<polygon class=\"band").count(), if seeds > 1 { 4 * shown } else { 0 }, "{n}");
        assert_eq!(html.contains("Differences of all pairs"), (2..=view::MOST).contains(&n), "{n}");
        assert_eq!(html.contains("class=\"box\""), seeds >= 5, "{seeds} seeds");
    }
}

#[test]
fn nothing_finished() {
    let mut report = made(3, 4);
    for cell in &mut report.configurations {
        set(cell, "none", &[]);
        (cell.curves, cell.epochs) = (CurveReport::default(), f64::NAN);
        cell.statuses = [("Diverged".to_owned(), 4)].into();
        cell.metrics.values_mut().for_each(|value| *value = None);
        cell.confusion.clear();
        cell.calibration = vec![(0, None, None); 15];
    }
    report.comparisons.clear();
    report.differences = vec![vec![None; 3]; 3];
    let html = checked(&report);
    for part in ["No run ended well yet", "No run has a curve", "4 diverged"] {
        assert!(html.contains(part), "{part}");
    }
    report.configurations.clear();
    report.differences.clear();
    checked(&report);
}

#[test]
fn targets_that_are_values_have_no_classes() {
    let mut report = made(3, 4);
    (report.metric, report.larger_is_better) = ("test.loss".to_owned(), false);
    report.classes.clear();
    for (place, cell) in report.configurations.iter_mut().enumerate() {
        set(cell, &format!("c{place}"), &[2e-9 * (place + 1) as f64, 3e-9 * (place + 1) as f64]);
        (cell.of_test_set, cell.confusion, cell.calibration) = (None, Vec::new(), Vec::new());
        (cell.curves.accuracy, cell.curves.validation_accuracy) = (Vec::new(), Vec::new());
    }
    let html = checked(&report);
    for part in ["Predicted classes", "Wilson", "accuracy of"] {
        assert!(!html.contains(part), "{part}");
    }
    assert!(html.contains("better to the left of 0"));
    let order: Vec<usize> = ["c0", "c1", "c2"].map(|name| html.find(&format!("{name}</th>")).unwrap()).to_vec();
    assert!(order.is_sorted(), "the smallest loss is first");
    assert!(html.contains("2.50e-9") || html.contains("2.5e-9"), "a small loss has digits");
}

#[test]
fn text_cannot_break_out() {
    let evil = "<b>&\"'</script><script>alert(1)</script></pre>";
    let mut report = made(3, 5);
    for text in [&mut report.name, &mut report.metric, &mut report.varied, &mut report.spec] {
        *text = evil.into();
    }
    report.classes = vec![evil.into(); 4];
    for cell in &mut report.configurations {
        cell.name = evil.into();
        cell.statuses = [(evil.to_owned(), 1)].into();
        cell.metrics.insert(format!("test.{evil}"), Some(0.5));
    }
    for one in &mut report.comparisons {
        (one.name, one.baseline_name, one.factor) = (evil.into(), evil.into(), evil.into());
        one.mcnemar = Some(McNemar::of(1, 2, 9).unwrap());
    }
    let html = checked(&report);
    assert_eq!(html.matches("<script>").count(), 1);
    assert!(!html.contains("<b>&"));
    assert!(html.contains("&lt;b&gt;&amp;&quot;&#39;"));
}

#[test]
fn no_value_breaks_the_page() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -1.0, 5e-324, 1e-30, 1e30, f64::MAX] {
        let mut report = made(4, 6);
        for (place, cell) in report.configurations.iter_mut().enumerate().skip(1) {
            match (place, &mut cell.estimate) {
                (1, Some(estimate)) => (estimate.mean, estimate.deviation) = (bad, bad),
                (2, Some(estimate)) => estimate.interval.as_mut().unwrap().low = bad,
                _ => cell.values[2] = bad,
            }
            cell.epochs = bad;
            cell.curves.loss[3].mean = Some(bad);
            cell.curves.accuracy[3].deviation = Some(bad);
            cell.calibration[14] = (9, Some(bad), Some(bad));
            cell.best.as_mut().unwrap().expected = bad;
            cell.metrics.values_mut().for_each(|value| *value = Some(bad));
        }
        let one = &mut report.comparisons[0];
        (one.paired.mean, one.adjusted_p) = (bad, Some(bad));
        one.interval.as_mut().unwrap().high = bad;
        report.differences[0][1] = Some(bad);
        report.times.configurations[0] = bad;
        checked(&report);
        report.times.runs = bad;
        checked(&report);
    }
}

#[test]
fn values_that_are_extremely_close_are_told_apart() {
    let mut report = made(2, 4);
    let values = |first: f64| [0.0, 1e-13, 2e-13, 3e-13].map(|more| first + more);
    set(&mut report.configurations[0], "a", &values(0.9));
    set(&mut report.configurations[1], "b", &values(0.9 + 1e-9));
    checked(&report);
    report.configurations.iter_mut().for_each(|cell| set(cell, "c", &[0.5; 4]));
    checked(&report);
}

#[test]
fn the_best_of_several_is_beside_what_chance_makes_of_it() {
    let html = checked(&small());
    assert!(html.contains("of 2 configurations, of which") && html.contains("is expected by chance alone"));
    assert!(html.contains("The best of the 2 means is"));
}

#[test]
fn a_configuration_without_runs_is_not_a_failure() {
    let mut report = made(3, 4);
    set(&mut report.configurations[1], "later", &[]);
    report.configurations[1].statuses.clear();
    let html = checked(&report);
    assert!(html.contains("not run yet") && !html.contains("no run ended well"));
}

#[test]
fn what_was_selected_on_test_is_said() {
    let mut report = small();
    for part in ["test", "validation"] {
        report.selected_on = Some(part);
        assert!(checked(&report).contains(&format!("Selected on {part}.")));
    }
}

#[test]
fn a_verdict_is_a_word_and_a_shape() {
    let mut report = made(4, 6);
    let verdicts = [Verdict::Better, Verdict::Worse, Verdict::Undecided];
    report.comparisons.iter_mut().zip(verdicts).for_each(|(one, verdict)| one.verdict = verdict);
    let html = checked(&report);
    for verdict in verdicts {
        let word = format!("</svg>{}</span>", verdict.name());
        assert_eq!(html.matches(&word).count(), 2, "in the drawing and in the table");
    }
    assert!(html.contains("2 of 3"));
}
