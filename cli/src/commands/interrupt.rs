//! Handles Ctrl-C, SIGTERM and SIGHUP. The work ends at the next point where it can stop, and leaves no half-written
//! file. After a second, the process is ended, unless the work is to be saved first; then a second signal ends it.

use fiedler::{Cancel, io};
use std::process::exit;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::sleep;
use std::time::Duration;

/// The number of SIGINT, which Ctrl-C sends.
const INTERRUPT: u8 = 2;

/// If the work has not stopped this long after a signal, the process is ended. Decomposing one large matrix or
/// compiling a kernel cannot be interrupted.
const PATIENCE: Duration = Duration::from_millis(700);

static CANCEL: OnceLock<Cancel> = OnceLock::new();

/// The first signal that came.
static SIGNAL: AtomicU8 = AtomicU8::new(INTERRUPT);

/// What goes on with the work of the [`Saved`] value, where there is one.
static SAVED: Mutex<Option<&'static str>> = Mutex::new(None);

/// While this value exists, the first signal does not end the process, however long the work takes to stop.
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

/// Returns the cancel switch that signals turn on.
pub(super) fn cancel() -> Cancel {
    CANCEL.get_or_init(Cancel::new).clone()
}

/// Says which signal ended the work, and returns the exit status that shells give for it: 128 plus its number.
pub(super) fn tell() -> u8 {
    let signal = SIGNAL.load(Ordering::Relaxed);
    super::complain(&match name(signal) {
        Some(name) => format!("ended by {name}"),
        None => "interrupted".to_owned(),
    });
    128 + signal
}

#[cfg(unix)]
fn name(signal: u8) -> Option<&'static str> {
    (signal != INTERRUPT).then(|| signal_hook::low_level::signal_name(signal.into())).flatten()
}

#[cfg(not(unix))]
fn name(_: u8) -> Option<&'static str> {
    None
}

/// Handles a signal: turns the switch on, and ends the process if the work does not stop in time. A second signal ends
/// it at once. On Windows, every event is like Ctrl-C.
fn handle(signal: u8) {
    let again = cancel().is_cancelled();
    if !again {
        SIGNAL.store(signal, Ordering::Relaxed);
    }
    cancel().cancel();
    let saved = *SAVED.lock().unwrap_or_else(PoisonError::into_inner);
    match (again, saved) {
        (false, Some(resume)) => {
            let by = name(signal).map_or_else(String::new, |name| format!(" by {name}"));
            let again = if by.is_empty() { "Ctrl-C again" } else { "a second signal" };
            super::complain(&format!(
                "stopping{by}, after a checkpoint for {resume} is saved; {again} ends this at once"
            ));
        }
        (false, None) => {
            // On a thread of its own, so that a second signal is heard meanwhile.
            std::thread::spawn(|| {
                sleep(PATIENCE);
                end()
            });
        }
        (true, _) => end(),
    }
}

fn end() -> ! {
    io::abandon();
    exit(tell().into());
}

/// Begins to handle signals. SIGHUP stays ignored if it is ignored already, as `nohup` does.
#[cfg(unix)]
pub(super) fn listen() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let handled = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| signal != SIGHUP || !is_ignored(signal));
    match signal_hook::iterator::Signals::new(handled) {
        Ok(mut signals) => {
            let each = move || signals.forever().for_each(|signal| handle(u8::try_from(signal).unwrap_or(INTERRUPT)));
            drop(std::thread::spawn(each));
        }
        // Without the handler, a signal ends the process at once and, at worst, leaves a temporary file behind.
        Err(error) => log::warn!("cannot handle signals: {error}"),
    }
}

#[cfg(not(unix))]
pub(super) fn listen() {
    if let Err(error) = ctrlc::set_handler(|| handle(INTERRUPT)) {
        log::warn!("cannot handle Ctrl-C: {error}");
    }
}

/// Returns whether the process ignores a signal.
#[cfg(unix)]
fn is_ignored(signal: libc::c_int) -> bool {
    let mut old = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    #[expect(unsafe_code, reason = "the disposition of a signal is known to the operating system alone")]
    // SAFETY: without a new action, the call only writes the present one, for which zeros are valid too.
    unsafe {
        libc::sigaction(signal, std::ptr::null(), old.as_mut_ptr()) == 0
            && old.assume_init().sa_sigaction == libc::SIG_IGN
    }
}
