//! Writes files whose content is made while it is written, so that it may be larger than the memory.

use super::atomic::{create_folder, write_whole};
use super::named::write_floats;
use super::{npy, npz, safetensors};
use crate::error::{Error, Result};
use crate::parallel;
use serde_json::Map;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use zip::ZipWriter;

/// The bytes that are made at a time, while the last ones are written.
const BLOCK: usize = 16 << 20;

/// An array with one row for each index of its first axis.
pub(crate) struct StreamedArray<'a> {
    pub(crate) name: &'a str,
    pub(crate) shape: Vec<usize>,
    pub(crate) data: StreamedData<'a>,
}

/// A function that makes consecutive rows, from the given one on.
pub(crate) type Make<'a> = &'a (dyn Fn(usize, &mut [f32]) -> Result<()> + Sync);

pub(crate) enum StreamedData<'a> {
    I64(&'a [i64]),
    F32(Make<'a>),
}

impl StreamedArray<'_> {
    fn kind(&self) -> (&'static str, &'static str, usize) {
        match self.data {
            StreamedData::I64(_) => ("<i8", "I64", 8),
            StreamedData::F32(_) => ("<f4", "F32", 4),
        }
    }

    fn bytes(&self) -> u64 {
        self.shape.iter().fold(self.kind().2 as u64, |product, &axis| product.saturating_mul(axis as u64))
    }

    fn write(&self, path: &Path, out: &mut (impl Write + Send)) -> Result<()> {
        let refused = |error| Error::io("write", path, error);
        match self.data {
            StreamedData::I64(numbers) => {
                let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
                out.write_all(&bytes).map_err(refused)
            }
            StreamedData::F32(make) => {
                let (rows, columns) = (self.shape[0], self.shape[1..].iter().product::<usize>());
                let block = (BLOCK / 4 / columns.max(1)).clamp(1, rows.max(1));
                let (mut ready, mut next) = (Vec::new(), vec![0.0_f32; block * columns]);
                for first in (0..rows).step_by(block) {
                    next.truncate((rows - first).min(block) * columns);
                    let (written, made) =
                        parallel::both(|| write_floats(&ready, out).map_err(refused), || make(first, &mut next));
                    written.and(made)?;
                    std::mem::swap(&mut ready, &mut next);
                    next.resize(ready.len(), 0.0);
                }
                write_floats(&ready, out).map_err(refused)
            }
        }
    }
}

/// Writes arrays to `.npz` or `.safetensors`, of the bytes that [`write`](super::write()) would write. In a safetensors
/// file, arrays of 64-bit numbers have to come first. The file appears as a whole or not at all.
pub(crate) fn write_streamed(path: &Path, arrays: &[StreamedArray<'_>]) -> Result<()> {
    let refused = |error| Error::io("write", path, error);
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npz")) {
        return write_whole(path, |out| {
            let write_all = |archive: &mut ZipWriter<_>| {
                arrays.iter().try_for_each(|array| {
                    let name = format!("{}.npy", array.name);
                    archive.start_file(name, npz::options(array.bytes())).map_err(|e| refused(npz::io_error(e)))?;
                    npy::write_header(archive, array.kind().0, &array.shape).map_err(refused)?;
                    array.write(path, archive)
                })
            };
            npz::write_archive(out, write_all, refused)
        });
    }
    let described = arrays.iter().map(|array| (array.name, array.kind().1, array.kind().2, &array.shape[..]));
    let header = safetensors::header_of(described, Map::new())?;
    write_whole(path, |out| {
        out.write_all(&header).map_err(refused)?;
        arrays.iter().try_for_each(|array| array.write(path, out))
    })
}

/// Writes a file of the blocks that `next` appends to an empty vector, until it appends none. The file appears as a
/// whole or not at all.
pub(crate) fn write_blocks(path: &Path, mut next: impl FnMut(&mut Vec<u8>) -> Result<()>) -> Result<()> {
    write_whole(path, |out| {
        let mut block = Vec::new();
        loop {
            block.clear();
            next(&mut block)?;
            if block.is_empty() {
                return Ok(());
            }
            out.write_all(&block).map_err(|error| Error::io("write", path, error))?;
        }
    })
}

/// A folder of safetensors files, each of which is a sample of the same arrays, in folders of classes.
pub(crate) struct SampleFolder<'a> {
    /// The arrays of a sample: their names and shapes.
    pub(crate) arrays: &'a [(&'a str, Vec<usize>)],
    pub(crate) samples: usize,
    /// Returns the folder of a sample.
    pub(crate) class: &'a (dyn Fn(usize) -> String + Sync),
    /// Makes the numbers of a sample, array by array.
    pub(crate) make: Make<'a>,
}

impl SampleFolder<'_> {
    /// Creates the folder, which must not exist yet. It appears as a whole or not at all.
    pub(crate) fn create(&self, path: &Path) -> Result<()> {
        /// The samples that a thread makes at a time.
        const RUN: usize = 16;
        let refused = |error| Error::io("write", path, error);
        let described = self.arrays.iter().map(|(name, shape)| (*name, "F32", 4, &shape[..]));
        let header = safetensors::header_of(described, Map::new())?;
        let numbers = self.arrays.iter().map(|(_, shape)| shape.iter().product::<usize>()).sum();
        let digits = self.samples.saturating_sub(1).to_string().len();
        create_folder(path, |folder| {
            let failed = Mutex::new(None);
            let sample = |sample: usize, out: &mut Vec<f32>| -> Result<()> {
                out.resize(numbers, 0.0);
                (self.make)(sample, out)?;
                let folder = folder.join((self.class)(sample));
                std::fs::create_dir_all(&folder).map_err(refused)?;
                // Not synced: after a power failure the folder can be made again from its seed, and syncing thousands
                // of files takes longer than making them.
                let file = File::create_new(folder.join(format!("sample-{sample:0digits$}.safetensors")));
                let mut file = file.map_err(refused)?;
                file.write_all(&header).and_then(|()| write_floats(out, &mut file)).map_err(refused)
            };
            let lock = || failed.lock().unwrap_or_else(PoisonError::into_inner);
            parallel::for_each_with((0..self.samples).step_by(RUN), Vec::new, |out, _, first| {
                for one in first..(first + RUN).min(self.samples) {
                    if lock().is_some() {
                        return;
                    }
                    if let Err(error) = sample(one, out) {
                        *lock() = Some(error);
                    }
                }
            });
            let failed = lock().take();
            failed.map_or(Ok(()), Err)
        })
    }
}
