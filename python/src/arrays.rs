//! NumPy arrays: read in place, and made from results without a copy.

use fiedler::Shape;
use fiedler::array::{HostArray, Real, Scalar};
use fiedler::ops;
use num_complex::Complex;
use numpy::ndarray::ArrayViewD;
use numpy::{Element, PyArray1, PyArrayDyn, PyArrayMethods as _, PyUntypedArrayMethods as _};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::ops::AddAssign;

/// A number in which operations compute, and which NumPy has too.
pub(crate) trait Number: Real + Element + Default {}

impl Number for f32 {}
impl Number for f64 {}

/// The elements of matrices that are decomposed: real or complex numbers that NumPy has, too.
pub(crate) trait Entry:
    ops::Diagonalized<Real: Number> + ops::Decomposed + Element + AddAssign + Default
{
    /// Returns the complex conjugate.
    fn conjugated(self) -> Self;
}

impl Entry for f32 {
    fn conjugated(self) -> Self {
        self
    }
}

impl Entry for f64 {
    fn conjugated(self) -> Self {
        self
    }
}

impl Entry for Complex<f32> {
    fn conjugated(self) -> Self {
        self.conj()
    }
}

impl Entry for Complex<f64> {
    fn conjugated(self) -> Self {
        self.conj()
    }
}

/// The elements of a C-contiguous array, which stays alive as long as this value.
///
/// If another thread writes to the array while an operation reads it, the operation reads some old and some new
/// numbers, as NumPy's own functions do.
pub(crate) struct Borrowed<T> {
    _array: Py<PyArrayDyn<T>>,
    first: *const T,
    len: usize,
}

#[expect(unsafe_code, reason = "the pointer is into an array that the value keeps alive, and is only read")]
// SAFETY: `Py` may be sent and dropped on any thread; the elements are plain numbers that are only read.
unsafe impl<T: Send> Send for Borrowed<T> {}
#[expect(unsafe_code, reason = "as above")]
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Borrowed<T> {}

impl<T: Element> Borrowed<T> {
    /// Borrows an array with aligned elements in C order.
    pub(crate) fn of(array: &Bound<'_, PyArrayDyn<T>>) -> PyResult<Self> {
        if !array.is_c_contiguous() || array.data().align_offset(align_of::<T>()) != 0 {
            return Err(PyValueError::new_err("expected an aligned array in C order, found another layout"));
        }
        Ok(Self { _array: array.clone().unbind(), first: array.data(), len: array.len() })
    }
}

impl<T> AsRef<[T]> for Borrowed<T> {
    #[expect(unsafe_code, reason = "the array's memory, seen as a slice")]
    fn as_ref(&self) -> &[T] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: the array is alive, aligned and contiguous, and has `len` elements from `first` on.
        unsafe { std::slice::from_raw_parts(self.first, self.len) }
    }
}

/// Returns the lengths of an array with three axes: `(batch, rows, columns)`.
pub(crate) fn three<T: Element>(array: &Bound<'_, PyArrayDyn<T>>) -> PyResult<[usize; 3]> {
    array
        .shape()
        .try_into()
        .map_err(|_| PyValueError::new_err(format!("expected three axes, found the shape {:?}", array.shape())))
}

/// Returns the leading axes of an array `(..., rows, columns)`, and its lengths as `(batch, rows, columns)`.
pub(crate) fn matrices<'a, T: Element>(array: &'a Bound<'_, PyArrayDyn<T>>) -> PyResult<(&'a [usize], [usize; 3])> {
    match array.shape() {
        [lead @ .., rows, columns] => Ok((lead, [lead.iter().product(), *rows, *columns])),
        other => Err(PyValueError::new_err(format!("expected at least two axes, found the shape {other:?}"))),
    }
}

/// Returns a shape with the given leading axes.
pub(crate) fn after<const N: usize>(lead: &[usize], axes: [usize; N]) -> impl Iterator<Item = usize> {
    lead.iter().copied().chain(axes)
}

/// Returns the library's shape of an array `(batch, rows, columns)` whose memory is read as it is: its last axis
/// becomes the rows.
pub(crate) fn turned([batch, rows, columns]: [usize; 3]) -> Shape {
    Shape::new(columns, rows, batch)
}

/// Results of up to this number of elements are copied. That takes less time than to hand over their memory.
const COPIED: usize = 256;

/// Makes an array of the given shape from its elements in C order. Large arrays are not copied.
pub(crate) fn returned<'py, T: Element + Copy>(
    py: Python<'py>,
    elements: Vec<T>,
    shape: impl IntoIterator<Item = usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let shape: Vec<usize> = shape.into_iter().collect();
    if elements.len() <= COPIED && elements.len() == shape.iter().product::<usize>() {
        let array = PyArrayDyn::zeros(py, shape, false);
        #[expect(unsafe_code, reason = "the memory of an array that was just made")]
        // SAFETY: no other code has access to the array yet.
        unsafe { array.as_slice_mut()? }.copy_from_slice(&elements);
        return Ok(array.into_any());
    }
    Ok(PyArray1::from_vec(py, elements).reshape(shape)?.into_any())
}

/// Results of at least this number of bytes stay in the library's memory, which takes them back when NumPy's array is
/// freed. Later results use it again: a new page costs as much as to write 4 KiB several times.
const LENT: usize = 1 << 20;

/// What NumPy's array keeps alive.
#[pyclass(frozen)]
struct Memory(#[expect(dead_code, reason = "held until it is dropped")] Box<dyn Send + Sync>);

/// Makes an array of the given shape from the result of an operation, whose elements are in C order.
pub(crate) fn result<'py, T: Element + Scalar>(
    py: Python<'py>,
    mut found: HostArray<T>,
    shape: impl IntoIterator<Item = usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let elements = found.as_mut_slice();
    let shape: Vec<usize> = shape.into_iter().collect();
    if size_of_val(elements) < LENT || elements.len() != shape.iter().product::<usize>() {
        return returned(py, found.into_vec(), shape);
    }
    let first = elements.as_mut_ptr();
    let memory = Bound::new(py, Memory(Box::new(found)))?.into_any();
    #[expect(unsafe_code, reason = "the elements, which `memory` holds, as NumPy's array")]
    // SAFETY: `memory` owns the elements, as many as the shape has. It neither moves them nor lets other code use them.
    let array = unsafe { PyArrayDyn::borrow_from_array(&ArrayViewD::from_shape_ptr(shape, first), memory) };
    Ok(array.into_any())
}

/// Calls a function of one type parameter for the type of a NumPy array, which is one of those that are listed.
macro_rules! by_type {
    (@one $array:expr, $type:ty, $function:ident, ($($argument:expr),* $(,)?)) => {
        $array.cast::<numpy::PyArrayDyn<$type>>().ok().map(|array| $function::<$type>(array, $($argument),*))
    };
    ($array:expr, [$($type:ty),+], $function:ident $arguments:tt) => {
        $(if let Some(done) = $crate::arrays::by_type!(@one $array, $type, $function, $arguments) { done } else)+ {
            let dtype = $array.getattr("dtype");
            let found = dtype.map_or_else(|_| $array.get_type().to_string(), |dtype| dtype.to_string());
            let expected = [$(stringify!($type)),+].join(" or ");
            Err(pyo3::exceptions::PyTypeError::new_err(format!("expected an array of {expected}, found {found}")))
        }
    };
}
pub(crate) use by_type;
