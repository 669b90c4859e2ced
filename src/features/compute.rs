//! Computes the representations of a block of samples.

use super::edges::Concrete;
use super::plan::Plan;
use super::read::Block;
use super::side::Sides;
use super::stored::Unit;
use crate::array::{Array, Real};
use crate::context::Context;
use crate::error::Result;
use crate::io::{Extent, Numbers};
use crate::ops::series::{Columns, Program, SampleShape, Status};
use crate::ops::svd::svdvals;
use crate::policy::Backend;
use crate::shape::Shape;
use std::collections::HashMap;
use std::ops::Range;

/// The most programs that are kept. Series of different lengths need one for each length.
const MOST: usize = 256;

/// All units of a block.
pub(super) struct Units {
    pub(super) all: Vec<Unit>,
    /// How many of them were found.
    pub(super) found: usize,
}

/// The programs of the shapes and representations so far.
pub(super) struct Programs<'a> {
    concrete: &'a Concrete,
    /// By shape, by the place of the list of measures, and by the places of the representations.
    made: HashMap<(SampleShape, usize, Vec<usize>), Program>,
}

impl<'a> Programs<'a> {
    pub(super) fn new(concrete: &'a Concrete) -> Self {
        Self { concrete, made: HashMap::new() }
    }

    /// Computes those representations of a block that were not found.
    pub(super) fn units(&mut self, sides: &Sides, plan: &Plan, block: &Block) -> Result<Units> {
        let missing: Vec<usize> = (0..block.found.len()).filter(|&place| block.found[place].1.is_none()).collect();
        let widths: Vec<usize> = plan.layers[block.planned].columns.iter().map(ExactSizeIterator::len).collect();
        let samples = block.samples.len();
        let mut all: Vec<Unit> = (block.found.iter().zip(&widths))
            .map(|((_, found), width)| {
                let empty =
                    || Unit { values: vec![f32::NAN; samples * width], status: vec![Status::Undefined; samples] };
                found.clone().unwrap_or_else(empty)
            })
            .collect();
        if !missing.is_empty() {
            let Some(rows) = &block.rows else { unreachable!("a block is read unless everything was found") };
            match &rows.numbers {
                Numbers::F32(numbers) => self.compute(sides, plan, block, &missing, numbers, &mut all)?,
                Numbers::F64(numbers) => self.compute(sides, plan, block, &missing, numbers, &mut all)?,
            }
        }
        Ok(Units { all, found: widths.len() - missing.len() })
    }

    fn compute<T: Real>(
        &mut self,
        sides: &Sides,
        plan: &Plan,
        block: &Block,
        missing: &[usize],
        numbers: &[T],
        all: &mut [Unit],
    ) -> Result<()> {
        let shape = match plan.layers[block.planned].extent {
            Extent::Vector(n) => SampleShape::Vector(n),
            Extent::Matrix { rows, columns } => SampleShape::Matrix { rows, columns },
            Extent::Ragged { .. } => return self.compute_ragged(sides, block, missing, numbers, all),
        };
        let program = self.program(shape, block.planned, missing)?;
        let found = run(sides, program, shape, numbers)?;
        for sample in 0..block.samples.len() {
            split(&found, sample, sample, missing, all);
        }
        Ok(())
    }

    /// Computes series of different lengths: those of one length together.
    fn compute_ragged<T: Real>(
        &mut self,
        sides: &Sides,
        block: &Block,
        missing: &[usize],
        numbers: &[T],
        all: &mut [Unit],
    ) -> Result<()> {
        let mut by_length: HashMap<usize, Vec<(usize, Range<usize>)>> = HashMap::new();
        let mut begin = 0;
        for (sample, &length) in block.rows.iter().flat_map(|rows| rows.lengths.iter().flatten()).enumerate() {
            by_length.entry(length).or_default().push((sample, begin..begin + length));
            begin += length;
        }
        // Without numbers, all columns stay undefined.
        by_length.remove(&0);
        for (length, series) in by_length {
            let mut together = Vec::with_capacity(length * series.len());
            series.iter().for_each(|(_, range)| together.extend_from_slice(&numbers[range.clone()]));
            let shape = SampleShape::Vector(length);
            let found = run(sides, self.program(shape, block.planned, missing)?, shape, &together)?;
            for (place, (sample, _)) in series.iter().enumerate() {
                split(&found, place, *sample, missing, all);
            }
        }
        Ok(())
    }

