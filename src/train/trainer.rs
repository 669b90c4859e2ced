//! The trainer: what all runs of a training share, and the loop over the runs.

use super::checkpoint::{Checkpoint, Spec};
use super::device::OnDevice;
use super::fit::{Fit, Fitted};
use super::running::{RunStatus, Running, Seat};
use super::schedule::Schedule;
use super::split::Split;
use super::stop::{Part, Stop};
use super::{Run, Runs};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::mlp::{
    Hyper, Init, Loss, MixedPrecision, Mlp, Norm, Number, Optimizer, Program, Replica, Samples, Targets,
};
use crate::parallel;
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Some runs are trained for about this long between two looks at the clock of the whole training.
const ROUND: Duration = Duration::from_millis(200);
/// The number of runs that each thread trains in turns.
const ABREAST: usize = 20;
/// The least number that binary16 rounds to infinity.
const BEYOND_F16: f64 = 65520.0;

/// How inputs are scaled before training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scaling {
    /// They are used as they are.
    #[default]
    None,
    /// The mean of each input is subtracted, and the difference is divided by the standard deviation, or by 1 if the
    /// input is constant (to 1e-10). Both are those of the run's training samples, so nothing is learned from the
    /// others.
    Standard,
}

/// How far a training is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The number of runs.
    pub runs: usize,
    /// The number of runs that have ended.
    pub ended: usize,
    /// The number of runs that the stopping rule has ended.
    pub stopped: usize,
    /// The number of steps of all runs so far, in this call.
    pub steps: u64,
    /// The number of steps that are left at most: if no run stops early.
    pub at_most: u64,
    /// The number of steps that are expected to be left: runs on their way are expected to stop after as many epochs as
    /// the runs that have ended did, on average. Without a stopping rule, it is `at_most`.
    pub expected: u64,
    /// The time since the beginning of this call.
    pub elapsed: Duration,
    /// The bytes of the runs' parameters and of the data set.
    pub bytes: u64,
}

/// A function that is told of the progress, a few times a second.
pub type OnProgress = Arc<dyn Fn(&Progress) + Send + Sync>;

/// Trains many networks of one shape at once, each independent of the others.
///
/// ```
/// use fiedler::Context;
/// use fiedler::ops::mlp::{Activation, Loss, Mlp, Optimizer, Samples, Targets};
/// use fiedler::train::{Metric, Part, Runs, Stop, Trainer};
///
/// // Points inside and outside a circle.
/// let place = |i: u32| i as f32 / 10.0 - 0.95;
/// let points: Vec<[f32; 2]> = (0..400).map(|i| [place(i % 20), place(i / 20)]).collect();
/// let labels = points.iter().map(|[x, y]| u32::from(x * x + y * y < 0.5)).collect();
/// let samples = Samples::new(2, points.concat(), Targets::Labels(labels))?;
///
/// let net = Mlp::builder(2).layer(16, Activation::Relu).output(2)?;
/// let runs = Runs::seeds(Optimizer::Adam, 42, 8)?.grid("lr", &[1e-2])?;
/// let fit = Trainer::new(net, Loss::CROSS_ENTROPY, Optimizer::Adam)
///     .batch(16)
///     .epochs(60)
///     .stop(Stop::on("validation.accuracy", 20)?)
///     .fit(&Context::cpu(), &samples, &runs)?;
/// let accuracy = fit.summary(Part::Test, Metric::Accuracy);
/// assert!(accuracy.mean > 0.8, "{accuracy}");
/// # Ok::<(), fiedler::Error>(())
/// ```
#[derive(Clone)]
pub struct Trainer {
    pub(super) net: Mlp,
    pub(super) loss: Loss,
    pub(super) optimizer: Optimizer,
    pub(super) batch: usize,
    pub(super) epochs: u64,
    pub(super) init: Init,
    pub(super) schedule: Schedule,
    pub(super) warm_up: u64,
    pub(super) stop: Option<Stop>,
    pub(super) split: Split,
    pub(super) scaling: Scaling,
    pub(super) drop_last: bool,
    pub(super) mixed: MixedPrecision,
    checkpoint: Option<(PathBuf, Duration)>,
    progress: Option<OnProgress>,
}

