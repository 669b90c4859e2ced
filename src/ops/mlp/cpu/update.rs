//! The last part of a step: penalties, clipping, and the optimizer's update of every parameter.

use super::super::layout::{Block, Layout, STRIP};
use super::super::noise::{ABREAST, Purpose, Words, normals};
use super::super::optimizer::Update;
use super::product::total;
use crate::array::Real;
use crate::lanes::Vector;
use crate::ops::elementary::Elementary;
use crate::parallel;
use std::ops::Range;

/// The number of standard normals that are made at a time: they stay in the first-level cache.
const CHUNK: usize = 2048;
/// The number of parameters, with padding, that a thread updates at a time: 4 to 10 us of work.
const PART: usize = 1 << 13;

/// Returns the largest number of threads among which an update of `parameters` parameters is divided.
pub(in crate::ops::mlp) fn update_threads(parameters: usize) -> usize {
    (parameters / PART).max(1)
}

/// Returns the places of the elements of a block that vectors of `lanes` elements touch, as runs of adjacent elements.
#[inline(always)]
fn runs(block: Block, lanes: usize) -> impl Iterator<Item = Range<usize>> {
    let touched = block.cols.next_multiple_of(lanes);
    let (count, step, len) =
        if touched == block.stride { (1, 0, block.rows * block.stride) } else { (block.rows, block.stride, touched) };
    (0..count).map(move |run| block.at + run * step..block.at + run * step + len)
}

/// Returns the 2-norm of the gradient, with the derivative of `l1 sum |w|` added.
pub(super) fn length<V: Vector<Scalar: Elementary>>(
    token: V::Token,
    layout: &Layout,
    l1: V::Scalar,
    weights: &[V::Scalar],
    gradient: &[V::Scalar],
) -> V::Scalar {
    V::with_instructions(
        token,
        #[inline(always)]
        || {
            let penalty = Penalty::<V>::new(token, l1);
            let mut sums = [V::splat(token, V::Scalar::from_f64(0.0)); STRIP];
            for &block in &layout.blocks {
                let (weights, gradient) = (&weights[block.range()], &gradient[block.range()]);
                for (w, g) in weights.as_chunks::<STRIP>().0.iter().zip(gradient.as_chunks::<STRIP>().0) {
                    for (i, sum) in sums[..STRIP / V::LANES].iter_mut().enumerate() {
                        let at = i * V::LANES;
                        let g = penalty.added(V::load(token, &w[at..]), V::load(token, &g[at..]));
                        *sum = g.mul_add(g, *sum);
                    }
                }
            }
            total(&sums).sqrt()
        },
    )
}

/// The factor of the L1 term.
struct Penalty<V> {
    zero: V,
    l1: V,
}

impl<V: Vector<Scalar: Elementary>> Penalty<V> {
    #[inline(always)]
    fn new(token: V::Token, l1: V::Scalar) -> Self {
        Self { zero: V::splat(token, V::Scalar::from_f64(0.0)), l1: V::splat(token, l1) }
    }

    /// Returns the gradient with the derivative of the L1 term, which is 0 at 0.
    #[inline(always)]
    fn added(&self, w: V, g: V) -> V {
        let sign = V::select(self.zero.lt(w), self.l1, V::select(w.lt(self.zero), -self.l1, self.zero));
        g + sign
    }
}

/// The parameters and the two vectors of moments of a run. Moments that the optimizer does not need are empty.
pub(super) struct Moving<'a, T> {
    pub(super) weights: &'a mut [T],
    pub(super) first: &'a mut [T],
    pub(super) second: &'a mut [T],
}

