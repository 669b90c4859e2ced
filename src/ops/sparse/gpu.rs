//! Sparse operators on the device, and their products with slabs of vectors.
//!
//! A slab is a row-major block of vectors. It has as many rows as the matrix, and `4 lanes` columns, so that each entry
//! of the matrix multiplies one contiguous row of the slab. The rows of the matrix are cut once (see
//! [`super::chunks`]): a row of more than 256 entries is summed in segments, and a second dispatch adds the sums of its
//! segments in order. No bit of a product depends on the slab's width or on how the matrix was cut into buffers.

use super::Operator;
use super::chunks::{RowBlock, Run, cut};
pub(in crate::ops) use super::kernels::MOST_LANES;
use super::kernels::{
    Columns, Combine, Finish, First, Items, Pack, Step, Steps, Sums, Unpack, combine_variant, finish_variant,
    row_variant, teams,
};
use crate::device::{Buffer, Gpu, Grid, Recorder, Shared};
use crate::error::{ErrorKind, Result};
use crate::shape::to_u32;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(test)]
mod tests;

/// A row-major block of `4 lanes` columns.
#[derive(Debug)]
pub(in crate::ops) struct Slab {
    pub(in crate::ops) lanes: u32,
    pub(in crate::ops) data: Buffer<[f32; 4]>,
}

impl Slab {
    /// Creates a slab of undefined content.
    pub(in crate::ops) fn new(rec: &mut Recorder<'_>, rows: usize, lanes: u32) -> Result<Self> {
        Ok(Self { lanes, data: rec.array(rows * lanes as usize)? })
    }
}

/// The rows of a sparse matrix on the device.
#[derive(Debug)]
pub(in crate::ops) struct Rows {
    row_blocks: Vec<ResidentRows>,
    long: Buffer<[u32; 4]>,
    longs: u32,
    slots: u32,
    /// The sums of the segments. One buffer serves all products, because a recording keeps its buffers alive and its
    /// dispatches run in order.
    sums: Mutex<Buffer<[f32; 4]>>,
    weighted: bool,
}

#[derive(Debug)]
struct ResidentRows {
    columns: Shared<u32>,
    weights: Shared<f32>,
    rows: Buffer<[u32; 4]>,
    runs: Vec<Run>,
    segments: Buffer<[u32; 4]>,
    segment_count: u32,
    segment_entries: usize,
}

impl ResidentRows {
    fn upload(rec: &mut Recorder<'_>, row_block: RowBlock, columns: Shared<u32>, weights: Shared<f32>) -> Result<Self> {
        let RowBlock { rows, runs, segments, .. } = row_block;
        Ok(Self {
            columns,
            weights,
            rows: rec.upload(&rows)?,
            runs,
            segment_count: to_u32(segments.len()),
            segment_entries: segments.iter().map(|s| (s[2] - s[1]) as usize).sum(),
            segments: rec.upload(&segments)?,
        })
    }
}

impl Rows {
    /// Uploads rows for products with slabs of at most `4 lanes` columns. `row_offsets` delimits the entries of each
    /// row in `columns` and `weights`. Column indices are numbered consecutively through all problems; `weights` is
    /// absent if every weight is 1.
    pub(in crate::ops) fn upload(
        rec: &mut Recorder<'_>,
        (row_offsets, columns, weights): (&[usize], &[u32], Option<&[f32]>),
        node_offsets: &[usize],
        most: Most,
        lanes: u32,
    ) -> Result<Self> {
        let cut = cut(row_offsets, node_offsets, most.entries, most.rows);
        let mut row_blocks = Vec::with_capacity(cut.row_blocks.len());
        for row_block in cut.row_blocks {
            let columns = rec.upload(&columns[row_block.entries.clone()])?.share();
            // If every weight is 1, the weights are not uploaded, and a single value fills the binding.
            let weights = rec.upload(weights.map_or(&[1.0], |weights| &weights[row_block.entries.clone()]))?.share();
            row_blocks.push(ResidentRows::upload(rec, row_block, columns, weights)?);
        }
        Self::assemble(rec, row_blocks, (&cut.long, cut.slots), weights.is_some(), lanes)
    }

