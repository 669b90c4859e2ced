//! Cosine and sine transforms of types 1 to 4. The device runs the algorithm of the CPU (`cpu/cosine.rs`).

use super::cpu::roots_of;
use super::gpu::{self, Kind};
use super::kernels::{Reorder, TurnIn, TurnOut, Turning};
use super::plan::FftPlan;
use super::{Task, lines_of, plan};
use crate::array::{Array, Real};
use crate::context::Context;
use crate::device::{Buffer, Gpu, Grid};
use crate::error::{Error, Result};
use crate::ops::convert::tiny::Lines;
use crate::ops::operation::{Operation as _, Precision};
use crate::policy::Choice;
use crate::shape::{Axis, Shape, to_u32};
use std::f64::consts::SQRT_2;

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

impl Wave {
    fn of(sine: bool, kind: CosineType, options: CosineOptions) -> Self {
        Self { sine, kind, scale: options.scale, orthogonal: options.orthogonal }
    }

    /// Returns the least number of elements of a line.
    fn least(self) -> usize {
        if self.kind == CosineType::One && !self.sine { 2 } else { 1 }
    }

    /// Returns the kind of the Fourier transform.
    fn inner(self) -> Kind {
        match self.kind {
            CosineType::One | CosineType::Two => Kind::RealForward,
            CosineType::Three => Kind::RealInverse,
            CosineType::Four => Kind::Forward,
        }
    }

    /// Returns the length of the Fourier transform for lines of `n` elements.
    pub(super) fn points(self, n: usize) -> usize {
        match self.kind {
            CosineType::One if self.sine => 2 * (n + 1),
            CosineType::One => 2 * (n - 1),
            CosineType::Two | CosineType::Three => n,
            CosineType::Four if n.is_multiple_of(2) => n / 2,
            CosineType::Four => n,
        }
    }

    /// Returns the number of roots of unity for lines of `n` elements, see [`roots_of`].
    pub(super) fn roots(self, n: usize) -> usize {
        match self.kind {
            CosineType::One => 0,
            CosineType::Two | CosineType::Three => n / 2 + 1,
            CosineType::Four if n.is_multiple_of(2) => n / 2,
            CosineType::Four => 2 * n,
        }
    }
}

/// Computes discrete cosine transforms along an axis. For a line x of n elements, the result y of type
///
/// - 1 is `y_k = x_0 + (-1)^k x_(n-1) + 2 sum_(0 < j < n - 1) x_j cos(pi j k / (n - 1))`, for n of at least 2;
/// - 2 is `y_k = 2 sum_j x_j cos(pi (2j + 1) k / 2n)`;
/// - 3 is `y_k = x_0 + 2 sum_(j > 0) x_j cos(pi j (2k + 1) / 2n)`;
/// - 4 is `y_k = 2 sum_j x_j cos(pi (2j + 1) (2k + 1) / 4n)`.
///
/// These are the factors of SciPy and FFTW. Type 3 undoes type 2, and types 1 and 4 undo themselves, with the scale
/// `1 / 2n`, or `1 / 2(n - 1)` for type 1. Types 2 and 3 take a real Fourier transform of n elements (Makhoul 1980),
/// type 1 one of 2(n - 1), and type 4 a complex one of n/2, or of n if n is odd.
///
/// # Accuracy
/// The relative error in the 2-norm is at most `4 eps log2 2n`, where eps is 2^-23 for f32 and 2^-52 for f64. A line
/// with a NaN or an infinity has no finite result; other lines are not affected.
///
/// # Shapes
/// The result has the shape of `a`. Every other axis, including the batch, may have length 0.
///
/// # Errors
/// [`ErrorKind::Shape`](crate::ErrorKind::Shape) if there are 0 elements along the axis, or 1 for type 1; with
/// [`Backend::Gpu`](crate::Backend::Gpu), [`ErrorKind::Limit`](crate::ErrorKind::Limit) if the device does not support
/// the length of the Fourier transform ([`FftPlan::new`]) and [`ErrorKind::Domain`](crate::ErrorKind::Domain) for f64;
/// device errors.
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
    transform(ctx, "dct", a, Wave::of(false, kind, options), axis)
}

/// Computes discrete sine transforms along an axis. For a line x of n elements, the result y of type
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
    transform(ctx, "dst", a, Wave::of(true, kind, options), axis)
}

/// Returns where [`dct`] of a type would run on an array of this shape, and why. [`dst`] costs nearly the same.
#[must_use]
pub fn choose_dct<T: Real>(ctx: &Context, kind: CosineType, shape: Shape, axis: Axis, resident: bool) -> Choice {
    task::<T>(ctx, "dct", Wave::of(false, kind, CosineOptions::default()), shape, axis, resident).choose(ctx)
}

