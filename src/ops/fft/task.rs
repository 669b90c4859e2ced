//! One transform of any kind on either side: what it costs, whether it fits, and where it runs.

use super::cosine::Wave;
use super::cpu::{self, Working};
use super::gpu::Kind;
use super::plan::FftPlan;
use super::{batches, kernels};
use crate::array::{Array, Scalar, Storage};
use crate::context::Context;
use crate::device::Gpu;
use crate::error::{Error, Result};
use crate::ops::convert::tiny::{Lines, lower_here};
use crate::ops::operation::{Operation, Precision};
use crate::policy::{Family, Workload};
use crate::shape::{Axis, Shape};
use bytemuck::{cast_slice, cast_slice_mut};

/// Returns the plan for the workgroup memory of the context's adapter; `None` if there is no adapter.
pub(super) fn plan(ctx: &Context, n: usize, real: bool) -> Option<Result<FftPlan>> {
    Some(FftPlan::within(kernels::longest_pass(ctx.adapter()?, n), n, real))
}

/// Returns the number of elements along the axis, and the layout of the lines.
pub(super) fn lines_of(shape: Shape, axis: Axis) -> (usize, Lines) {
    let Shape { rows, cols, batch } = shape;
    match axis {
        Axis::Rows => (rows, Lines { inner: 1, outer: cols.saturating_mul(batch) }),
        Axis::Cols => (cols, Lines { inner: rows, outer: batch }),
        Axis::Batch => (batch, Lines { inner: rows.saturating_mul(cols), outer: 1 }),
    }
}

/// One call with checked arguments.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) name: &'static str,
    /// The kind of the Fourier transform.
    pub(super) kind: Kind,
    /// The number of elements along the axis in the time domain.
    pub(super) n: usize,
    /// The cosine or sine transform that the Fourier transform serves.
    pub(super) wave: Option<Wave>,
    pub(super) lines: Lines,
    /// The shape of the result.
    pub(super) shape: Shape,
    /// The device's plan; `None` if there is no adapter or the kernels do not support the length.
    pub(super) plan: Option<FftPlan>,
    pub(super) precision: Precision,
    /// Whether the data is on the device.
    pub(super) resident: bool,
    /// The exponent e of each matrix, whose elements are given times 2^-e; none if there are no such matrices.
    pub(super) exponents: Vec<i32>,
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
        let [before, after] = self.lengths();
        let [from, to] = self.words();
        let moved = |words: usize| 4.0 * words as f64 * count;
        let points = self.points();
        let n = points as f64;
        // The policy's rates are measured on powers of two. On the CPU and on the device, a transform of 1000 points
        // takes 1.5 to 2.8 times as long as a transform of 1024 points (2026-11-22). So other lengths count twice.
        let mixed = if points.is_power_of_two() { 1.0 } else { 2.0 };
        // The policy's rate of the CPU was measured on matrix decompositions. rustfft has about twice that rate,
        // including its memory traffic, and transforms reals in half of the time.
        let cpu = if self.kind.is_real() { 2.5 } else { 5.0 }
            * n
            * (n + 1.0).log2()
            * if self.plan.as_ref().is_some_and(|p| p.padded().is_some()) { 3.0 } else { mixed };
        // What a cosine or sine transform does before and after takes as long as its Fourier transform on the CPU. On
        // the device, it moves twice the bytes of a real transform in one pass, which has about 18 operations an
        // element.
        let (twice, turns) = if self.wave.is_some() { (2.0, [36.0 * self.n as f64, 2.0]) } else { (1.0, [0.0; 2]) };
        Workload {
            cpu_flops: 0.5 * twice * cpu * count,
            gpu_flops: (self.plan.as_ref().map_or(0.0, FftPlan::flops) * mixed + turns[0]) * count,
            family: if self.kind.is_real() { Family::Rfft } else { Family::Fft },
            size: n,
            items: count,
            dispatches: self.plan.as_ref().map_or(1.0, |plan| plan.dispatches() as f64) + turns[1],
            algorithms: [
                cpu::algorithm(self.kind, points, self.lines, self.precision.on_device),
                ctx.adapter().map_or("", |adapter| kernels::Tuning::on(adapter, points).name(points)),
            ],
            ..Workload::default()
        }
        .transferring(self.resident, moved(before * from), moved(after * to))
    }

    fn fits(&self, gpu: &Gpu, budget: u64) -> bool {
        self.plan.as_ref().is_some_and(|plan| batches::fits(gpu, budget, self, plan))
    }

    fn waits(&self, gpu: &Gpu, budget: u64) -> bool {
        let most = self.plan.as_ref().and_then(|plan| batches::most(gpu, budget, self, plan).ok());
        most.is_some_and(|most| self.lines.inner * self.lines.outer > most)
    }
}