    /// Creates rows from entries that are on the device already.
    pub(super) fn adopt(
        rec: &mut Recorder<'_>,
        row_offsets: &[usize],
        columns: Shared<u32>,
        weights: Option<Shared<f32>>,
        node_offsets: &[usize],
        lanes: u32,
    ) -> Result<Self> {
        let cut = cut(row_offsets, node_offsets, usize::MAX, usize::MAX);
        let weighted = weights.is_some();
        let weights = weights.map_or_else(|| rec.upload(&[1.0]).map(Buffer::share), Ok)?;
        let mut row_blocks = Vec::with_capacity(1);
        for row_block in cut.row_blocks {
            row_blocks.push(ResidentRows::upload(rec, row_block, columns.clone(), weights.clone())?);
        }
        Self::assemble(rec, row_blocks, (&cut.long, cut.slots), weighted, lanes)
    }

    fn assemble(
        rec: &mut Recorder<'_>,
        row_blocks: Vec<ResidentRows>,
        (long, slots): (&[[u32; 4]], u32),
        weighted: bool,
        lanes: u32,
    ) -> Result<Self> {
        let sums = Mutex::new(rec.array(slots as usize * lanes as usize)?);
        Ok(Self { row_blocks, long: rec.upload(long)?, longs: to_u32(long.len()), slots, sums, weighted })
    }

    /// Records the dispatches that compute the segment sums of the long rows of `W S x`, and returns the buffer of
    /// these sums. `scale` is the diagonal of S; without it, S is the identity.
    fn segments(
        &self,
        rec: &mut Recorder<'_>,
        scale: Option<&Buffer<f32>>,
        x: &Slab,
    ) -> Result<MutexGuard<'_, Buffer<[f32; 4]>>> {
        let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        for row_block in &self.row_blocks {
            let all = Run { rows: 0..row_block.segment_count, entries: row_block.segment_entries };
            self.sums(rec, row_block, (&row_block.segments, &all), scale, x, &mut sums)?;
        }
        Ok(sums)
    }

    fn sums(
        &self,
        rec: &mut Recorder<'_>,
        row_block: &ResidentRows,
        (items, run): (&Buffer<[u32; 4]>, &Run),
        scale: Option<&Buffer<f32>>,
        x: &Slab,
        sums: &mut Buffer<[f32; 4]>,
    ) -> Result<()> {
        let variant = row_variant(x.lanes, self.weighted, scale.is_some());
        over(rec, run, x.lanes, |rec, Range { start: first, end }, grid, flops| {
            let params = Items { first, end };
            // Without a scale, the weights fill the binding, which the variant does not read.
            let (columns, weights, scale) =
                (&row_block.columns, &row_block.weights, scale.unwrap_or(&row_block.weights));
            let kernel = Sums { params, items, columns, weights, scale, x: &x.data, sums };
            rec.dispatch(&kernel, &variant, grid, flops)
        })
    }

    /// Records `y <- W x`, where y has one row for each row of W.
    pub(in crate::ops) fn gather(&self, rec: &mut Recorder<'_>, x: &Slab, y: &mut Buffer<[f32; 4]>) -> Result<()> {
        for row_block in &self.row_blocks {
            for run in &row_block.runs {
                self.sums(rec, row_block, (&row_block.rows, run), None, x, y)?;
            }
        }
        if self.longs == 0 {
            return Ok(());
        }
        let sums = self.segments(rec, None, x)?;
        let flops = self.flops_of_a_long_row(x.lanes);
        for part in rec.ranges(self.longs, flops) {
            let kernel = Combine { params: First { first: part.first }, items: &self.long, sums: &sums, y };
            let flops = part.flops;
            rec.dispatch(&kernel, &combine_variant(x.lanes), part.grid(), flops)?;
        }
        Ok(())
    }

    fn flops_of_a_long_row(&self, lanes: u32) -> f64 {
        4.0 * f64::from(lanes) * (f64::from(self.slots) / f64::from(self.longs.max(1)) + 8.0)
    }
}

