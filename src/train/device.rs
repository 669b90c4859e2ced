//! Training on a device: all runs of a call make their steps together, and the host decides after epochs.

use super::checkpoint::Checkpoint;
use super::running::{RunStatus, Running};
use super::stop::Part;
use super::trainer::Trainer;
use crate::context::Context;
use crate::device::Gpu;
use crate::error::Result;
use crate::ops::mlp::{Fleet, Leg, Number, Program, Replica, Samples, Scores, Trained};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A request to the device takes about this long. Between requests, the caller can cancel the training.
const SHORT: Duration = Duration::from_millis(250);

/// What a training on a device is called with.
pub(super) struct OnDevice<'a, T> {
    pub(super) trainer: &'a Trainer,
    pub(super) ctx: &'a Context,
    pub(super) gpu: &'a Arc<Gpu>,
    pub(super) program: &'a Program,
    pub(super) samples: &'a Samples<T>,
    pub(super) checkpoint: Option<(&'a Checkpoint<'a>, Duration)>,
    /// A function that receives all runs a few times a second.
    pub(super) progress: &'a dyn Fn(&[Running<T>]),
}

impl<T: Number> OnDevice<'_, T> {
    /// Trains all runs to their ends, as many at the same time as the device has memory for. A checkpoint is saved only
    /// between epochs, because the sums of an unfinished epoch are on the device.
    ///
    /// # Errors
    /// Those of [`Trainer::fit`], and device errors.
    pub(super) fn train(&self, all: &mut [Running<T>]) -> Result<()> {
        let moments = all.iter().map(|r| self.program.optimizer.moments(&r.run.hyper)).max().unwrap_or(0);
        let budget = self.ctx.memory_budget();
        let trained_on = all.first().map_or(0, |running| running.parts[0].len());
        let together = Fleet::capacity(self.gpu, self.program, self.samples.len(), trained_on, moments, budget)?.runs;
        let mut saved = Instant::now();
        for first in (0..all.len()).step_by(together.max(1)) {
            self.train_some(all, first, (first + together).min(all.len()), &mut saved)?;
        }
        Ok(())
    }

    fn train_some(&self, all: &mut [Running<T>], first: usize, end: usize, saved: &mut Instant) -> Result<()> {
        let batches = self.trainer.batches(all[first].parts[0].len());
        let own: Vec<_> = all[first..end].iter().map(|running| (&running.replica, &running.parts)).collect();
        let mut fleet = Fleet::new(self.gpu, self.program, self.samples, &own, batches)?;
        let mut short = batches as u64;
        loop {
            let active: Vec<usize> = (first..end).filter(|&run| !all[run].is_done()).collect();
            if active.is_empty() {
                break;
            }
            let began = Instant::now();
            let legs: Vec<Leg<'_, T>> = active
                .iter()
                .map(|&run| Leg {
                    run: run - first,
                    replica: &all[run].replica,
                    epoch: all[run].counters.epoch,
                    batch: all[run].counters.batch,
                    steps: self.left(&all[run], batches, short),
                    shuffled: true,
                })
                .collect();
            let trained = fleet.train(&legs, &|place, epoch| all[active[place]].rate_of(self.trainer, epoch))?;
            let taken = began.elapsed();
            for (&run, trained) in active.iter().zip(trained) {
                all[run].follow(trained, batches, self.program.batch);
                all[run].counters.seconds += taken.as_secs_f64() / active.len() as f64;
            }
            let ended: Vec<usize> =
                active.into_iter().filter(|&run| !all[run].is_done() && all[run].counters.batch == batches).collect();
            self.end_epochs(&mut fleet, all, &ended, first)?;
            if taken < SHORT / 2 {
                short = short.saturating_mul(2);
            } else if taken > 2 * SHORT {
                short = (short / 2).max(1);
            }
            let between = all[first..end].iter().all(|running| running.is_done() || running.counters.batch == 0);
            let cancelled = self.ctx.cancel().is_cancelled();
            if let Some((checkpoint, every)) = &self.checkpoint
                && between
                && (cancelled || saved.elapsed() >= *every)
            {
                self.fetch(&fleet, all, first..end)?;
                checkpoint.save(self.program, all)?;
                *saved = Instant::now();
            }
            self.ctx.cancel().check()?;
            (self.progress)(all);
        }
        self.fetch(&fleet, all, first..end)
    }

    /// Returns the number of steps to the end of the next epoch after which the host has something to do. If these are
    /// more than `most`, returns that of the whole epochs among them; within an epoch, `most`.
    fn left(&self, running: &Running<T>, batches: usize, most: u64) -> u64 {
        let (epoch, last) = (running.counters.epoch, running.epochs(self.trainer) - 1);
        let next = if self.trainer.decides_every_epoch() {
            epoch
        } else {
            (epoch..last).find(|&epoch| running.records(self.trainer, epoch)).unwrap_or(last)
        };
        let (batches, begun) = (batches as u64, running.counters.batch as u64);
        let epochs = (most / batches).clamp(1, next - epoch + 1);
        let whole = epochs * batches - begun;
        if epochs == 1 { whole.min(most) } else { whole }
    }

    /// Ends the epochs of the given runs: scores them where that is wanted, and keeps the best parameters.
    fn end_epochs(&self, fleet: &mut Fleet, all: &mut [Running<T>], ended: &[usize], first: usize) -> Result<()> {
        let mut scores: Vec<[Option<Scores>; 3]> = vec![[None, None, None]; ended.len()];
        let mut worker = T::worker(self.program);
        for part in Part::ALL {
            let wanted: Vec<usize> =
                (0..ended.len()).filter(|&place| all[ended[place]].wants(self.trainer, part)).collect();
            let runs: Vec<usize> = wanted.iter().map(|&place| ended[place] - first).collect();
            let width = fleet.width();
            fleet.outputs(&runs, part as usize, |which, outputs| {
                let place = wanted[which];
                let rows = &all[ended[place]].parts[part as usize];
                let found = T::scores(&mut worker, self.program, self.samples, rows, outputs, width);
                scores[place][part as usize] = Some(found);
            })?;
        }
        let mut improved = Vec::new();
        for (&run, scores) in ended.iter().zip(scores) {
            if all[run].end_of_epoch(self.trainer, self.program, scores) {
                improved.push(run);
            }
        }
        if improved.is_empty() {
            return Ok(());
        }
        let mut best: Vec<(usize, Replica<T>)> =
            improved.iter().map(|&run| (run - first, all[run].replica.clone())).collect();
        fleet.fetch(&mut best.iter_mut().map(|(run, replica)| (*run, replica)).collect::<Vec<_>>())?;
        for (run, (_, replica)) in improved.into_iter().zip(best) {
            all[run].best = Some(replica);
        }
        Ok(())
    }

    /// Copies the numbers of runs from the device.
    fn fetch(&self, fleet: &Fleet, all: &mut [Running<T>], runs: Range<usize>) -> Result<()> {
        let mut own: Vec<_> = all[runs].iter_mut().enumerate().map(|(run, r)| (run, &mut r.replica)).collect();
        fleet.fetch(&mut own)
    }
}

impl<T: Number> Running<T> {
    /// Goes on to where a device has trained the run.
    fn follow(&mut self, trained: Trained, batches: usize, batch: usize) {
        let counters = &mut self.counters;
        let first = self.replica.steps == 0 && trained.steps == 0;
        self.replica.steps += trained.steps;
        let position = counters.batch as u64 + trained.steps;
        // An epoch that is complete is not left before its end was seen to.
        let passed = position.saturating_sub(1) / batches as u64;
        counters.epoch += passed;
        counters.batch = usize::try_from(position - passed * batches as u64).unwrap_or(usize::MAX);
        (counters.loss, counters.correct) = (trained.loss, trained.correct);
        counters.samples = (counters.batch * batch).min(self.parts[0].len()) as u64 - trained.lost;
        self.replica.scaler = trained.scaler;
        if trained.diverged {
            counters.status = Some(if first { RunStatus::NonFinite } else { RunStatus::Diverged });
        }
    }
}
