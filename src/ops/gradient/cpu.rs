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

    /// Writes the tie group of each value, which is the place of its first value; the singular values that count as 0
    /// are the group `n`. Returns the norm of the matrix.
    fn find_groups(&self, groups: &mut [usize]) -> T {
        let Self { n, values, rule, singular, .. } = *self;
        let norm = larger(magnitude(values[0]), magnitude(values[n - 1]));
        let allowed = T::from_f64(rule.tolerance) * norm;
        groups[0] = 0;
        for i in 1..n {
            groups[i] = if magnitude(values[i] - values[i - 1]) <= allowed { groups[i - 1] } else { i };
        }
        if singular {
            groups.iter_mut().zip(values).filter(|(_, value)| **value <= allowed).for_each(|(group, _)| *group = n);
        }
        norm
    }

    /// Looks at the values alone.
    fn seen(&self, norm: T, groups: &[usize]) -> Seen {
        let Self { n, values, bar, singular, rectangular, .. } = *self;
        let zero = T::from_f64(0.0);
        let infinite = T::from_f64(f64::INFINITY);
        let (mut divisor, mut poison, mut difference, mut largest) = (infinite, zero, zero, zero);
        let least = |a: T, b: T| if b < a { b } else { a };
        let cotangent = |i: usize| if bar.is_empty() { zero } else { bar[i] };
        for j in 0..n {
            let (at_zero, own) = (groups[j] == n, cotangent(j));
            poison += zero * values[j] + zero * own;
            largest = larger(largest, magnitude(own));
            if at_zero {
                difference = larger(difference, magnitude(own));
            } else if rectangular {
                divisor = least(divisor, values[j]);
            }
            if j > 0 {
                if groups[j - 1] != groups[j] {
                    divisor = least(divisor, magnitude(values[j] - values[j - 1]));
                } else if !at_zero {
                    difference = larger(difference, magnitude(own - cotangent(j - 1)));
                }
                if singular && groups[j - 1] != n {
                    divisor = least(divisor, values[j] + values[j - 1]);
                }
            }
        }
        let [norm, difference, cotangent, divisor, poison] =
            [norm, difference, largest, divisor, poison].map(|x| x.to_f64());
        Seen { norm, difference, cotangent, steep: divisor.recip(), poison, ..Seen::default() }
    }

    /// Writes G of the matrix at place `matrix` of the scratch memory, given P, and Q if there are singular vectors.
    fn divide(&self, norm: T, matrix: usize, scratch: &mut Scratch<T>, seen: &mut Seen) {
        let Self { n, values, bar, singular, rule, .. } = *self;
        let zero = T::from_f64(0.0);
        let first = matrix * n * n;
        let Scratch { p, q, g, turned, groups, lanes: [wide_values, wide_groups], .. } = scratch;
        let inner = [&p[first..], if singular { &q[first..] } else { &[] }];
        for (to, from) in turned.iter_mut().zip(inner).take(1 + usize::from(singular)) {
            transpose(n, from, to);
        }
        wide_values[..n].copy_from_slice(values);
        #[expect(clippy::cast_precision_loss, reason = "orders are far below 2^24")]
        wide_groups.iter_mut().zip(&*groups).for_each(|(to, group)| *to = T::from_f64(*group as f64));
        let width = T::from_f64(rule.width) * norm;
        let turned = [&turned[0][..], &turned[1][..]];
        let task =
            Divide { n, singular, width, inner, turned, values: wide_values, groups: wide_groups, g: &mut g[first..] };
        let [undefined, largest, poison] = T::in_lanes(task).map(|x| x.to_f64());
        for j in 0..n {
            g[first + j * n + j] = if bar.is_empty() || groups[j] == n { zero } else { bar[j] };
        }
        seen.undefined = seen.undefined.max(undefined);
        seen.largest = seen.largest.max(largest);
        seen.poison += poison;
    }

    /// Divides the vectors outside of the computed ones by the singular values: columns if `tall`, otherwise rows.
    fn divide_outer(&self, tall: bool, outer: &mut [T], groups: &[usize], seen: &mut Seen) {
        let (n, zero) = (self.n, T::from_f64(0.0));
        let len = outer.len() / n;
        let (mut undefined, mut largest) = (zero, zero);
        for (e, x) in outer.iter_mut().enumerate() {
            let j = if tall { e / len } else { e % n };
            let size = magnitude(*x);
            largest = larger(largest, size);
            let at_zero = groups[j] == n;
            if at_zero {
                undefined = larger(undefined, size);
            }
            *x = if at_zero { zero } else { *x / self.values[j] };
        }
        seen.undefined = seen.undefined.max(undefined.to_f64());
        seen.largest = seen.largest.max(largest.to_f64());
    }
}

/// The largest number of lanes, by which arrays that are read or written in vectors are longer than their elements.
const LANES: usize = 16;
/// The number of columns that are transposed together, so that what is written is adjacent.
const TURNED: usize = 8;

