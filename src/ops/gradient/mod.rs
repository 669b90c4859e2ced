//! Gradients of decompositions, as vector-Jacobian products that are right where eigenvalues are tied.
//!
//! A loss depends on the eigenvalues l and the eigenvectors V of A. Given its derivatives with respect to them, the
//! cotangents lbar and Vbar, its gradient with respect to A is `V G V'` with
//! `G = diag(lbar) + skew(V'Vbar)_ij / (l_j - l_i)`, where `skew(X) = (X - X') / 2` (Magnus, Econometric Theory 1,
//! 1985; Giles, 2008). If l_i = l_j, the basis of their space is arbitrary, and a loss has a gradient only if it does
//! not depend on that choice: if the basis is turned, V_g to V_g exp(W) with a skew W, then the loss changes by
//! `<V_g'Vbar_g, W>`, so the skew part of `V_g'Vbar_g` has to vanish, and the quotient is 0 divided by 0. Whatever the
//! solver chose as a basis, what remains is the gradient: to first order, the eigenvectors of a tie group turn towards
//! the others only (Kato, Perturbation Theory for Linear Operators, II.2). Likewise, a loss is differentiable in tied
//! eigenvalues only if their cotangents are equal, for which every symmetric function of them is an example. So
//! quotients within a tie group are 0 here, and the certificate reports what ought to have vanished.
//!
//! For the same reason, signs and canonical bases have no derivative of their own: they are constant where the spectrum
//! is simple, and choose among equals where it is not.
//!
//! For `A = U diag(s) V'`, P = U'Ubar and Q = V'Vbar, the gradient is `U G V'` with `G_ii = sbar_i` and
//! `G_ij = skew(P + Q)_ij / (s_j - s_i) + skew(P - Q)_ij / (s_j + s_i)`, plus `(Ubar - U P) S^-1 V'` if A has more rows
//! than columns, or `U S^-1 (Vbar - V Q)'` if it has fewer (Townsend, 2016, rearranged so that no close numbers are
//! subtracted except the singular values). U and V of a tie group are turned together, so only the first quotient is 0
//! there. The vectors of the singular value 0 are turned apart, and |s| has no derivative at 0. So both quotients are 0
//! among them, and so are their terms of sbar and of the other two sums.
//!
//! The CPU computes a few matrices at a time (`cpu`). On a device, products of `ops/matmul` alternate with the kernels
//! of this family (`gpu`), so that gradients of resident arrays stay there.

mod cpu;
mod forward;
mod gpu;
pub(super) mod kernels;
mod sparse;
mod turned;

use crate::array::{Array, Real, Storage};
use crate::context::Context;
use crate::device::Gpu;
use crate::error::{DEVICE_BYTES, Error, Result, within_limits};
use crate::memory::Elements;
use crate::ops::matmul::PRODUCT_FLOP_COST;
use crate::ops::operation::{Call, Operation as _, Precision};
use crate::policy::{Choice, Side, Workload};
use crate::shape::{Layout, Shape};
use gpu::GradientCertificates;
use std::sync::Arc;

pub use forward::{Tangent, eigh_jvp, svd_jvp};
pub use sparse::{EigshGradient, eigsh_vjp};
pub use turned::turn_tie_groups;

/// What a gradient does where eigenvalues or singular values are close.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Degeneracy {
    /// Values that the precision cannot separate, neighbors that differ by at most `4 n eps` times the norm, are tied.
    /// The gradient is exact for every loss that depends on tied values, and on their vectors, only as a whole.
    #[default]
    Exact,
    /// Neighbors that differ by at most this tolerance times the norm are tied. If some of them are not equal, the
    /// gradient omits how their vectors rotate into one another.
    Group(f64),
    /// 1 / d becomes `d / (d^2 + w^2)`, where w is this width times the norm. All quotients are bounded by `1 / (2 w)`,
    /// and each is too small by the factor `d^2 / (d^2 + w^2)`. Values are tied as in [`Degeneracy::Exact`].
    Lorentzian(f64),
}

