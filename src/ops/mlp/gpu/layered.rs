//! Training a layer at a time: a step is about five dispatches for every layer, each for all runs. Their workgroups
//! compute tiles of 64 x 64 elements of the products, so a wide network has work for all processors, however few runs
//! there are. Tiles and the order of sums follow the shape of one run.
//!
//! A step gathers the samples; computes the products of all layers, each with what follows, and the normalizations; the
//! losses and their derivatives; the products and normalizations backward; the gradients, each with the optimizer, or,
//! of runs that are clipped, with its length first.

use super::super::Program;
use super::super::kernels::Params;
use super::super::layered_kernels::{
    Backward, Clip, Denormalize, Forward, Gather, Gradient, Length, Losses, Normalize, Normals, PIECE, Rest,
    SUMS_TOGETHER, TILE, Take, WIDTH, variant, whether,
};
use super::super::layout::{Layout, Placed};
use super::super::spec::Norm;
use super::DeviceRuns;
use super::form::walks;
use super::upload::Uploaded;
use crate::device::{Buffer, Recorder};
use crate::error::Result;
use crate::shape::to_u32;

/// The operations that an element costs beside the products, in operations of a product: loads, dropout, activations.
const ELEMENT: f64 = 100.0;

/// Records the dispatches of a kernel for a number of workgroups.
macro_rules! record {
    ($rec:ident, $params:expr, $units:expr, $work:expr, $overrides:expr, $kernel:ident { $($fields:tt)* }) => {
        let overrides = variant($overrides);
        for range in $rec.ranges($units, $work) {
            let params = Params { first: range.first, ..$params };
            $rec.dispatch(&$kernel { params, $($fields)* }, &overrides, range.grid(), range.flops)?;
        }
    };
}

/// Returns the number of tiles of a result.
fn tiles(rows: usize, cols: usize) -> u32 {
    to_u32(rows).div_ceil(TILE) * to_u32(cols).div_ceil(TILE)
}

/// Returns the operations of a tile.
fn of_tile(terms: usize) -> f64 {
    let elements = f64::from(TILE * TILE);
    elements * (2.0 * f64::from(to_u32(terms)) + ELEMENT)
}

/// Returns the number of workgroups for a number of sums, and the operations of a workgroup if a sum has `terms` terms.
fn strands(sums: usize, terms: usize) -> (u32, f64) {
    (to_u32(sums).div_ceil(SUMS_TOGETHER), ELEMENT * 4.0 * f64::from(SUMS_TOGETHER) * f64::from(to_u32(terms)))
}

fn quads(len: usize) -> usize {
    len.div_ceil(4)
}

impl DeviceRuns {
    /// Records the steps of runs. `counts` has the number of steps of each, in descending order. `clips`: whether any
    /// run is clipped.
    pub(super) fn layered_steps(
        &mut self,
        rec: &mut Recorder<'_>,
        plan: &Buffer<u32>,
        records_at: u32,
        counts: &[u32],
        clips: bool,
    ) -> Result<()> {
        for turn in 0..counts.first().copied().unwrap_or(0) {
            let runs = to_u32(counts.iter().take_while(|&&count| count > turn).count());
            let params = Params { records_at, turn, ..self.steps.params };
            self.forward(rec, plan, params, runs, true)?;
            let Self { data: Uploaded { targets, .. }, scratch, found, .. } = self;
            let work = ELEMENT * f64::from(params.batch) * f64::from(to_u32(self.program.net.outputs()));
            record!(rec, params, runs, work, &[], Losses { plan, targets, scratch, found });
            self.backward(rec, plan, params, runs)?;
            self.update(rec, plan, params, runs, clips)?;
        }
        Ok(())
    }

    /// Records the outputs of runs for the samples of `params`.
    pub(super) fn layered_outputs(
        &mut self,
        rec: &mut Recorder<'_>,
        plan: &Buffer<u32>,
        params: Params,
        runs: u32,
        outputs: &mut Buffer<[f32; 4]>,
    ) -> Result<()> {
        let batches = params.samples.div_ceil(params.batch);
        for turn in 0..batches {
            let params = Params { batches, turn, ..params };
            self.forward(rec, plan, params, runs, false)?;
            let units = (params.batch * to_u32(quads(self.program.net.outputs()))).div_ceil(WIDTH);
            let scratch = &mut self.scratch;
            record!(rec, params, runs * units, ELEMENT * f64::from(WIDTH), &[], Take { plan, scratch, outputs });
        }
        Ok(())
    }

