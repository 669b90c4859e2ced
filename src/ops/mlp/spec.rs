//! The description of a network: its layers, and the loss that training minimizes.

use crate::error::{Error, Result};
use std::fmt;

/// The name of the operation in errors.
pub(super) const NAME: &str = "mlp";
/// The largest number of layers.
const MOST_LAYERS: usize = 16;
/// The largest width of a layer, and the largest number of inputs.
const WIDEST: usize = 1 << 20;

/// The function that a layer applies to each of its elements.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Activation {
    /// x.
    #[default]
    Identity,
    /// max(x, 0). Its derivative at 0 is 0.
    Relu,
    /// x where x is positive, and the given slope times x elsewhere.
    LeakyRelu(f64),
    /// x Phi(x), where Phi is the distribution function of the standard normal. This is the exact form.
    Gelu,
    /// The hyperbolic tangent.
    Tanh,
    /// 1 / (1 + exp(-x)).
    Sigmoid,
}

/// The normalization of a layer, between its linear map and its activation. Both kinds scale and shift the normalized
/// elements by trained parameters. The variance has 1e-5 added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Norm {
    /// None.
    #[default]
    None,
    /// Batch normalization. Each feature is normalized over the samples of the batch. Evaluation uses running means and
    /// unbiased running variances with a momentum of 0.1, as `torch.nn.BatchNorm1d` does.
    Batch,
    /// Layer normalization. Each sample is normalized over its features, as `torch.nn.LayerNorm` does.
    Layer,
}

/// One layer: a linear map, then the normalization, the activation and the dropout.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Layer {
    /// The number of outputs.
    pub outputs: usize,
    /// The normalization.
    pub norm: Norm,
    /// The activation.
    pub activation: Activation,
    /// The probability with which dropout sets an output to zero in training. It is rounded to a multiple of 2^-16.
    pub dropout: f64,
}

/// A multilayer perceptron: the number of inputs, and the layers.
///
/// ```
/// use fiedler::ops::mlp::{Activation, Mlp};
///
/// let net = Mlp::builder(100).layer(30, Activation::Relu).dropout(0.2).layer(20, Activation::Relu).output(3)?;
/// assert_eq!(net.parameters(), 100 * 30 + 30 + 30 * 20 + 20 + 20 * 3 + 3);
/// assert_eq!(net.to_string(), "100-30-20-3");
/// # Ok::<(), fiedler::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Mlp {
    inputs: usize,
    layers: Vec<Layer>,
}

impl Mlp {
    /// Begins a network with the given number of inputs.
    #[must_use]
    pub fn builder(inputs: usize) -> MlpBuilder {
        MlpBuilder(Self { inputs, layers: Vec::new() })
    }

    /// Creates a network from its layers. The last layer is the output.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if there is no layer or more than 16, if a width is 0 or more than 2^20, if a
    /// dropout is not in `[0, 1)`, if a slope is not in `(0, 1]`, or if the output layer has a normalization, an
    /// activation or a dropout, which belong to the loss or make no sense there.
    pub fn from_layers(inputs: usize, layers: Vec<Layer>) -> Result<Self> {
        let wrong = |what: String| Err(Error::domain(NAME, what));
        if layers.is_empty() || layers.len() > MOST_LAYERS {
            return wrong(format!("expected 1 to {MOST_LAYERS} layers, found {}", layers.len()));
        }
        for (place, width) in std::iter::once(inputs).chain(layers.iter().map(|layer| layer.outputs)).enumerate() {
            if width == 0 || width > WIDEST {
                let what = if place == 0 { "inputs".to_owned() } else { format!("outputs of layer {place}") };
                return wrong(format!("expected 1 to {WIDEST} {what}, found {width}"));
            }
        }
        for (place, layer) in layers.iter().enumerate() {
            if !(0.0..1.0).contains(&layer.dropout) {
                return wrong(format!("expected a dropout from 0 to less than 1, found {}", layer.dropout));
            }
            if let Activation::LeakyRelu(slope) = layer.activation
                && !(slope > 0.0 && slope <= 1.0)
            {
                return wrong(format!("expected a slope above 0 and at most 1, found {slope}"));
            }
            let plain = Layer { outputs: layer.outputs, ..Layer::default() };
            if place + 1 == layers.len() && *layer != plain {
                return wrong(format!("expected an output layer that is a linear map alone, found {layer:?}"));
            }
        }
        Ok(Self { inputs, layers })
    }

    /// Returns the number of inputs.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Returns the number of outputs.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.layers.last().map_or(self.inputs, |layer| layer.outputs)
    }

    /// Returns the layers. The last layer is the output.
    #[must_use]
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Returns the number of parameters: weights, biases, and the gains and shifts of normalizations.
    #[must_use]
    pub fn parameters(&self) -> usize {
        let of = |inputs: usize, layer: &Layer| {
            inputs * layer.outputs + if layer.norm == Norm::None { 1 } else { 3 } * layer.outputs
        };
        self.with_inputs().map(|(inputs, layer)| of(inputs, layer)).sum()
    }

    /// Returns each layer with the number of its inputs.
    pub(super) fn with_inputs(&self) -> impl Iterator<Item = (usize, &Layer)> {
        let inputs = std::iter::once(self.inputs).chain(self.layers.iter().map(|layer| layer.outputs));
        inputs.zip(&self.layers)
    }
}

/// The widths, joined by hyphens.
impl fmt::Display for Mlp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.inputs)?;
        self.layers.iter().try_for_each(|layer| write!(f, "-{}", layer.outputs))
    }
}

