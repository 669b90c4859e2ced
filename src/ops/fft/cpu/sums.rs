//! Transforms in f64 of columns whose number of elements is an odd prime: sums of as many elements, as the definition
//! has them.

use super::passes::root;
use crate::lanes::{SimdScalar, Task, Vector, element, width};
use num_complex::Complex;

/// The number of vectors of results that are summed together. Each has four sums, whose additions do not wait for each
/// other.
const VECTORS: usize = 2;

/// The cosines and the sines of 2 pi u t / factor: for each block of u from 1 to factor / 2, for each t from 1 to
/// factor / 2. The last block has zeros for the values of u beyond.
pub(super) struct Waves(Vec<f64>);

impl Waves {
    pub(super) fn new(factor: usize, inverse: bool) -> Self {
        let (half, block) = (factor / 2, VECTORS * width::<f64>());
        let roots: Vec<Complex<f64>> = (0..factor).map(|k| root(k, factor)).collect();
        let mut waves = Vec::with_capacity(half.div_ceil(block) * half * 2 * block);
        for first in (1..=half).step_by(block) {
            for t in 1..=half {
                let at = |u: usize| if u <= half { roots[u * t % factor] } else { Complex::default() };
                waves.extend((first..first + block).map(|u| at(u).re));
                // The root has the sine of the negative angle.
                waves.extend((first..first + block).map(|u| if inverse { at(u).im } else { -at(u).im }));
            }
        }
        Self(waves)
    }

    /// Transforms the columns of a matrix with `factor` rows. `folded` has as many elements as a column.
    pub(super) fn run(&self, from: &[Complex<f64>], to: &mut [Complex<f64>], folded: &mut [Complex<f64>]) {
        f64::in_lanes(Sums { waves: &self.0, from, to, folded });
    }
}

struct Sums<'a> {
    waves: &'a [f64],
    from: &'a [Complex<f64>],
    to: &'a mut [Complex<f64>],
    folded: &'a mut [Complex<f64>],
}

impl Task<f64> for Sums<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Scalar = f64>>(self, token: V::Token) {
        let Self { waves, from, to, folded } = self;
        let factor = folded.len();
        let (half, rest) = (factor / 2, to.len() / factor);
        let (sums, apart) = folded.split_at_mut(half);
        let (zero, block) = (V::splat(token, 0.0), VECTORS * V::LANES);
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
            for (part, waves) in waves.chunks_exact(half * 2 * block).enumerate() {
                let mut re = [V::splat(token, first.re); VECTORS];
                let mut im = [V::splat(token, first.im); VECTORS];
                let [mut odd_re, mut odd_im] = [[zero; VECTORS]; 2];
                for ((sum, apart), waves) in sums.iter().zip(&*apart).zip(waves.chunks_exact(2 * block)) {
                    let (sum_re, sum_im) = (V::splat(token, sum.re), V::splat(token, sum.im));
                    let (apart_re, apart_im) = (V::splat(token, apart.re), V::splat(token, apart.im));
                    for i in 0..VECTORS {
                        let cos = V::load(token, &waves[i * V::LANES..]);
                        let sin = V::load(token, &waves[block + i * V::LANES..]);
                        re[i] = cos.mul_add(sum_re, re[i]);
                        im[i] = cos.mul_add(sum_im, im[i]);
                        odd_re[i] = sin.mul_add(apart_re, odd_re[i]);
                        odd_im[i] = sin.mul_add(apart_im, odd_im[i]);
                    }
                }
                let begin = part * block + 1;
                for i in 0..block.min(half + 1 - begin) {
                    let even = Complex::new(element(&re, i), element(&im, i));
                    let odd = Complex::new(element(&odd_re, i), element(&odd_im, i));
                    // The angle is negative: exp(-i a) x + exp(i a) y has -i sin(a) (x - y).
                    (to[(begin + i) * rest + q], to[(factor - begin - i) * rest + q]) = (even - odd, even + odd);
                }
            }
        }
    }
}
