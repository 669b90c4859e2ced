//! Cosine and sine transforms against the sums that define them, on all axes and of all types.

use crate::calls::{HALF, along};
use common::fourier::reals;
use common::random::SplitMix64;
use common::solve::{Checked, alike};
use common::{Test, on_cpu, on_each, on_gpus, sample, suite};
use fiedler::array::{Array, HostArray, Real};
use fiedler::ops::fft::{CosineOptions, CosineType, choose_dct, dct, dst};
use fiedler::policy::Side;
use fiedler::{Axis, Backend, Context, ErrorKind, Shape};
use std::f64::consts::TAU;

const TYPES: [CosineType; 4] = [CosineType::One, CosineType::Two, CosineType::Three, CosineType::Four];

pub fn tests() -> Vec<Test> {
    suite(
        "cosine",
        vec![
            on_each("short lines in f32", |ctx| every_length::<f32>(ctx, 1)),
            on_each("short lines in f32, many", |ctx| every_length::<f32>(ctx, 33)),
            on_cpu("short lines in f64", |ctx| every_length::<f64>(ctx, 1)),
            on_cpu("short lines in f64, many", |ctx| every_length::<f64>(ctx, 33)),
            on_each("long lines", long),
            on_each("axes", axes::<f32>),
            on_cpu("axes in f64", axes::<f64>),
            on_each("orthogonal matrices", orthogonal::<f32>),
            on_cpu("orthogonal matrices in f64", orthogonal::<f64>),
            on_each("tiny and huge lines", scales),
            on_each("a line that is not finite spoils only itself", not_finite),
            on_each("bit-equal when repeated and cut", cuts),
            on_each("what is refused", refused),
            on_gpus("resident arrays, and calls that stay on the CPU", resident),
        ],
    )
}

fn waves() -> impl Iterator<Item = (bool, CosineType)> {
    TYPES.into_iter().flat_map(|kind| [(false, kind), (true, kind)])
}

/// Returns the transform of a line, from its definition. The angles are exact fractions of a turn.
fn sums(sine: bool, kind: CosineType, line: &[f64]) -> Vec<f64> {
    let (n, shift) = (line.len(), usize::from(sine));
    let period = match kind {
        CosineType::One if sine => 2 * (n + 1),
        CosineType::One => 2 * (n - 1),
        CosineType::Two | CosineType::Three => 4 * n,
        CosineType::Four => 8 * n,
    };
    let turns = |j: usize, k: usize| match kind {
        CosineType::One => (j + shift) * (k + shift),
        CosineType::Two => (2 * j + 1) * (k + shift),
        CosineType::Three => (j + shift) * (2 * k + 1),
        CosineType::Four => (2 * j + 1) * (2 * k + 1),
    };
    let is_single = |j: usize| match kind {
        CosineType::One => !sine && (j == 0 || j == n - 1),
        CosineType::Three => j == if sine { n - 1 } else { 0 },
        CosineType::Two | CosineType::Four => false,
    };
    let angle = |turn: usize| TAU * turn as f64 / period as f64;
    let wave: Vec<f64> = (0..period).map(|turn| if sine { angle(turn).sin() } else { angle(turn).cos() }).collect();
    let weighed: Vec<f64> = line.iter().enumerate().map(|(j, x)| if is_single(j) { *x } else { 2.0 * x }).collect();
    (0..n).map(|k| weighed.iter().enumerate().map(|(j, x)| x * wave[turns(j, k) % period]).sum()).collect()
}

/// The bound of the documentation. The sums of the truth have an error of `sqrt n` eps of f64.
fn allowed<T: Real>(n: usize) -> f64 {
    4.0 * T::EPSILON * (2.0 * n as f64).log2() + (n as f64).sqrt() * f64::EPSILON
}

fn away(found: &[f64], want: &[f64]) -> f64 {
    let square = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
    square(&mut found.iter().zip(want).map(|(a, b)| a - b)) / square(&mut want.iter().copied()).max(f64::MIN_POSITIVE)
}

fn by<T: Real>(ctx: &Context, sine: bool, a: &Array<T>, kind: CosineType, axis: Axis) -> fiedler::Result<Array<T>> {
    let of = if sine { dst } else { dct };
    of(ctx, a, kind, CosineOptions::default(), axis)
}

