//! Implementation equality without statistics: the losses of a training from given parameters in a given order.

use super::Claim;
use crate::error::Result;
use crate::ops::mlp::{
    Activation, Hyper, Init, Layer, Loss, MixedPrecision, Mlp, Number, Optimizer, Program, Replica, Samples, Segment,
    Targets, Work,
};

/// The losses of torch 2.15 in f32 and f64, a line for each step (`benches/verify_torch.py`).
const LOSSES: &str = include_str!("losses.txt");
/// The number of samples, of the samples of a step, and of steps.
const ROWS: usize = 96;
const BATCH: usize = 16;
const STEPS: usize = 200;
const INPUTS: usize = 64;
const CLASSES: usize = 10;
/// Losses below this are compared absolutely.
const LEAST: f64 = 0.1;

/// Numbers in `[-1, 1)` with 24 bits, from Knuth's generator modulo 2^32, which the script has too.
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

/// Compares the losses with those of torch, in both precisions.
pub(super) fn check() -> Result<Vec<Claim>> {
    let wanted: Vec<[f64; 2]> = LOSSES
        .lines()
        .map(|line| {
            let mut numbers = line.split(' ').map(|x| x.parse().unwrap_or(f64::NAN));
            [(); 2].map(|()| numbers.next().unwrap_or(f64::NAN))
        })
        .collect();
    let claim = |name: &str, found: Vec<f64>, column: usize, bound: f64| {
        let off = |(found, wanted): (&f64, &[f64; 2])| (found - wanted[column]).abs() / wanted[column].abs().max(LEAST);
        // NaN is greater than any bound.
        let worst = found.iter().zip(&wanted).map(off).fold(0.0, |a: f64, b| if b > a || b.is_nan() { b } else { a });
        let complete = found.len() == STEPS && wanted.len() == STEPS;
        Claim::exact(
            format!("the losses of {STEPS} steps in {name} are those of torch"),
            worst,
            format!("greatest relative difference at most {bound:e}"),
            complete && worst <= bound,
        )
    };
    // Rounding errors of a step are about 2^-24 and 2^-53, and training multiplies them.
    Ok(vec![claim("f32", losses::<f32>()?, 0, 1e-5), claim("f64", losses::<f64>()?, 1, 1e-12)])
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
fn losses<T: Number>() -> Result<Vec<f64>> {
    let hidden = Layer { outputs: 32, activation: Activation::Relu, ..Layer::default() };
    let net = Mlp::from_layers(INPUTS, vec![hidden, Layer { outputs: CLASSES, ..Layer::default() }])?;
    let optimizer = Optimizer::Sgd { nesterov: false };
    let program = Program { net, loss: Loss::CROSS_ENTROPY, optimizer, batch: BATCH, mixed: MixedPrecision::Off };
    let hyper =
        Hyper { learning_rate: 0.05, momentum: 0.9, dampening: 0.1, weight_decay: 0.01, ..optimizer.defaults() };
    let mut numbers = Lcg(11);
    let x = numbers.fill(ROWS * INPUTS).into_iter().map(T::from_f64).collect();
    let labels = (0..ROWS).map(|_| ((numbers.next() + 1.0) / 2.0 * CLASSES as f64) as u32).collect();
    let samples = Samples::new(INPUTS, x, Targets::Labels(labels))?;
    let mut replica = Replica::<T>::new(&program, Init::Torch, 0, hyper);
    replica.set_tensors(&program.net, |name, shape| {
        let len: usize = shape.iter().product();
        if !name.starts_with("layers") {
            return Ok(vec![T::from_f64(0.0); len]);
        }
        let inputs: f64 = if name.starts_with("layers.0") { 64.0 } else { 32.0 };
        Ok(numbers.fill(len).into_iter().map(|x| T::from_f64(x / inputs.sqrt())).collect())
    })?;
    let mut worker = T::worker(&program);
    let mut found = Vec::with_capacity(STEPS);
    for step in 0..STEPS {
        let rows: Vec<u32> = (0..BATCH).map(|i| ((step * BATCH + i) * 5 % ROWS) as u32).collect();
        let segment = Segment {
            rows: &rows,
            shuffled: false,
            epoch: 0,
            batches: 0..1,
            rate: hyper.learning_rate,
            loss: 0.0,
            traces: true,
        };
        let work = Work { program: &program, samples: &samples, replica: &mut replica };
        found.extend(T::train(&mut worker, work, &segment).losses);
    }
    Ok(found)
}
