//! Measuring a machine: the rates by which the policy predicts times.

use super::calls::{Call, with_calls};
use super::case::Case;
use super::clock::{first, timed};
use crate::array::Array;
use crate::context::Context;
use crate::error::Result;
use crate::ops::ceiling::{self, ceilings};
use crate::policy::{Backend, CpuRates, Curve, Curves, Family, GpuRates, Point, Rates, Side, Workload};
use crate::shape::Shape;
use std::time::{Duration, Instant};

/// How long measuring may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TuneOptions {
    /// For all of it, about.
    pub seconds: u64,
}

impl Default for TuneOptions {
    /// Under a minute.
    fn default() -> Self {
        Self { seconds: 50 }
    }
}

/// What was measured a moment ago, for whoever shows it.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The share of the time that is gone.
    pub share: f64,
    /// What is measured now.
    pub what: String,
}

/// Bytes that are sent and brought back, and copied.
const MOVED: usize = 16 << 20;
/// Seconds of a call that says what a machine does with many items: short calls are noise.
const LONG: f64 = 0.02;
/// The most numbers of one workload's input.
const MOST: usize = 1 << 20;
/// The least share of a time that is the kernels' own, where the rest is counted apart.
const OWN: f64 = 0.1;

/// Sizes of a family, small ones first: with what comes before, each is a few times the work of the one before.
fn sizes(family: Family) -> &'static [usize] {
    match family {
        Family::Eigh | Family::Eigvalsh => &[4, 8, 16, 32, 64, 128, 256, 512, 1024],
        Family::Svd => &[4, 8, 16, 32, 64, 128, 256],
        Family::Fft | Family::Rfft => &[16, 256, 1024, 4096, 65_536],
        Family::Matmul => &[4, 8, 16, 32, 64, 128, 256, 512, 1024],
        Family::Cov => &[4, 16, 64, 256, 1024],
        Family::Laplacian => &[8, 32, 128, 512],
        Family::Spmm => &[100, 1000, 10_000, 100_000],
        Family::Eigsh => &[24, 48, 96],
        Family::Describe => &[1000, 100_000],
        Family::Other => &[],
    }
}

/// Whether one item of it keeps all threads busy, so that there is nothing to do side by side.
fn is_whole(family: Family) -> bool {
    matches!(family, Family::Cov | Family::Spmm | Family::Eigsh)
}

impl Context {
    /// Measures the rates of the CPU and of this context's adapter, if it has one: fixed costs, bandwidths, ceilings, and every family
    /// at a few sizes, one item and many. Results are not compared here: [`super::measure`] does that.
    ///
    /// # Errors
    /// Device errors.
    pub fn tune(&self, options: TuneOptions, mut progress: impl FnMut(Progress)) -> Result<Rates> {
        let begun = Instant::now();
        let whole = Duration::from_secs(options.seconds.max(1));
        let cpu = self.with_backend(Backend::Cpu);
        let mut say = |what: &str| {
            let share = begun.elapsed().as_secs_f64() / whole.as_secs_f64();
            progress(Progress { share: share.min(1.0), what: what.to_owned() });
        };
        say("ceilings of the CPU");
        let top = ceilings(&Self::cpu(), MOVED as u64, 3)?;
        let mut rates = self.policy().rates.as_ref().clone();
        let threads = rates.cpu.threads;
        rates.cpu = CpuRates { threads, copy: top.copy, fma: top.fma, curves: rates.cpu.curves };
        let half = if self.adapter().is_some() { whole / 3 } else { whole };
        rates.cpu.curves = curves(&cpu, &rates, begun + half, &mut say)?;
        let Some(adapter) = self.adapter() else { return Ok(rates) };
        let gpu = self.with_backend(Backend::Gpu);
        say(&format!("ceilings of {}", adapter.name));
        rates.gpu = fixed(&gpu, rates.gpu.curves)?;
        rates.gpu.curves = curves(&gpu, &rates, begun + whole, &mut say)?;
        Ok(rates)
    }
}

/// What a device costs beside its kernels.
fn fixed(ctx: &Context, curves: Curves) -> Result<GpuRates> {
    let top = ceilings(ctx, MOVED as u64, 3)?;
    let host = Array::from_vec(Shape::new(MOVED / 4, 1, 1), vec![0.5_f32; MOVED / 4])?;
    let there = host.to_device(ctx)?;
    ctx.wait()?;
    let budget = Duration::from_millis(300);
    let mut send: Call<'_> = Box::new(|| host.to_device(ctx).and_then(|_| ctx.wait()));
    let up = timed(&mut send, budget)?.median;
    let mut bring: Call<'_> = Box::new(|| there.to_host(ctx).map(drop));
    let down = timed(&mut bring, budget)?.median;
    let bytes = MOVED as f64;
    let rate = |seconds: f64| bytes / (seconds - top.call).max(OWN * seconds);
    Ok(GpuRates {
        round_trip: top.call,
        dispatch: ceiling::dispatch(ctx)?,
        upload: rate(up),
        download: rate(down),
        copy: top.copy,
        fma: top.fma,
        curves,
    })
}

