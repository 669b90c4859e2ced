//! The adapters of the machine, their features and limits, and the selection of an adapter.

use crate::error::{ErrorKind, Result};
use crate::forms::{KernelForm, MatmulForm};
use serde::{Deserialize, Serialize};
#[cfg(feature = "testing")]
use std::sync::{Mutex, PoisonError};
use wgpu::{Backends, DeviceType, Features};

/// An adapter of this machine, as its driver describes it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Adapter {
    /// The driver's name for the adapter.
    pub name: String,
    /// The index, from 0, among the machine's adapters with the same name. `NAME#1` selects the second of these
    /// adapters.
    pub index: usize,
    /// The PCI address, such as `0000:41:00.0`, if the driver reports it.
    pub pci: Option<String>,
    /// `vulkan`, `metal`, `dx12`, or `webgpu` in a browser.
    pub backend: String,
    /// The driver's name, with the version if the driver reports one.
    pub driver: String,
    /// `discrete`, `integrated`, `virtual`, `software` or `other`.
    pub class: &'static str,
    /// Whether the adapter is a program on the CPU. Such an adapter is never chosen unless it is named.
    pub software: bool,
    /// The sizes of the smallest and of the largest subgroup, in invocations.
    pub subgroup_size: [u32; 2],
    /// The optional features that are used if the adapter offers them: `f16`, `f64`, `subgroups`, `timestamps`, and
    /// `matrix-units` (f16 products with f32 sums). Matrix units are used only if the caller requests by name the
    /// kernel form that needs them.
    pub features: Vec<&'static str>,
    /// The limits that matter to the kernels of this crate.
    pub limits: AdapterLimits,
    /// The id that PCI gives to the vendor, or another id of the vendor if it has none there.
    pub vendor: u32,
    /// The maximum number of loop iterations that one invocation may run in a dispatch before the driver silently ends
    /// the loop.
    pub loop_budget: u32,
    /// Whether an invocation has only about 128 registers, as on GPUs made by Intel. On other GPUs it has about 255.
    pub(crate) few_registers: bool,
    /// The order, 16 or 8, of the f16 matrices that a subgroup may multiply on the device's matrix units with f32 sums,
    /// or `None` if the device has no such units.
    pub(crate) cooperative: Option<u32>,
    /// The kernel forms that may be used. If the list has no form of a family, all forms of that family may be used.
    pub(super) kernels: Vec<KernelForm>,
    /// The kernel forms that were measured to be slower than other forms.
    pub(super) slower: Vec<Slower>,
    /// The sizes of products of f16 for which matrix units were measured to be faster.
    pub(crate) matrix_units: Option<[f64; 2]>,
    /// A rough estimate of the kernel rate in flop/s, used only to bound the work of one submission.
    pub(super) rate: f64,
}

/// A kernel form that was measured to be slower than another form for the same work, and the sizes for which it is
/// slower.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slower {
    /// The slower form.
    pub form: KernelForm,
    /// The smallest and the largest size for which the form is slower.
    pub sizes: [f64; 2],
}

/// The limits of an adapter that matter to the kernels of this crate.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AdapterLimits {
    /// The maximum number of bytes of workgroup memory.
    pub workgroup_storage: u32,
    /// The maximum number of invocations in a workgroup.
    pub workgroup_invocations: u32,
    /// The maximum number of workgroups along one dimension of a dispatch.
    pub workgroups_per_dimension: u32,
    /// The maximum number of bytes that one storage binding may cover.
    pub storage_binding: u64,
    /// The maximum number of bytes in one buffer.
    pub buffer: u64,
    /// The maximum number of storage buffers that one kernel may bind.
    pub storage_buffers: u32,
    /// The alignment, in bytes, that the offset of a uniform in its buffer must have.
    pub uniform_alignment: u32,
}

