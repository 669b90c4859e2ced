//! `fiedler.encode`.

use crate::arrays::{Number, returned};
use crate::context::Door;
use crate::errors::raised;
use crate::graphs::Graphs;
use crate::wait::released;
use fiedler::cache::Cache;
use fiedler::encode::{Encoding, Method, Progress, Report, SpectralEncoder};
use fiedler::ops::{Normalization, Which};
use fiedler::policy::Side;
use fiedler::{Backend, Context, Error, GraphBatch, Result};
use num_complex::Complex;
use numpy::Element;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::Arc;

/// Returns an error for a word that is not one of those of an option.
fn unknown(option: &'static str, expected: &str, found: &str) -> Error {
    Error::domain(option, format!("expected {expected}, found {found:?}"))
}

/// Returns the Laplacian that a word names.
pub(crate) fn normalization(name: &str) -> Result<Normalization> {
    Ok(match name {
        "combinatorial" => Normalization::Combinatorial,
        "symmetric" => Normalization::Symmetric,
        "random-walk" => Normalization::RandomWalk,
        _ => return Err(unknown("laplacian", "symmetric, random-walk or combinatorial", name)),
    })
}

/// Returns the end of the spectrum that a word names.
pub(crate) fn which(name: &str) -> Result<Which> {
    Ok(match name {
        "smallest" => Which::Smallest,
        "largest" => Which::Largest,
        _ => return Err(unknown("which", "smallest or largest", name)),
    })
}

fn method(name: &str) -> Result<Method> {
    Ok(match name {
        "auto" => Method::Auto,
        "exact" => Method::Exact,
        "fast" => Method::Fast,
        _ => return Err(unknown("method", "auto, exact or fast", name)),
    })
}

/// The options of [`encode`], as `fiedler/_encode.py` passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    k: usize,
    laplacian: String,
    charge: Option<f64>,
    which: String,
    drop_trivial: bool,
    walk_steps: usize,
    method: String,
    pub(crate) wide: bool,
    cache: bool,
    resume: Option<PathBuf>,
}

impl Options {
    pub(crate) fn encoder(&self, door: &Door, first: usize) -> Result<(SpectralEncoder, Option<Arc<Cache>>)> {
        let mut encoder = SpectralEncoder::new(self.k)
            .laplacian(normalization(&self.laplacian)?)
            .which(which(&self.which)?)
            .drop_trivial(self.drop_trivial)
            .walk_steps(self.walk_steps)
            .method(method(&self.method)?)
            .first_graph(first);
        if let Some(charge) = self.charge {
            encoder = encoder.magnetic(charge);
        }
        let journal = self.resume.as_ref().map(|folder| Arc::new(Cache::new().disk(folder, u64::MAX)));
        for cache in journal.iter().cloned().chain(if self.cache { door.cache()? } else { None }) {
            encoder = encoder.cache(cache);
        }
        Ok((encoder, journal))
    }
}

/// Encodes graphs. Returns the arrays of the encoding by their names, and where it ran.
#[pyfunction]
pub(crate) fn encode<'py>(
    context: &Bound<'py, Door>,
    graphs: &Bound<'py, Graphs>,
    options: Options,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
    let (py, door) = (context.py(), context.get());
    let (encoder, journal) = options.encoder(door, graphs.get().first).map_err(|error| raised(py, &error))?;
    let complex = options.charge.is_some();
    let call = Call { py, door, graphs: graphs.as_unbound(), encoder, complex, progress };
    let made = if options.wide {
        call.run(|encoder, ctx, graphs, tell| encoder.encode_f64(&ctx.with_backend(Backend::Auto), graphs, tell))
    } else {
        call.run(|encoder, ctx, graphs, tell| encoder.encode_with(ctx, graphs, tell))
    }?;
    if let Some(journal) = journal {
        journal.clear_disk().map_err(|error| raised(py, &error))?;
    }
    Ok(made)
}

struct Call<'a, 'py> {
    py: Python<'py>,
    door: &'a Door,
    graphs: &'a Py<Graphs>,
    encoder: SpectralEncoder,
    /// Whether the eigenvectors are complex.
    complex: bool,
    progress: Option<&'a Bound<'py, PyAny>>,
}

/// A function of the encoder that computes in `T`.
type Encode<T> = fn(&SpectralEncoder, &Context, &GraphBatch, &mut dyn FnMut(Progress)) -> Result<(Encoding<T>, Report)>;

impl<'py> Call<'_, 'py> {
    fn run<T: Number>(self, encode: Encode<T>) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)>
    where
        Complex<T>: Element,
    {
        let Self { py, door, graphs, encoder, complex, progress } = self;
        let (own, owner) = (encoder.clone(), graphs.clone_ref(py));
        let choose = |ctx: &Context| Ok(encoder.choose(ctx, &graphs.get().batch));
        let (encoding, report, adapter) = released(py, door, choose, progress, move |ctx, tell| {
            let mut told = |Progress { done, total }| tell.progress(done, total);
            let (encoding, report) = encode(&own, ctx, &owner.get().batch, &mut told)?;
            let adapter = ctx.adapter().map(|adapter| adapter.name.clone());
            Ok((encoding, report, adapter))
        })?;
        Ok((arrays(py, encoding, complex)?, told(py, &report, adapter)?))
    }
}

/// Returns the arrays of the encoding by their names in the files of the command.
fn arrays<T: Number>(py: Python<'_>, encoding: Encoding<T>, complex: bool) -> PyResult<Bound<'_, PyDict>>
where
    Complex<T>: Element,
{
    let (graphs, k) = (encoding.graphs(), encoding.k);
    let nodes = encoding.node_offsets.last().map_or(0, |&nodes| usize::try_from(nodes).unwrap_or(0));
    let all = PyDict::new(py);
    all.set_item("eigenvalues", returned(py, encoding.eigenvalues, [graphs, k])?)?;
    let vectors = match complex {
        true => returned(py, encoding.complex_eigenvectors, [nodes, k])?,
        false => returned(py, encoding.eigenvectors, [nodes, k])?,
    };
    all.set_item("eigenvectors", vectors)?;
    all.set_item("node_offsets", returned(py, encoding.node_offsets, [graphs + 1])?)?;
    all.set_item("residual", returned(py, encoding.residual, [graphs])?)?;
    all.set_item("orthogonality", returned(py, encoding.orthogonality, [graphs])?)?;
    all.set_item("status", returned(py, encoding.status, [graphs])?)?;
    all.set_item("components", returned(py, encoding.components, [graphs])?)?;
    all.set_item("tie_group", returned(py, encoding.tie_group, [graphs, k])?)?;
    all.set_item("tie_cut", returned(py, encoding.tie_cut, [graphs])?)?;
    all.set_item("mask", returned(py, encoding.mask, [graphs, k])?)?;
    if encoding.walk_steps > 0 {
        all.set_item("random_walk", returned(py, encoding.random_walk, [nodes, encoding.walk_steps])?)?;
    }
    Ok(all)
}

/// Returns the report as a dictionary.
fn told<'py>(py: Python<'py>, report: &Report, adapter: Option<String>) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("side", if report.choice.side == Side::Gpu { "gpu" } else { "cpu" })?;
    told.set_item("why", report.choice.to_string())?;
    told.set_item("adapter", adapter)?;
    told.set_item("on_cpu", report.on_cpu)?;
    told.set_item("on_gpu", report.on_gpu)?;
    told.set_item("solved_again", report.solved_again)?;
    told.set_item("stored", report.stored)?;
    Ok(told)
}
