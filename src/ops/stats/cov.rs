//! Covariance and correlation of columns.

use super::count;
use super::gpu_cov::{self, Found, Output, Unit};
use super::gram::{Gram, Products, ROWS, of_matrix, only_leaf};
use super::moments::as_f64;
use super::running::in_chunks;
use crate::array::{Array, Real, Storage};
use crate::context::Context;
use crate::device::Gpu;
use crate::error::{Error, Result};
use crate::lanes::{Task, Vector};
use crate::ops::convert::tiny::{Lines, Raised};
use crate::ops::operation::{Call, Operation, Precision};
use crate::parallel;
use crate::policy::{Choice, Family, Workload};
use crate::shape::Shape;
use bytemuck::allocation::zeroed_vec;

/// The rows and columns of a square of products that is copied at a time.
const SQUARE: usize = 32;

/// Computes the covariance matrix of the columns of every matrix. Columns are variables and rows are observations; sums
/// of products are divided by rows - 1.
///
/// The rows are divided into leaves. Within a leaf, the distances of the elements from the means of the leaf are
/// multiplied and summed for each pair of columns. Only half of the symmetric matrix is computed. The leaves are merged
/// by Chan's formula. So no digits are lost to cancellation, however far the columns are from 0. On the CPU a leaf has
/// 2048 rows, and sums over leaves are in f64. On the device a leaf has 1024 rows, and everything is in f32. There the
/// distances in each column of a leaf are divided by a power of two of about the size of the largest distance. So
/// correlations and PCA are right whatever the unit of the data is. A covariance is infinite if it exceeds the range of
/// `T`, as for f32 elements that are 1e20 apart. It is 0 or subnormal if it is too small for `T`, as for f32 elements
/// that are 1e-20 apart. A NaN or an infinity makes the covariances of its column NaN, and no others. With fewer than
/// two rows, all covariances are NaN.
///
/// # Shapes
/// X `(rows, cols)`, any batch; the result is `(cols, cols)` per matrix.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::cov;
/// use fiedler::{Context, Shape};
///
/// let ctx = Context::cpu();
/// // Four rows of two columns; the second column is twice the first.
/// let x = Array::from_vec(Shape::new(4, 2, 1), vec![1.0_f32, 2.0, 3.0, 4.0, 2.0, 4.0, 6.0, 8.0])?;
/// let c = cov(&ctx, &x)?.to_host(&ctx)?;
/// assert!((c.matrix(0)[(0, 0)] - 5.0 / 3.0).abs() < 1e-6 && (c.matrix(0)[(0, 1)] - 10.0 / 3.0).abs() < 1e-6);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Domain`] if [`Backend::Gpu`](crate::Backend::Gpu) is set and `T` is f64;
/// [`crate::ErrorKind::Limit`] if the result is far larger than the input and exceeds the memory budget, or if
/// `Backend::Gpu` is set and one matrix of products does not fit the device; device errors.
pub fn cov<T: Real>(ctx: &Context, x: &Array<T>) -> Result<Array<T>> {
    Ok(covariance("cov", ctx, x, Output::Covariance)?.1)
}

/// Computes Pearson's correlation of the columns of every matrix, which is [`cov`] divided by the square roots of both
/// variances. Correlations are between -1 and 1, and exactly 1 on the diagonal. If all elements of a column are equal,
/// the correlations of this column are NaN, as in NumPy.
///
/// # Shapes
/// X `(rows, cols)`, any batch; the result is `(cols, cols)` per matrix.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::corr;
/// use fiedler::{Context, Shape};
///
/// let ctx = Context::cpu();
/// let x = Array::from_vec(Shape::new(3, 2, 1), vec![1.0_f32, 2.0, 3.0, 5.0, 3.0, 1.0])?;
/// let r = corr(&ctx, &x)?.to_host(&ctx)?;
/// assert!((r.matrix(0)[(0, 1)] + 1.0).abs() < 1e-6);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// As for [`cov`].
pub fn corr<T: Real>(ctx: &Context, x: &Array<T>) -> Result<Array<T>> {
    Ok(covariance("corr", ctx, x, Output::Correlation)?.1)
}

/// Returns where [`cov`] and [`corr`] would run for a batch of the given shape, and why.
#[must_use]
pub fn choose_cov<T: Real>(ctx: &Context, shape: Shape, resident: bool) -> Choice {
    call::<T>("cov", shape, resident).choose(ctx)
}

