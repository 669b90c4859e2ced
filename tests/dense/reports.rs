//! Matrices of the kinds on which other libraries were reported to fail: wrong or missing vectors, no convergence, NaN.

use common::families::{Case, glued_wilkinson};
use common::random::SplitMix64;
use common::rectangles::{Rectangle, check, with_values};
use common::solve::{Checked, judge, solve};
use common::{Test, on_cpu, on_each, suite};
use fiedler::array::Array;
use fiedler::ops::Status;
use fiedler::ops::eigen::eigh;
use fiedler::ops::svd::{Vectors, svd};
use fiedler::{Context, Shape};

pub fn tests() -> Vec<Test> {
    suite(
        "reports",
        vec![
            on_each("symmetric matrices", symmetric),
            on_each("singular values", rectangles),
            on_cpu("large matrices", large),
            on_each("infinities", infinities),
        ],
    )
}

fn case(name: &str, n: usize, entry: impl Fn(usize, usize) -> f64) -> Case {
    let a = (0..n * n).map(|e| f64::from(entry(e % n, e / n) as f32)).collect();
    Case { name: name.to_owned(), n, a }
}

/// Zero-one blocks of 4, with every fourth row and column zero.
fn zero_one(i: usize, j: usize) -> f64 {
    let live = i % 4 != 3 && j % 4 != 3;
    f64::from(u8::from(live && i / 4 == j / 4))
}

fn symmetric(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(44);
    let logs: Vec<f64> = (0..30 * 30).map(|_| 10.0_f64.powf(-12.0 * random.unit())).collect();
    let repeated = [2.0, 2.0, 2.0, -1.0, -1.0, 0.0, 5.0];
    let cases = [
        case("zero-one blocks with zero rows", 33, zero_one),
        // The matrix of a 4 x 6 grid with -4 on the diagonal and an incidence of its edges.
        case("a grid with -4", 24, |i, j| match (i.abs_diff(j), i.max(j) % 6) {
            (0, _) => -4.0,
            (1, column) if column != 0 => 1.0,
            (6, _) => 1.0,
            _ => 0.0,
        }),
        case("blocks of repeated values", 28, |i, j| match (i == j, i / 4 == j / 4) {
            (true, _) => repeated[i / 4] + 1.0,
            (false, true) => 1.0,
            _ => 0.0,
        }),
        case("hollow, from 1e-12 to 1", 30, |i, j| if i == j { 0.0 } else { logs[i.max(j) * 30 + i.min(j)] }),
        glued_wilkinson(5, 4, 1e-8),
    ];
    println!("{:?}", judge(&cases, &solve::<f32>(ctx, &cases)?, |_| None)?);
    if ctx.adapter().is_none() {
        judge(&cases, &solve::<f64>(ctx, &cases)?, |_| None)?;
    }
    Ok(())
}

fn rectangles(ctx: &Context) -> Checked {
    let of = |name: &str, m: usize, n: usize, entry: &dyn Fn(usize, usize) -> f64| {
        Rectangle::new(name, m, n, (0..m * n).map(|e| entry(e % m, e / m)).collect())
    };
    let mut random = SplitMix64::new(45);
    let one = with_values(40, 40, &[&[1e-8][..], &[0.0; 39]].concat(), &mut random);
    for cases in [
        vec![of("zero-one blocks with zero rows", 33, 33, &zero_one)],
        vec![of("opposite rows", 2, 6, &|i, j| (1.0 + j as f64) * if i == 0 { 1.0 } else { -1.0 })],
        vec![Rectangle::new("rank one of 1e-8", 40, 40, one)],
    ] {
        check::<f32>(ctx, &cases, Vectors::Thin)?;
        check::<f32>(ctx, &cases, Vectors::Full)?;
    }
    Ok(())
}

/// A diagonal matrix of six entries, and a matrix of rank one, both of which make most vectors arbitrary.
fn large(ctx: &Context) -> Checked {
    let six = [3.0, -2.0, 1e-3, 7.0, 1e-6, -5.0];
    let cases = [case("diagonal of six entries", 512, |i, j| if i == j && i % 90 == 0 { six[i / 90] } else { 0.0 })];
    judge(&cases, &solve::<f32>(ctx, &cases)?, |_| None)?;
    let n = 1000;
    let a: Vec<f32> = (0..n * n).map(|e| 1e-8 * (1.0 + (e % n % 7) as f32) * (1.0 + (e / n % 5) as f32)).collect();
    let length = |period: usize| (0..n).map(|i| (1.0 + (i % period) as f64).powi(2)).sum::<f64>().sqrt();
    let want = 1e-8 * length(7) * length(5);
    let found = svd(ctx, &Array::from_vec(Shape::new(n, n, 1), a)?, Vectors::Thin)?;
    assert_eq!(found.certificates(ctx)?[0].status, Status::Converged);
    let s = found.s.to_host(ctx)?;
    let eps = f64::from(f32::EPSILON);
    // Twice LAPACK's bound for the values, and the rounding of the elements.
    let allowed = 2.0 * n as f64 / 3.0 * eps * want;
    assert!((f64::from(s.as_slice()[0]) - want).abs() <= allowed, "{:e} for {want:e}", s.as_slice()[0]);
    assert!(f64::from(s.as_slice()[1]) <= allowed, "{:e} for 0", s.as_slice()[1]);
    Ok(())
}

/// An infinity gives a status, for the matrix that has it.
fn infinities(ctx: &Context) -> Checked {
    for n in [2, 5, 24] {
        let mut a = vec![0.0_f32; 2 * n * n];
        (0..n).for_each(|i| a[i * n + i] = 1.0 + i as f32);
        a.copy_within(..n * n, n * n);
        a[n * n + n - 1] = f32::INFINITY;
        let a = Array::from_vec(Shape::new(n, n, 2), a)?;
        let want = [Status::Converged, Status::NonFinite];
        assert_eq!(eigh(ctx, &a)?.certificates(ctx)?.iter().map(|c| c.status).collect::<Vec<_>>(), want);
        assert_eq!(svd(ctx, &a, Vectors::Thin)?.certificates(ctx)?.iter().map(|c| c.status).collect::<Vec<_>>(), want);
    }
    Ok(())
}
