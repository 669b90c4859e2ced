//! The faults that the device reports only through callbacks: its loss, and errors that no scope
//! caught. Nothing here panics.

use crate::cancel::Cancel;
use crate::error::{Error, ErrorKind, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What ends the work of one context: the faults of its device, and its own switch.
#[derive(Clone, Debug)]
pub(crate) struct Faults {
    cancel: Cancel,
    seen: Arc<Seen>,
}

/// The faults of a device so far. A loss is permanent; an uncaught error is reported once.
#[derive(Debug, Default)]
struct Seen {
    any: AtomicBool,
    lost: Mutex<Option<String>>,
    uncaught: Mutex<Option<Error>>,
}

impl Faults {
    /// Installs the callbacks. They replace those of a device that was opened outside this crate.
    pub(crate) fn watch(device: &wgpu::Device, cancel: Cancel) -> Self {
        let seen = Arc::<Seen>::default();
        let on_loss = Arc::clone(&seen);
        device.set_device_lost_callback(move |reason, message| {
            on_loss.set_lost(format!("{reason:?}{}{message}", if message.is_empty() { "" } else { ": " }));
        });
        let on_error = Arc::clone(&seen);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            log::error!("uncaptured device error: {error}");
            on_error.uncaught.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error_of(&error, 0));
            on_error.any.store(true, Ordering::Release);
        }));
        Self { cancel, seen }
    }

    /// Returns the faults of the same device for another context.
    pub(super) fn for_context(&self, cancel: Cancel) -> Self {
        Self { cancel, seen: Arc::clone(&self.seen) }
    }

    /// Makes every later operation on the device fail with this reason.
    pub(super) fn set_lost(&self, message: String) {
        self.seen.set_lost(message);
    }

    /// Polls the device, then does the same as [`Faults::check`]. wgpu hands out invalid resources on a lost device
    /// without an error, and reports the loss only when it is polled.
    pub(super) fn ask(&self, device: &wgpu::Device) -> Result<()> {
        // What the poll itself reports is the loss, which `check` returns.
        let _ = device.poll(wgpu::PollType::Poll);
        self.check()
    }

    /// Fails if the work was canceled, if the device is lost, or if there was an error that no scope caught. It is
    /// called before every operation and before the result of any read is trusted.
    pub(crate) fn check(&self) -> Result<()> {
        self.cancel.check()?;
        if !self.seen.any.load(Ordering::Acquire) {
            return Ok(());
        }
        if let Some(message) = &*self.seen.lost.lock().unwrap_or_else(PoisonError::into_inner) {
            return Err(ErrorKind::DeviceLost { message: message.clone() }.into());
        }
        match self.seen.uncaught.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

impl Seen {
    fn set_lost(&self, message: String) {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(message);
        self.any.store(true, Ordering::Release);
    }
}

/// Converts the device's error into this crate's error; `bytes` is the size of the requested allocation.
pub(crate) fn error_of(error: &wgpu::Error, bytes: u64) -> Error {
    match error {
        wgpu::Error::OutOfMemory { .. } => ErrorKind::OutOfMemory { wanted: bytes, allowed: 0 }.into(),
        other => ErrorKind::Device { message: other.to_string() }.into(),
    }
}

/// Runs `work` inside error scopes and returns its result with the error that they caught.
pub(crate) fn scoped<T>(device: &wgpu::Device, work: impl FnOnce() -> T) -> (T, Option<wgpu::Error>) {
    let guards = [wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Internal, wgpu::ErrorFilter::Validation]
        .map(|filter| device.push_error_scope(filter));
    let result = work();
    let mut caught = None;
    // Scopes close innermost first.
    for guard in guards.into_iter().rev() {
        caught = pollster::block_on(guard.pop()).or(caught);
    }
    (result, caught)
}
