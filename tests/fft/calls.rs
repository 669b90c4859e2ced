//! Properties of Fourier transforms other than accuracy: transforms along every axis, mathematical laws, inputs
//! that are not finite, empty inputs, and transforms that are cut into batches or refused.

use common::fourier::{C32, C64, half_truth, judge, lines, reals, signal, truth, wide, widened};
use common::solve::{Checked, alike};
use common::{Test, on_each, on_gpus, sample, suite};
use fiedler::array::Array;
use fiedler::ops::fft::{FftPlan, choose_fft, fft, fft2, ifft, ifft2, irfft, rfft};
use fiedler::policy::Side;
use fiedler::{Axis, Backend, Context, ErrorKind, Shape};
use std::f64::consts::TAU;

pub(crate) const EPS: f64 = f32::EPSILON as f64;

pub fn tests() -> Vec<Test> {
    suite(
        "calls",
        vec![
            on_each("along every axis", axes),
            on_each("both axes", planes),
            on_each("Parseval, linearity, shift", laws),
            on_each("a line that is not finite spoils only itself", not_finite),
            on_each("overflow", overflow),
            on_each("subnormal lines, beside ones", subnormal),
            on_each("matrices of every small scale", small_planes),
            on_each("empty batches and refused shapes", edges_of_the_domain),
            on_each("bit-equal when repeated, alone and cut", cuts),
            on_gpus("resident arrays, and calls that stay on the CPU", resident),
        ],
    )
}

/// Returns the indices of the elements of every line of an array along an axis.
pub(crate) fn along(shape: Shape, axis: Axis) -> Vec<Vec<usize>> {
    let Shape { rows, cols, batch } = shape;
    let at = |i: usize, j: usize, b: usize| i + rows * (j + cols * b);
    match axis {
        Axis::Rows => (0..cols * batch).map(|l| (0..rows).map(|i| at(i, l % cols, l / cols)).collect()).collect(),
        Axis::Cols => (0..rows * batch).map(|l| (0..cols).map(|j| at(l % rows, j, l / rows)).collect()).collect(),
        Axis::Batch => (0..rows * cols).map(|l| (0..batch).map(|b| at(l % rows, l / rows, b)).collect()).collect(),
    }
}

/// Half of the distance between two subnormal numbers of f32.
pub(crate) const HALF: f64 = 1.0 / (1_u64 << 50) as f64 / (1_u64 << 50) as f64 / (1_u64 << 50) as f64;

/// Ordinary numbers, and such whose squares or which themselves are subnormal.
pub(crate) const SCALES: [f64; 6] = [1.0, 1e-20, 1e-30, 1e-38, 1e-40, 1e-44];

/// Moves results toward the truth by what rounding them may have changed. What is left has to be within the promise.
fn forgive(found: &mut [C64], want: &[C64], rounding: f64) {
    let beyond = |found: f64, want: f64| want + (found - want).signum() * ((found - want).abs() - rounding).max(0.0);
    for (found, want) in found.iter_mut().zip(want) {
        *found = C64::new(beyond(found.re, want.re), beyond(found.im, want.im));
    }
}

