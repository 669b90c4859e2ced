//! Gradients on the CPU: a few matrices at a time, whose intermediate results stay in the cache.

use super::{GradientCertificate, Rule, Seen};
use crate::array::Real;
use crate::lanes::{Task, Vector};
use crate::ops::matmul::on_slices;
use crate::parallel;

/// The number of elements of an intermediate result of the matrices that a thread processes together.
const TOGETHER: usize = 8192;

/// Eigenvalues or singular values of a batch, `n` of each matrix, with their cotangents.
#[derive(Clone, Copy, Debug)]
pub(super) struct Values<'a, T> {
    pub(super) n: usize,
    pub(super) singular: bool,
    pub(super) rectangular: bool,
    pub(super) values: &'a [T],
    /// The cotangents; empty if they are 0.
    pub(super) bar: &'a [T],
    pub(super) rule: Rule,
}

impl<'a, T: Real> Values<'a, T> {
    /// Returns the values of one matrix.
    fn of(&self, matrix: usize) -> Self {
        let own = matrix * self.n..(matrix + 1) * self.n;
        let bar = if self.bar.is_empty() { self.bar } else { &self.bar[own.clone()] };
        Self { values: &self.values[own], bar, ..*self }
    }

    /// Returns the norm of the matrix, and the tie group of each value: the place of its first value. The singular
    /// values that count as 0 are the group `n`.
    fn groups(&self) -> (T, Vec<usize>) {
        let Self { n, values, rule, singular, .. } = *self;
        let norm = larger(magnitude(values[0]), magnitude(values[n - 1]));
        let allowed = T::from_f64(rule.tolerance) * norm;
        let mut groups = vec![0; n];
        for i in 1..n {
            groups[i] = if magnitude(values[i] - values[i - 1]) <= allowed { groups[i - 1] } else { i };
        }
        if singular {
            groups.iter_mut().zip(values).filter(|(_, value)| **value <= allowed).for_each(|(group, _)| *group = n);
        }
        (norm, groups)
    }

    /// Looks at the values alone.
    fn seen(&self, norm: T, groups: &[usize]) -> Seen {
        let Self { n, values, bar, singular, rectangular, .. } = *self;
        let (zero, one) = (T::from_f64(0.0), T::from_f64(1.0));
        let mut seen = Seen { norm: norm.to_f64(), ..Seen::default() };
        let (mut steep, mut poison) = (zero, zero);
        let cotangent = |i: usize| if bar.is_empty() { zero } else { bar[i] };
        for j in 0..n {
            let at_zero = groups[j] == n;
            poison += zero * values[j] + zero * cotangent(j);
            let mut difference = if at_zero { magnitude(cotangent(j)) } else { zero };
            if j > 0 {
                if groups[j - 1] != groups[j] {
                    steep = larger(steep, magnitude(one / (values[j] - values[j - 1])));
                } else if !at_zero {
                    difference = magnitude(cotangent(j) - cotangent(j - 1));
                }
                if singular && groups[j - 1] != n {
                    steep = larger(steep, one / (values[j] + values[j - 1]));
                }
            }
            if rectangular && !at_zero {
                steep = larger(steep, one / values[j]);
            }
            seen.difference = seen.difference.max(difference.to_f64());
            seen.cotangent = seen.cotangent.max(magnitude(cotangent(j)).to_f64());
        }
        Seen { steep: steep.to_f64(), poison: poison.to_f64(), ..seen }
    }

