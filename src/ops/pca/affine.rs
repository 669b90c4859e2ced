//! The map `(X - before) W + after`, on the CPU and on the device.

use super::kernels::{Affine, Sizes, TILE};
use crate::array::{Array, Real, Storage};
use crate::context::Context;
use crate::device::{Buffer, Gpu};
use crate::error::{DEVICE_BYTES, Result, within_limits};
use crate::ops::convert::tiny::{self, Lines};
use crate::ops::operation::{Call, Operation, Precision};
use crate::parallel;
use crate::policy::Workload;
use crate::shape::{Shape, to_u32};
use bytemuck::allocation::cast_vec;
use bytemuck::cast_slice;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use std::borrow::Cow;

/// The number of rows that a thread of the CPU centers and multiplies at a time.
const ROWS: usize = 512;

/// An affine map: the point that is subtracted, a matrix `(before.len(), after.len())` in column-major order, and the
/// point that is added.
#[derive(Debug)]
pub(super) struct Map {
    pub(super) before: Vec<f64>,
    pub(super) w: Vec<f64>,
    pub(super) after: Vec<f64>,
}

/// A map in the precision of its rows. Its numbers are multiplied by powers of two so that they are neither subnormal
/// nor beyond the range.
struct Scaled<T> {
    before: Vec<T>,
    w: Vec<T>,
    after: Vec<T>,
    /// The exponent a: the map takes rows that are multiplied by 2^-a.
    given: i32,
    /// The exponent b: the rows that the map makes are to be multiplied by 2^b.
    made: i32,
}

/// If the largest magnitude in W is 2^64 or more, it is lowered to this power, which leaves room for rows of any
/// magnitude.
const LARGE: i32 = 64;

impl Map {
    /// Applies the map to the rows of `x`.
    ///
    /// # Errors
    /// With [`Backend::Gpu`](crate::Backend::Gpu), [`crate::ErrorKind::Domain`] if `T` is f64, or
    /// [`crate::ErrorKind::Limit`] if the device cannot hold the result; device errors.
    pub(super) fn apply<T: Real>(&self, operation: &'static str, ctx: &Context, x: &Array<T>) -> Result<Array<T>> {
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
            || {
                let x = x.storage().to_vec(ctx)?;
                let map = self.scaled(&x[..]);
                Ok(Storage::host(map.on_cpu(&map.raised(&x), given)))
            },
            |gpu| {
                fits(gpu, given, cols, ctx.device_budget())?;
                Ok(Storage::device(match x.storage() {
                    Storage::Host(x) => {
                        let map = self.scaled(&x[..]);
                        let x = gpu.record().upload(&T::for_device(&map.raised(x)))?;
                        map.on_device(gpu, &x, given)?
                    }
                    Storage::Device(x) => {
                        ctx.gpu_of(x)?;
                        // Rows that are on the device already are taken as ordinary ones.
                        self.scaled(&[T::from_f64(1.0)]).on_device(gpu, x, given)?
                    }
                }))
            },
        )?;
        Ok(Array::from_storage(shape, made).chosen(&choice))
    }

    /// Scales the map for the rows `x`.
    fn scaled<T: Real>(&self, x: &[T]) -> Scaled<T> {
        let Self { before, w, after } = self;
        let (mut given, mut turn) = (0, 0);
        if T::ON_DEVICE {
            turn = self.turn();
            let unit = 2.0_f64.powi(-turn);
            let points = before.iter().copied().chain(after.iter().map(|x| x * unit));
            given = tiny::exponent(x.iter().map(|x| x.to_f64()).chain(points));
        }
        let times = |numbers: &[f64], e: i32| {
            let power = 2.0_f64.powi(e);
            numbers.iter().map(|x| T::from_f64(x * power)).collect()
        };
        let made = given + turn;
        Scaled { before: times(before, -given), w: times(w, -turn), after: times(after, -made), given, made }
    }

    /// Returns the exponent of the power of two by which W is divided.
    fn turn(&self) -> i32 {
        let Self { w, after, .. } = self;
        let largest = w.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        if largest < 2.0_f64.powi(LARGE) || !largest.is_finite() || after.iter().any(|&x| x != 0.0) {
            return tiny::exponent(w.iter().chain(after).copied());
        }
        #[expect(clippy::cast_possible_truncation, reason = "an exponent of f64")]
        let exponent = largest.log2().floor() as i32;
        exponent - LARGE
    }
}

impl<T: Real> Scaled<T> {
    /// Returns rows at the scale of the map.
    fn raised<'a>(&self, x: &'a [T]) -> Cow<'a, [T]> {
        if self.given == 0 {
            return x.into();
        }
        x.iter().map(|&x| tiny::times_power(x, -self.given)).collect()
    }

    /// Maps rows at the scale of the map.
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
        drop(rec);
        if self.made != 0 {
            tiny::lower(gpu, &[self.made], Lines { inner: 1, outer: 1 }, 1, 1, &mut out)?;
        }
        Ok(out)
    }

    fn on_cpu(&self, x: &[T], shape: Shape) -> Vec<T> {
        let map = [&self.before, &self.w, &self.after];
        let mut out: Vec<T> = if T::ON_DEVICE {
            cast_vec(in_f32(map.map(|part| cast_slice(part)), cast_slice(x), shape))
        } else {
            cast_vec(in_f64(map.map(|part| cast_slice(part)), cast_slice(x), shape))
        };
        if self.made != 0 {
            out.iter_mut().for_each(|x| *x = tiny::times_power(*x, self.made));
        }
        out
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
