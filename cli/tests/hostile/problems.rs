//! Problems whose results on the device are compared with those on the CPU. Their shapes reach the branches of the
//! kernels: one item, one less and one more than a size class, ragged, empty, and numbers that are not finite.

use super::{dense, features, gradients, learning, sparse};
use common::adversary;
use fiedler::forms::KernelForm;
use fiedler::{Context, ErrorKind, Result};
use fiedler_cli::doctor::{Trial, trials};
use std::env;
use std::fmt::{self, Display, Formatter};
use std::sync::OnceLock;
use wgpu_adversary::{Adversary, Profile, wgpu};

type Run = dyn Fn(&Context) -> Result<Vec<f64>> + Send + Sync;

/// What a problem computes, and how its result is judged.
enum Task {
    /// A problem of the self-test.
    Known(Trial),
    /// Numbers, which are compared with those of the CPU.
    Compared { run: Box<Run>, wanted: OnceLock<Vec<f64>>, allowed: f64 },
}

/// A problem for the device.
pub(super) struct Problem {
    name: String,
    /// The forms of the kernels, where the adapter should not choose.
    forms: Vec<KernelForm>,
    /// Whether the adapter says that it is software, for forms that only such adapters have.
    software: bool,
    task: Task,
}

/// What an error of a result may be, relative to the magnitude of the wanted number plus 1. What a mutation breaks is
/// off by more.
const ALLOWED: f64 = 2e-4;

impl Problem {
    pub(super) fn new(
        name: impl Into<String>,
        run: impl Fn(&Context) -> Result<Vec<f64>> + Send + Sync + 'static,
    ) -> Self {
        let task = Task::Compared { run: Box::new(run), wanted: OnceLock::new(), allowed: ALLOWED };
        Self { name: name.into(), forms: Vec::new(), software: false, task }
    }

    /// Allows a form of the kernels, and no other of the same operation.
    pub(super) fn form(mut self, form: KernelForm) -> Self {
        self.forms.push(form);
        self
    }

    /// Makes the adapter one that is software.
    pub(super) fn software(self) -> Self {
        Self { software: true, ..self }
    }

    /// Sets the largest error.
    pub(super) fn allowed(mut self, error: f64) -> Self {
        if let Task::Compared { allowed, .. } = &mut self.task {
            *allowed = error;
        }
        self
    }

    /// Returns an adversary for the problem.
    pub(super) fn adversary(&self, profile: Profile, seed: u64) -> Adversary {
        let adversary = adversary::with_sources(Adversary::new(profile, seed));
        if self.software { adversary.device_type(wgpu::DeviceType::Cpu) } else { adversary }
    }

    /// Opens a context for the problem on its adversary.
    pub(super) fn open(&self, adversary: &Adversary) -> Context {
        adversary::open(adversary, &self.forms)
    }

    /// Runs the problem. Returns what is wrong, if anything is.
    pub(super) fn wrong(&self, ctx: &Context, adversary: &Adversary) -> Option<String> {
        let problem = self.result(ctx);
        let found = adversary.report().take().first().map(ToString::to_string);
        found.or(problem).map(|why| format!("{self}: {why}"))
    }

    /// Returns what is wrong with the result. An adapter without the form has nothing to run.
    fn result(&self, ctx: &Context) -> Option<String> {
        let (run, wanted, allowed) = match &self.task {
            Task::Known(trial) => return trial.on(ctx, "the adversary").problem,
            Task::Compared { run, wanted, allowed } => (run, wanted, *allowed),
        };
        let found = match run(ctx) {
            Ok(found) => found,
            Err(error) if !self.forms.is_empty() && matches!(error.kind(), ErrorKind::Limit { .. }) => return None,
            Err(error) => return Some(error.to_string()),
        };
        let wanted = wanted.get_or_init(|| run(&Context::cpu()).expect("a result of the CPU"));
        if found.len() != wanted.len() {
            return Some(format!("{} numbers, not {}", found.len(), wanted.len()));
        }
        let is_near = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= allowed * (1.0 + b.abs());
        let at = found.iter().zip(wanted).position(|(&a, &b)| !is_near(a, b))?;
        Some(format!("number {at} of {} is {:e}, not {:e}", found.len(), found[at], wanted[at]))
    }
}

impl Display for Problem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Returns the problems of the self-test.
pub(super) fn known() -> Vec<Problem> {
    let of = |trial: Trial| Problem {
        name: trial.to_string(),
        forms: Vec::new(),
        software: false,
        task: Task::Known(trial),
    };
    trials().into_iter().map(of).collect()
}

/// Returns all problems that the environment selects.
pub(super) fn all() -> Vec<Problem> {
    let wanted = env::var("FIEDLER_PROBLEM").unwrap_or_default();
    let own =
        [dense::problems(), gradients::problems(), features::problems(), sparse::problems(), learning::problems()];
    known().into_iter().chain(own.into_iter().flatten()).filter(|problem| problem.name.contains(&wanted)).collect()
}

/// Returns numbers between -1 and 1.
pub(super) fn noise(count: usize, seed: usize) -> Vec<f32> {
    let mut random = common::random::SplitMix64::new(seed as u64 + 1);
    (0..count).map(|_| random.signed() as f32).collect()
}

pub(super) fn wide(data: &[f32]) -> Vec<f64> {
    data.iter().map(|&x| x.into()).collect()
}

/// Returns A B' of matrices with n rows.
pub(super) fn product(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
    let columns = a.len() / n.max(1);
    (0..n * n).map(|at| (0..columns).map(|k| a[at % n + n * k] * b[at / n + n * k]).sum()).collect()
}

/// Returns the inner products of the columns of a matrix with n rows.
pub(super) fn gram(v: &[f64], n: usize) -> Vec<f64> {
    let columns: Vec<&[f64]> = v.chunks_exact(n.max(1)).collect();
    columns.iter().flat_map(|x| columns.iter().map(|y| x.iter().zip(*y).map(|(x, y)| x * y).sum())).collect()
}
