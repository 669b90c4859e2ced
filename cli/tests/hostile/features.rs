//! Transforms, statistics, random numbers, divergences, and columns of series.

use super::problems::{Problem, noise, wide};
use common::samples::singular_values;
use fiedler::array::Array;
use fiedler::features::Representation;
use fiedler::forms::{FftForm, KernelForm};
use fiedler::ops::divergence::{Divergence, DivergenceOptions, divergence, divergence_matrix, divergence_of_samples};
use fiedler::ops::fft::{Window, power_spectrum};
use fiedler::ops::pca::{PcaOptions, pca};
use fiedler::ops::random::{Stream, bernoulli, normal, uniform, words};
use fiedler::ops::series::{Program, SampleShape};
use fiedler::ops::stats::{Nan, RunningCovariance, RunningStats, StatsOptions};
use fiedler::ops::{self, roofline};
use fiedler::{Axis, Context, Result, Shape};
use num_complex::Complex;

pub(super) fn problems() -> Vec<Problem> {
    transforms().into_iter().chain(statistics()).chain(series()).chain(others()).collect()
}

fn parts(data: &[Complex<f32>]) -> Vec<f64> {
    data.iter().flat_map(|z| [z.re.into(), z.im.into()]).collect()
}

fn complex(count: usize, seed: usize) -> Vec<Complex<f32>> {
    noise(2 * count, seed).chunks_exact(2).map(|z| Complex::new(z[0], z[1])).collect()
}

/// Lengths with each radix, with several stages, that need Bluestein's algorithm, with each radix that it has, and that
/// need two passes.
const LENGTHS: [usize; 30] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 20, 23, 30, 32, 41, 64, 77, 101, 128, 129, 143, 256, 512, 673, 1024,
    1009, 2048,
];

