//! The page with plots that `fiedler bench` writes: one HTML file that needs no network and, to be read, no script.

mod figures;
mod numbers;
mod sides;
mod speedup;
mod svg;
mod table;
#[cfg(test)]
mod tests;
mod time;
mod view;

pub use numbers::seconds;
use numbers::{percent, ratio};
use std::fmt::Write as _;
use svg::escape;
pub use view::NOISE;
use view::View;

/// What was measured of one workload on one side.
#[derive(Clone, Debug)]
pub struct Row {
    /// The workload's name: `eigh/f32/n=32/batch=10000`.
    pub workload: String,
    /// The family that shares a plot: `eigh`.
    pub family: String,
    /// The size of one item: n = 32.
    pub size: f64,
    /// How many items: batch = 10000.
    pub items: f64,
    /// Where it ran: `CPU, 2 threads`, or the adapter's name.
    pub side: String,
    /// Whether that is the CPU backend.
    pub on_cpu: bool,
    /// Seconds with the data on that side already, the median.
    pub resident: Option<f64>,
    /// Seconds from host to host.
    pub transfers: Option<f64>,
    /// Seconds of the first call, compiling counted.
    pub first: Option<f64>,
    /// What the cost model says of `transfers`; of `resident` on the CPU.
    pub predicted: Option<f64>,
    /// (max - min) / median: beyond [`NOISE`] the figure is noise and is drawn hollow.
    pub spread: f64,
    /// The least bytes that must move.
    pub bytes: f64,
    /// Operations done.
    pub flops: f64,
    /// Why there is no figure, where there is none.
    pub note: String,
}

/// What a side gives at best, measured.
#[derive(Clone, Debug)]
pub struct Ceiling {
    /// As in [`Row::side`].
    pub side: String,
    /// Bytes a second, read and written both counted.
    pub copy: f64,
    /// Operations a second.
    pub fma: f64,
}

/// All that the page shows.
#[derive(Clone, Debug)]
pub struct Report {
    /// When it was measured.
    pub date: String,
    /// The version that measured.
    pub version: String,
    /// The machine: processor, adapter, driver, system.
    pub machine: String,
    /// The command that made it.
    pub command: String,
    /// Ceilings of each side.
    pub ceilings: Vec<Ceiling>,
    /// A row a workload and side. Speed-ups are over the first side that is on the CPU.
    pub rows: Vec<Row>,
}

/// The whole HTML file.
pub fn page(report: &Report) -> String {
    let view = View::new(report);
    let mut html = String::with_capacity(1 << 18);
    let title = format!("fiedler bench, {}", report.date);
    // The policy lets nothing be fetched, whatever stands in the text.
    let _ = write!(
        html,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n\
         <body>\n<main>\n",
        escape(&title),
        include_str!("page.css")
    );
    heading(&mut html, report);
    cards(&mut html, &view);
    html.push_str(&speedup::speedups(&view));
    html.push_str(&time::times(&view));
    html.push_str(&sides::rooflines(&view));
    html.push_str(&sides::predictions(&view));
    html.push_str(&table::table(&view));
    let _ = write!(html, "</main>\n<script>\n{}</script>\n</body>\n</html>\n", include_str!("page.js"));
    html
}

/// What this is, when and where it was measured, and how to do it again.
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
        "</dl>\n<p>These figures are of this machine, its drivers and this version{again}. Each is the median of several \
         runs; where the runs lie more than {}&nbsp;% apart the figure is noise, and its marker is hollow.</p>\n</header>\n",
        100.0 * NOISE
    );
}

/// The summary in a row of cards.
fn cards(html: &mut String, view: &View<'_>) {
    let rows = &view.report.rows;
    let mut names: Vec<&str> = rows.iter().map(|row| row.workload.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    html.push_str("<ul class=\"cards\">\n");
    let mut card = |figure: &str, text: &str| {
        // A workload's name may be broken at its slashes.
        let text = escape(text).replace('/', "/<wbr>");
        let _ = writeln!(html, "<li><b>{}</b> <span>{text}</span></li>", escape(figure));
    };
    let measured = rows.iter().filter(|row| row.measured()).count();
    let plural = |count: usize, word: &str| format!("{word}{}", if count == 1 { "" } else { "s" });
    let (workloads, sides) = (plural(names.len(), "workload"), plural(view.sides.len(), "side"));
    let text = format!("{workloads}, measured {measured} times in all on {} {sides}", view.sides.len());
    card(&names.len().to_string(), &text);
    for adapter in &view.adapters {
        let of_it = rows.iter().filter(|row| row.side == *adapter && !row.on_cpu);
        let mut found: Vec<(f64, &Row)> = of_it.filter_map(|row| Some((view.speedup(row)?, row))).collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        let wins = found.iter().filter(|(speedup, _)| *speedup > 1.0).count();
        card(
            &format!("{wins} of {}", found.len()),
            &format!("workloads where {adapter} beats the CPU, transfers counted"),
        );
        if let (Some((worst, least)), Some((best, most))) = (found.first(), found.last()) {
            card(&ratio(*best), &format!("best speed-up of {adapter}: {}", most.workload));
            card(&ratio(*worst), &format!("worst speed-up of {adapter}: {}", least.workload));
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
    html.push_str("</ul>\n");
}
