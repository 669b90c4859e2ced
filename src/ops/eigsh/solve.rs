//! Chooses the side for the problems of a call. On the device, all problems are solved together.

use super::chebyshev::{Found, Limits, Target, iterate};
use super::gpu::GpuSpace;
use super::methods::{DENSE, PRODUCTS, is_multiple_of_one, on_cpu, width_of};
use super::options::{EigshMethod, EigshOptions};
use super::solved::{Solved, Wanted, collect, goal_of};
use super::space::Space;
use crate::array::Real;
use crate::context::Context;
use crate::device::Gpu;
use crate::error::Result;
use crate::ops::eigen::Which;
use crate::ops::operation::{Call, Operation as _, Precision, always};
use crate::ops::sparse::{Operator, narrowed};
use crate::parallel;
use crate::policy::{Backend, Choice, Family, Side, Workload};
use std::sync::Arc;

/// Solves every problem of the operator. On the CPU, the method is chosen for each problem separately.
///
/// `starts` is empty or has approximate pairs of each problem, from which an iteration on the CPU begins.
///
/// # Errors
/// The same errors as [`super::eigsh`].
pub(crate) fn solve_each<T: Real>(
    ctx: &Context,
    a: &Operator<'_, T>,
    wanted: &[Wanted],
    options: &EigshOptions,
    starts: &[Solved],
) -> Result<(Vec<Solved>, Arc<Choice>)> {
    let on_host = ctx.with_backend(Backend::Cpu);
    let most = wanted.iter().map(|wanted| wanted.count).max().unwrap_or(0);
    let iterated = matches!(options.method, EigshMethod::Auto | EigshMethod::Chebyshev);
    let one = |problem: usize| on_cpu(&on_host, &a.problem(problem), wanted[problem], options, starts.get(problem));
    let all = || match wanted {
        [wanted] => Ok(vec![on_cpu(&on_host, a, *wanted, options, starts.first())?]),
        _ => parallel::map(0..wanted.len(), |_, problem| one(problem)).into_iter().collect(),
    };
    if !iterated {
        return Ok((ctx.on_host(all)?, on_the_host::<T>(ctx, a, most)));
    }
    call::<T>((a.rows(), a.entries()), most).run(ctx, all, |gpu| on_device(ctx, gpu, a, wanted, options))
}

/// Returns the choice for a method that has no kernels. Its side is the CPU.
pub(super) fn on_the_host<T: Real>(ctx: &Context, a: &Operator<'_, T>, k: usize) -> Arc<Choice> {
    let workload = call::<T>((a.rows(), a.entries()), k).workload;
    Arc::new(Choice { side: Side::Cpu, ..ctx.explain(&workload, false) })
}

/// Returns the side on which `k` pairs of a sparse matrix with `rows` rows and `entries` entries would be
/// computed, and why.
#[must_use]
pub fn choose_eigsh<T: Real>(ctx: &Context, (rows, entries): (usize, usize), k: usize) -> Choice {
    call::<T>((rows, entries), k).choose(ctx)
}

fn call<T: Real>((rows, entries): (usize, usize), k: usize) -> Call<impl Fn(&Gpu, u64) -> bool> {
    let (rows, entries, width) = (rows as f64, entries as f64, width_of(k) as f64);
    let flops = PRODUCTS * (2.0 * entries + 6.0 * rows) * width;
    // Products with a sparse matrix gather elements, so the CPU reaches half of the rate that the policy assumes,
    // and a device reaches a quarter.
    let workload = Workload {
        family: Family::Eigsh,
        size: rows,
        items: 1.0,
        cpu_flops: 2.0 * flops,
        gpu_flops: 4.0 * flops,
        dispatches: 4.0 * PRODUCTS,
        ..Workload::default()
    }
    .transferring(false, 4.0 * entries + 4.0 * rows * (4.0 + width), 4.0 * rows * k as f64);
    Call { name: "eigsh", precision: Precision::of::<T>(), workload, empty: false, fits: always, waits: true }
}

/// Solves all problems together on the device. Problems that are too small for an iteration, or whose norm is too
/// far from 1 for f32, are solved on the CPU.
fn on_device<T: Real>(
    ctx: &Context,
    gpu: &Gpu,
    a: &Operator<'_, T>,
    wanted: &[Wanted],
    options: &EigshOptions,
) -> Result<Vec<Solved>> {
    let operator = narrowed("eigsh", a)?;
    let on_host = ctx.with_backend(Backend::Cpu);
    let rests: Vec<usize> = (0..a.problems()).map(|i| a.order(i) - a.null.counts[i]).collect();
    let width = width_of(wanted.iter().map(|wanted| wanted.most).max().unwrap_or(0));
    let is_small = |i: usize| {
        let one = is_multiple_of_one(a.bounds(i), a.null.counts[i]);
        one || wanted[i].count == 0 || a.order(i) <= DENSE || 3 * width > rests[i]
    };
    // The device sums squares in f32 and loses squares below 1e-38.
    let is_far = |i: usize| a.bounds(i).norm > 0.0 && !(1e-15..=1e15).contains(&a.bounds(i).norm);
    let tolerance = options.tolerance_in::<T>();
    let targets: Vec<Target> = (0..a.problems())
        .map(|i| {
            let count = if is_small(i) || is_far(i) { 0 } else { wanted[i].count.min(rests[i]) };
            goal_of::<f32>(operator.bounds(i), Wanted { count, ..wanted[i] }, tolerance)
        })
        .collect();
    let mut iterated = Vec::new();
    if targets.iter().any(|target| target.wanted > 0) {
        let which = wanted.first().map_or(Which::Smallest, |wanted| wanted.which);
        let limits = Limits { which, most_products: options.most_products };
        let mut space = GpuSpace::new(gpu, &operator, width)?;
        space.randomize(options.seed)?;
        let found = iterate(&on_host, &mut space, &targets, limits, &|_, _| true)?;
        for (i, found) in found.iter().enumerate() {
            let wanted = Wanted { count: targets[i].wanted, ..wanted[i] };
            let method = EigshMethod::Chebyshev;
            iterated.push(match targets[i].wanted {
                0 => None,
                _ => Some(collect(&mut space, i, wanted, found, &Found::default(), method)?),
            });
        }
    }
    let mut iterated = iterated.into_iter().chain(std::iter::repeat_with(|| None));
    (0..a.problems())
        .map(|i| match iterated.next().flatten() {
            Some(solved) => Ok(solved),
            None if is_far(i) && !is_small(i) => on_cpu(&on_host, &a.problem(i), wanted[i], options, None),
            None => on_cpu(&on_host, &a.problem(i), wanted[i], &options.method(EigshMethod::Dense), None),
        })
        .collect()
}
