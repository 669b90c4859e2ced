//! Files of tables: what was written is read again, in parts too, and what is damaged is refused.

use super::{Edges, GRAPHS, added, encoded, table};
use arrow_array::RecordBatch;
use common::random::SplitMix64;
use fiedler::arrow::{Kind, Shard, TableReader, TableWriter, batches_of};
use fiedler::graph::molecules;
use fiedler::{Error, ErrorKind, Result};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use tempfile::TempDir;

const BUDGET: u64 = 64 << 20;
const KINDS: [(Kind, &str); 3] = [(Kind::File, "t.arrow"), (Kind::Stream, "t.arrows"), (Kind::Parquet, "t.parquet")];

/// Seven batches of encoded molecules.
fn batches() -> Vec<RecordBatch> {
    let graphs = molecules(70, 8).unwrap();
    let table = batches_of(&graphs, None).next().unwrap().unwrap();
    (0..7).map(|part| encoded(&table.slice(10 * part, 10)).unwrap()).collect()
}

fn write(path: &Path, kind: Kind, batches: &[RecordBatch]) -> Result<()> {
    TableWriter::create(path, kind, &batches[0].schema(), |writer| {
        batches.iter().try_for_each(|batch| writer.write(batch))
    })
}

fn rows(batches: &[RecordBatch]) -> Vec<RecordBatch> {
    batches.iter().flat_map(|batch| (0..batch.num_rows()).map(|row| added(&batch.slice(row, 1)))).collect()
}

fn read(path: &Path, shard: Shard) -> Result<Vec<RecordBatch>> {
    TableReader::open(path, shard, BUDGET)?.collect()
}

#[test]
fn what_was_written_is_read_again() {
    let (folder, batches) = (TempDir::new().unwrap(), batches());
    for (kind, name) in KINDS {
        let path = folder.path().join(name);
        write(&path, kind, &batches).unwrap();
        assert_eq!((Kind::of_file(&path), Kind::of_name(&path)), (Some(kind), Some(kind)));
        assert_eq!(TableReader::open(&path, Shard::WHOLE, BUDGET).unwrap().kind(), kind);
        let again = read(&path, Shard::WHOLE).unwrap();
        assert_eq!(again[0].schema(), batches[0].schema(), "{name}");
        assert!(rows(&again) == rows(&batches), "{name}");
        // The same batches are the same bytes.
        let again = folder.path().join(format!("again-{name}"));
        write(&again, kind, &batches).unwrap();
        assert!(std::fs::read(&path).unwrap() == std::fs::read(&again).unwrap(), "{name}");
    }
    assert_eq!(Kind::of_name("t.npz".as_ref()), None);
    assert_eq!(Kind::of_file(folder.path()), None);
}

#[test]
fn shards_have_every_row_once() {
    let (folder, batches) = (TempDir::new().unwrap(), batches());
    for (kind, name) in KINDS {
        let path = folder.path().join(name);
        write(&path, kind, &batches).unwrap();
        let of = 3;
        let shards: Vec<_> = (1..=of).map(|i| read(&path, Shard::new(i, of).unwrap()).unwrap()).collect();
        if kind == Kind::Parquet {
            // These few rows are one row group.
            assert_eq!(shards.iter().map(|shard| rows(shard).len()).collect::<Vec<_>>(), [70, 0, 0]);
            continue;
        }
        for (batch, want) in batches.iter().enumerate() {
            assert_eq!(&shards[batch % of][batch / of], want, "{name}: batch {batch}");
        }
    }
    assert_eq!([Shard::new(0, 2), Shard::new(3, 2), Shard::new(1, 0)], [None; 3]);
}

#[test]
fn an_error_leaves_what_was_there() {
    let (folder, batches) = (TempDir::new().unwrap(), batches());
    for (kind, name) in KINDS {
        let path = folder.path().join(name);
        std::fs::write(&path, "before").unwrap();
        let failed = TableWriter::create(&path, kind, &batches[0].schema(), |writer| {
            writer.write(&batches[0])?;
            Err(Error::domain("test", "enough"))
        });
        assert!(failed.is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"before");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "{name}");
        std::fs::remove_file(&path).unwrap();
    }
}

/// A sink that closes after some bytes, as a pipe whose reader has enough.
struct Closing(usize);

impl Write for Closing {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0 < bytes.len() {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        }
        self.0 -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_closed_pipe_keeps_its_kind() {
    let batches = batches();
    for bytes in [0, 3000, 30_000] {
        let written = TableWriter::to("out".as_ref(), Kind::Stream, Closing(bytes), &batches[0].schema(), |writer| {
            batches.iter().try_for_each(|batch| writer.write(batch))
        });
        let error = written.unwrap_err();
        let ErrorKind::Io { source, .. } = error.kind() else { panic!("{error}") };
        assert_eq!(source.kind(), std::io::ErrorKind::BrokenPipe, "{bytes}");
    }
}

#[test]
fn a_truncated_stream_names_the_batch() {
    let (folder, batches) = (TempDir::new().unwrap(), batches());
    let path = folder.path().join("t.arrows");
    write(&path, Kind::Stream, &batches).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let mut read = TableReader::open(&path, Shard::WHOLE, BUDGET).unwrap();
    let whole = read.by_ref().take_while(Result::is_ok).count();
    assert!((2..=4).contains(&whole), "{whole}");
    let error = TableReader::open(&path, Shard::WHOLE, BUDGET).unwrap().find_map(Result::err).unwrap().to_string();
    assert!(
        error.contains("t.arrows") && error.contains(&format!("batch {} of the Arrow IPC stream", whole + 1)),
        "{error}"
    );
    // After an error, there is nothing more.
    assert!(read.next().is_none());
}

/// Damaged files are refused, or are other tables: none of them panics, or takes memory without end.
#[test]
fn damaged_files_are_refused() {
    let folder = TempDir::new().unwrap();
    let edges: Edges<'_> = &[(0, 1)];
    let batches = [encoded(&table(&GRAPHS)).unwrap(), encoded(&table(&[(2, edges); 3])).unwrap()];
    let count: usize = std::env::var("FIEDLER_FUZZ").ok().and_then(|count| count.parse().ok()).unwrap_or(300);
    for (kind, name) in KINDS {
        let path = folder.path().join(name);
        write(&path, kind, &batches).unwrap();
        let good = std::fs::read(&path).unwrap();
        let mut random = SplitMix64::new(77);
        for case in 0..count {
            let mut bytes = good.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len());
                match random.below(4) {
                    0 => bytes[at] = u8::try_from(random.below(256)).unwrap(),
                    1 => bytes[at] ^= 1 << random.below(8),
                    2 => bytes.truncate(at),
                    _ => drop(bytes.splice(at..at, std::iter::repeat_n(0xff, random.below(9)))),
                }
                if bytes.is_empty() {
                    break;
                }
            }
            std::fs::write(&path, &bytes).unwrap();
            let read = || read(&path, Shard::WHOLE).map(|batches| batches.len());
            let outcome = catch_unwind(AssertUnwindSafe(read));
            assert!(outcome.is_ok(), "case {case} of {name} panics");
        }
    }
}
