//! `fiedler train`: trains many small networks at once, one for each seed and each value of a grid.

mod options;
mod report;

use super::values::{counted, finite, not_negative, positive, whole};
use super::{Failure, Outcome, Where, print};
use clap::Args;
use fiedler::io::{self, SampleTable, TableTargets, Wanted};
use fiedler::train::{
    Hyper, LOG, Layer, Loss, Mlp, Number, OnProgress, Optimizer, Progress, Runs, SUMMARY, Samples, Stop, Targets,
    Trainer, WEIGHTS,
};
use fiedler::{Context, Error};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use options::{ActivationName, InitName, LossName, NormName, OptimizerName, Precision, ScalingName, schedule, split};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The name of the file from which an interrupted training goes on.
const CHECKPOINT: &str = "checkpoint.safetensors";
/// The runs and the epochs of `--quick`.
const QUICK: (usize, u64) = (2, 20);

/// Train many small networks at once, one for each seed and each value of a grid.
#[derive(Debug, Args)]
#[command(
    after_long_help = "DATA: a table (CSV, TSV, white space) with a label in the last column or the column of --label; \
lines of a string of bits and a label; .npz or .safetensors with the arrays x (samples, inputs) and y (samples,).\n\
DIR receives weights.safetensors (the parameters of all runs, under torch's names, with the runs along the first axis), \
runs.jsonl (a line for each epoch of each run) and summary.csv (a row for each run).\n\
Values separated by commas, such as --lr 1e-3,3e-4, are a grid: every seed is trained with every combination."
)]
pub(super) struct Train {
    /// The data set: a table, strings of bits, .npz or .safetensors.
    data: PathBuf,
    /// The folder to write. It must not exist yet, unless --resume is given.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// The column or array that has the targets [default: the last column; the array y].
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// The widths of the hidden layers, such as 30,20; none for a linear model.
    #[arg(long, value_name = "N,..", value_delimiter = ',', value_parser = counted)]
    hidden: Vec<usize>,
    /// The activation of the hidden layers.
    #[arg(long, value_enum, default_value_t = ActivationName::Relu)]
    activation: ActivationName,
    /// The normalization of the hidden layers.
    #[arg(long, value_enum, default_value_t = NormName::None)]
    norm: NormName,
    /// The loss. `mse` and `weighted` take values as targets, the others labels.
    #[arg(long, value_enum, default_value_t = LossName::Ce)]
    loss: LossName,
    /// ce: the share of the target that is spread evenly over all classes.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = not_negative)]
    label_smoothing: f64,
    /// The optimizer.
    #[arg(long, value_enum, default_value_t = OptimizerName::Adam)]
    optimizer: OptimizerName,
    /// The learning rate, or the step size of a sampler [default: 1e-3 for adam, adamw and psgld, 1e-2 otherwise].
    #[arg(long, value_name = "X,..", value_delimiter = ',', value_parser = positive)]
    lr: Vec<f64>,
    /// The dropout of the hidden layers.
    #[arg(long, value_name = "P,..", value_delimiter = ',', value_parser = not_negative)]
    dropout: Vec<f64>,
    /// sgd: the momentum.
    #[arg(long, value_name = "X,..", value_delimiter = ',', value_parser = not_negative)]
    momentum: Vec<f64>,
    /// The weight decay, which adamw applies to the parameters and the others add to the gradient.
    #[arg(long, value_name = "X,..", value_delimiter = ',', value_parser = not_negative)]
    weight_decay: Vec<f64>,
    /// The factor of the sum of absolute values of all parameters, which is added to the loss.
    #[arg(long, value_name = "X,..", value_delimiter = ',', value_parser = not_negative)]
    l1: Vec<f64>,
    /// The largest 2-norm of the gradient; a longer gradient is scaled down.
    #[arg(long, value_name = "X,..", value_delimiter = ',', value_parser = positive)]
    clip: Vec<f64>,
    /// sgld, psgld: the temperature, which is 1 / beta; inf draws from the prior.
    #[arg(long, value_name = "T,..", value_delimiter = ',')]
    temperature: Vec<f64>,
    /// sgld, psgld: 1 / sigma^2 of the prior.
    #[arg(long, value_name = "X,..", value_delimiter = ',', value_parser = not_negative)]
    prior_precision: Vec<f64>,
    /// Another hyperparameter: beta1, beta2, eps, dampening, gradient_scale, burn_in.
    #[arg(long = "set", value_name = "NAME=X,..", value_parser = setting)]
    settings: Vec<(String, Vec<f64>)>,
    /// The schedule of the learning rate: constant, step:EVERY,FACTOR, cosine:FLOOR, power:EXPONENT,FLOOR or
    /// plateau:FACTOR,PATIENCE.
    #[arg(long, value_name = "SCHEDULE", default_value = "constant", value_parser = schedule)]
    schedule: fiedler::train::Schedule,
    /// The initial weights.
    #[arg(long, value_enum, default_value_t = InitName::Torch)]
    init: InitName,
    /// init normal: the standard deviation of the initial weights.
    #[arg(long, value_name = "SIGMA", default_value_t = 1.0, value_parser = positive)]
    init_deviation: f64,
    /// How inputs are scaled: standard subtracts the mean of the training samples and divides by their deviation.
    #[arg(long, value_enum, default_value_t = ScalingName::None)]
    scale: ScalingName,
    /// The number of samples of a step.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = counted)]
    batch: usize,
    /// The largest number of epochs.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = whole::<u64>)]
    epochs: u64,
    /// The number of seeds.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = counted)]
    runs: usize,
    /// The first seed.
    #[arg(long, value_name = "SEED", default_value_t = 42, value_parser = whole::<u64>)]
    seed: u64,
    /// The metric by which runs stop early and their best parameters are chosen, such as validation.accuracy.
    #[arg(long, value_name = "METRIC", value_parser = stop)]
    stop: Option<Stop>,
    /// The number of epochs without improvement after which a run stops.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = whole::<u64>)]
    patience: u64,
    /// The shares of training, validation and test samples.
    #[arg(long, value_name = "SHARES", default_value = "0.7,0.1,0.2", value_parser = split)]
    split: [f64; 3],
    /// Divide the data by this seed in all runs [default: every run divides the data by its own seed].
    #[arg(long, value_name = "SEED", value_parser = whole::<u64>)]
    split_seed: Option<u64>,
    /// The precision of all computations.
    #[arg(long, value_enum, default_value_t = Precision::F32)]
    precision: Precision,
    /// Go on from the checkpoint in DIR. The result has the same bits as without the interruption.
    #[arg(long)]
    resume: bool,
    /// The seconds between checkpoints.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = positive)]
    checkpoint: f64,
    /// Try the call: at most 2 runs of 20 epochs.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    place: Where,
    /// Print nothing but errors.
    #[arg(long)]
    quiet: bool,
    /// Print the report as one JSON object.
    #[arg(long)]
    json: bool,
}

