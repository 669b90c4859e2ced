//! Writes NumPy's archive format: a zip file with one .npy file per array. The .npy files are not compressed, so that a
//! reader only has to copy them.

use super::named::{Data, NamedArray, text_width};
use super::npy;
use std::io::{self, Seek, Write};
use zip::result::ZipError;
use zip::write::FileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

pub(super) fn write(out: &mut (impl Write + Seek), arrays: &[NamedArray<'_>]) -> io::Result<()> {
    let write_all = |archive: &mut ZipWriter<_>| {
        arrays.iter().try_for_each(|array| {
            archive.start_file(format!("{}.npy", array.name), options(bytes(array))).map_err(io_error)?;
            npy::write(archive, array)
        })
    };
    write_archive(out, write_all, |error| error)
}

/// Writes an archive whose members `fill` writes.
pub(super) fn write_archive<W: Write + Seek, E>(
    out: W,
    fill: impl FnOnce(&mut ZipWriter<W>) -> Result<(), E>,
    refused: impl Fn(io::Error) -> E,
) -> Result<(), E> {
    let mut archive = ZipWriter::new(out);
    let finish = |archive: &mut ZipWriter<W>| archive.finish().map_err(|error| refused(io_error(error)));
    let written = fill(&mut archive).and_then(|()| finish(&mut archive).map(|_| ()));
    if written.is_err() {
        // If the archive were dropped, it would try to finish the file and print an error to standard error.
        std::mem::forget(archive);
    }
    written
}

/// Returns how an array with the given number of bytes is stored.
pub(super) fn options(bytes: u64) -> FileOptions {
    FileOptions::default()
        .compression_method(CompressionMethod::Stored)
        // The modification time is fixed, so that the same arrays always produce the same file.
        .last_modified_time(DateTime::default())
        // zip64 is required for members of 4 GiB or more. The bound reserves 64 KiB for the .npy header, which is
        // always smaller.
        .large_file(bytes >= (1 << 32) - (1 << 16))
}

/// Returns the bytes of the elements of an array.
pub(super) fn bytes(array: &NamedArray<'_>) -> u64 {
    let size = match array.data {
        Data::F32(_) => 4,
        Data::F64(_) | Data::I64(_) | Data::C64(_) => 8,
        Data::F16(_) => 2,
        Data::C128(_) => 16,
        Data::U8(_) => 1,
        Data::Text(words) => 4 * text_width(words) as u64,
    };
    (array.data.len() as u64).saturating_mul(size)
}

pub(super) fn io_error(error: ZipError) -> io::Error {
    match error {
        ZipError::Io(error) => error,
        other => io::Error::other(other),
    }
}
