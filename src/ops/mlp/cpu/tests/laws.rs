//! The laws of random parts: noise, dropout, and the stationary laws of samplers.

use super::{Activation, Hyper, Loss, Norm, Optimizer, Program, Replica, Samples, Targets, hidden, output, program};
use crate::ops::mlp::Segment;
use crate::ops::mlp::cpu::{Trains as _, Work};
use crate::ops::mlp::layout::Layout;
use crate::ops::mlp::noise::{Purpose, Words};
use crate::ops::mlp::weights::Init;
use statrs::distribution::{ContinuousCDF as _, Normal};

/// Returns the largest difference between the distribution of the values and a normal distribution with mean 0.
fn distance(values: &[f64], deviation: f64) -> f64 {
    let (mut sorted, normal) = (values.to_vec(), Normal::new(0.0, deviation).expect("a distribution"));
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let off = |(i, x): (usize, &f64)| {
        let p = normal.cdf(*x);
        (p - i as f64 / n).abs().max((p - (i + 1) as f64 / n).abs())
    };
    sorted.iter().enumerate().map(off).fold(0.0, f64::max)
}

/// The bound on the Kolmogorov-Smirnov distance that a right sample exceeds with probability 1e-6 (Massart).
fn bound(n: usize) -> f64 {
    (2e6_f64.ln() / (2.0 * n as f64)).sqrt()
}

#[test]
fn noise_is_standard_normal() {
    let all = Words::new(5, "test").normals(Purpose::Noise, 0, 200_000);
    assert!(distance(&all, 1.0) < bound(all.len()), "{}", distance(&all, 1.0));
    let n = all.len() as f64;
    // Means of x, x^2, x^3, x^4 and of neighbors, with variances 1, 2, 15, 96 and 1; six deviations.
    let moment = |power: i32| all.iter().map(|x| x.powi(power)).sum::<f64>() / n;
    for (power, mean, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0_f64)] {
        let off = (moment(power) - mean).abs();
        assert!(off < 6.0 * (variance / n).sqrt(), "moment {power} off by {off}");
    }
    for lag in [1, 16, 32, 64] {
        let product = all.windows(lag + 1).map(|w| w[0] * w[lag]).sum::<f64>() / n;
        assert!(product.abs() < 6.0 / n.sqrt(), "lag {lag}: {product}");
    }
    // The largest of 200,000 is between 4 and the largest of all.
    let largest = all.iter().fold(0.0_f64, |max, x| max.max(x.abs()));
    assert!(largest > 4.0 && largest < 5.9, "{largest}");
}

/// A network of one input and one output, whose loss is w^2 + b^2 for the inputs 1 and -1 with the value 0.
fn bowl(batch: usize, spread: f64) -> (Program, Samples<f32>) {
    let program = program(1, vec![output(1)], Loss::MeanSquares, Optimizer::Sgld, batch);
    let (x, t) = if spread == 0.0 { (1.0, 0.0) } else { (0.0, spread as f32) };
    let samples = Samples::new(1, vec![x, -x], Targets::Values(vec![t, -t], 1)).expect("samples");
    (program, samples)
}

/// Returns two coordinates of 4,096 chains after `steps` epochs, and once more an epoch later.
fn chains(program: &Program, samples: &Samples<f32>, hyper: Hyper, epochs: u64) -> Vec<[[f64; 2]; 2]> {
    let rows = [0, 1];
    let blocks = Layout::new(&program.net).blocks;
    let mut worker = f32::worker(program);
    let state = |replica: &Replica<f32>| [0, 1].map(|i| f64::from(replica.moved.weights[blocks[i].at]));
    (0..4096)
        .map(|seed| {
            let mut replica = Replica::new(program, Init::Normal(1.0), seed, hyper);
            let mut run = |epochs: std::ops::Range<u64>| {
                for epoch in epochs {
                    let batches = 0..2 / program.batch;
                    let rate = hyper.learning_rate;
                    let segment =
                        Segment { rows: &rows, shuffled: true, epoch, batches, rate, loss: 0.0, traces: false };
                    f32::train(&mut worker, Work { program, samples, replica: &mut replica }, &segment);
                }
                state(&replica)
            };
            [run(0..epochs), run(epochs..epochs + 1)]
        })
        .collect()
}

