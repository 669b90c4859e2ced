//! Transforms of many lines of reals to half of a spectrum, one line per SIMD lane.

use super::in_lanes::{Memory, Plan, Scratch, lines_of, memory};
use super::passes::{Pair, root, splat, times};
use super::{Engine, Working};
use crate::array::Real;
use crate::lanes::{Task, Vector};
use num_complex::Complex;
use std::sync::Arc;

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
        let Some(Memory { x, y, copies }) = memory::<V>(token, plan.n + 1, scratch) else { return };
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
                    copies.gather(token, n, from, |i, part| x[i / 2][i % 2] = part);
                    plan.run(token, x, y);
                    unfold(token, &mut x[..count], roots);
                }
                None => {
                    let zero = V::splat(token, zero);
                    copies.gather(token, n, from, |i, part| x[i] = [part, zero]);
                    plan.run(token, x, y);
                }
            }
            copies.scatter(token, 2 * count, bytemuck::cast_slice_mut(to), |i| x[i / 2][i % 2]);
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
