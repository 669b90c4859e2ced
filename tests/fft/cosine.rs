//! Cosine and sine transforms against the sums that define them, on all axes and of all types.

use common::fourier::reals;
use common::random::SplitMix64;
use common::solve::Checked;
use common::{Test, on_cpu, on_gpus, suite};
use fiedler::array::{Array, Real};
use fiedler::ops::fft::{CosineOptions, CosineType, dct, dst};
use fiedler::{Axis, Context, ErrorKind, Shape};
use std::f64::consts::TAU;

const TYPES: [CosineType; 4] = [CosineType::One, CosineType::Two, CosineType::Three, CosineType::Four];

pub fn tests() -> Vec<Test> {
    suite(
        "cosine",
        vec![
            on_cpu("every length to 130 in f32", |ctx| every_length::<f32>(ctx, 1)),
            on_cpu("every length to 130 in f64", |ctx| every_length::<f64>(ctx, 1)),
            on_cpu("every length to 130 in f64, many lines", |ctx| every_length::<f64>(ctx, 33)),
            on_cpu("every length to 130 in f32, many lines", |ctx| every_length::<f32>(ctx, 33)),
            on_cpu("long lines", long),
            on_cpu("axes", axes),
            on_cpu("orthogonal matrices", orthogonal),
            on_cpu("what is refused", refused),
            on_gpus("the device has no kernels", no_kernels),
        ],
    )
}

/// Returns the factor of element j in result k. The angle is an exact fraction of a turn.
fn factor(sine: bool, kind: CosineType, n: usize, [j, k]: [usize; 2]) -> f64 {
    let shift = usize::from(sine);
    let (turns, period) = match kind {
        CosineType::One if sine => ((j + 1) * (k + 1), 2 * (n + 1)),
        CosineType::One => (j * k, 2 * (n - 1)),
        CosineType::Two => ((2 * j + 1) * (k + shift), 4 * n),
        CosineType::Three => ((j + shift) * (2 * k + 1), 4 * n),
        CosineType::Four => ((2 * j + 1) * (2 * k + 1), 8 * n),
    };
    let single = match kind {
        CosineType::One => !sine && (j == 0 || j == n - 1),
        CosineType::Three => j == if sine { n - 1 } else { 0 },
        CosineType::Two | CosineType::Four => false,
    };
    let angle = TAU * (turns % period) as f64 / period as f64;
    let value = if sine { angle.sin() } else { angle.cos() };
    if single { value } else { 2.0 * value }
}

fn sums(sine: bool, kind: CosineType, line: &[f64]) -> Vec<f64> {
    let n = line.len();
    (0..n).map(|k| line.iter().enumerate().map(|(j, x)| x * factor(sine, kind, n, [j, k])).sum()).collect()
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

fn each<T: Real>(ctx: &Context, n: usize, count: usize) -> Result<f64, Box<dyn std::error::Error>> {
    let mut worst = 0.0_f64;
    for (sine, kind) in TYPES.into_iter().flat_map(|kind| [(false, kind), (true, kind)]) {
        if n < 2 && kind == CosineType::One && !sine {
            continue;
        }
        let x: Vec<T> = reals(n * count, n as u64).into_iter().map(|x| T::from_f64(x.into())).collect();
        let found = by(ctx, sine, &Array::from_vec(Shape::new(n, count, 1), x.clone())?, kind, Axis::Rows)?;
        let found = found.to_host(ctx)?;
        for (line, (x, found)) in x.chunks(n).zip(found.as_slice().chunks(n)).enumerate() {
            let share = away(&T::all_to_f64(found), &sums(sine, kind, &T::all_to_f64(x))) / allowed::<T>(n);
            if share.is_nan() || share > 1.0 {
                return Err(format!("{kind:?}, sine {sine}, n = {n}, line {line}: {share} of what is allowed").into());
            }
            worst = worst.max(share);
        }
    }
    Ok(worst)
}

fn every_length<T: Real>(ctx: &Context, count: usize) -> Checked {
    let mut worst = 0.0_f64;
    for n in 1..=130 {
        worst = worst.max(each::<T>(ctx, n, count)?);
    }
    println!("at worst {worst:.3} of what is allowed");
    Ok(())
}

fn long(ctx: &Context) -> Checked {
    for n in [1000, 1009, 2048, 2187, 3001] {
        let found = [each::<f32>(ctx, n, 2)?, each::<f64>(ctx, n, 2)?];
        println!("n = {n}: {found:.3?} of what is allowed");
    }
    Ok(())
}

/// Transforms along any axis are those of the lines.
fn axes(ctx: &Context) -> Checked {
    let (rows, cols, batch) = (5, 6, 4);
    let mut random = SplitMix64::new(3);
    let x: Vec<f64> = (0..rows * cols * batch).map(|_| random.normal()).collect();
    let a = Array::from_vec(Shape::new(rows, cols, batch), x.clone())?;
    for (axis, n, step) in [(Axis::Rows, rows, 1), (Axis::Cols, cols, rows), (Axis::Batch, batch, rows * cols)] {
        for (sine, kind) in TYPES.into_iter().flat_map(|kind| [(false, kind), (true, kind)]) {
            let found = by(ctx, sine, &a, kind, axis)?.to_host(ctx)?;
            let starts = (0..x.len()).filter(|i| i / step % n == 0);
            for start in starts {
                let line = |of: &[f64]| (0..n).map(|i| of[start + i * step]).collect::<Vec<f64>>();
                let share = away(&line(found.as_slice()), &sums(sine, kind, &line(&x))) / allowed::<f64>(n);
                assert!(share <= 1.0, "{axis:?}, {kind:?}, sine {sine}, from {start}: {share}");
            }
        }
    }
    let empty = Array::from_vec(Shape::new(3, 0, 2), Vec::<f32>::new())?;
    assert_eq!(by(ctx, true, &empty, CosineType::Two, Axis::Rows)?.shape(), Shape::new(3, 0, 2));
    Ok(())
}

/// With the factor of its type, the matrix of an orthogonal transform has orthonormal rows.
fn orthogonal(ctx: &Context) -> Checked {
    for n in [2, 3, 8, 15] {
        let one: Vec<f64> = (0..n * n).map(|i| f64::from(u8::from(i % (n + 1) == 0))).collect();
        let one = Array::from_vec(Shape::new(n, n, 1), one)?;
        for (sine, kind) in TYPES.into_iter().flat_map(|kind| [(false, kind), (true, kind)]) {
            let period = match (kind, sine) {
                (CosineType::One, true) => 2 * (n + 1),
                (CosineType::One, false) => 2 * (n - 1),
                _ => 2 * n,
            };
            let options = CosineOptions::default().scale(1.0 / (period as f64).sqrt()).orthogonal(true);
            let of = if sine { dst } else { dct };
            let q = of(ctx, &one, kind, options, Axis::Rows)?.to_host(ctx)?;
            let column = |i: usize| &q.as_slice()[i * n..(i + 1) * n];
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let dot: f64 = column(i).iter().zip(column(j)).map(|(x, y)| x * y).sum();
                let away = (dot - f64::from(u8::from(i == j))).abs();
                assert!(away < 1e-14, "{kind:?}, sine {sine}, n = {n}: {away:e} at {i}, {j}");
            }
        }
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

fn no_kernels(ctx: &Context) -> Checked {
    let a = Array::from_vec(Shape::new(4, 3, 1), vec![1.0_f32; 12])?;
    let found = dct(ctx, &a, CosineType::Two, CosineOptions::default(), Axis::Rows);
    assert!(matches!(found.expect_err("refused").kind(), ErrorKind::Domain { .. }));
    Ok(())
}
