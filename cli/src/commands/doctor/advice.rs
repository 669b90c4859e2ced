//! The doctor's advice to the user.

use super::hidden::NARROWING;
use super::report::Report;
use std::path::Path;

/// Device files whose existence on Linux shows that the machine has a GPU, even if no Vulkan driver is installed for
/// it.
const DEVICES: [&str; 4] = ["/dev/dri/renderD128", "/dev/dri/renderD129", "/dev/nvidia0", "/dev/dxg"];

/// Returns the advice as texts of one or two sentences.
pub(super) fn advice(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    let hardware = report.adapters.iter().any(|a| !a.software);
    let narrowed = NARROWING.iter().find(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if report.adapters.is_empty() {
        lines.push(
            "no adapter was found: install a Vulkan loader and your GPU's driver (Debian: libvulkan1, and \
             mesa-vulkan-drivers or nvidia-driver); on macOS and Windows the system's own suffice. Without a GPU there \
             is nothing to do: everything runs on the CPU"
                .to_owned(),
        );
    } else if !hardware {
        lines.push(
            "only software adapters were found; they are for tests (`--backend gpu --adapter NAME`), and the CPU \
             backend is faster. If this machine has a GPU, install its Vulkan driver (Debian: mesa-vulkan-drivers or \
             nvidia-driver)"
                .to_owned(),
        );
    }
    if let (false, Some(name)) = (hardware, narrowed) {
        lines.push(format!("unset {name} to see every driver of this machine"));
    }
    if let (false, Some(device)) = (hardware, DEVICES.into_iter().find(|path| Path::new(path).exists())) {
        lines.push(format!(
            "{device} shows that there is a GPU, but no adapter was found for it: its Vulkan driver is not installed, \
             or this user may not open the device (Linux: the groups `render` and `video`)"
        ));
    }
    if report.tuned.iter().any(|tuned| !tuned.holds()) {
        let chosen = report.named.as_ref().filter(|_| report.ctx.adapter().is_some());
        let named = chosen.map(|name| format!(" --adapter '{name}'")).unwrap_or_default();
        let why =
            if report.chooses() { "`auto` chooses by them" } else { "`fiedler explain` and this report show them" };
        lines.push(format!(
            "run `fiedler tune{named}` once; it takes a minute. Until this machine is measured, predicted times come \
             from the defaults of a class; {why}"
        ));
    }
    let Some(a) = report.ctx.adapter() else { return lines };
    if !a.features.contains(&"timestamps") {
        lines.push(format!("{} has no timestamps, so --profile uses the host's clock", a.name));
    }
    if report.ctx.pool().budget < a.limits.storage_binding {
        lines.push(format!(
            "the memory budget is smaller than one binding of {} ({} MiB), so large batches are split into small ones; \
             raise FIEDLER_MEMORY_BUDGET",
            a.name,
            a.limits.storage_binding >> 20
        ));
    }
    for (n, batch) in &report.turns {
        lines.push(match batch {
            Some(1) => format!("eigh, n = {n}: the adapter is faster here, even for one matrix"),
            Some(batch) => {
                format!("eigh, n = {n}: the CPU is faster here below {batch} matrices per call, so batch more")
            }
            None => format!("eigh, n = {n}: the CPU is faster here for any number of matrices"),
        });
    }
    lines
}
