//! `fiedler bench`: measures operations on the CPU and on the adapter, and compares them with the predictions.

mod card;
mod judge;
mod peers;
mod show;

use super::outputs::Overwriting;
use super::{Failure, Outcome, Where, print};
use crate::bench::page::page;
use crate::bench::{Case, Extent, grid, measure, on_device};
use clap::Args;
use fiedler::Backend;
use fiedler::policy::{Family, Side};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;
use std::time::Duration;

/// Measure operations on the CPU and on the adapter, and compare them with the predictions.
#[derive(Debug, Args)]
pub(super) struct Bench {
    /// Workloads such as eigh/f32/n=32/batch=1000 [default: a grid of workloads of all families].
    #[arg(value_name = "WORKLOAD")]
    workloads: Vec<String>,
    /// Measure only these families.
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "workloads")]
    only: Vec<String>,
    /// Measure less, in under a minute.
    #[arg(long)]
    quick: bool,
    /// Measure larger sizes too.
    #[arg(long, conflicts_with = "quick")]
    full: bool,
    /// Report how many choices of `auto` picked the faster side, and which choices did not.
    #[arg(long)]
    policy: bool,
    /// Print JSON lines, with the same workload names as dense_peers.py.
    #[arg(long)]
    json: bool,
    /// Write an HTML page with plots, as one file that needs no network.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Show the times of other libraries next to ours, from the JSON lines of dense_peers.py.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    peers: Option<PathBuf>,
    #[command(flatten)]
    card: card::Card,
    #[command(flatten)]
    overwriting: Overwriting,
    #[command(flatten)]
    place: Where,
}

impl Bench {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        if let Some(outcome) = self.card.run(&self.workloads, self.html.as_deref(), self.overwriting, &self.place) {
            return outcome;
        }
        let cases = self.cases()?;
        if self.policy && self.place.backend() != Backend::Auto {
            let what = "bench: --policy judges the choices of `auto`: expected --backend (FIEDLER_BACKEND) auto";
            return Err(Failure::Call(what.to_owned()));
        }
        if let Some(path) = &self.html {
            self.overwriting.check_place(path, &["html", "htm"])?;
        }
        let peers = self.peers.as_deref().map(peers::peers).transpose()?;
        let mut ctx = self.place.context()?;
        let budget = Duration::from_millis(if self.quick { 60 } else { 200 });
        let adapter = ctx.adapter().map_or("none", |a| &a.name).to_owned();
        let short = adapter.split(" (").next().unwrap_or_default().to_owned();
        let ceilings = show::ceilings(&ctx)?;
        let (mut all, mut failed, mut without) = (Vec::new(), Vec::<String>::new(), Vec::new());
        let mut table = show::table(peers.as_ref());
        let style = ProgressStyle::with_template("{bar:30} {pos} of {len} {wide_msg}");
        let bar =
            ProgressBar::new(2 * cases.len() as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        for case in &cases {
            for (side, roof) in [Side::Cpu, Side::Gpu].into_iter().zip([0, 1]) {
                bar.inc(1);
                if side == Side::Gpu && !on_device(case, &ctx) {
                    continue;
                }
                let (name, word) = if side == Side::Cpu { ("CPU", "CPU") } else { (adapter.as_str(), short.as_str()) };
                bar.set_message(format!("{case} on {word}"));
                match measure(case, &ctx, side, budget) {
                    Ok(m) if m.error <= 1.0 => {
                        if self.json {
                            print(show::as_json(&m, name));
                        }
                        table.add_row(show::line(&m, word, ceilings.get(roof), peers.as_ref()));
                        all.push(m);
                    }
                    // A workload whose result is wrong or that cannot be measured is reported as failed, and does not
                    // stop the other workloads. The exit status reports the failure.
                    found => {
                        let (why, lost) = match found {
                            Ok(m) => {
                                (format!("wrong result: its error is {:.2} times the promised bound", m.error), false)
                            }
                            Err(error) => (error.to_string(), error.is_device()),
                        };
                        if self.json {
                            print(serde_json::json!({
                                "workload": case.to_string(), "device": name, "ms": null, "note": why,
                            }));
                        }
                        table.add_row([case.to_string(), word.to_owned(), "-".to_owned(), "failed".to_owned()]);
                        failed.push(format!("{case} on {name}: {why}"));
                        without.push((*case, side, why));
                        if lost {
                            ctx = self.place.context()?;
                        }
                    }
                }
            }
        }
        bar.finish_and_clear();
        if !self.json {
            print(&table);
        }
        if let Some(path) = &self.html {
            fiedler::io::write_text(path, &page(&show::report(&all, &without, &ctx, ceilings)))?;
            // With --json, standard output holds only JSON lines.
            if !self.json {
                print(format_args!("page: {}", path.display()));
            }
        }
        let known = |name: &String| all.iter().any(|m| m.case.to_string() == *name);
        if peers.as_ref().is_some_and(|peers| !peers.keys().any(known)) {
            log::warn!("bench: no workload in the --peers file was measured here");
        }
        if self.policy {
            judge::judge(&all, &ctx, self.json);
        }
        if !failed.is_empty() {
            return Err(Failure::Said(format!("bench: {} failed:\n  {}", failed.len(), failed.join("\n  "))));
        }
        Ok(Outcome::Done)
    }

    /// Returns the workloads to measure.
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
