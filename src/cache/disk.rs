//! The entries on disk, with one file per entry in a folder. A file is written atomically and checked when it is read.
//! The least recently used files are evicted first.
//!
//! Several processes may use one folder. A file is written under a temporary name and then renamed, so no reader sees
//! an incomplete file. If two processes write an entry with the same key, the second file replaces the first, which has
//! the same content. A file that another process has evicted counts as absent. Files are not synced to disk. If a power
//! failure leaves a file empty or too short, the file fails its check, and the entry is computed again.

use super::{Key, Value};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const MAGIC: [u8; 8] = *b"FIEDLER\x1a";
/// The version of the header.
const VERSION: u32 = 1;
/// The size in bytes of the header, which consists of the magic, the version, the key, the length of the value, and the
/// BLAKE3 hash of the value.
const HEADER: usize = 8 + 4 + 32 + 8 + 32;
const ENDING: &str = ".entry";
pub(super) const TEMPORARY: (&str, &str) = (".fiedler-", ".tmp");
/// The age after which a temporary file is considered abandoned by its writer.
const ABANDONED: Duration = Duration::from_secs(3600);
/// After this process has written this number of files, it lists the folder again, because other processes may also
/// write to the folder.
const LISTED_EVERY: u32 = 32;

/// The result of searching for an entry.
#[derive(Debug)]
pub(super) enum Looked {
    Found(Value),
    Absent,
    /// The entry exists, but its content is not as expected. It will not be found again.
    Damaged(PathBuf, String),
    Refused(PathBuf, io::Error),
}

/// A folder of entries.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    most_bytes: u64,
    /// The number of bytes of all entries, as of the last listing and the writes of this process since then, or `None`
    /// if the folder was not listed yet.
    bytes: Option<u64>,
    written: u32,
}

/// A file of a folder.
pub(super) struct Listed {
    pub(super) modified: SystemTime,
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
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

    /// Finds and checks an entry, and sets its time of last use to now.
    pub(super) fn get(&self, key: &Key) -> Looked {
        let path = self.file(key);
        // Only a regular file is opened, because reading a pipe could block forever.
        let file = match fs::metadata(&path)
            .and_then(|found| if found.is_file() { File::open(&path).map(Some) } else { Ok(None) })
        {
            Ok(Some(file)) => file,
            Ok(None) => return Looked::Refused(path, io::Error::other("it is no file")),
            // If the folder does not exist or is not a folder, the entry is absent. The next write will report the
            // problem.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Looked::Absent;
            }
            Err(error) => return Looked::Refused(path, error),
        };
        match checked(&file, key) {
            Ok(Ok(value)) => {
                // The modification time is the time of last use. If setting it fails, the only effect is that the entry
                // is evicted earlier.
                let _ = file.set_modified(SystemTime::now());
                Looked::Found(value.into())
            }
            Ok(Err(what)) => {
                drop(file);
                let _ = fs::remove_file(&path);
                Looked::Damaged(path, what)
            }
            Err(error) => Looked::Refused(path, error),
        }
    }

    /// Writes an entry, after evicting other entries if necessary. Returns the number of entries that were evicted.
    /// An entry that exceeds the limit is not written.
    pub(super) fn put(&mut self, key: &Key, value: &[u8]) -> io::Result<u64> {
        let size = (HEADER + value.len()) as u64;
        if size > self.most_bytes {
            return Ok(0);
        }
        fs::create_dir_all(&self.path)?;
        let evicted = self.make_room(size)?;
        let mut builder = tempfile::Builder::new();
        let mut file = builder.prefix(TEMPORARY.0).suffix(TEMPORARY.1).tempfile_in(&self.path)?;
        file.write_all(&header(key, value))?;
        file.write_all(value)?;
        let _ = file.as_file().set_modified(SystemTime::now());
        // The file is closed before the rename, because Windows does not rename open files.
        let (file, place) = file.into_parts();
        drop(file);
        let path = self.file(key);
        if let Err(error) = place.persist(&path) {
            // On systems other than Unix, the rename fails if another process has the file of the same entry open. This
            // is not an error, because the entry already exists.
            if !path.is_file() {
                return Err(error.error);
            }
        }
        self.written += 1;
        self.bytes = self.bytes.map(|bytes| bytes + size);
        Ok(evicted)
    }

    /// Ensures that another entry of `size` bytes fits within the limit. If it does not fit, removes the least recently
    /// used entries until, with the new entry, an eighth of the limit is free. The free space avoids listing a full
    /// folder for every new file.
    fn make_room(&mut self, size: u64) -> io::Result<u64> {
        if self.most_bytes == u64::MAX {
            return Ok(0);
        }
        let known = self.bytes.filter(|_| !self.written.is_multiple_of(LISTED_EVERY));
        if known.is_some_and(|bytes| bytes + size <= self.most_bytes) {
            return Ok(0);
        }
        let mut entries = list(&self.path, ENDING)?;
        let mut bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
        let mut evicted = 0;
        if bytes + size > self.most_bytes {
            entries.sort_unstable_by(|a, b| (a.modified, &a.path).cmp(&(b.modified, &b.path)));
            let goal = (self.most_bytes - self.most_bytes / 8).max(size) - size;
            for entry in entries {
                if bytes <= goal {
                    break;
                }
                match fs::remove_file(&entry.path) {
                    Ok(()) => evicted += 1,
                    // Another process has already removed the file.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
                bytes -= entry.bytes;
            }
        }
        self.bytes = Some(bytes);
        Ok(evicted)
    }

    /// Removes every entry and every temporary file. Also removes the folder if it contains nothing else.
    pub(super) fn remove(&mut self) -> io::Result<()> {
        self.bytes = None;
        remove(&self.path, ENDING)
    }
}

