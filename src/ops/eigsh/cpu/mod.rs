//! Blocks of vectors of one problem in the CPU's memory. The blocks are row-major, so that each entry of A
//! multiplies one row of X, which is contiguous.

mod cholesky;
mod deflate;
pub(super) mod fill;
pub(super) mod nearest;
pub(super) mod shift_invert;
mod triangular;

use super::ritz::rayleigh_ritz;
use super::space::{FilterPlan, Grams, Rotation, Space, Step};
use crate::array::Real;
use crate::cancel::Cancel;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::eigen::Which;
use crate::ops::random::uniforms;
use crate::ops::sparse::Operator;
use crate::ops::sparse::cpu::{Combination, Rows, WIDTHS};
use crate::parallel;
use crate::shape::to_u32;
use deflate::deflate;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use nalgebra::DMatrix;
use std::ops::Range;

/// The number of rows in a small dense product. With 32 columns of f64, these rows of X and A X fill half of a
/// second-level cache.
const ROWS: usize = 1024;

/// A block of vectors in the CPU's memory.
#[derive(Debug)]
pub(super) struct CpuSpace<'a, T: Real> {
    operator: &'a Operator<'a, T>,
    cancel: Cancel,
    rows: Rows<'a, T>,
    width: usize,
    x: Vec<T>,
    /// A X after [`Space::grams`]; scratch for filters otherwise.
    ax: Vec<T>,
    other: Vec<T>,
}

/// Checks that the blocks of a space fit the memory budget.
///
/// # Errors
/// [`crate::ErrorKind::Limit`] if the three blocks of the space exceed the budget.
pub(super) fn check_memory<T: Real>(ctx: &Context, rows: usize, width: usize) -> Result<()> {
    let (needed, allowed) = ((3 * rows * width * size_of::<T>()) as u64, ctx.memory_budget());
    if needed <= allowed {
        return Ok(());
    }
    let what = format!("bytes for the blocks of eigsh, {rows} x {width}");
    Err(Error::budget(what, needed, allowed))
}

/// The Ritz pairs of a matrix in the span of some vectors.
struct RitzPairs {
    /// Rayleigh quotients, ascending.
    values: Vec<f64>,
    /// The 2-norms of `A v - l v`.
    residuals: Vec<f64>,
    /// The vectors, column-major.
    vectors: Vec<f64>,
}

/// Computes the Ritz pairs in the span of the given column-major vectors, of which there must be at least one.
/// `shift_invert` and `nearest` call this function after their iteration with an inverse. Their vectors contain the
/// rounding errors of the sparse factorization; products with A are free of them.
fn ritz_pairs(ctx: &Context, operator: &Operator<'_, f64>, vectors: &[f64]) -> Result<RitzPairs> {
    let count = vectors.len() / operator.rows();
    let mut space = CpuSpace::new(ctx, operator, count);
    space.load(vectors);
    let ritz = rayleigh_ritz(ctx, &space.grams()?, Which::Smallest, CpuSpace::<f64>::GRAM_EPSILON, false)?;
    let rotations: Vec<_> = ritz.into_iter().map(|ritz| Some(ritz.rotation)).collect();
    let residuals = space.rotate(&rotations)?.pop().unwrap_or_default();
    let values = rotations.into_iter().flatten().flat_map(|rotation| rotation.values).collect();
    Ok(RitzPairs { values, residuals, vectors: space.read(0, 0..count)? })
}

impl<'a, T: Real> CpuSpace<'a, T> {
    /// Creates a space with X = 0, for an operator of one problem.
    pub(super) fn new(ctx: &Context, operator: &'a Operator<'a, T>, width: usize) -> Self {
        let zeros = || vec![T::from_f64(0.0); operator.rows() * width];
        let cancel = ctx.cancel().clone();
        Self { operator, cancel, rows: Rows::new(operator), width, x: zeros(), ax: zeros(), other: zeros() }
    }

    /// Writes column-major vectors to the first columns of X.
    pub(super) fn load(&mut self, vectors: &[f64]) {
        let n = self.operator.rows();
        for (i, row) in self.x.chunks_exact_mut(self.width.max(1)).enumerate() {
            row.iter_mut().zip(vectors[i..].iter().step_by(n)).for_each(|(x, v)| *x = T::from_f64(*v));
        }
        deflate(&self.operator.null, &mut self.x, self.width);
    }