/// Langevin dynamics on L = w^2 + b^2: a step is w (1 - e h / 2) + sqrt(e T) xi with h = 2 s + p, whose stationary law
/// is normal with variance T / (h (1 - e h / 4)) and correlation 1 - e h / 2 between steps.
#[test]
fn sgld_has_its_law() {
    let (program, samples) = bowl(2, 0.0);
    for (e, t, s, p) in [(0.1, 1.0, 1.0, 0.0), (0.3, 0.25, 1.0, 1.0), (0.02, 4.0, 20.0, 5.0), (1.5, 1.0, 0.5, 0.5)] {
        let hyper = Hyper {
            learning_rate: e,
            temperature: t,
            gradient_scale: s,
            prior_precision: p,
            ..Optimizer::Sgld.defaults()
        };
        let h = 2.0 * s + p;
        let shrink = 1.0 - e * h / 2.0;
        // Until the start is forgotten to 1e-4.
        let epochs = (1e-4_f64.ln() / f64::abs(shrink).max(1e-3).ln()).ceil() as u64;
        let found = chains(&program, &samples, hyper, epochs);
        let variance = t / (h * (1.0 - e * h / 4.0));
        check_law(&found, variance, shrink, &format!("e {e}, T {t}, s {s}, p {p}"));
    }
}

/// Checks the distribution of both coordinates, their covariance, and the correlation with the next epoch.
#[track_caller]
fn check_law(found: &[[[f64; 2]; 2]], variance: f64, correlation: f64, case: &str) {
    let n = found.len() as f64;
    for coordinate in 0..2 {
        let values: Vec<f64> = found.iter().map(|chain| chain[0][coordinate]).collect();
        let off = distance(&values, variance.sqrt());
        assert!(off < bound(values.len()), "{case}, coordinate {coordinate}: distance {off}");
        let lagged = found.iter().map(|chain| chain[0][coordinate] * chain[1][coordinate]).sum::<f64>() / n / variance;
        // The product of two standard normals has variance 1 + r^2.
        assert!(
            (lagged - correlation).abs() < 6.0 * ((1.0 + correlation * correlation) / n).sqrt(),
            "{case}: correlation {lagged}"
        );
        let mean = values.iter().sum::<f64>() / n;
        assert!(mean.abs() < 6.0 * (variance / n).sqrt(), "{case}: mean {mean}");
    }
    let mixed = found.iter().map(|chain| chain[0][0] * chain[0][1]).sum::<f64>() / n / variance;
    assert!(mixed.abs() < 6.0 / n.sqrt(), "{case}: covariance {mixed}");
}

/// The same with batches of one of two samples, whose gradients are 2 b -+ 2 t. An epoch visits both, in random order,
/// so its two errors cancel up to the factor 1 - a, where a = 1 - e h / 2: the stationary variance at the ends of
/// epochs is ((1 + a^2) e T + (1 - a)^2 (e t)^2) / (1 - a^4).
#[test]
fn sgld_has_its_law_with_noisy_gradients() {
    let t = 3.0;
    let (program, samples) = bowl(1, t);
    let (e, temperature) = (0.5, 0.1);
    let hyper = Hyper { learning_rate: e, temperature, prior_precision: 0.5, ..Optimizer::Sgld.defaults() };
    let found = chains(&program, &samples, hyper, 40);
    let a = 1.0 - e * 2.5 / 2.0;
    let variance = ((1.0 + a * a) * e * temperature + (1.0 - a).powi(2) * (e * t).powi(2)) / (1.0 - a.powi(4));
    let n = found.len() as f64;
    let second = found.iter().map(|chain| chain[0][1].powi(2)).sum::<f64>() / n;
    // The law is a mixture, so only its variance is compared; a fourth moment of at most three squared variances.
    assert!((second / variance - 1.0).abs() < 6.0 * (2.0 / n).sqrt(), "{second}, expected {variance}");
    let mean = found.iter().map(|chain| chain[0][1]).sum::<f64>() / n;
    assert!(mean.abs() < 6.0 * (variance / n).sqrt(), "mean {mean}");
}

/// An infinite temperature draws from the prior in every step.
#[test]
fn beta_0_is_the_prior() {
    let (program, samples) = bowl(2, 0.0);
    let hyper = Hyper { temperature: f64::INFINITY, prior_precision: 4.0, ..Optimizer::Sgld.defaults() };
    let found = chains(&program, &samples, hyper, 1);
    check_law(&found, 0.25, 0.0, "prior");
}

