//! Householder reduction of one matrix to tridiagonal form, with adjacent elements of a row in the lanes of a vector
//! (LAPACK's xSYTD2).
//!
//! Each step visits each element of the trailing matrix only once, because the bandwidth of the second-level cache
//! limits the speed. In a single pass, the step applies the update of the previous step and computes the product with
//! the new reflector. Rows and columns are stored in reverse order, so that the trailing matrix of LAPACK's algorithm
//! is the leading part of the stored matrix. The rows of this part start at the first lane of a vector, and each step
//! reduces the last row of this part.

use crate::array::Real;
use crate::lanes::{Task, Vector, element};
use crate::ops::reflectors::Reflector;
use crate::parallel;
use faer::{Mat, MatRef};

/// The number of rows that one pass processes together, so that the data that belongs to the columns is loaded once for
/// all of these rows.
const ROWS: usize = 4;

/// The minimum order at which two threads share the pass of a step. At this order, a pass takes about 30 us, which is
/// longer than it takes to wake the second thread.
const SPLIT_FROM: usize = 768;

/// The reduction `A = Q T Q'` with `Q = H_0 H_1 ...`, `H_k = I - tau_k v_k v_k'`.
pub(super) struct Reduction<T> {
    /// The vectors `v_k`. Column k holds `v_k` in the rows from k + 1 on, and the element in row k + 1 is 1. If row 0
    /// is removed, the matrix is unit lower triangular.
    pub(super) reflectors: Mat<T>,
    pub(super) tau: Vec<T>,
    pub(super) diagonal: Vec<T>,
    /// The off-diagonal elements. Element k is in row k + 1 and column k of T; the last element is 0.
    pub(super) off_diagonal: Vec<T>,
}

/// The task that reduces the matrix with the given lower triangle.
pub(super) struct Reduce<'a, T>(pub(super) MatRef<'a, T>);

impl<T: Real> Task<T> for Reduce<'_, T> {
    type Output = Reduction<T>;

    #[inline(always)]
    fn run<V: Vector<Scalar = T>>(self, token: V::Token) -> Reduction<T> {
        reduce::<T, V>(token, self.0)
    }
}

/// The vectors that are used together with the trailing matrix.
struct StepVectors<V> {
    /// The reflector of the previous step.
    before: Vec<V>,
    /// The update of the previous step. That step changes A to `A - before update' - update before'`, and this change
    /// has not been applied yet.
    update: Vec<V>,
    /// The reflector of this step.
    reflector: Vec<V>,
    /// The product of the new reflector with the matrix: the sums over the rows, followed by the sums over the columns.
    /// The latter are written one by one. If they were added to the former at once, a vector would be loaded soon after
    /// one of its elements was stored, for which the processor has to wait (1.3 times the time at n = 512, 2026-11-24).
    product: Vec<V>,
    other_product: Vec<V>,
}

