//! Every adapter and every form against the CPU in f64.

mod layered;
mod mixed;

use super::super::cpu::tests::gradients::{ACTIVATIONS, losses};
use super::super::cpu::tests::{hidden, output, program, samples};
use super::super::cpu::{Trains as _, Work};
use super::{DeviceRuns, DeviceSegment, Form, Parts, Trained, Uploaded};
use crate::array::Real;
use crate::device::trial::{on_each_adapter, options, sample};
use crate::device::{DeviceOptions, Gpu};
use crate::error::Result;
use crate::forms::{KernelForm, MlpForm};
use crate::ops::mlp::kernels::FAR_INPUTS;
use crate::ops::mlp::weights::Init;
use crate::ops::mlp::{
    Activation, Hyper, Loss, Norm, Number, Optimizer, Program, Replica, Samples, Segment, Tally, Targets, shuffled,
};
use std::ops::Range;
use std::sync::Arc;

const FORMS: [MlpForm; 4] = [MlpForm::Resident, MlpForm::Streamed, MlpForm::Stored, MlpForm::Layered];

fn forced(gpu: &Gpu, form: MlpForm) -> Arc<Gpu> {
    gpu.for_context(DeviceOptions { kernels: vec![KernelForm::Mlp(form)], ..options() })
}

/// Returns a run in f32, and the same run in f64.
fn both(program: &Program, seed: u64, hyper: Hyper) -> (Replica<f32>, Replica<f64>) {
    let narrow: Replica<f32> = Replica::new(program, Init::Xavier, seed, hyper);
    let mut wide: Replica<f64> = Replica::new(program, Init::Xavier, seed, hyper);
    wide.moved.weights = narrow.moved.weights.iter().map(|x| f64::from(*x)).collect();
    (narrow, wide)
}

impl DeviceRuns {
    /// Uploads a data set and runs, which have equally many samples and `batches` steps in an epoch.
    pub(super) fn new<T: Real>(
        gpu: &Arc<Gpu>,
        program: &Program,
        samples: &Samples<T>,
        runs: &[(&Replica<T>, &Parts)],
        batches: usize,
    ) -> Result<Self> {
        let members: Vec<_> = runs.iter().map(|(replica, parts)| (replica.scaling.as_ref(), *parts)).collect();
        let data = Uploaded::upload(gpu, samples, &members, batches)?;
        Self::of(gpu, program, data, &runs.iter().map(|(replica, _)| *replica).collect::<Vec<_>>())
    }
}

fn everything(samples: usize) -> Parts {
    Arc::new([(0..samples as u32).collect(), Vec::new(), Vec::new()])
}

/// Trains one run on a device, through the given steps of the first epochs.
fn trained(
    device_runs: &mut DeviceRuns,
    run: usize,
    replica: &mut Replica<f32>,
    steps: Range<u64>,
    batches: u64,
) -> Trained {
    let segment = DeviceSegment {
        run,
        replica,
        epoch: steps.start / batches,
        batch: (steps.start % batches) as usize,
        steps: steps.end - steps.start,
        shuffled: true,
    };
    let rate = segment.replica.hyper.learning_rate;
    let found = device_runs.train(&[segment], &|_, _| rate).expect("a trained run")[0];
    replica.steps += found.steps;
    found
}

/// Trains one run on the CPU in f64, epoch by epoch.
fn referee<T: Number>(
    program: &Program,
    samples: &Samples<T>,
    replica: &mut Replica<T>,
    steps: u64,
    batches: u64,
) -> Tally {
    let mut worker = T::worker(program);
    let rows: Vec<u32> = (0..samples.len() as u32).collect();
    let mut tally = Tally::default();
    let mut made = 0;
    while made < steps {
        let own = (steps - made).min(batches);
        let segment = Segment {
            rows: &rows,
            shuffled: true,
            epoch: made / batches,
            batches: 0..own as usize,
            rate: replica.hyper.learning_rate,
            loss: 0.0,
            traces: false,
        };
        tally = T::train(&mut worker, Work { program, samples, replica }, &segment);
        made += own;
    }
    tally
}

fn farthest(found: &[f32], wanted: &[f64]) -> f64 {
    assert_eq!(found.len(), wanted.len());
    found.iter().zip(wanted).fold(0.0, |most: f64, (a, b)| {
        let off = (f64::from(*a) - b).abs();
        if off > most || off.is_nan() { off } else { most }
    })
}

