//! The arrays of an `.npy`, `.npz` or safetensors source, whose elements are read one after the other.

use crate::error::{Error, Result};
use crate::io::lines::quoted;
use crate::io::npy;
use crate::io::source::{Source, Step, refused};
use crate::io::stored::Kind;
use crate::io::tensors::described;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The bytes that are read and converted at a time. It is a multiple of the width of each number.
const PIECE: usize = 1 << 16;
/// The longest header of a safetensors file. The format defines this limit.
const LONGEST_HEADER: u64 = 100_000_000;

/// The arrays of a source, by name.
pub(super) struct Arrays {
    /// What errors call the source.
    pub(super) path: PathBuf,
    members: Vec<Member>,
}

struct Member {
    name: String,
    source: Source,
    /// The type and the shape, if the source consists of the elements alone.
    described: Option<(String, Vec<usize>)>,
}

impl Arrays {
    /// Returns the array of an `.npy` source under the given name.
    pub(super) fn of_npy(source: &Source, name: &str) -> Self {
        let member = Member { name: name.to_owned(), source: source.clone(), described: None };
        Self { path: source.name().into(), members: vec![member] }
    }

    /// Returns the arrays of an `.npz` archive. `members` are its members.
    pub(super) fn of_npz(path: &Path, members: Vec<Source>) -> Self {
        let member = |source: Source| {
            let name = source.name().file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            Member { name, source, described: None }
        };
        Self { path: path.into(), members: members.into_iter().map(member).collect() }
    }

    /// Returns the arrays of a safetensors source.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if the header is cut off or does not agree with the source.
    pub(super) fn of_safetensors(source: Source) -> Result<Self> {
        // A compressed source has to be expanded to know its length, with which the header has to agree.
        let source = source.settled()?;
        let path = source.name().to_owned();
        let len = source.len().unwrap_or(0) as u64;
        let mut reader = source.open()?;
        let mut head = Vec::new();
        let fault = |error| refused(&path, error);
        reader.by_ref().take(8).read_to_end(&mut head).map_err(fault)?;
        let length = head.first_chunk().map_or(u64::MAX, |first| u64::from_le_bytes(*first));
        if length > LONGEST_HEADER.min(len.saturating_sub(8)) {
            let found = format!("a header of {length} bytes in {len} bytes");
            return Err(Error::parse(&path, None, "a safetensors file with its header", found));
        }
        let mut header = Vec::new();
        reader.take(length).read_to_end(&mut header).map_err(fault)?;
        let (entries, _) = described(&path, &header, len)?;
        let member = |(name, entry): (String, crate::io::tensors::Entry)| {
            let section = Step::Section { start: entry.place.start as u64, len: entry.place.len() as u64 };
            let source = source.member(&path, &[section], None);
            Member { name, source, described: Some((entry.kind, entry.shape)) }
        };
        let members = entries.into_iter().map(member).collect();
        Ok(Self { path: path.clone(), members })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.members.iter().any(|member| member.name == name)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| member.name.as_str())
    }

    /// Opens the array of this name, or returns `None` if there is none.
    pub(super) fn find(&self, name: &str) -> Result<Option<Elements>> {
        self.members.iter().find(|member| member.name == name).map(Elements::open).transpose()
    }

    /// Opens the array of this name.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if there is none.
    pub(super) fn get(&self, name: &str) -> Result<Elements> {
        let missing = || Error::parse(&self.path, None, format!("an array {name}"), "none");
        self.find(name)?.ok_or_else(missing)
    }

    pub(super) fn error(&self, expected: impl Into<String>, found: impl Into<String>) -> Error {
        Error::parse(&self.path, None, expected, found)
    }
}

/// An array whose elements have not been read yet.
pub(super) struct Elements {
    /// What errors call the source.
    pub(super) path: PathBuf,
    name: String,
    pub(super) shape: Vec<usize>,
    /// Whether the first axis varies fastest.
    pub(super) by_columns: bool,
    /// The type as the file has it, without the byte order.
    pub(super) kind: String,
    big: bool,
    reader: Box<dyn Read + Send>,
    of_numpy: bool,
    /// Whether weights may be negative.
    pub(super) signed: bool,
}

impl Elements {
    fn open(member: &Member) -> Result<Self> {
        let (path, name) = (member.source.name().to_owned(), member.name.clone());
        let signed = member.source.signed();
        let mut reader = member.source.open()?;
        if let Some((kind, shape)) = member.described.clone() {
            let (by_columns, big, of_numpy) = (false, false, false);
            return Ok(Self { path, name, shape, by_columns, kind, big, reader, of_numpy, signed });
        }
        let (header, _) = npy::Header::read(&path, &mut reader)?;
        let (order, kind) = header.descr.split_at_checked(1).unwrap_or_default();
        let by_columns = header.fortran_order && header.shape.len() > 1;
        let (kind, big) = (kind.to_owned(), order == ">");
        Ok(Self { path, name, shape: header.shape, by_columns, kind, big, reader, of_numpy: true, signed })
    }

    fn kind(&self) -> Option<Kind> {
        let kind = if self.of_numpy { Kind::of_numpy(&self.kind) } else { Kind::of_tensor(&self.kind) };
        kind.filter(|kind| !kind.is_text())
    }

    pub(super) fn is_integer(&self) -> bool {
        self.kind().is_some_and(|kind| !kind.is_float() && kind != Kind::Bool)
    }

