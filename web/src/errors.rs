//! Errors as JavaScript sees them.

use fiedler::{Error, ErrorKind};
use js_sys::Reflect;
use wasm_bindgen::JsValue;

/// Returns the library's error as an `Error` whose `name` is `FiedlerError` and whose `kind` names the kind.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub(crate) fn thrown(error: Error) -> JsValue {
    thrown_as(kind(&error), &error.to_string())
}

/// Returns an error about the arguments of a call.
pub(crate) fn refused(message: &str) -> JsValue {
    thrown_as("domain", message)
}

/// Returns an error about the number of elements of an array.
pub(crate) fn misshapen(message: &str) -> JsValue {
    thrown_as("shape", message)
}

fn thrown_as(kind: &str, message: &str) -> JsValue {
    let error = js_sys::Error::new(message);
    error.set_name("FiedlerError");
    // Setting a property of a new object does not fail.
    let _ = Reflect::set(&error, &"kind".into(), &kind.into());
    error.into()
}

fn kind(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::NoAdapter { .. } => "no-adapter",
        ErrorKind::DeviceLost { .. } => "device-lost",
        ErrorKind::OutOfMemory { .. } => "out-of-memory",
        ErrorKind::Limit { .. } => "limit",
        ErrorKind::Shape { .. } => "shape",
        ErrorKind::Cancelled => "cancelled",
        ErrorKind::Domain { .. } => "domain",
        ErrorKind::Uncertified { .. } => "uncertified",
        ErrorKind::Parse { .. } => "parse",
        ErrorKind::Io { .. } => "io",
        _ => "device",
    }
}
