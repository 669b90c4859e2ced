//! Reads some rows of a data set of arrays without the others.

use super::npy::NpyFile;
use super::samples::{INPUTS, TARGETS, Wanted};
use super::tensors::described;
use crate::array::Real;
use crate::error::{Error, Result};
use half::{bf16, f16};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use zip::{CompressionMethod, ZipArchive};

/// The bytes that are read and converted at a time.
const PIECE: usize = 1 << 20;
/// The rows whose targets are read at a time when the classes are found.
const SCANNED: usize = 1 << 16;
/// The most classes that are kept in memory.
const MOST_CLASSES: usize = 1 << 20;

/// The inputs and targets of a file, of which rows can be read without the others: an `.npz` whose arrays are not
/// compressed, or `.safetensors`. The arrays have the names that [`read_samples`](super::read_samples) looks for.
#[derive(Debug)]
pub struct SampleRows {
    path: PathBuf,
    file: Mutex<File>,
    len: usize,
    inputs: usize,
    /// The number of values of a sample, or 0 for labels.
    values: usize,
    x: Stored,
    /// The targets, unless inputs alone are wanted.
    y: Option<Stored>,
    /// The classes and their names, in order.
    classes: Vec<i64>,
    names: Vec<String>,
}

/// An array in a file, in row-major order.
#[derive(Debug)]
struct Stored {
    name: String,
    shape: Vec<usize>,
    /// Where its elements begin.
    begin: u64,
    kind: Kind,
    /// Whether the most significant byte of an element is the first.
    big: bool,
}

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    F16,
    Bf16,
    F32,
    F64,
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

impl Kind {
    /// Returns the type of NumPy's type string without the byte order, or of a tensor of a safetensors file.
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "f2" | "F16" => Self::F16,
            "BF16" => Self::Bf16,
            "f4" | "F32" => Self::F32,
            "f8" | "F64" => Self::F64,
            "b1" | "BOOL" => Self::Bool,
            "i1" | "I8" => Self::I8,
            "u1" | "U8" => Self::U8,
            "i2" | "I16" => Self::I16,
            "u2" | "U16" => Self::U16,
            "i4" | "I32" => Self::I32,
            "u4" | "U32" => Self::U32,
            "i8" | "I64" => Self::I64,
            "u8" | "U64" => Self::U64,
            _ => return None,
        })
    }

    fn width(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::F16 | Self::Bf16 | Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
        }
    }

    /// Decodes an element, whose least significant byte is the first. Integers that f64 does not hold exactly are
    /// returned as the error.
    #[expect(clippy::cast_precision_loss, reason = "checked")]
    fn decode(self, bytes: [u8; 8]) -> Result<f64, i128> {
        let [a, b, c, d, ..] = bytes;
        let exact = |x: i128| if x.unsigned_abs() <= 1 << 53 { Ok(x as f64) } else { Err(x) };
        Ok(match self {
            Self::F16 => f16::from_le_bytes([a, b]).into(),
            Self::Bf16 => bf16::from_le_bytes([a, b]).into(),
            Self::F32 => f32::from_le_bytes([a, b, c, d]).into(),
            Self::F64 => f64::from_le_bytes(bytes),
            Self::Bool => f64::from(u8::from(a != 0)),
            Self::I8 => i8::from_le_bytes([a]).into(),
            Self::U8 => a.into(),
            Self::I16 => i16::from_le_bytes([a, b]).into(),
            Self::U16 => u16::from_le_bytes([a, b]).into(),
            Self::I32 => i32::from_le_bytes([a, b, c, d]).into(),
            Self::U32 => u32::from_le_bytes([a, b, c, d]).into(),
            Self::I64 => return exact(i64::from_le_bytes(bytes).into()),
            Self::U64 => return exact(u64::from_le_bytes(bytes).into()),
        })
    }
}

