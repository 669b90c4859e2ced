//! The tables of the configurations.

use super::view::{View, unusable};
use crate::page::numbers::{Digits, NONE, count, seconds};
use crate::page::{escape, table};
use fiedler::experiment::CellReport;
use std::fmt::Write as _;

/// Returns a cell with a number, which is used for sorting, and its text.
pub(super) fn number(value: Option<f64>, text: &str) -> String {
    match value.filter(|v| v.is_finite()) {
        Some(v) => format!("<td data-v=\"{v:e}\">{}</td>", escape(text)),
        None => format!("<td>{NONE}</td>"),
    }
}

/// Returns the section with the table of configurations.
pub(super) fn configurations(view: &View<'_>) -> String {
    let report = view.report;
    let wilson = report.configurations.iter().any(|cell| cell.of_test_set.is_some());
    let bad = report.configurations.iter().any(|cell| unusable(cell) > 0);
    let times = report.times.configurations.len() == report.configurations.len();
    let heads = ["#", "configuration", "seeds", "mean", "interval over seeds", "sd"];
    let trials = trials(&report.configurations);
    let of_test = match trials {
        Some(trials) => format!("test set of {trials} alone (Wilson)"),
        None => "test set alone (Wilson)".to_owned(),
    };
    let heads = heads.into_iter().chain(wilson.then_some(of_test.as_str()));
    let heads = heads.chain(["best", "best expected", "epochs"]).chain(times.then_some("thread time"));
    let heads: Vec<(&str, bool)> = heads
        .chain(bad.then_some("left out"))
        .map(|head| (head, ["configuration", "left out"].contains(&head)))
        .collect();
    let mut rows = String::new();
    for &place in &view.order {
        let cell = &report.configurations[place];
        let _ = write!(
            rows,
            "<tr><td data-v=\"{0}\">{0}</td><th scope=\"row\">{1}</th>",
            view.numbers[place],
            escape(&cell.name)
        );
        rows.push_str(&of_values(view, cell, wilson));
        let epochs = Some(cell.epochs).filter(|_| cell.estimate.is_some());
        rows.push_str(&number(epochs, &count(cell.epochs.round())));
        if times {
            let taken = report.times.configurations[place];
            rows.push_str(&number(Some(taken), &seconds(taken)));
        }
        if bad {
            let _ = write!(rows, "<td class=\"text note\">{}</td>", escape(&cell.left_out()));
        }
        rows.push_str("</tr>\n");
    }
    let about = if report.configurations.len() > 1 {
        " Configurations are in the order of their means. The first of many is first by luck too, so a comparison \
         decides, not the order."
    } else {
        ""
    };
    let best = report.best.filter(|best| best.of > 1).map_or_else(String::new, |best| {
        let (value, expected) = (view.digits.write(best.value), view.digits.write(best.expected));
        format!(
            " The best of the {} means is {value}; chance alone would make the best of as many, with their mean and \
             deviation, {expected}.",
            best.of
        )
    });
    let of_test = if wilson {
        " The interval over seeds says how far the mean is known for these samples; that of the test set alone, how far \
         an accuracy is known from so few test samples."
    } else {
        ""
    };
    format!(
        "<section>\n<h2>Configurations</h2>\n<p>{} of each seed: the mean with its 95&nbsp;% interval (Student's t), \
         the standard deviation, and the best seed beside what the best of as many seeds is expected to be.{of_test}\
         {about}{best}</p>\n{}</section>\n",
        escape(&report.metric),
        table("Configurations", "fit", &heads, &rows)
    )
}

