//! Writes tables batch by batch.

use super::Kind;
use super::fault::unwritable;
#[cfg(not(feature = "parquet"))]
use crate::error::Error;
use crate::error::Result;
use crate::io::write_whole;
use arrow_array::RecordBatch;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::Schema;
use std::io::Write;
use std::path::Path;

/// Writes the batches of a table, one after the other.
pub struct TableWriter<'a> {
    path: &'a Path,
    sink: Sink<'a>,
}

type Out<'a> = Box<dyn Write + Send + 'a>;

enum Sink<'a> {
    File(Box<FileWriter<Out<'a>>>),
    Stream(Box<StreamWriter<Out<'a>>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet::arrow::ArrowWriter<Out<'a>>>),
}

impl std::fmt::Debug for TableWriter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableWriter").field("path", &self.path).finish_non_exhaustive()
    }
}

impl TableWriter<'_> {
    /// Creates or replaces a file with the batches that `fill` writes. If there is an error, no partial file remains,
    /// and an existing file is unchanged.
    ///
    /// # Errors
    /// Those of `fill`; [`Io`](crate::ErrorKind::Io) if the operating system reports an error;
    /// [`Domain`](crate::ErrorKind::Domain) for Parquet without the feature `parquet`.
    pub fn create(
        path: &Path,
        kind: Kind,
        schema: &Schema,
        fill: impl FnOnce(&mut TableWriter<'_>) -> Result<()>,
    ) -> Result<()> {
        write_whole(path, |out| TableWriter::to(path, kind, out, schema, fill))
    }

    /// Writes the batches that `fill` writes to a stream, whose name in errors is `path`.
    ///
    /// # Errors
    /// The same as for [`TableWriter::create`].
    pub fn to(
        path: &Path,
        kind: Kind,
        out: impl Write + Send,
        schema: &Schema,
        fill: impl FnOnce(&mut TableWriter<'_>) -> Result<()>,
    ) -> Result<()> {
        let out: Out<'_> = Box::new(out);
        let refuse = |error| unwritable(path, error);
        let sink = match kind {
            Kind::File => Sink::File(Box::new(FileWriter::try_new(out, schema).map_err(refuse)?)),
            Kind::Stream => Sink::Stream(Box::new(StreamWriter::try_new(out, schema).map_err(refuse)?)),
            Kind::Parquet => parquet(path, out, schema)?,
        };
        let mut writer = TableWriter { path, sink };
        fill(&mut writer)?;
        writer.finish()
    }

    /// Writes a batch.
    ///
    /// # Errors
    /// [`Io`](crate::ErrorKind::Io) if the operating system reports an error.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let written = match &mut self.sink {
            Sink::File(writer) => writer.write(batch),
            Sink::Stream(writer) => writer.write(batch).and_then(|()| writer.flush()),
            #[cfg(feature = "parquet")]
            Sink::Parquet(writer) => writer.write(batch).map_err(Into::into),
        };
        written.map_err(|error| unwritable(self.path, error))
    }

    fn finish(self) -> Result<()> {
        let path = self.path;
        let finished = match self.sink {
            Sink::File(mut writer) => writer.finish().and_then(|()| writer.flush()),
            Sink::Stream(mut writer) => writer.finish().and_then(|()| writer.flush()),
            #[cfg(feature = "parquet")]
            Sink::Parquet(writer) => writer.close().map(drop).map_err(Into::into),
        };
        finished.map_err(|error| unwritable(path, error))
    }
}

/// Opens a Parquet file. Numbers of eigenvectors hardly repeat: neither dictionaries nor compression make them smaller,
/// and compressing 71 MB with Zstandard took 2.6 s, as long as computing them (2026-11-24). So only columns that are
/// passed through are compressed.
#[cfg(feature = "parquet")]
fn parquet<'a>(path: &Path, out: Out<'a>, schema: &Schema) -> Result<Sink<'a>> {
    use parquet::arrow::ArrowWriter;
    use parquet::basic::Compression;
    use parquet::file::properties::WriterProperties;
    use parquet::schema::types::ColumnPath;
    let schema = std::sync::Arc::new(schema.clone());
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_bytes(Some(ROW_GROUP_BYTES))
        .set_created_by(format!("fiedler version {}", env!("CARGO_PKG_VERSION")));
    for name in ["eigenvalues", "eigenvectors", "random_walk", "residual", "orthogonality"] {
        for path in ["", ".list.element", ".list.element.list.element", ".list.item", ".list.item.list.item"] {
            let column = ColumnPath::from(format!("{name}{path}").split('.').map(str::to_owned).collect::<Vec<_>>());
            properties = properties
                .set_column_compression(column.clone(), Compression::UNCOMPRESSED)
                .set_column_dictionary_enabled(column, false);
        }
    }
    let writer = ArrowWriter::try_new(out, schema, Some(properties.build()));
    let writer = writer.map_err(|error| unwritable(path, error.into()))?;
    Ok(Sink::Parquet(Box::new(writer)))
}

/// The size at which a row group of a Parquet file ends, which the writer keeps in memory.
#[cfg(feature = "parquet")]
const ROW_GROUP_BYTES: usize = 64 << 20;

#[cfg(not(feature = "parquet"))]
fn parquet<'a>(path: &Path, _: Out<'a>, _: &Schema) -> Result<Sink<'a>> {
    let what = format!("{}: writing Parquet takes fiedler with the feature parquet", path.display());
    Err(Error::domain("write", what))
}
