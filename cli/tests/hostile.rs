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
    for (profile, seed) in
        [Profile::with_subgroups(8), Profile::nvidia(), Profile::rdna(), Profile::apple(), Profile::minimum()]
            .into_iter()
            .zip(1..)
    {
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

/// Which problems run a kernel on an adapter, the fastest first.
fn runs(profile: &Profile) -> BTreeMap<String, Vec<(Duration, usize)>> {
    let mut runs: BTreeMap<String, Vec<(Duration, usize)>> = BTreeMap::new();
    for (i, trial) in trials().iter().enumerate() {
        let adversary = Adversary::new(profile.clone(), 1);
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

/// The most problems that a mutant is tried on, on each adapter.
const TRIES: usize = 3;

#[test]
#[ignore = "it takes long"]
fn mutants() {
    let trials = trials();
    // With subgroups and without.
    let adapters = [Profile::nvidia(), Profile::minimum()].map(Profile::exact);
    let adapters: Vec<_> = adapters.into_iter().map(|profile| (runs(&profile), profile)).collect();
    // How many mutants of each kind are found, and how many there are.
    let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    let mut places: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (label, text) in sources() {
        let Ok(module) = naga::front::wgsl::parse_str(&text) else { continue };
        let fastest = |runs: &BTreeMap<_, Vec<_>>| runs.get(label).into_iter().flatten().take(TRIES).copied().collect();
        let tries: Vec<(&Profile, Vec<(Duration, usize)>)> =
            adapters.iter().map(|(runs, profile)| (profile, fastest(runs))).collect();
        if tries.iter().all(|(_, trials)| trials.is_empty()) {
            println!("{label}: no problem runs it");
            continue;
        }
        for mutation in Mutation::all(&module) {
            // A mutation of a label changes all its texts, so that each place counts once.
            if !places.entry(label).or_default().insert(mutation.to_string()) {
                continue;
            }
            let mut tries =
                tries.iter().flat_map(|(profile, all)| all.iter().map(move |&(_, trial)| (*profile, trial)));
            let is_found = tries.any(|(profile, trial)| {
                let budget = 1 << 24; // a mutant may run forever
                let adversary = Adversary::new(profile.clone(), 1).mutation(label, mutation).step_budget(budget);
                wrong(&trials[trial], &open(&adversary), &adversary).is_some()
            });
            if !is_found {
                println!("alive: {label} {mutation}");
            }
            let text = mutation.to_string();
            let [found, all] =
                counts.entry(text.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned()).or_default();
            (*found, *all) = (*found + usize::from(is_found), *all + 1);
        }
    }
    for (kind, [found, all]) in counts {
        println!("{found} of {all} {kind}are found");
    }
}