/// pSGLD with a constant preconditioner. With inputs and values of 0, the gradient is 2 b (the bowl in b alone), so V
/// depends on the chain; after its burn-in of 0 steps V stays 0, G = 1 / epsilon, and the law is that of SGLD with the
/// step e G.
#[test]
fn frozen_psgld_has_its_law() {
    let (program, samples) = bowl(2, 0.0);
    let program = Program { optimizer: Optimizer::Psgld, ..program };
    let (e, epsilon, t) = (0.05, 0.25, 0.5);
    let hyper = Hyper { learning_rate: e, epsilon, temperature: t, burn_in: 0.0, ..Optimizer::Psgld.defaults() };
    let found = chains(&program, &samples, hyper, 60);
    let step = e / epsilon;
    check_law(&found, t / (2.0 * (1.0 - step * 2.0 / 4.0)), 1.0 - step, "psgld");
}

/// Dropout keeps the mean: the mean of the outputs over many steps is the output in evaluation, because the network is
/// linear.
#[test]
fn dropout_keeps_the_mean() {
    let layers = vec![hidden(40, Activation::Identity, Norm::None, 0.2), output(1)];
    let program = program(3, layers, Loss::MeanSquares, Optimizer::Sgd { nesterov: false }, 1);
    let samples = Samples::new(3, vec![0.3, -0.8, 0.5], Targets::Values(vec![0.0], 1)).expect("samples");
    let mut replica = Replica::<f64>::new(&program, Init::Xavier, 6, program.optimizer.defaults());
    let mut worker = f64::worker(&program);
    let mut fixed = 0.0;
    let work = Work { program: &program, samples: &samples, replica: &mut replica };
    f64::evaluate(&mut worker, work, &[0], &mut |z| fixed = z[0]);
    // The loss is the square of the output; its mean is the square of the mean plus the variance of the kept parts.
    let trials = 200_000;
    let layout = Layout::new(&program.net);
    let w = |block: usize, i: usize, j: usize| replica.moved.weights[layout.blocks[block].row(i).start + j];
    let x = [0.3, -0.8, 0.5];
    let parts: Vec<f64> = (0..40).map(|j| (0..3).map(|i| x[i] * w(0, i, j)).sum::<f64>() * w(2, 0, j)).collect();
    let share = (0.2 * 65536.0_f64).round() / 65536.0;
    let variance: f64 = parts.iter().map(|part| part * part * share / (1.0 - share)).sum();
    let (mut sum, mut square) = (0.0, 0.0);
    for step in 0..trials {
        replica.steps = step;
        let work = Work { program: &program, samples: &samples, replica: &mut replica };
        let (loss, _) = f64::gradient_of(&mut worker, work, &[0]);
        (sum, square) = (sum + loss, square + loss * loss);
    }
    let n = trials as f64;
    let mean = sum / n;
    let deviation = ((square / n - mean * mean) / n).sqrt();
    let wanted = fixed * fixed + variance;
    assert!((mean - wanted).abs() < 6.0 * deviation, "{mean}, expected {wanted} +- {deviation}");
}

/// Batch normalization in evaluation is an affine map: the output of a mean is the mean of the outputs.
#[test]
fn batch_normalization_is_affine_in_evaluation() {
    let layers = vec![hidden(9, Activation::Identity, Norm::Batch, 0.0), output(2)];
    let program = program(4, layers, Loss::CROSS_ENTROPY, Optimizer::Adam, 8);
    let train = super::samples::<f64>(&program, 32, 3);
    let mut replica = Replica::<f64>::new(&program, Init::Xavier, 2, program.optimizer.defaults());
    let rows: Vec<u32> = (0..32).collect();
    let segment =
        Segment { rows: &rows, shuffled: true, epoch: 0, batches: 0..4, rate: 0.01, loss: 0.0, traces: false };
    let mut worker = f64::worker(&program);
    f64::train(&mut worker, Work { program: &program, samples: &train, replica: &mut replica }, &segment);
    // The logits are the logarithms of the probabilities, up to a constant that their difference does not have.
    let mut logit = |x: Vec<f64>| {
        let one = Samples::new(4, x, Targets::Labels(vec![0])).expect("a sample");
        let mut found = 0.0;
        let work = Work { program: &program, samples: &one, replica: &mut replica };
        f64::evaluate(&mut worker, work, &[0], &mut |p| found = (p[0] / p[1]).ln());
        found
    };
    let (a, b) = (vec![0.1, -0.5, 0.9, 0.3], vec![-0.7, 0.2, 0.4, -0.1]);
    let middle: Vec<f64> = a.iter().zip(&b).map(|(a, b)| 0.5 * (a + b)).collect();
    let (mean, of_mean) = (0.5 * (logit(a) + logit(b)), logit(middle));
    assert!((mean - of_mean).abs() < 1e-13, "{mean} and {of_mean}");
}
