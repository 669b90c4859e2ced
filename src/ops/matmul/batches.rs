//! Computes products of any size on the device. Products that do not fit on the device together are cut into smaller
//! batches. If a single product does not fit, its result is cut into blocks. If a block does not fit with all terms of
//! its sums, only some of the terms are on the device at a time. The bits of an element do not depend on the cut,
//! because all pieces use the plan of the whole product.

use super::forms::Plan;
use super::gpu::{self, Ending, Factor, Product};
use super::{BiasAxis, Given, Multiplied, Precision, Problem, split};
use crate::array::{Scalar, Storage};
use crate::context::Context;
use crate::device::{Buffer, Gpu};
use crate::error::{DEVICE_BYTES, Error, ErrorKind, Result};
use crate::ops::operation;
use crate::shape::to_u32;
use std::ops::Range;

/// Blocks of results are cut at multiples of this number of rows and columns. It is the number of rows and columns of
/// the largest tile. It is even, so that no word of two f16 is cut.
const BLOCK: usize = 128;

/// Computes a product on the device. A result that fits as a whole stays on the device; otherwise it is read back in
/// batches or blocks.
pub(super) fn solve<T: Multiplied>(
    ctx: &Context,
    gpu: &Gpu,
    problem: &Problem,
    operands: [Option<&Storage<T>>; 4],
    precision: Precision,
) -> Result<Storage<T>> {
    // As in the BLAS, A and B are not read if alpha is 0.
    let problem = &if problem.alpha == 0.0 { Problem { k: 0, ..*problem } } else { *problem };
    if problem.result().is_empty() {
        return Ok(Storage::host(Vec::new()));
    }
    let room = Room::new(gpu, problem, T::words(2) == 1, precision, ctx.device_budget())?;
    let cut = || {
        let mut here = Vec::with_capacity(4);
        for operand in operands {
            here.push(operand.map(|storage| storage.to_vec(ctx)).transpose()?);
        }
        gpu.trim();
        let numbers = |i: usize| here[i].as_ref().map_or(&[][..], |numbers| &numbers[..]);
        let all = [numbers(0), numbers(1), numbers(2), numbers(3)];
        let one = Problem { batch: 1, ..*problem };
        let out = if room.holds(&one) { by_matrices(&room, problem, all)? } else { by_blocks(&room, problem, all)? };
        Ok(Storage::host(out))
    };
    if room.holds(problem) { operation::whole_or(true, || whole(ctx, &room, problem, operands), cut) } else { cut() }
}

/// The memory of the device, and how a product uses it.
struct Room<'a> {
    gpu: &'a Gpu,
    plan: Plan,
    half: bool,
    /// Whether f32 is split into f16.
    split: bool,
    bytes: u64,
}

/// Returns whether a product fits on the device as a whole.
pub(super) fn holds(gpu: &Gpu, problem: &Problem, half: bool, precision: Precision, budget: u64) -> bool {
    Room::new(gpu, problem, half, precision, budget).is_ok_and(|room| room.holds(problem))
}

impl<'a> Room<'a> {
    fn new(gpu: &'a Gpu, problem: &Problem, half: bool, precision: Precision, budget: u64) -> Result<Self> {
        let side = |x: usize| {
            u32::try_from(x).map_err(|_| {
                let what = "rows, columns or terms of a product on a device".to_owned();
                ErrorKind::Limit { what, needed: x as u64, allowed: u32::MAX.into() }
            })
        };
        // If k is 0, there are no terms to split.
        let split = precision == Precision::SplitF16 && problem.k > 0;
        let (m, n, k) = (side(problem.m)?, side(problem.n)?, side(problem.k)?);
        let plan = gpu::plan(gpu.adapter(), m, n, if split { split::terms(k) } else { k }, half || split)?;
        Ok(Self { gpu, plan, half, split, bytes: budget.saturating_sub(64 << 10) })
    }
}

