//! Training on a device. A workgroup trains one run through many steps of a dispatch, so there is no launch and no
//! synchronization between the steps. Networks that are too wide for this are trained a layer at a time, with all
//! workgroups (`layered`). What all runs share, such as the data set, is uploaded once.
//!
//! The form of the kernels and the width of their workgroups follow the network, the batch, the optimizer and the
//! adapter's tuning alone, and sums have a fixed order. So the bits of a run depend neither on the other runs nor on
//! how its steps are divided into dispatches.
//!
//! The kernels of both precisions share their WGSL except for the files that hold a run's numbers: `memory.wgsl` and
//! `plain.wgsl` in f32, `narrow.wgsl` and `scaler.wgsl` in mixed precision (`kernels.rs`). The kernels of `layered` use
//! the same tables, and the same WGSL except for products and sums.

mod capacity;
mod form;
mod layered;
mod tables;
#[cfg(test)]
mod tests;
mod upload;

pub(in crate::ops::mlp) use form::Form;

use super::kernels::{
    BLOCK_WORDS, GROWTH, LIST, MixedStep, NONE, Outputs, Params, RECORD_WORDS, RUN, SCALING, Step, mixed_variant,
    variant,
};
use super::layout::Layout;
use super::optimizer::Update;
use super::{Hyper, MixedPrecision, Optimizer, Program, Replica, Scaler};
use crate::array::Real;
use crate::clock::Instant;
use crate::device::{Buffer, Gpu, Read};
use crate::error::Result;
use crate::shape::to_u32;
pub(crate) use capacity::Held;
use capacity::Sizes;
use form::{Parameters, iterations, narrow};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tables::{OfLoss, Record, of_update};
pub(crate) use upload::Uploaded;
use upload::{Place, counts, numbers};

/// A dispatch should take about this long, so that a display stays responsive and a cancelled call returns soon.
const DISPATCH: Duration = Duration::from_millis(50);
/// The number of steps of the first dispatch, from whose time the number of the next ones follows.
const FIRST_STEPS: u32 = 32;
/// The same for networks that are trained a layer at a time, whose steps take longer.
const FIRST_LAYERED: u32 = 4;
/// The most updates whose numbers, 32 bytes each, are uploaded for one dispatch.
const TOLD: usize = 1 << 17;
/// The bytes of the outputs that are computed before they are read.
const READ: usize = 32 << 20;
/// The bytes of rows in storage that an evaluation uses at a time.
const ROOM: usize = 64 << 20;

/// The samples of a run: those of each part of the data set, in the run's order.
pub(crate) type Parts = Arc<[Vec<u32>; 3]>;

/// Consecutive steps of one run, between two decisions of the host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeviceSegment<'a, T> {
    /// The number of the run among those on the device.
    pub(crate) run: usize,
    /// The run, whose numbers on the host are not used, except for its seed, hyperparameters and count of steps.
    pub(crate) replica: &'a Replica<T>,
    pub(crate) epoch: u64,
    /// The first step, counted within the epoch.
    pub(crate) batch: usize,
    /// The number of steps, which may reach into later epochs.
    pub(crate) steps: u64,
    /// Whether the order of the samples is random.
    pub(crate) shuffled: bool,
}

/// What a segment results in.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Trained {
    /// The number of steps that were made, including those that were skipped.
    pub(crate) steps: u64,
    /// Whether a loss was not finite, or too many steps were skipped. The parameters are those before the step.
    pub(crate) diverged: bool,
    /// The sum of the losses of the steps of the last epoch so far, each times its number of samples.
    pub(crate) loss: f64,
    /// The number of samples of the last epoch so far whose label was predicted.
    pub(crate) correct: u64,
    /// The number of samples of the last epoch so far whose steps were skipped because their loss was not finite.
    pub(crate) lost: u64,
    pub(crate) scaler: Scaler,
}

/// What a kernel is told of the shape of the runs, and the form that it has.
#[derive(Clone, Debug)]
struct Plan {
    form: Form,
    params: Params,
    /// The words of layers, blocks and class weights.
    tables: Vec<u32>,
}

/// The runs that a device trains together.
#[derive(Debug)]
pub(crate) struct DeviceRuns {
    gpu: Arc<Gpu>,
    program: Program,
    layout: Layout,
    parameters: Parameters,
    steps: Plan,
    /// Outputs are computed in f32.
    outputs: Plan,
    data: Uploaded,
    weights: Buffer<[f32; 4]>,
    moved: Buffer<[f32; 4]>,
    scratch: Buffer<[u32; 4]>,
    found: Buffer<[u32; 4]>,
    /// The number of steps of a dispatch, and whether it is still being found out.
    pace: (u32, bool),
    most_steps: u32,
    /// The number of steps that the device has counted for each run.
    counted: Vec<u32>,
}

