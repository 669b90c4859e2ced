//! Plots of speedup against size, with the crossovers marked.

use super::Row;
use super::figures::{SMALL, about, figure, section};
use super::view::{Series, View, crossovers};
use crate::page::marks::{Key, Mark};
use crate::page::numbers::{count, ratio, seconds, tick_ratio, usable};
use crate::page::plot::{Axis, Plot};
use crate::page::range::Range;

/// A point of a speedup plot.
struct Fast<'a> {
    row: &'a Row,
    point: (f64, f64),
    /// Whether the figure of the adapter or of the CPU is noise.
    noisy: bool,
}

/// A line of a speedup plot: its batch, its mark, its variant of the operation and its points.
struct Line<'a> {
    items: f64,
    mark: Mark,
    variant: String,
    points: Vec<Fast<'a>>,
}

/// Returns the point for an adapter's row; `None` if the row or the CPU's row has no figure.
fn fast<'a>(view: &View<'a>, row: &'a Row) -> Option<Fast<'a>> {
    let noisy = row.noisy() || view.cpu_of(row).is_some_and(Row::noisy);
    Some(Fast { row, point: (row.size, view.speedup(row)?), noisy })
}

/// Returns the lines of a family on an adapter: one per batch size and variant of the operation.
fn speedup_lines<'a>(view: &View<'a>, family: &str, adapter: &str) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    for Series { variant, index, rows } in view.variants(family, adapter) {
        for &items in &view.batches {
            let of_batch = rows.iter().filter(|row| row.items == items && usable(row.size).is_some());
            let points: Vec<Fast<'a>> = of_batch.filter_map(|row| fast(view, row)).collect();
            if !points.is_empty() {
                let mark = Mark(view.batch_mark(items) + index * view.batches.len());
                lines.push(Line { items, mark, variant: variant.clone(), points });
            }
        }
    }
    lines
}

/// Summarizes a line of a speedup plot in words.
fn verdict(points: &[(f64, f64)], found: &[(f64, bool)]) -> String {
    match (found, points) {
        ([], [(n, y)]) => format!("{} at n = {}", ratio(*y), count(*n)),
        ([], [(_, y), ..]) if *y >= 1.0 => "faster at every n".to_owned(),
        ([], _) => "slower at every n".to_owned(),
        ([(n, true)], _) => format!("faster from n ≈ {}", whole(*n)),
        ([(n, false)], _) => format!("faster up to n ≈ {}", whole(*n)),
        (several, _) => {
            let places: Vec<_> = several.iter().map(|(n, _)| whole(*n)).collect();
            format!("even at n ≈ {}", places.join(", "))
        }
    }
}

/// Formats an interpolated size, with one decimal below 10.
fn whole(n: f64) -> String {
    if n < 10.0 { count((n * 10.0).round() / 10.0) } else { count(n.round()) }
}

/// Returns the section of plots of speedup against n. Each family on each adapter has a plot, with one line per batch
/// size.
pub(super) fn speedups(view: &View<'_>) -> String {
    let mut plots = Vec::new();
    for family in &view.families {
        for adapter in &view.adapters {
            let lines = speedup_lines(view, family, adapter);
            if !lines.is_empty() {
                plots.push((*family, *adapter, lines));
            }
        }
    }
    let all = plots.iter().flat_map(|(.., lines)| lines).flat_map(|line| &line.points).map(|fast| fast.point.1);
    let Some(y) = Range::of(all.chain([1.0])).map(Range::padded) else { return String::new() };
    let drawn: Vec<String> = plots.iter().map(|(family, adapter, lines)| speedup(family, adapter, lines, y)).collect();
    // If there are several adapters, each family has a separate row of plots, one per adapter.
    let figures = match view.adapters.len() {
        0 | 1 => drawn,
        _ => {
            let groups = plots.chunk_by(|a, b| a.0 == b.0);
            let mut rest = drawn.into_iter();
            let group = |plots: &[_]| rest.by_ref().take(plots.len()).collect::<String>();
            groups.map(group).map(|figures| format!("<div class=\"grid\">\n{figures}</div>\n")).collect()
        }
    };
    section(
        "Speedup, and where it crosses 1",
        "CPU time divided by the adapter's time, transfers included, against the size n. Above the dashed line at 1 \
         the adapter is faster; a ring marks the n at which a batch crosses it, interpolated between the measured \
         sizes.",
        if view.adapters.len() > 1 { "rows" } else { "grid" },
        &figures,
        "No workload was measured on both the CPU and an adapter.",
    )
}

