//! Records the times of kernels and stages while work runs, as sums for the table and as events for the trace.

use super::{Clock, Event, KernelTime, Profile, StageTime, Track};
use crate::clock::Instant;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

/// The maximum number of events in a trace. A trace of this length is about 30 MB of JSON. Further events are added
/// only to the sums.
const EVENTS: usize = 1 << 18;

/// Records the times of stages and kernels if a profile was requested. Otherwise it does nothing and reads no clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stopwatch(Option<Arc<Book>>);

#[derive(Debug)]
struct Book {
    /// The instant that corresponds to time 0.
    zero: Instant,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    kernels: BTreeMap<String, KernelTime>,
    stages: Vec<StageTime>,
    events: Vec<Event>,
    left_out: u64,
    /// The number of seconds to add to a time of the device's clock to get a time of the host's clock. The offset is
    /// the smallest for which no dispatch begins before its submission.
    offset: Option<f64>,
    threads: Vec<ThreadId>,
    since: f64,
}

impl Stopwatch {
    pub(crate) fn new(wanted: bool) -> Self {
        let book = || Arc::new(Book { zero: Instant::now(), state: Mutex::default() });
        Self(wanted.then(book))
    }

    /// Returns whether a profile was requested.
    pub(crate) fn runs(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the current time, if a profile was requested. Called when a stage begins.
    pub(crate) fn begin(&self) -> Option<Instant> {
        self.0.as_ref().map(|_| Instant::now())
    }

    /// Records a stage of this library's work. The stage began at `began` and ends now. `detail` appears
    /// only in the trace.
    pub(crate) fn end(&self, stage: &'static str, detail: &str, began: Option<Instant>) {
        if let Some(began) = began {
            self.book(stage, detail, false, began..Instant::now());
        }
    }

    /// Runs `work`, and records the time that it takes as a stage of this library.
    pub(crate) fn time<R>(&self, stage: &'static str, work: impl FnOnce() -> R) -> R {
        let began = self.begin();
        let result = work();
        self.end(stage, "", began);
        result
    }

    /// Records a stage of the calling program.
    pub(crate) fn own(&self, stage: &'static str, time: Range<Instant>) {
        self.book(stage, "", true, time);
    }

    fn book(&self, stage: &'static str, detail: &str, own: bool, time: Range<Instant>) {
        let Some(book) = &self.0 else { return };
        let (begin, end) = (book.seconds(time.start), book.seconds(time.end.max(time.start)));
        let mut state = book.state();
        state.since = state.since.min(begin);
        let at = match state.stages.iter().position(|known| known.stage == stage && known.own == own) {
            Some(at) => at,
            None => {
                state.stages.push(StageTime { stage, own, calls: 0, seconds: 0.0 });
                state.stages.len() - 1
            }
        };
        state.stages[at].calls += 1;
        state.stages[at].seconds += end - begin;
        let track = state.thread();
        let name = if detail.is_empty() { stage.to_owned() } else { format!("{stage} {detail}") };
        state.event(Event { name, track, begin, end, work: None });
    }

    /// Returns the current time of the host's clock in seconds, for [`Stopwatch::kernel`].
    pub(crate) fn now(&self) -> f64 {
        self.0.as_ref().map_or(0.0, |book| book.seconds(Instant::now()))
    }

    /// Records that work was submitted at the time `host` of the host's clock and began at the time `device` of the
    /// device's clock.
    pub(crate) fn aligned(&self, host: f64, device: f64) {
        if let Some(book) = &self.0 {
            let mut state = book.state();
            let offset = host - device;
            state.offset = Some(state.offset.map_or(offset, |known| known.max(offset)));
        }
    }

    /// Records a dispatch that ran from `begin` to `end` by the device's clock. `work` contains the number of
    /// operations and the number of bound bytes.
    pub(crate) fn kernel(&self, kernel: &str, work: (f64, u64), begin: f64, end: f64) {
        let Some(book) = &self.0 else { return };
        // If the driver's clock ran backwards, the time counts as 0.
        let end = end.max(begin);
        let mut state = book.state();
        if !state.kernels.contains_key(kernel) {
            let new = KernelTime { kernel: kernel.to_owned(), calls: 0, seconds: 0.0, flops: 0.0, bound_bytes: 0 };
            state.kernels.insert(kernel.to_owned(), new);
        }
        if let Some(total) = state.kernels.get_mut(kernel) {
            total.calls += 1;
            total.seconds += end - begin;
            total.flops += work.0;
            total.bound_bytes = total.bound_bytes.saturating_add(work.1);
        }
        state.event(Event { name: kernel.to_owned(), track: Track::Device, begin, end, work: Some(work) });
    }

    /// Returns the times that were recorded since the last call, if a profile was requested. The caller fills in the
    /// adapter, the clock and the memory.
    pub(crate) fn take(&self) -> Option<Profile> {
        let book = self.0.as_ref()?;
        let now = book.seconds(Instant::now());
        let mut state = book.state();
        let threads = std::mem::take(&mut state.threads);
        let offset = state.offset;
        let taken = std::mem::replace(&mut *state, State { threads, offset, since: now, ..State::default() });
        drop(state);
        let mut kernels: Vec<KernelTime> = taken.kernels.into_values().collect();
        kernels.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        let mut stages = taken.stages;
        stages.sort_by_key(|stage| !stage.own);
        let mut events = taken.events;
        for event in &mut events {
            let offset = if event.track == Track::Device { offset.unwrap_or(0.0) } else { 0.0 };
            event.begin += offset - taken.since;
            event.end += offset - taken.since;
        }
        Some(Profile {
            adapter: None,
            clock: Clock::Absent,
            kernels,
            stages,
            wall: now - taken.since,
            peak_bytes: 0,
            budget: 0,
            left_out: taken.left_out,
            events,
        })
    }
}

impl Book {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the seconds from `zero` to `at`, which are negative if `at` is earlier.
    fn seconds(&self, at: Instant) -> f64 {
        match at.checked_duration_since(self.zero) {
            Some(after) => after.as_secs_f64(),
            None => -self.zero.duration_since(at).as_secs_f64(),
        }
    }
}

impl State {
    fn event(&mut self, event: Event) {
        if self.events.len() < EVENTS {
            self.events.push(event);
        } else {
            self.left_out += 1;
        }
    }

