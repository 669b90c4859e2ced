//! `fiedler explain`: shows where a workload would run, the predicted times, and the reason for the choice.

use super::{Failure, Outcome, Where, print};
use crate::bench::Case;
use crate::bench::page::seconds as time;
use clap::Args;
use fiedler::Context;
use fiedler::policy::{Choice, Side};

/// Say where a workload would run, how long it would take, and why.
#[derive(Debug, Args)]
#[command(
    after_help = "Workloads: eigh, eigvalsh, svd, fft, rfft, gemm, laplacian, describe n= batch=; cov cols= rows=; \
spmm nodes= edges= k=; eigsh grid= k=; encode nodes= graphs= k=. The names that benchmarks print are accepted too: \
eigh/f32/n=32/batch=10000."
)]
pub(super) struct Explain {
    /// The operation and its sizes: eigh n=32 batch=1000.
    #[arg(required = true, value_name = "WORKLOAD")]
    workload: Vec<String>,
    /// Assume that the data is already on the device.
    #[arg(long)]
    resident: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Where,
}

impl Explain {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        let case = Case::parse(&self.workload.join(" ")).map_err(|error| Failure::Call(error.to_string()))?;
        let ctx = self.place.context()?;
        let choice = case.choose(&ctx, self.resident);
        let turns = case.turns_at(&ctx, self.resident);
        if self.json {
            print(as_json(&case, &ctx, &choice, turns));
            return Ok(Outcome::Done);
        }
        let adapter = ctx.adapter().map_or("no adapter", |a| &a.name);
        let rates = &ctx.policy().rates;
        print(format_args!("{case}: {choice}"));
        print(format_args!(
            "  CPU, {} threads{}: {}; {}",
            rates.cpu.threads,
            named(choice.workload.algorithms[0]),
            time(choice.cpu_seconds),
            of(choice.measured[0])
        ));
        if choice.gpu_seconds.is_finite() {
            let work = &choice.workload;
            let moved = rates.gpu.transfers(work);
            print(format_args!(
                "  {adapter}{}: {}, including {} for transfers and about {} for {} and the round trip; {}",
                named(work.algorithms[1]),
                time(choice.gpu_seconds),
                time(moved),
                time(rates.gpu.launches(work).min(choice.gpu_seconds - moved)),
                if work.dispatches == 1.0 {
                    "one dispatch".to_owned()
                } else {
                    format!("{} dispatches", work.dispatches)
                },
                of(choice.measured[1])
            ));
        } else {
            print(format_args!("  {adapter}{}", if ctx.adapter().is_some() { ": cannot compute it" } else { "" }));
        }
        if choice.first_seconds > 0.0 {
            print(format_args!("  the first call in a program takes {} longer", time(choice.first_seconds)));
        }
        if choice.gpu_seconds.is_finite() {
            print(format_args!("  margin: the other side takes {:.2} times as long", choice.margin()));
        }
        print(format_args!("  {}", change(&case, &choice, turns)));
        Ok(Outcome::Done)
    }
}

/// Describes what would change the choice.
fn change(case: &Case, choice: &Choice, turns: Option<(usize, Side)>) -> String {
    use fiedler::policy::Reason;
    match (choice.reason, turns) {
        (Reason::Asked, _) => "the call asks for this side; with --backend auto the cost model chooses".to_owned(),
        (Reason::NoAdapter | Reason::NotWorthOpening, _) => {
            "with a GPU there would be a choice; `fiedler doctor` lists the adapters".to_owned()
        }
        (Reason::SoftwareAdapter, _) => {
            "with a GPU there would be a choice; FIEDLER_SOFTWARE_AS_GPU=1 weighs this adapter as if it were one"
                .to_owned()
        }
        (Reason::BeyondKernels, _) => "with a smaller workload there would be a choice".to_owned(),
        (_, Some((items, side))) => {
            let way = if items > case.items { "more" } else { "less" };
            let side = if side == Side::Gpu { "the GPU" } else { "the CPU" };
            format!("{side} would be chosen at about {}={items} or {way}", case.items_are())
        }
        (_, None) if case.items_are().is_empty() => "this workload has no number of items to vary".to_owned(),
        (_, None) => format!("the choice is the same at every {} tried, up to four million", case.items_are()),
    }
}

/// Returns the algorithm's name in parentheses, if it has a name.
fn named(algorithm: &str) -> String {
    if algorithm.is_empty() { String::new() } else { format!(" ({algorithm})") }
}

fn of(measured: bool) -> &'static str {
    if measured { "measured on this machine" } else { "from defaults (`fiedler tune` measures this machine)" }
}

fn as_json(case: &Case, ctx: &Context, choice: &Choice, turns: Option<(usize, Side)>) -> serde_json::Value {
    let side = |side: Side| if side == Side::Cpu { "cpu" } else { "gpu" };
    serde_json::json!({
        "workload": case.to_string(),
        "side": side(choice.side),
        "algorithms": {"cpu": choice.workload.algorithms[0], "gpu": choice.workload.algorithms[1]},
        "adapter": ctx.adapter().map(|a| &a.name),
        "cpu_s": choice.cpu_seconds,
        "gpu_s": Some(choice.gpu_seconds).filter(|s| s.is_finite()),
        "first_call_s": choice.first_seconds,
        "margin": Some(choice.margin()).filter(|m| m.is_finite()),
        "reason": choice.to_string(),
        "measured": {"cpu": choice.measured[0], "gpu": choice.measured[1]},
        "turns_at": turns.map(|(items, to)| serde_json::json!({"items": items, "side": side(to)})),
    })
}
