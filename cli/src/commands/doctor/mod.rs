//! `fiedler doctor`: shows what this machine's adapters offer, what is wrong with them, and what to do about it.

mod advice;
mod checks;
mod compile;
mod hidden;
pub(super) mod json;
mod report;
mod state;
mod text;

use super::{Failure, Outcome, Where, print};
use checks::Problem;
use clap::Args;
use fiedler::cache::Cache;
use fiedler::forms::{KernelForm, MatmulForm};
use fiedler::{Adapter, Backend, Context, ContextBuilder};
pub(super) use hidden::hidden;
use indicatif::ProgressBar;
use report::Report;
use std::time::Duration;

/// Show the adapters of this machine, what would be chosen, what is wrong and what to do.
#[derive(Debug, Args)]
pub(super) struct Doctor {
    #[command(flatten)]
    place: Where,
    /// Do not measure speed.
    #[arg(long)]
    quick: bool,
    /// Only compile the kernel variants that the adapter may use. With WORDS, only compile the variants whose names
    /// contain WORDS. Prints the time that each family takes and a line for each variant that is refused. The exit
    /// status is 1 if a variant is refused or if there is no adapter. If the environment variable ISA_OUT names a file,
    /// a line is appended to that file before and after each variant.
    #[arg(long, value_name = "WORDS", num_args = 0..=1, default_missing_value = "", conflicts_with = "quick")]
    compile: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        if let Some(words) = &self.compile {
            return compile::run(words, &|| self.with_matrix_units(), self.json);
        }
        let adapters = Adapter::all();
        let mut problems = Vec::new();
        let ctx = self.open(&adapters, &mut problems)?;
        let cache = Cache::new().user_disk().map_err(|error| Failure::Call(error.to_string()))?;
        // The tests take seconds, mostly for compilation; the spinner is shown only on a terminal.
        let bar = ProgressBar::new_spinner().with_message("testing every family of kernels");
        bar.enable_steady_tick(Duration::from_millis(100));
        let tried = checks::tried(&ctx, !self.quick);
        bar.finish_and_clear();
        let report = Report::new(&self.place, adapters, ctx, cache.folder(), tried, problems);
        if self.json {
            print(json::of(&report));
        } else {
            print(report.to_string().trim_end());
        }
        match report.problems.len() {
            0 => Ok(Outcome::Done),
            1 => Err(Failure::Said("doctor: one thing is wrong".to_owned())),
            many => Err(Failure::Said(format!("doctor: {many} things are wrong"))),
        }
    }

    /// Returns the context that the call asks for. If the adapter has matrix units, the builder also names their kernel
    /// form, because matrix units are used only when named.
    fn with_matrix_units(&self) -> Result<Context, Failure> {
        let ctx = self.place.with(faulty(Context::builder())?)?;
        if ctx.adapter().is_some_and(|adapter| adapter.features.contains(&"matrix-units")) {
            return self
                .place
                .with(faulty(Context::builder())?.kernels(&[KernelForm::Matmul(MatmulForm::Cooperative)]));
        }
        Ok(ctx)
    }

    /// Returns the context that the call asks for. If that context cannot be opened, adds the reason to `problems` and
    /// returns a context for the CPU.
    fn open(&self, adapters: &[Adapter], problems: &mut Vec<Problem>) -> Result<Context, Failure> {
        let ctx = match self.place.with(faulty(Context::builder())?) {
            Ok(ctx) => ctx,
            Err(Failure::Failed(error)) => {
                problems.push(Problem::unopened(&error, self.place.adapter().is_some()));
                return Where { backend: Some(Backend::Cpu), adapter: None, ..self.place.clone() }.context();
            }
            Err(other) => return Err(other),
        };
        // If the call leaves the choice open, the CPU replaces an adapter that cannot be opened. The report still
        // counts this as a problem.
        let cpu_alone = self.place.backend() == Backend::Cpu;
        if let (None, false, Some(best)) = (ctx.adapter(), cpu_alone, adapters.iter().find(|a| !a.software)) {
            problems
                .push(Problem::unusable(&best.name, ctx.without_adapter_because().unwrap_or("no reason was given")));
        }
        Ok(ctx)
    }
}

/// Returns the fault that a test asks for: `open`, or `kernel=NAME`. Always `None` in builds without the feature
/// `testing`.
fn fault() -> Option<String> {
    let said = std::env::var("FIEDLER_TEST_FAULT").ok().filter(|fault| !fault.is_empty());
    said.filter(|_| cfg!(feature = "testing"))
}

/// Returns the builder unchanged, because a build without the feature `testing` causes no faults.
#[cfg(not(feature = "testing"))]
#[expect(clippy::unnecessary_wraps, reason = "as the one for tests")]
fn faulty(builder: ContextBuilder) -> Result<ContextBuilder, Failure> {
    Ok(builder)
}

/// Adds the fault that a test asks for to the builder.
#[cfg(feature = "testing")]
fn faulty(builder: ContextBuilder) -> Result<ContextBuilder, Failure> {
    match fault().as_deref() {
        None => Ok(builder),
        Some("open") => Ok(builder.fail_to_open(true)),
        Some(fault) => match fault.strip_prefix("kernel=") {
            Some(name) => Ok(builder.spoil_kernel(name)),
            None => Err(Failure::Call(format!("FIEDLER_TEST_FAULT: expected open or kernel=NAME, found `{fault}`"))),
        },
    }
}
