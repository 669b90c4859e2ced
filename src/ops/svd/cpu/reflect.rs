//! Householder reflections, one matrix per lane.

use super::Working;
use crate::lanes::Vector;

/// The diagonal of R and the factors tau of a QR factorization, for one tall matrix per lane. The rest of the
/// factorization replaces the elements of the matrices. The reflection of column j is `I - tau v v'`, and v is stored
/// in column j from row j down. The elements of R above the diagonal are stored above v, and the diagonal of R is
/// stored in `betas`. Because tau is computed as `2 / v'v`, `I - tau v v'` is orthogonal up to rounding, whatever the
/// rounding of v.
pub(super) struct Reflections<V: Vector> {
    token: V::Token,
    pub(super) betas: Vec<V>,
    taus: Vec<V>,
}

impl<F: Working, V: Vector<Scalar = F>> Reflections<V> {
    /// Makes room for matrices of `cols` columns.
    #[inline(always)]
    pub(super) fn new(token: V::Token, cols: usize) -> Self {
        let zeros = vec![V::splat(token, F::from_f64(0.0)); cols];
        Self { token, betas: zeros.clone(), taus: zeros }
    }

    /// Factorizes X = Q R in place, where X has `rows` rows (Golub and Van Loan 5.2). Columns that count as missing
    /// (see [`missing`]) get no reflection.
    #[inline(always)]
    pub(super) fn factor(&mut self, x: &mut [V], rows: usize) {
        let number = |x: f64| V::splat(self.token, F::from_f64(x));
        let (zero, two, missing) = (number(0.0), number(2.0), number(missing::<F>()));
        for j in 0..self.betas.len() {
            let (head, behind) = x.split_at_mut((j + 1) * rows);
            let own = &mut head[j * rows + j..];
            let alpha = own[0];
            let square = dot(&own[1..], &own[1..], zero);
            let whole = alpha.mul_add(alpha, square);
            let is = alpha.and(missing.lt(whole), zero.lt(square));
            let length = whole.sqrt();
            let beta = V::select(is, V::select(alpha.lt(zero), length, -length), alpha);
            let first = alpha - beta;
            let norm = first.mul_add(first, square);
            let tau = V::select(is, two / norm, zero);
            own[0] = first;
            (self.betas[j], self.taus[j]) = (beta, tau);
            for other in behind.chunks_exact_mut(rows) {
                reflect(own, tau, &mut other[j..], zero);
            }
        }
    }

    /// Forms as many columns of Q as fit in `q`, with the signs that make the diagonal of R positive.
    #[inline(always)]
    pub(super) fn form(&self, x: &[V], q: &mut [V], rows: usize) {
        let number = |x: f64| V::splat(self.token, F::from_f64(x));
        let (zero, one) = (number(0.0), number(1.0));
        for (column, q) in q.chunks_exact_mut(rows).enumerate() {
            q.fill(zero);
            q[column] = self.betas.get(column).map_or(one, |beta| V::select(beta.lt(zero), -one, one));
            // A reflection that starts below the column's only nonzero element leaves the column unchanged.
            for j in (0..=column.min(self.betas.len() - 1)).rev() {
                reflect(&x[j * rows + j..(j + 1) * rows], self.taus[j], &mut q[j..], zero);
            }
        }
    }
}

/// Computes `x - tau v (v' x)` in place.
#[inline(always)]
fn reflect<V: Vector>(v: &[V], tau: V, x: &mut [V], zero: V) {
    let product = tau * dot(v, x, zero);
    for (x, v) in x.iter_mut().zip(v) {
        *x = product.neg_mul_add(*v, *x);
    }
}

/// Returns the inner product of `x` and `y`. The terms are added to four separate sums, because each addition to a
/// single sum would wait for the previous addition.
#[inline(always)]
pub(super) fn dot<V: Vector>(x: &[V], y: &[V], zero: V) -> V {
    let mut sums = [zero; 4];
    let (fours_x, rest_x) = x.as_chunks::<4>();
    let (fours_y, rest_y) = y.as_chunks::<4>();
    for (x, y) in fours_x.iter().zip(fours_y) {
        for t in 0..4 {
            sums[t] = x[t].mul_add(y[t], sums[t]);
        }
    }
    for (x, y) in rest_x.iter().zip(rest_y) {
        sums[0] = x.mul_add(*y, sums[0]);
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// Returns the squared length up to which a column counts as missing. Such a length is negligible relative to an
/// element of magnitude 1, and products of such lengths are far from underflow.
pub(super) fn missing<F: Working>() -> f64 {
    (F::EPSILON / 128.0).powi(2)
}
