//! `fiedler.linalg`: decompositions and products. Arrays are in C order. The leading axes of those that are decomposed
//! are the batch.

use crate::arrays::{Borrowed, Entry, Number, after, by_type, matrices, result, returned, three, turned};
use crate::context::Door;
use crate::encode::which;
use crate::errors::raised;
use crate::wait::waited;
use fiedler::array::{Array, HostArray, Scalar};
use fiedler::ops::eigen::{choose_eigh, choose_eigvalsh};
use fiedler::ops::matmul::Multiplied;
use fiedler::ops::svd::{TruncatedOptions, choose_svd, choose_svd_truncated};
use fiedler::ops::{self, Certificate, Gemm, Vectors};
use fiedler::{Context, Shape};
use half::f16;
use num_complex::Complex;
use numpy::{Element, PyArrayDyn};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ops::AddAssign;

/// Residuals, departures from orthogonality, and statuses.
pub(crate) type Certificates = (Vec<f64>, Vec<f64>, Vec<u8>);

pub(crate) fn split(certificates: &[Certificate]) -> Certificates {
    (
        certificates.iter().map(|certificate| certificate.residual).collect(),
        certificates.iter().map(|certificate| certificate.orthogonality).collect(),
        certificates.iter().map(|certificate| certificate.status as u8).collect(),
    )
}

/// Returns the three arrays of certificates, whose axes are `lead`.
pub(crate) fn certified<'py>(
    py: Python<'py>,
    (residual, orthogonality, status): Certificates,
    lead: &[usize],
) -> PyResult<Bound<'py, PyTuple>> {
    let axes = || lead.iter().copied();
    let arrays = [returned(py, residual, axes())?, returned(py, orthogonality, axes())?, returned(py, status, axes())?];
    PyTuple::new(py, arrays)
}

/// Adds 0 to every number, which turns negative zeros into zeros, as the command does.
pub(crate) fn without_negative_zeros<T: AddAssign + Default>(numbers: &mut [T]) {
    numbers.iter_mut().for_each(|x| *x += T::default());
}

/// Returns the array of a result without negative zeros.
fn cleared<'py, T: Scalar + Element + AddAssign + Default>(
    py: Python<'py>,
    mut found: HostArray<T>,
    shape: impl IntoIterator<Item = usize>,
) -> PyResult<Bound<'py, PyAny>> {
    without_negative_zeros(found.as_mut_slice());
    result(py, found, shape)
}

/// Computes eigenvalues, and eigenvectors if `vectors`, of symmetric or Hermitian matrices `(..., n, n)`. The
/// eigenvectors come as `(..., k, n)`: the rows are the vectors. With `upper`, the upper triangle is read.
#[pyfunction]
pub(crate) fn eigh<'py>(
    context: &Bound<'py, Door>,
    a: &Bound<'py, PyAny>,
    upper: bool,
    k: Option<usize>,
    end: &str,
    vectors: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    by_type!(a, [f32, f64, Complex<f32>, Complex<f64>], eigh_of(context.get(), upper, k, end, vectors))
}

fn eigh_of<'py, T: Entry>(
    a: &Bound<'py, PyArrayDyn<T>>,
    door: &Door,
    upper: bool,
    k: Option<usize>,
    end: &str,
    vectors: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = a.py();
    let (lead, [batch, rows, columns]) = matrices(a)?;
    let which = which(end).map_err(|error| raised(py, &error))?;
    let shape = Shape::new(rows, columns, batch);
    let borrowed = Borrowed::of(a)?;
    let orders = vec![u32::try_from(rows).unwrap_or(u32::MAX); batch];
    let choose = |ctx: &Context| {
        Ok(if vectors { choose_eigh::<T>(ctx, &orders, false) } else { choose_eigvalsh::<T>(ctx, &orders, false) })
    };
    let (values, vectors, certificates) = waited(py, door, choose, None, |ctx, _| {
        // Read as columns, the rows of the upper triangle are the columns of the lower one, which operations read.
        let a =
            if upper { Array::from_owner(shape, borrowed)? } else { Array::from_row_major(shape, borrowed.as_ref())? };
        if !vectors {
            let found = ops::eigvalsh(ctx, &a)?;
            return Ok((found.values.to_host(ctx)?, None, split(&found.certificates(ctx)?)));
        }
        let found = match k {
            Some(k) => ops::eigh_subset(ctx, &a, which, k)?,
            None => ops::eigh(ctx, &a)?,
        };
        let (values, vectors) = (found.values.read(ctx)?, found.vectors.read(ctx)?);
        let (values, mut vectors) = (values.wait()?, vectors.wait()?);
        if upper && T::IS_COMPLEX {
            // The columns of the lower triangle were those of the conjugate matrix.
            vectors.as_mut_slice().iter_mut().for_each(|x| *x = x.conjugated());
        }
        Ok((values, Some(vectors), split(&found.certificates(ctx)?)))
    })?;
    let k = values.shape().rows;
    let values = cleared(py, values, after(lead, [k]))?;
    let vectors = match vectors {
        Some(vectors) => cleared(py, vectors, after(lead, [k, rows]))?,
        None => py.None().into_bound(py),
    };
    (values, vectors, certified(py, certificates, lead)?).into_pyobject(py)
}

/// Computes U, S and Vh of matrices `(..., m, n)`, or S alone.
#[pyfunction]
pub(crate) fn svd<'py>(
    context: &Bound<'py, Door>,
    a: &Bound<'py, PyAny>,
    full: bool,
    vectors: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    by_type!(a, [f32, f64, Complex<f32>, Complex<f64>], svd_of(context.get(), full, vectors))
}

