//! Where the bytes of a data set come from: a file, a stream that was read to its end, or a member of an archive, each
//! perhaps compressed. A source can be opened as often as a reader needs, and its first bytes can be looked at before
//! the format is known.
//!
//! A compressed source is expanded anew whenever it is opened, so that no expanded copy is kept. The readers of large
//! edge lists open a source once.

mod fault;
mod terms;
mod unpack;
mod zstd;

pub(super) use fault::refused;
pub(super) use terms::Terms;

use super::magic;
use crate::cancel::Cancel;
use crate::error::{Error, Result};
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use terms::Heeding;
use unpack::{Checked, Unpacked};

/// A reader that can also be positioned, such as a file.
pub(super) trait Positioned: Read + Seek + Send {}

impl<T: Read + Seek + Send> Positioned for T {}

/// The maximum number of compressions of a source, one within another.
const LAYERS: usize = 3;
/// The number of times that the expanded bytes may exceed the compressed bytes, whatever the budget. Deflate reaches
/// 1032 for a run of a single byte, and text of edges seldom exceeds 20.
const EXPANSION: u64 = 1000;

/// The bytes of a data set, or of a part of it.
#[derive(Clone)]
pub(super) struct Source {
    /// What errors call it: the path, and the name of the member within an archive.
    name: PathBuf,
    data: Data,
    /// How the bytes are derived from `data`, the first step first.
    steps: Vec<Step>,
    terms: Terms,
    /// The first bytes of a member, which were seen when the archive was listed.
    beginning: Option<Arc<Vec<u8>>>,
}

#[derive(Clone)]
enum Data {
    File(PathBuf),
    Memory(Shared),
}

/// Bytes in memory that several readers share.
#[derive(Clone)]
struct Shared(Arc<Vec<u8>>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// A part of the bytes.
    Section {
        start: u64,
        len: u64,
    },
    /// A compressed member of a zip archive.
    Deflate,
    /// The length and the checksum that a zip archive states for a member.
    Check {
        len: u64,
        sum: u32,
    },
    Gzip,
    Zstd,
}

impl Step {
    fn compression(head: &[u8]) -> Option<Self> {
        if head.starts_with(b"\x1f\x8b") {
            return Some(Self::Gzip);
        }
        // A skippable frame may come first; its number has a digit of 16 values.
        let skippable = matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]);
        (skippable || head.starts_with(b"\x28\xb5\x2f\xfd")).then_some(Self::Zstd)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("name", &self.name).field("steps", &self.steps).finish_non_exhaustive()
    }
}

impl Source {
    /// Returns the source of the file at `path`, which is not opened yet. A pipe or a device, which can be read only
    /// once, is read to its end.
    ///
    /// # Errors
    /// [`Io`](crate::ErrorKind::Io) if the operating system reports an error; [`Limit`](crate::ErrorKind::Limit) for a
    /// stream of more bytes than the budget of `terms`.
    pub(super) fn file(path: &Path, terms: &Terms) -> Result<Self> {
        let refused = |error| Error::io("open", path, error);
        if std::fs::metadata(path).map_err(refused)?.is_file() {
            let data = Data::File(path.into());
            return Ok(Self { name: path.into(), data, steps: Vec::new(), terms: terms.clone(), beginning: None });
        }
        Self::stream(path, File::open(path).map_err(refused)?, terms)
    }

    /// Returns the source of a file that may be compressed.
    ///
    /// # Errors
    /// As for [`Source::file`] and [`Source::expanded`].
    pub(super) fn open_file(path: &Path, terms: &Terms) -> Result<Self> {
        Ok(Self::file(path, terms)?.expanded()?.0)
    }

    /// Reads a stream to its end. Errors call it `name`.
    ///
    /// # Errors
    /// The same as for [`Source::file`].
    pub(super) fn stream(name: &Path, reader: impl Read, terms: &Terms) -> Result<Self> {
        let (mut bytes, budget) = (Vec::new(), terms.budget);
        Heeding::new(reader.take(budget.saturating_add(1)), &terms.cancel)
            .read_to_end(&mut bytes)
            .map_err(|error| refused(name, error))?;
        if bytes.len() as u64 > budget {
            return Err(Error::budget(format!("bytes of {}", name.display()), bytes.len() as u64, budget));
        }
        Ok(Self::memory(name, bytes, terms))
    }

    pub(super) fn memory(name: &Path, bytes: Vec<u8>, terms: &Terms) -> Self {
        let data = Data::Memory(Shared(Arc::new(bytes)));
        Self { name: name.into(), data, steps: Vec::new(), terms: terms.clone(), beginning: None }
    }

    /// Returns the source of a part of this one.
    pub(super) fn member(&self, name: &Path, steps: &[Step], beginning: Option<Vec<u8>>) -> Self {
        let steps = self.steps.iter().chain(steps).copied().collect();
        let beginning = beginning.map(Arc::new);
        Self { name: name.into(), data: self.data.clone(), steps, terms: self.terms.clone(), beginning }
    }

    /// Returns the source without its compressions, however many there are, and its first bytes.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if the compressed bytes are damaged; [`Io`](crate::ErrorKind::Io) if the
    /// operating system reports an error.
    pub(super) fn expanded(mut self) -> Result<(Self, Vec<u8>)> {
        let mut layers = 0;
        loop {
            let head = self.head()?;
            let Some(step) = Step::compression(&head) else { return Ok((self, head)) };
            layers += 1;
            if layers > LAYERS {
                let expected = format!("at most {LAYERS} compressions, one within another");
                return Err(Error::parse(&self.name, None, expected, "more"));
            }
            self.steps.push(step);
            self.beginning = None;
        }
    }

