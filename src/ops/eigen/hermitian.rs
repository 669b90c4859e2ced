//! The decomposition of complex Hermitian matrices, which runs on the CPU.

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

pub(in super::super) fn solve<T: Real>(
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
