//! The elements of the matrices that are decomposed, and the decomposition of complex ones, which runs on the CPU.

#![expect(private_interfaces, reason = "only this crate can call the function of the trait")]

use super::cpu::complex;
use super::{Certificates, Parts, Problem, Task};
use crate::array::{Field, Real, Storage};
use crate::context::Context;
use crate::error::Result;
use crate::ops::operation::Operation as _;
use crate::policy::Choice;
use num_complex::Complex;
use std::sync::Arc;

/// The element types of the matrices that [`svd`](super::svd()) decomposes: f32, f64, and complex numbers of them.
pub trait Decomposed: Field {
    #[doc(hidden)]
    fn solve(ctx: &Context, problem: &Problem, a: &Storage<Self>, vectors: bool) -> Result<(Parts<Self>, Arc<Choice>)>;
}

impl<T: Real> Decomposed for T {
    fn solve(ctx: &Context, problem: &Problem, a: &Storage<T>, vectors: bool) -> Result<(Parts<T>, Arc<Choice>)> {
        super::solve(ctx, problem, a, vectors)
    }
}

impl Decomposed for Complex<f32> {
    fn solve(ctx: &Context, problem: &Problem, a: &Storage<Self>, vectors: bool) -> Result<(Parts<Self>, Arc<Choice>)> {
        solve(ctx, problem, a, vectors)
    }
}

impl Decomposed for Complex<f64> {
    fn solve(ctx: &Context, problem: &Problem, a: &Storage<Self>, vectors: bool) -> Result<(Parts<Self>, Arc<Choice>)> {
        solve(ctx, problem, a, vectors)
    }
}

fn solve<T: Real>(
    ctx: &Context,
    problem: &Problem,
    a: &Storage<Complex<T>>,
    vectors: bool,
) -> Result<(Parts<Complex<T>>, Arc<Choice>)>
where
    Complex<T>: Field<Real = T>,
{
    let on_cpu = || {
        let complex::Found { u, s, vh, certificates } = complex::svd(problem, &a.to_vec(ctx)?, vectors);
        let [u, vh] = [u, vh].map(Storage::host);
        Ok(Parts { u, s: Storage::host(s), vh, certificates: Certificates::Host(Arc::new(certificates)) })
    };
    Task::of::<Complex<T>>(problem, false).run(ctx, on_cpu, |_| on_cpu())
}
