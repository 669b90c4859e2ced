//! The rates from which the cost model predicts times. They consist of fixed costs and of one curve per family, over
//! the size and the number of items.

use super::model::{Hardware, OTHER};
use super::workload::{Family, Workload};
use crate::device::Slower;
use crate::error::{Error, Result};
use serde::{Deserialize, Deserializer, Serialize};

/// The measured rates of a family at one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// The size.
    pub size: f64,
    /// Pairs of numbers: the number of parallel items, and the flop/s measured with this number of items. The time of a
    /// call includes its launches but neither its transfers nor its waits. The numbers of items ascend.
    pub rates: Vec<[f64; 2]>,
}

impl Point {
    /// Returns the predicted time of `items` items, in seconds, divided by the number of operations of one item.
    /// Between two measured numbers of items, the time is interpolated linearly. Below the smallest measured number,
    /// the time is that of the smallest number. Above the largest measured number, the rate is that of the largest
    /// number.
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

/// The cost of a family as a function of the size. Between two points, the cost is interpolated linearly in logarithms.
/// Above the last point, the rate is that of the last point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// The measured points, in ascending order of their sizes.
    pub points: Vec<Point>,
    /// The additional time of the first call, in seconds, most of which is spent compiling kernels.
    pub first: f64,
}

impl Curve {
    /// Returns the predicted time of `items` items of the given size, in seconds, divided by the number of operations
    /// of one item. Returns `None` if nothing was measured. Below the smallest measured size, the time is that of the
    /// smallest size. The number of operations is assumed to grow as `size^power`.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curves {
    /// The rates of families without a curve, in flop/s. The first rate is for many items, the second for one item.
    pub other: [f64; 2],
    /// The families that have a curve, each with its curve.
    pub own: Vec<(Family, Curve)>,
}

impl Curves {
    /// Creates rates without curves. For every family, the rate is `full` with many items and `alone` with one item, in
    /// flop/s.
    #[must_use]
    pub fn flat(full: f64, alone: f64) -> Self {
        Self { other: [full, alone], own: Vec::new() }
    }

    /// Returns the curve of a family, if the family has one.
    #[must_use]
    pub fn of(&self, family: Family) -> Option<&Curve> {
        self.own.iter().find(|(own, _)| *own == family).map(|(_, curve)| curve)
    }

    /// Returns the predicted time of `flops` operations from the family's measured curve, in seconds, including
    /// launches.
    fn measured(&self, work: &Workload, flops: f64) -> Option<f64> {
        let items = work.items.max(1.0);
        Some(self.of(work.family)?.seconds(work.size, items, work.family.power())? * flops / items)
    }

    /// Returns the predicted time of `flops` operations of a family without a curve, in seconds, excluding launches.
    /// The time is at least that of one item, because an item cannot be split.
    fn estimated(&self, work: &Workload, flops: f64) -> f64 {
        let [full, alone] = self.other;
        (flops / full).max(flops / work.items.max(1.0) / alone)
    }

    /// Returns the additional time of the first call of a family, in seconds.
    pub(super) fn first(&self, family: Family) -> f64 {
        self.of(family).map_or(0.0, |curve| curve.first)
    }
}

/// The rates from which times are predicted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// The CPU's rates.
    pub cpu: CpuRates,
    /// The device's rates.
    pub gpu: GpuRates,
}

/// The rates of a CPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuRates {
    /// The number of threads.
    pub threads: f64,
    /// The rate of a copy in host memory in bytes/s, counting both reads and writes, or 0 if it was not measured.
    pub copy: f64,
    /// The rate of multiply-adds in registers in flop/s, or 0 if it was not measured.
    pub fma: f64,
    /// The rate of the first writes to newly allocated memory pages, in bytes/s, or infinity if it was not measured.
    #[serde(deserialize_with = "or_infinity")]
    pub fresh: f64,
    /// The rates of the families, with all threads working together.
    pub curves: Curves,
}

/// The rates of a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuRates {
    /// The time from the submission of work until the host knows that the work is done, in seconds.
    pub round_trip: f64,
    /// The fixed cost of one dispatch, in seconds.
    pub dispatch: f64,
    /// The fixed overhead of transferring data to the device and results back, in seconds, in addition to the cost per
    /// byte.
    pub handover: f64,
    /// The rate of transfers from the host to the device, in bytes/s.
    pub upload: f64,
    /// The rate of transfers from the device to the host, in bytes/s.
    pub download: f64,
    /// The rate of a copy on the device in bytes/s, counting both reads and writes, or 0 if it was not measured.
    pub copy: f64,
    /// The rate of multiply-adds in registers in flop/s, or 0 if it was not measured.
    pub fma: f64,
    /// The rates of the families on the device.
    pub curves: Curves,
    /// The static model, which applies to families without a curve if nothing was measured.
    pub model: Option<Hardware>,
    /// The kernel forms that were measured to be slower than another form.
    pub slower: Vec<Slower>,
    /// The smallest and the largest size of products of f16 for which matrix units were measured to be faster than
    /// the other forms. Without a measurement, matrix units are used only if the caller requests them by name.
    pub matrix_units: Option<[f64; 2]>,
}

