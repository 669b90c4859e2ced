//! `fiedler bench --card`: a report card of this machine within a number of minutes. Every step runs in a process of
//! its own with a share of the time, and the card is written again after each, so that neither a hanging kernel nor the
//! loss of the device costs what was measured before.
//!
//! A step is another process of the same program, with a hidden option; the step `kernels` has several at a time.
//! `steps.rs` is that process: it reports in JSON lines which item it begins, and the result. `supervise.rs` reads
//! these lines, ends a process that hangs or whose time is up, and starts another one after the item that failed. This
//! file divides the time among the steps. It also writes the card every few seconds during the other steps. `work.rs`
//! says what is measured. `bench/drawn.rs` draws the shapes whose results are checked, and `bench/larger.rs` has the
//! workloads of whole data sets. `bench/page/card.rs` makes the page from the card alone.

mod fault;
mod steps;
mod supervise;
mod work;

use crate::bench::{page, today};
use crate::commands::outputs::Overwriting;
use crate::commands::{Failure, Outcome, Where, print, print_beside};
use clap::Args;
use fiedler::io::write_text;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use supervise::{Ran, Status, supervise};

/// The version of the form of a card, which `docs/hardware/README.md` describes.
const VERSION: u64 = 1;
/// The part of the time that is kept for writing, and its maximum.
const KEPT: (f64, f64) = (0.02, 2.0);
/// How often the card is written during a step.
const EVERY: Duration = Duration::from_secs(5);

/// The largest number of processes that compile kernels at once.
const PARTS: usize = 8;

/// A step: its name, its weight among the steps that are left, whether it needs an adapter, and whether it goes on
/// after an item that failed.
struct Step(&'static str, f64, bool, bool);

/// The steps in the order of their worth.
const STEPS: [Step; 9] = [
    Step("facts", 3.0, false, true),
    Step("self-test", 6.0, false, true),
    Step("accuracy", 15.0, false, true),
    Step("kernels", 14.0, true, true),
    Step("tune", 11.0, false, false),
    Step("rows", 25.0, true, true),
    Step("training", 8.0, true, true),
    Step("encode", 8.0, true, true),
    Step("cpu", 10.0, false, true),
];

/// The options of a report card.
#[derive(Debug, Args)]
pub(super) struct Card {
    /// Make a report card of this machine: its adapter, a self-test, accuracy, kernels, times and predictions. The file
    /// is written again after each step. With --html, also as a page.
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["workloads", "only", "quick", "full", "policy", "json", "peers"])]
    card: Option<PathBuf>,
    /// The time that a report card may take, in minutes [default: 10].
    #[arg(long, value_name = "M", value_parser = minutes, requires = "card")]
    minutes: Option<f64>,
    /// The seed of the shapes and inputs whose results a report card checks [default: 1].
    #[arg(long, value_name = "S", requires = "card")]
    seed: Option<u64>,
    /// Run a step in this process: its name, its seed, its seconds, and the number of items to skip.
    #[arg(long, hide = true, num_args = 4, conflicts_with = "card")]
    card_step: Vec<String>,
}

fn minutes(text: &str) -> Result<f64, String> {
    let found = text.trim().parse().ok().filter(|minutes| (0.05..=1440.0).contains(minutes));
    found.ok_or_else(|| "expected minutes from 0.05 to 1440".to_owned())
}

impl Card {
    /// Runs what the options ask for. Returns `None` if they ask for no card.
    pub(super) fn run(
        &self,
        workloads: &[String],
        html: Option<&Path>,
        overwriting: Overwriting,
        place: &Where,
    ) -> Option<Result<Outcome, Failure>> {
        if let [step, seed, seconds, skip] = self.card_step.as_slice() {
            return Some(self.step(step, [seed, seconds, skip], workloads, place));
        }
        let path = self.card.as_deref()?;
        Some(self.make(path, html, overwriting, place))
    }

