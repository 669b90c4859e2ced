//! The curves of the trainings, with bands over the seeds: two small plots for each configuration.

use super::many;
use super::view::{MOST, View};
use crate::page::marks::{Key, Mark};
use crate::page::numbers::{count, three};
use crate::page::plot::{Axis, Plot};
use crate::page::range::Range;
use crate::page::{figure, section};
use fiedler::experiment::{CellReport, CurveReport, MeanBand};

/// The size of a plot.
const SIZE: (f64, f64) = (320.0, 210.0);
/// The most points of a curve that are drawn.
const POINTS: usize = 100;
/// The markers on a curve.
const MARKERS: usize = 4;
/// The ratio of the greatest to the least loss from which the axis is logarithmic.
const WIDE: f64 = 20.0;
/// The marks of training and of validation.
const MARKS: [(Mark, &str); 2] = [(Mark(0), "training"), (Mark(1), "validation")];

/// A point of a curve: the epoch, counted from 1, the mean, the deviation and the number of runs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    epoch: f64,
    mean: f64,
    deviation: f64,
    n: usize,
}

/// Returns the points of a curve that have a mean.
fn points(epochs: &[u64], bands: &[MeanBand]) -> Vec<Point> {
    let known = epochs.iter().zip(bands).filter_map(|(&epoch, band)| {
        let mean = band.mean.filter(|mean| mean.is_finite())?;
        let deviation = band.deviation.filter(|deviation| deviation.is_finite()).unwrap_or(0.0);
        Some(Point { epoch: epoch as f64 + 1.0, mean, deviation, n: band.n })
    });
    let known: Vec<Point> = known.collect();
    let (every, last) = (known.len().div_ceil(POINTS).max(1), known.len().saturating_sub(1));
    known.into_iter().enumerate().filter(|(place, _)| place % every == 0 || *place == last).map(|(_, p)| p).collect()
}

/// Returns the curves of a quantity: those of training and of validation.
fn of_loss(curves: &CurveReport) -> [Vec<Point>; 2] {
    [&curves.loss, &curves.validation_loss].map(|bands| points(&curves.epochs, bands))
}

fn of_accuracy(curves: &CurveReport) -> [Vec<Point>; 2] {
    [&curves.accuracy, &curves.validation_accuracy].map(|bands| points(&curves.epochs, bands))
}

/// Returns the range of an axis that shows all curves.
fn range(all: &[[Vec<Point>; 2]], loss: bool) -> Option<Range> {
    let points = || all.iter().flatten().flatten();
    let means = Range::linear(points().map(|p| p.mean))?;
    let ends = points().flat_map(|p| [p.mean - p.deviation, p.mean, p.mean + p.deviation]);
    if loss && means.lo > 0.0 && means.hi > WIDE * means.lo {
        // The lower end of a band may be below 0.
        return Range::of(ends.filter(|v| *v > 0.3 * means.lo)).map(Range::padded);
    }
    let range = Range::linear(ends).map(Range::padded)?;
    // No loss is below 0 for its band's sake, and no accuracy is beyond 0 and 1.
    let least = if means.lo >= 0.0 { 0.0 } else { f64::NEG_INFINITY };
    let most = if loss || means.hi > 1.0 { f64::INFINITY } else { 1.0 };
    Some(Range { lo: range.lo.max(least), hi: range.hi.min(most), ..range })
}

/// Returns the section with the curves.
pub(super) fn curves(view: &View<'_>) -> String {
    let cells: Vec<(usize, &CellReport)> =
        view.cells().take(MOST).filter(|(_, cell)| !cell.curves.epochs.is_empty()).collect();
    let losses: Vec<[Vec<Point>; 2]> = cells.iter().map(|(_, cell)| of_loss(&cell.curves)).collect();
    let accuracies: Vec<[Vec<Point>; 2]> = cells.iter().map(|(_, cell)| of_accuracy(&cell.curves)).collect();
    // All configurations have the same axes, so that they can be compared.
    let axes = [range(&losses, true), range(&accuracies, false)];
    let longest = cells.iter().filter_map(|(_, cell)| cell.curves.epochs.last()).max().copied().unwrap_or(0);
    let epochs = Range::linear([1.0, longest as f64 + 1.0]);
    let mut figures = Vec::new();
    for (place, (number, cell)) in cells.iter().enumerate() {
        let drawn = [("loss", &losses[place], axes[0]), ("accuracy", &accuracies[place], axes[1])];
        let drawn: Vec<String> =
            drawn.iter().filter_map(|(what, curves, y)| plot(&cell.name, what, curves, epochs?, (*y)?)).collect();
        if drawn.is_empty() {
            continue;
        }
        let there = |part: usize| !losses[place][part].is_empty() || !accuracies[place][part].is_empty();
        let keys = MARKS.iter().enumerate().filter(|(part, _)| there(*part));
        let mut legend: Vec<(String, String)> =
            keys.map(|(_, (mark, name))| (mark.key(Key::Line), (*name).to_owned())).collect();
        legend.extend(fewer(&losses[place], &accuracies[place]).map(|text| (String::new(), text)));
        let drawings = format!("<div class=\"pair\">{}</div>", drawn.concat());
        figures.push(figure(&format!("{number} {}", cell.name), &legend, "", &drawings));
    }
    let two = axes.iter().flatten().count() > 1;
    let more =
        if view.order.len() > MOST { format!(" The first {MOST} configurations are drawn.") } else { String::new() };
    section(
        "Training",
        &format!(
            "The mean over the runs by epoch; the band is one standard deviation to either side. Where runs have \
             stopped, the curve is dashed and is the mean of those that are left. All configurations have the same \
             axes.{more}"
        ),
        if two { "grid wide three" } else { "grid" },
        &figures,
        "No run has a curve.",
    )
}

