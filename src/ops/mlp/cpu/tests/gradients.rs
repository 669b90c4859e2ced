//! Gradients in f64 against central differences of the loss, and gradients in f32 against those in f64.

use super::{
    Activation, Hyper, Loss, Norm, Number, Optimizer, Program, Replica, Samples, Worker, hidden, output, program,
    samples,
};
use crate::array::Real as _;
use crate::ops::mlp::cpu::{Trains as _, Work};
use crate::ops::mlp::layout::Layout;
use crate::ops::mlp::weights::Init;

pub(in crate::ops::mlp) const ACTIVATIONS: [Activation; 6] = [
    Activation::Identity,
    Activation::Relu,
    Activation::LeakyRelu(0.1),
    Activation::Gelu,
    Activation::Tanh,
    Activation::Sigmoid,
];

/// Losses, and the number of outputs that they are tested with.
pub(in crate::ops::mlp) fn losses() -> Vec<(Loss, usize)> {
    vec![
        (Loss::CROSS_ENTROPY, 3),
        (Loss::CROSS_ENTROPY, 11),
        (Loss::CrossEntropy { label_smoothing: 0.2, class_weights: vec![1.0, 2.0, 0.25] }, 3),
        (Loss::CrossEntropy { label_smoothing: 0.0, class_weights: vec![1.0, 2.0, 0.25] }, 3),
        (Loss::BinaryCrossEntropy, 1),
        (Loss::BinaryCrossEntropy, 9),
        (Loss::BoundedCrossEntropy(4.0), 1),
        (Loss::BoundedCrossEntropy(4.0), 5),
        (Loss::MeanSquares, 1),
        (Loss::MeanSquares, 12),
        (Loss::Tangent, 1),
        (Loss::Savage, 1),
        (Loss::WeightedBinary, 1),
    ]
}

fn run<T: Number>(program: &Program, seed: u64) -> Replica<T> {
    Replica::new(program, Init::Xavier, seed, Optimizer::Sgd { nesterov: false }.defaults())
}

/// Returns the loss and the gradient of the first samples.
pub(super) fn gradient<T: Number>(program: &Program, samples: &Samples<T>, replica: &Replica<T>) -> (T, Vec<T>) {
    let rows: Vec<u32> = (0..program.batch as u32).collect();
    let mut worker: Worker<T> = T::worker(program);
    // A copy: a forward pass moves the running statistics.
    let mut replica = replica.clone();
    T::gradient_of(&mut worker, Work { program, samples, replica: &mut replica }, &rows)
}

#[test]
fn gradients_are_the_derivatives() {
    for norm in [Norm::None, Norm::Batch, Norm::Layer] {
        for activation in ACTIVATIONS {
            for (loss, outputs) in losses() {
                // Odd widths on both sides of a strip, and a layer that stores its rows by output.
                let layers = vec![hidden(17, activation, norm, 0.3), hidden(6, activation, norm, 0.0), output(outputs)];
                check_differences(&program(7, layers, loss, Optimizer::Adam, 9));
            }
        }
    }
}

/// Compares every component with a difference quotient. Its error is about h^2 from the third derivative and eps |L| /
/// h from rounding, so both are below 1e-9 with h = 6e-6; the bound is 1e-7 of the longest component.
#[track_caller]
fn check_differences(program: &Program) {
    let samples = samples::<f64>(program, program.batch, 5);
    let replica = run::<f64>(program, 3);
    let (_, analytic) = gradient(program, &samples, &replica);
    let scale = analytic.iter().fold(0.0_f64, |max, g| max.max(g.abs()));
    assert!(scale > 1e-6 && scale.is_finite(), "{program:?}: gradient {scale}");
    let mut checked = 0;
    for block in Layout::new(&program.net).blocks {
        for row in 0..block.rows {
            for at in block.row(row) {
                let shifted = |h: f64| {
                    let mut moved = replica.clone();
                    moved.moved.weights[at] += h;
                    gradient(program, &samples, &moved).0
                };
                let h = 6e-6;
                let difference = (shifted(h) - shifted(-h)) / (2.0 * h);
                let off = (analytic[at] - difference).abs();
                // A ReLU whose kink lies between the two points makes the quotient wrong: a smaller step avoids it.
                let h = 1e-8;
                let close = || (analytic[at] - (shifted(h) - shifted(-h)) / (2.0 * h)).abs() <= 1e-5 * scale;
                let kinked = program
                    .net
                    .layers()
                    .iter()
                    .any(|l| matches!(l.activation, Activation::Relu | Activation::LeakyRelu(_)));
                assert!(off <= 1e-7 * scale || kinked && close(), "{program:?}: {} and {difference}", analytic[at]);
                checked += 1;
            }
        }
    }
    assert_eq!(checked, program.net.parameters());
}

