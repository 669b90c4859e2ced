//! Transforms of lines of prime length, one line per SIMD lane: a cyclic convolution (Rader, Discrete Fourier
//! transforms when the number of data samples is prime, Proc. IEEE 56, 1968).

use super::Working;
use super::line::transformed_in_f64;
use super::passes::{Pair, Passes, root, splat, times};
use crate::array::Real;
use crate::lanes::Vector;
use num_complex::Complex;

/// The transform of the elements 1, 2, ... of a line of prime length n is a convolution of length n - 1.
pub(super) struct Rader<F> {
    passes: Passes<F>,
    /// The powers of a primitive root g modulo n: element q is g^q.
    powers: Vec<usize>,
    /// The transform of the roots of unity with the exponents g^-q, divided by n - 1.
    kernel: Vec<Complex<F>>,
}

/// Returns the transform of `kernel`, divided by its length. It is computed in f64.
fn transformed<F: Real>(kernel: &[Complex<f64>]) -> Vec<Complex<F>> {
    let kernel = transformed_in_f64(kernel);
    let scale = 1.0 / kernel.len() as f64;
    kernel.iter().map(|z| Complex::new(F::from_f64(z.re * scale), F::from_f64(z.im * scale))).collect()
}

impl<F: Working> Rader<F> {
    pub(super) fn new(n: usize) -> Self {
        let powers = (2..n).map(|g| powers(g, n)).find(|powers| powers.len() == n - 1);
        let (Some(powers), Some(passes)) = (powers, Passes::new(n - 1)) else {
            unreachable!("{n} is prime and {n} - 1 is smooth, or `takes` would have said no")
        };
        // g^-q is g^(n - 1 - q).
        let kernel: Vec<_> = (0..n - 1).map(|q| root(powers[(n - 1 - q) % (n - 1)], n)).collect();
        Self { passes, kernel: transformed(&kernel), powers }
    }

    #[inline(always)]
    pub(super) fn run<V: Vector<Scalar = F>>(&self, token: V::Token, x: &mut Vec<Pair<V>>, y: &mut Vec<Pair<V>>) {
        let first = x[0];
        for (to, power) in y.iter_mut().zip(&self.powers) {
            *to = x[*power];
        }
        self.passes.run(token, 1, y, x);
        let sum = y[0];
        // The inverse transform is the forward transform with the parts of all numbers exchanged.
        for (y, kernel) in y.iter_mut().zip(&self.kernel) {
            let [re, im] = times(*y, splat(token, *kernel));
            *y = [im, re];
        }
        // A constant at frequency 0 is added to every element of the result.
        y[0] = [y[0][0] + first[1], y[0][1] + first[0]];
        self.passes.run(token, 1, y, x);
        // Element q of the convolution is the result with the index g^-q.
        let count = self.powers.len();
        for q in 0..count {
            let [im, re] = y[q];
            x[self.powers[(count - q) % count]] = [re, im];
        }
        x[0] = [first[0] + sum[0], first[1] + sum[1]];
    }
}

/// Returns the powers of `g` modulo `n`, from g^0 to the last before 1 or 0 comes again.
fn powers(g: usize, n: usize) -> Vec<usize> {
    let mut powers = vec![1];
    loop {
        let next = powers[powers.len() - 1] * g % n;
        if next <= 1 || powers.len() == n {
            return powers;
        }
        powers.push(next);
    }
}
