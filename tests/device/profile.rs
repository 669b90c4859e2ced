//! Profiles: the counts are those of the dispatches, times fit into the wall time, and the trace can be parsed.

use common::solve::{Checked, alike, apart};
use common::{Test, on_cpu, on_each, on_gpus, suite};
use fiedler::array::Array;
use fiedler::ops::fft::fft;
use fiedler::ops::roofline::ceilings;
use fiedler::{Axis, Clock, Context, Profile, Shape};
use num_complex::Complex;
use serde_json::Value;
use std::time::{Duration, Instant};

pub fn tests() -> Vec<Test> {
    suite(
        "profile",
        vec![
            on_gpus("a chain whose dispatches are known", |ctx| chain(ctx, true)),
            on_gpus("the same chain by the wall clock", |ctx| chain(ctx, false)),
            on_gpus("passes of a transform", passes),
            on_gpus("many submissions", many),
            on_each("stages added by the caller", stages),
            on_cpu("without a device", without),
        ],
    )
}

/// Takes the profile and checks what holds for every profile.
fn taken(ctx: &Context) -> Result<Profile, Box<dyn std::error::Error>> {
    let profile = ctx.profile()?.ok_or("a profile was asked for")?;
    let device = profile.device_seconds();
    // Dispatches do not overlap on a queue whose passes have barriers between them, so the sum of their times fits into
    // the time that passed. The clock of a device may run faster than the host's clock by the tolerance of quartz
    // crystals, which is 100 in a million. A tenth of that is added as a margin.
    assert!(device <= profile.wall * (1.0 + 1.1e-4), "{device} s of {} s", profile.wall);
    assert!(profile.kernels.iter().all(|k| k.calls > 0 && k.seconds >= 0.0 && k.seconds.is_finite()), "{profile}");
    assert!(profile.kernels.is_sorted_by(|a, b| a.seconds >= b.seconds), "{profile}");
    let trace: Value = serde_json::from_str(&profile.chrome_trace())?;
    let events = trace.as_array().ok_or("an array of events")?;
    let bars: Vec<&Value> = events.iter().filter(|event| event["ph"] == "X").collect();
    let number = |event: &Value, key: &str| event[key].as_f64().ok_or_else(|| format!("no {key} in {event}"));
    for event in &bars {
        assert!(number(event, "dur")? >= 0.0 && number(event, "ts")? >= 0.0, "{event}");
    }
    let kernels: Vec<(f64, f64)> = bars
        .iter()
        .filter(|event| event["cat"] == "kernel")
        .map(|event| Ok((number(event, "ts")?, number(event, "ts")? + number(event, "dur")?)))
        .collect::<Result<_, String>>()?;
    let calls: u64 = profile.kernels.iter().map(|k| k.calls).sum();
    assert_eq!(kernels.len() as u64, calls, "a bar for each dispatch");
    for pair in kernels.windows(2) {
        // Starts and ends are whole nanoseconds, and microseconds in f64 are far more precise than that.
        assert!(pair[0].1 <= pair[1].0 + 1e-4, "{pair:?} overlap");
    }
    Ok(profile)
}