impl Task {
    pub(super) fn of<I: Scalar>(
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
        let (precision, resident) = (Precision::of::<I>(), a.is_resident());
        Ok(Self { name, kind, n, wave: None, lines, shape, plan, precision, resident, exponents: Vec::new() })
    }

    /// Returns the length of the Fourier transform.
    pub(super) fn points(&self) -> usize {
        self.wave.map_or(self.n, |wave| wave.points(self.n))
    }

    /// Returns the numbers of elements along the axis before and after.
    pub(super) fn lengths(&self) -> [usize; 2] {
        if self.wave.is_some() { [self.n; 2] } else { self.kind.lengths(self.n) }
    }

    /// Returns the number of 32-bit words of an element before and after.
    pub(super) fn words(&self) -> [usize; 2] {
        if self.wave.is_some() { [1; 2] } else { self.kind.words() }
    }

    /// Returns the layout of the matrices of the result, as if each of them were one line.
    pub(super) fn matrices(&self) -> Lines {
        Lines { inner: 1, outer: self.shape.batch }
    }

    /// Divides results on the host by the factors of their matrices.
    pub(super) fn lower_here<O: Scalar>(&self, made: &mut [O]) {
        if !self.exponents.is_empty() {
            let words: &mut [f32] = cast_slice_mut(made);
            lower_here(&self.exponents, self.matrices(), self.words()[1], 1, words);
        }
    }

    pub(super) fn transform<I: Scalar, O: Scalar>(
        &self,
        ctx: &Context,
        a: &Array<I>,
        window: Option<&Array<I>>,
    ) -> Result<Array<O>> {
        let on_cpu = || {
            let window = window.map(|window| window.storage().to_vec(ctx)).transpose()?;
            let data = a.storage().to_vec(ctx)?;
            let mut made = ctx.room::<O>(self.shape.len());
            self.on_cpu(ctx, &data, window.as_ref().map(|window| &window[..]), &mut made);
            self.lower_here(&mut made);
            Ok(Storage::host_from(ctx, made))
        };
        let (made, choice) = self.run(ctx, on_cpu, |gpu| {
            // If there is no plan, the kernels do not support the length, and planning again returns the error.
            let plan = match &self.plan {
                Some(plan) => plan.clone(),
                None => plan(ctx, self.points(), self.kind.is_real()).unwrap_or_else(|| FftPlan::new(self.points()))?,
            };
            batches::transform(ctx, gpu, self, &plan, a.storage(), window)
        })?;
        Ok(Array::from_storage(self.shape, made).chosen(&choice))
    }

    /// Transforms on the CPU. The kind of the transform determines whether `I` and `O` are real or complex. Both have
    /// the same precision, f32 or f64.
    fn on_cpu<I: Scalar, O: Scalar>(&self, ctx: &Context, data: &[I], window: Option<&[I]>, to: &mut [O]) {
        // Only data in f32 can be on a device, so `ON_DEVICE` means that the precision is f32.
        if I::ON_DEVICE {
            self.in_precision::<f32, I, O>(&ctx.extension(), data, window, to);
        } else {
            self.in_precision::<f64, I, O>(&ctx.extension(), data, window, to);
        }
    }

    fn in_precision<F: Working, I: Scalar, O: Scalar>(
        &self,
        plans: &cpu::Plans<F>,
        data: &[I],
        window: Option<&[I]>,
        to: &mut [O],
    ) {
        let (n, lines) = (self.n, self.lines);
        if let Some(wave) = &self.wave {
            return F::cosine(plans, wave, n, lines, cast_slice(data), cast_slice_mut(to));
        }
        match self.kind {
            Kind::Forward | Kind::Inverse => {
                F::complex(plans, self.kind, n, lines, cast_slice(data), cast_slice_mut(to));
            }
            Kind::RealForward => {
                F::forward(plans, n, lines, cast_slice(data), window.map(cast_slice), cast_slice_mut(to));
            }
            Kind::RealInverse => F::backward(plans, n, lines, cast_slice(data), cast_slice_mut(to)),
        }
    }
}
