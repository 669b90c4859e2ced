//! Cosine and sine transforms of types 1 to 4, on the CPU.

use super::cpu::Working;
use super::lines_of;
use crate::array::{Array, Real, Storage};
use crate::context::Context;
use crate::device::Gpu;
use crate::error::{Error, Result};
use crate::ops::convert::tiny::Lines;
use crate::ops::operation::{Call, Operation as _, Precision};
use crate::policy::{Choice, Family, Workload};
use crate::shape::{Axis, Shape};
use bytemuck::{cast_slice, cast_slice_mut};

/// The type of a cosine or sine transform, by the points between which the line is mirrored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CosineType {
    /// At the first and the last element; for sines, one element beyond each of them.
    One,
    /// Half an element before the first and after the last element.
    Two,
    /// The transpose of type 2, which is its inverse up to a factor.
    Three,
    /// Half an element before the first one, and half an element after the last one with the other sign.
    Four,
}

/// The options of [`dct`] and [`dst`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CosineOptions {
    /// The factor by which results are multiplied; 1 by default.
    pub scale: f64,
    /// Whether the terms that the matrix has once in place of twice are multiplied by the root of 2, or divided by it,
    /// so that the rows of the matrix are orthogonal; not by default. They are the first and the last element in type 1
    /// of cosines, the first result in type 2 and the first element in type 3; for sines, the last ones in types 2 and
    /// 3.
    pub orthogonal: bool,
}

impl Default for CosineOptions {
    fn default() -> Self {
        Self { scale: 1.0, orthogonal: false }
    }
}

impl CosineOptions {
    /// Sets the factor by which results are multiplied.
    #[must_use]
    pub fn scale(mut self, scale: f64) -> Self {
        self.scale = scale;
        self
    }

    /// Sets whether the rows of the matrix are orthogonal.
    #[must_use]
    pub fn orthogonal(mut self, orthogonal: bool) -> Self {
        self.orthogonal = orthogonal;
        self
    }
}

/// A transform with its options.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wave {
    pub(super) sine: bool,
    pub(super) kind: CosineType,
    pub(super) scale: f64,
    pub(super) orthogonal: bool,
}

/// Computes discrete cosine transforms along an axis, on the CPU. For a line x of n elements, the result y of type
///
/// - 1 is `y_k = x_0 + (-1)^k x_(n-1) + 2 sum_(0 < j < n - 1) x_j cos(pi j k / (n - 1))`, for n of at least 2;
/// - 2 is `y_k = 2 sum_j x_j cos(pi (2j + 1) k / 2n)`;
/// - 3 is `y_k = x_0 + 2 sum_(j > 0) x_j cos(pi j (2k + 1) / 2n)`;
/// - 4 is `y_k = 2 sum_j x_j cos(pi (2j + 1) (2k + 1) / 4n)`.
///
/// These are the factors of SciPy and FFTW. Type 3 undoes type 2, and types 1 and 4 undo themselves, with the scale
/// `1 / 2n`, or `1 / 2(n - 1)` for type 1. Types 2 and 3 take a real Fourier transform of n elements (Makhoul 1980).
///
/// # Accuracy
/// The relative error in the 2-norm is at most `4 eps log2 2n`, where eps is 2^-23 for f32 and 2^-52 for f64. A line
/// with a NaN or an infinity has no finite result; other lines are not affected.
///
/// # Shapes
/// The result has the shape of `a`. Every other axis, including the batch, may have length 0.
///
/// # Errors
/// [`ErrorKind::Shape`](crate::ErrorKind::Shape) if there are 0 elements along the axis, or 1 for type 1;
/// [`ErrorKind::Domain`](crate::ErrorKind::Domain) with [`Backend::Gpu`](crate::Backend::Gpu), as the device has no
/// such kernels; device errors if `a` is on a device.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::fft::{CosineOptions, CosineType, dct};
/// use fiedler::{Axis, Context, Shape};
///
/// let ctx = Context::cpu();
/// let x = Array::from_vec(Shape::new(4, 1, 1), vec![1.0_f64, 2.0, 3.0, 5.0])?;
/// let there = dct(&ctx, &x, CosineType::Two, CosineOptions::default(), Axis::Rows)?;
/// let back = dct(&ctx, &there, CosineType::Three, CosineOptions::default().scale(1.0 / 8.0), Axis::Rows)?;
/// let back = back.to_host(&ctx)?;
/// assert!(back.as_slice().iter().zip([1.0, 2.0, 3.0, 5.0]).all(|(a, b)| (a - b).abs() < 1e-14));
/// # Ok::<(), fiedler::Error>(())
/// ```
pub fn dct<T: Real>(
    ctx: &Context,
    a: &Array<T>,
    kind: CosineType,
    options: CosineOptions,
    axis: Axis,
) -> Result<Array<T>> {
    let CosineOptions { scale, orthogonal } = options;
    transform(ctx, "dct", a, Wave { sine: false, kind, scale, orthogonal }, axis)
}

