//! The buffer pool, with size classes, reuse of returned buffers, a byte budget and counters.
//!
//! A buffer returns to the pool when the last handle of its lease is dropped. The recorder keeps the handles of all
//! recorded buffers until it submits the work that uses them. The work of a buffer's next user is therefore always
//! submitted after the work of its previous users. The queue executes both in this order, so reuse is safe. A new
//! buffer contains zeros, and a reused buffer contains old data. To ensure that no code relies on this content, a
//! poisoned pool (in tests) fills every buffer with a large finite value before it lends the buffer.

use super::faults::{Faults, error_of, scoped};
use crate::error::{ErrorKind, Result};
use crate::profile::Stopwatch;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wgpu::BufferUsages;

/// The number of bytes that a pool has allocated, and the number of times that it could reuse a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolCounters {
    /// The number of bytes of all allocated buffers, whether in use or not.
    pub allocated: u64,
    /// The number of bytes of the buffers in use.
    pub in_use: u64,
    /// The number of requests that were served with a returned buffer.
    pub reused: u64,
    /// The maximum of `allocated` so far.
    pub peak: u64,
    /// The maximum number of bytes that the pool may allocate.
    pub budget: u64,
}

/// The purpose of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Usage {
    Storage,
    Uniform,
    Readback,
}

impl Usage {
    fn flags(self) -> BufferUsages {
        match self {
            Self::Storage => BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
            Self::Uniform => BufferUsages::UNIFORM | BufferUsages::COPY_DST,
            Self::Readback => BufferUsages::MAP_READ | BufferUsages::COPY_DST,
        }
    }
}

/// A wgpu buffer that is borrowed from its pool. It returns to the pool when the last handle is dropped.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(super) raw: wgpu::Buffer,
    pub(super) id: u64,
    /// The pool to which the buffer returns. If the buffer is owned outside this crate, the pool only identifies the
    /// device.
    pub(super) pool: Arc<Pool>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.pool.put_back(&self.raw, self.id);
    }
}

/// The value with which a poisoned pool fills its buffers. It is finite because WGSL implementations may assume that
/// NaN and infinity do not occur.
const POISON: f32 = 1e30;

#[derive(Debug)]
pub(crate) struct Pool {
    device: wgpu::Device,
    queue: wgpu::Queue,
    faults: Faults,
    max_buffer: u64,
    poison: bool,
    state: Mutex<State>,
    stopwatch: Stopwatch,
}

#[derive(Debug)]
struct State {
    free: HashMap<(u64, Usage), Vec<(wgpu::Buffer, u64)>>,
    lent: HashMap<u64, (u64, Usage)>,
    counters: PoolCounters,
    next_id: u64,
    /// The bind groups, keyed by what they bind. Bind groups keep their buffers alive, so a trim drops all bind groups.
    bind_groups: HashMap<BindKey, wgpu::BindGroup>,
}

/// The key of a bind group. The key consists of the address of the pipeline and, for each binding, the id of the lease
/// and the number of bytes that are bound.
pub(super) type BindKey = (usize, Vec<(u64, u64)>);

/// The maximum number of cached bind groups. A full cache is cleared, because many old bind groups are not worth their
/// memory.
const BIND_GROUPS: usize = 4096;

