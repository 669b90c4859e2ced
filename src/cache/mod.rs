//! Stores results in memory and on disk, so that they need not be computed again. The key of a result is a hash of
//! everything on which the result depends.
//!
//! The cache stores bytes under keys and does not interpret either. [`encode`](crate::encode) creates both. A cache
//! never causes a computation to fail. If an entry cannot be read or written, the cache logs a warning the first time
//! and counts the failure, and the result is computed again.
//!
//! ```
//! use fiedler::{Context, cache::Cache, encode::SpectralEncoder, graph::molecules};
//! use std::sync::Arc;
//! let cache = Arc::new(Cache::new().memory(10_000, 256 << 20)); // and .disk(folder, bytes)
//! let encoder = SpectralEncoder::new(4).cache(Arc::clone(&cache));
//! let (ctx, graphs) = (Context::cpu(), molecules(20, 1)?);
//! let first = encoder.encode(&ctx, &graphs)?;
//! let again = encoder.encode(&ctx, &graphs)?;
//! assert_eq!(first.eigenvectors, again.eigenvectors);
//! assert_eq!((cache.counters().misses, cache.counters().hits()), (20, 20));
//! # Ok::<(), fiedler::Error>(())
//! ```

mod disk;
mod key;
mod memory;
mod packs;
mod store;
mod user;

pub use key::{Key, KeyHasher};

use crate::error::{Error, Result};
use disk::{Folder, Looked};
use memory::Memory;
use packs::Packs;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use store::Store;
use user::{DEFAULT_BYTES, DEFAULT_PACKS_BYTES, UserFolder, user_folder};

/// A stored value, as bytes.
pub type Value = Arc<[u8]>;

/// The counters of a cache since it was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// The number of values found in memory.
    pub memory_hits: u64,
    /// The number of values found on disk.
    pub disk_hits: u64,
    /// The number of values that were searched for but not found.
    pub misses: u64,
    /// The number of entries that were evicted to make room, in memory and on disk.
    pub evictions: u64,
    /// The number of entries that were dropped because their content was not as expected.
    pub damaged: u64,
    /// The number of times that the operating system refused to read or write a file.
    pub refused: u64,
    /// The number of entries in memory.
    pub entries: usize,
    /// The number of bytes of the entries in memory.
    pub bytes: u64,
}

impl Counters {
    /// Returns the number of values found, in memory or on disk.
    #[must_use]
    pub fn hits(&self) -> u64 {
        self.memory_hits + self.disk_hits
    }
}

/// A store of computed results, which threads may share. A new cache stores nothing until [`Cache::memory`],
/// [`Cache::disk`] or [`Cache::packs`] sets a limit.
#[derive(Debug)]
pub struct Cache {
    /// The entries on disk, if a folder was set. Entries on disk may also be in memory.
    disk: Option<Mutex<Disk>>,
    memory: Mutex<Memory>,
    clear_every: Option<u64>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct Disk {
    store: Store,
    /// Whether to write entries. After the operating system refuses a write, no more entries are written, because a
    /// full disk would also refuse the next file.
    writable: bool,
}

/// The counters, and flags that say which warnings were logged, because each kind of warning is logged only once.
#[derive(Debug, Default)]
struct State {
    counters: Counters,
    calls: u64,
    said_damaged: bool,
    said_refused: bool,
}

impl Default for Cache {
    fn default() -> Self {
        Self::new()
    }
}

impl Cache {
    /// Creates a cache that stores nothing yet.
    #[must_use]
    pub fn new() -> Self {
        let memory = Mutex::new(Memory::new(0, 0));
        Self { disk: None, memory, clear_every: None, state: Mutex::default() }
    }

    /// Stores at most `entries` entries and `bytes` bytes in memory. The least recently used entries are evicted first.
    #[must_use]
    pub fn memory(mut self, entries: usize, bytes: u64) -> Self {
        self.memory = Mutex::new(Memory::new(entries, bytes));
        self
    }

