//! `fiedler doctor --compile`: compiles every variant of every kernel on the adapter.

use crate::commands::{Failure, Outcome, print};
use fiedler::ops::variants::KernelVariant;
use fiedler::{Context, ErrorKind};
use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::env;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::time::{Duration, Instant};

/// The environment variable that names a file to which a Vulkan layer appends pipeline statistics. If the variable is
/// set, the command appends two lines before each pipeline, with the variant's name and with its budget, and a line
/// with the outcome after each pipeline.
const STATISTICS: &str = "ISA_OUT";

/// The results for the variants of one family.
#[derive(Debug, Default)]
struct Family {
    name: &'static str,
    compiled: usize,
    /// The number of variants that no call uses on this adapter.
    unused: usize,
    refused: Vec<Refused>,
    time: Duration,
    /// The time of the slowest compilation and the name of its variant.
    slowest: (Duration, String),
}

#[derive(Debug)]
struct Refused {
    variant: String,
    why: String,
}

/// Compiles all variants whose names contain `words`. `open` opens a context. It is called again after each refused
/// variant, because the refusal may have lost the device.
pub(super) fn run(words: &str, open: &dyn Fn() -> Result<Context, Failure>, as_json: bool) -> Result<Outcome, Failure> {
    let mut variants = KernelVariant::all();
    variants.retain(|variant| variant.to_string().contains(words));
    if variants.is_empty() {
        return Err(Failure::Call(format!("--compile {words}: no kernel variant has this in its name")));
    }
    let mut ctx = open()?;
    let Some(adapter) = ctx.adapter().map(|adapter| adapter.name.clone()) else {
        let why = ctx.without_adapter_because().unwrap_or("--backend gpu looks for one").to_owned();
        return Err(Failure::Said(format!("doctor --compile: there is no adapter to compile on: {why}")));
    };
    let mut statistics = statistics()?;
    let bar = ProgressBar::new(variants.len() as u64).with_message("compiling every kernel");
    let mut families: Vec<Family> = Vec::new();
    for variant in &variants {
        if families.last().is_none_or(|family| family.name != variant.family()) {
            families.push(Family { name: variant.family(), ..Family::default() });
        }
        let Some(family) = families.last_mut() else { continue };
        bar.inc(1);
        if ctx.adapter().is_some_and(|adapter| !variant.is_for(adapter)) {
            family.unused += 1;
            continue;
        }
        let name = variant.to_string();
        statistics.line(&format!("KERNEL {name}"))?;
        statistics.line(&format!("BUDGET {}", variant.budget()))?;
        let began = Instant::now();
        let result = variant.compile(&ctx);
        let time = began.elapsed();
        family.time += time;
        match result {
            Ok(()) => {
                statistics.line(&format!("END OK {:.1} ms", 1e3 * time.as_secs_f64()))?;
                family.compiled += 1;
                if time > family.slowest.0 {
                    family.slowest = (time, name);
                }
            }
            Err(error) if error.is_cancelled() => return Err(error.into()),
            Err(error) => {
                let why = error.to_string().replace('\n', " ");
                if matches!(error.kind(), ErrorKind::Limit { .. }) {
                    statistics.line(&format!("END UNUSED {why}"))?;
                    family.unused += 1;
                } else {
                    statistics.line(&format!("END REFUSED {why}"))?;
                    family.refused.push(Refused { variant: name, why });
                    ctx = open()?;
                }
            }
        }
    }
    bar.finish_and_clear();
    if as_json {
        print(in_json(&adapter, &families));
    } else {
        print(in_text(&adapter, &families));
    }
    match families.iter().map(|family| family.refused.len()).sum() {
        0 => Ok(Outcome::Done),
        1_usize => Err(Failure::Said("doctor --compile: one variant was refused".to_owned())),
        many => Err(Failure::Said(format!("doctor --compile: {many} variants were refused"))),
    }
}

