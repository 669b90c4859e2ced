//! Records dispatches and copies in a list, then encodes and submits them together. A submission contains at most about
//! 100 ms of work, because operating systems reset a device that is busy for too long. A submission exceeds this limit
//! only if a single dispatch needs longer. It also ends if the buffer for the uniforms or the staging memory for
//! uploads is full. At most three submissions are in flight. A dispatch has at most as many workgroups as the adapter
//! allows, which is 65,535 on most.

use super::Buffer;
use super::buffer::{Bound, Element};
use super::core::Core;
use super::faults::scoped;
use super::kernel::Kernel;
use super::pipelines::Pipeline;
use super::pool::{Lease, Usage};
use super::read::Read;
use super::shader::Overrides;
use super::staging::{STAGING, Staging};
use super::submit::{Command, submit};
use crate::error::{Error, ErrorKind, Result};
use crate::shape::to_u32;
use std::collections::VecDeque;
use std::sync::{Arc, MutexGuard};

/// The maximum estimated duration of one submission in seconds, well under the 2 s after which Windows resets a device.
const SUBMISSION_SECONDS: f64 = 0.1;
/// The maximum number of submissions in flight while another one is recorded. One of them runs, and two wait.
const IN_FLIGHT: usize = 3;
/// The maximum number of bytes staged in one submission. Together with [`IN_FLIGHT`], this bounds the size of the ring.
const STAGED: u64 = 8 << 20;
/// The size in bytes of the buffer for the uniforms of one submission.
const UNIFORMS: u64 = 64 << 10;

/// The number of workgroups of a dispatch. The workgroup size is stated in the WGSL.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Grid {
    /// The number of workgroups along x.
    Workgroups(u32),
    /// The number of invocations, from which the number of workgroups along x is computed. If one dispatch cannot have
    /// enough workgroups, the maximum number of workgroups runs, and each invocation of the kernel must loop with a
    /// stride to do the work of the missing invocations.
    Invocations(u32),
}

/// A range of consecutive workgroups, which one dispatch runs as a part of some larger work. [`Recorder::ranges`]
/// creates these ranges.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DispatchRange {
    /// The index of the first workgroup, counted from the start of the entire work.
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// The number of operations of all workgroups of the range.
    pub(crate) flops: f64,
}

impl DispatchRange {
    /// Returns the index one past the last workgroup.
    pub(crate) fn end(&self) -> u32 {
        self.first + self.count
    }

    /// Returns the grid that runs the workgroups of the range.
    pub(crate) fn grid(&self) -> Grid {
        Grid::Workgroups(self.count)
    }
}

/// The work that is recorded but not yet submitted. A recording keeps the buffers that it uses alive.
#[derive(Debug)]
pub(super) struct Recording {
    commands: Vec<Command>,
    uniforms: Vec<u8>,
    uniform_buffer: Option<Arc<Lease>>,
    seconds: f64,
    staged: u64,
    staging: Staging,
    in_flight: VecDeque<wgpu::SubmissionIndex>,
}

impl Recording {
    pub(super) fn new(device: &wgpu::Device) -> Self {
        Self {
            commands: Vec::new(),
            uniforms: Vec::new(),
            uniform_buffer: None,
            seconds: 0.0,
            staged: 0,
            staging: Staging::new(device),
            in_flight: VecDeque::new(),
        }
    }
}

