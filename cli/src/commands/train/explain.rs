//! The options that describe a training to `fiedler explain train`.

use super::options::{LossName, NormName, OptimizerName, Precision, split};
use crate::commands::Failure;
use crate::commands::values::counted;
use clap::Args;
use fiedler::policy::Choice;
use fiedler::train::{Activation, Layer, Memory, Mlp, Split, Stop, Trainer};
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
    /// The number of samples of a step.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = counted, requires = "inputs")]
    batch: usize,
    /// The number of epochs.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = counted, requires = "inputs")]
    epochs: usize,
    /// The number of runs: seeds times combinations of hyperparameters.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = counted, requires = "inputs")]
    runs: usize,
    /// The optimizer.
    #[arg(long, value_enum, default_value_t = OptimizerName::Adam, requires = "inputs")]
    optimizer: OptimizerName,
    /// The normalization of the hidden layers.
    #[arg(long, value_enum, default_value_t = NormName::None, requires = "inputs")]
    norm: NormName,
    /// The loss [default: ce, or bce if there is one output].
    #[arg(long, value_enum, requires = "inputs")]
    loss: Option<LossName>,
    /// The metric that is watched after every epoch.
    #[arg(long, value_name = "METRIC", value_parser = super::stop, requires = "inputs")]
    stop: Option<Stop>,
    /// The shares of training, validation and test samples.
    #[arg(long, value_name = "SHARES", default_value = "0.7,0.1,0.2", value_parser = split, requires = "inputs")]
    split: [f64; 3],
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
            dropout: 0.0,
        });
        let layers = hidden.chain([Layer { outputs, ..Layer::default() }]).collect();
        let net = Mlp::from_layers(inputs, layers).map_err(super::wrong)?;
        let loss = self.loss.unwrap_or(if outputs == 1 { LossName::Bce } else { LossName::Ce });
        let (batch, epochs, runs) = (self.batch, self.epochs, self.runs);
        let optimizer = self.optimizer.into();
        let name = format!("train {net}, batch {batch}, {optimizer}, {samples} samples, {epochs} epochs, runs={runs}");
        let trainer = Trainer::new(net, loss.of(0.0), optimizer)
            .batch(batch)
            .epochs(epochs as u64)
            .mixed_precision(self.precision.mixed())
            .split(Split { shares: self.split, seed: None });
        let trainer = match self.stop {
            Some(stop) => trainer.stop(stop),
            None => trainer,
        };
        let made = Described { trainer, name, samples, precision: self.precision, runs };
        made.choose(&Context::cpu(), runs).map_err(super::wrong)?;
        Ok(Some(made))
    }
}

impl Described {
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
