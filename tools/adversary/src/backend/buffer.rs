//! Buffers, and their mapping to the host.

use super::errors::{Outcome, ensure, invalid};
use super::shared::Shared;
use super::timeline::PendingMap;
use crate::adversary::FreshBuffers;
use crate::faults::Fault;
use crate::machine::{Initial, Memory};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use wgpu::custom::{
    BufferInterface, BufferMapCallback, BufferMappedRangeInterface, DispatchBufferMappedRange,
    QueueWriteBufferInterface,
};
use wgpu::{BufferUsages, MapMode, WriteOnly};

/// A buffer of the device, as its commands use it.
#[derive(Debug)]
pub(crate) struct BufferInner {
    pub(crate) label: String,
    pub(crate) size: u64,
    pub(crate) usage: BufferUsages,
    pub(crate) memory: Arc<Memory>,
    /// The index of the last work that uses the buffer.
    last_use: AtomicU64,
    destroyed: AtomicBool,
    map: Mutex<MapState>,
    shared: Arc<Shared>,
}

#[derive(Clone, Debug, PartialEq)]
enum MapState {
    Unmapped,
    Pending { id: u64, mode: MapMode, range: Range<u64> },
    Mapped { mode: MapMode, range: Range<u64> },
}

/// What [`wgpu::Buffer`] holds. An invalid buffer has nothing within.
#[derive(Debug)]
pub(crate) struct Buffer {
    shared: Arc<Shared>,
    pub(crate) inner: Option<Arc<BufferInner>>,
}

impl Drop for BufferInner {
    fn drop(&mut self) {
        self.shared.free(self.size);
    }
}

impl BufferInner {
    fn map(&self) -> MutexGuard<'_, MapState> {
        self.map.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn belongs_to(&self, shared: &Arc<Shared>) -> bool {
        Arc::ptr_eq(&self.shared, shared)
    }

    pub(crate) fn used_by(&self, index: u64) {
        self.last_use.fetch_max(index, Ordering::Relaxed);
    }

    pub(crate) fn is_destroyed(&self) -> bool {
        self.destroyed.load(Ordering::Acquire)
    }

    /// Fails unless a submission may use the buffer now.
    pub(crate) fn check_submittable(&self) -> Outcome<()> {
        ensure!(!self.is_destroyed(), "buffer `{}` is destroyed", self.label);
        match *self.map() {
            MapState::Unmapped => Ok(()),
            MapState::Pending { .. } => invalid(format!("buffer `{}` has a pending mapping", self.label)),
            MapState::Mapped { .. } => invalid(format!("buffer `{}` is mapped", self.label)),
        }
    }

    /// Fails unless the buffer has the usage.
    pub(crate) fn check_usage(&self, usage: BufferUsages) -> Outcome<()> {
        let (label, own) = (&self.label, self.usage);
        ensure!(own.contains(usage), "buffer `{label}` has the usages {own:?}, and {usage:?} is needed");
        Ok(())
    }

    /// Fails unless the range is in the buffer and its ends are multiples of 4, as copies demand.
    pub(crate) fn check_copy(&self, offset: u64, size: u64) -> Outcome<()> {
        let (label, own) = (&self.label, self.size);
        ensure!(
            offset.is_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT) && size.is_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT),
            "the offset {offset} and the size {size} in buffer `{label}` are not both multiples of 4"
        );
        ensure!(
            offset.checked_add(size).is_some_and(|end| end <= own),
            "{size} bytes from {offset} are not all in buffer `{label}`, which has {own}"
        );
        Ok(())
    }

    /// The mapping with this id is due. Returns whether the buffer is mapped now.
    pub(crate) fn arrive(&self, id: u64, fails: bool) -> bool {
        let mut map = self.map();
        let MapState::Pending { id: pending, mode, range } = map.clone() else { return false };
        if pending != id {
            return false;
        }
        *map = if fails { MapState::Unmapped } else { MapState::Mapped { mode, range } };
        !fails
    }
}

impl Buffer {
    pub(crate) fn create(shared: &Arc<Shared>, descriptor: &wgpu::BufferDescriptor<'_>) -> Self {
        let made =
            shared.call("Device::create_buffer", descriptor.label, || Self::validate(shared, descriptor)).map(Arc::new);
        Self { shared: Arc::clone(shared), inner: made }
    }

