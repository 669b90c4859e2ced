//! The options that describe a training to `fiedler explain train`.

use super::options::{LossName, NormName, OptimizerName, Precision, split};
use crate::bench::{Case, training};
use crate::commands::Failure;
use crate::commands::values::{counted, not_negative};
use clap::{Args, ValueEnum as _};
use fiedler::policy::Choice;
use fiedler::train::{Activation, Layer, Memory, MixedPrecision, Mlp, Optimizer, Split, Stop, Trainer};
use fiedler::{Context, Error};
use std::fmt;

/// The most runs that `fiedler train` accepts.
const MOST: usize = 1 << 20;

/// A network and its runs, with the names and the defaults of `fiedler train`.
#[derive(Debug, Args)]
#[command(next_help_heading = "A training, for the workload train")]
pub(in crate::commands) struct Network {
    /// The number of inputs.
    #[arg(long, value_name = "N", value_parser = counted, requires_all = ["outputs", "samples"])]
    inputs: Option<usize>,
    /// The widths of the hidden layers, such as 30,20; none for a linear model.
    #[arg(long, value_name = "N,..", value_delimiter = ',', value_parser = counted, requires = "inputs")]
    hidden: Vec<usize>,
    /// The number of outputs: classes or values.
    #[arg(long, value_name = "N", value_parser = counted, requires = "inputs")]
    outputs: Option<usize>,
    /// The number of samples of the data set.
    #[arg(long, value_name = "N", value_parser = counted, requires = "inputs")]
    samples: Option<usize>,
    /// The number of samples of a step [default: 32, or all training samples if they are fewer].
    #[arg(long, value_name = "N", value_parser = counted, requires = "inputs")]
    batch: Option<usize>,
    /// The number of epochs.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = counted, requires = "inputs")]
    epochs: usize,
    /// The number of runs: seeds times combinations of hyperparameters.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = counted, requires = "inputs")]
    runs: usize,
    /// The optimizer [default: adam].
    #[arg(long, value_enum, requires = "inputs")]
    optimizer: Option<OptimizerName>,
    /// The dropout of the hidden layers.
    #[arg(long, value_name = "P", value_parser = not_negative, requires = "hidden")]
    dropout: Option<f64>,
    /// Chains of Langevin dynamics, as `fiedler train --sgld` runs them; --runs is the number of all chains.
    #[arg(long, requires = "inputs", conflicts_with_all = ["optimizer", "dropout", "stop", "row_group"])]
    sgld: bool,
    /// The most samples that are read together.
    #[arg(long, value_name = "ROWS", value_parser = counted, requires = "inputs")]
    row_group: Option<usize>,
    /// The normalization of the hidden layers.
    #[arg(long, value_enum, default_value_t = NormName::None, requires = "inputs")]
    norm: NormName,
    /// The loss [default: ce, or bce if there is one output].
    #[arg(long, value_enum, requires = "inputs")]
    loss: Option<LossName>,
    /// The metric that is watched after every epoch.
    #[arg(long, value_name = "METRIC", value_parser = super::stop, requires = "inputs")]
    stop: Option<Stop>,
    /// The shares of training, validation and test samples [default: 0.7,0.1,0.2; with --sgld, 0.8,0.2].
    #[arg(long, value_name = "SHARES", value_parser = split, requires = "inputs")]
    split: Option<[f64; 3]>,
    /// The precision of all computations; f16 and bf16 are mixed precisions.
    #[arg(long, value_enum, default_value_t = Precision::F32, requires = "inputs")]
    precision: Precision,
}

/// A training that was described completely.
#[derive(Debug)]
pub(in crate::commands) struct Described {
    trainer: Trainer,
    name: String,
    samples: usize,
    precision: Precision,
    pub(in crate::commands) runs: usize,
}

impl Network {
    /// Returns the training, or `None` if no network was described.
    pub(in crate::commands) fn described(&self) -> Result<Option<Described>, Failure> {
        let (Some(inputs), Some(outputs), Some(samples)) = (self.inputs, self.outputs, self.samples) else {
            return Ok(None);
        };
        if self.runs > MOST {
            return Err(Failure::Call(format!("--runs: expected at most {MOST}, found {}", self.runs)));
        }
        let hidden = self.hidden.iter().map(|&outputs| Layer {
            outputs,
            norm: self.norm.into(),
            activation: Activation::Relu,
            dropout: self.dropout.unwrap_or(0.0),
        });
        let layers = hidden.chain([Layer { outputs, ..Layer::default() }]).collect();
        let net = Mlp::from_layers(inputs, layers).map_err(super::wrong)?;
        let loss = self.loss.unwrap_or(if outputs == 1 { LossName::Bce } else { LossName::Ce });
        let (batch, epochs, runs) = (self.batch.unwrap_or(32), self.epochs, self.runs);
        if self.sgld && self.precision.mixed() != MixedPrecision::Off {
            return Err(Failure::Call(super::sampling::PRECISION.to_owned()));
        }
        let optimizer = self.optimizer.unwrap_or(OptimizerName::Adam).into();
        let optimizer = if self.sgld { Optimizer::Sgld } else { optimizer };
        let shares = self.split.unwrap_or(super::shares(self.sgld));
        let name = format!("train {net}, batch {batch}, {optimizer}, {samples} samples, {epochs} epochs, runs={runs}");
        let trainer = Trainer::new(net, loss.of(0.0), optimizer);
        let trainer = if self.batch.is_some() { trainer.batch(batch) } else { trainer.batch_at_most(batch) };
        let trainer = trainer
            .epochs(epochs as u64)
            .mixed_precision(self.precision.mixed())
            .split_if_possible(Split { shares, seed: None });
        let trainer = match self.stop {
            Some(stop) => trainer.stop(stop),
            None => trainer,
        };
        // Chains have all samples in memory.
        let trainer = match self.row_group.or_else(|| self.sgld.then_some(samples)) {
            Some(rows) => trainer.row_group(rows),
            None => trainer,
        };
        let made = Described { trainer, name, samples, precision: self.precision, runs };
        made.choose(&Context::cpu(), runs).map_err(super::wrong)?;
        Ok(Some(made))
    }
}

impl Described {
    /// Returns the training of a workload of `fiedler bench`, in another precision.
    pub(in crate::commands) fn of_case(case: &Case, precision: Precision) -> Result<Self, Failure> {
        let (trainer, samples) = training(case).map_err(super::wrong)?;
        let trainer = trainer.mixed_precision(precision.mixed());
        let kind = precision.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        Ok(Self { trainer, name: format!("{case}/precision={kind}"), samples, precision, runs: case.items })
    }

    /// Returns where that many runs would be trained.
    pub(in crate::commands) fn choose(&self, ctx: &Context, runs: usize) -> Result<Choice, Error> {
        match self.precision {
            Precision::F64 => self.trainer.choose::<f64>(ctx, self.samples, runs),
            _ => self.trainer.choose::<f32>(ctx, self.samples, runs),
        }
    }

    /// Returns the memory of the training.
    pub(in crate::commands) fn memory(&self, ctx: &Context) -> Result<Memory, Error> {
        match self.precision {
            Precision::F64 => self.trainer.memory::<f64>(ctx, self.samples, self.runs),
            _ => self.trainer.memory::<f32>(ctx, self.samples, self.runs),
        }
    }
}

impl fmt::Display for Described {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
