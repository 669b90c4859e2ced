//! A workload in, a choice with its reason out: arithmetic, without a device.

use std::fmt;

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

/// What an operation has to do.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Workload {
    /// Floating-point operations of the CPU's algorithm.
    pub cpu_flops: f64,
    /// Floating-point operations of the device's algorithm.
    pub gpu_flops: f64,
    /// Bytes that have to cross to the device and back; what lies there already costs nothing.
    pub bytes_to_move: f64,
    /// Dispatches.
    pub dispatches: f64,
}

/// What the adapter is to the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceClass {
    /// There is none.
    Absent,
    /// A program on the CPU: it never wins by itself.
    Software,
    /// Shares the CPU's memory.
    Integrated,
    /// Has memory of its own.
    Discrete,
}

/// The rates by which times are predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// flop/s of one CPU thread in the decompositions here.
    pub cpu_flops: f64,
    /// CPU threads.
    pub threads: f64,
    /// flop/s of the adapter's kernels.
    pub gpu_flops: f64,
    /// Bytes/s between host and device.
    pub transfer: f64,
    /// Seconds that a dispatch costs on its own.
    pub dispatch: f64,
    /// Seconds from submitting to the first byte read back.
    pub round_trip: f64,
}

impl Rates {
    /// Before anything is measured on this machine. CPU: `eigh` in f32 in lanes of AVX-512 on one core, n = 16 to 64, counted as
    /// 9 n^3 flop (2026-11-21). Devices: deliberately low shares of the published rates of their class, because no GPU has been
    /// measured yet: dispatch and round trip after gfx-rs/wgpu#5766 and arXiv 2604.02344, transfers at half of PCIe 4.0 x16.
    #[must_use]
    pub fn of(class: DeviceClass, threads: usize) -> Self {
        let (gpu_flops, transfer) = match class {
            DeviceClass::Discrete => (1e12, 12e9),
            DeviceClass::Integrated => (1e11, 10e9),
            DeviceClass::Software | DeviceClass::Absent => (1e9, 5e9),
        };
        #[expect(clippy::cast_precision_loss, reason = "a count of threads")]
        let threads = threads as f64;
        Self { cpu_flops: 2e10, threads, gpu_flops, transfer, dispatch: 3e-5, round_trip: 3e-4 }
    }
}

/// Chooses a side for each workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// What the caller asked for.
    pub backend: Backend,
    /// The adapter at hand.
    pub class: DeviceClass,
    /// The rates.
    pub rates: Rates,
}

/// A side, the predicted times of both, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Where it runs.
    pub side: Side,
    /// Predicted seconds on the CPU.
    pub cpu_seconds: f64,
    /// Predicted seconds on the adapter; infinite where it cannot run.
    pub gpu_seconds: f64,
    /// Why.
    pub reason: Reason,
}

/// Why a side was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The caller said so.
    Asked,
    /// There is no adapter.
    NoAdapter,
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
        let r = &self.rates;
        let cpu_seconds = workload.cpu_flops / (r.cpu_flops * r.threads.max(1.0));
        let gpu_seconds = if !fits || self.class == DeviceClass::Absent {
            f64::INFINITY
        } else {
            let moved = workload.bytes_to_move / r.transfer;
            r.round_trip + workload.dispatches * r.dispatch + moved + workload.gpu_flops / r.gpu_flops
        };
        let (side, reason) = match (self.backend, self.class) {
            (Backend::Cpu, _) => (Side::Cpu, Reason::Asked),
            (Backend::Gpu, _) => (Side::Gpu, Reason::Asked),
            (Backend::Auto, DeviceClass::Absent) => (Side::Cpu, Reason::NoAdapter),
            (Backend::Auto, DeviceClass::Software) => (Side::Cpu, Reason::SoftwareAdapter),
            _ if !fits => (Side::Cpu, Reason::BeyondKernels),
            _ if gpu_seconds < cpu_seconds => (Side::Gpu, Reason::Faster),
            _ => (Side::Cpu, Reason::Faster),
        };
        Choice { side, cpu_seconds, gpu_seconds, reason }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = if self.side == Side::Cpu { "cpu" } else { "gpu" };
        let why = match self.reason {
            Reason::Asked => "asked for",
            Reason::NoAdapter => "there is no adapter",
            Reason::SoftwareAdapter => "a software adapter is slower than the CPU itself",
            Reason::BeyondKernels => "the device's kernels cannot take it",
            Reason::Faster => "predicted to be faster",
        };
        write!(f, "{side}: {why} (cpu {:.2e} s, ", self.cpu_seconds)?;
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