    fn validate(shared: &Arc<Shared>, descriptor: &wgpu::BufferDescriptor<'_>) -> Outcome<BufferInner> {
        let &wgpu::BufferDescriptor { label, size, usage, mapped_at_creation } = descriptor;
        ensure!(!usage.is_empty(), "a buffer needs a usage");
        let unknown = usage.difference(BufferUsages::all());
        ensure!(unknown.is_empty(), "the usages {unknown:?} are unknown");
        let most = shared.limits.max_buffer_size;
        ensure!(size <= most, "{size} bytes are more than max_buffer_size, {most}");
        if !shared.features.contains(wgpu::Features::MAPPABLE_PRIMARY_BUFFERS) {
            for (map, copy) in
                [(BufferUsages::MAP_READ, BufferUsages::COPY_DST), (BufferUsages::MAP_WRITE, BufferUsages::COPY_SRC)]
            {
                let other = usage.difference(map | copy);
                ensure!(!usage.contains(map) || other.is_empty(), "{map:?} excludes the usages {other:?}");
            }
        }
        ensure!(
            !mapped_at_creation || size.is_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT),
            "the size {size} of a buffer that is mapped at its creation is no multiple of 4"
        );
        if shared.injector.strikes(Fault::OutOfMemory, "Device::create_buffer") {
            return Err(super::errors::Failure::OutOfMemory(format!("injected fault: no room for {size} bytes")));
        }
        shared.allocate(size)?;
        let contents = match shared.settings.fresh {
            FreshBuffers::Zeroed => Initial::Zeroed,
            FreshBuffers::Unwritten => Initial::Poisoned,
        };
        let map = match mapped_at_creation {
            true => MapState::Mapped { mode: MapMode::Write, range: 0..size },
            false => MapState::Unmapped,
        };
        Ok(BufferInner {
            label: label.unwrap_or_default().to_owned(),
            size,
            usage,
            memory: Arc::new(Memory::new(size.next_multiple_of(4), contents)),
            last_use: AtomicU64::new(0),
            destroyed: AtomicBool::new(false),
            map: Mutex::new(map),
            shared: Arc::clone(shared),
        })
    }

    /// Returns the buffer, if it is valid and of this device.
    pub(crate) fn get<'a>(shared: &Arc<Shared>, buffer: Option<&'a Self>) -> Outcome<&'a Arc<BufferInner>> {
        match buffer.and_then(|buffer| buffer.inner.as_ref()) {
            Some(inner) if inner.belongs_to(shared) => Ok(inner),
            Some(inner) => invalid(format!("buffer `{}` belongs to another device", inner.label)),
            None => invalid("a buffer is invalid"),
        }
    }

    fn begin_map(&self, mode: MapMode, range: &Range<u64>) -> Outcome<(Arc<BufferInner>, u64)> {
        self.shared.enter("Buffer::map_async")?;
        let inner = Self::get(&self.shared, Some(self))?;
        inner.check_usage(match mode {
            MapMode::Read => BufferUsages::MAP_READ,
            MapMode::Write => BufferUsages::MAP_WRITE,
        })?;
        let &Range { start, end } = range;
        ensure!(start.is_multiple_of(wgpu::MAP_ALIGNMENT), "the offset {start} of a mapping is no multiple of 8");
        ensure!(
            start <= end && end <= inner.size && (end - start).is_multiple_of(4),
            "the range {start}..{end} cannot be mapped in a buffer of {} bytes",
            inner.size
        );
        ensure!(!inner.is_destroyed(), "buffer `{}` is destroyed", inner.label);
        let id = self.shared.id();
        let mut map = inner.map();
        ensure!(*map == MapState::Unmapped, "buffer `{}` is mapped already, or about to be", inner.label);
        *map = MapState::Pending { id, mode, range: range.clone() };
        Ok((Arc::clone(inner), id))
    }

    /// Ends the mapping. Returns the callback that waits for it, if it has not arrived.
    fn end_map(&self) -> Option<BufferMapCallback> {
        let inner = self.inner.as_ref()?;
        match std::mem::replace(&mut *inner.map(), MapState::Unmapped) {
            MapState::Pending { id, .. } => self.shared.timeline.cancel_map(id).map(|map| map.callback),
            _ => None,
        }
    }
}

