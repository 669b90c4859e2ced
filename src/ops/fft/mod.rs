//! Fourier transforms of any length, batched, along any axis.
//!
//! One transform takes one line, which is a sequence of elements along the axis. On the device, `plan` selects one of
//! three algorithms by the length of the line. The first is a single pass. It serves lengths up to 4096 (up to 2048 if
//! a workgroup has only 16 KiB of memory) that are products of 2, 3, 5, 7, 11 and 13. The second is two passes, which
//! serve longer products of these primes. They treat the line as a rectangle and need no transposes. The third is
//! Bluestein's chirp with the cheapest padded length, which serves all other lengths. It takes one dispatch if the
//! padded length fits one workgroup, otherwise four.
//!
//! All three algorithms run the kernel `fft/pass.wgsl`, which computes in-place Cooley-Tukey stages in workgroup memory
//! and reverses the digits of the indices on input. Lengths and radices are passed as uniform data, so one pipeline
//! serves every length. Powers of two have separate pipelines (form `known`), whose first stage reads directly from the
//! input and whose last stage writes directly to the output. Windows, scaling, chirps and the folding of real
//! transforms are applied when elements are loaded and stored. They are compiled in and not selected by a branch,
//! because software adapters execute both sides of a branch. The type `Point` of the kernel is usually one complex
//! number (`point_single.wgsl`). Software adapters access four f32 in the time of one, so on these, if there is room, a
//! `Point` holds the same element of two transforms (`point_pair.wgsl`). Strides describe the axes. The module `tables`
//! computes lookup tables in f64, and the device caches them.
//!
//! Cosine and sine transforms (`cosine`) run the same algorithm on both sides. Each line becomes the line of one of
//! these transforms, whose result becomes theirs; on the device, one kernel before it and one after it do this.
//!
//! The CPU uses rustfft in f32, and zaft and sums in f64, whose plans the context keeps. Where that is faster,
//! batches of contiguous lines are transformed one per SIMD lane instead, and so are lines across rows of most
//! lengths up to 2048 and batches of small matrices.

mod batches;
mod cosine;
mod cpu;
mod features;
mod gpu;
pub(super) mod kernels;
mod plan;
mod tables;
mod task;

use crate::array::{Array, Real, Scalar, Storage};
use crate::context::Context;
use crate::error::Result;
use crate::ops::convert::tiny::Raised;
use crate::ops::operation::{Operation, Precision};
use crate::policy::{Choice, Side};
use crate::shape::{Axis, Shape};
use bytemuck::{cast_slice, cast_slice_mut};
pub use cosine::{CosineOptions, CosineType, choose_dct, dct, dst};
use cpu::Working;
pub(in crate::ops) use cpu::{LinePlan, LinesMemory, Memory, Planned, PowerInLanes, RealLine};
pub use features::{PowerSpectrum, Window, power_spectrum};
use gpu::Kind;
use num_complex::Complex;
pub use plan::{FftPlan, Method, Stages};
use std::borrow::Cow;
use task::{Task, lines_of, plan};

/// Computes discrete Fourier transforms along an axis, for any length and without scaling:
/// `X_k = sum_j x_j exp(-2 pi i j k / n)`, where n is the number of elements along the axis.
///
/// # Accuracy
/// The relative error of a transform in the 2-norm is at most `4 eps log2 n`, where eps is 2^-23 for f32 and 2^-52 for
/// f64. A transform that exceeds the precision's range overflows to non-finite values. If a line (the n elements of one
/// transform) contains a NaN or an infinity, no element of its transform is finite; other lines are not affected.
///
/// # Shapes
/// The result has the shape of `a`. Every other axis, including the batch, may have length 0.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::{fft};
/// use fiedler::{Axis, Context, Shape};
/// use num_complex::Complex;
///
/// let ctx = Context::cpu();
/// let x: Vec<Complex<f32>> = [1.0, 2.0, 3.0, 4.0].map(Complex::from).to_vec();
/// let found = fft(&ctx, &Array::from_vec(Shape::new(4, 1, 1), x)?, Axis::Rows)?.to_host(&ctx)?;
/// assert!((found.as_slice()[0] - Complex::new(10.0, 0.0)).norm() < 1e-5);
/// assert!((found.as_slice()[1] - Complex::new(-2.0, 2.0)).norm() < 1e-5);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Shape`](crate::ErrorKind::Shape) if there are 0 elements along the axis, as in NumPy; with
/// [`Backend::Gpu`](crate::Backend::Gpu), [`ErrorKind::Limit`](crate::ErrorKind::Limit) if the device does not support
/// the length ([`FftPlan::new`]) and [`ErrorKind::Domain`](crate::ErrorKind::Domain) for f64; device errors.
pub fn fft<T: Real>(ctx: &Context, a: &Array<Complex<T>>, axis: Axis) -> Result<Array<Complex<T>>>
where
    Complex<T>: Scalar,
{
    Task::of(ctx, "fft", Kind::Forward, a, axis, None)?.transform(ctx, a, None)
}

