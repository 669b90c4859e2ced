//! Training on a device: all runs of a call make their steps together, and the host decides after epochs.

use super::epochs::{Group, PartScores, Side, Wanted};
use super::grouped::Grouped;
use super::groups::{Grouping, Reader};
use super::running::{Counters, Running};
use super::saving::Saving;
use super::stop::Part;
use crate::clock::Instant;
use crate::device::Gpu;
use crate::error::Result;
use crate::ops::mlp::{DeviceRuns, DeviceSegment, Held, Number, Replica, Samples, Trained, Uploaded};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// A request to the device takes about this long. Between requests, the caller can cancel the training.
const SHORT: Duration = Duration::from_millis(250);

/// The runs that a device trains at the same time, or all before it begins.
pub(super) struct OnDevice<'a, T> {
    grouped: &'a Grouped<'a, T>,
    gpu: &'a Arc<Gpu>,
    saving: Saving<'a>,
    /// A function that receives all runs a few times a second.
    progress: &'a dyn Fn(&[Running<T>]),
    /// The runs that are on the device.
    own: Range<usize>,
    device_runs: Option<DeviceRuns>,
    /// The number of steps of a request.
    short: u64,
}

impl<'a, T: Number> OnDevice<'a, T> {
    pub(super) fn new(
        grouped: &'a Grouped<'a, T>,
        gpu: &'a Arc<Gpu>,
        saving: Saving<'a>,
        progress: &'a dyn Fn(&[Running<T>]),
    ) -> Self {
        Self { grouped, gpu, saving, progress, own: 0..0, device_runs: None, short: 1 }
    }

    /// Trains all runs to their ends, as many at the same time as the device has memory for. The next group of samples
    /// is read and uploaded by another thread. A checkpoint is saved only between epochs, or between groups, because
    /// the sums of an unfinished one are on the device.
    ///
    /// # Errors
    /// Those of [`Trainer::fit_groups`](super::Trainer::fit_groups), and device errors.
    pub(super) fn train(mut self, all: &mut [Running<T>]) -> Result<()> {
        let Grouped { ctx, program, grouping, trainer, .. } = *self.grouped;
        // Where a checkpoint is to be saved, an epoch, or one of several groups, that has begun is completed.
        let _deferred = self.saving.is_on().then(|| self.gpu.defer_cancel());
        let moments = all.iter().map(|r| program.optimizer.moments(&r.run.hyper)).max().unwrap_or(0);
        let together = DeviceRuns::capacity(self.gpu, program, held(&grouping), moments, ctx.device_budget())?.runs;
        for first in (0..all.len()).step_by(together.max(1)) {
            let own = first..(first + together).min(all.len());
            (self.own, self.device_runs, self.short) = (own.clone(), None, trainer.batches(grouping.most()[0]) as u64);
            let (grouped, gpu) = (self.grouped, self.gpu);
            let seeds = grouped.seeds(all[own.clone()].iter().map(|running| &running.run));
            let scalings: Vec<_> = all[own.clone()].iter().map(|running| running.replica.scaling.clone()).collect();
            let read = |number: usize| {
                let mut group = grouped.group(number, &seeds)?;
                let runs: Vec<_> = scalings.iter().map(Option::as_ref).zip(group.parts()).collect();
                let batches = trainer.batches(grouping.counts(number)[0]);
                group.uploaded = Some(Uploaded::upload(gpu, &group.samples, &runs, batches)?);
                Ok(group)
            };
            std::thread::scope(|scope| {
                let mut reader = Reader::new(scope, grouping.groups, &read);
                grouped.train(&mut reader, &mut self, all, &own)
            })?;
            self.fetch(all)?;
        }
        Ok(())
    }