impl Plan {
    /// Returns the plan of a program, and the sizes that it was made from.
    fn new(sizes: Sizes, program: &Program) -> (Self, Sizes) {
        let Sizes { form, layout, parameters, rows, moments, noise, scratch, gradients_at, lengths_at } = &sizes;
        let layers = tables::layers(layout, parameters, rows);
        let blocks = tables::blocks(layout, parameters, rows);
        let OfLoss { kind, class_weights, of_label, of_each } = OfLoss::new(program);
        let weights_at = if class_weights.is_empty() { NONE } else { to_u32(layers.len() + blocks.len()) };
        let params = Params {
            first: 0,
            records_at: 0,
            layers: to_u32(layout.layers.len()),
            blocks: to_u32(blocks.len() / BLOCK_WORDS),
            blocks_at: to_u32(layers.len()),
            batch: to_u32(program.batch),
            samples: 0,
            batches: 0,
            quads: parameters.quads,
            stride: parameters.stride,
            moments: *moments,
            scratch: *scratch,
            samples_at: rows.samples,
            noise: *noise,
            noise_at: rows.stored,
            each: 0,
            loss: kind,
            class_weights: weights_at,
            of_label,
            of_each,
            turn: 0,
            part: 0,
            gradients_at: *gradients_at,
            lengths_at: *lengths_at,
        };
        (Self { form: *form, params, tables: [layers, blocks, class_weights].concat() }, sizes)
    }
}

impl DeviceRuns {
    /// Uploads runs that train on data that are on the device.
    ///
    /// # Errors
    /// Device errors.
    pub(crate) fn of<T: Real>(gpu: &Arc<Gpu>, program: &Program, data: Uploaded, runs: &[&Replica<T>]) -> Result<Self> {
        let moments = runs.iter().map(|replica| program.optimizer.moments(&replica.hyper)).max().unwrap_or(0);
        let of = |program: &Program| Plan::new(Sizes::new(gpu, program, moments), program);
        let (steps, Sizes { layout, parameters, moments, mut scratch, .. }) = of(program);
        let (outputs, Sizes { scratch: for_outputs, .. }) =
            of(&Program { mixed: MixedPrecision::Off, ..program.clone() });
        let form = steps.form;
        if outputs.form.is_layered() {
            scratch = scratch.max(for_outputs);
        }
        log::debug!("{} runs of {} on {}: {}", runs.len(), program.net, gpu.adapter().name, form.name());
        let mut rec = gpu.record();
        let (weights, moved) = numbers(&parameters, moments, runs);
        let weights = rec.upload(&weights)?;
        let moved = rec.upload(&moved)?;
        let scratch = rec.array(runs.len() * scratch as usize)?;
        let found = rec.upload(&counts(form.width, runs))?;
        drop(rec);
        let first_steps = if form.is_layered() { FIRST_LAYERED } else { FIRST_STEPS };
        let mut made = Self {
            gpu: Arc::clone(gpu),
            program: program.clone(),
            layout,
            parameters,
            steps,
            outputs,
            data,
            weights,
            moved,
            scratch,
            found,
            pace: (first_steps, true),
            most_steps: 1,
            counted: vec![0; runs.len()],
        };
        made.follow_data();
        Ok(made)
    }

    /// Lets the runs train on other data.
    pub(crate) fn exchange(&mut self, data: Uploaded) {
        self.data = data;
        self.follow_data();
    }

    fn follow_data(&mut self) {
        let Uploaded { trained_on, batches, each, .. } = self.data;
        for params in [&mut self.steps.params, &mut self.outputs.params] {
            (params.samples, params.batches, params.each) = (trained_on, batches, each);
        }
        let most = u64::from(self.gpu.adapter().loop_budget / 2);
        // In the form of layers, each step has dispatches of its own.
        let most = if self.steps.form.is_layered() { u64::MAX } else { most };
        let most = most / iterations(&self.program, &self.steps.form, trained_on as usize);
        self.most_steps = u32::try_from(most).unwrap_or(u32::MAX).max(1);
    }