    /// Applies one polynomial to the columns `columns`. There must be at most as many columns as the widest kernel
    /// supports.
    fn filter_few(&mut self, columns: Range<usize>, steps: &[Step], deflate_every: usize) -> Result<()> {
        let (n, width) = (self.operator.rows(), self.width);
        let few = WIDTHS.into_iter().find(|&w| w >= columns.len()).unwrap_or(columns.len());
        let (mut y, mut before) = (&mut self.ax[..], &mut self.other[..]);
        if few > width {
            // The narrowest kernel for these columns is wider than X, so the buffers must grow.
            self.ax.resize(n * few, T::from_f64(0.0));
            self.other.resize(n * few, T::from_f64(0.0));
            (y, before) = (&mut self.ax[..], &mut self.other[..]);
        }
        (y, before) = (&mut y[..n * few], &mut before[..n * few]);
        let taken = columns.len();
        each_row((&mut *y, few), (&self.x, width), |to, from| {
            to[..taken].copy_from_slice(&from[columns.clone()]);
            to[taken..].fill(T::from_f64(0.0));
        });
        let null = &self.operator.null;
        for (i, &Step { product, own, before: factor }) in (1..).zip(steps) {
            self.cancel.check()?;
            self.rows.combine(few, y, before, Combination { product, own, before: factor });
            std::mem::swap(&mut y, &mut before);
            if i % deflate_every == 0 || i == steps.len() {
                deflate(null, y, few);
                // The recurrence continues from both blocks, so both are deflated.
                if i < steps.len() {
                    deflate(null, before, few);
                }
            }
        }
        each_row((&mut self.x, width), (&*y, few), |to, from| {
            to[columns.clone()].copy_from_slice(&from[..taken]);
        });
        Ok(())
    }

    /// Computes A X.
    fn multiply(&mut self) {
        let width = self.width;
        if WIDTHS.contains(&width) {
            self.rows.combine(width, &self.x, &mut self.ax[..self.x.len()], Combination::PRODUCT);
            return;
        }
        let widest = WIDTHS[WIDTHS.len() - 1];
        let n = self.operator.rows();
        let mut first = 0;
        while first < width {
            let taken = (width - first).min(widest);
            let few = WIDTHS.into_iter().find(|&w| w >= taken).unwrap_or(widest);
            let mut part = vec![T::from_f64(0.0); n * few];
            let mut product = vec![T::from_f64(0.0); n * few];
            each_row((&mut part, few), (&self.x, width), |to, from| {
                to[..taken].copy_from_slice(&from[first..first + taken]);
            });
            self.rows.combine(few, &part, &mut product, Combination::PRODUCT);
            each_row((&mut self.ax, width), (&product, few), |to, from| {
                to[first..first + taken].copy_from_slice(&from[..taken]);
            });
            first += taken;
        }
    }
}

/// Calls `work` with each row of `to` and the same row of `from`, which may have different widths. A thread
/// processes [`ROWS`] rows at a time.
fn each_row<T: Real>(
    (to, width): (&mut [T], usize),
    (from, other): (&[T], usize),
    work: impl Fn(&mut [T], &[T]) + Sync,
) {
    parallel::for_each(to.chunks_mut(ROWS * width).zip(from.chunks(ROWS * other)), |_, (to, from)| {
        to.chunks_mut(width).zip(from.chunks(other)).for_each(|(to, from)| work(to, from));
    });
}

/// Computes `X'X` and `X'Y` for the given rows, in f64.
fn grams_of<T: Real>(x: &[T], y: &[T], width: usize) -> [Mat<f64>; 2] {
    let wide = |rows: &[T]| rows.iter().map(|x| x.to_f64()).collect::<Vec<f64>>();
    let (x, y) = (wide(x), wide(y));
    let count = x.len() / width;
    let (x, y) = (MatRef::from_column_major_slice(&x, width, count), MatRef::from_column_major_slice(&y, width, count));
    [x, y].map(|other| {
        let mut product = Mat::zeros(width, width);
        matmul(product.as_mut(), Accum::Replace, x, other.transpose(), 1.0, Par::Seq);
        product
    })
}

