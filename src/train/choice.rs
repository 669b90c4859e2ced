//! Where a training runs, and how much memory it needs.

use super::Runs;
use super::device::held;
use super::groups::Grouping;
use super::spec::groups_of;
use super::trainer::{Trainer, of_sample};
use crate::context::Context;
use crate::device::Gpu;
use crate::error::Result;
use crate::ops::mlp::{Course, DeviceRuns, Hyper, Number, Program};
use crate::policy::{Backend, Choice, Reason, Side};
use serde_json::Value;
use std::sync::Arc;

/// The memory that a training needs, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The number of groups in which the samples are read.
    pub groups: usize,
    /// That of the data set, or of two groups of it, of all runs, and of the factors of large products that each thread
    /// packs, on the host.
    pub host: u64,
    /// What a device needs, or `None` if there is none that can train one run.
    pub device: Option<OnDeviceMemory>,
    /// Why the device of the context cannot train one run, if there is a device and it cannot.
    pub refused: Option<String>,
}

/// The memory that a training needs on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnDeviceMemory {
    /// The bytes of the data set, or of two groups of it.
    pub data: u64,
    /// The bytes of each run.
    pub of_run: u64,
    /// The number of runs that the device has room for at the same time. Others wait until these have ended.
    pub together: usize,
}

/// The side of a training, with its device.
pub(super) struct Decided<'a> {
    pub(super) choice: Choice,
    pub(super) gpu: Option<&'a Arc<Gpu>>,
    pub(super) grouping: Grouping,
}

impl Decided<'_> {
    /// Returns the name of the side in checkpoints.
    pub(super) fn side(&self) -> &str {
        self.gpu.map_or("cpu", |gpu| &gpu.adapter().name)
    }

    /// Returns the form of the device's kernels, which decides the bits of the result.
    pub(super) fn form(&self) -> &'static str {
        if self.gpu.is_some() { self.choice.workload.algorithms[1] } else { "" }
    }
}

impl Trainer {
    pub(super) fn program(&self) -> Program {
        Program {
            net: self.net.clone(),
            loss: self.loss.clone(),
            optimizer: self.optimizer,
            batch: self.batch,
            mixed: self.mixed,
        }
    }

    /// Returns where `runs` runs on a data set of `samples` samples would be trained, and why. The predicted times are
    /// those of trainings to the last epoch with [`Trainer::fit_groups`]. A checkpoint that exists is not taken into
    /// account.
    ///
    /// With [`Backend::Auto`], a device trains only if `fiedler tune` has measured trainings on it, because no GPU has
    /// been measured yet.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if the network, the loss or the split do not fit.
    pub fn choose<T: Number>(&self, ctx: &Context, samples: usize, runs: usize) -> Result<Choice> {
        self.choose_of::<T>(ctx, samples, runs, self.epochs)
    }

    /// Does the same for a mean number of epochs, which the runs may have of their own.
    pub(super) fn choose_of<T: Number>(
        &self,
        ctx: &Context,
        samples: usize,
        runs: usize,
        epochs: u64,
    ) -> Result<Choice> {
        let own = self.fitted(samples, None);
        let program = own.program();
        program.check()?;
        let [_, grouping] = own.groupings::<T>(ctx, &program, samples, None)?;
        Ok(own.course(&grouping, runs, epochs).choose::<T>(ctx, &program))
    }

    /// Returns the memory that `runs` runs on a data set of `samples` samples need, with the hyperparameters that need
    /// the most.
    ///
    /// # Errors
    /// The same as for [`Trainer::choose`].
    pub fn memory<T: Number>(&self, ctx: &Context, samples: usize, runs: usize) -> Result<Memory> {
        self.fitted(samples, None).memory_of::<T>(ctx, samples, runs)
    }

    fn memory_of<T: Number>(&self, ctx: &Context, samples: usize, runs: usize) -> Result<Memory> {
        let program = self.program();
        program.check()?;
        let [on_host, on_device] = self.groupings::<T>(ctx, &program, samples, None)?;
        let choice = self.course(&on_device, runs, self.epochs).choose::<T>(ctx, &program);
        let grouping = if choice.side == Side::Gpu { on_device } else { on_host };
        let hyper = Hyper { momentum: 0.9, ..self.optimizer.defaults() };
        let each = self.bytes_of_run::<T>(&program, &hyper).saturating_mul(runs as u64);
        let host = self.bytes_of::<T>(&program, &grouping, (runs, each), ctx.threads());
        let gpu = ctx.gpu().ok().filter(|_| T::ON_DEVICE);
        let moments = self.optimizer.most_moments();
        let capacity = |gpu| DeviceRuns::capacity(gpu, &program, held(&on_device), moments, ctx.device_budget());
        let (device, refused) = match gpu.map(|gpu| capacity(gpu)) {
            Some(Ok(found)) => {
                (Some(OnDeviceMemory { data: found.data, of_run: found.of_run, together: found.runs }), None)
            }
            Some(Err(error)) => (None, Some(error.to_string())),
            None => (None, None),
        };
        Ok(Memory { groups: grouping.groups, host, device, refused })
    }

