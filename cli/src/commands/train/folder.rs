//! The folder of a training: what it may have at the beginning, its checkpoint, and its files at the end.

use super::super::interrupt::Saved;
use super::super::{Failure, Outcome, outputs};
use super::{Train, progress, wrong};
use fiedler::io;
use fiedler::train::{BOUNDS, Fit, LOG, Number, OnProgress, Origin, SUMMARY, WEIGHTS};
use fiedler::{Error, ErrorKind};
use std::path::Path;
use std::time::{Duration, Instant};

/// The name of the file from which an interrupted training goes on.
pub(in crate::commands) const CHECKPOINT: &str = "checkpoint.safetensors";

impl Train {
    /// Returns whether the folder has the results of a training with which this call is to be compared.
    pub(super) fn is_finished(&self) -> bool {
        self.resume && self.output.join(WEIGHTS).exists()
    }

    /// Checks that the folder is new, that --resume can go on there, or that --overwrite is given.
    pub(super) fn check_folder(&self) -> Result<(), Failure> {
        outputs::check_around(&self.output)?;
        let begun = self.is_finished() || self.resume && self.output.join(CHECKPOINT).exists();
        if begun {
            return Ok(());
        }
        let names = if self.resume { outputs::names_in(&self.output) } else { Vec::new() };
        if !names.is_empty() && names.iter().all(|name| [BOUNDS, LOG, SUMMARY].contains(&name.as_str())) {
            let shown = self.output.display();
            return Err(Failure::Call(format!(
                "{shown}: found {} and neither {CHECKPOINT} nor {WEIGHTS}, because a call was ended while it wrote its \
                 results; nothing is left to go on from: remove the folder, and train again",
                names.join(", ")
            )));
        }
        if !names.is_empty() {
            let shown = self.output.display();
            return Err(Failure::Call(format!(
                "{shown}: expected {CHECKPOINT} to resume from, found none; without --resume, --overwrite replaces it"
            )));
        }
        self.overwriting.check_folder(&self.output, ", and --resume goes on from a checkpoint in it")
    }

    /// Reports that the training is finished already, if it is the same one.
    pub(super) fn compared(&self, found: Result<(), Error>) -> Result<Outcome, Failure> {
        found.map_err(refused)?;
        self.say(format_args!("{}: this training is finished", self.output.display()));
        Ok(Outcome::Done)
    }

    /// Does the work with a checkpoint in the folder of the results, which is created if it does not exist. Returns
    /// what the work returns, and the seconds that it took.
    pub(super) fn in_folder<R>(
        &self,
        work: impl FnOnce(&Path, Duration, OnProgress) -> Result<R, Error>,
    ) -> Result<(R, f64), Failure> {
        let new = !self.output.is_dir();
        if new {
            std::fs::create_dir(&self.output)
                .map_err(|error| Failure::Said(format!("cannot create {}: {error}", self.output.display())))?;
        }
        if self.overwriting.replaces() {
            [WEIGHTS, LOG, SUMMARY, BOUNDS, CHECKPOINT].iter().try_for_each(|name| remove(&self.output.join(name)))?;
        }
        let every = Duration::try_from_secs_f64(self.checkpoint).unwrap_or(Duration::MAX);
        let bar = progress::bar(self.quiet);
        let begun = Instant::now();
        let saved = Saved::begin("--resume");
        let made = work(&self.output.join(CHECKPOINT), every, progress::on_progress(bar.clone()));
        drop(saved);
        bar.finish_and_clear();
        if made.is_err() && new {
            // A folder without a checkpoint is of no use; one with a checkpoint is not removed.
            let _ = std::fs::remove_dir(&self.output);
        }
        Ok((made.map_err(refused)?, begun.elapsed().as_secs_f64()))
    }

    /// Writes the files of a training, and removes its checkpoint. The weights are last, because a folder that has them
    /// is finished.
    pub(super) fn store<T: Number>(&self, fit: &Fit<T>, summary: &str, origin: &Origin) -> Result<(), Failure> {
        let checkpoint = self.output.join(CHECKPOINT);
        let written = io::write_text(&self.output.join(LOG), &fit.log())
            .and_then(|()| io::write_text(&self.output.join(SUMMARY), summary))
            .and_then(|()| fit.write_weights(&self.output.join(WEIGHTS), origin));
        match written {
            Err(error) if checkpoint.exists() => {
                let shown = checkpoint.display();
                Err(Failure::Said(format!("{error}; the checkpoint {shown} is kept, and --resume goes on from it")))
            }
            Err(error) => Err(error.into()),
            Ok(()) => remove(&checkpoint),
        }
    }
}

/// Returns a wrong call if a training is refused because it differs from the one in the folder.
fn refused(error: Error) -> Failure {
    match error.kind() {
        ErrorKind::Domain { operation: "resume", .. } => wrong(error),
        _ => error.into(),
    }
}

/// Removes a file that may not exist.
fn remove(path: &Path) -> Result<(), Failure> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::Said(format!("cannot remove {}: {error}", path.display())))
        }
        _ => Ok(()),
    }
}
