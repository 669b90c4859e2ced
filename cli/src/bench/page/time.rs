//! Plots of time per item against size.

use super::Row;
use super::figures::{SMALL, about, figure, section};
use super::view::{Series, View};
use crate::page::marks::{Key, Mark};
use crate::page::numbers::{count, quotient, seconds, tick_seconds, usable};
use crate::page::plot::{Axis, Plot};
use crate::page::range::Range;

/// Returns the rows of one batch size, chosen from rows of the same problem size. The chosen batch size has figures for
/// the largest number of sides. If several batch sizes have figures for that many sides, the largest batch size is
/// chosen.
fn largest_batch<'a>(rows: &[&'a Row]) -> Vec<&'a Row> {
    let of = |items: f64| rows.iter().copied().filter(move |row| row.items == items && row.foretold().is_some());
    let batches = rows.iter().map(|row| row.items).filter(|&items| usable(items).is_some());
    let best = batches.max_by(|&a, &b| of(a).count().cmp(&of(b).count()).then(a.total_cmp(&b)));
    best.map_or_else(Vec::new, |items| of(items).collect())
}

/// Returns the section of plots of time per item against n, with one plot per family and one line per side.
pub(super) fn times(view: &View<'_>) -> String {
    let figures: Vec<String> = view.families.iter().filter_map(|family| time(view, family)).collect();
    section(
        "Time per item",
        "Seconds per matrix (or graph, or signal) against its size n, in the largest batch that was measured on every \
         side; the line is broken where that batch changes. Dashed: the adapter with the data already on it.",
        "grid",
        &figures,
        "No workload has a figure.",
    )
}

/// A line of a plot: one side, with its row for each problem size.
struct Line<'a> {
    mark: Mark,
    name: String,
    rows: Vec<&'a Row>,
}

/// Returns the lines of a family. At each problem size, the rows of all sides have the same batch size.
fn lines<'a>(view: &View<'a>, family: &str) -> Vec<Line<'a>> {
    let sides = view.sides.iter().enumerate();
    let series: Vec<(usize, &str, Series<'a>)> = sides
        .flat_map(|(i, side)| view.variants(family, side).into_iter().map(move |series| (i, *side, series)))
        .collect();
    let chosen = |row: &Row, index: usize| {
        let alike = series.iter().filter(|(.., s)| s.index == index).flat_map(|(.., s)| &s.rows);
        let peers: Vec<&Row> = alike.copied().filter(|peer| peer.size == row.size).collect();
        usable(row.size).is_some() && largest_batch(&peers).iter().any(|peer| std::ptr::eq(*peer, row))
    };
    let line = |(side, name, Series { variant, index, rows }): &(usize, &str, Series<'a>)| Line {
        mark: Mark(side + index * view.sides.len()),
        name: if variant.is_empty() { (*name).to_owned() } else { format!("{name}, {variant}") },
        rows: rows.iter().copied().filter(|row| chosen(row, *index)).collect(),
    };
    series.iter().map(line).collect()
}

/// Returns the point (size, seconds per item) of a call from host to host, or of a call on the CPU.
fn call(row: &Row) -> Option<(f64, f64)> {
    Some((row.size, quotient(row.call()?, row.items)?))
}

/// Returns the point (size, seconds per item) of a call on an adapter with resident data.
fn resident(row: &Row) -> Option<(f64, f64)> {
    if row.on_cpu { None } else { Some((row.size, quotient(row.compute()?, row.items)?)) }
}

/// Returns one plot of times; `None` if there is nothing to show.
fn time(view: &View<'_>, family: &str) -> Option<String> {
    let lines = lines(view, family);
    let rows = || lines.iter().flat_map(|line| &line.rows).copied();
    let points = || rows().flat_map(|row| [call(row), resident(row)]).flatten();
    let x = Range::of(points().map(|p| p.0))?.padded();
    let y = Range::of(points().map(|p| p.1))?.padded();
    let y_axis = Axis { name: "seconds per item", range: y, label: tick_seconds };
    let mut plot = Plot::new(SMALL, Axis { name: "n", range: x, label: count }, y_axis);
    let mut legend = Vec::new();
    for Line { mark, name, rows } in &lines {
        let (solid, dashed) = (format!("l {}", mark.class()), format!("l dash {}", mark.class()));
        for batch in rows.chunk_by(|a, b| a.items == b.items) {
            plot.line(&batch.iter().filter_map(|row| resident(row)).collect::<Vec<_>>(), &dashed);
            plot.line(&batch.iter().filter_map(|row| call(row)).collect::<Vec<_>>(), &solid);
        }
        let on_cpu = rows.iter().any(|row| row.on_cpu);
        if rows.iter().any(|row| call(row).is_some()) {
            let how = if on_cpu { "" } else { ", with transfers" };
            legend.push((mark.key(Key::Line), format!("{name}{how}")));
        }
        if rows.iter().any(|row| resident(row).is_some()) {
            legend.push((mark.key(Key::Dash), format!("{name}, resident")));
        }
    }
    // Markers are drawn on top of all lines.
    for (line, row) in lines.iter().flat_map(|line| line.rows.iter().map(move |row| (line, *row))) {
        let said = |seconds_each: f64, how: &str| about(row, &format!("{} per item{how}", seconds(seconds_each)));
        if let Some(point) = resident(row) {
            plot.dot(point, line.mark, &said(point.1, ", resident"));
        }
        if let Some(point) = call(row) {
            plot.marker(
                point,
                line.mark,
                row.noisy(),
                &said(point.1, if row.on_cpu { "" } else { ", with transfers" }),
            );
        }
    }
    let mut batches: Vec<f64> = rows().map(|row| row.items).collect();
    batches.sort_by(f64::total_cmp);
    let batch = match (batches.first(), batches.last()) {
        (Some(least), Some(most)) if least < most => format!("batches {} to {}", count(*least), count(*most)),
        (Some(only), _) => format!("batch {}", count(*only)),
        _ => String::new(),
    };
    Some(figure(&format!("{family}, {batch}"), &legend, "", &plot.finish(&format!("Time per item of {family}"))))
}

#[cfg(test)]
mod tests {
    use super::super::tests::row;
    use super::*;

    #[test]
    fn sides_are_compared_in_the_same_batch() {
        let of = |side: &str, on_cpu, items, seconds| {
            let mut r = row("a/f32/n=8", side, on_cpu, seconds);
            r.items = items;
            r
        };
        let rows = [
            of("CPU", true, 1.0, Some(1.0)),
            of("GPU", false, 1.0, Some(1.0)),
            of("CPU", true, 100.0, Some(1.0)),
            of("GPU", false, 100.0, Some(1.0)),
            of("CPU", true, 10000.0, Some(1.0)),
            of("GPU", false, 10000.0, None),
        ];
        let best = largest_batch(&rows.iter().collect::<Vec<_>>());
        assert_eq!(best.iter().map(|r| r.items).collect::<Vec<_>>(), [100.0, 100.0], "10000 is not there on the GPU");
        let alone = largest_batch(&[&rows[0], &rows[4]]);
        assert_eq!(alone.iter().map(|r| r.items).collect::<Vec<_>>(), [10000.0]);
        assert!(largest_batch(&[&rows[5]]).is_empty());
    }
}