fn longest(wanted: &[f64]) -> f64 {
    wanted.iter().fold(0.0, |most, x| most.max(x.abs()))
}

/// Compares the gradient with its L1 term, and the loss, of one step with those of f64. Returns how far off they are,
/// as shares of the bounds. With momentum, the optimizer keeps the gradient of the first step as it is. The rule is
/// that of the CPU's f32, with twice the factor, because WGSL allows errors of 3 + 2 |x| ulp in exp and of 2.5 ulp in
/// divisions, where the CPU has at most 1.
fn check_gradient(gpu: &Arc<Gpu>, program: &Program) -> [f64; 2] {
    let batch = program.batch;
    let hyper = Hyper { momentum: 0.5, learning_rate: 0.125, l1: 0.01, ..program.optimizer.defaults() };
    let (mut narrow, mut wide) = both(program, 3, hyper);
    let (data, wide_data) = (samples::<f32>(program, batch, 5), samples::<f64>(program, batch, 5));
    let parts = everything(batch);
    let mut device_runs = DeviceRuns::new(gpu, program, &data, &[(&narrow, &parts)], 1).unwrap();
    let found = trained(&mut device_runs, 0, &mut narrow, 0..1, 1);
    device_runs.fetch(&mut [(0, &mut narrow)]).unwrap();
    let wanted = referee(program, &wide_data, &mut wide, 1, 1);
    let hidden: usize = program.net.layers().iter().rev().skip(1).map(|layer| layer.outputs).sum();
    let terms = ((program.net.inputs() + hidden + batch) as f64).sqrt();
    let rule = 16.0 * f64::from(f32::EPSILON) * terms;
    let off = farthest(&narrow.moved.first, &wide.moved.first) / (rule * longest(&wide.moved.first));
    let off_loss = (found.loss - wanted.loss).abs() / (rule * wanted.loss.abs().max(batch as f64));
    let form = device_runs.steps.form;
    assert!(off <= 1.0, "{form:?} {program:?}: gradient {off} of the bound");
    assert!(off_loss <= 1.0, "{form:?} {program:?}: loss {} and {}", found.loss, wanted.loss);
    assert_eq!((found.steps, found.correct), (1, wanted.correct), "{form:?} {program:?}");
    [off, off_loss]
}

const DESCENT: Optimizer = Optimizer::Sgd { nesterov: false };

#[test]
fn gradients_are_those_of_f64() {
    on_each_adapter(module_path!(), "gradients_are_those_of_f64", |gpu| {
        for form in FORMS {
            let gpu = forced(gpu, form);
            let mut worst = [0.0_f64; 2];
            let norms = [Norm::None, Norm::Batch, Norm::Layer];
            let activations = norms.into_iter().flat_map(|norm| ACTIVATIONS.map(|activation| (norm, activation)));
            let cases = activations.flat_map(|layer| losses().into_iter().map(move |(loss, k)| (layer, loss, k)));
            for ((norm, activation), loss, outputs) in sample(&gpu, cases) {
                let layers = vec![hidden(17, activation, norm, 0.2), hidden(6, activation, norm, 0.2), output(outputs)];
                let [off, off_loss] = check_gradient(&gpu, &program(21, layers, loss, DESCENT, 11));
                worst = [worst[0].max(off), worst[1].max(off_loss)];
            }
            eprintln!("  {form:?}: {worst:.3?} of the bounds");
        }
    });
}

/// Shapes at the edges: linear models, one of everything, many layers, many outputs, and inputs that exceed the
/// workgroup memory, so that they are in storage while the other rows are not.
#[test]
fn unusual_shapes_have_gradients_too() {
    on_each_adapter(module_path!(), "unusual_shapes_have_gradients_too", |gpu| {
        let relu = |outputs| hidden(outputs, Activation::Relu, Norm::None, 0.1);
        let many = |count: usize| std::iter::repeat_n(hidden(5, Activation::Tanh, Norm::None, 0.0), count);
        let shapes = [
            (1, vec![output(1)], 1),
            (9, vec![output(1)], 300),
            (1, vec![relu(1), output(1)], 5),
            (6, many(15).chain([output(2)]).collect(), 7),
            (5, vec![relu(40), output(150)], 3),
            (1_001, vec![relu(30), hidden(8, Activation::Gelu, Norm::Batch, 0.1), output(3)], 16),
        ];
        let cases = FORMS.into_iter().flat_map(|form| shapes.clone().map(|shape| (form, shape)));
        for (form, (inputs, layers, batch)) in sample(gpu, cases) {
            let gpu = forced(gpu, form);
            let program = program(inputs, layers, Loss::MeanSquares, DESCENT, batch);
            check_gradient(&gpu, &program);
            let chosen = Form::of(gpu.adapter(), &program);
            assert!(Form::all().contains(&chosen) || chosen.is_layered(), "{chosen:?} is not among the variants");
            let far = form == MlpForm::Streamed && inputs > 1_000;
            assert_eq!(chosen.rows == FAR_INPUTS, far, "{form:?} {program:?}: {chosen:?}");
        }
    });
}

