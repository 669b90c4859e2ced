//! Sparse symmetric matrices: graph Laplacians that are never formed, and their products with blocks of vectors.
//!
//! An [`Operator`] represents symmetric matrices `diag(d) + c S W S`, where d is a vector, c a number, S a diagonal
//! matrix and W a sparse matrix. W is borrowed from the graph, and weights that are all 1 are not stored. An operator
//! also has its known null space (one vector for each connected component) and bounds on its spectrum. On the CPU,
//! `cpu` multiplies row-major blocks with SIMD. On the device, `gpu` cuts rows into segments of at most 256 entries,
//! and stores blocks of vectors in slabs of 4 to 32 columns that fit the bindings and the budget. The module `edges`
//! builds the rows on the device from a list of edges (radix sort, no atomics).

mod chunks;
pub(in crate::ops) mod cpu;
mod csr;
mod edges;
mod general;
pub(in crate::ops) mod gpu;
pub(super) mod kernels;
mod magnetic;
mod null;
mod operator;
mod resident;
pub(in crate::ops) mod scale;

pub use general::SparseMatrix;
pub use null::NullSpace;
pub use operator::{Bounds, Operator};
pub use resident::OnDevice;

#[cfg(feature = "faer")]
pub(crate) use csr::Csr;
pub(crate) use magnetic::Gauged;
pub(in crate::ops) use null::NONE;

use crate::array::{Array, Real};
use crate::context::Context;
use crate::device::Gpu;
use crate::error::{Error, Result};
use crate::ops::operation::{Call, Operation as _, Precision, always};
use crate::policy::{Choice, Family, Workload};
use crate::shape::Shape;
use bytemuck::allocation::cast_vec;
use bytemuck::cast_slice;
use cpu::{Combination, Rows, WIDTHS};

/// Returns where [`spmm`] would run for a matrix with `rows` rows and `entries` entries and a block of `cols`
/// vectors, and why.
#[must_use]
pub fn choose_spmm<T: Real>(ctx: &Context, (rows, entries): (usize, usize), cols: usize, resident: bool) -> Choice {
    call::<T>((rows, entries), cols, resident).choose(ctx)
}

/// Describes the call to the cost model. A product gathers rows of X from scattered addresses, so the CPU reaches half
/// of the policy's default rate, and a device reaches a quarter of it.
fn call<T: Real>((rows, entries): (usize, usize), cols: usize, resident: bool) -> Call<impl Fn(&Gpu, u64) -> bool> {
    let (rows, entries, cols) = (rows as f64, entries as f64, cols as f64);
    let flops = 2.0 * (entries + 3.0 * rows) * cols;
    let workload = Workload {
        family: Family::Spmm,
        size: rows,
        items: 1.0,
        cpu_flops: 2.0 * flops,
        gpu_flops: 4.0 * flops,
        upload: 4.0 * (entries + 4.0 * rows),
        dispatches: 2.0,
        ..Workload::default()
    }
    .transferring(resident, 4.0 * rows * cols, 4.0 * rows * cols);
    Call { name: "spmm", precision: Precision::of::<T>(), workload, empty: false, fits: always, waits: false }
}

