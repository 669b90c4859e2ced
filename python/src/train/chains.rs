//! Sampling of parameters at several temperatures.

use super::{Precision, described, metrics, samples_of, weights};
use crate::arrays::by_type;
use crate::context::Door;
use crate::errors::raised;
use crate::wait::waited;
use fiedler::experiment::Settings;
use fiedler::train::{self, Chains, Integral, Law, Metric, Sgld, Split};
use fiedler::{Context, Error, Result};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::Arc;

/// Chains that have ended, in either precision.
enum Kept {
    F32(Chains<f32>),
    F64(Chains<f64>),
}

/// A precision whose chains are kept as its own kind.
trait Keeps: Precision {
    fn chains(chains: Chains<Self>) -> Kept;
}

impl Keeps for f32 {
    fn chains(chains: Chains<Self>) -> Kept {
        Kept::F32(chains)
    }
}

impl Keeps for f64 {
    fn chains(chains: Chains<Self>) -> Kept {
        Kept::F64(chains)
    }
}

/// Calls a function of one type parameter for the precision of the chains.
macro_rules! kept {
    ($kept:expr, |$chains:ident| $then:expr) => {
        match $kept {
            Kept::F32($chains) => $then,
            Kept::F64($chains) => $then,
        }
    };
}

/// Samples of parameters, with the metrics that they have.
#[pyclass(frozen, module = "fiedler._fiedler")]
pub(crate) struct Sampled(Kept, Vec<Metric>);

/// The options of [`sample`], as `fiedler/train.py` passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    /// JSON with the tables `model` and `train`.
    settings: String,
    law: String,
    sigma: f64,
    betas: Vec<f64>,
    epochs: Vec<u64>,
    rates: Vec<f64>,
    seed: u64,
    chains: usize,
    shares: [f64; 3],
    split_seed: u64,
    classes: usize,
}

impl Options {
    fn sampler(&self, inputs: usize, outputs: usize) -> Result<(Sgld, Vec<Metric>)> {
        let settings = Settings::parse(&self.settings)?;
        let split = Split { shares: self.shares, seed: Some(self.split_seed) };
        let trainer = settings.trainer(inputs, (self.classes, outputs), split)?;
        let law = Law::ALL.into_iter().find(|law| law.name() == self.law).ok_or_else(|| {
            Error::domain("sample", format!("expected the law pac-bayes, gibbs or posterior, found {:?}", self.law))
        })?;
        let sampler = Sgld::new(law, trainer.net().clone(), trainer.loss().clone(), self.sigma)
            .betas(&self.betas)
            .epochs(&self.epochs)
            .rates(&self.rates)
            .seeds(self.seed, self.chains)
            .batch(settings.train.batch)
            .schedule(settings.train.schedule.into())
            .warm_up(settings.train.warm_up)
            .scaling(settings.train.scale.into())
            .split(split);
        Ok((sampler, metrics(trainer.loss(), trainer.net())))
    }
}

/// Samples parameters for inputs `(samples, inputs)` with labels or values.
#[pyfunction]
pub(crate) fn sample<'py>(
    context: &Bound<'py, Door>,
    x: &Bound<'py, PyAny>,
    labels: Option<&Bound<'py, PyArrayDyn<u32>>>,
    values: Option<&Bound<'py, PyAny>>,
    options: Options,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Sampled> {
    by_type!(x, [f32, f64], sample_in(context.get(), labels, values, &options, progress))
}

fn sample_in<'py, T: Keeps>(
    x: &Bound<'py, PyArrayDyn<T>>,
    door: &Door,
    labels: Option<&Bound<'py, PyArrayDyn<u32>>>,
    values: Option<&Bound<'py, PyAny>>,
    options: &Options,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Sampled> {
    let py = x.py();
    let (inputs, outputs, samples) = samples_of(x, labels, values)?;
    let (sampler, metrics) = options.sampler(inputs, outputs).map_err(|error| raised(py, &error))?;
    let all = options.betas.len() * options.chains;
    let choose = |ctx: &Context| sampler.choose::<T>(ctx, samples.len());
    let chains = waited(py, door, choose, progress, |ctx, tell| {
        let tell = tell.clone();
        let on_progress = Arc::new(move |progress: &train::Progress| tell.progress(progress.ended, all));
        sampler.clone().progress(on_progress).sample(ctx, &samples)
    })?;
    Ok(Sampled(T::chains(chains), metrics))
}

#[pymethods]
impl Sampled {
    /// The inverse temperatures.
    #[getter]
    fn betas(&self) -> Vec<f64> {
        kept!(&self.0, |chains| chains.betas().to_vec())
    }

    /// What became of each chain: a dictionary each, in the order of seeds, and of temperatures for each seed.
    fn runs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        kept!(&self.0, |chains| described(py, chains.fit(), &self.1))
    }

    /// The parameters of a chain by torch's names.
    fn weights<'py>(&self, py: Python<'py>, run: usize) -> PyResult<Bound<'py, PyDict>> {
        kept!(&self.0, |chains| weights(py, chains.fit(), run))
    }

    /// The bound on the expected loss, or on the expected error, at each temperature: beta, training, divergence, gap
    /// and expected.
    fn bounds(&self, py: Python<'_>, delta: f64, rule: &str, of_error: bool) -> PyResult<Vec<[f64; 5]>> {
        let found = Integral::ALL
            .into_iter()
            .find(|known| known.name() == rule)
            .ok_or_else(|| Error::domain("bounds", format!("expected the rule upper or trapezoid, found {rule:?}")));
        let bounds = found.and_then(|rule| {
            kept!(&self.0, |chains| if of_error {
                chains.error_bounds(delta, rule)
            } else {
                chains.bounds(delta, rule)
            })
        });
        let bounds = bounds.map_err(|error| raised(py, &error))?;
        let row = |bound: train::Bound| [bound.beta, bound.training, bound.divergence, bound.gap, bound.expected];
        Ok(bounds.into_iter().map(row).collect())
    }
}
