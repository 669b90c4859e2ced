//! Mutants of every kernel: how many of them the problems find.

use super::problems::{Problem, all};
use super::{each, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use wgpu_adversary::{Change, Coverage, Mutation, Profile};

/// With subgroups and without.
fn adapters() -> [Profile; 2] {
    [Profile::nvidia(), Profile::minimum()].map(Profile::exact)
}

/// A problem that runs a kernel on an adapter.
#[derive(Clone)]
struct Try {
    time: Duration,
    adapter: usize,
    problem: usize,
    coverage: Coverage,
    mutations: BTreeSet<Mutation>,
}

/// Returns which problems run each kernel, the fastest first.
fn tries() -> BTreeMap<String, Vec<Try>> {
    let adapters = adapters();
    let runs = each(all().len() * adapters.len(), |problems, number| {
        let (problem, adapter) = (number / adapters.len(), number % adapters.len());
        let adversary = problems[problem].adversary(adapters[adapter].clone(), 1);
        let began = Instant::now();
        let wrong = problems[problem].wrong(&problems[problem].open(&adversary), &adversary);
        if let Some(why) = wrong {
            println!("wrong: {why}");
            return Vec::new();
        }
        let (time, mut mutations) = (began.elapsed(), adversary.mutations());
        let of = |(label, coverage): (String, Coverage)| {
            let mutations = mutations.remove(&label).unwrap_or_default();
            (label, Try { time, adapter, problem, coverage, mutations })
        };
        adversary.coverage().into_iter().filter(|(_, coverage)| coverage.reached().0 > 0).map(of).collect::<Vec<_>>()
    });
    let mut tries: BTreeMap<String, Vec<Try>> = BTreeMap::new();
    for (label, own) in runs.into_iter().flatten() {
        tries.entry(label).or_default().push(own);
    }
    tries.values_mut().for_each(|tries| tries.sort_by_key(|own| own.time));
    tries
}

/// The time that problems take on a right kernel, after which no more of them are tried on a mutant.
const PATIENCE: Duration = Duration::from_secs(4);

/// The orders of execution that a problem has. Results that depend on the order of atomics differ in some of them.
const SEEDS: u64 = 3;

/// What became of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Found,
    /// No problem executes the place.
    NotRun,
    Alive,
}

/// Tries a mutant on the problems that execute its place.
fn fate(problems: &[Problem], label: &str, mutation: Mutation, tries: &[Try]) -> Fate {
    let (mut spent, mut fate) = (Duration::ZERO, Fate::NotRun);
    for own in tries {
        if !own.mutations.contains(&mutation) || !own.coverage.has_run(mutation.place) {
            continue;
        }
        for seed in 0..SEEDS {
            if spent > PATIENCE {
                return Fate::Alive;
            }
            spent += own.time;
            fate = Fate::Alive;
            let budget = 1 << 24; // a mutant may run forever
            let problem = &problems[own.problem];
            let adversary = problem.adversary(adapters()[own.adapter].clone(), seed);
            let adversary = adversary.mutation(label, mutation).step_budget(budget);
            // The host may rely on what a right kernel would have counted.
            let wrong = AssertUnwindSafe(|| problem.wrong(&problem.open(&adversary), &adversary).is_some());
            if catch_unwind(wrong).unwrap_or(true) {
                return Fate::Found;
            }
        }
    }
    fate
}

/// Returns the mutants of the kinds that the environment selects, and of each kind as many as it allows.
fn selected(all: Vec<(&String, Mutation)>) -> Vec<(&String, Mutation)> {
    let kinds = env::var("FIEDLER_CHANGE").unwrap_or_default();
    let most = env::var("FIEDLER_SAMPLE").map_or(usize::MAX, |most| most.parse().expect("a number"));
    let mut selected = Vec::new();
    for own in all.chunk_by(|(_, one), (_, other)| one.change == other.change) {
        let change = own[0].1.change;
        if change.to_string().contains(&kinds) {
            println!("{change}: {} of {}", own.len().min(most), own.len());
            selected.extend(own.iter().take(most).copied());
        }
    }
    selected
}

#[test]
#[ignore = "it takes long"]
fn mutants() {
    let (began, tries, sources) = (Instant::now(), tries(), sources());
    println!("the problems: {:.0} s", began.elapsed().as_secs_f64());
    let wanted = env::var("FIEDLER_KERNEL").unwrap_or_default();
    let mut mutants: Vec<(&String, Mutation)> = Vec::new();
    for (label, tries) in tries.iter().filter(|(label, _)| label.contains(&wanted)) {
        let all: BTreeSet<Mutation> = tries.iter().flat_map(|own| own.mutations.iter().copied()).collect();
        mutants.extend(all.into_iter().map(|mutation| (label, mutation)));
    }
    // In an order drawn by lot, so that the first ones of a kind are a sample of them.
    let mut random = common::random::SplitMix64::new(1);
    mutants.sort_by_cached_key(|(_, mutation)| (mutation.change, random.next_u64()));
    let mutants = selected(mutants);
    for label in sources.keys().filter(|label| !tries.contains_key(*label)) {
        println!("{label}: no problem runs it");
    }
    let fates = each(mutants.len(), |problems, number| {
        let (label, mutation) = mutants[number];
        let fate = fate(problems, label, mutation, &tries[label]);
        let line = mutation.line(&sources[label]);
        let text = sources[label].lines().nth(line - 1).unwrap_or_default().trim();
        println!("{fate:?}: {label} {} in line {line} `{text}`, byte {}", mutation.change, mutation.place.0);
        fate
    });
    let mut counts: BTreeMap<(Change, Fate), usize> = BTreeMap::new();
    for ((_, mutation), fate) in mutants.iter().zip(fates) {
        *counts.entry((mutation.change, fate)).or_default() += 1;
    }
    for ((change, fate), count) in counts {
        println!("{change}: {count} {fate:?}");
    }
    println!("{:.0} s", began.elapsed().as_secs_f64());
}
