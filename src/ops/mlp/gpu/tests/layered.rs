//! What only the form that computes a layer at a time has: many tiles, gradients that are kept until their length is
//! known, runs that leave between the steps of a plan, and that it is chosen.

use super::super::super::kernels::LAYERED;
use super::super::super::layered_kernels::{PIECE, TILE};
use super::super::super::layout::Layout;
use super::super::form::Parameters;
use super::{DESCENT, check_gradient, everything, farthest, forced, longest, referee, trained};
use super::{DeviceRuns, DeviceSegment, Form, MlpForm, Parts, both, strict};
use crate::device::trial::{on_each_adapter, options};
use crate::device::{DeviceOptions, Gpu, Slower};
use crate::forms::KernelForm;
use crate::ops::mlp::cpu::tests::{hidden, output, program, samples};
use crate::ops::mlp::{Activation, Hyper, Loss, Norm, Optimizer, Program, Replica};
use std::sync::Arc;

fn layered(gpu: &Gpu) -> Arc<Gpu> {
    forced(gpu, MlpForm::Layered)
}

/// Products with several tiles in every direction, incomplete ones at all edges, and layers of both orientations.
#[test]
fn gradients_of_many_tiles_are_those_of_f64() {
    on_each_adapter(module_path!(), "gradients_of_many_tiles_are_those_of_f64", |gpu| {
        let gpu = layered(gpu);
        let mut worst = [0.0_f64; 2];
        for (inputs, layers, batch) in [
            (
                150,
                vec![
                    hidden(130, Activation::Relu, Norm::Batch, 0.2),
                    hidden(70, Activation::Tanh, Norm::Layer, 0.1),
                    output(67),
                ],
                81,
            ),
            (
                70,
                vec![
                    hidden(5, Activation::Gelu, Norm::None, 0.0),
                    hidden(129, Activation::Sigmoid, Norm::None, 0.3),
                    output(3),
                ],
                65,
            ),
            (64, vec![hidden(64, Activation::Relu, Norm::Batch, 0.0), output(64)], 64),
        ] {
            let [off, off_loss] = check_gradient(&gpu, &program(inputs, layers, Loss::CROSS_ENTROPY, DESCENT, batch));
            worst = [worst[0].max(off), worst[1].max(off_loss)];
        }
        eprintln!("  {worst:.3?} of the bounds");
    });
}

/// A network whose gradient has several pieces. (In front of a batch normalization, rounding errors would decide the
/// signs of biases, and with them the derivative of the L1 term.)
fn wide(optimizer: Optimizer) -> Program {
    let layers = vec![hidden(150, Activation::Relu, Norm::Layer, 0.2), output(5)];
    let program = program(120, layers, Loss::CROSS_ENTROPY, optimizer, 20);
    assert!(Parameters::new(&Layout::new(&program.net)).quads > PIECE);
    program
}

/// Runs that are clipped beside runs that are not, and that make different numbers of steps. Each has the bits that it
/// has alone and in pieces, and the numbers of f64 within the rounding errors of its steps.
#[test]
fn runs_on_a_device_may_differ() {
    on_each_adapter(module_path!(), "runs_on_a_device_may_differ", |gpu| {
        let gpu = layered(gpu);
        for optimizer in [Optimizer::Adam, Optimizer::Sgld] {
            let program = wide(optimizer);
            let (data, wide_data) = (samples::<f32>(&program, 70, 5), samples::<f64>(&program, 70, 5));
            let parts = everything(70);
            let whole = strict(optimizer);
            let hypers = [
                Hyper { clip: 0.05, ..whole },
                Hyper { clip: f64::INFINITY, ..whole },
                Hyper { clip: 0.3, l1: 0.01, ..whole },
            ];
            let steps = [3, 6, 5];
            let mut runs: Vec<_> = hypers.iter().map(|hyper| both(&program, 4, *hyper)).collect();
            let fresh: Vec<Replica<f32>> = runs.iter().map(|(narrow, _)| narrow.clone()).collect();
            let own: Vec<(&Replica<f32>, &Parts)> = fresh.iter().map(|narrow| (narrow, &parts)).collect();
            let mut device_runs = DeviceRuns::new(&gpu, &program, &data, &own, 4).unwrap();
            let segment = |run: usize| DeviceSegment {
                run,
                replica: &fresh[run],
                epoch: 0,
                batch: 0,
                steps: steps[run],
                shuffled: true,
            };
            let found = device_runs.train(&[0, 1, 2].map(segment), &|_, _| 1e-2).unwrap();
            device_runs.fetch(&mut runs.iter_mut().map(|(narrow, _)| narrow).enumerate().collect::<Vec<_>>()).unwrap();
            let mut worst = 0.0_f64;
            for run in 0..3 {
                let mut alone = fresh[run].clone();
                let mut device_runs = DeviceRuns::new(&gpu, &program, &data, &[(&alone, &parts)], 4).unwrap();
                trained(&mut device_runs, 0, &mut alone, 0..2, 4);
                let last = trained(&mut device_runs, 0, &mut alone, 2..steps[run], 4);
                device_runs.fetch(&mut [(0, &mut alone)]).unwrap();
                let (narrow, wide) = &mut runs[run];
                assert_eq!(narrow.moved, alone.moved, "{optimizer}: run {run} depends on others, or on cuts");
                assert_eq!((found[run].steps, found[run].loss.to_bits()), (steps[run], last.loss.to_bits()));
                referee(&program, &wide_data, wide, steps[run], 4);
                let bound = steps[run] as f64 * 16.0 * f64::from(f32::EPSILON);
                for (a, b) in [
                    (&narrow.moved.weights, &wide.moved.weights),
                    (&narrow.moved.first, &wide.moved.first),
                    (&narrow.moved.second, &wide.moved.second),
                ] {
                    let off = farthest(a, b) / (bound * longest(b).max(1e-30));
                    worst = worst.max(off);
                    assert!(off <= 1.0, "{optimizer}, run {run}: {off} of the bound");
                }
            }
            eprintln!("  {optimizer}: {worst:.3} of the bound");
        }
    });
}

