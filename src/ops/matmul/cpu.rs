//! Products on the CPU: faer for large and for complex matrices, this crate's SIMD kernels for batches of small ones
//! (`tiny`) and for results of a few rows or columns (`dots`). All use all threads.

pub(super) mod complex;
mod dots;
pub(super) mod split;
mod tiny;

use super::{Activation, BiasAxis, Problem};
use crate::array::Real;
use crate::parallel;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use half::f16;
use half::slice::HalfFloatSliceExt as _;

/// The maximum dimension of the matrices whose batches are multiplied by this crate's SIMD kernels. On batches of f32
/// matrices on two cores with AVX-512 (2026-11-21), the SIMD kernels take 0.78 of faer's time at orders 8 and 16, and
/// 1.5 times faer's time at order 32.
pub(super) const TINY: usize = 24;
/// The maximum number of columns of matrices whose batches are multiplied with vectors by the same kernels, if a column
/// fits in registers. faer takes 140 to 290 ns a product (AVX-512, 2026-11-29).
const SHORT_COLUMN: usize = 128;
/// The number of terms in a part of a sum. A sum that has terms for at least two parts is cut if the result has too few
/// elements to keep all threads busy.
const PART: usize = 8192;
/// The maximum number of elements of a result whose sums are cut.
const SMALL_RESULT: usize = 128 * 128;
/// The minimum number of flops for which another thread is woken: about 40 us of work for one thread. Calls that are
/// too brief for other threads ([`Workload`](crate::policy::Workload)) have less.
const WORTH_A_THREAD: usize = 1 << 22;
/// The number of elements of a result that a thread finishes at a time.
const FINISHED: usize = 1 << 14;

/// The precisions that the CPU multiplies in.
pub(super) trait Working: Real + faer::traits::RealField {
    /// Computes all products of a batch, one result after another, and writes every element of `out`. This is a method
    /// of a concrete type, so that it is compiled once in this crate and not again in every crate that calls it.
    fn gemm(problem: &Problem, operands: Operands<'_, Self>, out: &mut [Self]);
    /// Returns the hyperbolic tangent.
    fn tangent(self) -> Self;
    /// Returns e to this power.
    fn exponential(self) -> Self;
}

macro_rules! working {
    ($($real:ty),+) => { $(impl Working for $real {
        fn gemm(problem: &Problem, operands: Operands<'_, Self>, out: &mut [Self]) {
            gemm(problem, operands, out);
        }
        fn tangent(self) -> Self {
            self.tanh()
        }
        fn exponential(self) -> Self {
            self.exp()
        }
    })+ };
}
working!(f32, f64);

/// The operands of a product: the factors A and B, the matrix C and the bias. C and the bias are empty if there is
/// nothing to add.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operands<'a, T> {
    pub(super) a: &'a [T],
    pub(super) b: &'a [T],
    pub(super) c: &'a [T],
    pub(super) bias: &'a [T],
}

/// Returns whether products are computed by this crate's kernels, on machines whose registers hold a column.
pub(super) fn is_tiny(problem: &Problem) -> bool {
    let Problem { m, n, k, a, .. } = *problem;
    m.max(n).max(k) <= TINY || n == 1 && !a.transposed && k <= SHORT_COLUMN
}

fn gemm<T: Working>(problem: &Problem, operands: Operands<'_, T>, out: &mut [T]) {
    if out.is_empty() {
        return;
    }
    let m = problem.m;
    let work = Work { problem, operands, alpha: T::from_f64(problem.alpha) };
    // As in the BLAS, A and B are not read if alpha is 0.
    let k = if problem.alpha == 0.0 { 0 } else { problem.k };
    if k > 0 && is_tiny(problem) && m <= tiny::most_rows::<T>() {
        return tiny::gemm(&work, out);
    }
    if k > 0 {
        work.multiply(out);
    } else {
        out.fill(T::from_f64(0.0));
    }
    work.finish_all(out);
}