/// Describes the call to the cost model. Half of the products are computed, each with a multiplication and an addition.
pub(super) fn call<T: Real>(name: &'static str, shape: Shape, resident: bool) -> Call<impl Fn(&Gpu, u64) -> bool> {
    let flops = count(shape.len()) * (count(shape.cols) + 8.0);
    let made = count(shape.batch) * count(shape.cols) * count(shape.cols);
    let workload = Workload {
        family: Family::Cov,
        size: count(shape.cols),
        // Rows are summed in parallel.
        items: count(shape.rows) * count(shape.batch),
        // Products run at several times the rate of decompositions.
        cpu_flops: flops / 4.0,
        gpu_flops: flops,
        dispatches: 8.0,
        ..Workload::default()
    }
    .transferring(resident, 4.0 * count(shape.len()), 4.0 * made);
    let fits = move |gpu: &Gpu, budget| gpu_cov::fits(gpu, shape, budget).is_ok();
    Call { name, precision: Precision::of::<T>(), workload, empty: shape.is_empty(), fits, waits: true }
}

/// Returns the means `(1, cols)` and the covariances or correlations `(cols, cols)` of every matrix, and the unit of
/// the covariances. It is 1 unless `output` is [`Output::Scaled`] and the device computed the covariances.
pub(in crate::ops) fn covariance<T: Real>(
    operation: &'static str,
    ctx: &Context,
    x: &Array<T>,
    output: Output,
) -> Result<(Array<T>, Array<T>, Unit)> {
    let shape = x.shape();
    room::<T>(ctx, operation, shape)?;
    let ((means, made, unit), choice) = call::<T>(operation, shape, x.is_resident()).run(
        ctx,
        || {
            let (means, made) = on_cpu(ctx, &x.storage().to_vec(ctx)?, shape, output);
            let host = |cols, rows, data| {
                Array::from_storage(Shape::new(rows, cols, shape.batch), Storage::host_from(ctx, data))
            };
            Ok((host(shape.cols, 1, means), host(shape.cols, shape.cols, made), Unit::default()))
        },
        |gpu| on_device(ctx, gpu, x, output),
    )?;
    Ok((means.chosen(&choice), made.chosen(&choice), unit))
}

/// Returns the means and the covariances or correlations of all matrices, concatenated.
fn on_cpu<T: Real>(ctx: &Context, x: &[T], Shape { rows, cols, batch }: Shape, output: Output) -> (Vec<T>, Vec<T>) {
    let (mut middle, mut made) = (ctx.room(cols * batch), ctx.room(cols * cols * batch));
    let each = made.chunks_mut((cols * cols).max(1)).zip(middle.chunks_mut(cols.max(1)));
    let size = rows * cols;
    let correlation = output == Output::Correlation;
    parallel::for_each(each, |i, (made, middle)| {
        let x = &x[i * size..(i + 1) * size];
        if 0 < rows && rows <= ROWS {
            // Without sums in f64, which would be more memory than the result.
            let leaf = only_leaf(x, rows, cols, made);
            middle.iter_mut().zip(leaf.means()).for_each(|(to, &mean)| *to = T::from_f64(mean));
            finish(rows as u64, cols, correlation, made, &leaf);
        } else {
            let gram = of_matrix(x, rows, cols);
            middle.copy_from_slice(&means::<T>(&gram));
            finish(gram.rows, cols, correlation, made, &gram);
        }
    });
    (middle, made)
}

fn on_device<T: Real>(ctx: &Context, gpu: &Gpu, x: &Array<T>, output: Output) -> Result<(Array<T>, Array<T>, Unit)> {
    let (shape, budget) = (x.shape(), ctx.device_budget());
    gpu_cov::fits(gpu, shape, budget)?;
    let shapes = (Shape::new(1, shape.cols, shape.batch), Shape::new(shape.cols, shape.cols, shape.batch));
    let one = Shape { batch: 1, ..shape };
    let binding = gpu.adapter().limits.storage_binding;
    let each = 4 * one.len() as u64 + gpu_cov::bytes(one);
    let largest = (4 * one.len() as u64).max(gpu_cov::bytes(one));
    let together = usize::try_from((budget / 4 * 3 / each).min(binding / largest)).unwrap_or(usize::MAX);
    // A single resident matrix stays on the device, whatever the size of its products.
    if shape.batch <= together || x.is_resident() && shape.batch == 1 {
        let found = match x.storage() {
            Storage::Host(data) => raised(gpu, &T::for_device(data), shape, budget, output)?,
            Storage::Device(buffer) => {
                ctx.gpu_of(buffer)?;
                gpu_cov::covariance(gpu, buffer, shape, budget, output)?
            }
        };
        let array = |shape, buffer| Array::from_storage(shape, Storage::device(buffer));
        return Ok((array(shapes.0, found.means), array(shapes.1, found.covariance), found.unit));
    }
    let data = x.storage().to_vec(ctx)?;
    let (means, made, unit) = by_matrices(gpu, &T::for_device(&data), shape, together, budget, output)?;
    let array = |shape, data| Array::from_storage(shape, Storage::host(T::from_device(data)));
    Ok((array(shapes.0, means), array(shapes.1, made), unit))
}

