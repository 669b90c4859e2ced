//! What a person could do.

use super::hidden::NARROWING;
use super::report::Report;
use std::path::Path;

/// Where Linux shows that there is a GPU, whether or not it has a Vulkan driver.
const DEVICES: [&str; 4] = ["/dev/dri/renderD128", "/dev/dri/renderD129", "/dev/nvidia0", "/dev/dxg"];

/// What a person could do.
pub(super) fn advice(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    let hardware = report.adapters.iter().any(|a| !a.software);
    let narrowed = NARROWING.iter().find(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if report.adapters.is_empty() {
        lines.push(
            "no adapter shows itself: install a Vulkan loader and your GPU's driver (Debian: libvulkan1, and \
             mesa-vulkan-drivers or nvidia-driver); on macOS and Windows the system's own serve. Without a GPU there is nothing to do: the \
             CPU does everything"
                .to_owned(),
        );
    } else if !hardware {
        lines.push(
            "only software adapters show themselves; they are for tests (`--backend gpu --adapter NAME`), the CPU backend is \
             faster. If this machine has a GPU, install its Vulkan driver (Debian: mesa-vulkan-drivers or nvidia-driver)"
                .to_owned(),
        );
    }
    if let (false, Some(name)) = (hardware, narrowed) {
        lines.push(format!("unset {name} to see every driver of this machine"));
    }
    if let (false, Some(device)) = (hardware, DEVICES.into_iter().find(|path| Path::new(path).exists())) {
        lines.push(format!(
            "{device} says that there is a GPU, and no adapter for it shows itself: its Vulkan driver is not installed, or this user may \
             not open the device (Linux: the groups `render` and `video`)"
        ));
    }
    if report.tuned.iter().any(|tuned| !tuned.holds()) {
        let chosen = report.named.as_ref().filter(|_| report.ctx.adapter().is_some());
        let named = chosen.map(|name| format!(" --adapter '{name}'")).unwrap_or_default();
        let why =
            if report.chooses() { "`auto` chooses by them" } else { "`fiedler explain` and this report use them" };
        lines.push(format!(
            "run `fiedler tune{named}` once, a minute: predicted times are defaults of a class until this machine is measured; {why}"
        ));
    }
    let Some(a) = report.ctx.adapter() else { return lines };
    if !a.features.contains(&"timestamps") {
        lines.push(format!("{} has no timestamps: --profile takes the host's clock for it", a.name));
    }
    if report.ctx.memory_budget() < a.limits.storage_binding {
        lines.push(format!(
            "the memory budget is below one binding of {} ({} MiB): large batches are cut small; raise FIEDLER_MEMORY_BUDGET",
            a.name,
            a.limits.storage_binding >> 20
        ));
    }
    for (n, batch) in &report.turns {
        lines.push(match batch {
            Some(1) => format!("eigh, n = {n}: one matrix is enough for the adapter to be faster here"),
            Some(batch) => {
                format!("eigh, n = {n}: below {batch} matrices in a call the CPU is faster here: batch more")
            }
            None => format!("eigh, n = {n}: the CPU is faster here, however many matrices there are"),
        });
    }
    lines
}
