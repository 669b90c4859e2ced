//! Scales matrices whose entries are far from 1 by powers of two, so that no sum of squares leaves the range of f32.

use super::Operator;
use super::operator::Bounds;
use crate::array::Real;
use std::borrow::Cow;

/// A matrix whose norm is from 2^-32 to 2^32 is not scaled, like the weights of a graph (`graph/level.rs`).
const LEVEL: f64 = 32.0;

/// Returns x times 2^e. The factor may be outside of the range of f64.
pub(in crate::ops) fn times_power(x: f64, e: i32) -> f64 {
    let half = e / 2;
    x * 2_f64.powi(half) * 2_f64.powi(e - half)
}

impl<T: Real> Operator<'_, T> {
    /// Returns the exponent e of the power of two by which the only problem has to be divided so that its norm is from
    /// 1 to 2. Returns 0 if the norm is not far from 1.
    pub(in crate::ops) fn level(&self) -> i32 {
        let norm = self.bounds[0].norm;
        if norm == 0.0 {
            return 0;
        }
        let exponent = if norm.is_finite() {
            norm.log2().floor()
        } else {
            // The entries are finite, but a sum of them is not.
            let largest = |most: f64, (_, x): (usize, f64)| most.max(x.abs());
            let most = (0..self.rows()).flat_map(|row| self.row(0, row)).fold(0.0, largest);
            most.log2().floor()
        };
        if exponent.abs() <= LEVEL {
            return 0;
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most 1074")]
        let exponent = exponent as i32;
        exponent
    }

    /// Returns the only problem divided by 2^`level`. Its eigenvectors are the same.
    pub(in crate::ops) fn divided(&self, level: i32) -> Operator<'_, T> {
        let scaled = |numbers: &[T]| numbers.iter().map(|x| T::from_f64(times_power(x.to_f64(), -level))).collect();
        let Bounds { lower, upper, norm } = self.bounds[0];
        let [lower, upper, norm] = [lower, upper, norm].map(|x| times_power(x, -level));
        let mut made = Operator {
            node_offsets: self.node_offsets.clone(),
            row_offsets: Cow::Borrowed(&self.row_offsets),
            columns: Cow::Borrowed(&self.columns),
            weights: self.weights.as_ref().map(|weights| scaled(weights)),
            coupling: if self.weights.is_some() { self.coupling } else { times_power(self.coupling, -level) },
            diagonal: scaled(&self.diagonal),
            scale: self.scale.as_ref().map(|scale| Cow::Borrowed(&scale[..])),
            bounds: vec![Bounds { lower, upper, norm }],
            null: self.null.clone(),
        };
        if !norm.is_finite() {
            made.bounds = vec![made.disks()];
        }
        made
    }

    /// Returns Gershgorin's bounds of the only problem.
    fn disks(&self) -> Bounds {
        let mut bounds = Bounds { lower: f64::INFINITY, upper: f64::NEG_INFINITY, norm: 0.0 };
        for row in 0..self.rows() {
            let (mut own, mut others) = (0.0, 0.0);
            for (column, value) in self.row(0, row) {
                if column == row { own += value } else { others += value.abs() }
            }
            bounds.lower = bounds.lower.min(own - others);
            bounds.upper = bounds.upper.max(own + others);
            bounds.norm = bounds.norm.max(own.abs() + others);
        }
        bounds
    }
}

#[cfg(test)]
mod tests {
    use super::Operator;

    fn matrix(x: f64) -> Operator<'static, f64> {
        Operator::from_csr(vec![0, 2, 4], vec![0, 1, 0, 1], vec![x, x, x, -x]).unwrap()
    }

    #[test]
    fn levels() {
        // The logarithm of the largest number is rounded up to 1024.
        for (x, level) in [(1.0, 0), (1e9, 0), (1e-9, 0), (2_f64.powi(40), 41), (5e-324, -1073), (f64::MAX, 1024)] {
            let a = matrix(x);
            assert_eq!(a.level(), level, "{x:e}");
            let bounds = a.divided(level).bounds(0);
            let expected = if level == 0 { 2.0 * x } else { 4.0 };
            assert!(bounds.norm > 0.0 && bounds.norm <= expected, "{x:e}: {bounds:?}");
            assert_eq!((bounds.lower, bounds.upper), (-bounds.norm, bounds.norm));
        }
        assert_eq!(matrix(0.0).level(), 0);
    }
}