/// Transforms lines of noise by all transforms. Returns the largest error as a share of what is allowed.
fn each<T: Real>(ctx: &Context, n: usize, count: usize) -> Result<f64, Box<dyn std::error::Error>> {
    let mut worst = 0.0_f64;
    let cpu = Context::cpu();
    for (sine, kind) in waves() {
        if n < 2 && kind == CosineType::One && !sine {
            continue;
        }
        let x: Vec<T> = reals(n * count, n as u64).into_iter().map(|x| T::from_f64(x.into())).collect();
        let shape = Shape::new(n, count, 1);
        let found = by(ctx, sine, &Array::from_vec(shape, x.clone())?, kind, Axis::Rows)?.to_host(ctx)?;
        // Sums of many terms take too long. The transforms in f64 are judged by sums at all lengths below.
        let want: Vec<f64> = if n > 3001 {
            let wide = Array::from_vec(shape, T::all_to_f64(&x).into_owned())?;
            by(&cpu, sine, &wide, kind, Axis::Rows)?.to_host(&cpu)?.into_vec()
        } else {
            x.chunks(n).flat_map(|line| sums(sine, kind, &T::all_to_f64(line))).collect()
        };
        for (line, (want, found)) in want.chunks(n).zip(found.as_slice().chunks(n)).enumerate() {
            let share = away(&T::all_to_f64(found), want) / allowed::<T>(n);
            if share.is_nan() || share > 1.0 {
                return Err(format!("{kind:?}, sine {sine}, n = {n}, line {line}: {share} of what is allowed").into());
            }
            worst = worst.max(share);
        }
    }
    Ok(worst)
}

/// On the CPU, all lengths to 130; on devices, those to 40 and some up to 2000.
fn every_length<T: Real>(ctx: &Context, count: usize) -> Checked {
    let mut lengths: Vec<usize> = (1..=130).collect();
    if ctx.adapter().is_some() {
        let mut random = SplitMix64::new(count as u64);
        lengths.truncate(40);
        lengths.extend((0..12).map(|_| 41 + random.below(1960)));
        lengths = sample(ctx, lengths);
    }
    let mut worst = 0.0_f64;
    for n in lengths {
        worst = worst.max(each::<T>(ctx, n, count)?);
    }
    println!("at worst {worst:.3} of what is allowed");
    Ok(())
}

/// Lengths whose Fourier transforms take two passes on a device, or a chirp of two passes, are among them.
fn long(ctx: &Context) -> Checked {
    for n in [1000, 1009, 2048, 2187, 3001, 10_007, 16_384, 20_000] {
        let wide = if ctx.adapter().is_none() && n <= 3001 { each::<f64>(ctx, n, 2)? } else { 0.0 };
        println!("n = {n}: {:.3?} of what is allowed", [each::<f32>(ctx, n, 2)?, wide]);
    }
    Ok(())
}

fn picked(from: &[f64], line: &[usize]) -> Vec<f64> {
    line.iter().map(|&at| from[at]).collect()
}

/// Transforms along any axis are those of the lines.
fn axes<T: Real>(ctx: &Context) -> Checked {
    for (rows, cols, batch) in [(5, 6, 4), (33, 2, 3), (2, 40, 2), (17, 9, 70)] {
        let shape = Shape::new(rows, cols, batch);
        let x: Vec<T> = reals(shape.len(), 3).into_iter().map(|x| T::from_f64(x.into())).collect();
        let (a, x) = (Array::from_vec(shape, x.clone())?, T::all_to_f64(&x));
        for axis in [Axis::Rows, Axis::Cols, Axis::Batch] {
            for (sine, kind) in waves() {
                let found = T::all_to_f64(by(ctx, sine, &a, kind, axis)?.to_host(ctx)?.as_slice()).into_owned();
                for (l, line) in along(shape, axis).iter().enumerate() {
                    let want = sums(sine, kind, &picked(&x, line));
                    let share = away(&picked(&found, line), &want) / allowed::<T>(line.len());
                    assert!(share <= 1.0, "{shape} along {axis:?}, {kind:?}, sine {sine}, line {l}: {share}");
                }
            }
        }
    }
    let empty = Array::from_vec(Shape::new(3, 0, 2), Vec::<T>::new())?;
    assert_eq!(by(ctx, true, &empty, CosineType::Two, Axis::Rows)?.to_host(ctx)?.shape(), Shape::new(3, 0, 2));
    Ok(())
}

