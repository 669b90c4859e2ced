//! Reads and writes NumPy's array files: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.

use super::magic;
use super::named::{Data, NamedArray, text_width};
use crate::error::{Error, Result};
use half::f16;
use num_complex::Complex;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8] = b"\x93NUMPY";

/// A vector, a matrix or a batch of matrices that was read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Npy {
    /// The shape: `[length]`, `[rows, columns]` or `[batch, rows, columns]`.
    pub shape: Vec<usize>,
    /// The elements in row-major order: the last axis varies fastest.
    pub data: NpyData,
}

/// The elements of an [`Npy`] in the precision of the file. Integers and booleans are converted to 64-bit floats.
#[derive(Clone, Debug, PartialEq)]
pub enum NpyData {
    /// 32-bit floats.
    F32(Vec<f32>),
    /// 64-bit floats.
    F64(Vec<f64>),
    /// 16-bit floats.
    F16(Vec<f16>),
    /// Complex numbers with 32-bit float components.
    C64(Vec<Complex<f32>>),
    /// Complex numbers with 64-bit float components.
    C128(Vec<Complex<f64>>),
}

impl NpyData {
    /// Returns NumPy's name of the element type.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::F32(_) => "float32",
            Self::F64(_) => "float64",
            Self::F16(_) => "float16",
            Self::C64(_) => "complex64",
            Self::C128(_) => "complex128",
        }
    }
}

/// Reads an .npy file of numbers with one, two or three axes. The file may use either byte order, and C or Fortran
/// order. Integers and booleans are converted to 64-bit floats.
///
/// # Errors
/// [`Parse`](crate::ErrorKind::Parse) if the element type is not supported, a 64-bit float cannot represent an integer
/// exactly, the number of axes is not supported, the file is shorter or longer than its header says, or the file is not
/// an .npy file; [`Io`](crate::ErrorKind::Io) if the operating system reports an error.
pub fn read_npy(path: &Path) -> Result<Npy> {
    NpyFile::open(path)?.read()
}

/// An .npy file whose header has been read. Its shape and element type are known before the elements are read.
pub struct NpyFile {
    path: PathBuf,
    reader: Box<dyn Read + Send>,
    header: Header,
}

impl fmt::Debug for NpyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NpyFile").field("path", &self.path).field("header", &self.header).finish_non_exhaustive()
    }
}

impl NpyFile {
    /// Opens an .npy file and reads its header.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if the file is not an .npy file; [`Io`](crate::ErrorKind::Io) if the
    /// operating system reports an error.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
        Self::of(path, Box::new(BufReader::new(file)))
    }

    /// Reads the header from `reader`. Errors name `path`.
    pub(super) fn of(path: &Path, mut reader: Box<dyn Read + Send>) -> Result<Self> {
        let (header, _) = Header::read(path, &mut reader)?;
        Ok(Self { path: path.to_owned(), reader, header })
    }

    /// Returns the length of each axis.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.header.shape
    }

    /// Returns NumPy's name of the element type, such as float32 or int64. If NumPy has no such name, returns the type
    /// string of the file.
    #[must_use]
    pub fn type_name(&self) -> String {
        let descr = self.header.descr.as_str();
        let kind = descr.trim_start_matches(['<', '>', '|', '=']);
        let name = match kind.split_at_checked(1) {
            Some(("b", "1")) => return "bool".to_owned(),
            Some(("f", bytes)) => ("float", bytes),
            Some(("c", bytes)) => ("complex", bytes),
            Some(("i", bytes)) => ("int", bytes),
            Some(("u", bytes)) => ("uint", bytes),
            _ => return descr.to_owned(),
        };
        name.1.parse::<u8>().map_or(descr.to_owned(), |bytes| format!("{}{}", name.0, 8 * u32::from(bytes)))
    }

    /// Reads the elements.
    ///
    /// # Errors
    /// The same as for [`read_npy`].
    pub fn read(self) -> Result<Npy> {
        let Self { path, mut reader, header, .. } = self;
        let error = |expected: String, found: String| Error::parse(&path, None, expected, found);
        // The type string consists of the byte order, the kind of an element and the width of an element.
        let (big, kind) = match header.descr.split_at_checked(1) {
            Some(("<", kind)) => (false, kind),
            Some((">", kind)) => (true, kind),
            Some(("|", kind @ ("b1" | "i1" | "u1"))) => (false, kind),
            _ => (false, ""),
        };
        let width = match kind {
            "b1" | "i1" | "u1" => 1,
            "f2" | "i2" | "u2" => 2,
            "f4" | "i4" | "u4" => 4,
            "f8" | "c8" | "i8" | "u8" => 8,
            "c16" => 16,
            _ => {
                let expected =
                    "elements of type float16, float32, float64, complex64 or complex128, integers or booleans";
                return Err(error(expected.into(), format!("the type {}", header.descr)));
            }
        };
        if !(1..=3).contains(&header.shape.len()) {
            return Err(error("an array with one, two or three axes".into(), format!("the shape {:?}", header.shape)));
        }
        let bytes = header.shape.iter().try_fold(width, |product: usize, &length| product.checked_mul(length));
        let mut data = Vec::new();
        reader.read_to_end(&mut data).map_err(|error| Error::io("read", &path, error))?;
        if bytes != Some(data.len()) {
            let expected = match bytes {
                Some(bytes) => format!("{bytes} bytes of elements for the shape {:?}", header.shape),
                None => format!("a shape that memory holds, not {:?}", header.shape),
            };
            return Err(error(expected, format!("{} bytes", data.len())));
        }
        let shape = &header.shape;
        let ordered = header.fortran_order;
        let f2 = |bytes| if big { f16::from_be_bytes(bytes) } else { f16::from_le_bytes(bytes) };
        let f4 = |bytes| if big { f32::from_be_bytes(bytes) } else { f32::from_le_bytes(bytes) };
        let f8 = |bytes| if big { f64::from_be_bytes(bytes) } else { f64::from_le_bytes(bytes) };
        let raw = Raw { path: &path, bytes: &data, header: &header, big };
        let data = match kind {
            "f2" => NpyData::F16(elements(&data, shape, ordered, f2)),
            "f4" => NpyData::F32(elements(&data, shape, ordered, f4)),
            "f8" => NpyData::F64(elements(&data, shape, ordered, f8)),
            "b1" => integers(|[byte]| (byte != 0).into(), &raw)?,
            "i1" => integers(|bytes| i8::from_le_bytes(bytes).into(), &raw)?,
            "u1" => integers(|bytes| u8::from_le_bytes(bytes).into(), &raw)?,
            "i2" => integers(|bytes| i16::from_le_bytes(bytes).into(), &raw)?,
            "u2" => integers(|bytes| u16::from_le_bytes(bytes).into(), &raw)?,
            "i4" => integers(|bytes| i32::from_le_bytes(bytes).into(), &raw)?,
            "u4" => integers(|bytes| u32::from_le_bytes(bytes).into(), &raw)?,
            "i8" => integers(|bytes| i64::from_le_bytes(bytes).into(), &raw)?,
            "u8" => integers(|bytes| u64::from_le_bytes(bytes).into(), &raw)?,
            "c8" => NpyData::C64(elements(&data, shape, ordered, |bytes: [u8; 8]| pair(bytes.as_chunks().0, f4))),
            _ => NpyData::C128(elements(&data, shape, ordered, |bytes: [u8; 16]| pair(bytes.as_chunks().0, f8))),
        };
        Ok(Npy { shape: header.shape, data })
    }
}

