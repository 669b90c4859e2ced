//! Covariance and correlation on every backend. They are compared with two passes in f64 on data that cancels.
//! Elements that are not finite may affect only their own column. The bits have to be the same however a stream or
//! a batch is cut, and calls that cannot be done give typed errors.

use common::random::SplitMix64;
use common::solve::{Checked, alike, bits};
use common::statistics::{CUTS, KINDS, rows_of, table, two_passes};
use common::{Test, on_cpu, on_each, on_gpus, suite};
use fiedler::array::{Array, Real};
use fiedler::ops::stats::{RunningCovariance, corr, cov};
use fiedler::{Context, ErrorKind, Shape};

pub fn tests() -> Vec<Test> {
    suite(
        "covariance",
        vec![
            on_each("against two passes in f64", covariances::<f32>),
            on_cpu("in f64", covariances::<f64>),
            on_each("1,000 columns", wide),
            on_each("NaN, one row, no rows", covariance_edges),
            on_each("values of every scale, in columns and in rows", every_size),
            on_each("a stream in chunks, merged, and a batch that is cut", covariance_cuts),
            on_each("chunks that the budget cuts", chunks_cut),
            on_each("errors", errors),
            on_gpus("f64 stays on the CPU", f64_stays),
        ],
    )
}

const EPS: f64 = f32::EPSILON as f64;

/// Computes the covariance of the columns by two passes in f64.
fn two_pass_cov(x: &[f64], rows: usize) -> Vec<f64> {
    let centered: Vec<Vec<f64>> = x
        .chunks_exact(rows)
        .map(|column| {
            let mean = two_passes(column)[0];
            column.iter().map(|x| x - mean).collect()
        })
        .collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / (rows as f64 - 1.0);
    centered.iter().flat_map(|a| centered.iter().map(|b| dot(a, b)).collect::<Vec<_>>()).collect()
}

/// Checks that the error of a covariance, divided by the standard deviations of both columns, is at most
/// `tolerance`.
fn close_cov(got: &[f64], want: &[f64], cols: usize, tolerance: f64, what: &str) {
    for (k, (g, w)) in got.iter().zip(want).enumerate() {
        let (i, j) = (k % cols, k / cols);
        let unit = (want[i * cols + i] * want[j * cols + j]).sqrt();
        assert!((g - w).abs() <= tolerance * unit, "{what}: ({i}, {j}) {g} for {w}, of {unit}");
    }
}

/// Returns the allowed error. Products of f32 are summed in f32 within a leaf: in SIMD lanes on the CPU, and in
/// groups of sixteen on the device.
fn cov_tolerance<T: Real>() -> f64 {
    if T::ON_DEVICE { 64.0 * EPS } else { 1e-11 }
}

fn covariances<T: Real>(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(8);
    for shape in [
        Shape::new(2, 1, 1),
        Shape::new(5, 3, 4),
        Shape::new(100, 17, 3),
        Shape::new(1024, 16, 1),
        Shape::new(1025, 33, 2),
        Shape::new(5000, 70, 1),
    ] {
        for (kind, draw) in [KINDS[0], KINDS[1], KINDS[3]] {
            let mut data: Vec<T> = (0..shape.len()).map(|_| T::from_f64(draw(&mut random))).collect();
            // The columns depend on each other.
            for own in data.chunks_exact_mut(shape.matrix_len()) {
                for r in (0..shape.rows).filter(|_| shape.cols > 1) {
                    let sum = own[r].to_f64() + own[shape.rows + r].to_f64();
                    own[shape.rows + r] = T::from_f64(sum / 2.0);
                }
            }
            let x = Array::from_vec(shape, data.clone())?;
            let (found, correlated) = (cov(ctx, &x)?.to_host(ctx)?, corr(ctx, &x)?.to_host(ctx)?);
            assert_eq!(found.shape(), Shape::new(shape.cols, shape.cols, shape.batch));
            for (b, own) in data.chunks_exact(shape.matrix_len()).enumerate() {
                let wide: Vec<f64> = own.iter().map(|x| x.to_f64()).collect();
                let want = two_pass_cov(&wide, shape.rows);
                let size = shape.cols * shape.cols;
                let of = |all: &[T]| all[b * size..(b + 1) * size].iter().map(|x| x.to_f64()).collect::<Vec<_>>();
                let what = format!("{kind}, {shape}, matrix {b}");
                let got = of(found.as_slice());
                close_cov(&got, &want, shape.cols, cov_tolerance::<T>(), &what);
                let got = of(correlated.as_slice());
                for (k, g) in got.iter().enumerate() {
                    let (i, j) = (k % shape.cols, k / shape.cols);
                    let w = want[k] / (want[i * shape.cols + i] * want[j * shape.cols + j]).sqrt();
                    assert!((g - w).abs() <= 2.0 * cov_tolerance::<T>(), "{what}: correlation ({i}, {j}) {g} for {w}");
                    assert!((-1.0..=1.0).contains(g) && (i != j || *g == 1.0), "{what}: {g}");
                }
            }
        }
    }
    Ok(())
}

