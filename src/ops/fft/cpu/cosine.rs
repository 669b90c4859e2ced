//! Cosine and sine transforms: each line becomes the line of a Fourier transform, whose result is turned back.
//!
//! Types 2 and 3 take one real transform of the same length (Makhoul 1980). Type 1 takes a real transform of the line
//! with its mirror image, about twice as long. Type 4 takes a complex transform of half of the length, or of the whole
//! length if that is odd. All of them multiply by roots of unity only, never by their inverses, so that the error grows
//! as that of the Fourier transform. A sine transform is the cosine transform of the same numbers in another order,
//! with some signs changed.

use super::passes::root;
use super::{Engine, Working, every, zeroed};
use crate::array::{Real, Scalar};
use crate::lanes::in_widest;
use crate::ops::convert::tiny::Lines;
use crate::ops::fft::cosine::{CosineType, Wave};
use num_complex::Complex;
use std::f64::consts::SQRT_2;

/// A transform of n reals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cosine<F> {
    n: usize,
    sine: bool,
    /// The factor of the result.
    scale: F,
    /// The factor of the terms that the matrix has once in place of twice: the root of 2, or 1.
    single: F,
}

/// How lines become lines of a Fourier transform, and how its results become those of the transform.
pub(super) trait Steps<F>: Sync {
    type In: bytemuck::Pod + Send + Sync;
    type Out: bytemuck::Pod + Send + Sync;
    fn length(&self) -> usize;
    fn before(&self, from: &[F], to: &mut [Self::In]);
    fn after(&self, from: &[Self::Out], to: &mut [F]);
}

/// A transform by an engine for another one.
struct By<E, S> {
    inner: E,
    steps: S,
}

/// The memory of one thread: the lines before and after the Fourier transform.
struct Memory<I, O, S> {
    before: Vec<I>,
    after: Vec<O>,
    inner: S,
}

impl<F: Working, S: Steps<F>, E: Engine<S::In, S::Out>> Engine<F, F> for By<E, S> {
    type Scratch = Memory<S::In, S::Out, E::Scratch>;

    fn lengths(&self) -> [usize; 2] {
        [self.steps.length(); 2]
    }

    fn lines(&self) -> usize {
        self.inner.lines()
    }

    fn scratch(&self) -> Self::Scratch {
        Memory { before: Vec::new(), after: Vec::new(), inner: self.inner.scratch() }
    }

    fn run(&self, from: &[F], to: &mut [F], scratch: &mut Self::Scratch) {
        let n = self.steps.length();
        let ([before, after], some) = (self.inner.lengths(), self.lines());
        for (from, to) in from.chunks(some * n).zip(to.chunks_mut(some * n)) {
            let count = from.len() / n;
            let Memory { before: x, after: y, inner } = scratch;
            if x.len() != count * before {
                (*x, *y) = (zeroed(count * before), zeroed(count * after));
            }
            in_widest(
                #[inline(always)]
                || {
                    let lines = from.chunks_exact(n).zip(x.chunks_exact_mut(before));
                    lines.for_each(|(from, x)| self.steps.before(from, x));
                },
            );
            self.inner.run(x, y, inner);
            in_widest(
                #[inline(always)]
                || {
                    let lines = y.chunks_exact(after).zip(to.chunks_exact_mut(n));
                    lines.for_each(|(y, to)| self.steps.after(y, to));
                },
            );
        }
    }
}

/// Type 1. The line and its mirror image are one period of an even function, or of an odd one for sines.
struct First<F>(Cosine<F>);

impl<F: Working> Steps<F> for First<F>
where
    Complex<F>: bytemuck::Pod,
{
    type In = F;
    type Out = Complex<F>;

    fn length(&self) -> usize {
        self.0.n
    }

    #[inline(always)]
    fn before(&self, from: &[F], to: &mut [F]) {
        let Cosine { n, sine, single, .. } = self.0;
        if sine {
            to[1..=n].copy_from_slice(from);
            to[n + 2..].iter_mut().zip(from.iter().rev()).for_each(|(to, x)| *to = -*x);
            return;
        }
        to[..n].copy_from_slice(from);
        to[0] *= single;
        to[n - 1] *= single;
        to[n..].iter_mut().zip(from[1..n - 1].iter().rev()).for_each(|(to, x)| *to = *x);
    }

    #[inline(always)]
    fn after(&self, from: &[Complex<F>], to: &mut [F]) {
        let Cosine { n, sine, scale, single } = self.0;
        // If the line has a NaN, it may be in the other part alone.
        let zero = <F as Real>::from_f64(0.0);
        if sine {
            return to.iter_mut().zip(&from[1..]).for_each(|(to, z)| *to = -scale * (z.im + zero * z.re));
        }
        to.iter_mut().zip(from).for_each(|(to, z)| *to = scale * (z.re + zero * z.im));
        to[0] /= single;
        to[n - 1] /= single;
    }
}

