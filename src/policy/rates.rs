//! What a machine does in a second: curves over sizes and items, one per family, and the fixed costs.

use super::workload::{Family, Workload};
use crate::device::Slower;

/// The rates of one size of a family.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The size.
    pub size: f64,
    /// Pairs of an item count, in ascending order, and the flop/s of that many parallel items,
    /// including a call's launches but not its transfers.
    pub rates: Vec<[f64; 2]>,
}

impl Point {
    /// Returns the seconds of `items` items per flop of one item. Between two measured counts it interpolates linearly.
    /// Fewer items than were measured take as long as the fewest; more items run at the rate of the most.
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

/// The cost of a family over the size: interpolated linearly in logarithms between points, and at
/// the last point's rate above them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// The points, in ascending order of sizes.
    pub points: Vec<Point>,
    /// The additional seconds of the first call, most of them for compiling its kernels.
    pub first: f64,
}

impl Curve {
    /// Returns the seconds of `items` items of a size per flop of one item, whose flops grow with the power `power` of
    /// the size; `None` if nothing was measured. A size below the smallest measured one takes as long as the smallest.
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
    /// The flop/s of a family that has no curve, with many items and with one.
    pub other: [f64; 2],
    /// The curves of the families that have one.
    pub own: Vec<(Family, Curve)>,
}

impl Curves {
    /// Returns the same rates for every family, without curves.
    #[must_use]
    pub fn flat(full: f64, alone: f64) -> Self {
        Self { other: [full, alone], own: Vec::new() }
    }

    /// Returns the curve of a family, if it has one.
    #[must_use]
    pub fn of(&self, family: Family) -> Option<&Curve> {
        self.own.iter().find(|(own, _)| *own == family).map(|(_, curve)| curve)
    }

    /// Returns the seconds of `flops` operations by the family's measured curve, launches included.
    fn measured(&self, work: &Workload, flops: f64) -> Option<f64> {
        let items = work.items.max(1.0);
        Some(self.of(work.family)?.seconds(work.size, items, work.family.power())? * flops / items)
    }

    /// Returns the seconds of `flops` operations without a curve, excluding launches: at least those
    /// of one item, which cannot be split.
    fn estimated(&self, work: &Workload, flops: f64) -> f64 {
        let [full, alone] = self.other;
        (flops / full).max(flops / work.items.max(1.0) / alone)
    }

    /// Returns the additional seconds of a first call.
    pub(super) fn first(&self, family: Family) -> f64 {
        self.of(family).map_or(0.0, |curve| curve.first)
    }
}

/// The rates by which times are predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    /// The CPU's rates.
    pub cpu: CpuRates,
    /// The device's rates.
    pub gpu: GpuRates,
}

/// The rates of a CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuRates {
    /// The number of threads.
    pub threads: f64,
    /// The bytes/s of a copy, counting reads and writes; 0 if it was not measured.
    pub copy: f64,
    /// The flop/s of multiply-adds in registers; 0 if they were not measured.
    pub fma: f64,
    /// The bytes/s of first writes to memory that the system has just handed out; infinite if they were not measured.
    pub fresh: f64,
    /// The rates of all threads together.
    pub curves: Curves,
}

/// The rates of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuRates {
    /// The seconds from submitting work to knowing that it is done.
    pub round_trip: f64,
    /// The seconds that one dispatch costs by itself.
    pub dispatch: f64,
    /// The fixed overhead, in seconds, of a host round trip of the data, excluding the per-byte cost.
    pub handover: f64,
    /// The bytes/s to the device.
    pub upload: f64,
    /// The bytes/s from the device.
    pub download: f64,
    /// The bytes/s of a copy on the device, counting reads and writes; 0 if it was not measured.
    pub copy: f64,
    /// The flop/s of multiply-adds in registers; 0 if they were not measured.
    pub fma: f64,
    /// The rates of the kernels.
    pub curves: Curves,
    /// The kernel forms that were slower than another form.
    pub slower: Vec<Slower>,
}

/// From this many bytes on, an allocation is mapped by the system and returned to it when it is
/// freed: the largest value to which glibc's threshold grows.
const MAPPED: f64 = (32_u64 << 20) as f64;

impl CpuRates {
    /// Returns the rates that apply before anything is measured on this machine: those of `eigh` in f32 in lanes of
    /// AVX-512 on one core, n = 16 to 64, counted as 9 n^3 flop (2026-11-21). The other families count in units of it.
    #[must_use]
    pub fn default_of(threads: usize) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a count of threads")]
        let threads = threads.max(1) as f64;
        Self { threads, copy: 0.0, fma: 0.0, fresh: f64::INFINITY, curves: Curves::flat(2e10 * threads, 2e10) }
    }

    /// Returns the seconds of a workload.
    #[must_use]
    pub fn seconds(&self, work: &Workload) -> f64 {
        let computed = self.curves.measured(work, work.cpu_flops);
        computed.unwrap_or_else(|| self.curves.estimated(work, work.cpu_flops) + self.host(work))
            + self.new_pages(work.made)
    }

    /// Returns the seconds of the work that the CPU does on either side, for a family without a curve that includes it.
    pub(super) fn host(&self, work: &Workload) -> f64 {
        self.curves.estimated(work, work.host_flops)
    }

    /// Returns the additional seconds of results of `bytes` bytes, on either side: their memory comes from the system
    /// and not from what the program freed before.
    pub(super) fn new_pages(&self, bytes: f64) -> f64 {
        if bytes >= MAPPED { bytes / self.fresh } else { 0.0 }
    }
}

impl GpuRates {
    /// Returns the rates of a device whose kernels reach `flops` flop/s and whose transfers reach `transfer` bytes/s.
    /// The costs of a dispatch and of a round trip are from gfx-rs/wgpu#5766 and arXiv 2604.02344.
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

    /// Returns the seconds of a workload.
    #[must_use]
    pub fn seconds(&self, work: &Workload) -> f64 {
        let measured = self.curves.measured(work, work.gpu_flops).map(|seconds| seconds.max(self.round_trip));
        let estimated = || self.launches(work) + self.curves.estimated(work, work.gpu_flops);
        self.transfers(work) + measured.unwrap_or_else(estimated)
    }

    /// Returns the seconds of a workload's transfers.
    #[must_use]
    pub fn transfers(&self, work: &Workload) -> f64 {
        let handover = if work.upload > 0.0 { self.handover } else { 0.0 };
        handover + work.upload / self.upload + work.download / self.download
    }

    /// Returns the seconds of a workload's launches, including the round trip.
    #[must_use]
    pub fn launches(&self, work: &Workload) -> f64 {
        self.round_trip + work.dispatches * self.dispatch
    }
}
