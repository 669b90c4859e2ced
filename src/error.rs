//! The error type. Each kind states what was expected and what was found. No function of this crate panics because of a
//! situation that its caller can cause, unless its documentation says so.

use std::fmt;
use std::path::{Path, PathBuf};

/// What sets the memory budget. A browser has no environment variables.
const BUDGET: &str = if cfg!(target_arch = "wasm32") { "memory budget" } else { "FIEDLER_MEMORY_BUDGET" };

/// The result type of every fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error, which has the size of a pointer. [`Error::kind`] returns its [`ErrorKind`].
#[derive(Debug)]
pub struct Error(Box<ErrorKind>);

/// The kinds of [`Error`]. Each kind states what was expected and what was found.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No adapter matches the request.
    NoAdapter {
        /// The requested adapter.
        wanted: String,
        /// The adapters that this machine has.
        found: Vec<String>,
    },
    /// The device was lost. A new context can be created.
    DeviceLost {
        /// The driver's reason.
        message: String,
    },
    /// The device refused an allocation, or the byte budget has no room for it.
    OutOfMemory {
        /// The number of bytes that were requested.
        wanted: u64,
        /// The number of bytes that the budget or the device still allows.
        allowed: u64,
    },
    /// The call needs more than the device or the chosen method allows.
    Limit {
        /// The name of the limit, and what the limit applies to.
        what: String,
        /// The amount that was needed.
        needed: u64,
        /// The amount that is allowed.
        allowed: u64,
    },
    /// The device refused a shader, or a shader disagrees with its Rust declaration. This is a bug in this crate.
    Kernel {
        /// The kernel's name.
        kernel: &'static str,
        /// The override values of the variant.
        variant: String,
        /// The compiler's message, with the WGSL line if there is one.
        message: String,
    },
    /// The device reported an error of a kind that no other variant covers.
    Device {
        /// The device's message.
        message: String,
    },
    /// The shapes of the operands are not compatible.
    Shape {
        /// The operation.
        operation: &'static str,
        /// The shape that the operation expects.
        expected: String,
        /// The shape that the operation received.
        found: String,
    },
    /// The work was stopped by its [`Cancel`](crate::Cancel).
    Cancelled,
    /// A value is outside the domain of an operation.
    Domain {
        /// The operation.
        operation: &'static str,
        /// What the operation expects and what it received.
        what: String,
    },
    /// Some matrices of a batch did not reach the promised accuracy. See [`crate::ops::Certificate`].
    Uncertified {
        /// The number of matrices that did not reach the accuracy.
        count: usize,
        /// The number of matrices in the batch.
        of: usize,
        /// The index of the first of the `count` matrices.
        first: usize,
        /// The status of the first of the `count` matrices, in words.
        status: &'static str,
    },
    /// The content of a file is not as expected.
    Parse {
        /// The file.
        path: PathBuf,
        /// The number of the line, counted from 1, if the error belongs to a line.
        line: Option<u64>,
        /// What was expected at this line, or in the file.
        expected: String,
        /// What was found.
        found: String,
    },
    /// The operating system refused an operation on a file.
    Io {
        /// The operation.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
}

impl Error {
    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// Returns whether the device caused the error. If so, the same work may succeed on the CPU or on a new context.
    #[must_use]
    pub fn is_device(&self) -> bool {
        use ErrorKind as K;
        matches!(*self.0, K::DeviceLost { .. } | K::OutOfMemory { .. } | K::Kernel { .. } | K::Device { .. })
    }

    /// Returns whether the device or the byte budget had too little memory. If so, the same work may succeed in smaller
    /// batches.
    #[must_use]
    pub fn is_out_of_memory(&self) -> bool {
        matches!(*self.0, ErrorKind::OutOfMemory { .. })
    }

