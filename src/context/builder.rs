//! The builder of a context, which sets the adapter, the rates, the budget and other options.

use super::Context;
use super::budget::Budget;
use crate::cancel::Cancel;
use crate::clock::Instant;
use crate::device::{Adapter, Chosen, DeviceOptions, Gpu, WgpuDevice};
use crate::error::{Error, Result};
use crate::forms::KernelForm;
use crate::policy::{self, Backend, DeviceClass, Machine, Policy, Rates, Stored, Tuning};
use crate::profile::Stopwatch;
use std::sync::Arc;

/// Why a context has no adapter if its caller wants none.
const UNWANTED: &str = "GPU detection was disabled";

/// The rates, and two flags that say whether the CPU's rates and the device's rates were measured on this machine.
type Rated = (Rates, [bool; 2]);

/// A builder of a [`Context`].
#[derive(Clone, Debug)]
pub struct ContextBuilder {
    adapter: Option<String>,
    backend: Option<Backend>,
    budget: Option<u64>,
    threads: Option<usize>,
    pool: Option<Arc<rayon::ThreadPool>>,
    cancel: Cancel,
    checked: bool,
    poison: bool,
    profile: bool,
    timestamps: bool,
    software_as_gpu: bool,
    kernels: Vec<KernelForm>,
    tuned: bool,
    device: bool,
    rates: Option<Rates>,
    refused: bool,
    spoiled: Option<String>,
    shared: Option<Arc<Gpu>>,
}

impl Default for ContextBuilder {
    fn default() -> Self {
        Self {
            adapter: None,
            backend: None,
            budget: None,
            threads: None,
            pool: None,
            cancel: Cancel::new(),
            checked: cfg!(debug_assertions),
            poison: false,
            profile: false,
            timestamps: true,
            software_as_gpu: false,
            kernels: Vec::new(),
            tuned: true,
            device: true,
            rates: None,
            refused: false,
            spoiled: None,
            shared: None,
        }
    }
}

impl ContextBuilder {
    /// Selects the first adapter whose name or driver contains `name`, ignoring case. A software adapter must be
    /// selected this way. `NAME#1` selects the second match, and `pci:0000:41:00.0` selects the adapter at that PCI
    /// address ([`Adapter::pci`]).
    #[must_use]
    pub fn adapter(mut self, name: impl Into<String>) -> Self {
        self.adapter = Some(name.into());
        self
    }

    /// Shares the device and the compiled kernels of another context. If `other` has no device, the new context does
    /// not search for one, as with [`device(false)`](ContextBuilder::device). The new context has separate buffers and
    /// a separate memory budget, cancel switch ([`ContextBuilder::cancel`]) and profile. A program can therefore give
    /// each of its requests a separate switch without compiling any kernel twice. Neither context accepts device arrays
    /// of the other.
    #[must_use]
    pub fn device_of(mut self, other: &Context) -> Self {
        self.shared = other.gpu.clone();
        self.device = other.gpu.is_some();
        self
    }

    /// Sets where operations run.
    #[must_use]
    pub fn backend(mut self, backend: Backend) -> Self {
        self.backend = Some(backend);
        self
    }

    /// Sets the maximum number of bytes of working memory. The limit applies separately to the device and to the host.
    /// By default, the host's is half of the memory that this process may use, and the device's is 2 GiB, because
    /// WebGPU does not tell how much memory a device has. In a browser, both are 512 MiB.
    #[must_use]
    pub fn memory_budget(mut self, bytes: u64) -> Self {
        self.budget = Some(bytes);
        self
    }

    /// Sets the number of CPU threads that operations share; 0 means one thread per core. By default, operations use
    /// rayon's global pool, whose size is set by `RAYON_NUM_THREADS`. The number of threads does not affect any result,
    /// except that it may change the side that [`Backend::Auto`] chooses.
    #[must_use]
    pub fn threads(mut self, count: usize) -> Self {
        (self.threads, self.pool) = (Some(count), None);
        self
    }

    /// Shares the CPU threads of another context.
    #[must_use]
    pub fn threads_of(mut self, other: &Context) -> Self {
        self.threads = Some(other.threads());
        self.pool = other.threads.clone();
        self
    }