impl Room<'_> {
    /// Returns, for each array that a product needs while it is computed, the number of elements and whether the
    /// elements are f16, two to a word.
    fn arrays(&self, problem: &Problem) -> Vec<(u64, bool)> {
        let Problem { m, n, k, batch, .. } = *problem;
        let batch = batch as u64;
        let all = |(len, shared): (usize, bool)| (len as u64).saturating_mul(if shared { 1 } else { batch });
        let lens = problem.lens();
        let [a, b, c, bias] = lens.map(all);
        let result = (m as u64).saturating_mul(n as u64).saturating_mul(batch);
        let (rows, cols) = (m as u64, n as u64);
        let [m, n, k] = [m, n, k].map(to_u32);
        let mut arrays: Vec<_> = [a, b, c, bias, result].map(|len| (len, self.half)).into();
        if self.split {
            let batches = [lens[0].1, lens[1].1, false].map(|shared| if shared { 1 } else { batch });
            arrays.extend(split::room(&self.plan, rows, cols, k, batches).map(|len| (len, false)));
        } else {
            arrays.push((gpu::room_for_sums(&self.plan, m, n, k, batch, self.half), false));
        }
        arrays
    }

    /// Returns whether a product fits. Each array must fit in a binding, and each index must fit in 31 bits. All arrays
    /// together must fit in three quarters of the budget, because the pool's size classes add a third on average.
    fn holds(&self, problem: &Problem) -> bool {
        let Problem { m, n, k, batch, .. } = *problem;
        let (mut total, mut largest, mut most) = (0_u64, 0, 0);
        for (numbers, half) in self.arrays(problem) {
            let words = if half { numbers.div_ceil(2) } else { numbers };
            total = total.saturating_add(words.saturating_mul(4));
            largest = largest.max(words.saturating_mul(4));
            // The high and low halves of split f32 are counted in words of two f16, but indexed one by one.
            most = most.max(if self.split { numbers.saturating_mul(2) } else { numbers });
        }
        let [m, n, k, batch] = [m, n, k, batch].map(to_u32);
        let units = u64::from(self.plan.units(m, n, self.plan.parts(k), batch));
        most < 1 << 31
            && units < u64::from(u32::MAX)
            && largest <= self.gpu.adapter().limits.storage_binding
            && total <= self.bytes / 4 * 3
    }

    fn too_small(&self, problem: &Problem) -> Error {
        let of = if self.split { " of f32 split into f16" } else { "" };
        let what = format!("{DEVICE_BYTES} for the least block of matmul{of}, k = {}", problem.k);
        let words = |(numbers, half): (u64, bool)| if half { numbers.div_ceil(2) } else { numbers };
        let needed = self.arrays(problem).into_iter().map(words).fold(0, u64::saturating_add).saturating_mul(4);
        ErrorKind::Limit { what, needed, allowed: self.bytes / 4 * 3 }.into()
    }

    /// Uploads operands and records their product.
    fn record<T: Scalar>(&self, problem: &Problem, numbers: [&[T]; 4]) -> Result<Buffer<f32>> {
        let buffers = self.upload(problem, numbers)?;
        self.record_there(problem, [0, 1, 2, 3].map(|i| buffers[i].as_ref()))
    }

    fn upload<T: Scalar>(&self, problem: &Problem, numbers: [&[T]; 4]) -> Result<[Option<Buffer<f32>>; 4]> {
        let there = [true, true, problem.c.is_some(), problem.bias.is_some()];
        let mut buffers = [const { None }; 4];
        for i in 0..4 {
            if there[i] {
                buffers[i] = Some(self.gpu.record().upload(&T::for_device(numbers[i]))?);
            }
        }
        Ok(buffers)
    }

    fn record_there(&self, problem: &Problem, buffers: [Option<&Buffer<f32>>; 4]) -> Result<Buffer<f32>> {
        let mut rec = self.gpu.record();
        let mut out = rec.array(self.out_words(problem))?;
        if let [Some(a), Some(b), c, bias] = buffers {
            let product = product(problem, [a, b], [c, bias], self.half);
            if self.split {
                split::gemm(&mut rec, &self.plan, &product, &mut out)?;
            } else {
                gpu::gemm_by(&mut rec, &self.plan, &product, &mut out)?;
            }
        }
        Ok(out)
    }

    fn out_words(&self, problem: &Problem) -> usize {
        let len = problem.result().len();
        if self.half { len.div_ceil(2) } else { len }
    }
}

