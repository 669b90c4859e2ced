//! Transforms in f64 of columns whose number of elements is an odd prime: sums of as many elements, as the definition
//! has them.

use super::passes::root;
use crate::lanes::{SimdScalar, Task, Vector};
use num_complex::Complex;

/// The number of results that are summed together, in registers.
const BLOCK: usize = 8;

/// The cosines and the sines of 2 pi u t / factor: for each block of u from 1 to factor / 2, for each t from 1 to
/// factor / 2. The last block has zeros for the values of u beyond.
pub(super) struct Waves(Vec<[[f64; BLOCK]; 2]>);

impl Waves {
    pub(super) fn new(factor: usize, inverse: bool) -> Self {
        let half = factor / 2;
        let wave = |t: usize, first: usize| {
            let at = |u: usize| if u <= half { root::<f64>(u * t, factor) } else { Complex::default() };
            let roots: [Complex<f64>; BLOCK] = std::array::from_fn(|i| at(first + i));
            // The root has the sine of the negative angle.
            [roots.map(|z| z.re), roots.map(|z| if inverse { z.im } else { -z.im })]
        };
        Self((1..=half).step_by(BLOCK).flat_map(|first| (1..=half).map(move |t| wave(t, first))).collect())
    }

    /// Transforms the columns of a matrix with `factor` rows. `folded` has as many elements as a column.
    pub(super) fn run(&self, from: &[Complex<f64>], to: &mut [Complex<f64>], folded: &mut [Complex<f64>]) {
        f64::in_lanes(Sums { waves: &self.0, from, to, folded });
    }
}

struct Sums<'a> {
    waves: &'a [[[f64; BLOCK]; 2]],
    from: &'a [Complex<f64>],
    to: &'a mut [Complex<f64>],
    folded: &'a mut [Complex<f64>],
}

impl Task<f64> for Sums<'_> {
    type Output = ();

    /// The computation uses arrays; the vector type only selects the instruction set.
    #[inline(always)]
    fn run<V: Vector<Scalar = f64>>(self, _: V::Token) {
        let Self { waves, from, to, folded } = self;
        let factor = folded.len();
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
        }
    }
}
