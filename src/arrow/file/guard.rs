//! Panics of the readers of Arrow and Parquet, which become errors.

use arrow_schema::ArrowError;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local!(static GUARDED: Cell<bool> = const { Cell::new(false) });

/// Returns whether this thread is in a reader of Arrow or Parquet, whose panics become errors. The panic hook of a
/// program (`std::panic::set_hook`) can ask, and say nothing about such a panic.
#[must_use]
pub fn panics_are_errors() -> bool {
    GUARDED.get()
}

/// Runs a reader of Arrow or Parquet, which may panic if a file is damaged: an index or a length that it did not check.
pub(super) fn guarded<T>(read: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, ArrowError> {
    let outer = GUARDED.replace(true);
    // What was being read is not used again after a panic.
    let outcome = catch_unwind(AssertUnwindSafe(read));
    GUARDED.set(outer);
    outcome.unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Err(ArrowError::ParseError(format!("damage: {}", said.unwrap_or("a panic of the reader"))))
    })
}
