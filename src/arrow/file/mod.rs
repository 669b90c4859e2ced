//! Files of tables: Arrow's IPC file and stream formats, and Parquet.

mod fault;
mod guard;
mod read;
mod write;

pub use guard::panics_are_errors;
pub use read::{Shard, TableReader};
pub use write::TableWriter;

use std::path::Path;

/// A format of files of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Arrow's IPC file format (`.arrow`, `.feather`).
    File,
    /// Arrow's IPC stream format (`.arrows`, and pipes).
    Stream,
    /// Parquet (`.parquet`).
    Parquet,
}

impl Kind {
    /// Returns the format that the extension of a name stands for.
    #[must_use]
    pub fn of_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_ascii_lowercase().to_str()? {
            "arrow" | "feather" => Some(Self::File),
            "arrows" => Some(Self::Stream),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }

    /// Returns the format of a file, by its first bytes, or `None` if it has none of these formats. A name that
    /// cannot be read has none, either.
    #[must_use]
    pub fn of_file(path: &Path) -> Option<Self> {
        use std::io::Read as _;
        // A pipe can be read only once, so its first bytes must be left for the reader of the table.
        if !path.is_file() {
            return None;
        }
        let mut head = [0; 6];
        std::fs::File::open(path).ok()?.read_exact(&mut head).ok()?;
        match &head {
            b"ARROW1" => Some(Self::File),
            [b'P', b'A', b'R', b'1', ..] => Some(Self::Parquet),
            // A stream begins with the length of its schema, after a mark.
            [0xff, 0xff, 0xff, 0xff, ..] => Some(Self::Stream),
            _ => None,
        }
    }

    /// Returns the name of the format.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "Arrow IPC file",
            Self::Stream => "Arrow IPC stream",
            Self::Parquet => "Parquet",
        }
    }
}
