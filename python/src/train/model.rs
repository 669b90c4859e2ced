//! Networks that a training stored.

use crate::arrays::{Borrowed, returned};
use crate::context::Door;
use crate::errors::raised;
use crate::wait::waited;
use fiedler::Context;
use fiedler::train::Model;
use numpy::{PyArrayDyn, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Trained networks that were stored.
#[pyclass(frozen, module = "fiedler._fiedler")]
pub(crate) struct Predictor(Model<f32>);

#[pymethods]
impl Predictor {
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| Model::open(&path)).map(Self).map_err(|error| raised(py, &error))
    }

    /// The names of the classes; none if the targets are values.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.0.origin().classes.clone()
    }

    /// The number of runs.
    fn __len__(&self) -> usize {
        self.0.runs()
    }

    /// The runs that ended well, and the best of all.
    #[getter]
    fn good(&self) -> (Vec<usize>, usize) {
        (self.0.good_runs(), self.0.best_run())
    }

    /// The mean of what runs predict for inputs `(samples, inputs)`: `(samples, classes or values)`.
    fn predict<'py>(
        &self,
        context: &Bound<'py, Door>,
        x: &Bound<'py, PyArrayDyn<f32>>,
        runs: Vec<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = context.py();
        let (samples, inputs) = (x.shape().first().copied().unwrap_or(0), x.shape().get(1).copied().unwrap_or(0));
        let x = Borrowed::of(x)?.as_ref().to_vec();
        let choose = |ctx: &Context| Ok(ctx.explain(&Default::default(), false));
        let found = waited(py, context.get(), choose, None, |ctx, _| self.0.predict(ctx, inputs, x, &runs))?;
        let columns = self.0.columns();
        returned(py, found, [samples, columns])
    }
}
