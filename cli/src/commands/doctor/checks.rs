//! What is tried: kernels on problems whose answers are known, and speed.

use crate::doctor::{Check, Speed, self_test, speed};
use fiedler::{Context, Error, ErrorKind};

/// Budgets below this are too small for what is tried.
const ENOUGH: u64 = 64 << 20;

/// Something that is wrong, and what a person can do about it.
pub(super) struct Problem {
    pub(super) what: String,
    pub(super) remedy: String,
}

impl Problem {
    fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: remedy.into() }
    }

    /// What was asked for cannot be had.
    pub(super) fn unopened(error: &Error, named: bool) -> Self {
        let remedy = match error.kind() {
            ErrorKind::NoAdapter { .. } if named => {
                "name one of the adapters above, or leave --adapter (FIEDLER_ADAPTER) out"
            }
            ErrorKind::NoAdapter { .. } => {
                "leave --backend gpu (FIEDLER_BACKEND) out: the CPU does everything; or name a software adapter"
            }
            _ => DRIVER,
        };
        Self::new(of_the_doctor(&error.to_string()), remedy)
    }

    /// An adapter that would be chosen, and cannot be.
    pub(super) fn unusable(name: &str, why: &str) -> Self {
        Self::new(format!("{name} is here and cannot be used: {why}"), DRIVER)
    }

    fn failed(check: &Check, why: &str, ctx: &Context) -> Self {
        let Check { family, what, on, found, .. } = check;
        let remedy = if found.is_none() && ctx.memory_budget() < ENOUGH {
            BUDGET.to_owned()
        } else if on == "cpu" {
            "report this with the processor's name; see that its memory is sound, and that it is not overclocked"
                .to_owned()
        } else {
            let driver = ctx.adapter().map_or("", |a| &a.driver);
            format!("use --backend cpu, update its driver, and report this with the driver's version ({driver})")
        };
        let verdict = if found.is_none() { "could not be tried" } else { "is wrong" };
        Self::new(format!("{family} on {on} {verdict} ({what}): {why}"), remedy)
    }
}

/// What an error says, without sending the reader here.
pub(super) fn of_the_doctor(text: &str) -> String {
    text.replace(" (`fiedler doctor` says what to install)", "")
}

/// What to do where there is too little memory for trying.
const BUDGET: &str = "raise FIEDLER_MEMORY_BUDGET: what is tried needs 64 MiB at most";

/// What to do about a device that does not open.
const DRIVER: &str = "update its driver; see that no other program has the device to itself, and that this user may open it (Linux: the \
                      groups `render` and `video`). With --backend cpu the CPU does everything meanwhile";

/// What to do about a slow machine.
const SLOW: &str = "see what else runs, and try again: it may be busy with other work, shared, or throttled (heat, a power limit, a \
                    laptop's battery)";

/// What came of it.
pub(super) struct Tried {
    pub(super) checks: Vec<Check>,
    /// None where nothing was measured.
    pub(super) speed: Vec<Speed>,
    pub(super) problems: Vec<Problem>,
}

pub(super) fn tried(ctx: &Context, fast: bool) -> Tried {
    let checks = self_test(ctx);
    let wrong = |check: &Check| check.problem.as_ref().map(|why| Problem::failed(check, why, ctx));
    let mut problems: Vec<Problem> = checks.iter().filter_map(wrong).collect();
    let measured = if fast { speed(ctx) } else { Ok(Vec::new()) };
    let speed = measured.unwrap_or_else(|error| {
        let quick = "run `fiedler doctor --quick`, which measures no speed; update the driver if that fails too";
        let remedy = if ctx.memory_budget() < ENOUGH { BUDGET } else { quick };
        problems.push(Problem::new(format!("speed cannot be measured: {error}"), remedy));
        Vec::new()
    });
    problems.extend(speed.iter().flat_map(Speed::far_below).map(|what| Problem::new(what, SLOW)));
    Tried { checks, speed, problems }
}
