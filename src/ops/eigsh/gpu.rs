//! Blocks of vectors on the device, for all problems of a batch. The rows of the problems are stacked, and the
//! columns of the block are divided into slabs.
//!
//! A filter records all its steps without reading anything back. Gram matrices and residuals are sums in a fixed
//! order (see [`super::sums`]) that are read back once. The division into slabs, buffers and groups changes no bit
//! of a result.

use super::budget::{Allowed, SCRATCH, Sizes};
use super::deflation::Deflation;
use super::kernels::{Gram, Panel, Placed, Ranges, Reduce, Rotate, Tiles, Turned, gram_variant, slab_variant};
use super::space::{FilterPlan, Grams, Rotation, Space};
use super::sums::{CHUNK, Sums};
use crate::device::{Buffer, Gpu, Grid, Read, Recorder};
use crate::error::{Error, Result};
use crate::ops::random::uniforms;
use crate::ops::sparse::gpu::{Most, Resident, Slab, Stage, lanes_of};
use crate::ops::sparse::{NONE, Operator};
use crate::parallel;
use crate::shape::to_u32;
use nalgebra::DMatrix;
use schedule::Schedule;
use std::ops::Range;

mod schedule;
#[cfg(test)]
mod tests;

/// How a space is divided. Tests divide it more finely than a device requires.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cuts {
    /// The number of vec4s in a row of the widest slab.
    pub(super) lanes: u32,
    /// The maximum sizes of the operator's buffers.
    pub(super) most: Most,
    /// The size, in bytes, that a buffer of sums over chunks should have at most. The same limit applies to a
    /// panel.
    pub(super) scratch: usize,
}

/// A block of vectors on the device.
#[derive(Debug)]
pub(super) struct GpuSpace<'g> {
    gpu: &'g Gpu,
    operator: Resident,
    null: Option<Deflation>,
    spans: Vec<Range<usize>>,
    width: usize,
    scratch: usize,
    sums: Sums,
    chunks: Buffer<[u32; 4]>,
    levels: Vec<Buffer<[u32; 4]>>,
    /// The coefficients `(0, 0, 0, 1)` for every problem, so that all columns of all problems are deflated; see
    /// [`Stage`].
    everyone: Buffer<[f32; 4]>,
    /// The number of vec4s in a row of each slab.
    lanes: Vec<u32>,
    x: Vec<Slab>,
    /// The product of A and X after a call of [`Space::grams`]. At other times, filters use it as scratch.
    image: Vec<Slab>,
    /// The host's copies of the slabs of X that have been read already.
    host: Vec<Option<Vec<[f32; 4]>>>,
}

/// Determines how a block of `width` columns is divided into slabs for the given operator.
///
/// # Errors
/// [`Limit`](crate::ErrorKind::Limit) if the device does not have room for the block. The error names what is too
/// large.
fn cuts(gpu: &Gpu, operator: &Operator<'_, f32>, width: usize) -> Result<Cuts> {
    let (adapter, labels) = (gpu.adapter(), &operator.null.labels);
    let members = labels.iter().filter(|&&label| label != NONE).count();
    let sizes = Sizes {
        problems: operator.problems(),
        rows: operator.rows(),
        entries: operator.entries(),
        weighted: operator.weights.is_some(),
        // Null vectors of one entry take no memory. Every other null vector has at least two entries, so the number
        // of these vectors is at most half of `members`.
        null: (operator.null.len().min(members / 2), members),
        width,
    };
    let binding = adapter.limits.storage_binding.min(adapter.limits.buffer);
    let lanes = sizes.lanes(adapter, Allowed { binding, budget: gpu.counters().budget })?;
    Ok(Cuts { lanes, most: Most::of(gpu), scratch: SCRATCH })
}

impl<'g> GpuSpace<'g> {
    /// Creates a space whose X is undefined until it is randomized.
    ///
    /// # Errors
    /// [`Limit`](crate::ErrorKind::Limit) in the same cases as [`cuts`]; device errors.
    pub(super) fn new(gpu: &'g Gpu, operator: &Operator<'_, f32>, width: usize) -> Result<Self> {
        Self::cut(gpu, operator, width, cuts(gpu, operator, width)?)
    }

