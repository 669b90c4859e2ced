//! The report as text, in 80 columns.

use super::advice::advice;
use super::checks::Problem;
use super::report::Report;
use super::state::{mib, state};
use crate::bench::page::seconds;
use crate::doctor::{Check, Speed};
use fiedler::Adapter;
use fiedler::policy::Side;
use std::fmt::{Display, Formatter, Result};

/// The number of columns in a line.
const WIDTH: usize = 80;

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "fiedler {}\n\nadapters of this machine", env!("CARGO_PKG_VERSION"))?;
        self.adapters.iter().try_for_each(|adapter| write_adapter(f, adapter))?;
        if self.adapters.is_empty() {
            writeln!(f, "  none")?;
        }
        writeln!(f)?;
        match self.ctx.adapter() {
            Some(a) => wrapped(f, "chosen: ", &format!("{} ({}, {})", a.name, a.class, a.backend))?,
            None => wrapped(f, "chosen: ", &format!("the CPU alone; {}", self.without.as_deref().unwrap_or_default()))?,
        }
        self.notes.iter().try_for_each(|line| wrapped(f, "note: ", line))?;
        writeln!(f, "\nmemory and files")?;
        for (name, state) in state(&self.ctx, self.stored.as_deref(), &self.tuned) {
            wrapped(f, &format!("  {name:<15} "), &state)?;
        }
        writeln!(f, "\n{:<32}{:>6}{:>14}{:>14}", "what would run where", "on", "time on cpu", "on adapter")?;
        for (case, choice) in &self.choices {
            let side = if choice.side == Side::Cpu { "cpu" } else { "gpu" };
            let gpu = if choice.gpu_seconds.is_finite() { seconds(choice.gpu_seconds) } else { "-".to_owned() };
            let case = case.to_string();
            writeln!(f, "  {case:<30}{side:>6}{:>14}{gpu:>14}", seconds(choice.cpu_seconds))?;
        }
        writeln!(f, "  Times are predictions; `fiedler explain WORKLOAD` gives the details.\n")?;
        write_checks(f, &self.tried.checks)?;
        if !self.tried.speed.is_empty() {
            writeln!(f, "\n{:<32}{:>16}{:>24}", "speed", "here", "expected of its class")?;
            self.tried.speed.iter().try_for_each(|speed| write_speed(f, speed))?;
        }
        writeln!(f)?;
        for (i, Problem { what, remedy }) in self.problems.iter().enumerate() {
            wrapped(f, "WRONG: ", what)?;
            // If consecutive problems have the same remedy, the remedy is printed once.
            if self.problems.get(i + 1).is_none_or(|next| next.remedy != *remedy) {
                wrapped(f, "  what to do: ", remedy)?;
            }
        }
        advice(self).iter().try_for_each(|line| wrapped(f, "advice: ", line))?;
        // If something is wrong, the command reports the number of problems on standard error, where all failures are
        // reported.
        if self.problems.is_empty() { f.write_str("nothing is wrong") } else { Ok(()) }
    }
}

/// Writes a text in lines of limited width. The first line starts with `head`, and the other lines are indented by the
/// width of `head`.
fn wrapped(f: &mut Formatter<'_>, head: &str, text: &str) -> Result {
    let indent = head.chars().count();
    let (mut line, mut length) = (head.to_owned(), indent);
    for (i, word) in text.split_whitespace().enumerate() {
        let more = word.chars().count();
        if i > 0 && length + 1 + more > WIDTH {
            writeln!(f, "{line}")?;
            (line, length) = (" ".repeat(indent), indent);
        } else if i > 0 {
            line.push(' ');
            length += 1;
        }
        line += word;
        length += more;
    }
    writeln!(f, "{}", line.trim_end())
}

fn write_adapter(f: &mut Formatter<'_>, a: &Adapter) -> Result {
    let [least, most] = a.subgroup_size;
    let subgroups = if least == most { format!("{least}") } else { format!("{least} to {most}") };
    let alone = if a.software { "; used only when named" } else { "" };
    let limits = &a.limits;
    wrapped(f, "  ", &a.name)?;
    for (name, words) in [
        ("class", format!("{}, through {}{alone}", a.class, a.backend)),
        ("selected by", selection(a)),
        ("driver", a.driver.clone()),
        ("features", a.features.join(" ")),
        ("subgroups", format!("{subgroups} invocations")),
        ("workgroups", format!("{} invocations, {} KiB", limits.workgroup_invocations, limits.workgroup_storage >> 10)),
        ("buffers", format!("{} at most, {} per binding", mib(limits.buffer), mib(limits.storage_binding))),
    ] {
        wrapped(f, &format!("    {name:<12}"), &words)?;
    }
    Ok(())
}

/// Returns the option that selects this adapter and no other.
fn selection(a: &Adapter) -> String {
    let by_name = format!("--adapter '{}#{}'", a.name, a.index);
    match &a.pci {
        Some(address) => format!("--adapter pci:{address} or {by_name}"),
        None => by_name,
    }
}

/// Writes one line per test problem with the error on the adapter, the error on the CPU, and the promised bound.
fn write_checks(f: &mut Formatter<'_>, checks: &[Check]) -> Result {
    let (cpu, adapter): (Vec<&Check>, Vec<&Check>) = checks.iter().partition(|check| check.on == "cpu");
    write!(f, "{:<52}", "self-test: errors, and the promised bounds")?;
    if !adapter.is_empty() {
        write!(f, "{:>9}", "adapter")?;
    }
    writeln!(f, "{:>9}{:>9}", "cpu", "at most")?;
    for own in &cpu {
        let twin = adapter.iter().find(|check| (check.family, &check.what) == (own.family, &own.what));
        write!(f, "  {:<10}  {:<38}", own.family, own.what)?;
        if let Some(twin) = twin {
            write!(f, "{:>9}", error(twin))?;
        }
        // If both runs failed before they had a result, the bound is unknown.
        let promised = twin.map_or(0.0, |twin| twin.allowed).max(own.allowed);
        let promised = match promised {
            _ if own.found.is_none() && twin.is_none_or(|twin| twin.found.is_none()) => "-".to_owned(),
            0.0 => "0".to_owned(),
            promised => format!("{promised:.1e}"),
        };
        writeln!(f, "{:>9}{promised:>9}", error(own))?;
    }
    Ok(())
}

fn error(check: &Check) -> String {
    match check.found {
        None => "FAILED".to_owned(),
        _ if !check.ok() => "WRONG".to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(found) => format!("{found:.1e}"),
    }
}

fn write_speed(f: &mut Formatter<'_>, speed: &Speed) -> Result {
    let (found, class) = (&speed.found, &speed.expected);
    wrapped(f, "  ", &speed.on)?;
    let giga = |x: f64, unit: &str| format!("{:.1} {unit}", 1e-9 * x);
    for (what, here, expected) in [
        ("copy", giga(found.copy, "GB/s"), class.map(|e| format!("{} or more", giga(e.copy, "GB/s")))),
        ("multiply-add", giga(found.fma, "Gflop/s"), class.map(|e| format!("{} or more", giga(e.fma, "Gflop/s")))),
        ("smallest call", seconds(found.call), class.map(|e| format!("{} or less", seconds(e.call)))),
    ] {
        writeln!(f, "    {what:<28}{here:>16}{:>24}", expected.unwrap_or_else(|| "unknown".to_owned()))?;
    }
    Ok(())
}
