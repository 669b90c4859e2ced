//! Random numbers from a counter-based generator, Philox 4x32-10: the i-th number of a stream is a function of the
//! stream and of i only. Integers, uniforms and standard normals are the same to the last bit on the CPU and on every
//! adapter, however a request is divided.
//!
//! The module `quantile` computes f32 standard normals from words in fixed point, with 1024 cubic polynomials, so that
//! the bits of the normals are the same everywhere. The module `start_vectors` computes the vectors with which
//! iterative solvers start. A test ensures that their bits do not change.

mod cpu;
mod gpu;
pub(super) mod kernels;
mod philox;
mod quantile;
mod start_vectors;
mod stream;

pub(in crate::ops) use philox::{WORDS as BLOCK_WORDS, abreast, philox};
pub(in crate::ops) use start_vectors::{normal_at, uniforms};
pub use stream::Stream;

use crate::array::{Array, Real, Scalar, Storage};
use crate::context::Context;
use crate::device::Gpu;
use crate::error::{Error, Result};
use crate::ops::operation::{Call, Operation, Precision};
use crate::policy::{Choice, Workload};
use crate::shape::Shape;
use std::ops::Range;

/// The distribution that words are transformed to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    /// The words unchanged.
    Words,
    Uniform {
        low: f64,
        high: f64,
    },
    Normal {
        mean: f64,
        deviation: f64,
    },
    /// 1 if a word is below `below`, else 0.
    Bernoulli {
        below: u64,
    },
}

