//! Rayleigh quotient iteration with twisted factorizations, one eigenpair in each lane.

use super::brackets::{Bracket, counts, lanes};
use super::{System, VECTORS};
use crate::array::Real;
use crate::lanes::{Task, Vector};

/// The maximum number of bisections. Each halves a bracket, and f64 has 53 bits.
const BISECTIONS: usize = 64;
/// The number of bisections after an eigenvalue has been isolated. With fewer, Rayleigh quotient iteration takes more
/// steps, each of which takes as long as five bisections.
const MORE: usize = 4;
/// The maximum number of steps of the Rayleigh quotient iteration. Four are typical.
const STEPS: usize = 12;
/// The largest residual of a pair that has converged, divided by `eps |T|` in f64. The measured residuals are about 4.
const CONVERGED: f64 = 8.0;

/// An eigenvalue, and the residual `|T z - x z|_2` of its unit vector.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) value: f64,
    pub(super) residual: f64,
}

/// The task that computes the pairs of at most `VECTORS * LANES` consecutive eigenvalues.
pub(super) struct Solve<'a, R> {
    pub(super) system: &'a System<'a>,
    /// The index of the first eigenvalue.
    pub(super) first: usize,
    pub(super) brackets: &'a [Bracket],
    pub(super) vectors: &'a mut [R],
}

impl<R: Real> Task<f64> for Solve<'_, R> {
    /// `None` if an eigenvalue could not be isolated, or if an iteration did not converge.
    type Output = Option<Vec<Pair>>;

    #[inline(always)]
    fn run<V: Vector<Scalar = f64>>(self, token: V::Token) -> Option<Vec<Pair>> {
        let Self { system, first, brackets, vectors } = self;
        let n = system.diagonal.len();
        let mut found = Iteration::<V>::new(token, system, first, brackets);
        found.isolate()?;
        found.converge()?;
        for (j, to) in vectors.chunks_exact_mut(n).enumerate() {
            let (v, lane) = (j / V::LANES, j % V::LANES);
            let inverse = found.inverse_length[v].as_slice()[lane];
            for (to, z) in to.iter_mut().zip(&found.z) {
                *to = R::from_f64(z[v].as_slice()[lane] * inverse);
            }
        }
        let of = |x: &[V; VECTORS], j: usize| x[j / V::LANES].as_slice()[j % V::LANES];
        let pair = |j| Pair { value: of(&found.value, j), residual: of(&found.residual, j) };
        Some((0..brackets.len()).map(pair).collect())
    }
}

/// The state of the iterations in all lanes. Lanes beyond the last eigenvalue repeat the last one.
struct Iteration<'a, V: Vector> {
    token: V::Token,
    system: &'a System<'a>,
    index: [V; VECTORS],
    low: [V; VECTORS],
    high: [V; VECTORS],
    below_low: [V; VECTORS],
    below_high: [V; VECTORS],
    /// The points at which T is factorized.
    x: [V; VECTORS],
    /// The eigenvalues: the Rayleigh quotients of the vectors.
    value: [V; VECTORS],
    residual: [V; VECTORS],
    inverse_length: [V; VECTORS],
    /// The reciprocals of the pivots of the factorization from the top, and of that from the bottom.
    from_top: Vec<[V; VECTORS]>,
    from_bottom: Vec<[V; VECTORS]>,
    /// The pivot of the factorization that is twisted at each row. Its reciprocal is a diagonal element of the inverse.
    twist: Vec<[V; VECTORS]>,
    /// The vectors, not scaled.
    z: Vec<[V; VECTORS]>,
}

impl<'a, V: Vector<Scalar = f64>> Iteration<'a, V> {
    #[inline(always)]
    #[expect(clippy::cast_precision_loss, reason = "an order")]
    fn new(token: V::Token, system: &'a System<'a>, first: usize, brackets: &[Bracket]) -> Self {
        let place = |v: usize, lane: usize| (v * V::LANES + lane).min(brackets.len() - 1);
        let of = |get: &dyn Fn(&Bracket) -> f64| -> [V; VECTORS] {
            std::array::from_fn(|v| lanes(token, |lane| get(&brackets[place(v, lane)])))
        };
        let zeros = [V::splat(token, 0.0); VECTORS];
        let memory = || vec![zeros; system.diagonal.len()];
        Self {
            token,
            system,
            index: std::array::from_fn(|v| lanes(token, |lane| (first + place(v, lane)) as f64)),
            low: of(&|b| b.low),
            high: of(&|b| b.high),
            below_low: of(&|b| b.below_low),
            below_high: of(&|b| b.below_high),
            x: zeros,
            value: zeros,
            residual: zeros,
            inverse_length: zeros,
            from_top: memory(),
            from_bottom: memory(),
            twist: memory(),
            z: memory(),
        }
    }

