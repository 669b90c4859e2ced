//! The same as one JSON object.

use super::report::Report;
use fiedler::Adapter;
use fiedler::doctor::{Check, Speed};
use fiedler::ops::eigen::device_order_limit;
use serde_json::{Value, json};

pub(super) fn of(report: &Report) -> Value {
    let choices: Vec<Value> = report
        .choices
        .iter()
        .map(|(n, batch, choice)| json!({"operation": "eigh", "n": n, "batch": batch, "choice": choice.to_string()}))
        .collect();
    let pool = report.ctx.pool();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "cpu_threads": std::thread::available_parallelism().map_or(1, usize::from),
        "adapters": report.adapters.iter().map(adapter).collect::<Vec<_>>(),
        "chosen": report.ctx.adapter().map(|a| &a.name),
        "without_adapter": report.ctx.without_adapter_because(),
        "notes": report.hidden,
        "memory_budget": report.ctx.memory_budget(),
        "device_memory": {"in_use": pool.in_use, "allocated": pool.allocated, "peak": pool.peak},
        "stored_results": report.stored,
        "largest_order_on_device": device_order_limit(&report.ctx),
        "choices": choices,
        "checks": report.tried.checks.iter().map(check).collect::<Vec<_>>(),
        "speed": report.tried.speed.iter().map(speed).collect::<Vec<_>>(),
        "problems": report.problems,
        "advice": report.advice,
        "ok": report.problems.is_empty(),
    })
}

fn check(check: &Check) -> Value {
    json!({
        "family": check.family, "what": check.what, "on": check.on, "ok": check.ok(), "error": check.found,
        "promised": check.allowed, "problem": check.problem,
    })
}

fn speed(speed: &Speed) -> Value {
    let found = &speed.found;
    let expected = speed.expected.as_ref().map(|e| {
        json!({
            "class": e.class, "copy_bytes_per_s": e.copy, "fma_flop_per_s": e.fma, "call_ms": e.call * 1e3, "source": e.source,
        })
    });
    json!({
        "on": speed.on, "copy_bytes_per_s": found.copy, "fma_flop_per_s": found.fma, "call_ms": found.call * 1e3,
        "class_gives": expected, "far_below": speed.far_below(),
    })
}

fn adapter(a: &Adapter) -> Value {
    json!({
        "name": a.name, "backend": a.backend, "driver": a.driver, "class": a.class, "software": a.software,
        "subgroup_size": a.subgroup_size, "features": a.features, "loop_budget": a.loop_budget,
        "workgroup_storage": a.limits.workgroup_storage, "workgroup_invocations": a.limits.workgroup_invocations,
        "workgroups_per_dimension": a.limits.workgroups_per_dimension, "storage_binding": a.limits.storage_binding,
        "buffer": a.limits.buffer, "storage_buffers": a.limits.storage_buffers,
    })
}
