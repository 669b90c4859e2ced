//! Statistics on every backend. They have to agree with two passes in f64, within a tolerance, on data that
//! cancels. NaN and infinities have the documented effects. The bits have to be the same however a stream or a
//! batch is cut, and calls that cannot be done give typed errors.

use common::random::SplitMix64;
use common::solve::{Checked, alike, bits};
use common::statistics::{AXES, CUTS, KINDS, all, one, rows_of, series, shape_of, table, two_passes};
use common::{Test, on_cpu, on_each, on_gpus, sample, suite};
use fiedler::array::{Array, Real};
use fiedler::ops::stats::{
    Description, Moments, Nan, RunningStats, StatsOptions, describe, histogram, quantiles, reduced,
};
use fiedler::{Axis, Context, ErrorKind, Shape};

pub fn tests() -> Vec<Test> {
    suite(
        "stats",
        vec![
            on_each("moments against two passes in f64", moments::<f32>),
            on_cpu("moments in f64", moments::<f64>),
            on_each("equal values, no values, one value, NaN, infinity", edges_of_the_domain),
            on_each("scales from 1e-30 to 1e30", scales),
            on_each("many short series", many),
            on_each("a stream in chunks, and a batch that is cut", cuts),
            on_each("chunks that the budget cuts", chunks_cut),
            on_each("merged streams", merged),
            on_each("errors", errors),
            on_gpus("f64 stays on the CPU", f64_stays),
        ],
    )
}

const EPS: f64 = f32::EPSILON as f64;

/// Returns the allowed rounding error. On the device the error comes from sums of sixteen elements, which are
/// added in groups of eight and then of 32, and from a merge of a few operations per level. For f32 data, the CPU
/// rounds only the result. For f64 data, it rounds the means of leaves, which are up to 1e6 here, so their error
/// is about 1e6 eps.
fn tolerance<T: Real>(ctx: &Context) -> f64 {
    match ctx.adapter() {
        Some(_) => 64.0 * EPS,
        None if T::ON_DEVICE => EPS,
        None => 1e-11,
    }
}

fn all_bits(ctx: &Context, d: &Description<f32>) -> fiedler::Result<Vec<Vec<u32>>> {
    [&d.mean, &d.variance, &d.min, &d.max, &d.skewness, &d.kurtosis]
        .into_iter()
        .map(|a| Ok(bits(a.to_host(ctx)?.as_slice())))
        .collect()
}

fn moments<T: Real>(ctx: &Context) -> Checked {
    let tolerance = tolerance::<T>(ctx);
    let mut random = SplitMix64::new(1);
    let shapes = [
        Shape::new(2, 1, 1),
        Shape::new(7, 5, 3),
        Shape::new(33, 20, 40),
        Shape::new(4096, 2, 1),
        Shape::new(4097, 3, 2),
        Shape::new(3, 5000, 2),
        Shape::new(2, 3, 5000),
        Shape::new(50_000, 2, 1),
    ];
    for shape in sample(ctx, shapes) {
        // A software adapter takes a second for thousands of workgroups.
        let kinds = if ctx.adapter().is_some() && shape.len() > 10_000 { 1 } else { KINDS.len() };
        for (kind, draw) in KINDS.into_iter().take(kinds) {
            let data: Vec<T> = (0..shape.len()).map(|_| T::from_f64(draw(&mut random))).collect();
            let x = Array::from_vec(shape, data.clone())?;
            for axis in AXES {
                let found = describe(ctx, &x, axis, StatsOptions::default())?;
                let wanted = reduced(shape, axis, 1);
                assert_eq!((found.mean.shape(), found.kurtosis.shape()), (wanted, wanted));
                let (found, counts) = (all(ctx, &found)?, found.counts(ctx)?);
                for (s, own) in series(&data, shape, axis).iter().enumerate() {
                    let own: Vec<f64> = own.iter().map(|x| x.to_f64()).collect();
                    let n = own.len() as f64;
                    let moments = two_passes(&own);
                    let [mean, second, ..] = moments;
                    let what = format!("{kind}, {shape}, {axis:?}, series {s}");
                    let close = |name: &str, k: usize, want: f64, allowed: f64| {
                        let got = found[k][s];
                        let well = if want.is_nan() { got.is_nan() } else { (got - want).abs() <= allowed };
                        assert!(well, "{what}: {name} {got} for {want}, off by {:e} of {allowed:e}", got - want);
                    };
                    assert_eq!(counts[s], own.len() as u64, "{what}");
                    close("mean", 0, mean, 2.0 * tolerance.min(EPS) * mean.abs() + tolerance * second.sqrt());
                    let variance = if n > 1.0 { second * n / (n - 1.0) } else { f64::NAN };
                    close("variance", 1, variance, tolerance * variance);
                    close("min", 2, own.iter().copied().fold(f64::INFINITY, f64::min), 0.0);
                    close("max", 3, own.iter().copied().fold(f64::NEG_INFINITY, f64::max), 0.0);
                    let [(skewness, lean), (kurtosis, tails)] = shape_of(&own, moments);
                    close("skewness", 4, skewness, tolerance * lean);
                    close("kurtosis", 5, kurtosis, tolerance * tails);
                }
            }
        }
    }
    Ok(())
}

