//! The map `(X - before) W + after`, on the CPU and on the device.

use super::kernels::{Affine, Sizes, TILE};
use crate::array::{Array, Real, Storage};
use crate::context::Context;
use crate::device::{Buffer, Gpu};
use crate::error::{DEVICE_BYTES, Result, within_limits};
use crate::ops::operation::{Call, Operation, Precision};
use crate::parallel;
use crate::policy::Workload;
use crate::shape::{Shape, to_u32};
use bytemuck::allocation::cast_vec;
use bytemuck::cast_slice;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// The number of rows that a thread of the CPU centers and multiplies at a time.
const ROWS: usize = 512;

/// An affine map: the point that is subtracted, a matrix `(before.len(), after.len())` in column-major order, and the
/// point that is added.
#[derive(Debug)]
pub(super) struct Map<T> {
    pub(super) before: Vec<T>,
    pub(super) w: Vec<T>,
    pub(super) after: Vec<T>,
}

impl<T: Real> Map<T> {
    /// Applies the map to the rows of `x`.
    ///
    /// # Errors
    /// With [`Backend::Gpu`](crate::Backend::Gpu), [`crate::ErrorKind::Domain`] if `T` is f64, or
    /// [`crate::ErrorKind::Limit`] if the device cannot hold the result; device errors.
    pub(super) fn apply(&self, operation: &'static str, ctx: &Context, x: &Array<T>) -> Result<Array<T>> {
        let (given, inner, cols) = (x.shape(), self.before.len(), self.after.len());
        let shape = Shape { cols, ..given };
        let count = |n: usize| n as f64;
        let flops = 2.0 * count(given.len()) * count(cols);
        let workload = Workload {
            size: count(cols),
            items: count(given.rows * given.batch),
            cpu_flops: flops / 2.0,
            gpu_flops: flops,
            dispatches: 1.0,
            ..Workload::default()
        }
        .transferring(x.is_resident(), 4.0 * count(given.len()), 4.0 * count(shape.len()));
        let call = Call {
            name: operation,
            precision: Precision::of::<T>(),
            workload,
            empty: shape.is_empty() || inner == 0,
            fits: |gpu: &Gpu, budget| fits(gpu, given, cols, budget).is_ok(),
            waits: false,
        };
        let (made, choice) = call.run(
            ctx,
            || Ok(Storage::host(self.on_cpu(&x.storage().to_vec(ctx)?, given))),
            |gpu| {
                fits(gpu, given, cols, ctx.memory_budget())?;
                Ok(Storage::device(self.on_device(gpu, &*x.storage().on_device(ctx, gpu)?, given)?))
            },
        )?;
        Ok(Array::from_storage(shape, made).chosen(&choice))
    }

    fn on_device(&self, gpu: &Gpu, x: &Buffer<f32>, given: Shape) -> Result<Buffer<f32>> {
        let (inner, cols) = (self.before.len(), self.after.len());
        let mut rec = gpu.record();
        let before = rec.upload(&T::for_device(&self.before))?;
        let w = rec.upload(&T::for_device(&self.w))?;
        let after = rec.upload(&T::for_device(&self.after))?;
        let mut out = rec.array(Shape { cols, ..given }.len())?;
        let units = to_u32(given.rows.div_ceil(TILE) * cols.div_ceil(TILE) * given.batch);
        let work = 2.0 * (TILE * TILE * inner) as f64;
        for range in rec.ranges(units, work) {
            let params =
                Sizes { first: range.first, rows: to_u32(given.rows), inner: to_u32(inner), cols: to_u32(cols) };
            let kernel = Affine { params, x, before: &before, w: &w, after: &after, out: &mut out };
            rec.dispatch(&kernel, &[], range.grid(), range.flops)?;
        }
        Ok(out)
    }

    fn on_cpu(&self, x: &[T], shape: Shape) -> Vec<T> {
        let Self { before, w, after } = self;
        if T::ON_DEVICE {
            cast_vec(in_f32([before, w, after].map(|part| cast_slice(part)), cast_slice(x), shape))
        } else {
            cast_vec(in_f64([before, w, after].map(|part| cast_slice(part)), cast_slice(x), shape))
        }
    }
}

/// Instantiates [`every`] here, once, instead of in every crate that calls it.
fn in_f32(map: [&[f32]; 3], x: &[f32], shape: Shape) -> Vec<f32> {
    every(map, x, shape)
}

fn in_f64(map: [&[f64]; 3], x: &[f64], shape: Shape) -> Vec<f64> {
    every(map, x, shape)
}

fn every<T: Real>([before, w, after]: [&[T]; 3], x: &[T], shape: Shape) -> Vec<T> {
    let Shape { rows, .. } = shape;
    let (inner, cols) = (before.len(), after.len());
    let mut out = vec![T::from_f64(0.0); rows * cols * shape.batch];
    if out.is_empty() {
        return out;
    }
    if inner == 0 {
        // If X has no columns, every row of the result is `after`.
        let points = after.iter().cycle();
        out.chunks_exact_mut(rows).zip(points).for_each(|(column, &x)| column.fill(x));
        return out;
    }
    let w = MatRef::from_column_major_slice(w, inner, cols);
    for (own, out) in x.chunks(rows * inner.max(1)).zip(out.chunks_exact_mut(rows * cols)) {
        let blocks: Vec<Vec<T>> = parallel::map((0..rows).step_by(ROWS), |_, first| {
            let count = ROWS.min(rows - first);
            let column = |j: usize| own[j * rows + first..][..count].iter().map(move |&x| x - before[j]);
            let centered: Vec<T> = (0..inner).flat_map(column).collect();
            let mut turned = vec![T::from_f64(0.0); count * cols];
            matmul(
                MatMut::from_column_major_slice_mut(&mut turned, count, cols),
                Accum::Replace,
                MatRef::from_column_major_slice(&centered, count, inner),
                w,
                T::from_f64(1.0),
                Par::Seq,
            );
            turned
        });
        for (block, turned) in blocks.iter().enumerate() {
            let count = turned.len() / cols;
            for (j, column) in turned.chunks_exact(count).enumerate() {
                let to = &mut out[j * rows + block * ROWS..][..count];
                to.iter_mut().zip(column).for_each(|(to, &x)| *to = x + after[j]);
            }
        }
    }
    out
}

/// Checks that the device can map a batch of the given shape to `cols` columns.
///
/// # Errors
/// [`crate::ErrorKind::Limit`] if the device cannot.
fn fits(gpu: &Gpu, shape: Shape, cols: usize, budget: u64) -> Result<()> {
    let adapter = gpu.adapter();
    let [given, made, turns] = [shape.len(), Shape { cols, ..shape }.len(), shape.cols.saturating_mul(cols)]
        .map(|numbers| 4_u64.saturating_mul(numbers as u64));
    let limits = [
        ("bytes of one binding", given.max(made).max(turns), adapter.limits.storage_binding),
        (DEVICE_BYTES, given.saturating_add(made).saturating_add(turns), budget / 4 * 3),
        ("loop iterations", shape.cols.div_ceil(TILE) as u64 * 17, u64::from(adapter.loop_budget / 2)),
    ];
    within_limits(format_args!("the map of {shape} on {}", adapter.name), limits)
}
