//! The cost model: takes a workload and returns a choice with its reason, by arithmetic and without a device.
//!
//! `time = fixed cost + dispatches + bytes / bandwidth + flop / rate by size class`, for the CPU and for the device.
//! The rates are measured on this machine ([`Tuning`]), or are the defaults of its class.
//!
//! `resident` in the `choose_` functions says that the input is on the device. The device's results
//! stay there, so nothing is transferred.

mod rates;
mod stored;
mod tuning;
mod workload;

pub use crate::device::Slower;
pub use rates::{CpuRates, Curve, Curves, GpuRates, Point, Rates};
pub use stored::{Stored, folder};
pub use tuning::{Machine, Tuning, parse};
pub use workload::{Family, Workload};

use std::fmt;
use std::sync::Arc;

/// Where a caller wants operations to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// On the side that the cost model predicts to be faster.
    #[default]
    Auto,
    /// On the adapter; an error if that is impossible.
    Gpu,
    /// On the CPU.
    Cpu,
}

/// Where one operation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The CPU, with all threads.
    Cpu,
    /// The adapter.
    Gpu,
}

/// The class of the adapter, as the policy sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceClass {
    /// There is no adapter.
    Absent,
    /// No adapter was searched for.
    Unopened,
    /// A program on the CPU, which is never chosen automatically.
    Software,
    /// A device that shares the CPU's memory.
    Integrated,
    /// A device with its own memory.
    Discrete,
}

impl Rates {
    /// Returns the rates that apply before anything is measured on this machine. Those of devices
    /// are deliberately low shares of the published rates of their class, because no GPU has been
    /// measured yet; transfers run at half of PCIe 4.0 x16.
    #[must_use]
    pub fn of(class: DeviceClass, threads: usize) -> Self {
        let (flops, transfer) = match class {
            DeviceClass::Discrete => (1e12, 12e9),
            DeviceClass::Integrated => (1e11, 10e9),
            DeviceClass::Software | DeviceClass::Absent | DeviceClass::Unopened => (1e9, 5e9),
        };
        Self { cpu: CpuRates::default_of(threads), gpu: GpuRates::flat(flops, transfer) }
    }
}

/// The factor by which repeated measurements differ. A difference below it is a tie, which the CPU wins: it compiles
/// nothing, takes no device memory and wakes no device.
const TIE: f64 = 1.1;

/// The policy that chooses a side for each workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// The setting of the caller.
    pub backend: Backend,
    /// The class of the adapter.
    pub class: DeviceClass,
    /// The rates of both sides.
    pub rates: Arc<Rates>,
    /// Whether the CPU's and the device's rates were measured on this machine.
    pub measured: [bool; 2],
}

/// A side, the predicted times of both sides, and the reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The work to do.
    pub workload: Workload,
    /// The side where it runs.
    pub side: Side,
    /// The predicted seconds on the CPU.
    pub cpu_seconds: f64,
    /// The predicted seconds on the adapter, including transfers; infinite if it cannot run there.
    pub gpu_seconds: f64,
    /// The additional seconds of a first call on that side, if they were measured. They do not affect the choice.
    pub first_seconds: f64,
    /// Why that side was chosen.
    pub reason: Reason,
    /// Whether the CPU's and the device's rates were measured on this machine.
    pub measured: [bool; 2],
}

/// Why a side was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The caller asked for that side.
    Asked,
    /// There is no adapter.
    NoAdapter,
    /// The CPU finishes the work before an adapter would be open.
    TooLittle,
    /// A software adapter is slower than the CPU itself.
    SoftwareAdapter,
    /// The kernels cannot take the work, because of its precision or a matrix beyond their largest order.
    BeyondKernels,
    /// That side is predicted to be faster.
    Faster,
}

impl Policy {
    /// Chooses where `workload` runs; `fits` says whether the device's kernels can take it.
    #[must_use]
    pub fn choose(&self, workload: &Workload, fits: bool) -> Choice {
        let cpu_seconds = self.rates.cpu.seconds(workload);
        let gpu_seconds = if !fits || matches!(self.class, DeviceClass::Absent | DeviceClass::Unopened) {
            f64::INFINITY
        } else {
            let host =
                if self.rates.gpu.curves.of(workload.family).is_some() { 0.0 } else { self.rates.cpu.host(workload) };
            self.rates.gpu.seconds(workload) + self.rates.cpu.new_pages(workload.download) + host
        };
        let (side, reason) = match (self.backend, self.class) {
            (Backend::Cpu, _) => (Side::Cpu, Reason::Asked),
            (Backend::Gpu, _) => (Side::Gpu, Reason::Asked),
            (Backend::Auto, DeviceClass::Absent) => (Side::Cpu, Reason::NoAdapter),
            (Backend::Auto, DeviceClass::Unopened) => (Side::Cpu, Reason::TooLittle),
            (Backend::Auto, DeviceClass::Software) => (Side::Cpu, Reason::SoftwareAdapter),
            _ if !fits => (Side::Cpu, Reason::BeyondKernels),
            _ if gpu_seconds * TIE < cpu_seconds => (Side::Gpu, Reason::Faster),
            _ => (Side::Cpu, Reason::Faster),
        };
        let first = match side {
            Side::Cpu => &self.rates.cpu.curves,
            Side::Gpu => &self.rates.gpu.curves,
        };
        let first_seconds = first.first(workload.family);
        Choice { workload: *workload, side, cpu_seconds, gpu_seconds, first_seconds, reason, measured: self.measured }
    }
}

impl Choice {
    /// Returns how many times longer the other side is predicted to take. It may be below 1 if the
    /// choice was not by time.
    #[must_use]
    pub fn margin(&self) -> f64 {
        match self.side {
            Side::Cpu => self.gpu_seconds / self.cpu_seconds,
            Side::Gpu => self.cpu_seconds / self.gpu_seconds,
        }
    }

    /// Returns the algorithm, or the kernel form, that runs on that side; empty if there is only one.
    #[must_use]
    pub fn algorithm(&self) -> &'static str {
        self.workload.algorithms[usize::from(self.side == Side::Gpu)]
    }

    /// Returns the predicted seconds on that side.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        match self.side {
            Side::Cpu => self.cpu_seconds,
            Side::Gpu => self.gpu_seconds,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Asked => "asked for",
            Self::NoAdapter => "there is no GPU",
            Self::TooLittle => "too small to be worth opening a GPU",
            Self::SoftwareAdapter => "a software adapter is slower than the CPU itself",
            Self::BeyondKernels => "too large for the GPU's kernels, or not in f32",
            Self::Faster => "predicted to be faster",
        })
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = if self.side == Side::Cpu { "cpu" } else { "gpu" };
        f.write_str(side)?;
        if !self.algorithm().is_empty() {
            write!(f, " ({})", self.algorithm())?;
        }
        write!(f, ": {} (cpu {:.2e} s, ", self.reason, self.cpu_seconds)?;
        if self.gpu_seconds.is_finite() {
            write!(f, "gpu {:.2e} s)", self.gpu_seconds)
        } else {
            f.write_str("gpu n/a)")
        }
    }
}

impl std::str::FromStr for Backend {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "auto" => Ok(Self::Auto),
            "gpu" => Ok(Self::Gpu),
            "cpu" => Ok(Self::Cpu),
            other => Err(format!("expected auto, gpu or cpu, found `{other}`")),
        }
    }
}
