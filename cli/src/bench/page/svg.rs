//! Plots with two log axes, as SVG text: ranges, ticks, lines, markers. Colors and fonts come from the page
//! (`page.css`).

use super::numbers::usable;
use std::fmt::Write as _;

/// The approximate width of a character in the labels, in units of the drawing. The height of the font is 11.
const CHARACTER: f64 = 6.1;

/// The radius of a marker.
const RADIUS: f64 = 4.0;

/// Escapes text for HTML and SVG, including attribute values.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// The range of a log axis, given by decimal logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    /// The decimal logarithm of the least value.
    pub(super) lo: f64,
    /// The decimal logarithm of the greatest value.
    pub(super) hi: f64,
}

impl Range {
    /// Returns the range of the values that a log axis can show; `None` if there are no such values.
    pub(super) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        values.into_iter().filter_map(usable).map(f64::log10).fold(None, |range, v| match range {
            None => Some(Self { lo: v, hi: v }),
            Some(Self { lo, hi }) => Some(Self { lo: lo.min(v), hi: hi.max(v) }),
        })
    }

    /// Adds padding at both ends, so that the range spans at least a factor of 8 and contains two ticks.
    pub(super) fn padded(self) -> Self {
        let air = (0.06 * (self.hi - self.lo)).max((8f64.log10() - (self.hi - self.lo)) / 2.0);
        Self { lo: self.lo - air, hi: self.hi + air }
    }
}

/// Returns the ticks within a range. The ticks are 1, 2 and 5 times each power of ten if their labels fit, otherwise
/// the powers of ten if their labels fit, otherwise every second, third, ... power of ten. `fits` says whether there is
/// room for the labels of the given values.
pub(super) fn ticks(range: Range, fits: impl Fn(&[f64]) -> bool) -> Vec<f64> {
    #[expect(clippy::cast_possible_truncation, reason = "logarithms of usable values are within 40 of zero")]
    let (first, last) = (range.lo.floor() as i32, range.hi.ceil() as i32);
    let within = |stride: i32, digits: &[f64]| -> Vec<f64> {
        (first..=last)
            .filter(|power| power.rem_euclid(stride) == 0)
            .flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powi(power)))
            .filter(|v| (range.lo - 1e-9..=range.hi + 1e-9).contains(&v.log10()))
            .collect()
    };
    let dense = within(1, &[1.0, 2.0, 5.0]);
    if fits(&dense) {
        return dense;
    }
    (1..=60).map(|stride| within(stride, &[1.0])).find(|values| fits(values)).unwrap_or_default()
}

/// The color and the shape of a marker. The index determines both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark(pub(super) usize);

impl Mark {
    /// Returns the class that sets the color.
    pub(super) fn class(self) -> String {
        format!("c{}", self.0 % 8)
    }

    /// Returns the marker at a point, with a text that is shown on hovering. If `hollow` is true, the marker is drawn
    /// hollow, as a sign that the figure is noise.
    pub(super) fn draw(self, x: f64, y: f64, hollow: bool, title: &str) -> String {
        let title = if title.is_empty() { String::new() } else { format!("<title>{}</title>", escape(title)) };
        let class = format!("m {}{}", self.class(), if hollow { " hollow" } else { "" });
        // There are eight colors. From the ninth mark on, the colors repeat, each with the next shape.
        let shape = (self.0 + self.0 / 8) % 8;
        if shape == 0 {
            return format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{RADIUS}\">{title}</circle>");
        }
        let mut path = String::new();
        for (i, (dx, dy)) in outline(shape).into_iter().enumerate() {
            let _ = write!(path, "{}{:.1} {:.1}", if i == 0 { 'M' } else { 'L' }, x + RADIUS * dx, y + RADIUS * dy);
        }
        format!("<path class=\"{class}\" d=\"{path}Z\">{title}</path>")
    }

    /// Returns a dot, for the points of a line without markers.
    pub(super) fn dot(self, x: f64, y: f64, title: &str) -> String {
        let (class, title) = (self.class(), escape(title));
        format!("<circle class=\"m {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.4\"><title>{title}</title></circle>")
    }

    /// Returns the key that a legend shows in front of a name.
    pub(super) fn key(self, kind: Key) -> String {
        let class = self.class();
        let line = |dash: &str| format!("<path class=\"l{dash} {class}\" d=\"M1 7H25\"/>");
        let drawn = match kind {
            Key::Line => line("") + &self.draw(13.0, 7.0, false, ""),
            Key::Dash => line(" dash") + &self.dot(13.0, 7.0, ""),
            Key::Point => self.draw(13.0, 7.0, false, ""),
        };
        format!("<svg class=\"key\" viewBox=\"0 0 26 14\" aria-hidden=\"true\">{drawn}</svg>")
    }
}

