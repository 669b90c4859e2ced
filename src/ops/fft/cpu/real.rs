//! Transforms of reals to half of a spectrum, and back. If the length is even, pairs of adjacent reals are complex
//! numbers, whose transform is unfolded (Numerical Recipes, section 12.3), with the parts of numbers apart so that the
//! compiler uses SIMD. For odd lengths, the reals are complex numbers.

use super::line::{LinePlan, Planned};
use super::passes::root;
use super::zeroed;
use crate::array::Real;
use crate::lanes::in_widest;
use num_complex::Complex;
use std::sync::Arc;

/// The number of elements that are unfolded together, with as many from the other end of the spectrum.
const BLOCK: usize = 16;

/// A plan for transforms of one length in one direction.
pub(in crate::ops) struct RealLine<F> {
    n: usize,
    inverse: bool,
    /// The complex transform: of n/2 elements if n is even, otherwise of n.
    inner: Arc<dyn LinePlan<F>>,
    /// The first n-th roots of unity, if n is even.
    roots: Vec<Complex<F>>,
}

/// The memory for one line: a complex line before and after its transform, and that of the transform.
#[derive(Default)]
pub(in crate::ops) struct Memory<F> {
    before: Vec<Complex<F>>,
    after: Vec<Complex<F>>,
    inner: Vec<Complex<F>>,
}

impl<F: Planned> RealLine<F> {
    /// Plans transforms of `n` reals, n > 0, to half of a spectrum, or back.
    pub(in crate::ops) fn new(n: usize, inverse: bool) -> Self {
        let even = n.is_multiple_of(2);
        let roots = if even { (0..=n / 4).map(|k| root(k, n)).collect() } else { Vec::new() };
        Self { n, inverse, inner: F::plan(if even { n / 2 } else { n }, inverse), roots }
    }

    fn is_even(&self) -> bool {
        self.n.is_multiple_of(2)
    }

    pub(super) fn len(&self) -> usize {
        self.n
    }

    pub(in crate::ops) fn memory(&self) -> Memory<F> {
        let beside = if self.is_even() && !self.inverse { 0 } else { self.inner.len() };
        let after = if self.is_even() { 0 } else { self.n };
        Memory { before: zeroed(beside), after: zeroed(after), inner: zeroed(self.inner.scratch_len()) }
    }

    /// Transforms n reals to n/2 + 1 elements of their spectrum.
    pub(in crate::ops) fn forward(&self, from: &[F], to: &mut [Complex<F>], memory: &mut Memory<F>) {
        let Memory { before, after, inner } = memory;
        if self.is_even() {
            let half = self.n / 2;
            self.inner.run(bytemuck::cast_slice(from), &mut to[..half], inner);
            in_widest(
                #[inline(always)]
                || unfold(to, &self.roots),
            );
        } else {
            before.iter_mut().zip(from).for_each(|(z, x)| *z = Complex::new(*x, F::zero()));
            self.inner.run(before, after, inner);
            to.copy_from_slice(&after[..to.len()]);
            // The sum of reals is real.
            to[0].im = F::zero();
        }
    }

    /// Transforms n/2 + 1 elements of a spectrum to n reals, which are multiplied by `scale`. Those elements of which a
    /// real signal has only the real part are taken for reals.
    pub(in crate::ops) fn backward(&self, from: &[Complex<F>], to: &mut [F], scale: F, memory: &mut Memory<F>) {
        let Memory { before, after, inner } = memory;
        if self.is_even() {
            in_widest(
                #[inline(always)]
                || fold(from, before, &self.roots, scale),
            );
            self.inner.run(before, bytemuck::cast_slice_mut(to), inner);
        } else {
            let scaled = |z: &Complex<F>| Complex::new(z.re * scale, z.im * scale);
            let (front, back) = before.split_at_mut(from.len());
            front.iter_mut().zip(from).for_each(|(to, z)| *to = scaled(z));
            front[0].im = F::zero();
            back.iter_mut().rev().zip(&front[1..]).for_each(|(to, z)| *to = z.conj());
            self.inner.run(before, after, inner);
            to.iter_mut().zip(after).for_each(|(to, z)| *to = z.re);
        }
    }
}