/// A device may flush subnormal numbers. A line that consists of them, and one that is near them, has a transform of
/// its own accuracy all the same, also beside lines of ones. Only the result is rounded to a subnormal number.
fn subnormal(ctx: &Context) -> Checked {
    for (rows, cols, batch) in [(16, 3, 2), (30, 4, 1), (67, 2, 2), (100, 3, 1), (1, 9, 5)] {
        let shape = Shape::new(rows, cols, batch);
        for axis in [Axis::Rows, Axis::Cols, Axis::Batch] {
            // Whole numbers, so that multiples of the least subnormal number, 2^-149, are exact.
            let whole: Vec<f32> = reals(2 * shape.len(), 9).iter().map(|x| (4.0 * x).round()).collect();
            let lines = along(shape, axis);
            let factors: Vec<f64> = (0..lines.len()).map(|l| 2_f64.powi([-149, 0, -126, -110, -66][l % 5])).collect();
            let mut factor = vec![0.0; shape.len()];
            lines.iter().zip(&factors).for_each(|(line, f)| line.iter().for_each(|&at| factor[at] = *f));
            let scaled = |i: usize, at: usize| (f64::from(whole[2 * at + i]) * factor[at]) as f32;
            let x: Vec<C32> = (0..shape.len()).map(|at| C32::new(scaled(0, at), scaled(1, at))).collect();
            let y: Vec<f32> = x.iter().map(|z| z.re).collect();
            let (complex, real) = (Array::from_vec(shape, x.clone())?, Array::from_vec(shape, y.clone())?);
            let there = fft(ctx, &complex, axis)?.to_host(ctx)?;
            let half = rfft(ctx, &real, axis)?.to_host(ctx)?;
            let back = irfft(ctx, &Array::from(half.clone()), lines[0].len(), axis)?.to_host(ctx)?;
            let bins = along(half.shape(), axis);
            for (l, line) in lines.iter().enumerate() {
                let given: Vec<C64> = line.iter().map(|&at| wide(x[at]) / factors[l]).collect();
                let given_real: Vec<C64> = given.iter().map(|z| C64::new(z.re, 0.0)).collect();
                let of = |z: &C64| *z / factors[l];
                let mut found: Vec<C64> = line.iter().map(|&at| of(&wide(there.as_slice()[at]))).collect();
                let mut found_half: Vec<C64> = bins[l].iter().map(|&at| of(&wide(half.as_slice()[at]))).collect();
                let mut found_back: Vec<C64> =
                    line.iter().map(|&at| C64::new(f64::from(back.as_slice()[at]) / factors[l], 0.0)).collect();
                let mut want_half = truth(&given_real, false);
                want_half.truncate(bins[l].len());
                // The second of two transforms starts from a spectrum that was rounded, which costs at most its root.
                let ulp = HALF / factors[l];
                for (found, want, ulp) in [
                    (&mut found, truth(&given, false), ulp),
                    (&mut found_half, want_half, ulp),
                    (&mut found_back, given_real.clone(), 3.0 * ulp),
                ] {
                    forgive(found, &want, ulp);
                    judge(found, &want, line.len().max(2), 2.0 * EPS)
                        .map_err(|e| format!("{shape} along {axis:?}, line {l} times {:e}: {e}", factors[l]))?;
                }
            }
        }
    }
    Ok(())
}

fn axes(ctx: &Context) -> Checked {
    let shapes = [
        (1, 1, 1),
        (2, 3, 5),
        (16, 16, 2),
        (33, 20, 17),
        (5, 1024, 3),
        (300, 4, 34),
        (1, 64, 128),
        (3, 1, 2050),
        (3, 6000, 1),
        (4, 3, 4099),
    ];
    for (rows, cols, batch) in sample(ctx, shapes) {
        let shape = Shape::new(rows, cols, batch);
        let x = signal(shape.len(), 7);
        let y = reals(shape.len(), 8);
        let (complex, real) = (Array::from_vec(shape, x.clone())?, Array::from_vec(shape, y.clone())?);
        for axis in [Axis::Rows, Axis::Cols, Axis::Batch] {
            let n = along(shape, axis)[0].len();
            let at = |e: fiedler::Error| format!("{shape}, {axis:?}: {e}");
            let there = fft(ctx, &complex, axis).map_err(at)?.to_host(ctx)?;
            let back = ifft(ctx, &complex, axis).map_err(at)?.to_host(ctx)?;
            let half = rfft(ctx, &real, axis).map_err(at)?;
            let again = irfft(ctx, &half, n, axis).map_err(at)?;
            assert_eq!(again.shape(), shape);
            let (half_here, again) = (half.to_host(ctx)?, again.to_host(ctx)?);
            let halves = along(half.shape(), axis);
            for (line, half_line) in along(shape, axis).into_iter().zip(halves) {
                let of = |from: &[C32], line: &[usize]| line.iter().map(|&e| wide(from[e])).collect::<Vec<_>>();
                let own = of(&x, &line);
                let fail = |e| format!("{shape}, {axis:?}: {e}");
                judge(&of(there.as_slice(), &line), &truth(&own, false), n, EPS).map_err(fail)?;
                judge(&of(back.as_slice(), &line), &truth(&own, true), n, EPS).map_err(fail)?;
                let own: Vec<f32> = line.iter().map(|&e| y[e]).collect();
                judge(&of(half_here.as_slice(), &half_line), &half_truth(&own), n, EPS).map_err(fail)?;
                // A forward and an inverse transform may have twice the error that is allowed to one transform.
                let got: Vec<C64> = line.iter().map(|&e| f64::from(again.as_slice()[e]).into()).collect();
                let own: Vec<C64> = own.iter().map(|&x| f64::from(x).into()).collect();
                judge(&got, &own, n.max(2), 2.0 * EPS).map_err(fail)?;
            }
        }
    }
    Ok(())
}

