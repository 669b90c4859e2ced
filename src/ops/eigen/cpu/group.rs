//! Solves symmetric matrices of about the same order, one per lane. The matrices are loaded, reduced by Householder's
//! method, diagonalized by the QL iteration, and certified, and the results are stored.

use super::certify::{Measures, measure};
use super::implicit_ql::diagonalize;
use super::subset::subset;
use super::tridiagonal::{form_q, tridiagonalize};
use super::workspace::Workspace;
use super::{Columns, Matrix, Request, power_of_two_near};
use crate::array::Real;
use crate::lanes::{Task, Vector};
use crate::ops::certificate::{Certificate, Status};
use crate::order::sort;

/// The matrices of one or more groups. They must be sorted by order, so that the matrices of a group have similar
/// orders and little work is wasted on padding.
pub(super) struct Groups<'a, 'b, T> {
    pub(super) matrices: &'a mut [Matrix<'b, T>],
    pub(super) request: Request<'a>,
}

impl<T: Real> Task<T> for Groups<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Scalar = T>>(self, token: V::Token) {
        let zero = V::splat(token, T::from_f64(0.0));
        let largest = self.matrices.iter().map(|m| m.order).max().unwrap_or(0);
        let mut work = Workspace::new(zero, largest);
        for group in self.matrices.chunks_mut(V::LANES) {
            if self.request.cancel.is_cancelled() {
                return;
            }
            solve::<T, V>(token, group, self.request, &mut work);
        }
    }
}

/// The task that returns the number of lanes of this machine's vectors, which is the number of matrices in a group.
pub(super) struct Width;

impl<T> Task<T> for Width {
    type Output = usize;
    fn run<V: Vector<Scalar = T>>(self, _: V::Token) -> usize {
        V::LANES
    }
}

