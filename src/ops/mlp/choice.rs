//! What a training costs, for the policy that chooses where it runs.

use super::cpu::{most_threads, update_threads};
use super::spec::Norm;
use super::{DeviceRuns, Held, Optimizer, Program};
use crate::array::Scalar;
use crate::context::Context;
use crate::device::Gpu;
use crate::forms::MlpForm;
use crate::ops::operation::{Call, Operation as _, Precision};
use crate::policy::{Choice, Family, Workload};

/// The time of one operation of a product, relative to an operation of the decompositions on which the policy's default
/// rates are measured. This and the other weights were fitted to the steps of four networks on two threads of an AMD
/// EPYC (`benches/results/2026-11-25-train-cpu.md`), which they reproduce within a factor of 1.5.
const PRODUCT: f64 = 1.0 / 3.0;
/// The operations of an element of a layer's outputs, forward and backward.
const ELEMENT: f64 = 10.0;
/// The operations of a step of any size.
const STEP: f64 = 36e3;
/// The share of a step that the evaluation of as many samples takes: one product of three.
const FORWARD: f64 = 1.0 / 3.0;

/// The operations of an update of one parameter on the CPU and on a device, with the random numbers of samplers. Those
/// of Adam include a penalty and the length of the gradient. A device has more arithmetic for each parameter that it
/// loads.
fn of_parameter(optimizer: Optimizer) -> [f64; 2] {
    match optimizer {
        Optimizer::Sgd { .. } => [3.0, 3.0],
        Optimizer::Adam | Optimizer::AdamW => [32.0, 10.0],
        Optimizer::Sgld | Optimizer::Psgld => [54.0, 20.0],
    }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn as_f64(count: usize) -> f64 {
    count as f64
}

impl Program {
    /// Returns the number of floating-point operations of the products of one step: forward, the gradient of the
    /// weights, and the gradient of the inputs of every layer but the first.
    pub(super) fn products(&self) -> f64 {
        let each = self.net.with_inputs().map(|(inputs, layer)| as_f64(inputs) * as_f64(layer.outputs));
        let first = self.net.layers().first().map_or(0.0, |layer| as_f64(self.net.inputs()) * as_f64(layer.outputs));
        2.0 * as_f64(self.batch) * (3.0 * each.sum::<f64>() - first)
    }

    /// Returns the number of elements of all layers' outputs in one step. A normalization counts as another layer.
    fn elements(&self) -> f64 {
        let of = |layer: &super::Layer| layer.outputs * if layer.norm == Norm::None { 1 } else { 2 };
        as_f64(self.batch) * as_f64(self.net.layers().iter().map(of).sum())
    }

    /// Returns the operations of one step of one run on the CPU, which is the size of a training for the policy. It
    /// depends neither on the number of runs nor on their hyperparameters.
    pub(crate) fn size(&self) -> f64 {
        let [update, _] = of_parameter(self.optimizer);
        PRODUCT * self.products() + ELEMENT * self.elements() + STEP + update * as_f64(self.net.parameters())
    }

    /// Returns the operations of one step of one run on the CPU, as [`Program::size`] counts them, that `team` threads
    /// together save each of them.
    fn saved_by(&self, team: usize) -> f64 {
        let shared = |operations: f64, threads: usize| operations * (1.0 - 1.0 / as_f64(threads));
        let of_layer = |(number, (inputs, layer)): (usize, (usize, &super::Layer))| {
            let terms = self.batch * inputs * layer.outputs;
            let products = if number == 0 { 2.0 } else { 3.0 };
            shared(2.0 * products * PRODUCT * as_f64(terms), most_threads(terms).min(team))
        };
        let [update, _] = of_parameter(self.optimizer);
        let parameters = self.net.parameters();
        let updates = shared(update * as_f64(parameters), update_threads(parameters).min(team));
        self.net.with_inputs().enumerate().map(of_layer).sum::<f64>() + updates
    }

    /// Returns the dispatches of a step in the form that computes a layer at a time: three products for each layer but
    /// the first, which has two, and two normalizations; the gathering, the losses, and the other gradients.
    fn dispatches_of_step(&self) -> usize {
        let of = |layer: &super::Layer| if layer.norm == Norm::None { 3 } else { 5 };
        self.net.layers().iter().map(of).sum::<usize>() + 2
    }

    /// Returns the operations of one step of one run on a device.
    fn size_on_device(&self) -> f64 {
        let [_, update] = of_parameter(self.optimizer);
        self.products() + ELEMENT * self.elements() + update * as_f64(self.net.parameters())
    }
}

/// The extent of a training.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    /// The number of runs.
    pub(crate) runs: usize,
    /// The number of samples.
    pub(crate) samples: usize,
    /// The samples that a device has at a time, and how often it receives the data set.
    pub(crate) held: Held,
    pub(crate) passes: f64,
    /// The number of steps of a run.
    pub(crate) steps: f64,
    /// The number of samples of a run that are evaluated at the ends of epochs.
    pub(crate) scored: f64,
    /// The number of epochs at whose ends the host has something to do.
    pub(crate) waits: f64,
}