    fn step(
        &self,
        step: &str,
        [seed, seconds, skip]: [&String; 3],
        workloads: &[String],
        place: &Where,
    ) -> Result<Outcome, Failure> {
        let wrong = |_| Failure::Call("--card-step: expected NAME SEED SECONDS ITEMS".to_owned());
        let seed = seed.parse().map_err(wrong)?;
        let skip = skip.parse().map_err(wrong)?;
        let seconds: u64 = seconds.parse().map_err(wrong)?;
        let time = Duration::from_secs(seconds);
        steps::run(step, &steps::Given { place, seed, time, skip, words: workloads })
    }

    fn make(
        &self,
        path: &Path,
        html: Option<&Path>,
        overwriting: Overwriting,
        place: &Where,
    ) -> Result<Outcome, Failure> {
        overwriting.check_place(path, &["json"])?;
        if let Some(html) = html {
            overwriting.check_place(html, &["html", "htm"])?;
        }
        let (minutes, seed) = (self.minutes.unwrap_or(10.0), self.seed.unwrap_or(1));
        let mut made = Made {
            path,
            begun: Instant::now(),
            minutes,
            seed,
            faults: fault::check()?,
            ran: STEPS.iter().map(|_| Ran::waiting()).collect(),
            complete: false,
        };
        made.write()?;
        made.steps(place)?;
        made.complete = true;
        let card = made.json();
        let written = made.write().and_then(|()| match html {
            Some(html) => Ok(write_text(html, &page::card(&card))?),
            None => Ok(()),
        });
        if let Err(failure) = written {
            // What was measured is not lost where the card cannot be written.
            print(text(&card));
            return Err(failure);
        }
        print(format_args!("card: {}", path.display()));
        made.outcome()
    }
}

/// A report card in the making.
struct Made<'a> {
    path: &'a Path,
    begun: Instant,
    minutes: f64,
    seed: u64,
    faults: Vec<String>,
    /// What became of each of [`STEPS`].
    ran: Vec<Ran>,
    complete: bool,
}

