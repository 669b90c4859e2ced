//! What was predicted for the test samples: confusion matrices, and how far confidences can be believed.

use super::many;
use super::view::{MOST, View};
use crate::page::heat::{Cell, Heads, cells};
use crate::page::marks::{Key, Mark};
use crate::page::numbers::{percent, three};
use crate::page::plot::{Axis, Plot};
use crate::page::range::{Range, Scale};
use crate::page::{escape, table};
use fiedler::experiment::{CellReport, Report};
use std::fmt::Write as _;

/// The most configurations that are shown without being opened.
const OPEN: usize = 8;
/// The size of a reliability diagram.
const SIZE: (f64, f64) = (320.0, 260.0);
/// The most characters and columns of class names that are the heads of columns.
const SHORT: (usize, usize) = (8, 12);
/// The height of the largest bar of counts, as a share of the diagram's.
const BARS: f64 = 0.25;

/// A bin of confidences: the number of samples, the mean confidence and the share that was right.
type Bin = (u64, Option<f64>, Option<f64>);

/// Returns the section with the confusion matrix and the reliability diagram of each configuration; nothing if no
/// classes were predicted.
pub(super) fn classes(view: &View<'_>) -> String {
    let predicted = |cell: &CellReport| samples(&cell.confusion) > 0 || !bins(cell).is_empty();
    let all: Vec<(usize, &CellReport)> = view.cells().filter(|(_, cell)| predicted(cell)).collect();
    if all.is_empty() {
        return String::new();
    }
    let open = if all.len() <= OPEN { " open" } else { "" };
    let of_cell = |(number, cell): &(usize, &CellReport)| {
        format!(
            "<details class=\"classes\"{open}>\n<summary><span class=\"no\">{number}</span> {}</summary>\n\
             <div class=\"duo\">\n{}{}</div>\n</details>\n",
            escape(&cell.name),
            confusion(view.report, cell),
            calibration(cell)
        )
    };
    let closed =
        if open.is_empty() { " Open a configuration to see its figures; what is open is printed." } else { "" };
    let drawn: String = all.iter().take(MOST).map(of_cell).collect();
    let more = if all.len() > MOST { format!(" The first {MOST} configurations are shown.") } else { String::new() };
    format!(
        "<section>\n<h2>Predicted classes</h2>\n<p>The test samples of all runs of a configuration together: a sample \
         counts once for each run that was tested on it. The color of a cell is its share of the row, which is the \
         share of the samples of that label.{closed}{more}</p>\n{drawn}</section>\n"
    )
}

/// Returns the number of samples of a confusion matrix.
fn samples(confusion: &[Vec<u64>]) -> u64 {
    confusion.iter().flatten().sum()
}

/// Returns the bins that have samples.
fn bins(cell: &CellReport) -> Vec<(usize, u64, f64, f64)> {
    let bin = |(place, &(n, confidence, right)): (usize, &Bin)| {
        let known = |v: Option<f64>| v.filter(|v| v.is_finite());
        (n > 0).then_some((place, n, known(confidence)?, known(right)?))
    };
    cell.calibration.iter().enumerate().filter_map(bin).collect()
}

/// Returns the confusion matrix of a configuration.
fn confusion(report: &Report, cell: &CellReport) -> String {
    let all = samples(&cell.confusion);
    if all == 0 {
        return String::new();
    }
    let size = cell.confusion.len();
    let class = |place: usize| report.classes.get(place).cloned().unwrap_or_else(|| place.to_string());
    let names: Vec<String> = (0..size).map(class).collect();
    let of_row = |(label, row): (usize, &Vec<u64>)| -> Vec<Cell> {
        let of_label: u64 = row.iter().sum();
        let of_cell = |(place, &n): (usize, &u64)| {
            let share = if of_label > 0 { n as f64 / of_label as f64 } else { 0.0 };
            let title = format!(
                "{} predicted as {}: {n} of {of_label} ({})",
                names[label],
                names.get(place).map_or("", String::as_str),
                percent(share)
            );
            Cell { text: n.to_string(), title, shade: if place == label { share } else { -share } }
        };
        row.iter().enumerate().map(of_cell).collect()
    };
    let rows: Vec<Vec<Cell>> = cell.confusion.iter().enumerate().map(of_row).collect();
    let right: u64 = (0..size).filter_map(|place| cell.confusion[place].get(place)).sum();
    let numbered = size > SHORT.1 || names.iter().any(|name| name.chars().count() > SHORT.0);
    let heads = Heads { of: ["label", "predicted"], names: &names, numbered };
    format!(
        "<figure>\n<figcaption><h3>Confusion matrix</h3>{right} of {} were right ({})</figcaption>\n{}</figure>\n",
        many(usize::try_from(all).unwrap_or(usize::MAX), "test sample", "test samples"),
        escape(&percent(right as f64 / all as f64)),
        cells(&format!("Confusion matrix of {}", cell.name), heads, &rows)
    )
}