/// The kind of a legend's key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Key {
    /// A line with its marker.
    Line,
    /// A dashed line with a dot.
    Dash,
    /// The marker alone.
    Point,
}

/// Returns the corners of a marker of radius 1. All shapes have about the same area.
fn outline(shape: usize) -> Vec<(f64, f64)> {
    let star = |corners: u32, turn: f64, radius: fn(u32) -> f64| -> Vec<(f64, f64)> {
        (0..corners)
            .map(|i| {
                let angle = (turn + 360.0 * f64::from(i) / f64::from(corners)).to_radians();
                (radius(i) * angle.cos(), radius(i) * angle.sin())
            })
            .collect()
    };
    let (w, l) = (0.42, 1.2);
    let plus =
        [(-w, -l), (w, -l), (w, -w), (l, -w), (l, w), (w, w), (w, l), (-w, l), (-w, w), (-l, w), (-l, -w), (-w, -w)];
    match shape {
        1 => star(4, 45.0, |_| 1.27),
        2 => star(3, -90.0, |_| 1.4),
        3 => star(4, 0.0, |_| 1.35),
        4 => star(3, 90.0, |_| 1.4),
        5 => star(10, -90.0, |i| if i % 2 == 0 { 1.6 } else { 0.7 }),
        6 => plus.to_vec(),
        _ => plus.iter().map(|(x, y)| ((x - y) * 0.707, (x + y) * 0.707)).collect(),
    }
}

/// The description of an axis: its name, its range and the format of its ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis<'a> {
    /// The quantity, with its unit if the labels of the ticks have no unit.
    pub(super) name: &'a str,
    /// The range of the axis.
    pub(super) range: Range,
    /// The function that formats a tick.
    pub(super) label: fn(f64) -> String,
}

/// A plot being drawn.
#[derive(Debug)]
pub(super) struct Plot {
    size: (f64, f64),
    /// The coordinates of the frame's left, top, right and bottom edges.
    frame: [f64; 4],
    x: Range,
    y: Range,
    body: String,
}

impl Plot {
    /// Starts a plot with its grid, ticks and axis names.
    pub(super) fn new(size: (f64, f64), x: Axis<'_>, y: Axis<'_>) -> Self {
        let (width, height) = size;
        let widest = |ticks: &[f64], label: fn(f64) -> String| {
            ticks.iter().map(|&v| label(v).chars().count() as f64 * CHARACTER).fold(0.0, f64::max)
        };
        let (top, bottom) = (24.0, height - 34.0);
        let y_ticks = ticks(y.range, |values| values.len() as f64 * 22.0 <= bottom - top);
        let left = widest(&y_ticks, y.label) + 12.0;
        let right = width - 14.0;
        let x_ticks =
            ticks(x.range, |values| values.len() as f64 * (widest(values, x.label) + 8.0) <= right - left + 8.0);
        let mut plot = Self { size, frame: [left, top, right, bottom], x: x.range, y: y.range, body: String::new() };
        for v in y_ticks {
            let at = plot.down(v.log10());
            let _ = write!(plot.body, "<path class=\"g\" d=\"M{left:.1} {at:.1}H{right:.1}\"/>");
            plot.text(left - 6.0, at + 3.8, "e", &(y.label)(v));
        }
        for v in x_ticks {
            let at = plot.along(v.log10());
            let _ = write!(plot.body, "<path class=\"g\" d=\"M{at:.1} {top:.1}V{bottom:.1}\"/>");
            plot.text(at, bottom + 14.0, "c", &(x.label)(v));
        }
        plot.text(2.0, 12.0, "s", y.name);
        plot.text(right, bottom + 29.0, "e n", x.name);
        plot
    }

    /// Returns the x coordinate of a value, given its decimal logarithm.
    fn along(&self, log: f64) -> f64 {
        let [left, _, right, _] = self.frame;
        left + (log - self.x.lo) / (self.x.hi - self.x.lo) * (right - left)
    }

    /// Returns the y coordinate of a value, given its decimal logarithm.
    fn down(&self, log: f64) -> f64 {
        let [_, top, _, bottom] = self.frame;
        bottom - (log - self.y.lo) / (self.y.hi - self.y.lo) * (bottom - top)
    }

    /// Returns the coordinates of a point in the drawing; `None` if a log axis cannot show the point.
    pub(super) fn at(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        Some((self.along(usable(x)?.log10()), self.down(usable(y)?.log10())))
    }

    /// Returns the coordinates of the frame's left, top, right and bottom edges.
    pub(super) fn frame(&self) -> [f64; 4] {
        self.frame
    }

