//! What a machine does in a second: curves over the size, one a family, and the fixed costs.

use super::workload::{Family, Workload};

/// One size of a family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The size.
    pub size: f64,
    /// flop/s with as many items as the machine wants.
    pub full: f64,
    /// flop/s of one item alone.
    pub alone: f64,
}

/// flop/s over the size; between points along lines in logarithms, beyond them as at the last one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// In ascending order of sizes.
    pub points: Vec<Point>,
    /// Seconds that the first call takes longer, its kernels' compilation for the most part.
    pub first: f64,
}

impl Curve {
    /// The rates at a size.
    fn at(&self, size: f64) -> Option<Point> {
        let after = self.points.partition_point(|point| point.size < size);
        let (Some(&low), Some(&high)) =
            (self.points.get(after.saturating_sub(1)), self.points.get(after).or(self.points.last()))
        else {
            return None;
        };
        if high.size <= low.size || size <= low.size {
            return Some(Point { size, ..low });
        }
        let share = (size / low.size).ln() / (high.size / low.size).ln();
        let between = |a: f64, b: f64| a * (b / a).powf(share.min(1.0));
        Some(Point { size, full: between(low.full, high.full), alone: between(low.alone, high.alone) })
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

    /// Seconds of so many operations of a workload: those of one item at least, which nothing can share.
    fn seconds(&self, work: &Workload, flops: f64) -> f64 {
        let [full, alone] =
            self.of(work.family).and_then(|curve| curve.at(work.size)).map_or(self.other, |p| [p.full, p.alone]);
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
}

impl CpuRates {
    /// Before anything is measured on this machine: `eigh` in f32 in lanes of AVX-512 on one core, n = 16 to 64, counted as 9 n^3
    /// flop (2026-11-21); the other families count in units of it.
    #[must_use]
    pub fn default_of(threads: usize) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a count of threads")]
        let threads = threads.max(1) as f64;
        Self { threads, copy: 0.0, fma: 0.0, curves: Curves::flat(2e10 * threads, 2e10) }
    }

    /// Seconds of a workload.
    #[must_use]
    pub fn seconds(&self, work: &Workload) -> f64 {
        self.curves.seconds(work, work.cpu_flops)
    }
}

impl GpuRates {
    /// Of a device whose kernels reach so many flop/s, so many bytes/s away. Dispatch and round trip after gfx-rs/wgpu#5766 and arXiv
    /// 2604.02344.
    #[must_use]
    pub fn flat(flops: f64, transfer: f64) -> Self {
        Self {
            round_trip: 3e-4,
            dispatch: 3e-5,
            upload: transfer,
            download: transfer,
            copy: 0.0,
            fma: 0.0,
            curves: Curves::flat(flops, flops),
        }
    }

    /// Seconds of a workload.
    #[must_use]
    pub fn seconds(&self, work: &Workload) -> f64 {
        let moved = work.upload / self.upload + work.download / self.download;
        self.round_trip + work.dispatches * self.dispatch + moved + self.curves.seconds(work, work.gpu_flops)
    }

    /// The part of it that is not the kernels' own.
    #[must_use]
    pub fn overhead(&self, work: &Workload) -> f64 {
        self.round_trip + work.dispatches * self.dispatch
    }
}
