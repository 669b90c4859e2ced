//! Power spectra of real lines that are in SIMD lanes already, one line in each lane.

use super::passes::{Pair, Passes, largest_factor, root};
use super::reals::unfold;
use crate::lanes::Vector;
use num_complex::Complex;

/// The longest line. The working memory of longer ones exceeds the second-level cache.
const LONGEST: usize = 4096;

/// A plan for the squared magnitudes of transforms of reals.
pub(in crate::ops) struct PowerInLanes {
    n: usize,
    passes: Passes<f64>,
    /// The roots of unity that unfold the transform of pairs of adjacent reals; none if the length is odd.
    roots: Vec<Complex<f64>>,
}

/// The working memory of a thread.
pub(in crate::ops) struct Memory<V> {
    x: Vec<Pair<V>>,
    y: Vec<Pair<V>>,
}

impl<V> Default for Memory<V> {
    fn default() -> Self {
        Self { x: Vec::new(), y: Vec::new() }
    }
}

impl PowerInLanes {
    /// Plans transforms of lines of length `n`; `None` if the length has large prime factors or is too long.
    pub(in crate::ops) fn new(n: usize) -> Option<Self> {
        let even = n.is_multiple_of(2);
        let points = if even { n / 2 } else { n };
        if n == 0 || n > LONGEST || largest_factor(points) > 7 {
            return None;
        }
        let roots = if even { (0..=n / 4).map(|k| root(k, n)).collect() } else { Vec::new() };
        Some(Self { n, passes: Passes::new(points)?, roots })
    }

    /// Returns the squared magnitudes at the frequencies 0 to n/2 of the lines `x - first`.
    #[inline(always)]
    pub(in crate::ops) fn run<V: Vector<Scalar = f64>>(
        &self,
        token: V::Token,
        memory: &mut Memory<V>,
        x: &[V],
        power: &mut [V],
    ) {
        let (zero, first) = (V::splat(token, 0.0), x[0]);
        let Memory { x: pairs, y } = memory;
        pairs.clear();
        if self.roots.is_empty() {
            for &x in x {
                pairs.push([x - first, zero]);
            }
        } else {
            for pair in x.as_chunks::<2>().0 {
                pairs.push([pair[0] - first, pair[1] - first]);
            }
        }
        y.resize(pairs.len(), [zero; 2]);
        self.passes.run(token, 1, pairs, y);
        if !self.roots.is_empty() {
            pairs.push([zero; 2]);
            unfold(token, &mut pairs[..=self.n / 2], &self.roots);
            y.push([zero; 2]);
        }
        for (power, &[re, im]) in power.iter_mut().zip(pairs.iter()) {
            *power = re.mul_add(re, im * im);
        }
    }
}
