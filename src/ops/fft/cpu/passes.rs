//! Complex transforms of smooth lengths, one line per SIMD lane (Stockham's algorithm with mixed radices; Van Loan,
//! Computational Frameworks for the Fast Fourier Transform, 1992, section 1.7).
//!
//! A transform of one line needs shuffles between lanes, and SIMD libraries have fast shuffles for some lengths only.
//! Here, lanes never mix, so every length is computed at the same rate.

use super::super::tables;
use super::large::{self, Large};
use crate::array::Real;
use crate::lanes::Vector;
use num_complex::Complex;

/// A complex number in each lane: the real and the imaginary parts.
pub(super) type Pair<V> = [V; 2];

/// The largest radix that has code of its own.
const FIXED: usize = 8;

/// The passes of a forward transform.
pub(super) struct Passes<F> {
    all: Vec<Pass<F>>,
}

/// One pass. It computes transforms of `radix` elements, whose distance is `done * rest`, and multiplies the results by
/// twiddle factors. `done` is the product of the radices of the passes before, and `rest` that of the passes after.
struct Pass<F> {
    radix: usize,
    done: usize,
    rest: usize,
    /// exp(-2 pi i p u / (radix rest)) for each p < rest and 0 < u < radix.
    twiddles: Vec<Complex<F>>,
    /// exp(-2 pi i t / radix) for each t < radix.
    roots: Vec<Complex<F>>,
    /// What a radix above [`FIXED`] needs.
    large: Option<Large<F>>,
}

/// Returns exp(-2 pi i k / n).
pub(super) fn root<F: Real>(k: usize, n: usize) -> Complex<F> {
    let root = tables::root(k, n);
    Complex::new(F::from_f64(root.re), F::from_f64(root.im))
}

/// Returns the radices whose product is `n`, the large ones first; `None` if `n` has a prime factor above `largest`.
fn radices(mut n: usize, largest: usize) -> Option<Vec<usize>> {
    let twos = n.trailing_zeros() as usize;
    n >>= twos;
    let mut radices: Vec<usize> = match twos {
        0 => Vec::new(),
        1 => vec![2],
        _ => [vec![], vec![4, 4], vec![4]][twos % 3].clone(),
    };
    let done: usize = radices.iter().map(|r| r.trailing_zeros() as usize).sum();
    radices.extend(std::iter::repeat_n(8, (twos - done) / 3));
    for odd in (3..=largest).step_by(2) {
        while n.is_multiple_of(odd) {
            n /= odd;
            radices.push(odd);
        }
    }
    radices.sort_by_key(|&radix| radix <= FIXED);
    (n == 1).then_some(radices)
}

/// Returns the largest prime factor of `n`, which is not 0; 1 if `n` is 1.
pub(super) fn largest_factor(mut n: usize) -> usize {
    let (mut largest, mut factor) = (1, 2);
    while factor * factor <= n {
        while n.is_multiple_of(factor) {
            (n, largest) = (n / factor, factor);
        }
        factor += 1;
    }
    largest.max(n)
}

/// Returns whether passes can transform lines of length `n`.
pub(super) fn in_passes(n: usize) -> bool {
    n > 0 && radices(n, large::LARGEST).is_some()
}

impl<F: Real> Passes<F> {
    /// Plans transforms of length `n`; `None` if a prime factor of `n` is too large.
    pub(super) fn new(n: usize) -> Option<Self> {
        let mut done = 1;
        let pass = |radix: usize| {
            let rest = n / done / radix;
            let of_place = |p| (1..radix).map(move |u| root(p * u, radix * rest));
            let twiddles: Vec<_> = (0..rest).flat_map(of_place).collect();
            let roots = (0..radix).map(|t| root(t, radix)).collect();
            let large = (radix > FIXED).then(|| Large::new(radix));
            let pass = Pass { radix, done, rest, twiddles, roots, large };
            done *= radix;
            pass
        };
        Some(Self { all: radices(n, large::LARGEST)?.into_iter().map(pass).collect() })
    }