/// Computes, from the transform Z of h pairs of reals, the first h + 1 elements of the transform X of the 2 h reals.
/// On input, `z` holds Z, followed by one element that is not read. On output, `z` holds X. `roots` are the first
/// (2 h)-th roots of unity, exp(-2 pi i k / 2h).
///
/// With the even part E[k] = (Z[k] + conj Z[h-k]) / 2 and the odd part O[k] = (Z[k] - conj Z[h-k]) / 2i, the results
/// are X[k] = E[k] + root[k] O[k] and X[h-k] = conj(E[k] - root[k] O[k]).
#[inline(always)]
fn unfold<F: Planned>(z: &mut [Complex<F>], roots: &[Complex<F>]) {
    let h = z.len() - 1;
    let zero = <F as Real>::from_f64(0.0);
    let first = z[0];
    z[0] = Complex::new(first.re + first.im, zero);
    z[h] = Complex::new(first.re - first.im, zero);
    if h.is_multiple_of(2) {
        z[h / 2].im = -z[h / 2].im;
    }
    // The elements 1..pairs + 1, and in reverse order their counterparts h - 1, h - 2, ...
    let pairs = (h - 1) / 2;
    let (front, back) = z.split_at_mut(pairs + 1);
    let (front, end) = (&mut front[1..], back.len() - 1);
    let back = &mut back[end - pairs..end];
    let (blocks, rest) = front.as_chunks_mut::<BLOCK>();
    let (rest_of_back, blocks_of_back) = back.as_rchunks_mut::<BLOCK>();
    let (roots, rest_of_roots) = roots[1..=pairs].as_chunks::<BLOCK>();
    for ((x, y), roots) in blocks.iter_mut().zip(blocks_of_back.iter_mut().rev()).zip(roots) {
        turned(x, y, roots);
    }
    for ((x, y), root) in rest.iter_mut().zip(rest_of_back.iter_mut().rev()).zip(rest_of_roots) {
        let (mut a, mut b) = ([*x], [*y]);
        turned(&mut a, &mut b, &[*root]);
        ([*x], [*y]) = (a, b);
    }
}

/// The real parts of `N` numbers, and the imaginary ones.
type Parts<F, const N: usize> = [[F; N]; 2];

/// Returns the parts of `x`, of `y` in reverse order, and of `roots`. They are separated so that the compiler uses SIMD
/// for the arithmetic, and by one loop: it need not inline `array::map`, and three loops take 1.6 times as long.
#[inline(always)]
fn parts<F: Planned, const N: usize>(
    x: &[Complex<F>; N],
    y: &[Complex<F>; N],
    roots: &[Complex<F>; N],
) -> [Parts<F, N>; 3] {
    let [[mut xr, mut xi], [mut yr, mut yi], [mut wr, mut wi]] = [[[<F as Real>::from_f64(0.0); N]; 2]; 3];
    for i in 0..N {
        (xr[i], xi[i]) = (x[i].re, x[i].im);
        (yr[i], yi[i]) = (y[N - 1 - i].re, y[N - 1 - i].im);
        (wr[i], wi[i]) = (roots[i].re, roots[i].im);
    }
    [[xr, xi], [yr, yi], [wr, wi]]
}

/// Unfolds the elements in `x` and their counterparts in `y`, whose order is reversed.
#[inline(always)]
fn turned<F: Planned, const N: usize>(x: &mut [Complex<F>; N], y: &mut [Complex<F>; N], roots: &[Complex<F>; N]) {
    let half = <F as Real>::from_f64(0.5);
    let [[xr, xi], [yr, yi], [wr, wi]] = parts(x, y, roots);
    for i in 0..N {
        let (even_re, even_im) = (half * (xr[i] + yr[i]), half * (xi[i] - yi[i]));
        // i times the odd part.
        let (re, im) = (half * (xr[i] - yr[i]), half * (xi[i] + yi[i]));
        let (turned_re, turned_im) = (im * wr[i] + re * wi[i], im * wi[i] - re * wr[i]);
        x[i] = Complex::new(even_re + turned_re, even_im + turned_im);
        y[N - 1 - i] = Complex::new(even_re - turned_re, turned_im - even_im);
    }
}

