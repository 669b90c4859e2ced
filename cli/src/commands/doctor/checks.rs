//! The tests that the doctor runs: kernels on problems with known answers, and speed.

use crate::doctor::{Check, Speed, self_test, speed};
use fiedler::{Context, Error, ErrorKind};

/// The memory budget, in bytes, that is large enough for all tests.
const ENOUGH: u64 = 64 << 20;

/// A description of something that is wrong, and of what the user can do about it.
pub(super) struct Problem {
    pub(super) what: String,
    pub(super) remedy: String,
}

impl Problem {
    fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: remedy.into() }
    }

    /// Returns the problem to report when an adapter or backend that the call asks for cannot be opened. `named` says
    /// whether the call names an adapter.
    pub(super) fn unopened(error: &Error, named: bool) -> Self {
        let remedy = match error.kind() {
            ErrorKind::NoAdapter { .. } if named => {
                "name one of the adapters listed above, or leave --adapter (FIEDLER_ADAPTER) out"
            }
            ErrorKind::NoAdapter { .. } => {
                "leave --backend gpu (FIEDLER_BACKEND) out, and everything runs on the CPU; or name a software adapter"
            }
            _ => DRIVER,
        };
        Self::new(of_the_doctor(&error.to_string()), remedy)
    }

    /// Returns the problem of an adapter that would be chosen but cannot be used.
    pub(super) fn unusable(name: &str, why: &str) -> Self {
        Self::new(format!("{name} is present but cannot be used: {why}"), DRIVER)
    }

    fn failed(check: &Check, why: &str, ctx: &Context) -> Self {
        let Check { family, what, on, found, .. } = check;
        let remedy = if found.is_none() && ctx.memory_budget() < ENOUGH {
            BUDGET.to_owned()
        } else if on == "cpu" {
            "report this with the processor's name; check that its memory is sound and that it is not overclocked"
                .to_owned()
        } else {
            let driver = ctx.adapter().map_or("", |a| &a.driver);
            format!(
                "use --backend cpu, update the adapter's driver, and report this with the driver's version ({driver})"
            )
        };
        let verdict = if found.is_none() { "could not be tested" } else { "is wrong" };
        Self::new(format!("{family} on {on} {verdict} ({what}): {why}"), remedy)
    }
}

/// Returns an error's text without its advice to run `fiedler doctor`.
pub(super) fn of_the_doctor(text: &str) -> String {
    text.replace(" (`fiedler doctor` says what to install)", "")
}

/// What to do if there is too little memory for the tests.
const BUDGET: &str = "raise FIEDLER_MEMORY_BUDGET: the self-test needs at most 64 MiB";

/// What to do about a device that does not open.
const DRIVER: &str = "update its driver; check that no other program uses the device exclusively and that this user \
                      may open it (Linux: the groups `render` and `video`). Meanwhile, --backend cpu runs everything \
                      on the CPU";

/// What to do about a slow machine.
const SLOW: &str = "check what else is running, and try again: the device may be busy with other work, shared, or \
                    throttled (heat, a power limit, a laptop's battery)";

/// The results of the tests.
pub(super) struct Tried {
    pub(super) checks: Vec<Check>,
    /// The measured speeds; empty if the call skips them.
    pub(super) speed: Vec<Speed>,
    pub(super) problems: Vec<Problem>,
}

pub(super) fn tried(ctx: &Context, fast: bool) -> Tried {
    let checks = self_test(ctx);
    let wrong = |check: &Check| check.problem.as_ref().map(|why| Problem::failed(check, why, ctx));
    let mut problems: Vec<Problem> = checks.iter().filter_map(wrong).collect();
    let measured = if fast { speed(ctx) } else { Ok(Vec::new()) };
    let speed = measured.unwrap_or_else(|error| {
        let quick = "run `fiedler doctor --quick`, which does not measure speed; if that fails too, update the driver";
        let remedy = if ctx.memory_budget() < ENOUGH { BUDGET } else { quick };
        problems.push(Problem::new(format!("cannot measure speed: {error}"), remedy));
        Vec::new()
    });
    problems.extend(speed.iter().flat_map(Speed::far_below).map(|what| Problem::new(what, SLOW)));
    Tried { checks, speed, problems }
}
