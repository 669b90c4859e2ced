//! The options that say what is printed.

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What is printed.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Printing {
    /// Print nothing but errors.
    #[arg(long)]
    pub(super) quiet: bool,
    /// Print the report as one JSON object.
    #[arg(long)]
    pub(super) json: bool,
}

impl Printing {
    /// Turns warnings off if nothing but errors is to be printed.
    pub(super) fn begin(self) {
        if self.quiet {
            log::set_max_level(log::LevelFilter::Error);
        }
    }

    /// Returns a progress bar, which is shown only if standard error is a terminal.
    pub(super) fn bar(self, count: usize, template: &str) -> ProgressBar {
        let target = if self.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(count as u64), target);
        bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
    }

    /// Returns a progress bar of work whose end is not known.
    pub(super) fn spinner(self, template: &str) -> ProgressBar {
        let bar = self.bar(0, template);
        bar.unset_length();
        bar
    }
}
