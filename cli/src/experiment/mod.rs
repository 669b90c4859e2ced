//! The page of the results of an experiment: one HTML file that needs no network and can be read without scripts.

mod boxes;
mod classes;
mod comparisons;
mod curves;
mod tables;
#[cfg(test)]
mod tests;
mod view;

use crate::page::numbers::seconds;
use crate::page::{self, escape};
use fiedler::experiment::Report;
use fiedler::experiment::statistics::Verdict;
use std::fmt::Write as _;
use view::View;

/// Returns the whole HTML file.
pub(crate) fn page(report: &Report) -> String {
    let view = View::new(report);
    let mut html = String::with_capacity(1 << 18);
    heading(&mut html, &view);
    html.push_str(&page::cards(&cards(&view)));
    html.push_str(&tables::configurations(&view));
    html.push_str(&boxes::runs(&view));
    html.push_str(&comparisons::comparisons(&view));
    html.push_str(&comparisons::pairs(&view));
    html.push_str(&curves::curves(&view));
    html.push_str(&classes::classes(&view));
    html.push_str(&tables::metrics(&view));
    spec(&mut html, report);
    page::document(&report.name, &html)
}

/// Returns a count with its noun.
fn many(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// Writes the heading: what was run, what is measured, and what the seeds vary.
fn heading(html: &mut String, view: &View<'_>) {
    let report = view.report;
    let better = if report.larger_is_better { "larger" } else { "smaller" };
    let mut varied = report.varied.chars();
    let varied: String = varied.next().map(char::to_uppercase).into_iter().flatten().chain(varied).collect();
    let _ = write!(
        html,
        "<header>\n<h1>{}</h1>\n<p>{} of {} of {} {} finished. The metric is <strong>{}</strong>; {better} is better. {}. \
         Intervals are at 95&nbsp;%.</p>\n",
        escape(&report.name),
        report.finished,
        many(report.runs, "run", "runs"),
        many(report.configurations.len(), "configuration", "configurations"),
        if report.runs == 1 { "is" } else { "are" },
        escape(&report.metric),
        escape(&varied)
    );
    for words in report.cautions() {
        let _ = writeln!(html, "<p class=\"warning\">{}.</p>", escape(&words));
    }
    if let Some(part) = report.selected_on {
        let _ = writeln!(
            html,
            "<p class=\"warning\"><strong class=\"flag\">Selected on {part}.</strong> The runs were stopped by their {part} \
             samples, so all results on {part} are too good.</p>"
        );
    } else {
        html.push_str("<p>Nothing was selected by test samples.</p>\n");
    }
    html.push_str("</header>\n");
}

/// Returns the summary.
fn cards(view: &View<'_>) -> Vec<(String, String)> {
    let report = view.report;
    let mut cards = Vec::new();
    let best = view.order.first().map(|&place| &report.configurations[place]);
    if let Some((best, estimate)) = best.and_then(|best| Some((best, best.estimate?))) {
        let interval = match estimate.interval {
            Some(_) => format!("{} over {}", view.between(estimate.interval), many(estimate.n, "seed", "seeds")),
            None => format!("{}, no interval", many(estimate.n, "seed", "seeds")),
        };
        let text = match report.best.filter(|best| best.of > 1) {
            Some(all) => format!(
                "best mean {} of {} configurations, of which {} is expected by chance alone: {}; {interval}",
                report.metric,
                all.of,
                view.digits.write(all.expected),
                best.name
            ),
            None => format!("mean {}: {}; {interval}", report.metric, best.name),
        };
        cards.push((view.digits.write(estimate.mean), text));
    }
    let configurations = many(report.configurations.len(), "configuration", "configurations");
    cards.push((format!("{} of {}", report.finished, report.runs), format!("runs of {configurations} finished")));
    if !report.comparisons.is_empty() {
        let count = |verdict: Verdict| report.comparisons.iter().filter(|one| one.verdict == verdict).count();
        let (better, worse) = (count(Verdict::Better), count(Verdict::Worse));
        cards.push((
            format!("{} of {}", better + worse, report.comparisons.len()),
            format!("comparisons decided: {better} better than the baseline, {worse} worse"),
        ));
    }
    let bad: usize = report.configurations.iter().map(view::unusable).sum();
    if bad > 0 {
        let they = if bad == 1 { "run that did not end well and is" } else { "runs that did not end well and are" };
        cards.push((bad.to_string(), format!("{they} left out")));
    }
    if report.times.runs > 0.0 {
        cards.push((seconds(report.times.runs), "of a thread for all runs".to_owned()));
    }
    cards
}

/// Writes the file of the experiment, and what the runs took.
fn spec(html: &mut String, report: &Report) {
    let _ = write!(
        html,
        "<section>\n<h2>Experiment</h2>\n<p>The file of the experiment with all defaults. The runs took {} of a thread; \
         times alone differ between two calls.</p>\n<pre class=\"spec\" tabindex=\"0\" \
         aria-label=\"The file of the experiment\">{}</pre>\n</section>\n",
        seconds(report.times.runs),
        escape(report.spec.trim_end())
    );
}
