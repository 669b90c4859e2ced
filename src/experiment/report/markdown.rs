//! The report as Markdown.

use super::super::statistics::Interval;
use super::{CellReport, ComparisonReport, Report};
use std::fmt::Write as _;

impl Report {
    /// Returns the report as Markdown.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = format!("# {}\n\n", escaped(&self.name));
        let mut varied = self.varied.chars();
        let varied: String = varied.next().map(char::to_uppercase).into_iter().flatten().chain(varied).collect();
        let _ = writeln!(
            text,
            "{} of {} {} finished. The metric is {}; {} is better. {varied}. Intervals are at 95 %.",
            self.finished,
            counted(self.runs, "run"),
            if self.finished == 1 { "is" } else { "are" },
            self.metric,
            if self.larger_is_better { "larger" } else { "smaller" },
        );
        for words in self.cautions() {
            let _ = writeln!(text, "\n**{words}.**");
        }
        if let Some(part) = self.selected_on {
            let _ = writeln!(
                text,
                "\n**Runs were stopped by their {part} samples, so the results on {part} are too good.**"
            );
        }
        text.push_str("\n## Configurations\n\n");
        text.push_str("| configuration | seeds | mean | interval over seeds | sd | test set alone (Wilson) | best (expected) | epochs |\n");
        text.push_str("|---|---:|---:|---|---:|---|---|---:|\n");
        self.configurations.iter().for_each(|cell| text.push_str(&of_cell(cell)));
        if let Some(best) = self.best.filter(|best| best.of > 1) {
            let _ = writeln!(
                text,
                "\nThe best of the {} means is {:.4}. Chance alone would make the best of as many, with their mean and \
                 deviation, {:.4}.",
                best.of, best.value, best.expected
            );
        }
        let left_out = self.configurations.iter().filter(|cell| !cell.left_out().is_empty());
        for cell in left_out {
            let _ = writeln!(
                text,
                "\nLeft out of {}, because they did not end well: {}.",
                escaped(&cell.name),
                cell.left_out()
            );
        }
        self.add_comparisons(&mut text);
        let _ = write!(text, "\n## Experiment\n\n```toml\n{}```\n", self.spec);
        let _ = writeln!(text, "\nThe runs took {:.1} seconds of a thread.", self.times.runs);
        text
    }

    fn add_comparisons(&self, text: &mut String) {
        if self.comparisons.is_empty() {
            return;
        }
        text.push_str("\n## Comparisons\n\n");
        let _ = writeln!(
            text,
            "Each row is a difference, configuration minus baseline, over seeds that both have. {}",
            self.rule()
        );
        text.push_str("\n| configuration | baseline | seeds | difference | interval | p (Holm) | verdict |");
        let margin = self.comparisons.iter().any(|one| one.equivalence.is_some());
        text.push_str(if margin { " equivalent |\n" } else { "\n" });
        text.push_str("|---|---|---:|---:|---|---:|---|");
        text.push_str(if margin { "---|\n" } else { "\n" });
        self.comparisons.iter().for_each(|one| text.push_str(&of_comparison(one, margin)));
        for one in &self.comparisons {
            if let Some(words) = one.mcnemar_in_words() {
                let _ = writeln!(text, "\n{}", escaped(&words));
            }
        }
    }

    /// Returns how comparisons are decided, in words.
    #[must_use]
    pub fn rule(&self) -> String {
        let mut text =
            "A verdict is that of the interval of its row: it is decided where the interval excludes 0. ".to_owned();
        if self.comparisons.iter().any(|one| one.corrected.is_some()) {
            text.push_str(
                "Seeds divide one data set, so the interval and the p value are those of the t test with the correction of \
                 Nadeau and Bengio.",
            );
        } else {
            text.push_str(
                "The interval is that of the t test of pairs, and p is that of the sign-flip permutation test",
            );
            let smallest = self.comparisons.iter().filter_map(|one| one.smallest_p).reduce(f64::max);
            match smallest {
                Some(smallest) => {
                    let _ = write!(text, ", which with as many seeds is at least {}.", p_value(Some(smallest)));
                }
                None => text.push('.'),
            }
        }
        text.push_str(" p alone is adjusted for all comparisons, by Holm's method.");
        text
    }
}

impl ComparisonReport {
    /// Returns what McNemar's test says of two models on one test set, in words, if it was done.
    #[must_use]
    pub fn mcnemar_in_words(&self) -> Option<String> {
        let test = self.mcnemar?;
        let samples = |count: u64| counted(usize::try_from(count).unwrap_or(usize::MAX), "sample");
        Some(format!(
            "On one test set, only {} was right on {}, and only {} on {}: McNemar's exact p is {}.",
            self.name,
            samples(test.only_first),
            self.baseline_name,
            samples(test.only_second),
            p_value(Some(test.p))
        ))
    }

    /// Returns what the test of equivalence found, in words, if it was done.
    #[must_use]
    pub fn equivalence_in_words(&self) -> Option<String> {
        let test = self.equivalence?;
        let unit = if self.corrected.is_some() { "division" } else { "seed" };
        let n = self.corrected.map_or(self.paired.n, |found| found.n);
        let (p, n) = (p_value(Some(test.p())), counted(n, unit));
        Some(match (test.equivalent, self.pairs_needed) {
            (true, _) => format!("within {} (p {p}, {n})", test.margin),
            (false, Some(needed)) => {
                format!("not shown within {} (p {p}, {n} of the {needed} that 90 % power needs)", test.margin)
            }
            (false, None) => format!("not shown within {} (p {p}, {n}; no number of {unit}s suffices)", test.margin),
        })
    }
}

/// Returns a count with its noun.
pub(super) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Returns a p value as text.
fn p_value(p: Option<f64>) -> String {
    match p.filter(|p| p.is_finite()) {
        None => "-".to_owned(),
        Some(p) if p < 1e-4 => "< 0.0001".to_owned(),
        Some(p) => format!("{p:.4}"),
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
        return format!("| {name} | 0 | {} | | | | | |\n", cell.why_none());
    };
    let deviation = if estimate.deviation.is_finite() { format!("{:.4}", estimate.deviation) } else { "-".to_owned() };
    let best =
        cell.best.map_or_else(String::new, |best| format!("{:.4} of {} ({:.4})", best.value, best.of, best.expected));
    let interval = match (estimate.interval, estimate.n) {
        (Some(_), _) => between(estimate.interval),
        (None, 1) => "none: one seed".to_owned(),
        (None, _) => "none: equal with every seed".to_owned(),
    };
    let test = between(cell.of_test_set.map(|set| set.wilson));
    format!(
        "| {name} | {} | {:.4} | {} | {deviation} | {test} | {best} | {:.0} |\n",
        estimate.n, estimate.mean, interval, cell.epochs
    )
}

fn of_comparison(one: &ComparisonReport, margin: bool) -> String {
    let interval = one.why_no_interval().map_or_else(|| between(one.interval), str::to_owned);
    let mut row = format!(
        "| {} | {} | {} | {:+.4} | {interval} | {} | {} |",
        escaped(&one.name),
        escaped(&one.baseline_name),
        one.paired.n,
        one.paired.mean,
        p_value(one.adjusted_p),
        one.verdict.name()
    );
    if margin {
        let _ = write!(row, " {} |", one.equivalence_in_words().unwrap_or_else(|| "-".to_owned()));
    }
    row.push('\n');
    row
}
