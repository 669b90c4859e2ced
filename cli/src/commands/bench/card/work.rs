//! What a report card measures, and in which order: what matters most first.

use crate::bench::{Case, Extent, Larger, grid, kernels, measure};
use crate::commands::bench::show::as_json;
use fiedler::policy::{Family, Side};
use fiedler::{Adapter, Clock, Context, Profile, Result};
use serde_json::{Value, json};
use std::fmt;
use std::time::Duration;

/// The workloads whose times matter most.
const FIRST: [(Family, usize, usize); 14] = [
    (Family::Eigh, 32, 10_000),
    (Family::Svd, 32, 10_000),
    (Family::Fft, 1024, 16_384),
    (Family::Matmul, 4096, 1),
    (Family::Eigh, 8, 100_000),
    (Family::Eigvalsh, 32, 10_000),
    (Family::Rfft, 1024, 16_384),
    (Family::Matmul, 1024, 1),
    (Family::Matmul, 32, 4096),
    (Family::Encode, 32, 1000),
    (Family::Spmm, 100_000, 1_000_000),
    (Family::Eigsh, 96, 1),
    (Family::Cov, 128, 100_000),
    (Family::Describe, 10_000, 1000),
];
/// What measures, by its speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speed {
    Gpu,
    Cpu,
    /// A software adapter.
    Software,
}

impl Speed {
    pub(super) fn of(adapter: &Adapter) -> Self {
        if adapter.software { Self::Software } else { Self::Gpu }
    }

    /// Returns the largest numbers of operations of a call and of a training.
    fn most(self) -> [f64; 2] {
        match self {
            Self::Gpu => [2e11, 1e13],
            Self::Cpu => [3e9, 1e11],
            Self::Software => [2e8, 3e9],
        }
    }
}

/// The time for the calls of a workload.
const BUDGET: Duration = Duration::from_millis(150);

/// A workload of a report card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Work {
    Case(Case),
    Set(Larger),
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Case(case) => case.fmt(f),
            Self::Set(set) => set.fmt(f),
        }
    }
}

/// Returns the workloads of all families but trainings: the first ones, and then those of the grid, with families that
/// take turns.
pub(super) fn cases(speed: Speed) -> Vec<Work> {
    let most = speed.most()[0];
    let first = FIRST.map(|(family, size, items)| Case::new(family, size, items));
    let rest = grid(Extent::Usual).into_iter().filter(|case| case.family != Family::Train && !first.contains(case));
    // How many workloads of its family come before each.
    let mut before = std::collections::BTreeMap::<&str, usize>::new();
    let counted = rest.map(|case| {
        let place = before.entry(case.family.name()).or_default();
        *place += 1;
        (*place, case)
    });
    let mut rest: Vec<(usize, Case)> = counted.collect();
    rest.sort_by_key(|&(place, _)| place);
    let all = first.into_iter().chain(rest.into_iter().map(|(_, case)| case));
    all.filter(|case| case.least()[1] <= most).map(Work::Case).collect()
}

/// Returns the trainings, those of 100 runs first, and features after them.
pub(super) fn trainings(speed: Speed) -> Vec<Work> {
    let mut all: Vec<Case> = grid(Extent::Full).into_iter().filter(|case| case.family == Family::Train).collect();
    all.retain(|case| case.least()[1] <= speed.most()[1]);
    // The sort is stable, so networks stay in the order of their size.
    all.sort_by_key(|case| std::cmp::Reverse(case.items));
    let at = all.iter().filter(|case| Some(case.items) == all.first().map(|case| case.items)).count();
    let mut all: Vec<Work> = all.into_iter().map(Work::Case).collect();
    all.insert(at, Work::Set(Larger::FEATURES));
    all
}

impl Work {
    /// Returns the workload with this name.
    pub(super) fn parse(name: &str) -> Option<Self> {
        Larger::parse(name).map(Self::Set).or_else(|| Case::parse(name).ok().map(Self::Case))
    }

    /// Returns what is measured on a machine without an adapter.
    pub(super) fn of_the_cpu() -> Vec<Self> {
        let sets = Larger::ENCODINGS.map(Self::Set);
        cases(Speed::Cpu).into_iter().chain(trainings(Speed::Cpu)).chain(sets).collect()
    }

    /// Measures the workload, and returns its row. With `profiled`, a context of the same device that makes profiles,
    /// the row has the times of kernels. A set is divided until it fits `time`, if that is given.
    pub(super) fn measured(
        self,
        ctx: &Context,
        side: Side,
        profiled: Option<&Context>,
        time: Option<Duration>,
    ) -> Result<Value> {
        let device = ctx.adapter().filter(|_| side == Side::Gpu).map_or("CPU", |adapter| &adapter.name);
        match self {
            Self::Case(case) => {
                let mut row = as_json(&measure(&case, ctx, side, BUDGET)?, device);
                if let Some(profile) = profiled.map(|ctx| kernels(&case, ctx)).transpose()?.flatten() {
                    (row["clock"], row["kernels"]) = profile_of(&profile);
                }
                Ok(row)
            }
            Self::Set(wanted) => {
                let set = time.map_or(Ok(wanted), |time| wanted.fitting(ctx, side, time))?;
                let found = set.measure(ctx, side)?;
                let ms = |seconds: f64| 1e3 * seconds;
                let times = found.times;
                let mut row = json!({
                    "workload": set.to_string(), "peer": concat!("fiedler ", env!("CARGO_PKG_VERSION")),
                    "device": device, "ms": ms(times.median), "min": ms(times.least), "max": ms(times.most),
                    "transfers_ms": ms(times.median), "first_ms": ms(found.first), "spread": times.spread(),
                });
                if let Some(error) = found.error {
                    row["error_share"] = error.into();
                }
                if set != wanted {
                    row["wanted"] = wanted.to_string().into();
                }
                Ok(row)
            }
        }
    }
}

/// Returns the clock of a profile, and its kernels in descending order of their times.
fn profile_of(profile: &Profile) -> (Value, Value) {
    let clock = if profile.clock == Clock::Timestamps { "timestamps" } else { "host" };
    let kernel = |kernel: &fiedler::KernelTime| json!({"kernel": kernel.kernel, "calls": kernel.calls, "ms": 1e3 * kernel.seconds});
    (clock.into(), profile.kernels.iter().map(kernel).collect())
}

#[cfg(test)]
mod tests {
    use super::{Speed, Work, cases, trainings};
    use std::collections::HashSet;

    #[test]
    fn every_workload_comes_once_and_can_be_named() {
        let all: Vec<Work> = cases(Speed::Gpu).into_iter().chain(trainings(Speed::Gpu)).collect();
        let names: HashSet<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.iter().all(|work| Work::parse(&work.to_string()) == Some(*work)));
        assert_eq!(all[0].to_string(), "eigh/f32/n=32/batch=10000");
        assert!(trainings(Speed::Gpu)[0].to_string().ends_with("/runs=100"));
        assert!(cases(Speed::Software).len() < cases(Speed::Gpu).len());
        assert_eq!(Work::parse("nonsense"), None);
    }
}
