//! `fiedler doctor`: the adapters of this machine, what they offer, what would be chosen and why.

use super::{Failure, Outcome, Where, print};
use clap::Args;
use comfy_table::Table;
use fiedler::cache::Cache;
use fiedler::ops::eigen::{choose_eigh, device_order_limit};
use fiedler::{Adapter, Context};

/// Show the adapters of this machine, what they offer, and what would be chosen.
#[derive(Debug, Args)]
pub(super) struct Doctor {
    #[command(flatten)]
    place: Where,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Workloads that show where the choice turns: order and batch.
const SAMPLES: [(u32, usize); 6] = [(8, 100), (8, 100_000), (32, 100), (32, 10_000), (100, 1000), (1000, 1)];

impl Doctor {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        let adapters = Adapter::all();
        let ctx = self.place.context()?;
        let stored = Cache::new().user_disk().map_err(|error| Failure::Call(error.to_string()))?.folder();
        let choices = SAMPLES.map(|(n, batch)| (n, batch, choose_eigh::<f32>(&ctx, &vec![n; batch], false)));
        if self.json {
            let choices = choices.map(|(n, batch, choice)| {
                serde_json::json!({"operation": "eigh", "n": n, "batch": batch, "choice": choice.to_string()})
            });
            print(serde_json::json!({
                "version": env!("CARGO_PKG_VERSION"),
                "cpu_threads": std::thread::available_parallelism().map_or(1, usize::from),
                "adapters": adapters.iter().map(as_json).collect::<Vec<_>>(),
                "chosen": ctx.adapter().map(|a| &a.name),
                "without_adapter": ctx.without_adapter_because(),
                "memory_budget": ctx.memory_budget(),
                "stored_results": stored,
                "largest_order_on_device": device_order_limit(&ctx),
                "choices": choices.to_vec(),
                "advice": advice(&adapters, &ctx),
            }));
            return Ok(Outcome::Done);
        }
        print(adapter_table(&adapters));
        match ctx.adapter() {
            Some(a) => print(format_args!("chosen: {} ({})", a.name, a.backend)),
            None => print(format_args!("chosen: the CPU alone; {}", ctx.without_adapter_because().unwrap_or_default())),
        }
        print(format_args!("memory budget: {} MiB (FIEDLER_MEMORY_BUDGET)", ctx.memory_budget() >> 20));
        if let Some(adapter) = ctx.adapter() {
            print(format_args!("eigh on {}: matrices up to n = {}", adapter.name, device_order_limit(&ctx)));
        }
        match &stored {
            Some(folder) => print(format_args!("stored results: {} (FIEDLER_CACHE_DIR)", folder.display())),
            None => print("stored results: none"),
        }
        print("what would run where:");
        for (n, batch, choice) in choices {
            print(format_args!("  eigh/f32/n={n}/batch={batch}: {choice}"));
        }
        for line in advice(&adapters, &ctx) {
            print(format_args!("advice: {line}"));
        }
        Ok(Outcome::Done)
    }
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

fn as_json(a: &Adapter) -> serde_json::Value {
    serde_json::json!({
        "name": a.name, "backend": a.backend, "driver": a.driver, "class": a.class, "software": a.software,
        "subgroup_size": a.subgroup_size, "features": a.features, "loop_budget": a.loop_budget,
        "workgroup_storage": a.limits.workgroup_storage, "workgroup_invocations": a.limits.workgroup_invocations,
        "workgroups_per_dimension": a.limits.workgroups_per_dimension, "storage_binding": a.limits.storage_binding,
        "buffer": a.limits.buffer, "storage_buffers": a.limits.storage_buffers,
    })
}

/// What a person could do.
fn advice(adapters: &[Adapter], ctx: &Context) -> Vec<String> {
    let mut lines = Vec::new();
    let hardware = adapters.iter().any(|a| !a.software);
    if adapters.is_empty() {
        lines.push(
            "no adapter shows itself: install a Vulkan loader and your GPU's driver (Debian: libvulkan1, and \
             mesa-vulkan-drivers or nvidia-driver); on macOS and Windows the system's own serve"
                .to_owned(),
        );
    } else if !hardware {
        lines.push(
            "only software adapters show themselves; they are for tests (`--backend gpu --adapter NAME`), the CPU backend is \
             faster. If this machine has a GPU, install its Vulkan driver (Debian: mesa-vulkan-drivers or nvidia-driver)"
                .to_owned(),
        );
    }
    if let Some(a) = ctx.adapter() {
        if !a.features.contains(&"timestamps") {
            lines.push(format!("{} has no timestamps: device time is not measured on it", a.name));
        }
        if ctx.memory_budget() < a.limits.storage_binding {
            lines.push("the memory budget is below one binding of the adapter: large batches are cut small".to_owned());
        }
    }
    lines
}
