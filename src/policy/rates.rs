//! What a machine does in a second: curves over sizes and items, one a family, and the fixed costs.

use super::workload::{Family, Workload};
use crate::device::Slower;

/// One size of a family.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The size.
    pub size: f64,
    /// Items side by side, in ascending order, and flop/s of that many together: a call's launches are in it, its transfers are not.
    pub rates: Vec<[f64; 2]>,
}

impl Point {
    /// Seconds of `items` for each flop of one of them: between two measured counts along a line, fewer than were measured take as long
    /// as the fewest, more go at the rate of the most.
    fn seconds(&self, items: f64) -> f64 {
        let after = self.rates.partition_point(|[count, _]| *count < items);
        let before = after.checked_sub(1).and_then(|i| self.rates.get(i));
        match (before, self.rates.get(after)) {
            (Some(&[low, slow]), Some(&[high, fast])) => {
                low / slow + (high / fast - low / slow) * (items - low) / (high - low)
            }
            (None, Some([fewest, rate])) => fewest / rate,
            (Some([_, rate]), None) => items / rate,
            (None, None) => 0.0,
        }
    }
}

/// What a family takes over the size; between points along lines in logarithms, above them at the rate of the last one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// In ascending order of sizes.
    pub points: Vec<Point>,
    /// Seconds that the first call takes longer, its kernels' compilation for the most part.
    pub first: f64,
}

impl Curve {
    /// Seconds of `items` of a size for each flop of one of them, whose flops grow with a power of the size; none where nothing was
    /// measured. What is smaller than the smallest takes as long.
    fn seconds(&self, size: f64, items: f64, power: i32) -> Option<f64> {
        let after = self.points.partition_point(|point| point.size < size);
        let low = self.points.get(after.saturating_sub(1))?;
        let high = self.points.get(after).unwrap_or(low);
        let least = low.seconds(items);
        if size <= low.size {
            return Some(least * (low.size / size.max(1.0)).powi(power));
        }
        if high.size <= low.size {
            return Some(least);
        }
        let share = (size / low.size).ln() / (high.size / low.size).ln();
        Some(least * (high.seconds(items) / least).powf(share))
    }
}

/// The curves of one side.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    /// flop/s of a family that has no curve, with many items and alone.
    pub other: [f64; 2],
    /// The others.
    pub own: Vec<(Family, Curve)>,
}

impl Curves {
    /// No curves: the same rate for everything.
    #[must_use]
    pub fn flat(full: f64, alone: f64) -> Self {
        Self { other: [full, alone], own: Vec::new() }
    }

    /// The curve of a family.
    #[must_use]
    pub fn of(&self, family: Family) -> Option<&Curve> {
        self.own.iter().find(|(own, _)| *own == family).map(|(_, curve)| curve)
    }

    /// Returns the seconds of `flops` operations by the family's measured curve, launches included.
    fn measured(&self, work: &Workload, flops: f64) -> Option<f64> {
        let items = work.items.max(1.0);
        Some(self.of(work.family)?.seconds(work.size, items, work.family.power())? * flops / items)
    }

    /// Seconds of them where there is no curve, launches apart: those of one item at least, which nothing can share.
    fn estimated(&self, work: &Workload, flops: f64) -> f64 {
        let [full, alone] = self.other;
        (flops / full).max(flops / work.items.max(1.0) / alone)
    }

    /// Seconds that a first call takes longer.
    pub(super) fn first(&self, family: Family) -> f64 {
        self.of(family).map_or(0.0, |curve| curve.first)
    }
}

/// The rates by which times are predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    /// The CPU's.
    pub cpu: CpuRates,
    /// The device's.
    pub gpu: GpuRates,
}

/// What a CPU does.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuRates {
    /// Threads.
    pub threads: f64,
    /// Bytes/s of a copy, reads and writes counted; 0 where it was not measured.
    pub copy: f64,
    /// flop/s of multiply-adds in registers; 0 where it was not measured.
    pub fma: f64,
    /// Bytes/s at which memory that the system has just handed out is written for the first time; infinite where it was not measured.
    pub fresh: f64,
    /// All threads' rates.
    pub curves: Curves,
}

