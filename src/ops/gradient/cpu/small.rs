//! Gradients of small matrices, one matrix in each lane.

use super::super::GradientCertificate;
use super::values::{Lanes, Values, load};
use crate::array::Real;
use crate::lanes::{Task, Vector};

/// The largest number of values of matrices that are computed in lanes. Above it, products of one matrix fill the
/// vectors.
const UP_TO: usize = 16;
/// The largest number of elements of a factor, so that the factors of all lanes stay in the second-level cache.
const ELEMENTS: usize = 512;
/// The least number of matrices: a group takes the same time however many of its lanes are used.
const AT_LEAST: usize = 4;

/// Returns whether matrices with n values and the given longer side are computed in lanes.
pub(super) fn takes(n: usize, longer: usize, count: usize) -> bool {
    n <= UP_TO && n * longer <= ELEMENTS && count >= AT_LEAST
}

/// Computes `V G V'` of each matrix.
pub(super) struct Eigh<'a, T> {
    pub(super) values: &'a Values<'a, T>,
    /// V and its cotangent, which is empty if it is 0.
    pub(super) vectors: [&'a [T]; 2],
    pub(super) out: &'a mut [T],
    pub(super) certificates: &'a mut [GradientCertificate],
}

impl<T: Real> Task<T> for Eigh<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Scalar = T>>(self, token: V::Token) {
        let Self { values, vectors: [v, bar], out, certificates } = self;
        let (n, zero) = (values.n, V::splat(token, T::from_f64(0.0)));
        let block = || vec![zero; n * n];
        let (mut lanes, [mut x, mut y, mut g]) = (Lanes::new(token, n), [block(), block(), block()]);
        for first in (0..values.count()).step_by(V::LANES) {
            let matrices = first..values.count().min(first + V::LANES);
            let own = matrices.start * n * n..matrices.end * n * n;
            lanes.load(token, &values.of(matrices.clone()));
            load(zero, n * n, &v[own.clone()], &mut x);
            if bar.is_empty() {
                g.fill(zero);
            } else {
                load(zero, n * n, &bar[own.clone()], &mut y);
                // G is P at first.
                product(zero, [n, n, n], (&x, [n, 1]), (&y, [1, n]), &mut g);
                divide(token, &mut lanes, &mut g, &[]);
            }
            (0..n).for_each(|j| g[j * n + j] = lanes.diagonal(j));
            product(zero, [n, n, n], (&x, [1, n]), (&g, [1, n]), &mut y);
            product(zero, [n, n, n], (&y, [1, n]), (&x, [n, 1]), &mut g);
            finish(&lanes, n * n, &g, &mut out[own], &mut certificates[matrices]);
        }
    }
}

/// Computes `U G V'` of each matrix, and what its longer side has outside of the computed vectors.
pub(super) struct Svd<'a, T> {
    pub(super) values: &'a Values<'a, T>,
    pub(super) rows: usize,
    pub(super) cols: usize,
    /// U and V', each with its cotangent, which is empty if it is 0.
    pub(super) u: [&'a [T]; 2],
    pub(super) vh: [&'a [T]; 2],
    pub(super) out: &'a mut [T],
    pub(super) certificates: &'a mut [GradientCertificate],
}

impl<T: Real> Task<T> for Svd<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Scalar = T>>(self, token: V::Token) {
        let Self { values, rows, cols, u: [u, u_bar], vh: [vh, vh_bar], out, certificates } = self;
        let (n, zero) = (values.n, V::splat(token, T::from_f64(0.0)));
        let (tall, longer) = (rows >= cols, rows.max(cols));
        let block = |len: usize| vec![zero; len];
        let mut lanes = Lanes::new(token, n);
        let [mut left, mut left_bar] = [block(rows * n), block(rows * n)];
        let [mut right, mut right_bar] = [block(n * cols), block(n * cols)];
        let ([mut g, mut q], mut w, mut made) = ([block(n * n), block(n * n)], block(longer * n), block(rows * cols));
        let has_outer = values.rectangular && !if tall { u_bar } else { vh_bar }.is_empty();
        for first in (0..values.count()).step_by(V::LANES) {
            let matrices = first..values.count().min(first + V::LANES);
            let part = |len: usize| matrices.start * len..matrices.end * len;
            lanes.load(token, &values.of(matrices.clone()));
            load(zero, rows * n, &u[part(rows * n)], &mut left);
            load(zero, n * cols, &vh[part(n * cols)], &mut right);
            g.fill(zero);
            q.fill(zero);
            if !u_bar.is_empty() {
                load(zero, rows * n, &u_bar[part(rows * n)], &mut left_bar);
                product(zero, [n, n, rows], (&left, [rows, 1]), (&left_bar, [1, rows]), &mut g);
            }
            if !vh_bar.is_empty() {
                load(zero, n * cols, &vh_bar[part(n * cols)], &mut right_bar);
                product(zero, [n, n, cols], (&right, [1, n]), (&right_bar, [n, 1]), &mut q);
            }
            if has_outer {
                // Columns if A is tall, otherwise rows.
                let bar = if tall {
                    product(zero, [rows, n, n], (&left, [1, rows]), (&g, [1, n]), &mut w);
                    &mut left_bar
                } else {
                    product(zero, [n, cols, n], (&q, [n, 1]), (&right, [1, n]), &mut w);
                    &mut right_bar
                };
                outer(token, &mut lanes, tall, &w, bar);
            }
            divide(token, &mut lanes, &mut g, &q);
            (0..n).for_each(|j| g[j * n + j] = lanes.diagonal(j));
            if tall {
                product(zero, [rows, n, n], (&left, [1, rows]), (&g, [1, n]), &mut w);
            } else {
                product(zero, [n, cols, n], (&g, [1, n]), (&right, [1, n]), &mut w);
            }
            if has_outer {
                w.iter_mut().zip(if tall { &left_bar } else { &right_bar }).for_each(|(w, outer)| *w += *outer);
            }
            let (a, b) = if tall { (&w, &right) } else { (&left, &w) };
            product(zero, [rows, cols, n], (a, [1, rows]), (b, [1, n]), &mut made);
            finish(&lanes, rows * cols, &made, &mut out[part(rows * cols)], &mut certificates[matrices.clone()]);
        }
    }
}

