//! Batches of matrices, on the host or on the device. The matrices of a batch are stored one after the other, each
//! column-major. This is nalgebra's order, so conversions rearrange no elements.

mod order;
mod scalar;
mod storage;

pub use order::column_major;
pub use scalar::{Field, Real, Scalar};
pub(crate) use storage::{Incoming, Storage};

use crate::context::Context;
use crate::device::WgpuBuffer;
use crate::error::{Error, Result};
use crate::memory::Elements;
use crate::policy::Choice;
use crate::shape::{Layout, Shape};
use nalgebra::{DMatrix, DMatrixView};
use std::sync::Arc;

/// A batch of matrices of one shape. An array is cheap to clone and immutable.
#[derive(Clone, Debug)]
pub struct Array<T = f32> {
    shape: Shape,
    storage: Storage<T>,
    choice: Option<Arc<Choice>>,
}

impl<T: Scalar> Array<T> {
    /// Creates an array from the elements of the matrices, one matrix after the other, each column-major.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if `data` does not have `shape.len()` elements.
    pub fn from_vec(shape: Shape, data: Vec<T>) -> Result<Self> {
        if data.len() != shape.len() {
            let expected = format!("{} numbers for {shape}", shape.len());
            return Err(Error::shape("Array::from_vec", expected, data.len().to_string()));
        }
        Ok(Self::from_storage(shape, Storage::host(data)))
    }

    /// Creates an array of elements that `owner` holds, such as an array of another language. The elements are not
    /// copied: operations read them where they are. Their order is that of [`Array::from_vec`].
    ///
    /// # Errors
    /// The same as for [`Array::from_vec`].
    pub fn from_owner(shape: Shape, owner: impl AsRef<[T]> + Send + Sync + 'static) -> Result<Self> {
        let found = owner.as_ref().len();
        if found != shape.len() {
            let expected = format!("{} numbers for {shape}", shape.len());
            return Err(Error::shape("Array::from_owner", expected, found.to_string()));
        }
        Ok(Self::from_storage(shape, Storage::Host(Elements::lent(owner))))
    }

    /// Creates an array from the elements of the matrices in row-major order, one matrix after the other, as NumPy
    /// stores them.
    ///
    /// ```
    /// use fiedler::{Array, Context, Shape};
    /// let a = Array::from_row_major(Shape::new(2, 3, 1), &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let host = a.to_host(&Context::cpu())?;
    /// assert_eq!(host.as_slice(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    /// assert_eq!(host.to_row_major(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    /// # Ok::<(), fiedler::Error>(())
    /// ```
    ///
    /// # Errors
    /// The same as for [`Array::from_vec`].
    pub fn from_row_major(shape: Shape, data: &[T]) -> Result<Self> {
        if data.len() != shape.len() {
            let expected = format!("{} numbers for {shape}", shape.len());
            return Err(Error::shape("Array::from_row_major", expected, data.len().to_string()));
        }
        Self::from_vec(shape, column_major(data, shape.rows, shape.cols))
    }

    /// Creates an array from matrices of equal shape.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if the matrices differ in shape.
    pub fn from_matrices(matrices: &[DMatrix<T>]) -> Result<Self> {
        let (rows, cols) = matrices.first().map_or((0, 0), DMatrix::shape);
        let shape = Shape::new(rows, cols, matrices.len());
        let mut data = Vec::with_capacity(shape.len());
        for (i, m) in matrices.iter().enumerate() {
            if m.shape() != (rows, cols) {
                let (r, c) = m.shape();
                let expected = format!("({rows}, {cols}) as matrix 0 has");
                return Err(Error::shape("Array::from_matrices", expected, format!("({r}, {c}) at matrix {i}")));
            }
            data.extend_from_slice(m.as_slice());
        }
        Ok(Self::from_storage(shape, Storage::host(data)))
    }

    pub(crate) fn from_storage(shape: Shape, storage: Storage<T>) -> Self {
        Self { shape, storage, choice: None }
    }

    /// Returns this array with `choice` attached. The choice says where the operation ran that computed the array, and
    /// why it ran there.
    pub(crate) fn chosen(self, choice: &Arc<Choice>) -> Self {
        Self { choice: Some(Arc::clone(choice)), ..self }
    }

    /// Returns an array that was computed from this array on the same side. The new array has the choice of this array.
    pub(crate) fn made<U: Scalar>(&self, shape: Shape, storage: Storage<U>) -> Array<U> {
        Array { shape, storage, choice: self.choice.clone() }
    }

    /// Returns the choice of the operation that computed the array: where the operation ran, and why. Returns `None` if
    /// the array is not the result of an operation.
    #[must_use]
    pub fn choice(&self) -> Option<&Choice> {
        self.choice.as_deref()
    }

    pub(crate) fn storage(&self) -> &Storage<T> {
        &self.storage
    }

