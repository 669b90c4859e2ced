//! Which adapters the machine has, what each offers, and the choice among them.

use crate::error::{ErrorKind, Result};
use crate::forms::KernelForm;
use wgpu::{Backends, DeviceType, Features};

/// One adapter of this machine, as its driver describes it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Adapter {
    /// The driver's name for it.
    pub name: String,
    /// Its place among the machine's adapters of that name, from 0: `NAME#1` is the second one.
    pub index: usize,
    /// Its PCI address, such as `0000:41:00.0`, where the driver tells it.
    pub pci: Option<String>,
    /// `vulkan`, `metal` or `dx12`.
    pub backend: String,
    /// The driver, with its version where it tells one.
    pub driver: String,
    /// `discrete`, `integrated`, `virtual`, `software` or `other`.
    pub class: &'static str,
    /// Whether it is a program on the CPU. Such an adapter is never chosen unless it is named.
    pub software: bool,
    /// Smallest and largest subgroup, in invocations.
    pub subgroup_size: [u32; 2],
    /// The optional features that are used where they are offered: `f16`, `f64`, `subgroups`, `timestamps`,
    /// `pipeline-cache`, `immediates`; and `matrix-units` (of f16 with sums in f32), which are used by name alone.
    pub features: Vec<&'static str>,
    /// The limits that bear upon the kernels here.
    pub limits: AdapterLimits,
    /// How many loop iterations one invocation may run in a dispatch before the driver cuts it off in silence.
    pub loop_budget: u32,
    /// The order, 16 or 8, of the matrices of f16 that its device may multiply with sums in f32 on matrix units, a subgroup each.
    pub(crate) cooperative: Option<u32>,
    /// The forms of kernels that may be used, of each family that is named here.
    pub(super) kernels: Vec<KernelForm>,
    /// Forms that were measured to be slower than others.
    pub(super) slower: Vec<Slower>,
    /// Rough rate of a kernel in flop/s: it bounds the work of one submission, nothing else.
    pub(super) rate: f64,
}

/// A form of kernels that was measured to be slower than another one for the same work, and the sizes for which.
#[derive(Clone, Debug, PartialEq)]
pub struct Slower {
    /// The form.
    pub form: KernelForm,
    /// The smallest size and the largest.
    pub sizes: [f64; 2],
}

/// The limits of an adapter that bear upon the kernels here.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AdapterLimits {
    /// Bytes of workgroup memory.
    pub workgroup_storage: u32,
    /// Invocations in a workgroup.
    pub workgroup_invocations: u32,
    /// Workgroups along one dimension of a dispatch.
    pub workgroups_per_dimension: u32,
    /// Bytes that one storage binding may cover.
    pub storage_binding: u64,
    /// Bytes of one buffer.
    pub buffer: u64,
    /// Storage buffers of one kernel.
    pub storage_buffers: u32,
    /// Alignment in bytes of a uniform's offset in its buffer.
    pub uniform_alignment: u32,
}

/// A wgpu device that somebody else owns (Burn and CubeCL share wgpu 30), to make a context from.
///
/// Its callbacks for device loss and uncaptured errors are replaced.
#[derive(Clone, Debug)]
pub struct WgpuDevice {
    /// The adapter that the device comes from.
    pub adapter: wgpu::Adapter,
    /// The device.
    pub device: wgpu::Device,
    /// Its queue. Work that was submitted before is done before.
    pub queue: wgpu::Queue,
}

/// A wgpu buffer that somebody else owns on the device of a context, to make an array from. It is read, never written.
#[derive(Clone, Debug)]
pub struct WgpuBuffer(pub wgpu::Buffer);

/// The optional features that are asked for where the adapter has them, by the name shown to users.
const OPTIONAL: [(&str, Features); 6] = [
    ("f16", Features::SHADER_F16),
    ("f64", Features::SHADER_F64),
    ("subgroups", Features::SUBGROUP),
    ("timestamps", Features::TIMESTAMP_QUERY),
    ("pipeline-cache", Features::PIPELINE_CACHE),
    ("immediates", Features::IMMEDIATES),
];

/// The part of `offered` that is worth asking for.
pub(super) fn wanted_features(offered: Features) -> Features {
    OPTIONAL.iter().fold(Features::empty(), |all, (_, f)| all | *f) & offered
}

/// GL is left out: it overcommits memory and has the weakest limits.
fn instance() -> wgpu::Instance {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    descriptor.backends &= Backends::VULKAN | Backends::METAL | Backends::DX12;
    wgpu::Instance::new(descriptor)
}

