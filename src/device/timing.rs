//! Device time of every kernel, from timestamps at the ends of its pass.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use wgpu_profiler::{GpuProfiler, GpuProfilerQuery, GpuProfilerSettings};

/// How long a kernel took on the device.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KernelTime {
    /// The kernel.
    pub kernel: String,
    /// Its dispatches.
    pub calls: u64,
    /// Seconds of device time altogether.
    pub seconds: f64,
}

pub(super) struct Timing(Mutex<State>);

struct State {
    profiler: GpuProfiler,
    totals: BTreeMap<String, (u64, f64)>,
}

impl std::fmt::Debug for Timing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Timing")
    }
}

impl Timing {
    /// None where the adapter has no timestamps.
    pub(super) fn new(device: &wgpu::Device) -> Option<Self> {
        if !device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return None;
        }
        // More frames may be open than submissions are in flight, or the profiler drops the oldest.
        let settings = GpuProfilerSettings { max_num_pending_frames: 64, ..Default::default() };
        let profiler = GpuProfiler::new(device, settings).ok()?;
        Some(Self(Mutex::new(State { profiler, totals: BTreeMap::new() })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin(&self, kernel: &'static str, encoder: &mut wgpu::CommandEncoder) -> GpuProfilerQuery {
        self.state().profiler.begin_pass_query(kernel, encoder)
    }

    pub(super) fn end(&self, encoder: &mut wgpu::CommandEncoder, query: GpuProfilerQuery) {
        self.state().profiler.end_query(encoder, query);
    }

    pub(super) fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        self.state().profiler.resolve_queries(encoder);
    }

    /// Closes the frame of a submission, and books those that have ended.
    pub(super) fn submitted(&self, period: f32) {
        let mut state = self.state();
        if let Err(error) = state.profiler.end_frame() {
            log::warn!("timestamps of one submission are lost: {error}");
        }
        state.book(period);
    }

    /// What was measured since the last call.
    pub(super) fn take(&self, period: f32) -> Vec<KernelTime> {
        let mut state = self.state();
        state.book(period);
        let totals = std::mem::take(&mut state.totals);
        totals.into_iter().map(|(kernel, (calls, seconds))| KernelTime { kernel, calls, seconds }).collect()
    }
}

impl State {
    fn book(&mut self, period: f32) {
        while let Some(frame) = self.profiler.process_finished_frame(period) {
            for query in frame {
                let seconds = query.time.map_or(0.0, |t| t.end - t.start);
                let total = self.totals.entry(query.label).or_default();
                *total = (total.0 + 1, total.1 + seconds);
            }
        }
    }
}
