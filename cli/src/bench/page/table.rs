//! The table of all rows.

use super::view::View;
use crate::page::numbers::{NONE, percent, ratio, seconds, usable};
use crate::page::{escape, table as table_of};
use std::fmt::Write as _;

/// Writes a cell with a number. The cell has the text that is shown and the plain value, which is used for sorting.
fn cell(html: &mut String, value: Option<f64>, write: fn(f64) -> String) {
    match value.filter(|v| v.is_finite() && *v >= 0.0) {
        Some(v) => {
            let _ = write!(html, "<td data-v=\"{v:e}\">{}</td>", escape(&write(v)));
        }
        None => {
            let _ = write!(html, "<td>{NONE}</td>");
        }
    }
}

/// Returns the section with the table of all rows, by workload.
pub(super) fn table(view: &View<'_>) -> String {
    let rows = view.sorted();
    let mut html = "<section>\n<h2>All figures</h2>\n".to_owned();
    if rows.is_empty() {
        return html + "<p class=\"none\">Nothing was measured.</p>\n</section>\n";
    }
    let notes = rows.iter().any(|row| !row.note.is_empty());
    html.push_str(
        "<p>Resident: the data is already on that side. With transfers: from host to host. First call: including \
         compilation. Share of the roof: relative to what this side's measured copy and fma rates allow. Spread: (max \
         − min) / median.</p>\n",
    );
    let heads = ["workload", "side", "resident", "with transfers", "first call", "predicted / measured"];
    let heads = heads.into_iter().chain(["share of the roof", "spread"]).chain(notes.then_some("note"));
    let heads: Vec<(&str, bool)> = heads.map(|head| (head, ["workload", "side", "note"].contains(&head))).collect();
    let mut body = String::new();
    let mut before = "";
    for row in rows {
        // A horizontal line separates the rows of different workloads.
        let class = if row.workload == before { "" } else { " class=\"next\"" };
        before = &row.workload;
        // If the column is narrow, a name breaks after a slash.
        let (workload, side) = (escape(&row.workload).replace('/', "/<wbr>"), escape(&row.side));
        let _ = write!(body, "<tr{class}><th scope=\"row\">{workload}</th><td class=\"text\">{side}</td>");
        for value in [row.resident, row.transfers, row.first] {
            cell(&mut body, value, seconds);
        }
        match row.prediction() {
            Some(p) if !(0.5..=2.0).contains(&p) => {
                let _ = write!(body, "<td data-v=\"{p:e}\"><span class=\"flag\">off</span> {}</td>", ratio(p));
            }
            p => cell(&mut body, p, ratio),
        }
        cell(&mut body, view.share(row), percent);
        if row.noisy() {
            let spread = row.spread.max(0.0);
            let text = if usable(spread).is_some() { percent(spread) } else { "unknown".to_owned() };
            let value = if spread.is_finite() { spread } else { 1e9 };
            let _ = write!(body, "<td data-v=\"{value:e}\"><span class=\"flag\">noise</span> {}</td>", escape(&text));
        } else {
            cell(&mut body, row.measured().then_some(row.spread), percent);
        }
        if notes {
            let _ = write!(body, "<td class=\"text note\">{}</td>", escape(&row.note));
        }
        body.push_str("</tr>\n");
    }
    html + &table_of("All figures", "", &heads, &body) + "</section>\n"
}