impl<T: Real> Space for CpuSpace<'_, T> {
    /// The terms have the working precision, but they are summed in f64. A sum has one term for each row, and each
    /// term is at most 1.
    const GRAM_EPSILON: f64 = 1e-14;
    const SIDE_BY_SIDE: bool = false;

    fn problems(&self) -> usize {
        1
    }

    fn randomize(&mut self, seed: u64) -> Result<()> {
        let width = self.width;
        parallel::for_each(self.x.chunks_mut(ROWS * width), |chunk, rows| {
            for (i, row) in (chunk * ROWS..).zip(rows.chunks_mut(width)) {
                let i = to_u32(i);
                for (quadruple, four) in (0..).zip(row.chunks_mut(4)) {
                    four.iter_mut().zip(uniforms(i, quadruple, seed)).for_each(|(x, u)| *x = T::from_f64(u));
                }
            }
        });
        deflate(&self.operator.null, &mut self.x, self.width);
        Ok(())
    }

    fn filter(&mut self, plans: &[Option<FilterPlan>]) -> Result<()> {
        let [Some(FilterPlan { from, steps, deflate_every })] = plans else { return Ok(()) };
        let widest = WIDTHS[WIDTHS.len() - 1];
        let mut first = *from;
        while first < self.width {
            let last = self.width.min(first + widest);
            self.filter_few(first..last, steps, *deflate_every)?;
            first = last;
        }
        Ok(())
    }

    fn grams(&mut self) -> Result<Vec<Grams>> {
        self.multiply();
        let width = self.width;
        let block = ROWS * width;
        let pairs = self.x.chunks(block).zip(self.ax[..self.x.len()].chunks(block));
        let parts = parallel::map(pairs, |_, (x, y)| grams_of(x, y, width));
        let mut sums = [(); 2].map(|()| DMatrix::zeros(width, width));
        for part in &parts {
            for (sum, part) in sums.iter_mut().zip(part) {
                *sum += DMatrix::from_fn(width, width, |i, j| part[(i, j)]);
            }
        }
        let [xx, xax] = sums;
        let symmetric = |m: DMatrix<f64>| (&m + m.transpose()) / 2.0;
        Ok(vec![Grams { xx: symmetric(xx), xax: symmetric(xax) }])
    }

    fn rotate(&mut self, rotations: &[Option<Rotation>]) -> Result<Vec<Vec<f64>>> {
        let [Some(Rotation { q, values })] = rotations else { return Ok(vec![Vec::new()]) };
        let width = self.width;
        let transposed: Vec<T> = q.transpose().iter().map(|&x| T::from_f64(x)).collect();
        let turn = |rows: &mut [T], scratch: &mut Vec<T>| {
            let count = rows.len() / width;
            scratch.clear();
            scratch.extend_from_slice(rows);
            let from = MatRef::from_column_major_slice(scratch, width, count);
            let to = MatMut::from_column_major_slice_mut(rows, width, count);
            let q = MatRef::from_column_major_slice(&transposed, width, width);
            matmul(to, Accum::Replace, q, from, T::from_f64(1.0), Par::Seq);
        };
        let block = ROWS * width;
        let pairs = self.x.chunks_mut(block).zip(self.ax.chunks_mut(block));
        let squares: Vec<Vec<f64>> = parallel::map(pairs, |_, (x, y)| {
            let mut scratch = Vec::new();
            turn(x, &mut scratch);
            turn(y, &mut scratch);
            let mut squares = vec![0.0; width];
            for (x, y) in x.chunks_exact(width).zip(y.chunks_exact(width)) {
                for (((square, x), y), value) in squares.iter_mut().zip(x).zip(y).zip(values) {
                    let away = y.to_f64() - value * x.to_f64();
                    *square += away * away;
                }
            }
            squares
        });
        let total = |j: usize| squares.iter().map(|part| part[j]).sum::<f64>().sqrt();
        Ok(vec![(0..width).map(total).collect()])
    }

    fn read(&mut self, _: usize, columns: Range<usize>) -> Result<Vec<f64>> {
        let n = self.operator.rows();
        let mut out = vec![0.0; n * columns.len()];
        let (x, width) = (&self.x, self.width);
        parallel::for_each(out.chunks_mut(n.max(1)).zip(columns), |_, (to, column)| {
            to.iter_mut().zip(x[column..].iter().step_by(width)).for_each(|(to, x)| *to = x.to_f64());
        });
        Ok(out)
    }
}
