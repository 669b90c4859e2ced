//! Computes products of sparse matrices with blocks of vectors on the CPU. The blocks are row-major, so that each entry
//! of a matrix multiplies contiguous values.

use super::operator::Operator;
use crate::array::Real;
use crate::lanes::{Task, Vector};
use crate::parallel;
use std::ops::Range;

/// The least work of a chunk of rows. A thread takes one chunk at a time. Work is measured as the number of entries
/// plus eight for each row. If the block of vectors has 16 columns, a chunk takes about 20 us.
const CHUNK: usize = 16 * 1024;
/// The numbers of columns of a block for which there is a kernel.
pub(in crate::ops) const WIDTHS: [usize; 6] = [1, 2, 4, 8, 16, 32];

/// The factors of the update `Y <- product A X + own X + before Y`, where A is an operator, and X and Y are blocks of
/// vectors. If `before` is 0, the old content of Y does not matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::ops) struct Combination {
    pub(in crate::ops) product: f64,
    pub(in crate::ops) own: f64,
    pub(in crate::ops) before: f64,
}

impl Combination {
    /// `Y <- A X`.
    pub(in crate::ops) const PRODUCT: Self = Self { product: 1.0, own: 0.0, before: 0.0 };
}

/// An operator of one problem, cut into chunks of rows with about equal work.
#[derive(Debug)]
pub(in crate::ops) struct Rows<'a, T: Real> {
    operator: &'a Operator<'a, T>,
    chunks: Vec<Range<usize>>,
}

impl<'a, T: Real> Rows<'a, T> {
    pub(in crate::ops) fn new(operator: &'a Operator<'a, T>) -> Self {
        let mut chunks = Vec::new();
        let (mut begin, mut work) = (0, 0);
        for row in 0..operator.rows() {
            work += operator.entries_of(row).len() + 8;
            if work >= CHUNK {
                chunks.push(begin..row + 1);
                (begin, work) = (row + 1, 0);
            }
        }
        if begin < operator.rows() {
            chunks.push(begin..operator.rows());
        }
        Self { operator, chunks }
    }

    /// Calls `work` for every chunk of rows, with the corresponding rows of the block, on all threads.
    fn each(&self, block: &mut [T], width: usize, work: impl Fn(Range<usize>, &mut [T]) + Sync) {
        let mut parts = Vec::with_capacity(self.chunks.len());
        let mut rest = block;
        for chunk in &self.chunks {
            let (own, others) = rest.split_at_mut(chunk.len() * width);
            parts.push((chunk.clone(), own));
            rest = others;
        }
        parallel::for_each(parts, |_, (chunk, rows)| work(chunk, rows));
    }

    /// Applies the combination to row-major blocks of `width` columns.
    ///
    /// # Panics
    /// If `width` is not one of [`WIDTHS`].
    pub(in crate::ops) fn combine(&self, width: usize, x: &[T], y: &mut [T], combination: Combination) {
        T::in_lanes(Combine { rows: self, width, x, y, combination });
    }
}

/// Evaluates `$call` with two closures: the first returns the weight of an entry, and the second returns the scale of a
/// node. If all weights, or all scales, are 1, the corresponding closure returns 1 without loading anything.
macro_rules! with_entries {
    ($operator:ident, |$weight:ident, $scale:ident| $call:expr) => {{
        let one = T::from_f64(1.0);
        match (&$operator.weights, &$operator.scale) {
            (None, None) => {
                let ($weight, $scale) = (|_| one, |_| one);
                $call
            }
            (None, Some(s)) => {
                let ($weight, $scale) = (|_| one, |j: usize| s[j]);
                $call
            }
            (Some(w), None) => {
                let ($weight, $scale) = (|e: usize| w[e], |_| one);
                $call
            }
            (Some(w), Some(s)) => {
                let ($weight, $scale) = (|e: usize| w[e], |j: usize| s[j]);
                $call
            }
        }
    }};
}

struct Combine<'a, T: Real> {
    rows: &'a Rows<'a, T>,
    width: usize,
    x: &'a [T],
    y: &'a mut [T],
    combination: Combination,
}

impl<T: Real> Task<T> for Combine<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Scalar = T>>(self, token: V::Token) {
        let vectors = self.width / V::LANES;
        match (vectors, self.width) {
            // A row of the block consists of 1, 2, 4 or 8 whole vectors, which fit in registers.
            (1, _) if self.width.is_multiple_of(V::LANES) => self.in_vectors::<V, 1>(token),
            (2, _) => self.in_vectors::<V, 2>(token),
            (4, _) => self.in_vectors::<V, 4>(token),
            (8, _) => self.in_vectors::<V, 8>(token),
            (_, 1) => self.in_numbers::<V, 1>(token),
            (_, 2) => self.in_numbers::<V, 2>(token),
            (_, 4) => self.in_numbers::<V, 4>(token),
            (_, 8) => self.in_numbers::<V, 8>(token),
            (_, 16) => self.in_numbers::<V, 16>(token),
            (_, 32) => self.in_numbers::<V, 32>(token),
            (_, other) => unreachable!("no kernel for blocks of {other} columns"),
        }
    }
}

