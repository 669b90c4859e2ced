//! Mixed precision on every adapter and in every form.

use super::super::super::cpu::tests::gradients::losses;
use super::super::super::cpu::tests::{hidden, output, program, samples};
use super::super::super::cpu::{Trains as _, Work};
use super::super::{DeviceRuns, DeviceSegment, Form, Parts, Trained};
use super::{DESCENT, everything, farthest, forced, longest, strict, trained};
use crate::device::Gpu;
use crate::device::trial::{on_each_adapter, sample};
use crate::forms::MlpForm;
use crate::ops::mlp::weights::Init;
use crate::ops::mlp::{Activation, Hyper, Loss, MixedPrecision, Norm, Optimizer, Program, Replica, Samples, Targets};
use half::{bf16, f16};
use std::sync::Arc;

/// The forms that mixed precision has.
const FORMS: [MlpForm; 3] = [MlpForm::Resident, MlpForm::Streamed, MlpForm::Stored];
const BOTH: [MixedPrecision; 2] = [MixedPrecision::F16, MixedPrecision::Bf16];

/// Every form in one precision and both precisions in one form, because a software adapter takes seconds to compile a
/// kernel.
const FEW: [(MlpForm, MixedPrecision); 4] = [
    (MlpForm::Resident, MixedPrecision::F16),
    (MlpForm::Streamed, MixedPrecision::F16),
    (MlpForm::Stored, MixedPrecision::F16),
    (MlpForm::Resident, MixedPrecision::Bf16),
];

fn mixed(mixed: MixedPrecision, program: Program) -> Program {
    Program { mixed, ..program }
}

/// Numbers of many sizes, of which a third is halfway between two neighbors of f16, and a third of bf16.
fn numbers(precision: MixedPrecision, count: usize) -> Vec<f32> {
    let mut bits = 1_u32;
    let mut next = || {
        bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        bits >> 8
    };
    let made = (0..count).map(|i| {
        let number = next();
        // The largest number that f16 does not round to infinity is below 2^16; the smallest that matters is 2^-26. The
        // squares of the others do not become infinite.
        let exponent = if precision == MixedPrecision::F16 { 101 + number % 41 } else { 80 + number % 90 };
        let mantissa = match i % 3 {
            0 => number % (1 << 23),
            1 => (number % (1 << 10)) << 13 | 1 << 12,
            _ => (number % (1 << 7)) << 16 | 1 << 15,
        };
        f32::from_bits((number & 1) << 31 | exponent << 23 | mantissa)
    });
    made.collect()
}

fn rounded(precision: MixedPrecision, x: f32) -> f32 {
    match precision {
        MixedPrecision::Off => x,
        MixedPrecision::F16 => f16::from_f32(x).to_f32(),
        MixedPrecision::Bf16 => bf16::from_f32(x).to_f32(),
    }
}

/// One step of gradient descent from which the rounded numbers can be read.
fn one_step(gpu: &Arc<Gpu>, program: &Program, x: Vec<f32>, targets: Vec<f32>, run: &mut Replica<f32>) {
    let outputs = program.net.outputs();
    let data = Samples::new(program.net.inputs(), x, Targets::Values(targets, outputs)).unwrap();
    let mut device_runs = DeviceRuns::new(gpu, program, &data, &[(run, &everything(1))], 1).unwrap();
    assert_eq!(trained(&mut device_runs, 0, run, 0..1, 1).scaler.skipped, 0);
    device_runs.fetch(&mut [(0, run)]).unwrap();
}

