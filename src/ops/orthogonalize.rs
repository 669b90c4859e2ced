//! One-sided Jacobi on the CPU, for columns whose lengths may span the whole range of f64.
//!
//! Rotations make the columns of a matrix orthogonal relative to their own lengths. If the matrix is B D, where D is
//! diagonal and B is well conditioned, its singular values are then accurate relative to themselves, however small some
//! of them are, and the left singular vectors to the relative distances of the singular values (Demmel and Veselic,
//! Jacobi's method is more accurate than QR, SIAM J. Matrix Anal. Appl. 13, 1992; Drmac and Veselic, New fast and
//! accurate Jacobi SVD algorithm, ibid. 29, 2008; LAPACK's dgesvj). A product with a matrix of the norms, or a rotation
//! that is left out because it is small compared with the *norm of the matrix*, would destroy this accuracy.

use crate::lanes::{SimdScalar, Task, Vector};
use crate::order::descending;

/// The most sweeps. Matrices of order 400 with entries of 14 decades take 12.
const SWEEPS: usize = 40;

/// Columns that were made orthogonal, in descending order of their lengths.
pub(crate) struct Orthogonal {
    /// The columns, one after the other.
    pub(crate) columns: Vec<f64>,
    pub(crate) lengths: Vec<f64>,
    /// The rotations, if they were wanted: the column-major matrix J for which the columns are those of the given
    /// matrix times J.
    pub(crate) rotations: Vec<f64>,
    pub(crate) sweeps: u32,
    /// Whether the last sweep left all pairs of columns as they were.
    pub(crate) converged: bool,
}

/// Makes `count` columns of `rows` finite numbers orthogonal by rotations in the planes of two columns. The products of
/// two elements should neither overflow nor underflow.
pub(crate) fn orthogonalize(columns: &[f64], rows: usize, count: usize, rotations: bool) -> Orthogonal {
    f64::in_lanes(Orthogonalize { columns, rows, count, rotations })
}

struct Orthogonalize<'a> {
    columns: &'a [f64],
    rows: usize,
    count: usize,
    rotations: bool,
}

impl Task<f64> for Orthogonalize<'_> {
    type Output = Orthogonal;

    #[inline(always)]
    fn run<V: Vector<Scalar = f64>>(self, token: V::Token) -> Orthogonal {
        let Self { columns, rows, count, rotations } = self;
        let [zero, half, one] = [0.0, 0.5, 1.0].map(|x| V::splat(token, x));
        // A column of the rotations follows its column of the matrix, so that both are rotated at once.
        let (own, all) =
            (rows.div_ceil(V::LANES), rows.div_ceil(V::LANES) + (if rotations { count.div_ceil(V::LANES) } else { 0 }));
        let mut work = vec![zero; all * count];
        for (j, to) in work.chunks_exact_mut(all.max(1)).enumerate() {
            for (i, x) in columns[j * rows..(j + 1) * rows].iter().enumerate() {
                to[i / V::LANES].as_mut_slice()[i % V::LANES] = *x;
            }
            if rotations {
                to[own + j / V::LANES].as_mut_slice()[j % V::LANES] = 1.0;
            }
        }
        // Two columns count as orthogonal if their inner product is at most its own rounding error.
        #[expect(clippy::cast_precision_loss, reason = "a small count")]
        let tolerance = 0.5 * f64::EPSILON * (rows as f64).sqrt().max(4.0);
        let mut squares = vec![0.0; count];
        let (mut sweeps, mut converged) = (0, count < 2);
        while !converged && sweeps < SWEEPS {
            sweeps += 1;
            converged = true;
            for (square, column) in squares.iter_mut().zip(work.chunks_exact(all)) {
                *square = dot(&column[..own], &column[..own], zero);
            }
            for i in 0..count - 1 {
                // The longest of the remaining columns comes next (de Rijk 1989).
                let longest = (i + 1..count).fold(i, |at, j| if squares[j] > squares[at] { j } else { at });
                if longest != i {
                    squares.swap(i, longest);
                    let (head, tail) = work.split_at_mut(longest * all);
                    head[i * all..(i + 1) * all].swap_with_slice(&mut tail[..all]);
                }
                let (head, tail) = work.split_at_mut((i + 1) * all);
                let x = &mut head[i * all..];
                for (j, y) in (i + 1..count).zip(tail.chunks_exact_mut(all)) {
                    let (xx, yy, xy) = (squares[i], squares[j], dot(&x[..own], &y[..own], zero));
                    if xy.abs() <= tolerance * (xx.sqrt() * yy.sqrt()) {
                        continue;
                    }
                    converged = false;
                    let zeta = (yy - xx) / (2.0 * xy);
                    // The square of a large zeta would overflow.
                    let size = zeta.abs() + if zeta.abs() < 1e9 { (1.0 + zeta * zeta).sqrt() } else { zeta.abs() };
                    let t = zeta.signum() / size;
                    let c = V::splat(token, 1.0 / (1.0 + t * t).sqrt());
                    // One Newton step removes the departure from orthogonality that the rounding of c causes.
                    let by_t = V::splat(token, t);
                    let excess = c.mul_add(c * by_t.mul_add(by_t, one), -one);
                    let by_c = (half * excess).neg_mul_add(c, c);
                    let by_s = by_c * by_t;
                    for (x, y) in x.iter_mut().zip(y.iter_mut()) {
                        let (own, other) = (*x, *y);
                        *x = by_s.neg_mul_add(other, by_c * own);
                        *y = by_s.mul_add(own, by_c * other);
                    }
                    // A column that has become much shorter is measured again.
                    let updated = [(xx - t * xy, xx, &*x), (yy + t * xy, yy, &*y)];
                    for (index, (square, before, column)) in [i, j].into_iter().zip(updated) {
                        let shorter = square <= 0.1 * before;
                        squares[index] = if shorter { dot(&column[..own], &column[..own], zero) } else { square };
                    }
                }
            }
        }
        for (square, column) in squares.iter_mut().zip(work.chunks_exact(all.max(1))) {
            *square = dot(&column[..own], &column[..own], zero);
        }
        let order = descending(squares.iter().copied());
        let part = |from: usize, len: usize| -> Vec<f64> {
            let of = |j: &usize| {
                let column = &work[j * all + from..(j + 1) * all];
                (0..len).map(move |i| column[i / V::LANES].as_slice()[i % V::LANES])
            };
            order.iter().flat_map(of).collect()
        };
        Orthogonal {
            columns: part(0, rows),
            lengths: order.iter().map(|&j| squares[j].sqrt()).collect(),
            rotations: part(own, if rotations { count } else { 0 }),
            #[expect(clippy::cast_possible_truncation, reason = "at most SWEEPS")]
            sweeps: sweeps as u32,
            converged,
        }
    }
}

/// Returns the inner product of two columns.
#[inline(always)]
pub(super) fn dot<V: Vector<Scalar = f64>>(x: &[V], y: &[V], zero: V) -> f64 {
    // Four sums hide the latency of the additions.
    let mut sums = [zero; 4];
    let (fours, rest) = x.as_chunks::<4>();
    let (others, last) = y.as_chunks::<4>();
    for (x, y) in fours.iter().zip(others) {
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum = x.mul_add(*y, *sum);
        }
    }
    for ((sum, x), y) in sums.iter_mut().zip(rest).zip(last) {
        *sum = x.mul_add(*y, *sum);
    }
    ((sums[0] + sums[1]) + (sums[2] + sums[3])).sum()
}
