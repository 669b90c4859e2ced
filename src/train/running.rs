//! One run on its way: its epochs, its best parameters, its history.

use super::Run;
use super::groups::Grouping;
use super::schedule::{Plateau, warm_up};
use super::stop::{Metric, Part};
use super::trainer::Trainer;
use crate::cancel::Cancel;
use crate::clock::Instant;
use crate::ops::mlp::{Number, Parts, Program, Replica, Samples, Scores, Segment, Tally, Work, Worker};
use std::fmt;
use std::time::Duration;

/// A segment of an epoch takes about this long, so that a run notices soon that it is to stop.
const SEGMENT: Duration = Duration::from_millis(10);

/// The number of epochs of a run that are recorded. If there are more epochs, only every second, third, ... is.
pub(super) const RECORDED: u64 = 1000;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunStatus {
    /// It was trained to its last epoch.
    Finished,
    /// The stopping rule ended it.
    Stopped,
    /// Its loss became NaN or infinite, or, in mixed precision, numbers exceeded the range of f16 however small the
    /// loss scale was. Its parameters are those before that step, or those of its best epoch if there is a stopping
    /// rule; if it was the last step that went wrong, they are useless.
    Diverged,
    /// Its first loss was NaN or infinite: the inputs or the initial parameters are too large. In f16, such a step is
    /// skipped, so that these runs end as `Diverged`.
    NonFinite,
    /// The training was cancelled before its end.
    Cancelled,
}

impl RunStatus {
    /// All statuses, in the order of their codes in checkpoints.
    pub(super) const ALL: [Self; 5] = [Self::Finished, Self::Stopped, Self::Diverged, Self::NonFinite, Self::Cancelled];

    /// Returns the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Finished => "Finished",
            Self::Stopped => "Stopped",
            Self::Diverged => "Diverged",
            Self::NonFinite => "NonFinite",
            Self::Cancelled => "Cancelled",
        }
    }

    /// Returns whether the run ended in a way that its results can be used.
    #[must_use]
    pub fn is_good(self) -> bool {
        matches!(self, Self::Finished | Self::Stopped)
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is recorded of an epoch. Numbers that were not computed are NaN.
#[derive(Clone, Copy, Debug)]
pub struct Epoch {
    /// The number of the epoch, counted from 0.
    pub epoch: u64,
    /// The learning rate.
    pub rate: f64,
    /// The mean of the losses of the steps, each before its update.
    pub loss: f64,
    /// The share of samples whose class was predicted, each before the update of its step.
    pub accuracy: f64,
    /// The metrics of the validation samples, in the order of [`Metric::ALL`].
    pub validation: [f64; Metric::ALL.len()],
    /// The loss scale at the end of the epoch; NaN if losses are not scaled.
    pub scale: f64,
    /// The number of steps that the run has skipped so far.
    pub skipped: u64,
}

impl Epoch {
    /// The number of numbers.
    pub(super) const NUMBERS: usize = Self::EARLIER + Metric::ALL.len() - 5;

    /// The number of numbers in checkpoints that have the first five metrics alone. The others follow them.
    pub(super) const EARLIER: usize = 11;

    #[expect(clippy::cast_precision_loss, reason = "a number of epochs")]
    pub(super) fn numbers(&self) -> [f64; Self::NUMBERS] {
        let mut all = [0.0; Self::NUMBERS];
        let (first, later) = self.validation.split_at(5);
        all[..4].copy_from_slice(&[self.epoch as f64, self.rate, self.loss, self.accuracy]);
        all[4..9].copy_from_slice(first);
        all[9..Self::EARLIER].copy_from_slice(&[self.scale, self.skipped as f64]);
        all[Self::EARLIER..].copy_from_slice(later);
        all
    }

    /// Metrics that the numbers lack are NaN.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of epochs")]
    pub(super) fn of_numbers(all: &[f64]) -> Self {
        let mut validation = [f64::NAN; Metric::ALL.len()];
        let metrics = all[4..9].iter().chain(&all[Self::EARLIER..]);
        validation.iter_mut().zip(metrics).for_each(|(own, &value)| *own = value);
        let (epoch, skipped) = (all[0] as u64, all[10] as u64);
        Self { epoch, rate: all[1], loss: all[2], accuracy: all[3], validation, scale: all[9], skipped }
    }
}

/// The numbers that a run needs to go on after an interruption, in addition to its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Counters {
    pub(super) epoch: u64,
    /// The number of groups of the epoch before the present one; 0 if all samples are in one group.
    pub(super) groups_done: usize,
    /// The next step on the present group.
    pub(super) batch: usize,
    /// What the steps of the epoch have added up so far.
    pub(super) loss: f64,
    pub(super) correct: u64,
    pub(super) samples: u64,
    pub(super) best: f64,
    pub(super) best_epoch: u64,
    /// The number of epochs since the best.
    pub(super) waited: u64,
    pub(super) plateau: Plateau,
    pub(super) seconds: f64,
    pub(super) status: Option<RunStatus>,
}

