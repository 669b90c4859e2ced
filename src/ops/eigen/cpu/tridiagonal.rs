//! Householder reduction of a symmetric matrix to tridiagonal form, one matrix per lane (LAPACK's xSYTD2 and xORG2L,
//! lower triangle).
//!
//! Each step visits each element of the trailing matrix only once. In a single pass, the step applies the update of the
//! previous step and computes the product with the new reflector. Each sum adds its terms in the order of the rows
//! regardless of the blocking, and the zeros that pad a smaller matrix do not change any sum.

use super::workspace::Workspace;
use crate::array::Real;
use crate::lanes::Vector;

/// The number of rows that one pass processes together, so that the data that belongs to a column is loaded once for
/// all of these rows.
const ROWS: usize = 4;

/// Reduces the lower triangle of `work.reduced` to `work.diagonal` and `work.off_diagonal`. The reflectors are stored
/// in the upper triangle of `work.reduced`, row by row. The factors tau of the reflectors are stored in `work.tau`.
#[inline(always)]
pub(super) fn tridiagonalize<V: Vector<Scalar: Real>>(token: V::Token, n: usize, work: &mut Workspace<V>) {
    let Workspace { ld, reduced: a, diagonal, off_diagonal, tau, reflector, update, product, .. } = work;
    let ld = *ld;
    let zero = V::splat(token, V::Scalar::from_f64(0.0));
    let half = V::splat(token, V::Scalar::from_f64(0.5));
    let one = V::splat(token, V::Scalar::from_f64(1.0));
    // Squares below this bound have lost digits to underflow. A column with such squares is negligible relative to
    // elements of about 1.
    let tiny = V::splat(token, V::Scalar::from_f64(V::Scalar::SMALLEST / V::Scalar::EPSILON));
    let mut before = vec![zero; n];
    update[..n].fill(zero);
    reflector[..n].fill(zero);
    for k in 0..n.saturating_sub(2) {
        before.copy_from_slice(&reflector[..n]);
        for i in k..n {
            let x = update[i].neg_mul_add(before[k], before[i].neg_mul_add(update[k], a[i * ld + k]));
            a[i * ld + k] = x;
        }
        diagonal[k] = a[k * ld + k];
        let alpha = a[(k + 1) * ld + k];
        let mut square = zero;
        for i in k + 2..n {
            square = a[i * ld + k].mul_add(a[i * ld + k], square);
        }
        let norm = alpha.mul_add(alpha, square);
        let reflects = zero.and(tiny.lt(norm), zero.lt(square));
        let length = norm.sqrt();
        let beta = V::select(alpha.lt(zero), length, -length);
        let scale = V::select(reflects, one / (alpha - beta), zero);
        let own_tau = V::select(reflects, (beta - alpha) / beta, zero);
        off_diagonal[k] = V::select(reflects, beta, alpha);
        tau[k] = own_tau;
        reflector[k] = zero;
        reflector[k + 1] = one;
        for i in k + 2..n {
            reflector[i] = a[i * ld + k] * scale;
        }
        a[k * ld + k + 1..k * ld + n].copy_from_slice(&reflector[k + 1..n]);

        product[k + 1..n].fill(zero);
        let vectors = Vectors { before, update, reflector };
        let mut i = k + 1;
        while i + ROWS <= n {
            pass::<V, ROWS>(ld, k + 1, i, a, &vectors, product);
            i += ROWS;
        }
        while i < n {
            pass::<V, 1>(ld, k + 1, i, a, &vectors, product);
            i += 1;
        }
        Vectors { before, .. } = vectors;

        let mut inner = zero;
        for i in k + 1..n {
            inner = product[i].mul_add(reflector[i], inner);
        }
        let correction = half * own_tau * own_tau * inner;
        for i in k + 1..n {
            update[i] = correction.neg_mul_add(reflector[i], own_tau * product[i]);
        }
    }
    for i in n.saturating_sub(2)..n {
        for j in n.saturating_sub(2)..=i {
            if n > 2 {
                let x = a[i * ld + j];
                a[i * ld + j] = update[i].neg_mul_add(reflector[j], reflector[i].neg_mul_add(update[j], x));
            }
        }
        diagonal[i] = a[i * ld + i];
    }
    if n > 1 {
        off_diagonal[n - 2] = a[(n - 1) * ld + n - 2];
    }
    off_diagonal[n - 1] = zero;
}

/// The reflector and the update of the previous step, and the new reflector.
struct Vectors<'a, V> {
    before: Vec<V>,
    update: &'a [V],
    reflector: &'a [V],
}

