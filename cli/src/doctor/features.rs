//! Tests of transforms, products, statistics, random numbers and divergences.

use super::{EPS, Measured, Trial, apart, larger, narrow, real, wide};
use fiedler::Context;
use fiedler::Result;
use fiedler::array::Array;
use fiedler::ops::divergence::{Divergence, DivergenceOptions, divergence, divergence_matrix};
use fiedler::ops::random::{Stream, normal, uniform, words};
use fiedler::ops::stats::{Nan, StatsOptions};
use fiedler::ops::{self};
use fiedler::policy::Backend;
use fiedler::{Axis, Shape};
use half::f16;
use num_complex::Complex;
use std::f64::consts::{LN_2, PI};

pub(super) fn trials() -> Vec<Trial> {
    // The lengths are a product of the radices, a power of two, a length that needs Bluestein's algorithm, and a length
    // that needs two passes.
    let fft = [60, 1024, 202, 8192]
        .into_iter()
        .map(|n| Trial::new("fft", format!("{n}-point chirp, forward and inverse"), move |ctx| chirp(ctx, n)));
    // The cases are a small product, a product with partial tiles at the edges, and a product whose sums are split
    // along k.
    let products = [(12, 9, 10, 5), (96, 80, 70, 1), (24, 24, 4000, 1)].into_iter().map(|(m, n, k, batch)| {
        Trial::new("matmul", format!("{m} x {k} by {k} x {n}, whole numbers"), move |ctx| product(ctx, m, n, k, batch))
    });
    fft.chain(products)
        .chain([
            Trial::new("matmul", "70 x 25 by 25 x 40 in f16", halves),
            Trial::new("stats", "moments of 1001, ..., 6000", moments),
            Trial::new("stats", "quantiles of 1001 whole numbers", quantiles),
            Trial::new("cov", "a ramp and two waves, 3000 rows", covariance),
            Trial::new("random", "known words; values match bit for bit", random),
            Trial::new("divergence", "Kullback-Leibler, a pair and 20 x 20", divergences),
        ])
        .collect()
}

/// Checks the transform of a chirp of length n, and the inverse transform of the result. Entry j of the chirp is
/// `exp(i pi j^2 / n)`. For even n, entry k of the transform is the Gauss sum
/// `sqrt(n) exp(i pi / 4) exp(-i pi k^2 / n)`. Because each stage of the transform rounds, an entry may have an error
/// of up to 8 log2(n) eps, relative to the magnitude that all entries share.
fn chirp(ctx: &Context, n: usize) -> Result<Measured> {
    let phase = |j: usize| PI * real(j * j % (2 * n)) / real(n);
    let x: Vec<Complex<f32>> = (0..n).map(|j| Complex::new(narrow(phase(j).cos()), narrow(phase(j).sin()))).collect();
    let a = Array::from_vec(Shape::new(n, 1, 1), x.clone())?;
    let there = ops::fft(ctx, &a, Axis::Rows)?;
    let back = ops::ifft(ctx, &there, Axis::Rows)?.to_host(ctx)?;
    let size = real(n).sqrt();
    let distance = |z: Complex<f32>, w: Complex<f64>| (Complex::new(f64::from(z.re), f64::from(z.im)) - w).norm();
    let mut worst = 0.0;
    for (k, &z) in there.to_host(ctx)?.as_slice().iter().enumerate() {
        worst = larger(worst, distance(z, Complex::from_polar(size, PI / 4.0 - phase(k))) / size);
    }
    for (&z, &w) in back.as_slice().iter().zip(&x) {
        worst = larger(worst, distance(z, Complex::new(w.re.into(), w.im.into())));
    }
    Ok(Measured { found: worst, allowed: 8.0 * real(n).log2() * EPS })
}

/// Returns a whole number from -5 to 5 for entry (i, j).
#[expect(clippy::cast_precision_loss, reason = "from 0 to 10")]
fn whole(i: usize, j: usize) -> f32 {
    ((7 * i + 3 * j + i * j) % 11) as f32 - 5.0
}

/// Returns the entries of the product of an m x k and a k x n matrix, computed in f64.
fn truth(a: &[f32], b: &[f32], m: usize, n: usize, k: usize) -> impl Iterator<Item = f64> {
    let entry =
        move |at: usize| (0..k).map(|l| f64::from(a[at % m + m * l]) * f64::from(b[l + k * (at / m)])).sum::<f64>();
    (0..m * n).map(entry).collect::<Vec<f64>>().into_iter()
}

