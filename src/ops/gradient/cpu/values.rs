//! Tie groups, and quotients by gaps, of the values of several matrices, one matrix in each lane.

use super::super::{GradientCertificate, Rule, Seen};
use crate::array::Real;
use crate::lanes::Vector;
use std::ops::Range;

/// Eigenvalues or singular values of a batch, `n` of each matrix, with their cotangents.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Values<'a, T> {
    pub(in super::super) n: usize,
    pub(in super::super) singular: bool,
    pub(in super::super) rectangular: bool,
    pub(in super::super) values: &'a [T],
    /// The cotangents; empty if they are 0.
    pub(in super::super) bar: &'a [T],
    pub(in super::super) rule: Rule,
}

impl<'a, T: Real> Values<'a, T> {
    /// Returns the values of some of the matrices.
    pub(super) fn of(&self, matrices: Range<usize>) -> Self {
        let own = matrices.start * self.n..matrices.end * self.n;
        let bar = if self.bar.is_empty() { self.bar } else { &self.bar[own.clone()] };
        Self { values: &self.values[own], bar, ..*self }
    }

    pub(super) fn count(&self) -> usize {
        self.values.len() / self.n
    }
}

/// The values of the matrices in the lanes, what belongs to them, and what is noticed about the cotangents. Lanes
/// without a matrix hold values of 0.
pub(super) struct Lanes<V> {
    pub(super) n: usize,
    pub(super) values: Vec<V>,
    pub(super) bar: Vec<V>,
    /// The tie group of each value, which is the place of its first value; the singular values that count as 0 are the
    /// group `n`.
    pub(super) groups: Vec<V>,
    pub(super) by: Quotients<V>,
    pub(super) undefined: V,
    pub(super) largest: V,
    pub(super) poison: V,
    norm: V,
    difference: V,
    cotangent: V,
    divisor: V,
}

impl<V: Vector<Scalar: Real>> Lanes<V> {
    #[inline(always)]
    pub(super) fn new(token: V::Token, n: usize) -> Self {
        let zero = V::splat(token, V::Scalar::from_f64(0.0));
        let line = || vec![zero; n];
        Self {
            n,
            values: line(),
            bar: line(),
            groups: line(),
            by: Quotients::new(token, n, false, None),
            undefined: zero,
            largest: zero,
            poison: zero,
            norm: zero,
            difference: zero,
            cotangent: zero,
            divisor: zero,
        }
    }

    /// Loads the values of at most as many matrices as there are lanes, finds their tie groups, and looks at them.
    #[inline(always)]
    pub(super) fn load(&mut self, token: V::Token, given: &Values<'_, V::Scalar>) {
        let Values { n, singular, rectangular, values, bar, rule } = *given;
        let number = |x: f64| V::splat(token, V::Scalar::from_f64(x));
        #[expect(clippy::cast_precision_loss, reason = "orders are far below 2^24")]
        let index = |i: usize| number(i as f64);
        let (zero, half) = (number(0.0), number(0.5));
        load(zero, n, values, &mut self.values);
        load(zero, n, bar, &mut self.bar);
        let (values, bar, groups) = (&self.values, &self.bar, &mut self.groups);
        self.norm = values[0].abs().max(values[n - 1].abs());
        let allowed = number(rule.tolerance) * self.norm;
        let width = (rule.width > 0.0).then_some(number(rule.width) * self.norm);
        self.by = Quotients::new(token, n, singular, width);
        groups[0] = zero;
        for i in 1..n {
            let tied = (values[i] - values[i - 1]).abs().le(allowed);
            groups[i] = V::select(tied, groups[i - 1], index(i));
        }
        if singular {
            for (group, value) in groups.iter_mut().zip(values) {
                *group = V::select(value.le(allowed), index(n), *group);
            }
        }
        (self.undefined, self.largest, self.poison) = (zero, zero, zero);
        (self.difference, self.cotangent, self.divisor) = (zero, zero, number(f64::INFINITY));
        let last = index(n) - half;
        for j in 0..n {
            let (value, own, group) = (values[j], bar[j], groups[j]);
            let at_zero = last.lt(group);
            self.poison += zero * value + zero * own;
            self.cotangent = self.cotangent.max(own.abs());
            self.difference = V::select(at_zero, self.difference.max(own.abs()), self.difference);
            if rectangular {
                self.divisor = V::select(at_zero, self.divisor, self.divisor.min(value));
            }
            if j > 0 {
                let (before, group_before) = (values[j - 1], groups[j - 1]);
                let tied = (group - group_before).abs().lt(half);
                self.divisor = V::select(tied, self.divisor, self.divisor.min((value - before).abs()));
                let apart = V::select(at_zero, self.difference, self.difference.max((own - bar[j - 1]).abs()));
                self.difference = V::select(tied, apart, self.difference);
                if singular {
                    let both = self.divisor.min(value + before);
                    self.divisor = V::select(last.lt(group_before), self.divisor, both);
                }
            }
        }
    }

