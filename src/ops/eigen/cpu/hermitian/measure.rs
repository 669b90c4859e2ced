//! Computes the certificates of Hermitian matrices that are solved in lanes, as `cpu::certify` does those of real ones.

use super::Lanes;
use super::group::Workspace;
use crate::array::Real;
use crate::lanes::Vector;

/// The measures by which a certificate is judged, one matrix per lane.
pub(super) struct Measures<V> {
    /// `max_j |A v_j - l_j v_j|_2`.
    pub(super) residual: V,
    /// `max |V^H V - I|`.
    pub(super) orthogonality: V,
}

/// The number of rows in a tile, which is also the number of its columns.
const TILE: usize = 2;
/// The number of terms in a partial sum; see `cpu::certify`.
const RUN: usize = 16;

/// The planes of the eigenvectors: the real and the imaginary parts of all rows.
struct Planes<'a, V> {
    ld: usize,
    re: &'a mut [V],
    im: &'a mut [V],
}

impl<V: Vector> Planes<'_, V> {
    #[inline(always)]
    fn at(&self, i: usize, j: usize) -> Lanes<V> {
        Lanes { re: self.re[i * self.ld + j], im: self.im[i * self.ld + j] }
    }

    /// Returns the real and the imaginary parts of adjacent elements of a row.
    #[inline(always)]
    fn row(&self, i: usize, j: usize, len: usize) -> (&[V], &[V]) {
        let begin = i * self.ld + j;
        (&self.re[begin..begin + len], &self.im[begin..begin + len])
    }
}

/// Measures the eigenpairs. Before, the eigenvectors are scaled to length 1, and the eigenvalues are replaced by
/// Rayleigh quotients.
#[inline(always)]
pub(super) fn measure<V: Vector<Scalar: Real>>(token: V::Token, n: usize, work: &mut Workspace<V>) -> Measures<V> {
    let none = V::splat(token, V::Scalar::from_f64(0.0));
    let one = V::splat(token, V::Scalar::from_f64(1.0));
    let Workspace { ql, given: a, .. } = work;
    let ld = ql.ld;
    let (re, im) = ql.vectors[..2 * n * ld].split_at_mut(n * ld);
    let v = Planes { ld, re, im };
    let (squares, along, lengths) = (&mut ql.product[..n], &mut ql.update[..n], &mut ql.reflector[..n]);
    for (c, length) in lengths.iter_mut().enumerate() {
        *length = none;
        for block in (0..n).step_by(RUN) {
            *length += (block..n.min(block + RUN)).fold(none, |sum, i| Lanes::square(v.at(i, c), sum));
        }
    }
    along.fill(none);
    squares.fill(none);
    let mut sums = Sums { squares, along };
    let whole = n - n % TILE;
    for c in (0..whole).step_by(TILE) {
        for i in (0..whole).step_by(TILE) {
            remainders::<V, TILE, TILE>(none, n, [i, c], a, &v, &ql.diagonal, &mut sums);
        }
        for i in whole..n {
            remainders::<V, 1, TILE>(none, n, [i, c], a, &v, &ql.diagonal, &mut sums);
        }
    }
    for c in whole..n {
        for i in 0..n {
            remainders::<V, 1, 1>(none, n, [i, c], a, &v, &ql.diagonal, &mut sums);
        }
    }
    let Sums { squares, along } = sums;
    let mut residual = none;
    for (c, value) in ql.diagonal[..n].iter_mut().enumerate() {
        // A vector of length 0 is left unchanged, and the certificate reports it.
        let inverse = V::select(none.lt(lengths[c]), one / lengths[c], one);
        let shift = along[c] * inverse;
        *value += shift;
        residual = residual.max(shift.neg_mul_add(along[c], squares[c]).max(none) * inverse);
        lengths[c] = inverse.sqrt();
    }
    for row in v.re.chunks_exact_mut(ld).chain(v.im.chunks_exact_mut(ld)) {
        // A `for_each` would be a function of its own here, without the vectors of this one.
        for (x, by) in row.iter_mut().zip(&*lengths) {
            *x *= *by;
        }
    }
    let mut departed = none;
    for c in (0..whole).step_by(TILE) {
        for d in (c..whole).step_by(TILE) {
            departed = departed.max(departure::<V, TILE, TILE>(none, one, n, [c, d], &v));
        }
        for d in whole..n {
            departed = departed.max(departure::<V, TILE, 1>(none, one, n, [c, d], &v));
        }
    }
    for c in whole..n {
        departed = departed.max(departure::<V, 1, 1>(none, one, n, [c, c], &v));
    }
    Measures { residual: residual.sqrt(), orthogonality: departed.sqrt() }
}

