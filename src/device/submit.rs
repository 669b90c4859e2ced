//! Encodes lists of commands and submits them to the queue.

use super::core::Core;
use super::pipelines::Pipeline;
use super::pool::Lease;
use std::sync::Arc;

/// A recorded dispatch or copy. A command keeps the buffers that it uses alive.
#[derive(Debug)]
pub(super) enum Command {
    Dispatch {
        pipeline: Arc<Pipeline>,
        bind_group: wgpu::BindGroup,
        uniform_offset: Option<u32>,
        workgroups: u32,
        /// The estimated number of operations, and the number of bytes of the bound arrays.
        work: (f64, u64),
        _keep: Vec<Arc<Lease>>,
    },
    Copy {
        from: wgpu::Buffer,
        from_offset: u64,
        to: Arc<Lease>,
        to_offset: u64,
        bytes: u64,
        _keep: Option<Arc<Lease>>,
    },
}

impl Command {
    fn is_dispatch(&self) -> bool {
        matches!(self, Self::Dispatch { .. })
    }
}

/// Submits the commands together or, if dispatches are timed with the host's clock, one dispatch at a time.
pub(super) fn submit(core: &Core, commands: &[Command]) -> wgpu::SubmissionIndex {
    if core.by_wall_clock() {
        return one_by_one(core, commands);
    }
    let host = core.stopwatch.now();
    let submission = core.queue.submit([encode(core, commands)]);
    if let Some(timing) = &core.timing {
        timing.submitted(host, core.queue.get_timestamp_period(), &core.stopwatch);
    }
    submission
}

/// Submits every dispatch alone, waits for the dispatch, and records the time that passed.
fn one_by_one(core: &Core, commands: &[Command]) -> wgpu::SubmissionIndex {
    for run in commands.chunk_by(|a, b| !a.is_dispatch() && !b.is_dispatch()) {
        let begin = core.stopwatch.now();
        let submission_index = Some(core.queue.submit([encode(core, run)]));
        // The result is ignored because the next caller that waits receives the same error.
        let _ = core.device.poll(wgpu::PollType::Wait { submission_index, timeout: None });
        if let [Command::Dispatch { pipeline, work, .. }, ..] = run {
            core.stopwatch.kernel(pipeline.name, *work, begin, core.stopwatch.now());
        }
    }
    core.queue.submit([])
}

/// Encodes one command buffer. Consecutive dispatches share a pass, unless each dispatch is timed.
fn encode(core: &Core, commands: &[Command]) -> wgpu::CommandBuffer {
    let mut encoder = core.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("fiedler") });
    for run in commands.chunk_by(|a, b| core.timing.is_none() && a.is_dispatch() && b.is_dispatch()) {
        match &run[0] {
            Command::Copy { from, from_offset, to, to_offset, bytes, .. } => {
                encoder.copy_buffer_to_buffer(from, *from_offset, &to.raw, *to_offset, *bytes);
            }
            Command::Dispatch { pipeline, work, .. } => {
                let query = core.timing.as_ref().map(|timing| timing.begin(pipeline.name, *work, &mut encoder));
                let timestamp_writes = query.as_ref().and_then(|q| q.compute_pass_timestamp_writes());
                let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes };
                let mut pass = encoder.begin_compute_pass(&descriptor);
                run.iter().for_each(|command| dispatch(&mut pass, command));
                drop(pass);
                if let (Some(timing), Some(query)) = (&core.timing, query) {
                    timing.end(&mut encoder, query);
                }
            }
        }
    }
    if let Some(timing) = &core.timing {
        timing.resolve(&mut encoder);
    }
    encoder.finish()
}

fn dispatch(pass: &mut wgpu::ComputePass<'_>, command: &Command) {
    let Command::Dispatch { pipeline, bind_group, uniform_offset, workgroups, .. } = command else { return };
    pass.set_pipeline(&pipeline.raw);
    pass.set_bind_group(0, bind_group, uniform_offset.as_slice());
    pass.dispatch_workgroups(*workgroups, 1, 1);
}
