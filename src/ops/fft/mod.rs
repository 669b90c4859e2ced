//! Fourier transforms of every length, batched, along any axis.

mod batches;
mod cpu;
mod features;
mod gpu;
pub(super) mod kernels;
mod plan;
mod tables;

use crate::array::{Array, Real, Scalar, Storage};
use crate::context::Context;
use crate::device::Gpu;
use crate::error::{Error, Result};
use crate::ops::operation::{Operation, Precision};
use crate::policy::{Choice, Family, Workload};
use crate::shape::{Axis, Shape};
pub use features::{PowerSpectrum, Window, power_spectrum};
use gpu::{Kind, Lines};
use num_complex::Complex;
pub use plan::{FftPlan, Method, Stages};

/// The discrete Fourier transforms `X_k = sum_j x_j exp(-2 pi i j k / n)` along an axis, unscaled, of any length.
///
/// # Accuracy
/// The relative error in the 2-norm is at most `4 eps log2 n`. An input whose transform is beyond the precision's range overflows to what
/// is not finite. A line with a NaN or an infinity has a transform of which no element is finite; other lines are as without it.
///
/// # Shapes
/// That of `a`; a batch of 0 and other axes of 0 are fine.
///
/// # Errors
/// [`ErrorKind::Shape`](crate::ErrorKind::Shape) for 0 elements along the axis, as numpy; with
/// [`Backend::Gpu`](crate::Backend::Gpu), [`ErrorKind::Limit`](crate::ErrorKind::Limit) if the device cannot take the length
/// ([`FftPlan::new`]) and [`ErrorKind::Domain`](crate::ErrorKind::Domain) for f64; device errors.
pub fn fft<T: Real>(ctx: &Context, a: &Array<Complex<T>>, axis: Axis) -> Result<Array<Complex<T>>>
where
    Complex<T>: Scalar,
{
    Task::of(ctx, "fft", Kind::Forward, a, axis, None)?.transform(ctx, a, None)
}

/// The inverse of [`fft`]: `x_j = 1/n sum_k X_k exp(2 pi i j k / n)`.
///
/// # Shapes
/// That of `a`.
///
/// # Errors
/// As [`fft`].
pub fn ifft<T: Real>(ctx: &Context, a: &Array<Complex<T>>, axis: Axis) -> Result<Array<Complex<T>>>
where
    Complex<T>: Scalar,
{
    Task::of(ctx, "ifft", Kind::Inverse, a, axis, None)?.transform(ctx, a, None)
}

/// [`fft`] of real numbers: frequencies 0 to n/2, of which the others are the conjugates.
///
/// # Shapes
/// n/2 + 1 elements along the axis, of n; the other axes as they are.
///
/// # Errors
/// As [`fft`].
pub fn rfft<T: Real>(ctx: &Context, a: &Array<T>, axis: Axis) -> Result<Array<Complex<T>>>
where
    Complex<T>: Scalar,
{
    Task::of(ctx, "rfft", Kind::RealForward, a, axis, None)?.transform(ctx, a, None)
}

/// The inverse of [`rfft`] for `n` real numbers, even or odd. As in numpy the imaginary parts at frequency 0 and, for even n, at n/2
/// are not looked at.
///
/// # Shapes
/// n elements along the axis, of n/2 + 1.
///
/// # Errors
/// [`ErrorKind::Shape`](crate::ErrorKind::Shape) if there are not n/2 + 1 elements along the axis, or n is 0; else as [`fft`].
pub fn irfft<T: Real>(ctx: &Context, a: &Array<Complex<T>>, n: usize, axis: Axis) -> Result<Array<T>>
where
    Complex<T>: Scalar,
{
    Task::of(ctx, "irfft", Kind::RealInverse, a, axis, Some(n))?.transform(ctx, a, None)
}

/// The transform of every matrix along both of its axes.
///
/// # Shapes
/// That of `a`.
///
/// # Errors
/// As [`fft`], for either axis.
pub fn fft2<T: Real>(ctx: &Context, a: &Array<Complex<T>>) -> Result<Array<Complex<T>>>
where
    Complex<T>: Scalar,
{
    both(ctx, "fft2", Kind::Forward, a)
}

