//! Derivatives of decompositions in a direction: Jacobian-vector products.

use super::{Degeneracy, GradientCertificate, GradientCertificates, Rule, call, cpu, expected, fits, gpu, on_host};
use crate::array::{Array, Real, Storage};
use crate::context::Context;
use crate::error::Result;
use crate::ops::operation::Operation as _;
use crate::policy::Choice;
use crate::shape::Shape;
use std::sync::Arc;

/// The derivative of a decomposition in a direction.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Tangent<T, const N: usize> {
    /// The derivative of each part, in the shape of the part.
    pub parts: [Array<T>; N],
    certificates: GradientCertificates,
}

impl<T: Real, const N: usize> Tangent<T, N> {
    /// Returns the certificate of each matrix; waits for the device. `undefined` is the share of the direction that
    /// turns vectors within a tie group: their space has the derivative that is returned, and single vectors have none.
    ///
    /// # Errors
    /// Device errors.
    pub fn certificates(&self, ctx: &Context) -> Result<Vec<GradientCertificate>> {
        self.certificates.wait::<T>(ctx)
    }
}

/// Computes the derivative of eigenvalues and eigenvectors if the symmetric matrices change by `a_dot`: the
/// Jacobian-vector product of [`eigh`](crate::ops::eigh). Eigenvectors of a tie group do not turn within it.
///
/// # Shapes
/// The eigenvalues are `(n, 1)`, all n of them in ascending order; the eigenvectors and the direction are `(n, n)`.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::gradient::{Degeneracy, eigh_jvp};
/// use fiedler::{Context, Shape, eigh};
///
/// let ctx = Context::cpu();
/// let shape = Shape::new(2, 2, 1);
/// let found = eigh(&ctx, &Array::from_vec(shape, vec![1.0, 0.0, 0.0, 3.0])?)?;
/// let direction = Array::from_vec(shape, vec![5.0, 1.0, 1.0, 7.0])?;
/// let [values, _] = eigh_jvp(&ctx, [&found.values, &found.vectors], &direction, Degeneracy::Exact)?.parts;
/// assert_eq!(values.to_host(&ctx)?.as_slice(), [5.0, 7.0]);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// The errors of [`eigh_vjp`](super::eigh_vjp).
pub fn eigh_jvp<T: Real>(
    ctx: &Context,
    [values, vectors]: [&Array<T>; 2],
    a_dot: &Array<T>,
    degeneracy: Degeneracy,
) -> Result<Tangent<T, 2>> {
    const NAME: &str = "eigh_jvp";
    let shape = vectors.shape();
    let Shape { rows: n, batch, .. } = shape;
    let of_values = Shape::new(n, 1, batch);
    expected(NAME, "eigenvectors", Some(vectors), Shape::new(n, n, batch))?;
    expected(NAME, "eigenvalues", Some(values), of_values)?;
    expected(NAME, "direction", Some(a_dot), shape)?;
    degeneracy.check(NAME)?;
    let (rule, all) = (Rule::of::<T>(degeneracy, n), [values, vectors, a_dot]);
    let shapes = [of_values, shape];
    let on_cpu = || {
        let [w, v, a_dot] = on_host(ctx, all.map(Some))?;
        let mut out = shapes.map(|shape| vec![T::from_f64(0.0); shape.len()]);
        let values = cpu::Values { n, singular: false, rectangular: false, values: &w, bar: &[], rule };
        let certificates = cpu::forward::eigh(&values, [&v, &a_dot], out.each_mut().map(|out| &mut out[..]));
        Ok((out.map(Storage::host), GradientCertificates::host(certificates)))
    };
    let on_device = |gpu: &_| {
        fits(gpu, shape, ctx.device_budget())?;
        gpu::eigh_jvp(ctx, gpu, shape, all.map(Array::storage), rule)
    };
    finished(shapes, shape, call(NAME, shape, n, 3.0, all.map(Some)).run(ctx, on_cpu, |gpu| on_device(gpu))?)
}

/// Computes the derivative of thin singular value decompositions if the matrices change by `a_dot`: the Jacobian-vector
/// product of [`svd`](crate::ops::svd()) with [`Vectors::Thin`](crate::ops::Vectors::Thin).
///
/// # Shapes
/// For matrices `(m, n)` and k = min(m, n), U is `(m, k)`, s is `(k, 1)`, V' is `(k, n)`, and the direction is
/// `(m, n)`.
///
/// # Errors
/// The errors of [`eigh_jvp`].
pub fn svd_jvp<T: Real>(
    ctx: &Context,
    [u, s, vh]: [&Array<T>; 3],
    a_dot: &Array<T>,
    degeneracy: Degeneracy,
) -> Result<Tangent<T, 3>> {
    const NAME: &str = "svd_jvp";
    let shape = a_dot.shape();
    let Shape { rows, cols, batch } = shape;
    let n = rows.min(cols);
    let shapes = [Shape::new(rows, n, batch), Shape::new(n, 1, batch), Shape::new(n, cols, batch)];
    expected(NAME, "left singular vectors of a thin decomposition", Some(u), shapes[0])?;
    expected(NAME, "singular values", Some(s), shapes[1])?;
    expected(NAME, "right singular vectors of a thin decomposition", Some(vh), shapes[2])?;
    degeneracy.check(NAME)?;
    let (rule, all) = (Rule::of::<T>(degeneracy, n), [u, s, vh, a_dot]);
    let on_cpu = || {
        let [u, s, vh, a_dot] = on_host(ctx, all.map(Some))?;
        let mut out = shapes.map(|shape| vec![T::from_f64(0.0); shape.len()]);
        let values = cpu::Values { n, singular: true, rectangular: rows != cols, values: &s, bar: &[], rule };
        let out_parts = out.each_mut().map(|out| &mut out[..]);
        let certificates = cpu::forward::svd(&values, (rows, cols), [&u, &vh, &a_dot], out_parts);
        Ok((out.map(Storage::host), GradientCertificates::host(certificates)))
    };
    let on_device = |gpu: &_| {
        fits(gpu, shape, ctx.device_budget())?;
        gpu::svd_jvp(ctx, gpu, shape, all.map(Array::storage), rule)
    };
    finished(shapes, shape, call(NAME, shape, n, 5.0, all.map(Some)).run(ctx, on_cpu, |gpu| on_device(gpu))?)
}

type Made<T, const N: usize> = (([Storage<T>; N], GradientCertificates), Arc<Choice>);

fn finished<T: Real, const N: usize>(
    shapes: [Shape; N],
    shape: Shape,
    ((made, certificates), choice): Made<T, N>,
) -> Result<Tangent<T, N>> {
    let mut made = made.into_iter();
    let parts = shapes.map(|shape| {
        let storage = made.next().unwrap_or_else(|| Storage::host(Vec::new()));
        Array::from_storage(shape, storage).chosen(&choice)
    });
    Ok(Tangent { parts, certificates: certificates.or_nothing(shape) })
}