fn svd_of<'py, T: Entry>(
    a: &Bound<'py, PyArrayDyn<T>>,
    door: &Door,
    full: bool,
    vectors: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = a.py();
    let (lead, [batch, rows, columns]) = matrices(a)?;
    let shape = Shape::new(rows, columns, batch);
    let borrowed = Borrowed::of(a)?;
    let wanted = if full { Vectors::Full } else { Vectors::Thin };
    let choose = |ctx: &Context| Ok(choose_svd::<T>(ctx, shape, wanted, false));
    let (bases, s, certificates) = waited(py, door, choose, None, |ctx, _| {
        let a = Array::from_row_major(shape, borrowed.as_ref())?;
        if !vectors {
            let found = ops::svdvals(ctx, &a)?;
            return Ok((None, found.s.to_host(ctx)?, split(&found.certificates(ctx)?)));
        }
        let found = ops::svd(ctx, &a, wanted)?;
        let (u, s, vh) = (found.u.read(ctx)?, found.s.read(ctx)?, found.vh.read(ctx)?);
        Ok((Some((InRows::of(&u.wait()?), InRows::of(&vh.wait()?))), s.wait()?, split(&found.certificates(ctx)?)))
    })?;
    let count = s.shape().rows;
    let s = cleared(py, s, after(lead, [count]))?;
    let certificates = certified(py, certificates, lead)?;
    let Some((u, vh)) = bases else { return (py.None(), s, py.None(), certificates).into_pyobject(py) };
    (u.returned(py, lead)?, s, vh.returned(py, lead)?, certificates).into_pyobject(py)
}

/// Matrices in C order, and their lengths.
struct InRows<T> {
    numbers: Vec<T>,
    lengths: [usize; 2],
}

impl<T: Scalar + Element + AddAssign + Default> InRows<T> {
    /// Converts the matrices of a result, within the call, whose threads share the work.
    fn of(matrices: &HostArray<T>) -> Self {
        let Shape { rows, cols, .. } = matrices.shape();
        let mut numbers = matrices.to_row_major();
        without_negative_zeros(&mut numbers);
        Self { numbers, lengths: [rows, cols] }
    }

    fn returned<'py>(self, py: Python<'py>, lead: &[usize]) -> PyResult<Bound<'py, PyAny>> {
        returned(py, self.numbers, after(lead, self.lengths))
    }
}

/// Computes the k leading singular triplets of matrices `(..., m, n)`, and the share of each matrix that they miss.
#[pyfunction]
pub(crate) fn svd_truncated<'py>(
    context: &Bound<'py, Door>,
    a: &Bound<'py, PyAny>,
    k: usize,
    oversample: usize,
    passes: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyTuple>> {
    let options = TruncatedOptions { oversample, passes, seed };
    by_type!(a, [f32, f64], svd_truncated_of(context.get(), k, options))
}

fn svd_truncated_of<'py, T: Number>(
    a: &Bound<'py, PyArrayDyn<T>>,
    door: &Door,
    k: usize,
    options: TruncatedOptions,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = a.py();
    let (lead, [batch, rows, columns]) = matrices(a)?;
    let shape = Shape::new(rows, columns, batch);
    let borrowed = Borrowed::of(a)?;
    let choose = |ctx: &Context| Ok(choose_svd_truncated(ctx, shape, k, options));
    let (u, s, vh, missed, certificates) = waited(py, door, choose, None, |ctx, _| {
        let found = ops::svd_truncated(ctx, &Array::from_row_major(shape, borrowed.as_ref())?, k, options)?;
        let host = |array: &Array<T>| array.to_host(ctx);
        let certificates = split(found.certificates());
        let (u, vh) = (InRows::of(&host(&found.u)?), InRows::of(&host(&found.vh)?));
        Ok((u, host(&found.s)?, vh, host(&found.residual)?, certificates))
    })?;
    let s = cleared(py, s, after(lead, [k]))?;
    let missed = returned(py, missed.into_vec(), after(lead, []))?;
    (u.returned(py, lead)?, s, vh.returned(py, lead)?, missed, certified(py, certificates, lead)?).into_pyobject(py)
}

/// Computes the products of matrices `(batch, m, k)` and `(batch, k, n)`. Either batch may be 1.
#[pyfunction]
pub(crate) fn matmul<'py>(
    context: &Bound<'py, Door>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    by_type!(a, [f32, f64, f16, Complex<f32>, Complex<f64>], matmul_of(context.get(), b))
}

fn matmul_of<'py, T: Multiplied + Scalar + Element>(
    a: &Bound<'py, PyArrayDyn<T>>,
    door: &Door,
    b: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    let b = b.cast::<PyArrayDyn<T>>()?;
    let ([x, m, _], [y, _, n]) = (three(a)?, three(b)?);
    let (left, right) = (turned(three(a)?), turned(three(b)?));
    let (a, b) = (Borrowed::of(a)?, Borrowed::of(b)?);
    // Read as columns, every matrix is transposed, and so is the product: C' = B' A'. Nothing is rearranged.
    let gemm = Gemm::<T>::new();
    let product = waited(
        py,
        door,
        |ctx| gemm.choose(ctx, right, left, false),
        None,
        |ctx, _| gemm.run(ctx, &Array::from_owner(right, b)?, &Array::from_owner(left, a)?)?.to_host(ctx),
    )?;
    result(py, product, [if x == 1 { y } else { x }, m, n])
}
