//! Batches of any size through the device: whole where they fit, in pieces where they do not.

use super::Task;
use super::gpu::{self, Kind, Lines};
use super::plan::FftPlan;
use crate::array::{Array, Scalar, Storage};
use crate::context::Context;
use crate::device::{Buffer, Gpu};
use crate::error::{DEVICE_BYTES, Result, within_limits};
use std::ops::Range;

/// Whether the device has room for one line.
pub(super) fn fits(ctx: &Context, plan: &FftPlan, kind: Kind) -> bool {
    ctx.gpu().is_ok_and(|gpu| most(gpu, ctx.memory_budget(), plan, kind).is_ok())
}

/// Bytes of one line: before, after, and the largest array of the way.
fn bytes(plan: &FftPlan, kind: Kind) -> [u64; 3] {
    let ([before, after], [from, to]) = (kind.lengths(plan.length()), kind.words());
    let way = 8 * plan.padded().unwrap_or(plan.points());
    [4 * before * from, 4 * after * to, way].map(|bytes| bytes as u64)
}

/// The most lines that one call may take.
///
/// # Errors
/// [`ErrorKind::Limit`](crate::ErrorKind::Limit) if there is no room for one.
fn most(gpu: &Gpu, budget: u64, plan: &FftPlan, kind: Kind) -> Result<usize> {
    let [before, after, way] = bytes(plan, kind);
    let one = before + after + plan.working_bytes() as u64;
    // What tables and uniforms take beside the arrays; and the pool rounds every array up, by a third on average.
    let aside = (128 << 10) + 2 * plan.table_bytes() as u64;
    let room = budget.saturating_sub(aside) / 4 * 3;
    let largest = before.max(after).max(if plan.working_bytes() > 0 { way } else { 0 });
    let allowed = gpu.adapter().limits.storage_binding.min((1 << 31) - 256);
    let binding = largest.max(plan.table_bytes() as u64);
    let limits = [(DEVICE_BYTES, aside + 4 * one.div_ceil(3), budget), ("bytes of one binding", binding, allowed)];
    within_limits("one Fourier transform", limits)?;
    Ok(usize::try_from((room / one).min(allowed / largest)).unwrap_or(usize::MAX))
}

/// What fits at once stays on the device; the rest comes back piece by piece. A line's result does not depend upon its piece.
pub(super) fn transform<I: Scalar, O: Scalar>(
    ctx: &Context,
    task: &Task,
    plan: &FftPlan,
    a: &Storage<I>,
    window: Option<&Array<I>>,
) -> Result<Storage<O>> {
    let gpu = ctx.gpu()?;
    if let Storage::Device(buffer) = a {
        ctx.gpu_of(buffer)?;
    }
    let most = most(gpu, ctx.memory_budget(), plan, task.kind)?;
    let Lines { inner, outer } = task.lines;
    let count = inner * outer;
    let window = match window.map(Array::storage) {
        None => None,
        Some(Storage::Device(buffer)) => Some(buffer.clone()),
        Some(Storage::Host(data)) => Some(gpu.record().upload(&I::for_device(data))?),
    };
    if count <= most {
        let whole = match a {
            Storage::Device(buffer) => gpu::transform(gpu, plan, task.kind, task.lines, buffer, window.as_ref()),
            Storage::Host(data) => upload::<I>(gpu, data)
                .and_then(|buffer| gpu::transform(gpu, plan, task.kind, task.lines, &buffer, window.as_ref())),
        };
        match whole {
            Err(error) if error.is_out_of_memory() && count > 1 => log::info!("{error}; going on in pieces"),
            other => return other.map(Storage::Device),
        }
    }
    let pieces = Pieces { gpu, task, plan, window };
    pieces.all(&a.to_vec(ctx)?, most.min(count / 2).max(1)).map(Storage::host)
}

fn upload<I: Scalar>(gpu: &Gpu, data: &[I]) -> Result<Buffer<f32>> {
    gpu.record().upload(&I::for_device(data))
}

struct Pieces<'a> {
    gpu: &'a Gpu,
    task: &'a Task,
    plan: &'a FftPlan,
    window: Option<Buffer<f32>>,
}

impl Pieces<'_> {
    /// Pieces of at most `most` lines. When memory runs out they are halved; only a single line that does not fit is reported.
    fn all<I: Scalar, O: Scalar>(&self, data: &[I], mut most: usize) -> Result<Vec<O>> {
        let Lines { inner, outer } = self.task.lines;
        let [before, after] = self.task.kind.lengths(self.task.n);
        let mut out: Vec<O> = bytemuck::allocation::zeroed_vec(inner * outer * after);
        let (mut block, mut first) = (0, 0);
        while block < outer {
            // Whole blocks, or a part of one.
            let blocks = if first == 0 { (most / inner).min(outer - block) } else { 0 };
            let (blocks, lines) = if blocks > 0 { (blocks, 0..inner) } else { (1, first..(first + most).min(inner)) };
            let part = Lines { inner: lines.len(), outer: blocks };
            let range = block * inner * before..(block + blocks) * inner * before;
            let found = if lines.len() == inner {
                self.one::<I, O>(&data[range], part)
            } else {
                self.one(&taken(&data[range], inner, &lines), part)
            };
            match found {
                Ok(found) => {
                    let to = &mut out[block * inner * after..(block + blocks) * inner * after];
                    if lines.len() == inner {
                        to.copy_from_slice(&found)
                    } else {
                        put(&found, to, inner, &lines)
                    }
                    first = lines.end % inner;
                    block += if first == 0 { blocks } else { 0 };
                }
                Err(error) if error.is_out_of_memory() && most > 1 => {
                    most = (part.inner * part.outer / 2).max(1);
                    log::info!("{error}; going on with pieces of {most} lines");
                    self.gpu.trim();
                }
                Err(error) => return Err(error),
            }
        }
        Ok(out)
    }

    fn one<I: Scalar, O: Scalar>(&self, data: &[I], lines: Lines) -> Result<Vec<O>> {
        let input = upload(self.gpu, data)?;
        let made = gpu::transform(self.gpu, self.plan, self.task.kind, lines, &input, self.window.as_ref())?;
        drop(input);
        let read = self.gpu.read(&made)?;
        drop(made);
        Ok(O::from_device(read.wait()?))
    }
}

/// Some neighbouring lines of one block.
fn taken<I: Copy>(block: &[I], inner: usize, lines: &Range<usize>) -> Vec<I> {
    block.chunks_exact(inner).flat_map(|row| &row[lines.clone()]).copied().collect()
}

fn put<O: Copy>(part: &[O], block: &mut [O], inner: usize, lines: &Range<usize>) {
    for (row, part) in block.chunks_exact_mut(inner).zip(part.chunks_exact(lines.len())) {
        row[lines.clone()].copy_from_slice(part);
    }
}