/// Calls `dispatch` once for each part of the rows of `run` that is small enough for one dispatch.
fn over(
    rec: &mut Recorder<'_>,
    run: &Run,
    lanes: u32,
    mut dispatch: impl FnMut(&mut Recorder<'_>, Range<u32>, Grid, f64) -> Result<()>,
) -> Result<()> {
    let Range { start, end } = run.rows;
    let count = end - start;
    if count == 0 {
        return Ok(());
    }
    let rows = teams(lanes);
    let mean = run.entries as f64 / f64::from(count);
    let flops = 8.0 * f64::from(rows * lanes) * (mean + 3.0);
    for groups in rec.ranges(count.div_ceil(rows), flops) {
        let part = start + groups.first * rows..end.min(start + groups.end() * rows);
        dispatch(rec, part, groups.grid(), groups.flops)?;
    }
    Ok(())
}

/// The maximum numbers of entries and of rows in one buffer.
#[derive(Clone, Copy, Debug)]
pub(in crate::ops) struct Most {
    pub(in crate::ops) entries: usize,
    pub(in crate::ops) rows: usize,
}

impl Most {
    /// Returns the maximum numbers that fit a binding.
    pub(in crate::ops) fn of(gpu: &Gpu) -> Self {
        let bytes = usize::try_from(gpu.adapter().limits.storage_binding).unwrap_or(usize::MAX);
        Self { entries: bytes / 4, rows: bytes / 16 }
    }
}

/// One step of a recurrence, for all problems.
#[derive(Debug)]
pub(in crate::ops) struct Stage<'a> {
    /// A table with one row per step. A row has `(product, own, before, place)` for each problem. The columns of the
    /// block from index `place - 1` on take part in the step. For a problem that takes no part in the step, the row has
    /// `(0, 0, 0, 0)`.
    pub(in crate::ops) coefficients: &'a Buffer<[f32; 4]>,
    /// The index of this step's first coefficients in the table.
    pub(in crate::ops) base: usize,
    /// Whether y is still undefined. If so, `before` is ignored, and the elements of columns that take no part are
    /// copied from x.
    pub(in crate::ops) fresh: bool,
    /// The slab covers the columns of the block from `column` up to, but not including, `end`. If the slab has more
    /// columns, these are padding.
    pub(in crate::ops) column: u32,
    pub(in crate::ops) end: u32,
}

/// An [`Operator`] on the device.
#[derive(Debug)]
pub(in crate::ops) struct Resident {
    rows: Rows,
    diagonal: Buffer<f32>,
    scale: Option<Buffer<f32>>,
    coupling: f32,
    /// The coefficients of `y <- A x`.
    plain: Buffer<[f32; 4]>,
}

impl Resident {
    /// Uploads an operator for products with slabs of at most `4 lanes` columns.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if a binding cannot hold four columns of a block of vectors for all rows; device errors.
    pub(in crate::ops) fn upload(gpu: &Gpu, operator: &Operator<'_, f32>, most: Most, lanes: u32) -> Result<Self> {
        check_rows(gpu, operator.rows())?;
        let first = operator.row_offsets.first().copied().unwrap_or(0);
        let mut columns = Cow::Borrowed(&operator.columns[..]);
        if operator.problems() > 1 {
            // Column indices, like the rows of a slab, are numbered consecutively through all problems.
            let columns = columns.to_mut();
            for span in operator.node_offsets.windows(2) {
                let places = operator.row_offsets[span[0]] - first..operator.row_offsets[span[1]] - first;
                columns[places].iter_mut().for_each(|column| *column += to_u32(span[0]));
            }
        }
        let arrays = (&operator.row_offsets[..], &columns[..], operator.weights.as_deref());
        let mut rec = gpu.record();
        #[expect(clippy::cast_possible_truncation, reason = "1 or -1")]
        let coupling = operator.coupling as f32;
        let rows = Rows::upload(&mut rec, arrays, &operator.node_offsets, most, lanes)?;
        let diagonal = rec.upload(&operator.diagonal)?;
        let scale = operator.scale.as_deref().map(|scale| rec.upload(scale)).transpose()?;
        Self::assemble(&mut rec, rows, diagonal, scale, coupling, operator.problems())
    }

    /// Creates an operator from components that are on the device.
    pub(super) fn assemble(
        rec: &mut Recorder<'_>,
        rows: Rows,
        diagonal: Buffer<f32>,
        scale: Option<Buffer<f32>>,
        coupling: f32,
        problems: usize,
    ) -> Result<Self> {
        let plain = rec.upload(&vec![[1.0, 0.0, 0.0, 1.0]; problems])?;
        Ok(Self { rows, diagonal, scale, coupling, plain })
    }

    /// Records `y <- A x`.
    pub(in crate::ops) fn apply(&self, rec: &mut Recorder<'_>, x: &Slab, y: &mut Slab) -> Result<()> {
        let stage = Stage { coefficients: &self.plain, base: 0, fresh: true, column: 0, end: 4 * x.lanes };
        self.step(rec, &stage, x, y)
    }

