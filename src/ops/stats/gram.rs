//! Sums of products of columns about their means, on the CPU. Sums within a leaf are in the precision of the input, and
//! sums over leaves are in f64.

use super::cpu::{all, mean_of};
use super::moments::as_f64;
use super::tiles::{COLUMN_PADDING, TASK, in_tiles};
use super::tree::{Tree, subtrees};
use crate::array::Real;
use crate::lanes::{Task, Vector};
use crate::parallel;
use bytemuck::allocation::zeroed_vec;
use faer::linalg::matmul::matmul;
use faer::traits::RealField;
use faer::{Accum, MatMut, MatRef, Par};
use std::convert::Infallible;
use std::ops::Range;

/// The number of rows in a leaf. With 16 lanes, a lane adds up 128 products, and summing over the lanes is a tenth of
/// the work.
pub(super) const ROWS: usize = 2048;
/// The number of columns from which on faer computes the products of a leaf, a band of columns with those before them.
const BLOCKED: usize = 96;
/// The multiple and the maximum of the number of columns in a band.
const BAND: [usize; 2] = [16, 128];
/// The number of columns from which on the products of several leaves are summed band by band, in the cache. Fewer are
/// summed leaf by leaf: then a leaf is in the cache as well.
const BAND_BY_BAND: usize = 512;
/// The maximum number of elements of the leaves that are summed band by band together.
const TOGETHER: usize = 1 << 24;
/// The number of products that are worth a separate task when they are only read and written.
const PASSED: usize = 1 << 15;

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
        let mut own = Means { rows: self.rows, means: self.means };
        let others = Means { rows: other.rows, means: other.means.clone() };
        others.merge_products(&own, 0, &mut self.products, &other.products);
        own.merge(&others);
        Self { rows: own.rows, means: own.means, products: self.products }
    }
}

/// A number of rows and the means of their columns.
#[derive(Clone, Debug)]
struct Means {
    rows: u64,
    means: Vec<f64>,
}

impl Means {
    /// Makes the means those of the rows of `self` and `other` together (Chan, Golub and LeVeque 1979).
    fn merge(&mut self, other: &Self) {
        let (a, b) = (as_f64(self.rows), as_f64(other.rows));
        self.means.iter_mut().zip(&other.means).for_each(|(mean, other)| *mean += (other - *mean) * (b / (a + b)));
        self.rows += other.rows;
    }

    /// Adds the sums of products `more` of the rows of `self` to `own`, those of the rows of `before`. Both are a band
    /// of the lower triangle that begins with row `first`.
    fn merge_products(&self, before: &Self, first: usize, own: &mut [f64], more: &[f64]) {
        let (a, b) = (as_f64(before.rows), as_f64(self.rows));
        let weight = a * (b / (a + b));
        let away: Vec<f64> = before.means.iter().zip(&self.means).map(|(a, b)| b - a).collect();
        let cols = away.len().max(1);
        for ((own, more), i) in own.chunks_exact_mut(cols).zip(more.chunks_exact(cols)).zip(first..) {
            let by = weight * away[i];
            for ((own, more), away) in own[..=i].iter_mut().zip(more).zip(&away) {
                *own += more + by * away;
            }
        }
    }
}

/// What turns the sums of products of the centered elements of a leaf into those of the distances from the means.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    of: Means,
    /// The differences between the means and the numbers of the input's type that were subtracted.
    off: Vec<f64>,
    /// The powers of two by which the distances were divided.
    units: Vec<f64>,
}

impl Leaf {
    pub(super) fn means(&self) -> &[f64] {
        &self.of.means
    }
}

/// The sums of products of the distances of columns from their means.
pub(super) trait Products<T>: Sync {
    /// Writes the sums for column `i` and `columns` to `out`. The columns are not beyond column `i`, and `found` is
    /// what was computed for them before.
    fn write(&self, i: usize, columns: Range<usize>, found: &[T], out: &mut [f64]);
}

/// What was found are the sums of the centered elements.
impl<T: Real> Products<T> for Leaf {
    #[inline(always)]
    fn write(&self, i: usize, columns: Range<usize>, found: &[T], out: &mut [f64]) {
        let (unit, off) = (self.units[i], as_f64(self.of.rows) * self.off[i]);
        let others = self.units[columns.clone()].iter().zip(&self.off[columns]);
        for ((out, sum), (other_unit, other_off)) in out.iter_mut().zip(found).zip(others) {
            // The units are multiplied one after the other, because the product of two units may exceed f64 even if
            // the scaled product does not.
            *out = sum.to_f64() * unit * other_unit - off * other_off;
        }
    }
}

/// What was found does not matter.
impl<T> Products<T> for Gram {
    #[inline(always)]
    fn write(&self, i: usize, columns: Range<usize>, _: &[T], out: &mut [f64]) {
        out.copy_from_slice(&self.products[i * self.means.len()..][columns]);
    }
}

