//! The one way that every operation takes: what it has to do, where that runs, what is refused, and how a batch is cut that does not
//! fit on a device at once.

use crate::array::Scalar;
use crate::context::Context;
use crate::device::Gpu;
use crate::error::{Error, Result};
use crate::policy::{Choice, Side, Workload};
use std::ops::Range;
use std::sync::Arc;

/// The numbers that an operation computes with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Precision {
    name: &'static str,
    on_device: bool,
}

impl Precision {
    pub(super) fn of<T: Scalar>() -> Self {
        Self { name: T::NAME, on_device: T::ON_DEVICE }
    }

    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) where no kernel computes with such numbers.
    pub(super) fn on_device(self, operation: &'static str) -> Result<()> {
        if self.on_device {
            return Ok(());
        }
        let what = format!("no device kernel computes in {}: narrow the numbers to f32, or use the CPU", self.name);
        Err(Error::domain(operation, what))
    }
}

/// One call of an operation, described before any number of it is touched.
pub(super) trait Operation {
    /// Its name in errors and logs.
    fn name(&self) -> &'static str;

    /// The numbers that it computes with.
    fn precision(&self) -> Precision;

    /// What it has to do.
    fn workload(&self, ctx: &Context) -> Workload;

    /// Whether the kernels, and a device with `budget` bytes allowed, can take it; its precision apart.
    fn fits(&self, gpu: &Gpu, budget: u64) -> bool;

    /// Whether there is nothing to compute: the host answers, wherever the call was to run.
    fn is_empty(&self) -> bool {
        false
    }

    /// Where it runs, and why.
    fn choose(&self, ctx: &Context) -> Choice {
        let fits = self.precision().on_device && ctx.gpu().is_ok_and(|gpu| self.fits(gpu, ctx.memory_budget()));
        ctx.explain(&self.workload(ctx), fits)
    }

    /// [`Operation::choose`], if it can be followed.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) where a device is required that has no kernels for the precision.
    fn decide(&self, ctx: &Context) -> Result<Arc<Choice>> {
        let choice = self.choose(ctx);
        log::debug!("{}: {choice}", self.name());
        if choice.side == Side::Gpu {
            self.precision().on_device(self.name())?;
        }
        Ok(Arc::new(choice))
    }

    /// Runs the one of its two halves that [`Operation::choose`] names, the CPU's on the context's threads. Returns its result, and the choice,
    /// which the result is to carry.
    ///
    /// # Errors
    /// As of [`Operation::decide`]; [`NoAdapter`](crate::ErrorKind::NoAdapter) where a device is required and there is none; those of
    /// the half.
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
        Ok((ctx.on_host(on_cpu)?, Arc::new(Choice { side: Side::Cpu, ..*choice })))
    }
}

/// An [`Operation`] that is the same whatever the device.
pub(super) struct Call<F> {
    pub(super) name: &'static str,
    pub(super) precision: Precision,
    pub(super) workload: Workload,
    /// See [`Operation::is_empty`].
    pub(super) empty: bool,
    /// See [`Operation::fits`].
    pub(super) fits: F,
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

    fn is_empty(&self) -> bool {
        self.empty
    }
}

/// [`Call::fits`] where every device takes it.
pub(super) fn always(_: &Gpu, _: u64) -> bool {
    true
}

/// `whole`, or `in_batches` where the device has no memory for all of it at once and there is something to cut.
pub(super) fn whole_or<R>(
    divisible: bool,
    whole: impl FnOnce() -> Result<R>,
    in_batches: impl FnOnce() -> Result<R>,
) -> Result<R> {
    match whole() {
        Err(error) if error.is_out_of_memory() && divisible => {
            log::info!("{error}; going on in batches");
            in_batches()
        }
        other => other,
    }
}

/// Does the numbers below `total` in batches, one after another: `cut` says which a batch from the first has that may hold `most`, and
/// `size` what it holds. When the device runs out of memory they are halved; only where a single one does not fit is that reported.
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

/// [`in_batches`] of items of one size.
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
