//! Many small entries on disk, in *packs*: files that are written once, with many entries in each. A pack is checked
//! when it is opened, and a value when it is read. The least recently used packs are evicted first.
//!
//! Several processes may use one folder, as with one file per entry. Each collects entries and writes packs of its own,
//! under a temporary name that is changed when the pack is complete. So a process that is killed loses only the entries
//! that it has collected. A process sees the packs that others have written when it opens the folder, and each time it
//! writes a pack. Packs are not synced to disk: a power failure may damage one, which fails its check.

mod file;
mod tidy;

use super::disk::{Looked, remove};
use super::{Key, Value};
use file::{ENDING, ENTRY, Entry, FRAME, Writer};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// The most bytes that are collected before they are written, unless the limit of the folder is less than 8 times this.
const PACK: u64 = 64 << 20;
/// The longest time for which an entry waits for others, if entries keep coming.
const WAIT: Duration = Duration::from_secs(5);
/// The most files that are open at a time. A process may have 256 or 1024 on most systems.
const OPEN: usize = 64;

/// A folder of packs.
#[derive(Debug)]
pub(super) struct Packs {
    path: PathBuf,
    most_bytes: u64,
    /// Whether the folder was listed.
    listed: bool,
    packs: Vec<Pack>,
    /// How many of the packs have an open file.
    open: usize,
    index: HashMap<Key, Place>,
    /// The entries that are not written yet, and their bytes in a pack.
    collected: Vec<(Key, Value)>,
    bytes: u64,
    /// When the first of them was put.
    since: Option<Instant>,
    /// What was wrong since the last call of [`Packs::problems`].
    problems: Vec<Looked>,
}

#[derive(Debug)]
struct Pack {
    path: PathBuf,
    file: Option<File>,
    bytes: u64,
    entries: Vec<Entry>,
    /// Whether this process has set its time of last use.
    used: bool,
    /// Whether one of its values was found to be damaged.
    damaged: bool,
    /// Whether it was removed.
    gone: bool,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Collected(usize),
    Stored { pack: usize, entry: usize },
}