const OPTIMIZERS: [Optimizer; 6] = [
    Optimizer::Sgd { nesterov: false },
    Optimizer::Sgd { nesterov: true },
    Optimizer::Adam,
    Optimizer::AdamW,
    Optimizer::Sgld,
    Optimizer::Psgld,
];

fn strict(optimizer: Optimizer) -> Hyper {
    let sampler = optimizer.is_sampler();
    let is_sgd = matches!(optimizer, Optimizer::Sgd { .. });
    Hyper {
        learning_rate: 1e-2,
        momentum: if is_sgd { 0.9 } else { 0.0 },
        weight_decay: if sampler { 0.0 } else { 1e-2 },
        prior_precision: if sampler { 0.5 } else { 0.0 },
        temperature: 1e-3,
        burn_in: 20.0,
        // Adam would turn the rounding errors of parameters without a gradient, such as biases in front of a batch
        // normalization, into steps.
        epsilon: 1e-1,
        clip: 0.7,
        ..optimizer.defaults()
    }
}

/// Three runs through 50 steps and four epochs, with an incomplete batch at the end of each. Every step adds rounding
/// errors of the size of those of one gradient to the parameters, which these steps neither amplify nor forget, so the
/// bound grows with the number of steps.
#[test]
fn steps_are_those_of_f64() {
    on_each_adapter(module_path!(), "steps_are_those_of_f64", |gpu| {
        let cases = FORMS.into_iter().flat_map(|form| OPTIMIZERS.map(|optimizer| (form, optimizer)));
        for (form, optimizer) in sample(gpu, cases) {
            let gpu = forced(gpu, form);
            let mut worst = 0.0_f64;
            let layers = vec![
                hidden(20, Activation::Tanh, Norm::Batch, 0.1),
                hidden(9, Activation::Gelu, Norm::Layer, 0.1),
                output(4),
            ];
            let program = program(10, layers, Loss::CROSS_ENTROPY, optimizer, 8);
            let (data, wide_data) = (samples::<f32>(&program, 101, 5), samples::<f64>(&program, 101, 5));
            let parts = everything(101);
            let mut runs: Vec<_> = (0..3).map(|seed| both(&program, seed, strict(optimizer))).collect();
            let narrow: Vec<_> = runs.iter().map(|(narrow, _)| (narrow, &parts)).collect();
            let mut device_runs = DeviceRuns::new(&gpu, &program, &data, &narrow, 13).unwrap();
            let segments: Vec<_> = (0..3)
                .map(|run| DeviceSegment { run, replica: &runs[run].0, epoch: 0, batch: 0, steps: 50, shuffled: true })
                .collect();
            let found = device_runs.train(&segments, &|_, _| 1e-2).unwrap();
            let mut narrow: Vec<_> = runs.iter_mut().map(|(narrow, _)| narrow).enumerate().collect();
            device_runs.fetch(&mut narrow).unwrap();
            for ((narrow, wide), found) in runs.iter_mut().zip(found) {
                let wanted = referee(&program, &wide_data, wide, 50, 13);
                assert_eq!(found.steps, 50);
                let bound = 50.0 * 16.0 * f64::from(f32::EPSILON);
                for (a, b) in [
                    (&narrow.moved.weights, &wide.moved.weights),
                    (&narrow.moved.running, &wide.moved.running),
                    (&narrow.moved.first, &wide.moved.first),
                    (&narrow.moved.second, &wide.moved.second),
                ] {
                    let off = farthest(a, b) / (bound * longest(b).max(1e-30));
                    worst = worst.max(off);
                    assert!(off <= 1.0, "{form:?} {optimizer}: {off} of the bound");
                }
                assert!((found.loss - wanted.loss).abs() <= bound * wanted.loss, "{form:?} {optimizer}: the loss");
            }
            eprintln!("  {form:?}, {optimizer}: {worst:.3} of the bound");
        }
    });
}

