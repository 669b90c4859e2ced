//! An opened adapter, with its device, queue, pool, compiled kernels and open recording.

use super::adapter::{self, Adapter, Slower, WgpuDevice};
use super::buffer::Element;
use super::core::Core;
use super::faults::{Deferred, Faults};
use super::kernel::Declaration;
use super::pipelines::Pipelines;
use super::pool::{Pool, PoolCounters};
use super::read::Read;
use super::recorder::{Recorder, Recording};
use super::shader::Overrides;
use super::timing::Timing;
use super::{Buffer, Shared};
use crate::cancel::Cancel;
use crate::error::{ErrorKind, Result};
use crate::forms::{KernelForm, MatmulForm};
use crate::profile::{Clock, Stopwatch};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The first limit on the total size of the cached constants is the byte budget divided by this number.
const CONSTANTS_SHARE: u64 = 32;
/// The second limit on the total size of the cached constants, in bytes. It applies regardless of the byte budget.
const CONSTANTS: u64 = 64 << 20;

/// The options for opening a device.
#[derive(Clone, Debug)]
pub(crate) struct DeviceOptions {
    /// The maximum number of bytes that the buffers of this device may occupy.
    pub(crate) budget: u64,
    /// Whether the shaders keep the run-time checks that wgpu adds to them.
    pub(crate) checked: bool,
    /// Whether the pool fills every buffer with a large value before it lends the buffer, so that tests detect reads of
    /// undefined content.
    pub(crate) poison: bool,
    /// The switch with which the caller cancels the work on the device.
    pub(crate) cancel: Cancel,
    /// Whether to record how long each activity takes.
    pub(crate) profile: bool,
    /// Whether to time each kernel with timestamps, if the adapter supports timestamps.
    pub(crate) timestamps: bool,
    /// The kernel forms that may be used. If the list has no form of a family, all forms of that family may be used.
    pub(crate) kernels: Vec<KernelForm>,
    /// The kernel forms that were measured to be slower than other forms on this adapter.
    pub(crate) slower: Vec<Slower>,
    /// The sizes of products of f16 for which matrix units were measured to be faster on this adapter.
    pub(crate) matrix_units: Option<[f64; 2]>,
    /// Whether opening the device fails on purpose, for tests.
    pub(crate) refused: bool,
    /// The name of the kernel that is made to compute wrong results, for tests.
    pub(crate) spoiled: Option<String>,
}

/// An adapter that is not opened yet.
#[derive(Debug)]
pub(crate) struct Chosen {
    raw: wgpu::Adapter,
    adapter: Adapter,
}

impl Chosen {
    /// Selects the adapter with the given name or, without a name, the best adapter that is not software.
    ///
    /// # Errors
    /// [`ErrorKind::NoAdapter`] if there is no such adapter.
    pub(crate) async fn new(name: Option<&str>) -> Result<Self> {
        let (raw, adapter) = adapter::choose(name).await?;
        Ok(Self { raw, adapter })
    }

    /// Returns the description of the adapter.
    pub(crate) fn adapter(&self) -> &Adapter {
        &self.adapter
    }
}

impl WgpuDevice {
    /// Describes the adapter, with the features and limits that the device was opened with.
    pub(crate) fn describe(&self) -> Adapter {
        Adapter::describe(&self.adapter, self.device.features(), &self.device.limits())
    }
}

/// Returns the acknowledgment that wgpu requires to open a device with matrix units.
#[expect(unsafe_code, reason = "wgpu has matrix units as an experiment alone")]
fn with_matrix_units() -> wgpu::ExperimentalFeatures {
    // SAFETY: the call acknowledges that wgpu's code for matrix units may be wrong. Only one kernel uses matrix units,
    // and it runs only if the caller requests it by name or `fiedler tune` found its results to be right. All its
    // matrix loads and stores stay within the kernel's arrays in workgroup memory, and every subgroup executes them.
    unsafe { wgpu::ExperimentalFeatures::enabled() }
}

