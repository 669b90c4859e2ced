//! Computes the representations of a block of samples.

use super::edges::Concrete;
use super::plan::Plan;
use super::read::Block;
use super::side::Sides;
use super::unit::{Filling, Unit};
use crate::array::{Array, Real};
use crate::cache::Key;
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::io::{Extent, LayerRows, Layers, Numbers};
use crate::ops::series::{Columns, Program, SampleShape};
use crate::ops::svd::{LANES_FOR, svdvals};
use crate::policy::Backend;
use crate::shape::Shape;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, SyncSender};

/// The most programs that are kept. Series of different lengths need one for each length.
const MOST: usize = 256;

/// All units of a block.
pub(super) struct Computed {
    /// The place of the layer in the plan.
    pub(super) planned: usize,
    pub(super) samples: Range<usize>,
    pub(super) units: Vec<Unit>,
    /// The keys under which those units are to be stored that were not found.
    pub(super) keys: Vec<Option<Key>>,
    /// How many of them were found.
    pub(super) found: usize,
    /// The bytes of the numbers that were read.
    pub(super) bytes: u64,
}

/// What computes the blocks of a data set.
pub(super) struct Computer<'a> {
    pub(super) data: &'a Layers,
    pub(super) plan: &'a Plan,
    pub(super) sides: &'a Sides,
    pub(super) programs: Programs<'a>,
}

impl Computer<'_> {
    /// Computes blocks in the order in which they come, until there are no more or one of them is an error. Gives back
    /// the memory of the numbers.
    pub(super) fn compute(
        mut self,
        blocks: &Receiver<Result<Vec<Block>>>,
        used: &Sender<LayerRows>,
        send: &SyncSender<Result<Computed>>,
    ) {
        for blocks in blocks {
            let blocks = match blocks {
                Ok(blocks) => blocks,
                Err(error) => {
                    // The collector no longer listens if the call has failed already.
                    let _ = send.send(Err(error));
                    return;
                }
            };
            for mut block in blocks {
                let name = &self.data.layers()[self.plan.layers[block.planned].layer].name;
                let computed =
                    self.programs.units(self.sides, self.plan, &mut block).map_err(|error| of_layer(error, name));
                if let Some(rows) = block.rows.take() {
                    let _ = used.send(rows);
                }
                let failed = computed.is_err();
                if send.send(computed).is_err() || failed {
                    return;
                }
            }
        }
    }
}

/// Returns an error about a limit with the name of the layer that exceeds it.
fn of_layer(error: Error, layer: &str) -> Error {
    match error.kind() {
        ErrorKind::Limit { what, needed, allowed } => {
            ErrorKind::Limit { what: format!("layer {layer}: {what}"), needed: *needed, allowed: *allowed }.into()
        }
        _ => error,
    }
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
    fn units(&mut self, sides: &Sides, plan: &Plan, block: &mut Block) -> Result<Computed> {
        let (samples, widths) = (block.samples.len(), plan.layers[block.planned].columns.iter());
        let (mut missing, mut units, mut keys) = (Vec::new(), Vec::new(), Vec::new());
        for (place, ((key, found), columns)) in block.found.drain(..).zip(widths).enumerate() {
            keys.push(key.filter(|_| found.is_none()));
            if found.is_none() {
                missing.push(place);
            }
            units.push(found.unwrap_or_else(|| Unit::undefined(samples, columns.len())));
        }
        let bytes = block.rows.as_ref().map_or(0, |rows| rows.numbers.bytes());
        if !missing.is_empty() {
            let Some(rows) = &block.rows else { unreachable!("a block is read unless everything was found") };
            let mut all: Vec<Filling<'_>> = units
                .iter_mut()
                .enumerate()
                .filter(|(place, _)| missing.contains(place))
                .map(|(_, unit)| unit.fill())
                .collect();
            match &rows.numbers {
                Numbers::F32(numbers) => self.compute(sides, plan, block, &missing, numbers, &mut all)?,
                Numbers::F64(numbers) => self.compute(sides, plan, block, &missing, numbers, &mut all)?,
            }
        }
        let found = units.len() - missing.len();
        Ok(Computed { planned: block.planned, samples: block.samples.clone(), units, keys, found, bytes })
    }

    fn compute<T: Real>(
        &mut self,
        sides: &Sides,
        plan: &Plan,
        block: &Block,
        missing: &[usize],
        numbers: &[T],
        all: &mut [Filling<'_>],
    ) -> Result<()> {
        let shape = match plan.layers[block.planned].extent {
            Extent::Vector(n) => SampleShape::Vector(n),
            Extent::Matrix { rows, columns } => SampleShape::Matrix { rows, columns },
            Extent::Ragged { .. } => return self.compute_ragged(sides, block, missing, numbers, all),
        };
        let program = self.program(shape, block.planned, missing)?;
        let found = run(sides, program, shape, numbers)?;
        for sample in 0..block.samples.len() {
            split(&found, sample, sample, all);
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
        all: &mut [Filling<'_>],
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
                split(&found, place, *sample, all);
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

/// Copies the columns of a sample to the units that have them, one after the other.
fn split(found: &Columns, from: usize, to: usize, all: &mut [Filling<'_>]) {
    let mut row = &found.values[from * found.width..][..found.width];
    for unit in all {
        let (own, rest) = row.split_at(unit.width());
        unit.set(to, own, found.status[from].of_columns(own));
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
    // The bits of a sample must not depend on the size of its chunk, so a small one gets matrices of zeros.
    let count = samples.len() / n;
    samples.resize(count.max(LANES_FOR) * n, 0.0);
    // A matrix stored row by row is its transpose stored column by column, with the same singular values.
    let matrices = Shape::new(columns, n / columns, samples.len() / n);
    let all = count * columns.min(n / columns);
    if !on_device {
        let found = svdvals(ctx, &Array::from_vec(matrices, samples)?)?.ok(ctx)?;
        return Ok(found.s.to_host(ctx)?.as_slice()[..all].to_vec());
    }
    #[expect(clippy::cast_possible_truncation, reason = "f32 is the kernels' precision")]
    let narrow = samples.iter().map(|&x| x as f32).collect();
    let found = svdvals(ctx, &Array::<f32>::from_vec(matrices, narrow)?)?.ok(ctx)?;
    let found = found.s.to_host(ctx)?;
    let scaled = found.as_slice()[..all].chunks(columns.min(n / columns)).zip(scales);
    Ok(scaled.flat_map(|(s, scale)| s.iter().map(move |&s| f64::from(s) * scale)).collect())
}
