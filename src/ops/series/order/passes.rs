//! Passes over the numbers of samples in their order.

use super::{ABOVE, BELOW, CHANGES, MEAN_CROSSINGS, PARTS, SQUARES, TREND, ZERO_CROSSINGS};
use crate::lanes::Vector;

/// Computes the parts of [`IN_ONE_PASS`](super::IN_ONE_PASS). Each of these sums and lengths waits for its last value
/// at every number, so several of them together take hardly longer than one.
#[inline(always)]
pub(super) fn in_one_pass<V: Vector<Scalar = f64>>(token: V::Token, x: &[V], mean: V, parts: &mut [V; PARTS]) {
    let (zero, one) = (V::splat(token, 0.0), V::splat(token, 1.0));
    let (mut above, mut below) = (zero, zero);
    let mut before = x[0];
    let (mut positive, mut over) = (V::select(zero.lt(before), one, zero), V::select(mean.lt(before), one, zero));
    let mut place = V::splat(token, -(x.len() as f64 - 1.0) / 2.0);
    for &x in x {
        let change = x - before;
        parts[CHANGES] += change.abs();
        parts[SQUARES] = change.mul_add(change, parts[SQUARES]);
        let (now, now_over) = (V::select(zero.lt(x), one, zero), V::select(mean.lt(x), one, zero));
        parts[ZERO_CROSSINGS] += (now - positive).abs();
        parts[MEAN_CROSSINGS] += (now_over - over).abs();
        above = (above + one) * now_over;
        below = V::select(x.lt(mean), below + one, zero);
        parts[ABOVE] = parts[ABOVE].max(above);
        parts[BELOW] = parts[BELOW].max(below);
        parts[TREND] = (x - mean).mul_add(place, parts[TREND]);
        place += one;
        (before, positive, over) = (x, now, now_over);
    }
}

/// Returns `sum (x_i - mean)(x_(i + lag) - mean)`, or 0 if the lag is beyond the sample.
#[inline(always)]
pub(super) fn covariance<V: Vector<Scalar = f64>>(token: V::Token, x: &[V], mean: V, lag: usize) -> V {
    let [sum] = covariances(token, x, mean, [lag]);
    sum
}

/// Returns `sum (x_i - mean)(x_(i + lag) - mean)` for several lags, each in two partial sums.
#[inline(always)]
pub(super) fn covariances<V: Vector<Scalar = f64>, const K: usize>(
    token: V::Token,
    x: &[V],
    mean: V,
    lags: [usize; K],
) -> [V; K] {
    let n = x.len();
    let mut parts = [[V::splat(token, 0.0); 2]; K];
    let mut longest = 0;
    for lag in lags {
        longest = longest.max(lag);
    }
    // An even number of products that all lags have.
    let whole = n.saturating_sub(longest) / 2 * 2;
    for i in (0..whole).step_by(2) {
        let early = [x[i] - mean, x[i + 1] - mean];
        for (parts, lag) in parts.iter_mut().zip(lags) {
            parts[0] = early[0].mul_add(x[i + lag] - mean, parts[0]);
            parts[1] = early[1].mul_add(x[i + 1 + lag] - mean, parts[1]);
        }
    }
    let mut sums = [parts[0][0]; K];
    for ((sum, parts), lag) in sums.iter_mut().zip(&mut parts).zip(lags) {
        for i in whole..n.saturating_sub(lag) {
            parts[i % 2] = (x[i] - mean).mul_add(x[i + lag] - mean, parts[i % 2]);
        }
        *sum = parts[0] + parts[1];
    }
    sums
}

/// Returns the least lag whose covariance is not positive, or the number of elements.
#[inline(always)]
pub(super) fn first_zero<V: Vector<Scalar = f64>>(token: V::Token, x: &[V], mean: V) -> V {
    let (zero, n) = (V::splat(token, 0.0), V::splat(token, x.len() as f64));
    let mut found = n;
    for lag in 1..x.len() {
        let value = covariance(token, x, mean, lag);
        let now = V::select(value.le(zero), V::splat(token, lag as f64), n);
        found = found.min(now);
        if !found.any(n.le(found)) {
            break;
        }
    }
    found
}

/// Replaces the autocorrelations at the lags 1, 2, ... by the partial ones (Durbin's recursion).
#[inline(always)]
pub(super) fn partial<V: Vector<Scalar = f64>>(one: V, r: &mut [V]) {
    let known = r.to_vec();
    let mut coefficients: Vec<V> = Vec::with_capacity(known.len());
    let mut error = one;
    for (k, r) in r.iter_mut().enumerate() {
        let mut next = known[k];
        for j in 0..k {
            next = coefficients[j].neg_mul_add(known[k - 1 - j], next);
        }
        let last = next / error;
        let before = coefficients.clone();
        for j in 0..k {
            coefficients[j] = last.neg_mul_add(before[k - 1 - j], coefficients[j]);
        }
        coefficients.push(last);
        error *= last.neg_mul_add(last, one);
        *r = last;
    }
}
