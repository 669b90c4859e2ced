//! The elements that all plots share: sections, figures with legends, and the texts about rows.

use super::Row;
use super::svg::escape;

/// The size of a plot in a grid of plots.
pub(super) const SMALL: (f64, f64) = (360.0, 250.0);
/// The size of a plot that is drawn once per side.
pub(super) const LARGE: (f64, f64) = (440.0, 330.0);

/// An entry of a legend: the key, as SVG, and the text that explains the key.
pub(super) type Entry = (String, String);

/// Returns a section: a heading, an explanation, and the figures, or the text `none` if there are no figures.
pub(super) fn section(title: &str, text: &str, grid: &str, figures: &[String], none: &str) -> String {
    if figures.is_empty() {
        return format!("<section>\n<h2>{title}</h2>\n<p class=\"none\">{none}</p>\n</section>\n");
    }
    let figures = figures.concat();
    format!("<section>\n<h2>{title}</h2>\n<p>{text}</p>\n<div class=\"{grid}\">\n{figures}</div>\n</section>\n")
}

/// Returns a plot with its title and its legend.
pub(super) fn figure(title: &str, legend: &[Entry], kind: &str, drawing: &str) -> String {
    let title = escape(title);
    let entries: String = legend.iter().map(|(key, name)| format!("<li>{key}{}</li>", escape(name))).collect();
    format!(
        "<figure>\n<figcaption><h3>{title}</h3><ul class=\"legend{kind}\">{entries}</ul></figcaption>\n{drawing}\n</figure>\n"
    )
}

/// Returns the text that is shown when the pointer is over the marker of a row. `more` is an additional line.
pub(super) fn about(row: &Row, more: &str) -> String {
    let noise = if row.noisy() { "\nnoise: the runs differ too much" } else { "" };
    format!("{} on {}\n{more}{noise}", row.workload, row.side)
}
