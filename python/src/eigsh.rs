//! `fiedler.linalg.eigsh`: a few pairs of sparse matrices, of Laplacians, and of maps that are known by their products.

use crate::arrays::{Borrowed, Number, by_type, returned};
use crate::context::Door;
use crate::encode::{normalization, which};
use crate::errors::raised;
use crate::graphs::Graphs;
use crate::linalg::without_negative_zeros;
use crate::wait::{released, waited};
use fiedler::ops::eigsh::{Selection, choose_eigsh, eigsh_map};
use fiedler::ops::sparse::Operator;
use fiedler::ops::{self, Eigsh, EigshMethod, EigshOptions, Status};
use fiedler::{Context, Error, Result};
use numpy::{PyArray1, PyArrayDyn, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::{Mutex, PoisonError};

/// The options of [`eigsh`], as `fiedler/_eigsh.py` passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Iteration {
    k: usize,
    which: String,
    /// The largest residual; 0 stands for [`exact`], and None for the default of the library.
    tolerance: Option<f64>,
    sigma: Option<f64>,
    seed: u64,
    dense: bool,
}

/// Returns the tolerance that stands for the precision of the machine. Products and Rayleigh-Ritz steps have rounding
/// errors of a few eps, so an iteration with a smaller tolerance would not end. The library's default for f32 is 17 eps.
fn exact(epsilon: f64) -> f64 {
    (64.0 * epsilon).min(ITERATED_IN_F32)
}

/// The default tolerance of `EigshOptions` in f32.
const ITERATED_IN_F32: f64 = 2e-6;

impl Iteration {
    fn selection(&self) -> Result<Selection> {
        Ok(match self.which.as_str() {
            "SM" => Selection::SmallestMagnitude,
            "LM" => Selection::LargestMagnitude,
            "BE" => Selection::BothEnds,
            other => which(other)?.into(),
        })
    }

    fn settings(&self, epsilon: f64) -> EigshOptions {
        let mut settings = EigshOptions::default().seed(self.seed);
        settings.tolerance = self.tolerance.map(|tolerance| if tolerance == 0.0 { exact(epsilon) } else { tolerance });
        settings.sigma = self.sigma;
        if self.dense { settings.method(EigshMethod::Dense) } else { settings }
    }
}

/// Computes k eigenpairs of a symmetric matrix in compressed sparse rows. The eigenvectors come as `(k, n)`.
#[pyfunction]
pub(crate) fn eigsh<'py>(
    context: &Bound<'py, Door>,
    row_offsets: &Bound<'py, PyArrayDyn<i64>>,
    columns: &Bound<'py, PyArrayDyn<i64>>,
    values: &Bound<'py, PyAny>,
    options: Iteration,
) -> PyResult<Bound<'py, PyTuple>> {
    by_type!(values, [f32, f64], eigsh_of(context.get(), row_offsets, columns, &options))
}

/// Returns the matrix of these arrays.
pub(crate) fn operator<'py, T: Number>(
    row_offsets: &Bound<'py, PyArrayDyn<i64>>,
    columns: &Bound<'py, PyArrayDyn<i64>>,
    values: &Bound<'py, PyArrayDyn<T>>,
) -> PyResult<Operator<'static, T>> {
    let py = values.py();
    let (rows, columns, values) = (Borrowed::of(row_offsets)?, Borrowed::of(columns)?, Borrowed::of(values)?);
    let made = || {
        let rows = rows.as_ref().iter().map(|&offset| usize::try_from(offset).unwrap_or(usize::MAX)).collect();
        let columns = columns.as_ref().iter().map(|&column| u32::try_from(column).unwrap_or(u32::MAX)).collect();
        Operator::<T>::from_csr(rows, columns, values.as_ref().to_vec())
    };
    py.detach(made).map_err(|error| raised(py, &error))
}

fn eigsh_of<'py, T: Number>(
    values: &Bound<'py, PyArrayDyn<T>>,
    door: &Door,
    row_offsets: &Bound<'py, PyArrayDyn<i64>>,
    columns: &Bound<'py, PyArrayDyn<i64>>,
    options: &Iteration,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = values.py();
    let operator = operator(row_offsets, columns, values)?;
    let size = (operator.rows(), operator.entries());
    solved(py, door, size, options, move |ctx, k, which, settings| ops::eigsh(ctx, &operator, k, which, settings))
}

