//! `--profile`: where the time of a command went.

use super::{Failure, Where, check_place};
use clap::Args;
use fiedler::Context;
use std::cell::{Cell, OnceCell};
use std::path::PathBuf;
use std::time::Instant;

/// Whether a command says where its time went.
#[derive(Debug, Args)]
pub(super) struct Profiling {
    /// Print on standard error where the time went, by kernel and by stage of the host; with a file, write a Chrome trace of it too.
    #[arg(long, value_name = "FILE.json", value_parser = trace_file)]
    #[expect(clippy::option_option, reason = "clap's way of an option whose value may be left out")]
    profile: Option<Option<PathBuf>>,
    #[arg(skip)]
    of: OnceCell<Context>,
    /// When the stage that goes on began.
    #[arg(skip)]
    began: Cell<Option<Instant>>,
}

/// A name that ends otherwise is rather an input that stands behind the option.
fn trace_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let fits = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    fits.then_some(path).ok_or_else(|| "expected a file that ends in .json, or the option behind the inputs".to_owned())
}

impl Profiling {
    /// Whether the trace can be written: asked before the work is done. The first stage begins.
    pub(super) fn check(&self) -> Result<(), Failure> {
        self.began.set(Some(Instant::now()));
        self.profile.iter().flatten().try_for_each(|path| check_place(path, &["json"]))
    }

    /// The context of `place`, which books what it does where a profile is asked for; `device`: an adapter may be looked for unasked. What
    /// went on till now is the stage `before`, if any.
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

    /// Books what went on since the last stage ended.
    pub(super) fn stage(&self, stage: &'static str) {
        if let (Some(ctx), Some(began)) = (self.of.get(), self.began.replace(Some(Instant::now()))) {
            ctx.stage(stage, began..Instant::now());
        }
    }

    /// Prints the table, and writes the trace if one is asked for.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        let Some(ctx) = self.of.get() else { return Ok(()) };
        let Some(profile) = ctx.profile()? else { return Ok(()) };
        {
            use std::io::Write as _;
            // Where nobody can hear it, the trace is left.
            let _ = write!(std::io::stderr(), "{profile}");
        }
        for path in self.profile.iter().flatten() {
            fiedler::io::write_text(path, &profile.chrome_trace())?;
        }
        Ok(())
    }
}
