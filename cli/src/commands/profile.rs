//! `--profile`: reports where a command spends its time.

use super::outputs::Overwriting;
use super::{Failure, Where};
use clap::Args;
use fiedler::Context;
use std::cell::{Cell, OnceCell};
use std::path::PathBuf;
use std::time::Instant;

/// The option `--profile` and the state of the profile while the command runs.
#[derive(Debug, Args)]
pub(super) struct Profiling {
    /// Print the time of each kernel and of each stage on the host to standard error. With a file, also write a Chrome
    /// trace.
    #[arg(long, value_name = "FILE.json", value_parser = trace_file)]
    #[expect(clippy::option_option, reason = "clap's way of an option whose value may be left out")]
    profile: Option<Option<PathBuf>>,
    #[arg(skip)]
    of: OnceCell<Context>,
    /// The start of the current stage.
    #[arg(skip)]
    began: Cell<Option<Instant>>,
}

/// Accepts only file names that end in .json, because any other name after `--profile` is probably meant as an input.
fn trace_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let fits = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    fits.then_some(path)
        .ok_or_else(|| "expected a file that ends in .json; without a file, put --profile after the inputs".to_owned())
}

impl Profiling {
    /// Starts the first stage. Also checks, before the work begins, that the trace can be written.
    pub(super) fn check(&self, overwriting: Overwriting) -> Result<(), Failure> {
        self.began.set(Some(Instant::now()));
        self.profile.iter().flatten().try_for_each(|path| overwriting.check_place(path, &["json"]))
    }

    /// Opens the context of `place`, with profiling if the call asks for a profile. `device` says whether to look for
    /// an adapter if the call does not ask for one. If `before` is given, the time since the end of the last stage is
    /// recorded as the stage `before`.
    pub(super) fn context(
        &self,
        place: &Where,
        device: bool,
        before: Option<&'static str>,
    ) -> Result<Context, Failure> {
        let began = self.began.replace(Some(Instant::now()));
        let ctx = place.with(Context::builder().profile(self.profile.is_some()).device(device))?;
        if self.profile.is_some() {
            if let (Some(before), Some(began), Some(ended)) = (before, began, self.began.get()) {
                ctx.stage(before, began..ended);
            }
            self.of.get_or_init(|| ctx.clone());
        }
        self.began.set(Some(Instant::now()));
        Ok(ctx)
    }

    /// Records the time since the end of the last stage as `stage`.
    pub(super) fn stage(&self, stage: &'static str) {
        if let (Some(ctx), Some(began)) = (self.of.get(), self.began.replace(Some(Instant::now()))) {
            ctx.stage(stage, began..Instant::now());
        }
    }

    /// Prints the table, and writes the trace if the call asks for one.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        let Some(ctx) = self.of.get() else { return Ok(()) };
        let Some(profile) = ctx.profile()? else { return Ok(()) };
        {
            use std::io::Write as _;
            // An error is ignored here, so that the trace is written even if standard error is closed.
            let _ = write!(std::io::stderr(), "{profile}");
        }
        for path in self.profile.iter().flatten() {
            fiedler::io::write_text(path, &profile.chrome_trace())?;
        }
        Ok(())
    }
}
