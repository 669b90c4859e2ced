//! The entries in a folder: one file each, that appears whole or not at all, is checked when it is read, and is evicted by
//! its time of last use.
//!
//! Several processes may use one folder. A file is written under another name and renamed, so nobody sees a part of one,
//! and the last of two writers of one key wins with the same bytes. A file that another process evicts is one that is not there.
//! Nothing is synced: a file that a power failure left empty or short fails its check, and is computed again.

use super::Key;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const MAGIC: [u8; 8] = *b"FIEDLER\x1a";
/// Of the header.
const VERSION: u32 = 1;
/// Magic, version, key, length of the value, BLAKE3 of the value.
const HEADER: usize = 8 + 4 + 32 + 8 + 32;
const ENDING: &str = ".entry";
const TEMPORARY: (&str, &str) = (".fiedler-", ".tmp");
/// A temporary file of that age belongs to no living writer.
const ABANDONED: Duration = Duration::from_secs(3600);
/// So many files after it was last listed, the folder is listed again, for other processes write to it, too.
const LISTED_EVERY: u32 = 32;

/// What came of looking for an entry.
pub(super) enum Looked {
    Found(Vec<u8>),
    Absent,
    /// It was there, and is not what it should be: it was removed, if that was possible.
    Damaged(PathBuf, String),
    Refused(PathBuf, io::Error),
}

/// A folder of entries.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    most_bytes: u64,
    /// Bytes of its entries, as far as is known.
    bytes: Option<u64>,
    written: u32,
}

struct Listed {
    modified: SystemTime,
    path: PathBuf,
    bytes: u64,
}

impl Folder {
    pub(super) fn new(path: PathBuf, most_bytes: u64) -> Self {
        Self { path, most_bytes, bytes: None, written: 0 }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn file(&self, key: &Key) -> PathBuf {
        self.path.join(format!("{key}{ENDING}"))
    }

    /// Finds, checks and touches an entry.
    pub(super) fn get(&self, key: &Key) -> Looked {
        let path = self.file(key);
        // What is no file is not opened: a pipe would never end.
        let file = match fs::metadata(&path)
            .and_then(|found| if found.is_file() { File::open(&path).map(Some) } else { Ok(None) })
        {
            Ok(Some(file)) => file,
            Ok(None) => return Looked::Refused(path, io::Error::other("it is no file")),
            // A folder that is not there, or that is a file, has no entries; writing will say what is wrong.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Looked::Absent;
            }
            Err(error) => return Looked::Refused(path, error),
        };
        match checked(&file, key) {
            Ok(Ok(value)) => {
                // The time of last use. Where it cannot be set, the entry is merely evicted earlier.
                let _ = file.set_modified(SystemTime::now());
                Looked::Found(value)
            }
            Ok(Err(what)) => {
                drop(file);
                let _ = fs::remove_file(&path);
                Looked::Damaged(path, what)
            }
            Err(error) => Looked::Refused(path, error),
        }
    }

    /// Writes an entry, after others went to make room. Returns how many went, and whether there was room at all.
    pub(super) fn put(&mut self, key: &Key, value: &[u8]) -> io::Result<(u64, bool)> {
        let size = (HEADER + value.len()) as u64;
        if size > self.most_bytes {
            return Ok((0, false));
        }
        fs::create_dir_all(&self.path)?;
        let evicted = self.make_room(size)?;
        let mut builder = tempfile::Builder::new();
        let mut file = builder.prefix(TEMPORARY.0).suffix(TEMPORARY.1).tempfile_in(&self.path)?;
        file.write_all(&header(key, value))?;
        file.write_all(value)?;
        let _ = file.as_file().set_modified(SystemTime::now());
        // Closed first: Windows renames no open file.
        let (file, place) = file.into_parts();
        drop(file);
        let path = self.file(key);
        if let Err(error) = place.persist(&path) {
            // Elsewhere than on Unix another process may have it open, which is as good: it is there.
            if !path.is_file() {
                return Err(error.error);
            }
        }
        self.written += 1;
        self.bytes = self.bytes.map(|bytes| bytes + size);
        Ok((evicted, true))
    }