impl fmt::Debug for Trainer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trainer").field("net", &self.net).field("loss", &self.loss).finish_non_exhaustive()
    }
}

impl Trainer {
    /// Creates a trainer with a batch of 32, 100 epochs, torch's initial weights, a constant learning rate, no stopping
    /// rule, the split 0.7, 0.1, 0.2, and inputs as they are.
    #[must_use]
    pub fn new(net: Mlp, loss: Loss, optimizer: Optimizer) -> Self {
        Self {
            net,
            loss,
            optimizer,
            batch: 32,
            epochs: 100,
            init: Init::Torch,
            schedule: Schedule::Constant,
            warm_up: 0,
            stop: None,
            split: Split::default(),
            scaling: Scaling::None,
            drop_last: false,
            mixed: MixedPrecision::Off,
            checkpoint: None,
            progress: None,
        }
    }

    /// Sets the number of samples of a step.
    #[must_use]
    pub fn batch(self, batch: usize) -> Self {
        Self { batch, ..self }
    }

    /// Sets the largest number of epochs of the runs that have none of their own ([`Run::epochs`]).
    #[must_use]
    pub fn epochs(self, epochs: u64) -> Self {
        Self { epochs, ..self }
    }

    /// Sets the law of the initial weights.
    #[must_use]
    pub fn init(self, init: Init) -> Self {
        Self { init, ..self }
    }

    /// Sets the schedule of the learning rate.
    #[must_use]
    pub fn schedule(self, schedule: Schedule) -> Self {
        Self { schedule, ..self }
    }

    /// Sets the number of epochs in which the learning rate rises linearly to that of the schedule.
    #[must_use]
    pub fn warm_up(self, epochs: u64) -> Self {
        Self { warm_up: epochs, ..self }
    }

    /// Sets the rule by which a run stops early.
    #[must_use]
    pub fn stop(self, stop: Stop) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// Sets how the data set is divided.
    #[must_use]
    pub fn split(self, split: Split) -> Self {
        Self { split, ..self }
    }

    /// Sets how inputs are scaled.
    #[must_use]
    pub fn scaling(self, scaling: Scaling) -> Self {
        Self { scaling, ..self }
    }

    /// Sets whether a last step of an epoch with fewer samples than the batch is left out.
    #[must_use]
    pub fn drop_last(self, drop_last: bool) -> Self {
        Self { drop_last, ..self }
    }

    /// Sets the precision of the operands of products, in trainings of f32. Nothing chooses another one than
    /// [`MixedPrecision::Off`] by itself.
    #[must_use]
    pub fn mixed_precision(self, mixed: MixedPrecision) -> Self {
        Self { mixed, ..self }
    }

    /// Saves a checkpoint to `path` every so often. If the file exists, the training goes on from it: the result has
    /// the same bits as without the interruption. The file stays at the end, so that the caller removes it once the
    /// results are saved.
    #[must_use]
    pub fn checkpoint(self, path: &Path, every: Duration) -> Self {
        Self { checkpoint: Some((path.to_owned(), every)), ..self }
    }

    /// Sets a function that is told of the progress.
    #[must_use]
    pub fn progress(self, on_progress: OnProgress) -> Self {
        Self { progress: Some(on_progress), ..self }
    }

    /// Returns the number of steps of an epoch of `samples` samples. With batch normalization, a last step with a
    /// single sample is left out, because a single sample has no variance.
    pub(super) fn batches(&self, samples: usize) -> usize {
        let normalized = self.net.layers().iter().any(|layer| layer.norm == Norm::Batch);
        let lonely = normalized && samples % self.batch == 1;
        if self.drop_last || lonely { samples / self.batch } else { samples.div_ceil(self.batch) }
    }

    /// Returns whether something is decided after every epoch: whether a run stops, or its learning rate.
    pub(super) fn decides_every_epoch(&self) -> bool {
        self.stop.is_some() || matches!(self.schedule, Schedule::Plateau { .. })
    }

    /// Returns the number of samples of each part.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if a part has no samples, if a batch exceeds the training samples, or if there are
    /// 2^32 samples or more.
    pub(super) fn counts(&self, samples: usize) -> Result<[usize; 3]> {
        let most = u32::MAX as usize;
        if samples > most {
            return Err(Error::domain("train", format!("expected at most {most} samples, found {samples}")));
        }
        let counts = self.split.counts(samples)?;
        if self.batch > counts[0] {
            let what = format!("expected a batch of at most {} training samples, found {}", counts[0], self.batch);
            return Err(Error::domain("train", what));
        }
        Ok(counts)
    }

