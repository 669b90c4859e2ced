//! Products of large matrices, by blocks that stay in the caches and on several threads. Every element of a result is
//! summed in the order of the inner index by fused multiply-adds, as in [`product`](super::product). A sum that is
//! interrupted between two blocks is stored without rounding. So the bits depend neither on the blocks nor on the
//! number of threads nor on the width of the vectors.

use super::super::layout::{STRIP, padded};
use super::product::{Factor, Rows, Sizes};
use crate::array::Real;
use crate::lanes::Vector;
use crate::parallel;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The terms of a sum that are added at a time. With 512 columns of f32, the packed part of the right factor fills half
/// of a second-level cache of 1 MB.
const TERMS: usize = 256;
/// The most bytes of a row of a block.
const WIDE: usize = 2048;
/// The number of lanes of the widest vectors.
const MOST_LANES: usize = STRIP;
/// The most rows of a tile, with vectors of 64 bytes, which come with 32 registers. The accumulators take 24.
const TALLEST: usize = 8;
/// The multiply-adds for which another thread is woken: about 20 us of work.
const WORTH_A_THREAD: usize = 1 << 20;
/// The multiply-adds from which on a product is computed by blocks.
const LARGE: usize = 1 << 23;

/// Returns the rows and the vectors of a tile.
#[inline(always)]
const fn tile_of<V>() -> [usize; 2] {
    // The first fits into the 32 registers of AVX-512, the other into the 16 registers of AVX2.
    if size_of::<V>() == 64 { [TALLEST, 3] } else { [6, 2] }
}

/// Returns whether blocks are faster than the tiles of [`super::product`]. While the factors stay in the caches,
/// packing them only costs time.
pub(super) fn is_large(sizes: Sizes) -> bool {
    sizes.rows >= 4 * TALLEST && sizes.cols >= 128 && sizes.terms() >= LARGE
}

/// Returns the number of threads for which a product of `terms` multiply-adds is worth waking them.
pub(in crate::ops::mlp) fn most_threads(terms: usize) -> usize {
    (terms / WORTH_A_THREAD).max(1)
}

/// Returns the bytes of the parts of both factors that a thread packs for the products of a network of these layers, in
/// elements of `element` bytes; 0 if no product is large.
pub(in crate::ops::mlp) fn packed_bytes(
    batch: usize,
    layers: impl Iterator<Item = [usize; 2]>,
    element: usize,
) -> usize {
    let of_product = |rows, inner, cols| {
        let columns = padded(cols).min(WIDE / element);
        if is_large(Sizes { rows, inner, cols }) { element * (TERMS * (columns + TALLEST) + TALLEST) } else { 0 }
    };
    let of_layer = |[inputs, outputs]: [usize; 2]| {
        let products =
            [[batch, inputs, outputs], [outputs, batch, inputs], [inputs, batch, outputs], [batch, outputs, inputs]];
        products.into_iter().map(|[rows, inner, cols]| of_product(rows, inner, cols)).max().unwrap_or(0)
    };
    layers.map(of_layer).max().unwrap_or(0)
}

/// The threads that may work on one product, and their memory.
pub(super) struct Team<T> {
    pub(super) threads: usize,
    idle: Mutex<Vec<Packed<T>>>,
}

impl<T> Team<T> {
    pub(super) fn new(threads: usize) -> Self {
        Self { threads, idle: Mutex::new(Vec::new()) }
    }