/// Changes all parameters by one step of the optimizer. The derivative of the L1 term is added to the gradient first,
/// and the sum is multiplied by `scale`.
#[expect(clippy::too_many_lines, reason = "one arm for each optimizer")]
pub(super) fn update<V: Vector<Scalar: Elementary>>(
    token: V::Token,
    layout: &Layout,
    update: Update<V::Scalar>,
    [scale, l1]: [V::Scalar; 2],
    gradient: &[V::Scalar],
    moving: Moving<'_, V::Scalar>,
    noise: &mut Normals<V::Scalar>,
) {
    let Moving { weights, first, second } = moving;
    V::with_instructions(
        token,
        #[inline(always)]
        || {
            let splat = |x| V::splat(token, x);
            let (scale, penalty) = (splat(scale), Penalty::<V>::new(token, l1));
            match update {
                Update::Sgd { rate, decay } => {
                    let (rate, decay) = (splat(rate), splat(decay));
                    for run in layout.blocks.iter().flat_map(|&block| runs(block, V::LANES)) {
                        let lines = lines::<V>(&mut weights[run.clone()]).zip(of::<V>(&gradient[run]));
                        for (w, g) in lines {
                            let old = V::load(token, w);
                            let g = decay.mul_add(old, penalty.added(old, V::load(token, g)) * scale);
                            rate.neg_mul_add(g, old).store(w);
                        }
                    }
                }
                Update::Momentum { rate, decay, momentum, gain, nesterov } => {
                    let (rate, decay, momentum, gain) = (splat(rate), splat(decay), splat(momentum), splat(gain));
                    for run in layout.blocks.iter().flat_map(|&block| runs(block, V::LANES)) {
                        let lines = lines::<V>(&mut weights[run.clone()]).zip(of::<V>(&gradient[run.clone()]));
                        for ((w, g), m) in lines.zip(self::lines::<V>(&mut first[run])) {
                            let old = V::load(token, w);
                            let g = decay.mul_add(old, penalty.added(old, V::load(token, g)) * scale);
                            let mean = momentum.mul_add(V::load(token, m), gain * g);
                            mean.store(m);
                            let direction = if nesterov { momentum.mul_add(mean, g) } else { mean };
                            rate.neg_mul_add(direction, old).store(w);
                        }
                    }
                }
                Update::Adam { rate, mean, beta_2, square, correction, epsilon, decay, shrink } => {
                    let (rate, mean, beta_2, square) = (splat(rate), splat(mean), splat(beta_2), splat(square));
                    let (correction, epsilon) = (splat(correction), splat(epsilon));
                    let (decay, shrink) = (splat(decay), splat(shrink));
                    for run in layout.blocks.iter().flat_map(|&block| runs(block, V::LANES)) {
                        let lines = lines::<V>(&mut weights[run.clone()]).zip(of::<V>(&gradient[run.clone()]));
                        let moments = self::lines::<V>(&mut first[run.clone()]).zip(self::lines::<V>(&mut second[run]));
                        for ((w, g), (m, v)) in lines.zip(moments) {
                            let old = V::load(token, w);
                            let g = decay.mul_add(old, penalty.added(old, V::load(token, g)) * scale);
                            let m_old = V::load(token, m);
                            let m_new = mean.mul_add(g - m_old, m_old);
                            m_new.store(m);
                            let v_new = (square * g).mul_add(g, beta_2 * V::load(token, v));
                            v_new.store(v);
                            let under = correction.mul_add(v_new.sqrt(), epsilon);
                            rate.neg_mul_add(m_new / under, old * shrink).store(w);
                        }
                    }
                }
                Update::Sgld { rate, shrink, noise: deviation } => {
                    let (rate, shrink, deviation) = (splat(rate) * scale, splat(shrink), splat(deviation));
                    noise.rows::<V>(
                        token,
                        layout,
                        #[inline(always)]
                        |run, xi| {
                            let lines = lines::<V>(&mut weights[run.clone()]).zip(of::<V>(&gradient[run]));
                            for ((w, g), xi) in lines.zip(of::<V>(xi)) {
                                let old = V::load(token, w);
                                let g = penalty.added(old, V::load(token, g));
                                let moved = rate.neg_mul_add(g, old * shrink);
                                deviation.mul_add(V::load(token, xi), moved).store(w);
                            }
                        },
                    );
                }
                Update::Psgld { rate, pull, noise: deviation, beta_2, square, epsilon, adapts } => {
                    let (rate, pull, deviation) = (splat(rate), splat(pull), splat(deviation));
                    let (beta_2, square, epsilon) = (splat(beta_2), splat(square), splat(epsilon));
                    let one = splat(V::Scalar::from_f64(1.0));
                    noise.rows::<V>(
                        token,
                        layout,
                        #[inline(always)]
                        |run, xi| {
                            let lines = lines::<V>(&mut weights[run.clone()]).zip(of::<V>(&gradient[run.clone()]));
                            for (((w, g), v), xi) in lines.zip(self::lines::<V>(&mut first[run])).zip(of::<V>(xi)) {
                                let old = V::load(token, w);
                                let g = penalty.added(old, V::load(token, g)) * scale;
                                let mut mean = V::load(token, v);
                                if adapts {
                                    mean = (square * g).mul_add(g, beta_2 * mean);
                                    mean.store(v);
                                }
                                let factor = one / (epsilon + mean.sqrt());
                                let drift = rate.mul_add(g, pull * old);
                                let moved = factor.neg_mul_add(drift, old);
                                (deviation * factor.sqrt()).mul_add(V::load(token, xi), moved).store(w);
                            }
                        },
                    );
                }
                Update::Prior { deviation } => {
                    let deviation = splat(deviation);
                    noise.rows::<V>(
                        token,
                        layout,
                        #[inline(always)]
                        |run, xi| {
                            for (w, xi) in lines::<V>(&mut weights[run]).zip(of::<V>(xi)) {
                                (deviation * V::load(token, xi)).store(w);
                            }
                        },
                    );
                }
            }
        },
    );
}

