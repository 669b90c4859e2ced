//! What a device, its queue and all their objects share.

use super::errors::{ErrorSink, Failure, Outcome, ensure};
use super::loss::Loss;
use super::timeline::{Timeline, Work};
use crate::adversary::{Pace, Programs, Settings};
use crate::faults::{Fault, Injector};
use crate::report::Report;
use crate::seed::Seed;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The state of one opened device.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) features: wgpu::Features,
    pub(crate) limits: wgpu::Limits,
    pub(crate) injector: Arc<Injector>,
    pub(crate) report: Arc<Report>,
    pub(crate) programs: Arc<Programs>,
    pub(crate) errors: ErrorSink,
    pub(crate) timeline: Timeline,
    loss: Loss,
    allocated: AtomicU64,
    /// The number of draws and ids so far.
    drawn: AtomicU64,
    /// Where the device's clock begins.
    pub(crate) opened: Instant,
}

impl Shared {
    pub(crate) fn new(
        settings: Settings,
        (features, limits): (wgpu::Features, wgpu::Limits),
        injector: Arc<Injector>,
        report: Arc<Report>,
        programs: Arc<Programs>,
    ) -> Arc<Self> {
        Arc::new(Self {
            settings,
            features,
            limits,
            injector,
            report,
            programs,
            errors: ErrorSink::default(),
            timeline: Timeline::default(),
            loss: Loss::default(),
            allocated: AtomicU64::new(0),
            drawn: AtomicU64::new(0),
            opened: Instant::now(),
        })
    }

    /// Returns a number that no other call of this function on this device returns.
    pub(crate) fn id(&self) -> u64 {
        self.drawn.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the seed of the next event.
    pub(crate) fn seed(&self) -> Seed {
        Seed(self.settings.seed).fork(self.id())
    }

    /// Begins a call: fails if the device is lost, which this call may cause.
    pub(crate) fn enter(&self, call: &'static str) -> Outcome<()> {
        if self.injector.strikes(Fault::DeviceLost, call) {
            self.lose(wgpu::DeviceLostReason::Unknown, &format!("injected fault: the device is lost in {call}"));
        }
        if self.loss.is_lost() { Err(Failure::Lost) } else { Ok(()) }
    }

    /// Ends a call: reports its failure, if it failed, and returns its result otherwise. A lost device reports nothing
    /// but its loss.
    pub(crate) fn settle<T>(&self, call: &str, label: Option<&str>, outcome: Outcome<T>) -> Option<T> {
        match outcome {
            Ok(value) => Some(value),
            Err(failure) => {
                if let Some(error) = failure.error(call, label).filter(|_| !self.is_lost()) {
                    self.errors.report(error);
                }
                None
            }
        }
    }

    /// Runs a call from its beginning to its end.
    pub(crate) fn call<T>(
        &self,
        call: &'static str,
        label: Option<&str>,
        work: impl FnOnce() -> Outcome<T>,
    ) -> Option<T> {
        self.settle(call, label, self.enter(call).and_then(|()| work()))
    }

    /// Reports that the device does not do this.
    pub(crate) fn unsupported(&self, call: &'static str, what: &str) {
        let failure = Failure::Validation(format!("this adapter computes only: it has no {what}"));
        self.settle::<()>(call, None, Err(failure));
    }

    /// Counts the bytes of a new buffer.
    pub(crate) fn allocate(&self, bytes: u64) -> Outcome<()> {
        let grown = self.allocated.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if grown > self.settings.memory {
            self.free(bytes);
            let message = format!("{bytes} bytes more than the {} of this adapter", self.settings.memory);
            return Err(Failure::OutOfMemory(message));
        }
        Ok(())
    }

    pub(crate) fn free(&self, bytes: u64) {
        self.allocated.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Loses the device. What was submitted and has not begun never runs.
    pub(crate) fn lose(&self, reason: wgpu::DeviceLostReason, message: &str) {
        if self.loss.set(reason, message) {
            self.timeline.abort();
            // The callback may come in the midst of any call, or at the next poll.
            if self.seed().below(0, 2) == 0 {
                self.loss.deliver();
            }
        }
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.loss.is_lost()
    }

    pub(crate) fn on_loss(&self, callback: wgpu::custom::BoxDeviceLostCallback) {
        self.loss.set_callback(callback);
    }

    /// Hands work to the queue and returns its index.
    pub(crate) fn submit(self: &Arc<Self>, work: Work) -> u64 {
        let stalled = matches!(work, Work::Commands(_)) && self.injector.strikes(Fault::Stalled, "Queue::submit");
        let not_before = stalled.then(|| Instant::now() + self.injector.delay());
        let index = self.timeline.push(work, not_before);
        if self.settings.paced() == Pace::Concurrent && self.timeline.wants_worker() {
            let shared = Arc::clone(self);
            let work = move || shared.timeline.work_off(|work| shared.execute(work));
            if std::thread::Builder::new().name("wgpu-adversary queue".into()).spawn(work).is_err() {
                // Without a thread, the work is done when the device is polled.
                self.timeline.worker_ended();
            }
        }
        index
    }

    /// Polls the device.
    pub(crate) fn poll(&self, poll: &wgpu::wgt::PollType<u64>) -> Result<wgpu::PollStatus, wgpu::PollError> {
        let entered = self.enter("Device::poll");
        let result = match poll {
            _ if entered.is_err() => Ok(wgpu::PollStatus::QueueEmpty),
            wgpu::wgt::PollType::Poll => {
                if self.seed().below(0, 2) == 0 {
                    self.timeline.step(|work| self.execute(work));
                }
                Ok(wgpu::PollStatus::Poll)
            }
            wgpu::wgt::PollType::Wait { submission_index, timeout } => {
                let last = self.timeline.last();
                let index = submission_index.unwrap_or(last);
                if index > last {
                    return Err(wgpu::PollError::WrongSubmissionIndex(index, last));
                }
                let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
                match self.timeline.run_to(index, deadline, |work| self.execute(work)) {
                    true => Ok(wgpu::PollStatus::WaitSucceeded),
                    false => Err(wgpu::PollError::Timeout),
                }
            }
        };
        let waited = match poll {
            wgpu::wgt::PollType::Wait { submission_index, .. } => Some(submission_index.unwrap_or(u64::MAX)),
            wgpu::wgt::PollType::Poll => None,
        };
        self.timeline.deliver(waited, self.is_lost(), self.seed());
        self.loss.deliver();
        match result {
            Ok(_) if self.timeline.is_idle() => Ok(wgpu::PollStatus::QueueEmpty),
            other => other,
        }
    }

    /// Fails unless the device has the feature.
    pub(crate) fn require(&self, feature: wgpu::Features) -> Outcome<()> {
        ensure!(self.features.contains(feature), "the device was opened without the feature {feature:?}");
        Ok(())
    }
}