/// The derivative of a single output of 0 with the target -1/2 is 1, so that the weights become the inputs. The
/// derivatives of 512 outputs, whose inputs are 1, are the weights, and the biases become them.
#[test]
fn rounding_is_that_of_the_host() {
    on_each_adapter(module_path!(), "rounding_is_that_of_the_host", |gpu| {
        let cases = FORMS.into_iter().flat_map(|form| BOTH.map(|precision| (form, precision)));
        for (form, precision) in sample(gpu, cases) {
            let gpu = forced(gpu, form);
            let x = numbers(precision, 600);
            let wanted: Vec<f32> = x.iter().map(|x| -rounded(precision, *x)).collect();
            let to = |inputs, outputs| {
                mixed(precision, program(inputs, vec![output(outputs)], Loss::MeanSquares, DESCENT, 1))
            };
            let of_inputs = to(600, 1);
            let new = |program: &Program, rate: f64, scale: f32| {
                let hyper = Hyper { learning_rate: rate, ..DESCENT.defaults() };
                let mut made = Replica::<f32>::new(program, Init::Torch, 1, hyper);
                made.moved.weights.fill(0.0);
                made.scaler.scale = scale;
                made
            };
            let mut run = new(&of_inputs, 1.0, 1.0);
            one_step(&gpu, &of_inputs, x.clone(), vec![-0.5], &mut run);
            let found = |run: &Replica<f32>, program: &Program, name: &str| {
                let mut tensors = run.tensors(&program.net).into_iter();
                tensors.find(|tensor| tensor.name == name).unwrap().data
            };
            assert_eq!(found(&run, &of_inputs, "layers.0.weight"), wanted, "{form:?} {precision}: inputs");

            let of_weights = to(1, 512);
            // Products with 2 / 512 are exact, and so are those with 256.
            let mut run = new(&of_weights, 256.0, 256.0);
            let weights: Vec<f32> = x[..512].to_vec();
            run.set_tensors(&of_weights.net, |name, shape| {
                Ok(if name.ends_with("weight") { weights.clone() } else { vec![0.0; shape.iter().product()] })
            })
            .unwrap();
            one_step(&gpu, &of_weights, vec![1.0], vec![0.0; 512], &mut run);
            let biases = found(&run, &of_weights, "layers.0.bias");
            assert_eq!(biases, wanted[..512], "{form:?} {precision}: weights");
        }
    });
}

/// As on the CPU, whose test has the reason of the bound.
#[test]
fn gradients_are_near_those_of_f64() {
    on_each_adapter(module_path!(), "gradients_are_near_those_of_f64", |gpu| {
        for (form, precision) in FEW {
            let gpu = forced(gpu, form);
            let unit = if precision == MixedPrecision::F16 { 2.0_f64.powi(-11) } else { 2.0_f64.powi(-8) };
            let activations = [Activation::Tanh, Activation::Gelu, Activation::LeakyRelu(0.1)].into_iter().cycle();
            let norms = [Norm::None, Norm::Batch, Norm::Layer];
            let cases =
                norms.into_iter().flat_map(|norm| activations.clone().zip(losses()).map(move |one| (norm, one)));
            for (norm, (activation, (loss, outputs))) in sample(&gpu, cases) {
                let layer = |n| hidden(n, activation, norm, 0.2);
                let exact = program(7, vec![layer(17), layer(6), output(outputs)], loss, DESCENT, 9);
                let program = mixed(precision, exact.clone());
                let hyper = Hyper { momentum: 0.5, learning_rate: 0.125, ..DESCENT.defaults() };
                let mut run = Replica::<f32>::new(&program, Init::Xavier, 3, hyper);
                run.scaler.scale = 256.0;
                let wide = Replica::<f64>::new(&exact, Init::Xavier, 3, hyper);
                let (data, wide_data) = (samples::<f32>(&exact, 9, 5), samples::<f64>(&exact, 9, 5));
                let mut device_runs = DeviceRuns::new(&gpu, &program, &data, &[(&run, &everything(9))], 1).unwrap();
                let chosen = device_runs.steps.form;
                assert!(Form::all_mixed().contains(&chosen), "{chosen:?} is not among the variants");
                let found = trained(&mut device_runs, 0, &mut run, 0..1, 1);
                assert_eq!((found.steps, found.scaler.skipped), (1, 0));
                device_runs.fetch(&mut [(0, &mut run)]).unwrap();
                // The order of the samples changes the dropout.
                let order = run.words.order(super::super::super::noise::Purpose::Order, 0, 9);
                let rows: Vec<u32> = (0..9).map(|at| order.at(at)).collect();
                let mut worker = f64::worker(&exact);
                let work = Work { program: &exact, samples: &wide_data, replica: &mut wide.clone() };
                let (_, wanted) = f64::gradient_of(&mut worker, work, &rows);
                // Momentum keeps the first gradient as it is.
                let share = farthest(&run.moved.first, &wanted) / longest(&wanted) / unit;
                assert!((0.05..12.0).contains(&share), "{form:?} {precision} {exact:?}: off by {share} units");
            }
        }
    });
}