/// Computes covariances or correlations of numbers on the host. Tiny columns are scaled on the way to the device and
/// back, for [`Output::Scaled`] all columns by one power of two.
fn raised(gpu: &Gpu, x: &[f32], shape: Shape, budget: u64, output: Output) -> Result<Found> {
    let Shape { cols, batch, .. } = shape;
    let columns = Lines { inner: 1, outer: cols * batch };
    let mut raised = Raised::of(x, if output == Output::Scaled { Lines { inner: 1, outer: 1 } } else { columns }, 1);
    let x = gpu.record().upload(&raised.words)?;
    let mut found = gpu_cov::covariance(gpu, &x, shape, budget, output)?;
    match output {
        Output::Scaled if !raised.exponents.is_empty() => {
            found.unit.exponent += raised.exponents[0];
            raised.exponents = vec![raised.exponents[0]; cols * batch];
        }
        Output::Scaled | Output::Correlation => {}
        Output::Covariance => {
            // Once for the column of an element, and once for its row.
            raised.lower(gpu, columns, 1, 1, &mut found.covariance)?;
            raised.lower(gpu, Lines { inner: cols, outer: batch }, 1, 1, &mut found.covariance)?;
        }
    }
    raised.lower(gpu, columns, 1, 1, &mut found.means)?;
    Ok(found)
}

/// If the results are far larger than the input, checks that the memory budget holds the results and the f64 products
/// from which the results are computed.
pub(super) fn room<T: Real>(ctx: &Context, operation: &str, shape: Shape) -> Result<()> {
    let square = (shape.cols as u64).saturating_mul(shape.cols as u64);
    let results = square.saturating_mul(shape.batch as u64);
    // Each thread computes one matrix at a time. A matrix with a single leaf needs memory for one matrix of products.
    // Any other matrix needs memory for at most L + 1 matrices of products, where L is the number of levels of its
    // tree.
    let leaves = shape.rows.div_ceil(ROWS);
    let levels = if leaves < 2 { 1 } else { u64::from(leaves.ilog2()) + 2 };
    let at_once = levels * parallel::threads().min(shape.batch.max(1)) as u64;
    let needed = results.saturating_mul(size_of::<T>() as u64).saturating_add(square.saturating_mul(8 * at_once));
    if needed > ctx.memory_budget() && results / 4 > shape.len() as u64 {
        let what =
            format!("bytes for the results of {operation} of {} columns and the products behind them", shape.cols);
        return Err(Error::budget(what, needed, ctx.memory_budget()));
    }
    Ok(())
}

/// Computes `together` matrices at a time. If `together` is 0, not even one matrix fits the device, and each matrix is
/// computed as a stream of rows.
fn by_matrices(
    gpu: &Gpu,
    x: &[f32],
    shape: Shape,
    together: usize,
    budget: u64,
    output: Output,
) -> Result<(Vec<f32>, Vec<f32>, Unit)> {
    let (mut means, mut made, mut unit) = (Vec::new(), Vec::new(), Unit::default());
    let size = shape.matrix_len();
    for begin in (0..shape.batch).step_by(together.max(1)) {
        let batch = together.max(1).min(shape.batch - begin);
        let own = &x[begin * size..(begin + batch) * size];
        let found = if together > 0 {
            Some(raised(gpu, own, Shape { batch, ..shape }, budget, output)?)
        } else {
            let mut stream = gpu_cov::Stream::new(gpu, shape.cols, 1, budget);
            in_chunks(gpu, budget, own, (shape.rows, shape.cols), |chunk, rows| stream.push(gpu, chunk, rows))?;
            stream.finish(gpu, output)?
        };
        if let Some(found) = found {
            let reads = (gpu.read(&found.means)?, gpu.read(&found.covariance)?);
            means.extend(reads.0.wait()?);
            made.extend(reads.1.wait()?);
            unit = found.unit;
        }
    }
    Ok((means, made, unit))
}

