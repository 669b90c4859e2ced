//! Gradients of `fiedler.linalg`, for the libraries that differentiate (`_gradients.py`).

use crate::arrays::{Borrowed, Number, after, by_type, matrices, result, returned};
use crate::context::Door;
use crate::eigsh::operator;
use crate::encode::which;
use crate::errors::raised;
use crate::linalg::{certified, split, without_negative_zeros};
use crate::wait::waited;
use fiedler::array::{Array, Ragged};
use fiedler::ops::eigen::choose_eigh;
use fiedler::ops::eigsh::choose_eigsh;
use fiedler::ops::gradient::{
    Degeneracy, choose_eigh_ragged_vjp, choose_eigh_vjp, choose_svd_vjp, eigh_ragged_vjp as vjp_of_ragged,
    eigh_vjp as vjp_of_eigh, eigsh_vjp as vjp_of_eigsh, svd_vjp as vjp_of_svd, turn_tie_groups,
};
use fiedler::ops::{self, GradientCertificate};
use fiedler::{Context, Error, Layout, Result, Shape};
use numpy::{PyArrayDyn, PyUntypedArrayMethods};
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
    (gradient, certificates): (fiedler::array::HostArray<T>, Vec<GradientCertificate>),
) -> PyResult<Bound<'py, PyTuple>> {
    let gradient = result(py, gradient, after(lead, sides))?;
    judged(py, gradient, lead, &certificates)
}

/// Returns a gradient and its certificates, whose axes are `lead`.
fn judged<'py>(
    py: Python<'py>,
    gradient: Bound<'py, PyAny>,
    lead: &[usize],
    certificates: &[GradientCertificate],
) -> PyResult<Bound<'py, PyTuple>> {
    let axes = || lead.iter().copied();
    let defined: Vec<bool> = certificates.iter().map(|one| one.defined).collect();
    let undefined: Vec<f64> = certificates.iter().map(|one| one.undefined).collect();
    let sensitivity: Vec<f64> = certificates.iter().map(|one| one.sensitivity).collect();
    let certificates =
        (returned(py, defined, axes())?, returned(py, undefined, axes())?, returned(py, sensitivity, axes())?);
    (gradient, certificates.0, certificates.1, certificates.2).into_pyobject(py)
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

/// Computes the eigenpairs of symmetric matrices of these orders, whose elements are one after the other. Returns the
/// first k eigenvalues of each, `(matrices, k)`, and their eigenvectors, `(rows, k)`, both filled up with 0; all
/// eigenvalues and eigenvectors, which are rows, one after the other; and the certificates. The bases of tie groups are
/// turned, and the entry of largest magnitude of each of the first k is positive.
#[pyfunction]
pub(crate) fn eigh_ragged<'py>(
    context: &Bound<'py, Door>,
    elements: &Bound<'py, PyAny>,
    orders: Vec<u32>,
    k: usize,
) -> PyResult<Bound<'py, PyTuple>> {
    by_type!(elements, [f32, f64], eigh_ragged_of(context.get(), &orders, k))
}

