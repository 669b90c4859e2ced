//! Reads files of named arrays: .npz, .safetensors, and .npy as one array.

use super::npy::{Header, Npy, NpyData, NpyFile};
use super::safetensors::describe;
use crate::error::{Error, Result};
use half::{bf16, f16};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Cursor, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// An array that was read from a file, and its name there.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredArray {
    /// The name; for a .npy file, the name of the file without its ending.
    pub name: String,
    /// The length of each axis.
    pub shape: Vec<usize>,
    /// The elements in row-major order. Integers and booleans are 64-bit floats.
    pub data: NpyData,
}

/// Reads all arrays of an .npz, .safetensors or .npy file.
///
/// # Errors
/// [`Parse`](crate::ErrorKind::Parse) if the file has another format, or an array has a type or a number of axes that
/// is not supported; [`Io`](crate::ErrorKind::Io) if the operating system reports an error.
pub fn read_arrays(path: &Path) -> Result<Vec<StoredArray>> {
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    match ending.as_ref().and_then(|ending| ending.to_str()) {
        Some("npz") => read_npz(path),
        Some("safetensors") => {
            let tensors = Tensors::open(path)?;
            tensors.names().map(|name| tensors.array(name)).collect()
        }
        _ => {
            let Npy { shape, data } = NpyFile::open(path)?.read()?;
            let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            Ok(vec![StoredArray { name, shape, data }])
        }
    }
}

/// Returns the name, the type and the shape of each array of an .npz or .safetensors file, without its elements. The
/// type is in the words of the format, such as `<f4` and `F32`.
///
/// # Errors
/// The same as for [`read_arrays`].
pub fn read_shapes(path: &Path) -> Result<Vec<(String, String, Vec<usize>)>> {
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("safetensors")) {
        let entries = Tensors::open(path)?.entries.into_iter();
        return Ok(entries.map(|(name, Entry { kind, shape, .. })| (name, kind, shape)).collect());
    }
    let mut shapes = Vec::new();
    each_of_npz(path, |name, full, member| {
        let (Header { descr, shape, .. }, _) = Header::read(full, member)?;
        shapes.push((name, descr, shape));
        Ok(())
    })?;
    Ok(shapes)
}

fn read_npz(path: &Path) -> Result<Vec<StoredArray>> {
    let mut arrays = Vec::new();
    each_of_npz(path, |name, full, member| {
        // Memory grows with the bytes that are read, because the size that the archive states may be wrong.
        let mut bytes = Vec::new();
        member.read_to_end(&mut bytes).map_err(|error| Error::io("read", path, error))?;
        let Npy { shape, data } = NpyFile::of(full, Box::new(Cursor::new(bytes)))?.read()?;
        arrays.push(StoredArray { name, shape, data });
        Ok(())
    })?;
    Ok(arrays)
}

/// Calls `each` with the name, the path that errors name, and the content of every array of an .npz archive.
fn each_of_npz(path: &Path, mut each: impl FnMut(String, &Path, &mut dyn Read) -> Result<()>) -> Result<()> {
    let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    let wrong = |error: zip::result::ZipError| match error {
        zip::result::ZipError::Io(error) => Error::io("read", path, error),
        other => Error::parse(path, None, "an .npz archive", other.to_string()),
    };
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(wrong)?;
    for member in 0..archive.len() {
        let mut member = archive.by_index(member).map_err(wrong)?;
        let full = member.name().to_owned();
        let Some(name) = full.strip_suffix(".npy") else {
            return Err(Error::parse(path, None, "an archive of .npy files", format!("the member {full}")));
        };
        each(name.to_owned(), &path.join(&full), &mut member)?;
    }
    Ok(())
}

/// A safetensors file: <https://huggingface.co/docs/safetensors/index#format>.
#[derive(Debug)]
pub struct Tensors {
    path: PathBuf,
    bytes: Vec<u8>,
    entries: BTreeMap<String, Entry>,
    metadata: BTreeMap<String, String>,
}

/// A tensor: the name of its type, its shape, and its bytes in the file.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) kind: String,
    pub(super) shape: Vec<usize>,
    pub(super) place: Range<usize>,
}

impl Tensors {
    /// Reads a safetensors file.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if the file is not a safetensors file, or is cut off;
    /// [`Io`](crate::ErrorKind::Io) if the operating system reports an error.
    pub fn open(path: &Path) -> Result<Self> {
        let wrong = |expected: &str, found: String| Error::parse(path, None, expected, found);
        let bytes = std::fs::read(path).map_err(|error| Error::io("read", path, error))?;
        let length = bytes.first_chunk().map(|first| u64::from_le_bytes(*first));
        let header = length.and_then(|length| bytes[8..].get(..usize::try_from(length).ok()?));
        let Some(header) = header else {
            let found = format!("a file of {} bytes", bytes.len());
            return Err(wrong("a safetensors file, whose first 8 bytes are the length of a header", found));
        };
        let (entries, metadata) = described(path, header, bytes.len() as u64)?;
        Ok(Self { path: path.to_owned(), bytes, entries, metadata })
    }

