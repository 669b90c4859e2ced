//! `fiedler.stats`, divergences and principal components. Statistics reduce the middle axis of arrays
//! `(before, length, after)` in C order.

use crate::arrays::{Borrowed, Number, after, by_type, matrices, result, returned, three, turned};
use crate::context::Door;
use crate::errors::raised;
use crate::wait::waited;
use fiedler::array::Array;
use fiedler::ops::divergence::{self as divergences, Divergence, DivergenceOptions, choose_divergence};
use fiedler::ops::pca::{PcaOptions, Solver, choose_pca};
use fiedler::ops::stats::{self, Nan, StatsOptions, choose_cov, choose_describe, choose_histogram, choose_quantiles};
use fiedler::{Axis, Context, Error, Result, Shape};
use numpy::{PyArrayDyn, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

fn nan(omit: bool) -> Nan {
    if omit { Nan::Omit } else { Nan::Propagate }
}

/// Computes mean, variance, extremes, skewness, kurtosis and counts; a dictionary of arrays `(before, after)`.
#[pyfunction]
pub(crate) fn describe<'py>(
    context: &Bound<'py, Door>,
    a: &Bound<'py, PyAny>,
    ddof: u32,
    omit: bool,
) -> PyResult<Bound<'py, PyDict>> {
    by_type!(a, [f32, f64], describe_of(context.get(), StatsOptions { ddof, nan: nan(omit) }))
}

fn describe_of<'py, T: Number>(
    a: &Bound<'py, PyArrayDyn<T>>,
    door: &Door,
    options: StatsOptions,
) -> PyResult<Bound<'py, PyDict>> {
    let (py, [before, length, after], borrowed) = (a.py(), three(a)?, Borrowed::of(a)?);
    let shape = turned([before, length, after]);
    let choose = |ctx: &Context| Ok(choose_describe::<T>(ctx, shape, false));
    let (numbers, counts) = waited(py, door, choose, None, |ctx, _| {
        let found = stats::describe(ctx, &Array::from_owner(shape, borrowed)?, Axis::Cols, options)?;
        let read = |array: &Array<T>| array.read(ctx);
        let reads = [
            ("mean", read(&found.mean)?),
            ("variance", read(&found.variance)?),
            ("min", read(&found.min)?),
            ("max", read(&found.max)?),
            ("skewness", read(&found.skewness)?),
            ("kurtosis", read(&found.kurtosis)?),
        ];
        let numbers = reads.into_iter().map(|(name, read)| Ok((name, read.wait()?.into_vec())));
        Ok((numbers.collect::<Result<Vec<_>>>()?, found.counts(ctx)?))
    })?;
    let made = PyDict::new(py);
    for (name, numbers) in numbers {
        made.set_item(name, returned(py, numbers, [before, after])?)?;
    }
    made.set_item("count", counted(py, &counts, [before, after])?)?;
    Ok(made)
}

/// Returns counts as an array of int64.
fn counted<'py, const N: usize>(py: Python<'py>, counts: &[u64], shape: [usize; N]) -> PyResult<Bound<'py, PyAny>> {
    let signed: Vec<i64> = counts.iter().map(|&count| i64::try_from(count).unwrap_or(i64::MAX)).collect();
    returned(py, signed, shape)
}

/// Computes quantiles by linear interpolation; an array `(before, quantiles, after)`.
#[pyfunction]
pub(crate) fn quantiles<'py>(
    context: &Bound<'py, Door>,
    a: &Bound<'py, PyAny>,
    q: Vec<f64>,
    omit: bool,
) -> PyResult<Bound<'py, PyAny>> {
    by_type!(a, [f32, f64], quantiles_of(context.get(), &q, nan(omit)))
}

fn quantiles_of<'py, T: Number>(
    a: &Bound<'py, PyArrayDyn<T>>,
    door: &Door,
    q: &[f64],
    nan: Nan,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, [before, length, after], borrowed) = (a.py(), three(a)?, Borrowed::of(a)?);
    let shape = turned([before, length, after]);
    let choose = |ctx: &Context| Ok(choose_quantiles::<T>(ctx, shape, Axis::Cols, q.len(), false));
    let found = waited(py, door, choose, None, |ctx, _| {
        stats::quantiles(ctx, &Array::from_owner(shape, borrowed)?, Axis::Cols, q, nan)?.to_host(ctx)
    })?;
    returned(py, found.into_vec(), [before, q.len(), after])
}