    fn cut(gpu: &'g Gpu, operator: &Operator<'_, f32>, width: usize, cuts: Cuts) -> Result<Self> {
        let Cuts { lanes: widest, most, scratch } = cuts;
        let spans: Vec<Range<usize>> = (0..operator.problems()).map(|problem| operator.span(problem)).collect();
        let sums = Sums::new(&spans);
        let resident = Resident::upload(gpu, operator, most, widest)?;
        let mut rec = gpu.record();
        let lanes = lanes_of(width, widest);
        let x = slabs(&mut rec, operator.rows(), &lanes)?;
        Ok(Self {
            gpu,
            operator: resident,
            null: Deflation::upload(&mut rec, &operator.null, most, widest)?,
            width,
            scratch,
            chunks: rec.upload(&sums.chunks)?,
            levels: sums.levels.iter().map(|level| rec.upload(level)).collect::<Result<_>>()?,
            everyone: rec.upload(&vec![[0.0, 0.0, 0.0, 1.0]; spans.len()])?,
            spans,
            sums,
            host: vec![None; lanes.len()],
            x,
            image: Vec::new(),
            lanes,
        })
    }

    /// Returns the total number of rows of all problems.
    fn rows(&self) -> usize {
        self.spans.last().map_or(0, |span| span.end)
    }

    /// Returns the number of vec4s in one row of X, over all slabs.
    fn total(&self) -> u32 {
        self.lanes.iter().sum()
    }

    /// Returns the first column of each slab.
    fn firsts(&self) -> Vec<usize> {
        let next = |next: &mut usize, &lanes: &u32| {
            let first = *next;
            *next += 4 * lanes as usize;
            Some(first)
        };
        self.lanes.iter().scan(0, next).collect()
    }

    /// Allocates the second block, `image`, if it does not exist yet. Its content is then undefined.
    fn second(&mut self, rec: &mut Recorder<'_>) -> Result<()> {
        if self.image.is_empty() {
            self.image = slabs(rec, self.rows(), &self.lanes)?;
        }
        Ok(())
    }

    /// Records every level of sums except the first. Each level adds sums of the level before it, and the last level
    /// leaves few enough sums for the host. The sums of the first level are in `below`.
    fn reduce(&self, rec: &mut Recorder<'_>, mut below: Buffer<[f32; 4]>, size: u32) -> Result<Buffer<[f32; 4]>> {
        for (level, ranges) in self.sums.levels.iter().zip(&self.levels).skip(1) {
            let mut totals = rec.array(level.len() * size as usize)?;
            reduce(rec, ranges, 0..to_u32(level.len()), (size, 0), &below, &mut totals)?;
            below = totals;
        }
        Ok(below)
    }

    /// Records one tile of each Gram matrix: the dot products of the columns of slab `i` of X with the columns of
    /// slab `j` of X and of A X.
    fn tile(&self, rec: &mut Recorder<'_>, i: usize, j: usize) -> Result<Read<[f32; 4]>> {
        let (left, right) = (self.lanes[i], self.lanes[j]);
        let size = tile_size(left, right);
        let flops = 4.0 * CHUNK as f64 * f64::from(4 * left) * f64::from(4 * right);
        let groups = self.sums.chunk_groups(self.scratch / (16 * size as usize));
        let most = groups.iter().map(|(_, chunks)| chunks.len()).max().unwrap_or(0);
        let mut sums = rec.array(most * size as usize)?;
        let mut totals = rec.array(self.sums.levels[0].len() * size as usize)?;
        for (outputs, chunks) in groups {
            let base = chunks.start;
            for part in rec.ranges(to_u32(chunks.len()), flops) {
                let kernel = Gram {
                    params: Tiles { first: base + part.first, base },
                    chunks: &self.chunks,
                    left: &self.x[i].data,
                    right: &self.x[j].data,
                    image: &self.image[j].data,
                    sums: &mut sums,
                };
                rec.dispatch(&kernel, &gram_variant(left, right), part.grid(), part.flops)?;
            }
            reduce(rec, &self.levels[0], outputs, (size, base), &sums, &mut totals)?;
        }
        let totals = self.reduce(rec, totals, size)?;
        rec.read(&totals)
    }

