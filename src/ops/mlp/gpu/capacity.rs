//! The device that trains, and how many runs it can train at the same time.

use super::super::kernels::RECORD_WORDS;
use super::super::layered_kernels::PIECE;
use super::super::layout::Layout;
use super::super::{MixedPrecision, Program};
use super::DeviceRuns;
use super::form::{Form, Parameters, Rows, iterations, most_quads};
use crate::array::Scalar;
use crate::context::Context;
use crate::device::Gpu;
use crate::error::{DEVICE_BYTES, Result, within_limits};
use crate::ops::operation::Precision;
use crate::policy::Side;
use crate::shape::to_u32;
use std::sync::Arc;

/// What a device can train at the same time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capacity {
    /// The number of runs.
    pub(crate) runs: usize,
    /// The bytes of the data set, or of the groups of it.
    pub(crate) data: u64,
    /// The bytes of one run.
    pub(crate) of_run: u64,
}

/// The samples that a device has at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// The number of samples of a group, and the number of those that a run is trained on.
    pub(crate) samples: usize,
    pub(crate) trained_on: usize,
    /// The number of groups: 2 if the next one is uploaded while one trains.
    pub(crate) groups: u64,
}

/// The form and the sizes of the runs on a device.
pub(super) struct Sizes {
    pub(super) form: Form,
    pub(super) layout: Layout,
    pub(super) parameters: Parameters,
    pub(super) rows: Rows,
    pub(super) moments: u32,
    pub(super) noise: u32,
    pub(super) scratch: u32,
    /// Where gradients, and the squares of the lengths of their pieces, are in the scratch memory of a run.
    pub(super) gradients_at: u32,
    pub(super) lengths_at: u32,
}

impl Sizes {
    pub(super) fn new(gpu: &Gpu, program: &Program, moments: usize) -> Self {
        let form = Form::of(gpu.adapter(), program);
        let layout = Layout::new(&program.net);
        let parameters = Parameters::new(&layout);
        let rows = Rows::new(program, &layout, &parameters, &form);
        let sampler = program.optimizer.is_sampler();
        // Groups of 64 numbers, of which an invocation makes 8.
        let noise = if sampler { 8 * to_u32(layout.parameters.div_ceil(64)) } else { 0 };
        let gradients_at = rows.stored + 2 * noise;
        let [mut lengths_at, mut scratch] = [gradients_at; 2];
        if form.is_layered() {
            lengths_at += parameters.quads;
            scratch = lengths_at + parameters.quads.div_ceil(PIECE);
        }
        let moments = to_u32(moments);
        Self { form, layout, parameters, rows, moments, noise, scratch, gradients_at, lengths_at }
    }

    /// Returns the bytes of a run in each buffer, in which its samples have a list and a scaling of their own.
    fn of_run(&self, samples: usize, inputs: usize) -> [u64; 6] {
        let Self { parameters, moments, scratch, form, .. } = self;
        let (list, scaling) = (to_u32(samples.div_ceil(4)), 2 * to_u32(inputs.div_ceil(4)));
        [parameters.stride, moments * parameters.quads, *scratch, form.width + 2, list, scaling]
            .map(|quads| 16 * u64::from(quads))
    }
}

impl DeviceRuns {
    /// Returns the device, if it is the side that was chosen.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NoAdapter`] if there is none; [`crate::ErrorKind::Domain`] for f64.
    pub(crate) fn device<T: Scalar>(ctx: &Context, side: Side) -> Result<Option<&Arc<Gpu>>> {
        if side == Side::Cpu {
            return Ok(None);
        }
        let gpu = ctx.gpu()?;
        Precision::of::<T>().on_device("train")?;
        Ok(Some(gpu))
    }

    /// Returns the name of the form in which a device trains the runs of a program.
    pub(crate) fn form(gpu: &Gpu, program: &Program) -> &'static str {
        Form::of(gpu.adapter(), program).name()
    }

    /// Returns how many runs a device can train at the same time, with `budget` bytes of its memory. `moments` is the
    /// largest number of vectors that the optimizer keeps for a run.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Limit`] if it cannot train a single one.
    pub(crate) fn capacity(gpu: &Gpu, program: &Program, held: Held, moments: usize, budget: u64) -> Result<Capacity> {
        let Held { samples, trained_on, groups } = held;
        let adapter = gpu.adapter();
        let what = format_args!("training {} on {}", program.net, adapter.name);
        within_limits(what, [("vectors of one run", most_quads(program), (u32::MAX / 2).into())])?;
        let sizes = Sizes::new(gpu, program, moments);
        let inputs = program.net.inputs();
        let of_run = sizes.of_run(samples, inputs);
        let [.., list, scaling] = of_run;
        let data = 16 * (samples as u64) * inputs.div_ceil(4) as u64;
        let all_data = data * groups;
        // The lists and scalings of a run are those of a group.
        let each: u64 = of_run.iter().sum::<u64>() + (groups - 1) * (list + scaling);
        // The pool rounds sizes up, by a third on average.
        let allowed = budget / 4 * 3;
        let largest = of_run.into_iter().max().unwrap_or(0).max(1);
        // First, because no number of groups changes it. In f32, a wide network has the form of layers.
        let advice = match program.mixed {
            MixedPrecision::Off => "",
            _ => "; wide networks in mixed precision are trained on the CPU, or on the device in f32",
        };
        let steps = iterations(program, &sizes.form, trained_on);
        let of_step = [("loop iterations of one step", steps, u64::from(adapter.loop_budget / 2))];
        within_limits(format_args!("{what}{advice}"), of_step)?;
        let outputs = 4 * samples as u64 * program.net.outputs().next_multiple_of(4) as u64;
        let binding = adapter.limits.storage_binding;
        let limits = [
            ("bytes of the inputs of all samples", data + scaling, binding),
            ("bytes of the outputs of one run", outputs, binding),
            ("bytes of the numbers of one run", largest, binding),
            (DEVICE_BYTES, all_data + each, allowed),
        ];
        within_limits(what, limits)?;
        let fitting = (binding / largest).min((binding - data) / scaling).min((allowed - all_data) / each.max(1));
        let runs = usize::try_from(fitting.min(u64::from(u32::MAX) / RECORD_WORDS as u64)).unwrap_or(usize::MAX);
        Ok(Capacity { runs, data: all_data, of_run: each })
    }
}
