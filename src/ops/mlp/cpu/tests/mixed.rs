//! Mixed precision: what is rounded, how losses are scaled, and which steps are skipped.

use super::gradients::{gradient, losses};
use super::{
    Activation, Hyper, Loss, MixedPrecision, Norm, Optimizer, Program, Replica, Samples, Targets, Worker, hidden,
    output, program, samples,
};
use crate::ops::mlp::cpu::{Trains as _, Work};
use crate::ops::mlp::weights::Init;
use crate::ops::mlp::{Segment, Tally};

const DESCENT: Optimizer = Optimizer::Sgd { nesterov: false };

/// Trains through batches in the order of `rows`.
fn train(program: &Program, samples: &Samples<f32>, replica: &mut Replica<f32>, rows: &[u32], batches: usize) -> Tally {
    let mut worker: Worker<f32> = f32::worker(program);
    let rate = replica.hyper.learning_rate;
    let segment = Segment { rows, shuffled: false, epoch: 0, batches: 0..batches, rate, loss: 0.0, traces: true };
    f32::train(&mut worker, Work { program, samples, replica }, &segment)
}

fn mixed(mixed: MixedPrecision, program: &Program) -> Program {
    Program { mixed, ..program.clone() }
}

/// The operands of every product are off by half a unit in the last of 11 or 8 bits, and a component of the gradient
/// has passed through two products for each of three layers.
#[test]
fn gradients_are_near_those_without_rounding() {
    for (precision, unit) in [(MixedPrecision::F16, 2.0_f64.powi(-11)), (MixedPrecision::Bf16, 2.0_f64.powi(-8))] {
        for norm in [Norm::None, Norm::Batch, Norm::Layer] {
            for (loss, outputs) in losses() {
                let tanh = |n| hidden(n, Activation::Tanh, norm, 0.2);
                let exact = program(7, vec![tanh(17), tanh(6), output(outputs)], loss, DESCENT, 9);
                let data = samples::<f32>(&exact, 9, 5);
                let mut replica = Replica::new(&exact, Init::Xavier, 3, DESCENT.defaults());
                // The first scale makes the largest of these derivatives infinite.
                replica.scaler.scale = 256.0;
                let (_, wanted) = gradient(&exact, &data, &replica);
                let (_, found) = gradient(&mixed(precision, &exact), &data, &replica);
                let longest = wanted.iter().fold(0.0_f32, |most, g| most.max(g.abs()));
                let off = wanted.iter().zip(&found).fold(0.0_f32, |most, (a, b)| most.max((a - b).abs()));
                let share = f64::from(off / longest) / unit;
                assert!(share <= 12.0, "{precision} {norm:?} {exact:?}: off by {share} units");
                assert!(share > 0.05, "{precision} {norm:?} {exact:?}: nothing was rounded");
            }
        }
    }
}

/// A network whose derivatives lie between 2^-26 and 2^-30, because its losses have such weights. The spacing of f16
/// near 0 is 2^-24.
#[test]
fn small_derivatives_need_the_loss_scale() {
    let exact =
        program(8, vec![hidden(6, Activation::Relu, Norm::None, 0.0), output(1)], Loss::WeightedBinary, DESCENT, 4);
    let scaled = mixed(MixedPrecision::F16, &exact);
    let x = (0..32).map(|i| (i % 7) as f32 / 7.0 + 0.1).collect();
    let small = 2.0_f32.powi(-25);
    let targets = Targets::Values([[small, 0.0], [0.0, small], [small, 0.0], [small, small / 2.0]].concat(), 2);
    let data = Samples::new(8, x, targets).unwrap();
    let hyper = Hyper { learning_rate: 2.0_f64.powi(25), ..DESCENT.defaults() };
    let new = || Replica::<f32>::new(&scaled, Init::Xavier, 3, hyper);
    let (_, wanted) = gradient(&exact, &data, &new());
    let longest = wanted.iter().fold(0.0_f32, |most, g| most.max(g.abs()));
    assert!((2.0_f32.powi(-30)..2.0_f32.powi(-26)).contains(&longest), "{longest:e}");
    let rows = [0, 1, 2, 3];

    let mut unscaled = new();
    unscaled.scaler.scale = 1.0;
    train(&scaled, &data, &mut unscaled, &rows, 1);
    assert_eq!(unscaled.moved, new().moved, "derivatives of f16 are zero");

    let (mut narrow, mut wide) = (new(), new());
    for _ in 0..5 {
        train(&scaled, &data, &mut narrow, &rows, 1);
        train(&exact, &data, &mut wide, &rows, 1);
    }
    let start = new();
    let moved: Vec<f32> = wide.moved.weights.iter().zip(&start.moved.weights).map(|(w, s)| w - s).collect();
    let longest = moved.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    assert!(longest > 0.01, "the steps are of a visible size: {longest}");
    for (a, b) in narrow.moved.weights.iter().zip(&wide.moved.weights) {
        assert!((a - b).abs() <= longest * 2.0_f32.powi(-9), "{a} and {b}");
    }
}

