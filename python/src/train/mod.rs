//! `fiedler.train`: settings and their names are those of experiments (`fiedler::experiment::Settings`).

pub(crate) mod chains;
pub(crate) mod model;

use crate::arrays::{Borrowed, Number, by_type, returned};
use crate::context::Door;
use crate::errors::raised;
use crate::wait::waited;
use fiedler::experiment::Settings;
use fiedler::io::{self, Data, Findings, NamedArray, Rows, Suspicion, TableTargets};
use fiedler::train::{self, Fit, Loss, Metric, Mlp, Origin, Part, RunStatus, Runs, Samples, Split, Targets, Trainer};
use fiedler::{Context, Error, Result};
use numpy::{PyArrayDyn, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A precision of trainings, of which a finished one keeps its own kind.
pub(crate) trait Precision: Number + train::Number {
    fn kept(fit: Fit<Self>) -> Kept;
    fn either(borrowed: Borrowed<Self>) -> Either;
}

impl Precision for f32 {
    fn kept(fit: Fit<Self>) -> Kept {
        Kept::F32(fit)
    }

    fn either(borrowed: Borrowed<Self>) -> Either {
        Either::F32(borrowed)
    }
}

impl Precision for f64 {
    fn kept(fit: Fit<Self>) -> Kept {
        Kept::F64(fit)
    }

    fn either(borrowed: Borrowed<Self>) -> Either {
        Either::F64(borrowed)
    }
}

pub(crate) enum Kept {
    F32(Fit<f32>),
    F64(Fit<f64>),
}

/// Calls a function of one type parameter for the precision of a training.
macro_rules! kept {
    ($kept:expr, |$fit:ident| $then:expr) => {
        match $kept {
            Kept::F32($fit) => $then,
            Kept::F64($fit) => $then,
        }
    };
}

/// A finished training, with what was made to fit the data set, in words, and the metrics that its runs have.
#[pyclass(frozen, module = "fiedler._fiedler")]
pub(crate) struct Trained(Kept, Vec<String>, Vec<Metric>);

/// The options of [`fit`], as `fiedler/train.py` passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    /// JSON with the tables `model` and `train`.
    settings: String,
    grid: Vec<(String, Vec<f64>)>,
    seed: u64,
    runs: usize,
    shares: [f64; 3],
    split_seed: Option<u64>,
    classes: usize,
    checkpoint: Option<PathBuf>,
    every: f64,
}

impl Options {
    fn trainer(&self, inputs: usize, values: usize) -> Result<(Trainer, Runs)> {
        let settings: Settings = Settings::parse(&self.settings)?;
        let split = Split { shares: self.shares, seed: self.split_seed };
        let mut trainer = settings.trainer(inputs, (self.classes, values), split)?;
        if let Some(path) = &self.checkpoint {
            let every = Duration::try_from_secs_f64(self.every)
                .map_err(|_| Error::domain("train", format!("expected seconds of 0 or more, found {}", self.every)))?;
            trainer = trainer.checkpoint(path, every);
        }
        let runs = Runs::of_hyper(settings.hyper()?, self.seed, self.runs)?;
        let runs = self.grid.iter().try_fold(runs, |runs, (name, values)| runs.grid(name, values))?;
        Ok((trainer, runs))
    }
}

/// Trains networks on inputs `(samples, inputs)` with labels `(samples,)` or values `(samples, outputs)`.
#[pyfunction]
pub(crate) fn fit<'py>(
    context: &Bound<'py, Door>,
    x: &Bound<'py, PyAny>,
    labels: Option<&Bound<'py, PyArrayDyn<u32>>>,
    values: Option<&Bound<'py, PyAny>>,
    options: Options,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Trained> {
    by_type!(x, [f32, f64], fit_in(context.get(), labels, values, &options, progress))
}

fn fit_in<'py, T: Precision>(
    x: &Bound<'py, PyArrayDyn<T>>,
    door: &Door,
    labels: Option<&Bound<'py, PyArrayDyn<u32>>>,
    values: Option<&Bound<'py, PyAny>>,
    options: &Options,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Trained> {
    let py = x.py();
    let (inputs, outputs, samples) = samples_of(x, labels, values)?;
    let (trainer, runs) = options.trainer(inputs, outputs).map_err(|error| raised(py, &error))?;
    let choose = |ctx: &Context| trainer.choose::<T>(ctx, samples.len(), runs.rows().len());
    let fit = waited(py, door, choose, progress, |ctx, tell| {
        let tell = tell.clone();
        let all = runs.rows().len();
        let trainer =
            trainer.clone().progress(Arc::new(move |progress: &train::Progress| tell.progress(progress.ended, all)));
        trainer.fit(ctx, &samples, &runs)
    })?;
    let metrics = metrics(trainer.loss(), fit.net());
    let notes = trainer.adjustments(samples.len()).into_iter().chain(fit.unchosen()).collect();
    Ok(Trained(T::kept(fit), notes, metrics))
}

/// Returns the metrics that runs of a network with this loss have.
fn metrics(loss: &Loss, net: &Mlp) -> Vec<Metric> {
    Metric::ALL.into_iter().filter(|metric| metric.fits(loss, net)).collect()
}

