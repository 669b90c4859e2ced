//! Networks that a training stored.

use super::Precision;
use crate::arrays::{Borrowed, by_type, returned};
use crate::context::Door;
use crate::errors::raised;
use crate::wait::waited;
use fiedler::train::Model;
use fiedler::{Context, Result};
use numpy::{PyArrayDyn, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// Networks in either precision.
pub(crate) enum Kept {
    F32(Model<f32>),
    F64(Model<f64>),
}

impl Kept {
    fn open(path: &Path) -> Result<Self> {
        Model::open(path).map(Self::F32).or_else(|error| match Model::open(path) {
            Ok(model) => Ok(Self::F64(model)),
            // The error of the precision that the file has.
            Err(other) if error.to_string().contains("weights in f32") => Err(other),
            Err(_) => Err(error),
        })
    }
}

/// Calls a function of one type parameter for the precision of the networks.
macro_rules! kept {
    ($kept:expr, |$model:ident| $then:expr) => {
        match $kept {
            Kept::F32($model) => $then,
            Kept::F64($model) => $then,
        }
    };
}

/// Trained networks that were stored.
#[pyclass(frozen, module = "fiedler._fiedler")]
pub(crate) struct Predictor(Kept);

#[pymethods]
impl Predictor {
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| Kept::open(&path)).map(Self).map_err(|error| raised(py, &error))
    }

    /// The names of the classes; none if the targets are values.
    #[getter]
    fn classes(&self) -> Vec<String> {
        kept!(&self.0, |model| model.origin().classes.clone())
    }

    /// The names of the inputs; none if they had none.
    #[getter]
    fn inputs(&self) -> Vec<String> {
        kept!(&self.0, |model| model.origin().inputs.clone())
    }

    /// Whether the networks are in double precision.
    #[getter]
    fn wide(&self) -> bool {
        matches!(self.0, Kept::F64(_))
    }

    /// The number of runs.
    fn __len__(&self) -> usize {
        kept!(&self.0, |model| model.runs())
    }

    /// The runs that ended well, and the best of all.
    #[getter]
    fn good(&self) -> (Vec<usize>, usize) {
        kept!(&self.0, |model| (model.good_runs(), model.best_run()))
    }

    /// The mean of what runs predict for inputs `(samples, inputs)` in the precision of the networks: `(samples,
    /// classes or values)`.
    fn predict<'py>(
        &self,
        context: &Bound<'py, Door>,
        x: &Bound<'py, PyAny>,
        runs: Vec<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match &self.0 {
            Kept::F32(model) => by_type!(x, [f32], predicted(context, model, &runs)),
            Kept::F64(model) => by_type!(x, [f64], predicted(context, model, &runs)),
        }
    }
}

fn predicted<'py, T: Precision>(
    x: &Bound<'py, PyArrayDyn<T>>,
    context: &Bound<'py, Door>,
    model: &Model<T>,
    runs: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let py = context.py();
    let (samples, inputs) = (x.shape().first().copied().unwrap_or(0), x.shape().get(1).copied().unwrap_or(0));
    let x = Borrowed::of(x)?.as_ref().to_vec();
    let choose = |ctx: &Context| Ok(ctx.explain(&Default::default(), false));
    let found = waited(py, context.get(), choose, None, |ctx, _| model.predict(ctx, inputs, x, runs))?;
    let columns = model.columns();
    returned(py, found, [samples, columns])
}
