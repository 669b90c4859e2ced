//! The entries of matrices: real, or complex.

#![expect(private_interfaces, reason = "only this crate can call the functions of the trait")]

use super::eigen::request::Request;
use super::eigen::{self, RaggedEigh};
use super::svd::{self, Parts, Problem};
use crate::array::{Field, Real, Storage};
use crate::context::Context;
use crate::error::Result;
use crate::policy::Choice;
use crate::shape::Layout;
use num_complex::Complex;
use std::sync::Arc;

/// The entries of matrices that [`eigh`](super::eigh) and [`svd`](super::svd()) decompose: f32, f64, and complex numbers
/// of them.
pub trait Entry: Field {
    #[doc(hidden)]
    fn eigh(ctx: &Context, layout: &Arc<Layout>, a: &Storage<Self>, request: Request<'_>) -> Result<RaggedEigh<Self>>;
    #[doc(hidden)]
    fn svd(ctx: &Context, problem: &Problem, a: &Storage<Self>, vectors: bool) -> Result<(Parts<Self>, Arc<Choice>)>;
}

impl<T: Real> Entry for T {
    fn eigh(ctx: &Context, layout: &Arc<Layout>, a: &Storage<T>, request: Request<'_>) -> Result<RaggedEigh<T>> {
        eigen::solve(ctx, layout, a, request)
    }

    fn svd(ctx: &Context, problem: &Problem, a: &Storage<T>, vectors: bool) -> Result<(Parts<T>, Arc<Choice>)> {
        svd::solve(ctx, problem, a, vectors)
    }
}

macro_rules! complex {
    ($($real:ty),+) => {$(
        impl Entry for Complex<$real> {
            fn eigh(
                ctx: &Context,
                layout: &Arc<Layout>,
                a: &Storage<Self>,
                request: Request<'_>,
            ) -> Result<RaggedEigh<Self>> {
                eigen::hermitian::solve(ctx, layout, a, request)
            }

            fn svd(
                ctx: &Context,
                problem: &Problem,
                a: &Storage<Self>,
                vectors: bool,
            ) -> Result<(Parts<Self>, Arc<Choice>)> {
                svd::of_complex(ctx, problem, a, vectors)
            }
        }
    )+};
}

complex!(f32, f64);
