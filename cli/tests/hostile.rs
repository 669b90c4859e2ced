//! The problems of the self-test, which reach every family of kernels, on adapters that do whatever WGSL allows
//! (docs/adversary.md).
//!
//! `mutants` changes every kernel at every place where that should show, and counts the mutants that the problems find.
//! It takes long: `cargo test --test hostile -- --ignored --nocapture`.

use fiedler::ops::variants::KernelVariant;
use fiedler::{Backend, Context, WgpuDevice};
use fiedler_cli::doctor::{Trial, trials};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use wgpu_adversary::{Adversary, Finding, Kind, Mutation, Profile, naga};

/// What is found and does no harm: butterflies of transforms beyond the last read what was never written, and their
/// results are not stored.
fn is_known(finding: &Finding) -> bool {
    const TRANSFORMS: [&str; 3] = ["TwoTransforms", "TwoFromReal", "TwoToReal"];
    finding.kind == Kind::Uninitialized && TRANSFORMS.contains(&finding.kernel.as_str())
}

/// Opens a context on an adversary.
fn open(adversary: &Adversary) -> Context {
    let (adapter, device, queue) = adversary.open();
    let builder = Context::builder().backend(Backend::Gpu).tuned(false);
    builder.build_on(WgpuDevice { adapter, device, queue }).expect("a context")
}

/// Returns the WGSL of every kernel, by its label. Variants may have different texts.
fn sources() -> BTreeSet<(&'static str, String)> {
    KernelVariant::all().iter().map(KernelVariant::source).collect()
}

fn with_sources(adversary: Adversary) -> Adversary {
    sources().into_iter().fold(adversary, |adversary, (label, text)| adversary.source(label, text))
}

/// Runs a problem. Returns what is wrong, if anything is.
fn wrong(trial: &Trial, ctx: &Context, adversary: &Adversary) -> Option<String> {
    let check = trial.on(ctx, "the adversary");
    let findings = adversary.report().take();
    let first = findings.iter().find(|finding| !is_known(finding)).map(ToString::to_string);
    first.or(check.problem).map(|problem| format!("{trial}: {problem}"))
}

#[test]
fn nothing_is_found_on_any_profile() {
    let mut all = Vec::new();
    for (profile, seed) in [(Profile::with_subgroups(8), 1), (Profile::nvidia(), 2), (Profile::rdna(), 3)] {
        let began = Instant::now();
        let name = profile.name.clone();
        // Results of functions that are off by some units in the last place exceed some promises; here, only the order
        // is hostile.
        let adversary = with_sources(Adversary::new(profile.exact(), seed));
        let ctx = open(&adversary);
        all.extend(
            trials().iter().filter_map(|trial| wrong(trial, &ctx, &adversary)).map(|why| format!("{name}: {why}")),
        );
        println!("{name}: {:.1} s", began.elapsed().as_secs_f64());
    }
    assert!(all.is_empty(), "{} problems:\n{}", all.len(), all.join("\n"));
}

/// Which problems run a kernel, the fastest first.
fn runs() -> BTreeMap<String, Vec<(Duration, usize)>> {
    let mut runs: BTreeMap<String, Vec<(Duration, usize)>> = BTreeMap::new();
    for (i, trial) in trials().iter().enumerate() {
        let adversary = Adversary::new(Profile::nvidia().exact(), 1);
        let ctx = open(&adversary);
        let began = Instant::now();
        assert_eq!(wrong(trial, &ctx, &adversary), None);
        for (label, coverage) in adversary.coverage() {
            if coverage.reached().0 > 0 {
                runs.entry(label).or_default().push((began.elapsed(), i));
            }
        }
    }
    runs.values_mut().for_each(|runs| runs.sort());
    runs
}

/// The problems that a mutant is tried on.
const TRIES: usize = 3;

#[test]
#[ignore = "it takes long"]
fn mutants() {
    let (runs, trials) = (runs(), trials());
    let (mut found, mut alive) = (0, Vec::new());
    let mut places: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (label, text) in sources() {
        let Ok(module) = naga::front::wgsl::parse_str(&text) else { continue };
        let Some(runs) = runs.get(label) else {
            println!("{label}: no problem runs it");
            continue;
        };
        for mutation in Mutation::all(&module) {
            // A mutation of a label changes all its texts, so that each place counts once.
            if !places.entry(label).or_default().insert(mutation.to_string()) {
                continue;
            }
            let is_found = runs.iter().take(TRIES).any(|&(_, trial)| {
                let budget = 1 << 24; // a mutant may run forever
                let adversary = Adversary::new(Profile::nvidia().exact(), 1).mutation(label, mutation);
                let adversary = adversary.step_budget(budget);
                wrong(&trials[trial], &open(&adversary), &adversary).is_some()
            });
            if is_found {
                found += 1;
            } else {
                println!("alive: {label} {mutation}");
                alive.push((label, mutation));
            }
        }
    }
    println!("{found} of {} mutants are found", found + alive.len());
}
