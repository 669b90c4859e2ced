//! What `fiedler experiment` prints.

use super::super::many;
use super::within;
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
        let form = if group.form.is_empty() { String::new() } else { format!(" ({})", group.form) };
        let _ = writeln!(
            text,
            "{}: {runs} of {} on {}{form}, at most {}",
            group.name,
            group.net,
            side(group.side),
            duration(group.seconds)
        );
    }
    if let Some(group) = plan.groups.first() {
        let _ = writeln!(text, "why: {}", group.reason);
    }
    let _ = write!(text, "in all: at most {}, {} MB of memory", duration(plan.seconds), plan.bytes / 1_000_000);
    text
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
            let _ = write!(text, "\n  {}: no run ended well", cell.name);
            continue;
        };
        let _ = write!(text, "\n  {}: {} {:.4}", cell.name, report.metric, estimate.mean);
        if let Some(interval) = estimate.interval {
            let _ = write!(text, " +- {:.4}", interval.half_width());
        }
        let _ = write!(text, " over {}", many(estimate.n, "seed", "seeds"));
        if let Some(best) = cell.best.filter(|best| best.of > 1) {
            let _ = write!(text, "; best {:.4}, expected of {}: {:.4}", best.value, best.of, best.expected);
        }
    }
    for one in &report.comparisons {
        let verdict = match one.verdict {
            Verdict::Better => "better than",
            Verdict::Worse => "worse than",
            Verdict::Undecided => "not told apart from",
        };
        let _ = write!(text, "\n  {} is {verdict} {}: {:+.4}", one.name, one.baseline_name, one.paired.mean);
        if let Some(Interval { low, high, .. }) = one.interval {
            let _ = write!(text, " ({low:+.4} to {high:+.4}, p {:.3})", one.adjusted_p);
        }
        if let Some(found) = one.equivalence {
            let word = if found.equivalent { "equivalent within" } else { "equivalence not shown within" };
            let _ = write!(text, "; {word} {}", found.margin);
        }
    }
    let _ = write!(text, "\nbetween seeds, {}", report.varied);
    if report.selected_on_test {
        text.push_str("\nselected on test: the runs were stopped by their test samples, so these are too good");
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
