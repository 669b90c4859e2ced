//! Values at the edges of f32, where a device flushes or overflows: subnormal entries of histograms, and moments of
//! the largest values.

use common::divergences::{COUNTS, DEFAULT, allowed, column, compare, truth};
use common::random::SplitMix64;
use common::solve::Checked;
use common::statistics::{all, one, rows_of, shape_of, two_passes};
use common::{Test, on_cpu, on_each, suite};
use fiedler::array::Array;
use fiedler::ops::divergence::{Divergence, DivergenceOptions, divergence, divergence_matrix};
use fiedler::ops::stats::{RunningStats, StatsOptions, corr, cov, describe};
use fiedler::ops::{PcaOptions, pca};
use fiedler::{Axis, Context, Shape};
use std::slice::from_ref;

pub fn tests() -> Vec<Test> {
    suite(
        "magnitudes",
        vec![
            on_each("subnormal entries", next_to_nothing),
            on_cpu("subnormal entries in f64", next_to_nothing_in_f64),
            on_each("moments of the largest values", largest),
            on_each("moments and covariances of subnormal numbers", smallest),
        ],
    )
}

const EPS: f64 = f32::EPSILON as f64;

/// Histograms with subnormal entries, such as the tails of a softmax. A device may flush such entries when it loads or
/// multiplies them. The allowed error is the same as for other histograms. Results beyond f32's range are infinite.
fn next_to_nothing(ctx: &Context) -> Checked {
    let bits = f32::from_bits;
    let tails: Vec<f32> = (0..40).map(|k| bits(1 + (k * k * 5003) % 0x00ff_ffff)).chain([0.25, 0.75]).collect();
    let softmax: Vec<f32> = (0..42).map(|k| (-2.5 * f64::from(k)).exp() as f32 * 0.917_915).collect();
    let even = vec![1.0 / 42.0; 42];
    let mut reversed = softmax.clone();
    reversed.reverse();
    for (p, q) in [
        (vec![1e-42, 1.0, 0.0], vec![0.5, 0.5, 0.0]),
        (vec![bits(1), 1.0, 0.0], vec![0.0, 1.0, 0.0]),
        (vec![bits(1), 1.0, 1e-39], vec![bits(3), 1e-40, 1.0]),
        (vec![f32::MIN_POSITIVE, 1.0, 1e-41], vec![bits(0x007f_ffff), 1.0, 1.1e-41]),
        (vec![3e-20, 1.0, 1e-45], vec![1e-30, 1.0, 1e-20]),
        (tails, even.clone()),
        (softmax.clone(), even),
        (softmax, reversed),
    ] {
        let (one, other) = (vec![p.clone(), q.clone()], vec![q.clone(), p.clone()]);
        let (a, b) = (column(p.len(), 2, one.concat())?, column(p.len(), 2, other.concat())?);
        for kind in Divergence::ALL {
            for options in [DEFAULT, COUNTS] {
                let rows = divergence(ctx, kind, &a, &b, &options)?.to_host(ctx)?;
                let pairs = divergence_matrix(ctx, kind, &a, &options)?.to_host(ctx)?;
                for (p, q, got) in [
                    (&p, &q, rows.as_slice()[0]),
                    (&q, &p, rows.as_slice()[1]),
                    (&p, &q, pairs.as_slice()[2]),
                    (&q, &p, pairs.as_slice()[1]),
                ] {
                    let [p, q] = [p, q].map(|x| x.iter().map(|&x| f64::from(x)).collect::<Vec<_>>());
                    let got = f64::from(got);
                    // The terms of the definition cancel, so rounding may make its result negative.
                    let want = truth(kind, &p, &q, &options).max(0.0);
                    let allowed = allowed(kind, &p, &q, want, options.normalize);
                    let near = got == want || (got - want).abs() <= allowed;
                    let beyond = want > f32::MAX.into() && got == f64::INFINITY;
                    assert!(near || beyond, "{kind:?} of {p:?} and {q:?}: {got:e} for {want:e}");
                }
            }
        }
    }
    // A divergence that is a square root is not tiny even if the sum under the root is, so it has to be accurate.
    let (p, q) = (column(2, 1, vec![bits(1000), 1.0])?, column(2, 1, vec![0.0, 1.0])?);
    let tiny = f64::from(bits(1000));
    for (kind, want) in [
        (Divergence::Hellinger, (0.5 * tiny).sqrt()),
        (Divergence::JensenShannonDistance, (0.5 * tiny * std::f64::consts::LN_2).sqrt()),
    ] {
        for found in [divergence(ctx, kind, &p, &q, &DEFAULT)?, divergence(ctx, kind, &q, &p, &DEFAULT)?] {
            let got = f64::from(found.to_host(ctx)?.as_slice()[0]);
            assert!((got - want).abs() <= 40.0 * 2_f64.powi(-23) * want, "{kind:?}: {got:e} for {want:e}");
        }
    }
    // Counts of every magnitude. The shares of a histogram do not depend on the magnitude, and totals beyond f32's
    // range do not become infinite.
    let mut numbers = SplitMix64::new(12);
    for (of_p, of_q) in [(1e-43, 1e-41), (1e-42, 1.0), (1e-42, 1e37), (1e37, 1e-30), (1.0, 3.4e38)] {
        let counts = |numbers: &mut SplitMix64, unit: f64| -> Vec<f32> {
            (0..30).map(|k| ((0.1 + 0.9 * numbers.unit()) * unit * f64::from(k % 7 + 1) / 7.0) as f32).collect()
        };
        let (p, q) = (counts(&mut numbers, of_p), counts(&mut numbers, of_q));
        let options = DivergenceOptions { smoothing: 1e-3, ..COUNTS };
        compare(ctx, from_ref(&p), from_ref(&q), &COUNTS)
            .and_then(|()| compare(ctx, &[p], &[q], &options))
            .map_err(|e| format!("totals of {of_p:e} and {of_q:e}: {e}"))?;
    }
    Ok(())
}

