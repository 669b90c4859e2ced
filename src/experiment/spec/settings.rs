//! The parts of an experiment that a grid varies: the model and its training.

use super::names::{ActivationName, InitName, LossName, NormName, OptimizerName, PrecisionName, ScaleName};
use super::wrong;
use crate::error::Result;
use crate::ops::mlp::{Hyper, Layer, Mlp, Optimizer};
use crate::train::{Schedule, Split, Stop, Trainer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The default batch.
const BATCH: usize = 32;

/// What a grid varies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The network.
    pub model: Model,
    /// The training.
    pub train: Training,
}

/// The network: hidden layers that are alike but for their widths.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Model {
    /// The widths of the hidden layers; none for a linear model.
    pub hidden: Vec<usize>,
    /// The activation.
    pub activation: ActivationName,
    /// The normalization.
    pub norm: NormName,
    /// The dropout.
    pub dropout: f64,
}

/// The training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Training {
    /// The optimizer with its hyperparameters.
    pub optimizer: OptimizerTable,
    /// The loss.
    pub loss: LossName,
    /// The share of the target that is spread evenly over all classes, for `ce`.
    pub label_smoothing: f64,
    /// The number of samples of a step. With 32, the default, or fewer training samples than that, it is all of them.
    pub batch: usize,
    /// The largest number of epochs.
    pub epochs: u64,
    /// The schedule of the learning rate.
    pub schedule: ScheduleTable,
    /// The number of epochs in which the learning rate rises linearly.
    pub warm_up: u64,
    /// The law of the initial weights.
    pub init: InitName,
    /// How inputs are scaled.
    pub scale: ScaleName,
    /// The factor of the sum of absolute values of all parameters that is added to the loss.
    pub l1: f64,
    /// The largest 2-norm of the gradient, if it is clipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<f64>,
    /// The precision.
    pub precision: PrecisionName,
    /// The rule by which runs stop early and their best parameters are chosen, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopTable>,
}

impl Default for Training {
    fn default() -> Self {
        Self {
            optimizer: OptimizerTable::default(),
            loss: LossName::default(),
            label_smoothing: 0.0,
            batch: BATCH,
            epochs: 100,
            schedule: ScheduleTable::Constant {},
            warm_up: 0,
            init: InitName::default(),
            scale: ScaleName::default(),
            l1: 0.0,
            clip: None,
            precision: PrecisionName::default(),
            stop: None,
        }
    }
}

/// An optimizer and its hyperparameters. Those that are not given have the optimizer's defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OptimizerTable {
    /// The optimizer.
    pub kind: OptimizerName,
    /// The learning rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lr: Option<f64>,
    /// `sgd`, `nesterov`: the momentum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub momentum: Option<f64>,
    /// `sgd`: the dampening of the momentum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dampening: Option<f64>,
    /// The weight decay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight_decay: Option<f64>,
    /// `adam`, `adamw`: the factor of the mean gradient.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta1: Option<f64>,
    /// `adam`, `adamw`: the factor of the mean squared gradient.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta2: Option<f64>,
    /// `adam`, `adamw`: what is added to the square root of the mean squared gradient.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eps: Option<f64>,
}

/// A schedule of the learning rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum ScheduleTable {
    /// The rate stays the same.
    Constant {},
    /// The rate is multiplied by `factor` after every `every` epochs.
    Step {
        /// The number of epochs with the same rate.
        every: u64,
        /// The factor.
        factor: f64,
    },
    /// Half a cosine, from 1 to `floor`.
    Cosine {
        /// The last factor.
        #[serde(default)]
        floor: f64,
    },
    /// `(1 + epoch)^-exponent`, but at least `floor`.
    Power {
        /// The exponent.
        exponent: f64,
        /// The smallest factor.
        #[serde(default)]
        floor: f64,
    },
    /// The rate is multiplied by `factor` when the watched metric has not improved for `patience` epochs.
    Plateau {
        /// The factor.
        factor: f64,
        /// The number of epochs.
        patience: u64,
    },
}

