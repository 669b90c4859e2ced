//! An opened device and what goes with it: what recording and reading work with.

use super::adapter::Adapter;
use super::faults::Faults;
use super::pipelines::Pipelines;
use super::pool::Pool;
use super::timing::Timing;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Core {
    pub(super) adapter: Adapter,
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) faults: Arc<Faults>,
    pub(super) pool: Arc<Pool>,
    pub(super) pipelines: Pipelines,
    pub(super) timing: Option<Timing>,
}
