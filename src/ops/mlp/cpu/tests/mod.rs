//! Tests of one run's steps: gradients against differences, steps and losses against torch's, the laws of samplers, and
//! bits that depend on nothing but the run.

mod gan;
mod golden;
pub(in crate::ops::mlp) mod gradients;
mod laws;
mod mixed;
mod products;
mod sameness;

use super::Worker;
use crate::array::Real;
use crate::ops::mlp::{
    Activation, Hyper, Layer, Loss, MixedPrecision, Mlp, Norm, Number, Optimizer, Program, Replica, Samples, Targets,
};

/// Numbers in [-1, 1) with 24 bits, from the generator of `tests/host/golden/training.py`.
struct Lcg(u32);

impl Lcg {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(self.0 >> 8) / f64::from(1_u32 << 23) - 1.0
    }

    fn fill(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.next()).collect()
    }
}

fn all<T: Real>(numbers: &[f64]) -> Vec<T> {
    numbers.iter().map(|&x| T::from_f64(x)).collect()
}

/// Returns samples with random inputs, and labels or values that fit the loss.
pub(in crate::ops::mlp) fn samples<T: Number>(program: &Program, count: usize, seed: u32) -> Samples<T> {
    let (mut numbers, inputs) = (Lcg(seed), program.net.inputs());
    let x = all(&numbers.fill(count * inputs));
    let outputs = program.net.outputs();
    let targets = match program.loss.classes(&program.net) {
        Some(classes) if !(program.loss == Loss::BinaryCrossEntropy && outputs > 1) => {
            Targets::Labels((0..count).map(|_| ((numbers.next() + 1.0) / 2.0 * classes as f64) as u32).collect())
        }
        _ => {
            let each = if program.loss == Loss::WeightedBinary { 2 } else { outputs };
            let values: Vec<f64> = numbers.fill(count * each).iter().map(|x| x.abs()).collect();
            Targets::Values(all(&values), each)
        }
    };
    let made = Samples::new(inputs, x, targets).expect("valid samples");
    made.check(program).expect("samples that fit");
    made
}

pub(in crate::ops::mlp) fn program(
    inputs: usize,
    layers: Vec<Layer>,
    loss: Loss,
    optimizer: Optimizer,
    batch: usize,
) -> Program {
    let made = Program {
        net: Mlp::from_layers(inputs, layers).expect("a valid network"),
        loss,
        optimizer,
        batch,
        mixed: MixedPrecision::Off,
    };
    made.check().expect("a valid program");
    made
}

pub(in crate::ops::mlp) fn hidden(outputs: usize, activation: Activation, norm: Norm, dropout: f64) -> Layer {
    Layer { outputs, activation, norm, dropout }
}

pub(in crate::ops::mlp) fn output(outputs: usize) -> Layer {
    Layer { outputs, ..Layer::default() }
}
