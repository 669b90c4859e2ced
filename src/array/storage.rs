//! Where numbers lie, and how they come to the other side.

use super::Scalar;
use crate::context::Context;
use crate::device::{Buffer, Gpu, Read, Shared};
use crate::error::Result;
use std::sync::Arc;

/// Where numbers lie.
#[derive(Clone, Debug)]
pub(crate) enum Storage<T> {
    Host(Arc<Vec<T>>),
    /// Words of 32 bits: what they mean, T says ([`Buffer::cast`]).
    Device(Shared<f32>),
}

impl<T: Scalar> Storage<T> {
    pub(crate) fn host(data: Vec<T>) -> Self {
        Self::Host(Arc::new(data))
    }

    /// What was written on a device, and is not written any more.
    pub(crate) fn device(buffer: Buffer<f32>) -> Self {
        Self::Device(buffer.share())
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
    pub(crate) fn on_device(&self, ctx: &Context, gpu: &Gpu) -> Result<Shared<f32>> {
        match self {
            Self::Device(buffer) => ctx.gpu_of(buffer).map(|_| buffer.clone()),
            Self::Host(data) => gpu.record().upload(&T::for_device(data)).map(Buffer::share),
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
