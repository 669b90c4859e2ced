//! Reads the headers of tar archives: <https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html>, with the
//! long names of GNU tar.

use crate::error::{Error, Result};
use crate::io::magic;
use crate::io::source::{Source, refused};
use std::io::Read;

const BLOCK: usize = 512;
/// The longest extended header, which has the name of a file.
const LONGEST_HEADER: u64 = 1 << 16;

/// A file in an archive.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) start: u64,
    pub(super) len: u64,
    /// The first bytes.
    pub(super) beginning: Vec<u8>,
}

/// The files of an archive, in its order.
pub(super) struct Entries<'a> {
    source: &'a Source,
    reader: Box<dyn Read + Send>,
    /// The number of bytes that have been read.
    at: u64,
}

/// What an extended header says about the next file.
#[derive(Default)]
struct Extended {
    name: Option<String>,
    len: Option<u64>,
}

impl<'a> Entries<'a> {
    pub(super) fn open(source: &'a Source) -> Result<Self> {
        Ok(Self { source, reader: source.open()?, at: 0 })
    }

    /// Returns the next regular file. Folders, links and devices are passed over.
    pub(super) fn next(&mut self) -> Result<Option<Entry>> {
        let mut extended = Extended::default();
        loop {
            let header = self.bytes(BLOCK as u64)?;
            // Two blocks of zeros end the archive; many archives lack them.
            if header.iter().all(|&byte| byte == 0) {
                return Ok(None);
            }
            if header.len() < BLOCK {
                return Err(self.wrong("a header of 512 bytes", "the end"));
            }
            let sum = |range: std::ops::Range<usize>| header[range].iter().map(|&byte| u64::from(byte)).sum::<u64>();
            let wanted = sum(0..148) + 8 * u64::from(b' ') + sum(156..BLOCK);
            if number(&header[148..156]) != Some(wanted) {
                return Err(self.wrong("a header with a right checksum", "another"));
            }
            let Some(len) = number(&header[124..136]) else {
                return Err(self.wrong("the length of a file", "none"));
            };
            match header[156] {
                b'L' => extended.name = Some(text(&self.extension(len)?)),
                b'x' => {
                    let records = self.extension(len)?;
                    extended.read(&records).ok_or_else(|| self.wrong("an extended header of records", "another"))?;
                }
                b'0' | b'\0' | b'7' => {
                    let Extended { name, len: stated } = std::mem::take(&mut extended);
                    let (len, start) = (stated.unwrap_or(len), self.at);
                    let name = name.unwrap_or_else(|| short_name(&header));
                    let beginning = self.bytes(len.min(magic::LOOKED_AT as u64))?;
                    self.skip(start, len)?;
                    // Old archives mark a folder by its name alone.
                    if !name.ends_with('/') {
                        return Ok(Some(Entry { name, start, len, beginning }));
                    }
                }
                kind => {
                    // Links have no content, whatever their headers say of its length.
                    let len = if matches!(kind, b'1'..=b'6') { 0 } else { extended.len.unwrap_or(len) };
                    self.skip(self.at, len)?;
                    // A global header says nothing of one file, so what is known of the next one remains.
                    if !matches!(kind, b'g' | b'K') {
                        extended = Extended::default();
                    }
                }
            }
        }
    }

    fn extension(&mut self, len: u64) -> Result<Vec<u8>> {
        if len > LONGEST_HEADER {
            let expected = format!("an extended header of at most {LONGEST_HEADER} bytes");
            return Err(self.wrong(&expected, &len.to_string()));
        }
        let start = self.at;
        let bytes = self.bytes(len)?;
        self.skip(start, len)?;
        Ok(bytes)
    }

    /// Returns the next bytes, or fewer if the archive ends.
    fn bytes(&mut self, len: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = self.reader.by_ref().take(len).read_to_end(&mut bytes);
        self.at += read.map_err(|error| refused(self.source.name(), error))? as u64;
        Ok(bytes)
    }

    /// Skips the rest of `len` bytes that begin at `start`, and the padding after them.
    fn skip(&mut self, start: u64, len: u64) -> Result<()> {
        let end = start.checked_add(len).and_then(|end| end.checked_next_multiple_of(BLOCK as u64));
        let content = start.saturating_add(len);
        let Some(end) = end else { return Err(self.wrong("a file within the archive", "a longer one")) };
        let mut rest = self.reader.by_ref().take(end - self.at);
        let skipped = std::io::copy(&mut rest, &mut std::io::sink());
        self.at += skipped.map_err(|error| refused(self.source.name(), error))?;
        // The padding of the last file may be missing.
        if self.at < content {
            return Err(self.wrong("an archive that is not cut off", "the end within a file"));
        }
        Ok(())
    }

    fn wrong(&self, expected: &str, found: &str) -> Error {
        let expected = format!("a tar archive, and at byte {} {expected}", self.at);
        Error::parse(self.source.name(), None, expected, found)
    }
}

impl Extended {
    /// Reads records of the form `length key=value\n`, where the length counts the whole record.
    fn read(&mut self, mut records: &[u8]) -> Option<()> {
        while let Some(space) = records.iter().position(|&byte| byte == b' ') {
            let length: usize = std::str::from_utf8(&records[..space]).ok()?.parse().ok()?;
            let record = records.get(space + 1..length)?;
            let split = record.iter().position(|&byte| byte == b'=')?;
            let value = record[split + 1..].strip_suffix(b"\n")?;
            match &record[..split] {
                b"path" => self.name = Some(text(value)),
                b"size" => self.len = Some(std::str::from_utf8(value).ok()?.parse().ok()?),
                _ => {}
            }
            records = &records[length..];
        }
        Some(())
    }
}

/// Returns the name in a header, with the prefix that the `ustar` format has for long names.
fn short_name(header: &[u8]) -> String {
    let (name, prefix) = (text(&header[..100]), text(&header[345..500]));
    let ustar = &header[257..263] == b"ustar\0";
    if ustar && !prefix.is_empty() { format!("{prefix}/{name}") } else { name }
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// Parses a number in octal digits or, if the first bit is set, in binary.
fn number(field: &[u8]) -> Option<u64> {
    if let [0x80, digits @ ..] = field {
        let (high, low) = digits.split_at(digits.len().saturating_sub(8));
        let fits = high.iter().all(|&byte| byte == 0);
        return fits.then(|| low.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)));
    }
    let digits = field.split(|&byte| byte == 0).next().unwrap_or_default().trim_ascii();
    if digits.is_empty() || digits.len() > 21 {
        return None;
    }
    digits.iter().try_fold(0_u64, |sum, byte| {
        matches!(byte, b'0'..=b'7').then(|| sum.checked_mul(8)?.checked_add(u64::from(byte - b'0')))?
    })
}