    /// Returns the certificate of one lane.
    pub(super) fn judged(&self, lane: usize) -> GradientCertificate {
        let of = |x: V| x.as_slice()[lane].to_f64();
        Seen {
            undefined: of(self.undefined),
            largest: of(self.largest),
            difference: of(self.difference),
            cotangent: of(self.cotangent),
            norm: of(self.norm),
            steep: of(self.divisor).recip(),
            poison: of(self.poison),
        }
        .judged::<V::Scalar>()
    }

    /// Returns the width of one lane.
    pub(super) fn width(&self, lane: usize) -> Option<V::Scalar> {
        self.by.width.map(|width| width.as_slice()[lane])
    }

    /// Returns the element of G on the diagonal: the cotangent of value j, or 0 if that is a singular value of 0.
    #[inline(always)]
    pub(super) fn diagonal(&self, j: usize) -> V {
        V::select(self.by.last.lt(self.groups[j]), self.by.zero, self.bar[j])
    }
}

/// Copies a few elements of each matrix to the lanes. The others become 0.
#[inline(always)]
pub(super) fn load<V: Vector>(zero: V, len: usize, from: &[V::Scalar], to: &mut [V]) {
    if from.len() < len * V::LANES {
        to.fill(zero);
    }
    for (lane, matrix) in from.chunks_exact(len).enumerate() {
        to.iter_mut().zip(matrix).for_each(|(to, x)| to.as_mut_slice()[lane] = *x);
    }
}

/// What elements are divided by.
#[derive(Clone, Copy)]
pub(super) struct Quotients<V> {
    singular: bool,
    /// The width of broadening, if there is one.
    width: Option<V>,
    zero: V,
    half: V,
    one: V,
    /// What the group of the singular values of 0 is above, unlike all others.
    last: V,
}

impl<V: Vector<Scalar: Real>> Quotients<V> {
    #[inline(always)]
    pub(super) fn new(token: V::Token, n: usize, singular: bool, width: Option<V>) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "orders are far below 2^24")]
        let [zero, half, one, last] = [0.0, 0.5, 1.0, n as f64 - 0.5].map(|x| V::splat(token, V::Scalar::from_f64(x)));
        Self { singular, width, zero, half, one, last }
    }

    /// Returns the two quotients of an element of G, given that of skew P and that of skew Q, and the magnitude that
    /// ought to be 0. The pairs are those of the column and of the row.
    #[inline(always)]
    pub(super) fn of(&self, [a, b]: [V; 2], values: [V; 2], groups: [V; 2]) -> [V; 3] {
        let Self { zero, half, one, .. } = *self;
        let tied = (groups[0] - groups[1]).abs().lt(half);
        let gap = V::select(tied, one, values[0] - values[1]);
        let sum = if self.singular { a + b } else { a };
        let quotient = match self.width {
            Some(width) => {
                let ratio = gap / width;
                sum * ratio / (ratio.mul_add(ratio, one) * width)
            }
            None => sum / gap,
        };
        let first = V::select(tied, zero, quotient);
        let undefined = V::select(tied, sum.abs(), zero);
        if !self.singular {
            return [first, zero, undefined];
        }
        let difference = a - b;
        let both = zero.and(tied, self.last.lt(groups[0]));
        let total = V::select(both, one, values[0] + values[1]);
        let second = V::select(both, zero, difference / total);
        [first, second, undefined.max(V::select(both, difference.abs(), zero))]
    }
}
