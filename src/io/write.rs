//! Named arrays into a file whose ending says the format.

use super::atomic::write_whole;
use super::{csv, npz, safetensors};
use crate::error::{Error, Result};
use std::io::{self, Write};
use std::path::Path;

/// What an array's first axis counts: only then can a table have it in columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rows {
    /// The graphs of the batch.
    Graphs,
    /// The nodes of the batch, graph after graph.
    Nodes,
    /// Something else.
    Other,
}

/// The elements of an array, row-major.
#[derive(Clone, Copy, Debug)]
pub enum Data<'a> {
    /// 32-bit floats.
    F32(&'a [f32]),
    /// 64-bit floats.
    F64(&'a [f64]),
    /// 64-bit signed integers.
    I64(&'a [i64]),
    /// Bytes.
    U8(&'a [u8]),
    /// Words.
    Text(&'a [String]),
}

/// An array and its name in the file.
#[derive(Clone, Debug)]
pub struct NamedArray<'a> {
    /// The name.
    pub name: &'static str,
    /// What its first axis counts.
    pub rows: Rows,
    /// Its length along each axis.
    pub shape: Vec<usize>,
    /// Its elements.
    pub data: Data<'a>,
}

/// Writes arrays into `path`: `.npz` and `.safetensors` hold any; `.csv` is a table with a row a node, in which the
/// values of graphs are repeated for their nodes and a second axis becomes numbered columns. It needs the array
/// `node_offsets`, which says what graph a node is in, and tells the ids from `node_ids`.
///
/// The file appears whole or not at all, and is the same byte for byte for the same arrays.
///
/// # Errors
/// [`Domain`](crate::ErrorKind::Domain) for an unknown ending, for two arrays of one name, and for what a table cannot
/// hold; [`Shape`](crate::ErrorKind::Shape) where elements and shape do not fit; [`Io`](crate::ErrorKind::Io) where the
/// system refuses.
pub fn write(path: &Path, arrays: &[NamedArray<'_>]) -> Result<()> {
    for (index, array) in arrays.iter().enumerate() {
        array.check()?;
        if arrays[..index].iter().any(|other| other.name == array.name) {
            return Err(Error::domain("write", format!("two arrays have the name {:?}", array.name)));
        }
    }
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    let refused = |error| Error::io("write", path, error);
    match ending.as_ref().and_then(|ending| ending.to_str()) {
        Some("npz") => write_whole(path, |out| npz::write(out, arrays).map_err(refused)),
        Some("safetensors") => {
            let header = safetensors::header(arrays)?;
            write_whole(path, |out| safetensors::write(out, &header, arrays).map_err(refused))
        }
        Some("csv") => {
            let table = csv::Table::new(arrays)?;
            write_whole(path, |out| table.write(out).map_err(refused))
        }
        _ => {
            let what = format!("expected a name that ends in .npz, .safetensors or .csv, found {}", path.display());
            Err(Error::domain("write", what))
        }
    }
}

impl NamedArray<'_> {
    fn check(&self) -> Result<()> {
        let product = self.shape.iter().try_fold(1_usize, |product, &length| product.checked_mul(length));
        if product == Some(self.data.len()) {
            return Ok(());
        }
        let expected = format!("{:?} elements of {}", self.shape, self.name);
        Err(Error::shape("write", expected, self.data.len().to_string()))
    }
}

impl Data<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::F32(data) => data.len(),
            Self::F64(data) => data.len(),
            Self::I64(data) => data.len(),
            Self::U8(data) => data.len(),
            Self::Text(data) => data.len(),
        }
    }

    /// Writes numbers in little-endian order, and words as numpy does: in UTF-32, zeros behind, all of one width.
    pub(super) fn write_little_endian(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::F32(data) => write_each(out, data, |number, bytes| bytes.extend(number.to_le_bytes())),
            Self::F64(data) => write_each(out, data, |number, bytes| bytes.extend(number.to_le_bytes())),
            Self::I64(data) => write_each(out, data, |number, bytes| bytes.extend(number.to_le_bytes())),
            Self::U8(data) => out.write_all(data),
            Self::Text(data) => {
                let width = text_width(data);
                write_each(out, data, |text, bytes| {
                    let end = bytes.len() + 4 * width;
                    bytes.extend(text.chars().flat_map(|character| u32::from(character).to_le_bytes()));
                    bytes.resize(end, 0);
                })
            }
        }
    }
}

/// How many characters the longest word has; numpy has no width of 0.
pub(super) fn text_width(words: &[String]) -> usize {
    words.iter().map(|word| word.chars().count()).max().unwrap_or(0).max(1)
}

fn write_each<T>(out: &mut impl Write, data: &[T], append: impl Fn(&T, &mut Vec<u8>)) -> io::Result<()> {
    let mut bytes = Vec::new();
    for some in data.chunks(8192) {
        bytes.clear();
        some.iter().for_each(|element| append(element, &mut bytes));
        out.write_all(&bytes)?;
    }
    Ok(())
}