    fn forward(
        &mut self,
        rec: &mut Recorder<'_>,
        plan: &Buffer<u32>,
        params: Params,
        runs: u32,
        trains: bool,
    ) -> Result<()> {
        let Self { layout, data: Uploaded { lists, x, .. }, weights, scratch, program, .. } = self;
        let batch = program.batch;
        let work = ELEMENT * 4.0 * f64::from(to_u32(program.net.inputs()));
        record!(rec, params, runs * to_u32(quads(batch)), work, &[], Gather { plan, lists, x, scratch });
        for (l, placed) in layout.layers.iter().enumerate() {
            let Placed { layer, inputs, by_output, .. } = *placed;
            let params = Params { part: to_u32(l), ..params };
            let own = [whether("TRAINING", trains), whether("RIGHT_ALONG", by_output)];
            let units = runs * tiles(batch, layer.outputs);
            record!(rec, params, units, of_tile(inputs), &own, Forward { plan, weights, scratch });
            let (samples, (units, work)) = match layer.norm {
                Norm::Batch if trains => (true, strands(quads(layer.outputs), batch)),
                Norm::Layer => (false, strands(batch, quads(layer.outputs))),
                _ => continue,
            };
            let own = [whether("TRAINING", trains), whether("OVER_SAMPLES", samples)];
            record!(rec, params, runs * units, work, &own, Normalize { plan, weights, scratch });
        }
        Ok(())
    }

    fn backward(&mut self, rec: &mut Recorder<'_>, plan: &Buffer<u32>, params: Params, runs: u32) -> Result<()> {
        let Self { layout, weights, scratch, program, .. } = self;
        let batch = program.batch;
        for (l, pair) in layout.layers.windows(2).enumerate().rev() {
            let [below, above] = [pair[0], pair[1]];
            let outputs = below.layer.outputs;
            let own = [whether("RIGHT_ALONG", !above.by_output)];
            let units = runs * tiles(batch, outputs);
            let of_above = Params { part: to_u32(l + 1), ..params };
            record!(rec, of_above, units, of_tile(above.layer.outputs), &own, Backward { plan, weights, scratch });
            let params = Params { part: to_u32(l), ..params };
            if below.layer.norm != Norm::None {
                let (units, work) = strands(quads(outputs), batch);
                let own = [whether("OVER_SAMPLES", true)];
                record!(rec, params, runs * units, work, &own, Denormalize { plan, weights, scratch });
            }
            if below.layer.norm == Norm::Layer {
                let (units, work) = strands(batch, quads(outputs));
                let own = [whether("OVER_SAMPLES", false)];
                record!(rec, params, runs * units, work, &own, Denormalize { plan, weights, scratch });
            }
        }
        Ok(())
    }

    fn update(
        &mut self,
        rec: &mut Recorder<'_>,
        plan: &Buffer<u32>,
        params: Params,
        runs: u32,
        clips: bool,
    ) -> Result<()> {
        let Self { layout, parameters, weights, moved: moments, scratch, found, program, .. } = self;
        let batch = program.batch;
        if program.optimizer.is_sampler() {
            let units = params.noise.div_ceil(WIDTH);
            record!(rec, params, runs * units, ELEMENT * f64::from(8 * WIDTH), &[], Normals { plan, scratch });
        }
        for (place, block) in layout.blocks.iter().enumerate() {
            if layout.layers.iter().any(|placed| placed.weights.at == block.at) {
                let params = Params { part: to_u32(place), ..params };
                let own = [whether("LEFT_ALONG", false)];
                let units = runs * tiles(block.rows, block.cols);
                let kernel = of_tile(batch);
                record!(rec, params, units, kernel, &own, Gradient { plan, weights, moments, scratch, found });
            }
        }
        let widest = layout.layers.iter().map(|placed| placed.layer.outputs).max().unwrap_or(0);
        let (most, work) = strands(quads(widest), batch);
        let units = runs * (params.blocks + params.layers) * most;
        let of_rest = Params { part: most, ..params };
        record!(rec, of_rest, units, work, &[], Rest { plan, weights, moments, scratch, found });
        if clips {
            let units = runs * parameters.quads.div_ceil(PIECE);
            let work = ELEMENT * f64::from(PIECE);
            record!(rec, params, units, work, &[], Length { plan, scratch });
            record!(rec, params, units, work, &[], Clip { plan, weights, moments, scratch, found });
        }
        Ok(())
    }
}

/// Returns a bound on the loop iterations of one invocation of any of the kernels.
pub(super) fn iterations(program: &Program, layout: &Layout, samples: usize) -> u64 {
    let batch = program.batch as u64;
    let outputs = program.net.outputs() as u64;
    let widest = layout.layers.iter().map(|placed| placed.inputs.max(placed.layer.outputs)).max().unwrap_or(0) as u64;
    let gather = 4 * (1 + 8 * walks(samples)) + 10 + (program.net.inputs() as u64).div_ceil(256) + 1;
    let tile = 5 * widest.max(batch).div_ceil(16) + 44;
    let normalize = 64 + 13 * batch.max(widest.div_ceil(4)).div_ceil(32);
    let losses = batch.div_ceil(256) * 7 * outputs + batch;
    let pieces = (layout.len as u64).div_ceil(4 * u64::from(PIECE));
    let clip = 16 * (layout.blocks.len() as u64 + 21) + pieces.div_ceil(256) + 256;
    [gather, tile, normalize, losses, clip].into_iter().max().unwrap_or(0)
}
