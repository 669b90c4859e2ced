//! The storage of the elements of an array, and the transfers between host and device.

use super::Scalar;
use crate::context::Context;
use crate::device::{Buffer, Gpu, Read, Shared};
use crate::error::Result;
use crate::memory::Elements;

/// The elements of an array, on the host or on the device.
#[derive(Clone, Debug)]
pub(crate) enum Storage<T> {
    Host(Elements<T>),
    /// Words of 32 bits, which [`Buffer::cast`] can view as elements of another type. `T` defines the meaning of the
    /// words.
    Device(Shared<f32>),
}

impl<T: Scalar> Storage<T> {
    pub(crate) fn host(data: Vec<T>) -> Self {
        Self::Host(Elements::new(data))
    }

    /// Wraps a result that is in a vector from [`Context::room`] or [`Context::zeroed_room`]. When it is dropped, later
    /// results use its memory.
    pub(crate) fn host_from(ctx: &Context, data: Vec<T>) -> Self {
        Self::Host(Elements::of(ctx.host_memory(), data))
    }

    /// Wraps a device buffer, which will not be written any more.
    pub(crate) fn device(buffer: Buffer<f32>) -> Self {
        Self::Device(buffer.share())
    }

    /// Starts to read the elements back to the host, without waiting.
    pub(crate) fn read(&self, ctx: &Context) -> Result<Incoming<T>> {
        Ok(match self {
            Self::Host(data) => Incoming::Here(data.clone()),
            Self::Device(buffer) => Incoming::Coming(ctx.gpu_of(buffer)?.read(buffer)?),
        })
    }

    /// Returns the elements on `gpu`, the context's device. If the elements are on the host, uploads them.
    ///
    /// # Errors
    /// [`ErrorKind::Domain`](crate::ErrorKind::Domain) if the elements are on the device of another context; device
    /// errors.
    pub(crate) fn on_device(&self, ctx: &Context, gpu: &Gpu) -> Result<Shared<f32>> {
        match self {
            Self::Device(buffer) => ctx.gpu_of(buffer).map(|_| buffer.clone()),
            Self::Host(data) => gpu.record().upload(&T::for_device(data)).map(Buffer::share),
        }
    }

    /// Returns the elements on the host. If the elements are on the device, waits for the device.
    pub(crate) fn to_vec(&self, ctx: &Context) -> Result<Elements<T>> {
        self.read(ctx)?.wait()
    }
}

/// Elements that are being read back to the host.
#[derive(Debug)]
pub(crate) enum Incoming<T> {
    Here(Elements<T>),
    Coming(Read<f32>),
}

impl<T: Scalar> Incoming<T> {
    pub(crate) fn wait(self) -> Result<Elements<T>> {
        match self {
            Self::Here(data) => Ok(data),
            Self::Coming(read) => Ok(Elements::new(T::from_device(read.wait()?))),
        }
    }

    pub(crate) async fn arrive(self) -> Result<Elements<T>> {
        match self {
            Self::Here(data) => Ok(data),
            Self::Coming(read) => Ok(Elements::new(T::from_device(read.await?))),
        }
    }
}
