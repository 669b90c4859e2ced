//! `fiedler.fft`: transforms along the middle axis of arrays `(before, length, after)` in C order, or along the last
//! two axes of `(batch, rows, columns)`.

use crate::arrays::{Borrowed, Number, by_type, result, returned, three, turned};
use crate::context::Door;
use crate::errors::raised;
use crate::wait::waited;
use fiedler::array::{Array, HostArray, Scalar};
use fiedler::ops::fft::{self, CosineOptions, CosineType, Window, choose_dct, choose_fft, choose_rfft};
use fiedler::{Axis, Context, Error, Result, Shape};
use num_complex::Complex;
use numpy::{Element, PyArrayDyn};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The shape and the axis in the library of an array whose middle axis is transformed.
#[derive(Clone, Copy)]
struct Along {
    lengths: [usize; 3],
    shape: Shape,
    axis: Axis,
}

impl Along {
    fn of(lengths: [usize; 3]) -> Self {
        let [before, length, after] = lengths;
        // Elements along the rows are contiguous, which is the faster layout.
        match after {
            1 => Self { lengths, shape: Shape::new(length, before, 1), axis: Axis::Rows },
            _ => Self { lengths, shape: Shape::new(after, length, before), axis: Axis::Cols },
        }
    }

    /// Returns the lengths of a result with another number of elements along the axis.
    fn with(self, length: usize) -> [usize; 3] {
        [self.lengths[0], length, self.lengths[2]]
    }
}

fn unknown<T>(py: Python<'_>, what: &'static str, name: &str) -> PyResult<T> {
    Err(raised(py, &Error::domain(what, format!("expected a known name, found {name:?}"))))
}

fn wrong_type<T>(a: &Bound<'_, PyAny>, expected: &str) -> PyResult<T> {
    Err(PyTypeError::new_err(format!("expected an array of {expected}, found {}", a.get_type())))
}

/// Computes the transform `kind`, which is fft, ifft, fft2 or ifft2, of complex numbers.
#[pyfunction]
pub(crate) fn transform<'py>(
    context: &Bound<'py, Door>,
    a: &Bound<'py, PyAny>,
    kind: &str,
) -> PyResult<Bound<'py, PyAny>> {
    match (a.cast(), a.cast()) {
        (Ok(narrow), _) => transform_in::<f32>(context.get(), narrow, kind),
        (_, Ok(wide)) => transform_in::<f64>(context.get(), wide, kind),
        _ => wrong_type(a, "complex64 or complex128"),
    }
}

fn transform_in<'py, T: Number>(
    door: &Door,
    a: &Bound<'py, PyArrayDyn<Complex<T>>>,
    kind: &str,
) -> PyResult<Bound<'py, PyAny>>
where
    Complex<T>: Scalar + Element,
{
    let (py, lengths) = (a.py(), three(a)?);
    let (along, both, borrowed) = (Along::of(lengths), turned(lengths), Borrowed::of(a)?);
    let choose = |ctx: &Context| Ok(choose_fft::<T>(ctx, along.shape, along.axis, false));
    let found = match kind {
        "fft" => waited(py, door, choose, None, |ctx, _| {
            fft::fft(ctx, &Array::from_owner(along.shape, borrowed)?, along.axis)?.to_host(ctx)
        }),
        "ifft" => waited(py, door, choose, None, |ctx, _| {
            fft::ifft(ctx, &Array::from_owner(along.shape, borrowed)?, along.axis)?.to_host(ctx)
        }),
        "fft2" => {
            waited(py, door, choose, None, |ctx, _| fft::fft2(ctx, &Array::from_owner(both, borrowed)?)?.to_host(ctx))
        }
        "ifft2" => {
            waited(py, door, choose, None, |ctx, _| fft::ifft2(ctx, &Array::from_owner(both, borrowed)?)?.to_host(ctx))
        }
        _ => unknown(py, "transform", kind),
    }?;
    result(py, found, lengths)
}

/// Computes the `length // 2 + 1` frequencies of real numbers.
#[pyfunction]
pub(crate) fn real<'py>(context: &Bound<'py, Door>, a: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match (a.cast(), a.cast()) {
        (Ok(narrow), _) => real_in::<f32>(context.get(), narrow),
        (_, Ok(wide)) => real_in::<f64>(context.get(), wide),
        _ => wrong_type(a, "float32 or float64"),
    }
}

fn real_in<'py, T: Number>(door: &Door, a: &Bound<'py, PyArrayDyn<T>>) -> PyResult<Bound<'py, PyAny>>
where
    Complex<T>: Scalar + Element,
{
    let (py, along, borrowed) = (a.py(), Along::of(three(a)?), Borrowed::of(a)?);
    let choose = |ctx: &Context| Ok(choose_rfft::<T>(ctx, along.shape, along.axis, false));
    let found = waited(py, door, choose, None, |ctx, _| {
        fft::rfft(ctx, &Array::from_owner(along.shape, borrowed)?, along.axis)?.to_host(ctx)
    })?;
    result(py, found, along.with(along.lengths[1] / 2 + 1))
}

