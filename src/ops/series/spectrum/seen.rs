//! Sums over the frequencies that columns see, and the order of their powers.

use super::super::histogram::logarithms;
use crate::lanes::Vector;

/// Returns the sum over all frequencies of a function of the frequency and the power. A closure would not be compiled
/// with SIMD instructions.
macro_rules! weighted_sum {
    ($seen:ident, |$f:ident, $power:ident| $term:expr) => {{
        let mut sum = V::splat($seen.token, 0.0);
        for (k, &$power) in $seen.power.iter().enumerate() {
            let $f = V::splat($seen.token, $seen.frequencies[k]);
            sum = V::splat($seen.token, $seen.weight(k)).mul_add($term, sum);
        }
        sum
    }};
}

pub(super) use weighted_sum;

/// The frequencies of a transform that the columns see.
pub(super) struct Seen<'a, V: Vector> {
    pub(super) token: V::Token,
    pub(super) power: &'a [V],
    pub(super) weights: &'a [f64],
    pub(super) both_sides: bool,
    pub(super) frequencies: &'a [f64],
    /// The places of all frequencies in ascending order, counted from frequency 0 on.
    pub(super) order: &'a [usize],
    /// The number of frequencies that are not seen.
    pub(super) first: usize,
}

impl<V: Vector<Scalar = f64>> Seen<'_, V> {
    /// Returns how often a frequency counts.
    #[inline(always)]
    pub(super) fn weight(&self, k: usize) -> f64 {
        if self.both_sides { self.weights[k] } else { 1.0 }
    }

    /// Returns the number of frequencies.
    #[inline(always)]
    pub(super) fn bins(&self) -> f64 {
        let mut bins = 0.0;
        for k in 0..self.power.len() {
            bins += self.weight(k);
        }
        bins
    }

    /// Returns the sum of the powers.
    #[inline(always)]
    pub(super) fn total(&self) -> V {
        let mut total = V::splat(self.token, 0.0);
        for (k, &power) in self.power.iter().enumerate() {
            total = power.mul_add(V::splat(self.token, self.weight(k)), total);
        }
        total
    }

    /// Returns `-sum p ln(p + epsilon)` over the shares of the total power.
    #[inline(always)]
    pub(super) fn entropy(&self, total: V, epsilon: f64) -> V {
        let (zero, one) = (V::splat(self.token, 0.0), V::splat(self.token, 1.0));
        let (inverse, epsilon) = (one / total, V::splat(self.token, epsilon));
        let mut shares = self.power.to_vec();
        for share in &mut shares {
            *share = share.mul_add(inverse, epsilon);
        }
        let logs = logarithms(&shares);
        let mut sum = zero;
        for (k, (&power, log)) in self.power.iter().zip(logs.chunks_exact(V::LANES)).enumerate() {
            let term = power * inverse * V::load(self.token, log);
            sum = V::splat(self.token, self.weight(k)).mul_add(V::select(zero.lt(power), term, zero), sum);
        }
        zero - sum
    }

    /// Returns `sum ln P`.
    #[inline(always)]
    pub(super) fn sum_of_logarithms(&self) -> V {
        let mut sum = V::splat(self.token, 0.0);
        for (k, log) in logarithms(self.power).chunks_exact(V::LANES).take(self.power.len()).enumerate() {
            sum = V::splat(self.token, self.weight(k)).mul_add(V::load(self.token, log), sum);
        }
        sum
    }

    /// Appends the greatest powers in descending order. If there are fewer, the last are 0.
    #[inline(always)]
    pub(super) fn greatest(&self, count: usize, out: &mut Vec<V>) {
        let begin = out.len();
        out.resize(begin + count, V::splat(self.token, 0.0));
        let top = &mut out[begin..];
        for (k, &power) in self.power.iter().enumerate() {
            let mut left = self.weight(k);
            while left > 0.0 && power.any(top[count - 1].lt(power)) {
                let mut next = power;
                for place in &mut *top {
                    (*place, next) = (place.max(next), place.min(next));
                }
                left -= 1.0;
            }
        }
    }

    /// Returns the least frequency up to which the powers sum to `wanted` or more.
    #[inline(always)]
    pub(super) fn rolloff(&self, wanted: V) -> V {
        let (mut found, mut sum) = (V::splat(self.token, 0.0), V::splat(self.token, 0.0));
        for &place in self.order {
            let k = place - self.first;
            found = V::select(sum.lt(wanted), V::splat(self.token, self.frequencies[k]), found);
            sum = self.power[k].mul_add(V::splat(self.token, self.weight(k)), sum);
        }
        found
    }

    /// Returns the least frequency with the greatest power.
    #[inline(always)]
    pub(super) fn dominant(&self) -> V {
        let (mut found, mut greatest) = (V::splat(self.token, 0.0), V::splat(self.token, 0.0));
        for &place in self.order {
            let k = place - self.first;
            found = V::select(greatest.lt(self.power[k]), V::splat(self.token, self.frequencies[k]), found);
            greatest = greatest.max(self.power[k]);
        }
        found
    }
}
