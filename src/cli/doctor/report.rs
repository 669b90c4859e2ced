//! Everything that the doctor found out, as a person reads it.

use super::advice::{advice, hidden};
use super::checks::Tried;
use crate::cli::Where;
use comfy_table::Table;
use fiedler::doctor::{Check, Speed};
use fiedler::ops::eigen::{choose_eigh, device_order_limit};
use fiedler::policy::{Choice, Side};
use fiedler::{Adapter, Backend, Context};
use std::fmt::{Display, Formatter, Result};
use std::path::{Path, PathBuf};

/// Workloads that show where the choice turns: order and batch.
const SAMPLES: [(u32, usize); 6] = [(8, 100), (8, 100_000), (32, 100), (32, 10_000), (100, 1000), (1000, 1)];
/// Orders of which it is said from how many matrices on a GPU is faster.
const TURNS: [u32; 3] = [8, 32, 100];

pub(super) struct Report {
    pub(super) adapters: Vec<Adapter>,
    pub(super) ctx: Context,
    pub(super) stored: Option<PathBuf>,
    pub(super) choices: Vec<(u32, usize, Choice)>,
    /// Orders, and from how many matrices on the adapter is faster than the CPU; of adapters that may be chosen unasked.
    pub(super) turns: Vec<(u32, Option<usize>)>,
    pub(super) tried: Tried,
    pub(super) hidden: Vec<String>,
    pub(super) problems: Vec<String>,
    pub(super) advice: Vec<String>,
}

impl Report {
    pub(super) fn new(
        place: &Where,
        adapters: Vec<Adapter>,
        ctx: Context,
        stored: Option<PathBuf>,
        tried: Tried,
        mut problems: Vec<String>,
    ) -> Self {
        problems.extend(tried.problems.iter().cloned());
        let hidden = hidden(&adapters, ctx.adapter(), place.adapter().as_deref(), place.backend());
        let choices = SAMPLES.map(|(n, batch)| (n, batch, choose_eigh::<f32>(&ctx, &vec![n; batch], false))).to_vec();
        let turns = turns(&ctx);
        let mut report = Self { adapters, ctx, stored, choices, turns, tried, hidden, problems, advice: Vec::new() };
        report.advice = advice(&report);
        report
    }

    /// What is remembered between calls, and how much memory is in use: a name and its state.
    pub(super) fn state(&self) -> Vec<(&'static str, String)> {
        let pool = self.ctx.pool();
        let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
        let mut lines =
            vec![("memory budget", format!("{} MiB (FIEDLER_MEMORY_BUDGET)", self.ctx.memory_budget() >> 20))];
        if let Some(adapter) = self.ctx.adapter() {
            let words = format!(
                "{} in use, {} allocated, {} at most during the tests",
                mib(pool.in_use),
                mib(pool.allocated),
                mib(pool.peak)
            );
            lines.push(("device memory", words));
            lines.push(("largest order", format!("eigh on {}: n = {}", adapter.name, device_order_limit(&self.ctx))));
        }
        lines.push(("stored results", self.stored.as_deref().map_or_else(|| "none".to_owned(), folder_state)));
        lines
    }
}

/// From how many matrices on the adapter is faster, to a power of two.
fn turns(ctx: &Context) -> Vec<(u32, Option<usize>)> {
    if ctx.adapter().is_none_or(|adapter| adapter.software) {
        return Vec::new();
    }
    let ctx = ctx.with_backend(Backend::Auto);
    let on_gpu = |n: u32, batch: usize| choose_eigh::<f32>(&ctx, &vec![n; batch], false).side == Side::Gpu;
    TURNS.into_iter().map(|n| (n, (0..20).map(|i| 1 << i).find(|&batch| on_gpu(n, batch)))).collect()
}