/// Computes the sums of products of the columns of a matrix `(rows, cols)`, over all rows.
pub(super) fn of_matrix<T: Real>(x: &[T], rows: usize, cols: usize) -> Gram {
    if T::ON_DEVICE {
        of_matrix_f32(bytemuck::cast_slice(x), rows, cols)
    } else {
        of_matrix_f64(bytemuck::cast_slice(x), rows, cols)
    }
}

/// Instantiates [`of_leaves`] here, once, instead of in every crate that calls it.
fn of_matrix_f32(x: &[f32], rows: usize, cols: usize) -> Gram {
    of_leaves(x, rows, cols)
}

fn of_matrix_f64(x: &[f64], rows: usize, cols: usize) -> Gram {
    of_leaves(x, rows, cols)
}

fn of_leaves<T: Real + RealField>(x: &[T], rows: usize, cols: usize) -> Gram {
    let rows_of = |number: u64| {
        let begin = usize::try_from(number).unwrap_or(usize::MAX) * ROWS;
        begin..(begin + ROWS).min(rows)
    };
    let leaves = rows.div_ceil(ROWS) as u64;
    let none = || Gram { rows: 0, means: vec![0.0; cols], products: vec![0.0; cols * cols] };
    let merge = |a: Gram, b: Gram| a.merge(&b);
    if cols < BAND_BY_BAND {
        let one = |number: u64| of_rows(x, rows, cols, rows_of(number));
        return all(leaves, &one, &merge).unwrap_or_else(none);
    }
    let most = (TOGETHER / (ROWS * cols)).max(1).ilog2();
    let mut tree = Tree::default();
    for (level, first) in subtrees(0..leaves, most) {
        let some = parallel::map(first..first + (1 << level), |_, number| center(x, rows, cols, rows_of(number)));
        let Ok(()) = tree.push(level, band_by_band(&some, cols), |a, b| Ok::<_, Infallible>(merge(a, b)));
    }
    let Ok(root) = tree.root(None, |a, b| Ok::<_, Infallible>(merge(a, b)));
    root.unwrap_or_else(none)
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

fn leaf_f32(x: &[f32], rows: usize, cols: usize, own: Range<usize>) -> Gram {
    of_rows(x, rows, cols, own)
}

fn leaf_f64(x: &[f64], rows: usize, cols: usize, own: Range<usize>) -> Gram {
    of_rows(x, rows, cols, own)
}

/// Writes the sums of products of the centered elements of a matrix with at most [`ROWS`] rows to the lower triangle of
/// `sums`, `(cols, cols)`.
pub(super) fn only_leaf<T: Real>(x: &[T], rows: usize, cols: usize, sums: &mut [T]) -> Leaf {
    if T::ON_DEVICE {
        only_leaf_f32(bytemuck::cast_slice(x), rows, cols, bytemuck::cast_slice_mut(sums))
    } else {
        only_leaf_f64(bytemuck::cast_slice(x), rows, cols, bytemuck::cast_slice_mut(sums))
    }
}

fn only_leaf_f32(x: &[f32], rows: usize, cols: usize, out: &mut [f32]) -> Leaf {
    let (leaf, centered) = center(x, rows, cols, 0..rows);
    sums(&centered, cols, out);
    leaf
}

fn only_leaf_f64(x: &[f64], rows: usize, cols: usize, out: &mut [f64]) -> Leaf {
    let (leaf, centered) = center(x, rows, cols, 0..rows);
    sums(&centered, cols, out);
    leaf
}

/// The centered elements of a leaf, column after column, which is padded with zeros to `stride` elements.
struct Centered<T> {
    elements: Vec<T>,
    stride: usize,
}

fn center<T: Real>(x: &[T], rows: usize, cols: usize, own: Range<usize>) -> (Leaf, Centered<T>) {
    let count = own.len();
    // A multiple of 32 elements is a whole number of vectors for every vector length.
    let stride = count.next_multiple_of(32);
    let mut elements: Vec<T> = zeroed_vec(stride * cols.next_multiple_of(COLUMN_PADDING));
    let mut means = vec![0.0; cols];
    let mut units = vec![1.0; cols];
    let at_once = (TASK / 4 / stride.max(1)).max(1);
    let some =
        elements.chunks_mut(at_once * stride.max(1)).zip(means.chunks_mut(at_once)).zip(units.chunks_mut(at_once));
    parallel::for_each(some, |i, ((to, means), units)| {
        let columns = to.chunks_exact_mut(stride.max(1)).zip(means).zip(units).zip(i * at_once..cols);
        for (((to, mean), unit), j) in columns {
            let from = &x[j * rows..][own.clone()];
            *mean = mean_of(from);
            *unit = T::in_lanes(Center { from, to: &mut to[..count], near: T::from_f64(*mean) });
        }
    });
    // The means were rounded to `T` before they were subtracted from the columns.
    let off = means.iter().map(|&mean| mean - T::from_f64(mean).to_f64()).collect();
    (Leaf { of: Means { rows: count as u64, means }, off, units }, Centered { elements, stride })
}

fn of_rows<T: Real + RealField>(x: &[T], rows: usize, cols: usize, own: Range<usize>) -> Gram {
    let (leaf, centered) = center(x, rows, cols, own);
    let mut own: Vec<T> = zeroed_vec(cols * cols);
    sums(&centered, cols, &mut own);
    let mut products = zeroed_vec(own.len());
    let at_once = (PASSED.div_ceil(cols.max(1)) * cols).max(1);
    parallel::for_each(products.chunks_mut(at_once).zip(own.chunks(at_once)), |k, (to, own)| {
        let rows = to.chunks_exact_mut(cols).zip(own.chunks_exact(cols)).zip(k * at_once / cols..);
        rows.for_each(|((to, own), i)| leaf.write(i, 0..i + 1, &own[..=i], &mut to[..=i]));
    });
    Gram { rows: leaf.of.rows, means: leaf.of.means, products }
}

/// Computes the sums of products of the columns of leaves, `2^level` of them. A thread adds up a band of all leaves,
/// which stays in the cache.
fn band_by_band<T: Real + RealField>(leaves: &[(Leaf, Centered<T>)], cols: usize) -> Gram {
    let mut products = zeroed_vec(cols * cols);
    let width = band_width(cols);
    let bands: Vec<&mut [f64]> = products.chunks_mut(width * cols).collect();
    let last = bands.len() - 1;
    // The longest rows first.
    let roots = parallel::map(bands.into_iter().rev(), |k, out| {
        let mut sums = zeroed_vec(out.len());
        of_band(leaves, cols, (last - k) * width, &mut sums, out)
    });
    let Means { rows, means } = roots.into_iter().next().unwrap_or(Means { rows: 0, means: vec![0.0; cols] });
    Gram { rows, means, products }
}

/// Computes the band of products that begins with row `first`. `sums` is scratch.
fn of_band<T: Real + RealField>(
    leaves: &[(Leaf, Centered<T>)],
    cols: usize,
    first: usize,
    sums: &mut [T],
    out: &mut [f64],
) -> Means {
    if let [(leaf, centered)] = leaves {
        band(centered, cols, first, sums);
        for ((out, sums), i) in out.chunks_exact_mut(cols).zip(sums.chunks_exact(cols)).zip(first..) {
            leaf.write(i, 0..i + 1, &sums[..=i], &mut out[..=i]);
        }
        return leaf.of.clone();
    }
    let (before, after) = leaves.split_at(leaves.len() / 2);
    let mut own = of_band(before, cols, first, sums, out);
    let mut more = zeroed_vec(out.len());
    let others = of_band(after, cols, first, sums, &mut more);
    others.merge_products(&own, first, out, &more);
    own.merge(&others);
    own
}

/// Computes the lower triangle of the products of centered columns.
fn sums<T: Real + RealField>(centered: &Centered<T>, cols: usize, out: &mut [T]) {
    if centered.stride == 0 || cols == 0 {
        return out.fill(T::from_f64(0.0));
    }
    if cols < BLOCKED {
        return in_tiles(&centered.elements, centered.stride, cols, out);
    }
    let width = band_width(cols);
    let bands: Vec<&mut [T]> = out.chunks_mut(width * cols).collect();
    let last = bands.len() - 1;
    parallel::for_each(bands.into_iter().rev(), |k, out| band(centered, cols, (last - k) * width, out));
}

fn band_width(cols: usize) -> usize {
    let [multiple, most] = BAND;
    (cols / 8).next_multiple_of(multiple).min(most)
}

/// Computes the rows of the lower triangle from row `first` on. Elements beyond the diagonal are not defined.
fn band<T: Real + RealField>(centered: &Centered<T>, cols: usize, first: usize, out: &mut [T]) {
    let Centered { elements, stride } = centered;
    let count = out.len() / cols;
    let x = MatRef::from_column_major_slice(&elements[..stride * cols], *stride, cols);
    // Row i of the products is column i here.
    let out = MatMut::from_column_major_slice_mut(out, cols, count).subrows_mut(0, first + count);
    let (left, right) = (x.subcols(0, first + count).transpose(), x.subcols(first, count));
    matmul(out, Accum::Replace, left, right, T::from_f64(1.0), Par::Seq);
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

#[cfg(test)]
mod tests {
    use super::{Gram, ROWS, leaf, of_matrix};

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
        for cols in [50, 200, 520] {
            let x: Vec<f32> = (0..3000 * cols).map(|k| ((k * 7919) % 1013) as f32).collect();
            let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
            let (one, many) = (alone.install(|| of_matrix(&x, 3000, cols)), of_matrix(&x, 3000, cols));
            // What is beyond the diagonal is not defined.
            let lower = |gram: &Gram| -> Vec<u64> {
                (0..cols).flat_map(|i| &gram.products[i * cols..=i * cols + i]).map(|x| x.to_bits()).collect()
            };
            assert!(lower(&one) == lower(&many), "{cols} columns on one thread");
            let (a, b) = (leaf(&x, 3000, cols, 0..ROWS), leaf(&x, 3000, cols, ROWS..3000));
            assert!(lower(&a.merge(&b)) == lower(&many), "{cols} columns, leaf by leaf");
        }
    }
}
