//! Reads tables batch by batch.

use super::Kind;
use super::fault::unreadable;
use super::guard::guarded;
use crate::error::{Error, Result};
use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, SchemaRef};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A part of a table: every `of`-th of its pieces, from piece `number - 1` on. The pieces are the row groups of a
/// Parquet file, and the batches of the other formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    of: usize,
}

impl Shard {
    /// The whole table.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// Returns part `number` of `of`, which counts from 1.
    #[must_use]
    pub fn new(number: usize, of: usize) -> Option<Self> {
        (number >= 1 && number <= of).then_some(Self { number, of })
    }

    fn has(self, piece: usize) -> bool {
        piece % self.of == self.number - 1
    }
}

/// Reads a table batch by batch.
pub struct TableReader {
    path: PathBuf,
    kind: Kind,
    schema: SchemaRef,
    batches: Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send>,
    shard: Shard,
    read: usize,
    failed: bool,
    /// The last eight bytes that were read of a stream.
    last: Option<Arc<AtomicU64>>,
}

/// The mark at the end of a stream: a continuation, and a length of 0. Some writers end without it.
const END: u64 = 0xffff_ffff_0000_0000;

/// A stream whose last bytes are known.
struct Watched<R> {
    stream: R,
    last: Arc<AtomicU64>,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = self.stream.read(into)?;
        let recent = into[..count].iter().skip(count.saturating_sub(8));
        let last = recent.fold(self.last.load(Ordering::Relaxed), |last, &byte| last << 8 | u64::from(byte));
        self.last.store(last, Ordering::Relaxed);
        Ok(count)
    }
}

impl std::fmt::Debug for TableReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableReader").field("path", &self.path).field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl TableReader {
    /// Opens a file. `budget` is the memory, in bytes, that a batch of a Parquet file may take about a sixteenth of.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if the file is none of the formats of [`Kind`], or is damaged;
    /// [`Io`](crate::ErrorKind::Io) if the operating system reports an error.
    pub fn open(path: &Path, shard: Shard, budget: u64) -> Result<Self> {
        let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
        match Kind::of_file(path) {
            Some(Kind::Stream) => Self::stream(path, file, shard),
            Some(Kind::File) => {
                let reader = guarded(|| FileReader::try_new_buffered(file, None));
                let reader = reader.map_err(|error| unreadable(path, "an Arrow IPC file".to_owned(), &error))?;
                Ok(Self::new(path, Kind::File, reader.schema(), Box::new(reader), shard))
            }
            Some(Kind::Parquet) => parquet(path, file, shard, budget),
            // A pipe has a name, too.
            None if !path.is_file() => Self::stream(path, file, shard),
            None => {
                let expected = "an Arrow IPC file or stream, or a Parquet file".to_owned();
                Err(unreadable(path, expected, &"other first bytes"))
            }
        }
    }

    /// Reads a stream in Arrow's IPC stream format. `name` is its name in errors.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if it does not begin with a schema.
    pub fn stream(name: &Path, stream: impl Read + Send + 'static, shard: Shard) -> Result<Self> {
        let last = Arc::new(AtomicU64::new(0));
        let stream = Watched { stream: BufReader::with_capacity(1 << 18, stream), last: Arc::clone(&last) };
        let reader = guarded(|| StreamReader::try_new(stream, None));
        let reader =
            reader.map_err(|error| unreadable(name, "an Arrow IPC stream with a schema".to_owned(), &error))?;
        let read = Self::new(name, Kind::Stream, reader.schema(), Box::new(reader), shard);
        Ok(Self { last: Some(last), ..read })
    }

    fn new(
        path: &Path,
        kind: Kind,
        schema: SchemaRef,
        batches: Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send>,
        shard: Shard,
    ) -> Self {
        Self { path: path.to_owned(), kind, schema, batches, shard, read: 0, failed: false, last: None }
    }

    /// Returns the format.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the schema of the table.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

impl Iterator for TableReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        loop {
            let batches = &mut self.batches;
            let Some(next) = guarded(|| batches.next().transpose()).transpose() else {
                if self.last.take().is_some_and(|last| last.load(Ordering::Relaxed) != END) {
                    let (path, read) = (self.path.display(), self.read);
                    log::warn!("{path}: no mark of the end of the stream after batch {read}; perhaps it was cut off");
                }
                return None;
            };
            self.read += 1;
            match next {
                Ok(batch) if self.shard.has(self.read - 1) => return Some(Ok(batch)),
                Ok(_) => {}
                Err(error) => {
                    self.failed = true;
                    let expected = format!("batch {} of the {}", self.read, self.kind.name());
                    return Some(Err(unreadable(&self.path, expected, &error)));
                }
            }
        }
    }
}

#[cfg(feature = "parquet")]
fn parquet(path: &Path, file: File, shard: Shard, budget: u64) -> Result<TableReader> {
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    let refuse = |error: ArrowError| unreadable(path, "a Parquet file".to_owned(), &error);
    let builder = guarded(|| Ok(ParquetRecordBatchReaderBuilder::try_new(file)?)).map_err(refuse)?;
    let groups = builder.metadata().row_groups();
    let bytes = groups.iter().map(|group| u64::try_from(group.total_byte_size()).unwrap_or(0)).sum::<u64>();
    let rows = groups.iter().map(|group| u64::try_from(group.num_rows()).unwrap_or(0)).sum::<u64>();
    let each = (bytes / rows.max(1)).max(1);
    let size = usize::try_from((budget / 16 / each).clamp(1, MOST_ROWS)).unwrap_or(1);
    let own = (0..groups.len()).filter(|&group| shard.has(group)).collect();
    let schema = builder.schema().clone();
    let reader = guarded(|| Ok(builder.with_row_groups(own).with_batch_size(size).build()?)).map_err(refuse)?;
    // The batches lack the metadata that the schema has.
    let whole = schema.clone();
    let batches = reader.map(move |batch| batch?.with_schema(whole.clone()));
    Ok(TableReader::new(path, Kind::Parquet, schema, Box::new(batches), Shard::WHOLE))
}

/// The most rows of a batch of a Parquet file.
#[cfg(feature = "parquet")]
const MOST_ROWS: u64 = 1 << 15;

#[cfg(not(feature = "parquet"))]
fn parquet(path: &Path, _: File, _: Shard, _: u64) -> Result<TableReader> {
    let expected = "an Arrow IPC file or stream, because fiedler was built without the feature parquet".to_owned();
    Err(unreadable(path, expected, &"a Parquet file"))
}
