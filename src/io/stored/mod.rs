//! Arrays in files, of which some rows can be read without the others.

mod kind;

pub(super) use kind::Kind;

use super::npy::{self, NpyData, NpyFile};
use super::tensors::described;
use crate::array::Real;
use crate::error::{Error, Result};
use bytemuck::cast_slice_mut;
use kind::reversed;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Cursor, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

/// The bytes that are read and converted at a time.
pub(super) const PIECE: usize = 1 << 20;
/// The longest header of a safetensors file. The format defines this limit.
const LONGEST_HEADER: u64 = 100_000_000;

/// An array in a file.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) name: String,
    pub(super) shape: Vec<usize>,
    pub(super) kind: Kind,
    /// Whether the most significant byte of an element is the first.
    pub(super) big: bool,
    /// Where its elements begin, in row-major order; `None` if they are compressed or in Fortran order, so that the
    /// array has to be read as a whole.
    pub(super) begin: Option<u64>,
    /// The member that it is, if the file is an archive.
    pub(super) member: Option<Member>,
}

/// A member of an archive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) index: usize,
    /// Where its bytes begin in the archive.
    pub(super) start: u64,
    /// The checksum of its bytes when they are not compressed.
    pub(super) sum: u32,
}

impl Stored {
    /// Returns the number of elements of a row.
    pub(super) fn columns(&self) -> usize {
        self.shape.iter().skip(1).fold(1, |product, &axis| product.saturating_mul(axis))
    }

    /// Returns the bytes of all elements.
    pub(super) fn bytes(&self) -> u64 {
        let rows = self.shape.first().map_or(1, |&rows| rows as u64);
        rows.saturating_mul(self.columns() as u64).saturating_mul(self.kind.width() as u64)
    }

    /// Writes the numbers of consecutive rows to `out`, which has their length. `seen` is called with all bytes that
    /// are read, in order.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if the file ends, or if f64 does not hold an integer exactly;
    /// [`Io`](crate::ErrorKind::Io) if the operating system reports an error.
    pub(super) fn read_rows<T: Real>(
        &self,
        path: &Path,
        file: &mut (impl Read + Seek),
        rows: Range<usize>,
        seen: &mut dyn FnMut(&[u8]),
        out: &mut [T],
    ) -> Result<()> {
        let (width, columns) = (self.kind.width(), self.columns());
        let refused = |error: std::io::Error| match error.kind() {
            ErrorKind::UnexpectedEof => {
                let expected = format!("{} rows of {}", self.shape.first().unwrap_or(&1), self.name);
                let found = format!("the end of the file, in rows {} to {}", rows.start, rows.end);
                Error::parse(path, None, expected, found)
            }
            _ => Error::io("read", path, error),
        };
        let Some(begin) = self.begin else {
            let expected = format!("{} without compression and in row-major order", self.name);
            return Err(Error::parse(path, None, expected, "another form"));
        };
        file.seek(SeekFrom::Start(begin + (rows.start * columns * width) as u64)).map_err(refused)?;
        let count = rows.len() * columns;
        let same = T::NAME == if width == 8 { "f64" } else { "f32" } && matches!(self.kind, Kind::F32 | Kind::F64);
        if same && self.big == cfg!(target_endian = "big") {
            // In pieces, so that `seen` finds the bytes in the processor's cache.
            for piece in cast_slice_mut::<T, u8>(out).chunks_mut(PIECE) {
                file.read_exact(piece).map_err(refused)?;
                seen(piece);
            }
            return Ok(());
        }
        let each = (PIECE / width.max(1)).max(1);
        let mut bytes = vec![0; each.min(count) * width];
        for (piece, out) in out.chunks_mut(each).enumerate() {
            let bytes = &mut bytes[..out.len() * width];
            file.read_exact(bytes).map_err(refused)?;
            seen(bytes);
            self.decode(path, bytes, rows.start * columns + piece * each, out)?;
        }
        Ok(())
    }

