//! Multiplies batches of small matrices with SIMD. A column of a result is a few vectors, which stay in registers.
//!
//! A column that does not fill its last vector is still read and written in whole vectors. The excess lanes of a read
//! hold elements of the next column, which are ignored. The excess lanes of a write are overwritten when the next
//! column is written. Only at the end of an array, where there is no next column, elements are read and written through
//! a padded copy.

use super::super::Problem;
use super::{Work, Working};
use crate::lanes::{Task, Vector, width};
use crate::parallel;

/// The number of elements in a block of results. Whole matrices of order 2, 3, 4, 6, 8, 12, 16 or 24 fill a block
/// exactly. Nothing is written to the memory of the results before a block is filled, so the thread that fills a block
/// is the first to touch the pages of the block.
const BLOCK: usize = 9216;
/// The number of elements in a chunk of results, for matrices that do not fill a block exactly.
const CHUNK: usize = 8192;
/// The maximum number of vectors in a column.
const VECTORS: usize = 8;

/// Returns the maximum number of rows of a result that the kernels support on this machine, which is the number of
/// lanes in `VECTORS` vectors.
pub(super) fn most_rows<T: Working>() -> usize {
    width::<T>() * VECTORS
}

pub(super) fn gemm<T: Working>(work: &Work<'_, T>, out: &mut [T]) {
    let Problem { m, n, batch, .. } = *work.problem;
    let size = m * n;
    let elements = if BLOCK.is_multiple_of(size) && size * batch >= 8 * BLOCK { BLOCK } else { CHUNK };
    let each = (elements / size).max(1);
    let block = |chunk: usize, out: &mut [T]| T::in_lanes(Block { work, first: chunk * each, out });
    if batch <= each {
        block(0, out);
    } else {
        parallel::for_each(out.chunks_mut(each * size), block);
    }
}

/// A block of results, starting at matrix `first`.
struct Block<'a, 'b, T> {
    work: &'a Work<'b, T>,
    first: usize,
    out: &'a mut [T],
}

impl<T: Working> Task<T> for Block<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Scalar = T>>(self, token: V::Token) {
        match self.work.problem.m.div_ceil(V::LANES) {
            1 => self.all::<V, 1, 8>(token),
            2 => self.all::<V, 2, 4>(token),
            3 => self.all::<V, 3, 4>(token),
            4 => self.all::<V, 4, 2>(token),
            5 => self.all::<V, 5, 2>(token),
            6 => self.all::<V, 6, 1>(token),
            7 => self.all::<V, 7, 1>(token),
            _ => self.all::<V, VECTORS, 1>(token),
        }
    }
}

impl<T: Working> Block<'_, '_, T> {
    /// Computes a block with `ROWS` vectors per column, `COLUMNS` columns at a time.
    #[inline(always)]
    fn all<V: Vector<Scalar = T>, const ROWS: usize, const COLUMNS: usize>(self, token: V::Token) {
        let Self { work, first, out } = self;
        let Problem { m, n, k, a, b, .. } = *work.problem;
        let zero = T::from_f64(0.0);
        let behind = ROWS * V::LANES;
        let mut left = vec![zero; m * k + behind];
        let mut right = vec![zero; if b.transposed { n * k } else { 0 }];
        let mut last = vec![zero; m * n + behind];
        let count = out.len() / (m * n);
        for i in 0..count {
            let matrix = first + i;
            let begin = if a.shared { 0 } else { matrix * m * k };
            let numbers = if a.transposed {
                transpose(work.a_of(matrix), k, m, &mut left);
                &left[..]
            } else if begin + m * k + behind <= work.operands.a.len() {
                &work.operands.a[begin..begin + m * k + behind]
            } else {
                left[..m * k].copy_from_slice(work.a_of(matrix));
                &left[..]
            };
            let others = if b.transposed {
                transpose(work.b_of(matrix), n, k, &mut right);
                &right[..]
            } else {
                work.b_of(matrix)
            };
            let scalars = [V::splat(token, zero), V::splat(token, work.alpha)];
            if (i + 1) * m * n + behind <= out.len() {
                let out = &mut out[i * m * n..(i + 1) * m * n + behind];
                product::<V, ROWS, COLUMNS>(token, (m, n, k), numbers, others, scalars, out);
            } else {
                product::<V, ROWS, COLUMNS>(token, (m, n, k), numbers, others, scalars, &mut last);
                out[i * m * n..(i + 1) * m * n].copy_from_slice(&last[..m * n]);
            }
            if !work.problem.plain() {
                work.finish(matrix, 0, &mut out[i * m * n..(i + 1) * m * n]);
            }
        }
    }
}

/// Writes the transpose of a `rows x cols` matrix.
#[inline(always)]
fn transpose<T: Copy>(from: &[T], rows: usize, cols: usize, to: &mut [T]) {
    for (j, column) in from.chunks_exact(rows).take(cols).enumerate() {
        to[j..].iter_mut().step_by(cols).zip(column).for_each(|(to, from)| *to = *from);
    }
}

/// Computes `out = alpha A B`, where the columns of A and of the result are `m` elements apart. The last column is
/// followed by padding.
#[inline(always)]
fn product<V: Vector, const ROWS: usize, const COLUMNS: usize>(
    token: V::Token,
    (m, n, k): (usize, usize, usize),
    a: &[V::Scalar],
    b: &[V::Scalar],
    [zero, alpha]: [V; 2],
    out: &mut [V::Scalar],
) {
    let whole = n / COLUMNS * COLUMNS;
    for j in (0..whole).step_by(COLUMNS) {
        columns::<V, ROWS, COLUMNS>(token, m, k, a, &b[j * k..(j + COLUMNS) * k], [zero, alpha], &mut out[j * m..]);
    }
    for j in whole..n {
        columns::<V, ROWS, 1>(token, m, k, a, &b[j * k..(j + 1) * k], [zero, alpha], &mut out[j * m..]);
    }
}

#[inline(always)]
fn columns<V: Vector, const ROWS: usize, const COLUMNS: usize>(
    token: V::Token,
    m: usize,
    k: usize,
    a: &[V::Scalar],
    b: &[V::Scalar],
    [zero, alpha]: [V; 2],
    out: &mut [V::Scalar],
) {
    // Loops are used instead of closures: code that is not inlined is compiled without the vector instructions.
    let mut others: [&[V::Scalar]; COLUMNS] = [&[]; COLUMNS];
    for (j, other) in others.iter_mut().enumerate() {
        *other = &b[j * k..(j + 1) * k];
    }
    let mut sums = [[zero; ROWS]; COLUMNS];
    for p in 0..k {
        let mut x = [zero; ROWS];
        for (r, x) in x.iter_mut().enumerate() {
            *x = V::load(token, &a[p * m + r * V::LANES..]);
        }
        for j in 0..COLUMNS {
            let y = V::splat(token, others[j][p]);
            for r in 0..ROWS {
                sums[j][r] = x[r].mul_add(y, sums[j][r]);
            }
        }
    }
    for (j, sums) in sums.into_iter().enumerate() {
        for (r, sum) in sums.into_iter().enumerate() {
            (sum * alpha).store(&mut out[j * m + r * V::LANES..]);
        }
    }
}
