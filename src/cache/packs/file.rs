//! The file of a pack: a header, the values one after the other, an index, and a trailer.
//!
//! | part | bytes |
//! |---|---|
//! | header | the magic (8), the version (4) |
//! | values | without gaps |
//! | index | for every value: its key (32), where it begins (8), its length (8), the first half of its BLAKE3 hash (16) |
//! | trailer | the BLAKE3 hash of the index (32), the length of the index (8) |
//!
//! All integers are little-endian. A file is named by the hash of its index, so files with the same name have the same
//! content.

use super::super::disk::TEMPORARY;
use super::super::{Key, Value};
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use tempfile::NamedTempFile;

const MAGIC: [u8; 8] = *b"FIEDPAK\x1a";
const VERSION: u32 = 1;
const HEADER: usize = 8 + 4;
const TRAILER: usize = 32 + 8;
/// The bytes of an entry of the index.
pub(super) const ENTRY: usize = 32 + 8 + 8 + 16;
/// The bytes of a pack in addition to its values and their entries.
pub(super) const FRAME: u64 = (HEADER + TRAILER) as u64;
pub(super) const ENDING: &str = ".pack";

/// The bytes that are collected before they are written.
const BUFFER: usize = 1 << 18;

/// An entry of the index.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) key: Key,
    offset: u64,
    length: u64,
    sum: [u8; 16],
}

fn header() -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&MAGIC);
    header[8..].copy_from_slice(&VERSION.to_le_bytes());
    header
}

fn sum(value: &[u8]) -> [u8; 16] {
    let mut sum = [0; 16];
    sum.copy_from_slice(&blake3::hash(value).as_bytes()[..16]);
    sum
}

/// A pack that is being written, under a temporary name.
pub(super) struct Writer {
    file: BufWriter<NamedTempFile>,
    end: u64,
    entries: Vec<Entry>,
}

impl Writer {
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        let file = builder.prefix(TEMPORARY.0).suffix(TEMPORARY.1).tempfile_in(folder)?;
        let mut file = BufWriter::with_capacity(BUFFER, file);
        file.write_all(&header())?;
        Ok(Self { file, end: HEADER as u64, entries: Vec::new() })
    }

    pub(super) fn add(&mut self, key: Key, value: &[u8]) -> io::Result<()> {
        self.file.write_all(value)?;
        let length = value.len() as u64;
        self.entries.push(Entry { key, offset: self.end, length, sum: sum(value) });
        self.end += length;
        Ok(())
    }

    /// Completes the pack and gives it its name. Its time of last use is `used`. Returns its path, its size and its
    /// entries, or `None` if there are none.
    pub(super) fn finish(mut self, folder: &Path, used: SystemTime) -> io::Result<Option<(PathBuf, u64, Vec<Entry>)>> {
        if self.entries.is_empty() {
            return Ok(None);
        }
        let mut index = Vec::with_capacity(self.entries.len() * ENTRY);
        for Entry { key, offset, length, sum } in &self.entries {
            index.extend_from_slice(&key.0);
            index.extend_from_slice(&offset.to_le_bytes());
            index.extend_from_slice(&length.to_le_bytes());
            index.extend_from_slice(sum);
        }
        let hash = blake3::hash(&index);
        self.file.write_all(&index)?;
        self.file.write_all(hash.as_bytes())?;
        self.file.write_all(&(index.len() as u64).to_le_bytes())?;
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        let _ = file.as_file().set_modified(used);
        // The file is closed before the rename, because Windows does not rename open files.
        let (file, place) = file.into_parts();
        drop(file);
        let path = folder.join(format!("{}{ENDING}", Key(*hash.as_bytes())));
        if let Err(error) = place.persist(&path) {
            // On systems other than Unix, the rename fails if another process has the same pack open. This is not an
            // error, because the pack already exists.
            if !path.is_file() {
                return Err(error.error);
            }
        }
        Ok(Some((path, self.end + (index.len() + TRAILER) as u64, self.entries)))
    }
}

/// Reads and checks everything in a pack but its values. Returns the entries, or a text that says what is wrong. The
/// outer error is an error of the operating system.
pub(super) fn entries(mut file: &File) -> io::Result<Result<Vec<Entry>, String>> {
    let all = file.metadata()?.len();
    let Some(most) = all.checked_sub(FRAME) else {
        return Ok(Err(format!("expected a header and a trailer of {FRAME} bytes, found {all} bytes in all")));
    };
    let (mut found, mut trailer) = ([0; HEADER], [0; TRAILER]);
    file.read_exact(&mut found)?;
    if found != header() {
        return Ok(Err("it has another magic or version".into()));
    }
    file.seek(SeekFrom::End(-(TRAILER as i64)))?;
    file.read_exact(&mut trailer)?;
    let (hash, length) = trailer.split_at(32);
    let length = number(length);
    let fits = length <= most && length > 0 && length.is_multiple_of(ENTRY as u64);
    let Some(bytes) = usize::try_from(length).ok().filter(|_| fits) else {
        return Ok(Err(format!("expected an index of at most {most} bytes, found {length}")));
    };
    let mut index = vec![0; bytes];
    let begin = HEADER as u64 + most - length;
    file.seek(SeekFrom::Start(begin))?;
    file.read_exact(&mut index)?;
    if blake3::hash(&index).as_bytes()[..] != *hash {
        return Ok(Err("its index has changed".into()));
    }
    let (mut end, mut entries) = (HEADER as u64, Vec::with_capacity(index.len() / ENTRY));
    for entry in index.as_chunks::<ENTRY>().0 {
        let (mut key, mut sum) = ([0; 32], [0; 16]);
        key.copy_from_slice(&entry[..32]);
        sum.copy_from_slice(&entry[48..]);
        let (offset, length) = (number(&entry[32..40]), number(&entry[40..48]));
        match offset.checked_add(length) {
            Some(next) if offset == end && next <= begin => end = next,
            _ => return Ok(Err("its values do not follow each other".into())),
        }
        entries.push(Entry { key: Key(key), offset, length, sum });
    }
    Ok(if end == begin { Ok(entries) } else { Err("it has bytes that belong to no value".into()) })
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Reads and checks a value, as [`entries`] does.
pub(super) fn value(mut file: &File, entry: &Entry) -> io::Result<Result<Value, String>> {
    let Ok(length) = usize::try_from(entry.length) else {
        return Ok(Err(format!("no memory for its {} bytes", entry.length)));
    };
    // The value is read to the place where it stays, because a copy would take as long as the reading.
    let mut value: Value = std::iter::repeat_n(0, length).collect();
    let Some(bytes) = Arc::get_mut(&mut value) else { unreachable!("the value has one owner") };
    file.seek(SeekFrom::Start(entry.offset))?;
    match file.read_exact(bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(Err("it became shorter".into())),
        read => read?,
    }
    Ok(if sum(&value) == entry.sum { Ok(value) } else { Err("the bytes of a value have changed".into()) })
}
