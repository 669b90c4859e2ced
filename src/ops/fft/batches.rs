//! Transforms any number of lines on the device: all lines together if they fit, otherwise in batches.

use super::plan::FftPlan;
use super::{Task, cosine, gpu};
use crate::array::{Array, Scalar, Storage};
use crate::context::Context;
use crate::device::{Buffer, Gpu};
use crate::error::{DEVICE_BYTES, Result, within_limits};
use crate::ops::convert::tiny::{self, Lines, Raised};
use crate::ops::operation;
use std::ops::Range;

/// Returns whether the device has room for one line.
pub(super) fn fits(gpu: &Gpu, budget: u64, task: &Task, plan: &FftPlan) -> bool {
    most(gpu, budget, task, plan).is_ok()
}

/// Returns the sizes in bytes of all arrays of one line together, of the largest of them, and of the tables.
fn bytes(task: &Task, plan: &FftPlan) -> [u64; 3] {
    let ends = |[before, after]: [usize; 2], [from, to]: [usize; 2]| [4 * before * from, 4 * after * to];
    let [before, after] = ends(task.lengths(), task.words());
    // A cosine or sine transform also has the lines of its Fourier transform, and roots.
    let (turned, roots) = task.wave.map_or(([0; 2], 0), |wave| {
        (ends(task.kind.lengths(plan.length()), task.kind.words()), 8 * wave.roots(task.n))
    });
    let working = plan.working_bytes();
    let way = if working > 0 { 8 * plan.padded().unwrap_or(plan.points()) } else { 0 };
    let all = before + after + turned[0] + turned[1] + working;
    let largest = before.max(after).max(turned[0]).max(turned[1]).max(way);
    [all, largest, plan.table_bytes() + roots].map(|bytes| bytes as u64)
}

/// Returns the maximum number of lines that may be transformed together.
///
/// # Errors
/// [`ErrorKind::Limit`](crate::ErrorKind::Limit) if there is no room for one line.
pub(super) fn most(gpu: &Gpu, budget: u64, task: &Task, plan: &FftPlan) -> Result<usize> {
    let [one, largest, tables] = bytes(task, plan);
    // The tables and uniforms take memory in addition to the arrays, and the pool rounds every array up, by a third on
    // average.
    let aside = (128 << 10) + 2 * tables;
    let room = budget.saturating_sub(aside) / 4 * 3;
    let allowed = gpu.adapter().limits.storage_binding.min((1 << 31) - 256);
    let binding = largest.max(tables);
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
    let most = most(gpu, ctx.device_budget(), task, plan)?;
    let count = task.lines.inner * task.lines.outer;
    let window = window.map(|window| window.storage().on_device(ctx, gpu)).transpose()?;
    let batches = Batches { gpu, task, plan, window: window.as_deref() };
    let whole = || -> Result<Storage<O>> {
        let mut made = match a {
            Storage::Host(data) => batches.some(&I::for_device(data), task.lines),
            Storage::Device(buffer) => batches.record(buffer, task.lines),
        }?;
        tiny::lower(gpu, &task.exponents, task.matrices(), task.words()[1], 1, &mut made)?;
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
        let [before, after] = self.task.lengths();
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
        let [before, after] = self.task.words();
        let raised = Raised::of(words, lines, before);
        let input = self.gpu.record().upload(&raised.words)?;
        let mut made = self.record(&input, lines)?;
        raised.lower(self.gpu, lines, after, 1, &mut made)?;
        Ok(made)
    }

    fn record(&self, input: &Buffer<f32>, lines: Lines) -> Result<Buffer<f32>> {
        let Self { gpu, task, plan, window } = *self;
        match task.wave {
            Some(wave) => cosine::on_device(gpu, plan, wave, task.n, lines, input),
            None => gpu::transform(gpu, plan, task.kind, lines, input, window),
        }
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
