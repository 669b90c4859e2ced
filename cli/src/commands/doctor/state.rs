//! The part of the report about the data stored between calls and the memory in use.

use fiedler::Context;
use fiedler::ops::eigen::device_order_limit;
use fiedler::policy::{Machine, Stored, folder};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The measurements that `fiedler tune` stored for the CPU or for the adapter.
pub(super) struct Tuned {
    /// The name of the side: `cpu`, or the adapter's name.
    pub(super) of: String,
    pub(super) state: Tuning,
}

pub(super) enum Tuning {
    /// The side was measured on `date`, and the measurements are in `file`.
    Holds { date: String, file: PathBuf },
    /// A file exists, but it is not valid for this machine. The text is the reason.
    Ignored(String),
    /// The side was never measured.
    Nothing,
}

impl Tuned {
    /// Returns the state for the CPU, and for the adapter if there is one.
    pub(super) fn all(ctx: &Context) -> Vec<Self> {
        let cpu = Machine::cpu(ctx.threads());
        let adapter = ctx.adapter().map(|a| Machine::adapter(&a.name, &a.backend, &a.driver));
        let of = |machine: Machine| Self { state: Tuning::of(&machine), of: machine.name };
        [Some(cpu), adapter].into_iter().flatten().map(of).collect()
    }

    pub(super) fn holds(&self) -> bool {
        matches!(self.state, Tuning::Holds { .. })
    }

    fn words(&self) -> String {
        match &self.state {
            Tuning::Holds { date, file } => format!("{}: measured {date} ({})", self.of, file.display()),
            Tuning::Ignored(why) => format!("{}: using the defaults of its class; the file is ignored: {why}", self.of),
            Tuning::Nothing => format!("{}: not measured, using the defaults of its class", self.of),
        }
    }
}

impl Tuning {
    fn of(machine: &Machine) -> Self {
        let Some(folder) = folder() else { return Self::Nothing };
        match Stored::of(&folder, machine) {
            Stored::Nothing => Self::Nothing,
            Stored::Ignored(why) => Self::Ignored(why),
            Stored::Found(_) => {
                let file = folder.join(machine.file_name());
                let text = std::fs::read_to_string(&file).unwrap_or_default();
                let said: Value = serde_json::from_str(&text).unwrap_or_default();
                let date = said["measured"].as_str().unwrap_or("on an unknown date").to_owned();
                Self::Holds { date, file }
            }
        }
    }
}

/// Returns the lines of the report: the name of each item and its state.
pub(super) fn state(ctx: &Context, stored: Option<&Path>, tuned: &[Tuned]) -> Vec<(&'static str, String)> {
    let pool = ctx.pool();
    let device = ctx.adapter().map(|_| format!(", {} on the device", mib(pool.budget))).unwrap_or_default();
    let budget = format!("{}{device} (FIEDLER_MEMORY_BUDGET)", mib(ctx.memory_budget()));
    let mut lines = vec![("memory budget", budget)];
    if ctx.adapter().is_some() {
        let words = format!(
            "{} in use, {} allocated, at most {} in use during the tests",
            mib(pool.in_use),
            mib(pool.allocated),
            mib(pool.peak)
        );
        lines.push(("device memory", words));
        lines.push(("largest eigh", format!("n = {} on the adapter", device_order_limit(ctx))));
    }
    let kept =
        stored.map_or_else(|| "none (FIEDLER_CACHE_BYTES=0, or there is no home folder)".to_owned(), folder_state);
    lines.push(("stored results", kept));
    lines.extend(tuned.iter().map(|tuned| ("tuning", tuned.words())));
    lines
}

/// Formats a number of bytes in MiB, with one decimal below 100 MiB and none from there on.
#[expect(clippy::cast_precision_loss, reason = "of bytes that a machine has")]
pub(super) fn mib(bytes: u64) -> String {
    let mib = bytes as f64 / f64::from(1 << 20);
    if mib < 100.0 { format!("{mib:.1} MiB") } else { format!("{mib:.0} MiB") }
}

/// Describes the cache folder: its files, their size, and whether it can be written to.
fn folder_state(folder: &Path) -> String {
    let shown = folder.display();
    if !folder.exists() {
        return format!("{shown}, not created yet (FIEDLER_CACHE_DIR)");
    }
    let Ok(entries) = folder.read_dir() else { return format!("{shown}, cannot be read (FIEDLER_CACHE_DIR)") };
    let files: Vec<u64> =
        entries.flatten().filter_map(|e| e.metadata().ok()).filter(|m| m.is_file()).map(|m| m.len()).collect();
    let writable = folder.metadata().is_ok_and(|m| !m.permissions().readonly());
    let state = if writable { "" } else { ", not writable" };
    let files_of = if files.len() == 1 { "1 file" } else { &format!("{} files", files.len()) };
    format!("{shown}: {files_of}, {} in total{state} (FIEDLER_CACHE_DIR)", mib(files.iter().sum()))
}
