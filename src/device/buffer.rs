//! Typed, device-resident arrays. A buffer is one entire wgpu buffer (WebGPU judges hazards by entire buffers) and
//! returns to its pool when its last user drops it.

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

/// A device-resident array of `len` elements. This is its only handle, so kernels may write it. Its content is
/// undefined before it is written. [`Buffer::share`] turns it into an array with many handles that none can write.
#[derive(Debug)]
pub(crate) struct Buffer<T> {
    pub(super) lease: Arc<Lease>,
    pub(super) len: usize,
    of: PhantomData<T>,
}

/// A [`Buffer`] with many handles: kernels can read it, and none can write it any more.
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
    /// Returns a second handle. Only this module may make one: nothing writes through it, or it
    /// lives while this one is borrowed.
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
    /// Does the same as [`Buffer::cast`].
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

    /// Views the same bits as elements of another type. Bytes at the end that do not fill an element are left out.
    pub(crate) fn cast<U: Element>(self) -> Buffer<U> {
        Buffer { lease: self.lease, len: self.len * size_of::<T>() / size_of::<U>(), of: PhantomData }
    }

    /// Gives up the right to write.
    pub(crate) fn share(self) -> Shared<T> {
        Shared(self)
    }

    /// Does the same as [`Buffer::cast`] for reading a borrowed buffer.
    pub(crate) fn cast_ref<U: Element>(&self) -> CastRef<'_, U> {
        CastRef { buffer: self.alias().cast(), of: PhantomData }
    }

    /// Does the same as [`Buffer::cast`] for writing a borrowed buffer.
    pub(crate) fn cast_mut<U: Element>(&mut self) -> CastMut<'_, U> {
        CastMut { buffer: self.alias().cast(), of: PhantomData }
    }

    /// Keeps the first `len` elements, or all if there are fewer.
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

/// Returns the bytes that an array of `len` elements takes on the device.
fn bytes_of<T>(len: usize) -> u64 {
    (len.max(1) as u64).saturating_mul(size_of::<T>() as u64)
}

/// What a variable is bound to.
#[derive(Debug)]
pub(crate) enum Bound<'a> {
    /// The bytes of a uniform struct.
    Uniform(&'a [u8]),
    /// A buffer, and how many of its bytes the array covers.
    Buffer(&'a Arc<Lease>, u64),
}

/// Fails to compile if a [`Buffer`] can be cloned: a kernel could read through one handle what it
/// writes through the other.
#[cfg(test)]
const _: fn() = || {
    trait NotClone<Which> {
        fn holds() {}
    }
    impl<T> NotClone<()> for T {}
    impl<T: Clone> NotClone<u8> for T {}
    <Buffer<f32> as NotClone<_>>::holds();
};