fn transforms() -> Vec<Problem> {
    let mut all = Vec::new();
    let alone =
        [FftForm::General, FftForm::Known, FftForm::Long, FftForm::Narrow].map(|form| (vec![form], &LENGTHS[..]));
    let together = (vec![FftForm::Known, FftForm::Long, FftForm::Narrow], &[4, 16, 64, 512, 673, 1024, 2048][..]);
    for (forms, lengths) in alone.into_iter().chain([together]) {
        for lengths in lengths.chunks(6) {
            let names = forms.iter().map(|form| form.name()).collect::<Vec<_>>().join(" and ");
            let name = format!("transforms of lengths {lengths:?}, {names}");
            let run = move |ctx: &Context| {
                let mut out = Vec::new();
                for &n in lengths {
                    // One line, an odd number of lines, and lines across rows. A workgroup has several short lines.
                    for (lines, axis) in [(1, Axis::Rows), (5, Axis::Rows), (6, Axis::Cols)] {
                        if n * lines > 6000 {
                            continue;
                        }
                        let shape = if axis == Axis::Rows { Shape::new(n, lines, 1) } else { Shape::new(lines, n, 1) };
                        let a = Array::from_vec(shape, complex(n * lines, n))?;
                        out.extend(parts(ops::fft(ctx, &a, axis)?.to_host(ctx)?.as_slice()));
                        out.extend(parts(ops::ifft(ctx, &a, axis)?.to_host(ctx)?.as_slice()));
                        let x = Array::from_vec(shape, noise(n * lines, n))?;
                        let half = ops::rfft(ctx, &x, axis)?;
                        out.extend(parts(half.to_host(ctx)?.as_slice()));
                        out.extend(wide(ops::irfft(ctx, &half, n, axis)?.to_host(ctx)?.as_slice()));
                    }
                }
                Ok(out)
            };
            let problem = Problem::new(name, run).allowed(2e-3);
            let problem = forms.iter().fold(problem, |problem, &form| problem.form(KernelForm::Fft(form)));
            all.push(if forms.contains(&FftForm::Narrow) { problem.software() } else { problem });
        }
    }
    for narrow in [false, true] {
        let run = |ctx: &Context| {
            let mut out = Vec::new();
            // More than 16 lines, so that a workgroup has several; a convolution, and a radix twice.
            for n in [17, 169] {
                let (lines, shape) = (33, Shape::new(n, 33, 1));
                let a = Array::from_vec(shape, complex(n * lines, n))?;
                out.extend(parts(ops::fft(ctx, &a, Axis::Rows)?.to_host(ctx)?.as_slice()));
                let half = ops::rfft(ctx, &Array::from_vec(shape, noise(n * lines, n))?, Axis::Rows)?;
                out.extend(parts(half.to_host(ctx)?.as_slice()));
                out.extend(wide(ops::irfft(ctx, &half, n, Axis::Rows)?.to_host(ctx)?.as_slice()));
            }
            Ok(out)
        };
        let name = format!("transforms of many lines{}", if narrow { ", narrow" } else { "" });
        let problem = Problem::new(name, run).allowed(2e-3);
        all.push(if narrow { problem.form(KernelForm::Fft(FftForm::Narrow)).software() } else { problem });
    }
    for n in [4096, 6000, 8192, 16_384, 10_007] {
        let run = move |ctx: &Context| {
            let mut out = Vec::new();
            for lines in [1, 2] {
                let a = Array::from_vec(Shape::new(n, lines, 1), complex(n * lines, n))?;
                out.extend(parts(ops::fft(ctx, &a, Axis::Rows)?.to_host(ctx)?.as_slice()));
            }
            let x = Array::from_vec(Shape::new(n, 1, 1), noise(n, n))?;
            let half = ops::rfft(ctx, &x, Axis::Rows)?;
            out.extend(parts(half.to_host(ctx)?.as_slice()));
            out.extend(wide(ops::irfft(ctx, &half, n, Axis::Rows)?.to_host(ctx)?.as_slice()));
            Ok(out)
        };
        all.push(Problem::new(format!("a long transform, {n}"), run).allowed(5e-3));
    }
    all.push(
        Problem::new("transforms of planes, and spectra", |ctx| {
            let mut out = Vec::new();
            let plane = Array::from_vec(Shape::new(12, 10, 3), complex(360, 1))?;
            out.extend(parts(ops::fft2(ctx, &plane)?.to_host(ctx)?.as_slice()));
            out.extend(parts(ops::ifft2(ctx, &plane)?.to_host(ctx)?.as_slice()));
            for (n, window) in
                [(1, Window::Hann), (60, Window::Rectangular), (64, Window::Hann), (101, Window::Blackman)]
            {
                for axis in [Axis::Rows, Axis::Cols] {
                    let shape = if axis == Axis::Rows { Shape::new(n, 3, 2) } else { Shape::new(3, n, 2) };
                    let spectrum = power_spectrum(ctx, &Array::from_vec(shape, noise(6 * n, n))?, window, axis)?;
                    out.extend(wide(spectrum.power.to_host(ctx)?.as_slice()));
                    let bands = spectrum.band_powers(ctx, &[0.0, 0.1, 0.3, 0.5], 1.0)?;
                    out.extend(wide(bands.to_host(ctx)?.as_slice()));
                    out.extend(wide(spectrum.spectral_centroid(ctx, 1.0)?.to_host(ctx)?.as_slice()));
                }
            }
            Ok(out)
        })
        .allowed(2e-3),
    );
    all
}

/// Returns noise with some NaNs, infinities, equal numbers and zeros.
fn odd(count: usize, seed: usize) -> Vec<f32> {
    let mut x = noise(count, seed);
    let special = [(7, f32::NAN), (11, f32::INFINITY), (12, 0.5), (13, -0.0), (17, 0.5), (19, f32::NEG_INFINITY)];
    for (step, value) in special {
        x.iter_mut().skip(step).step_by(37 * step).for_each(|x| *x = value);
    }
    x
}

fn described(ctx: &Context, found: &ops::stats::Description) -> Result<Vec<f64>> {
    let mut out = Vec::new();
    let all = [&found.mean, &found.variance, &found.min, &found.max, &found.skewness, &found.kurtosis]
        .map(|x| x.to_host(ctx));
    for values in all {
        out.extend(wide(values?.as_slice()));
    }
    out.extend(found.counts(ctx)?.iter().map(|&count| count as f64));
    Ok(out)
}

