//! Sums of products of columns about their means, on the CPU. Sums within a leaf are in the precision of the input, and
//! sums over leaves are in f64.

use super::cpu::{all, mean_of};
use super::moments::as_f64;
use crate::array::Real;
use crate::lanes::{Task, Vector};
use crate::parallel;
use bytemuck::allocation::{cast_vec, zeroed_vec};
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::traits::RealField;
use faer::{Accum, MatMut, MatRef, Par};
use std::ops::Range;

/// The number of rows in a leaf. With 16 lanes, a lane adds up 128 products, and summing over the lanes is a tenth of
/// the work.
pub(super) const ROWS: usize = 2048;
/// The multiple to which the number of columns is padded. The height and the width of every tile divide this multiple.
const COLUMN_PADDING: usize = 12;
/// The number of columns on one side of a tile, which is the block of products of these columns with [`WIDE`] or
/// [`NARROW`] other columns. Vectors of these columns stay in registers while vectors of the other columns are loaded
/// one by one.
const DOWN: usize = 4;
/// The number of columns on the other side of a tile if registers have 64 bytes; a CPU with such registers has 32 of
/// them.
const WIDE: usize = 6;
/// The number of columns on the other side of a tile if registers have fewer than 64 bytes.
const NARROW: usize = 2;
/// The number of columns that stay in the cache while panels of [`DOWN`] columns are multiplied with them, one panel at
/// a time.
const PASSING: usize = 48;
/// The number of columns from which on faer computes the products of a leaf.
const BLOCKED: usize = 96;
/// The number of products that are worth a separate task when they are only read and written.
const PASSED: usize = 1 << 15;
/// The number of multiply-adds that are worth a separate task.
const TASK: usize = 1 << 20;

/// The number of rows, the means of the columns, and the sums of products of distances from these means. The sum for
/// columns i and j, where j <= i, is at index `i * cols + j`.
#[derive(Clone, Debug)]
pub(super) struct Gram {
    pub(super) rows: u64,
    pub(super) means: Vec<f64>,
    pub(super) products: Vec<f64>,
}

impl Gram {
    /// Returns the sums for the rows of `self` and `other` together.
    pub(super) fn merge(mut self, other: &Self) -> Self {
        if self.rows == 0 || other.rows == 0 {
            return if self.rows == 0 { other.clone() } else { self };
        }
        let (a, b) = (as_f64(self.rows), as_f64(other.rows));
        let weight = a * (b / (a + b));
        let away: Vec<f64> = self.means.iter().zip(&other.means).map(|(a, b)| b - a).collect();
        let cols = away.len();
        for (i, (own, others)) in
            self.products.chunks_exact_mut(cols).zip(other.products.chunks_exact(cols)).enumerate()
        {
            let by = weight * away[i];
            for ((own, more), away) in own[..=i].iter_mut().zip(others).zip(&away) {
                *own += more + by * away;
            }
        }
        self.means.iter_mut().zip(&away).for_each(|(mean, away)| *mean += away * (b / (a + b)));
        self.rows += other.rows;
        self
    }
}

/// Computes the sums of products of the columns of a matrix `(rows, cols)`, over all rows.
pub(super) fn of_matrix<T: Real>(x: &[T], rows: usize, cols: usize) -> Gram {
    let none = || Gram { rows: 0, means: vec![0.0; cols], products: vec![0.0; cols * cols] };
    let one = |number: u64| {
        let begin = usize::try_from(number).unwrap_or(usize::MAX) * ROWS;
        leaf(x, rows, cols, begin..(begin + ROWS).min(rows))
    };
    all(rows.div_ceil(ROWS) as u64, &one, &|a: Gram, b: Gram| a.merge(&b)).unwrap_or_else(none)
}

/// Computes the sums of products of the columns of a matrix with `rows` rows. The sums are over the rows in the range
/// `own`, whose length is at most [`ROWS`].
pub(super) fn leaf<T: Real>(x: &[T], rows: usize, cols: usize, own: Range<usize>) -> Gram {
    if T::ON_DEVICE {
        leaf_f32(bytemuck::cast_slice(x), rows, cols, own)
    } else {
        leaf_f64(bytemuck::cast_slice(x), rows, cols, own)
    }
}