    /// Records the replacement of X by X Q, one panel of whole rows at a time. Returns the pending reads of the
    /// squared residuals, one read per slab.
    fn turn(
        &self,
        rec: &mut Recorder<'_>,
        x: &mut [Slab],
        q: &Buffer<[f32; 4]>,
        values: &Buffer<[f32; 4]>,
    ) -> Result<Vec<Read<[f32; 4]>>> {
        let (total, count) = (self.total(), self.sums.chunks.len());
        let at_once = (self.scratch / (16 * total.max(1) as usize * CHUNK)).clamp(1, count.max(1));
        let room = self.rows().min(at_once * CHUNK) * total as usize;
        let [mut own, mut image] = [rec.array(room)?, rec.array(room)?];
        let squares = self.lanes.iter().map(|&lanes| rec.array(count * lanes as usize));
        let mut squares = squares.collect::<Result<Vec<Buffer<[f32; 4]>>>>()?;
        for begin in (0..count).step_by(at_once) {
            let end = count.min(begin + at_once);
            let (row, last) = (self.sums.chunks[begin][0], self.sums.chunks[end - 1][1]);
            panel(rec, row..last, total, x, &mut own)?;
            panel(rec, row..last, total, &self.image, &mut image)?;
            let mut offset = 0;
            for (slab, squares) in x.iter_mut().zip(&mut squares) {
                let lanes = slab.lanes;
                let flops = 16.0 * f64::from(lanes) * f64::from(total) * 4.0 * CHUNK as f64;
                for part in rec.ranges(to_u32(end - begin), flops) {
                    let kernel = Rotate {
                        params: Turned { first: to_u32(begin) + part.first, base: 0, row, total, offset },
                        chunks: &self.chunks,
                        q,
                        values,
                        x: &own,
                        image: &image,
                        slab: &mut slab.data,
                        squares,
                    };
                    rec.dispatch(&kernel, &slab_variant(lanes), part.grid(), part.flops)?;
                }
                offset += lanes;
            }
        }
        let mut reads = Vec::with_capacity(squares.len());
        for (&lanes, squares) in self.lanes.iter().zip(&squares) {
            let outputs = self.sums.levels[0].len();
            let mut totals = rec.array(outputs * lanes as usize)?;
            reduce(rec, &self.levels[0], 0..to_u32(outputs), (lanes, 0), squares, &mut totals)?;
            let totals = self.reduce(rec, totals, lanes)?;
            reads.push(rec.read(&totals)?);
        }
        Ok(reads)
    }
}

/// Allocates one slab for each element of `lanes`. The element is the number of vec4s in a row of the slab.
fn slabs(rec: &mut Recorder<'_>, rows: usize, lanes: &[u32]) -> Result<Vec<Slab>> {
    lanes.iter().map(|&lanes| Slab::new(rec, rows, lanes)).collect()
}

/// Returns the number of vec4s in the tile of X'X and the tile of X'AX together. A row of the first slab has `left`
/// vec4s, and a row of the second slab has `right` vec4s.
fn tile_size(left: u32, right: u32) -> u32 {
    8 * left * right
}

/// Records a range of the sums of one level. Each sum has `size` vec4s. The buffer `sums` holds the sums of the level
/// below, starting with index `base`. For the first level, it holds the sums of the chunks, starting with chunk
/// `base`.
fn reduce(
    rec: &mut Recorder<'_>,
    ranges: &Buffer<[u32; 4]>,
    Range { start: first, end }: Range<u32>,
    (size, base): (u32, u32),
    sums: &Buffer<[f32; 4]>,
    totals: &mut Buffer<[f32; 4]>,
) -> Result<()> {
    let outputs = end - first;
    let kernel = Reduce { params: Ranges { first, outputs, size, base }, ranges, sums, totals };
    let count = outputs * size;
    rec.dispatch(&kernel, &[], Grid::Invocations(count), 64.0 * f64::from(count))
}

/// Gathers whole rows from slabs into a panel.
fn panel(
    rec: &mut Recorder<'_>,
    rows: Range<u32>,
    total: u32,
    slabs: &[Slab],
    panel: &mut Buffer<[f32; 4]>,
) -> Result<()> {
    let (row, rows) = (rows.start, rows.end - rows.start);
    let mut offset = 0;
    for slab in slabs {
        let lanes = slab.lanes;
        let params = Placed { row, rows, lanes, total, offset };
        let count = rows * lanes;
        let kernel = Panel { params, slab: &slab.data, panel };
        rec.dispatch(&kernel, &[], Grid::Invocations(count), 4.0 * f64::from(count))?;
        offset += lanes;
    }
    Ok(())
}