/// Returns the next 32-bit words of the stream.
///
/// # Shapes
/// Any. The elements are filled in the order of memory, which is column-major with the matrices of a batch one after
/// the other. Each element takes one word of the stream.
///
/// # Examples
/// ```
/// use fiedler::ops::random::{Stream, words};
/// use fiedler::{Context, Shape};
///
/// let (ctx, mut stream) = (Context::cpu(), Stream::new(7, "salt"));
/// let first = words(&ctx, &mut stream, Shape::new(4, 1, 1))?.to_host(&ctx)?;
/// let next = words(&ctx, &mut stream, Shape::new(4, 1, 1))?.to_host(&ctx)?; // the stream has moved on
/// let all = words(&ctx, &mut Stream::new(7, "salt"), Shape::new(8, 1, 1))?.to_host(&ctx)?;
/// assert_eq!([first.as_slice(), next.as_slice()].concat(), all.as_slice());
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Limit`] if the array exceeds the memory budget or, with [`Backend::Gpu`](crate::Backend::Gpu), a
/// binding; device errors. After an error the position of the stream is unchanged.
pub fn words(ctx: &Context, stream: &mut Stream, shape: Shape) -> Result<Array<u32>> {
    let (made, choice) = check::<u32>("random words", ctx, shape, 1)?.run(
        ctx,
        || {
            let mut made = ctx.room(shape.len());
            cpu::words(stream, &mut made);
            Ok(Storage::host_from(ctx, made))
        },
        |gpu| Ok(Storage::device(gpu::fill(gpu, stream, shape.len(), Law::Words)?)),
    )?;
    stream.skip(shape.len() as u128);
    Ok(Array::from_storage(shape, made).chosen(&choice))
}

/// Returns numbers that are uniformly distributed on `[low, high)`.
///
/// A number is `low + (high - low) u`. In f32, u consists of the upper 24 bits of one word; in f64, u consists of the
/// upper 53 bits of two words. If the range is `[0, 1)`, or if the product and the sum are exact, the bits are the same
/// on the CPU and on every adapter. Otherwise, an adapter may fuse or round these operations differently, which changes
/// a number by one ulp of the larger of `|low|` and `|high|`.
///
/// # Shapes
/// As for [`words`]; f64 takes two words per number.
///
/// # Examples
/// ```
/// use fiedler::ops::random::{Stream, uniform};
/// use fiedler::{Context, Shape};
///
/// let (ctx, mut stream) = (Context::cpu(), Stream::new(7, "weights"));
/// let x = uniform::<f32>(&ctx, &mut stream, Shape::new(100, 1, 1), -1.0..1.0)?.to_host(&ctx)?;
/// assert!(x.as_slice().iter().all(|x| (-1.0..1.0).contains(x)));
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Domain`] if the range is empty or not finite in `T`, or `T` is f64 under
/// [`Backend::Gpu`](crate::Backend::Gpu); [`crate::ErrorKind::Limit`] as for [`words`]; device errors.
pub fn uniform<T: Real>(ctx: &Context, stream: &mut Stream, shape: Shape, range: Range<f64>) -> Result<Array<T>> {
    let Range { start: low, end: high } = range;
    let [a, b] = [low, high].map(|x| T::from_f64(x).to_f64());
    if !(a < b && T::from_f64(b - a).to_f64().is_finite()) {
        let what =
            format!("expected a range low..high that is not empty and finite in {}, found {low}..{high}", T::NAME);
        return Err(Error::domain("random uniform", what));
    }
    fill("random uniform", ctx, stream, shape, Law::Uniform { low: a, high: b })
}

/// Returns normally distributed numbers.
///
/// A standard normal x is computed by applying the inverse of the normal distribution function to a probability. The
/// probability is made from one word in f32 and from two words in f64. No word is rejected. Standard normals have the
/// same bits everywhere. The largest standard normal is 6.338 in f32 (at a tail probability of 2^-33) and 9.155 in f64
/// (at a tail probability of 2^-65). The error of x is at most 2.5 * 2^-29 plus half an ulp in f32, and 4 ulp in f64.
/// The result is `mean + deviation x`, rounded. An adapter may fuse the product and the sum, which changes a number by
/// one ulp of the larger of `|mean|` and `|deviation x|`.
///
/// # Shapes
/// As for [`words`]; f64 takes two words per number.
///
/// # Examples
/// ```
/// use fiedler::ops::random::{Stream, normal};
/// use fiedler::{Context, Shape};
///
/// let (ctx, mut stream) = (Context::cpu(), Stream::new(7, "noise"));
/// let x = normal::<f32>(&ctx, &mut stream, Shape::new(10_000, 1, 1), 5.0, 0.1)?.to_host(&ctx)?;
/// let mean = x.as_slice().iter().sum::<f32>() / 1e4;
/// assert!((mean - 5.0).abs() < 0.01);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Domain`] if the mean or the deviation is not finite in `T`, the deviation is negative, or `T` is
/// f64 under [`Backend::Gpu`](crate::Backend::Gpu); [`crate::ErrorKind::Limit`] as for [`words`]; device errors.
pub fn normal<T: Real>(
    ctx: &Context,
    stream: &mut Stream,
    shape: Shape,
    mean: f64,
    deviation: f64,
) -> Result<Array<T>> {
    let [a, b] = [mean, deviation].map(|x| T::from_f64(x).to_f64());
    if !(a.is_finite() && b.is_finite() && b >= 0.0) {
        let what = format!(
            "expected a finite mean and a finite deviation of 0 or more in {}, found {mean} and {deviation}",
            T::NAME
        );
        return Err(Error::domain("random normal", what));
    }
    fill("random normal", ctx, stream, shape, Law::Normal { mean: a, deviation: b })
}