    /// Records `y <- product A x + own x + before y` in the columns and problems that take part, with the coefficients
    /// of `stage`. x and y have the same shape.
    pub(in crate::ops) fn step(&self, rec: &mut Recorder<'_>, stage: &Stage<'_>, x: &Slab, y: &mut Slab) -> Result<()> {
        let scale = self.scale.as_ref();
        let Stage { coefficients, base, fresh, column, end: width } = *stage;
        let params = |first, end| Steps {
            first,
            end,
            base: to_u32(base),
            fresh: fresh.into(),
            coupling: self.coupling,
            column,
            width,
        };
        let variant = row_variant(x.lanes, self.rows.weighted, scale.is_some());
        for row_block in &self.rows.row_blocks {
            for run in &row_block.runs {
                over(rec, run, x.lanes, |rec, part, grid, flops| {
                    let kernel = Step {
                        params: params(part.start, part.end),
                        items: &row_block.rows,
                        columns: &row_block.columns,
                        weights: &row_block.weights,
                        diagonal: &self.diagonal,
                        scale: scale.unwrap_or(&self.diagonal),
                        coefficients,
                        x: &x.data,
                        y: &mut y.data,
                    };
                    rec.dispatch(&kernel, &variant, grid, flops)
                })?;
            }
        }
        if self.rows.longs == 0 {
            return Ok(());
        }
        let sums = self.rows.segments(rec, scale, x)?;
        let flops = self.rows.flops_of_a_long_row(x.lanes);
        for part in rec.ranges(self.rows.longs, flops) {
            let kernel = Finish {
                params: params(part.first, part.end()),
                items: &self.rows.long,
                sums: &sums,
                diagonal: &self.diagonal,
                scale: scale.unwrap_or(&self.diagonal),
                coefficients,
                x: &x.data,
                y: &mut y.data,
            };
            let variant = finish_variant(x.lanes, scale.is_some());
            rec.dispatch(&kernel, &variant, part.grid(), part.flops)?;
        }
        Ok(())
    }
}

/// Checks that a slab of four columns and `rows` rows fits in one binding.
///
/// # Errors
/// [`ErrorKind::Limit`] if it does not.
pub(in crate::ops) fn check_rows(gpu: &Gpu, rows: usize) -> Result<()> {
    let adapter = gpu.adapter();
    let (needed, allowed) = (16 * rows as u64, adapter.limits.storage_binding.min(adapter.limits.buffer));
    if needed > allowed {
        let what = format!("bytes of four columns of a block of vectors in one binding on {}", adapter.name);
        return Err(ErrorKind::Limit { what, needed, allowed }.into());
    }
    Ok(())
}

/// Spreads `width` columns evenly over slabs of at most `4 most` columns. Returns a quarter of the number of columns of
/// each slab.
pub(in crate::ops) fn lanes_of(width: usize, most: u32) -> Vec<u32> {
    let total = to_u32(width.div_ceil(4));
    let slabs = total.div_ceil(most.clamp(1, MOST_LANES));
    (0..slabs).map(|slab| total / slabs + u32::from(slab < total % slabs)).collect()
}

/// Records the product `A X`. X is row-major, and has `width` columns and one row for each row of all problems.
///
/// # Errors
/// [`ErrorKind::Limit`] for a block that exceeds a binding; device errors.
pub(in crate::ops) fn product(
    gpu: &Gpu,
    resident: &Resident,
    (rows, width): (usize, usize),
    x: &Buffer<f32>,
) -> Result<Buffer<f32>> {
    let adapter = gpu.adapter();
    let (needed, allowed) = (4 * (rows * width) as u64, adapter.limits.storage_binding.min(adapter.limits.buffer));
    if needed > allowed {
        let what = format!("bytes of a block in one binding on {}", adapter.name);
        return Err(ErrorKind::Limit { what, needed, allowed }.into());
    }
    let mut rec = gpu.record();
    let mut y = rec.array(rows * width)?;
    let most = u32::try_from(allowed / (16 * rows.max(1) as u64)).unwrap_or(MOST_LANES);
    let mut first = 0;
    for lanes in lanes_of(width, most) {
        let [mut from, mut to] = [Slab::new(&mut rec, rows, lanes)?, Slab::new(&mut rec, rows, lanes)?];
        let params = Columns { rows: to_u32(rows), width: to_u32(width), lanes, first };
        let count = params.rows * lanes;
        let (grid, flops) = (Grid::Invocations(count), 4.0 * f64::from(count));
        rec.dispatch(&Pack { params, block: x, slab: &mut from.data }, &[], grid, flops)?;
        resident.apply(&mut rec, &from, &mut to)?;
        rec.dispatch(&Unpack { params, slab: &to.data, block: &mut y }, &[], grid, flops)?;
        first += 4 * lanes;
    }
    Ok(y)
}
