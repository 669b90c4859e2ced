//! On which side an extraction runs. One choice serves the whole data set, so that how it is cut moves no bit.

use super::part::Part;
use super::plan::Plan;
use super::representation::Representation;
use crate::context::Context;
use crate::error::Result;
use crate::io::{Extent, Layers};
use crate::ops::series::{Measure, Program, SampleShape};
use crate::policy::{Backend, Choice, Side, Workload};

/// The contexts of an extraction.
pub(super) struct Sides {
    /// The one that was chosen.
    chosen: Context,
    /// The one of samples for which there are no kernels, unless the device was asked for.
    cpu: Context,
    /// What the bits of the results depend on: nothing on the CPU, and the adapter on a device.
    pub(super) identity: String,
}

/// Returns on which side the representations of a data set are computed, and why.
pub(super) fn choose(ctx: &Context, representations: &[Representation], data: &Layers, plan: &Plan) -> Result<Choice> {
    let mut all = Workload::default();
    let mut fits = false;
    for layer in &plan.layers {
        let shape = match layer.extent {
            Extent::Vector(n) | Extent::Ragged { longest: n } => SampleShape::Vector(n.max(1)),
            Extent::Matrix { rows, columns } => SampleShape::Matrix { rows, columns },
        };
        // Where the edges of a histogram are does not matter for its cost.
        let measures = representations.iter().flat_map(Representation::parts).filter_map(|part| match part {
            Part::Numbers(measure) => Some(measure.clone()),
            Part::Fitted(histogram) => Some(Measure::Histogram(histogram.clone())),
            Part::Graph(_) => None,
        });
        let program = Program::new(measures.collect(), shape)?;
        let wide = data.layers()[layer.layer].wide;
        let work = program.workload(data.len());
        fits |= !wide && program.has_kernels::<f32>();
        let blocks = data.len().div_ceil(layer.block) as f64;
        all.items = work.items;
        all.cpu_flops += work.cpu_flops;
        all.gpu_flops += work.gpu_flops;
        all.host_flops += work.host_flops;
        all.upload += work.upload;
        all.download += work.download;
        all.made += work.made;
        all.dispatches += blocks * work.dispatches;
        all.waits += blocks;
    }
    Ok(ctx.explain(&all, fits))
}

impl Sides {
    pub(super) fn new(ctx: &Context, choice: &Choice) -> Self {
        let cpu = ctx.with_backend(Backend::Cpu);
        if choice.side == Side::Cpu {
            return Self { chosen: cpu.clone(), cpu, identity: String::new() };
        }
        let insisted = ctx.policy().backend == Backend::Gpu;
        let chosen = ctx.with_backend(Backend::Gpu);
        let identity = ctx.adapter().map(|adapter| format!("{adapter:?}")).unwrap_or_default();
        Self { cpu: if insisted { chosen.clone() } else { cpu }, chosen, identity }
    }

    /// Returns the context that runs a program, given whether there are kernels for it.
    pub(super) fn of(&self, has_kernels: bool) -> &Context {
        if has_kernels { &self.chosen } else { &self.cpu }
    }
}
