//! The trial of matrix units: products of f16 on them, next to the same products without them.

use super::forms::context;
use crate::bench::clock::timed;
use crate::bench::workloads::Call;
use fiedler::array::Array;
use fiedler::forms::{KernelForm, MatmulForm};
use fiedler::ops::matmul::matmul;
use fiedler::policy::{GpuRates, Rates};
use fiedler::{Adapter, Context, ErrorKind, Result, Shape};
use half::f16;
use std::time::{Duration, Instant};

/// The orders of the factors of a trial.
const ORDERS: [usize; 4] = [256, 512, 1024, 2048];
/// The time for each measurement.
const EACH: Duration = Duration::from_millis(50);
/// The largest size, if matrix units are faster for the largest order that was tried.
const NO_LIMIT: f64 = 1e30;
/// The largest allowed difference between two results, relative to the largest element: one rounding to f16 each.
const ROUNDING: f32 = 2.0 / 2048.0;

/// Returns the smallest and the largest size of products of f16 for which matrix units are faster by more than the
/// margin. Returns `None` if the adapter of `ctx` has no matrix units, if they are not faster, or if their results are
/// not those of the other forms. The trial of an order starts only if it is expected to end before `end`.
pub(super) fn faster(
    ctx: &Context,
    rates: &Rates,
    margin: f64,
    end: Instant,
    say: &mut dyn FnMut(&str),
) -> Result<Option<[f64; 2]>> {
    let Some(adapter) = ctx.adapter() else { return Ok(None) };
    // The adapter of a device that was opened without matrix units does not list them.
    let same = |other: &Adapter| (&other.name, &other.driver) == (&adapter.name, &adapter.driver);
    if !Adapter::all().iter().any(|other| same(other) && other.features.contains(&"matrix-units")) {
        return Ok(None);
    }
    // An earlier trial must not decide what the products without matrix units use.
    let gpu = GpuRates { matrix_units: None, ..rates.gpu.clone() };
    let rates = Rates { gpu, ..rates.clone() };
    let forms = [KernelForm::Matmul(MatmulForm::Cooperative)];
    let (Some(plain), Some(units)) = (context(ctx, &rates, &[])?, context(ctx, &rates, &forms)?) else {
        return Ok(None);
    };
    let (mut sizes, mut last): (Option<[f64; 2]>, _) = (None, Duration::ZERO);
    for order in ORDERS {
        let began = Instant::now();
        // A product of twice the order has eight times as many operations.
        if began + 8 * last > end {
            break;
        }
        say(&format!("gemm/f16/n={order}: with or without matrix units"));
        // Wrong products, or a variant that fails, are no reason to stop measuring the adapter.
        match is_faster(&plain, &units, order, margin) {
            Ok(true) => sizes = Some([sizes.map_or(order as f64, |sizes| sizes[0]), NO_LIMIT]),
            Ok(false) => {
                if let Some(sizes) = &mut sizes {
                    sizes[1] = (order / 2) as f64;
                    break;
                }
            }
            Err(error) => {
                log::warn!("tune: matrix units are not used: {error}");
                return Ok(None);
            }
        }
        last = began.elapsed();
    }
    Ok(sizes)
}

/// Returns whether products of the given order are faster by more than the margin on matrix units. Returns an error if
/// they are wrong.
fn is_faster(plain: &Context, units: &Context, order: usize, margin: f64) -> Result<bool> {
    let shape = Shape::new(order, order, 1);
    let numbers = |step: usize| {
        let all = (0..shape.len()).map(|i| f16::from_f32((i * step % 61) as f32 / 61.0 - 0.5)).collect();
        Array::from_vec(shape, all)
    };
    let (a, b) = (numbers(7)?, numbers(11)?);
    let (mut least, mut results) = ([f64::INFINITY; 2], Vec::new());
    // The two contexts are measured alternately, so that a disturbance affects both.
    for round in 0..2 {
        for (least, ctx) in least.iter_mut().zip([plain, units]) {
            let (on_a, on_b) = (a.to_device(ctx)?, b.to_device(ctx)?);
            if round == 0 {
                results.push(matmul(ctx, &on_a, &on_b)?.to_host(ctx)?);
            }
            let mut call: Call<'_> = Box::new(|| matmul(ctx, &on_a, &on_b).and_then(|_| ctx.wait()));
            *least = least.min(timed(&mut call, EACH)?.least);
        }
    }
    let pairs = || results[0].as_slice().iter().zip(results[1].as_slice()).map(|(x, y)| [x.to_f32(), y.to_f32()]);
    let largest = pairs().fold(0.0, |largest: f32, [x, _]| largest.max(x.abs()));
    // A NaN is not below the bound.
    let right = pairs().all(|[x, y]| (x - y).abs() <= ROUNDING * largest);
    if !right {
        let message = format!("products of order {order} in f16 are wrong");
        return Err(ErrorKind::Device { message }.into());
    }
    let [without, with] = least;
    log::debug!("tune: products of order {order} in f16 take {without:.3e} s, and on matrix units {with:.3e} s");
    Ok(margin * with < without)
}
