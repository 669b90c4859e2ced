//! An orthonormal basis of long vectors, stored so that the elements that one small dense product uses are
//! contiguous.

use crate::ops::sparse::{NONE, NullSpace};
use crate::parallel;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use std::ops::Range;

/// The number of rows in a panel. A panel of 70 columns fills a quarter of a second-level cache, so it is still in
/// the cache for the second product of a Gram-Schmidt step.
const ROWS: usize = 512;
/// The maximum number of chunks of rows. One thread sums each chunk, and then the sums of the chunks are added in
/// order. The chunks do not depend on the number of threads, so the order of every sum is fixed.
const CHUNKS: usize = 64;
/// The maximum number of Gram-Schmidt passes. After the second pass, another pass follows if the last one removed
/// more of a vector than it left. Usually two passes are enough (Parlett 1980, after Kahan: "twice is enough").
/// More are needed if the part of a vector that is left consists of rounding errors.
const PASSES: usize = 5;

/// Columns of `rows` elements, cut into panels of [`ROWS`] rows. Each panel is column-major, and the last one is
/// padded with zeros.
#[derive(Debug)]
pub(super) struct Basis {
    rows: usize,
    panel: usize,
    capacity: usize,
    elements: Vec<f64>,
}

impl Basis {
    /// Returns a basis of zeros with room for `capacity` columns of `rows` elements.
    pub(super) fn new(rows: usize, capacity: usize) -> Self {
        let panel = rows.clamp(1, ROWS);
        Self { rows, panel, capacity, elements: vec![0.0; rows.div_ceil(panel) * panel * capacity] }
    }

    /// Returns the number of elements in the panels of one chunk.
    fn chunk(&self) -> usize {
        let panels = self.rows.div_ceil(self.panel);
        panels.div_ceil(CHUNKS).max(1) * self.panel * self.capacity
    }

    /// Writes column-major vectors to the columns starting at `first`.
    pub(super) fn write(&mut self, first: usize, vectors: &[f64]) {
        let (n, panel) = (self.rows, self.panel);
        parallel::for_each(self.elements.chunks_mut((panel * self.capacity).max(1)), |i, own| {
            let rows = i * panel..((i + 1) * panel).min(n);
            for (to, from) in own[first * panel..].chunks_exact_mut(panel).zip(vectors.chunks_exact(n)) {
                to[..rows.len()].copy_from_slice(&from[rows.clone()]);
            }
        });
    }

    /// Reads the columns `columns` into `vectors`, which is column-major.
    pub(super) fn read(&self, columns: Range<usize>, vectors: &mut [f64]) {
        let (n, panel) = (self.rows, self.panel);
        parallel::for_each(vectors.chunks_mut(n.max(1)).zip(columns), |_, (to, column)| {
            let panels = self.elements.chunks_exact(panel * self.capacity);
            for (to, own) in to.chunks_mut(panel).zip(panels) {
                to.copy_from_slice(&own[column * panel..][..to.len()]);
            }
        });
    }

    /// Makes the last `new` of the first `end` columns orthogonal to the columns before them, but not to each
    /// other. There are two passes of classical Gram-Schmidt, and more if the last pass removed most of a vector.
    /// Returns the coefficients of the removed components, a matrix of shape `(end - new, new)`.
    pub(super) fn orthogonalize(&mut self, end: usize, new: usize) -> Mat<f64> {
        let old = end - new;
        let mut taken = Mat::zeros(old, new);
        if old == 0 || new == 0 {
            return taken;
        }
        let mut next = self.overlaps(old, new);
        for pass in 1..=PASSES {
            taken += &next;
            let (overlaps, squares) = self.subtract_old(old, &next, pass == 1);
            // Whether the part of column j that this pass removed is at most as long as the part that is left. If
            // so, the rounding errors of the pass are small compared with the part that is left.
            let little = |j: usize| next.col(j).iter().map(|x| x * x).sum::<f64>() <= squares[(0, j)];
            if pass > 1 && (0..new).all(little) {
                break;
            }
            next = if pass == 1 { overlaps } else { self.overlaps(old, new) };
        }
        taken
    }

    /// Computes the dot products of the first `old` columns with the `new` columns that follow.
    fn overlaps(&self, old: usize, new: usize) -> Mat<f64> {
        let panel = self.panel;
        self.sums(old, new, |own, sum| {
            let (v, w) = own.split_at(old * panel);
            let [v, w] = [(v, old), (w, new)]
                .map(|(x, count)| MatRef::from_column_major_slice(&x[..count * panel], panel, count));
            matmul(sum.as_mut(), Accum::Add, v.transpose(), w, 1.0, Par::Seq);
        })
    }

