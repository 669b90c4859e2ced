//! Decomposes one matrix by Householder's QR with column pivoting and one-sided Jacobi on the columns of R' (Drmac and
//! Veselic, New fast and accurate Jacobi SVD algorithm, SIAM J. Matrix Anal. Appl. 29, 2008; LAPACK's dgejsv). All is
//! computed in f64, with the elements of a column in the lanes of vectors.
//!
//! It is the fastest method for a narrow matrix. It also keeps the digits of matrices whose rows or columns differ
//! greatly in size, `D1 B D2` with diagonal matrices D1 and D2: each singular value is accurate relative to itself if B
//! is well conditioned. The rows of such a matrix have to be sorted by size, or the errors of a large row would hide a
//! small one (Cox and Higham, Stability of Householder QR factorization for weighted least squares problems, 1998).

use super::Working;
use super::dense::Factors;
use crate::array::Real;
use crate::lanes::{SimdScalar, Task, Vector, element};
use crate::ops::columns::nan_max;
use crate::ops::orthogonalize::{Orthogonal, dot, orthogonalize};
use crate::order::descending;
use faer::Mat;

/// How much the sizes of the rows and columns may differ without a loss of digits, in units of the larger dimension.
/// The singular values of `D1 B D2` are promised to within `10 n eps cond(B)` of themselves. Other methods have an
/// error of about `eps` times the condition number of `D1 B D2`, which is at most that of B times the differences in
/// size.
const EVEN: f64 = 10.0;

/// Columns that are shorter than this count as 0, if the largest element is about 1. Their squares would underflow.
const SHORTEST: f64 = 1e-150;

/// Returns whether the rows and columns of a matrix differ so much in size that digits would be lost. The size of a row
/// or column is its largest magnitude; those of zeros do not count.
pub(super) fn is_graded<F: Real>(rows: usize, elements: &[F]) -> bool {
    let columns = elements.len() / rows.max(1);
    let mut of_rows = vec![0.0_f64; rows];
    let size = |column: &[F]| {
        of_rows.iter_mut().zip(column).fold(0.0_f64, |size, (own, x)| {
            let x = x.to_f64().abs();
            *own = own.max(x);
            size.max(x)
        })
    };
    let of_columns: Vec<f64> = elements.chunks_exact(rows.max(1)).map(size).collect();
    let ratio = |sizes: &[f64]| {
        let sizes = sizes.iter().filter(|size| **size > 0.0);
        let (least, most) = sizes.fold((f64::INFINITY, 0.0_f64), |(a, b), &size| (a.min(size), b.max(size)));
        most / least
    };
    #[expect(clippy::cast_precision_loss, reason = "dimensions are far below 2^52")]
    let even = EVEN * rows.max(columns) as f64;
    ratio(&of_columns) * ratio(&of_rows) > even
}

/// The factors of a matrix, and their measured errors.
pub(super) struct Decomposed<F> {
    pub(super) factors: Factors<F>,
    pub(super) sweeps: u32,
    /// The largest `|B q - s p|_2`.
    pub(super) residual: f64,
    /// The larger of `max |P'P - I|` and `max |Q'Q - I|`.
    pub(super) orthogonality: f64,
}

/// Decomposes the finite tall matrix B, whose largest magnitude is about 1, with `left` columns of P.
pub(super) fn decompose<F: Working>(b: &Mat<F>, left: usize, graded: bool) -> Decomposed<F> {
    f64::in_lanes(Decompose { b, left, graded })
}

struct Decompose<'a, F> {
    b: &'a Mat<F>,
    left: usize,
    graded: bool,
}

