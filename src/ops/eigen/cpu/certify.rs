//! Computes the certificates of matrices that are solved in lanes. The certificates are computed in the working
//! precision from the original matrices.

use super::workspace::Workspace;
use crate::array::Real;
use crate::lanes::Vector;

/// The measures by which a certificate is judged, one matrix per lane.
pub(super) struct Measures<V> {
    /// `max_j |A v_j - l_j v_j|_2`.
    pub(super) residual: V,
    /// `max |V'V - I|`.
    pub(super) orthogonality: V,
}

/// The number of rows in a tile, which is also the number of its columns. A tile of this size fits in the registers.
const TILE: usize = 4;
/// The number of terms in a partial sum. In a single long sum, the rounding error could be as large as the residual and
/// hide it. This happens, for example, with the residual of a star graph's eigenvectors.
const RUN: usize = 16;
/// The number of columns that are processed together, so that they stay in the second-level cache.
const PANEL: usize = 4 * TILE;

/// Measures the residual of the eigenpairs in `work.diagonal` and `work.vectors` for the matrices in `work.given`, and
/// the orthogonality of the eigenvectors. Before the measurement, the eigenvectors are scaled to length 1, and the
/// eigenvalues are replaced by Rayleigh quotients, which need only products that are computed here anyway. Without
/// these two corrections, the QL iteration in f32 leaves errors of 18 eps in the lengths and of 15 eps |A| in the
/// eigenvalues (n = 100 to 128, LAPACK's types of test matrices, 2026-11-22).
#[inline(always)]
pub(super) fn measure<V: Vector<Scalar: Real>>(token: V::Token, n: usize, work: &mut Workspace<V>) -> Measures<V> {
    let zero = V::splat(token, V::Scalar::from_f64(0.0));
    let one = V::splat(token, V::Scalar::from_f64(1.0));
    let Workspace { ld, given: a, vectors: v, diagonal, product: squares, update: along, reflector: lengths, .. } =
        work;
    let ld = *ld;
    let (a, v) = (&a[..n * ld], &mut v[..n * ld]);
    let (along, lengths) = (&mut along[..n], &mut lengths[..n]);
    squared_lengths(zero, ld, v, along, lengths);
    along.fill(zero);
    squares[..n].fill(zero);
    let sums = &mut Sums { squares: &mut squares[..n], along };
    let whole = n - n % TILE;
    for panel in (0..n).step_by(PANEL) {
        let (end, whole_end) = ((panel + PANEL).min(n), (panel + PANEL).min(whole));
        for i in (0..whole).step_by(TILE) {
            for c in (panel..whole_end).step_by(TILE) {
                remainders::<V, TILE, TILE>(zero, ld, i, c, a, v, diagonal, sums);
            }
            for c in whole_end..end {
                remainders::<V, TILE, 1>(zero, ld, i, c, a, v, diagonal, sums);
            }
        }
        for i in whole..n {
            for c in (panel..whole_end).step_by(TILE) {
                remainders::<V, 1, TILE>(zero, ld, i, c, a, v, diagonal, sums);
            }
            for c in whole_end..end {
                remainders::<V, 1, 1>(zero, ld, i, c, a, v, diagonal, sums);
            }
        }
    }
    let mut residual = zero;
    for (c, value) in diagonal[..n].iter_mut().enumerate() {
        let (along, length) = (sums.along[c], lengths[c]);
        // A vector of length 0 is left unchanged, and the certificate reports it.
        let inverse = V::select(zero.lt(length), one / length, one);
        let shift = along * inverse;
        *value += shift;
        residual = residual.max(shift.neg_mul_add(along, sums.squares[c]).max(zero) * inverse);
        lengths[c] = inverse.sqrt();
    }
    let residual = residual.sqrt();
    for row in v.chunks_exact_mut(ld) {
        // A `for_each` would be a function of its own here, without the vectors of this one.
        for (x, by) in row.iter_mut().zip(&*lengths) {
            *x *= *by;
        }
    }
    let v = &*v;

    let mut orthogonality = zero;
    for panel in (0..n).step_by(PANEL) {
        let (end, whole_end) = ((panel + PANEL).min(n), (panel + PANEL).min(whole));
        for d in (0..end.min(whole)).step_by(TILE) {
            for c in (panel.max(d)..whole_end).step_by(TILE) {
                orthogonality = orthogonality.max(departure::<V, TILE, TILE>(zero, one, ld, c, d, v));
            }
            for c in whole_end.max(d)..end {
                orthogonality = orthogonality.max(departure::<V, 1, TILE>(zero, one, ld, c, d, v));
            }
        }
        for d in whole..end {
            for c in d..end {
                orthogonality = orthogonality.max(departure::<V, 1, 1>(zero, one, ld, c, d, v));
            }
        }
    }
    Measures { residual, orthogonality }
}

