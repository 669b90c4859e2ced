//! Panics of the library, which become exceptions.

use std::backtrace::Backtrace;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, Once, PoisonError};

/// The message of the last panic. The thread that panics is often not the thread that catches the panic.
static LAST: Mutex<Option<String>> = Mutex::new(None);

/// Runs `work`. A panic of any thread that works for it becomes a text: its message, its place and its backtrace.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        panic::set_hook(Box::new(|info| {
            let told = format!("{info}\n{}", Backtrace::force_capture());
            *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
        }));
    });
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    let last = || LAST.lock().unwrap_or_else(PoisonError::into_inner).take();
    outcome.map_err(|_| last().unwrap_or_else(|| "a panic without a message".to_owned()))
}
