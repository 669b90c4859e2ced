//! `fiedler bench`: operations on the CPU and on the adapter, beside what is predicted of them.

use super::{Failure, Outcome, Where, check_place, print};
use clap::Args;
use comfy_table::Table;
use fiedler::Context;
use fiedler::bench::page::{Ceiling, Report, Row, page, seconds as time};
use fiedler::bench::{Case, Extent, Measured, choice_seconds, differ, grid, measure, on_device, today};
use fiedler::policy::{Family, Side};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Measure operations on the CPU and on the adapter, beside what is predicted.
#[derive(Debug, Args)]
pub(super) struct Bench {
    /// Workloads (eigh/f32/n=32/batch=1000); without any, a grid of all families.
    #[arg(value_name = "WORKLOAD")]
    workloads: Vec<String>,
    /// Only these families.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    only: Vec<String>,
    /// Under a minute.
    #[arg(long)]
    quick: bool,
    /// Larger sizes too.
    #[arg(long, conflicts_with = "quick")]
    full: bool,
    /// Judge the choices of `auto`: how many are the faster side, and those that are not.
    #[arg(long)]
    policy: bool,
    /// Print JSON lines, with the names of workloads that dense_peers.py prints.
    #[arg(long)]
    json: bool,
    /// Write a page with plots: one file, which needs no network.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Lay what others took beside ours: JSON lines of dense_peers.py.
    #[arg(long, value_name = "FILE")]
    peers: Option<PathBuf>,
    #[command(flatten)]
    place: Where,
}

/// Bytes of one array of the copy that is a ceiling.
const CEILING: u64 = 16 << 20;

/// Beyond this share of the median between the shortest and the longest call a figure is noise.
const NOISE: f64 = 0.5;

impl Bench {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        let cases = self.cases()?;
        if let Some(path) = &self.html {
            check_place(path, &["html", "htm"])?;
        }
        let peers = self.peers.as_deref().map(peers).transpose()?;
        let mut ctx = self.place.context()?;
        let budget = Duration::from_millis(if self.quick { 60 } else { 200 });
        let adapter = ctx.adapter().map_or("none", |a| &a.name).to_owned();
        let (mut all, mut failed) = (Vec::new(), Vec::<String>::new());
        let mut table = Table::new();
        table.load_style(comfy_table::presets::NOTHING);
        table.set_header([
            "workload",
            "where",
            "there",
            "with transfers",
            "first call",
            "predicted",
            "spread",
            "others",
        ]);
        for case in &cases {
            for side in [Side::Cpu, Side::Gpu] {
                if side == Side::Gpu && !on_device(case, &ctx) {
                    continue;
                }
                let name = if side == Side::Cpu { "CPU" } else { adapter.as_str() };
                match measure(case, &ctx, side, budget) {
                    Ok(m) => {
                        if self.json {
                            print(as_json(&m, name));
                        }
                        table.add_row(row(&m, name, peers.as_ref()));
                        if m.error > 1.0 {
                            return Err(Failure::Said(format!(
                                "bench: {case} on {name} is off by {:.2} times what is promised",
                                m.error
                            )));
                        }
                        all.push(m);
                    }
                    // One that cannot be measured spoils no other; the exit status tells.
                    Err(error) => {
                        if self.json {
                            print(serde_json::json!({
                                "workload": case.to_string(), "device": name, "ms": null, "note": error.to_string(),
                            }));
                        }
                        table.add_row([case.to_string(), name.to_owned(), error.to_string()]);
                        failed.push(format!("{case} on {name}"));
                        if error.is_device() {
                            ctx = self.place.context()?;
                        }
                    }
                }
            }
        }
        if !self.json {
            print(&table);
        }
        if let Some(path) = &self.html {
            fiedler::io::write_text(path, &page(&report(&all, &ctx)?))?;
            print(format_args!("page: {}", path.display()));
        }
        if self.policy {
            judge(&all, &ctx, self.json);
        }
        if let Some(first) = failed.first() {
            return Err(Failure::Said(format!("bench: {} could not be measured; the first is {first}", failed.len())));
        }
        Ok(Outcome::Done)
    }

    /// What is to be measured.
    fn cases(&self) -> Result<Vec<Case>, Failure> {
        let call = |error: fiedler::Error| Failure::Call(error.to_string());
        if !self.workloads.is_empty() {
            return self.workloads.iter().map(|name| Case::parse(name).map_err(call)).collect();
        }
        let only: Vec<Family> = self
            .only
            .iter()
            .map(|name| {
                Family::named(name).ok_or_else(|| {
                    let all = Family::MEASURED.map(Family::name).join(", ");
                    Failure::Call(format!("--only: expected some of {all}, found `{name}`"))
                })
            })
            .collect::<Result<_, _>>()?;
        let extent = match (self.quick, self.full) {
            (true, _) => Extent::Quick,
            (_, true) => Extent::Full,
            _ => Extent::Usual,
        };
        Ok(grid(extent).into_iter().filter(|case| only.is_empty() || only.contains(&case.family)).collect())
    }
}

