//! A few eigenpairs of large sparse symmetric matrices.

#[allow(dead_code, reason = "until something above chooses it")]
mod basis;
mod chebyshev;
mod cpu;
#[allow(dead_code, reason = "until something above chooses it")]
mod lanczos;
mod ritz;
mod space;

use crate::array::Real;
use crate::context::Context;
use crate::error::Result;
use crate::ops::eigen::Which;
use crate::ops::sparse::Operator;
use chebyshev::{Effort, Goal, iterate};
use cpu::CpuSpace;
use space::Space;

#[doc(hidden)]
pub fn scratch<T: Real>(
    ctx: &Context,
    a: &Operator<'_, T>,
    k: usize,
    width: usize,
    tol: f64,
    which: Which,
) -> Result<()> {
    let t = std::time::Instant::now();
    let mut space = CpuSpace::new(a, width);
    space.randomize(1)?;
    println!("start {:.3}", t.elapsed().as_secs_f64());
    let bounds = a.bounds(0);
    let goal = Goal { wanted: k, bounds, tolerance: tol * bounds.norm, resolution: 0.0 };
    let found = iterate(ctx, &mut space, &[goal], Effort { which, most_products: 100_000 })?;
    println!("{:.3} s: {:?} norm {}", t.elapsed().as_secs_f64(), found[0], bounds.norm);
    Ok(())
}