fn wide(ctx: &Context) -> Checked {
    let (rows, cols) = (300, 1000);
    let data = table(rows, cols, 9);
    let found = cov(ctx, &Array::from_vec(Shape::new(rows, cols, 1), data.clone())?)?.to_host(ctx)?;
    let wide: Vec<f64> = data.iter().map(|&x| x.into()).collect();
    let got: Vec<f64> = found.as_slice().iter().map(|&x| x.into()).collect();
    close_cov(&got, &two_pass_cov(&wide, rows), cols, 64.0 * EPS, "1,000 columns");
    Ok(())
}

fn covariance_edges(ctx: &Context) -> Checked {
    let (rows, cols) = (3000, 20);
    let clean = table(rows, cols, 10);
    let good = cov(ctx, &rows_of(&clean, rows, 0..rows)?)?.to_host(ctx)?;
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut data = clean.clone();
        data[7 * rows + 1500] = bad;
        let found = cov(ctx, &rows_of(&data, rows, 0..rows)?)?.to_host(ctx)?;
        for (k, (got, want)) in found.as_slice().iter().zip(good.as_slice()).enumerate() {
            let touched = k % cols == 7 || k / cols == 7;
            assert!(if touched { got.is_nan() } else { got == want }, "({}, {}) {got}", k % cols, k / cols);
        }
    }
    // A column of equal values has covariances, which are 0, but no correlations.
    let mut data = clean.clone();
    data[..rows].fill(0.1);
    let x = rows_of(&data, rows, 0..rows)?;
    let (found, correlated) = (cov(ctx, &x)?.to_host(ctx)?, corr(ctx, &x)?.to_host(ctx)?);
    assert!(found.as_slice()[..cols].iter().all(|&x| x == 0.0), "{:?}", &found.as_slice()[..cols]);
    assert!(correlated.as_slice()[..cols].iter().all(|x| x.is_nan()) && correlated.as_slice()[cols + 1] == 1.0);
    for rows in [0, 1] {
        let found = cov(ctx, &Array::from_vec(Shape::new(rows, 3, 2), vec![1.0_f32; rows * 6])?)?.to_host(ctx)?;
        assert!(found.as_slice().len() == 18 && found.as_slice().iter().all(|x| x.is_nan()), "{rows} rows");
    }
    for shape in [Shape::new(5, 0, 2), Shape::new(5, 3, 0)] {
        assert!(cov(ctx, &Array::<f32>::from_vec(shape, vec![])?)?.shape().is_empty());
    }
    // The rows are multiplied by units of every size, which must not change the correlations.
    let base = corr(ctx, &rows_of(&clean, rows, 0..rows)?)?.to_host(ctx)?;
    for exponent in [-90, -40, 40, 90] {
        let scaled: Vec<f32> = clean.iter().map(|x| x * 2.0_f32.powi(exponent)).collect();
        let found = corr(ctx, &rows_of(&scaled, rows, 0..rows)?)?.to_host(ctx)?;
        for (g, w) in found.as_slice().iter().zip(base.as_slice()) {
            let apart = f64::from(g - w).abs();
            assert!(apart <= 2.0 * cov_tolerance::<f32>(), "2^{exponent}: {g} for {w}");
        }
    }
    Ok(())
}

