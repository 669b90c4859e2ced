//! The inputs of workloads.

use crate::bench::case::Case;
use fiedler::array::Array;
use fiedler::ops::random;
use fiedler::policy::{Side, Workload};
use fiedler::{Context, Result, Shape};
use num_complex::Complex;

/// The seed of the random inputs of all workloads that are measured.
pub(in crate::bench) const SEED: u64 = 6;

/// Returns whether operations of this context may run on a device at all.
pub(super) fn on_device(ctx: &Context) -> bool {
    ctx.explain(&Workload::default(), true).side == Side::Gpu
}

/// Returns the array on the side where operations of this context compute.
pub(super) fn there(ctx: &Context, a: &Array<f32>) -> Result<Array<f32>> {
    if on_device(ctx) { a.to_device(ctx) } else { Ok(a.clone()) }
}

/// Returns the workload's array of values in -1..1.
pub(super) fn numbers(case: &Case) -> Result<Array<f32>> {
    uniform(case.shape(), case.seed)
}

/// Returns the workload's array of complex values, whose real and imaginary parts are in -1..1.
pub(super) fn complex(case: &Case) -> Result<Array<Complex<f32>>> {
    let shape = case.shape();
    let twice = uniform(Shape { rows: 2 * shape.rows, ..shape }, case.seed)?.to_host(&Context::cpu())?;
    Array::from_vec(shape, twice.as_slice().chunks_exact(2).map(|pair| Complex::new(pair[0], pair[1])).collect())
}

fn uniform(shape: Shape, seed: u64) -> Result<Array<f32>> {
    let mut stream = random::Stream::new(seed, "bench");
    random::uniform(&Context::cpu(), &mut stream, shape, -1.0..1.0)
}