/// The inverse of [`fft2`].
///
/// # Shapes
/// That of `a`.
///
/// # Errors
/// As [`fft`], for either axis.
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
    // Both before either, so that nothing is computed for a refusal.
    let [rows, cols] = [Axis::Rows, Axis::Cols].map(|axis| Task::of(ctx, name, kind, a, axis, None));
    let (rows, cols) = (rows?, cols?);
    let half: Array<Complex<T>> = rows.transform(ctx, a, None)?;
    cols.transform(ctx, &half, None)
}

/// Where [`fft`], and near enough [`ifft`], would run on an array of that shape, and why.
#[must_use]
pub fn choose_fft<T: Real>(ctx: &Context, shape: Shape, axis: Axis, resident: bool) -> Choice {
    choose::<T>(ctx, Kind::Forward, shape, axis, resident)
}

/// Where [`rfft`], and near enough [`irfft`], would run on an array of reals of that shape, and why.
#[must_use]
pub fn choose_rfft<T: Real>(ctx: &Context, shape: Shape, axis: Axis, resident: bool) -> Choice {
    choose::<T>(ctx, Kind::RealForward, shape, axis, resident)
}

fn choose<T: Real>(ctx: &Context, kind: Kind, shape: Shape, axis: Axis, resident: bool) -> Choice {
    let (n, lines) = lines_of(shape, axis);
    let plan = plan(ctx, n.max(1), kind.is_real()).and_then(Result::ok);
    let precision = Precision::of::<T>();
    Task { name: "fft", kind, n: n.max(1), lines, shape, plan, precision, resident }.choose(ctx)
}

/// For the adapter, if there is one.
fn plan(ctx: &Context, n: usize, real: bool) -> Option<Result<FftPlan>> {
    Some(FftPlan::within(kernels::longest_pass(ctx.adapter()?, n), n, real))
}

/// Elements along the axis, and the lines of them.
fn lines_of(shape: Shape, axis: Axis) -> (usize, Lines) {
    let Shape { rows, cols, batch } = shape;
    match axis {
        Axis::Rows => (rows, Lines { inner: 1, outer: cols.saturating_mul(batch) }),
        Axis::Cols => (cols, Lines { inner: rows, outer: batch }),
        Axis::Batch => (batch, Lines { inner: rows.saturating_mul(cols), outer: 1 }),
    }
}

/// One call, checked.
#[derive(Debug)]
struct Task {
    name: &'static str,
    kind: Kind,
    /// Elements along the axis in the domain of time.
    n: usize,
    lines: Lines,
    /// Of the result.
    shape: Shape,
    /// Where there is a device that might take it.
    plan: Option<FftPlan>,
    precision: Precision,
    /// Whether the numbers lie on the device.
    resident: bool,
}

impl Operation for Task {
    fn name(&self) -> &'static str {
        self.name
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn workload(&self, ctx: &Context) -> Workload {
        let count = (self.lines.inner * self.lines.outer) as f64;
        let [before, after] = self.kind.lengths(self.n);
        let [from, to] = self.kind.words();
        let moved = |words: usize| 4.0 * words as f64 * count;
        let n = self.n as f64;
        // Beside powers of two, which rates are measured on: 1000 points take 1.5 to 2.8 times as long as 1024, on either side (2026-11-22).
        let mixed = if self.n.is_power_of_two() { 1.0 } else { 2.0 };
        // rustfft has about twice the rate of the decompositions that the policy's rate was measured on, memory's part within.
        let cpu = 5.0
            * n
            * (n + 1.0).log2()
            * if self.plan.as_ref().is_some_and(|p| p.padded().is_some()) { 3.0 } else { mixed };
        Workload {
            cpu_flops: 0.5 * cpu * count,
            gpu_flops: self.plan.as_ref().map_or(0.0, FftPlan::flops) * count * mixed,
            family: if self.kind.is_real() { Family::Rfft } else { Family::Fft },
            size: n,
            items: count,
            dispatches: self.plan.as_ref().map_or(1.0, |plan| plan.dispatches() as f64),
            algorithms: [
                "rustfft",
                ctx.adapter().map_or("", |adapter| kernels::Tuning::on(adapter, self.n).name(self.n)),
            ],
            ..Workload::default()
        }
        .transferring(self.resident, moved(before * from), moved(after * to))
    }

