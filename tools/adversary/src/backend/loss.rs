//! The loss of a device, and the callback that tells of it.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use wgpu::DeviceLostReason;
use wgpu::custom::BoxDeviceLostCallback;

#[derive(Default)]
pub(crate) struct Loss {
    lost: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The reason and the message that the callback has not received yet.
    untold: Option<(DeviceLostReason, String)>,
    callback: Option<BoxDeviceLostCallback>,
}

impl fmt::Debug for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Loss").field(&self.lost).finish()
    }
}

impl Loss {
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Records the loss, and returns whether it is the first.
    pub(crate) fn set(&self, reason: DeviceLostReason, message: &str) -> bool {
        let mut state = self.state();
        let first = !self.lost.swap(true, Ordering::AcqRel);
        if first {
            state.untold = Some((reason, message.to_owned()));
        }
        first
    }

    pub(crate) fn set_callback(&self, callback: BoxDeviceLostCallback) {
        self.state().callback = Some(callback);
    }

    /// Calls the callback, unless it was called before. No lock is held meanwhile, because it may call the device.
    pub(crate) fn deliver(&self) {
        let mut state = self.state();
        if state.callback.is_some()
            && let Some((reason, message)) = state.untold.take()
        {
            let callback = state.callback.take();
            drop(state);
            callback.into_iter().for_each(|callback| callback(reason, message.clone()));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
