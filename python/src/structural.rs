//! `fiedler.structural`.

use crate::arrays::{Number, returned};
use crate::context::Door;
use crate::encode::normalization;
use crate::errors::raised;
use crate::graphs::Graphs;
use crate::wait::released;
use fiedler::encode::{Progress, SpectralEncoder, StructuralEncoder, StructuralEncoding};
use fiedler::io::{Data, structural_arrays};
use fiedler::{Backend, Context, Error, GraphBatch, Result};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The options of [`structural`], as `fiedler/_structural.py` passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    heat_times: Vec<f64>,
    wave_energies: usize,
    pagerank: Vec<f64>,
    electrostatic: bool,
    resistances: bool,
    all_pairs: bool,
    invariants: bool,
    laplacian: String,
    drop_trivial: bool,
    wide: bool,
}

impl Options {
    fn encoder(&self, first: usize) -> Result<StructuralEncoder> {
        Ok(StructuralEncoder::new()
            .heat_kernel(&self.heat_times)
            .wave_kernel(self.wave_energies)
            .pagerank(&self.pagerank)
            .electrostatic(self.electrostatic)
            .resistances(self.resistances)
            .all_pairs(self.all_pairs)
            .invariants(self.invariants)
            .laplacian(normalization(&self.laplacian)?)
            .drop_trivial(self.drop_trivial)
            .first_graph(first))
    }
}

/// Computes structural encodings of graphs. Returns the arrays by their names in the files of the command.
#[pyfunction]
pub(crate) fn structural<'py>(
    context: &Bound<'py, Door>,
    graphs: &Bound<'py, Graphs>,
    options: Options,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (py, door) = (context.py(), context.get());
    let encoder = options.encoder(graphs.get().first).map_err(|error| raised(py, &error))?;
    if options.wide {
        run::<f64>(py, door, graphs.as_unbound(), encoder, progress)
    } else {
        run::<f32>(py, door, graphs.as_unbound(), encoder, progress)
    }
}

fn run<'py, T: Number>(
    py: Python<'py>,
    door: &Door,
    graphs: &Py<Graphs>,
    encoder: StructuralEncoder,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let owner = graphs.clone_ref(py);
    // All eigenpairs are computed on the CPU, which takes about as long as their dense decomposition.
    let choose = |ctx: &Context| {
        let batch: &GraphBatch = &graphs.get().batch;
        Ok(SpectralEncoder::new(1)
            .method(fiedler::encode::Method::Exact)
            .choose(&ctx.with_backend(Backend::Cpu), batch))
    };
    let encoding = released(py, door, choose, progress, move |ctx, tell| {
        let mut told = |Progress { done, total }| tell.progress(done, total);
        encoder.encode_with::<T>(ctx, &owner.get().batch, &mut told)
    })?;
    arrays(py, &encoding)
}

/// Returns the arrays of the encoding by their names, with the components and the offsets of the nodes.
fn arrays<'py, T: Number>(py: Python<'py>, encoding: &StructuralEncoding<T>) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for array in structural_arrays(encoding) {
        let name = array.name.strip_prefix("structural_").unwrap_or(array.name);
        match (&array.data, &array.shape[..]) {
            (Data::F32(data), &[rows, columns]) => all.set_item(name, returned(py, data.to_vec(), [rows, columns])?)?,
            (Data::F64(data), &[rows, columns]) => all.set_item(name, returned(py, data.to_vec(), [rows, columns])?)?,
            (Data::I64(data), &[rows, columns]) => all.set_item(name, returned(py, data.to_vec(), [rows, columns])?)?,
            (Data::F32(data), _) => all.set_item(name, returned(py, data.to_vec(), [data.len()])?)?,
            (Data::F64(data), _) => all.set_item(name, returned(py, data.to_vec(), [data.len()])?)?,
            (Data::I64(data), _) => all.set_item(name, returned(py, data.to_vec(), [data.len()])?)?,
            (Data::U8(data), _) => all.set_item(name, returned(py, data.to_vec(), [data.len()])?)?,
            (_, shape) => {
                let what = format!("expected an array of numbers, found {name} of shape {shape:?}");
                return Err(raised(py, &Error::domain("structural", what)));
            }
        }
    }
    all.set_item("node_offsets", returned(py, encoding.node_offsets.clone(), [encoding.node_offsets.len()])?)?;
    all.set_item("components", returned(py, encoding.components.clone(), [encoding.components.len()])?)?;
    Ok(all)
}
