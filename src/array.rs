//! Batches of matrices, on the host or on the device. Column-major, the batch slowest: from and to nalgebra without rearranging.

use crate::context::Context;
use crate::device::{Buffer, Gpu, Read, WgpuBuffer};
use crate::error::{Error, Result};
use crate::policy::Choice;
use crate::shape::{Layout, Shape};
use half::f16;
use nalgebra::{DMatrix, DMatrixView};
use num_complex::Complex;
use std::borrow::Cow;
use std::sync::Arc;

mod private {
    /// What an array may hold is settled here.
    pub trait Stored {}
    impl Stored for f32 {}
    impl Stored for f64 {}
    impl Stored for u32 {}
    impl Stored for half::f16 {}
    impl Stored for num_complex::Complex<f32> {}
    impl Stored for num_complex::Complex<f64> {}

    /// What the CPU's solvers need, and nobody outside has to know.
    pub trait Sealed:
        crate::lanes::Laned
        + faer::traits::RealField
        + std::ops::Add<Output = Self>
        + std::ops::Sub<Output = Self>
        + std::ops::Mul<Output = Self>
        + std::ops::Div<Output = Self>
        + std::ops::Neg<Output = Self>
        + std::ops::AddAssign
        + std::ops::SubAssign
    {
    }
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// What an array may hold: f32, f64, complex numbers of these, f16, which is a way to store and not to compute, and u32, random
/// words.
pub trait Scalar: private::Stored + nalgebra::Scalar + bytemuck::Pod + Send + Sync {
    /// Whether the device's kernels take it.
    const ON_DEVICE: bool;
    /// Its name.
    const NAME: &'static str;
    /// What a device sent back: words of 32 bits, whatever they mean. There may be one element more than were sent, where
    /// two share a word.
    #[doc(hidden)]
    fn from_device(words: Vec<f32>) -> Vec<Self>;
    /// What a device can be sent; nothing of what stays on the host.
    #[doc(hidden)]
    fn for_device(data: &[Self]) -> Cow<'_, [f32]>;
    /// Words of 32 bits that `len` elements take.
    #[doc(hidden)]
    #[must_use]
    fn words(len: usize) -> usize;
}

/// The working precisions. f32 runs on the CPU and on every adapter; f64 is never narrowed, and runs on the CPU.
pub trait Real: Scalar + private::Sealed {
    /// Its relative spacing at 1: LAPACK's ulp.
    const EPSILON: f64;
    /// Its smallest normal number.
    const SMALLEST: f64;
    /// The nearest value.
    #[must_use]
    fn from_f64(x: f64) -> Self;
    /// The same value.
    #[must_use]
    fn to_f64(self) -> f64;
    /// `self * b + c`, rounded once; to be inlined where such an instruction is.
    #[doc(hidden)]
    #[must_use]
    fn fused(self, b: Self, c: Self) -> Self;
    /// These numbers in f64, borrowed where they are in it already.
    #[doc(hidden)]
    fn all_to_f64(data: &[Self]) -> Cow<'_, [f64]>;
    /// f32 numbers in this precision, borrowed where they are in it already.
    #[doc(hidden)]
    fn widened(data: &[f32]) -> Cow<'_, [Self]>;
}

impl Scalar for f32 {
    const ON_DEVICE: bool = true;
    const NAME: &'static str = "f32";
    fn from_device(words: Vec<Self>) -> Vec<Self> {
        words
    }
    fn for_device(data: &[Self]) -> Cow<'_, [Self]> {
        data.into()
    }
    fn words(len: usize) -> usize {
        len
    }
}

impl Scalar for u32 {
    const ON_DEVICE: bool = true;
    const NAME: &'static str = "u32";
    fn from_device(words: Vec<f32>) -> Vec<Self> {
        bytemuck::allocation::cast_vec(words)
    }
    fn for_device(data: &[Self]) -> Cow<'_, [f32]> {
        bytemuck::cast_slice(data).into()
    }
    fn words(len: usize) -> usize {
        len
    }
}

