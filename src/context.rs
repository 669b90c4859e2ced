//! The context that every operation takes: the device, if there is one, the policy and the budget.

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

/// The device, if there is one, the policy that chooses between it and the CPU, and the byte budget.
/// It is cheap to clone.
#[derive(Clone, Debug)]
pub struct Context {
    gpu: Option<Arc<Gpu>>,
    policy: Policy,
    budget: u64,
    without_gpu: Option<String>,
    extensions: Arc<Extensions>,
    stopwatch: Stopwatch,
    cancel: Cancel,
    /// The context's own threads, if it has any.
    threads: Option<Arc<rayon::ThreadPool>>,
}

impl Context {
    /// Creates a context with the CPU and the best adapter of this machine, or with the CPU alone if there is none.
    ///
    /// `FIEDLER_BACKEND`, `FIEDLER_ADAPTER` and `FIEDLER_MEMORY_BUDGET` (bytes, or with K, M, G) override the defaults.
    ///
    /// # Errors
    /// [`ErrorKind::NoAdapter`] if the environment asks for an adapter that is not there; [`ErrorKind::Domain`] if a
    /// variable cannot be understood; device errors.
    pub fn new() -> Result<Self> {
        Self::builder().environment()?.build()
    }

    /// Creates a context for the CPU alone, with the built-in defaults. It reads nothing, so
    /// creating one costs nothing.
    #[must_use]
    pub fn cpu() -> Self {
        ContextBuilder::default().backend(Backend::Cpu).tuned(false).cpu_alone(None)
    }

    /// Creates a context on a wgpu device that was opened outside this crate.
    /// [`ContextBuilder::build_on`] does the same with options.
    ///
    /// # Errors
    /// The same as for [`ContextBuilder::build_on`].
    pub fn from_wgpu(device: WgpuDevice) -> Result<Self> {
        Self::builder().build_on(device)
    }

    /// Returns a builder, which configures a context.
    #[must_use]
    pub fn builder() -> ContextBuilder {
        ContextBuilder::default()
    }

    /// Returns this context with another setting of where operations run.
    #[must_use]
    pub fn with_backend(&self, backend: Backend) -> Self {
        Self { policy: Policy { backend, ..self.policy.clone() }, ..self.clone() }
    }

    /// Returns the number of CPU threads that operations share: this context's own
    /// ([`ContextBuilder::threads`]), or those of rayon's global pool.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads.as_ref().map_or_else(rayon::current_num_threads, |pool| pool.current_num_threads())
    }

    /// Returns the switch that ends the work of this context.
    #[must_use]
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Runs work for the CPU on this context's threads.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`] if the switch is set before the work or after it, because canceled
    /// work may be incomplete.
    pub(crate) fn on_host<R: Send>(&self, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
        self.cancel.check()?;
        let made = self.on_threads(work)?;
        self.cancel.check()?;
        Ok(made)
    }

    /// Runs work that is either completed or not begun, such as taking a chunk of a stream, on this context's threads.
    pub(crate) fn on_threads<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.threads {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// Returns the policy on which choices are based.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the adapter in use.
    #[must_use]
    pub fn adapter(&self) -> Option<&Adapter> {
        self.gpu.as_deref().map(Gpu::adapter)
    }

    /// Returns why there is no adapter, if there is none.
    #[must_use]
    pub fn without_adapter_because(&self) -> Option<&str> {
        self.without_gpu.as_deref()
    }

    /// Returns the byte budget of working memory, which holds for the device as well as for the host.
    #[must_use]
    pub fn memory_budget(&self) -> u64 {
        self.budget
    }

    /// Returns where `workload` would run, and why; `fits` says whether the device's kernels can take it.
    #[must_use]
    pub fn explain(&self, workload: &Workload, fits: bool) -> Choice {
        self.policy.choose(workload, fits && self.gpu.is_some())
    }

    /// Returns the counters of the device's buffer pool; all are zero without a device.
    #[must_use]
    pub fn pool(&self) -> PoolCounters {
        self.gpu.as_ref().map(|gpu| gpu.counters()).unwrap_or_default()
    }

    /// Frees all device memory that is not in use.
    pub fn trim(&self) {
        if let Some(gpu) = &self.gpu {
            gpu.trim();
        }
    }

    /// Returns where the time went since the last call, after all recorded work is done; `None` if no profile was
    /// requested ([`ContextBuilder::profile`]).
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

    /// Books one of the program's own stages in the profile, for this thread and that time. It does
    /// nothing if no profile was requested.
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

    /// Destroys the device, as a driver reset would, to test what a program does then (feature `testing`).
    #[cfg(feature = "testing")]
    pub fn destroy_device(&self) {
        if let Some(gpu) = &self.gpu {
            gpu.destroy();
        }
    }

    /// Returns what calls keep for later ones, one value of each type.
    pub(crate) fn extension<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        self.extensions.get()
    }

    /// Returns the device that holds `buffer`.
    ///
    /// # Errors
    /// [`ErrorKind::Domain`] if that is another context's device.
    pub(crate) fn gpu_of<T: Element>(&self, buffer: &Buffer<T>) -> Result<&Arc<Gpu>> {
        match &self.gpu {
            Some(gpu) if gpu.owns(buffer) => Ok(gpu),
            _ => {
                Err(Error::domain("array", "it is on the device of another context; bring it to the host there first"))
            }
        }
    }

    /// Returns the device, for operations that were told to use it.
    pub(crate) fn gpu(&self) -> Result<&Arc<Gpu>> {
        self.gpu.as_ref().ok_or_else(|| {
            let found = self.without_gpu.iter().cloned().collect();
            ErrorKind::NoAdapter { wanted: "a GPU".to_owned(), found }.into()
        })
    }
}
