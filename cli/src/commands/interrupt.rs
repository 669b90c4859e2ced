//! Handles Ctrl-C. The work ends at the next point where it can stop, after a second at most, and leaves no
//! half-written file.

use fiedler::{Cancel, io};
use std::process::exit;
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::Duration;

/// The exit status that shells give a program ended by SIGINT: 128 plus the signal's number.
pub(super) const INTERRUPTED: u8 = 130;

/// If the work has not stopped this long after Ctrl-C, the process is ended. Decomposing one large matrix or compiling
/// a kernel cannot be interrupted.
const PATIENCE: Duration = Duration::from_millis(700);

static CANCEL: OnceLock<Cancel> = OnceLock::new();

/// Returns the cancel switch that Ctrl-C turns on.
pub(super) fn cancel() -> Cancel {
    CANCEL.get_or_init(Cancel::new).clone()
}

/// Installs the handler: Ctrl-C turns the switch on, and ends the process if the work does not stop in time.
pub(super) fn listen() {
    let handler = || {
        cancel().cancel();
        sleep(PATIENCE);
        io::abandon();
        super::complain(&"interrupted");
        exit(INTERRUPTED.into());
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        // Without the handler, Ctrl-C ends the process at once and, at worst, leaves a temporary file behind.
        log::warn!("cannot handle Ctrl-C: {error}");
    }
}
