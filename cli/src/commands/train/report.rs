//! What is printed after a training.

use crate::commands::many;
use fiedler::train::{Fit, Fitted, Hyper, Metric, Number, Part, RunStatus, Runs, Scores, Stop, Summary};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The number of test samples below which the report says that their scores mean little. With 9 samples that are all
/// right, Wilson's interval of the accuracy begins at 0.70.
const FEW: u64 = 10;

pub(super) struct Done<'a, T> {
    pub(super) fit: &'a Fit<T>,
    /// The number of samples, and of the inputs of a sample.
    pub(super) samples: [usize; 2],
    pub(super) runs: &'a Runs,
    pub(super) split: [f64; 3],
    pub(super) stop: Option<Stop>,
    /// The names of the classes.
    pub(super) classes: &'a [String],
    pub(super) seconds: f64,
    pub(super) threads: usize,
}

impl<T: Number> Done<'_, T> {
    /// Returns the metric that a newcomer looks at first.
    fn metric(&self) -> Metric {
        let classes =
            self.fit.runs().iter().filter_map(|run| run.scores(Part::Train)).any(|scores| scores.classes() > 0);
        if classes { Metric::Accuracy } else { Metric::Loss }
    }

    /// Returns the metrics of a part that are told: that one, R^2 of values, and what runs were stopped by.
    fn told(&self, part: Part) -> Vec<Metric> {
        let mut told = vec![self.metric()];
        let watched = self.stop.filter(|stop| stop.part == part).map(|stop| stop.metric);
        for metric in [Some(Metric::R2), watched].into_iter().flatten() {
            if !told.contains(&metric) && self.fit.summary(part, metric).n > 0 {
                told.push(metric);
            }
        }
        told
    }

    #[expect(clippy::cast_precision_loss, reason = "shown with few digits")]
    pub(super) fn words(&self) -> String {
        let (fit, runs) = (self.fit, self.fit.runs());
        let [samples, inputs] = self.samples;
        let groups = match fit.groups() {
            1 => String::new(),
            groups => format!(" in {groups} groups"),
        };
        let mut text = format!(
            "{} of {} ({} parameters), {} of {}{groups}: {}",
            many(runs.len(), "run", "runs"),
            fit.net(),
            fit.net().parameters(),
            many(samples, "sample", "samples"),
            many(inputs, "input", "inputs"),
            ended(fit, self.seconds, self.threads),
        );
        let metric = self.metric();
        // Runs with different hyperparameters are no sample of one law, so only the groups below are told.
        let alike = self.runs.varied().next().is_none();
        for part in Part::ALL {
            if alike && runs.iter().any(|run| run.scores(part).is_some()) {
                for metric in self.told(part) {
                    let _ = write!(text, "\n  {}.{}: {}", part.name(), metric.name(), fit.summary(part, metric));
                }
            }
        }
        let (part, (guessed, guessing)) = (self.compared(), fit.guessing(self.compared()));
        if guessing.n > 0 {
            let what = if guessed == Metric::Rmse { "mean" } else { "most frequent class" };
            let (part_name, name) = (part.name(), guessed.name());
            let _ = write!(text, "\n  always guessing the {what} has a {part_name}.{name} of {:.4}", guessing.mean);
            if alike && guessed != metric {
                let _ = write!(text, ", these runs {:.4}", fit.summary(part, guessed).mean);
            }
        }
        if fit.is_selected_on_test() {
            text.push_str("\n  selected on test: the runs were stopped by their test samples, so these are too good");
        }
        let skipped = self.skipped();
        if skipped > 0 {
            let _ =
                write!(text, "\n  {} of f16 skipped, because a number was infinite", many(skipped, "step", "steps"));
        }
        if let Some(words) = fit.unchosen() {
            let _ = write!(text, "\n  {words}");
        }
        let scores = |part| runs.iter().filter_map(|run| run.scores(part)).next();
        let test = scores(Part::Test);
        let any = fit.summary(Part::Test, metric).n > 0;
        if let (Some(scores), Metric::Accuracy, true) = (test, metric, any) {
            let (p, n) = (fit.summary(Part::Test, metric).mean, scores.samples() as f64);
            text.push_str(&format!("\n  a test of {} {}", samples_of(scores), of_test(p, n)));
        }
        if let Some(scores) = test.filter(|scores| scores.samples() < FEW) {
            let _ = write!(text, "\n  a test of {} says little about other samples", samples_of(scores));
        }
        // What runs are stopped by, or what else there is to judge them by.
        let judged = test.is_none() || self.stop.is_some_and(|stop| stop.part == Part::Validation);
        if let Some(scores) = scores(Part::Validation).filter(|scores| judged && scores.samples() < FEW) {
            let _ = write!(text, "\n  a validation with {} says little about other samples", samples_of(scores));
        }
        for words in fit.parts_of_one_class(self.classes) {
            let _ = write!(text, "\n  {words}");
        }
        let compared = (self.compared(), metric);
        let watched = self.stop.map(|stop| (stop.part, stop.metric));
        let watched = watched.filter(|own| *own != compared && fit.summary(own.0, own.1).n > 0);
        for (part, metric) in [compared].into_iter().chain(watched) {
            for (names, summary) in self.groups(part, metric) {
                let _ = write!(text, "\n  {names}: {summary}");
            }
        }
        text
    }

    /// Returns the number of steps of all runs that were skipped.
    fn skipped(&self) -> usize {
        self.fit.runs().iter().map(|run| usize::try_from(run.skipped_steps()).unwrap_or(usize::MAX)).sum()
    }

    /// Returns the part on which hyperparameters are compared: the test samples, or the validation or training samples
    /// if there are none.
    fn compared(&self) -> Part {
        let [_, validation, test] = self.split;
        if test > 0.0 {
            Part::Test
        } else if validation > 0.0 {
            Part::Validation
        } else {
            Part::Train
        }
    }

    /// Returns the statistics for each combination of the hyperparameters that vary.
    fn groups(&self, part: Part, metric: Metric) -> Vec<(String, Summary)> {
        let varied: Vec<&str> = self.runs.varied().collect();
        let values = |hyper: &Hyper| varied.iter().map(|name| hyper.get(name)).collect::<Vec<_>>();
        let mut groups: Vec<Vec<Option<f64>>> = Vec::new();
        for run in self.fit.runs() {
            let own = values(&run.run().hyper);
            if !varied.is_empty() && !groups.contains(&own) {
                groups.push(own);
            }
        }
        let named = |group: &[Option<f64>]| {
            let pairs = varied.iter().zip(group).map(|(name, value)| format!("{name} {}", value.unwrap_or(f64::NAN)));
            format!("{}: {}.{}", pairs.collect::<Vec<_>>().join(", "), part.name(), metric.name())
        };
        groups
            .into_iter()
            .map(|group| (named(&group), self.fit.summary_of(part, metric, |run| values(&run.run().hyper) == group)))
            .collect()
    }

    pub(super) fn as_json(&self) -> Value {
        let summary = |found: &Summary| {
            let mut made = mean(found);
            made["best"] = number(found.best);
            made["expected_best"] = number(found.expected_best);
            made
        };
        let mut metrics = serde_json::Map::new();
        for part in Part::ALL {
            for metric in Metric::ALL {
                let found = self.fit.summary(part, metric);
                if found.n > 0 {
                    metrics.insert(format!("{}.{}", part.name(), metric.name()), summary(&found));
                }
            }
        }
        let groups =
            self.groups(self.compared(), self.metric()).into_iter().map(|(name, found)| (name, summary(&found)));
        let (guessed, guessing) = self.fit.guessing(self.compared());
        let part = self.compared().name();
        let guessing = (guessing.n > 0).then(|| (format!("{part}.{}", guessed.name()), number(guessing.mean)));
        let mut report = json!({
            "net": self.fit.net().to_string(),
            "parameters": self.fit.net().parameters(),
            "samples": self.samples[0],
            "row_groups": self.fit.groups(),
            "runs": self.fit.runs().len(),
            "metrics": metrics,
            "guessing": guessing.into_iter().collect::<serde_json::Map<_, _>>(),
            "groups": groups.collect::<serde_json::Map<_, _>>(),
            "selected_on_test": self.fit.is_selected_on_test(),
            "best_run": self.fit.best_run(),
            "mixed_precision": self.fit.mixed_precision().name(),
            "skipped_steps": self.skipped(),
        });
        add_ended(&mut report, self.fit, self.seconds, self.threads);
        report
    }
}

