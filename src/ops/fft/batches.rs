//! Transforms any number of lines on the device: all lines together if they fit, otherwise in batches.

use super::Task;
use super::gpu::{self, Kind};
use super::plan::FftPlan;
use crate::array::{Array, Scalar, Storage};
use crate::context::Context;
use crate::device::{Buffer, Gpu};
use crate::error::{DEVICE_BYTES, Result, within_limits};
use crate::ops::convert::tiny::{self, Lines, Raised};
use crate::ops::operation;
use std::ops::Range;

/// Returns whether the device has room for one line.
pub(super) fn fits(gpu: &Gpu, budget: u64, plan: &FftPlan, kind: Kind) -> bool {
    most(gpu, budget, plan, kind).is_ok()
}

/// Returns the sizes in bytes of the input, the output and the largest intermediate array of one line.
fn bytes(plan: &FftPlan, kind: Kind) -> [u64; 3] {
    let ([before, after], [from, to]) = (kind.lengths(plan.length()), kind.words());
    let way = 8 * plan.padded().unwrap_or(plan.points());
    [4 * before * from, 4 * after * to, way].map(|bytes| bytes as u64)
}

/// Returns the maximum number of lines that may be transformed together.
///
/// # Errors
/// [`ErrorKind::Limit`](crate::ErrorKind::Limit) if there is no room for one line.
pub(super) fn most(gpu: &Gpu, budget: u64, plan: &FftPlan, kind: Kind) -> Result<usize> {
    let [before, after, way] = bytes(plan, kind);
    let one = before + after + plan.working_bytes() as u64;
    // The tables and uniforms take memory in addition to the arrays, and the pool rounds every array up, by a third on
    // average.
    let aside = (128 << 10) + 2 * plan.table_bytes() as u64;
    let room = budget.saturating_sub(aside) / 4 * 3;
    let largest = before.max(after).max(if plan.working_bytes() > 0 { way } else { 0 });
    let allowed = gpu.adapter().limits.storage_binding.min((1 << 31) - 256);
    let binding = largest.max(plan.table_bytes() as u64);
    let limits = [(DEVICE_BYTES, aside + 4 * one.div_ceil(3), budget), ("bytes of one binding", binding, allowed)];
    within_limits("one Fourier transform", limits)?;
    Ok(usize::try_from((room / one).min(allowed / largest)).unwrap_or(usize::MAX))
}

/// Transforms all lines. If all lines fit on the device together, the result stays on the device. Otherwise the result
/// is read back batch by batch. The result of a line does not depend on the batch that the line is in.
pub(super) fn transform<I: Scalar, O: Scalar>(
    ctx: &Context,
    gpu: &Gpu,
    task: &Task,
    plan: &FftPlan,
    a: &Storage<I>,
    window: Option<&Array<I>>,
) -> Result<Storage<O>> {
    if let Storage::Device(buffer) = a {
        ctx.gpu_of(buffer)?;
    }
    let most = most(gpu, ctx.device_budget(), plan, task.kind)?;
    let count = task.lines.inner * task.lines.outer;
    let window = window.map(|window| window.storage().on_device(ctx, gpu)).transpose()?;
    let batches = Batches { gpu, task, plan, window: window.as_deref() };
    let whole = || -> Result<Storage<O>> {
        let mut made = match a {
            Storage::Host(data) => batches.some(&I::for_device(data), task.lines),
            Storage::Device(buffer) => gpu::transform(gpu, plan, task.kind, task.lines, buffer, batches.window),
        }?;
        tiny::lower(gpu, &task.exponents, task.matrices(), task.kind.words()[1], 1, &mut made)?;
        Ok(Storage::device(made))
    };
    let cut = |most| -> Result<Storage<O>> {
        let mut made = batches.all(&a.to_vec(ctx)?, most)?;
        task.lower_here(&mut made);
        Ok(Storage::host(made))
    };
    if count > most {
        return cut(most);
    }
    operation::whole_or(count > 1, whole, || cut(most.min(count / 2).max(1)))
}

struct Batches<'a> {
    gpu: &'a Gpu,
    task: &'a Task,
    plan: &'a FftPlan,
    window: Option<&'a Buffer<f32>>,
}

impl Batches<'_> {
    /// Transforms all lines in batches of at most `most` lines. A batch consists of whole blocks of [`Lines`], or of
    /// some lines of one block.
    fn all<I: Scalar, O: Scalar>(&self, data: &[I], most: usize) -> Result<Vec<O>> {
        let Lines { inner, outer } = self.task.lines;
        let [before, after] = self.task.kind.lengths(self.task.n);
        let mut out: Vec<O> = bytemuck::allocation::zeroed_vec(inner * outer * after);
        let cut = |begin: usize, most: u64| {
            let most = usize::try_from(most).unwrap_or(usize::MAX).max(1);
            let (block, first) = (begin / inner, begin % inner);
            if first == 0 && most >= inner {
                begin..(block + (most / inner).min(outer - block)) * inner
            } else {
                begin..begin.saturating_add(most).min((block + 1) * inner)
            }
        };
        let one = |batch: Range<usize>| {
            let (block, first) = (batch.start / inner, batch.start % inner);
            let blocks = batch.len().div_ceil(inner);
            let lines = if batch.len() < inner { first..first + batch.len() } else { 0..inner };
            let part = Lines { inner: lines.len(), outer: blocks };
            let from = &data[block * inner * before..(block + blocks) * inner * before];
            let to = &mut out[block * inner * after..(block + blocks) * inner * after];
            if lines.len() == inner {
                to.copy_from_slice(&self.one::<I, O>(from, part)?);
            } else {
                put(&self.one::<I, O>(&taken(from, inner, &lines), part)?, to, inner, &lines);
            }
            Ok(())
        };
        operation::in_batches(self.gpu, inner * outer, most as u64, cut, |batch| batch.len() as u64, one)?;
        Ok(out)
    }

    fn one<I: Scalar, O: Scalar>(&self, data: &[I], lines: Lines) -> Result<Vec<O>> {
        let made = self.some(&I::for_device(data), lines)?;
        let read = self.gpu.read(&made)?;
        drop(made);
        Ok(O::from_device(read.wait()?))
    }

    /// Records the transforms of lines that are on the host, as words.
    fn some(&self, words: &[f32], lines: Lines) -> Result<Buffer<f32>> {
        let Self { gpu, task, plan, window } = *self;
        let [before, after] = task.kind.words();
        let raised = Raised::of(words, lines, before);
        let input = gpu.record().upload(&raised.words)?;
        let mut made = gpu::transform(gpu, plan, task.kind, lines, &input, window)?;
        raised.lower(gpu, lines, after, 1, &mut made)?;
        Ok(made)
    }
}

/// Copies some adjacent lines out of one block.
fn taken<I: Copy>(block: &[I], inner: usize, lines: &Range<usize>) -> Vec<I> {
    block.chunks_exact(inner).flat_map(|row| &row[lines.clone()]).copied().collect()
}

fn put<O: Copy>(part: &[O], block: &mut [O], inner: usize, lines: &Range<usize>) {
    for (row, part) in block.chunks_exact_mut(inner).zip(part.chunks_exact(lines.len())) {
        row[lines.clone()].copy_from_slice(part);
    }
}
