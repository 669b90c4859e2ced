//! The errors of readers that expand bytes, or heed a switch. They pass through `std::io::Error`, because the readers
//! are `std::io::Read`.

use crate::error::{Error, ErrorKind};
use std::fmt;
use std::io;
use std::path::Path;

/// The reason why bytes cannot be read that the operating system would give.
#[derive(Debug)]
pub(super) enum Fault {
    /// The bytes are damaged or cut off.
    Damaged { expected: &'static str, found: String },
    /// There are more bytes than allowed.
    TooLarge { allowed: u64 },
    /// The reading was requested to end.
    Cancelled,
}

impl Fault {
    pub(super) fn error(self) -> io::Error {
        io::Error::other(self)
    }

    /// Wraps an error of a decoder. An error of the operating system, and an error of an inner decoder, remain as they
    /// are.
    pub(super) fn damaged(expected: &'static str, error: io::Error) -> io::Error {
        let inner = error.get_ref().is_some_and(|inner| inner.is::<Self>());
        if error.raw_os_error().is_some() || inner {
            return error;
        }
        let found = match error.kind() {
            io::ErrorKind::UnexpectedEof => "its end too early".to_owned(),
            _ => error.to_string(),
        };
        Self::Damaged { expected, found }.error()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::TooLarge { allowed } => write!(f, "more than {allowed} bytes"),
            Self::Cancelled => write!(f, "cancelled"),
        }
    }
}

impl std::error::Error for Fault {}

/// Returns the error for a source that cannot be read. `name` is what the error calls the source.
pub(in crate::io) fn refused(name: &Path, error: io::Error) -> Error {
    match error.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(Fault::Damaged { expected, found }) => Error::parse(name, None, *expected, found.clone()),
        Some(&Fault::TooLarge { allowed }) => {
            let what = format!(
                "expanded bytes of {}, the larger of 1000 times the compressed ones and the memory budget; a larger \
                 FIEDLER_MEMORY_BUDGET allows them",
                name.display()
            );
            ErrorKind::Limit { what, needed: allowed.saturating_add(1), allowed }.into()
        }
        Some(Fault::Cancelled) => ErrorKind::Cancelled.into(),
        None => Error::io("read", name, error),
    }
}