fn edges_of_the_domain(ctx: &Context) -> Checked {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let same = |got: [f64; 6], want: [f64; 6], what: &str| {
        let well = got.iter().zip(&want).all(|(g, w)| g == w || (g.is_nan() && w.is_nan()));
        assert!(well, "{what}: {got:?} for {want:?}");
    };
    let default = StatsOptions::default();
    let omit = StatsOptions { nan: Nan::Omit, ..default };
    // Equal values have variance 0, also far from 0 and in several leaves.
    for n in [2, 100, 4096, 20_000] {
        let c = 1e6_f32 / 3.0;
        let (got, count) = one(ctx, vec![c; n], default)?;
        same(got, [c.into(), 0.0, c.into(), c.into(), nan, nan], &format!("{n} times {c}"));
        assert_eq!(count, n as u64);
    }
    // One row, and no rows.
    same(one(ctx, vec![5.0], default)?.0, [5.0, nan, 5.0, 5.0, nan, nan], "one row");
    same(
        one(ctx, vec![5.0], StatsOptions { ddof: 0, ..default })?.0,
        [5.0, 0.0, 5.0, 5.0, nan, nan],
        "one row, ddof 0",
    );
    let (got, count) = one(ctx, vec![], default)?;
    same(got, [nan; 6], "no row");
    assert_eq!(count, 0);
    for place in [0, 1, 5000, 8999] {
        let mut data = vec![1.0_f32; 9000];
        data[100] = 2.0;
        data[place] = f32::NAN;
        let (got, count) = one(ctx, data.clone(), default)?;
        same(got, [nan; 6], &format!("NaN at {place}"));
        assert_eq!(count, 9000);
        let (got, count) = one(ctx, data.clone(), omit)?;
        assert!((got[0] - (1.0 + 1.0 / 8999.0)).abs() < 2.0 * EPS && count == 8999, "NaN at {place} omitted: {got:?}");
        // The variance of 8998 ones and a two is 1 / 8999.
        let allowed = tolerance::<f32>(ctx) + EPS;
        assert!((got[1] * 8999.0 - 1.0).abs() <= allowed && got[2] == 1.0 && got[3] == 2.0, "{got:?}");
        data[place] = f32::INFINITY;
        same(one(ctx, data.clone(), default)?.0, [inf, nan, 1.0, inf, nan, nan], &format!("infinity at {place}"));
        data[(place + 1) % 9000] = f32::NEG_INFINITY;
        same(one(ctx, data.clone(), omit)?.0, [nan, nan, -inf, inf, nan, nan], "both infinities");
    }
    same(one(ctx, vec![f32::NEG_INFINITY; 3], default)?.0, [-inf, nan, -inf, -inf, nan, nan], "-infinity alone");
    same(one(ctx, vec![f32::NAN; 3], omit)?.0, [nan; 6], "NaN alone, omitted");
    // One bad series does not affect the others.
    let mut data = vec![0.0_f32; 60];
    data.iter_mut().enumerate().for_each(|(i, x)| *x = (i % 20) as f32);
    data[25] = f32::NAN;
    let found = describe(ctx, &Array::from_vec(Shape::new(20, 3, 1), data)?, Axis::Rows, default)?;
    let mean = found.mean.to_host(ctx)?;
    assert!(mean.as_slice()[0] == 9.5 && mean.as_slice()[1].is_nan() && mean.as_slice()[2] == 9.5, "{mean:?}");
    // Arrays without series, and series without values.
    for (shape, axis) in
        [(Shape::new(4, 0, 3), Axis::Rows), (Shape::new(0, 4, 3), Axis::Rows), (Shape::new(2, 3, 0), Axis::Batch)]
    {
        let found = describe(ctx, &Array::<f32>::from_vec(shape, vec![])?, axis, default)?;
        let mean = found.mean.to_host(ctx)?;
        assert_eq!(mean.shape(), reduced(shape, axis, 1));
        assert!(mean.as_slice().iter().all(|x| x.is_nan()));
    }
    Ok(())
}

