//! The steps of a report card, which run in processes of their own and tell in JSON lines what they do: `{"of": COUNT}`
//! items, `{"doing": ITEM}` before each, `{"row": ...}` with its result or `{"failed": WHY}`, then `{"done": true}`, or
//! `{"error": WHY}` if the process cannot go on.

use super::fault;
use super::work::{Speed, Work, cases, trainings};
use crate::bench::{Larger, TuneOptions, check, drawn, on_device, tune};
use crate::commands::doctor::{hidden, json};
use crate::commands::{Failure, Outcome, Where};
use crate::doctor::{speed, trials};
use fiedler::forms::{KernelForm, MatmulForm};
use fiedler::ops::variants::KernelVariant;
use fiedler::policy::{Backend, Machine, Side};
use fiedler::{Adapter, Context, Error, ErrorKind};
use serde_json::{Value, json};
use std::io::Write as _;
use std::time::Duration;

/// The largest number of operations of a workload whose result is checked, on a GPU and elsewhere.
const CHECKED: [f64; 2] = [3e9, 2e7];

/// What the process of a step was given.
pub(super) struct Given<'a> {
    pub(super) place: &'a Where,
    pub(super) seed: u64,
    /// The time of the process.
    pub(super) time: Duration,
    /// The number of items that earlier processes have begun.
    pub(super) skip: usize,
    /// For the step `cpu`, the workloads that it measures, or none for all. For `kernels`, which part of the variants
    /// this process compiles, and of how many.
    pub(super) words: &'a [String],
}

/// Tells one line. If no process listens any more, this one ends.
fn tell(line: &Value) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}

/// The items of a step, of which the first ones may be skipped.
struct Items {
    at: usize,
    skip: usize,
}

impl Items {
    /// Does an item, unless an earlier process did, and tells its row, if it has one.
    ///
    /// # Errors
    /// Those after which this process cannot go on.
    fn item(&mut self, name: &str, work: impl FnOnce() -> Result<Value, Error>) -> Result<(), Error> {
        self.at += 1;
        if self.at <= self.skip {
            return Ok(());
        }
        tell(&json!({"doing": name}));
        match fault::befall(name).and_then(|()| work()) {
            Ok(row) => {
                let wrong = wrong(&row);
                if !row.is_null() {
                    tell(&json!({"row": row}));
                }
                if let Some(why) = wrong {
                    tell(&json!({"failed": why}));
                }
                Ok(())
            }
            Err(error) => {
                tell(&json!({"failed": error.to_string()}));
                // What the driver refuses to compile may have lost the device.
                let ends =
                    error.is_device() || error.is_cancelled() || matches!(error.kind(), ErrorKind::Kernel { .. });
                if ends { Err(error) } else { Ok(()) }
            }
        }
    }
}

/// Returns what is wrong with a result. An infinite error is `null` in JSON.
fn wrong(row: &Value) -> Option<String> {
    let error = row.get("error_share").map(|error| error.as_f64().unwrap_or(f64::INFINITY)).filter(|&e| e > 1.0);
    let error = error.map(|error| format!("wrong result: its error is {error:.2} times the promised bound"));
    error.or_else(|| row["problem"].as_str().map(str::to_owned))
}

/// Runs a step.
pub(super) fn run(step: &str, given: &Given<'_>) -> Result<Outcome, Failure> {
    let mut items = Items { at: 0, skip: given.skip };
    let done = match step {
        "facts" => given.facts(&mut items),
        "self-test" => given.self_test(&mut items),
        "accuracy" => given.accuracy(&mut items),
        "kernels" => given.kernels(&mut items),
        "tune" => given.tune(&mut items),
        "rows" => given.rows(&mut items),
        "training" => given.training(&mut items),
        "encode" => given.encode(&mut items),
        "cpu" => given.cpu(&mut items),
        _ => Err(Failure::Call(format!("--card-step: found `{step}`"))),
    };
    match &done {
        Ok(()) => tell(&json!({"done": true})),
        Err(Failure::Failed(error)) => tell(&json!({"error": error.to_string()})),
        Err(Failure::Call(why) | Failure::Said(why)) => tell(&json!({"error": why})),
    }
    done.map(|()| Outcome::Done)
}