    /// Writes G, given P, and Q if there are singular vectors.
    fn divide(
        &self,
        norm: T,
        groups: &[usize],
        inner: [&[T]; 2],
        g: &mut [T],
        scratch: &mut Scratch<T>,
        seen: &mut Seen,
    ) {
        let Self { n, values, bar, singular, rule, .. } = *self;
        let zero = T::from_f64(0.0);
        for (to, from) in scratch.turned.iter_mut().zip(inner) {
            for (j, column) in from.chunks_exact(n.max(1)).take(n).enumerate() {
                to[j..].iter_mut().step_by(n).zip(column).for_each(|(to, x)| *to = *x);
            }
        }
        scratch.values[..n].copy_from_slice(values);
        #[expect(clippy::cast_precision_loss, reason = "orders are far below 2^24")]
        scratch.groups.iter_mut().zip(groups).for_each(|(to, group)| *to = T::from_f64(*group as f64));
        let width = T::from_f64(rule.width) * norm;
        let [undefined, largest, poison] = T::in_lanes(Divide { n, singular, width, inner, g, scratch });
        for j in 0..n {
            g[j * n + j] = if bar.is_empty() || groups[j] == n { zero } else { bar[j] };
        }
        seen.undefined = seen.undefined.max(undefined.to_f64());
        seen.largest = seen.largest.max(largest.to_f64());
        seen.poison += poison.to_f64();
    }
}

/// The largest number of lanes, by which arrays that are read or written in vectors are longer than their elements.
const LANES: usize = 16;

/// Copies that are read in vectors.
struct Scratch<T> {
    /// The transposes of P and Q.
    turned: [Vec<T>; 2],
    values: Vec<T>,
    groups: Vec<T>,
}

impl<T: Real> Scratch<T> {
    fn new(n: usize) -> Self {
        let zeros = |len: usize| vec![T::from_f64(0.0); len + LANES];
        Self { turned: [zeros(n * n), zeros(n * n)], values: zeros(n), groups: zeros(n) }
    }
}

/// Divides the elements of one matrix. Lanes beyond the end of a column are ignored, or written again by the next.
struct Divide<'a, T> {
    n: usize,
    singular: bool,
    width: T,
    inner: [&'a [T]; 2],
    g: &'a mut [T],
    scratch: &'a Scratch<T>,
}

impl<T: Real> Task<T> for Divide<'_, T> {
    /// The largest element that ought to be 0, the largest of all, and NaN if one is not finite.
    type Output = [T; 3];

    #[inline(always)]
    fn run<V: Vector<Scalar = T>>(self, token: V::Token) -> [T; 3] {
        let Self { n, singular, width, inner: [p, q], g, scratch } = self;
        let [p_turned, q_turned] = &scratch.turned;
        let splat = |x: f64| T::from_f64(x);
        let zero = V::splat(token, splat(0.0));
        let (half, one, most) = (V::splat(token, splat(0.5)), V::splat(token, splat(1.0)), splat(n as f64));
        let (wide, is_wide) = (V::splat(token, width), width > splat(0.0));
        let end = V::splat(token, most);
        let mut steps = V::splat(token, splat(0.0));
        steps.as_mut_slice().iter_mut().enumerate().for_each(|(lane, step)| *step = splat(lane as f64));
        let (mut undefined, mut largest, mut poison) = (zero, zero, zero);
        for j in 0..n {
            let (value, group) = (V::splat(token, scratch.values[j]), V::splat(token, scratch.groups[j]));
            let at_zero = scratch.groups[j] == most;
            for i in (0..n).step_by(V::LANES) {
                let at = j * n + i;
                let here = V::splat(token, splat(i as f64)) + steps;
                let valid = here.lt(end);
                let x = V::load(token, &p[at..]);
                let a = half * (x - V::load(token, &p_turned[at..]));
                largest = largest.max(V::select(valid, x.abs(), zero));
                poison += V::select(valid, zero * x, zero);
                let (mut sum, mut difference) = (a, a);
                if singular {
                    let x = V::load(token, &q[at..]);
                    let b = half * (x - V::load(token, &q_turned[at..]));
                    largest = largest.max(V::select(valid, x.abs(), zero));
                    poison += V::select(valid, zero * x, zero);
                    sum = a + b;
                    difference = a - b;
                }
                let other = V::load(token, &scratch.values[i..]);
                let tied = (V::load(token, &scratch.groups[i..]) - group).abs().lt(half);
                let gap = V::select(tied, one, value - other);
                let quotient = if is_wide {
                    let ratio = gap / wide;
                    sum * ratio / (ratio.mul_add(ratio, one) * wide)
                } else {
                    sum / gap
                };
                let mut element = V::select(tied, zero, quotient);
                undefined = undefined.max(V::select(end.and(tied, valid), sum.abs(), zero));
                if at_zero {
                    undefined = undefined.max(V::select(end.and(tied, valid), difference.abs(), zero));
                }
                if singular {
                    let total = value + other;
                    let second = difference / if at_zero { V::select(tied, one, total) } else { total };
                    element += if at_zero { V::select(tied, zero, second) } else { second };
                }
                element.store(&mut g[at..]);
            }
        }
        let most_of = |x: V| x.as_slice().iter().fold(splat(0.0), |most, x| larger(most, *x));
        [most_of(undefined), most_of(largest), poison.sum()]
    }
}