/// Computes `n` real numbers from their `n // 2 + 1` frequencies.
#[pyfunction]
pub(crate) fn inverse_real<'py>(
    context: &Bound<'py, Door>,
    a: &Bound<'py, PyAny>,
    n: usize,
) -> PyResult<Bound<'py, PyAny>> {
    match (a.cast(), a.cast()) {
        (Ok(narrow), _) => inverse_real_in::<f32>(context.get(), narrow, n),
        (_, Ok(wide)) => inverse_real_in::<f64>(context.get(), wide, n),
        _ => wrong_type(a, "complex64 or complex128"),
    }
}

fn inverse_real_in<'py, T: Number>(
    door: &Door,
    a: &Bound<'py, PyArrayDyn<Complex<T>>>,
    n: usize,
) -> PyResult<Bound<'py, PyAny>>
where
    Complex<T>: Scalar + Element,
{
    let (py, along, borrowed) = (a.py(), Along::of(three(a)?), Borrowed::of(a)?);
    let choose = |ctx: &Context| Ok(choose_rfft::<T>(ctx, along.shape, along.axis, false));
    let found = waited(py, door, choose, None, |ctx, _| {
        fft::irfft(ctx, &Array::from_owner(along.shape, borrowed)?, n, along.axis)?.to_host(ctx)
    })?;
    result(py, found, along.with(n))
}

/// Computes cosine transforms, or with `sine` sine transforms, of real numbers.
#[pyfunction]
pub(crate) fn trigonometric<'py>(
    context: &Bound<'py, Door>,
    a: &Bound<'py, PyAny>,
    sine: bool,
    kind: u8,
    scale: f64,
    orthogonal: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let kind = match kind {
        1 => CosineType::One,
        2 => CosineType::Two,
        3 => CosineType::Three,
        4 => CosineType::Four,
        _ => return unknown(a.py(), "trigonometric", &kind.to_string()),
    };
    let options = CosineOptions::default().scale(scale).orthogonal(orthogonal);
    by_type!(a, [f32, f64], trigonometric_in(context.get(), sine, kind, options))
}

fn trigonometric_in<'py, T: Number>(
    a: &Bound<'py, PyArrayDyn<T>>,
    door: &Door,
    sine: bool,
    kind: CosineType,
    options: CosineOptions,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, along, borrowed) = (a.py(), Along::of(three(a)?), Borrowed::of(a)?);
    let choose = |ctx: &Context| Ok(choose_dct::<T>(ctx, kind, along.shape, along.axis, false));
    let of = if sine { fft::dst } else { fft::dct };
    let found = waited(py, door, choose, None, |ctx, _| {
        of(ctx, &Array::from_owner(along.shape, borrowed)?, kind, options, along.axis)?.to_host(ctx)
    })?;
    result(py, found, along.lengths)
}

/// Computes the power of each frequency of real signals, its frequencies in Hz, the spectral centroid, and the power in
/// the bands between `edges` if there are some.
#[pyfunction]
pub(crate) fn power_spectrum<'py>(
    context: &Bound<'py, Door>,
    a: &Bound<'py, PyAny>,
    window: &str,
    rate: f64,
    edges: Vec<f64>,
) -> PyResult<Bound<'py, PyTuple>> {
    let window = match window {
        "rectangular" => Window::Rectangular,
        "hann" => Window::Hann,
        "hamming" => Window::Hamming,
        "blackman" => Window::Blackman,
        _ => return unknown(a.py(), "window", window),
    };
    match (a.cast(), a.cast()) {
        (Ok(narrow), _) => power_spectrum_in::<f32>(context.get(), narrow, window, rate, &edges),
        (_, Ok(wide)) => power_spectrum_in::<f64>(context.get(), wide, window, rate, &edges),
        _ => wrong_type(a, "float32 or float64"),
    }
}

fn power_spectrum_in<'py, T: Number>(
    door: &Door,
    a: &Bound<'py, PyArrayDyn<T>>,
    window: Window,
    rate: f64,
    edges: &[f64],
) -> PyResult<Bound<'py, PyTuple>>
where
    Complex<T>: Scalar + Element,
{
    type Found<T> = (HostArray<T>, Vec<f64>, HostArray<T>, Option<HostArray<T>>);
    let (py, along, borrowed) = (a.py(), Along::of(three(a)?), Borrowed::of(a)?);
    let choose = |ctx: &Context| Ok(choose_rfft::<T>(ctx, along.shape, along.axis, false));
    let (power, frequencies, centroid, bands) = waited(py, door, choose, None, |ctx, _| -> Result<Found<T>> {
        let found = fft::power_spectrum(ctx, &Array::from_owner(along.shape, borrowed)?, window, along.axis)?;
        let bands = if edges.is_empty() { None } else { Some(found.band_powers(ctx, edges, rate)?.to_host(ctx)?) };
        let centroid = found.spectral_centroid(ctx, rate)?.to_host(ctx)?;
        Ok((found.power.to_host(ctx)?, found.frequencies(rate), centroid, bands))
    })?;
    let count = frequencies.len();
    let power = returned(py, power.into_vec(), along.with(count))?;
    let frequencies = returned(py, frequencies, [count])?;
    let centroid = returned(py, centroid.into_vec(), along.with(1))?;
    let bands = bands.map(|bands| returned(py, bands.into_vec(), along.with(edges.len() - 1))).transpose()?;
    (power, frequencies, centroid, bands).into_pyobject(py)
}