/// Shapes of columns around a leaf, which has 4,096 rows.
const SHAPES: [(usize, usize, usize); 6] = [(1, 1, 1), (3, 2, 2), (65, 3, 1), (1023, 2, 1), (4097, 1, 1), (9000, 1, 1)];

fn statistics() -> Vec<Problem> {
    let mut all = Vec::new();
    for (rows, cols, batch) in SHAPES {
        let shape = Shape::new(rows, cols, batch);
        let len = rows * cols * batch;
        all.push(Problem::new(format!("moments of {shape}"), move |ctx| {
            let mut out = Vec::new();
            // Across the rows, there are as many series as rows.
            let axes: &[Option<Axis>] = if rows > 100 {
                &[Some(Axis::Rows), None]
            } else {
                &[Some(Axis::Rows), Some(Axis::Cols), Some(Axis::Batch), None]
            };
            for &axis in axes {
                for (x, nan) in
                    [(noise(len, 1), Nan::Propagate), (odd(len, 2), Nan::Omit), (odd(len, 3), Nan::Propagate)]
                {
                    let x = Array::from_vec(shape, x)?;
                    let found = ops::describe(ctx, &x, axis, StatsOptions { nan, ..StatsOptions::default() })?;
                    out.extend(described(ctx, &found)?);
                    let q = [0.0, 0.1, 0.5, 0.77, 1.0];
                    out.extend(wide(ops::quantiles(ctx, &x, axis, &q, nan)?.to_host(ctx)?.as_slice()));
                    let counted = ops::histogram(ctx, &x, axis, 7, Some((-0.5, 0.75)))?;
                    let counts = [counted.counts, counted.below, counted.above, counted.nan].concat();
                    out.extend(counts.into_iter().map(|count| count as f64));
                }
            }
            Ok(out)
        }));
    }
    for (rows, cols) in [(1, 3), (2, 1), (40, 5), (1025, 4), (300, 17), (130, 40), (2100, 33)] {
        all.push(Problem::new(format!("covariances of {rows} x {cols}"), move |ctx| {
            let x = Array::from_vec(Shape::new(rows, cols, 1), noise(rows * cols, cols))?;
            let mut out = wide(ops::cov(ctx, &x)?.to_host(ctx)?.as_slice());
            out.extend(wide(ops::corr(ctx, &x)?.to_host(ctx)?.as_slice()));
            Ok(out)
        }));
    }
    all.push(Problem::new("tiny numbers", |ctx| {
        let mut out = Vec::new();
        let (unit, shape) = (2_f32.powi(-110), Shape::new(40, 3, 1));
        let mut x: Vec<f32> = noise(120, 1).into_iter().map(|x| x * unit).collect();
        x[3] = 0.0;
        let found = ops::describe(ctx, &Array::from_vec(shape, x)?, Axis::Rows, StatsOptions::default())?;
        for values in [found.mean, found.min, found.max].map(|x| x.to_host(ctx)) {
            out.extend(wide(values?.as_slice()).iter().map(|x| x / f64::from(unit)));
        }
        let mut x: Vec<f32> = noise(120, 2).into_iter().map(|x| x * 2_f32.powi(-66)).collect();
        x[3] = 0.0;
        let x = Array::from_vec(shape, x)?;
        out.extend(wide(ops::cov(ctx, &x)?.to_host(ctx)?.as_slice()).iter().map(|x| x * 2_f64.powi(132)));
        let found = pca(ctx, &x, 2, PcaOptions::default())?;
        let there = found.transform(ctx, &x, false)?;
        out.extend(wide(there.to_host(ctx)?.as_slice()).iter().map(|x| x * 2_f64.powi(66)));
        Ok(out)
    }));
    // A first leaf without a number, infinities of both signs next to each other, columns that are equal or not finite.
    all.push(Problem::new("columns of unusual numbers", |ctx| {
        let rows = 2100;
        let mut x = vec![f32::NAN; 1100];
        x.extend(noise(rows - 1100, 1));
        x.extend((0..rows).map(|i| if i % 2 == 0 { f32::INFINITY } else { f32::NEG_INFINITY }));
        x.extend(vec![0.25; rows]);
        x.extend(noise(rows, 2));
        let x = Array::from_vec(Shape::new(rows, 4, 1), x)?;
        let mut out = Vec::new();
        for nan in [Nan::Omit, Nan::Propagate] {
            let options = StatsOptions { nan, ..StatsOptions::default() };
            out.extend(described(ctx, &ops::describe(ctx, &x, Axis::Rows, options)?)?);
            let q = [0.0, 0.4, 0.5, 1.0];
            out.extend(wide(ops::quantiles(ctx, &x, Axis::Rows, &q, nan)?.to_host(ctx)?.as_slice()));
        }
        out.extend(wide(ops::cov(ctx, &x)?.to_host(ctx)?.as_slice()));
        out.extend(wide(ops::corr(ctx, &x)?.to_host(ctx)?.as_slice()));
        Ok(out)
    }));
    // Leaves without a number, before and after others, and with numbers that are far apart.
    all.push(Problem::new("streams of unusual numbers", |ctx| {
        let options = StatsOptions { nan: Nan::Omit, ..StatsOptions::default() };
        let mut stats = RunningStats::new(1, options);
        for factor in [1.0, f32::NAN, f32::NAN, 2_f32.powi(101), 1.0] {
            let x = noise(4096, 1).into_iter().map(|x| x * factor).collect();
            stats.push(ctx, &Array::from_vec(Shape::new(4096, 1, 1), x)?)?;
        }
        described(ctx, &stats.finish(ctx)?)
    }));
    all.push(Problem::new("a histogram of many bins", |ctx| {
        let x = Array::from_vec(Shape::new(3000, 1, 1), noise(3000, 1))?;
        let found = ops::histogram(ctx, &x, Axis::Rows, 2100, Some((-0.5, 0.75)))?;
        Ok([found.counts, found.below, found.above].concat().into_iter().map(|count| count as f64).collect())
    }));
    // The mean of the sample overflows on the way, so that the first number is the shift.
    all.push(Problem::new("a mean whose sum overflows", |ctx| {
        let x = (0..70).map(|i| if i == 0 { -3e38 } else { 3e38 }).collect();
        let x = Array::from_vec(Shape::new(70, 1, 1), x)?;
        let found = ops::describe(ctx, &x, Axis::Rows, StatsOptions::default())?;
        let mut out = wide(found.mean.to_host(ctx)?.as_slice());
        out.extend(wide(found.skewness.to_host(ctx)?.as_slice()));
        Ok(out)
    }));
    all.push(Problem::new("numbers on the edges of bins", |ctx| {
        let x: Vec<f32> = (0..400_u16).map(|i| 0.25 * f32::from(i * 7 % 9) - 0.75).collect();
        let mut out = Vec::new();
        for rows in [400, 8] {
            let x = Array::from_vec(Shape::new(rows, 400 / rows, 1), x.clone())?;
            let found = ops::histogram(ctx, &x, Axis::Rows, 5, Some((-0.5, 0.75)))?;
            out.extend([found.counts, found.below, found.above].concat());
        }
        Ok(out.into_iter().map(|count| count as f64).collect())
    }));
    // As many degrees of freedom as numbers, one fewer and one more.
    all.push(Problem::new("degrees of freedom", |ctx| {
        let mut out = Vec::new();
        for ddof in [4, 5, 6] {
            let options = StatsOptions { ddof, ..StatsOptions::default() };
            let x = Array::from_vec(Shape::new(5, 3, 1), noise(15, 1))?;
            out.extend(described(ctx, &ops::describe(ctx, &x, Axis::Rows, options)?)?);
        }
        Ok(out)
    }));
    all.push(Problem::new("streams", |ctx| {
        let cols = 3;
        let (mut stats, mut other) =
            (RunningStats::new(cols, StatsOptions::default()), RunningStats::new(cols, StatsOptions::default()));
        let (mut cov, mut second) = (RunningCovariance::new(cols), RunningCovariance::new(cols));
        for (seed, rows) in [5, 1000, 1, 1500, 700].into_iter().enumerate() {
            let chunk = Array::from_vec(Shape::new(rows, cols, 1), noise(rows * cols, seed))?;
            let (stats, cov) = if seed == 4 { (&mut other, &mut second) } else { (&mut stats, &mut cov) };
            stats.push(ctx, &chunk)?;
            cov.push(ctx, &chunk)?;
        }
        stats.merge(ctx, other)?;
        cov.merge(ctx, second)?;
        let mut out = described(ctx, &stats.finish(ctx)?)?;
        for found in [cov.cov(ctx)?, cov.corr(ctx)?, cov.mean(ctx)?] {
            out.extend(wide(found.to_host(ctx)?.as_slice()));
        }
        Ok(out)
    }));
    all
}