/// A stopping rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopTable {
    /// The metric, such as `validation.accuracy`.
    pub on: String,
    /// The number of epochs without improvement after which a run stops.
    #[serde(default = "patience")]
    pub patience: u64,
}

fn patience() -> u64 {
    20
}

impl From<ScheduleTable> for Schedule {
    fn from(table: ScheduleTable) -> Self {
        match table {
            ScheduleTable::Constant {} => Self::Constant,
            ScheduleTable::Step { every, factor } => Self::Step { every, factor },
            ScheduleTable::Cosine { floor } => Self::Cosine { floor },
            ScheduleTable::Power { exponent, floor } => Self::Power { exponent, floor },
            ScheduleTable::Plateau { factor, patience } => Self::Plateau { factor, patience },
        }
    }
}

/// The hyperparameters of an optimizer: name, value, and whether this optimizer has it.
type Given<'a> = (&'static str, &'a mut Option<f64>, bool);

impl OptimizerTable {
    /// The names of the hyperparameters.
    pub(in crate::experiment) const NAMES: [&str; 7] =
        ["lr", "momentum", "dampening", "weight_decay", "beta1", "beta2", "eps"];

    fn entries(&mut self) -> [Given<'_>; 7] {
        let adam = matches!(self.kind, OptimizerName::Adam | OptimizerName::Adamw);
        [
            ("lr", &mut self.lr, true),
            ("momentum", &mut self.momentum, !adam),
            ("dampening", &mut self.dampening, self.kind == OptimizerName::Sgd),
            ("weight_decay", &mut self.weight_decay, true),
            ("beta1", &mut self.beta1, adam),
            ("beta2", &mut self.beta2, adam),
            ("eps", &mut self.eps, adam),
        ]
    }

    /// Sets what was not given to the defaults of the optimizer.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if a hyperparameter is given that this optimizer does not have.
    fn complete(&mut self) -> Result<()> {
        let (kind, defaults) = (Optimizer::from(self.kind), Optimizer::from(self.kind).defaults());
        for (name, value, known) in self.entries() {
            match known {
                true => *value = value.or_else(|| defaults.get(name)),
                false if value.is_some() => {
                    return Err(wrong(format!(
                        "train.optimizer.{name}: expected an optimizer that has it, found {kind}"
                    )));
                }
                false => {}
            }
        }
        Ok(())
    }
}

impl Settings {
    /// Reads settings from JSON with the tables `model` and `train` of an experiment. What is not given has its
    /// default.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) for an unknown key or word, and for a value out of its range.
    pub fn parse(json: &str) -> Result<Self> {
        Self::of_value(serde_json::from_str(json).map_err(|error| wrong(error.to_string()))?)
    }

    /// Reads settings that were written as JSON, with values of a grid.
    pub(in crate::experiment) fn of_value(value: Value) -> Result<Self> {
        let mut settings: Self = serde_json::from_value(value).map_err(|error| {
            let (expected, found) = super::in_words(&error.to_string());
            wrong(format!("expected {expected}, found {found}"))
        })?;
        settings.complete()?;
        Ok(settings)
    }

    /// Sets what was not given to its defaults, and checks every value that does not depend on the data.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if a value is out of its range.
    pub(super) fn complete(&mut self) -> Result<()> {
        self.train.optimizer.complete()?;
        let hyper = self.hyper()?;
        hyper.check(self.train.optimizer.kind.into()).map_err(|error| error.within("train.optimizer"))?;
        Schedule::from(self.train.schedule).check()?;
        self.stop()?;
        // Two inputs and classes stand for those of the data.
        self.net(2, 2)?;
        if self.model.dropout != 0.0 && self.model.hidden.is_empty() {
            return Err(wrong("model.dropout: expected hidden layers, found none"));
        }
        if self.train.batch == 0 || self.train.epochs == 0 {
            let (batch, epochs) = (self.train.batch, self.train.epochs);
            let found = format!("batch = {batch} and epochs = {epochs}");
            return Err(wrong(format!("train: expected a batch and epochs of at least 1, found {found}")));
        }
        if self.train.label_smoothing != 0.0 && self.train.loss != LossName::Ce {
            return Err(wrong("train.label_smoothing: expected loss = \"ce\" beside it, found another loss"));
        }
        if !(0.0..=1.0).contains(&self.train.label_smoothing) {
            let found = self.train.label_smoothing;
            return Err(wrong(format!("train.label_smoothing: expected a share from 0 to 1, found {found}")));
        }
        Ok(())
    }