    /// Draws text. `place` is a list of CSS classes, of which `s`, `c` and `e` put the start, the center or the end of
    /// the text at `x`.
    pub(super) fn text(&mut self, x: f64, y: f64, place: &str, text: &str) {
        let _ = write!(self.body, "<text class=\"{place}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(text));
    }

    /// Draws a line through the points, cut off at the frame.
    pub(super) fn line(&mut self, points: &[(f64, f64)], class: &str) {
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
    pub(super) fn area(&mut self, corners: &[(f64, f64)]) {
        let places: Vec<_> = corners.iter().filter_map(|&corner| self.at(corner)).collect();
        let points = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ");
        let _ = write!(self.body, "<polygon class=\"area\" points=\"{points}\"/>");
    }

    /// Draws a marker with a text that is shown on hovering.
    pub(super) fn marker(&mut self, point: (f64, f64), mark: Mark, hollow: bool, title: &str) {
        if let Some((x, y)) = self.at(point) {
            self.body.push_str(&mark.draw(x, y, hollow, title));
        }
    }

    /// Draws a dot with a text that is shown on hovering.
    pub(super) fn dot(&mut self, point: (f64, f64), mark: Mark, title: &str) {
        if let Some((x, y)) = self.at(point) {
            self.body.push_str(&mark.dot(x, y, title));
        }
    }

    /// Draws a ring around a point, given in coordinates of the drawing.
    pub(super) fn ring(&mut self, (x, y): (f64, f64), mark: Mark, title: &str) {
        let (class, title) = (mark.class(), escape(title));
        let _ = write!(
            self.body,
            "<circle class=\"ring {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"6.5\"><title>{title}</title></circle>"
        );
    }

    /// Returns the whole drawing; screen readers read `label`.
    pub(super) fn finish(self, label: &str) -> String {
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
    use super::super::numbers::count;
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("a<&\">'\u{0}"), "a&lt;&amp;&quot;&gt;&#39;\u{fffd}");
    }

    #[test]
    fn ticks_are_one_two_five_or_decades() {
        let few = Range { lo: 8f64.log10(), hi: 110f64.log10() };
        assert_eq!(ticks(few, |v| v.len() <= 7), [10.0, 20.0, 50.0, 100.0]);
        let many = Range { lo: -6.0, hi: 2.0 };
        assert_eq!(ticks(many, |v| v.len() <= 9).len(), 9);
        assert_eq!(ticks(many, |v| v.len() <= 5).len(), 5);
        assert_eq!(ticks(Range { lo: -30.0, hi: 30.0 }, |v| v.len() <= 3).len(), 3);
    }

    #[test]
    fn one_value_has_an_axis_with_two_ticks() {
        for value in [1e-30, 3e-7, 1.0, 1.9, 4.7, 9.9, 1e30] {
            let range = Range::of([value, f64::NAN, 0.0, -1.0]).expect("one is usable").padded();
            assert!(ticks(range, |v| v.len() <= 7).len() >= 2, "{value}");
        }
        assert_eq!(Range::of([f64::NAN, 0.0, f64::INFINITY]), None);
    }

    #[test]
    fn lines_are_cut_at_the_frame() {
        let frame = [0.0, 0.0, 10.0, 10.0];
        assert_eq!(cut((-10.0, 5.0), (20.0, 5.0), frame), Some(((0.0, 5.0), (10.0, 5.0))));
        assert_eq!(cut((-10.0, -5.0), (20.0, -5.0), frame), None);
        assert_eq!(cut((1.0, 1.0), (2.0, 2.0), frame), Some(((1.0, 1.0), (2.0, 2.0))));
        assert_eq!(cut((-5.0, 20.0), (-1.0, -20.0), frame), None);
    }

    #[test]
    fn marks_past_eight_differ_from_the_first_eight() {
        let drawn: Vec<_> = (0..24).map(|i| Mark(i).draw(10.0, 10.0, false, "")).collect();
        for (i, a) in drawn.iter().enumerate() {
            assert!(drawn[..i].iter().all(|b| a != b), "mark {i} is drawn like an earlier one");
        }
    }

    #[test]
    fn a_plot_holds_its_points() {
        let range = Range { lo: 0.0, hi: 3.0 };
        let axis = Axis { name: "n", range, label: count };
        let plot = Plot::new((360.0, 250.0), axis, axis);
        let [left, top, right, bottom] = plot.frame();
        assert_eq!(plot.at((1.0, 1.0)), Some((left, bottom)));
        assert_eq!(plot.at((1000.0, 1000.0)), Some((right, top)));
        assert_eq!(plot.at((0.0, 1.0)), None);
    }
}
