//! Measures a machine: the rates from which the policy predicts times, and the kernel forms that are slower than
//! another form.

mod curves;
mod forms;
mod matrix_units;

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

/// The options of [`tune`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TuneOptions {
    /// The approximate time for the whole measurement.
    pub seconds: u64,
    /// The speedup above which another kernel form replaces the form in use. A smaller speedup may be noise.
    pub margin: f64,
}

impl Default for TuneOptions {
    /// Returns options that take less than a minute.
    fn default() -> Self {
        Self { seconds: 50, margin: 1.18 }
    }
}

/// The progress of a measurement.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The share of the time that has passed.
    pub share: f64,
    /// What is being measured.
    pub what: String,
}

/// The number of bytes that are uploaded, downloaded and copied.
const MOVED: usize = 16 << 20;
/// The number of bytes that are requested from the system. An allocator keeps only much smaller amounts of freed memory
/// for reuse, so memory of this size comes directly from the system.
const FRESH: usize = 64 << 20;
/// The minimum share of a measured time that is attributed to the operation after other costs are subtracted.
const OWN: f64 = 0.1;
/// Two shares that apply if there is an adapter: the share of the total time in which the CPU is measured, and the
/// share of the remaining time in which forms are tried, and then again matrix units.
const SHARES: [f64; 2] = [0.4, 0.25];

/// The context and side that are measured, and the callback for progress.
struct Measuring<'a> {
    ctx: Context,
    side: Side,
    say: &'a mut dyn FnMut(&str),
}

/// Measures the rates of the CPU and of the adapter of `ctx`, if there is one: fixed costs, bandwidths, ceilings, and
/// the rate of every family for a few sizes, from one item to many items. Also finds the kernel forms that are slower
/// than another form. Unlike [`super::measure`], this function does not check results. The rates of `ctx` do not
/// change.
///
/// # Errors
/// Returns an error if the device fails.
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
    let left = (begun + whole).saturating_duration_since(Instant::now());
    let end = Instant::now() + left.mul_f64(SHARES[1]);
    rates.gpu.matrix_units = matrix_units::faster(&gpu, &rates, options.margin, end, &mut say)?;
    // The curves are measured with the forms that were faster in the trials.
    let best = forms::context(&gpu, &rates, &[])?.unwrap_or(gpu);
    let mut gpu = Measuring { ctx: best, side: Side::Gpu, say: &mut say };
    rates.gpu.curves = curves(&mut gpu, &rates, begun + whole)?;
    Ok(rates)
}

/// Measures the rate, in bytes/s, of writing to memory that the system has just handed out.
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

/// Measures a device's ceilings, and the costs of a call on it apart from the time of the kernels.
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
        // Stored rates must be above 0.
        handover: (both - top.call).max(1e-7),
        upload: rate(up),
        download: rate(down),
        copy: top.copy,
        fma: top.fma,
        model: None,
        ..before
    })
}

/// Returns the seconds of a call with resident data that are no part of the device's curve: the transfers, the waits,
/// and what the CPU computes by itself. `to_host` says whether the call brings its results to the host.
fn besides(rates: &Rates, work: &Workload, to_host: bool) -> f64 {
    let moved = Workload { download: if to_host { work.download } else { 0.0 }, ..*work };
    rates.gpu.transfers(&moved) + rates.gpu.waits(work) + rates.cpu.kept(work)
}
