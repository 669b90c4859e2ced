//! Plots with two axes, as SVG text: lines, bands, markers. Colors and fonts come from the page (`page.css`).

use super::escape;
use super::marks::Mark;
use super::numbers::count;
use super::range::{Range, Scale, decimals};
use std::fmt::Write as _;

/// The approximate width of a character in the labels, in units of the drawing. The height of the font is 11.
const CHARACTER: f64 = 6.1;

/// The description of an axis: its name, its range and the format of its ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis<'a> {
    /// The quantity, with its unit if the labels of the ticks have no unit.
    pub(crate) name: &'a str,
    /// The range of the axis.
    pub(crate) range: Range,
    /// The function that formats a tick of a log axis.
    pub(crate) label: fn(f64) -> String,
}

impl<'a> Axis<'a> {
    /// Returns an axis with a linear range, whose ticks are decimals.
    pub(crate) fn linear(name: &'a str, range: Range) -> Self {
        Self { name, range, label: count }
    }

    /// Returns the texts of ticks.
    fn labels(self, ticks: &[f64]) -> Vec<String> {
        match self.range.scale {
            Scale::Log => ticks.iter().map(|&v| (self.label)(v)).collect(),
            Scale::Linear => decimals(ticks),
        }
    }
}

/// A plot being drawn.
#[derive(Debug)]
pub(crate) struct Plot {
    size: (f64, f64),
    /// The coordinates of the frame's left, top, right and bottom edges.
    frame: [f64; 4],
    x: Range,
    y: Range,
    body: String,
}

impl Plot {
    /// Starts a plot with its grid, ticks and axis names.
    pub(crate) fn new(size: (f64, f64), x: Axis<'_>, y: Axis<'_>) -> Self {
        let (width, height) = size;
        let widest = |ticks: &[f64], axis: Axis<'_>| {
            axis.labels(ticks).iter().map(|label| label.chars().count() as f64 * CHARACTER).fold(0.0, f64::max)
        };
        let (top, bottom) = (24.0, height - 34.0);
        let y_ticks = y.range.ticks(|values| values.len() as f64 * 22.0 <= bottom - top);
        let left = widest(&y_ticks, y) + 12.0;
        let right = width - 14.0;
        // A few decimals are enough to read a linear axis.
        let most = if x.range.scale == Scale::Linear { 7 } else { usize::MAX };
        let wide = |values: &[f64]| values.len() as f64 * (widest(values, x) + 8.0);
        let x_ticks = x.range.ticks(|values| values.len() <= most && wide(values) <= right - left + 8.0);
        let mut plot = Self { size, frame: [left, top, right, bottom], x: x.range, y: y.range, body: String::new() };
        for (v, label) in y_ticks.iter().zip(y.labels(&y_ticks)) {
            let at = plot.down(*v).unwrap_or(bottom);
            let _ = write!(plot.body, "<path class=\"g\" d=\"M{left:.1} {at:.1}H{right:.1}\"/>");
            plot.text(left - 6.0, at + 3.8, "e", &label);
        }
        for (v, label) in x_ticks.iter().zip(x.labels(&x_ticks)) {
            let at = plot.along(*v).unwrap_or(left);
            let _ = write!(plot.body, "<path class=\"g\" d=\"M{at:.1} {top:.1}V{bottom:.1}\"/>");
            plot.text(at, bottom + 14.0, "c", &label);
        }
        plot.text(2.0, 12.0, "s", y.name);
        plot.text(right, bottom + 29.0, "e n", x.name);
        plot
    }

    /// Returns the x coordinate of a value; `None` if the axis cannot show the value.
    fn along(&self, x: f64) -> Option<f64> {
        let [left, _, right, _] = self.frame;
        Some(left + self.x.share(x)? * (right - left))
    }

    /// Returns the y coordinate of a value; `None` if the axis cannot show the value.
    fn down(&self, y: f64) -> Option<f64> {
        let [_, top, _, bottom] = self.frame;
        Some(bottom - self.y.share(y)? * (bottom - top))
    }

    /// Returns the coordinates of a point in the drawing; `None` if an axis cannot show the point.
    pub(crate) fn at(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        Some((self.along(x)?, self.down(y)?))
    }

    /// Returns the coordinates of the frame's left, top, right and bottom edges.
    pub(crate) fn frame(&self) -> [f64; 4] {
        self.frame
    }

    /// Draws text. `place` is a list of CSS classes, of which `s`, `c` and `e` put the start, the center or the end of
    /// the text at `x`.
    pub(crate) fn text(&mut self, x: f64, y: f64, place: &str, text: &str) {
        let _ = write!(self.body, "<text class=\"{place}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(text));
    }

    /// Draws a line through the points, cut off at the frame.
    pub(crate) fn line(&mut self, points: &[(f64, f64)], class: &str) {
        let places: Vec<_> = points.iter().filter_map(|&point| self.at(point)).collect();
        let mut path = String::new();
        let mut pen = None;
        for pair in places.windows(2) {
            let Some((from, to)) = cut(pair[0], pair[1], self.frame) else { continue };
            if pen != Some(from) {
                let _ = write!(path, "M{:.1} {:.1}", from.0, from.1);
            }
            let _ = write!(path, "L{:.1} {:.1}", to.0, to.1);
            pen = Some(to);
        }
        if !path.is_empty() {
            let _ = write!(self.body, "<path class=\"{class}\" d=\"{path}\"/>");
        }
    }

    /// Draws a filled polygon with these corners, which must be within the axes.
    pub(crate) fn area(&mut self, corners: &[(f64, f64)]) {
        let places: Vec<_> = corners.iter().filter_map(|&corner| self.at(corner)).collect();
        let points = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ");
        let _ = write!(self.body, "<polygon class=\"area\" points=\"{points}\"/>");
    }

    /// Draws a band between the curves of (x, least y, greatest y), cut off at the frame's upper and lower edges.
    pub(crate) fn band(&mut self, points: &[(f64, f64, f64)], class: &str) {
        let [_, top, _, bottom] = self.frame;
        // What a log axis cannot show, because it is not above 0, is below the frame.
        let down = |y: f64| self.down(y).unwrap_or(bottom).clamp(top, bottom);
        let places: Vec<_> =
            points.iter().filter_map(|&(x, low, high)| Some((self.along(x)?, down(low), down(high)))).collect();
        let upper = places.iter().map(|(x, _, high)| (x, high));
        let lower = places.iter().rev().map(|(x, low, _)| (x, low));
        let corners = upper.chain(lower).map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ");
        if places.len() > 1 {
            let _ = write!(self.body, "<polygon class=\"{class}\" points=\"{corners}\"/>");
        }
    }

    /// Draws a bar from the lower edge up to a height, given as a share of the frame's height, with a text that is
    /// shown on hovering. `from` and `to` are its ends on the x axis.
    pub(crate) fn bar(&mut self, from: f64, to: f64, share: f64, title: &str) {
        let [_, top, _, bottom] = self.frame;
        let (Some(from), Some(to)) = (self.along(from), self.along(to)) else { return };
        let (height, title) = (share.clamp(0.0, 1.0) * (bottom - top), escape(title));
        let _ = write!(
            self.body,
            "<rect class=\"bar\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\"><title>{title}</title></rect>",
            bottom - height,
            to - from
        );
    }

    /// Draws a marker with a text that is shown on hovering.
    pub(crate) fn marker(&mut self, point: (f64, f64), mark: Mark, hollow: bool, title: &str) {
        if let Some((x, y)) = self.at(point) {
            self.body.push_str(&mark.draw(x, y, hollow, title));
        }
    }

    /// Draws a dot with a text that is shown on hovering.
    pub(crate) fn dot(&mut self, point: (f64, f64), mark: Mark, title: &str) {
        if let Some((x, y)) = self.at(point) {
            self.body.push_str(&mark.dot(x, y, title));
        }
    }

    /// Draws a ring around a point, given in coordinates of the drawing.
    pub(crate) fn ring(&mut self, (x, y): (f64, f64), mark: Mark, title: &str) {
        let (class, title) = (mark.class(), escape(title));
        let _ = write!(
            self.body,
            "<circle class=\"ring {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"6.5\"><title>{title}</title></circle>"
        );
    }

    /// Returns the whole drawing; screen readers read `label`.
    pub(crate) fn finish(self, label: &str) -> String {
        let [left, top, right, bottom] = self.frame;
        let frame = format!("<path class=\"f\" d=\"M{left:.1} {top:.1}V{bottom:.1}H{right:.1}\"/>");
        format!(
            "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">{frame}{}</svg>",
            self.size.0,
            self.size.1,
            escape(label),
            self.body
        )
    }
}