/// With the factor of its type, the matrix of an orthogonal transform has orthonormal rows.
fn orthogonal<T: Real>(ctx: &Context) -> Checked {
    for n in [2, 3, 8, 15, 16] {
        let one: Vec<T> = (0..n * n).map(|i| T::from_f64(f64::from(u8::from(i % (n + 1) == 0)))).collect();
        let one = Array::from_vec(Shape::new(n, n, 1), one)?;
        for (sine, kind) in waves() {
            let period = match (kind, sine) {
                (CosineType::One, true) => 2 * (n + 1),
                (CosineType::One, false) => 2 * (n - 1),
                _ => 2 * n,
            };
            let options = CosineOptions::default().scale(1.0 / (period as f64).sqrt()).orthogonal(true);
            let of = if sine { dst } else { dct };
            let q = T::all_to_f64(of(ctx, &one, kind, options, Axis::Rows)?.to_host(ctx)?.as_slice()).into_owned();
            let column = |i: usize| &q[i * n..(i + 1) * n];
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let dot: f64 = column(i).iter().zip(column(j)).map(|(x, y)| x * y).sum();
                let away = (dot - f64::from(u8::from(i == j))).abs();
                // Each of two unit vectors has the error of a transform, and the factors are rounded.
                assert!(away < 3.0 * allowed::<T>(n), "{kind:?}, sine {sine}, n = {n}: {away:e} at {i}, {j}");
            }
        }
    }
    Ok(())
}

/// A device may flush subnormal numbers. Lines of them have transforms of their own accuracy all the same, beside lines
/// of ones and of large numbers. Only the result is rounded to a subnormal number.
fn scales(ctx: &Context) -> Checked {
    for (rows, cols, batch) in [(16, 3, 2), (31, 4, 3)] {
        let shape = Shape::new(rows, cols, batch);
        for axis in [Axis::Rows, Axis::Cols, Axis::Batch] {
            // Whole numbers, so that multiples of the least subnormal number, 2^-149, are exact.
            let whole: Vec<f64> = reals(shape.len(), 9).iter().map(|x| (4.0 * f64::from(*x)).round()).collect();
            let lines = along(shape, axis);
            let factors: Vec<f64> =
                (0..lines.len()).map(|l| 2_f64.powi([-149, 0, -126, 90, -110, -66][l % 6])).collect();
            let mut x = vec![0.0_f32; shape.len()];
            for (line, factor) in lines.iter().zip(&factors) {
                line.iter().for_each(|&at| x[at] = (whole[at] * factor) as f32);
            }
            let a = Array::from_vec(shape, x)?;
            for (sine, kind) in waves() {
                let found = f32::all_to_f64(by(ctx, sine, &a, kind, axis)?.to_host(ctx)?.as_slice()).into_owned();
                for (l, (line, factor)) in lines.iter().zip(&factors).enumerate() {
                    let want = sums(sine, kind, &picked(&whole, line));
                    let beyond = |(found, want): (f64, &f64)| {
                        let off = found / factor - want;
                        want + off.signum() * (off.abs() - HALF / factor).max(0.0)
                    };
                    let found: Vec<f64> = picked(&found, line).into_iter().zip(&want).map(beyond).collect();
                    let share = away(&found, &want) / allowed::<f32>(line.len());
                    assert!(
                        share <= 1.0,
                        "{shape} along {axis:?}, {kind:?}, sine {sine}, times {factor:e}, {l}: {share}"
                    );
                }
            }
        }
    }
    Ok(())
}

fn bits(of: &HostArray<f32>) -> Vec<u32> {
    of.as_slice().iter().map(|x| x.to_bits()).collect()
}

fn not_finite(ctx: &Context) -> Checked {
    for n in [2, 3, 12, 17, 64, 130, 1009, 4100] {
        let clean = reals(n * 7, 31);
        let bad = [(1, f32::NAN), (3, f32::INFINITY), (6, f32::NEG_INFINITY)];
        let mut spoiled = clean.clone();
        bad.iter().for_each(|&(line, x)| spoiled[line * n + n / 2] = x);
        let shape = Shape::new(n, 7, 1);
        let (clean, spoiled) = (Array::from_vec(shape, clean)?, Array::from_vec(shape, spoiled)?);
        for (sine, kind) in waves() {
            let want = by(ctx, sine, &clean, kind, Axis::Rows)?.to_host(ctx)?;
            let found = by(ctx, sine, &spoiled, kind, Axis::Rows)?.to_host(ctx)?;
            let (want, bits) = (bits(&want), bits(&found));
            for line in 0..7 {
                let own = line * n..(line + 1) * n;
                if bad.iter().any(|&(bad, _)| bad == line) {
                    let all = found.as_slice()[own].iter().all(|x| !x.is_finite());
                    assert!(all, "{kind:?}, sine {sine}, n = {n}, line {line}");
                } else {
                    assert!(bits[own.clone()] == want[own], "{kind:?}, sine {sine}, n = {n}, line {line}");
                }
            }
        }
    }
    Ok(())
}