fn eigh_ragged_of<'py, T: Number>(
    elements: &Bound<'py, PyArrayDyn<T>>,
    door: &Door,
    orders: &[u32],
    k: usize,
) -> PyResult<Bound<'py, PyTuple>> {
    let (py, batch) = (elements.py(), orders.len());
    let elements = Borrowed::of(elements)?;
    let zero = T::from_f64(0.0);
    let choose = |ctx: &Context| Ok(choose_eigh::<T>(ctx, orders, false));
    let (first, values, vectors, certificates) = waited(py, door, choose, None, |ctx, _| {
        let a = Ragged::from_vec(Layout::new(orders.iter().copied()), elements.as_ref().to_vec())?;
        let found = ops::eigh_ragged(ctx, &a)?.to_host(ctx)?;
        let layout = found.layout;
        let [mut values, mut vectors] = [found.values, found.vectors].map(std::sync::Arc::unwrap_or_clone);
        without_negative_zeros(&mut values);
        turn_tie_groups(&layout, &values, &mut vectors)?;
        let mut first = [vec![zero; batch * k], vec![zero; layout.row_count() * k]];
        for (i, &n) in orders.iter().enumerate() {
            let (n, rows) = (n as usize, layout.rows(i));
            let kept = n.min(k);
            first[0][i * k..][..kept].copy_from_slice(&values[rows.clone()][..kept]);
            for (j, vector) in vectors[layout.elements(i)].chunks_exact_mut(n.max(1)).take(k).enumerate() {
                let size = |x: T| if x < zero { zero - x } else { x };
                let largest = vector.iter().fold(zero, |most, &x| if size(x) > size(most) { x } else { most });
                let sign = T::from_f64(if largest < zero { -1.0 } else { 1.0 });
                // A zero of either sign becomes +0.
                vector.iter_mut().for_each(|x| *x = *x * sign + zero);
                let places = first[1][rows.start * k..].iter_mut().skip(j).step_by(k);
                places.zip(&*vector).for_each(|(to, x)| *to = *x);
            }
        }
        Ok((first, values, vectors, split(&found.certificates)))
    })?;
    let (rows, len, [first_values, first_vectors]) = (values.len(), vectors.len(), first);
    let certificates = certified(py, certificates, &[batch])?;
    (
        returned(py, first_values, [batch, k])?,
        returned(py, first_vectors, [rows, k])?,
        returned(py, values, [rows])?,
        returned(py, vectors, [len])?,
        certificates,
    )
        .into_pyobject(py)
}

/// Computes the gradients of such eigenpairs, given all of them. The cotangents are those of all, or of the first k of
/// each matrix.
#[pyfunction]
pub(crate) fn eigh_ragged_vjp<'py>(
    context: &Bound<'py, Door>,
    values: &Bound<'py, PyAny>,
    rows: &Bound<'py, PyAny>,
    orders: Vec<u32>,
    values_bar: &Bound<'py, PyAny>,
    rows_bar: &Bound<'py, PyAny>,
    mode: (&str, f64),
) -> PyResult<Bound<'py, PyTuple>> {
    by_type!(rows, [f32, f64], ragged_of(context.get(), values, &orders, [values_bar, rows_bar], mode))
}

fn ragged_of<'py, T: Number>(
    rows: &Bound<'py, PyArrayDyn<T>>,
    door: &Door,
    values: &Bound<'py, PyAny>,
    orders: &[u32],
    bars: [&Bound<'py, PyAny>; 2],
    (mode, number): (&str, f64),
) -> PyResult<Bound<'py, PyTuple>> {
    let py = rows.py();
    let mode = degeneracy(mode, number).map_err(|error| raised(py, &error))?;
    let (vectors, values) = (Borrowed::of(rows)?, Borrowed::of(values.cast::<PyArrayDyn<T>>()?)?);
    let [values_bar, vectors_bar] = [bars[0].cast::<PyArrayDyn<T>>()?, bars[1].cast::<PyArrayDyn<T>>()?];
    let k = if vectors_bar.ndim() == 2 { Some(vectors_bar.shape()[1]) } else { None };
    let (values_bar, vectors_bar) = (Borrowed::of(values_bar)?, Borrowed::of(vectors_bar)?);
    let layout = Layout::new(orders.iter().copied());
    let choose = |ctx: &Context| Ok(choose_eigh_ragged_vjp::<T>(ctx, &layout));
    let (gradient, certificates) = waited(py, door, choose, None, |ctx, _| {
        let given = [values_bar.as_ref(), vectors_bar.as_ref()];
        let spread = k.map(|k| [spread(&layout, k, given[0], false), spread(&layout, k, given[1], true)]);
        let bars = spread.as_ref().map_or(given, |[values, vectors]| [values, vectors]);
        vjp_of_ragged(ctx, &layout, [values.as_ref(), vectors.as_ref()], bars.map(Some), mode)
    })?;
    let len = gradient.len();
    judged(py, returned(py, gradient, [len])?, &[orders.len()], &certificates)
}