/// Computes [`fft`] and brings the result to the host, for use where blocking is impossible, such as in a browser.
/// [`Array::to_host`] then returns at once. The CPU, if it is chosen, computes on the thread that awaits the future.
///
/// # Errors
/// The errors of [`fft`].
pub async fn fft_async<T: Real>(ctx: &Context, a: &Array<Complex<T>>, axis: Axis) -> Result<Array<Complex<T>>>
where
    Complex<T>: Scalar,
{
    Ok(fft(ctx, a, axis)?.to_host_async(ctx).await?.into())
}

/// Computes the inverse of [`fft`]: `x_j = 1/n sum_k X_k exp(2 pi i j k / n)`.
///
/// # Shapes
/// The result has the shape of `a`.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::{fft, ifft};
/// use fiedler::{Axis, Context, Shape};
/// use num_complex::Complex;
///
/// let ctx = Context::cpu();
/// let x: Vec<Complex<f64>> = [1.0, 2.0, 3.0].map(Complex::from).to_vec();
/// let there = fft(&ctx, &Array::from_vec(Shape::new(3, 1, 1), x.clone())?, Axis::Rows)?;
/// let back = ifft(&ctx, &there, Axis::Rows)?.to_host(&ctx)?;
/// assert!(back.as_slice().iter().zip(&x).all(|(a, b)| (a - b).norm() < 1e-14));
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// The same as [`fft`].
pub fn ifft<T: Real>(ctx: &Context, a: &Array<Complex<T>>, axis: Axis) -> Result<Array<Complex<T>>>
where
    Complex<T>: Scalar,
{
    Task::of(ctx, "ifft", Kind::Inverse, a, axis, None)?.transform(ctx, a, None)
}

/// Computes the [`fft`] of n real numbers at the frequencies 0 to n/2, where n/2 is rounded down. The values at the
/// other frequencies are the complex conjugates of these, so they are not returned.
///
/// # Shapes
/// The n elements along the axis become n/2 + 1; the other axes keep their lengths.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::{rfft};
/// use fiedler::{Axis, Context, Shape};
///
/// let ctx = Context::cpu();
/// let x = Array::from_vec(Shape::new(6, 1, 1), vec![1.0_f32; 6])?;
/// let found = rfft(&ctx, &x, Axis::Rows)?.to_host(&ctx)?;
/// assert_eq!(found.shape().rows, 4); // n / 2 + 1 frequencies
/// assert!((found.as_slice()[0].re - 6.0).abs() < 1e-5 && found.as_slice()[1].norm() < 1e-5);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// The same as [`fft`].
pub fn rfft<T: Real>(ctx: &Context, a: &Array<T>, axis: Axis) -> Result<Array<Complex<T>>>
where
    Complex<T>: Scalar,
{
    Task::of(ctx, "rfft", Kind::RealForward, a, axis, None)?.transform(ctx, a, None)
}