/// Lists of representations. A representation is in a list once.
const COLUMNS: [&str; 6] = [
    "raw(project=3),core33,tsfresh-minimal,simple_stats,rank_based,stats,spectral,matrix_norms,distribution,frequency,\
     info,moments,quantiles,histogram,spectrum,autocorrelation,bits",
    "quantiles(q=[0, 1, 0.123], rule='higher')",
    "histogram(range=[-1, 1.5], bins=7, columns=['counts'])",
    "spectrum(columns=['power', 'magnitudes', 'bands', 'top', 'mean', 'sd', 'max', 'energy_share', 'entropy'], \
     zero=true, both_sides=true, top=9, bands=3)",
    "autocorrelation(order=4, delay=2, support=3, lags=[1, 3, 70], adjusted=false)",
    "bits(columns=['positions', 'pairs', 'runs'], first=9)",
];

fn series() -> Vec<Problem> {
    let vectors = [1, 2, 3, 64, 65, 512, 513, 1500].map(SampleShape::Vector);
    let matrices = [(6, 5), (40, 50), (1, 9), (700, 2)].map(|(rows, columns)| SampleShape::Matrix { rows, columns });
    let of = |shape: SampleShape| {
        let run = move |ctx: &Context| {
            let n = shape.len();
            let lists = COLUMNS.iter().map(|list| Representation::parse_list(list)).collect::<Result<Vec<_>>>()?;
            let measures = lists.iter().flatten().flat_map(|one| one.measures().to_vec()).collect();
            let program = Program::new(measures, shape)?;
            // Noise, few different numbers, equal numbers, a tone, bits, and a sample that is not finite.
            let mut numbers = noise(n, 1);
            numbers.extend(noise(n, 2).iter().map(|x| (4.0 * x).round()));
            numbers.extend(vec![0.3; n]);
            numbers.extend((0..n).map(|i| 2.0 + (0.37 * i as f32).sin()));
            numbers.extend(noise(n, 7).iter().map(|x| f32::from(u8::from(*x > 0.0))));
            numbers.extend(noise(n, 4));
            *numbers.last_mut().expect("a number") = f32::NAN;
            let mut values = [Vec::new(), Vec::new()];
            for sample in numbers.chunks_exact(n) {
                // A sample that is not finite has no singular values.
                let sample: Vec<f64> = sample.iter().map(|&x| if x.is_finite() { x.into() } else { 0.0 }).collect();
                let of_sample = singular_values(&program, shape, &sample);
                values.iter_mut().zip(of_sample).for_each(|(all, own)| all.extend(own));
            }
            let found = program.run(ctx, &numbers, [&values[0], &values[1]])?;
            // Columns of equal numbers are quotients of rounding errors, or undefined.
            let width = found.width;
            let is_equal = |at: usize| (2 * width..3 * width).contains(&at);
            let value = |(at, &x): (usize, &f32)| if is_equal(at) { 0.0 } else { f64::from(x) };
            Ok(found.values.iter().enumerate().map(value).collect())
        };
        Problem::new(format!("columns of {shape:?}"), run).allowed(2e-2)
    };
    let mut all: Vec<Problem> = vectors.into_iter().chain(matrices).map(of).collect();
    // Edges that are closer to each other than numbers are; nothing that takes a transform.
    all.push(Problem::new("columns of close edges, and of runs", |ctx| {
        let numbers: Vec<f32> = noise(100, 1).into_iter().map(|x| 1.0 + 1e-6 * x.abs()).collect();
        let mut out = Vec::new();
        for list in ["histogram(range=[1, 1.000001], bins=50, columns=['counts'])", "bits(columns=['runs'])"] {
            let lists = Representation::parse_list(list)?;
            let measures = lists.iter().flat_map(|one| one.measures().to_vec()).collect();
            let found = Program::new(measures, SampleShape::Vector(100))?.run(ctx, &numbers, [&[], &[]])?;
            out.extend(wide(&found.values));
        }
        Ok(out)
    }));
    all
}