impl SampleRows {
    /// Opens a file, or returns `None` if it has to be read as a whole: because its format is another one, its arrays
    /// are compressed or in Fortran order, or it does not have the arrays that are expected, of which
    /// [`read_samples`](super::read_samples) tells more. If labels are wanted, all labels are read, to find the
    /// classes, which are in numeric order.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if a label is not a whole number, or if there are more than 2^20 classes;
    /// [`Io`](crate::ErrorKind::Io) if the operating system reports an error, or a checksum of an archive is wrong.
    pub fn open(path: &Path, wanted: Wanted<'_>) -> Result<Option<Self>> {
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        let arrays = match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some("npz") => of_npz(path),
            Some("safetensors") => of_safetensors(path)?,
            _ => None,
        };
        let Some(mut arrays) = arrays else { return Ok(None) };
        let mut take = |known: &[&str]| {
            let at = arrays.iter().position(|array| known.contains(&array.name.as_str()))?;
            Some(arrays.swap_remove(at))
        };
        let y = match wanted {
            Wanted::Inputs(..) => None,
            Wanted::Labels(name) | Wanted::Values(name) => {
                let Some(y) = take(name.as_ref().map_or(&TARGETS, std::slice::from_ref)) else { return Ok(None) };
                Some(y)
            }
        };
        let Some(x) = take(&INPUTS) else { return Ok(None) };
        let &[len, inputs] = &x.shape[..] else { return Ok(None) };
        let labeled = matches!(wanted, Wanted::Labels(_));
        let mut values = 0;
        if let Some(y) = &y {
            values = y.shape.iter().skip(1).product();
            if y.shape.first() != Some(&len) || values == 0 || labeled && values > 1 {
                return Ok(None);
            }
        }
        if len == 0 || inputs == 0 {
            return Ok(None);
        }
        if ending.is_some_and(|ending| ending == "npz") {
            check_sums(path)?;
        }
        let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
        let (path, file, values) = (path.to_owned(), Mutex::new(file), if labeled { 0 } else { values });
        let (classes, names) = (Vec::new(), Vec::new());
        let mut made = Self { path, file, len, inputs, values, x, y, classes, names };
        if labeled {
            made.find_classes()?;
        }
        Ok(Some(made))
    }

    fn find_classes(&mut self) -> Result<()> {
        let mut found = BTreeSet::new();
        for first in (0..self.len).step_by(SCANNED) {
            let rows = first..(first + SCANNED).min(self.len);
            self.each(self.targets()?, rows, |row, value| {
                found.insert(self.class(row, value)?);
                Ok(())
            })?;
            if found.len() > MOST_CLASSES {
                return Err(self.wrong(format!("at most {MOST_CLASSES} classes"), "more".to_owned()));
            }
        }
        self.classes = found.into_iter().collect();
        self.names = self.classes.iter().map(i64::to_string).collect();
        Ok(())
    }

    /// Returns the number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no samples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of inputs of a sample.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Returns the number of values of a sample, or 0 if the targets are labels or were not wanted.
    #[must_use]
    pub fn values(&self) -> usize {
        self.values
    }

    /// Returns the names of the classes; none if the targets are values.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        &self.names
    }

    /// Reads the inputs of rows, row by row.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if the file has become shorter, or if a 64-bit float cannot represent an
    /// integer; [`Io`](crate::ErrorKind::Io) if the operating system reports an error.
    pub fn inputs_of<T: Real>(&self, rows: Range<usize>) -> Result<Vec<T>> {
        self.numbers(&self.x, rows, self.inputs)
    }

    /// Reads the values of rows, row by row.
    ///
    /// # Errors
    /// The same as for [`SampleRows::inputs_of`], and [`Parse`](crate::ErrorKind::Parse) if inputs alone were wanted.
    pub fn values_of<T: Real>(&self, rows: Range<usize>) -> Result<Vec<T>> {
        self.numbers(self.targets()?, rows, self.values)
    }

    /// Reads the labels of rows, as places in the list of the classes.
    ///
    /// # Errors
    /// The same as for [`SampleRows::values_of`], and [`Parse`](crate::ErrorKind::Parse) if the file was changed and
    /// has another class now.
    pub fn labels_of(&self, rows: Range<usize>) -> Result<Vec<u32>> {
        let mut made = Vec::with_capacity(rows.len());
        self.each(self.targets()?, rows, |row, value| {
            let class = self.class(row, value)?;
            let place = self.classes.binary_search(&class).ok().and_then(|place| u32::try_from(place).ok());
            let found = || format!("{class} as label of sample {row}");
            made.push(place.ok_or_else(|| self.wrong("the classes that the file had when it was opened", found()))?);
            Ok(())
        })?;
        Ok(made)
    }

    fn targets(&self) -> Result<&Stored> {
        self.y.as_ref().ok_or_else(|| self.wrong("targets", "a file that was opened for its inputs".to_owned()))
    }

    fn numbers<T: Real>(&self, array: &Stored, rows: Range<usize>, each: usize) -> Result<Vec<T>> {
        let mut made = Vec::with_capacity(rows.len() * each);
        self.each(array, rows, |_, value| {
            made.push(T::from_f64(value));
            Ok(())
        })?;
        Ok(made)
    }

    #[expect(clippy::cast_possible_truncation, reason = "whole numbers below 2^53")]
    fn class(&self, row: usize, value: f64) -> Result<i64> {
        let whole = value.fract() == 0.0 && value.abs() < 1e15;
        let found = || format!("{value} as label of sample {row}");
        if whole { Ok(value as i64) } else { Err(self.wrong("whole numbers as labels", found())) }
    }

    /// Calls `each` with every element of consecutive rows, and the row.
    fn each(&self, array: &Stored, rows: Range<usize>, mut each: impl FnMut(usize, f64) -> Result<()>) -> Result<()> {
        let width = array.kind.width();
        let columns: usize = array.shape[1..].iter().product();
        let refused = |error: std::io::Error| match error.kind() {
            ErrorKind::UnexpectedEof => {
                let found = format!("the end of the file, in rows {} to {}", rows.start, rows.end);
                self.wrong(format!("{} rows of {}", self.len, array.name), found)
            }
            _ => Error::io("read", &self.path, error),
        };
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = array.begin + (rows.start * columns * width) as u64;
        file.seek(SeekFrom::Start(begin)).map_err(refused)?;
        let mut bytes = vec![0; PIECE.min(rows.len() * columns * width)];
        let (mut element, mut row, mut column) = (0, rows.start, 0);
        while element < rows.len() * columns {
            let count = (bytes.len() / width).min(rows.len() * columns - element);
            let some = &mut bytes[..count * width];
            file.read_exact(some).map_err(refused)?;
            for own in some.chunks_exact_mut(width) {
                if array.big {
                    own.reverse();
                }
                let mut eight = [0; 8];
                eight[..width].copy_from_slice(own);
                let value = array.kind.decode(eight).map_err(|integer| {
                    let found = format!("{integer} in row {row} of {}", array.name);
                    self.wrong("integers that float64 holds exactly", found)
                })?;
                each(row, value)?;
                column += 1;
                if column == columns {
                    (row, column) = (row + 1, 0);
                }
            }
            element += count;
        }
        Ok(())
    }

    fn wrong(&self, expected: impl Into<String>, found: String) -> Error {
        Error::parse(&self.path, None, expected, found)
    }
}

