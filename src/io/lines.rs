//! Reads a text file line by line through one buffer and counts the lines, so that errors can name the line.

use super::plain::Cursor;
use super::source::{Source, refused};
use super::{magic, weights};
use crate::error::{Error, Result};
use memchr::{memchr, memchr2};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The maximum length of a line in bytes. No other lines are longer; the limit prevents a binary file from filling the
/// memory.
const LONGEST_LINE: usize = 1 << 20;
/// The maximum length of a line with a whole graph or all neighbors of a node. A graph of 50,000 nodes in graph6 takes
/// 208 million bytes.
const LONGEST_LIST: usize = 1 << 28;
const CHUNK: usize = 1 << 18;

const LINE_ENDS: &str = "lines that end in LF or CR LF";
const CR_ALONE: &str = "lines that end in CR alone, as on a Mac of old; convert them to LF";

/// A reader of the lines of a file. The lines exclude the line ends (LF or CR LF) and a byte order mark.
pub(super) struct Lines {
    reader: Box<dyn Read + Send>,
    path: PathBuf,
    /// The length in bytes, or 0 if it is not known.
    bytes: usize,
    buffer: Vec<u8>,
    /// The start and end of the current line in the buffer. The unread bytes are at `next..filled`.
    line: (usize, usize),
    next: usize,
    filled: usize,
    at_end: bool,
    /// The maximum length of a line.
    longest: usize,
    /// Whether the format is known, so that the first bytes are not searched for another.
    known: bool,
    /// Whether any of the unread bytes is a NUL or a CR.
    odd: bool,
    /// The number of the current line, counted from 1; 0 before the first line is read.
    number: u64,
    /// Whether weights may be negative.
    pub(super) signed: bool,
}

impl Lines {
    pub(super) fn open(source: &Source) -> Result<Self> {
        let reader = source.open()?;
        let buffer = vec![0; CHUNK];
        let (path, bytes) = (source.name().into(), source.len().unwrap_or(0));
        let (line, next, filled, number) = ((0, 0), 0, 0, 0);
        let (longest, known, signed) = (LONGEST_LINE, false, source.signed());
        let (at_end, odd) = (false, false);
        Ok(Self { reader, path, bytes, buffer, line, next, filled, at_end, longest, known, odd, number, signed })
    }

    /// Opens a file whose format is known, and whose lines may be long, because each has a graph or all neighbors of a
    /// node.
    pub(super) fn open_long(source: &Source) -> Result<Self> {
        Ok(Self { longest: LONGEST_LIST, known: true, ..Self::open(source)? })
    }

    /// Advances to the next line. Returns false at the end of the file.
    pub(super) fn advance(&mut self) -> Result<bool> {
        let mut searched = self.next;
        if self.number == 0 && self.filled == 0 && !self.at_end {
            self.fill()?;
            let head = &self.buffer[..self.filled.min(magic::LOOKED_AT)];
            if let Some(name) = magic::name_of_lines(head).filter(|_| !self.known) {
                return Err(self.error("text", name));
            }
        }
        let end = loop {
            if let Some(length) = memchr(b'\n', &self.buffer[searched..self.filled]) {
                break searched + length;
            }
            searched = self.filled;
            if self.at_end {
                break self.filled;
            }
            searched -= self.fill()?;
        };
        if self.next == self.filled {
            return Ok(false);
        }
        self.number += 1;
        let mut line = &self.buffer[self.next..end];
        let mut start = self.next;
        if self.number == 1 && line.starts_with(b"\xef\xbb\xbf") {
            (line, start) = (&line[3..], start + 3);
        }
        while let Some(shorter) = line.strip_suffix(b"\r") {
            line = shorter;
        }
        self.line = (start, start + line.len());
        self.next = self.filled.min(end + 1);
        if self.odd {
            self.check()?;
        }
        Ok(true)
    }

