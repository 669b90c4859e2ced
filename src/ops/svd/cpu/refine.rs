//! Refines a decomposition of f32 by its own residual. Divide and conquer in f32 leaves residuals and departures from
//! orthonormality that are three to five times LAPACK's (n = 150 to 300, faer 0.24.4, 2026-11-23).

use super::Working;
use super::dense::Factors;
use crate::ops::columns::{product, sum};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

/// The largest tangent `x` of a rotation of two columns that is applied by a matrix product, which adds `x` times one
/// column to the other. Such a product leaves a departure from orthonormality of `x^2`, and each column takes part in
/// as many rotations as there are columns.
const SMALL: f64 = 1.0 / 16384.0;
/// The largest tangent of a rotation that is applied at all. A tangent above [`SMALL`] is applied exactly, with cosine
/// and sine. Only singular values whose distance is less than 16384 times the error of the pair need such a rotation.
const LARGE: f64 = 1.0 / 16.0;

/// The largest off-diagonal element of `P'B Q` that is left as it is, divided by eps s_max. If singular values are as
/// small as rounding errors, the rotations that would remove such elements are large and arbitrary.
const NEGLIGIBLE: f64 = 1.0 / 16.0;

/// Applies one Newton step to both bases of B = P diag(s) Q' at once (Ogita and Aishima, Iterative refinement for
/// singular value decomposition based on matrix multiplication, J. Comput. Appl. Math. 369, 2020). The columns of P and
/// Q must be orthonormal, and B Q must be P diag(s), up to a small multiple of the rounding error.
///
/// The step replaces P by `P (I + F)` and Q by `Q (I + G)`. The symmetric parts of F and G are those of a Newton-Schulz
/// step, `(I - P'P) / 2` and `(I - Q'Q) / 2`. The antisymmetric parts remove the off-diagonal elements of `P'B Q`;
/// those beyond [`SMALL`] are applied as rotations of two columns. If P does not span the space, the part of the
/// residual outside P is added to P as well.
pub(super) fn refine<F: Working>(b: &Mat<F>, factors: &mut Factors<F>, par: Par) {
    let Factors { p, q, .. } = factors;
    let (left, short) = (p.ncols(), q.ncols());
    let one = F::from_f64(1.0);
    // B Q - P diag(s), with the Rayleigh quotients as s.
    let mut residual = product(b.as_ref(), q.as_ref(), par);
    let s: Vec<f64> = (0..short).map(|j| sum(residual.col_as_slice(j), p.col_as_slice(j), |y, p| y * p)).collect();
    for (j, &s) in s.iter().enumerate() {
        let column = residual.col_as_slice_mut(j).iter_mut().zip(p.col_as_slice(j));
        column.for_each(|(y, p)| *y = F::from_f64(y.to_f64() - s * p.to_f64()));
    }
    let mut errors = Mat::<F>::zeros(left, short);
    matmul(errors.as_mut(), Accum::Replace, p.transpose(), residual.as_ref(), one, par);
    let (mut by_p, mut by_q) = (halved_departure(p, par), halved_departure(q, par));
    let value = |i: usize| s.get(i).copied().unwrap_or(0.0);
    let negligible = NEGLIGIBLE * F::EPSILON * s.iter().fold(0.0, |most: f64, s| most.max(s.abs()));
    let mut rotations = Vec::new();
    let error = |i: usize, j: usize| if j < short { errors[(i, j)].to_f64() } else { 0.0 };
    for j in 0..left {
        for i in 0..j.min(short) {
            let (from_p, from_q) = (by_p[(i, j)].to_f64(), if j < short { by_q[(i, j)].to_f64() } else { 0.0 });
            // The antisymmetric parts x of F and y of G satisfy x s_j - y s_i = above and y s_j - x s_i = below.
            let above = error(i, j) - (from_p * value(j) - from_q * value(i));
            let below = error(j, i) - (from_p * value(i) - from_q * value(j));
            if above.abs().max(below.abs()) <= negligible {
                continue;
            }
            let both = quotient(above + below, value(j) - value(i));
            let apart = quotient(above - below, value(j) + value(i));
            let (x, y) = (0.5 * (both + apart), 0.5 * (both - apart));
            if x.abs().max(y.abs()) > SMALL {
                rotations.push((i, j, x, y));
                continue;
            }
            by_p[(i, j)] = F::from_f64(from_p + x);
            by_p[(j, i)] = F::from_f64(from_p - x);
            if j < short {
                by_q[(i, j)] = F::from_f64(from_q + y);
                by_q[(j, i)] = F::from_f64(from_q - y);
            }
        }
    }
    if p.nrows() > left {
        outside(&mut residual, &errors, &s, &mut by_p);
    } else {
        residual.fill(F::from_f64(0.0));
    }
    let (given_p, given_q) = (p.clone(), q.clone());
    matmul(p.as_mut(), Accum::Add, given_p.as_ref(), by_p.as_ref(), one, par);
    matmul(q.as_mut(), Accum::Add, given_q.as_ref(), by_q.as_ref(), one, par);
    for j in 0..short {
        p.col_as_slice_mut(j).iter_mut().zip(residual.col_as_slice(j)).for_each(|(p, x)| *p += *x);
    }
    for (i, j, x, y) in rotations {
        rotate(p, i, j, x);
        if j < short {
            rotate(q, i, j, y);
        }
    }
}

/// Rotates columns i and j of X, i < j, by the angle of the given tangent.
fn rotate<F: Working>(x: &mut Mat<F>, i: usize, j: usize, tangent: f64) {
    let cosine = 1.0 / tangent.mul_add(tangent, 1.0).sqrt();
    let (c, s) = (F::from_f64(cosine), F::from_f64(cosine * tangent));
    let (left, right) = x.as_mut().split_at_col_mut(j);
    for (a, b) in left.col_mut(i).iter_mut().zip(right.col_mut(0).iter_mut()) {
        (*a, *b) = (c * *a - s * *b, s * *a + c * *b);
    }
}

/// Computes `(I - X'X) / 2`.
fn halved_departure<F: Working>(x: &Mat<F>, par: Par) -> Mat<F> {
    let mut step = product(x.transpose(), x.as_ref(), par);
    for j in 0..x.ncols() {
        let column = step.col_as_slice_mut(j);
        column.iter_mut().for_each(|x| *x = F::from_f64(-0.5 * x.to_f64()));
        column[j] = F::from_f64(0.5 + column[j].to_f64());
    }
    step
}

/// Divides each column of the residual by its singular value and changes `by_p` so that only the part of the column
/// outside P is added to P.
fn outside<F: Working>(residual: &mut Mat<F>, errors: &Mat<F>, s: &[f64], by_p: &mut Mat<F>) {
    for (j, &s) in s.iter().enumerate() {
        let column = residual.col_as_slice_mut(j);
        let length = sum(column, column, |x, y| x * y).sqrt();
        // The column of a singular value near 0 is arbitrary outside P.
        let inverse = if length < SMALL * s.abs() { 1.0 / s } else { 0.0 };
        column.iter_mut().for_each(|x| *x = F::from_f64(inverse * x.to_f64()));
        for (step, error) in by_p.col_as_slice_mut(j).iter_mut().zip(errors.col_as_slice(j)) {
            *step = F::from_f64(step.to_f64() - inverse * error.to_f64());
        }
    }
}

/// Returns `x / y` if that is less than [`LARGE`], and 0 otherwise.
fn quotient(x: f64, y: f64) -> f64 {
    if x.abs() < LARGE * y.abs() { x / y } else { 0.0 }
}