impl Scalar for Complex<f32> {
    const ON_DEVICE: bool = true;
    const NAME: &'static str = "complex f32";
    fn from_device(words: Vec<f32>) -> Vec<Self> {
        // Without a copy, unless the capacity is odd.
        bytemuck::allocation::try_cast_vec(words)
            .unwrap_or_else(|(_, words)| bytemuck::allocation::pod_collect_to_vec(&words))
    }
    fn for_device(data: &[Self]) -> Cow<'_, [f32]> {
        bytemuck::cast_slice(data).into()
    }
    fn words(len: usize) -> usize {
        len.saturating_mul(2)
    }
}

impl Scalar for f16 {
    const ON_DEVICE: bool = true;
    const NAME: &'static str = "f16";
    fn from_device(words: Vec<f32>) -> Vec<Self> {
        bytemuck::allocation::pod_collect_to_vec(&words)
    }
    /// Two to a word, the first in its lower half.
    fn for_device(data: &[Self]) -> Cow<'_, [f32]> {
        let (pairs, last) = data.as_chunks::<2>();
        let word = |pair: [Self; 2]| f32::from_bits(pair.iter().rev().fold(0, |w, x| w << 16 | u32::from(x.to_bits())));
        pairs.iter().copied().chain(last.iter().map(|&x| [x, Self::ZERO])).map(word).collect()
    }
    fn words(len: usize) -> usize {
        len.div_ceil(2)
    }
}

impl Scalar for f64 {
    const ON_DEVICE: bool = false;
    const NAME: &'static str = "f64";
    fn from_device(_: Vec<f32>) -> Vec<Self> {
        Vec::new()
    }
    fn for_device(_: &[Self]) -> Cow<'_, [f32]> {
        (&[]).into()
    }
    fn words(len: usize) -> usize {
        len.saturating_mul(2)
    }
}

impl Scalar for Complex<f64> {
    const ON_DEVICE: bool = false;
    const NAME: &'static str = "complex f64";
    fn from_device(_: Vec<f32>) -> Vec<Self> {
        Vec::new()
    }
    fn for_device(_: &[Self]) -> Cow<'_, [f32]> {
        (&[]).into()
    }
    fn words(len: usize) -> usize {
        len.saturating_mul(4)
    }
}

impl Real for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;
    const SMALLEST: f64 = f32::MIN_POSITIVE as f64;
    #[expect(clippy::cast_possible_truncation, reason = "rounding is what it is for")]
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x as Self
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn all_to_f64(data: &[Self]) -> Cow<'_, [f64]> {
        data.iter().map(|&x| x.into()).collect()
    }
    fn widened(data: &[f32]) -> Cow<'_, [Self]> {
        data.into()
    }
    #[inline(always)]
    fn fused(self, b: Self, c: Self) -> Self {
        self.mul_add(b, c)
    }
}

impl Real for f64 {
    const EPSILON: f64 = Self::EPSILON;
    const SMALLEST: f64 = Self::MIN_POSITIVE;
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
    fn all_to_f64(data: &[Self]) -> Cow<'_, [f64]> {
        data.into()
    }
    fn widened(data: &[f32]) -> Cow<'_, [Self]> {
        data.iter().map(|&x| x.into()).collect()
    }
    #[inline(always)]
    fn fused(self, b: Self, c: Self) -> Self {
        self.mul_add(b, c)
    }
}

/// Where numbers lie.
#[derive(Clone, Debug)]
pub(crate) enum Storage<T> {
    Host(Arc<Vec<T>>),
    /// Words of 32 bits: what they mean, T says ([`Buffer::cast`]).
    Device(Buffer<f32>),
}

impl<T: Scalar> Storage<T> {
    pub(crate) fn host(data: Vec<T>) -> Self {
        Self::Host(Arc::new(data))
    }

    /// Begins to bring the numbers to the host; does not wait.
    pub(crate) fn read(&self, ctx: &Context) -> Result<Incoming<T>> {
        Ok(match self {
            Self::Host(data) => Incoming::Here(Arc::clone(data)),
            Self::Device(buffer) => Incoming::Coming(ctx.gpu_of(buffer)?.read(buffer)?),
        })
    }