    /// Checks everything before any work, and returns the number of samples of each part.
    fn check<T: Number>(
        &self,
        ctx: &Context,
        program: &Program,
        samples: &Samples<T>,
        runs: &Runs,
    ) -> Result<[usize; 3]> {
        let wrong = |what: String| Err(Error::domain("train", what));
        program.check()?;
        samples.check(program)?;
        self.schedule.check()?;
        for run in runs.rows() {
            if run.epochs.unwrap_or(self.epochs) == 0 {
                return wrong(format!("run {}: expected at least 1 epoch, found 0", run.number));
            }
            run.hyper
                .check(self.optimizer)
                .map_err(|error| Error::domain("train", format!("run {}: {error}", run.number)))?;
        }
        let counts = self.counts(samples.len())?;
        if self.batch == 1 && self.net.layers().iter().any(|layer| layer.norm == Norm::Batch) {
            return wrong("batch normalization: expected a batch of at least 2 samples, found 1".to_owned());
        }
        if let Targets::Labels(labels) = samples.targets()
            && labels.iter().all(|label| *label == labels[0])
        {
            return wrong(format!("expected at least two classes in the data, found only class {}", labels[0]));
        }
        if let Some(stop) = self.stop {
            if counts[stop.part as usize] == 0 {
                return wrong(format!("stop on {stop}: expected samples for {}, found none", stop.part.name()));
            }
            if stop.metric != super::Metric::Loss && !self.loss.takes_labels() {
                return wrong(format!("stop on {stop}: expected the loss, because the targets are values"));
            }
        }
        self.check_mixed(samples)?;
        let needed = self.bytes::<T>(program, samples.len(), runs);
        if needed > ctx.memory_budget() {
            return Err(Error::budget(
                format_args!("bytes for {} runs", runs.rows().len()),
                needed,
                ctx.memory_budget(),
            ));
        }
        Ok(counts)
    }