/// Columns in different units, and rows whose unit differs from that of the first rows. Covariances in f32's range
/// have to be correct, covariances beyond it are infinite, and all correlations have to be correct.
fn every_size(ctx: &Context) -> Checked {
    let (rows, cols) = (3000, 6);
    let base = table(rows, cols, 12);
    let middle: Vec<f64> =
        base.chunks_exact(rows).map(|own| own.iter().map(|&x| f64::from(x)).sum::<f64>() / rows as f64).collect();
    let units = [1e-30, 1e30, 1e-8, 1e19, 3e36, 1e-15];
    let at = |k: usize| f64::from(base[k]) - middle[k / rows];
    // Three kinds of data: each column has its own unit; the first 1100 rows are equal in addition; or the data
    // begins with small values.
    let columns: Vec<f32> = (0..base.len()).map(|k| (at(k) * units[k / rows]) as f32).collect();
    let late: Vec<f32> = (0..base.len()).map(|k| if k % rows < 1100 { 0.0 } else { columns[k] }).collect();
    let rising: Vec<f32> =
        (0..base.len()).map(|k| (at(k) * units[k / rows] * if k % rows < 1100 { 1e-6 } else { 1.0 }) as f32).collect();
    for (what, data) in [("columns", columns), ("late", late), ("rising", rising)] {
        let wide: Vec<f64> = data.iter().map(|&x| x.into()).collect();
        let want = two_pass_cov(&wide, rows);
        let x = rows_of(&data, rows, 0..rows)?;
        let mut running = RunningCovariance::new(cols);
        for begin in (0..rows).step_by(700) {
            running.push(ctx, &rows_of(&data, rows, begin..(begin + 700).min(rows))?)?;
        }
        for (j, own) in wide.chunks_exact(rows).enumerate() {
            let (got, want) = (f64::from(running.mean(ctx)?.to_host(ctx)?.as_slice()[j]), two_passes(own)[0]);
            let spread = want.abs() + two_passes(own)[1].sqrt();
            assert!((got - want).abs() <= cov_tolerance::<f32>() * spread, "{what}: mean {j} {got:e} for {want:e}");
        }
        for (how, found, correlated) in
            [("at once", cov(ctx, &x)?, corr(ctx, &x)?), ("a stream", running.cov(ctx)?, running.corr(ctx)?)]
        {
            let (found, correlated) = (found.to_host(ctx)?, correlated.to_host(ctx)?);
            for (k, (&got, want_k)) in found.as_slice().iter().zip(&want).enumerate() {
                let (i, j) = (k % cols, k / cols);
                let unit = (want[i * cols + i] * want[j * cols + j]).sqrt();
                let place = format!("{what}, {how}: ({i}, {j})");
                let got = f64::from(got);
                if want_k.abs() > 1.001 * f64::from(f32::MAX) {
                    assert!(got == f64::INFINITY.copysign(*want_k), "{place}: {got:e} for {want_k:e}");
                } else {
                    // Subnormal values may be flushed.
                    let allowed = cov_tolerance::<f32>() * unit + 2e-38;
                    assert!((got - want_k).abs() <= allowed, "{place}: {got:e} for {want_k:e}");
                }
                let (got, want) = (f64::from(correlated.as_slice()[k]), want_k / unit);
                assert!((got - want).abs() <= 2.0 * cov_tolerance::<f32>(), "{place}: correlation {got} for {want}");
            }
        }
    }
    Ok(())
}