    /// Trains runs. `rate(place, epoch)` is the learning rate of the segment at that place. Runs without one rest.
    ///
    /// # Errors
    /// Device errors.
    pub(crate) fn train<T: Real>(
        &mut self,
        segments: &[DeviceSegment<'_, T>],
        rate: &dyn Fn(usize, u64) -> f64,
    ) -> Result<Vec<Trained>> {
        let most = segments.iter().map(|segment| segment.steps).max().unwrap_or(0);
        let different: HashSet<_> =
            segments.iter().enumerate().map(|(place, segment)| alike(segment, rate(place, segment.epoch), 0)).collect();
        let told = to_u32(TOLD / different.len().max(1)).max(1);
        let mut begun = 0_u64;
        while begun < most {
            let steps = u64::from(self.pace.0.min(self.most_steps).min(told)).min(most - begun);
            let began = Instant::now();
            self.dispatch(segments, rate, begun, to_u32(usize::try_from(steps).unwrap_or(usize::MAX)))?;
            begun += steps;
            if self.pace.1 {
                self.gpu.wait()?;
                let taken = began.elapsed();
                if taken > 2 * DISPATCH {
                    self.pace.0 = (self.pace.0 / 2).max(1);
                } else if taken < DISPATCH / 2 && self.pace.0 < self.most_steps {
                    self.pace.0 = self.pace.0.saturating_mul(2);
                } else {
                    self.pace.1 = false;
                }
            }
        }
        let found = self.gpu.read(&self.found)?.wait()?;
        let stride = self.steps.form.width as usize + 2;
        let of_segment = |segment: &DeviceSegment<'_, T>| {
            let [[steps, halted, lost, _], [scale, clean, skipped, in_a_row], own @ ..] =
                &found[segment.run * stride..][..stride]
            else {
                return Trained::default();
            };
            let sum = |part: usize| own.iter().map(|sums| f64::from(f32::from_bits(sums[part]))).sum::<f64>();
            let (scale, clean, skipped, in_a_row) = (f32::from_bits(*scale), *clean, *skipped, *in_a_row);
            Trained {
                steps: steps.wrapping_sub(self.counted[segment.run]).into(),
                diverged: *halted != 0,
                loss: sum(0) + sum(1),
                correct: own.iter().map(|sums| u64::from(sums[2])).sum(),
                lost: u64::from(*lost),
                scaler: Scaler { scale, clean, skipped, in_a_row },
            }
        };
        let trained: Vec<Trained> = segments.iter().map(of_segment).collect();
        for segment in segments {
            self.counted[segment.run] = found[segment.run * stride][0];
        }
        Ok(trained)
    }