    /// Writes the numbers of `bytes`, whose first is the element `first` of the array.
    pub(super) fn decode<T: Real>(&self, path: &Path, bytes: &[u8], first: usize, out: &mut [T]) -> Result<()> {
        self.kind.decode(bytes, self.big, out).map_err(|(place, integer)| {
            let found = format!("{integer} in row {} of {}", (first + place) / self.columns().max(1), self.name);
            Error::parse(path, None, "integers that float64 holds exactly", found)
        })
    }

    /// Reads a member of an archive as a whole, whose checksum is compared, and writes its elements in row-major order
    /// to `out`, which has their length.
    pub(super) fn read_member<T: Real>(&self, path: &Path, archive: &mut Archive, out: &mut [T]) -> Result<()> {
        let bytes = self.member_bytes(path, archive)?;
        let (header, begin) = npy::Header::read(path, &mut &bytes[..])?;
        if header.fortran_order && header.shape.len() > 1 {
            let whole = NpyFile::of(&path.join(&self.name), Box::new(Cursor::new(bytes)))?.read()?;
            return self.copy(path, whole.data, out);
        }
        self.decode(path, self.elements(path, &bytes, begin)?, 0, out)
    }

    /// Returns the bytes of the elements, which begin at `begin`.
    fn elements<'a>(&self, path: &Path, bytes: &'a [u8], begin: u64) -> Result<&'a [u8]> {
        let bytes = usize::try_from(begin).ok().and_then(|begin| bytes.get(begin..)).unwrap_or_default();
        if bytes.len() as u64 == self.bytes() {
            return Ok(bytes);
        }
        let expected = format!("{} bytes of {}", self.bytes(), self.name);
        Err(Error::parse(path, None, expected, format!("{} bytes", bytes.len())))
    }

    /// Reads the elements of an `.npy` file, and writes them in row-major order to `out`, which has their length.
    pub(super) fn read_file<T: Real>(&self, path: &Path, out: &mut [T]) -> Result<()> {
        self.copy(path, NpyFile::open(path)?.read()?.data, out)
    }

    fn copy<T: Real>(&self, path: &Path, data: NpyData, out: &mut [T]) -> Result<()> {
        let numbers: Vec<T> = match data {
            NpyData::F32(data) => T::widened(&data).into_owned(),
            NpyData::F64(data) => data.into_iter().map(T::from_f64).collect(),
            NpyData::F16(data) => data.into_iter().map(|x| T::from_f64(x.into())).collect(),
            // Refused when a file is opened.
            NpyData::C64(_) | NpyData::C128(_) => Vec::new(),
        };
        if numbers.len() != out.len() {
            let (expected, found) = (format!("{} numbers of {}", out.len(), self.name), numbers.len().to_string());
            return Err(Error::parse(path, None, expected, found));
        }
        out.copy_from_slice(&numbers);
        Ok(())
    }

    /// Returns the strings of an array of text, which is a member of an archive.
    pub(super) fn read_text(&self, path: &Path) -> Result<Vec<String>> {
        let bytes = self.member_bytes(path, &mut archive(path)?)?;
        let (_, begin) = npy::Header::read(path, &mut &bytes[..])?;
        let bytes = self.elements(path, &bytes, begin)?;
        let utf8 = matches!(self.kind, Kind::Bytes(_));
        let word = |bytes: &[u8]| -> Option<String> {
            if utf8 {
                let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                return std::str::from_utf8(&bytes[..end]).ok().map(str::to_owned);
            }
            let code = |own: [u8; 4]| u32::from_le_bytes(if self.big { reversed(own) } else { own });
            let codes = bytes.as_chunks::<4>().0.iter().map(|&own| code(own));
            codes.take_while(|&code| code != 0).map(char::from_u32).collect()
        };
        let words = bytes.chunks(self.kind.width()).map(word).collect::<Option<_>>();
        let expected = || format!("strings of {}", self.name);
        words.ok_or_else(|| Error::parse(path, None, expected(), "numbers that are no characters"))
    }

    fn member_bytes(&self, path: &Path, archive: &mut Archive) -> Result<Vec<u8>> {
        let member = self.member.map_or(0, |member| member.index);
        let member = archive.by_index(member).map_err(|error| refused(path, error))?;
        // A header may be 64 KiB long; a member that is longer than it should be is refused afterwards.
        let (most, mut bytes) = (self.bytes().saturating_add(1 << 20), Vec::new());
        member.take(most).read_to_end(&mut bytes).map_err(|error| match error.raw_os_error() {
            Some(_) => Error::io("read", path, error),
            None => {
                Error::parse(path, None, format!("an archive in which {} is not damaged", self.name), error.to_string())
            }
        })?;
        Ok(bytes)
    }
}