/// A run.
#[derive(Debug)]
pub(super) struct Running<T> {
    pub(super) run: Run,
    pub(super) replica: Replica<T>,
    /// The parameters of the best epoch.
    pub(super) best: Option<Replica<T>>,
    /// The samples of each part of the present group.
    pub(super) parts: Parts,
    pub(super) counters: Counters,
    pub(super) history: Vec<Epoch>,
    /// What the steps on the earlier groups of the epoch have added up: loss, correct, samples. A device counts from
    /// the beginning of a group.
    pub(super) earlier: (f64, u64, u64),
    /// The number of steps that are made before the clock is read.
    steps: usize,
}

/// What a thread needs to train any run.
pub(super) struct ThreadContext<'a, T: Number> {
    pub(super) trainer: &'a Trainer,
    pub(super) program: &'a Program,
    pub(super) grouping: &'a Grouping,
    pub(super) samples: &'a Samples<T>,
    pub(super) cancel: &'a Cancel,
    pub(super) worker: Worker<T>,
}

impl<T: Number> Running<T> {
    pub(super) fn new(run: Run, replica: Replica<T>) -> Self {
        let counters = Counters {
            epoch: 0,
            groups_done: 0,
            batch: 0,
            loss: 0.0,
            correct: 0,
            samples: 0,
            best: f64::NAN,
            best_epoch: 0,
            waited: 0,
            plateau: Plateau::new(),
            seconds: 0.0,
            status: None,
        };
        let (parts, history, earlier) = (Parts::default(), Vec::new(), (0.0, 0, 0));
        Self { run, replica, best: None, parts, counters, history, earlier, steps: 1 }
    }

    pub(super) fn is_done(&self) -> bool {
        self.counters.status.is_some()
    }

    /// Returns whether the run has ended, or has made all steps on the present one of several groups.
    pub(super) fn rests(&self, trainer: &Trainer, grouping: &Grouping) -> bool {
        self.is_done() || grouping.groups > 1 && self.counters.batch == trainer.batches(self.parts[0].len())
    }

    /// Trains until `until`, to the end of the run or of one of several groups, or until the work is cancelled. Where
    /// it is interrupted changes no bit of the result.
    pub(super) fn advance(&mut self, thread: &mut ThreadContext<'_, T>, until: Instant) {
        let begin = Instant::now();
        while !self.rests(thread.trainer, thread.grouping) && Instant::now() < until && !thread.cancel.is_cancelled() {
            self.segment(thread);
        }
        self.counters.seconds += begin.elapsed().as_secs_f64();
    }

    fn segment(&mut self, thread: &mut ThreadContext<'_, T>) {
        let (trainer, counters) = (thread.trainer, self.counters);
        let batches = trainer.batches(self.parts[0].len());
        let end = batches.min(counters.batch + self.steps);
        let segment = Segment {
            rows: &self.parts[0],
            shuffled: true,
            epoch: thread.grouping.number(counters.epoch, counters.groups_done),
            batches: counters.batch..end,
            rate: self.rate(trainer),
            loss: counters.loss,
            traces: false,
        };
        let begin = Instant::now();
        let work = Work { program: thread.program, samples: thread.samples, replica: &mut self.replica };
        let Tally { loss, correct, samples, diverged, .. } = T::train(&mut thread.worker, work, &segment);
        let taken = begin.elapsed();
        if end - counters.batch == self.steps {
            self.steps = if taken < SEGMENT / 2 { self.steps * 2 } else { self.steps };
            self.steps = if taken > SEGMENT * 2 { (self.steps / 2).max(1) } else { self.steps };
        }
        let counters = &mut self.counters;
        counters.loss = loss;
        counters.correct += correct;
        counters.samples += samples;
        counters.batch = end;
        if diverged {
            self.diverge(trainer, thread.program, self.replica.steps == 0);
            return;
        }
        if end == batches && thread.grouping.groups == 1 {
            let scores = Part::ALL.map(|part| self.wants(trainer, part).then(|| self.score(thread, part, false)));
            if self.end_of_epoch(trainer, thread.program, scores) {
                // A copy: the parameters go on changing.
                self.best = Some(self.replica.clone());
            }
        }
    }

    /// Returns the largest number of epochs of this run.
    pub(super) fn epochs(&self, trainer: &Trainer) -> u64 {
        self.run.epochs.unwrap_or(trainer.epochs)
    }

    /// Returns whether an epoch is recorded.
    pub(super) fn records(&self, trainer: &Trainer, epoch: u64) -> bool {
        let epochs = self.epochs(trainer);
        epoch + 1 == epochs || epoch.is_multiple_of(epochs.div_ceil(RECORDED))
    }

    fn rate(&self, trainer: &Trainer) -> f64 {
        self.rate_of(trainer, self.counters.epoch)
    }

