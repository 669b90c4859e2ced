//! One workload measured on one side, beside what the policy predicts of it.

use super::case::Case;
use super::clock::{Times, first, timed};
use super::workloads::{of, with_calls};
use fiedler::Context;
use fiedler::Result;
use fiedler::policy::{Backend, Family, Side, Workload};
use std::time::Duration;

/// A workload on one side.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The workload.
    pub case: Case,
    /// The side.
    pub side: Side,
    /// The largest error as a share of what is promised; above 1 it is wrong.
    pub error: f64,
    /// The first call of this run, compiling counted.
    pub first: f64,
    /// With its data where it is computed; none where there is no such call, or on the CPU, where it is the other one.
    pub resident: Option<Times>,
    /// From host to host.
    pub transfers: Times,
    /// What was predicted of that.
    pub predicted: f64,
}

impl Measured {
    /// How far the prediction is off: measured by predicted, or the other way round, at least 1.
    #[must_use]
    pub fn off(&self) -> f64 {
        (self.predicted / self.transfers.median).max(self.transfers.median / self.predicted)
    }
}

/// Measures a workload where `side` says, about so long, after its result was compared.
///
/// # Errors
/// Where that side cannot compute it; device errors.
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

/// Whether the device of `ctx` can compute it.
#[must_use]
pub fn on_device(case: &Case, ctx: &Context) -> bool {
    ctx.adapter().is_some() && case.choose(ctx, false).gpu_seconds.is_finite()
}

/// How much is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// Under a minute.
    Quick,
    /// A few minutes.
    #[default]
    Usual,
    /// All sizes, up to those that take seconds.
    Full,
}

/// The workloads of an extent. The largest products of size and items are left out as the extent says.
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
                // Every other count of items where there is little time: the same ones at every size, so that they can be compared.
                if flops <= most && bytes <= most && j % every == 0 {
                    all.push(case);
                }
            }
        }
    }
    all
}

/// Whether a choice matters: the two sides differ by more than their spreads.
#[must_use]
pub fn differ(a: &Measured, b: &Measured) -> bool {
    let (a, b) = (&a.transfers, &b.transfers);
    let (fast, slow) = if a.median < b.median { (a, b) } else { (b, a) };
    slow.median > 1.1 * fast.median && slow.least > fast.median
}

/// Seconds that the choice itself takes, in the middle of many.
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
