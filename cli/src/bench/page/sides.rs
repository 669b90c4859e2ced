//! The plots that are drawn once per side: rooflines, and predicted against measured times.

use super::figures::{Entry, LARGE, about, figure, section};
use super::view::View;
use super::{Ceiling, Row};
use crate::page::marks::{Key, Mark};
use crate::page::numbers::{count, percent, quotient, rate, ratio, seconds, tick_rate, tick_seconds, usable};
use crate::page::plot::{Axis, Plot};
use crate::page::range::Range;

/// Returns the legend entries of the families that occur in these rows.
fn family_legend(view: &View<'_>, rows: &[&Row]) -> Vec<Entry> {
    let families = view.families.iter().enumerate();
    let there = families.filter(|(_, family)| rows.iter().any(|row| row.family == **family));
    there.map(|(i, family)| (Mark(i).key(Key::Point), (*family).to_owned())).collect()
}

/// Returns the mark of a row's family.
fn family_mark(view: &View<'_>, row: &Row) -> Mark {
    Mark(view.families.iter().position(|family| *family == row.family).unwrap_or(0))
}

/// Returns the section with one roofline per side.
pub(super) fn rooflines(view: &View<'_>) -> String {
    let point = |row: &Row| Some((row.intensity()?, row.flop_rate()?));
    let mut plots = Vec::new();
    for side in &view.sides {
        let of_side = view.report.rows.iter().filter(|row| row.side == *side);
        let rows: Vec<(&Row, (f64, f64))> = of_side.filter_map(|row| Some((row, point(row)?))).collect();
        if let (Some(ceiling), false) = (view.ceiling(side), rows.is_empty()) {
            plots.push((*side, ceiling, rows));
        }
    }
    // All plots have the same axes, so that the sides can be compared. The axes include each side's ridge point, where
    // its two ceilings meet.
    let ridge = |c: &Ceiling| quotient(c.fma, c.copy);
    let all = || plots.iter().flat_map(|(.., rows)| rows);
    let x = Range::of(all().map(|(_, p)| p.0).chain(plots.iter().filter_map(|(_, c, _)| ridge(c))));
    let y = Range::of(all().map(|(_, p)| p.1).chain(plots.iter().map(|(_, c, _)| c.fma)));
    let (Some(x), Some(y)) = (x.map(Range::padded), y.map(Range::padded)) else {
        return section("Rooflines", "", "", &[], "No side has both ceilings and figures.");
    };
    let figures: Vec<String> = plots
        .iter()
        .map(|(side, ceiling, rows)| {
            let x_axis = Axis { name: "operations per byte (flop/B)", range: x, label: count };
            let mut plot = Plot::new(LARGE, x_axis, Axis { name: "flop/s", range: y, label: tick_rate });
            let ends = [10f64.powf(x.lo), 10f64.powf(x.hi)];
            let corner = ridge(ceiling).unwrap_or(ends[0]);
            if usable(ceiling.copy).is_some() {
                plot.line(&[(ends[0], ends[0] * ceiling.copy), (corner, corner * ceiling.copy)], "roof");
            }
            plot.line(&[(corner, ceiling.fma), (ends[1], ceiling.fma)], "roof");
            for (row, at) in rows {
                let share = row.share(ceiling).map_or(String::new(), |s| format!(", {} of the roof", percent(s)));
                let more = format!("{}{share}", rate(at.1, "flop/s"));
                plot.marker(*at, family_mark(view, row), row.noisy(), &about(row, &more));
            }
            let legend = family_legend(view, &rows.iter().map(|(row, _)| *row).collect::<Vec<_>>());
            let title = format!("{side}: {}, {}", rate(ceiling.copy, "B/s"), rate(ceiling.fma, "flop/s"));
            figure(&title, &legend, "", &plot.finish(&format!("Roofline of {side}")))
        })
        .collect();
    section(
        "Rooflines",
        "Operations per second against operations per byte that must move, with resident data. The roof is the \
         measured limit of this side: its copy rate (the slope) and its fma rate (the level).",
        "grid wide",
        &figures,
        "",
    )
}

/// Returns the section with predicted against measured times, one plot per side.
pub(super) fn predictions(view: &View<'_>) -> String {
    let mut plots = Vec::new();
    for side in &view.sides {
        let of_side = view.report.rows.iter().filter(|row| row.side == *side && row.prediction().is_some());
        let rows: Vec<(&Row, (f64, f64))> =
            of_side.filter_map(|row| Some((row, (row.foretold()?, usable(row.predicted?)?)))).collect();
        if !rows.is_empty() {
            plots.push((*side, rows));
        }
    }
    let all = plots.iter().flat_map(|(_, rows)| rows).flat_map(|(_, (x, y))| [*x, *y]);
    let title = "Predicted against measured";
    let Some(range) = Range::of(all).map(Range::padded) else {
        return section(title, "", "", &[], "No measured workload has a prediction.");
    };
    let (lo, hi) = (10f64.powf(range.lo), 10f64.powf(range.hi));
    let figures: Vec<String> = plots
        .iter()
        .map(|(side, rows)| {
            let axis = |name| Axis { name, range, label: tick_seconds };
            let mut plot = Plot::new(LARGE, axis("measured"), axis("predicted"));
            // The band of predictions within a factor of 2 is drawn on top of the grid lines and extends to the ends of
            // the axes.
            plot.area(&[(lo, lo), (lo, 2.0 * lo), (hi / 2.0, hi), (hi, hi), (hi, hi / 2.0), (2.0 * lo, lo)]);
            plot.line(&[(lo, lo), (hi, hi)], "even");
            for (row, at) in rows {
                let error = quotient(at.1, at.0).map_or(String::new(), |r| format!(" ({})", ratio(r)));
                let more = format!("predicted {}, measured {}{error}", seconds(at.1), seconds(at.0));
                plot.marker(*at, family_mark(view, row), row.noisy(), &about(row, &more));
            }
            let near = rows.iter().filter_map(|(row, _)| row.prediction()).filter(|p| (0.5..=2.0).contains(p)).count();
            let legend = family_legend(view, &rows.iter().map(|(row, _)| *row).collect::<Vec<_>>());
            let title = format!("{side}: {near} of {} within 2×", rows.len());
            figure(&title, &legend, "", &plot.finish(&format!("Predicted against measured times on {side}")))
        })
        .collect();
    section(
        title,
        "The time that the cost model predicted for a call against the time that it took. On the dashed line the \
         prediction is exact; within the band it is off by less than a factor of 2.",
        "grid wide",
        &figures,
        "",
    )
}
