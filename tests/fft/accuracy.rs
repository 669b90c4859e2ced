//! Fourier transforms on every backend against rustfft in f64: every length, real and complex, forward and inverse.

use common::fourier::{C64, half_truth, judge, lines, reals, signal, truth, whole_truth, wide, widened};
use common::solve::{Checked, alike};
use common::{Test, device_free, on_cpu, on_each, on_gpus, sample, suite};
use fiedler::forms::{FftForm, KernelForm};
use fiedler::ops::fft::{fft, ifft, irfft, rfft};
use fiedler::{Axis, Context, Shape};
use std::f64::consts::TAU;

const EPS: f64 = f32::EPSILON as f64;

pub fn tests() -> Vec<Test> {
    suite(
        "accuracy",
        vec![
            device_free("the referee agrees with the definition", referee),
            on_each("every length to 1025, forward", |ctx| each(ctx, sample(ctx, 1..=1025), forward)),
            on_each("every length to 1025, inverse", |ctx| each(ctx, sample(ctx, 1..=1025), inverse)),
            on_each("every length to 1025, real", |ctx| each(ctx, sample(ctx, 1..=1025), real)),
            on_each("every length to 1025, back to real", |ctx| each(ctx, sample(ctx, 1..=1025), back_to_real)),
            on_each("primes to 4099", primes),
            on_each("powers of two, and three times these", powers),
            on_each("lengths around the limits of the kernels", ends),
            on_gpus("kernels for wide and for minimal workgroups", wide_workgroups),
            on_each("a length of 2^22", longest),
            on_cpu("f64, against closed forms", in_f64),
        ],
    )
}

/// All other tests compare with rustfft in f64. This test compares rustfft with the sum that defines the transform.
fn referee() {
    for n in 1..=64_usize {
        let x: Vec<C64> = signal(n, n as u64).into_iter().map(wide).collect();
        for inverse in [false, true] {
            let sign = if inverse { 1.0 } else { -1.0 };
            let by = if inverse { 1.0 / n as f64 } else { 1.0 };
            let sum = |k: usize| -> C64 {
                (0..n).map(|j| x[j] * C64::from_polar(by, sign * TAU * (j * k % n) as f64 / n as f64)).sum()
            };
            let want: Vec<C64> = (0..n).map(sum).collect();
            let found = truth(&x, inverse);
            let away = found.iter().zip(&want).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
            let size = want.iter().map(|z| z.norm()).fold(0.0, f64::max);
            // A sum of n products, each of them rounded.
            assert!(away <= 4.0 * n as f64 * f64::EPSILON * size, "n = {n}: {away:e}");
        }
    }
}

/// Computes the worst error of the transforms of some lines. The arguments are the length of a line and the number
/// of lines.
type Judge = fn(&Context, usize, usize) -> Result<f64, Box<dyn std::error::Error>>;

fn each(ctx: &Context, lengths: impl IntoIterator<Item = usize>, of: Judge) -> Checked {
    let mut worst = (0.0, 0);
    for n in lengths {
        let found = of(ctx, n, 3)?;
        if found > worst.0 {
            worst = (found, n);
        }
    }
    println!("at worst {:.3} of what is allowed, n = {}", worst.0, worst.1);
    Ok(())
}

type Measured = Result<f64, Box<dyn std::error::Error>>;

/// Returns the worst error of all lines.
fn judged(n: usize, got: impl Iterator<Item = Vec<C64>>, want: impl Iterator<Item = Vec<C64>>) -> Measured {
    let mut worst = 0.0_f64;
    for (line, (got, want)) in got.zip(want).enumerate() {
        worst = worst.max(judge(&got, &want, n, EPS).map_err(|e| format!("line {line}, {e}"))?);
    }
    Ok(worst)
}

fn forward(ctx: &Context, n: usize, count: usize) -> Measured {
    let x = signal(n * count, n as u64);
    let found = fft(ctx, &lines(n, x.clone())?, Axis::Rows)?.to_host(ctx)?;
    judged(n, widened(found.as_slice(), n), widened(&x, n).map(|line| truth(&line, false)))
}

fn inverse(ctx: &Context, n: usize, count: usize) -> Measured {
    let x = signal(n * count, n as u64 + 1);
    let found = ifft(ctx, &lines(n, x.clone())?, Axis::Rows)?.to_host(ctx)?;
    judged(n, widened(found.as_slice(), n), widened(&x, n).map(|line| truth(&line, true)))
}

fn real(ctx: &Context, n: usize, count: usize) -> Measured {
    let x = reals(n * count, n as u64 + 2);
    let found = rfft(ctx, &lines(n, x.clone())?, Axis::Rows)?;
    assert_eq!(found.shape(), Shape::new(n / 2 + 1, count, 1));
    let found = found.to_host(ctx)?;
    judged(n, widened(found.as_slice(), n / 2 + 1), x.chunks(n).map(half_truth))
}

/// Transforms spectra that no real signal has: their imaginary parts at both ends are ignored.
fn back_to_real(ctx: &Context, n: usize, count: usize) -> Measured {
    let x = signal((n / 2 + 1) * count, n as u64 + 3);
    let found = irfft(ctx, &lines(n / 2 + 1, x.clone())?, n, Axis::Rows)?;
    assert_eq!(found.shape(), Shape::new(n, count, 1));
    let found = found.to_host(ctx)?;
    let got = found.as_slice().chunks(n).map(|line| line.iter().map(|&x| C64::new(x.into(), 0.0)).collect());
    judged(n, got, x.chunks(n / 2 + 1).map(|half| whole_truth(half, n)))
}

