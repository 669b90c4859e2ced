//! Rows of horizontal drawings along one axis, each with a name in front and a text behind. They are as wide as the
//! page leaves room and as high as the name needs: places are percentages, so that neither text nor marks are scaled.

use super::escape;
use super::marks::Mark;
use super::range::{Range, decimals};
use std::fmt::Write as _;

/// The most characters of the labels of an axis, so that they fit on a narrow page.
const CHARACTERS: usize = 34;
/// The number of rows from which the axis is drawn above them too.
const LONG: usize = 15;

/// The drawing of one row. Heights are relative to the middle of the row, and those below it are positive.
#[derive(Clone, Debug)]
pub(crate) struct Strip {
    range: Range,
    /// The least height of the row.
    height: f64,
    /// What is as high as the row.
    ground: String,
    /// What is in the middle of the row.
    body: String,
}

impl Strip {
    /// Returns the place of a value, in percent of the width; `None` if the axis cannot show the value.
    fn at(&self, value: f64) -> Option<f64> {
        Some(100.0 * self.range.share(value)?.clamp(-0.01, 1.01))
    }

    /// Draws a line at a value that is as high as the row.
    pub(crate) fn rule(&mut self, value: f64, class: &str) {
        let Some(x) = self.at(value) else { return };
        let _ = write!(self.ground, "<line class=\"{class}\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"0\" y2=\"100%\"/>");
    }

    /// Draws an area between two values that is as high as the row.
    pub(crate) fn range(&mut self, [from, to]: [f64; 2], class: &str) {
        let (Some(from), Some(to)) = (self.at(from), self.at(to)) else { return };
        let width = (to - from).max(0.0);
        let _ = write!(
            self.ground,
            "<rect class=\"{class}\" x=\"{from:.2}%\" y=\"0\" width=\"{width:.2}%\" height=\"100%\"/>"
        );
    }

    /// Draws a vertical line at a value, from `top` to `bottom`.
    pub(crate) fn stroke(&mut self, value: f64, [top, bottom]: [f64; 2], class: &str) {
        let Some(x) = self.at(value) else { return };
        let _ =
            write!(self.body, "<line class=\"{class}\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"{top}\" y2=\"{bottom}\"/>");
    }

    /// Draws a horizontal line at a height, between two values.
    pub(crate) fn line(&mut self, [from, to]: [f64; 2], y: f64, class: &str) {
        let (Some(from), Some(to)) = (self.at(from), self.at(to)) else { return };
        let _ = write!(self.body, "<line class=\"{class}\" x1=\"{from:.2}%\" x2=\"{to:.2}%\" y1=\"{y}\" y2=\"{y}\"/>");
    }

    /// Draws an interval: a horizontal line with ends.
    pub(crate) fn interval(&mut self, [low, high]: [f64; 2], y: f64, class: &str) {
        self.line([low, high], y, class);
        self.stroke(low, [y - 3.5, y + 3.5], class);
        self.stroke(high, [y - 3.5, y + 3.5], class);
    }

    /// Draws a box between two values, from `top` to `bottom`.
    pub(crate) fn area(&mut self, [from, to]: [f64; 2], [top, bottom]: [f64; 2], class: &str) {
        let (Some(from), Some(to)) = (self.at(from), self.at(to)) else { return };
        let (width, height) = ((to - from).max(0.0), bottom - top);
        let _ = write!(
            self.body,
            "<rect class=\"{class}\" x=\"{from:.2}%\" y=\"{top}\" width=\"{width:.2}%\" height=\"{height}\"/>"
        );
    }

    /// Draws a dot with a text that is shown on hovering.
    pub(crate) fn dot(&mut self, value: f64, y: f64, class: &str, title: &str) {
        let Some(x) = self.at(value) else { return };
        let title = escape(title);
        let _ = write!(
            self.body,
            "<circle class=\"{class}\" cx=\"{x:.2}%\" cy=\"{y:.1}\" r=\"2.6\"><title>{title}</title></circle>"
        );
    }

    /// Draws a marker with a text that is shown on hovering.
    pub(crate) fn marker(&mut self, value: f64, y: f64, mark: Mark, hollow: bool, title: &str) {
        let Some(x) = self.at(value) else { return };
        let drawn = mark.draw(0.0, y, hollow, title);
        let _ = write!(self.body, "<svg x=\"{x:.2}%\" overflow=\"visible\">{drawn}</svg>");
    }

    /// Returns the drawing; screen readers read `label`.
    fn finish(self, label: &str) -> String {
        let Self { height, ground, body, .. } = self;
        format!(
            "<div class=\"drawn\" style=\"min-height:{height}px\"><svg role=\"img\" aria-label=\"{}\">{ground}<svg \
             y=\"50%\" overflow=\"visible\">{body}</svg></svg></div>",
            escape(label)
        )
    }
}

/// Rows of drawings along one axis.
#[derive(Debug)]
pub(crate) struct Strips<'a> {
    name: &'a str,
    range: Range,
    ticks: Vec<f64>,
    rows: Vec<String>,
}

impl<'a> Strips<'a> {
    /// Starts the rows along an axis with a linear range and a name.
    pub(crate) fn new(name: &'a str, range: Range) -> Self {
        let fits = |values: &[f64]| {
            let characters: usize = decimals(values).iter().map(|label| label.chars().count() + 2).sum();
            values.len() <= 7 && characters <= CHARACTERS
        };
        Self { name, range, ticks: range.ticks(fits), rows: Vec::new() }
    }

    /// Starts the drawing of a row of at least this height, with the lines of the grid.
    pub(crate) fn strip(&self, height: f64) -> Strip {
        let mut strip = Strip { range: self.range, height, ground: String::new(), body: String::new() };
        for &v in &self.ticks {
            strip.rule(v, "g");
        }
        strip
    }

    /// Adds a row: what is in front of the drawing, as HTML, the drawing with what screen readers read, and what is
    /// behind it, as HTML.
    pub(crate) fn push(&mut self, before: &str, strip: Strip, label: &str, after: &str) {
        let drawn = strip.finish(label);
        self.rows.push(format!(
            "<div class=\"strip\"><div class=\"who\">{before}</div>{drawn}<div class=\"what\">{after}</div></div>\n"
        ));
    }

    /// Returns the axis.
    fn axis(&self) -> String {
        let mut body = String::new();
        for (v, label) in self.ticks.iter().zip(decimals(&self.ticks)) {
            let x = 100.0 * self.range.share(*v).unwrap_or(0.0);
            let _ = write!(body, "<text class=\"c\" x=\"{x:.2}%\" y=\"11\">{label}</text>");
        }
        let _ = write!(body, "<text class=\"e n\" x=\"100%\" y=\"26\">{}</text>", escape(self.name));
        format!(
            "<div class=\"strip\" aria-hidden=\"true\"><div></div><svg width=\"100%\" height=\"30\">{body}</svg>\
             <div></div></div>\n"
        )
    }

    /// Returns the rows with their axis.
    pub(crate) fn finish(self) -> String {
        let axis = self.axis();
        let (class, above) = if self.rows.len() > LONG { ("strips tall", axis.as_str()) } else { ("strips", "") };
        format!("<div class=\"{class}\">\n{above}{}{axis}</div>\n", self.rows.concat())
    }
}