/// Finishes products that are already computed: adds C and the bias, and applies the activation.
pub(super) fn finish<T: Working>(problem: &Problem, operands: Operands<'_, T>, out: &mut [T]) {
    if !out.is_empty() {
        Work { problem, operands, alpha: T::from_f64(1.0) }.finish_all(out);
    }
}

/// Computes all products of a batch of f16 with sums in f32. Results are rounded to the nearest f16, ties to even, and
/// magnitudes of 65520 or more become infinite.
pub(super) fn gemm_of_halves(problem: &Problem, operands: Operands<'_, f16>, out: &mut [f16]) {
    let wide = [operands.a, operands.b, operands.c, operands.bias].map(widened);
    let [a, b, c, bias] = &wide;
    let mut sums = vec![0.0; out.len()];
    gemm(problem, Operands { a, b, c, bias }, &mut sums);
    let chunks = sums.chunks(CONVERTED).zip(out.chunks_mut(CONVERTED));
    parallel::for_each(chunks, |_, (from, to)| to.convert_from_f32_slice(from));
}

/// The number of elements that a thread converts at a time.
const CONVERTED: usize = 1 << 15;

fn widened(from: &[f16]) -> Vec<f32> {
    let mut to = vec![0.0; from.len()];
    let chunks = from.chunks(CONVERTED).zip(to.chunks_mut(CONVERTED));
    parallel::for_each(chunks, |_, (from, to)| from.convert_to_f32_slice(to));
    to
}

/// A batch of products in progress.
#[derive(Debug)]
struct Work<'a, T> {
    problem: &'a Problem,
    operands: Operands<'a, T>,
    alpha: T,
}

impl<'a, T> Operands<'a, T> {
    /// Reinterprets the elements as type `U`, which must be the same type as `T`.
    pub(super) fn cast<U: bytemuck::Pod>(self) -> Operands<'a, U>
    where
        T: bytemuck::Pod,
    {
        let cast = |numbers: &'a [T]| bytemuck::cast_slice(numbers);
        Operands { a: cast(self.a), b: cast(self.b), c: cast(self.c), bias: cast(self.bias) }
    }
}