    /// Returns the first bytes.
    fn head(&self) -> Result<Vec<u8>> {
        if let Some(beginning) = &self.beginning {
            return Ok(beginning.to_vec());
        }
        let mut head = Vec::new();
        self.open()?
            .take(magic::LOOKED_AT as u64)
            .read_to_end(&mut head)
            .map_err(|error| refused(&self.name, error))?;
        Ok(head)
    }

    /// Returns a reader of the bytes from the first on. Its errors become an [`Error`] by [`refused`].
    ///
    /// # Errors
    /// [`Io`](crate::ErrorKind::Io) if the operating system reports an error.
    pub(super) fn open(&self) -> Result<Box<dyn Read + Send>> {
        let mut steps = &self.steps[..];
        let mut base = self.base()?;
        let stored = self.stored()?;
        let mut reader: Box<dyn Read + Send> = if let [Step::Section { start, len }, rest @ ..] = steps {
            steps = rest;
            base.seek(SeekFrom::Start(*start)).map_err(|error| refused(&self.name, error))?;
            Box::new(base.take(*len))
        } else {
            Box::new(base)
        };
        // The factor applies to what is compressed, which no more than all stored bytes can be.
        let allowed = stored.saturating_mul(EXPANSION).max(self.terms.budget);
        for step in steps {
            reader = match *step {
                Step::Section { start, len } => {
                    let skipped = io::copy(&mut reader.by_ref().take(start), &mut io::sink());
                    if skipped.map_err(|error| refused(&self.name, error))? < start {
                        return Err(Error::parse(&self.name, None, "this member of an archive", "the end before it"));
                    }
                    Box::new(reader.take(len))
                }
                Step::Deflate => Box::new(Unpacked::deflate(BufReader::new(reader), allowed)),
                Step::Check { len, sum } => Box::new(Checked::new(reader, len, sum)),
                Step::Gzip => Box::new(Unpacked::gzip(BufReader::with_capacity(1 << 16, reader), allowed)),
                Step::Zstd => Box::new(Unpacked::zstd(BufReader::with_capacity(1 << 16, reader), allowed)),
            };
        }
        Ok(reader)
    }

    /// Opens a source whose reader can be positioned. A source that is compressed, or a part of another, is first read
    /// into memory.
    ///
    /// # Errors
    /// As for [`Source::file`] and [`Source::expanded`].
    pub(super) fn positioned(&self) -> Result<Box<dyn Positioned>> {
        if self.steps.is_empty() {
            return self.base();
        }
        Ok(Box::new(Cursor::new(self.bytes()?)))
    }

    /// Returns the source with all its bytes in memory, if they would otherwise be expanded again for each member.
    ///
    /// # Errors
    /// As for [`Source::bytes`].
    pub(super) fn settled(self) -> Result<Self> {
        if self.steps.is_empty() {
            return Ok(self);
        }
        Ok(Self::memory(&self.name, self.bytes()?, &self.terms))
    }

    /// Returns all bytes.
    ///
    /// # Errors
    /// As for [`Source::file`] and [`Source::expanded`].
    pub(super) fn bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.len().unwrap_or(0));
        self.open()?.read_to_end(&mut bytes).map_err(|error| refused(&self.name, error))?;
        Ok(bytes)
    }

    fn base(&self) -> Result<Box<dyn Positioned>> {
        let cancel = &self.terms.cancel;
        Ok(match &self.data {
            Data::File(path) => {
                let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
                Box::new(Heeding::new(file, cancel))
            }
            Data::Memory(bytes) => Box::new(Heeding::new(Cursor::new(bytes.clone()), cancel)),
        })
    }

    /// Returns the number of bytes of the file or of the memory.
    fn stored(&self) -> Result<u64> {
        match &self.data {
            Data::File(path) => Ok(std::fs::metadata(path).map_err(|error| Error::io("open", path, error))?.len()),
            Data::Memory(bytes) => Ok(bytes.0.len() as u64),
        }
    }

    /// Returns the number of bytes, if it is known without reading them. It bounds the number of entries of a file.
    pub(super) fn len(&self) -> Option<usize> {
        let stored = usize::try_from(self.stored().ok()?).ok()?;
        match self.steps[..] {
            [] => Some(stored),
            [Step::Section { len, .. }] => usize::try_from(len).ok().map(|len| len.min(stored)),
            _ => None,
        }
    }

    /// Returns the switch that ends the reading. The readers of the source look at it whenever they need more bytes.
    pub(super) fn cancel(&self) -> &Cancel {
        &self.terms.cancel
    }

    /// Returns what errors call the source.
    pub(super) fn name(&self) -> &Path {
        &self.name
    }

    /// Returns whether the weights in it may be negative.
    pub(super) fn signed(&self) -> bool {
        self.terms.signed
    }

    /// Returns the name without the ending of a compression.
    pub(super) fn plain_name(&self) -> &Path {
        let compressed = self.steps.iter().any(|step| matches!(step, Step::Gzip | Step::Zstd));
        let ending = self.name.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let known = ["gz", "gzip", "zst", "zstd"].iter().any(|known| ending.eq_ignore_ascii_case(known));
        match self.name.to_str().filter(|_| compressed && known) {
            Some(name) => Path::new(&name[..name.len() - ending.len() - 1]),
            None => &self.name,
        }
    }
}