/// Returns the larger of two numbers that are not NaN.
#[inline(always)]
fn larger<T: Real>(a: T, b: T) -> T {
    if a < b { b } else { a }
}

#[inline(always)]
fn magnitude<T: Real>(x: T) -> T {
    if x < T::from_f64(0.0) { -x } else { x }
}

/// Returns the gradients `V G V'` of eigenpairs, and their certificates. `vectors` are V and its cotangent, which is
/// empty if it is 0.
pub(super) fn eigh<T: Real>(values: &Values<'_, T>, [v, v_bar]: [&[T]; 2], out: &mut [T]) -> Vec<GradientCertificate> {
    let (n, zero) = (values.n, T::from_f64(0.0));
    in_chunks::<T>(n * n, n * n, out, |matrices, out| {
        let own = matrices.start * n * n..matrices.end * n * n;
        let (v, len) = (&v[own.clone()], out.len());
        let mut w = vec![zero; len];
        let padded = if v_bar.is_empty() { 0 } else { len + LANES };
        let (mut p, mut g) = (vec![zero; padded], vec![zero; padded]);
        let mut scratch = Scratch::new(n);
        if !v_bar.is_empty() {
            on_slices((n, n, n), [true, false], [v, &v_bar[own]], &mut p[..len]);
        }
        let mut certificates = Vec::with_capacity(matrices.len());
        for (i, matrix) in matrices.enumerate() {
            let (values, at) = (values.of(matrix), i * n * n..(i + 1) * n * n);
            let (norm, groups) = values.groups();
            let mut seen = values.seen(norm, &groups);
            if v_bar.is_empty() {
                // G is diagonal.
                let columns = w[at.clone()].chunks_exact_mut(n).zip(v[at].chunks_exact(n));
                columns.zip(values.bar).for_each(|((to, from), by)| {
                    to.iter_mut().zip(from).for_each(|(to, x)| *to = *x * *by);
                });
            } else {
                values.divide(norm, &groups, [&p[at.start..], &[]], &mut g[at.start..], &mut scratch, &mut seen);
            }
            certificates.push(seen.judged::<T>());
        }
        if !v_bar.is_empty() {
            on_slices((n, n, n), [false, false], [v, &g[..len]], &mut w);
        }
        on_slices((n, n, n), [false, true], [&w, v], out);
        certificates
    })
}

