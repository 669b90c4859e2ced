//! Handles Ctrl-C. The work ends at the next point where it can stop, and leaves no half-written file. After a second,
//! the process is ended, unless the work is to be saved first; then a second Ctrl-C ends it.

use fiedler::{Cancel, io};
use std::process::exit;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::sleep;
use std::time::Duration;

/// The exit status that shells give a program ended by SIGINT: 128 plus the signal's number.
pub(super) const INTERRUPTED: u8 = 130;

/// If the work has not stopped this long after Ctrl-C, the process is ended. Decomposing one large matrix or compiling
/// a kernel cannot be interrupted.
const PATIENCE: Duration = Duration::from_millis(700);

static CANCEL: OnceLock<Cancel> = OnceLock::new();

/// What goes on with the work of the [`Saved`] value, where there is one.
static SAVED: Mutex<Option<&'static str>> = Mutex::new(None);

/// While this value exists, the first Ctrl-C does not end the process, however long the work takes to stop.
pub(super) struct Saved;

impl Saved {
    /// Begins work that is saved where it stops. `resume` is the option or subcommand that goes on with it.
    pub(super) fn begin(resume: &'static str) -> Self {
        *SAVED.lock().unwrap_or_else(PoisonError::into_inner) = Some(resume);
        Self
    }
}

impl Drop for Saved {
    fn drop(&mut self) {
        *SAVED.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Returns the cancel switch that Ctrl-C turns on.
pub(super) fn cancel() -> Cancel {
    CANCEL.get_or_init(Cancel::new).clone()
}

/// Installs the handler: Ctrl-C turns the switch on, and ends the process if the work does not stop in time. A second
/// Ctrl-C ends it at once.
pub(super) fn listen() {
    let handler = || {
        let again = cancel().is_cancelled();
        cancel().cancel();
        let saved = *SAVED.lock().unwrap_or_else(PoisonError::into_inner);
        match (again, saved) {
            (false, Some(resume)) => {
                let ends = "Ctrl-C again ends this at once";
                super::complain(&format!("stopping, after a checkpoint for {resume} is saved; {ends}"));
                return;
            }
            (false, None) => sleep(PATIENCE),
            (true, _) => {}
        }
        io::abandon();
        super::complain(&"interrupted");
        exit(INTERRUPTED.into());
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        // Without the handler, Ctrl-C ends the process at once and, at worst, leaves a temporary file behind.
        log::warn!("cannot handle Ctrl-C: {error}");
    }
}
