//! An opened device with the state that recording and reading share.

use super::adapter::Adapter;
use super::faults::Faults;
use super::pipelines::Pipelines;
use super::pool::Pool;
use super::timing::Timing;
use crate::error::{Error, ErrorKind};
use crate::profile::Stopwatch;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Core {
    pub(super) adapter: Adapter,
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) faults: Faults,
    pub(super) pool: Arc<Pool>,
    pub(super) pipelines: Pipelines,
    /// The timestamp queries, if timestamps were requested and the adapter supports them.
    pub(super) timing: Option<Timing>,
    pub(super) stopwatch: Stopwatch,
}

impl Core {
    /// Returns whether dispatches are timed with the host's clock.
    pub(super) fn by_wall_clock(&self) -> bool {
        self.stopwatch.runs() && self.timing.is_none()
    }

    /// Returns the device's fault if there is one, otherwise an error with the given message.
    pub(super) fn device_error(&self, message: &str) -> Error {
        self.fault_or(ErrorKind::Device { message: message.to_owned() }.into())
    }

    /// Returns the device's fault if there is one, because the fault is then the cause of `error`. Otherwise returns
    /// `error`.
    pub(super) fn fault_or(&self, error: Error) -> Error {
        self.faults.ask(&self.device).err().unwrap_or(error)
    }
}
