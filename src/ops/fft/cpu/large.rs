//! Passes of the odd radices above 7. One piece of code serves them all, as code for each of them would be long. The
//! elements t and R - t are multiplied by conjugate roots of unity, so that their sums are only multiplied by cosines,
//! and their differences by sines. The results are summed in blocks, so that every sum or difference that is loaded
//! serves several of them.

use super::passes::{Pair, root, splat, times};
use crate::array::Real;
use crate::lanes::Vector;
use num_complex::Complex;

/// The largest radix.
pub(super) const LARGEST: usize = 199;
/// The number of pairs of results in a block. Their sums take half of the registers of AVX-512.
const BLOCK: usize = 4;

/// A pass of radix R = 2 h + 1.
pub(super) struct Large<F> {
    h: usize,
    /// exp(-2 pi i u t / R) for each u and t from 1 to h, in the order of use: the blocks of u, in each of them all t,
    /// for each of these the values of u.
    roots: Vec<Complex<F>>,
}

/// The sums and the differences of the elements t and R - t.
struct Folded<V> {
    sums: Vec<Pair<V>>,
    apart: Vec<Pair<V>>,
}

impl<V: Vector<Scalar: Real>> Folded<V> {
    #[inline(always)]
    fn new(token: V::Token, h: usize) -> Self {
        let zero = [V::splat(token, V::Scalar::from_f64(0.0)); 2];
        Self { sums: vec![zero; h], apart: vec![zero; h] }
    }
}

impl<F: Real> Large<F> {
    pub(super) fn new(radix: usize) -> Self {
        let h = radix / 2;
        let us: Vec<usize> = (1..=h).collect();
        let block = |us: &[usize]| -> Vec<Complex<F>> {
            (1..=h).flat_map(|t| us.iter().map(move |u| root(u * t, radix))).collect()
        };
        Self { h, roots: us.chunks(BLOCK).flat_map(block).collect() }
    }

    /// Does what `passes::Pass` does. `done` is the product of the radices of the passes before, and `rest` that of the
    /// passes after.
    #[inline(always)]
    pub(super) fn run<V: Vector<Scalar = F>>(
        &self,
        token: V::Token,
        [done, rest]: [usize; 2],
        twiddles: &[Complex<F>],
        x: &[Pair<V>],
        y: &mut [Pair<V>],
    ) {
        let radix = 2 * self.h + 1;
        let mut folded = Folded::new(token, self.h);
        for p in 0..rest {
            // The last pass has no twiddle factors.
            let twiddles = if rest > 1 { &twiddles[p * (radix - 1)..][..radix - 1] } else { &[] };
            for q in 0..done {
                let y = &mut y[done * radix * p + q..];
                self.one(token, &mut folded, [done * rest, done], twiddles, &x[done * p + q..], y);
            }
        }
    }

    /// Transforms R elements, whose distances are `from` and `to`.
    #[inline(always)]
    fn one<V: Vector<Scalar = F>>(
        &self,
        token: V::Token,
        folded: &mut Folded<V>,
        [from, to]: [usize; 2],
        twiddles: &[Complex<F>],
        x: &[Pair<V>],
        y: &mut [Pair<V>],
    ) {
        let h = self.h;
        let (sums, apart) = (&mut folded.sums[..h], &mut folded.apart[..h]);
        let first = x[0];
        let mut sum = first;
        for (i, (sums, apart)) in sums.iter_mut().zip(apart.iter_mut()).enumerate() {
            let ([a, b], [c, d]) = (x[(i + 1) * from], x[(2 * h - i) * from]);
            (*sums, *apart) = ([a + c, b + d], [a - c, b - d]);
            sum = [sum[0] + sums[0], sum[1] + sums[1]];
        }
        y[0] = sum;
        let mut u = 1;
        while u <= h {
            let roots = &self.roots[(u - 1) * h..];
            macro_rules! block {
                ($n:literal) => {{
                    let made = block::<V, $n>(token, first, sums, apart, roots);
                    for i in 0..$n {
                        let [even, cross] = made[i];
                        // i times the sums with the sines is added to one element and subtracted from its counterpart.
                        let mut a = [even[0] - cross[1], even[1] + cross[0]];
                        let mut b = [even[0] + cross[1], even[1] - cross[0]];
                        let (u, v) = (u + i, 2 * h + 1 - u - i);
                        if !twiddles.is_empty() {
                            a = times(a, splat(token, twiddles[u - 1]));
                            b = times(b, splat(token, twiddles[v - 1]));
                        }
                        (y[u * to], y[v * to]) = (a, b);
                    }
                }};
            }
            match h + 1 - u {
                1 => block!(1),
                2 => block!(2),
                3 => block!(3),
                _ => block!(4),
            }
            u += BLOCK;
        }
    }
}

/// Returns the sums with the cosines and those with the sines of N adjacent results.
#[inline(always)]
fn block<V: Vector, const N: usize>(
    token: V::Token,
    first: Pair<V>,
    sums: &[Pair<V>],
    apart: &[Pair<V>],
    roots: &[Complex<V::Scalar>],
) -> [[Pair<V>; 2]; N] {
    let roots = roots.as_chunks::<N>().0;
    let mut made = [[first; 2]; N];
    for i in 0..N {
        let [cos, sin] = splat(token, roots[0][i]);
        let even = [sums[0][0].mul_add(cos, first[0]), sums[0][1].mul_add(cos, first[1])];
        made[i] = [even, [apart[0][0] * sin, apart[0][1] * sin]];
    }
    for ((sums, apart), roots) in sums[1..].iter().zip(&apart[1..]).zip(&roots[1..]) {
        for i in 0..N {
            let [cos, sin] = splat(token, roots[i]);
            let [even, cross] = made[i];
            made[i] = [
                [sums[0].mul_add(cos, even[0]), sums[1].mul_add(cos, even[1])],
                [apart[0].mul_add(sin, cross[0]), apart[1].mul_add(sin, cross[1])],
            ];
        }
    }
    made
}