/// Returns the gradients of singular value decompositions of matrices `(rows, cols)`, and their certificates. The
/// vectors are U and V', each with its cotangent, which is empty if it is 0.
pub(super) fn svd<T: Real>(
    values: &Values<'_, T>,
    (rows, cols): (usize, usize),
    [u, u_bar]: [&[T]; 2],
    [vh, vh_bar]: [&[T]; 2],
    out: &mut [T],
) -> Vec<GradientCertificate> {
    let n = values.n;
    let zero = T::from_f64(0.0);
    // The part of a cotangent outside of the computed vectors counts on the longer side.
    let (tall, longer) = (rows >= cols, rows.max(cols));
    let long_bar = if tall { u_bar } else { vh_bar };
    in_chunks::<T>(n * longer, rows * cols, out, |matrices, out| {
        let part = |all: &'_ [T], len: usize| -> std::ops::Range<usize> {
            if all.is_empty() { 0..0 } else { matrices.start * n * len..matrices.end * n * len }
        };
        let (own_u, own_vh) = (&u[part(u, rows)], &vh[part(vh, cols)]);
        // Without the padding.
        let whole = ..matrices.len() * n * n;
        let product = |a: &[T], b: &[T], len: usize, transposed: [bool; 2]| {
            let mut made = vec![zero; whole.end + LANES];
            if !a.is_empty() && !b.is_empty() {
                on_slices((n, n, len), transposed, [a, b], &mut made[whole]);
            }
            made
        };
        let p = product(own_u, &u_bar[part(u_bar, rows)], rows, [true, false]);
        let q = product(own_vh, &vh_bar[part(vh_bar, cols)], cols, [false, true]);
        let (mut g, mut scratch) = (vec![zero; p.len()], Scratch::new(n));
        let mut w = vec![zero; matrices.len() * n * longer];
        let mut outer = long_bar[part(long_bar, longer)].to_vec();
        if !outer.is_empty() && values.rectangular {
            let (sizes, transposed, factors) = if tall {
                ((rows, n, n), [false, false], [own_u, &p[whole]])
            } else {
                ((n, cols, n), [true, false], [&q[whole], own_vh])
            };
            on_slices(sizes, transposed, factors, &mut w);
            outer.iter_mut().zip(&w).for_each(|(x, inner)| *x -= *inner);
        } else {
            outer.clear();
        }
        let mut certificates = Vec::with_capacity(matrices.len());
        for (i, matrix) in matrices.clone().enumerate() {
            let (values, at) = (values.of(matrix), i * n * n);
            let (norm, groups) = values.groups();
            let mut seen = values.seen(norm, &groups);
            if !outer.is_empty() {
                let own = &mut outer[i * n * longer..(i + 1) * n * longer];
                for (e, x) in own.iter_mut().enumerate() {
                    let j = if tall { e / longer } else { e % n };
                    let size = magnitude(*x).to_f64();
                    let at_zero = groups[j] == n;
                    seen.largest = seen.largest.max(size);
                    seen.undefined = if at_zero { seen.undefined.max(size) } else { seen.undefined };
                    *x = if at_zero { zero } else { *x / values.values[j] };
                }
            }
            let (inner, g) = ([&p[at..], &q[at..]], &mut g[at..]);
            values.divide(norm, &groups, inner, g, &mut scratch, &mut seen);
            certificates.push(seen.judged::<T>());
        }
        if tall {
            on_slices((rows, n, n), [false, false], [own_u, &g[whole]], &mut w);
        } else {
            on_slices((n, cols, n), [false, false], [&g[whole], own_vh], &mut w);
        }
        w.iter_mut().zip(&outer).for_each(|(x, outer)| *x += *outer);
        let factors = if tall { [&w[..], own_vh] } else { [own_u, &w] };
        on_slices((rows, cols, n), [false, false], factors, out);
        certificates
    })
}

/// Calls `work` for a few matrices at a time, in parallel, with their part of `out`, and returns what it returns of
/// all matrices. An intermediate result of a matrix has `each` elements, and a gradient `size`.
fn in_chunks<T: Real>(
    each: usize,
    size: usize,
    out: &mut [T],
    work: impl Fn(std::ops::Range<usize>, &mut [T]) -> Vec<GradientCertificate> + Sync,
) -> Vec<GradientCertificate> {
    if out.is_empty() {
        return Vec::new();
    }
    let together = (TOGETHER / each.max(1)).max(1);
    let made = parallel::map(out.chunks_mut(together * size), |i, out| {
        let first = i * together;
        work(first..first + out.len() / size, out)
    });
    made.into_iter().flatten().collect()
}
