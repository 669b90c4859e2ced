//! The queue's timeline: work that is submitted and not yet done, and the callbacks that wait for it. A queue executes
//! in order, and when it does so, and when callbacks arrive, is up to the adversary.

use super::buffer::BufferInner;
use super::command::Command;
use crate::machine::Memory;
use crate::seed::Seed;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use wgpu::custom::{BoxSubmittedWorkDoneCallback, BufferMapCallback};

/// Work for the queue.
#[derive(Debug)]
pub(crate) enum Work {
    /// The bytes of `Queue::write_buffer`.
    Write {
        memory: Arc<Memory>,
        offset: u64,
        bytes: Vec<u8>,
    },
    Commands(Vec<Command>),
}

/// A mapping that was requested.
pub(crate) struct PendingMap {
    pub(crate) buffer: Arc<BufferInner>,
    /// Tells this request from others for the same buffer.
    pub(crate) id: u64,
    /// The mapping waits for the work up to this index.
    pub(crate) after: u64,
    /// The number of polls without a wait that it is held back.
    pub(crate) held_back: u64,
    pub(crate) not_before: Option<Instant>,
    /// Whether the mapping fails although it could succeed.
    pub(crate) fails: bool,
    pub(crate) callback: BufferMapCallback,
}

#[derive(Default)]
pub(crate) struct Timeline {
    state: Mutex<State>,
    /// Notified whenever work ends or is added.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The index of the last work that was submitted, and of the last that is done.
    submitted: u64,
    done: u64,
    waiting: VecDeque<Item>,
    /// Whether a thread executes work.
    running: bool,
    worker: bool,
    aborted: bool,
    maps: Vec<PendingMap>,
    callbacks: VecDeque<(u64, BoxSubmittedWorkDoneCallback)>,
}

struct Item {
    index: u64,
    work: Work,
    not_before: Option<Instant>,
}

impl fmt::Debug for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_tuple("Timeline").field(&state.submitted).field(&state.done).finish()
    }
}

/// Marks the end of execution, even where execution panics, lest every other thread wait forever.
struct Running<'a> {
    timeline: &'a Timeline,
    index: u64,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut state = self.timeline.state();
        state.running = false;
        state.done = state.done.max(self.index);
        drop(state);
        self.timeline.changed.notify_all();
    }
}

impl Timeline {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds work and returns its index.
    pub(crate) fn push(&self, work: Work, not_before: Option<Instant>) -> u64 {
        let mut state = self.state();
        state.submitted += 1;
        let index = state.submitted;
        if state.aborted {
            state.done = index;
        } else {
            state.waiting.push_back(Item { index, work, not_before });
        }
        drop(state);
        self.changed.notify_all();
        index
    }

    /// Returns the index of the last work that was submitted.
    pub(crate) fn last(&self) -> u64 {
        self.state().submitted
    }

    pub(crate) fn is_idle(&self) -> bool {
        let state = self.state();
        state.waiting.is_empty() && !state.running
    }

    /// Drops all work that has not begun.
    pub(crate) fn abort(&self) {
        let mut state = self.state();
        state.aborted = true;
        state.done = state.submitted;
        let dropped = std::mem::take(&mut state.waiting);
        drop(state);
        self.changed.notify_all();
        drop(dropped);
    }

    /// Executes the next work, unless it has to wait or there is none.
    pub(crate) fn step(&self, execute: impl Fn(Work)) {
        let mut state = self.state();
        let free = !state.running && state.waiting.front().is_some_and(|item| item.until().is_none());
        if let Some(item) = if free { state.waiting.pop_front() } else { None } {
            state.running = true;
            drop(state);
            self.run(item, &execute);
        }
    }

    fn run(&self, item: Item, execute: &impl Fn(Work)) {
        let _running = Running { timeline: self, index: item.index };
        execute(item.work);
    }