/// Counts the elements in bins of equal width: counts `(before, bins, after)`, edges, and the counts `(before, after)`
/// of what is below, above and NaN.
#[pyfunction]
pub(crate) fn histogram<'py>(
    context: &Bound<'py, Door>,
    a: &Bound<'py, PyAny>,
    bins: usize,
    range: Option<(f64, f64)>,
) -> PyResult<Bound<'py, PyTuple>> {
    by_type!(a, [f32, f64], histogram_of(context.get(), bins, range))
}

fn histogram_of<'py, T: Number>(
    a: &Bound<'py, PyArrayDyn<T>>,
    door: &Door,
    bins: usize,
    range: Option<(f64, f64)>,
) -> PyResult<Bound<'py, PyTuple>> {
    let (py, [before, length, after], borrowed) = (a.py(), three(a)?, Borrowed::of(a)?);
    let shape = turned([before, length, after]);
    let choose = |ctx: &Context| Ok(choose_histogram::<T>(ctx, shape, Axis::Cols, bins, false));
    let found = waited(py, door, choose, None, |ctx, _| {
        stats::histogram(ctx, &Array::from_owner(shape, borrowed)?, Axis::Cols, bins, range)
    })?;
    let counts = counted(py, &found.counts, [before, bins, after])?;
    let edges = {
        let len = found.edges.len();
        returned(py, found.edges.clone(), [len])?
    };
    let apart = |counts: &[u64]| counted(py, counts, [before, after]);
    (counts, edges, apart(&found.below)?, apart(&found.above)?, apart(&found.nan)?).into_pyobject(py)
}

/// Computes covariances, or correlations, of arrays `(..., variables, observations)`, or, unless `rowvar`, of arrays
/// `(..., observations, variables)`.
#[pyfunction]
pub(crate) fn cov<'py>(
    context: &Bound<'py, Door>,
    a: &Bound<'py, PyAny>,
    rowvar: bool,
    correlation: bool,
) -> PyResult<Bound<'py, PyAny>> {
    by_type!(a, [f32, f64], cov_of(context.get(), rowvar, correlation))
}

fn cov_of<'py, T: Number>(
    a: &Bound<'py, PyArrayDyn<T>>,
    door: &Door,
    rowvar: bool,
    correlation: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, (lead, own), borrowed) = (a.py(), matrices(a)?, Borrowed::of(a)?);
    let [batch, rows, columns] = own;
    let shape = if rowvar { turned(own) } else { Shape::new(rows, columns, batch) };
    let choose = |ctx: &Context| Ok(choose_cov::<T>(ctx, shape, false));
    let found = waited(py, door, choose, None, |ctx, _| {
        let x =
            if rowvar { Array::from_owner(shape, borrowed)? } else { Array::from_row_major(shape, borrowed.as_ref())? };
        if correlation { stats::corr(ctx, &x) } else { stats::cov(ctx, &x) }?.to_host(ctx)
    })?;
    // The matrices are symmetric, so their order does not matter.
    result(py, found, after(lead, [shape.cols; 2]))
}

/// Computes the divergence `kind` of histograms, the rows of arrays `(count, bins)`: of each pair of rows, or, without
/// `q`, of all pairs of rows of `p`.
#[pyfunction]
pub(crate) fn divergence<'py>(
    context: &Bound<'py, Door>,
    p: &Bound<'py, PyAny>,
    q: Option<&Bound<'py, PyAny>>,
    kind: &str,
    options: (f64, bool, f64),
) -> PyResult<Bound<'py, PyAny>> {
    let py = p.py();
    let kind = match kind {
        "kl" => Divergence::KullbackLeibler,
        "js" => Divergence::JensenShannon,
        "js-distance" => Divergence::JensenShannonDistance,
        "tv" => Divergence::TotalVariation,
        "chi-square" => Divergence::ChiSquare,
        "symmetric-chi-square" => Divergence::SymmetricChiSquare,
        "hellinger" => Divergence::Hellinger,
        _ => {
            let known = "kl, js, js-distance, tv, chi-square, symmetric-chi-square or hellinger";
            return Err(raised(py, &Error::domain("divergence", format!("expected {known}, found {kind:?}"))));
        }
    };
    let (base, normalize, smoothing) = options;
    by_type!(p, [f32, f64], divergence_of(context.get(), q, kind, DivergenceOptions { base, normalize, smoothing }))
}