impl Rates {
    /// Returns the rates as JSON, from which [`Rates::from_json`] restores every bit. With the rates of another process
    /// ([`ContextBuilder::rates`](crate::ContextBuilder::rates)), a process makes the same choices. Only
    /// [`CpuRates::fresh`] may be infinite.
    ///
    /// ```
    /// use fiedler::{Context, policy::{DeviceClass, Rates}};
    /// let rates = Rates::of(DeviceClass::Discrete, 0, 8);
    /// assert_eq!(Rates::from_json(&rates.to_json())?, rates);
    /// let here = Context::cpu().policy().rates.to_json(); // what another process is sent
    /// # Ok::<(), fiedler::Error>(())
    /// ```
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// Restores the rates from the result of [`Rates::to_json`].
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain), which says what is wrong and where, if the text has another form.
    pub fn from_json(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|error| Error::domain("rates", format!("expected rates as JSON: {error}")))
    }
}

/// Reads a number that is infinite if it is null, because JSON has no infinity.
fn or_infinity<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::INFINITY))
}

/// The size, in bytes, from which on every allocation is mapped from the operating system and unmapped when it is
/// freed. This is the maximum of glibc's dynamic threshold for mapped allocations.
const MAPPED: f64 = (32_u64 << 20) as f64;

impl CpuRates {
    /// Returns the rates that apply before anything is measured on this machine. The rate of one thread is that of
    /// `eigh` in f32 on one core with AVX-512, for matrices of order n from 16 to 64, where one decomposition counts as
    /// 9 n^3 flop (measured on 2026-11-21). The rate for many items is the rate of one thread times the number of
    /// threads. The operation counts of the other families are scaled so that these rates apply to them too.
    /// WebAssembly, with vectors of 128 bits and no fused multiply-add, has a quarter of the rate (2026-11-26, Node.js
    /// 20: 3.6e9 flop/s for n = 32 and 8e9 for n = 128, beside other work).
    #[must_use]
    pub fn default_of(threads: usize) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a count of threads")]
        let threads = threads.max(1) as f64;
        let rate = if cfg!(target_arch = "wasm32") { 5e9 } else { 2e10 };
        Self { threads, copy: 0.0, fma: 0.0, fresh: f64::INFINITY, curves: Curves::flat(rate * threads, rate) }
    }

    /// Returns the predicted time of a workload, in seconds.
    #[must_use]
    pub fn seconds(&self, work: &Workload) -> f64 {
        let computed = self.curves.measured(work, work.cpu_flops);
        computed.unwrap_or_else(|| self.curves.estimated(work, work.cpu_flops) + self.host(work))
            + self.new_pages(if work.family.uses_memory_again(work.made) { 0.0 } else { work.made })
    }

    /// Returns the predicted time, in seconds, of the work that the CPU does regardless of the chosen side. It is used
    /// for families without a curve, because a measured curve includes this work.
    pub(super) fn host(&self, work: &Workload) -> f64 {
        self.curves.estimated(work, work.host_flops)
    }

    /// Returns the predicted time, in seconds, of the part of the work that the CPU keeps if the device is chosen.
    #[must_use]
    pub fn kept(&self, work: &Workload) -> f64 {
        let measured = self.curves.measured(work, work.kept_flops);
        measured.unwrap_or_else(|| self.curves.estimated(work, work.kept_flops))
    }

    /// Returns the additional time, in seconds, of writing results of `bytes` bytes to new memory, on either side. The
    /// memory for large results is new, because the program returns the memory of earlier large results to the
    /// operating system when it frees them, unless the CPU computed them and their family uses memory again.
    pub(super) fn new_pages(&self, bytes: f64) -> f64 {
        if bytes >= MAPPED { bytes / self.fresh } else { 0.0 }
    }
}

impl GpuRates {
    /// Creates the rates of a device whose kernels reach `flops` flop/s and whose transfers reach `transfer` bytes/s.
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
            model: None,
            slower: Vec::new(),
            matrix_units: None,
        }
    }

    /// Creates the rates of a device of which only the hardware is known.
    #[must_use]
    pub fn modelled(hardware: Hardware) -> Self {
        Self { model: Some(hardware), ..Self::flat(OTHER * hardware.memory, hardware.transfer) }
    }

    /// Returns the predicted time of a workload, in seconds.
    #[must_use]
    pub fn seconds(&self, work: &Workload) -> f64 {
        let measured = self.curves.measured(work, work.gpu_flops);
        let measured = measured.map(|seconds| seconds.max(self.round_trip) + self.waits(work));
        let estimated = || {
            let curves = || self.curves.estimated(work, work.gpu_flops);
            self.launches(work) + self.model.map_or_else(curves, |hardware| hardware.seconds(work))
        };
        self.transfers(work) + measured.unwrap_or_else(estimated)
    }

    /// Returns the predicted time of a workload's transfers, in seconds.
    #[must_use]
    pub fn transfers(&self, work: &Workload) -> f64 {
        let handover = if work.upload > 0.0 { self.handover } else { 0.0 };
        handover + work.upload / self.upload + work.download / self.download
    }

    /// Returns the predicted time of a workload's launches, in seconds, including the round trips.
    #[must_use]
    pub fn launches(&self, work: &Workload) -> f64 {
        self.round_trip + self.waits(work) + work.dispatches * self.dispatch
    }

    /// Returns the predicted time, in seconds, in which the host waits for the device during the work.
    #[must_use]
    pub fn waits(&self, work: &Workload) -> f64 {
        work.waits * self.round_trip
    }
}