/// The file for the lines before and after each pipeline; `None` if [`STATISTICS`] is not set.
struct Statistics(Option<File>);

fn statistics() -> Result<Statistics, Failure> {
    let Some(path) = env::var_os(STATISTICS).filter(|path| !path.is_empty()) else { return Ok(Statistics(None)) };
    // The file is opened for appending, because the layer appends to it too.
    let file = OpenOptions::new().create(true).append(true).open(&path).map_err(|error| unwritten(&error))?;
    Ok(Statistics(Some(file)))
}

fn unwritten(error: &std::io::Error) -> Failure {
    let path = env::var_os(STATISTICS).unwrap_or_default();
    Failure::Said(format!("doctor --compile: {STATISTICS}: cannot write {}: {error}", path.display()))
}

impl Statistics {
    fn line(&mut self, text: &str) -> Result<(), Failure> {
        let Some(file) = &mut self.0 else { return Ok(()) };
        file.write_all(format!("{text}\n").as_bytes()).map_err(|error| unwritten(&error))
    }
}

fn in_text(adapter: &str, families: &[Family]) -> String {
    let mut lines = vec![format!("every variant of every kernel, compiled on {adapter}"), String::new()];
    lines.push(format!("  {:12}{:>9}{:>11}{:>9}{:>10}  slowest", "family", "compiled", "unused", "refused", "seconds"));
    for family in families {
        let Family { name, compiled, unused, refused, time, slowest } = family;
        let slowest = format!("{:.2} s {}", slowest.0.as_secs_f64(), slowest.1);
        let (refused, seconds) = (refused.len(), time.as_secs_f64());
        lines.push(format!("  {name:12}{compiled:>9}{unused:>11}{refused:>9}{seconds:>10.1}  {slowest}"));
    }
    let all = |of: fn(&Family) -> usize| families.iter().map(of).sum::<usize>();
    lines.push(format!(
        "  {:12}{:>9}{:>11}{:>9}{:>10.1}",
        "all",
        all(|f| f.compiled),
        all(|f| f.unused),
        all(|f| f.refused.len()),
        families.iter().map(|f| f.time.as_secs_f64()).sum::<f64>()
    ));
    lines.extend([String::new(), "unused: for other adapters, or beyond the limits of this one".to_owned()]);
    for Refused { variant, why } in families.iter().flat_map(|family| &family.refused) {
        lines.push(format!("refused: {variant}: {why}"));
    }
    lines.join("\n")
}

fn in_json(adapter: &str, families: &[Family]) -> Value {
    let refused = |refused: &Refused| json!({"variant": refused.variant, "why": refused.why});
    let family = |family: &Family| {
        json!({
            "family": family.name,
            "compiled": family.compiled,
            "unused": family.unused,
            "refused": family.refused.iter().map(refused).collect::<Vec<_>>(),
            "seconds": family.time.as_secs_f64(),
            "slowest": {"variant": family.slowest.1, "seconds": family.slowest.0.as_secs_f64()},
        })
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "adapter": adapter,
        "families": families.iter().map(family).collect::<Vec<_>>(),
        "ok": families.iter().all(|family| family.refused.is_empty()),
    })
}

#[cfg(test)]
mod tests {
    use super::{Family, Refused, in_json, in_text};

    #[test]
    fn what_is_refused_has_a_line() {
        let refused = vec![Refused { variant: "fft Power ()".into(), why: "the driver's words".into() }];
        let families = [Family { name: "fft", compiled: 3, unused: 2, refused, ..Family::default() }];
        let text = in_text("an adapter", &families);
        assert!(text.contains("refused: fft Power (): the driver's words") && text.contains("on an adapter"), "{text}");
        let value = in_json("an adapter", &families);
        assert_eq!((&value["ok"], &value["families"][0]["compiled"]), (&false.into(), &3.into()), "{value}");
        assert_eq!(value["families"][0]["refused"][0]["variant"], "fft Power ()");
    }
}