    /// Sets the switch that cancels the work of the context and of all its clones.
    #[must_use]
    pub fn cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Sets whether the shaders keep their run-time checks. By default, they do so in debug builds only.
    #[must_use]
    pub fn checked(mut self, yes: bool) -> Self {
        self.checked = yes;
        self
    }

    /// Sets whether every buffer that the pool lends is filled with 1e30, for tests (feature `testing`).
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn poison(mut self, yes: bool) -> Self {
        self.poison = yes;
        self
    }

    /// Sets whether to record how long each kernel and each stage takes, for [`Context::profile`]. Kernels are timed
    /// with the adapter's timestamps, which require a separate pass for each dispatch. If the adapter has no
    /// timestamps, kernels are timed with the host's clock, which requires a submission and a wait for each dispatch.
    #[must_use]
    pub fn profile(mut self, yes: bool) -> Self {
        self.profile = yes;
        self
    }

    /// Sets whether kernels are timed with the adapter's timestamps (the default). Otherwise they are timed with the
    /// host's clock, as on an adapter without timestamps.
    #[must_use]
    pub fn timestamps(mut self, yes: bool) -> Self {
        self.timestamps = yes;
        self
    }

    /// Sets whether the policy treats a software adapter as a discrete GPU, to test the choices of the policy on a
    /// machine without a GPU.
    #[must_use]
    pub fn software_as_gpu(mut self, yes: bool) -> Self {
        self.software_as_gpu = yes;
        self
    }

    /// Sets the kernel forms that may be used, for tests and measurements. If the list has no form of a family, all
    /// forms of that family may be used. Work that no allowed form can do cannot run on the device.
    #[must_use]
    pub fn kernels(mut self, forms: &[KernelForm]) -> Self {
        self.kernels = forms.to_vec();
        self
    }

    /// Sets whether to read the rates that `fiedler tune` measured on this machine (default: yes).
    #[must_use]
    pub fn tuned(mut self, yes: bool) -> Self {
        self.tuned = yes;
        self
    }

    /// Sets whether to search for an adapter if neither [`ContextBuilder::adapter`] nor [`Backend::Gpu`] requests one
    /// (default: yes). Opening a device takes between a tenth of a second and one second, and the CPU finishes a small
    /// job in less time.
    #[must_use]
    pub fn device(mut self, yes: bool) -> Self {
        self.device = yes;
        self
    }

    /// Sets the rates from which the cost model predicts times and chooses kernel forms. They replace the measured
    /// rates and the defaults.
    #[must_use]
    pub fn rates(mut self, rates: Rates) -> Self {
        self.rates = Some(rates);
        self
    }

    /// Sets whether opening the device fails, as if the driver refused it, to test how the failure is reported (feature
    /// `testing`).
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn fail_to_open(mut self, yes: bool) -> Self {
        self.refused = yes;
        self
    }

    /// Makes the kernel with the given name compute wrong results, as a faulty driver compiler might. Sums of
    /// floating-point values become differences, and stored f32 values become a sixteenth too large. This tests the
    /// checks that detect wrong results (feature `testing`).
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn spoil_kernel(mut self, name: impl Into<String>) -> Self {
        self.spoiled = Some(name.into());
        self
    }

    /// Reads the environment variables. A variable sets its option only if the option is not set yet.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if the value of an environment variable is invalid.
    pub fn environment(mut self) -> Result<Self> {
        let said = |name: &'static str| std::env::var(name).ok().filter(|value| !value.is_empty());
        if self.adapter.is_none() {
            self.adapter = said("FIEDLER_ADAPTER");
        }
        if let (None, Some(text)) = (self.backend, said("FIEDLER_BACKEND")) {
            self.backend = Some(text.parse().map_err(|e| Error::domain("FIEDLER_BACKEND", e))?);
        }
        if let (None, Some(text)) = (self.budget, said("FIEDLER_MEMORY_BUDGET")) {
            self.budget = Some(bytes_from(&text).ok_or_else(|| {
                Error::domain("FIEDLER_MEMORY_BUDGET", format!("expected bytes such as 512M or 2G, found `{text}`"))
            })?);
        }
        if let (None, Some(text)) = (self.threads, said("FIEDLER_THREADS")) {
            let count = text.parse().ok().filter(|&count| count > 0);
            self.threads = Some(count.ok_or_else(|| {
                Error::domain("FIEDLER_THREADS", format!("expected a number of threads of 1 or more, found `{text}`"))
            })?);
        }
        self.software_as_gpu |= said("FIEDLER_SOFTWARE_AS_GPU").is_some_and(|value| value == "1");
        Ok(self)
    }

