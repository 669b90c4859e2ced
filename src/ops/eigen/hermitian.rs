//! The elements of the matrices that are decomposed, and the decomposition of complex ones, which runs on the CPU.

#![expect(private_interfaces, reason = "only this crate can call the function of the trait")]

use super::cpu::hermitian;
use super::request::Request;
use super::{Certificates, RaggedEigh, Task, kept};
use crate::array::{Field, Real, Storage};
use crate::context::Context;
use crate::error::Result;
use crate::ops::operation::Operation as _;
use crate::policy::Family;
use crate::shape::Layout;
use num_complex::Complex;
use std::sync::Arc;

/// The element types of the matrices that [`eigh`](super::eigh) decomposes: f32 and f64 of symmetric matrices, and
/// complex numbers of them, of Hermitian ones.
pub trait Diagonalized: Field {
    #[doc(hidden)]
    fn solve(ctx: &Context, layout: &Arc<Layout>, a: &Storage<Self>, request: Request<'_>) -> Result<RaggedEigh<Self>>;
}

impl<T: Real> Diagonalized for T {
    fn solve(ctx: &Context, layout: &Arc<Layout>, a: &Storage<T>, request: Request<'_>) -> Result<RaggedEigh<T>> {
        super::solve(ctx, layout, a, request)
    }
}

impl Diagonalized for Complex<f32> {
    fn solve(ctx: &Context, layout: &Arc<Layout>, a: &Storage<Self>, request: Request<'_>) -> Result<RaggedEigh<Self>> {
        solve(ctx, layout, a, request)
    }
}

impl Diagonalized for Complex<f64> {
    fn solve(ctx: &Context, layout: &Arc<Layout>, a: &Storage<Self>, request: Request<'_>) -> Result<RaggedEigh<Self>> {
        solve(ctx, layout, a, request)
    }
}

fn solve<T: Real>(
    ctx: &Context,
    layout: &Arc<Layout>,
    a: &Storage<Complex<T>>,
    request: Request<'_>,
) -> Result<RaggedEigh<Complex<T>>>
where
    Complex<T>: Field<Real = T>,
{
    let family = if request.columns.is_none() { Family::Eigvalsh } else { Family::Eigh };
    let task = Task::of::<Complex<T>>(family, layout.orders(), false);
    let on_cpu = || {
        let hermitian::Found { values, vectors, certificates } = hermitian::eigh(layout, &a.to_vec(ctx)?, request);
        let (values, vectors) = kept(layout, values, vectors, request.columns);
        Ok((Storage::host(values), Storage::host(vectors), Certificates::Host(Arc::new(certificates))))
    };
    let ((values, vectors, certificates), choice) = task.run(ctx, on_cpu, |_| on_cpu())?;
    Ok(RaggedEigh { layout: Arc::clone(layout), values, vectors, certificates, choice })
}