/// An archive that has been opened.
pub(super) type Archive = ZipArchive<BufReader<File>>;

pub(super) fn archive(path: &Path) -> Result<Archive> {
    let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    ZipArchive::new(BufReader::new(file)).map_err(|error| refused(path, error))
}

fn refused(path: &Path, error: ZipError) -> Error {
    match error {
        ZipError::Io(error) => Error::io("read", path, error),
        other => Error::parse(path, None, "an .npz archive", other.to_string()),
    }
}

/// The arrays of an archive, and the names of those of types that cannot be read, with the reasons.
pub(super) type Archived = (Vec<Stored>, Vec<(String, Error)>);

/// Returns the arrays of an `.npz` archive, in its order.
///
/// # Errors
/// [`Parse`](crate::ErrorKind::Parse) if the file is not an archive of arrays, or is damaged;
/// [`Io`](crate::ErrorKind::Io) if the operating system reports an error.
pub(super) fn of_npz(path: &Path) -> Result<Archived> {
    let mut archive = archive(path)?;
    let mut file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    let len = file.metadata().map_err(|error| Error::io("read", path, error))?.len();
    let (mut arrays, mut others) = (Vec::with_capacity(archive.len()), Vec::new());
    for index in 0..archive.len() {
        let mut member = archive.by_index(index).map_err(|error| refused(path, error))?;
        let full = member.name().to_owned();
        let wrong = |expected: String, found: String| Err(Error::parse(path, None, expected, found));
        let Some(name) = full.strip_suffix(".npy").map(str::to_owned) else {
            return wrong("an archive of .npy files".to_owned(), format!("the member {full}"));
        };
        let (start, size, sum) = (member.data_start(), member.size(), member.crc32());
        let plain = member.compression() == CompressionMethod::Stored;
        let (header, begin) = if plain {
            if start.checked_add(size).is_none_or(|end| end > len) {
                return wrong(format!("{size} bytes of {name}"), "the end of the file".to_owned());
            }
            file.seek(SeekFrom::Start(start)).map_err(|error| Error::io("read", path, error))?;
            npy::Header::read(&path.join(&full), &mut BufReader::with_capacity(256, &file))?
        } else {
            npy::Header::read(&path.join(&full), &mut member)?
        };
        if let Err(error) = kind_of(path, &name, &header) {
            others.push((name, error));
            continue;
        }
        let array = of_header(path, name, &header, begin, size)?;
        let begin = array.begin.filter(|_| plain).map(|begin| start + begin);
        arrays.push(Stored { begin, member: Some(Member { index, start, sum }), ..array });
    }
    Ok((arrays, others))
}

/// Returns the array of an `.npy` file, under the given name.
///
/// # Errors
/// As for [`of_npz`].
pub(super) fn of_npy(path: &Path, name: &str) -> Result<Stored> {
    let mut file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    let len = file.metadata().map_err(|error| Error::io("read", path, error))?.len();
    let (header, begin) = npy::Header::read(path, &mut file)?;
    of_header(path, name.to_owned(), &header, begin, len)
}