#[inline(always)]
fn solve<T: Real, V: Vector<Scalar = T>>(
    token: V::Token,
    group: &mut [Matrix<'_, T>],
    request: Request<'_>,
    work: &mut Workspace<V>,
) {
    let zero = V::splat(token, T::from_f64(0.0));
    let n = group.iter().map(|m| m.order).max().unwrap_or(0);
    if n == 0 {
        return;
    }
    load(zero, n, group, work);
    let Scaled { scale, finite } = scaled(zero, n, work);
    let norm = norm(zero, n, work);
    tridiagonalize(token, n, work);
    let vectors = !request.columns.is_none();
    // If a caller wants a few columns without a certificate, only these columns are computed where possible. For a
    // matrix where inverse iteration fails or does not pay, all columns are computed.
    let mut own = vec![None; group.len()];
    let mut done = finite;
    if vectors && !request.certificate {
        let (d, e) = (work.diagonal[..n].to_vec(), work.off_diagonal[..n].to_vec());
        done = diagonalize(token, n, work, false);
        own = subset(zero, group, request.columns, &d, &e, work);
        if own.iter().any(Option::is_none) {
            work.diagonal[..n].copy_from_slice(&d);
            work.off_diagonal[..n].copy_from_slice(&e);
        }
    }
    if own.iter().any(Option::is_none) {
        if vectors {
            form_q(token, n, work);
        }
        done = diagonalize(token, n, work, vectors);
    }
    let measures = match (request.certificate, vectors) {
        (true, true) => measure(token, n, work),
        (true, false) => invariants(token, n, work),
        (false, _) => Measures { residual: zero, orthogonality: zero },
    };
    for (lane, matrix) in group.iter_mut().enumerate() {
        let norm = norm.as_slice()[lane].to_f64();
        let is_set = |v: V| T::to_f64(v.as_slice()[lane]) == 1.0;
        let status = match (is_set(finite), is_set(done)) {
            (false, _) => Status::NonFinite,
            (true, false) => Status::NotConverged,
            (true, true) => Status::Converged,
        };
        let taken = Certificate {
            status,
            sweeps: 0,
            residual: measures.residual.as_slice()[lane].to_f64() / if norm == 0.0 { 1.0 } else { norm },
            orthogonality: measures.orthogonality.as_slice()[lane].to_f64(),
        };
        let unscale = 1.0 / scale.as_slice()[lane].to_f64();
        if status == Status::NonFinite {
            matrix.values.fill(T::from_f64(f64::NAN));
        } else {
            let columns = if own[lane].is_some() { Columns::None } else { request.columns };
            store(lane, unscale, matrix, work, columns);
        }
        *matrix.certificate = match status {
            Status::NonFinite => Certificate { residual: f64::NAN, orthogonality: f64::NAN, ..taken },
            // An eigenvalue may overflow in this precision although no element does.
            _ if matrix.values.iter().any(|x| !x.to_f64().is_finite()) => {
                Certificate { status: Status::NotConverged, ..taken }
            }
            _ => taken.judged(matrix.order, T::EPSILON),
        };
    }
}

/// Loads the lower triangles into the lanes and mirrors them. Unused lanes are 0, and so are the elements beyond the
/// order of a matrix that is smaller than the largest of the group.
#[inline(always)]
fn load<T: Real, V: Vector<Scalar = T>>(zero: V, n: usize, group: &[Matrix<'_, T>], work: &mut Workspace<V>) {
    let ld = work.ld;
    let a = &mut work.given[..n * ld];
    a.fill(zero);
    for (lane, matrix) in group.iter().enumerate() {
        let order = matrix.order;
        for (j, column) in matrix.elements.chunks_exact(order.max(1)).enumerate() {
            for (to, x) in a[j * ld + j..j * ld + order].iter_mut().zip(&column[j..]) {
                to.as_mut_slice()[lane] = *x;
            }
        }
    }
    for j in 0..n {
        for i in j + 1..n {
            a[i * ld + j] = a[j * ld + i];
        }
    }
}

/// The factor by which each lane was multiplied (`scale`), and a vector with 1 in each lane whose matrix was finite.
struct Scaled<V> {
    scale: V,
    finite: V,
}

/// Multiplies the matrix in each lane by a power of two so that its largest element is near 1. A matrix with a NaN or
/// an infinity becomes 0.
#[inline(always)]
fn scaled<T: Real, V: Vector<Scalar = T>>(zero: V, n: usize, work: &mut Workspace<V>) -> Scaled<V> {
    let a = &mut work.given[..n * work.ld];
    // A maximum may ignore a NaN, but the sum of the products 0 * x is NaN if any x is NaN.
    let (mut peak, mut probe) = (zero, zero);
    for x in a.iter() {
        peak = peak.max(x.abs());
        probe = x.mul_add(zero, probe);
    }
    let (mut scale, mut finite) = (zero, zero);
    for lane in 0..V::LANES {
        let is_finite = probe.as_slice()[lane].to_f64() == 0.0;
        if !is_finite {
            a.iter_mut().for_each(|x| x.as_mut_slice()[lane] = T::from_f64(0.0));
        }
        let peak = if is_finite { peak.as_slice()[lane].to_f64() } else { 0.0 };
        // The inverse of the power must be a normal number, too.
        let power = power_of_two_near(peak).clamp(T::SMALLEST, 0.25 / T::SMALLEST);
        scale.as_mut_slice()[lane] = T::from_f64(1.0 / power);
        finite.as_mut_slice()[lane] = T::from_f64(f64::from(u8::from(is_finite)));
    }
    for (x, reduced) in a.iter_mut().zip(&mut work.reduced[..n * work.ld]) {
        *x *= scale;
        *reduced = *x;
    }
    Scaled { scale, finite }
}

/// Returns the 1-norm of the matrix in each lane.
#[inline(always)]
fn norm<V: Vector>(zero: V, n: usize, work: &Workspace<V>) -> V {
    let mut most = zero;
    for row in work.given[..n * work.ld].chunks_exact(work.ld) {
        let mut sum = zero;
        for x in row {
            sum += x.abs();
        }
        most = most.max(sum);
    }
    most
}

/// Measures eigenvalues without eigenvectors by two invariants. One error is the difference between the sum of the
/// eigenvalues and the trace of the matrix. The other is the difference between the 2-norm of the eigenvalues and the
/// Frobenius norm of the matrix. Each is converted to an error per eigenvalue, and the larger of the two is returned as
/// the residual.
#[inline(always)]
fn invariants<T: Real, V: Vector<Scalar = T>>(token: V::Token, n: usize, work: &Workspace<V>) -> Measures<V> {
    let zero = V::splat(token, T::from_f64(0.0));
    let (mut trace, mut squares, mut own_squares) = (zero, zero, zero);
    for (i, row) in work.given[..n * work.ld].chunks_exact(work.ld).enumerate() {
        trace += row[i] - work.diagonal[i];
        own_squares = work.diagonal[i].mul_add(work.diagonal[i], own_squares);
        for x in row {
            squares = x.mul_add(*x, squares);
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "orders are far below 2^52")]
    let order = n as f64;
    let by_trace = trace.abs() * V::splat(token, T::from_f64(1.0 / order));
    let by_norm = (own_squares.sqrt() - squares.sqrt()).abs() * V::splat(token, T::from_f64(1.0 / order.sqrt()));
    Measures { residual: by_trace.max(by_norm), orthogonality: zero }
}

/// Stores the eigenvalues of the matrix in one lane in ascending order, and the eigenvectors in the columns `columns`.
#[inline(always)]
fn store<T: Real, V: Vector<Scalar = T>>(
    lane: usize,
    unscale: f64,
    matrix: &mut Matrix<'_, T>,
    work: &mut Workspace<V>,
    columns: Columns<'_>,
) {
    let order = matrix.order;
    let Workspace { ld, diagonal, vectors, from, .. } = work;
    let value = |i: usize| diagonal[i].as_slice()[lane].to_f64();
    from.clear();
    from.extend((0..order).map(|i| (value(i), i)));
    sort(from);
    for (out, (value, _)) in matrix.values.iter_mut().zip(&*from) {
        *out = T::from_f64(value * unscale);
    }
    let columns = columns.of(matrix.index, matrix.values.iter().map(|x| x.to_f64()));
    if columns.is_empty() {
        return;
    }
    for (i, row) in vectors[..order * *ld].chunks_exact(*ld).enumerate() {
        for j in columns.clone() {
            // A zero of either sign becomes +0, because an identity rotation may change the sign of a zero.
            matrix.vectors[j * order + i] = T::from_f64(row[from[j].1].as_slice()[lane].to_f64() + 0.0);
        }
    }
}