/// For each eigenvalue l and eigenvector v: the sum of the squares of the elements of `r = A v - l v`, and the real
/// part of `v^H r`.
struct Sums<'a, V> {
    squares: &'a mut [V],
    along: &'a mut [V],
}

/// Computes a tile of `A V - V diag(l)` and adds its contribution to the sums of its columns.
#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "the indices of a tile are those of several arrays")]
fn remainders<V: Vector, const R: usize, const C: usize>(
    none: V,
    n: usize,
    [i, c]: [usize; 2],
    a: &[Lanes<V>],
    v: &Planes<'_, V>,
    values: &[V],
    of: &mut Sums<'_, V>,
) {
    let ld = v.ld;
    let zero = Lanes { re: none, im: none };
    let mut sums = [[zero; C]; R];
    let rows: [&[Lanes<V>]; R] = std::array::from_fn(|r| &a[(i + r) * ld..(i + r) * ld + n]);
    for block in (0..n).step_by(RUN) {
        let mut part = [[zero; C]; R];
        for j in block..n.min(block + RUN) {
            let (re, im) = v.row(j, c, C);
            for r in 0..R {
                let x = rows[r][j];
                for t in 0..C {
                    part[r][t] = part[r][t].plus(x, Lanes { re: re[t], im: im[t] });
                }
            }
        }
        for r in 0..R {
            for t in 0..C {
                let Lanes { re, im } = part[r][t];
                sums[r][t] = Lanes { re: sums[r][t].re + re, im: sums[r][t].im + im };
            }
        }
    }
    for r in 0..R {
        for t in 0..C {
            let (own, value) = (v.at(i + r, c + t), values[c + t]);
            let re = value.neg_mul_add(own.re, sums[r][t].re);
            let im = value.neg_mul_add(own.im, sums[r][t].im);
            of.squares[c + t] = Lanes::square(Lanes { re, im }, of.squares[c + t]);
            of.along[c + t] = im.mul_add(own.im, re.mul_add(own.re, of.along[c + t]));
        }
    }
}

/// Returns the largest squared magnitude in a tile of `V^H V - I`.
#[inline(always)]
fn departure<V: Vector, const R: usize, const C: usize>(
    none: V,
    one: V,
    n: usize,
    [c, d]: [usize; 2],
    v: &Planes<'_, V>,
) -> V {
    let mut sums = [[Lanes { re: none, im: none }; C]; R];
    for i in 0..n {
        let ((left_re, left_im), (re, im)) = (v.row(i, c, R), v.row(i, d, C));
        for r in 0..R {
            let left = Lanes { re: left_re[r], im: left_im[r] };
            for t in 0..C {
                sums[r][t] = sums[r][t].plus_conjugate(left, Lanes { re: re[t], im: im[t] });
            }
        }
    }
    let mut most = none;
    for (r, row) in sums.iter().enumerate() {
        for (t, sum) in row.iter().enumerate() {
            let re = if c + r == d + t { sum.re - one } else { sum.re };
            most = most.max(Lanes::square(Lanes { re, im: sum.im }, none));
        }
    }
    most
}