/// Writes the transpose of an n x n matrix.
fn transpose<T: Real>(n: usize, from: &[T], to: &mut [T]) {
    for first in (0..n).step_by(TURNED) {
        let width = TURNED.min(n - first);
        for i in 0..n {
            for (t, to) in to[i * n + first..][..width].iter_mut().enumerate() {
                *to = from[(first + t) * n + i];
            }
        }
    }
}

/// The intermediate results of the matrices that a thread processes together.
struct Scratch<T> {
    /// P, Q and G of each matrix.
    p: Vec<T>,
    q: Vec<T>,
    g: Vec<T>,
    /// Vectors times G.
    w: Vec<T>,
    /// What cotangents of singular vectors have outside of the computed ones.
    outer: Vec<T>,
    /// The transposes of P and Q of one matrix.
    turned: [Vec<T>; 2],
    /// The tie groups of one matrix.
    groups: Vec<usize>,
    /// The values of one matrix, and its tie groups, as they are read in vectors.
    lanes: [Vec<T>; 2],
}

impl<T: Real> Scratch<T> {
    /// Returns memory for `count` matrices of n values whose longer side is `longer`.
    fn new(n: usize, longer: usize, count: usize, singular: bool) -> Self {
        let zeros = |len: usize| vec![T::from_f64(0.0); len + LANES];
        let (inner, long) = (count * n * n, count * n * longer);
        let [of_q, of_outer, turned_q] = if singular { [inner, long, n * n] } else { [0; 3] };
        Self {
            p: zeros(inner),
            q: zeros(of_q),
            g: zeros(inner),
            w: zeros(long),
            outer: zeros(of_outer),
            turned: [zeros(n * n), zeros(turned_q)],
            groups: vec![0; n],
            lanes: [zeros(n), zeros(n)],
        }
    }
}