/// Exclusive access to a device's open recording.
#[derive(Debug)]
pub(crate) struct Recorder<'a> {
    core: &'a Core,
    open: MutexGuard<'a, Recording>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(core: &'a Core, open: MutexGuard<'a, Recording>) -> Self {
        Self { core, open }
    }

    /// Returns an array of `len` elements with undefined content.
    pub(crate) fn array<T: Element>(&mut self, len: usize) -> Result<Buffer<T>> {
        self.with_room(|core| Buffer::lend(&core.pool, len))
    }

    /// Returns what `lend` borrows from the pool. If the pool has no room, submits the recording and tries again. The
    /// submission frees the buffers that only the recording keeps alive, including those of operations that failed
    /// before they were complete.
    fn with_room<L>(&mut self, lend: impl Fn(&Core) -> Result<L>) -> Result<L> {
        match lend(self.core) {
            Err(error) if error.is_out_of_memory() && !self.open.commands.is_empty() => {
                self.flush()?;
                lend(self.core)
            }
            other => other,
        }
    }

    /// Returns an array that contains `data`. The call copies the data into staging memory. The copy from there to the
    /// array is recorded, and runs in the order of the recording.
    pub(crate) fn upload<T: Element>(&mut self, data: &[T]) -> Result<Buffer<T>> {
        let buffer = self.array(data.len())?;
        let mut offset = 0;
        for chunk in bytemuck::cast_slice::<T, u8>(data).chunks(to_usize(STAGING)) {
            if self.open.staged + chunk.len() as u64 > STAGED {
                self.flush()?;
            }
            self.stage(chunk, &buffer.lease, offset, false)?;
            offset += chunk.len() as u64;
        }
        Ok(buffer)
    }

    /// Copies bytes into the staging ring and records the copy from there into `to`. If `first` is true, this copy
    /// becomes the first command of the recording, otherwise the last.
    fn stage(&mut self, bytes: &[u8], to: &Arc<Lease>, to_offset: u64, first: bool) -> Result<()> {
        self.core.faults.check()?;
        let began = self.core.stopwatch.begin();
        let open = &mut *self.open;
        if let Some(copy) = open.staging.put(self.core, bytes, to, to_offset)? {
            open.commands.insert(if first { 0 } else { open.commands.len() }, copy);
        }
        self.core.stopwatch.end("upload", "", began);
        self.open.staged += bytes.len() as u64;
        Ok(())
    }

    /// Records one dispatch of the variant of `kernel` that `overrides` selects. `flops` is the estimated number of
    /// operations.
    pub(crate) fn dispatch(
        &mut self,
        kernel: &dyn Kernel,
        overrides: Overrides<'_>,
        grid: Grid,
        flops: f64,
    ) -> Result<()> {
        self.core.faults.check()?;
        let seconds = flops / self.core.adapter.rate;
        let full = self.open.uniforms.len() as u64 + self.uniform_stride() > UNIFORMS;
        if full || (self.open.seconds + seconds > SUBMISSION_SECONDS && !self.open.commands.is_empty()) {
            self.flush()?;
        }
        let pipeline = self.core.pipelines.get(kernel.declaration(), overrides, &self.core.adapter)?;
        let allowed = self.core.adapter.limits.workgroups_per_dimension;
        let workgroups = match grid {
            Grid::Workgroups(x) => x,
            Grid::Invocations(x) => x.div_ceil(pipeline.workgroup_size[0]).min(allowed),
        };
        if workgroups > allowed {
            return Err(limit(pipeline.name, "workgroups of one dispatch", workgroups.into(), allowed.into()));
        }
        if workgroups == 0 {
            return Ok(());
        }
        let slots = kernel.slots();
        if slots.iter().any(|slot| matches!(slot.bound, Bound::Uniform(_))) {
            // The uniform buffer is borrowed before the timed stage begins, because borrowing it may flush, and the
            // time of a flush must not be counted in this stage.
            self.uniform_lease()?;
        }
        let began = self.core.stopwatch.begin();
        let mut uniform_offset = None;
        let mut bytes_bound = 0_u64;
        let mut bound = Vec::with_capacity(slots.len());
        for slot in &slots {
            let number = pipeline.bindings.iter().find(|(name, _)| name == slot.name).map_or(0, |(_, n)| *n);
            let (lease, bytes) = match slot.bound {
                Bound::Uniform(bytes) => {
                    let (lease, offset) = self.push_uniform(bytes)?;
                    uniform_offset = Some(offset);
                    (lease, bytes.len() as u64)
                }
                Bound::Buffer(lease, bytes) => {
                    bytes_bound += bytes;
                    (Arc::clone(lease), bytes)
                }
            };
            let allowed = self.core.adapter.limits.storage_binding;
            if bytes > allowed {
                return Err(limit(pipeline.name, slot.name, bytes, allowed));
            }
            bound.push((number, lease, bytes));
        }
        let bind_group = self.bind_group(&pipeline, &bound);
        let keep = bound.into_iter().map(|(_, lease, _)| lease).collect();
        let (name, work) = (pipeline.name, (flops, bytes_bound));
        let dispatch = Command::Dispatch { pipeline, bind_group, uniform_offset, workgroups, work, _keep: keep };
        self.open.commands.push(dispatch);
        self.open.seconds += seconds;
        self.core.stopwatch.end("record", name, began);
        Ok(())
    }

    /// Splits `count` workgroups of about `flops` operations each into ranges that are small enough for one dispatch.
    pub(crate) fn ranges(&self, count: u32, flops: f64) -> impl Iterator<Item = DispatchRange> + use<> {
        self.ranges_of(u32::MAX, count, flops)
    }

    /// Splits the workgroups as [`Recorder::ranges`] does, with at most `most` workgroups in each range.
    pub(crate) fn ranges_of(&self, most: u32, count: u32, flops: f64) -> impl Iterator<Item = DispatchRange> + use<> {
        let by_time = (SUBMISSION_SECONDS * self.core.adapter.rate / flops.max(1.0)).clamp(1.0, 65_535.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 1..=65535")]
        let by_time = (by_time as u32).min(self.core.adapter.limits.workgroups_per_dimension);
        let most = most.clamp(1, by_time);
        (0..count).step_by(most as usize).map(move |first| {
            let count = most.min(count - first);
            DispatchRange { first, count, flops: flops * f64::from(count) }
        })
    }

    fn bind_group(&self, pipeline: &Arc<Pipeline>, bound: &[(u32, Arc<Lease>, u64)]) -> wgpu::BindGroup {
        let key = (Arc::as_ptr(pipeline) as usize, bound.iter().map(|(_, lease, bytes)| (lease.id, *bytes)).collect());
        self.core.pool.bind_group(key, || {
            let entries: Vec<_> = bound
                .iter()
                .map(|(binding, lease, bytes)| wgpu::BindGroupEntry {
                    binding: *binding,
                    resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                        buffer: &lease.raw,
                        offset: 0,
                        size: wgpu::BufferSize::new(*bytes),
                    }),
                })
                .collect();
            self.core.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(pipeline.name),
                layout: &pipeline.layout,
                entries: &entries,
            })
        })
    }

    fn uniform_stride(&self) -> u64 {
        u64::from(self.core.adapter.limits.uniform_alignment.max(256))
    }

    /// Returns the buffer of this submission's uniforms.
    fn uniform_lease(&mut self) -> Result<Arc<Lease>> {
        if let Some(lease) = &self.open.uniform_buffer {
            return Ok(Arc::clone(lease));
        }
        let lease = Arc::new(self.with_room(|core| core.pool.lend(UNIFORMS, Usage::Uniform))?);
        self.open.uniform_buffer = Some(Arc::clone(&lease));
        Ok(lease)
    }

    /// Appends `bytes` to the uniforms of this submission. Returns the uniform buffer and the offset of `bytes` in it.
    fn push_uniform(&mut self, bytes: &[u8]) -> Result<(Arc<Lease>, u32)> {
        let lease = self.uniform_lease()?;
        let offset = self.open.uniforms.len();
        let end = (offset + bytes.len()).next_multiple_of(to_usize(self.uniform_stride()));
        self.open.uniforms.extend_from_slice(bytes);
        self.open.uniforms.resize(end, 0);
        Ok((lease, to_u32(offset)))
    }

    /// Submits the recorded work.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.core.faults.check()?;
        if self.open.commands.is_empty() {
            // Any uniforms present are left over from dispatches that failed while they were recorded.
            self.open.uniforms.clear();
            return Ok(());
        }
        if let Some(lease) = self.open.uniform_buffer.clone() {
            let uniforms = std::mem::take(&mut self.open.uniforms);
            let staged = self.stage(&uniforms, &lease, 0, true);
            if staged.is_err() {
                // The recording is kept so that a later flush can try again.
                self.open.uniforms = uniforms;
                return staged;
            }
            self.open.uniform_buffer = None;
        }
        let commands = std::mem::take(&mut self.open.commands);
        (self.open.seconds, self.open.staged) = (0.0, 0);
        let core = self.core;
        let staging = &mut self.open.staging;
        let began = core.stopwatch.begin();
        let (submission, caught) = scoped(&core.device, || {
            staging.finish();
            let submission = submit(core, &commands);
            staging.recall();
            submission
        });
        core.stopwatch.end(if core.by_wall_clock() { "submit and wait" } else { "submit" }, "", began);
        if let Some(error) = caught {
            // The results of the refused submission do not exist, so no array on this device can be trusted any more.
            core.faults.set_lost(format!("a submission was refused: {error}"));
        }
        self.open.in_flight.push_back(submission);
        while self.open.in_flight.len() > IN_FLIGHT {
            self.wait_oldest()?;
        }
        // The poll returns finished staging buffers to the ring.
        let _ = core.device.poll(wgpu::PollType::Poll);
        core.faults.check()
    }

    /// Waits until all submitted work is done.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn wait(&mut self) -> Result<()> {
        while !self.open.in_flight.is_empty() {
            self.wait_oldest()?;
        }
        self.core.faults.check()
    }

    fn wait_oldest(&mut self) -> Result<()> {
        let submission_index = self.open.in_flight.pop_front();
        let began = self.core.stopwatch.begin();
        let polled = self.core.device.poll(wgpu::PollType::Wait { submission_index, timeout: None });
        self.core.stopwatch.end("wait", "", began);
        polled.map(drop).map_err(|e| self.core.device_error(&e.to_string()))
    }

    /// Submits the recorded work and starts to read `buffer` back, without waiting.
    pub(crate) fn read<T: Element>(&mut self, buffer: &Buffer<T>) -> Result<Read<T>> {
        let lease = Arc::new(self.with_room(|core| core.pool.lend(buffer.bytes(), Usage::Readback))?);
        self.open.commands.push(Command::Copy {
            from: buffer.lease.raw.clone(),
            from_offset: 0,
            to: Arc::clone(&lease),
            to_offset: 0,
            bytes: buffer.bytes(),
            _keep: Some(Arc::clone(&buffer.lease)),
        });
        self.flush()?;
        Ok(Read::begin(self.core, lease, buffer.len()))
    }
}

fn limit(kernel: &str, what: &str, needed: u64, allowed: u64) -> Error {
    ErrorKind::Limit { what: format!("{what} of kernel {kernel}"), needed, allowed }.into()
}

/// Converts a number of bytes that is small enough for every address space.
fn to_usize(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
