//! Entries on disk, in one of two forms.

use super::disk::{Folder, Looked};
use super::packs::Packs;
use super::{Key, Value};
use std::io;
use std::path::Path;

/// How entries are stored on disk.
#[derive(Debug)]
pub(super) enum Store {
    /// With one file per entry.
    Files(Folder),
    /// With many entries per file.
    Packs(Packs),
}

impl Store {
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Files(folder) => folder.path(),
            Self::Packs(packs) => packs.path(),
        }
    }

    /// Finds an entry. Also returns what is wrong with the rest of the store.
    pub(super) fn get(&mut self, key: &Key) -> (Looked, Vec<Looked>) {
        match self {
            Self::Files(folder) => (folder.get(key), Vec::new()),
            Self::Packs(packs) => (packs.get(key), packs.problems()),
        }
    }

    /// Stores an entry, and returns the number of entries that were evicted. Also returns what is wrong with the rest
    /// of the store.
    pub(super) fn put(&mut self, key: &Key, value: &Value) -> (io::Result<u64>, Vec<Looked>) {
        match self {
            Self::Files(folder) => (folder.put(key, value), Vec::new()),
            Self::Packs(packs) => (packs.put(key, value), packs.problems()),
        }
    }

    pub(super) fn flush(&mut self) -> (io::Result<u64>, Vec<Looked>) {
        match self {
            Self::Files(_) => (Ok(0), Vec::new()),
            Self::Packs(packs) => (packs.flush(), packs.problems()),
        }
    }

    pub(super) fn remove(&mut self) -> io::Result<()> {
        match self {
            Self::Files(folder) => folder.remove(),
            Self::Packs(packs) => packs.remove(),
        }
    }
}
