//! What is tried: kernels on problems whose answers are known, and speed.

use fiedler::Context;
use fiedler::doctor::{Check, Speed, self_test, speed};

/// What came of it.
pub(super) struct Tried {
    pub(super) checks: Vec<Check>,
    /// None where nothing was measured.
    pub(super) speed: Vec<Speed>,
    pub(super) problems: Vec<String>,
}

pub(super) fn tried(ctx: &Context, fast: bool) -> Tried {
    let checks = self_test(ctx);
    let wrong = |check: &Check| {
        let Check { family, what, on, problem, .. } = check;
        problem.as_ref().map(|why| format!("{family} on {on} is wrong ({what}): {why}"))
    };
    let mut problems: Vec<String> = checks.iter().filter_map(wrong).collect();
    let measured = if fast { speed(ctx) } else { Ok(Vec::new()) };
    let speed = measured.unwrap_or_else(|error| {
        problems.push(format!("speed cannot be measured: {error}"));
        Vec::new()
    });
    problems.extend(speed.iter().flat_map(Speed::far_below));
    Tried { checks, speed, problems }
}
