//! Sparse symmetric matrices: graph Laplacians that are never written out, and their products with blocks of vectors.

mod chunks;
pub(in crate::ops) mod cpu;
mod edges;
pub(in crate::ops) mod gpu;
mod kernels;
mod null;
mod operator;

pub use null::NullSpace;
pub use operator::{Bounds, Operator};

pub(in crate::ops) use null::NONE;

use crate::array::{Array, Real};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::shape::Shape;
use cpu::{Combination, Rows, WIDTHS};

/// The product of a sparse symmetric matrix with a block of vectors: `Y = A X`.
///
/// Blocks are handed over transposed, so that the numbers of one row of A lie side by side, as in a table of node features.
///
/// # Shapes
/// `x` is `X'`, `(columns, n)`; the result is `Y'`, of the same shape.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) where the block does not fit the matrix, or the operator has more than one problem.
pub fn spmm<T: Real>(ctx: &Context, a: &Operator<'_, T>, x: &Array<T>) -> Result<Array<T>> {
    let shape = x.shape();
    if a.problems() != 1 || shape.cols != a.rows() || shape.batch != 1 {
        let expected = format!("one matrix, and (columns, {}) for X'", a.rows());
        return Err(Error::shape("spmm", expected, format!("{} matrices, X' {shape}", a.problems())));
    }
    let x = x.to_host(ctx)?;
    let rows = Rows::new(a);
    let mut y = vec![T::from_f64(0.0); shape.len()];
    if WIDTHS.contains(&shape.rows) {
        rows.combine(shape.rows, x.as_slice(), &mut y, Combination::PRODUCT);
    } else {
        in_columns(&rows, shape, x.as_slice(), &mut y);
    }
    Array::from_vec(shape, y)
}

/// A block of any width, a few columns at a time.
fn in_columns<T: Real>(rows: &Rows<'_, T>, shape: Shape, x: &[T], y: &mut [T]) {
    let mut first = 0;
    while first < shape.rows {
        let left = shape.rows - first;
        let width = WIDTHS.into_iter().find(|&w| w >= left).unwrap_or(WIDTHS[WIDTHS.len() - 1]);
        let taken = left.min(width);
        let mut part = vec![T::from_f64(0.0); width * shape.cols];
        for (to, from) in part.chunks_exact_mut(width).zip(x.chunks_exact(shape.rows)) {
            to[..taken].copy_from_slice(&from[first..first + taken]);
        }
        let mut product = vec![T::from_f64(0.0); width * shape.cols];
        rows.combine(width, &part, &mut product, Combination::PRODUCT);
        for (to, from) in y.chunks_exact_mut(shape.rows).zip(product.chunks_exact(width)) {
            to[first..first + taken].copy_from_slice(&from[..taken]);
        }
        first += taken;
    }
}
