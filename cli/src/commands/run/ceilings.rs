//! `fiedler run ceilings`: measures the highest rates of this machine, so that a benchmark can report which share of
//! these rates it reaches.

use crate::commands::outputs::Overwriting;
use crate::commands::profile::Profiling;
use crate::commands::values::counted;
use crate::commands::{Failure, Outcome, Where, print};
use clap::Args;
use fiedler::bytes_from;
use fiedler::ops::roofline::ceilings;

#[derive(Debug, Args)]
pub(super) struct Ceilings {
    /// The size of each of the two arrays of the copy, such as 64M [default: 256M, but at most one binding and an
    /// eighth of the memory budget].
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    bytes: Option<u64>,
    /// The number of calls per measurement, of which the fastest counts.
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = counted)]
    rounds: usize,
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    profiling: Profiling,
    #[command(flatten)]
    overwriting: Overwriting,
}

fn parse_bytes(text: &str) -> Result<u64, String> {
    bytes_from(text).filter(|&bytes| bytes >= 16).ok_or_else(|| "expected at least 16 bytes, such as 64M".to_owned())
}

impl Ceilings {
    /// Prints one JSON object with bytes/s, flop/s, and the duration of the smallest call in milliseconds.
    pub(super) fn run(&self) -> Result<Outcome, Failure> {
        self.profiling.check(self.overwriting)?;
        let ctx = self.profiling.context(&self.place, true, None)?;
        let binding = ctx.adapter().map_or(u64::MAX, |adapter| adapter.limits.storage_binding);
        let most = (256 << 20).min(binding).min(ctx.memory_budget() / 8) / 16 * 16;
        let found = ceilings(&ctx, self.bytes.unwrap_or(most.max(16)), self.rounds)?;
        self.profiling.stage("measure");
        print(serde_json::json!({
            "adapter": ctx.adapter().map_or("cpu", |adapter| adapter.name.as_str()),
            "copy_bytes_per_s": found.copy,
            "fma_flop_per_s": found.fma,
            "call_ms": found.call * 1e3,
        }));
        self.profiling.finish()?;
        Ok(Outcome::Done)
    }
}