    /// Checks that the data set can be trained on in mixed precision, if that is asked for.
    fn check_mixed<T: Number>(&self, samples: &Samples<T>) -> Result<()> {
        let wrong = |what: String| Err(Error::domain("train", format!("mixed precision: {what}")));
        if self.mixed == MixedPrecision::Off {
            return Ok(());
        }
        if !T::ON_DEVICE {
            return wrong(format!("expected a training in f32, found {}", T::NAME));
        }
        // Scaled inputs are small.
        if self.mixed == MixedPrecision::F16 && self.scaling == Scaling::None {
            for sample in 0..samples.len() {
                if let Some(input) = samples.row(sample).iter().position(|x| x.to_f64().abs() >= BEYOND_F16) {
                    let found = samples.row(sample)[input].to_f64();
                    return wrong(format!(
                        "expected inputs that f16 can represent, at most 65504, found {found} at input {input} of \
                         sample {sample}; scale the inputs, or use bf16"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Returns the bytes of the runs' numbers and of the data set.
    fn bytes<T: Number>(&self, program: &Program, samples: usize, runs: &Runs) -> u64 {
        let each = runs.rows().iter().map(|run| self.bytes_of_run::<T>(program, &run.hyper)).sum();
        self.bytes_of::<T>(program, samples, runs.rows().len(), each)
    }

    /// Returns the bytes of a run's numbers.
    pub(super) fn bytes_of_run<T: Number>(&self, program: &Program, hyper: &Hyper) -> u64 {
        let copies = if self.stop.is_some() { 2 } else { 1 };
        program.bytes(hyper, size_of::<T>()) as u64 * copies
    }

    /// Returns the bytes of a data set, of its division for `runs` runs, and `each`, those of all runs' numbers.
    pub(super) fn bytes_of<T: Number>(&self, program: &Program, samples: usize, runs: usize, each: u64) -> u64 {
        let splits = if self.split.seed.is_some() { 1 } else { runs as u64 };
        let of_sample = (program.net.inputs() * size_of::<T>() + 8) as u64;
        each.saturating_add((4 * splits).saturating_add(of_sample).saturating_mul(samples as u64))
    }

    /// Trains all runs, on the threads of the context or on the device, whichever [`Trainer::choose`] finds. A training
    /// that goes on from a checkpoint goes on on the side of the checkpoint, unless the context requires the other
    /// side. A run that diverges or stops does not affect the others.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] and [`crate::ErrorKind::Shape`] if the network, the loss, the data, the split or a
    /// hyperparameter do not fit; [`crate::ErrorKind::Limit`] if the runs exceed the memory budget;
    /// [`crate::ErrorKind::Cancelled`] if the work was cancelled, after the checkpoint was saved if there is one;
    /// [`crate::ErrorKind::Io`] and [`crate::ErrorKind::Parse`] if the checkpoint cannot be written or read. If the
    /// device is required: [`crate::ErrorKind::NoAdapter`], [`crate::ErrorKind::Domain`] for f64,
    /// [`crate::ErrorKind::Limit`] if it cannot hold the data set and one run; device errors.
    pub fn fit<T: Number>(&self, ctx: &Context, samples: &Samples<T>, runs: &Runs) -> Result<Fit<T>> {
        let program = self.program();
        let counts = self.check(ctx, &program, samples, runs)?;
        ctx.cancel().check()?;
        let path = self.checkpoint.as_ref().map(|(path, _)| path.as_path());
        let decided = self.decide::<T>(ctx, samples.len(), runs, path)?;
        let gpu = decided.gpu;
        let spec = Spec::new(self, samples, runs, [decided.side(), decided.form()]);
        let mut all = ctx.on_threads(|| self.begin(&program, samples, runs, counts));
        let checkpoint = self.checkpoint.as_ref().map(|(path, every)| (Checkpoint::new(path, &spec), *every));
        if let Some((checkpoint, _)) = &checkpoint {
            checkpoint.load(&program, &mut all)?;
        }
        let idle: Mutex<Vec<Seat<'_, T>>> = Mutex::new(Vec::new());
        let seat = || {
            let kept = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            kept.unwrap_or_else(|| Seat {
                trainer: self,
                program: &program,
                samples,
                cancel: ctx.cancel(),
                worker: T::worker(&program),
            })
        };
        let keep = |seat| idle.lock().unwrap_or_else(PoisonError::into_inner).push(seat);
        let begun = Instant::now();
        let first_steps: u64 = all.iter().map(|running| running.replica.steps).sum();
        let mut saved = Instant::now();
        let bytes = self.bytes::<T>(&program, samples.len(), runs);
        let report = |all: &[Running<T>]| {
            if let Some(progress) = &self.progress {
                progress(&self.progress_of(all, first_steps, begun.elapsed(), bytes));
            }
        };
        if let Some(gpu) = gpu {
            let checkpoint = checkpoint.as_ref().map(|(checkpoint, every)| (checkpoint, *every));
            let device =
                OnDevice { trainer: self, ctx, gpu, program: &program, samples, checkpoint, progress: &report };
            device.train(&mut all)?;
        }
        // On a device, all runs are done now.
        loop {
            // The first of the runs that are not done: so few that a round stays short.
            let active = all.iter_mut().filter(|running| !running.is_done()).take(ABREAST * ctx.threads());
            let active: Vec<&mut Running<T>> = active.collect();
            if active.is_empty() {
                break;
            }
            // Where there are fewer runs than threads, several threads work on the steps of a run.
            let team = ctx.threads().div_ceil(active.len());
            let share = ROUND.mul_f64((ctx.threads() as f64 / active.len() as f64).clamp(0.05, 1.0));
            ctx.on_threads(|| {
                parallel::for_each(active, |_, running| {
                    let mut seat = seat();
                    seat.worker.set_team(team);
                    running.advance(&mut seat, Instant::now() + share);
                    keep(seat);
                });
            });
            let cancelled = ctx.cancel().is_cancelled();
            if let Some((checkpoint, every)) = &checkpoint
                && (cancelled || saved.elapsed() >= *every)
            {
                checkpoint.save(&program, &all)?;
                saved = Instant::now();
            }
            ctx.cancel().check()?;
            report(&all);
        }
        let fitted = ctx.on_host(|| {
            Ok(parallel::map(all, |_, mut running| {
                let mut seat = seat();
                let scores = Part::ALL.map(|part| {
                    (!running.parts[part as usize].is_empty()).then(|| running.score(&mut seat, part, true))
                });
                keep(seat);
                Fitted::new(running, scores)
            }))
        })?;
        Ok(Fit::new(program, spec, self.stop, fitted, decided.choice))
    }

    /// Creates all runs.
    fn begin<T: Number>(
        &self,
        program: &Program,
        samples: &Samples<T>,
        runs: &Runs,
        counts: [usize; 3],
    ) -> Vec<Running<T>> {
        // Runs that divide the data alike share the lists of their samples.
        let mut seeds: Vec<u64> = runs.rows().iter().map(|run| self.split.seed.unwrap_or(run.seed)).collect();
        seeds.sort_unstable();
        seeds.dedup();
        let divided = parallel::map(seeds.iter(), |_, &seed| {
            let parts = Arc::new(self.split.rows(samples.len(), counts, seed));
            let scaling = (self.scaling == Scaling::Standard).then(|| Arc::new(standard(samples, &parts[0])));
            (parts, scaling)
        });
        let divided: HashMap<u64, _> = seeds.iter().copied().zip(divided).collect();
        parallel::map(runs.rows().iter(), |_, run: &Run| {
            let (parts, scaling) = &divided[&self.split.seed.unwrap_or(run.seed)];
            let mut replica = Replica::new(program, self.init, run.seed, run.hyper);
            replica.scaling.clone_from(scaling);
            Running::new(run.clone(), replica, parts.clone())
        })
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "estimates"
    )]
    fn progress_of<T: Number>(&self, all: &[Running<T>], before: u64, elapsed: Duration, bytes: u64) -> Progress {
        let ended: Vec<&Running<T>> = all.iter().filter(|running| running.is_done()).collect();
        let mean = ended.iter().map(|running| running.counters.epoch as f64).sum::<f64>() / ended.len() as f64;
        let (mut at_most, mut expected) = (0, 0.0);
        for running in all.iter().filter(|running| !running.is_done()) {
            let batches = self.batches(running.parts[0].len()) as u64;
            let left = (running.epochs(self) - running.counters.epoch) * batches - running.counters.batch as u64;
            at_most += left;
            // A run that is further than the ended ones were is expected to go on for its patience.
            let more = (mean - running.counters.epoch as f64).max(self.stop.map_or(0.0, |stop| stop.patience as f64));
            let to_the_end = ended.is_empty() || self.stop.is_none();
            expected += if to_the_end { left as f64 } else { (more * batches as f64).min(left as f64) };
        }
        let steps: u64 = all.iter().map(|running| running.replica.steps).sum();
        let stopped = ended.iter().filter(|running| running.counters.status == Some(RunStatus::Stopped)).count();
        Progress {
            runs: all.len(),
            ended: ended.len(),
            stopped,
            steps: steps - before,
            at_most,
            expected: expected as u64,
            elapsed,
            bytes,
        }
    }
}

/// Returns the mean of each input over the given samples and the inverse of its standard deviation, which divides by
/// n - 1.
#[expect(clippy::cast_precision_loss, reason = "a number of samples")]
fn standard<T: Number>(samples: &Samples<T>, rows: &[u32]) -> Vec<[T; 2]> {
    let n = rows.len() as f64;
    let mut made = vec![[0.0_f64; 2]; samples.inputs()];
    for &row in rows {
        for (made, x) in made.iter_mut().zip(samples.row(row as usize)) {
            made[0] += x.to_f64();
        }
    }
    made.iter_mut().for_each(|made| made[0] /= n);
    for &row in rows {
        for (made, x) in made.iter_mut().zip(samples.row(row as usize)) {
            made[1] += (x.to_f64() - made[0]).powi(2);
        }
    }
    let factor = |[mean, sum]: [f64; 2]| {
        let deviation = (sum / (n - 1.0).max(1.0)).sqrt();
        // The rounding errors of a constant column's mean are far below 1e-10 of it.
        if deviation > 1e-10 * mean.abs() { 1.0 / deviation } else { 1.0 }
    };
    made.into_iter().map(|pair| [T::from_f64(pair[0]), T::from_f64(factor(pair))]).collect()
}
