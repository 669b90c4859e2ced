//! A workload in, a choice with its reason out: arithmetic, without a device.
//!
//! `time = fixed cost + dispatches + bytes / bandwidth + flop / rate by size class`, for the CPU and for the device; the rates are
//! measured on this machine ([`Tuning`]), or the defaults of its class.
//!
//! `resident` of the `choose_` functions: what is given lies on the device. What a device makes of it stays there, so nothing is transferred.

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
    /// Where the costs below say that it is faster.
    #[default]
    Auto,
    /// On the adapter, or an error.
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

/// What the adapter is to the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceClass {
    /// There is none.
    Absent,
    /// Nobody looked for one.
    Unopened,
    /// A program on the CPU: it never wins by itself.
    Software,
    /// Shares the CPU's memory.
    Integrated,
    /// Has memory of its own.
    Discrete,
}

impl Rates {
    /// Before anything is measured on this machine. Devices: deliberately low shares of the published rates of their class, because no
    /// GPU has been measured yet; transfers at half of PCIe 4.0 x16.
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

/// A tie is the CPU's: it compiles nothing, takes no device memory and wakes nobody. Repeated measurements are this far apart.
const TIE: f64 = 1.1;

/// Chooses a side for each workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// What the caller asked for.
    pub backend: Backend,
    /// The adapter at hand.
    pub class: DeviceClass,
    /// The rates.
    pub rates: Arc<Rates>,
    /// Whether the CPU's rates were measured on this machine, and the device's.
    pub measured: [bool; 2],
}

/// A side, the predicted times of both, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// What has to be done.
    pub workload: Workload,
    /// Where it runs.
    pub side: Side,
    /// Predicted seconds on the CPU.
    pub cpu_seconds: f64,
    /// Predicted seconds on the adapter, transfers counted; infinite where it cannot run.
    pub gpu_seconds: f64,
    /// Seconds that a first call there takes longer, where that was measured; it decides nothing.
    pub first_seconds: f64,
    /// Why.
    pub reason: Reason,
    /// Whether the CPU's rates were measured on this machine, and the device's.
    pub measured: [bool; 2],
}

/// Why a side was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The caller said so.
    Asked,
    /// There is no adapter.
    NoAdapter,
    /// It is done on the CPU before an adapter would be open.
    TooLittle,
    /// A software adapter is slower than the CPU itself.
    SoftwareAdapter,
    /// The kernels cannot take it: its precision, or a matrix beyond their largest order.
    BeyondKernels,
    /// It is predicted to be faster.
    Faster,
}

impl Policy {
    /// Where `workload` runs; `fits` tells whether the device's kernels can take it.
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
    /// How many times longer the other side is predicted to take: below 1 where the choice was not by time.
    #[must_use]
    pub fn margin(&self) -> f64 {
        match self.side {
            Side::Cpu => self.gpu_seconds / self.cpu_seconds,
            Side::Gpu => self.cpu_seconds / self.gpu_seconds,
        }
    }

    /// The algorithm, or the form of kernels, that runs there; empty where there is but one.
    #[must_use]
    pub fn algorithm(&self) -> &'static str {
        self.workload.algorithms[usize::from(self.side == Side::Gpu)]
    }

    /// Predicted seconds where it runs.
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
            f.write_str("gpu none)")
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
