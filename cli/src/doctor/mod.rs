//! The self-test of this machine, which runs on the adapter and on the CPU. It compares the results of every family of
//! kernels with closed forms or f64 results. It also measures the speed of copies, multiply-adds and small calls, and
//! compares it with the speed that a device of the same class should reach.

mod dense;
mod features;
mod sparse;
mod speed;

pub use speed::{Expected, Speed, speed};

use fiedler::Context;
use fiedler::Result;
use fiedler::policy::Backend;
use std::fmt;

/// The result of running one family of kernels on a problem with a known answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Check {
    /// The family: `laplacian`, `eigh`, `svd`, `fft`, `matmul`, `stats`, `cov`, `random`, `divergence`, `spmm`,
    /// `eigsh`.
    pub family: &'static str,
    /// A description of the test problem in a few words.
    pub what: String,
    /// Where the problem ran: the adapter's name, or `cpu`.
    pub on: String,
    /// The measured error, which is comparable with `allowed`; `None` if the run failed before it had a result.
    pub found: Option<f64>,
    /// The largest error that the library promises.
    pub allowed: f64,
    /// A sentence that says what is wrong; `None` if nothing is.
    pub problem: Option<String>,
}

impl Check {
    /// Returns whether nothing is wrong.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.problem.is_none()
    }
}

/// A measured error and the promised bound. An error of NaN counts as a violation of the bound.
#[derive(Clone, Copy, Debug)]
struct Measured {
    found: f64,
    allowed: f64,
}

type Try = dyn Fn(&Context) -> Result<Measured>;

/// A test problem: its family, its description, and the function that runs it.
pub struct Trial {
    family: &'static str,
    what: String,
    run: Box<Try>,
}

impl Trial {
    fn new(
        family: &'static str,
        what: impl Into<String>,
        run: impl Fn(&Context) -> Result<Measured> + 'static,
    ) -> Self {
        Self { family, what: what.into(), run: Box::new(run) }
    }

    /// Runs the problem where `ctx` computes, which is called `on`.
    #[must_use]
    pub fn on(&self, ctx: &Context, on: &str) -> Check {
        let (found, allowed, problem) = match (self.run)(ctx) {
            Ok(Measured { found, allowed }) if found <= allowed => (Some(found), allowed, None),
            Ok(Measured { found, allowed }) => {
                let why = format!("expected an error of at most {allowed:.1e}, found {found:.1e}");
                (Some(found), allowed, Some(why))
            }
            Err(error) => (None, 0.0, Some(error.to_string())),
        };
        Check { family: self.family, what: self.what.clone(), on: on.to_owned(), found, allowed, problem }
    }
}

impl fmt::Debug for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trial").field("family", &self.family).field("what", &self.what).finish_non_exhaustive()
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.family, self.what)
    }
}

/// Returns the problems of all families. They are small, and their answers are closed forms, whole numbers or f64
/// results.
#[must_use]
pub fn trials() -> Vec<Trial> {
    dense::trials().into_iter().chain(features::trials()).chain(sparse::trials()).collect()
}

/// Tests every family of kernels in f32, both on the CPU and, if `ctx` has an adapter, on the adapter, with the
/// problems of [`trials`]. On a software adapter the test takes a few seconds, mostly for compilation.
///
/// A failure is reported in the returned checks, never as an error.
#[must_use]
pub fn self_test(ctx: &Context) -> Vec<Check> {
    let trials = trials();
    let mut checks = Vec::new();
    if let Some(adapter) = ctx.adapter() {
        let on_gpu = ctx.with_backend(Backend::Gpu);
        checks.extend(trials.iter().map(|trial| trial.on(&on_gpu, &adapter.name)));
    }
    let on_cpu = ctx.with_backend(Backend::Cpu);
    checks.extend(trials.iter().map(|trial| trial.on(&on_cpu, "cpu")));
    checks
}

/// Returns the largest difference between the elements of two sequences; NaN if either sequence contains a NaN or if
/// their lengths differ.
fn apart(found: impl IntoIterator<Item = f64>, truth: impl IntoIterator<Item = f64>) -> f64 {
    let (mut found, mut truth) = (found.into_iter(), truth.into_iter());
    let mut worst = 0.0;
    loop {
        match (found.next(), truth.next()) {
            (Some(x), Some(y)) => worst = larger(worst, (x - y).abs()),
            (None, None) => return worst,
            _ => return f64::NAN,
        }
    }
}

/// Returns the larger of two values, or NaN if either is NaN.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b <= a { a } else { b }
}

/// The spacing of f32 at 1.
const EPS: f64 = f32::EPSILON as f64;

fn wide(data: &[f32]) -> impl Iterator<Item = f64> + '_ {
    data.iter().map(|&x| x.into())
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn real(x: usize) -> f64 {
    x as f64
}

#[expect(clippy::cast_possible_truncation, reason = "rounding is what it is for")]
fn narrow(x: f64) -> f32 {
    x as f32
}

#[cfg(test)]
mod tests {
    use super::{apart, larger, self_test};
    use fiedler::Context;
    use std::collections::HashSet;

    #[test]
    fn nan_and_missing_numbers_are_apart() {
        assert_eq!(apart([1.0, 2.0], [1.5, 2.0]), 0.5);
        assert!(apart([f64::NAN, 0.0], [0.0, 0.0]).is_nan() && apart([0.0], [0.0, 0.0]).is_nan());
        assert!(larger(f64::NAN, 1.0).is_nan() && larger(1.0, f64::NAN).is_nan());
    }

    #[test]
    fn the_cpu_is_well() {
        let checks = self_test(&Context::cpu());
        let wrong: Vec<_> = checks.iter().filter(|check| !check.ok()).collect();
        assert!(wrong.is_empty() && checks.iter().all(|check| check.on == "cpu"), "{wrong:#?}");
        // The report shows a different name for each check, and every name fits in one line.
        let names: HashSet<_> = checks.iter().map(|check| (check.family, &check.what)).collect();
        assert_eq!(names.len(), checks.len());
        assert!(checks.iter().all(|check| check.what.chars().count() <= 38), "{names:?}");
    }
}