/// Returns from which epoch on fewer runs are left, in words.
fn fewer(losses: &[Vec<Point>; 2], accuracies: &[Vec<Point>; 2]) -> Option<String> {
    let longest = losses.iter().chain(accuracies).max_by_key(|points| points.len())?;
    let (first, last) = (longest.first()?, longest.last()?);
    let at = longest.iter().find(|point| point.n < first.n)?;
    Some(format!("from epoch {} on fewer than {} runs, {} at the end", at.epoch, first.n, last.n))
}

/// Returns the plot of a quantity; `None` if it has no curve.
fn plot(name: &str, what: &str, curves: &[Vec<Point>; 2], epochs: Range, y: Range) -> Option<String> {
    let last = curves.iter().filter_map(|points| points.last()).map(|point| point.epoch).fold(0.0, f64::max);
    if last == 0.0 {
        return None;
    }
    let x = if epochs.hi > epochs.lo { epochs } else { epochs.padded() };
    let mut plot = Plot::new(SIZE, Axis::linear("epoch", x), Axis { name: what, range: y, label: count });
    let mut summary = Vec::new();
    for (points, (mark, _)) in curves.iter().zip(MARKS) {
        let band: Vec<(f64, f64, f64)> =
            points.iter().map(|p| (p.epoch, p.mean - p.deviation, p.mean + p.deviation)).collect();
        if points.iter().any(|p| p.deviation > 0.0) {
            plot.band(&band, &format!("band {}", mark.class()));
        }
    }
    for (points, (mark, part)) in curves.iter().zip(MARKS) {
        let all = points.first().map_or(0, |p| p.n);
        let line: Vec<(f64, f64)> = points.iter().map(|p| (p.epoch, p.mean)).collect();
        let full = points.iter().take_while(|p| p.n >= all).count();
        plot.line(&line[..full], &format!("l {}", mark.class()));
        plot.line(&line[full.saturating_sub(1)..], &format!("l dash {}", mark.class()));
        for (place, p) in points.iter().enumerate() {
            let step = points.len().div_ceil(MARKERS).max(1);
            if place % step == step / 2 || place + 1 == points.len() {
                plot.marker((p.epoch, p.mean), mark, false, &about(name, what, part, p));
            }
        }
        if let Some(end) = points.last() {
            summary.push(format!("{part} {} at epoch {}", three(end.mean), end.epoch));
        }
    }
    Some(plot.finish(&format!("{what} of {name} by epoch: {}", summary.join(", "))))
}

/// Returns what a marker says.
fn about(name: &str, what: &str, part: &str, p: &Point) -> String {
    let spread = if p.n > 1 { format!(" ± {}", three(p.deviation)) } else { String::new() };
    let runs = many(p.n, "run", "runs");
    format!("{name}\n{part} {what} at epoch {}: {}{spread}, {runs}", p.epoch, three(p.mean))
}

#[cfg(test)]
mod unit {
    use super::*;

    fn band(mean: Option<f64>, n: usize) -> MeanBand {
        MeanBand { mean, deviation: (n > 1).then_some(0.1), n }
    }

    #[test]
    fn long_curves_keep_their_last_point() {
        let epochs: Vec<u64> = (0..251).collect();
        let bands = vec![band(Some(0.5), 3); 251];
        let found = points(&epochs, &bands);
        assert!(found.len() <= POINTS + 1);
        assert_eq!(found.last().map(|p| p.epoch), Some(251.0));
        assert!(points(&[0, 1], &[band(None, 0), band(Some(f64::NAN), 1)]).is_empty());
    }

    #[test]
    fn runs_that_stopped_are_said() {
        let epochs = [0, 1, 2];
        let curve = points(&epochs, &[band(Some(1.0), 3), band(Some(0.9), 2), band(Some(0.8), 1)]);
        let text = fewer(&[curve.clone(), Vec::new()], &[Vec::new(), Vec::new()]);
        assert_eq!(text.as_deref(), Some("from epoch 2 on fewer than 3 runs, 1 at the end"));
        assert_eq!(fewer(&[curve[..1].to_vec(), Vec::new()], &[Vec::new(), Vec::new()]), None);
    }

    #[test]
    fn an_axis_of_losses_is_logarithmic_where_they_are_far_apart() {
        let curve =
            |means: &[f64]| [points(&[0, 1], &means.iter().map(|m| band(Some(*m), 1)).collect::<Vec<_>>()), Vec::new()];
        let scale = |means: &[f64]| range(&[curve(means)], true).unwrap().scale;
        assert_eq!(scale(&[1.0, 0.5]), crate::page::range::Scale::Linear);
        assert_eq!(scale(&[10.0, 0.1]), crate::page::range::Scale::Log);
        assert_eq!(scale(&[10.0, 0.0]), crate::page::range::Scale::Linear);
    }
}
