//! Transforms in f64 of lines whose length has a large prime factor: shorter transforms of the results of sums or
//! convolutions.
//!
//! zaft sums and convolves, too, with the sines of rounded angles of up to a whole turn. For such lengths, its error is
//! 1.7 to 2.5 times that of pocketfft, and 1.1 times for others (2026-11-30).

use super::chirp::Chirp;
use super::line::LinePlan;
use super::passes::{largest_factor, root};
use super::sums::Waves;
use num_complex::Complex;
use std::sync::Arc;

/// A transform of `factor * rest` elements, the factor being an odd prime.
///
/// With the elements t rest + q and the results u + factor v, it transforms over t for every q, multiplies by twiddle
/// factors, and transforms over q.
pub(super) struct ByPrime {
    factor: usize,
    columns: Columns,
    /// exp(-2 pi i u q / n) for each u > 0 and q > 0.
    twiddles: Vec<Complex<f64>>,
    /// The transform over q, of more than one element.
    rest: Option<Arc<dyn LinePlan<f64>>>,
}

enum Columns {
    Sums(Waves),
    Chirp(Chirp),
}

impl ByPrime {
    /// Plans a transform of `n` elements, if that is better than what zaft does. `plan` plans the transforms that it is
    /// made of, from their length and whether they are inverse.
    pub(super) fn new(n: usize, inverse: bool, plan: impl Fn(usize, bool) -> Arc<dyn LinePlan<f64>>) -> Option<Self> {
        let (factor, method) = taken(n)?;
        let rest = n / factor;
        let columns = match method {
            Method::Sums => Columns::Sums(Waves::new(factor, inverse)),
            Method::Chirp => Columns::Chirp(Chirp::new(factor, inverse, |n| plan(n, false))),
        };
        let turned = |z: Complex<f64>| if inverse { z.conj() } else { z };
        let twiddles = (1..factor).flat_map(|u| (1..rest).map(move |q| turned(root(u * q, n)))).collect();
        Some(Self { factor, columns, twiddles, rest: (rest > 1).then(|| plan(rest, inverse)) })
    }

    fn rest(&self) -> usize {
        self.rest.as_ref().map_or(1, |plan| plan.len())
    }

    fn columns_scratch_len(&self) -> usize {
        match &self.columns {
            Columns::Sums(_) => self.factor,
            Columns::Chirp(chirp) => chirp.scratch_len(),
        }
    }
}

/// How transforms over a prime factor are computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Method {
    Sums,
    Chirp,
}

/// Returns the largest prime factor of `n` that is better left to one of these methods, and the method.
pub(super) fn taken(n: usize) -> Option<(usize, Method)> {
    let method = |factor: usize| match factor {
        0..29 => None,
        // zaft's error is largest for these. For larger ones, convolutions take less time.
        29..=271 => Some(Method::Sums),
        // zaft convolves over one element less. Where that has no large factor, it is faster, and its error is at most
        // twice pocketfft's.
        _ => (largest_factor(factor - 1) > 13).then_some(Method::Chirp),
    };
    let (mut rest, mut factors) = (n, Vec::new());
    while rest > 1 {
        let factor = largest_factor(rest);
        factors.push(factor);
        while rest.is_multiple_of(factor) {
            rest /= factor;
        }
    }
    factors.into_iter().find_map(|factor| Some((factor, method(factor)?)))
}

impl LinePlan<f64> for ByPrime {
    fn len(&self) -> usize {
        self.factor * self.rest()
    }

    fn scratch_len(&self) -> usize {
        // Beside that of the columns, two lines, and what the shorter transforms need.
        self.columns_scratch_len() + self.rest.as_ref().map_or(0, |plan| 2 * self.len() + plan.scratch_len())
    }

    fn run(&self, from: &[Complex<f64>], to: &mut [Complex<f64>], scratch: &mut [Complex<f64>]) {
        let n = self.len();
        let (own, scratch) = scratch.split_at_mut(self.columns_scratch_len());
        let mut columns = |from: &[Complex<f64>], to: &mut [Complex<f64>]| match &self.columns {
            Columns::Sums(waves) => waves.run(from, to, own),
            Columns::Chirp(chirp) => chirp.run(from, to, own),
        };
        for (from, to) in from.chunks_exact(n).zip(to.chunks_exact_mut(n)) {
            let Some(rest) = &self.rest else {
                columns(from, to);
                continue;
            };
            let (rows, scratch) = scratch.split_at_mut(n);
            let (made, scratch) = scratch.split_at_mut(n);
            columns(from, rows);
            let rows_after_first = rows.chunks_exact_mut(rest.len()).skip(1);
            for (row, twiddles) in rows_after_first.zip(self.twiddles.chunks_exact(rest.len() - 1)) {
                row[1..].iter_mut().zip(twiddles).for_each(|(z, twiddle)| *z *= twiddle);
            }
            rest.run(rows, made, scratch);
            for (v, to) in to.chunks_exact_mut(self.factor).enumerate() {
                to.iter_mut().zip(made[v..].iter().step_by(rest.len())).for_each(|(to, z)| *to = *z);
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
        for n in [29, 31, 58, 61, 113, 271, 29 * 31, 59 * 64, 101 * 7, 127 * 131, 293, 347 * 12, 347 * 31] {
            let line: Vec<Complex<f64>> =
                (0..n).map(|i| Complex::new((i * 7919 % 101) as f64 - 50.0, (i * 31 % 97) as f64 - 48.0)).collect();
            let plan = ByPrime::new(n, false, f64::plan).expect("it has a factor");
            let mut found = vec![Complex::default(); n];
            plan.run(&line, &mut found, &mut zeroed(plan.scratch_len()));
            let size = line.iter().map(Complex::norm_sqr).sum::<f64>().sqrt();
            for (k, z) in found.iter().enumerate().step_by(1 + n / 300) {
                let truth: Complex<f64> = line.iter().enumerate().map(|(j, x)| root::<f64>(j * k, n) * x).sum();
                assert!((z - truth).norm() <= 20.0 * f64::EPSILON * size * (n as f64).sqrt(), "{n}, {k}: {z}, {truth}");
            }
            let plan = ByPrime::new(n, true, f64::plan).expect("it has a factor");
            let mut back = vec![Complex::default(); n];
            plan.run(&found, &mut back, &mut zeroed(plan.scratch_len()));
            let off = back.iter().zip(&line).map(|(z, x)| (z / n as f64 - x).norm()).fold(0.0, f64::max);
            assert!(off <= 40.0 * f64::EPSILON * size / (n as f64).sqrt() * (n as f64).ln(), "{n}: {off:e}");
        }
        for n in [1, 2, 23, 27, 128, 401, 23 * 19, 4096] {
            assert!(taken(n).is_none(), "{n}");
        }
        for (n, factor, method) in [
            (29 * 31, 31, Method::Sums),
            (58, 29, Method::Sums),
            (127 * 131, 131, Method::Sums),
            (401 * 31, 31, Method::Sums),
            (347 * 31, 347, Method::Chirp),
        ] {
            assert_eq!(taken(n), Some((factor, method)), "{n}");
        }
    }
}
