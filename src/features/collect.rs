//! Collects the units of blocks: stores those that were computed, and joins them to the rows of samples.

use super::compute::Computed;
use super::extract::{Progress, Report, Take};
use super::plan::Plan;
use super::stored::Stores;
use crate::context::Context;
use crate::error::Result;
use crate::ops::series::Status;
use std::sync::mpsc::Receiver;

/// What collects the units of a data set.
pub(super) struct Collector<'a> {
    pub(super) ctx: &'a Context,
    pub(super) plan: &'a Plan,
    pub(super) stores: &'a Stores,
    /// The number of all samples.
    pub(super) total: usize,
    pub(super) units: Receiver<Result<Computed>>,
}

impl Collector<'_> {
    /// Passes the columns of all samples to `take`, those of a chunk as soon as they are complete.
    pub(super) fn collect(self, take: Take<'_>) -> Result<Report> {
        let Self { ctx, plan, total, .. } = self;
        let width = plan.columns.len();
        let mut report = Report::default();
        let (mut values, mut status) = (Vec::new(), Vec::new());
        for first in (0..total).step_by(plan.chunk) {
            let samples = first..total.min(first + plan.chunk);
            // Every number is written below.
            values.resize(samples.len() * width, 0.0);
            status.clear();
            status.resize(samples.len(), Status::Ok);
            let blocks: usize = plan.layers.iter().map(|layer| samples.len().div_ceil(layer.block)).sum();
            for _ in 0..blocks {
                ctx.cancel().check()?;
                // The other threads end early only after they have sent an error.
                let Ok(computed) = self.units.recv() else { unreachable!("every block is sent") };
                let Computed { planned, samples, units, keys, found, bytes } = computed?;
                for (key, unit) in keys.iter().zip(&units) {
                    if let Some(key) = key {
                        self.stores.put(*key, unit);
                    }
                }
                report.units[0] += found;
                report.units[1] += units.len() - found;
                report.bytes += bytes;
                for (unit, columns) in units.iter().zip(&plan.layers[planned].columns) {
                    unit.put(columns.clone(), samples.start - first, width, &mut values, &mut status);
                }
            }
            status.iter().for_each(|&status| report.status[status as usize] += 1);
            take(&values, &status, Progress { samples: samples.end, total, bytes: report.bytes })?;
        }
        Ok(report)
    }
}
