//! Measures the device time of every kernel with timestamps at the start and the end of its pass. Off unless a profile
//! is requested.

use crate::profile::Stopwatch;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use wgpu_profiler::{GpuProfiler, GpuProfilerQuery, GpuProfilerSettings};

pub(super) struct Timing(Mutex<State>);

struct State {
    profiler: GpuProfiler,
    /// The number of operations and the number of bound bytes of each dispatch since the last submission.
    open: Vec<(f64, u64)>,
    /// For each submission whose kernel times are not recorded yet: the host time of the submission, and the contents
    /// that `open` had then.
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
        // The profiler must allow more open frames than there are submissions in flight, because otherwise it drops the
        // oldest frame.
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

    /// Closes the profiler frame of a submission that was made at the host time `host`, and records the times of all
    /// frames that have ended.
    pub(super) fn submitted(&self, host: f64, period: f32, stopwatch: &Stopwatch) {
        let mut state = self.state();
        let work = std::mem::take(&mut state.open);
        match state.profiler.end_frame() {
            Ok(()) => state.submitted.push_back((host, work)),
            Err(error) => log::warn!("timestamps of one submission are lost: {error}"),
        }
        state.book(period, stopwatch);
    }

    /// Records the times of all frames that have ended.
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