/// Wide networks are trained a layer at a time, small ones are not; the tuning and the caller may say otherwise. The
/// number of runs is not asked for.
#[test]
fn it_is_chosen_for_wide_networks() {
    on_each_adapter(module_path!(), "it_is_chosen_for_wide_networks", |gpu| {
        let block = |outputs: usize| hidden(outputs, Activation::Relu, Norm::Batch, 0.5);
        let of = |inputs, width: usize, batch| {
            let layers = vec![block(width), block(width), block(width), output(10)];
            program(inputs, layers, Loss::CROSS_ENTROPY, Optimizer::Adam, batch)
        };
        let is_layered = |gpu: &Gpu, program: &Program| Form::of(gpu.adapter(), program).rows == LAYERED;
        let (wide, small) = (of(1_792, 512, 256), of(100, 30, 8));
        assert!(is_layered(gpu, &wide) && !is_layered(gpu, &small));
        // Few operations are left to one workgroup, whether its rows fit workgroup memory or not.
        assert!(!is_layered(gpu, &of(1_792, 512, 1)) && !is_layered(gpu, &of(400, 200, 32)));
        assert!(is_layered(&layered(gpu), &small));
        assert!(!is_layered(&forced(gpu, MlpForm::Stored), &wide));
        let slower = |form| {
            let slower = vec![Slower { form: KernelForm::Mlp(form), sizes: [1.0, 1e30] }];
            gpu.for_context(DeviceOptions { slower, ..options() })
        };
        assert!(!is_layered(&slower(MlpForm::Layered), &wide) && is_layered(&slower(MlpForm::Stored), &wide));
        assert_eq!(DeviceRuns::form(gpu, &wide), "layered");
    });
}

/// The last batch of an epoch has no samples in its second tile, where those of the batch before still are.
#[test]
fn samples_of_an_incomplete_batch_are_left_out() {
    on_each_adapter(module_path!(), "samples_of_an_incomplete_batch_are_left_out", |gpu| {
        let gpu = layered(gpu);
        let layers = vec![hidden(9, Activation::Relu, Norm::Batch, 0.0), output(3)];
        let program = program(6, layers, Loss::CROSS_ENTROPY, Optimizer::Adam, TILE as usize + 6);
        let (data, wide_data) = (samples::<f32>(&program, 90, 5), samples::<f64>(&program, 90, 5));
        let parts = everything(90);
        let (mut narrow, mut wide) = both(&program, 2, strict(Optimizer::Adam));
        let mut device_runs = DeviceRuns::new(&gpu, &program, &data, &[(&narrow, &parts)], 2).unwrap();
        let found = trained(&mut device_runs, 0, &mut narrow, 0..4, 2);
        device_runs.fetch(&mut [(0, &mut narrow)]).unwrap();
        let wanted = referee(&program, &wide_data, &mut wide, 4, 2);
        let bound = 4.0 * 16.0 * f64::from(f32::EPSILON);
        assert!((found.loss - wanted.loss).abs() <= bound * wanted.loss);
        let off = farthest(&narrow.moved.weights, &wide.moved.weights);
        assert!(off <= bound * longest(&wide.moved.weights), "{off}");
    });
}