/// Checks the dispatches that measure the ceilings of a machine: a copy of 4096 bytes, a copy of 16 bytes within the
/// same arrays, and a chain of multiply-adds. Each of them runs once as a first call and then in 2 rounds.
fn chain(ctx: &Context, timestamps: bool) -> Checked {
    assert!(ctx.profile()?.is_none(), "no profile was requested");
    let timed = apart(ctx).profile(true).timestamps(timestamps).build()?;
    let has = timed.adapter().is_some_and(|a| a.features.contains(&"timestamps"));
    ceilings(&timed, 4096, 2)?;
    let profile = taken(&timed)?;
    assert_eq!(profile.clock, if has && timestamps { Clock::Timestamps } else { Clock::Wall });
    assert_eq!(profile.adapter.as_deref(), timed.adapter().map(|a| a.name.as_str()));
    let mut kernels = profile.kernels.clone();
    kernels.sort_by(|a, b| a.kernel.cmp(&b.kernel));
    let names: Vec<(&str, u64)> = kernels.iter().map(|k| (k.kernel.as_str(), k.calls)).collect();
    assert_eq!(names, [("Copy", 6), ("Fma", 3)]);
    // The recorder was told that each of the 256 vec4s of a workgroup takes one operation, and that a dispatch binds
    // two arrays of 4096 bytes.
    assert_eq!((kernels[0].flops, kernels[0].bound_bytes), (6.0 * 256.0, 6 * 8192));
    let groups = if timed.adapter().is_some_and(|a| a.software) { 16 } else { 4096 };
    let flops = 3.0 * 64.0 * 4096.0 * f64::from(groups) * 256.0;
    assert_eq!((kernels[1].flops, kernels[1].bound_bytes), (flops, 3 * 16 * 256 * groups as u64));
    assert!(kernels[1].seconds > 0.0, "{profile}");
    let stage = |name: &str| profile.stages.iter().find(|s| s.stage == name && !s.own).map_or(0, |s| s.calls);
    // Each kernel is compiled once, and each of the nine calls is one submission.
    let submit = if profile.clock == Clock::Wall { "submit and wait" } else { "submit" };
    assert_eq!((stage("open"), stage("compile"), stage("record"), stage(submit)), (1, 2, 9, 9), "{profile}");
    assert!(profile.peak_bytes >= 8192 && profile.peak_bytes <= profile.budget, "{profile}");
    // In another context on the same device, nothing is compiled again, but each context has a separate profile.
    let beside = alike(&timed).profile(true).timestamps(timestamps).build()?;
    ceilings(&beside, 4096, 2)?;
    let stages = taken(&beside)?.stages;
    assert!(stages.iter().any(|s| s.stage == "record") && stages.iter().all(|s| s.stage != "compile"), "{stages:?}");
    let text = profile.to_string();
    let clock = if profile.clock == Clock::Wall { "wall clock around each dispatch" } else { "by its timestamps" };
    assert!(text.contains("Fma") && text.contains("bound GB/s") && text.contains(clock), "{text}");
    let again = taken(&timed)?;
    assert!(again.kernels.is_empty() && again.stages.iter().all(|s| s.stage == "wait"), "since the last call: {again}");
    Ok(())
}

fn passes(ctx: &Context) -> Checked {
    let timed = apart(ctx).profile(true).build()?;
    // On every adapter, a transform takes one pass up to length 2048, and two passes for length 2^16. A transform has
    // about 5 n log2(n) operations, and the profile has to count at least n.
    for (n, calls) in [(1024_usize, 1), (1 << 16, 2)] {
        let shape = Shape::new(n, 1, 1);
        let x = Array::from_vec(shape, vec![Complex::new(1.0_f32, 0.0); n])?;
        let before = fft(ctx, &x, Axis::Rows)?.to_host(ctx)?;
        let found = fft(&timed, &x, Axis::Rows)?.to_host(&timed)?;
        assert!(before.as_slice() == found.as_slice(), "a profile moves no bit");
        let profile = taken(&timed)?;
        assert_eq!(profile.kernels.iter().map(|k| k.calls).sum::<u64>(), calls, "{profile}");
        let flops: f64 = profile.kernels.iter().map(|k| k.flops).sum();
        assert!(flops >= n as f64 && profile.kernels.iter().all(|k| k.bound_bytes >= 16 * n as u64), "{profile}");
    }
    Ok(())
}

fn many(ctx: &Context) -> Checked {
    let timed = apart(ctx).profile(true).build()?;
    ceilings(&timed, 4096, 79)?;
    let profile = taken(&timed)?;
    let calls = |name: &str| profile.kernels.iter().find(|k| k.kernel == name).map(|k| k.calls);
    assert_eq!((calls("Copy"), calls("Fma")), (Some(160), Some(80)), "{profile}");
    Ok(())
}

fn stages(ctx: &Context) -> Checked {
    let timed = apart(ctx).profile(true).build()?;
    let began = Instant::now();
    std::thread::sleep(Duration::from_millis(10));
    timed.stage("read", began..Instant::now());
    // A clone of the context adds to the same profile; other contexts do not.
    timed.clone().stage("read", began..began);
    ctx.stage("read", began..Instant::now());
    let profile = taken(&timed)?;
    let read = profile.stages.iter().find(|s| s.own).ok_or("a stage")?;
    assert!(
        (read.stage, read.calls) == ("read", 2) && read.seconds >= 0.01 && read.seconds <= profile.wall,
        "{profile}"
    );
    assert!(profile.to_string().contains("read") && profile.chrome_trace().contains("\"read\""), "{profile}");
    assert!(ctx.profile()?.is_none(), "no profile was requested");
    Ok(())
}

fn without(ctx: &Context) -> Checked {
    assert!(ctx.profile()?.is_none(), "no profile was requested");
    let timed = apart(ctx).profile(true).build()?;
    ceilings(&timed, 4096, 1)?;
    let profile = taken(&timed)?;
    assert!(profile.clock == Clock::Absent && profile.kernels.is_empty() && profile.adapter.is_none(), "{profile}");
    assert!(profile.to_string().contains("on the CPU, host stages only"), "{profile}");
    Ok(())
}
