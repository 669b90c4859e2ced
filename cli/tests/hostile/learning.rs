//! Training: each form of the kernels, with every kind of layer, loss and optimizer, for a few steps.

use super::problems::{Problem, noise};
use fiedler::forms::{KernelForm, MlpForm};
use fiedler::train::{
    Activation, Hyper, Loss, MixedPrecision, Mlp, MlpBuilder, Norm, Optimizer, Runs, Samples, Scaling, Split, Targets,
    Trainer,
};
use fiedler::{Context, Result};
use std::iter;

/// A network, what it learns, and how.
#[derive(Clone)]
struct Course {
    net: Mlp,
    loss: Loss,
    optimizer: Optimizer,
    hyper: Hyper,
    mixed: MixedPrecision,
    scaling: Scaling,
    batch: usize,
    samples: usize,
    epochs: u64,
}

impl Course {
    fn new(net: Mlp, loss: Loss, optimizer: Optimizer) -> Self {
        let (hyper, mixed) = (optimizer.defaults(), MixedPrecision::Off);
        Self { net, loss, optimizer, hyper, mixed, scaling: Scaling::None, batch: 8, samples: 45, epochs: 2 }
    }

    /// Returns the parameters and the losses of two runs. The gradient of the second run is bounded.
    fn run(&self, ctx: &Context) -> Result<Vec<f64>> {
        let (count, inputs, outputs) = (self.samples, self.net.inputs(), self.net.outputs());
        let x = noise(count * inputs, inputs);
        let targets = if self.loss.takes_labels() {
            Targets::Labels((0..count as u32).map(|i| i % outputs.max(2) as u32).collect())
        } else {
            let outputs = if self.loss == Loss::WeightedBinary { 2 } else { outputs };
            Targets::Values(noise(count * outputs, 9).into_iter().map(f32::abs).collect(), outputs)
        };
        let bounded = Hyper { clip: self.hyper.clip.min(0.5), ..self.hyper };
        let fit = Trainer::new(self.net.clone(), self.loss.clone(), self.optimizer)
            .batch(self.batch)
            .epochs(self.epochs)
            .scaling(self.scaling)
            .mixed_precision(self.mixed)
            .split(Split { shares: [0.8, 0.2, 0.0], seed: Some(1) })
            .fit(ctx, &Samples::new(inputs, x, targets)?, &Runs::of_rows([(3, self.hyper), (4, bounded)])?)?;
        let mut out = Vec::new();
        for (place, run) in fit.runs().iter().enumerate() {
            out.extend(fit.weights(place).iter().flat_map(|tensor| tensor.data.iter().map(|&x| f64::from(x))));
            out.extend(run.history().iter().map(|epoch| epoch.loss));
        }
        Ok(out)
    }
}

