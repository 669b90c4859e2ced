//! The context that every operation takes: settings, from which a process opens its threads and its device when the
//! first call needs them.

use crate::errors::raised;
use crate::processes::PerProcess;
use fiedler::cache::Cache;
use fiedler::policy::{Choice, Rates, Workload};
use fiedler::{Backend, Cancel, Context, ContextBuilder, Error, ErrorKind, Result};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// `auto` looks for an adapter only if the predicted CPU time, in seconds, is at least this: opening one takes 0.1 to 1
/// seconds. The command has the same rule.
const WORTH_OPENING: f64 = 0.5;

/// The most bytes that a cache folder of a context keeps.
const CACHE_BYTES: u64 = 1 << 30;

/// The number of threads that `set_num_threads` chose; 0 if it was not called.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Where calls run, and what they share: CPU threads, the device, the cache of encodings.
///
/// Nothing is opened before the first call. Threads are started once in each process, so that a process that was forked
/// has its own.
#[pyclass(frozen, module = "fiedler", name = "Context")]
pub(crate) struct Door {
    settings: Settings,
    processes: PerProcess<Process>,
}

/// What the context is in a process.
#[derive(Default)]
struct Process {
    opened: Mutex<Opened>,
    /// Whether a device was ever opened.
    device: AtomicBool,
}

#[derive(Clone)]
struct Settings {
    backend: Option<Backend>,
    adapter: Option<String>,
    threads: Option<usize>,
    budget: Option<u64>,
    cache_dir: Option<PathBuf>,
    rates: Option<Rates>,
}

/// What a process has opened.
#[derive(Default)]
struct Opened {
    /// How often the threads and the device were left to work that did not end.
    generation: u64,
    cpu: Option<Base>,
    device: Option<Base>,
    cache: Option<Arc<Cache>>,
    columns: Option<Arc<Cache>>,
}

/// A context, and the contexts with the same threads and device that wait for a call.
struct Base {
    first: Context,
    builder: ContextBuilder,
    idle: Vec<Context>,
}

/// A context for the duration of a call, with a cancel switch of its own.
pub(crate) struct Session<'a> {
    pub(crate) ctx: Context,
    /// What is predicted of the call.
    pub(crate) choice: Choice,
    on_device: bool,
    /// The [`Opened::generation`] when the call began.
    generation: u64,
    process: &'a Process,
}

impl Session<'_> {
    pub(crate) fn cancel(&self) -> &Cancel {
        self.ctx.cancel()
    }

    /// Returns the predicted time of the call in seconds, on the faster side.
    pub(crate) fn seconds(&self) -> f64 {
        self.choice.cpu_seconds.min(self.choice.gpu_seconds)
    }

    /// Leaves the call's work behind, which was asked to end and has not ended yet. The next call opens threads, and a
    /// device, that do not wait for it.
    pub(crate) fn leave(self) {
        let mut opened = self.process.lock();
        if opened.generation == self.generation {
            opened.generation += 1;
            (opened.cpu, opened.device) = (None, None);
        }
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        let mut opened = self.process.lock();
        if opened.generation != self.generation {
            return;
        }
        let base = if self.on_device { &mut opened.device } else { &mut opened.cpu };
        if let Some(base) = base {
            self.ctx.cancel().reset();
            base.idle.push(self.ctx.clone());
        }
    }
}

impl Base {
    fn new(builder: ContextBuilder) -> Result<Self> {
        let first = builder.clone().build()?;
        let builder = builder.threads_of(&first).device_of(&first);
        Ok(Self { idle: vec![first.clone()], first, builder })
    }

    /// Returns a context that no other call uses.
    fn take(&mut self) -> Result<Context> {
        self.idle.pop().map_or_else(|| self.builder.clone().cancel(Cancel::new()).build(), Ok)
    }
}