/// Returns the number of inputs, the number of values (0 if the targets are labels), and a copy of the samples.
fn samples_of<T: Precision>(
    x: &Bound<'_, PyArrayDyn<T>>,
    labels: Option<&Bound<'_, PyArrayDyn<u32>>>,
    values: Option<&Bound<'_, PyAny>>,
) -> PyResult<(usize, usize, Samples<T>)> {
    let py = x.py();
    let inputs = x.shape().get(1).copied().unwrap_or(0);
    let (targets, outputs) = match (labels, values) {
        (Some(labels), _) => (Targets::Labels(Borrowed::of(labels)?.as_ref().to_vec()), 0),
        (None, Some(values)) => {
            let values = values.cast::<PyArrayDyn<T>>()?;
            let outputs = values.shape().get(1).copied().unwrap_or(1);
            (Targets::Values(Borrowed::of(values)?.as_ref().to_vec(), outputs), outputs)
        }
        (None, None) => return Err(raised(py, &Error::domain("train", "expected labels or values, found none"))),
    };
    let x = Borrowed::of(x)?.as_ref().to_vec();
    let samples = py.detach(|| Samples::new(inputs, x, targets)).map_err(|error| raised(py, &error))?;
    Ok((inputs, outputs, samples))
}

/// Returns warnings about inputs `(samples, inputs)` that number the samples, equal the label or, unless they are
/// pixels, are the same in all samples; and about labels, which come with the names of their classes, that seem to be
/// values.
#[pyfunction]
pub(crate) fn suspects<'py>(
    x: &Bound<'py, PyAny>,
    names: Vec<String>,
    labels: Option<(Bound<'py, PyArrayDyn<u32>>, Vec<String>)>,
    values: Option<&Bound<'py, PyAny>>,
    pixels: bool,
) -> PyResult<Vec<String>> {
    by_type!(x, [f32, f64], suspects_in(&names, labels.as_ref(), values, pixels))
}

fn suspects_in<'py, T: Precision>(
    x: &Bound<'py, PyArrayDyn<T>>,
    names: &[String],
    labels: Option<&(Bound<'py, PyArrayDyn<u32>>, Vec<String>)>,
    values: Option<&Bound<'py, PyAny>>,
    pixels: bool,
) -> PyResult<Vec<String>> {
    let wide = |array: &Bound<'py, PyArrayDyn<T>>| -> PyResult<Vec<f64>> {
        Ok(Borrowed::of(array)?.as_ref().iter().map(|x| x.to_f64()).collect())
    };
    let targets = match (labels, values) {
        (Some((labels, classes)), _) => TableTargets::Labels(Borrowed::of(labels)?.as_ref().to_vec(), classes.clone()),
        (None, Some(values)) => {
            let values = values.cast::<PyArrayDyn<T>>()?;
            TableTargets::Values(wide(values)?, values.shape().get(1).copied().unwrap_or(1))
        }
        (None, None) => TableTargets::None,
    };
    let mut findings = Findings::of_matrix(names, &wide(x)?, &targets);
    findings.suspects.retain(|(_, what)| !(pixels && *what == Suspicion::Constant));
    let mut warnings = findings.warnings(|_| "leave out what is no input".to_owned());
    if let TableTargets::Labels(labels, classes) = &targets
        && io::seem_values(labels.len(), classes)
    {
        let (classes, samples) = (classes.len(), labels.len());
        warnings.push(format!(
            "the labels are numbers of {classes} classes in {samples} samples; if they are values, y as floats \
             predicts them"
        ));
    }
    Ok(warnings)
}

/// Returns the places of the columns of a table that are an index or ids, and which of both. `fields` returns the
/// fields of a column as texts.
#[pyfunction]
pub(crate) fn no_inputs(names: Vec<String>, fields: &Bound<'_, PyAny>) -> PyResult<Vec<(usize, &'static str)>> {
    let found = io::no_inputs(&names, |at| fields.call1((at,))?.extract())?;
    Ok(found.into_iter().map(|(at, why)| (at, why.name())).collect())
}

/// Returns the place of the first label that is missing or infinite, and it in words.
#[pyfunction]
pub(crate) fn no_label(labels: Vec<String>) -> Option<(usize, String)> {
    io::no_label(labels.iter().map(String::as_str))
}

/// Writes arrays of one floating-point type as a module of torch has them.
#[pyfunction]
pub(crate) fn write_tensors(py: Python<'_>, path: PathBuf, tensors: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<()> {
    let kept = tensors.into_iter().map(|(name, array)| by_type!(array, [f32, f64], tensor_of(&name)));
    let kept = kept.collect::<PyResult<Vec<Tensor>>>()?;
    let arrays: Vec<NamedArray<'_>> = kept.iter().map(Tensor::named).collect();
    py.detach(|| io::write(&path, &arrays)).map_err(|error| raised(py, &error))
}

/// A borrowed array with its name.
struct Tensor {
    name: String,
    shape: Vec<usize>,
    data: Either,
}