impl Space for GpuSpace<'_> {
    /// In a chunk, each term passes through up to 16 additions in its group of rows and then up to 32 additions of
    /// groups. Each level has up to 16 further additions, so with one level there are 64. An addition has a relative
    /// error of up to one unit, 2^-24. Measured errors of sums over 300,000 rows (2026-11-21): 9 units if all terms
    /// are alike, 3 units if the terms are random.
    const GRAM_EPSILON: f64 = 1e-6;
    const SIDE_BY_SIDE: bool = true;

    fn problems(&self) -> usize {
        self.spans.len()
    }

    fn randomize(&mut self, seed: u64) -> Result<()> {
        self.host.fill(None);
        let (rows, width, firsts) = (self.rows(), self.width, self.firsts());
        let mut rec = self.gpu.record();
        // The old block is released before the new one is uploaded, because there may not be room for both blocks.
        self.x.clear();
        for (&lanes, first) in self.lanes.iter().zip(firsts) {
            let mut data = vec![[0.0; 4]; rows * lanes as usize];
            for span in &self.spans {
                // Rows are numbered within their problem, so that a block does not depend on the other problems of
                // the batch.
                let own = &mut data[span.start * lanes as usize..span.end * lanes as usize];
                parallel::for_each(own.chunks_mut(CHUNK * lanes as usize), |chunk, rows| {
                    for (row, vectors) in (chunk * CHUNK..).zip(rows.chunks_mut(lanes as usize)) {
                        for (column, four) in (first..).step_by(4).zip(vectors) {
                            let random = uniforms(to_u32(row), to_u32(column / 4), seed);
                            // Columns beyond the width stay 0.
                            let columns = width.saturating_sub(column).min(4);
                            #[expect(clippy::cast_possible_truncation, reason = "f32 is the kernels' precision")]
                            four[..columns].iter_mut().zip(random).for_each(|(x, u)| *x = u as f32);
                        }
                    }
                });
            }
            let mut slab = Slab { lanes, data: rec.upload(&data)? };
            if let Some(null) = &self.null {
                let coefficients = &self.everyone;
                let stage = Stage { coefficients, base: 0, fresh: false, column: 0, end: 4 * lanes };
                null.record(&mut rec, (&self.chunks, to_u32(self.sums.chunks.len())), &stage, &mut slab)?;
            }
            self.x.push(slab);
        }
        Ok(())
    }

    fn filter(&mut self, plans: &[Option<FilterPlan>]) -> Result<()> {
        let (problems, width) = (self.problems(), self.width);
        if plans.len() != problems {
            return Err(Error::shape("filter", format!("{problems} plans"), plans.len().to_string()));
        }
        let Schedule { degree, from, steps, deflations } = Schedule::of(plans);
        if degree == 0 || from >= width {
            return Ok(());
        }
        self.host.fill(None);
        let firsts = self.firsts();
        let mut rec = self.gpu.record();
        self.second(&mut rec)?;
        let coefficients = rec.upload(&steps)?;
        let who = deflations.iter().map(|tables| rec.upload(tables)).collect::<Result<Vec<_>>>()?;
        let chunks = (&self.chunks, to_u32(self.sums.chunks.len()));
        for ((slab, other), first) in self.x.iter_mut().zip(&mut self.image).zip(firsts) {
            if first + 4 * slab.lanes as usize <= from {
                continue;
            }
            for i in 0..degree {
                let (column, end, base) = (to_u32(first), to_u32(width), i * problems);
                let stage = Stage { coefficients: &coefficients, base, fresh: i == 0, column, end };
                self.operator.step(&mut rec, &stage, slab, other)?;
                std::mem::swap(slab, other);
                let Some(null) = &self.null else { continue };
                for (block, (coefficients, table)) in
                    [&mut *slab, &mut *other].into_iter().zip(who.iter().zip(&deflations))
                {
                    if table[base..base + problems].iter().any(|who| who[3] > 0.0) {
                        null.record(&mut rec, chunks, &Stage { coefficients, ..stage }, block)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn grams(&mut self) -> Result<Vec<Grams>> {
        let (width, firsts) = (self.width, self.firsts());
        let mut tiles = Vec::new();
        {
            let mut rec = self.gpu.record();
            self.second(&mut rec)?;
            for (x, image) in self.x.iter().zip(&mut self.image) {
                self.operator.apply(&mut rec, x, image)?;
            }
            // Wider slabs come first. Only tiles on or above the diagonal are computed, because the matrices are
            // symmetric.
            for i in 0..self.x.len() {
                for j in i..self.x.len() {
                    tiles.push((i, j, self.tile(&mut rec, i, j)?));
                }
            }
        }
        let zeros = || DMatrix::zeros(width, width);
        let mut grams: Vec<Grams> = self.spans.iter().map(|_| Grams { xx: zeros(), xax: zeros() }).collect();
        for (i, j, read) in tiles {
            let data = read.wait()?;
            let (left, right) = (self.lanes[i], self.lanes[j]);
            for (own, parts) in grams.iter_mut().zip(&self.sums.parts) {
                for tiles in data.chunks_exact(tile_size(left, right) as usize).skip(parts.start).take(parts.len()) {
                    let (xx, xax) = tiles.split_at(tiles.len() / 2);
                    add(&mut own.xx, (firsts[i], firsts[j]), xx, right);
                    add(&mut own.xax, (firsts[i], firsts[j]), xax, right);
                }
            }
        }
        Ok(grams)
    }

    fn rotate(&mut self, rotations: &[Option<Rotation>]) -> Result<Vec<Vec<f64>>> {
        let (problems, width, padded) = (self.problems(), self.width, 4 * self.total() as usize);
        let fits = |turn: &Rotation| turn.q.shape() == (width, width) && turn.values.len() == width;
        if rotations.len() != problems || !rotations.iter().flatten().all(fits) || self.image.is_empty() {
            let expected = format!("{problems} rotations of order {width} after their Gram matrices");
            let found = rotations.iter().flatten().map(|turn| turn.q.shape()).collect::<Vec<_>>();
            return Err(Error::shape("rotate", expected, format!("{found:?}")));
        }
        if rotations.iter().all(Option::is_none) {
            return Ok(vec![Vec::new(); problems]);
        }
        let mut q = vec![[0.0_f32; 4]; problems * padded * padded / 4];
        let mut values = vec![[0.0_f32; 4]; problems * (padded / 4 + 1)];
        for (problem, turn) in rotations.iter().enumerate() {
            let Some(Rotation { q: own, values: ritz }) = turn else { continue };
            let first = problem * (padded / 4 + 1);
            values[first][0] = 1.0;
            #[expect(clippy::cast_possible_truncation, reason = "f32 is the kernels' precision")]
            for j in 0..width {
                values[first + 1 + j / 4][j % 4] = ritz[j] as f32;
                for k in 0..width {
                    q[((problem * padded + k) * padded + j) / 4][j % 4] = own[(k, j)] as f32;
                }
            }
        }
        self.host.fill(None);
        let mut x = std::mem::take(&mut self.x);
        let reads = {
            let mut rec = self.gpu.record();
            let (q, values) = (rec.upload(&q)?, rec.upload(&values)?);
            self.turn(&mut rec, &mut x, &q, &values)
        };
        self.x = x;
        let mut norms: Vec<Vec<f64>> = rotations.iter().map(|turn| vec![0.0; turn.iter().count() * width]).collect();
        for ((read, &lanes), first) in reads?.into_iter().zip(&self.lanes).zip(self.firsts()) {
            let data = read.wait()?;
            for (own, parts) in norms.iter_mut().zip(&self.sums.parts).filter(|(own, _)| !own.is_empty()) {
                for squares in data.chunks_exact(lanes as usize).skip(parts.start).take(parts.len()) {
                    own[first..].iter_mut().zip(squares.as_flattened()).for_each(|(sum, &x)| *sum += f64::from(x));
                }
            }
        }
        norms.iter_mut().flatten().for_each(|square| *square = square.sqrt());
        Ok(norms)
    }

    fn read(&mut self, problem: usize, columns: Range<usize>) -> Result<Vec<f64>> {
        let span = self.spans[problem].clone();
        let mut out = vec![0.0; span.len() * columns.len()];
        for ((place, &lanes), first) in self.lanes.iter().enumerate().zip(&self.firsts()) {
            let width = 4 * lanes as usize;
            let taken = columns.start.max(*first)..columns.end.min(first + width);
            if taken.is_empty() || span.is_empty() {
                continue;
            }
            if self.host[place].is_none() {
                self.host[place] = Some(self.gpu.read(&self.x[place].data)?.wait()?);
            }
            let Some(data) = &self.host[place] else { continue };
            let rows = &data.as_flattened()[span.start * width..span.end * width];
            let part = (taken.start - columns.start) * span.len()..(taken.end - columns.start) * span.len();
            parallel::for_each(out[part].chunks_mut(span.len()).zip(taken), |_, (to, column)| {
                let from = rows[column - first..].iter().step_by(width);
                to.iter_mut().zip(from).for_each(|(to, &x)| *to = f64::from(x));
            });
        }
        Ok(out)
    }
}

/// Adds a tile and its transpose to a symmetric matrix. Each row of the tile has `lanes` vec4s. If the tile is on the
/// diagonal, the tile and its transpose are halved, because they are added to the same elements.
fn add(to: &mut DMatrix<f64>, (first_row, first_column): (usize, usize), tile: &[[f32; 4]], lanes: u32) {
    let width = to.nrows();
    let half = if first_row == first_column { 0.5 } else { 1.0 };
    for (row, values) in (first_row..width).zip(tile.chunks_exact(lanes as usize)) {
        for (column, &x) in (first_column..width).zip(values.as_flattened()) {
            to[(row, column)] += half * f64::from(x);
            to[(column, row)] += half * f64::from(x);
        }
    }
}
