//! `fiedler explain`: shows where a workload would run, the predicted times, and the reason for the choice.

use super::features::Computed;
use super::train::{Described, Network, Precision};
use super::{Failure, Outcome, Where, print};
use crate::bench::page::seconds as time;
use crate::bench::{Case, turning_point};
use clap::{Args, ValueEnum as _};
use fiedler::policy::{Choice, Side};
use fiedler::train::Memory;
use fiedler::{Context, Error};

/// Say where a workload would run, how long it would take, and why.
#[derive(Debug, Args)]
#[command(
    after_help = "Workloads: eigh, eigvalsh, svd, fft, rfft, gemm, laplacian, describe n= batch=; cov cols= rows=; \
spmm nodes= edges= k=; eigsh grid= k=; encode nodes= graphs= k=; features n= (or rows= columns=) samples= \
representations=; train net= runs= precision=, or train with options that describe a network. The names that benchmarks print are accepted too: \
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
    #[command(flatten)]
    network: Network,
}

impl Explain {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        let words = self.workload.join(" ");
        let parse = |words: &str| Case::parse(words).map_err(|error| Failure::Call(error.to_string()));
        let case = match (self.network.described()?, in_precision(&words)?) {
            (Some(_), _) if words != "train" => {
                return Err(Failure::Call(format!("--inputs: expected the workload train, found {words}")));
            }
            (Some(training), _) => Work::Training(Box::new(training)),
            (None, Some((words, precision))) => {
                Work::Training(Box::new(Described::of_case(&parse(&words)?, precision)?))
            }
            (None, None) => match Computed::parse(&words)? {
                Some(features) => Work::Features(Box::new(features)),
                None => Work::Case(parse(&words)?),
            },
        };
        let ctx = self.place.context()?;
        let choice = case.choose(&ctx, case.items(), self.resident)?;
        let turns = case.turns_at(&ctx, self.resident)?;
        let memory = case.memory(&ctx)?;
        if self.json {
            print(as_json(&case, &ctx, &choice, (turns, memory)));
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
        if let Some(memory) = memory {
            print(format_args!("  {}", in_words(&memory)));
        }
        print(format_args!("  {}", change(&case, &choice, turns)));
        Ok(Outcome::Done)
    }
}

/// What is explained.
enum Work {
    Case(Case),
    Training(Box<Described>),
    Features(Box<Computed>),
}

/// The largest number of runs or samples that [`Work::turns_at`] tries.
const MOST: usize = 1 << 20;

impl Work {
    fn choose(&self, ctx: &Context, items: usize, resident: bool) -> Result<Choice, Error> {
        match self {
            Self::Case(case) => Ok(Case { items, ..*case }.choose(ctx, resident)),
            Self::Training(training) => training.choose(ctx, items),
            Self::Features(features) => features.choose(ctx, items),
        }
    }

    fn items(&self) -> usize {
        match self {
            Self::Case(case) => case.items,
            Self::Training(training) => training.runs,
            Self::Features(features) => features.samples,
        }
    }

    fn items_are(&self) -> &'static str {
        match self {
            Self::Case(case) => case.items_are(),
            Self::Training(_) => "runs",
            Self::Features(_) => "samples",
        }
    }

    /// See [`Case::turns_at`].
    fn turns_at(&self, ctx: &Context, resident: bool) -> Result<Option<(usize, Side)>, Error> {
        match self {
            Self::Case(case) => Ok(case.turns_at(ctx, resident)),
            Self::Training(_) | Self::Features(_) => {
                turning_point(self.items(), MOST, |items| self.choose(ctx, items, resident).map(|choice| choice.side))
            }
        }
    }

    fn memory(&self, ctx: &Context) -> Result<Option<Memory>, Error> {
        match self {
            Self::Case(_) | Self::Features(_) => Ok(None),
            Self::Training(training) => training.memory(ctx).map(Some),
        }
    }
}

impl std::fmt::Display for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Case(case) => case.fmt(f),
            Self::Training(training) => training.fmt(f),
            Self::Features(features) => features.fmt(f),
        }
    }
}

/// Returns the workload without its word `precision=`, and the precision, if it has that word.
fn in_precision(words: &str) -> Result<Option<(String, Precision)>, Failure> {
    let (own, others): (Vec<&str>, Vec<&str>) =
        words.split(['/', ' ']).filter(|word| !word.is_empty()).partition(|word| word.starts_with("precision="));
    let Some(name) = own.last().and_then(|word| word.strip_prefix("precision=")) else { return Ok(None) };
    match Precision::from_str(name, false) {
        Ok(precision) => Ok(Some((others.join(" "), precision))),
        Err(_) => {
            Err(Failure::Call(format!("workload: expected precision= one of f32, f64, f16, bf16, found `{name}`")))
        }
    }
}

/// Describes the memory of a training.
fn in_words(memory: &Memory) -> String {
    let mb = |bytes: u64| format!("{:.3} MB", bytes as f64 / 1e6);
    let device = match (memory.device, &memory.refused) {
        (Some(device), _) => {
            let (data, run, together) = (mb(device.data), mb(device.of_run), device.together);
            format!("; on the device {data} and {run} a run, at most {together} runs at the same time")
        }
        (None, Some(why)) => format!("; not on the device: {why}"),
        (None, None) => String::new(),
    };
    let groups = match memory.groups {
        1 => String::new(),
        groups => format!("; the samples are read in {groups} groups, of which two are in memory"),
    };
    format!("memory: {} on the host{device}{groups}", mb(memory.host))
}

/// Describes what would change the choice.
fn change(case: &Work, choice: &Choice, turns: Option<(usize, Side)>) -> String {
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
        (Reason::NotMeasured, _) => "`fiedler tune` measures trainings on this GPU; then there is a choice".to_owned(),
        (Reason::BeyondKernels | Reason::CannotWait, _) => "with a smaller workload there would be a choice".to_owned(),
        (_, Some((items, side))) => {
            let way = if items > case.items() { "more" } else { "less" };
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

/// Where the choice turns, and the memory if it is known.
type Told = (Option<(usize, Side)>, Option<Memory>);

fn as_json(case: &Work, ctx: &Context, choice: &Choice, (turns, memory): Told) -> serde_json::Value {
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
        "memory": memory.map(|memory| serde_json::json!({
            "row_groups": memory.groups,
            "host": memory.host,
            "refused": memory.refused,
            "device": memory.device.map(|device| serde_json::json!({
                "data": device.data, "run": device.of_run, "runs_together": device.together,
            })),
        })),
    })
}