/// Returns the mean distance of the confidence from the share that was right, over the samples of all bins.
fn calibration_error(bins: &[(usize, u64, f64, f64)]) -> f64 {
    let all: u64 = bins.iter().map(|(_, n, ..)| n).sum();
    bins.iter().map(|(_, n, confidence, right)| *n as f64 / all as f64 * (confidence - right).abs()).sum()
}

/// Returns the reliability diagram of a configuration, with its numbers as a table.
fn calibration(cell: &CellReport) -> String {
    let bins = bins(cell);
    let most = bins.iter().map(|(_, n, ..)| *n).max().unwrap_or(0);
    if most == 0 {
        return String::new();
    }
    let width = 1.0 / cell.calibration.len() as f64;
    let unit = Range { lo: 0.0, hi: 1.0, scale: Scale::Linear };
    let mut plot = Plot::new(SIZE, Axis::linear("confidence", unit), Axis::linear("share of right predictions", unit));
    let about = |&(place, n, confidence, right): &(usize, u64, f64, f64)| {
        let (from, to) = (place as f64 * width, (place + 1) as f64 * width);
        let n = many(usize::try_from(n).unwrap_or(usize::MAX), "sample", "samples");
        format!("confidence {from:.2} to {to:.2}: {n}, mean {}, right {}", percent(confidence), percent(right))
    };
    for bin in &bins {
        let from = bin.0 as f64 * width;
        plot.bar(from + 0.1 * width, from + 0.9 * width, BARS * bin.1 as f64 / most as f64, &about(bin));
    }
    plot.line(&[(0.0, 0.0), (1.0, 1.0)], "even");
    let line: Vec<(f64, f64)> = bins.iter().map(|&(_, _, confidence, right)| (confidence, right)).collect();
    plot.line(&line, &format!("l {}", Mark(0).class()));
    for bin in &bins {
        plot.marker((bin.2, bin.3), Mark(0), false, &about(bin));
    }
    let error = calibration_error(&bins);
    let mut rows = String::new();
    for (place, n, confidence, right) in &bins {
        let (from, to) = (*place as f64 * width, (*place + 1) as f64 * width);
        let _ = writeln!(
            rows,
            "<tr><th scope=\"row\">{from:.2} to {to:.2}</th><td data-v=\"{n}\">{n}</td><td data-v=\"{confidence:e}\">{}</td>\
             <td data-v=\"{right:e}\">{}</td></tr>",
            escape(&percent(*confidence)),
            escape(&percent(*right))
        );
    }
    let heads = [("confidence", true), ("samples", false), ("mean confidence", false), ("right", false)];
    let label = format!("Calibration of {}", cell.name);
    let key = |inner: &str| format!("<svg class=\"key\" viewBox=\"0 0 26 14\" aria-hidden=\"true\">{inner}</svg>");
    format!(
        "<figure>\n<figcaption><h3>Calibration</h3>expected calibration error {} ({} bins)<ul class=\"legend\"><li>{}by \
         confidence</li><li>{}calibrated</li><li>{}number of samples (the highest bar: {most})</li></ul></figcaption>\n{}\n\
         <details><summary>As a table</summary>\n{}</details>\n</figure>\n",
        three(error),
        cell.calibration.len(),
        Mark(0).key(Key::Line),
        key("<path class=\"even\" d=\"M1 7H25\"/>"),
        key("<rect class=\"bar\" x=\"6\" y=\"1\" width=\"14\" height=\"12\"/>"),
        plot.finish(&format!("{label}: expected calibration error {}", three(error))),
        table(&label, "fit", &heads, &rows)
    )
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn the_error_is_weighted_by_samples() {
        let bins = [(0, 1, 0.5, 1.0), (1, 3, 0.9, 0.8)];
        assert!((calibration_error(&bins) - (0.25 * 0.5 + 0.75 * 0.1)).abs() < 1e-15);
    }
}
