//! Batches of matrices from and to arrays of ndarray with the axes (batch, rows, columns), as NumPy orders them.
//!
//! `Array::from` takes an `Array3` or an `Array2`, which is a batch of one, or a view of either, with any strides. An
//! [`Array`] stores the matrices one after the other, each column-major. An owned array in this order is not copied:
//! one that [`HostArray::into_ndarray`] returned, or an `Array2` in Fortran order. [`HostArray::as_ndarray`] returns a
//! view without a copy.
//!
//! ```
//! use fiedler::prelude::*;
//! use ndarray::{Array3, array};
//!
//! let ctx = Context::new()?;
//! let a: Array3<f64> = array![[[2.0, 1.0], [1.0, 2.0]], [[5.0, 0.0], [0.0, 3.0]]];
//! let found = eigh(&ctx, &Array::from(a))?.ok(&ctx)?;
//!
//! let values = found.values.to_host(&ctx)?;
//! let values = values.as_ndarray()?; // a view with the axes (batch, eigenvalues, 1)
//! assert_eq!(values.dim(), (2, 2, 1));
//! assert!((values[[0, 0, 0]] - 1.0).abs() < 1e-12 && (values[[1, 1, 0]] - 5.0).abs() < 1e-12);
//!
//! let vectors: Array3<f64> = found.vectors.to_host(&ctx)?.into_ndarray()?;
//! assert_eq!(vectors.dim(), (2, 2, 2));
//! # Ok::<(), fiedler::Error>(())
//! ```

use crate::array::{Array, HostArray, Scalar, Storage, column_major};
use crate::error::{Error, Result};
use crate::shape::Shape;
use ndarray::{Array2, Array3, ArrayView2, ArrayView3, Axis, ShapeError};

impl<T: Scalar> From<ArrayView3<'_, T>> for Array<T> {
    /// Copies the elements of a view with the axes (batch, rows, columns).
    fn from(view: ArrayView3<'_, T>) -> Self {
        let (batch, rows, cols) = view.dim();
        let turned = view.permuted_axes([0, 2, 1]);
        let data = match (view.to_slice(), turned.to_slice()) {
            (_, Some(slice)) => slice.to_vec(),
            (Some(slice), None) => column_major(slice, rows, cols),
            (None, None) => turned.iter().copied().collect(),
        };
        Self::from_storage(Shape::new(rows, cols, batch), Storage::host(data))
    }
}

impl<T: Scalar> From<ArrayView2<'_, T>> for Array<T> {
    /// Copies the elements of a view with the axes (rows, columns) into a batch of one.
    fn from(view: ArrayView2<'_, T>) -> Self {
        view.insert_axis(Axis(0)).into()
    }
}

impl<T: Scalar> From<Array3<T>> for Array<T> {
    /// Takes the elements of an array with the axes (batch, rows, columns). They are copied unless the matrices are
    /// stored one after the other, each column-major.
    fn from(array: Array3<T>) -> Self {
        let (batch, rows, cols) = array.dim();
        if !array.view().permuted_axes([0, 2, 1]).is_standard_layout() {
            return array.view().into();
        }
        let len = array.len();
        // The memory may have begun with elements that were sliced away.
        let (mut data, first) = array.into_raw_vec_and_offset();
        let first = first.unwrap_or(0);
        data.truncate(first + len);
        data.drain(..first);
        Self::from_storage(Shape::new(rows, cols, batch), Storage::host(data))
    }
}

impl<T: Scalar> From<Array2<T>> for Array<T> {
    /// Takes the elements of an array with the axes (rows, columns) into a batch of one. They are copied unless they
    /// are in Fortran order.
    fn from(array: Array2<T>) -> Self {
        array.insert_axis(Axis(0)).into()
    }
}

impl<T: Scalar> HostArray<T> {
    /// Returns a view with the axes (batch, rows, columns), without a copy. Needs the feature `ndarray`.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) for an array without elements, the product of whose dimensions other than 0
    /// exceeds `isize::MAX`, which ndarray does not allow.
    pub fn as_ndarray(&self) -> Result<ArrayView3<'_, T>> {
        let Shape { rows, cols, batch } = self.shape();
        let view = ArrayView3::from_shape((batch, cols, rows), self.as_slice());
        Ok(view.map_err(|error| refused(self.shape(), &error))?.permuted_axes([0, 2, 1]))
    }

    /// Returns the elements as an array with the axes (batch, rows, columns), in the order in which they are. They are
    /// not copied if this is the only holder of the array. Needs the feature `ndarray`.
    ///
    /// # Errors
    /// The same as for [`HostArray::as_ndarray`].
    pub fn into_ndarray(self) -> Result<Array3<T>> {
        let shape = self.shape();
        let array = Array3::from_shape_vec((shape.batch, shape.cols, shape.rows), self.into_vec());
        Ok(array.map_err(|error| refused(shape, &error))?.permuted_axes([0, 2, 1]))
    }
}

fn refused(found: Shape, error: &ShapeError) -> Error {
    Error::shape("ndarray", "a shape that ndarray allows", format!("{found}, {error}"))
}