impl Packs {
    pub(super) fn new(path: PathBuf, most_bytes: u64) -> Self {
        Self {
            path,
            most_bytes,
            listed: false,
            packs: Vec::new(),
            open: 0,
            index: HashMap::new(),
            collected: Vec::new(),
            bytes: 0,
            since: None,
            problems: Vec::new(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what was wrong with packs as a whole since the last call.
    pub(super) fn problems(&mut self) -> Vec<Looked> {
        std::mem::take(&mut self.problems)
    }

    /// Finds and checks an entry. The first entry that is found in a pack sets the pack's time of last use to now.
    pub(super) fn get(&mut self, key: &Key) -> Looked {
        self.list_once();
        match self.index.get(key) {
            None => Looked::Absent,
            Some(&Place::Collected(at)) => Looked::Found(self.collected[at].1.clone()),
            Some(&Place::Stored { pack, entry }) => self.read(pack, entry),
        }
    }

    fn read(&mut self, at: usize, entry: usize) -> Looked {
        if self.packs[at].gone {
            return Looked::Absent;
        }
        let read = self.file(at).and_then(|pack| {
            let Some(file) = &pack.file else { return Ok(Err("it is not open".into())) };
            file::value(file, &pack.entries[entry])
        });
        let pack = &mut self.packs[at];
        match read {
            Ok(Ok(value)) => {
                if !std::mem::replace(&mut pack.used, true)
                    && let Some(file) = &pack.file
                {
                    // If setting the time fails, the only effect is that the pack is evicted earlier.
                    let _ = file.set_modified(SystemTime::now());
                }
                Looked::Found(value)
            }
            Ok(Err(what)) => {
                pack.damaged = true;
                self.index.remove(&pack.entries[entry].key);
                Looked::Damaged(pack.path.clone(), what)
            }
            // Another process has evicted it, or has merged it with others, among which the entry is found.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                (pack.gone, self.listed) = (true, false);
                let key = pack.entries[entry].key;
                self.get(&key)
            }
            Err(error) => Looked::Refused(pack.path.clone(), error),
        }
    }

    /// Opens the file of a pack if it is closed.
    fn file(&mut self, at: usize) -> io::Result<&Pack> {
        if self.packs[at].file.is_none() {
            if self.open == OPEN {
                self.packs.iter_mut().for_each(|pack| pack.file = None);
                self.open = 0;
            }
            self.packs[at].file = Some(File::open(&self.packs[at].path)?);
            self.open += 1;
        }
        Ok(&self.packs[at])
    }

    /// Adds an entry to those that are collected, and writes a pack if they are many or old. Returns the number of
    /// entries that were evicted.
    pub(super) fn put(&mut self, key: &Key, value: &Value) -> io::Result<u64> {
        self.list_once();
        let size = (value.len() + ENTRY) as u64;
        if FRAME + size > self.most_bytes {
            return Ok(0);
        }
        let enough = PACK.min(self.most_bytes / 8);
        let mut evicted = 0;
        if !self.collected.is_empty() && self.bytes + size > enough {
            evicted += self.flush()?;
        }
        self.bytes += size;
        match self.index.get(key) {
            Some(&Place::Collected(at)) => {
                let old = std::mem::replace(&mut self.collected[at].1, value.clone());
                self.bytes -= (old.len() + ENTRY) as u64;
            }
            _ => {
                self.index.insert(*key, Place::Collected(self.collected.len()));
                self.collected.push((*key, value.clone()));
            }
        }
        let waited = self.since.get_or_insert_with(Instant::now).elapsed();
        if self.bytes >= enough || waited >= WAIT {
            evicted += self.flush()?;
        }
        Ok(evicted)
    }

    /// Writes the entries that were collected, after evicting packs if necessary, and writes the packs anew in which
    /// values are damaged. Returns the number of entries that were evicted. If writing fails, the entries are dropped.
    pub(super) fn flush(&mut self) -> io::Result<u64> {
        if self.collected.is_empty() && !self.packs.iter().any(|pack| pack.damaged && !pack.gone) {
            return Ok(0);
        }
        let collected = std::mem::take(&mut self.collected);
        let bytes = std::mem::take(&mut self.bytes);
        self.since = None;
        let written = self.write(&collected, bytes);
        if written.is_err() {
            self.packs.iter_mut().for_each(|pack| pack.damaged = false);
            for (key, _) in &collected {
                if let Some(Place::Collected(_)) = self.index.get(key) {
                    self.index.remove(key);
                }
            }
        }
        written
    }

    fn write(&mut self, collected: &[(Key, Value)], bytes: u64) -> io::Result<u64> {
        fs::create_dir_all(&self.path)?;
        let listed = self.list()?;
        let evicted = if collected.is_empty() { 0 } else { self.make_room(&listed, FRAME + bytes)? };
        let mut writer = Writer::new(&self.path)?;
        for (key, value) in collected {
            writer.add(*key, value)?;
        }
        if let Some((path, bytes, entries)) = writer.finish(&self.path, SystemTime::now())? {
            self.add(path, bytes, entries, true);
        }
        self.merge(&listed)?;
        Ok(evicted)
    }

    /// Adds a pack to the index. If it is `new`, its entries replace those of the same keys.
    fn add(&mut self, path: PathBuf, bytes: u64, entries: Vec<Entry>, new: bool) {
        let pack = self.packs.len();
        for (entry, Entry { key, .. }) in entries.iter().enumerate() {
            let absent = match self.index.get(key) {
                Some(Place::Stored { pack, .. }) => self.packs[*pack].gone,
                Some(Place::Collected(_)) => false,
                None => true,
            };
            if new || absent {
                self.index.insert(*key, Place::Stored { pack, entry });
            }
        }
        self.packs.push(Pack { path, file: None, bytes, entries, used: new, damaged: false, gone: false });
    }

    /// Forgets all entries, and removes every pack and every temporary file. Also removes the folder if it contains
    /// nothing else.
    pub(super) fn remove(&mut self) -> io::Result<()> {
        self.collected.clear();
        (self.bytes, self.since) = (0, None);
        self.packs.clear();
        (self.open, self.listed) = (0, false);
        self.index.clear();
        remove(&self.path, ENDING)
    }
}

impl Drop for Packs {
    fn drop(&mut self) {
        if let Err(error) = self.flush() {
            log::warn!("cannot write to {}: {error}; some results are not stored", self.path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::KeyHasher;
    use super::*;

    fn packs(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn packs_are_written_when_they_are_large_or_old() {
        let folder = tempfile::tempdir().unwrap();
        let key = |i: u64| KeyHasher::new("tests").number(i).finish();
        let mut cache = Packs::new(folder.path().to_owned(), 8 * 10_000);
        let value = Value::from(vec![7; 3000]);
        for i in 0..3 {
            cache.put(&key(i), &value).unwrap();
        }
        assert_eq!((packs(folder.path()), cache.bytes), (0, 3 * 3064));
        // The fourth does not fit into the same pack.
        cache.put(&key(3), &value).unwrap();
        assert_eq!((packs(folder.path()), cache.collected.len()), (1, 1));
        // A value that replaces another takes its place.
        cache.put(&key(3), &Value::from(vec![1; 100])).unwrap();
        assert_eq!((cache.bytes, cache.collected.len()), (164, 1));
        cache.since = Instant::now().checked_sub(WAIT);
        cache.put(&key(4), &value).unwrap();
        assert_eq!((packs(folder.path()), cache.collected.len(), cache.bytes), (2, 0, 0));
        cache.put(&key(5), &value).unwrap();
        assert_eq!(packs(folder.path()), 2, "the time begins anew");
    }

    #[test]
    fn few_files_are_open_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let key = |i: u64| KeyHasher::new("tests").number(i).finish();
        // Every entry has a pack of its own. The packs are said to be large, so that they are not merged.
        let mut cache = Packs::new(folder.path().to_owned(), 200_000);
        for i in 0..150 {
            cache.put(&key(i), &Value::from(vec![7; 1])).unwrap();
            cache.packs.iter_mut().for_each(|pack| pack.bytes = 1 << 20);
            cache.flush().unwrap();
        }
        for i in (0..150).chain(0..150) {
            assert!(matches!(cache.get(&key(i)), Looked::Found(_)), "{i}");
            let open = cache.packs.iter().filter(|pack| pack.file.is_some()).count();
            assert!(open == cache.open && open <= OPEN, "{open} and {}", cache.open);
        }
        assert_eq!(packs(folder.path()), 150);
    }
}