impl Pool {
    pub(super) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        faults: &Faults,
        max_buffer: u64,
        budget: u64,
        poison: bool,
        stopwatch: &Stopwatch,
    ) -> Arc<Self> {
        let state = State {
            free: HashMap::new(),
            lent: HashMap::new(),
            counters: PoolCounters { budget, ..Default::default() },
            next_id: 0,
            bind_groups: HashMap::new(),
        };
        Arc::new(Self {
            device: device.clone(),
            queue: queue.clone(),
            faults: faults.clone(),
            max_buffer,
            poison,
            state: Mutex::new(state),
            stopwatch: stopwatch.clone(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lends a buffer of at least `bytes` bytes, which is either reused or new.
    pub(super) fn lend(self: &Arc<Self>, bytes: u64, usage: Usage) -> Result<Lease> {
        self.faults.check()?;
        if bytes > self.max_buffer {
            let what = "bytes of one buffer".to_owned();
            return Err(ErrorKind::Limit { what, needed: bytes, allowed: self.max_buffer }.into());
        }
        let class = size_class(bytes).min(self.max_buffer);
        let (raw, id) = match self.reserve(class, usage)? {
            (Some(raw), id) => (raw, id),
            (None, id) => match self.timed(class, usage) {
                Ok(raw) => (raw, id),
                Err(error) => {
                    self.state().give_up(id);
                    return Err(error);
                }
            },
        };
        let lease = Lease { raw, id, pool: Arc::clone(self) };
        if self.poison && usage == Usage::Storage {
            // This write is executed before work that is recorded but not yet submitted. That is safe, because a buffer
            // is lent again only after all its recorded uses are submitted.
            let values = vec![POISON; usize::try_from(class / 4).unwrap_or(0)];
            self.queue.write_buffer(&lease.raw, 0, bytemuck::cast_slice(&values));
        }
        Ok(lease)
    }

    /// Reserves `class` bytes within the budget. Returns a free buffer of that size class, if there is one, and the id
    /// of the lease.
    fn reserve(&self, class: u64, usage: Usage) -> Result<(Option<wgpu::Buffer>, u64)> {
        let mut state = self.state();
        let found = state.free.get_mut(&(class, usage)).and_then(Vec::pop);
        let (raw, id) = if let Some((raw, id)) = found {
            state.counters.reused += 1;
            (Some(raw), id)
        } else {
            state.make_room(class)?;
            state.counters.allocated += class;
            state.counters.peak = state.counters.peak.max(state.counters.allocated);
            state.next_id += 1;
            (None, state.next_id)
        };
        state.counters.in_use += class;
        state.lent.insert(id, (class, usage));
        Ok((raw, id))
    }

    fn timed(&self, class: u64, usage: Usage) -> Result<wgpu::Buffer> {
        let began = self.stopwatch.begin();
        let made = self.create(class, usage);
        self.stopwatch.end("allocate", "", began);
        made
    }

    /// Creates a buffer. If the device is out of memory, frees every unused buffer and tries once more. The pool stays
    /// unlocked during the call, because a poll may run callbacks that return buffers.
    fn create(&self, class: u64, usage: Usage) -> Result<wgpu::Buffer> {
        let descriptor =
            wgpu::BufferDescriptor { label: None, size: class, usage: usage.flags(), mapped_at_creation: false };
        let make = || {
            let (raw, caught) = scoped(&self.device, || self.device.create_buffer(&descriptor));
            caught.map_or(Ok(raw), |error| Err(error_of(&error, class)))
        };
        let made = make().or_else(|error| {
            if !error.is_out_of_memory() {
                return Err(error);
            }
            self.trim();
            // Memory is freed only when the device is polled. The result is ignored because `faults` records whatever
            // the poll reports.
            let _ = self.device.poll(wgpu::PollType::Poll);
            make()
        });
        self.faults.ask(&self.device)?;
        made
    }

    /// Wraps a buffer that is owned outside this crate and gives it an id of this pool. Such a buffer is not counted
    /// and never lent to another user.
    pub(super) fn foreign(self: &Arc<Self>, raw: wgpu::Buffer) -> Lease {
        let mut state = self.state();
        state.next_id += 1;
        Lease { raw, id: state.next_id, pool: Arc::clone(self) }
    }

    /// Accepts the return of a lent buffer. Buffers that are owned outside this crate are ignored.
    fn put_back(&self, raw: &wgpu::Buffer, id: u64) {
        let mut state = self.state();
        if let Some((class, usage)) = state.lent.remove(&id) {
            state.counters.in_use -= class;
            state.free.entry((class, usage)).or_default().push((raw.clone(), id));
        }
    }

    /// Frees every buffer that is not in use.
    pub(super) fn trim(&self) {
        self.state().trim();
    }

    pub(super) fn counters(&self) -> PoolCounters {
        self.state().counters
    }

    /// Returns the bind group for `key`. On the first call with `key`, `make` creates the bind group.
    pub(super) fn bind_group(&self, key: BindKey, make: impl FnOnce() -> wgpu::BindGroup) -> wgpu::BindGroup {
        let mut state = self.state();
        if state.bind_groups.len() >= BIND_GROUPS {
            state.bind_groups.clear();
        }
        state.bind_groups.entry(key).or_insert_with(make).clone()
    }
}

impl State {
    /// Ensures that the budget has room for `class` more bytes, and frees unused buffers if necessary.
    fn make_room(&mut self, class: u64) -> Result<()> {
        let PoolCounters { budget, in_use, .. } = self.counters;
        if self.counters.allocated + class > budget {
            self.trim();
        }
        if in_use + class > budget {
            let allowed = budget.saturating_sub(in_use);
            return Err(ErrorKind::OutOfMemory { wanted: class, allowed }.into());
        }
        Ok(())
    }

    /// Cancels the reservation for a buffer that could not be created.
    fn give_up(&mut self, id: u64) {
        if let Some((class, _)) = self.lent.remove(&id) {
            self.counters.in_use -= class;
            self.counters.allocated -= class;
        }
    }

    fn trim(&mut self) {
        self.bind_groups.clear();
        for ((class, _), buffers) in self.free.drain() {
            self.counters.allocated -= class * buffers.len() as u64;
        }
    }
}

/// Rounds `bytes` up to a size class. The size classes are 2^k and 3 * 2^(k-1) bytes for integers k, and the smallest
/// class is 192 bytes.
pub(crate) fn size_class(bytes: u64) -> u64 {
    let power = bytes.max(256).next_power_of_two();
    let middle = power / 4 * 3;
    if bytes <= middle { middle } else { power }
}

#[cfg(test)]
mod tests {
    use super::size_class;

    #[test]
    fn a_size_class_holds_its_bytes_and_wastes_less_than_half() {
        for bytes in (1..5000).chain([1 << 20, (1 << 20) + 1, 3 << 19, (3 << 19) + 1]) {
            let class = size_class(bytes);
            assert!(class >= bytes && class.is_multiple_of(4), "{bytes} in {class}");
            assert!(bytes < 256 || class < bytes + bytes / 2 + 4, "{bytes} in {class}");
        }
    }
}