    /// Returns how a data set is divided into groups, on the host and on the device. A training that goes on from a
    /// checkpoint keeps the number of groups of the checkpoint, which is `stored`.
    fn groupings<T: Number>(
        &self,
        ctx: &Context,
        program: &Program,
        samples: usize,
        stored: Option<usize>,
    ) -> Result<[Grouping; 2]> {
        let given = self.row_group.map(|rows| samples.div_ceil(rows.max(1)).max(1));
        if let Some(groups) = given.or(stored) {
            return Ok([self.grouping(samples, groups)?; 2]);
        }
        // The host's default depends on the machine, and a division by it would make the result of a training do so.
        let (bytes, budget) = (of_sample::<T>(program), ctx.device_budget() / 4);
        let all = bytes.saturating_mul(samples as u64) <= budget;
        let most = if all { samples } else { usize::try_from(budget / 2 / bytes).unwrap_or(usize::MAX) };
        let host = samples.div_ceil(most.max(1)).max(1);
        let on_host = self.grouping(samples, host).map_err(|error| {
            let chosen = format_args!(
                "{host} groups, of which two fit in a quarter of FIEDLER_MEMORY_BUDGET, {} bytes (a larger one, or \
                 --row-group, makes larger groups)",
                4 * budget
            );
            if host > 1 { error.within(chosen) } else { error }
        })?;
        let Some(gpu) = ctx.gpu().ok().filter(|_| T::ON_DEVICE) else { return Ok([on_host; 2]) };
        let moments = self.optimizer.most_moments();
        let fits = |groups: usize| {
            let grouping = self.grouping(samples, groups);
            grouping.is_ok_and(|grouping| {
                DeviceRuns::capacity(gpu, program, held(&grouping), moments, ctx.device_budget()).is_ok()
            })
        };
        if fits(host) {
            return Ok([on_host; 2]);
        }
        // The fewest groups of which the device holds two, if there are any. Each has at least a batch.
        let doubled = std::iter::successors(Some(2 * host), |groups| Some(2 * groups));
        let found = doubled.take_while(|groups| *groups <= samples / self.batch.max(1)).find(|groups| fits(*groups));
        let Some(mut enough) = found else { return Ok([on_host; 2]) };
        let mut too_few = enough / 2;
        while too_few + 1 < enough {
            let middle = too_few.midpoint(enough);
            if fits(middle) { enough = middle } else { too_few = middle }
        }
        Ok([on_host, self.grouping(samples, enough)?])
    }

    /// Chooses the side of a training. One that goes on from a checkpoint, whose specification is `stored`, goes on on
    /// the checkpoint's side, if the context leaves the side open and has that side.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NoAdapter`] if the device is required and there is none; [`crate::ErrorKind::Domain`] for
    /// f64 on a device.
    pub(super) fn decide<'a, T: Number>(
        &self,
        ctx: &'a Context,
        samples: usize,
        runs: &Runs,
        stored: Option<&Value>,
    ) -> Result<Decided<'a>> {
        let program = self.program();
        let [on_host, on_device] = self.groupings::<T>(ctx, &program, samples, stored.map(groups_of))?;
        let course = self.course(&on_device, runs.rows().len(), runs.mean_epochs(self.epochs));
        let mut choice = course.choose::<T>(ctx, &program);
        if let Some(stored) = stored.filter(|_| ctx.policy().backend == Backend::Auto) {
            let own = |adapter: &str| T::ON_DEVICE && ctx.adapter().is_some_and(|own| own.name == adapter);
            let side = match stored["side"].as_str() {
                Some("cpu") => Side::Cpu,
                Some(adapter) if own(adapter) => Side::Gpu,
                _ => choice.side,
            };
            if side != choice.side {
                choice = Choice { side, reason: Reason::Resumed, ..choice };
            }
        }
        log::debug!("train: {choice}");
        let gpu = DeviceRuns::device::<T>(ctx, choice.side)?;
        let grouping = if gpu.is_some() { on_device } else { on_host };
        Ok(Decided { choice, gpu, grouping })
    }

    #[expect(clippy::cast_precision_loss, reason = "estimates")]
    fn course(&self, grouping: &Grouping, runs: usize, epochs: u64) -> Course {
        let counts = grouping.all();
        let recorded = epochs / epochs.div_ceil(super::running::RECORDED).max(1);
        let (epochs, recorded) = (epochs as f64, recorded as f64);
        let watched = self.stop.map_or(0.0, |stop| epochs * counts[stop.part as usize] as f64);
        let validates = self.stop.is_none_or(|stop| stop.part != super::stop::Part::Validation);
        let validated = if validates { recorded * counts[1] as f64 } else { 0.0 };
        let [batches, _] = grouping.steps(|samples| self.batches(samples));
        let steps = epochs * batches as f64;
        let waits = if self.decides_every_epoch() { epochs } else { recorded };
        let (samples, held) = (counts.iter().sum(), held(grouping));
        // With several groups, every epoch uploads all of them, and every scoring does so, too.
        let passes = if grouping.groups == 1 { 1.0 } else { epochs + waits };
        let waits = waits.max(if grouping.groups == 1 { 0.0 } else { passes * grouping.groups as f64 });
        Course { runs, samples, held, passes, steps, scored: watched + validated, waits }
    }
}