/// Replaces the elements of P off the diagonal by those of G, given Q, which is empty for eigenpairs.
#[inline(always)]
fn divide<V: Vector<Scalar: Real>>(token: V::Token, lanes: &mut Lanes<V>, p: &mut [V], q: &[V]) {
    let (n, zero) = (lanes.n, V::splat(token, V::Scalar::from_f64(0.0)));
    let half = V::splat(token, V::Scalar::from_f64(0.5));
    for j in 0..n {
        for i in 0..=j {
            let (above, below) = (j * n + i, i * n + j);
            let mut skew = [zero; 2];
            for (skew, x) in skew.iter_mut().zip([&*p, q]).filter(|(_, x)| !x.is_empty()) {
                lanes.largest = lanes.largest.max(x[above].abs()).max(x[below].abs());
                lanes.poison += zero * x[above] + zero * x[below];
                *skew = half * (x[above] - x[below]);
            }
            if i < j {
                let (values, groups) = ([lanes.values[j], lanes.values[i]], [lanes.groups[j], lanes.groups[i]]);
                let [first, second, undefined] = lanes.by.of(skew, values, groups);
                lanes.undefined = lanes.undefined.max(undefined);
                (p[above], p[below]) = (first + second, first - second);
            }
        }
    }
}

/// Subtracts from the cotangents of the longer side what is in the space of the computed vectors, and divides the rest
/// by the singular values.
#[inline(always)]
fn outer<V: Vector<Scalar: Real>>(token: V::Token, lanes: &mut Lanes<V>, tall: bool, inner: &[V], bar: &mut [V]) {
    let (n, zero) = (lanes.n, V::splat(token, V::Scalar::from_f64(0.0)));
    let one = V::splat(token, V::Scalar::from_f64(1.0));
    #[expect(clippy::cast_precision_loss, reason = "orders are far below 2^24")]
    let last = V::splat(token, V::Scalar::from_f64(n as f64 - 0.5));
    let len = bar.len() / n;
    for (e, (x, inner)) in bar.iter_mut().zip(inner).enumerate() {
        let j = if tall { e / len } else { e % n };
        let at_zero = last.lt(lanes.groups[j]);
        let outside = *x - *inner;
        lanes.largest = lanes.largest.max(outside.abs());
        lanes.poison += zero * outside;
        lanes.undefined = lanes.undefined.max(V::select(at_zero, outside.abs(), zero));
        *x = V::select(at_zero, zero, outside / V::select(at_zero, one, lanes.values[j]));
    }
}

/// Writes the matrices and their certificates.
#[inline(always)]
fn finish<V: Vector<Scalar: Real>>(
    lanes: &Lanes<V>,
    len: usize,
    made: &[V],
    out: &mut [V::Scalar],
    certificates: &mut [GradientCertificate],
) {
    for (lane, (out, certificate)) in out.chunks_exact_mut(len).zip(certificates).enumerate() {
        out.iter_mut().zip(made).for_each(|(to, x)| *to = x.as_slice()[lane]);
        *certificate = lanes.judged(lane);
    }
}

/// Computes `A B` (m x n, with k terms) in column-major order. The strides of an operand are those of its rows and of
/// its columns.
#[inline(always)]
fn product<V: Vector>(zero: V, [m, n, k]: [usize; 3], a: (&[V], [usize; 2]), b: (&[V], [usize; 2]), out: &mut [V]) {
    let (rows, columns) = (m / 4 * 4, n / 2 * 2);
    for j in (0..columns).step_by(2) {
        for i in (0..rows).step_by(4) {
            tile::<V, 4, 2>(zero, [m, k], [i, j], a, b, out);
        }
        for i in rows..m {
            tile::<V, 1, 2>(zero, [m, k], [i, j], a, b, out);
        }
    }
    for j in columns..n {
        for i in (0..rows).step_by(4) {
            tile::<V, 4, 1>(zero, [m, k], [i, j], a, b, out);
        }
        for i in rows..m {
            tile::<V, 1, 1>(zero, [m, k], [i, j], a, b, out);
        }
    }
}

/// Computes the elements of a product from (i, j) on.
#[inline(always)]
fn tile<V: Vector, const I: usize, const J: usize>(
    zero: V,
    [m, k]: [usize; 2],
    [i, j]: [usize; 2],
    (a, [a_row, a_column]): (&[V], [usize; 2]),
    (b, [b_row, b_column]): (&[V], [usize; 2]),
    out: &mut [V],
) {
    let mut sums = [[zero; I]; J];
    for t in 0..k {
        let (mut x, mut y) = ([zero; I], [zero; J]);
        for (r, x) in x.iter_mut().enumerate() {
            *x = a[(i + r) * a_row + t * a_column];
        }
        for (c, y) in y.iter_mut().enumerate() {
            *y = b[t * b_row + (j + c) * b_column];
        }
        for c in 0..J {
            for r in 0..I {
                sums[c][r] = x[r].mul_add(y[c], sums[c][r]);
            }
        }
    }
    for (c, sums) in sums.into_iter().enumerate() {
        for (r, sum) in sums.into_iter().enumerate() {
            out[(j + c) * m + i + r] = sum;
        }
    }
}