/// Histograms with subnormal entries in f64, compared with closed forms. The ratio of two entries exceeds f64's range.
fn next_to_nothing_in_f64(ctx: &Context) -> Checked {
    let of = |data: Vec<f64>| Array::from_vec(Shape::new(2, 1, 1), data);
    let tiny = 1e-310_f64;
    let (p, q) = (vec![tiny, 1.0], vec![0.5, 0.5]);
    let found = |kind, p: &[f64], q: &[f64], options: &DivergenceOptions| -> fiedler::Result<f64> {
        Ok(divergence(ctx, kind, &of(p.to_vec())?, &of(q.to_vec())?, options)?.to_host(ctx)?.as_slice()[0])
    };
    let ln2 = std::f64::consts::LN_2;
    for (p, q, want) in [(&p, &q, ln2), (&q, &p, 0.5 * (0.5_f64.ln() - tiny.ln()) - 0.5 * ln2)] {
        let got = found(Divergence::KullbackLeibler, p, q, &DEFAULT)?;
        assert!((got - want).abs() <= 40.0 * f64::EPSILON * want, "{got:e} for {want:e}");
    }
    // JS of (0, 1) and (1/2, 1/2) is log 2 - 3 log 3 / 4 + log 2 / 2.
    let want = 1.5 * ln2 - 0.75 * 3_f64.ln();
    for (up, uq) in [(1.0, 1.0), (1e290, 1e-290), (1e-300, 1e300)] {
        let (p, q) = (p.iter().map(|x| x * up).collect::<Vec<_>>(), q.iter().map(|x| x * uq).collect::<Vec<_>>());
        let got = found(Divergence::JensenShannon, &p, &q, &COUNTS)?;
        assert!((got - want).abs() <= 40.0 * f64::EPSILON * want, "{up:e}, {uq:e}: {got:e} for {want:e}");
    }
    Ok(())
}