    /// Returns whether the work was stopped by its [`Cancel`](crate::Cancel).
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(*self.0, ErrorKind::Cancelled)
    }

    pub(crate) fn shape(operation: &'static str, expected: impl Into<String>, found: impl Into<String>) -> Self {
        ErrorKind::Shape { operation, expected: expected.into(), found: found.into() }.into()
    }

    /// Returns an [`ErrorKind::Limit`] for a call that needs more of `what` than the byte budget allows.
    pub(crate) fn budget(what: impl fmt::Display, needed: u64, allowed: u64) -> Self {
        let what = format!("{what}; a larger {BUDGET} allows them");
        ErrorKind::Limit { what, needed, allowed }.into()
    }

    /// Returns an [`ErrorKind::Domain`] for `operation`. `what` states what was expected and what was found.
    #[must_use]
    pub fn domain(operation: &'static str, what: impl Into<String>) -> Self {
        ErrorKind::Domain { operation, what: what.into() }.into()
    }

    /// Returns the same error about a part of what the operation received, which `part` names.
    pub(crate) fn within(self, part: impl fmt::Display) -> Self {
        match *self.0 {
            ErrorKind::Domain { operation, what } => Self::domain(operation, format!("{part}: {what}")),
            other => other.into(),
        }
    }

    pub(crate) fn parse(path: &Path, line: Option<u64>, expected: impl Into<String>, found: impl Into<String>) -> Self {
        ErrorKind::Parse { path: path.into(), line, expected: expected.into(), found: found.into() }.into()
    }

    pub(crate) fn io(doing: &'static str, path: &Path, source: std::io::Error) -> Self {
        ErrorKind::Io { doing, path: path.into(), source }.into()
    }
}

/// The description of the limit on device memory, for error messages.
pub(crate) const DEVICE_BYTES: &str = "bytes of device memory (FIEDLER_MEMORY_BUDGET)";

/// Checks the limits that apply to `of`. Each limit is a triple of its name, the amount needed and the amount allowed.
///
/// # Errors
/// [`ErrorKind::Limit`] for the first limit that is exceeded.
pub(crate) fn within_limits(
    of: impl fmt::Display,
    limits: impl IntoIterator<Item = (&'static str, u64, u64)>,
) -> Result<()> {
    match limits.into_iter().find(|(_, needed, allowed)| needed > allowed) {
        None => Ok(()),
        Some((what, needed, allowed)) => {
            Err(ErrorKind::Limit { what: format!("{what} for {of}"), needed, allowed }.into())
        }
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(kind))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ErrorKind as K;
        match &*self.0 {
            K::NoAdapter { wanted, found } if found.is_empty() && cfg!(target_arch = "wasm32") => {
                write!(f, "no adapter: wanted {wanted}; this browser offers none")
            }
            K::NoAdapter { wanted, found } if found.is_empty() => {
                write!(
                    f,
                    "no adapter: wanted {wanted}; this machine shows none (`fiedler doctor` says what to install)"
                )
            }
            K::NoAdapter { wanted, found } => write!(f, "no adapter: wanted {wanted}; found {}", found.join(", ")),
            K::DeviceLost { message } => write!(f, "the device was lost: {message}; a new context works again"),
            K::OutOfMemory { wanted, allowed } => {
                write!(
                    f,
                    "out of device memory: {wanted} bytes wanted, {allowed} bytes allowed by {BUDGET} or the device"
                )
            }
            K::Limit { what, needed, allowed } => write!(f, "{what}: {needed} needed, {allowed} allowed"),
            K::Kernel { kernel, variant, message } => write!(f, "kernel {kernel} {variant}: {message}"),
            K::Device { message } => write!(f, "the device reported: {message}"),
            K::Shape { operation, expected, found } => write!(f, "{operation}: expected {expected}, found {found}"),
            K::Cancelled => write!(f, "cancelled"),
            K::Domain { operation, what } => write!(f, "{operation}: {what}"),
            K::Uncertified { count, of, first, status } => {
                write!(f, "{count} of {of} matrices lack the Converged status; the first is matrix {first}: {status}")
            }
            K::Parse { path, line, expected, found } => {
                write!(f, "{}", path.display())?;
                if let Some(line) = line {
                    write!(f, ":{line}")?;
                }
                write!(f, ": expected {expected}, found {found}")
            }
            K::Io { doing, path, source } => write!(f, "cannot {doing} {}: {source}", path.display()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.0 {
            ErrorKind::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
