//! Shows the measurements as a table, as JSON lines and as a page.

use super::peers::Peers;
use crate::bench::page::{Ceiling, NOISE, Report, Row, seconds as time};
use crate::bench::{Case, Measured, today};
use crate::commands::Failure;
use comfy_table::Table;
use fiedler::Context;
use fiedler::policy::Side;

/// The size, in bytes, of the array that is copied to measure the copy rate.
const CEILING: u64 = 16 << 20;

/// Measures the ceilings of the CPU and of the adapter, if there is one.
pub(super) fn ceilings(ctx: &Context) -> Result<Vec<Ceiling>, Failure> {
    let sides = [(Side::Cpu, &Context::cpu()), (Side::Gpu, ctx)];
    let sides = sides.into_iter().filter(|(side, _)| *side == Side::Cpu || ctx.adapter().is_some());
    sides
        .map(|(side, of)| {
            let top = fiedler::ops::roofline::ceilings(of, CEILING, 3)?;
            Ok(Ceiling { side: name(ctx, side), copy: top.copy, fma: top.fma })
        })
        .collect()
}

/// Returns a side's name on the page.
fn name(ctx: &Context, side: Side) -> String {
    match (side, ctx.adapter()) {
        (Side::Gpu, Some(adapter)) => adapter.name.clone(),
        _ => format!("CPU, {} threads", ctx.threads()),
    }
}

/// Returns the table with its header.
pub(super) fn table(peers: Option<&Peers>) -> Table {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    let head = ["workload", "where", "resident", "with transfers", "first call", "predicted", "of the roof", "spread"];
    table.set_header(head.into_iter().chain(peers.map(|_| "others")));
    table
}

/// Returns a line of the table.
pub(super) fn line(m: &Measured, name: &str, roof: Option<&Ceiling>, peers: Option<&Peers>) -> Vec<String> {
    let spread = m.transfers.spread();
    let [bytes, flops] = m.case.least();
    let seconds = m.resident.unwrap_or(m.transfers).median;
    let share = roof.map_or_else(String::new, |r| percent((bytes / r.copy).max(flops / r.fma) / seconds));
    let mut line = vec![
        m.case.to_string(),
        name.to_owned(),
        m.resident.map_or_else(|| "-".to_owned(), |times| time(times.median)),
        time(m.transfers.median),
        time(m.first),
        format!("{} ({:.2}x)", time(m.predicted), m.predicted / m.transfers.median),
        share,
        if spread > NOISE { format!("{spread:.2}, noise") } else { format!("{spread:.2}") },
    ];
    if let Some(peers) = peers {
        let others = peers.get(&m.case.to_string()).into_iter().flatten();
        line.push(others.map(|(peer, ms)| format!("{peer} {}", time(ms / 1e3))).collect::<Vec<_>>().join("; "));
    }
    line
}

/// Formats a share of a roofline ceiling in percent. Values below 1 % have two decimals.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent > 100.0 {
        return format!("{percent:.0} %, cache");
    }
    if percent < 0.95 { format!("{percent:.2} %") } else { format!("{percent:.0} %") }
}

/// Returns a line of JSON, with the keys of `dense_peers.py`.
pub(super) fn as_json(m: &Measured, name: &str) -> serde_json::Value {
    let [bytes, flops] = m.case.least();
    let ms = |seconds: f64| 1e3 * seconds;
    let there = m.resident.unwrap_or(m.transfers);
    serde_json::json!({
        "workload": m.case.to_string(), "peer": format!("fiedler {}", env!("CARGO_PKG_VERSION")), "device": name,
        "ms": ms(there.median), "min": ms(there.least), "max": ms(there.most),
        "transfers_ms": ms(m.transfers.median), "first_ms": ms(m.first), "predicted_ms": ms(m.predicted),
        "spread": m.transfers.spread(), "error_share": m.error, "bytes": bytes, "flops": flops,
    })
}

/// Returns the content of the page.
pub(super) fn report(
    all: &[Measured],
    without: &[(Case, Side, String)],
    ctx: &Context,
    ceilings: Vec<Ceiling>,
) -> Report {
    let cpu = name(ctx, Side::Cpu);
    let empty = |case: &Case, side: Side| {
        let [bytes, flops] = case.least();
        Row {
            workload: case.to_string(),
            family: case.family.to_string(),
            size: case.size as f64,
            items: case.items as f64,
            side: name(ctx, side),
            on_cpu: side == Side::Cpu,
            resident: None,
            transfers: None,
            first: None,
            predicted: None,
            spread: f64::NAN,
            bytes,
            flops,
            note: String::new(),
        }
    };
    let failed = |(case, side, why): &(Case, Side, String)| Row { note: why.clone(), ..empty(case, *side) };
    let row = |m: &Measured| Row {
        resident: m.resident.map(|times| times.median),
        transfers: Some(m.transfers.median),
        first: Some(m.first),
        predicted: Some(m.predicted),
        spread: m.transfers.spread(),
        ..empty(&m.case, m.side)
    };
    let machine = match ctx.adapter() {
        Some(a) => format!("{cpu}; {} ({} {})", a.name, a.backend, a.driver),
        None => cpu.clone(),
    };
    Report {
        date: today(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        machine,
        command: command(),
        ceilings,
        rows: all.iter().map(row).chain(without.iter().map(failed)).collect(),
        above: String::new(),
    }
}

/// Returns the command line that made the page, quoted for a shell, with the environment variables that affect the
/// measurements.
fn command() -> String {
    let said = ["FIEDLER_BACKEND", "FIEDLER_ADAPTER", "FIEDLER_SOFTWARE_AS_GPU", "RAYON_NUM_THREADS"];
    let said = said.iter().filter_map(|name| Some(format!("{name}={}", quoted(&std::env::var(name).ok()?))));
    said.chain(std::env::args().map(|word| quoted(&word))).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=/.,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
