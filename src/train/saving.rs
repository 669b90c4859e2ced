//! When checkpoints are saved. One that cannot be written ends no training.

use super::checkpoint::Checkpoint;
use super::running::Running;
use crate::clock::Instant;
use crate::ops::mlp::{Number, Program};
use std::time::Duration;

/// The checkpoints of a training, if it has any.
#[derive(Debug)]
pub(super) struct Saving<'a> {
    checkpoint: Option<(&'a Checkpoint<'a>, Duration)>,
    saved: Instant,
    /// Whether the last one could not be written.
    failed: bool,
}

impl<'a> Saving<'a> {
    pub(super) fn new(checkpoint: Option<(&'a Checkpoint<'a>, Duration)>) -> Self {
        Self { checkpoint, saved: Instant::now(), failed: false }
    }

    /// Returns whether there are checkpoints.
    pub(super) fn is_on(&self) -> bool {
        self.checkpoint.is_some()
    }

    /// Returns whether a checkpoint is due.
    pub(super) fn is_due(&self) -> bool {
        self.checkpoint.is_some_and(|(_, every)| self.saved.elapsed() >= every)
    }

    /// Saves a checkpoint. If that fails, the one before stays as it is, and the next one is tried when it is due.
    /// There is one warning until one succeeds again.
    pub(super) fn save<T: Number>(&mut self, program: &Program, all: &[Running<T>]) {
        let Some((checkpoint, _)) = self.checkpoint else { return };
        let saved = checkpoint.save(program, all);
        self.saved = Instant::now();
        if let Err(error) = &saved
            && !self.failed
        {
            log::warn!(
                "no checkpoint: {error}; an earlier one stays as it is, and the next one is tried when it is due"
            );
        }
        self.failed = saved.is_err();
    }
}