/// Computes discrete sine transforms along an axis, on the CPU. For a line x of n elements, the result y of type
///
/// - 1 is `y_k = 2 sum_j x_j sin(pi (j + 1) (k + 1) / (n + 1))`;
/// - 2 is `y_k = 2 sum_j x_j sin(pi (2j + 1) (k + 1) / 2n)`;
/// - 3 is `y_k = (-1)^k x_(n-1) + 2 sum_(j < n - 1) x_j sin(pi (j + 1) (2k + 1) / 2n)`;
/// - 4 is `y_k = 2 sum_j x_j sin(pi (2j + 1) (2k + 1) / 4n)`.
///
/// The inverses are those of [`dct`], with the scale `1 / 2(n + 1)` for type 1. Accuracy, shapes and errors are those
/// of [`dct`], but type 1 takes a single element, too.
///
/// # Errors
/// See [`dct`].
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::fft::{CosineOptions, CosineType, dst};
/// use fiedler::{Axis, Context, Shape};
///
/// let ctx = Context::cpu();
/// let x = Array::from_vec(Shape::new(3, 1, 1), vec![0.0_f32, 1.0, 0.0])?;
/// let found = dst(&ctx, &x, CosineType::One, CosineOptions::default(), Axis::Rows)?.to_host(&ctx)?;
/// assert!(found.as_slice().iter().zip([2.0_f32, 0.0, -2.0]).all(|(a, b)| (a - b).abs() < 1e-6));
/// # Ok::<(), fiedler::Error>(())
/// ```
pub fn dst<T: Real>(
    ctx: &Context,
    a: &Array<T>,
    kind: CosineType,
    options: CosineOptions,
    axis: Axis,
) -> Result<Array<T>> {
    let CosineOptions { scale, orthogonal } = options;
    transform(ctx, "dst", a, Wave { sine: true, kind, scale, orthogonal }, axis)
}

/// Returns where [`dct`] and [`dst`] run on an array of this shape, and why. It is the CPU.
#[must_use]
pub fn choose_dct<T: Real>(ctx: &Context, shape: Shape, axis: Axis) -> Choice {
    let (n, lines) = lines_of(shape, axis);
    call::<T>("dct", n, lines).choose(ctx)
}

fn call<T: Real>(name: &'static str, n: usize, lines: Lines) -> Call<impl Fn(&Gpu, u64) -> bool> {
    let (n, count) = (n as f64, (lines.inner * lines.outer) as f64);
    // Twice the operations of a real Fourier transform of the same length: the order and the roots take as long as it.
    let flops = 2.0 * 2.5 * n * (n + 1.0).log2() * count;
    let workload = Workload {
        family: Family::Rfft,
        size: n,
        items: count,
        cpu_flops: flops,
        gpu_flops: flops,
        ..Workload::default()
    };
    Call { name, precision: Precision::on_cpu::<T>(), workload, empty: false, fits: |_: &Gpu, _| false, waits: false }
}

fn transform<T: Real>(ctx: &Context, name: &'static str, a: &Array<T>, wave: Wave, axis: Axis) -> Result<Array<T>> {
    let shape = a.shape();
    let (n, lines) = lines_of(shape, axis);
    let least = if wave.kind == CosineType::One && !wave.sine { 2 } else { 1 };
    if n < least {
        let expected = format!("at least {least} elements along the axis");
        return Err(Error::shape(name, expected, format!("{n}, in {shape}")));
    }
    let on_cpu = || {
        let data = a.storage().to_vec(ctx)?;
        let mut made = ctx.room::<T>(data.len());
        if T::ON_DEVICE {
            f32::cosine(&ctx.extension(), &wave, n, lines, cast_slice(&data), cast_slice_mut(&mut made));
        } else {
            f64::cosine(&ctx.extension(), &wave, n, lines, cast_slice(&data), cast_slice_mut(&mut made));
        }
        Ok(Storage::host_from(ctx, made))
    };
    let (made, choice) = call::<T>(name, n, lines).run(ctx, on_cpu, |_| Err(Error::domain(name, "use the CPU")))?;
    Ok(Array::from_storage(shape, made).chosen(&choice))
}