    /// Executes work until that with the index is done, and returns whether it is. Gives up at the deadline.
    pub(crate) fn run_to(&self, index: u64, deadline: Option<Instant>, execute: impl Fn(Work)) -> bool {
        loop {
            let mut state = self.state();
            if state.done >= index || (state.waiting.is_empty() && !state.running) {
                return true;
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return false;
            }
            let until = state.waiting.front().and_then(Item::until);
            if state.running || until.is_some() {
                let pause = if state.running { None } else { until };
                let pause = [pause, left].into_iter().flatten().min().unwrap_or(Duration::from_millis(100));
                drop(self.changed.wait_timeout(state, pause));
                continue;
            }
            if let Some(item) = state.waiting.pop_front() {
                state.running = true;
                drop(state);
                self.run(item, &execute);
            }
        }
    }

    /// Returns whether a thread has to be started that works off the queue, and counts it as started.
    pub(crate) fn wants_worker(&self) -> bool {
        let mut state = self.state();
        !std::mem::replace(&mut state.worker, true)
    }

    pub(crate) fn worker_ended(&self) {
        self.state().worker = false;
    }

    /// Executes work until there is none.
    pub(crate) fn work_off(&self, execute: impl Fn(Work)) {
        loop {
            self.run_to(self.last(), None, &execute);
            let mut state = self.state();
            if state.waiting.is_empty() {
                state.worker = false;
                return;
            }
        }
    }

    pub(crate) fn add_map(&self, map: PendingMap) {
        self.state().maps.push(map);
    }

    /// Takes back a mapping that has not arrived.
    pub(crate) fn cancel_map(&self, id: u64) -> Option<PendingMap> {
        let mut state = self.state();
        let place = state.maps.iter().position(|map| map.id == id)?;
        Some(state.maps.remove(place))
    }

    /// Takes back all mappings, because they cannot be waited for any more.
    pub(crate) fn cancel_maps(&self) -> Vec<PendingMap> {
        std::mem::take(&mut self.state().maps)
    }

    /// Adds a callback for the end of all work that was submitted so far.
    pub(crate) fn on_done(&self, callback: BoxSubmittedWorkDoneCallback) {
        let mut state = self.state();
        let index = state.submitted;
        state.callbacks.push_back((index, callback));
    }

    /// Calls the callbacks that are due. Those of work up to the index `waited` must be, others may be held back. On a
    /// lost device, all are due. Mappings of several buffers arrive in any order.
    pub(crate) fn deliver(&self, waited: Option<u64>, lost: bool, seed: Seed) {
        let mut state = self.state();
        let done = state.done;
        let now = Instant::now();
        let due = |map: &mut PendingMap| {
            if lost {
                return true;
            }
            if map.after > done || map.not_before.is_some_and(|time| time > now) {
                return false;
            }
            let held_back = map.held_back > 0 && waited.is_none_or(|waited| map.after > waited);
            map.held_back = map.held_back.saturating_sub(1);
            !held_back
        };
        let (mut maps, kept): (Vec<_>, Vec<_>) =
            std::mem::take(&mut state.maps).into_iter().map(|mut map| (due(&mut map), map)).partition(|(due, _)| *due);
        state.maps = kept.into_iter().map(|(_, map)| map).collect();
        let ended = state.callbacks.iter().take_while(|(index, _)| lost || *index <= done).count();
        let callbacks: Vec<_> = state.callbacks.drain(..ended).collect();
        drop(state);
        maps.sort_by_key(|(_, map)| seed.fork(map.id).0);
        for (_, map) in maps {
            let fails = lost || map.fails;
            let mapped = map.buffer.arrive(map.id, fails);
            (map.callback)(if mapped { Ok(()) } else { Err(wgpu::BufferAsyncError) });
        }
        callbacks.into_iter().for_each(|(_, callback)| callback());
    }
}

impl Item {
    /// Returns how long the work has to wait.
    fn until(&self) -> Option<Duration> {
        let left = self.not_before?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }
}