/// Returns how many samples were scored, in words.
fn samples_of(scores: &Scores) -> String {
    many(usize::try_from(scores.samples()).unwrap_or(usize::MAX), "sample", "samples")
}

/// Returns what a test of `n` samples with the accuracy `p` says of other samples.
fn of_test(p: f64, n: f64) -> String {
    let error = (p * (1.0 - p) / n).sqrt();
    if error > 0.0 {
        return format!("has a standard error of {error:.4} by itself");
    }
    // Clopper and Pearson's bound, at which n samples are all alike with a probability of 5 %.
    let bound = 0.05_f64.powf(1.0 / n);
    if p > 0.5 {
        format!("without an error still allows an accuracy of {bound:.4} (at 95 %)")
    } else {
        format!("without a right answer still allows an accuracy of {:.4} (at 95 %)", 1.0 - bound)
    }
}

/// Returns how the runs ended, how long they took and where they were trained.
#[expect(clippy::cast_precision_loss, reason = "a rate")]
pub(super) fn ended<T: Number>(fit: &Fit<T>, seconds: f64, threads: usize) -> String {
    let statuses: Vec<String> = counts(fit).iter().map(|(status, count)| format!("{count} {status}")).collect();
    let place = match fit.side() {
        "cpu" => format!("the CPU, {}", many(threads, "thread", "threads")),
        adapter => adapter.to_owned(),
    };
    let rate = steps(fit) as f64 / seconds;
    format!("{}; {seconds:.1} s on {place}, {rate:.0} steps a second", statuses.join(", "))
}

