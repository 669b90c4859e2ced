//! What every operation is handed: the device, if there is one, the policy and the budget.

use crate::cancel::Cancel;
use crate::device::{Adapter, Buffer, DeviceOptions, Element, Gpu, PoolCounters, WgpuDevice};
use crate::error::{Error, ErrorKind, Result};
use crate::kept::Kept;
use crate::policy::{self, Backend, Choice, DeviceClass, Machine, Policy, Rates, Slower, Stored, Tuning, Workload};
use crate::profile::{Profile, Stopwatch};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// The byte budget where none is given: a quarter of the smallest discrete GPU in use, and harmless beside a CPU.
const DEFAULT_BUDGET: u64 = 2 << 30;

/// A device, if there is one, the policy that chooses between it and the CPU, and the byte budget. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Context {
    gpu: Option<Arc<Gpu>>,
    policy: Policy,
    budget: u64,
    without_gpu: Option<String>,
    kept: Arc<Kept>,
    stopwatch: Stopwatch,
    cancel: Cancel,
    /// Threads of this context's own.
    threads: Option<Arc<rayon::ThreadPool>>,
}

/// How a [`Context`] is made.
#[derive(Clone, Debug)]
pub struct ContextBuilder {
    adapter: Option<String>,
    backend: Option<Backend>,
    budget: Option<u64>,
    threads: Option<usize>,
    cancel: Cancel,
    checked: bool,
    poison: bool,
    profile: bool,
    timestamps: bool,
    software_as_gpu: bool,
    kernels: Option<&'static [&'static str]>,
    tuned: bool,
    device: bool,
    rates: Option<Rates>,
    refused: bool,
    spoilt: Option<String>,
}

impl Default for ContextBuilder {
    fn default() -> Self {
        Self {
            adapter: None,
            backend: None,
            budget: None,
            threads: None,
            cancel: Cancel::new(),
            checked: cfg!(debug_assertions),
            poison: false,
            profile: false,
            timestamps: true,
            software_as_gpu: false,
            kernels: None,
            tuned: true,
            device: true,
            rates: None,
            refused: false,
            spoilt: None,
        }
    }
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
        let why = "the CPU alone was asked for".to_owned();
        let builder = ContextBuilder { backend: Some(Backend::Cpu), tuned: false, ..ContextBuilder::default() };
        Self::assemble(None, &builder, builder.found(None), Some(why), None)
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