/// Divides the elements of one matrix. Lanes beyond the end of a column are ignored, or written again by the next.
struct Divide<'a, T> {
    n: usize,
    singular: bool,
    width: T,
    /// P and Q.
    inner: [&'a [T]; 2],
    turned: [&'a [T]; 2],
    values: &'a [T],
    groups: &'a [T],
    g: &'a mut [T],
}

impl<T: Real> Task<T> for Divide<'_, T> {
    /// The largest element that ought to be 0, the largest of all, and NaN if one is not finite.
    type Output = [T; 3];

    #[inline(always)]
    fn run<V: Vector<Scalar = T>>(self, token: V::Token) -> [T; 3] {
        let Self { n, singular, width, inner: [p, q], turned: [p_turned, q_turned], values, groups, g } = self;
        let splat = |x: f64| T::from_f64(x);
        let zero = V::splat(token, splat(0.0));
        let (half, one, most) = (V::splat(token, splat(0.5)), V::splat(token, splat(1.0)), splat(n as f64));
        let (wide, is_wide) = (V::splat(token, width), width > splat(0.0));
        let end = V::splat(token, most);
        let mut steps = V::splat(token, splat(0.0));
        steps.as_mut_slice().iter_mut().enumerate().for_each(|(lane, step)| *step = splat(lane as f64));
        let (mut undefined, mut largest, mut poison) = (zero, zero, zero);
        for j in 0..n {
            let (value, group) = (V::splat(token, values[j]), V::splat(token, groups[j]));
            let at_zero = groups[j] == most;
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
                let other = V::load(token, &values[i..]);
                let tied = (V::load(token, &groups[i..]) - group).abs().lt(half);
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

/// Writes the gradients `V G V'` of eigenpairs, and returns their certificates. The vectors are V and its cotangent,
/// which is empty if it is 0.
pub(super) fn eigh<T: Real>(values: &Values<'_, T>, [v, v_bar]: [&[T]; 2], out: &mut [T]) -> Vec<GradientCertificate> {
    let n = values.n;
    in_chunks(n, n, false, n * n, out, |scratch, matrices, out, certificates| {
        let own = matrices.start * n * n..matrices.end * n * n;
        let (v, len) = (&v[own.clone()], out.len());
        if !v_bar.is_empty() {
            on_slices((n, n, n), [true, false], [v, &v_bar[own]], &mut scratch.p[..len]);
        }
        for ((i, matrix), certificate) in matrices.enumerate().zip(certificates) {
            let values = values.of(matrix);
            let norm = values.find_groups(&mut scratch.groups);
            let mut seen = values.seen(norm, &scratch.groups);
            if v_bar.is_empty() {
                // G is diagonal.
                let own = i * n * n..(i + 1) * n * n;
                let columns = scratch.w[own.clone()].chunks_exact_mut(n).zip(v[own].chunks_exact(n));
                columns.zip(values.bar).for_each(|((to, from), by)| {
                    to.iter_mut().zip(from).for_each(|(to, x)| *to = *x * *by);
                });
            } else {
                values.divide(norm, i, scratch, &mut seen);
            }
            *certificate = seen.judged::<T>();
        }
        let Scratch { g, w, .. } = scratch;
        if !v_bar.is_empty() {
            on_slices((n, n, n), [false, false], [v, &g[..len]], &mut w[..len]);
        }
        on_slices((n, n, n), [false, true], [&w[..len], v], out);
    })
}

/// Writes the gradients of singular value decompositions of matrices `(rows, cols)`, and returns their certificates.
/// The vectors are U and V', each with its cotangent, which is empty if it is 0.
pub(super) fn svd<T: Real>(
    values: &Values<'_, T>,
    (rows, cols): (usize, usize),
    [u, u_bar]: [&[T]; 2],
    [vh, vh_bar]: [&[T]; 2],
    out: &mut [T],
) -> Vec<GradientCertificate> {
    let n = values.n;
    // The part of a cotangent outside of the computed vectors counts on the longer side.
    let (tall, longer) = (rows >= cols, rows.max(cols));
    let long_bar = if tall { u_bar } else { vh_bar };
    let has_outer = values.rectangular && !long_bar.is_empty();
    in_chunks(n, longer, true, rows * cols, out, |scratch, matrices, out, certificates| {
        let part = |all: &[T], len: usize| {
            if all.is_empty() { 0..0 } else { matrices.start * n * len..matrices.end * n * len }
        };
        let (own_u, own_vh) = (&u[part(u, rows)], &vh[part(vh, cols)]);
        let (inner, long) = (..matrices.len() * n * n, ..matrices.len() * n * longer);
        if !u_bar.is_empty() {
            let factors = [own_u, &u_bar[part(u_bar, rows)]];
            on_slices((n, n, rows), [true, false], factors, &mut scratch.p[inner]);
        }
        if !vh_bar.is_empty() {
            let factors = [own_vh, &vh_bar[part(vh_bar, cols)]];
            on_slices((n, n, cols), [false, true], factors, &mut scratch.q[inner]);
        }
        if has_outer {
            let Scratch { p, q, w, outer, .. } = &mut *scratch;
            let (sizes, transposed, factors) = if tall {
                ((rows, n, n), [false, false], [own_u, &p[inner]])
            } else {
                ((n, cols, n), [true, false], [&q[inner], own_vh])
            };
            on_slices(sizes, transposed, factors, &mut w[long]);
            let given = &long_bar[part(long_bar, longer)];
            outer.iter_mut().zip(given).zip(&*w).for_each(|((x, given), inner)| *x = *given - *inner);
        }
        for ((i, matrix), certificate) in matrices.clone().enumerate().zip(certificates) {
            let values = values.of(matrix);
            let norm = values.find_groups(&mut scratch.groups);
            let mut seen = values.seen(norm, &scratch.groups);
            if has_outer {
                let own = &mut scratch.outer[i * n * longer..(i + 1) * n * longer];
                values.divide_outer(tall, own, &scratch.groups, &mut seen);
            }
            values.divide(norm, i, scratch, &mut seen);
            *certificate = seen.judged::<T>();
        }
        let Scratch { g, w, outer, .. } = scratch;
        let (sizes, factors) =
            if tall { ((rows, n, n), [own_u, &g[inner]]) } else { ((n, cols, n), [&g[inner], own_vh]) };
        on_slices(sizes, [false, false], factors, &mut w[long]);
        if has_outer {
            w[long].iter_mut().zip(&*outer).for_each(|(x, outer)| *x += *outer);
        }
        let factors = if tall { [&w[long], own_vh] } else { [own_u, &w[long]] };
        on_slices((rows, cols, n), [false, false], factors, out);
    })
}

/// Calls `work` for a few matrices at a time, in parallel, with their parts of `out` and of the certificates, which are
/// returned. The matrices have n values, the longer side `longer`, and gradients of `size` elements.
fn in_chunks<T: Real>(
    n: usize,
    longer: usize,
    singular: bool,
    size: usize,
    out: &mut [T],
    work: impl Fn(&mut Scratch<T>, std::ops::Range<usize>, &mut [T], &mut [GradientCertificate]) + Sync,
) -> Vec<GradientCertificate> {
    if out.is_empty() {
        return Vec::new();
    }
    let count = out.len() / size;
    let together = (TOGETHER / (n * longer)).clamp(1, count);
    let mut certificates = vec![GradientCertificate::default(); count];
    let chunks = out.chunks_mut(together * size).zip(certificates.chunks_mut(together));
    let memory = || Scratch::new(n, longer, together, singular);
    parallel::for_each_with(chunks, memory, |scratch, i, (out, certificates)| {
        let first = i * together;
        work(scratch, first..first + certificates.len(), out, certificates);
    });
    certificates
}
