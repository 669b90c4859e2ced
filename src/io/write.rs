//! Writes named arrays into a file whose extension determines the format.

use super::atomic::{create_folder, write_whole};
use super::named::NamedArray;
use super::{csv, npy, npz, safetensors};
use crate::error::{Error, Result};
use std::io::{self, Cursor, Seek, Write};
use std::path::Path;

/// Writes text to `path`. The file is either written completely or not at all.
///
/// # Errors
/// [`Io`](crate::ErrorKind::Io) if the operating system reports an error.
pub fn write_text(path: &Path, text: &str) -> Result<()> {
    write_whole(path, |out| out.write_all(text.as_bytes()).map_err(|error| Error::io("write", path, error)))
}

/// Creates a folder with text files, which are given by their names and contents. The folder must not exist yet. It
/// appears as a whole or not at all.
///
/// # Errors
/// [`Io`](crate::ErrorKind::Io) if the folder exists, or the operating system reports an error.
pub fn write_texts(folder: &Path, files: &[(&str, &str)]) -> Result<()> {
    create_folder(folder, |folder| files.iter().try_for_each(|(name, text)| write_text(&folder.join(name), text)))
}

/// Writes arrays to `path`. `.npz` and `.safetensors` files can store any arrays; a `.npy` file stores one array,
/// without its name. A `.csv` file is a table with one row per node: the values of a graph are repeated for each of its
/// nodes, a second axis becomes numbered columns, and the parts of complex numbers two columns. A table needs the array
/// `node_offsets`, which says which graph a node belongs to, and takes the ids of the nodes from the array `node_ids`.
///
/// The file is either written completely or not at all. The same arrays always produce the same bytes.
///
/// # Errors
/// [`Domain`](crate::ErrorKind::Domain) for an unknown extension, for two arrays with the same name, for a `.npy` file
/// with no array or several arrays, and for arrays that a table cannot store; [`Shape`](crate::ErrorKind::Shape) if the
/// shape of an array does not fit the number of its elements; [`Io`](crate::ErrorKind::Io) if the operating system
/// reports an error.
pub fn write(path: &Path, arrays: &[NamedArray<'_>]) -> Result<()> {
    let content = Content::of(path, arrays)?;
    write_whole(path, |out| content.write(out).map_err(|error| Error::io("write", path, error)))
}

/// Returns the bytes of the file that [`write`](fn@write) would write under the name `name`, where there are no files,
/// such as in a browser.
///
/// # Errors
/// The same as for [`write`](fn@write).
pub fn to_bytes(name: impl AsRef<Path>, arrays: &[NamedArray<'_>]) -> Result<Vec<u8>> {
    let mut out = Cursor::new(Vec::new());
    let content = Content::of(name.as_ref(), arrays)?;
    content.write(&mut out).map_err(|error| Error::io("write", name.as_ref(), error))?;
    Ok(out.into_inner())
}

/// Arrays that were checked to be fit for a format.
enum Content<'a> {
    Npz(&'a [NamedArray<'a>]),
    Npy(&'a NamedArray<'a>),
    /// The header, and the arrays.
    Safetensors(Vec<u8>, &'a [NamedArray<'a>]),
    Csv(csv::Table<'a>),
}

impl<'a> Content<'a> {
    fn of(path: &Path, arrays: &'a [NamedArray<'a>]) -> Result<Self> {
        for (index, array) in arrays.iter().enumerate() {
            array.check()?;
            if arrays[..index].iter().any(|other| other.name == array.name) {
                return Err(Error::domain("write", format!("two arrays have the name {:?}", array.name)));
            }
        }
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some("npz") => Ok(Self::Npz(arrays)),
            Some("npy") => match arrays {
                [array] => Ok(Self::Npy(array)),
                _ => {
                    let names: Vec<&str> = arrays.iter().map(|array| array.name).collect();
                    let (shown, found) = (path.display(), names.join(", "));
                    let what =
                        format!("expected one array for {shown}, found {} ({found}); .npz holds them all", names.len());
                    Err(Error::domain("write", what))
                }
            },
            Some("safetensors") => Ok(Self::Safetensors(safetensors::header(arrays)?, arrays)),
            Some("csv") => Ok(Self::Csv(csv::Table::new(arrays)?)),
            _ => {
                let what =
                    format!("expected a name that ends in .npz, .safetensors, .npy or .csv, found {}", path.display());
                Err(Error::domain("write", what))
            }
        }
    }

    fn write(&self, out: &mut (impl Write + Seek)) -> io::Result<()> {
        match self {
            Self::Npz(arrays) => npz::write(out, arrays),
            Self::Npy(array) => npy::write(out, array),
            Self::Safetensors(header, arrays) => safetensors::write(out, header, arrays),
            Self::Csv(table) => table.write(out),
        }
    }
}