    /// The numbers on `gpu`, the context's device: uploaded if they lie on the host.
    ///
    /// # Errors
    /// [`ErrorKind::Domain`](crate::ErrorKind::Domain) if they lie on another context's device; device errors.
    pub(crate) fn on_device(&self, ctx: &Context, gpu: &Gpu) -> Result<Buffer<f32>> {
        match self {
            Self::Device(buffer) => ctx.gpu_of(buffer).map(|_| buffer.clone()),
            Self::Host(data) => gpu.record().upload(&T::for_device(data)),
        }
    }

    /// The numbers; waits for the device if they lie there.
    pub(crate) fn to_vec(&self, ctx: &Context) -> Result<Arc<Vec<T>>> {
        self.read(ctx)?.wait()
    }
}

/// Numbers on their way to the host.
#[derive(Debug)]
pub(crate) enum Incoming<T> {
    Here(Arc<Vec<T>>),
    Coming(Read<f32>),
}

impl<T: Scalar> Incoming<T> {
    pub(crate) fn wait(self) -> Result<Arc<Vec<T>>> {
        match self {
            Self::Here(data) => Ok(data),
            Self::Coming(read) => Ok(Arc::new(T::from_device(read.wait()?))),
        }
    }

    pub(crate) async fn arrive(self) -> Result<Arc<Vec<T>>> {
        match self {
            Self::Here(data) => Ok(data),
            Self::Coming(read) => Ok(Arc::new(T::from_device(read.await?))),
        }
    }
}

/// A batch of equal matrices. Cheap to clone; never changed once made.
#[derive(Clone, Debug)]
pub struct Array<T = f32> {
    shape: Shape,
    storage: Storage<T>,
    choice: Option<Arc<Choice>>,
}

impl<T: Scalar> Array<T> {
    /// From numbers in column-major order, the batch slowest.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if there are not `shape.len()` of them.
    pub fn from_vec(shape: Shape, data: Vec<T>) -> Result<Self> {
        if data.len() != shape.len() {
            let expected = format!("{} numbers for {shape}", shape.len());
            return Err(Error::shape("Array::from_vec", expected, data.len().to_string()));
        }
        Ok(Self::from_storage(shape, Storage::host(data)))
    }

    /// From matrices of one shape.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if they differ in shape.
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

    /// This array, as the result of an operation that ran where `choice` says.
    pub(crate) fn chosen(self, choice: &Arc<Choice>) -> Self {
        Self { choice: Some(Arc::clone(choice)), ..self }
    }

    /// What was made of this array where it was made itself.
    pub(crate) fn made<U: Scalar>(&self, shape: Shape, storage: Storage<U>) -> Array<U> {
        Array { shape, storage, choice: self.choice.clone() }
    }

    /// Where the operation that made it ran, and why; none of an array that no operation made.
    #[must_use]
    pub fn choice(&self) -> Option<&Choice> {
        self.choice.as_deref()
    }

    pub(crate) fn storage(&self) -> &Storage<T> {
        &self.storage
    }

    /// Its shape.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Whether it lies on the device.
    #[must_use]
    pub fn is_resident(&self) -> bool {
        matches!(self.storage, Storage::Device(_))
    }

    /// The same array on the device of `ctx`, so that operations on it move nothing.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NoAdapter`] without a device, [`crate::ErrorKind::Domain`] for f64 and its complex numbers, which stay on the
    /// host; device errors.
    pub fn to_device(&self, ctx: &Context) -> Result<Self> {
        if !T::ON_DEVICE {
            return Err(Error::domain(
                "Array::to_device",
                format!("{} stays on the host; the kernels take f32, complex f32 and f16", T::NAME),
            ));
        }
        let buffer = match &self.storage {
            Storage::Host(data) => ctx.gpu()?.record().upload(&T::for_device(data))?,
            Storage::Device(buffer) => {
                ctx.gpu_of(buffer)?;
                buffer.clone()
            }
        };
        Ok(Self { shape: self.shape, storage: Storage::Device(buffer), choice: self.choice.clone() })
    }

