//! An adversary: a profile, a seed and a schedule of faults, opened as a wgpu device.

use crate::backend::adapter::{Adapter, Instance};
use crate::faults::{Fault, Faults, Injection, Injector};
use crate::machine::{Coverage, Program};
use crate::mutation::Mutation;
use crate::profile::Profile;
use crate::report::Report;
use crate::seed::Seed;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wgpu::Features;

/// When the queue executes what was submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pace {
    /// As late as possible: when the program waits, and little by little when it polls.
    Late,
    /// On a thread of its own, beside the program.
    Concurrent,
    /// One of these, by the seed.
    Seeded,
}

/// What a buffer contains when it is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FreshBuffers {
    /// Zeros that count as written, as WebGPU promises.
    Zeroed,
    /// Nothing that anybody wrote: reads of it are findings. For programs that do not want to rely on WebGPU's zeros,
    /// because their pools use buffers again.
    Unwritten,
}

/// What all parts of an adversary know.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) profile: Profile,
    pub(crate) seed: u64,
    pub(crate) pace: Pace,
    pub(crate) fresh: FreshBuffers,
    pub(crate) undefined_word: Option<u32>,
    pub(crate) step_budget: u64,
    pub(crate) memory: u64,
    pub(crate) timestamps: bool,
    pub(crate) device_type: Option<wgpu::DeviceType>,
    /// The WGSL of naga modules, by the labels of the shader modules.
    pub(crate) sources: Arc<HashMap<String, Vec<Arc<str>>>>,
    /// What is changed in the shader modules with a label.
    pub(crate) mutation: Option<(String, Mutation)>,
}

/// The programs that were compiled, by the labels of their shader modules.
#[derive(Debug, Default)]
pub(crate) struct Programs(Mutex<BTreeMap<String, Vec<Arc<Program>>>>);

impl Programs {
    pub(crate) fn add(&self, label: &str, program: &Arc<Program>) {
        self.lock().entry(label.to_owned()).or_default().push(Arc::clone(program));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Vec<Arc<Program>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The operations that an invocation may execute before it is taken to run forever.
const STEP_BUDGET: u64 = 1 << 32;
/// The bytes that the buffers of a device may have. With what is known of each byte, they take several times as many.
const MEMORY: u64 = 2 << 30;

/// The makers of GPUs in the names of profiles, with the ids that PCI, or the Khronos Group, gives them.
const MAKERS: [(&str, u32, wgpu::DeviceType); 5] = [
    ("NVIDIA", 0x10de, wgpu::DeviceType::DiscreteGpu),
    ("RDNA", 0x1002, wgpu::DeviceType::DiscreteGpu),
    ("Apple", 0x106b, wgpu::DeviceType::IntegratedGpu),
    ("Xe", 0x8086, wgpu::DeviceType::IntegratedGpu),
    ("Mali", 0x13b5, wgpu::DeviceType::IntegratedGpu),
];

impl Settings {
    pub(crate) fn new(profile: Profile, seed: u64) -> Self {
        Self {
            profile,
            seed,
            pace: Pace::Seeded,
            fresh: FreshBuffers::Zeroed,
            undefined_word: None,
            step_budget: STEP_BUDGET,
            memory: MEMORY,
            timestamps: true,
            device_type: None,
            sources: Arc::default(),
            mutation: None,
        }
    }

    /// Returns the pace, drawn if need be.
    pub(crate) fn paced(&self) -> Pace {
        match self.pace {
            Pace::Seeded if Seed(self.seed).below(u64::MAX, 2) == 0 => Pace::Late,
            Pace::Seeded => Pace::Concurrent,
            pace => pace,
        }
    }

    /// Returns the features of the adapter: those of its shaders, and timestamps.
    pub(crate) fn features(&self) -> Features {
        let stamps = Features::TIMESTAMP_QUERY
            | Features::TIMESTAMP_QUERY_INSIDE_ENCODERS
            | Features::TIMESTAMP_QUERY_INSIDE_PASSES;
        self.profile.features | if self.timestamps { stamps } else { Features::empty() }
    }

    pub(crate) fn adapter_info(&self) -> wgpu::AdapterInfo {
        let profile = &self.profile;
        let known = MAKERS.into_iter().find(|(name, ..)| profile.name.contains(name));
        let (_, vendor, device_type) = known.unwrap_or(("", 0, wgpu::DeviceType::Other));
        wgpu::AdapterInfo {
            name: format!("adversary, {}", profile.name),
            vendor,
            driver: "wgpu-adversary".to_owned(),
            driver_info: format!("{}, seed {}", env!("CARGO_PKG_VERSION"), self.seed),
            subgroup_min_size: profile.subgroup_min,
            subgroup_max_size: profile.subgroup_max,
            ..wgpu::AdapterInfo::new(self.device_type.unwrap_or(device_type), wgpu::Backend::Noop)
        }
    }
}

/// A hostile adapter. Each clone has the same report and counts the same calls for its faults.
///
/// ```
/// use wgpu_adversary::{Adversary, Profile};
///
/// let adversary = Adversary::new(Profile::with_subgroups(32), 7);
/// let (_adapter, device, queue) = adversary.open();
/// // … the program under test …
/// # drop((device, queue));
/// assert!(adversary.report().is_clean(), "{}", adversary.report());
/// ```
#[derive(Clone, Debug)]
pub struct Adversary(Adapter);

impl Adversary {
    /// Returns an adversary. All that it does to a program depends on the profile, the seed and the faults alone, as
    /// far as the program's threads allow.
    #[must_use]
    pub fn new(profile: Profile, seed: u64) -> Self {
        Self(Adapter::new(Settings::new(profile, seed)))
    }

    fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.0.settings);
        self
    }

