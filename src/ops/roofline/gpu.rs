//! The ceilings of an adapter.

use super::kernels::{Chain, Copy, Fma, Span, WIDTH};
use super::{Ceilings, best};
use crate::context::Context;
use crate::device::{Buffer, Gpu, Grid};
use crate::error::{ErrorKind, Result};
use crate::shape::to_u32;

/// The number of iterations in a chain of multiply-adds, which is below the loop budget of every adapter.
const TURNS: u32 = 4096;
/// The number of floating-point operations per invocation in one iteration.
const TURN: f64 = 64.0;

pub(super) fn ceilings(ctx: &Context, bytes: u64, rounds: usize) -> Result<Ceilings> {
    let gpu = ctx.gpu()?;
    let allowed = gpu.adapter().limits.storage_binding;
    if bytes > allowed {
        let what = format!("bytes of a copy in one binding on {}", gpu.adapter().name);
        return Err(ErrorKind::Limit { what, needed: bytes, allowed }.into());
    }
    let vectors = to_u32(bytes / 16);
    let given: Buffer<[f32; 4]> = gpu.record().array(vectors as usize)?;
    let mut made: Buffer<[f32; 4]> = gpu.record().array(vectors as usize)?;
    let mut copy = |count: u32| -> Result<()> {
        let mut rec = gpu.record();
        for range in rec.ranges(count.div_ceil(WIDTH), f64::from(WIDTH)) {
            let params = Span { first: range.first, count };
            let kernel = Copy { params, given: &given, made: &mut made };
            rec.dispatch(&kernel, &[], range.grid(), range.flops)?;
        }
        drop(rec);
        gpu.wait()
    };
    let copied = best(rounds, || copy(vectors))?;
    let call = best(rounds, || copy(1))?;
    let groups = groups(gpu);
    let mut sums: Buffer<[f32; 4]> = gpu.record().array((groups * WIDTH) as usize)?;
    let flops = TURN * f64::from(TURNS) * f64::from(groups * WIDTH);
    let computed = best(rounds, || {
        let params = Chain { turns: TURNS, a: 0.999, b: 1e-3 };
        gpu.record().dispatch(&Fma { params, made: &mut sums }, &[], Grid::Workgroups(groups), flops)?;
        gpu.wait()
    })?;
    Ok(Ceilings { copy: 32.0 * f64::from(vectors) / copied, fma: flops / computed, call })
}

/// The number of dispatches in the submission that is compared with a submission of one dispatch.
const MANY: u32 = 65;

pub(super) fn dispatch(ctx: &Context, rounds: usize) -> Result<f64> {
    let gpu = ctx.gpu()?;
    let given: Buffer<[f32; 4]> = gpu.record().array(1)?;
    let mut made: Buffer<[f32; 4]> = gpu.record().array(1)?;
    let mut submit = |count: u32| -> Result<()> {
        let mut rec = gpu.record();
        for _ in 0..count {
            let params = Span { first: 0, count: 1 };
            rec.dispatch(&Copy { params, given: &given, made: &mut made }, &[], Grid::Workgroups(1), 1.0)?;
        }
        drop(rec);
        gpu.wait()
    };
    let one = best(rounds, || submit(1))?;
    let many = best(rounds, || submit(MANY))?;
    // The clock may not be able to distinguish the two times. Therefore, the result is at least a hundredth of `one`.
    Ok(((many - one) / f64::from(MANY - 1)).max(1e-2 * one))
}

/// Returns the number of workgroups that compute chains of multiply-adds. On a GPU, there are enough workgroups to use
/// every core of the largest GPU. A software adapter gets only a few workgroups, because it is slow.
fn groups(gpu: &Gpu) -> u32 {
    if gpu.adapter().software { 16 } else { 4096 }
}

#[cfg(test)]
mod tests {
    /// lavapipe silently ends the loops of an invocation after 65,535 iterations in total.
    #[test]
    fn the_loops_fit_lavapipe() {
        const { assert!(super::TURNS <= 65_535) };
    }
}