/// A wgpu device that was opened outside this crate, for example by Burn or CubeCL, which also use wgpu 30. A context
/// can be made from such a device.
///
/// The context replaces the device's callbacks for device loss and uncaptured errors.
#[derive(Clone, Debug)]
pub struct WgpuDevice {
    /// The adapter on which the device was opened.
    pub adapter: wgpu::Adapter,
    /// The device.
    pub device: wgpu::Device,
    /// The device's queue. The device executes work in the order in which this crate and other code submit it.
    pub queue: wgpu::Queue,
}

/// A wgpu buffer that is owned outside this crate, on the device of a context. An array made from the buffer reads it
/// and never writes it.
#[derive(Clone, Debug)]
pub struct WgpuBuffer(pub wgpu::Buffer);

/// The features that are requested if the adapter offers them, each with the name that users see.
const OPTIONAL: [(&str, Features); 4] = [
    ("f16", Features::SHADER_F16),
    ("f64", Features::SHADER_F64),
    ("subgroups", Features::SUBGROUP),
    ("timestamps", Features::TIMESTAMP_QUERY),
];

/// Returns the features in `offered` that this crate can use.
pub(super) fn wanted_features(offered: Features) -> Features {
    OPTIONAL.iter().fold(Features::empty(), |all, (_, f)| all | *f) & offered
}

/// The name of the backend of a browser.
const BROWSER: &str = "webgpu";

/// The PCI vendor ids of the makers of GPUs.
pub(crate) const NVIDIA: u32 = 0x10de;
pub(crate) const AMD: u32 = 0x1002;
const INTEL: u32 = 0x8086;

/// Creates the instance without GL, which overcommits memory and has the weakest limits.
fn instance() -> wgpu::Instance {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    descriptor.backends &= Backends::VULKAN | Backends::METAL | Backends::DX12 | Backends::BROWSER_WEBGPU;
    wgpu::Instance::new(descriptor)
}

/// The wgpu feature for matrix units. The feature is experimental in wgpu. A device therefore has it only if the code
/// that opened the device, in this crate or outside, requested the feature.
pub(super) const MATRIX_UNITS: Features = Features::EXPERIMENTAL_COOPERATIVE_MATRIX;

/// Returns the order of the matrices that the matrix units can multiply with f16 factors and f32 sums. If both orders,
/// 16 and 8, are available, returns 16.
fn cooperative(raw: &wgpu::Adapter, features: Features) -> Option<u32> {
    use wgpu::CooperativeScalarType::{F16, F32};
    if !features.contains(MATRIX_UNITS | Features::SHADER_F16 | Features::SUBGROUP) {
        return None;
    }
    let properties = raw.cooperative_matrix_properties();
    let has = |order: u32| {
        let wanted = (order, order, order, F16, F32);
        properties.iter().any(|p| (p.m_size, p.n_size, p.k_size, p.ab_type, p.cr_type) == wanted)
    };
    [16, 8].into_iter().find(|&order| has(order))
}

/// Returns whether this program runs in a page or in a worker. wgpu panics elsewhere, such as in Node.js.
#[cfg(target_arch = "wasm32")]
fn may_have_webgpu() -> bool {
    let global = js_sys::global();
    ["Window", "WorkerGlobalScope"].iter().any(|scope| js_sys::Reflect::has(&global, &(*scope).into()).unwrap_or(false))
}

/// The adapters that [`Adapter::register`] added.
#[cfg(feature = "testing")]
static REGISTERED: Mutex<Vec<wgpu::Adapter>> = Mutex::new(Vec::new());

/// Returns the adapters of the machine with their descriptions, the best adapter first. A browser lists one adapter at
/// most.
pub(super) async fn enumerate() -> Vec<(wgpu::Adapter, Adapter)> {
    #[cfg(target_arch = "wasm32")]
    if !may_have_webgpu() {
        return Vec::new();
    }
    let raw = instance().enumerate_adapters(Backends::all()).await;
    #[cfg(feature = "testing")]
    let raw = [raw, REGISTERED.lock().unwrap_or_else(PoisonError::into_inner).clone()].concat();
    let mut all: Vec<_> = raw.into_iter().map(|a| (Adapter::describe(&a, a.features(), &a.limits()), a)).collect();
    all.sort_by_key(|(facts, _)| facts.rank());
    for i in 0..all.len() {
        let (before, own) = all.split_at_mut(i);
        own[0].0.index = before.iter().filter(|(facts, _)| facts.name == own[0].0.name).count();
    }
    all.into_iter().map(|(facts, raw)| (raw, facts)).collect()
}

