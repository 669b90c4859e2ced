//! The random numbers of a run. Each number is a function of the run's seed, the purpose, the layer, the step and the
//! number of the element. So a run has the same numbers alone, beside others, and after it was resumed.

use super::order::{Order, ROUNDS};
use crate::array::Real;
use crate::lanes::Vector;
use crate::ops::random::{BLOCK_WORDS, Stream, abreast, philox};

/// What random numbers are for. No two purposes share numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Weights = 1,
    Order = 2,
    Dropout = 3,
    Noise = 4,
    Split = 5,
    /// The inputs of generators.
    Latent = 6,
    /// The order of the groups of samples in an epoch.
    GroupOrder = 7,
}

/// The name of the streams of runs.
pub(super) const RUNS: &str = "runs of networks";
/// The name of the streams of splits, which runs may share.
pub(super) const SPLITS: &str = "splits of samples";

/// The words of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Words {
    key: [u32; 2],
}

impl Words {
    /// Returns the words of a seed for one of the uses [`RUNS`] and [`SPLITS`].
    pub(super) fn new(seed: u64, of: &str) -> Self {
        Self { key: Stream::new(seed, of).key() }
    }

    /// Returns the key of the generator.
    pub(super) fn key(self) -> [u32; 2] {
        self.key
    }

    /// Returns the [`BLOCK_WORDS`] words of block `block`.
    #[inline(always)]
    fn block(self, purpose: Purpose, layer: usize, step: u64, block: u32) -> [u32; BLOCK_WORDS] {
        let [low, high] = halves(step);
        let first = (u64::from(low) << 32) | (u64::from(block) * (BLOCK_WORDS as u64 / 4));
        abreast(first, [high, kind(purpose, layer)], self.key)
    }

    /// Returns the permutation of 0..n for an epoch, or for another use with a number of its own.
    pub(super) fn order(self, purpose: Purpose, epoch: u64, n: u32) -> Order {
        let [low, high] = halves(epoch);
        let mut keys = [0; ROUNDS];
        for (part, keys) in (0_u32..).zip(keys.chunks_exact_mut(4)) {
            keys.copy_from_slice(&philox([part, low, high, kind(purpose, 0)], self.key));
        }
        Order::new(n, keys)
    }

    /// Returns uniforms on `[0, 1)` with 24 bits, for initial weights.
    pub(super) fn uniforms(self, purpose: Purpose, layer: usize, len: usize) -> impl Iterator<Item = f64> {
        let blocks = (0_u32..).flat_map(move |block| self.block(purpose, layer, 0, block));
        blocks.take(len).map(|word| f64::from(word >> 8) / f64::from(1_u32 << 24))
    }

    /// Returns standard normals, for initial weights.
    pub(super) fn normals(self, purpose: Purpose, layer: usize, len: usize) -> Vec<f64> {
        let blocks = (0_u32..).flat_map(|block| pairs(&self.block(purpose, layer, 0, block)));
        blocks.take(len).map(f64::from).collect()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "halves of 64 bits")]
fn halves(x: u64) -> [u32; 2] {
    [x as u32, (x >> 32) as u32]
}

#[expect(clippy::cast_possible_truncation, reason = "at most 16 layers")]
fn kind(purpose: Purpose, layer: usize) -> u32 {
    (purpose as u32) << 8 | layer as u32
}

/// The number of standard normals, or of pairs of dropout decisions, that are made at a time.
pub(super) const ABREAST: usize = BLOCK_WORDS;

/// Writes standard normals for the elements from number [`ABREAST`] `* block` on. The length of `out` is a multiple of
/// [`ABREAST`]. The numbers have the 24 bits of an f32 in both precisions, so that runs in f32 and f64 have the same
/// noise. They are made by Box and Muller's method, with polynomials of our own, so their bits depend on no library.
/// The largest is 5.89.
#[inline(always)]
pub(super) fn normals<V: Vector<Scalar: Real>>(
    token: V::Token,
    (words, purpose): (Words, Purpose),
    step: u64,
    mut block: u32,
    out: &mut [V::Scalar],
) {
    V::with_instructions(
        token,
        #[inline(always)]
        || {
            for out in out.chunks_exact_mut(ABREAST) {
                let made = pairs(&words.block(purpose, 0, step, block));
                for (out, made) in out.iter_mut().zip(made) {
                    *out = V::Scalar::from_f64(made.into());
                }
                block += 1;
            }
        },
    );
}

