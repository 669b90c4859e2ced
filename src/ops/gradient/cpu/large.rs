//! Quotients of matrices whose columns fill vectors.

use super::super::GradientCertificate;
use super::values::{Lanes, Quotients, Values};
use crate::array::Real;
use crate::lanes::{Task, Vector};

/// The largest number of lanes, by which arrays that are read or written in vectors are longer than their elements.
const LANES: usize = 16;
/// The number of columns that are transposed together, so that what is written is adjacent.
const TURNED: usize = 8;

/// The intermediate results of the matrices that a thread processes together.
pub(super) struct Scratch<T> {
    /// P, Q and G of each matrix.
    pub(super) p: Vec<T>,
    pub(super) q: Vec<T>,
    pub(super) g: Vec<T>,
    /// Vectors times G.
    pub(super) w: Vec<T>,
    /// What cotangents of singular vectors have outside of the computed ones.
    pub(super) outer: Vec<T>,
    /// The transposes of P and Q of one matrix.
    turned: [Vec<T>; 2],
    /// The values of one matrix and their tie groups.
    lines: [Vec<T>; 2],
}

impl<T: Real> Scratch<T> {
    /// Returns memory for `count` matrices of n values whose longer side is `longer`.
    pub(super) fn new(n: usize, longer: usize, count: usize, singular: bool) -> Self {
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
            lines: [zeros(n), zeros(n)],
        }
    }
}

/// Divides P, Q and what is outside of the computed vectors of each matrix of a batch.
pub(super) struct Divide<'a, T> {
    pub(super) values: &'a Values<'a, T>,
    pub(super) scratch: &'a mut Scratch<T>,
    /// Whether there are cotangents of vectors. If not, G is diagonal and not written.
    pub(super) vectors: bool,
    /// The number of elements of a matrix that are outside, and whether they are columns or rows.
    pub(super) outer: Option<(usize, bool)>,
    pub(super) certificates: &'a mut [GradientCertificate],
}

impl<T: Real> Task<T> for Divide<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Scalar = T>>(self, token: V::Token) {
        let Self { values, scratch, vectors, outer, certificates } = self;
        let n = values.n;
        let mut lanes = Lanes::<V>::new(token, n);
        for first in (0..values.count()).step_by(V::LANES) {
            let matrices = first..values.count().min(first + V::LANES);
            lanes.load(token, &values.of(matrices.clone()));
            for (lane, matrix) in matrices.clone().enumerate() {
                if let Some((len, tall)) = outer {
                    let own = &mut scratch.outer[matrix * len..(matrix + 1) * len];
                    divide_outer(&mut lanes, lane, tall, own);
                }
                if vectors {
                    divide(token, &mut lanes, lane, (values.singular, matrix), scratch);
                }
            }
            for (lane, certificate) in certificates[matrices].iter_mut().enumerate() {
                *certificate = lanes.judged(lane);
            }
        }
    }
}

/// Notes magnitudes of the matrix in a lane, and a number that is NaN if one of them is.
fn note<V: Vector<Scalar: Real>>(lanes: &mut Lanes<V>, lane: usize, [undefined, largest, poison]: [f64; 3]) {
    let add = |to: &mut V, of: &dyn Fn(f64) -> f64| {
        let to = &mut to.as_mut_slice()[lane];
        *to = V::Scalar::from_f64(of(to.to_f64()));
    };
    add(&mut lanes.undefined, &|x| x.max(undefined));
    add(&mut lanes.largest, &|x| x.max(largest));
    add(&mut lanes.poison, &|x| x + poison);
}

/// Writes G of one matrix, given P, and Q if there are singular vectors. Lanes beyond the end of a column are ignored,
/// or written again by the next.
#[inline(always)]
fn divide<V: Vector<Scalar: Real>>(
    token: V::Token,
    lanes: &mut Lanes<V>,
    lane: usize,
    (singular, matrix): (bool, usize),
    scratch: &mut Scratch<V::Scalar>,
) {
    let n = lanes.n;
    let number = |x: f64| V::splat(token, V::Scalar::from_f64(x));
    #[expect(clippy::cast_precision_loss, reason = "orders are far below 2^24")]
    let index = |i: usize| number(i as f64);
    let (zero, half, end) = (number(0.0), number(0.5), index(n));
    let begin = matrix * n * n;
    let Scratch { p, q, g, turned, lines: [values, groups], .. } = scratch;
    let inner = [&p[begin..], if singular { &q[begin..] } else { &[] }];
    for (to, from) in turned.iter_mut().zip(inner).take(1 + usize::from(singular)) {
        transpose(n, from, to);
    }
    for j in 0..n {
        values[j] = lanes.values[j].as_slice()[lane];
        groups[j] = lanes.groups[j].as_slice()[lane];
    }
    let by = Quotients::new(token, n, singular, lanes.width(lane).map(|width| V::splat(token, width)));
    let mut steps = zero;
    for (lane, step) in steps.as_mut_slice().iter_mut().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "a lane's number")]
        let own = V::Scalar::from_f64(lane as f64);
        *step = own;
    }
    let (mut undefined, mut largest, mut poison) = (zero, zero, zero);
    for j in 0..n {
        let (value, group) = (V::splat(token, values[j]), V::splat(token, groups[j]));
        for i in (0..n).step_by(V::LANES) {
            let at = j * n + i;
            let valid = (index(i) + steps).lt(end);
            let mut skew = [zero; 2];
            for (part, skew) in skew.iter_mut().enumerate().take(1 + usize::from(singular)) {
                let x = V::load(token, &inner[part][at..]);
                *skew = half * (x - V::load(token, &turned[part][at..]));
                largest = largest.max(V::select(valid, x.abs(), zero));
                poison += V::select(valid, zero * x, zero);
            }
            let (other, other_group) = (V::load(token, &values[i..]), V::load(token, &groups[i..]));
            let [first, second, bad] = by.of(skew, [value, other], [group, other_group]);
            undefined = undefined.max(V::select(valid, bad, zero));
            (first + second).store(&mut g[begin + at..]);
        }
    }
    for j in 0..n {
        g[begin + j * n + j] = lanes.diagonal(j).as_slice()[lane];
    }
    let most = |x: V| x.as_slice().iter().fold(0.0, |most: f64, x| most.max(x.to_f64()));
    note(lanes, lane, [most(undefined), most(largest), poison.sum().to_f64()]);
}

/// Divides the vectors outside of the computed ones by the singular values: columns if `tall`, otherwise rows.
fn divide_outer<V: Vector<Scalar: Real>>(lanes: &mut Lanes<V>, lane: usize, tall: bool, outer: &mut [V::Scalar]) {
    let n = lanes.n;
    let len = outer.len() / n;
    let (mut undefined, mut largest, mut poison) = (0.0, 0.0, 0.0);
    for (e, x) in outer.iter_mut().enumerate() {
        let j = if tall { e / len } else { e % n };
        let (own, value) = (x.to_f64(), lanes.values[j].as_slice()[lane]);
        largest = f64::max(largest, own.abs());
        poison += 0.0 * own;
        #[expect(clippy::cast_precision_loss, reason = "orders are far below 2^24")]
        let at_zero = lanes.groups[j].as_slice()[lane].to_f64() > n as f64 - 0.5;
        if at_zero {
            undefined = f64::max(undefined, own.abs());
        }
        *x = if at_zero { V::Scalar::from_f64(0.0) } else { V::Scalar::from_f64(own / value.to_f64()) };
    }
    note(lanes, lane, [undefined, largest, poison]);
}

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