/// If the squares of the values exceed f32's range, only the variance becomes infinite, as in numpy. Skewness and
/// kurtosis do not depend on the unit of the values.
fn scales(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(2);
    let tolerance = tolerance::<f32>(ctx);
    let base: Vec<f64> = (0..10_000).map(|_| -(1.0 - random.unit()).ln()).collect();
    for scale in [1e-30, 1e-18, 1e-6, 1e6, 1e18, 1e30] {
        let data: Vec<f32> = base.iter().map(|x| (x * scale) as f32).collect();
        let wide: Vec<f64> = data.iter().map(|&x| x.into()).collect();
        let moments = two_passes(&wide);
        let [mean, second, ..] = moments;
        let ([got_mean, variance, _, _, skewness, kurtosis], _) = one(ctx, data, StatsOptions::default())?;
        assert!((got_mean - mean).abs() <= tolerance * mean, "{scale}: {got_mean} for {mean}");
        let want = second * 10_000.0 / 9_999.0;
        match want {
            _ if want > f32::MAX.into() => assert_eq!(variance, f64::INFINITY, "{scale}"),
            _ if want < f32::MIN_POSITIVE.into() => assert!(variance <= f32::MIN_POSITIVE.into(), "{scale}"),
            _ => assert!((variance - want).abs() <= tolerance * want, "{scale}: {variance} for {want}"),
        }
        let [(want, lean), (wanted, tails)] = shape_of(&wide, moments);
        assert!((skewness - want).abs() <= tolerance * lean, "{scale}: skewness {skewness} for {want}");
        assert!((kurtosis - wanted).abs() <= tolerance * tails, "{scale}: kurtosis {kurtosis} for {wanted}");
    }
    Ok(())
}

/// A call that needs more workgroups than one dispatch may have.
fn many(ctx: &Context) -> Checked {
    for count in sample(ctx, [30_000, 540_000]) {
        let shape = Shape::new(3, count, 1);
        let data: Vec<f32> = (0..shape.len()).map(|k| (k % 1000) as f32).collect();
        let found = describe(ctx, &Array::from_vec(shape, data.clone())?, Axis::Rows, StatsOptions::default())?;
        let (mean, max) = (found.mean.to_host(ctx)?, found.max.to_host(ctx)?);
        for (s, own) in data.chunks_exact(3).enumerate() {
            let want = own.iter().map(|&x| f64::from(x)).sum::<f64>() / 3.0;
            assert!((f64::from(mean.as_slice()[s]) - want).abs() <= 4.0 * EPS * want, "series {s} of {count}");
            assert_eq!(max.as_slice()[s], own.iter().copied().fold(0.0, f32::max));
        }
    }
    Ok(())
}

