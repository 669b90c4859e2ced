//! What the device tells only through callbacks: its loss, and errors that no scope caught. Nothing here panics.

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

/// The faults of a device so far. Loss is for good; an uncaught error is reported once.
#[derive(Debug, Default)]
struct Seen {
    any: AtomicBool,
    lost: Mutex<Option<String>>,
    uncaught: Mutex<Option<Error>>,
}

impl Faults {
    /// Installs the callbacks. They replace those of a device that somebody else owns.
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

    /// Those of another context on the same device.
    pub(super) fn beside(&self, cancel: Cancel) -> Self {
        Self { cancel, seen: Arc::clone(&self.seen) }
    }

    /// From now on every operation on the device fails with this reason.
    pub(super) fn set_lost(&self, message: String) {
        self.seen.set_lost(message);
    }

    /// [`Faults::check`] of a device that is asked first. wgpu hands out invalid resources on a lost device without an error, and
    /// tells of the loss only when it is polled.
    pub(super) fn ask(&self, device: &wgpu::Device) -> Result<()> {
        // What the poll itself reports is the loss, which `check` tells.
        let _ = device.poll(wgpu::PollType::Poll);
        self.check()
    }

    /// Fails if the work was cancelled, if the device is lost, or if an error came that no scope caught. Called before every
    /// operation and before any read is trusted.
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

/// The device's error in this crate's words; `bytes` is what an allocation asked for.
pub(crate) fn error_of(error: &wgpu::Error, bytes: u64) -> Error {
    match error {
        wgpu::Error::OutOfMemory { .. } => ErrorKind::OutOfMemory { wanted: bytes, allowed: 0 }.into(),
        other => ErrorKind::Device { message: other.to_string() }.into(),
    }
}

/// Runs `work` inside error scopes and returns what they caught beside its result.
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