    /// The same array on the host; waits for the device if it lies there.
    ///
    /// # Errors
    /// Device errors, which an operation that was only recorded may show here first.
    pub fn to_host(&self, ctx: &Context) -> Result<HostArray<T>> {
        Ok(self.host(self.storage.to_vec(ctx)?))
    }

    /// [`Array::to_host`] for where blocking is impossible.
    ///
    /// # Errors
    /// As [`Array::to_host`].
    pub async fn to_host_async(&self, ctx: &Context) -> Result<HostArray<T>> {
        Ok(self.host(self.storage.read(ctx)?.arrive().await?))
    }

    /// These elements, without what filled the last word up.
    fn host(&self, mut data: Arc<Vec<T>>) -> HostArray<T> {
        if data.len() > self.shape.len() {
            Arc::make_mut(&mut data).truncate(self.shape.len());
        }
        HostArray { shape: self.shape, data, choice: self.choice.clone() }
    }
}

impl Array<f32> {
    /// The first `shape.len()` numbers of a buffer that somebody else (Burn, CubeCL, wgpu itself) made on the device of `ctx`.
    /// What they submit to the queue before an operation here is done before it.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NoAdapter`] without a device; [`crate::ErrorKind::Shape`] if the buffer is too short or lacks the usages
    /// STORAGE and COPY_SRC.
    pub fn from_wgpu(ctx: &Context, shape: Shape, buffer: WgpuBuffer) -> Result<Self> {
        let buffer = ctx.gpu()?.adopt_buffer(buffer.0, shape.len())?;
        Ok(Self::from_storage(shape, Storage::Device(buffer)))
    }
}

/// A batch of equal matrices on the host: nalgebra views without a copy.
#[derive(Clone, Debug)]
pub struct HostArray<T> {
    shape: Shape,
    data: Arc<Vec<T>>,
    choice: Option<Arc<Choice>>,
}

impl<T: Scalar> HostArray<T> {
    /// Its shape.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// As [`Array::choice`].
    #[must_use]
    pub fn choice(&self) -> Option<&Choice> {
        self.choice.as_deref()
    }

    /// The numbers, column-major, the batch slowest.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.data
    }

    /// Matrix `i` of the batch.
    ///
    /// # Panics
    /// If there is none, as indexing does.
    #[must_use]
    pub fn matrix(&self, i: usize) -> DMatrixView<'_, T> {
        let n = self.shape.matrix_len();
        DMatrixView::from_slice(&self.data[i * n..(i + 1) * n], self.shape.rows, self.shape.cols)
    }
}

/// A batch of square matrices of unequal orders.
#[derive(Clone, Debug)]
pub struct Ragged<T = f32> {
    layout: Arc<Layout>,
    storage: Storage<T>,
}

impl<T: Real> Ragged<T> {
    /// From the elements of all matrices, each column-major, one after the other.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if there are not as many as the layout says.
    pub fn from_vec(layout: Layout, data: Vec<T>) -> Result<Self> {
        if data.len() != layout.len() {
            let expected = format!("{} numbers for {} matrices", layout.len(), layout.batch());
            return Err(Error::shape("Ragged::from_vec", expected, data.len().to_string()));
        }
        Ok(Self { layout: Arc::new(layout), storage: Storage::host(data) })
    }

    pub(crate) fn from_storage(layout: Arc<Layout>, storage: Storage<T>) -> Self {
        Self { layout, storage }
    }

    pub(crate) fn storage(&self) -> &Storage<T> {
        &self.storage
    }

    /// The orders and where each matrix lies.
    #[must_use]
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// The elements of all matrices; waits for the device if they lie there.
    ///
    /// # Errors
    /// Device errors.
    pub fn to_host(&self, ctx: &Context) -> Result<Arc<Vec<T>>> {
        self.storage.to_vec(ctx)
    }

    /// [`Ragged::to_host`] for where blocking is impossible.
    ///
    /// # Errors
    /// Device errors.
    pub async fn to_host_async(&self, ctx: &Context) -> Result<Arc<Vec<T>>> {
        self.storage.read(ctx)?.arrive().await
    }
}

#[cfg(test)]
mod tests {
    use super::{Array, Complex, Layout, Ragged, Scalar, Shape, f16};

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