/// Samples of which the last four exceed the range of f16.
fn with_bad_samples(program: &Program) -> Samples<f32> {
    let x = (0..60).map(|i| if i < 48 { (i % 11) as f32 / 11.0 } else { 1e5 }).collect();
    let labels = (0..20).map(|i| i % 2).collect();
    let made = Samples::new(3, x, Targets::Labels(labels)).unwrap();
    made.check(program).unwrap();
    made
}

fn classifier(optimizer: Optimizer) -> Program {
    let layers = vec![hidden(5, Activation::Tanh, Norm::Batch, 0.0), output(2)];
    mixed(MixedPrecision::F16, &program(3, layers, Loss::CROSS_ENTROPY, optimizer, 4))
}

const GOOD: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
const BAD: [u32; 4] = [16, 17, 18, 19];

/// A step with an infinite number changes nothing but the counts and the scale: the rest is as if there were no such
/// step, down to the corrections of Adam's biases and the first step of momentum.
#[test]
fn a_skipped_step_leaves_no_trace() {
    let momentum = Hyper { momentum: 0.9, dampening: 0.5, ..DESCENT.defaults() };
    for (optimizer, hyper) in [(Optimizer::Adam, Optimizer::Adam.defaults()), (DESCENT, momentum)] {
        let program = classifier(optimizer);
        let data = with_bad_samples(&program);
        for bad_at in [0, 1, 2] {
            let (before, after) = GOOD.split_at(4 * bad_at);
            let mut found = Replica::<f32>::new(&program, Init::Torch, 1, hyper);
            let mut wanted = found.clone();
            let tally = train(&program, &data, &mut found, &[before, &BAD, after].concat(), 3);
            assert_eq!((tally.diverged, tally.samples), (false, 8), "the loss of the step is not finite");
            assert_eq!((found.steps, found.scaler.skipped, found.scaler.in_a_row), (3, 1, u32::from(bad_at == 2)));
            assert_eq!((found.scaler.scale, found.scaler.clean), (32768.0, 2 - bad_at as u32));
            train(&program, &data, &mut wanted, before, bad_at);
            wanted.scaler.scale = 32768.0;
            train(&program, &data, &mut wanted, after, 2 - bad_at);
            assert_eq!(found.moved, wanted.moved, "{optimizer}, step {bad_at}");
        }
    }
}

/// A derivative that only the scale makes infinite, and a finite loss, which counts.
#[test]
fn a_scale_that_is_too_large_is_halved() {
    let program = classifier(DESCENT);
    let data = with_bad_samples(&program);
    let mut run = Replica::<f32>::new(&program, Init::Torch, 1, DESCENT.defaults());
    run.scaler.scale = 2.0_f32.powi(40);
    let start = run.moved.clone();
    let tally = train(&program, &data, &mut run, &GOOD, 1);
    assert_eq!((tally.samples, run.scaler.skipped, run.scaler.scale), (4, 1, 2.0_f32.powi(39)));
    assert!(tally.losses[0].is_finite() && run.moved == start);
}

#[test]
fn the_scale_doubles_after_two_thousand_clean_steps() {
    let program = classifier(DESCENT);
    let data = with_bad_samples(&program);
    let mut run = Replica::<f32>::new(&program, Init::Torch, 1, Hyper { learning_rate: 1e-4, ..DESCENT.defaults() });
    let rows: Vec<u32> = GOOD.iter().copied().cycle().take(4 * 1999).collect();
    train(&program, &data, &mut run, &rows, 1999);
    assert_eq!((run.scaler.scale, run.scaler.clean), (65536.0, 1999));
    train(&program, &data, &mut run, &GOOD, 1);
    assert_eq!((run.scaler.scale, run.scaler.clean), (131_072.0, 0));
    // It stays below the range of f32.
    run.scaler.scale = 2.0_f32.powi(126);
    run.scaler.clean = 1999;
    run.scaler.apply();
    assert_eq!(run.scaler.scale, 2.0_f32.powi(126));
}

/// After 17 skipped steps the scale is below 1. From a large scale on, 50 in a row are too many.
#[test]
fn a_run_that_only_skips_has_diverged() {
    let program = classifier(DESCENT);
    let data = with_bad_samples(&program);
    for (scale, skipped) in [(65536.0, 17), (2.0_f32.powi(100), 50)] {
        let mut run = Replica::<f32>::new(&program, Init::Torch, 1, DESCENT.defaults());
        run.scaler.scale = scale;
        let start = run.moved.clone();
        let rows: Vec<u32> = BAD.iter().copied().cycle().take(4 * 60).collect();
        let tally = train(&program, &data, &mut run, &rows, 60);
        assert!(tally.diverged && tally.samples == 0 && run.moved == start);
        assert_eq!((run.scaler.skipped, run.steps), (skipped, u64::from(skipped) - 1));
    }
}

/// bf16 has the range of f32, so it neither scales nor skips.
#[test]
fn bf16_skips_nothing() {
    let program = Program { mixed: MixedPrecision::Bf16, ..classifier(DESCENT) };
    let data = with_bad_samples(&program);
    let mut run = Replica::<f32>::new(&program, Init::Torch, 1, DESCENT.defaults());
    let tally = train(&program, &data, &mut run, &[BAD, BAD].concat(), 2);
    assert_eq!((tally.diverged, tally.samples, run.scaler), (false, 8, crate::ops::mlp::Scaler::default()));
}