fn task<T: Real>(ctx: &Context, name: &'static str, wave: Wave, shape: Shape, axis: Axis, resident: bool) -> Task {
    let (n, lines) = lines_of(shape, axis);
    let (n, kind) = (n.max(wave.least()), wave.inner());
    let plan = plan(ctx, wave.points(n), kind.is_real()).and_then(Result::ok);
    let (precision, wave) = (Precision::of::<T>(), Some(wave));
    Task { name, kind, n, wave, lines, shape, plan, precision, resident, exponents: Vec::new() }
}

fn transform<T: Real>(ctx: &Context, name: &'static str, a: &Array<T>, wave: Wave, axis: Axis) -> Result<Array<T>> {
    let shape = a.shape();
    let (n, least) = (lines_of(shape, axis).0, wave.least());
    if n < least {
        let expected = format!("at least {least} elements along the axis");
        return Err(Error::shape(name, expected, format!("{n}, in {shape}")));
    }
    task::<T>(ctx, name, wave, shape, axis, a.is_resident()).transform(ctx, a, None)
}

/// Records the transforms of all lines of `n` elements. Types 2 to 4 move 24 bytes for each element if their Fourier
/// transform takes one pass, 8 in each of three kernels, where a Fourier transform of reals moves 8. Type 1 and type 4
/// of an odd length move 40.
///
/// # Errors
/// Device errors.
pub(super) fn on_device(
    gpu: &Gpu,
    plan: &FftPlan,
    wave: Wave,
    n: usize,
    lines: Lines,
    input: &Buffer<f32>,
) -> Result<Buffer<f32>> {
    let all = n * lines.inner * lines.outer;
    if all == 0 {
        return gpu.record().array(0);
    }
    let fourth = wave.kind == CosineType::Four;
    let roots = match wave.kind {
        CosineType::One => None,
        _ => Some(gpu.constant(&[0x00ff_c05e, n as u64, u64::from(fourth)], || {
            roots_of::<f32>(n, fourth).into_iter().map(|w| [w.re, w.im]).collect()
        })?),
    };
    let (kind, single) = (wave.inner(), if wave.orthogonal { SQRT_2 } else { 1.0 });
    let form = match wave.kind {
        CosineType::One => 1.0,
        CosineType::Two => 2.0,
        CosineType::Three => 3.0,
        CosineType::Four if n.is_multiple_of(2) => 4.0,
        CosineType::Four => 5.0,
    };
    let variant = [("KIND", form)];
    #[expect(clippy::cast_possible_truncation, reason = "f32 is the kernels' precision")]
    let params = |given: usize, made: usize, scale: f64, single: f64| Turning {
        count: to_u32(made * lines.inner * lines.outer),
        inner: to_u32(lines.inner),
        given: to_u32(given),
        made: to_u32(made),
        sine: u32::from(wave.sine),
        scale: scale as f32,
        single: single as f32,
    };
    let [before, after] = kind.lengths(plan.length());
    let [from, to] = kind.words();
    let turned = {
        let mut rec = gpu.record();
        let mut turned: Buffer<f32> = rec.array(all / n * before * from)?;
        let params = params(n, before, 1.0, single);
        let (grid, flops) = (Grid::Invocations(params.count), 6.0 * f64::from(params.count));
        match (&roots, wave.kind) {
            (Some(roots), CosineType::Three | CosineType::Four) => {
                let kernel = TurnIn { params, roots, input, output: &mut turned.cast_mut() };
                rec.dispatch(&kernel, &variant, grid, flops)?;
            }
            _ => rec.dispatch(&Reorder { params, input, output: &mut turned }, &variant, grid, flops)?,
        }
        turned
    };
    let spectra = gpu::transform(gpu, plan, kind, lines, &turned, None)?;
    drop(turned);
    let mut rec = gpu.record();
    let mut made = rec.array(all)?;
    debug_assert_eq!(spectra.len(), all / n * after * to);
    let scale = match wave.kind {
        CosineType::One => wave.scale,
        // The transform divided by its length.
        CosineType::Three => wave.scale * n as f64,
        CosineType::Two | CosineType::Four => 2.0 * wave.scale,
    };
    let params = params(after, n, scale, 1.0 / single);
    let (grid, flops) = (Grid::Invocations(params.count), 6.0 * f64::from(params.count));
    if kind == Kind::RealInverse {
        rec.dispatch(&Reorder { params, input: &spectra, output: &mut made }, &variant, grid, flops)?;
    } else {
        let (input, none) = (&spectra.cast_ref(), &spectra.cast_ref());
        // Type 1 has no roots, and does not read what is bound in their place.
        let roots: &Buffer<[f32; 2]> = roots.as_deref().unwrap_or(none);
        rec.dispatch(&TurnOut { params, roots, input, output: &mut made }, &variant, grid, flops)?;
    }
    Ok(made)
}
