//! Bisection: the intervals in which the eigenvalues are, and the numbers of eigenvalues below a point.

use super::{System, VECTORS};
use crate::lanes::{Task, Vector};
use crate::parallel;
use std::ops::Range;

/// An interval that contains one eigenvalue, and the numbers of eigenvalues below its ends.
#[derive(Clone, Copy)]
pub(super) struct Bracket {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) below_low: f64,
    pub(super) below_high: f64,
}

/// The brackets of all wanted eigenvalues, and the number of eigenvalues that one task processes.
pub(super) struct Bracketed {
    pub(super) all: Vec<Bracket>,
    pub(super) together: usize,
}

/// The task that brackets each wanted eigenvalue between neighboring points of a grid with about n points.
pub(super) struct Brackets<'a> {
    pub(super) system: &'a System<'a>,
    pub(super) wanted: Range<usize>,
}

impl Task<f64> for Brackets<'_> {
    type Output = Bracketed;

    #[inline(always)]
    #[expect(clippy::cast_precision_loss, reason = "an order")]
    fn run<V: Vector<Scalar = f64>>(self, token: V::Token) -> Bracketed {
        let Self { system, wanted } = self;
        let n = system.diagonal.len();
        let together = VECTORS * V::LANES;
        let chunks = n.div_ceil(together);
        let points = chunks * together;
        let [low, high] = system.bounds;
        let at = |k: usize| low + (high - low) * (k as f64 / points as f64);
        let mut below = vec![0.0; points + 1];
        parallel::for_each(below[1..].chunks_mut(together), |chunk, below| {
            V::with_instructions(
                token,
                #[inline(always)]
                || {
                    let x = std::array::from_fn(|v| lanes(token, |l| at(chunk * together + v * V::LANES + l + 1)));
                    for (v, count) in counts::<V>(token, system, x).into_iter().enumerate() {
                        count.store(&mut below[v * V::LANES..]);
                    }
                },
            );
        });
        below[points] = n as f64;
        let mut k = 0;
        let bracket = |j: usize| {
            while k + 1 < points && below[k + 1] <= j as f64 {
                k += 1;
            }
            Bracket { low: at(k), high: at(k + 1), below_low: below[k], below_high: below[k + 1] }
        };
        Bracketed { all: wanted.map(bracket).collect(), together }
    }
}

/// Returns the vector whose lanes have the values of `of`.
#[inline(always)]
pub(super) fn lanes<V: Vector<Scalar = f64>>(token: V::Token, mut of: impl FnMut(usize) -> f64) -> V {
    let mut all = V::splat(token, 0.0);
    for (lane, x) in all.as_mut_slice().iter_mut().enumerate() {
        *x = of(lane);
    }
    all
}

/// Returns the number of eigenvalues below each x (a Sturm count), which is the number of negative pivots of `T - x I`.
/// A pivot of 0 makes the next pivot infinite and negative, and the count is still correct. No pivot is a negative 0,
/// because the diagonal elements, to which 0 is added, are none.
#[inline(always)]
pub(super) fn counts<V: Vector<Scalar = f64>>(token: V::Token, t: &System<'_>, x: [V; VECTORS]) -> [V; VECTORS] {
    let (zero, one) = (V::splat(token, 0.0), V::splat(token, 1.0));
    let first = V::splat(token, t.diagonal[0] + 0.0);
    let mut pivot: [V; VECTORS] = std::array::from_fn(|v| first - x[v]);
    let mut count: [V; VECTORS] = std::array::from_fn(|v| V::select(pivot[v].lt(zero), one, zero));
    for (d, square) in t.diagonal[1..].iter().zip(&t.squares) {
        let (d, square) = (V::splat(token, *d + 0.0), V::splat(token, *square));
        for v in 0..VECTORS {
            pivot[v] = (d - x[v]) - square / pivot[v];
            count[v] += V::select(pivot[v].lt(zero), one, zero);
        }
    }
    count
}
