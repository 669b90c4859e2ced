//! `fiedler train`: trains many small networks at once, one for each seed and each value of a grid.

mod checks;
mod explain;
mod folder;
mod options;
mod progress;
mod report;
mod sampling;

use super::columns::{self, About, Columns};
use super::outputs::Overwriting;
use super::values::{counted, finite, not_negative, positive, share, whole};
use super::{Failure, Outcome, Where, print};
use clap::Args;
use fiedler::io::{self, Findings, SampleTable, TableTargets, Wanted};
use fiedler::policy::Choice;
use fiedler::train::{
    Fit, Init, Layer, Loss, Mlp, Number, Optimizer, Origin, Runs, SampleFile, Samples, Source, Split, Stop, Targets,
    Trainer, WEIGHTS,
};
use fiedler::{Context, Error, ErrorKind};
use options::{ActivationName, InitName, LossName, NormName, OptimizerName, ScalingName, schedule, split};
use sampling::Sampling;
use std::path::{Path, PathBuf};

pub(super) use explain::{Described, Network};
pub(super) use folder::CHECKPOINT;
pub(super) use options::Precision;

/// The hyperparameters that have no option of their own.
const SETTINGS: [&str; 6] = ["beta1", "beta2", "eps", "dampening", "gradient_scale", "burn_in"];
/// The seeds and the epochs of `--quick`.
const QUICK: (usize, u64) = (2, 20);