    /// Returns the learning rate of an epoch.
    pub(super) fn rate_of(&self, trainer: &Trainer, epoch: u64) -> f64 {
        let factor = trainer.schedule.factor(epoch, self.epochs(trainer)) * self.counters.plateau.factor;
        self.run.hyper.learning_rate * factor * warm_up(epoch, trainer.warm_up)
    }

    /// Returns whether the end of this epoch needs the scores of a part.
    pub(super) fn wants(&self, trainer: &Trainer, part: Part) -> bool {
        let recorded = self.records(trainer, self.counters.epoch);
        let watched = trainer.stop.is_some_and(|stop| stop.part == part);
        watched || part == Part::Validation && recorded && !self.parts[part as usize].is_empty()
    }

    /// Ends the run in an epoch, which is recorded as far as it was made. `first` says whether no step was made before.
    pub(super) fn diverge(&mut self, trainer: &Trainer, program: &Program, first: bool) {
        self.history.push(self.record(trainer, program));
        self.counters.status = Some(if first { RunStatus::NonFinite } else { RunStatus::Diverged });
    }

    /// Returns the record of the present epoch, without scores.
    #[expect(clippy::cast_precision_loss, reason = "numbers of samples")]
    fn record(&self, trainer: &Trainer, program: &Program) -> Epoch {
        let Counters { epoch, loss, correct, samples, .. } = self.counters;
        let (loss, accuracy) = (loss / samples as f64, correct as f64 / samples as f64);
        let accuracy = if program.loss.takes_labels() { accuracy } else { f64::NAN };
        let (mut scale, mut skipped) = (f64::NAN, 0);
        if program.mixed.scales() {
            (scale, skipped) = (self.replica.scaler.scale.into(), self.replica.scaler.skipped.into());
        }
        Epoch {
            epoch,
            rate: self.rate(trainer),
            loss,
            accuracy,
            validation: [f64::NAN; Metric::ALL.len()],
            scale,
            skipped,
        }
    }

    /// Ends an epoch, whose wanted scores are given by part. Returns whether the present parameters are the best so
    /// far.
    pub(super) fn end_of_epoch(&mut self, trainer: &Trainer, program: &Program, scores: [Option<Scores>; 3]) -> bool {
        let mut record = self.record(trainer, program);
        let epoch = record.epoch;
        let last = epoch + 1 == self.epochs(trainer);
        let mut value = record.loss;
        if let Some(stop) = trainer.stop
            && let Some(scores) = &scores[stop.part as usize]
        {
            value = stop.metric.of(scores);
        }
        if let Some(scores) = &scores[Part::Validation as usize] {
            record.validation = Metric::ALL.map(|metric| metric.of(scores));
        }
        if self.records(trainer, epoch) {
            self.history.push(record);
        }
        let larger = trainer.stop.is_some_and(|stop| stop.metric.larger_is_better());
        let counters = &mut self.counters;
        counters.plateau.observe(trainer.schedule, value, larger);
        (counters.loss, counters.correct, counters.samples) = (0.0, 0, 0);
        (counters.groups_done, counters.batch) = (0, 0);
        counters.epoch += 1;
        let mut improved = false;
        if let Some(stop) = trainer.stop {
            if stop.improves(value, counters.best) {
                (counters.best, counters.best_epoch, counters.waited) = (value, epoch, 0);
                improved = true;
            } else {
                counters.waited += 1;
            }
            if counters.waited > stop.patience {
                counters.status = Some(RunStatus::Stopped);
            }
        }
        if last {
            counters.status.get_or_insert(RunStatus::Finished);
        }
        improved
    }

    /// Returns the scores of a part of the present group, by the best parameters or by the present ones.
    pub(super) fn score(&mut self, thread: &mut ThreadContext<'_, T>, part: Part, by_best: bool) -> Scores {
        let replica = if by_best { self.best.as_mut().unwrap_or(&mut self.replica) } else { &mut self.replica };
        let work = Work { program: thread.program, samples: thread.samples, replica };
        T::evaluate(&mut thread.worker, work, &self.parts[part as usize], &mut |_| {})
    }
}

#[cfg(test)]
mod tests {
    use super::{Epoch, Metric};

    /// A checkpoint of a version that had five metrics is read; the others are as not computed.
    #[test]
    fn earlier_epochs_lack_metrics() {
        let mut validation = [0.0; Metric::ALL.len()];
        (0..validation.len()).for_each(|place| validation[place] = place as f64 + 0.5);
        let epoch = Epoch { epoch: 7, rate: 0.1, loss: 0.2, accuracy: 0.3, validation, scale: 1024.0, skipped: 2 };
        let numbers = epoch.numbers();
        assert_eq!(Epoch::of_numbers(&numbers).numbers(), numbers);
        let earlier = Epoch::of_numbers(&numbers[..Epoch::EARLIER]);
        assert_eq!(earlier.numbers()[..Epoch::EARLIER], numbers[..Epoch::EARLIER]);
        assert_eq!(earlier.validation[..5], validation[..5]);
        assert!(earlier.validation[5..].iter().all(|value| value.is_nan()));
    }
}