#[inline(always)]
fn reduce<T: Real, V: Vector<Scalar = T>>(token: V::Token, matrix: MatRef<'_, T>) -> Reduction<T> {
    let n = matrix.nrows();
    let number = |x: f64| T::from_f64(x);
    let zero = V::splat(token, number(0.0));
    let width = n.div_ceil(V::LANES);
    let mut lane = zero;
    for (i, x) in lane.as_mut_slice().iter_mut().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "a lane's number")]
        let own = number(i as f64);
        *x = own;
    }
    let mut a = vec![zero; n * width];
    for (i, row) in a.chunks_exact_mut(width.max(1)).enumerate() {
        for j in 0..=i {
            row[j / V::LANES].as_mut_slice()[j % V::LANES] = matrix[(n - 1 - j, n - 1 - i)];
        }
    }
    let mut out = Reduction {
        reflectors: Mat::zeros(n, n),
        tau: vec![number(0.0); n],
        diagonal: vec![number(0.0); n],
        off_diagonal: vec![number(0.0); n],
    };
    let line = || vec![zero; width];
    let mut x = StepVectors {
        before: line(),
        update: line(),
        reflector: line(),
        product: vec![zero; 2 * width],
        other_product: vec![zero; 2 * width],
    };
    let tiny = T::SMALLEST / T::EPSILON;
    for k in 0..n {
        // The index of the last row of the remaining matrix.
        let last = n - 1 - k;
        let chunks = last / V::LANES + 1;
        let (own_before, own_update) =
            (V::splat(token, element(&x.reflector, last)), V::splat(token, element(&x.update, last)));
        let row = &mut a[last * width..last * width + chunks];
        for (q, y) in row.iter_mut().enumerate() {
            *y = own_update.neg_mul_add(x.reflector[q], own_before.neg_mul_add(x.update[q], *y));
        }
        out.diagonal[k] = element(row, last);
        if last == 0 {
            break;
        }
        let pivot = last - 1;
        let alpha = element(row, pivot).to_f64();
        if last == 1 {
            out.off_diagonal[k] = T::from_f64(alpha);
            continue;
        }
        std::mem::swap(&mut x.before, &mut x.reflector);
        // Only the elements of the row up to its pivot become the reflector. Elements beyond the pivot are set to 0.
        let mut squares = zero;
        for (q, (to, y)) in x.reflector.iter_mut().zip(row.iter()).enumerate() {
            let inside = lane.lt(V::splat(token, number(offset(pivot, q * V::LANES))));
            let y = V::select(inside, *y, zero);
            *to = y;
            squares = y.mul_add(y, squares);
        }
        x.reflector[chunks..].fill(zero);
        let square = squares.sum().to_f64();
        let Reflector { beta, tau, scale } = Reflector::new(alpha, square, tiny);
        let by = V::splat(token, number(scale));
        x.reflector[..chunks].iter_mut().for_each(|y| *y *= by);
        x.reflector[pivot / V::LANES].as_mut_slice()[pivot % V::LANES] = number(1.0);
        out.off_diagonal[k] = number(beta);
        out.tau[k] = number(tau);
        let column = out.reflectors.col_as_slice_mut(k);
        for (i, y) in column.iter_mut().enumerate().skip(k + 1) {
            *y = element(&x.reflector, n - 1 - i);
        }

        let StepVectors { before, update, reflector, product, other_product } = &mut x;
        let vectors = Vectors { lane, width, before, update, reflector };
        let rows = &mut a[..last * width];
        if n < SPLIT_FROM {
            rows_pass::<V>(token, &vectors, 0, rows, product);
        } else {
            // The rows are split into two ranges with about the same number of elements even if there is only one
            // thread, so that the sums do not depend on the number of threads.
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "an order"
            )]
            let at = (last as f64 * std::f64::consts::FRAC_1_SQRT_2) as usize / ROWS * ROWS;
            let (upper, lower) = rows.split_at_mut(at * width);
            parallel::both(
                // The pass must be inlined into `with_instructions`. Otherwise, the compiler would emit a call for
                // every vector operation (which is 6 times as slow, 2026-11-21).
                || {
                    V::with_instructions(
                        token,
                        #[inline(always)]
                        || rows_pass::<V>(token, &vectors, 0, upper, product),
                    )
                },
                || {
                    V::with_instructions(
                        token,
                        #[inline(always)]
                        || rows_pass::<V>(token, &vectors, at, lower, other_product),
                    )
                },
            );
            product.iter_mut().zip(other_product.iter()).for_each(|(p, other)| *p += *other);
        }
        let (product, totals) = product.split_at_mut(width);
        product.iter_mut().zip(totals.iter()).for_each(|(p, total)| *p += *total);
        let mut inner = zero;
        for (p, v) in x.product[..chunks].iter().zip(&x.reflector) {
            inner = p.mul_add(*v, inner);
        }
        let correction = V::splat(token, number(0.5 * tau * tau * inner.sum().to_f64()));
        let tau = V::splat(token, number(tau));
        for q in 0..chunks {
            x.update[q] = correction.neg_mul_add(x.reflector[q], tau * x.product[q]);
        }
    }
    out
}

