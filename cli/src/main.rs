//! The command `fiedler`: words of the command line in, files and one report out.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    quiet_without_desktop();
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("error,fiedler=warn")).init();
    fiedler_cli::run()
}

/// Disables Mesa's device-select layer where no desktop can be reached.
///
/// The layer asks the Wayland server which GPU the desktop is shown on. On a machine without one, libwayland complains of
/// `XDG_RUNTIME_DIR` on standard error, and nobody can tell it not to. The command shows nothing on a desktop, so it loses nothing;
/// where somebody chooses a device through the layer, the layer stays.
#[cfg(target_os = "linux")]
fn quiet_without_desktop() {
    let said = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    // libwayland takes an absolute path alone.
    let folder = said("XDG_RUNTIME_DIR").is_some_and(|path| std::path::Path::new(&path).is_absolute());
    let chosen = ["WAYLAND_DISPLAY", "NODEVICE_SELECT", "MESA_VK_DEVICE_SELECT", "DRI_PRIME"];
    if folder || chosen.into_iter().any(|name| said(name).is_some()) {
        return;
    }
    #[expect(
        unsafe_code,
        reason = "this is the first thing that main does: there is no other thread to read the environment"
    )]
    // SAFETY: nothing has started a thread yet, neither this program nor a library that it has called.
    unsafe {
        std::env::set_var("NODEVICE_SELECT", "1");
    }
}