/// f32 against f64. A component is a sum over the samples of a product of an input and a derivative, each of which
/// passed through the sums of all layers. The bound is 8 eps times the root of the number of terms of all these sums,
/// relative to the longest component: the products' rule, taken over the whole network.
#[test]
fn f32_is_close_to_f64() {
    for norm in [Norm::None, Norm::Batch, Norm::Layer] {
        for activation in ACTIVATIONS {
            for (loss, outputs) in losses() {
                let layers =
                    vec![hidden(33, activation, norm, 0.2), hidden(20, activation, norm, 0.2), output(outputs)];
                let program = program(50, layers, loss, Optimizer::Adam, 24);
                let (narrow, wide) = (samples::<f32>(&program, 24, 5), samples::<f64>(&program, 24, 5));
                let (f32_run, f64_run) = (run::<f32>(&program, 3), run::<f64>(&program, 3));
                let (loss_32, found) = gradient(&program, &narrow, &f32_run);
                // The wide run begins with the rounded parameters.
                let mut start = f64_run;
                start.moved.weights = f32_run.moved.weights.iter().map(|x| f64::from(*x)).collect();
                let (loss_64, wanted) = gradient(&program, &wide, &start);
                let scale = wanted.iter().fold(0.0_f64, |max, g| max.max(g.abs()));
                let terms = (50.0 + 33.0 + 20.0 + 24.0_f64).sqrt();
                let bound = 8.0 * f64::from(f32::EPSILON) * terms * scale;
                let off = found.iter().zip(&wanted).fold(0.0_f64, |max, (a, b)| max.max((a.to_f64() - b).abs()));
                assert!(off <= bound, "{program:?}: {off} of {bound}");
                let bound = 8.0 * f64::from(f32::EPSILON) * terms * loss_64.abs().max(1.0);
                assert!((f64::from(loss_32) - loss_64).abs() <= bound, "{program:?}: {loss_32} and {loss_64}");
            }
        }
    }
}

/// The gradient of a batch is the mean of those of its halves, if nothing couples the samples.
#[test]
fn a_batch_is_the_mean_of_its_halves() {
    let layers = vec![hidden(20, Activation::Tanh, Norm::Layer, 0.0), output(4)];
    let whole = program(9, layers, Loss::CROSS_ENTROPY, Optimizer::Adam, 16);
    let samples = samples::<f64>(&whole, 16, 8);
    let replica = run::<f64>(&whole, 1);
    let (_, all) = gradient(&whole, &samples, &replica);
    let mut halves = vec![0.0; all.len()];
    for half in 0..2_u32 {
        let rows: Vec<u32> = (8 * half..8 * half + 8).collect();
        let work = Work { program: &whole, samples: &samples, replica: &mut replica.clone() };
        let (_, part) = f64::gradient_of(&mut f64::worker(&whole), work, &rows);
        halves.iter_mut().zip(part).for_each(|(sum, g)| *sum += 0.5 * g);
    }
    let scale = all.iter().fold(0.0_f64, |max, g| max.max(g.abs()));
    // A few roundings of sums of 16 terms.
    assert!(all.iter().zip(&halves).all(|(a, b)| (a - b).abs() <= 32.0 * f64::EPSILON * scale));
}

/// With all inputs zero and no biases, only the penalties move the weights of the first layer.
#[test]
fn penalties_alone() {
    let layers = vec![hidden(20, Activation::Relu, Norm::None, 0.0), output(2)];
    let program = program(5, layers, Loss::CROSS_ENTROPY, Optimizer::Sgd { nesterov: false }, 4);
    let zero = Samples::new(5, vec![0.0; 20], super::Targets::Labels(vec![0, 1, 0, 1])).expect("samples");
    for (l1, weight_decay) in [(0.01, 0.0), (0.0, 0.1)] {
        let hyper = Hyper { l1, weight_decay, learning_rate: 0.5, ..program.optimizer.defaults() };
        let mut replica = Replica::<f64>::new(&program, Init::Xavier, 4, hyper);
        let before = replica.moved.weights.clone();
        let segment = crate::ops::mlp::Segment {
            rows: &[0, 1, 2, 3],
            shuffled: false,
            epoch: 0,
            batches: 0..1,
            rate: 0.5,
            loss: 0.0,
            traces: false,
        };
        f64::train(
            &mut f64::worker(&program),
            Work { program: &program, samples: &zero, replica: &mut replica },
            &segment,
        );
        let block = Layout::new(&program.net).blocks[0];
        for at in block.range() {
            let (old, new) = (before[at], replica.moved.weights[at]);
            let wanted = old - 0.5 * (if old == 0.0 { 0.0 } else { l1 * old.signum() } + weight_decay * old);
            assert!((new - wanted).abs() <= 1e-15, "{old} became {new}, not {wanted}");
        }
    }
}