    /// Makes steps of all runs until each has ended or rests, and does what is to do at the ends of epochs if there is
    /// only one group.
    fn advance(&mut self, device_runs: &mut DeviceRuns, samples: &Samples<T>, all: &mut [Running<T>]) -> Result<()> {
        let Grouped { ctx, program, grouping, trainer, .. } = *self.grouped;
        let first = self.own.start;
        let batches = trainer.batches(all[first].parts[0].len());
        loop {
            let active: Vec<usize> = self.own.clone().filter(|&run| !all[run].rests(trainer, &grouping)).collect();
            if active.is_empty() {
                return Ok(());
            }
            let began = Instant::now();
            let segments: Vec<DeviceSegment<'_, T>> = active
                .iter()
                .map(|&run| DeviceSegment {
                    run: run - first,
                    replica: &all[run].replica,
                    epoch: grouping.number(all[run].counters.epoch, all[run].counters.groups_done),
                    batch: all[run].counters.batch,
                    steps: self.left(&all[run], batches, self.short),
                    shuffled: true,
                })
                .collect();
            // Steps do not reach from one of several groups into the next, so they are all of one epoch.
            let rate = |place: usize, number: u64| {
                let running = &all[active[place]];
                running.rate_of(trainer, if grouping.groups == 1 { number } else { running.counters.epoch })
            };
            let trained = device_runs.train(&segments, &rate)?;
            let taken = began.elapsed();
            for (&run, trained) in active.iter().zip(trained) {
                let first = all[run].replica.steps == 0 && trained.steps == 0;
                all[run].follow(trained, batches, program.batch);
                if trained.diverged {
                    all[run].diverge(trainer, program, first);
                }
                all[run].counters.seconds += taken.as_secs_f64() / active.len() as f64;
            }
            if grouping.groups == 1 {
                let at_end = |running: &Running<T>| !running.is_done() && running.counters.batch == batches;
                let ended: Vec<usize> = active.into_iter().filter(|&run| at_end(&all[run])).collect();
                self.end_epochs(device_runs, samples, all, &ended)?;
            }
            if taken < SHORT / 2 {
                self.short = self.short.saturating_mul(2);
            } else if taken > 2 * SHORT {
                self.short = (self.short / 2).max(1);
            }
            let rests = |running: &Running<T>| running.rests(trainer, &grouping) || running.counters.batch == 0;
            let between = all[self.own.clone()].iter().all(rests);
            let cancelled = ctx.cancel().check();
            if self.saving.is_on() && between && (cancelled.is_err() || self.saving.is_due()) {
                fetch(device_runs, &mut all[self.own.clone()])?;
                self.saving.save(program, all);
            }
            if between || !self.saving.is_on() {
                cancelled?;
            }
            (self.progress)(all);
        }
    }

    /// Returns the number of steps to the end of the next epoch after which the host has something to do. If these are
    /// more than `most`, returns that of the whole epochs among them; within an epoch, `most`.
    fn left(&self, running: &Running<T>, batches: usize, most: u64) -> u64 {
        let trainer = self.grouped.trainer;
        let (epoch, last) = (running.counters.epoch, running.epochs(trainer) - 1);
        let next = if trainer.decides_every_epoch() || self.grouped.grouping.groups > 1 {
            epoch
        } else {
            (epoch..last).find(|&epoch| running.records(trainer, epoch)).unwrap_or(last)
        };
        let (batches, begun) = (batches as u64, running.counters.batch as u64);
        let epochs = (most / batches).clamp(1, next - epoch + 1);
        let whole = epochs * batches - begun;
        if epochs == 1 { whole.min(most) } else { whole }
    }

    /// Ends the epochs of the given runs: scores them where that is wanted, and keeps the best parameters.
    fn end_epochs(
        &self,
        device_runs: &mut DeviceRuns,
        samples: &Samples<T>,
        all: &mut [Running<T>],
        ended: &[usize],
    ) -> Result<()> {
        let trainer = self.grouped.trainer;
        let wants = |run: usize| Part::ALL.map(|part| all[run].wants(trainer, part));
        let wanted: Vec<Wanted> = ended.iter().map(|&run| (run, wants(run))).collect();
        let scores = self.score_with(device_runs, samples, all, &wanted)?;
        let program = self.grouped.program;
        let ends = ended.iter().zip(scores);
        let improved: Vec<usize> =
            ends.filter_map(|(&run, scores)| all[run].end_of_epoch(trainer, program, scores).then_some(run)).collect();
        self.keep_from(device_runs, all, &improved)
    }

    fn score_with(
        &self,
        device_runs: &mut DeviceRuns,
        samples: &Samples<T>,
        all: &[Running<T>],
        wanted: &[Wanted],
    ) -> Result<Vec<PartScores>> {
        let (program, first) = (self.grouped.program, self.own.start);
        let mut scores: Vec<PartScores> = vec![[None, None, None]; wanted.len()];
        let mut worker = T::worker(program);
        for part in Part::ALL {
            let part = part as usize;
            let places: Vec<usize> = (0..wanted.len()).filter(|&place| wanted[place].1[part]).collect();
            let runs: Vec<usize> = places.iter().map(|&place| wanted[place].0 - first).collect();
            let width = device_runs.width();
            device_runs.outputs(&runs, part, |which, outputs| {
                let rows = &all[runs[which] + first].parts[part];
                let found = T::scores(&mut worker, program, samples, rows, outputs, width);
                scores[places[which]][part] = Some(found);
            })?;
        }
        Ok(scores)
    }

