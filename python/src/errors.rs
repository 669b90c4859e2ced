//! The errors of the library as exceptions of `fiedler._errors`, which are written in Python.

use fiedler::{Error, ErrorKind};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;
use std::io;

/// Returns the exception for an error.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error.kind() {
        ErrorKind::NoAdapter { .. } => "NoAdapterError",
        ErrorKind::DeviceLost { .. } => "DeviceLostError",
        ErrorKind::OutOfMemory { .. } => "OutOfMemoryError",
        ErrorKind::Limit { .. } => "LimitError",
        ErrorKind::Kernel { .. } | ErrorKind::Device { .. } => "DeviceError",
        ErrorKind::Shape { .. } => "ShapeError",
        ErrorKind::Domain { .. } => "DomainError",
        ErrorKind::Uncertified { .. } => "UncertifiedError",
        ErrorKind::Parse { .. } => "ParseError",
        // Only an interrupted call cancels its work.
        ErrorKind::Cancelled => return PyKeyboardInterrupt::new_err(()),
        ErrorKind::Io { doing, path, source } => {
            let Some(code) = source.raw_os_error().or_else(|| code(source.kind())) else {
                return PyOSError::new_err(error.to_string());
            };
            let why = source.to_string();
            let why = why.split(" (os error").next().unwrap_or_default();
            return PyOSError::new_err((code, format!("cannot {doing}: {why}"), path.display().to_string()));
        }
        // Kinds that a later version of the library adds.
        _ => "Error",
    };
    let made = || -> PyResult<PyErr> {
        let exception = py.import("fiedler._errors")?.getattr(class)?.call1((in_words(&error.to_string()),))?;
        if let ErrorKind::Parse { path, line, .. } = error.kind() {
            exception.setattr("path", path.clone())?;
            exception.setattr("line", *line)?;
        }
        Ok(PyErr::from_value(exception))
    };
    made().unwrap_or_else(|failed| failed)
}

/// Returns a text of the library with the names of parameters where it has the command's options.
pub(crate) fn in_words(text: &str) -> String {
    // A text about the command itself stays as it is.
    if text.contains("`fiedler ") || text.contains("the command ") {
        return text.to_owned();
    }
    let mut parts = text.split(" --");
    let mut made = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|own: char| !own.is_ascii_lowercase() && own != '-').unwrap_or(part.len());
        let (option, rest) = part.split_at(end);
        match option {
            "" => made.extend([" --", part]),
            _ => made.extend([" `", &option.replace('-', "_"), "`", rest]),
        }
    }
    made
}

/// Returns the number by which Python knows an error of the system whose own number was lost on the way.
fn code(kind: io::ErrorKind) -> Option<i32> {
    Some(match kind {
        io::ErrorKind::NotFound => 2,
        io::ErrorKind::PermissionDenied => 13,
        io::ErrorKind::AlreadyExists => 17,
        io::ErrorKind::NotADirectory => 20,
        io::ErrorKind::IsADirectory => 21,
        io::ErrorKind::StorageFull => 28,
        _ => return None,
    })
}

/// Returns the exception for a panic, which is a bug of the library. `told` is its message with the backtrace.
pub(crate) fn internal(py: Python<'_>, told: &str) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let words = format!("this is a bug of fiedler; please report it\n{told}");
        Ok(PyErr::from_value(py.import("fiedler._errors")?.getattr("InternalError")?.call1((words,))?))
    };
    made().unwrap_or_else(|failed| failed)
}
