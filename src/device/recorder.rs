//! Work as a list: dispatches and copies are recorded, then encoded and submitted together. A submission is cut before
//! it grows past about 100 ms of work (because of watchdogs), and only a few are in flight at once.

use super::Buffer;
use super::buffer::{Bound, Element};
use super::core::Core;
use super::faults::{error_of, scoped};
use super::kernel::Kernel;
use super::pipelines::Pipeline;
use super::pool::{Lease, Usage};
use super::read::Read;
use super::shader::Overrides;
use super::submit::{Command, submit};
use crate::error::{Error, ErrorKind, Result};
use crate::shape::to_u32;
use std::collections::VecDeque;
use std::sync::{Arc, MutexGuard};
use wgpu::util::StagingBelt;

/// The estimated seconds of one submission, well under the 2 s after which Windows resets a device.
const SUBMISSION_SECONDS: f64 = 0.1;
/// The most submissions in flight while another one is recorded: one runs and two wait.
const IN_FLIGHT: usize = 3;
/// The bytes of one staging buffer of the upload ring.
const STAGING: u64 = 4 << 20;
/// The most bytes staged in one submission. Together with the submissions in flight, it bounds the ring.
const STAGED: u64 = 8 << 20;
/// The bytes of the uniforms of one submission.
const UNIFORMS: u64 = 64 << 10;

/// How much of a kernel runs. The workgroup size comes from the WGSL.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Grid {
    /// This many workgroups along x.
    Workgroups(u32),
    /// As many workgroups along x as cover this many invocations, or as many as one dispatch may
    /// have, in which case the kernel strides.
    Invocations(u32),
}

/// The units of work that one dispatch takes, see [`Recorder::ranges`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct DispatchRange {
    /// The first unit, counted from the start of the entire work.
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// The operations of all units of the range.
    pub(crate) flops: f64,
}

impl DispatchRange {
    /// Returns the unit after the last one.
    pub(crate) fn end(&self) -> u32 {
        self.first + self.count
    }

    /// Returns a grid of one workgroup per unit.
    pub(crate) fn grid(&self) -> Grid {
        Grid::Workgroups(self.count)
    }
}

/// What is recorded and not yet submitted. It keeps the buffers that it names alive.
#[derive(Debug)]
pub(super) struct Recording {
    commands: Vec<Command>,
    uniforms: Vec<u8>,
    uniform_buffer: Option<Arc<Lease>>,
    seconds: f64,
    staged: u64,
    belt: StagingBelt,
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
            belt: StagingBelt::new(device.clone(), STAGING),
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

    /// Returns an array of `len` elements. Its content is undefined.
    pub(crate) fn array<T: Element>(&mut self, len: usize) -> Result<Buffer<T>> {
        self.with_room(|core| Buffer::lend(&core.pool, len))
    }

    /// Returns what `lend` borrows from the pool. If there is no room, it submits the recording and tries again,
    /// because the recording keeps the buffers that it names alive, including those of operations that were given up.
    fn with_room<L>(&mut self, lend: impl Fn(&Core) -> Result<L>) -> Result<L> {
        match lend(self.core) {
            Err(error) if error.is_out_of_memory() && !self.open.commands.is_empty() => {
                self.flush()?;
                lend(self.core)
            }
            other => other,
        }
    }

    /// Returns an array that holds `data`. The data is staged now and copied on the device in the
    /// order of the recording.
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

    /// Copies bytes into the staging ring and records their copy into `to`, as the first command if
    /// `first`, else as the last.
    fn stage(&mut self, bytes: &[u8], to: &Arc<Lease>, to_offset: u64, first: bool) -> Result<()> {
        let Some(size) = wgpu::BufferSize::new(bytes.len() as u64) else { return Ok(()) };
        self.core.faults.check()?;
        let began = self.core.stopwatch.begin();
        let belt = &mut self.open.belt;
        let (staged, caught) = scoped(&self.core.device, || {
            let slice = belt.allocate(size, wgpu::BufferSize::MIN);
            slice.get_mapped_range_mut().map(|mut view| {
                view.copy_from_slice(bytes);
                (slice.buffer().clone(), slice.offset())
            })
        });
        if let Some(error) = caught {
            return Err(self.fault_or(error_of(&error, size.get())));
        }
        let (from, from_offset) =
            staged.map_err(|e| self.device_error(&format!("the staging ring cannot be written: {e}")))?;
        let to = Arc::clone(to);
        let copy = Command::Copy { from, from_offset, to, to_offset, bytes: size.get(), _keep: None };
        if first {
            self.open.commands.insert(0, copy);
        } else {
            self.open.commands.push(copy);
        }
        self.core.stopwatch.end("upload", "", began);
        self.open.staged += size.get();
        Ok(())
    }

