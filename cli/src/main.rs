//! The command `fiedler`, which reads the command line, writes files and prints one report.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    quiet_without_desktop();
    fiedler_cli::main(std::env::args_os()).into()
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
        reason = "this is the first thing that main does: there is no other thread to read the environment"
    )]
    // SAFETY: at this point, neither this program nor any library that it called has started a thread.
    unsafe {
        std::env::set_var("NODEVICE_SELECT", "1");
    }
}