/// Returns the adapter that `name` selects or, without a name, the best adapter that is not software.
pub(super) async fn choose(name: Option<&str>) -> Result<(wgpu::Adapter, Adapter)> {
    let mut all = enumerate().await;
    let known: Vec<Named<'_>> = all.iter().map(|(_, facts)| facts.named()).collect();
    let place = match name {
        Some(name) => select(&known, name),
        None => all.iter().position(|(_, facts)| !facts.software),
    };
    match place {
        Some(place) => Ok(all.swap_remove(place)),
        None => {
            let wanted = name.map_or_else(|| "a GPU (a software adapter has to be named)".to_owned(), wanted);
            Err(ErrorKind::NoAdapter { wanted, found: all.into_iter().map(|(_, facts)| facts.name).collect() }.into())
        }
    }
}

/// The properties by which an adapter may be selected.
#[derive(Clone, Copy, Debug)]
struct Named<'a> {
    name: &'a str,
    driver: &'a str,
    pci: Option<&'a str>,
}

/// Returns the index of the adapter that `text` selects. `pci:ADDRESS` selects by PCI address; the domain 0000 may be
/// omitted. Any other text selects the first adapter whose name or driver contains the text, ignoring case. With a
/// suffix `#N`, the first N matches are skipped.
fn select(adapters: &[Named<'_>], text: &str) -> Option<usize> {
    let text = text.to_lowercase();
    if let Some(address) = text.strip_prefix("pci:") {
        let whole = if address.matches(':').count() == 1 { format!("0000:{address}") } else { address.to_owned() };
        return adapters.iter().position(|a| a.pci.is_some_and(|pci| pci.eq_ignore_ascii_case(&whole)));
    }
    let (part, number) = match text.rsplit_once('#') {
        Some((part, number)) if number.parse::<usize>().is_ok() => (part, number.parse().unwrap_or(0)),
        _ => (text.as_str(), 0),
    };
    let fits = |a: &Named<'_>| [a.name, a.driver].iter().any(|words| words.to_lowercase().contains(part));
    adapters.iter().enumerate().filter(|(_, a)| fits(a)).nth(number).map(|(place, _)| place)
}

/// Describes in words the adapter that [`select`] looks for when given `text`.
fn wanted(text: &str) -> String {
    match (text.strip_prefix("pci:"), text.rsplit_once('#')) {
        (Some(address), _) => format!("an adapter at the PCI address {address}"),
        (None, Some((name, number))) if number.parse::<usize>().is_ok() => {
            format!("more than {number} adapters whose name contains `{name}`")
        }
        _ => format!("an adapter whose name contains `{text}`"),
    }
}

impl Adapter {
    /// Returns all adapters of this machine, the best adapter first.
    #[cfg(not(target_arch = "wasm32"))]
    #[must_use]
    pub fn all() -> Vec<Self> {
        pollster::block_on(Self::all_async())
    }

    /// The async version of `Adapter::all`, for use where blocking is impossible. A browser lists one adapter at most.
    pub async fn all_async() -> Vec<Self> {
        enumerate().await.into_iter().map(|(_, facts)| facts).collect()
    }

    /// Adds an adapter, such as one with a custom backend of wgpu, to those of the machine (feature `testing`).
    #[cfg(feature = "testing")]
    pub fn register(adapter: wgpu::Adapter) {
        REGISTERED.lock().unwrap_or_else(PoisonError::into_inner).push(adapter);
    }

    /// Describes an adapter. `features` and `limits` are those of the adapter or, if the adapter is already opened,
    /// those of its device.
    pub(super) fn describe(raw: &wgpu::Adapter, features: Features, limits: &wgpu::Limits) -> Self {
        let info = raw.get_info();
        let (class, rate) = match info.device_type {
            DeviceType::DiscreteGpu => ("discrete", 2e12),
            DeviceType::IntegratedGpu => ("integrated", 2e11),
            DeviceType::VirtualGpu => ("virtual", 2e11),
            DeviceType::Cpu => ("software", 1e9),
            DeviceType::Other => ("other", 2e11),
        };
        let cooperative = cooperative(raw, features);
        let optional = OPTIONAL.iter().filter(|(_, f)| features.contains(*f)).map(|(name, _)| *name);
        // The lavapipe of Mesa 22.3.6 silently ends the loops of an invocation after 65,535 iterations in total.
        let loop_budget = if info.name.contains("llvmpipe") { 65_535 } else { 1 << 24 };
        Self {
            backend: match info.backend {
                wgpu::Backend::BrowserWebGpu => BROWSER.to_owned(),
                other => other.to_string().to_lowercase(),
            },
            driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
            class,
            software: info.device_type == DeviceType::Cpu,
            subgroup_size: [info.subgroup_min_size, info.subgroup_max_size],
            features: optional.chain(cooperative.map(|_| "matrix-units")).collect(),
            limits: AdapterLimits {
                workgroup_storage: limits.max_compute_workgroup_storage_size,
                workgroup_invocations: limits.max_compute_invocations_per_workgroup,
                workgroups_per_dimension: limits.max_compute_workgroups_per_dimension,
                storage_binding: limits.max_storage_buffer_binding_size,
                buffer: limits.max_buffer_size,
                storage_buffers: limits.max_storage_buffers_per_shader_stage,
                uniform_alignment: limits.min_uniform_buffer_offset_alignment,
            },
            loop_budget,
            vendor: info.vendor,
            few_registers: info.vendor == INTEL,
            cooperative,
            kernels: Vec::new(),
            slower: Vec::new(),
            matrix_units: None,
            rate,
            index: 0,
            pci: Some(info.device_pci_bus_id.to_lowercase()).filter(|pci| !pci.is_empty()),
            // Browsers may keep the name to themselves.
            name: if info.name.is_empty() { "WebGPU".to_owned() } else { info.name },
        }
    }

    fn named(&self) -> Named<'_> {
        Named { name: &self.name, driver: &self.driver, pci: self.pci.as_deref() }
    }

    /// Returns whether this form of a kernel may be used.
    pub(crate) fn uses(&self, form: KernelForm) -> bool {
        self.asks(form) || self.kernels.iter().all(|other| other.family() != form.family())
    }

    /// Returns whether this form may be used and was not measured to be slower than another form for work of the given
    /// size.
    pub(crate) fn prefers(&self, form: KernelForm, size: f64) -> bool {
        let slower = |s: &Slower| s.form == form && s.sizes[0] <= size && size <= s.sizes[1];
        self.uses(form) && !self.slower.iter().any(slower)
    }

    /// Returns what `choose` selects from the forms that are preferred for work of the given size. If `choose` selects
    /// nothing, returns what `choose` selects from all forms that may be used. The argument of `choose` is a function
    /// that says whether a given form may be selected.
    pub(crate) fn form<T>(&self, size: f64, choose: impl Fn(&dyn Fn(KernelForm) -> bool) -> Option<T>) -> Option<T> {
        choose(&|form| self.prefers(form, size)).or_else(|| choose(&|form| self.uses(form)))
    }

    /// Returns whether the driver needs only seconds to compile a long kernel without loops. SwiftShader needs minutes
    /// for a kernel that other compilers translate in a second (measured on 2026-11-22 with one 16-point FFT stage with
    /// guarded reads and writes).
    pub(crate) fn compiles_long_kernels(&self) -> bool {
        !(self.software && (self.name.contains("SwiftShader") || self.backend == BROWSER))
    }

    /// Returns whether the caller requested this form by name.
    pub(crate) fn asks(&self, form: KernelForm) -> bool {
        self.kernels.contains(&form)
    }

    /// Returns whether products of f16 of the given size are computed on matrix units: if the caller requested that by
    /// name, or if it may be done and was measured to be faster.
    pub(crate) fn prefers_matrix_units(&self, size: f64) -> bool {
        let form = KernelForm::Matmul(MatmulForm::Cooperative);
        let faster = self.matrix_units.is_some_and(|[least, most]| least <= size && size <= most);
        self.asks(form) || self.cooperative.is_some() && self.uses(form) && faster
    }

    /// Returns the subgroup size in invocations, if shaders may use subgroups and all subgroups have the same size.
    pub(crate) fn subgroup(&self) -> Option<u32> {
        let [least, most] = self.subgroup_size;
        (least == most && self.features.contains(&"subgroups")).then_some(least)
    }

    /// Returns the sizes of the smallest and of the largest subgroup, if shaders may use subgroups. Which of the sizes
    /// between them a kernel gets is up to the driver: wgpu 30 requests none, and lets drivers choose a size for each
    /// pipeline.
    pub(crate) fn subgroups(&self) -> Option<[u32; 2]> {
        self.features.contains(&"subgroups").then_some(self.subgroup_size)
    }

    /// Returns the rank of the adapter's class. A smaller rank is better.
    fn rank(&self) -> usize {
        ["discrete", "integrated", "virtual", "other", "software"].iter().position(|c| *c == self.class).unwrap_or(9)
    }
}