/// Checks products of matrices of whole numbers. Sums below 2^24 are exact in f32 in any order of summation.
fn product(ctx: &Context, m: usize, n: usize, k: usize, batch: usize) -> Result<Measured> {
    let a: Vec<f32> = (0..m * k * batch).map(|at| whole(at % m, at / m)).collect();
    let b: Vec<f32> = (0..k * n * batch).map(|at| whole(at % k, at / k + 1)).collect();
    let truth = (0..batch).flat_map(|i| truth(&a[i * m * k..(i + 1) * m * k], &b[i * k * n..(i + 1) * k * n], m, n, k));
    let truth: Vec<f64> = truth.collect();
    let (a, b) = (Array::from_vec(Shape::new(m, k, batch), a)?, Array::from_vec(Shape::new(k, n, batch), b)?);
    let found = ops::matmul(ctx, &a, &b)?.to_host(ctx)?;
    Ok(Measured { found: apart(wide(found.as_slice()), truth), allowed: 0.0 })
}

/// Checks an f16 product. Each sum has 25 terms of at most 25 and therefore stays below 2048. All whole numbers up to
/// 2048 are exact in f16.
fn halves(ctx: &Context) -> Result<Measured> {
    let (m, n, k) = (70, 40, 25);
    let a: Vec<f32> = (0..m * k).map(|at| whole(at % m, at / m)).collect();
    let b: Vec<f32> = (0..k * n).map(|at| whole(at % k, at / k)).collect();
    let half = |data: &[f32]| data.iter().map(|&x| f16::from_f32(x)).collect::<Vec<_>>();
    let x = Array::from_vec(Shape::new(m, k, 1), half(&a))?;
    let y = Array::from_vec(Shape::new(k, n, 1), half(&b))?;
    let found = ops::matmul(ctx, &x, &y)?.to_host(ctx)?;
    Ok(Measured { found: apart(found.as_slice().iter().map(|x| f64::from(*x)), truth(&a, &b, m, n, k)), allowed: 0.0 })
}

/// Checks the moments of 5000 consecutive whole numbers, which do not fit in one leaf of the summation tree. The
/// variance of n consecutive numbers is n (n + 1) / 12. A value near the mean is subtracted before summing, so each
/// result has only a few rounding errors.
fn moments(ctx: &Context) -> Result<Measured> {
    let n = 5000;
    let x: Vec<f32> = (0..n).map(|i| narrow(real(1001 + i))).collect();
    let found = ops::describe(ctx, &Array::from_vec(Shape::new(n, 1, 1), x)?, Axis::Rows, StatsOptions::default())?;
    let first =
        |a: &Array<f32>| Ok::<f64, fiedler::Error>(a.to_host(ctx)?.as_slice().first().map_or(f64::NAN, |&x| x.into()));
    let mut worst = 0.0;
    let known = [
        (first(&found.mean)?, 1001.0 + real(n - 1) / 2.0),
        (first(&found.variance)?, real(n) * real(n + 1) / 12.0),
        (first(&found.min)?, 1001.0),
        (first(&found.max)?, 6000.0),
    ];
    for (x, truth) in known {
        worst = larger(worst, (x - truth).abs() / truth);
    }
    // For consecutive numbers the excess kurtosis is -6 (n^2 + 1) / (5 (n^2 - 1)) and the skewness is 0. Both results
    // come from sums of thousands of rounded terms, so their errors are measured as absolute, not relative, errors.
    worst = larger(worst, first(&found.skewness)?.abs());
    let square = real(n) * real(n);
    worst = larger(worst, (first(&found.kurtosis)? + 1.2 * (square + 1.0) / (square - 1.0)).abs());
    Ok(Measured { found: worst, allowed: 32.0 * EPS })
}

/// Checks quantiles of permuted whole numbers. At the chosen probabilities, each quantile equals one of the numbers.
fn quantiles(ctx: &Context) -> Result<Measured> {
    let n = 1001;
    // Because 10 and 1001 are coprime, `10 * i % n` is a permutation.
    let x: Vec<f32> = (0..n).map(|i| narrow(real(10 * i % n) - 300.0)).collect();
    let found = ops::quantiles(
        ctx,
        &Array::from_vec(Shape::new(n, 1, 1), x)?,
        Axis::Rows,
        &[0.0, 0.25, 0.5, 1.0],
        Nan::Propagate,
    )?;
    Ok(Measured { found: apart(wide(found.to_host(ctx)?.as_slice()), [-300.0, -50.0, 200.0, 700.0]), allowed: 0.0 })
}

