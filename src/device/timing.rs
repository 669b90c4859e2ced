//! The device time of every kernel, from timestamps at both ends of its pass.

use crate::profile::Stopwatch;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use wgpu_profiler::{GpuProfiler, GpuProfilerQuery, GpuProfilerSettings};

pub(super) struct Timing(Mutex<State>);

struct State {
    profiler: GpuProfiler,
    /// The flops and bound bytes of the dispatches since the last submission.
    open: Vec<(f64, u64)>,
    /// The same for submissions that have not been booked, with the host time at which each was submitted.
    submitted: VecDeque<(f64, Vec<(f64, u64)>)>,
}

impl std::fmt::Debug for Timing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Timing")
    }
}

impl Timing {
    /// Returns `None` if the adapter has no timestamps.
    pub(super) fn new(device: &wgpu::Device) -> Option<Self> {
        if !device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return None;
        }
        // The profiler must allow more open frames than submissions in flight, or it drops the oldest.
        let settings = GpuProfilerSettings { max_num_pending_frames: 64, ..Default::default() };
        let profiler = GpuProfiler::new(device, settings).ok()?;
        Some(Self(Mutex::new(State { profiler, open: Vec::new(), submitted: VecDeque::new() })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin(
        &self,
        kernel: &'static str,
        work: (f64, u64),
        encoder: &mut wgpu::CommandEncoder,
    ) -> GpuProfilerQuery {
        let mut state = self.state();
        state.open.push(work);
        state.profiler.begin_pass_query(kernel, encoder)
    }

    pub(super) fn end(&self, encoder: &mut wgpu::CommandEncoder, query: GpuProfilerQuery) {
        self.state().profiler.end_query(encoder, query);
    }

    pub(super) fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        self.state().profiler.resolve_queries(encoder);
    }

    /// Closes the frame of a submission made at the host time `host`, and books the frames that have ended.
    pub(super) fn submitted(&self, host: f64, period: f32, stopwatch: &Stopwatch) {
        let mut state = self.state();
        let work = std::mem::take(&mut state.open);
        match state.profiler.end_frame() {
            Ok(()) => state.submitted.push_back((host, work)),
            Err(error) => log::warn!("timestamps of one submission are lost: {error}"),
        }
        state.book(period, stopwatch);
    }

    /// Books all frames that have ended.
    pub(super) fn book(&self, period: f32, stopwatch: &Stopwatch) {
        self.state().book(period, stopwatch);
    }
}

impl State {
    fn book(&mut self, period: f32, stopwatch: &Stopwatch) {
        // Frames end in the order in which they were submitted, and the queries of a frame are in
        // the order of its dispatches.
        while let Some(frame) = self.profiler.process_finished_frame(period) {
            let (host, work) = self.submitted.pop_front().unwrap_or_default();
            if let Some(first) = frame.first().and_then(|query| query.time.as_ref()) {
                stopwatch.aligned(host, first.start);
            }
            for (i, query) in frame.iter().enumerate() {
                let time = query.time.clone().unwrap_or_default();
                stopwatch.kernel(&query.label, work.get(i).copied().unwrap_or_default(), time.start, time.end);
            }
        }
    }
}