fn stop(text: &str) -> Result<Stop, String> {
    Stop::on(text, 0).map_err(|error| error.to_string())
}

/// Parses a hyperparameter and its values.
fn setting(text: &str) -> Result<(String, Vec<f64>), String> {
    let known = Hyper::names().collect::<Vec<_>>().join(", ");
    let wanted = || format!("expected NAME=X, where NAME is one of {known}");
    let (name, values) = text.split_once('=').ok_or_else(wanted)?;
    if !Hyper::names().any(|known| known == name) {
        return Err(wanted());
    }
    let values = values.split(',').map(finite).collect::<Result<_, _>>()?;
    Ok((name.to_owned(), values))
}

impl Train {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        if self.place.insists() {
            return Err(Failure::Call(
                "--backend gpu: expected cpu or auto, because training runs on the CPU".to_owned(),
            ));
        }
        let finished = self.output.join(WEIGHTS).exists();
        if self.resume && finished {
            self.say(format_args!("{}: this training is finished", self.output.display()));
            return Ok(Outcome::Done);
        }
        if !self.resume && self.output.symlink_metadata().is_ok() {
            let shown = self.output.display();
            return Err(Failure::Call(format!("{shown}: expected a new folder, or --resume; it exists already")));
        }
        let ctx = self.place.with(Context::builder().device(false))?;
        let name = self.label.as_deref();
        let wanted = if self.loss.takes_labels() { Wanted::Labels(name) } else { Wanted::Values(name) };
        let table = io::read_samples(&self.data, wanted)?;
        match self.precision {
            Precision::F32 => self.train(&ctx, table, |x| {
                #[expect(clippy::cast_possible_truncation, reason = "the call asks for f32")]
                let x = x as f32;
                x
            }),
            Precision::F64 => self.train(&ctx, table, |x| x),
        }
    }

    fn train<T: Number>(&self, ctx: &Context, table: SampleTable, element: fn(f64) -> T) -> Result<Outcome, Failure> {
        let SampleTable { inputs, x, targets } = table;
        let (targets, classes, outputs) = match targets {
            TableTargets::Labels(labels, classes) => {
                let outputs =
                    self.loss.outputs(classes.len()).map_err(|what| Failure::Call(format!("--loss: {what}")))?;
                (Targets::Labels(labels), classes, outputs)
            }
            TableTargets::Values(values, each) => {
                let outputs = if self.loss == LossName::Weighted { 1 } else { each };
                (Targets::Values(values.into_iter().map(element).collect(), each), Vec::new(), outputs)
            }
            TableTargets::None => (Targets::Labels(Vec::new()), Vec::new(), 1),
        };
        let samples = Samples::new(inputs, x.into_iter().map(element).collect(), targets)?;
        let net = self.net(inputs, outputs)?;
        let optimizer: Optimizer = self.optimizer.into();
        let runs = self.grid(optimizer)?;
        let trainer = self.trainer(net, optimizer)?;
        if !self.output.is_dir() {
            std::fs::create_dir(&self.output)
                .map_err(|error| Failure::Said(format!("cannot create {}: {error}", self.output.display())))?;
        }
        let checkpoint = self.output.join(CHECKPOINT);
        let bar = self.bar();
        let begun = Instant::now();
        let trainer = trainer
            .checkpoint(&checkpoint, Duration::from_secs_f64(self.checkpoint))
            .progress(on_progress(bar.clone()));
        let fit = match trainer.fit(ctx, &samples, &runs) {
            Ok(fit) => fit,
            Err(error) => {
                bar.finish_and_clear();
                // An empty folder is of no use; one with a checkpoint stays.
                let _ = std::fs::remove_dir(&self.output);
                return Err(error.into());
            }
        };
        bar.finish_and_clear();
        let seconds = begun.elapsed().as_secs_f64();
        io::write_text(&self.output.join(LOG), &fit.log())?;
        io::write_text(&self.output.join(SUMMARY), &fit.table())?;
        fit.write_weights(&self.output.join(WEIGHTS), &classes)?;
        remove(&checkpoint)?;
        if !self.quiet {
            let done = report::Done {
                fit: &fit,
                samples: &samples,
                runs: &runs,
                split: self.split,
                seconds,
                threads: ctx.threads(),
            };
            print(if self.json { done.as_json().to_string() } else { done.words() });
        }
        let good = fit.runs().iter().all(|run| run.status().is_good());
        Ok(if good { Outcome::Done } else { Outcome::Uncertified })
    }

    fn say(&self, what: impl std::fmt::Display) {
        if !self.quiet {
            print(what);
        }
    }

    fn net(&self, inputs: usize, outputs: usize) -> Result<Mlp, Error> {
        let dropout = self.dropout.first().copied().unwrap_or(0.0);
        // A grid of dropouts sets each run's own; a layer only has to have one for that.
        let dropout = if self.dropout.iter().any(|p| *p > 0.0) { dropout.max(f64::MIN_POSITIVE) } else { 0.0 };
        let hidden = self.hidden.iter().map(|&outputs| Layer {
            outputs,
            norm: self.norm.into(),
            activation: self.activation.into(),
            dropout,
        });
        Mlp::from_layers(inputs, hidden.chain([Layer { outputs, ..Layer::default() }]).collect())
    }

    /// Returns the runs: every seed with every combination of values.
    fn grid(&self, optimizer: Optimizer) -> Result<Runs, Error> {
        let count = if self.quick { self.runs.min(QUICK.0) } else { self.runs };
        let mut runs = Runs::seeds(optimizer, self.seed, count)?;
        let named: [(&str, &[f64]); 8] = [
            ("lr", &self.lr),
            ("dropout", &self.dropout),
            ("momentum", &self.momentum),
            ("weight_decay", &self.weight_decay),
            ("l1", &self.l1),
            ("clip", &self.clip),
            ("temperature", &self.temperature),
            ("prior_precision", &self.prior_precision),
        ];
        let settings = self.settings.iter().map(|(name, values)| (name.as_str(), values.as_slice()));
        for (name, values) in named.into_iter().chain(settings).filter(|(_, values)| !values.is_empty()) {
            runs = runs.grid(name, values)?;
        }
        Ok(runs)
    }

    fn trainer(&self, net: Mlp, optimizer: Optimizer) -> Result<Trainer, Failure> {
        let loss: Loss = self.loss.of(self.label_smoothing);
        let epochs = if self.quick { self.epochs.min(QUICK.1) } else { self.epochs };
        let trainer = Trainer::new(net, loss, optimizer)
            .batch(self.batch)
            .epochs(epochs)
            .init(self.init.of(self.init_deviation))
            .schedule(self.schedule)
            .scaling(self.scale.into())
            .split(fiedler::train::Split { shares: self.split, seed: self.split_seed });
        Ok(match self.stop {
            Some(stop) => trainer.stop(Stop { patience: self.patience, ..stop }),
            None => trainer,
        })
    }

    /// Returns a progress bar, which is shown only if standard error is a terminal.
    fn bar(&self) -> ProgressBar {
        let target = if self.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(1), target);
        let template = "{bar:20} {msg}";
        bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
    }
}

/// Returns what shows the progress in a bar.
#[expect(clippy::cast_precision_loss, reason = "shown with few digits")]
fn on_progress(bar: ProgressBar) -> OnProgress {
    Arc::new(move |progress: &Progress| {
        let Progress { runs, ended, stopped, steps, at_most, expected, elapsed, bytes } = *progress;
        let rate = steps as f64 / elapsed.as_secs_f64();
        let left = |steps: u64| Duration::from_secs_f64((steps as f64 / rate.max(1.0)).ceil());
        bar.set_length(steps + at_most);
        bar.set_position(steps);
        bar.set_message(format!(
            "{ended} of {runs} runs ended, {stopped} of them early; {rate:.0} replica-steps a second; to go: {} at most, \
             {} expected; {} MB",
            indicatif::HumanDuration(left(at_most)),
            indicatif::HumanDuration(left(expected)),
            bytes / 1_000_000
        ));
    })
}

/// Removes a file that may not exist.
fn remove(path: &Path) -> Result<(), Failure> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::Said(format!("cannot remove {}: {error}", path.display())))
        }
        _ => Ok(()),
    }
}