/// For each eigenvalue l and eigenvector v: the sum of the squares of the elements of `A v - l v`, and the inner
/// product of `A v - l v` and v.
struct Sums<'a, V> {
    squares: &'a mut [V],
    along: &'a mut [V],
}

/// Computes the squared lengths of the columns. Each is the sum of partial sums of few terms, because the rounding
/// error of a single long sum would increase the measured error.
#[inline(always)]
fn squared_lengths<V: Vector>(zero: V, ld: usize, v: &[V], part: &mut [V], lengths: &mut [V]) {
    lengths.fill(zero);
    for block in v.chunks(RUN * ld) {
        part.fill(zero);
        // If a matrix is smaller than the largest of its group, it is padded: the rows beyond its order are stored as
        // 0. Rows beyond the largest order are not stored and count as 0 here. The sums of a matrix are therefore the
        // same whether it is padded or not.
        for tile in block.chunks(TILE * ld) {
            for (c, part) in part.iter_mut().enumerate() {
                let [p, q, r, s]: [V; TILE] = std::array::from_fn(|i| tile.get(i * ld + c).copied().unwrap_or(zero));
                *part += q.mul_add(q, p * p) + s.mul_add(s, r * r);
            }
        }
        lengths.iter_mut().zip(&*part).for_each(|(sum, part)| *sum += *part);
    }
}

/// Computes a tile of `A V - V diag(l)` and adds its contribution to the sums of its columns.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a tile's place and the matrices that it is made of")]
fn remainders<V: Vector, const R: usize, const C: usize>(
    zero: V,
    ld: usize,
    i: usize,
    c: usize,
    a: &[V],
    v: &[V],
    values: &[V],
    of: &mut Sums<'_, V>,
) {
    let mut sums = [[zero; C]; R];
    let rows: [&[V]; R] = std::array::from_fn(|r| &a[(i + r) * ld..(i + r + 1) * ld]);
    for (block, lines) in v.chunks(RUN * ld).enumerate() {
        let mut part = [[zero; C]; R];
        for (j, line) in lines.chunks_exact(ld).enumerate() {
            let line = &line[c..c + C];
            for r in 0..R {
                let x = rows[r][block * RUN + j];
                for t in 0..C {
                    part[r][t] = x.mul_add(line[t], part[r][t]);
                }
            }
        }
        for r in 0..R {
            for t in 0..C {
                sums[r][t] += part[r][t];
            }
        }
    }
    for r in 0..R {
        for t in 0..C {
            let own = v[(i + r) * ld + c + t];
            let rest = values[c + t].neg_mul_add(own, sums[r][t]);
            of.squares[c + t] = rest.mul_add(rest, of.squares[c + t]);
            of.along[c + t] = rest.mul_add(own, of.along[c + t]);
        }
    }
}

/// Returns the largest magnitude in a tile of `V'V - I`.
#[inline(always)]
fn departure<V: Vector, const R: usize, const C: usize>(zero: V, one: V, ld: usize, c: usize, d: usize, v: &[V]) -> V {
    let mut sums = [[zero; C]; R];
    for line in v.chunks_exact(ld) {
        let (left, right) = (&line[c..c + R], &line[d..d + C]);
        for r in 0..R {
            for t in 0..C {
                sums[r][t] = left[r].mul_add(right[t], sums[r][t]);
            }
        }
    }
    let mut most = zero;
    for (r, row) in sums.iter().enumerate() {
        for (t, sum) in row.iter().enumerate() {
            most = most.max(if c + r == d + t { *sum - one } else { *sum }.abs());
        }
    }
    most
}
