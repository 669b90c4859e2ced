//! The context that every operation takes as its first argument.

mod budget;
mod builder;

pub(crate) use budget::DEFAULT_BUDGET;
pub use builder::{ContextBuilder, bytes_from};

use crate::cancel::Cancel;
use crate::clock::Instant;
use crate::device::{Adapter, Buffer, Element, Gpu, PoolCounters, WgpuDevice};
use crate::error::{Error, ErrorKind, Result};
use crate::extensions::Extensions;
use crate::memory::HostMemory;
use crate::parallel;
use crate::policy::{Backend, Choice, Policy, Side, Workload};
use crate::profile::{Profile, Stopwatch};
use budget::Budget;
use std::ops::Range;
use std::sync::Arc;

/// The policy that chooses between the device and the CPU, the byte budget, and the device if there is one. A context
/// is cheap to clone.
#[derive(Clone, Debug)]
pub struct Context {
    gpu: Option<Arc<Gpu>>,
    policy: Policy,
    budget: Budget,
    without_gpu: Option<String>,
    extensions: Arc<Extensions>,
    stopwatch: Stopwatch,
    cancel: Cancel,
    /// The thread pool of this context, or `None` if the context uses rayon's global pool.
    threads: Option<Arc<rayon::ThreadPool>>,
}

