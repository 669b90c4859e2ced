//! Heat maps: tables whose cells have a color, so that they can be read without colors too.

use super::escape;
use super::numbers::NONE;
use std::fmt::Write as _;

/// The most columns of a heat map whose cells show their texts.
const WIDEST: usize = 14;
/// The longest text that a cell shows, in characters.
const LONGEST: usize = 9;
/// The largest share of the color in the color of a cell, in percent. Text on it is still legible.
pub(crate) const STRONGEST: f64 = 50.0;

/// A cell of a heat map.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    /// The number, which is shown where it fits.
    pub(crate) text: String,
    /// What the cell says, in words; shown on hovering.
    pub(crate) title: String,
    /// The strength of the color, from -1 to 1; the sign decides which of two colors it is.
    pub(crate) shade: f64,
}

/// What names the rows and the columns of a heat map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heads<'a> {
    /// What the rows and the columns are, such as `label` and `predicted`.
    pub(crate) of: [&'a str; 2],
    /// The names of the rows and of the columns.
    pub(crate) names: &'a [String],
    /// Whether columns have numbers instead of names. Rows then have both.
    pub(crate) numbered: bool,
}

/// Returns a heat map of these cells, by row. Screen readers read `label`.
pub(crate) fn cells(label: &str, heads: Heads<'_>, cells: &[Vec<Cell>]) -> String {
    let widest = cells.iter().map(Vec::len).max().unwrap_or(0);
    let longest = cells.iter().flatten().map(|cell| cell.text.chars().count()).max().unwrap_or(0);
    let shown = widest <= WIDEST && longest <= LONGEST;
    let class = if shown { "heat" } else { "heat small" };
    let [rows, columns] = heads.of.map(escape);
    let mut html = format!(
        "<div class=\"scroll close\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">\n<table class=\"{class}\" \
         aria-label=\"{0}\">\n<thead><tr><th scope=\"col\" class=\"text\">{rows} ↓ {columns} →</th>",
        escape(label)
    );
    let name = |place: usize| heads.names.get(place).map_or_else(|| (place + 1).to_string(), |name| escape(name));
    for place in 0..widest {
        let _ = match heads.numbered {
            true => write!(html, "<th scope=\"col\" title=\"{}\">{}</th>", name(place), place + 1),
            false => write!(html, "<th scope=\"col\">{}</th>", name(place)),
        };
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for (place, row) in cells.iter().enumerate() {
        let number = if heads.numbered { format!("<span class=\"no\">{}</span> ", place + 1) } else { String::new() };
        let _ = write!(html, "<tr><th scope=\"row\">{number}{}</th>", name(place));
        row.iter().for_each(|cell| html.push_str(&of_cell(cell, shown)));
        html.push_str("</tr>\n");
    }
    html + "</tbody>\n</table>\n</div>\n"
}

fn of_cell(cell: &Cell, shown: bool) -> String {
    let title = if cell.title.is_empty() { String::new() } else { format!(" title=\"{}\"", escape(&cell.title)) };
    let strength = if cell.shade.is_finite() { cell.shade.clamp(-1.0, 1.0) } else { 0.0 };
    let (class, sign) = match strength {
        x if x > 0.0 => (" class=\"pos\"", "+"),
        x if x < 0.0 => (" class=\"neg\"", "\u{2212}"),
        _ => ("", ""),
    };
    let color = match STRONGEST * strength.abs() {
        0.0 => String::new(),
        share => format!(" style=\"--t:{share:.0}%\""),
    };
    // Where a number does not fit, its sign does, so that the two colors need not be told apart.
    let text = match (shown, cell.text.starts_with(['+', '\u{2212}'])) {
        (true, _) => escape(&cell.text),
        (false, true) => {
            format!("<i aria-hidden=\"true\">{sign}</i><span class=\"hidden\">{}</span>", escape(&cell.text))
        }
        (false, false) => format!("<span class=\"hidden\">{}</span>", escape(&cell.text)),
    };
    format!("<td{class}{color}{title}>{text}</td>")
}

/// Returns a heat map of a square matrix of numbers between things with these names, by row. The strength of the color
/// is relative to the largest number; negative numbers have another color. `write` formats a number, and `of` says
/// what the rows and columns are.
pub(crate) fn heat_map(
    label: &str,
    of: [&str; 2],
    names: &[String],
    values: &[Vec<Option<f64>>],
    write: &dyn Fn(f64) -> String,
) -> String {
    let known = |value: Option<f64>| value.filter(|v| v.is_finite());
    let largest = values.iter().flatten().filter_map(|v| known(*v)).fold(0f64, |largest, v| largest.max(v.abs()));
    let name = |place: usize| names.get(place).map_or("", String::as_str);
    let cell = |row: usize, column: usize, value: Option<f64>| match known(value) {
        // Nothing differs from itself.
        Some(v) if row == column && v == 0.0 => Cell { text: "·".to_owned(), ..Cell::default() },
        Some(v) => Cell {
            text: write(v),
            title: format!("{}, {}: {}", name(row), name(column), write(v)),
            shade: if largest > 0.0 { v / largest } else { 0.0 },
        },
        None => Cell { text: NONE.to_owned(), ..Cell::default() },
    };
    let of_row = |(row, values): (usize, &Vec<Option<f64>>)| -> Vec<Cell> {
        values.iter().enumerate().map(|(column, value)| cell(row, column, *value)).collect()
    };
    let rows: Vec<Vec<Cell>> = values.iter().enumerate().map(of_row).collect();
    cells(label, Heads { of, names, numbered: true }, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_color_has_the_sign_and_the_share_of_the_largest() {
        let names = ["a".to_owned(), "b".to_owned()];
        let values = [vec![Some(0.0), Some(-0.5)], vec![Some(f64::NAN), Some(0.25)]];
        let html = heat_map("x", ["row", "column"], &names, &values, &|v| format!("{v:+}"));
        for part in
            ["<td class=\"neg\" style=\"--t:50%\" title=\"a, b: -0.5\">-0.5<", "--t:25%", "<td>·</td>", "<td>–</td>"]
        {
            assert!(html.contains(part), "{part} is not in {html}");
        }
    }

    #[test]
    fn numbers_that_do_not_fit_are_still_read() {
        let names: Vec<String> = (0..40).map(|i| i.to_string()).collect();
        let values = vec![vec![Some(0.5); 40]; 40];
        let html = heat_map("x", ["row", "column"], &names, &values, &|v| format!("{v:+}"));
        assert!(html.contains("<i aria-hidden=\"true\">+</i><span class=\"hidden\">+0.5</span>"));
    }
}