/// Converts a problem for the kernels. The caller has checked that every dimension fits a `u32`.
fn product<'a>(
    problem: &Problem,
    [a, b]: [&'a Buffer<f32>; 2],
    [c, bias]: [Option<&'a Buffer<f32>>; 2],
    half: bool,
) -> Product<'a> {
    let factor = |buffer, given: Given| Factor { buffer, transposed: given.transposed, shared: given.shared };
    #[expect(clippy::cast_possible_truncation, reason = "rounded to the precision of the sums")]
    let real = |x: f64| x as f32;
    let ending = Ending {
        alpha: real(problem.alpha),
        beta: problem.c.map_or(0.0, |c| real(c.beta)),
        c: c.zip(problem.c).map(|(buffer, c)| (buffer, c.shared)),
        bias: bias.zip(problem.bias).map(|(buffer, along)| gpu::Bias {
            buffer,
            of_rows: along.axis == BiasAxis::Rows,
            shared: along.shared,
        }),
        activation: problem.activation.number(),
    };
    Product {
        m: to_u32(problem.m),
        n: to_u32(problem.n),
        k: to_u32(problem.k),
        batch: to_u32(problem.batch),
        a: factor(a, problem.a),
        b: factor(b, problem.b),
        ending,
        half,
    }
}

fn whole<T: Multiplied>(
    ctx: &Context,
    room: &Room<'_>,
    problem: &Problem,
    operands: [Option<&Storage<T>>; 4],
) -> Result<Storage<T>> {
    let mut buffers = [const { None }; 4];
    for (buffer, operand) in buffers.iter_mut().zip(operands) {
        *buffer = operand.map(|operand| operand.on_device(ctx, room.gpu)).transpose()?;
    }
    Ok(Storage::device(room.record_there(problem, [0, 1, 2, 3].map(|i| buffers[i].as_deref()))?))
}

/// Reads back a result of `len` elements.
fn bring<T: Scalar>(gpu: &Gpu, buffer: &Buffer<f32>, len: usize) -> Result<Vec<T>> {
    let mut numbers = T::from_device(gpu.read(buffer)?.wait()?);
    numbers.truncate(len);
    Ok(numbers)
}

/// Computes a batch of products a few matrices at a time.
fn by_matrices<T: Multiplied>(room: &Room<'_>, problem: &Problem, numbers: [&[T]; 4]) -> Result<Vec<T>> {
    let some = |batch: usize| Problem { batch, ..*problem };
    let mut most = problem.batch;
    while most > 1 && !room.holds(&some(most)) {
        most = most.div_ceil(2);
    }
    let mut out = Vec::with_capacity(problem.result().len());
    let one = |batch: Range<usize>| {
        let part = some(batch.len());
        let mut lens = problem.lens().into_iter();
        let own = numbers.map(|numbers| match lens.next() {
            Some((len, false)) => &numbers[batch.start * len..batch.end * len],
            _ => numbers,
        });
        out.extend(bring::<T>(room.gpu, &room.record(&part, own)?, part.result().len())?);
        Ok(())
    };
    operation::in_equal_batches(room.gpu, problem.batch, most, one)?;
    Ok(out)
}

/// Computes every result in blocks. If a block with all terms of its sums does not fit, the terms are cut too. If f32
/// is split into f16, the terms are not cut, because all terms of a row of op(A), or of a column of op(B), have the
/// same scale.
fn by_blocks<T: Multiplied>(room: &Room<'_>, problem: &Problem, numbers: [&[T]; 4]) -> Result<Vec<T>> {
    let Problem { m, n, k, batch, .. } = *problem;
    let span = room.plan.span as usize;
    let (mut rows, mut cols, mut terms) = (m, n, k);
    let half_of = |x: usize, of: usize| x.div_ceil(2).next_multiple_of(of);
    loop {
        let block = Problem { m: rows, n: cols, k: terms, batch: 1, ..*problem };
        // The sums of all parts stay on the device, even if only some of the terms are on the device at a time.
        let sums = Problem { m: rows, n: cols, k: 0, batch: k.div_ceil(span).max(1), c: None, bias: None, ..*problem };
        if room.holds(&block) && (terms == k || room.holds(&sums)) {
            break;
        }
        if rows >= cols && rows > BLOCK {
            rows = half_of(rows, BLOCK);
        } else if cols > BLOCK {
            cols = half_of(cols, BLOCK);
        } else if terms > span && !room.split {
            terms = half_of(terms, span);
        } else {
            return Err(room.too_small(&block));
        }
    }
    log::info!("matmul of {}: blocks of ({rows}, {cols}), {terms} terms at a time", problem.result());
    let mut out = bytemuck::allocation::zeroed_vec::<T>(problem.result().len());
    for matrix in 0..batch {
        let mut lens = problem.lens().into_iter();
        let own = numbers.map(|numbers| match lens.next() {
            Some((len, false)) => &numbers[matrix * len..(matrix + 1) * len],
            _ => numbers,
        });
        for j in (0..n).step_by(cols) {
            let js = j..(j + cols).min(n);
            for i in (0..m).step_by(rows) {
                let is = i..(i + rows).min(m);
                let made = block(room, problem, own, is.clone(), js.clone(), terms)?;
                for (column, made) in js.clone().zip(made.chunks_exact(is.len())) {
                    let begin = matrix * m * n + column * m;
                    out[begin + is.start..begin + is.end].copy_from_slice(made);
                }
            }
        }
    }
    Ok(out)
}