fn is_prime(n: usize) -> bool {
    n > 1 && (2..).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d))
}

/// Prime lengths beyond the range that the other trials cover completely. Software adapters run some of these
/// lengths, including the smallest and the largest.
fn primes(ctx: &Context) -> Checked {
    let all: Vec<usize> = (1026..=4099).filter(|&n| is_prime(n)).collect();
    let step = if ctx.adapter().is_some_and(|adapter| adapter.software) { 53 } else { 1 };
    let some = || all.iter().copied().step_by(step).chain([2039, 2053, 4093, 4099]);
    each(ctx, some(), forward)?;
    each(ctx, some(), inverse)?;
    each(ctx, some().map(|n| 2 * n), real)?;
    each(ctx, some(), back_to_real)
}

fn powers(ctx: &Context) -> Checked {
    let all = || (11..=20).map(|k| 1 << k).chain((9..=18).map(|k| 3 << k));
    for (of, name) in
        [(forward as fn(_, _, _) -> _, "forward"), (inverse, "inverse"), (real, "real"), (back_to_real, "back")]
    {
        println!("{name}");
        let mut worst = 0.0_f64;
        for n in sample(ctx, all()) {
            worst = worst.max(of(ctx, n, if n > 1 << 16 { 1 } else { 2 })?);
        }
        println!("at worst {worst:.3} of what is allowed");
    }
    Ok(())
}

/// Lengths around limits of the kernels: the longest length of one pass and its neighbors, products of two passes,
/// and chirps in one workgroup and in two passes.
fn ends(ctx: &Context) -> Checked {
    let all = [
        2047,
        2048,
        2049,
        2187,
        2860,
        3993,
        4004,
        4050,
        4094,
        4095,
        4096,
        4097,
        4098,
        4102,
        8190,
        8192,
        8194,
        13 * 4096,
        65_537,
        100_000,
    ];
    let all = || sample(ctx, all);
    each(ctx, all(), forward)?;
    each(ctx, all(), inverse)?;
    each(ctx, all(), real)?;
    each(ctx, all(), back_to_real)
}

/// The kernels for GPUs, which have wide workgroups and spread their memory over the banks. They run with the
/// memory of the adapter's workgroups and with only the guaranteed memory, for lengths that are compiled in and for
/// other lengths. On software adapters the other trials do not use these kernels.
fn wide_workgroups(ctx: &Context) -> Checked {
    for forms in [&[FftForm::Known, FftForm::Long][..], &[FftForm::General]] {
        let forms: Vec<KernelForm> = forms.iter().copied().map(KernelForm::Fft).collect();
        let ctx = alike(ctx).kernels(&forms).build()?;
        let all = || sample(&ctx, (0..=13).map(|k| 1 << k).chain([1000, 1009, 2187, 4050, 4099]));
        each(&ctx, all(), forward)?;
        each(&ctx, all(), inverse)?;
        each(&ctx, all(), real)?;
        each(&ctx, all(), back_to_real)?;
    }
    Ok(())
}

fn longest(ctx: &Context) -> Checked {
    // SwiftShader is left out, because the test takes long, and one software adapter is enough.
    if ctx.adapter().is_none_or(|adapter| !adapter.name.contains("SwiftShader")) {
        println!("{:.3} of what is allowed", forward(ctx, 1 << 22, 1)?);
    }
    Ok(())
}

/// Transforms a sum of three impulses in f64, as complex and as real numbers, and transforms the result back. The
/// true transform is a sum of three exponentials.
fn in_f64(ctx: &Context) -> Checked {
    let mut worst = 0.0_f64;
    for n in (1..=300).chain([1009, 1024, 3993, 4099, 1 << 16, 65_537, 3 << 15]) {
        let places = [(0, 1.0), (n / 3, -0.5), (n - 1, 2.0)];
        let mut x = vec![C64::new(0.0, 0.0); n];
        places.iter().for_each(|&(j, by)| x[j] += by);
        let turn = |j: usize, k: usize| ((j as u128 * k as u128) % n as u128) as f64 / n as f64;
        let want: Vec<C64> =
            (0..n).map(|k| places.iter().map(|&(j, by)| C64::from_polar(1.0, -TAU * turn(j, k)) * by).sum()).collect();
        let array = lines(n, x.clone())?;
        let found = fft(ctx, &array, Axis::Rows)?;
        let found_here = found.to_host(ctx)?;
        // The closed form has rounding errors too: half an eps relative to its angle, which is up to 2 pi.
        let close = |got: &[C64], want: &[C64]| judge(got, want, n.max(4), f64::EPSILON);
        worst = worst.max(close(found_here.as_slice(), &want)?);
        worst = worst.max(close(ifft(ctx, &found, Axis::Rows)?.to_host(ctx)?.as_slice(), &x)?);
        let real: Vec<f64> = x.iter().map(|z| z.re).collect();
        let half = rfft(ctx, &lines(n, real)?, Axis::Rows)?;
        worst = worst.max(close(half.to_host(ctx)?.as_slice(), &want[..n / 2 + 1])?);
        let back = irfft(ctx, &half, n, Axis::Rows)?.to_host(ctx)?;
        let back: Vec<C64> = back.as_slice().iter().map(|&x| x.into()).collect();
        worst = worst.max(close(&back, &x)?);
    }
    println!("at worst {worst:.3} of what is allowed");
    Ok(())
}
