//! The drawing of all runs: a box for each configuration, with a dot for every seed.

use super::view::{MOST_ROWS, View, quantile};
use crate::page::escape;
use crate::page::marks::Mark;
use crate::page::range::Range;
use crate::page::strip::{Strip, Strips};
use fiedler::experiment::CellReport;

/// The fewest seeds whose quartiles are drawn as a box.
const BOXED: usize = 5;
/// The most seeds of which every one is drawn as a dot; of more, those beyond the whiskers are.
const DOTS: usize = 200;
/// The mark of the mean.
const MEAN: Mark = Mark(1);

/// Quartiles, with the ends of the whiskers: the furthest values within 1.5 times the distance of the quartiles.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Quartiles {
    whiskers: [f64; 2],
    quartiles: [f64; 2],
    median: f64,
}

impl Quartiles {
    /// Returns the box of sorted values.
    fn of(sorted: &[f64]) -> Option<Self> {
        let [low, median, high] = [0.25, 0.5, 0.75].map(|share| quantile(sorted, share));
        let (quartiles, median) = ([low?, high?], median?);
        let reach = 1.5 * (quartiles[1] - quartiles[0]);
        let within = |v: &&f64| **v >= quartiles[0] - reach && **v <= quartiles[1] + reach;
        let ends = (sorted.iter().find(within), sorted.iter().rev().find(within));
        let (first, last) = (ends.0.copied().unwrap_or(median), ends.1.copied().unwrap_or(median));
        // The quartiles are interpolated, so the last value within reach may be inside the box.
        Some(Self { whiskers: [first.min(quartiles[0]), last.max(quartiles[1])], quartiles, median })
    }
}

/// Returns the section with the runs of all configurations.
pub(super) fn runs(view: &View<'_>) -> String {
    let cells = || view.cells().take(MOST_ROWS).filter(|(_, cell)| cell.estimate.is_some());
    let ends = |cell: &CellReport| cell.estimate.and_then(|found| found.interval).map(|found| [found.low, found.high]);
    let values = cells().flat_map(|(_, cell)| cell.values.iter().copied().chain(ends(cell).into_iter().flatten()));
    let Some(range) = Range::linear(values).map(Range::padded) else {
        return "<section>\n<h2>Runs</h2>\n<p class=\"none\">No run ended well yet.</p>\n</section>\n".to_owned();
    };
    let mut strips = Strips::new(&view.report.metric, range);
    for (number, cell) in cells() {
        let mut strip = strips.strip(38.0);
        draw(&mut strip, view, cell);
        let before = format!("<span class=\"no\">{number}</span> {}", escape(&cell.name));
        let mean = cell.estimate.map_or_else(String::new, |found| view.digits.write(found.mean));
        strips.push(&before, strip, &summary(view, cell), &format!("<b>{}</b>", escape(&mean)));
    }
    let boxed = view.report.configurations.iter().any(|cell| cell.values.len() >= BOXED);
    let key = |inner: &str| format!("<svg class=\"key\" viewBox=\"0 0 26 14\" aria-hidden=\"true\">{inner}</svg>");
    let dot = key("<circle class=\"seed\" cx=\"13\" cy=\"7\" r=\"2.6\"/>");
    let mean = key(&format!("<path class=\"l {}\" d=\"M1 7H25\"/>{}", MEAN.class(), MEAN.draw(13.0, 7.0, false, "")));
    let of_box = key(
        "<path class=\"whisker\" d=\"M1 7H25\"/><rect class=\"box\" x=\"6\" y=\"2\" width=\"14\" height=\"10\"/><path class=\"median\" d=\"M12 2V12\"/>",
    );
    let of_box = if boxed {
        format!("<li>{of_box}quartiles and median, whiskers to the furthest seed within 1.5 times their distance</li>")
    } else {
        String::new()
    };
    let more = view.report.configurations.len().saturating_sub(MOST_ROWS);
    let more = if more > 0 { format!(" The first {MOST_ROWS} configurations are drawn.") } else { String::new() };
    let name = escape(&view.report.metric);
    format!(
        "<section>\n<h2>Runs</h2>\n<p>{name} of every seed, in the order of the table.{more}</p>\n<figure \
         aria-label=\"{name} of every run, by configuration\">\n<figcaption><ul class=\"legend\"><li>{dot}a seed</li>\
         {of_box}<li>{mean}the mean with its interval</li></ul></figcaption>\n{}</figure>\n</section>\n",
        strips.finish()
    )
}

/// Draws the seeds of a configuration and, below them, the mean.
fn draw(strip: &mut Strip, view: &View<'_>, cell: &CellReport) {
    let mut sorted = cell.values.clone();
    sorted.sort_by(f64::total_cmp);
    let found = Quartiles::of(&sorted).filter(|_| sorted.len() >= BOXED);
    if let Some(Quartiles { whiskers, quartiles, median }) = found {
        strip.line([whiskers[0], quartiles[0]], -5.0, "whisker");
        strip.line([quartiles[1], whiskers[1]], -5.0, "whisker");
        whiskers.iter().for_each(|&end| strip.stroke(end, [-9.0, -1.0], "whisker"));
        strip.area(quartiles, [-14.0, 4.0], "box");
        strip.stroke(median, [-14.0, 4.0], "median");
    }
    let outside = |v: f64| found.is_none_or(|found| v < found.whiskers[0] || v > found.whiskers[1]);
    for (place, (&v, seed)) in cell.values.iter().zip(&cell.seeds).enumerate() {
        if cell.values.len() <= DOTS || outside(v) {
            // Neighbors are at different heights, so that equal values are seen.
            let y = -5.0 + 6.0 * ((place as f64 * 0.618).fract() - 0.5);
            strip.dot(v, y, "seed", &format!("{}\nseed {seed}: {}", cell.name, view.digits.write(v)));
        }
    }
    if let Some(estimate) = cell.estimate {
        let class = format!("l {}", MEAN.class());
        if let Some(interval) = estimate.interval {
            strip.interval([interval.low, interval.high], 11.5, &class);
        }
        strip.marker(estimate.mean, 11.5, MEAN, false, &summary(view, cell));
    }
}

/// Returns the values of a configuration in words.
fn summary(view: &View<'_>, cell: &CellReport) -> String {
    let Some(estimate) = cell.estimate else { return format!("{}: {}", cell.name, cell.why_none()) };
    let write = |v: f64| view.digits.write(v);
    let mut sorted = cell.values.clone();
    sorted.sort_by(f64::total_cmp);
    let mut text = format!("{}: mean {}", cell.name, write(estimate.mean));
    if estimate.interval.is_some() {
        text += &format!(", interval {}", view.between(estimate.interval));
    }
    text += &format!(", {}", super::many(estimate.n, "seed", "seeds"));
    if let Some(found) = Quartiles::of(&sorted).filter(|_| sorted.len() >= BOXED) {
        let [low, high] = found.quartiles.map(write);
        text += &format!(", median {}, quartiles {low} and {high}", write(found.median));
    }
    if let ([first, ..], [.., last]) = (sorted.as_slice(), sorted.as_slice()) {
        text += &format!(", from {} to {}", write(*first), write(*last));
    }
    text
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn whiskers_end_at_values() {
        let found = Quartiles::of(&[1.0, 2.0, 3.0, 4.0, 20.0]).unwrap();
        assert_eq!(found, Quartiles { whiskers: [1.0, 4.0], quartiles: [2.0, 4.0], median: 3.0 });
        assert_eq!(Quartiles::of(&[]), None);
    }
}
