//! A test harness that runs each test once on every backend that the test is for: on the CPU, and on each adapter of
//! the machine. One such run is a trial. A test that needs no backend has a process of its own, and a test that breaks
//! its device opens another one (`solve::apart`).
//!
//! The same binary plays two roles. Started by `cargo test` it is a libtest-mimic program, whose arguments (filter,
//! `--list`, `--test-threads`, `--nocapture`) work as usual. Started by itself it is a worker (see `workers`), so that
//! a driver that crashes, hangs or loses its device makes only one trial fail.
//!
//! | environment variable | meaning |
//! |---|---|
//! | `FIEDLER_TRIAL_TIMES` | set: prints the seconds that each trial takes, and the reason of a failure at once. Whoever ends the program early reads no summary |
//! | `FIEDLER_TRIAL_LIMIT` | the seconds after which a trial is taken to hang |
//! | `FIEDLER_TRIAL_DUMP` | the folder for the matrices and signals of which a check failed (`dump`) |
//! | `FIEDLER_ADVERSARIES` | hostile adapters to run on besides (`adversary`) |
//! | `FIEDLER_REQUIRE_ADAPTERS` | adapters, separated by commas, whose absence is a failure: `llvmpipe,SwiftShader` |

use super::adversary;
use super::workers::{Worker, Workers, serve};
use std::collections::{HashMap, HashSet};
use std::env;
use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use fiedler::{Adapter, Backend, Context};
use libtest_mimic::{Arguments, Failed, Trial};

/// The trial that prints the adapters that a process sees.
const PROBE: &str = "the adapters of this machine";
const REQUIRE: &str = "FIEDLER_REQUIRE_ADAPTERS";
const TIMES: &str = "FIEDLER_TRIAL_TIMES";
const LIMIT: &str = "FIEDLER_TRIAL_LIMIT";

/// The software adapters that serve machines without a GPU. Trials list them whether they are present or not.
const KNOWN: [&str; 2] = ["llvmpipe", "SwiftShader"];

/// The paths of SwiftShader's driver manifest in the packages of Chromium and Chrome: in Debian, in Fedora and
/// other distributions, in Chrome's own package, and in an old package of Ubuntu.
const SWIFTSHADER: [&str; 5] = [
    "/usr/lib/chromium/vk_swiftshader_icd.json",
    "/usr/lib64/chromium-browser/vk_swiftshader_icd.json",
    "/opt/google/chrome/vk_swiftshader_icd.json",
    "/usr/lib/chromium-browser/vk_swiftshader_icd.json",
    "/snap/chromium/current/usr/lib/chromium-browser/vk_swiftshader_icd.json",
];

/// A trial that runs longer than this is taken to hang. No test comes near this limit, even on two cores with a
/// software adapter. [`LIMIT`] may name another limit.
const TRIAL_LIMIT: Duration = Duration::from_secs(600);
/// The time limit of the probe. Listing the adapters takes a tenth of a second.
const PROBE_LIMIT: Duration = Duration::from_secs(60);

/// What a body may return: nothing, or a `Result` whose error is the reason for the failure of the trial.
pub trait Outcome {
    fn outcome(self) -> Result<(), String>;
}

impl Outcome for () {
    fn outcome(self) -> Result<(), String> {
        Ok(())
    }
}

impl<E: Display> Outcome for Result<(), E> {
    fn outcome(self) -> Result<(), String> {
        self.map_err(|e| e.to_string())
    }
}

type OnContext = dyn Fn(&Context) -> Result<(), String>;

enum Body {
    Free(Box<dyn Fn() -> Result<(), String>>),
    Device { cpu: bool, gpus: bool, run: Box<OnContext> },
}

