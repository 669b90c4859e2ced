//! Quantiles compared with sorting, and histograms with counting, on every backend.

use common::random::SplitMix64;
use common::solve::Checked;
use common::statistics::{AXES, series};
use common::{Test, on_each, suite};
use fiedler::array::Array;
use fiedler::ops::stats::{Histogram, Nan, histogram, quantiles, reduced};
use fiedler::{Axis, Context, Shape};

const EPS: f64 = f32::EPSILON as f64;

pub fn tests() -> Vec<Test> {
    suite("quantiles", vec![on_each("quantiles", quantiles_against_sorting), on_each("histograms", histograms)])
}

/// Computes a quantile by its definition, which is linear interpolation between two neighbors of the sorted values.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let low = at.floor() as usize;
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] + (sorted[high] - sorted[low]) * (at - low as f64)
}

fn quantiles_against_sorting(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(6);
    let q = [0.5, 0.0, 1.0, 0.25, 0.999, 0.1, 0.1];
    for shape in [Shape::new(1, 1, 1), Shape::new(7, 5, 3), Shape::new(2, 3, 40), Shape::new(40_000, 2, 1)] {
        for kind in 0..3 {
            let mut data: Vec<f32> = (0..shape.len())
                .map(|_| match kind {
                    0 => random.normal() as f32,
                    // Ties, zeros of both signs, and magnitudes of every exponent.
                    1 => [0.0, -0.0, 1.0, -1.0, 2.0][random.below(5)],
                    _ => (random.sign() * 2.0_f64.powf(250.0 * random.signed() / 2.0)) as f32,
                })
                .collect();
            for (axis, nan) in AXES.into_iter().flat_map(|axis| [(axis, Nan::Propagate), (axis, Nan::Omit)]) {
                // A software adapter takes a second for hundreds of series.
                if reduced(shape, axis, 1).len() > 300 {
                    continue;
                }
                if nan == Nan::Omit {
                    data[0] = f32::NAN;
                }
                let found = quantiles(ctx, &Array::from_vec(shape, data.clone())?, axis, &q, nan)?;
                let wanted = reduced(shape, axis, q.len());
                assert_eq!(found.shape(), wanted);
                let host = found.to_host(ctx)?;
                let got = series(host.as_slice(), wanted, axis);
                for (s, own) in series(&data, shape, axis).iter().enumerate() {
                    let mut sorted: Vec<f64> = own.iter().map(|&x| x.into()).collect();
                    let bad = nan == Nan::Propagate && sorted.iter().any(|x| x.is_nan());
                    sorted.retain(|x| !x.is_nan());
                    sorted.sort_by(f64::total_cmp);
                    let got = if axis.is_none() { host.as_slice().to_vec() } else { got[s].clone() };
                    for (&q, &got) in q.iter().zip(&got) {
                        let what = format!("{shape}, {axis:?}, {nan:?}, kind {kind}, series {s}, q {q}: {got}");
                        if bad || sorted.is_empty() {
                            assert!(got.is_nan(), "{what}");
                            continue;
                        }
                        let want = quantile(&sorted, q);
                        let at = q * (sorted.len() - 1) as f64;
                        let unit = sorted[at.floor() as usize].abs().max(sorted[at.ceil() as usize].abs());
                        // The interpolation weight is rounded, and a device may flush subnormal values.
                        assert!((f64::from(got) - want).abs() <= 4.0 * EPS * unit + 2e-38, "{what} for {want}");
                    }
                }
            }
        }
    }
    let x = Array::from_vec(Shape::new(4, 1, 1), vec![f32::NEG_INFINITY, f32::INFINITY, 1.0, 2.0])?;
    let got = quantiles(ctx, &x, None, &[0.0, 1.0 / 3.0, 0.5, 0.9, 1.0, 0.1], Nan::Propagate)?.to_host(ctx)?;
    assert_eq!(got.as_slice(), [f32::NEG_INFINITY, 1.0, 1.5, f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY]);
    let mut data = vec![1.0_f32; 300];
    data[120] = f32::NAN;
    let x = Array::from_vec(Shape::new(100, 3, 1), data)?;
    let got = quantiles(ctx, &x, Axis::Rows, &[0.5], Nan::Propagate)?.to_host(ctx)?;
    assert!(got.as_slice()[0] == 1.0 && got.as_slice()[1].is_nan() && got.as_slice()[2] == 1.0, "{got:?}");
    assert!(quantiles(ctx, &x, Axis::Rows, &[], Nan::Propagate)?.shape().is_empty());
    Ok(())
}

fn histograms(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(7);
    for (shape, bins) in [
        (Shape::new(7, 5, 3), 4),
        (Shape::new(40_000, 2, 1), 10),
        (Shape::new(9000, 1, 1), 5000),
        (Shape::new(3, 3, 9), 1),
    ] {
        let mut data: Vec<f32> = (0..shape.len()).map(|_| (random.below(31) as f64 / 10.0 - 0.5) as f32).collect();
        data[1] = f32::NAN;
        data[2] = f32::INFINITY;
        let x = Array::from_vec(shape, data.clone())?;
        for axis in AXES.into_iter().filter(|&axis| reduced(shape, axis, 1).len() < 300) {
            for range in [Some((0.0, 1.0)), Some((-0.3, 0.1)), None] {
                let found = histogram(ctx, &x, axis, bins, range)?;
                judge(&found, &series(&data, shape, axis), axis, reduced(shape, axis, bins), range)?;
            }
        }
    }
    // A series of equal values, and a series without values.
    let one = histogram(ctx, &Array::from_vec(Shape::new(5, 1, 1), vec![3.0_f32; 5])?, None, 2, None)?;
    assert_eq!((one.edges, one.counts), (vec![2.5, 3.0, 3.5], vec![0, 5]));
    let none = histogram(ctx, &Array::<f32>::from_vec(Shape::new(0, 2, 1), vec![])?, Axis::Rows, 2, None)?;
    assert_eq!((none.edges, none.counts), (vec![0.0, 0.5, 1.0], vec![0; 4]));
    Ok(())
}

/// Compares every count of a histogram with the definition.
fn judge(
    found: &Histogram,
    series: &[Vec<f32>],
    axis: Option<Axis>,
    shape: Shape,
    range: Option<(f64, f64)>,
) -> Result<(), String> {
    assert_eq!(found.shape, shape);
    let (bins, edges) = (found.edges.len() - 1, &found.edges);
    if let Some(range) = range {
        assert_eq!((edges[0], edges[bins]), range);
    }
    let counts = if axis.is_none() {
        vec![found.counts.clone()]
    } else {
        common::statistics::series(&found.counts, shape, axis)
    };
    for (s, own) in series.iter().enumerate() {
        let wide = || own.iter().map(|&x| f64::from(x));
        for bin in 0..bins {
            let last = bin + 1 == bins;
            let within = |x: &f64| *x >= edges[bin] && (*x < edges[bin + 1] || last && *x <= edges[bin + 1]);
            let want = wide().filter(within).count() as u64;
            assert_eq!(counts[s][bin], want, "{axis:?}, series {s}, bin {bin} of {bins}, {range:?}");
        }
        assert_eq!(found.below[s], wide().filter(|x| *x < edges[0]).count() as u64);
        assert_eq!(found.above[s], wide().filter(|x| *x > edges[bins]).count() as u64);
        assert_eq!(found.nan[s], wide().filter(|x| x.is_nan()).count() as u64);
    }
    Ok(())
}
