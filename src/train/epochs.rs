//! Takes the runs through the epochs and, if the data set is in several groups, through the groups of each. [`Side`] is
//! what the CPU or a device does for that, and [`OnHost`] is the CPU.

use super::grouped::Grouped;
use super::groups::Reader;
use super::running::{Running, ThreadContext};
use super::saving::Saving;
use super::stop::Part;
use crate::clock::Instant;
use crate::error::Result;
use crate::ops::mlp::{Number, Parts, Samples, Scores, Uploaded, Worker};
use crate::parallel;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Some runs are trained for about this long between two looks at the clock of the whole training.
const ROUND: Duration = Duration::from_millis(200);
/// The number of runs that each thread trains in turns.
const ABREAST: usize = 20;

/// A group that was read.
pub(super) struct Group<'a, T: Clone> {
    pub(super) samples: Cow<'a, Samples<T>>,
    /// The samples of the parts of each run.
    parts: Vec<Parts>,
    /// The same on a device, until the device's runs train on it.
    pub(super) uploaded: Option<Uploaded>,
}

impl<T: Clone> Group<'_, T> {
    /// Returns the samples of the parts of each run.
    pub(super) fn parts(&self) -> &[Parts] {
        &self.parts
    }
}

/// The scores of a run by part.
pub(super) type PartScores = [Option<Scores>; 3];

/// A run, and the parts of which its scores are wanted.
pub(super) type Wanted = (usize, [bool; 3]);

