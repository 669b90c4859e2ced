//! The entries in memory. The least recently used entries are evicted first.

use super::{Key, Value};
use std::collections::{BTreeMap, HashMap};

/// Entries in memory, with a maximum number of entries and a maximum number of bytes.
#[derive(Debug)]
pub(super) struct Memory {
    most_entries: usize,
    most_bytes: u64,
    entries: HashMap<Key, (Value, u64)>,
    /// The keys, ordered by the time of last use. No two entries have the same time.
    used: BTreeMap<u64, Key>,
    now: u64,
    bytes: u64,
}

impl Memory {
    pub(super) fn new(most_entries: usize, most_bytes: u64) -> Self {
        let (entries, used) = (HashMap::new(), BTreeMap::new());
        Self { most_entries, most_bytes, entries, used, now: 0, bytes: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn get(&mut self, key: &Key) -> Option<Value> {
        let (value, used) = self.entries.get_mut(key)?;
        self.used.remove(used);
        self.now += 1;
        *used = self.now;
        self.used.insert(self.now, *key);
        Some(value.clone())
    }

    /// Stores a value and returns the number of entries that were evicted. A value that alone exceeds a limit is not
    /// stored.
    pub(super) fn put(&mut self, key: Key, value: Value) -> u64 {
        self.remove(&key);
        let size = value.len() as u64;
        if size > self.most_bytes || self.most_entries == 0 {
            return 0;
        }
        let mut evicted = 0;
        while self.bytes > self.most_bytes - size || self.entries.len() >= self.most_entries {
            let Some((_, oldest)) = self.used.pop_first() else { break };
            self.remove(&oldest);
            evicted += 1;
        }
        self.now += 1;
        self.used.insert(self.now, key);
        self.entries.insert(key, (value, self.now));
        self.bytes += size;
        evicted
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.used.clear();
        self.bytes = 0;
    }

    fn remove(&mut self, key: &Key) {
        if let Some((value, used)) = self.entries.remove(key) {
            self.used.remove(&used);
            self.bytes -= value.len() as u64;
        }
    }
}