/// All families on one side.
fn curves(ctx: &Context, rates: &Rates, until: Instant, say: &mut impl FnMut(&str)) -> Result<Curves> {
    let side = ctx.explain(&Workload::default(), true).side;
    let before = if side == Side::Cpu { rates.cpu.curves.other } else { rates.gpu.curves.other };
    let mut own = Vec::new();
    for (i, family) in Family::MEASURED.into_iter().enumerate() {
        // An equal part of what is left for each.
        let left = Family::MEASURED.len() - i;
        let end = Instant::now() + until.saturating_duration_since(Instant::now()) / u32::try_from(left).unwrap_or(1);
        let curve = curve(ctx, rates, family, side, end, say)?;
        if !curve.points.is_empty() {
            own.push((family, curve));
        }
    }
    // What has no curve goes at the rate of moments, of which it is of a kind.
    let moments = own.iter().find(|(family, _)| *family == Family::Describe).and_then(|(_, curve)| curve.points.last());
    Ok(Curves { other: moments.map_or(before, |point| [point.full, point.alone]), own })
}

/// One family's rates over the sizes that there is time for.
fn curve(
    ctx: &Context,
    rates: &Rates,
    family: Family,
    side: Side,
    end: Instant,
    say: &mut impl FnMut(&str),
) -> Result<Curve> {
    let mut curve = Curve::default();
    let mut last = 0.0;
    for &size in sizes(family) {
        let left = end.saturating_duration_since(Instant::now()).as_secs_f64();
        // The next size takes several times as long.
        if !curve.points.is_empty() && left < 4.0 * last {
            break;
        }
        let started = Instant::now();
        let one = match family {
            Family::Cov => Case::new(family, size, (1 << 20) / size),
            Family::Spmm => Case::new(family, size, 10 * size),
            Family::Describe => Case::new(family, size, 1),
            _ => Case::new(family, size, 1),
        };
        if !fits(&one, ctx) {
            break;
        }
        say(&format!("{one} on {}", ctx.adapter().filter(|_| side == Side::Gpu).map_or("the CPU", |a| &a.name)));
        let (seconds, first_call) = seconds(&one, ctx)?;
        if curve.points.is_empty() {
            curve.first = (first_call - seconds).max(0.0);
        }
        let work = one.choose(ctx, side == Side::Gpu).workload;
        let alone = rate(rates, &work, side, seconds);
        let mut full = alone;
        if !is_whole(family) {
            let numbers = one.shape().len().max(1);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count between 16 and 2^20")]
            let items = (8.0 * LONG / seconds).clamp(16.0, (MOST / numbers).max(16) as f64) as usize;
            // Of what takes long alone there is no time for many.
            if seconds * 4.0 < left.max(LONG) {
                let many = Case { items, ..one };
                let (seconds, _) = self::seconds(&many, ctx)?;
                let work = many.choose(ctx, side == Side::Gpu).workload;
                full = rate(rates, &work, side, seconds).max(alone);
            }
        }
        curve.points.push(Point { size: work.size, full, alone });
        last = started.elapsed().as_secs_f64();
    }
    Ok(curve)
}

/// Whether this side computes it at all.
fn fits(case: &Case, ctx: &Context) -> bool {
    let choice = case.choose(ctx, true);
    choice.gpu_seconds.is_finite() || ctx.explain(&Workload::default(), true).side == Side::Cpu
}

/// A call's seconds, with its data where it is computed, and those of the first one.
fn seconds(case: &Case, ctx: &Context) -> Result<(f64, f64)> {
    with_calls(case, ctx, |mut calls| {
        let call = calls.resident.as_mut().unwrap_or(&mut calls.transfers);
        let first_call = first(call)?;
        if first_call > 2.0 {
            return Ok((first_call, first_call));
        }
        Ok((timed(call, Duration::from_millis(60))?.median, first_call))
    })
}

/// flop/s of what took so long.
fn rate(rates: &Rates, work: &Workload, side: Side, seconds: f64) -> f64 {
    let (flops, beside) = match side {
        Side::Cpu => (work.cpu_flops, 0.0),
        Side::Gpu => (work.gpu_flops, rates.gpu.overhead(work)),
    };
    flops.max(1.0) / (seconds - beside).max(OWN * seconds)
}
