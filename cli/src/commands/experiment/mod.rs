//! `fiedler experiment`: plans, runs and reports an experiment that a file describes.

mod shown;
mod verify;

use super::interrupt::Saved;
use super::outputs::Overwriting;
use super::printing::Printing;
use super::{Failure, Outcome, Where, columns, print};
use clap::{Args, Subcommand};
use fiedler::cache::Cache;
use fiedler::experiment::{self, Progress, Report, Spec, Verification};
use fiedler::{Context, ErrorKind};
use indicatif::ProgressBar;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Run an experiment that a file describes: features, a grid of trainings, statistics, a report.
#[derive(Debug, Args)]
#[command(
    after_long_help = "FILE is TOML with the tables experiment (name, seed, repeats, quick), data (source or generate, \
label, ignore, rows, split, layers), features, model, train, grid and compare; every key that is not given has a default, and \
DIR/spec.toml has them all. Relative paths start from the folder of FILE.\n\
DIR receives runs.jsonl (a line for each run), summary.csv (a row for each run), report.html, report.md and report.json. \
An experiment that was interrupted, or whose grid has new values, goes on with `resume`: finished runs are kept, and \
the results have the same bytes as without the interruption.\n\
A file with claims is a verification: each claim passes, fails or is undecided, and a claim that fails is a failure of \
the call (exit status 1; 3 if some are undecided)."
)]
pub(super) struct Experiment {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Say what would be run, where, how long it would take and how much memory it would need.
    Plan(Call),
    /// Run the experiment in a new folder.
    Run {
        #[command(flatten)]
        call: Call,
        #[command(flatten)]
        overwriting: Overwriting,
    },
    /// Go on with an experiment: run what is not finished.
    Resume(Call),
    /// Write the report of the runs that are finished.
    Report(Call),
}

#[derive(Debug, Args)]
struct Call {
    /// The file of the experiment; for report, also the folder of one.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The folder of the results [default: the name of the experiment, with -quick for --quick].
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Try the experiment, with what the key experiment.quick replaces.
    #[arg(long)]
    quick: bool,
    /// Do not read stored features, and do not store new ones.
    #[arg(long)]
    no_cache: bool,
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    printing: Printing,
}

impl Experiment {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        let (Action::Plan(call) | Action::Run { call, .. } | Action::Resume(call) | Action::Report(call)) =
            &self.action;
        let claims = match call.file.is_file() {
            true => Verification::is_one(&call.file)?,
            false => Verification::is_begun(&call.file),
        };
        match (&self.action, claims) {
            (Action::Plan(call), false) => call.plan(),
            (Action::Run { call, overwriting }, false) => call.work(Some(*overwriting)),
            (Action::Resume(call), false) => call.work(None),
            (Action::Report(call), false) => call.report(),
            (Action::Plan(call), true) => call.plan_claims(),
            (Action::Run { call, overwriting }, true) => call.verify(Some(*overwriting)),
            (Action::Resume(call), true) => call.verify(None),
            (Action::Report(call), true) => call.report_claims(),
        }
    }
}

/// Returns a wrong call for what the file of an experiment alone makes wrong.
fn of_file(error: fiedler::Error) -> Failure {
    match error.kind() {
        ErrorKind::Parse { .. } => Failure::Call(error.to_string()),
        _ => error.into(),
    }
}

impl Call {
    /// Reads the experiment.
    fn open(&self) -> Result<experiment::Experiment, Failure> {
        self.printing.begin();
        let spec = Spec::read(&self.file).map_err(of_file)?;
        let spec = if self.quick { spec.quick() } else { spec };
        let name = &spec.experiment.name;
        let own = || PathBuf::from(if self.quick { format!("{name}-quick") } else { name.clone() });
        let folder = self.output.clone().unwrap_or_else(own);
        let experiment = experiment::Experiment::new(spec, folder);
        if self.no_cache {
            return Ok(experiment);
        }
        let cache = Cache::new().user_packs().map_err(|error| Failure::Call(error.to_string()))?;
        Ok(if cache.folder().is_some() { experiment.cache(Arc::new(cache)) } else { experiment })
    }

    /// Opens the context of the experiment. A device is opened only if some part would run on it.
    fn context(&self, experiment: &experiment::Experiment) -> Result<(Context, experiment::Plan), Failure> {
        let cpu = self.place.with(Context::builder().device(false))?;
        let plan = experiment.plan(&cpu)?;
        if !self.place.is_said() && plan.seconds < super::WORTH_OPENING {
            return Ok((cpu, plan));
        }
        let ctx = self.place.context()?;
        let plan = experiment.plan(&ctx)?;
        Ok((ctx, plan))
    }

    /// Prints what is suspicious about the data set.
    fn warn(&self, plan: &experiment::Plan) {
        if !self.printing.quiet && !self.printing.json {
            let data = self.file.display();
            columns::warn(&plan.findings, &data, |names| {
                let listed: Vec<String> = names.split(',').map(|name| format!("\"{name}\"")).collect();
                format!("data.ignore = [{}]", listed.join(", "))
            });
            columns::warn_of_values(&plan.findings, &data, (plan.samples, &plan.class_names), "train.loss = \"mse\"");
        }
    }