    /// Records one dispatch, of about `flops` operations, of the variant of `kernel` that `overrides` selects.
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
            // The uniform buffer is lent before the timed stage begins, so that a flush for it is
            // not counted in the stage.
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

    /// Splits `count` units of about `flops` operations each into ranges that one dispatch may take,
    /// one workgroup per unit.
    pub(crate) fn ranges(&self, count: u32, flops: f64) -> impl Iterator<Item = DispatchRange> + use<> {
        self.ranges_of(u32::MAX, count, flops)
    }

    /// Does the same as [`Recorder::ranges`], with at most `most` units in each range.
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

    /// Appends to this submission's uniforms and returns their buffer and the offset in it.
    fn push_uniform(&mut self, bytes: &[u8]) -> Result<(Arc<Lease>, u32)> {
        let lease = self.uniform_lease()?;
        let offset = self.open.uniforms.len();
        let end = (offset + bytes.len()).next_multiple_of(to_usize(self.uniform_stride()));
        self.open.uniforms.extend_from_slice(bytes);
        self.open.uniforms.resize(end, 0);
        Ok((lease, to_u32(offset)))
    }

    /// Submits what is recorded.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.core.faults.check()?;
        if self.open.commands.is_empty() {
            // These are the uniforms of dispatches that were given up.
            self.open.uniforms.clear();
            return Ok(());
        }
        if let Some(lease) = self.open.uniform_buffer.clone() {
            let uniforms = std::mem::take(&mut self.open.uniforms);
            let staged = self.stage(&uniforms, &lease, 0, true);
            if staged.is_err() {
                // The recording is kept for a later try.
                self.open.uniforms = uniforms;
                return staged;
            }
            self.open.uniform_buffer = None;
        }
        let commands = std::mem::take(&mut self.open.commands);
        (self.open.seconds, self.open.staged) = (0.0, 0);
        let core = self.core;
        let belt = &mut self.open.belt;
        let began = core.stopwatch.begin();
        let (submission, caught) = scoped(&core.device, || {
            belt.finish();
            let submission = submit(core, &commands);
            belt.recall();
            submission
        });
        core.stopwatch.end(if core.by_wall_clock() { "submit and wait" } else { "submit" }, "", began);
        if let Some(error) = caught {
            // Arrays that were promised do not exist, so nothing on this device can be trusted any more.
            core.faults.set_lost(format!("a submission was refused: {error}"));
        }
        self.open.in_flight.push_back(submission);
        while self.open.in_flight.len() > IN_FLIGHT {
            self.wait_oldest()?;
        }
        // Returns finished staging buffers to the ring.
        let _ = core.device.poll(wgpu::PollType::Poll);
        core.faults.check()
    }

    /// Waits until everything submitted is done.
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
        polled.map(drop).map_err(|e| self.device_error(&e.to_string()))
    }

    /// Submits what is recorded and starts to read `buffer` back, without waiting.
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

    /// Returns the device's fault if there is one, else an error with that message.
    fn device_error(&self, message: &str) -> Error {
        self.fault_or(ErrorKind::Device { message: message.to_owned() }.into())
    }

    /// Returns the device's fault if there is one, because it is then the cause of `error`; else `error`.
    fn fault_or(&self, error: Error) -> Error {
        self.core.faults.ask(&self.core.device).err().unwrap_or(error)
    }
}

fn limit(kernel: &str, what: &str, needed: u64, allowed: u64) -> Error {
    ErrorKind::Limit { what: format!("{what} of kernel {kernel}"), needed, allowed }.into()
}

/// Converts bytes of a chunk, which fit every address space.
fn to_usize(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
