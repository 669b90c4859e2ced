//! Products with blocks of vectors on the CPU: row-major blocks, so that an entry of the matrix meets one run of numbers.

use super::operator::Operator;
use crate::array::Real;
use crate::lanes::{Lane, Task};
use rayon::prelude::*;
use std::ops::Range;

/// Entries of a piece of rows that one thread takes at a time, a row counted as eight: some 20 us of work in blocks of 16 columns.
const PIECE: usize = 16 * 1024;
/// The block widths that have a kernel of their own.
pub(in crate::ops) const WIDTHS: [usize; 7] = [1, 2, 4, 8, 16, 24, 32];

/// `Y <- product A X + own X + before Y`; what Y holds does not matter where `before` is 0.
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

/// An operator of one problem, cut into pieces of rows of about equal work.
#[derive(Debug)]
pub(in crate::ops) struct Rows<'a, T: Real> {
    operator: &'a Operator<'a, T>,
    pieces: Vec<Range<usize>>,
}

impl<'a, T: Real> Rows<'a, T> {
    pub(in crate::ops) fn new(operator: &'a Operator<'a, T>) -> Self {
        let mut pieces = Vec::new();
        let (mut begin, mut work) = (0, 0);
        for row in 0..operator.rows() {
            work += operator.entries_of(row).len() + 8;
            if work >= PIECE {
                pieces.push(begin..row + 1);
                (begin, work) = (row + 1, 0);
            }
        }
        if begin < operator.rows() {
            pieces.push(begin..operator.rows());
        }
        Self { operator, pieces }
    }

    /// The pieces of rows.
    pub(in crate::ops) fn pieces(&self) -> &[Range<usize>] {
        &self.pieces
    }

    /// Combines row-major blocks of `width` columns, one of [`WIDTHS`].
    ///
    /// # Panics
    /// If there is no kernel for that width: the callers' widths are of the table.
    pub(in crate::ops) fn combine(&self, width: usize, x: &[T], y: &mut [T], combination: Combination) {
        T::in_lanes(Combine { rows: self, width, x, y, combination });
    }
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
    fn run<V: Lane<Scalar = T>>(self, token: V::Token) {
        match self.width {
            1 => self.by_width::<V, 1>(token),
            2 => self.by_width::<V, 2>(token),
            4 => self.by_width::<V, 4>(token),
            8 => self.by_width::<V, 8>(token),
            16 => self.by_width::<V, 16>(token),
            24 => self.by_width::<V, 24>(token),
            32 => self.by_width::<V, 32>(token),
            other => unreachable!("no kernel for blocks of {other} columns"),
        }
    }
}

impl<T: Real> Combine<'_, T> {
    fn by_width<V: Lane<Scalar = T>, const W: usize>(self, token: V::Token) {
        let Self { rows, x, y, combination, .. } = self;
        let operator = rows.operator;
        let (x, _) = x.as_chunks::<W>();
        let (y, _) = y.as_chunks_mut::<W>();
        let work = |(piece, y): (&Range<usize>, &mut [[T; W]])| {
            V::with_instructions(token, || match (&operator.weights, &operator.scale) {
                (None, None) => {
                    piece_of(operator, piece.clone(), x, y, combination, |_| T::from_f64(1.0), |_| T::from_f64(1.0))
                }
                (None, Some(s)) => piece_of(operator, piece.clone(), x, y, combination, |_| T::from_f64(1.0), |j| s[j]),
                (Some(w), None) => piece_of(operator, piece.clone(), x, y, combination, |e| w[e], |_| T::from_f64(1.0)),
                (Some(w), Some(s)) => piece_of(operator, piece.clone(), x, y, combination, |e| w[e], |j| s[j]),
            });
        };
        let mut parts = Vec::with_capacity(rows.pieces.len());
        let mut rest = y;
        for piece in &rows.pieces {
            let (own, others) = rest.split_at_mut(piece.len());
            parts.push((piece, own));
            rest = others;
        }
        if parts.len() < 2 { parts.into_iter().for_each(work) } else { parts.into_par_iter().for_each(work) }
    }
}

/// The rows of one piece.
#[inline(always)]
fn piece_of<T: Real, const W: usize>(
    operator: &Operator<'_, T>,
    piece: Range<usize>,
    x: &[[T; W]],
    y: &mut [[T; W]],
    combination: Combination,
    weight: impl Fn(usize) -> T,
    scale: impl Fn(usize) -> T,
) {
    let zero = T::from_f64(0.0);
    let [product, own, before] = [combination.product, combination.own, combination.before].map(T::from_f64);
    let coupling = product * T::from_f64(operator.coupling);
    for (row, out) in piece.zip(y) {
        let mut sum = [zero; W];
        let entries = operator.entries_of(row);
        let first = entries.start;
        for (place, &column) in operator.columns[entries].iter().enumerate() {
            let factor = weight(first + place) * scale(column as usize);
            let from = &x[column as usize];
            for j in 0..W {
                sum[j] = from[j].fused(factor, sum[j]);
            }
        }
        let here = &x[row];
        let (own, others) = (product * operator.diagonal[row] + own, coupling * scale(row));
        if combination.before == 0.0 {
            for j in 0..W {
                out[j] = sum[j].fused(others, own * here[j]);
            }
        } else {
            for j in 0..W {
                out[j] = before.fused(out[j], sum[j].fused(others, own * here[j]));
            }
        }
    }
}