    /// Returns the number of elements.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) for a shape that memory cannot hold.
    pub(super) fn count(&self) -> Result<usize> {
        let count = self.shape.iter().try_fold(1_usize, |product, &axis| product.checked_mul(axis));
        let count = count.filter(|count| count.checked_mul(8).is_some());
        count.ok_or_else(|| self.error("a shape that memory holds", format!("{:?}", self.shape)))
    }

    /// Passes all elements to `take`, in the order of the file. They are integers.
    pub(super) fn integers(mut self, mut take: impl FnMut(i64) -> Result<()>) -> Result<()> {
        let Some(kind) = self.kind().filter(|_| self.is_integer()) else {
            return Err(self.error("integers", format!("the type {}", self.kind)));
        };
        self.each_piece(kind.width(), |elements, bytes| {
            for bytes in bytes.chunks_exact(kind.width()) {
                match integer(kind, bytes, elements.big) {
                    Some(integer) => take(integer)?,
                    None => return Err(elements.error("integers below 2^63", "a larger one")),
                }
            }
            Ok(())
        })
    }

    /// Returns all elements, which are integers.
    pub(super) fn all_integers(self) -> Result<Vec<i64>> {
        let mut all = Vec::new();
        self.integers(|integer| {
            all.push(integer);
            Ok(())
        })?;
        Ok(all)
    }

    /// Passes all elements to `take`, in the order of the file. They are real numbers.
    pub(super) fn floats(mut self, mut take: impl FnMut(f64) -> Result<()>) -> Result<()> {
        let Some(kind) = self.kind() else {
            return Err(self.error("floats, integers or booleans", format!("the type {}", self.kind)));
        };
        let mut numbers = vec![0.0_f64; PIECE / kind.width()];
        self.each_piece(kind.width(), |elements, bytes| {
            let numbers = &mut numbers[..bytes.len() / kind.width()];
            kind.decode(bytes, elements.big, numbers)
                .map_err(|(_, integer)| elements.error("integers that float64 holds exactly", integer.to_string()))?;
            numbers.iter().try_for_each(|&number| take(number))
        })
    }

    /// Returns the only element of an array of text, as scipy writes the name of a format.
    pub(super) fn text(mut self) -> Result<String> {
        let width = self.kind.get(1..).and_then(|width| width.parse::<usize>().ok()).filter(|&width| width <= 64);
        let (Some(width), 1) = (width, self.count()?) else {
            return Err(self.error("one short text", format!("the type {} and the shape {:?}", self.kind, self.shape)));
        };
        let each = match self.kind.as_bytes().first() {
            Some(b'S' | b'a') => 1,
            Some(b'U') => 4,
            _ => return Err(self.error("text", format!("the type {}", self.kind))),
        };
        let mut bytes = Vec::new();
        self.reader
            .by_ref()
            .take((width * each) as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(|e| refused(&self.path, e))?;
        if bytes.len() != width * each {
            return Err(self.error(format!("a text of {} bytes", width * each), format!("{} bytes", bytes.len())));
        }
        let big = self.big;
        let code = |bytes: &[u8]| match *bytes {
            [one] => u32::from(one),
            [a, b, c, d] if big => u32::from_be_bytes([a, b, c, d]),
            [a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
            _ => 0,
        };
        let codes = bytes.chunks(each).map(code).take_while(|&code| code != 0);
        Ok(codes.map(|code| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
    }

    /// Passes the bytes of all elements to `take`, in pieces of whole elements. The source has to end after them.
    fn each_piece(&mut self, width: usize, mut take: impl FnMut(&Self, &[u8]) -> Result<()>) -> Result<()> {
        let mut left = self.count()?.saturating_mul(width);
        let wanted = left;
        let mut piece = vec![0; PIECE.min(left)];
        while left > 0 {
            let bytes = &mut piece[..PIECE.min(left)];
            let mut filled = 0;
            while filled < bytes.len() {
                match self.reader.read(&mut bytes[filled..]) {
                    Ok(0) => {
                        let found = format!("{} bytes", wanted - left + filled);
                        return Err(self.error(format!("{wanted} bytes for the shape {:?}", self.shape), found));
                    }
                    Ok(read) => filled += read,
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(refused(&self.path, error)),
                }
            }
            left -= bytes.len();
            take(self, bytes)?;
        }
        // Reading to the end also compares the checksum of a member of an archive.
        if self.reader.read(&mut [0]).map_err(|error| refused(&self.path, error))? > 0 {
            return Err(self.error(format!("{wanted} bytes for the shape {:?}", self.shape), "more bytes"));
        }
        Ok(())
    }

    pub(super) fn error(&self, expected: impl Into<String>, found: impl Into<String>) -> Error {
        let expected = format!("{} in the array {}", expected.into(), quoted(self.name.as_bytes()));
        Error::parse(&self.path, None, expected, found)
    }
}

fn integer(kind: Kind, bytes: &[u8], big: bool) -> Option<i64> {
    let mut own = [0; 8];
    for (place, &byte) in bytes.iter().enumerate() {
        own[if big { bytes.len() - 1 - place } else { place }] = byte;
    }
    let wide = u64::from_le_bytes(own);
    let unused = 64 - 8 * u32::try_from(bytes.len()).ok()?;
    match kind {
        Kind::I8 | Kind::I16 | Kind::I32 | Kind::I64 => Some((wide << unused).cast_signed() >> unused),
        _ => i64::try_from(wide).ok(),
    }
}