/// wgpu's feature for matrix units. It is experimental to wgpu: a device has it only where it was opened for them, here or by
/// somebody else.
pub(super) const MATRIX_UNITS: Features = Features::EXPERIMENTAL_COOPERATIVE_MATRIX;

/// The order of the matrices that there are matrix units for, as the kernels use them: the larger one.
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

/// Adapters of the machine with what is known of them, the best first.
pub(super) fn enumerate() -> Vec<(wgpu::Adapter, Adapter)> {
    let raw = pollster::block_on(instance().enumerate_adapters(Backends::all()));
    let mut all: Vec<_> = raw.into_iter().map(|a| (Adapter::describe(&a, a.features(), &a.limits()), a)).collect();
    all.sort_by_key(|(facts, _)| facts.rank());
    for i in 0..all.len() {
        let (before, own) = all.split_at_mut(i);
        own[0].0.index = before.iter().filter(|(facts, _)| facts.name == own[0].0.name).count();
    }
    all.into_iter().map(|(facts, raw)| (raw, facts)).collect()
}

/// The adapter that `name` selects, or the best that is no software adapter.
pub(super) fn choose(name: Option<&str>) -> Result<(wgpu::Adapter, Adapter)> {
    let mut all = enumerate();
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

/// What an adapter may be selected by.
#[derive(Clone, Copy, Debug)]
struct Named<'a> {
    name: &'a str,
    driver: &'a str,
    pci: Option<&'a str>,
}

/// The place of the adapter that `text` selects: `pci:ADDRESS` by its PCI address, whose domain 0000 may be left out; else a part of its
/// name or driver, in any case, with `#N` behind it the one after N others that fit.
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

/// What `text` asks [`select`] for, in words.
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
    /// All adapters of this machine, the best first.
    #[must_use]
    pub fn all() -> Vec<Self> {
        enumerate().into_iter().map(|(_, facts)| facts).collect()
    }

    /// What the adapter or, if it is opened already, its device allows.
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
        // Mesa 22.3.6's lavapipe ends the loops of an invocation after 65,535 iterations altogether, without a word.
        let loop_budget = if info.name.contains("llvmpipe") { 65_535 } else { 1 << 24 };
        Self {
            backend: info.backend.to_string().to_lowercase(),
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
            cooperative,
            kernels: Vec::new(),
            slower: Vec::new(),
            rate,
            index: 0,
            pci: Some(info.device_pci_bus_id.to_lowercase()).filter(|pci| !pci.is_empty()),
            name: info.name,
        }
    }

    fn named(&self) -> Named<'_> {
        Named { name: &self.name, driver: &self.driver, pci: self.pci.as_deref() }
    }

    /// Whether this form of a kernel, one of several for the same work, may be used.
    pub(crate) fn uses(&self, form: KernelForm) -> bool {
        self.asks(form) || self.kernels.iter().all(|other| other.family() != form.family())
    }

    /// Whether this form may be used and was not measured to be slower than another for work of that size.
    pub(crate) fn prefers(&self, form: KernelForm, size: f64) -> bool {
        let slower = |s: &Slower| s.form == form && s.sizes[0] <= size && size <= s.sizes[1];
        self.uses(form) && !self.slower.iter().any(slower)
    }

    /// What `choose` makes of the forms that are preferred for work of that size, or else of all that may be used.
    pub(crate) fn form<T>(&self, size: f64, choose: impl Fn(&dyn Fn(KernelForm) -> bool) -> Option<T>) -> Option<T> {
        choose(&|form| self.prefers(form, size)).or_else(|| choose(&|form| self.uses(form)))
    }

    /// Whether the driver compiles a long kernel without loops in seconds. SwiftShader's compiler takes minutes for what others take a
    /// second for (2026-11-22, one stage of 16 points with its reads and writes guarded).
    pub(crate) fn compiles_long_kernels(&self) -> bool {
        !(self.software && self.name.contains("SwiftShader"))
    }

    /// Whether this form was asked for by name.
    pub(crate) fn asks(&self, form: KernelForm) -> bool {
        self.kernels.contains(&form)
    }

    /// Invocations of every subgroup, where shaders may use subgroups and there is but one size.
    pub(crate) fn subgroup(&self) -> Option<u32> {
        let [least, most] = self.subgroup_size;
        (least == most && self.features.contains(&"subgroups")).then_some(least)
    }

    /// Smaller is better.
    fn rank(&self) -> usize {
        ["discrete", "integrated", "virtual", "other", "software"].iter().position(|c| *c == self.class).unwrap_or(9)
    }
}

#[cfg(test)]
mod tests {
    use super::{Named, select, wanted};

    /// Two equal cards, a third of another name with a driver that tells no address.
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