/// A network that has no output layer yet.
#[derive(Clone, Debug)]
pub struct MlpBuilder(Mlp);

impl MlpBuilder {
    /// Adds a hidden layer.
    #[must_use]
    pub fn layer(mut self, outputs: usize, activation: Activation) -> Self {
        self.0.layers.push(Layer { outputs, activation, ..Layer::default() });
        self
    }

    /// Sets the dropout of the last layer that was added.
    #[must_use]
    pub fn dropout(mut self, probability: f64) -> Self {
        self.0.layers.iter_mut().last().into_iter().for_each(|layer| layer.dropout = probability);
        self
    }

    /// Sets the normalization of the last layer that was added.
    #[must_use]
    pub fn norm(mut self, norm: Norm) -> Self {
        self.0.layers.iter_mut().last().into_iter().for_each(|layer| layer.norm = norm);
        self
    }

    /// Adds the output layer, which is a linear map.
    ///
    /// # Errors
    /// The errors of [`Mlp::from_layers`].
    pub fn output(mut self, outputs: usize) -> Result<Mlp> {
        self.0.layers.push(Layer { outputs, ..Layer::default() });
        Mlp::from_layers(self.0.inputs, self.0.layers)
    }
}

/// The function of outputs and targets that training minimizes. In the formulas, z are the outputs of the network, y is
/// the label, and p is the softmax of z, or (1 - s, s) with s = 1 / (1 + exp(-z)) if there is one output. The loss of a
/// batch is the mean over its samples.
#[derive(Clone, Debug, PartialEq)]
pub enum Loss {
    /// The softmax cross entropy -log p_y of labels, as `torch.nn.CrossEntropyLoss` defines it.
    CrossEntropy {
        /// The share of the target that is spread evenly over all classes, in `[0, 1]`.
        label_smoothing: f64,
        /// The weight of each class; empty if all are 1. The mean is divided by the weights of the labels.
        class_weights: Vec<f64>,
    },
    /// The binary cross entropy of logits: log(1 + exp(z)) - t z, a mean over samples and outputs. Targets t are
    /// values, or labels 0 and 1 if there is one output. `torch.nn.BCEWithLogitsLoss` is the same.
    BinaryCrossEntropy,
    /// -log(e^-M + (1 - 2 e^-M) p_y) of labels, which lies in [0, M] for the given bound M.
    BoundedCrossEntropy(f64),
    /// (z - t)^2 of values t, a mean over samples and outputs.
    MeanSquares,
    /// The tangent loss (2 atan(v) - 1)^2 of labels 0 and 1 with one output, where v is z for label 1 and -z for label
    /// 0 (Masnadi-Shirazi, Mahadevan and Vasconcelos, CVPR 2010).
    Tangent,
    /// The Savage loss 1 / (1 + exp(2 v))^2, with v as for the tangent loss (Masnadi-Shirazi and Vasconcelos, NeurIPS
    /// 2008).
    Savage,
    /// -(a log s + b log(1 - s)) with one output, where the values a and b are given for each sample.
    WeightedBinary,
}

impl Loss {
    /// The softmax cross entropy without smoothing and weights.
    pub const CROSS_ENTROPY: Self = Self::CrossEntropy { label_smoothing: 0.0, class_weights: Vec::new() };

    /// Returns whether the targets are labels of classes.
    #[must_use]
    pub fn takes_labels(&self) -> bool {
        !matches!(self, Self::MeanSquares | Self::WeightedBinary)
    }

    /// Returns the number of classes that a network with this loss tells apart, or `None` if it has none.
    #[must_use]
    pub fn classes(&self, net: &Mlp) -> Option<usize> {
        self.takes_labels().then(|| net.outputs().max(2))
    }

    /// Checks that the loss fits the outputs of the network.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if the number of outputs does not fit, or a parameter is out of its range.
    pub fn check(&self, net: &Mlp) -> Result<()> {
        let outputs = net.outputs();
        let wrong = |what: String| Err(Error::domain(NAME, what));
        match self {
            Self::CrossEntropy { .. } if outputs < 2 => {
                wrong(format!("cross entropy: expected at least 2 outputs, one per class, found {outputs}"))
            }
            Self::CrossEntropy { label_smoothing, .. } if !(0.0..=1.0).contains(label_smoothing) => {
                wrong(format!("expected a label smoothing from 0 to 1, found {label_smoothing}"))
            }
            Self::CrossEntropy { class_weights, .. } if ![0, outputs].contains(&class_weights.len()) => {
                wrong(format!("expected {outputs} class weights, one per class, found {}", class_weights.len()))
            }
            Self::CrossEntropy { class_weights, .. } if class_weights.iter().any(|w| !(*w > 0.0 && w.is_finite())) => {
                wrong(format!("expected class weights that are positive and finite, found {class_weights:?}"))
            }
            Self::BoundedCrossEntropy(bound) if !(*bound > std::f64::consts::LN_2 && *bound <= 80.0) => {
                wrong(format!("expected a bound above log 2 and at most 80, found {bound}"))
            }
            Self::Tangent | Self::Savage | Self::WeightedBinary if outputs != 1 => {
                wrong(format!("{self}: expected 1 output, found {outputs}"))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CrossEntropy { .. } => "cross entropy",
            Self::BinaryCrossEntropy => "binary cross entropy",
            Self::BoundedCrossEntropy(_) => "bounded cross entropy",
            Self::MeanSquares => "mean squares",
            Self::Tangent => "tangent loss",
            Self::Savage => "Savage loss",
            Self::WeightedBinary => "weighted binary cross entropy",
        })
    }
}
