//! Errors of the readers and writers of tables.

use crate::error::{Error, ErrorKind};
use arrow_schema::ArrowError;
use std::path::Path;

/// Returns the error for a table that cannot be read. `place` says how far it was read.
pub(super) fn unreadable(path: &Path, expected: String, error: &dyn std::fmt::Display) -> Error {
    let found = error.to_string();
    ErrorKind::Parse { path: path.to_owned(), line: None, expected, found }.into()
}

/// Returns the error for a table that cannot be written.
pub(super) fn unwritable(path: &Path, error: ArrowError) -> Error {
    let source = match error {
        ArrowError::IoError(_, error) => error,
        other => std::io::Error::other(other.to_string()),
    };
    Error::io("write", path, source)
}
