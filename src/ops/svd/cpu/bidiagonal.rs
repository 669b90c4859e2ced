//! Householder reduction of one tall matrix to upper bidiagonal form, with adjacent elements of a column in the lanes
//! of a vector (LAPACK's xGEBD2).
//!
//! Each step visits each element of the trailing matrix only once, because the bandwidth of the caches limits the
//! speed. As soon as a pass has applied the update of the previous step to a column and multiplied the column by the
//! left reflector, the new element of the column in the pivot row is known. Up to a factor, it is an element of the
//! right reflector, so the pass also adds the column to the product with the right reflector (Howell, Demmel, Fulton,
//! Hammarling and Marmol, Cache efficient bidiagonalization using BLAS 2.5 operators, ACM Trans. Math. Softw. 34,
//! 2008).
//!
//! The elements of a column are stored in reverse order, so that the rows of the trailing matrix start at the first
//! lane of a vector.

use crate::array::Real;
use crate::lanes::{Task, Vector, element};
use crate::ops::reflectors::Reflector;
use crate::parallel;
use faer::{Mat, MatRef};

/// The number of columns that a pass processes together, so that the vectors are loaded once for all of these columns.
const COLUMNS: usize = 4;

/// The minimum number of columns at which two threads share the pass of a step. With 512 columns, two threads take 1.6
/// times as long as one; with 1024, 0.74 times (2026-11-24).
const SPLIT_FROM: usize = 768;

/// The reduction `A = P B Q'`, where B is upper bidiagonal. `P = H_0 H_1 ...` and `Q = G_0 G_1 ...` with
/// `H_k = I - left_tau_k u_k u_k'` and `G_k = I - right_tau_k v_k v_k'`.
pub(super) struct Bidiagonal<T> {
    /// The vectors `u_k`, `(rows, cols)`. Element k of column k is 1, and the elements above it are 0.
    pub(super) left: Mat<T>,
    pub(super) left_tau: Vec<T>,
    /// The vectors `v_k`, `(cols, cols - 1)`. Element k + 1 of column k is 1, and the elements above it are 0.
    pub(super) right: Mat<T>,
    pub(super) right_tau: Vec<T>,
    pub(super) diagonal: Vec<T>,
    /// The elements above the diagonal, one less than there are columns.
    pub(super) above: Vec<T>,
}

/// The task that reduces a matrix with at least as many rows as columns, and at least one column.
pub(super) struct Bidiagonalize<'a, T>(pub(super) MatRef<'a, T>);

impl<T: Real> Task<T> for Bidiagonalize<'_, T> {
    type Output = Bidiagonal<T>;

    #[inline(always)]
    fn run<V: Vector<Scalar = T>>(self, token: V::Token) -> Bidiagonal<T> {
        reduce::<T, V>(token, self.0)
    }
}

/// The update `A - u y' - x v'` of a step, which the pass of the next step applies.
struct Update<T, V> {
    u: Vec<V>,
    x: Vec<V>,
    y: Vec<T>,
    v: Vec<T>,
}