    /// Returns the shape.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns whether the array is on the device.
    #[must_use]
    pub fn is_resident(&self) -> bool {
        matches!(self.storage, Storage::Device(_))
    }

    /// Returns the same array on the device of `ctx`. Operations on the returned array do not need to upload it.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NoAdapter`] if `ctx` has no device; [`crate::ErrorKind::Domain`] for f64 and complex f64,
    /// which stay on the host, and for an array on the device of another context; device errors.
    pub fn to_device(&self, ctx: &Context) -> Result<Self> {
        if !T::ON_DEVICE {
            return Err(Error::domain(
                "Array::to_device",
                format!("{} stays on the host; the kernels take f32, complex f32 and f16", T::NAME),
            ));
        }
        let buffer = match &self.storage {
            Storage::Host(data) => ctx.gpu()?.record().upload(&T::for_device(data))?.share(),
            Storage::Device(buffer) => {
                ctx.gpu_of(buffer)?;
                buffer.clone()
            }
        };
        Ok(Self { shape: self.shape, storage: Storage::Device(buffer), choice: self.choice.clone() })
    }

    /// Starts to read the array back to the host, without waiting. To read several arrays, start all reads before you
    /// wait for the first.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if the array is on the device of another context; device errors.
    pub fn read(&self, ctx: &Context) -> Result<ArrayRead<T>> {
        Ok(ArrayRead { shape: self.shape, incoming: self.storage.read(ctx)?, choice: self.choice.clone() })
    }

    /// Returns the same array on the host. If the array is on the device, waits for the device.
    ///
    /// # Errors
    /// Device errors. An error of an earlier operation may be reported here, because operations are recorded and run
    /// later.
    pub fn to_host(&self, ctx: &Context) -> Result<HostArray<T>> {
        self.read(ctx)?.wait()
    }

    /// Returns the same array on the host, as [`Array::to_host`] does, for callers that cannot block.
    ///
    /// # Errors
    /// The same as for [`Array::to_host`].
    pub async fn to_host_async(&self, ctx: &Context) -> Result<HostArray<T>> {
        self.read(ctx)?.arrive().await
    }
}

/// Reads two arrays back to the host. Both reads begin before either is waited for.
pub(crate) fn both_to_host<A: Scalar, B: Scalar>(
    ctx: &Context,
    a: &Array<A>,
    b: &Array<B>,
) -> Result<(HostArray<A>, HostArray<B>)> {
    let (a, b) = (a.read(ctx)?, b.read(ctx)?);
    Ok((a.wait()?, b.wait()?))
}

/// An [`Array`] that is being read back to the host.
#[derive(Debug)]
pub struct ArrayRead<T> {
    shape: Shape,
    incoming: Incoming<T>,
    choice: Option<Arc<Choice>>,
}

impl<T: Scalar> ArrayRead<T> {
    /// Waits until the array has arrived.
    ///
    /// # Errors
    /// Device errors.
    pub fn wait(self) -> Result<HostArray<T>> {
        Ok(HostArray::of(self.shape, self.incoming.wait()?, self.choice))
    }

    /// Awaits the array, for callers that cannot block as [`ArrayRead::wait`] does.
    ///
    /// # Errors
    /// Device errors.
    pub async fn arrive(self) -> Result<HostArray<T>> {
        Ok(HostArray::of(self.shape, self.incoming.arrive().await?, self.choice))
    }
}

impl Array<f32> {
    /// Wraps the first `shape.len()` elements of a buffer that other code, such as Burn or CubeCL, created on the
    /// device of `ctx`. If the other code submits work to the queue before it calls an operation of this crate, the
    /// device finishes that work before it starts the operation.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NoAdapter`] if `ctx` has no device; [`crate::ErrorKind::Shape`] if the buffer is too short
    /// or lacks one of the usages STORAGE and COPY_SRC.
    pub fn from_wgpu(ctx: &Context, shape: Shape, buffer: WgpuBuffer) -> Result<Self> {
        let buffer = ctx.gpu()?.adopt_buffer(buffer.0, shape.len())?;
        Ok(Self::from_storage(shape, Storage::device(buffer)))
    }
}

/// A batch of matrices of one shape on the host. [`HostArray::matrix`] returns nalgebra views without a copy.
#[derive(Clone, Debug)]
pub struct HostArray<T> {
    shape: Shape,
    data: Elements<T>,
    choice: Option<Arc<Choice>>,
}

impl<T: Scalar> HostArray<T> {
    /// Creates the array from `data`, without the elements at the end that only pad the last 32-bit word.
    fn of(shape: Shape, mut data: Elements<T>, choice: Option<Arc<Choice>>) -> Self {
        data.truncate(shape.len());
        Self { shape, data, choice }
    }

    /// Returns the shape.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the choice of the operation that computed the array, as [`Array::choice`] does.
    #[must_use]
    pub fn choice(&self) -> Option<&Choice> {
        self.choice.as_deref()
    }