fn covariance_cuts(ctx: &Context) -> Checked {
    let (rows, cols) = (20_000, 6);
    let data = table(rows, cols, 11);
    let of = |array: Array<f32>| -> fiedler::Result<Vec<u32>> { Ok(bits(array.to_host(ctx)?.as_slice())) };
    let x = rows_of(&data, rows, 0..rows)?;
    let (whole, correlated) = (of(cov(ctx, &x)?)?, of(corr(ctx, &x)?)?);
    for step in CUTS {
        let mut running = RunningCovariance::new(cols);
        for begin in (0..rows).step_by(step) {
            let chunk = rows_of(&data, rows, begin..(begin + step).min(rows))?;
            let chunk = if ctx.adapter().is_some() && begin / step % 2 == 1 { chunk.to_device(ctx)? } else { chunk };
            running.push(ctx, &chunk)?;
        }
        assert_eq!((running.rows(), running.cov(ctx)?.is_resident()), (rows as u64, ctx.adapter().is_some()));
        assert_eq!(of(running.cov(ctx)?)?, whole, "by {step}");
        assert_eq!(of(running.corr(ctx)?)?, correlated, "by {step}");
    }
    // Merging accumulators sums in another order.
    let mut running = RunningCovariance::new(cols);
    for some in [0..7000, 7000..7001, 7001..rows] {
        let mut part = RunningCovariance::new(cols);
        part.push(ctx, &rows_of(&data, rows, some)?)?;
        running.merge(ctx, part)?;
    }
    let wide: Vec<f64> = data.iter().map(|&x| x.into()).collect();
    let got: Vec<f64> = running.cov(ctx)?.to_host(ctx)?.as_slice().iter().map(|&x| x.into()).collect();
    close_cov(&got, &two_pass_cov(&wide, rows), cols, 64.0 * EPS, "merged");
    for (j, mean) in running.mean(ctx)?.to_host(ctx)?.as_slice().iter().enumerate() {
        let want = two_passes(&wide[j * rows..(j + 1) * rows])[0];
        assert!((f64::from(*mean) - want).abs() <= 4.0 * EPS * want, "mean {j}: {mean} for {want}");
    }
    // Batches that are cut, and rows of one matrix.
    for shape in [Shape::new(500, 6, 40), Shape::new(20_000, 6, 1)] {
        let x = Array::from_vec(shape, data.clone())?;
        let whole = of(cov(ctx, &x)?)?;
        for budget in [1 << 20, 400 << 10] {
            let small = alike(ctx).memory_budget(budget).build()?;
            let found = cov(&small, &x).map_err(|e| format!("{shape} under a budget of {budget}: {e}"))?;
            assert_eq!(bits(found.to_host(&small)?.as_slice()), whole, "{shape} under a budget of {budget}");
            assert!(small.pool().peak <= budget, "{:?}", small.pool());
        }
    }
    Ok(())
}

/// A stream transfers an eighth of the memory budget at a time. This is 2730 rows of three columns here, so that a
/// chunk takes four transfers.
fn chunks_cut(ctx: &Context) -> Checked {
    let (rows, cols, budget) = (23_000, 3, 1 << 18);
    let data = table(rows, cols, 14);
    let streamed = |ctx: &Context| -> fiedler::Result<[Vec<u32>; 2]> {
        let mut running = RunningCovariance::new(cols);
        for begin in (0..rows).step_by(10_000) {
            running.push(ctx, &rows_of(&data, rows, begin..(begin + 10_000).min(rows))?)?;
        }
        assert_eq!(running.rows(), rows as u64);
        let of = |array: Array<f32>| -> fiedler::Result<_> { Ok(bits(array.to_host(ctx)?.as_slice())) };
        Ok([of(running.mean(ctx)?)?, of(running.cov(ctx)?)?])
    };
    let small = alike(ctx).memory_budget(budget).build()?;
    assert_eq!(streamed(&small)?, streamed(ctx)?);
    assert!(small.pool().peak <= budget, "{:?}", small.pool());
    Ok(())
}

fn errors(ctx: &Context) -> Checked {
    for shape in [Shape::new(4, 2, 1), Shape::new(2, 3, 2)] {
        let chunk = Array::from_vec(shape, vec![1.0_f32; shape.len()])?;
        let error = RunningCovariance::new(3).push(ctx, &chunk).expect_err("3 columns");
        assert!(matches!(error.kind(), ErrorKind::Shape { .. }) && error.to_string().contains("(any, 3)"), "{error}");
    }
    let error = RunningCovariance::<f32>::new(3).merge(ctx, RunningCovariance::new(4)).expect_err("4 columns");
    assert!(matches!(error.kind(), ErrorKind::Shape { .. }), "{error}");
    // The results would be far larger than the input.
    let few = Array::from_vec(Shape::new(1, 200_000, 1), vec![1.0_f32; 200_000])?;
    assert!(matches!(cov(ctx, &few).map(drop).expect_err("320 GB").kind(), ErrorKind::Limit { .. }));
    Ok(())
}

fn f64_stays(ctx: &Context) -> Checked {
    let x = Array::from_vec(Shape::new(4, 3, 1), vec![1.0_f64; 12])?;
    for refused in [cov(ctx, &x).map(drop), corr(ctx, &x).map(drop), RunningCovariance::new(3).push(ctx, &x)] {
        let error = refused.expect_err("f64 on a device");
        assert!(matches!(error.kind(), ErrorKind::Domain { .. }) && error.to_string().contains("f64"), "{error}");
    }
    Ok(())
}