/// Computes the transforms of matrices along both axes in f64.
fn plane_truth(shape: Shape, x: &[C32], inverse: bool) -> Vec<C64> {
    let mut all: Vec<C64> = x.iter().copied().map(wide).collect();
    for axis in [Axis::Rows, Axis::Cols] {
        for line in along(shape, axis) {
            let own: Vec<C64> = line.iter().map(|&e| all[e]).collect();
            line.iter().zip(truth(&own, inverse)).for_each(|(&e, z)| all[e] = z);
        }
    }
    all
}

/// Matrices of tiny numbers beside a matrix of ordinary ones.
fn small_planes(ctx: &Context) -> Checked {
    let shape = Shape::new(8, 15, 3);
    let (size, base) = (shape.rows * shape.cols, signal(shape.len(), 10));
    for scale in SCALES {
        let factors = [scale, 1.0, scale];
        let times = |(e, z): (usize, &C32)| {
            let z = wide(*z) * factors[e / size];
            C32::new(z.re as f32, z.im as f32)
        };
        let x: Vec<C32> = base.iter().enumerate().map(times).collect();
        let array = Array::from_vec(shape, x.clone())?;
        for inverse in [false, true] {
            let want = plane_truth(shape, &x, inverse);
            let found = if inverse { ifft2(ctx, &array)? } else { fft2(ctx, &array)? }.to_host(ctx)?;
            for (b, factor) in factors.into_iter().enumerate() {
                let own = b * size..(b + 1) * size;
                let want: Vec<C64> = want[own.clone()].iter().map(|z| z / factor).collect();
                let mut got: Vec<C64> = found.as_slice()[own].iter().map(|&z| wide(z) / factor).collect();
                forgive(&mut got, &want, HALF / factor);
                judge(&got, &want, size, EPS).map_err(|e| format!("{scale:e}, matrix {b}, {inverse}: {e}"))?;
            }
        }
    }
    Ok(())
}

fn planes(ctx: &Context) -> Checked {
    for (rows, cols, batch) in [(1, 1, 1), (4, 6, 3), (17, 31, 2), (128, 64, 2), (1009, 33, 1)] {
        let shape = Shape::new(rows, cols, batch);
        let x = signal(shape.len(), 9);
        let array = Array::from_vec(shape, x.clone())?;
        for inverse in [false, true] {
            let want = plane_truth(shape, &x, inverse);
            let found = if inverse { ifft2(ctx, &array)? } else { fft2(ctx, &array)? };
            let found: Vec<C64> = found.to_host(ctx)?.as_slice().iter().copied().map(wide).collect();
            let size = rows * cols;
            for (got, want) in found.chunks(size).zip(want.chunks(size)) {
                judge(got, want, size, EPS)?;
            }
        }
    }
    Ok(())
}

fn laws(ctx: &Context) -> Checked {
    for n in [16, 60, 97, 720, 1009, 4096, 5000, 10_007] {
        let (x, y) = (signal(n, 21), signal(n, 22));
        let (a, b) = (C32::new(0.75, -1.5), C32::new(-2.0, 0.25));
        let mixed: Vec<C32> = x.iter().zip(&y).map(|(x, y)| a * x + b * y).collect();
        let shift = n / 3 + 1;
        let mut shifted = x.clone();
        shifted.rotate_right(shift);
        let all = [x.clone(), y, mixed, shifted].concat();
        let found = fft(ctx, &lines(n, all)?, Axis::Rows)?.to_host(ctx)?;
        let found: Vec<Vec<C64>> = widened(found.as_slice(), n).collect();
        let squares = |x: &[C64]| x.iter().map(|z| z.norm_sqr()).sum::<f64>();
        let own: Vec<C64> = x.iter().copied().map(wide).collect();
        // The relative error of the norm is at most the allowed relative error of the transform, and that of
        // its square is at most twice that.
        let (energy, of_spectrum) = (squares(&own), squares(&found[0]) / n as f64);
        let allowed = 8.0 * EPS * (n as f64).log2();
        assert!((energy / of_spectrum - 1.0).abs() <= allowed, "n = {n}: {energy} and {of_spectrum}");
        let sum: Vec<C64> = found[0].iter().zip(&found[1]).map(|(x, y)| wide(a) * x + wide(b) * y).collect();
        // The bound is doubled because the linear combination was rounded too.
        judge(&found[2], &sum, n, 2.0 * EPS)?;
        let turned = |(k, z): (usize, &C64)| z * C64::from_polar(1.0, -TAU * (k * shift % n) as f64 / n as f64);
        let turned: Vec<C64> = found[0].iter().enumerate().map(turned).collect();
        judge(&found[3], &turned, n, 2.0 * EPS)?;
    }
    Ok(())
}

