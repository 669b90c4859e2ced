//! The comparisons of configurations: a table, a forest plot, and the differences of all pairs.

use super::many;
use super::tables::number;
use super::view::{MOST, MOST_ROWS, View};
use crate::page::heat::heat_map;
use crate::page::marks::{Key, Mark};
use crate::page::numbers::{Digits, NONE, p_value};
use crate::page::range::Range;
use crate::page::strip::{Strip, Strips};
use crate::page::{escape, table};
use fiedler::experiment::ComparisonReport;
use fiedler::experiment::statistics::Verdict;
use std::fmt::Write as _;

/// Returns the mark of a verdict. Its shape tells it from the others, as does its word.
fn mark(verdict: Verdict) -> Mark {
    match verdict {
        Verdict::Better => Mark(2),
        Verdict::Worse => Mark(4),
        Verdict::Undecided => Mark(6),
    }
}

/// Returns a verdict as a mark and a word.
fn word(verdict: Verdict) -> String {
    format!("<span class=\"verdict\">{}{}</span>", mark(verdict).key(Key::Point), verdict.name())
}

/// The comparisons with the digits of their differences.
struct Compared<'a> {
    all: &'a [ComparisonReport],
    digits: Digits,
    margin: bool,
}

impl Compared<'_> {
    /// Returns the interval of a comparison in words.
    fn interval(&self, one: &ComparisonReport) -> String {
        let words = |low, high| format!("{} to {}", self.digits.signed(low), self.digits.signed(high));
        let why = || one.why_no_interval().unwrap_or(NONE).to_owned();
        one.interval.map_or_else(why, |found| words(found.low, found.high))
    }

    /// Returns what a comparison says, in words.
    fn summary(&self, one: &ComparisonReport) -> String {
        let p = one.adjusted_p.map_or_else(String::new, |p| format!(", p {}", p_value(p)));
        format!(
            "{} against {}: {}, interval {}, {}{p}: {}",
            one.name,
            one.baseline_name,
            self.digits.signed(one.paired.mean),
            self.interval(one),
            many(one.paired.n, "seed", "seeds"),
            one.verdict.name()
        )
    }
}

/// Returns the section with the comparisons; nothing if there are none.
pub(super) fn comparisons(view: &View<'_>) -> String {
    let all = view.report.comparisons.as_slice();
    if all.is_empty() {
        return String::new();
    }
    let mut widths: Vec<f64> = all.iter().filter_map(|one| one.interval).map(|found| found.half_width()).collect();
    widths.retain(|width| *width > 0.0);
    widths.sort_by(f64::total_cmp);
    let digits = match widths.get(widths.len() / 2) {
        Some(&width) => Digits::new(all.iter().map(|one| one.paired.mean), Some(width)),
        None => view.digits,
    };
    let compared = Compared { all, digits, margin: all.iter().any(|one| one.equivalence.is_some()) };
    let mcnemar: String = all
        .iter()
        .filter_map(ComparisonReport::mcnemar_in_words)
        .map(|words| format!("<p>{}</p>\n", escape(&words)))
        .collect();
    format!(
        "<section>\n<h2>Comparisons</h2>\n<p>Differences of {}, configuration minus baseline, over the seeds that both \
         have. {}</p>\n{}{}{mcnemar}</section>\n",
        escape(&view.report.metric),
        escape(&view.report.rule()),
        forest(view, &compared),
        rows(&compared)
    )
}

/// Returns the table of comparisons.
fn rows(compared: &Compared<'_>) -> String {
    let heads = ["configuration", "baseline", "factor", "seeds", "difference", "interval", "p\u{a0}(Holm)", "verdict"];
    let words = ["factor", "configuration", "baseline", "verdict", "equivalent"];
    let heads = heads.into_iter().chain(compared.margin.then_some("equivalent"));
    let heads: Vec<(&str, bool)> = heads.map(|head| (head, words.contains(&head))).collect();
    let mut rows = String::new();
    for one in compared.all {
        let _ = write!(
            rows,
            "<tr><th scope=\"row\">{}</th><td class=\"text\">{}</td><td class=\"text\">{}</td>",
            escape(&one.name),
            escape(&one.baseline_name),
            escape(one.factor.rsplit('.').next().unwrap_or_default())
        );
        rows.push_str(&number(Some(one.paired.n as f64), &one.paired.n.to_string()));
        rows.push_str(&number(Some(one.paired.mean), &compared.digits.signed(one.paired.mean)));
        match one.interval {
            Some(found) => rows.push_str(&number(Some(found.half_width()), &compared.interval(one))),
            None => {
                let _ = write!(rows, "<td class=\"note\">{}</td>", escape(&compared.interval(one)));
            }
        }
        rows.push_str(&number(one.adjusted_p, &one.adjusted_p.map_or_else(String::new, p_value)));
        let _ = write!(rows, "<td class=\"text\">{}</td>", word(one.verdict));
        if compared.margin {
            let text = one.equivalence_in_words().unwrap_or_else(|| NONE.to_owned());
            let _ = write!(rows, "<td class=\"text note\">{}</td>", escape(&text));
        }
        rows.push_str("</tr>\n");
    }
    table("Comparisons", "fit", &heads, &rows)
}