/// Applies the update of the previous step to the rows `at..at + R` of the trailing matrix, in the columns from `from`
/// on, and adds the contribution of these rows to the product.
#[inline(always)]
fn pass<V: Vector, const R: usize>(
    ld: usize,
    from: usize,
    at: usize,
    a: &mut [V],
    vectors: &Vectors<'_, V>,
    product: &mut [V],
) {
    let end = at + R;
    let before = &vectors.before[from..end];
    let update = &vectors.update[from..end];
    let reflector = &vectors.reflector[from..end];
    let product = &mut product[from..end];
    let mut lines = a[at * ld..end * ld].chunks_exact_mut(ld);
    let rows: [&mut [V]; R] = std::array::from_fn(|_| &mut lines.next().unwrap_or_default()[from..end]);
    let width = at - from;
    let own_before: [V; R] = std::array::from_fn(|r| before[width + r]);
    let own_update: [V; R] = std::array::from_fn(|r| update[width + r]);
    let own: [V; R] = std::array::from_fn(|r| reflector[width + r]);
    let mut sums: [V; R] = std::array::from_fn(|r| product[width + r]);
    for j in 0..width {
        let (b, u, v, mut p) = (before[j], update[j], reflector[j], product[j]);
        for r in 0..R {
            let x = own_update[r].neg_mul_add(b, own_before[r].neg_mul_add(u, rows[r][j]));
            rows[r][j] = x;
            sums[r] = x.mul_add(v, sums[r]);
            p = x.mul_add(own[r], p);
        }
        product[j] = p;
    }
    for r in 0..R {
        for c in 0..=r {
            let j = width + c;
            let x = own_update[r].neg_mul_add(before[j], own_before[r].neg_mul_add(update[j], rows[r][j]));
            rows[r][j] = x;
            sums[r] = x.mul_add(own[c], sums[r]);
            if c < r {
                sums[c] = x.mul_add(own[r], sums[c]);
            }
        }
    }
    product[width..].copy_from_slice(&sums);
}

/// Writes the orthogonal matrix of the reduction, H_0 H_1 ... H_{n-3}, to `work.vectors`.
#[inline(always)]
pub(super) fn form_q<V: Vector<Scalar: Real>>(token: V::Token, n: usize, work: &mut Workspace<V>) {
    let Workspace { ld, reduced, vectors: q, tau, update: sums, product: sums_before, reflector: scaled, .. } = work;
    let ld = *ld;
    let zero = V::splat(token, V::Scalar::from_f64(0.0));
    let one = V::splat(token, V::Scalar::from_f64(1.0));
    q[..n * ld].fill(zero);
    for i in 0..n {
        q[i * ld + i] = one;
    }
    sums_before[..n].fill(zero);
    scaled[..n].fill(zero);
    for k in (0..n.saturating_sub(2)).rev() {
        let reflector = &reduced[k * ld..k * ld + n];
        sums[k + 1] = one;
        sums[k + 2..n].fill(zero);
        let mut i = k + 2;
        while i + ROWS <= n {
            reflect::<V, ROWS>(n, ld, k + 2, i, q, scaled, sums_before, reflector, sums);
            i += ROWS;
        }
        while i < n {
            reflect::<V, 1>(n, ld, k + 2, i, q, scaled, sums_before, reflector, sums);
            i += 1;
        }
        for i in k + 1..n {
            scaled[i] = tau[k] * reflector[i];
        }
        std::mem::swap(sums, sums_before);
    }
    if n > 2 {
        for i in 1..n {
            for j in 1..n {
                q[i * ld + j] = scaled[i].neg_mul_add(sums_before[j], q[i * ld + j]);
            }
        }
    }
}

/// Applies the reflection of the previous step to the rows `at..at + R` of Q, in the columns from `from` on, and adds
/// the contribution of these rows to the sums for the next step.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a row block and the vectors that go with it")]
fn reflect<V: Vector, const R: usize>(
    n: usize,
    ld: usize,
    from: usize,
    at: usize,
    q: &mut [V],
    scaled: &[V],
    sums_before: &[V],
    reflector: &[V],
    sums: &mut [V],
) {
    let mut lines = q[at * ld..(at + R) * ld].chunks_exact_mut(ld);
    let rows: [&mut [V]; R] = std::array::from_fn(|_| &mut lines.next().unwrap_or_default()[from..n]);
    let own_scaled: [V; R] = std::array::from_fn(|r| scaled[at + r]);
    let own: [V; R] = std::array::from_fn(|r| reflector[at + r]);
    let (sums_before, sums) = (&sums_before[from..n], &mut sums[from..n]);
    for j in 0..n - from {
        let (before, mut sum) = (sums_before[j], sums[j]);
        for r in 0..R {
            let x = own_scaled[r].neg_mul_add(before, rows[r][j]);
            rows[r][j] = x;
            sum = x.mul_add(own[r], sum);
        }
        sums[j] = sum;
    }
}
