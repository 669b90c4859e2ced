//! The cost model, which chooses the side on which a workload runs and states the reason. The choice is pure arithmetic
//! and needs no device.
//!
//! The predicted time of a side is the sum of a fixed cost, the cost of the dispatches, the number of transferred bytes
//! divided by the bandwidth, and the number of operations divided by a rate in flop/s, which depends on the size of
//! the work. The rates are either measured on this machine ([`Tuning`]) or the defaults of the device's class
//! ([`DeviceClass`]). The defaults of GPUs come from a static model ([`Hardware`]).
//!
//! The parameter `resident` of the `choose_` functions says whether the input is already on the device. If it is, the
//! results that the device computes stay on the device too, so nothing is transferred.

mod model;
mod rates;
mod stored;
mod tuning;
mod workload;

pub use crate::device::Slower;
pub use model::Hardware;
pub use rates::{CpuRates, Curve, Curves, GpuRates, Point, Rates};
pub use stored::{Stored, folder};
pub use tuning::{Machine, Tuning, parse};
pub use workload::{Family, Workload};

use std::fmt;
use std::sync::Arc;

/// The side on which the caller wants operations to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// Operations run on the side that the cost model predicts to be faster.
    #[default]
    Auto,
    /// Operations run on the adapter. An operation that cannot run on the adapter returns an error.
    Gpu,
    /// Operations run on the CPU.
    Cpu,
}

/// The side on which one operation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The CPU, with all threads of the context.
    Cpu,
    /// The adapter.
    Gpu,
}

/// The class of the adapter, which determines the default rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceClass {
    /// The machine has no adapter.
    Absent,
    /// No adapter was searched for, because the search was disabled.
    Unopened,
    /// The adapter is a program on the CPU. Such an adapter is never chosen automatically.
    Software,
    /// The adapter shares the CPU's memory.
    Integrated,
    /// The adapter has separate memory.
    Discrete,
}

impl Rates {
    /// Returns the rates that apply before anything is measured on this machine. The rates of a GPU are those of the
    /// static model. `vendor` is its PCI vendor id, or 0 if it is unknown.
    #[must_use]
    pub fn of(class: DeviceClass, vendor: u32, threads: usize) -> Self {
        let gpu = match class {
            DeviceClass::Discrete => GpuRates::modelled(Hardware::discrete(vendor)),
            DeviceClass::Integrated => GpuRates::modelled(Hardware::INTEGRATED),
            DeviceClass::Software | DeviceClass::Absent | DeviceClass::Unopened => GpuRates::flat(1e9, 5e9),
        };
        Self { cpu: CpuRates::default_of(threads), gpu }
    }
}

/// The factor by which repeated measurements of the same work may differ. If the predicted times differ by less than
/// this factor, the CPU is chosen, because using the CPU requires no compilation, occupies no device memory and wakes
/// no device.
const TIE: f64 = 1.1;

/// The policy, which chooses a side for each workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// The side that the caller wants.
    pub backend: Backend,
    /// The class of the adapter.
    pub class: DeviceClass,
    /// The rates of both sides.
    pub rates: Arc<Rates>,
    /// Whether the rates of the CPU (element 0) and those of the device (element 1) were measured on this machine.
    pub measured: [bool; 2],
}

/// The side that was chosen for a workload, with the predicted times of both sides and the reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The workload for which the side was chosen.
    pub workload: Workload,
    /// The side on which the workload runs.
    pub side: Side,
    /// The predicted time on the CPU, in seconds.
    pub cpu_seconds: f64,
    /// The predicted time on the adapter, in seconds, including transfers. It is infinite if the workload cannot run
    /// there.
    pub gpu_seconds: f64,
    /// The additional time of a first call on the chosen side, in seconds, or 0 if it was not measured. It does not
    /// affect the choice.
    pub first_seconds: f64,
    /// The reason why the side was chosen.
    pub reason: Reason,
    /// Whether the rates of the CPU (element 0) and those of the device (element 1) were measured on this machine.
    pub measured: [bool; 2],
}

/// The reason why a side was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The caller requested the side.
    Asked,
    /// The machine has no adapter.
    NoAdapter,
    /// No adapter was searched for, because the CPU finishes the work before an adapter would be open.
    NotWorthOpening,
    /// The adapter is a software adapter, which is slower than the CPU itself.
    SoftwareAdapter,
    /// The kernels do not support the precision of the work, or a matrix exceeds the largest order that the kernels
    /// support.
    BeyondKernels,
    /// The kernels' results have to be read while the work goes on, and a browser cannot wait for them.
    CannotWait,
    /// Work of this family has never been measured on this adapter, and what is predicted of it is too uncertain.
    NotMeasured,
    /// The work goes on from a checkpoint of this side.
    Resumed,
    /// The side is predicted to be faster.
    Faster,
}

impl Policy {
    /// Chooses where `workload` runs. `fits` says whether the device's kernels can handle the workload.
    #[must_use]
    pub fn choose(&self, workload: &Workload, fits: bool) -> Choice {
        let cpu_seconds = self.rates.cpu.seconds(workload);
        let gpu_seconds = if !fits || matches!(self.class, DeviceClass::Absent | DeviceClass::Unopened) {
            f64::INFINITY
        } else {
            let host =
                if self.rates.gpu.curves.of(workload.family).is_some() { 0.0 } else { self.rates.cpu.host(workload) };
            let kept = self.rates.cpu.kept(workload);
            self.rates.gpu.seconds(workload) + self.rates.cpu.new_pages(workload.download) + host + kept
        };
        let (side, reason) = match (self.backend, self.class) {
            (Backend::Cpu, _) => (Side::Cpu, Reason::Asked),
            (Backend::Gpu, _) => (Side::Gpu, Reason::Asked),
            (Backend::Auto, DeviceClass::Absent) => (Side::Cpu, Reason::NoAdapter),
            (Backend::Auto, DeviceClass::Unopened) => (Side::Cpu, Reason::NotWorthOpening),
            (Backend::Auto, DeviceClass::Software) => (Side::Cpu, Reason::SoftwareAdapter),
            _ if !fits => (Side::Cpu, Reason::BeyondKernels),
            _ if workload.family.needs_curve() && self.rates.gpu.curves.of(workload.family).is_none() => {
                (Side::Cpu, Reason::NotMeasured)
            }
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
    /// Returns the predicted time of the other side divided by the predicted time of the chosen side. The quotient may
    /// be below 1 if the predicted times did not determine the choice.
    #[must_use]
    pub fn margin(&self) -> f64 {
        match self.side {
            Side::Cpu => self.gpu_seconds / self.cpu_seconds,
            Side::Gpu => self.cpu_seconds / self.gpu_seconds,
        }
    }

    /// Returns the name of the algorithm or of the kernel form that runs on the chosen side. The name is empty if the
    /// side has only one.
    #[must_use]
    pub fn algorithm(&self) -> &'static str {
        self.workload.algorithms[usize::from(self.side == Side::Gpu)]
    }

    /// Returns the predicted time on the chosen side, in seconds.
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
            Self::NotWorthOpening => "too small to be worth opening a GPU",
            Self::SoftwareAdapter => "a software adapter is slower than the CPU itself",
            Self::CannotWait => "a browser cannot wait for the GPU midway",
            Self::BeyondKernels => "too large for the GPU's kernels, or not in f32",
            Self::NotMeasured => "not measured on this GPU yet, and an unmeasured GPU is not chosen for it",
            Self::Resumed => "the checkpoint that it goes on from was written there",
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
