//! An opened device and what goes with it: what recording and reading work with.

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
    /// Timestamps, where they are asked for and there are any.
    pub(super) timing: Option<Timing>,
    pub(super) stopwatch: Stopwatch,
}

impl Core {
    /// Whether dispatches are timed by the host's clock.
    pub(super) fn by_wall_clock(&self) -> bool {
        self.stopwatch.runs() && self.timing.is_none()
    }
}
