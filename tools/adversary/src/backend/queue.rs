//! The queue.

use super::buffer::{Buffer, BufferInner, StagingBuffer};
use super::command::Command;
use super::encoder::CommandBuffer;
use super::errors::{Outcome, ensure, invalid};
use super::shared::Shared;
use super::timeline::Work;
use super::unsupported::Unsupported;
use std::sync::{Arc, PoisonError};
use wgpu::custom::{
    BoxSubmittedWorkDoneCallback, DispatchBlas, DispatchBuffer, DispatchCommandBuffer, DispatchQueueWriteBuffer,
    DispatchSurfaceOutputDetail, QueueInterface,
};
use wgpu::{BufferAddress, BufferSize, BufferUsages};

/// What [`wgpu::Queue`] holds.
#[derive(Debug)]
pub(crate) struct Queue(pub(crate) Arc<Shared>);

impl Queue {
    fn check_write(&self, buffer: &DispatchBuffer, offset: u64, size: u64) -> Outcome<Arc<BufferInner>> {
        let buffer = Buffer::get(&self.0, buffer.as_custom())?;
        buffer.check_usage(BufferUsages::COPY_DST)?;
        buffer.check_copy(offset, size)?;
        buffer.check_submittable()?;
        Ok(Arc::clone(buffer))
    }

    fn write(&self, buffer: &DispatchBuffer, offset: u64, bytes: &[u8]) {
        let checked = self.0.call("Queue::write_buffer", None, || self.check_write(buffer, offset, bytes.len() as u64));
        if let Some(buffer) = checked.filter(|_| !bytes.is_empty()) {
            let (memory, bytes) = (Arc::clone(&buffer.memory), bytes.to_vec());
            buffer.used_by(self.0.submit(Work::Write { memory, offset, bytes }));
        }
    }

    /// Checks the command buffers, and returns their commands.
    fn check_submission(&self, buffers: &[DispatchCommandBuffer]) -> Outcome<Vec<Command>> {
        let mut all = Vec::new();
        for buffer in buffers {
            let Some(buffer) = buffer.as_custom::<CommandBuffer>() else {
                return invalid("a command buffer is of another adapter");
            };
            ensure!(Arc::ptr_eq(&buffer.shared, &self.0), "a command buffer is of another device");
            match buffer.commands.lock().unwrap_or_else(PoisonError::into_inner).take() {
                Some(commands) => all.extend(commands),
                None => return invalid("a command buffer is invalid"),
            }
        }
        for command in &all {
            let mut checked = Ok(());
            command.buffers(|buffer| checked = checked.clone().and_then(|()| buffer.check_submittable()));
            checked?;
            command.queries().map_or(Ok(()), |queries| queries.check_submittable())?;
        }
        Ok(all)
    }
}

impl QueueInterface for Queue {
    fn write_buffer(&self, buffer: &DispatchBuffer, offset: BufferAddress, data: &[u8]) {
        self.write(buffer, offset, data);
    }

    fn create_staging_buffer(&self, size: BufferSize) -> Option<DispatchQueueWriteBuffer> {
        let size = usize::try_from(size.get()).ok()?;
        Some(DispatchQueueWriteBuffer::custom(StagingBuffer(vec![0; size])))
    }

    fn validate_write_buffer(&self, buffer: &DispatchBuffer, offset: BufferAddress, size: BufferSize) -> Option<()> {
        self.0.call("Queue::write_buffer_with", None, || self.check_write(buffer, offset, size.get())).map(drop)
    }

    fn write_staging_buffer(
        &self,
        buffer: &DispatchBuffer,
        offset: BufferAddress,
        staging_buffer: &DispatchQueueWriteBuffer,
    ) {
        if let Some(staging) = staging_buffer.as_custom::<StagingBuffer>() {
            self.write(buffer, offset, &staging.0);
        }
    }

    fn write_texture(
        &self,
        _: wgpu::TexelCopyTextureInfo<'_>,
        _: &[u8],
        _: wgpu::TexelCopyBufferLayout,
        _: wgpu::Extent3d,
    ) {
        self.0.unsupported("Queue::write_texture", "textures");
    }

    fn submit(&self, command_buffers: &mut dyn Iterator<Item = DispatchCommandBuffer>) -> u64 {
        let buffers: Vec<_> = command_buffers.collect();
        let commands = self.0.call("Queue::submit", None, || self.check_submission(&buffers)).unwrap_or_default();
        let mut used = Vec::new();
        commands.iter().for_each(|command| command.buffers(|buffer| used.push(Arc::clone(buffer))));
        let index = self.0.submit(Work::Commands(commands));
        used.iter().for_each(|buffer| buffer.used_by(index));
        index
    }

    fn get_timestamp_period(&self) -> f32 {
        self.0.timestamp_period()
    }

    fn on_submitted_work_done(&self, callback: BoxSubmittedWorkDoneCallback) {
        self.0.timeline.on_done(callback);
    }

    fn compact_blas(&self, _: &DispatchBlas) -> (Option<u64>, DispatchBlas) {
        self.0.unsupported("Queue::compact_blas", "ray tracing");
        (None, DispatchBlas::custom(Unsupported))
    }

    fn present(&self, _: &DispatchSurfaceOutputDetail) {
        self.0.unsupported("Queue::present", "surfaces");
    }
}