impl<'a, T: Working> Work<'a, T> {
    /// Returns the stored elements of A for one matrix of the batch.
    #[inline(always)]
    fn a_of(&self, matrix: usize) -> &'a [T] {
        let Problem { m, k, a, .. } = *self.problem;
        let first = if a.shared { 0 } else { matrix * m * k };
        &self.operands.a[first..first + m * k]
    }

    #[inline(always)]
    fn b_of(&self, matrix: usize) -> &'a [T] {
        let Problem { n, k, b, .. } = *self.problem;
        let first = if b.shared { 0 } else { matrix * n * k };
        &self.operands.b[first..first + n * k]
    }

    /// Computes alpha times every product.
    fn multiply(&self, out: &mut [T]) {
        let Problem { m, n, k, batch, .. } = *self.problem;
        let one = 2 * m * n * k;
        let threads = parallel::threads();
        if batch >= 2 * threads || one < WORTH_A_THREAD {
            let least = (WORTH_A_THREAD / one.max(1)).max(1);
            return parallel::for_each(out.chunks_mut(least * m * n), |i, out| {
                let products = (i * least..).zip(out.chunks_mut(m * n));
                products.for_each(|(matrix, out)| self.whole(matrix, out, Par::Seq));
            });
        }
        for (matrix, out) in out.chunks_mut(m * n).enumerate() {
            self.whole(matrix, out, parallel::in_eight());
        }
    }

    /// Computes one product. Whether its sums are cut depends only on its shape.
    fn whole(&self, matrix: usize, out: &mut [T], par: Par) {
        let Problem { m, n, k, .. } = *self.problem;
        if m * n <= SMALL_RESULT && k >= 2 * PART && 2 * m * n * k >= WORTH_A_THREAD {
            self.in_parts(matrix, out);
        } else if m == 1 || n == 1 {
            self.of_vector(matrix, out);
        } else {
            self.product(matrix, 0..k, out, par);
        }
    }

    /// Computes the product of a matrix and a vector. Of such a product, faer would cut the sums by its parallelism, so
    /// the result is cut instead.
    fn of_vector(&self, matrix: usize, out: &mut [T]) {
        let Problem { n, k, .. } = *self.problem;
        let (left, right) = self.factors(matrix);
        let each = (WORTH_A_THREAD / 4 / k).max(64);
        parallel::for_each(out.chunks_mut(each), |i, out| {
            let (first, len) = (i * each, out.len());
            let (left, right, out) = match n {
                1 => (left.subrows(first, len), right, MatMut::from_column_major_slice_mut(out, len, 1)),
                _ => (left, right.subcols(first, len), MatMut::from_column_major_slice_mut(out, 1, len)),
            };
            matmul(out, Accum::Replace, left, right, self.alpha, Par::Seq);
        });
    }

    /// Computes one product from parts of its sums. The parts do not depend on the number of threads, so the bits of
    /// the result do not depend on it either.
    fn in_parts(&self, matrix: usize, out: &mut [T]) {
        let Problem { m, n, k, .. } = *self.problem;
        let mut sums = vec![T::from_f64(0.0); m * n * k.div_ceil(PART)];
        parallel::for_each(sums.chunks_mut(m * n), |part, sums| {
            self.product(matrix, part * PART..((part + 1) * PART).min(k), sums, Par::Seq);
        });
        out.fill(T::from_f64(0.0));
        for part in sums.chunks(m * n) {
            out.iter_mut().zip(part).for_each(|(out, sum)| *out += *sum);
        }
    }

    /// Returns op(A) and op(B) of one matrix of the batch.
    fn factors(&self, matrix: usize) -> (MatRef<'a, T>, MatRef<'a, T>) {
        let Problem { m, n, k, a, b, .. } = *self.problem;
        let stored = |numbers, rows, cols, transposed| {
            let all = if transposed {
                MatRef::from_column_major_slice(numbers, cols, rows).transpose()
            } else {
                MatRef::from_column_major_slice(numbers, rows, cols)
            };
            all.as_dyn_stride()
        };
        (stored(self.a_of(matrix), m, k, a.transposed), stored(self.b_of(matrix), k, n, b.transposed))
    }

    fn product(&self, matrix: usize, terms: std::ops::Range<usize>, out: &mut [T], par: Par) {
        let Problem { m, n, k, a, b, .. } = *self.problem;
        let factor = |data: &'a [T], lines: usize, by_line: bool| {
            let (first, stride) = if by_line { (terms.start * lines, lines) } else { (terms.start, k) };
            dots::Factor { data: &data[first..], lines, stride, by_line }
        };
        let factors = [factor(self.a_of(matrix), m, !a.transposed), factor(self.b_of(matrix), n, b.transposed)];
        if dots::serves(&factors[0], &factors[1], terms.len()) {
            return dots::product(factors, terms.len(), self.alpha, out);
        }
        let (left, right) = self.factors(matrix);
        let left = left.subcols(terms.start, terms.len());
        let right = right.subrows(terms.start, terms.len());
        let out = MatMut::from_column_major_slice_mut(out, m, n);
        matmul(out, Accum::Replace, left, right, self.alpha, par);
    }

    /// Finishes all products: adds C and the bias, and applies the activation.
    fn finish_all(&self, out: &mut [T]) {
        let Problem { m, n, .. } = *self.problem;
        if self.problem.plain() {
            return;
        }
        let columns = (FINISHED / m).max(1);
        let chunks = n.div_ceil(columns);
        let all = out.chunks_mut(m * n).flat_map(|out| out.chunks_mut(columns * m));
        parallel::for_each(all, |i, out| self.finish(i / chunks, i % chunks * columns, out));
    }

    /// Finishes some columns of one result. `out` holds these columns, and the first of them is column `first`.
    #[inline(always)]
    fn finish(&self, matrix: usize, first: usize, out: &mut [T]) {
        let Problem { m, n, c, bias, .. } = *self.problem;
        if let Some(c) = c {
            let beta = T::from_f64(c.beta);
            let begin = if c.shared { 0 } else { matrix * m * n } + first * m;
            for (out, c) in out.iter_mut().zip(&self.operands.c[begin..]) {
                *out += beta * *c;
            }
        }
        if let Some(bias) = bias {
            let len = if bias.axis == BiasAxis::Rows { m } else { n };
            let begin = if bias.shared { 0 } else { matrix * len };
            let numbers = &self.operands.bias[begin..begin + len];
            for (column, out) in out.chunks_mut(m).enumerate() {
                match bias.axis {
                    BiasAxis::Rows => out.iter_mut().zip(numbers).for_each(|(out, x)| *out += *x),
                    BiasAxis::Columns => out.iter_mut().for_each(|out| *out += numbers[first + column]),
                }
            }
        }
        activate(self.problem.activation, out);
    }
}