impl Degeneracy {
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if a tolerance or a width is negative or not finite.
    fn check(self, operation: &'static str) -> Result<()> {
        let (name, number) = match self {
            Self::Exact => return Ok(()),
            Self::Group(tolerance) => ("tolerance", tolerance),
            Self::Lorentzian(width) => ("width", width),
        };
        if number >= 0.0 && number.is_finite() {
            return Ok(());
        }
        Err(Error::domain(operation, format!("expected a {name} that is finite and not negative, found {number}")))
    }
}

/// What a gradient says of itself, for one matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GradientCertificate {
    /// Whether the loss has a gradient, so that `undefined` is at most `eps^(2/3)`: 3.7e-11 in f64, 2.4e-5 in f32. That
    /// is halfway between the rounding errors of cotangents and a loss that depends on the basis of a tie group.
    /// What ought to vanish may be 0 by coincidence, for example in the basis of unit vectors that a solver chooses for
    /// the identity. Such a loss counts as defined unless the basis of each tie group is turned ([`turn_tie_groups`]).
    pub defined: bool,
    /// The part of the cotangents that has no gradient, as the larger of two quotients of magnitudes: the largest
    /// element of `V'Vbar` that ought to vanish by the largest of all, and the largest difference between cotangents of
    /// tied values by the largest cotangent. 0 if no values are tied. NaN if a number is not finite.
    pub undefined: f64,
    /// The norm of the matrix divided by the smallest difference of values that are not tied, and of singular values,
    /// also by the smallest of those that the gradient divides by. The relative error of the gradient is at most about
    /// `10 n eps` times this number. 0 if the gradient divides by nothing.
    pub sensitivity: f64,
}

/// The gradient of a batch.
#[derive(Clone, Debug)]
pub struct Gradient<T = f32> {
    /// The gradient with respect to each matrix, in its shape. With respect to a symmetric matrix it is symmetric: the
    /// loss changes by its inner product with any symmetric change of the matrix.
    pub array: Array<T>,
    certificates: GradientCertificates,
}

impl<T: Real> Gradient<T> {
    /// Returns where the call ran, and why.
    #[must_use]
    pub fn choice(&self) -> Option<&Choice> {
        self.array.choice()
    }

    /// Returns the certificate of each matrix; waits for the device.
    ///
    /// # Errors
    /// Device errors.
    pub fn certificates(&self, ctx: &Context) -> Result<Vec<GradientCertificate>> {
        self.certificates.wait::<T>(ctx)
    }

    /// Returns this gradient if the loss has one for every matrix.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`], which names the first matrix whose cotangents have no gradient; device errors.
    pub fn ok(self, ctx: &Context) -> Result<Self> {
        let certificates = self.certificates(ctx)?;
        match certificates.iter().position(|one| !one.defined) {
            None => Ok(self),
            Some(first) => {
                let (count, all) = (certificates.iter().filter(|one| !one.defined).count(), certificates.len());
                let share = certificates[first].undefined;
                let why = if share.is_nan() {
                    "there is a NaN or an infinity".to_owned()
                } else {
                    format!("a share of {share:.1e} of the cotangents depends on the basis, or tells tied values apart")
                };
                let what = format!("the loss of {count} of {all} matrices has no gradient; in matrix {first}, {why}");
                Err(Error::domain("gradient", what))
            }
        }
    }
}

/// Which values count as tied, and by what quotients are bounded, relative to the norm.
#[derive(Clone, Copy, Debug)]
struct Rule {
    tolerance: f64,
    width: f64,
}

impl Rule {
    /// Returns the rule for `n` values of a matrix.
    #[expect(clippy::cast_precision_loss, reason = "orders are far below 2^52")]
    fn of<T: Real>(degeneracy: Degeneracy, n: usize) -> Self {
        let fine = 4.0 * n as f64 * T::EPSILON;
        match degeneracy {
            Degeneracy::Exact => Self { tolerance: fine, width: 0.0 },
            Degeneracy::Group(tolerance) => Self { tolerance: tolerance.max(fine), width: 0.0 },
            Degeneracy::Lorentzian(width) => Self { tolerance: fine, width },
        }
    }
}

