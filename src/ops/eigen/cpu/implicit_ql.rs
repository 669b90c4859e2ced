//! The implicit QL iteration with Wilkinson's shift on symmetric tridiagonal matrices, one per lane (EISPACK's tql2;
//! Bowdler, Martin, Reinsch and Wilkinson 1968).
//!
//! All lanes sweep at the same time, each on its current block. Outside the block of a lane, and in a lane that is
//! done, the rotations have the cosine c = 1 and the sine s = 0 and change nothing. The result of a lane therefore does
//! not depend on the other lanes.

use super::workspace::{PENDING, Workspace};
use crate::array::Real;
use crate::lanes::Vector;

/// The average number of sweeps allowed for each eigenvalue, 30 as in EISPACK and LAPACK. About 1.7 are needed.
const SWEEPS: usize = 30;
/// The number of rows of the eigenvectors that are rotated together, so that c and s are loaded once for all of these
/// rows.
const ROWS: usize = 4;

/// The start and the end of each lane's block, and the elements from which the lane's shift is computed.
struct Blocks<V> {
    begin: V,
    end: V,
    first: V,
    second: V,
    last: V,
    off: V,
}

/// Diagonalizes the matrices with the diagonals `work.diagonal` and the off-diagonal elements `work.off_diagonal`. If
/// `vectors` is true, also applies the rotations to the columns of `work.vectors`. Returns 1 in the lanes whose
/// iteration has converged, and 0 in the other lanes.
#[inline(always)]
pub(super) fn diagonalize<V: Vector<Scalar: Real>>(
    token: V::Token,
    n: usize,
    work: &mut Workspace<V>,
    vectors: bool,
) -> V {
    let number = |x: f64| V::splat(token, V::Scalar::from_f64(x));
    let (zero, one) = (number(0.0), number(1.0));
    let mut norm = zero;
    for (d, e) in work.diagonal[..n].iter().zip(&work.off_diagonal[..n]) {
        norm = norm.max(d.abs() + e.abs());
    }
    // The tolerance is relative to the norm, as in EISPACK. Setting all smaller off-diagonal elements to 0 changes T by
    // at most eps |T| in total.
    let tolerance = norm * number(0.5 * V::Scalar::EPSILON);
    let mut begin = zero;
    let mut left = SWEEPS * n;
    let mut pending = Vec::with_capacity(PENDING);
    loop {
        let low = least(begin);
        let blocks = scan(token, n, low, work, tolerance, begin);
        begin = blocks.begin;
        let extent = extent::<V>(n, &blocks);
        let Some((low, high)) = extent.filter(|_| left > 0) else {
            rotate_vectors(n, work, &mut pending);
            return V::select(blocks.end.lt(number(n as f64)), zero, one);
        };
        left -= 1;
        let at = if vectors { pending.len() * n } else { 0 };
        sweep(token, low, high, work, at, &blocks);
        if vectors {
            pending.push((low, high));
            if pending.len() == PENDING {
                rotate_vectors(n, work, &mut pending);
            }
        }
    }
}

/// Applies the rotations of the pending sweeps to the columns of the eigenvectors, a few rows at a time.
#[inline(always)]
fn rotate_vectors<V: Vector>(n: usize, work: &mut Workspace<V>, pending: &mut Vec<(usize, usize)>) {
    if pending.is_empty() {
        return;
    }
    let Workspace { ld, vectors, planes, cosines, sines, .. } = work;
    let ld = *ld;
    let mut blocks = vectors[..*planes * n * ld].chunks_exact_mut(ROWS * ld);
    for block in &mut blocks {
        for (k, &(low, high)) in pending.iter().enumerate() {
            let (c, s) = (&cosines[k * n + low..k * n + high], &sines[k * n + low..k * n + high]);
            let mut lines = block.chunks_exact_mut(ld);
            rotate::<V, ROWS>(std::array::from_fn(|_| &mut lines.next().unwrap_or_default()[low..=high]), c, s);
        }
    }
    for row in blocks.into_remainder().chunks_exact_mut(ld) {
        for (k, &(low, high)) in pending.iter().enumerate() {
            let (c, s) = (&cosines[k * n + low..k * n + high], &sines[k * n + low..k * n + high]);
            rotate::<V, 1>([&mut row[low..=high]], c, s);
        }
    }
    pending.clear();
}

/// Returns the smallest index among the lanes.
#[inline(always)]
fn least<V: Vector<Scalar: Real>>(index: V) -> usize {
    index.as_slice().iter().map(|x| to_index(x.to_f64())).min().unwrap_or(0)
}

/// Converts an index that is stored as a floating-point number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an order, exact in any precision here")]
fn to_index(x: f64) -> usize {
    x as usize
}

/// Returns the range from the first column where any lane still works to the last column that any lane needs; `None` if
/// all lanes are done.
#[inline(always)]
fn extent<V: Vector<Scalar: Real>>(n: usize, blocks: &Blocks<V>) -> Option<(usize, usize)> {
    let mut extent = None;
    for (begin, end) in blocks.begin.as_slice().iter().zip(blocks.end.as_slice()) {
        let (begin, end) = (to_index(begin.to_f64()), to_index(end.to_f64()));
        if end < n {
            let (low, high) = extent.unwrap_or((begin, end));
            extent = Some((begin.min(low), end.max(high)));
        }
    }
    extent
}