/// Instantiates [`of_rows`] here, once, instead of in every crate that calls it.
fn leaf_f32(x: &[f32], rows: usize, cols: usize, own: Range<usize>) -> Gram {
    of_rows(x, rows, cols, own)
}

fn leaf_f64(x: &[f64], rows: usize, cols: usize, own: Range<usize>) -> Gram {
    of_rows(x, rows, cols, own)
}

fn of_rows<T: Real + RealField>(x: &[T], rows: usize, cols: usize, own: Range<usize>) -> Gram {
    let count = own.len();
    let n = as_f64(count as u64);
    // A column is padded with zeros to a multiple of 32 elements, which is a whole number of vectors for every vector
    // length.
    let stride = count.next_multiple_of(32);
    let mut centered: Vec<T> = zeroed_vec(stride * cols.next_multiple_of(COLUMN_PADDING));
    let mut means = vec![0.0; cols];
    let mut units = vec![1.0; cols];
    let at_once = (TASK / 4 / stride.max(1)).max(1);
    let some =
        centered.chunks_mut(at_once * stride.max(1)).zip(means.chunks_mut(at_once)).zip(units.chunks_mut(at_once));
    parallel::for_each(some, |i, ((to, means), units)| {
        let columns = to.chunks_exact_mut(stride.max(1)).zip(means).zip(units).zip(i * at_once..cols);
        for (((to, mean), unit), j) in columns {
            let from = &x[j * rows..][own.clone()];
            *mean = mean_of(from);
            *unit = T::in_lanes(Center { from, to: &mut to[..count], near: T::from_f64(*mean) });
        }
    });
    // The means were rounded to `T` before they were subtracted from the columns. `off` holds the difference between
    // each mean and its rounded value.
    let off: Vec<f64> = means.iter().map(|&mean| mean - T::from_f64(mean).to_f64()).collect();
    let sums =
        if cols < BLOCKED { in_tiles(&centered, stride, cols) } else { in_blocks(&centered, stride, rows, cols) };
    let mut products = in_f64(sums);
    let at_once = PASSED.div_ceil(cols.max(1));
    parallel::for_each(products.chunks_mut((at_once * cols).max(1)), |k, own| {
        for (i, own) in (k * at_once..).zip(own.chunks_exact_mut(cols)) {
            let by = n * off[i];
            for ((product, off), unit) in own[..=i].iter_mut().zip(&off).zip(&units) {
                // The units are multiplied one after the other, because the product of two units may exceed f64 even if
                // the scaled product does not.
                *product = *product * units[i] * unit - by * off;
            }
        }
    });
    Gram { rows: count as u64, means, products }
}

fn in_f64<T: Real>(sums: Vec<T>) -> Vec<f64> {
    if !T::ON_DEVICE {
        return cast_vec(sums);
    }
    let mut wide = zeroed_vec(sums.len());
    parallel::for_each(wide.chunks_mut(PASSED).zip(sums.chunks(PASSED)), |_, (to, from)| {
        to.iter_mut().zip(from).for_each(|(to, x)| *to = x.to_f64());
    });
    wide
}

/// Computes the lower triangle of the products of columns by tiles that stay in registers.
fn in_tiles<T: Real>(centered: &[T], stride: usize, cols: usize) -> Vec<T> {
    let mut products: Vec<T> = zeroed_vec(cols * cols);
    if stride > 0 && cols > 0 {
        let panels = (TASK / (DOWN * cols * stride)).max(1);
        parallel::for_each(products.chunks_mut(DOWN * panels * cols), |k, out| {
            T::in_lanes(Panels { centered, stride, cols, first: k * DOWN * panels, out });
        });
    }
    products
}

