//! The CPU beside the device.

use super::{Claim, check_counts, check_margin, digits, laws};
use crate::clock::Instant;
use crate::context::Context;
use crate::error::Result;
use crate::experiment::statistics::Status;
use crate::ops::mlp::Optimizer;
use crate::policy::Backend;
use crate::train::Runs;
use serde::{Deserialize, Serialize};

/// The claim that a device trains as accurately as the CPU, and the times of both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sides {
    /// The number of seeds.
    pub seeds: usize,
    /// The number of generated images.
    pub samples: usize,
    /// The number of epochs.
    pub epochs: u64,
    /// The difference of the accuracy that does not matter.
    pub margin: f64,
}

impl Default for Sides {
    fn default() -> Self {
        Self { seeds: 22, samples: 1797, epochs: 30, margin: 0.005 }
    }
}

impl Sides {
    pub(super) fn check_parameters(&self) -> Result<()> {
        let Self { seeds, samples, epochs, margin } = self;
        check_counts([("seeds", *seeds as u64, 2), ("samples", *samples as u64, 20), ("epochs", *epochs, 1)])?;
        check_margin("margin", *margin)
    }

    pub(super) fn check(&self, ctx: &Context, seed: u64) -> Result<Vec<Claim>> {
        let statement = "a training on the device is as accurate as one on the CPU";
        let Some(adapter) = ctx.adapter() else {
            let claim = Claim::judged(statement, f64::NAN, None, "two one-sided tests", Status::Undecided);
            return Ok(vec![claim.note("no device was opened, so nothing was compared")]);
        };
        let samples = digits::images(self.samples)?;
        let runs = Runs::seeds(Optimizer::Adam, seed, self.seeds)?;
        let timed = |backend| {
            let began = Instant::now();
            let fit = laws::trainer(&samples)?.epochs(self.epochs).fit(&ctx.with_backend(backend), &samples, &runs)?;
            Ok::<_, crate::Error>((laws::accuracies(&fit), began.elapsed().as_secs_f64()))
        };
        let (cpu, of_cpu) = timed(Backend::Cpu)?;
        // The first training on a device compiles its kernels.
        let (_, first) = timed(Backend::Gpu)?;
        let (device, of_device) = timed(Backend::Gpu)?;
        let claim = laws::equivalent(statement, &device, &cpu, self.margin)?;
        let note = format!(
            "{}: {of_device:.2} s with transfers, {first:.2} s the first time; CPU, {} threads: {of_cpu:.2} s; {}",
            adapter.name,
            ctx.threads(),
            claim.note
        );
        Ok(vec![claim.note(note)])
    }
}
