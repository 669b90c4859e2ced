//! Transforms of many lines, one line per SIMD lane.
//!
//! rustfft's shuffles between lanes are fast for some lengths only. In lanes, every smooth length is transformed at the
//! same rate by `passes`. A prime length n for which n - 1 is smooth becomes a cyclic convolution (`rader`).

use super::across::ComplexStrip;
use super::passes::{Pair, Passes, in_passes, is_smooth, root, splat, times};
use super::rader::Rader;
use super::strided::{Room, Strip};
use super::{Engine, Lines, Working};
use crate::array::Real;
use crate::lanes::{Task, Vector};
use num_complex::Complex;
use std::any::Any;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The number of elements whose lines are interleaved together, so that the memory of both orders stays in the cache.
const TILE: usize = 64;

/// The number of lanes of the widest vectors.
pub(super) const LANES: usize = 16;
/// The primes and the real lengths that may be transformed in lanes. With longer lines, the working memory does not fit
/// in the second-level cache.
const PRIMES: RangeInclusive<usize> = 50..=1500;
const REALS: RangeInclusive<usize> = 50..=2600;
/// The lengths of lines across rows that may be transformed in lanes.
const ACROSS: RangeInclusive<usize> = 2..=2048;
/// The number of elements in a task of one thread, rounded to a multiple of [`LANES`] lines.
const TASK: usize = 1 << 15;

/// Returns whether complex transforms of lines of length `n` are computed in lanes. The choice depends on the length
/// and on whether lines are contiguous, not on the number of lines, so that a line has the same bits in every batch.
///
/// Of contiguous lines, at least as many as lanes, rustfft takes 1.0 to 1.7 times as long for these lengths, on one
/// core with AVX2 (2026-11-24). A call with fewer lines takes as long as if it filled the lanes. Lines across rows are
/// in lanes when they are loaded. With rows of 16 elements or more, columns that are turned for rustfft take 1.1 to 1.9
/// times as long for smooth lengths, and 1.4 to 6.8 times for others; with rows of 2 to 8 elements, 0.4 to 0.6 times
/// (one core with AVX-512, 2026-11-28).
pub(super) fn takes(n: usize, lines: Lines) -> bool {
    if lines.inner > 1 {
        return ACROSS.contains(&n) && (in_passes(n) || is_rader(n));
    }
    is_rader(n)
}

/// Returns whether lines of length `n` become cyclic convolutions.
fn is_rader(n: usize) -> bool {
    PRIMES.contains(&n) && is_smooth(n - 1) && is_prime(n)
}

/// Returns whether real transforms of lines of length `n` are computed in lanes. For smooth even lengths whose
/// half is a multiple of neither 8 nor 12, rustfft takes 1.0 to 1.6 times as long in f32 with AVX2 (1.47 times at
/// n = 1000). For other even lengths, rustfft is as fast or faster (2026-11-24).
pub(super) fn takes_reals(n: usize, lines: Lines) -> bool {
    let half = n / 2;
    let even = n.is_multiple_of(2) && is_smooth(half) && !half.is_multiple_of(8) && !half.is_multiple_of(12);
    lines.inner == 1 && (even && REALS.contains(&n) || is_rader(n))
}

/// Returns the number of lines in a task of one thread.
fn lines_of(n: usize) -> usize {
    (TASK / n / LANES).max(1) * LANES
}

fn is_prime(n: usize) -> bool {
    n > 1 && (2..n).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d))
}

/// A plan for forward transforms of one length.
pub(in super::super) struct Plan<F> {
    pub(super) n: usize,
    method: Method<F>,
}

enum Method<F> {
    Passes(Passes<F>),
    Prime(Rader<F>),
}

impl<F: Working> Plan<F> {
    /// Plans transforms of a length that [`takes`] has accepted.
    pub(super) fn new(n: usize) -> Self {
        let passes = if is_rader(n) { None } else { Passes::new(n) };
        Self { n, method: passes.map_or_else(|| Method::Prime(Rader::new(n)), Method::Passes) }
    }

    /// Transforms the lines whose elements are the first n of `x`. `y` is scratch memory.
    #[inline(always)]
    pub(super) fn run<V: Vector<Scalar = F>>(&self, token: V::Token, x: &mut Vec<Pair<V>>, y: &mut Vec<Pair<V>>) {
        match &self.method {
            Method::Passes(passes) => passes.run(token, x, y),
            Method::Prime(rader) => rader.run(token, x, y),
        }
    }
}

/// Complex transforms in lanes.
pub(super) struct Complexes<F> {
    pub(super) plan: Arc<Plan<F>>,
    /// The factor 1/n by which an inverse transform of length n is multiplied; `None` for a forward transform.
    pub(super) scale: Option<F>,
}

