//! The command `fiedler`, and the modules that only the command needs: measuring a machine ([`mod@bench`]) and testing
//! its adapters ([`doctor`]).
//!
//! The operations, encodings and file formats are in the library, the crate `fiedler`.

#![warn(unreachable_pub, clippy::print_stdout)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::cast_possible_truncation, clippy::cast_sign_loss))]

pub mod bench;
mod commands;
pub mod doctor;
mod experiment;
mod page;

use std::ffi::OsString;

/// Runs the command `fiedler` as a program does, of which it is all. Returns the exit status.
///
/// `arguments` begin with the name of the program. Call this before the process starts a thread: it sets an environment
/// variable, and the logger.
#[must_use]
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    #[cfg(target_os = "linux")]
    quiet_without_desktop();
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("error,fiedler=warn")).init();
    commands::run(arguments)
}

/// Disables Mesa's device-select layer if no desktop can be reached.
///
/// The layer asks the Wayland server which GPU shows the desktop. On a machine without a desktop, libwayland complains
/// about `XDG_RUNTIME_DIR` on standard error, and no setting silences it. The command shows nothing on a desktop, so it
/// does not need the layer. If the user selects a device through the layer, the layer stays enabled.
#[cfg(target_os = "linux")]
fn quiet_without_desktop() {
    let said = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    // libwayland accepts only an absolute path.
    let folder = said("XDG_RUNTIME_DIR").is_some_and(|path| std::path::Path::new(&path).is_absolute());
    let chosen = ["WAYLAND_DISPLAY", "NODEVICE_SELECT", "MESA_VK_DEVICE_SELECT", "DRI_PRIME"];
    if folder || chosen.into_iter().any(|name| said(name).is_some()) {
        return;
    }
    #[expect(
        unsafe_code,
        reason = "this is the first thing that the program does: there is no other thread to read the environment"
    )]
    // SAFETY: at this point, neither this program nor any library that it called has started a thread.
    unsafe {
        std::env::set_var("NODEVICE_SELECT", "1");
    }
}