/// What a device does.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuRates {
    /// Seconds from submitting to knowing that it is done.
    pub round_trip: f64,
    /// Seconds that a dispatch costs on its own.
    pub dispatch: f64,
    /// Seconds by which a call takes longer whose data comes from the host and goes back, beside its bytes.
    pub handover: f64,
    /// Bytes/s to the device.
    pub upload: f64,
    /// Bytes/s from the device.
    pub download: f64,
    /// Bytes/s of a copy there, reads and writes counted; 0 where it was not measured.
    pub copy: f64,
    /// flop/s of multiply-adds in registers; 0 where it was not measured.
    pub fma: f64,
    /// The kernels' rates.
    pub curves: Curves,
    /// Forms of kernels that another one beat.
    pub slower: Vec<Slower>,
}

/// From this size on an allocation is the system's own and goes back when it is freed: the most that glibc's limit grows to.
const MAPPED: f64 = (32_u64 << 20) as f64;

impl CpuRates {
    /// Before anything is measured on this machine: `eigh` in f32 in lanes of AVX-512 on one core, n = 16 to 64, counted as 9 n^3
    /// flop (2026-11-21); the other families count in units of it.
    #[must_use]
    pub fn default_of(threads: usize) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a count of threads")]
        let threads = threads.max(1) as f64;
        Self { threads, copy: 0.0, fma: 0.0, fresh: f64::INFINITY, curves: Curves::flat(2e10 * threads, 2e10) }
    }

    /// Seconds of a workload.
    #[must_use]
    pub fn seconds(&self, work: &Workload) -> f64 {
        let computed = self.curves.measured(work, work.cpu_flops);
        computed.unwrap_or_else(|| self.curves.estimated(work, work.cpu_flops) + self.host(work))
            + self.new_pages(work.made)
    }

    /// Seconds of what the CPU does on either side, where no curve has it already.
    pub(super) fn host(&self, work: &Workload) -> f64 {
        self.curves.estimated(work, work.host_flops)
    }

    /// Returns the additional seconds of results of `bytes` bytes, on either side: their memory comes from the system and not from what a
    /// program freed before.
    pub(super) fn new_pages(&self, bytes: f64) -> f64 {
        if bytes >= MAPPED { bytes / self.fresh } else { 0.0 }
    }
}

impl GpuRates {
    /// Rates of a device whose kernels reach `flops` flop/s and whose transfers reach `transfer` bytes/s. Dispatch and round trip after
    /// gfx-rs/wgpu#5766 and arXiv 2604.02344.
    #[must_use]
    pub fn flat(flops: f64, transfer: f64) -> Self {
        Self {
            round_trip: 3e-4,
            dispatch: 3e-5,
            handover: 0.0,
            upload: transfer,
            download: transfer,
            copy: 0.0,
            fma: 0.0,
            curves: Curves::flat(flops, flops),
            slower: Vec::new(),
        }
    }

    /// Seconds of a workload.
    #[must_use]
    pub fn seconds(&self, work: &Workload) -> f64 {
        let measured = self.curves.measured(work, work.gpu_flops).map(|seconds| seconds.max(self.round_trip));
        let estimated = || self.launches(work) + self.curves.estimated(work, work.gpu_flops);
        self.transfers(work) + measured.unwrap_or_else(estimated)
    }

    /// Seconds of a workload's transfers.
    #[must_use]
    pub fn transfers(&self, work: &Workload) -> f64 {
        let handover = if work.upload > 0.0 { self.handover } else { 0.0 };
        handover + work.upload / self.upload + work.download / self.download
    }

    /// Seconds of its launches, the round trip among them.
    #[must_use]
    pub fn launches(&self, work: &Workload) -> f64 {
        self.round_trip + work.dispatches * self.dispatch
    }
}