/// Columns of subnormal numbers, next to columns of ones: their moments, and their correlations and components, which
/// have no unit.
fn smallest(ctx: &Context) -> Checked {
    let (rows, cols) = (300, 4);
    let mut random = SplitMix64::new(13);
    // Whole numbers, so that multiples of the least subnormal number, 2^-149, are exact.
    let base: Vec<f64> = (0..rows * cols).map(|e| (20.0 * random.normal()).round() + (e / rows * 9) as f64).collect();
    let base_of = |j: usize| &base[j * rows..(j + 1) * rows];
    for exponents in [[-149, 0, -130, -110], [-140, -149, -149, -145], [-149, 0, 30, 50]] {
        let unit = exponents.map(|e| 2_f64.powi(e));
        let data: Vec<f32> = base.iter().enumerate().map(|(e, x)| (x * unit[e / rows]) as f32).collect();
        let x = Array::from_vec(Shape::new(rows, cols, 1), data)?;
        let found = all(ctx, &describe(ctx, &x, Axis::Rows, StatsOptions::default())?)?;
        let (covariance, correlation) = (cov(ctx, &x)?.to_host(ctx)?, corr(ctx, &x)?.to_host(ctx)?);
        let moments: Vec<[f64; 4]> = (0..cols).map(|j| two_passes(base_of(j))).collect();
        for j in 0..cols {
            let what = format!("{exponents:?}, column {j}");
            let [mean, second, ..] = moments[j];
            let [(skewness, unit_of_skewness), (kurtosis, unit_of_kurtosis)] = shape_of(base_of(j), moments[j]);
            let want = [
                (mean * unit[j], 64.0 * EPS * (second.sqrt() + mean.abs()) * unit[j]),
                (second * rows as f64 / (rows - 1) as f64 * unit[j] * unit[j], 64.0 * EPS * second * unit[j] * unit[j]),
                (base_of(j).iter().copied().fold(f64::INFINITY, f64::min) * unit[j], 0.0),
                (base_of(j).iter().copied().fold(f64::NEG_INFINITY, f64::max) * unit[j], 0.0),
                (skewness, 64.0 * EPS * unit_of_skewness),
                (kurtosis, 64.0 * EPS * unit_of_kurtosis),
            ];
            // Half of the distance between two subnormal numbers is the rounding of a result.
            for (k, (want, allowed)) in want.into_iter().enumerate() {
                let off = (found[k][j] - want).abs();
                assert!(off <= allowed + 2_f64.powi(-150), "{what}, statistic {k}: {:e} for {want:e}", found[k][j]);
            }
            for i in 0..cols {
                let product = |a: &[f64], b: &[f64]| -> f64 {
                    a.iter().zip(b).map(|(x, y)| (x - moments[i][0]) * (y - moments[j][0])).sum()
                };
                let size = (second * moments[i][1]).sqrt();
                let want = product(base_of(i), base_of(j)) / (rows - 1) as f64;
                let got = f64::from(correlation.matrix(0)[(i, j)]);
                assert!(
                    (got - want / size).abs() <= 2.0 * 64.0 * EPS + 1.0 / rows as f64,
                    "{what}, {i}: correlation {got}"
                );
                // Two roundings, one for either column.
                let (got, units) = (f64::from(covariance.matrix(0)[(i, j)]), unit[i] * unit[j]);
                let allowed = 64.0 * EPS * size * units + 2_f64.powi(-149);
                assert!(
                    (got - want * units).abs() <= allowed,
                    "{what}, {i}: covariance {got:e} for {:e}",
                    want * units
                );
            }
        }
    }
    // The components of an ordinary matrix, times 2^-149.
    let ordinary = Array::from_vec(Shape::new(rows, cols, 1), base.iter().map(|&x| x as f32).collect())?;
    let tiny = Array::from_vec(ordinary.shape(), base.iter().map(|x| (x * 2_f64.powi(-149)) as f32).collect())?;
    let [want, found] = [ordinary, tiny].map(|x| pca(ctx, &x, 2, PcaOptions::default()));
    let (want, found) = (want?, found?);
    assert!(found.converged(), "{:?}", found.certificate);
    for (want, got) in
        [(&want.components, &found.components), (&want.explained_variance_ratio, &found.explained_variance_ratio)]
    {
        let (want, got) = (want.to_host(ctx)?, got.to_host(ctx)?);
        let near = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-5;
        assert!(want.as_slice().iter().zip(got.as_slice()).all(near), "{want:?}, {got:?}");
    }
    Ok(())
}

