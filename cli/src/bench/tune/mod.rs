//! Measuring a machine: the rates by which the policy predicts times, and the forms of kernels that are fastest.

mod curves;
mod forms;

use super::clock::timed;
use super::workloads::Call;
use curves::curves;
use fiedler::Context;
use fiedler::Result;
use fiedler::Shape;
use fiedler::array::Array;
use fiedler::ops::roofline::{self, ceilings};
use fiedler::policy::{Backend, CpuRates, GpuRates, Rates, Side, Workload};
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// How long measuring may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TuneOptions {
    /// For all of it, about.
    pub seconds: u64,
    /// How many times as fast another form of a kernel has to be to take a form's place: less is noise.
    pub margin: f64,
}

impl Default for TuneOptions {
    /// Under a minute.
    fn default() -> Self {
        Self { seconds: 50, margin: 1.18 }
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
/// Bytes that the system is asked for, far more than an allocator keeps.
const FRESH: usize = 64 << 20;
/// The least share of a time that is an operation's own, where what lies beside it is taken off.
const OWN: f64 = 0.1;
/// The shares of the time: the CPU's where there is an adapter, and the forms' of what is left.
const SHARES: [f64; 2] = [0.4, 0.25];

/// What is measured, where, and whom to tell.
struct Measuring<'a> {
    ctx: Context,
    side: Side,
    say: &'a mut dyn FnMut(&str),
}

/// Measures the rates of the CPU and of this context's adapter, if it has one: fixed costs, bandwidths, ceilings, the forms of
/// kernels by trial, and every family at a few sizes, of one item to many. Results are not compared here: [`super::measure`] does
/// that. This context's own rates stay as they are.
///
/// # Errors
/// Device errors.
pub fn tune(ctx: &Context, options: TuneOptions, mut progress: impl FnMut(Progress)) -> Result<Rates> {
    let begun = Instant::now();
    let whole = Duration::from_secs(options.seconds.max(1));
    let mut say = |what: &str| {
        let share = begun.elapsed().as_secs_f64() / whole.as_secs_f64();
        progress(Progress { share: share.min(1.0), what: what.to_owned() });
    };
    say("ceilings of the CPU");
    let top = ceilings(&Context::cpu(), MOVED as u64, 3)?;
    let mut rates = ctx.policy().rates.as_ref().clone();
    let threads = rates.cpu.threads;
    rates.cpu = CpuRates { threads, copy: top.copy, fma: top.fma, fresh: fresh(), curves: rates.cpu.curves };
    let own = if ctx.adapter().is_some() { whole.mul_f64(SHARES[0]) } else { whole };
    let mut cpu = Measuring { ctx: ctx.with_backend(Backend::Cpu), side: Side::Cpu, say: &mut say };
    rates.cpu.curves = curves(&mut cpu, &rates, begun + own)?;
    let Some(adapter) = ctx.adapter() else { return Ok(rates) };
    say(&format!("ceilings of {}", adapter.name));
    let gpu = ctx.with_backend(Backend::Gpu);
    rates.gpu = fixed(&gpu, rates.gpu)?;
    let left = (begun + whole).saturating_duration_since(Instant::now());
    rates.gpu.slower = forms::slower(&gpu, &rates, options.margin, Instant::now() + left.mul_f64(SHARES[1]), &mut say)?;
    // Curves are those of the forms that were found to be best.
    let best = forms::context(&gpu, &rates)?.unwrap_or(gpu);
    let mut gpu = Measuring { ctx: best, side: Side::Gpu, say: &mut say };
    rates.gpu.curves = curves(&mut gpu, &rates, begun + whole)?;
    Ok(rates)
}

/// Bytes/s at which memory that the system has just handed out is written.
fn fresh() -> f64 {
    let fill = |numbers: &mut [f32]| {
        let started = Instant::now();
        numbers.par_chunks_mut(1 << 16).for_each(|part| part.fill(1.0));
        std::hint::black_box(numbers);
        started.elapsed().as_secs_f64()
    };
    let rounds = (0..3).map(|_| {
        let mut numbers = vec![0.0_f32; FRESH / 4];
        let first = fill(&mut numbers);
        (first - fill(&mut numbers)).max(OWN * first)
    });
    FRESH as f64 / rounds.fold(f64::INFINITY, f64::min)
}

/// What a device costs beside its kernels.
fn fixed(ctx: &Context, before: GpuRates) -> Result<GpuRates> {
    let top = ceilings(ctx, MOVED as u64, 3)?;
    let host = Array::from_vec(Shape::new(MOVED / 4, 1, 1), vec![0.5_f32; MOVED / 4])?;
    let there = host.to_device(ctx)?;
    ctx.wait()?;
    let budget = Duration::from_millis(300);
    let mut send: Call<'_> = Box::new(|| host.to_device(ctx).and_then(|_| ctx.wait()));
    let up = timed(&mut send, budget)?.median;
    let mut bring: Call<'_> = Box::new(|| there.to_host(ctx).map(drop));
    let down = timed(&mut bring, budget)?.median;
    let few = Array::from_vec(Shape::new(16, 1, 1), vec![0.5_f32; 16])?;
    let mut both: Call<'_> = Box::new(|| few.to_device(ctx)?.to_host(ctx).map(drop));
    let both = timed(&mut both, budget)?.median;
    let bytes = MOVED as f64;
    let rate = |seconds: f64| bytes / (seconds - top.call).max(OWN * seconds);
    Ok(GpuRates {
        round_trip: top.call,
        dispatch: roofline::dispatch(ctx)?,
        // Something above nothing: what is stored is above 0.
        handover: (both - top.call).max(1e-7),
        upload: rate(up),
        download: rate(down),
        copy: top.copy,
        fma: top.fma,
        ..before
    })
}

/// Seconds of a workload's transfers, where a call has them in it.
fn transfers(rates: &GpuRates, work: &Workload, to_host: bool) -> f64 {
    rates.transfers(&Workload { download: if to_host { work.download } else { 0.0 }, ..*work })
}
