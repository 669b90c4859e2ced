//! Transforms in f64 of columns whose number of elements is a large prime: convolutions with a chirp (Bluestein, A
//! linear filtering approach to the computation of discrete Fourier transform, 1970).

use super::line::LinePlan;
use super::passes::root;
use num_complex::Complex;
use std::sync::Arc;

/// With j k = (j^2 + k^2 - (k - j)^2) / 2 and the chirp c_j = exp(-pi i j^2 / p), the result k is c_k times the sum
/// over j of x_j c_j conj(c_(k - j)).
pub(super) struct Chirp {
    /// exp(-pi i j^2 / p), or its conjugate for inverse transforms.
    chirp: Vec<Complex<f64>>,
    /// The transform of the chirp's conjugate, divided by its length.
    table: Vec<Complex<f64>>,
    /// The transform of the convolution.
    plan: Arc<dyn LinePlan<f64>>,
}

impl Chirp {
    pub(super) fn new(factor: usize, inverse: bool, plan: impl Fn(usize) -> Arc<dyn LinePlan<f64>>) -> Self {
        let turned = |z: Complex<f64>| if inverse { z.conj() } else { z };
        let chirp: Vec<_> = (0..factor).map(|j| turned(root(j * j, 2 * factor))).collect();
        let plan = plan(length(factor));
        let m = plan.len();
        let mut wave = vec![Complex::default(); m];
        for (j, z) in chirp.iter().enumerate() {
            wave[j] = z.conj() / m as f64;
            wave[(m - j) % m] = wave[j];
        }
        let mut table = vec![Complex::default(); m];
        plan.run(&wave, &mut table, &mut vec![Complex::default(); plan.scratch_len()]);
        Self { chirp, table, plan }
    }

    pub(super) fn scratch_len(&self) -> usize {
        2 * self.table.len() + self.plan.scratch_len()
    }

    /// Transforms the columns of a matrix with `factor` rows.
    pub(super) fn run(&self, from: &[Complex<f64>], to: &mut [Complex<f64>], scratch: &mut [Complex<f64>]) {
        let (p, m) = (self.chirp.len(), self.table.len());
        let rest = to.len() / p;
        let (line, scratch) = scratch.split_at_mut(m);
        let (made, scratch) = scratch.split_at_mut(m);
        for q in 0..rest {
            let column = from[q..].iter().step_by(rest);
            line.iter_mut().zip(column.zip(&self.chirp)).for_each(|(z, (x, chirp))| *z = x * chirp);
            line[p..].fill(Complex::default());
            self.plan.run(line, made, scratch);
            // The conjugate of the transform of conjugates is the inverse transform.
            made.iter_mut().zip(&self.table).for_each(|(z, table)| *z = (*z * table).conj());
            self.plan.run(made, line, scratch);
            let results = to[q..].iter_mut().step_by(rest);
            results.zip(line.iter().zip(&self.chirp)).for_each(|(to, (z, chirp))| *to = z.conj() * chirp);
        }
    }
}

/// Returns the length of the convolution: a power of 2, or such a number times 3 or 9. With more factors of 3, its
/// errors are up to 1.6 times as large (2026-11-30).
fn length(factor: usize) -> usize {
    let least = 2 * factor - 1;
    let [one, three, nine] = [1, 3, 9].map(|odd: usize| odd * least.div_ceil(odd).next_power_of_two());
    one.min(three).min(nine)
}