impl Process {
    fn lock(&self) -> MutexGuard<'_, Opened> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Door {
    /// Returns the builder of this process's contexts. `worker` says whether the process is a worker of another one,
    /// which has one thread unless more are asked for.
    fn builder(&self, worker: bool) -> Result<ContextBuilder> {
        let Settings { backend, adapter, threads, budget, rates, .. } = &self.settings;
        let mut builder = Context::builder();
        if let Some(backend) = backend {
            builder = builder.backend(*backend);
        }
        if let Some(name) = adapter {
            builder = builder.adapter(name);
        }
        if let Some(bytes) = budget {
            builder = builder.memory_budget(*bytes);
        }
        if let Some(rates) = rates {
            builder = builder.rates(rates.clone());
        }
        let chosen = THREADS.load(Ordering::Relaxed);
        match threads.or((chosen > 0).then_some(chosen)) {
            Some(count) => builder = builder.threads(count),
            None if said("FIEDLER_THREADS").is_some() => {}
            None if worker => builder = builder.threads(1),
            None => builder = builder.threads(default_threads()),
        }
        builder.environment()
    }

    /// Returns the backend and whether an adapter is named, by the settings or by the environment.
    fn place(&self) -> Result<(Backend, bool)> {
        let Settings { backend, adapter, .. } = &self.settings;
        let backend = match (backend, said("FIEDLER_BACKEND")) {
            (Some(backend), _) => *backend,
            (None, Some(text)) => text.parse().map_err(|error: String| Error::domain("FIEDLER_BACKEND", error))?,
            (None, None) => Backend::Auto,
        };
        Ok((backend, adapter.is_some() || said("FIEDLER_ADAPTER").is_some()))
    }

    /// Returns a context for a call. `choose` says what the call takes: unless it is said where to compute, a device is
    /// opened only if that is worth it.
    pub(crate) fn session(&self, worker: bool, choose: impl Fn(&Context) -> Result<Choice>) -> Result<Session<'_>> {
        let (backend, named) = self.place()?;
        let process = self.processes.here();
        let opened = &mut *process.lock();
        let mut on_device = backend == Backend::Gpu || backend == Backend::Auto && (named || opened.device.is_some());
        let mut predicted = None;
        if !on_device {
            if opened.cpu.is_none() {
                opened.cpu = Some(Base::new(self.builder(worker)?.device(false))?);
            }
            predicted = opened.cpu.as_ref().map(|base| choose(&base.first)).transpose()?;
            on_device = backend == Backend::Auto && predicted.is_some_and(|choice| choice.cpu_seconds >= WORTH_OPENING);
        }
        let base = match (on_device, &mut opened.device) {
            (false, _) => opened.cpu.as_mut(),
            (true, Some(base)) => Some(base),
            (true, none) => {
                if self.processes.inherited().any(|process| process.device.load(Ordering::Relaxed)) {
                    let message = "the context was made before this process was forked".to_owned();
                    return Err(ErrorKind::DeviceLost { message }.into());
                }
                let mut builder = self.builder(worker)?;
                if let Some(cpu) = &opened.cpu {
                    builder = builder.threads_of(&cpu.first);
                }
                let base = none.insert(Base::new(builder)?);
                process.device.store(base.first.adapter().is_some(), Ordering::Relaxed);
                Some(base)
            }
        };
        // A base was opened above in either case.
        let base = base.ok_or(ErrorKind::Cancelled)?;
        let choice = match predicted.filter(|_| !on_device) {
            Some(choice) => choice,
            None => choose(&base.first)?,
        };
        Ok(Session { ctx: base.take()?, choice, on_device, generation: opened.generation, process })
    }

    /// Returns the cache of encodings: the folder of the settings, or the user's cache. `None` if that is switched off
    /// (`FIEDLER_CACHE_BYTES=0`).
    pub(crate) fn cache(&self) -> Result<Option<Arc<Cache>>> {
        let folder = self.settings.cache_dir.as_ref();
        self.opened_cache(
            |opened| &mut opened.cache,
            || folder.map_or_else(|| Cache::new().user_disk(), |folder| Ok(Cache::new().disk(folder, CACHE_BYTES))),
        )
    }

    /// Returns the cache of columns of features, in which many results are a file.
    pub(crate) fn columns(&self) -> Result<Option<Arc<Cache>>> {
        let folder = self.settings.cache_dir.as_ref();
        self.opened_cache(
            |opened| &mut opened.columns,
            || folder.map_or_else(|| Cache::new().user_packs(), |folder| Ok(Cache::new().packs(folder, CACHE_BYTES))),
        )
    }

    fn opened_cache(
        &self,
        place: impl Fn(&mut Opened) -> &mut Option<Arc<Cache>>,
        open: impl Fn() -> Result<Cache>,
    ) -> Result<Option<Arc<Cache>>> {
        let mut opened = self.processes.here().lock();
        let cache = match place(&mut opened) {
            Some(cache) => Arc::clone(cache),
            none => Arc::clone(none.insert(Arc::new(open()?))),
        };
        Ok(Some(cache).filter(|cache| cache.folder().is_some()))
    }
}

