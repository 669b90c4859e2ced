//! Derivatives of decompositions in a direction: Jacobian-vector products.

use super::{Degeneracy, GradientCertificate, Rule, cpu, described, expected, on_host};
use crate::array::{Array, Real, Storage};
use crate::context::Context;
use crate::error::Result;
use crate::ops::operation::Operation as _;
use crate::policy::{Choice, Side};
use crate::shape::Shape;

/// The derivative of a decomposition in a direction.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Tangent<T, const N: usize> {
    /// The derivative of each part, in the shape of the part.
    pub parts: [Array<T>; N],
    /// The certificate of each matrix. `undefined` is the share of the direction that turns vectors within a tie group:
    /// their space has the derivative that is returned, and single vectors have none.
    pub certificates: Vec<GradientCertificate>,
}

/// Computes the derivative of eigenvalues and eigenvectors if the symmetric matrices change by `a_dot`: the
/// Jacobian-vector product of [`eigh`](crate::ops::eigh), on the CPU. Eigenvectors of a tie group do not turn within
/// it.
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
/// [`Shape`](crate::ErrorKind::Shape) if the shapes do not match; [`Domain`](crate::ErrorKind::Domain) for a tolerance
/// or a width that is negative or not finite; device errors.
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
    ctx.on_host_for(&here::<T>(ctx, NAME, shape, n), || {
        let [w, v, a_dot] = on_host(ctx, [Some(values), Some(vectors), Some(a_dot)])?;
        let mut out = [of_values, shape].map(|shape| vec![T::from_f64(0.0); shape.len()]);
        let rule = Rule::of::<T>(degeneracy, n);
        let certificates = if shape.is_empty() {
            nothing(batch)
        } else {
            let values = cpu::Values { n, singular: false, rectangular: false, values: &w, bar: &[], rule };
            cpu::forward::eigh(&values, [&v, &a_dot], out.each_mut().map(|out| &mut out[..]))
        };
        Ok(Tangent { parts: arrays([of_values, shape], out), certificates })
    })
}

/// Computes the derivative of thin singular value decompositions if the matrices change by `a_dot`: the Jacobian-vector
/// product of [`svd`](crate::ops::svd()) with [`Vectors::Thin`](crate::ops::Vectors::Thin), on the CPU.
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
    ctx.on_host_for(&here::<T>(ctx, NAME, shape, n), || {
        let [u, s, vh, a_dot] = on_host(ctx, [Some(u), Some(s), Some(vh), Some(a_dot)])?;
        let mut out = shapes.map(|shape| vec![T::from_f64(0.0); shape.len()]);
        let rule = Rule::of::<T>(degeneracy, n);
        let certificates = if shape.is_empty() {
            nothing(batch)
        } else {
            let values = cpu::Values { n, singular: true, rectangular: rows != cols, values: &s, bar: &[], rule };
            cpu::forward::svd(&values, (rows, cols), [&u, &vh, &a_dot], out.each_mut().map(|out| &mut out[..]))
        };
        Ok(Tangent { parts: arrays(shapes, out), certificates })
    })
}

/// The certificates of matrices without elements.
fn nothing(batch: usize) -> Vec<GradientCertificate> {
    vec![GradientCertificate { defined: true, ..Default::default() }; batch]
}

fn arrays<T: Real, const N: usize>(shapes: [Shape; N], out: [Vec<T>; N]) -> [Array<T>; N] {
    let mut out = out.into_iter();
    shapes.map(|shape| Array::from_storage(shape, Storage::host(out.next().unwrap_or_default())))
}

/// Returns the choice of the CPU.
fn here<T: Real>(ctx: &Context, name: &'static str, shape: Shape, n: usize) -> Choice {
    let workload = described::<T>(name, shape, n, 4.0, false).workload(ctx);
    Choice { side: Side::Cpu, ..ctx.explain(&workload, false) }
}