/// Returns the array that a header describes, which with its elements has `size` bytes.
fn of_header(path: &Path, name: String, header: &npy::Header, begin: u64, size: u64) -> Result<Stored> {
    let kind = kind_of(path, &name, header)?;
    let shape = header.shape.clone();
    let bytes = shape.iter().try_fold(kind.width() as u64, |product, &axis| product.checked_mul(axis as u64));
    if bytes.and_then(|bytes| bytes.checked_add(begin)) != Some(size) {
        let expected = match bytes {
            Some(bytes) => format!("{bytes} bytes of {name} for the shape {shape:?}"),
            None => format!("a shape that a file can hold, not {shape:?}"),
        };
        return Err(Error::parse(path, None, expected, format!("{} bytes", size.saturating_sub(begin))));
    }
    let flat = header.fortran_order && shape.len() > 1;
    let begin = (!flat).then_some(begin);
    Ok(Stored { name, shape, kind, big: header.descr.starts_with('>'), begin, member: None })
}

/// Returns the type of the elements that a header describes.
fn kind_of(path: &Path, name: &str, header: &npy::Header) -> Result<Kind> {
    let (order, kind) = header.descr.split_at_checked(1).unwrap_or_default();
    Kind::of_numpy(kind).filter(|_| ["<", ">", "|"].contains(&order)).ok_or_else(|| {
        let objects =
            if kind == "O" { "; Python's objects are not read, and x.astype('U') makes text of them" } else { "" };
        let found = format!("{name} of type {}{objects}", header.descr);
        Error::parse(path, None, "an array of floats, integers, booleans or text", found)
    })
}

/// The arrays of a safetensors file, in the order of their names, and the texts of its metadata.
pub(super) type Tensors = (Vec<Stored>, BTreeMap<String, String>);

/// Returns the bytes before the elements of a safetensors file: the length of the header, and the header.
pub(super) fn safetensors_header(path: &Path, file: &mut File, len: u64) -> Result<Vec<u8>> {
    let mut bytes = vec![0; 8];
    let wrong = |found: String| Error::parse(path, None, "a safetensors file with its header", found);
    if len < 8 {
        return Err(wrong(format!("a file of {len} bytes")));
    }
    file.read_exact(&mut bytes).map_err(|error| Error::io("read", path, error))?;
    let length = bytes.first_chunk().map_or(0, |&first| u64::from_le_bytes(first));
    if length > (len - 8).min(LONGEST_HEADER) {
        return Err(wrong(format!("a header of {length} bytes in a file of {len} bytes")));
    }
    file.take(length).read_to_end(&mut bytes).map_err(|error| Error::io("read", path, error))?;
    Ok(bytes)
}

/// Returns the arrays that the beginning of a safetensors file of `len` bytes describes.
///
/// # Errors
/// [`Parse`](crate::ErrorKind::Parse) if the header describes another file length, a type is not supported, or the
/// tensors overlap or leave gaps, which the format forbids. Two tensors of one name leave a gap.
pub(super) fn of_safetensors(path: &Path, beginning: &[u8], len: u64) -> Result<Tensors> {
    let wrong = |expected: &str, found: String| Error::parse(path, None, expected, found);
    let (entries, metadata) = described(path, beginning.get(8..).unwrap_or_default(), len)?;
    let mut places: Vec<Range<usize>> = entries.values().map(|entry| entry.place.clone()).collect();
    places.sort_by_key(|place| (place.start, place.end));
    let mut end = beginning.len();
    for place in places {
        if place.start != end {
            let found = format!("byte {end} between two tensors, or in both");
            return Err(wrong("each byte in one tensor, and each name once", found));
        }
        end = place.end;
    }
    if end as u64 != len {
        return Err(wrong(&format!("{end} bytes, where the last tensor ends"), format!("{len} bytes")));
    }
    let stored = entries.into_iter().map(|(name, entry)| match Kind::of_tensor(&entry.kind) {
        Some(kind) if !kind.is_text() => {
            let begin = Some(entry.place.start as u64);
            Ok(Stored { name, shape: entry.shape, kind, big: false, begin, member: None })
        }
        _ => Err(wrong("a tensor of floats or integers", format!("{name} of type {}", entry.kind))),
    });
    Ok((stored.collect::<Result<_>>()?, metadata))
}