    fn assemble(
        gpu: Option<Arc<Gpu>>,
        builder: &ContextBuilder,
        (rates, measured): (Rates, [bool; 2]),
        without_gpu: Option<String>,
        threads: Option<Arc<rayon::ThreadPool>>,
    ) -> Self {
        let class = builder.class(gpu.as_ref().map(|gpu| gpu.adapter()));
        let policy = Policy { backend: builder.backend.unwrap_or_default(), class, rates: rates.into(), measured };
        let stopwatch = gpu.as_ref().map_or_else(|| Stopwatch::new(builder.profile), |gpu| gpu.stopwatch().clone());
        let (budget, cancel) = (builder.budget(), builder.cancel.clone());
        Self { gpu, policy, budget, without_gpu, kept: Arc::default(), stopwatch, cancel, threads }
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
    pub(crate) fn kept<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        self.kept.get()
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

impl ContextBuilder {
    /// The adapter whose name or driver contains this, in any case: the only way to a software adapter. `NAME#1` is the second one that
    /// fits, `pci:0000:41:00.0` the one at that PCI address ([`Adapter::pci`]).
    #[must_use]
    pub fn adapter(mut self, name: impl Into<String>) -> Self {
        self.adapter = Some(name.into());
        self
    }

    /// Where operations run.
    #[must_use]
    pub fn backend(mut self, backend: Backend) -> Self {
        self.backend = Some(backend);
        self
    }

    /// The most bytes of working memory, on the device as on the host.
    #[must_use]
    pub fn memory_budget(mut self, bytes: u64) -> Self {
        self.budget = Some(bytes);
        self
    }

    /// The number of CPU threads that operations share (0: one for each core). Without it they use rayon's global pool, which
    /// `RAYON_NUM_THREADS` sizes. No result depends on the number, except through the side that [`Backend::Auto`] chooses.
    #[must_use]
    pub fn threads(mut self, count: usize) -> Self {
        self.threads = Some(count);
        self
    }

    /// The switch that ends the work of the context, and of every clone of it. With a device, contexts that share it share the switch.
    #[must_use]
    pub fn cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Keep the run-time checks in the shaders (default: in debug builds).
    #[must_use]
    pub fn checked(mut self, yes: bool) -> Self {
        self.checked = yes;
        self
    }

    /// Fill every buffer that the pool hands out with 1e30: for tests (feature `testing`).
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn poison(mut self, yes: bool) -> Self {
        self.poison = yes;
        self
    }

    /// Book where the time goes, for [`Context::profile`]: each kernel by timestamps, which costs a pass for each dispatch; where the
    /// adapter has none, by the host's clock, which costs a submission and a wait for each dispatch.
    #[must_use]
    pub fn profile(mut self, yes: bool) -> Self {
        self.profile = yes;
        self
    }

    /// Measure kernels with the adapter's timestamps (default), or by the host's clock as if it had none.
    #[must_use]
    pub fn timestamps(mut self, yes: bool) -> Self {
        self.timestamps = yes;
        self
    }

    /// Let the policy weigh a software adapter as if it were a discrete GPU: to exercise its choices where there is none.
    #[must_use]
    pub fn software_as_gpu(mut self, yes: bool) -> Self {
        self.software_as_gpu = yes;
        self
    }

    /// The forms of kernels that may be used where there are several for the same work (`tiny`, `lane`, `register`, `workgroup`,
    /// `blocked`; products: `tiny`, `direct`, `tile_64`, `tile_128`, and `cooperative`, which is used by name alone; Fourier transforms:
    /// kernels of `known` lengths, `long` passes where workgroups have the memory, `narrow` workgroups on software adapters): for tests and
    /// measurements. What none of them can do is beyond the device.
    #[must_use]
    pub fn kernels(mut self, forms: &'static [&'static str]) -> Self {
        self.kernels = Some(forms);
        self
    }

    /// Whether what `fiedler tune` measured on this machine is read (default: yes).
    #[must_use]
    pub fn tuned(mut self, yes: bool) -> Self {
        self.tuned = yes;
        self
    }

    /// Whether an adapter is looked for unasked, by name or by [`Backend::Gpu`] (default: yes). Where there is little to do, all of it is
    /// done on the CPU in less time than a device takes to open: a tenth of a second to one.
    #[must_use]
    pub fn device(mut self, yes: bool) -> Self {
        self.device = yes;
        self
    }

    /// The rates by which times are predicted and forms of kernels chosen, in the place of what was measured and of the defaults.
    #[must_use]
    pub fn rates(mut self, rates: Rates) -> Self {
        self.rates = Some(rates);
        self
    }

    /// Be refused the device when it is opened, as a driver might: for tests of what is said then (feature `testing`).
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn fail_to_open(mut self, yes: bool) -> Self {
        self.refused = yes;
        self
    }

    /// Make the kernel of that name wrong, as a driver's compiler might: sums of floating-point numbers become differences, and what is
    /// stored of them is a sixteenth too large. For tests of what tells right from wrong (feature `testing`).
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn spoil_kernel(mut self, name: impl Into<String>) -> Self {
        self.spoilt = Some(name.into());
        self
    }

    /// What the environment says, where nothing was said before.
    ///
    /// # Errors
    /// [`ErrorKind::Domain`] if it cannot be understood.
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

    /// Opens the device, if one is wanted.
    ///
    /// # Errors
    /// [`ErrorKind::NoAdapter`] if a named adapter, or under [`Backend::Gpu`] any GPU, is not there; [`ErrorKind::Domain`] if the
    /// system cannot start that many threads; device errors.
    pub fn build(self) -> Result<Context> {
        let pool = self.pool()?;
        if self.backend == Some(Backend::Cpu) {
            return Ok(Context::assemble(
                None,
                &self,
                self.found(None),
                Some("the CPU alone was asked for".to_owned()),
                pool,
            ));
        }
        if !self.device && self.backend != Some(Backend::Gpu) && self.adapter.is_none() {
            let why = "GPU detection was disabled".to_owned();
            return Ok(Context::assemble(None, &self, self.found(None), Some(why), pool));
        }
        let began = Instant::now();
        let mut found = None;
        match Gpu::open(self.adapter.as_deref(), self.options(), &mut |adapter| self.learn(adapter, &mut found)) {
            Ok(gpu) => {
                let rates = found.unwrap_or_else(|| self.found(None));
                let ctx = Context::assemble(Some(gpu), &self, rates, None, pool);
                ctx.stopwatch.end("open", "", Some(began));
                Ok(ctx)
            }
            Err(error) if self.backend != Some(Backend::Gpu) && self.adapter.is_none() => {
                log::info!("the CPU alone: {error}");
                Ok(Context::assemble(None, &self, self.found(None), Some(error.to_string()), pool))
            }
            Err(error) => Err(error),
        }
    }

    /// The same on a wgpu device that somebody else owns. No adapter is chosen.
    ///
    /// # Errors
    /// [`ErrorKind::Domain`] if the system cannot start that many threads.
    pub fn build_on(self, device: WgpuDevice) -> Result<Context> {
        let pool = self.pool()?;
        let mut found = None;
        let gpu = Gpu::adopt(device, self.options(), &mut |adapter| self.learn(adapter, &mut found));
        Ok(Context::assemble(Some(gpu), &self, found.unwrap_or_else(|| self.found(None)), None, pool))
    }

    /// Threads of the context's own, where a number was asked for.
    fn pool(&self) -> Result<Option<Arc<rayon::ThreadPool>>> {
        let Some(count) = self.threads else { return Ok(None) };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
        let pool = pool.map_err(|error| Error::domain("threads", format!("{count} cannot be started: {error}")))?;
        Ok(Some(Arc::new(pool)))
    }

    /// What the adapter is to the policy.
    fn class(&self, adapter: Option<&Adapter>) -> DeviceClass {
        match adapter.map(|adapter| adapter.class) {
            None if !self.device => DeviceClass::Unopened,
            None => DeviceClass::Absent,
            Some("software") if !self.software_as_gpu => DeviceClass::Software,
            Some("integrated") => DeviceClass::Integrated,
            Some(_) => DeviceClass::Discrete,
        }
    }

    /// The rates, and which of them were measured on this machine: those that were handed over, those that are stored, or the defaults
    /// of the class.
    fn found(&self, adapter: Option<&Adapter>) -> (Rates, [bool; 2]) {
        if let Some(rates) = &self.rates {
            return (rates.clone(), [true; 2]);
        }
        let threads = self.threads.filter(|&count| count > 0).unwrap_or_else(rayon::current_num_threads);
        let (mut rates, mut measured) = (Rates::of(self.class(adapter), threads), [false; 2]);
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

    /// Finds the rates of an adapter; the device has to know which forms of kernels are slower.
    fn learn(&self, adapter: &Adapter, found: &mut Option<(Rates, [bool; 2])>) -> Vec<Slower> {
        let (rates, _) = found.insert(self.found(Some(adapter)));
        rates.gpu.slower.clone()
    }

    fn budget(&self) -> u64 {
        self.budget.unwrap_or(DEFAULT_BUDGET)
    }

    fn options(&self) -> DeviceOptions {
        let Self { checked, poison, profile, timestamps, kernels, refused, .. } = *self;
        let (budget, spoilt, cancel) = (self.budget(), self.spoilt.clone(), self.cancel.clone());
        DeviceOptions { budget, cancel, checked, poison, profile, timestamps, kernels, refused, spoilt }
    }
}

/// Bytes from `123`, `64K`, `512M`, `2G` (powers of 1024; `KiB` and `KB` say the same).
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