fn cuts(ctx: &Context) -> Checked {
    let (rows, cols) = (20_000, 5);
    let mut data = table(rows, cols, 3);
    data[rows + 77] = f32::NAN;
    for nan in [Nan::Propagate, Nan::Omit] {
        let options = StatsOptions { nan, ..StatsOptions::default() };
        let x = Array::from_vec(Shape::new(rows, cols, 1), data.clone())?;
        let whole = all_bits(ctx, &describe(ctx, &x, Axis::Rows, options)?)?;
        for step in CUTS {
            let mut running = RunningStats::new(cols, options);
            for begin in (0..rows).step_by(step) {
                let chunk = rows_of(&data, rows, begin..(begin + step).min(rows))?;
                // Every second chunk is already on the device.
                let chunk =
                    if ctx.adapter().is_some() && begin / step % 2 == 1 { chunk.to_device(ctx)? } else { chunk };
                running.push(ctx, &chunk)?;
                running.push(ctx, &rows_of(&data, rows, 0..0)?)?;
            }
            assert_eq!(running.rows(), rows as u64);
            let found = running.finish(ctx)?;
            assert_eq!(found.mean.is_resident(), ctx.adapter().is_some());
            assert_eq!(all_bits(ctx, &found)?, whole, "by {step}, {nan:?}");
            assert_eq!(all_bits(ctx, &running.finish(ctx)?)?, whole, "asked again");
        }
        // Reading an intermediate result does not change the final result.
        let mut running = RunningStats::new(cols, options);
        running.push(ctx, &rows_of(&data, rows, 0..100)?)?;
        let first = describe(ctx, &rows_of(&data, rows, 0..100)?, Axis::Rows, options)?;
        assert_eq!(all_bits(ctx, &running.finish(ctx)?)?, all_bits(ctx, &first)?);
        running.push(ctx, &rows_of(&data, rows, 100..rows)?)?;
        assert_eq!(all_bits(ctx, &running.finish(ctx)?)?, whole, "after a look");
    }
    // Batches that are cut between matrices, and within the rows of one matrix.
    let data: Vec<f32> = table(300_000, 1, 4);
    for (shape, axis) in [
        (Shape::new(3000, 100, 1), Some(Axis::Rows)),
        (Shape::new(100, 30, 100), Some(Axis::Cols)),
        (Shape::new(3, 5, 20_000), Some(Axis::Batch)),
        (Shape::new(3000, 100, 1), None),
    ] {
        let x = Array::from_vec(shape, data.clone())?;
        let whole = all_bits(ctx, &describe(ctx, &x, axis, StatsOptions::default())?)?;
        for budget in [1 << 20, 600 << 10] {
            let small = alike(ctx).memory_budget(budget).build()?;
            let found = describe(&small, &x, axis, StatsOptions::default())
                .map_err(|e| format!("{axis:?} under a budget of {budget}: {e}"))?;
            assert_eq!(all_bits(&small, &found)?, whole, "{axis:?} under a budget of {budget}");
            assert!(small.pool().peak <= budget, "{:?}", small.pool());
        }
    }
    Ok(())
}

/// A stream transfers an eighth of the memory budget at a time. This is 2730 rows of three columns here, so that
/// a chunk takes four transfers.
fn chunks_cut(ctx: &Context) -> Checked {
    let (rows, cols, budget) = (23_000, 3, 1 << 18);
    let data = table(rows, cols, 14);
    let streamed = |ctx: &Context| -> fiedler::Result<_> {
        let mut running = RunningStats::new(cols, StatsOptions::default());
        for begin in (0..rows).step_by(10_000) {
            running.push(ctx, &rows_of(&data, rows, begin..(begin + 10_000).min(rows))?)?;
        }
        let found = running.finish(ctx)?;
        assert_eq!((running.rows(), found.counts(ctx)?.as_slice()), (rows as u64, &[rows as u64; 3][..]));
        all_bits(ctx, &found)
    };
    let small = alike(ctx).memory_budget(budget).build()?;
    assert_eq!(streamed(&small)?, streamed(ctx)?);
    assert!(small.pool().peak <= budget, "{:?}", small.pool());
    Ok(())
}