    /// Subtracts multiples of the first `old` columns from the columns that follow. Returns the dot products of the
    /// first `old` columns with the results, and the squared norms of the results. The dot products are computed
    /// while a panel is in a cache, and only if `overlaps` is set; otherwise they are 0.
    fn subtract_old(&mut self, old: usize, factors: &Mat<f64>, overlaps: bool) -> (Mat<f64>, Mat<f64>) {
        let (panel, capacity, new, size) = (self.panel, self.capacity, factors.ncols(), self.chunk());
        let of_chunk = |chunk: &mut [f64]| {
            let mut sums = (Mat::<f64>::zeros(old, new), Mat::<f64>::zeros(1, new));
            for own in chunk.chunks_exact_mut(panel * capacity) {
                let (v, w) = own[..(old + new) * panel].split_at_mut(old * panel);
                let v = MatRef::from_column_major_slice(v, panel, old);
                let mut left = MatMut::from_column_major_slice_mut(w, panel, new);
                matmul(left.as_mut(), Accum::Add, v, factors.as_ref(), -1.0, Par::Seq);
                if overlaps {
                    matmul(sums.0.as_mut(), Accum::Add, v.transpose(), left.as_ref(), 1.0, Par::Seq);
                }
                for (j, column) in w.chunks_exact(panel).enumerate() {
                    sums.1[(0, j)] += dot(column, column);
                }
            }
            sums
        };
        let parts = parallel::map(self.elements.chunks_mut(size), |_, chunk| of_chunk(chunk));
        parts.iter().fold((Mat::zeros(old, new), Mat::zeros(1, new)), |(a, b), (c, d)| (a + c, b + d))
    }

    /// Returns a `(rows, columns)` matrix that is the sum of one matrix per panel. `add` computes the matrix of a
    /// panel and adds it to a sum.
    fn sums(&self, rows: usize, columns: usize, add: impl Fn(&[f64], &mut Mat<f64>) + Sync) -> Mat<f64> {
        let of_chunk = |chunk: &[f64]| {
            let mut sum = Mat::zeros(rows, columns);
            chunk.chunks_exact(self.panel * self.capacity).for_each(|own| add(own, &mut sum));
            sum
        };
        let parts = parallel::map(self.elements.chunks(self.chunk()), |_, chunk| of_chunk(chunk));
        parts.iter().fold(Mat::zeros(rows, columns), |total, part| total + part)
    }

    /// Projects the known null vectors out of the given columns.
    pub(super) fn deflate(&mut self, null: &NullSpace<f64>, columns: Range<usize>) {
        if null.is_empty() || columns.is_empty() {
            return;
        }
        let (panel, stride, count) = (self.panel, self.panel * self.capacity, columns.len());
        let chunk = self.chunk();
        let chunks = self.elements.len().div_ceil(chunk.max(1));
        // With very many null vectors, one sum per null vector and chunk would need more memory than the columns
        // themselves. Then all rows are one chunk.
        let size = if null.len() * chunks <= self.rows { chunk } else { self.elements.len() };
        let span = |i: usize| (i * panel).min(self.rows)..((i + 1) * panel).min(self.rows);
        let parts: Vec<Vec<f64>> = parallel::map(self.elements.chunks(size), |i, chunk| {
            let mut sums = vec![0.0; null.len() * count];
            for (own, i) in chunk.chunks_exact(stride).zip(i * (size / stride)..) {
                let (labels, values) = (&null.labels[span(i)], &null.values[span(i)]);
                for (j, column) in columns.clone().enumerate() {
                    if null.len() == 1 {
                        sums[j] += dot(&own[column * panel..][..values.len()], values);
                        continue;
                    }
                    for ((x, &u), &label) in own[column * panel..].iter().zip(values).zip(labels) {
                        if label != NONE {
                            sums[label as usize * count + j] += u * x;
                        }
                    }
                }
            }
            sums
        });
        let mut along = vec![0.0; null.len() * count];
        parts.iter().for_each(|part| along.iter_mut().zip(part).for_each(|(sum, x)| *sum += x));
        let rows = self.rows;
        let span = |i: usize| (i * panel).min(rows)..((i + 1) * panel).min(rows);
        parallel::for_each(self.elements.chunks_mut(stride), |i, own| {
            let (labels, values) = (&null.labels[span(i)], &null.values[span(i)]);
            for (j, column) in columns.clone().enumerate() {
                if null.len() == 1 {
                    own[column * panel..].iter_mut().zip(values).for_each(|(x, u)| *x -= u * along[j]);
                    continue;
                }
                for ((x, &u), &label) in own[column * panel..].iter_mut().zip(values).zip(labels) {
                    if label != NONE {
                        *x -= u * along[label as usize * count + j];
                    }
                }
            }
        });
    }

