//! The names of what a training consists of, and how option values are parsed.

use crate::commands::values::{finite, whole};
use clap::ValueEnum;
use fiedler::train::{Activation, Init, Loss, MixedPrecision, Norm, Optimizer, Scaling, Schedule};

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum ActivationName {
    Relu,
    /// With the slope 0.01.
    LeakyRelu,
    Gelu,
    Tanh,
    Sigmoid,
}

impl From<ActivationName> for Activation {
    fn from(name: ActivationName) -> Self {
        match name {
            ActivationName::Relu => Self::Relu,
            ActivationName::LeakyRelu => Self::LeakyRelu(0.01),
            ActivationName::Gelu => Self::Gelu,
            ActivationName::Tanh => Self::Tanh,
            ActivationName::Sigmoid => Self::Sigmoid,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(in crate::commands) enum NormName {
    None,
    Batch,
    Layer,
}

impl From<NormName> for Norm {
    fn from(name: NormName) -> Self {
        match name {
            NormName::None => Self::None,
            NormName::Batch => Self::Batch,
            NormName::Layer => Self::Layer,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(in crate::commands) enum LossName {
    /// Softmax cross entropy.
    Ce,
    /// Binary cross entropy of logits, for two classes.
    Bce,
    /// Cross entropy that is bounded by 4; with two classes, the network has one output.
    Bounded,
    /// Mean squares of values.
    Mse,
    /// The tangent loss, for two classes.
    Tangent,
    /// The Savage loss, for two classes.
    Savage,
    /// Binary cross entropy with two given weights for each sample, in a file of arrays.
    Weighted,
}

impl LossName {
    pub(super) fn takes_labels(self) -> bool {
        !matches!(self, Self::Mse | Self::Weighted)
    }

    pub(super) fn of(self, label_smoothing: f64) -> Loss {
        match self {
            Self::Ce => Loss::CrossEntropy { label_smoothing, class_weights: Vec::new() },
            Self::Bce => Loss::BinaryCrossEntropy,
            Self::Bounded => Loss::BoundedCrossEntropy(4.0),
            Self::Mse => Loss::MeanSquares,
            Self::Tangent => Loss::Tangent,
            Self::Savage => Loss::Savage,
            Self::Weighted => Loss::WeightedBinary,
        }
    }

    /// Returns the number of outputs for labels of the given number of classes.
    pub(super) fn outputs(self, classes: usize) -> Result<usize, String> {
        match self {
            Self::Ce => Ok(classes),
            Self::Bounded if classes > 2 => Ok(classes),
            _ if classes > 2 => Err(format!("expected two classes, found {classes}")),
            _ => Ok(1),
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(in crate::commands) enum OptimizerName {
    Sgd,
    /// sgd with Nesterov's momentum.
    Nesterov,
    Adam,
    Adamw,
    /// Stochastic gradient Langevin dynamics.
    Sgld,
    /// The same with a preconditioner.
    Psgld,
}

impl From<OptimizerName> for Optimizer {
    fn from(name: OptimizerName) -> Self {
        match name {
            OptimizerName::Sgd => Self::Sgd { nesterov: false },
            OptimizerName::Nesterov => Self::Sgd { nesterov: true },
            OptimizerName::Adam => Self::Adam,
            OptimizerName::Adamw => Self::AdamW,
            OptimizerName::Sgld => Self::Sgld,
            OptimizerName::Psgld => Self::Psgld,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum InitName {
    /// Uniform with the bound 1 / sqrt(inputs), as in torch.nn.Linear.
    Torch,
    Xavier,
    Kaiming,
    /// Normal with the deviation of --init-deviation.
    Normal,
}

impl InitName {
    pub(super) fn of(self, deviation: f64) -> Init {
        match self {
            Self::Torch => Init::Torch,
            Self::Xavier => Init::Xavier,
            Self::Kaiming => Init::Kaiming,
            Self::Normal => Init::Normal(deviation),
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum ScalingName {
    None,
    Standard,
}

impl From<ScalingName> for Scaling {
    fn from(name: ScalingName) -> Self {
        match name {
            ScalingName::None => Self::None,
            ScalingName::Standard => Self::Standard,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(in crate::commands) enum Precision {
    F32,
    F64,
    /// f32 with products of f16 numbers, whose losses are scaled.
    F16,
    /// f32 with products of bf16 numbers.
    Bf16,
}

impl Precision {
    /// Returns the precision of the operands of products.
    pub(super) fn mixed(self) -> MixedPrecision {
        match self {
            Self::F32 | Self::F64 => MixedPrecision::Off,
            Self::F16 => MixedPrecision::F16,
            Self::Bf16 => MixedPrecision::Bf16,
        }
    }
}

/// Parses the shares of training, validation and test samples.
pub(super) fn split(text: &str) -> Result<[f64; 3], String> {
    let shares: Vec<f64> = text.split(',').map(finite).collect::<Result<_, _>>()?;
    let shares = match shares[..] {
        [a, b] => [a, 0.0, b],
        [a, b, c] => [a, b, c],
        _ => return Err("expected the shares of training, validation and test, such as 0.7,0.1,0.2".to_owned()),
    };
    let valid = shares[0] > 0.0 && shares.iter().all(|share| *share >= 0.0);
    if valid && (shares.iter().sum::<f64>() - 1.0).abs() < 1e-9 {
        Ok(shares)
    } else {
        Err("expected shares of at least 0 that sum to 1, the first above 0".to_owned())
    }
}

/// Parses a schedule.
pub(super) fn schedule(text: &str) -> Result<Schedule, String> {
    let (name, values) = text.split_once(':').unwrap_or((text, ""));
    let values: Vec<&str> = values.split(',').filter(|value| !value.is_empty()).collect();
    let made = match (name, &values[..]) {
        ("constant", []) => Schedule::Constant,
        ("step", [every, factor]) => Schedule::Step { every: whole(every)?, factor: finite(factor)? },
        ("cosine", []) => Schedule::Cosine { floor: 0.0 },
        ("cosine", [floor]) => Schedule::Cosine { floor: finite(floor)? },
        ("power", [exponent]) => Schedule::Power { exponent: finite(exponent)?, floor: 0.0 },
        ("power", [exponent, floor]) => Schedule::Power { exponent: finite(exponent)?, floor: finite(floor)? },
        ("plateau", [factor, patience]) => Schedule::Plateau { factor: finite(factor)?, patience: whole(patience)? },
        _ => {
            let known = "constant, step:EVERY,FACTOR, cosine:FLOOR, power:EXPONENT,FLOOR or plateau:FACTOR,PATIENCE";
            return Err(format!("expected {known}"));
        }
    };
    made.check().map_err(|error| error.to_string())?;
    Ok(made)
}