impl BufferInterface for Buffer {
    fn map_async(&self, mode: MapMode, range: Range<u64>, callback: BufferMapCallback) {
        let begun = self.begin_map(mode, &range);
        let label = self.inner.as_ref().map(|inner| inner.label.clone());
        let Some((buffer, id)) = self.shared.settle("Buffer::map_async", label.as_deref(), begun) else {
            callback(Err(wgpu::BufferAsyncError));
            return;
        };
        let injector = &self.shared.injector;
        let delayed = injector.strikes(Fault::MapDelayed, "Buffer::map_async");
        self.shared.timeline.add_map(PendingMap {
            after: buffer.last_use.load(Ordering::Relaxed),
            buffer,
            id,
            held_back: self.shared.seed().below(0, 4),
            not_before: delayed.then(|| Instant::now() + injector.delay()),
            fails: injector.strikes(Fault::MapFailed, "Buffer::map_async"),
            callback,
        });
    }

    fn get_mapped_range(&self, range: Range<u64>) -> Result<DispatchBufferMappedRange, wgpu::MapRangeError> {
        let state = self.inner.as_ref().map(|inner| inner.map().clone());
        // A custom backend cannot make a `MapRangeError`, so a range that is not mapped is detached: zeros, and what is
        // written is lost. wgpu itself checks the range against that of `map_async`.
        let writable = match &state {
            Some(MapState::Mapped { mode, range: all }) if all.start <= range.start && range.end <= all.end => {
                *mode == MapMode::Write
            }
            _ if self.shared.is_lost() => return Ok(MappedRange::detached(&range)),
            _ => {
                let failure = invalid("the range is not mapped");
                self.shared.settle::<()>("Buffer::get_mapped_range", None, failure);
                return Ok(MappedRange::detached(&range));
            }
        };
        let mut bytes = MappedRange::room(&range);
        if let Some(inner) = &self.inner {
            inner.memory.read(range.start, &mut bytes);
        }
        let buffer = self.inner.clone().filter(|_| writable);
        Ok(DispatchBufferMappedRange::custom(MappedRange { buffer, offset: range.start, bytes, written: false }))
    }

    fn unmap(&self) {
        if self.inner.is_none() {
            return;
        }
        // Unmapping a buffer that is not mapped does nothing.
        if let Some(callback) = self.end_map() {
            callback(Err(wgpu::BufferAsyncError));
        }
    }

    fn destroy(&self) {
        if let Some(inner) = &self.inner {
            inner.destroyed.store(true, Ordering::Release);
        }
        self.unmap();
    }
}

/// A view of mapped memory. The bytes are a copy, which is written back when the view ends.
#[derive(Debug)]
struct MappedRange {
    /// The buffer, if the range may be written.
    buffer: Option<Arc<BufferInner>>,
    offset: u64,
    bytes: Vec<u8>,
    written: bool,
}

impl MappedRange {
    fn room(range: &Range<u64>) -> Vec<u8> {
        vec![0; usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(0)]
    }

    fn detached(range: &Range<u64>) -> DispatchBufferMappedRange {
        let bytes = Self::room(range);
        DispatchBufferMappedRange::custom(Self { buffer: None, offset: range.start, bytes, written: false })
    }
}

impl BufferMappedRangeInterface for MappedRange {
    fn len(&self) -> usize {
        self.bytes.len()
    }

    #[expect(unsafe_code, reason = "the trait declares the method unsafe")]
    unsafe fn read_slice(&self) -> &[u8] {
        &self.bytes
    }

    #[expect(unsafe_code, reason = "the trait declares the method unsafe")]
    unsafe fn write_slice(&mut self) -> WriteOnly<'_, [u8]> {
        self.written = true;
        WriteOnly::from_mut(&mut self.bytes)
    }
}

impl Drop for MappedRange {
    fn drop(&mut self) {
        if let (Some(buffer), true) = (&self.buffer, self.written) {
            buffer.memory.write(self.offset, &self.bytes);
        }
    }
}

/// The memory of `Queue::write_buffer_with`.
#[derive(Debug)]
pub(crate) struct StagingBuffer(pub(crate) Vec<u8>);

impl QueueWriteBufferInterface for StagingBuffer {
    fn len(&self) -> usize {
        self.0.len()
    }

    #[expect(unsafe_code, reason = "the trait declares the method unsafe")]
    unsafe fn write_slice(&mut self) -> WriteOnly<'_, [u8]> {
        WriteOnly::from_mut(&mut self.0)
    }
}