/// Finite values have a finite mean, skewness and kurtosis even if their distances and sums exceed f32's range. The
/// test has them in one leaf and in several leaves, in a stream, and after small values, so that the first values do
/// not show the magnitude of the others.
fn largest(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(12);
    let wild: Vec<f32> = (0..9000).map(|_| (3.3e38 * random.signed()) as f32).collect();
    let late = |size: f32| (0..9000).map(|k| if k < 4500 { (k % 7) as f32 } else { size * (k % 5) as f32 }).collect();
    let sides: Vec<f32> = (0..12_288).map(|k| [3.4e38, -3.4e38, 1e38][k / 4096]).collect();
    let high: Vec<f32> = (0..9000).map(|k| 3.2e38 + 1e36 * (k % 11) as f32).collect();
    let most = vec![f32::MAX; 5000];
    // A leaf whose values are far from its shift, followed by a leaf of larger values. Then values as large as these
    // with the smallest possible distances.
    let edge: Vec<f32> = (0..8192).map(|k| if k < 64 { k as f32 } else { [9e29, 2e30][k / 4096] }).collect();
    let ulps: Vec<f32> = (0..5000).map(|k| f32::from_bits(0x7180_0000 + k % 4)).collect();
    for (what, data) in [
        ("three", vec![3e38, -3e38, 1e38]),
        ("wild", wild),
        ("large ones late", late(8e37)),
        ("less large ones late", late(1e30)),
        ("leaves on either side", sides),
        ("high", high),
        ("a leaf far from its shift", edge),
        ("the least distances", ulps),
        ("a small one among large ones", vec![1e-30, 3e38, -3e38, 5.0]),
        ("equal", most),
    ] {
        let wide: Vec<f64> = data.iter().map(|&x| x.into()).collect();
        let moments = two_passes(&wide);
        let [mean, second, ..] = moments;
        let n = data.len() as f64;
        let (got, _) = one(ctx, data.clone(), StatsOptions::default())?;
        let mut running = RunningStats::new(1, StatsOptions::default());
        let mut parts = RunningStats::new(1, StatsOptions::default());
        for own in data.chunks(1000) {
            running.push(ctx, &rows_of(own, own.len(), 0..own.len())?)?;
            let mut part = RunningStats::new(1, StatsOptions::default());
            part.push(ctx, &rows_of(own, own.len(), 0..own.len())?)?;
            parts.merge(ctx, part)?;
        }
        let stream = all(ctx, &running.finish(ctx)?)?.map(|x| x[0]);
        assert!(
            got.iter().zip(&stream).all(|(a, b)| a == b || a.is_nan() && b.is_nan()),
            "{what}: {got:?}, {stream:?}"
        );
        for [got_mean, variance, least, greatest, skewness, kurtosis] in
            [got, all(ctx, &parts.finish(ctx)?)?.map(|x| x[0])]
        {
            let extremes = wide.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &x| (a.min(x), b.max(x)));
            assert_eq!((least, greatest), extremes, "{what}");
            // This is the tolerance for a device in tests/statistics/stats.rs.
            let tolerance = 64.0 * EPS;
            let allowed = tolerance * second.sqrt() + 4.0 * EPS * mean.abs();
            assert!((got_mean - mean).abs() <= allowed, "{what}: mean {got_mean:e} for {mean:e}");
            if second == 0.0 {
                assert!(variance == 0.0 && skewness.is_nan() && kurtosis.is_nan(), "{what}: {variance}");
                continue;
            }
            let want = second * n / (n - 1.0);
            let near = (variance - want).abs() <= tolerance * want;
            let well = if want > f32::MAX.into() { variance == f64::INFINITY } else { near };
            assert!(well, "{what}: variance {variance:e} for {want:e}");
            for (got, (want, unit)) in [skewness, kurtosis].into_iter().zip(shape_of(&wide, moments)) {
                assert!((got - want).abs() <= tolerance * unit, "{what}: {got} for {want}");
            }
        }
    }
    Ok(())
}