fn not_finite(ctx: &Context) -> Checked {
    for n in sample(ctx, [1, 2, 12, 17, 64, 130, 1009, 1024, 4100, 8192]) {
        let count = 7;
        let clean = signal(n * count, 31);
        let bad = [(1, f32::NAN), (3, f32::INFINITY), (6, f32::NEG_INFINITY)];
        let mut spoiled = clean.clone();
        bad.iter().for_each(|&(line, x)| spoiled[line * n + n / 2].re = x);
        let (clean, spoiled) = (lines(n, clean)?, lines(n, spoiled)?);
        for of in [fft::<f32>, ifft::<f32>] {
            let want = of(ctx, &clean, Axis::Rows)?.to_host(ctx)?;
            let found = of(ctx, &spoiled, Axis::Rows)?.to_host(ctx)?;
            for (line, (found, want)) in found.as_slice().chunks(n).zip(want.as_slice().chunks(n)).enumerate() {
                if bad.iter().any(|&(bad, _)| bad == line) {
                    assert!(found.iter().all(|z| !z.is_finite()), "n = {n}, line {line}");
                } else {
                    assert_eq!(bits(found), bits(want), "n = {n}, line {line}");
                }
            }
        }
    }
    Ok(())
}

fn bits(x: &[C32]) -> Vec<[u32; 2]> {
    x.iter().map(|z| [z.re.to_bits(), z.im.to_bits()]).collect()
}

/// A sum of numbers that are in f32's range may exceed this range.
fn overflow(ctx: &Context) -> Checked {
    for n in [8, 1000] {
        let x = vec![C32::new(3e38, 0.0); n];
        let found = fft(ctx, &lines(n, x)?, Axis::Rows)?.to_host(ctx)?;
        assert!(!found.as_slice()[0].is_finite(), "n = {n}: {}", found.as_slice()[0]);
        // Far inside the range of f32, scaling by a power of two is exact, so the results have the same bits up
        // to the scale.
        let x = signal(n, 5);
        let scaled: Vec<C32> = x.iter().map(|z| z * 2.0_f32.powi(60)).collect();
        let one = fft(ctx, &lines(n, x)?, Axis::Rows)?.to_host(ctx)?;
        let other = fft(ctx, &lines(n, scaled)?, Axis::Rows)?.to_host(ctx)?;
        assert!(one.as_slice().iter().zip(other.as_slice()).all(|(a, b)| a * 2.0_f32.powi(60) == *b), "n = {n}");
    }
    Ok(())
}

fn edges_of_the_domain(ctx: &Context) -> Checked {
    for (shape, axis) in [
        (Shape::new(5, 3, 0), Axis::Rows),
        (Shape::new(5, 0, 3), Axis::Rows),
        (Shape::new(0, 5, 2), Axis::Cols),
        (Shape::new(0, 0, 4), Axis::Batch),
    ] {
        let empty = Array::<C32>::from_vec(shape, vec![])?;
        assert_eq!(fft(ctx, &empty, axis)?.to_host(ctx)?.shape(), shape);
        assert_eq!(ifft(ctx, &empty, axis)?.to_host(ctx)?.as_slice().len(), 0);
        rfft(ctx, &Array::<f32>::from_vec(shape, vec![])?, axis)?.to_host(ctx)?;
    }
    assert_eq!(fft2(ctx, &Array::<C32>::from_vec(Shape::new(2, 3, 0), vec![])?)?.shape(), Shape::new(2, 3, 0));
    let shape_error = |error: fiedler::Error, words: &str| {
        assert!(matches!(error.kind(), ErrorKind::Shape { .. }) && error.to_string().contains(words), "{error}");
    };
    let none = Array::<C32>::from_vec(Shape::new(0, 3, 2), vec![])?;
    shape_error(fft(ctx, &none, Axis::Rows).map(drop).expect_err("no elements"), "at least one");
    shape_error(fft2(ctx, &none).map(drop).expect_err("no elements"), "at least one");
    let half = lines(5, signal(10, 1))?;
    shape_error(irfft(ctx, &half, 10, Axis::Rows).map(drop).expect_err("six are wanted"), "6 elements");
    shape_error(irfft(ctx, &half, 0, Axis::Rows).map(drop).expect_err("nothing"), "at least one");
    assert_eq!(irfft(ctx, &half, 8, Axis::Rows)?.shape(), Shape::new(8, 2, 1));
    assert_eq!(irfft(ctx, &half, 9, Axis::Rows)?.shape(), Shape::new(9, 2, 1));
    Ok(())
}