/// A test: a name, a body, and the backends that it is for.
pub struct Test {
    name: String,
    body: Body,
    /// The adapter feature that the test needs. The test does not run on adapters without this feature.
    needs: Option<&'static str>,
    /// What the test lacks, in short and in full. A test that lacks something is listed as ignored.
    lacks: Option<(&'static str, String)>,
}

impl Test {
    /// Lists a test without a context as ignored, with the reason in short, if `why` gives the reason in full.
    pub fn ignored_because(self, short: &'static str, why: Option<String>) -> Self {
        Self { lacks: why.map(|why| (short, why)), ..self }
    }
}

fn on<O: Outcome>(name: &str, cpu: bool, gpus: bool, body: impl Fn(&Context) -> O + 'static) -> Test {
    let body = Body::Device { cpu, gpus, run: Box::new(move |ctx| body(ctx).outcome()) };
    Test { name: name.into(), body, needs: None, lacks: None }
}

/// Makes a test for the CPU backend and for every adapter.
pub fn on_each<O: Outcome>(name: &str, body: impl Fn(&Context) -> O + 'static) -> Test {
    on(name, true, true, body)
}

/// Makes a test for the CPU backend alone.
pub fn on_cpu<O: Outcome>(name: &str, body: impl Fn(&Context) -> O + 'static) -> Test {
    on(name, true, false, body)
}

/// Makes a test for every adapter.
pub fn on_gpus<O: Outcome>(name: &str, body: impl Fn(&Context) -> O + 'static) -> Test {
    on(name, false, true, body)
}

/// Makes a test for every adapter that has this feature. On the other adapters the test is listed as ignored, with
/// the reason.
pub fn on_gpus_with<O: Outcome>(feature: &'static str, name: &str, body: impl Fn(&Context) -> O + 'static) -> Test {
    Test { needs: Some(feature), ..on_gpus(name, body) }
}

/// Makes a test that runs once, without a context.
pub fn device_free<O: Outcome>(name: &str, body: impl Fn() -> O + 'static) -> Test {
    let body = Body::Free(Box::new(move || body().outcome()));
    Test { name: name.into(), body, needs: None, lacks: None }
}

/// Prefixes the tests of one file with its name: `cargo test --test dense svd::` runs the tests of svd.rs.
pub fn suite(file: &str, tests: Vec<Test>) -> Vec<Test> {
    tests.into_iter().map(|test| Test { name: format!("{file}::{}", test.name), ..test }).collect()
}

/// Returns a third of the cases on SwiftShader, which takes several times as long as Mesa's software adapter, the
/// others on that, and all cases elsewhere. Multiples of the golden ratio select the cases, because a stride of three
/// would always miss a case that occurs at every third position of a list.
pub fn sample<T>(ctx: &Context, all: impl IntoIterator<Item = T>) -> Vec<T> {
    let taken = |i: usize| {
        let place = (i as f64 * 0.618_033_988_749_895).fract();
        match ctx.adapter() {
            Some(adapter) if adapter.name.contains("SwiftShader") => place < 1.0 / 3.0,
            Some(adapter) if adapter.software => place >= 1.0 / 3.0,
            _ => true,
        }
    };
    all.into_iter().enumerate().filter(|(i, _)| taken(*i)).map(|(_, case)| case).collect()
}

/// Runs the tests of a binary. A binary's `main` consists of a call to this function.
pub fn run<const N: usize>(suites: [Vec<Test>; N]) -> ExitCode {
    run_all(&suites.into_iter().flatten().collect::<Vec<_>>())
}

fn run_all(tests: &[Test]) -> ExitCode {
    adversary::register();
    let mut contexts = HashMap::new();
    if let Some(served) = serve(|trial| one(tests, trial, &mut contexts)) {
        return code(served);
    }
    let mut arguments = Arguments::from_args();
    let at_a_time = arguments.test_threads.or_else(|| available_parallelism().ok().map(Into::into)).unwrap_or(1);
    let workers = Arc::new(Workers::at_most(at_a_time));
    let trials = trials(tests, arguments.nocapture, &workers);
    if at_a_time > 1 {
        // Each trial has a thread that waits for its turn, or trials of a busy adapter would keep the others waiting.
        arguments.test_threads = Some(trials.len().max(2));
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    match workers.end() {
        Ok(()) => conclusion.exit_code(),
        ended => code(ended),
    }
}

fn code(outcome: Result<(), String>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Runs one body on one backend, with the context that earlier trials used there.
fn one(tests: &[Test], trial: &str, contexts: &mut HashMap<String, Context>) -> Result<(), String> {
    if trial == PROBE {
        probe();
        return Ok(());
    }
    let (name, backend) = trial.split_once('@').unwrap_or((trial, ""));
    let test = tests.iter().find(|t| t.name == name).ok_or_else(|| format!("there is no test `{name}`"))?;
    let run = match &test.body {
        Body::Free(run) => return run(),
        Body::Device { run, .. } => run,
    };
    if !contexts.contains_key(backend) {
        let builder = Context::builder().adapter(backend).backend(Backend::Gpu).poison(true).tuned(false);
        let made = if backend == "cpu" { Ok(Context::cpu()) } else { builder.build() };
        contexts.insert(backend.to_owned(), made.map_err(|e| format!("no context on {backend}: {e}"))?);
    }
    let outcome = run(&contexts[backend]);
    let verdict = adversary::verdict();
    outcome.and(verdict)?;
    contexts[backend].trim();
    Ok(())
}

/// Prints a line for each adapter, and then a last line. If the last line is missing from the output, the probe
/// died before it.
fn probe() {
    let adapters = Adapter::all();
    for adapter in &adapters {
        let name = adapter.name.replace(['\t', '\n'], " ");
        println!("adapter\t{name}\t{}\t{}\t{}", adapter.features.join(" "), adapter.backend, adapter.driver);
    }
    println!("adapters {}", adapters.len());
}

/// An adapter of this machine as trials see it.
struct Found {
    name: String,
    features: Vec<String>,
    /// The driver manifest that has to be set for the adapter to be seen.
    drivers: Option<&'static str>,
}

/// Returns every adapter of the machine, and the name and error of each environment (a set of drivers) whose probe
/// failed.
fn adapters() -> (Vec<Found>, Vec<(&'static str, String)>) {
    let (mut found, mut failed) = (Vec::new(), Vec::new());
    let mut names = HashSet::new();
    let swiftshader = SWIFTSHADER.into_iter().find(|path| Path::new(path).is_file());
    for drivers in [Some(None), swiftshader.map(Some)].into_iter().flatten() {
        match Worker::once(PROBE, &[], drivers, false, PROBE_LIMIT).and_then(|output| parse(&output)) {
            Ok(seen) => {
                let new = seen.into_iter().filter(|(name, _)| names.insert(name.clone()));
                found.extend(new.map(|(name, features)| Found { name, features, drivers }));
            }
            Err(why) => {
                failed.push((if drivers.is_some() { "SwiftShader's driver" } else { "this machine's drivers" }, why))
            }
        }
    }
    (found, failed)
}

/// Reads the adapters' names and features from the output of a probe.
fn parse(output: &str) -> Result<Vec<(String, Vec<String>)>, String> {
    let one = |line: &str| {
        let mut fields = line.strip_prefix("adapter\t")?.split('\t');
        Some((fields.next()?.to_owned(), fields.next()?.split(' ').map(String::from).collect()))
    };
    let adapters: Vec<_> = output.lines().filter_map(one).collect();
    let last = format!("adapters {}", adapters.len());
    if output.lines().any(|line| line == last) {
        Ok(adapters)
    } else {
        Err(format!("the probe did not finish:\n{output}"))
    }
}

/// Returns all trials, in the order of the tests.
fn trials(tests: &[Test], nocapture: bool, workers: &Arc<Workers>) -> Vec<Trial> {
    let wants_gpus = tests.iter().any(|t| matches!(t.body, Body::Device { gpus: true, .. }));
    let (adapters, failed) = if wants_gpus { adapters() } else { Default::default() };
    let limit = env::var(LIMIT).map_or(TRIAL_LIMIT, |said| {
        Duration::from_secs(said.parse().unwrap_or_else(|_| panic!("{LIMIT}: expected seconds, found `{said}`")))
    });
    let required = env::var(REQUIRE).unwrap_or_default();
    let required: Vec<&str> = required.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let absent: Vec<&str> = KNOWN
        .into_iter()
        .chain(required.iter().copied().filter(|name| !KNOWN.contains(name)))
        .filter(|name| !adapters.iter().any(|found| found.name.contains(name)))
        .collect();

    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for test in tests {
        assert!(
            !test.name.contains('@') && seen.insert(&test.name),
            "a test's name is its own and has no @: {}",
            test.name
        );
        let mut push = |backend: &str, drivers| {
            let name = if backend.is_empty() { test.name.clone() } else { format!("{}@{backend}", test.name) };
            let (trial, backend, workers) = (name.clone(), backend.to_owned(), Arc::clone(workers));
            let body = move || {
                let _turn = workers.turn(&backend, KNOWN.iter().any(|software| backend.contains(software)));
                let began = Instant::now();
                // A trial without a backend has no context that other trials could share, so it runs in a process
                // of its own.
                let outcome = match backend.is_empty() {
                    true => Worker::once(&trial, &[], drivers, nocapture, limit).map(drop),
                    false => workers.run(&trial, &backend, drivers, nocapture, limit),
                };
                if env::var_os(TIMES).is_some() {
                    let why = outcome.as_ref().err().map(|why| format!(" failed: {why}"));
                    eprintln!("{:8.2} s {trial}{}", began.elapsed().as_secs_f64(), why.unwrap_or_default());
                }
                outcome
            };
            all.push(Trial::test(name, move || body().map_err(Failed::from)));
        };
        let (cpu, gpus) = match test.body {
            Body::Free(_) => {
                match &test.lacks {
                    None => push("", None),
                    Some((short, why)) => all.push(ignored(format!("{} ({short})", test.name), why.clone())),
                }
                continue;
            }
            Body::Device { cpu, gpus, .. } => (cpu, gpus),
        };
        if cpu {
            push("cpu", None);
        }
        if gpus {
            let able = |found: &&Found| test.needs.is_none_or(|needs| found.features.iter().any(|has| has == needs));
            adapters.iter().filter(able).for_each(|found| push(&found.name, found.drivers));
            for found in adapters.iter().filter(|found| !able(found)) {
                let why = format!("{} has no {}", found.name, test.needs.unwrap_or_default());
                let name = format!("{}@{} (no {})", test.name, found.name, test.needs.unwrap_or_default());
                all.push(ignored(name, why));
            }
            all.extend(
                absent.iter().map(|name| absence(&test.name, name, required.contains(name), !failed.is_empty())),
            );
        }
    }
    all.extend(
        failed.into_iter().map(|(which, why)| Trial::test(format!("probe of {which}"), move || Err(why.into()))),
    );
    all
}

/// Returns a trial that is listed as ignored.
fn ignored(name: String, why: String) -> Trial {
    Trial::test(name, move || Err(why.into())).with_ignored_flag(true)
}

/// Returns the trial of an adapter that is absent. The trial is ignored. But it fails if the adapter is required,
/// or if a probe died, because then nothing proves that the adapter is absent.
fn absence(test: &str, adapter: &str, required: bool, probe_failed: bool) -> Trial {
    let why = match (required, probe_failed) {
        (_, true) => format!("a probe for adapters failed, so nothing is known of {adapter}"),
        (true, _) => format!("this machine has no adapter {adapter}, which {REQUIRE} names"),
        _ => format!("this machine has no adapter {adapter}"),
    };
    let ignored = !required && !probe_failed;
    Trial::test(format!("{test}@{adapter} (absent)"), move || Err(why.into())).with_ignored_flag(ignored)
}

/// Runs the trial `name` of this binary in a process with additional environment variables, as the harness does.
/// The tests of the harness call it.
pub fn run_trial(name: &str, variables: &[(&str, &str)], limit: Duration) -> Result<String, String> {
    Worker::once(name, variables, None, false, limit)
}