    fn fits(&self, gpu: &Gpu, budget: u64) -> bool {
        self.plan.as_ref().is_some_and(|plan| batches::fits(gpu, budget, plan, self.kind))
    }
}

impl Task {
    fn of<I: Scalar>(
        ctx: &Context,
        name: &'static str,
        kind: Kind,
        a: &Array<I>,
        axis: Axis,
        n: Option<usize>,
    ) -> Result<Self> {
        let shape = a.shape();
        let (along, lines) = lines_of(shape, axis);
        let n = n.unwrap_or(along);
        let [before, after] = kind.lengths(n);
        if n == 0 {
            return Err(Error::shape(name, "at least one element along the axis", format!("0, in {shape}")));
        }
        if along != before {
            let expected = format!("{before} elements along the axis, for {n}");
            return Err(Error::shape(name, expected, format!("{along}, in {shape}")));
        }
        let shape = match axis {
            Axis::Rows => Shape { rows: after, ..shape },
            Axis::Cols => Shape { cols: after, ..shape },
            Axis::Batch => Shape { batch: after, ..shape },
        };
        let plan = plan(ctx, n, kind.is_real()).and_then(Result::ok);
        Ok(Self { name, kind, n, lines, shape, plan, precision: Precision::of::<I>(), resident: a.is_resident() })
    }

    fn transform<I: Scalar, O: Scalar>(
        &self,
        ctx: &Context,
        a: &Array<I>,
        window: Option<&Array<I>>,
    ) -> Result<Array<O>> {
        let on_cpu = || {
            let window = window.map(|window| window.storage().to_vec(ctx)).transpose()?;
            let data = a.storage().to_vec(ctx)?;
            let made = self.on_cpu(ctx, &data, window.as_ref().map(|window| window.as_slice()));
            Ok(Storage::host(made))
        };
        let (made, choice) = self.run(ctx, on_cpu, |gpu| {
            // Without a plan the length is beyond the kernels: this says so.
            let plan = match &self.plan {
                Some(plan) => plan.clone(),
                None => plan(ctx, self.n, self.kind.is_real()).unwrap_or_else(|| FftPlan::new(self.n))?,
            };
            batches::transform(ctx, gpu, self, &plan, a.storage(), window)
        })?;
        Ok(Array::from_storage(self.shape, made).chosen(&choice))
    }

    /// I and O are what the kind says, in one of two precisions.
    fn on_cpu<I: Scalar, O: Scalar>(&self, ctx: &Context, data: &[I], window: Option<&[I]>) -> Vec<O> {
        // f32 is all that a device takes.
        if I::ON_DEVICE {
            self.in_precision::<f32, I, O>(&ctx.extension(), data, window)
        } else {
            self.in_precision::<f64, I, O>(&ctx.extension(), data, window)
        }
    }

    fn in_precision<F: cpu::Working, I: Scalar, O: Scalar>(
        &self,
        plans: &cpu::Plans<F>,
        data: &[I],
        window: Option<&[I]>,
    ) -> Vec<O>
    where
        Complex<F>: bytemuck::Pod,
    {
        let lines = self.lines;
        match self.kind {
            Kind::Forward | Kind::Inverse => {
                bytemuck::allocation::cast_vec(F::complex(plans, self.kind, self.n, lines, bytemuck::cast_slice(data)))
            }
            Kind::RealForward => {
                let window = window.map(bytemuck::cast_slice);
                bytemuck::allocation::cast_vec(F::forward(plans, self.n, lines, bytemuck::cast_slice(data), window))
            }
            Kind::RealInverse => {
                bytemuck::allocation::cast_vec(F::backward(plans, self.n, lines, bytemuck::cast_slice(data)))
            }
        }
    }
}