pub(crate) enum Either {
    F32(Borrowed<f32>),
    F64(Borrowed<f64>),
}

impl Tensor {
    fn named(&self) -> NamedArray<'_> {
        let data = match &self.data {
            Either::F32(data) => Data::F32(data.as_ref()),
            Either::F64(data) => Data::F64(data.as_ref()),
        };
        NamedArray { name: &self.name, rows: Rows::Other, shape: self.shape.clone(), data }
    }
}

fn tensor_of<T: Precision>(array: &Bound<'_, PyArrayDyn<T>>, name: &str) -> PyResult<Tensor> {
    Ok(Tensor { name: name.to_owned(), shape: array.shape().to_vec(), data: T::either(Borrowed::of(array)?) })
}

#[pymethods]
impl Trained {
    fn __len__(&self) -> usize {
        kept!(&self.0, |fit| fit.runs().len())
    }

    /// The run that is the best on validation samples.
    #[getter]
    fn best_run(&self) -> usize {
        kept!(&self.0, |fit| fit.best_run())
    }

    /// What was made to fit the data set, in words.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.1.clone()
    }

    /// Where the runs were trained, and why.
    #[getter]
    fn why(&self) -> String {
        kept!(&self.0, |fit| fit.choice().to_string())
    }

    /// What became of each run: a dictionary each.
    fn runs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        kept!(&self.0, |fit| described(py, fit, &self.2))
    }

    /// The parameters of a run by torch's names.
    fn weights<'py>(&self, py: Python<'py>, run: usize) -> PyResult<Bound<'py, PyDict>> {
        kept!(&self.0, |fit| weights(py, fit, run))
    }

    /// Writes the parameters of all runs to a .safetensors file, which [`Predictor::open`] reads.
    fn save(&self, py: Python<'_>, path: PathBuf, classes: Vec<String>, inputs: Vec<String>) -> PyResult<()> {
        let origin = Origin { classes, inputs, ..Origin::default() };
        kept!(&self.0, |fit| py.detach(|| fit.write_weights(&path, &origin))).map_err(|error| raised(py, &error))
    }

    /// Writes the parameters of one run as a module of torch has them.
    fn export(&self, py: Python<'_>, path: PathBuf, run: usize) -> PyResult<()> {
        kept!(&self.0, |fit| py.detach(|| fit.export(&path, run))).map_err(|error| raised(py, &error))
    }
}

fn described<'py, T: Precision>(py: Python<'py>, fit: &Fit<T>, metrics: &[Metric]) -> PyResult<Bound<'py, PyList>> {
    let made = PyList::empty(py);
    for fitted in fit.runs() {
        let run = PyDict::new(py);
        run.set_item("seed", fitted.run().seed)?;
        let hyper = PyDict::new(py);
        for name in train::Hyper::names() {
            hyper.set_item(name, fitted.run().hyper.get(name).filter(|value| !value.is_nan()))?;
        }
        run.set_item("hyper", hyper)?;
        run.set_item("status", fitted.status().name())?;
        run.set_item("good", RunStatus::is_good(fitted.status()))?;
        run.set_item("epochs", fitted.epochs())?;
        run.set_item("best_epoch", fitted.best_epoch())?;
        run.set_item("seconds", fitted.seconds())?;
        for part in Part::ALL {
            let Some(scores) = fitted.scores(part) else { continue };
            for metric in metrics {
                run.set_item(format!("{}.{}", part.name(), metric.name()), metric.of(scores))?;
            }
            let classes = scores.classes();
            if classes > 0 {
                let counts = (0..classes * classes)
                    .map(|place| i64::try_from(scores.confusion(place / classes, place % classes)).unwrap_or(i64::MAX));
                let name = format!("{}.confusion", part.name());
                run.set_item(name, returned(py, counts.collect::<Vec<i64>>(), [classes, classes])?)?;
            }
        }
        let history = fitted.history();
        let column = |get: &dyn Fn(&train::Epoch) -> f64| {
            returned(py, history.iter().map(get).collect::<Vec<f64>>(), [history.len()])
        };
        let curves = PyDict::new(py);
        curves.set_item("train.loss", column(&|epoch| epoch.loss)?)?;
        curves.set_item("train.accuracy", column(&|epoch| epoch.accuracy)?)?;
        curves.set_item("lr", column(&|epoch| epoch.rate)?)?;
        for (place, metric) in Metric::ALL.into_iter().enumerate() {
            curves.set_item(format!("validation.{}", metric.name()), column(&|epoch| epoch.validation[place])?)?;
        }
        run.set_item("history", curves)?;
        made.append(run)?;
    }
    Ok(made)
}

fn weights<'py, T: Precision>(py: Python<'py>, fit: &Fit<T>, run: usize) -> PyResult<Bound<'py, PyDict>> {
    if run >= fit.runs().len() {
        let what = format!("expected a run below {}, found {run}", fit.runs().len());
        return Err(raised(py, &Error::domain("train", what)));
    }
    let made = PyDict::new(py);
    for tensor in fit.weights(run) {
        made.set_item(tensor.name, returned(py, tensor.data, tensor.shape)?)?;
    }
    Ok(made)
}