impl<F: Working> Engine<Complex<F>, Complex<F>> for Complexes<F> {
    type Scratch = Scratch;

    fn lengths(&self) -> [usize; 2] {
        [self.plan.n; 2]
    }

    fn scratch(&self) -> Scratch {
        None
    }

    fn lines(&self) -> usize {
        lines_of(self.plan.n)
    }

    fn run(&self, from: &[Complex<F>], to: &mut [Complex<F>], scratch: &mut Scratch) {
        F::in_lanes(ComplexLines { engine: self, from, to, scratch });
    }

    fn across(
        &self,
        strip: Strip<'_, '_, Complex<F>, Complex<F>>,
        _: &mut Room<Complex<F>, Complex<F>>,
        scratch: &mut Scratch,
    ) {
        F::in_lanes(ComplexStrip { engine: self, strip, scratch });
    }
}

struct ComplexLines<'a, F> {
    engine: &'a Complexes<F>,
    from: &'a [Complex<F>],
    to: &'a mut [Complex<F>],
    scratch: &'a mut Scratch,
}

impl<F: Working> Task<F> for ComplexLines<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Scalar = F>>(self, token: V::Token) {
        let Self { engine: Complexes { plan, scale }, from, to, scratch } = self;
        let n = plan.n;
        // An inverse transform is a forward transform with the parts of all numbers exchanged.
        let swap = scale.is_some();
        let by = scale.unwrap_or(<F as Real>::from_f64(1.0));
        let Some((x, y)) = memory::<V>(token, n, scratch) else { return };
        for (from, to) in from.chunks(V::LANES * n).zip(to.chunks_mut(V::LANES * n)) {
            gather(n, from, x, |z| if swap { [z.im, z.re] } else { [z.re, z.im] });
            plan.run(token, x, y);
            scatter(n, x, to, |[re, im]| if swap { Complex::new(im * by, re * by) } else { Complex::new(re, im) });
        }
    }
}

/// Transforms of reals to half of a spectrum, in lanes.
pub(super) struct Reals<'a, F> {
    pub(super) n: usize,
    pub(super) plan: Arc<RealPlan<F>>,
    pub(super) window: Option<&'a [F]>,
}

/// A plan for real transforms. If the length is even, pairs of adjacent reals are transformed as complex numbers, and
/// the result is unfolded as `real::unfold` does.
pub(in super::super) enum RealPlan<F> {
    Even { half: Plan<F>, roots: Vec<Complex<F>> },
    Odd(Plan<F>),
}

impl<F: Working> RealPlan<F> {
    pub(super) fn new(n: usize) -> Self {
        if n.is_multiple_of(2) {
            Self::Even { half: Plan::new(n / 2), roots: (0..=n / 4).map(|k| root(k, n)).collect() }
        } else {
            Self::Odd(Plan::new(n))
        }
    }
}

impl<F: Working> Engine<F, Complex<F>> for Reals<'_, F> {
    type Scratch = Scratch;

    fn lengths(&self) -> [usize; 2] {
        [self.n, self.n / 2 + 1]
    }

    fn scratch(&self) -> Scratch {
        None
    }

    fn lines(&self) -> usize {
        lines_of(self.n)
    }

    fn run(&self, from: &[F], to: &mut [Complex<F>], scratch: &mut Scratch) {
        F::in_lanes(RealLines { engine: self, from, to, scratch });
    }
}

struct RealLines<'a, F> {
    engine: &'a Reals<'a, F>,
    from: &'a [F],
    to: &'a mut [Complex<F>],
    scratch: &'a mut Scratch,
}

impl<F: Working> Task<F> for RealLines<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Scalar = F>>(self, token: V::Token) {
        let Self { engine: &Reals { n, ref plan, window }, from, to, scratch } = self;
        let (plan, roots) = match &**plan {
            RealPlan::Even { half, roots } => (half, Some(roots)),
            RealPlan::Odd(whole) => (whole, None),
        };
        // Half of a spectrum has one element more than the transform of the pairs.
        let Some((x, y)) = memory::<V>(token, plan.n + 1, scratch) else { return };
        let count = n / 2 + 1;
        let zero = <F as Real>::from_f64(0.0);
        let mut line = vec![zero; if window.is_some() { V::LANES * n } else { 0 }];
        for (from, to) in from.chunks(V::LANES * n).zip(to.chunks_mut(V::LANES * count)) {
            let from = match window {
                Some(window) => {
                    let line = &mut line[..from.len()];
                    let windows = window.iter().cycle();
                    line.iter_mut().zip(from.iter().zip(windows)).for_each(|(line, (x, w))| *line = *x * *w);
                    line
                }
                None => from,
            };
            match roots {
                Some(roots) => {
                    gather(n / 2, bytemuck::cast_slice(from), x, |z: Complex<F>| [z.re, z.im]);
                    plan.run(token, x, y);
                    unfold(token, &mut x[..count], roots);
                }
                None => {
                    gather(n, from, x, |x| [x, zero]);
                    plan.run(token, x, y);
                }
            }
            scatter(count, x, to, |[re, im]| Complex::new(re, im));
        }
    }
}

