//! Typed, device-resident arrays. A buffer is one whole wgpu buffer (WebGPU judges hazards by whole buffers) and goes back to
//! its pool when the last user drops it.

use super::pool::{Lease, Pool, Usage};
use crate::error::{Error, Result};
use std::marker::PhantomData;
use std::sync::Arc;

/// A WGSL host-shareable element type.
pub(crate) trait Element: bytemuck::Pod + Send + Sync {
    /// Its name in WGSL, as naga writes it.
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

/// A device-resident array of `len` elements. What it holds before it is written is not defined.
#[derive(Debug)]
pub(crate) struct Buffer<T> {
    pub(super) lease: Arc<Lease>,
    pub(super) len: usize,
    of: PhantomData<T>,
}

impl<T> Clone for Buffer<T> {
    /// Another handle to the same array.
    fn clone(&self) -> Self {
        Self { lease: Arc::clone(&self.lease), len: self.len, of: PhantomData }
    }
}

impl<T: Element> Buffer<T> {
    /// An array of `len` elements on loan.
    pub(super) fn lend(pool: &Arc<Pool>, len: usize) -> Result<Self> {
        let lease = pool.lend(bytes_of::<T>(len), Usage::Storage)?;
        Ok(Self { lease: Arc::new(lease), len, of: PhantomData })
    }

    /// The first `len` elements of a buffer that somebody else owns.
    pub(super) fn adopt(pool: &Arc<Pool>, raw: wgpu::Buffer, len: usize) -> Result<Self> {
        let (wanted, usage) = (bytes_of::<T>(len), wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC);
        if raw.size() < wanted || !raw.usage().contains(usage) {
            let expected = format!("a buffer of at least {wanted} bytes with the usages STORAGE and COPY_SRC");
            return Err(Error::shape("adopt a buffer", expected, format!("{} bytes, {:?}", raw.size(), raw.usage())));
        }
        Ok(Self { lease: Arc::new(pool.foreign(raw)), len, of: PhantomData })
    }

    /// The same bits as whole elements of another type; what does not fill one at the end is out of sight.
    pub(crate) fn cast<U: Element>(&self) -> Buffer<U> {
        Buffer { lease: Arc::clone(&self.lease), len: self.len * size_of::<T>() / size_of::<U>(), of: PhantomData }
    }

    /// Length in elements.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Length in bytes; never zero, because WebGPU refuses an empty binding.
    pub(super) fn bytes(&self) -> u64 {
        bytes_of::<T>(self.len)
    }

    pub(crate) fn bound(&self) -> Bound<'_> {
        Bound::Buffer(&self.lease, self.bytes())
    }
}

/// Bytes that an array of `len` elements takes on the device.
fn bytes_of<T>(len: usize) -> u64 {
    (len.max(1) as u64).saturating_mul(size_of::<T>() as u64)
}

/// What a variable is bound to.
#[derive(Debug)]
pub(crate) enum Bound<'a> {
    /// The bytes of a uniform struct.
    Uniform(&'a [u8]),
    /// A buffer, and how many bytes of it are the array.
    Buffer(&'a Arc<Lease>, u64),
}