fn cuts(ctx: &Context) -> Checked {
    for (shape, axis, n) in [
        (Shape::new(1000, 100, 1), Axis::Rows, 1000),
        (Shape::new(1009, 100, 1), Axis::Rows, 1009),
        (Shape::new(6000, 16, 1), Axis::Rows, 6000),
        (Shape::new(30, 96, 40), Axis::Cols, 96),
        (Shape::new(50, 20, 100), Axis::Batch, 100),
    ] {
        let (complex, real) =
            (Array::from_vec(shape, signal(shape.len(), 41))?, Array::from_vec(shape, reals(shape.len(), 42))?);
        let all = |ctx: &Context| {
            let half = rfft(ctx, &real, axis)?;
            let back = irfft(ctx, &half, n, axis)?.to_host(ctx)?;
            Ok::<_, fiedler::Error>((
                bits(fft(ctx, &complex, axis)?.to_host(ctx)?.as_slice()),
                bits(half.to_host(ctx)?.as_slice()),
                back.as_slice().iter().map(|x| x.to_bits()).collect::<Vec<u32>>(),
            ))
        };
        let whole = all(ctx)?;
        assert!(all(ctx)? == whole, "{shape}: twice");
        let small = alike(ctx).memory_budget(768 << 10).build()?;
        let cut = all(&small).map_err(|e| format!("{shape} in little memory: {e}"))?;
        assert!(cut == whole, "{shape} along {axis:?}: in batches");
        assert!(small.pool().peak <= 768 << 10, "{:?}", small.pool());
        // Sixteen lines have the same bits as in a batch. On the CPU, fewer may be transformed in another way.
        if axis == Axis::Rows {
            let last = (shape.cols - 16) * n..;
            let own = complex.to_host(ctx)?.as_slice()[last.clone()].to_vec();
            let alone = fft(ctx, &lines(n, own)?, axis)?.to_host(ctx)?;
            assert!(bits(alone.as_slice()) == whole.0[last], "{shape}: sixteen lines by themselves");
        }
    }
    Ok(())
}

fn resident(ctx: &Context) -> Checked {
    let (n, x) = (48, signal(48 * 5, 51));
    let array = lines(n, x.clone())?;
    let there = fft(ctx, &array.to_device(ctx)?, Axis::Rows)?;
    assert!(there.is_resident());
    let want = fft(ctx, &array, Axis::Rows)?;
    assert_eq!(bits(there.to_host(ctx)?.as_slice()), bits(want.to_host(ctx)?.as_slice()));
    assert!(ifft(ctx, &there, Axis::Rows)?.is_resident());
    // f64 is never narrowed silently.
    let wide = lines(4, vec![C64::new(1.0, 0.0); 8])?;
    let error = fft(ctx, &wide, Axis::Rows).map(drop).expect_err("f64 on the device");
    assert!(matches!(error.kind(), ErrorKind::Domain { .. }) && error.to_string().contains("f64"), "{error}");
    let auto = ctx.with_backend(Backend::Auto);
    assert_eq!(fft(&auto, &wide, Axis::Rows)?.to_host(&auto)?.as_slice()[0], C64::new(4.0, 0.0));
    assert_eq!(choose_fft::<f64>(&auto, wide.shape(), Axis::Rows, false).side, Side::Cpu);
    assert_eq!(choose_fft::<f32>(ctx, array.shape(), Axis::Rows, false).side, Side::Gpu);
    // Lengths that are too large for the kernels: both the plan and the call report an error.
    let long = (1 << 24) + 2;
    assert!(FftPlan::new(long).is_err());
    let zeros = lines(long, vec![C32::new(0.0, 0.0); long])?;
    let error = fft(ctx, &zeros, Axis::Rows).map(drop).expect_err("beyond the kernels");
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    Ok(())
}