    /// Returns the names of all tensors, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Returns a text of the metadata.
    #[must_use]
    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.metadata.get(key).map(String::as_str)
    }

    /// Returns a hash of everything in the file but the text `except`, where the hash itself is stored.
    pub(crate) fn checksum(&self, except: &str) -> String {
        let mut hash = blake3::Hasher::new();
        for (name, Entry { kind, shape, place }) in &self.entries {
            describe(&mut hash, name, kind, shape);
            hash.update(&self.bytes[place.clone()]);
        }
        for (name, text) in self.metadata.iter().filter(|(name, _)| *name != except) {
            describe(&mut hash, name, text, &[]);
        }
        hash.finalize().to_hex().to_string()
    }

    /// Returns a tensor with its elements as floats.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if there is no such tensor, or its type is not supported.
    pub fn array(&self, name: &str) -> Result<StoredArray> {
        let wrong = |expected: &str, found: String| Error::parse(&self.path, None, expected, found);
        let Some(Entry { kind, shape, place }) = self.entries.get(name) else {
            return Err(wrong(&format!("a tensor {name}"), "none".to_owned()));
        };
        let bytes = &self.bytes[place.clone()];
        let data = match kind.as_str() {
            "F32" => NpyData::F32(each(bytes, f32::from_le_bytes)),
            "F64" => NpyData::F64(each(bytes, f64::from_le_bytes)),
            "F16" => NpyData::F16(each(bytes, f16::from_le_bytes)),
            "BF16" => NpyData::F32(each(bytes, |bytes| bf16::from_le_bytes(bytes).to_f32())),
            "U8" | "BOOL" => NpyData::F64(each(bytes, |[byte]: [u8; 1]| byte.into())),
            "I8" => NpyData::F64(each(bytes, |bytes| i8::from_le_bytes(bytes).into())),
            "I16" => NpyData::F64(each(bytes, |bytes| i16::from_le_bytes(bytes).into())),
            "U16" => NpyData::F64(each(bytes, |bytes| u16::from_le_bytes(bytes).into())),
            "I32" => NpyData::F64(each(bytes, |bytes| i32::from_le_bytes(bytes).into())),
            "U32" => NpyData::F64(each(bytes, |bytes| u32::from_le_bytes(bytes).into())),
            #[expect(clippy::cast_precision_loss, reason = "checked below")]
            "I64" => {
                let whole = each(bytes, i64::from_le_bytes);
                if let Some(large) = whole.iter().find(|x| x.unsigned_abs() > 1 << 53) {
                    return Err(wrong("integers that float64 holds exactly", format!("{large} in {name}")));
                }
                NpyData::F64(whole.into_iter().map(|x| x as f64).collect())
            }
            _ => return Err(wrong("a tensor of floats or integers", format!("{name} of type {kind}"))),
        };
        Ok(StoredArray { name: name.to_owned(), shape: shape.clone(), data })
    }
}

/// The tensors and the metadata of a safetensors file.
type Described = (BTreeMap<String, Entry>, BTreeMap<String, String>);

/// Returns the tensors and the metadata that the header of a safetensors file of `len_of_file` bytes describes.
///
/// # Errors
/// [`Parse`](crate::ErrorKind::Parse) if the header does not agree with the file.
pub(super) fn described(path: &Path, header: &[u8], len_of_file: u64) -> Result<Described> {
    let wrong = |expected: &str, found: String| Error::parse(path, None, expected, found);
    let Ok(Value::Object(fields)) = serde_json::from_slice(header) else {
        return Err(wrong("a safetensors file with a JSON header", "another beginning".to_owned()));
    };
    let begin = 8 + header.len();
    let (mut entries, mut metadata) = (BTreeMap::new(), BTreeMap::new());
    for (name, field) in fields {
        if name == "__metadata__" {
            let texts = field.as_object().into_iter().flatten();
            metadata = texts.filter_map(|(key, text)| Some((key.clone(), text.as_str()?.to_owned()))).collect();
            continue;
        }
        let numbers = |key: &str| -> Option<Vec<usize>> {
            field[key].as_array()?.iter().map(|x| usize::try_from(x.as_u64()?).ok()).collect()
        };
        let entry = || {
            let (shape, offsets) = (numbers("shape")?, numbers("data_offsets")?);
            let [first, end] = offsets[..] else { return None };
            let place = begin.checked_add(first)?..begin.checked_add(end)?;
            let kind = field["dtype"].as_str()?.to_owned();
            let len = shape.iter().try_fold(width(&kind)?, |len: usize, &axis| len.checked_mul(axis))?;
            (place.start <= place.end && place.len() == len && place.end as u64 <= len_of_file).then_some(Entry {
                kind,
                shape,
                place,
            })
        };
        let Some(entry) = entry() else {
            return Err(wrong(
                "a tensor whose type, shape and offsets agree with the file",
                format!("{name}: {field}"),
            ));
        };
        entries.insert(name, entry);
    }
    Ok((entries, metadata))
}

/// Returns the number of bytes of an element.
fn width(kind: &str) -> Option<usize> {
    Some(match kind {
        "U8" | "I8" | "BOOL" | "F8_E4M3" | "F8_E5M2" => 1,
        "F16" | "BF16" | "I16" | "U16" => 2,
        "F32" | "I32" | "U32" => 4,
        "F64" | "I64" | "U64" | "C64" => 8,
        _ => return None,
    })
}

fn each<T, const N: usize>(bytes: &[u8], element: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|&bytes| element(bytes)).collect()
}
