//! Optimizers and their hyperparameters.

use super::spec::NAME;
use crate::array::Real;
use crate::error::{Error, Result};
use std::fmt;

/// The rule by which a step changes the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Optimizer {
    /// Stochastic gradient descent, with a momentum if [`Hyper::momentum`] is not 0, as `torch.optim.SGD`.
    Sgd {
        /// Whether the momentum is Nesterov's.
        nesterov: bool,
    },
    /// Adam, as `torch.optim.Adam` (Kingma and Ba, ICLR 2015). The weight decay is added to the gradient.
    Adam,
    /// Adam with decoupled weight decay, as `torch.optim.AdamW` (Loshchilov and Hutter, ICLR 2019).
    AdamW,
    /// Stochastic gradient Langevin dynamics (Welling and Teh, ICML 2011).
    ///
    /// With the step size e, which is the learning rate, a step is
    ///
    /// ```text
    /// w - e/2 (s g + p w) + sqrt(e T) xi
    /// ```
    ///
    /// where g is the gradient of the mean loss of the batch, s is [`Hyper::gradient_scale`], p is
    /// [`Hyper::prior_precision`], T is [`Hyper::temperature`] and xi is standard normal. For small e, the law of w is
    /// proportional to exp(-(s L + p |w|^2 / 2) / T). If T is infinite, every step draws w from the prior, a normal
    /// distribution with variance 1 / p.
    Sgld,
    /// SGLD with a diagonal preconditioner G = 1 / (epsilon + sqrt(V)), where V is the running mean of squared
    /// gradients with the factor [`Hyper::beta_2`] (Li, Chen, Carlson and Carin, AAAI 2016). A step is
    ///
    /// ```text
    /// w - e/2 G (s g + p w) + sqrt(e T G) xi
    /// ```
    ///
    /// V adapts in the first [`Hyper::burn_in`] steps and is constant after them. While V changes, the law is biased,
    /// because the term with the derivative of G is left out.
    Psgld,
}

impl Optimizer {
    /// Returns the number of vectors beside the parameters that a run needs, with the given hyperparameters.
    #[must_use]
    pub fn moments(self, hyper: &Hyper) -> usize {
        match self {
            Self::Sgd { .. } => usize::from(hyper.momentum != 0.0),
            Self::Sgld => 0,
            Self::Psgld => 1,
            Self::Adam | Self::AdamW => 2,
        }
    }

    /// Returns the largest number of such vectors, over all hyperparameters.
    pub(crate) fn most_moments(self) -> usize {
        self.moments(&Hyper { momentum: 0.9, ..self.defaults() })
    }

    /// Returns whether steps add noise.
    #[must_use]
    pub fn is_sampler(self) -> bool {
        matches!(self, Self::Sgld | Self::Psgld)
    }

    /// Returns the default hyperparameters of this optimizer.
    #[must_use]
    pub fn defaults(self) -> Hyper {
        let epsilon = if self == Self::Psgld { 1e-5 } else { 1e-8 };
        let (learning_rate, beta_2) = match self {
            Self::Sgd { .. } => (1e-2, 0.0),
            Self::Adam | Self::AdamW => (1e-3, 0.999),
            Self::Sgld => (1e-2, 0.0),
            Self::Psgld => (1e-3, 0.99),
        };
        let weight_decay = if self == Self::AdamW { 1e-2 } else { 0.0 };
        let nesterov = self == Self::Sgd { nesterov: true };
        Hyper {
            learning_rate,
            momentum: if nesterov { 0.9 } else { 0.0 },
            dampening: 0.0,
            beta_1: 0.9,
            beta_2,
            epsilon,
            weight_decay,
            l1: 0.0,
            clip: f64::INFINITY,
            dropout: None,
            temperature: 1.0,
            gradient_scale: 1.0,
            prior_precision: 0.0,
            burn_in: 1000.0,
        }
    }
}

impl fmt::Display for Optimizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sgd { nesterov: false } => "sgd",
            Self::Sgd { nesterov: true } => "nesterov",
            Self::Adam => "adam",
            Self::AdamW => "adamw",
            Self::Sgld => "sgld",
            Self::Psgld => "psgld",
        })
    }
}