/// Returns the part of a line segment that is within a frame (Liang and Barsky's algorithm).
fn cut(from: (f64, f64), to: (f64, f64), frame: [f64; 4]) -> Option<((f64, f64), (f64, f64))> {
    let [left, top, right, bottom] = frame;
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (mut start, mut end) = (0f64, 1f64);
    for (step, room) in [(-dx, from.0 - left), (dx, right - from.0), (-dy, from.1 - top), (dy, bottom - from.1)] {
        if step == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if step < 0.0 {
            start = start.max(room / step);
        } else {
            end = end.min(room / step);
        }
    }
    let place = |t: f64| {
        if t == 0.0 {
            from
        } else if t == 1.0 {
            to
        } else {
            (from.0 + t * dx, from.1 + t * dy)
        }
    };
    (start <= end).then(|| (place(start), place(end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_at_the_frame() {
        let frame = [0.0, 0.0, 10.0, 10.0];
        assert_eq!(cut((-10.0, 5.0), (20.0, 5.0), frame), Some(((0.0, 5.0), (10.0, 5.0))));
        assert_eq!(cut((-10.0, -5.0), (20.0, -5.0), frame), None);
        assert_eq!(cut((1.0, 1.0), (2.0, 2.0), frame), Some(((1.0, 1.0), (2.0, 2.0))));
        assert_eq!(cut((-5.0, 20.0), (-1.0, -20.0), frame), None);
    }

    #[test]
    fn a_plot_holds_its_points() {
        let range = Range::of([1.0, 1000.0]).expect("they are usable");
        let axis = Axis { name: "n", range, label: count };
        let plot = Plot::new((360.0, 250.0), axis, axis);
        let [left, top, right, bottom] = plot.frame();
        assert_eq!(plot.at((1.0, 1.0)), Some((left, bottom)));
        assert_eq!(plot.at((1000.0, 1000.0)), Some((right, top)));
        assert_eq!(plot.at((0.0, 1.0)), None);
    }

    #[test]
    fn a_band_stays_within_the_frame() {
        let range = Range::of([1.0, 1000.0]).expect("they are usable");
        let axis = Axis { name: "n", range, label: count };
        let mut plot = Plot::new((360.0, 250.0), axis, axis);
        let [left, top, right, bottom] = plot.frame();
        plot.band(&[(1.0, -5.0, 10.0), (f64::NAN, 1.0, 2.0), (1000.0, 1.0, 1e9)], "b");
        let svg = plot.finish("");
        let corners = format!("{right:.1},{top:.1} {right:.1},{bottom:.1} {left:.1},{bottom:.1}");
        assert!(svg.contains(&corners), "{svg}");
    }
}