/// A run alone, beside others and in pieces. Dispatches with as many steps as the loop budget allows end as short ones
/// do. (Those of a layer have no steps to divide; `layered` has their test.)
#[test]
fn bits_depend_on_the_run_alone() {
    on_each_adapter(module_path!(), "bits_depend_on_the_run_alone", |gpu| {
        let forms = [MlpForm::Resident, MlpForm::Streamed, MlpForm::Stored];
        let cases = forms.into_iter().flat_map(|form| [(form, Optimizer::Adam, 12), (form, Optimizer::Sgld, 200)]);
        for (form, optimizer, inputs) in sample(gpu, cases) {
            let gpu = forced(gpu, form);
            let layers = vec![hidden(33, Activation::Relu, Norm::Batch, 0.2), output(3)];
            let program = program(inputs, layers, Loss::CROSS_ENTROPY, optimizer, 8);
            let data = samples::<f32>(&program, 90, 5);
            let split = |seed| {
                let order = shuffled(seed, 0, 90);
                let rows: Vec<u32> = (0..90).map(order).collect();
                Arc::new([rows[..60].to_vec(), rows[60..].to_vec(), Vec::new()])
            };
            let new = |seed| Replica::<f32>::new(&program, Init::Torch, seed, strict(optimizer));
            let parts: Vec<Parts> = (0..3).map(split).collect();
            let mut all: Vec<Replica<f32>> = (0..3).map(new).collect();
            let together: Vec<_> = all.iter().zip(&parts).collect();
            let mut device_runs = DeviceRuns::new(&gpu, &program, &data, &together, 8).unwrap();
            let segment =
                |run: usize| DeviceSegment { run, replica: &all[run], epoch: 0, batch: 0, steps: 221, shuffled: true };
            let segments: Vec<_> = [0, 2, 1].map(segment).into();
            let found = device_runs.train(&segments, &|_, _| 1e-2).unwrap();
            device_runs.fetch(&mut all.iter_mut().enumerate().collect::<Vec<_>>()).unwrap();
            let mut alone = new(2);
            let mut device_runs = DeviceRuns::new(&gpu, &program, &data, &[(&alone, &parts[2])], 8).unwrap();
            let mut last = Trained::default();
            // Short pieces stay far below the loop budget of every adapter.
            for cut in [0..1, 1..5, 5..14].into_iter().chain((14..221).step_by(9).map(|from| from..from + 9)) {
                last = trained(&mut device_runs, 0, &mut alone, cut, 8);
            }
            device_runs.fetch(&mut [(0, &mut alone)]).unwrap();
            let bits = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&alone.moved.weights), bits(&all[2].moved.weights), "{form:?} {optimizer}");
            assert_eq!(bits(&alone.moved.running), bits(&all[2].moved.running), "{form:?} {optimizer}");
            assert_eq!((last.loss.to_bits(), last.correct), (found[1].loss.to_bits(), found[1].correct));
            assert_ne!(bits(&all[1].moved.weights), bits(&all[2].moved.weights));
        }
    });
}