    /// Records `steps` steps of all segments, from step number `begun` of each on.
    fn dispatch<T: Real>(
        &mut self,
        segments: &[DeviceSegment<'_, T>],
        rate: &dyn Fn(usize, u64) -> f64,
        begun: u64,
        steps: u32,
    ) -> Result<()> {
        let mut words = self.steps.tables.clone();
        // Runs whose updates have the same numbers share them.
        let mut known: HashMap<Vec<u64>, (u32, u32, [u32; 2])> = HashMap::new();
        let scales = self.program.mixed.scales();
        let mut records: Vec<(u32, Vec<u32>)> = Vec::new();
        let batches = u64::from(self.steps.params.batches);
        for (place, segment) in segments.iter().enumerate() {
            let own = u64::from(steps).min(segment.steps.saturating_sub(begun));
            let position = segment.batch as u64 + begun;
            let epoch = segment.epoch + position / batches;
            let first = segment.replica.steps + begun;
            let (update, rates, corrections) =
                *known.entry(alike(segment, rate(place, epoch), begun)).or_insert_with(|| {
                    let (at, mut kind) = (to_u32(words.len()), 0);
                    for step in 0..own {
                        let rate = rate(place, segment.epoch + (position + step) / batches);
                        let (optimizer, made) = (self.program.optimizer, first + step);
                        let update = Update::<f32>::new(optimizer, &segment.replica.hyper, rate, [made; 2]);
                        let (number, mut numbers) = of_update(update);
                        if scales && matches!(optimizer, Optimizer::Adam | Optimizer::AdamW) {
                            numbers[0] = narrow(rate);
                        }
                        kind = number;
                        words.extend(numbers.map(f32::to_bits));
                    }
                    let corrections = if scales { self.corrections(&mut words, segment, begun, own) } else { [0; 2] };
                    (kind, at, corrections)
                });
            let record = Record {
                run: to_u32(segment.run),
                epoch,
                batch: to_u32(usize::try_from(position % batches).unwrap_or(0)),
                steps: to_u32(usize::try_from(own).unwrap_or(0)),
                list: self.data.places[segment.run].parts[0].0,
                scaling: self.data.places[segment.run].scaling,
                rates,
                update,
                shuffled: segment.shuffled,
                corrections,
            };
            records.push((record.steps, record.words(&self.program, segment.replica, first)));
        }
        // The first ones are then those that make a given step.
        records.sort_by_key(|(steps, _)| std::cmp::Reverse(*steps));
        let records_at = to_u32(words.len());
        words.extend(records.iter().flat_map(|(_, words)| words));
        let gpu = Arc::clone(&self.gpu);
        let mut rec = gpu.record();
        let plan = rec.upload(&words)?;
        if self.steps.form.is_layered() {
            let counts: Vec<u32> = records.iter().map(|(steps, _)| *steps).collect();
            let clips = segments.iter().any(|segment| segment.replica.hyper.clip.is_finite());
            self.layered_steps(&mut rec, &plan, records_at, &counts, clips)?;
            return rec.flush();
        }
        let work = f64::from(steps) * self.operations();
        for range in rec.ranges(to_u32(segments.len()), work) {
            let params = Params { first: range.first, records_at, ..self.steps.params };
            let Uploaded { lists, x, targets, .. } = &self.data;
            let (plan, weights, moments, found) = (&plan, &mut self.weights, &mut self.moved, &mut self.found);
            let form = &self.steps.form;
            if form.mixed == MixedPrecision::Off {
                let scratch = &mut self.scratch;
                let kernel = Step { params, plan, lists, x, targets, weights, moments, scratch, found };
                rec.dispatch(&kernel, &variant(form), range.grid(), range.flops)?;
            } else {
                let scratch = &mut self.scratch.cast_mut();
                let kernel = MixedStep { params, plan, lists, x, targets, weights, moments, scratch, found };
                rec.dispatch(&kernel, &mixed_variant(form), range.grid(), range.flops)?;
            }
        }
        rec.flush()
    }

    /// Appends what follows the number of steps that changed the parameters, for a dispatch of `own` steps, the first
    /// of which is step `begun` of a segment. Returns where it is, and the place of the first step as the record has
    /// it. Steps of the segment that the device has skipped in the meantime bring earlier places back.
    fn corrections<T>(&self, words: &mut Vec<u32>, segment: &DeviceSegment<'_, T>, begun: u64, own: u64) -> [u32; 2] {
        let at = to_u32(words.len());
        let skipped = segment.replica.scaler.skipped;
        let first = segment.replica.steps + begun - u64::from(skipped);
        // Every skipped step halves the scale, which was at most 2^126 and has doubled at most this often.
        let before = first.min(128 + (begun + own) / u64::from(GROWTH));
        for applied in first - before..first + own {
            let both = tables::correction(self.program.optimizer, &segment.replica.hyper, applied);
            words.extend(both.map(f32::to_bits));
        }
        [at, to_u32(usize::try_from(before).unwrap_or(0)).wrapping_add(skipped)]
    }

    /// Returns an estimate of the operations of one step of one run, with a weight of 10, because a workgroup rarely
    /// reaches more than a tenth of its share of the rate of products.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn operations(&self) -> f64 {
        10.0 * 6.0 * self.layout.parameters as f64 * (self.program.batch as f64 + 8.0)
    }

    /// Computes the outputs of runs for the samples of a part, in the order of the part. `each` is called with the
    /// place in `runs` and all outputs of the run; each sample has a row of [`DeviceRuns::width`] numbers.
    ///
    /// # Errors
    /// Device errors.
    pub(crate) fn outputs(&mut self, runs: &[usize], part: usize, mut each: impl FnMut(usize, &[f32])) -> Result<()> {
        let samples = runs.iter().map(|&run| self.data.places[run].parts[part].1).max().unwrap_or(0);
        let of_run = samples as usize * self.width();
        if of_run == 0 {
            return Ok(());
        }
        let together = (READ / (4 * of_run)).clamp(1, runs.len().max(1));
        let mut place = 0;
        let mut take = |read: Read<[f32; 4]>| {
            let outputs = read.wait()?;
            for own in bytemuck::cast_slice::<[f32; 4], f32>(&outputs).chunks_exact(of_run) {
                each(place, own);
                place += 1;
            }
            Ok(())
        };
        // The outputs of the next runs are computed while those of the last ones are read.
        let mut waiting = None;
        for some in runs.chunks(together) {
            let outputs = self.record_outputs(some, part, samples)?;
            let next = self.gpu.read(&outputs)?;
            if let Some(read) = waiting.replace(next) {
                take(read)?;
            }
        }
        waiting.map_or(Ok(()), take)
    }

