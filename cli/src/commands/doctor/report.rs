//! Everything that the doctor found.

use super::checks::{Problem, Tried, of_the_doctor};
use super::hidden::hidden;
use super::state::Tuned;
use crate::bench::Case;
use crate::commands::Where;
use fiedler::policy::{Choice, DeviceClass, Family, Side};
use fiedler::{Adapter, Backend, Context};
use std::path::PathBuf;

/// Workloads that show where the choice changes side.
const SAMPLES: [(Family, usize, usize); 6] = [
    (Family::Eigh, 8, 100_000),
    (Family::Eigh, 32, 100),
    (Family::Eigh, 32, 10_000),
    (Family::Eigh, 1000, 1),
    (Family::Fft, 1024, 10_000),
    (Family::Matmul, 1024, 1),
];
/// The orders for which the report says from how many matrices a GPU is faster.
const TURNS: [usize; 3] = [8, 32, 100];

pub(super) struct Report {
    pub(super) adapters: Vec<Adapter>,
    pub(super) ctx: Context,
    /// The reason why there is no adapter, if there is none.
    pub(super) without: Option<String>,
    /// The adapter that the call names.
    pub(super) named: Option<String>,
    pub(super) stored: Option<PathBuf>,
    pub(super) tuned: Vec<Tuned>,
    pub(super) choices: Vec<(Case, Choice)>,
    /// Orders, and the number of matrices from which the adapter is faster than the CPU; empty unless `auto` may choose
    /// the adapter.
    pub(super) turns: Vec<(usize, Option<usize>)>,
    pub(super) tried: Tried,
    pub(super) notes: Vec<String>,
    pub(super) problems: Vec<Problem>,
}

impl Report {
    /// Puts the report together; `problems` are those from before the tests.
    pub(super) fn new(
        place: &Where,
        adapters: Vec<Adapter>,
        ctx: Context,
        stored: Option<PathBuf>,
        mut tried: Tried,
        mut problems: Vec<Problem>,
    ) -> Self {
        let named = place.adapter();
        let without = match problems.first() {
            Some(problem) if ctx.adapter().is_none() => Some(problem.what.clone()),
            _ => ctx.without_adapter_because().map(of_the_doctor),
        };
        problems.append(&mut tried.problems);
        let notes = hidden(&adapters, ctx.adapter(), named.as_deref(), place.backend());
        let choices = SAMPLES
            .map(|(family, size, items)| Case::new(family, size, items))
            .map(|case| (case, case.choose(&ctx, false)))
            .to_vec();
        let (turns, tuned) = (turns(&ctx), Tuned::all(&ctx));
        Self { adapters, ctx, without, named, stored, tuned, choices, turns, tried, notes, problems }
    }

    /// Returns whether operations may run on the adapter without being told to.
    pub(super) fn chooses(&self) -> bool {
        chooses(&self.ctx)
    }
}

fn chooses(ctx: &Context) -> bool {
    ctx.adapter().is_some()
        && !matches!(ctx.policy().class, DeviceClass::Absent | DeviceClass::Unopened | DeviceClass::Software)
}

/// Returns for each order the number of matrices, a power of two, from which the adapter is faster.
fn turns(ctx: &Context) -> Vec<(usize, Option<usize>)> {
    if !chooses(ctx) {
        return Vec::new();
    }
    let ctx = ctx.with_backend(Backend::Auto);
    let from = |n: usize| {
        let one = Case::new(Family::Eigh, n, 1);
        match one.choose(&ctx, false).side {
            Side::Gpu => Some(1),
            Side::Cpu => one.turns_at(&ctx, false).map(|(items, _)| items),
        }
    };
    TURNS.map(|n| (n, from(n))).to_vec()
}