/// Returns numbers that are 1 with probability p and 0 otherwise. A number is 1 if its word is below an integer, which
/// is p 2^32 rounded to the nearest integer. The numbers are the same everywhere.
///
/// # Shapes
/// As for [`words`]; in f64, too, a number takes one word.
///
/// # Examples
/// ```
/// use fiedler::ops::random::{Stream, bernoulli};
/// use fiedler::{Context, Shape};
///
/// let (ctx, mut stream) = (Context::cpu(), Stream::new(7, "mask"));
/// let x = bernoulli::<f32>(&ctx, &mut stream, Shape::new(10_000, 1, 1), 0.25)?.to_host(&ctx)?;
/// assert!((x.as_slice().iter().sum::<f32>() / 1e4 - 0.25).abs() < 0.05);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Domain`] if p is not in `[0, 1]`, or `T` is f64 under [`Backend::Gpu`](crate::Backend::Gpu);
/// [`crate::ErrorKind::Limit`] as for [`words`]; device errors.
pub fn bernoulli<T: Real>(ctx: &Context, stream: &mut Stream, shape: Shape, p: f64) -> Result<Array<T>> {
    if !(0.0..=1.0).contains(&p) {
        return Err(Error::domain("random bernoulli", format!("expected a probability from 0 to 1, found {p}")));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 2^32")]
    let below = (p * 4_294_967_296.0).round() as u64;
    fill("random bernoulli", ctx, stream, shape, Law::Bernoulli { below })
}

fn fill<T: Real>(
    operation: &'static str,
    ctx: &Context,
    stream: &mut Stream,
    shape: Shape,
    law: Law,
) -> Result<Array<T>> {
    let words = if T::ON_DEVICE || matches!(law, Law::Bernoulli { .. }) { 1 } else { 2 };
    let (made, choice) = check::<T>(operation, ctx, shape, words)?.run(
        ctx,
        || {
            let mut made = ctx.room(shape.len());
            cpu::fill(stream, law, &mut made);
            Ok(Storage::host_from(ctx, made))
        },
        |gpu| Ok(Storage::device(gpu::fill(gpu, stream, shape.len(), law)?)),
    )?;
    stream.skip(shape.len() as u128 * words);
    Ok(Array::from_storage(shape, made).chosen(&choice))
}

/// Returns the description of a call after checking that its numbers fit the memory budget.
fn check<T: Scalar>(
    operation: &'static str,
    ctx: &Context,
    shape: Shape,
    words: u128,
) -> Result<Call<impl Fn(&Gpu, u64) -> bool>> {
    let (needed, allowed) = ((shape.len() as u64).saturating_mul(size_of::<T>() as u64), ctx.memory_budget());
    if needed > allowed {
        return Err(Error::budget(format_args!("bytes of {operation} numbers"), needed, allowed));
    }
    Ok(call::<T>(operation, shape, words))
}

/// Fills `out` with the next standard normals of the stream, on the threads of the current pool. These are the numbers
/// of [`normal`].
pub(crate) fn fill_normals(stream: &Stream, out: &mut [f32]) {
    cpu::fill(stream, Law::Normal { mean: 0.0, deviation: 1.0 }, out);
}

/// Fills `out` with the next words of the stream, on the threads of the current pool. These are the words of [`words`].
pub(crate) fn fill_words(stream: &Stream, out: &mut [u32]) {
    cpu::words(stream, out);
}

/// Returns where random numbers of the given shape would be made, and why.
#[must_use]
pub fn choose_random<T: Scalar>(ctx: &Context, shape: Shape) -> Choice {
    call::<T>("random numbers", shape, 1).choose(ctx)
}

/// Describes the call to the cost model. Making a word takes about 40 integer operations, and converting it to a number
/// takes about 10 more. Numbers that are made on the device stay there, so nothing is transferred.
fn call<T: Scalar>(name: &'static str, shape: Shape, words: u128) -> Call<impl Fn(&Gpu, u64) -> bool> {
    #[expect(clippy::cast_precision_loss, reason = "a count for the cost model")]
    let flops = 50.0 * shape.len() as f64 * words as f64;
    let workload =
        Workload { items: flops, cpu_flops: flops, gpu_flops: flops, dispatches: 1.0, ..Workload::default() };
    let fits = move |gpu: &Gpu, _| gpu::bytes(shape.len()) <= gpu.adapter().limits.storage_binding;
    Call { name, precision: Precision::of::<T>(), workload, empty: false, fits, waits: false }
}