/// A folder of the cache: how much it holds, and whether it takes more.
fn folder_state(folder: &Path) -> String {
    let shown = folder.display();
    if !folder.exists() {
        return format!("{shown} (FIEDLER_CACHE_DIR), not made yet");
    }
    let Ok(entries) = folder.read_dir() else { return format!("{shown} (FIEDLER_CACHE_DIR), cannot be read") };
    let files: Vec<u64> =
        entries.flatten().filter_map(|e| e.metadata().ok()).filter(|m| m.is_file()).map(|m| m.len()).collect();
    let bytes: u64 = files.iter().sum();
    let writable = folder.metadata().is_ok_and(|m| !m.permissions().readonly());
    let state = if writable { "" } else { ", cannot be written" };
    format!("{shown} (FIEDLER_CACHE_DIR), {} files of {:.1} MiB{state}", files.len(), bytes as f64 / f64::from(1 << 20))
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "{}", adapter_table(&self.adapters))?;
        match self.ctx.adapter() {
            Some(a) => writeln!(f, "chosen: {} ({}, {})", a.name, a.backend, a.class)?,
            None => writeln!(f, "chosen: the CPU alone; {}", self.ctx.without_adapter_because().unwrap_or_default())?,
        }
        self.hidden.iter().try_for_each(|line| writeln!(f, "note: {line}"))?;
        self.state().iter().try_for_each(|(name, state)| writeln!(f, "{name}: {state}"))?;
        writeln!(f, "what would run where:")?;
        for (n, batch, choice) in &self.choices {
            writeln!(f, "  eigh/f32/n={n}/batch={batch}: {choice}")?;
        }
        writeln!(f, "self-test, error and what is promised:")?;
        self.tried.checks.iter().try_for_each(|check| write_check(f, check))?;
        if !self.tried.speed.is_empty() {
            writeln!(f, "speed, and what its class gives at least:")?;
            self.tried.speed.iter().try_for_each(|speed| write_speed(f, speed))?;
        }
        self.problems.iter().try_for_each(|line| writeln!(f, "WRONG: {line}"))?;
        self.advice.iter().try_for_each(|line| writeln!(f, "advice: {line}"))?;
        write!(f, "{}", if self.problems.is_empty() { "nothing is wrong" } else { "something is wrong" })
    }
}

fn write_check(f: &mut Formatter<'_>, check: &Check) -> Result {
    let Check { family, what, on, found, allowed, .. } = check;
    let mark = if check.ok() { "ok   " } else { "WRONG" };
    let error = found.map_or_else(|| "none".to_owned(), |found| format!("{found:.1e}"));
    writeln!(f, "  {mark} {family:<10} {error:>8} of {allowed:<8} {what}, {on}", allowed = format!("{allowed:.1e}"))
}

fn write_speed(f: &mut Formatter<'_>, speed: &Speed) -> Result {
    let (found, expected) = (&speed.found, &speed.expected);
    let beside = |get: &dyn Fn(&fiedler::doctor::Expected) -> f64, by: f64| {
        expected.as_ref().map_or_else(String::new, |e| format!(" ({:.2})", by * get(e)))
    };
    let of = |found: f64, by: f64, get: &dyn Fn(&fiedler::doctor::Expected) -> f64| {
        format!("{:.2}{}", by * found, beside(get, by))
    };
    writeln!(
        f,
        "  {}: copy {} GB/s, multiply-add {} Gflop/s, smallest call {} ms",
        speed.on,
        of(found.copy, 1e-9, &|e| e.copy),
        of(found.fma, 1e-9, &|e| e.fma),
        of(found.call, 1e3, &|e| e.call)
    )
}

fn adapter_table(adapters: &[Adapter]) -> String {
    if adapters.is_empty() {
        return "adapters: none".to_owned();
    }
    let mut table = Table::new();
    table.set_header(["adapter", "class", "driver", "subgroups", "features", "workgroup", "binding"]);
    for a in adapters {
        let [least, most] = a.subgroup_size;
        table.add_row([
            a.name.clone(),
            format!("{} ({})", a.class, a.backend),
            a.driver.clone(),
            if least == most { least.to_string() } else { format!("{least}..{most}") },
            a.features.join(" "),
            format!("{} KiB, {} inv.", a.limits.workgroup_storage >> 10, a.limits.workgroup_invocations),
            format!("{} MiB", a.limits.storage_binding >> 20),
        ]);
    }
    table.to_string()
}