/// Applies the activation to every element.
fn activate<T: Working>(activation: Activation, out: &mut [T]) {
    let [zero, half, one] = [0.0, 0.5, 1.0].map(T::from_f64);
    let each = |out: &mut [T], f: &dyn Fn(T) -> T| out.iter_mut().for_each(|x| *x = f(*x));
    match activation {
        Activation::None => {}
        // NaN stays NaN.
        Activation::Relu => out.iter_mut().filter(|x| **x < zero).for_each(|x| *x = zero),
        Activation::Tanh => each(out, &Working::tangent),
        Activation::Sigmoid => each(out, &|x| {
            let t = (if x < zero { x } else { -x }).exponential();
            (if x < zero { t } else { one }) / (one + t)
        }),
        Activation::Gelu => {
            let (by, cubic) = (T::from_f64((2.0 / std::f64::consts::PI).sqrt()), T::from_f64(0.044_715));
            let low = T::from_f64(-100.0);
            each(out, &|x| {
                // The lower bound of x avoids the product of 0 and an infinity, which is NaN.
                let bounded = if x < low { low } else { x };
                let u = by * (bounded + cubic * bounded * bounded * bounded);
                half * bounded * (one + u.tangent())
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Operands, Problem, Working as _};
    use crate::ops::matmul::{Activation, Given};

    /// A batch gives the threads whole products if there are enough, and parts of products if not. With 1 and 2
    /// threads, 4 products are enough.
    #[test]
    fn bits_do_not_depend_on_the_number_of_threads_or_products() {
        let products =
            [(10, 11, 20_000), (1, 300, 9000), (300, 1, 9000), (1500, 1, 700), (150, 140, 130), (40, 900, 70)];
        let turned = [false, true].into_iter().flat_map(|a| [(a, false), (a, true)]);
        for ((m, n, k), (of_a, of_b)) in products.into_iter().flat_map(|shape| turned.clone().map(move |t| (shape, t)))
        {
            let given = |transposed| Given { transposed, shared: false };
            let made = |batch: usize, threads: usize| {
                let of =
                    |len: usize| (0..4 * len).map(|i| (i as f32 * 0.37).sin()).take(batch * len).collect::<Vec<_>>();
                let (a, b) = (of(m * k), of(k * n));
                let (activation, alpha) = (Activation::None, 1.0);
                let (c, bias) = (None, None);
                let problem = Problem { m, n, k, batch, a: given(of_a), b: given(of_b), alpha, c, bias, activation };
                let mut out = vec![0.0; batch * m * n];
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
                pool.install(|| f32::gemm(&problem, Operands { a: &a, b: &b, c: &[], bias: &[] }, &mut out));
                out
            };
            let one = made(4, 1);
            for (batch, threads) in [(4, 2), (4, 5), (1, 1), (1, 5), (2, 2)] {
                assert_eq!(made(batch, threads), one[..batch * m * n], "{m} x {k} x {n}, {batch} on {threads}");
            }
        }
    }
}