/// Lists the files of a folder that are named as those of a cache, with this ending, and removes temporary files that
/// were left by a killed process.
pub(super) fn list(folder: &Path, ending: &str) -> io::Result<Vec<Listed>> {
    let mut files = Vec::new();
    for found in fs::read_dir(folder)? {
        let found = found?;
        let name = found.file_name();
        let name = name.to_string_lossy();
        // A file that another process removes during the listing counts as absent.
        let Ok(metadata) = found.metadata() else { continue };
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        if is_named(&name, ending) {
            files.push(Listed { modified, path: found.path(), bytes: metadata.len() });
        } else if is_temporary(&name) && modified.elapsed().is_ok_and(|age| age > ABANDONED) {
            let _ = fs::remove_file(found.path());
        }
    }
    Ok(files)
}

/// Removes every file of a cache with this ending, and every temporary file. Also removes the folder if it contains
/// nothing else.
pub(super) fn remove(folder: &Path, ending: &str) -> io::Result<()> {
    let found = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    for found in found {
        let found = found?;
        let name = found.file_name();
        let name = name.to_string_lossy();
        if is_named(&name, ending) || is_temporary(&name) {
            match fs::remove_file(found.path()) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    // The removal fails, as intended, if the folder contains other files.
    let _ = fs::remove_dir(folder);
    Ok(())
}

/// Returns whether a name consists of the digits of a hash and the ending.
fn is_named(name: &str, ending: &str) -> bool {
    name.strip_suffix(ending).is_some_and(|hash| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
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

/// Reads and checks an entry's file. Returns the value, or a text that says what is wrong with the file. The outer
/// error is an error of the operating system.
fn checked(mut file: &File, key: &Key) -> io::Result<Result<Vec<u8>, String>> {
    let length = file.metadata()?.len();
    let Some(length) = length.checked_sub(HEADER as u64).and_then(|length| usize::try_from(length).ok()) else {
        return Ok(Err(format!("expected a header of {HEADER} bytes, found {length} bytes in all")));
    };
    let mut found = [0; HEADER];
    file.read_exact(&mut found)?;
    // The first fields of the header are known without the value, so they are compared first. If the stored length
    // disagrees with the file's length, the value is not read.
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