    /// Replaces an end of each bracket by x, given the number of eigenvalues below x.
    #[inline(always)]
    fn narrow(&mut self, below: [V; VECTORS]) {
        for (v, below) in below.into_iter().enumerate() {
            let is_low = below.le(self.index[v]);
            self.low[v] = V::select(is_low, self.x[v], self.low[v]);
            self.below_low[v] = V::select(is_low, below, self.below_low[v]);
            self.high[v] = V::select(is_low, self.high[v], self.x[v]);
            self.below_high[v] = V::select(is_low, self.below_high[v], below);
        }
    }

    #[inline(always)]
    fn middle(&self, v: usize) -> V {
        V::splat(self.token, 0.5) * (self.low[v] + self.high[v])
    }

    /// Bisects until every bracket contains a single eigenvalue, and [`MORE`] times after that. Returns `None` if a
    /// bracket that contains several eigenvalues becomes too narrow.
    #[inline(always)]
    fn isolate(&mut self) -> Option<()> {
        let one = V::splat(self.token, 1.0);
        let narrowest = V::splat(self.token, 8.0 * f64::EPSILON * self.system.norm);
        let mut isolated = 0;
        for _ in 0..BISECTIONS {
            if isolated == MORE {
                break;
            }
            let mut together = false;
            for v in 0..VECTORS {
                let several = one.lt(self.below_high[v] - self.below_low[v]);
                together |= one.any(several);
                let narrow = (self.high[v] - self.low[v]).lt(narrowest);
                if one.any(one.and(several, narrow)) {
                    return None;
                }
                self.x[v] = self.middle(v);
            }
            isolated += usize::from(!together);
            let below = counts::<V>(self.token, self.system, self.x);
            self.narrow(below);
        }
        for v in 0..VECTORS {
            self.x[v] = self.middle(v);
        }
        (isolated == MORE).then_some(())
    }

    /// Returns the Rayleigh quotient, moved to the nearest end of the bracket if it just misses the bracket. Returns
    /// the middle of the bracket if the quotient is far outside, or if it would repeat the last x.
    #[inline(always)]
    fn next(&self, v: usize) -> V {
        let (low, high, value) = (self.low[v], self.high[v], self.value[v]);
        let slack = V::splat(self.token, 0.25) * (high - low);
        let near = value.and((low - slack).le(value), value.le(high + slack));
        let end = -(-value.max(low)).max(-high);
        let moves = V::splat(self.token, 0.0).lt((end - self.x[v]).abs());
        V::select(value.and(near, moves), end, self.middle(v))
    }

    /// Iterates until every lane has converged; `None` if one does not.
    #[inline(always)]
    fn converge(&mut self) -> Option<()> {
        let number = |x: f64| V::splat(self.token, x);
        let (zero, one) = (number(0.0), number(1.0));
        let tolerance = number(CONVERGED * f64::EPSILON * self.system.norm);
        for _ in 0..STEPS {
            let below = self.factorize();
            let pivots = self.solve();
            self.narrow(below);
            let mut converged = true;
            for (v, pivot) in pivots.into_iter().enumerate() {
                // With the twist's pivot g, T z - x z = g e, and the Rayleigh quotient of z is x + g / |z|^2.
                let step = pivot * self.inverse_length[v];
                self.residual[v] = step.abs();
                self.value[v] = step.mul_add(self.inverse_length[v], self.x[v]);
                let small = self.residual[v].le(tolerance);
                let next = self.next(v);
                // A lane that has converged stays where it is, and further steps repeat its result.
                self.x[v] = V::select(small, self.x[v], next);
                converged &= !one.any(V::select(small, one, zero).lt(one));
            }
            if converged {
                return Some(());
            }
        }
        None
    }