/// Computes the inverse of [`rfft`]. The result has `n` real numbers, and n may be even or odd. As in NumPy, the
/// imaginary part at frequency 0 is ignored, and so is the imaginary part at frequency n/2 if n is even.
///
/// # Shapes
/// The n/2 + 1 elements along the axis become n.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::{irfft, rfft};
/// use fiedler::{Axis, Context, Shape};
///
/// let ctx = Context::cpu();
/// let x = vec![1.0_f64, -2.0, 0.5, 4.0, 0.0];
/// let there = rfft(&ctx, &Array::from_vec(Shape::new(5, 1, 1), x.clone())?, Axis::Rows)?;
/// let back = irfft(&ctx, &there, 5, Axis::Rows)?.to_host(&ctx)?; // n is given, as it may be odd or even
/// assert!(back.as_slice().iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-14));
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Shape`](crate::ErrorKind::Shape) if `n` is 0, or if the number of elements along the axis differs from
/// n/2 + 1; otherwise the same as [`fft`].
pub fn irfft<T: Real>(ctx: &Context, a: &Array<Complex<T>>, n: usize, axis: Axis) -> Result<Array<T>>
where
    Complex<T>: Scalar,
{
    Task::of(ctx, "irfft", Kind::RealInverse, a, axis, Some(n))?.transform(ctx, a, None)
}

/// Transforms every matrix along both of its axes.
///
/// # Shapes
/// The result has the shape of `a`.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::fft2;
/// use fiedler::{Context, Shape};
/// use num_complex::Complex;
///
/// let ctx = Context::cpu();
/// let ones = Array::from_vec(Shape::new(4, 3, 1), vec![Complex::new(1.0_f32, 0.0); 12])?;
/// let found = fft2(&ctx, &ones)?.to_host(&ctx)?;
/// assert!((found.as_slice()[0].re - 12.0).abs() < 1e-5 && found.as_slice()[1].norm() < 1e-5);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// The same as [`fft`], for either axis.
pub fn fft2<T: Real>(ctx: &Context, a: &Array<Complex<T>>) -> Result<Array<Complex<T>>>
where
    Complex<T>: Scalar,
{
    both(ctx, "fft2", Kind::Forward, a)
}

/// Computes the inverse of [`fft2`].
///
/// # Shapes
/// The result has the shape of `a`.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::{fft2, ifft2};
/// use fiedler::{Context, Shape};
/// use num_complex::Complex;
///
/// let ctx = Context::cpu();
/// let x: Vec<Complex<f64>> = (0..12).map(|i| Complex::new(f64::from(i), 1.0)).collect();
/// let back = ifft2(&ctx, &fft2(&ctx, &Array::from_vec(Shape::new(4, 3, 1), x.clone())?)?)?.to_host(&ctx)?;
/// assert!(back.as_slice().iter().zip(&x).all(|(a, b)| (a - b).norm() < 1e-13));
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// The same as [`fft`], for either axis.
pub fn ifft2<T: Real>(ctx: &Context, a: &Array<Complex<T>>) -> Result<Array<Complex<T>>>
where
    Complex<T>: Scalar,
{
    both(ctx, "ifft2", Kind::Inverse, a)
}

fn both<T: Real>(ctx: &Context, name: &'static str, kind: Kind, a: &Array<Complex<T>>) -> Result<Array<Complex<T>>>
where
    Complex<T>: Scalar,
{
    // Check both axes first, so that nothing is computed for a call that is refused.
    let [rows, cols] = [Axis::Rows, Axis::Cols].map(|axis| Task::of(ctx, name, kind, a, axis, None));
    let (rows, mut cols) = (rows?, cols?);
    // Tiny matrices are scaled as wholes, so that what is between the two transforms is not subnormal.
    let words: Cow<'_, [f32]> = match a.storage() {
        Storage::Host(data) if T::ON_DEVICE => Complex::<T>::for_device(data),
        _ => Cow::default(),
    };
    let Raised { words, exponents } = Raised::of(&words, cols.matrices(), 2);
    let raised = if exponents.is_empty() {
        None
    } else {
        cols.exponents = exponents;
        Some(Array::from_vec(a.shape(), Complex::<T>::from_device(words.into_owned()))?)
    };
    let a = raised.as_ref().unwrap_or(a);
    let choices = [rows.decide(ctx)?, cols.decide(ctx)?];
    if choices.iter().any(|choice| choice.side == Side::Gpu) {
        let half: Array<Complex<T>> = rows.transform(ctx, a, None)?;
        return cols.transform(ctx, &half, None);
    }
    let [first, second] = choices;
    let choice = if first.workload.cpu_flops > second.workload.cpu_flops { first } else { second };
    let made = ctx.on_host_for(&choice, || {
        let data = a.storage().to_vec(ctx)?;
        let mut made = ctx.room::<Complex<T>>(data.len());
        let sides = [rows.n, cols.n];
        if T::ON_DEVICE {
            f32::matrices(&ctx.extension(), kind, sides, cast_slice(&data), cast_slice_mut(&mut made));
        } else {
            f64::matrices(&ctx.extension(), kind, sides, cast_slice(&data), cast_slice_mut(&mut made));
        }
        cols.lower_here(&mut made);
        Ok(Storage::host_from(ctx, made))
    })?;
    Ok(Array::from_storage(a.shape(), made).chosen(&choice))
}

/// Returns where [`fft`] would run on an array of this shape, and why. [`ifft`] costs nearly the same.
#[must_use]
pub fn choose_fft<T: Real>(ctx: &Context, shape: Shape, axis: Axis, resident: bool) -> Choice {
    choose::<T>(ctx, Kind::Forward, shape, axis, resident)
}

/// Returns where [`rfft`] would run on an array of reals of this shape, and why. [`irfft`] costs nearly the same.
#[must_use]
pub fn choose_rfft<T: Real>(ctx: &Context, shape: Shape, axis: Axis, resident: bool) -> Choice {
    choose::<T>(ctx, Kind::RealForward, shape, axis, resident)
}

fn choose<T: Real>(ctx: &Context, kind: Kind, shape: Shape, axis: Axis, resident: bool) -> Choice {
    let (n, lines) = lines_of(shape, axis);
    let plan = plan(ctx, n.max(1), kind.is_real()).and_then(Result::ok);
    let precision = Precision::of::<T>();
    Task { name: "fft", kind, n: n.max(1), lines, shape, plan, precision, resident, wave: None, exponents: Vec::new() }
        .choose(ctx)
}
