//! Every kernel on adapters that do whatever WGSL allows (docs/adversary.md).
//!
//! `cargo test --test hostile` runs each problem on one profile. With `whole -- --ignored --nocapture`, each runs on
//! four profiles with eight seeds (`FIEDLER_SEEDS`), and what was never executed is named. `mutants` (in the same way)
//! changes every kernel at every place, and counts the mutants that the problems find. `FIEDLER_PROBLEM` selects the
//! problems whose names contain it, `FIEDLER_KERNEL` the kernels that `mutants` changes, `FIEDLER_CHANGE` the kinds of
//! changes whose names contain it ("without a barrier"), and `FIEDLER_SAMPLE` how many of a kind are drawn by lot.

mod dense;
mod features;
mod gradients;
mod learning;
mod mutants;
mod problems;
mod sparse;

use fiedler::ops::variants::KernelVariant;
use problems::{Problem, all};
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use wgpu_adversary::{Coverage, Profile};

/// Returns the WGSL of every kernel, by its label.
fn sources() -> BTreeMap<String, String> {
    KernelVariant::all().iter().map(KernelVariant::source).collect()
}

/// Calls `work` with the problems and each number below `count`, on a few threads. A small dispatch takes one of them.
fn each<T: Send>(count: usize, work: impl Fn(&[Problem], usize) -> T + Sync) -> Vec<T> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get().min(count));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let problems = all();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    let made = work(&problems, number);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((number, made));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, made)| made).collect()
}

/// What came of a problem on an adapter.
struct Outcome {
    wrong: Option<String>,
    coverage: BTreeMap<String, Coverage>,
}

/// Runs a problem on a new adversary.
fn outcome(problem: &Problem, profile: Profile, seed: u64) -> Outcome {
    let name = profile.name.clone();
    let adversary = problem.adversary(profile, seed);
    let began = Instant::now();
    let wrong = problem.wrong(&problem.open(&adversary), &adversary);
    let wrong = wrong.map(|why| format!("{name}, seed {seed}: {why}"));
    println!("{:.1} s: {problem}, {name}, seed {seed}", began.elapsed().as_secs_f64());
    if let Some(why) = &wrong {
        println!("wrong: {why}");
    }
    Outcome { wrong, coverage: adversary.coverage() }
}

/// Fails if anything is wrong. Returns what was executed.
fn judged(outcomes: Vec<Outcome>) -> BTreeMap<String, Coverage> {
    let mut coverage: BTreeMap<String, Coverage> = BTreeMap::new();
    let mut all = Vec::new();
    for outcome in outcomes {
        all.extend(outcome.wrong);
        for (label, own) in outcome.coverage {
            coverage.entry(label).or_default().merge(&own);
        }
    }
    assert!(all.is_empty(), "{} problems:\n{}", all.len(), all.join("\n"));
    coverage
}

/// With these profiles, subgroups have 32 or 64 lanes or are absent, and limits are large or the least. Rounding is
/// correct: where functions are off by some units in the last place, results exceed some promises, so that only the
/// order is hostile. `tests/adversary/rounding.rs` has what rounding alone does wrong.
fn profiles() -> [Profile; 4] {
    [Profile::nvidia(), Profile::rdna(), Profile::apple(), Profile::minimum()]
}

#[test]
fn nothing_is_found() {
    let profiles = profiles().map(Profile::exact);
    let outcomes = each(all().len(), |problems, number| {
        // Problems of a kind are on different profiles.
        outcome(&problems[number], profiles[number % profiles.len()].clone(), number as u64)
    });
    judged(outcomes);
}

/// Orders above 1000 have the kernels of order 129, with longer loops, and have run on no GPU yet.
#[test]
#[ignore = "it takes long"]
fn a_large_order() {
    let (began, problem) = (Instant::now(), dense::large());
    judged(vec![outcome(&problem, Profile::nvidia().exact(), 1)]);
    println!("{:.0} s", began.elapsed().as_secs_f64());
}

/// Returns the number of seeds of the whole run.
fn seeds() -> usize {
    env::var("FIEDLER_SEEDS").map_or(8, |seeds| seeds.parse().expect("a number"))
}

#[test]
#[ignore = "it takes long"]
fn whole() {
    let (began, profiles) = (Instant::now(), profiles().map(Profile::exact));
    let runs = profiles.len() * seeds();
    let outcomes = each(all().len() * runs, |problems, number| {
        let (run, problem) = (number % runs, &problems[number / runs]);
        outcome(problem, profiles[run % profiles.len()].clone(), (run / profiles.len()) as u64)
    });
    let coverage = judged(outcomes);
    let mut total = [0, 0];
    for label in sources().keys() {
        let of = coverage.get(label).map_or((0, 0), Coverage::reached);
        total = [total[0] + of.0, total[1] + of.1];
        match coverage.get(label) {
            Some(own) if of.0 == of.1 => println!("{label}: all {}", own.reached().1),
            Some(own) => print!("{label}: {own}"),
            None => println!("{label}: no problem runs it"),
        }
    }
    let run = coverage.keys().collect::<BTreeSet<_>>().len();
    println!("{run} of {} kernels, {} of {} statements and branches", sources().len(), total[0], total[1]);
    println!("{:.0} s", began.elapsed().as_secs_f64());
}