/// The largest magnitudes that a certificate is computed from. A number that is not finite turns `poison` into NaN.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    undefined: f64,
    largest: f64,
    difference: f64,
    cotangent: f64,
    norm: f64,
    /// The largest reciprocal of a divisor.
    steep: f64,
    poison: f64,
}

impl Seen {
    fn judged<T: Real>(self) -> GradientCertificate {
        let share = |part: f64, all: f64| if part == 0.0 { 0.0 } else { part / all };
        let undefined = share(self.undefined, self.largest).max(share(self.difference, self.cotangent)) + self.poison;
        let sensitivity = share(self.steep, self.norm.recip()) + self.poison;
        GradientCertificate { defined: undefined <= T::EPSILON.powf(2.0 / 3.0), undefined, sensitivity }
    }
}

/// Computes the gradient of a loss of eigenvalues and eigenvectors with respect to the matrices: the vector-Jacobian
/// product of [`eigh`](super::eigh), of [`eigvalsh`](super::eigvalsh) if there is no cotangent of the eigenvectors, and
/// of [`eigh_subset`](super::eigh_subset) if the cotangents of the other pairs are 0.
///
/// # Shapes
/// The eigenvalues and their cotangents are `(n, 1)`, all n of them in ascending order; the eigenvectors and their
/// cotangents are `(n, n)`. A cotangent of `None` is 0.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::gradient::{Degeneracy, eigh_vjp};
/// use fiedler::{Context, Shape, eigh};
///
/// // The sum of the eigenvalues of the identity, all of which are tied: its gradient is the identity.
/// let ctx = Context::cpu();
/// let shape = Shape::new(2, 2, 1);
/// let found = eigh(&ctx, &Array::from_vec(shape, vec![1.0, 0.0, 0.0, 1.0])?)?;
/// let ones = Array::from_vec(Shape::new(2, 1, 1), vec![1.0, 1.0])?;
/// let gradient = eigh_vjp(&ctx, [&found.values, &found.vectors], [Some(&ones), None], Degeneracy::Exact)?.ok(&ctx)?;
/// assert_eq!(gradient.array.to_host(&ctx)?.as_slice(), [1.0, 0.0, 0.0, 1.0]);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Shape`] if the shapes do not match; [`crate::ErrorKind::Domain`] for a tolerance or a width that
/// is negative or not finite, and with [`Backend::Gpu`](crate::Backend::Gpu) for f64; with it,
/// [`crate::ErrorKind::Limit`] if the device cannot hold the arrays; device errors.
pub fn eigh_vjp<T: Real>(
    ctx: &Context,
    [values, vectors]: [&Array<T>; 2],
    [values_bar, vectors_bar]: [Option<&Array<T>>; 2],
    degeneracy: Degeneracy,
) -> Result<Gradient<T>> {
    const NAME: &str = "eigh_vjp";
    let shape = vectors.shape();
    let Shape { rows: n, batch, .. } = shape;
    expected(NAME, "eigenvectors", Some(vectors), Shape::new(n, n, batch))?;
    expected(NAME, "eigenvalues", Some(values), Shape::new(n, 1, batch))?;
    expected(NAME, "cotangents of the eigenvalues", values_bar, Shape::new(n, 1, batch))?;
    expected(NAME, "cotangents of the eigenvectors", vectors_bar, shape)?;
    degeneracy.check(NAME)?;
    let rule = Rule::of::<T>(degeneracy, n);
    let all = [Some(values), Some(vectors), values_bar, vectors_bar];
    let products = if vectors_bar.is_some() { 3.0 } else { 1.0 };
    let call = call(NAME, shape, n, products, all);
    let on_cpu = || {
        let [values, v, values_bar, v_bar] = on_host(ctx, all)?;
        let values = cpu::Values { n, singular: false, rectangular: false, values: &values, bar: &values_bar, rule };
        let mut out = ctx.room::<T>(shape.len());
        let certificates = cpu::eigh(&values, [&v, &v_bar], &mut out);
        Ok((Storage::host_from(ctx, out), GradientCertificates::host(certificates)))
    };
    let on_device = |gpu: &_| {
        fits(gpu, shape, ctx.device_budget())?;
        gpu::eigh(ctx, gpu, shape, all.map(|array| array.map(Array::storage)), rule)
    };
    finished(shape, call.run(ctx, on_cpu, |gpu| on_device(gpu))?)
}