/// The hyperparameters of one run. Each run has its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hyper {
    /// The learning rate, or the step size of a sampler. A schedule multiplies it.
    pub learning_rate: f64,
    /// The factor of the momentum; 0 for none.
    pub momentum: f64,
    /// What the momentum leaves out of each gradient but the first, as a share of it.
    pub dampening: f64,
    /// Adam's factor of the mean gradient.
    pub beta_1: f64,
    /// Adam's factor of the mean squared gradient.
    pub beta_2: f64,
    /// What is added to the square root of the mean squared gradient.
    pub epsilon: f64,
    /// The weight decay of all parameters. AdamW decays the parameters themselves, SGD and Adam add the decay to the
    /// gradient. Samplers have [`Hyper::prior_precision`] instead.
    pub weight_decay: f64,
    /// The factor of the sum of absolute values of all parameters that is added to the loss.
    pub l1: f64,
    /// The largest 2-norm of the gradient of all parameters, the L1 term included. A longer gradient is scaled down, as
    /// `torch.nn.utils.clip_grad_norm_` does.
    pub clip: f64,
    /// A dropout for every layer that has one, instead of the layer's own.
    pub dropout: Option<f64>,
    /// A sampler's temperature T, the inverse of beta; it may be infinite.
    pub temperature: f64,
    /// A sampler's factor of the gradient of the mean loss: 1, or the number of training samples for a posterior.
    pub gradient_scale: f64,
    /// A sampler's factor of the parameters in the drift, the inverse variance of the prior.
    pub prior_precision: f64,
    /// The number of steps in which pSGLD adapts its preconditioner.
    pub burn_in: f64,
}

/// A name of a hyperparameter, how to read and write it, and whether a value is valid.
type Field = (&'static str, fn(&Hyper) -> f64, fn(&mut Hyper, f64), fn(f64) -> bool, &'static str);

/// Every hyperparameter.
const FIELDS: [Field; 14] = [
    ("lr", |h| h.learning_rate, |h, x| h.learning_rate = x, |x| x > 0.0 && x.is_finite(), "above 0"),
    ("momentum", |h| h.momentum, |h, x| h.momentum = x, below_one, "from 0 to less than 1"),
    ("dampening", |h| h.dampening, |h, x| h.dampening = x, |x| (0.0..=1.0).contains(&x), "from 0 to 1"),
    ("beta1", |h| h.beta_1, |h, x| h.beta_1 = x, below_one, "from 0 to less than 1"),
    ("beta2", |h| h.beta_2, |h, x| h.beta_2 = x, below_one, "from 0 to less than 1"),
    ("eps", |h| h.epsilon, |h, x| h.epsilon = x, |x| x > 0.0 && x.is_finite(), "above 0"),
    ("weight_decay", |h| h.weight_decay, |h, x| h.weight_decay = x, not_negative, "of at least 0"),
    ("l1", |h| h.l1, |h, x| h.l1 = x, not_negative, "of at least 0"),
    ("clip", |h| h.clip, |h, x| h.clip = x, |x| x > 0.0, "above 0"),
    ("dropout", |h| h.dropout.unwrap_or(f64::NAN), |h, x| h.dropout = Some(x), below_one, "from 0 to less than 1"),
    ("temperature", |h| h.temperature, |h, x| h.temperature = x, |x| x >= 0.0, "of at least 0"),
    ("gradient_scale", |h| h.gradient_scale, |h, x| h.gradient_scale = x, not_negative, "of at least 0"),
    ("prior_precision", |h| h.prior_precision, |h, x| h.prior_precision = x, not_negative, "of at least 0"),
    ("burn_in", |h| h.burn_in, |h, x| h.burn_in = x, not_negative, "of at least 0"),
];

fn below_one(x: f64) -> bool {
    (0.0..1.0).contains(&x)
}

fn not_negative(x: f64) -> bool {
    x >= 0.0 && x.is_finite()
}

impl Hyper {
    /// Returns the names of all hyperparameters.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FIELDS.iter().map(|field| field.0)
    }

    /// Returns the value of the named hyperparameter, NaN if it is not set, or `None` if there is none of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        FIELDS.iter().find(|field| field.0 == name).map(|field| field.1(self))
    }

    /// Sets the named hyperparameter.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if there is none of this name, or if it cannot have this value.
    pub fn set(&mut self, name: &str, value: f64) -> Result<()> {
        let Some(field) = FIELDS.iter().find(|field| field.0 == name) else {
            let known = Self::names().collect::<Vec<_>>().join(", ");
            return Err(Error::domain(NAME, format!("expected a hyperparameter of {known}, found {name}")));
        };
        check(field, value)?;
        field.2(self, value);
        Ok(())
    }

    /// Checks all values.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if a value is out of its range.
    pub fn check(&self, optimizer: Optimizer) -> Result<()> {
        for field in &FIELDS {
            let value = field.1(self);
            if !(field.0 == "dropout" && self.dropout.is_none()) {
                check(field, value)?;
            }
        }
        if optimizer.is_sampler() && self.temperature.is_infinite() && self.prior_precision == 0.0 {
            let what = "an infinite temperature (beta = 0) draws from the prior: expected a prior_precision above 0";
            return Err(Error::domain(NAME, what));
        }
        if optimizer.is_sampler() && self.weight_decay != 0.0 {
            let what =
                format!("{optimizer}: expected a prior_precision instead of a weight_decay of {}", self.weight_decay);
            return Err(Error::domain(NAME, what));
        }
        if optimizer == (Optimizer::Sgd { nesterov: true }) && (self.momentum == 0.0 || self.dampening != 0.0) {
            return Err(Error::domain(NAME, "Nesterov's momentum: expected a momentum above 0 and no dampening"));
        }
        Ok(())
    }
}

