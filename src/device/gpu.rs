//! An opened adapter: device, queue, pool, compiled kernels, the open recording.

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

/// Constants are kept up to this share of the byte budget, and to this many bytes at most.
const CONSTANTS_SHARE: u64 = 32;
const CONSTANTS: u64 = 64 << 20;

/// How a device is opened.
#[derive(Clone, Debug)]
pub(crate) struct DeviceOptions {
    /// The most bytes that the buffers of this device may take.
    pub(crate) budget: u64,
    /// Keep the driver's run-time checks in the shaders.
    pub(crate) checked: bool,
    /// Fill every buffer that the pool hands out.
    pub(crate) poison: bool,
    /// What ends its work.
    pub(crate) cancel: Cancel,
    /// Book where the time goes.
    pub(crate) profile: bool,
    /// Measure each kernel with timestamps, where the adapter has them.
    pub(crate) timestamps: bool,
    /// The forms of kernels that may be used, of each family that is named here.
    pub(crate) kernels: Vec<KernelForm>,
    /// Forms that were measured to be slower than others on this adapter.
    pub(crate) slower: Vec<Slower>,
    /// Be refused the device, and make this kernel wrong: for tests.
    pub(crate) refused: bool,
    pub(crate) spoilt: Option<String>,
}

/// An adapter that is not opened yet.
#[derive(Debug)]
pub(crate) struct Chosen {
    raw: wgpu::Adapter,
    adapter: Adapter,
}

impl Chosen {
    /// The adapter of that name, or the best one that is no software adapter.
    ///
    /// # Errors
    /// [`ErrorKind::NoAdapter`] if there is none.
    pub(crate) fn new(name: Option<&str>) -> Result<Self> {
        let (raw, adapter) = adapter::choose(name)?;
        Ok(Self { raw, adapter })
    }

    /// What it offers.
    pub(crate) fn adapter(&self) -> &Adapter {
        &self.adapter
    }
}

impl WgpuDevice {
    /// Its adapter, with what the device was opened for.
    pub(crate) fn describe(&self) -> Adapter {
        Adapter::describe(&self.adapter, self.device.features(), &self.device.limits())
    }
}

/// Leave to open a device for matrix units.
#[expect(unsafe_code, reason = "wgpu has matrix units as an experiment alone")]
fn with_matrix_units() -> wgpu::ExperimentalFeatures {
    // SAFETY: what is acknowledged is that wgpu's own code for it may be wrong. One kernel uses it, asked for by name; all that it loads
    // and stores on matrix units lies whole within arrays of its own in workgroup memory, and every subgroup reaches those calls.
    unsafe { wgpu::ExperimentalFeatures::enabled() }
}

/// An opened adapter.
#[derive(Debug)]
pub(crate) struct Gpu {
    core: Core,
    recording: Mutex<Recording>,
    /// Arrays that many calls read and none writes, by what they hold.
    constants: Mutex<HashMap<Vec<u64>, Shared<f32>>>,
}

impl Gpu {
    /// Opens an adapter.
    pub(crate) fn open(chosen: Chosen, options: DeviceOptions) -> Result<Arc<Self>> {
        let Chosen { raw, adapter: facts } = chosen;
        let required_limits = raw.limits();
        let mut required_features = adapter::wanted_features(raw.features());
        let mut experimental_features = wgpu::ExperimentalFeatures::disabled();
        // Only for whoever asked for them by name.
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

    /// Compiles a variant of a kernel and throws it away.
    pub(crate) fn compile(&self, kernel: &Declaration, overrides: Overrides<'_>) -> Result<()> {
        self.core.pipelines.make(kernel, overrides, &self.core.adapter).map(drop)
    }

    /// Takes a device that somebody else opened.
    pub(crate) fn adopt(device: WgpuDevice, options: DeviceOptions) -> Arc<Self> {
        let adapter = device.describe();
        let WgpuDevice { device, queue, .. } = device;
        let faults = Faults::watch(&device, options.cancel.clone());
        Self::new(adapter, (device, queue), faults, options, None)
    }

    /// The same device for another context, with the kernels that are compiled there, and buffers of its own.
    pub(crate) fn beside(&self, options: DeviceOptions) -> Arc<Self> {
        let Core { adapter, device, queue, faults, pipelines, .. } = &self.core;
        let faults = faults.beside(options.cancel.clone());
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
        let own = Pipelines::new(&device, &faults, options.checked, &stopwatch, options.spoilt);
        let pipelines = match compiled {
            Some(others) => own.beside(others),
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

    /// What this device is and allows.
    pub(crate) fn adapter(&self) -> &Adapter {
        &self.core.adapter
    }

    /// The open recording. Others wait until this one is dropped, so that an operation's dispatches stand together.
    pub(crate) fn record(&self) -> Recorder<'_> {
        Recorder::new(&self.core, self.recording.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Submits what is recorded and begins to read `buffer` back; does not wait.
    pub(crate) fn read<T: Element>(&self, buffer: &Buffer<T>) -> Result<Read<T>> {
        self.record().read(buffer)
    }

    /// Whether `buffer` is of this device and of this pool.
    pub(crate) fn owns<T: Element>(&self, buffer: &Buffer<T>) -> bool {
        Arc::ptr_eq(&buffer.lease.pool, &self.core.pool)
    }

    /// An array that somebody else made on this device: its first `len` elements.
    pub(crate) fn adopt_buffer<T: Element>(&self, raw: wgpu::Buffer, len: usize) -> Result<Buffer<T>> {
        Buffer::adopt(&self.core.pool, raw, len)
    }

    /// An array that many calls read and none writes. `key` says what it holds: what `make` makes is uploaded when it is asked for first,
    /// and kept where it is small beside the byte budget.
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
            // Those that are still wanted come back.
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

    /// Lets go of every buffer that is not in use.
    pub(crate) fn trim(&self) {
        self.constants().clear();
        self.core.pool.trim();
        // Memory returns to the driver when the device is polled; what the poll finds out shows in `faults`.
        let _ = self.core.device.poll(wgpu::PollType::Poll);
    }

    /// What the pool holds.
    pub(crate) fn counters(&self) -> PoolCounters {
        self.core.pool.counters()
    }

    /// Submits what is recorded and waits until all of it is done.
    pub(crate) fn wait(&self) -> Result<()> {
        let mut recorder = self.record();
        recorder.flush()?;
        recorder.wait()
    }

    /// What books where the time goes.
    pub(crate) fn stopwatch(&self) -> &Stopwatch {
        &self.core.stopwatch
    }

    /// Waits until all work is done and booked; what it was measured with.
    pub(crate) fn booked(&self) -> Result<Clock> {
        self.wait()?;
        let Some(timing) = &self.core.timing else { return Ok(Clock::Wall) };
        timing.book(self.core.queue.get_timestamp_period(), &self.core.stopwatch);
        Ok(Clock::Timestamps)
    }

    /// Destroys the device, as a driver that resets would.
    #[cfg(feature = "testing")]
    pub(crate) fn destroy(&self) {
        self.core.device.destroy();
    }
}