/// Computes [`eigh_vjp`] of matrices of unequal orders, on the CPU: the vector-Jacobian product of
/// [`eigh_ragged`](super::eigh_ragged). Returns the gradients, and the certificate of each matrix.
///
/// # Shapes
/// The eigenvalues and their cotangents have an element for each row of the layout, and the eigenvectors and their
/// cotangents are laid out as the matrices. A cotangent of `None` is 0.
///
/// # Examples
/// ```
/// use fiedler::array::Ragged;
/// use fiedler::ops::gradient::{Degeneracy, eigh_ragged_vjp};
/// use fiedler::ops::eigh_ragged;
/// use fiedler::{Context, Layout};
///
/// // The sum of all eigenvalues: its gradients are identities, of orders 1 and 2.
/// let ctx = Context::cpu();
/// let a = Ragged::from_vec(Layout::new([1, 2]), vec![7.0, 2.0, 1.0, 1.0, 2.0])?;
/// let found = eigh_ragged(&ctx, &a)?.to_host(&ctx)?;
/// let decomposition = [&found.values[..], &found.vectors[..]];
/// let bars = [Some(&[1.0; 3][..]), None];
/// let (gradient, _) = eigh_ragged_vjp(&ctx, a.layout(), decomposition, bars, Degeneracy::Exact)?;
/// let off = |(x, y): (&f64, f64)| (x - y).abs();
/// assert!(gradient.iter().zip([1.0, 1.0, 0.0, 0.0, 1.0]).map(off).all(|error| error < 1e-15));
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Shape`] if the lengths do not match the layout; [`crate::ErrorKind::Domain`] for a tolerance or
/// a width that is negative or not finite.
pub fn eigh_ragged_vjp<T: Real>(
    ctx: &Context,
    layout: &Layout,
    [values, vectors]: [&[T]; 2],
    [values_bar, vectors_bar]: [Option<&[T]>; 2],
    degeneracy: Degeneracy,
) -> Result<(Vec<T>, Vec<GradientCertificate>)> {
    const NAME: &str = "eigh_ragged_vjp";
    let [rows, elements] = [layout.row_count(), layout.len()];
    let given = [
        ("eigenvalues", Some(values), rows),
        ("elements of eigenvectors", Some(vectors), elements),
        ("cotangents of the eigenvalues", values_bar, rows),
        ("cotangents of the eigenvectors", vectors_bar, elements),
    ];
    for (what, given, len) in given {
        let found = given.map_or(len, <[T]>::len);
        if found != len {
            return Err(Error::shape(NAME, format!("{len} {what} of {} matrices", layout.batch()), found.to_string()));
        }
    }
    degeneracy.check(NAME)?;
    let bars = [values_bar, vectors_bar].map(Option::unwrap_or_default);
    let choice = choose_eigh_ragged_vjp::<T>(ctx, layout);
    ctx.on_host_for(&choice, || {
        let mut out = vec![T::from_f64(0.0); elements];
        let rule = |n| Rule::of::<T>(degeneracy, n);
        let certificates = cpu::eigh_ragged(layout, [values, bars[0]], [vectors, bars[1]], rule, &mut out);
        Ok((out, certificates))
    })
}

/// Computes the gradient of a loss of singular values and vectors with respect to the matrices `(m, n)`: the
/// vector-Jacobian product of [`svd`](super::svd()) with [`Vectors::Thin`](super::Vectors::Thin), and of
/// [`svdvals`](super::svdvals) if there is no cotangent of the vectors.
///
/// # Shapes
/// With k = min(m, n), U is `(m, k)`, s is `(k, 1)`, V' is `(k, n)`; each cotangent has the shape of its array. A
/// cotangent of `None` is 0.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::gradient::{Degeneracy, svd_vjp};
/// use fiedler::ops::{Vectors, svd};
/// use fiedler::{Context, Shape};
///
/// // The nuclear norm, the sum of the singular values, has the gradient U V'.
/// let ctx = Context::cpu();
/// let found = svd(&ctx, &Array::from_vec(Shape::new(2, 1, 1), vec![3.0, 4.0])?, Vectors::Thin)?;
/// let one = Array::from_vec(Shape::new(1, 1, 1), vec![1.0])?;
/// let decomposition = [&found.u, &found.s, &found.vh];
/// let gradient = svd_vjp(&ctx, decomposition, [None, Some(&one), None], Degeneracy::Exact)?;
/// let gradient = gradient.array.to_host(&ctx)?;
/// assert!((gradient.as_slice()[0] - 0.6_f64).abs() < 1e-15 && (gradient.as_slice()[1] - 0.8).abs() < 1e-15);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// The errors of [`eigh_vjp`].
pub fn svd_vjp<T: Real>(
    ctx: &Context,
    [u, s, vh]: [&Array<T>; 3],
    [u_bar, s_bar, vh_bar]: [Option<&Array<T>>; 3],
    degeneracy: Degeneracy,
) -> Result<Gradient<T>> {
    const NAME: &str = "svd_vjp";
    let (rows, cols, batch) = (u.shape().rows, vh.shape().cols, u.shape().batch);
    let (shape, n) = (Shape::new(rows, cols, batch), rows.min(cols));
    let of_u = Shape::new(rows, n, batch);
    let of_s = Shape::new(n, 1, batch);
    let of_vh = Shape::new(n, cols, batch);
    expected(NAME, "left singular vectors of a thin decomposition", Some(u), of_u)?;
    expected(NAME, "singular values", Some(s), of_s)?;
    expected(NAME, "right singular vectors of a thin decomposition", Some(vh), of_vh)?;
    expected(NAME, "cotangents of the left singular vectors", u_bar, of_u)?;
    expected(NAME, "cotangents of the singular values", s_bar, of_s)?;
    expected(NAME, "cotangents of the right singular vectors", vh_bar, of_vh)?;
    degeneracy.check(NAME)?;
    let rule = Rule::of::<T>(degeneracy, n);
    let all = [Some(u), Some(s), Some(vh), u_bar, s_bar, vh_bar];
    let call = call(NAME, shape, n, 5.0, all);
    let on_cpu = || {
        let [u, s, vh, u_bar, s_bar, vh_bar] = on_host(ctx, all)?;
        let values = cpu::Values { n, singular: true, rectangular: rows != cols, values: &s, bar: &s_bar, rule };
        let mut out = ctx.room::<T>(shape.len());
        let certificates = cpu::svd(&values, (rows, cols), [&u, &u_bar], [&vh, &vh_bar], &mut out);
        Ok((Storage::host_from(ctx, out), GradientCertificates::host(certificates)))
    };
    let on_device = |gpu: &_| {
        fits(gpu, shape, ctx.device_budget())?;
        gpu::svd(ctx, gpu, shape, all.map(|array| array.map(Array::storage)), rule)
    };
    finished(shape, call.run(ctx, on_cpu, |gpu| on_device(gpu))?)
}

/// Returns where [`eigh_vjp`] of a batch of matrices of that shape would run if there are cotangents of the vectors,
/// and why. `resident` says whether the arrays are on the device.
#[must_use]
pub fn choose_eigh_vjp<T: Real>(ctx: &Context, shape: Shape, resident: bool) -> Choice {
    described::<T>("eigh_vjp", shape, shape.rows, 3.0, resident).choose(ctx)
}

/// Returns how long [`eigh_ragged_vjp`] is predicted to take on the CPU, where it runs.
#[must_use]
pub fn choose_eigh_ragged_vjp<T: Real>(ctx: &Context, layout: &Layout) -> Choice {
    // As many elements as there are, in matrices of the mean order of an element.
    let cubes = layout.orders().iter().fold(0_usize, |sum, &n| sum.saturating_add((n as usize).saturating_pow(3)));
    let n = cubes.div_ceil(layout.len().max(1));
    let shape = Shape::new(n, n, layout.len().div_ceil((n * n).max(1)));
    let workload = described::<T>("eigh_ragged_vjp", shape, n, 3.0, false).workload;
    Choice { side: Side::Cpu, ..ctx.explain(&workload, false) }
}

/// Returns where [`svd_vjp`] of a batch of matrices of that shape would run, and why. `resident` says whether the
/// arrays are on the device.
#[must_use]
pub fn choose_svd_vjp<T: Real>(ctx: &Context, shape: Shape, resident: bool) -> Choice {
    described::<T>("svd_vjp", shape, shape.rows.min(shape.cols), 5.0, resident).choose(ctx)
}

/// # Errors
/// [`crate::ErrorKind::Shape`] if there is an array, and it has another shape.
fn expected<T: Real>(operation: &'static str, what: &str, array: Option<&Array<T>>, shape: Shape) -> Result<()> {
    match array {
        Some(array) if array.shape() != shape => {
            Err(Error::shape(operation, format!("{what} of shape {shape}"), array.shape().to_string()))
        }
        _ => Ok(()),
    }
}

/// The operations for each element that is read or divided, which take the time of memory accesses.
const COST_PER_ELEMENT: f64 = 20.0;

/// Describes the call with these arrays.
fn call<T: Real, const N: usize>(
    name: &'static str,
    shape: Shape,
    n: usize,
    products: f64,
    arrays: [Option<&Array<T>>; N],
) -> Call<impl Fn(&Gpu, u64) -> bool> {
    let resident = arrays.into_iter().flatten().all(Array::is_resident);
    described::<T>(name, shape, n, products, resident)
}

/// Describes the call to the cost model: products of n terms for every element, and what is done for each element.
#[expect(clippy::cast_precision_loss, reason = "estimates")]
fn described<T: Real>(
    name: &'static str,
    shape: Shape,
    n: usize,
    products: f64,
    resident: bool,
) -> Call<impl Fn(&Gpu, u64) -> bool> {
    let elements = shape.len() as f64;
    let flops = elements * (2.0 * products * n as f64 * PRODUCT_FLOP_COST + COST_PER_ELEMENT);
    let workload = Workload {
        size: n as f64,
        items: shape.batch as f64,
        cpu_flops: flops,
        gpu_flops: flops,
        dispatches: products + 2.0,
        ..Workload::default()
    }
    .transferring(resident, 8.0 * elements, 4.0 * elements);
    Call {
        name,
        precision: Precision::of::<T>(),
        workload,
        empty: shape.is_empty(),
        fits: move |gpu: &Gpu, budget| fits(gpu, shape, budget).is_ok(),
        waits: false,
    }
}

/// # Errors
/// [`crate::ErrorKind::Limit`] if the device cannot hold the arrays.
fn fits(gpu: &Gpu, shape: Shape, budget: u64) -> Result<()> {
    let bytes = 4_u64.saturating_mul(shape.len() as u64);
    // Two vectors of four words for each value.
    let reports = 32_u64.saturating_mul(shape.rows.min(shape.cols).saturating_mul(shape.batch) as u64);
    let limits = [
        ("bytes of one binding", bytes.max(reports), gpu.adapter().limits.storage_binding),
        // The operands, the intermediate results and the gradient.
        (DEVICE_BYTES, bytes.saturating_mul(8).saturating_add(reports), budget),
        ("loop iterations", shape.rows.max(shape.cols) as u64, u64::from(gpu.adapter().loop_budget / 2)),
    ];
    within_limits(format_args!("the gradients of {shape} on {}", gpu.adapter().name), limits)
}

/// Returns the elements of each array on the host; those of no array are empty.
fn on_host<T: Real, const N: usize>(ctx: &Context, arrays: [Option<&Array<T>>; N]) -> Result<[Elements<T>; N]> {
    let mut here = Vec::with_capacity(N);
    for array in arrays {
        here.push(match array {
            Some(array) => array.storage().to_vec(ctx)?,
            None => Elements::new(Vec::new()),
        });
    }
    here.try_into().map_err(|_| Error::domain("gradient", "as many arrays as were given"))
}

type Made<T> = ((Storage<T>, GradientCertificates), Arc<Choice>);

fn finished<T: Real>(shape: Shape, ((made, certificates), choice): Made<T>) -> Result<Gradient<T>> {
    let array = Array::from_storage(shape, made).chosen(&choice);
    Ok(Gradient { array, certificates: certificates.or_nothing(shape) })
}