/// Checks a covariance matrix against a two-pass computation in f64. Both matrices are divided by the standard
/// deviations, so their entries are at most 1. Products are summed in leaves of a thousand rows.
fn covariance(ctx: &Context) -> Result<Measured> {
    let (n, cols) = (3000, 3);
    let column = |i: usize, j: usize| match j {
        0 => 1e3 + real(i) / 100.0,
        1 => (real(i) / 7.0).sin() - real(i) / 300.0,
        _ => (real(i) / 11.0).cos(),
    };
    let x: Vec<f32> = (0..n * cols).map(|at| narrow(column(at % n, at / n))).collect();
    let centered: Vec<Vec<f64>> = x
        .chunks_exact(n)
        .map(|column| {
            let mean = wide(column).sum::<f64>() / real(n);
            wide(column).map(|x| x - mean).collect()
        })
        .collect();
    let dot = |i: usize, j: usize| centered[i].iter().zip(&centered[j]).map(|(x, y)| x * y).sum::<f64>() / real(n - 1);
    let scale = |at: usize| (dot(at % cols, at % cols) * dot(at / cols, at / cols)).sqrt();
    let found = ops::cov(ctx, &Array::from_vec(Shape::new(n, cols, 1), x)?)?.to_host(ctx)?;
    let found = wide(found.as_slice()).enumerate().map(|(at, x)| x / scale(at));
    let truth = (0..cols * cols).map(|at| dot(at % cols, at / cols) / scale(at));
    Ok(Measured { found: apart(found.collect::<Vec<_>>(), truth), allowed: 64.0 * EPS })
}

/// Counts the words that differ from the known first words of the stream (recorded 2026-11-22), plus the values whose
/// bits differ from those of the CPU.
fn random(ctx: &Context) -> Result<Measured> {
    const WORDS: [u32; 4] = [0x9c10_af9d, 0x156b_e974, 0x9f39_be48, 0x3b87_14a4];
    let (shape, stream) = (Shape::new(1000, 1, 1), Stream::new(1, "doctor"));
    let cpu = ctx.with_backend(Backend::Cpu);
    let drawn = words(ctx, &mut stream.clone(), shape)?.to_host(ctx)?;
    let mut wrong = WORDS.iter().zip(drawn.as_slice()).filter(|(known, drawn)| known != drawn).count();
    let bits = |ctx: &Context| -> Result<Vec<u32>> {
        let even = uniform::<f32>(ctx, &mut stream.clone(), shape, 0.0..1.0)?.to_host(ctx)?;
        let bell = normal::<f32>(ctx, &mut stream.clone(), shape, 0.0, 1.0)?.to_host(ctx)?;
        Ok(even.as_slice().iter().chain(bell.as_slice()).map(|x| x.to_bits()).collect())
    };
    wrong += bits(ctx)?.iter().zip(bits(&cpu)?).filter(|(a, b)| **a != *b).count();
    Ok(Measured { found: real(wrong), allowed: 0.0 })
}

/// Checks the divergence of p = (1/2, 1/4, 1/8, 1/8) from q = (1/4, 1/4, 1/4, 1/4), where each of the four
/// probabilities is spread over 300 bins. The divergence is log 2 / 4. The promised bound on its relative error is
/// (40 + bins / 512) 2^-23.
fn divergences(ctx: &Context) -> Result<Measured> {
    let (spread, bins) = (300, 1200);
    let over = |shares: [f64; 4]| -> Vec<f32> { (0..bins).map(|i| narrow(shares[i / spread])).collect() };
    let (p, q) = (over([0.5, 0.25, 0.125, 0.125]), over([0.25; 4]));
    let options = DivergenceOptions { normalize: true, ..DivergenceOptions::default() };
    let shape = Shape::new(bins, 1, 1);
    let kind = Divergence::KullbackLeibler;
    let one =
        divergence(ctx, kind, &Array::from_vec(shape, p.clone())?, &Array::from_vec(shape, q.clone())?, &options)?;
    let mut worst = apart(wide(one.to_host(ctx)?.as_slice()), [LN_2 / 4.0]);
    // The twenty histograms alternate between p and q, so the entries of the matrix are D(p, q), D(q, p) and 0. D(q, p)
    // is log 2 / 2 - log 2 / 4, which equals D(p, q).
    let all: Vec<f32> = (0..20).flat_map(|i| if i % 2 == 0 { p.clone() } else { q.clone() }).collect();
    let matrix = divergence_matrix(ctx, kind, &Array::from_vec(Shape::new(bins, 20, 1), all)?, &options)?;
    let truth = (0..400).map(|at| if (at % 20 + at / 20) % 2 == 0 { 0.0 } else { LN_2 / 4.0 });
    worst = larger(worst, apart(wide(matrix.to_host(ctx)?.as_slice()), truth));
    // Normalizing rounds q once more, which adds 2^-22 sqrt(2 D) to the error bound.
    let divergence = LN_2 / 4.0;
    let allowed = (40.0 + real(bins) / 512.0) * EPS * divergence + 2.0 * EPS * (2.0 * divergence).sqrt();
    Ok(Measured { found: worst, allowed })
}