/// Type 2. The elements with even indices, followed by the others in reverse order, are transformed as reals.
struct Second<'a, F> {
    of: Cosine<F>,
    /// exp(-i pi k / 2n) for k = 0 to n/2.
    roots: &'a [Complex<F>],
}

impl<F: Working> Steps<F> for Second<'_, F>
where
    Complex<F>: bytemuck::Pod,
{
    type In = F;
    type Out = Complex<F>;

    fn length(&self) -> usize {
        self.of.n
    }

    #[inline(always)]
    fn before(&self, from: &[F], to: &mut [F]) {
        let (front, back) = to.split_at_mut(self.of.n.div_ceil(2));
        front.iter_mut().zip(from.iter().step_by(2)).for_each(|(to, x)| *to = *x);
        let odd = back.iter_mut().rev().zip(from.iter().skip(1).step_by(2));
        if self.of.sine {
            odd.for_each(|(to, x)| *to = -*x);
        } else {
            odd.for_each(|(to, x)| *to = *x);
        }
    }

    #[inline(always)]
    fn after(&self, from: &[Complex<F>], to: &mut [F]) {
        let Cosine { n, sine, scale, single } = self.of;
        let twice = scale + scale;
        to[0] = twice / single * from[0].re;
        let (roots, from) = (&self.roots[1..from.len()], &from[1..]);
        let (front, back) = to[1..].split_at_mut(n / 2);
        // If n is even, the last of these is its own counterpart.
        for ((to, z), w) in front.iter_mut().zip(from).zip(roots) {
            *to = twice * (w.re * z.re - w.im * z.im);
        }
        for ((to, z), w) in back.iter_mut().rev().zip(from).zip(roots) {
            *to = -twice * (w.re * z.im + w.im * z.re);
        }
        if sine {
            to.reverse();
        }
    }
}

/// Type 3, which does what type 2 does in the other direction.
struct Third<'a, F> {
    of: Cosine<F>,
    roots: &'a [Complex<F>],
}

impl<F: Working> Steps<F> for Third<'_, F>
where
    Complex<F>: bytemuck::Pod,
{
    type In = Complex<F>;
    type Out = F;

    fn length(&self) -> usize {
        self.of.n
    }

    #[inline(always)]
    fn before(&self, from: &[F], to: &mut [Complex<F>]) {
        let Cosine { n, sine, single, .. } = self.of;
        let (first, last) = if sine { (from[n - 1], &from[..n - 1]) } else { (from[0], &from[1..]) };
        to[0] = Complex::new(single * first, <F as Real>::from_f64(0.0));
        let turned = |to: &mut Complex<F>, x: F, y: F, w: &Complex<F>| {
            *to = Complex::new(x * w.re - y * w.im, -(x * w.im + y * w.re));
        };
        let pairs = to[1..].iter_mut().zip(&self.roots[1..]);
        if sine {
            let own = pairs.zip(last.iter().rev().zip(last));
            own.for_each(|((to, w), (x, y))| turned(to, *x, *y, w));
        } else {
            let own = pairs.zip(last.iter().zip(last.iter().rev()));
            own.for_each(|((to, w), (x, y))| turned(to, *x, *y, w));
        }
    }

    #[inline(always)]
    fn after(&self, from: &[F], to: &mut [F]) {
        let (front, back) = from.split_at(self.of.n.div_ceil(2));
        to.iter_mut().step_by(2).zip(front).for_each(|(to, x)| *to = *x);
        let odd = to.iter_mut().skip(1).step_by(2).zip(back.iter().rev());
        if self.of.sine {
            odd.for_each(|(to, x)| *to = -*x);
        } else {
            odd.for_each(|(to, x)| *to = *x);
        }
    }
}

/// Type 4 of an even length: elements from both ends are the parts of n/2 complex numbers.
struct Fourth<'a, F> {
    of: Cosine<F>,
    /// exp(-i pi (8 k + 1) / 8n) for k = 0 to n/2 - 1.
    roots: &'a [Complex<F>],
}

impl<F: Working> Steps<F> for Fourth<'_, F>
where
    Complex<F>: bytemuck::Pod,
{
    type In = Complex<F>;
    type Out = Complex<F>;

    fn length(&self) -> usize {
        self.of.n
    }

    #[inline(always)]
    fn before(&self, from: &[F], to: &mut [Complex<F>]) {
        let pairs = from.as_chunks::<2>().0.iter();
        let pairs = pairs.clone().zip(pairs.rev());
        // A sine transform is that of the reversed line.
        for ((to, w), (x, y)) in to.iter_mut().zip(self.roots).zip(pairs) {
            *to = *w * if self.of.sine { Complex::new(y[1], x[0]) } else { Complex::new(x[0], y[1]) };
        }
    }

    #[inline(always)]
    fn after(&self, from: &[Complex<F>], to: &mut [F]) {
        let scale = self.of.scale + self.of.scale;
        let back = if self.of.sine { scale } else { -scale };
        let h = self.of.n / 2;
        let pairs = to.as_chunks_mut::<2>().0;
        for ((pair, z), w) in pairs.iter_mut().zip(from).zip(self.roots) {
            pair[0] = scale * (w.re * z.re - w.im * z.im);
        }
        for ((pair, z), w) in pairs[..h].iter_mut().rev().zip(from).zip(self.roots) {
            pair[1] = back * (w.re * z.im + w.im * z.re);
        }
    }
}