    /// Stores entries in `folder`, with one file per entry and at most `bytes` bytes in total. [`u64::MAX`] means no
    /// limit. The folder is created with the first entry. Several processes may share a folder.
    #[must_use]
    pub fn disk(self, folder: impl Into<PathBuf>, bytes: u64) -> Self {
        self.stored(Store::Files(Folder::new(folder.into(), bytes)))
    }

    /// Stores entries in `folder`, with many entries per file and at most `bytes` bytes in total. [`u64::MAX`] means no
    /// limit. This is faster than [`Cache::disk`] for many small entries. Entries are collected in memory, and written
    /// when there are 64 MiB of them or an eighth of the limit, or 5 s after the first of them when the next one is
    /// put, or by [`Cache::flush`], or when the cache is dropped. The folder is created with the first file. Several
    /// processes may share a folder.
    #[must_use]
    pub fn packs(self, folder: impl Into<PathBuf>, bytes: u64) -> Self {
        self.stored(Store::Packs(Packs::new(folder.into(), bytes)))
    }

    fn stored(mut self, store: Store) -> Self {
        self.disk = Some(Mutex::new(Disk { store, writable: true }));
        self
    }

    /// Stores entries on disk, as [`Cache::disk`] does. The folder is the value of `FIEDLER_CACHE_DIR` or, if that is
    /// not set, this user's cache folder. The limit is the value of `FIEDLER_CACHE_BYTES` (default 1G), where 0 means
    /// that nothing is stored on disk. If `FIEDLER_CACHE_DIR` is not set and the user has no home folder, logs a
    /// warning and stores nothing on disk.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if the value of `FIEDLER_CACHE_BYTES` is invalid.
    pub fn user_disk(self) -> Result<Self> {
        Ok(match user_folder(DEFAULT_BYTES)? {
            Some((UserFolder::Given(folder), bytes)) => self.disk(folder, bytes),
            Some((UserFolder::Own(folder), bytes)) => self.disk(folder.join("encodings"), bytes),
            None => self,
        })
    }

    /// Stores entries on disk, as [`Cache::packs`] does, in the folder `features` of the folder of
    /// [`Cache::user_disk`], with the same variables. The default limit is 4G.
    ///
    /// # Errors
    /// As for [`Cache::user_disk`].
    pub fn user_packs(self) -> Result<Self> {
        Ok(match user_folder(DEFAULT_PACKS_BYTES)? {
            Some((UserFolder::Given(folder) | UserFolder::Own(folder), bytes)) => {
                self.packs(folder.join("features"), bytes)
            }
            None => self,
        })
    }

    /// Removes all entries from memory after every `calls` calls that use the cache, or never if `calls` is 0. This is
    /// meant for training loops whose graphs change from epoch to epoch. Entries on disk are kept.
    #[must_use]
    pub fn clear_every(mut self, calls: u64) -> Self {
        self.clear_every = Some(calls).filter(|&calls| calls > 0);
        self
    }

    /// Returns the folder of entries on disk, if there is one.
    #[must_use]
    pub fn folder(&self) -> Option<PathBuf> {
        self.disk.as_ref().map(|disk| locked(disk).store.path().to_owned())
    }

    /// Returns the value that is stored under `key`, if there is one.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<Value> {
        let (value, in_memory) = self.look_up(key);
        let counters = &mut locked(&self.state).counters;
        match (&value, in_memory) {
            (Some(_), true) => counters.memory_hits += 1,
            (Some(_), false) => counters.disk_hits += 1,
            (None, _) => counters.misses += 1,
        }
        value
    }

    /// Returns the value that is stored under `key`, if there is one, without counting it as found or as missed.
    pub(crate) fn peek(&self, key: &Key) -> Option<Value> {
        self.look_up(key).0
    }

    /// Returns the value that is stored under `key`, and whether it was found in memory.
    fn look_up(&self, key: &Key) -> (Option<Value>, bool) {
        if let Some(value) = locked(&self.memory).get(key) {
            return (Some(value), true);
        }
        let Some(disk) = &self.disk else { return (None, false) };
        let (looked, problems) = locked(disk).store.get(key);
        self.report(problems);
        if let Looked::Found(value) = looked {
            let evicted = locked(&self.memory).put(*key, value.clone());
            locked(&self.state).counters.evictions += evicted;
            return (Some(value), false);
        }
        self.report([looked]);
        (None, false)
    }