impl<T: Real> Combine<'_, T> {
    #[inline(always)]
    fn in_vectors<V: Vector<Scalar = T>, const N: usize>(self, token: V::Token) {
        let Self { rows, width, x, combination, .. } = self;
        let operator = rows.operator;
        rows.each(self.y, width, |chunk, y| {
            V::with_instructions(
                token,
                #[inline(always)]
                || {
                    with_entries!(operator, |weight, scale| vectors_of::<T, V, N>(
                        token,
                        operator,
                        chunk.clone(),
                        x,
                        y,
                        combination,
                        weight,
                        scale
                    ))
                },
            );
        });
    }

    #[inline(always)]
    fn in_numbers<V: Vector<Scalar = T>, const W: usize>(self, token: V::Token) {
        let Self { rows, width, x, combination, .. } = self;
        let operator = rows.operator;
        rows.each(self.y, width, |chunk, y| {
            V::with_instructions(
                token,
                #[inline(always)]
                || {
                    with_entries!(operator, |weight, scale| numbers_of::<T, W>(
                        operator,
                        chunk.clone(),
                        x,
                        y,
                        combination,
                        weight,
                        scale
                    ))
                },
            );
        });
    }
}

/// Computes the rows of one chunk. Each row of the blocks consists of N SIMD vectors.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "all that a row needs, and nothing is kept")]
fn vectors_of<T: Real, V: Vector<Scalar = T>, const N: usize>(
    token: V::Token,
    operator: &Operator<'_, T>,
    chunk: Range<usize>,
    x: &[T],
    y: &mut [T],
    combination: Combination,
    weight: impl Fn(usize) -> T,
    scale: impl Fn(usize) -> T,
) {
    let width = N * V::LANES;
    let load = |from: &[T], i: usize| V::load(token, &from[i * V::LANES..]);
    let factors = Factors::new(operator, combination);
    for (row, out) in chunk.zip(y.chunks_exact_mut(width)) {
        let mut sum = [V::splat(token, T::from_f64(0.0)); N];
        let entries = operator.entries_of(row);
        let first = entries.start;
        for (place, &column) in operator.columns[entries].iter().enumerate() {
            let column = column as usize;
            let factor = V::splat(token, weight(first + place) * scale(column));
            let from = &x[column * width..][..width];
            for (i, sum) in sum.iter_mut().enumerate() {
                *sum = load(from, i).mul_add(factor, *sum);
            }
        }
        let [own, others, before] =
            [factors.own(operator, row), factors.coupling * scale(row), factors.before].map(|x| V::splat(token, x));
        let here = &x[row * width..][..width];
        for (i, &sum) in sum.iter().enumerate() {
            let new = sum.mul_add(others, own * load(here, i));
            // If `before` is 0, the old value may be anything, even NaN.
            let new = if combination.before == 0.0 { new } else { load(out, i).mul_add(before, new) };
            new.store(&mut out[i * V::LANES..]);
        }
    }
}

/// Computes the rows of one chunk. Each row of the blocks has W elements.
#[inline(always)]
fn numbers_of<T: Real, const W: usize>(
    operator: &Operator<'_, T>,
    chunk: Range<usize>,
    x: &[T],
    y: &mut [T],
    combination: Combination,
    weight: impl Fn(usize) -> T,
    scale: impl Fn(usize) -> T,
) {
    let (x, y) = (x.as_chunks::<W>().0, y.as_chunks_mut::<W>().0);
    let factors = Factors::new(operator, combination);
    for (row, out) in chunk.zip(y) {
        let mut sum = [T::from_f64(0.0); W];
        let entries = operator.entries_of(row);
        let first = entries.start;
        for (place, &column) in operator.columns[entries].iter().enumerate() {
            let factor = weight(first + place) * scale(column as usize);
            let from = &x[column as usize];
            for j in 0..W {
                sum[j] = from[j].fused(factor, sum[j]);
            }
        }
        let (own, others) = (factors.own(operator, row), factors.coupling * scale(row));
        for j in 0..W {
            let new = sum[j].fused(others, own * x[row][j]);
            out[j] = if combination.before == 0.0 { new } else { factors.before.fused(out[j], new) };
        }
    }
}

/// The factors of a [`Combination`] in the precision of the operator. `coupling` is `product` times the operator's
/// coupling.
struct Factors<T> {
    product: T,
    own: T,
    before: T,
    coupling: T,
}

impl<T: Real> Factors<T> {
    #[inline(always)]
    fn new(operator: &Operator<'_, T>, combination: Combination) -> Self {
        let Combination { product, own, before } = combination;
        let [product, own, before, coupling] = [product, own, before, product * operator.coupling].map(T::from_f64);
        Self { product, own, before, coupling }
    }

    /// Returns the factor by which row `row` of X is multiplied before it is added to the same row of the result.
    #[inline(always)]
    fn own(&self, operator: &Operator<'_, T>, row: usize) -> T {
        self.product * operator.diagonal[row] + self.own
    }
}