    /// Removes the least recently used entries until another of `size` fits; then an eighth more, so that a full folder is not
    /// listed for every file.
    fn make_room(&mut self, size: u64) -> io::Result<u64> {
        if self.most_bytes == u64::MAX {
            return Ok(0);
        }
        let known = self.bytes.filter(|_| !self.written.is_multiple_of(LISTED_EVERY));
        if known.is_some_and(|bytes| bytes + size <= self.most_bytes) {
            return Ok(0);
        }
        let mut entries = self.list()?;
        let mut bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
        let mut evicted = 0;
        if bytes + size > self.most_bytes {
            entries.sort_by(|a, b| (a.modified, &a.path).cmp(&(b.modified, &b.path)));
            let goal = (self.most_bytes - self.most_bytes / 8).max(size) - size;
            for entry in entries {
                if bytes <= goal {
                    break;
                }
                match fs::remove_file(&entry.path) {
                    Ok(()) => evicted += 1,
                    // Another process was faster.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
                bytes -= entry.bytes;
            }
        }
        self.bytes = Some(bytes);
        Ok(evicted)
    }

    /// The entries that there are. Temporary files that a killed process left go.
    fn list(&self) -> io::Result<Vec<Listed>> {
        let mut entries = Vec::new();
        for found in fs::read_dir(&self.path)? {
            let found = found?;
            let name = found.file_name();
            let name = name.to_string_lossy();
            // What vanishes meanwhile is not there.
            let Ok(metadata) = found.metadata() else { continue };
            let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            if is_entry(&name) {
                entries.push(Listed { modified, path: found.path(), bytes: metadata.len() });
            } else if is_temporary(&name) && modified.elapsed().is_ok_and(|age| age > ABANDONED) {
                let _ = fs::remove_file(found.path());
            }
        }
        Ok(entries)
    }

    /// Removes every entry, every temporary file, and the folder if nothing else is in it.
    pub(super) fn remove(&mut self) -> io::Result<()> {
        self.bytes = None;
        let found = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            found => found?,
        };
        for found in found {
            let found = found?;
            let name = found.file_name();
            let name = name.to_string_lossy();
            if is_entry(&name) || is_temporary(&name) {
                match fs::remove_file(found.path()) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
        // Not if somebody keeps other files there.
        let _ = fs::remove_dir(&self.path);
        Ok(())
    }
}

fn is_entry(name: &str) -> bool {
    name.strip_suffix(ENDING).is_some_and(|key| key.len() == 64 && key.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY.0) && name.ends_with(TEMPORARY.1)
}

fn header(key: &Key, value: &[u8]) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    let (mut rest, hash) = (&mut header[..], blake3::hash(value));
    let length = (value.len() as u64).to_le_bytes();
    for part in [&MAGIC[..], &VERSION.to_le_bytes(), &key.0, &length, hash.as_bytes()] {
        let (own, others) = rest.split_at_mut(part.len());
        own.copy_from_slice(part);
        rest = others;
    }
    header
}

/// The value of an entry's file, or what is wrong with it. Errors are the system's.
fn checked(mut file: &File, key: &Key) -> io::Result<Result<Vec<u8>, String>> {
    let length = file.metadata()?.len();
    let Some(length) = length.checked_sub(HEADER as u64).and_then(|length| usize::try_from(length).ok()) else {
        return Ok(Err(format!("expected a header of {HEADER} bytes, found {length} bytes in all")));
    };
    let mut found = [0; HEADER];
    file.read_exact(&mut found)?;
    // What the header says before the value is known: a length that is not the file's is not worth reading it.
    let told = header(key, &[]);
    let wanted = [&told[..44], &(length as u64).to_le_bytes()].concat();
    for (name, range) in [("magic", 0..8), ("version", 8..12), ("key", 12..44), ("length", 44..52)] {
        if found[range.clone()] != wanted[range] {
            return Ok(Err(format!("it has another {name}")));
        }
    }
    let mut value = Vec::new();
    if value.try_reserve_exact(length).is_err() {
        return Ok(Err(format!("no memory for its {length} bytes")));
    }
    value.resize(length, 0);
    match file.read_exact(&mut value) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(Err("it became shorter".into())),
        read => read?,
    }
    Ok(if blake3::hash(&value).as_bytes()[..] == found[52..] {
        Ok(value)
    } else {
        Err("its bytes have changed".into())
    })
}
