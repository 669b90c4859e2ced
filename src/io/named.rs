//! Arrays with names, in the form in which files store them.

use crate::error::{Error, Result};
use half::f16;
use num_complex::Complex;
use std::io::{self, Write};

/// What the first axis of an array counts. Only an array with a row per graph or per node can be a column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rows {
    /// The first axis counts the graphs of the batch.
    Graphs,
    /// The first axis counts the nodes of the batch, graph after graph.
    Nodes,
    /// The first axis counts something else.
    Other,
}

/// The elements of an array in row-major order.
#[derive(Clone, Copy, Debug)]
pub enum Data<'a> {
    /// 32-bit floats.
    F32(&'a [f32]),
    /// 64-bit floats.
    F64(&'a [f64]),
    /// 16-bit floats.
    F16(&'a [f16]),
    /// Complex numbers with 32-bit float components.
    C64(&'a [Complex<f32>]),
    /// Complex numbers with 64-bit float components.
    C128(&'a [Complex<f64>]),
    /// 64-bit signed integers.
    I64(&'a [i64]),
    /// Bytes.
    U8(&'a [u8]),
    /// Text.
    Text(&'a [String]),
}

/// An array and the name under which a file stores it.
#[derive(Clone, Debug)]
pub struct NamedArray<'a> {
    /// The name of the array.
    pub name: &'a str,
    /// What the first axis of the array counts.
    pub rows: Rows,
    /// The length of the array along each axis.
    pub shape: Vec<usize>,
    /// The elements of the array.
    pub data: Data<'a>,
}

impl NamedArray<'_> {
    /// Returns an error if the product of the lengths in the shape differs from the number of elements.
    pub(super) fn check(&self) -> Result<()> {
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
            Self::F16(data) => data.len(),
            Self::C64(data) => data.len(),
            Self::C128(data) => data.len(),
            Self::I64(data) => data.len(),
            Self::U8(data) => data.len(),
            Self::Text(data) => data.len(),
        }
    }

    /// Writes numbers in little-endian order. Text is written as NumPy writes it: in UTF-32, with every string
    /// zero-padded to the same width.
    pub(super) fn write_little_endian(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::F32(data) => write_floats(data, out),
            Self::F64(data) => write_each(out, data, |number, bytes| bytes.extend(number.to_le_bytes())),
            Self::F16(data) => write_each(out, data, |number, bytes| bytes.extend(number.to_le_bytes())),
            Self::C64(data) => write_each(out, data, |number, bytes| {
                bytes.extend([number.re, number.im].iter().flat_map(|part| part.to_le_bytes()));
            }),
            Self::C128(data) => write_each(out, data, |number, bytes| {
                bytes.extend([number.re, number.im].iter().flat_map(|part| part.to_le_bytes()));
            }),
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

/// Returns the number of characters in the longest string, but at least 1, because NumPy has no strings of width 0.
pub(super) fn text_width(words: &[String]) -> usize {
    words.iter().map(|word| word.chars().count()).max().unwrap_or(0).max(1)
}

/// Writes floats in little-endian order.
pub(super) fn write_floats(numbers: &[f32], out: &mut dyn Write) -> io::Result<()> {
    if cfg!(target_endian = "little") {
        return out.write_all(bytemuck::cast_slice(numbers));
    }
    numbers.iter().try_for_each(|number| out.write_all(&number.to_le_bytes()))
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
