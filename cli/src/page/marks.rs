//! Markers and the keys of legends, as SVG text. A mark differs from the others by its color and by its shape.

use super::escape;
use std::fmt::Write as _;

/// The radius of a marker.
const RADIUS: f64 = 4.0;

/// The color and the shape of a marker. The index determines both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark(pub(crate) usize);

impl Mark {
    /// Returns the class that sets the color.
    pub(crate) fn class(self) -> String {
        format!("c{}", self.0 % 8)
    }

    /// Returns the marker at a point, with a text that is shown on hovering. If `hollow` is true, the marker is drawn
    /// hollow, as a sign that the figure is noise.
    pub(crate) fn draw(self, x: f64, y: f64, hollow: bool, title: &str) -> String {
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
    pub(crate) fn dot(self, x: f64, y: f64, title: &str) -> String {
        let (class, title) = (self.class(), escape(title));
        format!("<circle class=\"m {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.4\"><title>{title}</title></circle>")
    }

    /// Returns the key that a legend shows in front of a name.
    pub(crate) fn key(self, kind: Key) -> String {
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
pub(crate) enum Key {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_past_eight_differ_from_the_first_eight() {
        let drawn: Vec<_> = (0..24).map(|i| Mark(i).draw(10.0, 10.0, false, "")).collect();
        for (i, a) in drawn.iter().enumerate() {
            assert!(drawn[..i].iter().all(|b| a != b), "mark {i} is drawn like an earlier one");
        }
    }
}