/// Adds the same to a report.
#[expect(clippy::cast_precision_loss, reason = "a rate")]
pub(super) fn add_ended<T: Number>(report: &mut Value, fit: &Fit<T>, seconds: f64, threads: usize) {
    let statuses = counts(fit).into_iter().map(|(status, count)| (status.to_string(), json!(count)));
    report["statuses"] = Value::Object(statuses.collect());
    report["steps"] = json!(steps(fit));
    report["seconds"] = json!(seconds);
    report["steps_per_second"] = json!(steps(fit) as f64 / seconds);
    report["threads"] = json!(threads);
    report["side"] = json!(fit.side());
}

/// Returns a mean with its deviation and its interval.
pub(super) fn mean(found: &Summary) -> Value {
    json!({"n": found.n, "mean": number(found.mean), "sd": number(found.deviation),
           "half_width_95": number(found.half_width)})
}

/// Returns a number for JSON, which has no infinities.
pub(super) fn number(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { Value::Null }
}

fn steps<T: Number>(fit: &Fit<T>) -> u64 {
    fit.runs().iter().map(Fitted::steps).sum()
}

fn counts<T: Number>(fit: &Fit<T>) -> Vec<(RunStatus, usize)> {
    let all = [RunStatus::Finished, RunStatus::Stopped, RunStatus::Diverged, RunStatus::NonFinite];
    let count = |status| fit.runs().iter().filter(|run| run.status() == status).count();
    all.into_iter().map(|status| (status, count(status))).filter(|(_, count)| *count > 0).collect()
}