/// In each lane, skips the deflated elements from `begin` on and finds the end of the first block that is not deflated.
/// In a lane that is done, the end is n.
#[inline(always)]
fn scan<V: Vector<Scalar: Real>>(
    token: V::Token,
    n: usize,
    low: usize,
    work: &Workspace<V>,
    tolerance: V,
    begin: V,
) -> Blocks<V> {
    let number = |x: usize| V::splat(token, V::Scalar::from_f64(x as f64));
    let (zero, one, none, last_index) = (number(0), number(1), number(n), number(n - 1));
    let mut b = Blocks { begin, end: none, first: zero, second: zero, last: zero, off: one };
    for i in low..n {
        let at = number(i);
        let (d, e) = (work.diagonal[i], work.off_diagonal[i]);
        let open = zero.and(b.begin.le(at), last_index.lt(b.end));
        let starts = zero.and(open, at.le(b.begin));
        b.first = V::select(starts, d, b.first);
        b.off = V::select(starts, e, b.off);
        b.second = V::select(starts, work.diagonal[(i + 1).min(n - 1)], b.second);
        let splits = zero.and(open, e.abs().le(tolerance));
        let ends = zero.and(splits, b.begin.lt(at));
        b.end = V::select(ends, at, b.end);
        b.last = V::select(ends, d, b.last);
        b.begin = V::select(zero.and(splits, at.le(b.begin)), at + one, b.begin);
    }
    b
}

/// Does one sweep on the block of each lane. All blocks are within `low..=high`. The rotations are stored in
/// `work.cosines` and `work.sines`, starting at index `to`.
#[inline(always)]
fn sweep<V: Vector<Scalar: Real>>(
    token: V::Token,
    low: usize,
    high: usize,
    work: &mut Workspace<V>,
    to: usize,
    blocks: &Blocks<V>,
) {
    let number = |x: f64| V::splat(token, V::Scalar::from_f64(x));
    let (zero, one, two) = (number(0.0), number(1.0), number(2.0));
    let tiny = number(V::Scalar::SMALLEST / V::Scalar::EPSILON);
    let Workspace { diagonal, off_diagonal, cosines, sines, .. } = work;
    let half = (blocks.second - blocks.first) / (two * blocks.off);
    let root = half.mul_add(half, one).sqrt();
    let mut g = blocks.last - blocks.first + blocks.off / (half + V::select(half.lt(zero), -root, root));
    let (mut s, mut c, mut p) = (one, one, zero);
    for i in (low..high).rev() {
        let at = number(i as f64);
        let acts = zero.and(blocks.begin.le(at), at.lt(blocks.end));
        let first = blocks.end.le(at + one);
        let (d, e, after) = (diagonal[i], off_diagonal[i], diagonal[i + 1]);
        let (f, b) = (s * e, c * e);
        let square = f.mul_add(f, g * g);
        let length = square.sqrt();
        let inverse = one / length;
        // Squares below this bound have lost digits to underflow. The values that were squared are negligible.
        let vanishes = square.lt(tiny);
        let own_s = V::select(vanishes, zero, f * inverse);
        let own_c = V::select(vanishes, one, g * inverse);
        let shifted = after - p;
        let r = (d - shifted).mul_add(own_s, two * own_c * b);
        let own_p = own_s * r;
        let own_g = own_c.mul_add(r, -b);
        off_diagonal[i + 1] = V::select(acts, V::select(first, zero, length), off_diagonal[i + 1]);
        diagonal[i + 1] = V::select(acts, shifted + own_p, after);
        cosines[to + i] = V::select(acts, own_c, one);
        sines[to + i] = V::select(acts, own_s, zero);
        let ends = zero.and(acts, at.le(blocks.begin));
        diagonal[i] = V::select(ends, d - own_p, d);
        off_diagonal[i] = V::select(ends, own_g, e);
        s = V::select(acts, own_s, s);
        c = V::select(acts, own_c, c);
        p = V::select(acts, own_p, p);
        g = V::select(acts, own_g, g);
    }
}

/// Rotates each pair of adjacent columns in R rows, from the last pair to the first.
#[inline(always)]
fn rotate<V: Vector, const R: usize>(rows: [&mut [V]; R], cosines: &[V], sines: &[V]) {
    let last = cosines.len();
    let mut carried: [V; R] = std::array::from_fn(|r| rows[r][last]);
    for i in (0..last).rev() {
        let (c, s) = (cosines[i], sines[i]);
        for r in 0..R {
            let x = rows[r][i];
            rows[r][i + 1] = s.mul_add(x, c * carried[r]);
            carried[r] = s.neg_mul_add(carried[r], c * x);
        }
    }
    for r in 0..R {
        rows[r][0] = carried[r];
    }
}