/// Computes k eigenpairs of the Laplacian of one graph, in f64 if `wide`. The eigenvectors come as `(k, n)`.
#[pyfunction]
pub(crate) fn eigsh_laplacian<'py>(
    context: &Bound<'py, Door>,
    graphs: &Bound<'py, Graphs>,
    laplacian: &str,
    wide: bool,
    options: Iteration,
) -> PyResult<Bound<'py, PyTuple>> {
    let (py, door, batch) = (context.py(), context.get(), &graphs.get().batch);
    let (owner, size) = (graphs.clone().unbind(), (batch.nodes(), batch.entries()));
    let normalization = normalization(laplacian).map_err(|error| raised(py, &error))?;
    if batch.len() != 1 {
        let what = format!("expected one graph, found {}", batch.len());
        return Err(raised(py, &Error::domain("eigsh", what)));
    }
    if wide {
        return solved(py, door, size, &options, move |ctx, k, which, settings| {
            let operator = Operator::<f64>::laplacian(owner.get().batch.graph(0), normalization)?;
            ops::eigsh(ctx, &operator, k, which, settings)
        });
    }
    solved(py, door, size, &options, move |ctx, k, which, settings| {
        let operator = Operator::<f32>::laplacian(owner.get().batch.graph(0), normalization)?;
        ops::eigsh(ctx, &operator, k, which, settings)
    })
}

/// Calls `solve` with the number of pairs, their selection, and the settings. `size` is the order of the matrix
/// and its number of entries.
fn solved<'py, T: Number>(
    py: Python<'py>,
    door: &Door,
    size: (usize, usize),
    options: &Iteration,
    solve: impl FnOnce(&Context, usize, Selection, &EigshOptions) -> Result<Eigsh<T>> + Send + 'static,
) -> PyResult<Bound<'py, PyTuple>> {
    let selection = options.selection().map_err(|error| raised(py, &error))?;
    let settings = options.settings(T::EPSILON);
    let (k, (n, _)) = (options.k, size);
    let choose = |ctx: &Context| Ok(choose_eigsh::<T>(ctx, size, k));
    let found = released(py, door, choose, None, move |ctx, _| solve(ctx, k, selection, &settings))?;
    handed(py, found, n)
}

/// Returns the arrays of a result, of which the eigenvectors come as `(k, n)`.
fn handed<T: Number>(py: Python<'_>, mut found: Eigsh<T>, n: usize) -> PyResult<Bound<'_, PyTuple>> {
    let k = found.values.len();
    let statuses: Vec<u8> = found.statuses.iter().map(|&status: &Status| status as u8).collect();
    without_negative_zeros(&mut found.values);
    without_negative_zeros(found.vectors.as_mut_slice());
    let values = returned(py, found.values, [k])?;
    let vectors = returned(py, Vec::from(found.vectors.data), [k, n])?;
    let (residual, status) = (returned(py, found.residuals, [k])?, returned(py, statuses, [k])?);
    let orthogonality = found.certificate.orthogonality;
    (values, vectors, residual, orthogonality, status, found.null_space).into_pyobject(py)
}

/// Computes k eigenpairs of a symmetric map on vectors of n elements. `product` takes a vector of float64 and returns
/// its product; `epsilon` is the relative error of that.
#[pyfunction]
pub(crate) fn eigsh_products<'py>(
    context: &Bound<'py, Door>,
    n: usize,
    product: &Bound<'py, PyAny>,
    epsilon: f64,
    options: Iteration,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = context.py();
    let selection = options.selection().map_err(|error| raised(py, &error))?;
    let (settings, k) = (options.settings(epsilon), options.k);
    let product = product.clone().unbind();
    let failure = Mutex::new(None);
    let mut map = |x: &[f64], y: &mut [f64]| {
        let made = Python::attach(|py| -> PyResult<()> {
            let found = product.bind(py).call1((PyArray1::from_slice(py, x),))?;
            let found: PyReadonlyArray1<'_, f64> = found.extract()?;
            y.copy_from_slice(found.as_slice()?);
            Ok(())
        });
        made.map_err(|error| {
            *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            Error::domain("eigsh", "the product failed")
        })
    };
    let choose = |ctx: &Context| Ok(choose_eigsh::<f64>(ctx, (n, n), k));
    let found =
        waited(py, context.get(), choose, None, |ctx, _| eigsh_map(ctx, n, &mut map, k, selection, &settings, epsilon));
    // What the product raised is raised again, in place of the error that it caused.
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => handed(py, found?, n),
    }
}