/// Reads an archive once, because its checksums are those of whole arrays.
fn check_sums(path: &Path) -> Result<()> {
    let refused = |error| Error::io("read", path, error);
    let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| refused(error.into()))?;
    for member in 0..archive.len() {
        let mut member = archive.by_index(member).map_err(|error| refused(error.into()))?;
        std::io::copy(&mut member, &mut std::io::sink()).map_err(refused)?;
    }
    Ok(())
}

/// Returns the arrays of an archive, or `None` if it has others than those that are supported.
fn of_npz(path: &Path) -> Option<Vec<Stored>> {
    let mut archive = ZipArchive::new(BufReader::new(File::open(path).ok()?)).ok()?;
    let mut arrays = Vec::new();
    for member in 0..archive.len() {
        let member = archive.by_index(member).ok()?;
        let name = member.name().strip_suffix(".npy")?.to_owned();
        let (start, size) = (member.data_start(), member.size());
        if member.compression() != CompressionMethod::Stored {
            return None;
        }
        let mut file = File::open(path).ok()?;
        file.seek(SeekFrom::Start(start)).ok()?;
        let opened = NpyFile::of(path, Box::new(file)).ok()?;
        let (header, descr, fortran_order) = opened.layout();
        let (order, kind) = descr.split_at_checked(1)?;
        let (kind, shape) = (Kind::of(kind)?, opened.shape().to_vec());
        let bytes = shape.iter().try_fold(kind.width(), |product, &length| product.checked_mul(length))?;
        if !["<", ">", "|"].contains(&order) || fortran_order && shape.len() > 1 || header + bytes as u64 != size {
            return None;
        }
        arrays.push(Stored { name, shape, begin: start + header, kind, big: order == ">" });
    }
    Some(arrays)
}

/// Returns the arrays of a safetensors file, or `None` if it has others than those that are supported.
fn of_safetensors(path: &Path) -> Result<Option<Vec<Stored>>> {
    let refused = |error| Error::io("read", path, error);
    let mut file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    let all = file.metadata().map_err(refused)?.len();
    let mut length = [0; 8];
    if all < 8 {
        return Ok(None);
    }
    file.read_exact(&mut length).map_err(refused)?;
    let length = u64::from_le_bytes(length);
    if length > all - 8 {
        return Ok(None);
    }
    let mut header = Vec::new();
    file.take(length).read_to_end(&mut header).map_err(refused)?;
    let Ok((entries, _)) = described(path, &header, all) else { return Ok(None) };
    let stored = entries.into_iter().map(|(name, entry)| {
        let (kind, begin) = (Kind::of(&entry.kind)?, entry.place.start as u64);
        Some(Stored { name, shape: entry.shape, begin, kind, big: false })
    });
    Ok(stored.collect())
}