/// Returns one speedup plot.
fn speedup(family: &str, adapter: &str, lines: &[Line<'_>], y: Range) -> String {
    let sizes = lines.iter().flat_map(|line| &line.points).map(|fast| fast.point.0);
    let Some(x) = Range::of(sizes).map(Range::padded) else { return String::new() };
    let x_axis = Axis { name: "n", range: x, label: count };
    let mut plot = Plot::new(SMALL, x_axis, Axis { name: "CPU time / adapter's time", range: y, label: tick_ratio });
    let ends = [10f64.powf(x.lo), 10f64.powf(x.hi)];
    plot.line(&ends.map(|n| (n, 1.0)), "even");
    let points_of = |line: &Line<'_>| line.points.iter().map(|fast| fast.point).collect::<Vec<_>>();
    for line in lines {
        plot.line(&points_of(line), &format!("l {}", line.mark.class()));
    }
    let mut legend = Vec::new();
    let mut labels =
        Labels { taken: Vec::new(), inked: lines.iter().flat_map(|l| along(&plot, &points_of(l))).collect() };
    for line in lines {
        for Fast { row, point, noisy } in &line.points {
            let call = row.call().unwrap_or_default();
            let more = format!("{}: CPU {}, here {}", ratio(point.1), seconds(call * point.1), seconds(call));
            plot.marker(*point, line.mark, *noisy, &about(row, &more));
        }
    }
    for line in lines {
        let points = points_of(line);
        let found = crossovers(&points);
        let name =
            [line.variant.as_str(), "batch"].into_iter().filter(|s| !s.is_empty()).collect::<Vec<_>>().join(", ");
        let name = format!("{name} {}", count(line.items));
        for &(n, rises) in &found {
            labels.crossover(&mut plot, line.mark, (n, rises), &name);
        }
        legend.push((line.mark.key(Key::Line), format!("{name}: {}", verdict(&points, &found))));
    }
    figure(
        &format!("{family} on {adapter}"),
        &legend,
        " rows",
        &plot.finish(&format!("Speedup of {family} on {adapter}")),
    )
}

/// Returns points along a line, 64 per segment, in coordinates of the drawing. Labels avoid these points.
fn along(plot: &Plot, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let places: Vec<_> = points.iter().filter_map(|&point| plot.at(point)).collect();
    let between = places.windows(2).flat_map(|pair| {
        let [(x0, y0), (x1, y1)] = [pair[0], pair[1]];
        (0..64).map(|i| f64::from(i) / 64.0).map(move |t| (x0 + t * (x1 - x0), y0 + t * (y1 - y0)))
    });
    between.chain(places.last().copied()).collect()
}

/// The labels of a plot's crossovers.
struct Labels {
    /// The rectangles of the labels placed so far: left, top, right and bottom.
    taken: Vec<[f64; 4]>,
    /// The points along the lines, which labels avoid.
    inked: Vec<(f64, f64)>,
}

impl Labels {
    /// Draws a ring at a crossover, and next to the ring the label with the crossover's n. If possible, the label does
    /// not overlap lines or other labels.
    fn crossover(&mut self, plot: &mut Plot, mark: Mark, (n, rises): (f64, bool), name: &str) {
        let Some((x, y)) = plot.at((n, 1.0)) else { return };
        let text = format!("n ≈ {}", whole(n));
        plot.ring((x, y), mark, &format!("{name}: even at {text}"));
        let (width, height) = (6.3 * text.chars().count() as f64, 12.0);
        // A rising line leaves room for a label above it to the left and below it to the right. A falling line leaves
        // room on the opposite sides.
        let (before, after) = (x - 7.0 - width, x + 7.0);
        let (above, below) = if rises { (before, after) } else { (after, before) };
        let places = (0..8).map(|step| 8.0 + 8.0 * f64::from(step));
        let places = places.flat_map(|away| [(above, y - away - 11.0), (below, y + away)]);
        let boxes: Vec<_> = places.map(|(at, over)| [at, over, at + width, over + height]).collect();
        let [left, top, right, bottom] = plot.frame();
        let inside = |b: &&[f64; 4]| b[0] >= left && b[1] >= top && b[2] <= right && b[3] <= bottom;
        let apart =
            |b: &&[f64; 4]| self.taken.iter().all(|t| b[2] <= t[0] || b[0] >= t[2] || b[3] <= t[1] || b[1] >= t[3]);
        let bare = |b: &&[f64; 4]| {
            self.inked.iter().all(|&(x, y)| x < b[0] - 3.0 || x > b[2] + 3.0 || y < b[1] - 2.0 || y > b[3] + 2.0)
        };
        let open = || boxes.iter().filter(inside).filter(apart);
        if let Some(&place) = open().find(bare).or_else(|| open().next()) {
            self.taken.push(place);
            plot.text(place[0], place[1] + 10.0, &format!("s halo strong {}", mark.class()), &text);
        }
    }
}
