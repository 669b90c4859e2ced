//! Gradients of `fiedler.linalg`, for the libraries that differentiate (`_gradients.py`).

use crate::arrays::{Borrowed, Number, after, by_type, matrices, result, returned};
use crate::context::Door;
use crate::errors::raised;
use crate::wait::waited;
use fiedler::array::Array;
use fiedler::ops::gradient::{
    Degeneracy, choose_eigh_vjp, choose_svd_vjp, eigh_vjp as vjp_of_eigh, svd_vjp as vjp_of_svd,
};
use fiedler::{Context, Error, Result, Shape};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Returns what a gradient does where values are close, by its name in Python.
fn degeneracy(name: &str, number: f64) -> Result<Degeneracy> {
    match name {
        "exact" => Ok(Degeneracy::Exact),
        "group" => Ok(Degeneracy::Group(number)),
        "lorentzian" => Ok(Degeneracy::Lorentzian(number)),
        other => Err(Error::domain("mode", format!("expected exact, group or lorentzian, found {other}"))),
    }
}

/// Borrows a cotangent of the same type.
fn cotangent<T: Number>(bar: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Borrowed<T>>> {
    bar.map(|bar| Borrowed::of(bar.cast::<PyArrayDyn<T>>()?)).transpose()
}

/// Returns the array of a cotangent.
fn array<T: Number>(shape: Shape, bar: Option<Borrowed<T>>) -> Result<Option<Array<T>>> {
    bar.map(|bar| Array::from_owner(shape, bar)).transpose()
}

/// Returns a gradient `(..., rows, columns)` and its certificates: whether the loss is defined, which part is not, and
/// the sensitivity.
fn with_certificates<'py, T: Number>(
    py: Python<'py>,
    lead: &[usize],
    sides: [usize; 2],
    (gradient, certificates): (fiedler::array::HostArray<T>, Vec<fiedler::ops::GradientCertificate>),
) -> PyResult<Bound<'py, PyTuple>> {
    let axes = || lead.iter().copied();
    let defined: Vec<bool> = certificates.iter().map(|one| one.defined).collect();
    let undefined: Vec<f64> = certificates.iter().map(|one| one.undefined).collect();
    let sensitivity: Vec<f64> = certificates.iter().map(|one| one.sensitivity).collect();
    (
        result(py, gradient, after(lead, sides))?,
        returned(py, defined, axes())?,
        returned(py, undefined, axes())?,
        returned(py, sensitivity, axes())?,
    )
        .into_pyobject(py)
}

/// Computes the gradient of eigenpairs. The eigenvectors and their cotangents are rows.
#[pyfunction]
pub(crate) fn eigh_vjp<'py>(
    context: &Bound<'py, Door>,
    values: &Bound<'py, PyAny>,
    rows: &Bound<'py, PyAny>,
    values_bar: Option<&Bound<'py, PyAny>>,
    rows_bar: Option<&Bound<'py, PyAny>>,
    mode: (&str, f64),
) -> PyResult<Bound<'py, PyTuple>> {
    by_type!(rows, [f32, f64], eigh_of(context.get(), values, values_bar, rows_bar, mode))
}

fn eigh_of<'py, T: Number>(
    rows: &Bound<'py, PyArrayDyn<T>>,
    door: &Door,
    values: &Bound<'py, PyAny>,
    values_bar: Option<&Bound<'py, PyAny>>,
    rows_bar: Option<&Bound<'py, PyAny>>,
    (mode, number): (&str, f64),
) -> PyResult<Bound<'py, PyTuple>> {
    let py = rows.py();
    let (lead, [batch, n, len]) = matrices(rows)?;
    let (of_values, of_vectors) = (Shape::new(n, 1, batch), Shape::new(len, n, batch));
    let mode = degeneracy(mode, number).map_err(|error| raised(py, &error))?;
    let vectors = Borrowed::of(rows)?;
    let values = Borrowed::of(values.cast::<PyArrayDyn<T>>()?)?;
    let (values_bar, vectors_bar) = (cotangent::<T>(values_bar)?, cotangent::<T>(rows_bar)?);
    let choose = |ctx: &Context| Ok(choose_eigh_vjp::<T>(ctx, of_vectors, false));
    let made = waited(py, door, choose, None, |ctx, _| {
        let (values, vectors) = (Array::from_owner(of_values, values)?, Array::from_owner(of_vectors, vectors)?);
        let (values_bar, vectors_bar) = (array(of_values, values_bar)?, array(of_vectors, vectors_bar)?);
        let made = vjp_of_eigh(ctx, [&values, &vectors], [values_bar.as_ref(), vectors_bar.as_ref()], mode)?;
        Ok((made.array.to_host(ctx)?, made.certificates(ctx)?))
    })?;
    with_certificates(py, lead, [n, n], made)
}

/// Computes the gradient of thin singular value decompositions.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "three factors with their cotangents")]
pub(crate) fn svd_vjp<'py>(
    context: &Bound<'py, Door>,
    u: &Bound<'py, PyAny>,
    s: &Bound<'py, PyAny>,
    vh: &Bound<'py, PyAny>,
    u_bar: Option<&Bound<'py, PyAny>>,
    s_bar: Option<&Bound<'py, PyAny>>,
    vh_bar: Option<&Bound<'py, PyAny>>,
    mode: (&str, f64),
) -> PyResult<Bound<'py, PyTuple>> {
    by_type!(u, [f32, f64], svd_of(context.get(), [s, vh], [u_bar, s_bar, vh_bar], mode))
}

fn svd_of<'py, T: Number>(
    u: &Bound<'py, PyArrayDyn<T>>,
    door: &Door,
    [s, vh]: [&Bound<'py, PyAny>; 2],
    [u_bar, s_bar, vh_bar]: [Option<&Bound<'py, PyAny>>; 3],
    (mode, number): (&str, f64),
) -> PyResult<Bound<'py, PyTuple>> {
    let py = u.py();
    let (lead, [batch, rows, k]) = matrices(u)?;
    let vh = vh.cast::<PyArrayDyn<T>>()?;
    let (_, [_, _, columns]) = matrices(vh)?;
    let mode = degeneracy(mode, number).map_err(|error| raised(py, &error))?;
    // In the order of the library, the memory of A is that of A', whose factors are V and U'.
    let (of_u, of_s, of_vh) = (Shape::new(k, rows, batch), Shape::new(k, 1, batch), Shape::new(columns, k, batch));
    let (u, s, vh) = (Borrowed::of(u)?, Borrowed::of(s.cast::<PyArrayDyn<T>>()?)?, Borrowed::of(vh)?);
    let (u_bar, s_bar, vh_bar) = (cotangent::<T>(u_bar)?, cotangent::<T>(s_bar)?, cotangent::<T>(vh_bar)?);
    let choose = |ctx: &Context| Ok(choose_svd_vjp::<T>(ctx, Shape::new(columns, rows, batch), false));
    let made = waited(py, door, choose, None, |ctx, _| {
        let (u, s, vh) = (Array::from_owner(of_u, u)?, Array::from_owner(of_s, s)?, Array::from_owner(of_vh, vh)?);
        let (u_bar, s_bar, vh_bar) = (array(of_u, u_bar)?, array(of_s, s_bar)?, array(of_vh, vh_bar)?);
        let bars = [vh_bar.as_ref(), s_bar.as_ref(), u_bar.as_ref()];
        let made = vjp_of_svd(ctx, [&vh, &s, &u], bars, mode)?;
        Ok((made.array.to_host(ctx)?, made.certificates(ctx)?))
    })?;
    with_certificates(py, lead, [rows, columns], made)
}