/// Returns the index `i` relative to the index `begin` of a vector's first lane. The result may be negative.
#[inline(always)]
#[expect(clippy::cast_precision_loss, reason = "an order")]
fn offset(i: usize, begin: usize) -> f64 {
    i as f64 - begin as f64
}

/// The data that a pass over rows reads.
struct Vectors<'a, V> {
    /// The lane indices: 0, 1, 2, ...
    lane: V,
    /// The number of vectors in a row.
    width: usize,
    before: &'a [V],
    update: &'a [V],
    reflector: &'a [V],
}

/// Applies the update of the previous step to `rows`, the rows of the trailing matrix from `first` on, where `first` is
/// a multiple of [`ROWS`]. Also computes the contribution of these rows to the product.
#[inline(always)]
fn rows_pass<V: Vector<Scalar: Real>>(
    token: V::Token,
    x: &Vectors<'_, V>,
    first: usize,
    rows: &mut [V],
    product: &mut [V],
) {
    product.fill(V::splat(token, V::Scalar::from_f64(0.0)));
    let mut at = first;
    // If the number of lanes is not a multiple of ROWS, the diagonal may cross several vectors of a block of ROWS rows.
    // The rows are then processed one at a time.
    let together = if V::LANES.is_multiple_of(ROWS) { rows.len() / (ROWS * x.width) } else { 0 };
    let (blocks, rest) = rows.split_at_mut(together * ROWS * x.width);
    for block in blocks.chunks_exact_mut(ROWS * x.width) {
        pass::<V, ROWS>(token, x, at, block, product);
        at += ROWS;
    }
    for row in rest.chunks_exact_mut(x.width) {
        pass::<V, 1>(token, x, at, row, product);
        at += 1;
    }
}

/// Does the work of [`rows_pass`] for R rows, the first of which has the index `at`.
#[inline(always)]
fn pass<V: Vector<Scalar: Real>, const R: usize>(
    token: V::Token,
    x: &Vectors<'_, V>,
    at: usize,
    block: &mut [V],
    product: &mut [V],
) {
    let lane = x.lane;
    let zero = V::splat(token, V::Scalar::from_f64(0.0));
    let own = |line: &[V]| -> [V; R] { std::array::from_fn(|r| V::splat(token, element(line, at + r))) };
    let (own_before, own_update, own_reflector) = (own(x.before), own(x.update), own(x.reflector));
    let mut sums = [zero; R];
    // In all R rows, the diagonal crosses the same vector. The vectors before that vector are entirely below the
    // diagonal.
    let whole = at / V::LANES;
    let mut lines = block.chunks_exact_mut(x.width);
    let rows: [&mut [V]; R] = std::array::from_fn(|_| &mut lines.next().unwrap_or_default()[..=whole]);
    let (before, update) = (&x.before[..=whole], &x.update[..=whole]);
    let (product, totals) = product.split_at_mut(x.width);
    let (reflector, product) = (&x.reflector[..=whole], &mut product[..=whole]);
    for q in 0..whole {
        let (b, u, v, mut p) = (before[q], update[q], reflector[q], product[q]);
        for r in 0..R {
            let y = own_update[r].neg_mul_add(b, own_before[r].neg_mul_add(u, rows[r][q]));
            rows[r][q] = y;
            sums[r] = y.mul_add(v, sums[r]);
            p = y.mul_add(own_reflector[r], p);
        }
        product[q] = p;
    }
    let q = whole;
    for r in 0..R {
        let diagonal = V::splat(token, V::Scalar::from_f64(offset(at + r, q * V::LANES)));
        let y = own_update[r].neg_mul_add(before[q], own_before[r].neg_mul_add(update[q], rows[r][q]));
        rows[r][q] = y;
        let (below, with_diagonal) = (lane.lt(diagonal), lane.le(diagonal));
        sums[r] = V::select(with_diagonal, y, zero).mul_add(reflector[q], sums[r]);
        product[q] = V::select(below, y, zero).mul_add(own_reflector[r], product[q]);
    }
    for (r, sum) in sums.into_iter().enumerate() {
        let i = at + r;
        totals[i / V::LANES].as_mut_slice()[i % V::LANES] = sum.sum();
    }
}