    /// Sets the faults of the host side (default: none).
    #[must_use]
    pub fn faults(mut self, faults: Faults) -> Self {
        self.0.injector = Arc::new(Injector::new(faults));
        self
    }

    /// Sets when the queue executes what was submitted (default: by the seed).
    #[must_use]
    pub fn pace(self, pace: Pace) -> Self {
        self.with(|settings| settings.pace = pace)
    }

    /// Sets what a buffer contains when it is created (default: zeros, as WebGPU promises).
    #[must_use]
    pub fn fresh_buffers(self, fresh: FreshBuffers) -> Self {
        self.with(|settings| settings.fresh = fresh)
    }

    /// Sets a word with which the program declares the content of a buffer as undefined. Once `Queue::write_buffer`
    /// has filled a whole buffer with this word, the buffer counts as unwritten. With it, a pool that uses its buffers
    /// again can tell that what the last user left must not be read.
    #[must_use]
    pub fn undefined_word(self, word: u32) -> Self {
        self.with(|settings| settings.undefined_word = Some(word))
    }

    /// Sets the number of operations that an invocation may execute before it is taken to run forever.
    #[must_use]
    pub fn step_budget(self, operations: u64) -> Self {
        self.with(|settings| settings.step_budget = operations)
    }

    /// Sets the number of bytes that all buffers of a device may have. Further buffers are out of memory.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Self {
        self.with(|settings| settings.memory = bytes)
    }

    /// Changes the shaders whose modules have this label. The tests of the program should then fail.
    #[must_use]
    pub fn mutation(self, label: impl Into<String>, mutation: Mutation) -> Self {
        self.with(|settings| settings.mutation = Some((label.into(), mutation)))
    }

    /// Sets whether the adapter has timestamps (default: yes).
    #[must_use]
    pub fn timestamps(self, yes: bool) -> Self {
        self.with(|settings| settings.timestamps = yes)
    }

    /// Sets the type that the adapter says it is of (default: by the profile).
    #[must_use]
    pub fn device_type(self, device_type: wgpu::DeviceType) -> Self {
        self.with(|settings| settings.device_type = Some(device_type))
    }

    /// Tells the WGSL from which naga modules with this label were parsed, so that findings have lines. A label may
    /// have several texts, of which the one is taken that has the module's variables at their places. A module that
    /// comes as WGSL needs none of this.
    #[must_use]
    pub fn source(self, label: impl Into<String>, wgsl: impl Into<Arc<str>>) -> Self {
        self.with(|settings| {
            Arc::make_mut(&mut settings.sources).entry(label.into()).or_default().push(wgsl.into());
        })
    }

    /// Returns an instance whose only adapter is this one.
    #[must_use]
    pub fn instance(&self) -> wgpu::Instance {
        wgpu::Instance::from_custom(Instance(self.0.clone()))
    }

    /// Returns the adapter, for programs that open their device themselves.
    #[must_use]
    pub fn adapter(&self) -> wgpu::Adapter {
        wgpu::Adapter::from_custom(self.0.clone())
    }

    /// Opens a device with all features and limits of the profile.
    #[must_use]
    pub fn open(&self) -> (wgpu::Adapter, wgpu::Device, wgpu::Queue) {
        let settings = &self.0.settings;
        let (device, queue) = self.0.open(settings.features(), settings.profile.limits.clone());
        (self.adapter(), wgpu::Device::from_custom(device), wgpu::Queue::from_custom(queue))
    }

    /// Returns the findings of all dispatches so far.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.0.report
    }

    /// Returns which parts of each shader were executed so far, by the labels of the shader modules.
    #[must_use]
    pub fn coverage(&self) -> BTreeMap<String, Coverage> {
        let programs = self.0.programs.lock();
        let merged = programs.iter().filter_map(|(label, programs)| {
            let mut all = programs.iter().map(|program| program.coverage());
            let mut coverage = all.next()?;
            all.for_each(|other| coverage.merge(&other));
            Some((label.clone(), coverage))
        });
        merged.collect()
    }

    /// Returns the mutations of each shader that was compiled so far, by the labels of the shader modules.
    #[must_use]
    pub fn mutations(&self) -> BTreeMap<String, BTreeSet<Mutation>> {
        let of = |(label, programs): (&String, &Vec<Arc<Program>>)| {
            (label.clone(), programs.iter().flat_map(|program| program.mutations()).collect())
        };
        self.0.programs.lock().iter().map(of).collect()
    }

    /// Returns the faults that were injected so far.
    #[must_use]
    pub fn injected(&self) -> Vec<Injection> {
        self.0.injector.injected()
    }

    /// Returns the number of calls so far that this kind of fault may strike, to walk through all of them.
    #[must_use]
    pub fn calls(&self, fault: Fault) -> u64 {
        self.0.injector.calls(fault)
    }
}