    /// Returns the hyperparameters of a run.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if a value is out of its range.
    pub fn hyper(&self) -> Result<Hyper> {
        let mut hyper = Optimizer::from(self.train.optimizer.kind).defaults();
        for (name, value, _) in self.train.optimizer.clone().entries() {
            if let Some(value) = *value {
                hyper.set(name, value).map_err(|error| error.within(format_args!("train.optimizer.{name}")))?;
            }
        }
        hyper.set("l1", self.train.l1).map_err(|error| error.within("train.l1"))?;
        if let Some(clip) = self.train.clip {
            hyper.set("clip", clip).map_err(|error| error.within("train.clip"))?;
        }
        Ok(hyper)
    }

    /// Returns these settings without hyperparameters, which runs that are trained together need not share.
    pub(in crate::experiment) fn shared(&self) -> Self {
        let mut shared = self.clone();
        shared.train.optimizer = OptimizerTable { kind: self.train.optimizer.kind, ..OptimizerTable::default() };
        (shared.train.l1, shared.train.clip) = (0.0, None);
        shared
    }

    fn stop(&self) -> Result<Option<Stop>> {
        let stop = self.train.stop.as_ref();
        stop.map(|stop| Stop::on(&stop.on, stop.patience).map_err(|error| error.within("train.stop"))).transpose()
    }

    /// Returns the network for a number of inputs and outputs.
    fn net(&self, inputs: usize, outputs: usize) -> Result<Mlp> {
        let Model { hidden, activation, norm, dropout } = &self.model;
        let (norm, activation) = ((*norm).into(), (*activation).into());
        let hidden = hidden.iter().map(|&outputs| Layer { outputs, norm, activation, dropout: *dropout });
        let layers = hidden.chain([Layer { outputs, ..Layer::default() }]).collect();
        Mlp::from_layers(inputs, layers).map_err(|error| error.within("model"))
    }

    /// Returns the trainer for a number of inputs, and of classes or, if there are none, of values.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if the network or the loss does not fit the data.
    pub fn trainer(&self, inputs: usize, (classes, values): (usize, usize), split: Split) -> Result<Trainer> {
        let train = &self.train;
        let outputs = match (train.loss, classes) {
            (LossName::Mse, 0) => values,
            (LossName::Mse, _) => {
                return Err(wrong("train.loss: expected values as targets for \"mse\", found labels"));
            }
            (loss, 0) => {
                let found = serde_json::to_string(&loss).unwrap_or_default();
                return Err(wrong(format!(
                    "train.loss: expected \"mse\", because the targets are values, found {found}"
                )));
            }
            (loss, _) => loss.outputs(classes).map_err(|what| wrong(format!("train.loss: {what}")))?,
        };
        let trainer =
            Trainer::new(self.net(inputs, outputs)?, train.loss.of(train.label_smoothing), train.optimizer.kind.into())
                .epochs(train.epochs)
                .init(train.init.into())
                .schedule(train.schedule.into())
                .warm_up(train.warm_up)
                .scaling(train.scale.into())
                .mixed_precision(train.precision.mixed());
        // The defaults are made to fit small data sets.
        let trainer = if train.batch == BATCH { trainer.batch_at_most(BATCH) } else { trainer.batch(train.batch) };
        let default = split.shares == Split::default().shares;
        let trainer = if default { trainer.split_if_possible(split) } else { trainer.split(split) };
        Ok(match self.stop()? {
            Some(stop) => trainer.stop(stop),
            None => trainer,
        })
    }
}
