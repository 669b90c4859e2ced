//! Solves Hermitian matrices of about the same order, one per lane, as `cpu::group` does real ones.

use super::measure::{Measures, measure};
use super::reduce::{form_q, tridiagonalize};
use super::{Lanes, Matrix, certify, write_with_phase};
use crate::array::Real;
use crate::lanes::{Task, Vector};
use crate::ops::certificate::Status;
use crate::ops::eigen::cpu::implicit_ql::diagonalize;
use crate::ops::eigen::cpu::power_of_two_near;
use crate::ops::eigen::cpu::workspace;
use crate::ops::eigen::request::Request;
use crate::order::sort;
use num_complex::Complex;

/// The matrices of one or more groups, sorted by order.
pub(super) struct Groups<'a, 'b, T> {
    pub(super) matrices: &'a mut [Matrix<'b, T>],
    pub(super) request: Request<'a>,
}

/// The working memory of a group of matrices, which are stored row by row.
pub(super) struct Workspace<V> {
    /// The real tridiagonal matrices, and the eigenvectors: the real parts of all rows, then the imaginary parts.
    pub(super) ql: workspace::Workspace<V>,
    pub(super) given: Vec<Lanes<V>>,
    pub(super) reduced: Vec<Lanes<V>>,
    pub(super) tau: Vec<Lanes<V>>,
    pub(super) before: Vec<Lanes<V>>,
    pub(super) update: Vec<Lanes<V>>,
    pub(super) reflector: Vec<Lanes<V>>,
    pub(super) product: Vec<Lanes<V>>,
}

impl<V: Vector> Workspace<V> {
    fn new(none: V, n: usize) -> Self {
        let ql = workspace::Workspace::of_complex_vectors(none, n);
        let zeros = |len| vec![Lanes { re: none, im: none }; len];
        let (square, line) = (|| zeros(n * ql.ld), || zeros(n));
        let [given, reduced] = [square(), square()];
        let [tau, before, update, reflector, product] = [line(), line(), line(), line(), line()];
        Self { ql, given, reduced, tau, before, update, reflector, product }
    }
}

impl<T: Real> Task<T> for Groups<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Scalar = T>>(self, token: V::Token) {
        let none = V::splat(token, T::from_f64(0.0));
        let largest = self.matrices.iter().map(|m| m.order).max().unwrap_or(0);
        let mut work = Workspace::new(none, largest);
        for group in self.matrices.chunks_mut(V::LANES) {
            if self.request.cancel.is_cancelled() {
                return;
            }
            solve::<T, V>(token, group, self.request, &mut work);
        }
    }
}

