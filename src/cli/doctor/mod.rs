//! `fiedler doctor`: what this machine's adapters offer, what is wrong with them, and what to do about it.

mod advice;
mod checks;
mod json;
mod report;

use super::{Failure, Outcome, Where, print};
use clap::Args;
use fiedler::cache::Cache;
use fiedler::{Adapter, Backend, Context};
use report::Report;

/// Show the adapters of this machine, what they offer, what would be chosen, what is wrong and what to do: kernels are tried on problems
/// whose answers are known, and speed is measured. Exit status 1 if anything is wrong; that there is no GPU is not.
#[derive(Debug, Args)]
pub(super) struct Doctor {
    #[command(flatten)]
    place: Where,
    /// Measure no speed.
    #[arg(long)]
    quick: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        let adapters = Adapter::all();
        let mut problems = Vec::new();
        let ctx = self.open(&adapters, &mut problems)?;
        let cache = Cache::new().user_disk().map_err(|error| Failure::Call(error.to_string()))?;
        let tried = checks::tried(&ctx, !self.quick);
        let report = Report::new(&self.place, adapters, ctx, cache.folder(), tried, problems);
        if self.json {
            print(json::of(&report));
        } else {
            print(&report);
        }
        match report.problems.len() {
            0 => Ok(Outcome::Done),
            1 => Err(Failure::Said("doctor: one thing is wrong".to_owned())),
            many => Err(Failure::Said(format!("doctor: {many} things are wrong"))),
        }
    }

    /// The context that was asked for, or where there is none the CPU, and why.
    fn open(&self, adapters: &[Adapter], problems: &mut Vec<String>) -> Result<Context, Failure> {
        let ctx = match self.place.with(faulty(Context::builder())) {
            Ok(ctx) => ctx,
            Err(Failure::Failed(error)) => {
                problems.push(error.to_string());
                return Where { backend: Some(Backend::Cpu), adapter: None }.context();
            }
            Err(other) => return Err(other),
        };
        // Unasked, the CPU steps in for an adapter that cannot be opened.
        let cpu_alone = self.place.backend() == Backend::Cpu;
        if let (None, false, Some(best)) = (ctx.adapter(), cpu_alone, adapters.iter().find(|a| !a.software)) {
            let why = ctx.without_adapter_because().unwrap_or("no reason was given");
            problems.push(format!("{} is here and cannot be used: {why}", best.name));
        }
        Ok(ctx)
    }
}

/// Faults on purpose, for tests of what is said then: `open`, or `kernel=NAME`.
fn faulty(builder: fiedler::ContextBuilder) -> fiedler::ContextBuilder {
    match std::env::var("FIEDLER_TEST_FAULT").as_deref() {
        Ok("open") => builder.fail_to_open(true),
        Ok(fault) => match fault.strip_prefix("kernel=") {
            Some(name) => builder.spoil_kernel(name),
            None => builder,
        },
        Err(_) => builder,
    }
}