/// Computes the same by faer's blocks, which reuse what is in the caches. Only the lower triangle is computed.
fn in_blocks<T: Real + RealField>(centered: &[T], stride: usize, rows: usize, cols: usize) -> Vec<T> {
    let parallel = if rows * cols * cols < TASK { Par::Seq } else { parallel::in_eight() };
    let mut products: Vec<T> = zeroed_vec(cols * cols);
    let x = MatRef::from_column_major_slice(&centered[..stride * cols], stride, cols);
    // Row i of the products is column i here.
    matmul(
        MatMut::from_column_major_slice_mut(&mut products, cols, cols),
        BlockStructure::TriangularUpper,
        Accum::Replace,
        x.transpose(),
        BlockStructure::Rectangular,
        x,
        BlockStructure::Rectangular,
        T::from_f64(1.0),
        parallel,
    );
    products
}

/// The task that writes the distances of the elements from `near`, divided by a unit, and returns the unit. The unit is
/// 1, or a power of two if the squares of the distances would leave the range of the precision.
struct Center<'a, T> {
    from: &'a [T],
    to: &'a mut [T],
    near: T,
}

impl<T: Real> Task<T> for Center<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn run<V: Vector<Scalar = T>>(self, _: V::Token) -> f64 {
        // The maxima are separate, because each comparison with a single maximum would wait for the previous one.
        let mut most = [T::from_f64(0.0); SIDE];
        let (whole, rest) = self.to.as_chunks_mut::<SIDE>();
        let (given, last) = self.from.as_chunks::<SIDE>();
        for (to, from) in whole.iter_mut().zip(given) {
            for place in 0..SIDE {
                to[place] = from[place] - self.near;
                most[place] = larger(to[place], most[place]);
            }
        }
        for (to, &x) in rest.iter_mut().zip(last) {
            *to = x - self.near;
            most[0] = larger(*to, most[0]);
        }
        let largest = most.into_iter().fold(most[0], |most, x| larger(x, most));
        let largest = largest.to_f64();
        // No unit is needed if the largest distance is between 1 / `room` and `room`, which are 2^-42 and 2^42 in f32.
        // Sums of thousands of squares of such distances stay far within the range of the precision.
        let room = T::SMALLEST.powf(-1.0 / 3.0);
        if !largest.is_finite() || largest == 0.0 || (largest < room && largest > 1.0 / room) {
            return 1.0;
        }
        let unit = f64::from_bits(largest.to_bits() & 0x7ff0_0000_0000_0000).max(T::SMALLEST);
        let by = T::from_f64(1.0 / unit);
        for x in self.to {
            *x *= by;
        }
        unit
    }
}

/// The number of separate maxima in a pass over a column.
const SIDE: usize = 16;

/// Returns the larger of two numbers: `most` and the magnitude of `x`. Returns `most` if `x` is NaN.
#[inline(always)]
fn larger<T: Real>(x: T, most: T) -> T {
    let size = if x < T::from_f64(0.0) { -x } else { x };
    if size > most { size } else { most }
}

/// The task that computes the rows of the lower triangle of the products from row `first` on. The length of `out`
/// determines the number of rows.
struct Panels<'a, T> {
    centered: &'a [T],
    stride: usize,
    cols: usize,
    first: usize,
    out: &'a mut [T],
}

impl<T: Real> Task<T> for Panels<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Scalar = T>>(self, token: V::Token) {
        if size_of::<V>() >= 64 {
            self.tiles::<V, WIDE>(token);
        } else {
            self.tiles::<V, NARROW>(token);
        }
    }
}

impl<T: Real> Panels<'_, T> {
    #[inline(always)]
    fn tiles<V: Vector<Scalar = T>, const ACROSS: usize>(self, token: V::Token) {
        let Self { centered, stride, cols, first, out } = self;
        let last = first + out.len() / cols;
        for passing in (0..last).step_by(PASSING) {
            for (panel, rows) in out.chunks_mut(DOWN * cols).enumerate() {
                let i = first + panel * DOWN;
                for j in (passing..(passing + PASSING).min((i + DOWN).min(last))).step_by(ACROSS) {
                    let sums = tile::<V, ACROSS>(token, &centered[i * stride..], &centered[j * stride..], stride);
                    for (own, sums) in rows.chunks_exact_mut(cols).zip(&sums) {
                        let width = ACROSS.min(cols - j);
                        for (to, sum) in own[j..j + width].iter_mut().zip(sums) {
                            *to = sum.sum();
                        }
                    }
                }
            }
        }
    }
}

