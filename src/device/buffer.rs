//! Typed, device-resident arrays. Each array occupies an entire wgpu buffer, because WebGPU tracks reads and writes per
//! buffer, not per range. When the last handle of an array is dropped, the wgpu buffer returns to its pool.

use super::pool::{Lease, Pool, Usage};
use crate::error::{Error, Result};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A WGSL host-shareable element type.
pub(crate) trait Element: bytemuck::Pod + Send + Sync {
    /// The type's name in WGSL, as naga writes it.
    const WGSL: &'static str;
}

macro_rules! elements {
    ($($rust:ty = $wgsl:literal),+) => { $(impl Element for $rust { const WGSL: &'static str = $wgsl; })+ };
}
elements!(
    f32 = "f32",
    u32 = "u32",
    [f32; 2] = "vec2<f32>",
    [u32; 2] = "vec2<u32>",
    [f32; 4] = "vec4<f32>",
    [u32; 4] = "vec4<u32>"
);
elements!(half::f16 = "f16");

/// A device-resident array of `len` elements. A `Buffer` is the only handle of its array, so kernels may write the
/// array. The content is undefined until a kernel or a copy writes it. [`Buffer::share`] turns the `Buffer` into a
/// [`Shared`], which can be cloned and is read-only.
#[derive(Debug)]
pub(crate) struct Buffer<T> {
    pub(super) lease: Arc<Lease>,
    pub(super) len: usize,
    of: PhantomData<T>,
}

/// A [`Buffer`] that may have many handles. Kernels can read the array but no longer write it.
#[derive(Debug)]
pub(crate) struct Shared<T>(Buffer<T>);

/// A borrowed [`Buffer`], viewed as elements of another type.
#[derive(Debug)]
pub(crate) struct CastRef<'a, T> {
    buffer: Buffer<T>,
    of: PhantomData<&'a Buffer<T>>,
}

/// A mutably borrowed [`Buffer`], viewed as elements of another type.
#[derive(Debug)]
pub(crate) struct CastMut<'a, T> {
    buffer: Buffer<T>,
    of: PhantomData<&'a mut Buffer<T>>,
}

impl<T> Buffer<T> {
    /// Returns a second handle to the same array. Only this module may call this function. The module ensures either
    /// that no handle is used for writing, or that the second handle exists only while the first is borrowed.
    fn alias(&self) -> Self {
        Self { lease: Arc::clone(&self.lease), len: self.len, of: PhantomData }
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(self.0.alias())
    }
}

impl<T> Clone for CastRef<'_, T> {
    fn clone(&self) -> Self {
        Self { buffer: self.buffer.alias(), of: PhantomData }
    }
}

impl<T> Deref for CastRef<'_, T> {
    type Target = Buffer<T>;
    fn deref(&self) -> &Buffer<T> {
        &self.buffer
    }
}

impl<T> Deref for CastMut<'_, T> {
    type Target = Buffer<T>;
    fn deref(&self) -> &Buffer<T> {
        &self.buffer
    }
}

impl<T> DerefMut for CastMut<'_, T> {
    fn deref_mut(&mut self) -> &mut Buffer<T> {
        &mut self.buffer
    }
}

impl<T> Deref for Shared<T> {
    type Target = Buffer<T>;
    fn deref(&self) -> &Buffer<T> {
        &self.0
    }
}

impl<T: Element> Shared<T> {
    /// Views the shared array as elements of another type, as [`Buffer::cast`] does.
    pub(crate) fn cast<U: Element>(self) -> Shared<U> {
        Shared(self.0.cast())
    }
}

impl<T: Element> Buffer<T> {
    /// Borrows an array of `len` elements from the pool.
    pub(super) fn lend(pool: &Arc<Pool>, len: usize) -> Result<Self> {
        let lease = pool.lend(bytes_of::<T>(len), Usage::Storage)?;
        Ok(Self { lease: Arc::new(lease), len, of: PhantomData })
    }

    /// Wraps the first `len` elements of a buffer that is owned outside this crate.
    pub(super) fn adopt(pool: &Arc<Pool>, raw: wgpu::Buffer, len: usize) -> Result<Self> {
        let (wanted, usage) = (bytes_of::<T>(len), wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC);
        if raw.size() < wanted || !raw.usage().contains(usage) {
            let expected = format!("a buffer of at least {wanted} bytes with the usages STORAGE and COPY_SRC");
            return Err(Error::shape("adopt a buffer", expected, format!("{} bytes, {:?}", raw.size(), raw.usage())));
        }
        Ok(Self { lease: Arc::new(pool.foreign(raw)), len, of: PhantomData })
    }

    /// Views the same bits as elements of another type. Bytes at the end that do not fill a whole element are omitted.
    pub(crate) fn cast<U: Element>(self) -> Buffer<U> {
        Buffer { lease: self.lease, len: self.len * size_of::<T>() / size_of::<U>(), of: PhantomData }
    }

    /// Makes the array read-only, so that it can have many handles.
    pub(crate) fn share(self) -> Shared<T> {
        Shared(self)
    }

    /// Borrows the array for reading, viewed as elements of another type, as [`Buffer::cast`] does.
    pub(crate) fn cast_ref<U: Element>(&self) -> CastRef<'_, U> {
        CastRef { buffer: self.alias().cast(), of: PhantomData }
    }

    /// Borrows the array for writing, viewed as elements of another type, as [`Buffer::cast`] does.
    pub(crate) fn cast_mut<U: Element>(&mut self) -> CastMut<'_, U> {
        CastMut { buffer: self.alias().cast(), of: PhantomData }
    }

    /// Shortens the array to its first `len` elements, or keeps all elements if the array has fewer than `len`.
    pub(crate) fn first(self, len: usize) -> Self {
        Self { len: len.min(self.len), ..self }
    }

    /// Returns the length in elements.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the length in bytes, which is never zero because WebGPU refuses an empty binding.
    pub(super) fn bytes(&self) -> u64 {
        bytes_of::<T>(self.len)
    }

    pub(crate) fn bound(&self) -> Bound<'_> {
        Bound::Buffer(&self.lease, self.bytes())
    }
}

/// Returns the number of bytes that an array of `len` elements occupies on the device.
fn bytes_of<T>(len: usize) -> u64 {
    (len.max(1) as u64).saturating_mul(size_of::<T>() as u64)
}

/// The value or buffer that is bound to a WGSL variable.
#[derive(Debug)]
pub(crate) enum Bound<'a> {
    /// The bytes of a uniform struct.
    Uniform(&'a [u8]),
    /// A buffer, and the number of its bytes that the array covers.
    Buffer(&'a Arc<Lease>, u64),
}

/// Fails to compile if [`Buffer`] implements `Clone`. With two handles, a kernel could read an array through one handle
/// and write the same array through the other.
#[cfg(test)]
const _: fn() = || {
    trait NotClone<Which> {
        fn holds() {}
    }
    impl<T> NotClone<()> for T {}
    impl<T: Clone> NotClone<u8> for T {}
    <Buffer<f32> as NotClone<_>>::holds();
};
