//! Ctrl-C: the work ends where it can be left, at the latest within a second; nothing half-written stays.

use fiedler::{Cancel, io};
use std::process::exit;
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::Duration;

/// The shell's exit status of a program that SIGINT ended: 128 and the signal's number.
pub(super) const INTERRUPTED: u8 = 130;

/// How long the work may take to stop by itself. Decomposing one large matrix, or compiling a kernel, cannot be interrupted.
const PATIENCE: Duration = Duration::from_millis(700);

static CANCEL: OnceLock<Cancel> = OnceLock::new();

/// The switch that Ctrl-C turns.
pub(super) fn cancel() -> Cancel {
    CANCEL.get_or_init(Cancel::new).clone()
}

/// From now on Ctrl-C turns the switch, and ends the process where the work does not.
pub(super) fn listen() {
    let handler = || {
        cancel().cancel();
        sleep(PATIENCE);
        io::abandon();
        super::complain(&"interrupted");
        exit(INTERRUPTED.into());
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        // Then Ctrl-C ends the process as the system does, and leaves a temporary file at worst.
        log::warn!("Ctrl-C cannot be listened to: {error}");
    }
}