    /// Stores a value in memory and on disk. The value is not stored in memory if it exceeds the limit of the memory,
    /// nor on disk if it exceeds the limit of the disk.
    pub fn put(&self, key: Key, value: &Value) {
        let evicted = locked(&self.memory).put(key, value.clone());
        locked(&self.state).counters.evictions += evicted;
        self.write(|store| store.put(&key, value));
    }

    /// Writes the entries that [`Cache::packs`] has collected.
    pub fn flush(&self) {
        self.write(Store::flush);
    }

    /// Calls a function that writes to the disk and returns the number of entries that it evicted.
    fn write(&self, write: impl FnOnce(&mut Store) -> (io::Result<u64>, Vec<Looked>)) {
        let Some(disk) = &self.disk else { return };
        let mut disk = locked(disk);
        if !disk.writable {
            return;
        }
        let (written, problems) = write(&mut disk.store);
        disk.writable = written.is_ok();
        let path = disk.store.path().to_owned();
        drop(disk);
        self.report(problems);
        match written {
            Ok(evicted) => locked(&self.state).counters.evictions += evicted,
            Err(error) => self.refused("write to", &path, &error),
        }
    }

    /// Counts and logs what is wrong with entries.
    fn report(&self, looked: impl IntoIterator<Item = Looked>) {
        for looked in looked {
            match looked {
                Looked::Damaged(path, what) => self.damaged(&path, &what),
                Looked::Refused(path, error) => self.refused("read", &path, &error),
                Looked::Found(_) | Looked::Absent => {}
            }
        }
    }

    /// Reports that the value of `key` is unusable because it does not have the expected length.
    pub(crate) fn of_no_use(&self, key: &Key) {
        self.damaged(Path::new(&key.to_string()), &"its value is of another length");
    }

    /// Removes all entries from memory. Entries on disk are kept.
    pub fn clear(&self) {
        locked(&self.memory).clear();
    }

    /// Removes all entries from disk and from memory. Also removes the folder if it contains nothing else.
    ///
    /// # Errors
    /// [`Io`](crate::ErrorKind::Io) if the operating system refuses.
    pub fn clear_disk(&self) -> Result<()> {
        self.clear();
        let Some(disk) = &self.disk else { return Ok(()) };
        let mut disk = locked(disk);
        disk.store.remove().map_err(|error| Error::io("empty", disk.store.path(), error))
    }

    /// Counts a call for [`Cache::clear_every`]. A function that uses the cache must call this at its end.
    pub fn call_ended(&self) {
        let Some(every) = self.clear_every else { return };
        let calls = {
            let mut state = locked(&self.state);
            state.calls += 1;
            state.calls
        };
        if calls.is_multiple_of(every) {
            self.clear();
        }
    }

    /// Returns the counters so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let (entries, bytes) = {
            let memory = locked(&self.memory);
            (memory.len(), memory.bytes())
        };
        Counters { entries, bytes, ..locked(&self.state).counters }
    }

    fn damaged(&self, path: &Path, what: &dyn Display) {
        let mut state = locked(&self.state);
        state.counters.damaged += 1;
        if !std::mem::replace(&mut state.said_damaged, true) {
            let path = path.display();
            log::warn!(
                "a stored result is dropped, and computed again: {path}: {what} (more of them are counted, not said)"
            );
        }
    }

    fn refused(&self, doing: &str, path: &Path, error: &dyn Display) {
        let mut state = locked(&self.state);
        state.counters.refused += 1;
        if !std::mem::replace(&mut state.said_refused, true) {
            log::warn!("cannot {doing} {}: {error}; it goes on without stored results", path.display());
        }
    }
}

/// Locks a mutex, even if a thread panicked while it held the lock. The data is still consistent, because no lock is
/// held during a call that could panic and leave the data incomplete.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