/// The scores of parts that the runs were not trained on.
#[test]
fn outputs_are_those_of_f64() {
    on_each_adapter(module_path!(), "outputs_are_those_of_f64", |gpu| {
        for form in FORMS {
            let gpu = forced(gpu, form);
            for norm in [Norm::None, Norm::Batch, Norm::Layer] {
                let layers = vec![hidden(30, Activation::Sigmoid, norm, 0.5), output(3)];
                let program = program(7, layers, Loss::CROSS_ENTROPY, Optimizer::Adam, 8);
                let (data, wide_data) = (samples::<f32>(&program, 77, 5), samples::<f64>(&program, 77, 5));
                let parts = Arc::new([(0..30).collect(), (30..77).rev().collect(), Vec::new()]);
                let mut runs: Vec<_> = (0..3).map(|seed| both(&program, seed, Optimizer::Adam.defaults())).collect();
                let scaling: Vec<[f64; 2]> =
                    (0..7).map(|i| [0.125 * f64::from(i), 1.0 + 0.25 * f64::from(i)]).collect();
                for (narrow, wide) in &mut runs {
                    narrow.scaling = Some(Arc::new(scaling.iter().map(|both| both.map(|x| x as f32)).collect()));
                    wide.scaling = Some(Arc::new(scaling.clone()));
                    wide.moved.running.iter_mut().zip(1..).for_each(|(x, i)| *x += 0.125 * f64::from(i % 5));
                    narrow.moved.running = wide.moved.running.iter().map(|x| *x as f32).collect();
                }
                let narrow: Vec<_> = runs.iter().map(|(narrow, _)| (narrow, &parts)).collect();
                let mut device_runs = DeviceRuns::new(&gpu, &program, &data, &narrow, 4).unwrap();
                let width = device_runs.width();
                let (mut worker, mut wide_worker) = (f32::worker(&program), f64::worker(&program));
                let mut found = Vec::new();
                let order = [2, 0, 1];
                device_runs
                    .outputs(&order, 1, |place, outputs| {
                        let scores = f32::scores(&mut worker, &program, &data, &parts[1], outputs, width);
                        found.push((order[place], scores));
                    })
                    .unwrap();
                assert_eq!(found.len(), 3);
                for (run, scores) in found {
                    let work = Work { program: &program, samples: &wide_data, replica: &mut runs[run].1 };
                    let wanted = f64::evaluate(&mut wide_worker, work, &parts[1], &mut |_| {});
                    let off = (scores.loss() - wanted.loss()).abs();
                    assert!(off <= 1e-6 * wanted.loss(), "{form:?} {norm:?}: {} and {}", scores.loss(), wanted.loss());
                    assert_eq!(scores.accuracy().to_bits(), wanted.accuracy().to_bits());
                }
            }
        }
    });
}

/// A loss that is not finite ends its run before the step, and no other run.
#[test]
fn a_diverged_run_halts_alone() {
    on_each_adapter(module_path!(), "a_diverged_run_halts_alone", |gpu| {
        for form in FORMS {
            let gpu = forced(gpu, form);
            let layers = vec![hidden(10, Activation::Relu, Norm::None, 0.0), output(2)];
            let optimizer = Optimizer::Sgd { nesterov: false };
            let program = program(3, layers, Loss::MeanSquares, optimizer, 4);
            let x = (0..48).map(|i| 1.0 + i as f32 / 48.0).collect();
            let data = Samples::new(3, x, Targets::Values(vec![0.5; 32], 2)).unwrap();
            let parts = everything(16);
            let new = |rate| {
                let hyper = Hyper { learning_rate: rate, ..optimizer.defaults() };
                Replica::<f32>::new(&program, Init::Torch, 1, hyper)
            };
            let mut runs = [new(1e-3), new(1e30), new(1e-3)];
            let mut device_runs =
                DeviceRuns::new(&gpu, &program, &data, &[0, 1, 2].map(|run| (&runs[run], &parts)), 4).unwrap();
            let segment =
                |run: usize| DeviceSegment { run, replica: &runs[run], epoch: 0, batch: 0, steps: 12, shuffled: true };
            let found = device_runs.train(&[0, 1, 2].map(segment), &|run, _| [1e-3, 1e30, 1e-3][run]).unwrap();
            assert!(found[1].diverged && found[1].steps < 12, "{form:?}: {found:?}");
            assert_eq!([found[0], found[0]], [found[2], Trained { steps: 12, diverged: false, ..found[0] }]);
            let [a, b, c] = &mut runs;
            device_runs.fetch(&mut [(0, a), (1, b), (2, c)]).unwrap();
            assert_eq!(runs[0].moved, runs[2].moved);
            assert!(runs[0].moved.weights.iter().all(|x| x.is_finite()));
            // The parameters are those before the step whose loss was not finite.
            let mut before = new(1e30);
            let mut alone = DeviceRuns::new(&gpu, &program, &data, &[(&before, &parts)], 4).unwrap();
            let steps = found[1].steps;
            assert_eq!(trained(&mut alone, 0, &mut before, 0..steps, 4).steps, steps);
            alone.fetch(&mut [(0, &mut before)]).unwrap();
            assert_eq!(runs[1].moved, before.moved, "{form:?}");
            let again = DeviceSegment { run: 1, replica: &runs[1], epoch: 3, batch: 0, steps: 12, shuffled: true };
            let rest = device_runs.train(&[again], &|_, _| 1e-3).unwrap();
            assert_eq!((rest[0].steps, rest[0].diverged), (0, true), "a run that was halted stays halted");
        }
    });
}
