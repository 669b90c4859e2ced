//! The report of everything that the doctor found.

use super::checks::{Problem, Tried, of_the_doctor};
use super::hidden::hidden;
use super::state::Tuned;
use crate::bench::Case;
use crate::commands::Where;
use fiedler::policy::{Choice, DeviceClass, Family, Side};
use fiedler::{Adapter, Backend, Context};
use std::path::PathBuf;

/// Sample workloads whose choices show at which sizes `auto` changes from the CPU to a GPU.
const SAMPLES: [(Family, usize, usize); 6] = [
    (Family::Eigh, 8, 100_000),
    (Family::Eigh, 32, 100),
    (Family::Eigh, 32, 10_000),
    (Family::Eigh, 1000, 1),
    (Family::Fft, 1024, 10_000),
    (Family::Matmul, 1024, 1),
];
/// The matrix orders for which the report gives the smallest batch that is faster on a GPU.
const TURNS: [usize; 3] = [8, 32, 100];

pub(super) struct Report {
    pub(super) adapters: Vec<Adapter>,
    pub(super) ctx: Context,
    /// The reason why the context has no adapter; `None` if it has one.
    pub(super) without: Option<String>,
    /// The adapter name in the call, if there is one.
    pub(super) named: Option<String>,
    pub(super) stored: Option<PathBuf>,
    pub(super) tuned: Vec<Tuned>,
    pub(super) choices: Vec<(Case, Choice)>,
    /// For each matrix order, the smallest number of matrices for which the adapter is faster than the CPU, if there is
    /// such a number. Empty unless `auto` may choose the adapter.
    pub(super) turns: Vec<(usize, Option<usize>)>,
    pub(super) tried: Tried,
    pub(super) notes: Vec<String>,
    pub(super) problems: Vec<Problem>,
}

impl Report {
    /// Puts the report together. `problems` contains the problems that were found before the tests.
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

    /// Returns whether `auto` may run operations on the adapter.
    pub(super) fn chooses(&self) -> bool {
        chooses(&self.ctx)
    }
}

fn chooses(ctx: &Context) -> bool {
    ctx.adapter().is_some()
        && !matches!(ctx.policy().class, DeviceClass::Absent | DeviceClass::Unopened | DeviceClass::Software)
}

/// For each order in [`TURNS`], returns the smallest number of matrices, among the powers of two, for which the adapter
/// is faster.
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