    /// Returns the number of rows of a result that a thread computes at a time, a multiple of `tall`.
    pub(super) fn share(&self, sizes: Sizes, tall: usize) -> usize {
        let parts = if self.threads < 2 { 1 } else { most_threads(sizes.terms()).min(2 * self.threads) };
        sizes.rows.div_ceil(parts).next_multiple_of(tall)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Packed<T>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Parts of both factors, in the order in which tiles read them.
struct Packed<T> {
    left: Vec<T>,
    right: Vec<T>,
}

/// `out = start + left right`, where every row of the result starts with the row `start`, or with zeros, and is padded.
pub(super) fn product<V: Vector<Scalar: Real>>(
    token: V::Token,
    team: &Team<V::Scalar>,
    sizes: Sizes,
    left: Factor<'_, V::Scalar>,
    right: Factor<'_, V::Scalar>,
    start: Option<&[V::Scalar]>,
    out: &mut [V::Scalar],
) {
    let stride = padded(sizes.cols);
    let each = team.share(sizes, tile_of::<V>()[0]);
    let run = |part: usize, out: &mut [V::Scalar]| {
        let idle = team.idle().pop();
        let mut packed = idle.unwrap_or_else(|| Packed { left: Vec::new(), right: Vec::new() });
        let block = Block { first: part * each, sizes, stride, left, right, start };
        V::with_instructions(
            token,
            #[inline(always)]
            || block.compute::<V>(token, out, &mut packed),
        );
        team.idle().push(packed);
    };
    let out = &mut out[..sizes.rows * stride];
    if each >= sizes.rows {
        run(0, out);
    } else {
        parallel::for_each(out.chunks_mut(each * stride), run);
    }
}

/// Some rows of a product.
#[derive(Clone, Copy)]
struct Block<'a, T> {
    /// The first of the rows.
    first: usize,
    sizes: Sizes,
    stride: usize,
    left: Factor<'a, T>,
    right: Factor<'a, T>,
    start: Option<&'a [T]>,
}

impl<T: Real> Block<'_, T> {
    #[inline(always)]
    fn compute<V: Vector<Scalar = T>>(self, token: V::Token, out: &mut [T], packed: &mut Packed<T>) {
        let Self { sizes, stride, start, .. } = self;
        let ([tall, _], wide) = (tile_of::<V>(), WIDE / size_of::<T>());
        let zero = T::from_f64(0.0);
        for col in (0..sizes.cols).step_by(wide) {
            let vectors = wide.min(sizes.cols - col).div_ceil(V::LANES);
            for first in (0..sizes.inner).step_by(TERMS) {
                let terms = TERMS.min(sizes.inner - first);
                packed.right.resize(TERMS * vectors * V::LANES, zero);
                pack_right::<V>(token, self.right, (first, terms), (col, vectors), &mut packed.right);
                let sum = Sum { terms, stride, goes_on: first > 0, start };
                for (stripe, out) in out.chunks_mut(tall * stride).enumerate() {
                    let row = self.first + stripe * tall;
                    let factors = match self.left {
                        Factor::Plain(left) => {
                            // Rows that do not exist are replaced by the last one. Their sums are not stored.
                            let last = out.len() / stride - 1;
                            let line = |r: usize| &left.data[(row + r.min(last)) * left.stride + first..][..terms];
                            Factors::Stored(std::array::from_fn(line))
                        }
                        Factor::Transposed(left) => {
                            packed.left.resize(TERMS * tall + TALLEST, zero);
                            pack_left(left, (first, terms), row, tall, &mut packed.left);
                            Factors::Packed(&packed.left[..terms * tall])
                        }
                    };
                    each_panel::<V>(vectors, |at, width| {
                        sum.tiles::<V>(token, &factors, &packed.right[at * terms..], width, col + at, out);
                    });
                }
            }
        }
    }
}

/// Divides vectors into panels of nearly equal width. Calls `work` with the first column and the number of vectors.
#[inline(always)]
fn each_panel<V: Vector>(vectors: usize, mut work: impl FnMut(usize, usize)) {
    let panels = vectors.div_ceil(tile_of::<V>()[1]);
    let mut at = 0;
    for panel in 0..panels {
        let width = (vectors - at) / (panels - panel);
        work(at * V::LANES, width);
        at += width;
    }
}

/// Copies a part of the right factor to panels, each with one term after another.
#[inline(always)]
fn pack_right<V: Vector<Scalar: Real>>(
    token: V::Token,
    right: Factor<'_, V::Scalar>,
    (first, terms): (usize, usize),
    (col, vectors): (usize, usize),
    to: &mut [V::Scalar],
) {
    match right {
        Factor::Plain(right) => {
            for k in 0..terms {
                let line = &right.data[(first + k) * right.stride + col..][..vectors * V::LANES];
                each_panel::<V>(vectors, |at, width| {
                    let to = &mut to[at * terms + k * width * V::LANES..];
                    for (from, to) in line[at..].chunks_exact(V::LANES).zip(to.chunks_exact_mut(V::LANES)).take(width) {
                        V::load(token, from).store(to);
                    }
                });
            }
        }
        Factor::Transposed(right) => {
            let zero = V::Scalar::from_f64(0.0);
            let zeros = [zero; TERMS];
            let stored = right.data.chunks_exact(right.stride);
            each_panel::<V>(vectors, |at, width| {
                let width = width * V::LANES;
                let to = &mut to[at * terms..][..width * terms];
                let mut lines = stored.clone().skip(col + at).map(|line| &line[first..][..terms]);
                // As many rows as there are lanes become adjacent elements. The columns' padding is zero.
                for lane in (0..width).step_by(V::LANES) {
                    let lines: [&[V::Scalar]; MOST_LANES] = std::array::from_fn(|i| {
                        if i < V::LANES { lines.next().unwrap_or(&zeros[..terms]) } else { &zeros[..terms] }
                    });
                    for (k, to) in to.chunks_exact_mut(width).enumerate() {
                        let to = &mut to[lane..][..V::LANES];
                        for i in 0..V::LANES {
                            to[i] = lines[i][k];
                        }
                    }
                }
            });
        }
    }
}