fn courses() -> Result<Vec<(&'static str, Course)>> {
    let sgd = Optimizer::Sgd { nesterov: false };
    let plain = Mlp::builder(5).layer(9, Activation::Relu).output(3)?;
    let normed = |norm| Mlp::builder(6).layer(11, Activation::Tanh).norm(norm).layer(5, Activation::Gelu).output(3);
    let dropped = Mlp::builder(7).layer(10, Activation::LeakyRelu(0.1)).dropout(0.3).layer(6, Activation::Sigmoid);
    let single = |activation| Mlp::builder(4).layer(7, activation).output(1);
    let course = Course::new(plain.clone(), Loss::CROSS_ENTROPY, sgd);
    let smoothed = Loss::CrossEntropy { label_smoothing: 0.1, class_weights: vec![1.0, 2.0, 0.5] };
    let momentum = Hyper { momentum: 0.9, dampening: 0.1, weight_decay: 0.01, ..sgd.defaults() };
    let nesterov = Optimizer::Sgd { nesterov: true };
    let of = |net, loss, optimizer| Course::new(net, loss, optimizer);
    Ok(vec![
        ("plain", course.clone()),
        ("momentum", Course { hyper: momentum, ..course.clone() }),
        ("one layer", of(Mlp::builder(3).output(2)?, smoothed_for_two(), sgd)),
        ("batch normalization", of(normed(Norm::Batch)?, smoothed, sgd)),
        (
            "layer normalization",
            Course { scaling: Scaling::Standard, ..of(normed(Norm::Layer)?, Loss::BoundedCrossEntropy(4.0), sgd) },
        ),
        // A rate at which derivatives with another mask lead elsewhere.
        (
            "dropout",
            Course {
                hyper: Hyper { learning_rate: 0.3, ..sgd.defaults() },
                ..of(dropped.output(3)?, Loss::CROSS_ENTROPY, sgd)
            },
        ),
        (
            "sums of several tiles",
            Course {
                batch: 20,
                samples: 25,
                epochs: 1,
                ..of(Mlp::builder(20).layer(20, Activation::Relu).output(20)?, Loss::CROSS_ENTROPY, sgd)
            },
        ),
        (
            "a loss that is not finite in the second step",
            Course {
                samples: 20,
                epochs: 1,
                hyper: Hyper { learning_rate: 1e30, ..sgd.defaults() },
                ..of(single(Activation::Relu)?, Loss::MeanSquares, sgd)
            },
        ),
        (
            "SGLD of a line",
            Course { samples: 20, epochs: 1, ..of(Mlp::builder(1).output(1)?, Loss::MeanSquares, Optimizer::Sgld) },
        ),
        (
            "Nesterov's momentum, an L1 term, mean squares",
            Course {
                hyper: Hyper { momentum: 0.8, l1: 0.01, ..nesterov.defaults() },
                ..of(Mlp::builder(5).layer(8, Activation::Identity).output(2)?, Loss::MeanSquares, nesterov)
            },
        ),
        (
            "Adam",
            Course {
                hyper: Hyper { epsilon: 1e-3, weight_decay: 0.1, ..Optimizer::Adam.defaults() },
                ..of(plain.clone(), Loss::CROSS_ENTROPY, Optimizer::Adam)
            },
        ),
        (
            "AdamW",
            Course {
                hyper: Hyper { epsilon: 1e-3, ..Optimizer::AdamW.defaults() },
                ..of(single(Activation::Relu)?, Loss::BinaryCrossEntropy, Optimizer::AdamW)
            },
        ),
        (
            "SGLD",
            Course {
                hyper: Hyper {
                    learning_rate: 1e-3,
                    temperature: 0.1,
                    prior_precision: 0.5,
                    ..Optimizer::Sgld.defaults()
                },
                ..of(plain.clone(), Loss::CROSS_ENTROPY, Optimizer::Sgld)
            },
        ),
        (
            "pSGLD",
            Course {
                hyper: Hyper { learning_rate: 1e-3, epsilon: 1e-2, burn_in: 5.0, ..Optimizer::Psgld.defaults() },
                ..of(plain.clone(), Loss::CROSS_ENTROPY, Optimizer::Psgld)
            },
        ),
        ("tangent loss", of(single(Activation::Tanh)?, Loss::Tangent, sgd)),
        ("Savage loss", of(single(Activation::Relu)?, Loss::Savage, sgd)),
        ("weighted binary loss", of(single(Activation::Gelu)?, Loss::WeightedBinary, sgd)),
        ("a bounded loss of one output", of(single(Activation::Relu)?, Loss::BoundedCrossEntropy(4.0), sgd)),
        // The sums of 64 batches are added up before the others.
        ("many batches", Course { batch: 1, samples: 85, ..course.clone() }),
        (
            "a loss that is not finite",
            Course {
                // The scale of f16 is below 1 before the end.
                batch: 1,
                hyper: Hyper { learning_rate: 1e30, ..sgd.defaults() },
                ..of(single(Activation::Relu)?, Loss::MeanSquares, sgd)
            },
        ),
        (
            "a loss that is not finite, bf16",
            Course {
                mixed: MixedPrecision::Bf16,
                hyper: Hyper { learning_rate: 1e30, ..sgd.defaults() },
                ..of(single(Activation::Relu)?, Loss::MeanSquares, sgd)
            },
        ),
        (
            "draws from the prior",
            Course {
                hyper: Hyper { temperature: f64::INFINITY, prior_precision: 2.0, ..Optimizer::Sgld.defaults() },
                ..of(plain.clone(), Loss::CROSS_ENTROPY, Optimizer::Sgld)
            },
        ),
        ("activations behind norms", of(behind_norms()?, Loss::CROSS_ENTROPY, sgd)),
        ("bf16", Course { mixed: MixedPrecision::Bf16, ..of(normed(Norm::Batch)?, Loss::CROSS_ENTROPY, sgd) }),
        (
            "a wide layer",
            Course {
                batch: 33,
                ..of(
                    Mlp::builder(70).layer(66, Activation::Relu).norm(Norm::Batch).output(2)?,
                    Loss::CROSS_ENTROPY,
                    sgd,
                )
            },
        ),
    ])
}

fn behind_norms() -> Result<Mlp> {
    let all = [Activation::Identity, Activation::LeakyRelu(0.1), Activation::Gelu, Activation::Sigmoid];
    let layer = |net: MlpBuilder, activation| net.layer(6, activation).norm(Norm::Batch).dropout(0.2);
    all.into_iter().fold(Mlp::builder(5), layer).output(3)
}

fn smoothed_for_two() -> Loss {
    Loss::CrossEntropy { label_smoothing: 0.2, class_weights: Vec::new() }
}

pub(super) fn problems() -> Vec<Problem> {
    let mut all = Vec::new();
    let courses = courses().expect("networks").into_iter();
    let twice = courses.flat_map(|(name, course)| {
        let f16 = (course.mixed == MixedPrecision::Off)
            .then(|| (format!("{name}, f16"), Course { mixed: MixedPrecision::F16, ..course.clone() }));
        iter::once((name.to_owned(), course)).chain(f16)
    });
    for (name, course) in twice {
        for form in [MlpForm::Resident, MlpForm::Streamed, MlpForm::Stored, MlpForm::Layered] {
            // A layer at a time is computed in f32 alone.
            if form == MlpForm::Layered && course.mixed != MixedPrecision::Off {
                continue;
            }
            let course = course.clone();
            let allowed = if course.mixed == MixedPrecision::Off { 2e-3 } else { 5e-2 };
            let problem = Problem::new(format!("training, {name}, {}", form.name()), move |ctx| course.run(ctx));
            all.push(problem.form(KernelForm::Mlp(form)).allowed(allowed));
        }
    }
    // After 2,000 steps, the scale of f16 grows.
    let line = Mlp::builder(1).output(1).expect("a network");
    let course = Course::new(line, Loss::MeanSquares, Optimizer::Sgd { nesterov: false });
    let long = Course { mixed: MixedPrecision::F16, batch: 1, samples: 85, epochs: 31, ..course };
    let problem = Problem::new("training, 2,108 steps, f16, resident", move |ctx| long.run(ctx));
    all.push(problem.form(KernelForm::Mlp(MlpForm::Resident)).allowed(5e-2));
    all
}