    /// Factorizes `T - x I` from the top and from the bottom, and computes the pivots of all twisted factorizations.
    /// Returns the number of eigenvalues below each x.
    #[inline(always)]
    fn factorize(&mut self) -> [V; VECTORS] {
        let Self { token, system: t, x, from_top, from_bottom, twist, .. } = self;
        let number = |x: f64| V::splat(*token, x);
        let (zero, one) = (number(0.0), number(1.0));
        // A pivot whose magnitude is below this number is replaced, which changes T by much less than its rounding
        // error.
        let tiny = number(1e-3 * f64::EPSILON * t.norm);
        let guarded = |pivot: V| V::select(pivot.abs().lt(tiny), V::select(pivot.lt(zero), -tiny, tiny), pivot);
        let mut below = [zero; VECTORS];
        let mut inverse = [zero; VECTORS];
        for (i, (from_top, twist)) in from_top.iter_mut().zip(&mut *twist).enumerate() {
            let d = number(t.diagonal[i]);
            let square = number(if i > 0 { t.squares[i - 1] } else { 0.0 });
            for v in 0..VECTORS {
                let from_above = -(square * inverse[v]);
                let pivot = guarded((d - x[v]) + from_above);
                below[v] += V::select(pivot.lt(zero), one, zero);
                inverse[v] = one / pivot;
                (from_top[v], twist[v]) = (inverse[v], from_above);
            }
        }
        inverse = [zero; VECTORS];
        for (i, (from_bottom, twist)) in from_bottom.iter_mut().zip(&mut *twist).enumerate().rev() {
            let d = number(t.diagonal[i]);
            let square = number(t.squares.get(i).copied().unwrap_or(0.0));
            for v in 0..VECTORS {
                let pivot = guarded(square.neg_mul_add(inverse[v], d - x[v]));
                inverse[v] = one / pivot;
                from_bottom[v] = inverse[v];
                twist[v] += pivot;
            }
        }
        below
    }

    /// Computes the vectors from the factorization with the smallest pivot, and returns these pivots.
    #[inline(always)]
    #[expect(clippy::cast_precision_loss, reason = "an order")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index, stored as a number")]
    fn solve(&mut self) -> [V; VECTORS] {
        let Self { token, system: t, from_top, from_bottom, twist, z, inverse_length, .. } = self;
        let number = |x: f64| V::splat(*token, x);
        let (zero, one) = (number(0.0), number(1.0));
        let (mut least, mut at) = ([number(f64::INFINITY); VECTORS], [zero; VECTORS]);
        for (i, twist) in twist.iter().enumerate() {
            let row = number(i as f64);
            for v in 0..VECTORS {
                let size = twist[v].abs();
                let less = size.lt(least[v]);
                (least[v], at[v]) = (V::select(less, size, least[v]), V::select(less, row, at[v]));
            }
        }
        let pivots =
            std::array::from_fn(|v| lanes(*token, |lane| twist[at[v].as_slice()[lane] as usize][v].as_slice()[lane]));
        // z is 1 at the twist. Above it, z follows from the factorization from the top, and below from the other one.
        let mut squares = [zero; VECTORS];
        let mut last = [zero; VECTORS];
        for (i, (z, inverse)) in z.iter_mut().zip(&*from_top).enumerate().rev() {
            let row = number(i as f64);
            let off = number(-t.off_diagonal.get(i).copied().unwrap_or(0.0));
            for v in 0..VECTORS {
                let above = off * inverse[v] * last[v];
                last[v] = V::select(row.lt(at[v]), above, V::select(at[v].lt(row), zero, one));
                z[v] = last[v];
                squares[v] = last[v].mul_add(last[v], squares[v]);
            }
        }
        last = z[0];
        for (i, (z, inverse)) in z.iter_mut().zip(&*from_bottom).enumerate().skip(1) {
            let row = number(i as f64);
            let off = number(-t.off_diagonal[i - 1]);
            for v in 0..VECTORS {
                let below = off * inverse[v] * last[v];
                let is_below = at[v].lt(row);
                last[v] = V::select(is_below, below, z[v]);
                z[v] = last[v];
                squares[v] = V::select(is_below, below.mul_add(below, squares[v]), squares[v]);
            }
        }
        for v in 0..VECTORS {
            inverse_length[v] = one / squares[v].sqrt();
        }
        pivots
    }
}
