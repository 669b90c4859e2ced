//! Reading arrays back from the device. Starting a read does not block. The caller then blocks until the data arrives,
//! or polls or awaits the read as a future. A caller that needs several arrays starts all reads before it waits for the
//! first.

use super::buffer::Element;
use super::core::Core;
use super::faults::{Faults, scoped};
use super::pool::Lease;
use crate::error::{ErrorKind, Result};
use crate::profile::Stopwatch;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
#[cfg(not(target_arch = "wasm32"))]
use std::time::Duration;

/// An array that is being read back to the host.
#[derive(Debug)]
pub(crate) struct Read<T> {
    device: wgpu::Device,
    faults: Faults,
    lease: Arc<Lease>,
    len: usize,
    mapping: Arc<Mutex<Mapping>>,
    /// Whether a thread is polling the device on behalf of a task that awaits the read. A browser polls by itself.
    #[cfg(not(target_arch = "wasm32"))]
    driven: bool,
    stopwatch: Stopwatch,
    of: PhantomData<fn() -> T>,
}

#[derive(Debug, Default)]
struct Mapping {
    done: Option<Result<(), wgpu::BufferAsyncError>>,
    waker: Option<Waker>,
}

impl<T: Element> Read<T> {
    /// Starts to map the staging buffer, which an already submitted copy fills.
    pub(super) fn begin(core: &Core, lease: Arc<Lease>, len: usize) -> Self {
        let mapping = Arc::new(Mutex::new(Mapping::default()));
        let told = Arc::clone(&mapping);
        let ((), caught) = scoped(&core.device, || {
            lease.raw.slice(..).map_async(wgpu::MapMode::Read, move |result| {
                let waker = {
                    let mut mapping = told.lock().unwrap_or_else(PoisonError::into_inner);
                    mapping.done = Some(result);
                    mapping.waker.take()
                };
                waker.into_iter().for_each(Waker::wake);
            });
        });
        if let Some(error) = caught {
            // The callback receives this error too, so only the message is logged here.
            log::error!("a read cannot begin: {error}");
        }
        let (device, faults) = (core.device.clone(), core.faults.clone());
        let stopwatch = core.stopwatch.clone();
        Self {
            device,
            faults,
            lease,
            len,
            mapping,
            #[cfg(not(target_arch = "wasm32"))]
            driven: false,
            stopwatch,
            of: PhantomData,
        }
    }

    /// Returns an error, because a browser delivers nothing while the only thread waits.
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn wait(mut self) -> Result<Vec<T>> {
        self.take().unwrap_or_else(|| Err(super::cannot_wait()))
    }

    /// Blocks until the array has arrived.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn wait(mut self) -> Result<Vec<T>> {
        loop {
            if let Some(result) = self.take() {
                return result;
            }
            let wait = wgpu::PollType::Wait { submission_index: None, timeout: Some(Duration::from_secs(1)) };
            // A timeout is not an error because the work continues. The loss of the device is recorded in `faults`.
            let began = self.stopwatch.begin();
            let _ = self.device.poll(wait);
            self.stopwatch.end("wait", "", began);
            self.faults.check()?;
        }
    }

    /// Returns the array or the error, if the read is complete.
    fn take(&mut self) -> Option<Result<Vec<T>>> {
        let done = self.mapping.lock().unwrap_or_else(PoisonError::into_inner).done.take()?;
        Some(self.finish(done))
    }

    fn finish(&self, done: Result<(), wgpu::BufferAsyncError>) -> Result<Vec<T>> {
        let began = self.stopwatch.begin();
        // A lost device may still report that it mapped the buffer, so the loss is checked first.
        self.faults.check()?;
        done.map_err(|e| ErrorKind::Device { message: format!("reading back: {e}") })?;
        let view = self
            .lease
            .raw
            .slice(..(self.len * size_of::<T>()) as u64)
            .get_mapped_range()
            .map_err(|e| ErrorKind::Device { message: format!("reading back: {e}") })?;
        let data = bytemuck::pod_collect_to_vec(&view[..]);
        drop(view);
        self.faults.check()?;
        self.stopwatch.end("read back", "", began);
        Ok(data)
    }
}

impl<T: Element> Future for Read<T> {
    type Output = Result<Vec<T>>;

    /// Returns without blocking. A separate thread waits for the device and wakes the task. In a browser, the callback
    /// of the mapping wakes it.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.mapping.lock().unwrap_or_else(PoisonError::into_inner).waker = Some(context.waker().clone());
        if let Some(result) = self.take() {
            return Poll::Ready(result);
        }
        if let Err(error) = self.faults.check() {
            return Poll::Ready(Err(error));
        }
        #[cfg(not(target_arch = "wasm32"))]
        self.drive(context);
        Poll::Pending
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl<T: Element> Read<T> {
    /// Starts the thread that waits for the device, unless it runs already.
    fn drive(&mut self, context: &Context<'_>) {
        if self.driven {
            return;
        }
        self.driven = true;
        let (device, mapping) = (self.device.clone(), Arc::clone(&self.mapping));
        let drive = move || {
            let _ = device.poll(wgpu::PollType::wait_indefinitely());
            // Wakes the task once more, in case the device was lost and never calls back. The lock is released before
            // the call to `wake`, because an executor may run the task immediately.
            let waker = mapping.lock().unwrap_or_else(PoisonError::into_inner).waker.take();
            waker.into_iter().for_each(Waker::wake);
        };
        if std::thread::Builder::new().spawn(drive).is_err() {
            self.driven = false;
            context.waker().wake_by_ref();
        }
    }
}

impl<T> Drop for Read<T> {
    /// Unmaps the staging buffer before the buffer returns to the pool, even if nothing waited for the read.
    fn drop(&mut self) {
        let ((), _) = scoped(&self.device, || self.lease.raw.unmap());
    }
}