    fn keep_from(&self, device_runs: &DeviceRuns, all: &mut [Running<T>], improved: &[usize]) -> Result<()> {
        if improved.is_empty() {
            return Ok(());
        }
        let first = self.own.start;
        let mut best: Vec<(usize, Replica<T>)> =
            improved.iter().map(|&run| (run - first, all[run].replica.clone())).collect();
        device_runs.fetch(&mut best.iter_mut().map(|(run, replica)| (*run, replica)).collect::<Vec<_>>())?;
        for (&run, (_, replica)) in improved.iter().zip(best) {
            all[run].best = Some(replica);
        }
        Ok(())
    }

    /// Copies the numbers of the runs from the device, if they are there.
    fn fetch(&self, all: &mut [Running<T>]) -> Result<()> {
        self.device_runs.as_ref().map_or(Ok(()), |device_runs| fetch(device_runs, &mut all[self.own.clone()]))
    }

    /// Works with the runs on the device, which are there once a group was entered.
    fn with_device_runs<R: Default>(
        &mut self,
        work: impl FnOnce(&mut Self, &mut DeviceRuns) -> Result<R>,
    ) -> Result<R> {
        let Some(mut device_runs) = self.device_runs.take() else { return Ok(R::default()) };
        let made = work(self, &mut device_runs);
        self.device_runs = Some(device_runs);
        made
    }
}

/// Returns the samples that a device has at a time.
pub(super) fn held(grouping: &Grouping) -> Held {
    let [trained_on, ..] = grouping.most();
    Held { samples: grouping.largest(), trained_on, groups: grouping.groups.min(2) as u64 }
}

/// Copies the numbers of all runs on the device from there.
fn fetch<T: Number>(device_runs: &DeviceRuns, own: &mut [Running<T>]) -> Result<()> {
    device_runs.fetch(&mut own.iter_mut().enumerate().map(|(run, r)| (run, &mut r.replica)).collect::<Vec<_>>())
}

impl<T: Number> Side<T> for OnDevice<'_, T> {
    fn enter(&mut self, group: &mut Group<'_, T>, all: &mut [Running<T>]) -> Result<()> {
        let Some(data) = group.uploaded.take() else { return Ok(()) };
        match &mut self.device_runs {
            Some(device_runs) => device_runs.exchange(data),
            None => {
                let runs: Vec<&Replica<T>> = all[self.own.clone()].iter().map(|running| &running.replica).collect();
                self.device_runs = Some(DeviceRuns::of(self.gpu, self.grouped.program, data, &runs)?);
            }
        }
        Ok(())
    }

    fn train_on(&mut self, group: &Group<'_, T>, all: &mut [Running<T>]) -> Result<()> {
        for running in &mut all[self.own.clone()] {
            running.begin_group();
        }
        self.with_device_runs(|side, device_runs| side.advance(device_runs, &group.samples, all))
    }

    fn score(&mut self, group: &Group<'_, T>, all: &mut [Running<T>], wanted: &[Wanted]) -> Result<Vec<PartScores>> {
        self.with_device_runs(|side, device_runs| side.score_with(device_runs, &group.samples, all, wanted))
    }

    fn keep(&mut self, all: &mut [Running<T>], improved: &[usize]) -> Result<()> {
        self.with_device_runs(|side, device_runs| side.keep_from(device_runs, all, improved))
    }

    fn save(&mut self, all: &mut [Running<T>]) -> Result<()> {
        if self.saving.is_on() {
            self.fetch(all)?;
            self.saving.save(self.grouped.program, all);
        }
        Ok(())
    }
}

impl<T: Number> Running<T> {
    /// Remembers what the earlier groups of the epoch have added up.
    fn begin_group(&mut self) {
        let Counters { loss, correct, samples, .. } = self.counters;
        self.earlier = (loss, correct, samples);
    }

    /// Goes on to where a device has trained the run.
    fn follow(&mut self, trained: Trained, batches: usize, batch: usize) {
        let counters = &mut self.counters;
        self.replica.steps += trained.steps;
        let position = counters.batch as u64 + trained.steps;
        // An epoch that is complete is not left before its end was seen to, unless a step of the next one went wrong.
        let passed = position.saturating_sub(u64::from(!trained.diverged)) / batches as u64;
        counters.epoch += passed;
        counters.batch = usize::try_from(position - passed * batches as u64).unwrap_or(usize::MAX);
        // The device adds up the steps on a group.
        let (loss, correct, samples) = self.earlier;
        (counters.loss, counters.correct) = (loss + trained.loss, correct + trained.correct);
        counters.samples = samples + (counters.batch * batch).min(self.parts[0].len()) as u64 - trained.lost;
        self.replica.scaler = trained.scaler;
    }
}
