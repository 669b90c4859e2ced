//! Recorded commands, as the queue executes them.

use super::bind::Slot;
use super::buffer::BufferInner;
use super::pipeline::PipelineInner;
use super::query::QueryInner;
use std::sync::Arc;

/// A command. It keeps alive what it uses.
#[derive(Debug)]
pub(crate) enum Command {
    Dispatch(Dispatch),
    Copy { source: Arc<BufferInner>, source_offset: u64, target: Arc<BufferInner>, offset: u64, size: u64 },
    Clear { buffer: Arc<BufferInner>, offset: u64, size: u64 },
    Timestamp { queries: Arc<QueryInner>, index: u32 },
    Resolve { queries: Arc<QueryInner>, first: u32, count: u32, target: Arc<BufferInner>, offset: u64 },
}

/// A dispatch with everything that it binds.
#[derive(Debug)]
pub(crate) struct Dispatch {
    pub(crate) pipeline: Arc<PipelineInner>,
    /// The bound ranges, each with the numbers of its group and binding.
    pub(crate) bound: Vec<(u32, u32, Slot)>,
    pub(crate) size: Size,
}

/// The numbers of workgroups of a dispatch.
#[derive(Debug)]
pub(crate) enum Size {
    Direct([u32; 3]),
    /// In a buffer, at an offset.
    Indirect(Arc<BufferInner>, u64),
}

impl Command {
    /// Calls `visit` for each buffer that the command uses.
    pub(crate) fn buffers(&self, mut visit: impl FnMut(&Arc<BufferInner>)) {
        match self {
            Self::Dispatch(Dispatch { bound, size, .. }) => {
                bound.iter().for_each(|(_, _, slot)| visit(&slot.buffer));
                if let Size::Indirect(buffer, _) = size {
                    visit(buffer);
                }
            }
            Self::Copy { source, target, .. } => {
                visit(source);
                visit(target);
            }
            Self::Clear { buffer, .. } => visit(buffer),
            Self::Resolve { target, .. } => visit(target),
            Self::Timestamp { .. } => {}
        }
    }

    /// Returns the query set that the command uses.
    pub(crate) fn queries(&self) -> Option<&Arc<QueryInner>> {
        match self {
            Self::Timestamp { queries, .. } | Self::Resolve { queries, .. } => Some(queries),
            _ => None,
        }
    }
}