/// What the CPU or a device does with runs.
pub(super) trait Side<T: Number> {
    /// Lets the runs use another group.
    fn enter(&mut self, group: &mut Group<'_, T>, all: &mut [Running<T>]) -> Result<()>;

    /// Trains the runs on the group, or to their ends if there is only one.
    fn train_on(&mut self, group: &Group<'_, T>, all: &mut [Running<T>]) -> Result<()>;

    /// Scores runs on the group.
    fn score(&mut self, group: &Group<'_, T>, all: &mut [Running<T>], wanted: &[Wanted]) -> Result<Vec<PartScores>>;

    /// Keeps the present parameters of runs as their best.
    fn keep(&mut self, all: &mut [Running<T>], improved: &[usize]) -> Result<()>;

    /// Saves a checkpoint.
    fn save(&mut self, all: &mut [Running<T>]) -> Result<()>;
}

impl<'a, T: Number> Grouped<'a, T> {
    /// Reads a group for runs, which are given by the seeds of their splits.
    pub(super) fn group(&self, number: usize, seeds: &[u64]) -> Result<Group<'a, T>> {
        Ok(Group { samples: self.read(number)?, parts: self.parts(number, seeds), uploaded: None })
    }

    /// Trains the runs `own` of all to their ends. If a group cannot be read, or if the work is cancelled between two
    /// groups, a checkpoint is saved first.
    ///
    /// # Errors
    /// Those of [`Grouped::read`] and of the side.
    pub(super) fn train(
        &self,
        reader: &mut Reader<'_, Group<'_, T>>,
        side: &mut dyn Side<T>,
        all: &mut [Running<T>],
        own: &Range<usize>,
    ) -> Result<()> {
        let groups = self.grouping.groups;
        loop {
            let active: Vec<usize> = own.clone().filter(|&run| !all[run].is_done()).collect();
            let Some(&first) = active.first() else { return Ok(()) };
            let (epoch, groups_done) = (all[first].counters.epoch, all[first].counters.groups_done);
            let wants = |all: &[Running<T>], run: usize| Part::ALL.map(|part| all[run].wants(self.trainer, part));
            let scored = active.iter().any(|&run| wants(all, run).contains(&true));
            let are_last = active.iter().all(|&run| all[run].epochs(self.trainer) == epoch + 1);
            let begin = if are_last { 0 } else { self.grouping.group(epoch + 1, 0) };
            let next = if groups_done + 1 < groups {
                self.grouping.group(epoch, groups_done + 1)
            } else if scored {
                0
            } else {
                begin
            };
            let group = self.enter([self.grouping.group(epoch, groups_done), next], reader, side, all, own)?;
            side.train_on(group, all)?;
            if groups == 1 {
                return Ok(());
            }
            let active: Vec<usize> = active.into_iter().filter(|&run| !all[run].is_done()).collect();
            if groups_done + 1 < groups {
                for run in active {
                    (all[run].counters.groups_done, all[run].counters.batch) = (groups_done + 1, 0);
                }
                continue;
            }
            let wanted: Vec<Wanted> = active.iter().map(|&run| (run, wants(all, run))).collect();
            let scores = self.score(reader, side, all, own, &wanted, begin)?;
            let ends = active.iter().zip(scores);
            let improved: Vec<usize> = ends
                .filter_map(|(&run, scores)| all[run].end_of_epoch(self.trainer, self.program, scores).then_some(run))
                .collect();
            side.keep(all, &improved)?;
        }
    }

    /// Scores runs on all groups, whose scores are added in the order of the groups. `next` is the group after them.
    ///
    /// # Errors
    /// The same as for [`Grouped::train`].
    pub(super) fn score(
        &self,
        reader: &mut Reader<'_, Group<'_, T>>,
        side: &mut dyn Side<T>,
        all: &mut [Running<T>],
        own: &Range<usize>,
        wanted: &[Wanted],
        next: usize,
    ) -> Result<Vec<PartScores>> {
        let groups = self.grouping.groups;
        let mut sums: Vec<PartScores> = vec![[None, None, None]; wanted.len()];
        if wanted.iter().all(|(_, parts)| !parts.contains(&true)) {
            return Ok(sums);
        }
        for group in 0..groups {
            let next = if group + 1 < groups { group + 1 } else { next };
            let group = self.enter([group, next], reader, side, all, own)?;
            let found = side.score(group, all, wanted)?;
            for (sum, found) in sums.iter_mut().flatten().zip(found.into_iter().flatten()) {
                match (sum, found) {
                    (Some(sum), Some(found)) => sum.merge(&found),
                    (sum, found) => *sum = found,
                }
            }
        }
        // What is kept of every sample is freed before other runs are scored.
        self.ctx.on_threads(|| {
            let found: Vec<&mut Scores> = sums.iter_mut().flatten().flatten().collect();
            parallel::map(found, |_, scores| scores.settle())
        });
        Ok(sums)
    }

    /// Lets the runs `own` of all use a group, and begins to read the next one.
    fn enter<'r, 'g>(
        &self,
        [group, next]: [usize; 2],
        reader: &'r mut Reader<'_, Group<'g, T>>,
        side: &mut dyn Side<T>,
        all: &mut [Running<T>],
        own: &Range<usize>,
    ) -> Result<&'r Group<'g, T>> {
        let found = self.ctx.cancel().check().and_then(|()| reader.go(group));
        let present = match found {
            Ok(present) => present,
            Err(error) => {
                side.save(all)?;
                return Err(error);
            }
        };
        for (running, parts) in all[own.clone()].iter_mut().zip(&present.parts) {
            running.parts.clone_from(parts);
        }
        side.enter(present, all)?;
        reader.ahead(next);
        Ok(reader.go(group)?)
    }
}

/// The threads of the CPU.
pub(super) struct OnHost<'a, T: Number> {
    grouped: &'a Grouped<'a, T>,
    saving: Saving<'a>,
    /// A function that receives all runs a few times a second.
    progress: &'a dyn Fn(&[Running<T>]),
    /// Memory of threads that is not in use.
    idle: Mutex<Vec<Worker<T>>>,
    /// Whether the best parameters are scored instead of the present ones.
    by_best: bool,
}

impl<'a, T: Number> OnHost<'a, T> {
    pub(super) fn new(grouped: &'a Grouped<'a, T>, saving: Saving<'a>, progress: &'a dyn Fn(&[Running<T>])) -> Self {
        Self { grouped, saving, progress, idle: Mutex::default(), by_best: false }
    }
}

impl<T: Number> OnHost<'_, T> {
    /// Trains all runs to their ends, and returns the scores of their best or last parameters.
    ///
    /// # Errors
    /// Those of [`Trainer::fit_groups`](super::Trainer::fit_groups).
    pub(super) fn train(mut self, all: &mut [Running<T>]) -> Result<Vec<PartScores>> {
        let (grouped, own) = (self.grouped, 0..all.len());
        let seeds = grouped.seeds(all.iter().map(|running| &running.run));
        let read = |number: usize| grouped.group(number, &seeds);
        std::thread::scope(|scope| {
            let mut reader = Reader::new(scope, grouped.grouping.groups, &read);
            grouped.train(&mut reader, &mut self, all, &own)?;
            self.by_best = true;
            let parts = grouped.grouping.all().map(|samples| samples > 0);
            let wanted: Vec<Wanted> = own.clone().map(|run| (run, parts)).collect();
            grouped.score(&mut reader, &mut self, all, &own, &wanted, grouped.grouping.groups - 1)
        })
    }
}

