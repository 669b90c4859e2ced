//! What every operation is handed: the device, if there is one, the policy and the budget.

mod builder;

pub use builder::{ContextBuilder, bytes_from};

use crate::cancel::Cancel;
use crate::device::{Adapter, Buffer, Element, Gpu, PoolCounters, WgpuDevice};
use crate::error::{Error, ErrorKind, Result};
use crate::extensions::Extensions;
use crate::policy::{Backend, Choice, Policy, Workload};
use crate::profile::{Profile, Stopwatch};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// A device, if there is one, the policy that chooses between it and the CPU, and the byte budget. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Context {
    gpu: Option<Arc<Gpu>>,
    policy: Policy,
    budget: u64,
    without_gpu: Option<String>,
    extensions: Arc<Extensions>,
    stopwatch: Stopwatch,
    cancel: Cancel,
    /// Threads of this context's own.
    threads: Option<Arc<rayon::ThreadPool>>,
}

impl Context {
    /// The best adapter of this machine beside the CPU, or the CPU alone where there is none.
    ///
    /// `FIEDLER_BACKEND`, `FIEDLER_ADAPTER` and `FIEDLER_MEMORY_BUDGET` (bytes, or with K, M, G) have their say.
    ///
    /// # Errors
    /// [`ErrorKind::NoAdapter`] if the environment asks for an adapter that is not there; [`ErrorKind::Domain`] if it cannot be
    /// understood; device errors.
    pub fn new() -> Result<Self> {
        Self::builder().environment()?.build()
    }

    /// The CPU alone, as the built-in defaults know it: nothing is read, so that it costs nothing to make one.
    #[must_use]
    pub fn cpu() -> Self {
        ContextBuilder::default().backend(Backend::Cpu).tuned(false).cpu_alone(None)
    }

    /// A context on a wgpu device that somebody else owns; [`ContextBuilder::build_on`] is the same with options.
    ///
    /// # Errors
    /// As of [`ContextBuilder::build_on`].
    pub fn from_wgpu(device: WgpuDevice) -> Result<Self> {
        Self::builder().build_on(device)
    }

    /// A context made to measure.
    #[must_use]
    pub fn builder() -> ContextBuilder {
        ContextBuilder::default()
    }

    /// This context with another wish about where operations run.
    #[must_use]
    pub fn with_backend(&self, backend: Backend) -> Self {
        Self { policy: Policy { backend, ..self.policy.clone() }, ..self.clone() }
    }

    /// The number of CPU threads that operations share: this context's own ([`ContextBuilder::threads`]), or those of rayon's
    /// global pool.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads.as_ref().map_or_else(rayon::current_num_threads, |pool| pool.current_num_threads())
    }

    /// The switch that ends the work of this context.
    #[must_use]
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Runs work of the CPU on this context's threads.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`] before it, or after it: what was cancelled on the way may be incomplete.
    pub(crate) fn on_host<R: Send>(&self, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
        self.cancel.check()?;
        let made = self.on_threads(work)?;
        self.cancel.check()?;
        Ok(made)
    }

    /// Runs work that is either done whole or not begun, such as taking a chunk of a stream, on this context's threads.
    pub(crate) fn on_threads<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.threads {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// What the choices rest upon.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The adapter in use.
    #[must_use]
    pub fn adapter(&self) -> Option<&Adapter> {
        self.gpu.as_deref().map(Gpu::adapter)
    }

    /// Why there is no adapter, where there is none.
    #[must_use]
    pub fn without_adapter_because(&self) -> Option<&str> {
        self.without_gpu.as_deref()
    }

    /// The byte budget of working memory, on the device as on the host.
    #[must_use]
    pub fn memory_budget(&self) -> u64 {
        self.budget
    }

    /// Where `workload` would run, and why.
    #[must_use]
    pub fn explain(&self, workload: &Workload, fits: bool) -> Choice {
        self.policy.choose(workload, fits && self.gpu.is_some())
    }

    /// What the device's buffer pool holds; all zero without a device.
    #[must_use]
    pub fn pool(&self) -> PoolCounters {
        self.gpu.as_ref().map(|gpu| gpu.counters()).unwrap_or_default()
    }

    /// Lets go of all device memory that is not in use.
    pub fn trim(&self) {
        if let Some(gpu) = &self.gpu {
            gpu.trim();
        }
    }

    /// Where the time went since the last call, after all that is recorded is done; `None` where nobody asked for it
    /// ([`ContextBuilder::profile`]).
    ///
    /// # Errors
    /// Device errors.
    pub fn profile(&self) -> Result<Option<Profile>> {
        let clock = match &self.gpu {
            Some(gpu) if self.stopwatch.runs() => Some(gpu.booked()?),
            _ => None,
        };
        let pool = self.pool();
        Ok(self.stopwatch.take().map(|mut booked: Profile| {
            booked.adapter = self.adapter().map(|adapter| adapter.name.clone());
            booked.clock = clock.unwrap_or(booked.clock);
            (booked.peak_bytes, booked.budget) = (pool.peak, pool.budget);
            booked
        }))
    }

    /// Books a stage of the program's own in the profile, of this thread and of that time. Nothing happens where no profile was
    /// asked for.
    pub fn stage(&self, stage: &'static str, time: Range<Instant>) {
        self.stopwatch.own(stage, time);
    }

    /// Submits what is recorded and waits until all of it is done.
    ///
    /// # Errors
    /// Device errors.
    pub fn wait(&self) -> Result<()> {
        self.gpu.as_ref().map_or(Ok(()), |gpu| gpu.wait())
    }

    /// Destroys the device, as a driver's reset would: for tests of what a program does then (feature `testing`).
    #[cfg(feature = "testing")]
    pub fn destroy_device(&self) {
        if let Some(gpu) = &self.gpu {
            gpu.destroy();
        }
    }

    /// What calls keep for later ones, a value of each type.
    pub(crate) fn extension<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        self.extensions.get()
    }

    /// The device that `buffer` lies on.
    ///
    /// # Errors
    /// [`ErrorKind::Domain`] if that is another context's.
    pub(crate) fn gpu_of<T: Element>(&self, buffer: &Buffer<T>) -> Result<&Arc<Gpu>> {
        match &self.gpu {
            Some(gpu) if gpu.owns(buffer) => Ok(gpu),
            _ => Err(Error::domain(
                "array",
                "it lies on the device of another context; bring it to the host there first",
            )),
        }
    }

    /// The device, for operations that were told to use it.
    pub(crate) fn gpu(&self) -> Result<&Arc<Gpu>> {
        self.gpu.as_ref().ok_or_else(|| {
            let found = self.without_gpu.iter().cloned().collect();
            ErrorKind::NoAdapter { wanted: "a GPU".to_owned(), found }.into()
        })
    }
}
