//! Power spectra, powers of bands and centroids, compared with their definitions in f64.

use crate::calls::{EPS, HALF, SCALES, along};
use common::fourier::{C64, lines, reals, truth};
use common::solve::Checked;
use common::{Test, on_each, sample, suite};
use fiedler::array::Array;
use fiedler::ops::fft::{Window, power_spectrum};
use fiedler::{Axis, Context, ErrorKind, Shape};
use std::f64::consts::TAU;

pub fn tests() -> Vec<Test> {
    suite(
        "spectra",
        vec![on_each("of every small scale", small_signals), on_each("powers, bands, centroids", features)],
    )
}

/// Returns the power spectrum of a line in f64.
fn power_truth(line: &[f64], window: &[f64]) -> Vec<f64> {
    let (n, sum) = (line.len(), window.iter().sum::<f64>());
    let windowed: Vec<C64> = line.iter().zip(window).map(|(x, w)| (x * w).into()).collect();
    let alone = |k: usize| k == 0 || 2 * k == n;
    let power = |(k, z): (usize, &C64)| if alone(k) { 1.0 } else { 2.0 } * (z / sum).norm_sqr();
    truth(&windowed, false)[..n / 2 + 1].iter().enumerate().map(power).collect()
}

/// A centroid does not depend on the scale of a signal. Powers and sums of powers are rounded to what f32 holds.
fn small_signals(ctx: &Context) -> Checked {
    let rate = 100.0;
    for (n, axis) in [(75, Axis::Rows), (256, Axis::Cols)] {
        let shape = if axis == Axis::Rows { Shape::new(n, 4, 1) } else { Shape::new(4, n, 1) };
        let (base, own) = (reals(shape.len(), 62), along(shape, axis));
        for scale in SCALES {
            // The last signal is all zeros.
            let factors = [scale, 1.0, scale, 0.0];
            let mut x = vec![0.0_f32; shape.len()];
            for (line, factor) in own.iter().zip(factors) {
                line.iter().for_each(|&e| x[e] = (f64::from(base[e]) * factor) as f32);
            }
            let found = power_spectrum(ctx, &Array::from_vec(shape, x.clone())?, Window::Hann, axis)?;
            let (bins, edges) = (along(found.power.shape(), axis), [0.0, rate / 5.0, rate / 2.0]);
            let centroid = found.spectral_centroid(ctx, rate)?.to_host(ctx)?;
            let bands = found.band_powers(ctx, &edges, rate)?;
            let in_bands = along(bands.shape(), axis);
            let (bands, power) = (bands.to_host(ctx)?, found.power.to_host(ctx)?);
            let window = Window::Hann.values(n);
            // The same bound as in `features`, and half of the distance between two subnormal numbers.
            let allowed = 4.0 * EPS * (2.0 * (n as f64).log2() + 8.0);
            for (l, line) in own.iter().enumerate() {
                let line: Vec<f64> = line.iter().map(|&e| x[e].into()).collect();
                let want = power_truth(&line, &window);
                let total: f64 = want.iter().sum();
                let frequencies = found.frequencies(rate);
                let below = frequencies.partition_point(|&f| f < edges[1]);
                let close = |got: f32, want: f64, allowed: f64, what: &str| {
                    let off = (f64::from(got) - want).abs();
                    assert!(off <= allowed, "n = {n}, {scale:e}, line {l}, {what}: {got:e} for {want:e}");
                };
                for (&e, want) in bins[l].iter().zip(&want) {
                    close(power.as_slice()[e], *want, allowed * total + HALF, "power");
                }
                for (&e, want) in in_bands[l].iter().zip([&want[..below], &want[below..]]) {
                    close(bands.as_slice()[e], want.iter().sum(), allowed * total + HALF, "band");
                }
                let moment: f64 = want.iter().zip(&frequencies).map(|(p, f)| p * f).sum();
                let mean = if total == 0.0 { 0.0 } else { moment / total };
                close(centroid.as_slice()[l], mean, allowed * rate, "centroid");
            }
        }
    }
    if ctx.adapter().is_none() {
        // Squares below the range of f64.
        let base: Vec<f64> = reals(64, 63).into_iter().map(f64::from).collect();
        let centroid = |scale: f64| -> fiedler::Result<f64> {
            let x = lines(64, base.iter().map(|x| x * scale).collect())?;
            let found = power_spectrum(ctx, &x, Window::Hann, Axis::Rows)?;
            Ok(found.spectral_centroid(ctx, rate)?.to_host(ctx)?.as_slice()[0])
        };
        let want = centroid(1.0)?;
        for scale in [1e-150, 1e-170, 1e-300] {
            let got = centroid(scale)?;
            assert!((got - want).abs() <= 1e-12 * want, "{scale:e}: {got} for {want}");
        }
    }
    Ok(())
}

