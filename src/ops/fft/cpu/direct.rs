//! Transforms in f64 of lines whose length has a prime factor from 29 to 127: sums of as many elements, as the
//! definition has them, and shorter transforms of the sums.
//!
//! zaft sums them, too, or convolves, with the sines of rounded angles of up to a whole turn. For such lengths, its
//! error is 1.7 to 2.5 times that of pocketfft, and 1.1 times for others (2026-11-30).

use super::line::LinePlan;
use super::passes::{largest_factor, root};
use crate::lanes::{SimdScalar, Task, Vector};
use num_complex::Complex;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The factors that are summed directly. For larger ones, convolutions take less time.
const FACTORS: RangeInclusive<usize> = 29..=127;
/// The number of results that are summed together, in registers.
const BLOCK: usize = 8;

/// A transform of `factor * rest` elements, the factor being odd.
///
/// With the elements t rest + q and the results u + factor v, it sums over t for every q and u, multiplies by twiddle
/// factors, and transforms over q.
pub(super) struct Direct {
    factor: usize,
    /// The cosines and the sines of 2 pi u t / factor: for each block of u from 1 to factor / 2, for each t from 1 to
    /// factor / 2. The last block has zeros for the values of u beyond.
    waves: Vec<[[f64; BLOCK]; 2]>,
    /// exp(-2 pi i u q / n) for each q > 0 and u > 0.
    twiddles: Vec<Complex<f64>>,
    /// The transform over q, of more than one element.
    rest: Option<Arc<dyn LinePlan<f64>>>,
}

impl Direct {
    /// Plans a transform of `n` elements, if that is better than what zaft does. `plan` plans the transforms of the
    /// results.
    pub(super) fn new(n: usize, inverse: bool, plan: impl Fn(usize) -> Arc<dyn LinePlan<f64>>) -> Option<Self> {
        let factor = largest_of(n)?;
        let (half, rest) = (factor / 2, n / factor);
        let wave = |t: usize, first: usize| {
            let at = |u: usize| if u <= half { root::<f64>(u * t, factor) } else { Complex::default() };
            let roots: [Complex<f64>; BLOCK] = std::array::from_fn(|i| at(first + i));
            // The root has the sine of the negative angle.
            [roots.map(|z| z.re), roots.map(|z| if inverse { z.im } else { -z.im })]
        };
        let waves = (1..=half).step_by(BLOCK).flat_map(|first| (1..=half).map(move |t| wave(t, first))).collect();
        let turned = |z: Complex<f64>| if inverse { z.conj() } else { z };
        let twiddles = (1..rest).flat_map(|q| (1..factor).map(move |u| turned(root(u * q, n)))).collect();
        Some(Self { factor, waves, twiddles, rest: (rest > 1).then(|| plan(rest)) })
    }

    fn rest(&self) -> usize {
        self.rest.as_ref().map_or(1, |plan| plan.len())
    }
}

/// Returns whether lines of `n` elements are summed.
pub(super) fn takes(n: usize) -> bool {
    largest_of(n).is_some()
}

/// Returns the largest prime factor of `n` that is summed directly.
fn largest_of(n: usize) -> Option<usize> {
    FACTORS.rev().step_by(2).find(|&factor| n.is_multiple_of(factor) && largest_factor(factor) == factor)
}

impl LinePlan<f64> for Direct {
    fn len(&self) -> usize {
        self.factor * self.rest()
    }

    fn scratch_len(&self) -> usize {
        // The folded elements, two lines, and what the shorter transforms need.
        self.factor + self.rest.as_ref().map_or(0, |plan| 2 * self.len() + plan.scratch_len())
    }

    fn run(&self, from: &[Complex<f64>], to: &mut [Complex<f64>], scratch: &mut [Complex<f64>]) {
        let n = self.len();
        let (folded, scratch) = scratch.split_at_mut(self.factor);
        for (from, to) in from.chunks_exact(n).zip(to.chunks_exact_mut(n)) {
            let Some(rest) = &self.rest else {
                f64::in_lanes(Sums { direct: self, from, to, folded });
                continue;
            };
            let (summed, scratch) = scratch.split_at_mut(n);
            let (made, scratch) = scratch.split_at_mut(n);
            f64::in_lanes(Sums { direct: self, from, to: summed, folded });
            rest.run(summed, made, scratch);
            for (v, to) in to.chunks_exact_mut(self.factor).enumerate() {
                to.iter_mut().zip(made[v..].iter().step_by(rest.len())).for_each(|(to, z)| *to = *z);
            }
        }
    }
}

