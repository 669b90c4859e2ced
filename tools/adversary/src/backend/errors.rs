//! Errors as WebGPU reports them: to the innermost error scope of the thread that has the right filter, or else to the
//! handler of uncaptured errors.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use wgpu::{ErrorFilter, UncapturedErrorHandler};

/// Why a call failed.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// The call is not valid: the program's mistake.
    Validation(String),
    OutOfMemory(String),
    /// The call is valid, and the device fails all the same.
    Internal(String),
    /// The device is lost. WebGPU reports nothing more than the loss.
    Lost,
}

pub(crate) type Outcome<T> = Result<T, Failure>;

/// Fails with a validation error unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err($crate::backend::errors::Failure::Validation(format!($($message)+)));
        }
    };
}
pub(crate) use ensure;

/// Returns a validation error.
pub(crate) fn invalid<T>(message: impl Into<String>) -> Outcome<T> {
    Err(Failure::Validation(message.into()))
}

/// The source that every [`wgpu::Error`] has.
#[derive(Clone, Debug)]
struct Message(String);

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Message {}

impl Failure {
    /// Returns the error that is reported, with the call and the label of its object, or `None` on a lost device.
    pub(crate) fn error(self, call: &str, label: Option<&str>) -> Option<wgpu::Error> {
        let place = |message: &str| match label {
            Some(label) if !label.is_empty() => format!("in {call}, label `{label}`: {message}"),
            _ => format!("in {call}: {message}"),
        };
        Some(match self {
            Self::Validation(message) => {
                let description = format!("Validation error {}", place(&message));
                wgpu::Error::Validation { source: Box::new(Message(message)), description }
            }
            Self::Internal(message) => {
                let description = format!("Internal error {}", place(&message));
                wgpu::Error::Internal { source: Box::new(Message(message)), description }
            }
            Self::OutOfMemory(message) => wgpu::Error::OutOfMemory { source: Box::new(Message(place(&message))) },
            Self::Lost => return None,
        })
    }
}

/// The error scopes of a device and its handler of uncaptured errors.
#[derive(Default)]
pub(crate) struct ErrorSink {
    scopes: Mutex<HashMap<ThreadId, Vec<Scope>>>,
    handler: Mutex<Option<Arc<dyn UncapturedErrorHandler>>>,
}

struct Scope {
    filter: ErrorFilter,
    caught: Option<wgpu::Error>,
}

impl fmt::Debug for ErrorSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ErrorSink")
    }
}

impl ErrorSink {
    pub(crate) fn set_handler(&self, handler: Arc<dyn UncapturedErrorHandler>) {
        *self.handler.lock().unwrap_or_else(PoisonError::into_inner) = Some(handler);
    }

    /// Opens a scope and returns its depth.
    pub(crate) fn push(&self, filter: ErrorFilter) -> u32 {
        let mut scopes = self.scopes();
        let stack = scopes.entry(std::thread::current().id()).or_default();
        stack.push(Scope { filter, caught: None });
        u32::try_from(stack.len() - 1).unwrap_or(u32::MAX)
    }

    /// Closes the scope at this depth, and those within it, and returns what it caught.
    pub(crate) fn pop(&self, depth: u32) -> Option<wgpu::Error> {
        let mut scopes = self.scopes();
        let thread = std::thread::current().id();
        let stack = scopes.get_mut(&thread)?;
        stack.truncate(depth as usize + 1);
        let scope = if stack.len() == depth as usize + 1 { stack.pop() } else { None };
        if stack.is_empty() {
            scopes.remove(&thread);
        }
        scope?.caught
    }

    /// Reports an error. A scope keeps the first error that it catches.
    pub(crate) fn report(&self, error: wgpu::Error) {
        let kind = match error {
            wgpu::Error::OutOfMemory { .. } => ErrorFilter::OutOfMemory,
            wgpu::Error::Validation { .. } => ErrorFilter::Validation,
            wgpu::Error::Internal { .. } => ErrorFilter::Internal,
        };
        let mut scopes = self.scopes();
        let stack = scopes.get_mut(&std::thread::current().id());
        if let Some(scope) = stack.and_then(|stack| stack.iter_mut().rfind(|scope| scope.filter == kind)) {
            scope.caught.get_or_insert(error);
            return;
        }
        drop(scopes);
        // No lock is held while the handler runs, because it may call the device.
        let handler = self.handler.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match handler {
            Some(handler) => handler(error),
            None => eprintln!("uncaptured wgpu error: {error}"),
        }
    }

    fn scopes(&self) -> MutexGuard<'_, HashMap<ThreadId, Vec<Scope>>> {
        self.scopes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
