//! Projects the known null vectors out of a block.

use crate::array::Real;
use crate::lanes::{Task, Vector};
use crate::ops::sparse::{NONE, NullSpace};
use crate::parallel;
use std::ops::Range;

/// The number of chunks of rows, which are summed in parallel. It is fixed, so that the order of every sum is
/// fixed.
const CHUNKS: usize = 32;
/// The maximum number of rows that are summed in the working precision before the sum continues in f64.
const RUN: usize = 64;

/// Computes `X <- X - U U'X`, where the columns of U are the known null vectors and X is row-major with `width`
/// columns.
pub(super) fn deflate<T: Real>(null: &NullSpace<T>, x: &mut [T], width: usize) {
    if !null.is_empty() && !x.is_empty() {
        T::in_lanes(Deflate { null, x, width });
    }
}

struct Deflate<'a, T> {
    null: &'a NullSpace<T>,
    x: &'a mut [T],
    width: usize,
}

impl<T: Real> Task<T> for Deflate<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Scalar = T>>(self, token: V::Token) {
        let Self { null, x, width } = self;
        let n = null.labels.len();
        let size = null.len() * width;
        // With very many components, the tables of sums would be larger than the block. Then all rows are one
        // chunk.
        let chunks = if size * CHUNKS <= n * width { CHUNKS } else { 1 };
        let rows = n.div_ceil(chunks);
        let span = |chunk: usize| (chunk * rows).min(n)..((chunk + 1) * rows).min(n);
        let whole = &*x;
        let parts: Vec<Vec<f64>> = parallel::map(0..chunks, |_, chunk| {
            V::with_instructions(
                token,
                #[inline(always)]
                || sums(null, whole, width, span(chunk)),
            )
        });
        let sum = |i: usize| T::from_f64(parts.iter().map(|part| part[i]).sum::<f64>());
        let along: Vec<T> = (0..size).map(sum).collect();
        parallel::for_each(x.chunks_mut(rows * width), |chunk, x| {
            V::with_instructions(
                token,
                #[inline(always)]
                || {
                    for (row, i) in x.chunks_exact_mut(width).zip(span(chunk)) {
                        let (label, u) = (null.labels[i], -null.values[i]);
                        if label != NONE {
                            let sums = &along[label as usize * width..][..width];
                            row.iter_mut().zip(sums).for_each(|(x, &sum)| *x = u.fused(sum, *x));
                        }
                    }
                },
            );
        });
    }
}

/// Computes the contribution of the given rows to `U'X`.
#[inline(always)]
fn sums<T: Real>(null: &NullSpace<T>, x: &[T], width: usize, rows: Range<usize>) -> Vec<f64> {
    let mut sums = vec![0.0; null.len() * width];
    let mut run = vec![T::from_f64(0.0); width];
    let mut i = rows.start;
    while i < rows.end {
        // Adjacent rows usually belong to the same component, so runs of equal labels are summed together.
        let label = null.labels[i];
        let end = rows.end.min(i + RUN);
        let same = (i..end).take_while(|&j| null.labels[j] == label).count();
        if label != NONE {
            run.fill(T::from_f64(0.0));
            for j in i..i + same {
                let u = null.values[j];
                run.iter_mut().zip(&x[j * width..][..width]).for_each(|(sum, &x)| *sum = u.fused(x, *sum));
            }
            let total = &mut sums[label as usize * width..][..width];
            total.iter_mut().zip(&run).for_each(|(total, x)| *total += x.to_f64());
        }
        i += same;
    }
    sums
}
