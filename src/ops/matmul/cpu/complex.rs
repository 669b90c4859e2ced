//! Products of complex matrices, by faer.

use super::super::BiasAxis;
use super::{Operands, Problem, WORTH_A_THREAD};
use crate::parallel;
use faer::linalg::matmul::matmul;
use faer::traits::ComplexField;
use faer::{Accum, MatMut, MatRef, Par};
use std::ops::{AddAssign, Mul};

/// Computes all products of a batch, and adds C and the bias. There is no activation of complex numbers. `number` makes
/// an element of a real number.
pub(in super::super) fn gemm<C>(
    problem: &Problem,
    operands: Operands<'_, C>,
    number: impl Fn(f64) -> C + Sync,
    out: &mut [C],
) where
    C: ComplexField + Copy + AddAssign + Mul<Output = C>,
{
    if out.is_empty() {
        return;
    }
    let Problem { m, n, k, .. } = *problem;
    // As in the BLAS, A and B are not read if alpha is 0. A product of complex numbers is four of real ones.
    let work = if problem.alpha == 0.0 { 0 } else { 8 * m * n * k };
    let one = |matrix: usize, out: &mut [C], par: Par| {
        if work == 0 {
            out.fill(number(0.0));
        } else {
            let into = MatMut::from_column_major_slice_mut(out, m, n);
            let factors = [(operands.a, m, k, problem.a), (operands.b, k, n, problem.b)];
            let [left, right] = factors.map(|(numbers, rows, cols, given)| {
                let first = if given.shared { 0 } else { matrix * rows * cols };
                let own = &numbers[first..first + rows * cols];
                if given.transposed {
                    MatRef::from_column_major_slice(own, cols, rows).transpose().as_dyn_stride()
                } else {
                    MatRef::from_column_major_slice(own, rows, cols).as_dyn_stride()
                }
            });
            matmul(into, Accum::Replace, left, right, number(problem.alpha), par);
        }
        add(problem, operands, matrix, &number, out);
    };
    let threads = parallel::threads();
    if problem.batch >= 2 * threads || work < WORTH_A_THREAD {
        let least = (WORTH_A_THREAD / work.max(1)).max(1);
        parallel::for_each(out.chunks_mut(least * m * n), |i, out| {
            let products = (i * least..).zip(out.chunks_mut(m * n));
            products.for_each(|(matrix, out)| one(matrix, out, Par::Seq));
        });
        return;
    }
    // Of a product with a vector, faer would cut the sums by its parallelism.
    let par = if m == 1 || n == 1 { Par::Seq } else { parallel::in_eight() };
    for (matrix, out) in out.chunks_mut(m * n).enumerate() {
        one(matrix, out, par);
    }
}

/// Adds C and the bias to one product.
fn add<C: Copy + AddAssign + Mul<Output = C>>(
    problem: &Problem,
    operands: Operands<'_, C>,
    matrix: usize,
    number: impl Fn(f64) -> C,
    out: &mut [C],
) {
    let Problem { m, n, c, bias, .. } = *problem;
    if let Some(c) = c {
        let (beta, first) = (number(c.beta), if c.shared { 0 } else { matrix * m * n });
        out.iter_mut().zip(&operands.c[first..]).for_each(|(out, c)| *out += beta * *c);
    }
    if let Some(bias) = bias {
        let len = if bias.axis == BiasAxis::Rows { m } else { n };
        let first = if bias.shared { 0 } else { matrix * len };
        let numbers = &operands.bias[first..first + len];
        for (j, column) in out.chunks_mut(m).enumerate() {
            for (i, out) in column.iter_mut().enumerate() {
                *out += numbers[if bias.axis == BiasAxis::Rows { i } else { j }];
            }
        }
    }
}
