//! Finds the options and environment variables that hide an adapter.

use fiedler::{Adapter, Backend};

/// The environment variables that restrict which drivers are visible.
pub(super) const NARROWING: [&str; 5] =
    ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE", "WGPU_BACKEND"];

/// Returns notes on the settings that hide or restrict adapters, for example if a better adapter than the chosen one is
/// not used.
pub(in crate::commands) fn hidden(
    adapters: &[Adapter],
    chosen: Option<&Adapter>,
    named: Option<&str>,
    backend: Backend,
) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(fault) = super::fault() {
        lines.push(format!("FIEDLER_TEST_FAULT={fault} is set: this fault is caused on purpose"));
    }
    let best = adapters.iter().find(|adapter| !adapter.software);
    if let Some(chosen) = chosen.filter(|chosen| chosen.software) {
        lines.push(format!("{} is a program on the CPU: it is for tests, and the CPU backend is faster", chosen.name));
        if std::env::var("FIEDLER_SOFTWARE_AS_GPU").is_ok_and(|value| value == "1") {
            lines.push("FIEDLER_SOFTWARE_AS_GPU=1 is set: this adapter is weighed as if it were a GPU".to_owned());
        }
        if let (Some(best), Some(named)) = (best, named) {
            lines.push(format!(
                "a faster adapter, {}, is not used: --adapter or FIEDLER_ADAPTER names `{named}`",
                best.name
            ));
        }
    }
    if let (None, Some(best), Backend::Cpu) = (chosen, best, backend) {
        lines.push(format!("{} is not used: --backend or FIEDLER_BACKEND asks for the CPU alone", best.name));
    }
    for name in NARROWING {
        let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty()) else { continue };
        let shown = value.to_string_lossy();
        lines.push(format!("{name}={shown} is set: only the drivers that it allows are visible"));
        if matches!(name, "VK_DRIVER_FILES" | "VK_ICD_FILENAMES") {
            for path in std::env::split_paths(&value).filter(|path| !path.is_file()) {
                lines.push(format!("{name} names {}, which is not a file", path.display()));
            }
        }
    }
    lines
}