/// Returns the forest plot of the comparisons.
fn forest(view: &View<'_>, compared: &Compared<'_>) -> String {
    let ends = |one: &ComparisonReport| {
        let interval = one.interval.map(|found| [found.low, found.high]);
        let margin = one.equivalence.map(|found| [-found.margin, found.margin]);
        interval.into_iter().chain(margin).flatten().chain([one.paired.mean]).collect::<Vec<f64>>()
    };
    let drawn = &compared.all[..compared.all.len().min(MOST_ROWS)];
    let Some(range) = Range::linear(drawn.iter().flat_map(ends).chain([0.0])).map(Range::padded) else {
        return String::new();
    };
    let side = if view.report.larger_is_better { "right" } else { "left" };
    let name = format!("difference of {}, better to the {side} of 0", view.report.metric);
    let mut strips = Strips::new(&name, range);
    // If all have the same baseline, it is named once.
    let first = drawn.first().map(|one| one.baseline_name.as_str());
    let shared = first.filter(|name| drawn.iter().all(|one| one.baseline_name == *name));
    for one in drawn {
        let mut strip = strips.strip(28.0);
        draw(&mut strip, compared, one);
        let mut before = escape(&one.name);
        if shared.is_none() {
            let _ = write!(before, " <span class=\"soft\">against {}</span>", escape(&one.baseline_name));
        }
        strips.push(&before, strip, &compared.summary(one), &word(one.verdict));
    }
    let key = |inner: &str| format!("<svg class=\"key\" viewBox=\"0 0 26 14\" aria-hidden=\"true\">{inner}</svg>");
    let against = shared.map_or_else(String::new, |name| format!(" from {}", escape(name)));
    let mut legend = format!(
        "<li>{}the mean difference{against}, with its interval</li><li>{}no difference</li>",
        Mark(6).key(Key::Line),
        key("<path class=\"zero\" d=\"M13 0V14\"/>")
    );
    if compared.margin {
        let margin = drawn.iter().find_map(|one| one.equivalence).map(|found| found.margin);
        let size = margin.map_or_else(String::new, |margin| format!(", up to {margin}"));
        let _ = write!(
            legend,
            "<li>{}differences that do not matter{size}</li>",
            key("<rect class=\"margin\" x=\"2\" y=\"1\" width=\"22\" height=\"12\"/>")
        );
    }
    let more =
        if drawn.len() < compared.all.len() { format!(" The first {MOST_ROWS} are drawn.") } else { String::new() };
    format!(
        "<figure aria-label=\"{}\">\n<figcaption><ul class=\"legend\">{legend}</ul>{more}</figcaption>\n{}</figure>\n",
        escape(&format!("Differences of {} with their intervals", view.report.metric)),
        strips.finish()
    )
}

/// Draws a comparison: the margin, the line at 0, the interval and the mean.
fn draw(strip: &mut Strip, compared: &Compared<'_>, one: &ComparisonReport) {
    if let Some(found) = one.equivalence {
        strip.range([-found.margin, found.margin], "margin");
    }
    strip.rule(0.0, "zero");
    if let Some(interval) = one.interval {
        strip.interval([interval.low, interval.high], 0.0, &format!("l {}", mark(one.verdict).class()));
    }
    strip.marker(one.paired.mean, 0.0, mark(one.verdict), false, &compared.summary(one));
}

/// Returns the section with the differences of all pairs of configurations; nothing if there is one configuration.
pub(super) fn pairs(view: &View<'_>) -> String {
    let differences = &view.report.differences;
    if differences.len() < 2 || differences.len() > MOST {
        return String::new();
    }
    let places: Vec<usize> = view.order.iter().copied().filter(|&place| place < differences.len()).collect();
    let of = |row: usize, column: usize| differences[row].get(column).copied().flatten();
    let values: Vec<Vec<Option<f64>>> =
        places.iter().map(|&row| places.iter().map(|&column| of(row, column)).collect()).collect();
    let names: Vec<String> = places.iter().map(|&place| view.report.configurations[place].name.clone()).collect();
    let digits = view.digits;
    let label = format!("Differences of {} between configurations", view.report.metric);
    let map = heat_map(&label, ["row", "column"], &names, &values, &|v| digits.signed(v));
    format!(
        "<section>\n<h2>Differences of all pairs</h2>\n<p>The mean difference of {}, row minus column, over the seeds \
         that both have, without intervals. The stronger the color, the larger the difference; columns have the numbers \
         of the rows.</p>\n{map}</section>\n",
        escape(&view.report.metric)
    )
}