impl Made<'_> {
    /// Runs the steps until the time is up.
    fn steps(&mut self, place: &Where) -> Result<(), Failure> {
        let whole = 60.0 * self.minutes;
        let end = self.begun + Duration::from_secs_f64(whole - (KEPT.0 * whole).min(KEPT.1));
        for (at, step) in STEPS.iter().enumerate() {
            let Step(name, weight, needs_adapter, again) = *step;
            if let Some(why) = self.without_adapter().filter(|_| needs_adapter) {
                self.ran[at] = Ran::skipped(&why);
                continue;
            }
            let left = end.saturating_duration_since(Instant::now());
            let weights: f64 =
                STEPS[at..].iter().filter(|s| !(s.2 && self.without_adapter().is_some())).map(|s| s.1).sum();
            let share = left.mul_f64(weight / weights);
            let command = |words: &[String], skip: usize, left: Duration| {
                let mut command = this_program();
                let given = [self.seed.to_string(), left.as_secs().to_string(), skip.to_string()];
                command.args(["bench", "--card-step", name]).args(given).args(place.arguments());
                command.arg("--").args(words);
                command
            };
            let ran = if name == "kernels" {
                in_parts(command, share)
            } else {
                let words = if name == "cpu" { self.measured() } else { Vec::new() };
                let (mut written, mut so_far) = (Instant::now(), self.copy());
                supervise(|skip, left| command(&words, skip, left), again, share, &mut |ran| {
                    if written.elapsed() > EVERY {
                        so_far.ran[at] = ran.clone();
                        // An error is reported in the end, if it stays.
                        let _ = so_far.write();
                        written = Instant::now();
                    }
                })
            };
            let of = ran.items.1.map(|of| format!(" of {of}")).unwrap_or_default();
            print_beside(&format!(
                "{name:10} {:7} {:>4}{of} items, {:.1} s of {:.1} s{}",
                ran.status.name(),
                ran.items.0,
                ran.seconds,
                ran.share,
                if ran.why.is_empty() { String::new() } else { format!(": {}", ran.why) }
            ));
            for (item, why) in &ran.failed {
                print_beside(&format!("  failed: {item}: {why}"));
            }
            self.ran[at] = ran;
            if let Err(failure) = self.write() {
                print_beside(&format!("  {}", failure_text(&failure)));
            }
            if crate::commands::interrupt::cancel().is_cancelled() {
                return Err(Failure::Failed(fiedler::ErrorKind::Cancelled.into()));
            }
        }
        Ok(())
    }

    fn copy(&self) -> Self {
        Self { faults: self.faults.clone(), ran: self.ran.clone(), ..*self }
    }

    fn of(&self, step: &str) -> &Ran {
        let at = STEPS.iter().position(|s| s.0 == step).unwrap_or(0);
        &self.ran[at]
    }

    /// Returns why there is no adapter, once that is known.
    fn without_adapter(&self) -> Option<String> {
        self.of("facts").rows.iter().find_map(|row| row["without_adapter"].as_str().map(str::to_owned))
    }

    /// Returns the workloads that were measured on the adapter.
    fn measured(&self) -> Vec<String> {
        let rows = ["rows", "training", "encode"].into_iter().flat_map(|step| &self.of(step).rows);
        rows.filter_map(|row| row["workload"].as_str().map(str::to_owned)).collect()
    }

    fn write(&self) -> Result<(), Failure> {
        let begun: Vec<&str> =
            STEPS.iter().zip(&self.ran).filter(|(_, ran)| ran.status != Status::Waiting).map(|(s, _)| s.0).collect();
        fault::disk(self.path, &begun)?;
        Ok(write_text(self.path, &text(&self.json()))?)
    }

    fn json(&self) -> Value {
        let mut card = json!({
            "card": VERSION, "complete": self.complete, "fiedler": env!("CARGO_PKG_VERSION"), "date": today(),
            "seed": self.seed, "minutes": self.minutes, "seconds": self.begun.elapsed().as_secs_f64(),
            "steps": STEPS.iter().zip(&self.ran).map(|(step, ran)| ran.to_json(step.0)).collect::<Vec<_>>(),
        });
        if !self.faults.is_empty() {
            card["faults_on_purpose"] = self.faults.clone().into();
        }
        for facts in &self.of("facts").rows {
            for (key, value) in facts.as_object().into_iter().flatten() {
                card[key.as_str()] = value.clone();
            }
        }
        let rows = |step: &str| self.of(step).rows.iter();
        card["speed"] = rows("self-test").find_map(|row| row.get("speed").cloned()).unwrap_or_default();
        card["self_test"] = rows("self-test").filter(|row| row.get("speed").is_none()).cloned().collect();
        card["worst_errors"] = worst(rows("accuracy"));
        card["accuracy"] = rows("accuracy").cloned().collect();
        let unused = |row: &&Value| row.get("unused").is_some();
        let ms = rows("kernels").filter(|row| !unused(row));
        let ms: Map<String, Value> =
            ms.filter_map(|row| Some((row["variant"].as_str()?.to_owned(), row["ms"].clone()))).collect();
        card["kernels"] = json!({"unused": rows("kernels").filter(unused).count(), "compile_ms": ms});
        card["rates"] = rows("tune").next().cloned().unwrap_or_default();
        let all: Vec<Value> = ["rows", "training", "encode", "cpu"].into_iter().flat_map(rows).cloned().collect();
        card["predicted"] = predicted(&all);
        card["rows"] = all.into();
        card
    }

    fn outcome(&self) -> Result<Outcome, Failure> {
        let items = STEPS.iter().zip(&self.ran).flat_map(|(step, ran)| {
            let whole = (ran.status == Status::Failed && ran.failed.is_empty()).then(|| ran.why.clone());
            let items = ran.failed.iter().map(|(item, why)| format!("{item}: {why}"));
            items.chain(whole).map(|text| format!("{}: {text}", step.0))
        });
        let failed: Vec<String> = items.collect();
        if failed.is_empty() {
            return Ok(Outcome::Done);
        }
        Err(Failure::Said(format!("bench: {} failed:\n  {}", failed.len(), failed.join("\n  "))))
    }
}