impl Course {
    /// Returns where the training would run, and why. If it stops early, it takes less time on either side.
    pub(crate) fn choose<T: Scalar>(&self, ctx: &Context, program: &Program) -> Choice {
        let moments = program.optimizer.most_moments();
        let capacity = |gpu: &Gpu, budget| DeviceRuns::capacity(gpu, program, self.held, moments, budget);
        let gpu = ctx.gpu().ok().filter(|_| T::ON_DEVICE);
        let together = gpu.and_then(|gpu| capacity(gpu, ctx.device_budget()).ok()).map(|capacity| capacity.runs);
        let form = gpu.filter(|_| together.is_some()).map_or("", |gpu| DeviceRuns::form(gpu, program));
        let waves = self.runs.div_ceil(together.unwrap_or(usize::MAX).max(1));
        let team = ctx.threads().div_ceil(self.runs.max(1));
        let workload = self.workload(program, form, (waves, team), moments);
        let fits = |gpu: &Gpu, budget| capacity(gpu, budget).is_ok();
        Call { name: "train", precision: Precision::of::<T>(), workload, empty: false, fits, waits: true }.choose(ctx)
    }

    /// Describes the training to the cost model. An evaluation counts as a share of a step. The CPU scores the results
    /// of all runs at the end, wherever they were trained. Where there are fewer runs than threads, `team` of them work
    /// on a run, which counts as fewer operations.
    fn workload(
        &self,
        program: &Program,
        form: &'static str,
        (waves, team): (usize, usize),
        moments: usize,
    ) -> Workload {
        let (runs, batch, samples) = (as_f64(self.runs), as_f64(program.batch), as_f64(self.samples));
        let parameters = as_f64(program.net.parameters());
        let steps = self.steps + FORWARD * self.scored / batch;
        let kept = runs * program.size() * FORWARD * samples / batch;
        let rounds = self.waits * as_f64(waves);
        let is_layered = form == MlpForm::Layered.name();
        let of_steps = if is_layered { self.steps * as_f64(waves * program.dispatches_of_step()) } else { 0.0 };
        let numbers = 4.0 * parameters * as_f64(1 + moments) * runs;
        let outputs = 4.0 * as_f64(program.net.outputs().next_multiple_of(4)) * self.scored * runs;
        Workload {
            family: Family::Train,
            size: program.size(),
            items: runs,
            cpu_flops: runs * (program.size() * steps - program.saved_by(team) * self.steps) + kept,
            gpu_flops: runs * program.size_on_device() * steps,
            kept_flops: kept,
            dispatches: rounds + of_steps,
            waits: (rounds - 1.0).max(0.0),
            algorithms: ["", form],
            ..Workload::default()
        }
        .transferring(
            false,
            self.passes * 4.0 * samples * as_f64(program.net.inputs() + 1) + numbers,
            numbers + outputs,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Activation, Loss, MixedPrecision, Mlp};
    use super::{Course, Held, Optimizer, Program};
    use crate::policy::CpuRates;

    fn all(samples: usize) -> Held {
        Held { samples, trained_on: samples, groups: 1 }
    }

    fn program(sizes: &[usize], batch: usize, optimizer: Optimizer) -> Program {
        let [inputs, hidden @ .., outputs] = sizes else { panic!("no network") };
        let net = hidden.iter().fold(Mlp::builder(*inputs), |net, &width| net.layer(width, Activation::Relu));
        Program {
            net: net.output(*outputs).unwrap(),
            loss: Loss::CROSS_ENTROPY,
            optimizer,
            batch,
            mixed: MixedPrecision::Off,
        }
    }

    /// The weights are said to be right within this factor. The measured times are microseconds a step of one run: of 1
    /// run on one thread, and of 10 and 100 runs on two threads.
    #[test]
    fn default_rates_are_near_measured_times() {
        let rates = CpuRates::default_of(2);
        for (sizes, batch, optimizer, measured) in [
            (&[4, 100, 1][..], 10, Optimizer::Sgld, [2.98, 1.86, 2.37]),
            (&[100, 30, 20, 3], 8, Optimizer::Adam, [8.09, 5.83, 5.17]),
            (&[64, 32, 10], 32, Optimizer::Sgd { nesterov: false }, [11.6, 4.23, 3.99]),
            (&[784, 50, 1], 50, Optimizer::Sgld, [227.0, 110.0, 112.0]),
        ] {
            let program = program(sizes, batch, optimizer);
            for (runs, measured) in [1, 10, 100].into_iter().zip(measured) {
                let course =
                    Course { runs, samples: batch, held: all(batch), passes: 1.0, steps: 1e6, scored: 0.0, waits: 1.0 };
                let found = rates.seconds(&course.workload(&program, "", (1, 1), 0)) / runs as f64;
                let factor = (found / measured).max(measured / found);
                assert!(factor < 1.5, "{}, {runs} runs: {found} us, measured {measured}", program.net);
            }
        }
    }

    /// Only the form that computes a layer at a time has dispatches for every step.
    #[test]
    fn layers_are_dispatched_one_by_one() {
        let program = program(&[1_792, 512, 512, 512, 10], 256, Optimizer::Adam);
        let course =
            Course { runs: 10, samples: 256, held: all(256), passes: 1.0, steps: 100.0, scored: 0.0, waits: 2.0 };
        let dispatches = |form| course.workload(&program, form, (1, 1), 2).dispatches;
        // Gather; four products; losses; three products backward; four gradients; the other gradients.
        assert_eq!([dispatches("stored"), dispatches("layered")].map(|count| count as u64), [2, 2 + 100 * 14]);
    }

    /// Two threads train one wide run in little more than half the time, and a narrow one in the same time as one
    /// thread does.
    #[test]
    fn threads_share_a_wide_run() {
        let course = Course { runs: 1, samples: 256, held: all(256), passes: 1.0, steps: 1e6, scored: 0.0, waits: 1.0 };
        let share = |sizes: &[usize], batch| {
            let program = program(sizes, batch, Optimizer::Adam);
            let seconds = |team| CpuRates::default_of(2).seconds(&course.workload(&program, "", (1, team), 0));
            seconds(2) / seconds(1)
        };
        let wide = share(&[1_792, 512, 512, 512, 10], 256);
        assert!(wide > 0.5 && wide < 0.55, "{wide}");
        assert_eq!(share(&[100, 30, 20, 3], 8), 1.0);
    }

    /// Twice as many steps take twice as long, and so do twice as many runs of more runs than threads.
    #[test]
    fn steps_and_runs_multiply() {
        let program = program(&[100, 30, 20, 3], 8, Optimizer::Adam);
        let seconds = |runs, steps| {
            let course = Course { runs, samples: 8, held: all(8), passes: 1.0, steps, scored: 0.0, waits: 1.0 };
            CpuRates::default_of(2).seconds(&course.workload(&program, "", (1, 1), 0))
        };
        for (more, less) in [(seconds(10, 2e6), seconds(10, 1e6)), (seconds(20, 1e6), seconds(10, 1e6))] {
            assert!((more / less - 2.0).abs() < 1e-5, "{more} {less}");
        }
    }
}