impl<F: Working> Task<f64> for Decompose<'_, F> {
    type Output = Decomposed<F>;

    #[inline(always)]
    fn run<V: Vector<Scalar = f64>>(self, token: V::Token) -> Decomposed<F> {
        let Self { b, left, graded } = self;
        let (long, short) = b.shape();
        let rows = graded.then(|| {
            let size = |i: usize| (0..short).fold(0.0, |most: f64, j| most.max(b[(i, j)].to_f64().abs()));
            descending((0..long).map(size))
        });
        let mut given = Columns::<V>::zeros(token, long, short);
        for j in 0..short {
            match &rows {
                None => given.fill(j, b.col_as_slice(j)),
                Some(rows) => rows.iter().enumerate().for_each(|(i, &row)| given.set(i, j, b[(row, j)].to_f64())),
            }
        }
        let mut work = given.clone();
        let mut pivots: Vec<usize> = (0..short).collect();
        let (reflections, triangle) = work.triangularize(Some(&mut pivots));
        // Row i of R is column i of the matrix to orthogonalize.
        let Orthogonal { columns, lengths, rotations, sweeps, .. } =
            orthogonalize(&triangle, short, reflections.len(), true);
        let rank = lengths.iter().take_while(|length| **length >= SHORTEST).count();

        let mut p = Columns::<V>::zeros(token, long, left);
        for j in 0..left {
            match rotations.chunks_exact(reflections.len().max(1)).nth(j) {
                Some(rotation) => p.fill(j, rotation),
                None => p.set(j, j, 1.0),
            }
            work.reflect(&reflections, p.column_mut(j));
        }
        let mut right = Columns::<V>::zeros(token, short, short);
        for (j, (column, length)) in columns.chunks_exact(short).zip(&lengths).take(rank).enumerate() {
            column.iter().enumerate().for_each(|(i, x)| right.set(i, j, x / length));
        }
        right.complete(rank);

        let mut factors = Factors {
            p: Mat::zeros(long, left),
            s: (0..short).map(|j| F::from_f64(if j < rank { lengths[j] } else { 0.0 })).collect(),
            q: Mat::zeros(short, short),
        };
        // Everything is measured as it is returned, which is rounded to F.
        p.narrow(&mut factors.p, rows.as_deref());
        right.narrow(&mut factors.q, Some(&pivots));
        let mut residual = 0.0;
        for (j, s) in factors.s.iter().enumerate() {
            let mut away = p.column(j).to_vec();
            let by = V::splat(token, -s.to_f64());
            for x in &mut away {
                *x *= by;
            }
            for (k, &pivot) in pivots.iter().enumerate() {
                add(V::splat(token, right.get(k, j)), given.column(pivot), &mut away);
            }
            residual = nan_max(dot(&away, &away, V::splat(token, 0.0)).sqrt(), residual);
        }
        let orthogonality = nan_max(p.departure(), right.departure());
        Decomposed { factors, sweeps, residual, orthogonality }
    }
}

/// Computes `to += by * x`.
#[inline(always)]
fn add<V: Vector>(by: V, x: &[V], to: &mut [V]) {
    for (to, x) in to.iter_mut().zip(x) {
        *to = by.mul_add(*x, *to);
    }
}

/// Columns whose elements are in the lanes of vectors, with zeros after the last element.
#[derive(Clone)]
struct Columns<V: Vector> {
    token: V::Token,
    rows: usize,
    /// The number of vectors of a column.
    height: usize,
    elements: Vec<V>,
}

impl<V: Vector<Scalar = f64>> Columns<V> {
    #[inline(always)]
    fn zeros(token: V::Token, rows: usize, count: usize) -> Self {
        let height = rows.div_ceil(V::LANES);
        Self { token, rows, height, elements: vec![V::splat(token, 0.0); height * count] }
    }

    #[inline(always)]
    fn count(&self) -> usize {
        self.elements.len() / self.height.max(1)
    }

    #[inline(always)]
    fn column(&self, j: usize) -> &[V] {
        &self.elements[j * self.height..(j + 1) * self.height]
    }

    #[inline(always)]
    fn column_mut(&mut self, j: usize) -> &mut [V] {
        &mut self.elements[j * self.height..(j + 1) * self.height]
    }

    #[inline(always)]
    fn get(&self, i: usize, j: usize) -> f64 {
        element(self.column(j), i)
    }

    #[inline(always)]
    fn set(&mut self, i: usize, j: usize, x: f64) {
        self.column_mut(j)[i / V::LANES].as_mut_slice()[i % V::LANES] = x;
    }

    /// Writes the first elements of a column.
    #[inline(always)]
    fn fill<F: Real>(&mut self, j: usize, from: &[F]) {
        for (to, from) in self.column_mut(j).iter_mut().zip(from.chunks(V::LANES)) {
            to.as_mut_slice().iter_mut().zip(from).for_each(|(to, x)| *to = x.to_f64());
        }
    }

    /// Rounds all elements to F, and writes row i to row `rows[i]` of `to`.
    #[inline(always)]
    fn narrow<F: Working>(&mut self, to: &mut Mat<F>, rows: Option<&[usize]>) {
        let count = self.rows;
        for (j, column) in self.elements.chunks_exact_mut(self.height.max(1)).enumerate() {
            let to = to.col_as_slice_mut(j);
            for (v, x) in column.iter_mut().enumerate() {
                let first = v * V::LANES;
                for (i, x) in (first..count).zip(x.as_mut_slice()) {
                    let narrow = F::from_f64(*x);
                    *x = narrow.to_f64();
                    to[rows.map_or(i, |rows| rows[i])] = narrow;
                }
            }
        }
    }