/// Returns the products of each of [`DOWN`] columns with each of `ACROSS` columns, with one partial sum per lane.
#[inline(always)]
fn tile<V: Vector, const ACROSS: usize>(
    token: V::Token,
    down: &[V::Scalar],
    across: &[V::Scalar],
    stride: usize,
) -> [[V; ACROSS]; DOWN]
where
    V::Scalar: Real,
{
    let zero = V::splat(token, V::Scalar::from_f64(0.0));
    let mut sums = [[zero; ACROSS]; DOWN];
    let down: [&[V::Scalar]; DOWN] = std::array::from_fn(|i| &down[i * stride..(i + 1) * stride]);
    let across: [&[V::Scalar]; ACROSS] = std::array::from_fn(|j| &across[j * stride..(j + 1) * stride]);
    let mut at = 0;
    while at + V::LANES <= stride {
        let own: [V; DOWN] = [
            V::load(token, &down[0][at..at + V::LANES]),
            V::load(token, &down[1][at..at + V::LANES]),
            V::load(token, &down[2][at..at + V::LANES]),
            V::load(token, &down[3][at..at + V::LANES]),
        ];
        for j in 0..ACROSS {
            let other = V::load(token, &across[j][at..at + V::LANES]);
            for i in 0..DOWN {
                sums[i][j] = own[i].mul_add(other, sums[i][j]);
            }
        }
        at += V::LANES;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::{ROWS, leaf, of_matrix};

    /// Compares the products with their definition in f64, for shapes that are close to multiples of every tile size.
    #[test]
    fn products_are_those_of_the_definition() {
        for (rows, cols) in [(1, 1), (5, 3), (33, 13), (ROWS + 7, 5), (100, 61), (64, 12), (40, 131)] {
            let x: Vec<f64> = (0..rows * cols).map(|k| 1e3 + ((k * 7919) % 1013) as f64 / 7.0).collect();
            let narrow: Vec<f32> = x.iter().map(|&x| x as f32).collect();
            let exact: Vec<f64> = narrow.iter().map(|&x| x.into()).collect();
            let mean = |x: &[f64], j: usize| x[j * rows..(j + 1) * rows].iter().sum::<f64>() / rows as f64;
            for (got, x, eps) in
                [(of_matrix(&x, rows, cols), &x, 1e-13), (of_matrix(&narrow, rows, cols), &exact, 1e-5)]
            {
                assert_eq!(got.rows, rows as u64);
                for i in 0..cols {
                    for j in 0..=i {
                        let (a, b) = (mean(x, i), mean(x, j));
                        let terms = (0..rows).map(|r| (x[i * rows + r] - a) * (x[j * rows + r] - b));
                        let (want, scale) = terms.fold((0.0, 0.0), |(s, t), x| (s + x, t + x.abs()));
                        let found = got.products[i * cols + j];
                        // Differences of numbers near 1e3 have lost ten bits.
                        assert!(
                            (found - want).abs() <= eps * (scale + 1e-6 * rows as f64),
                            "{rows} x {cols}: {found} for {want}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn leaves_of_other_threads_change_no_bit() {
        for cols in [50, 200] {
            let x: Vec<f32> = (0..3000 * cols).map(|k| ((k * 7919) % 1013) as f32).collect();
            let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
            let (one, many) = (alone.install(|| of_matrix(&x, 3000, cols)), of_matrix(&x, 3000, cols));
            assert!(one.products.iter().zip(&many.products).all(|(a, b)| a.to_bits() == b.to_bits()));
            let (a, b) = (leaf(&x, 3000, cols, 0..ROWS), leaf(&x, 3000, cols, ROWS..3000));
            assert!(a.merge(&b).products.iter().zip(&many.products).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
    }
}