impl Context {
    /// Creates a context with the CPU and the best adapter of this machine, or with only the CPU if the machine has no
    /// adapter.
    ///
    /// The environment variables `FIEDLER_BACKEND`, `FIEDLER_ADAPTER` and `FIEDLER_MEMORY_BUDGET` (in bytes, or with
    /// the suffix K, M or G) override the defaults.
    ///
    /// # Errors
    /// [`ErrorKind::NoAdapter`] if the environment names an adapter that the machine does not have;
    /// [`ErrorKind::Domain`] if the value of an environment variable is invalid; device errors.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new() -> Result<Self> {
        Self::builder().environment()?.build()
    }

    /// The async version of `Context::new`, for use where blocking is impossible, such as in a browser. A browser has
    /// no environment variables.
    ///
    /// # Errors
    /// The same as for `Context::new`.
    pub async fn new_async() -> Result<Self> {
        Self::builder().environment()?.build_async().await
    }

    /// Creates a context for the CPU only, with the built-in defaults. Creating it costs nothing, because no file or
    /// environment variable is read.
    #[must_use]
    pub fn cpu() -> Self {
        ContextBuilder::default().backend(Backend::Cpu).tuned(false).cpu_alone(None)
    }

    /// Creates a context on a wgpu device that was opened outside this crate. [`ContextBuilder::build_on`] also accepts
    /// options.
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

    /// Returns a clone of this context in which `backend` determines where operations run.
    #[must_use]
    pub fn with_backend(&self, backend: Backend) -> Self {
        Self { policy: Policy { backend, ..self.policy.clone() }, ..self.clone() }
    }

    /// Returns the number of CPU threads that operations share. The threads belong to this context if
    /// [`ContextBuilder::threads`] was set, otherwise to rayon's global pool.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads.as_ref().map_or_else(rayon::current_num_threads, |pool| pool.current_num_threads())
    }

    /// Returns the switch that cancels the work of this context.
    #[must_use]
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Runs `work` on this context's CPU threads.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`] if the context was canceled before or during the work, because the result may then be
    /// incomplete.
    pub(crate) fn on_host<R: Send>(&self, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
        self.uncanceled(|| self.on_threads(work))
    }

    /// Does the same as [`Context::on_host`] for the work of `choice`, which may be too brief for other threads
    /// ([`Context::install_for`]).
    pub(crate) fn on_host_for<R: Send>(&self, choice: &Choice, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
        self.uncanceled(|| self.install_for(choice, work))
    }

    fn uncanceled<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<R> {
        self.cancel.check()?;
        let made = work()?;
        self.cancel.check()?;
        Ok(made)
    }

    /// Runs `work` on one of this context's threads and waits for it. Everything that `work` runs in parallel, whether
    /// by this crate or by rayon, then shares these threads.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.on_threads(work)
    }

    /// Does the same as [`Context::install`], but runs `work` on the calling thread alone if waking another thread
    /// would take longer, which depends only on the workload of `choice`.
    pub fn install_for<R: Send>(&self, choice: &Choice, work: impl FnOnce() -> R + Send) -> R {
        let alone = choice.side == Side::Cpu && choice.workload.is_brief();
        if alone { parallel::alone(work) } else { self.on_threads(work) }
    }

    /// Runs `work` on this context's threads without checking for cancellation. This is for work that must not be left
    /// half done, such as adding a chunk of a stream.
    pub(crate) fn on_threads<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.threads {
            Some(pool) => pool.install(|| parallel::together(work)),
            None => parallel::together(work),
        }
    }

    /// Returns the policy on which choices are based.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the adapter in use, if there is one.
    #[must_use]
    pub fn adapter(&self) -> Option<&Adapter> {
        self.gpu.as_deref().map(Gpu::adapter)
    }

    /// Returns the reason why the context has no adapter, or `None` if it has one.
    #[must_use]
    pub fn without_adapter_because(&self) -> Option<&str> {
        self.without_gpu.as_deref()
    }

    /// Returns the byte budget for working memory on the host ([`ContextBuilder::memory_budget`]).
    #[must_use]
    pub fn memory_budget(&self) -> u64 {
        self.budget.host
    }

    /// Returns the byte budget for buffers on the device.
    pub(crate) fn device_budget(&self) -> u64 {
        self.budget.device
    }

    /// Returns where `workload` would run, and why. `fits` says whether the device's kernels can handle the workload.
    #[must_use]
    pub fn explain(&self, workload: &Workload, fits: bool) -> Choice {
        self.policy.choose(workload, fits && self.gpu.is_some())
    }

    /// Returns the counters of the device's buffer pool. All counters are zero if there is no device.
    #[must_use]
    pub fn pool(&self) -> PoolCounters {
        self.gpu.as_ref().map(|gpu| gpu.counters()).unwrap_or_default()
    }

    /// Frees all device memory that is not in use, and the host memory that is kept for large results.
    pub fn trim(&self) {
        self.host_memory().trim();
        if let Some(gpu) = &self.gpu {
            gpu.trim();
        }
    }

    /// Waits until all recorded work is done, and returns the profile of the time since the last call of this function.
    /// Returns `None` if no profile was requested ([`ContextBuilder::profile`]).
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

    /// Records a stage of the calling program in the profile. The stage ran on the current thread during `time`. Does
    /// nothing if no profile was requested.
    pub fn stage(&self, stage: &'static str, time: Range<Instant>) {
        self.stopwatch.own(stage, time);
    }

    /// Returns the stopwatch with which this library times its own stages.
    pub(crate) fn stopwatch(&self) -> &Stopwatch {
        &self.stopwatch
    }

    /// Submits the recorded work and waits until all submitted work is done.
    ///
    /// # Errors
    /// Device errors.
    pub fn wait(&self) -> Result<()> {
        self.gpu.as_ref().map_or(Ok(()), |gpu| gpu.wait())
    }

    /// Destroys the device, as a driver reset would, to test how a program handles the loss (feature `testing`).
    #[cfg(feature = "testing")]
    pub fn destroy_device(&self) {
        if let Some(gpu) = &self.gpu {
            gpu.destroy();
        }
    }

    /// Returns a vector for a result of `len` elements, of which the caller writes every element.
    /// [`Storage::host_from`](crate::array::Storage::host_from) makes it an array whose memory is used again.
    pub(crate) fn room<T: bytemuck::Pod + Send>(&self, len: usize) -> Vec<T> {
        self.host_memory().take(len, self.budget.host)
    }

    /// Does the same as [`Context::room`], for a result of which elements that are not written are 0.
    pub(crate) fn zeroed_room<T: bytemuck::Pod + Send>(&self, len: usize) -> Vec<T> {
        self.host_memory().take_zeroed(len, self.budget.host)
    }

    /// Returns the host memory that large results use again.
    pub(crate) fn host_memory(&self) -> Arc<HostMemory> {
        self.extension()
    }

    /// Returns the value of type `T` that calls on this context share, such as a table. The first call creates the
    /// value.
    pub(crate) fn extension<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        self.extensions.get()
    }

    /// Returns the device that holds `buffer`.
    ///
    /// # Errors
    /// [`ErrorKind::Domain`] if `buffer` is on the device of another context.
    pub(crate) fn gpu_of<T: Element>(&self, buffer: &Buffer<T>) -> Result<&Arc<Gpu>> {
        match &self.gpu {
            Some(gpu) if gpu.owns(buffer) => Ok(gpu),
            _ => {
                Err(Error::domain("array", "it is on the device of another context; bring it to the host there first"))
            }
        }
    }

    /// Returns the device.
    pub(crate) fn gpu(&self) -> Result<&Arc<Gpu>> {
        self.gpu.as_ref().ok_or_else(|| {
            let found = self.without_gpu.iter().cloned().collect();
            ErrorKind::NoAdapter { wanted: "a GPU".to_owned(), found }.into()
        })
    }
}