fn classifier(optimizer: Optimizer) -> Program {
    let layers = vec![hidden(5, Activation::Tanh, Norm::Batch, 0.0), output(2)];
    mixed(MixedPrecision::F16, program(3, layers, Loss::CROSS_ENTROPY, optimizer, 4))
}

/// Samples of which the last four exceed the range of f16.
fn with_bad_samples() -> Samples<f32> {
    let x = (0..60).map(|i| if i < 48 { (i % 11) as f32 / 11.0 } else { 1e5 }).collect();
    Samples::new(3, x, Targets::Labels((0..20).map(|i| i % 2).collect())).unwrap()
}

const GOOD: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
const BAD: [u32; 4] = [16, 17, 18, 19];

/// Trains runs, each on rows in their order.
fn train(gpu: &Arc<Gpu>, program: &Program, runs: &mut [(Replica<f32>, Vec<u32>)], steps: u64) -> Vec<Trained> {
    let parts: Vec<Parts> = runs.iter().map(|(_, rows)| Arc::new([rows.clone(), Vec::new(), Vec::new()])).collect();
    let own: Vec<_> = runs.iter().map(|(run, _)| run).zip(&parts).collect();
    let mut device_runs = DeviceRuns::new(gpu, program, &with_bad_samples(), &own, runs[0].1.len() / 4).unwrap();
    let segments = runs.iter().enumerate().map(|(run, (replica, _))| {
        let (epoch, batch) = (0, 0);
        DeviceSegment { run, replica, epoch, batch, steps, shuffled: false }
    });
    let segments: Vec<DeviceSegment<'_, f32>> = segments.collect();
    let found = device_runs.train(&segments, &|run, _| runs[run].0.hyper.learning_rate).unwrap();
    device_runs.fetch(&mut runs.iter_mut().map(|(run, _)| run).enumerate().collect::<Vec<_>>()).unwrap();
    for ((run, _), found) in runs.iter_mut().zip(&found) {
        run.steps += found.steps;
        run.scaler = found.scaler;
    }
    found
}

/// A skipped step is as if it had not been, and the other runs do not notice.
#[test]
fn a_skipped_step_leaves_no_trace() {
    on_each_adapter(module_path!(), "a_skipped_step_leaves_no_trace", |gpu| {
        let momentum = Hyper { momentum: 0.9, dampening: 0.5, ..DESCENT.defaults() };
        for (optimizer, hyper) in [(Optimizer::Adam, Optimizer::Adam.defaults()), (DESCENT, momentum)] {
            let program = classifier(optimizer);
            let new = |seed| Replica::<f32>::new(&program, Init::Torch, seed, hyper);
            for bad_at in [0, 1, 2] {
                let (before, after) = GOOD.split_at(4 * bad_at);
                let plain = [GOOD.as_slice(), &GOOD[..4]].concat();
                let rows = [plain.clone(), [before, &BAD, after].concat(), plain.clone()];
                let mut all: Vec<_> = rows.into_iter().enumerate().map(|(i, rows)| (new(i as u64), rows)).collect();
                let found = train(gpu, &program, &mut all, 3);
                assert_eq!((found[1].steps, found[1].diverged, found[1].lost), (3, false, 4));
                let scaler = all[1].0.scaler;
                assert_eq!((scaler.skipped, scaler.in_a_row, scaler.scale), (1, u32::from(bad_at == 2), 32768.0));
                let mut others: Vec<_> = [0, 2].map(|seed| (new(seed), plain.clone())).into();
                let found_alone = train(gpu, &program, &mut others, 3);
                for (alone, beside) in [0, 1].into_iter().zip([0, 2]) {
                    assert_eq!(others[alone].0, all[beside].0);
                    assert_eq!(found_alone[alone], found[beside]);
                }
                let mut wanted = vec![(new(1), before.to_vec())];
                if !before.is_empty() {
                    train(gpu, &program, &mut wanted, bad_at as u64);
                }
                wanted[0].0.scaler.scale = 32768.0;
                wanted[0].1 = after.to_vec();
                if !after.is_empty() {
                    train(gpu, &program, &mut wanted, 2 - bad_at as u64);
                }
                assert_eq!(all[1].0.moved, wanted[0].0.moved, "{optimizer}, step {bad_at}");
            }
        }
    });
}

