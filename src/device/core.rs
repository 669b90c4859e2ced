//! An opened device and the state that belongs to it, which recording and reading use.

use super::adapter::Adapter;
use super::faults::Faults;
use super::pipelines::Pipelines;
use super::pool::Pool;
use super::timing::Timing;
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
    /// The timestamps, if they are requested and the adapter has them.
    pub(super) timing: Option<Timing>,
    pub(super) stopwatch: Stopwatch,
}

impl Core {
    /// Returns whether the host's clock times the dispatches.
    pub(super) fn by_wall_clock(&self) -> bool {
        self.stopwatch.runs() && self.timing.is_none()
    }
}
