//! The adapters that the machine can be: subgroup sizes, features, limits and the freedoms of floating point.

use wgpu::{DeviceType, Features, Limits};

/// What becomes of subnormal f32 operands and results. WGSL lets an implementation choose for each operation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Denormals {
    /// Subnormals are kept, as IEEE 754 has them.
    Keep,
    /// Subnormals become zero, as operands and as results.
    Flush,
    /// Each operation of the program keeps or flushes, drawn from the seed.
    Seeded,
}

/// How far results may be from the correctly rounded ones.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Accuracy {
    /// Every operation is as accurate as the host's, and products and sums are never contracted.
    Exact,
    /// Errors of up to the specification's bounds, except that `sin`, `cos`, `atan` and the like, whose bounds are
    /// thousands of ULP, err by at most 4 ULP. This is what shipped drivers do.
    Typical,
    /// Errors of up to the bounds of the WGSL specification.
    Specification,
}

/// How invocations are assigned to subgroups. WGSL leaves this to the implementation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SubgroupMapping {
    /// Consecutive values of `local_invocation_index`, as all shipped drivers do for one-dimensional workgroups.
    Linear,
    /// A permutation drawn from the seed.
    Permuted,
}

/// An adapter that the machine can be.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The name, which findings and reports show.
    pub name: String,
    /// The PCI id of the vendor, or 0, as `wgpu::AdapterInfo` has it.
    pub vendor: u32,
    /// What kind of adapter it is.
    pub device_type: DeviceType,
    /// The smallest subgroup size. Each dispatch draws a power of two between both bounds from its seed.
    pub subgroup_min: u32,
    /// The largest subgroup size, at most 128.
    pub subgroup_max: u32,
    /// The assignment of invocations to subgroups.
    pub mapping: SubgroupMapping,
    /// The features that the adapter offers.
    pub features: Features,
    /// The limits of the adapter.
    pub limits: Limits,
    /// What becomes of subnormals.
    pub denormals: Denormals,
    /// How far results may be off.
    pub accuracy: Accuracy,
    /// Whether `a * b + c` may be computed with a single rounding, drawn from the seed for each place.
    pub contract: bool,
    /// Whether overflow of signed addition, subtraction and multiplication is reported. WGSL defines that it wraps.
    pub report_overflow: bool,
    /// Whether operations that make infinity or NaN of finite operands are reported.
    pub report_nonfinite: bool,
}

impl Profile {
    /// Returns an adapter with one subgroup size, which has to be a power of two between 4 and 128. Its limits are
    /// WebGPU's defaults.
    pub fn with_subgroups(size: u32) -> Self {
        Self::with_subgroup_range(size, size)
    }

    /// Returns an adapter whose subgroup size varies from dispatch to dispatch.
    pub fn with_subgroup_range(min: u32, max: u32) -> Self {
        let name = if min == max { format!("subgroups of {min}") } else { format!("subgroups of {min} to {max}") };
        Self {
            name,
            vendor: 0,
            device_type: DeviceType::Other,
            subgroup_min: min,
            subgroup_max: max,
            mapping: SubgroupMapping::Linear,
            features: Features::SUBGROUP,
            limits: Limits::default(),
            denormals: Denormals::Seeded,
            accuracy: Accuracy::Typical,
            contract: true,
            report_overflow: false,
            report_nonfinite: false,
        }
    }

    /// Returns an adapter with nothing but what WebGPU guarantees: no features, and the limits that every adapter has.
    pub fn minimum() -> Self {
        let base = Self::with_subgroup_range(4, 128);
        Self { name: "minimum".into(), features: Features::empty(), accuracy: Accuracy::Specification, ..base }
    }

    /// Returns an adapter with the properties of NVIDIA's: subgroups of 32, subnormals kept.
    pub fn nvidia() -> Self {
        let limits = Limits {
            max_compute_invocations_per_workgroup: 1024,
            max_compute_workgroup_size_x: 1024,
            max_compute_workgroup_size_y: 1024,
            max_compute_workgroup_storage_size: 49152,
            ..Limits::default()
        };
        let base = Self::with_subgroups(32);
        let (vendor, device_type) = (0x10de, DeviceType::DiscreteGpu);
        Self { name: "as NVIDIA".into(), vendor, device_type, limits, denormals: Denormals::Keep, ..base }
    }

    /// Returns an adapter with the properties of AMD's RDNA: subgroups of 32 or 64.
    pub fn rdna() -> Self {
        let limits = Limits {
            max_compute_invocations_per_workgroup: 1024,
            max_compute_workgroup_size_x: 1024,
            max_compute_workgroup_size_y: 1024,
            max_compute_workgroup_storage_size: 32768,
            ..Limits::default()
        };
        let base = Self::with_subgroup_range(32, 64);
        let (vendor, device_type) = (0x1002, DeviceType::DiscreteGpu);
        Self { name: "as RDNA".into(), vendor, device_type, limits, denormals: Denormals::Keep, ..base }
    }

    /// Returns an adapter with the properties of Apple's: subgroups of 32, subnormals flushed.
    pub fn apple() -> Self {
        let limits = Limits {
            max_compute_invocations_per_workgroup: 1024,
            max_compute_workgroup_size_x: 1024,
            max_compute_workgroup_size_y: 1024,
            max_compute_workgroup_storage_size: 32768,
            ..Limits::default()
        };
        let base = Self::with_subgroups(32);
        let (vendor, device_type) = (0x106b, DeviceType::IntegratedGpu);
        Self { name: "as Apple".into(), vendor, device_type, limits, denormals: Denormals::Flush, ..base }
    }

    /// Returns an adapter with the properties of Intel's Xe: subgroups of 8 to 32.
    pub fn xe() -> Self {
        let base = Self::with_subgroup_range(8, 32);
        let (vendor, device_type) = (0x8086, DeviceType::IntegratedGpu);
        Self { name: "as Xe".into(), vendor, device_type, denormals: Denormals::Keep, ..base }
    }

    /// Returns an adapter with the properties of Arm's Mali: subgroups of 16, subnormals flushed.
    pub fn mali() -> Self {
        let base = Self::with_subgroups(16);
        Self {
            name: "as Mali".into(),
            vendor: 0x13b5,
            device_type: DeviceType::IntegratedGpu,
            denormals: Denormals::Flush,
            accuracy: Accuracy::Specification,
            ..base
        }
    }

    /// Returns this adapter without a feature, for the variants of kernels that do without.
    pub fn without(self, features: Features) -> Self {
        let features = self.features.difference(features);
        Self { name: format!("{}, without features", self.name), features, ..self }
    }

    /// Returns this adapter with every operation exact and subnormals kept, for comparisons bit by bit.
    pub fn exact(self) -> Self {
        let name = format!("{}, exact", self.name);
        Self { name, accuracy: Accuracy::Exact, contract: false, denormals: Denormals::Keep, ..self }
    }

    /// Returns every profile: all subgroup sizes, two ranges, the minimum and the vendors.
    pub fn all() -> Vec<Self> {
        let sizes = [4, 8, 16, 32, 64, 128].map(Self::with_subgroups);
        let ranges = [Self::with_subgroup_range(8, 32), Self::with_subgroup_range(32, 64)];
        let vendors = [Self::minimum(), Self::nvidia(), Self::rdna(), Self::apple(), Self::xe(), Self::mali()];
        sizes.into_iter().chain(ranges).chain(vendors).collect()
    }
}