fn divergence_of<'py, T: Number>(
    p: &Bound<'py, PyArrayDyn<T>>,
    door: &Door,
    q: Option<&Bound<'py, PyAny>>,
    kind: Divergence,
    options: DivergenceOptions,
) -> PyResult<Bound<'py, PyAny>> {
    let py = p.py();
    let q = q.map(|q| q.cast::<PyArrayDyn<T>>()).transpose()?;
    let histograms = |array: &Bound<'_, PyArrayDyn<T>>| -> PyResult<(Shape, Borrowed<T>)> {
        let [_, count, bins] = three(array)?;
        Ok((Shape::new(bins, count, 1), Borrowed::of(array)?))
    };
    let ((shape, p), q) = (histograms(p)?, q.map(histograms).transpose()?);
    let count = shape.cols;
    let (pair, shapes) = (q.is_some(), [shape, q.as_ref().map_or(shape, |(shape, _)| *shape)]);
    let terms = if pair { shape.len() } else { shape.len() * count };
    let choose = |ctx: &Context| Ok(choose_divergence::<T>(ctx, terms, &shapes, &[false; 2]));
    let found = waited(py, door, choose, None, |ctx, _| {
        let p = Array::from_owner(shape, p)?;
        match q {
            Some((shape, q)) => divergences::divergence(ctx, kind, &p, &Array::from_owner(shape, q)?, &options),
            None => divergences::divergence_matrix(ctx, kind, &p, &options),
        }?
        .to_host(ctx)
    })?;
    if pair { returned(py, found.into_vec(), [count]) } else { returned(py, found.to_row_major(), [count, count]) }
}

/// Computes the k leading principal components of `(samples, features)`: a dictionary of arrays.
#[pyfunction]
pub(crate) fn pca<'py>(
    context: &Bound<'py, Door>,
    x: &Bound<'py, PyAny>,
    k: usize,
    solver: &str,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let mut options = PcaOptions::default();
    options.truncated.seed = seed;
    options.solver = match solver {
        "auto" => Solver::Auto,
        "covariance" => Solver::Covariance,
        "svd" => Solver::Svd,
        "truncated" => Solver::Truncated,
        _ => {
            let what = format!("expected auto, covariance, svd or truncated, found {solver:?}");
            return Err(raised(x.py(), &Error::domain("solver", what)));
        }
    };
    by_type!(x, [f32, f64], pca_of(context.get(), k, options))
}

fn pca_of<'py, T: Number>(
    x: &Bound<'py, PyArrayDyn<T>>,
    door: &Door,
    k: usize,
    options: PcaOptions,
) -> PyResult<Bound<'py, PyDict>> {
    let py = x.py();
    let (&[samples, features], borrowed) = (x.shape(), Borrowed::of(x)?) else {
        let what = format!("expected two axes, found the shape {:?}", x.shape());
        return Err(raised(py, &Error::domain("pca", what)));
    };
    let shape = Shape::new(samples, features, 1);
    let choose = |ctx: &Context| Ok(choose_pca::<T>(ctx, shape, k, options, false));
    let (numbers, components, found) = waited(py, door, choose, None, |ctx, _| {
        let found = fiedler::ops::pca(ctx, &Array::from_row_major(shape, borrowed.as_ref())?, k, options)?;
        let host = |array: &Array<T>| Ok::<_, Error>(array.to_host(ctx)?.into_vec());
        let numbers = [
            ("explained_variance", host(&found.explained_variance)?),
            ("explained_variance_ratio", host(&found.explained_variance_ratio)?),
            ("singular_values", host(&found.singular_values)?),
            ("mean", host(&found.mean)?),
        ];
        Ok((numbers, found.components.to_host(ctx)?.to_row_major(), found))
    })?;
    let made = PyDict::new(py);
    for (name, numbers) in numbers {
        let len = numbers.len();
        made.set_item(name, returned(py, numbers, [len])?)?;
    }
    made.set_item("components", returned(py, components, [k, features])?)?;
    made.set_item("noise_variance", found.noise_variance)?;
    made.set_item("residual", found.certificate.residual)?;
    made.set_item("orthogonality", found.certificate.orthogonality)?;
    made.set_item("status", found.certificate.status as u8)?;
    Ok(made)
}