    /// Returns the elements of the matrices, one matrix after the other, each column-major.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.data
    }

    /// Returns the elements as [`HostArray::as_slice`] does, for writing. They are copied first if the array has
    /// another holder.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self.data.make_mut()
    }

    /// Returns the elements as [`HostArray::as_slice`] does, without a copy if this is the only holder of the array.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.data.into_vec()
    }

    /// Returns the elements of the matrices in row-major order, one matrix after the other, as NumPy stores them.
    #[must_use]
    pub fn to_row_major(&self) -> Vec<T> {
        column_major(&self.data, self.shape.cols, self.shape.rows)
    }

    /// Returns matrix `i` of the batch.
    ///
    /// # Panics
    /// If `i` is not below the number of matrices.
    #[must_use]
    pub fn matrix(&self, i: usize) -> DMatrixView<'_, T> {
        let n = self.shape.matrix_len();
        DMatrixView::from_slice(&self.data[i * n..(i + 1) * n], self.shape.rows, self.shape.cols)
    }
}

impl<T> From<HostArray<T>> for Array<T> {
    /// Returns the same array without copying its elements.
    fn from(array: HostArray<T>) -> Self {
        Self { shape: array.shape, storage: Storage::Host(array.data), choice: array.choice }
    }
}

/// A batch of square matrices of unequal orders.
#[derive(Clone, Debug)]
pub struct Ragged<T = f32> {
    layout: Arc<Layout>,
    storage: Storage<T>,
    choice: Option<Arc<Choice>>,
}

impl<T: Field> Ragged<T> {
    /// Creates a batch from the elements of the matrices, one matrix after the other, each column-major.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if `data` does not have `layout.len()` elements.
    pub fn from_vec(layout: Layout, data: Vec<T>) -> Result<Self> {
        if data.len() != layout.len() {
            let expected = format!("{} numbers for {} matrices", layout.len(), layout.batch());
            return Err(Error::shape("Ragged::from_vec", expected, data.len().to_string()));
        }
        Ok(Self { layout: Arc::new(layout), storage: Storage::host(data), choice: None })
    }

    /// Creates the result of an operation. `choice` says where and why the operation ran.
    pub(crate) fn from_storage(layout: Arc<Layout>, storage: Storage<T>, choice: Arc<Choice>) -> Self {
        Self { layout, storage, choice: Some(choice) }
    }

    /// Returns the choice of the operation that computed the batch: where the operation ran, and why. Returns `None` if
    /// the batch is not the result of an operation.
    #[must_use]
    pub fn choice(&self) -> Option<&Choice> {
        self.choice.as_deref()
    }

    pub(crate) fn storage(&self) -> &Storage<T> {
        &self.storage
    }

    /// Returns the order and the offset of each matrix.
    #[must_use]
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// Returns the elements of all matrices. If the elements are on the device, waits for the device.
    ///
    /// # Errors
    /// Device errors.
    pub fn to_host(&self, ctx: &Context) -> Result<Arc<Vec<T>>> {
        Ok(self.storage.to_vec(ctx)?.shared())
    }

    /// Returns the elements of all matrices, as [`Ragged::to_host`] does, for callers that cannot block.
    ///
    /// # Errors
    /// Device errors.
    pub async fn to_host_async(&self, ctx: &Context) -> Result<Arc<Vec<T>>> {
        Ok(self.storage.read(ctx)?.arrive().await?.shared())
    }
}

#[cfg(test)]
mod tests {
    use super::{Array, Layout, Ragged, Scalar, Shape};
    use half::f16;
    use num_complex::Complex;

    #[test]
    fn words_come_back_as_they_went() {
        for len in 0..5_u16 {
            let halves: Vec<f16> = (0..len).map(|i| f16::from_bits(0x7c00 + 77 * i)).collect();
            let words = f16::for_device(&halves).into_owned();
            assert_eq!(words.len(), f16::words(len.into()));
            let back = f16::from_device(words);
            assert!(halves.iter().zip(&back).all(|(a, b)| a.to_bits() == b.to_bits()), "{halves:?} {back:?}");
            let complex: Vec<_> = (0..len).map(|i| Complex::new(f32::from(i), -1.0)).collect();
            let words = Complex::<f32>::for_device(&complex).into_owned();
            assert_eq!((words.len(), Complex::from_device(words)), (Complex::<f32>::words(len.into()), complex));
        }
    }

    #[test]
    fn a_shape_that_overflows_fits_no_array() {
        for shape in [Shape::new(1 << 32, 1 << 32, 1), Shape::new(1 << 31, 1 << 31, 4), Shape::new(2, 1, usize::MAX)] {
            assert!(Array::<f32>::from_vec(shape, vec![]).is_err(), "{shape}");
        }
        assert!(Ragged::<f32>::from_vec(Layout::new([u32::MAX; 2]), vec![]).is_err());
    }
}