    /// Reduces the columns to an upper triangle by reflections `I - by v v'`, whose vectors v replace the columns.
    /// Returns the factors `by`, and the rows of the triangle. If `pivots` is given, the longest of the remaining
    /// columns always comes next, and the columns' indices are rearranged as they are. Stops where all remaining
    /// columns count as 0.
    #[inline(always)]
    fn triangularize(&mut self, mut pivots: Option<&mut [usize]>) -> (Vec<f64>, Vec<f64>) {
        let (height, count, zero) = (self.height, self.count(), V::splat(self.token, 0.0));
        let mut squares = vec![0.0; count];
        for (square, column) in squares.iter_mut().zip(self.elements.chunks_exact(height.max(1))) {
            *square = dot(column, column, zero);
        }
        let (mut factors, mut triangle) = (Vec::with_capacity(count), Vec::with_capacity(count * count));
        for k in 0..count.min(self.rows) {
            if let Some(pivots) = &mut pivots {
                let longest = (k + 1..count).fold(k, |at, j| if squares[j] > squares[at] { j } else { at });
                if longest != k {
                    pivots.swap(k, longest);
                    squares.swap(k, longest);
                    (0..k).for_each(|row| triangle.swap(row * count + k, row * count + longest));
                    (0..height).for_each(|i| self.elements.swap(k * height + i, longest * height + i));
                }
            }
            // Only the rows from k on are left in a column.
            let size = squares[k].sqrt();
            if size < SHORTEST {
                break;
            }
            let (head, tail) = self.elements.split_at_mut((k + 1) * height);
            let v = &mut head[k * height + k / V::LANES..];
            let by_size = V::splat(self.token, 1.0 / size);
            for x in &mut *v {
                *x *= by_size;
            }
            // v'v is 2 (1 + |x_k|), where x is the unit vector along the column.
            let first = &mut v[0].as_mut_slice()[k % V::LANES];
            let sign = if *first < 0.0 { -1.0 } else { 1.0 };
            *first += sign;
            let factor = 1.0 / first.abs();
            triangle.resize(k * count + k, 0.0);
            triangle.push(-sign * size);
            for (other, square) in tail.chunks_exact_mut(height).zip(&mut squares[k + 1..]) {
                let other = &mut other[k / V::LANES..];
                let by = V::splat(self.token, -factor * dot(v, other, zero));
                add(by, v, &mut other[..1]);
                let first = &mut other[0].as_mut_slice()[k % V::LANES];
                triangle.push(std::mem::take(first));
                let mut sums = [other[0] * other[0], zero, zero, zero];
                let (fours, rest) = other[1..].as_chunks_mut::<4>();
                let (of_v, rest_of_v) = v[1..].as_chunks::<4>();
                for (x, v) in fours.iter_mut().zip(of_v) {
                    for t in 0..4 {
                        x[t] = by.mul_add(v[t], x[t]);
                        sums[t] = x[t].mul_add(x[t], sums[t]);
                    }
                }
                for (x, v) in rest.iter_mut().zip(rest_of_v) {
                    *x = by.mul_add(*v, *x);
                    sums[0] = x.mul_add(*x, sums[0]);
                }
                *square = ((sums[0] + sums[1]) + (sums[2] + sums[3])).sum();
            }
            factors.push(factor);
        }
        (factors, triangle)
    }

    /// Multiplies a column by the product of the reflections whose vectors are the columns of `self`.
    #[inline(always)]
    fn reflect(&self, factors: &[f64], column: &mut [V]) {
        for (k, factor) in factors.iter().enumerate().rev() {
            let from = k / V::LANES;
            let (v, x) = (&self.column(k)[from..], &mut column[from..]);
            add(V::splat(self.token, -factor * dot(v, x, V::splat(self.token, 0.0))), v, x);
        }
    }

    /// Replaces the columns from `rank` on so that all of them are an orthonormal basis, as those before are.
    #[inline(always)]
    fn complete(&mut self, rank: usize) {
        if rank == self.count() {
            return;
        }
        let mut known = Self { elements: self.elements[..rank * self.height].to_vec(), ..*self };
        let (factors, _) = known.triangularize(None);
        let zero = V::splat(self.token, 0.0);
        for j in rank..self.count() {
            self.column_mut(j).fill(zero);
            self.set(j, j, 1.0);
            known.reflect(&factors, self.column_mut(j));
        }
    }

    /// Returns `max |X'X - I|`.
    #[inline(always)]
    fn departure(&self) -> f64 {
        // A closure with vectors may be compiled without the SIMD instructions.
        let (zero, mut most) = (V::splat(self.token, 0.0), 0.0);
        for j in 0..self.count() {
            for i in 0..=j {
                let product = dot(self.column(i), self.column(j), zero);
                most = nan_max((if i == j { product - 1.0 } else { product }).abs(), most);
            }
        }
        most
    }
}
