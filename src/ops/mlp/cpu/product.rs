//! Products of small matrices in row-major order, with the columns of the result in lanes. Every element of a result is
//! summed in the order of the inner index by fused multiply-adds, so its bits depend neither on the width of the
//! vectors nor on the tiles.

use super::super::layout::STRIP;
use super::blocked::{self, Team, is_large};
use crate::array::Real;
use crate::lanes::Vector;
use crate::parallel;

/// A matrix in row-major order, and the distance between its rows.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, T> {
    pub(super) data: &'a [T],
    pub(super) stride: usize,
}

/// The rows and columns of a result, and the number of terms of its sums.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub(super) rows: usize,
    pub(super) inner: usize,
    pub(super) cols: usize,
}

impl Sizes {
    /// Returns the number of multiply-adds.
    pub(super) fn terms(self) -> usize {
        self.rows * self.inner * self.cols
    }
}

/// A factor as it is stored.
#[derive(Clone, Copy)]
pub(super) enum Factor<'a, T> {
    Plain(Rows<'a, T>),
    /// The rows are the columns of the factor.
    Transposed(Rows<'a, T>),
}

/// The most rows of a tile. With two vectors in each row, the accumulators, the two vectors of the right factor and one
/// of the left fill the sixteen registers of AVX2.
const TALLEST: usize = 6;

/// `out = start + left right`, where every row of the result starts with the row `start`, or with zeros. The rows of
/// the right factor and of the result have the same padding. The number of threads changes no bit.
pub(super) fn product<V: Vector<Scalar: Real>>(
    token: V::Token,
    team: &Team<V::Scalar>,
    sizes: Sizes,
    left: Factor<'_, V::Scalar>,
    right: Rows<'_, V::Scalar>,
    start: Option<&[V::Scalar]>,
    out: &mut [V::Scalar],
) {
    if is_large(sizes) {
        return blocked::product::<V>(token, team, sizes, left, Factor::Plain(right), start, out);
    }
    let each = team.share(sizes, TALLEST);
    let run = |part: usize, out: &mut [V::Scalar]| {
        let sizes = Sizes { rows: out.len() / right.stride, ..sizes };
        match left {
            Factor::Plain(left) => {
                let left = Rows { data: &left.data[part * each * left.stride..], ..left };
                of_rows::<V>(token, sizes, left, right, start, out);
            }
            Factor::Transposed(left) => {
                let left = Rows { data: &left.data[part * each..], ..left };
                of_columns::<V>(token, sizes, left, right, out);
            }
        }
    };
    let out = &mut out[..sizes.rows * right.stride];
    if each >= sizes.rows {
        run(0, out);
    } else {
        parallel::for_each(out.chunks_mut(each * right.stride), run);
    }
}

fn of_rows<V: Vector<Scalar: Real>>(
    token: V::Token,
    sizes: Sizes,
    left: Rows<'_, V::Scalar>,
    right: Rows<'_, V::Scalar>,
    start: Option<&[V::Scalar]>,
    out: &mut [V::Scalar],
) {
    V::with_instructions(
        token,
        #[inline(always)]
        || tiles::<V, false>(token, sizes, left, right, start, out),
    );
}

/// `out = left' right`.
fn of_columns<V: Vector<Scalar: Real>>(
    token: V::Token,
    sizes: Sizes,
    left: Rows<'_, V::Scalar>,
    right: Rows<'_, V::Scalar>,
    out: &mut [V::Scalar],
) {
    V::with_instructions(
        token,
        #[inline(always)]
        || tiles::<V, true>(token, sizes, left, right, None, out),
    );
}

/// Divides the rows of the result into tiles of nearly equal height, and the columns into pairs of vectors.
#[inline(always)]
fn tiles<V: Vector<Scalar: Real>, const TRANSPOSED: bool>(
    token: V::Token,
    sizes: Sizes,
    left: Rows<'_, V::Scalar>,
    right: Rows<'_, V::Scalar>,
    start: Option<&[V::Scalar]>,
    out: &mut [V::Scalar],
) {
    let Sizes { rows, inner, cols } = sizes;
    let (vectors, parts) = (cols.div_ceil(V::LANES), rows.div_ceil(TALLEST));
    let mut row = 0;
    for part in 0..parts {
        let height = (rows - row) / (parts - part);
        let of_row = if TRANSPOSED { &left.data[row..] } else { &left.data[row * left.stride..] };
        let left = Rows { data: of_row, stride: left.stride };
        let out = &mut out[row * right.stride..];
        match height {
            1 => stripe::<V, TRANSPOSED, 1>(token, inner, vectors, left, right, start, out),
            2 => stripe::<V, TRANSPOSED, 2>(token, inner, vectors, left, right, start, out),
            3 => stripe::<V, TRANSPOSED, 3>(token, inner, vectors, left, right, start, out),
            4 => stripe::<V, TRANSPOSED, 4>(token, inner, vectors, left, right, start, out),
            5 => stripe::<V, TRANSPOSED, 5>(token, inner, vectors, left, right, start, out),
            _ => stripe::<V, TRANSPOSED, 6>(token, inner, vectors, left, right, start, out),
        }
        row += height;
    }
}

/// The tiles of `R` rows.
#[inline(always)]
fn stripe<V: Vector<Scalar: Real>, const TRANSPOSED: bool, const R: usize>(
    token: V::Token,
    inner: usize,
    vectors: usize,
    left: Rows<'_, V::Scalar>,
    right: Rows<'_, V::Scalar>,
    start: Option<&[V::Scalar]>,
    out: &mut [V::Scalar],
) {
    let mut at = 0;
    while at + 2 <= vectors {
        tile::<V, TRANSPOSED, R, 2>(token, inner, at * V::LANES, left, right, start, out);
        at += 2;
    }
    if at < vectors {
        tile::<V, TRANSPOSED, R, 1>(token, inner, at * V::LANES, left, right, start, out);
    }
}

#[inline(always)]
fn tile<V: Vector<Scalar: Real>, const TRANSPOSED: bool, const R: usize, const N: usize>(
    token: V::Token,
    inner: usize,
    col: usize,
    left: Rows<'_, V::Scalar>,
    right: Rows<'_, V::Scalar>,
    start: Option<&[V::Scalar]>,
    out: &mut [V::Scalar],
) {
    let begin: [V; N] = std::array::from_fn(|n| match start {
        Some(start) => V::load(token, &start[col + n * V::LANES..]),
        None => V::splat(token, V::Scalar::from_f64(0.0)),
    });
    let mut sums = [begin; R];
    let width = N * V::LANES;
    let line = |k: usize| -> [V; N] {
        let line = &right.data[k * right.stride + col..][..width];
        std::array::from_fn(|n| V::load(token, &line[n * V::LANES..]))
    };
    // The slices have exactly `inner` elements, so the compiler checks no index in the loops.
    if TRANSPOSED {
        for k in 0..inner {
            let (b, factors) = (line(k), &left.data[k * left.stride..][..R]);
            for (sums, &factor) in sums.iter_mut().zip(factors) {
                let a = V::splat(token, factor);
                for n in 0..N {
                    sums[n] = a.mul_add(b[n], sums[n]);
                }
            }
        }
    } else {
        let rows: [&[V::Scalar]; R] = std::array::from_fn(|r| &left.data[r * left.stride..][..inner]);
        for k in 0..inner {
            let b = line(k);
            for (sums, row) in sums.iter_mut().zip(rows) {
                let a = V::splat(token, row[k]);
                for n in 0..N {
                    sums[n] = a.mul_add(b[n], sums[n]);
                }
            }
        }
    }
    for (r, sums) in sums.into_iter().enumerate() {
        for (n, sum) in sums.into_iter().enumerate() {
            sum.store(&mut out[r * right.stride + col + n * V::LANES..]);
        }
    }
}

/// `out[r][c] = start[c] + left[r] . right[c]` for the rows of both factors, which have `stride` elements with padding.
/// Used for layers with few outputs. Each dot product is the sum of [`STRIP`] partial sums.
#[expect(clippy::too_many_arguments, reason = "two factors, a start and a result, with their sizes")]
pub(super) fn dots<V: Vector<Scalar: Real>>(
    token: V::Token,
    rows: usize,
    cols: usize,
    left: Rows<'_, V::Scalar>,
    right: Rows<'_, V::Scalar>,
    start: &[V::Scalar],
    out: &mut [V::Scalar],
    out_stride: usize,
) {
    V::with_instructions(
        token,
        #[inline(always)]
        || {
            for (left, out) in left.data.chunks(left.stride).zip(out.chunks_mut(out_stride)).take(rows) {
                for (c, right) in right.data.chunks(right.stride).take(cols).enumerate() {
                    let mut sums = [V::splat(token, V::Scalar::from_f64(0.0)); STRIP];
                    for (a, b) in left.chunks_exact(STRIP).zip(right.chunks_exact(STRIP)) {
                        for (i, sum) in sums[..STRIP / V::LANES].iter_mut().enumerate() {
                            let at = i * V::LANES;
                            *sum = V::load(token, &a[at..]).mul_add(V::load(token, &b[at..]), *sum);
                        }
                    }
                    out[c] = start[c] + total::<V>(&sums);
                }
            }
        },
    );
}

/// Adds a row times a matrix to `out`, which has the length of the matrix's rows. The sums have the order and thus the
/// bits of [`product`], but the matrix is read row by row, which is faster if it exceeds the cache.
pub(super) fn add_combination<V: Vector<Scalar: Real>>(
    token: V::Token,
    left: &[V::Scalar],
    right: Rows<'_, V::Scalar>,
    out: &mut [V::Scalar],
) {
    const ABREAST: usize = 4;
    let Rows { data, stride } = right;
    V::with_instructions(
        token,
        #[inline(always)]
        || {
            let (fours, rest) = left.as_chunks::<ABREAST>();
            for (left, right) in fours.iter().zip(data.chunks_exact(ABREAST * stride)) {
                let factors = left.map(|x| V::splat(token, x));
                for (c, out) in out.chunks_exact_mut(V::LANES).enumerate() {
                    let mut sum = V::load(token, out);
                    for (i, factor) in factors.iter().enumerate() {
                        sum = factor.mul_add(V::load(token, &right[i * stride + c * V::LANES..]), sum);
                    }
                    sum.store(out);
                }
            }
            let done = fours.len() * ABREAST * stride;
            for (left, right) in rest.iter().zip(data[done..].chunks_exact(stride)) {
                let factor = V::splat(token, *left);
                for (right, out) in right.chunks_exact(V::LANES).zip(out.chunks_exact_mut(V::LANES)) {
                    factor.mul_add(V::load(token, right), V::load(token, out)).store(out);
                }
            }
        },
    );
}

/// Returns the sum of [`STRIP`] partial sums in vectors, by halves.
#[inline(always)]
pub(super) fn total<V: Vector<Scalar: Real>>(sums: &[V; STRIP]) -> V::Scalar {
    let mut strips = [V::Scalar::from_f64(0.0); STRIP];
    for (strips, sum) in strips.chunks_exact_mut(V::LANES).zip(sums) {
        sum.store(strips);
    }
    let mut half = STRIP / 2;
    while half > 0 {
        for i in 0..half {
            strips[i] += strips[i + half];
        }
        half /= 2;
    }
    strips[0]
}
