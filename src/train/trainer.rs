//! The trainer: what all runs of a training share, and the loop over the runs.

use super::Runs;
use super::checkpoint::{Checkpoint, Stored};
use super::choice::Decided;
use super::device::OnDevice;
use super::epochs::OnHost;
use super::fit::{Fit, Fitted};
use super::grouped::Grouped;
use super::groups::{Grouping, Source};
use super::running::{RunStatus, Running};
use super::saving::Saving;
use super::schedule::Schedule;
use super::spec::{Spec, groups_of, stored_spec};
use super::split::{Division, Fold, Split};
use super::stop::Stop;
use crate::clock::Instant;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::mlp::{Hyper, Init, Loss, MixedPrecision, Mlp, Norm, Number, Optimizer, Program, Samples};
use crate::parallel;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

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
    /// The bytes of the runs' parameters and of the data set, or of two groups of it.
    pub bytes: u64,
    /// The number of groups in which the samples are read.
    pub groups: usize,
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
    /// Whether a smaller data set makes the batch smaller.
    pub(super) batch_fits: bool,
    pub(super) epochs: u64,
    pub(super) init: Init,
    pub(super) schedule: Schedule,
    pub(super) warm_up: u64,
    pub(super) stop: Option<Stop>,
    pub(super) split: Split,
    /// Whether a part of a small data set may have no samples.
    pub(super) split_fits: bool,
    pub(super) division: Division,
    pub(super) scaling: Scaling,
    pub(super) drop_last: bool,
    pub(super) mixed: MixedPrecision,
    pub(super) row_group: Option<usize>,
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
    /// rule, the split 0.7, 0.1, 0.2, and inputs as they are. If there are fewer training samples than 32, they are the
    /// batch, and if there are too few samples for all three parts, some parts have none.
    #[must_use]
    pub fn new(net: Mlp, loss: Loss, optimizer: Optimizer) -> Self {
        Self {
            net,
            loss,
            optimizer,
            batch: 32,
            batch_fits: true,
            epochs: 100,
            init: Init::Torch,
            schedule: Schedule::Constant,
            warm_up: 0,
            stop: None,
            split: Split::default(),
            split_fits: true,
            division: Division::Shares,
            scaling: Scaling::None,
            drop_last: false,
            mixed: MixedPrecision::Off,
            row_group: None,
            checkpoint: None,
            progress: None,
        }
    }

    /// Returns the loss.
    #[must_use]
    pub fn loss(&self) -> &Loss {
        &self.loss
    }

    /// Returns the network.
    #[must_use]
    pub fn net(&self) -> &Mlp {
        &self.net
    }

    /// Sets the number of samples of a step. It may not exceed the number of training samples.
    #[must_use]
    pub fn batch(self, batch: usize) -> Self {
        Self { batch, batch_fits: false, ..self }
    }

    /// Sets the number of samples of a step to this number, or to that of the training samples if they are fewer.
    #[must_use]
    pub fn batch_at_most(self, batch: usize) -> Self {
        Self { batch, batch_fits: true, ..self }
    }

    /// Sets the largest number of epochs of the runs that have none of their own ([`Run::epochs`](super::Run::epochs)).
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

    /// Sets how the data set is divided. Each part with a share has to have a sample.
    #[must_use]
    pub fn split(self, split: Split) -> Self {
        Self { split, split_fits: false, ..self }
    }

    /// Does the same, but parts may have no samples: of a small data set, the test part has a sample before the
    /// validation part has one, unless the stopping rule watches the validation samples.
    #[must_use]
    pub fn split_if_possible(self, split: Split) -> Self {
        Self { split, split_fits: true, ..self }
    }

    /// Makes a fold the test set: of all samples, in the order of the division, that share. The others are divided by
    /// the split's shares of training and validation samples. Every sample is a test sample of one of the folds.
    #[must_use]
    pub fn fold(self, fold: Fold) -> Self {
        Self { division: Division::Fold(fold), ..self }
    }

    /// Takes the parts as the data set has them: first the training samples, then the validation samples, then the test
    /// samples, in these numbers. If there are no validation samples, the split's shares of training and validation
    /// divide the training samples.
    #[must_use]
    pub fn parts(self, samples: [usize; 3]) -> Self {
        Self { division: Division::Parts(samples), ..self }
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

    /// Sets the largest number of samples that are read together. All runs are trained on such a group while the next
    /// one is read. An epoch visits all groups in a random order, and each sample once. Steps do not reach from one
    /// group into the next. Each group is divided into training, validation and test samples by itself. Groups are part
    /// of what decides the bits of a training.
    ///
    /// The default is one group for [`Trainer::fit`]. For [`Trainer::fit_groups`], it is one group if the data set fits
    /// in a quarter of the memory budget and on the device; otherwise, groups of which two do.
    #[must_use]
    pub fn row_group(self, samples: usize) -> Self {
        Self { row_group: Some(samples), ..self }
    }

    /// Saves a checkpoint to `path` every so often. If the file exists, the training goes on from it: the result has
    /// the same bits as without the interruption. The file stays at the end, so that the caller removes it once the
    /// results are saved. If a checkpoint cannot be written, there is a warning, and the training goes on.
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

    /// Checks the settings before any work.
    fn check<T: Number>(&self, program: &Program, runs: &Runs) -> Result<()> {
        let wrong = |what: String| Err(Error::domain("train", what));
        program.check()?;
        self.schedule.check()?;
        for run in runs.rows() {
            if run.epochs.unwrap_or(self.epochs) == 0 {
                return wrong(format!("run {}: expected at least 1 epoch, found 0", run.number));
            }
            run.hyper.check(self.optimizer).map_err(|error| error.within(format_args!("run {}", run.number)))?;
        }
        if self.batch == 1 && self.net.layers().iter().any(|layer| layer.norm == Norm::Batch) {
            return wrong("batch normalization: expected a batch of at least 2 samples, found 1".to_owned());
        }
        if self.mixed != MixedPrecision::Off && !T::ON_DEVICE {
            return wrong(format!("mixed precision: expected a training in f32, found {}", T::NAME));
        }
        if let Some(stop) = self.stop {
            if self.split.shares[stop.part as usize] == 0.0 && self.division == Division::Shares {
                return wrong(format!("stop on {stop}: expected samples for {}, found none", stop.part.name()));
            }
            if !stop.metric.fits(&self.loss, &self.net) {
                let known = super::Metric::ALL.into_iter().filter(|metric| metric.fits(&self.loss, &self.net));
                let known = known.map(super::Metric::name).collect::<Vec<_>>().join(", ");
                return wrong(format!("stop on {stop}: expected a metric that this training has, of {known}"));
            }
        }
        Ok(())
    }

    /// Returns the bytes of the runs' numbers, of the groups that are in memory at the same time, and of packed
    /// factors.
    fn bytes<T: Number>(&self, program: &Program, grouping: &Grouping, runs: &Runs, threads: usize) -> u64 {
        let each = runs.rows().iter().map(|run| self.bytes_of_run::<T>(program, &run.hyper)).sum();
        self.bytes_of::<T>(program, grouping, (runs.rows().len(), each), threads)
    }

    /// Returns the bytes of a run's numbers.
    pub(super) fn bytes_of_run<T: Number>(&self, program: &Program, hyper: &Hyper) -> u64 {
        let copies = if self.stop.is_some() { 2 } else { 1 };
        program.bytes(hyper, size_of::<T>()) as u64 * copies
    }

    /// Returns the bytes of the groups that are in memory, of their division for `runs` runs, `each`, those of all
    /// runs' numbers, and those of the factors that the threads pack.
    pub(super) fn bytes_of<T: Number>(
        &self,
        program: &Program,
        grouping: &Grouping,
        (runs, each): (usize, u64),
        threads: usize,
    ) -> u64 {
        let splits = if self.split.seed.is_some() { 1 } else { runs as u64 };
        let samples = (grouping.largest() * grouping.groups.min(2)) as u64;
        let packed = (threads * program.packed_bytes(size_of::<T>())) as u64;
        let of_samples = (4 * splits).saturating_add(of_sample::<T>(program)).saturating_mul(samples);
        each.saturating_add(of_samples).saturating_add(packed)
    }

    /// Trains all runs, on the threads of the context or on the device, whichever [`Trainer::choose`] finds. A training
    /// that goes on from a checkpoint goes on on the side of the checkpoint, unless the context requires the other
    /// side. A run that diverges or stops does not affect the others.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] and [`crate::ErrorKind::Shape`] if the network, the loss, the data, the split or a
    /// hyperparameter do not fit; [`crate::ErrorKind::Limit`] if the runs exceed the memory budget;
    /// [`crate::ErrorKind::Cancelled`] if the work was cancelled, after the checkpoint was saved if there is one;
    /// [`crate::ErrorKind::Io`] and [`crate::ErrorKind::Parse`] if the checkpoint cannot be read or is damaged. If the
    /// device is required: [`crate::ErrorKind::NoAdapter`], [`crate::ErrorKind::Domain`] for f64,
    /// [`crate::ErrorKind::Limit`] if it cannot hold the data set and one run; device errors.
    pub fn fit<T: Number>(&self, ctx: &Context, samples: &Samples<T>, runs: &Runs) -> Result<Fit<T>> {
        let program = self.program();
        program.check()?;
        samples.check(&program)?;
        let row_group = self.row_group.unwrap_or(samples.len());
        self.clone().row_group(row_group).fit_groups(ctx, samples, runs)
    }

    /// Does the same with a data set that is read in groups of samples ([`Trainer::row_group`]). While all runs are
    /// trained on a group, the next one is read, so two groups are in memory. Before the training, there is a pass over
    /// all groups that checks them, or two passes if inputs are scaled. After every epoch whose scores are wanted,
    /// there is another one. With one group, the result has the bits of [`Trainer::fit`].
    ///
    /// # Errors
    /// The same as for [`Trainer::fit`], and those of the source. If a group cannot be read during the training, the
    /// checkpoint is saved first.
    pub fn fit_groups<T: Number>(&self, ctx: &Context, source: &dyn Source<T>, runs: &Runs) -> Result<Fit<T>> {
        let stored = self.checkpoint.as_ref().map(|(path, _)| Stored::open(path)).transpose()?.flatten();
        let groups = stored.as_ref().map(|stored| groups_of(&stored.spec));
        self.fitted(source.samples(), groups).train(ctx, source, runs, stored)
    }

    fn train<T: Number>(
        &self,
        ctx: &Context,
        source: &dyn Source<T>,
        runs: &Runs,
        stored: Option<Stored>,
    ) -> Result<Fit<T>> {
        let program = self.program();
        self.check::<T>(&program, runs)?;
        ctx.cancel().check()?;
        let decided = self.decide::<T>(ctx, source.samples(), runs, stored.as_ref().map(|stored| &stored.spec))?;
        let grouping = decided.grouping;
        if grouping.groups > 1 {
            parallel::needs_threads("train")?;
        }
        let bytes = self.bytes::<T>(&program, &grouping, runs, ctx.threads());
        if bytes > ctx.memory_budget() {
            let what = format!("bytes for {} runs", runs.rows().len());
            return Err(Error::budget(what, bytes, ctx.memory_budget()));
        }
        let grouped = Grouped { trainer: self, ctx, program: &program, source, grouping };
        let surveyed = grouped.survey(runs)?;
        let spec = self.spec::<T>(&decided, &surveyed.hash, runs);
        let mut all = grouped.begin(runs, &surveyed);
        let checkpoint = self.checkpoint.as_ref().map(|(path, every)| (Checkpoint::new(path, &spec), *every));
        if let (Some((checkpoint, _)), Some(stored)) = (&checkpoint, stored) {
            checkpoint.load(&stored, &program, &mut all)?;
        }
        let begun = Instant::now();
        let first_steps: u64 = all.iter().map(|running| running.replica.steps).sum();
        let report = |all: &[Running<T>]| {
            if let Some(progress) = &self.progress {
                progress(&self.progress_of(all, &grouping, first_steps, (begun.elapsed(), bytes)));
            }
        };
        let saving = || Saving::new(checkpoint.as_ref().map(|(checkpoint, every)| (checkpoint, *every)));
        if let Some(gpu) = decided.gpu {
            OnDevice::new(&grouped, gpu, saving(), &report).train(&mut all)?;
        }
        // On a device, all runs are done now.
        let scores = OnHost::new(&grouped, saving(), &report).train(&mut all)?;
        let fitted = all.into_iter().zip(scores).map(|(running, scores)| Fitted::new(running, scores)).collect();
        Ok(Fit::new(program, spec, self.stop, fitted, decided.choice))
    }

    /// Compares a finished training with these settings, runs and data. The file `weights` has its parameters
    /// ([`Fit::write_weights`](super::Fit::write_weights)). All groups are read, to compare the data.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`], with the differences, if it is another one; the errors of [`Trainer::fit_groups`]
    /// before a training; [`crate::ErrorKind::Io`] and [`crate::ErrorKind::Parse`] if the file cannot be read.
    pub fn check_finished<T: Number>(
        &self,
        ctx: &Context,
        source: &dyn Source<T>,
        runs: &Runs,
        weights: &Path,
    ) -> Result<()> {
        let stored = stored_spec(weights)?;
        let own = &self.fitted(source.samples(), Some(groups_of(&stored)));
        let program = own.program();
        own.check::<T>(&program, runs)?;
        let decided = own.decide::<T>(ctx, source.samples(), runs, Some(&stored))?;
        let grouped = Grouped { trainer: own, ctx, program: &program, source, grouping: decided.grouping };
        let spec = own.spec::<T>(&decided, &grouped.survey(runs)?.hash, runs);
        spec.expect_finished(&stored, weights)
    }

    fn spec<T: Number>(&self, decided: &Decided<'_>, hash: &str, runs: &Runs) -> Spec {
        Spec::new::<T>(self, (hash, decided.grouping.groups), runs, [decided.side(), decided.form()])
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "estimates"
    )]
    fn progress_of<T: Number>(
        &self,
        all: &[Running<T>],
        grouping: &Grouping,
        before: u64,
        (elapsed, bytes): (Duration, u64),
    ) -> Progress {
        let [batches, of_group] = grouping.steps(|samples| self.batches(samples)).map(|steps| steps as u64);
        let ended: Vec<&Running<T>> = all.iter().filter(|running| running.is_done()).collect();
        let mean = ended.iter().map(|running| running.counters.epoch as f64).sum::<f64>() / ended.len() as f64;
        let (mut at_most, mut expected) = (0, 0.0);
        for running in all.iter().filter(|running| !running.is_done()) {
            // Some groups may have one step more.
            let made = running.counters.groups_done as u64 * of_group + running.counters.batch as u64;
            let left = (running.epochs(self) - running.counters.epoch) * batches - made.min(batches);
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
            groups: grouping.groups,
        }
    }
}

/// Returns the bytes of the inputs and the targets of a sample.
pub(super) fn of_sample<T: Number>(program: &Program) -> u64 {
    (program.net.inputs() * size_of::<T>() + 8) as u64
}
