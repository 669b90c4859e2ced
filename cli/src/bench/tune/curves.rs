//! Measures the rates of every family for a few sizes. The number of items grows until the machine is busy.

use super::{Measuring, OWN, besides};
use crate::bench::case::Case;
use crate::bench::clock::{first, timed};
use crate::bench::workloads::{of, with_calls};
use fiedler::Context;
use fiedler::Result;
use fiedler::policy::{Curve, Curves, Family, Point, Rates, Side};
use std::time::{Duration, Instant};

/// The minimum duration, in seconds, of a call that shows the rate for many items. Shorter calls are noisy.
const LONG: f64 = 0.01;
/// The maximum number of values in the input of a workload. With larger inputs, the times would include the cost of new
/// memory pages. This cost is measured separately.
const MOST: usize = 1 << 21;
/// The maximum factor by which the number of items grows from one measured size to the next.
const STEP: f64 = 16.0;
/// The maximum expected ratio of the time for one size to the time for the previous size.
const LARGER: f64 = 2.5;
/// The approximate time for the measurement of one number of items.
const EACH: Duration = Duration::from_millis(50);

/// Measures all families on one side until the time is up. Each round measures one size of each family, starting with
/// the smallest.
pub(super) fn curves(on: &mut Measuring<'_>, rates: &Rates, until: Instant) -> Result<Curves> {
    let before = if on.side == Side::Cpu { rates.cpu.curves.other } else { rates.gpu.curves.other };
    let mut own: Vec<(Family, Curve)> = Family::MEASURED.map(|family| (family, Curve::default())).into();
    // The seconds that the last measured size of each family took; `None` for a family that is finished.
    let mut last: Vec<Option<f64>> = vec![Some(0.0); own.len()];
    for round in 0.. {
        for ((family, curve), last) in own.iter_mut().zip(&mut last) {
            let left = until.saturating_duration_since(Instant::now()).as_secs_f64();
            // The next size may take up to `LARGER` times as long.
            let goes_on = last.is_some_and(|seconds| round == 0 || LARGER * seconds < left);
            *last = match of(*family).tuned().get(round).filter(|_| goes_on) {
                Some(&size) => next(on, rates, Case::new(*family, size, 1), curve, until)?,
                None => None,
            };
        }
        if last.iter().all(Option::is_none) {
            break;
        }
    }
    own.retain(|(_, curve)| !curve.points.is_empty());
    // Operations without a curve get the rate of moments, because they resemble the computation of moments.
    let moments = own.iter().find(|(family, _)| *family == Family::Describe);
    let moments = moments.and_then(|(_, curve)| curve.points.last()).map(|point| &point.rates);
    let other = moments.and_then(|rates| Some([rates.last()?[1], rates.first()?[1]]));
    Ok(Curves { other: other.unwrap_or(before), own })
}

/// Measures one size of a family, and returns the duration of the measurement in seconds; `None` if this side cannot
/// compute the workload.
fn next(on: &mut Measuring<'_>, rates: &Rates, case: Case, curve: &mut Curve, until: Instant) -> Result<Option<f64>> {
    let own = of(case.family);
    let items = own.fewest().unwrap_or_else(|| own.usual_items(case.size));
    let case = Case { items, ..case };
    let choice = case.choose(&on.ctx, true);
    if on.side == Side::Gpu && !choice.gpu_seconds.is_finite() {
        return Ok(None);
    }
    let started = Instant::now();
    let (rates, first_call) = point(on, rates, case, until)?;
    if curve.points.is_empty() {
        curve.first = first_call;
    }
    curve.points.push(Point { size: choice.workload.size, rates });
    Ok(Some(started.elapsed().as_secs_f64()))
}

/// Returns the rates of one size for growing numbers of items, until a call takes [`LONG`] seconds. Also returns how
/// many seconds longer the first call took than later calls.
fn point(on: &mut Measuring<'_>, rates: &Rates, mut case: Case, end: Instant) -> Result<(Vec<[f64; 2]>, f64)> {
    let numbers = (case.shape().len() / case.items.max(1)).max(1);
    let most = (MOST / numbers).max(1);
    let (mut found, mut compiled) = (Vec::new(), 0.0);
    loop {
        let side = if on.side == Side::Gpu { on.ctx.adapter() } else { None };
        (on.say)(&format!("{case} on {}", side.map_or("the CPU", |adapter| &adapter.name)));
        let (seconds, first_call, to_host) = seconds(&case, &on.ctx)?;
        if found.is_empty() {
            compiled = (first_call - seconds).max(0.0);
        }
        let work = case.choose(&on.ctx, true).workload;
        let (flops, fixed) = match on.side {
            Side::Cpu => (work.cpu_flops, 0.0),
            Side::Gpu => (work.gpu_flops, besides(rates, &work, to_host)),
        };
        found.push([work.items, flops.max(1.0) / (seconds - fixed).max(OWN * seconds)]);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 2 and 16 times a count")]
        let more = (case.items as f64 * (2.0 * LONG / seconds).clamp(2.0, STEP)) as usize;
        let next = more.min(most);
        if of(case.family).fewest().is_none() || seconds >= LONG || next <= case.items || Instant::now() > end {
            return Ok((found, compiled));
        }
        case.items = next;
    }
}

/// Returns the seconds of a call, the seconds of the first call, and whether the call brings its results to the host.
/// If the workload has a call with resident data, that call is timed. Otherwise the call from host to host is timed.
pub(super) fn seconds(case: &Case, ctx: &Context) -> Result<(f64, f64, bool)> {
    with_calls(case, ctx, |mut calls| {
        let to_host = calls.resident.is_none();
        let call = calls.resident.as_mut().unwrap_or(&mut calls.transfers);
        let first_call = first(call)?;
        if first_call > 2.0 {
            // Because most of the first call may be compilation, a second call is timed.
            return Ok((first(call)?, first_call, to_host));
        }
        Ok((timed(call, EACH)?.median, first_call, to_host))
    })
}
