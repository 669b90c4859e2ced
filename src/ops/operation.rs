//! The steps that all operations share. An operation describes its workload, chooses a side, rejects calls that cannot
//! run, and splits a batch that does not fit on the device as a whole.

use crate::array::Scalar;
use crate::context::Context;
use crate::device::{Gpu, MAY_WAIT};
use crate::error::{Error, Result};
use crate::policy::{Choice, Reason, Side, Workload};
use std::ops::Range;
use std::sync::Arc;

/// The element type that an operation computes with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Precision {
    name: &'static str,
    /// Whether device kernels compute in this precision.
    pub(super) on_device: bool,
    /// What else a caller may do if they do not.
    instead: &'static str,
}

impl Precision {
    pub(super) fn of<T: Scalar>() -> Self {
        Self { name: T::NAME, on_device: T::ON_DEVICE, instead: "narrow the numbers to f32, or " }
    }

    /// Returns the precision of an operation that only the CPU has for these elements.
    pub(super) fn on_cpu<T: Scalar>() -> Self {
        Self { name: T::NAME, on_device: false, instead: "" }
    }

    /// Checks that the device has kernels for this precision.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if the device has no such kernels.
    pub(super) fn on_device(self, operation: &'static str) -> Result<()> {
        if self.on_device {
            return Ok(());
        }
        let what = format!("no device kernel computes in {}: {}use the CPU", self.name, self.instead);
        Err(Error::domain(operation, what))
    }
}

/// One call of an operation, described before any of its data is touched.
pub(super) trait Operation {
    /// Returns the name of the operation in errors and logs.
    fn name(&self) -> &'static str;

    /// Returns the element type that the call computes with.
    fn precision(&self) -> Precision;

    /// Returns the workload of the call, from which the cost model predicts times.
    fn workload(&self, ctx: &Context) -> Workload;

    /// Returns whether the kernels can run the call on `gpu` with at most `budget` bytes of device memory. The
    /// precision of the call is checked separately.
    fn fits(&self, gpu: &Gpu, budget: u64) -> bool;

    /// Returns whether the implementation for the device reads results before it has recorded all its work, because
    /// what follows depends on them, or because the results do not fit on the device together. It then cannot run in a
    /// browser.
    fn waits(&self, gpu: &Gpu, budget: u64) -> bool;

    /// Returns whether there is nothing to compute. If so, the CPU returns the result even if the device was chosen.
    fn is_empty(&self) -> bool {
        false
    }

    /// Returns the side on which the call runs, and the reason.
    fn choose(&self, ctx: &Context) -> Choice {
        let fits = self.precision().on_device && ctx.gpu().is_ok_and(|gpu| self.fits(gpu, ctx.device_budget()));
        if fits && self.cannot_wait(ctx) {
            let choice = ctx.explain(&self.workload(ctx), false);
            let beyond = choice.reason == Reason::BeyondKernels;
            return Choice { reason: if beyond { Reason::CannotWait } else { choice.reason }, ..choice };
        }
        ctx.explain(&self.workload(ctx), fits)
    }

    /// Returns whether the device would have to be waited for where that is impossible.
    fn cannot_wait(&self, ctx: &Context) -> bool {
        !MAY_WAIT && ctx.gpu().is_ok_and(|gpu| self.waits(gpu, ctx.device_budget()))
    }

    /// Returns the result of [`Operation::choose`] if the chosen side can run the call.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if the device is required but has no kernels for the precision, or would
    /// have to be waited for in a browser.
    fn decide(&self, ctx: &Context) -> Result<Arc<Choice>> {
        let choice = self.choose(ctx);
        log::debug!("{}: {choice}", self.name());
        if choice.side == Side::Gpu {
            self.precision().on_device(self.name())?;
            if self.cannot_wait(ctx) {
                let what = "a browser cannot wait for what the GPU would compute midway: use the CPU";
                return Err(Error::domain(self.name(), what));
            }
        }
        Ok(Arc::new(choice))
    }