impl Given<'_> {
    /// Opens the context of a step. It predicts by the static model, whatever this machine has stored.
    fn context(&self) -> Result<Context, Failure> {
        self.place.with(Context::builder().tuned(false))
    }

    /// Opens the context of a step that needs an adapter.
    fn device(&self) -> Result<(Context, Adapter), Failure> {
        let ctx = self.context()?;
        match ctx.adapter().cloned() {
            Some(adapter) => Ok((ctx.with_backend(Backend::Gpu), adapter)),
            None => Err(Failure::Said(ctx.without_adapter_because().unwrap_or("there is no adapter").to_owned())),
        }
    }

    /// Opens the context of a step on the CPU alone.
    fn cpu_context(&self) -> Result<Context, Failure> {
        let place = Where { backend: Some(Backend::Cpu), adapter: None, ..self.place.clone() };
        place.with(Context::builder().tuned(false))
    }

    fn facts(&self, items: &mut Items) -> Result<(), Failure> {
        let machine = Machine::cpu(self.cpu_context()?.threads());
        items.item("the machine", || {
            let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
            Ok(json!({"machine": {
                "cpu": machine.driver, "threads": machine.threads, "memory_bytes": memory(), "system": system,
            }}))
        })?;
        items.item("the adapters", || {
            let adapters = Adapter::all();
            let ctx = self.context().map_err(|failure| match failure {
                Failure::Failed(error) => error,
                Failure::Call(why) | Failure::Said(why) => Error::domain("adapter", why),
            })?;
            let notes = hidden(&adapters, ctx.adapter(), self.place.adapter().as_deref(), self.place.backend());
            Ok(json!({
                "adapter": ctx.adapter().map(json::adapter), "without_adapter": ctx.without_adapter_because(),
                "adapters": adapters.iter().map(|adapter| &adapter.name).collect::<Vec<_>>(), "notes": notes,
            }))
        })?;
        Ok(())
    }

    fn self_test(&self, items: &mut Items) -> Result<(), Failure> {
        let ctx = self.context()?;
        let cpu = (Backend::Cpu, "cpu".to_owned());
        let sides: Vec<_> = ctx.adapter().map(|a| (Backend::Gpu, a.name.clone())).into_iter().chain([cpu]).collect();
        let trials = trials();
        tell(&json!({"of": sides.len() * trials.len() + 1}));
        for (backend, on) in sides {
            let ctx = ctx.with_backend(backend);
            for trial in &trials {
                items.item(&format!("{trial} on {on}"), || Ok(json::check(&trial.on(&ctx, &on))))?;
            }
        }
        let rates = || Ok(json!({"speed": speed(&ctx)?.iter().map(json::speed).collect::<Vec<_>>()}));
        items.item("copies, multiply-adds and small calls", rates)?;
        Ok(())
    }

    fn accuracy(&self, items: &mut Items) -> Result<(), Failure> {
        let ctx = self.context()?;
        let side = if ctx.adapter().is_some() { Side::Gpu } else { Side::Cpu };
        let on = ctx.adapter().map_or("CPU", |adapter| &adapter.name);
        let mut cases = drawn(self.seed, CHECKED[usize::from(ctx.adapter().is_none_or(|adapter| adapter.software))])?;
        cases.retain(|case| side == Side::Cpu || on_device(case, &ctx));
        tell(&json!({"of": cases.len()}));
        for case in cases {
            items.item(&format!("{case} of seed {}", case.seed), || {
                let error = check(&case, &ctx, side)?;
                Ok(json!({"workload": case.to_string(), "device": on, "seed": case.seed, "error_share": error}))
            })?;
        }
        Ok(())
    }

    fn kernels(&self, items: &mut Items) -> Result<(), Failure> {
        let (mut ctx, adapter) = self.device()?;
        if adapter.features.contains(&"matrix-units") {
            // Their kernels are compiled only if they are named.
            let named = Context::builder().tuned(false).kernels(&[KernelForm::Matmul(MatmulForm::Cooperative)]);
            ctx = self.place.with(named)?;
        }
        let adapter = ctx.adapter().unwrap_or(&adapter);
        let number = |at: usize| self.words.get(at).and_then(|word| word.parse::<usize>().ok());
        let (part, parts) = (number(0).unwrap_or(0), number(1).unwrap_or(1).max(1));
        let given = KernelVariant::all().into_iter().filter(|variant| variant.is_for(adapter));
        let variants: Vec<KernelVariant> = given.skip(part).step_by(parts).collect();
        tell(&json!({"of": variants.len()}));
        for variant in variants {
            let name = variant.to_string();
            items.item(&name, || {
                let begun = std::time::Instant::now();
                match variant.compile(&ctx) {
                    Ok(()) => Ok(json!({"variant": name, "ms": 1e3 * begun.elapsed().as_secs_f64()})),
                    Err(error) if matches!(error.kind(), ErrorKind::Limit { .. }) => {
                        Ok(json!({"variant": name, "unused": error.to_string()}))
                    }
                    Err(error) => Err(error),
                }
            })?;
        }
        Ok(())
    }

    fn tune(&self, items: &mut Items) -> Result<(), Failure> {
        let ctx = self.context()?;
        // The curves end with a size that was begun before the time was up.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "minutes at most")]
        let options = TuneOptions { seconds: (0.6 * self.time.as_secs_f64()) as u64, ..TuneOptions::default() };
        items.item("rates", || {
            let rates = tune(&ctx, options, |progress| tell(&json!({"doing": progress.what})))?;
            Ok(serde_json::from_str(&rates.to_json()).unwrap_or_default())
        })?;
        Ok(())
    }

    fn rows(&self, items: &mut Items) -> Result<(), Failure> {
        let (ctx, adapter) = self.device()?;
        self.measured(items, &ctx, Side::Gpu, cases(Speed::of(&adapter)))
    }

    fn training(&self, items: &mut Items) -> Result<(), Failure> {
        let (ctx, adapter) = self.device()?;
        self.measured(items, &ctx, Side::Gpu, trainings(Speed::of(&adapter)))
    }

    fn encode(&self, items: &mut Items) -> Result<(), Failure> {
        let (ctx, _) = self.device()?;
        self.measured(items, &ctx, Side::Gpu, Larger::ENCODINGS.map(Work::Set).to_vec())
    }

    fn cpu(&self, items: &mut Items) -> Result<(), Failure> {
        let named = self.words.iter().filter_map(|name| Work::parse(name)).collect();
        let works = if self.words.is_empty() { Work::of_the_cpu() } else { named };
        self.measured(items, &self.cpu_context()?, Side::Cpu, works)
    }

    fn measured(&self, items: &mut Items, ctx: &Context, side: Side, mut works: Vec<Work>) -> Result<(), Failure> {
        works.retain(|work| match work {
            Work::Case(case) => side == Side::Cpu || on_device(case, ctx),
            Work::Set(_) => true,
        });
        tell(&json!({"of": works.len()}));
        // Contexts of one device share its kernels.
        let profiled = match side {
            Side::Gpu => {
                Some(Context::builder().tuned(false).backend(Backend::Gpu).device_of(ctx).profile(true).build()?)
            }
            Side::Cpu => None,
        };
        // A set that was measured before has the size that fitted then.
        let time = self.words.is_empty().then(|| self.time / 4);
        for work in works {
            items.item(&work.to_string(), || work.measured(ctx, side, profiled.as_ref(), time))?;
        }
        Ok(())
    }
}

/// Returns the bytes of this machine's memory, where the system says it in a file.
fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}