/// Does the same as [`update`] on several threads, which changes no bit: no parameter depends on another.
pub(super) fn update_in_parts<V: Vector<Scalar: Elementary>>(
    token: V::Token,
    layout: &Layout,
    change: Update<V::Scalar>,
    factors: [V::Scalar; 2],
    gradient: &[V::Scalar],
    moving: Moving<'_, V::Scalar>,
    (words, step): (Words, u64),
) {
    let Moving { mut weights, mut first, mut second } = moving;
    // Moments that the optimizer does not need are empty.
    fn next<'a, T>(of: &mut &'a mut [T], len: usize) -> &'a mut [T] {
        of.split_off_mut(..len.min(of.len())).unwrap_or_default()
    }
    let parts = layout.parts(PART).map(|(part, range)| {
        let len = range.len();
        let [weights, first, second] = [&mut weights, &mut first, &mut second].map(|of| next(of, len));
        (part, &gradient[range], Moving { weights, first, second })
    });
    let parts: Vec<_> = parts.collect();
    parallel::for_each_with(
        parts,
        || Normals::new(words, step),
        |normals, _, (part, gradient, moving)| update::<V>(token, &part, change, factors, gradient, moving, normals),
    );
}

#[inline(always)]
fn lines<V: Vector>(x: &mut [V::Scalar]) -> std::slice::ChunksExactMut<'_, V::Scalar> {
    x.chunks_exact_mut(V::LANES)
}

#[inline(always)]
fn of<V: Vector>(x: &[V::Scalar]) -> std::slice::ChunksExact<'_, V::Scalar> {
    x.chunks_exact(V::LANES)
}

/// The noise of one step, a chunk at a time.
pub(super) struct Normals<T> {
    made: Vec<T>,
    /// A row of noise, padded with zeros.
    row: Vec<T>,
    words: Words,
    step: u64,
}

impl<T: Elementary> Normals<T> {
    pub(super) fn new(words: Words, step: u64) -> Self {
        Self { made: Vec::new(), row: Vec::new(), words, step }
    }

    /// Begins another step.
    pub(super) fn at(&mut self, words: Words, step: u64) {
        (self.words, self.step) = (words, step);
    }

    /// Calls `work` with the places of every row of parameters, and with the noise of the row.
    #[inline(always)]
    fn rows<V: Vector<Scalar = T>>(
        &mut self,
        token: V::Token,
        layout: &Layout,
        mut work: impl FnMut(Range<usize>, &[T]),
    ) {
        // The numbers of the elements that `made` has, in blocks of [`ABREAST`].
        let mut have = 0..0;
        for &block in &layout.blocks {
            let touched = block.cols.next_multiple_of(V::LANES);
            self.row.clear();
            self.row.resize(touched, T::from_f64(0.0));
            for row in 0..block.rows {
                let first = block.first + row * block.cols;
                if first < have.start || first + block.cols > have.end {
                    let begin = first / ABREAST * ABREAST;
                    let needed = first - begin + block.cols;
                    let len = needed.max(CHUNK.min(layout.parameters - begin)).next_multiple_of(ABREAST);
                    have = begin..begin + len;
                    self.made.resize(len, T::from_f64(0.0));
                    let number = u32::try_from(begin / ABREAST).unwrap_or(u32::MAX);
                    normals::<V>(token, (self.words, Purpose::Noise), self.step, number, &mut self.made);
                }
                let own = &self.made[first - have.start..][..block.cols];
                let at = block.at + row * block.stride;
                if touched == block.cols {
                    work(at..at + touched, own);
                } else {
                    self.row[..block.cols].copy_from_slice(own);
                    work(at..at + touched, &self.row);
                }
            }
        }
    }
}