    fn program(&mut self, shape: SampleShape, planned: usize, representations: &[usize]) -> Result<&Program> {
        let list = self.concrete.place(planned);
        let key = (shape, list, representations.to_vec());
        if !self.made.contains_key(&key) {
            if self.made.len() >= MOST {
                self.made.clear();
            }
            let measures = representations.iter().flat_map(|&place| &self.concrete.lists()[list][place]);
            let program = Program::new(measures.cloned().collect(), shape)?;
            self.made.insert(key.clone(), program);
        }
        Ok(&self.made[&key])
    }
}

/// Copies the columns of a sample to the units of the representations that have them, one after the other.
fn split(found: &Columns, from: usize, to: usize, representations: &[usize], all: &mut [Unit]) {
    let mut row = &found.values[from * found.width..][..found.width];
    for &place in representations {
        let unit = &mut all[place];
        let width = unit.values.len() / unit.status.len();
        let (own, rest) = row.split_at(width);
        unit.values[to * width..][..width].copy_from_slice(own);
        unit.status[to] = found.status[from].of_columns(own);
        row = rest;
    }
}

/// Runs a program, for which singular values are computed if it wants them.
fn run<T: Real>(sides: &Sides, program: &Program, shape: SampleShape, numbers: &[T]) -> Result<Columns> {
    let ctx = sides.of(program.has_kernels::<T>());
    let mut values = [Vec::new(), Vec::new()];
    for (centered, (wanted, values)) in program.wants().into_iter().zip(&mut values).enumerate() {
        if wanted {
            *values = singular_values(ctx, shape, numbers, centered == 1)?;
        }
    }
    program.run(ctx, numbers, [&values[0], &values[1]])
}

/// Returns the singular values of each sample in f64, perhaps after the mean of each of its columns is subtracted.
/// Samples with numbers that are not finite count as zero. On a device, they are computed in f32.
fn singular_values<T: Real>(ctx: &Context, shape: SampleShape, numbers: &[T], centered: bool) -> Result<Vec<f64>> {
    let (n, columns) = (shape.len(), shape.columns());
    let on_device = T::ON_DEVICE && ctx.policy().backend == Backend::Gpu;
    let mut samples: Vec<f64> = numbers.iter().map(|x| x.to_f64()).collect();
    let mut scales = Vec::with_capacity(if on_device { samples.len() / n } else { 0 });
    for sample in samples.chunks_mut(n) {
        if !sample.iter().all(|x| x.is_finite()) {
            sample.fill(0.0);
        }
        for column in (0..columns).filter(|_| centered) {
            // Distances from the first number, so that equal numbers become exactly 0.
            let (first, rows) = (sample[column], (n / columns) as f64);
            let mean = first + sample[column..].iter().step_by(columns).map(|x| x - first).sum::<f64>() / rows;
            sample[column..].iter_mut().step_by(columns).for_each(|x| *x -= mean);
        }
        if on_device {
            // A device may flush subnormal numbers. A power of two moves no bit.
            let greatest = sample.iter().fold(0.0_f64, |greatest, x| greatest.max(x.abs()));
            let scale = if greatest > 0.0 { greatest.log2().floor().exp2() } else { 1.0 };
            sample.iter_mut().for_each(|x| *x /= scale);
            scales.push(scale);
        }
    }
    // A matrix stored row by row is its transpose stored column by column, with the same singular values.
    let matrices = Shape::new(columns, n / columns, samples.len() / n);
    if !on_device {
        let found = svdvals(ctx, &Array::from_vec(matrices, samples)?)?.ok(ctx)?;
        return Ok(found.s.to_host(ctx)?.as_slice().to_vec());
    }
    #[expect(clippy::cast_possible_truncation, reason = "f32 is the kernels' precision")]
    let narrow = samples.iter().map(|&x| x as f32).collect();
    let found = svdvals(ctx, &Array::<f32>::from_vec(matrices, narrow)?)?.ok(ctx)?;
    let found = found.s.to_host(ctx)?;
    let each = columns.min(n / columns);
    let scaled = found.as_slice().chunks(each).zip(scales);
    Ok(scaled.flat_map(|(s, scale)| s.iter().map(move |&s| f64::from(s) * scale)).collect())
}
