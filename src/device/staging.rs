//! Uploads to the device. Natively, bytes are written to a ring of mapped buffers, from which the recording copies
//! them. A browser maps buffers only asynchronously, so there the queue copies the bytes itself.

use super::core::Core;
#[cfg(not(target_arch = "wasm32"))]
use super::faults::{error_of, scoped};
use super::pool::Lease;
use super::submit::Command;
use crate::error::Result;
use std::sync::Arc;

/// The size in bytes of one staging buffer of the ring, and the maximum number of bytes that are staged at once.
pub(super) const STAGING: u64 = 4 << 20;

/// The memory from which uploads are copied.
#[derive(Debug)]
pub(super) struct Staging {
    #[cfg(not(target_arch = "wasm32"))]
    belt: wgpu::util::StagingBelt,
}

#[cfg(not(target_arch = "wasm32"))]
impl Staging {
    pub(super) fn new(device: &wgpu::Device) -> Self {
        Self { belt: wgpu::util::StagingBelt::new(device.clone(), STAGING) }
    }

    /// Copies bytes into the ring, and returns the command that copies them from there into `to`.
    pub(super) fn put(
        &mut self,
        core: &Core,
        bytes: &[u8],
        to: &Arc<Lease>,
        to_offset: u64,
    ) -> Result<Option<Command>> {
        let Some(size) = wgpu::BufferSize::new(bytes.len() as u64) else { return Ok(None) };
        let (staged, caught) = scoped(&core.device, || {
            let slice = self.belt.allocate(size, wgpu::BufferSize::MIN);
            slice.get_mapped_range_mut().map(|mut view| {
                view.copy_from_slice(bytes);
                (slice.buffer().clone(), slice.offset())
            })
        });
        let (from, from_offset) = match (caught, staged) {
            (Some(error), _) => {
                self.renew(core);
                return Err(core.fault_or(error_of(&error, size.get())));
            }
            (None, Err(error)) => {
                self.renew(core);
                return Err(core.device_error(&format!("the staging ring cannot be written: {error}")));
            }
            (None, Ok(staged)) => staged,
        };
        Ok(Some(Command::Copy { from, from_offset, to: Arc::clone(to), to_offset, bytes: size.get(), _keep: None }))
    }

    /// Replaces the ring, which would keep a buffer that could not be created and lend it again. What is written stays
    /// valid: its commands own their buffers, which are unmapped here.
    fn renew(&mut self, core: &Core) {
        let ((), _) = scoped(&core.device, || self.belt.finish());
        self.belt = wgpu::util::StagingBelt::new(core.device.clone(), STAGING);
    }

    /// Ends the writing, before the commands that copy from the ring are submitted.
    pub(super) fn finish(&mut self) {
        self.belt.finish();
    }

    /// Lets the ring use its buffers again as soon as the submitted work is done.
    pub(super) fn recall(&mut self) {
        self.belt.recall();
    }
}

#[cfg(target_arch = "wasm32")]
#[expect(clippy::unused_self, reason = "natively, there is a ring")]
impl Staging {
    pub(super) fn new(_: &wgpu::Device) -> Self {
        Self {}
    }

    /// Has the queue copy the bytes, before work that is recorded but not yet submitted. That is safe, because a buffer
    /// is lent only after all its recorded uses are submitted.
    pub(super) fn put(
        &mut self,
        core: &Core,
        bytes: &[u8],
        to: &Arc<Lease>,
        to_offset: u64,
    ) -> Result<Option<Command>> {
        core.queue.write_buffer(&to.raw, to_offset, bytes);
        Ok(None)
    }

    pub(super) fn finish(&mut self) {}

    pub(super) fn recall(&mut self) {}
}
