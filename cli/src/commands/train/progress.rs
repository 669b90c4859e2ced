//! The progress bar of a training.

use fiedler::train::{OnProgress, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::Arc;
use std::time::Duration;

/// Returns a progress bar, which is shown only if standard error is a terminal and the call is not quiet.
pub(super) fn bar(quiet: bool) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(1), target);
    let template = "{bar:20} {msg}";
    bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Returns what shows the progress in a bar.
#[expect(clippy::cast_precision_loss, reason = "shown with few digits")]
pub(super) fn on_progress(bar: ProgressBar) -> OnProgress {
    Arc::new(move |progress: &Progress| {
        let Progress { runs, ended, stopped, steps, at_most, expected, elapsed, bytes, groups } = *progress;
        let rate = steps as f64 / elapsed.as_secs_f64();
        let left = |steps: u64| Duration::from_secs_f64((steps as f64 / rate.max(1.0)).ceil());
        bar.set_length(steps + at_most);
        bar.set_position(steps);
        bar.set_message(format!(
            "{ended} of {runs} runs ended, {stopped} of them early; {rate:.0} steps a second; to go: {} at most, \
             {} expected; {} MB{}",
            indicatif::HumanDuration(left(at_most)),
            indicatif::HumanDuration(left(expected)),
            bytes / 1_000_000,
            if groups > 1 { format!(", samples in {groups} groups") } else { String::new() }
        ));
    })
}