/// Returns the cotangents of all pairs, given those of the first k of each matrix: of the values `(matrices, k)`, or of
/// the vectors `(rows, k)`.
fn spread<T: Number>(layout: &Layout, k: usize, from: &[T], vectors: bool) -> Vec<T> {
    let mut to = vec![T::from_f64(0.0); if vectors { layout.len() } else { layout.row_count() }];
    for (i, &n) in layout.orders().iter().enumerate() {
        let n = n as usize;
        if !vectors {
            let kept = n.min(k);
            to[layout.rows(i)][..kept].copy_from_slice(&from[i * k..][..kept]);
            continue;
        }
        let own = &from[layout.rows(i).start * k..];
        for (j, column) in to[layout.elements(i)].chunks_exact_mut(n.max(1)).take(k).enumerate() {
            column.iter_mut().zip(own.iter().skip(j).step_by(k)).for_each(|(to, x)| *to = *x);
        }
    }
    to
}

/// An array of NumPy.
type Given<'py, T> = Bound<'py, PyArrayDyn<T>>;

/// Computes the gradient of k eigenpairs with respect to the entries of a matrix in compressed sparse rows, and the
/// residual of its linear systems. The eigenvectors and their cotangents are rows.
#[pyfunction]
pub(crate) fn eigsh_vjp<'py>(
    context: &Bound<'py, Door>,
    matrix: (Given<'py, i64>, Given<'py, i64>, Given<'py, f64>),
    end: &str,
    pairs: (Given<'py, f64>, Given<'py, f64>),
    bars: (Option<Given<'py, f64>>, Option<Given<'py, f64>>),
    mode: (&str, f64),
) -> PyResult<Bound<'py, PyTuple>> {
    let (py, door) = (context.py(), context.get());
    let mode = degeneracy(mode.0, mode.1).map_err(|error| raised(py, &error))?;
    let which = which(end).map_err(|error| raised(py, &error))?;
    let (row_offsets, columns, entries) = matrix;
    let a = operator(&row_offsets, &columns, &entries)?;
    let (values, rows) = (Borrowed::of(&pairs.0)?, Borrowed::of(&pairs.1)?);
    let bar = |bar: &Option<Given<'py, f64>>| bar.as_ref().map(Borrowed::of).transpose();
    let bars = [bar(&bars.0)?, bar(&bars.1)?];
    let [row_offsets, columns] = [Borrowed::of(&row_offsets)?, Borrowed::of(&columns)?];
    let (size, k) = ((a.rows(), a.entries()), values.as_ref().len());
    let choose = |ctx: &Context| Ok(choose_eigsh::<f64>(ctx, size, k));
    // The matrix was made of them, so they are in range.
    let place = |index: i64| usize::try_from(index).unwrap_or(usize::MAX);
    let (gradient, certificate, residual) = waited(py, door, choose, None, |ctx, _| {
        let bars = bars.each_ref().map(|bar| bar.as_ref().map(AsRef::as_ref));
        let made = vjp_of_eigsh(ctx, &a, which, [values.as_ref(), rows.as_ref()], bars, mode)?;
        let mut gradient = Vec::with_capacity(size.1);
        for (row, ends) in row_offsets.as_ref().windows(2).enumerate() {
            let own = &columns.as_ref()[place(ends[0])..place(ends[1])];
            gradient.extend(own.iter().map(|&column| made.at(row, place(column))));
        }
        Ok((gradient, made.certificate, made.residual))
    })?;
    let gradient = returned(py, gradient, [size.1])?;
    let certificates = judged(py, gradient, &[1], &[certificate])?;
    (certificates, residual).into_pyobject(py)
}