/// Decodes the elements and returns them in row-major order.
fn elements<T: Copy, const N: usize>(
    bytes: &[u8],
    shape: &[usize],
    fortran_order: bool,
    element: impl Fn([u8; N]) -> T,
) -> Vec<T> {
    let all = bytes.as_chunks::<N>().0.iter().map(|&bytes| element(bytes)).collect();
    if fortran_order { to_row_major(shape, all) } else { all }
}

/// The bytes of a file's elements and the header that describes the elements.
struct Raw<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    header: &'a Header,
    /// Whether the elements are stored with the most significant byte first (big-endian).
    big: bool,
}

/// Converts integers to equal floats. Returns an error if an integer has no equal float, which is possible above 2^53.
/// `read` decodes an integer from bytes in little-endian order.
fn integers<const N: usize>(read: impl Fn([u8; N]) -> i128, raw: &Raw<'_>) -> Result<NpyData> {
    let one = |mut bytes: [u8; N]| {
        if raw.big {
            bytes.reverse();
        }
        read(bytes)
    };
    let all = elements(raw.bytes, &raw.header.shape, raw.header.fortran_order, one);
    let float = |(place, integer): (usize, i128)| {
        #[expect(clippy::cast_precision_loss, reason = "what is lost is an error")]
        let float = integer as f64;
        #[expect(clippy::cast_possible_truncation, reason = "integers of 64 bits round to floats below 2^65")]
        let back = float as i128;
        if back == integer {
            return Ok(float);
        }
        let found = format!("{integer} as element {place}");
        Err(Error::parse(raw.path, None, "integers that float64 holds exactly", found))
    };
    all.into_iter().enumerate().map(float).collect::<Result<_>>().map(NpyData::F64)
}

/// Decodes a complex number from the bytes of its real and imaginary parts.
fn pair<T, const N: usize>(parts: &[[u8; N]], part: impl Fn([u8; N]) -> T) -> Complex<T> {
    Complex::new(part(parts[0]), part(parts[1]))
}

/// Reorders elements from Fortran order (the first axis varies fastest) to row-major order.
fn to_row_major<T: Copy>(shape: &[usize], data: Vec<T>) -> Vec<T> {
    let (batch, rows, columns) = match *shape {
        [batch, rows, columns] => (batch, rows, columns),
        [rows, columns] => (1, rows, columns),
        _ => return data,
    };
    let mut out = Vec::with_capacity(data.len());
    for matrix in 0..batch {
        for row in 0..rows {
            out.extend((0..columns).map(|column| data[matrix + batch * (row + rows * column)]));
        }
    }
    out
}

