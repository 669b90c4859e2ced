//! The report as one JSON object.

use super::advice::advice;
use super::checks::Problem;
use super::report::Report;
use super::state::{Tuned, Tuning};
use crate::bench::Case;
use crate::doctor::{Check, Speed};
use fiedler::Adapter;
use fiedler::ops::eigen::device_order_limit;
use fiedler::policy::{Choice, Side};
use serde_json::{Value, json};

pub(super) fn of(report: &Report) -> Value {
    let pool = report.ctx.pool();
    let turns = |(n, batch): &(usize, Option<usize>)| json!({"operation": "eigh", "n": n, "gpu_from_batch": batch});
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "cpu_threads": report.ctx.threads(),
        "adapters": report.adapters.iter().map(adapter).collect::<Vec<_>>(),
        "chosen": report.ctx.adapter().map(|a| &a.name),
        "without_adapter": report.without,
        "notes": report.notes,
        "memory_budget": report.ctx.memory_budget(),
        "device_memory": {"in_use": pool.in_use, "allocated": pool.allocated, "peak": pool.peak},
        "stored_results": report.stored,
        "tuning": report.tuned.iter().map(tuned).collect::<Vec<_>>(),
        "largest_order_on_device": device_order_limit(&report.ctx),
        "choices": report.choices.iter().map(choice).collect::<Vec<_>>(),
        "turns_at": report.turns.iter().map(turns).collect::<Vec<_>>(),
        "checks": report.tried.checks.iter().map(check).collect::<Vec<_>>(),
        "speed": report.tried.speed.iter().map(speed).collect::<Vec<_>>(),
        "problems": report.problems.iter().map(problem).collect::<Vec<_>>(),
        "advice": advice(report),
        "ok": report.problems.is_empty(),
    })
}

fn problem(problem: &Problem) -> Value {
    json!({"what": problem.what, "what_to_do": problem.remedy})
}

fn tuned(tuned: &Tuned) -> Value {
    let of = &tuned.of;
    match &tuned.state {
        Tuning::Holds { date, file } => json!({"of": of, "state": "measured", "date": date, "file": file}),
        Tuning::Ignored(why) => json!({"of": of, "state": "ignored", "why": why}),
        Tuning::Nothing => json!({"of": of, "state": "none"}),
    }
}

fn choice((case, choice): &(Case, Choice)) -> Value {
    json!({
        "workload": case.to_string(), "side": if choice.side == Side::Cpu { "cpu" } else { "gpu" },
        "cpu_s": choice.cpu_seconds, "gpu_s": Some(choice.gpu_seconds).filter(|s| s.is_finite()), "reason": choice.to_string(),
    })
}

pub(in crate::commands) fn check(check: &Check) -> Value {
    json!({
        "family": check.family, "what": check.what, "on": check.on, "ok": check.ok(), "error": check.found,
        "promised": check.allowed, "problem": check.problem,
    })
}

pub(in crate::commands) fn speed(speed: &Speed) -> Value {
    let found = &speed.found;
    let expected = speed.expected.as_ref().map(|e| {
        json!({
            "class": e.class, "copy_bytes_per_s": e.copy, "fma_flop_per_s": e.fma, "call_s": e.call, "source": e.source,
        })
    });
    json!({
        "on": speed.on, "copy_bytes_per_s": found.copy, "fma_flop_per_s": found.fma, "call_s": found.call,
        "class_gives": expected, "far_below": speed.far_below(),
    })
}

pub(in crate::commands) fn adapter(a: &Adapter) -> Value {
    json!({
        "name": a.name, "index": a.index, "pci": a.pci, "backend": a.backend, "driver": a.driver, "class": a.class, "software": a.software,
        "subgroup_size": a.subgroup_size, "features": a.features, "loop_budget": a.loop_budget,
        "workgroup_storage": a.limits.workgroup_storage, "workgroup_invocations": a.limits.workgroup_invocations,
        "workgroups_per_dimension": a.limits.workgroups_per_dimension, "storage_binding": a.limits.storage_binding,
        "buffer": a.limits.buffer, "storage_buffers": a.limits.storage_buffers,
    })
}