pub(super) fn means<T: Real>(gram: &Gram) -> Vec<T> {
    gram.means.iter().map(|&mean| T::from_f64(if gram.rows == 0 { f64::NAN } else { mean })).collect()
}

/// Returns the whole covariance or correlation matrix from the lower triangle of the products.
pub(super) fn matrix<T: Real>(gram: &Gram, correlation: bool) -> Vec<T> {
    let mut whole = zeroed_vec(gram.products.len());
    finish(gram.rows, gram.means.len(), correlation, &mut whole, gram);
    whole
}

/// Writes the whole covariance or correlation matrix of `rows` rows to `whole`, which has what `products` are computed
/// from.
fn finish<T: Real>(rows: u64, cols: usize, correlation: bool, whole: &mut [T], products: &impl Products<T>) {
    let divisor = if rows > 1 { as_f64(rows - 1) } else { f64::NAN };
    let roots = correlation.then(|| {
        let mut squares = vec![0.0; cols];
        for (j, square) in squares.chunks_exact_mut(1).enumerate() {
            products.write(j, j..j + 1, &whole[j * cols + j..][..1], square);
        }
        squares.iter().map(|square| square.sqrt()).collect::<Vec<f64>>()
    });
    let roots = roots.as_deref();
    parallel::in_own_pool(|| {
        parallel::for_each(whole.chunks_mut((SQUARE * cols).max(1)), |k, rows| {
            T::in_lanes(Finish { products, first: k * SQUARE, rows, cols, divisor, roots });
        });
        mirror(whole, cols, 0);
    });
}

/// The task that replaces the elements up to the diagonal, of rows that begin with row `first`, by covariances, or by
/// correlations if the square roots of the sums of squares are given.
struct Finish<'a, T, P> {
    products: &'a P,
    first: usize,
    rows: &'a mut [T],
    cols: usize,
    divisor: f64,
    roots: Option<&'a [f64]>,
}

impl<T: Real, P: Products<T>> Task<T> for Finish<'_, T, P> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Scalar = T>>(self, _: V::Token) {
        let Self { products, first, rows, cols, divisor, roots } = self;
        let mut sums = vec![0.0; cols];
        for (i, row) in (first..).zip(rows.chunks_exact_mut(cols)) {
            let (row, sums) = (&mut row[..=i], &mut sums[..=i]);
            products.write(i, 0..i + 1, row, sums);
            match roots {
                _ if divisor.is_nan() => row.fill(T::from_f64(f64::NAN)),
                None => row.iter_mut().zip(&*sums).for_each(|(to, sum)| *to = T::from_f64(sum / divisor)),
                Some(roots) => {
                    for ((to, sum), root) in row.iter_mut().zip(&*sums).zip(roots) {
                        *to = T::from_f64((sum / roots[i] / root).clamp(-1.0, 1.0));
                    }
                    if !row[i].to_f64().is_nan() {
                        row[i] = T::from_f64(1.0);
                    }
                }
            }
        }
    }
}

/// Copies what is below the diagonal to what is beyond it, in `rows`, which begin with row `first`: from the lower half
/// of the rows to the upper half, and within both halves likewise.
fn mirror<T: Real>(rows: &mut [T], cols: usize, first: usize) {
    let count = rows.len() / cols.max(1);
    if count <= SQUARE {
        for i in 1..count {
            let (above, row) = rows.split_at_mut(i * cols);
            above.chunks_exact_mut(cols).zip(&row[first..]).for_each(|(to, x)| to[first + i] = *x);
        }
        return;
    }
    let half = (count / 2).next_multiple_of(SQUARE);
    let (upper, lower) = rows.split_at_mut(half * cols);
    let below = &*lower;
    parallel::for_each(upper.chunks_mut(SQUARE * cols), |k, rows| {
        for (j, below) in (first + half..).step_by(SQUARE).zip(below.chunks(SQUARE * cols)) {
            for (i, row) in (first + k * SQUARE..).zip(rows.chunks_exact_mut(cols)) {
                row[j..].iter_mut().zip(below[i..].iter().step_by(cols)).for_each(|(to, x)| *to = *x);
            }
        }
    });
    parallel::both(|| mirror(upper, cols, first), || mirror(lower, cols, first + half));
}

/// Returns the means and covariances of one matrix in f64, whatever the precision of the input.
pub(in crate::ops) fn in_f64<T: Real>(x: &[T], rows: usize, cols: usize) -> (Vec<f64>, Vec<f64>) {
    let gram = of_matrix(x, rows, cols);
    (means(&gram), matrix(&gram, false))
}