/// Computes, from the first h + 1 elements X of the spectrum of 2 h reals, the elements Z that [`unfold`] would turn
/// into them, times `2 scale`: with E[k] = X[k] + conj X[h-k] and O[k] = (X[k] - conj X[h-k]) / root[k], they are Z[k]
/// = E[k] + i O[k] and Z[h-k] = conj(E[k] - i O[k]).
#[inline(always)]
fn fold<F: Planned>(x: &[Complex<F>], z: &mut [Complex<F>], roots: &[Complex<F>], scale: F) {
    let h = z.len();
    let twice = scale + scale;
    let (first, last) = (x[0].re, x[h].re);
    z[0] = Complex::new((first + last) * scale, (first - last) * scale);
    if h.is_multiple_of(2) {
        z[h / 2] = Complex::new(twice * x[h / 2].re, -twice * x[h / 2].im);
    }
    let pairs = (h - 1) / 2;
    let (front, back) = z.split_at_mut(h - pairs);
    let (front, back) = (&mut front[1..=pairs], back);
    let (x, y) = (&x[1..=pairs], &x[h - pairs..h]);
    let (blocks, rest) = front.as_chunks_mut::<BLOCK>();
    let (rest_of_back, blocks_of_back) = back.as_rchunks_mut::<BLOCK>();
    let ((x, rest_of_x), (rest_of_y, y)) = (x.as_chunks::<BLOCK>(), y.as_rchunks::<BLOCK>());
    let (roots, rest_of_roots) = roots[1..=pairs].as_chunks::<BLOCK>();
    let all = blocks.iter_mut().zip(blocks_of_back.iter_mut().rev());
    for (((a, b), (x, y)), roots) in all.zip(x.iter().zip(y.iter().rev())).zip(roots) {
        returned(a, b, (x, y), roots, scale);
    }
    let all = rest.iter_mut().zip(rest_of_back.iter_mut().rev());
    for (((a, b), (x, y)), root) in all.zip(rest_of_x.iter().zip(rest_of_y.iter().rev())).zip(rest_of_roots) {
        let (mut first, mut second) = ([*a], [*b]);
        returned(&mut first, &mut second, (&[*x], &[*y]), &[*root], scale);
        ([*a], [*b]) = (first, second);
    }
}

/// Folds the elements in `x` and their counterparts in `y`, whose order is reversed.
#[inline(always)]
fn returned<F: Planned, const N: usize>(
    a: &mut [Complex<F>; N],
    b: &mut [Complex<F>; N],
    (x, y): (&[Complex<F>; N], &[Complex<F>; N]),
    roots: &[Complex<F>; N],
    scale: F,
) {
    let [[xr, xi], [yr, yi], [wr, wi]] = parts(x, y, roots);
    for i in 0..N {
        let (even_re, even_im) = (scale * (xr[i] + yr[i]), scale * (xi[i] - yi[i]));
        let (re, im) = (scale * (xr[i] - yr[i]), scale * (xi[i] + yi[i]));
        // i times the odd part: (re + i im) conj(w) i
        let (turned_re, turned_im) = (re * wi[i] - im * wr[i], re * wr[i] + im * wi[i]);
        a[i] = Complex::new(even_re + turned_re, even_im + turned_im);
        b[N - 1 - i] = Complex::new(even_re - turned_re, turned_im - even_im);
    }
}

#[cfg(test)]
mod tests {
    use super::RealLine;
    use crate::ops::fft::cpu::passes::root;
    use num_complex::Complex;

    /// Every even length from 2 on has its own numbers of blocks and of elements beside them.
    #[test]
    fn spectra_are_those_of_the_definition() {
        for n in (1..200).chain([1000, 1024]) {
            let x: Vec<f64> = (0..n).map(|i| ((i * 7919 + 13) % 101) as f64 / 50.0 - 1.0).collect();
            let plan = RealLine::<f64>::new(n, false);
            let mut found = vec![Complex::default(); n / 2 + 1];
            plan.forward(&x, &mut found, &mut plan.memory());
            let size = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            let allowed = 30.0 * f64::EPSILON * size * (n as f64).sqrt();
            for (k, z) in found.iter().enumerate() {
                let truth: Complex<f64> = x.iter().enumerate().map(|(i, x)| root::<f64>(i * k % n, n) * x).sum();
                assert!((z - truth).norm() <= allowed, "n = {n}, k = {k}: {z}, expected {truth}");
            }
            // What is no part of the spectrum of reals does not count.
            found[0].im = 7.0;
            if n.is_multiple_of(2) {
                found[n / 2].im = 7.0;
            }
            let back = RealLine::<f64>::new(n, true);
            let mut again = vec![f64::NAN; n];
            back.backward(&found, &mut again, 1.0 / n as f64, &mut back.memory());
            let off = again.iter().zip(&x).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off <= 30.0 * f64::EPSILON, "n = {n}: off by {off:e}");
        }
    }
}