    fn plan(&self) -> Result<Outcome, Failure> {
        let experiment = self.open()?;
        let (ctx, plan) = self.context(&experiment)?;
        self.warn(&plan);
        if self.printing.json {
            print(serde_json::to_string(&plan).unwrap_or_default());
        } else if !self.printing.quiet {
            print(shown::plan(&plan, &ctx));
        }
        Ok(Outcome::Done)
    }

    /// Runs the experiment, or goes on with it if `new` is `None`.
    fn work(&self, new: Option<Overwriting>) -> Result<Outcome, Failure> {
        let experiment = self.open()?;
        begins(experiment.folder(), new, experiment.is_begun(), "an experiment")?;
        let (ctx, plan) = self.context(&experiment)?;
        self.warn(&plan);
        clear(experiment.folder(), new)?;
        let bar = self.printing.bar(plan.runs, "{bar:20} {msg}");
        let experiment = experiment.progress(on_progress(bar.clone()));
        let began = Instant::now();
        let saved = Saved::begin("`fiedler experiment resume`");
        let times = experiment.run(&ctx);
        drop(saved);
        bar.finish_and_clear();
        let times = times?;
        let report = experiment.report()?;
        write(&experiment, &report)?;
        let seconds = began.elapsed().as_secs_f64();
        let side = if plan.groups.iter().any(|group| group.side == "gpu") { ctx.adapter() } else { None };
        let side = side.map_or("cpu", |adapter| adapter.name.as_str());
        if self.printing.json {
            let mut made = shown::as_json(&report, times, seconds, side, experiment.folder());
            made["data"] = columns::as_json(&plan.findings);
            made["adjustments"] = plan.adjustments.into();
            print(made);
        } else if !self.printing.quiet {
            print(shown::report(&report, times, seconds, side, experiment.folder()) + "\n" + &shown::data(&plan));
        }
        Ok(outcome(&report))
    }

    fn report(&self) -> Result<Outcome, Failure> {
        self.printing.begin();
        let experiment = if self.file.is_dir() {
            let spec = Spec::read(&self.file.join("spec.toml")).map_err(of_file)?;
            experiment::Experiment::new(spec, &self.file)
        } else {
            self.open()?
        };
        if !experiment.is_begun() {
            let shown = experiment.folder().display();
            return Err(Failure::Call(format!("{shown}: expected the folder of an experiment, found none")));
        }
        let report = experiment.report()?;
        write(&experiment, &report)?;
        if self.printing.json {
            print(serde_json::to_string(&report).unwrap_or_default());
        } else if !self.printing.quiet {
            print(report.to_markdown().trim_end());
        }
        Ok(outcome(&report))
    }
}

/// Checks that a call can begin in a folder, or go on there if `new` is `None`. `begun` says whether it has what `of`
/// names. A folder in which nothing was begun is as good as a new one.
fn begins(folder: &Path, new: Option<Overwriting>, begun: bool, of: &str) -> Result<(), Failure> {
    match new {
        Some(_) if experiment::is_unbegun(folder) => Ok(()),
        Some(new) => {
            new.check_folder(folder, if begun { ", and `fiedler experiment resume` goes on with it" } else { "" })
        }
        None if !begun => Err(Failure::Call(format!("{}: expected the folder of {of}, found none", folder.display()))),
        None => Ok(()),
    }
}

/// Removes what an experiment or a verification has left in the folder of a call that replaces it.
fn clear(folder: &Path, new: Option<Overwriting>) -> Result<(), Failure> {
    if new.is_some_and(Overwriting::replaces) {
        experiment::clear(folder)?;
    }
    Ok(())
}

/// Writes all files of a report.
fn write(experiment: &experiment::Experiment, report: &Report) -> Result<(), Failure> {
    experiment.write_report(report)?;
    let page = crate::experiment::page(report);
    Ok(fiedler::io::write_text(&experiment.folder().join(shown::PAGE), &page)?)
}

/// Returns whether all runs that are finished ended well.
fn outcome(report: &Report) -> Outcome {
    let good = |status: &str| ["Finished", "Stopped"].contains(&status);
    let all = report.configurations.iter().all(|cell| cell.statuses.keys().all(|status| good(status)));
    if all { Outcome::Done } else { Outcome::Uncertified }
}

/// Returns what shows the progress in a bar.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn on_progress(bar: ProgressBar) -> experiment::OnProgress {
    Arc::new(move |progress: &Progress| {
        let Progress { samples, of_samples, runs, of_runs, before, elapsed, .. } = *progress;
        bar.set_length(of_runs as u64);
        bar.set_position(runs as u64);
        if samples < of_samples {
            bar.set_message(format!("features of {samples} of {of_samples} samples; {runs} of {of_runs} runs"));
            return;
        }
        let own = (runs - before).max(1) as f64;
        let left = elapsed.mul_f64((of_runs - runs) as f64 / own);
        let left = if runs > before { indicatif::HumanDuration(left).to_string() } else { "unknown".to_owned() };
        bar.set_message(format!("{runs} of {of_runs} runs; to go: {left}"));
    })
}

/// Returns the path of a file in a folder.
fn within(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}