/// The contents of the header's Python dictionary.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) descr: String,
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<usize>,
}

impl Header {
    /// Reads a header, and returns it with the number of bytes before the elements. Errors name `path`.
    pub(super) fn read(path: &Path, reader: &mut dyn Read) -> Result<(Self, u64)> {
        let error = |expected: &str, found: String| Error::parse(path, None, expected, found);
        let refused = |error| Error::io("read", path, error);
        let mut start = Vec::new();
        reader.take(8).read_to_end(&mut start).map_err(refused)?;
        let version = match start.strip_prefix(MAGIC) {
            Some(&[version @ 1..=3, _]) => version,
            Some(_) => return Err(error("an .npy file of version 1, 2 or 3", "another version".into())),
            None => {
                reader.take(magic::LOOKED_AT as u64).read_to_end(&mut start).map_err(refused)?;
                return Err(error("an .npy file", magic::kind(&start).unwrap_or("another beginning").into()));
            }
        };
        let mut length = vec![];
        reader.take(if version == 1 { 2 } else { 4 }).read_to_end(&mut length).map_err(refused)?;
        let length = length.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
        let mut text = Vec::new();
        reader.take(length.min(1 << 20)).read_to_end(&mut text).map_err(refused)?;
        let begin = (start.len() + if version == 1 { 2 } else { 4 } + text.len()) as u64;
        let text = String::from_utf8_lossy(&text);
        match Self::parse(&text) {
            Some(header) => Ok((header, begin)),
            None => Err(error("an .npy header with descr, fortran_order and shape", format!("{text:?}"))),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let descr = value(text, "descr")?;
        let quote = descr.chars().next().filter(|quote| "'\"".contains(*quote));
        let descr = match quote {
            Some(quote) => descr[1..].split(quote).next()?,
            // If the value is not in quotes, it is a list that describes a type with fields, which is not supported.
            // The error shows the list up to its first closing bracket.
            None => descr.split_inclusive(']').next()?,
        };
        let order = value(text, "fortran_order")?;
        let fortran_order = order.starts_with("True");
        if !fortran_order && !order.starts_with("False") {
            return None;
        }
        let shape = value(text, "shape")?.strip_prefix('(')?.split_once(')')?.0;
        let lengths = shape.split(',').map(str::trim).filter(|length| !length.is_empty());
        let shape = lengths.map(|length| length.parse().ok()).collect::<Option<_>>()?;
        Some(Self { descr: descr.to_owned(), fortran_order, shape })
    }
}

/// Returns the text that follows a key of the header's dictionary.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let after = |quote: char| text.split_once(&format!("{quote}{key}{quote}"));
    let (_, rest) = after('\'').or_else(|| after('"'))?;
    Some(rest.trim_start().strip_prefix(':')?.trim_start())
}

/// Writes an array as an .npy file.
pub(super) fn write(out: &mut impl Write, array: &NamedArray<'_>) -> io::Result<()> {
    write_header(out, &type_string(&array.data), &array.shape)?;
    array.data.write_little_endian(out)
}

/// Returns the type string of NumPy's array protocol.
fn type_string(data: &Data<'_>) -> String {
    match data {
        Data::F32(_) => "<f4".into(),
        Data::F64(_) => "<f8".into(),
        Data::F16(_) => "<f2".into(),
        Data::C64(_) => "<c8".into(),
        Data::C128(_) => "<c16".into(),
        Data::I64(_) => "<i8".into(),
        Data::U8(_) => "|u1".into(),
        Data::Text(words) => format!("<U{}", text_width(words)),
    }
}

/// Writes a header of format version 1, padded so that the elements begin at a multiple of 64 bytes.
pub(super) fn write_header(out: &mut impl Write, type_name: &str, shape: &[usize]) -> io::Result<()> {
    write_header_of(out, type_name, shape, false)
}

/// Does the same for an array whose elements are in column-major order, if `by_columns` is set.
pub(super) fn write_header_of(
    out: &mut impl Write,
    type_name: &str,
    shape: &[usize],
    by_columns: bool,
) -> io::Result<()> {
    let lengths: Vec<String> = shape.iter().map(ToString::to_string).collect();
    // Python writes a tuple of one element with a trailing comma.
    let shape = if shape.len() == 1 { format!("{},", lengths[0]) } else { lengths.join(", ") };
    let order = if by_columns { "True" } else { "False" };
    let text = format!("{{'descr': '{type_name}', 'fortran_order': {order}, 'shape': ({shape}), }}");
    let before = MAGIC.len() + 4;
    let length = (before + text.len() + 1).next_multiple_of(64) - before;
    let stated = u16::try_from(length).map_err(io::Error::other)?;
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&stated.to_le_bytes())?;
    writeln!(out, "{text:<width$}", width = length - 1)
}