/// Runs a step in several processes at once, one for two cores, which share its items.
fn in_parts(command: impl Fn(&[String], usize, Duration) -> Command + Sync, share: Duration) -> Ran {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let parts = (cores / 2).clamp(1, PARTS);
    let command = &command;
    let one = |part: usize| {
        let words = [part.to_string(), parts.to_string()];
        supervise(|skip, left| command(&words, skip, left), true, share, &mut |_| ())
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..parts).map(|part| scope.spawn(move || one(part))).collect();
        let others = others.into_iter().filter_map(|other| other.join().ok());
        others.fold(one(0), Ran::beside)
    })
}

fn failure_text(failure: &Failure) -> String {
    match failure {
        Failure::Failed(error) => error.to_string(),
        Failure::Call(why) | Failure::Said(why) => why.clone(),
    }
}

/// Returns the command of this program, without arguments. If Python runs it, that is Python with its script or module.
fn this_program() -> Command {
    let before = std::env::args_os().skip(1).take_while(|word| word != "bench").collect::<Vec<OsString>>();
    let mut command = Command::new(std::env::current_exe().unwrap_or_else(|_| "fiedler".into()));
    command.args(before);
    command
}

/// Returns the row with the largest error of each family.
fn worst<'a>(rows: impl Iterator<Item = &'a Value>) -> Value {
    let mut families = BTreeMap::<&str, (f64, &Value)>::new();
    for row in rows {
        let family = row["workload"].as_str().and_then(|name| name.split('/').next()).unwrap_or_default();
        // An infinite error is null in JSON.
        let error = row["error_share"].as_f64().unwrap_or(f64::INFINITY);
        let worst = families.entry(family).or_insert((error, row));
        if error > worst.0 {
            *worst = (error, row);
        }
    }
    families.into_values().map(|(_, row)| row.clone()).collect()
}

/// Compares the times that the static model predicts with those that were measured: for each device and family, the
/// median of their ratios, and how many are within a factor of 2.
fn predicted(rows: &[Value]) -> Value {
    let mut families = BTreeMap::<[&str; 2], Vec<f64>>::new();
    for row in rows {
        let text = |key: &str| row[key].as_str().unwrap_or_default();
        if let (Some(predicted), Some(measured)) = (row["predicted_ms"].as_f64(), row["transfers_ms"].as_f64()) {
            let family = text("workload").split('/').next().unwrap_or_default();
            families.entry([text("device"), family]).or_default().push(predicted / measured);
        }
    }
    let entry = |([device, family], mut ratios): ([&str; 2], Vec<f64>)| {
        ratios.sort_by(f64::total_cmp);
        let within = ratios.iter().filter(|ratio| (0.5..=2.0).contains(*ratio)).count();
        json!({
            "device": device, "family": family, "median_ratio": ratios[ratios.len() / 2], "within_2x": within,
            "of": ratios.len(),
        })
    };
    families.into_iter().map(entry).collect()
}

/// Returns the card as JSON with a line for each entry of a list or an object, so that two cards can be compared line
/// by line.
fn text(card: &Value) -> String {
    let lines = |open: &str, entries: Vec<String>, close: &str| match entries.is_empty() {
        true => format!("{open}{close}"),
        false => format!("{open}\n    {}\n  {close}", entries.join(",\n    ")),
    };
    let entry = |(key, value): (&String, &Value)| {
        let value = match value {
            Value::Array(entries) => lines("[", entries.iter().map(Value::to_string).collect(), "]"),
            Value::Object(entries) => {
                lines("{", entries.iter().map(|(key, value)| format!("{}: {value}", json!(key))).collect(), "}")
            }
            value => value.to_string(),
        };
        format!("  {}: {value}", json!(key))
    };
    let entries: Vec<String> = card.as_object().into_iter().flatten().map(entry).collect();
    format!("{{\n{}\n}}\n", entries.join(",\n"))
}