    /// Builds the context and opens the device, if the options request a device. In a browser, where blocking is
    /// impossible, there is only `build_async`.
    ///
    /// # Errors
    /// [`NoAdapter`](crate::ErrorKind::NoAdapter) if the machine does not have the named adapter or, with
    /// [`Backend::Gpu`], has no GPU; [`Domain`](crate::ErrorKind::Domain) if the system cannot start the requested
    /// number of threads; device errors.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn build(self) -> Result<Context> {
        pollster::block_on(self.build_async())
    }

    /// The async version of `build`, for use where blocking is impossible.
    ///
    /// # Errors
    /// The same as for `build`.
    pub async fn build_async(self) -> Result<Context> {
        let pool = self.pool()?;
        if let Some(ctx) = self.without_device(pool.clone()) {
            return Ok(ctx);
        }
        let began = Instant::now();
        match self.open().await {
            Ok((gpu, rates)) => {
                let ctx = self.assemble(Some(gpu), rates, None, pool);
                ctx.stopwatch.end("open", "", Some(began));
                Ok(ctx)
            }
            Err(error) if self.backend != Some(Backend::Gpu) && self.adapter.is_none() => {
                log::info!("the CPU alone: {error}");
                Ok(self.assemble(None, self.rated(None), Some(error.to_string()), pool))
            }
            Err(error) => Err(error),
        }
    }

    /// Builds the context on a wgpu device that the caller owns. No adapter is searched for.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if the system cannot start the requested number of threads.
    pub fn build_on(self, device: WgpuDevice) -> Result<Context> {
        let pool = self.pool()?;
        let rates = self.rated(Some(&device.describe()));
        let gpu = Gpu::adopt(device, self.options(&rates.0));
        Ok(self.assemble(Some(gpu), rates, None, pool))
    }

    /// Opens the selected adapter and returns the device with its rates. The rates are read first, because they
    /// list the kernel forms that are slower on the adapter, and opening the device needs this list.
    async fn open(&self) -> Result<(Arc<Gpu>, Rated)> {
        if let Some(gpu) = &self.shared {
            let rates = self.rated(Some(gpu.adapter()));
            return Ok((gpu.for_context(self.options(&rates.0)), rates));
        }
        let chosen = Chosen::new(self.adapter.as_deref()).await?;
        let rates = self.rated(Some(chosen.adapter()));
        let gpu = Gpu::open(chosen, self.options(&rates.0)).await?;
        Ok((gpu, rates))
    }

    /// Builds the context if the options request no device.
    fn without_device(&self, pool: Option<Arc<rayon::ThreadPool>>) -> Option<Context> {
        if self.backend == Some(Backend::Cpu) {
            return Some(self.cpu_alone(pool));
        }
        let unwanted = !self.device && self.backend != Some(Backend::Gpu) && self.adapter.is_none();
        unwanted.then(|| self.assemble(None, self.rated(None), Some(UNWANTED.to_owned()), pool))
    }

    /// Builds a context for the CPU with `count` threads, for work that no device could do.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if the system cannot start the threads.
    pub(crate) fn on_threads(count: usize, cancel: Cancel) -> Result<Context> {
        let builder = Self::default().device(false).threads(count).cancel(cancel);
        let pool = builder.pool()?;
        Ok(builder.assemble(None, builder.rated(None), Some(UNWANTED.to_owned()), pool))
    }

    /// Builds a context for the CPU only, at the request of the caller.
    pub(super) fn cpu_alone(&self, threads: Option<Arc<rayon::ThreadPool>>) -> Context {
        self.assemble(None, self.rated(None), Some("the CPU alone was asked for".to_owned()), threads)
    }

    fn assemble(
        &self,
        gpu: Option<Arc<Gpu>>,
        (rates, measured): Rated,
        without_gpu: Option<String>,
        threads: Option<Arc<rayon::ThreadPool>>,
    ) -> Context {
        let class = self.class(gpu.as_ref().map(|gpu| gpu.adapter()));
        let policy = Policy { backend: self.backend.unwrap_or_default(), class, rates: rates.into(), measured };
        let stopwatch = gpu.as_ref().map_or_else(|| Stopwatch::new(self.profile), |gpu| gpu.stopwatch().clone());
        let (budget, cancel) = (Budget::of(self.budget), self.cancel.clone());
        Context { gpu, policy, budget, without_gpu, extensions: Arc::default(), stopwatch, cancel, threads }
    }

    /// Returns the thread pool of the context, if a number of threads or another context's pool was set.
    fn pool(&self) -> Result<Option<Arc<rayon::ThreadPool>>> {
        if self.pool.is_some() {
            return Ok(self.pool.clone());
        }
        let Some(count) = self.threads else { return Ok(None) };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
        let pool = pool.map_err(|error| Error::domain("threads", format!("{count} cannot be started: {error}")))?;
        Ok(Some(Arc::new(pool)))
    }

    /// Returns the class that the policy gives to the adapter.
    fn class(&self, adapter: Option<&Adapter>) -> DeviceClass {
        match adapter.map(|adapter| adapter.class) {
            None if !self.device => DeviceClass::Unopened,
            None => DeviceClass::Absent,
            Some("software") if !self.software_as_gpu => DeviceClass::Software,
            // A browser does not say what its adapter is; most are integrated.
            Some("integrated" | "other") => DeviceClass::Integrated,
            Some(_) => DeviceClass::Discrete,
        }
    }

    /// Returns the rates, and flags that say which of them were measured on this machine. The rates are those set in
    /// the builder, else those stored by `fiedler tune`, else the defaults of the adapter's class.
    fn rated(&self, adapter: Option<&Adapter>) -> Rated {
        if let Some(rates) = &self.rates {
            return (rates.clone(), [true; 2]);
        }
        let threads = self.threads.filter(|&count| count > 0).unwrap_or_else(rayon::current_num_threads);
        let (mut rates, mut measured) = (self.default_rates(adapter, threads), [false; 2]);
        let Some(folder) = policy::folder().filter(|_| self.tuned) else { return (rates, measured) };
        if let Some(Tuning::Cpu(cpu)) = Stored::of(&folder, &Machine::cpu(threads)).tuning() {
            (rates.cpu, measured[0]) = (cpu, true);
        }
        let gpu = adapter.map(|a| Machine::adapter(&a.name, &a.backend, &a.driver));
        if let Some(Tuning::Gpu(gpu)) = gpu.and_then(|machine| Stored::of(&folder, &machine).tuning()) {
            (rates.gpu, measured[1]) = (gpu, true);
        }
        (rates, measured)
    }

    fn default_rates(&self, adapter: Option<&Adapter>, threads: usize) -> Rates {
        Rates::of(self.class(adapter), adapter.map_or(0, |adapter| adapter.vendor), threads)
    }

    fn options(&self, rates: &Rates) -> DeviceOptions {
        let Self { checked, poison, profile, timestamps, refused, .. } = *self;
        let kernels = self.kernels.clone();
        let budget = Budget::of(self.budget).device;
        let (spoiled, cancel) = (self.spoiled.clone(), self.cancel.clone());
        let (slower, matrix_units) = (rates.gpu.slower.clone(), rates.gpu.matrix_units);
        DeviceOptions {
            budget,
            cancel,
            checked,
            poison,
            profile,
            timestamps,
            kernels,
            slower,
            matrix_units,
            refused,
            spoiled,
        }
    }
}

/// Parses a number of bytes from a text such as `123`, `64K`, `512M` or `2G`. The units are powers of 1024, and `KiB`
/// and `KB` mean the same as `K`.
#[must_use]
pub fn bytes_from(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        _ => return None,
    };
    digits.trim().parse::<u64>().ok()?.checked_mul(1 << shift).filter(|&bytes| bytes > 0)
}