    /// Returns the track of the current thread.
    fn thread(&mut self) -> Track {
        let own = std::thread::current().id();
        Track::Host(self.threads.iter().position(|known| *known == own).unwrap_or_else(|| {
            self.threads.push(own);
            self.threads.len() - 1
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::{Stopwatch, Track};
    use std::time::{Duration, Instant};

    #[test]
    fn who_did_not_ask_is_told_nothing() {
        let off = Stopwatch::new(false);
        off.own("read", Instant::now()..Instant::now());
        off.kernel("Pass", (1.0, 1), 0.0, 1.0);
        assert!(off.begin().is_none() && !off.runs() && off.take().is_none());
    }

    #[test]
    fn a_stage_that_began_before_the_book_counts_whole() {
        let began = Instant::now();
        std::thread::sleep(Duration::from_millis(20));
        let watch = Stopwatch::new(true);
        watch.own("open", began..Instant::now());
        let profile = watch.take().expect("a profile");
        assert!(profile.stages[0].seconds >= 0.02 && profile.wall >= profile.stages[0].seconds, "{profile:?}");
        assert!(profile.events[0].begin.abs() < 1e-9, "{profile:?}");
        assert!(watch.take().expect("a profile").stages.is_empty(), "since the last call");
    }

    #[test]
    fn the_devices_clock_is_laid_upon_the_hosts() {
        let watch = Stopwatch::new(true);
        // Two submissions, at 1 s and 2 s by the host's clock, have dispatches that begin at 1000.5 s and 1001.2 s by
        // the device's clock. The second dispatch began sooner after its submission than the first, so it determines
        // the offset.
        watch.aligned(1.0, 1000.5);
        watch.kernel("A", (4.0, 8), 1000.5, 1000.9);
        watch.aligned(2.0, 1001.2);
        watch.kernel("B", (0.0, 0), 1001.2, 1001.1);
        let profile = watch.take().expect("a profile");
        let begins: Vec<f64> = profile.events.iter().map(|event| event.begin).collect();
        // Times near 1000 have rounding errors in f64.
        assert!((begins[0] - 1.3).abs() < 1e-9 && (begins[1] - 2.0).abs() < 1e-9, "{begins:?}");
        assert!(profile.events.iter().all(|event| event.track == Track::Device));
        // Dispatch B ended before it began by the device's clock, so its time counts as 0.
        assert_eq!((profile.kernels[1].kernel.as_str(), profile.kernels[1].seconds), ("B", 0.0));
        assert_eq!((profile.kernels[0].flops, profile.kernels[0].bound_bytes), (4.0, 8));
    }
}