fn merged(ctx: &Context) -> Checked {
    let (rows, cols) = (15_000, 4);
    let data = table(rows, cols, 5);
    let whole = describe(ctx, &rows_of(&data, rows, 0..rows)?, Axis::Rows, StatsOptions::default())?;
    let whole = all(ctx, &whole)?;
    let part = |some: std::ops::Range<usize>| -> fiedler::Result<RunningStats> {
        let mut running = RunningStats::new(cols, StatsOptions::default());
        running.push(ctx, &rows_of(&data, rows, some)?)?;
        Ok(running)
    };
    let mut running = RunningStats::new(cols, StatsOptions::default());
    running.merge(ctx, part(0..5000)?)?;
    running.merge(ctx, part(5000..5001)?)?;
    running.merge(ctx, RunningStats::new(cols, StatsOptions::default()))?;
    running.push(ctx, &rows_of(&data, rows, 5001..9000)?)?;
    running.merge(ctx, part(9000..rows)?)?;
    let found = running.finish(ctx)?;
    assert_eq!(found.counts(ctx)?.as_slice(), [rows as u64; 4]);
    // Merging sums in another order, so the moments are the same only up to rounding.
    for (k, (got, want)) in all(ctx, &found)?.iter().zip(&whole).enumerate() {
        for (g, w) in got.iter().zip(want) {
            assert!((g - w).abs() <= 128.0 * EPS * w.abs().max(1.0), "number {k}: {g} for {w}");
        }
    }
    // The `Moments` type computes the same moments in f64.
    let x: Vec<f64> = data[..rows].iter().map(|&x| x.into()).collect();
    let (a, b) = (Moments::of(&x[..777]), Moments::of(&x[777..]));
    let (both, at_once) = (a.merge(b), Moments::of(&x));
    for (g, w) in [
        (both.mean(), at_once.mean()),
        (both.variance(1), at_once.variance(1)),
        (both.skewness(), at_once.skewness()),
        (both.kurtosis(), at_once.kurtosis()),
    ] {
        assert!((g - w).abs() <= 1e-12 * (1.0 + w.abs()), "{g} for {w}");
    }
    assert_eq!((both.count(), both.min(), both.max()), (rows as u64, at_once.min(), at_once.max()));
    assert_eq!((a.merge(Moments::default()), Moments::default().merge(a)), (a, a));
    Ok(())
}

fn errors(ctx: &Context) -> Checked {
    let x = Array::from_vec(Shape::new(4, 3, 1), vec![1.0_f32; 12])?;
    for q in [-0.1, 1.1, f64::NAN] {
        let error = quantiles(ctx, &x, None, &[0.5, q], Nan::Omit).map(drop).expect_err("no quantile");
        assert!(matches!(error.kind(), ErrorKind::Domain { operation: "quantiles", .. }), "{error}");
    }
    for (bins, range) in [(0, None), (3, Some((1.0, 1.0))), (3, Some((0.0, f64::NAN))), (3, Some((2.0, 1.0)))] {
        let error = histogram(ctx, &x, None, bins, range).map(drop).expect_err("no bins");
        assert!(matches!(error.kind(), ErrorKind::Domain { operation: "histogram", .. }), "{error}");
    }
    let error = histogram(ctx, &x, None, 1 << 40, Some((0.0, 1.0))).map(drop).expect_err("too many bins");
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    // Chunks with another number of columns, and batches.
    for shape in [Shape::new(4, 2, 1), Shape::new(2, 3, 2)] {
        let chunk = Array::from_vec(shape, vec![1.0_f32; shape.len()])?;
        let error = RunningStats::new(3, StatsOptions::default()).push(ctx, &chunk).expect_err("3 columns");
        assert!(matches!(error.kind(), ErrorKind::Shape { .. }) && error.to_string().contains("(any, 3)"), "{error}");
    }
    let mut running = RunningStats::<f32>::new(3, StatsOptions::default());
    let other = RunningStats::new(3, StatsOptions { ddof: 0, nan: Nan::Omit });
    assert!(matches!(running.merge(ctx, other).expect_err("other options").kind(), ErrorKind::Domain { .. }));
    let other = RunningStats::new(4, StatsOptions::default());
    assert!(matches!(running.merge(ctx, other).expect_err("4 columns").kind(), ErrorKind::Shape { .. }));
    // The results would be far larger than the input.
    let none = Array::<f32>::from_vec(Shape::new(0, 1 << 40, 1), vec![])?;
    let error = describe(ctx, &none, Axis::Rows, StatsOptions::default()).map(drop).expect_err("2^40 means");
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    Ok(())
}

fn f64_stays(ctx: &Context) -> Checked {
    let x = Array::from_vec(Shape::new(4, 3, 1), vec![1.0_f64; 12])?;
    let refused = [
        describe(ctx, &x, None, StatsOptions::default()).map(drop),
        quantiles(ctx, &x, None, &[0.5], Nan::Omit).map(drop),
        histogram(ctx, &x, None, 3, None).map(drop),
        RunningStats::new(3, StatsOptions::default()).push(ctx, &x),
    ];
    for refused in refused {
        let error = refused.expect_err("f64 on a device");
        assert!(matches!(error.kind(), ErrorKind::Domain { .. }) && error.to_string().contains("f64"), "{error}");
    }
    Ok(())
}