fn check(&(name, _, _, valid, wanted): &Field, value: f64) -> Result<()> {
    if valid(value) {
        return Ok(());
    }
    Err(Error::domain(NAME, format!("expected a value of {name} {wanted}, found {value}")))
}

/// One step's update, with numbers in the precision of the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Update<T> {
    Sgd {
        rate: T,
        decay: T,
    },
    Momentum {
        rate: T,
        decay: T,
        momentum: T,
        /// The factor of the gradient in the momentum.
        gain: T,
        nesterov: bool,
    },
    Adam {
        /// The learning rate over 1 - beta_1^t.
        rate: T,
        /// 1 - beta_1.
        mean: T,
        beta_2: T,
        /// 1 - beta_2.
        square: T,
        /// 1 / sqrt(1 - beta_2^t).
        correction: T,
        epsilon: T,
        decay: T,
        /// The factor of the parameters: 1, or 1 - lr weight_decay.
        shrink: T,
    },
    Sgld {
        /// e/2 s.
        rate: T,
        /// 1 - e/2 p.
        shrink: T,
        /// sqrt(e T).
        noise: T,
    },
    Psgld {
        rate: T,
        /// e/2 p.
        pull: T,
        noise: T,
        beta_2: T,
        square: T,
        epsilon: T,
        adapts: bool,
    },
    /// Draws from the prior.
    Prior {
        deviation: T,
    },
}

impl<T: Real> Update<T> {
    /// Returns the update of a step at the learning rate `rate`, before which `steps` steps were made, of which
    /// `applied` changed the parameters.
    pub(super) fn new(optimizer: Optimizer, hyper: &Hyper, rate: f64, [steps, applied]: [u64; 2]) -> Self {
        let t = T::from_f64;
        let half = 0.5 * rate;
        match optimizer {
            Optimizer::Sgd { .. } if hyper.momentum == 0.0 => Self::Sgd { rate: t(rate), decay: t(hyper.weight_decay) },
            Optimizer::Sgd { nesterov } => Self::Momentum {
                rate: t(rate),
                decay: t(hyper.weight_decay),
                momentum: t(hyper.momentum),
                gain: t(if applied == 0 { 1.0 } else { 1.0 - hyper.dampening }),
                nesterov,
            },
            Optimizer::Adam | Optimizer::AdamW => {
                let decoupled = optimizer == Optimizer::AdamW;
                Self::Adam {
                    rate: t(rate / (1.0 - power(hyper.beta_1, applied + 1))),
                    mean: t(1.0 - hyper.beta_1),
                    beta_2: t(hyper.beta_2),
                    square: t(1.0 - hyper.beta_2),
                    correction: t(1.0 / (1.0 - power(hyper.beta_2, applied + 1)).sqrt()),
                    epsilon: t(hyper.epsilon),
                    decay: t(if decoupled { 0.0 } else { hyper.weight_decay }),
                    shrink: t(if decoupled { 1.0 - rate * hyper.weight_decay } else { 1.0 }),
                }
            }
            Optimizer::Sgld | Optimizer::Psgld if hyper.temperature.is_infinite() => {
                Self::Prior { deviation: t(1.0 / hyper.prior_precision.sqrt()) }
            }
            Optimizer::Sgld => Self::Sgld {
                rate: t(half * hyper.gradient_scale),
                shrink: t(1.0 - half * hyper.prior_precision),
                noise: t((rate * hyper.temperature).sqrt()),
            },
            Optimizer::Psgld => Self::Psgld {
                rate: t(half * hyper.gradient_scale),
                pull: t(half * hyper.prior_precision),
                noise: t((rate * hyper.temperature).sqrt()),
                beta_2: t(hyper.beta_2),
                square: t(1.0 - hyper.beta_2),
                epsilon: t(hyper.epsilon),
                #[expect(clippy::cast_precision_loss, reason = "a number of steps")]
                adapts: (steps as f64) < hyper.burn_in,
            },
        }
    }
}

/// Returns x^n by repeated squaring, which has the same bits on every machine.
fn power(x: f64, mut n: u64) -> f64 {
    let (mut square, mut product) = (x, 1.0);
    while n > 0 && product > 0.0 {
        if n & 1 == 1 {
            product *= square;
        }
        square *= square;
        n >>= 1;
    }
    product
}
