//! The faults that the device reports only through callbacks: the loss of the device, and errors that no error scope
//! caught. No code in this file panics.

use crate::cancel::Cancel;
use crate::error::{Error, ErrorKind, Result};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The conditions that end the work of one context: a fault of its device, and a request to cancel.
#[derive(Clone, Debug)]
pub(crate) struct Faults {
    cancel: Cancel,
    /// The number of [`Deferred`] values.
    deferred: Arc<AtomicUsize>,
    seen: Arc<Seen>,
}

/// While this value exists, a request to cancel ends no operation on the device: the caller looks at the switch itself.
#[derive(Debug)]
pub(crate) struct Deferred(Arc<AtomicUsize>);

impl Drop for Deferred {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The faults of a device so far. A loss is permanent. An uncaught error is reported once.
#[derive(Debug, Default)]
struct Seen {
    any: AtomicBool,
    lost: Mutex<Option<String>>,
    uncaught: Mutex<Option<Error>>,
}

impl Faults {
    /// Installs the callbacks. If the device was opened outside this crate, they replace its previous callbacks.
    pub(crate) fn watch(device: &wgpu::Device, cancel: Cancel) -> Self {
        let seen = Arc::<Seen>::default();
        let on_loss = Arc::clone(&seen);
        device.set_device_lost_callback(move |reason, message| {
            // The message becomes a part of a sentence.
            let message = message.trim_end_matches(|c: char| c == '.' || c.is_whitespace() || c == '\0');
            on_loss.set_lost(format!("{reason:?}{}{message}", if message.is_empty() { "" } else { ": " }));
        });
        let on_error = Arc::clone(&seen);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            log::error!("uncaptured device error: {error}");
            on_error.uncaught.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error_of(&error, 0));
            on_error.any.store(true, Ordering::Release);
        }));
        Self { cancel, deferred: Arc::default(), seen }
    }

    /// Lets operations go on although the work was cancelled, as long as the returned value exists.
    pub(super) fn defer_cancel(&self) -> Deferred {
        self.deferred.fetch_add(1, Ordering::Relaxed);
        Deferred(Arc::clone(&self.deferred))
    }

    /// Returns a handle to the faults of the same device for another context.
    pub(super) fn for_context(&self, cancel: Cancel) -> Self {
        Self { cancel, deferred: Arc::default(), seen: Arc::clone(&self.seen) }
    }

    /// Makes every later operation on the device fail with `message` as the reason.
    pub(super) fn set_lost(&self, message: String) {
        self.seen.set_lost(message);
    }

    /// Polls the device, then checks for faults as [`Faults::check`] does. On a lost device, wgpu creates invalid
    /// resources without an error and reports the loss only when the device is polled.
    pub(super) fn ask(&self, device: &wgpu::Device) -> Result<()> {
        // The result is ignored: the poll can only report the loss of the device, and `check` reports that too.
        let _ = device.poll(wgpu::PollType::Poll);
        self.check()
    }

    /// Fails if the work was canceled, if the device is lost, or if an error occurred that no error scope caught. This
    /// function is called before every operation and before the result of any read is used.
    pub(crate) fn check(&self) -> Result<()> {
        if self.deferred.load(Ordering::Relaxed) == 0 {
            self.cancel.check()?;
        }
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

/// Converts a wgpu error into an error of this crate. `bytes` is the size of the allocation that was requested.
pub(crate) fn error_of(error: &wgpu::Error, bytes: u64) -> Error {
    match error {
        wgpu::Error::OutOfMemory { .. } => ErrorKind::OutOfMemory { wanted: bytes, allowed: 0 }.into(),
        other => ErrorKind::Device { message: other.to_string() }.into(),
    }
}

/// Runs `work` inside error scopes. Returns the result of `work` and the error that the scopes caught, if any.
///
/// In a browser, where what a scope caught can only be awaited, there is no scope. Its errors are reported to the
/// callback of [`Faults::watch`], before the result of any read arrives that was begun after `work`.
#[cfg(target_arch = "wasm32")]
pub(crate) fn scoped<T>(_: &wgpu::Device, work: impl FnOnce() -> T) -> (T, Option<wgpu::Error>) {
    (work(), None)
}

/// Runs `work` inside error scopes. Returns the result of `work` and the error that the scopes caught, if any.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn scoped<T>(device: &wgpu::Device, work: impl FnOnce() -> T) -> (T, Option<wgpu::Error>) {
    let guards = [wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Internal, wgpu::ErrorFilter::Validation]
        .map(|filter| device.push_error_scope(filter));
    let result = work();
    let mut caught = None;
    // The innermost scope must be closed first.
    for guard in guards.into_iter().rev() {
        caught = pollster::block_on(guard.pop()).or(caught);
    }
    (result, caught)
}