#[cfg(test)]
impl Adapter {
    /// Returns an adapter for tests, without optional features and with the minimum limits that WebGPU guarantees.
    pub(crate) fn made_up() -> Self {
        Self {
            name: "made up".into(),
            index: 0,
            pci: None,
            backend: "none".into(),
            driver: String::new(),
            class: "other",
            software: false,
            subgroup_size: [4, 4],
            features: Vec::new(),
            limits: AdapterLimits {
                workgroup_storage: 16 << 10,
                workgroup_invocations: 256,
                workgroups_per_dimension: 65_535,
                storage_binding: 128 << 20,
                buffer: 256 << 20,
                storage_buffers: 8,
                uniform_alignment: 256,
            },
            loop_budget: 1 << 24,
            vendor: 0,
            few_registers: false,
            cooperative: None,
            kernels: Vec::new(),
            slower: Vec::new(),
            matrix_units: None,
            rate: 1e9,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Named, select, wanted};

    /// Two equal cards, and a third adapter that has another name and whose driver reports no PCI address.
    const ADAPTERS: [Named<'static>; 3] = [
        Named { name: "NVIDIA H200", driver: "NVIDIA 580.1", pci: Some("0000:41:00.0") },
        Named { name: "NVIDIA H200", driver: "NVIDIA 580.1", pci: Some("0001:41:00.0") },
        Named { name: "llvmpipe (LLVM 15)", driver: "llvmpipe Mesa 22", pci: None },
    ];

    #[test]
    fn equal_adapters_are_told_apart() {
        for (text, place) in [
            ("h200", Some(0)),
            ("H200#0", Some(0)),
            ("h200#1", Some(1)),
            ("nvidia#2", None),
            ("pci:0000:41:00.0", Some(0)),
            ("PCI:0001:41:00.0", Some(1)),
            ("pci:41:00.0", Some(0)),
            ("pci:0002:41:00.0", None),
            ("pci:", None),
            ("mesa", Some(2)),
            ("llvmpipe#0", Some(2)),
            ("llvmpipe#1", None),
            ("radeon", None),
        ] {
            assert_eq!(select(&ADAPTERS, text), place, "{text}");
        }
    }

    #[test]
    fn an_error_says_what_was_asked_for() {
        assert_eq!(wanted("radeon"), "an adapter whose name contains `radeon`");
        assert_eq!(wanted("h200#2"), "more than 2 adapters whose name contains `h200`");
        assert_eq!(wanted("pci:41:00.0"), "an adapter at the PCI address 41:00.0");
    }
}
