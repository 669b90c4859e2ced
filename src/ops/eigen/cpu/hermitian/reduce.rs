//! Householder reduction of a complex Hermitian matrix to a real tridiagonal one, one matrix per lane (LAPACK's xHETD2
//! and xUNG2L, lower triangle).
//!
//! As for real matrices (`tridiagonal`), each step visits each element of the trailing matrix only once: in a single
//! pass, it applies the update of the previous step and computes the product with the new reflector.

use super::Lanes;
use super::group::Workspace;
use crate::array::Real;
use crate::lanes::Vector;

/// Reduces the lower triangle of `work.reduced` to the real tridiagonal matrix of `work.ql`. The reflectors are stored
/// in the upper triangle of `work.reduced`, row by row, and their factors in `work.tau`.
#[inline(always)]
pub(super) fn tridiagonalize<V: Vector<Scalar: Real>>(token: V::Token, n: usize, work: &mut Workspace<V>) {
    let number = |x: f64| V::splat(token, V::Scalar::from_f64(x));
    let (none, one) = (number(0.0), number(1.0));
    let zero = Lanes { re: none, im: none };
    // Squares below this bound have lost digits to underflow. A column with such squares is negligible relative to
    // elements of about 1.
    let tiny = number(V::Scalar::SMALLEST / V::Scalar::EPSILON);
    let Workspace { ql, reduced: a, tau, before, update, reflector, product, .. } = work;
    let ld = ql.ld;
    before[..n].fill(zero);
    update[..n].fill(zero);
    reflector[..n].fill(zero);
    for k in 0..n - 1 {
        before[..n].copy_from_slice(&reflector[..n]);
        for i in k..n {
            let x = a[i * ld + k].minus_by_conjugate(before[i], update[k]);
            a[i * ld + k] = x.minus_by_conjugate(update[i], before[k]);
        }
        ql.diagonal[k] = a[k * ld + k].re;
        let alpha = a[(k + 1) * ld + k];
        let square = (k + 2..n).fold(alpha.im * alpha.im, |sum, i| Lanes::square(a[i * ld + k], sum));
        let norm = alpha.re.mul_add(alpha.re, square);
        let reflects = none.and(tiny.lt(norm), none.lt(square));
        let length = norm.sqrt();
        let beta = V::select(alpha.re.lt(none), length, -length);
        let difference = alpha.re - beta;
        let inverse = one / difference.mul_add(difference, alpha.im * alpha.im);
        let scale = Lanes {
            re: V::select(reflects, difference * inverse, none),
            im: V::select(reflects, -(alpha.im * inverse), none),
        };
        let own_tau = Lanes {
            re: V::select(reflects, -difference / beta, none),
            im: V::select(reflects, -alpha.im / beta, none),
        };
        ql.off_diagonal[k] = V::select(reflects, beta, alpha.re);
        tau[k] = own_tau;
        reflector[k] = zero;
        reflector[k + 1] = Lanes { re: one, im: none };
        for i in k + 2..n {
            reflector[i] = zero.plus(a[i * ld + k], scale);
        }
        a[k * ld + k + 1..k * ld + n].copy_from_slice(&reflector[k + 1..n]);

        product[k + 1..n].fill(zero);
        let mut i = k + 1;
        while i + 2 <= n {
            pass::<V, 2>(ld, k + 1, i, a, [before, update, reflector], product);
            i += 2;
        }
        if i < n {
            pass::<V, 1>(ld, k + 1, i, a, [before, update, reflector], product);
        }
        // v^H A v is real.
        let mut inner = none;
        for i in k + 1..n {
            let (p, v) = (product[i], reflector[i]);
            inner = p.im.mul_add(v.im, p.re.mul_add(v.re, inner));
        }
        let correction = number(0.5) * Lanes::square(own_tau, none) * inner;
        for i in k + 1..n {
            let w = zero.plus(own_tau, product[i]);
            let v = reflector[i];
            update[i] = Lanes { re: correction.neg_mul_add(v.re, w.re), im: correction.neg_mul_add(v.im, w.im) };
        }
    }
    let last = n - 1;
    let x = a[last * ld + last].minus_by_conjugate(reflector[last], update[last]);
    ql.diagonal[last] = x.minus_by_conjugate(update[last], reflector[last]).re;
    ql.off_diagonal[last] = none;
}

