//! Results that were computed before, in memory and on disk, under a hash of everything that they depend on.
//!
//! This floor knows keys and bytes, and not what they mean: [`encode`](crate::encode) makes both. A cache never fails
//! its user: what cannot be read or written is reported once, counted, and computed again.
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

pub use key::{Key, KeyHasher};

use crate::context::bytes_from;
use crate::error::{Error, Result};
use disk::{Folder, Looked};
use memory::Memory;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A stored value: bytes.
pub type Value = Arc<[u8]>;

/// The default limit of the disk cache, in bytes.
const DEFAULT_BYTES: u64 = 1 << 30;

/// What a cache has counted since it was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Values found in memory.
    pub memory_hits: u64,
    /// Values found on disk.
    pub disk_hits: u64,
    /// Values searched for and not found.
    pub misses: u64,
    /// Entries that were evicted to make room, in memory and on disk.
    pub evictions: u64,
    /// Files that were not as expected and were dropped.
    pub damaged: u64,
    /// Files that the system refused to read or write.
    pub refused: u64,
    /// The number of entries in memory.
    pub entries: usize,
    /// The bytes of the entries in memory.
    pub bytes: u64,
}

impl Counters {
    /// Returns the number of values found, in memory or on disk.
    #[must_use]
    pub fn hits(&self) -> u64 {
        self.memory_hits + self.disk_hits
    }
}

/// A store of computed results, which threads may share. A new cache keeps nothing:
/// [`Cache::memory`] and [`Cache::disk`] give it room.
#[derive(Debug)]
pub struct Cache {
    /// The entries on disk, which are in memory too if there is room.
    disk: Option<Mutex<Disk>>,
    memory: Mutex<Memory>,
    clear_every: Option<u64>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct Disk {
    folder: Folder,
    /// Whether to write. After a refusal nothing more is written, because a full disk will not be
    /// emptier for the next file.
    writable: bool,
}

/// The counters, and which kinds of warning were given: each is given once.
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
    /// Creates a cache that keeps nothing yet.
    #[must_use]
    pub fn new() -> Self {
        let memory = Mutex::new(Memory::new(0, 0));
        Self { disk: None, memory, clear_every: None, state: Mutex::default() }
    }

    /// Keeps at most `entries` entries and `bytes` bytes in memory; the least recently used are evicted first.
    #[must_use]
    pub fn memory(mut self, entries: usize, bytes: u64) -> Self {
        self.memory = Mutex::new(Memory::new(entries, bytes));
        self
    }

    /// Keeps entries in `folder`, which is created with the first entry: one file each, at most `bytes` bytes in total
    /// ([`u64::MAX`]: no limit). Several processes may share it.
    #[must_use]
    pub fn disk(mut self, folder: impl Into<PathBuf>, bytes: u64) -> Self {
        self.disk = Some(Mutex::new(Disk { folder: Folder::new(folder.into(), bytes), writable: true }));
        self
    }

    /// Does the same as [`Cache::disk`] in the user's folder: `FIEDLER_CACHE_DIR`, or else the
    /// system's cache folder for this user. The limit is `FIEDLER_CACHE_BYTES` (default 1G; 0 keeps
    /// nothing). If no folder can be found, it warns and keeps nothing.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if the bytes cannot be understood.
    pub fn user_disk(self) -> Result<Self> {
        let said = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let bytes = match said("FIEDLER_CACHE_BYTES").map(|text| text.to_string_lossy().into_owned()) {
            None => DEFAULT_BYTES,
            Some(text) if text.trim() == "0" => return Ok(self),
            Some(text) => bytes_from(&text).ok_or_else(|| {
                Error::domain("FIEDLER_CACHE_BYTES", format!("expected 0 or bytes such as 512M or 2G, found `{text}`"))
            })?,
        };
        let own = || directories::ProjectDirs::from("", "", "fiedler").map(|dirs| dirs.cache_dir().join("encodings"));
        match said("FIEDLER_CACHE_DIR").map(PathBuf::from).or_else(own) {
            Some(folder) => Ok(self.disk(folder, bytes)),
            None => {
                log::warn!("no cache: this user has no home, and FIEDLER_CACHE_DIR names no folder");
                Ok(self)
            }
        }
    }

    /// Forgets what is in memory after every `calls` calls that use the cache, for training loops whose graphs change
    /// from epoch to epoch; 0 means never. The disk stays as it is.
    #[must_use]
    pub fn clear_every(mut self, calls: u64) -> Self {
        self.clear_every = Some(calls).filter(|&calls| calls > 0);
        self
    }

    /// Returns the folder of entries on disk, if there is one.
    #[must_use]
    pub fn folder(&self) -> Option<PathBuf> {
        self.disk.as_ref().map(|disk| locked(disk).folder.path().to_owned())
    }

    /// Returns what is stored for the key.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<Value> {
        if let Some(value) = locked(&self.memory).get(key) {
            locked(&self.state).counters.memory_hits += 1;
            return Some(value);
        }
        let looked = self.disk.as_ref().map(|disk| locked(disk).folder.get(key));
        if let Some(Looked::Found(value)) = looked {
            let value = Value::from(value);
            let evicted = locked(&self.memory).put(*key, value.clone());
            let counters = &mut locked(&self.state).counters;
            counters.disk_hits += 1;
            counters.evictions += evicted;
            return Some(value);
        }
        match looked {
            Some(Looked::Damaged(path, what)) => self.damaged(&path, &what),
            Some(Looked::Refused(path, error)) => self.refused("read", &path, &error),
            _ => {}
        }
        locked(&self.state).counters.misses += 1;
        None
    }

    /// Stores a value in memory and on disk, if each has room for it.
    pub fn put(&self, key: Key, value: &Value) {
        let mut evicted = locked(&self.memory).put(key, value.clone());
        let mut refused = None;
        if let Some(disk) = &self.disk {
            let mut disk = locked(disk);
            if disk.writable {
                match disk.folder.put(&key, value) {
                    Ok((went, _)) => evicted += went,
                    Err(error) => {
                        disk.writable = false;
                        refused = Some((disk.folder.path().to_owned(), error));
                    }
                }
            }
        }
        locked(&self.state).counters.evictions += evicted;
        if let Some((path, error)) = refused {
            self.refused("write to", &path, &error);
        }
    }

    /// Reports that the key's value is useless: its reader found another length than it must have.
    pub(crate) fn of_no_use(&self, key: &Key) {
        self.damaged(Path::new(&key.to_string()), &"its value is of another length");
    }

    /// Forgets what is in memory. The disk stays as it is.
    pub fn clear(&self) {
        locked(&self.memory).clear();
    }

    /// Removes every entry from the disk, and the folder if nothing else is in it. It also forgets what is in memory.
    ///
    /// # Errors
    /// [`Io`](crate::ErrorKind::Io) if the system refuses.
    pub fn clear_disk(&self) -> Result<()> {
        self.clear();
        let Some(disk) = &self.disk else { return Ok(()) };
        let mut disk = locked(disk);
        disk.folder.remove().map_err(|error| Error::io("empty", disk.folder.path(), error))
    }

    /// Counts a call for [`Cache::clear_every`]. Code that uses the cache calls this at the end of each of its calls.
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

    /// Returns what the cache has counted so far.
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

/// Locks a mutex. What a panicking thread left is consistent: no lock is held over a call that could panic half-way.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