    fn record_outputs(&mut self, runs: &[usize], part: usize, samples: u32) -> Result<Buffer<[f32; 4]>> {
        let mut words = self.outputs.tables.clone();
        let records_at = to_u32(words.len());
        for &run in runs {
            let Place { parts, scaling } = self.data.places[run];
            let mut record = vec![0; RECORD_WORDS];
            (record[RUN], record[LIST], record[SCALING]) = (to_u32(run), parts[part].0, scaling.unwrap_or(NONE));
            words.append(&mut record);
        }
        let gpu = Arc::clone(&self.gpu);
        let mut rec = gpu.record();
        let plan = rec.upload(&words)?;
        let mut outputs = rec.array(runs.len() * samples as usize * self.width() / 4)?;
        if self.outputs.form.is_layered() {
            let params = Params { records_at, samples, ..self.outputs.params };
            self.layered_outputs(&mut rec, &plan, params, to_u32(runs.len()), &mut outputs)?;
            return Ok(outputs);
        }
        let chunks = samples.div_ceil(self.outputs.params.batch);
        let own = self.outputs.params.scratch;
        let bytes = 16 * own as usize;
        let most = to_u32((ROOM / bytes.max(1)).clamp(1, 65_535));
        let mut scratch = rec.array(own as usize * most.min(chunks * to_u32(runs.len())) as usize)?;
        for range in rec.ranges_of(most, chunks * to_u32(runs.len()), self.operations() / 3.0) {
            let params = Params { first: range.first, records_at, samples, ..self.outputs.params };
            let kernel = Outputs {
                params,
                plan: &plan,
                lists: &self.data.lists,
                x: &self.data.x,
                weights: &self.weights,
                scratch: &mut scratch,
                outputs: &mut outputs,
            };
            rec.dispatch(&kernel, &variant(&self.outputs.form), range.grid(), range.flops)?;
        }
        Ok(outputs)
    }

    /// Returns the numbers of a sample in [`DeviceRuns::outputs`]: the outputs, padded to a multiple of four.
    pub(crate) fn width(&self) -> usize {
        self.program.net.outputs().next_multiple_of(4)
    }

    /// Copies the numbers of the given runs from the device.
    ///
    /// # Errors
    /// Device errors.
    pub(crate) fn fetch<T: Real>(&self, runs: &mut [(usize, &mut Replica<T>)]) -> Result<()> {
        let (weights, moved) = (self.gpu.read(&self.weights)?, self.gpu.read(&self.moved)?);
        let (weights, moved): (Vec<[f32; 4]>, Vec<[f32; 4]>) = (weights.wait()?, moved.wait()?);
        let (weights, moved) = (bytemuck::cast_slice(&weights), bytemuck::cast_slice(&moved));
        let Parameters { quads, stride, .. } = self.parameters;
        let (quads, stride) = (4 * quads as usize, 4 * stride as usize);
        for (run, replica) in runs {
            let (run, numbers) = (*run, &mut replica.moved);
            let own: &[f32] = &weights[run * stride..][..stride];
            self.parameters.unpack(own, &mut numbers.weights);
            self.parameters.unpack_running(own, &mut numbers.running);
            for (place, vector) in [&mut numbers.first, &mut numbers.second].into_iter().enumerate() {
                if !vector.is_empty() {
                    let at = (run * self.steps.params.moments as usize + place) * quads;
                    self.parameters.unpack(&moved[at..][..quads], vector);
                }
            }
        }
        Ok(())
    }
}

/// Returns a key that is equal for segments whose updates have the same numbers from step `begun` on, if the runs'
/// learning rates follow one schedule. `rate` is the learning rate of the first of these steps.
fn alike<T>(segment: &DeviceSegment<'_, T>, rate: f64, begun: u64) -> Vec<u64> {
    let hyper = &segment.replica.hyper;
    let values = Hyper::names().map(|name| hyper.get(name).unwrap_or(f64::NAN).to_bits());
    let skipped = u64::from(segment.replica.scaler.skipped);
    let left = segment.steps.saturating_sub(begun);
    let place = [rate.to_bits(), segment.replica.steps, skipped, segment.epoch, segment.batch as u64, left];
    place.into_iter().chain(values).collect()
}