    /// Runs the call on the side that [`Operation::choose`] returns. The CPU's implementation runs on the threads of
    /// the context. Returns the result together with the choice, which the caller must store in the result.
    ///
    /// # Errors
    /// The errors of [`Operation::decide`] and of the implementation; [`NoAdapter`](crate::ErrorKind::NoAdapter) if the
    /// device is required but there is none.
    fn run<R: Send>(
        &self,
        ctx: &Context,
        on_cpu: impl FnOnce() -> Result<R> + Send,
        on_device: impl FnOnce(&Arc<Gpu>) -> Result<R>,
    ) -> Result<(R, Arc<Choice>)> {
        let choice = self.decide(ctx)?;
        if choice.side == Side::Gpu {
            let gpu = ctx.gpu()?;
            if !self.is_empty() {
                return Ok((on_device(gpu)?, choice));
            }
        }
        let choice = Arc::new(Choice { side: Side::Cpu, ..*choice });
        Ok((ctx.on_host_for(&choice, on_cpu)?, choice))
    }
}

/// An [`Operation`] whose description does not depend on the device.
pub(super) struct Call<F> {
    pub(super) name: &'static str,
    pub(super) precision: Precision,
    pub(super) workload: Workload,
    /// See [`Operation::is_empty`].
    pub(super) empty: bool,
    /// See [`Operation::fits`].
    pub(super) fits: F,
    /// See [`Operation::waits`].
    pub(super) waits: bool,
}

impl<F: Fn(&Gpu, u64) -> bool> Operation for Call<F> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn workload(&self, _: &Context) -> Workload {
        self.workload
    }

    fn fits(&self, gpu: &Gpu, budget: u64) -> bool {
        (self.fits)(gpu, budget)
    }

    fn waits(&self, _: &Gpu, _: u64) -> bool {
        self.waits
    }

    fn is_empty(&self) -> bool {
        self.empty
    }
}

/// A [`Call::fits`] for calls that every device can run.
pub(super) fn always(_: &Gpu, _: u64) -> bool {
    true
}

/// Runs `whole`. If the device runs out of memory and the call is `divisible`, runs `in_batches` instead.
pub(super) fn whole_or<R>(
    divisible: bool,
    whole: impl FnOnce() -> Result<R>,
    in_batches: impl FnOnce() -> Result<R>,
) -> Result<R> {
    match whole() {
        Err(error) if error.is_out_of_memory() && divisible && MAY_WAIT => {
            log::info!("{error}; going on in batches");
            in_batches()
        }
        other => other,
    }
}

/// Runs `one` on the items `0..total`, one batch after another. `cut(begin, most)` returns the batch that starts at
/// item `begin` and whose size is at most `most`. `size` returns the size of a batch. If the device runs out of memory,
/// the maximum size is reduced to half the size of the failed batch, and a smaller batch is tried from the same item
/// on. An out-of-memory error is returned only if a single item does not fit.
pub(super) fn in_batches(
    gpu: &Gpu,
    total: usize,
    mut most: u64,
    cut: impl Fn(usize, u64) -> Range<usize>,
    size: impl Fn(&Range<usize>) -> u64,
    mut one: impl FnMut(Range<usize>) -> Result<()>,
) -> Result<()> {
    let mut begin = 0;
    while begin < total {
        let batch = cut(begin, most);
        match one(batch.clone()) {
            Ok(()) => begin = batch.end,
            Err(error) if error.is_out_of_memory() && batch.len() > 1 => {
                most = size(&batch) / 2;
                log::info!("{error}; going on with batches of {most}");
                gpu.trim();
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Does the same as [`in_batches`] for items of equal size. Here, the size of a batch is the number of its items.
pub(super) fn in_equal_batches(
    gpu: &Gpu,
    total: usize,
    most: usize,
    one: impl FnMut(Range<usize>) -> Result<()>,
) -> Result<()> {
    let cut = |begin: usize, most: u64| {
        let most = usize::try_from(most).unwrap_or(usize::MAX).max(1);
        begin..begin.saturating_add(most).min(total)
    };
    in_batches(gpu, total, most as u64, cut, |batch| batch.len() as u64, one)
}
