//! The words of experiment files for parts of a training, which are those of `fiedler train`.

use crate::ops::mlp::{Activation, Init, Loss, MixedPrecision, Norm, Optimizer};
use crate::train::Scaling;
use serde::{Deserialize, Serialize};

/// Declares an enum whose variants have lowercase names in files.
macro_rules! words {
    ($(#[$about:meta])* $name:ident: $default:ident, $($(#[$doc:meta])* $variant:ident),+) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self::$default
            }
        }
    };
}

words! {
    /// The activation of the hidden layers.
    ActivationName: Relu,
    /// max(x, 0).
    Relu,
    /// max(x, 0.01 x).
    Leaky,
    /// x Phi(x).
    Gelu,
    /// The hyperbolic tangent.
    Tanh,
    /// The logistic function.
    Sigmoid
}

words! {
    /// The normalization of the hidden layers.
    NormName: None,
    /// None.
    None,
    /// Batch normalization.
    Batch,
    /// Layer normalization.
    Layer
}

words! {
    /// The loss.
    LossName: Ce,
    /// Softmax cross entropy.
    Ce,
    /// Binary cross entropy of logits, for two classes.
    Bce,
    /// Cross entropy that is bounded by 4.
    Bounded,
    /// Mean squares of values.
    Mse,
    /// The tangent loss, for two classes.
    Tangent,
    /// The Savage loss, for two classes.
    Savage
}

words! {
    /// The optimizer.
    OptimizerName: Adam,
    /// Stochastic gradient descent.
    Sgd,
    /// The same with Nesterov's momentum.
    Nesterov,
    /// Adam.
    Adam,
    /// Adam with decoupled weight decay.
    Adamw
}

words! {
    /// The law of the initial weights.
    InitName: Torch,
    /// Uniform with the bound 1 / sqrt(inputs), as in `torch.nn.Linear`.
    Torch,
    /// Xavier's uniform law.
    Xavier,
    /// Kaiming's uniform law.
    Kaiming
}

words! {
    /// How inputs are scaled.
    ScaleName: Standard,
    /// By the mean and the standard deviation of the training samples of each run.
    Standard,
    /// Not at all.
    None
}

words! {
    /// The precision of a training.
    PrecisionName: F32,
    /// Single precision.
    F32,
    /// Double precision, on the CPU.
    F64,
    /// f32 with products of f16 numbers.
    F16,
    /// f32 with products of bf16 numbers.
    Bf16
}

impl From<ActivationName> for Activation {
    fn from(name: ActivationName) -> Self {
        match name {
            ActivationName::Relu => Self::Relu,
            ActivationName::Leaky => Self::LeakyRelu(0.01),
            ActivationName::Gelu => Self::Gelu,
            ActivationName::Tanh => Self::Tanh,
            ActivationName::Sigmoid => Self::Sigmoid,
        }
    }
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

impl From<OptimizerName> for Optimizer {
    fn from(name: OptimizerName) -> Self {
        match name {
            OptimizerName::Sgd => Self::Sgd { nesterov: false },
            OptimizerName::Nesterov => Self::Sgd { nesterov: true },
            OptimizerName::Adam => Self::Adam,
            OptimizerName::Adamw => Self::AdamW,
        }
    }
}

impl From<InitName> for Init {
    fn from(name: InitName) -> Self {
        match name {
            InitName::Torch => Self::Torch,
            InitName::Xavier => Self::Xavier,
            InitName::Kaiming => Self::Kaiming,
        }
    }
}

impl From<ScaleName> for Scaling {
    fn from(name: ScaleName) -> Self {
        match name {
            ScaleName::Standard => Self::Standard,
            ScaleName::None => Self::None,
        }
    }
}

impl PrecisionName {
    /// Returns the precision of the operands of products.
    pub(in crate::experiment) fn mixed(self) -> MixedPrecision {
        match self {
            Self::F32 | Self::F64 => MixedPrecision::Off,
            Self::F16 => MixedPrecision::F16,
            Self::Bf16 => MixedPrecision::Bf16,
        }
    }
}

impl LossName {
    pub(in crate::experiment) fn of(self, label_smoothing: f64) -> Loss {
        match self {
            Self::Ce => Loss::CrossEntropy { label_smoothing, class_weights: Vec::new() },
            Self::Bce => Loss::BinaryCrossEntropy,
            Self::Bounded => Loss::BoundedCrossEntropy(4.0),
            Self::Mse => Loss::MeanSquares,
            Self::Tangent => Loss::Tangent,
            Self::Savage => Loss::Savage,
        }
    }

    /// Returns the number of outputs for labels of the given number of classes, or what is wrong.
    pub(in crate::experiment) fn outputs(self, classes: usize) -> Result<usize, String> {
        match self {
            Self::Ce => Ok(classes),
            Self::Bounded if classes > 2 => Ok(classes),
            _ if classes > 2 => Err(format!("expected two classes, found {classes}")),
            _ => Ok(1),
        }
    }
}
