//! Command encoders and command buffers. As in WebGPU, what is wrong with a command is reported when the encoder is
//! finished, and makes the command buffer invalid.

use super::buffer::{Buffer, BufferInner};
use super::command::Command;
use super::errors::{Failure, Outcome, ensure, invalid};
use super::pass::ComputePass;
use super::query::QuerySet;
use super::shared::Shared;
use super::unsupported::Unsupported;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wgpu::custom::{
    CommandBufferInterface, CommandEncoderInterface, DispatchBuffer, DispatchCommandBuffer, DispatchComputePass,
    DispatchQuerySet, DispatchRenderPass, DispatchTexture,
};
use wgpu::{BufferAddress, BufferUsages, Extent3d, Features, TexelCopyBufferInfo, TexelCopyTextureInfo};

/// The commands of an encoder, to which its passes add.
#[derive(Debug, Default)]
pub(crate) struct Recording(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    commands: Vec<Command>,
    /// The first failure, and the call that failed.
    failed: Option<(&'static str, Failure)>,
    in_pass: bool,
    debug_groups: u32,
}

impl Recording {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn push(&self, command: Command) {
        self.state().commands.push(command);
    }

    /// Keeps the failure of a call, if it is the first.
    pub(crate) fn note(&self, call: &'static str, outcome: Outcome<()>) {
        if let Err(failure) = outcome {
            self.state().failed.get_or_insert((call, failure));
        }
    }

    pub(crate) fn begin_pass(&self) -> Outcome<()> {
        let open = std::mem::replace(&mut self.state().in_pass, true);
        ensure!(!open, "another pass is still open");
        Ok(())
    }

    pub(crate) fn end_pass(&self) {
        self.state().in_pass = false;
    }

    fn check_outside_passes(&self) -> Outcome<()> {
        ensure!(!self.state().in_pass, "a pass is still open");
        Ok(())
    }
}

/// What [`wgpu::CommandEncoder`] holds.
#[derive(Debug)]
pub(crate) struct CommandEncoder {
    shared: Arc<Shared>,
    label: String,
    recording: Arc<Recording>,
}

/// What [`wgpu::CommandBuffer`] holds. An invalid buffer has nothing within.
#[derive(Debug)]
pub(crate) struct CommandBuffer {
    pub(crate) shared: Arc<Shared>,
    pub(crate) commands: Mutex<Option<Vec<Command>>>,
}

impl CommandBufferInterface for CommandBuffer {}

impl CommandEncoder {
    pub(crate) fn create(shared: &Arc<Shared>, descriptor: &wgpu::CommandEncoderDescriptor<'_>) -> Self {
        let recording = Arc::new(Recording::default());
        // On a lost device, an encoder is there all the same, and is invalid.
        recording.note("Device::create_command_encoder", shared.enter("Device::create_command_encoder"));
        Self { shared: Arc::clone(shared), label: descriptor.label.unwrap_or_default().to_owned(), recording }
    }

    /// Records the command that `make` makes, unless the encoder is in a pass.
    fn record(&self, call: &'static str, make: impl FnOnce() -> Outcome<Command>) {
        let made = self.recording.check_outside_passes().and_then(|()| make());
        self.recording.note(call, made.map(|command| self.recording.push(command)));
    }

    fn buffer(&self, buffer: &DispatchBuffer, usage: BufferUsages) -> Outcome<Arc<BufferInner>> {
        let inner = Buffer::get(&self.shared, buffer.as_custom())?;
        inner.check_usage(usage)?;
        Ok(Arc::clone(inner))
    }

    fn unsupported(&self, call: &'static str, what: &str) {
        self.recording.note(call, invalid(format!("this adapter computes only: it has no {what}")));
    }
}

impl CommandEncoderInterface for CommandEncoder {
    fn copy_buffer_to_buffer(
        &self,
        source: &DispatchBuffer,
        source_offset: BufferAddress,
        destination: &DispatchBuffer,
        destination_offset: BufferAddress,
        copy_size: Option<BufferAddress>,
    ) {
        self.record("CommandEncoder::copy_buffer_to_buffer", || {
            let source = self.buffer(source, BufferUsages::COPY_SRC)?;
            let target = self.buffer(destination, BufferUsages::COPY_DST)?;
            ensure!(!Arc::ptr_eq(&source, &target), "a buffer cannot be copied to itself");
            let size = copy_size.unwrap_or(source.size.saturating_sub(source_offset));
            source.check_copy(source_offset, size)?;
            target.check_copy(destination_offset, size)?;
            Ok(Command::Copy { source, source_offset, target, offset: destination_offset, size })
        });
    }

    fn copy_buffer_to_texture(&self, _: TexelCopyBufferInfo<'_>, _: TexelCopyTextureInfo<'_>, _: Extent3d) {
        self.unsupported("CommandEncoder::copy_buffer_to_texture", "textures");
    }

    fn copy_texture_to_buffer(&self, _: TexelCopyTextureInfo<'_>, _: TexelCopyBufferInfo<'_>, _: Extent3d) {
        self.unsupported("CommandEncoder::copy_texture_to_buffer", "textures");
    }

    fn copy_texture_to_texture(&self, _: TexelCopyTextureInfo<'_>, _: TexelCopyTextureInfo<'_>, _: Extent3d) {
        self.unsupported("CommandEncoder::copy_texture_to_texture", "textures");
    }

    fn begin_compute_pass(&self, descriptor: &wgpu::ComputePassDescriptor<'_>) -> DispatchComputePass {
        DispatchComputePass::custom(ComputePass::begin(&self.shared, &self.recording, descriptor))
    }

    fn begin_render_pass(&self, _: &wgpu::RenderPassDescriptor<'_>) -> DispatchRenderPass {
        self.unsupported("CommandEncoder::begin_render_pass", "rendering");
        DispatchRenderPass::custom(Unsupported)
    }

    fn finish(&mut self) -> DispatchCommandBuffer {
        self.recording.note("CommandEncoder::finish", self.recording.check_outside_passes());
        let state = std::mem::take(&mut *self.recording.state());
        let (call, outcome) = match state.failed {
            Some((call, failure)) => (call, Err(failure)),
            None if state.debug_groups > 0 => ("CommandEncoder::finish", invalid("a debug group is still open")),
            None => ("CommandEncoder::finish", self.shared.enter("CommandEncoder::finish").map(|()| state.commands)),
        };
        let commands = Mutex::new(self.shared.settle(call, Some(&self.label), outcome));
        DispatchCommandBuffer::custom(CommandBuffer { shared: Arc::clone(&self.shared), commands })
    }

    fn clear_texture(&self, _: &DispatchTexture, _: &wgpu::ImageSubresourceRange) {
        self.unsupported("CommandEncoder::clear_texture", "textures");
    }

    fn clear_buffer(&self, buffer: &DispatchBuffer, offset: BufferAddress, size: Option<BufferAddress>) {
        self.record("CommandEncoder::clear_buffer", || {
            let buffer = self.buffer(buffer, BufferUsages::COPY_DST)?;
            let size = size.unwrap_or(buffer.size.saturating_sub(offset));
            buffer.check_copy(offset, size)?;
            Ok(Command::Clear { buffer, offset, size })
        });
    }

    fn insert_debug_marker(&self, _: &str) {}

    fn push_debug_group(&self, _: &str) {
        self.recording.state().debug_groups += 1;
    }

    fn pop_debug_group(&self) {
        let left = self.recording.state().debug_groups.checked_sub(1);
        match left {
            Some(left) => self.recording.state().debug_groups = left,
            None => self.recording.note("CommandEncoder::pop_debug_group", invalid("no debug group is open")),
        }
    }

    fn write_timestamp(&self, query_set: &DispatchQuerySet, query_index: u32) {
        self.record("CommandEncoder::write_timestamp", || {
            self.shared.require(Features::TIMESTAMP_QUERY_INSIDE_ENCODERS)?;
            let queries = Arc::clone(QuerySet::get(&self.shared, query_set.as_custom(), query_index, 1)?);
            Ok(Command::Timestamp { queries, index: query_index })
        });
    }

    fn resolve_query_set(
        &self,
        query_set: &DispatchQuerySet,
        first_query: u32,
        query_count: u32,
        destination: &DispatchBuffer,
        destination_offset: BufferAddress,
    ) {
        self.record("CommandEncoder::resolve_query_set", || {
            let queries = QuerySet::get(&self.shared, query_set.as_custom(), first_query, query_count)?;
            let target = self.buffer(destination, BufferUsages::QUERY_RESOLVE)?;
            let alignment = wgpu::QUERY_RESOLVE_BUFFER_ALIGNMENT;
            let aligned = destination_offset.is_multiple_of(alignment);
            ensure!(aligned, "the offset {destination_offset} is no multiple of {alignment}");
            target.check_copy(destination_offset, u64::from(query_count) * u64::from(wgpu::QUERY_SIZE))?;
            let (queries, first, count) = (Arc::clone(queries), first_query, query_count);
            Ok(Command::Resolve { queries, first, count, target, offset: destination_offset })
        });
    }

    fn mark_acceleration_structures_built<'a>(
        &self,
        _: &mut dyn Iterator<Item = &'a wgpu::Blas>,
        _: &mut dyn Iterator<Item = &'a wgpu::Tlas>,
    ) {
        self.unsupported("CommandEncoder::mark_acceleration_structures_built", "ray tracing");
    }

    fn build_acceleration_structures<'a>(
        &self,
        _: &mut dyn Iterator<Item = &'a wgpu::BlasBuildEntry<'a>>,
        _: &mut dyn Iterator<Item = &'a wgpu::Tlas>,
    ) {
        self.unsupported("CommandEncoder::build_acceleration_structures", "ray tracing");
    }

    fn transition_resources<'a>(
        &mut self,
        _: &mut dyn Iterator<Item = wgpu::BufferTransition<&'a DispatchBuffer>>,
        _: &mut dyn Iterator<Item = wgpu::TextureTransition<&'a DispatchTexture>>,
    ) {
    }
}