    /// Transforms the lines in `x`: every lane has the rows or the columns of some matrices, whose rows have `inner`
    /// elements. An `inner` of 1 makes every line contiguous. `y` is scratch memory of the same length.
    #[inline(always)]
    pub(super) fn run<V: Vector<Scalar = F>>(
        &self,
        token: V::Token,
        inner: usize,
        x: &mut Vec<Pair<V>>,
        y: &mut Vec<Pair<V>>,
    ) {
        for pass in &self.all {
            let block = inner * pass.radix * pass.done * pass.rest;
            // A loop without a division, which would take as long as a short pass.
            let mut first = 0;
            while first + block <= x.len() {
                pass.run(token, inner, &x[first..first + block], &mut y[first..first + block]);
                first += block;
            }
            std::mem::swap(x, y);
        }
    }
}

impl<F: Real> Pass<F> {
    #[inline(always)]
    fn run<V: Vector<Scalar = F>>(&self, token: V::Token, inner: usize, x: &[Pair<V>], y: &mut [Pair<V>]) {
        // The columns are part of the places that earlier passes have made.
        let (done, roots) = (inner * self.done, &self.roots);
        // A function of its own for each radix, which is compiled with the SIMD instructions. In a single function, the
        // compiler would give up inlining the butterflies.
        macro_rules! run {
            ($pass:expr) => {
                V::with_instructions(
                    token,
                    #[inline(always)]
                    || $pass,
                )
            };
        }
        match (&self.large, self.radix) {
            (Some(large), _) => run!(large.run(token, [done, self.rest], &self.twiddles, x, y)),
            (None, 2) => run!(self.by::<V, Two, 2>(token, Two, done, x, y)),
            (None, 4) => run!(self.by::<V, Four, 4>(token, Four, done, x, y)),
            (None, 8) => run!(self.by::<V, Eight<V>, 8>(token, Eight::new(token), done, x, y)),
            (None, 3) => run!(self.by::<V, Odd<V, 3>, 3>(token, Odd::new(token, roots), done, x, y)),
            (None, 5) => run!(self.by::<V, Odd<V, 5>, 5>(token, Odd::new(token, roots), done, x, y)),
            (None, _) => run!(self.by::<V, Odd<V, 7>, 7>(token, Odd::new(token, roots), done, x, y)),
        }
    }

    #[inline(always)]
    fn by<V: Vector<Scalar = F>, B: Butterfly<V, R>, const R: usize>(
        &self,
        token: V::Token,
        butterfly: B,
        done: usize,
        x: &[Pair<V>],
        y: &mut [Pair<V>],
    ) {
        let rest = self.rest;
        let zero = V::splat(token, F::from_f64(0.0));
        let mut twiddles = [[zero; 2]; R];
        for p in 0..rest {
            for (to, twiddle) in twiddles[1..].iter_mut().zip(&self.twiddles[p * (R - 1)..]) {
                *to = splat(token, *twiddle);
            }
            let x = &x[done * p..];
            let y = &mut y[done * R * p..done * R * (p + 1)];
            for q in 0..done {
                let mut a = [[zero; 2]; R];
                for t in 0..R {
                    a[t] = x[q + done * rest * t];
                }
                let b = butterfly.apply(a);
                y[q] = b[0];
                for u in 1..R {
                    y[q + done * u] = if rest == 1 { b[u] } else { times(b[u], twiddles[u]) };
                }
            }
        }
    }
}

#[inline(always)]
pub(super) fn splat<V: Vector>(token: V::Token, z: Complex<V::Scalar>) -> Pair<V> {
    [V::splat(token, z.re), V::splat(token, z.im)]
}

#[inline(always)]
pub(super) fn times<V: Vector>([a, b]: Pair<V>, [c, d]: Pair<V>) -> Pair<V> {
    [b.neg_mul_add(d, a * c), b.mul_add(c, a * d)]
}

#[inline(always)]
fn plus<V: Vector>(a: Pair<V>, b: Pair<V>) -> Pair<V> {
    [a[0] + b[0], a[1] + b[1]]
}

#[inline(always)]
fn minus<V: Vector>(a: Pair<V>, b: Pair<V>) -> Pair<V> {
    [a[0] - b[0], a[1] - b[1]]
}

/// Returns `-i a`.
#[inline(always)]
fn turned<V: Vector>([re, im]: Pair<V>) -> Pair<V> {
    [im, -re]
}