/// Copies `tall` columns of a stored left factor, one term after another.
#[inline(always)]
fn pack_left<T: Real>(left: Rows<'_, T>, (first, terms): (usize, usize), row: usize, tall: usize, to: &mut [T]) {
    for k in 0..terms {
        let from = &left.data[(first + k) * left.stride + row..];
        let to = &mut to[k * tall..];
        // Copies of a fixed length are fast. The next term replaces what is too much.
        if from.len() >= TALLEST {
            to[..TALLEST].copy_from_slice(&from[..TALLEST]);
        } else {
            to[..from.len()].copy_from_slice(from);
        }
    }
}

/// The left factors of a tile.
enum Factors<'a, T> {
    /// A part of each row.
    Stored([&'a [T]; TALLEST]),
    /// One term of all rows after another.
    Packed(&'a [T]),
}

/// A part of the sums of tiles.
#[derive(Clone, Copy)]
struct Sum<'a, T> {
    terms: usize,
    /// The distance of the rows of the result.
    stride: usize,
    /// Whether the sums have been begun.
    goes_on: bool,
    start: Option<&'a [T]>,
}

impl<T: Real> Sum<'_, T> {
    #[inline(always)]
    fn tiles<V: Vector<Scalar = T>>(
        self,
        token: V::Token,
        factors: &Factors<'_, T>,
        panel: &[T],
        width: usize,
        col: usize,
        out: &mut [T],
    ) {
        match (tile_of::<V>()[0], width) {
            (6, 1) => self.tile::<V, 6, 1>(token, factors, panel, col, out),
            (6, _) => self.tile::<V, 6, 2>(token, factors, panel, col, out),
            (_, 1) => self.tile::<V, 8, 1>(token, factors, panel, col, out),
            (_, 2) => self.tile::<V, 8, 2>(token, factors, panel, col, out),
            _ => self.tile::<V, 8, 3>(token, factors, panel, col, out),
        }
    }

    #[inline(always)]
    fn tile<V: Vector<Scalar = T>, const R: usize, const N: usize>(
        self,
        token: V::Token,
        factors: &Factors<'_, T>,
        panel: &[T],
        col: usize,
        out: &mut [T],
    ) {
        let rows_of_out = out.len() / self.stride;
        let begin: [V; N] = std::array::from_fn(|n| match self.start {
            Some(start) => V::load(token, &start[col + n * V::LANES..]),
            None => V::splat(token, T::from_f64(0.0)),
        });
        let mut sums = [begin; R];
        if self.goes_on {
            for r in 0..R {
                if r < rows_of_out {
                    let line = &out[r * self.stride + col..];
                    sums[r] = std::array::from_fn(|n| V::load(token, &line[n * V::LANES..]));
                }
            }
        }
        let width = N * V::LANES;
        let panel = &panel[..self.terms * width];
        match factors {
            Factors::Packed(packed) => {
                for (line, factors) in panel.chunks_exact(width).zip(packed.chunks_exact(R)) {
                    let b: [V; N] = std::array::from_fn(|n| V::load(token, &line[n * V::LANES..]));
                    for (sums, &factor) in sums.iter_mut().zip(factors) {
                        let a = V::splat(token, factor);
                        for n in 0..N {
                            sums[n] = a.mul_add(b[n], sums[n]);
                        }
                    }
                }
            }
            Factors::Stored(rows) => {
                let rows: [&[T]; R] = std::array::from_fn(|r| &rows[r][..self.terms]);
                for (k, line) in panel.chunks_exact(width).enumerate().take(self.terms) {
                    let b: [V; N] = std::array::from_fn(|n| V::load(token, &line[n * V::LANES..]));
                    for (sums, row) in sums.iter_mut().zip(rows) {
                        let a = V::splat(token, row[k]);
                        for n in 0..N {
                            sums[n] = a.mul_add(b[n], sums[n]);
                        }
                    }
                }
            }
        }
        for r in 0..R {
            if r < rows_of_out {
                let line = &mut out[r * self.stride + col..];
                for n in 0..N {
                    sums[r][n].store(&mut line[n * V::LANES..]);
                }
            }
        }
    }
}
