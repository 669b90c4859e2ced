//! An opened device with the state that recording and reading share.

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
    /// The timestamp queries, if timestamps were requested and the adapter supports them.
    pub(super) timing: Option<Timing>,
    pub(super) stopwatch: Stopwatch,
}

impl Core {
    /// Returns whether dispatches are timed with the host's clock.
    pub(super) fn by_wall_clock(&self) -> bool {
        self.stopwatch.runs() && self.timing.is_none()
    }
}