#[pymethods]
impl Door {
    #[new]
    #[pyo3(signature = (device, adapter, threads, memory_budget, cache_dir, rates))]
    fn new(
        py: Python<'_>,
        device: Option<&str>,
        adapter: Option<String>,
        threads: Option<usize>,
        memory_budget: Option<u64>,
        cache_dir: Option<PathBuf>,
        rates: Option<&str>,
    ) -> PyResult<Self> {
        let parsed = device.map(str::parse).transpose();
        let backend = parsed.map_err(|error: String| raised(py, &Error::domain("device", error)))?;
        let rates = rates.map(Rates::from_json).transpose().map_err(|error| raised(py, &error))?;
        let settings = Settings { backend, adapter, threads, budget: memory_budget, cache_dir, rates };
        Ok(Self { settings, processes: PerProcess::new() })
    }

    /// Returns what the context is on: the adapter's name or None, the number of threads, the byte budget. Opens both
    /// sides as a call would that asks for the device.
    fn described(&self, py: Python<'_>, worker: bool) -> PyResult<(Option<String>, usize, u64)> {
        let described = || {
            let session = self.session(worker, |_| Ok(worth_a_device()))?;
            let ctx = &session.ctx;
            Ok((ctx.adapter().map(|adapter| adapter.name.clone()), ctx.threads(), ctx.memory_budget()))
        };
        py.detach(described).map_err(|error: Error| raised(py, &error))
    }

    /// Returns the rates by which the context chooses sides, as JSON. Opens both sides, as [`Door::described`] does.
    fn rates(&self, py: Python<'_>, worker: bool) -> PyResult<String> {
        let rates = || Ok(self.session(worker, |_| Ok(worth_a_device()))?.ctx.policy().rates.to_json());
        py.detach(rates).map_err(|error: Error| raised(py, &error))
    }
}

/// Returns a choice that says that the CPU alone would take for ever.
pub(crate) fn worth_a_device() -> Choice {
    Context::cpu().explain(&Workload { cpu_flops: f64::INFINITY, ..Workload::default() }, false)
}

/// Returns the value of an environment variable that is not empty.
fn said(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the number of threads that a process has by default: `RAYON_NUM_THREADS`, or the cores that the operating
/// system and its quotas (cgroups) allow.
fn default_threads() -> usize {
    let said = said("RAYON_NUM_THREADS").and_then(|text| text.parse().ok()).filter(|&count| count > 0);
    said.or_else(|| std::thread::available_parallelism().map(usize::from).ok()).unwrap_or(1)
}

/// Sets the number of threads of contexts that are opened from now on and do not say their own; 0 restores the default.
#[pyfunction]
pub(crate) fn set_threads(count: usize) {
    THREADS.store(count, Ordering::Relaxed);
}

/// Returns the number of threads of contexts that do not say their own. `worker` says whether this process is a worker
/// of another one.
#[pyfunction]
pub(crate) fn threads(worker: bool) -> usize {
    let said = said("FIEDLER_THREADS").and_then(|text| text.parse().ok()).filter(|&count| count > 0);
    match THREADS.load(Ordering::Relaxed) {
        0 => said.unwrap_or_else(|| if worker { 1 } else { default_threads() }),
        count => count,
    }
}