/// An opened adapter.
#[derive(Debug)]
pub(crate) struct Gpu {
    core: Core,
    recording: Mutex<Recording>,
    /// The cached read-only arrays. The key of an array identifies its content.
    constants: Mutex<HashMap<Vec<u64>, Shared<f32>>>,
}

impl Gpu {
    /// Opens an adapter.
    pub(crate) async fn open(chosen: Chosen, options: DeviceOptions) -> Result<Arc<Self>> {
        let Chosen { raw, adapter: facts } = chosen;
        let required_limits = raw.limits();
        let mut required_features = adapter::wanted_features(raw.features());
        let mut experimental_features = wgpu::ExperimentalFeatures::disabled();
        // Matrix units are enabled only for callers who request them by name, and where they were measured to be
        // faster.
        let requested = options.kernels.contains(&KernelForm::Matmul(MatmulForm::Cooperative));
        if (requested || options.matrix_units.is_some()) && facts.cooperative.is_some() {
            required_features |= adapter::MATRIX_UNITS;
            experimental_features = with_matrix_units();
        }
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("fiedler"),
            required_features,
            required_limits,
            experimental_features,
            ..Default::default()
        };
        if options.refused {
            let message = format!("{} cannot be opened: refused, as was asked for", facts.name);
            return Err(ErrorKind::Device { message }.into());
        }
        let (device, queue) = raw
            .request_device(&descriptor)
            .await
            .map_err(|e| ErrorKind::Device { message: format!("{} cannot be opened: {e}", facts.name) })?;
        Ok(Self::adopt(WgpuDevice { adapter: raw, device, queue }, options))
    }

    /// Compiles a variant of a kernel and discards it.
    pub(crate) fn compile(&self, kernel: &Declaration, overrides: Overrides<'_>) -> Result<()> {
        self.core.pipelines.make(kernel, overrides, &self.core.adapter).map(drop)
    }

    /// Uses a device that is already open. It may have been opened outside this crate.
    pub(crate) fn adopt(device: WgpuDevice, options: DeviceOptions) -> Arc<Self> {
        let adapter = device.describe();
        let WgpuDevice { device, queue, .. } = device;
        let faults = Faults::watch(&device, options.cancel.clone());
        Self::new(adapter, (device, queue), faults, options, None)
    }

    /// Returns the same device for use by another context. The contexts share the compiled kernels, but each has its
    /// own buffers.
    pub(crate) fn for_context(&self, options: DeviceOptions) -> Arc<Self> {
        let Core { adapter, device, queue, faults, pipelines, .. } = &self.core;
        let faults = faults.for_context(options.cancel.clone());
        Self::new(adapter.clone(), (device.clone(), queue.clone()), faults, options, Some(pipelines))
    }

    fn new(
        adapter: Adapter,
        (device, queue): (wgpu::Device, wgpu::Queue),
        faults: Faults,
        options: DeviceOptions,
        compiled: Option<&Pipelines>,
    ) -> Arc<Self> {
        let adapter =
            Adapter { kernels: options.kernels, slower: options.slower, matrix_units: options.matrix_units, ..adapter };
        let max_buffer = adapter.limits.buffer / 4 * 4;
        let stopwatch = Stopwatch::new(options.profile);
        let pool = Pool::new(&device, &queue, &faults, max_buffer, options.budget, options.poison, &stopwatch);
        let own = Pipelines::new(&device, &faults, options.checked, &stopwatch, options.spoiled);
        let pipelines = match compiled {
            Some(others) => own.for_context(others),
            None => own,
        };
        let timing = (options.profile && options.timestamps).then(|| Timing::new(&device)).flatten();
        let recording = Mutex::new(Recording::new(&device));
        Arc::new(Self {
            core: Core { adapter, device, queue, faults, pool, pipelines, timing, stopwatch },
            recording,
            constants: Mutex::default(),
        })
    }

    /// Returns the description of the adapter, as opened.
    pub(crate) fn adapter(&self) -> &Adapter {
        &self.core.adapter
    }

    /// Lets operations go on although the work was cancelled, as long as the returned value exists. This is for work
    /// that has to be brought to a point at which it can be saved.
    pub(crate) fn defer_cancel(&self) -> Deferred {
        self.core.faults.defer_cancel()
    }

    /// Returns the open recording, locked. Other callers wait until the returned value is dropped, so the dispatches of
    /// one operation are consecutive.
    pub(crate) fn record(&self) -> Recorder<'_> {
        Recorder::new(&self.core, self.recording.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Submits the recorded work and starts to read `buffer` back, without waiting.
    pub(crate) fn read<T: Element>(&self, buffer: &Buffer<T>) -> Result<Read<T>> {
        self.record().read(buffer)
    }

    /// Returns whether `buffer` belongs to the pool of this device.
    pub(crate) fn owns<T: Element>(&self, buffer: &Buffer<T>) -> bool {
        Arc::ptr_eq(&buffer.lease.pool, &self.core.pool)
    }

    /// Wraps the first `len` elements of a buffer that was created on this device outside this crate.
    pub(crate) fn adopt_buffer<T: Element>(&self, raw: wgpu::Buffer, len: usize) -> Result<Buffer<T>> {
        Buffer::adopt(&self.core.pool, raw, len)
    }

    /// Returns a cached read-only buffer. `key` identifies the content. On the first use of `key`, the result of `make`
    /// is uploaded. The buffer is then cached, unless it alone exceeds the limits on the cached constants. If a new
    /// buffer and the cached ones together exceed the limits, the cached ones are removed.
    pub(crate) fn constant<T: Element>(&self, key: &[u64], make: impl FnOnce() -> Vec<T>) -> Result<Shared<T>> {
        if let Some(found) = self.constants().get(key) {
            return Ok(found.clone().cast());
        }
        let made = self.record().upload(&make())?.share();
        let most = CONSTANTS.min(self.counters().budget / CONSTANTS_SHARE);
        let mut kept = self.constants();
        let bytes = |buffer: &Shared<f32>| 4 * buffer.len() as u64;
        let all: u64 = kept.values().map(bytes).sum();
        let own = made.clone().cast();
        if all + bytes(&own) > most {
            // Constants that are still needed are uploaded again at their next use.
            kept.clear();
        }
        if bytes(&own) <= most {
            kept.insert(key.to_vec(), own);
        }
        Ok(made)
    }

    fn constants(&self) -> std::sync::MutexGuard<'_, HashMap<Vec<u64>, Shared<f32>>> {
        self.constants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees every buffer that is not in use.
    pub(crate) fn trim(&self) {
        self.constants().clear();
        self.core.pool.trim();
        // Memory returns to the driver only when the device is polled. The result is ignored because `faults` records
        // whatever the poll reports.
        let _ = self.core.device.poll(wgpu::PollType::Poll);
    }

    /// Returns the counters of the pool.
    pub(crate) fn counters(&self) -> PoolCounters {
        self.core.pool.counters()
    }

    /// Submits the recorded work and waits until all submitted work is done.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn wait(&self) -> Result<()> {
        let mut recorder = self.record();
        recorder.flush()?;
        recorder.wait()
    }

    /// Returns an error, because a browser finishes nothing while the only thread waits.
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn wait(&self) -> Result<()> {
        Err(super::cannot_wait())
    }

    /// Returns the stopwatch, which records how long each activity takes.
    pub(crate) fn stopwatch(&self) -> &Stopwatch {
        &self.core.stopwatch
    }

    /// Waits until all work is done and its times are recorded, and returns the kind of clock that measured the times.
    pub(crate) fn booked(&self) -> Result<Clock> {
        self.wait()?;
        let Some(timing) = &self.core.timing else { return Ok(Clock::Wall) };
        timing.book(self.core.queue.get_timestamp_period(), &self.core.stopwatch);
        Ok(Clock::Timestamps)
    }

    /// Destroys the device, as a driver reset would.
    #[cfg(feature = "testing")]
    pub(crate) fn destroy(&self) {
        self.core.device.destroy();
    }
}