/// Does what `real::unfold` does, in each lane.
#[inline(always)]
pub(super) fn unfold<F: Real, V: Vector<Scalar = F>>(token: V::Token, x: &mut [Pair<V>], roots: &[Complex<F>]) {
    let h = x.len() - 1;
    if h.is_multiple_of(2) {
        x[h / 2][1] = -x[h / 2][1];
    }
    let (zero, half) = (V::splat(token, F::from_f64(0.0)), V::splat(token, F::from_f64(0.5)));
    let [re, im] = x[0];
    (x[0], x[h]) = ([re + im, zero], [re - im, zero]);
    for k in 1..=(h - 1) / 2 {
        let ([a, b], [c, d]) = (x[k], x[h - k]);
        let (even_re, even_im) = (half * (a + c), half * (b - d));
        let [re, im] = [half * (b + d), half * (c - a)];
        let [re, im] = times([re, im], splat(token, roots[k]));
        x[h - k] = [even_re - re, im - even_im];
        x[k] = [even_re + re, even_im + im];
    }
}

/// The working memory of a thread, whose type depends on the vectors.
pub(super) type Scratch = Option<Box<dyn Any + Send>>;

/// The lines of a group, and as much memory again.
pub(super) type Memory<V> = (Vec<Pair<V>>, Vec<Pair<V>>);

/// Returns the working memory for lines of `len` elements. The scratch of an engine always has the same type and
/// length.
#[inline(always)]
pub(super) fn memory<V: Vector<Scalar: Real>>(
    token: V::Token,
    len: usize,
    scratch: &mut Scratch,
) -> Option<&mut Memory<V>> {
    let zero = V::splat(token, V::Scalar::from_f64(0.0));
    let made = scratch.get_or_insert_with(|| Box::new((vec![[zero; 2]; len], vec![[zero; 2]; len])));
    made.downcast_mut()
}

/// Writes the elements of the lines in `from` to the lanes of `x`. Lanes without a line keep what they have.
#[inline(always)]
fn gather<I: Copy, V: Vector>(n: usize, from: &[I], x: &mut [Pair<V>], parts: impl Fn(I) -> [V::Scalar; 2]) {
    for first in (0..n).step_by(TILE) {
        let tile = &mut x[first..(first + TILE).min(n)];
        for (lane, line) in from.chunks_exact(n).enumerate() {
            for (x, z) in tile.iter_mut().zip(&line[first..]) {
                let [re, im] = parts(*z);
                x[0].as_mut_slice()[lane] = re;
                x[1].as_mut_slice()[lane] = im;
            }
        }
    }
}