/// What the page is made of.
fn report(all: &[Measured], ctx: &Context) -> Result<Report, Failure> {
    let cpu = format!("CPU, {} threads", ctx.threads());
    let name = |side: Side| match (side, ctx.adapter()) {
        (Side::Gpu, Some(adapter)) => adapter.name.clone(),
        _ => cpu.clone(),
    };
    let mut ceilings = Vec::new();
    for (side, of) in [(Side::Cpu, &Context::cpu()), (Side::Gpu, ctx)] {
        if side == Side::Cpu || ctx.adapter().is_some() {
            let top = fiedler::ops::ceiling::ceilings(of, CEILING, 3)?;
            ceilings.push(Ceiling { side: name(side), copy: top.copy, fma: top.fma });
        }
    }
    let row = |m: &Measured| {
        let [bytes, flops] = m.case.least();
        Row {
            workload: m.case.to_string(),
            family: m.case.family.to_string(),
            size: m.case.size as f64,
            items: m.case.items as f64,
            side: name(m.side),
            on_cpu: m.side == Side::Cpu,
            resident: m.resident.map(|times| times.median),
            transfers: Some(m.transfers.median),
            first: Some(m.first),
            predicted: Some(m.predicted),
            spread: m.transfers.spread(),
            bytes,
            flops,
            note: String::new(),
        }
    };
    let machine = match ctx.adapter() {
        Some(a) => format!("{cpu}; {} ({} {})", a.name, a.backend, a.driver),
        None => cpu.clone(),
    };
    Ok(Report {
        date: today(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        machine,
        command: std::env::args().collect::<Vec<_>>().join(" "),
        ceilings,
        rows: all.iter().map(row).collect(),
    })
}

/// What others took, in ms, by workload.
type Peers = BTreeMap<String, Vec<(String, f64)>>;

fn peers(path: &Path) -> Result<Peers, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::Said(format!("bench: cannot read {}: {error}", path.display())))?;
    let mut all = Peers::new();
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let value: serde_json::Value = serde_json::from_str(line).map_err(|error| {
            Failure::Said(format!("bench: {}:{}: expected a JSON object: {error}", path.display(), i + 1))
        })?;
        if let (Some(workload), Some(peer), Some(ms)) =
            (value["workload"].as_str(), value["peer"].as_str(), value["ms"].as_f64())
        {
            all.entry(workload.to_owned()).or_default().push((peer.to_owned(), ms));
        }
    }
    Ok(all)
}

fn row(m: &Measured, name: &str, peers: Option<&Peers>) -> [String; 8] {
    let spread = m.transfers.spread();
    let others = peers.and_then(|peers| peers.get(&m.case.to_string()));
    [
        m.case.to_string(),
        name.to_owned(),
        m.resident.map_or_else(|| "-".to_owned(), |times| time(times.median)),
        time(m.transfers.median),
        time(m.first),
        format!("{} ({:.2}x)", time(m.predicted), m.predicted / m.transfers.median),
        if spread > NOISE { format!("{spread:.2}, noise") } else { format!("{spread:.2}") },
        others.map_or_else(String::new, |others| {
            others.iter().map(|(peer, ms)| format!("{peer} {}", time(ms / 1e3))).collect::<Vec<_>>().join("; ")
        }),
    ]
}

fn as_json(m: &Measured, name: &str) -> serde_json::Value {
    let [bytes, flops] = m.case.least();
    let ms = |seconds: f64| 1e3 * seconds;
    serde_json::json!({
        "workload": m.case.to_string(), "peer": format!("fiedler {}", env!("CARGO_PKG_VERSION")), "device": name,
        "ms": ms(m.resident.unwrap_or(m.transfers).median), "min": ms(m.transfers.least), "max": ms(m.transfers.most),
        "transfers_ms": ms(m.transfers.median), "first_ms": ms(m.first), "predicted_ms": ms(m.predicted),
        "spread": m.transfers.spread(), "error_share": m.error, "bytes": bytes, "flops": flops,
    })
}

/// How the choices and the predictions fared.
fn judge(all: &[Measured], ctx: &Context, json: bool) {
    let mut pairs = Vec::new();
    for cpu in all.iter().filter(|m| m.side == Side::Cpu) {
        if let Some(gpu) = all.iter().find(|m| m.side == Side::Gpu && m.case == cpu.case) {
            pairs.push((cpu, gpu));
        }
    }
    let mut failed = Vec::new();
    let (mut right, mut worst) = (0, 1.0_f64);
    for (cpu, gpu) in &pairs {
        let (chosen, other) = match cpu.case.choose(ctx, false).side {
            Side::Cpu => (cpu, gpu),
            Side::Gpu => (gpu, cpu),
        };
        let cost = chosen.transfers.median / other.transfers.median;
        if cost <= 1.0 || !differ(chosen, other) {
            right += 1;
        } else {
            worst = worst.max(cost);
            let side = if chosen.side == Side::Cpu { "cpu" } else { "gpu" };
            failed.push(format!("{}: {side} was chosen and takes {cost:.2} times as long", cpu.case));
        }
    }
    let within = all.iter().filter(|m| m.off() <= 2.0).count();
    let seconds = choice_seconds(ctx);
    if json {
        print(serde_json::json!({
            "cells": pairs.len(), "right": right, "worst_cost": worst, "figures": all.len(), "within_2x": within,
            "choice_s": seconds, "failed": failed,
        }));
        return;
    }
    print(format_args!(
        "choices: {right} of {} the faster side, or no slower than noise; the worst costs {worst:.2} times the better",
        pairs.len()
    ));
    print(format_args!("predictions: {within} of {} within 2x", all.len()));
    print(format_args!("a choice takes {}", time(seconds)));
    for line in failed {
        print(format_args!("  {line}"));
    }
    for m in all.iter().filter(|m| m.off() > 2.0) {
        let side = if m.side == Side::Cpu { "cpu" } else { "gpu" };
        print(format_args!(
            "  {} on {side}: predicted {}, took {}",
            m.case,
            time(m.predicted),
            time(m.transfers.median)
        ));
    }
}