/// Train many small networks at once, one for each seed and each value of a grid.
#[derive(Debug, Args)]
#[command(after_long_help = "DATA: a table (CSV, TSV, white space) with a column of labels; \
lines of a string of bits and a label; .npz or .safetensors with the arrays x (samples, inputs) and y (samples,), or \
X_train, y_train, X_test and y_test.\n\
DIR receives weights.safetensors (the parameters of all runs, under torch's names, with the runs along the first axis), \
runs.jsonl (a line for each epoch of each run) and summary.csv (a row for each run); with --bound, bounds.csv, too.\n\
Values separated by commas, such as --lr 1e-3,3e-4, are a grid: every seed is trained with every combination.")]
pub(super) struct Train {
    /// The data set: a table, strings of bits, .npz or .safetensors.
    data: PathBuf,
    /// The folder to write.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// The column or array that has the targets [default: the one named y, label, labels, class, target, targets,
    /// species, variety, diagnosis or outcome; then the last column of a table, or the first, if it alone has words or
    /// whole numbers that repeat].
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    #[command(flatten)]
    columns: Columns,
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
    #[arg(long, value_name = "SHARE", value_parser = share)]
    label_smoothing: Option<f64>,
    /// The optimizer [default: adam].
    #[arg(long, value_enum)]
    optimizer: Option<OptimizerName>,
    /// The learning rate, or the step size of a sampler [default: 1e-3 for adam, adamw and psgld, 1e-2 otherwise]. With
    /// --sgld, one number, or one for each beta.
    #[arg(long, value_name = "X,..", value_delimiter = ',', value_parser = positive)]
    lr: Vec<f64>,
    /// The dropout of the hidden layers.
    #[arg(long, value_name = "P,..", value_delimiter = ',', value_parser = not_negative)]
    dropout: Vec<f64>,
    /// sgd: the momentum.
    #[arg(long, value_name = "X,..", value_delimiter = ',', value_parser = not_negative)]
    momentum: Vec<f64>,
    /// sgd, adam: what the parameters times this factor add to the gradient. adamw: the decoupled weight decay
    /// [default: 0.01].
    #[arg(long, value_name = "X,..", value_delimiter = ',', value_parser = not_negative)]
    weight_decay: Vec<f64>,
    /// The factor of the sum of absolute values of all parameters, which is added to the loss.
    #[arg(long, value_name = "X,..", value_delimiter = ',', value_parser = not_negative)]
    l1: Vec<f64>,
    /// The largest 2-norm of the gradient; a longer gradient is scaled down.
    #[arg(long, value_name = "X,..", value_delimiter = ',', value_parser = positive)]
    clip: Vec<f64>,
    /// sgld, psgld: the temperature, which is 1 / beta; inf draws from the prior.
    #[arg(long, value_name = "T,..", value_delimiter = ',', value_parser = temperature)]
    temperature: Vec<f64>,
    /// sgld, psgld: 1 / sigma^2 of the prior.
    #[arg(long, value_name = "X,..", value_delimiter = ',', value_parser = not_negative)]
    prior_precision: Vec<f64>,
    /// Another hyperparameter: beta1, beta2, eps, dampening, gradient_scale or burn_in.
    #[arg(long = "set", value_name = "NAME=X,..", value_parser = setting)]
    settings: Vec<(String, Vec<f64>)>,
    /// The schedule of the learning rate: constant, step:EVERY,FACTOR, cosine:FLOOR, power:EXPONENT,FLOOR or
    /// plateau:FACTOR,PATIENCE.
    #[arg(long, value_name = "SCHEDULE", default_value = "constant", value_parser = schedule)]
    schedule: fiedler::train::Schedule,
    /// The number of epochs in which the learning rate rises linearly to that of the schedule.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u64>)]
    warm_up: u64,
    /// The initial weights [default: torch; with --sgld, the prior].
    #[arg(long, value_enum)]
    init: Option<InitName>,
    /// init normal: the standard deviation of the initial weights [default: 1].
    #[arg(long, value_name = "SIGMA", value_parser = positive)]
    init_deviation: Option<f64>,
    /// How inputs are scaled: standard subtracts the mean of the training samples and divides by their deviation.
    #[arg(long, value_enum, default_value_t = ScalingName::None)]
    scale: ScalingName,
    /// The number of samples of a step [default: 32, or all training samples if they are fewer].
    #[arg(long, value_name = "N", value_parser = counted)]
    batch: Option<usize>,
    /// The most samples that are read together, if the data set exceeds the memory: an .npz without compression or a
    /// .safetensors file is read group by group in every epoch [default: all samples, if they fit in a quarter of the
    /// memory].
    #[arg(long, value_name = "ROWS", value_parser = counted)]
    row_group: Option<usize>,
    /// The largest number of epochs; with --sgld, one number, or one for each beta.
    #[arg(long, value_name = "N", default_value = "100", value_delimiter = ',', value_parser = counted)]
    epochs: Vec<usize>,
    /// The number of seeds; with --sgld, of chains at each beta.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = counted)]
    runs: usize,
    /// The first seed.
    #[arg(long, value_name = "SEED", default_value_t = 42, value_parser = whole::<u64>)]
    seed: u64,
    /// The metric by which runs stop early and their best parameters are chosen, such as validation.accuracy
    /// or validation.r2.
    #[arg(long, value_name = "METRIC", value_parser = stop)]
    stop: Option<Stop>,
    /// The number of epochs without improvement after which a run stops.
    #[arg(long, value_name = "N", requires = "stop", default_value_t = 20, value_parser = whole::<u64>)]
    patience: u64,
    /// The shares of training, validation and test samples [default: the parts of the file, if it has parts; else
    /// 0.7,0.1,0.2, or with --sgld 0.8,0.2, without validation samples; fewer parts of a small data set].
    #[arg(long, value_name = "SHARES", value_parser = split)]
    split: Option<[f64; 3]>,
    /// Divide the data by this seed in all runs [default: every run divides the data by its own seed; with --sgld, all
    /// by --seed].
    #[arg(long, value_name = "SEED", value_parser = whole::<u64>)]
    split_seed: Option<u64>,
    /// The precision of all computations; f16 and bf16 are mixed precisions.
    #[arg(long, value_enum, default_value_t = Precision::F32)]
    precision: Precision,
    /// Go on from the checkpoint in DIR. The result has the same bits as without the interruption.
    #[arg(long, conflicts_with = "overwrite")]
    resume: bool,
    #[command(flatten)]
    overwriting: Overwriting,
    /// The seconds between checkpoints.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = positive)]
    checkpoint: f64,
    /// Try the call: at most 2 seeds and 20 epochs.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    sampling: Sampling,
    #[command(flatten)]
    place: Where,
    /// Print nothing but errors.
    #[arg(long)]
    quiet: bool,
    /// Print the report as one JSON object.
    #[arg(long)]
    json: bool,
}

/// A data set, and what its file says about it.
struct Data<T> {
    samples: usize,
    inputs: usize,
    /// The number of values of a sample, or 0 for labels.
    values: usize,
    origin: Origin,
    findings: Findings,
    source: Box<dyn Source<T>>,
    /// Whether it is in memory.
    whole: bool,
}

impl<T: Number> Data<T> {
    /// `divided` says whether the parts of the file are kept.
    fn of_file(file: SampleFile, divided: bool) -> Self {
        let mut findings = file.findings().clone();
        findings.parts = findings.parts.filter(|_| divided);
        Self {
            samples: file.len(),
            inputs: file.inputs(),
            values: file.values(),
            origin: Origin { classes: file.classes().to_vec(), ..Origin::default() },
            findings,
            source: Box::new(file),
            whole: false,
        }
    }
}

fn stop(text: &str) -> Result<Stop, String> {
    Stop::on(text, 0).map_err(|error| error.to_string())
}

/// Returns the default shares of training, validation and test samples.
fn shares(sgld: bool) -> [f64; 3] {
    if sgld { [0.8, 0.0, 0.2] } else { [0.7, 0.1, 0.2] }
}

/// Parses a temperature, which may be infinite.
fn temperature(text: &str) -> Result<f64, String> {
    let value = text.trim().parse().ok().filter(|value: &f64| *value >= 0.0);
    value.ok_or_else(|| "expected a number of 0 or more, or inf".to_owned())
}

/// Returns a wrong call for what the options alone make wrong.
fn wrong(error: Error) -> Failure {
    Failure::Call(error.to_string())
}

/// Parses a hyperparameter and its values.
fn setting(text: &str) -> Result<(String, Vec<f64>), String> {
    let wanted = || format!("expected NAME=X, where NAME is one of {}", SETTINGS.join(", "));
    let (name, values) = text.split_once('=').ok_or_else(wanted)?;
    if !SETTINGS.contains(&name) {
        return Err(wanted());
    }
    let values = values.split(',').map(finite).collect::<Result<_, _>>()?;
    Ok((name.to_owned(), values))
}

impl Train {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        if self.place.insists() && self.precision == Precision::F64 {
            return Err(Failure::Call("--backend gpu: expected --precision f32, found f64".to_owned()));
        }
        self.check_options()?;
        self.check_folder()?;
        self.train_in_precision().map_err(advised)
    }

    fn train_in_precision(&self) -> Result<Outcome, Failure> {
        let roles = self.columns.roles(self.label.as_deref());
        let wanted = if self.loss.takes_labels() { Wanted::Labels(roles) } else { Wanted::Values(roles) };
        if !self.sampling.sgld
            && let Some(file) = SampleFile::open(&self.data, wanted)?
        {
            // Shares that are asked for divide all samples.
            let divided = self.split.is_none();
            return match self.precision {
                Precision::F64 => self.train_on::<f64>(&Data::of_file(file, divided)),
                _ => self.train_on::<f32>(&Data::of_file(file, divided)),
            };
        }
        let table = io::read_samples(&self.data, wanted)?;
        if self.precision == Precision::F64 {
            return self.train(table, |x| x);
        }
        #[expect(clippy::cast_possible_truncation, reason = "the call asks for f32")]
        self.train(table, |x| x as f32)
    }

    /// Opens the context of a training. A training that goes on from a checkpoint may need the device on which it
    /// began.
    fn context(&self, choose: impl Fn(&Context) -> Result<Choice, Error>) -> Result<Context, Failure> {
        let begun = self.is_finished() || self.resume && self.output.join(CHECKPOINT).exists();
        let opens = || self.place.opens_device(&choose).map_err(Failure::into_call);
        let ctx =
            self.place.with(Context::builder().device(self.precision != Precision::F64 && (begun || opens()?)))?;
        // A checkpoint has groups of its own.
        if !begun {
            choose(&ctx).map_err(wrong)?;
        }
        Ok(ctx)
    }

    fn train<T: Number>(&self, table: SampleTable, element: fn(f64) -> T) -> Result<Outcome, Failure> {
        let SampleTable { inputs, x, targets, names, target, left_out, mut findings } = table;
        if self.split.is_some() {
            findings.parts = None;
        }
        let (targets, classes, values) = match targets {
            TableTargets::Labels(labels, classes) => (Targets::Labels(labels), classes, 0),
            TableTargets::Values(values, each) => {
                (Targets::Values(values.into_iter().map(element).collect(), each), Vec::new(), each)
            }
            TableTargets::None => (Targets::Labels(Vec::new()), Vec::new(), 0),
        };
        let samples = Samples::new(inputs, x.into_iter().map(element).collect(), targets)?;
        let origin = Origin { classes, inputs: names, target, left_out };
        if self.sampling.sgld {
            let net = self.checked_net([samples.len(), inputs, values], &origin.classes, &findings)?;
            return self.sample(&samples, net, &origin, &findings);
        }
        let (count, source) = (samples.len(), Box::new(samples));
        self.train_on(&Data { samples: count, inputs, values, origin, findings, source, whole: true })
    }

    /// Returns the network for these numbers of samples, inputs and values, after a check that the classes are such
    /// that it can tell them apart, and warns of what is doubtful about the data.
    fn checked_net(
        &self,
        [samples, inputs, values]: [usize; 3],
        classes: &[String],
        findings: &Findings,
    ) -> Result<Mlp, Failure> {
        let outputs = if self.loss.takes_labels() {
            self.check_classes(samples, classes, findings)?;
            self.loss.outputs(classes.len()).map_err(|what| Failure::Call(format!("--loss: {what}")))?
        } else if self.loss == LossName::Weighted {
            if values != 2 {
                let (shown, name) = (self.data.display(), self.label.as_deref().unwrap_or("y"));
                return Err(Failure::Said(format!(
                    "{shown}: --loss weighted: expected an array {name} with two weights for each sample, (samples, 2), \
                     found {values}; --label names another array of an .npz or .safetensors file"
                )));
            }
            1
        } else {
            values
        };
        if !self.quiet && !self.json {
            let data = self.data.display();
            columns::warn(findings, &data, columns::ignoring);
            columns::warn_of_values(findings, &data, (samples, classes), "--loss mse");
        }
        self.net(inputs, outputs).map_err(wrong)
    }

    fn train_on<T: Number>(&self, data: &Data<T>) -> Result<Outcome, Failure> {
        let net = self.checked_net([data.samples, data.inputs, data.values], &data.origin.classes, &data.findings)?;
        let optimizer: Optimizer = self.optimizer().into();
        let runs = self.grid(optimizer).map_err(wrong)?;
        runs.rows().iter().try_for_each(|run| run.hyper.check(optimizer)).map_err(wrong)?;
        let trainer = self.trainer(net, optimizer);
        let trainer = match data.findings.parts {
            Some(parts) => trainer.parts(parts),
            None => trainer,
        };
        let trainer = match self.row_group.or_else(|| data.whole.then_some(data.samples)) {
            Some(rows) => trainer.row_group(rows),
            None => trainer,
        };
        let ctx = &self.context(|ctx| trainer.choose::<T>(ctx, data.samples, runs.rows().len()))?;
        let source = data.source.as_ref();
        if self.is_finished() {
            return self.compared(trainer.check_finished(ctx, source, &runs, &self.output.join(WEIGHTS)));
        }
        let (adjustments, stop) = (trainer.adjustments(data.samples), trainer.stopping_rule());
        let work = |path: &Path, every, progress| {
            trainer.checkpoint(path, every).progress(progress).fit_groups(ctx, source, &runs)
        };
        let (fit, seconds) = self.in_folder(work)?;
        self.store(&fit, &fit.table(), &data.origin)?;
        if !self.quiet {
            let done = report::Done {
                fit: &fit,
                samples: [data.samples, data.inputs],
                runs: &runs,
                split: self.split(),
                stop,
                classes: &data.origin.classes,
                seconds,
                threads: ctx.threads(),
            };
            let about = About { inputs: data.inputs, findings: &data.findings, classes: &data.origin.classes };
            print(if self.json {
                about.added_to(done.as_json(), &adjustments).to_string()
            } else {
                done.words() + &about.words(&adjustments)
            });
        }
        Ok(outcome(&fit))
    }

    fn optimizer(&self) -> OptimizerName {
        self.optimizer.unwrap_or(OptimizerName::Adam)
    }

    fn split(&self) -> [f64; 3] {
        self.split.unwrap_or(shares(self.sampling.sgld))
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
        let mut runs = Runs::seeds(optimizer, self.seed, self.count())?;
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

    fn loss(&self) -> Loss {
        self.loss.of(self.label_smoothing.unwrap_or(0.0))
    }

    /// Returns the numbers of epochs.
    fn epochs(&self) -> Vec<u64> {
        let most = if self.quick { QUICK.1 } else { u64::MAX };
        self.epochs.iter().map(|&epochs| most.min(epochs as u64)).collect()
    }

    /// Returns the number of seeds.
    fn count(&self) -> usize {
        if self.quick { self.runs.min(QUICK.0) } else { self.runs }
    }

    fn init(&self) -> Option<Init> {
        self.init.map(|init| init.of(self.init_deviation.unwrap_or(1.0)))
    }

    fn trainer(&self, net: Mlp, optimizer: Optimizer) -> Trainer {
        let trainer = Trainer::new(net, self.loss(), optimizer)
            .epochs(self.epochs().first().copied().unwrap_or(1))
            .init(self.init().unwrap_or_default())
            .schedule(self.schedule)
            .warm_up(self.warm_up)
            .scaling(self.scale.into())
            .mixed_precision(self.precision.mixed());
        let trainer = match self.batch {
            Some(batch) => trainer.batch(batch),
            None => trainer,
        };
        let split = Split { shares: self.split(), seed: self.split_seed };
        let trainer = if self.split.is_some() { trainer.split(split) } else { trainer.split_if_possible(split) };
        match self.stop {
            Some(stop) => trainer.stop(Stop { patience: self.patience, ..stop }),
            None => trainer,
        }
    }
}

/// Adds to an error about an input that is NaN how such inputs come about in features, and what to do.
fn advised(failure: Failure) -> Failure {
    let Failure::Failed(error) = &failure else { return failure };
    let nan = match error.kind() {
        ErrorKind::Domain { what, .. } => what.starts_with("expected finite inputs, found NaN"),
        ErrorKind::Parse { expected, found, .. } => {
            expected == "a finite number" && found.to_lowercase().starts_with("\"nan\"")
        }
        _ => false,
    };
    if !nan {
        return failure;
    }
    Failure::Said(format!(
        "{error}; samples of features whose status is 1 or 3 have NaN: `fiedler features --undefined X` writes X instead"
    ))
}

/// Returns the outcome of a training: whether all runs ended well.
fn outcome<T: Number>(fit: &Fit<T>) -> Outcome {
    if fit.runs().iter().all(|run| run.status().is_good()) { Outcome::Done } else { Outcome::Uncertified }
}