/// Writes the first `n` elements in the lanes of `x` to the lines in `to`.
#[inline(always)]
fn scatter<O, V: Vector>(n: usize, x: &[Pair<V>], to: &mut [O], whole: impl Fn([V::Scalar; 2]) -> O) {
    for first in (0..n).step_by(TILE) {
        let tile = &x[first..(first + TILE).min(n)];
        for (lane, line) in to.chunks_exact_mut(n).enumerate() {
            for (x, z) in tile.iter().zip(&mut line[first..]) {
                *z = whole([x[0].as_slice()[lane], x[1].as_slice()[lane]]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::SimdScalar;

    /// Returns the spectrum of a line, computed in f64 by the definition.
    fn spectrum(line: &[Complex<f64>]) -> Vec<Complex<f64>> {
        let n = line.len();
        let roots: Vec<Complex<f64>> = (0..n).map(|k| root(k, n)).collect();
        (0..n).map(|k| line.iter().enumerate().map(|(i, z)| z * roots[i * k % n]).sum()).collect()
    }

    fn signal(len: usize) -> Vec<Complex<f32>> {
        let part = |i: usize| ((i * 7919 + 13) % 1013) as f32 / 500.0 - 1.0;
        (0..len).map(|i| Complex::new(part(i), part(3 * i + 1))).collect()
    }

    fn wide(z: &[Complex<f32>]) -> Vec<Complex<f64>> {
        z.iter().map(|z| Complex::new(z.re.into(), z.im.into())).collect()
    }

    /// The promise for every transform is a relative error of `4 eps log2 n`.
    fn close(what: &str, n: usize, found: &[Complex<f32>], truth: &[Complex<f64>]) {
        let square = |z: &mut dyn Iterator<Item = Complex<f64>>| z.map(|z| z.norm_sqr()).sum::<f64>().sqrt();
        let off = square(&mut wide(found).into_iter().zip(truth).map(|(a, b)| a - b));
        let allowed = 4.0 * f64::from(f32::EPSILON) * (n as f64).log2().max(1.0) * square(&mut truth.iter().copied());
        assert!(off <= allowed, "{what} of {n}: off by {off:e}, allowed {allowed:e}");
    }

    /// Lengths with every radix in every place, primes of Rader's method, and the largest lengths.
    fn lengths() -> impl Iterator<Item = usize> {
        (1..=130).filter(|&n| is_smooth(n)).chain([31, 61, 127, 211, 250, 343, 500, 512, 1009, 2048, 2521])
    }

    #[test]
    fn complex_lines_forward_and_back() {
        for n in lengths() {
            // The last group of lines does not fill the lanes of any machine.
            let count = if n < 150 { 17 } else { 3 };
            let from = signal(n * count);
            let plan = Arc::new(Plan::new(n));
            let forward = Complexes { plan: Arc::clone(&plan), scale: None };
            let back = Complexes { plan, scale: Some(1.0 / n as f32) };
            let mut to = from.clone();
            for narrow in [false, true] {
                let lines = ComplexLines { engine: &forward, from: &from, to: &mut to, scratch: &mut None };
                if narrow {
                    f32::in_one_lane(lines)
                } else {
                    f32::in_lanes(lines)
                }
                for (line, to) in from.chunks(n).zip(to.chunks(n)) {
                    close("a transform", n, to, &spectrum(&wide(line)));
                }
            }
            let mut again = from.clone();
            back.run(&to, &mut again, &mut None);
            for (line, again) in from.chunks(n).zip(again.chunks(n)) {
                close("a transform and its inverse", n, again, &wide(line));
            }
        }
    }

    #[test]
    fn real_lines_with_and_without_a_window() {
        for n in lengths().flat_map(|n| [n, 2 * n]) {
            let count = if n < 150 { 17 } else { 3 };
            let from: Vec<f32> = signal(n * count).iter().map(|z| z.re).collect();
            let window: Vec<f32> = signal(n).iter().map(|z| z.im).collect();
            let plan = if n.is_multiple_of(2) || is_smooth(n) || is_prime(n) { RealPlan::new(n) } else { continue };
            let plan = Arc::new(plan);
            for window in [None, Some(&window[..])] {
                let engine = Reals { n, plan: Arc::clone(&plan), window };
                let mut to = vec![Complex::new(f32::NAN, f32::NAN); (n / 2 + 1) * count];
                engine.run(&from, &mut to, &mut None);
                for (line, to) in from.chunks(n).zip(to.chunks(n / 2 + 1)) {
                    let windowed = |(i, x): (usize, &f32)| Complex::new((x * window.map_or(1.0, |w| w[i])).into(), 0.0);
                    let line: Vec<Complex<f64>> = line.iter().enumerate().map(windowed).collect();
                    close("a real transform", n, to, &spectrum(&line)[..n / 2 + 1]);
                }
            }
        }
    }

    /// A line has the same bits in every lane and beside any other lines.
    #[test]
    fn lines_do_not_mix() {
        for n in [61, 1000] {
            let line = signal(n);
            let mut from = signal(n * 40);
            from[7 * n..8 * n].fill(Complex::new(f32::NAN, f32::INFINITY));
            for place in [0, 9, 22, 39] {
                from[place * n..(place + 1) * n].copy_from_slice(&line);
            }
            let engine = Complexes { plan: Arc::new(Plan::new(n)), scale: None };
            let mut to = from.clone();
            engine.run(&from, &mut to, &mut None);
            for place in [9, 22, 39] {
                assert_eq!(to[place * n..(place + 1) * n], to[..n], "n = {n}, line {place}");
            }
        }
    }

    #[test]
    fn taken_lengths() {
        let (lines, strided) = (Lines { inner: 1, outer: 1 }, Lines { inner: 2, outer: 1 });
        for (n, complex, real, across) in [
            (957, false, false, true),
            (1000, false, true, true),
            (1009, true, true, true),
            (1013, false, false, false),
            (1024, false, false, true),
            (720, false, false, true),
            (2500, false, true, false),
        ] {
            assert_eq!((takes(n, lines), takes_reals(n, lines)), (complex, real), "{n}");
            assert_eq!((takes(n, strided), takes_reals(n, strided)), (across, false), "strided lines of {n}");
        }
        for n in 0..=3 {
            assert!(!takes(n, lines) && !takes_reals(n, lines), "{n}");
        }
    }
}
