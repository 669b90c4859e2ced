//! The page with plots that `fiedler bench` writes: one HTML file that needs no network and can be read without
//! scripts.

mod card;
mod figures;
mod sides;
mod speedup;
mod table;
#[cfg(test)]
mod tests;
mod time;
mod view;

pub use crate::page::numbers::seconds;
use crate::page::numbers::{percent, ratio};
use crate::page::{self, escape};
pub use card::card;
use std::fmt::Write as _;
pub use view::NOISE;
use view::View;

/// The measurements of one workload on one side.
#[derive(Clone, Debug)]
pub struct Row {
    /// The workload's name: `eigh/f32/n=32/batch=10000`.
    pub workload: String,
    /// The family, whose workloads share a plot: `eigh`.
    pub family: String,
    /// The size of one item, such as 32 for `n=32`.
    pub size: f64,
    /// The number of items, such as 10000 for `batch=10000`.
    pub items: f64,
    /// The side where the workload ran: `CPU, 2 threads`, or the adapter's name.
    pub side: String,
    /// Whether `side` is the CPU backend.
    pub on_cpu: bool,
    /// The median time, in seconds, of a call whose data is already on `side`.
    pub resident: Option<f64>,
    /// The median time, in seconds, of a call from host to host.
    pub transfers: Option<f64>,
    /// The time, in seconds, of the first call, including compilation.
    pub first: Option<f64>,
    /// The time, in seconds, that the cost model predicts for a call from host to host.
    pub predicted: Option<f64>,
    /// The spread of the times, (max - min) / median. Above [`NOISE`] the figure counts as noise and is drawn with a
    /// hollow marker.
    pub spread: f64,
    /// The minimum number of bytes that must be read and written.
    pub bytes: f64,
    /// The number of operations.
    pub flops: f64,
    /// The reason why the row has no figure; empty if it has one.
    pub note: String,
}

/// The measured best rates of a side.
#[derive(Clone, Debug)]
pub struct Ceiling {
    /// The side, as in [`Row::side`].
    pub side: String,
    /// The rate of a copy in bytes per second, counting bytes read and bytes written.
    pub copy: f64,
    /// The rate of multiply-adds in operations per second.
    pub fma: f64,
}

/// The content of the page.
#[derive(Clone, Debug)]
pub struct Report {
    /// The date of the measurement.
    pub date: String,
    /// The version of the program.
    pub version: String,
    /// The machine: processor, adapter, driver, system.
    pub machine: String,
    /// The command that made the page.
    pub command: String,
    /// The ceilings of each side.
    pub ceilings: Vec<Ceiling>,
    /// One row per workload and side. Speedups are relative to the first side on the CPU.
    pub rows: Vec<Row>,
    /// Sections above the plots, as HTML.
    pub above: String,
}

/// Returns the whole HTML file.
pub fn page(report: &Report) -> String {
    let view = View::new(report);
    let mut html = String::with_capacity(1 << 18);
    heading(&mut html, report);
    cards(&mut html, &view);
    html.push_str(&report.above);
    html.push_str(&speedup::speedups(&view));
    html.push_str(&time::times(&view));
    html.push_str(&sides::rooflines(&view));
    html.push_str(&sides::predictions(&view));
    html.push_str(&table::table(&view));
    page::document(&format!("fiedler bench, {}", report.date), &html)
}

/// Writes the heading: what the page shows, when and where the figures were measured, and how to repeat the
/// measurement.
fn heading(html: &mut String, report: &Report) {
    html.push_str("<header>\n<h1>CPU against GPU, measured</h1>\n<dl class=\"facts\">\n");
    let facts = [("date", &report.date), ("fiedler", &report.version), ("machine", &report.machine)];
    for (name, value) in facts.into_iter().filter(|(_, value)| !value.is_empty()) {
        let _ = writeln!(html, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(value));
    }
    if !report.command.is_empty() {
        let command = escape(&report.command);
        let _ = writeln!(html, "<div><dt>command</dt><dd><code>{command}</code></dd></div>");
    }
    let again = if report.command.is_empty() { "" } else { "; to measure again, run the command above" };
    let _ = write!(
        html,
        "</dl>\n<p>These figures hold for this machine, its drivers and this version{again}. Each is the median of \
         several runs; if the runs differ by more than {}&nbsp;%, the figure is noise and its marker is \
         hollow.</p>\n</header>\n",
        100.0 * NOISE
    );
}

/// Writes the summary in a row of cards.
fn cards(html: &mut String, view: &View<'_>) {
    let rows = &view.report.rows;
    let mut names: Vec<&str> = rows.iter().map(|row| row.workload.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut cards = Vec::new();
    let mut card = |figure: &str, text: &str| cards.push((figure.to_owned(), text.to_owned()));
    let measured = rows.iter().filter(|row| row.measured()).count();
    let plural = |count: usize, word: &str| format!("{word}{}", if count == 1 { "" } else { "s" });
    let (workloads, sides) = (plural(names.len(), "workload"), plural(view.sides.len(), "side"));
    let times = plural(measured, "time");
    let text = format!("{workloads}, measured {measured} {times} in total on {} {sides}", view.sides.len());
    card(&names.len().to_string(), &text);
    for adapter in &view.adapters {
        let of_it = rows.iter().filter(|row| row.side == *adapter && !row.on_cpu);
        let mut found: Vec<(f64, &Row)> = of_it.filter_map(|row| Some((view.speedup(row)?, row))).collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        let wins = found.iter().filter(|(speedup, _)| *speedup > 1.0).count();
        card(
            &format!("{wins} of {}", found.len()),
            &format!("workloads where {adapter} beats the CPU, transfers included"),
        );
        if let (Some((worst, least)), Some((best, most))) = (found.first(), found.last()) {
            card(&ratio(*best), &format!("best speedup of {adapter}: {}", most.workload));
            card(&ratio(*worst), &format!("worst speedup of {adapter}: {}", least.workload));
        }
    }
    let foretold: Vec<f64> = rows.iter().filter_map(Row::prediction).collect();
    let near = foretold.iter().filter(|p| (0.5..=2.0).contains(*p)).count();
    let share = if foretold.is_empty() { 0.0 } else { near as f64 / foretold.len() as f64 };
    if !foretold.is_empty() {
        card(
            &format!("{near} of {}", foretold.len()),
            &format!("predictions within 2× of measured ({})", percent(share)),
        );
    }
    let noise = rows.iter().filter(|row| row.noisy()).count();
    card(
        &noise.to_string(),
        &format!("{} with a spread beyond {}\u{a0}%: noise", plural(noise, "figure"), 100.0 * NOISE),
    );
    html.push_str(&page::cards(&cards));
}