fn others() -> Vec<Problem> {
    vec![
        Problem::new("random numbers", |ctx| {
            let mut out = Vec::new();
            let mut stream = Stream::new(3, "hostile");
            for n in [1, 3, 4, 5, 255, 257, 1030] {
                let shape = Shape::new(n, 1, 1);
                out.extend(words(ctx, &mut stream, shape)?.to_host(ctx)?.as_slice().iter().map(|&x| f64::from(x)));
                out.extend(wide(uniform(ctx, &mut stream, shape, -1.0..2.0)?.to_host(ctx)?.as_slice()));
                out.extend(wide(normal(ctx, &mut stream, shape, 1.0, 2.0)?.to_host(ctx)?.as_slice()));
                for share in [0.3, 0.0, 1.0] {
                    out.extend(wide(bernoulli(ctx, &mut stream, shape, share)?.to_host(ctx)?.as_slice()));
                }
            }
            Ok(out)
        }),
        Problem::new("shares that a word decides", |ctx| {
            let (shape, stream) = (Shape::new(64, 1, 1), || Stream::new(3, "a word"));
            let word = f64::from(words(ctx, &mut stream(), shape)?.to_host(ctx)?.as_slice()[0]);
            let mut out = Vec::new();
            for below in [word, word + 1.0] {
                let found = bernoulli(ctx, &mut stream(), shape, below * 2_f64.powi(-32))?;
                out.extend(wide(found.to_host(ctx)?.as_slice()));
            }
            Ok(out)
        }),
        Problem::new("divergences", |ctx| {
            let mut out = Vec::new();
            for (bins, count, batch) in [(1, 1, 1), (5, 3, 2), (257, 2, 1), (70, 17, 1)] {
                let of = |count: usize, seed| {
                    let x = noise(bins * count * batch, seed);
                    // Some bins are empty.
                    let x = x.into_iter().map(|x| if x < -0.8 { 0.0 } else { x + 1.0 }).collect();
                    Array::from_vec(Shape::new(bins, count, batch), x)
                };
                for kind in Divergence::ALL {
                    for smoothing in [0.0, 0.01] {
                        let options = DivergenceOptions { normalize: true, smoothing, ..DivergenceOptions::default() };
                        if bins == 1 && smoothing == 0.0 {
                            continue;
                        }
                        let p = of(count, 1)?;
                        for q in [of(count, 2)?, of(1, 3)?] {
                            out.extend(wide(divergence(ctx, kind, &p, &q, &options)?.to_host(ctx)?.as_slice()));
                        }
                        out.extend(wide(divergence_matrix(ctx, kind, &p, &options)?.to_host(ctx)?.as_slice()));
                    }
                }
            }
            for kind in [Divergence::TotalVariation, Divergence::JensenShannonDistance] {
                let of = |n: usize, seed| Array::from_vec(Shape::new(n, 3, 1), noise(3 * n, seed));
                let options = DivergenceOptions::default();
                let found = divergence_of_samples(ctx, kind, &of(90, 1)?, &of(70, 2)?, 6, &options)?;
                out.extend(wide(found.to_host(ctx)?.as_slice()));
            }
            Ok(out)
        }),
        // Sums that f32 does not hold, and subnormal ones.
        Problem::new("divergences of large and of tiny numbers", |ctx| {
            let mut out = Vec::new();
            let (bins, count) = (20, 3);
            let mut x = noise(bins * count, 1).into_iter().map(f32::abs).collect::<Vec<_>>();
            x[..bins].iter_mut().for_each(|x| *x = 1e38 + 2e38 * *x);
            x[bins..2 * bins].iter_mut().for_each(|x| *x = 2e-40 + 1e-39 * *x);
            let p = Array::from_vec(Shape::new(bins, count, 1), x)?;
            for kind in Divergence::ALL {
                let options = DivergenceOptions { normalize: true, ..DivergenceOptions::default() };
                out.extend(wide(divergence(ctx, kind, &p, &p, &options)?.to_host(ctx)?.as_slice()));
                out.extend(wide(divergence_matrix(ctx, kind, &p, &options)?.to_host(ctx)?.as_slice()));
            }
            Ok(out)
        }),
        // Entries that are 2^276 apart; histograms that need no division.
        Problem::new("divergences of entries that are far apart", |ctx| {
            let far = vec![3e38, 1e-45, 1.0, 0.0, 1e-45, 3e38, 1.0, 1.0];
            let mut out = Vec::new();
            for (x, normalize) in [(far, true), (vec![0.25, 0.25, 0.5, 0.0, 0.125, 0.5, 0.125, 0.25], false)] {
                let p = Array::from_vec(Shape::new(4, 2, 1), x)?;
                let options = DivergenceOptions { normalize, ..DivergenceOptions::default() };
                for kind in [Divergence::TotalVariation, Divergence::JensenShannon] {
                    out.extend(wide(divergence_matrix(ctx, kind, &p, &options)?.to_host(ctx)?.as_slice()));
                    let q = Array::from_vec(Shape::new(4, 2, 1), vec![0.25; 8])?;
                    out.extend(wide(divergence(ctx, kind, &p, &q, &options)?.to_host(ctx)?.as_slice()));
                }
            }
            Ok(out)
        }),
        Problem::new("divergences of histograms on the device", histograms_on_the_device),
        // Times mean nothing here. Multiply-adds, which are timed too, would take minutes.
        Problem::new("the time of a dispatch", |ctx| {
            if ctx.adapter().is_some() {
                roofline::dispatch(ctx)?;
            }
            Ok(Vec::new())
        }),
    ]
}