    /// Advances past the next line and returns what `parse` makes of it, if the line is plain: if `parse` recognizes
    /// all of it. Otherwise, or if the line may not be complete in the buffer, returns `None` and does not advance. The
    /// first line of a file is never plain.
    #[inline]
    pub(super) fn plain<T>(&mut self, parse: impl FnOnce(&mut Cursor<'_>) -> Option<T>) -> Option<T> {
        if self.number == 0 {
            return None;
        }
        let mut cursor = Cursor::new(&self.buffer[self.next..self.filled]);
        let parsed = parse(&mut cursor)?;
        let (length, whole) = cursor.line_end()?;
        self.line = (self.next, self.next + length);
        self.next += whole;
        self.number += 1;
        Some(parsed)
    }

    /// Returns an error if the current line contains a byte that no text file has within a line.
    fn check(&self) -> Result<()> {
        match memchr2(0, b'\r', self.line()) {
            Some(_) if self.line().contains(&0) => Err(self.error("text", "a NUL byte")),
            Some(_) => Err(self.error(LINE_ENDS, CR_ALONE)),
            None => Ok(()),
        }
    }

    /// Moves the unread bytes to the front of the buffer and reads more bytes after them. Returns the distance in bytes
    /// by which the unread bytes moved.
    fn fill(&mut self) -> Result<usize> {
        let moved = self.next;
        self.buffer.copy_within(self.next..self.filled, 0);
        (self.next, self.filled) = (0, self.filled - moved);
        if self.filled == self.buffer.len() {
            if self.filled >= self.longest {
                self.number += 1;
                if self.buffer.contains(&b'\r') {
                    return Err(self.error(LINE_ENDS, CR_ALONE));
                }
                return Err(self.error(format!("lines of at most {} bytes", self.longest), "a longer one"));
            }
            self.buffer.resize(2 * self.filled, 0);
        }
        let read = loop {
            match self.reader.read(&mut self.buffer[self.filled..]) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                other => break other.map_err(|error| refused(&self.path, error))?,
            }
        };
        self.odd =
            (self.odd && self.filled > 0) || memchr2(0, b'\r', &self.buffer[self.filled..self.filled + read]).is_some();
        self.filled += read;
        self.at_end = read == 0;
        Ok(moved)
    }

    /// Returns the current line.
    pub(super) fn line(&self) -> &[u8] {
        &self.buffer[self.line.0..self.line.1]
    }

    /// Returns the current line as text.
    pub(super) fn text(&self) -> Result<&str> {
        std::str::from_utf8(self.line()).map_err(|_| self.unexpected("UTF-8 text"))
    }

    /// Returns the length of the source in bytes, or 0 if it is not known. Callers use it to bound the number of
    /// entries in the source.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the number of the current line, counted from 1.
    pub(super) fn at(&self) -> u64 {
        self.number
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a parse error for an earlier line.
    pub(super) fn error_at(&self, line: u64, expected: impl Into<String>, found: impl Into<String>) -> Error {
        Error::parse(&self.path, Some(line), expected, found)
    }

    /// Returns a parse error for the current line.
    pub(super) fn error(&self, expected: impl Into<String>, found: impl Into<String>) -> Error {
        Error::parse(&self.path, (self.number > 0).then_some(self.number), expected, found)
    }

    /// Returns a parse error that quotes the current line.
    pub(super) fn unexpected(&self, expected: impl Into<String>) -> Error {
        self.error(expected, quoted(self.line()))
    }

    /// Parses an index from 1 to `most`, which counts from 0 then. Errors call it `what`.
    pub(super) fn index(&self, field: &[u8], most: usize, what: &str) -> Result<u32> {
        let number = natural(field).filter(|&number| (1..=most as u64).contains(&number));
        let index = number.and_then(|number| u32::try_from(number - 1).ok());
        index.ok_or_else(|| self.error(format!("{what} from 1 to {most}"), quoted(field)))
    }

    /// Parses a finite number.
    pub(super) fn number(&self, field: &[u8]) -> Result<f64> {
        let number = std::str::from_utf8(field).ok().and_then(|text| text.parse::<f64>().ok());
        number.filter(|x| x.is_finite()).ok_or_else(|| self.error("a finite number", quoted(field)))
    }

    /// Parses an edge's weight.
    pub(super) fn weight(&self, field: &[u8]) -> Result<f64> {
        self.weight_or(field, || quoted(field))
    }

    /// Parses an edge's weight. The error shows the field as `found` does.
    pub(super) fn weight_or(&self, field: &[u8], found: impl FnOnce() -> String) -> Result<f64> {
        weights::parsed(field, self.signed).map_err(|expected| self.error(expected, found()))
    }
}

/// Returns whether a number has a nonzero digit before its exponent. Such a number is not 0, even if it is too small
/// for an f64.
pub(super) fn has_digits(field: &[u8]) -> bool {
    field.iter().take_while(|byte| !matches!(byte, b'e' | b'E')).any(|byte| matches!(byte, b'1'..=b'9'))
}

/// Returns the text in the form in which errors quote it. Bytes that are not text are not shown.
pub(super) fn quoted(bytes: &[u8]) -> String {
    const SHOWN: usize = 60;
    if bytes.is_empty() {
        return "nothing".into();
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return "bytes that are not UTF-8 text".into() };
    if bytes.iter().any(|&byte| magic::is_control(byte)) {
        return "bytes that are no text".into();
    }
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// Parses a natural number in decimal digits, without a sign.
pub(super) fn natural(field: &[u8]) -> Option<u64> {
    if field.is_empty() {
        return None;
    }
    field.iter().try_fold(0_u64, |sum, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })
}

/// Returns the fields of a line. The fields are separated by white space.
pub(super) fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty())
}