/// Applies the update of the previous step, `A - v w^H - w v^H`, to the rows `at..at + R` of the trailing matrix, in
/// the columns from `from` on, and adds the contribution of these rows to the product with the new reflector.
#[inline(always)]
fn pass<V: Vector, const R: usize>(
    ld: usize,
    from: usize,
    at: usize,
    a: &mut [Lanes<V>],
    [before, update, reflector]: [&[Lanes<V>]; 3],
    product: &mut [Lanes<V>],
) {
    let end = at + R;
    let [before, update, reflector] = [before, update, reflector].map(|x| &x[from..end]);
    let product = &mut product[from..end];
    let mut lines = a[at * ld..end * ld].chunks_exact_mut(ld);
    let rows: [&mut [Lanes<V>]; R] = std::array::from_fn(|_| &mut lines.next().unwrap_or_default()[from..end]);
    let width = at - from;
    let (own_before, own_update) = (first::<V, R>(&before[width..]), first::<V, R>(&update[width..]));
    let (own, mut sums) = (first::<V, R>(&reflector[width..]), first::<V, R>(&product[width..]));
    for j in 0..width {
        let (b, u, v, mut p) = (before[j], update[j], reflector[j], product[j]);
        for r in 0..R {
            let x = rows[r][j].minus_by_conjugate(own_before[r], u).minus_by_conjugate(own_update[r], b);
            rows[r][j] = x;
            sums[r] = sums[r].plus(x, v);
            p = p.plus_conjugate(x, own[r]);
        }
        product[j] = p;
    }
    for r in 0..R {
        for c in 0..=r {
            let j = width + c;
            let (b, u) = (before[j], update[j]);
            let x = rows[r][j].minus_by_conjugate(own_before[r], u).minus_by_conjugate(own_update[r], b);
            rows[r][j] = x;
            if c < r {
                sums[r] = sums[r].plus(x, own[c]);
                sums[c] = sums[c].plus_conjugate(x, own[r]);
            } else {
                let v = own[r];
                sums[r] = Lanes { re: x.re.mul_add(v.re, sums[r].re), im: x.re.mul_add(v.im, sums[r].im) };
            }
        }
    }
    product[width..].copy_from_slice(&sums);
}

/// Returns the first R elements. The closure of `array::from_fn` would not be inlined.
#[inline(always)]
fn first<V: Copy, const R: usize>(from: &[Lanes<V>]) -> [Lanes<V>; R] {
    let mut to = [from[0]; R];
    to.copy_from_slice(&from[..R]);
    to
}

/// Writes the unitary matrix of the reduction, H_0 H_1 ... H_{n-2}, to `work.ql.vectors`: first the real parts of all
/// rows, then the imaginary parts.
#[inline(always)]
pub(super) fn form_q<V: Vector<Scalar: Real>>(token: V::Token, n: usize, work: &mut Workspace<V>) {
    let none = V::splat(token, V::Scalar::from_f64(0.0));
    let one = V::splat(token, V::Scalar::from_f64(1.0));
    let zero = Lanes { re: none, im: none };
    let Workspace { ql, reduced, tau, before: sums_before, update: sums, product: scaled, .. } = work;
    let ld = ql.ld;
    let (real, imaginary) = ql.vectors[..2 * n * ld].split_at_mut(n * ld);
    real.fill(none);
    imaginary.fill(none);
    for i in 0..n {
        real[i * ld + i] = one;
    }
    sums_before[..n].fill(zero);
    scaled[..n].fill(zero);
    // Each pass applies a reflection and computes the sums for the next one: v^H Q.
    for k in (0..n).rev() {
        sums[..n].fill(zero);
        let next = k.checked_sub(1);
        if let Some(k) = next {
            sums[k + 1] = Lanes { re: one, im: none };
        }
        for i in k + 1..n {
            let by = scaled[i];
            let v = next.map_or(zero, |k| reduced[k * ld + i]);
            let row = i * ld + k + 1..i * ld + n;
            let columns = real[row.clone()].iter_mut().zip(&mut imaginary[row]);
            for ((re, im), (before, sum)) in columns.zip(sums_before[k + 1..n].iter().zip(&mut sums[k + 1..n])) {
                let x = Lanes { re: *re, im: *im }.minus(by, *before);
                (*re, *im) = (x.re, x.im);
                *sum = sum.plus_conjugate(v, x);
            }
        }
        if let Some(k) = next {
            for i in k + 1..n {
                scaled[i] = zero.plus(tau[k], reduced[k * ld + i]);
            }
        }
        std::mem::swap(sums, sums_before);
    }
}