fn cuts(ctx: &Context) -> Checked {
    for (shape, axis) in [
        (Shape::new(2000, 60, 1), Axis::Rows),
        (Shape::new(1009, 100, 1), Axis::Rows),
        (Shape::new(30, 96, 40), Axis::Cols),
        (Shape::new(50, 20, 100), Axis::Batch),
    ] {
        let a = Array::from_vec(shape, reals(shape.len(), 42))?;
        let small = alike(ctx).memory_budget(1 << 20).build()?;
        for (sine, kind) in sample(ctx, waves()) {
            let whole = bits(&by(ctx, sine, &a, kind, axis)?.to_host(ctx)?);
            assert!(
                bits(&by(ctx, sine, &a, kind, axis)?.to_host(ctx)?) == whole,
                "{shape}, {kind:?}, sine {sine}: twice"
            );
            let cut = by(&small, sine, &a, kind, axis)
                .and_then(|cut| cut.to_host(&small))
                .map_err(|e| format!("{shape}, {kind:?}, sine {sine}, in little memory: {e}"))?;
            assert!(bits(&cut) == whole, "{shape} along {axis:?}, {kind:?}, sine {sine}: in batches");
        }
        assert!(small.pool().peak <= 1 << 20, "{:?}", small.pool());
    }
    Ok(())
}

fn refused(ctx: &Context) -> Checked {
    let a = Array::from_vec(Shape::new(1, 3, 1), vec![1.0_f32; 3])?;
    let found = dct(ctx, &a, CosineType::One, CosineOptions::default(), Axis::Rows);
    assert!(matches!(found.expect_err("refused").kind(), ErrorKind::Shape { .. }));
    let none = Array::from_vec(Shape::new(0, 3, 1), Vec::<f32>::new())?;
    let found = dst(ctx, &none, CosineType::Four, CosineOptions::default(), Axis::Rows);
    assert!(matches!(found.expect_err("refused").kind(), ErrorKind::Shape { .. }));
    Ok(())
}

/// Chains stay on the device.
fn resident(ctx: &Context) -> Checked {
    let a = Array::from_vec(Shape::new(48, 5, 1), reals(48 * 5, 51))?;
    let here = a.to_device(ctx)?;
    for (sine, kind) in waves() {
        let there = by(ctx, sine, &here, kind, Axis::Rows)?;
        assert!(there.is_resident());
        let want = by(ctx, sine, &a, kind, Axis::Rows)?.to_host(ctx)?;
        assert_eq!(bits(&there.to_host(ctx)?), bits(&want), "{kind:?}, sine {sine}");
        assert!(by(ctx, !sine, &there, kind, Axis::Cols)?.is_resident());
        assert_eq!(choose_dct::<f32>(ctx, kind, a.shape(), Axis::Rows, false).side, Side::Gpu);
    }
    // f64 is never narrowed silently.
    let wide = Array::from_vec(Shape::new(4, 2, 1), vec![1.0_f64; 8])?;
    let error = by(ctx, false, &wide, CosineType::Two, Axis::Rows).map(drop).expect_err("f64 on the device");
    assert!(matches!(error.kind(), ErrorKind::Domain { .. }) && error.to_string().contains("f64"), "{error}");
    let auto = ctx.with_backend(Backend::Auto);
    assert!((by(&auto, false, &wide, CosineType::Two, Axis::Rows)?.to_host(&auto)?.as_slice()[0] - 8.0).abs() < 1e-14);
    assert_eq!(choose_dct::<f64>(&auto, CosineType::Two, wide.shape(), Axis::Rows, false).side, Side::Cpu);
    let long = Array::from_vec(Shape::new((1 << 23) + 1, 1, 1), vec![0.0_f32; (1 << 23) + 1])?;
    let error = by(ctx, false, &long, CosineType::Four, Axis::Rows).map(drop).expect_err("beyond the kernels");
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    Ok(())
}