    /// Computes the dot product of each column in the range `with` and the column `column`.
    pub(super) fn products(&self, with: Range<usize>, column: usize) -> Vec<f64> {
        let panel = self.panel;
        let sum = self.sums(with.len(), 1, |own, sum| {
            let one = &own[column * panel..][..panel];
            for (i, other) in own[with.start * panel..with.end * panel].chunks_exact(panel).enumerate() {
                sum[(i, 0)] += dot(one, other);
            }
        });
        sum.col_as_slice(0).to_vec()
    }

    /// Subtracts multiples of the columns `with` from one column.
    pub(super) fn subtract(&mut self, with: Range<usize>, factors: &[f64], column: usize) {
        let panel = self.panel;
        self.each_panel(|own, _| {
            let (before, after) = own.split_at_mut(column * panel);
            let others = before[with.start * panel..with.end * panel].chunks_exact(panel);
            for (other, factor) in others.zip(factors) {
                after[..panel].iter_mut().zip(other).for_each(|(x, y)| *x -= factor * y);
            }
        });
    }

    /// Computes the dot products of the given columns with each other.
    pub(super) fn gram(&self, columns: Range<usize>) -> Mat<f64> {
        let (panel, count) = (self.panel, columns.len());
        self.sums(count, count, |own, sum| {
            let w = MatRef::from_column_major_slice(&own[columns.start * panel..columns.end * panel], panel, count);
            matmul(sum.as_mut(), Accum::Add, w.transpose(), w, 1.0, Par::Seq);
        })
    }

    /// Scales one column.
    pub(super) fn scale(&mut self, column: usize, factor: f64) {
        let panel = self.panel;
        self.each_panel(|own, _| own[column * panel..][..panel].iter_mut().for_each(|x| *x *= factor));
    }

    /// Multiplies the columns `from` by Q, and writes the result to the columns starting at `first`, which must be
    /// at most `from.start`. Then moves the columns `with` directly after the result.
    pub(super) fn rotate(&mut self, from: Range<usize>, q: MatRef<'_, f64>, first: usize, with: Range<usize>) {
        let panel = self.panel;
        let kept = q.ncols();
        self.each_panel(|own, scratch| {
            scratch.resize(kept * panel, 0.0);
            let old = MatRef::from_column_major_slice(&own[from.start * panel..from.end * panel], panel, from.len());
            matmul(MatMut::from_column_major_slice_mut(scratch, panel, kept), Accum::Replace, old, q, 1.0, Par::Seq);
            own[first * panel..(first + kept) * panel].copy_from_slice(scratch);
            own.copy_within(with.start * panel..with.end * panel, (first + kept) * panel);
        });
    }

    /// Copies the column `from` to the column `to`, which must come before `from`.
    pub(super) fn copy(&mut self, from: usize, to: usize) {
        let panel = self.panel;
        self.each_panel(|own, _| own.copy_within(from * panel..(from + 1) * panel, to * panel));
    }

    /// Moves the given columns to the front of the basis, in the given order.
    pub(super) fn select(&mut self, columns: &[usize]) {
        let panel = self.panel;
        self.each_panel(|own, scratch| {
            scratch.clear();
            columns.iter().for_each(|&column| scratch.extend_from_slice(&own[column * panel..][..panel]));
            own[..scratch.len()].copy_from_slice(scratch);
        });
    }

    fn each_panel(&mut self, work: impl Fn(&mut [f64], &mut Vec<f64>) + Sync) {
        let size = (self.panel * self.capacity).max(1);
        parallel::for_each_with(self.elements.chunks_mut(size), Vec::new, |scratch, _, own| work(own, scratch));
    }
}

/// Computes a dot product with eight partial sums, because a single sum would be limited by the latency of an
/// addition.
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<8>(), y.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (x, y) in x.iter().zip(y) {
        for j in 0..8 {
            sums[j] += x[j] * y[j];
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + rest
}