/// Entries on the device are not checked by the host: a histogram with a wrong one has the divergence NaN.
fn histograms_on_the_device(ctx: &Context) -> Result<Vec<f64>> {
    let nothing = |count| vec![f64::NAN; count];
    if ctx.adapter().is_none() {
        let of_many_bins = [vec![f64::INFINITY], nothing(1), vec![0.0], nothing(3)];
        return Ok([vec![0.0], nothing(4), vec![0.0], nothing(24), of_many_bins.concat()].concat());
    }
    let there = |bins: usize, histograms: Vec<Vec<f32>>| {
        Array::from_vec(Shape::new(bins, histograms.len(), 1), histograms.concat())?.to_device(ctx)
    };
    let options = |normalize| DivergenceOptions { normalize, ..DivergenceOptions::default() };
    let with = |wrong: f32| vec![1.0, wrong, 2.0];
    let p = there(3, vec![with(0.5), with(f32::NAN), with(-1.0), with(f32::INFINITY), vec![0.0; 3]])?;
    let q = there(3, vec![with(0.5)])?;
    let varied = Divergence::TotalVariation;
    let mut out = wide(divergence(ctx, varied, &p, &q, &options(true))?.to_host(ctx)?.as_slice());
    out.extend(wide(divergence_matrix(ctx, varied, &p, &options(true))?.to_host(ctx)?.as_slice()));
    // The total of a histogram that is not divided by it counts as 1: what is larger has no meaning.
    let large = there(3, vec![with(1e30); 2])?;
    divergence(ctx, varied, &large, &q, &options(false))?.to_host(ctx)?;
    divergence_matrix(ctx, varied, &large, &options(false))?.to_host(ctx)?;
    // More bins than a dispatch takes; q is empty in the first one.
    let long = |bins: usize, first: f32| [vec![first], vec![0.0; bins - 2], vec![1.0]].concat();
    let bins = (64 << 15) + 40;
    let (p, q) = (there(bins, vec![long(bins, 1.0), long(bins, f32::NAN)])?, there(bins, vec![long(bins, 0.0)])?);
    let found = divergence(ctx, Divergence::KullbackLeibler, &p, &q, &options(true))?;
    out.extend(wide(found.to_host(ctx)?.as_slice()));
    let bins = (1 << 15) + 20;
    let p = there(bins, vec![long(bins, 1.0), long(bins, f32::NAN)])?;
    out.extend(wide(divergence_matrix(ctx, varied, &p, &options(true))?.to_host(ctx)?.as_slice()));
    Ok(out)
}
