//! What `fiedler experiment` prints.

use super::super::{columns, many};
use super::within;
use crate::page::numbers::p_value;
use fiedler::Context;
use fiedler::experiment::statistics::{Interval, Verdict};
use fiedler::experiment::{Plan, Report, Times};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// The page of a report.
pub(super) const PAGE: &str = "report.html";

/// Returns a plan as text.
pub(super) fn plan(plan: &Plan, ctx: &Context) -> String {
    let mut text = format!(
        "{} of {}, {} of them finished; {}\n",
        many(plan.runs, "run", "runs"),
        many(plan.configurations, "configuration", "configurations"),
        plan.finished,
        many(plan.samples, "sample", "samples")
    );
    let side = |side: &str| match (side, ctx.adapter()) {
        ("gpu", Some(adapter)) => adapter.name.clone(),
        _ => format!("the CPU, {}", many(ctx.threads(), "thread", "threads")),
    };
    if plan.features.columns > 0 {
        let columns = many(plan.features.columns, "column", "columns");
        let (place, seconds) = (side(plan.features.side), plan.features.seconds);
        let _ = writeln!(text, "features: {columns} on {place}, at most {}", duration(seconds));
    }
    for group in &plan.groups {
        let runs = many(group.runs, "run", "runs");
        let _ = writeln!(
            text,
            "{}: {runs} of {} on {} ({}), at most {}",
            group.name,
            group.net,
            side(group.side),
            group.form,
            duration(group.seconds)
        );
    }
    if let Some(group) = plan.groups.first() {
        let _ = writeln!(text, "why: {}", group.reason);
    }
    let _ = write!(text, "in all: at most {}, {} MB of memory", duration(plan.seconds), plan.bytes / 1_000_000);
    text + "\n" + &data(plan)
}

/// Returns a line that says what the data set has.
pub(super) fn data(plan: &Plan) -> String {
    let classes = (plan.classes > 0).then_some(plan.classes);
    let notes = plan.findings.notes().into_iter().chain(plan.adjustments.iter().cloned());
    let notes: String = notes.map(|note| format!("; {note}")).collect();
    let (samples, inputs) = (many(plan.samples, "sample", "samples"), many(plan.inputs, "input", "inputs"));
    format!("data: {samples} of {inputs}, {}{notes}", columns::targets_in_words(&plan.findings, classes))
}

/// Returns seconds in words.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{:.0} ms", 1e3 * s),
        s if s < 120.0 => format!("{s:.1} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// Returns the results of an experiment as text.
pub(super) fn report(report: &Report, times: Times, seconds: f64, side: &str, folder: &Path) -> String {
    let place = if side == "cpu" { "the CPU" } else { side };
    let mut text = format!(
        "{}: {} of {}, {} of them now: {seconds:.1} s on {place} (features {:.1} s, training {:.1} s)",
        report.name,
        many(report.finished, "run", "runs"),
        many(report.configurations.len(), "configuration", "configurations"),
        times.trained,
        times.features,
        times.training
    );
    for cell in &report.configurations {
        let Some(estimate) = cell.estimate else {
            let _ = write!(text, "\n  {}: {}", cell.name, cell.why_none());
            if !cell.left_out().is_empty() {
                let _ = write!(text, " ({})", cell.left_out());
            }
            continue;
        };
        let _ = write!(text, "\n  {}: {} {:.4}", cell.name, report.metric, estimate.mean);
        match estimate.interval {
            Some(Interval { low, high, .. }) => {
                let _ = write!(text, " ({low:.4} to {high:.4})");
            }
            None if estimate.n > 1 => text.push_str(" (no interval: equal with every seed)"),
            None => {}
        }
        let _ = write!(text, " over {}", many(estimate.n, "seed", "seeds"));
        if !cell.left_out().is_empty() {
            let _ = write!(text, "; left out: {}", cell.left_out());
        }
        if let Some(best) = cell.best.filter(|best| best.of > 1) {
            let _ = write!(text, "; best {:.4}, expected of {}: {:.4}", best.value, best.of, best.expected);
        }
    }
    for one in &report.comparisons {
        let verdict = match one.verdict {
            Verdict::Better => "better than",
            Verdict::Worse => "worse than",
            Verdict::Undecided => "undecided against",
        };
        let _ = write!(text, "\n  {} is {verdict} {}: {:+.4}", one.name, one.baseline_name, one.paired.mean);
        if let Some(Interval { low, high, .. }) = one.interval {
            let p = one.adjusted_p.map_or_else(String::new, |p| format!(", Holm's p {}", p_value(p)));
            let _ = write!(text, " ({low:+.4} to {high:+.4}{p})");
        }
        if let Some(why) = one.why_no_interval() {
            let _ = write!(text, " (interval: {why})");
        }
        if let Some(words) = one.equivalence_in_words() {
            let _ = write!(text, "; equivalence {words}");
        }
        if let Some(words) = one.mcnemar_in_words() {
            let _ = write!(text, "\n    {words}");
        }
    }
    if !report.comparisons.is_empty() {
        let _ = write!(text, "\n{}", report.rule());
    }
    let _ = write!(text, "\n{}", report.varied);
    for words in report.cautions() {
        let _ = write!(text, "\n{words}");
    }
    if let Some(part) = report.selected_on {
        let _ = write!(
            text,
            "\nselected on {part}: the runs were stopped by their {part} samples, so results on {part} are too good"
        );
    }
    let _ = write!(text, "\nreport: {}", within(folder, PAGE));
    text
}

/// Returns the same as JSON.
pub(super) fn as_json(report: &Report, times: Times, seconds: f64, side: &str, folder: &Path) -> Value {
    json!({
        "output": folder, "runs": report.runs, "finished": report.finished, "trained": times.trained, "side": side,
        "seconds": seconds, "features_seconds": times.features, "training_seconds": times.training,
        "configurations": report.configurations, "comparisons": report.comparisons,
    })
}