/// Returns the number of test samples, if it is the same for all configurations.
fn trials(cells: &[CellReport]) -> Option<u64> {
    let mut all = cells.iter().filter_map(|cell| cell.of_test_set).map(|set| set.trials);
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

/// Returns the cells of a configuration that are about its values.
fn of_values(view: &View<'_>, cell: &CellReport, wilson: bool) -> String {
    let digits = view.digits;
    let Some(estimate) = cell.estimate else {
        let empty = format!("<td>{NONE}</td>").repeat(if wilson { 5 } else { 4 });
        return format!("<td data-v=\"0\">0</td><td>{}</td>{empty}", escape(cell.why_none()));
    };
    let mut cells = number(Some(estimate.n as f64), &estimate.n.to_string());
    cells.push_str(&number(Some(estimate.mean), &digits.write(estimate.mean)));
    cells.push_str(&number(estimate.interval.map(|found| found.half_width()), &view.between(estimate.interval)));
    cells.push_str(&number(Some(estimate.deviation).filter(|_| estimate.n > 1), &digits.write(estimate.deviation)));
    if wilson {
        let set = cell.of_test_set;
        let own = set.filter(|_| trials(&view.report.configurations).is_none());
        let samples = own.map_or_else(String::new, |set| format!(" (n = {})", set.trials));
        let text = view.between(set.map(|set| set.wilson)) + &samples;
        cells.push_str(&number(set.map(|set| set.wilson.half_width()), &text));
    }
    let best = cell.best.map(|best| (best.value, best.of, best.expected));
    cells.push_str(&number(
        best.map(|best| best.0),
        &best.map_or_else(String::new, |(v, of, _)| format!("{} of {of}", digits.write(v))),
    ));
    let expected = best.map(|best| best.2).filter(|_| estimate.n > 1);
    cells.push_str(&number(expected, &expected.map_or_else(String::new, |v| digits.write(v))));
    cells
}

/// Returns the section with the means of all metrics on all parts; nothing if there are none.
pub(super) fn metrics(view: &View<'_>) -> String {
    let cells = || view.report.configurations.iter();
    // The keys are `part.metric`.
    let mut names: Vec<(&str, &str)> =
        cells().flat_map(|cell| cell.metrics.keys()).filter_map(|name| name.split_once('.')).collect();
    names.sort_unstable();
    names.dedup();
    let mut parts: Vec<&str> = names.iter().map(|(part, _)| *part).collect();
    parts.dedup();
    // In the order in which parts are used.
    parts.sort_by_key(|part| ["train", "validation", "test"].iter().position(|known| known == part));
    let mut metrics: Vec<&str> = names.iter().map(|(_, metric)| *metric).collect();
    metrics.sort_unstable();
    metrics.dedup();
    if metrics.is_empty() {
        return String::new();
    }
    let value = |cell: &CellReport, part: &str, metric: &str| *cell.metrics.get(&format!("{part}.{metric}"))?;
    let digits = |metric: &&str| {
        let all = cells().flat_map(|cell| parts.iter().filter_map(|part| value(cell, part, metric)));
        Digits::new(all, None)
    };
    let digits: Vec<Digits> = metrics.iter().map(digits).collect();
    let mut rows = String::new();
    for (place, cell) in view.cells() {
        for (row, part) in parts.iter().enumerate() {
            // A horizontal line separates the configurations.
            let class = if row == 0 { " class=\"next\"" } else { "" };
            let name = escape(&cell.name);
            let _ = write!(
                rows,
                "<tr{class}><td data-v=\"{place}\">{place}</td><th scope=\"row\">{name}</th><td class=\"text\">{}</td>",
                escape(part)
            );
            for (metric, digits) in metrics.iter().zip(&digits) {
                let v = value(cell, part, metric);
                rows.push_str(&number(v, &v.map_or_else(String::new, |v| digits.write(v))));
            }
            rows.push_str("</tr>\n");
        }
    }
    let names: Vec<String> = metrics.iter().map(|metric| metric.replace('_', " ")).collect();
    let heads = [("#", false), ("configuration", true), ("part", true)].into_iter();
    let heads: Vec<(&str, bool)> = heads.chain(names.iter().map(|name| (name.as_str(), false))).collect();
    format!(
        "<section>\n<h2>All metrics</h2>\n<p>The mean of every metric on every part, over all runs that ended well.</p>\n\
         {}</section>\n",
        table("All metrics", "fit", &heads, &rows)
    )
}