/// Returns as many standard normals as words. The radii come from the first half of the words, the angles from the
/// second half.
#[inline(always)]
fn pairs(words: &[u32; BLOCK_WORDS]) -> [f32; BLOCK_WORDS] {
    const HALF: usize = BLOCK_WORDS / 2;
    let mut made = [0.0; BLOCK_WORDS];
    for i in 0..HALF {
        let radius = radius(words[i]);
        let (cosine, sine) = direction(words[HALF + i]);
        made[i] = radius * cosine;
        made[HALF + i] = radius * sine;
    }
    made
}

/// Returns sqrt(-2 log u), where u is the middle of one of 2^24 equal parts of (0, 1).
#[inline(always)]
#[expect(clippy::cast_precision_loss, clippy::cast_possible_wrap, reason = "24 bits")]
fn radius(word: u32) -> f32 {
    // 2 k + 1 has 25 bits, so it is rounded where k has 24 bits. That moves u by 2^-25 of itself at most.
    let odd = ((word >> 8) << 1 | 1) as i32 as f32;
    let bits = odd.to_bits();
    // odd = 2^e (1 + f), with e and f such that 1 + f lies in [sqrt(1/2), sqrt(2)).
    let shifted = bits.wrapping_add(0x3f80_0000 - 0x3f35_04f3);
    let e = (shifted >> 23) as i32 - 127 - 25;
    let f = f32::from_bits((shifted & 0x007f_ffff) + 0x3f35_04f3) - 1.0;
    // log(1 + f) = 2 atanh(s) with s = f / (2 + f), so |s| < 0.1716. The next term is below 2^-27 of the sum.
    let s = f / (2.0 + f);
    let q = s * s;
    let tail = q.mul_add(q.mul_add(q.mul_add(2.0 / 9.0, 2.0 / 7.0), 2.0 / 5.0), 2.0 / 3.0);
    let log = s.mul_add(2.0, s * q * tail);
    let log = (e as f32).mul_add(std::f32::consts::LN_2, log);
    (-2.0 * log).max(0.0).sqrt()
}

/// Returns cosine and sine of 2 pi w / 2^32.
#[inline(always)]
#[expect(clippy::cast_precision_loss, clippy::cast_possible_wrap, reason = "24 bits")]
fn direction(word: u32) -> (f32, f32) {
    // The upper two bits are the quadrant, the next 24 bits the angle x from its middle, in [-pi/4, pi/4).
    let x = (((word >> 6) & 0x00ff_ffff) as i32 - 0x0080_0000) as f32 * (std::f32::consts::FRAC_PI_2 / 16_777_216.0);
    let q = x * x;
    // Taylor's series; the next terms are below 2^-27 of the results.
    let sine = q.mul_add(q.mul_add(q.mul_add(q.mul_add(1.0 / 362_880.0, -1.0 / 5040.0), 1.0 / 120.0), -1.0 / 6.0), 1.0);
    let cosine = q.mul_add(q.mul_add(q.mul_add(q.mul_add(1.0 / 40_320.0, -1.0 / 720.0), 1.0 / 24.0), -0.5), 1.0);
    let sine = sine * x;
    let quadrant = word >> 30;
    let (a, b) = if quadrant & 1 == 0 { (cosine, sine) } else { (sine, cosine) };
    // The cosine is negative in the quadrants 1 and 2, the sine in the quadrants 2 and 3.
    let with_sign = |x: f32, negative: u32| f32::from_bits(x.to_bits() ^ (negative & 2) << 30);
    (with_sign(a, quadrant + 1), with_sign(b, quadrant))
}

/// Writes 0 for dropped elements and `scale` for the others, for the elements from number 0 on. The length of `out` is
/// a multiple of 2 [`ABREAST`]. An element is dropped if its 16 bits are below `below`.
#[inline(always)]
pub(super) fn keep<V: Vector<Scalar: Real>>(
    token: V::Token,
    words: Words,
    layer: usize,
    step: u64,
    below: u32,
    scale: V::Scalar,
    out: &mut [V::Scalar],
) {
    V::with_instructions(
        token,
        #[inline(always)]
        || {
            // Copies: choices between numbers behind references would become branches.
            let (zero, scale, below) = (V::Scalar::from_f64(0.0), scale, below);
            for (block, out) in (0_u32..).zip(out.chunks_exact_mut(2 * ABREAST)) {
                let words = words.block(Purpose::Dropout, layer, step, block);
                let (lower, upper) = out.split_at_mut(ABREAST);
                for i in 0..ABREAST {
                    lower[i] = if words[i] & 0xffff < below { zero } else { scale };
                    upper[i] = if words[i] >> 16 < below { zero } else { scale };
                }
            }
        },
    );
}