/// Computes one block of one result.
fn block<T: Multiplied>(
    room: &Room<'_>,
    whole: &Problem,
    [a, b, c, bias]: [&[T]; 4],
    is: Range<usize>,
    js: Range<usize>,
    terms: usize,
) -> Result<Vec<T>> {
    let (m, n, k) = (whole.m, whole.n, whole.k);
    let factor = |given: Given, numbers: &[T], (rows, cols): (usize, usize), i: Range<usize>, j: Range<usize>| {
        if given.transposed { cut(numbers, cols, j, i) } else { cut(numbers, rows, i, j) }
    };
    let of_a = |ps: Range<usize>| factor(whole.a, a, (m, k), is.clone(), ps);
    let of_b = |ps: Range<usize>| factor(whole.b, b, (k, n), ps, js.clone());
    let c = if whole.c.is_some() { cut(c, m, is.clone(), js.clone()) } else { Vec::new() };
    let bias = match whole.bias {
        Some(along) if along.axis == BiasAxis::Rows => bias[is.clone()].to_vec(),
        Some(_) => bias[js.clone()].to_vec(),
        None => Vec::new(),
    };
    let part = Problem { m: is.len(), n: js.len(), batch: 1, ..*whole };
    if terms == k {
        let buffer = room.record(&part, [&of_a(0..k), &of_b(0..k), &c, &bias])?;
        return bring(room.gpu, &buffer, part.result().len());
    }
    let gpu = room.gpu;
    let (span, size) = (room.plan.span as usize, part.result().len());
    let parts = k.div_ceil(span);
    let mut sums = gpu.record().array::<f32>(parts * size)?;
    let plain = Problem { c: None, bias: None, ..part };
    for p in (0..k).step_by(terms) {
        let ps = p..(p + terms).min(k);
        let some = Problem { k: ps.len(), ..plain };
        let [a, b, ..] = room.upload(&some, [&of_a(ps.clone()), &of_b(ps), &[], &[]])?;
        if let (Some(a), Some(b)) = (&a, &b) {
            let skip = to_u32(p / span);
            gpu::partial(
                &mut gpu.record(),
                &room.plan,
                &product(&some, [a, b], [None; 2], room.half),
                skip,
                &mut sums,
            )?;
        }
    }
    let [.., c, bias] = room.upload(&part, [&[], &[], &c, &bias])?;
    let mut rec = gpu.record();
    let mut out = rec.array(room.out_words(&part))?;
    let ending = product(&part, [&sums, &sums], [c.as_ref(), bias.as_ref()], room.half);
    gpu::finish_parts(&mut rec, &room.plan, &ending, to_u32(parts), &sums, &mut out)?;
    drop(rec);
    bring(gpu, &out, size)
}

/// Copies some rows and columns of a stored matrix with `rows` rows.
fn cut<T: Copy>(numbers: &[T], rows: usize, is: Range<usize>, js: Range<usize>) -> Vec<T> {
    let mut out = Vec::with_capacity(is.len() * js.len());
    for j in js {
        out.extend_from_slice(&numbers[j * rows + is.start..j * rows + is.end]);
    }
    out
}