#[inline(always)]
fn reduce<T: Real, V: Vector<Scalar = T>>(token: V::Token, matrix: MatRef<'_, T>) -> Bidiagonal<T> {
    let (m, n) = matrix.shape();
    let number = |x: f64| T::from_f64(x);
    let zero = V::splat(token, number(0.0));
    let height = m.div_ceil(V::LANES);
    let mut a = vec![zero; n * height];
    for (column, from) in a.chunks_exact_mut(height).zip(matrix.col_iter()) {
        for (i, x) in from.iter().rev().enumerate() {
            column[i / V::LANES].as_mut_slice()[i % V::LANES] = *x;
        }
    }
    let numbers = |len: usize| vec![number(0.0); len];
    let mut out = Bidiagonal {
        left: Mat::zeros(m, n),
        left_tau: numbers(n),
        right: Mat::zeros(n, n - 1),
        right_tau: numbers(n - 1),
        diagonal: numbers(n),
        above: numbers(n - 1),
    };
    let line = || vec![zero; height];
    let mut before = Update { u: line(), x: line(), y: numbers(n), v: numbers(n) };
    let (mut reflector, mut products) = (line(), [line(), line()]);
    let tiny = T::SMALLEST / T::EPSILON;
    for k in 0..n {
        // The pivot row, and the number of vectors that hold it and the rows below it.
        let pivot = m - 1 - k;
        let live = pivot / V::LANES + 1;
        let (done, trailing) = a.split_at_mut((k + 1) * height);
        let column = &mut done[k * height..];
        update(token, &before, k, &mut column[..live]);
        let alpha = element(column, pivot);
        let mut square = zero;
        for (q, (to, x)) in reflector.iter_mut().zip(&column[..live]).enumerate() {
            *to = *x;
            if q + 1 == live {
                to.as_mut_slice()[pivot % V::LANES..].fill(number(0.0));
            }
            square = to.mul_add(*to, square);
        }
        reflector[live..].fill(zero);
        let Reflector { beta, tau, scale } = Reflector::new(alpha.to_f64(), square.sum().to_f64(), tiny);
        let by = V::splat(token, number(scale));
        reflector[..live].iter_mut().for_each(|x| *x *= by);
        set(&mut reflector, pivot, number(1.0));
        (out.diagonal[k], out.left_tau[k]) = (number(beta), number(tau));
        let to = &mut out.left.col_as_slice_mut(k)[k..];
        to.iter_mut().rev().enumerate().for_each(|(i, to)| *to = element(&reflector, i));
        if k + 1 == n {
            break;
        }

        let mut y = numbers(n);
        let mut row = numbers(n);
        let pass =
            Pass { token, height, live, pivot, tau: number(tau), first: k + 1, before: &before, reflector: &reflector };
        let left = n - 1 - k;
        let (y_own, row_own) = (&mut y[k + 1..], &mut row[k + 1..]);
        let [product, other] = &mut products;
        if n < SPLIT_FROM {
            pass.run(0, trailing, y_own, row_own, product);
        } else {
            // The columns are split into two ranges even if there is only one thread, so that the sums do not depend on
            // the number of threads.
            let at = left / 2 / COLUMNS * COLUMNS;
            let (a_left, a_right) = trailing.split_at_mut(at * height);
            let (y_left, y_right) = y_own.split_at_mut(at);
            let (row_left, row_right) = row_own.split_at_mut(at);
            // A pass must be inlined into `with_instructions`. Otherwise, the compiler would emit a call for every
            // vector operation.
            parallel::both(
                || {
                    V::with_instructions(
                        token,
                        #[inline(always)]
                        || pass.run(0, a_left, y_left, row_left, product),
                    )
                },
                || {
                    V::with_instructions(
                        token,
                        #[inline(always)]
                        || pass.run(at, a_right, y_right, row_right, other),
                    )
                },
            );
            product[..live].iter_mut().zip(&*other).for_each(|(p, other)| *p += *other);
        }

        let alpha = row[k + 1].to_f64();
        let square: f64 = row[k + 2..].iter().map(|x| x.to_f64() * x.to_f64()).sum();
        let Reflector { beta, tau, scale } = Reflector::new(alpha, square, tiny);
        (out.above[k], out.right_tau[k]) = (number(beta), number(tau));
        let mut v = row;
        v[..=k].fill(number(0.0));
        v[k + 1] = number(1.0);
        v[k + 2..].iter_mut().for_each(|x| *x = number(x.to_f64() * scale));
        out.right.col_as_slice_mut(k)[k + 1..].copy_from_slice(&v[k + 1..]);
        // x = tau A v, where the left reflection changes A v by u times the inner product of y and v.
        let inner: f64 = y[k + 1..].iter().zip(&v[k + 1..]).map(|(y, v)| y.to_f64() * v.to_f64()).sum();
        let (by, tau, inner) =
            (V::splat(token, number(scale)), V::splat(token, number(tau)), V::splat(token, number(inner)));
        for q in 0..live {
            let image = by.mul_add(products[0][q], trailing[q]);
            before.x[q] = tau * inner.neg_mul_add(reflector[q], image);
        }
        // The rows of finished steps, which share a vector with the last row, must stay 0.
        before.x[live - 1].as_mut_slice()[pivot % V::LANES..].fill(number(0.0));
        std::mem::swap(&mut before.u, &mut reflector);
        (before.y, before.v) = (y, v);
    }
    out
}

