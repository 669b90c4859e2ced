//! Measures a workload on one side, and compares the time with the policy's prediction.

use super::case::Case;
use super::clock::{Times, first, timed};
use super::workloads::{of, with_calls};
use fiedler::Result;
use fiedler::policy::{Backend, Family, Side, Workload};
use fiedler::{Context, Profile};
use std::time::Duration;

/// The measurement of a workload on one side.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The workload.
    pub case: Case,
    /// The side that was measured.
    pub side: Side,
    /// The largest error divided by the promised bound. A value above 1 means that the result is wrong.
    pub error: f64,
    /// The seconds of the first call of this run, including compilation.
    pub first: f64,
    /// The times of calls whose data is already on the device. `None` if the library has no such call. Also `None` on
    /// the CPU, where the times would equal [`Measured::transfers`].
    pub resident: Option<Times>,
    /// The times of calls from host to host.
    pub transfers: Times,
    /// The predicted time, in seconds, of a call from host to host.
    pub predicted: f64,
}

impl Measured {
    /// Returns the factor, at least 1, by which the prediction is off. It is the larger of measured / predicted and
    /// predicted / measured.
    #[must_use]
    pub fn off(&self) -> f64 {
        (self.predicted / self.transfers.median).max(self.transfers.median / self.predicted)
    }
}

/// Checks the result of a workload on `side`, and then measures the workload for about the time `budget`.
///
/// # Errors
/// Returns an error if `side` cannot compute the workload or if the device fails.
pub fn measure(case: &Case, ctx: &Context, side: Side, budget: Duration) -> Result<Measured> {
    let choice = case.choose(ctx, false);
    let (ctx, predicted) = match side {
        Side::Cpu => (ctx.with_backend(Backend::Cpu), choice.cpu_seconds),
        Side::Gpu => (ctx.with_backend(Backend::Gpu), choice.gpu_seconds),
    };
    with_calls(case, &ctx, |mut calls| {
        let begun = first(&mut calls.transfers)?;
        let error = (calls.check)()?;
        let resident = match calls.resident.as_mut().filter(|_| side == Side::Gpu) {
            Some(call) => Some(timed(call, budget / 2)?),
            None => None,
        };
        let transfers = timed(&mut calls.transfers, budget / if resident.is_some() { 2 } else { 1 })?;
        Ok(Measured { case: *case, side, error, first: begun, resident, transfers, predicted })
    })
}

/// Computes a workload on `side`, and returns the largest error divided by the promised bound. A value above 1 means
/// that the result is wrong. The reference, in double precision, is computed on the CPU meanwhile.
///
/// # Errors
/// Returns an error if `side` cannot compute the workload or if the device fails.
pub fn check(case: &Case, ctx: &Context, side: Side) -> Result<f64> {
    let backend = if side == Side::Cpu { Backend::Cpu } else { Backend::Gpu };
    with_calls(case, &ctx.with_backend(backend), |mut calls| (calls.check)())
}

/// Returns the times of the kernels of one call: with data that is already on the device, if the library has such a
/// call. `ctx` makes profiles ([`fiedler::ContextBuilder::profile`]). `None` if it does not.
///
/// # Errors
/// Returns an error if the device cannot compute the workload or fails.
pub fn kernels(case: &Case, ctx: &Context) -> Result<Option<Profile>> {
    with_calls(case, ctx, |mut calls| {
        let call = calls.resident.as_mut().unwrap_or(&mut calls.transfers);
        first(call)?;
        ctx.profile()?;
        first(call)?;
        ctx.profile()
    })
}

/// Returns whether the device of `ctx` can compute the workload.
#[must_use]
pub fn on_device(case: &Case, ctx: &Context) -> bool {
    ctx.adapter().is_some() && case.choose(ctx, false).gpu_seconds.is_finite()
}

/// The extent of a benchmark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// Under a minute.
    Quick,
    /// A few minutes.
    #[default]
    Usual,
    /// All sizes, including sizes that take seconds per call.
    Full,
}

/// Returns the workloads of a benchmark of the given extent. The extent limits the number of bytes and operations of a
/// workload.
#[must_use]
pub fn grid(extent: Extent) -> Vec<Case> {
    let (most, every) = match extent {
        Extent::Quick => (2e8, 2),
        Extent::Usual => (1e9, 1),
        Extent::Full => (3e10, 1),
    };
    let mut all = Vec::new();
    for family in Family::MEASURED {
        let (sizes, items) = of(family).grid();
        for &size in sizes {
            for (j, &items) in items.iter().enumerate() {
                let items = if items == 0 { of(family).usual_items(size) } else { items };
                let case = Case::new(family, size, items);
                let [bytes, flops] = case.least();
                // A quick run measures every other number of items. It measures the same numbers of items for every
                // size, so that sizes can be compared.
                if flops <= most && bytes <= most && j % every == 0 {
                    all.push(case);
                }
            }
        }
    }
    all
}

/// Returns whether the choice between two sides matters. It matters if the median time of the slower side is more than
/// 10 % longer than the median time of the faster side, and if even the shortest time of the slower side is longer than
/// the faster side's median.
#[must_use]
pub fn differ(a: &Measured, b: &Measured) -> bool {
    let (a, b) = (&a.transfers, &b.transfers);
    let (fast, slow) = if a.median < b.median { (a, b) } else { (b, a) };
    slow.median > 1.1 * fast.median && slow.least > fast.median
}

/// Returns the median time, in seconds, that the policy takes for one choice.
#[must_use]
pub fn choice_seconds(ctx: &Context) -> f64 {
    let work = Workload { family: Family::Matmul, size: 50.0, items: 7.0, ..Workload::default() };
    let mut seconds: Vec<f64> = (0..101)
        .map(|_| {
            let started = std::time::Instant::now();
            for _ in 0..100 {
                std::hint::black_box(ctx.explain(std::hint::black_box(&work), true));
            }
            started.elapsed().as_secs_f64() / 100.0
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    seconds[50]
}