/// Computes the product of a sparse symmetric matrix with a block of vectors: `Y = A X`.
///
/// Blocks are passed transposed, so that all values of one node are adjacent, as in a table of node features.
///
/// # Shapes
/// `x` is the transpose `X'`, `(columns, n)` for a matrix of order n; the result is `Y'`, of the same shape.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::graph::generate::path;
/// use fiedler::ops::sparse::Operator;
/// use fiedler::ops::{Normalization, spmm};
/// use fiedler::{Context, Shape};
///
/// // At the inner nodes, the Laplacian of a path gives minus the second differences of (0, 1, 4, 9).
/// let (ctx, graph) = (Context::cpu(), path(4)?);
/// let l = Operator::<f32>::laplacian(graph.view(), Normalization::Combinatorial)?;
/// let y = spmm(&ctx, &l, &Array::from_vec(Shape::new(1, 4, 1), vec![0.0, 1.0, 4.0, 9.0])?)?.to_host(&ctx)?;
/// assert_eq!(y.as_slice(), [-1.0, -2.0, -2.0, 5.0]);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the block does not fit the matrix or the operator has more than one problem;
/// with [`Backend::Gpu`](crate::Backend::Gpu), [`Domain`](crate::ErrorKind::Domain) for f64 and
/// [`Limit`](crate::ErrorKind::Limit) if the device cannot hold the operands; device errors. For several products on
/// the device, see [`OnDevice`].
pub fn spmm<T: Real>(ctx: &Context, a: &Operator<'_, T>, x: &Array<T>) -> Result<Array<T>> {
    let shape = x.shape();
    fits_block(shape, (a.problems(), a.rows()))?;
    let on_host = || {
        let x = x.to_host(ctx)?;
        let y = if T::ON_DEVICE {
            cast_vec(in_f32(&a.for_products(), shape, cast_slice(x.as_slice())))
        } else {
            cast_vec(in_f64(&a.for_products(), shape, cast_slice(x.as_slice())))
        };
        Array::from_vec(shape, y)
    };
    let call = call::<T>((a.rows(), a.entries()), shape.rows, x.is_resident());
    let (y, choice) = call.run(ctx, on_host, |_| OnDevice::new(ctx, &narrowed("spmm", a)?)?.times(ctx, x))?;
    Ok(y.chosen(&choice))
}

/// Returns the operator in f32, the precision of the kernels.
///
/// # Errors
/// [`Domain`](crate::ErrorKind::Domain) if the norm of a matrix is neither 0 nor from 1e-30 to 1e30.
pub(in crate::ops) fn narrowed<'a, T: Real>(
    operation: &'static str,
    a: &'a Operator<'_, T>,
) -> Result<Operator<'a, f32>> {
    a.narrowed().ok_or_else(|| {
        let norms = (0..a.problems()).map(|problem| a.bounds(problem).norm);
        let found = norms.filter(|norm| *norm > 0.0).find(|norm| !(1e-30..=1e30).contains(norm)).unwrap_or(f64::NAN);
        Error::domain(operation, format!("the device's kernels take norms of 1e-30 to 1e30, found {found:e}"))
    })
}

/// Calls [`on_cpu`] for f32. This function is not generic, so that the code is compiled once in this crate and not
/// again in every crate that uses it.
fn in_f32(a: &Operator<'_, f32>, shape: Shape, x: &[f32]) -> Vec<f32> {
    on_cpu(a, shape, x)
}

fn in_f64(a: &Operator<'_, f64>, shape: Shape, x: &[f64]) -> Vec<f64> {
    on_cpu(a, shape, x)
}

fn on_cpu<T: Real>(a: &Operator<'_, T>, shape: Shape, x: &[T]) -> Vec<T> {
    let rows = Rows::new(a);
    let mut y = vec![T::from_f64(0.0); shape.len()];
    if WIDTHS.contains(&shape.rows) {
        rows.combine(shape.rows, x, &mut y, Combination::PRODUCT);
    } else {
        in_columns(&rows, shape, x, &mut y);
    }
    y
}

/// Checks that the operator is a single matrix, and that X', whose shape is `shape`, is a single array with one column
/// for each of the `rows` rows of the matrix.
fn fits_block(shape: Shape, (problems, rows): (usize, usize)) -> Result<()> {
    if problems != 1 || shape.cols != rows || shape.batch != 1 {
        let expected = format!("one matrix, and (columns, {rows}) for X'");
        return Err(Error::shape("spmm", expected, format!("{problems} matrices, X' {shape}")));
    }
    Ok(())
}

/// Multiplies a block of any width, a few columns at a time.
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