/// Type 4 of an odd length. The transform at twice the frequencies has all results, the odd ones from the end.
struct FourthOdd<'a, F> {
    of: Cosine<F>,
    /// exp(-i pi k / 2n) for k = 0 to n - 1, and then exp(-i pi (4 k + 1) / 4n).
    roots: &'a [Complex<F>],
}

impl<F: Working> Steps<F> for FourthOdd<'_, F>
where
    Complex<F>: bytemuck::Pod,
{
    type In = Complex<F>;
    type Out = Complex<F>;

    fn length(&self) -> usize {
        self.of.n
    }

    #[inline(always)]
    fn before(&self, from: &[F], to: &mut [Complex<F>]) {
        let pairs = to.iter_mut().zip(self.roots);
        if self.of.sine {
            pairs.zip(from.iter().rev()).for_each(|((to, w), x)| *to = *w * *x);
        } else {
            pairs.zip(from).for_each(|((to, w), x)| *to = *w * *x);
        }
    }

    #[inline(always)]
    fn after(&self, from: &[Complex<F>], to: &mut [F]) {
        let Cosine { n, sine, scale, .. } = self.of;
        let twice = scale + scale;
        let (roots, half) = (&self.roots[n..], n.div_ceil(2));
        let real = |z: &Complex<F>, w: &Complex<F>| w.re * z.re - w.im * z.im;
        for ((to, z), w) in to.iter_mut().step_by(2).zip(from).zip(roots) {
            *to = twice * real(z, w);
        }
        let back = if sine { twice } else { -twice };
        let odd = to.iter_mut().skip(1).step_by(2).rev();
        for ((to, z), w) in odd.zip(&from[half..]).zip(&roots[half..]) {
            *to = back * real(z, w);
        }
    }
}

/// Returns the roots of unity for lines of `n` elements, those of types 2 and 3 or those of type 4.
pub(in crate::ops::fft) fn roots_of<F: Working>(n: usize, fourth: bool) -> Vec<Complex<F>> {
    match (fourth, n.is_multiple_of(2)) {
        (false, _) => (0..=n / 2).map(|k| root(k, 4 * n)).collect(),
        (true, true) => (0..n / 2).map(|k| root(8 * k + 1, 16 * n)).collect(),
        (true, false) => (0..n).map(|k| root(k, 4 * n)).chain((0..n).map(|k| root(4 * k + 1, 8 * n))).collect(),
    }
}

/// Transforms lines of `n` reals.
pub(super) fn transform<F: Working>(
    plans: &super::Plans<F>,
    wave: &Wave,
    n: usize,
    lines: Lines,
    from: &[F],
    to: &mut [F],
) where
    Complex<F>: bytemuck::Pod,
{
    let real = |x| <F as Real>::from_f64(x);
    let single = real(if wave.orthogonal { SQRT_2 } else { 1.0 });
    let of = Cosine { n, sine: wave.sine, scale: real(wave.scale), single };
    let (points, in_f32) = (wave.points(n), <F as Scalar>::ON_DEVICE);
    // The lines of the Fourier transform are contiguous.
    let count = Lines { inner: 1, outer: lines.inner * lines.outer };
    macro_rules! by {
        ($inner:expr, $steps:expr) => {
            every(&By { inner: $inner, steps: $steps }, in_f32, lines, from, to)
        };
    }
    macro_rules! by_reals {
        ($steps:expr) => {
            if super::lengths::takes_reals(points, count, super::Vectors::new(in_f32)) {
                by!(super::Reals { n: points, plan: plans.real_in_lanes(points), window: None }, $steps)
            } else {
                by!(super::Forward { plan: plans.real_forward(points), window: None }, $steps)
            }
        };
    }
    macro_rules! by_complexes {
        ($steps:expr) => {
            if super::lengths::takes(points, count, super::Vectors::new(in_f32)) {
                by!(super::Complexes { plan: plans.in_lanes(points), scale: None }, $steps)
            } else {
                by!(super::Whole { plan: plans.forward(points), scale: None }, $steps)
            }
        };
    }
    match wave.kind {
        CosineType::One => by_reals!(First(of)),
        CosineType::Two => by_reals!(Second { of, roots: &plans.quarters(n) }),
        CosineType::Three => {
            let inner = super::Backward { plan: plans.real_inverse(n), scale: of.scale };
            by!(inner, Third { of, roots: &plans.quarters(n) });
        }
        CosineType::Four if n.is_multiple_of(2) => by_complexes!(Fourth { of, roots: &plans.eighths(n) }),
        CosineType::Four => by_complexes!(FourthOdd { of, roots: &plans.eighths(n) }),
    }
}