/// A transform of R elements.
trait Butterfly<V: Vector, const R: usize> {
    fn apply(&self, a: [Pair<V>; R]) -> [Pair<V>; R];
}

struct Two;

impl<V: Vector> Butterfly<V, 2> for Two {
    #[inline(always)]
    fn apply(&self, [a, b]: [Pair<V>; 2]) -> [Pair<V>; 2] {
        [plus(a, b), minus(a, b)]
    }
}

struct Four;

impl<V: Vector> Butterfly<V, 4> for Four {
    #[inline(always)]
    fn apply(&self, [a, b, c, d]: [Pair<V>; 4]) -> [Pair<V>; 4] {
        let (even, odd) = (plus(a, c), minus(a, c));
        let (sum, apart) = (plus(b, d), turned(minus(b, d)));
        [plus(even, sum), plus(odd, apart), minus(even, sum), minus(odd, apart)]
    }
}

struct Eight<V> {
    /// The square root of 1/2.
    root: V,
}

impl<V: Vector<Scalar: Real>> Eight<V> {
    #[inline(always)]
    fn new(token: V::Token) -> Self {
        Self { root: V::splat(token, V::Scalar::from_f64(std::f64::consts::FRAC_1_SQRT_2)) }
    }
}

impl<V: Vector> Butterfly<V, 8> for Eight<V> {
    #[inline(always)]
    fn apply(&self, [a, b, c, d, e, f, g, h]: [Pair<V>; 8]) -> [Pair<V>; 8] {
        let (even, odd) = (Four.apply([a, c, e, g]), Four.apply([b, d, f, h]));
        let [x, y] = odd[1];
        let first = [self.root * (x + y), self.root * (y - x)];
        let [x, y] = odd[3];
        let third = [self.root * (y - x), -(self.root * (x + y))];
        let second = turned(odd[2]);
        [
            plus(even[0], odd[0]),
            plus(even[1], first),
            plus(even[2], second),
            plus(even[3], third),
            minus(even[0], odd[0]),
            minus(even[1], first),
            minus(even[2], second),
            minus(even[3], third),
        ]
    }
}

/// A transform of odd length R. The elements t and R - t are multiplied by conjugate roots of unity, so their sums are
/// only multiplied by cosines, and their differences by sines.
struct Odd<V, const R: usize> {
    roots: [Pair<V>; R],
}

impl<V: Vector<Scalar: Real>, const R: usize> Odd<V, R> {
    #[inline(always)]
    fn new(token: V::Token, roots: &[Complex<V::Scalar>]) -> Self {
        let mut all = [splat(token, roots[0]); R];
        for (to, root) in all.iter_mut().zip(roots) {
            *to = splat(token, *root);
        }
        Self { roots: all }
    }
}

impl<V: Vector, const R: usize> Butterfly<V, R> for Odd<V, R> {
    #[inline(always)]
    fn apply(&self, a: [Pair<V>; R]) -> [Pair<V>; R] {
        let (mut sums, mut apart, mut out) = (a, a, a);
        for t in 1..=R / 2 {
            (sums[t], apart[t]) = (plus(a[t], a[R - t]), minus(a[t], a[R - t]));
            out[0] = plus(out[0], sums[t]);
        }
        for u in 1..=R / 2 {
            let [cos, sin] = self.roots[u];
            let mut even = [sums[1][0].mul_add(cos, a[0][0]), sums[1][1].mul_add(cos, a[0][1])];
            let mut cross = [apart[1][0] * sin, apart[1][1] * sin];
            for t in 2..=R / 2 {
                let [cos, sin] = self.roots[u * t % R];
                even = [sums[t][0].mul_add(cos, even[0]), sums[t][1].mul_add(cos, even[1])];
                cross = [apart[t][0].mul_add(sin, cross[0]), apart[t][1].mul_add(sin, cross[1])];
            }
            // i times the sums with the sines is added to one element and subtracted from its counterpart.
            out[u] = [even[0] - cross[1], even[1] + cross[0]];
            out[R - u] = [even[0] + cross[1], even[1] - cross[0]];
        }
        out
    }
}