/// Sums over the factor: row u of `to` has the results for every q, times their twiddle factors.
struct Sums<'a> {
    direct: &'a Direct,
    from: &'a [Complex<f64>],
    to: &'a mut [Complex<f64>],
    folded: &'a mut [Complex<f64>],
}

impl Task<f64> for Sums<'_> {
    type Output = ();

    /// The computation uses arrays; the vector type only selects the instruction set.
    #[inline(always)]
    fn run<V: Vector<Scalar = f64>>(self, _: V::Token) {
        let Self { direct: &Direct { factor, ref waves, ref twiddles, .. }, from, to, folded } = self;
        let (half, rest) = (factor / 2, to.len() / factor);
        let (sums, apart) = folded.split_at_mut(half);
        for q in 0..rest {
            let first = from[q];
            let mut sum = first;
            for t in 1..=half {
                let (x, y) = (from[t * rest + q], from[(factor - t) * rest + q]);
                // i times the difference.
                (sums[t - 1], apart[t - 1]) = (x + y, Complex::new(y.im - x.im, x.re - y.re));
                sum += sums[t - 1];
            }
            to[q] = sum;
            for (block, waves) in waves.chunks_exact(half).enumerate() {
                let [mut re, mut im] = [[first.re; BLOCK], [first.im; BLOCK]];
                let mut turned = [[0.0; BLOCK]; 2];
                for ((sum, apart), [cos, sin]) in sums.iter().zip(&*apart).zip(waves) {
                    for i in 0..BLOCK {
                        re[i] += cos[i] * sum.re;
                        im[i] += cos[i] * sum.im;
                        turned[0][i] += sin[i] * apart.re;
                        turned[1][i] += sin[i] * apart.im;
                    }
                }
                let begin = block * BLOCK + 1;
                for i in 0..BLOCK.min(half + 1 - begin) {
                    let (even, odd) = (Complex::new(re[i], im[i]), Complex::new(turned[0][i], turned[1][i]));
                    // The angle is negative: exp(-i a) x + exp(i a) y has -i sin(a) (x - y).
                    (to[(begin + i) * rest + q], to[(factor - begin - i) * rest + q]) = (even - odd, even + odd);
                }
            }
            if q > 0 {
                let twiddles = &twiddles[(q - 1) * (factor - 1)..][..factor - 1];
                for (u, twiddle) in twiddles.iter().enumerate() {
                    to[(u + 1) * rest + q] *= twiddle;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{line::Planned, zeroed};
    use super::*;

    #[test]
    fn transforms_are_those_of_the_definition() {
        for n in [29, 31, 58, 61, 87, 113, 127, 29 * 31, 59 * 64, 101 * 7, 127 * 127, 127 * 131] {
            let line: Vec<Complex<f64>> =
                (0..n).map(|i| Complex::new((i * 7919 % 101) as f64 - 50.0, (i * 31 % 97) as f64 - 48.0)).collect();
            let plan = Direct::new(n, false, |n| f64::plan(n, false)).expect("it has a factor");
            let mut found = vec![Complex::default(); n];
            plan.run(&line, &mut found, &mut zeroed(plan.scratch_len()));
            let size = line.iter().map(Complex::norm_sqr).sum::<f64>().sqrt();
            for (k, z) in found.iter().enumerate().step_by(1 + n / 300) {
                let truth: Complex<f64> = line.iter().enumerate().map(|(j, x)| root::<f64>(j * k, n) * x).sum();
                assert!((z - truth).norm() <= 20.0 * f64::EPSILON * size * (n as f64).sqrt(), "{n}, {k}: {z}, {truth}");
            }
            let plan = Direct::new(n, true, |n| f64::plan(n, true)).expect("it has a factor");
            let mut back = vec![Complex::default(); n];
            plan.run(&found, &mut back, &mut zeroed(plan.scratch_len()));
            let off = back.iter().zip(&line).map(|(z, x)| (z / n as f64 - x).norm()).fold(0.0, f64::max);
            assert!(off <= 40.0 * f64::EPSILON * size / (n as f64).sqrt() * (n as f64).ln(), "{n}: {off:e}");
        }
        for n in [1, 2, 23, 27, 128, 131, 23 * 19, 4096] {
            assert!(largest_of(n).is_none(), "{n}");
        }
        assert_eq!([29 * 31, 58, 127 * 131].map(largest_of), [Some(31), Some(29), Some(127)]);
    }
}