/// Lets a thread work on a group, with memory that serves one thread after another.
fn with_thread<T: Number, R>(
    grouped: &Grouped<'_, T>,
    idle: &Mutex<Vec<Worker<T>>>,
    samples: &Samples<T>,
    work: impl FnOnce(&mut ThreadContext<'_, T>) -> R,
) -> R {
    let kept = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let mut thread = ThreadContext {
        trainer: grouped.trainer,
        program: grouped.program,
        grouping: &grouped.grouping,
        samples,
        cancel: grouped.ctx.cancel(),
        worker: kept.unwrap_or_else(|| T::worker(grouped.program)),
    };
    let made = work(&mut thread);
    idle.lock().unwrap_or_else(PoisonError::into_inner).push(thread.worker);
    made
}

impl<T: Number> Side<T> for OnHost<'_, T> {
    fn enter(&mut self, _: &mut Group<'_, T>, _: &mut [Running<T>]) -> Result<()> {
        Ok(())
    }

    fn train_on(&mut self, group: &Group<'_, T>, all: &mut [Running<T>]) -> Result<()> {
        let Grouped { ctx, trainer, program, grouping, .. } = *self.grouped;
        let (grouped, idle) = (self.grouped, &self.idle);
        loop {
            // The first of the runs that are not done: so few that a round stays short.
            let active =
                all.iter_mut().filter(|running| !running.rests(trainer, &grouping)).take(ABREAST * ctx.threads());
            let active: Vec<&mut Running<T>> = active.collect();
            if active.is_empty() {
                return Ok(());
            }
            // Where there are fewer runs than threads, several threads work on the steps of a run.
            let team = ctx.threads().div_ceil(active.len());
            let share = ROUND.mul_f64((ctx.threads() as f64 / active.len() as f64).clamp(0.05, 1.0));
            ctx.on_threads(|| {
                parallel::for_each(active, |_, running| {
                    with_thread(grouped, idle, &group.samples, |thread| {
                        thread.worker.set_team(team);
                        running.advance(thread, Instant::now() + share);
                    });
                });
            });
            let cancelled = ctx.cancel().check();
            if cancelled.is_err() || self.saving.is_due() {
                self.saving.save(program, all);
            }
            cancelled?;
            (self.progress)(all);
        }
    }

    fn score(&mut self, group: &Group<'_, T>, all: &mut [Running<T>], wanted: &[Wanted]) -> Result<Vec<PartScores>> {
        let (grouped, idle, by_best) = (self.grouped, &self.idle, self.by_best);
        let mut wanted = wanted.iter().peekable();
        let chosen = all.iter_mut().enumerate().filter_map(|(place, running)| {
            wanted.next_if(|(run, _)| *run == place).map(|(_, parts)| (running, *parts))
        });
        let chosen: Vec<(&mut Running<T>, [bool; 3])> = chosen.collect();
        Ok(grouped.ctx.on_threads(|| {
            parallel::map(chosen, |_, (running, parts)| {
                with_thread(grouped, idle, &group.samples, |thread| {
                    Part::ALL.map(|part| parts[part as usize].then(|| running.score(thread, part, by_best)))
                })
            })
        }))
    }

    fn keep(&mut self, all: &mut [Running<T>], improved: &[usize]) -> Result<()> {
        for &run in improved {
            // A copy: the parameters go on changing.
            all[run].best = Some(all[run].replica.clone());
        }
        Ok(())
    }

    fn save(&mut self, all: &mut [Running<T>]) -> Result<()> {
        self.saving.save(self.grouped.program, all);
        Ok(())
    }
}