/// Compares with the definitions in f64, and with the known features of a sine.
fn features(ctx: &Context) -> Checked {
    let rate = 1000.0;
    for (n, axis) in [
        (1, Axis::Rows),
        (2, Axis::Rows),
        (75, Axis::Cols),
        (256, Axis::Rows),
        (1009, Axis::Batch),
        (10_000, Axis::Rows),
    ] {
        let shape = match axis {
            Axis::Rows => Shape::new(n, 3, 2),
            Axis::Cols => Shape::new(3, n, 2),
            Axis::Batch => Shape::new(3, 2, n),
        };
        let x = reals(shape.len(), 61);
        let array = Array::from_vec(shape, x.clone())?;
        for window in sample(ctx, [Window::Rectangular, Window::Hann, Window::Hamming, Window::Blackman]) {
            let found = power_spectrum(ctx, &array, window, axis)?;
            let edges = [0.0, 4.0, 50.0, 120.5, rate / 2.0];
            let (bands, centroid) = (found.band_powers(ctx, &edges, rate)?, found.spectral_centroid(ctx, rate)?);
            if ctx.adapter().is_some() {
                assert!(found.power.is_resident() && bands.is_resident() && centroid.is_resident());
            }
            let (bins, frequencies) = (along(found.power.shape(), axis), found.frequencies(rate));
            let (in_bands, at) = (along(bands.shape(), axis), along(centroid.shape(), axis));
            let (power, bands, centroid) = (found.power.to_host(ctx)?, bands.to_host(ctx)?, centroid.to_host(ctx)?);
            let w = window.values(n);
            // The allowed error of the transform, doubled because the power is its square, plus the rounding
            // error of sums of positive numbers.
            let allowed = 4.0 * EPS * (2.0 * (n as f64).log2() + 8.0);
            for (line, own) in along(shape, axis).iter().enumerate() {
                let want = power_truth(&own.iter().map(|&e| x[e].into()).collect::<Vec<f64>>(), &w);
                let total: f64 = want.iter().sum();
                let close = |got: f32, want: f64, of: f64, what: &str| {
                    assert!(
                        (f64::from(got) - want).abs() <= allowed * of,
                        "n = {n}, {window:?}, {what}: {got} for {want}"
                    );
                };
                for (k, &e) in bins[line].iter().enumerate() {
                    close(power.as_slice()[e], want[k], total, "power");
                }
                for (i, &e) in in_bands[line].iter().enumerate() {
                    let last = i + 2 == edges.len();
                    let inside = |f: f64| f >= edges[i] && (f < edges[i + 1] || last && f <= edges[i + 1]);
                    let own: f64 = want.iter().zip(&frequencies).filter(|(_, f)| inside(**f)).map(|(p, _)| p).sum();
                    close(bands.as_slice()[e], own, total, "band");
                }
                let mean = want.iter().zip(&frequencies).map(|(p, f)| p * f).sum::<f64>() / total;
                close(centroid.as_slice()[at[line][0]], mean, rate, "centroid");
                if window == Window::Rectangular {
                    let square = own.iter().map(|&e| f64::from(x[e]).powi(2)).sum::<f64>() / n as f64;
                    assert!((total / square - 1.0).abs() < 1e-12, "n = {n}: Parseval");
                }
            }
        }
    }
    // A sine of amplitude 3 at one of the frequencies of the transform. Its power at this frequency is 4.5, and
    // the centroid is this frequency.
    let n = 400;
    let sine: Vec<f32> = (0..n).map(|j| 3.0 * (TAU * 20.0 * f64::from(j) / f64::from(n)).sin() as f32).collect();
    let found = power_spectrum(ctx, &lines(n as usize, sine)?, Window::Rectangular, Axis::Rows)?;
    let centroid = found.spectral_centroid(ctx, rate)?.to_host(ctx)?.as_slice()[0];
    // The same bound as above, for the power and the centroid.
    let allowed = 4.0 * EPS * (2.0 * f64::from(n).log2() + 8.0);
    for (got, want) in [(found.power.to_host(ctx)?.as_slice()[20], 4.5), (centroid, 50.0)] {
        assert!((f64::from(got) - want).abs() <= allowed * want, "{got} for {want}");
    }
    // A line of zeros, and a line that is not finite.
    let mut quiet = vec![0.0_f32; 64];
    quiet[40] = f32::NAN;
    let found = power_spectrum(ctx, &lines(32, quiet)?, Window::Hann, Axis::Rows)?;
    let centroid = found.spectral_centroid(ctx, rate)?.to_host(ctx)?;
    assert!(centroid.as_slice()[0] == 0.0 && !centroid.as_slice()[1].is_finite(), "{:?}", centroid.as_slice());
    for edges in [&[1.0][..], &[2.0, 1.0], &[0.0, f64::NAN], &[-1.0, 1.0]] {
        let error = found.band_powers(ctx, edges, rate).map(drop).expect_err("edges that are none");
        assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{error}");
    }
    assert!(found.spectral_centroid(ctx, 0.0).is_err() && found.band_powers(ctx, &[0.0, 1.0], f64::NAN).is_err());
    let none = power_spectrum(ctx, &Array::<f32>::from_vec(Shape::new(8, 3, 0), vec![])?, Window::Hann, Axis::Rows)?;
    assert_eq!(none.band_powers(ctx, &[0.0, 1.0], rate)?.to_host(ctx)?.shape(), Shape::new(1, 3, 0));
    Ok(())
}
