//! An opened adapter: its device, queue, pool, compiled kernels and open recording.

use super::adapter::{self, Adapter, Slower, WgpuDevice};
use super::buffer::Element;
use super::core::Core;
use super::faults::Faults;
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

/// The cached constants take at most the byte budget divided by this.
const CONSTANTS_SHARE: u64 = 32;
/// The most bytes that the cached constants take.
const CONSTANTS: u64 = 64 << 20;

/// The options for opening a device.
#[derive(Clone, Debug)]
pub(crate) struct DeviceOptions {
    /// The most bytes that the buffers of this device may take.
    pub(crate) budget: u64,
    /// Whether to keep the driver's run-time checks in the shaders.
    pub(crate) checked: bool,
    /// Whether to fill every buffer that the pool lends.
    pub(crate) poison: bool,
    /// The switch that ends the device's work.
    pub(crate) cancel: Cancel,
    /// Whether to book where the time goes.
    pub(crate) profile: bool,
    /// Whether to measure each kernel with timestamps, if the adapter has them.
    pub(crate) timestamps: bool,
    /// The kernel forms that may be used. A family without a form in this list is not restricted.
    pub(crate) kernels: Vec<KernelForm>,
    /// The forms that were measured to be slower than others on this adapter.
    pub(crate) slower: Vec<Slower>,
    /// For tests: whether opening the device fails.
    pub(crate) refused: bool,
    /// For tests: the name of the kernel that is made wrong.
    pub(crate) spoiled: Option<String>,
}

/// An adapter that is not opened yet.
#[derive(Debug)]
pub(crate) struct Chosen {
    raw: wgpu::Adapter,
    adapter: Adapter,
}

impl Chosen {
    /// Selects the adapter of that name, or the best one that is not software.
    ///
    /// # Errors
    /// [`ErrorKind::NoAdapter`] if there is none.
    pub(crate) fn new(name: Option<&str>) -> Result<Self> {
        let (raw, adapter) = adapter::choose(name)?;
        Ok(Self { raw, adapter })
    }

    /// Returns what the adapter offers.
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
    // SAFETY: this acknowledges that wgpu's own code for matrix units may be wrong. One kernel uses them, and only when
    // it is asked for by name. Everything that it loads and stores on matrix units is entirely within its own arrays in
    // workgroup memory, and every subgroup reaches those calls.
    unsafe { wgpu::ExperimentalFeatures::enabled() }
}

/// An opened adapter.
#[derive(Debug)]
pub(crate) struct Gpu {
    core: Core,
    recording: Mutex<Recording>,
    /// The cached read-only arrays, keyed by their content.
    constants: Mutex<HashMap<Vec<u64>, Shared<f32>>>,
}

impl Gpu {
    /// Opens an adapter.
    pub(crate) fn open(chosen: Chosen, options: DeviceOptions) -> Result<Arc<Self>> {
        let Chosen { raw, adapter: facts } = chosen;
        let required_limits = raw.limits();
        let mut required_features = adapter::wanted_features(raw.features());
        let mut experimental_features = wgpu::ExperimentalFeatures::disabled();
        // Matrix units are enabled only for callers who asked for them by name.
        let cooperative = KernelForm::Matmul(MatmulForm::Cooperative);
        if options.kernels.contains(&cooperative) && facts.cooperative.is_some() {
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
        let (device, queue) = pollster::block_on(raw.request_device(&descriptor))
            .map_err(|e| ErrorKind::Device { message: format!("{} cannot be opened: {e}", facts.name) })?;
        Ok(Self::adopt(WgpuDevice { adapter: raw, device, queue }, options))
    }

    /// Compiles a variant of a kernel and discards it.
    pub(crate) fn compile(&self, kernel: &Declaration, overrides: Overrides<'_>) -> Result<()> {
        self.core.pipelines.make(kernel, overrides, &self.core.adapter).map(drop)
    }

    /// Adopts a device that was opened outside this crate.
    pub(crate) fn adopt(device: WgpuDevice, options: DeviceOptions) -> Arc<Self> {
        let adapter = device.describe();
        let WgpuDevice { device, queue, .. } = device;
        let faults = Faults::watch(&device, options.cancel.clone());
        Self::new(adapter, (device, queue), faults, options, None)
    }

    /// Returns the same device for another context, which shares the compiled kernels and has its own buffers.
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
        let adapter = Adapter { kernels: options.kernels, slower: options.slower, ..adapter };
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

    /// Returns what this device is and allows.
    pub(crate) fn adapter(&self) -> &Adapter {
        &self.core.adapter
    }

    /// Returns the open recording. Other callers wait until it is dropped, so the dispatches of one
    /// operation are consecutive.
    pub(crate) fn record(&self) -> Recorder<'_> {
        Recorder::new(&self.core, self.recording.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Submits what is recorded and starts to read `buffer` back, without waiting.
    pub(crate) fn read<T: Element>(&self, buffer: &Buffer<T>) -> Result<Read<T>> {
        self.record().read(buffer)
    }

    /// Returns whether `buffer` belongs to this device and this pool.
    pub(crate) fn owns<T: Element>(&self, buffer: &Buffer<T>) -> bool {
        Arc::ptr_eq(&buffer.lease.pool, &self.core.pool)
    }

    /// Wraps the first `len` elements of a buffer that was made on this device outside this crate.
    pub(crate) fn adopt_buffer<T: Element>(&self, raw: wgpu::Buffer, len: usize) -> Result<Buffer<T>> {
        Buffer::adopt(&self.core.pool, raw, len)
    }

    /// Returns a cached read-only buffer. `key` identifies its content: on the first use of `key`, this uploads the
    /// result of `make`. The buffer stays cached if it is small compared with the byte budget.
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
        // Memory returns to the driver when the device is polled. Whatever the poll reports shows in `faults`.
        let _ = self.core.device.poll(wgpu::PollType::Poll);
    }

    /// Returns the counters of the pool.
    pub(crate) fn counters(&self) -> PoolCounters {
        self.core.pool.counters()
    }

    /// Submits what is recorded and waits until all of it is done.
    pub(crate) fn wait(&self) -> Result<()> {
        let mut recorder = self.record();
        recorder.flush()?;
        recorder.wait()
    }

    /// Returns the stopwatch that books where the time goes.
    pub(crate) fn stopwatch(&self) -> &Stopwatch {
        &self.core.stopwatch
    }

    /// Waits until all work is done and booked, and returns the clock that measured it.
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