/// Applies an update to column j.
#[inline(always)]
fn update<V: Vector<Scalar: Real>>(token: V::Token, by: &Update<V::Scalar, V>, j: usize, column: &mut [V]) {
    let (y, v) = (V::splat(token, by.y[j]), V::splat(token, by.v[j]));
    for ((a, u), x) in column.iter_mut().zip(&by.u).zip(&by.x) {
        *a = v.neg_mul_add(*x, y.neg_mul_add(*u, *a));
    }
}

#[inline(always)]
fn set<V: Vector>(x: &mut [V], i: usize, to: V::Scalar) {
    x[i / V::LANES].as_mut_slice()[i % V::LANES] = to;
}

/// The data that a pass over columns reads.
struct Pass<'a, T, V: Vector> {
    token: V::Token,
    /// The number of vectors in a column.
    height: usize,
    /// The number of vectors of a column that belong to the trailing matrix.
    live: usize,
    /// The pivot row.
    pivot: usize,
    /// The factor of the left reflector.
    tau: T,
    /// The index of the first column of the trailing matrix.
    first: usize,
    before: &'a Update<T, V>,
    reflector: &'a [V],
}

impl<T: Real, V: Vector<Scalar = T>> Pass<'_, T, V> {
    /// Processes the columns of `a`, which begin `at` columns after the first one of the trailing matrix. Writes the
    /// elements of y and of the pivot row, and the contribution of these columns to the product of the trailing matrix
    /// with the pivot row. The first column of the trailing matrix does not contribute.
    #[inline(always)]
    fn run(&self, at: usize, a: &mut [V], y: &mut [T], row: &mut [T], product: &mut [V]) {
        product[..self.live].fill(V::splat(self.token, T::from_f64(0.0)));
        let whole = y.len() / COLUMNS * COLUMNS;
        let (blocks, rest) = a.split_at_mut(whole * self.height);
        for (block, j) in blocks.chunks_exact_mut(COLUMNS * self.height).zip((0..whole).step_by(COLUMNS)) {
            self.columns::<COLUMNS>(at + j, block, &mut y[j..j + COLUMNS], &mut row[j..j + COLUMNS], product);
        }
        for (column, j) in rest.chunks_exact_mut(self.height).zip(whole..) {
            self.columns::<1>(at + j, column, &mut y[j..=j], &mut row[j..=j], product);
        }
    }

    #[inline(always)]
    fn columns<const C: usize>(&self, at: usize, block: &mut [V], y: &mut [T], row: &mut [T], product: &mut [V]) {
        let (token, live) = (self.token, self.live);
        let zero = V::splat(token, T::from_f64(0.0));
        let mut rest = block.chunks_exact_mut(self.height);
        let columns: [&mut [V]; C] = std::array::from_fn(|_| &mut rest.next().unwrap_or_default()[..live]);
        let own = |x: &[T]| -> [V; C] { std::array::from_fn(|c| V::splat(token, x[self.first + at + c])) };
        let (own_y, own_v) = (own(&self.before.y), own(&self.before.v));
        let (u, x, reflector) = (&self.before.u[..live], &self.before.x[..live], &self.reflector[..live]);
        let product = &mut product[..live];
        let mut sums = [zero; C];
        for q in 0..live {
            let (u, x, own) = (u[q], x[q], reflector[q]);
            for c in 0..C {
                let a = own_v[c].neg_mul_add(x, own_y[c].neg_mul_add(u, columns[c][q]));
                columns[c][q] = a;
                sums[c] = a.mul_add(own, sums[c]);
            }
        }
        let mut weights = [zero; C];
        for c in 0..C {
            y[c] = self.tau * sums[c].sum();
            row[c] = T::from_f64(element(columns[c], self.pivot).to_f64() - y[c].to_f64());
            weights[c] = if at + c == 0 { zero } else { V::splat(token, row[c]) };
        }
        for q in 0..live {
            let mut sum = product[q];
            for c in 0..C {
                sum = columns[c][q].mul_add(weights[c], sum);
            }
            product[q] = sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::SimdScalar;

    /// Returns numbers in (-1, 1).
    fn noise(count: usize) -> Vec<f64> {
        let mut state = 3_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }

    /// Reflects `x`: `(I - tau h h') x`.
    fn reflect(h: &[f64], tau: f64, x: &mut [f64]) {
        let along: f64 = h.iter().zip(&*x).map(|(h, x)| h * x).sum();
        x.iter_mut().zip(h).for_each(|(x, h)| *x -= tau * along * h);
    }

    /// Returns the largest element of `A x - P B Q' x`.
    fn off(a: MatRef<'_, f64>, reduced: &Bidiagonal<f64>, x: &[f64]) -> f64 {
        let (m, n) = a.shape();
        let mut y = x.to_vec();
        for k in 0..n - 1 {
            reflect(reduced.right.col_as_slice(k), reduced.right_tau[k], &mut y);
        }
        let above = |i: usize| if i + 1 < n { reduced.above[i] * y[i + 1] } else { 0.0 };
        let mut z: Vec<f64> = (0..m).map(|i| if i < n { reduced.diagonal[i] * y[i] + above(i) } else { 0.0 }).collect();
        for k in (0..n).rev() {
            reflect(reduced.left.col_as_slice(k), reduced.left_tau[k], &mut z);
        }
        let of_a = |i: usize| (0..n).map(|j| a[(i, j)] * x[j]).sum::<f64>();
        z.iter().enumerate().map(|(i, z)| (z - of_a(i)).abs()).fold(0.0, f64::max)
    }

    /// `A = P B Q'` with the widest vectors and with vectors of one lane. The shapes are close to the number of lanes
    /// and of columns in a block, and the last one is shared by two threads.
    #[test]
    fn a_reduction_is_equivalent() {
        for (m, n) in [(1, 1), (5, 1), (2, 2), (3, 3), (9, 4), (16, 16), (17, 16), (33, 21), (70, 61), (800, 770)] {
            let a = noise(m * n);
            let a = MatRef::from_column_major_slice(&a, m, n);
            let x = noise(n);
            let narrow = (n < 100).then(|| f64::in_one_lane(Bidiagonalize(a)));
            for reduced in narrow.into_iter().chain([f64::in_lanes(Bidiagonalize(a))]) {
                // Each of the 2 n reflections adds a few rounding errors of |A|_F |x|.
                let size = a.norm_l2() * x.iter().map(|x| x * x).sum::<f64>().sqrt();
                let off = off(a, &reduced, &x);
                assert!(off <= 8.0 * f64::EPSILON * size, "{m} x {n}: off by {off:e}");
            }
        }
    }

    /// Zero columns and rows need no reflection.
    #[test]
    fn a_bidiagonal_matrix_stays() {
        for (m, n) in [(4, 4), (20, 17)] {
            let a = Mat::from_fn(m, n, |i, j| if i == j || i + 1 == j { 1.0 + j as f64 } else { 0.0 });
            let reduced = f64::in_lanes(Bidiagonalize(a.as_ref()));
            assert!((0..n).all(|i| reduced.diagonal[i] == a[(i, i)] && reduced.left_tau[i] == 0.0));
            assert!((0..n - 1).all(|i| reduced.above[i] == a[(i, i + 1)] && reduced.right_tau[i] == 0.0));
        }
    }
}
