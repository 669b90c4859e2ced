//! Random numbers on the CPU. Several blocks of Philox are computed together in SIMD vectors, and the chunks of a
//! request are computed in parallel. The numbers of a chunk depend only on its position in the stream, so neither the
//! division of requests nor the number of threads changes any number.

use super::philox::{WORDS, abreast};
use super::quantile::{normal_of, normal_of_two};
use super::{Law, Stream};
use crate::array::{Real, Scalar};
use crate::lanes::in_widest;
use crate::parallel;
use bytemuck::cast_slice_mut;

/// The number of random numbers that a thread makes at a time, which fill 64 KiB in f32.
const CHUNK: usize = 1 << 14;

pub(super) fn words(stream: &Stream, out: &mut [u32]) {
    made::<u32, 1>(stream, out, |[word]| word);
}

pub(super) fn fill<T: Real>(stream: &Stream, law: Law, out: &mut [T]) {
    if T::ON_DEVICE { fill_f32(stream, law, cast_slice_mut(out)) } else { fill_f64(stream, law, cast_slice_mut(out)) }
}

/// Instantiates [`of_law`] here, once, instead of in every crate that calls it.
fn fill_f32(stream: &Stream, law: Law, out: &mut [f32]) {
    of_law(stream, law, out);
}

fn fill_f64(stream: &Stream, law: Law, out: &mut [f64]) {
    of_law(stream, law, out);
}

fn of_law<T: Real>(stream: &Stream, law: Law, out: &mut [T]) {
    match law {
        // Words are made by [`words`], because they have a different type.
        Law::Words => {}
        Law::Uniform { low, high } => {
            let (from, width) = (T::from_f64(low), T::from_f64(high - low));
            let below = T::from_f64(high.next_down().min(last_below::<T>(high)));
            let place = move |u: T| {
                let x = from + width * u;
                if x.to_f64() < high { x } else { below }
            };
            if T::ON_DEVICE {
                made::<T, 1>(stream, out, |[word]| place(T::from_f64(f64::from(word >> 8) / f64::from(1 << 24))));
            } else {
                #[expect(clippy::cast_precision_loss, reason = "53 bits")]
                let unit = |low: u32, high: u32| ((u64::from(high) << 32 | u64::from(low)) >> 11) as f64;
                made::<T, 2>(stream, out, |[a, b]| place(T::from_f64(unit(a, b) / (1_u64 << 53) as f64)));
            }
        }
        Law::Normal { mean, deviation } => {
            let (mean, deviation) = (T::from_f64(mean), T::from_f64(deviation));
            if T::ON_DEVICE {
                made::<T, 1>(stream, out, |[word]| mean + deviation * T::from_f64(normal_of(word).into()));
            } else {
                made::<T, 2>(stream, out, |[a, b]| mean + deviation * T::from_f64(normal_of_two(a, b)));
            }
        }
        Law::Bernoulli { below } => {
            let (zero, one) = (T::from_f64(0.0), T::from_f64(1.0));
            made::<T, 1>(stream, out, |[word]| if u64::from(word) < below { one } else { zero });
        }
    }
}

/// Returns the largest number of the precision `T` that is below `high`.
#[expect(clippy::cast_possible_truncation, reason = "where T is f32, `high` is one")]
pub(super) fn last_below<T: Real>(high: f64) -> f64 {
    if T::ON_DEVICE { (high as f32).next_down().into() } else { high.next_down() }
}

/// Makes the next numbers of the stream, each from `N` words.
fn made<T: Scalar, const N: usize>(stream: &Stream, out: &mut [T], make: impl Fn([u32; N]) -> T + Sync) {
    parallel::for_each(out.chunks_mut(CHUNK), |chunk, out| {
        in_widest(
            #[inline(always)]
            || fill_chunk(stream, (chunk * CHUNK * N) as u64, out, &make),
        );
    });
}

#[inline(always)]
fn fill_chunk<T: Scalar, const N: usize>(stream: &Stream, first: u64, out: &mut [T], make: &impl Fn([u32; N]) -> T) {
    let (block, inside) = stream.block(first);
    let next = |round: usize| abreast(block.wrapping_add((round * WORDS / 4) as u64), stream.upper(), stream.key());
    if inside % N == 0 {
        let (head, rest) = out.split_at_mut(((WORDS - inside) / N).min(out.len()));
        let words = next(0);
        for (out, words) in head.iter_mut().zip(words[inside..].as_chunks::<N>().0) {
            *out = make(*words);
        }
        for (round, out) in rest.chunks_mut(WORDS / N).enumerate() {
            let words = next(round + 1);
            for (out, words) in out.iter_mut().zip(words.as_chunks::<N>().0) {
                *out = make(*words);
            }
        }
        return;
    }
    // The words come in rounds of [`WORDS`] words. A number may start in one round and end in the next, so the words
    // are taken one by one.
    let mut words = next(0);
    let (mut round, mut at) = (0, inside);
    for out in out {
        let mut own = [0; N];
        for word in &mut own {
            if at == WORDS {
                (round, at) = (round + 1, 0);
                words = next(round);
            }
            (*word, at) = (words[at], at + 1);
        }
        *out = make(own);
    }
}