#[inline(always)]
fn solve<T: Real, V: Vector<Scalar = T>>(
    token: V::Token,
    group: &mut [Matrix<'_, T>],
    request: Request<'_>,
    work: &mut Workspace<V>,
) {
    let none = V::splat(token, T::from_f64(0.0));
    let n = group.iter().map(|m| m.order).max().unwrap_or(0);
    if n == 0 {
        return;
    }
    load(none, n, group, work);
    let Scaled { scale, finite, norm } = scaled(none, n, work);
    tridiagonalize(token, n, work);
    let vectors = !request.columns.is_none();
    if vectors {
        form_q(token, n, work);
    }
    let done = diagonalize(token, n, &mut work.ql, vectors);
    let measures = if vectors { measure(token, n, work) } else { invariants(token, n, work) };
    for (lane, matrix) in group.iter_mut().enumerate() {
        let of = |v: V| v.as_slice()[lane].to_f64();
        let status = match (of(finite) == 1.0, of(done) == 1.0) {
            (false, _) => Status::NonFinite,
            (true, false) => Status::NotConverged,
            (true, true) => Status::Converged,
        };
        if status != Status::NonFinite {
            store(lane, n, 1.0 / of(scale), matrix, &mut work.ql, vectors);
        }
        let norm = if of(norm) == 0.0 { 1.0 } else { of(norm) };
        certify(matrix, status, [of(measures.residual) / norm, of(measures.orthogonality)]);
    }
}

/// Loads the lower triangles into the lanes and mirrors them. Unused lanes are 0, and so are the elements beyond the
/// order of a matrix that is smaller than the largest of the group.
#[inline(always)]
fn load<T: Real, V: Vector<Scalar = T>>(none: V, n: usize, group: &[Matrix<'_, T>], work: &mut Workspace<V>) {
    let ld = work.ql.ld;
    let a = &mut work.given[..n * ld];
    a.fill(Lanes { re: none, im: none });
    for (lane, matrix) in group.iter().enumerate() {
        let order = matrix.order;
        for (j, column) in matrix.elements.chunks_exact(order.max(1)).enumerate() {
            for (i, x) in column.iter().enumerate().skip(j) {
                let to = &mut a[i * ld + j];
                to.re.as_mut_slice()[lane] = x.re;
                // LAPACK does not read the imaginary parts of diagonal elements, either.
                to.im.as_mut_slice()[lane] = if i == j { T::from_f64(0.0) } else { x.im };
            }
        }
    }
    for j in 0..n {
        for i in j + 1..n {
            let Lanes { re, im } = a[i * ld + j];
            a[j * ld + i] = Lanes { re, im: -im };
        }
    }
}

/// The factor by which each lane was multiplied, a vector with 1 in each lane whose matrix was finite, and the 1-norms.
struct Scaled<V> {
    scale: V,
    finite: V,
    norm: V,
}

/// Multiplies the matrix in each lane by a power of two so that its largest part is near 1. A matrix with a NaN or an
/// infinity becomes 0.
#[inline(always)]
fn scaled<T: Real, V: Vector<Scalar = T>>(none: V, n: usize, work: &mut Workspace<V>) -> Scaled<V> {
    let ld = work.ql.ld;
    let a = &mut work.given[..n * ld];
    // A maximum may ignore a NaN, but the sum of the products 0 * x is NaN if any x is NaN.
    let (mut peak, mut probe) = (none, none);
    for x in a.iter() {
        peak = peak.max(x.re.abs().max(x.im.abs()));
        probe = x.im.mul_add(none, x.re.mul_add(none, probe));
    }
    let (mut scale, mut finite) = (none, none);
    for lane in 0..V::LANES {
        let is_finite = probe.as_slice()[lane].to_f64() == 0.0;
        if !is_finite {
            for x in a.iter_mut() {
                x.re.as_mut_slice()[lane] = T::from_f64(0.0);
                x.im.as_mut_slice()[lane] = T::from_f64(0.0);
            }
        }
        let peak = if is_finite { peak.as_slice()[lane].to_f64() } else { 0.0 };
        // The inverse of the power must be a normal number, too.
        let power = power_of_two_near(peak).clamp(T::SMALLEST, 0.25 / T::SMALLEST);
        scale.as_mut_slice()[lane] = T::from_f64(1.0 / power);
        finite.as_mut_slice()[lane] = T::from_f64(f64::from(u8::from(is_finite)));
    }
    for (x, reduced) in a.iter_mut().zip(&mut work.reduced[..n * ld]) {
        *x = Lanes { re: x.re * scale, im: x.im * scale };
        *reduced = *x;
    }
    let row_sum = |row: &[Lanes<V>]| row.iter().fold(none, |sum, x| sum + Lanes::square(*x, none).sqrt());
    let norm = a.chunks_exact(ld).fold(none, |most, row| most.max(row_sum(row)));
    Scaled { scale, finite, norm }
}

/// Measures eigenvalues without eigenvectors as `cpu::group` does: by the trace and the Frobenius norm.
#[inline(always)]
fn invariants<T: Real, V: Vector<Scalar = T>>(token: V::Token, n: usize, work: &Workspace<V>) -> Measures<V> {
    let none = V::splat(token, T::from_f64(0.0));
    let (mut trace, mut squares, mut own_squares) = (none, none, none);
    for (i, row) in work.given[..n * work.ql.ld].chunks_exact(work.ql.ld).enumerate() {
        let value = work.ql.diagonal[i];
        trace += row[i].re - value;
        own_squares = value.mul_add(value, own_squares);
        squares = row.iter().fold(squares, |sum, x| Lanes::square(*x, sum));
    }
    let order = n as f64;
    let by_trace = trace.abs() * V::splat(token, T::from_f64(1.0 / order));
    let by_norm = (own_squares.sqrt() - squares.sqrt()).abs() * V::splat(token, T::from_f64(1.0 / order.sqrt()));
    Measures { residual: by_trace.max(by_norm), orthogonality: none }
}

/// Stores the eigenvalues of the matrix in one lane of a group of largest order n, in ascending order, and the
/// eigenvectors.
#[inline(always)]
fn store<T: Real, V: Vector<Scalar = T>>(
    lane: usize,
    n: usize,
    unscale: f64,
    matrix: &mut Matrix<'_, T>,
    work: &mut workspace::Workspace<V>,
    vectors: bool,
) {
    let order = matrix.order;
    let workspace::Workspace { ld, diagonal, vectors: planes, from, .. } = work;
    let value = |i: usize| diagonal[i].as_slice()[lane].to_f64();
    from.clear();
    from.extend((0..order).map(|i| (value(i), i)));
    sort(from);
    for (out, (value, _)) in matrix.values.iter_mut().zip(&*from) {
        *out = T::from_f64(value * unscale);
    }
    if !vectors {
        return;
    }
    let (ld, imaginary) = (*ld, n * *ld);
    for (&(_, j), to) in from.iter().zip(matrix.vectors.chunks_exact_mut(order.max(1))) {
        let part = |at: usize| planes[at].as_slice()[lane].to_f64();
        write_with_phase(|i| Complex::new(part(i * ld + j), part(imaginary + i * ld + j)), to);
    }
}