#[test]
fn the_scale_grows_and_ends_a_run() {
    on_each_adapter(module_path!(), "the_scale_grows_and_ends_a_run", |gpu| {
        let program = classifier(DESCENT);
        let new = |scale, clean| {
            let mut made = Replica::<f32>::new(&program, Init::Torch, 1, DESCENT.defaults());
            (made.scaler.scale, made.scaler.clean) = (scale, clean);
            made
        };
        let many = |rows: &[u32]| rows.iter().copied().cycle().take(240).collect::<Vec<u32>>();
        let largest = 2.0_f32.powi(126);
        let mut runs: Vec<_> = vec![
            (new(256.0, 1998), many(&GOOD)),
            (new(65536.0, 0), many(&BAD)),
            (new(2.0_f32.powi(100), 0), many(&BAD)),
            (new(2.0_f32.powi(40), 0), many(&GOOD)),
        ];
        let found = train(gpu, &program, &mut runs, 60);
        assert_eq!((found[0].scaler.scale, found[0].scaler.clean, found[0].steps), (512.0, 58, 60));
        // After 17 skipped steps the scale is below 1. From a large scale on, 50 in a row are too many.
        for (run, skipped) in [(1, 17), (2, 50)] {
            assert!(found[run].diverged && runs[run].0.moved == new(1.0, 0).moved);
            assert_eq!((found[run].scaler.skipped, found[run].steps), (skipped, u64::from(skipped) - 1));
        }
        // The losses of these skipped steps are finite.
        assert!(!found[3].diverged && found[3].lost == 0 && found[3].scaler.skipped > 20, "{found:?}");
        let mut run = vec![(new(largest, 1999), many(&BAD[..0]))];
        run[0].0.moved.weights.fill(0.0);
        run[0].1 = many(&GOOD);
        let found = train(gpu, &program, &mut run, 1);
        assert!(found[0].scaler.scale <= largest, "{found:?}");
    });
}

/// Alone, beside others and in pieces, with skipped steps in between.
#[test]
fn bits_depend_on_the_run_alone() {
    on_each_adapter(module_path!(), "bits_depend_on_the_run_alone", |gpu| {
        for (form, precision) in sample(gpu, FEW) {
            let gpu = forced(gpu, form);
            let layers = vec![hidden(33, Activation::Relu, Norm::Batch, 0.2), output(3)];
            let program = mixed(precision, program(12, layers, Loss::CROSS_ENTROPY, Optimizer::Adam, 8));
            let data = samples::<f32>(&program, 60, 5);
            let parts = everything(60);
            let new = |seed| {
                let mut made = Replica::<f32>::new(&program, Init::Torch, seed, strict(Optimizer::Adam));
                made.scaler.scale = 2.0_f32.powi(22);
                made
            };
            let mut all: Vec<Replica<f32>> = (0..3).map(new).collect();
            let together: Vec<_> = all.iter().map(|run| (run, &parts)).collect();
            let mut device_runs = DeviceRuns::new(&gpu, &program, &data, &together, 8).unwrap();
            let segment =
                |run: usize| DeviceSegment { run, replica: &all[run], epoch: 0, batch: 0, steps: 60, shuffled: true };
            let found = device_runs.train(&[2, 1, 0].map(segment), &|_, _| 1e-2).unwrap();
            device_runs.fetch(&mut all.iter_mut().enumerate().collect::<Vec<_>>()).unwrap();
            let mut alone = new(2);
            let mut device_runs = DeviceRuns::new(&gpu, &program, &data, &[(&alone, &parts)], 8).unwrap();
            let mut last = Trained::default();
            for cut in [0..1, 1..5, 5..14, 14..37, 37..60] {
                last = trained(&mut device_runs, 0, &mut alone, cut, 8);
                alone.scaler = last.scaler;
            }
            device_runs.fetch(&mut [(0, &mut alone)]).unwrap();
            assert_eq!(alone.moved, all[2].moved, "{form:?} {precision}");
            assert_eq!((last.loss.to_bits(), last.correct, last.scaler), {
                let found = found[0];
                (found.loss.to_bits(), found.correct, found.scaler)
            });
            assert_eq!(last.scaler.skipped > 0, precision == MixedPrecision::F16, "{:?}", last.scaler);
        }
    });
}
