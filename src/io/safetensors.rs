//! Writes safetensors files: the length of a JSON header, the header, and then the elements.
//! <https://huggingface.co/docs/safetensors/index#format>
//!
//! This module does not use the `safetensors` crate, for two reasons: arrays are streamed into the file that is being
//! written, and the metadata entries have a fixed order. The tests read the files with that crate.

use super::named::{Data, NamedArray};
use crate::error::{Error, ErrorKind, Result};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// The maximum length of a header in bytes. The format defines this limit, and its readers enforce it.
const LONGEST_HEADER: usize = 100_000_000;

/// Returns the header, preceded by its length. The format has no tensors of text, so each text array is stored in the
/// metadata as a JSON list.
pub(super) fn header(arrays: &[NamedArray<'_>]) -> Result<Vec<u8>> {
    let mut metadata = Map::new();
    for array in arrays {
        if let Data::C128(_) = array.data {
            let what = format!("{}: safetensors has no complex128; write .npz", array.name);
            return Err(Error::domain("write", what));
        }
        if let Some((name, text)) = text(array) {
            metadata.insert(name.into(), text.into());
        }
    }
    let described = tensors(arrays).into_iter().map(|(array, kind, size)| (array.name, kind, size, &array.shape[..]));
    header_of(described, metadata)
}

/// Returns the header of tensors, preceded by its length. A tensor has a name, a type, the bytes of an element and a
/// shape.
pub(super) fn header_of<'a>(
    tensors: impl IntoIterator<Item = (&'a str, &'static str, usize, &'a [usize])>,
    metadata: Map<String, Value>,
) -> Result<Vec<u8>> {
    let (mut entries, mut end) = (Map::new(), 0);
    for (name, kind, size, shape) in tensors {
        let begin = end;
        end += shape.iter().product::<usize>() * size;
        let entry = json!({ "dtype": kind, "shape": shape, "data_offsets": [begin, end] });
        entries.insert(name.into(), entry);
    }
    if !metadata.is_empty() {
        entries.insert("__metadata__".into(), metadata.into());
    }
    let mut text = Value::from(entries).to_string().into_bytes();
    // The header is padded with spaces so that the elements begin at a multiple of 8 bytes.
    text.resize(text.len().next_multiple_of(8), b' ');
    if text.len() > LONGEST_HEADER {
        let what = "bytes of a safetensors header, which holds the node ids".to_owned();
        return Err(ErrorKind::Limit { what, needed: text.len() as u64, allowed: LONGEST_HEADER as u64 }.into());
    }
    let mut header = (text.len() as u64).to_le_bytes().to_vec();
    header.append(&mut text);
    Ok(header)
}

pub(super) fn write(out: &mut impl Write, header: &[u8], arrays: &[NamedArray<'_>]) -> io::Result<()> {
    out.write_all(header)?;
    tensors(arrays).into_iter().try_for_each(|(array, ..)| array.data.write_little_endian(out))
}

/// Returns a hash of arrays as a safetensors file stores them, which [`Tensors::checksum`](super::Tensors::checksum)
/// computes from the file.
pub(crate) fn checksum(arrays: &[NamedArray<'_>]) -> String {
    let mut hash = blake3::Hasher::new();
    let mut numbers = tensors(arrays);
    numbers.sort_by_key(|(array, ..)| array.name);
    for (array, kind, _) in numbers {
        describe(&mut hash, array.name, kind, &array.shape);
        // A hasher accepts all bytes.
        let _ = array.data.write_little_endian(&mut hash);
    }
    let mut texts: Vec<(&str, String)> = arrays.iter().filter_map(text).collect();
    texts.sort_unstable();
    texts.iter().for_each(|(name, text)| describe(&mut hash, name, text, &[]));
    hash.finalize().to_hex().to_string()
}

/// Adds what a header says of an array to a hash. Lengths keep two texts apart.
pub(super) fn describe(hash: &mut blake3::Hasher, name: &str, kind: &str, shape: &[usize]) {
    for text in [name, kind] {
        hash.update(&(text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    hash.update(&(shape.len() as u64).to_le_bytes());
    shape.iter().for_each(|axis| {
        hash.update(&(*axis as u64).to_le_bytes());
    });
}

/// Returns the metadata of a text array.
fn text<'a>(array: &NamedArray<'a>) -> Option<(&'a str, String)> {
    match array.data {
        Data::Text(words) => Some((array.name, json!(words).to_string())),
        _ => None,
    }
}

/// Returns the numeric arrays with their type names and element sizes. The arrays with the widest elements come first,
/// so that every array is aligned.
fn tensors<'a, 'b>(arrays: &'a [NamedArray<'b>]) -> Vec<(&'a NamedArray<'b>, &'static str, usize)> {
    let typed = |array: &'a NamedArray<'b>| match array.data {
        Data::F32(_) => Some((array, "F32", 4)),
        Data::F64(_) => Some((array, "F64", 8)),
        Data::F16(_) => Some((array, "F16", 2)),
        Data::C64(_) => Some((array, "C64", 8)),
        // The format has no complex numbers of this width; `header` refuses them.
        Data::C128(_) => None,
        Data::I64(_) => Some((array, "I64", 8)),
        Data::U8(_) => Some((array, "U8", 1)),
        Data::Text(_) => None,
    };
    let mut tensors: Vec<_> = arrays.iter().filter_map(typed).collect();
    tensors.sort_by_key(|&(_, _, size)| std::cmp::Reverse(size));
    tensors
}
