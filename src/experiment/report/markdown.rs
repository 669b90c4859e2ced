//! The report as Markdown.

use super::super::statistics::Interval;
use super::{CellReport, ComparisonReport, Report};
use std::fmt::Write as _;

impl Report {
    /// Returns the report as Markdown.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = format!("# {}\n\n", escaped(&self.name));
        let _ = writeln!(
            text,
            "{} of {} runs are finished. The metric is {}; {} is better. Between the runs of a configuration, {}. \
             Intervals are at 95 %.",
            self.finished,
            self.runs,
            self.metric,
            if self.larger_is_better { "larger" } else { "smaller" },
            self.varied
        );
        if self.selected_on_test {
            text.push_str("\n**Runs were stopped by their test samples, so the results are too good.**\n");
        }
        text.push_str("\n## Configurations\n\n");
        text.push_str("| configuration | seeds | mean | interval over seeds | sd | test set alone (Wilson) | best (expected) | epochs |\n");
        text.push_str("|---|---:|---:|---|---:|---|---|---:|\n");
        self.configurations.iter().for_each(|cell| text.push_str(&of_cell(cell)));
        if !self.comparisons.is_empty() {
            text.push_str("\n## Comparisons\n\n");
            text.push_str("Each row is a difference, configuration minus baseline, over seeds that both have.");
            if self.comparisons.iter().any(|one| one.corrected.is_some()) {
                text.push_str(
                    " Seeds divide one data set, so the interval has the correction of Nadeau and Bengio; p is that of \
                     the sign-flip permutation test, adjusted for all rows by Holm's method.",
                );
            } else {
                text.push_str(" p is that of the sign-flip permutation test, adjusted for all rows by Holm's method.");
            }
            text.push_str("\n\n| configuration | baseline | seeds | difference | interval | p (Holm) | verdict |");
            let margin = self.comparisons.iter().any(|one| one.equivalence.is_some());
            text.push_str(if margin { " equivalent |\n" } else { "\n" });
            text.push_str("|---|---|---:|---:|---|---:|---|");
            text.push_str(if margin { "---|\n" } else { "\n" });
            self.comparisons.iter().for_each(|one| text.push_str(&of_comparison(one, margin)));
            for one in self.comparisons.iter().filter(|one| one.mcnemar.is_some()) {
                if let Some(test) = one.mcnemar {
                    let _ = writeln!(
                        text,
                        "\nOn one test set, only {} was right on {} samples and only {} on {}: McNemar's exact p is {:.3}.",
                        escaped(&one.name),
                        test.only_first,
                        escaped(&one.baseline_name),
                        test.only_second,
                        test.p
                    );
                }
            }
        }
        let _ = write!(text, "\n## Experiment\n\n```toml\n{}```\n", self.spec);
        let _ = writeln!(text, "\nThe runs took {:.1} seconds of a thread.", self.times.runs);
        text
    }
}

/// Escapes what would end a cell of a table.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn between(interval: Option<Interval>) -> String {
    interval.map_or_else(|| "-".to_owned(), |Interval { low, high, .. }| format!("{low:.4} to {high:.4}"))
}

fn of_cell(cell: &CellReport) -> String {
    let name = escaped(&cell.name);
    let Some(estimate) = cell.estimate else {
        return format!("| {name} | 0 | no run ended well | | | | | |\n");
    };
    let deviation = if estimate.deviation.is_finite() { format!("{:.4}", estimate.deviation) } else { "-".to_owned() };
    let best =
        cell.best.map_or_else(String::new, |best| format!("{:.4} of {} ({:.4})", best.value, best.of, best.expected));
    let test = between(cell.of_test_set.map(|set| set.wilson));
    format!(
        "| {name} | {} | {:.4} | {} | {deviation} | {test} | {best} | {:.0} |\n",
        estimate.n,
        estimate.mean,
        between(estimate.interval),
        cell.epochs
    )
}

fn of_comparison(one: &ComparisonReport, margin: bool) -> String {
    let mut row = format!(
        "| {} | {} | {} | {:+.4} | {} | {:.4} | {} |",
        escaped(&one.name),
        escaped(&one.baseline_name),
        one.paired.n,
        one.paired.mean,
        between(one.interval),
        one.adjusted_p,
        one.verdict.name()
    );
    if margin {
        let _ = match one.equivalence {
            Some(found) if found.equivalent => write!(row, " within {} (p {:.4}) |", found.margin, found.p()),
            Some(found) => write!(row, " not shown (p {:.4}) |", found.p()),
            None => write!(row, " - |"),
        };
    }
    row.push('\n');
    row
}
